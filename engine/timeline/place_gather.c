/* SPDX-License-Identifier: MIT */
/* place_gather.c - the offers of the classes. */
#include "timeline/place_outlook.h"
#include "timeline/score.h"

#include <stdlib.h>
#include <string.h>

static void free_space(void *arg)
{
	struct sl_space *sp = arg;

	for (uint32_t i = 0; i < sp->set_room && sp->set[i]; i++) {
		sl_nodeset_free(sp->set[i]);
		free(sp->set[i]);
	}
	free(sp->set);
	free(sp->offer);
	free(sp->whole);
	free(sp->branch);
	free(sp->ranked);
	free(sp->lot);
	free(sp->open);
	free(sp->seat);
	free(sp->kind_in);
	free(sp->spans.at);
	free(sp->required.at);
	free(sp->chosen.at);
	free(sp->sorted.at);
	free(sp->brief);
	free(sp->cons);
	free(sp->order);
	free(sp->hist);
	free(sp->cursor);
	free(sp->heap);
	free(sp->tree);
	free(sp->leaf);
	free(sp->asked);
	if (sp->own_scoring)
		sl_scoring_free(sp->own_scoring);
	free(sp->own_scoring);
	sl_sheets_free(sp->sheets);
	sl_outlook_free(sp->outlook);
	free(sp);
}

struct sl_space *sl_space(struct sl_timeline *tl, struct sl_error *err)
{
	struct sl_space *sp = tl->space;

	if (sp)
		return sp;
	sp = calloc(1, sizeof(*sp));
	if (sp)
		sp->kind_in = calloc(tl->kinds ? tl->kinds : 1, 1);
	if (!sp || !sp->kind_in) {
		free(sp);
		sl_fail(err, SL_ENOMEM, "placement: out of memory");
		return NULL;
	}
	tl->space = sp;
	tl->space_free = free_space;
	return sp;
}

/* -- eligible nodes ---------------------------------------------------- */

int sl_eligible_begin(struct sl_timeline *tl, const struct sl_need *need, struct sl_error *err)
{
	const struct sl_nodeset *eligible = need->r->eligible;
	struct sl_space *sp = sl_space(tl, err);

	if (!sp)
		return -1;
	sp->sets = 0;
	sp->offers = 0;
	if (eligible && eligible->count == tl->nodes)
		eligible = NULL;
	for (uint32_t k = 0; k < tl->kinds; k++) {
		if (!eligible || sl_nodeset_includes(eligible, &tl->kind_nodes[k]))
			sp->kind_in[k] = SL_KIND_IN;
		else
			sp->kind_in[k] = sl_nodeset_overlaps(eligible, &tl->kind_nodes[k]) ? SL_KIND_PARTLY : SL_KIND_OUT;
	}
	return 0;
}

/* A nodeset for some nodes of a class.  Each is allocated separately, because offers point to it while the array grows. */
struct sl_nodeset *sl_space_set(struct sl_space *sp, struct sl_error *err)
{
	uint32_t old = sp->set_room;

	if (sl_grow(&sp->set, &sp->set_room, (uint64_t) sp->sets + 1, sizeof(*sp->set), err))
		return NULL;
	memset(sp->set + old, 0, (sp->set_room - old) * sizeof(*sp->set));
	if (!sp->set[sp->sets])
		sp->set[sp->sets] = calloc(1, sizeof(**sp->set));
	if (!sp->set[sp->sets]) {
		sl_fail(err, SL_ENOMEM, "placement: out of memory");
		return NULL;
	}
	return sp->set[sp->sets++];
}

#define EFFORT_OF_PART 4

