/* SPDX-License-Identifier: MIT */
/*
 * The checker, on the blocks and the switches that the nodes of a job are in.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "t/check/by_hand.h"
#include "check/check.h"

static void segments_lie_whole_in_blocks(void **state)
{
	static const char *const path[] = { "b1", "b1", "b2", "" };
	struct build *b = one((struct build_job) { .nodes = 2, .max_nodes = 2 });
	struct built_plan *p;
	struct sl_range r;

	(void) state;
	for (uint32_t n = 0; n < 4; n++)
		build_change(b, SL_T_NODE, n, sl_node_row, .topology = sl_builder_str(b->builder, path[n]));
	build_change_job(b, 2, .segment = 2);
	EXPECT_START(b, places(p_, 1, 2, 1), NULL);		/* no blocks: nobody heeds it */
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .block_nodes = 2);
	EXPECT_START(b, places(p_, 0, 1, 1), NULL);
	EXPECT_START(b, places(p_, 1, 2, 1), "job 2: has 1 nodes in block b1, segments of 2");
	build_change_job(b, 2, .segment = 0);			/* one segment */
	EXPECT_START(b, places(p_, 1, 2, 1), "job 2: has 1 nodes in block b1, segments of 2");
	EXPECT_START(b, places(p_, 0, 1, 1), NULL);
	build_change_job(b, 2, .segment = 4);			/* larger than the job: ignored */
	EXPECT_START(b, places(p_, 1, 2, 1), "job 2: has 1 nodes in block b1, segments of 2");
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .block_nodes = 1);	/* it fills two blocks of a node */
	build_change_job(b, 2, .segment = 0);
	EXPECT_START(b, places(p_, 1, 2, 1), NULL);
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .flags = SL_PART_UP | SL_PART_DEFAULT | SL_PART_BLOCK_LEVELS);
	EXPECT_START(b, places(p_, 1, 2, 1), "job 2: has 1 nodes in block b1, segments of 2");
	build_change_job(b, 2, .segment = 1);
	EXPECT_START(b, places(p_, 1, 2, 1), NULL);
	EXPECT_START(b, places(p_, 2, 3, 1), "job 2: has 1 nodes in block (none), segments of 1");
	build_change_job(b, 2, .segment = 2);			/* a reservation, too */
	p = build_plan(b);
	put_reservation(p, 2, 3600, places(p, 1, 2, 1));
	expect(b, p, "job 2: has 1 nodes in block b1, segments of 2");
	p = build_plan(b);
	put_reservation(p, 2, 3600, places(p, 0, 1, 1));
	expect(b, p, NULL);
	build_change_job(b, 2, .segment = 1);
	p = build_plan(b);
	r = place(p, 0, 1, 0, 0);
	place(p, 2, 1, 0, 0);
	r.count = 2;
	put_start(p, 2, r);
	expect(b, p, NULL);
	build_destroy(b);
}

static void switches_bind_for_as_long_as_the_job_waits_for_them(void **state)
{
	static const char *const path[] = { "root.a", "root.b", "root.a", "root.c" };
	struct build *b = one((struct build_job) { .nodes = 2 });
	struct built_plan *p = build_plan(b);
	struct sl_range r;

	(void) state;
	for (uint32_t n = 0; n < 4; n++)
		build_change(b, SL_T_NODE, n, sl_node_row, .topology = sl_builder_str(b->builder, path[n]));
	build_change_job(b, 2, .switches = 1);
	build_change_job(b, 2, .switch_wait = 100);
	build_change_job(b, 2, .submit_time = BUILD_NOW - 99);
	build_change_job(b, 2, .eligible_time = BUILD_NOW - 500);
	EXPECT_START(b, places(p_, 0, 1, 1), "job 2: its nodes are below more than 1 leaf switches, which it waits for");
	r = place(p, 0, 1, 0, 0);
	place(p, 2, 1, 0, 0);
	r.count = 2;
	put_start(p, 2, r);
	expect(b, p, NULL);
	p = build_plan(b);
	put_reservation(p, 2, 1, places(p, 0, 1, 1));
	expect(b, p, NULL);
	build_change_job(b, 2, .eligible_time = BUILD_NOW);
	EXPECT_START(b, places(p_, 0, 1, 1), "below more than 1 leaf switches");
	build_change_job(b, 2, .eligible_time = BUILD_NOW - 500);
	build_change_job(b, 2, .submit_time = BUILD_NOW - 100);
	EXPECT_START(b, places(p_, 0, 1, 1), NULL);
	build_destroy(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(segments_lie_whole_in_blocks),
		cmocka_unit_test(switches_bind_for_as_long_as_the_job_waits_for_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
