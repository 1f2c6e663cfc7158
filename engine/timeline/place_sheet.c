/* SPDX-License-Identifier: MIT */
/*
 * place_sheet.c - sheets: what each node offers now, kept from request to request.
 *
 * On a large busy machine nearly every node is a class of its own, and looking at all classes for each start is the main cost
 * of a cycle.  But most requests need of a node what an earlier one needed, and few nodes change in between.  Therefore there
 * is a sheet for each distinct need of a node (struct sl_node_need), with the offer of every node.  Before use it is updated
 * where nodes have changed, by the changes that the timeline notes.
 *
 * What is free from now until a request would end may be less than what is free now.  A sheet holds for ends in (after,
 * until]: no node offers less between these.  For another end it is moved: nodes that offer less before one end, but not
 * before the other, are looked at again.  There may be several sheets for one need, for ends that are far apart.  Timelines
 * can share a shelf, which limits the memory of all their sheets; the least recently used sheet makes room, whichever
 * timeline has it.
 *
 * A sheet for a score (score.h) has, in place of a node's cores, its rank by that score: place_score_sheet.c.
 *
 * Nodes are grouped in words of 64, words in chapters of 64, each with bounds over its sets of consecutive nodes, so that the
 * tightest and the largest set are found without looking at most nodes: place_sets.c.
 */
#include "timeline/place_sheet.h"

#include "base/search.h"

#include <stdlib.h>
#include <string.h>

#define FEW_CLASSES 256		/* with up to this many classes, looking at each costs less than a sheet */
#define MEND_PART 2		/* if more nodes changed than half the number of classes, the sheet is filled again */
#define MOVE_PART 16		/* if more than 1/16 of the classes have to be looked at, the sheet is copied before it is
				 * moved */

/* Filling a sheet costs as much as looking at all classes twice, and pays only if the sheet is used again.  So filling a
 * sheet takes a credit, and each use of an existing one gives a credit.  Without credit no sheet is filled. */
#define MOST_CREDIT 64

/* -- which one ------------------------------------------------------------ */

static bool describe(const struct sl_timeline *tl, const struct sl_need *need, struct sl_node_need *n)
{
	int64_t most = sl_need_held_there(&need->node, tl->most_cores);

	if (most > UINT16_MAX || need->jobs)
		return false;
	*n = need->node;
	n->cap = need->units < most ? (uint32_t) need->units : (uint32_t) most;
	return true;
}

static uint64_t changes_noted(const struct sl_timeline *tl)
{
	return tl->changes_dropped + tl->changes;
}

/* A hash of the method and of the fields in which most needs differ. */
static uint64_t hash_of(const struct sl_node_need *n, enum sl_place_method method)
{
	uint64_t h = (uint64_t) n->least_memory * 31 + (uint64_t) n->memory_per_core + (uint64_t) method;

	h = (h * 31 + n->least) * 31 + n->cap;
	return h * 31 + (n->needs ? n->need[0].count : 0);
}

static bool holds(const struct sl_sheet *t, int64_t end)
{
	return t->after < end && end <= t->until;
}

static uint64_t distance(int64_t a, int64_t b)
{
	return a < b ? (uint64_t) b - (uint64_t) a : (uint64_t) a - (uint64_t) b;
}

/* The sheet that holds for that end, or the one with the nearest end; NULL if there is none for such a need. */
static struct sl_sheet *look_up(struct sl_sheets *ts, const struct sl_node_need *n, enum sl_place_method method, int64_t end)
{
	uint64_t hash = hash_of(n, method);
	struct sl_sheet *nearest = NULL;

	for (uint32_t i = 0; i < ts->count; i++) {
		struct sl_sheet *t = &ts->sheet[i];

		if (ts->hash[i] != hash || t->method != method || memcmp(&t->need, n, sizeof(*n)))
			continue;
		if (holds(t, end))
			return t;
		if (!nearest || distance(t->end, end) < distance(nearest->end, end))
			nearest = t;
	}
	return nearest;
}

