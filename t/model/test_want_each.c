/* SPDX-License-Identifier: MIT */
/*
 * CPUs and memory that come with each gres: what a node gives then, and what only select can say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "check/check.h"
#include "t/model/desk.h"

/* Jobs are placed one after the other, each on a machine that is idle. */
struct each {
	struct build_job job;		/* gpus: as many of each *per* */
	uint32_t per, cpus;
	bool by_default;
	int64_t memory;
	const char *where;		/* NULL: native */
	int64_t has;			/* MiB on its first node */
};

/* *counted*: as slurmctld does from 24.11 on, CPUs that come with the gres of all nodes are CPUs of the job. */
static struct build *build_of(const char *machine, const struct each *e, bool counted)
{
	uint32_t with_gres = e->per == SL_PER_NODE ? e->job.nodes * e->job.gpus * e->cpus : 0;
	struct build *b = build_create(machine);
	struct build_job job = e->job;
	struct sl_job_gres_row gres;

	b->meta.select_flags = SL_SELECT_MEMORY;
	job.id = 1;
	build_pending(b, job);
	sl_builder_row(b->builder, SL_T_JOB_GRES, 0, &gres);
	gres.per = e->per;
	gres.cpus = e->cpus;
	gres.memory = e->memory;
	sl_builder_update(b->builder, SL_T_JOB_GRES, 0, &gres);
	build_change_job(b, 1, .memory_per_cpu = 50);
	if (counted && with_gres > e->job.tasks * (e->job.cpus_per_task ? e->job.cpus_per_task : 1))
		build_change_job(b, 1, .min_cpus = with_gres);
	build_change_job(b, 1, .asks = (e->cpus ? SL_ASKS_CPUS_PER_GRES : 0) | (e->by_default ? SL_ASKS_DEFAULT_CPUS : 0) | (e->memory ? SL_ASKS_MEMORY_PER_GRES : 0));
	return b;
}

static struct desk desk_of(const char *machine, const struct each *e, bool counted)
{
	return sit(build_of(machine, e, counted));
}

static void expect_one(const char *machine, const struct each *e, size_t number, bool counted)
{
	struct desk d = desk_of(machine, e, counted);
	const struct sl_want *w = sl_cluster_want(d.c, entry(&d, 1), &d.err);

	assert_non_null(w);
	if (!w->native != !!e->where)
		fail_msg("job %zu: native: %d", number, w->native != 0);
	if (e->where) {
		assert_int_equal(start(&d, 1), 1);
		if (strcmp(where(&d, 1), e->where))
			fail_msg("job %zu: on %s, not %s", number, where(&d, 1), e->where);
		assert_int_equal(accepted(&d)->place.memory[0], e->has);
	}
	leave(&d);
}

static void expect(const char *machine, const struct each *e, size_t number)
{
	expect_one(machine, e, number, false);
	expect_one(machine, e, number, true);
}

