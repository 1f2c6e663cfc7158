/* SPDX-License-Identifier: MIT */
/*
 * by_rule.c - lua/policies/predictive.lua and what it calls, line by line: guard.protect(), protect(), and decide() itself, with
 * history:order() as bind/order.c has it.
 */
#include "sim/by_rule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/order.h"
#include "model/job_order.h"

/* An entry of the queue in an order. */
struct ordered {
	double key;			/* the smallest goes first */
	double overdue_s;
	struct sl_entry entry;
	uint32_t place;
};

struct sl_by_rule {
	struct sl_cluster *c;
	bool is_promised;
	struct sl_order_rule rule;
	struct sl_order_job *known;	/* by job; NULL: not asked yet */
	uint64_t numbering;		/* of the history then */
	struct ordered *row;
	uint32_t rows, room;
};

/* What one decision works with. */
struct deciding {
	struct sl_by_rule *b;
	struct sl_plan *plan;
	struct sl_terms terms;
	int64_t now;
	struct sl_error *err;
};

struct sl_by_rule *sl_by_rule_create(struct sl_cluster *c, struct sl_error *err)
{
	struct sl_by_rule *b = calloc(1, sizeof(*b));

	if (b)
		b->c = c;
	else
		sl_fail(err, SL_ENOMEM, "simulator: out of memory");
	return b;
}

void sl_by_rule_destroy(struct sl_by_rule *b)
{
	if (!b)
		return;
	free(b->known);
	free(b->row);
	free(b);
}

void sl_by_rule_promised(struct sl_by_rule *b, const struct sl_promise *promise)
{
	b->is_promised = promise->rule == SL_RULE_ORDER;
	b->rule = promise->order;
}

/* The components of a heterogeneous job are planned with their leader, and not handed out: the policy is asked then. */
bool sl_by_rule_knows(const struct sl_by_rule *b)
{
	uint32_t queued;
	const struct sl_entry *entry = sl_cluster_queue(b->c, &queued);

	for (uint32_t i = 0; b->is_promised && i < queued; i++)
		if (sl_cluster_is_led(b->c, entry[i].job))
			return false;
	return b->is_promised;
}

/* -- orders ------------------------------------------------------------------- */

static int64_t eligible_since(const struct sl_snapshot *snap, uint32_t job)
{
	int64_t submitted = snap->job.submit_time[job], eligible = snap->job.eligible_time[job];

	return eligible > submitted ? eligible : submitted;
}

static int by_key(const void *va, const void *vb)
{
	const struct ordered *a = va, *b = vb;

	return SL_ORDER(a->key, b->key) ?: SL_ORDER(a->place, b->place);
}

static int by_overdue(const void *va, const void *vb)
{
	const struct ordered *a = va, *b = vb;

	return SL_ORDER(b->overdue_s, a->overdue_s) ?: SL_ORDER(a->place, b->place);
}

/* Room for a row of each entry of the queue, and for what is known of each job.  The history, or NULL with *err. */
static struct sl_history *begin_order(struct sl_by_rule *b, struct sl_error *err)
{
	uint32_t queued, jobs = sl_cluster_snapshot(b->c)->job.rows;
	struct sl_history *h = sl_cluster_history(b->c, err);

	sl_cluster_queue(b->c, &queued);
	if (!h || sl_grow(&b->row, &b->room, queued + UINT64_C(1), sizeof(*b->row), err) < 0)
		return NULL;
	if (b->known && b->numbering != sl_history_numbering(h))
		memset(b->known, 0, jobs * sizeof(*b->known));
	else if (!b->known && !(b->known = calloc(jobs + 1u, sizeof(*b->known)))) {
		sl_fail(err, SL_ENOMEM, "simulator: out of memory");
		return NULL;
	}
	b->numbering = sl_history_numbering(h);
	b->rows = 0;
	return h;
}

