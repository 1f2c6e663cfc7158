/* SPDX-License-Identifier: MIT */
/*
 * place_segments.c - choosing blocks (leaf switches), and how many segments of each.
 *
 * A block has room for a number of segments (of nodes, if no segment is asked for).  Using a block of which something is in
 * use costs nothing; using a whole block breaks it.  Within each of these two groups the blocks with the most room come
 * first, so only the number taken of each group has to be searched: no other choice of these numbers has more room.
 */
#include "timeline/place_impl.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"

struct search {
	struct sl_timeline *tl;
	struct sl_space *sp;
	const struct sl_need *need;
	uint32_t weight;		/* heavier nodes are not used, */
	uint32_t units;			/* nor nodes that can take fewer units */
	uint32_t segment;		/* nodes of a segment; 1: no segments */
	bool few;			/* minimise the number of blocks first, then of broken ones; false: the other way
					 * round */
	int64_t wanted;			/* segments still needed */
	uint32_t used, all;		/* sp->open has *used* blocks in use, then whole ones, *all* together */
	uint32_t take_used, take_whole;
};

/* -- blocks -------------------------------------------------------------- */

static int measure_blocks(struct search *s, struct sl_error *err)
{
	const struct sl_tree *tree = s->tl->tree;
	struct sl_space *sp = s->sp;

	if (sl_grow(&sp->lot, &sp->lot_room, tree->switches, sizeof(*sp->lot), err) ||
	    sl_grow(&sp->open, &sp->open_room, tree->switches, sizeof(*sp->open), err) ||
	    sl_grow(&sp->seat, &sp->seat_room, s->tl->nodes, sizeof(*sp->seat), err))
		return -1;
	memset(sp->lot, 0, tree->switches * sizeof(*sp->lot));
	for (uint32_t n = 0; n < s->tl->nodes; n++)
		if (tree->leaf_of[n] != SL_NO_SWITCH)
			sp->lot[tree->leaf_of[n]].size++;
	return 0;
}

static bool is_idle(const struct search *s, const struct sl_offer *o)
{
	return sl_resources_equal(&o->free, &s->tl->kind[s->tl->class[o->class].kind].capacity);
}

static bool will_do(const struct search *s, const struct sl_offer *o)
{
	return o->units >= s->units && o->weight <= s->weight;
}

static bool is_required(const struct search *s, uint32_t node)
{
	return s->need->r->required && sl_nodeset_contains(s->need->r->required, node);
}

static void fill_blocks(struct search *s)
{
	struct sl_space *sp = s->sp;

	for (uint32_t l = 0; l < s->tl->tree->switches; l++)
		sp->lot[l] = (struct sl_lot) { .number = l, .size = sp->lot[l].size };
	for (uint32_t i = 0; i < sp->offers; i++) {
		const struct sl_offer *o = &sp->offer[i];
		bool idle = is_idle(s, o);

		if (!will_do(s, o))
			continue;
		for (uint32_t n = sl_nodeset_next(o->nodes, 0); n < SL_MAX_NODES; n = sl_nodeset_next(o->nodes, n + 1)) {
			uint32_t leaf = s->tl->tree->leaf_of[n];

			if (leaf == SL_NO_SWITCH)
				continue;
			sp->lot[leaf].nodes++;
			sp->lot[leaf].idle += idle;
			sp->lot[leaf].required += is_required(s, n);
		}
	}
}

/* -- which ---------------------------------------------------------------- */

/* Order: blocks in use, then most room, then fewest nodes. */
static int by_rank(const void *x, const void *y)
{
	const struct sl_lot *a = x, *b = y;

	return SL_ORDER(a->whole, b->whole) ?: SL_ORDER(b->room, a->room) ?: SL_ORDER(a->nodes, b->nodes) ?:
		SL_ORDER(a->number, b->number);
}

static void take_segments(struct search *s, struct sl_lot *open, uint32_t segments)
{
	s->sp->lot[open->number].taken += segments;
	open->room -= segments;
	s->wanted -= segments;
}

