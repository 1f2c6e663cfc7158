/* SPDX-License-Identifier: MIT */
/*
 * What a row asks for, read: by the job itself, and by its alternatives.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "t/build.h"
#include "model/request.h"

static struct sl_ask read_first(struct build *b, struct sl_job_row r)
{
	build_append(b, &r);
	return sl_request_read(build_open(b), 0, 0);
}

static void what_is_not_said_is_one_of_each(void **state)
{
	struct build *b = build_create("1x4c");
	struct sl_job_row r = build_row(b, (struct build_job) { .id = 1, .limit = 60 });
	struct sl_ask a;

	(void) state;
	r.min_nodes = r.min_cpus = r.cpus_per_task = r.pn_min_cpus = 0;
	a = read_first(b, r);
	assert_int_equal(a.min_nodes, 1);
	assert_int_equal(a.cpus_per_task, 1);
	assert_int_equal(a.min_cpus, 1);
	assert_int_equal(a.node_cpus, 1);
	assert_int_equal(sl_ask_tasks(&a), 0);
	assert_int_equal(sl_ask_cpus(&a), 1);
	assert_int_equal(a.walltime, 60);
	assert_int_equal(a.walltime_min, 0);
	build_destroy(b);
}

/* 3 nodes with 4 tasks of 2 CPUs: 24 of them, whatever min_cpus says. */
static void tasks_of_each_node_are_tasks_in_all(void **state)
{
	struct build *b = build_create("4x8c");
	struct sl_ask a = read_first(b, build_row(b, (struct build_job) {
		.id = 1, .nodes = 3, .tasks_per_node = 4, .cpus_per_task = 2 }));

	(void) state;
	assert_int_equal(sl_ask_tasks(&a), 12);
	assert_int_equal(a.node_cpus, 8);
	assert_int_equal(sl_ask_cpus(&a), 24);
	build_destroy(b);
}

/* As many as the amount makes, no fewer than it says, no more than it may have. */
static void the_fewest_nodes_hold_all_of_an_amount(void **state)
{
	const struct sl_ask some = { .min_nodes = 1 }, few = { .min_nodes = 1, .max_nodes = 3 }, many = { .min_nodes = 6 };

	(void) state;
	assert_int_equal(sl_ask_fewest_nodes(&some, 256, 64), 4);
	assert_int_equal(sl_ask_fewest_nodes(&some, 257, 64), 5);
	assert_int_equal(sl_ask_fewest_nodes(&few, 257, 64), 3);
	assert_int_equal(sl_ask_fewest_nodes(&many, 257, 64), 6);
	assert_int_equal(sl_ask_fewest_nodes(&some, 8, 0), 1);
	assert_int_equal(sl_ask_fewest_nodes(&some, 0, 64), 1);
	assert_int_equal(sl_ask_fewest_nodes(&some, INT64_MAX / 1024, 1), UINT32_MAX);
}

/* A node never has more of them than the job: 2 tasks where 4 a node would do. */
static void tasks_per_node_are_bounded_by_tasks(void **state)
{
	struct build *b = build_create("4x8c");
	struct sl_job_row r = build_row(b, (struct build_job) { .id = 1, .tasks = 2, .tasks_per_node = 4 });
	struct sl_ask a;

	(void) state;
	r.pn_min_cpus = 1;
	a = read_first(b, r);
	assert_int_equal(a.node_cpus, 2);
	assert_int_equal(sl_ask_cpus(&a), 2);
	build_destroy(b);
}

/* srun -O -n8 -N2: a CPU on each node, and --mincpus makes it 3. */
static void overcommitted_tasks_ask_for_no_cpus(void **state)
{
	struct build *b = build_create("4x8c");
	struct sl_job_row r = build_row(b, (struct build_job) { .id = 1, .nodes = 2, .tasks = 8, .cpus_per_task = 2 });
	struct sl_ask a;

	(void) state;
	r.flags |= SL_JOBF_OVERCOMMIT;
	r.min_cpus = 2;
	r.pn_min_cpus = 1;
	a = read_first(b, r);
	assert_int_equal(sl_ask_tasks(&a), 8);
	assert_int_equal(sl_ask_cpus(&a), 2);
	build_change_job(b, 1, .pn_min_cpus = 3);
	a = sl_request_read(build_open(b), 0, 0);
	assert_int_equal(sl_ask_cpus(&a), 6);
	build_destroy(b);
}

static void gres_are_counted_by_node_job_and_task(void **state)
{
	static const uint32_t per[] = { SL_PER_NODE, SL_PER_JOB, SL_PER_TASK };
	static const int64_t gpus[] = { 6, 3, 15 };	/* 3 of each; 2 nodes, 5 tasks */

	(void) state;
	for (int i = 0; i < 3; i++) {
		struct build *b = build_create("4x8c4g");
		struct sl_job_row r = build_row(b, (struct build_job) { .id = 1, .nodes = 2, .tasks = 5 });
		struct sl_ask a;

		r.gres = build_gres(b, "gpu", "", 3, per[i]);
		a = read_first(b, r);
		assert_int_equal(sl_ask_units(&b->snap, &a, SL_UNIT_GPU), gpus[i]);
		assert_int_equal(sl_ask_units(&b->snap, &a, SL_UNIT_NODE), 2);
		build_destroy(b);
	}
}

