/* SPDX-License-Identifier: MIT */
/*
 * Gres of nodes, sockets, tasks and jobs, and CPUs and memory that come with each: what is placed, and what only select can count.
 */
#include "t/model/cells.h"

#include <string.h>

#include "check/check.h"
#include "t/model/desk.h"

/* As slurmctld does from 24.11 on, and as it did before. */
#define EACH(job, is) { job " memory_per_cpu=50", is }, { job " memory_per_cpu=50 counted", is }

CELLS(each_node_gives_what_its_gres_bring,
	ON("4x8c2g2t4000m select=MEMORY"),
	/* of memory nothing but theirs; of CPUs, if they have more than the tasks */
	EACH("nodes=1 tasks=1 gres:gpu=2 memory_with_gres=1000", "memory=2000 on=n0:1"),
	EACH("nodes=1 tasks=1 gres:gpu=2 cpus_with_gres=4 memory_with_gres=1000", "memory=2000 on=n0:4"),
	EACH("nodes=1 tasks=10 gres:gpu=2 cpus_with_gres=4 memory_with_gres=1000", "memory=2000 on=n0:5"),
	EACH("nodes=1 tasks=1 gres:gpu=1 cpus_with_gres=3", "memory=200 on=n0:2"), /* of a core all threads */
	/* the same on each node, though a node has one task */
	EACH("nodes=2 max_nodes=2 tasks=2 gres:gpu=2 cpus_with_gres=4 memory_with_gres=700", "memory=1400 on=n0:4 n1:4"),
	EACH("nodes=2 max_nodes=2 tasks=3 gres:gpu=1 cpus_with_gres=4 memory_with_gres=700", "memory=700 on=n0:2 n1:2"),
	EACH("nodes=2 max_nodes=2 tasks=12 gres:gpu=1 cpus_with_gres=4 memory_with_gres=700", "memory=700 on=n0:4 n1:2"),
	/* by what they say is the most a node may have of tasks */
	EACH("nodes=2 max_nodes=2 tasks=2 tasks_per_node=1 gres:gpu=1 cpus_with_gres=6 memory_with_gres=700", "memory=700 on=n0:3 n1:3"),
	EACH("nodes=2 max_nodes=2 tasks=8 tasks_per_node=4 gres:gpu=1 cpus_with_gres=2 memory_with_gres=700", "memory=700 on=n0:2 n1:2"),
	/* whole nodes: with all of their gres */
	EACH("nodes=1 tasks=1 exclusive gres:gpu=1 cpus_with_gres=8 memory_with_gres=2000", "memory=4000 on=n0:8"),
	/* of each task: they are its CPUs */
	EACH("nodes=1 tasks=2 gres:gpu=1/task cpus_with_gres=3 memory_with_gres=1000", "memory=2000 on=n0:3"),
	EACH("nodes=2 max_nodes=2 tasks=3 cpus_per_task=4 gres:gpu=1/task cpus_with_gres=4 memory_with_gres=1000", "memory=2000 on=n0:4 n1:2"),
	EACH("nodes=2 max_nodes=2 tasks=3 gres:gpu=1/task cpus_with_gres=3", "memory=300 on=n0:3 n1:2"),
	EACH("nodes=2 max_nodes=2 tasks=4 tasks_per_node=2 gres:gpu=1/task cpus_with_gres=2 memory_with_gres=10", "memory=20 on=n0:2 n1:2"),
	/* of the job, on one node */
	EACH("nodes=1 tasks=1 gres:gpu=2/job cpus_with_gres=3 memory_with_gres=1000", "memory=2000 on=n0:3"),
	EACH("gres:gpu=1/job cpus_with_gres=8 memory_with_gres=1000", "memory=1000 on=n0:4"),
	EACH("gres:gpu=2/job cpus_with_gres=4 memory_with_gres=1000", "memory=2000 on=n0:4"), /* though it may have more of them */
	EACH("nodes=1 max_nodes=2 tasks=2 gres:gpu=2/job cpus_with_gres=2", "memory=200 on=n0:2"),
	EACH("nodes=2 max_nodes=4 tasks=2 gres:gpu=4/job cpus_with_gres=2 memory_with_gres=1000", "memory=2000 on=n0:2 n1:2"),
	/* ... on several, which give one each, or all that they have */
	EACH("nodes=3 max_nodes=3 tasks=3 gres:gpu=3/job cpus_with_gres=8 memory_with_gres=1000", "memory=1000 on=n0:4 n1:4 n2:4"),
	EACH("nodes=2 max_nodes=2 tasks=2 gres:gpu=4/job cpus_with_gres=3 memory_with_gres=1000", "memory=2000 on=n0:3 n1:3"))

