/* SPDX-License-Identifier: GPL-2.0-or-later */
/* aside.c - see aside.h */
#include "plugin/collect/aside.h"

struct was {
	job_record_t *job;
	part_record_t *part;
	slurmdb_qos_rec_t *qos;
	slurmctld_resv_t *resv;
	char *reason_text;
	uint32_t qos_id, reason, reason_in_db, run_tasks;
	bool backfilled, preempting;
};

struct sl_aside {
	struct was *was;
	uint32_t count, room;
	int jobs;
	time_t update;
};

struct sl_aside *sl_aside_begin(void)
{
	struct sl_aside *a = xmalloc(sizeof(*a));

	a->jobs = list_count(job_list);
	a->update = last_job_update;
	return a;
}

static void make_room(struct sl_aside *a, uint32_t room)
{
	if (room <= a->room)
		return;
	a->room = MAX(room, a->room * 2);
	xrecalloc(a->was, a->room, sizeof(*a->was));
}

void sl_aside_note(struct sl_aside *a, job_record_t *job)
{
	if (job->magic != JOB_MAGIC || !IS_JOB_PENDING(job))
		return;
	make_room(a, a->count + 1);
	a->was[a->count++] = (struct was) {
		.job = job, .part = job->part_ptr, .qos = job->qos_ptr, .qos_id = job->qos_id, .resv = job->resv_ptr,
		.reason = job->state_reason, .reason_text = xstrdup(job->state_desc),
		.reason_in_db = job->state_reason_prev_db, .run_tasks = job->array_recs ? job->array_recs->pend_run_tasks : 0,
		.backfilled = job->bit_flags & BACKFILL_SCHED, .preempting = job->preempt_in_progress,
	};
}

static int note_job(void *x, void *arg)
{
	sl_aside_note(arg, x);
	return 0;
}

void sl_aside_note_all(struct sl_aside *a)
{
	make_room(a, (uint32_t) a->jobs);
	list_for_each(job_list, note_job, a);
}

/* Put the job's old reason back.  Not if slurmctld has decided something that it looks at only once: that a dependency is
 * met, of which it has already told others, or that an association was found.  True if the job is as before. */
static bool put_reason_back(struct was *w)
{
	job_record_t *job = w->job;

	if ((w->reason == WAIT_DEPENDENCY && job->state_reason == WAIT_NO_REASON) ||
	    (w->reason == FAIL_ACCOUNT && job->assoc_ptr))
		return false;
	job->state_reason = w->reason;
	job->state_reason_prev_db = w->reason_in_db;
	xfree(job->state_desc);
	job->state_desc = w->reason_text;
	w->reason_text = NULL;
	return true;
}

static bool put_back(struct was *w)
{
	job_record_t *job = w->job;
	bool same = put_reason_back(w);

	if (w->part)
		job->part_ptr = w->part;
	job->qos_ptr = w->qos;
	job->qos_id = w->qos_id;
	if (job->resv_list)
		job->resv_ptr = w->resv;
	job->preempt_in_progress = w->preempting;
	if (w->backfilled)
		job->bit_flags |= BACKFILL_SCHED;
	if (job->array_recs)
		job->array_recs->pend_run_tasks = w->run_tasks;
	return same;
}

void sl_aside_end(struct sl_aside *a)
{
	bool same = list_count(job_list) == a->jobs;
	uint32_t i;

	for (i = a->count; i-- > 0;) {	/* backwards: of a job that was noted twice, the first state counts */
		if (!IS_JOB_PENDING(a->was[i].job))
			same = false;	/* slurmctld has ended the job, because it can never run */
		else if (!put_back(&a->was[i])) {
			same = false;
			last_job_update = time(NULL);	/* for clients that wait for changes */
		}
		xfree(a->was[i].reason_text);
	}
	/* backfill ends its pass if last_job_update has changed since it began */
	if (same)
		last_job_update = a->update;
	xfree(a->was);
	xfree(a);
}
