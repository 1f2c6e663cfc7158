/* SPDX-License-Identifier: MIT */
/*
 * place_sets.c - bestfit's sets of consecutive nodes, found in a sheet.
 *
 * The search is for the tightest set that suffices, or for the largest one.  Each word of 64 nodes and each chapter of 64
 * words keeps the fewest cores and the most units of the sets that begin in it.  Words and chapters that cannot have a better
 * set than the best so far are skipped.  A word whose sets have changed is computed again.
 */
#include "timeline/place_sheet.h"

/* If more sets would be needed, all sets are sorted instead. */
#define MOST_SETS 16

/* -- walking along nodes -------------------------------------------------- */

/* The first node from *n* on that offers something; beyond *last* if there is none. */
static uint32_t next_offering(const struct sl_sheet *t, uint32_t n, uint32_t last)
{
	uint32_t w = n / SL_WORD;
	uint64_t bits = t->word[w].offers >> n % SL_WORD << n % SL_WORD;

	while (!bits && ++w <= last / SL_WORD)
		bits = t->word[w].offers;
	return bits ? w * SL_WORD + (uint32_t) __builtin_ctzll(bits) : SL_MAX_NODES;
}

/* The last node of the set that begins at *n*. */
static uint32_t end_of_set(const struct sl_sheet *t, const struct sl_sheets *ts, uint32_t n, uint32_t last)
{
	uint32_t w = ++n / SL_WORD;
	uint64_t ends = (~t->word[w].offers | ts->border[w]) >> n % SL_WORD << n % SL_WORD;

	while (!ends && ++w <= last / SL_WORD)
		ends = ~t->word[w].offers | ts->border[w];
	n = ends ? w * SL_WORD + (uint32_t) __builtin_ctzll(ends) : SL_MAX_NODES;
	return n <= last ? n - 1 : last;
}

static void add_nodes(const struct sl_sheet *t, struct sl_set *set, uint32_t first, uint32_t last)
{
	for (uint32_t n = first; n <= last; n++) {
		set->units += t->node[n].units;
		set->cores += t->node[n].cores;
	}
}

/* The set of nodes first..last, with sums of whole words.  Its peak is a lower bound, which suffices because max_nodes
 * does not bind here. */
static struct sl_set set_of(const struct sl_sheet *t, uint32_t first, uint32_t last)
{
	struct sl_set set = { .first = first, .last = last, .nodes = last - first + 1, .peak = t->need.least,
			      .required = SL_MAX_NODES };

	for (uint32_t n = first, end; n <= last; n = end + 1) {
		const struct sl_word *w = &t->word[n / SL_WORD];

		end = n | (SL_WORD - 1);
		if (n % SL_WORD || end > last) {
			end = end < last ? end : last;
			add_nodes(t, &set, n, end);
		} else {
			set.units += w->units;
			set.cores += w->cores;
		}
	}
	return set;
}

/* -- all of them ---------------------------------------------------------- */

static int find_sets(struct sl_space *sp, const struct sl_sheet *t, const struct sl_run *within, struct sl_sums *sums,
		     struct sl_error *err)
{
	const struct sl_sheets *ts = sp->sheets;
	uint32_t n = next_offering(t, within->first, within->last);

	while (n <= within->last) {
		struct sl_set *set;

		if (sl_grow(&sp->cons, &sp->cons_room, (uint64_t) sp->conses + 1, sizeof(*sp->cons), err))
			return -1;
		set = &sp->cons[sp->conses++];
		*set = set_of(t, n, end_of_set(t, ts, n, within->last));
		set->weight = ts->weight[n];
		sums->nodes += set->nodes;
		sums->units += set->units;
		n = set->last < within->last ? next_offering(t, set->last + 1, within->last) : SL_MAX_NODES;
	}
	return 0;
}

int sl_sheet_sets(struct sl_timeline *tl, const struct sl_sheet *t, const struct sl_nodeset *eligible,
		  struct sl_sums *sums, struct sl_error *err)
{
	struct sl_run all = { 0, tl->nodes - 1 };
	struct sl_space *sp = tl->space;

