/* SPDX-License-Identifier: MIT */
/*
 * plan_needless.c - stops that are no longer needed.
 *
 * When victims are chosen for a job, it needs all of them.  Later decisions may change that: victims of another job free more
 * than that job needs, or a reservation is removed.  Then victims that are not needed go on running.
 */
#include "model/plan_needless.h"
#include "model/plan_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* Stops of one group. */
struct group {
	const struct stop *stop;
	uint32_t count;
};

static void take_off_again(struct sl_plan *p, struct group g)
{
	for (uint32_t i = 0; i < g.count; i++) {
		const struct stop *s = &g.stop[i];
		struct held *h = p->c->held[s->job];

		if (h->end <= s->from)
			continue;
		(void) plan_set_gone(p, s->job, s->from, true, NULL);
		h->end = s->from;
	}
}

/* True if too few licences are left when the victim goes on. */
static bool lacks_licenses(const struct sl_plan *p, const struct stop *s)
{
	const struct sl_cluster *c = p->c;
	const struct held *h = c->held[s->job];
	struct sl_range rows = h->licenses;

	if (c->snap->job.preempt_mode[s->job] == SL_STOP_SUSPEND)	/* a suspended job keeps its licences */
		return false;
	for (uint32_t i = rows.first; i < rows.first + rows.count; i++)
		if (sl_cluster_licenses_left(c, c->snap->job_license.license[i], s->from, h->end) < 0)
			return true;
	return false;
}

/* Book the victims of a group again, each to its end or to *until*, whichever comes first.  1; 0: there is no room; -1. */
static int let_go_on(struct sl_plan *p, struct group g, int64_t until, struct sl_error *err)
{
	struct sl_error why;

	for (uint32_t i = 0; i < g.count; i++) {
		const struct stop *s = &g.stop[i];
		struct held *h = p->c->held[s->job];
		int64_t was = h->end;

		if (s->end <= s->from || until <= s->from)
			continue;
		h->end = s->end < until ? s->end : until;
		why.code = SL_EBUSY;
		if (plan_set_gone(p, s->job, s->from, false, &why) == 0) {
			if (!lacks_licenses(p, s))
				continue;
			(void) plan_set_gone(p, s->job, s->from, true, NULL);
		}
		h->end = was;
		take_off_again(p, (struct group) { g.stop, i });
		return why.code == SL_ENOMEM ? plan_no_memory(err) : 0;
	}
	return 1;
}

/* True if the booking uses a node or licence of the group. */
static bool stands_beside(const struct sl_plan *p, const struct booking *b, struct group g)
{
	for (uint32_t i = 0; i < g.count; i++) {
		const struct held *h = p->c->held[g.stop[i].job];

		for (uint32_t k = h->licenses.first; k < h->licenses.first + h->licenses.count; k++)
			if (sl_cluster_licenses(p->c, b->licenses, p->c->snap->job_license.license[k]))
				return true;
		for (uint32_t k = 0; k < h->count; k++)
			for (uint32_t s = 0; s < b->layout.shares; s++)
				if (sl_nodeset_contains(&b->layout.share[s].nodes, h->place[k].node))
					return true;
	}
	return false;
}

/* If the group can go on until its preemptor has ended, then only a later reservation needs the stop: remove that
 * reservation.  1 if one was removed, 0 or -1. */
static int drop_who_follows(struct sl_plan *p, struct group g, struct sl_error *err)
{
	uint32_t own = plan_find(&p->reserved, g.stop->preemptor);
	int64_t ends = own == SL_NONE ? 0 : p->reserved.item[own]->t1;
	int rc = own == SL_NONE ? 0 : let_go_on(p, g, ends, err);

	if (rc <= 0)
		return rc;
	take_off_again(p, g);
	for (uint32_t i = p->reserved.count; i--; )
		if (p->reserved.item[i]->t0 >= ends && stands_beside(p, p->reserved.item[i], g))
			return plan_drop_void(p, i, err) < 0 ? -1 : 1;
	return 0;
}

