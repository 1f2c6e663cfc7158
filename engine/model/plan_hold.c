/* SPDX-License-Identifier: MIT */
/*
 * plan_hold.c - places held for jobs for which others are stopped.
 *
 * On each node of such a place the job's amounts are booked, as far as they are free, from now until the job's reservation
 * begins or, without one, until the place is given up.  While a place is looked for on behalf of this job, they are off the
 * timeline.  Victims that have not ended yet keep their bookings until their expected end.
 */
#include "model/plan_private.h"

#include <stdlib.h>

#include "base/grow.h"

struct hold *plan_hold_of(const struct sl_plan *p, uint32_t job)
{
	for (uint32_t i = 0; i < p->holds; i++)
		if (p->hold[i].job == job && !p->hold[i].released)
			return &p->hold[i];
	return NULL;
}

/* End of the booking for a held place: the begin of the job's own reservation.  Without one: the end of the job if it
 * starts as late as the place is held, so that no other job begins there. */
static int64_t held_to(const struct sl_plan *p, const struct hold *h)
{
	uint32_t at = plan_find(&p->reserved, h->job);

	if (p->starts[h->job])
		return p->c->now;
	return at == SL_NONE || p->reserved.item[at]->t0 > h->until ? sl_later(h->until, p->c->snap->job.time_limit[h->job]) :
		p->reserved.item[at]->t0;
}

/* Book the held place; *narrow*: only what is free now.  0, or -1 with *err. */
static int place(struct sl_plan *p, struct hold *h, bool narrow, struct sl_error *err)
{
	int64_t to = held_to(p, h);
	struct sl_error why;

	h->bookings = 0;
	h->is_placed = true;
	for (uint32_t i = 0; i < h->count && to > p->c->now; i++) {
		struct sl_resources r = h->node[i].each, there;

		sl_timeline_unbooked(p->c->tl, h->node[i].node, p->c->now, p->c->now + 1, &there);
		if (narrow)
			sl_resources_min(&r, &there);
		if (!cluster_book_available(p->c, p->c->tl, h->node[i].node, &r, p->c->now, to, &h->booking, &h->bookings, &why) || why.code == SL_EBUSY)
			continue;	/* down nodes cannot be booked */
		return sl_fail(err, why.code, "%s", why.text);
	}
	return 0;
}

static void lift(struct sl_plan *p, struct hold *h)
{
	struct sl_nodeset one = SL_NODESET_EMPTY;

	for (uint32_t i = 0; h->is_placed && i < h->bookings; i++) {
		const struct node_booking *b = &h->booking[i];

		sl_nodeset_clear(&one);
		if (!sl_nodeset_add(&one, b->node, b->node, NULL))
			sl_timeline_unbook(p->c->tl, &one, &b->r, b->t0, b->t1, NULL);
	}
	sl_nodeset_free(&one);
	h->is_placed = false;
}

int plan_hold_room(struct sl_plan *p, struct sl_error *err)
{
	return sl_grow_list(&p->hold, p->holds, sizeof(*p->hold), err);
}

int plan_hold_add(struct sl_plan *p, const struct hold *h, struct sl_error *err)
{
	p->hold[p->holds] = *h;
	return place(p, &p->hold[p->holds++], p->narrow > 0, err);
}

/* Book all held places again that are on the timeline, in order. */
static void place_anew(struct sl_plan *p, bool narrow)
{
	for (uint32_t i = 0; i < p->holds; i++) {
		p->hold[i].is_aside = p->hold[i].is_placed;
		lift(p, &p->hold[i]);
	}
	for (uint32_t i = 0; i < p->holds; i++)
		if (p->hold[i].is_aside && !p->hold[i].released)
			(void) place(p, &p->hold[i], narrow, NULL);	/* without memory a part is not held in this plan */
	plan_refusals_forget(p);
}

void plan_hold_narrow(struct sl_plan *p)
{
	if (!p->narrow++)
		place_anew(p, true);
}

void plan_hold_widen(struct sl_plan *p)
{
	if (!--p->narrow)
		place_anew(p, false);
}

/* What one place no longer holds can be held by the next. */
static void share_anew(struct sl_plan *p)
{
	place_anew(p, p->narrow > 0);
}

void plan_hold_open(struct sl_plan *p, uint32_t job)
{
	bool leaves = false;

	for (uint32_t i = 0; i < p->holds; i++) {
		struct hold *h = &p->hold[i];
		bool open = h->job == job || h->released;

		if (open == !h->is_placed)
			continue;
		leaves |= !open && p->starts[h->job] && h->bookings;
		if (open)
			lift(p, h);
		else
			(void) place(p, h, p->narrow > 0, NULL);	/* without memory a part is not held in this plan */
		plan_refusals_forget(p);
	}
	if (leaves)
		share_anew(p);
}