/* What history:order() would have of an entry that is open.  1; 0: nothing; -1 with *err. */
static int value_entry(struct deciding *d, struct sl_history *h, struct ordered *o, bool overdue)
{
	const struct sl_snapshot *snap = sl_cluster_snapshot(d->b->c);
	const struct sl_order_by *by = &d->b->rule.by;
	uint32_t job = o->entry.job;
	struct sl_order_job *known = &d->b->known[job];
	int64_t waited = sl_order_waited(snap, job, d->now);
	double typical, stretch;

	if (overdue && (double) waited < by->wait_s)
		return 0;
	if (sl_order_expect(by, h, snap, job, d->now, known, &typical, &stretch, d->err) < 0)
		return -1;
	if (overdue) {
		if (sl_order_overdue(by, h, snap, job, d->now, waited, stretch, known, &o->overdue_s, d->err) < 0)
			return -1;
		if (o->overdue_s < 0)
			return 0;
	}
	o->key = sl_order_key(by, sl_order_first_key(by, sl_order_cpus(snap, job, known), typical), waited);
	if (isnan(o->key))
		return sl_fail(d->err, SL_EINVAL, "order: the key of job %u: expected a number, got NaN", snap->job.id[job]);
	return 1;
}

/* The open entries in order; *overdue*: those that are, for the longest time first.  0, or -1 with *err. */
static int make_order(struct deciding *d, bool overdue)
{
	struct sl_by_rule *b = d->b;
	const struct sl_snapshot *snap = sl_cluster_snapshot(b->c);
	double by = overdue ? (double) d->now - ceil(b->rule.by.wait_s) : HUGE_VAL;
	uint32_t queued;
	const struct sl_entry *entry = sl_cluster_queue(b->c, &queued);
	struct sl_history *h = begin_order(b, d->err);

	if (!h)
		return -1;
	for (uint32_t i = 0; i < queued; i++) {
		struct ordered *o = &b->row[b->rows];
		int rc;

		if (sl_plan_job(d->plan, entry[i].job) != SL_PLAN_OPEN || (double) eligible_since(snap, entry[i].job) > by)
			continue;
		*o = (struct ordered) { .entry = entry[i], .place = b->rows };
		rc = value_entry(d, h, o, overdue);
		if (rc < 0)
			return -1;
		b->rows += (uint32_t) rc;
	}
	qsort(b->row, b->rows, sizeof(*b->row), overdue ? by_overdue : by_key);
	return 0;
}

/* Those that the guard looks after, by the time since when.  0, or -1 with *err. */
static int make_guarded(struct deciding *d)
{
	struct sl_by_rule *b = d->b;
	const struct sl_snapshot *snap = sl_cluster_snapshot(b->c);
	uint32_t queued;
	const struct sl_entry *entry = sl_cluster_queue(b->c, &queued);

	b->rows = 0;
	if (sl_grow(&b->row, &b->room, queued + UINT64_C(1), sizeof(*b->row), d->err) < 0)
		return -1;
	for (uint32_t i = 0; i < queued && b->rule.guard_wait > 0; i++) {
		int64_t since = eligible_since(snap, entry[i].job), limit = snap->job.time_limit[entry[i].job];
		double due = (double) since + b->rule.guard_wait;

		if (b->rule.guard_stretch > 0)
			due += b->rule.guard_stretch * (limit == SL_UNLIMITED ? HUGE_VAL : (double) limit);
		if ((double) since <= (double) d->now - ceil(b->rule.guard_wait) && due <= (double) d->now) {
			b->row[b->rows] = (struct ordered) { .key = due, .entry = entry[i], .place = b->rows };
			b->rows++;
		}
	}
	qsort(b->row, b->rows, sizeof(*b->row), by_key);
	return 0;
}

/* -- single jobs ---------------------------------------------------------------- */

static bool is_started(const struct deciding *d, struct sl_entry e)
{
	return sl_plan_job(d->plan, e.job) == SL_PLAN_STARTED;
}

