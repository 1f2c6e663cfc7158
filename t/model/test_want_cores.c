/* SPDX-License-Identifier: MIT */
/*
 * Which cores of a node a job may have, and how many at once: those of the system, sockets, planes of tasks.
 */
#include "t/model/cells.h"
#include "t/model/want_of.h"

CELLS(cores_for_the_system_are_those_that_the_job_says,
	ON("4x6c n*.core_spec=2"),
	{ "tasks=5 core_spec=3", "extra_cores=-1 whole_nodes=1" },
	{ "tasks=8 spec_cores", "extra_cores=2 whole_nodes=1" },
	{ "tasks=8 core_spec=1 spec_threads", "extra_cores=1 whole_nodes=1" },
	{ "tasks=8", "extra_cores=0 whole_nodes=0" },
	ON("4x6c n*.core_spec=2 n3.core_spec=1"),
	{ "tasks=5 core_spec=3", "left=CORE_SPEC whole_nodes=1" },
	{ "tasks=8", "" })

CELLS(sockets_of_whole_nodes_are_a_number_of_cores,
	ON("4x8c2s2t"),
	{ "tasks=9 exclusive ntasks_per_socket=3", "max_cores_per_node=4" },
	{ "tasks=9 ntasks_per_socket=3", "v0.max_nodes=3 v0.tasks_per_node=3" },	/* of parts of three nodes, three tasks on each */
	{ "tasks=9 exclusive cpus_per_task=2 ntasks_per_socket=3", "v0.max_cores_per_node=6" },
	{ "tasks=9 exclusive ntasks_per_socket=9", "why=never" },
	{ "tasks=9 exclusive sockets_per_node=2 cores_per_socket=4", "max_cores_per_node=0" },
	{ "tasks=9 exclusive sockets_per_node=3", "why=never text=needs 3 sockets of 1 cores on a node, there are 2 of 4" },
	{ "tasks=9 exclusive cores_per_socket=5", "why=never" },
	{ "tasks=9 exclusive ntasks_per_socket=3 threads_per_core=1", "max_cores_per_node=6" },
	/* a thread of a socket that is left is a task's, before 24.11 */
	ON("4x8c2s2t select=DEALS_ALL"),
	{ "tasks=9 exclusive ntasks_per_socket=3", "left=TASKS_PER_SOCKET" },
	{ "tasks=9 exclusive ntasks_per_socket=4", "max_cores_per_node=4" },
	ON("4x8c2s2t n3.sockets=1"),
	{ "tasks=9 exclusive ntasks_per_socket=3", "left=TASKS_PER_SOCKET" },
	{ "tasks=9 exclusive sockets_per_node=2 cores_per_socket=4", "left=SOCKETS" },
	ON("4x8c2s2t n3.core_spec=1"),
	{ "tasks=9 exclusive ntasks_per_socket=3", "left=TASKS_PER_SOCKET" })

CELLS(a_partition_may_allocate_by_socket_or_not_whatever_the_cluster_does,
	ON("4x8c2s"), { "nodes=2 tasks=6", "cores_at_once=0" },
	ON("4x8c2s select=SOCKET"), { "nodes=2 tasks=6", "cores_at_once=4" },
	ON("4x8c2s part.BY_SOCKET"), { "nodes=2 tasks=6", "cores_at_once=4" },
	ON("4x8c2s select=SOCKET part.BY_SOCKET"), { "nodes=2 tasks=6", "cores_at_once=4" },
	ON("4x8c2s select=SOCKET part.BY_CORE"), { "nodes=2 tasks=6", "cores_at_once=0" },
	ON("4x8c2s part.BY_CORE"), { "nodes=2 tasks=6", "cores_at_once=0" })

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

CELLS(where_sockets_are_allocated_they_are_given_whole,
	ON("4x8c2s1g select=SOCKET|GRES_IN_TURN"),
	{ "nodes=2 tasks=6", "cores_at_once=4" },
	{ "nodes=2 tasks=6 exclusive", "cores_at_once=0" },
	{ "nodes=2 tasks=4 cpus_per_task=3", "cores_at_once=4 left=PARTS_BY_SOCKET" },	/* three of four CPUs */
	{ "nodes=1 max_nodes=1 tasks=2 cpus_per_task=3", "cores_at_once=4" },
	{ "nodes=2 tasks=6 gpus=1", "cores_at_once=4 left=PARTS_BY_SOCKET" },		/* a core of each socket in turn */
	{ "nodes=2 max_nodes=2 tasks=2 gpus=1", "cores_at_once=4" },
	ON("4x8c2s1g select=SOCKET"),
	{ "nodes=2 tasks=6 gpus=1", "" })

