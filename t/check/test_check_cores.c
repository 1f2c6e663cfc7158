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
	build_change_job(b, 2, .flags = SL_JOBF_EXCLUSIVE);
	EXPECT_START(b, place(p_, 0, 8, 0, 0), NULL);
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
	EXPECT_START(b, place(p_, 1, 4, 0, 0), "job 2: node n1: 9 cores in use now, it has 8");
	EXPECT_START(b, place(p_, 2, 4, 0, 0), NULL);
	p = build_plan(b);
	put_reservation(p, 2, 60, place(p, 1, 4, 0, 0));
	expect(b, p, NULL);
	p = build_plan(b);
	put_reservation(p, 2, 59, place(p, 1, 4, 0, 0));
	expect(b, p, "job 2: node n1: 9 cores in use in 59 s");
	build_destroy(b);
}

/* Node 0 with so many cores and tasks. */
static struct sl_range dealt(struct built_plan *p, uint32_t cores, uint32_t tasks)
{
	struct sl_plan_place_row row = { .node = 0, .cores = cores, .tasks = tasks };

	return (struct sl_range) { sl_builder_append(p->builder, SL_P_PLACE, &row), 1 };
}

static void a_place_has_cores_for_its_tasks_and_not_one_more(void **state)
{
	struct build *b = one((struct build_job) { .nodes = 2, .max_nodes = 2, .tasks = 6, .cpus_per_task = 2 });

	(void) state;
	EXPECT_START(b, on_two(p_, 4, 2, 8, 4), NULL);
	EXPECT_START(b, on_two(p_, 2, 1, 8, 4), "its 2 nodes host 5 tasks of 2 CPUs, it has 6");
	EXPECT_START(b, on_two(p_, 8, 4, 8, 4), "have cores for 8 tasks of 2 CPUs, it has 6");
	EXPECT_START(b, on_two(p_, 3, 2, 8, 4), "node n0: has 3 cores, for 2 tasks");
	EXPECT_START(b, on_two(p_, 6, 2, 8, 4), "node n0: has 6 cores, for 2 tasks");
	build_change_job(b, 2, .ntasks_per_node = 3);
	EXPECT_START(b, on_two(p_, 6, 3, 6, 3), NULL);
	EXPECT_START(b, on_two(p_, 6, 3, 8, 4), "node n1: has 4 tasks, takes at most 3");
	build_destroy(b);
}

/* -- sockets --------------------------------------------------------------- */

static void whole_nodes_have_the_sockets_that_are_asked_for(void **state)
{
	struct build *b = one((struct build_job) { .tasks = 4, .exclusive = true });

	(void) state;
	build_change(b, SL_T_NODE, 0, sl_node_row, .sockets = 2);
	build_change_job(b, 2, .ntasks_per_socket = 2);
	EXPECT_START(b, place(p_, 0, 8, 0, 0), NULL);
	EXPECT_START(b, place(p_, 0, 4, 0, 0), "has 4 of 8 cores, wants the whole node");
	build_change_job(b, 2, .ntasks_per_socket = 1);
	EXPECT_START(b, dealt(p_, 8, 4), "job 2: node n0: has 4 tasks, takes at most 2");
	build_change_job(b, 2, .ntasks_per_socket = 4);
	build_change_job(b, 2, .sockets_per_node = 3);
	EXPECT_START(b, place(p_, 0, 8, 0, 0), "job 2: node n0: has 2 sockets of 4 cores, needs 3 of 1");
	build_change_job(b, 2, .sockets_per_node = 2);
	build_change_job(b, 2, .cores_per_socket = 5);
	EXPECT_START(b, place(p_, 0, 8, 0, 0), "job 2: node n0: has 2 sockets of 4 cores, needs 2 of 5");
	build_change_job(b, 2, .cores_per_socket = 4);
	EXPECT_START(b, place(p_, 0, 8, 0, 0), NULL);
	build_destroy(b);
}

