/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "t/random.h"
#include "t/timeline/world.h"

static void take(struct sl_resources *a, const struct sl_resources *b)
{
	a->cores -= b->cores;
	a->memory -= b->memory;
	for (int k = 0; k < SL_MAX_GRES; k++)
		a->gres[k] -= b->gres[k];
}

/* -- a random world ----------------------------------------------------- */

static void random_nodes(struct sl_nodeset *s, uint32_t of)
{
	sl_nodeset_clear(s);
	for (uint32_t n = 0; n < NODES; n++) {
		if (below(of) == 0)
			sl_nodeset_add(s, n, n, NULL);
	}
}

void random_op(struct world *w)
{
	struct op *o = &w->op[w->ops];

	o->block = one_in(8);
	random_nodes(&o->nodes, 2 + below(4));
	o->t0 = between(0, SPAN - 2);
	o->t1 = one_in(5) ? SL_FOREVER : between(o->t0 + 1, SPAN - 1);
	o->each = (struct sl_resources) { .cores = below(4), .memory = below(4), .gres = { below(2), below(2), 0, one_in(5) } };
	if (o->block ? sl_timeline_block(w->tl, &o->nodes, o->t0, o->t1, NULL) :
		       sl_timeline_book(w->tl, &o->nodes, &o->each, o->t0, o->t1, NULL))
		return;
	for (uint32_t n = 0; n < NODES; n++) {
		for (int64_t t = o->t0; t < o->t1 && t < SPAN && sl_nodeset_contains(&o->nodes, n); t++) {
			if (o->block)
				w->blocked[n][t] = true;
			else
				take(&w->free[n][t], &o->each);
		}
	}
	w->ops++;
}

/* The operations again, the last one first, with some that are taken back. */
static void build_twin(struct world *w, uint32_t kinds)
{
	w->twin = sl_timeline_create(NODES, w->kind_of, w->kind, kinds, 0, NULL);
	assert_non_null(w->twin);
	for (int block = 0; block < 2; block++) {
		for (int i = w->ops; i-- > 0;) {
			const struct op *o = &w->op[i];
			uint32_t mark = sl_timeline_mark(w->twin);

			if (o->block != block) {
				sl_timeline_release(w->twin, mark);
				continue;
			}
			if (one_in(3)) {
				sl_timeline_block(w->twin, &o->nodes, 3, 9, NULL);
				sl_timeline_rollback(w->twin, mark);
				mark = sl_timeline_mark(w->twin);
			}
			assert_int_equal(o->block ? sl_timeline_block(w->twin, &o->nodes, o->t0, o->t1, NULL) :
					 sl_timeline_book(w->twin, &o->nodes, &o->each, o->t0, o->t1, NULL), 0);
			sl_timeline_release(w->twin, mark);
		}
	}
}

/* Leaves below one root; a node may hang on none. */
static void random_tree(struct world *w)
{
	static uint32_t above[] = { 3, 3, 3, SL_NO_SWITCH }, height[] = { 0, 0, 0, 1 };

	for (uint32_t n = 0; n < NODES; n++)
		w->leaf_of[n] = one_in(10) ? SL_NO_SWITCH : below(3);
	w->tree = (struct sl_tree) { w->leaf_of, above, height, 4 };
	sl_timeline_tree(w->tl, &w->tree);
	sl_timeline_tree(w->twin, &w->tree);
}

void create_world(struct world *w)
{
	uint32_t kinds = 1 + below(3);

	memset(w, 0, sizeof(*w));
	for (uint32_t k = 0; k < kinds; k++) {
		w->kind[k].id = k;
		w->kind[k].weight = below(2);
		w->kind[k].capacity = (struct sl_resources) { .cores = 1 + below(5), .memory = below(8),
							      .gres = { below(3), below(3), 0, below(2) } };
	}
	for (uint32_t n = 0; n < NODES; n++) {
		w->kind_of[n] = below(kinds);
		for (int t = 0; t < SPAN; t++)
			w->free[n][t] = w->kind[w->kind_of[n]].capacity;
	}
	w->tl = sl_timeline_create(NODES, w->kind_of, w->kind, kinds, 0, NULL);
	assert_non_null(w->tl);
	for (int i = (int) below(OPS); i > 0; i--)
		random_op(w);
	build_twin(w, kinds);
	if (one_in(3))
		random_tree(w);
}

