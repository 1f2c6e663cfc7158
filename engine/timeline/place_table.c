/* SPDX-License-Identifier: MIT */
/*
 * place_table.c - what the nodes offer now, kept from request to request.
 *
 * On a large machine in use nearly every node is a class of its own, and to ask all of them for each start is
 * what a cycle costs.  But requests differ in little: most ask of a node what others asked of it before, and
 * between two of them few nodes have changed.  So there is a table for each different need of a node (struct
 * node_need), with what each node offers it, by node.  Before it is used it is mended where nodes changed
 * since (the changes that a timeline notes).
 *
 * What is free of a node from now on until the request would end may be less than what is free now.  A table
 * holds for ends in (after, until], between which no node offers less; for others there is another table.
 *
 * Nodes are in words of 64, with the sums of each word: whoever walks along a table passes over a word that
 * offers nothing, and takes in one that offers all, in one step.  It finds consecutive nodes in their order,
 * so nothing has to be sorted.
 */
#include "timeline/place_impl.h"

#include <stdlib.h>
#include <string.h>

#define WORD 64
#define MOST_TABLES 128
#define MOST_BYTES (UINT64_C(64) << 20)	/* of all tables together */
#define FEW_CLASSES 256		/* they are asked sooner than a table is walked along */

/* All that sl_need_offer() looks at, bytes between them zero. */
struct node_need {
	int64_t least_memory, node_memory, unit_memory, memory_per_core;
	uint32_t least, most, cap, unit_cores, core_units;
	int32_t least_cores, floor_cores, most_cores;
	uint32_t needs, whole;
	struct sl_gres_need need[SL_MAX_GRES_NEEDS];
};

struct word {
	uint64_t offers;		/* bit i: node i of the word does */
	uint32_t units, cores;		/* of all of them */
	uint32_t peak;			/* units of the best one */
};

struct amount {
	uint16_t units, cores;		/* 0 units: it offers nothing */
};

struct sl_table {
	struct node_need need;
	struct word *word;
	struct amount *node;
	int64_t end, after, until;	/* of the request it was mended for; ends that it holds for */
	uint64_t read;			/* changes of the timeline */
	uint64_t used;
	struct sl_sums sums;
};

struct sl_tables {
	struct sl_table table[MOST_TABLES];
	uint32_t count, most;
	uint64_t uses;
	uint32_t credit;		/* tables that may be filled yet: each use of one that is there earns one */
	uint64_t *border;		/* bits: nodes of another weight than the one before */
	uint32_t *weight;		/* by node */
};

#define MOST_CREDIT 64
#define MEND_PART 4		/* with as many changes as a fourth of the classes it is filled anew */

/* -- which one ------------------------------------------------------------ */

static bool describe(const struct sl_timeline *tl, const struct sl_need *need, struct node_need *n)
{
	int64_t most = sl_need_held(need, tl->most_cores);

	if (most > UINT16_MAX || need->jobs)
		return false;
	memset(n, 0, sizeof(*n));
	n->least_memory = need->least_memory;
	n->node_memory = need->node_memory;
	n->unit_memory = need->unit_memory;
	n->memory_per_core = need->r->memory_per_core;
	n->least = need->least;
	n->most = need->most;
	n->cap = need->units < most ? (uint32_t) need->units : (uint32_t) most;
	n->unit_cores = need->unit_cores;
	n->core_units = need->core_units;
	n->least_cores = need->least_cores;
	n->floor_cores = need->floor_cores;
	n->most_cores = need->most_cores;
	n->whole = need->whole;
	n->needs = need->needs;
	memcpy(n->need, need->need, need->needs * sizeof(*n->need));
	return true;
}

static uint64_t changes_noted(const struct sl_timeline *tl)
{
	return tl->changes_dropped + tl->changes;
}

static struct sl_table *look_up(struct sl_tables *ts, const struct node_need *n, int64_t end)
{
	for (uint32_t i = 0; i < ts->count; i++) {
		struct sl_table *t = &ts->table[i];

		if (t->after < end && end <= t->until && !memcmp(&t->need, n, sizeof(*n)))
			return t;
	}
	return NULL;
}

/* -- what is in it -------------------------------------------------------- */

