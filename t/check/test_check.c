/* SPDX-License-Identifier: MIT */
/*
 * What the checker says of a plan as a whole, of times and reservations, and of what only
 * Slurm can place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "t/check/by_hand.h"
#include "check/check.h"

/* -- the plan and the snapshot ------------------------------------------- */

static void a_feasible_plan_passes(void **state)
{
	struct build *b = build_create("4x8c2g");
	struct built_plan *p;

	(void) state;
	build_running(b, (struct build_job) { .id = 1, .nodes = 3, .exclusive = true, .ends_in = 3600 });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 4, .limit = 3600, .exclusive = true });
	build_pending(b, (struct build_job) { .id = 3, .nodes = 1, .limit = 1800 });
	build_open(b);
	p = build_plan(b);
	put_reservation(p, 2, 3600, places(p, 0, 3, 8));
	put_start(p, 3, place(p, 3, 1, 0, 0));
	expect(b, p, NULL);
	p = build_plan(b);
	expect(b, p, NULL);
	build_destroy(b);
}

static void a_plan_for_another_snapshot_is_refused(void **state)
{
	struct build *b = one((struct build_job) { 0 });
	struct built_plan *p = build_plan(b);

	(void) state;
	b->meta.sequence++;
	expect(b, p, "snapshot 7");
	build_destroy(b);
}

static void a_job_that_changed_is_refused(void **state)
{
	struct build *b = one((struct build_job) { 0 });
	struct built_plan *p = build_plan(b);
	struct sl_plan_start_row row = start_row(2, place(p, 0, 1, 0, 0));

	(void) state;
	row.stamp++;
	sl_builder_append(p->builder, SL_P_START, &row);
	expect(b, p, "job 2: has stamp 1003");
	build_destroy(b);
}

static void a_job_that_is_unknown_or_not_queued_there_is_refused(void **state)
{
	struct build *b = one((struct build_job) { 0 });
	struct built_plan *p = build_plan(b);
	struct sl_plan_start_row row;

	(void) state;
	build_partition(b, "other", 0, 3);
	build_running(b, (struct build_job) { .id = 9, .cores = 1, .ends_in = 60 });
	put_start(p, 3, place(p, 0, 1, 0, 0));
	expect(b, p, "job 3: is not in the snapshot");
	p = build_plan(b);
	row = start_row(2, place(p, 0, 1, 0, 0));
	row.partition = 1;
	sl_builder_append(p->builder, SL_P_START, &row);
	expect(b, p, "job 2: is not queued in partition other");
	p = build_plan(b);
	put_start(p, 9, place(p, 0, 1, 0, 0));
	expect(b, p, "job 9: is not queued");
	p = build_plan(b);
	row.partition = 7;
	row.places = place(p, 0, 1, 0, 0);
	sl_builder_append(p->builder, SL_P_START, &row);
	expect(b, p, "no partition row 7");
	build_destroy(b);
}

static void a_partition_that_is_down_is_refused(void **state)
{
	struct build *b = one((struct build_job) { 0 });

	(void) state;
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .flags = 0);
	EXPECT_START(b, place(p_, 0, 1, 0, 0), "job 2: partition batch is down");
	build_destroy(b);
}

static void a_job_planned_twice_is_refused(void **state)
{
	struct build *b = one((struct build_job) { .limit = 60 });
	struct built_plan *p = build_plan(b);

	(void) state;
	put_start(p, 2, place(p, 0, 1, 0, 0));
	put_start(p, 2, place(p, 1, 1, 0, 0));
	expect(b, p, "job 2: is planned 2 times, it stands for 1 task");
	p = build_plan(b);
	put_start(p, 2, place(p, 0, 1, 0, 0));
	put_reservation(p, 2, 60, place(p, 1, 1, 0, 0));
	expect(b, p, "job 2: is planned 2 times");
	build_destroy(b);
}

static struct build *array(uint32_t pending, uint32_t throttle)
{
	struct build *b = build_create("4x8c");
	struct sl_job_row r = build_row(b, (struct build_job) { .id = 2, .limit = 60 });

	r.array_job_id = 2;
	r.array_pending = pending;
	r.array_max_running = throttle;
	build_append(b, &r);
	return b;
}

