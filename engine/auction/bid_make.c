/* SPDX-License-Identifier: MIT */
/*
 * bid_make.c - bids of kinds A, B and C.
 *
 * A job's bids are taken in turn, three of kind A, one of B, one of C, and so on until
 * it has as many as it may: so that each kind is there even with few bids.  Kind A goes
 * through the nodesets that suffice, smallest first, and takes their beginning and their
 * end.  B cuts large nodesets into tiles of the job's size, and begins with another tile
 * for each job, so that bids of several jobs lie beside each other more often than on
 * each other.  C combines as few neighbouring nodesets as suffice.
 */
#include "auction/bid_impl.h"

#include <string.h>

/* -- the nodes of a candidate ------------------------------------------- */

static int add_nodes(struct candidate *c, const struct piece *p, uint32_t first, uint32_t last, struct sl_error *err)
{
	if (sl_grow(&c->piece, &c->room, (uint64_t) c->pieces + 1, sizeof(*c->piece), err) < 0)
		return -1;
	c->piece[c->pieces++] = (struct piece) { first, last, p->cls, p->units };
	c->nodes += last - first + 1;
	c->units += (int64_t) p->units * (last - first + 1);
	return 0;
}

static void clear_candidate(struct candidate *c, enum sl_bid_kind kind, uint32_t sets)
{
	c->kind = kind;
	c->sets = sets;
	c->pieces = 0;
	c->nodes = c->units = 0;
}

/* Nodes of so many units that the need still wants; at least 1. */
static int64_t nodes_wanted(const struct sl_need *need, const struct candidate *c, uint32_t units)
{
	int64_t nodes = (int64_t) need->min_nodes - c->nodes, rest = need->units - c->units;
	int64_t n = rest > 0 ? (rest + units - 1) / units : 0;

	n = n > nodes ? n : nodes;
	return n > 1 ? n : 1;
}

static bool is_satisfied(const struct sl_need *need, const struct candidate *c)
{
	return c->nodes >= need->min_nodes && c->units >= need->units;
}

/* The fewest nodes of a block from *from* upwards. */
static int take_up(const struct bidder *b, const struct stretch *k, uint32_t from, struct candidate *c,
		   struct sl_error *err)
{
	const struct piece *p = &b->profile->piece[k->piece];

	for (uint32_t i = 0; i < k->pieces && !is_satisfied(&b->need, c); i++, p++) {
		uint32_t first = p->first > from ? p->first : from;
		int64_t n = nodes_wanted(&b->need, c, p->units);

		if (p->last < from)
			continue;
		if (n > p->last - first + 1)
			n = p->last - first + 1;
		if (add_nodes(c, p, first, first + (uint32_t) n - 1, err) < 0)
			return -1;
	}
	return 0;
}

static void reverse_pieces(struct piece *p, uint32_t n)
{
	for (uint32_t i = 0; i < n / 2; i++) {
		struct piece swap = p[i];

		p[i] = p[n - 1 - i];
		p[n - 1 - i] = swap;
	}
}

/* The fewest nodes of a block from its end downwards. */
static int take_down(const struct bidder *b, const struct stretch *k, struct candidate *c, struct sl_error *err)
{
	const struct piece *p = &b->profile->piece[k->piece + k->pieces];
	uint32_t begin = c->pieces;

	for (uint32_t i = 0; i < k->pieces && !is_satisfied(&b->need, c); i++) {
		int64_t n;

		p--;
		n = nodes_wanted(&b->need, c, p->units);
		if (n > p->last - p->first + 1)
			n = p->last - p->first + 1;
		if (add_nodes(c, p, p->last - (uint32_t) n + 1, p->last, err) < 0)
			return -1;
	}
	reverse_pieces(c->piece + begin, c->pieces - begin);
	return 0;
}

/* -- from nodes to a bid ------------------------------------------------ */

