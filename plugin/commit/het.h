/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * het.h - the components of a heterogeneous job: all are started, or none is.
 *
 * Threads: the cycle thread only; SL_START_LOCKS held, which the starts between these calls need (the calls themselves need
 * SL_COMMIT_LOCKS alone).
 */
#ifndef SL_HET_H
#define SL_HET_H

#include "plugin/commit/start.h"

/* The number of the plan's rows, from row *start* on, that start components of the same heterogeneous job; 1 for other jobs. */
uint32_t sl_het_count(const struct sl_commit *m, uint32_t start);

/* True if the records of all *count* components are there and unchanged, and the limits of accounts and QOS allow all of
 * them together.  False: s->fate and s->text say which component is the obstacle. */
bool sl_het_ready(struct sl_start *s, uint32_t count);

/* Undo the start of a component because another one did not start: it is pending again.  slurmd refuses to start a job
 * that it was told to end until the job's credential has expired, so the begin time is set to that moment. */
void sl_het_take_back(job_record_t *job);

#endif
