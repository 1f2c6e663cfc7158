/* SPDX-License-Identifier: MIT */
/*
 * place_bestfit.c - best fit among sets of consecutive nodes.
 *
 * Follows _eval_nodes() of Slurm's select/cons_tres, on runs instead of nodes, with two improvements: a set that suffices is
 * never dropped for a larger one that does not; and if max_nodes binds, nodes that are too poor are skipped, where Slurm
 * fails and tries again.
 */
#include "timeline/place_impl.h"
#include "base/heap.h"

/* After this many sets that seemed to suffice and did not (max_nodes leaves too few of their good nodes), take the largest
 * set without searching for the tightest. */
#define IN_VAIN 8

/* Heap order: sets with required nodes, then lowest weight, most units, lowest index. */
static bool set_before(const void *none, const struct sl_set *a, const struct sl_set *b)
{
	bool x = a->required < SL_MAX_NODES, y = b->required < SL_MAX_NODES;

	(void) none;
	if (x != y)
		return x;
	if (a->weight != b->weight)
		return a->weight < b->weight;
	if (a->units != b->units)
		return a->units > b->units;
	return a->first < b->first;
}

SL_HEAP(sets, struct sl_set, const void *, set_before)

/* Begin a set.  The last set is reused if it has no nodes (required nodes are not counted). */
static struct sl_set *begin_set(struct sl_space *sp, uint32_t span, uint32_t required, struct sl_error *err)
{
	if (!sp->conses || sp->cons[sp->conses - 1].nodes) {
		if (sl_grow(&sp->cons, &sp->cons_room, (uint64_t) sp->conses + 1, sizeof(*sp->cons), err))
			return NULL;
		sp->conses++;
	}
	sp->cons[sp->conses - 1] = (struct sl_set) { .span = span, .required = required };
	return &sp->cons[sp->conses - 1];
}

static void join_set(const struct sl_space *sp, struct sl_set *set, uint32_t span)
{
	const struct sl_span *s = &sp->spans.at[span];
	const struct sl_brief *o = &sp->brief[s->offer];
	uint32_t n = s->last - s->first + 1;

	if (!set->nodes) {
		set->span = span;
		set->first = s->first;
	}
	set->spans++;
	set->weight = o->weight;
	set->nodes += n;
	if (set->peak < o->units)
		set->peak = o->units;
	set->units += (int64_t) n * o->units;
	set->cores += (int64_t) n * o->cores;
}

/* Build sets from spans and required spans in node order.  Required nodes connect neighbouring spans of the same weight. */
static int build_sets(struct sl_space *sp, struct sl_error *err)
{
	const struct sl_spans *all = &sp->spans, *req = &sp->required;
	uint32_t i = 0, r = 0, next = 0;
	struct sl_set *set = NULL;

	sp->conses = 0;
	while (i < all->n || r < req->n) {
		bool required = i == all->n || (r < req->n && req->at[r].first < all->at[i].first);
		const struct sl_span *s = required ? &req->at[r] : &all->at[i];
		bool gap = !set || s->first != next;

		if (gap || (!required && set->nodes && set->weight != sp->brief[s->offer].weight))
			set = begin_set(sp, i, SL_MAX_NODES, err);
		if (!set)
			return -1;
		if (required && set->required == SL_MAX_NODES)
			set->required = s->first;
		if (required)
			r++;
		else
			join_set(sp, set, i++);
		next = s->last + 1;
	}
	if (sp->conses && !sp->cons[sp->conses - 1].nodes)
		sp->conses--;
	return 0;
}

static bool enough_gres(const struct sl_picker *p, const struct sl_set *set)
{
	for (uint32_t j = 0; j < p->need->jobs; j++) {
		int64_t sum = 0;

		for (uint32_t i = set->span; i < set->span + set->spans; i++) {
			const struct sl_span *s = &p->sp->spans.at[i];

			sum += (int64_t) (s->last - s->first + 1) * p->sp->offer[s->offer].job[j];
		}
		if (sum < p->job[j])
			return false;
	}
	return true;
}

static bool same_rank(const struct sl_set *a, const struct sl_set *b)
{
	return a->weight == b->weight && (a->required < SL_MAX_NODES) == (b->required < SL_MAX_NODES);
}

/* The set to take next: of those with the same rank as *top, the tightest that suffices; UINT32_MAX if none does.  *most
 * is an upper bound of the nodes of a set, so that the search is not repeated in vain. */
static uint32_t sufficient(const struct sl_picker *p, const struct sl_set *top, int64_t *most)
{
	const struct sl_space *sp = p->sp;
	uint32_t best = UINT32_MAX;
	int64_t seen = 0;

	if (p->nodes > *most || p->nodes > p->slots)
		return best;
	for (uint32_t i = 0; i < sp->conses; i++) {
		const struct sl_set *s = &sp->cons[i];

		seen = s->nodes > seen ? s->nodes : seen;
		if (s->units < p->units || s->nodes < p->nodes || s->peak * p->slots < p->units || !same_rank(s, top))
			continue;
		if (best < UINT32_MAX && (s->cores > sp->cons[best].cores ||
		    (s->cores == sp->cons[best].cores && s->first > sp->cons[best].first)))
			continue;
		if (enough_gres(p, s))
			best = i;
	}
	*most = seen;
	return best;
}

