/* SPDX-License-Identifier: MIT */
/*
 * plan_yields.c - running jobs as those see them who may preempt them.
 *
 * A job that may preempt others waits for none whose QOS says NoReserve (yields_after): as in sched/backfill, such jobs
 * are gone for it from the moment on from which they may be preempted.  Everybody else waits for their ends.  Therefore
 * what they hold after that moment, their tails, is taken off the timeline while a place is looked for in the name of
 * a job that may preempt, and put back for others; where a reservation stands by then, the tail stays off.
 *
 * Starts need no nodes on which something runs, so that tails make no difference to them.
 */
#include "model/plan_private.h"

#include <stdlib.h>

#include "base/grow.h"

/* A queue in which both kinds of job alternate costs no more than this; after that, tails stay where they are. */
#define TURNS 32

static bool may_take_nodes_over(const struct sl_plan *p, const struct want *w)
{
	uint32_t j = w->entry.job;

	return sl_snapshot_may_preempt(p->c->snap, j) && !(p->c->snap->job.flags[j] & SL_JOBF_NO_RESERVE) && !w->enclave;
}

/* From when on the running job may be gone; SL_FOREVER: it stays to its end, or is booked in a way that is not undone. */
static int64_t gone_from(const struct sl_cluster *c, uint32_t j)
{
	const struct held *h = c->held[j];
	int64_t yields = c->snap->job.yields_after[j], soon = sl_later(c->now, SL_OVERDUE_S), from;

	if (yields <= 0 || c->snap->job.state[j] != SL_JOB_RUNNING || !h || h->clamped || h->charged || h->resv != SL_NONE)
		return SL_FOREVER;
	from = sl_later(c->snap->job.start_time[j], yields);
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

static int lift_tails(struct sl_plan *p, struct sl_error *err)
{
	for (uint32_t i = 0; i < p->tails; i++) {
		const struct tail *t = &p->tail[i];

		if (t->nodes.count && sl_timeline_unbook(p->c->tl, &t->nodes, &t->each, t->t0, t->t1, err) < 0)
			return -1;
	}
	plan_refusals_forget(p);
	return 0;
}

/* Node by node; those that are reserved meanwhile leave the tail. */
static int put_back_what_is_free(struct sl_plan *p, struct tail *t, struct sl_error *err)
{
	struct sl_nodeset *one = &p->c->scratch;
	struct sl_error why;

	for (uint32_t n = sl_nodeset_next(&t->nodes, 0); n < SL_MAX_NODES; n = sl_nodeset_next(&t->nodes, n + 1)) {
		sl_nodeset_clear(one);
		if (sl_nodeset_add(one, n, n, err) < 0)
			return -1;
		if (!sl_timeline_book(p->c->tl, one, &t->each, t->t0, t->t1, &why))
			continue;
		if (why.code != SL_EBUSY) {
			*err = why;
			return -1;
		}
		if (sl_nodeset_subtract(&t->nodes, one, err) < 0)
			return -1;
	}
	return 0;
}

static int put_tails_back(struct sl_plan *p, struct sl_error *err)
{
	for (uint32_t i = 0; i < p->tails; i++) {
		struct tail *t = &p->tail[i];

		if (t->nodes.count && sl_timeline_book(p->c->tl, &t->nodes, &t->each, t->t0, t->t1, NULL) < 0 &&
		    put_back_what_is_free(p, t, err) < 0)
			return -1;
	}
	return 0;
}

int plan_look_for(struct sl_plan *p, const struct want *w, struct sl_error *err)
{
	bool lift = may_take_nodes_over(p, w);

	if (lift == p->tails_lifted || (lift && p->tail_turns == TURNS))
		return 0;
	if (!p->tails_known && find_tails(p, err) < 0)
		return -1;
	p->tail_turns += lift;
	p->tails_lifted = lift;
	return lift ? lift_tails(p, err) : put_tails_back(p, err);
}

void plan_free_tails(struct sl_plan *p)
{
	for (uint32_t i = 0; i < p->tails; i++)
		sl_nodeset_free(&p->tail[i].nodes);
	free(p->tail);
}