CELLS(what_select_deals_out_unequally_is_left_to_it,
	ON("4x8c2g2t4000m select=MEMORY"),
	EACH("nodes=2 max_nodes=2 tasks=2 gres:gpu=1 cpus_with_gres=3", "left=CPUS_PER_GRES"), /* half a core */
	EACH("nodes=1 tasks=8 gres:gpu=1/job cpus_with_gres=2", "left=CPUS_PER_GRES"), /* its tasks take more */
	EACH("nodes=2 max_nodes=2 tasks=2 gres:gpu=3/job cpus_with_gres=2", "left=CPUS_PER_GRES"),
	EACH("nodes=2 max_nodes=2 tasks=2 gres:gpu=4/job cpus_with_gres=2 default_cpus", "left=CPUS_PER_GRES"),
	EACH("nodes=2 max_nodes=2 tasks=2 gres:gpu=2/job cpus_with_gres=3", "left=CPUS_PER_GRES"), /* half a core */
	EACH("nodes=2 max_nodes=2 tasks=9 gres:gpu=2/job cpus_with_gres=4", "left=CPUS_PER_GRES"), /* tasks take more */
	EACH("nodes=2 max_nodes=2 tasks=3 gres:gpu=1/task memory_with_gres=100", "left=MEMORY_PER_GRES"), /* half a core */
	EACH("nodes=1 tasks=1 cpus_per_task=4 gres:gpu=1/task cpus_with_gres=2", "left=CPUS_PER_GRES"),
	EACH("nodes=1 tasks=1 cpus_per_task=2 gres:gpu=1 cpus_with_gres=4", "left=CPUS_PER_GRES"),
	EACH("nodes=1 max_nodes=2 tasks=2 tasks_per_node=1 gres:gpu=1 cpus_with_gres=4", "left=CPUS_PER_GRES"))

/* From 24.11 on. */
CELLS(more_tasks_than_cpus_with_the_gres_of_several_nodes_are_left_to_select,
	ON("4x8c2g2t4000m select=MEMORY|DEALS_ALL"),
	EACH("nodes=2 max_nodes=2 tasks=8 gres:gpu=1 cpus_with_gres=4 memory_with_gres=700", "memory=700 on=n0:2 n1:2"),
	EACH("nodes=2 max_nodes=2 tasks=9 gres:gpu=1 cpus_with_gres=4 memory_with_gres=700", "left=CPUS_PER_GRES+MEMORY_PER_GRES"),
	EACH("nodes=1 max_nodes=1 tasks=9 gres:gpu=1 cpus_with_gres=4 memory_with_gres=700", "memory=700 on=n0:5"))

/* A whole node comes with all of its gres, and needs what those bring. */
CELLS(whole_nodes_without_enough_for_all_their_gres_are_none,
	ON("4x8c2g2t4000m select=MEMORY"),
	EACH("nodes=1 tasks=1 exclusive gres:gpu=1 cpus_with_gres=9", "never"),
	EACH("nodes=1 tasks=1 exclusive gres:gpu=1 memory_with_gres=2001", "never"))

