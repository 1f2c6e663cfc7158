/* SPDX-License-Identifier: MIT */
/* place_tree.c - choosing the switches below which a request is placed. */
#include "timeline/place_impl.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"

static bool enough(const struct sl_need *need, const struct sl_sums *s)
{
	return sl_sums_lack(s, need) == SL_LACK_NOTHING;
}

static void add_sums(struct sl_sums *to, const struct sl_sums *s)
{
	to->nodes += s->nodes;
	to->units += s->units;
	to->required += s->required;
	for (int j = 0; j < SL_MAX_GRES_NEEDS; j++)
		to->job[j] += s->job[j];
}

uint32_t sl_heaviest(const struct sl_space *sp, const struct sl_need *need)
{
	struct sl_sums s = { 0 };
	uint32_t weight = 0, next;

	for (int64_t last = -1; last < UINT32_MAX && !enough(need, &s); last = weight) {
		next = UINT32_MAX;
		for (uint32_t i = 0; i < sp->offers; i++)
			if (sp->offer[i].weight > last && sp->offer[i].weight < next)
				next = sp->offer[i].weight;
		weight = next;
		for (uint32_t i = 0; i < sp->offers; i++) {
			const struct sl_offer *o = &sp->offer[i];

			if (o->weight == weight)
				sl_sums_add(&s, need, o->units, o->job, o->nodes->count, need->r->required ?
					    sl_nodeset_common(need->r->required, o->nodes) : 0, 1);
		}
	}
	return weight;
}

/* Sum up what the nodes below each switch offer, up to that weight. */
static int sum_up(struct sl_timeline *tl, const struct sl_need *need, uint32_t weight, struct sl_error *err)
{
	const struct sl_tree *tree = tl->tree;
	struct sl_space *sp = tl->space;

	if (sl_grow(&sp->branch, &sp->branch_room, tree->switches, sizeof(*sp->branch), err))
		return -1;
	memset(sp->branch, 0, tree->switches * sizeof(*sp->branch));
	for (uint32_t i = 0; i < sp->offers; i++) {
		const struct sl_offer *o = &sp->offer[i];

		if (o->weight > weight)
			continue;
		for (uint32_t n = sl_nodeset_next(o->nodes, 0); n < SL_MAX_NODES; n = sl_nodeset_next(o->nodes, n + 1))
			if (tree->leaf_of[n] != SL_NO_SWITCH)
				sl_sums_add(&sp->branch[tree->leaf_of[n]].own, need, o->units, o->job, 1,
					    need->r->required && sl_nodeset_contains(need->r->required, n), 1);
	}
	for (uint32_t leaf = 0; leaf < tree->switches; leaf++) {
		sp->branch[leaf].number = leaf;
		for (uint32_t s = leaf; sp->branch[leaf].own.nodes && s != SL_NO_SWITCH; s = tree->above[s])
			add_sums(&sp->branch[s].all, &sp->branch[leaf].own);
	}
	return 0;
}

/* The lowest switch that suffices; among several the one with the fewest nodes. */
static uint32_t lowest(const struct sl_tree *tree, const struct sl_space *sp, const struct sl_need *need)
{
	uint32_t best = SL_NO_SWITCH;

	for (uint32_t s = 0; s < tree->switches; s++) {
		if (!enough(need, &sp->branch[s].all))
			continue;
		if (best == SL_NO_SWITCH || tree->height[s] < tree->height[best] ||
		    (tree->height[s] == tree->height[best] && sp->branch[s].all.nodes < sp->branch[best].all.nodes))
			best = s;
	}
	return best;
}

static bool is_below(const struct sl_tree *tree, uint32_t s, uint32_t top)
{
	while (s != top && s != SL_NO_SWITCH)
		s = tree->above[s];
	return s == top;
}

static int by_rank(const void *x, const void *y)
{
	const struct sl_branch *a = x, *b = y;

	return SL_ORDER(b->own.required, a->own.required) ?: SL_ORDER(b->own.nodes, a->own.nodes) ?:
		SL_ORDER(a->number, b->number);
}

