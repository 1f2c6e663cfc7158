/* SPDX-License-Identifier: MIT */
/*
 * Which cores of a node a job may have, and how many at once: those of the system, sockets, planes of tasks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "t/model/want_of.h"

/* Nodes of 6 cores and 2 for the system. */
static void cores_for_the_system_are_those_that_the_job_says(void **state)
{
	struct build *b = build_create("4x6c");
	struct sl_cluster *c;

	(void) state;
	for (uint32_t n = 0; n < 4; n++)
		build_change(b, SL_T_NODE, n, sl_node_row, .core_spec = 2);
	for (uint32_t i = 0; i < 4; i++)
		build_pending(b, (struct build_job) { .id = i + 1, .tasks = i ? 8 : 5 });
	build_change_job(b, 1, .core_spec = 3);
	build_change_job(b, 2, .asks = SL_ASKS_SPEC_CORES);
	build_change_job(b, 3, .core_spec = 1);
	build_change_job(b, 3, .asks = SL_ASKS_SPEC_THREADS);
	c = build_cluster(b);
	assert_int_equal(want(c, 1)->request.extra_cores, -1);
	assert_int_equal(want(c, 2)->request.extra_cores, 2);
	assert_int_equal(want(c, 3)->request.extra_cores, 1);
	assert_int_equal(want(c, 4)->request.extra_cores, 0);
	for (uint32_t i = 1; i <= 3; i++) {
		assert_left(want(c, i), 0);
		assert_true(want(c, i)->request.whole_nodes);
	}
	assert_false(want(c, 4)->request.whole_nodes);
	sl_cluster_destroy(c);
	build_change(b, SL_T_NODE, 3, sl_node_row, .core_spec = 1);
	c = build_cluster(b);
	assert_left(want(c, 1), SL_W(CORE_SPEC));
	assert_true(want(c, 1)->request.whole_nodes);
	assert_left(want(c, 4), 0);
	sl_cluster_destroy(c);
	build_destroy(b);
}

/* Nodes of 2 sockets of 4 cores of 2 threads. */
static void sockets_of_whole_nodes_are_a_number_of_cores(void **state)
{
	struct build *b = build_create("4x8c2s2t");
	struct sl_cluster *c;

	(void) state;
	for (uint32_t i = 0; i < 8; i++)
		build_pending(b, (struct build_job) { .id = i + 1, .tasks = 9, .exclusive = i != 1,
						      .cpus_per_task = i == 2 ? 2 : 1 });
	for (uint32_t i = 1; i <= 3; i++)
		build_change_job(b, i, .ntasks_per_socket = 3);
	build_change_job(b, 4, .ntasks_per_socket = 9);
	build_change_job(b, 5, .sockets_per_node = 2);
	build_change_job(b, 5, .cores_per_socket = 4);
	build_change_job(b, 6, .sockets_per_node = 3);
	build_change_job(b, 7, .cores_per_socket = 5);
	build_change_job(b, 8, .ntasks_per_socket = 3);
	build_change_job(b, 8, .threads_per_core = 1);
	c = build_cluster(b);
	assert_left(want(c, 1), 0);
	assert_int_equal(want(c, 1)->request.max_cores_per_node, 4);
	assert_left(want(c, 2), 0);	/* of parts of three nodes, three tasks on each */
	assert_int_equal(want(c, 2)->variant->request.max_nodes, 3);
	assert_int_equal(want(c, 2)->variant->request.tasks_per_node, 3);
	assert_int_equal(want(c, 3)->variant->request.max_cores_per_node, 6);
	assert_int_equal(want(c, 4)->why, SL_WHY_NEVER);
	assert_left(want(c, 5), 0);
	assert_int_equal(want(c, 5)->request.max_cores_per_node, 0);
	assert_int_equal(want(c, 6)->why, SL_WHY_NEVER);
	assert_string_equal(want(c, 6)->text, "needs 3 sockets of 1 cores on a node, there are 2 of 4");
	assert_int_equal(want(c, 7)->why, SL_WHY_NEVER);
	assert_int_equal(want(c, 8)->request.max_cores_per_node, 6);
	sl_cluster_destroy(c);
	build_change(b, SL_T_NODE, 3, sl_node_row, .sockets = 1);
	c = build_cluster(b);
	assert_left(want(c, 1), SL_W(TASKS_PER_SOCKET));
	assert_left(want(c, 5), SL_W(SOCKETS));
	sl_cluster_destroy(c);
	build_change(b, SL_T_NODE, 3, sl_node_row, .sockets = 2);
	build_change(b, SL_T_NODE, 3, sl_node_row, .core_spec = 1);
	c = build_cluster(b);
	assert_left(want(c, 1), SL_W(TASKS_PER_SOCKET));
	sl_cluster_destroy(c);
	build_destroy(b);
}

