/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stop.h - running jobs that the plan stops for a waiting one.
 *
 * The plan is not trusted.  A victim is stopped only if it is still the run that the plan names and Slurm itself would
 * preempt it for that job now: slurm_find_preemptable_jobs() returns it, with all components of a heterogeneous job.  That
 * function heeds PreemptType, PreemptExemptTime and the exemptions of each release.  slurm_job_preempt() stops the victim, in
 * the mode that Slurm has for it; after its GraceTime slurmctld's job_time_limit() ends it.
 *
 * All victims of a job are checked before the first of them is stopped: if one may not be stopped, none is.  Then they are
 * entered in the book and the book is written: if slurmctld is killed after that, finish.c does the rest.  Then they are
 * stopped group by group, each group in one hold of the locks.  A victim that has ended by itself is no obstacle, unless its
 * group has others, which would be stopped for nothing.
 *
 * Threads: the cycle thread only.
 */
#ifndef SL_STOP_H
#define SL_STOP_H

#include "plugin/commit/work.h"

/* Carry out the plan's stops.  *refused: by row of the plan's holds, why the place is not held (sl_hold_run()); victims
 * for such a place are not stopped.  The fate of each stop is in m->carried, behind the actions.  Takes the locks itself. */
void sl_stop_run(struct sl_commit *m, const char *const *refused);

/* Have a job and all its components stopped, in the plan's mode (SL_STOP_*).  True if the job is being stopped now (after
 * its GraceTime Slurm ends it), or runs no longer. */
bool sl_stop_tell(job_record_t *victim, job_record_t *preemptor, uint32_t mode);

#endif
