/* SPDX-License-Identifier: MIT */
/* plan_across.c - the timelines of a plan, and what a booking in one of them means for the others. */
#include "model/plan_private.h"

#include <stdlib.h>

#include "base/grow.h"

/* Effect of a booking on another timeline. */
enum across {
	NOTHING,
	BLOCKS,		/* its nodes are blocked */
	BOOKINGS,	/* the same booking is made, beneath blocks */
	BUT_CORES,	/* the same without cores: memory and gres of nodes with reserved cores are shared */
	OPEN,		/* BOOKINGS; BLOCKS if some reservation has parts of nodes */
	SAME,		/* BLOCKS within one reservation (or none), or if some reservation has parts of nodes; else NOTHING */
};

/* Nodes that the jobs of a timeline may use. */
enum kind {
	MAIN,		/* nodes without a reservation */
	WHOLE,		/* nodes of a reservation of whole nodes */
	PARTS,		/* parts of nodes of a reservation: other jobs use the rest */
	FLEX,		/* all nodes, those of a flexible reservation first */
	KINDS
};

/* The effect of a booking of one timeline (rows) on another one (columns).  *alike*: jobs of both may be on one node,
 * because both are for jobs that share cores or both are not, and both have the same tenant or none.  *apart*: they may not. */
static const unsigned char alike[KINDS][KINDS] = {
	/*		MAIN		WHOLE		PARTS		FLEX */
	[MAIN] =	{ NOTHING,	NOTHING,	BUT_CORES,	OPEN },
	[WHOLE] =	{ NOTHING,	NOTHING,	NOTHING,	BLOCKS },
	[PARTS] =	{ BUT_CORES,	NOTHING,	BUT_CORES,	BLOCKS },
	[FLEX] =	{ OPEN,		BLOCKS,		BLOCKS,		OPEN },
}, apart[KINDS][KINDS] = {
	/*		MAIN		WHOLE		PARTS		FLEX */
	[MAIN] =	{ SAME,		SAME,		SAME,		BLOCKS },
	[WHOLE] =	{ SAME,		SAME,		SAME,		BLOCKS },
	[PARTS] =	{ SAME,		SAME,		SAME,		BLOCKS },
	[FLEX] =	{ BLOCKS,	BLOCKS,		BLOCKS,		BLOCKS },
};

static enum kind kind_of(const struct enclave *en)
{
	return en->flexible ? FLEX : en->resv == SL_NONE ? MAIN : en->partial ? PARTS : WHOLE;
}

/* Effect of bookings of that want on the timeline of *en*; NULL: the main one. */
static enum across across(const struct sl_plan *p, const struct want *w, const struct enclave *en)
{
	static const struct enclave main_one = { .resv = SL_NONE };
	const struct enclave *own = w->enclave ? w->enclave : &main_one, *other = en ? en : &main_one;
	bool are_alike = own->shared == other->shared && own->tenant == other->tenant;
	enum across how = (enum across) (are_alike ? alike : apart)[kind_of(own)][kind_of(other)];

	if (own == other)
		return NOTHING;
	if (how == OPEN)
		return p->c->has_partial ? BLOCKS : BOOKINGS;
	if (how == SAME)
		return own->resv == other->resv || p->c->has_partial ? BLOCKS : NOTHING;
	return how;
}

/* False if no booking can affect another timeline. */
static bool has_sides(const struct sl_cluster *c)
{
	return c->rows || c->tenants || c->has_flexible || c->has_partial;
}

/* The nth timeline of the plan: the main one, then those of enclaves; NULL after the last. */
static struct sl_timeline *nth_timeline(const struct sl_plan *p, uint32_t n, const struct enclave **en)
{
	*en = n && n <= p->mark_count ? p->marks[n - 1].enclave : NULL;
	return !n ? p->c->tl : *en ? (*en)->tl : NULL;
}

/* The first affected timeline from number *from* on, and *how*; *from is advanced. */
static struct sl_timeline *next_across(const struct sl_plan *p, const struct want *w, uint32_t *from, enum across *how)
{
	const struct enclave *en;
	struct sl_timeline *tl;

	while ((tl = nth_timeline(p, (*from)++, &en)))
		if ((*how = across(p, w, en)) != NOTHING)
			return tl;
	return NULL;
}