CELLS(tasks_that_end_within_a_core_are_selects_where_it_takes_parts_of_them,
	ON("4x8c1s2t select=PARTS_OF_TASKS|MEMORY"),
	{ "tasks=8 cpus_per_task=3 memory=100", "left=PARTS_OF_TASKS" },
	{ "tasks=8 cpus_per_task=3 memory_per_cpu=100", "" },	/* select makes them whole then */
	{ "tasks=5 cpus_per_task=3 nodes=1 max_nodes=1 memory=100", "" },
	{ "tasks=8 cpus_per_task=2 memory=100", "" },
	{ "tasks=8 memory=100", "" },
	{ "tasks=8 cpus_per_task=3 memory=100 exclusive", "" },
	ON("4x8c1s2t select=MEMORY"),
	{ "tasks=8 cpus_per_task=3 memory=100", "" })

/* For each node behind the one that it looks at select keeps the CPUs of a socket, though its GPUs may be for fewer tasks. */
CELLS(tasks_with_gpus_of_several_nodes_with_whole_sockets_are_selects,
	ON("4x4c1s4g select=SOCKET"),
	{ "nodes=1 max_nodes=4 tasks=7 gres:gpu=2/task", "left=PARTS_BY_SOCKET" },
	{ "nodes=2 max_nodes=2 tasks=4 tasks_per_node=2 gres:gpu=2/task", "" },
	{ "nodes=2 max_nodes=2 tasks=2 gres:gpu=2/task", "" },
	{ "nodes=1 max_nodes=1 tasks=2 gres:gpu=2/task", "" })

/* So many cores have to be free, wherever they lie. */
CELLS(sockets_of_parts_of_nodes_are_sure_where_enough_is_free,
	ON("4x8c2s1g"),
	{ "nodes=1 max_nodes=1 tasks=4 ntasks_per_socket=2", "v0.least_free_cores=6" },		/* 4 + 2, not 4 + 1 */
	{ "nodes=1 max_nodes=1 tasks=4 ntasks_per_socket=4", "v0.least_free_cores=4" },
	{ "nodes=1 max_nodes=1 tasks=4 ntasks_per_socket=1", "left=TASKS_PER_SOCKET" },		/* never: as select says */
	{ "nodes=2 max_nodes=2 tasks=8 tasks_per_node=4 ntasks_per_socket=3", "v0.least_free_cores=5" },
	{ "nodes=1 max_nodes=1 tasks=4 sockets_per_node=2", "v0.least_free_cores=5" },		/* one of the second */
	{ "nodes=1 max_nodes=1 tasks=4 cores_per_socket=3", "v0.least_free_cores=6" },		/* 3 + 2 have but 3 */
	{ "nodes=1 max_nodes=2 tasks=4 ntasks_per_socket=3", "v0.least_free_cores=5 v0.max_nodes=1" },
	/* which are near its GPU is not known */
	{ "nodes=1 max_nodes=1 tasks=4 gpus=1 ntasks_per_socket=2", "left=TASKS_PER_SOCKET variants=1" },
	/* select looks for sockets with room for eight tasks */
	{ "nodes=1 max_nodes=1 tasks=1 tasks_per_node=8 ntasks_per_socket=4", "left=TASKS_PER_SOCKET variants=1" },
	/* a task of a core and a half gets no more than that, although none is to share a core */
	ON("4x16c2s2t"),
	{ "nodes=1 max_nodes=1 tasks=3 cpus_per_task=3 ntasks_per_socket=2 ntasks_per_core=1", "left=TASKS_PER_SOCKET variants=1" },
	{ "nodes=1 max_nodes=1 tasks=6 ntasks_per_socket=4 ntasks_per_core=1", "" },
	{ "nodes=1 max_nodes=1 tasks=7 cpus_per_task=4 ntasks_per_socket=8 ntasks_per_core=1", "" },
	{ "nodes=1 max_nodes=1 tasks=3 cpus_per_task=3 ntasks_per_core=1", "" })

