/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * strayed.h - where select has put jobs that were left to it, beyond what was planned there.
 *
 * For such a job the plan books a bound somewhere; the nodes are select's.  What is planned behind it may find
 * its cores, gres or memory taken: then it is left to the next plan, which knows where the job is, instead of being
 * refused by select or given others.
 *
 * Threads: the cycle thread only; SL_COMMIT_LOCKS held.
 */
#ifndef SL_STRAYED_H
#define SL_STRAYED_H

#include "plugin/commit/layout.h"
#include "plugin/commit/work.h"

/* The job has started where select has put it; *places* are those of the plan. */
void sl_strayed_note(struct sl_commit *m, const job_record_t *job, struct sl_range places);

/* Has such a job something of one of these nodes that the plan does not know of? */
bool sl_strayed_has(const struct sl_commit *m, const struct sl_layout_place *place, uint32_t count);

void sl_strayed_free(struct sl_commit *m);

#endif
