/* SPDX-License-Identifier: MIT */
/*
 * The search for the cheapest set ends after the work that there is for it, however many groups there are.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mip/mip.h"
#include "model/victims.h"
#include "model/victims_private.h"
#include "t/build.h"

/* So many groups of one thing each, of which half have to be gone. */
struct many {
	uint32_t groups, gone, looks;
};

static int one_gone(void *arg, uint32_t group, bool gone, struct sl_error *err)
{
	struct many *m = arg;

	(void) group;
	(void) err;
	m->gone += gone ? 1 : -1;
	return 0;
}

static int half_are_gone(void *arg, struct sl_error *err)
{
	struct many *m = arg;

	(void) err;
	m->looks++;
	return 2 * m->gone >= m->groups;
}

static bool looked_200_times(void *arg)
{
	return ((struct many *) arg)->looks > 200;
}

static void the_search_asks_no_more_than_it_may(void **state)
{
	enum { GROUPS = 5000 };
	struct many m = { .groups = GROUPS };
	double *cost = calloc(GROUPS, sizeof(*cost));
	struct sl_victim_piece *piece = calloc(GROUPS, sizeof(*piece));
	struct sl_victim_node node = { .free = { 0 } };
	struct sl_victims v = { .groups = GROUPS, .cost = cost, .dims = 3, .nodes = 1, .pieces = GROUPS, .node = &node, .piece = piece,
				.min_nodes = 1, .most_work = UINT64_MAX, .has_enough = looked_200_times, .set_gone = one_gone,
				.fits = half_are_gone, .arg = &m };
	struct sl_choice choice;
	struct sl_error err;

	(void) state;
	for (uint32_t g = 0; g < GROUPS; g++) {
		cost[g] = 1 + g % 7;
		piece[g] = (struct sl_victim_piece) { .group = g, .amount = { 1, 1, 1 } };
	}
	assert_int_equal(sl_victims_choose(&v, &choice, &err), 0);
	assert_int_equal(choice.verdict, SL_VERDICT_UNPROVEN);
	assert_null(choice.stopped);
	assert_true(choice.looks < 250);
	assert_int_equal(m.gone, 0);
	m.looks = 0;
	v.has_enough = NULL;
	assert_int_equal(sl_victims_choose(&v, &choice, &err), 0);
	assert_int_equal(choice.count, GROUPS / 2);
	sl_choice_free(&choice);
	free(cost);
	free(piece);
}

static void bounds_are_exact_only_as_far_as_there_is_work_for_it(void **state)
{
	enum { NODES = 200, EACH = 40 };
	double *cost = calloc(NODES * EACH, sizeof(*cost));
	uint8_t *open = calloc(NODES * EACH, 1);
	struct sl_victim_node *node = calloc(NODES, sizeof(*node));
	struct sl_victim_piece *piece = calloc(NODES * EACH, sizeof(*piece));
	struct sl_victims v = { .groups = NODES * EACH, .cost = cost, .dims = 1, .nodes = NODES, .pieces = NODES * EACH, .node = node,
				.piece = piece, .min_nodes = NODES, .bounded = true, .most_work = 4000000 };
	struct victim_bounds bounds;
	struct sl_error err;

	(void) state;
	for (uint32_t i = 0; i < NODES * EACH; i++) {
		cost[i] = 1 + i % 7;
		piece[i] = (struct sl_victim_piece) { .group = i, .node = i / EACH, .amount = { 5000 + i % 11 } };
		node[i / EACH].claim[0] = 90000;	/* MiB */
	}
	assert_int_equal(victims_begin_bounds(&bounds, &v, &err), 0);
	assert_true(victims_bound(&bounds, open) > NODES);
	assert_true(bounds.work < v.most_work);
	victims_end_bounds(&bounds);
	free(cost);
	free(open);
	free(node);
	free(piece);
}

/* -- as an integer program ------------------------------------------------------------ */

enum { MOST_GROUPS = 9, MOST_NODES = 4, DIMS = 2, MANY = 600 };

/* A problem in numbers alone: a set will do if as many nodes as it takes have what each has to have, and those have enough in all. */
struct numbers {
	struct sl_victims v;
	double cost[MANY];
	struct sl_victim_node node[MANY];
	struct sl_victim_piece piece[MANY * 2];
	bool gone[MANY];
};

static int number_gone(void *arg, uint32_t group, bool gone, struct sl_error *err)
{
	struct numbers *x = arg;

	(void) err;
	x->gone[group] = gone;
	return 0;
}

/* The nodes of the set (bits) with what is gone. */
static bool will_do(const struct numbers *x, uint32_t nodes)
{
	const struct sl_victims *v = &x->v;
	int64_t sum[DIMS] = { 0 };
	uint32_t n = (uint32_t) __builtin_popcount(nodes);

	if (n < v->min_nodes || (v->max_nodes && n > v->max_nodes))
		return false;
	for (n = 0; n < v->nodes; n++)
		for (uint32_t d = 0; nodes >> n & 1 && d < v->dims; d++) {
			int64_t there = v->node[n].free[d];

			for (uint32_t i = 0; i < v->pieces; i++)
				there += v->piece[i].node == n && x->gone[v->piece[i].group] ? v->piece[i].amount[d] : 0;
			if (there < v->node[n].claim[d])
				return false;
			sum[d] += there;
		}
	for (uint32_t d = 0; d < v->dims; d++)
		if (sum[d] < v->total[d])
			return false;
	return true;
}