static bool has_required(const struct bidder *b, const struct candidate *c)
{
	const struct sl_nodeset *required = b->request.required;
	uint32_t found = 0;

	if (!required || !required->count)
		return true;
	for (uint32_t i = 0; i < c->pieces; i++) {
		for (uint32_t r = sl_nodeset_find(required, c->piece[i].first); r < required->runs; r++) {
			uint32_t first = required->run[r].first, last = required->run[r].last;

			if (first > c->piece[i].last)
				break;
			first = first > c->piece[i].first ? first : c->piece[i].first;
			last = last < c->piece[i].last ? last : c->piece[i].last;
			found += last - first + 1;
		}
	}
	return found == required->count;
}

/* Make the candidate a bid, if it is one.  1: it is, 0, -1. */
static int submit_candidate(struct bidder *b, const struct candidate *c, struct sl_error *err)
{
	if (!is_satisfied(&b->need, c) || c->nodes > b->need.max_nodes || !has_required(b, c))
		return 0;
	if (sl_chosen_begin(b->e.tl, err) < 0)
		return -1;
	for (uint32_t i = 0; i < c->pieces; i++) {
		const struct piece *p = &c->piece[i];
		const struct view_class *v = &b->view->cls[p->cls];

		if (sl_chosen_add(b->e.tl, &b->need, p->first, p->last, v->number, &v->free, p->units, err) < 0)
			return -1;
	}
	/* Where the number of nodes is given, each gets the same: that leaves the same on each. */
	if (sl_deal(b->e.tl, &b->need, !b->elastic, &b->m->layout, err) < 0)
		return -1;
	return bidder_keep(b, c->kind, c->sets, 0, err);
}

/* -- which nodesets ----------------------------------------------------- */

/* Put it into a list of at most *most*, sorted. */
static int keep_ranked(struct ranked **list, uint32_t *count, uint32_t *room, uint32_t most, struct ranked r,
		       struct sl_error *err)
{
	uint32_t i;

	if (*count == most && (*list)[*count - 1].key <= r.key)
		return 0;
	if (*count < most) {
		if (sl_grow(list, room, (uint64_t) *count + 1, sizeof(r), err) < 0)
			return -1;
		(*count)++;
	}
	for (i = *count - 1; i && (*list)[i - 1].key > r.key; i--)
		(*list)[i] = (*list)[i - 1];
	(*list)[i] = r;
	return 0;
}

/* Blocks that suffice by themselves. */
static int rank_blocks(struct bidder *b, struct sl_error *err)
{
	struct sl_market *m = b->m;
	const struct profile *p = b->profile;

	m->tights = 0;
	if (p->longest < b->need.min_nodes)
		return 0;
	for (uint32_t i = 0; i < p->blocks; i++) {
		const struct stretch *k = &p->block[i];
		uint32_t nodes = k->last - k->first + 1;
		struct ranked r = { i, i, nodes };

		if (nodes >= b->need.min_nodes && k->units >= b->need.units &&
		    keep_ranked(&m->tight, &m->tights, &m->tight_room, b->left, r, err) < 0)
			return -1;
	}
	return 0;
}

/* Neighbouring blocks of which none could be left out at either end; few are better, and
 * then close ones. */
static int rank_chains(struct bidder *b, struct sl_error *err)
{
	struct sl_market *m = b->m;
	const struct stretch *k = b->profile->block;
	int64_t nodes = 0, units = 0;

	m->chains = 0;
	for (uint32_t from = 0, to = 0; to < b->profile->blocks; to++) {
		nodes += k[to].last - k[to].first + 1;
		units += k[to].units;
		for (;; from++) {
			int64_t n = k[from].last - k[from].first + 1;

			if (nodes - n < b->need.min_nodes || units - k[from].units < b->need.units)
				break;
			nodes -= n;
			units -= k[from].units;
		}
		if (to > from && nodes >= b->need.min_nodes && units >= b->need.units) {
			struct ranked r = { from, to, (uint64_t) (to - from) << 32 | (k[to].last - k[from].first) };

			if (keep_ranked(&m->chain, &m->chains, &m->chain_room, b->left, r, err) < 0)
				return -1;
		}
	}
	return 0;
}

