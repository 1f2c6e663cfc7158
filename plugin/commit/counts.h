/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counts.h - have the nodes of a plan the features of which a job's constraint says how many nodes?
 *
 * Where the nodes are pinned such a constraint is set aside for the moment of select_nodes() (layout.c): then this
 * is the last look at it.  It is read as Slurm has read it.
 *
 * Threads: the cycle thread only; job and node read locks held.
 */
#ifndef SL_COUNTS_H
#define SL_COUNTS_H

#include "plugin/commit/layout.h"

/* What these places lack by the constraint as the job's way takes it; NULL: nothing, or it has no counts. */
const char *sl_counts_lack(const sl_details_t *details, const struct sl_layout_place *place, uint32_t count);

#endif
