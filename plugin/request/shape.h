/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shape.h - a job as one of its alternatives (image/shapes.h).
 *
 * The request of the job is changed to what it would be had it been submitted so,
 * and stays so while the job runs: what slurmctld launches, saves, shows and accounts
 * agrees with the allocation.  asked.h has the original for when it is requeued.
 *
 * A batch script finds that in its environment, too (env.h).
 *
 * Threads: the cycle thread only.
 */
#ifndef SL_SHAPE_H
#define SL_SHAPE_H

#include "plugin/request/asked.h"
#include "image/snapshot.h"

/* Why no alternative can stand in for the request; NULL: it can.  Job read lock held. */
const char *sl_shape_never(const job_record_t *job);

/* The number of tasks that the job's srun or salloc will start, which does not follow the allocation.  0 for a batch job.  Job
 * read lock held. */
uint32_t sl_shape_tasks(const job_record_t *job);

/* *tasks*: what sl_shape_tasks() returned.  Why that job cannot be started as a shape of *num_tasks* tasks; NULL: it can. */
const char *sl_shape_interactive(uint32_t tasks, uint32_t num_tasks);

/*
 * Change the request to row *shape* of the snapshot, the job's *n*th alternative, in
 * that partition, and ask Slurm whether it would have accepted that at submission.
 * NULL when it would; else why not, and the request is to be put back
 * (sl_asked_put(), sl_env_clear(), the time limit).  Job write lock held.
 */
const char *sl_shape_put(job_record_t *job, part_record_t *part, const struct sl_snapshot *snap, uint32_t shape,
			 uint32_t n);

#endif
