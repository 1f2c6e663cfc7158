/* SPDX-License-Identifier: MIT */
/* place_deal.c - dealing units out to the chosen nodes. */
#include "timeline/place_impl.h"

#include "base/search.h"

struct deal {
	struct sl_timeline *tl;
	struct sl_space *sp;
	const struct sl_need *need;
	struct sl_layout *layout;
	int64_t nodes, units;		/* nodes without units yet, and units not yet dealt */
	int64_t kept;			/* units kept back for each node without units */
	int64_t job[SL_MAX_GRES_NEEDS];
};

/* Give *units* to each of the nodes first..last of a span. */
static int give(struct deal *d, const struct sl_span *s, uint32_t first, uint32_t last, uint32_t units,
		const uint32_t *job, struct sl_error *err)
{
	const struct sl_offer *o = &d->sp->offer[s->offer];
	const struct sl_resources *capacity = &d->tl->kind[d->tl->class[o->class].kind].capacity;
	struct sl_resources each;

	if (!sl_need_amounts(d->need, capacity, &o->free, units, job, &each))
		return sl_fail(err, SL_EINVAL, "placement: node %u cannot give what it offered", first);
	return sl_layout_add(d->layout, first, last, d->need->whole ? 0 : units, &each, err);
}

int64_t sl_deal_share(int64_t rest, int64_t nodes, int64_t kept, int64_t least, int64_t most)
{
	int64_t n = rest - (nodes - 1) * kept;

	if (n > most)
		n = most;
	return n < least ? least : n;
}

/* With gres of the job, serve the nodes one by one in index order: select deals gres in this order. */
static int deal_singly(struct deal *d, const struct sl_span *s, struct sl_error *err)
{
	const struct sl_offer *o = &d->sp->offer[s->offer];

	for (uint32_t n = s->first; n <= s->last; n++) {
		uint32_t units = (uint32_t) sl_deal_share(d->units, d->nodes, d->kept, d->need->least, o->units);
		uint32_t job[SL_MAX_GRES_NEEDS];

		for (uint32_t j = 0; j < d->need->jobs; j++) {
			int64_t least = d->job[j] > 0;

			job[j] = (uint32_t) sl_deal_share(d->job[j], d->nodes, least, least, o->job[j]);
			d->job[j] -= job[j];
		}
		if (give(d, s, n, n, units, job, err))
			return -1;
		d->units -= units;
		d->nodes--;
	}
	return 0;
}

/* Number of the following nodes, this one included, that get the same number of units, if each can take *most*. */
static int64_t count_alike(const struct deal *d, int64_t units, int64_t most)
{
	int64_t rest = d->units - (d->nodes - 1) * d->kept, least = d->need->least;

	if (units == d->kept)
		return d->nodes;
	if (units == most)
		return (rest - most) / (most - d->kept) + 1;
	return units == least ? (least - rest) / (d->kept - least) + 1 : 1;
}

/* Give units to the nodes of a span: first nodes that get all they can take, then at most one with the rest, then nodes
 * with what was kept for them.  If too little is left for that, the first nodes get their least. */
static int deal_span(struct deal *d, const struct sl_span *s, struct sl_error *err)
{
	uint32_t most = d->sp->offer[s->offer].units, n = s->first;

	while (n <= s->last) {
		int64_t units = sl_deal_share(d->units, d->nodes, d->kept, d->need->least, most);
		int64_t count = count_alike(d, units, most);

		if (count > s->last - n + 1)
			count = s->last - n + 1;
		if (give(d, s, n, n + (uint32_t) count - 1, (uint32_t) units, NULL, err))
			return -1;
		d->units -= count * units;
		d->nodes -= count;
		n += (uint32_t) count;
	}
	return 0;
}

/* -- evenly ------------------------------------------------------------ */

static int64_t held_at(const struct deal *d, int64_t level)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < d->sp->chosen.n; i++) {
		const struct sl_span *s = &d->sp->chosen.at[i];
		int64_t units = d->sp->offer[s->offer].units;

		sum += (s->last - s->first + 1) * (units < level ? units : level);
	}
	return sum;
}

/* Most units that a chosen node can take. */
static int64_t most_held(const struct deal *d)
{
	int64_t most = d->need->least;

	for (uint32_t i = 0; i < d->sp->chosen.n; i++) {
		int64_t units = d->sp->offer[d->sp->chosen.at[i].offer].units;

		most = units > most ? units : most;
	}
	return most;
}

/* Size of a batch of units: a plane; or as many units as fit on cores_at_once cores (a socket); or, if a unit is one
 * thread, as many as a core has, because two jobs never share a core. */