/* For ends between which such steps of a class lie, it offers other amounts. */
static void narrow(struct sl_table *t, const struct sl_timeline *tl, const struct sl_live *l)
{
	const struct sl_node_class *g = &tl->class[l->class];
	int64_t after = t->after, until = t->until;

	if (t->end <= l->steady) {
		until = l->steady;
	} else if (t->end > l->ebb) {
		after = l->ebb;
	} else {
		uint32_t i = sl_step_at(g, t->end - 1);

		after = g->step[i].t;
		until = i + 1 < g->steps ? g->step[i + 1].t : SL_FOREVER;
	}
	t->after = after > t->after ? after : t->after;
	t->until = until < t->until ? until : t->until;
}

static struct amount ask(struct sl_table *t, const struct sl_timeline *tl, const struct sl_need *need, uint32_t live)
{
	const struct sl_live *l = &tl->live[live];
	struct sl_offer o;

	if (l->free.cores < need->least_cores || l->free.memory < need->least_memory)
		return (struct amount) { 0 };
	narrow(t, tl, l);
	if (!sl_live_min(tl, live, t->end, &o.free) || !sl_need_offer(need, &tl->kind[l->kind].capacity, &o))
		return (struct amount) { 0 };
	return (struct amount) { (uint16_t) o.units, (uint16_t) o.free.cores };
}

static void find_peak(const struct sl_table *t, struct word *w)
{
	const struct amount *a = t->node + (w - t->word) * WORD;

	w->peak = 0;
	for (uint32_t i = 0; i < WORD; i++)
		w->peak = a[i].units > w->peak ? a[i].units : w->peak;
}

static void put(struct sl_table *t, uint32_t n, struct amount now)
{
	struct amount was = t->node[n];
	struct word *w = &t->word[n / WORD];
	uint64_t bit = UINT64_C(1) << n % WORD;

	if (was.units == now.units && was.cores == now.cores)
		return;
	t->node[n] = now;
	w->offers = now.units ? w->offers | bit : w->offers & ~bit;
	w->units += now.units - was.units;
	w->cores += now.cores - was.cores;
	if (now.units >= w->peak)
		w->peak = now.units;
	else if (was.units == w->peak)
		find_peak(t, w);
	t->sums.units += now.units - was.units;
	t->sums.nodes += (now.units > 0) - (was.units > 0);
}

static void put_run(struct sl_table *t, const struct sl_run *r, struct amount a)
{
	for (uint32_t n = r->first; n <= r->last; n++)
		put(t, n, a);
}

/* Ask the nodes of all classes. */
static void fill(struct sl_table *t, const struct sl_timeline *tl, const struct sl_need *need)
{
	uint32_t words = tl->nodes / WORD + 1;

	memset(t->word, 0, words * sizeof(*t->word));
	memset(t->node, 0, (size_t) words * WORD * sizeof(*t->node));
	t->sums = (struct sl_sums) { 0 };
	t->after = SL_DAWN;
	t->until = SL_FOREVER;
	for (uint32_t i = 0; i < tl->lives; i++) {
		const struct sl_nodeset *nodes = &tl->class[tl->live[i].class].nodes;
		struct amount a = ask(t, tl, need, i);

		for (uint32_t r = 0; a.units && r < nodes->runs; r++)
			put_run(t, &nodes->run[r], a);
	}
}

/* Ask the nodes that have changed since. */
static void mend(struct sl_table *t, const struct sl_timeline *tl, const struct sl_need *need)
{
	for (uint32_t i = (uint32_t) (t->read - tl->changes_dropped); i < tl->changes; i++) {
		const struct sl_run *r = &tl->change[i];

		for (uint32_t n = r->first; n <= r->last; n++)
			put(t, n, ask(t, tl, need, tl->class[tl->class_of[n]].live));
	}
}

/* -- making them ---------------------------------------------------------- */

static size_t bytes_of_table(const struct sl_timeline *tl)
{
	return (tl->nodes / WORD + 1) * (sizeof(struct word) + WORD * sizeof(struct amount));
}

static void weigh(struct sl_tables *ts, const struct sl_timeline *tl)
{
	for (uint32_t n = 0; n < tl->nodes; n++) {
		ts->weight[n] = tl->kind[tl->class[tl->class_of[n]].kind].weight;
		if (n && ts->weight[n] != ts->weight[n - 1])
			ts->border[n / WORD] |= UINT64_C(1) << n % WORD;
	}
}