/* -- the kinds ---------------------------------------------------------- */

/* The nth bid of kind A; 0 when there is none, -1 with *err, else 1 and *c. */
static int make_a(struct bidder *b, uint32_t n, struct candidate *c, struct sl_error *err)
{
	const struct stretch *k;

	if (n / 2 >= b->m->tights)
		return 0;
	k = &b->profile->block[b->m->tight[n / 2].from];
	clear_candidate(c, SL_BID_A, 1);
	return (n % 2 ? take_down(b, k, c, err) : take_up(b, k, k->first, c, err)) < 0 ? -1 : 1;
}

/* Nodes that the job would take at the beginning of the block. */
static int64_t nodes_at_begin(struct bidder *b, const struct stretch *k, struct candidate *c, struct sl_error *err)
{
	clear_candidate(c, SL_BID_B, 1);
	return take_up(b, k, k->first, c, err) < 0 ? -1 : c->nodes;
}

/* Where the nth tile of the block begins, first < it < end; 0: there is none. */
static uint32_t begin_of_tile(const struct bidder *b, const struct stretch *k, int64_t nodes, uint32_t n)
{
	const struct sl_nodeset *required = b->request.required;
	uint32_t spare = k->last - k->first + 1 - (uint32_t) nodes, tiles;

	if (required && required->count) {
		uint32_t last = required->run[required->runs - 1].last, at;

		at = last + 1 > k->first + nodes ? last + 1 - (uint32_t) nodes : k->first;
		return n || at == k->first ? 0 : at;
	}
	if (spare < 2)
		return 0;
	tiles = spare / (uint32_t) nodes;
	if (!tiles)		/* less than another one beside it: its middle */
		return n ? 0 : k->first + spare / 2;
	return n < tiles ? k->first + (uint32_t) nodes * (1 + (b->number + n) % tiles) : 0;
}

/* The nth of kind B: tiles of the largest block ranked, then of the next. */
static int make_b(struct bidder *b, uint32_t *block, uint32_t *n, struct candidate *c, struct sl_error *err)
{
	while (*block < b->m->tights) {
		const struct stretch *k = &b->profile->block[b->m->tight[b->m->tights - 1 - *block].from];
		int64_t nodes = nodes_at_begin(b, k, c, err);
		uint32_t at;

		if (nodes < 0)
			return -1;
		at = nodes <= b->need.max_nodes ? begin_of_tile(b, k, nodes, (*n)++) : 0;
		if (at) {
			clear_candidate(c, SL_BID_B, 1);
			return take_up(b, k, at, c, err) < 0 ? -1 : 1;
		}
		(*block)++;
		*n = 0;
	}
	return 0;
}

/* The nth bid of kind C, which takes a chain of blocks of nodes.  For even n the blocks are filled from the first on, each from
 * its first node on, so that only the last block is left partly free, at its end.  For odd n the blocks are filled from
 * the last one back, each from its last node.  Returns as make_a(). */
static int make_c(struct bidder *b, uint32_t n, struct candidate *c, struct sl_error *err)
{
	const struct stretch *k = b->profile->block;
	const struct ranked *r;

	if (n / 2 >= b->m->chains)
		return 0;
	r = &b->m->chain[n / 2];
	clear_candidate(c, SL_BID_C, r->to - r->from + 1);
	if (n % 2 == 0) {
		for (uint32_t i = r->from; i <= r->to; i++)
			if (take_up(b, &k[i], k[i].first, c, err) < 0)
				return -1;
		return 1;
	}
	for (uint32_t i = r->to + 1; i-- > r->from; ) {
		uint32_t begin = c->pieces;

		if (take_down(b, &k[i], c, err) < 0)
			return -1;
		/* in node order at the end, when all is reversed block by block */
		reverse_pieces(c->piece + begin, c->pieces - begin);
	}
	reverse_pieces(c->piece, c->pieces);
	return 1;
}