/* -- what is in it -------------------------------------------------------- */

/* Restrict the ends for which the sheet holds to those with the same steps of this class. */
static void narrow(struct sl_sheet *t, const struct sl_timeline *tl, uint32_t live)
{
	const struct sl_fall *f = &tl->fall[live];
	int64_t after = t->after, until = t->until;

	if (t->end <= f->steady) {
		until = f->steady;
	} else if (t->end > f->ebb) {
		after = f->ebb;
	} else {
		const struct sl_node_class *g = &tl->class[tl->live[live].class];
		uint32_t i = sl_step_at(g, t->end - 1);

		after = g->step[i].t;
		until = i + 1 < g->steps ? g->step[i + 1].t : SL_FOREVER;
	}
	t->after = after > t->after ? after : t->after;
	t->until = until < t->until ? until : t->until;
}

static uint16_t key_of(const struct sl_timeline *tl, const struct sl_need *need, const struct sl_live *l, const struct sl_offer *o)
{
	const struct sl_space *sp = tl->space;
	const struct sl_sheets *ts = sp->sheets;
	int device;

	return sl_sheet_key(ts->rank[l->kind], sl_scorer_ask(&ts->scorer, need, o, &tl->kind[l->kind].capacity, &l->free, &device));
}

static struct sl_amount ask(struct sl_sheet *t, const struct sl_timeline *tl, const struct sl_need *need, uint32_t live)
{
	const struct sl_live *l = &tl->live[live];
	struct sl_offer o;

	if (l->free.cores < need->least_cores || l->free.memory < need->least_memory)
		return (struct sl_amount) { 0 };
	narrow(t, tl, live);
	if (!sl_live_min(tl, live, t->end, &o.free))
		return (struct sl_amount) { 0 };
	sl_need_in_turn(&need->node, &tl->kind[l->kind].capacity, &l->free, &o.free);
	if (!sl_need_offer(&need->node, &tl->kind[l->kind].capacity, &o))
		return (struct sl_amount) { 0 };
	return (struct sl_amount) { (uint16_t) o.units, t->method == SL_PLACE_BESTFIT ? (uint16_t) o.free.cores :
				    key_of(tl, need, l, &o) };
}

/* Set the offer of a node.  True if it has changed. */
static bool put(struct sl_sheet *t, uint32_t n, struct sl_amount now)
{
	struct sl_amount was = t->node[n];
	struct sl_word *w = &t->word[n / SL_WORD];
	uint64_t bit = UINT64_C(1) << n % SL_WORD;

	if (was.units == now.units && was.cores == now.cores)
		return false;
	t->node[n] = now;
	w->offers = now.units ? w->offers | bit : w->offers & ~bit;
	w->units += now.units - was.units;
	w->cores += now.cores - was.cores;
	t->sums.units += now.units - was.units;
	t->sums.nodes += (now.units > 0) - (was.units > 0);
	return true;
}

/* Set the offers of nodes in an empty sheet. */
static void put_run(struct sl_sheet *t, const struct sl_run *r, struct sl_amount a)
{
	for (uint32_t n = r->first; n <= r->last; n++) {
		struct sl_word *w = &t->word[n / SL_WORD];

		t->node[n] = a;
		w->offers |= UINT64_C(1) << n % SL_WORD;
		w->units += a.units;
		w->cores += a.cores;
	}
	t->sums.nodes += r->last - r->first + 1;
	t->sums.units += (int64_t) (r->last - r->first + 1) * a.units;
}

