/* SPDX-License-Identifier: MIT */
/* plan_reserve.c - finding the earliest start, to reserve it or only to tell it. */
#include "base/clock.h"
#include "base/order.h"
#include "model/plan_needless.h"
#include "model/plan_private.h"

#include <inttypes.h>
#include <stdlib.h>

/* -- reservations -------------------------------------------------------- */

#define ROWS_OF_UNIT 8	/* jobs that can be looked at in one unit of work (base/effort.h) */

/* The time from which the array's throttle allows another task: now, or when enough of its tasks have ended. */
static int64_t array_from(struct sl_plan *p, uint32_t job, struct sl_error *err)
{
	const struct sl_cluster *c = p->c;
	uint32_t array = c->snap->job.array_job_id[job], n = 0, most = c->snap->job.array_max_running[job];
	int64_t *end, from = c->now;

	if (!plan_throttled(p, job))
		return from;
	if (sl_effort_spend(&p->c->effort, ((uint64_t) c->runs + p->started.count) / ROWS_OF_UNIT, err) < 0)
		return -1;
	end = malloc(((size_t) c->runs + p->started.count + 1) * sizeof(*end));
	if (!end)
		return plan_no_memory(err);
	for (uint32_t i = 0; i < c->runs; i++)
		if (c->snap->job.array_job_id[c->running[i]] == array)
			end[n++] = c->held[c->running[i]]->end;
	for (uint32_t i = 0; i < p->started.count; i++)
		if (c->snap->job.array_job_id[p->started.entry[i].job] == array)
			end[n++] = p->started.item[i]->t1;
	qsort(end, n, sizeof(*end), sl_order_i64);
	if (n >= most)
		from = end[n - most];
	free(end);
	return from;
}

/* Find the earliest start and book it; *out NULL: do not book. */
static int find_earliest(struct sl_plan *p, struct sl_entry e, const struct sl_terms *terms, int64_t least,
			 int64_t *start_time, struct booking **out, uint32_t *at, struct sl_refusal *why, struct sl_error *err)
{
	const struct sl_how *how = terms ? terms->how : NULL;
	const struct want *w = plan_look_up(p, e, how, err);
	int64_t from, seconds, begin;
	struct attempt a;
	struct opened was;
	int rc;

	*at = SL_NONE;
	if (!w)
		return -1;
	rc = plan_gate(p, w, how, why);
	if (rc <= 0)
		return rc;
	from = array_from(p, e.job, err);
	begin = p->c->snap->job.begin_time[e.job];
	if (from < 0)
		return -1;
	if (from < begin)
		from = begin;
	if (from < least)
		from = least;
	if (terms && from < terms->from)
		from = terms->from;
	if (plan_make_room(&p->reserved, err) < 0 || plan_look_for(p, w, err) < 0 || plan_attempt(&a, p, w, terms, err) < 0 ||
	    plan_lift(p, e.job, at, err) < 0)
		return -1;
	rc = plan_open_for(p, e.job, &was, err);
	if (!rc && from < SL_FOREVER)
		rc = plan_earliest(&a, from, start_time, &seconds, err);
	if (!rc && from == SL_FOREVER)
		plan_say(why, SL_WHY_ARRAY, "as many tasks of its array run as may, without an end");
	else if (!rc)
		rc = plan_explain_never(&a, why, err);
	else if (rc > 0 && out)
		rc = plan_take(&a, *start_time, seconds, out, err);
	if ((rc <= 0 || !out) && plan_put_back(p, *at, rc < 0 ? NULL : err) < 0)
		rc = -1;
	plan_as_before(p, was);
	plan_attempt_end(&a);
	return rc;
}

int plan_reserve(struct sl_plan *p, struct sl_entry e, const struct sl_terms *terms, int64_t from, int64_t *start_time,
		 struct sl_refusal *refusal, struct sl_error *err)
{
	struct sl_refusal why = { .why = SL_WHY_NONE };
	struct booking *b = NULL;
	uint32_t at;
	int rc;