static void change_tasks(struct build *b, const char *tasks)
{
	struct sl_job_row r;

	sl_builder_row(b->builder, SL_T_JOB, build_job_row(b, 2), &r);
	build_say_tasks(b, &r, 0, tasks);
	sl_builder_update(b->builder, SL_T_JOB, build_job_row(b, 2), &r);
}

static void tasks_are_on_the_nodes_that_the_job_says(void **state)
{
	struct build *b = one((struct build_job) { .cpus_per_task = 1 });

	(void) state;
	for (uint32_t n = 0; n < 2; n++)
		build_change(b, SL_T_NODE, n, sl_node_row, .threads = 2);
	change_tasks(b, "13");
	EXPECT_START(b, on_two(p_, 1, 1, 2, 3), NULL);
	EXPECT_START(b, on_two(p_, 1, 2, 1, 2), "job 2: node n0: has 2 tasks, not as the job says");
	EXPECT_START(b, on_two(p_, 1, 1, 3, 3), "job 2: node n1: has 3 cores, for 3 tasks");
	change_tasks(b, "101");
	EXPECT_START(b, on_two(p_, 1, 1, 1, 1), "job 2: has 1 of the 2 nodes it requires");
	build_change_job(b, 2, .req_nodes = build_nodes(b, 0, 0));
	EXPECT_START(b, on_two(p_, 1, 1, 1, 1), "job 2: node n1: has 1 tasks, not as the job says");
	build_change_job(b, 2, .max_nodes = 3);
	build_change_job(b, 2, .min_nodes = 1);
	EXPECT_START(b, place(p_, 0, 1, 0, 0), "job 2: has 1 nodes, says what 2 of them have");
	build_change_job(b, 2, .arbitrary_tpn.count = 0);
	EXPECT_START(b, on_two(p_, 1, 1, 1, 1), NULL);
	build_destroy(b);
}

/* -- cores for the system -------------------------------------------------- */

static void a_job_that_says_how_many_cores_are_the_system_s_has_all_others(void **state)
{
	struct build *b = one((struct build_job) { .tasks = 4 });

	(void) state;
	build_change_job(b, 2, .core_spec = 3);
	EXPECT_START(b, place(p_, 0, 8, 0, 0), "job 2: node n0: has 8 of 5 cores, wants the whole node");
	EXPECT_START(b, place(p_, 0, 5, 0, 0), NULL);
	build_change(b, SL_T_NODE, 0, sl_node_row, .core_spec = 2);
	EXPECT_START(b, place(p_, 0, 7, 0, 0), NULL);
	build_change_job(b, 2, .core_spec = 0);
	build_change_job(b, 2, .asks = SL_ASKS_SPEC_CORES);
	EXPECT_START(b, place(p_, 0, 10, 0, 0), NULL);
	EXPECT_START(b, place(p_, 0, 8, 0, 0), "has 8 of 10 cores");
	build_destroy(b);
}

static void nobody_has_the_cores_that_a_job_leaves_to_the_system(void **state)
{
	struct build *b = one((struct build_job) { .tasks = 1 });

	(void) state;
	build_running(b, (struct build_job) { .id = 1, .nodes = 1, .cores = 6, .ends_in = 60 });
	EXPECT_START(b, place(p_, 0, 1, 0, 0), NULL);
	build_change_job(b, 1, .core_spec = 2);
	EXPECT_START(b, place(p_, 0, 1, 0, 0), "job 2: node n0: 9 cores in use");
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
		cmocka_unit_test(overcommit_takes_a_cpu_a_node),
		cmocka_unit_test(exclusive_jobs_get_whole_nodes),
		cmocka_unit_test(more_cores_than_a_node_has_left_are_refused),
		cmocka_unit_test(a_place_has_cores_for_its_tasks_and_not_one_more),
		cmocka_unit_test(whole_nodes_have_the_sockets_that_are_asked_for),
		cmocka_unit_test(tasks_are_on_the_nodes_that_the_job_says),
		cmocka_unit_test(a_job_that_says_how_many_cores_are_the_system_s_has_all_others),
		cmocka_unit_test(nobody_has_the_cores_that_a_job_leaves_to_the_system),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