void destroy_world(struct world *w)
{
	sl_timeline_destroy(w->tl);
	sl_timeline_destroy(w->twin);
	for (int i = 0; i < OPS; i++)
		sl_nodeset_free(&w->op[i].nodes);
	sl_nodeset_free(&w->eligible);
	sl_nodeset_free(&w->required);
}

/* -- a random request --------------------------------------------------- */

static void random_gres(struct sl_request *r)
{
	static const struct sl_gres_need narrow = { 1, SL_GRES_PER_NODE, 1, 0 }, wide = { 3, SL_GRES_PER_NODE, 1, 0 };

	if (one_in(3)) {
		r->gres[r->gres_needs] = wide;
		r->gres[r->gres_needs].per = below(2);
		r->gres[r->gres_needs].memory = one_in(2) && !r->memory_per_core ? below(30) : 0;
		r->gres[r->gres_needs++].count = 1 + below(2);
	}
	if (one_in(4)) {
		r->gres[r->gres_needs] = narrow;
		r->gres[r->gres_needs++].per = below(2);
	}
	if (one_in(5))		/* per job: of a kind that nothing else takes */
		r->gres[r->gres_needs++] = (struct sl_gres_need) { 8, SL_GRES_PER_JOB, 1 + below(4), 0 };
}

/* In segments, with nothing beside them that may not be there. */
static void random_segments(struct sl_request *r)
{
	r->segment = 1 + below(3);
	r->min_nodes = r->max_nodes = r->segment * (1 + below(3));
	r->required = NULL;
	r->max_leaves = 0;
	r->most_nodes = r->contiguous = false;
}

void random_request(struct world *w)
{
	struct sl_request *r = &w->r;

	*r = (struct sl_request) { .min_nodes = below(5), .duration = 1 + below(8) };
	if (one_in(8))
		r->duration = SL_FOREVER;
	if (one_in(3))
		r->max_nodes = (r->min_nodes ? r->min_nodes : 1) + below(3);
	r->most_nodes = one_in(4);
	if (one_in(2)) {
		r->tasks = 1 + below(12);
		r->cores_per_task = below(4);
		if (one_in(3))
			r->tasks_per_core = below(3);
	} else if (one_in(2)) {
		r->cores = below(14);
	}
	if (one_in(4))
		r->tasks_per_node = 1 + below(4);
	r->tasks_per_node_exact = one_in(2);
	if (one_in(5))
		r->min_cores_per_node = below(4);
	if (one_in(6))
		r->max_cores_per_node = 1 + below(5);
	if (one_in(5))
		r->cores_at_once = 1 + below(4);
	if (one_in(4))
		r->memory_per_node = below(4);
	if (one_in(4))
		r->memory_per_core = below(3);
	if (one_in(2))
		random_gres(r);
	r->whole_nodes = one_in(7);
	r->spare_cores = one_in(6) ? below(3) : 0;
	r->all_memory = one_in(5);
	if (r->all_memory)
		r->memory_per_node = r->memory_per_core = 0;
	for (uint32_t i = 0; r->all_memory && i < r->gres_needs; i++)
		r->gres[i].memory = 0;
	r->contiguous = one_in(4);
	random_nodes(&w->eligible, 1);
	if (one_in(3)) {
		uint32_t cut = below(NODES);

		sl_nodeset_clear(&w->eligible);
		if (cut)
			sl_nodeset_add(&w->eligible, 0, cut - 1, NULL);
		r->eligible = &w->eligible;
	} else if (one_in(3)) {
		random_nodes(&w->eligible, 2);
		r->eligible = &w->eligible;
	}
	random_nodes(&w->required, 6);
	if (one_in(4)) {
		sl_nodeset_intersect(&w->required, &w->eligible, NULL);
		r->required = &w->required;
	}
	r->max_leaves = one_in(2) ? below(3) : 0;
	if (one_in(5))
		random_segments(r);
}