/* Take the required nodes and the rest of their segments.  False if they do not fit. */
static bool take_required(struct search *s)
{
	struct sl_space *sp = s->sp;
	uint32_t required = 0;

	if (!s->need->r->required)
		return true;
	for (uint32_t i = 0; i < s->all; i++) {
		struct sl_lot *open = &sp->open[i];
		uint32_t segments = (open->required + s->segment - 1) / s->segment;

		required += open->required;
		if (segments > open->room || segments > s->wanted)
			return false;
		take_segments(s, open, segments);
	}
	for (uint32_t i = 0; i < s->all; i++)
		if (sp->open[i].required)
			take_segments(s, &sp->open[i], sp->open[i].room < s->wanted ? sp->open[i].room : (uint32_t) s->wanted);
	return required == s->need->r->required->count;
}

static bool rank_blocks(struct search *s)
{
	struct sl_space *sp = s->sp;

	s->all = s->used = 0;
	for (uint32_t l = 0; l < s->tl->tree->switches; l++) {
		struct sl_lot *lot = &sp->lot[l];

		lot->room = lot->nodes / s->segment;
		lot->whole = lot->idle == lot->size;
		if (lot->nodes)
			sp->open[s->all++] = *lot;
	}
	if (!take_required(s))
		return false;
	qsort(sp->open, s->all, sizeof(*sp->open), by_rank);
	while (s->used < s->all && !sp->open[s->used].whole)
		s->used++;
	return true;
}

/* Find how many blocks of each group to take.  Returns their total room; 0 if all blocks together have too little. */
static int64_t count_blocks(struct search *s)
{
	const struct sl_lot *open = s->sp->open;
	uint32_t used = s->used, best = UINT32_MAX;
	int64_t sum = 0, room = 0;

	for (uint32_t i = 0; i < used; i++)
		sum += open[i].room;
	for (uint32_t whole = 0; whole <= s->all - s->used; whole++) {
		sum += whole ? open[s->used + whole - 1].room : 0;
		while (used && sum - open[used - 1].room >= s->wanted)
			sum -= open[--used].room;
		if (sum < s->wanted || used + whole >= best)
			continue;
		best = used + whole;
		s->take_used = used;
		s->take_whole = whole;
		room = sum;
		if (!s->few)
			break;
	}
	return room;
}

/* Among the first *count* blocks of a group, replace the last by the smallest one that suffices, if *slack* segments of
 * room can be given up. */
static void tighten_last(struct sl_lot *sort, uint32_t count, uint32_t all, int64_t *slack)
{
	struct sl_lot last;
	uint32_t best;

	if (!count)
		return;
	best = count - 1;
	for (uint32_t i = count; i < all && sort[count - 1].room - sort[i].room <= *slack; i++)
		if (sort[i].room < sort[best].room)
			best = i;
	*slack -= sort[count - 1].room - sort[best].room;
	last = sort[count - 1];
	sort[count - 1] = sort[best];
	sort[best] = last;
}

/* Set the number of segments taken from each block.  False if they do not fit. */
static bool share_out(struct search *s)
{
	struct sl_lot *open = s->sp->open, *whole;
	int64_t slack;

	if (!rank_blocks(s))
		return false;
	if (!s->wanted)
		return true;
	slack = count_blocks(s) - s->wanted;
	if (slack < 0)
		return false;
	whole = open + s->used;
	tighten_last(open, s->take_used, s->used, &slack);
	tighten_last(whole, s->take_whole, s->all - s->used, &slack);
	/* the unneeded room is left in the last block: without that block the room does not suffice */
	for (uint32_t i = 0; i < s->take_used; i++)
		take_segments(s, &open[i], open[i].room - (!s->take_whole && i + 1 == s->take_used ? (uint32_t) slack : 0));
	for (uint32_t i = 0; i < s->take_whole; i++)
		take_segments(s, &whole[i], whole[i].room - (i + 1 == s->take_whole ? (uint32_t) slack : 0));
	return true;
}

/* -- nodes ---------------------------------------------------------------- */

/* Order within a block: as any method does, nodes in use before idle ones. */
static int by_seat(const void *x, const void *y)
{
	const struct sl_seat *a = x, *b = y;

	return SL_ORDER(a->lot, b->lot) ?: SL_ORDER(b->required, a->required) ?: SL_ORDER(a->key, b->key) ?:
		SL_ORDER(a->weight, b->weight) ?: SL_ORDER(a->key2, b->key2) ?: SL_ORDER(a->node, b->node);
}