static void an_array_record_starts_as_many_tasks_as_it_has(void **state)
{
	struct build *b = array(3, 0);
	struct built_plan *p = build_plan(b);

	(void) state;
	for (uint32_t n = 0; n < 3; n++)
		put_start(p, 2, place(p, n, 1, 0, 0));
	expect(b, p, NULL);
	p = build_plan(b);
	for (uint32_t n = 0; n < 4; n++)
		put_start(p, 2, place(p, n, 1, 0, 0));
	expect(b, p, "job 2: is planned 4 times, it stands for 3 tasks");
	p = build_plan(b);
	put_reservation(p, 2, 60, place(p, 0, 1, 0, 0));
	put_reservation(p, 2, 90, place(p, 0, 1, 0, 0));
	expect(b, p, "job 2: is reserved twice");
	build_destroy(b);
}

static void an_array_throttle_counts_running_tasks_too(void **state)
{
	struct build *b = array(3, 2);
	struct built_plan *p = build_plan(b);
	uint32_t row = build_running(b, (struct build_job) { .id = 8, .cores = 1, .ends_in = 60 });

	(void) state;
	put_start(p, 2, place(p, 0, 1, 0, 0));
	build_change(b, SL_T_JOB, row, sl_job_row, .array_job_id = 2);
	expect(b, p, NULL);
	p = build_plan(b);
	put_start(p, 2, place(p, 0, 1, 0, 0));
	put_start(p, 2, place(p, 1, 1, 0, 0));
	expect(b, p, "3 tasks of array 2 would run, 2 may");
	build_destroy(b);
}

static void what_is_said_about_jobs_must_be_about_jobs(void **state)
{
	struct build *b = one((struct build_job) { 0 });
	struct built_plan *p = build_plan(b);
	struct sl_plan_pending_row pending = { .job = 5, .why = SL_WHY_RESOURCES };
	struct sl_plan_action_row action = { .verb = SL_ACTION_CANCEL, .job = 2, .stamp = 1 };

	(void) state;
	sl_builder_append(p->builder, SL_P_PENDING, &pending);
	expect(b, p, "job 5: stays pending");
	p = build_plan(b);
	pending.job = 2;
	sl_builder_append(p->builder, SL_P_PENDING, &pending);
	put_start(p, 2, place(p, 0, 1, 0, 0));
	expect(b, p, "job 2: is started and stays pending");
	p = build_plan(b);
	sl_builder_append(p->builder, SL_P_ACTION, &action);
	expect(b, p, "job 2: is to be changed (cancel)");
	build_destroy(b);
}

static void of_a_heterogeneous_job_all_components_start_or_none(void **state)
{
	struct build *b = one((struct build_job) { 0 });

	(void) state;
	build_change_job(b, 2, .het_job_id = 2);
	EXPECT_START(b, place(p_, 0, 1, 0, 0), NULL);
	build_pending(b, (struct build_job) { .id = 3 });
	build_change_job(b, 3, .het_job_id = 2);
	EXPECT_START(b, place(p_, 0, 1, 0, 0), "job 2: is started without job 3");
	build_destroy(b);
}

/* -- times --------------------------------------------------------------- */

static void begin_time_and_deadline_are_kept(void **state)
{
	struct build *b = one((struct build_job) { .limit = 100 });
	struct built_plan *p;

	(void) state;
	build_change_job(b, 2, .begin_time = BUILD_NOW + 50);
	EXPECT_START(b, place(p_, 0, 1, 0, 0), "job 2: starts at 1000000, before its begin time, 1000050");
	build_change_job(b, 2, .deadline = BUILD_NOW + 160);
	p = build_plan(b);
	put_reservation(p, 2, 60, place(p, 0, 1, 0, 0));
	expect(b, p, NULL);
	p = build_plan(b);
	put_reservation(p, 2, 61, place(p, 0, 1, 0, 0));
	expect(b, p, "job 2: would end at 1000161, after its deadline 1000160");
	p = build_plan(b);
	put_reservation(p, 2, -1, place(p, 0, 1, 0, 0));
	expect(b, p, "before the present");
	build_destroy(b);
}

static void a_time_limit_shrinks_no_further_than_time_min(void **state)
{
	struct build *b = one((struct build_job) { .limit = 100 });

	(void) state;
	build_change_job(b, 2, .time_min = 40);
	for (int64_t limit = 39; limit <= 101; limit += 1 + 60 * (limit == 40)) {
		struct built_plan *p = build_plan(b);
		struct sl_plan_start_row row = start_row(2, place(p, 0, 1, 0, 0));

		row.time_limit = limit;
		sl_builder_append(p->builder, SL_P_START, &row);
		expect(b, p, limit == 40 ? NULL : "may get 40 to 100 s");
	}
	build_destroy(b);
}

