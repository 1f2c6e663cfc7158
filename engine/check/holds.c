/* SPDX-License-Identifier: MIT */
/*
 * check/holds.c - places held for pending jobs: see check.h, "Held places".
 *
 * On each node of a held place, what is free now beside running jobs is billed to the place, from now until the job's own row
 * begins or, without one, until the hold ends.  If this plan begins to hold the place, what the plan decided before is not
 * free either.
 *
 * If the snapshot has two places on one node, the later one gets what the earlier one leaves.  That holds even if the job of
 * the earlier place starts now, because it starts within its place.
 */
#include "check/private.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* What is free of a node now. */
struct rest {
	int64_t cores, memory, *gres;
	uint32_t *first, *next;		/* [node], [bill] linked lists of the bills of a node: index + 1, or 0 */
	struct bill *begun;		/* what jobs that start now take of their held places */
	uint32_t begins;
};

/* Index all bills, with room for those of held places. */
static int list_bills(struct check *c, struct rest *r)
{
	const struct sl_held_view *v = &c->snap->held;
	size_t room = (size_t) c->bills + c->plan->place.rows + 1;

	for (uint32_t i = 0; i < v->rows; i++)
		room += v->places[i].count;
	r->gres = calloc((size_t) c->snap->gres_kind.rows + 1, sizeof(*r->gres));
	r->first = calloc((size_t) c->snap->node.rows + 1, sizeof(*r->first));
	r->next = calloc(room, sizeof(*r->next));
	c->held_count = calloc((size_t) c->snap->alloc_gres.rows + 1, sizeof(*c->held_count));
	c->hold_count = calloc((size_t) c->plan->place_gres.rows + 1, sizeof(*c->hold_count));
	if (!r->gres || !r->first || !r->next || !c->held_count || !c->hold_count)
		return sl_fail(c->err, SL_ENOMEM, "check: out of memory");
	for (uint32_t i = 0; i < c->bills; i++) {
		r->next[i] = r->first[c->bill[i].node];
		r->first[c->bill[i].node] = i + 1;
	}
	return 0;
}

static int add_bill(struct check *c, const struct bill *b, struct rest *r)
{
	if (check_add_bill(c, b) < 0)
		return -1;
	r->next[c->bills - 1] = r->first[b->node];
	r->first[b->node] = c->bills;
	return 0;
}

/* Rows that the plan made before it held a place: the place was chosen beside them. */
struct before {
	uint32_t starts, reservations;
	int64_t until;			/* begin of the job's own row */
};

static bool stood_before(const struct check *c, const struct bill *b, const struct before *w)
{
	uint32_t starts = c->plan->start.rows;

	if (!b->planned)
		return b->start <= c->now && b->end > c->now;
	return w && b->start < w->until && !check_is_out(c, b) &&
		(b->row < starts ? b->row < w->starts : b->row - starts < w->reservations);
}

static void take_off(struct rest *r, const struct bill *b)
{
	r->cores -= b->cores;
	r->memory -= b->memory;
	for (uint32_t k = 0; k < b->kinds; k++)
		r->gres[b->kind[k]] -= b->count[k];
}

static void count_rest(const struct check *c, uint32_t node, const struct before *w, struct rest *r)
{
	const struct sl_snapshot *s = c->snap;
	struct sl_range has = s->node.gres[node];

	r->cores = s->node.cores[node];
	r->memory = s->node.memory[node];
	memset(r->gres, 0, ((size_t) s->gres_kind.rows + 1) * sizeof(*r->gres));
	for (uint32_t i = has.first; i < has.first + has.count; i++)
		r->gres[s->node_gres.kind[i]] += s->node_gres.count[i];
	for (uint32_t i = r->first[node]; i; i = r->next[i - 1]) {
		const struct bill *b = &c->bill[i - 1];

		if (stood_before(c, b, w))
			take_off(r, b);
	}
	for (uint32_t i = 0; i < r->begins; i++)
		if (r->begun[i].node == node && (!w || r->begun[i].row >= w->starts))	/* otherwise the start itself is
											 * counted */
			take_off(r, &r->begun[i]);
}

static int64_t lesser(int64_t a, int64_t rest)
{
	return a < rest ? a : rest > 0 ? rest : 0;
}

/* Begin of the job's own row, or the end of the hold if it has none. */
static int64_t held_to(const struct check *c, uint32_t job, int64_t until)
{
	for (uint32_t i = 0; i < c->rows; i++)
		if (c->row[i].job == job && !c->row[i].out && c->row[i].at < until)
			until = c->row[i].at;
	return until;
}

/* Count of a gres kind in a bill. */
static uint64_t count_of(const struct bill *b, uint32_t kind)
{
	uint64_t sum = 0;

	for (uint32_t k = 0; k < b->kinds; k++)
		sum += b->kind[k] == kind ? b->count[k] : 0;
	return sum;
}

static bool begins_there(const struct check *c, const struct bill *b, uint32_t job)
{
	return b->planned && b->job == job && b->start <= c->now && !check_is_out(c, b);
}

