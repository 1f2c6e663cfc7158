/* SPDX-License-Identifier: GPL-2.0-or-later */
/* collect/queue.c - which jobs may run, and in which order: build_job_queue() under the locks, rows later */
#include <string.h>

#include "base/order.h"
#include "plugin/collect/aside.h"
#include "plugin/collect/int.h"

/* -- what may run, under the locks ---------------------------------------------- */

/* False if the job is past its deadline.  Slurm's deadline_ok() then also ends it; if another scheduler decides, that is
 * not called. */
static bool is_in_time(const struct sl_scratch *s, job_record_t *job)
{
	if (!job->deadline || job->deadline == (time_t) NO_VAL)
		return true;
	return s->in->aside ? job->deadline > s->now : sl_deadline_ok(job);
}

/* True if the entry is for a magnetic reservation that takes in only jobs which end before it does, and the job would not
 * (job_test_resv()).  A job that names several reservations is in one of them by its own wish. */
static bool outlasts_magnet(const struct sl_scratch *s, const struct sl_queue_rec *q, const job_record_t *job)
{
	uint32_t limit = job->time_limit == NO_VAL ? q->part->max_time : job->time_limit;

	return q->drawn_until && !job->resv_list && (limit == INFINITE || s->now + (time_t) limit * 60 > q->drawn_until);
}

/* True if the entry is for a flexible magnetic reservation and the job asks for more nodes than that has: Slurm starts the
 * job outside of it (_job_runnable_test3()).  (In a reservation that is not flexible such a job finds no place.) */
static bool is_wider_than_magnet(const struct sl_queue_rec *q, const job_record_t *job)
{
	return !job->resv_list && job->details->min_nodes > q->drawn_nodes;
}

/*
 * Is it of use to plan for the job?  Not if it is past its deadline (which may end it), does not fit the magnetic reservation
 * of its entry, was found unable to start a short while ago, or is kept from starting by a limit, whatever nodes it gets
 * (acct_policy sets its reason then).
 */
static bool is_worth_planning(const struct sl_scratch *s, const struct sl_queue_rec *q, job_record_t *job)
{
	if (!IS_JOB_PENDING(job) || IS_JOB_COMPLETING(job))
		return false;	/* just ended by its deadline; or started and requeued meanwhile */
	if (!is_in_time(s, job) || outlasts_magnet(s, q, job) || is_wider_than_magnet(q, job))
		return false;
	if (sl_collect_note(s, job)->rests_until > s->now)
		return false;
	if (!(accounting_enforce & ACCOUNTING_ENFORCE_LIMITS))
		return true;
	job->part_ptr = q->part;
	if (!sl_job_take_qos(job, q->qos_id))
		return false;
	/* (limits on what the job asks for are checked only if one kept it from starting a while ago: for all jobs that
	 * would take too long) */
	return acct_policy_job_runnable_pre_select(job, false) && !(sl_collect_note(s, job)->limited && sl_job_is_limited(job));
}

/* The order of sort_job_queue(), computed without locks.  With preemption that order depends on running jobs; then Slurm
 * itself has sorted. */
static int by_order(const void *x, const void *y)
{
	const struct sl_queue_rec *a = x, *b = y;

	return SL_ORDER(b->expedites, a->expedites) ?: SL_ORDER(b->has_resv, a->has_resv) ?: SL_ORDER(b->tier, a->tier) ?:
		SL_ORDER(b->priority, a->priority) ?: SL_ORDER(a->submit, b->submit) ?:
		SL_ORDER(a->order_id, b->order_id) ?: SL_ORDER(a->array_task_id, b->array_task_id) ?:
		SL_ORDER(b->prefer, a->prefer) ?: SL_ORDER(a->place, b->place);
}

/* Sort keys of a heterogeneous job: those of its components, combined as bf_hetjob_prio says. */
struct het_keys {
	enum { OWN_PRIORITY, LEAST_PRIORITY, MOST_PRIORITY, MEAN_PRIORITY } how;
	uint64_t priority, tier, count;
	bool has_resv, is_held;
};

static int het_prio(const char *params)
{
	static const char key[] = "bf_hetjob_prio=";
	static const char *const words[] = { [LEAST_PRIORITY] = "min", [MOST_PRIORITY] = "max", [MEAN_PRIORITY] = "avg" };
	const char *at = params ? strcasestr(params, key) : NULL;
	int i;

	for (i = LEAST_PRIORITY; at && i <= MEAN_PRIORITY; i++)
		if (!strncasecmp(at + strlen(key), words[i], 3))
			return i;
	return sl_has_word(params, "bf_hetjob_immediate") ? LEAST_PRIORITY : OWN_PRIORITY;
}

