/* SPDX-License-Identifier: MIT */
/*
 * plan_yields.c - running jobs as those see them who may preempt them.
 *
 * A job that may preempt others does not wait for their ends: as in Slurm's select, when it is asked when the job could
 * start, they are gone for it from the moment on from which they may be preempted (safe_until).  Everybody else waits for
 * their ends.  Therefore what they hold after that moment, their tails, is taken off the timeline while a time is looked
 * for in the name of a job that may preempt them, and put back for others: where a reservation stands by then, up to that.
 *
 * Starts need no nodes on which something runs, so that tails make no difference to them.
 */
#include "model/plan_private.h"

#include <stdlib.h>

#include "base/grow.h"

/* A queue in which both kinds of job alternate costs no more than this; after that, tails stay where they are. */
#define TURNS 32

/* Whose tails are to be off the timeline for it: as "preempts" says, 0: nobody's. */
static uint32_t whom_it_preempts(const struct sl_plan *p, const struct want *w)
{
	uint32_t j = w->entry.job;

	return sl_snapshot_may_preempt(p->c->snap, j) && !w->enclave ? p->c->snap->job.preempts[j] : 0;
}

/* From when on the running job may be gone; SL_FOREVER: it stays to its end, or is booked in a way that is not undone. */
static int64_t gone_from(const struct sl_cluster *c, uint32_t j)
{
	const struct held *h = c->held[j];
	int64_t from = c->snap->job.safe_until[j], soon = sl_later(c->now, SL_OVERDUE_S);

	if (from <= 0 || c->snap->job.state[j] != SL_JOB_RUNNING || !h || h->clamped || h->charged || h->resv != SL_NONE)
		return SL_FOREVER;
	return from > soon ? from : soon;
}

static struct tail *tail_of(struct sl_plan *p, uint32_t j, const struct sl_resources *r, int64_t from, struct sl_error *err)
{
	struct tail *t;

	for (uint32_t i = p->tails; i-- && p->tail[i].job == j;)
		if (sl_resources_equal(&p->tail[i].each, r))
			return &p->tail[i];
	if (sl_grow_list(&p->tail, p->tails, sizeof(*t), err))
		return NULL;
	t = &p->tail[p->tails++];
	*t = (struct tail) { .job = j, .each = *r, .t0 = from, .t1 = p->c->held[j]->end };
	return t;
}

/* All tails of what runs.  Nothing where nodes have more to them than one timeline says. */
static int find_tails(struct sl_plan *p, struct sl_error *err)
{
	struct sl_cluster *c = p->c;

	p->tails_known = true;
	if (c->rows || c->tenants || c->has_specials || c->has_flexible)
		return 0;
	for (uint32_t i = 0; i < c->runs; i++) {
		uint32_t j = c->running[i];
		int64_t from = gone_from(c, j);

		for (uint32_t k = 0; from < c->held[j]->end && k < c->held[j]->count; k++) {
			struct sl_resources r;
			struct tail *t;

			cluster_count_place(c, j, c->held[j], k, false, &r);
			t = tail_of(p, j, &r, from, err);
			if (!t || sl_nodeset_add(&t->nodes, c->held[j]->place[k].node, c->held[j]->place[k].node, err) < 0)
				return -1;
		}
	}
	return 0;
}

/* When a reservation on that node begins whose job may preempt the tail's. */
static int64_t taken_over_at(const struct sl_plan *p, const struct tail *t, uint32_t node)
{
	int64_t first = t->t1;

	for (uint32_t i = 0; i < p->reserved.count; i++) {
		const struct booking *b = p->reserved.item[i];

		if (b->t0 >= first || !sl_snapshot_preempts(p->c->snap, b->entry.job, t->job))
			continue;
		for (uint32_t k = 0; k < b->layout.shares; k++)
			if (sl_nodeset_contains(&b->layout.share[k].nodes, node))
				first = b->t0;
	}
	return first;
}

/* One node, in the cluster's scratch. */
static struct sl_nodeset *only(struct sl_plan *p, uint32_t node, struct sl_error *err)
{
	struct sl_nodeset *one = &p->c->scratch;

	sl_nodeset_clear(one);
	return sl_nodeset_add(one, node, node, err) < 0 ? NULL : one;
}

