/* SPDX-License-Identifier: MIT */
/* Placement by each method, worked by hand; test_place_tree.c has switches, test_fit.c tries everything. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "t/timeline/where.h"

static const struct sl_how bestfit = { .method = SL_PLACE_BESTFIT };
static const struct sl_how contiguous = { .method = SL_PLACE_CONTIGUOUS };
static const struct sl_how spread = { .method = SL_PLACE_SPREAD };

/* -- bestfit ----------------------------------------------------------- */

static void bestfit_takes_the_smallest_set_that_suffices(void **state)
{
	struct sl_timeline *tl = machine(20, NULL);

	(void) state;
	book(tl, "5,9,16", 8, 0, 100);	/* sets 0-4, 6-8, 10-15, 17-19 */
	assert_string_equal(at(tl, &(struct sl_request) { .min_nodes = 3, .cores = 24, .duration = 10 }, &bestfit, 0),
			    "6-8:8");
	assert_string_equal(at(tl, &(struct sl_request) { .min_nodes = 4, .cores = 32, .duration = 10 }, &bestfit, 0),
			    "0-3:8");
	assert_string_equal(at(tl, &(struct sl_request) { .min_nodes = 6, .duration = 10 }, &bestfit, 0), "10-15:1");
	sl_timeline_destroy(tl);
}

static void bestfit_takes_the_largest_sets_when_none_suffices(void **state)
{
	struct sl_timeline *tl = machine(20, NULL);

	(void) state;
	book(tl, "5,9,16", 8, 0, 100);
	/* 6 of 10-15, then the tightest for the 4 left: 0-4 */
	assert_string_equal(at(tl, &(struct sl_request) { .min_nodes = 10, .cores = 80, .duration = 10 }, &bestfit, 0),
			    "0-3:8 10-15:8");
	/* 6, 5, then one of 6-8 */
	assert_string_equal(at(tl, &(struct sl_request) { .min_nodes = 12, .cores = 96, .duration = 10 }, &bestfit, 0),
			    "0-4:8 6:8 10-15:8");
	sl_timeline_destroy(tl);
}

static void bestfit_puts_a_small_job_on_the_tightest_node_of_its_set(void **state)
{
	struct sl_timeline *tl = machine(6, NULL);

	(void) state;
	book(tl, "1", 4, 0, 100);
	book(tl, "3", 5, 0, 100);
	book(tl, "5", 7, 0, 100);
	assert_string_equal(at(tl, &(struct sl_request) { .tasks = 3, .duration = 10 }, &bestfit, 0), "3:3");
	assert_string_equal(at(tl, &(struct sl_request) { .tasks = 4, .duration = 10 }, &bestfit, 0), "1:4");
	assert_string_equal(at(tl, &(struct sl_request) { .tasks = 5, .duration = 10 }, &bestfit, 0), "0:5");
	assert_string_equal(at(tl, &(struct sl_request) { .tasks = 1, .duration = 10 }, &bestfit, 0), "5:1");
	sl_timeline_destroy(tl);
}

static void bestfit_takes_the_lowest_weight_first_even_when_it_is_not_enough(void **state)
{
	const uint32_t weight[] = { 5, 5, 1, 1, 5, 5, 5, 3 };
	struct sl_timeline *tl = machine(8, weight);

	(void) state;
	assert_string_equal(at(tl, &(struct sl_request) { .min_nodes = 2, .duration = 10 }, &bestfit, 0), "2-3:1");
	assert_string_equal(at(tl, &(struct sl_request) { .min_nodes = 5, .duration = 10 }, &bestfit, 0),
			    "0-3:1 7:1");
	assert_string_equal(at(tl, &(struct sl_request) { .min_nodes = 6, .duration = 10 }, &bestfit, 0),
			    "2-7:1");
	sl_timeline_destroy(tl);
}

static void bestfit_grows_from_the_required_nodes_upwards_then_downwards(void **state)
{
	struct sl_timeline *tl = machine(12, NULL);
	struct sl_nodeset req = set("4");
	struct sl_request r = { .min_nodes = 3, .required = &req, .duration = 10 };

	(void) state;
	book(tl, "7", 8, 0, 100);
	assert_string_equal(at(tl, &r, &bestfit, 0), "4-6:1");
	r.min_nodes = 5;
	assert_string_equal(at(tl, &r, &bestfit, 0), "2-6:1");
	r.min_nodes = 8;
	assert_string_equal(at(tl, &r, &bestfit, 0), "0-6:1 8:1");
	r.min_nodes = r.max_nodes = 1;
	assert_string_equal(at(tl, &r, &bestfit, 0), "4:1");
	book(tl, "4", 8, 0, 100);
	assert_string_equal(at(tl, &r, &bestfit, 0), "needs 1 required nodes, 0 would do");
	sl_nodeset_free(&req);
	sl_timeline_destroy(tl);
}

