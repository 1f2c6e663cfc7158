/* SPDX-License-Identifier: MIT */
/* plan_answer.c - see plan_answer.h.  Linear in the plan and the snapshot. */
#include "image/plan_answer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"

/* What the plan has said of a job so far. */
struct said {
	uint32_t entry;		/* its first in the queue + 1; 0: none */
	uint32_t starts;
	uint32_t actions;
	bool reserved, pending, told;
	bool booked;		/* has a reservation that is not native */
	bool held, stopped;	/* has a row among the holds, which releases nothing; among the stops */
	bool held_or_released;
};

struct answer {
	const struct sl_plan_image *plan;
	const struct sl_snapshot *snap;
	struct said *said;	/* by job row */
	uint32_t *next;		/* by queue entry: the job's next one + 1 */
	struct sl_map by_id;	/* -> job row */
	struct sl_error *err;
};

/* -- looking things up ------------------------------------------------------ */

/* What was said of a job; NULL with a->err when the snapshot has no such job. */
static struct said *find_job(const struct answer *a, const char *table, uint32_t row, uint32_t id)
{
	SL_MAP_EACH(&a->by_id, sl_hash_number(SL_HASH, id), at)
		if (a->snap->job.id[at.value] == id)
			return &a->said[at.value];
	sl_fail(a->err, SL_EFORMAT, "plan: %s[%" PRIu32 "]: job %" PRIu32 " is not in the snapshot", table, row, id);
	return NULL;
}

static bool is_queued(const struct answer *a, const struct said *job, uint32_t partition)
{
	uint32_t entry = job->entry;

	while (entry && a->snap->queue.partition[entry - 1] != partition)
		entry = a->next[entry - 1];
	return entry != 0;
}

static int index_jobs(struct answer *a)
{
	const struct sl_snapshot *s = a->snap;

	a->said = calloc((size_t) s->job.rows + 1, sizeof(*a->said));
	a->next = calloc((size_t) s->queue.rows + 1, sizeof(*a->next));
	if (!a->said || !a->next || sl_map_reserve(&a->by_id, s->job.rows, NULL))
		return sl_fail(a->err, SL_ENOMEM, "plan: out of memory");
	for (uint32_t r = 0; r < s->job.rows; r++)
		sl_map_put(&a->by_id, sl_hash_number(SL_HASH, s->job.id[r]), r, NULL);
	for (uint32_t q = s->queue.rows; q-- > 0; ) {
		struct said *job = &a->said[s->queue.job[q]];

		a->next[q] = job->entry;
		job->entry = q + 1;
	}
	return 0;
}

/* -- rows ------------------------------------------------------------------- */

/* What starts and reservations have in common. */
struct booked {
	const char *table;
	uint32_t row, job, partition, shape, through;
	struct sl_range places, lenders;
};

#define WRONG(a, b, ...) sl_fail((a)->err, SL_EFORMAT, "plan: %s[%" PRIu32 "]: " __VA_ARGS__)

static int check_places(const struct answer *a, const struct booked *b)
{
	const struct sl_plan_place_view *place = &a->plan->place;

	for (uint32_t i = b->places.first; i < b->places.first + b->places.count; i++) {
		if (place->node[i] >= a->snap->node.rows)
			return WRONG(a, b, "there is no node row %" PRIu32, b->table, b->row, place->node[i]);
		if (i > b->places.first && place->node[i] <= place->node[i - 1])
			return WRONG(a, b, "node row %" PRIu32 " comes twice or out of order", b->table, b->row,
				     place->node[i]);
		if (!place->cores[i])
			return WRONG(a, b, "no cores of node row %" PRIu32, b->table, b->row, place->node[i]);
	}
	return 0;
}

static int check_loan(const struct answer *a, const struct booked *b)
{
	const struct sl_plan_lender_view *lender = &a->plan->lender;

	if (b->through != SL_NONE && b->through >= a->snap->partition.rows)
		return WRONG(a, b, "there is no partition row %" PRIu32, b->table, b->row, b->through);
	if (b->lenders.count > a->snap->partition.rows)
		return WRONG(a, b, "more lenders than there are partitions", b->table, b->row);
	for (uint32_t i = b->lenders.first; i < b->lenders.first + b->lenders.count; i++)
		if (lender->partition[i] >= a->snap->partition.rows)
			return WRONG(a, b, "there is no partition row %" PRIu32, b->table, b->row,
				     lender->partition[i]);
	return 0;
}