static void a_partition_may_allocate_by_socket_or_not_whatever_the_cluster_does(void **state)
{
	static const struct { uint32_t cluster, partition; uint32_t at_once; } cases[] = {
		{ 0, 0, 0 }, { SL_SELECT_SOCKET, 0, 4 }, { 0, SL_PART_BY_SOCKET, 4 }, { SL_SELECT_SOCKET, SL_PART_BY_SOCKET, 4 },
		{ SL_SELECT_SOCKET, SL_PART_BY_CORE, 0 }, { 0, SL_PART_BY_CORE, 0 },
	};

	(void) state;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct build *b = build_create("4x8c2s");
		struct sl_cluster *c;

		b->meta.select_flags = cases[i].cluster;
		build_change(b, SL_T_PARTITION, 0, sl_partition_row, .flags |= cases[i].partition);
		build_pending(b, (struct build_job) { .id = 1, .nodes = 2, .tasks = 6 });
		c = build_cluster(b);
		assert_int_equal(want(c, 1)->request.cores_at_once, cases[i].at_once);
		assert_left(want(c, 1), 0);
		sl_cluster_destroy(c);
		build_destroy(b);
	}
}

static void sockets_beside_cores_of_other_partitions_are_selects(void **state)
{
	struct build *b = build_create("4x8c2s");
	struct sl_cluster *c;
	uint32_t other;

	(void) state;
	other = build_partition(b, "other", 0, 3);
	build_change(b, SL_T_PARTITION, other, sl_partition_row, .flags |= SL_PART_BY_SOCKET);
	build_pending(b, (struct build_job) { .id = 1, .nodes = 2, .tasks = 6 });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 2, .tasks = 6, .partition = other });
	build_pending(b, (struct build_job) { .id = 3, .nodes = 2, .exclusive = true, .partition = other });
	c = build_cluster(b);
	assert_left(want(c, 1), 0);
	assert_left(want_in(c, 2, other), SL_W(MIXED_SOCKETS));
	assert_int_equal(want_in(c, 2, other)->request.cores_at_once, 4);
	assert_left(want_in(c, 3, other), 0);
	sl_cluster_destroy(c);
	build_destroy(b);
}

static void where_sockets_are_allocated_they_are_given_whole(void **state)
{
	struct build *b = build_create("4x8c2s1g");
	struct sl_cluster *c;

	(void) state;
	b->meta.select_flags = SL_SELECT_SOCKET | SL_SELECT_GRES_IN_TURN;
	build_pending(b, (struct build_job) { .id = 1, .nodes = 2, .tasks = 6 });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 2, .tasks = 6, .exclusive = true });
	build_pending(b, (struct build_job) { .id = 3, .nodes = 2, .tasks = 4, .cpus_per_task = 3 });
	build_pending(b, (struct build_job) { .id = 4, .nodes = 1, .max_nodes = 1, .tasks = 2, .cpus_per_task = 3 });
	build_pending(b, (struct build_job) { .id = 5, .nodes = 2, .tasks = 6, .gpus = 1 });
	build_pending(b, (struct build_job) { .id = 6, .nodes = 2, .max_nodes = 2, .tasks = 2, .gpus = 1 });
	c = build_cluster(b);
	for (uint32_t id = 1; id <= 6; id++) {
		bool left = id == 3 || id == 5;		/* three of four CPUs; beside gres a core of each socket in turn */

		assert_left(want(c, id), left ? SL_W(PARTS_BY_SOCKET) : 0);
		assert_int_equal(want(c, id)->request.cores_at_once, id == 2 ? 0 : 4);
	}
	sl_cluster_destroy(c);
	b->meta.select_flags = SL_SELECT_SOCKET;
	c = build_cluster(b);
	assert_left(want(c, 5), 0);
	sl_cluster_destroy(c);
	build_destroy(b);
}

/* For each node behind the one that it looks at select keeps the CPUs of a socket, though its GPUs may be for fewer tasks. */
static void tasks_with_gpus_of_several_nodes_with_whole_sockets_are_selects(void **state)
{
	struct build *b = build_create("4x4c1s4g");
	struct sl_cluster *c;

	(void) state;
	b->meta.select_flags = SL_SELECT_SOCKET;
	build_pending(b, (struct build_job) { .id = 1, .nodes = 1, .max_nodes = 4, .tasks = 7 });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 2, .max_nodes = 2, .tasks = 4, .tasks_per_node = 2 });
	build_pending(b, (struct build_job) { .id = 3, .nodes = 2, .max_nodes = 2, .tasks = 2 });
	build_pending(b, (struct build_job) { .id = 4, .nodes = 1, .max_nodes = 1, .tasks = 2 });
	for (uint32_t id = 1; id <= 4; id++)
		build_change_job(b, id, .gres = build_gres(b, "gpu", "", 2, SL_PER_TASK));
	c = build_cluster(b);
	for (uint32_t id = 1; id <= 4; id++)
		assert_left(want(c, id), id == 1 ? SL_W(PARTS_BY_SOCKET) : 0);
	sl_cluster_destroy(c);
	build_destroy(b);
}