/* From 25.11 on. */
CELLS(a_task_whose_node_may_have_several_is_left_to_select_which_has_cpus_of_one,
	ON("4x8c select=DEALS_TO_NODES"),
	{ "nodes=1 max_nodes=1 tasks=1 tasks_per_node=4", "left=ONE_TASK" },
	{ "nodes=1 max_nodes=1 tasks=1 tasks_per_node=3 cpus_per_task=2", "left=ONE_TASK" },
	{ "nodes=1 max_nodes=1 tasks=1 tasks_per_node=4 pn_min_cpus=3", "left=ONE_TASK" },
	{ "nodes=1 max_nodes=1 tasks=1 tasks_per_node=4 pn_min_cpus=4", "on=n0:4" },
	{ "nodes=1 max_nodes=1 tasks=1 tasks_per_node=4 exclusive", "on=n0:8" },
	{ "nodes=1 max_nodes=1 tasks=1 tasks_per_node=4 overcommit", "on=n0:1" },
	{ "nodes=1 max_nodes=1 tasks=1 tasks_per_node=1", "on=n0:1" },
	{ "nodes=1 max_nodes=1 tasks=3 tasks_per_node=4", "on=n0:4" },
	ON("4x8c"),
	{ "nodes=1 max_nodes=1 tasks=1 tasks_per_node=4", "on=n0:1" })

CELLS(planes_are_placed_where_they_settle_what_each_node_gives,
	ON("4x8c"),
	{ "nodes=3 max_nodes=3 tasks=5 plane=2", "plane=2" },
	{ "nodes=3 max_nodes=3 tasks=4 plane=2", "left=PLANE" },	/* none for the third */
	{ "nodes=3 max_nodes=3 tasks=5 plane=0", "left=PLANE" },
	{ "nodes=3 max_nodes=3 tasks=5 plane=2 exclusive", "plane=0" },
	{ "nodes=1 max_nodes=1 tasks=5 plane=0", "" },
	/* select goes on round after round however many tasks a node may have: 4 and 2, not 3 and 3 */
	{ "nodes=2 max_nodes=2 tasks=6 tasks_per_node=3 plane=2", "left=PLANE" },
	{ "nodes=2 max_nodes=2 tasks=8 tasks_per_node=4 plane=2", "" },
	{ "nodes=2 max_nodes=2 tasks=6 tasks_per_node=4 plane=2", "left=PLANE" })

/* From 24.11 on select refuses tasks without a CPU, of whole nodes and of a job that says CPUs of each. */
CELLS(more_tasks_than_nodes_that_overcommit_are_selects_where_each_wants_a_cpu,
	ON("4x8c select=DEALS_ALL"),
	{ "nodes=2 max_nodes=2 tasks=3 overcommit task_tres", "left=CROWDED" },
	{ "nodes=2 max_nodes=2 tasks=2 overcommit task_tres", "" },
	{ "nodes=2 max_nodes=2 tasks=3 overcommit", "" },
	{ "nodes=2 max_nodes=2 tasks=3 overcommit exclusive", "left=CROWDED" },
	ON("4x8c"),
	{ "nodes=2 max_nodes=2 tasks=3 overcommit task_tres", "" },
	{ "nodes=2 max_nodes=2 tasks=3 overcommit exclusive", "" })

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
		cmocka_unit_test(tasks_that_end_within_a_core_are_selects_where_it_takes_parts_of_them),
		cmocka_unit_test(sockets_of_parts_of_nodes_are_sure_where_enough_is_free),
		cmocka_unit_test(a_task_whose_node_may_have_several_is_left_to_select_which_has_cpus_of_one),
		cmocka_unit_test(planes_are_placed_where_they_settle_what_each_node_gives),
		cmocka_unit_test(more_tasks_than_nodes_that_overcommit_are_selects_where_each_wants_a_cpu),
		cmocka_unit_test(tasks_with_gpus_of_several_nodes_with_whole_sockets_are_selects),
		cmocka_unit_test(tasks_are_placed_where_the_job_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