static int number_fits(void *arg, struct sl_error *err)
{
	(void) err;
	for (uint32_t nodes = 0; nodes < 1u << ((struct numbers *) arg)->v.nodes; nodes++)
		if (will_do(arg, nodes))
			return 1;
	return 0;
}

static struct numbers draw(uint64_t *seed)
{
	struct numbers x = { .v = { .dims = DIMS, .bounded = true, .most_work = UINT64_MAX } };
	struct sl_victims *v = &x.v;

	v->groups = 1 + build_below(seed, MOST_GROUPS);
	v->nodes = 1 + build_below(seed, MOST_NODES);
	v->min_nodes = 1 + build_below(seed, v->nodes);
	v->max_nodes = build_below(seed, 2) ? v->min_nodes : 0;
	for (uint32_t g = 0; g < v->groups; g++)
		x.cost[g] = build_below(seed, 20) * 1.25;
	for (uint32_t n = 0; n < v->nodes; n++)
		for (uint32_t d = 0; d < DIMS; d++) {
			x.node[n].free[d] = build_below(seed, 3);
			x.node[n].claim[d] = build_below(seed, 6);
		}
	for (uint32_t n = 0; n < v->nodes; n++)
		for (uint32_t g = 0; g < v->groups; g++)
			if (!build_below(seed, v->nodes))
				x.piece[v->pieces++] = (struct sl_victim_piece) { g, n, { build_below(seed, 4), build_below(seed, 4) } };
	for (uint32_t d = 0; d < DIMS; d++)
		v->total[d] = build_below(seed, 10);
	return x;
}

/* The least that any set costs; INFINITY: none will do. */
static double cheapest_of(struct numbers *x)
{
	double best = INFINITY;

	for (uint32_t set = 0; set < 1u << x->v.groups; set++) {
		double cost = 0;

		for (uint32_t g = 0; g < x->v.groups; g++) {
			x->gone[g] = set >> g & 1;
			cost += x->gone[g] ? x->cost[g] : 0;
		}
		if (cost < best && number_fits(x, NULL))
			best = cost;
	}
	memset(x->gone, 0, sizeof(x->gone));
	return best;
}

static void own(struct numbers *x)
{
	x->v.cost = x->cost;
	x->v.node = x->node;
	x->v.piece = x->piece;
	x->v.set_gone = number_gone;
	x->v.fits = number_fits;
	x->v.arg = x;
}

static void what_a_solver_proposes_of_numbers_is_the_cheapest_and_its_bound_no_more(void **state)
{
	uint64_t seed = 17;
	uint32_t solved = 0;

	(void) state;
	if (!sl_mip_backend_name(0))
		skip();
	for (int i = 0; i < 60; i++) {
		struct numbers x = draw(&seed);
		struct victim_bounds bounds;
		bool chosen[MANY] = { false };
		struct sl_proposal out;
		struct sl_error err;
		double cheapest, cost = 0;
		int rc;

		own(&x);
		x.v.most_mip = 1;
		cheapest = cheapest_of(&x);
		assert_int_equal(victims_begin_bounds(&bounds, &x.v, &err), 0);
		rc = victims_solve(&bounds, chosen, &out, &err);
		victims_end_bounds(&bounds);
		for (uint32_t g = 0; g < x.v.groups; g++)
			cost += chosen[g] ? x.cost[g] : 0;
		if (rc != isfinite(cheapest) || (rc && (fabs(cost - cheapest) > 1e-6 || out.bound > cheapest + 1e-6)))
			fail_msg("problem %d: the solver says %d at %g, bound %g; all sets %g", i, rc, cost, out.bound, cheapest);
		solved += rc;
	}
	assert_true(solved > 15);
}

/* 600 jobs on one node, no two alike, of which about ten have to go. */
static void of_more_groups_than_are_looked_through_the_cheapest_set_is_proven(void **state)
{
	struct numbers *x = calloc(1, sizeof(*x));
	struct sl_choice choice;
	struct sl_error err;
	double found;

	(void) state;
	if (!sl_mip_backend_name(0)) {
		free(x);
		skip();
	}
	x->v = (struct sl_victims) { .groups = MANY, .dims = 1, .nodes = 1, .bounded = true, .min_nodes = 1, .most_work = 40000000 };
	own(x);
	for (uint32_t g = 0; g < MANY; g++) {
		x->cost[g] = 1000 + (g * 7919u) % 977;
		x->piece[x->v.pieces++] = (struct sl_victim_piece) { g, 0, { 30000 + (int64_t) (g * 104729u) % 20011 } };
	}
	x->node[0].claim[0] = 400000;
	assert_int_equal(sl_victims_choose(&x->v, &choice, &err), 0);
	assert_int_equal(choice.verdict, SL_VERDICT_FOUND);
	assert_true(choice.bound < choice.cost);
	found = choice.cost;
	sl_choice_free(&choice);
	x->v.most_mip = 2;
	assert_int_equal(sl_victims_choose(&x->v, &choice, &err), 0);
	assert_int_equal(choice.verdict, SL_VERDICT_OPTIMAL);
	assert_true(choice.cost <= found);
	assert_true(choice.mip_work > 0);
	sl_choice_free(&choice);
	free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_search_asks_no_more_than_it_may),
		cmocka_unit_test(bounds_are_exact_only_as_far_as_there_is_work_for_it),
		cmocka_unit_test(what_a_solver_proposes_of_numbers_is_the_cheapest_and_its_bound_no_more),
		cmocka_unit_test(of_more_groups_than_are_looked_through_the_cheapest_set_is_proven),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