/* Reduce the cost of the job's held place. */
static void lower_cost(struct hold *h, double cost, uint32_t left)
{
	char text[160], *because;

	h->cost = h->cost > cost ? h->cost - cost : 0;
	h->bound = h->bound < h->cost ? h->bound : h->cost;
	h->verdict = SL_VERDICT_FOUND;
	snprintf(text, sizeof(text), "stops %" PRIu32 " job%s, at a cost of %.4g; more were chosen, who need not end since others do",
		 left, left == 1 ? "" : "s", h->cost);
	if (!(because = strdup(text)))
		return;
	free(h->because);
	h->because = because;
}

/* Remove the group's stops.  If no stop is left for its preemptor, the preemptor keeps an ordinary reservation. */
static void forget(struct sl_plan *p, struct group g)
{
	uint32_t job = g.stop->preemptor, left = 0, first = (uint32_t) (g.stop - p->stop);
	struct hold *h = plan_hold_of(p, job);
	double cost = 0;

	for (uint32_t i = 0; i < g.count; i++)
		cost += g.stop[i].cost;
	p->stops -= g.count;
	memmove(p->stop + first, p->stop + first + g.count, (p->stops - first) * sizeof(*p->stop));
	for (uint32_t i = 0; i < p->stops; i++)
		left += p->stop[i].preemptor == job;
	p->given_back++;
	if (h && left)
		lower_cost(h, cost, left);
	else if (h)
		plan_hold_release(p, job);
}

/* Let the first group go on that can.  1; 0: there is none; -1. */
static int find_one(struct sl_plan *p, bool drops, struct sl_error *err)
{
	int rc = 0;

	for (uint32_t first = 0, end; !rc && first < p->stops; first = end) {
		const struct stop *s = &p->stop[first];
		struct group g = { s, 1 };

		for (end = first + 1; end < p->stops && p->stop[end].preemptor == s->preemptor && p->stop[end].group == s->group; end++)
			g.count++;
		rc = let_go_on(p, g, INT64_MAX, err);
		if (rc > 0)
			forget(p, g);
		else if (!rc && drops)
			rc = drop_who_follows(p, g, err);
	}
	return rc;
}

int plan_drop_needless(struct sl_plan *p, bool drops, struct sl_error *err)
{
	int rc = p->stops ? plan_look_for_nobody(p, err) : 0;

	if (rc < 0 || !p->stops)
		return rc;
	plan_hold_narrow(p);
	do {
		rc = find_one(p, drops, err);
	} while (rc > 0);
	plan_hold_widen(p);
	return rc;
}

/* -- orphans ------------------------------------------------------------------------- */

/* Book what the victim holds from the stop to its end, as far as it is free. */
static void book_rest(struct sl_plan *p, struct orphan *o)
{
	const struct held *h = p->c->held[o->stop.job];

	o->bookings = 0;
	for (uint32_t i = 0; i < h->count; i++) {
		struct sl_resources r;

		cluster_count_place(p->c, o->stop.job, h, i, false, &r);
		(void) cluster_book_available(p->c, p->c->tl, h->place[i].node, &r, o->stop.from, o->stop.end, &o->booking,
					      &o->bookings, NULL);
	}
	if (p->c->snap->job.preempt_mode[o->stop.job] != SL_STOP_SUSPEND)	/* a suspended job keeps its licences */
		(void) cluster_count_licenses(p->c, h->licenses, o->stop.from, o->stop.end, 1, NULL);
}

static void unbook_rest(struct sl_plan *p, struct orphan *o)
{
	struct sl_nodeset one = SL_NODESET_EMPTY;

	for (uint32_t i = 0; i < o->bookings; i++) {
		const struct node_booking *b = &o->booking[i];

		sl_nodeset_clear(&one);
		if (!sl_nodeset_add(&one, b->node, b->node, NULL))
			sl_timeline_unbook(p->c->tl, &one, &b->r, b->t0, b->t1, NULL);
	}
	sl_nodeset_free(&one);
	if (p->c->snap->job.preempt_mode[o->stop.job] != SL_STOP_SUSPEND)
		(void) cluster_count_licenses(p->c, p->c->held[o->stop.job]->licenses, o->stop.from, o->stop.end, -1, NULL);
	o->bookings = 0;
}

