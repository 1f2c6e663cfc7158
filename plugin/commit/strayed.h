/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * strayed.h - nodes on which select has given a native job more than the plan booked there.
 *
 * For a native job the plan books an upper bound on some nodes, but select chooses the nodes.  A later start of the same plan
 * may then find its cores, gres or memory taken.  It is left to the next plan, which knows where the native job is.
 *
 * Threads: the cycle thread only; SL_COMMIT_LOCKS held.
 */
#ifndef SL_STRAYED_H
#define SL_STRAYED_H

#include "plugin/commit/layout.h"
#include "plugin/commit/work.h"

/* A native job has started: note each node on which it has more than the plan's *places* give it. */
void sl_strayed_note(struct sl_commit *m, const job_record_t *job, struct sl_range places);

/* True if one of these nodes was noted. */
bool sl_strayed_has(const struct sl_commit *m, const struct sl_layout_place *place, uint32_t count);

void sl_strayed_free(struct sl_commit *m);

#endif
