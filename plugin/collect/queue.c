/* SPDX-License-Identifier: GPL-2.0-or-later */
/* collect/queue.c - what may run, and in which order: build_job_queue() under the locks, rows later */
#include <string.h>

#include "base/order.h"
#include "plugin/collect/aside.h"
#include "plugin/collect/int.h"
#include "plugin/request/lend.h"

/* -- what may run, under the locks ---------------------------------------------- */

static int each_lent(void *x, void *arg)
{
	job_record_t *job = x;

	(void) arg;
	if (job->magic == JOB_MAGIC && IS_JOB_PENDING(job) && !IS_JOB_COMPLETING(job) && sl_lend_marked(job))
		sl_lend_restore(job);
	return 0;
}

/*
 * A limit kept it from starting a while ago: does it still, if it gets no more than it asks
 * for?  The reason is the limit's, then.  (Asked of all jobs it would cost too much.)
 */
static bool is_limited(job_record_t *job)
{
	uint64_t tres[slurmctld_tres_cnt];

	if (!job->tres_req_cnt)
		return false;
	memcpy(tres, job->tres_req_cnt, sizeof(tres));
	return !acct_policy_job_runnable_post_select(job, tres, false);
}

/* Slurm's deadline_ok() ends a job that is past it; who only looks on does not. */
static bool is_in_time(const struct sl_scratch *s, job_record_t *job)
{
	if (!job->deadline || job->deadline == (time_t) NO_VAL)
		return true;
	return s->in->aside ? job->deadline > s->now : sl_deadline_ok(job);
}

/*
 * Is it of any use to plan for the job?  Not for one past its deadline (which this ends),
 * one that was found unable to start a short while ago, nor one that a limit
 * keeps from starting whatever nodes it gets (acct_policy sets the reason then).
 */
static bool is_worth_planning(const struct sl_scratch *s, job_queue_rec_t *rec)
{
	job_record_t *job = rec->job_ptr;

	if (!IS_JOB_PENDING(job))
		return false;	/* its deadline ended it a moment ago */
	if (!is_in_time(s, job))
		return false;
	if (sl_collect_note(s, job)->rests_until > s->now)
		return false;
	if (!(accounting_enforce & ACCOUNTING_ENFORCE_LIMITS))
		return true;
	job->part_ptr = rec->part_ptr;
	sl_job_set_qos(job, sl_queue_qos(rec));
	return acct_policy_job_runnable_pre_select(job, false) && !(sl_collect_note(s, job)->limited && is_limited(job));
}

/* In sort_job_queue()'s order, but without the locks.  With preemption enabled
 * that order depends on the jobs that run: then Slurm has sorted already. */
static int by_order(const void *x, const void *y)
{
	const struct sl_queue_rec *a = x, *b = y;

	return SL_ORDER(b->has_resv, a->has_resv) ?: SL_ORDER(b->tier, a->tier) ?:
		SL_ORDER(b->priority, a->priority) ?: SL_ORDER(a->submit, b->submit) ?:
		SL_ORDER(a->order_id, b->order_id) ?: SL_ORDER(a->array_task_id, b->array_task_id) ?:
		SL_ORDER(b->prefer, a->prefer) ?: SL_ORDER(a->place, b->place);
}

static void sort_keys(struct sl_queue_rec *q, const job_queue_rec_t *rec, uint32_t place)
{
	const job_record_t *job = rec->job_ptr;

	q->has_resv = job->resv_id || rec->resv_ptr;
	q->tier = rec->part_ptr->priority_tier;
	q->submit = job->details ? job->details->submit_time : 0;
	q->order_id = rec->array_task_id == NO_VAL ? rec->job_id : job->array_job_id;
	q->place = place;
}

static int each_rec(void *x, void *arg)
{
	job_queue_rec_t *rec = x;
	struct sl_scratch *s = arg;
	struct sl_queue_rec *q = &s->queue[s->queue_len];
	slurmdb_qos_rec_t *qos = sl_queue_qos(rec);

	if (!is_worth_planning(s, rec))
		return 0;
	q->job_id = rec->job_id;
	q->array_task_id = rec->array_task_id;
	q->priority = rec->priority;
	q->part = rec->part_ptr;
	q->resv_id = rec->resv_ptr ? rec->resv_ptr->resv_id : 0;
	q->qos_id = qos ? qos->id : 0;
	q->prefer = sl_queue_prefer(rec);
	sort_keys(q, rec, s->queue_len++);
	return 0;
}

static void take_queue(struct sl_scratch *s, sl_list_t queue)
{
	uint32_t n = (uint32_t) list_count(queue);

	if (n > s->queue_room) {
		s->queue_room = n + n / 2 + 64;
		xrecalloc(s->queue, s->queue_room, sizeof(*s->queue));
	}
	s->queue_len = 0;
	list_for_each(queue, each_rec, s);
}

