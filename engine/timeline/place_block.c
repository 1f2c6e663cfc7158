/* SPDX-License-Identifier: MIT */
/* place_block.c - blocks of consecutive nodes: the smallest that suffices; and, for a sweep, the longest block while
 * offers change. */
#include "timeline/place_impl.h"

/* -- choosing ---------------------------------------------------------- */

struct window {
	uint32_t first, last;
};

struct bounds {			/* range of the required nodes */
	uint32_t first, last;
};

static uint32_t length(uint32_t first, uint32_t last)
{
	return last - first + 1;
}

static bool alike(const struct sl_space *sp, const struct sl_need *need, uint32_t from, uint32_t to)
{
	const struct sl_offer *a = &sp->offer[sp->spans.at[from].offer];

	for (uint32_t i = from + 1; i < to; i++) {
		const struct sl_offer *b = &sp->offer[sp->spans.at[i].offer];

		if (a->units != b->units)
			return false;
		for (uint32_t j = 0; j < need->jobs; j++) {
			if (a->job[j] != b->job[j])
				return false;
		}
	}
	return true;
}

/* If all nodes of the block offer the same: the lowest nodes that suffice. */
static bool window_alike(const struct sl_space *sp, const struct sl_need *need, uint32_t from, uint32_t to,
			 const struct bounds *req, struct window *w)
{
	const struct sl_offer *o = &sp->offer[sp->spans.at[from].offer];
	uint32_t first = sp->spans.at[from].first, last = sp->spans.at[to - 1].last;
	int64_t n = (need->units + o->units - 1) / o->units;

	if (n < need->min_nodes)
		n = need->min_nodes;
	for (uint32_t j = 0; j < need->jobs; j++) {
		int64_t m = ((int64_t) need->need[need->needs + j].count + o->job[j] - 1) / o->job[j];

		n = m > n ? m : n;
	}
	if (req->first <= req->last) {
		if (n < length(req->first, req->last))
			n = length(req->first, req->last);
		if (n <= req->last && req->last - n + 1 > first)
			first = req->last - (uint32_t) n + 1;
	}
	if (n > need->max_nodes || first + n - 1 > last)
		return false;
	*w = (struct window) { first, first + (uint32_t) n - 1 };
	return true;
}

struct edge {			/* one end of the window: a node, and the span that contains it */
	uint32_t node, span;
};

static const struct sl_offer *at_edge(const struct sl_space *sp, struct edge *e)
{
	while (sp->spans.at[e->span].last < e->node)
		e->span++;
	return &sp->offer[sp->spans.at[e->span].offer];
}

static bool enough(const struct sl_sums *s, const struct sl_need *need)
{
	bool yes = s->nodes >= need->min_nodes && s->units >= need->units;

	for (uint32_t j = 0; j < need->jobs; j++)
		yes &= s->job[j] >= need->need[need->needs + j].count;
	return yes;
}

/* Slide a window over the block.  For each right end, find the shortest window that suffices; keep the shortest of all,
 * the first of equal ones. */
static bool window_mixed(const struct sl_space *sp, const struct sl_need *need, uint32_t from, uint32_t to,
			 const struct bounds *req, struct window *w)
{
	struct edge l = { sp->spans.at[from].first, from }, r = l;
	uint32_t last = sp->spans.at[to - 1].last, best = UINT32_MAX;
	struct sl_sums s = { 0 };

	for (; r.node <= last; r.node++) {
		const struct sl_offer *at = at_edge(sp, &r);

		sl_sums_add(&s, need, at->units, at->job, 1, 0, 1);
		for (; l.node < r.node && l.node < req->first; l.node++) {
			const struct sl_offer *o = at_edge(sp, &l);

			sl_sums_add(&s, need, o->units, o->job, 1, 0, -1);
			if (s.nodes >= need->max_nodes || enough(&s, need))
				continue;
			sl_sums_add(&s, need, o->units, o->job, 1, 0, 1);
			break;
		}
		if (s.nodes <= need->max_nodes && s.nodes < best && enough(&s, need) &&
		    (req->first > req->last || r.node >= req->last)) {
			best = (uint32_t) s.nodes;
			*w = (struct window) { l.node, r.node };
		}
	}
	return best < UINT32_MAX;
}

static int keep_window(struct sl_space *sp, const struct window *w, struct sl_error *err)
{
	sp->chosen.n = 0;
	for (uint32_t i = 0; i < sp->spans.n; i++) {
		const struct sl_span *s = &sp->spans.at[i];
		uint32_t first = s->first > w->first ? s->first : w->first;
		uint32_t last = s->last < w->last ? s->last : w->last;

		if (first <= last && sl_spans_push(&sp->chosen, first, last, s->offer, err))
			return -1;
	}
	return 0;
}

static int gather_spans(struct sl_space *sp, struct sl_error *err)
{
	sp->spans.n = 0;
	for (uint32_t i = 0; i < sp->offers; i++) {
		const struct sl_nodeset *s = sp->offer[i].nodes;

		for (uint32_t r = 0; r < s->runs; r++) {
			if (sl_spans_push(&sp->spans, s->run[r].first, s->run[r].last, i, err))
				return -1;
		}
	}
	return sl_spans_sort(&sp->spans, &sp->sorted, err);
}