/* Start it, an array's as many tasks as fit.  1: all of it; 0; -1 with *err. */
static int start(struct deciding *d, struct sl_entry e)
{
	int rc;
	bool has_head = sl_plan_head(d->plan);

	while ((rc = (has_head ? sl_plan_backfill : sl_plan_start)(d->plan, e, &d->terms, NULL, d->err)) > 0)
		if (is_started(d, e))
			return 1;
	return rc;
}

/* A reservation, unless it is farther away than that.  1, 0, or -1 with *err. */
static int reserve_within(struct deciding *d, struct sl_entry e, double horizon_s)
{
	int64_t at;
	int rc = sl_plan_earliest(d->plan, e, &d->terms, &at, NULL, d->err);

	if (rc <= 0 || (double) (at - d->now) > horizon_s)
		return rc < 0 ? -1 : 0;
	return sl_plan_reserve(d->plan, e, &d->terms, &at, NULL, d->err);
}

/* -- the passes -------------------------------------------------------------------- */

/* 0, or -1 with *err. */
static int guard(struct deciding *d)
{
	uint32_t reserved = 0;
	int64_t at;

	if (make_guarded(d) < 0)
		return -1;
	for (uint32_t i = 0; i < d->b->rows && reserved < d->b->rule.guard_jobs; i++) {
		struct sl_entry e = d->b->row[i].entry;
		enum sl_plan_state was = sl_plan_job(d->plan, e.job);
		int rc = was == SL_PLAN_STARTED ? 1 : sl_plan_start(d->plan, e, &d->terms, NULL, d->err);

		if (!rc) {
			rc = sl_plan_reserve(d->plan, e, &d->terms, &at, NULL, d->err);
			reserved += rc > 0 && was != SL_PLAN_RESERVED;
		}
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* 0, or -1 with *err. */
static int help_overdue(struct deciding *d)
{
	uint32_t left = d->b->rule.slowdown_jobs;

	if (!left)
		return 0;
	if (make_order(d, true) < 0)
		return -1;
	for (uint32_t i = 0; i < d->b->rows && left; i++) {
		const struct ordered *o = &d->b->row[i];
		int rc = start(d, o->entry);

		if (!rc) {
			rc = reserve_within(d, o->entry, d->b->rule.slowdown_horizon + o->overdue_s);
			left -= rc > 0;
		}
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* Start what fits of the rest: of an array as many tasks as there is room for.  0, or -1 with *err. */
static int start_rest(struct deciding *d, uint32_t first)
{
	for (uint32_t i = first; i < d->b->rows; i++) {
		struct sl_entry e = d->b->row[i].entry;
		int rc = 1;

		while (rc > 0 && !is_started(d, e) && !sl_plan_lacks_cores(d->plan, e))
			rc = (sl_plan_head(d->plan) ? sl_plan_backfill : sl_plan_start)(d->plan, e, &d->terms, NULL, d->err);
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* 0, or -1 with *err. */
static int go_through_order(struct deciding *d)
{
	const struct sl_order_rule *rule = &d->b->rule;
	uint32_t left = sl_plan_head(d->plan) && rule->reservations == 1 ? 0 : rule->reservations, i = 0;

	if (make_order(d, false) < 0)
		return -1;
	for (; left && i < d->b->rows; i++) {
		struct sl_entry e = d->b->row[i].entry;
		int rc = start(d, e);

		if (!rc) {
			rc = reserve_within(d, e, rule->horizon);
			left = rc > 0 ? left - 1 : 0;
		}
		if (rc < 0)
			return -1;
	}
	return start_rest(d, i);
}

int sl_by_rule_decide(struct sl_by_rule *b, struct sl_plan *plan, struct sl_error *err)
{
	struct deciding d = { .b = b, .plan = plan, .terms = { .any_shape = b->rule.any_shape }, .now = sl_cluster_now(b->c),
			      .err = err };

	if (guard(&d) < 0 || help_overdue(&d) < 0 || go_through_order(&d) < 0)
		return -1;
	sl_plan_settle_full(plan);
	sl_plan_promise(plan, &(struct sl_promise) { .rule = SL_RULE_ORDER, .order = b->rule });
	return 0;
}
