/* SPDX-License-Identifier: MIT */
/*
 * Placement against a reference that knows every node at every instant and tries
 * every set of nodes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "t/random.h"
#include "t/timeline/world.h"

/* -- is the answer right? ------------------------------------------------- */

static void check_gres(const struct world *w, const struct sl_place *p, int64_t units)
{
	const struct sl_request *r = &w->r;
	int64_t gpus = 0, of_kind_0 = 0;

	for (uint32_t i = 0; i < r->gres_needs; i++) {
		int64_t n = r->gres[i].count * (r->gres[i].per == SL_GRES_PER_TASK ? units : 1);

		if (r->gres[i].kinds == 8)
			continue;
		gpus += n;
		if (r->gres[i].kinds == 1)
			of_kind_0 += n;
	}
	assert_int_equal(p->gres[0] + p->gres[1], gpus);
	assert_true(p->gres[0] >= of_kind_0);
}

/* Units that the cores of a place stand for: between the two. */
static void units_of(const struct world *w, const struct reading *q, int64_t cores, int64_t *low, int64_t *high)
{
	*low = *high = 0;
	for (int64_t u = q->least; u <= q->units && u <= q->most; u++) {
		if (cores_for(&w->r, u) != cores)
			continue;
		*low = *low ? *low : u;
		*high = u;
	}
}

static void check_place(const struct world *w, const struct reading *q, const struct sl_place *p, int64_t start,
			int64_t *low, int64_t *high)
{
	const struct sl_resources *cap = &w->kind[w->kind_of[p->node]].capacity;
	struct sl_resources f, got = { .cores = (int32_t) p->cores, .memory = p->memory };

	memcpy(got.gres, p->gres, sizeof(got.gres));
	assert_true(units_on(w, q, p->node, (int) start, &f) > 0);
	assert_true(sl_resources_fit(&got, &f));
	if (w->r.whole_nodes) {
		assert_true(sl_resources_equal(&got, cap));
		*low = q->least;
		*high = units_on(w, q, p->node, (int) start, &f);
		return;
	}
	units_of(w, q, p->cores, low, high);
	assert_true(*low > 0);
	if (w->r.all_memory)
		assert_int_equal(p->memory, cap->memory);
	else
		assert_in_range(p->memory, memory_for(&w->r, *low, p->cores), memory_for(&w->r, *high, p->cores));
	assert_int_equal(p->gres[2], 0);
	if (!w->r.gres_needs)
		assert_int_equal(p->gres[0] + p->gres[1] + p->gres[3], 0);
	else if (*low == *high)
		check_gres(w, p, *low);
}

static void check_even(const struct world *w, const struct reading *q, const struct sl_place *p, uint32_t nodes,
		       int64_t start)
{
	int64_t most = 0;

	for (uint32_t i = 0; i < nodes; i++)
		most = p[i].cores > most ? p[i].cores : most;
	for (uint32_t i = 0; i < nodes; i++) {
		struct sl_resources f;

		if (p[i].cores + or_one(w->r.cores_per_task) + or_one(w->r.cores_at_once) - 1 < most)
			assert_int_equal(p[i].cores, cores_for(&w->r, units_on(w, q, p[i].node, (int) start, &f)));
	}
}

static void check_layout(const struct world *w, const struct reading *q, const struct sl_layout *l, int64_t start,
			 enum sl_place_method method)
{
	bool block = w->r.contiguous || (method == SL_PLACE_CONTIGUOUS && !(w->tree.switches && w->r.segment));
	struct sl_place p[NODES];
	int64_t low = 0, high = 0, gres = 0;
	unsigned set = 0;

	assert_in_range(l->nodes, q->min_nodes, q->max_nodes);
	assert_int_equal(sl_layout_places(l, p, NULL), 0);
	for (uint32_t i = 0; i < l->nodes; i++) {
		int64_t a, b;

		check_place(w, q, &p[i], start, &a, &b);
		low += a;
		high += b;
		gres += p[i].gres[3];
		assert_true(!i || p[i].node > p[i - 1].node);
		assert_true(!block || !i || p[i].node == p[i - 1].node + 1);
		set |= 1u << p[i].node;
	}
	assert_true(are_below(w, set));
	/* exactly the units asked for, or the least of each node */
	assert_true(high >= q->units);
	assert_true(low <= q->units || low == q->least * l->nodes);
	if (job_gres(&w->r) && !w->r.whole_nodes)
		assert_int_equal(gres, job_gres(&w->r));
	for (uint32_t n = 0; n < NODES && w->r.required; n++) {
		bool there = false;

		for (uint32_t i = 0; i < l->nodes; i++)
			there |= p[i].node == n;
		assert_true(there || !sl_nodeset_contains(w->r.required, n));
	}
	if (method == SL_PLACE_SPREAD && !w->r.whole_nodes && !job_gres(&w->r) && !w->r.min_cores_per_node &&
	    or_one(w->r.tasks_per_core) == 1)
		check_even(w, q, p, l->nodes, start);
}