int sl_choose_block(struct sl_space *sp, const struct sl_need *need, struct sl_misfit *misfit,
		    struct sl_error *err)
{
	const struct sl_nodeset *required = need->r->required;
	struct bounds req = { SL_MAX_NODES, 0 };
	uint32_t best = UINT32_MAX, longest = 0;
	struct window chosen = { 0, 0 };

	if (gather_spans(sp, err))
		return -1;
	if (required && required->count)
		req = (struct bounds) { required->run[0].first, required->run[required->runs - 1].last };
	for (uint32_t from = 0, to; from < sp->spans.n; from = to) {
		uint32_t first = sp->spans.at[from].first, size;
		struct window w;

		for (to = from + 1; to < sp->spans.n && sp->spans.at[to].first == sp->spans.at[to - 1].last + 1; to++)
			;
		size = length(first, sp->spans.at[to - 1].last);
		longest = size > longest ? size : longest;
		if (size >= best || size < need->min_nodes ||
		    (req.first <= req.last && (first > req.first || sp->spans.at[to - 1].last < req.last)))
			continue;
		if (alike(sp, need, from, to) ? window_alike(sp, need, from, to, &req, &w) :
						window_mixed(sp, need, from, to, &req, &w)) {
			best = size;
			chosen = w;
		}
	}
	if (best < UINT32_MAX)
		return keep_window(sp, &chosen, err) ? -1 : 1;
	return sl_refuse(misfit, SL_LACK_BLOCK, need->min_nodes, longest);
}

/* -- a tree of blocks, for sweeping ------------------------------------ */

static struct sl_block join(const struct sl_block *a, const struct sl_block *b)
{
	struct sl_block c;
	bool touch;

	if (a->first > a->last)
		return *b;
	if (b->first > b->last)
		return *a;
	touch = a->last + 1 == b->first;
	c = (struct sl_block) { .first = a->first, .last = b->last, .pre = a->pre, .suf = b->suf,
				.pre_units = a->pre_units, .suf_units = b->suf_units };
	if (touch && a->pre == length(a->first, a->last)) {
		c.pre += b->pre;
		c.pre_units += b->pre_units;
	}
	if (touch && b->suf == length(b->first, b->last)) {
		c.suf += a->suf;
		c.suf_units += a->suf_units;
	}
	c.best = a->best > b->best ? a->best : b->best;
	c.best_units = a->best_units > b->best_units ? a->best_units : b->best_units;
	if (touch && a->suf + b->pre > c.best)
		c.best = a->suf + b->pre;
	if (touch && a->suf_units + b->pre_units > c.best_units)
		c.best_units = a->suf_units + b->pre_units;
	return c;
}

static void set_leaf(struct sl_block *b, uint32_t units)
{
	uint32_t n = units ? length(b->first, b->last) : 0;

	b->pre = b->suf = b->best = n;
	b->pre_units = b->suf_units = b->best_units = (int64_t) n * units;
}

/* The leaves of the tree are the runs of all cursors, in node order. */
int sl_blocks_begin(struct sl_space *sp, struct sl_error *err)
{
	uint32_t leaves = 1, n = 0;

	sp->spans.n = 0;
	for (uint32_t c = 0; c < sp->cursors; c++) {
		const struct sl_nodeset *s = sp->cursor[c].nodes;

		sp->cursor[c].leaf = n;
		n += s->runs;
		for (uint32_t r = 0; r < s->runs; r++) {
			if (sl_spans_push(&sp->spans, s->run[r].first, s->run[r].last, c, err))
				return -1;
		}
	}
	while (leaves < n)
		leaves *= 2;
	if (sl_spans_sort(&sp->spans, &sp->sorted, err) ||
	    sl_grow(&sp->leaf, &sp->leaf_room, n, sizeof(*sp->leaf), err) ||
	    sl_grow(&sp->tree, &sp->tree_room, 2 * (uint64_t) leaves, sizeof(*sp->tree), err))
		return -1;
	sp->leaves = leaves;
	for (uint32_t i = 0; i < leaves; i++) {
		struct sl_block *b = &sp->tree[leaves + i];

		*b = (struct sl_block) { .first = 1, .last = 0 };
		if (i < n) {
			struct sl_cursor *c = &sp->cursor[sp->spans.at[i].offer];

			b->first = sp->spans.at[i].first;
			b->last = sp->spans.at[i].last;
			set_leaf(b, c->now.units);
			sp->leaf[c->leaf++] = i;
		}
	}
	for (uint32_t c = 0; c < sp->cursors; c++)
		sp->cursor[c].leaf -= sp->cursor[c].nodes->runs;
	for (uint32_t i = leaves; i-- > 1;)
		sp->tree[i] = join(&sp->tree[2 * i], &sp->tree[2 * i + 1]);
	return 0;
}

void sl_blocks_set(struct sl_space *sp, uint32_t cursor, uint32_t units)
{
	const struct sl_cursor *c = &sp->cursor[cursor];

	for (uint32_t r = 0; r < c->nodes->runs; r++) {
		uint32_t i = sp->leaves + sp->leaf[c->leaf + r];

		set_leaf(&sp->tree[i], units);
		while (i /= 2)
			sp->tree[i] = join(&sp->tree[2 * i], &sp->tree[2 * i + 1]);
	}
}

bool sl_blocks_plausible(const struct sl_space *sp, const struct sl_need *need)
{
	return sp->tree[1].best >= need->min_nodes && sp->tree[1].best_units >= need->units;
}
