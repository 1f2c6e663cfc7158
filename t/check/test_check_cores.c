/* SPDX-License-Identifier: MIT */
/*
 * The checker, on the cores of each node and the tasks that they host.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "t/check/by_hand.h"
#include "check/check.h"

static void the_tasks_must_have_their_cores_and_not_one_more(void **state)
{
	struct build *b = one((struct build_job) { .nodes = 2, .tasks = 6, .cpus_per_task = 2 });
	struct built_plan *p;
	struct sl_range r;

	(void) state;
	EXPECT_START(b, places(p_, 0, 1, 6), NULL);
	EXPECT_START(b, places(p_, 0, 1, 4), "host 4 tasks of 2 CPUs, it has 6");
	EXPECT_START(b, places(p_, 0, 1, 7), "cores for 8 tasks of 2 CPUs, it has 6");
	EXPECT_START(b, places(p_, 0, 1, 1), "node n0: has 1 cores, needs 2");
	p = build_plan(b);
	r = place(p, 0, 8, 0, 0);
	place(p, 1, 4, 0, 0);
	r.count = 2;
	put_start(p, 2, r);
	expect(b, p, NULL);
	build_destroy(b);
}

static void tasks_per_node_bound_what_a_node_hosts(void **state)
{
	struct build *b = one((struct build_job) { .nodes = 1, .max_nodes = 4, .tasks = 6, .tasks_per_node = 3 });

	(void) state;
	EXPECT_START(b, places(p_, 0, 1, 3), NULL);
	EXPECT_START(b, places(p_, 0, 0, 6), "host 3 tasks");
	EXPECT_START(b, places(p_, 0, 2, 2), "node n0: has 2 cores, needs 3");
	build_destroy(b);
}

static void hyper_threads_count_as_cpus(void **state)
{
	struct build *b = build_create("2x4c2t");

	(void) state;
	build_pending(b, (struct build_job) { .id = 2, .nodes = 1, .tasks = 8 });
	EXPECT_START(b, place(p_, 0, 4, 0, 0), NULL);
	EXPECT_START(b, place(p_, 0, 3, 0, 0), "needs 4");
	b->meta.select_flags = SL_SELECT_ONE_TASK_PER_CORE;
	EXPECT_START(b, place(p_, 0, 4, 0, 0), "host 4 tasks of 1 CPUs, it has 8");
	b->meta.select_flags = 0;
	build_change_job(b, 2, .threads_per_core = 1);
	EXPECT_START(b, place(p_, 0, 4, 0, 0), "needs 8");
	build_destroy(b);
}

static void sockets_are_had_whole_where_they_are_allocated(void **state)
{
	struct build *b = build_create("2x8c2s");

	(void) state;
	b->meta.select_flags = SL_SELECT_SOCKET;
	build_pending(b, (struct build_job) { .id = 2, .tasks = 3 });
	EXPECT_START(b, place(p_, 0, 4, 0, 0), NULL);
	EXPECT_START(b, place(p_, 0, 3, 0, 0), "job 2: node n0: has 3 cores, sockets of it have 4");
	EXPECT_START(b, place(p_, 0, 8, 0, 0), "have cores for 5 tasks of 1 CPUs, it has 3");
	build_change_job(b, 2, .cpus_per_task = 3);
	EXPECT_START(b, places(p_, 0, 1, 4), "node n0: only Slurm's select can place it (allocation by socket)");
	build_change_job(b, 2, .cpus_per_task = 1);
	build_change_job(b, 2, .asks = SL_ASKS_SOCKETS_IN_TURN);
	EXPECT_START(b, place(p_, 0, 4, 0, 0), "only Slurm's select can place it (allocation by socket)");
	build_change_job(b, 2, .asks = SL_ASKS_BOUND_GRES);
	EXPECT_START(b, place(p_, 0, 4, 0, 0), "only Slurm's select can place it (allocation by socket)");
	build_change_job(b, 2, .flags = SL_JOBF_EXCLUSIVE);
	EXPECT_START(b, place(p_, 0, 8, 0, 0), NULL);
	build_change_job(b, 2, .flags = 0);
	build_change_job(b, 2, .asks = 0);
	build_change(b, SL_T_NODE, 0, sl_node_row, .core_spec = 1);
	EXPECT_START(b, place(p_, 0, 4, 0, 0), "node n0: only Slurm's select can place it (allocation by socket)");
	EXPECT_START(b, place(p_, 1, 4, 0, 0), NULL);
	build_destroy(b);
}

static void sockets_of_cores_that_no_machine_has_are_counted_all_the_same(void **state)
{
	struct build *b = build_create("2x4c2s");

	(void) state;
	b->meta.select_flags = SL_SELECT_SOCKET;
	build_change(b, SL_T_NODE, 0, sl_node_row, .threads = UINT32_C(1) << 31);
	build_pending(b, (struct build_job) { .id = 2, .tasks = 1 });
	EXPECT_START(b, place(p_, 0, 2, 0, 0), NULL);
	build_destroy(b);
}

static void how_least_loaded_nodes_share_tasks_may_be_selects(void **state)
{
	struct build *b = build_create("2x8c");

	(void) state;
	b->meta.select_flags = SL_SELECT_LLN | SL_SELECT_LLN_DEALS;
	build_pending(b, (struct build_job) { .id = 2, .nodes = 2, .tasks = 6 });
	EXPECT_START(b, places(p_, 0, 1, 3), "only Slurm's select can place it (tasks on least loaded nodes)");
	build_change_job(b, 2, .ntasks_per_node = 3);
	EXPECT_START(b, places(p_, 0, 1, 3), NULL);
	build_change_job(b, 2, .ntasks_per_node = 0);
	b->meta.select_flags = SL_SELECT_LLN;
	EXPECT_START(b, places(p_, 0, 1, 3), NULL);
	build_destroy(b);
}

static void overcommit_takes_a_cpu_a_node(void **state)
{
	struct build *b = one((struct build_job) { .nodes = 2, .tasks = 100 });

	(void) state;
	build_change_job(b, 2, .min_cpus = 2);
	EXPECT_START(b, places(p_, 0, 1, 1), "host 2 tasks");
	build_change_job(b, 2, .flags = SL_JOBF_OVERCOMMIT);
	EXPECT_START(b, places(p_, 0, 1, 1), NULL);
	build_destroy(b);
}

static void exclusive_jobs_get_whole_nodes(void **state)
{
	struct build *b = one((struct build_job) { .exclusive = true });

	(void) state;
	EXPECT_START(b, place(p_, 0, 7, 0, 0), "job 2: node n0: has 7 of 8 cores, wants the whole node");
	EXPECT_START(b, place(p_, 0, 8, 0, 0), NULL);
	build_running(b, (struct build_job) { .id = 1, .cores = 1, .ends_in = 60 });
	EXPECT_START(b, place(p_, 0, 8, 0, 0), "job 2: node n0: 9 cores in use");
	build_destroy(b);
	b = one((struct build_job) { 0 });
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .oversubscribe = 0);
	EXPECT_START(b, place(p_, 0, 1, 0, 0), "wants the whole node");
	build_destroy(b);
}

static void more_cores_than_a_node_has_left_are_refused(void **state)
{
	struct build *b = one((struct build_job) { .tasks = 4, .limit = 60 });
	struct built_plan *p;

	(void) state;
	build_running(b, (struct build_job) { .id = 1, .nodes = 2, .cores = 5, .ends_in = 60 });
	EXPECT_START(b, place(p_, 1, 4, 0, 0), "job 2: node n1: 9 cores in use at 1000000, it has 8");
	EXPECT_START(b, place(p_, 2, 4, 0, 0), NULL);
	p = build_plan(b);
	put_reservation(p, 2, 60, place(p, 1, 4, 0, 0));
	expect(b, p, NULL);
	p = build_plan(b);
	put_reservation(p, 2, 59, place(p, 1, 4, 0, 0));
	expect(b, p, "job 2: node n1: 9 cores in use at 1000059");
	build_destroy(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_tasks_must_have_their_cores_and_not_one_more),
		cmocka_unit_test(tasks_per_node_bound_what_a_node_hosts),
		cmocka_unit_test(hyper_threads_count_as_cpus),
		cmocka_unit_test(sockets_are_had_whole_where_they_are_allocated),
		cmocka_unit_test(sockets_of_cores_that_no_machine_has_are_counted_all_the_same),
		cmocka_unit_test(how_least_loaded_nodes_share_tasks_may_be_selects),
		cmocka_unit_test(overcommit_takes_a_cpu_a_node),
		cmocka_unit_test(exclusive_jobs_get_whole_nodes),
		cmocka_unit_test(more_cores_than_a_node_has_left_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