static int64_t units_at_once(const struct sl_need *need)
{
	const struct sl_request *r = need->r;
	int64_t held = need->once > 1 ? sl_need_held(&need->node, need->once) : 0;

	if (r->plane)
		return r->plane;
	if (held)
		return held;
	return r->cores_per_task <= 1 && r->tasks_per_core > 1 ? r->tasks_per_core : 1;
}

/* Give each node of a span *low* units, or up to *high* while *rest* lasts. */
static int deal_level(struct deal *d, const struct sl_span *s, int64_t low, int64_t high, int64_t *rest,
		      struct sl_error *err)
{
	int64_t count = s->last - s->first + 1, more = high - low, full = more ? *rest / more : 0, part = 0;
	uint32_t n = s->first;

	if (full >= count)
		full = count;
	else if (more)
		part = *rest - full * more;
	*rest -= full * more + part;
	if (full && give(d, s, n, n + (uint32_t) full - 1, (uint32_t) high, NULL, err))
		return -1;
	n += (uint32_t) full;
	if (part && give(d, s, n, n, (uint32_t) (low + part), NULL, err))
		return -1;
	n += part > 0;
	return n <= s->last && give(d, s, n, s->last, (uint32_t) low, NULL, err) ? -1 : 0;
}

/* Water filling: find the lowest level, in whole batches, such that the nodes filled up to it (or to what they can take)
 * hold all units.  All nodes get one batch less; the first ones get the rest. */
static int deal_evenly(struct deal *d, struct sl_error *err)
{
	int64_t once = units_at_once(d->need), least = d->need->least;
	int64_t high = SL_FIRST(level, least, most_held(d), held_at(d, level) < d->units), low, rest;

	high = high > least ? (high + once - 1) / once * once : least;
	low = high - once > least ? high - once : least;
	rest = d->units - held_at(d, low);
	if (rest < 0)
		rest = 0;	/* every node gets its least in any case */
	for (uint32_t i = 0; i < d->sp->chosen.n; i++) {
		const struct sl_span *s = &d->sp->chosen.at[i];
		int64_t units = d->sp->offer[s->offer].units;

		if (deal_level(d, s, units < low ? units : low, units < high ? units : high, &rest, err))
			return -1;
	}
	return 0;
}

int sl_chosen_begin(struct sl_timeline *tl, struct sl_error *err)
{
	struct sl_space *sp = sl_space(tl, err);

	if (!sp)
		return -1;
	sp->offers = 0;
	sp->chosen.n = 0;
	return 0;
}

int sl_chosen_add(struct sl_timeline *tl, const struct sl_need *need, uint32_t first, uint32_t last,
		  uint32_t class, const struct sl_resources *free, uint32_t units, struct sl_error *err)
{
	struct sl_offer o = { .class = class, .free = *free, .units = units };
	struct sl_space *sp = tl->space;

	if (o.units > need->units)
		o.units = (uint32_t) need->units;
	return sl_offer_push(sp, &o, err) || sl_spans_push(&sp->chosen, first, last, sp->offers - 1, err) ? -1 : 0;
}

/* Units that fit on the cores which each node gives in any case.  Both threads of a core belong to one job, so a node kept
 * for one task has room for two. */
static int64_t units_to_keep(const struct sl_space *sp, const struct sl_need *need)
{
	int64_t kept = sl_need_held(&need->node, need->given_cores);

	for (uint32_t i = 0; i < sp->chosen.n && kept > need->least; i++)
		if (kept > sp->offer[sp->chosen.at[i].offer].units)
			kept = sp->offer[sp->chosen.at[i].offer].units;
	return kept > need->least ? kept : need->least;
}

int sl_deal(struct sl_timeline *tl, const struct sl_need *need, bool evenly, struct sl_layout *layout,
	    struct sl_error *err)
{
	struct sl_space *sp = tl->space;
	struct deal d = { .tl = tl, .sp = sp, .need = need, .layout = layout, .units = need->units };

	sl_layout_clear(layout);
	for (uint32_t i = 0; i < sp->chosen.n; i++)
		d.nodes += sp->chosen.at[i].last - sp->chosen.at[i].first + 1;
	for (uint32_t j = 0; j < need->jobs; j++)
		d.job[j] = need->need[need->needs + j].count;
	d.kept = units_to_keep(sp, need);
	evenly |= need->r->plane > 0;
	if ((evenly || need->jobs) && sl_spans_sort(&sp->chosen, &sp->sorted, err))
		return -1;
	if (evenly && !need->jobs)
		return deal_evenly(&d, err);
	for (uint32_t i = 0; i < sp->chosen.n; i++) {
		if (need->jobs ? deal_singly(&d, &sp->chosen.at[i], err) : deal_span(&d, &sp->chosen.at[i], err))
			return -1;
	}
	return 0;
}