static void each_node_gives_what_its_gres_bring(void **state)
{
	static const struct each jobs[] = {
		/* of memory nothing but theirs; of CPUs, if they have more than the tasks */
		{ { .nodes = 1, .tasks = 1, .gpus = 2 }, SL_PER_NODE, 0, false, 1000, "n0:1", 2000 },
		{ { .nodes = 1, .tasks = 1, .gpus = 2 }, SL_PER_NODE, 4, false, 1000, "n0:4", 2000 },
		{ { .nodes = 1, .tasks = 10, .gpus = 2 }, SL_PER_NODE, 4, false, 1000, "n0:5", 2000 },
		{ { .nodes = 1, .tasks = 1, .gpus = 1 }, SL_PER_NODE, 3, false, 0, "n0:2", 200 },	/* of a core all threads */
		/* the same on each node, though a node has one task */
		{ { .nodes = 2, .max_nodes = 2, .tasks = 2, .gpus = 2 }, SL_PER_NODE, 4, false, 700, "n0:4 n1:4", 1400 },
		{ { .nodes = 2, .max_nodes = 2, .tasks = 3, .gpus = 1 }, SL_PER_NODE, 4, false, 700, "n0:2 n1:2", 700 },
		{ { .nodes = 2, .max_nodes = 2, .tasks = 12, .gpus = 1 }, SL_PER_NODE, 4, false, 700, "n0:4 n1:2", 700 },
		/* by what they say is the most a node may have of tasks */
		{ { .nodes = 2, .max_nodes = 2, .tasks = 2, .tasks_per_node = 1, .gpus = 1 }, SL_PER_NODE, 6, false, 700, "n0:3 n1:3", 700 },
		{ { .nodes = 2, .max_nodes = 2, .tasks = 8, .tasks_per_node = 4, .gpus = 1 }, SL_PER_NODE, 2, false, 700, "n0:2 n1:2", 700 },
		/* whole nodes: with all of their gres */
		{ { .nodes = 1, .tasks = 1, .gpus = 1, .exclusive = true }, SL_PER_NODE, 8, false, 2000, "n0:8", 4000 },
		/* of each task: they are its CPUs */
		{ { .nodes = 1, .tasks = 2, .gpus = 1 }, SL_PER_TASK, 3, false, 1000, "n0:3", 2000 },
		{ { .nodes = 2, .max_nodes = 2, .tasks = 3, .gpus = 1, .cpus_per_task = 4 }, SL_PER_TASK, 4, false, 1000, "n0:4 n1:2", 2000 },
		{ { .nodes = 2, .max_nodes = 2, .tasks = 3, .gpus = 1 }, SL_PER_TASK, 3, false, 0, "n0:3 n1:2", 300 },
		{ { .nodes = 2, .max_nodes = 2, .tasks = 4, .tasks_per_node = 2, .gpus = 1 }, SL_PER_TASK, 2, false, 10, "n0:2 n1:2", 20 },
		/* of the job, on one node */
		{ { .nodes = 1, .tasks = 1, .gpus = 2 }, SL_PER_JOB, 3, false, 1000, "n0:3", 2000 },
		{ { .gpus = 1 }, SL_PER_JOB, 8, false, 1000, "n0:4", 1000 },
		{ { .gpus = 2 }, SL_PER_JOB, 4, false, 1000, "n0:4", 2000 },	/* though it may have more of them */
		{ { .nodes = 1, .max_nodes = 2, .tasks = 2, .gpus = 2 }, SL_PER_JOB, 2, false, 0, "n0:2", 400 / 2 },
		{ { .nodes = 2, .max_nodes = 4, .tasks = 2, .gpus = 4 }, SL_PER_JOB, 2, false, 1000, "n0:2 n1:2", 2000 },
		/* ... on several, which give one each, or all that they have */
		{ { .nodes = 3, .max_nodes = 3, .tasks = 3, .gpus = 3 }, SL_PER_JOB, 8, false, 1000, "n0:4 n1:4 n2:4", 1000 },
		{ { .nodes = 2, .max_nodes = 2, .tasks = 2, .gpus = 4 }, SL_PER_JOB, 3, false, 1000, "n0:3 n1:3", 2000 },
	};

	(void) state;
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
		expect("4x8c2g2t4000m", &jobs[i], i);
}

