/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counts.h - do the nodes of a plan satisfy a constraint with counts ("[rack1*2&rack2*4]")?
 *
 * If the plan's nodes are pinned, layout.c takes such a constraint off the job while select_nodes() runs, since select would
 * choose nodes by it.  Therefore the plug-in looks itself, with the constraint as slurmctld has parsed it.
 *
 * Threads: the cycle thread only; job and node read locks held.
 */
#ifndef SL_COUNTS_H
#define SL_COUNTS_H

#include "plugin/commit/layout.h"

/* A text that says what those places lack; NULL if they satisfy the constraint, or if it has no counts. */
const char *sl_counts_lack(const sl_details_t *details, const struct sl_layout_place *place, uint32_t count);

#endif