/* Mark as taken as few of the leaves below *top* as suffice together. */
static int take_leaves(struct sl_timeline *tl, const struct sl_need *need, uint32_t top, struct sl_error *err)
{
	struct sl_space *sp = tl->space;
	struct sl_sums sum = { 0 };
	uint32_t n = 0, last;

	if (sl_grow(&sp->ranked, &sp->ranked_room, tl->tree->switches, sizeof(*sp->ranked), err))
		return -1;
	for (uint32_t s = 0; s < tl->tree->switches; s++)
		if (sp->branch[s].own.nodes && is_below(tl->tree, s, top))
			sp->ranked[n++] = sp->branch[s];
	qsort(sp->ranked, n, sizeof(*sp->ranked), by_rank);
	for (uint32_t i = 0; i < n; i++) {
		struct sl_sums with = sum;

		add_sums(&with, &sp->ranked[i].own);
		last = enough(need, &with) ? n - 1 : i;
		for (; last > i; last--) {
			with = sum;
			add_sums(&with, &sp->ranked[last].own);
			if (enough(need, &with))
				break;
		}
		sp->branch[sp->ranked[last].number].taken = true;
		if (enough(need, &with))
			return 0;
		add_sums(&sum, &sp->ranked[i].own);
	}
	return 0;
}

/* The nodes of the offer that are below a taken switch, into *part. */
static int part_below(const struct sl_timeline *tl, const struct sl_offer *o, struct sl_nodeset *part,
		      struct sl_error *err)
{
	const struct sl_space *sp = tl->space;

	sl_nodeset_clear(part);
	for (uint32_t n = sl_nodeset_next(o->nodes, 0); n < SL_MAX_NODES; n = sl_nodeset_next(o->nodes, n + 1)) {
		uint32_t leaf = tl->tree->leaf_of[n];

		if (leaf != SL_NO_SWITCH && sp->branch[leaf].taken && sl_nodeset_add(part, n, n, err))
			return -1;
	}
	return 0;
}

/* Save the offers. */
static int keep_whole(struct sl_space *sp, struct sl_error *err)
{
	if (sl_grow(&sp->whole, &sp->whole_room, sp->offers, sizeof(*sp->whole), err))
		return -1;
	sp->wholes = sp->offers;
	sp->whole_sets = sp->sets;
	memcpy(sp->whole, sp->offer, sp->offers * sizeof(*sp->offer));
	return 0;
}

/* Make offers from the saved ones: nodes below taken switches, up to that weight. */
static int offer_below(struct sl_timeline *tl, uint32_t weight, struct sl_error *err)
{
	struct sl_space *sp = tl->space;

	sp->offers = 0;
	sp->sets = sp->whole_sets;
	for (uint32_t i = 0; i < sp->wholes; i++) {
		struct sl_nodeset *part = sp->whole[i].weight <= weight ? sl_space_set(sp, err) : NULL;

		if (sp->whole[i].weight > weight)
			continue;
		if (!part || part_below(tl, &sp->whole[i], part, err))
			return -1;
		if (!part->count)
			continue;
		sp->offer[sp->offers] = sp->whole[i];
		sp->offer[sp->offers].is_run = false;
		sp->offer[sp->offers++].nodes = part;
	}
	return 0;
}

#define EFFORT_OF_SWITCH 8

int sl_narrow(struct sl_timeline *tl, const struct sl_need *need, struct sl_error *err)
{
	struct sl_space *sp = tl->space;
	uint32_t weight = sl_heaviest(sp, need), top;

	if (sl_effort_spend(tl->effort, 2 * (uint64_t) tl->nodes + EFFORT_OF_SWITCH * (uint64_t) tl->tree->switches, err) ||
	    sum_up(tl, need, weight, err) || keep_whole(sp, err))
		return -1;
	top = lowest(tl->tree, sp, need);
	if (top == SL_NO_SWITCH)
		return 0;
	return take_leaves(tl, need, top, err) || offer_below(tl, weight, err) ? -1 : 1;
}