static void what_select_deals_out_unequally_is_left_to_it(void **state)
{
	static const struct each jobs[] = {
		{ { .nodes = 2, .max_nodes = 2, .tasks = 2, .gpus = 1 }, SL_PER_NODE, 3, false, 0, NULL, 0 },	/* half a core */
		{ { .nodes = 1, .tasks = 8, .gpus = 1 }, SL_PER_JOB, 2, false, 0, NULL, 0 },	/* its tasks take more */
		{ { .nodes = 2, .max_nodes = 2, .tasks = 2, .gpus = 3 }, SL_PER_JOB, 2, false, 0, NULL, 0 },
		{ { .nodes = 2, .max_nodes = 2, .tasks = 2, .gpus = 4 }, SL_PER_JOB, 2, true, 0, NULL, 0 },
		{ { .nodes = 2, .max_nodes = 2, .tasks = 2, .gpus = 2 }, SL_PER_JOB, 3, false, 0, NULL, 0 },	/* half a core */
		{ { .nodes = 2, .max_nodes = 2, .tasks = 9, .gpus = 2 }, SL_PER_JOB, 4, false, 0, NULL, 0 },	/* tasks take more */
		{ { .nodes = 2, .max_nodes = 2, .tasks = 3, .gpus = 1 }, SL_PER_TASK, 0, false, 100, NULL, 0 },	/* half a core */
		{ { .nodes = 1, .tasks = 1, .gpus = 1, .cpus_per_task = 4 }, SL_PER_TASK, 2, false, 0, NULL, 0 },
		{ { .nodes = 1, .tasks = 1, .gpus = 1, .cpus_per_task = 2 }, SL_PER_NODE, 4, false, 0, NULL, 0 },
		{ { .nodes = 1, .max_nodes = 2, .tasks = 2, .tasks_per_node = 1, .gpus = 1 }, SL_PER_NODE, 4, false, 0, NULL, 0 },
	};

	(void) state;
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
		expect("4x8c2g2t4000m", &jobs[i], i);
}

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
	static const struct each two = { { .gpus = 2, .limit = 100 }, SL_PER_JOB, 2, false, 0, NULL, 0 },
		three = { { .gpus = 3, .limit = 100 }, SL_PER_JOB, 2, false, 0, NULL, 0 };
	static const struct {
		const struct each *asked;
		int64_t until[2];	/* a GPU of each node is in use */
		bool reserved;
		int64_t in;
		uint32_t native, nodes;
	} cases[] = {
		{ &two, { 0, 0 }, false, 0, 0, 1 },
		{ &two, { 50, 0 }, false, 0, 0, 1 },
		{ &two, { 50, 50 }, false, 0, 1, 2 },
		{ &three, { 0, 0 }, false, 0, 1, 2 },
		{ &three, { 50, 70 }, true, 50, 1, 2 },
	};

	(void) state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct build *b = build_of("2x8c2g", cases[i].asked, false);
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
	static const struct each job = { { .nodes = 2, .max_nodes = 2, .tasks = 2, .gpus = 1 }, SL_PER_NODE, 4, false, 700, NULL, 0 };
	struct desk d = desk_of("4x8c2g2t4000m", &job, false);
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

/* A whole node comes with all of its gres, and needs what those bring. */
static void whole_nodes_without_enough_for_all_their_gres_are_none(void **state)
{
	static const struct each jobs[] = {
		{ { .nodes = 1, .tasks = 1, .gpus = 1, .exclusive = true }, SL_PER_NODE, 9, false, 0, NULL, 0 },
		{ { .nodes = 1, .tasks = 1, .gpus = 1, .exclusive = true }, SL_PER_NODE, 0, false, 2001, NULL, 0 },
	};

	(void) state;
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		struct desk d = desk_of("4x8c2g2t4000m", &jobs[i], false);

		assert_int_equal(start(&d, 1), 0);
		assert_int_equal(d.why.why, SL_WHY_NEVER);
		leave(&d);
	}
}

/* Seven tasks on two nodes, each of which has three CPUs with its GPUs in any case, however few its tasks. */
static void a_layout_that_is_given_counts_the_cpus_of_gres(void **state)
{
	static const struct each asked = { { .nodes = 2, .max_nodes = 2, .tasks = 7, .gpus = 3 }, SL_PER_NODE, 1, false, 0, NULL, 0 };
	static const struct {
		uint32_t cores[2];
		int fits;
	} layouts[] = { { { 7, 3 }, 0 }, { { 7, 0 }, 0 }, { { 5, 3 }, 1 }, { { 4, 3 }, 1 }, { { 4, 0 }, 1 }, { { 0, 0 }, 1 } };

	(void) state;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		struct desk d = desk_of("2x8c4g", &asked, false);
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
		cmocka_unit_test(gres_of_the_job_are_had_of_one_node_unless_several_have_them_sooner),
		cmocka_unit_test(the_checker_misses_nothing_that_gres_bring),
		cmocka_unit_test(a_layout_that_is_given_counts_the_cpus_of_gres),
		cmocka_unit_test(whole_nodes_without_enough_for_all_their_gres_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