static struct sl_tables *make_tables(struct sl_timeline *tl)
{
	struct sl_space *sp = tl->space;
	struct sl_tables *ts = calloc(1, sizeof(*ts));
	uint64_t most = MOST_BYTES / bytes_of_table(tl);

	if (!ts)
		return NULL;
	ts->border = calloc(tl->nodes / WORD + 1, sizeof(*ts->border));
	ts->weight = calloc(tl->nodes + 1, sizeof(*ts->weight));
	if (!ts->border || !ts->weight) {
		sl_tables_free(ts);
		return NULL;
	}
	weigh(ts, tl);
	ts->most = most < 2 ? 2 : most < MOST_TABLES ? (uint32_t) most : MOST_TABLES;
	ts->credit = MOST_CREDIT;
	tl->notes_changes = true;
	tl->changes_dropped++;	/* none has read what marks before this one speak of */
	sp->tables = ts;
	return ts;
}

void sl_tables_free(struct sl_tables *ts)
{
	if (!ts)
		return;
	for (uint32_t i = 0; i < ts->count; i++) {
		free(ts->table[i].word);
		free(ts->table[i].node);
	}
	free(ts->border);
	free(ts->weight);
	free(ts);
}

/* A new one, or the one that was not used for longest. */
static struct sl_table *take_table(struct sl_tables *ts, const struct sl_timeline *tl)
{
	uint32_t words = tl->nodes / WORD + 1, oldest = 0;
	struct sl_table *t;

	for (uint32_t i = 1; i < ts->count; i++)
		if (ts->table[i].used < ts->table[oldest].used)
			oldest = i;
	if (ts->count == ts->most)
		return &ts->table[oldest];
	t = &ts->table[ts->count];
	t->word = malloc(words * sizeof(*t->word));
	t->node = malloc((size_t) words * WORD * sizeof(*t->node));
	if (!t->word || !t->node) {
		free(t->word);
		free(t->node);
		return NULL;
	}
	ts->count++;
	return t;
}

/* -- whether there is one ------------------------------------------------- */

/* Requests that bestfit serves from nodes alone, and no limit of nodes that may bind. */
static bool suits(const struct sl_timeline *tl, const struct sl_need *need, enum sl_place_method method)
{
	const struct sl_request *r = need->r;

	return (method == SL_PLACE_BESTFIT || method == SL_PLACE_NATIVE) && tl->lives > FEW_CLASSES &&
	       tl->lives > tl->nodes / WORD && !tl->tree && !r->required && !r->contiguous && !r->most_nodes &&
	       (need->max_nodes >= UINT32_MAX / 2 || (int64_t) need->least * need->max_nodes >= need->units);
}

struct sl_table *sl_table_of(struct sl_timeline *tl, const struct sl_need *need, enum sl_place_method method,
			     bool make)
{
	int64_t end = sl_later(tl->now, need->r->duration);
	struct sl_space *sp = sl_space(tl, NULL);
	struct node_need n;
	struct sl_tables *ts;
	struct sl_table *t;

	/* what is tried inside a mark will mostly be taken back: it would be mended twice */
	if (tl->marks > 1 || !suits(tl, need, method) || !sp || !describe(tl, need, &n))
		return NULL;
	ts = sp->tables ? sp->tables : make_tables(tl);
	t = ts ? look_up(ts, &n, end) : NULL;
	if (t && t->read >= tl->changes_dropped && changes_noted(tl) - t->read <= tl->lives / MEND_PART) {
		t->end = end;
		mend(t, tl, need);
		ts->credit += ts->credit < MOST_CREDIT;
	} else {
		if (!ts || !make || !ts->credit || !(t = t ? t : take_table(ts, tl)))
			return NULL;
		ts->credit--;
		t->need = n;
		t->end = end;
		fill(t, tl, need);
	}
	t->read = tl->changes_read = changes_noted(tl);
	t->used = ++ts->uses;
	return t;
}

const struct sl_sums *sl_table_sums(const struct sl_table *t)
{
	return &t->sums;
}

/* -- walking along one ---------------------------------------------------- */

