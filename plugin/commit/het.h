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

/* Are the records of all of them there, as planned, and do the limits of accounts and QOS allow
 * them together?  false: fate and text say which component is in the way. */
bool sl_het_ready(struct sl_start *s, uint32_t count);

/*
 * Take back the start of a component, since another one did not start: it is pending again.
 * slurmd refuses a job that it was told to end for as long as a credential lasts, so it
 * begins no earlier than then.
 */
void sl_het_take_back(job_record_t *job);

#endif
