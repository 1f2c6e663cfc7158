/* SPDX-License-Identifier: GPL-2.0-or-later */
/* launch.c - see launch.h */
#include "plugin/commit/launch.h"

/*
 * Batch jobs are launched after the starts, or this much later in a long plan: the
 * first ones end, or tell that they run, while others are being started, and each
 * such message competes for the locks.  Slurm's own schedulers launch nothing
 * either while they hold the locks, for about as long.
 */
#define LAUNCH_AFTER_US 3000000

/*
 * Launching brings nodes to life that share the processors with slurmctld where they are
 * on one machine: a short hold is over before the thread loses its processor.
 */
#define LAUNCH_BATCH_US 1000

static void tell_started(job_record_t *job)
{
	last_job_update = time(NULL);
	sched_info("sched/lua: started %pJ in %s on %s", job, job->part_ptr->name, job->nodes);
	if (!job->batch_flag)
		srun_allocate(job);
	rebuild_job_part_list(job);
}

/* True if the plug-in has to launch the job now.  Else there is nothing to launch, or slurmctld does it when the nodes are ready. */
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

/*
 * Until it is launched the job is "configuring", which slurmctld saves with it: one that
 * is killed before the launch launches the job itself when it is back (job_time_limit()),
 * and nobody misses a script on its node meanwhile.
 */
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

		/* cancelled or requeued meanwhile: nothing to launch; or launched, by
		 * slurmctld's own look at configuring jobs */
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