static void mix_key(const struct het_keys *k, uint64_t *all, uint64_t own)
{
	if (!k->count)
		*all = own;
	else if (k->how == MEAN_PRIORITY)
		*all += own;
	else
		*all = k->how == LEAST_PRIORITY ? MIN(*all, own) : MAX(*all, own);
}

static int each_component(void *x, void *arg)
{
	const job_record_t *job = x;
	struct het_keys *k = arg;

	mix_key(k, &k->priority, job->priority);
	mix_key(k, &k->tier, job->part_ptr ? job->part_ptr->priority_tier : 0);
	k->has_resv |= job->resv_id != 0;
	k->is_held |= !job->priority;
	k->count++;
	return 0;
}

/* Give all components the sort keys that bf_hetjob_prio computes for the job (_hetjob_calc_prio() and others of
 * sched/backfill).  For a component in several partitions the priority of its record counts. */
static void het_sort_keys(struct sl_queue_rec *q, const job_record_t *job)
{
	const job_record_t *leader = job->het_job_id ? find_job_record(job->het_job_id) : NULL;
	struct het_keys k = { .how = het_prio(slurm_conf.sched_params) };

	if (k.how == OWN_PRIORITY || !leader || !leader->het_job_list)
		return;
	list_for_each(leader->het_job_list, each_component, &k);
	if (!k.count)
		return;
	q->priority = k.is_held ? 0 : (uint32_t) (k.how == MEAN_PRIORITY ? k.priority / k.count : k.priority);
	q->tier = (uint16_t) (k.how == MEAN_PRIORITY ? k.tier / k.count : k.tier);
	q->has_resv |= k.has_resv;
}

static void sort_keys(struct sl_queue_rec *q, const job_record_t *job)
{
	q->expedites = sl_job_expedites(job);
	q->has_resv = job->resv_id || q->resv_id;
	het_sort_keys(q, job);
	q->submit = job->details->submit_time;
	q->order_id = q->array_task_id == NO_VAL ? q->job_id : job->array_job_id;
}

/* (The jobs of a flexible reservation may end after it.) */
static time_t drawn_until(const slurmctld_resv_t *resv)
{
	return SL_MAGNETS_LET_NONE_OUTLAST && resv && !(resv->flags & RESERVE_FLAG_FLEX) ? resv->end_time : 0;
}

/* The most nodes that a job may ask for in that reservation. */
static uint32_t drawn_nodes(const slurmctld_resv_t *resv, const part_record_t *part)
{
	if (!resv || !(resv->flags & RESERVE_FLAG_FLEX) || !resv->node_bitmap || !part->node_bitmap)
		return UINT32_MAX;
	return (uint32_t) bit_overlap(resv->node_bitmap, part->node_bitmap);
}

/* Copy what the queue entry itself says; its job is looked at later. */
static int each_rec(void *x, void *arg)
{
	const job_queue_rec_t *rec = x;
	struct sl_scratch *s = arg;

	s->queue[s->taken] = (struct sl_queue_rec) {
		.job_id = rec->job_id, .array_task_id = rec->array_task_id, .priority = rec->priority,
		.resv_id = rec->resv_ptr ? rec->resv_ptr->resv_id : 0, .qos_id = sl_queue_qos_id(rec),
		.part = rec->part_ptr, .tier = rec->part_ptr->priority_tier, .prefer = sl_queue_prefer(rec),
		.place = s->taken, .drawn_until = drawn_until(rec->resv_ptr),
		.drawn_nodes = drawn_nodes(rec->resv_ptr, rec->part_ptr),
	};
	s->taken++;
	return 0;
}

static void take_queue(struct sl_scratch *s, sl_list_t queue)
{
	uint32_t n = (uint32_t) list_count(queue);

	if (n > s->queue_room) {
		s->queue_room = n + n / 2 + 64;
		xrecalloc(s->queue, s->queue_room, sizeof(*s->queue));
	}
	list_for_each(queue, each_rec, s);
}

/* Have Slurm build the queue.  *us: the microseconds that it takes. */
static sl_list_t build_queue(struct sl_scratch *s, uint64_t *us)
{
	uint64_t t0 = sl_clock_us();
	sl_list_t queue = build_job_queue(false, true);

	if ((s->preempts = slurm_preemption_enabled()))
		sort_job_queue(queue);
	sl_collect_preempt_params(s, sl_preempt_params());
	*us = sl_clock_us() - t0;
	return queue;
}

/* -- which jobs are worth planning --------------------------------------------------------- */

static const slurmctld_lock_t queue_locks = { .conf = READ_LOCK, .job = WRITE_LOCK, .node = WRITE_LOCK,
					      .part = READ_LOCK, .fed = READ_LOCK };

static void take_queue_locks(struct sl_scratch *s)
{
	lock_slurmctld(queue_locks);
	s->held_since = sl_clock_us();
}