/* The job, which is in the queue; NULL with a->err. */
static struct said *check_booked(const struct answer *a, const struct booked *b)
{
	struct said *job = find_job(a, b->table, b->row, b->job);

	if (!job)
		return NULL;
	if (!is_queued(a, job, b->partition)) {
		WRONG(a, b, "job %" PRIu32 " is not in the queue of partition row %" PRIu32, b->table, b->row,
		      b->job, b->partition);
		return NULL;
	}
	if (b->shape > a->snap->job.shapes[job - a->said].count) {
		WRONG(a, b, "job %" PRIu32 " has no alternative %" PRIu32, b->table, b->row, b->job, b->shape);
		return NULL;
	}
	return check_places(a, b) || check_loan(a, b) ? NULL : job;
}

static int check_starts(const struct answer *a)
{
	const struct sl_plan_start_view *v = &a->plan->start;

	for (uint32_t r = 0; r < v->rows; r++) {
		struct booked b = { "start", r, v->job[r], v->partition[r], v->shape[r], v->through[r], v->places[r],
				    v->lenders[r] };
		struct said *job = check_booked(a, &b);
		uint32_t tasks;

		if (!job)
			return -1;
		tasks = a->snap->job.array_pending[job - a->said];
		if (job->starts++ >= (tasks ? tasks : 1))
			return WRONG(a, &b, "job %" PRIu32 " is started more often than it has tasks", b.table, r, b.job);
		if (v->reservation[r] != SL_NONE && v->reservation[r] >= a->snap->reservation.rows)
			return WRONG(a, &b, "there is no reservation row %" PRIu32, b.table, r, v->reservation[r]);
		if (v->behind[r] > a->plan->reserve.rows)
			return WRONG(a, &b, "job %" PRIu32 " is behind more reservations than there are", b.table, r, b.job);
		if (v->blocks[r] > a->plan->block.rows)
			return WRONG(a, &b, "job %" PRIu32 " is bound by more blocks than there are", b.table, r, b.job);
	}
	return 0;
}

static int check_reservations(const struct answer *a)
{
	const struct sl_plan_reserve_view *v = &a->plan->reserve;

	for (uint32_t r = 0; r < v->rows; r++) {
		struct booked b = { "reserve", r, v->job[r], v->partition[r], v->shape[r], v->through[r],
				    v->places[r], v->lenders[r] };
		struct said *job = check_booked(a, &b);

		if (!job)
			return -1;
		if (job->reserved)
			return WRONG(a, &b, "job %" PRIu32 " is reserved twice", b.table, r, b.job);
		if (v->blocks[r] > a->plan->block.rows)
			return WRONG(a, &b, "job %" PRIu32 " is bound by more blocks than there are", b.table, r, b.job);
		job->reserved = true;
		job->booked = !v->native[r];
	}
	return 0;
}

static int check_forecasts(const struct answer *a)
{
	const struct sl_plan_forecast_view *v = &a->plan->forecast;

	for (uint32_t r = 0; r < v->rows; r++) {
		struct booked b = { .table = "forecast", .row = r, .job = v->job[r], .partition = v->partition[r],
				    .through = SL_NONE, .places = v->places[r] };
		struct said *job = find_job(a, b.table, r, b.job);
		bool told = b.partition == SL_NONE, *already;

		if (told && job && job->entry)
			b.partition = a->snap->queue.partition[job->entry - 1];
		if (!job || !check_booked(a, &b))
			return -1;
		already = told ? &job->told : &job->reserved;
		if (*already)
			return WRONG(a, &b, "job %" PRIu32 " is reserved, or forecast, already", b.table, r, b.job);
		*already = true;
	}
	return 0;
}

static int check_pending(const struct answer *a)
{
	const struct sl_plan_pending_view *v = &a->plan->pending;

	for (uint32_t r = 0; r < v->rows; r++) {
		struct said *job = find_job(a, "pending", r, v->job[r]);

		if (!job)
			return -1;
		if (!job->entry || job->pending)
			return sl_fail(a->err, SL_EFORMAT, "plan: pending[%" PRIu32 "]: job %" PRIu32 " %s", r, v->job[r],
				       job->pending ? "stays pending twice" : "is not in the queue");
		job->pending = true;
	}
	return 0;
}

