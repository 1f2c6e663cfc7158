/* SPDX-License-Identifier: MIT */
/*
 * The checker, on cores that several jobs may have: select finds a row for what it accepts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "t/check/by_hand.h"
#include "check/check.h"

/* The first partition has so many rows. */
static void share(struct build *b, uint32_t rows)
{
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .oversubscribe = rows);
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .flags |= SL_PART_FORCE);
}

/* A job has so many cores of a node, whatever others have of them. */
static void runs(struct build *b, uint32_t id, uint32_t node, uint32_t cores, int64_t ends_in)
{
	struct sl_job_row row;

	build_running(b, (struct build_job) { .id = id, .first = node, .cores = 1, .ends_in = ends_in });
	sl_builder_row(b->builder, SL_T_JOB, build_job_row(b, id), &row);
	build_change(b, SL_T_ALLOC, row.alloc.first, sl_alloc_row, .cores = cores);
}

static void on_one_node_fewer_rows_may_lack_cores_than_there_are(void **state)
{
	struct build *b = one((struct build_job) { .nodes = 1, .tasks = 4 });

	(void) state;
	share(b, 2);
	EXPECT_START(b, place(p_, 0, 4, 0, 0), NULL);
	runs(b, 1, 0, 5, 60);
	EXPECT_START(b, place(p_, 0, 4, 0, 0), NULL);
	runs(b, 3, 0, 4, 60);
	EXPECT_START(b, place(p_, 0, 4, 0, 0), NULL);
	runs(b, 4, 0, 1, 60);	/* 5 and 5, perhaps */
	EXPECT_START(b, place(p_, 0, 4, 0, 0), "job 2: of the 2 rows of its partition 2 may lack cores for it");
	EXPECT_START(b, place(p_, 1, 4, 0, 0), NULL);
	runs(b, 5, 1, 8, 60);
	EXPECT_START(b, place(p_, 1, 4, 0, 0), NULL);	/* one job is in one row */
	runs(b, 6, 1, 2, 60);
	EXPECT_START(b, place(p_, 1, 4, 0, 0), "job 2: of the 2 rows of its partition 2 may lack cores for it");
	build_destroy(b);
}

static void starts_of_the_plan_are_in_rows_too(void **state)
{
	struct build *b = one((struct build_job) { .nodes = 1, .tasks = 5 });
	struct built_plan *p;

	(void) state;
	share(b, 3);
	for (uint32_t i = 3; i < 7; i++)
		build_pending(b, (struct build_job) { .id = i, .nodes = 1, .tasks = 5 });
	p = build_plan(b);
	for (uint32_t i = 3; i < 6; i++)
		put_start(p, i, place(p, 0, 5, 0, 0));
	expect(b, p, NULL);
	p = build_plan(b);
	for (uint32_t i = 3; i < 7; i++)
		put_start(p, i, place(p, 0, 5, 0, 0));
	expect(b, p, "job 6: of the 3 rows of its partition 3 may lack cores for it");
	p = build_plan(b);
	for (uint32_t i = 3; i < 7; i++)
		put_reservation(p, i, 60, place(p, 0, 5, 0, 0));
	expect(b, p, NULL);	/* 20 of 24, later */
	build_destroy(b);
}

static void on_several_nodes_the_same_row_has_them(void **state)
{
	struct build *b = one((struct build_job) { .nodes = 2, .tasks = 8, .tasks_per_node = 4 });

	(void) state;
	share(b, 2);
	EXPECT_START(b, places(p_, 0, 1, 4), NULL);
	runs(b, 1, 0, 5, 60);
	EXPECT_START(b, places(p_, 0, 1, 4), NULL);
	runs(b, 3, 1, 5, 60);
	EXPECT_START(b, places(p_, 0, 1, 4), "job 2: of the 2 rows of its partition 2 may lack cores for it");
	share(b, 3);
	EXPECT_START(b, places(p_, 0, 1, 4), NULL);
	build_change_job(b, 2, .ntasks_per_node = 0);	/* another number on each, perhaps */
	EXPECT_START(b, places(p_, 0, 1, 4), "job 2: of the 3 rows of its partition 2 may lack cores for it");
	build_destroy(b);
}