static void an_overdue_job_goes_on_as_long_again_and_a_job_without_limit_for_ever(void **state)
{
	struct build *b = one((struct build_job) { .exclusive = true });
	uint32_t row = build_running(b, (struct build_job) { .id = 1, .nodes = 4, .ends_in = 1 });
	struct built_plan *p;

	(void) state;
	build_change(b, SL_T_JOB, row, sl_job_row, .end_time = BUILD_NOW - 500);
	EXPECT_START(b, place(p_, 0, 8, 0, 0), "16 cores in use now");
	for (int64_t in = 469; in <= 470; in++) {	/* KillWait is 30 s */
		p = build_plan(b);
		put_reservation(p, 2, in, place(p, 0, 8, 0, 0));
		expect(b, p, in < 470 ? "16 cores in use in 469 s" : NULL);
	}
	build_change(b, SL_T_JOB, row, sl_job_row, .end_time = SL_UNLIMITED);
	p = build_plan(b);
	put_reservation(p, 2, INT64_C(1) << 40, place(p, 0, 8, 0, 0));
	expect(b, p, "16 cores in use");
	build_destroy(b);
}

static void a_job_suspended_by_hand_gives_its_cores_back_but_not_its_memory(void **state)
{
	struct build *b = build_create("1x8c1000m");
	uint32_t row = build_running(b, (struct build_job) { .id = 1, .memory = 700, .ends_in = 60 });

	(void) state;
	b->meta.select_flags = SL_SELECT_MEMORY;
	build_change(b, SL_T_JOB, row, sl_job_row, .state = SL_JOB_SUSPENDED);
	build_pending(b, (struct build_job) { .id = 2, .tasks = 2, .memory = 300 });
	EXPECT_START(b, place(p_, 0, 2, 300, 0), "10 cores in use");
	build_change(b, SL_T_JOB, row, sl_job_row, .priority = 0);
	EXPECT_START(b, place(p_, 0, 2, 300, 0), NULL);
	EXPECT_START(b, place(p_, 0, 2, 301, 0), "1001 MiB in use");
	build_destroy(b);
}

/* -- reservations -------------------------------------------------------- */

static void a_reservation_keeps_others_out_for_its_time(void **state)
{
	struct build *b = one((struct build_job) { .limit = 100 });

	(void) state;
	build_reservation(b, "maint", 100, 200, 1, 2);
	EXPECT_START(b, place(p_, 1, 1, 0, 0), NULL);
	build_change_job(b, 2, .time_limit = 101);
	EXPECT_START(b, place(p_, 1, 1, 0, 0), "job 2: node n1 is reserved (maint) from 1000100 to 1000200");
	EXPECT_START(b, place(p_, 0, 1, 0, 0), NULL);
	build_destroy(b);
}

static void a_job_in_a_reservation_stays_on_its_nodes_within_its_time(void **state)
{
	struct build *b = one((struct build_job) { .limit = 1000 });
	uint32_t r = build_reservation(b, "course", -10, 100, 1, 2);

	(void) state;
	build_change_job(b, 2, .reservation = sl_builder_str(b->builder, "course"));
	EXPECT_START(b, place(p_, 0, 1, 0, 0), "job 2: node n0 is not in reservation course");
	EXPECT_START(b, place(p_, 1, 1, 0, 0), NULL);
	build_change(b, SL_T_RESERVATION, r, sl_reservation_row, .start_time = BUILD_NOW + 10);
	EXPECT_START(b, place(p_, 1, 1, 0, 0), "reservation course is from 1000010 to 1000100");
	build_change_job(b, 2, .reservation = sl_builder_str(b->builder, "gone"));
	EXPECT_START(b, place(p_, 1, 1, 0, 0), "there is no reservation gone");
	build_destroy(b);
}

static void overlapping_reservations_bind_each_other_unless_one_is_for_maintenance(void **state)
{
	struct build *b = one((struct build_job) { .limit = 50 });
	uint32_t r = build_reservation(b, "course", -10, 100, 1, 2);

	(void) state;
	build_reservation(b, "other", -10, 100, 1, 1);
	build_change_job(b, 2, .reservation = sl_builder_str(b->builder, "course"));
	EXPECT_START(b, place(p_, 1, 1, 0, 0), "node n1 is reserved (other)");
	EXPECT_START(b, place(p_, 2, 1, 0, 0), NULL);
	build_change(b, SL_T_RESERVATION, r, sl_reservation_row, .flags = SL_RESV_MAINT);
	EXPECT_START(b, place(p_, 1, 1, 0, 0), NULL);
	build_destroy(b);
}