int sl_eligible_part(struct sl_timeline *tl, const struct sl_need *need, const struct sl_live *l,
		     const struct sl_nodeset **nodes, struct sl_error *err)
{
	const struct sl_nodeset *eligible = need->r->eligible;
	const struct sl_node_class *g = &tl->class[l->class];
	struct sl_space *sp = tl->space;
	struct sl_nodeset *part;

	*nodes = NULL;
	if (sp->kind_in[l->kind] == SL_KIND_OUT)
		return 0;
	sl_effort_add(tl->effort, EFFORT_OF_PART);
	if (l->nodes == 1) {	/* usual on a busy machine */
		*nodes = sl_nodeset_contains(eligible, l->run.first) ? &g->nodes : NULL;
		return 0;
	}
	if (!sl_nodeset_overlaps(eligible, &g->nodes))
		return 0;
	if (sl_nodeset_includes(eligible, &g->nodes)) {
		*nodes = &g->nodes;
		return 0;
	}
	part = sl_space_set(sp, err);
	if (!part || sl_nodeset_meet(part, &g->nodes, eligible, err))
		return -1;
	sl_effort_add(tl->effort, l->runs + part->runs);
	*nodes = part;
	return 0;
}

/* -- sums -------------------------------------------------------------- */

void sl_sums_add(struct sl_sums *s, const struct sl_need *need, uint32_t units, const uint32_t *job,
		 uint32_t nodes, uint32_t required, int sign)
{
	s->nodes += sign * (int64_t) nodes;
	s->units += sign * (int64_t) nodes * units;
	s->required += sign * (int32_t) required;
	for (uint32_t j = 0; j < need->jobs; j++)
		s->job[j] += sign * (int64_t) nodes * job[j];
}

enum sl_lack sl_sums_lack(const struct sl_sums *s, const struct sl_need *need)
{
	if (s->nodes < need->min_nodes)
		return SL_LACK_NODES;
	if (need->r->required && s->required < need->r->required->count)
		return SL_LACK_REQUIRED;
	if (s->units < need->units)
		return SL_LACK_CORES;
	for (uint32_t j = 0; j < need->jobs; j++) {
		if (s->job[j] < need->need[need->needs + j].count)
			return SL_LACK_GRES;
	}
	return SL_LACK_NOTHING;
}

void sl_misfit_from(struct sl_misfit *m, const struct sl_need *need, const struct sl_sums *s, enum sl_lack lack)
{
	if (!m)
		return;
	*m = (struct sl_misfit) { .lack = lack };
	switch (lack) {
	case SL_LACK_NODES:
		m->need = need->min_nodes;
		m->have = s->nodes;
		break;
	case SL_LACK_CORES:
		m->need = need->units;
		m->have = s->units;
		break;
	case SL_LACK_REQUIRED:
		m->need = need->r->required->count;
		m->have = s->required;
		break;
	case SL_LACK_GRES:
		for (uint32_t j = 0; j < need->jobs; j++) {
			m->need = need->need[need->needs + j].count;
			m->have = s->job[j];
			if (m->have < m->need)
				break;
		}
		break;
	default:
		m->need = need->min_nodes;
		m->have = s->nodes;
	}
}

/* -- offers at one time ------------------------------------------------ */

int sl_offer_push(struct sl_space *sp, const struct sl_offer *o, struct sl_error *err)
{
	if (sl_grow(&sp->offer, &sp->offer_room, (uint64_t) sp->offers + 1, sizeof(*sp->offer), err))
		return -1;
	sp->offer[sp->offers++] = *o;
	return 0;
}

/* Sums over nodes so rich that any max_nodes of them hold all units.  Once these sums suffice, some choice of nodes does,
 * and the search can stop. */
struct sure {
	int64_t nodes, units;
};

static bool makes_sure(struct sure *s, const struct sl_need *need, const struct sl_offer *o, uint32_t nodes)
{
	if ((int64_t) o->units * need->max_nodes < need->units)
		return false;
	s->nodes += nodes;
	s->units += (int64_t) nodes * o->units;
	return s->nodes >= need->min_nodes && s->units >= need->units;
}

#define EFFORT_OF_OFFER 10	/* beside looking at its class */