static void what_counts_cores_otherwise_has_to_be_native(void **state)
{
	struct build *b = one((struct build_job) { .nodes = 1, .tasks = 4 });
	uint32_t other, part;

	(void) state;
	share(b, 2);
	EXPECT_START(b, place(p_, 0, 9, 0, 0), "job 2: node n0:");
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .max_cpus_per_node = 8);
	EXPECT_START(b, place(p_, 0, 4, 0, 0), "shared cores beside other counts");
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .max_cpus_per_node = SL_NONE);
	build_change_job(b, 2, .flags = SL_JOBF_EXCLUSIVE);
	EXPECT_START(b, place(p_, 0, 8, 0, 2), "shared cores beside other counts");
	build_change_job(b, 2, .flags = 0);
	b->meta.select_flags = SL_SELECT_SOCKET;
	EXPECT_START(b, place(p_, 0, 8, 0, 0), "shared cores beside other counts");
	b->meta.select_flags = 0;
	other = build_partition(b, "other", 0, 0);
	EXPECT_START(b, place(p_, 0, 4, 0, 0), NULL);
	build_change(b, SL_T_PARTITION, other, sl_partition_row, .oversubscribe = 2);
	EXPECT_START(b, place(p_, 0, 4, 0, 0), "shared cores of several partitions");
	EXPECT_START(b, place(p_, 1, 4, 0, 0), NULL);
	part = build_reservation(b, "part", 100, 200, 1, 1);
	build_change(b, SL_T_RESERVATION, part, sl_reservation_row, .cores = 2);
	EXPECT_START(b, place(p_, 1, 4, 0, 0), "or beside a reservation");
	build_destroy(b);
}

/* -- rows, drawn ----------------------------------------------------------- */

#define NODES 4
#define CORES 8

/* Cores in use of each node in each row, by so many jobs. */
struct drawn {
	uint32_t rows, nodes, each;
	uint32_t used[5][NODES], jobs[5][NODES];
};

static struct drawn draw(uint64_t *seed)
{
	struct drawn d = { .rows = 2 + build_below(seed, 3), .nodes = 1 + build_below(seed, NODES) };

	d.each = 1 + build_below(seed, CORES);
	for (uint32_t r = 0; r < d.rows; r++)
		for (uint32_t n = 0; n < d.nodes; n++) {
			d.used[r][n] = build_below(seed, 3) ? build_below(seed, CORES + 1) : 0;
			d.jobs[r][n] = d.used[r][n] > 1 ? 1 + build_below(seed, 2) : d.used[r][n];
		}
	return d;
}

static bool has_row(const struct drawn *d)
{
	for (uint32_t r = 0; r < d->rows; r++) {
		uint32_t good = 0;

		for (uint32_t n = 0; n < d->nodes; n++)
			good += CORES - d->used[r][n] >= d->each;
		if (good == d->nodes)
			return true;
	}
	return false;
}

static bool is_accepted(const struct drawn *d)
{
	struct build *b = one((struct build_job) { .nodes = d->nodes, .tasks = d->nodes * d->each,
				.tasks_per_node = d->each });
	struct sl_error err;
	struct built_plan *p;
	uint32_t id = 10;
	bool accepted;

	share(b, d->rows);
	for (uint32_t n = 0; n < d->nodes; n++)
		for (uint32_t r = 0; r < d->rows; r++)
			for (uint32_t i = 0; i < d->jobs[r][n]; i++)
				runs(b, id++, n, i ? 1 : d->used[r][n] - d->jobs[r][n] + 1, 60);
	p = build_plan(b);
	put_start(p, 2, places(p, 0, d->nodes - 1, d->each));
	accepted = !sl_check_plan(build_open(b), build_plan_open(p), &err);
	build_plan_destroy(p);
	build_destroy(b);
	return accepted;
}

static void a_row_exists_for_whatever_is_accepted(void **state)
{
	uint32_t accepted = 0, rows = 0;

	(void) state;
	for (uint64_t seed = 1; seed <= 3000; seed++) {
		uint64_t s = seed;
		struct drawn d = draw(&s);

		rows += has_row(&d);
		if (!is_accepted(&d))
			continue;
		accepted++;
		if (!has_row(&d))
			fail_msg("seed %lu: no row has %u cores on %u nodes", (unsigned long) seed, d.each, d.nodes);
	}
	assert_in_range(accepted, 400, rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(on_one_node_fewer_rows_may_lack_cores_than_there_are),
		cmocka_unit_test(starts_of_the_plan_are_in_rows_too),
		cmocka_unit_test(on_several_nodes_the_same_row_has_them),
		cmocka_unit_test(what_counts_cores_otherwise_has_to_be_native),
		cmocka_unit_test(a_row_exists_for_whatever_is_accepted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
