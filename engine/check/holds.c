/* SPDX-License-Identifier: MIT */
/*
 * check/holds.c - places that are held for jobs that wait: see check.h, "Held places".
 *
 * Of each node of such a place so much is billed as is free there now, beside what runs: from now on until the job's own
 * row begins or, if it has none, until the place is given up.
 */
#include "check/private.h"

#include <stdlib.h>
#include <string.h>

/* What is free of one node now. */
struct rest {
	int64_t cores, memory, *gres;
};

static void count_rest(const struct check *c, uint32_t node, struct rest *r)
{
	const struct sl_snapshot *s = c->snap;
	struct sl_range has = s->node.gres[node];

	r->cores = s->node.cores[node];
	r->memory = s->node.memory[node];
	memset(r->gres, 0, ((size_t) s->gres_kind.rows + 1) * sizeof(*r->gres));
	for (uint32_t i = has.first; i < has.first + has.count; i++)
		r->gres[s->node_gres.kind[i]] += s->node_gres.count[i];
	for (uint32_t i = 0; i < c->bills; i++) {
		const struct bill *b = &c->bill[i];

		if (b->node != node || b->planned || b->start > c->now || b->end <= c->now)
			continue;
		r->cores -= b->cores;
		r->memory -= b->memory;
		for (uint32_t k = 0; k < b->kinds; k++)
			r->gres[b->kind[k]] -= b->count[k];
	}
}

static int64_t lesser(int64_t a, int64_t rest)
{
	return a < rest ? a : rest > 0 ? rest : 0;
}

/* When the job has the place by a row of its own; the end of what is held, where it has none. */
static int64_t held_to(const struct check *c, uint32_t job, int64_t until)
{
	for (uint32_t i = 0; i < c->rows; i++)
		if (c->row[i].job == job && !c->row[i].out && c->row[i].at < until)
			until = c->row[i].at;
	return until;
}

static int bill_node(struct check *c, uint32_t a, int64_t until, struct rest *rest, uint32_t *count)
{
	const struct sl_snapshot *s = c->snap;
	struct sl_range gres = s->alloc.gres[a];
	struct bill b = {
		.start = c->now, .end = until, .kind = s->alloc_gres.kind + gres.first, .count = count,
		.of = s->alloc_gres.of + gres.first, .devices = s->alloc_gres.devices + gres.first, .kinds = gres.count,
		.node = s->alloc.node[a], .job = SL_NONE, .row = SL_NONE, .partition = SL_NONE, .resv = SL_NONE,
	};

	count_rest(c, b.node, rest);
	b.cores = (uint32_t) lesser(s->alloc.cores[a], rest->cores);
	b.memory = lesser(s->alloc.memory[a], rest->memory);
	for (uint32_t k = 0; k < gres.count; k++)
		count[k] = (uint32_t) lesser(s->alloc_gres.count[gres.first + k], rest->gres[b.kind[k]]);
	return check_add_bill(c, &b);
}

/* True if the plan releases the place, or has another one for the job. */
static bool is_given_up(const struct check *c, uint32_t job)
{
	for (uint32_t i = 0; i < c->plan->hold.rows; i++)
		if (check_find_job(c, c->plan->hold.job[i]) == job)
			return true;
	return false;
}

int check_bill_holds(struct check *c)
{
	const struct sl_held_view *v = &c->snap->held;
	struct rest rest = { .gres = calloc((size_t) c->snap->gres_kind.rows + 1, sizeof(*rest.gres)) };
	int rc = 0;

	c->held_count = calloc((size_t) c->snap->alloc_gres.rows + 1, sizeof(*c->held_count));
	if (!rest.gres || !c->held_count)
		rc = sl_fail(c->err, SL_ENOMEM, "check: out of memory");
	for (uint32_t r = 0; !rc && r < v->rows; r++) {
		int64_t until = is_given_up(c, v->job[r]) ? c->now : held_to(c, v->job[r], v->until[r]);

		for (uint32_t a = v->places[r].first; !rc && until > c->now && a < v->places[r].first + v->places[r].count; a++)
			rc = bill_node(c, a, until, &rest, c->held_count + c->snap->alloc.gres[a].first);
	}
	free(rest.gres);
	return rc;
}
