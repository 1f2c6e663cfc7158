/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stop.h - running jobs that the plan stops for a waiting one.
 *
 * The plan is not believed. A victim is stopped only if it is the run that the plan names and Slurm itself would let it be
 * preempted for that job now: it is in slurm_find_preemptable_jobs(), which heeds PreemptType, PreemptExemptTime and the
 * exemptions of each release, with all components of a heterogeneous job. It is stopped by slurm_job_preempt(), in the mode that Slurm has for
 * it, after its GraceTime; what ends it after that time is slurmctld's own job_time_limit().
 *
 * All victims of a job are looked at before the first of them is stopped: if one of them may not be stopped, none is. Then they
 * are noted in the book, which is written: if slurmctld is killed from then on, finish.c does the rest. After that they
 * are stopped group by group, each group in one hold of the locks. A victim that has ended by itself does no harm, unless
 * others of its group would be stopped with it.
 *
 * Threads: the cycle thread only.
 */
#ifndef SL_STOP_H
#define SL_STOP_H

#include "plugin/commit/work.h"

/*
 * Carry out the plan's stops. *refused: by row of the plan's holds, why the place is not held (sl_hold_run()); its victims are not
 * stopped. The fate of each stop is in m->carried, behind the actions. Takes the locks itself.
 */
void sl_stop_run(struct sl_commit *m, const char *const *refused);

/* Tell a job and all its components to stop, in the plan's mode (SL_STOP_*). Slurm does the rest, from its GraceTime on. True if
 * the job is being stopped now, or runs no longer. */
bool sl_stop_tell(job_record_t *victim, job_record_t *preemptor, uint32_t mode);

#endif