/* The first node from *n* to *last* that offers something, or beyond. */
static uint32_t next_offering(const struct sl_table *t, uint32_t n, uint32_t last)
{
	uint32_t w = n / WORD;
	uint64_t bits = t->word[w].offers >> n % WORD << n % WORD;

	while (!bits && ++w <= last / WORD)
		bits = t->word[w].offers;
	return bits ? w * WORD + (uint32_t) __builtin_ctzll(bits) : SL_MAX_NODES;
}

/* The last node of the set that begins at *n*, which offers something. */
static uint32_t end_of_set(const struct sl_table *t, const struct sl_tables *ts, uint32_t n, uint32_t last)
{
	uint32_t w = ++n / WORD;
	uint64_t ends = (~t->word[w].offers | ts->border[w]) >> n % WORD << n % WORD;

	while (!ends && ++w <= last / WORD)
		ends = ~t->word[w].offers | ts->border[w];
	n = ends ? w * WORD + (uint32_t) __builtin_ctzll(ends) : SL_MAX_NODES;
	return n <= last ? n - 1 : last;
}

static void add_nodes(const struct sl_table *t, struct sl_set *set, uint32_t first, uint32_t last)
{
	for (uint32_t n = first; n <= last; n++) {
		set->units += t->node[n].units;
		set->cores += t->node[n].cores;
		set->peak = t->node[n].units > set->peak ? t->node[n].units : set->peak;
	}
}

/* Whole words by their sums. */
static void sum_up(const struct sl_table *t, struct sl_set *set)
{
	uint32_t n = set->first;

	while (n <= set->last) {
		const struct word *w = &t->word[n / WORD];
		uint32_t end = n | (WORD - 1);

		if (n % WORD || end > set->last) {
			end = end < set->last ? end : set->last;
			add_nodes(t, set, n, end);
		} else {
			set->units += w->units;
			set->cores += w->cores;
			set->peak = w->peak > set->peak ? w->peak : set->peak;
		}
		n = end + 1;
	}
	set->nodes = set->last - set->first + 1;
}

static int find_sets(struct sl_space *sp, const struct sl_table *t, const struct sl_run *within, struct sl_sums *sums,
		     struct sl_error *err)
{
	const struct sl_tables *ts = sp->tables;
	uint32_t n = next_offering(t, within->first, within->last);

	while (n <= within->last) {
		struct sl_set *set;

		if (sl_grow(&sp->cons, &sp->cons_room, (uint64_t) sp->conses + 1, sizeof(*sp->cons), err))
			return -1;
		set = &sp->cons[sp->conses++];
		*set = (struct sl_set) { .first = n, .last = end_of_set(t, ts, n, within->last),
					 .weight = ts->weight[n], .required = SL_MAX_NODES };
		sum_up(t, set);
		sums->nodes += set->nodes;
		sums->units += set->units;
		n = set->last < within->last ? next_offering(t, set->last + 1, within->last) : SL_MAX_NODES;
	}
	return 0;
}

int sl_table_sets(struct sl_timeline *tl, const struct sl_table *t, const struct sl_nodeset *eligible,
		  struct sl_sums *sums, struct sl_error *err)
{
	struct sl_run all = { 0, tl->nodes - 1 };
	struct sl_space *sp = tl->space;

	*sums = (struct sl_sums) { 0 };
	sp->conses = 0;
	if (!eligible || eligible->count == tl->nodes)
		return find_sets(sp, t, &all, sums, err);
	for (uint32_t r = 0; r < eligible->runs; r++)
		if (find_sets(sp, t, &eligible->run[r], sums, err))
			return -1;
	return 0;
}

uint32_t sl_table_tightest(const struct sl_table *t, const struct sl_set *set, int64_t units)
{
	uint32_t best = SL_MAX_NODES;

	for (uint32_t n = set->first; n <= set->last; n++)
		if (t->node[n].units >= units && (best == SL_MAX_NODES || t->node[n].cores < t->node[best].cores))
			best = n;
	return best;
}

int sl_table_offer(struct sl_timeline *tl, const struct sl_table *t, uint32_t node, struct sl_error *err)
{
	const struct sl_node_class *g = &tl->class[tl->class_of[node]];
	struct sl_offer o = { .class = tl->class_of[node], .units = t->node[node].units,
			      .weight = tl->kind[g->kind].weight };

	sl_live_min(tl, g->live, t->end, &o.free);
	return sl_offer_push(tl->space, &o, err);
}
