/* SPDX-License-Identifier: MIT */
/* place_choose.c - choosing nodes in the order of the method. */
#include "timeline/place_impl.h"
#include "base/heap.h"
#include "base/search.h"

/* -- picking ----------------------------------------------------------- */

bool sl_picker_done(const struct sl_picker *p)
{
	if (p->nodes > 0 || p->units > 0)
		return false;
	for (uint32_t j = 0; j < p->need->jobs; j++) {
		if (p->job[j] > 0)
			return false;
	}
	return true;
}

static int64_t quotient_up(int64_t a, int64_t b)
{
	return a > 0 ? (a + b - 1) / b : 0;
}

/* Number of nodes with this offer that would satisfy all that is still needed. */
static int64_t wanted(const struct sl_picker *p, const struct sl_offer *o)
{
	int64_t n = quotient_up(p->units, o->units);

	if (n < p->nodes)
		n = p->nodes;
	for (uint32_t j = 0; j < p->need->jobs; j++) {
		int64_t m = quotient_up(p->job[j], o->job[j]);

		if (n < m)
			n = m;
	}
	return n;
}

/* True if, after taking x nodes with *units* each, the nodes not yet looked at can supply the rest within the limit. */
static bool leads_on(const struct sl_picker *p, int64_t x, uint32_t units)
{
	return x * units + sl_hist_best(p->sp, p->slots - x) >= p->units;
}

/* How many nodes with *units*, at most *x*, may be taken so that the request can still be satisfied within max_nodes.
 * What can be reached rises with the number taken while these nodes are among the best, and falls afterwards. */