/* The first class from number *i* on that has free now what the need requires of a node.  Most classes of a busy machine
 * do not, so this loop dominates sl_gather(). */
static inline uint32_t next_with_least(const struct sl_timeline *tl, const struct sl_need *need, uint32_t i)
{
	const struct sl_live *l = tl->live + i, *end = tl->live + tl->lives;

	while (l < end && (l->free.cores < need->least_cores || l->free.memory < need->least_memory))
		l++;
	return (uint32_t) (l - tl->live);
}

int sl_gather(struct sl_timeline *tl, const struct sl_need *need, int64_t t, bool ask, struct sl_sums *sums,
	      struct sl_error *err)
{
	int64_t end = sl_later(t, need->r->duration);
	struct sure sure = { 0 };
	bool now = t <= tl->now;
	struct sl_space *sp;

	ask = ask && !need->r->required && !need->jobs;
	*sums = (struct sl_sums) { 0 };
	if (sl_eligible_begin(tl, need, err) || sl_effort_spend(tl->effort, tl->lives, err))
		return -1;
	sp = tl->space;
	for (uint32_t i = now ? next_with_least(tl, need, 0) : 0; i < tl->lives; i = now ? next_with_least(tl, need, i + 1) : i + 1) {
		const struct sl_live *l = &tl->live[i];
		const struct sl_node_class *g = &tl->class[l->class];
		uint32_t required = 0, count;
		struct sl_offer o;

		if (!(now ? sl_live_min(tl, i, end, &o.free) : sl_step_min(g, t, end, &o.free)))
			continue;
		sl_need_in_turn(&need->node, &tl->kind[l->kind].capacity, &g->step[sl_step_at(g, t)].free, &o.free);
		if (!sl_need_offer(&need->node, &tl->kind[l->kind].capacity, &o))
			continue;
		if (sl_eligible(tl, need, l, &o.nodes, err))
			return -1;
		sl_effort_add(tl->effort, EFFORT_OF_OFFER);
		if (!o.nodes)
			continue;
		count = o.nodes == &g->nodes ? l->nodes : o.nodes->count;
		if (ask && makes_sure(&sure, need, &o, count))
			return 1;
		if (need->r->required)
			required = sl_nodeset_common(need->r->required, o.nodes);
		sl_sums_add(sums, need, o.units, o.job, count, required, 1);
		o.is_run = o.nodes == &g->nodes && l->runs == 1;
		o.run = l->run;
		o.class = l->class;
		o.weight = tl->kind[l->kind].weight;
		if (sl_offer_push(sp, &o, err))
			return -1;
	}
	return 0;
}

/* List the runs of all offers in node order. */
static int list_offered(struct sl_space *sp)
{
	sp->spans.n = 0;
	for (uint32_t i = 0; i < sp->offers; i++)
		for (uint32_t r = 0; r < sp->offer[i].nodes->runs; r++)
			if (sl_spans_push(&sp->spans, sp->offer[i].nodes->run[r].first, sp->offer[i].nodes->run[r].last, i, NULL))
				return -1;
	return sl_spans_sort(&sp->spans, &sp->sorted, NULL);
}

uint32_t sl_required_missing(struct sl_timeline *tl, const struct sl_need *need)
{
	const struct sl_nodeset *required = need->r->required;
	struct sl_space *sp = tl->space;
	uint32_t at = 0;

	if (list_offered(sp))
		return SL_MAX_NODES;
	sl_effort_add(tl->effort, sp->spans.n + required->count);
	for (uint32_t n = sl_nodeset_next(required, 0); n < SL_MAX_NODES; n = sl_nodeset_next(required, n + 1)) {
		while (at < sp->spans.n && sp->spans.at[at].last < n)
			at++;
		if (at == sp->spans.n || sp->spans.at[at].first > n)
			return n;
	}
	return SL_MAX_NODES;
}