/* What may run, as Slurm says.  The locks are held. */
static void ask_queue(struct sl_collector *c)
{
	struct sl_scratch *s = c->scratch;
	struct sl_aside *aside;
	sl_list_t queue;

	sl_asked_restore(s->in->asked);
	if (c->lent)
		list_for_each(job_list, each_lent, NULL);
	aside = s->in->aside ? sl_aside_begin() : NULL;
	queue = build_job_queue(false, true);
	if ((c->preempts = s->preempts = slurm_preemption_enabled()))
		sort_job_queue(queue);
	take_queue(s, queue);
	if (aside)
		sl_aside_end(aside);
	FREE_NULL_LIST(queue);
}

int sl_collect_queue(struct sl_collector *c, struct sl_error *err)
{
	slurmctld_lock_t locks = { .conf = READ_LOCK, .job = WRITE_LOCK, .node = WRITE_LOCK, .part = READ_LOCK,
				   .fed = READ_LOCK };
	struct sl_scratch *s = c->scratch;
	uint64_t t0;
	int rc = 0;

	lock_slurmctld(locks);
	t0 = sl_clock_us();
	if (!node_record_count || !job_list || !part_list || !avail_node_bitmap || !up_node_bitmap) {
		rc = sl_fail(err, SL_EBUSY, "slurmctld has not loaded its nodes yet");
	} else if (s->checked || (rc = sl_collect_check_layout(err)) >= 0) {
		s->checked |= rc > 0;
		rc = 0;
		ask_queue(c);
	}
	c->queue_us = sl_clock_us() - t0;
	unlock_slurmctld(locks);
	if (!rc && !s->preempts)
		qsort(s->queue, s->queue_len, sizeof(*s->queue), by_order);
	return rc;
}

/* -- rows, when the jobs have theirs ---------------------------------------------- */

/* True when the job has had a way in that partition before. */
static bool add_way(struct sl_collector *c, uint32_t job, uint32_t part, const struct sl_queue_rec *q)
{
	uint32_t *link = &c->first_way[job];
	bool before = false;

	for (; *link != SL_NONE; link = &c->way[*link].next)
		before |= c->way[*link].part == part;
	c->way[c->ways] = (struct sl_way) { q->job_id, part, q->resv_id, q->qos_id, SL_NONE, q->prefer };
	*link = c->ways++;
	return before;
}

static uint32_t resv_row(const struct sl_collector *c, uint32_t id)
{
	uint32_t r = 0;

	while (r < c->resvs && c->resv_id[r] != id)
		r++;
	return id && r < c->resvs ? r : SL_NONE;
}

/* The reservations of the ways to start the job there, each once. */
static struct sl_range add_ways(struct sl_collector *c, const struct sl_queue_row *queue)
{
	struct sl_range r = { sl_builder_rows(c->b, SL_T_WAY), 0 };
	uint32_t w, v;

	for (w = c->first_way[queue->job]; w != SL_NONE; w = c->way[w].next) {
		struct sl_way_row row = { .reservation = resv_row(c, c->way[w].resv_id) };

		for (v = c->first_way[queue->job]; v != w && (c->way[v].part != c->way[w].part ||
							     c->way[v].resv_id != c->way[w].resv_id); v = c->way[v].next)
			;
		/* (one that was deleted a moment ago is no way any more) */
		if (v != w || c->way[w].part != queue->partition ||
		    (c->way[w].resv_id && row.reservation == SL_NONE))
			continue;
		sl_builder_append(c->b, SL_T_WAY, &row);
		r.count++;
	}
	return r;
}

static void collect_ways(struct sl_collector *c)
{
	struct sl_queue_row row;
	uint32_t i;

	for (i = 0; i < c->queued; i++)
		if (!sl_builder_row(c->b, SL_T_QUEUE, i, &row)) {
			row.ways = add_ways(c, &row);
			sl_builder_update(c->b, SL_T_QUEUE, i, &row);
		}
}

void sl_collect_entries(struct sl_collector *c)
{
	struct sl_scratch *s = c->scratch;
	bool reserved = false;
	uint32_t i;

	xrecalloc(c->way, MAX(s->queue_len, 1), sizeof(*c->way));
	if (sl_builder_rows(c->b, SL_T_JOB) > s->first_way_room) {
		s->first_way_room = sl_builder_rows(c->b, SL_T_JOB) * 2;
		xrecalloc(c->first_way, s->first_way_room, sizeof(*c->first_way));
	}
	memset(c->first_way, 0xff, s->first_way_room * sizeof(*c->first_way));
	c->ways = c->queued = 0;
	for (i = 0; i < s->queue_len; i++) {
		const struct sl_queue_rec *q = &s->queue[i];
		struct sl_queue_row row = sl_queue_row();
		struct sl_job_row job;

		row.job = sl_collect_row(c, q->job_id);
		row.partition = sl_collect_part(c, q->part);
		if (row.job == SL_NONE || row.partition == SL_NONE ||
		    sl_builder_row(c->b, SL_T_JOB, row.job, &job) || job.state != SL_JOB_PENDING)
			continue;
		reserved |= q->resv_id != 0;
		if (add_way(c, row.job, row.partition, q))
			continue;
		row.priority = q->priority;
		sl_builder_append(c->b, SL_T_QUEUE, &row);
		c->queued++;
	}
	if (reserved)
		collect_ways(c);
}