static uint32_t seat_nodes(struct search *s, int64_t t)
{
	const struct sl_picker p = { .sp = s->sp, .need = s->need };
	struct sl_space *sp = s->sp;
	uint32_t seats = 0;

	sl_rank_offers(s->tl, &p, SL_PLACE_PACK, t);
	for (uint32_t i = 0; i < sp->offers; i++) {
		const struct sl_offer *o = &sp->offer[i];

		if (!will_do(s, o))
			continue;
		for (uint32_t n = sl_nodeset_next(o->nodes, 0); n < SL_MAX_NODES; n = sl_nodeset_next(o->nodes, n + 1)) {
			uint32_t leaf = s->tl->tree->leaf_of[n];

			if (leaf != SL_NO_SWITCH && sp->lot[leaf].taken)
				sp->seat[seats++] = (struct sl_seat) { .lot = leaf, .node = n, .offer = i, .weight = o->weight,
					.required = is_required(s, n), .key = o->key, .key2 = o->key2 };
		}
	}
	qsort(sp->seat, seats, sizeof(*sp->seat), by_seat);
	return seats;
}

/* 1; 0 if the nodes have too few gres of the job; -1 with *err. */
static int choose_seats(struct search *s, int64_t t, struct sl_error *err)
{
	struct sl_space *sp = s->sp;
	struct sl_sums sums = { 0 };
	uint32_t seats = seat_nodes(s, t), of_lot = 0;

	sp->chosen.n = 0;
	for (uint32_t i = 0; i < seats; i++) {
		const struct sl_seat *seat = &sp->seat[i];
		const struct sl_offer *o = &sp->offer[seat->offer];

		of_lot = i && seat[-1].lot == seat->lot ? of_lot + 1 : 0;
		if (of_lot >= sp->lot[seat->lot].taken * s->segment)
			continue;
		sl_sums_add(&sums, s->need, o->units, o->job, 1, seat->required, 1);
		if (sl_spans_push(&sp->chosen, seat->node, seat->node, seat->offer, err))
			return -1;
	}
	if (sl_sums_lack(&sums, s->need) != SL_LACK_NOTHING)
		return 0;
	return sl_spans_sort(&sp->chosen, &sp->sorted, err) ? -1 : 1;
}

/* -- how many -------------------------------------------------------------- */

static int64_t divide_up(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

/* Try numbers of nodes from the smallest on; each larger one reduces the units per node. */
static int choose_number(struct search *s, int64_t t, struct sl_error *err)
{
	const struct sl_need *need = s->need;
	int64_t most = 0, nodes;

	for (uint32_t i = 0; i < s->sp->offers; i++)
		most += s->sp->offer[i].nodes->count;
	most = most < need->max_nodes ? most : need->max_nodes;
	nodes = divide_up(need->min_nodes > 1 ? need->min_nodes : 1, s->segment) * s->segment;
	while (nodes <= most) {
		uint32_t part = (uint32_t) divide_up(need->units, nodes);
		int rc = 0;

		s->units = part > need->least ? part : need->least;
		s->wanted = nodes / s->segment;
		if (sl_effort_spend(s->tl->effort, 3 * (uint64_t) s->tl->nodes, err))
			return -1;
		fill_blocks(s);
		if (share_out(s))
			rc = choose_seats(s, t, err);
		if (rc || part <= need->least || part <= 1)
			return rc;
		nodes = divide_up(divide_up(need->units, part - 1), s->segment) * s->segment;
	}
	return 0;
}

int sl_choose_in_blocks(struct sl_timeline *tl, const struct sl_need *need, int64_t t, struct sl_misfit *misfit,
			struct sl_error *err)
{
	struct search s = { .tl = tl, .sp = tl->space, .need = need, .weight = sl_heaviest(tl->space, need),
			    .segment = need->segment ? need->segment : 1, .few = !need->segment };
	int rc;

	if (measure_blocks(&s, err))
		return -1;
	rc = choose_number(&s, t, err);
	if (!rc && s.weight < UINT32_MAX && need->segment) {
		s.weight = UINT32_MAX;
		rc = choose_number(&s, t, err);
	}
	return rc ? rc : sl_refuse(misfit, SL_LACK_SEGMENTS, need->min_nodes, need->segment);
}
