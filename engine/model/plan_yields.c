/* SPDX-License-Identifier: MIT */
/*
 * plan_yields.c - the timeline as a job sees it that may preempt running jobs.
 *
 * When select/cons_tres looks for a pending job's start time, it treats a running job that the pending job may preempt as gone
 * from the time at which it may be preempted (safe_until).  To all other jobs the running job is there until its end.  So the
 * timeline must look different to different jobs.  What a running job holds from safe_until to its end is its *tail*.
 * While a start time is looked for, the tails of jobs that may be preempted are taken off the timeline; then they are put back.
 * If a reservation was booked over a tail meanwhile, only the time before it is put back: a *stump*.
 *
 * A start now needs what is free now, so tails make no difference to it.
 */
#include "model/plan_private.h"

#include <stdlib.h>

#include "base/grow.h"

/*
 * Units for work on tails per decision (base/effort.h), plus one pass to put them back.  This bounds the cost of turns
 * between jobs that preempt and jobs that do not.  Beyond it no tail is lifted: preemptors then wait for ends, too.  No job
 * is charged for this work.
 */
static uint64_t most_work(const struct sl_plan *p)
{
	return 4 * sl_plan_most_effort(p);
}

#define WORK_OF_TAIL 4		/* units to test whether a tail's job is in a list of names */
#define TAILS_OF_UNIT 16	/* tails whose bits are looked at in one unit of work */

#define OF_JOB (UINT32_C(1) << 31)	/* flag: the rest is the row of the only job that may preempt this set */

/* Key of the set of jobs whose tails are off the timeline for this job: its "preempts", or its own row if priority
 * decides; 0: none. */
static uint32_t whom_it_preempts(const struct sl_plan *p, const struct want *w)
{
	uint32_t j = w->entry.job;

	/* for a job with a freed place, only the plan stops others */
	if (!sl_snapshot_may_preempt(p->c->snap, j) || w->enclave || w->entry.freed || plan_owns_stops_for(p, w))
		return 0;
	return sl_snapshot_preempts_by_priority(p->c->snap, j) ? OF_JOB | j : p->c->snap->job.preempts[j];
}

static bool is_preempted(const struct sl_snapshot *snap, uint32_t whom, uint32_t running)
{
	return whom & OF_JOB ? sl_snapshot_preempts(snap, whom & ~OF_JOB, running) : sl_snapshot_is_preempted(snap, whom, running);
}

/* -- which tails ----------------------------------------------------------- */

static bool has_bit(const uint64_t *bits, uint32_t i)
{
	return bits[i / 64] >> i % 64 & 1;
}

/* Bits: tails of jobs that *whom* (whom_it_preempts()) may preempt.  Computed once.  NULL with *err. */
static const uint64_t *tails_of(struct sl_plan *p, uint32_t whom, struct sl_error *err)
{
	uint32_t at = sl_map_by_id(&p->preempted_of, whom);
	uint64_t *bits;

	if (at != SL_MAP_NOTHING)
		return p->preempted[at];
	if (sl_grow_list(&p->preempted, p->preempteds, sizeof(*p->preempted), err))
		return NULL;
	if (!(bits = calloc(p->tails / 64 + 1, sizeof(*bits)))) {
		plan_no_memory(err);
		return NULL;
	}
	p->preempted[p->preempteds] = bits;
	if (sl_map_put(&p->preempted_of, sl_hash_id(whom), p->preempteds, err)) {
		free(bits);
		return NULL;
	}
	p->preempteds++;
	for (uint32_t i = 0; i < p->tails; i++)
		if (is_preempted(p->c->snap, whom, p->tail[i].job))
			bits[i / 64] |= UINT64_C(1) << i % 64;
	sl_effort_add(&p->c->effort, WORK_OF_TAIL * (uint64_t) p->tails);
	return bits;
}

/* From when on the running job may be gone; SL_FOREVER: it stays to its end, or its booking cannot be undone. */
static int64_t gone_from(const struct sl_cluster *c, uint32_t j)
{
	const struct held *h = c->held[j];
	int64_t from = c->snap->job.safe_until[j], soon = sl_later(c->now, SL_OVERDUE_S);

	if (from <= 0 || c->snap->job.state[j] != SL_JOB_RUNNING || !h || h->clamped || h->charged || h->resv != SL_NONE)
		return SL_FOREVER;
	return from > soon ? from : soon;
}

