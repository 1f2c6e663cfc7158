/* SPDX-License-Identifier: MIT */
/*
 * Gres of sockets, and such as are bound to tasks or bring some: what is placed, and what only select can count.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "t/model/desk.h"

/* Jobs are placed one after the other, each on a machine that is idle. */
struct asked {
	struct build_job job;		/* gpus: as many of each *per* */
	uint32_t per, sockets, asks;
	bool native;			/* or ... */
	const char *where;
	bool few_cpus;			/* counted as one for each task */
};

static struct desk desk_of(const char *machine, const struct asked *q)
{
	struct build *b = build_create(machine);
	struct build_job job = q->job;

	job.id = 1;
	job.gpus = 0;
	build_pending(b, job);
	build_change_job(b, 1, .gres = build_gres(b, "gpu", "", q->job.gpus, q->per));
	build_change_job(b, 1, .sockets_per_node = q->sockets);
	build_change_job(b, 1, .asks = q->asks);
	if (q->few_cpus)
		build_change_job(b, 1, .min_cpus = q->job.tasks);
	return sit(b);
}

static void expect(const char *machine, const struct asked *q, size_t number)
{
	struct desk d = desk_of(machine, q);
	const struct sl_want *w = sl_cluster_want(d.c, entry(&d, 1), &d.err);

	assert_non_null(w);
	if (!w->native == q->native)
		fail_msg("job %zu: native: %d, not %d", number, !q->native, q->native);
	if (!q->native) {
		if (start(&d, 1) != 1)
			fail_msg("job %zu: %s", number, sl_refusal_text(&d.why));
		if (strcmp(where(&d, 1), q->where))
			fail_msg("job %zu: on %s, not %s", number, where(&d, 1), q->where);
		accepted(&d);
	}
	leave(&d);
}

/* Some socket has two of four, whichever these are near; three only select can tell. */
static void whole_nodes_have_what_is_asked_for_of_a_socket(void **state)
{
	static const struct asked jobs[] = {
		{ { .nodes = 2, .tasks = 2, .gpus = 1, .exclusive = true }, SL_PER_SOCKET, 1, 0, 0, "n0:8 n1:8", false },
		{ { .nodes = 2, .tasks = 2, .gpus = 2, .exclusive = true }, SL_PER_SOCKET, 2, 0, 0, "n0:8 n1:8", false },
		{ { .nodes = 1, .tasks = 9, .max_nodes = 2, .gpus = 2, .exclusive = true }, SL_PER_SOCKET, 2, 0, 0, "n0:8 n1:8", false },
		{ { .nodes = 1, .tasks = 1, .gpus = 3, .exclusive = true }, SL_PER_SOCKET, 1, 0, true, NULL, false },
		{ { .nodes = 1, .tasks = 1, .gpus = 2, .exclusive = true }, SL_PER_SOCKET, 1, SL_ASKS_BOUND_GRES, true, NULL, false },
		{ { .nodes = 1, .tasks = 1, .gpus = 2 }, SL_PER_SOCKET, 1, 0, true, NULL, false },
	};

	(void) state;
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
		expect("4x8c2s4g", &jobs[i], i);
	/* a node without as many is none */
	expect("2x8c2s1g+2x8c2s4g", &(struct asked) { { .nodes = 2, .tasks = 2, .gpus = 2, .exclusive = true }, SL_PER_SOCKET, 2, 0, 0,
						       "n2:8 n3:8", false }, 0);
}

#define TASKS SL_ASKS_TASKS_PER_GRES

/* So many tasks for each GPU: on its fewest nodes a job has as many on each, with the GPUs of these. */
static void all_gpus_have_as_many_tasks(void **state)
{
	static const struct asked jobs[] = {
		{ { .nodes = 1, .tasks = 4, .gpus = 2 }, SL_PER_NODE, 0, TASKS, 0, "n0:2", false },
		{ { .nodes = 1, .max_nodes = 3, .tasks = 3, .gpus = 3 }, SL_PER_JOB, 0, TASKS, 0, "n0:2", false },
		{ { .tasks = 6, .gpus = 2, .cpus_per_task = 2 }, SL_PER_JOB, 0, TASKS, 0, "n0:6", false },
		{ { .nodes = 2, .max_nodes = 2, .tasks = 8, .gpus = 2 }, SL_PER_NODE, 0, TASKS, 0, "n0:2 n1:2", false },
		{ { .nodes = 2, .max_nodes = 2, .tasks = 8, .tasks_per_node = 4, .gpus = 2 }, SL_PER_NODE, 0, TASKS, 0, "n0:2 n1:2", false },
		{ { .nodes = 2, .max_nodes = 2, .tasks = 4, .gpus = 2 }, SL_PER_JOB, 0, TASKS, 0, "n0:1 n1:1", false },
		{ { .nodes = 2, .max_nodes = 2, .tasks = 8, .gpus = 8 }, SL_PER_JOB, 0, TASKS, 0, "n0:2 n1:2", false },
		{ { .nodes = 2, .max_nodes = 4, .tasks = 8, .gpus = 8 }, SL_PER_JOB, 0, TASKS, 0, "n0:2 n1:2", false },
		{ { .nodes = 2, .max_nodes = 2, .tasks = 8, .gpus = 4, .exclusive = true }, SL_PER_JOB, 0, TASKS, 0, "n0:8 n1:8", false },
		/* not as many on each, of half a core, so many GPUs of each node that others could be given */
		{ { .nodes = 2, .max_nodes = 2, .tasks = 6, .gpus = 1 }, SL_PER_NODE, 0, TASKS, true, NULL, false },
		{ { .nodes = 1, .tasks = 5, .gpus = 2 }, SL_PER_NODE, 0, TASKS, true, NULL, false },
		{ { .nodes = 2, .max_nodes = 2, .tasks = 8, .gpus = 4 }, SL_PER_JOB, 0, TASKS, true, NULL, false },
		{ { .nodes = 2, .max_nodes = 2, .tasks = 8, .tasks_per_node = 6, .gpus = 2 }, SL_PER_NODE, 0, TASKS, true, NULL, false },
		{ { .nodes = 1, .tasks = 4, .gpus = 2 }, SL_PER_NODE, 0, TASKS | SL_ASKS_BOUND_GRES, true, NULL, false },
		{ { .nodes = 1, .tasks = 2, .gpus = 1 }, SL_PER_TASK, 0, TASKS, true, NULL, false },
		{ { .nodes = 1, .tasks = 0, .gpus = 2 }, SL_PER_NODE, 0, TASKS, true, NULL, false },
		{ { .nodes = 1, .tasks = 2, .gpus = 2, .cpus_per_task = 2 }, SL_PER_NODE, 0, TASKS, true, NULL, true },
	};

	(void) state;
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
		expect("4x8c2t4g", &jobs[i], i);
}