/* So many tasks for each GPU: on its fewest nodes a job has as many on each, with the GPUs of these. */
CELLS(all_gpus_have_as_many_tasks,
	ON("4x8c2t4g"),
	{ "nodes=1 tasks=4 gres:gpu=2 tasks_per_gres", "on=n0:2" },
	{ "nodes=1 max_nodes=3 tasks=3 gres:gpu=3/job tasks_per_gres", "on=n0:2" },
	{ "tasks=6 cpus_per_task=2 gres:gpu=2/job tasks_per_gres", "on=n0:6" },
	{ "nodes=2 max_nodes=2 tasks=8 gres:gpu=2 tasks_per_gres", "on=n0:2 n1:2" },
	{ "nodes=2 max_nodes=2 tasks=8 tasks_per_node=4 gres:gpu=2 tasks_per_gres", "on=n0:2 n1:2" },
	{ "nodes=2 max_nodes=2 tasks=4 gres:gpu=2/job tasks_per_gres", "on=n0:1 n1:1" },
	{ "nodes=2 max_nodes=2 tasks=8 gres:gpu=8/job tasks_per_gres", "on=n0:2 n1:2" },
	{ "nodes=2 max_nodes=4 tasks=8 gres:gpu=8/job tasks_per_gres", "on=n0:2 n1:2" },
	{ "nodes=2 max_nodes=2 tasks=8 exclusive gres:gpu=4/job tasks_per_gres", "on=n0:8 n1:8" },
	/* not as many on each, of half a core, so many GPUs of each node that others could be given */
	{ "nodes=2 max_nodes=2 tasks=6 gres:gpu=1 tasks_per_gres", "left=TASKS_PER_GRES" },
	{ "nodes=1 tasks=5 gres:gpu=2 tasks_per_gres", "left=TASKS_PER_GRES" },
	{ "nodes=2 max_nodes=2 tasks=8 gres:gpu=4/job tasks_per_gres", "left=TASKS_PER_GRES" },
	{ "nodes=2 max_nodes=2 tasks=8 tasks_per_node=6 gres:gpu=2 tasks_per_gres", "left=TASKS_PER_GRES" },
	{ "nodes=1 tasks=4 gres:gpu=2 tasks_per_gres bound_gres", "left=TASKS_PER_GRES" },
	{ "nodes=1 tasks=2 gres:gpu=1/task tasks_per_gres", "left=TASKS_PER_GRES" },
	{ "nodes=1 tasks=0 gres:gpu=2 tasks_per_gres", "left=TASKS_PER_GRES" },
	{ "nodes=1 tasks=2 cpus_per_task=2 gres:gpu=2 tasks_per_gres min_cpus=2", "left=TASKS_PER_GRES" },
	/* who is left to select asks no more than the job: what that does with two tasks of one GPU each is its affair */
	{ "nodes=2 max_nodes=4 tasks=8 gres:gpu=4/job tasks_per_gres", "left=TASKS_PER_GRES tasks_per_node=0 max_nodes=4 g0.per=2" })

/* --gpus=2 --gpus-per-task=2 makes one task, which is on one node. */
CELLS(fewer_tasks_than_nodes_by_gres_of_each_task_are_left_to_select,
	ON("4x8c2t4g"),
	{ "nodes=2 max_nodes=4 tasks=1 gres:gpu=2/job task_gres", "left=FEWER_TASKS" },
	{ "nodes=1 max_nodes=4 tasks=1 gres:gpu=2/job task_gres", "on=n0:1" })

/* --gpus=1 of 12 tasks on nodes of 8 cores: of the second node the job has none, but select takes none without a free one. */
CELLS(tasks_that_need_more_nodes_than_the_job_has_gres_are_left_to_select,
	ON("4x8c2g4000m select=MEMORY n3.cores=32"),
	{ "tasks=12 gres:gpu=1/job", "on=n3:12" },
	{ "tasks=32 gres:gpu=1/job", "on=n3:32" },
	{ "tasks=33 gres:gpu=1/job", "left=OUTGROWN_GRES max_nodes=33 g0.per=0 g0.count=1" },
	{ "tasks=40 gres:gpu=2/job", "on=n0:8 n3:32" },
	{ "tasks=41 gres:gpu=2/job", "left=OUTGROWN_GRES" },
	{ "tasks=41 gres:gpu=3/job", "on=n0:8 n1:8 n3:25" },
	{ "tasks=12 tasks_per_node=4 gres:gpu=2/job", "left=OUTGROWN_GRES" },
	{ "tasks=12 tasks_per_node=4 gres:gpu=3/job", "on=n0:4 n1:4 n2:4" },
	{ "tasks=8 memory_per_cpu=800 gres:gpu=1/job", "left=OUTGROWN_GRES" },
	{ "tasks=5 memory_per_cpu=800 gres:gpu=1/job", "on=n0:5" },
	/* what it asks for itself is nobody else's business */
	{ "nodes=1 max_nodes=1 tasks=33 gres:gpu=1/job", "never" },
	{ "tasks=57 gres:gpu=1/job", "never" })