bool are_below(const struct world *w, unsigned nodes)
{
	unsigned leaves = 0, of_leaf[NODES] = { 0 };

	if (!w->tree.switches || (!w->r.max_leaves && !w->r.segment))
		return true;
	for (uint32_t n = 0; n < NODES; n++) {
		if (!(nodes >> n & 1))
			continue;
		if (w->leaf_of[n] == SL_NO_SWITCH)
			return false;
		leaves |= 1u << w->leaf_of[n];
		of_leaf[w->leaf_of[n]]++;
	}
	for (uint32_t i = 0; w->r.segment && i < NODES; i++)
		if (of_leaf[i] % w->r.segment)
			return false;
	return !w->r.max_leaves || (uint32_t) __builtin_popcount(leaves) <= w->r.max_leaves;
}

struct reading read_request(const struct sl_request *r)
{
	struct reading q = { .sense = true, .least = 1, .most = INT32_MAX, .min_nodes = or_one(r->min_nodes),
			     .max_nodes = r->max_nodes ? r->max_nodes : NODES };
	bool exact = r->tasks_per_node && r->tasks_per_node_exact;

	if (exact) {
		q.units = r->tasks ? r->tasks : q.min_nodes * r->tasks_per_node;
		q.least = q.most = r->tasks_per_node;
		q.sense = q.units % q.least == 0 && q.units / q.least >= q.min_nodes &&
			  (!r->max_nodes || q.units / q.least <= r->max_nodes);
		q.min_nodes = q.max_nodes = q.units / q.least;
		return q;
	}
	q.units = r->tasks ? r->tasks : r->cores;
	if (r->tasks && r->tasks_per_node)
		q.most = r->tasks_per_node;
	if (!r->tasks)
		q.least = or_one(r->min_cores_per_node);
	if (q.units < q.min_nodes * q.least)
		q.units = q.min_nodes * q.least;
	return q;
}

static bool by_tasks(const struct sl_request *r)
{
	return r->tasks || (r->tasks_per_node && r->tasks_per_node_exact);
}

int64_t cores_for(const struct sl_request *r, int64_t units)
{
	int64_t per = by_tasks(r) ? or_one(r->tasks_per_core) : 1, each = by_tasks(r) ? or_one(r->cores_per_task) : 1;
	int64_t cores = (units * each + per - 1) / per;

	if (cores < r->min_cores_per_node)
		cores = r->min_cores_per_node;
	while (!r->whole_nodes && cores % or_one(r->cores_at_once))
		cores++;
	return cores;
}

int64_t memory_for(const struct sl_request *r, int64_t units, int64_t cores)
{
	int64_t memory = r->memory_per_node + cores * r->memory_per_core;

	for (uint32_t i = 0; i < r->gres_needs; i++)
		if (r->gres[i].per != SL_GRES_PER_JOB)
			memory += r->gres[i].memory * r->gres[i].count * (r->gres[i].per == SL_GRES_PER_TASK ? units : 1);
	return memory;
}

/* -- what a node can do, by trying --------------------------------------- */

/* Can the needs from number i on be met from left? */
static bool gres_possible(const struct sl_request *r, uint32_t i, int64_t units, uint16_t *left)
{
	int64_t count;

	if (i == r->gres_needs)
		return true;
	if (r->gres[i].per == SL_GRES_PER_JOB)
		return left[3] > 0 && gres_possible(r, i + 1, units, left);
	count = r->gres[i].count * (r->gres[i].per == SL_GRES_PER_TASK ? units : 1);
	for (int64_t a = 0; a <= count; a++) {	/* so many of kind 0, the rest of kind 1 */
		bool possible;

		if (a > left[0] || count - a > (r->gres[i].kinds & 2 ? left[1] : 0))
			continue;
		left[0] -= a;
		left[1] -= count - a;
		possible = gres_possible(r, i + 1, units, left);
		left[0] += a;
		left[1] += count - a;
		if (possible)
			return true;
	}
	return false;
}