static int64_t affordable(const struct sl_picker *p, int64_t x, uint32_t units)
{
	int64_t better = 0, lo, hi = x;

	if (leads_on(p, x, units))
		return x;
	for (uint32_t u = units + 1; u <= p->sp->hist_top; u++)
		better += p->sp->hist[u];
	lo = p->slots - better;
	if (lo < 0)
		lo = 0;
	if (lo > hi)
		lo = hi;
	while (hi - lo > 1) {
		int64_t mid = lo + (hi - lo) / 2;

		if (leads_on(p, mid, units))
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

static int pick(struct sl_picker *p, uint32_t first, uint32_t last, uint32_t offer, struct sl_error *err)
{
	const struct sl_offer *o = &p->sp->offer[offer];
	int64_t n = last - first + 1;

	p->nodes -= n;
	p->slots -= n;
	p->units -= n * o->units;
	for (uint32_t j = 0; j < p->need->jobs; j++)
		p->job[j] -= n * o->job[j];
	return sl_spans_push(&p->sp->chosen, first, last, offer, err);
}

int sl_picker_take(struct sl_picker *p, const struct sl_span *span, bool back, struct sl_error *err)
{
	const struct sl_offer *o = &p->sp->offer[span->offer];
	int64_t length = span->last - span->first + 1, x = wanted(p, o);

	if (p->look)
		p->sp->hist[o->units] -= length;
	if (x > length)
		x = length;
	if (x > p->slots)
		x = p->slots;
	if (p->look && x > 0)
		x = affordable(p, x, o->units);
	if (x <= 0 || sl_picker_done(p))
		return 0;
	return back ? pick(p, span->last - x + 1, span->last, span->offer, err) :
		      pick(p, span->first, span->first + x - 1, span->offer, err);
}

/* -- in order ---------------------------------------------------------- */

static bool before(const struct sl_offer *a, const struct sl_offer *b)
{
	if (a->key != b->key)
		return a->key < b->key;
	if (a->weight != b->weight)
		return a->weight < b->weight;
	return a->key2 < b->key2;
}

static bool offer_before(const struct sl_space *sp, const uint32_t *a, const uint32_t *b)
{
	return before(&sp->offer[*a], &sp->offer[*b]);
}

SL_HEAP(offers, uint32_t, const struct sl_space *, offer_before)

static int push_runs(struct sl_space *sp, uint32_t offer, struct sl_error *err)
{
	const struct sl_nodeset *s = sp->offer[offer].nodes;

	for (uint32_t i = 0; i < s->runs; i++) {
		if (sl_spans_push(&sp->spans, s->run[i].first, s->run[i].last, offer, err))
			return -1;
	}
	return 0;
}

/* Offers with the same rank form one pool, from which nodes are taken in index order, or from the end. */
static int choose_ordered(struct sl_picker *p, bool from_end, struct sl_error *err)
{
	struct sl_space *sp = p->sp;

	if (sl_grow(&sp->order, &sp->order_room, sp->offers, sizeof(*sp->order), err))
		return -1;
	sp->ordered = sp->offers;
	for (uint32_t i = 0; i < sp->offers; i++)
		sp->order[i] = i;
	offers_order(sp, sp->order, sp->ordered);
	while (sp->ordered && !sl_picker_done(p) && p->slots > 0) {
		const struct sl_offer *first = &sp->offer[sp->order[0]];

		sp->spans.n = 0;
		while (sp->ordered && !before(first, &sp->offer[sp->order[0]])) {
			if (push_runs(sp, sp->order[0], err))
				return -1;
			offers_drop_first(sp, sp->order, &sp->ordered);
		}
		if (sl_spans_sort(&sp->spans, &sp->sorted, err))
			return -1;
		for (uint32_t i = 0; i < sp->spans.n && !sl_picker_done(p); i++) {
			if (sl_picker_take(p, &sp->spans.at[from_end ? sp->spans.n - 1 - i : i], from_end, err))
				return -1;
		}
	}
	return 0;
}

/* -- the methods' orders ----------------------------------------------- */

/* True if the nodes of this offer can also give at that step as many units as the offer says. */
static bool is_enough(const struct sl_timeline *tl, const struct sl_need *need, const struct sl_offer *o,
		      const struct sl_step *s)
{
	struct sl_offer at = { .free = s->free };

	return !s->blocks && sl_need_offer(&need->node, &tl->kind[tl->class[o->class].kind].capacity, &at) &&
	       at.units >= o->units;
}

/* The begin of the interval that includes t in which the nodes can take that many units. */
static int64_t free_since(const struct sl_timeline *tl, const struct sl_need *need, const struct sl_offer *o, int64_t t)
{
	const struct sl_node_class *g = &tl->class[o->class];
	uint32_t i = sl_step_at(g, t);

	while (i > 0 && is_enough(tl, need, o, &g->step[i - 1]))
		i--;
	return g->step[i].t;
}

/* The end of the interval from the end of the job on in which the nodes can still take that many units. */
static int64_t free_until(const struct sl_timeline *tl, const struct sl_need *need, const struct sl_offer *o, int64_t end)
{
	const struct sl_node_class *g = &tl->class[o->class];
	uint32_t i = sl_step_at(g, end - 1) + 1;

	while (i < g->steps && is_enough(tl, need, o, &g->step[i]))
		i++;
	return i < g->steps ? g->step[i].t : SL_FOREVER;
}

/* The fraction of a node's cores in use at t, times 2^32, which distinguishes all fractions of up to 65,535 cores.  Later
 * bookings do not count, because select does not know them. */
static uint32_t load_of(const struct sl_timeline *tl, const struct sl_offer *o, int64_t t)
{
	const struct sl_node_class *g = &tl->class[o->class];
	uint64_t all = (uint32_t) tl->kind[g->kind].capacity.cores;
	uint64_t used = all - (uint32_t) g->step[sl_step_at(g, t)].free.cores;

	return used < all ? (uint32_t) ((used << 32) / all) : UINT32_MAX;
}

void sl_rank_offers(const struct sl_timeline *tl, const struct sl_picker *p, enum sl_place_method method, int64_t t)
{
	struct sl_space *sp = p->sp;
	int64_t even = method == SL_PLACE_SPREAD && p->nodes > 0 ? quotient_up(p->units, p->nodes) : 0;
	int64_t end = sl_later(t, p->need->r->duration);
	bool late = t > tl->now;

	for (uint32_t i = 0; i < sp->offers; i++) {
		struct sl_offer *o = &sp->offer[i];

		o->key = 0;
		if (!sl_place_has_score(method))
			o->key2 = 0;
		if (late) {
			/* nodes that became free last come first; nodes that were always free come last */
			o->key = free_since(tl, p->need, o, t);
			o->key = o->key == SL_DAWN ? INT64_MAX : -o->key;
		} else if (method == SL_PLACE_TIGHT) {
			o->key = free_until(tl, p->need, o, end);
		} else if (method == SL_PLACE_SPREAD) {
			o->key = o->units < even;
		}
		if (method == SL_PLACE_PACK)
			o->key2 = (uint32_t) o->free.cores;
		else if (method == SL_PLACE_LEAST_LOADED)
			o->key2 = load_of(tl, o, t);
	}
}

/* -- the request ------------------------------------------------------- */

/* Move the required nodes out of their offers, into offers of their own. */
static int split_required(struct sl_space *sp, const struct sl_nodeset *required, struct sl_error *err)
{
	sp->required.n = 0;
	for (uint32_t i = 0; required && i < sp->offers; i++) {
		struct sl_offer *o = &sp->offer[i];
		struct sl_nodeset *in, *rest;

		if (!sl_nodeset_overlaps(required, o->nodes))
			continue;
		in = sl_space_set(sp, err);
		rest = sl_space_set(sp, err);
		if (!in || !rest || sl_nodeset_meet(in, o->nodes, required, err) ||
		    sl_nodeset_copy(rest, o->nodes, err) || sl_nodeset_subtract(rest, in, err))
			return -1;
		o->nodes = rest;
		o->is_run = false;
		for (uint32_t r = 0; r < in->runs; r++) {
			if (sl_spans_push(&sp->required, in->run[r].first, in->run[r].last, i, err))
				return -1;
		}
	}
	return sl_spans_sort(&sp->required, &sp->sorted, err);
}

static int fill_hist(struct sl_picker *p, struct sl_error *err)
{
	struct sl_space *sp = p->sp;
	uint32_t top = 0;

	for (uint32_t i = 0; i < sp->offers; i++)
		top = sp->offer[i].units > top ? sp->offer[i].units : top;
	if (sl_hist_clear(sp, top, err))
		return -1;
	for (uint32_t i = 0; i < sp->offers; i++)
		sp->hist[sp->offer[i].units] += sp->offer[i].nodes->count;
	return 0;
}

/* The fewest nodes, beside those taken, that can supply what is still needed. */
static int64_t fewest(const struct sl_picker *p)
{
	int64_t nodes = 0, units = p->units;

	for (uint32_t u = p->sp->hist_top; u && units > 0; u--) {
		int64_t n = quotient_up(units, u);

		if (n > p->sp->hist[u])
			n = p->sp->hist[u];
		units -= n * u;
		nodes += n;
	}
	if (units > 0)
		return INT64_MAX;
	return nodes > p->nodes ? nodes : p->nodes;
}

static int64_t candidates(const struct sl_space *sp)
{
	int64_t n = 0;

	for (uint32_t i = 0; i < sp->offers; i++)
		n += sp->offer[i].nodes->count;
	return n;
}

static int run_method(struct sl_timeline *tl, struct sl_picker *p, enum sl_place_method method, int64_t t,
		      struct sl_error *err)
{
	bool late = t > tl->now;

	if (method == SL_PLACE_SPREAD || (p->need->r->most_nodes && !late)) {
		int64_t n = candidates(p->sp);

		p->nodes = p->slots < n ? p->slots : n;
	} else if (sl_picker_done(p)) {
		return 0;
	}
	if ((!late || tl->late_as_now) && (method == SL_PLACE_BESTFIT || method == SL_PLACE_NATIVE))
		return sl_choose_bestfit(p, err);
	sl_rank_offers(tl, p, method, t);
	return choose_ordered(p, method == SL_PLACE_LAST, err);
}

/* Begin with the required nodes. */
static int start_picking(struct sl_picker *p, struct sl_space *sp, const struct sl_need *need,
			 struct sl_error *err)
{
	*p = (struct sl_picker) { .sp = sp, .need = need, .nodes = need->min_nodes, .units = need->units,
				  .slots = need->max_nodes };
	for (uint32_t j = 0; j < need->jobs; j++)
		p->job[j] = need->need[need->needs + j].count;
	sp->chosen.n = 0;
	for (uint32_t i = 0; i < sp->required.n; i++) {
		const struct sl_span *s = &sp->required.at[i];

		if (pick(p, s->first, s->last, s->offer, err))
			return -1;
	}
	return 0;
}

static int too_many_nodes(struct sl_misfit *m, const struct sl_need *need, int64_t nodes)
{
	return sl_refuse(m, SL_LACK_MAX_NODES, nodes, need->max_nodes);
}

/* Set p->look if max_nodes may bind.  1 if it can be kept; 0 with *misfit if it cannot; -1.  It never binds if max_nodes
 * nodes of the poorest kind suffice. */
static int look_ahead(struct sl_picker *p, enum sl_place_method method, struct sl_misfit *misfit,
		      struct sl_error *err)
{
	int64_t least = UINT32_MAX, few;

	for (uint32_t i = 0; i < p->sp->offers; i++)
		least = p->sp->offer[i].units < least ? p->sp->offer[i].units : least;
	p->look = p->slots < UINT32_MAX / 2 && least * p->slots < p->units;
	if (!p->look && method != SL_PLACE_PACK)
		return 1;
	if (fill_hist(p, err))
		return -1;
	few = fewest(p);
	if (few > p->slots)
		return too_many_nodes(misfit, p->need, few == INT64_MAX ? few : few + p->need->max_nodes - p->slots);
	if (method == SL_PLACE_PACK && !p->need->jobs) {
		p->slots = few;
		p->look = true;
	}
	return 1;
}

/* Choose the nodes with the most gres of the job. */
static int choose_richest(struct sl_picker *p, struct sl_error *err)
{
	struct sl_space *sp = p->sp;

	if (start_picking(p, sp, p->need, err))
		return -1;
	for (uint32_t i = 0; i < sp->offers; i++) {
		sp->offer[i].key = sp->offer[i].key2 = 0;
		for (uint32_t j = 0; j < p->need->jobs; j++)
			sp->offer[i].key -= sp->offer[i].job[j];
	}
	return choose_ordered(p, false, err);
}

#define EFFORT_OF_CHOICE 20	/* units of work for each offer, for sorting it and forming sets */

static int choose_by(struct sl_timeline *tl, const struct sl_need *need, enum sl_place_method method, int64_t t,
		     struct sl_misfit *misfit, struct sl_error *err)
{
	struct sl_space *sp = tl->space;
	struct sl_picker p;
	int rc;

	if (sl_place_has_score(method) && (rc = sl_rank_by_score(tl, need, method, t, misfit, err)) <= 0)
		return rc;
	if (sl_effort_spend(tl->effort, EFFORT_OF_CHOICE * (uint64_t) sp->offers, err) ||
	    split_required(sp, need->r->required, err) || start_picking(&p, sp, need, err))
		return -1;
	if (p.slots < 0)
		return too_many_nodes(misfit, need, need->r->required->count);
	rc = look_ahead(&p, method, misfit, err);
	if (rc <= 0)
		return rc;
	if (run_method(tl, &p, method, t, err))
		return -1;
	if (!sl_picker_done(&p) && need->jobs && choose_richest(&p, err))
		return -1;
	if (sl_picker_done(&p))
		return 1;
	return too_many_nodes(misfit, need, (int64_t) need->max_nodes + 1);
}

static int start_with_sheet(struct sl_picker *p, struct sl_timeline *tl, const struct sl_need *need,
			    struct sl_sheet *sheet, struct sl_error *err)
{
	struct sl_space *sp = tl->space;
	int rc;

	sp->offers = sp->required.n = 0;
	rc = start_picking(p, sp, need, err);
	p->tl = tl;
	p->sheet = sheet;
	return rc;
}

int sl_choose_from_sheet(struct sl_timeline *tl, const struct sl_need *need, struct sl_sheet *sheet, bool scored,
			 struct sl_misfit *misfit, struct sl_error *err)
{
	bool all = !need->r->eligible || need->r->eligible->count == tl->nodes;
	struct sl_sums sums;
	struct sl_picker p;
	int rc;

	if (start_with_sheet(&p, tl, need, sheet, err))
		return -1;
	if (scored) {
		rc = sl_choose_by_score(&p, err);
		return rc ? -1 : sl_picker_done(&p) ? 1 : too_many_nodes(misfit, need, (int64_t) need->max_nodes + 1);
	}
	rc = all ? sl_choose_few_sets(&p, err) : 0;
	if (rc)
		return rc;
	if (start_with_sheet(&p, tl, need, sheet, err) || sl_sheet_sets(tl, sheet, need->r->eligible, &sums, err) ||
	    sl_choose_among_sets(&p, err))
		return -1;
	return sl_picker_done(&p) ? 1 : too_many_nodes(misfit, need, (int64_t) need->max_nodes + 1);
}

/* True if some block of at least that many nodes suffices. */
static bool has_block(struct sl_space *sp, const struct sl_need *need, int64_t nodes)
{
	struct sl_need longer = *need;

	longer.min_nodes = nodes;
	return sl_choose_block(sp, &longer, NULL, NULL) > 0;
}

/* The smallest block that suffices; or, if the request wants as many nodes as possible, the largest it may have. */
static int choose_block(struct sl_timeline *tl, const struct sl_need *need, enum sl_place_method method, int64_t t,
			struct sl_misfit *misfit, struct sl_error *err)
{
	struct sl_need block = *need;
	struct sl_space *sp = tl->space;
	int64_t most = candidates(sp);

	if (sl_effort_spend(tl->effort, EFFORT_OF_CHOICE * (uint64_t) sp->offers + (uint64_t) most, err))
		return -1;
	if (most > need->max_nodes)
		most = need->max_nodes;
	if (method == SL_PLACE_SPREAD || (need->r->most_nodes && t <= tl->now))
		block.min_nodes = SL_FIRST(n, need->min_nodes, most, has_block(tl->space, need, n + 1));
	return sl_choose_block(tl->space, &block, misfit, err);
}

static int choose_anywhere(struct sl_timeline *tl, const struct sl_need *need, enum sl_place_method method, int64_t t,
			   struct sl_misfit *misfit, struct sl_error *err)
{
	if (need->r->contiguous || method == SL_PLACE_CONTIGUOUS)
		return choose_block(tl, need, method, t, misfit, err);
	return choose_by(tl, need, method, t, misfit, err);
}

/* Choose below at most max_leaves leaf switches. */
static int choose_below(struct sl_timeline *tl, const struct sl_need *need, enum sl_place_method method, int64_t t,
			struct sl_misfit *misfit, struct sl_error *err)
{
	int rc = 0, more;

	for (uint32_t n = 0; !rc; n++) {
		more = sl_narrow_to_leaves(tl, need, n, err);
		if (more <= 0)
			return more ? -1 : sl_refuse(misfit, SL_LACK_LEAVES, need->r->max_leaves, 0);
		rc = choose_anywhere(tl, need, method, t, NULL, err);
	}
	return rc;
}

int sl_choose(struct sl_timeline *tl, const struct sl_need *need, enum sl_place_method method, int64_t t,
	      struct sl_misfit *misfit, struct sl_error *err)
{
	int rc;

	if (need->segment)
		return sl_choose_in_blocks(tl, need, t, misfit, err);
	if (tl->tree && need->r->max_leaves)
		return choose_below(tl, need, method, t, misfit, err);
	if (tl->tree && !need->r->contiguous && !need->r->ignores_tree && (method == SL_PLACE_BESTFIT || method == SL_PLACE_NATIVE)) {
		rc = sl_narrow(tl, need, err);
		if (rc > 0)
			rc = choose_by(tl, need, method, t, misfit, err);
		if (rc)
			return rc;
		sl_widen(tl->space);
	}
	if (tl->tree && !need->r->contiguous && !need->r->ignores_tree && method == SL_PLACE_BLOCKS) {
		rc = sl_choose_in_blocks(tl, need, t, NULL, err);
		if (rc)
			return rc;
	}
	return choose_anywhere(tl, need, method, t, misfit, err);
}