static int same_part(void *x, void *key)
{
	return x == key;
}

/* Does the job still ask for that partition?  If so, the partition still exists. */
static bool asks_for(const job_record_t *job, part_record_t *part)
{
	if (job->part_ptr_list)
		return list_find_first(job->part_ptr_list, same_part, part) != NULL;
	return job->part_ptr == part;
}

/* True if the entry is kept.  *aside*, if not NULL, notes the state of the job before it is looked at. */
static bool judge(struct sl_scratch *s, struct sl_queue_rec *q, struct sl_aside *aside)
{
	job_record_t *job = find_job_record(q->job_id);

	if (!job || !sl_job_sane(job) || !asks_for(job, q->part))
		return false;
	if (aside)
		sl_aside_note(aside, job);
	if (!is_worth_planning(s, q, job))
		return false;
	sort_keys(q, job);
	return true;
}

/* Look at the entries from *from* on, until the locks have been held long enough.  Returns the first one that is left. */
static uint32_t judge_some(struct sl_scratch *s, uint32_t from)
{
	struct sl_aside *aside = s->in->aside ? sl_aside_begin() : NULL;
	uint32_t i = from;

	for (; i < s->taken && sl_clock_us() - s->held_since < SL_COLLECT_HOLD_US; i++)
		if (judge(s, &s->queue[i], aside))
			s->queue[s->queue_len++] = s->queue[i];
	if (aside)
		sl_aside_end(aside);
	return i;
}

static void ask_queue(struct sl_collector *c, sl_list_t *queue)
{
	struct sl_scratch *s = c->scratch;
	struct sl_aside *aside = NULL;

	sl_asked_restore(s->in->asked);
	sl_collect_restore_lent(c);
	if (s->in->aside)
		sl_aside_note_all(aside = sl_aside_begin());
	*queue = build_queue(s, &c->build_us);
	if (aside)
		sl_aside_end(aside);
	c->preempts = s->preempts;
	take_queue(s, *queue);
}

/* 0 if slurmctld's tables exist and are laid out as this plug-in was compiled for; else -1. */
static int check_tables(struct sl_scratch *s, struct sl_error *err)
{
	int rc;

	if (!node_record_count || !job_list || !part_list || !avail_node_bitmap || !up_node_bitmap)
		return sl_fail(err, SL_EBUSY, "slurmctld has not loaded its nodes yet");
	if (s->checked)
		return 0;
	rc = sl_collect_check_layout(err);
	s->checked = rc > 0;
	return MIN(rc, 0);
}

/* Check the layout before any job record is read.  Done until it has succeeded once. */
static int check_records(struct sl_scratch *s, struct sl_error *err)
{
	int rc;

	if (s->checked)
		return 0;
	take_queue_locks(s);
	rc = check_tables(s, err);
	unlock_slurmctld(queue_locks);
	return rc;
}

int sl_collect_queue(struct sl_collector *c, struct sl_error *err)
{
	struct sl_scratch *s = c->scratch;
	sl_list_t queue = NULL;
	uint32_t judged = 0;
	int rc;

	s->taken = s->queue_len = 0;
	c->copy_us = c->build_us = 0;
	if (check_records(s, err))
		return -1;
	sl_collect_find_lent(c);
	take_queue_locks(s);
	if (!(rc = check_tables(s, err)))
		ask_queue(c, &queue);
	c->queue_us = sl_clock_us() - s->held_since;
	unlock_slurmctld(queue_locks);
	FREE_NULL_LIST(queue);
	while (judged < s->taken) {
		take_queue_locks(s);
		judged = judge_some(s, judged);
		c->copy_us = MAX(c->copy_us, sl_clock_us() - s->held_since);
		unlock_slurmctld(queue_locks);
	}
	if (!rc && !s->preempts)
		qsort(s->queue, s->queue_len, sizeof(*s->queue), by_order);
	return rc;
}

/* -- rows, when the jobs have theirs ------------------------------------------------------ */

/* True if the job already had a way in that partition. */
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

/* Rows of the reservations in which the job can be started in that partition, each once. */
static struct sl_range add_ways(struct sl_collector *c, const struct sl_queue_row *queue)
{
	struct sl_range r = { sl_builder_rows(c->b, SL_T_WAY), 0 };
	uint32_t w, v;

	for (w = c->first_way[queue->job]; w != SL_NONE; w = c->way[w].next) {
		struct sl_way_row row = { .reservation = resv_row(c, c->way[w].resv_id) };

		for (v = c->first_way[queue->job]; v != w && (c->way[v].part != c->way[w].part ||
							     c->way[v].resv_id != c->way[w].resv_id); v = c->way[v].next)
			;
		/* (a reservation that was deleted a moment ago is skipped) */
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