	/* other jobs are stopped for this very place */
	if (plan_stops_others(p, e.job) && (at = plan_find(&p->reserved, e.job)) != SL_NONE) {
		*start_time = p->reserved.item[at]->t0;
		return 1;
	}
	rc = find_earliest(p, e, terms, from, start_time, &b, &at, &why, err);
	if (rc < 0)
		return -1;
	if (!rc)
		return plan_refuse(p, &e, &why, refusal, err);
	if (at == SL_NONE) {
		p->reservations++;
		plan_insert(&p->reserved, p->reserved.count, b);
	} else {
		plan_refusals_forget(p);
		p->given_back++;
		b->reserved = p->reserved.item[at]->reserved;
		plan_free_booking(p->reserved.item[at]);
		p->reserved.item[at] = b;
		p->reserved.entry[at] = b->entry;
	}
	return 1;
}

int plan_earliest_start(struct sl_plan *p, struct sl_entry e, const struct sl_terms *terms, int64_t *start_time,
			struct sl_refusal *why, struct sl_error *err)
{
	uint32_t at;

	return find_earliest(p, e, terms, p->c->now, start_time, NULL, &at, why, err);
}

/* -- forecasts ----------------------------------------------------------- */

/* made even if the time is over */
#define FORECASTS_AT_LEAST 20

/* True if only time is missing. */
static bool may_yet_start(struct sl_plan *p, uint32_t job)
{
	const struct note *n = p->notes_of[job] ? &p->note[p->notes_of[job] - 1] : NULL;
	enum sl_plan_state state;

	if (n && (n->own || n->said.why == SL_WHY_NEVER || n->said.why == SL_WHY_PARTITION ||
		  n->said.why == SL_WHY_NOT_MODELLED || n->said.why == SL_WHY_NODES_DOWN || n->said.why == SL_WHY_COST))
		return false;
	state = sl_plan_job(p, job);
	return state != SL_PLAN_STARTED && state != SL_PLAN_RESERVED && !plan_is_barred(p, job);
}

/* Forecast in the partition in which the job can start first.  1, 0 or -1. */
static int forecast(struct sl_plan *p, uint32_t job, struct sl_error *err)
{
	struct sl_refusal why;
	struct booking *b = NULL;
	const struct sl_entry *soonest = NULL;
	int64_t first = SL_FOREVER, start;
	uint32_t at;
	int rc;

	for (uint32_t i = p->queue_of[job]; i; i = p->queue_next[i - 1]) {
		rc = find_earliest(p, p->c->queue[i - 1], NULL, p->c->now, &start, NULL, &at, &why, err);
		if (rc < 0)
			return -1;
		if (rc && start < first) {
			first = start;
			soonest = &p->c->queue[i - 1];
		}
	}
	rc = soonest ? find_earliest(p, *soonest, NULL, p->c->now, &start, &b, &at, &why, err) : 0;
	if (rc > 0) {
		plan_insert(&p->reserved, p->reserved.count, b);
		p->forecasts++;
	}
	return rc;
}

/* Forecast all components of a heterogeneous job, for its leader.  1, 0 or -1. */
static int forecast_het(struct sl_plan *p, uint32_t job, struct sl_error *err)
{
	uint32_t before = p->reserved.count;
	struct sl_refusal why;
	int64_t start;
	int rc = 0;

	if (!sl_cluster_is_led(p->c, job))
		rc = plan_reserve_het(p, p->c->queue[p->queue_of[job] - 1], NULL, &start, &why, err);
	p->forecasts += p->reserved.count - before;
	return rc;
}

/* 1; 0, also if it takes too long; or -1. */
static int forecast_job(struct sl_plan *p, uint32_t job, struct sl_error *err)
{
	const struct sl_entry *e = &p->c->queue[p->queue_of[job] - 1];
	struct sl_error unread;
	int rc;

	err = err ? err : &unread;
	if (!plan_begin_work(p, job))
		return 0;
	rc = (plan_is_component(p->c, job) ? forecast_het : forecast)(p, job, err);
	return plan_end_work(p, e, rc, NULL, err);
}

int sl_plan_forecast(struct sl_plan *p, uint32_t most, int64_t until, struct sl_error *err)
{
	uint32_t tried;

	if (!p->forecasts && plan_settle(p, err) < 0)
		return -1;
	tried = p->notes;	/* refusals from here on are not noted */
	for (uint32_t i = 0; i < tried + p->c->queued && most; i++) {
		uint32_t job = i < tried ? p->note[i].job : p->c->queue[i - tried].job;

		if ((i >= tried && p->notes_of[job]) || !may_yet_start(p, job))
			continue;
		most--;
		if (forecast_job(p, job, err) < 0)
			return -1;
		if (p->forecasts >= FORECASTS_AT_LEAST && sl_clock_us() > until)
			break;
	}
	return 0;
}