static void check_booking(struct world *w, const struct sl_layout *l, int64_t start)
{
	int64_t end = w->r.duration == SL_FOREVER ? SL_FOREVER : start + w->r.duration;
	uint32_t mark = sl_timeline_mark(w->tl);
	struct sl_error err;

	if (sl_layout_book(w->tl, l, start, end, &err))
		fail_msg("%s", err.text);
	sl_timeline_rollback(w->tl, mark);
}

static void same_layout(const struct sl_layout *a, const struct sl_layout *b)
{
	struct sl_place p[NODES], q[NODES];

	assert_int_equal(a->nodes, b->nodes);
	assert_int_equal(sl_layout_places(a, p, NULL), 0);
	assert_int_equal(sl_layout_places(b, q, NULL), 0);
	assert_memory_equal(p, q, a->nodes * sizeof(p[0]));
}

static void check_explicit(struct world *w, const struct sl_layout *l, int64_t start)
{
	struct sl_layout again = SL_LAYOUT_EMPTY;
	struct sl_pick picks[NODES];
	struct sl_place p[NODES];
	struct sl_how how = { .method = SL_PLACE_EXPLICIT, .picks = picks, .count = l->nodes };

	bool told = one_in(2);

	if (job_gres(&w->r))
		return;
	assert_int_equal(sl_layout_places(l, p, NULL), 0);
	for (uint32_t i = 0; i < l->nodes; i++)
		picks[i] = (struct sl_pick) { .node = p[i].node, .cores = p[i].cores, .tasks = told ? p[i].tasks : 0 };
	assert_int_equal(sl_fit_at(w->tl, &w->r, &how, start, &again, NULL, NULL), 1);
	if (told)
		same_layout(l, &again);
	sl_layout_free(&again);
}

/* -- the two questions ---------------------------------------------------- */

/* Segments hold, whatever the method is. */
static bool has_segments(const struct world *w)
{
	return w->tree.switches && w->r.segment;
}

static bool wants_block(const struct world *w, const struct sl_how *how)
{
	return w->r.contiguous || (how->method == SL_PLACE_CONTIGUOUS && !has_segments(w));
}

/* A choice of nodes by gres per job within a limit of nodes is a knapsack: there a
 * fit may be missed.  So it is with segments of which the nodes need not give as much as each other. */
static bool knapsack(const struct world *w, const struct reading *q)
{
	return job_gres(&w->r) > 0 || (w->tree.switches && w->r.max_leaves > 1) ||
		(has_segments(w) && q->units > q->least * q->min_nodes);
}

static void ask_at(struct world *w, const struct reading *q, const struct sl_how *how)
{
	bool block = wants_block(w, how);
	struct sl_layout l = SL_LAYOUT_EMPTY, m = SL_LAYOUT_EMPTY;
	int t = one_in(2) ? 0 : (int) below(SPAN), fewest, most;
	bool can = possible(w, q, t, block, &fewest, &most);
	struct sl_misfit misfit;
	struct sl_request each;
	int rc = sl_fit_at(w->tl, &w->r, how, t, &l, &misfit, NULL);

	assert_true(rc == 0 || rc == 1);
	assert_int_equal(sl_fit_at(w->tl, &w->r, how, t, NULL, NULL, NULL), rc);
	if (rc == 1 || !knapsack(w, q))
		assert_int_equal(rc, can);
	assert_int_equal(sl_fit_at(w->twin, &w->r, how, t, &m, NULL, NULL), rc);
	same_layout(&l, &m);
	assert_true(rc || misfit.lack != SL_LACK_NOTHING);
	assert_false(can && sl_fit_outgrows_gres(w->tl, &w->r, &each));
	if (rc) {
		assert_true(l.cores >= sl_fit_least_cores(w->tl, &w->r));
		check_layout(w, q, &l, t, how->method);
		check_booking(w, &l, t);
		check_explicit(w, &l, t);
		if (how->method == SL_PLACE_PACK && !block && !knapsack(w, q) && !w->tree.switches)
			assert_int_equal(l.nodes, fewest);
		if ((how->method == SL_PLACE_SPREAD || (w->r.most_nodes && !t && how->method != SL_PLACE_PACK)) && !block &&
		    !knapsack(w, q) && !w->tree.switches)
			assert_int_equal(l.nodes, most);
	}
	sl_layout_free(&l);
	sl_layout_free(&m);
}

