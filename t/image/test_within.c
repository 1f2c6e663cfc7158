/* SPDX-License-Identifier: MIT */
/* test_within.c - alternatives that ask for no more than the job itself */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "t/random.h"
#include "image/shapes.h"

static struct sl_builder *builder;

static int begin(void **state)
{
	(void) state;
	builder = sl_builder_create(&sl_snapshot_schema, NULL);
	return builder ? 0 : -1;
}

static int end(void **state)
{
	sl_builder_destroy(builder);
	return say_seed(state);
}

static struct sl_job_row job_of(uint32_t min_nodes, uint32_t max_nodes, uint32_t tasks, uint32_t cpus)
{
	struct sl_job_row j = sl_job_row();

	j.id = 1;
	j.min_nodes = min_nodes;
	j.max_nodes = max_nodes;
	j.num_tasks = tasks;
	j.min_cpus = cpus;
	j.pn_min_cpus = 1;
	j.time_limit = 3600;
	return j;
}

static void add_gres(struct sl_job_row *j, const char *name, const char *type, uint32_t count, enum sl_per per)
{
	struct sl_job_gres_row g = sl_job_gres_row();

	g.name = sl_builder_str(builder, name);
	g.type = sl_builder_str(builder, type);
	g.count = count;
	g.per = per;
	if (!j->gres.count++)
		j->gres.first = sl_builder_rows(builder, SL_T_JOB_GRES);
	sl_builder_append(builder, SL_T_JOB_GRES, &g);
}

/* What becomes of the alternatives: "2-4" nodes, "2-" for any number from there on, or what they ask too much of. */
static const char *within(struct sl_job_row *j, const char *comment)
{
	const struct sl_accepted accepted = { .max_nodes = j->max_nodes, .time_limit = j->time_limit,
		.whole = j->flags & SL_JOBF_EXCLUSIVE };
	static char out[512];
	uint32_t first = 0, beyond, seen = 0, seen_first = 0;
	struct sl_shape_row s;
	struct sl_error err;
	size_t n = 0;

	if (sl_shapes_add(builder, comment, &j->shapes, &err))
		return "no alternative";
	beyond = sl_shapes_keep_within(builder, j, &accepted, &first);
	for (uint32_t i = 0; i < j->shapes.count; i++) {
		assert_int_equal(sl_builder_row(builder, SL_T_SHAPE, j->shapes.first + i, &s), 0);
		n += (size_t) snprintf(out + n, sizeof(out) - n, "%s%s", i ? " | " : "", sl_shape_refusal_word(s.refused));
		if (!s.refused)
			n += (size_t) snprintf(out + n, sizeof(out) - n, s.max_nodes ? "%u-%u" : "%u-", s.min_nodes, s.max_nodes);
		seen_first = s.refused && !seen++ ? i + 1 : seen_first;
	}
	assert_int_equal(beyond, seen);
	assert_int_equal(first, seen_first);
	return out;
}

static void nodes_are_those_of_the_job(void **state)
{
	struct sl_job_row one = job_of(1, 1, 4, 4), four = job_of(4, 4, 4, 4), range = job_of(2, 6, 6, 6);

	(void) state;
	assert_string_equal(within(&one, "sched: -N4 -n4 | -n4 | -N1"), "nodes | 1-1 | 1-1");
	assert_string_equal(within(&four, "sched: -N2 -n4 | -N4-8 -n4 | -N5"), "2-2 | 4-4 | nodes");
	assert_string_equal(within(&range, "sched: -N6 | -N7 -n7 | -n6"), "6-6 | nodes | 1-");
	assert_string_equal(within(&four, "sched: -n5 --ntasks-per-node=1"), "nodes");
}