/* Put the tail back on one node, or a stump of it.  1: all of it; 0: a stump, of no length if anything else stands there;
 * -1 with *err. */
static int put_back_on(struct sl_plan *p, struct tail *t, uint32_t node, struct sl_error *err)
{
	struct stump s = { (uint32_t) (t - p->tail), node, t->t0 };
	struct sl_nodeset *one = only(p, node, err);
	int64_t until = taken_over_at(p, t, node);

	if (!one)
		return -1;
	if (until > t->t0 && !sl_timeline_book(p->c->tl, one, &t->each, t->t0, until, NULL))
		s.t1 = until;
	if (s.t1 == t->t1)
		return 1;
	if (sl_grow_list(&p->stump, p->stumps, sizeof(s), err))
		return -1;
	p->stump[p->stumps++] = s;
	t->stumps++;
	return 0;
}

static int put_back(struct sl_plan *p, struct tail *t, struct sl_error *err)
{
	t->lifted = false;
	if (!t->nodes.count || !sl_timeline_book(p->c->tl, &t->nodes, &t->each, t->t0, t->t1, NULL))
		return 0;
	for (uint32_t n = sl_nodeset_next(&t->nodes, 0); n < SL_MAX_NODES; n = sl_nodeset_next(&t->nodes, n + 1)) {
		int rc = put_back_on(p, t, n, err);
		struct sl_nodeset *one = rc ? NULL : only(p, n, err);

		if (rc < 0 || (!rc && (!one || sl_nodeset_subtract(&t->nodes, one, err) < 0)))
			return -1;
	}
	return 0;
}

/* Its stumps become nodes of the tail again, off the timeline. */
static int lift_stumps(struct sl_plan *p, struct tail *t, struct sl_error *err)
{
	for (uint32_t i = p->stumps; i-- && t->stumps;) {
		struct stump s = p->stump[i];
		struct sl_nodeset *one;

		if (&p->tail[s.tail] != t)
			continue;
		if (!(one = only(p, s.node, err)) ||
		    (s.t1 > t->t0 && sl_timeline_unbook(p->c->tl, one, &t->each, t->t0, s.t1, err) < 0) ||
		    sl_nodeset_add(&t->nodes, s.node, s.node, err) < 0)
			return -1;
		p->stump[i] = p->stump[--p->stumps];
		t->stumps--;
	}
	return 0;
}

static int lift(struct sl_plan *p, struct tail *t, struct sl_error *err)
{
	t->lifted = true;
	if (t->nodes.count && sl_timeline_unbook(p->c->tl, &t->nodes, &t->each, t->t0, t->t1, err) < 0)
		return -1;
	return lift_stumps(p, t, err);
}

/* Reservations were taken back: stumps may be longer. */
static int renew_stumps(struct sl_plan *p, struct sl_error *err)
{
	p->stumps_stale = false;
	for (uint32_t i = 0; i < p->tails && p->stumps; i++)
		if (p->tail[i].stumps && (lift(p, &p->tail[i], err) < 0 || put_back(p, &p->tail[i], err) < 0))
			return -1;
	return 0;
}

int plan_look_for(struct sl_plan *p, const struct want *w, struct sl_error *err)
{
	uint32_t whom = whom_it_preempts(p, w), lifted = 0;

	if (whom != p->tails_for && p->tail_turns == TURNS)
		whom = 0;
	if (whom && !p->tails_known && find_tails(p, err) < 0)
		return -1;
	for (uint32_t i = 0; whom != p->tails_for && i < p->tails; i++) {
		struct tail *t = &p->tail[i];
		bool off = whom && sl_snapshot_preempts(p->c->snap, w->entry.job, t->job);

		if (off != t->lifted && (off ? lift : put_back)(p, t, err) < 0)
			return -1;
		lifted += off;
	}
	p->tail_turns += whom && whom != p->tails_for;
	p->tails_for = whom;
	if (lifted)
		plan_refusals_forget(p);
	return p->stumps_stale && p->stumps ? renew_stumps(p, err) : 0;
}

void plan_free_tails(struct sl_plan *p)
{
	for (uint32_t i = 0; i < p->tails; i++)
		sl_nodeset_free(&p->tail[i].nodes);
	free(p->tail);
	free(p->stump);
}