static bool least_free(const struct world *w, uint32_t n, int t, struct sl_resources *f)
{
	int64_t end = w->r.duration == SL_FOREVER ? SPAN : t + w->r.duration;

	*f = w->free[n][t];
	for (int64_t i = t; i < end && i < SPAN; i++) {
		if (w->blocked[n][i])
			return false;
		sl_resources_min(f, &w->free[n][i]);
	}
	return true;
}

int64_t units_on(const struct world *w, const struct reading *q, uint32_t n, int t, struct sl_resources *f)
{
	const struct sl_request *r = &w->r;

	if ((r->eligible && !sl_nodeset_contains(r->eligible, n)) || !least_free(w, n, t, f))
		return 0;
	if (r->whole_nodes && !sl_resources_equal(f, &w->kind[w->kind_of[n]].capacity))
		return 0;
	if (r->all_memory && f->memory != w->kind[w->kind_of[n]].capacity.memory)
		return 0;
	for (int64_t u = q->units < q->most ? q->units : q->most; u >= q->least; u--) {
		int64_t cores = cores_for(r, u);
		uint16_t left[SL_MAX_GRES];

		memcpy(left, f->gres, sizeof(left));
		if (cores + (r->whole_nodes ? 0 : r->spare_cores) <= f->cores && (!r->max_cores_per_node || cores <= r->max_cores_per_node) &&
		    memory_for(r, u, cores) <= f->memory &&
		    gres_possible(r, 0, u, left))
			return u;
	}
	return 0;
}

int64_t job_gres(const struct sl_request *r)
{
	for (uint32_t i = 0; i < r->gres_needs; i++) {
		if (r->gres[i].per == SL_GRES_PER_JOB)
			return r->gres[i].count;
	}
	return 0;
}

bool possible(const struct world *w, const struct reading *q, int t, bool block, int *fewest, int *most)
{
	int64_t units[NODES], gres[NODES];
	uint32_t limit = q->max_nodes;

	*fewest = NODES + 1;
	*most = 0;
	if (job_gres(&w->r) && job_gres(&w->r) < limit)
		limit = job_gres(&w->r) > q->min_nodes ? job_gres(&w->r) : q->min_nodes;
	for (uint32_t n = 0; n < NODES; n++) {
		struct sl_resources f;

		units[n] = units_on(w, q, n, t, &f);
		gres[n] = units[n] ? f.gres[3] : 0;
	}
	for (unsigned set = 1; set < 1u << NODES && q->sense; set++) {
		int64_t sum = 0, g = 0;
		int count = __builtin_popcount(set);
		unsigned low = set / (set & -set);
		bool good = count >= (int) q->min_nodes && count <= (int) limit && (!block || (low & (low + 1)) == 0) &&
			    are_below(w, set);

		for (uint32_t n = 0; n < NODES && good; n++) {
			if (set >> n & 1) {
				good = units[n] > 0;
				sum += units[n];
				g += gres[n];
			} else if (w->r.required) {
				good = !sl_nodeset_contains(w->r.required, n);
			}
		}
		/* no node more than the units fill; but one for each of the job's gres, and what it wants */
		if (!good || sum < q->units || g < job_gres(&w->r) ||
		    (!job_gres(&w->r) && !w->r.most_nodes && (count - 1) * q->least >= q->units + (q->units == 0)))
			continue;
		*fewest = count < *fewest ? count : *fewest;
		*most = count > *most ? count : *most;
	}
	return *most > 0;
}