CELLS(gres_of_more_tasks_than_a_node_is_to_have_are_left_to_select_where_it_may_lack_them,
	ON("4x8c2s2g"),
	{ "nodes=2 max_nodes=2 tasks=2 ntasks_per_core=2 gres:gpu=1/task", "left=GPU_ROOM" },
	{ "nodes=2 max_nodes=2 tasks=2 ntasks_per_core=1 gres:gpu=1/task", "on=n0:1 n1:1" },
	{ "nodes=1 max_nodes=1 tasks=2 ntasks_per_core=2 gres:gpu=1/task", "on=n0:2" },
	{ "nodes=2 max_nodes=2 tasks=4 tasks_per_node=2 ntasks_per_core=2 gres:gpu=1/task task_gres", "on=n0:2 n1:2" },
	/* whole nodes have two GPUs free */
	{ "nodes=2 max_nodes=2 tasks=3 exclusive ntasks_per_socket=4 gres:gpu=1/task task_gres", "left=GPU_ROOM" },
	{ "nodes=2 max_nodes=2 tasks=3 exclusive ntasks_per_socket=2 gres:gpu=1/task task_gres", "on=n0:8 n1:8" },
	{ "nodes=2 max_nodes=2 tasks=2 exclusive ntasks_per_socket=2 gres:gpu=2/task", "left=GPU_ROOM" },
	{ "nodes=2 max_nodes=2 tasks=2 exclusive ntasks_per_socket=1 gres:gpu=2/task", "on=n0:8 n1:8" },
	{ "nodes=2 max_nodes=2 tasks=2 exclusive ntasks_per_socket=4 gres:gpu=1", "on=n0:8 n1:8" })

/* Of nodes of one socket all cores are near. */
CELLS(gres_bound_to_cores_are_placed_on_nodes_of_one_socket,
	ON("4x8c2t4g"),
	{ "nodes=2 max_nodes=2 tasks=6 gres:gpu=2 bound_gres", "on=n0:2 n1:1" },
	{ "nodes=1 max_nodes=1 exclusive gres:gpu=2 bound_gres", "on=n0:8" },
	/* without a number of tasks select gives all cores, for gres of tasks that are not settled those of as many
	 * as could be on the node */
	{ "nodes=1 max_nodes=1 gres:gpu=2 bound_gres", "left=BOUND_GRES" },
	{ "nodes=1 max_nodes=2 tasks=3 gres:gpu=1/task bound_gres", "left=BOUND_GRES" },
	{ "nodes=1 max_nodes=1 tasks=2 gres:gpu=1/task bound_gres", "on=n0:1" },
	{ "nodes=1 max_nodes=1 tasks=2 cpus_per_task=3 gres:gpu=1/task bound_gres", "left=BOUND_GRES" },
	{ "nodes=1 max_nodes=1 tasks=2 ntasks_per_core=1 gres:gpu=1/task bound_gres", "left=BOUND_GRES" },
	{ "nodes=2 max_nodes=2 tasks=2 gres:gpu=1/task bound_gres", "on=n0:1 n1:1" },
	{ "nodes=2 max_nodes=2 tasks=4 tasks_per_node=2 gres:gpu=1/task bound_gres", "on=n0:1 n1:1" },
	{ "nodes=2 max_nodes=2 tasks=4 gres:gpu=1/task bound_gres", "left=BOUND_GRES" },
	/* a core of each socket that the GPUs may be near */
	ON("4x8c2s2t4g"),
	{ "nodes=1 tasks=2 gres:gpu=1 bound_gres", "left=BOUND_GRES" },
	{ "nodes=1 max_nodes=1 tasks=2 gres:gpu=1/task bound_gres", "left=BOUND_GRES" },
	{ "nodes=1 tasks=2 exclusive gres:gpu=1 bound_gres", "on=n0:8" })

/* -- gres of the job on one node or several ------------------------------------- */

static void expect_row(const struct sl_plan_image *p, bool reserved, int64_t in, uint32_t native, uint32_t nodes)
{
	assert_int_equal(p->start.rows, !reserved);
	assert_int_equal(p->reserve.rows, reserved);
	assert_int_equal(reserved ? p->reserve.native[0] : p->start.native[0], native);
	assert_int_equal((reserved ? p->reserve.places[0] : p->start.places[0]).count, nodes);
	if (reserved)
		assert_int_equal(p->reserve.start_time[0], BUILD_NOW + in);
}

/* On one node now or later, and by select on several where that is sooner, or no node has as many. */
static void gres_of_the_job_are_had_of_one_node_unless_several_have_them_sooner(void **state)
{
	static const char two[] = "limit=100 gres:gpu=2/job cpus_with_gres=2", three[] = "limit=100 gres:gpu=3/job cpus_with_gres=2";
	static const struct {
		const char *asked;
		int64_t until[2];	/* a GPU of each node is in use */
		bool reserved;
		int64_t in;
		uint32_t native, nodes;
	} cases[] = {
		{ two, { 0, 0 }, false, 0, 0, 1 },
		{ two, { 50, 0 }, false, 0, 0, 1 },
		{ two, { 50, 50 }, false, 0, 1, 2 },
		{ three, { 0, 0 }, false, 0, 1, 2 },
		{ three, { 50, 70 }, true, 50, 1, 2 },
	};

	(void) state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct build *b = build_of("2x8c2g", cases[i].asked);
		struct desk d;

		for (uint32_t n = 0; n < 2; n++)
			if (cases[i].until[n])
				build_running(b, (struct build_job) { .id = 2 + n, .nodes = 1, .first = n, .cores = 1, .gpus = 1,
								      .ends_in = cases[i].until[n] });
		d = sit(b);
		assert_int_equal(cases[i].reserved ? reserve(&d, 1) : start(&d, 1), 1);
		expect_row(accepted(&d), cases[i].reserved, cases[i].in, cases[i].native, cases[i].nodes);
		leave(&d);
	}
}