	*sums = (struct sl_sums) { 0 };
	sp->conses = 0;
	if (!eligible || eligible->count == tl->nodes) {
		eligible = NULL;
		if (find_sets(sp, t, &all, sums, err))
			return -1;
	}
	for (uint32_t r = 0; eligible && r < eligible->runs; r++)
		if (find_sets(sp, t, &eligible->run[r], sums, err))
			return -1;
	return sl_effort_spend(tl->effort, 4 * (uint64_t) sp->conses + (eligible ? eligible->runs : 0), err);
}

/* -- the best of them ----------------------------------------------------- */

static uint32_t first_of_set(const struct sl_sheet *t, uint32_t n)
{
	uint32_t w = n / SL_WORD;
	uint64_t none = ~t->word[w].offers & ((UINT64_C(1) << n % SL_WORD) - 1);

	while (!none && w)
		none = ~t->word[--w].offers;
	return none ? w * SL_WORD + SL_WORD - (uint32_t) __builtin_clzll(none) : 0;
}

static void make_stale(struct sl_sheet *t, uint32_t node)
{
	t->stale[node / SL_WORD / SL_WORD] |= UINT64_C(1) << node / SL_WORD % SL_WORD;
}

void sl_sheet_spoil(struct sl_sheet *t, const struct sl_sheets *ts, uint32_t node)
{
	if (t->method != SL_PLACE_BESTFIT) {
		make_stale(t, node);
		return;
	}
	if (ts->bordered)
		return;
	make_stale(t, first_of_set(t, node));
	make_stale(t, node);
	if (node / SL_WORD + 1 < ts->words)
		make_stale(t, node + 1);
}

/* Bit mask of the nodes of a word at which a set begins. */
static uint64_t beginnings(const struct sl_sheet *t, uint32_t word)
{
	uint64_t offers = t->word[word].offers, before = word ? t->word[word - 1].offers >> (SL_WORD - 1) : 0;

	return offers & ~(offers << 1 | before);
}

static void widen(struct sl_extremes *e, int64_t cores, int64_t units)
{
	e->cores = cores < e->cores ? cores : e->cores;
	e->units = units > e->units ? units : e->units;
}

static struct sl_set set_at(const struct sl_sheet *t, const struct sl_sheets *ts, uint32_t first)
{
	return set_of(t, first, end_of_set(t, ts, first, ts->words * SL_WORD - 1));
}

static void look_through(struct sl_sheet *t, const struct sl_sheets *ts, uint32_t word)
{
	struct sl_extremes e = { INT64_MAX, 0 };

	for (uint64_t bits = beginnings(t, word); bits; bits &= bits - 1) {
		struct sl_set set = set_at(t, ts, word * SL_WORD + (uint32_t) __builtin_ctzll(bits));

		widen(&e, set.cores, set.units);
	}
	t->word[word].begins = e;
}

static void look_again(struct sl_sheet *t, const struct sl_sheets *ts)
{
	for (uint32_t c = 0; c < ts->chapters; c++) {
		uint32_t first = c * SL_WORD, words = ts->words - first < SL_WORD ? ts->words - first : SL_WORD;

		if (!t->stale[c])
			continue;
		t->chapter[c] = (struct sl_extremes) { INT64_MAX, 0 };
		for (uint32_t w = first; w < first + words; w++) {
			if (t->stale[c] >> (w - first) & 1)
				look_through(t, ts, w);
			widen(&t->chapter[c], t->word[w].begins.cores, t->word[w].begins.units);
		}
		t->stale[c] = 0;
	}
}

/* A search for the tightest set with enough units and nodes, or for the largest set; sets that were taken are excluded. */
struct search {
	struct sl_sheet *t;
	const struct sl_sheets *ts;
	bool largest;
	int64_t units, nodes;
	struct sl_set best;		/* without nodes: nothing found yet */
	uint32_t taken[MOST_SETS], takes;	/* first nodes of the sets taken */
};

/* Of equal sets the first one wins, because it is found first. */
static bool may_have_better(const struct search *s, const struct sl_extremes *e)
{
	return s->largest ? e->units > s->best.units : e->units >= s->units && e->cores < s->best.cores;
}

static bool is_better(const struct search *s, const struct sl_set *set)
{
	if (s->largest ? set->units <= s->best.units :
			 set->units < s->units || set->nodes < s->nodes || set->cores >= s->best.cores)
		return false;
	for (uint32_t i = 0; i < s->takes; i++)
		if (s->taken[i] == set->first)
			return false;
	return true;
}

