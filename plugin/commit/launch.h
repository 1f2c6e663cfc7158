/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * launch.h - jobs that were started begin to run: batch jobs after the plan's starts, in short
 * holds of the locks.
 *
 * Threads: the cycle thread only.
 */
#ifndef SL_LAUNCH_H
#define SL_LAUNCH_H

#include "plugin/commit/work.h"

/* -- with SL_COMMIT_LOCKS held -------------------------------------------------- */

/* A job was started: say so, to srun too; a batch job is launched at once. */
void sl_launch_now(job_record_t *job);

/* ... a batch job is launched with sl_launch_some() or sl_launch_rest(). */
void sl_launch_later(struct sl_commit *m, job_record_t *job);

/* At least one, and no more after *end* or a short time. */
void sl_launch_some(struct sl_commit *m, uint64_t end);

/* -- without locks ---------------------------------------------------------------- */

/* Has the oldest one waited for long enough? */
bool sl_launch_due(const struct sl_commit *m);

/* What is not launched yet, in batches; also when slurmctld ends.  Takes the locks. */
void sl_launch_rest(struct sl_commit *m);

#endif
