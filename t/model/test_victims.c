/* SPDX-License-Identifier: MIT */
/*
 * The search for the cheapest set ends after the work that there is for it, however many groups there are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model/victims.h"
#include "model/victims_private.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_search_asks_no_more_than_it_may),
		cmocka_unit_test(bounds_are_exact_only_as_far_as_there_is_work_for_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
