/* SPDX-License-Identifier: GPL-2.0-or-later */
/* launch.c - see launch.h */
#include "plugin/commit/launch.h"

/*
 * Batch jobs are launched after all starts, or, in a long plan, this long after they were started.  A launched job sends
 * slurmctld messages when it begins and ends, and each of them competes with the starts for the locks.  Slurm's own
 * schedulers also launch nothing while they hold the locks, for about as long.
 */
#define LAUNCH_AFTER_US 3000000

/* How long jobs are launched in one hold of the locks.  On a machine that also runs nodes, slurmd takes processors from
 * slurmctld as soon as jobs are launched: a hold this short ends before its thread is preempted. */
#define LAUNCH_BATCH_US 1000

static void tell_started(job_record_t *job)
{
	last_job_update = time(NULL);
	sched_info("sched/lua: started %pJ in %s on %s", job, job->part_ptr->name, job->nodes);
	if (!job->batch_flag)
		srun_allocate(job);
	rebuild_job_part_list(job);
}

/* True if the plug-in has to launch the job now.  Otherwise it is no batch job, or slurmctld launches it when its nodes
 * are ready. */
static bool is_to_launch(const job_record_t *job)
{
	return job->batch_flag && !IS_JOB_CONFIGURING(job);
}

void sl_launch_now(job_record_t *job)
{
	if (is_to_launch(job))
		launch_job(job);
	tell_started(job);
}

/* Until its launch the job is in state "configuring", which slurmctld saves.  If slurmctld is killed before the launch,
 * the next one launches the job (job_time_limit()), and until then no node misses its script. */
void sl_launch_later(struct sl_commit *m, job_record_t *job)
{
	tell_started(job);
	if (!is_to_launch(job))
		return;
	if (m->launches == m->launch_room) {
		m->launch_room = m->launch_room * 2 + 64;
		xrecalloc(m->launch, m->launch_room, sizeof(*m->launch));
	}
	if (m->launched == m->launches)
		m->launch_since = sl_clock_us();
	m->launch[m->launches++] = (struct sl_launch) { job->job_id, job->start_time };
	sl_job_set_configuring(job, true);
}

void sl_launch_some(struct sl_commit *m, uint64_t end)
{
	end = MIN(end, sl_clock_us() + LAUNCH_BATCH_US);
	while (m->launched < m->launches) {
		const struct sl_launch *l = &m->launch[m->launched++];
		job_record_t *job = find_job_record(l->job_id);

		/* not if the job was cancelled or requeued, or if slurmctld has launched it, as it does with configuring
		 * jobs */
		if (job && IS_JOB_RUNNING(job) && IS_JOB_CONFIGURING(job) && job->start_time == l->start_time) {
			sl_job_set_configuring(job, false);
			last_job_update = time(NULL);
			launch_job(job);
		}
		if ((uint64_t) sl_clock_us() >= end)
			break;
	}
}

bool sl_launch_due(const struct sl_commit *m)
{
	return m->launched < m->launches && sl_clock_us() - m->launch_since > LAUNCH_AFTER_US;
}

void sl_launch_rest(struct sl_commit *m)
{
	slurmctld_lock_t locks = SL_COMMIT_LOCKS;
	uint64_t t0;

	while (m->launched < m->launches) {
		lock_slurmctld(locks);
		t0 = sl_clock_us();
		sl_launch_some(m, UINT64_MAX);
		sl_times_add(&m->status->commit_hold, sl_clock_us() - t0);
		unlock_slurmctld(locks);
	}
}
