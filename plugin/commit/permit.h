/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * permit.h - which jobs Slurm lets a waiting job preempt, at this moment.
 *
 * Threads: the cycle thread only; SL_COMMIT_LOCKS held from sl_permit_begin() to sl_permit_end().
 */
#ifndef SL_PERMIT_H
#define SL_PERMIT_H

#include "base/map.h"
#include "plugin/collect/collect.h"

struct sl_permit {
	const struct sl_collector *c;
	job_record_t *preemptor;
	struct sl_map victims;		/* ids that slurm_find_preemptable_jobs() returns: leaders, in the case of
					 * heterogeneous jobs */
};

/*
 * Ask Slurm for all jobs that may be preempted for the job in that partition.  Returns NULL, or a text that says why it may
 * preempt none; then *p is empty.  The text is sl_permit_limited (the same pointer) if a limit keeps the job from starting.
 * The job's record is unchanged afterwards.
 */
const char *sl_permit_begin(struct sl_permit *p, const struct sl_collector *c, uint32_t job, int64_t stamp, const char *partition);
void sl_permit_end(struct sl_permit *p);

/* NULL if that run of a job may be stopped in that mode (SL_STOP_*).  Else a text that says why not: sl_permit_ended (the
 * same pointer) if the run has ended. */
const char *sl_permit_refused(const struct sl_permit *p, uint32_t job, int64_t start_time, uint32_t mode);
extern const char sl_permit_ended[], sl_permit_limited[];

/* The PreemptMode in which to stop the job: Slurm's, or the plan's milder one if sl_permit_refused() has permitted it. */
uint16_t sl_permit_mode(job_record_t *victim, uint32_t mode);

/* The leader of a heterogeneous job, whose record stands for all components; for other jobs the job itself. */
job_record_t *sl_permit_leader(job_record_t *job);

/* True if Slurm stops the job by suspending it when another one starts beside it.  It is told nothing before. */
bool sl_permit_is_gang(job_record_t *job);

/*
 * A job on any of those nodes that may be preempted for the preemptor and for which planned() is false; 0 if there is none.
 * With gang scheduling select treats the cores of such jobs as free.  It then preempts the jobs whose cores the preemptor
 * got, in their mode and without GraceTime.
 */
uint32_t sl_permit_other(const struct sl_permit *p, const bitstr_t *nodes, bool (*planned)(uint32_t leader, void *arg), void *arg);

#endif