static void a_limit_of_nodes_passes_over_the_poor_ones(void **state)
{
	struct sl_timeline *tl = machine(6, NULL);
	struct sl_request r = { .min_nodes = 2, .max_nodes = 2, .tasks = 12, .duration = 10 };

	(void) state;
	book(tl, "0-1", 7, 0, 100);
	book(tl, "2-3", 4, 0, 100);
	book(tl, "5", 1, 0, 100);	/* free: 1 1 4 4 8 7 */
	assert_string_equal(at(tl, &r, &bestfit, 0), "2:4 4:8");
	r.tasks = 15;
	assert_string_equal(at(tl, &r, &bestfit, 0), "4:8 5:7");
	r.tasks = 16;
	assert_string_equal(at(tl, &r, &bestfit, 0), "needs 2 nodes, 1 would do");
	r.max_nodes = 3;
	assert_string_equal(at(tl, &r, &bestfit, 0), "0:1 4:8 5:7");
	sl_timeline_destroy(tl);
}

/* -- tasks ------------------------------------------------------------- */

static void tasks_fill_node_after_node_and_leave_one_for_each(void **state)
{
	struct sl_timeline *tl = machine(4, NULL);

	(void) state;
	assert_string_equal(at(tl, &(struct sl_request) { .min_nodes = 2, .tasks = 5, .duration = 10 }, &bestfit, 0),
			    "0:4 1:1");
	assert_string_equal(at(tl, &(struct sl_request) { .min_nodes = 3, .tasks = 18, .duration = 10 }, &bestfit, 0),
			    "0-1:8 2:2");
	assert_string_equal(at(tl, &(struct sl_request) { .min_nodes = 1, .tasks = 18, .duration = 10 }, &bestfit, 0),
			    "0-1:8 2:2");
	assert_string_equal(at(tl, &(struct sl_request) { .min_nodes = 4, .tasks = 2, .duration = 10 }, &bestfit, 0),
			    "0-3:1");
	sl_timeline_destroy(tl);
}

static void a_task_never_spans_nodes(void **state)
{
	struct sl_timeline *tl = machine(4, NULL);

	(void) state;
	assert_string_equal(at(tl, &(struct sl_request) { .tasks = 4, .cores_per_task = 3, .duration = 10 }, &bestfit, 0),
			    "0-1:6");
	assert_string_equal(at(tl, &(struct sl_request) { .tasks = 4, .cores_per_task = 5, .duration = 10 }, &bestfit, 0),
			    "0-3:5");
	assert_string_equal(at(tl, &(struct sl_request) { .tasks = 5, .cores_per_task = 5, .duration = 10 }, &bestfit, 0),
			    "needs room for 5 tasks or cores, 4 can be had");
	assert_string_equal(at(tl, &(struct sl_request) { .tasks = 5, .tasks_per_core = 2, .duration = 10 }, &bestfit, 0),
			    "0:3");
	sl_timeline_destroy(tl);
}

/* A node that is left one task has a core for two. */
static void tasks_that_share_cores_take_no_more_cores_on_several_nodes(void **state)
{
	struct sl_timeline *tl = machine(4, NULL);
	struct sl_request r = { .min_nodes = 3, .max_nodes = 3, .tasks = 6, .tasks_per_core = 2, .duration = 10 };

	(void) state;
	assert_string_equal(at(tl, &r, &bestfit, 0), "0-2:1");
	r.tasks = 5;
	assert_string_equal(at(tl, &r, &bestfit, 0), "0-2:1");
	r.tasks = 11;
	assert_string_equal(at(tl, &r, &bestfit, 0), "0:4 1-2:1");
	r.tasks = 40;
	assert_string_equal(at(tl, &r, &bestfit, 0), "0-1:8 2:4");
	r.min_cores_per_node = 3;
	r.tasks = 20;
	assert_string_equal(at(tl, &r, &bestfit, 0), "0:4 1-2:3");
	sl_timeline_destroy(tl);
}