static void a_reservation_of_parts_of_nodes_keeps_an_upper_bound(void **state)
{
	struct build *b = one((struct build_job) { .tasks = 5, .limit = 50 });
	uint32_t r = build_reservation(b, "part", -10, 100, 0, 1);

	(void) state;
	build_change(b, SL_T_RESERVATION, r, sl_reservation_row, .cores = 5);
	EXPECT_START(b, place(p_, 0, 5, 0, 0), "job 2: node n0: 9 cores in use");
	EXPECT_START(b, place(p_, 2, 5, 0, 0), NULL);
	build_change(b, SL_T_RESERVATION, r, sl_reservation_row, .cores = 4);
	EXPECT_START(b, place(p_, 0, 5, 0, 0), NULL);
	build_destroy(b);
}

static void jobs_of_a_reservation_of_parts_of_nodes_have_its_cores_alone(void **state)
{
	struct build *b = one((struct build_job) { .tasks = 5, .limit = 50 });
	uint32_t r = build_reservation(b, "part", -10, 100, 0, 0);
	struct sl_range parts = { .count = 1 };

	(void) state;
	parts.first = sl_builder_append(b->builder, SL_T_ALLOC, &(struct sl_alloc_row) { .node = 0, .cores = 5 });
	build_change_job(b, 2, .reservation = sl_builder_str(b->builder, "part"));
	build_change(b, SL_T_RESERVATION, r, sl_reservation_row, .cores = 5);
	build_change(b, SL_T_RESERVATION, r, sl_reservation_row, .parts = parts);
	EXPECT_START(b, place(p_, 0, 5, 0, 0), NULL);
	build_change_job(b, 2, .num_tasks = 6);
	EXPECT_START(b, place(p_, 0, 6, 0, 0), "job 2: node n0: 6 cores of its reservation in use");
	build_destroy(b);
}

/* -- what Slurm places ----------------------------------------------------- */

static void the_places_of_a_native_job_are_counted_and_not_looked_at(void **state)
{
	struct build *b = one((struct build_job) { .tasks = 4 });
	struct built_plan *p;
	struct sl_plan_start_row row;

	(void) state;
	EXPECT_START(b, place(p_, 0, 3, 0, 0), "job 2: its 1 nodes host 3 tasks of 1 CPUs, it has 4");
	p = build_plan(b);
	row = start_row(2, place(p, 0, 3, 0, 0));
	row.native = 1;
	sl_builder_append(p->builder, SL_P_START, &row);
	expect(b, p, NULL);
	build_running(b, (struct build_job) { .id = 1, .nodes = 1, .cores = 5, .ends_in = 60 });
	p = build_plan(b);
	row.places = place(p, 0, 4, 0, 0);
	sl_builder_append(p->builder, SL_P_START, &row);
	expect(b, p, "job 2: node n0: 9 cores in use");
	build_destroy(b);
}

static void jobs_of_a_partition_that_shares_cores_count_a_part_of_them(void **state)
{
	struct build *b = one((struct build_job) { .tasks = 4 });
	struct built_plan *p = build_plan(b);
	struct sl_plan_start_row row = start_row(2, place(p, 0, 4, 0, 0));

	(void) state;
	build_running(b, (struct build_job) { .id = 1, .nodes = 1, .cores = 8, .ends_in = 60 });
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .oversubscribe = 2);
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .flags |= SL_PART_FORCE);
	row.native = 1;
	sl_builder_append(p->builder, SL_P_START, &row);
	expect(b, p, NULL);
	EXPECT_START(b, place(p_, 0, 4, 0, 0), NULL);
	build_partition(b, "other", 0, 0);
	build_change_job(b, 1, .partition = 1);
	p = build_plan(b);
	row.places = place(p, 0, 4, 0, 0);
	sl_builder_append(p->builder, SL_P_START, &row);
	expect(b, p, "job 2: node n0: 1 cores of jobs that share none in use");
	build_change_job(b, 1, .partition = 0);
	build_change_job(b, 2, .partition = 1);
	build_queue(b, build_job_row(b, 2), 1);
	p = build_plan(b);
	row = start_row(2, place(p, 0, 4, 0, 0));
	row.partition = 1;
	sl_builder_append(p->builder, SL_P_START, &row);
	expect(b, p, "job 2: node n0: 1 cores of jobs that share them in use");
	build_destroy(b);
}