static void ask_earliest(struct world *w, const struct reading *q, const struct sl_how *how)
{
	bool block = wants_block(w, how);
	struct sl_layout l = SL_LAYOUT_EMPTY, m = SL_LAYOUT_EMPTY;
	int64_t from = one_in(2) ? 0 : below(SPAN), latest = one_in(3) ? between(from, SPAN) : SL_FOREVER;
	int64_t first = NOT_AT_ALL, start = NOT_AT_ALL, other = NOT_AT_ALL;
	int fewest, most, rc;
	struct sl_misfit misfit;

	for (int t = (int) from; t < SPAN && t <= latest && first == NOT_AT_ALL; t++) {
		if (possible(w, q, t, block, &fewest, &most))
			first = t;
	}
	rc = sl_fit_earliest(w->tl, &w->r, how, from, latest, &start, &l, &misfit, NULL);
	assert_true(rc == 0 || rc == 1);
	assert_int_equal(sl_fit_earliest(w->twin, &w->r, how, from, latest, &other, &m, NULL, NULL), rc);
	assert_int_equal(start, other);
	same_layout(&l, &m);
	if (!knapsack(w, q))
		assert_int_equal(start, first);
	else if (rc)
		assert_true(start >= first && first != NOT_AT_ALL);
	if (rc) {
		check_layout(w, q, &l, start, how->method);
		check_booking(w, &l, start);
		/* asked for that time alone the answer is the same */
		assert_int_equal(sl_fit_at(w->tl, &w->r, how, start, &m, NULL, NULL), 1);
		same_layout(&l, &m);
	} else {
		assert_true(misfit.lack != SL_LACK_NOTHING);
	}
	sl_layout_free(&l);
	sl_layout_free(&m);
}

static void every_answer_agrees_with_trying_everything(void **state)
{
	static const enum sl_place_method methods[] = {
		SL_PLACE_BESTFIT, SL_PLACE_CONTIGUOUS, SL_PLACE_PACK, SL_PLACE_SPREAD, SL_PLACE_TIGHT,
		SL_PLACE_LEAST_LOADED, SL_PLACE_NATIVE, SL_PLACE_BLOCKS,
	};
	uint64_t seed = number_from("SL_SEED", 100), rounds = rounds_of(400);
	static struct world w;

	(void) state;
	for (uint64_t round = 0; round < rounds; round++) {
		failing_seed = random_state = seed + round;
		create_world(&w);
		for (int i = 0; i < 12; i++) {
			struct sl_how how = { .method = methods[below(8)] };
			struct reading q;

			random_request(&w);
			q = read_request(&w.r);
			ask_at(&w, &q, &how);
			ask_earliest(&w, &q, &how);
		}
		destroy_world(&w);
	}
	failing_seed = 0;
}

/* -- what is remembered ---------------------------------------------------- */

/* An operation on the machine: book, or with sign +1 give back. */
static int operate(struct sl_timeline *tl, const struct op *o, bool back)
{
	if (o->block)
		return back ? sl_timeline_unblock(tl, &o->nodes, o->t0, o->t1, NULL) :
			      sl_timeline_block(tl, &o->nodes, o->t0, o->t1, NULL);
	return back ? sl_timeline_unbook(tl, &o->nodes, &o->each, o->t0, o->t1, NULL) :
		      sl_timeline_book(tl, &o->nodes, &o->each, o->t0, o->t1, NULL);
}

/* Asked of a timeline that has been asked before, and of one that never was. */
static void ask_both(struct world *w, int64_t now)
{
	const struct sl_how how = { .method = SL_PLACE_BESTFIT };
	struct sl_layout l = SL_LAYOUT_EMPTY, m = SL_LAYOUT_EMPTY;
	int rc;

	w->twin = sl_timeline_create(NODES, w->kind_of, w->kind, 3, now, NULL);
	if (w->tree.switches)
		sl_timeline_tree(w->twin, &w->tree);
	for (int block = 0; block < 2; block++) {
		for (int i = 0; i < w->ops; i++)
			assert_true(w->op[i].block != block || operate(w->twin, &w->op[i], false) == 0);
	}
	rc = sl_fit_at(w->twin, &w->r, &how, 0, &m, NULL, NULL);
	assert_int_equal(sl_fit_at(w->tl, &w->r, &how, 0, &l, NULL, NULL), rc);
	same_layout(&l, &m);
	sl_timeline_destroy(w->twin);
	w->twin = NULL;
	sl_layout_free(&l);
	sl_layout_free(&m);
}