/* The tail of the job on nodes where it holds *r*.  Only the latest eight are compared; a job with more distinct amounts
 * may get two tails for one amount, which is harmless. */
static struct tail *tail_of(struct sl_plan *p, uint32_t j, const struct sl_resources *r, int64_t from, struct sl_error *err)
{
	struct tail *t;

	for (uint32_t i = p->tails, looks = 8; i-- && p->tail[i].job == j && looks--;)
		if (sl_resources_equal(&p->tail[i].each, r))
			return &p->tail[i];
	if (sl_grow_list(&p->tail, p->tails, sizeof(*t), err))
		return NULL;
	t = &p->tail[p->tails++];
	*t = (struct tail) { .job = j, .each = *r, .t0 = from, .t1 = p->c->held[j]->end };
	return t;
}

/* True if a job may use a flexible reservation.  Then another timeline has the nodes, too, and may be created at any time
 * (cluster_enclave()) with all tails in it. */
static bool may_be_flexible(const struct sl_cluster *c)
{
	const struct sl_reservation_view *v = &c->snap->reservation;

	for (uint32_t r = 0; r < v->rows; r++)
		if (v->flags[r] & SL_RESV_FLEX && v->end_time[r] > c->now)
			return true;
	return false;
}

/* Find all tails.  None if nodes are on more than one timeline. */
static int find_tails(struct sl_plan *p, struct sl_error *err)
{
	struct sl_cluster *c = p->c;

	p->tails_known = true;
	sl_effort_add(&p->c->effort, c->runs);
	if (c->rows || c->tenants || c->has_specials || may_be_flexible(c))
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

/* *first: when the first reservation on that node begins whose job may preempt the tail's job; else the tail's end.  0, or
 * -1 with *err. */
static int taken_over_at(struct sl_plan *p, const struct tail *t, uint32_t node, int64_t *first, struct sl_error *err)
{
	*first = t->t1;
	for (uint32_t i = 0; i < p->reserved.count; i++) {
		const struct booking *b = p->reserved.item[i];
		uint32_t whom = b->t0 < *first ? whom_it_preempts(p, b->want) : 0;
		const uint64_t *bits = whom ? tails_of(p, whom, err) : NULL;

		if (whom && !bits)
			return -1;
		if (!whom || !has_bit(bits, (uint32_t) (t - p->tail)))
			continue;
		for (uint32_t k = 0; k < b->layout.shares; k++)
			if (sl_nodeset_contains(&b->layout.share[k].nodes, node))
				*first = b->t0;
		sl_effort_add(&p->c->effort, b->layout.shares);
	}
	sl_effort_add(&p->c->effort, p->reserved.count / TAILS_OF_UNIT + 1);
	return 0;
}

/* -- off the timeline and back ----------------------------------------------- */

/* A set of one node, in the cluster's scratch. */
static struct sl_nodeset *only(struct sl_plan *p, uint32_t node, struct sl_error *err)
{
	struct sl_nodeset *one = &p->c->scratch;

	sl_nodeset_clear(one);
	return sl_nodeset_add(one, node, node, err) < 0 ? NULL : one;
}

/* Put the tail back on one node, or a stump of it (empty if something else is booked there).  0, or -1 with *err. */
static int put_back_on(struct sl_plan *p, struct tail *t, uint32_t node, struct sl_error *err)
{
	struct stump s = { (uint32_t) (t - p->tail), node, t->t0 };
	struct sl_nodeset *one;
	int64_t until;

	if (taken_over_at(p, t, node, &until, err) < 0 || !(one = only(p, node, err)))
		return -1;
	if (until > t->t0 && !sl_timeline_book(p->c->tl, one, &t->each, t->t0, until, NULL))
		s.t1 = until;
	else if (until > t->t0)
		p->stumps_short = true;
	if (s.t1 == t->t1)
		return sl_nodeset_add(&t->nodes, node, node, err);
	if (sl_grow_list(&p->stump, p->stumps, sizeof(s), err))
		return -1;
	p->stump[p->stumps++] = s;
	return 0;
}

static int put_back(struct sl_plan *p, struct tail *t, struct sl_error *err)
{
	struct sl_nodeset all = t->nodes;
	int rc = 0;

	t->lifted = false;
	if (!all.count || !sl_timeline_book(p->c->tl, &all, &t->each, t->t0, t->t1, NULL))
		return 0;
	t->nodes = (struct sl_nodeset) SL_NODESET_EMPTY;
	for (uint32_t n = sl_nodeset_next(&all, 0); !rc && n < SL_MAX_NODES; n = sl_nodeset_next(&all, n + 1))
		rc = put_back_on(p, t, n, err);
	sl_nodeset_free(&all);
	return rc;
}

/* Take the tail off the timeline, without its stumps. */
static int lift(struct sl_plan *p, struct tail *t, struct sl_error *err)
{
	t->lifted = true;
	return t->nodes.count ? sl_timeline_unbook(p->c->tl, &t->nodes, &t->each, t->t0, t->t1, err) : 0;
}

/* Remove a stump from the timeline and from the list; the last one moves to its index. */
static int lift_stump(struct sl_plan *p, uint32_t i, struct sl_error *err)
{
	struct stump s = p->stump[i];
	const struct tail *t = &p->tail[s.tail];
	struct sl_nodeset *one = only(p, s.node, err);

	p->stump[i] = p->stump[--p->stumps];
	return one && s.t1 > t->t0 ? sl_timeline_unbook(p->c->tl, one, &t->each, t->t0, s.t1, err) : one ? 0 : -1;
}

/* Turn the stumps of lifted tails back into nodes of the tail. */
static int lift_stumps(struct sl_plan *p, struct sl_error *err)
{
	for (uint32_t i = p->stumps; i--;) {
		struct stump s = p->stump[i];
		struct tail *t = &p->tail[s.tail];

		if (t->lifted && (lift_stump(p, i, err) < 0 || sl_nodeset_add(&t->nodes, s.node, s.node, err) < 0))
			return -1;
	}
	sl_effort_add(&p->c->effort, p->stumps);
	return 0;
}

/* Reservations were removed, so stumps may be longer. */
static int renew_stumps(struct sl_plan *p, struct sl_error *err)
{
	p->stumps_stale = p->stumps_short = false;
	for (uint32_t i = p->stumps; i--;) {
		struct stump s = p->stump[i];

		if (lift_stump(p, i, err) < 0 || put_back_on(p, &p->tail[s.tail], s.node, err) < 0)
			return -1;
	}
	return 0;
}

void plan_stumps_outdated(struct sl_plan *p, const struct booking *b)
{
	if (p->stumps && (p->stumps_short || whom_it_preempts(p, b->want)))
		p->stumps_stale = true;
}

/* -- changing the view --------------------------------------------------------- */

/* Lift the tails of this set, and put all others back. */
static int turn_to(struct sl_plan *p, uint32_t whom, struct sl_error *err)
{
	const uint64_t *bits = whom ? tails_of(p, whom, err) : NULL;
	bool lifted = false;

	if (whom && !bits)
		return -1;
	for (uint32_t i = 0; i < p->tails; i++) {
		struct tail *t = &p->tail[i];
		bool off = bits && has_bit(bits, i);

		if (off != t->lifted && (off ? lift : put_back)(p, t, err) < 0)
			return -1;
		lifted |= off;
	}
	sl_effort_add(&p->c->effort, p->tails / TAILS_OF_UNIT);
	p->tails_for = whom;
	if (lifted)
		plan_refusals_forget(p);
	return lifted && p->stumps ? lift_stumps(p, err) : 0;
}

static int look_for(struct sl_plan *p, uint32_t whom, struct sl_error *err)
{
	if (whom != p->tails_for && p->tail_work >= most_work(p))
		whom = 0;
	if (whom && !p->tails_known && find_tails(p, err) < 0)
		return -1;
	if (whom != p->tails_for && turn_to(p, whom, err) < 0)
		return -1;
	return p->stumps_stale && p->stumps && p->tail_work < 2 * most_work(p) ? renew_stumps(p, err) : 0;
}

static int charge_look(struct sl_plan *p, uint32_t whom, struct sl_error *err)
{
	uint64_t before = p->c->effort.spent, work;
	int rc = look_for(p, whom, err);

	work = p->c->effort.spent - before;
	p->tail_work += work;
	plan_charge_nobody(p, work);
	return rc;
}

int plan_look_for(struct sl_plan *p, const struct want *w, struct sl_error *err)
{
	return charge_look(p, whom_it_preempts(p, w), err);
}

int plan_look_for_nobody(struct sl_plan *p, struct sl_error *err)
{
	return charge_look(p, 0, err);
}

bool plan_is_taken_over(const struct sl_plan *p, uint32_t job)
{
	for (uint32_t i = 0; i < p->stumps; i++)
		if (p->tail[p->stump[i].tail].job == job)
			return true;
	return false;
}

void plan_tails_end(struct sl_plan *p, uint32_t job, int64_t at)
{
	for (uint32_t i = 0; i < p->tails; i++) {
		struct tail *t = &p->tail[i];

		if (t->job != job)
			continue;
		t->t1 = at;
		if (at <= t->t0)
			sl_nodeset_clear(&t->nodes);
	}
}

/* -- reservations that became impossible --------------------------------------- */

static bool stands_on(const struct booking *b, uint32_t node)
{
	for (uint32_t k = 0; k < b->layout.shares; k++)
		if (sl_nodeset_contains(&b->layout.share[k].nodes, node))
			return true;
	return false;
}

int plan_drop_void(struct sl_plan *p, uint32_t at, struct sl_error *err)
{
	struct booking *b = p->reserved.item[at];
	struct sl_entry e = b->entry;
	struct sl_refusal why;

	if (plan_is_component(p->c, e.job))
		return plan_drop_het(p, e.job, err);
	if (plan_unbook(p, b, err) < 0)
		return -1;
	plan_drop(p, at);
	plan_say(&why, SL_WHY_RESOURCES, "waits for nodes of a job that others no longer preempt in this plan");
	return plan_refuse(p, &e, &why, NULL, err);
}

/* Drop the reservations of jobs that may not preempt the tail, on this node before *until*. */
static int drop_voids_on(struct sl_plan *p, const struct tail *t, uint32_t node, int64_t until, struct sl_error *err)
{
	for (uint32_t i = p->reserved.count - p->forecasts; i--;) {
		const struct booking *b = i < p->reserved.count - p->forecasts ? p->reserved.item[i] : NULL;
		uint32_t whom = b ? whom_it_preempts(p, b->want) : 0;
		const uint64_t *bits = whom ? tails_of(p, whom, err) : NULL;

		if (whom && !bits)
			return -1;
		if (!b || b->t0 >= until || b->t1 <= t->t0 || (bits && has_bit(bits, (uint32_t) (t - p->tail))))
			continue;
		if (stands_on(b, node) && plan_drop_void(p, i, err) < 0)
			return -1;
	}
	return 0;
}

static int drop_some_voids(struct sl_plan *p, struct sl_error *err)
{
	if (p->stumps_stale && renew_stumps(p, err) < 0)
		return -1;
	for (uint32_t i = 0; p->stumps_short && i < p->stumps; i++) {
		struct stump s = p->stump[i];
		int64_t until;

		if (taken_over_at(p, &p->tail[s.tail], s.node, &until, err) < 0)
			return -1;
		if (s.t1 < until && drop_voids_on(p, &p->tail[s.tail], s.node, until, err) < 0)
			return -1;
	}
	return 0;
}

/* A dropped job no longer preempts, and other reservations may depend on that. */
int plan_drop_voids(struct sl_plan *p, struct sl_error *err)
{
	uint32_t before;

	if (look_for(p, 0, err) < 0)
		return -1;
	do {
		before = p->reserved.count;
		if (drop_some_voids(p, err) < 0)
			return -1;
	} while (p->reserved.count < before);
	return 0;
}

void plan_free_tails(struct sl_plan *p)
{
	for (uint32_t i = 0; i < p->tails; i++)
		sl_nodeset_free(&p->tail[i].nodes);
	for (uint32_t i = 0; i < p->preempteds; i++)
		free(p->preempted[i]);
	free(p->preempted);
	sl_map_free(&p->preempted_of);
	free(p->tail);
	free(p->stump);
}
