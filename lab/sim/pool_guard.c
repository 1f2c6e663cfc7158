/* SPDX-License-Identifier: MIT */
/* pool_guard.c - what rules do with single jobs on a pool, and the guard of those that have waited too long. */
#include "sim/pool_private.h"

#include <math.h>

/* -- one job ---------------------------------------------------------------- */

void pool_read_row(const struct sl_pool *p, const struct sl_entry *entry, uint32_t at, struct pool_row *r)
{
	const struct sl_snapshot *snap = sl_cluster_snapshot(p->c);
	int64_t limit = snap->job.time_limit[entry[at].job];

	r->at = at;
	r->is_open = true;
	r->waited = sl_order_waited(snap, entry[at].job, sl_cluster_now(p->c));
	r->limit = limit == SL_UNLIMITED ? HUGE_VAL : (double) limit;
	sl_cluster_takes_cores(p->c, at, &r->cores, &r->seconds);
}

int pool_try_start(struct sl_pool *p, const struct sl_entry *entry, struct pool_row *r, struct sl_error *err)
{
	const struct sl_pool_start s = { .entry = entry[r->at], .cores = r->cores, .seconds = r->seconds };

	if (r->cores > p->free || !pool_fits_now(p, r->cores, r->seconds))
		return 0;
	r->is_open = false;
	return pool_book_steps(p, 0, r->cores, r->seconds, err) < 0 || pool_start(p, &s, err) < 0 ? -1 : 1;
}

int pool_reserve_within(struct sl_pool *p, struct pool_row *r, double horizon_s, struct sl_error *err)
{
	uint32_t first = pool_find_steps(p, r->cores, r->seconds);

	if ((double) (p->step[first].t - sl_cluster_now(p->c)) > horizon_s)
		return 0;
	r->is_open = false;
	return pool_book_steps(p, first, r->cores, r->seconds, err) < 0 ? -1 : 1;
}

/* -- the guard ---------------------------------------------------------------- */

/* When the guard looks after a job, as it is worked out in lua/lib/sched/guard.lua. */
static double due_at(const struct sl_pool *p, const struct pool_guard *g, const struct pool_row *r)
{
	double since = (double) (sl_cluster_now(p->c) - r->waited), due = since + g->wait;

	return g->stretch == 0 ? due : due + g->stretch * r->limit;
}

/* Of those the guard looks after and that are open the first, of several at the same time the first of the queue; NULL: none. */
static struct pool_row *first_guarded(const struct sl_pool *p, const struct pool_guard *g, uint32_t rows)
{
	double now = (double) sl_cluster_now(p->c), due, first_due = 0;
	struct pool_row *first = NULL;

	for (uint32_t i = 0; i < rows; i++) {
		struct pool_row *r = &p->row[i];

		if (!r->is_open || (double) r->waited < g->wait)
			continue;
		due = due_at(p, g, r);
		if (due <= now && (!first || due < first_due)) {
			first = r;
			first_due = due;
		}
	}
	return first;
}

int pool_guard(struct sl_pool *p, const struct sl_entry *entry, uint32_t rows, const struct pool_guard *g,
	       struct sl_error *err)
{
	int reserved = 0, rc;
	struct pool_row *r;

	if (g->wait == 0)
		return 0;
	while (reserved < (int) g->jobs && (r = first_guarded(p, g, rows))) {
		rc = pool_try_start(p, entry, r, err);
		if (!rc) {
			reserved++;
			rc = pool_reserve_within(p, r, HUGE_VAL, err);
		}
		if (rc < 0)
			return -1;
	}
	return reserved;
}