/* Of what is held on a node for a job that starts now, note what it starts with (*b, *count). */
static int note_begun(struct check *c, struct bill *b, uint32_t job, uint32_t *count, struct rest *rest)
{
	int64_t cores = 0, memory = 0;

	for (uint32_t i = rest->first[b->node]; i; i = rest->next[i - 1])
		if (begins_there(c, &c->bill[i - 1], job)) {
			cores += c->bill[i - 1].cores;
			memory += c->bill[i - 1].memory;
			b->row = c->bill[i - 1].row;
		}
	b->cores = (uint32_t) lesser(b->cores, cores);
	b->memory = lesser(b->memory, memory);
	for (uint32_t k = 0; k < b->kinds; k++) {
		uint64_t has = 0;

		for (uint32_t i = rest->first[b->node]; i; i = rest->next[i - 1])
			has += begins_there(c, &c->bill[i - 1], job) ? count_of(&c->bill[i - 1], b->kind[k]) : 0;
		count[k] = has < count[k] ? (uint32_t) has : count[k];
	}
	if (sl_grow_list(&rest->begun, rest->begins, sizeof(*b), c->err))
		return -1;
	rest->begun[rest->begins++] = *b;
	return 0;
}

static int bill_node(struct check *c, uint32_t a, uint32_t job, int64_t until, struct rest *rest, uint32_t *count)
{
	const struct sl_snapshot *s = c->snap;
	struct sl_range gres = s->alloc.gres[a];
	struct bill b = {
		.start = c->now, .end = until, .kind = s->alloc_gres.kind + gres.first, .count = count,
		.of = s->alloc_gres.of + gres.first, .devices = s->alloc_gres.devices + gres.first, .kinds = gres.count,
		.node = s->alloc.node[a], .job = SL_NONE, .row = SL_NONE, .partition = SL_NONE, .resv = SL_NONE,
	};

	count_rest(c, b.node, NULL, rest);
	b.cores = (uint32_t) lesser(s->alloc.cores[a], rest->cores);
	b.memory = lesser(s->alloc.memory[a], rest->memory);
	for (uint32_t k = 0; k < gres.count; k++)
		count[k] = (uint32_t) lesser(s->alloc_gres.count[gres.first + k], rest->gres[b.kind[k]]);
	return until > c->now ? add_bill(c, &b, rest) : note_begun(c, &b, job, count, rest);
}

/* True if the plan releases the place, or replaces it by another one. */
static bool is_given_up(const struct check *c, uint32_t job)
{
	for (uint32_t i = 0; i < c->plan->hold.rows; i++)
		if (check_find_job(c, c->plan->hold.job[i]) == job)
			return true;
	return false;
}

/* Bill the place that the plan begins to hold for that row, as far as it is free now and not used by earlier rows. */
static int bill_place(struct check *c, uint32_t hold, uint32_t row, uint32_t place, struct rest *rest)
{
	const struct sl_plan_image *p = c->plan;
	const struct before w = { p->hold.starts[hold], p->hold.behind[hold], c->row[row].at };
	struct sl_range gres = p->place.gres[place];
	uint32_t *count = c->hold_count + gres.first;
	struct bill b = {
		.start = c->now, .end = c->row[row].at, .kind = p->place_gres.kind + gres.first, .count = count,
		.of = p->place_gres.of + gres.first, .devices = p->place_gres.devices + gres.first, .kinds = gres.count,
		.node = p->place.node[place], .job = SL_NONE, .row = row, .partition = SL_NONE, .resv = SL_NONE,
	};

	count_rest(c, b.node, &w, rest);
	b.cores = (uint32_t) lesser(p->place.cores[place], rest->cores);
	b.memory = lesser(p->place.memory[place], rest->memory);
	for (uint32_t k = 0; k < gres.count; k++)
		count[k] = (uint32_t) lesser(p->place_gres.count[gres.first + k], rest->gres[b.kind[k]]);
	return add_bill(c, &b, rest);
}

static int bill_fresh(struct check *c, struct rest *rest)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < c->plan->hold.rows; i++) {
		uint32_t j = c->plan->hold.release[i] ? SL_NONE : check_find_job(c, c->plan->hold.job[i]), row = 0;

		while (row < c->rows && (j == SL_NONE || c->row[row].job != j || !c->row[row].holds || c->row[row].out))
			row++;
		for (uint32_t a = 0; row < c->rows && !rc && c->row[row].at > c->now && a < c->row[row].places.count; a++)
			rc = bill_place(c, i, row, c->row[row].places.first + a, rest);
	}
	return rc;
}

int check_bill_holds(struct check *c)
{
	const struct sl_held_view *v = &c->snap->held;
	struct rest rest = { .gres = NULL };
	int rc = list_bills(c, &rest);

	for (uint32_t r = 0; !rc && r < v->rows; r++) {
		bool stands = v->until[r] > c->now && !is_given_up(c, v->job[r]);
		int64_t until = held_to(c, v->job[r], v->until[r]);

		for (uint32_t a = v->places[r].first; !rc && stands && a < v->places[r].first + v->places[r].count; a++)
			rc = bill_node(c, a, v->job[r], until, &rest, c->held_count + c->snap->alloc.gres[a].first);
	}
	if (!rc)
		rc = bill_fresh(c, &rest);
	free(rest.gres);
	free(rest.first);
	free(rest.next);
	free(rest.begun);
	return rc;
}