static void memory_round(struct world *w)
{
	uint32_t mark[4];
	int marks = 0, kept[4];
	int64_t now = 0;

	for (int i = 0; i < 100; i++) {
		uint32_t what = below(12);

		if (what < 4 && w->ops < OPS) {
			random_op(w);
		} else if (what == 4 && marks < 4) {
			kept[marks] = w->ops;
			mark[marks++] = sl_timeline_mark(w->tl);
		} else if (what == 5 && marks) {
			sl_timeline_rollback(w->tl, mark[--marks]);
			while (w->ops > kept[marks])
				sl_nodeset_clear(&w->op[--w->ops].nodes);
		} else if (what == 6 && !marks && w->ops) {
			struct op *o = &w->op[below((uint32_t) w->ops)], swap = *o;

			assert_int_equal(operate(w->tl, o, true), 0);
			*o = w->op[--w->ops];
			w->op[w->ops] = swap;
		} else if (what == 7 && !marks && now < SPAN / 2) {
			now++;
			assert_int_equal(sl_timeline_advance(w->tl, now, NULL), 0);
		} else {	/* often the same again, or the like */
			if (one_in(6))
				random_request(w);
			else if (one_in(3))
				w->r = (struct sl_request) { .min_nodes = 1 + below(NODES), .duration = 1 + below(6) };
			ask_both(w, now);
		}
	}
}

static void what_was_refused_before_makes_no_difference(void **state)
{
	uint64_t seed = number_from("SL_SEED", 5000), rounds = rounds_of(150);
	static struct world w;

	(void) state;
	for (uint64_t round = 0; round < rounds; round++) {
		failing_seed = random_state = seed + round;
		create_world(&w);
		sl_timeline_destroy(w.twin);
		w.twin = NULL;
		random_request(&w);
		memory_round(&w);
		destroy_world(&w);
	}
	failing_seed = 0;
}

/* -- what holds of two requests ------------------------------------------- */

/* The same, or with a few fields as in another request. */
static struct sl_request like(const struct sl_request *r, const struct sl_request *other)
{
	struct sl_request one = *r;

	one.min_nodes = one_in(4) ? other->min_nodes : one.min_nodes;
	one.max_nodes = one_in(4) ? other->max_nodes : one.max_nodes;
	one.most_nodes = one_in(4) ? other->most_nodes : one.most_nodes;
	one.contiguous = one_in(4) ? other->contiguous : one.contiguous;
	one.max_leaves = one_in(4) ? other->max_leaves : one.max_leaves;
	one.segment = one_in(4) ? other->segment : one.segment;
	one.ignores_tree = one_in(4);
	one.tasks = one_in(4) ? other->tasks : one.tasks;
	one.cores_per_task = one_in(4) ? other->cores_per_task : one.cores_per_task;
	one.tasks_per_core = one_in(4) ? other->tasks_per_core : one.tasks_per_core;
	one.cores = one_in(4) ? other->cores : one.cores;
	one.min_cores_per_node = one_in(4) ? other->min_cores_per_node : one.min_cores_per_node;
	one.max_cores_per_node = one_in(4) ? other->max_cores_per_node : one.max_cores_per_node;
	one.cores_at_once = one_in(4) ? other->cores_at_once : one.cores_at_once;
	one.least_free_cores = one_in(4) ? below(5) : 0;
	one.spare_cores = one_in(4) ? other->spare_cores : one.spare_cores;
	one.extra_cores = one_in(4) ? (int32_t) below(5) - 2 : 0;
	one.tasks_per_node = one_in(4) ? other->tasks_per_node : one.tasks_per_node;
	one.tasks_per_node_exact = one_in(4) ? other->tasks_per_node_exact : one.tasks_per_node_exact;
	one.plane = one_in(8) ? 1 + below(3) : 0;
	if (one_in(4) && !one.all_memory && !other->all_memory && !one.gres_needs) {
		one.memory_per_node = other->memory_per_node;
		one.memory_per_core = other->memory_per_core;
	}
	one.whole_nodes = one_in(4) ? other->whole_nodes : one.whole_nodes;
	if (one_in(4))
		one.gres_needs = one_in(2) ? 0 : below(one.gres_needs + 1);
	return one;
}

