/* SPDX-License-Identifier: GPL-2.0-or-later */
/* actions.c - see actions.h */
#include <errno.h>
#include <signal.h>

#include "plugin/commit/actions.h"
#include "base/plain.h"

/* NULL for success, else a text that says what went wrong.  All functions below return the same. */
static const char *why_of(int rc)
{
	return rc == SLURM_SUCCESS ? NULL : slurm_strerror(rc);
}

/* What "scontrol update" does, with one field. */
static const char *update_field(uint32_t job_id, void (*set)(job_desc_msg_t *, int64_t, const char *), int64_t number,
			  const char *text)
{
	job_desc_msg_t desc;
	slurm_msg_t msg;
	int rc;

	slurm_init_job_desc_msg(&desc);
	slurm_msg_t_init(&msg);
	desc.SL_MSG_JOB_ID = job_id;
	set(&desc, number, text);
	msg.data = &desc;
	errno = 0;	/* update_job() of 22.05 does not set errno without accounting, and takes an older value for an error */
	rc = update_job(&msg, slurm_conf.slurm_user_id, false);
	xfree(desc.partition);
	xfree(desc.alloc_node);
	xfree(desc.job_id_str);
	FREE_NULL_BITMAP(desc.array_bitmap);
	return why_of(rc);
}

static void set_priority(job_desc_msg_t *desc, int64_t number, const char *text)
{
	(void) text;
	desc->priority = (uint32_t) MAX(MIN(number, (int64_t) NO_VAL - 1), 0);
}

static void set_time_limit(job_desc_msg_t *desc, int64_t number, const char *text)
{
	(void) text;
	desc->time_limit = number == SL_UNLIMITED ? INFINITE : (uint32_t) MAX(MIN((number + 59) / 60, YEAR_MINUTES), 1);
}

static void set_partition(job_desc_msg_t *desc, int64_t number, const char *text)
{
	(void) number;
	desc->partition = xstrdup(text);
}

static const char *suspend_or_resume(uint32_t job_id, uint16_t op)
{
	suspend_msg_t msg = { .op = op, .SL_MSG_JOB_ID = job_id };
	int rc = sl_job_suspend(&msg, slurm_conf.slurm_user_id);

	xfree(msg.job_id_str);
	return why_of(rc);
}

static const char *run_action(job_record_t *job, uint32_t verb, int64_t number, char *text)
{
	uid_t uid = slurm_conf.slurm_user_id;

	switch (verb) {
	case SL_ACTION_CANCEL:
		return why_of(job_signal(job, SIGKILL, 0, uid, false));
	case SL_ACTION_REQUEUE:
		return why_of(sl_job_requeue(uid, job));
	case SL_ACTION_SUSPEND:
		return suspend_or_resume(job->job_id, SUSPEND_JOB);
	case SL_ACTION_RESUME:
		return suspend_or_resume(job->job_id, RESUME_JOB);
	case SL_ACTION_SIGNAL:
		if (number < 1 || number > 64)
			return "no such signal";
		return why_of(job_signal(job, (uint16_t) number, 0, uid, false));
	case SL_ACTION_PRIORITY:
		return update_field(job->job_id, set_priority, number, text);
	case SL_ACTION_TIME_LIMIT:
		return number < 60 ? "a time limit of less than a minute" :
			update_field(job->job_id, set_time_limit, number, text);
	case SL_ACTION_PARTITION:
		return update_field(job->job_id, set_partition, number, text);
	case SL_ACTION_NOTIFY:
		return srun_user_message(job, text) ? "it cannot be notified" : NULL;
	}
	return "no such action";
}

/*
 * NULL if *job* is the job (or the run) that was in the snapshot.  A pending job is known by its stamp, unless an action of
 * this plan has changed it.  A running one has no stamp: it is known by its user and its start time, because Slurm uses job
 * ids again and requeues jobs.
 */
static const char *check_same(const struct sl_commit *m, const job_record_t *job, uint32_t row, int64_t stamp)
{
	const struct sl_job_view *then = &m->c->snap.job;

	if (!job || IS_JOB_FINISHED(job))
		return "it is gone";
	if (job->magic != JOB_MAGIC)
		return "its record is not as expected";
	if (row == SL_NONE)
		return "it is not in the snapshot";
	if (IS_JOB_PENDING(job) && sl_job_sane(job) && (m->marks[row] & SL_MARK_ACTED || sl_job_stamp(job) == stamp))
		return NULL;
	if (IS_JOB_PENDING(job))
		return "it was changed meanwhile";
	if (then->state[row] == SL_JOB_PENDING)
		return "it was started meanwhile";
	return job->start_time == then->start_time[row] && job->user_id == then->uid[row] ? NULL :
		"it is another run meanwhile";
}

enum sl_fate sl_commit_action(struct sl_commit *m, uint32_t i, const char **why)
{
	const struct sl_plan_image *plan = m->plan;
	const struct sl_plan_action_view *v = &plan->action;
	job_record_t *job = find_job_record(v->job[i]);
	char *text, *by;

	if ((*why = check_same(m, job, sl_collect_row(m->c, v->job[i]), v->stamp[i])))
		return SL_FATE_CHANGED;
	text = sl_plain(xstrdup(sl_image_str(&plan->image, v->text[i])));
	by = sl_plain(xstrdup(sl_image_str(&plan->image, v->by[i])));
	*why = run_action(job, v->verb[i], v->number[i], text);
	info("sched/lua: policy %s: %s JobId=%u%s%s", by, sl_action_word(v->verb[i]), v->job[i], *why ? ": " : "",
	     *why ? *why : "");
	last_job_update = time(NULL);
	xfree(text);
	xfree(by);
	return *why ? SL_FATE_ACTION : SL_FATE_DONE;
}