/* -- elastic bids ------------------------------------------------------- */

/* May it have any number of cores on any number of nodes?  Not where less becomes free while
 * it runs: one row could not say what is left for it then. */
static bool is_elastic(const struct bidder *b)
{
	const struct sl_need *n = &b->need;

	for (uint32_t i = 0; i < n->needs; i++)
		if (n->need[i].per == SL_GRES_PER_TASK)
			return false;
	return b->opt->elastic && b->elastic && !b->view->level && !b->block && !n->whole && !b->request.required &&
		b->e.tl == sl_cluster_timeline(b->m->c) && n->core_units == 1 && n->once == 1 &&
		!b->request.memory_per_core;
}

/* The whole blocks from..to, of which each node gives at least the least. */
static int submit_whole(struct bidder *b, uint32_t from, uint32_t to, struct sl_error *err)
{
	const struct stretch *k = b->profile->block;
	int64_t nodes = 0, units = 0;

	sl_layout_clear(&b->m->layout);
	for (uint32_t i = from; i <= to; i++) {
		nodes += k[i].last - k[i].first + 1;
		units += k[i].units;
	}
	if (nodes > b->need.max_nodes || nodes * b->need.least > b->need.units || units < b->need.units)
		return 0;
	for (uint32_t i = k[from].piece; i < k[to].piece + k[to].pieces; i++) {
		const struct piece *p = &b->profile->piece[i];
		const struct view_class *v = &b->view->cls[p->cls];
		struct sl_resources each;

		if (!sl_need_amounts(&b->need, &v->kind->capacity, &v->free, b->need.least, NULL, &each))
			return 0;
		if (sl_layout_add(&b->m->layout, p->first, p->last, 0, &each, err) < 0)
			return -1;
	}
	return bidder_keep(b, SL_BID_C, to - from + 1, b->need.units * b->need.unit_cores, err);
}

/* The tightest nodeset that suffices with the one after it, the one before it, and both;
 * or the chains that suffice, with all of their nodes. */
static int make_elastic(struct bidder *b, struct sl_error *err)
{
	uint32_t last = b->profile->blocks - 1, most = b->m->tights ? b->m->tights : b->m->chains;

	for (uint32_t i = 0; i < most && b->left; i++) {
		const struct ranked *r = b->m->tights ? &b->m->tight[i] : &b->m->chain[i];
		uint32_t before = r->from ? r->from - 1 : 0, after = r->to < last ? r->to + 1 : last;
		const uint32_t try[][2] = { { r->from, after }, { before, r->to }, { before, after } };

		for (uint32_t k = 0; k < 3 && b->left; k++) {
			int rc = try[k][0] < try[k][1] ? submit_whole(b, try[k][0], try[k][1], err) : 0;

			if (rc < 0)
				return -1;
			b->left -= rc;
			if (rc)
				return 0;	/* one is enough: it reaches wide */
		}
	}
	return 0;
}

/* -- in turn ------------------------------------------------------------ */

struct turns {
	uint32_t a, b_block, b_tile, c;
	bool done[SL_BID_KINDS];
};

static int next_of(struct bidder *b, enum sl_bid_kind kind, struct turns *t, struct candidate *c,
		   struct sl_error *err)
{
	switch (kind) {
	case SL_BID_A:
		return make_a(b, t->a++, c, err);
	case SL_BID_B:
		return make_b(b, &t->b_block, &t->b_tile, c, err);
	default:
		return make_c(b, t->c++, c, err);
	}
}

/* One more bid of a kind, if there is one that the job does not have yet. */
static int one_more(struct bidder *b, enum sl_bid_kind kind, struct turns *t, struct sl_error *err)
{
	struct candidate *c = &b->m->candidate;
	int rc;

	while (!t->done[kind]) {
		rc = next_of(b, kind, t, c, err);
		if (rc < 0)
			return -1;
		t->done[kind] = !rc;
		rc = rc ? submit_candidate(b, c, err) : 0;
		if (rc)
			return rc;
	}
	return 0;
}