/* Of nodes with 2 sockets of 4 cores so many cores have to be free, wherever they lie. */
static void sockets_of_parts_of_nodes_are_sure_where_enough_is_free(void **state)
{
	struct build *b = build_create("4x8c2s1g");
	struct sl_cluster *c;

	(void) state;
	for (uint32_t i = 0; i < 8; i++)
		build_pending(b, (struct build_job) { .id = i + 1, .nodes = i == 3 ? 2 : 1, .max_nodes = i == 3 ? 2 : 1,
						      .tasks = i == 3 ? 8 : 4, .tasks_per_node = i == 3 ? 4 : 0,
						      .gpus = i == 7 });
	build_change_job(b, 1, .ntasks_per_socket = 2);
	build_change_job(b, 2, .ntasks_per_socket = 4);
	build_change_job(b, 3, .ntasks_per_socket = 1);
	build_change_job(b, 4, .ntasks_per_socket = 3);
	build_change_job(b, 5, .sockets_per_node = 2);
	build_change_job(b, 6, .cores_per_socket = 3);
	build_change_job(b, 7, .ntasks_per_socket = 3);
	build_change_job(b, 7, .max_nodes = 2);
	build_change_job(b, 8, .ntasks_per_socket = 2);
	c = build_cluster(b);
	assert_int_equal(want(c, 1)->variant->request.least_free_cores, 6);	/* 4 + 2, not 4 + 1 */
	assert_int_equal(want(c, 2)->variant->request.least_free_cores, 4);
	assert_left(want(c, 3), SL_W(TASKS_PER_SOCKET));	/* never: as select says */
	assert_int_equal(want(c, 4)->variant->request.least_free_cores, 5);
	assert_int_equal(want(c, 5)->variant->request.least_free_cores, 5);	/* one of the second */
	assert_int_equal(want(c, 6)->variant->request.least_free_cores, 6);	/* 3 + 2 have but 3 */
	assert_int_equal(want(c, 7)->variant->request.least_free_cores, 5);
	assert_int_equal(want(c, 7)->variant->request.max_nodes, 1);
	assert_int_equal(want(c, 8)->variant->request.least_free_cores, 8);	/* which are near its GPU is not known */
	for (uint32_t i = 4; i <= 8; i++)
		assert_left(want(c, i), 0);
	sl_cluster_destroy(c);
	build_destroy(b);
}

static void planes_are_placed_where_they_settle_what_each_node_gives(void **state)
{
	struct build *b = build_create("4x8c");
	struct sl_cluster *c;

	(void) state;
	for (uint32_t i = 1; i <= 4; i++) {
		build_pending(b, (struct build_job) { .id = i, .nodes = 3, .max_nodes = 3, .tasks = i == 2 ? 4 : 5 });
		build_change_job(b, i, .distribution = SL_DIST_PLANE);
		build_change_job(b, i, .plane_size = i == 3 ? 0 : 2);
	}
	build_change_job(b, 4, .flags |= SL_JOBF_EXCLUSIVE);
	build_pending(b, (struct build_job) { .id = 8, .nodes = 1, .max_nodes = 1, .tasks = 5 });
	build_change_job(b, 8, .distribution = SL_DIST_PLANE);
	c = build_cluster(b);
	assert_int_equal(want(c, 1)->request.plane, 2);
	assert_left(want(c, 1), 0);
	assert_left(want(c, 2), SL_W(PLANE));	/* none for the third */
	assert_left(want(c, 3), SL_W(PLANE));
	assert_left(want(c, 4), 0);
	assert_int_equal(want(c, 4)->request.plane, 0);
	assert_left(want(c, 8), 0);
	sl_cluster_destroy(c);
	build_destroy(b);
}