static void tasks_per_node_may_be_a_limit_or_exact(void **state)
{
	struct sl_timeline *tl = machine(6, NULL);
	struct sl_request r = { .tasks = 7, .tasks_per_node = 3, .duration = 10 };

	(void) state;
	assert_string_equal(at(tl, &r, &bestfit, 0), "0-1:3 2:1");
	r.tasks_per_node_exact = true;
	assert_string_equal(at(tl, &r, &bestfit, 0), "asks for 1 where 2 is what it allows");
	r.tasks = 6;
	book(tl, "1", 6, 0, 100);
	assert_string_equal(at(tl, &r, &bestfit, 0), "2-3:3");
	r.tasks = 0;
	r.min_nodes = 5;
	assert_string_equal(at(tl, &r, &bestfit, 0), "0:3 2-5:3");
	r.min_nodes = 6;
	assert_string_equal(at(tl, &r, &bestfit, 0), "needs 6 nodes, 5 would do");
	sl_timeline_destroy(tl);
}

static void memory_limits_the_tasks_of_a_node(void **state)
{
	struct sl_timeline *tl = machine(3, NULL);
	struct sl_layout l = SL_LAYOUT_EMPTY;
	struct sl_request r = { .tasks = 8, .memory_per_core = 1500, .duration = 10 };

	(void) state;
	assert_string_equal(at(tl, &r, &bestfit, 0), "0:5 1:3");
	r.memory_per_node = 2000;
	assert_int_equal(sl_fit_at(tl, &r, &bestfit, 0, &l, NULL, NULL), 1);
	assert_string_equal(text_of(&l), "0-1:4");
	assert_int_equal(l.share[0].each.memory, 8000);
	r.memory_per_node = 8000;
	assert_string_equal(at(tl, &r, &bestfit, 0), "needs 1 nodes, 0 would do");
	sl_layout_free(&l);
	sl_timeline_destroy(tl);
}

static void a_node_may_have_to_have_more_free_than_it_gives(void **state)
{
	struct sl_timeline *tl = machine(3, NULL);
	struct sl_request r = { .tasks = 2, .max_nodes = 1, .least_free_cores = 5, .duration = 10 };

	(void) state;
	book(tl, "0", 4, 0, 6);
	book(tl, "1", 3, 0, 7);
	assert_string_equal(at(tl, &r, &bestfit, 0), "1:2");
	assert_int_equal(sl_fit_least_cores(tl, &r), 2);
	book(tl, "1-2", 1, 0, 8);
	assert_string_equal(at(tl, &r, &bestfit, 0), "2:2");
	book(tl, "2", 3, 0, 9);
	assert_string_equal(earliest(tl, &r, &bestfit, 0, SL_FOREVER), "@6 0:2");
	r.least_free_cores = 9;
	assert_string_equal(at(tl, &r, &bestfit, 0), "needs 1 nodes, 0 would do");
	sl_timeline_destroy(tl);
}

static void a_node_may_have_to_keep_some_free_beside_what_it_gives(void **state)
{
	struct sl_timeline *tl = machine(3, NULL);
	struct sl_request r = { .tasks = 7, .spare_cores = 4, .duration = 10 };
	struct sl_resources each = { .cores = 3 }, claim;

	(void) state;
	book(tl, "0", 4, 0, 6);
	book(tl, "1", 1, 0, 7);
	assert_string_equal(at(tl, &r, &bestfit, 0), "1:3 2:4");
	r.max_nodes = 1;
	assert_string_equal(at(tl, &r, &bestfit, 0), "would take 2 nodes, may have 1");
	r.tasks = 4;
	assert_string_equal(at(tl, &r, &bestfit, 0), "2:4");
	book(tl, "2", 1, 0, 8);
	assert_string_equal(earliest(tl, &r, &bestfit, 0, SL_FOREVER), "@6 0:4");
	sl_request_claim(&r, &each, &claim);
	assert_int_equal(claim.cores, 7);
	sl_timeline_destroy(tl);
}

static void tasks_of_whole_nodes_are_on_what_is_left_to_the_system_or_not(void **state)
{
	struct sl_timeline *tl = machine(3, NULL);
	struct sl_request r = { .tasks = 14, .whole_nodes = true, .duration = 10 };

	(void) state;
	assert_string_equal(at(tl, &r, &bestfit, 0), "0-1:8");
	r.extra_cores = -1;
	assert_string_equal(at(tl, &r, &bestfit, 0), "0-1:8");
	r.extra_cores = -2;
	assert_string_equal(at(tl, &r, &bestfit, 0), "0-2:8");
	r.extra_cores = -8;
	assert_int_equal(sl_fit_at(tl, &r, &bestfit, 0, NULL, NULL, NULL), 0);
	r.extra_cores = 6;
	assert_string_equal(at(tl, &r, &bestfit, 0), "0:8");
	assert_int_equal(sl_fit_least_cores(tl, &r), 8);
	sl_timeline_destroy(tl);
}