static void search_word(struct search *s, uint32_t word)
{
	for (uint64_t bits = beginnings(s->t, word); bits; bits &= bits - 1) {
		struct sl_set set = set_at(s->t, s->ts, word * SL_WORD + (uint32_t) __builtin_ctzll(bits));

		if (is_better(s, &set))
			s->best = set;
	}
}

static bool find_set(struct search *s)
{
	s->best = (struct sl_set) { .cores = s->largest ? 0 : INT64_MAX };
	for (uint32_t c = 0; c < s->ts->chapters; c++) {
		if (!may_have_better(s, &s->t->chapter[c]))
			continue;
		for (uint32_t w = c * SL_WORD; w < (c + 1) * SL_WORD && w < s->ts->words; w++)
			if (may_have_better(s, &s->t->word[w].begins))
				search_word(s, w);
	}
	return s->best.nodes;
}

/* -- taking from them ----------------------------------------------------- */

/* The node of the set with the fewest free cores that has that many units; SL_MAX_NODES if none has. */
static uint32_t tightest_node(const struct sl_sheet *t, const struct sl_set *set, int64_t units)
{
	uint32_t best = SL_MAX_NODES;

	for (uint32_t n = set->first; n <= set->last; n++)
		if (t->node[n].units >= units && (best == SL_MAX_NODES || t->node[n].cores < t->node[best].cores))
			best = n;
	return best;
}

int sl_take_nodes(struct sl_picker *p, uint32_t first, uint32_t last, struct sl_error *err)
{
	const struct sl_timeline *tl = p->tl;
	const struct sl_node_class *g = &tl->class[tl->class_of[first]];
	struct sl_offer o = { .class = tl->class_of[first], .units = p->sheet->node[first].units,
			      .weight = tl->kind[g->kind].weight };
	struct sl_span span = { first, last, p->sp->offers };
	int device;

	sl_live_min(tl, g->live, p->sheet->end, &o.free);
	sl_need_in_turn(&p->need->node, &tl->kind[g->kind].capacity, &g->now_free, &o.free);
	if (p->need->devices && p->need->devices->any && p->sheet->method != SL_PLACE_BESTFIT) {
		sl_scorer_ask(&p->sp->sheets->scorer, p->need, &o, &tl->kind[g->kind].capacity, &g->now_free, &device);
		sl_offer_narrow(&o, p->need, device);
	}
	return sl_offer_push(p->sp, &o, err) || sl_picker_take(p, &span, false, err) ? -1 : 0;
}

int sl_take_from_sheet(struct sl_picker *p, const struct sl_set *set, struct sl_error *err)
{
	uint32_t one = p->nodes <= 1 && p->slots >= 1 ? tightest_node(p->sheet, set, p->units) : SL_MAX_NODES;
	const uint32_t *of = p->tl->class_of;

	if (one < SL_MAX_NODES)
		return sl_take_nodes(p, one, one, err);
	for (uint32_t n = set->first, last; n <= set->last && !sl_picker_done(p); n = last + 1) {
		for (last = n; last < set->last && of[last + 1] == of[n]; last++)
			;
		if (sl_take_nodes(p, n, last, err))
			return -1;
	}
	return 0;
}

int sl_choose_few_sets(struct sl_picker *p, struct sl_error *err)
{
	struct search s = { .t = p->sheet, .ts = p->sp->sheets };

	if (s.ts->bordered)
		return 0;
	look_again(s.t, s.ts);
	sl_effort_add(p->tl->effort, s.ts->words);
	while (!sl_picker_done(p) && s.takes < MOST_SETS) {
		int64_t least = p->nodes * p->sheet->need.least;

		s.nodes = p->nodes;
		s.units = p->units > least ? p->units : least;
		s.largest = false;
		if (!find_set(&s)) {
			s.largest = true;
			/* far too little for the request: too many sets would be needed */
			if (!find_set(&s) || s.best.units * (MOST_SETS - s.takes) < p->units)
				return 0;
		}
		s.taken[s.takes++] = s.best.first;
		if (sl_take_from_sheet(p, &s.best, err))
			return -1;
	}
	return sl_picker_done(p);
}
