/* SPDX-License-Identifier: MIT */
/* Placement below switches, worked by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "t/timeline/where.h"

static const struct sl_how bestfit = { .method = SL_PLACE_BESTFIT };
static const struct sl_how contiguous = { .method = SL_PLACE_CONTIGUOUS };
static const struct sl_how spread = { .method = SL_PLACE_SPREAD };

/* Leaves of four nodes, two below each of two switches, which are below a root. */
static void with_tree(struct sl_timeline *tl, struct sl_tree *tree)
{
	static uint32_t leaf_of[16], above[] = { 4, 4, 5, 5, 6, 6, SL_NO_SWITCH }, height[] = { 0, 0, 0, 0, 1, 1, 2 };

	for (uint32_t n = 0; n < 16; n++)
		leaf_of[n] = n / 4;
	*tree = (struct sl_tree) { leaf_of, above, height, 7 };
	sl_timeline_tree(tl, tree);
}

static void a_job_goes_below_the_lowest_switch_that_has_room(void **state)
{
	struct sl_timeline *tl = machine(16, NULL);
	struct sl_request r = { .min_nodes = 3, .duration = 10 };
	struct sl_tree tree;

	(void) state;
	book(tl, "0,5-6,12-13", 8, 0, 100);	/* free: 1-3, 4 7, 8-11, 14-15 */
	assert_string_equal(at(tl, &r, &bestfit, 0), "1-3:1");
	book(tl, "3", 8, 0, 100);		/* 1-2 4 7 8-11 14-15 */
	assert_string_equal(at(tl, &r, &bestfit, 0), "7-9:1");
	with_tree(tl, &tree);
	assert_string_equal(at(tl, &r, &bestfit, 0), "8-10:1");
	r.ignores_tree = true;
	assert_string_equal(at(tl, &r, &bestfit, 0), "7-9:1");
	r.ignores_tree = false;
	r.min_nodes = 2;			/* of the leaves that do, the fullest */
	assert_string_equal(at(tl, &r, &bestfit, 0), "1-2:1");
	r.min_nodes = 5;			/* not 1-2, 4, 7 and one of the other half */
	assert_string_equal(at(tl, &r, &bestfit, 0), "8-11:1 14:1");
	r.min_nodes = 7;			/* three leaves and not four */
	assert_string_equal(at(tl, &r, &bestfit, 0), "1-2:1 8-11:1 14:1");
	r.min_nodes = 10;
	assert_string_equal(at(tl, &r, &bestfit, 0), "1-2:1 4:1 7-11:1 14-15:1");
	sl_timeline_destroy(tl);
}

static void switches_never_keep_a_job_from_starting(void **state)
{
	struct sl_timeline *tl = machine(16, NULL);
	struct sl_nodeset req = set("0,15");
	struct sl_request r = { .min_nodes = 4, .required = &req, .duration = 10 };
	struct sl_tree tree;

	(void) state;
	with_tree(tl, &tree);
	assert_string_equal(at(tl, &r, &bestfit, 0), "0-2:1 15:1");
	tree.leaf_of[15] = SL_NO_SWITCH;	/* a node that hangs on none */
	assert_string_equal(at(tl, &r, &bestfit, 0), "0-2:1 15:1");
	r = (struct sl_request) { .min_nodes = 3, .duration = 10 };
	book(tl, "1-3,5-7,9-11", 8, 0, 100);	/* 0 4 8 12-15: a leaf is free, of too few cores */
	book(tl, "12-14", 6, 0, 100);
	r.cores = 9;
	assert_string_equal(at(tl, &r, &bestfit, 0), "8:7 12-13:1");
	assert_string_equal(earliest(tl, &r, &bestfit, 50, SL_FOREVER), "@50 8:7 12-13:1");
	sl_nodeset_free(&req);
	sl_timeline_destroy(tl);
}

static void a_job_may_ask_for_few_leaves(void **state)
{
	const uint32_t weight[] = { 1, 1, 1, 1, 9, 9, 9, 9, 1, 1, 1, 1, 1, 1, 1, 1 };
	struct sl_timeline *tl = machine(16, weight);
	struct sl_request r = { .min_nodes = 3, .max_leaves = 1, .duration = 10 };
	struct sl_pick picks[] = { { 4, 1, 0 }, { 5, 1, 0 }, { 8, 1, 0 } };
	struct sl_how explicit = { .method = SL_PLACE_EXPLICIT, .picks = picks, .count = 3 };
	struct sl_tree tree;

	(void) state;
	assert_string_equal(at(tl, &r, &bestfit, 0), "0-2:1");	/* no tree, no limit */
	with_tree(tl, &tree);
	book(tl, "0-1,8-9,12-13", 8, 0, 100);
	book(tl, "2-3", 8, 50, 100);
	assert_string_equal(at(tl, &r, &bestfit, 0), "4-6:1");	/* heavy ones, too */
	assert_string_equal(at(tl, &r, &spread, 0), "4-6:1");
	assert_string_equal(at(tl, &r, &contiguous, 0), "4-6:1");
	assert_string_equal(at(tl, &r, &explicit, 0), "needs 1 leaf switches or fewer");
	picks[2].node = 7;
	assert_string_equal(at(tl, &r, &explicit, 0), "4-5:1 7:1");
	r.min_nodes = 2;					/* the leaf with the fewest that will do */
	assert_string_equal(at(tl, &r, &bestfit, 0), "2-3:1");
	r.min_nodes = 5;
	assert_string_equal(at(tl, &r, &bestfit, 0), "needs 1 leaf switches or fewer");
	assert_string_equal(earliest(tl, &r, &bestfit, 0, SL_FOREVER), "needs 1 leaf switches or fewer");
	r.max_leaves = 2;
	assert_string_equal(at(tl, &r, &bestfit, 0), "4-6:1 14-15:1");	/* light ones first */
	r.min_nodes = 4;
	r.max_leaves = 1;
	book(tl, "4", 8, 0, 70);
	assert_string_equal(earliest(tl, &r, &bestfit, 0, SL_FOREVER), "@70 4-7:1");
	sl_timeline_destroy(tl);
}

static void light_nodes_go_before_near_ones(void **state)
{
	const uint32_t weight[] = { 1, 1, 5, 5, 1, 1, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5 };
	struct sl_timeline *tl = machine(16, weight);
	struct sl_request r = { .min_nodes = 3, .duration = 10 };
	struct sl_tree tree;

	(void) state;
	with_tree(tl, &tree);
	assert_string_equal(at(tl, &r, &bestfit, 0), "0-1:1 4:1");
	r.min_nodes = 5;
	assert_string_equal(at(tl, &r, &bestfit, 0), "0-2:1 4-5:1");
	sl_timeline_destroy(tl);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_goes_below_the_lowest_switch_that_has_room),
		cmocka_unit_test(switches_never_keep_a_job_from_starting),
		cmocka_unit_test(a_job_may_ask_for_few_leaves),
		cmocka_unit_test(light_nodes_go_before_near_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