/* -- spans ------------------------------------------------------------- */

int sl_spans_push(struct sl_spans *s, uint32_t first, uint32_t last, uint32_t offer, struct sl_error *err)
{
	if (s->n == s->room && sl_grow(&s->at, &s->room, (uint64_t) s->n + 1, sizeof(*s->at), err))
		return -1;
	s->at[s->n++] = (struct sl_span) { first, last, offer };
	return 0;
}

static void insertion_sort(struct sl_span *a, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		struct sl_span s = a[i];
		uint32_t j = i;

		for (; j && a[j - 1].first > s.first; j--)
			a[j] = a[j - 1];
		a[j] = s;
	}
}

#define MOST_DIGIT 11

static void radix_pass(const struct sl_span *from, struct sl_span *to, uint32_t n, int digit, int shift)
{
	uint32_t at[1u << MOST_DIGIT], digits = 1u << digit, sum = 0;

	memset(at, 0, digits * sizeof(*at));
	for (uint32_t i = 0; i < n; i++)
		at[from[i].first >> shift & (digits - 1)]++;
	for (uint32_t d = 0; d < digits; d++) {
		uint32_t count = at[d];

		at[d] = sum;
		sum += count;
	}
	for (uint32_t i = 0; i < n; i++)
		to[at[from[i].first >> shift & (digits - 1)]++] = from[i];
}

_Static_assert(SL_MAX_NODES <= 1u << 2 * MOST_DIGIT, "two passes sort all nodes");

/* Bits per digit of the radix sort, such that two digits hold the highest node.  A small machine needs small tables. */
static int digit_for(const struct sl_spans *s)
{
	uint32_t all = 1;

	for (uint32_t i = 0; i < s->n; i++)
		all |= s->at[i].first;
	return (33 - __builtin_clz(all)) / 2;
}

/* Sort by first node.  Spans are often sorted already, or nearly so. */
int sl_spans_sort(struct sl_spans *s, struct sl_spans *tmp, struct sl_error *err)
{
	uint32_t i = 1;
	int digit;

	while (i < s->n && s->at[i - 1].first < s->at[i].first)
		i++;
	if (i >= s->n)
		return 0;
	if (s->n <= 48) {
		insertion_sort(s->at, s->n);
		return 0;
	}
	if (sl_grow(&tmp->at, &tmp->room, s->n, sizeof(*tmp->at), err))
		return -1;
	digit = digit_for(s);
	radix_pass(s->at, tmp->at, s->n, digit, 0);
	radix_pass(tmp->at, s->at, s->n, digit, digit);
	return 0;
}

int sl_spans_of(struct sl_spans *s, const struct sl_class *cls, int64_t classes, struct sl_spans *tmp,
		struct sl_error *err)
{
	s->n = 0;
	for (int64_t i = 0; i < classes; i++)
		for (uint32_t r = 0; r < cls[i].nodes->runs; r++)
			if (sl_spans_push(s, cls[i].nodes->run[r].first, cls[i].nodes->run[r].last, (uint32_t) i, err))
				return -1;
	return sl_spans_sort(s, tmp, err);
}

/* -- histogram --------------------------------------------------------- */

int sl_hist_clear(struct sl_space *sp, int64_t top, struct sl_error *err)
{
	if (sl_grow(&sp->hist, &sp->hist_room, (uint64_t) top + 1, sizeof(*sp->hist), err))
		return -1;
	memset(sp->hist, 0, (top + 1) * sizeof(*sp->hist));
	sp->hist_top = (uint32_t) top;
	return 0;
}

int64_t sl_hist_best(const struct sl_space *sp, int64_t nodes)
{
	int64_t sum = 0;

	for (uint32_t u = sp->hist_top; u && nodes > 0; u--) {
		int64_t n = sp->hist[u] < nodes ? sp->hist[u] : nodes;

		sum += n * u;
		nodes -= n;
	}
	return sum;
}