static int check_preempting(const struct answer *a)
{
	const struct sl_plan_preempt_view *v = &a->plan->preempt;

	if (v->rows > SL_PLAN_PREEMPT_MAX)
		return sl_fail(a->err, SL_ELIMIT, "plan: %" PRIu32 " jobs that may preempt others, expected at most %d",
			       v->rows, SL_PLAN_PREEMPT_MAX);
	for (uint32_t r = 0; r < v->rows; r++) {
		struct said *job = find_job(a, "preempt", r, v->job[r]);

		if (!job)
			return -1;
		if (!is_queued(a, job, v->partition[r]) || !sl_snapshot_may_preempt(a->snap, (uint32_t) (job - a->said)))
			return sl_fail(a->err, SL_EFORMAT, "plan: preempt[%" PRIu32 "]: job %" PRIu32
				       " is not in the queue of partition row %" PRIu32 ", or can preempt nobody", r,
				       v->job[r], v->partition[r]);
		if (v->behind[r] > a->plan->reserve.rows)
			return sl_fail(a->err, SL_EFORMAT, "plan: preempt[%" PRIu32 "]: job %" PRIu32
				       " is behind more reservations than there are", r, v->job[r]);
		if (v->blocks[r] > a->plan->block.rows)
			return sl_fail(a->err, SL_EFORMAT, "plan: preempt[%" PRIu32 "]: job %" PRIu32
				       " is bound by more blocks than there are", r, v->job[r]);
	}
	return 0;
}

/* A hold has a reservation; what is released may be of any job. */
static int check_holds(const struct answer *a)
{
	const struct sl_plan_hold_view *v = &a->plan->hold;

	for (uint32_t r = 0; r < v->rows; r++) {
		struct said *job = find_job(a, "hold", r, v->job[r]);

		if (!job)
			return -1;
		if (job->held_or_released)
			return sl_fail(a->err, SL_EFORMAT, "plan: hold[%" PRIu32 "]: job %" PRIu32 " stands there twice", r, v->job[r]);
		if (!v->release[r] && (!job->booked || v->until[r] <= a->plan->meta.now[0] || v->cost[r] < 0 || v->bound[r] < 0))
			return sl_fail(a->err, SL_EFORMAT, "plan: hold[%" PRIu32 "]: job %" PRIu32 " %s", r, v->job[r],
				       job->booked ? "has its place for no time, or at a negative cost" : "has no reservation");
		job->held_or_released = true;
		job->held = !v->release[r];
	}
	return 0;
}

/* Whether it is what Slurm allows; what the preemptor gets from it the checker looks at. */
static int check_stops(const struct answer *a)
{
	const struct sl_plan_stop_view *v = &a->plan->stop;

	if (v->rows > SL_PLAN_STOPS_MAX)
		return sl_fail(a->err, SL_ELIMIT, "plan: %" PRIu32 " stops, expected at most %d", v->rows, SL_PLAN_STOPS_MAX);
	for (uint32_t r = 0; r < v->rows; r++) {
		struct said *job = find_job(a, "stop", r, v->job[r]), *other = find_job(a, "stop", r, v->preemptor[r]);
		uint32_t row = job ? (uint32_t) (job - a->said) : 0;
		const char *wrong = NULL;

		if (!job || !other)
			return -1;
		if (job->stopped)
			wrong = "it is stopped twice";
		else if (!other->held)
			wrong = "no place is held for that one";
		else if (v->cost[r] < 0)
			wrong = "at a negative cost";
		else if (v->start_time[r] != a->snap->job.start_time[row])
			wrong = "that run is not the one that the snapshot has";
		else if (!sl_snapshot_may_stop(a->snap, (uint32_t) (other - a->said), row))
			wrong = "Slurm does not let that one preempt it now";
		else if (!sl_snapshot_may_stop_so(a->snap, row, v->mode[r]))
			wrong = "Slurm does not let it be stopped in that way";
		if (wrong)
			return sl_fail(a->err, SL_EFORMAT, "plan: stop[%" PRIu32 "]: job %" PRIu32 " for job %" PRIu32 ": %s", r,
				       v->job[r], v->preemptor[r], wrong);
		job->stopped = true;
	}
	return 0;
}