/* By the first that fits of those of its variants that are not left to select. */
static int fit_exactly(struct bidder *b, const struct sl_how *how, struct sl_error *err)
{
	const struct sl_want *w = b->e.want;
	int64_t now = sl_timeline_now(b->e.tl);
	int rc = 0;

	if (!w->many_sets && !w->many_counts)
		return sl_fit_at(b->e.tl, &b->request, how, now, &b->m->layout, NULL, err);
	for (uint32_t i = 0; !rc && i < w->variants; i++) {
		const struct sl_variant *v = &w->variant[i];
		struct sl_request r = v->request;

		r.duration = b->request.duration;
		if (!w->many_sets)
			r.eligible = b->request.eligible;
		if (v->now && !v->select && now >= v->from && now < v->until)
			rc = sl_fit_at(b->e.tl, &r, how, now, &b->m->layout, NULL, err);
	}
	return rc;
}

/* gres for the job as a whole, nodes of one kind or another, few switches, segments: what the methods find. */
static int make_by_methods(struct bidder *b, struct sl_error *err)
{
	static const struct {
		enum sl_place_method method;
		enum sl_bid_kind kind;
	} try[] = { { SL_PLACE_CONTIGUOUS, SL_BID_A }, { SL_PLACE_PACK, SL_BID_C }, { SL_PLACE_SPREAD, SL_BID_C } };

	for (uint32_t i = 0; i < sizeof(try) / sizeof(try[0]) && b->left; i++) {
		struct sl_how how = { .method = try[i].method };
		int rc;

		if (!(b->opt->kinds >> try[i].kind & 1) || (b->block && i))
			continue;
		rc = fit_exactly(b, &how, err);
		if (rc > 0)
			rc = bidder_keep(b, try[i].kind, 1, 0, err);
		if (rc < 0)
			return -1;
		b->left -= rc;
	}
	return 0;
}

int bidder_wake(struct bidder *b, struct sl_error *err)
{
	struct sl_how how = { .method = SL_PLACE_BESTFIT };
	int rc;

	b->request.duration = sl_later(b->request.duration, b->e.want->boots);
	rc = fit_exactly(b, &how, err);
	if (rc > 0)
		rc = bidder_keep(b, SL_BID_A, 1, 0, err);
	if (rc < 0)
		return -1;
	b->left -= rc;
	return 0;
}

int bidder_make(struct bidder *b, struct sl_error *err)
{
	static const enum sl_bid_kind turn[] = { SL_BID_A, SL_BID_A, SL_BID_A, SL_BID_B, SL_BID_C };
	struct turns t = { 0 };
	uint32_t fruitless = 0;

	if (b->need.jobs || b->e.want->many_sets || b->e.want->many_counts || b->request.max_leaves || b->request.segment)
		return make_by_methods(b, err);
	b->view = market_view(b->m, b->e.tl, b->request.duration, err);
	b->profile = b->view ? market_profile(b->m, b->view, &b->need, err) : NULL;
	if (!b->profile || view_nodesets(b->view, err) < 0 || rank_blocks(b, err) < 0)
		return -1;
	for (int kind = SL_BID_A; kind <= SL_BID_C; kind++)
		t.done[kind] = !(b->opt->kinds >> kind & 1) || (kind == SL_BID_C && b->block);
	b->m->chains = 0;
	if (!t.done[SL_BID_C] && rank_chains(b, err) < 0)
		return -1;
	if (!t.done[SL_BID_C] && b->left > 1 && is_elastic(b) && b->profile->blocks && make_elastic(b, err) < 0)
		return -1;
	for (uint32_t i = 0; b->left && fruitless < sizeof(turn) / sizeof(turn[0]); i++) {
		int rc = one_more(b, turn[i % (sizeof(turn) / sizeof(turn[0]))], &t, err);

		if (rc < 0)
			return -1;
		b->left -= rc;
		fruitless = rc ? 0 : fruitless + 1;
	}
	return 0;
}
