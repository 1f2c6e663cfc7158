/* SPDX-License-Identifier: MIT */
/*
 * Placement by how full nodes are, or will be: pack, spread, planes, tight, least loaded.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "t/timeline/where.h"

static const struct sl_how bestfit = { .method = SL_PLACE_BESTFIT };
static const struct sl_how pack = { .method = SL_PLACE_PACK };
static const struct sl_how spread = { .method = SL_PLACE_SPREAD };
static const struct sl_how tight = { .method = SL_PLACE_TIGHT };
static const struct sl_how least_loaded = { .method = SL_PLACE_LEAST_LOADED };

static void pack_takes_the_fewest_nodes_and_of_those_the_fullest(void **state)
{
	struct sl_timeline *tl = machine(5, NULL);
	struct sl_request r = { .tasks = 4, .duration = 10 };

	(void) state;
	book(tl, "1", 6, 0, 100);
	book(tl, "2", 4, 0, 100);
	book(tl, "3", 2, 0, 100);	/* free: 8 2 4 6 8 */
	assert_string_equal(at(tl, &r, &pack, 0), "2:4");
	r.tasks = 9;
	assert_string_equal(at(tl, &r, &pack, 0), "0:7 1:2");	/* two nodes: 2 + 8 */
	r.tasks = 13;
	assert_string_equal(at(tl, &r, &pack, 0), "0:7 3:6");
	r.tasks = 17;
	assert_string_equal(at(tl, &r, &pack, 0), "0:8 1:2 4:7");
	sl_timeline_destroy(tl);
}

/* Six tasks on two nodes: three cores hold them, as select has it, not two on each node. */
static void spread_deals_out_whole_cores(void **state)
{
	struct sl_request r = { .min_nodes = 2, .max_nodes = 2, .tasks = 6, .cores_per_task = 1, .tasks_per_core = 2,
				.duration = 10 };
	struct sl_timeline *tl = machine(4, NULL);

	(void) state;
	assert_string_equal(at(tl, &r, &spread, 0), "0:2 1:1");
	r.tasks = 7;
	assert_string_equal(at(tl, &r, &spread, 0), "0-1:2");
	r.max_nodes = 3;
	assert_string_equal(at(tl, &r, &spread, 0), "0:2 1-2:1");
	r.tasks = 2;
	assert_string_equal(at(tl, &r, &spread, 0), "0-1:1");
	sl_timeline_destroy(tl);
}

static void spread_deals_evenly_over_as_many_nodes_as_allowed(void **state)
{
	struct sl_timeline *tl = machine(5, NULL);
	struct sl_request r = { .tasks = 12, .duration = 10 };

	(void) state;
	book(tl, "1", 7, 0, 100);
	assert_string_equal(at(tl, &r, &spread, 0), "0:3 1:1 2-3:3 4:2");
	r.max_nodes = 3;
	assert_string_equal(at(tl, &r, &spread, 0), "0:4 2-3:4");
	r.tasks = 3;
	r.max_nodes = 0;
	assert_string_equal(at(tl, &r, &spread, 0), "0-2:1");
	sl_timeline_destroy(tl);
}

static void planes_go_round_by_index_while_nodes_have_room(void **state)
{
	struct sl_timeline *tl = machine(4, NULL);
	struct sl_request r = { .min_nodes = 2, .max_nodes = 2, .tasks = 12, .plane = 3, .duration = 10 };

	(void) state;
	assert_string_equal(at(tl, &r, &bestfit, 0), "0-1:6");
	r.tasks = 11;
	assert_string_equal(at(tl, &r, &bestfit, 0), "0:6 1:5");
	r.tasks = 4;
	assert_string_equal(at(tl, &r, &bestfit, 0), "0:3 1:1");
	r.min_nodes = r.max_nodes = 4;
	r.tasks = 14;
	book(tl, "1", 6, 0, 100);
	assert_string_equal(at(tl, &r, &bestfit, 0), "0:6 1:2 2-3:3");
	r.tasks = 19;
	assert_string_equal(at(tl, &r, &bestfit, 0), "0:6 1:2 2:6 3:5");
	r.tasks = 11;
	assert_string_equal(at(tl, &r, &spread, 0), "0:3 1:2 2-3:3");
	r.cores_per_task = 1;
	r.tasks_per_core = 2;	/* three threads are on two cores, whoever has the fourth */
	r.tasks = 12;
	assert_string_equal(at(tl, &r, &bestfit, 0), "0-3:2");
	sl_timeline_destroy(tl);
}