/* What was tried to place it by is not asked of select: what that does with two tasks of one GPU each is its affair. */
static void who_is_left_to_select_asks_no_more_than_the_job(void **state)
{
	static const struct asked jobs[] = {
		{ { .nodes = 2, .max_nodes = 2, .tasks = 8, .gpus = 4 }, SL_PER_JOB, 0, TASKS, true, NULL, false },
		{ { .nodes = 2, .max_nodes = 4, .tasks = 8, .gpus = 4 }, SL_PER_JOB, 0, TASKS, true, NULL, false },
	};

	(void) state;
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		struct desk d = desk_of("4x8c2t4g", &jobs[i]);
		const struct sl_want *w = sl_cluster_want(d.c, entry(&d, 1), &d.err);

		assert_non_null(w);
		assert_true(w->native == SL_W(TASKS_PER_GRES));
		assert_int_equal(w->request.tasks_per_node, 0);
		assert_int_equal(w->request.max_nodes, jobs[i].job.max_nodes);
		assert_int_equal(w->request.gres[0].per, SL_GRES_PER_JOB);
		leave(&d);
	}
}

/* Of nodes of one socket all cores are near: there is no core more of each than as many tasks take. */
static void tasks_that_are_bound_to_gres_are_placed_on_nodes_of_one_socket(void **state)
{
	static const struct asked jobs[] = {
		{ { .nodes = 1, .tasks = 2, .gpus = 1 }, SL_PER_TASK, 0, SL_ASKS_BOUND_GRES, 0, "n0:1", false },
		{ { .tasks = 3, .gpus = 1, .cpus_per_task = 4 }, SL_PER_TASK, 0, SL_ASKS_BOUND_GRES, 0, "n0:6", false },
		{ { .nodes = 2, .max_nodes = 2, .tasks = 2, .gpus = 2 }, SL_PER_TASK, 0, SL_ASKS_BOUND_GRES | SL_ASKS_TASK_GRES, 0, "n0:1 n1:1", false },
		{ { .nodes = 2, .max_nodes = 2, .tasks = 4, .tasks_per_node = 2, .gpus = 1 }, SL_PER_TASK, 0, SL_ASKS_BOUND_GRES, 0, "n0:1 n1:1", false },
		{ { .nodes = 2, .max_nodes = 2, .tasks = 4, .gpus = 1 }, SL_PER_TASK, 0, SL_ASKS_BOUND_GRES, true, NULL, false },
		{ { .nodes = 1, .tasks = 2, .gpus = 1, .cpus_per_task = 3 }, SL_PER_TASK, 0, SL_ASKS_BOUND_GRES, true, NULL, false },
		{ { .nodes = 1, .tasks = 2, .gpus = 2 }, SL_PER_NODE, 0, SL_ASKS_BOUND_GRES | SL_ASKS_TASK_GRES, true, NULL, false },
		{ { .nodes = 2, .max_nodes = 2, .tasks = 6, .gpus = 2 }, SL_PER_NODE, 0, SL_ASKS_BOUND_GRES, 0, "n0:2 n1:1", false },
	};

	(void) state;
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
		expect("4x8c2t4g", &jobs[i], i);
	expect("4x8c2s2t4g", &(struct asked) { { .nodes = 1, .tasks = 2, .gpus = 1 }, SL_PER_TASK, 0, SL_ASKS_BOUND_GRES, true,
					       NULL, false }, 0);
	/* a core of each socket that it may be near */
	expect("4x8c2s2t4g", &(struct asked) { { .nodes = 1, .tasks = 2, .gpus = 1 }, SL_PER_NODE, 0, SL_ASKS_BOUND_GRES, true,
					       NULL, false }, 0);
	expect("4x8c2s2t4g", &(struct asked) { { .nodes = 1, .tasks = 2, .gpus = 1, .exclusive = true }, SL_PER_NODE, 0, SL_ASKS_BOUND_GRES, 0,
					       "n0:8", false }, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_nodes_have_what_is_asked_for_of_a_socket),
		cmocka_unit_test(all_gpus_have_as_many_tasks),
		cmocka_unit_test(who_is_left_to_select_asks_no_more_than_the_job),
		cmocka_unit_test(tasks_that_are_bound_to_gres_are_placed_on_nodes_of_one_socket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
