/* SPDX-License-Identifier: MIT */
/*
 * A job that may have one of several sets of nodes, and one of several numbers of them, starts when the first of the jobs
 * does that ask for one set and one number each.  SL_SEED and SL_ROUNDS choose.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "t/model/desk.h"
#include "t/random.h"

#define NODES 8

static const char *const sets[] = { "a", "b" }, *const counts[] = { "1", "3-4", "6" };
enum { MANY = 100, SETS = 2, COUNTS = 3 };

static void ask(struct build *b, uint32_t id, struct build_job j, const char *features, const char *list, uint32_t from, uint32_t to)
{
	j.id = id;
	j.nodes = from;
	j.max_nodes = to;
	build_pending(b, j);
	build_change(b, SL_T_JOB, build_job_row(b, id), sl_job_row, .features = sl_builder_str(b->builder, features));
	build_change(b, SL_T_JOB, build_job_row(b, id), sl_job_row, .node_counts = sl_builder_str(b->builder, list));
}

/* Nodes of either set, of both or of none, some with jobs; the job of all of it, and those of one each. */
static struct build *random_build(void)
{
	static const char *const features[] = { "a", "b", "a,b", "", "" };
	static const uint32_t first[] = { 1, 3, 6 }, last[] = { 1, 4, 6 };
	struct build_job j = { .cpus_per_task = 1 + below(4), .limit = 60 * (1 + below(40)) };
	struct build *b = build_create("8x4c");

	for (uint32_t n = 0; n < NODES; n++) {
		build_change(b, SL_T_NODE, n, sl_node_row, .features = sl_builder_str(b->builder, features[below(5)]));
		if (!one_in(6))
			build_running(b, (struct build_job) { .id = 1 + n, .first = n, .cores = 1 + below(4),
							      .ends_in = 60 * (1 + below(20)) });
	}
	ask(b, MANY, j, "[a|b]", "1,3-4,6", 1, 6);
	for (uint32_t s = 0; s < SETS; s++)
		for (uint32_t n = 0; n < COUNTS; n++)
			ask(b, 10 + s * COUNTS + n, j, sets[s], counts[n], first[n], last[n]);
	return b;
}

/* When it could start, INT64_MAX: never; if that is now, on how many nodes. */
static int64_t earliest(struct desk *d, uint32_t id, uint32_t *nodes)
{
	struct sl_refusal why;
	int64_t at = INT64_MAX, when;

	if (!checked(d, sl_plan_earliest(d->p, entry(d, id), NULL, &at, &why, &d->err)))
		at = INT64_MAX;
	*nodes = 0;
	if (checked(d, sl_plan_start(d->p, entry(d, id), NULL, &why, &d->err))) {
		assert_int_equal(at, sl_cluster_now(d->c));
		sl_plan_places(d->p, row(d, id), nodes, &when);
		assert_int_equal(checked(d, sl_plan_undo(d->p, row(d, id), &d->err)), 0);
	} else {
		assert_int_not_equal(at, sl_cluster_now(d->c));
	}
	return at;
}

static void of_several_sets_and_numbers_of_nodes_it_starts_with_the_soonest(void **state)
{
	uint64_t seed = number_from("SL_SEED", 1), rounds = rounds_of(300), now = 0, later = 0;

	(void) state;
	for (uint64_t round = 0; round < rounds; round++) {
		uint32_t nodes, of_set = 0, most = 0;
		int64_t soonest = INT64_MAX, at;
		struct desk d;

		failing_seed = random_state = seed + round;
		d = sit(random_build());
		for (uint32_t i = 0; i < SETS * COUNTS; i++) {
			at = earliest(&d, 10 + i, &nodes);
			soonest = at < soonest ? at : soonest;
			if (i % COUNTS == 0)
				of_set = 0;
			of_set = nodes > of_set ? nodes : of_set;
			if (i % COUNTS == COUNTS - 1 && !most)	/* of the first set that will do the most */
				most = of_set;
		}
		at = earliest(&d, MANY, &nodes);
		assert_int_equal(at, soonest);
		assert_int_equal(nodes, most);
		now += nodes > 0;
		later += !nodes && at < INT64_MAX;
		leave(&d);
	}
	failing_seed = 0;
	assert_true(rounds < 300 || (now > 30 && later > 30));
}

/* Four nodes with half of their cores free, two below each switch.  What is refused to a job that waits for one switch, on
 * two nodes for want of cores and on four for want of a switch, is not refused to one that takes any. */
static void what_waits_for_switches_keeps_off_none_that_does_not(void **state)
{
	struct build *b = build_create("4x4c");
	struct build_job j = { .tasks = 8, .limit = 600 };
	struct desk d;

	(void) state;
	for (uint32_t n = 0; n < 4; n++) {
		build_change(b, SL_T_NODE, n, sl_node_row, .topology = sl_builder_str(b->builder, n < 2 ? "top.s1" : "top.s2"));
		build_running(b, (struct build_job) { .id = 10 + n, .first = n, .cores = 2, .ends_in = 6000 });
	}
	ask(b, 1, j, "", "2,4", 2, 4);
	build_change_job(b, 1, .switches = 1);
	build_change_job(b, 1, .switch_wait = 86400);
	build_change_job(b, 1, .submit_time = BUILD_NOW);
	build_change_job(b, 1, .eligible_time = BUILD_NOW);
	ask(b, 2, j, "", "", 4, 4);
	d = sit(b);
	assert_int_equal(start(&d, 1), 0);
	assert_int_equal(start(&d, 2), 1);
	leave(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(of_several_sets_and_numbers_of_nodes_it_starts_with_the_soonest, say_seed),
		cmocka_unit_test(what_waits_for_switches_keeps_off_none_that_does_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