/* Fill the sheet from all classes. */
static void fill(struct sl_sheet *t, const struct sl_sheets *ts, const struct sl_timeline *tl,
		 const struct sl_need *need)
{
	memset(t->word, 0, ts->words * sizeof(*t->word));
	memset(t->node, 0, (size_t) ts->words * SL_WORD * sizeof(*t->node));
	memset(t->stale, 0xff, ts->chapters * sizeof(*t->stale));
	t->sums = (struct sl_sums) { 0 };
	t->after = SL_DAWN;
	t->until = SL_FOREVER;
	sl_effort_add(tl->effort, 2 * (uint64_t) tl->lives);
	for (uint32_t i = 0; i < tl->lives; i++) {
		const struct sl_live *l = &tl->live[i];
		struct sl_amount a = { 0 };

		if (tl->fall[i].cores >= need->least_cores)
			a = ask(t, tl, need, i);
		if (a.units)
			put_run(t, &l->run, a);
		for (uint32_t r = 1; a.units && r < l->runs; r++)
			put_run(t, &tl->class[l->class].nodes.run[r], a);
	}
}

static void put_again(struct sl_sheet *t, const struct sl_sheets *ts, const struct sl_run *r, struct sl_amount a)
{
	for (uint32_t n = r->first; n <= r->last; n++)
		if (put(t, n, a))
			sl_sheet_spoil(t, ts, n);
}

/* Look again at nodes whose free amounts have changed before *told*, the end of the request. */
static void mend(struct sl_sheet *t, const struct sl_sheets *ts, const struct sl_timeline *tl,
		 const struct sl_need *need, int64_t told)
{
	for (uint32_t i = (uint32_t) (t->read - tl->changes_dropped); i < tl->changes; i++) {
		const struct sl_changed *c = &tl->change[i];

		sl_effort_add(tl->effort, c->since >= told ? 1 : c->run.last - c->run.first + 1);
		if (c->since >= told) {
			if (c->since >= t->end && c->since < t->until)
				t->until = c->since;
			continue;
		}
		for (uint32_t n = c->run.first; n <= c->run.last; n++) {
			const struct sl_node_class *g = &tl->class[tl->class_of[n]];
			struct sl_amount a = { 0 };

			if (g->now_free.cores >= need->least_cores)	/* most nodes that were just booked have too little */
				a = ask(t, tl, need, g->live);
			if (put(t, n, a))
				sl_sheet_spoil(t, ts, n);
		}
	}
}

/* -- making them ---------------------------------------------------------- */

static void weigh(struct sl_sheets *ts, const struct sl_timeline *tl)
{
	for (uint32_t n = 0; n < tl->nodes; n++) {
		ts->weight[n] = tl->kind[tl->class[tl->class_of[n]].kind].weight;
		if (!n || ts->weight[n] == ts->weight[n - 1])
			continue;
		ts->border[n / SL_WORD] |= UINT64_C(1) << n % SL_WORD;
		ts->bordered = true;
	}
}