static const struct sl_set *first_ranked(const struct sl_space *sp)
{
	const struct sl_set *top = &sp->cons[0];

	for (uint32_t i = 1; i < sp->conses; i++) {
		const struct sl_set *s = &sp->cons[i];

		if (!same_rank(s, top) && set_before(NULL, s, top))
			top = s;
	}
	return top;
}

/* If one more node suffices: the tightest node of the set, else NULL. */
static const struct sl_span *tightest_node(const struct sl_picker *p, const struct sl_set *set)
{
	const struct sl_span *best = NULL;

	if (p->nodes > 1 || p->slots < 1)
		return NULL;
	for (uint32_t i = set->span; i < set->span + set->spans; i++) {
		const struct sl_span *s = &p->sp->spans.at[i];
		const struct sl_offer *o = &p->sp->offer[s->offer];
		bool enough = o->units >= p->units;

		for (uint32_t j = 0; j < p->need->jobs; j++)
			enough &= o->job[j] >= p->job[j];
		if (enough && (!best || o->free.cores < p->sp->offer[best->offer].free.cores))
			best = s;
	}
	return best;
}

static int take_set(struct sl_picker *p, const struct sl_set *set, struct sl_error *err)
{
	const struct sl_span *s = p->sp->spans.at;
	const struct sl_span *one = set->required == SL_MAX_NODES ? tightest_node(p, set) : NULL;
	uint32_t end = set->span + set->spans, from = set->span;

	if (p->sheet)
		return sl_take_from_sheet(p, set, err);
	if (one) {
		struct sl_span node = { one->first, one->first, one->offer };

		return sl_picker_take(p, &node, false, err);
	}
	while (set->required < SL_MAX_NODES && from < end && s[from].first < set->required)
		from++;
	for (uint32_t i = from; i < end && !sl_picker_done(p); i++) {
		if (sl_picker_take(p, &s[i], false, err))
			return -1;
	}
	for (uint32_t i = from; i-- > set->span && !sl_picker_done(p);) {
		if (sl_picker_take(p, &s[i], true, err))
			return -1;
	}
	return 0;
}

static int push_runs(struct sl_spans *s, const struct sl_nodeset *nodes, uint32_t offer, struct sl_error *err)
{
	for (uint32_t r = 0; r < nodes->runs; r++)
		if (sl_spans_push(s, nodes->run[r].first, nodes->run[r].last, offer, err))
			return -1;
	return 0;
}

/* List the runs of all offers in node order. */
static int spread_out(struct sl_space *sp, struct sl_error *err)
{
	if (sl_grow(&sp->brief, &sp->brief_room, sp->offers, sizeof(*sp->brief), err))
		return -1;
	sp->spans.n = 0;
	for (uint32_t i = 0; i < sp->offers; i++) {
		const struct sl_offer *o = &sp->offer[i];

		sp->brief[i] = (struct sl_brief) { o->weight, o->units, o->free.cores };
		if (o->is_run ? sl_spans_push(&sp->spans, o->run.first, o->run.last, i, err) :
		    push_runs(&sp->spans, o->nodes, i, err))
			return -1;
	}
	return sl_spans_sort(&sp->spans, &sp->sorted, err);
}

int sl_choose_bestfit(struct sl_picker *p, struct sl_error *err)
{
	return spread_out(p->sp, err) || build_sets(p->sp, err) ? -1 : sl_choose_among_sets(p, err);
}

int sl_choose_among_sets(struct sl_picker *p, struct sl_error *err)
{
	struct sl_space *sp = p->sp;
	int64_t most = INT64_MAX;
	uint32_t i, vain = 0;

	if (!sp->conses)
		return 0;
	/* one set usually suffices; then no sorting is needed */
	i = sufficient(p, first_ranked(sp), &most);
	if (i < UINT32_MAX) {
		if (take_set(p, &sp->cons[i], err))
			return -1;
		sp->cons[i] = sp->cons[--sp->conses];
	}
	for (i = sp->conses / 2; i-- > 0 && !sl_picker_done(p);)
		sets_sift_down(NULL, sp->cons, sp->conses, i);
	while (sp->conses && !sl_picker_done(p) && p->slots > 0) {
		struct sl_set set;

		i = UINT32_MAX;
		if (sp->cons[0].units >= p->units && vain < IN_VAIN)
			i = sufficient(p, &sp->cons[0], &most);
		vain += i < UINT32_MAX;
		i = i < UINT32_MAX ? i : 0;
		set = sp->cons[i];
		if (take_set(p, &set, err))
			return -1;
		if (i)		/* the set was expected to suffice; its remaining nodes are not considered again */
			sp->cons[i].units = sp->cons[i].nodes = sp->cons[i].spans = 0;
		else
			sp->cons[0] = sp->cons[--sp->conses];
		sets_sift_down(NULL, sp->cons, sp->conses, i);
	}
	return 0;
}