/* Apply the effect *how* of a booking to *tl*, or (not *up*) undo it. */
static int bar(struct sl_timeline *tl, const struct booking *b, enum across how, bool up, struct sl_error *err)
{
	uint32_t mark = sl_timeline_mark(tl);

	for (uint32_t i = 0; i < b->layout.shares; i++) {
		const struct sl_share *s = &b->layout.share[i];
		struct sl_resources r = s->each;
		int rc;

		if (how == BUT_CORES)
			r.cores = 0;
		rc = how == BLOCKS ? (up ? sl_timeline_block : sl_timeline_unblock)(tl, &s->nodes, b->t0, b->t1, err) :
			(up ? sl_timeline_book_beneath : sl_timeline_unbook)(tl, &s->nodes, &r, b->t0, b->t1, err);
		if (rc < 0) {
			sl_timeline_rollback(tl, mark);
			return -1;
		}
	}
	sl_timeline_release(tl, mark);
	return 0;
}

int plan_bar_across(const struct sl_plan *p, const struct booking *b, bool up, struct sl_error *err)
{
	uint32_t n = 0, done = 0, again = 0;
	struct sl_timeline *tl;
	enum across how;

	if (!has_sides(p->c))
		return 0;
	while ((tl = next_across(p, b->want, &n, &how)) && !bar(tl, b, how, up, err))
		done++;
	if (!tl)
		return 0;
	for (n = 0; again < done && (tl = next_across(p, b->want, &n, &how)); again++)
		bar(tl, b, how, !up, NULL);
	return -1;
}

/* Apply the effects of all existing bookings to a new timeline. */
static int bar_booked(const struct sl_plan *p, const struct bookings *list, const struct enclave *en,
		      struct sl_error *err)
{
	for (uint32_t i = 0; i < list->count; i++) {
		enum across how = across(p, list->item[i]->want, en);

		if (how != NOTHING && bar(en->tl, list->item[i], how, true, err) < 0)
			return -1;
	}
	return 0;
}

/* -- nodes that are kept free ---------------------------------------------- */

/* Jobs confined to an advance reservation use its nodes only, so nothing is closed to them. */
static int keep_free(struct sl_timeline *tl, const struct enclave *en, const struct kept_free *k, bool up, struct sl_error *err)
{
	return en && cluster_is_confined(en) ? 0 :
		(up ? sl_timeline_block : sl_timeline_unblock)(tl, &k->nodes, k->from, k->to, err);
}

int plan_keep_free(const struct sl_plan *p, const struct kept_free *k, bool up, struct sl_error *err)
{
	const struct enclave *en;
	struct sl_timeline *tl;
	uint32_t n = 0;

	while ((tl = nth_timeline(p, n, &en)) && !keep_free(tl, en, k, up, err))
		n++;
	if (!tl)
		return 0;
	while (n-- && (tl = nth_timeline(p, n, &en)))
		keep_free(tl, en, k, !up, NULL);
	return -1;
}

/* Apply all kept-free nodes to a new timeline. */
static int keep_free_in(const struct sl_plan *p, const struct enclave *en, struct sl_error *err)
{
	for (uint32_t i = 0; i < p->kept_frees && !p->blocked_open; i++)
		if (keep_free(en->tl, en, &p->kept_free[i], true, err) < 0)
			return -1;
	return 0;
}

struct sl_timeline *plan_timeline_of(struct sl_plan *p, struct enclave *en, struct sl_error *err)
{
	struct sl_timeline *tl;

	if (!en)
		return p->c->tl;
	tl = cluster_enclave_timeline(p->c, en, err);
	for (uint32_t i = 0; tl && i < p->mark_count; i++)
		if (p->marks[i].enclave == en)
			return tl;
	if (!tl)
		return NULL;
	if (sl_grow_list(&p->marks, p->mark_count, sizeof(*p->marks), err))
		return NULL;
	p->marks[p->mark_count++] = (struct enclave_mark) { en, sl_timeline_mark(tl) };
	return keep_free_in(p, en, err) < 0 || bar_booked(p, &p->started, en, err) < 0 ||
		bar_booked(p, &p->reserved, en, err) < 0 ? NULL : tl;
}

uint32_t *plan_mark(const struct sl_plan *p, struct sl_error *err)
{
	uint32_t *mark = malloc((p->mark_count + 2) * sizeof(*mark));
	const struct enclave *en;
	struct sl_timeline *tl;

	if (!mark)
		plan_no_memory(err);
	for (uint32_t i = 0; mark && (tl = nth_timeline(p, i, &en)); i++)
		mark[i + 1] = sl_timeline_mark(tl);
	if (mark)
		mark[0] = p->mark_count + 1;	/* more timelines may be added meanwhile */
	return mark;
}

void plan_unmark(const struct sl_plan *p, uint32_t *mark, bool undo)
{
	const struct enclave *en;
	struct sl_timeline *tl;

	for (uint32_t i = 0; i < mark[0] && (tl = nth_timeline(p, i, &en)); i++)
		(undo ? sl_timeline_rollback : sl_timeline_release)(tl, mark[i + 1]);
	free(mark);
}