static int by_fewest(const void *x, const void *y)
{
	const struct sl_branch *a = x, *b = y;

	return SL_ORDER(a->own.nodes, b->own.nodes) ?: SL_ORDER(a->number, b->number);
}

static int rank_singles(struct sl_timeline *tl, const struct sl_need *need, struct sl_error *err)
{
	struct sl_space *sp = tl->space;

	if (sum_up(tl, need, UINT32_MAX, err) || keep_whole(sp, err) ||
	    sl_grow(&sp->ranked, &sp->ranked_room, tl->tree->switches, sizeof(*sp->ranked), err))
		return -1;
	sp->singles = 0;
	for (uint32_t s = 0; s < tl->tree->switches; s++)
		if (enough(need, &sp->branch[s].own))
			sp->ranked[sp->singles++] = sp->branch[s];
	qsort(sp->ranked, sp->singles, sizeof(*sp->ranked), by_fewest);
	return 0;
}

int sl_narrow_to_leaves(struct sl_timeline *tl, const struct sl_need *need, uint32_t n, struct sl_error *err)
{
	struct sl_space *sp = tl->space;
	struct sl_sums sum = { 0 };
	uint32_t taken = 0;

	if (sl_effort_spend(tl->effort, 2 * (uint64_t) tl->nodes + EFFORT_OF_SWITCH * (uint64_t) tl->tree->switches, err) ||
	    (!n && rank_singles(tl, need, err)))
		return -1;
	if (n > sp->singles || (n == sp->singles && need->r->max_leaves == 1))
		return 0;
	for (uint32_t s = 0; s < tl->tree->switches; s++)
		sp->branch[s].taken = n < sp->singles && s == sp->ranked[n].number;
	if (n == sp->singles && take_leaves(tl, need, SL_NO_SWITCH, err))
		return -1;
	for (uint32_t s = 0; s < tl->tree->switches; s++) {
		if (!sp->branch[s].taken)
			continue;
		taken++;
		add_sums(&sum, &sp->branch[s].own);
	}
	if (taken > need->r->max_leaves || !enough(need, &sum))
		return 0;
	return offer_below(tl, UINT32_MAX, err) ? -1 : 1;
}

uint32_t sl_tree_leaves(const struct sl_tree *tree, const struct sl_nodeset *nodes)
{
	uint64_t *seen = calloc(tree->switches / 64 + 1, sizeof(*seen));
	uint32_t count = 0;

	for (uint32_t n = sl_nodeset_next(nodes, 0); n < SL_MAX_NODES; n = sl_nodeset_next(nodes, n + 1)) {
		uint32_t leaf = tree->leaf_of[n];

		if (leaf != SL_NO_SWITCH && seen && seen[leaf / 64] >> leaf % 64 & 1)
			continue;
		if (leaf != SL_NO_SWITCH && seen)
			seen[leaf / 64] |= UINT64_C(1) << leaf % 64;
		count++;	/* without memory the count is too large */
	}
	free(seen);
	return count;
}

bool sl_tree_has_segments(const struct sl_tree *tree, const struct sl_nodeset *nodes, uint32_t segment)
{
	uint32_t *count = calloc(tree->switches + UINT32_C(1), sizeof(*count)), whole = 0;

	for (uint32_t n = sl_nodeset_next(nodes, 0); count && n < SL_MAX_NODES; n = sl_nodeset_next(nodes, n + 1))
		if (tree->leaf_of[n] != SL_NO_SWITCH)
			whole += ++count[tree->leaf_of[n]] % segment == 0;
	free(count);
	return (uint64_t) whole * segment == nodes->count;	/* without memory the answer is no */
}

void sl_widen(struct sl_space *sp)
{
	sp->offers = sp->wholes;
	memcpy(sp->offer, sp->whole, sp->wholes * sizeof(*sp->offer));
}
