/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reasons.c - why jobs stay pending, and when they are expected to start */
#include "commit.h"
#include "plain.h"
#include "plan_image.h"

/* Slurm's code for a reason; the words go to state_desc. */
static uint32_t slurm_reason(uint32_t why)
{
	switch (why) {
	case SL_WHY_PRIORITY:
	case SL_WHY_WINDOW:
	case SL_WHY_BUDGET:
		return WAIT_PRIORITY;
	case SL_WHY_NODES_DOWN:
		return WAIT_NODE_NOT_AVAIL;
	case SL_WHY_RESERVATION:
		return WAIT_RESERVATION;
	case SL_WHY_LICENSES:
		return WAIT_LICENSES;
	case SL_WHY_NEVER:
	case SL_WHY_PARTITION:
		return WAIT_PART_CONFIG;
	case SL_WHY_BEGIN:
		return WAIT_TIME;
	case SL_WHY_ARRAY:
		return WAIT_ARRAY_TASK_LIMIT;
	}
	return WAIT_RESOURCES;
}

/* Set them, and say so only if that changes something: last_job_update makes
 * every client fetch all jobs anew. */
static bool tell(job_record_t *job, uint32_t reason, const char *text, time_t start)
{
	char *desc = *text ? sl_plain(xstrdup(text)) : NULL;
	bool changed = false;

	if (job->state_reason != reason) {
		job->state_reason = reason;
		changed = true;
	}
	if (xstrcmp(job->state_desc, desc)) {
		xfree(job->state_desc);
		job->state_desc = desc;
		desc = NULL;
		changed = true;
	}
	xfree(desc);
	if (job->start_time != start) {
		job->start_time = start;
		changed = true;
	}
	job->last_sched_eval = time(NULL);
	return changed;
}

/* Only of jobs that were competing in this cycle and still are: others have a
 * reason of their own from build_job_queue() or select. */
static job_record_t *competitor(const struct sl_commit *m, uint32_t job_id)
{
	uint32_t row = sl_collect_row(m->c, job_id);
	job_record_t *job = find_job_record(job_id);

	if (!job || row == SL_NONE || !IS_JOB_PENDING(job) || IS_JOB_COMPLETING(job) || !job->priority ||
	    !sl_job_sane(job))
		return NULL;
	return job;
}

static bool failed_start(const struct sl_commit *m, uint32_t job_id)
{
	uint32_t i;

	for (i = 0; i < m->outcomes && i < m->plan->start.rows; i++)
		if (m->outcome[i].job == job_id && !m->outcome[i].done)
			return true;
	return false;
}

static bool tell_pending(struct sl_commit *m, uint32_t i)
{
	const struct sl_plan_image *plan = m->plan;
	job_record_t *job = competitor(m, plan->pending.job[i]);
	uint32_t why = plan->pending.why[i];

	if (!job || why == SL_WHY_NONE)
		return false;
	return tell(job, slurm_reason(why), sl_image_str(&plan->image, plan->pending.text[i]), 0);
}

static bool tell_reserved(struct sl_commit *m, uint32_t i)
{
	const struct sl_plan_image *plan = m->plan;
	job_record_t *job = competitor(m, plan->reserve.job[i]);

	/* Slurm's word for a job that has resources set aside: Resources */
	return job && tell(job, WAIT_RESOURCES, "", (time_t) plan->reserve.start_time[i]);
}

static bool tell_failed(struct sl_commit *m, uint32_t i)
{
	job_record_t *job = competitor(m, m->outcome[i].job);
	char text[200];

	/* limits, reservations and the like have set a reason of their own */
	if (!job || (job->state_reason != WAIT_NO_REASON && job->state_reason != WAIT_RESOURCES &&
		     job->state_reason != WAIT_PRIORITY))
		return false;
	snprintf(text, sizeof(text), "planned, but not started: %s", m->outcome[i].text);
	return tell(job, WAIT_RESOURCES, text, 0);
}

void sl_commit_reasons(struct sl_commit *m)
{
	slurmctld_lock_t locks = { .conf = READ_LOCK, .job = WRITE_LOCK };
	const struct sl_plan_image *plan = m->plan;
	struct timespec t0, t1;
	bool changed = false;
	uint32_t i;

	lock_slurmctld(locks);
	clock_gettime(CLOCK_MONOTONIC, &t0);
	for (i = 0; i < plan->pending.rows; i++)
		changed |= tell_pending(m, i);
	for (i = 0; i < plan->reserve.rows; i++)
		if (!failed_start(m, plan->reserve.job[i]))
			changed |= tell_reserved(m, i);
	for (i = 0; i < plan->start.rows; i++)
		if (!m->outcome[i].done && !strncmp(m->outcome[i].text, "select:", 7))
			changed |= tell_failed(m, i);
	if (changed)
		last_job_update = time(NULL);
	clock_gettime(CLOCK_MONOTONIC, &t1);
	unlock_slurmctld(locks);
	sl_times_add(&m->status->commit_hold, (uint64_t) ((t1.tv_sec - t0.tv_sec) * 1000000 +
							  (t1.tv_nsec - t0.tv_nsec) / 1000));
}