static int check_blocks(const struct answer *a)
{
	const struct sl_plan_block_view *v = &a->plan->block;
	const struct sl_plan_node_run_view *run = &a->plan->node_run;

	if (v->rows > SL_PLAN_BLOCKS_MAX)
		return sl_fail(a->err, SL_ELIMIT, "plan: %" PRIu32 " blocks, expected at most %d", v->rows, SL_PLAN_BLOCKS_MAX);
	for (uint32_t i = 0; i < run->rows; i++)
		if (run->first[i] > run->last[i] || run->last[i] >= a->snap->node.rows)
			return sl_fail(a->err, SL_EFORMAT, "plan: node_run[%" PRIu32 "]: there are no node rows %" PRIu32
				       " to %" PRIu32, i, run->first[i], run->last[i]);
	for (uint32_t r = 0; r < v->rows; r++)
		for (uint32_t i = v->nodes[r].first + 1; i < v->nodes[r].first + v->nodes[r].count; i++)
			if (run->first[i] <= run->last[i - 1])
				return sl_fail(a->err, SL_EFORMAT, "plan: block[%" PRIu32 "]: node row %" PRIu32
					       " comes twice or out of order", r, run->first[i]);
	return 0;
}

static int check_actions(const struct answer *a)
{
	const struct sl_plan_action_view *v = &a->plan->action;

	for (uint32_t r = 0; r < v->rows; r++) {
		struct said *job = find_job(a, "action", r, v->job[r]);

		if (!job)
			return -1;
		if (++job->actions > SL_PLAN_ACTIONS_MAX)
			return sl_fail(a->err, SL_ELIMIT, "plan: action[%" PRIu32 "]: more than %d actions for job %" PRIu32,
				       r, SL_PLAN_ACTIONS_MAX, v->job[r]);
	}
	return 0;
}

/* -- texts ------------------------------------------------------------------ */

/* Rows may share a text in the image; who reads them has it as often as it is used. */
static void add_texts(const struct answer *a, const uint32_t *str, uint32_t rows, size_t *total)
{
	for (uint32_t r = 0; r < rows && *total <= SL_PLAN_TEXTS_MAX; r++)
		*total += strlen(sl_image_str(&a->plan->image, str[r]));
}

static int check_amount(const struct answer *a)
{
	const struct sl_plan_image *p = a->plan;
	size_t total = 0;

	if (p->log.rows > SL_PLAN_LOG_MAX)
		return sl_fail(a->err, SL_ELIMIT, "plan: %" PRIu32 " lines for the log, expected at most %d",
			       p->log.rows, SL_PLAN_LOG_MAX);
	add_texts(a, p->start.by, p->start.rows, &total);
	add_texts(a, p->start.because, p->start.rows, &total);
	add_texts(a, p->reserve.by, p->reserve.rows, &total);
	add_texts(a, p->pending.text, p->pending.rows, &total);
	add_texts(a, p->pending.by, p->pending.rows, &total);
	add_texts(a, p->action.text, p->action.rows, &total);
	add_texts(a, p->action.by, p->action.rows, &total);
	add_texts(a, p->log.text, p->log.rows, &total);
	add_texts(a, p->hold.because, p->hold.rows, &total);
	add_texts(a, p->hold.by, p->hold.rows, &total);
	add_texts(a, p->stop.by, p->stop.rows, &total);
	add_texts(a, p->refused.text, p->refused.rows, &total);
	add_texts(a, p->refused.by, p->refused.rows, &total);
	return total <= SL_PLAN_TEXTS_MAX ? 0 :
		sl_fail(a->err, SL_ELIMIT, "plan: its texts are more than %zu bytes", SL_PLAN_TEXTS_MAX);
}

int sl_plan_answers(const struct sl_plan_image *plan, const struct sl_snapshot *snap, struct sl_error *err)
{
	struct answer a = { .plan = plan, .snap = snap, .err = err };
	int rc = -1;

	if (plan->meta.sequence[0] != snap->meta.sequence[0])
		return sl_fail(err, SL_EFORMAT, "plan: answers snapshot %" PRId64 ", expected %" PRId64,
			       plan->meta.sequence[0], snap->meta.sequence[0]);
	if (!check_amount(&a) && !index_jobs(&a) && !check_starts(&a) && !check_reservations(&a) && !check_forecasts(&a) &&
	    !check_pending(&a) && !check_preempting(&a) && !check_holds(&a) && !check_stops(&a) && !check_actions(&a) &&
	    !check_blocks(&a))
		rc = 0;
	free(a.said);
	free(a.next);
	sl_map_free(&a.by_id);
	return rc;
}