static void cores_may_be_given_so_many_at_once(void **state)
{
	struct sl_timeline *tl = machine(4, NULL);
	struct sl_request r = { .tasks = 3, .cores_at_once = 4, .duration = 10 };

	(void) state;
	assert_string_equal(at(tl, &r, &bestfit, 0), "0:4");
	r.cores_per_task = 3;	/* the second one is of both fours */
	assert_string_equal(at(tl, &r, &bestfit, 0), "0:8 1:4");
	book(tl, "0-2", 3, 0, 5);	/* free: 5 5 5 8 */
	assert_string_equal(at(tl, &r, &bestfit, 0), "0-2:4");
	r.max_nodes = 2;
	assert_string_equal(at(tl, &r, &bestfit, 0), "0:4 3:8");
	r = (struct sl_request) { .min_nodes = 2, .tasks = 6, .cores_at_once = 4, .duration = 10 };
	assert_string_equal(at(tl, &r, &spread, 5), "0-3:4");
	r = (struct sl_request) { .min_nodes = 2, .cores_at_once = 8, .duration = 10 };
	assert_string_equal(earliest(tl, &r, &bestfit, 0, SL_FOREVER), "@5 0-1:8");
	r = (struct sl_request) { .tasks = 1, .cores_at_once = 4, .memory_per_core = 1500, .duration = 10 };
	assert_string_equal(at(tl, &r, &bestfit, 0), "0:4");
	r.cores_at_once = 8;
	assert_int_equal(sl_fit_at(tl, &r, &bestfit, 5, NULL, NULL, NULL), 0);
	sl_timeline_destroy(tl);
}

static void whole_nodes_must_be_empty_and_are_given_whole(void **state)
{
	struct sl_timeline *tl = machine(4, NULL);
	struct sl_layout l = SL_LAYOUT_EMPTY;
	struct sl_request r = { .min_nodes = 2, .tasks = 3, .whole_nodes = true, .duration = 10 };

	(void) state;
	book(tl, "1", 1, 5, 6);
	assert_int_equal(sl_fit_at(tl, &r, &bestfit, 0, &l, NULL, NULL), 1);
	assert_string_equal(text_of(&l), "2-3:8");
	assert_int_equal(l.share[0].each.memory, 8000);
	assert_int_equal(l.share[0].each.gres[0], 2);
	assert_int_equal(sl_layout_book(tl, &l, 0, 10, NULL), 0);
	assert_string_equal(earliest(tl, &r, &bestfit, 0, SL_FOREVER), "@6 0-1:8");
	sl_layout_free(&l);
	sl_timeline_destroy(tl);
}

/* -- gres -------------------------------------------------------------- */

static struct sl_timeline *two_kinds_of_gpu(void)
{
	/* kind 0 and kind 1 are gpus, kind 2 is something else */
	const struct sl_node_kind kind[] = {
		{ .id = 0, .capacity = { .cores = 8, .memory = 100, .gres = { 2, 0, 1 } }, .weight = 1 },
		{ .id = 1, .capacity = { .cores = 8, .memory = 100, .gres = { 0, 4, 0 } }, .weight = 1 },
		{ .id = 2, .capacity = { .cores = 8, .memory = 100, .gres = { 1, 1, 0 } }, .weight = 1 },
	};
	const uint32_t kind_of[] = { 0, 1, 2 };

	return sl_timeline_create(3, kind_of, kind, 3, 0, NULL);
}