/* Slurm could put each task on a node of its own, but who accepted it saw how few it needs. */
static void a_request_that_names_no_most_nodes_counts_for_the_fewest(void **state)
{
	struct sl_job_row j = job_of(1, 0, 64, 64), gpus = j, memory = j, whole = j, least = job_of(4, 0, 64, 64);

	(void) state;
	assert_string_equal(within(&j, "sched: -N1 -n64 | -N2 -n64 | -n64 --ntasks-per-node=32 | -N1-9 -n9 | -N64"),
			    "1-1 | nodes | nodes | 1-1 | nodes");
	assert_string_equal(within(&least, "sched: -N4 | -N5 | -N2-9 -n9"), "4-4 | nodes | 2-4");
	/* it could not have one task on each */
	j.ntasks_per_node = 16;
	assert_string_equal(within(&j, "sched: -N4 | -N5 | -n64"), "4-4 | nodes | 1-");
	/* 4 GPUs, not 4 on each of 64 nodes */
	add_gres(&gpus, "gpu", "", 4, SL_PER_NODE);
	assert_string_equal(within(&gpus, "sched: -N64 --gres=gpu:4 | -n64 --gres=gpu:4 | -n64 --gres=gpu:1 | -G4 | -G5 | -n32"),
			    "nodes | 1-1 | 1-4 | 1- | gres | 1-");
	/* as many CPUs as one node has of it */
	memory = job_of(1, 0, 8, 8);
	memory.pn_min_cpus = 64;
	assert_string_equal(within(&memory, "sched: -N8 -n512 | -n65 | -n64"), "nodes | CPUs | 1-");
	/* whole nodes: more CPUs on the fewest nodes alone */
	whole.flags |= SL_JOBF_EXCLUSIVE;
	assert_string_equal(within(&whole, "sched: -N64 | -N1 -n512 | -n65 | -n64 | -n32 --ntasks-per-node=16"),
			    "nodes | 1-1 | 1-1 | 1- | nodes");
}

/* To select a most of nodes is a wish for so many: one that does not bind is none. */
static void a_most_of_nodes_is_written_where_it_binds(void **state)
{
	struct sl_job_row free = job_of(1, 0, 64, 64), range = job_of(2, 8, 64, 64);

	(void) state;
	assert_string_equal(within(&free, "sched: -n64 | -n1 -c64 | -n64 -t 5"), "1- | 1- | 1-");
	assert_string_equal(within(&range, "sched: -n8 | -n9 | -N2 -n64 | -N2-8 -n64 | -N2-9 -n64"), "1- | 1-8 | 2-2 | 2-8 | 2-8");
}

static void cpus_are_counted_unless_the_job_has_whole_nodes(void **state)
{
	struct sl_job_row j = job_of(4, 4, 8, 8);

	(void) state;
	assert_string_equal(within(&j, "sched: -n8 | -n9 | -N2 -n4 -c2 | -N2 -n4 -c3"), "1-4 | CPUs | 2-2 | CPUs");
	/* Slurm gives the CPUs of as many tasks to each node */
	assert_string_equal(within(&j, "sched: -n8 --ntasks-per-node=4 | -n5 --ntasks-per-node=5 -c2"), "1-2 | CPUs");
	j.flags |= SL_JOBF_EXCLUSIVE;
	assert_string_equal(within(&j, "sched: -N4 -n64 | -N5 -n5"), "4-4 | nodes");
}

static void gres_are_counted_by_name_and_type(void **state)
{
	struct sl_job_row none = job_of(4, 4, 4, 4), each = none, all = none, typed = none, task = none;

	(void) state;
	add_gres(&each, "gpu", "", 2, SL_PER_NODE);
	add_gres(&all, "gpu", "", 4, SL_PER_JOB);
	add_gres(&typed, "gpu", "a100", 1, SL_PER_NODE);
	add_gres(&task, "gpu", "", 1, SL_PER_TASK);
	assert_string_equal(within(&none, "sched: -N1 -G1 | -N1"), "gres | 1-1");
	assert_string_equal(within(&each, "sched: -N2 --gpus-per-node=4 | -N3 --gpus-per-node=3 | -N1-4 -n4 --gpus-per-node=3 | -n4 -G8"),
			    "2-2 | gres | 1-2 | 1-");
	assert_string_equal(within(&all, "sched: -n4 --gpus-per-task=1 | -N4 --gpus-per-node=2 | -N1 -G5"), "1- | gres | gres");
	assert_string_equal(within(&typed, "sched: -N2 --gres=gpu:a100:2 | -N1 -G1 | -N1 --gres=gpu:h100:1"), "2-2 | gres | gres");
	assert_string_equal(within(&task, "sched: -N1 -G4 | -N1 -n4 --gpus-per-task=2 | -N1 --gres=nvme:1"), "1-1 | gres | gres");
}

