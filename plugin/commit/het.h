/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * het.h - the components of a heterogeneous job: all are started, or none is.
 *
 * Threads: the cycle thread only; SL_COMMIT_LOCKS held.
 */
#ifndef SL_HET_H
#define SL_HET_H

#include "plugin/commit/start.h"

/* How many starts of the plan, from that one on, are of one heterogeneous job; 1 for others. */
uint32_t sl_het_count(const struct sl_commit *m, uint32_t start);

/* True if the records of all *count* components are there and unchanged, and the limits of accounts and QOS allow all of them
 * together.  False: s->fate and s->text say which component is the obstacle. */
bool sl_het_ready(struct sl_start *s, uint32_t count);

/*
 * Take back the start of a component because another one did not start: it is pending again.
 * slurmd refuses a job that it was told to end as long as the job's credential lasts, so the job's
 * begin time is set to the end of that.
 */
void sl_het_take_back(job_record_t *job);

#endif