static void a_gres_without_type_may_be_any_kind_of_its_name(void **state)
{
	struct sl_timeline *tl = two_kinds_of_gpu();
	struct sl_layout l = SL_LAYOUT_EMPTY;
	struct sl_request r = { .min_nodes = 3, .gres = { { 3, SL_GRES_PER_NODE, 2 } }, .gres_needs = 1, .duration = 10 };

	(void) state;
	assert_int_equal(sl_fit_at(tl, &r, &bestfit, 0, &l, NULL, NULL), 1);
	assert_string_equal(text_of(&l), "0-2:1");
	assert_int_equal(l.shares, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(l.share[i].each.gres[0] + l.share[i].each.gres[1], 2);
	/* the narrow need takes its kind, the wide one what is left, in any order */
	r.gres[1] = (struct sl_gres_need) { 1, SL_GRES_PER_NODE, 1, 0 };
	r.gres[0].count = 1;
	r.gres_needs = 2;
	r.min_nodes = 2;
	assert_string_equal(at(tl, &r, &bestfit, 0), "0:1 2:1");
	r.min_nodes = 3;
	assert_string_equal(at(tl, &r, &bestfit, 0), "needs 3 nodes, 2 would do");
	sl_layout_free(&l);
	sl_timeline_destroy(tl);
}

static void gres_per_task_and_per_job(void **state)
{
	struct sl_timeline *tl = two_kinds_of_gpu();
	struct sl_layout l = SL_LAYOUT_EMPTY;
	struct sl_request r = { .tasks = 4, .gres = { { 3, SL_GRES_PER_TASK, 1 } }, .gres_needs = 1, .duration = 10 };

	(void) state;
	assert_string_equal(at(tl, &r, &bestfit, 0), "1:4");
	r.min_nodes = 3;
	assert_string_equal(at(tl, &r, &bestfit, 0), "0:2 1-2:1");
	r.tasks = 9;
	assert_string_equal(at(tl, &r, &bestfit, 0), "needs room for 9 tasks or cores, 8 can be had");
	r = (struct sl_request) { .tasks = 2, .gres = { { 3, SL_GRES_PER_JOB, 6 } }, .gres_needs = 1, .duration = 10 };
	assert_int_equal(sl_fit_at(tl, &r, &bestfit, 0, &l, NULL, NULL), 1);
	assert_string_equal(text_of(&l), "0-1:1");
	assert_int_equal(l.share[0].each.gres[0] + l.share[1].each.gres[1], 6);
	r.gres[0].count = 9;
	assert_string_equal(at(tl, &r, &bestfit, 0), "needs 9 of a gres in all, 8 can be had");
	sl_layout_free(&l);
	sl_timeline_destroy(tl);
}

static void memory_comes_with_each_gres(void **state)
{
	struct sl_timeline *tl = two_kinds_of_gpu();
	struct sl_layout l = SL_LAYOUT_EMPTY;
	struct sl_request r = { .tasks = 1, .gres = { { 3, SL_GRES_PER_JOB, 5, 7 } }, .gres_needs = 1, .duration = 10 };
	int64_t memory = 0;

	(void) state;
	assert_int_equal(sl_fit_at(tl, &r, &bestfit, 0, &l, NULL, NULL), 1);
	for (uint32_t i = 0; i < l.shares; i++) {
		const struct sl_resources *each = &l.share[i].each;

		assert_int_equal(each->memory, 7 * (each->gres[0] + each->gres[1]));
		memory += each->memory * sl_nodeset_count(&l.share[i].nodes);
	}
	assert_int_equal(memory, 35);
	r.gres[0].memory = sl_timeline_kind(tl, 0)->capacity.memory;
	assert_string_equal(at(tl, &r, &bestfit, 0), "needs 5 of a gres in all, 3 can be had");
	sl_layout_free(&l);
	sl_timeline_destroy(tl);
}

static void gres_of_the_job_are_dealt_out_by_index_as_select_does(void **state)
{
	const struct sl_node_kind kind[] = {
		{ .id = 0, .capacity = { .cores = 8, .memory = 100, .gres = { 4 } }, .weight = 2 },
		{ .id = 1, .capacity = { .cores = 8, .memory = 100, .gres = { 4 } }, .weight = 1 },
	};
	const uint32_t kind_of[] = { 0, 0, 1, 1 };
	struct sl_timeline *tl = sl_timeline_create(4, kind_of, kind, 2, 0, NULL);
	const struct sl_pick picks[] = { { 0, 1, 0 }, { 1, 1, 0 }, { 3, 1, 0 } };
	const struct sl_how explicit = { .method = SL_PLACE_EXPLICIT, .picks = picks, .count = 3 };
	struct sl_layout l = SL_LAYOUT_EMPTY;
	struct sl_request r = { .min_nodes = 3, .tasks = 3, .gres = { { 1, SL_GRES_PER_JOB, 5 } }, .gres_needs = 1, .duration = 10 };

	(void) state;
	assert_int_equal(sl_fit_at(tl, &r, &bestfit, 0, &l, NULL, NULL), 1);
	assert_int_equal(l.nodes, 3);
	for (uint32_t i = 0; i < l.shares; i++)
		assert_int_equal(l.share[i].each.gres[0], sl_nodeset_contains(&l.share[i].nodes, 0) ? 3 : 1);
	assert_int_equal(sl_fit_at(tl, &r, &explicit, 0, &l, NULL, NULL), 1);
	assert_int_equal(l.shares, 2);
	assert_int_equal(l.share[0].each.gres[0], 3);
	sl_layout_free(&l);
	sl_timeline_destroy(tl);
}

/* -- contiguous -------------------------------------------------------- */

static void a_block_is_the_smallest_hole_that_suffices(void **state)
{
	struct sl_timeline *tl = machine(20, NULL);
	struct sl_nodeset eligible = set("0-11,13-19"), req = set("16");
	struct sl_request r = { .min_nodes = 3, .duration = 10, .eligible = &eligible };

	(void) state;
	book(tl, "5,9", 8, 0, 100);	/* blocks 0-4, 6-8, 10-11, 13-19 */
	assert_string_equal(at(tl, &r, &contiguous, 0), "6-8:1");
	r.min_nodes = 5;
	assert_string_equal(at(tl, &r, &contiguous, 0), "0-4:1");
	r.contiguous = true;
	r.min_nodes = 6;
	assert_string_equal(at(tl, &r, &bestfit, 0), "13-18:1");
	r.min_nodes = 8;
	assert_string_equal(at(tl, &r, &spread, 0),
			    "needs a block of 8 consecutive nodes, the longest is 7");
	assert_string_equal(earliest(tl, &r, &bestfit, 0, SL_FOREVER), "@100 0-7:1");
	r.min_nodes = 2;
	r.required = &req;
	assert_string_equal(at(tl, &r, &bestfit, 0), "15-16:1");
	r.min_nodes = 13;
	assert_string_equal(earliest(tl, &r, &bestfit, 0, SL_FOREVER),
			    "needs a block of 13 consecutive nodes, the longest is 12");
	sl_nodeset_free(&eligible);
	sl_nodeset_free(&req);
	sl_timeline_destroy(tl);
}

static void a_block_of_unequal_nodes_is_the_shortest_that_holds_the_tasks(void **state)
{
	struct sl_timeline *tl = machine(8, NULL);
	struct sl_request r = { .tasks = 17, .contiguous = true, .duration = 10 };

	(void) state;
	book(tl, "0,3", 6, 0, 100);
	book(tl, "4", 3, 0, 100);	/* free: 2 8 8 2 5 8 8 8 */
	assert_string_equal(at(tl, &r, &bestfit, 0), "0:2 1:8 2:7");
	r.tasks = 16;
	assert_string_equal(at(tl, &r, &bestfit, 0), "1-2:8");
	r.tasks = 9;
	r.max_nodes = r.min_nodes = 3;
	assert_string_equal(at(tl, &r, &bestfit, 0), "0:2 1:6 2:1");
	r.tasks = 24;
	assert_string_equal(at(tl, &r, &bestfit, 0), "5-7:8");
	book(tl, "6", 1, 0, 100);
	assert_string_equal(at(tl, &r, &bestfit, 0), "needs a block of 3 consecutive nodes, the longest is 2");
	r.max_nodes = 4;
	r.tasks = 29;
	assert_string_equal(at(tl, &r, &bestfit, 0), "no block of consecutive nodes has enough, the longest is 4");
	r.tasks = 33;
	assert_string_equal(at(tl, &r, &bestfit, 0), "would take 5 nodes, may have 4");
	sl_timeline_destroy(tl);
}

/* -- pack, spread, tight, least_loaded ---------------------------------- */

/* As --contiguous --spread-job, and a range of nodes, say. */
static void a_block_may_be_as_long_as_can_be(void **state)
{
	struct sl_timeline *tl = machine(8, NULL);
	struct sl_request r = { .tasks = 3, .cores_per_task = 3, .contiguous = true, .duration = 10 };

	(void) state;
	book(tl, "3", 8, 0, 100);
	assert_string_equal(at(tl, &r, &bestfit, 0), "0:6 1:3");
	assert_string_equal(at(tl, &r, &spread, 0), "0-2:3");
	r.tasks = 5;
	assert_string_equal(at(tl, &r, &spread, 0), "4:6 5-7:3");
	r = (struct sl_request) { .min_nodes = 1, .max_nodes = 4, .contiguous = true, .most_nodes = true, .duration = 10 };
	assert_string_equal(at(tl, &r, &bestfit, 0), "4-7:1");
	sl_timeline_destroy(tl);
}

/* -- time -------------------------------------------------------------- */

static void the_earliest_start_is_when_the_last_node_needed_is_free(void **state)
{
	struct sl_timeline *tl = machine(8, NULL);
	struct sl_request r = { .min_nodes = 6, .cores = 48, .duration = 100 };

	(void) state;
	book(tl, "0-1", 8, 0, 50);
	book(tl, "2-3", 8, 0, 30);
	assert_string_equal(earliest(tl, &r, &bestfit, 0, SL_FOREVER), "@30 2-7:8");
	assert_string_equal(earliest(tl, &r, &bestfit, 0, 29), "not before the latest start allowed");
	assert_string_equal(earliest(tl, &r, &bestfit, 0, 30), "@30 2-7:8");
	assert_string_equal(earliest(tl, &r, &bestfit, 40, SL_FOREVER), "@40 2-7:8");
	r.min_nodes = 9;
	r.cores = 72;
	assert_string_equal(earliest(tl, &r, &bestfit, 0, SL_FOREVER), "needs 9 nodes, 8 could ever do");
	sl_timeline_destroy(tl);
}

static void a_job_fits_into_a_gap_only_if_it_ends_in_time(void **state)
{
	struct sl_timeline *tl = machine(2, NULL);
	struct sl_request r = { .min_nodes = 2, .cores = 16, .duration = 20 };

	(void) state;
	book(tl, "0", 8, 0, 10);
	book(tl, "1", 8, 30, 40);
	assert_string_equal(earliest(tl, &r, &bestfit, 0, SL_FOREVER), "@10 0-1:8");
	r.duration = 21;
	assert_string_equal(earliest(tl, &r, &bestfit, 0, SL_FOREVER), "@40 0-1:8");
	r.duration = SL_FOREVER;
	assert_string_equal(earliest(tl, &r, &bestfit, 0, SL_FOREVER), "@40 0-1:8");
	sl_timeline_destroy(tl);
}

static void a_later_start_takes_the_nodes_that_become_free_latest(void **state)
{
	struct sl_timeline *tl = machine(8, NULL);
	struct sl_request r = { .min_nodes = 5, .cores = 40, .duration = 100 };

	(void) state;
	book(tl, "2-3", 8, 0, 20);
	book(tl, "5", 8, 0, 30);
	book(tl, "6-7", 8, 0, 40);	/* free now: 0, 1, 4 */
	assert_string_equal(earliest(tl, &r, &bestfit, 0, SL_FOREVER), "@20 0-4:8");
	r.min_nodes = 4;
	r.cores = 32;
	assert_string_equal(earliest(tl, &r, &bestfit, 0, SL_FOREVER), "@20 0-3:8");
	assert_string_equal(earliest(tl, &r, &bestfit, 40, SL_FOREVER), "@40 2:8 5-7:8");
	sl_timeline_destroy(tl);
}

static void blocked_nodes_are_not_there(void **state)
{
	struct sl_timeline *tl = machine(4, NULL);
	struct sl_nodeset down = set("0-1"), maint = set("2-3");
	struct sl_request r = { .min_nodes = 2, .duration = 50 };

	(void) state;
	assert_int_equal(sl_timeline_block(tl, &down, 0, SL_FOREVER, NULL), 0);
	assert_int_equal(sl_timeline_block(tl, &maint, 40, 90, NULL), 0);
	assert_string_equal(at(tl, &r, &bestfit, 0), "needs 2 nodes, 0 would do");
	assert_string_equal(earliest(tl, &r, &bestfit, 0, SL_FOREVER), "@90 2-3:1");
	r.duration = 40;
	assert_string_equal(at(tl, &r, &bestfit, 0), "2-3:1");
	r.min_nodes = 3;
	assert_string_equal(earliest(tl, &r, &bestfit, 0, SL_FOREVER), "needs 3 nodes, 2 could ever do");
	sl_nodeset_free(&down);
	sl_nodeset_free(&maint);
	sl_timeline_destroy(tl);
}

/* -- misuse and words ---------------------------------------------------- */

static void a_request_that_is_none_is_an_error(void **state)
{
	struct sl_timeline *tl = machine(2, NULL);
	struct sl_how none = { .method = SL_PLACE_METHODS };
	struct sl_request r = { .min_nodes = 1 };
	char no_method[64];

	(void) state;
	assert_string_equal(at(tl, &r, &bestfit, 0), "error: duration 0: not positive");
	r.duration = 1;
	snprintf(no_method, sizeof(no_method), "error: place: no method %d", SL_PLACE_METHODS);
	assert_string_equal(at(tl, &r, &none, 0), no_method);
	r = (struct sl_request) { .duration = 1, .gres = { { 3, 0, 1 }, { 6, 0, 1 } }, .gres_needs = 2 };
	assert_string_equal(at(tl, &r, &bestfit, 0), "error: gres needs 0 and 1: kinds 0x3 and 0x6 overlap halfway");
	r = (struct sl_request) { .duration = 1, .min_nodes = 3, .max_nodes = 2 };
	assert_string_equal(at(tl, &r, &bestfit, 0), "asks for 3 where 2 is what it allows");
	sl_timeline_destroy(tl);
}

static void methods_have_names(void **state)
{
	struct sl_error err;

	(void) state;
	assert_int_equal(sl_place_method("bestfit", &err), SL_PLACE_BESTFIT);
	assert_int_equal(sl_place_method("contiguous", &err), SL_PLACE_CONTIGUOUS);
	assert_int_equal(sl_place_method("pack", &err), SL_PLACE_PACK);
	assert_int_equal(sl_place_method("spread", &err), SL_PLACE_SPREAD);
	assert_int_equal(sl_place_method("tight", &err), SL_PLACE_TIGHT);
	assert_int_equal(sl_place_method("least_loaded", &err), SL_PLACE_LEAST_LOADED);
	assert_int_equal(sl_place_method("last", &err), SL_PLACE_LAST);
	assert_int_equal(sl_place_method("native", &err), SL_PLACE_NATIVE);
	assert_int_equal(sl_place_method("explicit", &err), -1);
	assert_int_equal(sl_place_method("worstfit", &err), -1);
	assert_non_null(strstr(err.text, "\"worstfit\": expected bestfit"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bestfit_takes_the_smallest_set_that_suffices),
		cmocka_unit_test(bestfit_takes_the_largest_sets_when_none_suffices),
		cmocka_unit_test(bestfit_puts_a_small_job_on_the_tightest_node_of_its_set),
		cmocka_unit_test(bestfit_takes_the_lowest_weight_first_even_when_it_is_not_enough),
		cmocka_unit_test(bestfit_grows_from_the_required_nodes_upwards_then_downwards),
		cmocka_unit_test(a_limit_of_nodes_passes_over_the_poor_ones),
		cmocka_unit_test(tasks_fill_node_after_node_and_leave_one_for_each),
		cmocka_unit_test(a_task_never_spans_nodes),
		cmocka_unit_test(tasks_that_share_cores_take_no_more_cores_on_several_nodes),
		cmocka_unit_test(tasks_per_node_may_be_a_limit_or_exact),
		cmocka_unit_test(memory_limits_the_tasks_of_a_node),
		cmocka_unit_test(a_node_may_have_to_have_more_free_than_it_gives),
		cmocka_unit_test(a_node_may_have_to_keep_some_free_beside_what_it_gives),
		cmocka_unit_test(tasks_of_whole_nodes_are_on_what_is_left_to_the_system_or_not),
		cmocka_unit_test(cores_may_be_given_so_many_at_once),
		cmocka_unit_test(whole_nodes_must_be_empty_and_are_given_whole),
		cmocka_unit_test(a_gres_without_type_may_be_any_kind_of_its_name),
		cmocka_unit_test(gres_per_task_and_per_job),
		cmocka_unit_test(memory_comes_with_each_gres),
		cmocka_unit_test(gres_of_the_job_are_dealt_out_by_index_as_select_does),
		cmocka_unit_test(a_block_is_the_smallest_hole_that_suffices),
		cmocka_unit_test(a_block_of_unequal_nodes_is_the_shortest_that_holds_the_tasks),
		cmocka_unit_test(a_block_may_be_as_long_as_can_be),
		cmocka_unit_test(the_earliest_start_is_when_the_last_node_needed_is_free),
		cmocka_unit_test(a_job_fits_into_a_gap_only_if_it_ends_in_time),
		cmocka_unit_test(a_later_start_takes_the_nodes_that_become_free_latest),
		cmocka_unit_test(blocked_nodes_are_not_there),
		cmocka_unit_test(a_request_that_is_none_is_an_error),
		cmocka_unit_test(methods_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
