/* SPDX-License-Identifier: MIT */
/*
 * pool_order.c - the rule ORDER (struct sl_order_rule) on a pool: jobs by what their users' past says of them.
 *
 * Where nobody has room, nothing is worked out.  Else each job gets its key, but only as many are put in order as are asked
 * for a reservation, and then those that fit into what is free.
 */
#include "sim/pool_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/heap.h"
#include "base/order.h"

void pool_set_order(struct sl_pool *p, const struct sl_order_rule *rule)
{
	if (!memcmp(&p->order, rule, sizeof(*rule)))
		return;
	p->order = *rule;
	free(p->known);		/* first keys are others */
	p->known = NULL;
}

/* -- the jobs that wait ---------------------------------------------------- */

/* Room for what is known of jobs, as of what the history says now.  0, or -1 with *err. */
static int know_jobs(struct sl_pool *p, const struct sl_history *h, struct sl_error *err)
{
	uint32_t jobs = sl_cluster_snapshot(p->c)->job.rows;

	if (p->known && p->numbering != sl_history_numbering(h))
		memset(p->known, 0, jobs * sizeof(*p->known));
	else if (!p->known && !(p->known = calloc(jobs, sizeof(*p->known))))
		return sl_fail(err, SL_ENOMEM, "simulator: out of memory");
	p->numbering = sl_history_numbering(h);
	return 0;
}

static bool may_be_overdue(const struct sl_pool *p, const struct pool_row *r)
{
	return p->order.slowdown_jobs && (double) r->waited >= p->order.by.wait_s;
}

/* Its key, and for how long it is overdue.  0, or -1 with *err. */
static int value_row(struct sl_pool *p, struct sl_history *h, uint32_t job, struct pool_row *r, struct sl_error *err)
{
	const struct sl_snapshot *snap = sl_cluster_snapshot(p->c);
	const struct sl_order_by *by = &p->order.by;
	struct pool_known *k = &p->known[job];
	int64_t now = sl_cluster_now(p->c);
	double typical, stretch;

	if (sl_order_expect(by, h, snap, job, now, &k->job, &typical, &stretch, err) < 0)
		return -1;
	if (!k->first_key || k->typical != typical) {
		k->typical = typical;
		k->first_key = sl_order_first_key(by, sl_order_cpus(snap, job, &k->job), typical);
	}
	r->key = sl_order_key(by, k->first_key, r->waited);
	if (isnan(r->key))
		return sl_fail(err, SL_EINVAL, "order: the key of job %u: expected a number, got NaN", snap->job.id[job]);
	r->overdue_s = -1;
	return may_be_overdue(p, r) ?
		sl_order_overdue(by, h, snap, job, now, r->waited, stretch, &k->job, &r->overdue_s, err) : 0;
}

/* p->row[i] of each entry.  0, or -1 with *err. */
static int make_rows(struct sl_pool *p, const struct sl_entry *entry, uint32_t queued, struct sl_error *err)
{
	struct sl_history *h = sl_cluster_history(p->c, err);

	if (!h || know_jobs(p, h, err) < 0 || sl_grow(&p->row, &p->row_room, queued, sizeof(*p->row), err) < 0)
		return -1;
	for (uint32_t i = 0; i < queued; i++) {
		struct pool_row *r = &p->row[i];

		pool_read_row(p, entry, i, r);
		if (value_row(p, h, entry[i].job, r, err) < 0)
			return -1;
	}
	return 0;
}

static bool goes_before(const void *arg, const struct pool_row *a, const struct pool_row *b)
{
	(void) arg;
	return a->key < b->key || (a->key == b->key && a->at < b->at);
}

SL_HEAP(rows, struct pool_row, const void *, goes_before)

static int by_key(const void *a, const void *b)
{
	const struct pool_row *x = a, *y = b;

	return SL_ORDER(x->key, y->key) ?: SL_ORDER(x->at, y->at);
}

/* See sl_order_overdue(). */
static int by_overdue(const void *a, const void *b)
{
	const struct pool_row *x = a, *y = b;

	return SL_ORDER(y->overdue_s, x->overdue_s) ?: SL_ORDER(x->at, y->at);
}

/* -- the three passes -------------------------------------------------------- */

/* How many reservations there are for those that are overdue, or -1 with *err. */
static int help_overdue(struct sl_pool *p, const struct sl_entry *entry, uint32_t rows, struct sl_error *err)
{
	int reserved = 0, rc = 0;
	uint32_t n = 0;
	struct pool_row swap;

	for (uint32_t i = 0; i < rows; i++)
		if (p->row[i].is_open && p->row[i].overdue_s >= 0) {
			swap = p->row[n];
			p->row[n++] = p->row[i];
			p->row[i] = swap;
		}
	qsort(p->row, n, sizeof(*p->row), by_overdue);
	for (uint32_t i = 0; i < n && reserved < (int) p->order.slowdown_jobs; i++) {
		struct pool_row *r = &p->row[i];

		rc = pool_try_start(p, entry, r, err);
		if (!rc) {
			rc = pool_reserve_within(p, r, p->order.slowdown_horizon + r->overdue_s, err);
			reserved += rc > 0;
			r->is_open = false;	/* a job that was tried in vain is none to a plan, either */
		}
		if (rc < 0)
			return -1;
	}
	return reserved;
}

/* The open ones alone, and if *fitting* of these those that are no larger than what is free. */
static uint32_t keep_open(struct sl_pool *p, uint32_t rows, bool fitting)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < rows; i++)
		if (p->row[i].is_open && !(fitting && p->row[i].cores > p->free))
			p->row[n++] = p->row[i];
	return n;
}

/* In the order: reservations, until there are so many.  How many rows are left, or -1 with *err. */
static int64_t go_through_order(struct sl_pool *p, const struct sl_entry *entry, uint32_t rows, uint32_t left,
				struct sl_error *err)
{
	if (left)
		rows_order(NULL, p->row, rows);
	while (left && rows && p->free > 0) {
		struct pool_row first = p->row[0];
		int rc = pool_try_start(p, entry, &first, err);

		rows_drop_first(NULL, p->row, &rows);
		if (!rc) {
			rc = pool_reserve_within(p, &first, p->order.horizon, err);
			left = rc > 0 ? left - 1 : 0;
		}
		if (rc < 0)
			return -1;
	}
	return rows;
}

int pool_decide_order(struct sl_pool *p, const struct sl_entry *entry, uint32_t queued, struct sl_error *err)
{
	uint32_t left = p->order.reservations, rows;
	int guarded, overdue;
	int64_t rest;

	p->refused = 0;
	if (!pool_has_room_for_one(p, queued))
		return 0;
	if (make_rows(p, entry, queued, err) < 0 || pool_lay_out_steps(p, err) < 0 ||
	    (guarded = pool_guard(p, entry, queued, &(struct pool_guard) { p->order.guard_wait, p->order.guard_stretch,
					 p->order.guard_jobs }, err)) < 0 || (overdue = help_overdue(p, entry, queued, err)) < 0)
		return -1;
	if (left == 1 && (guarded || overdue))
		left = 0;
	rows = keep_open(p, queued, !left);
	rest = go_through_order(p, entry, rows, left, err);
	if (rest < 0)
		return -1;
	rows = keep_open(p, (uint32_t) rest, true);
	qsort(p->row, rows, sizeof(*p->row), by_key);
	for (uint32_t i = 0; i < rows && p->free > 0; i++)
		if (pool_try_start(p, entry, &p->row[i], err) < 0)
			return -1;
	return 0;
}