void plan_go_on(struct sl_plan *p, const struct stop *s)
{
	struct orphan o = { .stop = *s };
	struct held *h = p->c->held[s->job];

	if (let_go_on(p, (struct group) { s, 1 }, INT64_MAX, NULL) > 0)
		return;
	h->end = s->end;
	if (sl_grow_list(&p->orphan, p->orphans, sizeof(*p->orphan), NULL))
		return;		/* the checker refuses rows that count on its end */
	book_rest(p, &o);
	p->orphan[p->orphans++] = o;
}

bool plan_is_orphan(const struct sl_plan *p, uint32_t job)
{
	for (uint32_t i = 0; i < p->orphans; i++)
		if (p->orphan[i].stop.job == job)
			return true;
	return false;
}

void plan_free_orphans(struct sl_plan *p)
{
	for (uint32_t i = 0; i < p->orphans; i++)
		free(p->orphan[i].booking);
	free(p->orphan);
}

/* The last reservation that counts on the victim's end. */
static uint32_t find_heir(const struct sl_plan *p, const struct stop *s)
{
	for (uint32_t i = p->reserved.count; i--; )
		if (p->reserved.item[i]->t1 > s->from && p->reserved.item[i]->t0 < s->end &&
		    stands_beside(p, p->reserved.item[i], (struct group) { s, 1 }))
			return i;
	return SL_NONE;
}

/* 1: all that it holds is booked; 0: one reservation in its way was removed; -1. */
static int settle_one(struct sl_plan *p, struct orphan *o, bool *stuck, struct sl_error *err)
{
	struct held *h = p->c->held[o->stop.job];
	uint32_t heir;
	int rc;

	unbook_rest(p, o);
	h->end = o->stop.from;
	rc = let_go_on(p, (struct group) { &o->stop, 1 }, INT64_MAX, err);
	if (rc)
		return rc;
	h->end = o->stop.end;
	book_rest(p, o);
	heir = find_heir(p, &o->stop);
	*stuck = heir == SL_NONE;
	return heir == SL_NONE ? 0 : plan_drop_void(p, heir, err);
}

/* Removing a reservation may append more orphans to the list. */
static int settle_orphans(struct sl_plan *p, struct sl_error *err)
{
	uint32_t kept = 0;
	int rc = p->orphans ? plan_look_for_nobody(p, err) : 0;

	if (rc < 0 || !p->orphans)
		return rc;
	plan_hold_narrow(p);
	while (rc >= 0 && kept < p->orphans) {
		struct orphan o = p->orphan[kept];
		bool stuck = false;

		memmove(p->orphan + kept, p->orphan + kept + 1, (--p->orphans - kept) * sizeof(o));
		while (!(rc = settle_one(p, &o, &stuck, err)) && !stuck)
			;
		if (rc > 0) {
			free(o.booking);
			continue;
		}
		memmove(p->orphan + kept + 1, p->orphan + kept, (p->orphans++ - kept) * sizeof(o));
		p->orphan[kept++] = o;
	}
	plan_hold_widen(p);
	return rc < 0 ? -1 : 0;
}

static uint64_t count_all(const struct sl_plan *p)
{
	return (uint64_t) p->reserved.count + p->stops + p->orphans;
}

int plan_settle(struct sl_plan *p, struct sl_error *err)
{
	uint64_t before;

	if (p->forecasts)	/* it was done before the forecasts were made */
		return plan_drop_voids(p, err);
	do {
		before = count_all(p);
		if (plan_drop_voids(p, err) < 0 || settle_orphans(p, err) < 0 || plan_drop_needless(p, true, err) < 0)
			return -1;
	} while (count_all(p) < before);
	return 0;
}