static bool fits(struct world *w, const struct sl_request *r, int64_t t, struct sl_misfit *misfit)
{
	const struct sl_how how = { .method = SL_PLACE_BESTFIT };

	return sl_fit_at(w->tl, r, &how, t, NULL, misfit, NULL) == 1;
}

/* Often for a node of each of two parts, or for the two nodes that a list names. */
static void add_which(struct sl_request *r, const struct sl_part *part, struct sl_pick *pick)
{
	uint32_t which = below(6);

	if (which > 2 || r->required || sl_request_has_job_gres(r))
		return;
	r->contiguous = false;
	r->plane = r->max_leaves = r->segment = 0;
	if (which == 0) {
		r->part = part;
		r->parts = 2;
		r->min_nodes = r->min_nodes < 2 ? 2 : r->min_nodes;
	} else {
		pick[0] = (struct sl_pick) { .node = below(NODES / 2), .tasks = 1 + below(4) };
		pick[1] = (struct sl_pick) { .node = NODES / 2 + below(NODES / 2), .tasks = 1 + below(4) };
		r->min_nodes = r->max_nodes = 2;
		r->tasks = pick[0].tasks + pick[1].tasks;
		r->eligible = NULL;
		r->pick = pick;
		r->picks = 2;
	}
	if (r->max_nodes && r->max_nodes < r->min_nodes)
		r->max_nodes = r->min_nodes;
}

/* Two requests that differ in few fields.  (All nodes of the second may be had by the first: what the caller looks at.) */
static void draw_pair(struct world *w, const struct sl_part *part, struct sl_pick *pick, struct sl_request *a,
		      struct sl_request *b)
{
	struct sl_request other;

	random_request(w);
	other = w->r;
	random_request(w);
	*a = like(&w->r, &other);
	*b = like(&w->r, &other);
	a->duration = b->duration = 1 + below(4);
	a->eligible = b->eligible;
	add_which(a, part, pick);
	if (!a->picks && one_in(2))
		return;
	b->part = a->part;
	b->parts = a->parts;
	b->pick = one_in(2) ? a->pick : NULL;
	b->picks = b->pick ? a->picks : 0;
}

static void say_both(const struct sl_request *a, const struct sl_request *b)
{
#define SL_X(type, name, comparison, holds) if (a->name || b->name) \
		print_error("%s: %lld %lld\n", #name, (long long) (intptr_t) a->name, (long long) (intptr_t) b->name);
	SL_REQUEST_FIELDS(SL_X)
#undef SL_X
	fail_msg("the second fits, and the first does not");
}

static void a_request_fits_where_one_fits_that_asks_no_less(void **state)
{
	uint64_t seed = number_from("SL_SEED", 9000), rounds = rounds_of(2000), compared = 0;
	static struct world w;

	(void) state;
	for (uint64_t round = 0; round < rounds; round++) {
		struct sl_run half[2] = { { 0, NODES / 2 - 1 }, { NODES / 2, NODES - 1 } };
		struct sl_part part[2] = { { { &half[0], 1, 1, NODES / 2 }, 1 }, { { &half[1], 1, 1, NODES / 2 }, 1 } };
		struct sl_pick pick[2];

		failing_seed = random_state = seed + round;
		create_world(&w);
		for (int i = 0; i < 100; i++) {
			struct sl_request a, b;
			struct sl_misfit misfit;
			int64_t t = below(SPAN);

			draw_pair(&w, part, pick, &a, &b);
			if (sl_request_check(&a, NULL) || sl_request_check(&b, NULL) || !sl_request_asks_no_less(&a, &b) ||
			    !fits(&w, &b, t, NULL))
				continue;
			compared++;
			/* (a choice by gres of the job, or of leaves, may be missed; and nobody keeps that something is senseless) */
			if (!fits(&w, &a, t, &misfit) && misfit.lack != SL_LACK_SENSE && sl_request_has_first_start(&a))
				say_both(&a, &b);
		}
		destroy_world(&w);
	}
	failing_seed = 0;
	assert_true(compared > rounds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(every_answer_agrees_with_trying_everything, say_seed),
		cmocka_unit_test_teardown(a_request_fits_where_one_fits_that_asks_no_less, say_seed),
		cmocka_unit_test_teardown(what_was_refused_before_makes_no_difference, say_seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