static int by_weight(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Rank the weights of all kinds.  No ranks if there are too many weights, or no memory. */
static void rank_weights(struct sl_sheets *ts, const struct sl_timeline *tl)
{
	uint32_t *weight = malloc((tl->kinds + 1) * sizeof(*weight)), ranks = 0;

	ts->rank = malloc((tl->kinds + 1) * sizeof(*ts->rank));
	for (uint32_t k = 0; weight && k < tl->kinds; k++)
		weight[k] = tl->kind[k].weight;
	if (weight)
		qsort(weight, tl->kinds, sizeof(*weight), by_weight);
	for (uint32_t k = 0; weight && k < tl->kinds; k++)
		if (!ranks || weight[ranks - 1] != weight[k])
			weight[ranks++] = weight[k];
	for (uint32_t k = 0; weight && ts->rank && ranks <= SL_MOST_RANKS && k < tl->kinds; k++)
		ts->rank[k] = (uint16_t) SL_FIRST(i, 0, ranks, weight[i] < tl->kind[k].weight);
	if (!weight || ranks > SL_MOST_RANKS) {
		free(ts->rank);
		ts->rank = NULL;
	}
	free(weight);
}

static void put_on_shelf(struct sl_sheets *ts, struct sl_timeline *tl)
{
	struct sl_shelf *shelf = sl_shelf_of(tl);

	ts->bytes = ts->words * sizeof(*ts->border) + tl->nodes * sizeof(*ts->weight) +
		    (tl->nodes + 1) * sizeof(*ts->due);
	ts->bytes_each = ts->words * (sizeof(struct sl_word) + SL_WORD * sizeof(struct sl_amount)) +
			 ts->chapters * (sizeof(struct sl_extremes) + sizeof(uint64_t));
	shelf->bytes += ts->bytes;
	ts->next = shelf->first;
	shelf->first = ts;
	ts->shelf = shelf;
}

static void take_from_shelf(struct sl_sheets *ts)
{
	struct sl_sheets **at = &ts->shelf->first;

	while (*at != ts)
		at = &(*at)->next;
	*at = ts->next;
	ts->shelf->bytes -= ts->bytes + ts->count * ts->bytes_each;
}

static struct sl_sheets *make_sheets(struct sl_timeline *tl)
{
	struct sl_space *sp = tl->space;
	struct sl_sheets *ts = calloc(1, sizeof(*ts));

	if (!ts)
		return NULL;
	ts->words = tl->nodes / SL_WORD + 1;
	ts->chapters = ts->words / SL_WORD + 1;
	ts->border = calloc(ts->words, sizeof(*ts->border));
	ts->weight = calloc(tl->nodes + 1, sizeof(*ts->weight));
	ts->due = malloc((tl->nodes + 1) * sizeof(*ts->due));
	if (!ts->border || !ts->weight || !ts->due) {
		sl_sheets_free(ts);
		return NULL;
	}
	weigh(ts, tl);
	rank_weights(ts, tl);
	put_on_shelf(ts, tl);
	ts->credit = MOST_CREDIT;
	tl->notes_changes = true;
	tl->changes_dropped++;	/* marks set before this have counted no changes */
	sp->sheets = ts;
	return ts;
}

static void free_sheet(struct sl_sheet *t)
{
	free(t->word);
	free(t->node);
	free(t->chapter);
	free(t->stale);
	*t = (struct sl_sheet) { 0 };
}

void sl_sheets_free(struct sl_sheets *ts)
{
	if (!ts)
		return;
	if (ts->shelf)
		take_from_shelf(ts);
	for (uint32_t i = 0; i < ts->count; i++)
		free_sheet(&ts->sheet[i]);
	free(ts->border);
	free(ts->weight);
	free(ts->rank);
	free(ts->due);
	free(ts);
}

/* The least recently used of these sheets; NULL if there is none. */
static struct sl_sheet *oldest_of(struct sl_sheets *ts)
{
	struct sl_sheet *t = NULL;

	for (uint32_t i = 0; i < ts->count; i++)
		if (!t || ts->sheet[i].used < t->used)
			t = &ts->sheet[i];
	return t;
}

static struct sl_sheet *oldest_on(const struct sl_shelf *shelf, struct sl_sheets **of)
{
	struct sl_sheet *oldest = NULL;

	for (struct sl_sheets *ts = shelf->first; ts; ts = ts->next) {
		struct sl_sheet *t = oldest_of(ts);

		if (!t || (oldest && oldest->used < t->used))
			continue;
		oldest = t;
		*of = ts;
	}
	return oldest;
}

/* The last sheet moves to the freed place. */
static void drop_sheet(struct sl_sheets *ts, struct sl_sheet *t)
{
	uint32_t last = --ts->count;

	free_sheet(t);
	ts->hash[t - ts->sheet] = ts->hash[last];
	*t = ts->sheet[last];
	ts->sheet[last] = (struct sl_sheet) { 0 };
	ts->shelf->bytes -= ts->bytes_each;
}

struct sl_shelf *sl_shelf_of(struct sl_timeline *tl)
{
	struct sl_space *sp = tl->space;

	sp->own_shelf.most = SL_SHELF_BYTES;
	return tl->shelf ? tl->shelf : &sp->own_shelf;
}

bool sl_shelf_claim(struct sl_shelf *shelf, uint64_t bytes)
{
	struct sl_sheets *of = NULL;
	struct sl_sheet *t;

	if (shelf->firm + bytes > shelf->most / 2)
		return false;
	shelf->firm += bytes;
	shelf->bytes += bytes;
	while (shelf->bytes > shelf->most && (t = oldest_on(shelf, &of)))
		drop_sheet(of, t);
	return true;
}

/* Make room by dropping old sheets of other timelines.  Returns a sheet of *ts* that must be reused because there is no
 * other room; NULL if there is room, or nothing can be dropped. */
static struct sl_sheet *make_room(struct sl_sheets *ts)
{
	struct sl_shelf *shelf = ts->shelf;

	while (shelf->bytes + ts->bytes_each > shelf->most) {
		struct sl_sheets *of = NULL;
		struct sl_sheet *t = oldest_on(shelf, &of);

		if (!t || of == ts)
			return t;
		drop_sheet(of, t);
	}
	return ts->count == SL_MOST_SHEETS ? oldest_of(ts) : NULL;
}

/* A sheet to fill: a new one, or else the least recently used.  NULL: none. */
static struct sl_sheet *take_sheet(struct sl_sheets *ts)
{
	struct sl_sheet *t = make_room(ts);

	if (t)
		return t;
	t = &ts->sheet[ts->count];
	t->word = malloc(ts->words * sizeof(*t->word));
	t->node = malloc((size_t) ts->words * SL_WORD * sizeof(*t->node));
	t->chapter = malloc(ts->chapters * sizeof(*t->chapter));
	t->stale = malloc(ts->chapters * sizeof(*t->stale));
	if (!t->word || !t->node || !t->chapter || !t->stale) {
		free_sheet(t);
		return NULL;
	}
	ts->count++;
	ts->shelf->bytes += ts->bytes_each;
	return t;
}

/* -- moving them ---------------------------------------------------------- */

/*
 * A sheet is made for requests that end at its own end.  Put into ts->due the classes that may offer other amounts to a
 * request that ends at *end*, and note for which ends that is valid.  A class that offers nothing now offers nothing for any
 * end, so it is left out.
 */
static void list_due(const struct sl_sheet *t, struct sl_sheets *ts, const struct sl_timeline *tl,
		     const struct sl_need *need, int64_t end)
{
	int64_t soon = t->end < end ? t->end : end, late = t->end < end ? end : t->end;

	ts->dues = 0;
	ts->after = SL_DAWN;
	ts->until = SL_FOREVER;
	for (uint32_t i = 0; i < tl->lives; i++) {
		const struct sl_fall *f = &tl->fall[i];

		if (f->cores < need->least_cores)
			continue;
		if (end <= f->steady)
			ts->until = f->steady < ts->until ? f->steady : ts->until;
		else if (end > f->ebb)
			ts->after = f->ebb > ts->after ? f->ebb : ts->after;
		if (late > f->steady && soon <= f->ebb)
			ts->due[ts->dues++] = i;
	}
}

static void copy_sheet(struct sl_sheet *to, const struct sl_sheet *t, const struct sl_sheets *ts)
{
	struct sl_sheet own = *to;

	*to = *t;
	to->word = memcpy(own.word, t->word, ts->words * sizeof(*t->word));
	to->node = memcpy(own.node, t->node, (size_t) ts->words * SL_WORD * sizeof(*t->node));
	to->chapter = memcpy(own.chapter, t->chapter, ts->chapters * sizeof(*t->chapter));
	to->stale = memcpy(own.stale, t->stale, ts->chapters * sizeof(*t->stale));
}

/* A sheet for another end: this one changed, or a copy of it. */
static struct sl_sheet *move_sheet(struct sl_sheet *t, struct sl_sheets *ts, const struct sl_timeline *tl,
				   const struct sl_need *need, int64_t end)
{
	struct sl_sheet *other;

	list_due(t, ts, tl, need, end);
	sl_effort_add(tl->effort, tl->lives / 4 + 4 * (uint64_t) ts->dues);
	other = ts->dues > tl->lives / MOVE_PART ? take_sheet(ts) : NULL;
	if (other && other != t) {
		copy_sheet(other, t, ts);
		ts->hash[other - ts->sheet] = ts->hash[t - ts->sheet];
		t = other;
	}
	t->end = end;
	t->after = ts->after;
	t->until = ts->until;
	for (uint32_t i = 0; i < ts->dues; i++) {
		const struct sl_nodeset *nodes = &tl->class[tl->live[ts->due[i]].class].nodes;
		struct sl_amount a = ask(t, tl, need, ts->due[i]);

		for (uint32_t r = 0; r < nodes->runs; r++)
			put_again(t, ts, &nodes->run[r], a);
	}
	return t;
}

/* -- whether there is one ------------------------------------------------- */

/* True for requests that bestfit or a bundled score can place by node alone, and whose max_nodes cannot bind. */
static bool suits(const struct sl_timeline *tl, const struct sl_need *need, enum sl_place_method method)
{
	const struct sl_request *r = need->r;
	bool scores = sl_place_has_bundled_score(method) && !need->least_score && !r->max_leaves;

	return (scores || ((method == SL_PLACE_BESTFIT || method == SL_PLACE_NATIVE) && !tl->tree)) &&
	       !need->segment && tl->lives > FEW_CLASSES && tl->lives > tl->nodes / SL_WORD && !r->required && !r->contiguous && !r->most_nodes &&
	       (need->max_nodes >= UINT32_MAX / 2 || (int64_t) need->least * need->max_nodes >= need->units);
}

/* True if so many nodes have changed that filling the sheet again is cheaper. */
static bool much_has_changed(const struct sl_sheet *t, const struct sl_timeline *tl)
{
	uint32_t most = tl->lives / MEND_PART, count = 0;

	if (t->read < tl->changes_dropped)
		return true;
	for (uint32_t i = (uint32_t) (t->read - tl->changes_dropped); i < tl->changes && count <= most; i++)
		if (tl->change[i].since < t->end)
			count += tl->change[i].run.last - tl->change[i].run.first + 1;
	return count > most;
}

struct sl_sheet *sl_sheet_of(struct sl_timeline *tl, const struct sl_need *need, enum sl_place_method method,
			     bool make)
{
	int64_t end = sl_later(tl->now, need->r->duration);
	struct sl_space *sp = sl_space(tl, NULL);
	struct sl_node_need n;
	struct sl_sheets *ts;
	struct sl_sheet *t;

	/* within a mark most changes will be rolled back, and the sheet would have to be updated twice */
	if (tl->marks > 1 || !suits(tl, need, method) || !sp || !describe(tl, need, &n))
		return NULL;
	method = sl_place_has_score(method) ? method : SL_PLACE_BESTFIT;
	ts = sp->sheets ? sp->sheets : make_sheets(tl);
	if (!ts || (method != SL_PLACE_BESTFIT && (!ts->rank || sl_scorer_of(&ts->scorer, tl, method, NULL))))
		return NULL;
	t = look_up(ts, &n, method, end);
	if (t && !much_has_changed(t, tl)) {
		bool there = holds(t, end);
		int64_t told = there ? end : t->end;

		if (!there && !make)
			return NULL;
		t = there ? t : move_sheet(t, ts, tl, need, end);
		t->end = end;
		mend(t, ts, tl, need, told);
		ts->credit += ts->credit < MOST_CREDIT;
	} else {
		if (!make || !ts->credit || !(t = t ? t : take_sheet(ts)))
			return NULL;
		ts->credit--;
		ts->hash[t - ts->sheet] = hash_of(&n, method);
		t->need = n;
		t->method = method;
		t->end = end;
		fill(t, ts, tl, need);
	}
	t->read = tl->changes_read = changes_noted(tl);
	t->used = ++ts->shelf->uses;
	ts->uses++;
	return t;
}

const struct sl_sums *sl_sheet_sums(const struct sl_sheet *t)
{
	return &t->sums;
}