static void a_time_is_no_longer_than_the_job_s(void **state)
{
	struct sl_job_row j = job_of(2, 2, 2, 2);

	(void) state;
	assert_string_equal(within(&j, "sched: -N1 -t 60 | -N1 -t 61 | -N1"), "1-1 | time | 1-1");
	j.time_limit = SL_UNLIMITED;
	assert_string_equal(within(&j, "sched: -N1 -t 365-0"), "1-1");
}

static void who_reads_of_them_reads_how_many_are_offered(void **state)
{
	char out[SL_BEYOND_TEXT];

	(void) state;
	assert_string_equal(sl_shapes_say_beyond(out, 0, SL_SHAPE_FREE, 0), "");
	assert_string_equal(sl_shapes_say_beyond(out, 3, SL_SHAPE_MORE_TIME, 1),
			    "alternative 3 asks for more time than the job, and is not offered");
	assert_string_equal(sl_shapes_say_beyond(out, 1, SL_SHAPE_MORE_NODES, 2),
			    "alternative 1 asks for more nodes than the job; 2 alternatives are not offered");
}

static uint64_t product(uint64_t a, uint64_t b)
{
	return a * b;
}

/* Whatever the numbers: what is let through has no more than the job on the most nodes that it names, or the fewest. */
static void what_is_let_through_comes_to_no_more(void **state)
{
	const uint64_t rounds = rounds_of(5000);
	uint32_t let = 0;

	(void) state;
	failing_seed = number_from("SL_SEED", 1);
	for (uint64_t i = 0; i < rounds; i++, failing_seed++) {
		char comment[160];
		struct sl_job_row j;
		struct sl_shape_row s;
		uint32_t nodes, huge, tasks, per_node, gpus, most;
		bool whole, told;
		size_t n;

		random_state = failing_seed;
		huge = one_in(10) ? 0xfffffff0u : 9;
		nodes = (uint32_t) between(1, 6);
		tasks = nodes + below(huge - nodes);
		j = job_of(nodes, one_in(2) ? nodes : 0, tasks, tasks);
		whole = one_in(3);
		j.flags |= whole ? SL_JOBF_EXCLUSIVE : 0;
		per_node = below(4);
		gpus = below(4);
		if (gpus)
			add_gres(&j, "gpu", "", gpus, SL_PER_NODE);
		told = one_in(2);
		n = (size_t) (told ? snprintf(comment, sizeof(comment), "sched: -N%u-%u", nodes, nodes + below(huge - 6)) :
			      snprintf(comment, sizeof(comment), "sched:"));
		snprintf(comment + n, sizeof(comment) - n, " -n%u -c%u%s%u --gpus-per-node=%u", nodes + below(9), 1 + below(3),
			 per_node ? " --ntasks-per-node=" : " -t ", per_node ? per_node : 1 + below(90), 1 + below(4));
		if (strchr(within(&j, comment), '-') == NULL)
			continue;
		let++;
		assert_int_equal(sl_builder_row(builder, SL_T_SHAPE, j.shapes.first, &s), 0);
		most = s.max_nodes ? s.max_nodes : s.num_tasks;
		assert_true(most >= s.min_nodes && s.min_nodes <= nodes && s.time_limit <= j.time_limit);
		assert_true(most <= nodes || (!told && !j.max_nodes));
		assert_true((whole && most <= nodes) || product(s.num_tasks, s.cpus_per_task) <= tasks);
		assert_true(whole || s.num_tasks == 1 || product(product(s.ntasks_per_node, s.cpus_per_task), most) <= tasks);
		for (uint32_t g = s.gres.first; g < s.gres.first + s.gres.count; g++) {
			struct sl_job_gres_row row;

			assert_int_equal(sl_builder_row(builder, SL_T_JOB_GRES, g, &row), 0);
			assert_true(product(row.count, most) <= product(gpus, nodes));
		}
	}
	failing_seed = 0;
	assert_true(let > rounds / 50);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(nodes_are_those_of_the_job),
		TEST(a_request_that_names_no_most_nodes_counts_for_the_fewest),
		TEST(a_most_of_nodes_is_written_where_it_binds),
		TEST(cpus_are_counted_unless_the_job_has_whole_nodes),
		TEST(gres_are_counted_by_name_and_type),
		TEST(a_time_is_no_longer_than_the_job_s),
		TEST(who_reads_of_them_reads_how_many_are_offered),
		TEST(what_is_let_through_comes_to_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