static void a_shape_stands_in_for_the_request(void **state)
{
	struct build *b = one((struct build_job) { .nodes = 4, .tasks = 32 });
	struct sl_shape_row shape = { .min_nodes = 1, .num_tasks = 4, .cpus_per_task = 1 };
	struct sl_range shapes = { sl_builder_append(b->builder, SL_T_SHAPE, &shape), 1 };

	(void) state;
	build_change_job(b, 2, .shapes = shapes);
	EXPECT_START(b, place(p_, 0, 4, 0, 0), "needs 4");
	for (uint32_t i = 1; i < 3; i++) {
		struct built_plan *p = build_plan(b);
		struct sl_plan_start_row row = start_row(2, place(p, 0, 4, 0, 0));

		row.shape = i;
		sl_builder_append(p->builder, SL_P_START, &row);
		expect(b, p, i == 1 ? NULL : "has 1 alternatives, not 2");
	}
	build_destroy(b);
}

static void an_alternative_that_was_refused_is_not_planned(void **state)
{
	struct build *b = one((struct build_job) { .nodes = 4, .tasks = 32 });
	struct sl_shape_row shape = { .min_nodes = 1, .num_tasks = 4, .cpus_per_task = 1, .refused = 1 };
	struct sl_range shapes = { sl_builder_append(b->builder, SL_T_SHAPE, &shape), 1 };
	struct built_plan *p;
	struct sl_plan_start_row row;

	(void) state;
	build_change_job(b, 2, .shapes = shapes);
	p = build_plan(b);
	row = start_row(2, place(p, 0, 4, 0, 0));
	row.shape = 1;
	sl_builder_append(p->builder, SL_P_START, &row);
	expect(b, p, "its alternative 1 is refused");
	build_destroy(b);
}

/* -- everything ---------------------------------------------------------- */

static void an_empty_plan_for_any_cluster_passes(void **state)
{
	(void) state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct build *b = build_random_cluster(seed, 6, 20);
		struct built_plan *p = build_plan(b);

		expect(b, p, NULL);
		build_destroy(b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_feasible_plan_passes),
		cmocka_unit_test(a_plan_for_another_snapshot_is_refused),
		cmocka_unit_test(a_job_that_changed_is_refused),
		cmocka_unit_test(a_job_that_is_unknown_or_not_queued_there_is_refused),
		cmocka_unit_test(a_partition_that_is_down_is_refused),
		cmocka_unit_test(a_job_planned_twice_is_refused),
		cmocka_unit_test(an_array_record_starts_as_many_tasks_as_it_has),
		cmocka_unit_test(an_array_throttle_counts_running_tasks_too),
		cmocka_unit_test(what_is_said_about_jobs_must_be_about_jobs),
		cmocka_unit_test(of_a_heterogeneous_job_all_components_start_or_none),
		cmocka_unit_test(begin_time_and_deadline_are_kept),
		cmocka_unit_test(a_time_limit_shrinks_no_further_than_time_min),
		cmocka_unit_test(an_overdue_job_goes_on_as_long_again_and_a_job_without_limit_for_ever),
		cmocka_unit_test(a_job_suspended_by_hand_gives_its_cores_back_but_not_its_memory),
		cmocka_unit_test(a_reservation_keeps_others_out_for_its_time),
		cmocka_unit_test(a_job_in_a_reservation_stays_on_its_nodes_within_its_time),
		cmocka_unit_test(overlapping_reservations_bind_each_other_unless_one_is_for_maintenance),
		cmocka_unit_test(a_reservation_of_parts_of_nodes_keeps_an_upper_bound),
		cmocka_unit_test(jobs_of_a_reservation_of_parts_of_nodes_have_its_cores_alone),
		cmocka_unit_test(the_places_of_a_native_job_are_counted_and_not_looked_at),
		cmocka_unit_test(jobs_of_a_partition_that_shares_cores_count_a_part_of_them),
		cmocka_unit_test(a_shape_stands_in_for_the_request),
		cmocka_unit_test(an_alternative_that_was_refused_is_not_planned),
		cmocka_unit_test(an_empty_plan_for_any_cluster_passes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