void plan_hold_on(struct sl_plan *p, uint32_t job)
{
	struct hold *h = p->holds ? plan_hold_of(p, job) : NULL;

	if (!h || !h->is_placed)
		return;
	share_anew(p);
}

void plan_hold_release(struct sl_plan *p, uint32_t job)
{
	struct hold *h = plan_hold_of(p, job);

	if (!h)
		return;
	lift(p, h);
	h->released = true;
	p->given_back++;
	share_anew(p);
}

int plan_hold_keep_off(const struct sl_plan *p, uint32_t job, struct sl_nodeset *nodes, struct sl_error *err)
{
	struct sl_nodeset own = SL_NODESET_EMPTY;
	int rc = 0;

	for (uint32_t i = 0; i < p->holds; i++)
		for (uint32_t k = 0; p->hold[i].job != job && !p->hold[i].released && !rc && k < p->hold[i].count; k++)
			rc = sl_nodeset_add(&own, p->hold[i].node[k].node, p->hold[i].node[k].node, err) < 0 ? -1 : 0;
	if (!rc && own.count)
		rc = sl_nodeset_subtract(nodes, &own, err);
	sl_nodeset_free(&own);
	return rc < 0 ? -1 : 0;
}

void plan_hold_start_gone(struct sl_plan *p, uint32_t start)
{
	for (uint32_t i = 0; i < p->holds; i++)
		p->hold[i].starts -= p->hold[i].starts > start;
}

/* -- places that are not available ------------------------------------------------- */

/* True if the running job is on a usable node of the place. */
static bool is_on_place(const struct sl_plan *p, const struct hold *h, uint32_t j)
{
	const struct held *has = p->c->held[j];

	for (uint32_t k = 0; has && k < has->count; k++)
		for (uint32_t i = 0; i < h->count; i++)
			if (h->node[i].node == has->place[k].node && !sl_nodeset_contains(&p->c->unusable, h->node[i].node))
				return true;
	return false;
}

int64_t plan_hold_rest_at(const struct sl_plan *p, const struct hold *h)
{
	int64_t at = 0;

	for (uint32_t i = 0; i < p->c->runs; i++) {
		uint32_t j = p->c->running[i];

		if (p->c->snap->job.preempt_time[j] > 0 && p->c->held[j] && p->c->held[j]->end > at && p->c->held[j]->end <= h->until &&
		    is_on_place(p, h, j))
			at = p->c->held[j]->end;
	}
	return at;
}

/* -- places of the snapshot --------------------------------------------------------- */

static void read_gres(const struct sl_cluster *c, struct sl_range gres, struct sl_resources *r)
{
	const struct sl_alloc_gres_view *v = &c->snap->alloc_gres;

	for (uint32_t i = gres.first; i < gres.first + gres.count; i++)
		if (v->kind[i] < SL_MAX_GRES && c->modelled[v->kind[i]] && v->count[i] <= UINT16_MAX)
			r->gres[v->kind[i]] = (uint16_t) v->count[i];
}

static int add_held(struct sl_plan *p, uint32_t row, struct sl_error *err)
{
	const struct sl_snapshot *s = p->c->snap;
	struct sl_range places = s->held.places[row];
	struct hold h = { .job = s->held.job[row], .until = s->held.until[row], .count = places.count };

	if (!(h.node = calloc((size_t) places.count + 1, sizeof(*h.node))))
		return plan_no_memory(err);
	for (uint32_t i = 0; i < places.count; i++) {
		uint32_t cores = s->alloc.cores[places.first + i];
		int64_t memory = s->alloc.memory[places.first + i];

		h.node[i].node = s->alloc.node[places.first + i];
		h.node[i].each.cores = (int32_t) (cores < SL_MAX_NODE_CORES ? cores : SL_MAX_NODE_CORES);
		if (s->meta.select_flags[0] & SL_SELECT_MEMORY && memory > 0)
			h.node[i].each.memory = memory;
		read_gres(p->c, s->alloc.gres[places.first + i], &h.node[i].each);
	}
	if (plan_hold_room(p, err) < 0) {
		free(h.node);
		return -1;
	}
	return plan_hold_add(p, &h, err);
}

int plan_hold_all(struct sl_plan *p, struct sl_error *err)
{
	for (uint32_t r = 0; r < p->c->snap->held.rows; r++)
		if (p->c->snap->held.until[r] > p->c->now && add_held(p, r, err) < 0)
			return -1;
	return 0;
}

void plan_hold_free(struct sl_plan *p)
{
	for (uint32_t i = 0; i < p->holds; i++) {
		free(p->hold[i].node);
		free(p->hold[i].booking);
		free(p->hold[i].because);
	}
	free(p->hold);
}