static void tight_takes_nodes_that_are_taken_again_soonest(void **state)
{
	struct sl_timeline *tl = machine(6, NULL);
	struct sl_request r = { .min_nodes = 2, .cores = 16, .duration = 10 };

	(void) state;
	book(tl, "1", 8, 50, 60);
	book(tl, "3", 8, 20, 60);
	book(tl, "5", 8, 9, 60);
	assert_string_equal(at(tl, &r, &tight, 0), "1:8 3:8");
	assert_string_equal(at(tl, &r, &bestfit, 0), "0-1:8");
	sl_timeline_destroy(tl);
}

static void least_loaded_takes_nodes_with_the_largest_part_free(void **state)
{
	struct sl_timeline *tl = machine(6, (const uint32_t[]) { 1, 1, 1, 1, 2, 2 });
	struct sl_nodeset third = set("2");
	struct sl_request r = { .tasks = 2, .duration = 10 };

	(void) state;
	book(tl, "0", 2, 0, 100);
	book(tl, "1", 1, 0, 100);
	book(tl, "2", 6, 0, 100);
	book(tl, "3", 1, 0, 100);	/* free: 6 7 2 7, and of weight 2: 8 8 */
	assert_string_equal(at(tl, &r, &least_loaded, 0), "1:2");
	r.min_nodes = 3;
	r.tasks = 3;
	assert_string_equal(at(tl, &r, &least_loaded, 0), "0-1:1 3:1");
	r.min_nodes = 5;
	r.tasks = 5;
	assert_string_equal(at(tl, &r, &least_loaded, 0), "0-4:1");
	r = (struct sl_request) { .tasks = 15, .max_nodes = 2, .duration = 10 };
	assert_string_equal(at(tl, &r, &least_loaded, 0), "1:7 4:8");
	r = (struct sl_request) { .tasks = 1, .required = &third, .duration = 10 };
	assert_string_equal(at(tl, &r, &least_loaded, 0), "2:1");
	sl_nodeset_free(&third);
	sl_timeline_destroy(tl);
}

static void last_takes_the_last_nodes_of_the_lowest_weight(void **state)
{
	static const struct sl_how last = { .method = SL_PLACE_LAST };
	struct sl_timeline *tl = machine(6, (const uint32_t[]) { 1, 1, 1, 1, 2, 2 });
	struct sl_nodeset second = set("1");
	struct sl_request r = { .tasks = 1, .max_nodes = 1, .duration = 10 };

	(void) state;
	assert_string_equal(at(tl, &r, &last, 0), "3:1");
	assert_string_equal(at(tl, &r, &bestfit, 0), "0:1");
	book(tl, "2", 5, 0, 100);
	book(tl, "3", 8, 0, 100);
	assert_string_equal(at(tl, &r, &last, 0), "2:1");
	r = (struct sl_request) { .tasks = 18, .duration = 10 };
	assert_string_equal(at(tl, &r, &last, 0), "0:8 1:7 2:3");
	r = (struct sl_request) { .tasks = 1, .required = &second, .duration = 10 };
	assert_string_equal(at(tl, &r, &last, 0), "1:1");
	sl_nodeset_free(&second);
	sl_timeline_destroy(tl);
}

static void a_load_is_a_part_and_that_of_the_start(void **state)
{
	const struct sl_node_kind kind[] = {
		{ .id = 0, .capacity = { .cores = 4 }, .weight = 1 }, { .id = 1, .capacity = { .cores = 16 }, .weight = 1 },
	};
	struct sl_timeline *tl = sl_timeline_create(2, (const uint32_t[]) { 1, 0 }, kind, 2, 0, NULL);
	struct sl_request r = { .tasks = 1, .duration = 10 };

	(void) state;
	book(tl, "0", 5, 0, 100);
	book(tl, "1", 1, 0, 100);	/* free: 11 of 16, 3 of 4 */
	assert_string_equal(at(tl, &r, &least_loaded, 0), "1:1");
	book(tl, "1", 2, 5, 100);	/* planned for later */
	assert_string_equal(at(tl, &r, &least_loaded, 0), "1:1");
	book(tl, "1", 1, 0, 100);
	assert_string_equal(at(tl, &r, &least_loaded, 0), "0:1");
	sl_timeline_destroy(tl);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pack_takes_the_fewest_nodes_and_of_those_the_fullest),
		cmocka_unit_test(spread_deals_out_whole_cores),
		cmocka_unit_test(spread_deals_evenly_over_as_many_nodes_as_allowed),
		cmocka_unit_test(planes_go_round_by_index_while_nodes_have_room),
		cmocka_unit_test(tight_takes_nodes_that_are_taken_again_soonest),
		cmocka_unit_test(least_loaded_takes_nodes_with_the_largest_part_free),
		cmocka_unit_test(last_takes_the_last_nodes_of_the_lowest_weight),
		cmocka_unit_test(a_load_is_a_part_and_that_of_the_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