/* Its own size and time; time and memory of the job where it says nothing of them. */
static void an_alternative_is_read_the_same_way(void **state)
{
	struct build *b = build_create("8x8c");
	struct sl_job_row r = build_row(b, (struct build_job) { .id = 1, .nodes = 4, .memory = 100, .limit = 600 });
	struct sl_shape_row one = { .min_nodes = 2, .ntasks_per_node = 4, .cpus_per_task = 2, .time_limit = 1200 };
	struct sl_shape_row two = { .num_tasks = 16 };
	struct sl_ask a;

	(void) state;
	r.shapes = (struct sl_range) { sl_builder_append(b->builder, SL_T_SHAPE, &one), 2 };
	sl_builder_append(b->builder, SL_T_SHAPE, &two);
	a = read_first(b, r);
	assert_int_equal(a.min_nodes, 4);
	a = sl_request_read(&b->snap, 0, 1);
	assert_int_equal(sl_ask_cpus(&a), 16);
	assert_int_equal(a.walltime, 1200);
	assert_int_equal(a.memory_per_node, 100);
	a = sl_request_read(&b->snap, 0, 2);
	assert_int_equal(a.min_nodes, 1);
	assert_int_equal(sl_ask_cpus(&a), 16);
	assert_int_equal(a.walltime, 600);
	build_destroy(b);
}

/* What a job that names no time limit gets differs from partition to partition. */
/* Without DefaultTime it is MaxTime, whether that binds the job or not: as slurmctld gives it at its start. */
static void a_job_that_names_no_walltime_has_an_end_where_the_partition_has(void **state)
{
	struct build *b = build_create("1x4c");
	struct sl_job_row r = build_row(b, (struct build_job) { .id = 1 });
	struct sl_walltime t;
	struct sl_ask a;

	(void) state;
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .max_time = 600);
	r.time_limit = SL_UNLIMITED;
	r.flags |= SL_JOBF_DEFAULT_TIME | SL_JOBF_ANY_TIME;
	a = read_first(b, r);
	t = sl_request_walltime(&b->snap, 0, &a, 0);
	assert_int_equal(t.limit, 600);
	assert_true(t.ceiling == SL_UNLIMITED);
	build_change(b, SL_T_JOB, 0, sl_job_row, .flags = SL_JOBF_ANY_TIME);
	a = sl_request_read(build_open(b), 0, 0);
	assert_true(sl_request_walltime(&b->snap, 0, &a, 0).limit == SL_UNLIMITED);
	build_destroy(b);
}

static void the_default_time_is_each_partitions(void **state)
{
	struct build *b = build_create("1x4c");
	struct sl_job_row r = build_row(b, (struct build_job) { .id = 1, .limit = 60 });
	struct sl_ask a;

	(void) state;
	build_partition(b, "long", 0, 0);
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .default_time = 600);
	build_change(b, SL_T_PARTITION, 1, sl_partition_row, .max_time = 7200);
	a = read_first(b, r);
	assert_int_equal(sl_request_walltime(&b->snap, 0, &a, 0).named, 60);
	assert_int_equal(sl_request_walltime(&b->snap, 0, &a, 1).named, 60);
	build_change(b, SL_T_JOB, 0, sl_job_row, .flags = SL_JOBF_DEFAULT_TIME);
	a = sl_request_read(build_open(b), 0, 0);
	assert_int_equal(sl_request_walltime(&b->snap, 0, &a, 0).named, 600);
	assert_int_equal(sl_request_walltime(&b->snap, 0, &a, 1).named, 7200);
	build_change(b, SL_T_JOB, 0, sl_job_row, .time_min = 900);
	a = sl_request_read(build_open(b), 0, 0);
	assert_int_equal(sl_request_walltime(&b->snap, 0, &a, 0).named, 900);
	build_destroy(b);
}

/* The plug-in does not write such a row; a file may. */
static void sums_of_any_numbers_do_not_overflow(void **state)
{
	struct build *b = build_create("1x4c");
	struct sl_job_row r = build_row(b, (struct build_job) { .id = 1 });
	struct sl_ask a;

	(void) state;
	r.min_nodes = r.min_cpus = r.cpus_per_task = r.ntasks_per_node = r.pn_min_cpus = UINT32_MAX - 1;
	r.gres = build_gres(b, "gpu", "", UINT32_MAX, SL_PER_TASK);
	a = read_first(b, r);
	for (enum sl_unit unit = 0; unit < SL_UNITS; unit++)
		assert_in_range(sl_ask_units(&b->snap, &a, unit), 1, INT64_MAX / 1024);
	build_destroy(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_said_is_one_of_each),
		cmocka_unit_test(tasks_of_each_node_are_tasks_in_all),
		cmocka_unit_test(the_fewest_nodes_hold_all_of_an_amount),
		cmocka_unit_test(tasks_per_node_are_bounded_by_tasks),
		cmocka_unit_test(overcommitted_tasks_ask_for_no_cpus),
		cmocka_unit_test(gres_are_counted_by_node_job_and_task),
		cmocka_unit_test(an_alternative_is_read_the_same_way),
		cmocka_unit_test(the_default_time_is_each_partitions),
		cmocka_unit_test(a_job_that_names_no_walltime_has_an_end_where_the_partition_has),
		cmocka_unit_test(sums_of_any_numbers_do_not_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