/* From 24.11 on select refuses tasks without a CPU, of whole nodes and of a job that says CPUs of each. */
static void more_tasks_than_nodes_that_overcommit_are_selects_where_each_wants_a_cpu(void **state)
{
	static const struct { uint32_t select, tasks, asks, flags; bool left; } cases[] = {
		{ SL_SELECT_DEALS_ALL, 3, SL_ASKS_TASK_TRES, 0, true }, { 0, 3, SL_ASKS_TASK_TRES, 0, false },
		{ SL_SELECT_DEALS_ALL, 2, SL_ASKS_TASK_TRES, 0, false }, { SL_SELECT_DEALS_ALL, 3, 0, 0, false },
		{ SL_SELECT_DEALS_ALL, 3, 0, SL_JOBF_EXCLUSIVE, true }, { 0, 3, 0, SL_JOBF_EXCLUSIVE, false },
	};

	(void) state;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct build *b = build_create("4x8c");
		struct sl_cluster *c;

		b->meta.select_flags = cases[i].select;
		build_pending(b, (struct build_job) { .id = 1, .nodes = 2, .max_nodes = 2, .tasks = cases[i].tasks });
		build_change_job(b, 1, .asks = cases[i].asks);
		build_change_job(b, 1, .flags |= SL_JOBF_OVERCOMMIT | cases[i].flags);
		c = build_cluster(b);
		assert_left(want(c, 1), cases[i].left ? SL_W(CROWDED) : 0);
		sl_cluster_destroy(c);
		build_destroy(b);
	}
}

/* Select goes on round after round however many tasks a node may have: 4 and 2, not 3 and 3. */
static void planes_are_selects_that_do_not_fill_what_each_node_may_have(void **state)
{
	static const struct { uint32_t tasks, per_node; bool left; } cases[] = { { 6, 3, true }, { 8, 4, false }, { 6, 4, true } };
	struct build *b = build_create("4x8c");
	struct sl_cluster *c;

	(void) state;
	for (uint32_t i = 0; i < 3; i++) {
		build_pending(b, (struct build_job) { .id = i + 1, .nodes = 2, .max_nodes = 2, .tasks = cases[i].tasks,
						      .tasks_per_node = cases[i].per_node });
		build_change_job(b, i + 1, .distribution = SL_DIST_PLANE);
		build_change_job(b, i + 1, .plane_size = 2);
	}
	c = build_cluster(b);
	for (uint32_t i = 0; i < 3; i++)
		assert_left(want(c, i + 1), cases[i].left ? SL_W(PLANE) : 0);
	sl_cluster_destroy(c);
	build_destroy(b);
}

/* Another job, whose tasks are on the nodes from the second on. */
static struct sl_job_row say_tasks(struct build *b, uint32_t id, const char *tasks)
{
	struct sl_job_row r = build_row(b, (struct build_job) { .id = id });

	build_say_tasks(b, &r, 1, tasks);
	return r;
}

static void tasks_are_placed_where_the_job_says(void **state)
{
	struct build *b = build_create("4x8c");
	const struct sl_request *r;
	struct sl_job_row row;
	struct sl_cluster *c;

	(void) state;
	for (uint32_t i = 1; i <= 4; i++) {
		row = say_tasks(b, i, "103");
		row.num_tasks += i == 3;
		row.flags |= i == 2 ? SL_JOBF_EXCLUSIVE : 0;
		if (i == 4)
			row.arbitrary_tpn.count = 0;
		build_append(b, &row);
	}
	c = build_cluster(b);
	for (uint32_t i = 1; i <= 2; i++) {
		r = &want(c, i)->request;
		assert_left(want(c, i), 0);
		assert_int_equal(r->picks, 2);
		assert_int_equal(r->pick[1].node, 3);
		assert_int_equal(r->pick[1].tasks, 3);
	}
	assert_left(want(c, 3), SL_W(ARBITRARY));
	assert_left(want(c, 4), 0);	/* before Slurm 23.11 */
	for (uint32_t i = 3; i <= 4; i++)
		assert_int_equal(want(c, i)->request.picks, 0);
	sl_cluster_destroy(c);
	build_destroy(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cores_for_the_system_are_those_that_the_job_says),
		cmocka_unit_test(sockets_of_whole_nodes_are_a_number_of_cores),
		cmocka_unit_test(a_partition_may_allocate_by_socket_or_not_whatever_the_cluster_does),
		cmocka_unit_test(sockets_beside_cores_of_other_partitions_are_selects),
		cmocka_unit_test(where_sockets_are_allocated_they_are_given_whole),
		cmocka_unit_test(sockets_of_parts_of_nodes_are_sure_where_enough_is_free),
		cmocka_unit_test(planes_are_placed_where_they_settle_what_each_node_gives),
		cmocka_unit_test(more_tasks_than_nodes_that_overcommit_are_selects_where_each_wants_a_cpu),
		cmocka_unit_test(planes_are_selects_that_do_not_fill_what_each_node_may_have),
		cmocka_unit_test(tasks_with_gpus_of_several_nodes_with_whole_sockets_are_selects),
		cmocka_unit_test(tasks_are_placed_where_the_job_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
