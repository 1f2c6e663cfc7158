/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * launch.h - launching jobs that were started.  Batch jobs are launched after the plan's starts, a few under the locks
 * at a time.
 *
 * Threads: the cycle thread only.
 */
#ifndef SL_LAUNCH_H
#define SL_LAUNCH_H

#include "plugin/commit/work.h"

/* -- with SL_COMMIT_LOCKS held -------------------------------------------------- */

/* For a job that has just been started: tell slurmctld's clients and srun, and launch it if it is a batch job. */
void sl_launch_now(job_record_t *job);

/* The same, but a batch job is launched later, by sl_launch_some() or sl_launch_rest(). */
void sl_launch_later(struct sl_commit *m, job_record_t *job);

/* Launch jobs that were put off: at least one, and none after *end* (microseconds) or after a short time. */
void sl_launch_some(struct sl_commit *m, uint64_t end);

/* -- without locks ---------------------------------------------------------------- */

/* True if a job has waited for its launch so long that it goes before further starts. */
bool sl_launch_due(const struct sl_commit *m);

/* Launch all jobs that were put off, also if slurmctld is ending.  Takes the locks for a few at a time. */
void sl_launch_rest(struct sl_commit *m);

#endif