/* The checker by itself: one that takes what it says for the engine's word would let them pass. */
static void the_checker_misses_nothing_that_gres_bring(void **state)
{
	struct desk d = sit(build_of("4x8c2g2t4000m select=MEMORY", "nodes=2 max_nodes=2 tasks=2 gres:gpu=1 cpus_with_gres=4 "
				     "memory_with_gres=700"));
	struct sl_plan_place_row place, other;

	(void) state;
	assert_int_equal(start(&d, 1), 1);
	accepted(&d);
	sl_builder_row(d.image, SL_P_PLACE, 1, &place);
	for (uint32_t i = 0; i < 3; i++) {
		static const char *const words[] = { "needs 2", "needs 700", "has 3 cores, for 1 tasks" };
		struct sl_plan_image p;
		const void *bytes;
		size_t size;

		other = place;
		other.cores = i == 0 ? 1 : i == 2 ? 3 : place.cores;
		other.memory -= i == 1;
		sl_builder_update(d.image, SL_P_PLACE, 1, &other);
		checked(&d, sl_builder_finish(d.image, &bytes, &size, &d.err));
		checked(&d, sl_plan_image_open(&p, bytes, size, &d.err));
		assert_int_equal(sl_check_plan(&d.b->snap, &p, &d.err), -1);
		if (!strstr(d.err.text, words[i]))
			fail_msg("%s: %s", words[i], d.err.text);
	}
	leave(&d);
}

/* Seven tasks on two nodes, each of which has three CPUs with its GPUs in any case, however few its tasks. */
static void a_layout_that_is_given_counts_the_cpus_of_gres(void **state)
{
	static const struct {
		uint32_t cores[2];
		int fits;
	} layouts[] = { { { 7, 3 }, 0 }, { { 7, 0 }, 0 }, { { 5, 3 }, 1 }, { { 4, 3 }, 1 }, { { 4, 0 }, 1 }, { { 0, 0 }, 1 } };

	(void) state;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		struct desk d = sit(build_of("2x8c4g", "nodes=2 max_nodes=2 tasks=7 gres:gpu=3 cpus_with_gres=1"));
		struct sl_pick pick[2] = { { .node = 0, .cores = layouts[i].cores[0] }, { .node = 1, .cores = layouts[i].cores[1] } };
		struct sl_how how = { .method = SL_PLACE_EXPLICIT, .picks = pick, .count = 2 };
		struct sl_terms terms = { .how = &how };
		int rc = sl_plan_start(d.p, entry(&d, 1), &terms, &d.why, &d.err);

		if (rc != layouts[i].fits)
			fail_msg("layout %zu: %d, not %d", i, rc, layouts[i].fits);
		accepted(&d);
		leave(&d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_node_gives_what_its_gres_bring),
		cmocka_unit_test(what_select_deals_out_unequally_is_left_to_it),
		cmocka_unit_test(more_tasks_than_cpus_with_the_gres_of_several_nodes_are_left_to_select),
		cmocka_unit_test(whole_nodes_without_enough_for_all_their_gres_are_none),
		cmocka_unit_test(all_gpus_have_as_many_tasks),
		cmocka_unit_test(tasks_that_need_more_nodes_than_the_job_has_gres_are_left_to_select),
		cmocka_unit_test(fewer_tasks_than_nodes_by_gres_of_each_task_are_left_to_select),
		cmocka_unit_test(gres_of_more_tasks_than_a_node_is_to_have_are_left_to_select_where_it_may_lack_them),
		cmocka_unit_test(gres_bound_to_cores_are_placed_on_nodes_of_one_socket),
		cmocka_unit_test(gres_of_the_job_are_had_of_one_node_unless_several_have_them_sooner),
		cmocka_unit_test(the_checker_misses_nothing_that_gres_bring),
		cmocka_unit_test(a_layout_that_is_given_counts_the_cpus_of_gres),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
