/* SPDX-License-Identifier: MIT */
/*
 * What a plan makes of jobs that are more than nodes for a time: deadlines, arrays, several
 * partitions, licences, reservations, native ones.  Worked out by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "t/model/desk.h"

static int64_t limit_of(struct desk *d, uint32_t i)
{
	struct sl_booking b;

	checked(d, sl_plan_booking(d->p, false, i, &b, &d->err));
	return b.time_limit;
}

/* -- times --------------------------------------------------------------- */

static void a_deadline_trims_the_time_limit_down_to_time_min(void **state)
{
	struct build *b = build_create("2x8c");
	struct desk d;

	(void) state;
	for (uint32_t i = 0; i < 4; i++)
		build_pending(b, (struct build_job) { .id = i + 1, .limit = 3600 });
	build_change_job(b, 1, .deadline = BUILD_NOW + 1850);
	build_change_job(b, 2, .deadline = BUILD_NOW + 1850);
	build_change_job(b, 2, .time_min = 600);
	build_change_job(b, 3, .deadline = BUILD_NOW + 1850);
	build_change_job(b, 3, .time_limit = SL_UNLIMITED);
	build_change_job(b, 4, .deadline = BUILD_NOW + 3600);
	d = sit(b);
	assert_int_equal(start(&d, 1), 0);
	assert_int_equal(d.why.why, SL_WHY_DEADLINE);
	assert_string_equal(sl_refusal_text(&d.why), "needs 60 minutes, its deadline is in 30");
	assert_int_equal(reserve(&d, 1), 0);
	assert_int_equal(d.why.why, SL_WHY_DEADLINE);
	assert_int_equal(start(&d, 2), 1);
	assert_int_equal(limit_of(&d, 0), 1800);
	assert_int_equal(start(&d, 3), 1);
	assert_int_equal(limit_of(&d, 1), 1800);
	assert_int_equal(start(&d, 4), 1);
	assert_int_equal(limit_of(&d, 2), 0);
	assert_int_equal(accepted(&d)->start.time_limit[0], 1800);
	leave(&d);
}

/* The partition's longest time, which took the place of it, is no limit that it named. */
static void a_deadline_trims_a_default_time_limit(void **state)
{
	struct build *b = build_create("2x8c");
	struct desk d;

	(void) state;
	build_pending(b, (struct build_job) { .id = 1, .limit = 3600 });
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .max_time = 3600);
	build_change_job(b, 1, .deadline = BUILD_NOW + 1850);
	build_change_job(b, 1, .flags = SL_JOBF_DEFAULT_TIME);
	d = sit(b);
	assert_int_equal(start(&d, 1), 1);
	assert_int_equal(limit_of(&d, 0), 1800);
	accepted(&d);
	leave(&d);
}

static void a_job_with_time_min_starts_for_as_long_as_fits(void **state)
{
	struct build *b = build_create("2x8c");
	struct desk d;

	(void) state;
	build_running(b, (struct build_job) { .id = 1, .exclusive = true, .ends_in = 1000 });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 2, .exclusive = true, .limit = 600 });
	build_pending(b, (struct build_job) { .id = 3, .limit = 3600 });
	build_pending(b, (struct build_job) { .id = 4, .limit = 3600 });
	build_change_job(b, 3, .time_min = 600);
	build_change_job(b, 4, .time_min = 1001);
	d = sit(b);
	assert_int_equal(reserve(&d, 2), 1);
	assert_int_equal(d.at, 1000);
	assert_int_equal(backfill(&d, 4), 0);
	assert_int_equal(backfill(&d, 3), 1);
	assert_int_equal(limit_of(&d, 0), 960);
	accepted(&d);
	leave(&d);
}

static void a_reserved_job_with_a_deadline_starts_as_early_as_it_can_for_what_is_left(void **state)
{
	struct build *b = build_create("1x8c");
	struct desk d;

	(void) state;
	build_running(b, (struct build_job) { .id = 1, .exclusive = true, .ends_in = 1000 });
	build_pending(b, (struct build_job) { .id = 2, .limit = 3600 });
	build_change_job(b, 2, .time_min = 600);
	build_change_job(b, 2, .deadline = BUILD_NOW + 3000);
	d = sit(b);
	assert_int_equal(reserve(&d, 2), 1);
	assert_int_equal(d.at, 1000);
	assert_int_equal(accepted(&d)->reserve.time_limit[0], 1980);
	leave(&d);
}

/* -- arrays, partitions, licences ---------------------------------------- */

static void tasks_of_an_array_are_started_one_by_one_up_to_the_throttle(void **state)
{
	struct build *b = build_create("4x8c");
	struct sl_job_row r = build_row(b, (struct build_job) { .id = 5, .limit = 60 });
	const struct sl_plan_image *plan;
	struct desk d;
	uint32_t job, n;

	(void) state;
	job = build_running(b, (struct build_job) { .id = 4, .cores = 1, .ends_in = 90 });
	build_change(b, SL_T_JOB, job, sl_job_row, .array_job_id = 5);
	r.array_job_id = 5;
	r.array_pending = 4;
	r.array_max_running = 3;
	job = build_append(b, &r);
	d = sit(b);
	assert_int_equal(start(&d, 5), 1);
	assert_int_equal(sl_plan_job(d.p, job), SL_PLAN_OPEN);
	assert_int_equal(start(&d, 5), 1);
	assert_int_equal(start(&d, 5), 0);
	assert_int_equal(d.why.why, SL_WHY_ARRAY);
	assert_string_equal(sl_refusal_text(&d.why), "3 tasks of its array run, as many as may");
	assert_int_equal(reserve(&d, 5), 1);
	assert_int_equal(d.at, 60);
	sl_plan_started(d.p, &n);
	assert_int_equal(n, 2);
	plan = accepted(&d);
	assert_int_equal(plan->start.rows, 2);
	assert_int_equal(plan->start.job[0], 5);
	assert_int_equal(plan->start.job[1], 5);
	assert_int_equal(plan->reserve.rows, 1);
	checked(&d, sl_plan_undo(d.p, job, &d.err));
	checked(&d, sl_plan_undo(d.p, job, &d.err));
	assert_int_equal(start(&d, 5), 1);
	accepted(&d);
	leave(&d);
}

static void all_tasks_of_an_array_started_is_started(void **state)
{
	struct build *b = build_create("4x8c");
	struct sl_job_row r = build_row(b, (struct build_job) { .id = 5, .limit = 60 });
	struct desk d;
	uint32_t job;

	(void) state;
	r.array_job_id = 5;
	r.array_pending = 2;
	job = build_append(b, &r);
	d = sit(b);
	assert_int_equal(start(&d, 5), 1);
	assert_int_equal(start(&d, 5), 1);
	assert_int_equal(sl_plan_job(d.p, job), SL_PLAN_STARTED);
	assert_int_equal(start(&d, 5), 0);
	assert_string_equal(sl_refusal_text(&d.why), "is started already");
	accepted(&d);
	leave(&d);
}

static void a_job_in_several_partitions_is_started_once_and_its_best_refusal_counts(void **state)
{
	struct build *b = build_create("4x8c");
	uint32_t small = build_partition(b, "small", 0, 0), job, why;
	struct sl_entry there = { .partition = small };
	struct desk d;

	(void) state;
	build_running(b, (struct build_job) { .id = 1, .nodes = 3, .exclusive = true, .ends_in = 60 });
	job = there.job = build_pending(b, (struct build_job) { .id = 2, .nodes = 2 });
	build_queue(b, job, small);
	d = sit(b);
	assert_int_equal(start(&d, 2), 0);
	assert_int_equal(checked(&d, sl_plan_start(d.p, there, NULL, &d.why, &d.err)), 0);
	assert_int_equal(d.why.why, SL_WHY_NEVER);
	assert_string_equal(pending_text(accepted(&d), 2, &why), "needs 2 nodes, 1 is free");
	assert_int_equal(why, SL_WHY_RESOURCES);
	assert_int_equal(d.plan.pending.rows, 1);
	leave(&d);
}

static void licences_are_booked_over_time(void **state)
{
	struct build *b = build_create("4x8c");
	struct sl_license_row lic = { .total = 5, .used = 3, .reserved = 1 };
	uint32_t job;
	struct desk d;

	(void) state;
	lic.name = sl_builder_str(b->builder, "matlab");
	sl_builder_append(b->builder, SL_T_LICENSE, &lic);
	job = build_running(b, (struct build_job) { .id = 1, .cores = 1, .ends_in = 60 });
	build_change(b, SL_T_JOB, job, sl_job_row, .licenses = build_license(b, 0, 3));
	for (uint32_t i = 0; i < 3; i++) {
		job = build_pending(b, (struct build_job) { .id = 2 + i, .limit = 100 });
		build_change(b, SL_T_JOB, job, sl_job_row, .licenses = build_license(b, 0, i == 2 ? 9 : 3));
	}
	d = sit(b);
	assert_int_equal(start(&d, 2), 0);
	assert_int_equal(d.why.why, SL_WHY_LICENSES);
	assert_string_equal(sl_refusal_text(&d.why), "needs 3 of license matlab, 1 is free");
	assert_int_equal(reserve(&d, 2), 1);
	assert_int_equal(d.at, 60);
	assert_int_equal(reserve(&d, 3), 1);
	assert_int_equal(d.at, 160);
	assert_int_equal(reserve(&d, 4), 0);
	assert_int_equal(d.why.why, SL_WHY_LICENSES);
	accepted(&d);
	leave(&d);
}

/* Two of licence a, which a job has until 1000, and one of b; c was taken away. */
static struct build *alternatives(void)
{
	static const char *const name[] = { "a", "b", "c" };
	struct build *b = build_create("4x8c");

	for (uint32_t l = 0; l < 3; l++) {
		struct sl_license_row lic = { .total = 2 - l, .name = sl_builder_str(b->builder, name[l]) };

		sl_builder_append(b->builder, SL_T_LICENSE, &lic);
	}
	build_running(b, (struct build_job) { .id = 1, .cores = 1, .ends_in = 1000 });
	build_change_job(b, 1, .licenses = build_license(b, 0, 2));
	return b;
}

/* One of the first, or of the second. */
static void wants_either(struct build *b, uint32_t id, uint32_t first, uint32_t second)
{
	struct sl_range either;

	build_pending(b, (struct build_job) { .id = id, .limit = 600 });
	either = build_license(b, first, 1);
	either.count += build_license(b, second, 1).count;
	build_change_job(b, id, .licenses = either);
	build_change_job(b, id, .asks = SL_ASKS_ANY_LICENSE);
}

/* ("a|a:2": of the two numbers slurmctld takes the one that is free) */
static void an_alternative_may_be_another_number_of_the_same_licence(void **state)
{
	struct build *b = build_create("4x8c");
	struct sl_license_row lic = { .total = 3, .name = sl_builder_str(b->builder, "a") };
	struct sl_range either;
	struct desk d;

	(void) state;
	sl_builder_append(b->builder, SL_T_LICENSE, &lic);
	build_running(b, (struct build_job) { .id = 1, .cores = 1, .ends_in = 1000 });
	build_change_job(b, 1, .licenses = build_license(b, 0, 2));
	build_pending(b, (struct build_job) { .id = 2, .limit = 600 });
	either = build_license(b, 0, 2);
	either.count += build_license(b, 0, 1).count;
	build_change_job(b, 2, .licenses = either);
	build_change_job(b, 2, .asks = SL_ASKS_ANY_LICENSE);
	d = sit(b);
	assert_int_equal(start(&d, 2), 1);
	assert_int_equal(accepted(&d)->start.license[0], 0);
	leave(&d);
}

static void of_alternative_licences_the_first_that_is_free_is_booked(void **state)
{
	struct build *b = alternatives();
	const struct sl_plan_image *plan;
	struct desk d;

	(void) state;
	for (uint32_t id = 2; id <= 4; id++)
		wants_either(b, id, 0, 1);
	wants_either(b, 5, 2, 1);
	d = sit(b);
	assert_int_equal(start(&d, 2), 1);	/* with b */
	assert_int_equal(start(&d, 3), 0);
	assert_int_equal(d.why.why, SL_WHY_LICENSES);
	assert_string_equal(sl_refusal_text(&d.why), "needs 1 of license a or of another that would do, 0 are free");
	assert_int_equal(reserve(&d, 3), 1);
	assert_int_equal(d.at, 600);		/* b again, sooner than a */
	assert_int_equal(reserve(&d, 4), 1);
	assert_int_equal(d.at, 1000);
	assert_int_equal(start(&d, 5), 0);	/* slurmctld looks no further than c */
	assert_string_equal(sl_refusal_text(&d.why), "needs 1 of license c, there are 0");
	assert_int_equal(reserve(&d, 5), 0);
	assert_int_equal(d.why.why, SL_WHY_LICENSES);
	plan = accepted(&d);
	assert_int_equal(plan->start.license[0], 1);
	assert_int_equal(plan->reserve.license[0], 1);
	assert_int_equal(plan->reserve.license[1], 0);
	leave(&d);
}

/* It does not know what the plan has reserved; of reservations of its own it does. */
static void no_licence_is_taken_that_slurmctld_would_not_take(void **state)
{
	struct build *b = alternatives();
	uint32_t r;
	struct desk d;

	(void) state;
	build_change_job(b, 1, .licenses = build_license(b, 0, 1));
	build_pending(b, (struct build_job) { .id = 2, .nodes = 4, .exclusive = true, .limit = 600 });
	build_change_job(b, 2, .licenses = build_license(b, 0, 2));
	wants_either(b, 3, 0, 1);
	build_change_job(b, 3, .time_limit = 1200);
	d = sit(b);
	assert_int_equal(reserve(&d, 2), 1);
	assert_int_equal(d.at, 1000);
	assert_int_equal(start(&d, 3), 0);	/* it would get a, for longer than till then, and not b */
	assert_int_equal(d.why.why, SL_WHY_LICENSES);
	accepted(&d);
	leave(&d);
	b = alternatives();
	build_change_job(b, 1, .licenses = build_license(b, 0, 1));
	r = build_reservation(b, "r1", 100, 200, 3, 3);
	build_change(b, SL_T_RESERVATION, r, sl_reservation_row, .licenses = build_license(b, 0, 1));
	wants_either(b, 3, 0, 1);
	d = sit(b);
	assert_int_equal(start(&d, 3), 1);
	assert_int_equal(accepted(&d)->start.license[0], 1);
	leave(&d);
}

static void max_cpus_per_node_is_shared_by_the_jobs_of_a_partition(void **state)
{
	struct build *b = build_create("2x8c");
	struct desk d;

	(void) state;
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .max_cpus_per_node = 4);
	build_running(b, (struct build_job) { .id = 1, .cores = 2, .ends_in = 60 });
	for (uint32_t i = 0; i < 3; i++)
		build_pending(b, (struct build_job) { .id = i + 2, .nodes = 1, .tasks = 2 + (i == 2) });
	d = sit(b);
	assert_int_equal(start(&d, 4), 1);
	assert_string_equal(where(&d, 4), "n1:3");
	assert_int_equal(start(&d, 2), 1);
	assert_string_equal(where(&d, 2), "n0:2");
	assert_int_equal(start(&d, 3), 0);
	accepted(&d);
	leave(&d);
}

/* -- reservations -------------------------------------------------------- */

static void a_reservation_ahead_keeps_long_jobs_off_its_nodes(void **state)
{
	struct build *b = build_create("2x8c");
	struct desk d;

	(void) state;
	build_reservation(b, "maint", 100, 200, 0, 1);
	build_pending(b, (struct build_job) { .id = 1, .nodes = 1, .limit = 101 });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 2, .limit = 100 });
	d = sit(b);
	assert_int_equal(start(&d, 1), 0);
	assert_int_equal(d.why.why, SL_WHY_RESERVED);
	assert_int_equal(reserve(&d, 1), 1);
	assert_int_equal(d.at, 200);
	assert_int_equal(start(&d, 2), 1);
	accepted(&d);
	leave(&d);
}

/* Slurm's own words, which scripts look for; not where the rest would do, were it idle. */
static void what_others_have_reserved_is_told_where_the_rest_would_never_do(void **state)
{
	struct build *b = build_create("3x8c");
	struct desk d;

	(void) state;
	build_reservation(b, "others", 100, 200, 0, 1);
	build_running(b, (struct build_job) { .id = 1, .nodes = 1, .first = 2, .exclusive = true, .ends_in = 60 });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 3, .limit = 500 });
	build_pending(b, (struct build_job) { .id = 3, .nodes = 2, .limit = 500 });
	build_pending(b, (struct build_job) { .id = 4, .nodes = 1, .limit = 500 });
	d = sit(b);
	assert_int_equal(reserve(&d, 2), 1);
	assert_int_equal(start(&d, 3), 0);		/* whoever else has something reserved in the plan */
	assert_int_equal(d.why.why, SL_WHY_RESERVED);
	assert_string_equal(sl_refusal_text(&d.why), "May be reserved for other job");
	assert_int_equal(start(&d, 4), 0);
	assert_int_equal(d.why.why, SL_WHY_PRIORITY);
	leave(&d);
}

static void a_job_in_a_reservation_has_its_nodes_and_nobody_elses(void **state)
{
	struct build *b = build_create("4x8c");
	struct desk d;

	(void) state;
	build_reservation(b, "course", -100, 1000, 1, 2);
	build_reservation(b, "later", 50, 500, 3, 3);
	for (uint32_t i = 0; i < 5; i++)
		build_pending(b, (struct build_job) { .id = i + 1, .nodes = 1, .exclusive = true, .limit = 600 });
	for (uint32_t i = 0; i < 4; i++)
		build_change(b, SL_T_JOB, i, sl_job_row, .reservation =
			     sl_builder_str(b->builder, i == 3 ? "later" : "course"));
	d = sit(b);
	assert_int_equal(start(&d, 1), 1);
	assert_string_equal(where(&d, 1), "n1:8");
	assert_int_equal(start(&d, 2), 1);
	assert_string_equal(where(&d, 2), "n2:8");
	assert_int_equal(start(&d, 3), 0);
	assert_int_equal(reserve(&d, 3), 1);
	assert_int_equal(d.at, 600);
	assert_int_equal(start(&d, 4), 0);
	assert_string_equal(sl_refusal_text(&d.why), "its reservation later has not begun");
	assert_int_equal(reserve(&d, 4), 1);
	assert_int_equal(d.at, 50);
	assert_int_equal(start(&d, 5), 1);
	assert_string_equal(where(&d, 5), "n0:8");
	accepted(&d);
	leave(&d);
}

/* -- native -------------------------------------------------------------- */

static void a_native_job_books_an_upper_bound(void **state)
{
	struct build *b = build_create("2x8c");
	struct sl_pick pick = { .node = 0, .cores = 4 };
	struct sl_how how = { .method = SL_PLACE_EXPLICIT, .picks = &pick, .count = 1 };
	struct sl_how best = { .method = SL_PLACE_BESTFIT };
	struct desk d;

	(void) state;
	build_pending(b, (struct build_job) { .id = 1, .nodes = 2, .tasks = 8 });
	build_change_job(b, 1, .asks = SL_ASKS_TASK_COUNTS);
	d = sit(b);
	assert_int_equal(checked(&d, sl_plan_start(d.p, entry(&d, 1), &(struct sl_terms) { .how = &how }, &d.why, &d.err)), 0);
	assert_int_equal(d.why.why, SL_WHY_NOT_MODELLED);
	assert_string_equal(sl_refusal_text(&d.why), "only Slurm's select can place it (an own number of tasks for each node)");
	assert_int_equal(checked(&d, sl_plan_start(d.p, entry(&d, 1), &(struct sl_terms) { .how = &best }, &d.why, &d.err)), 1);
	assert_int_equal(accepted(&d)->start.native[0], 1);
	leave(&d);
}

static void no_place_is_named_for_tasks_that_go_round_in_planes(void **state)
{
	struct build *b = build_create("2x8c");
	struct sl_pick picks[] = { { .node = 0, .cores = 7 }, { .node = 1, .cores = 1 } };
	struct sl_how how = { .method = SL_PLACE_EXPLICIT, .picks = picks, .count = 2 };
	struct desk d;

	(void) state;
	build_pending(b, (struct build_job) { .id = 1, .nodes = 2, .max_nodes = 2, .tasks = 8 });
	build_change_job(b, 1, .distribution = SL_DIST_PLANE);
	build_change_job(b, 1, .plane_size = 2);
	d = sit(b);
	assert_false(sl_want_takes_places(sl_cluster_want(d.c, entry(&d, 1), &d.err)));
	assert_int_equal(checked(&d, sl_plan_start(d.p, entry(&d, 1), &(struct sl_terms) { .how = &how }, &d.why, &d.err)), 0);
	assert_int_equal(d.why.why, SL_WHY_NOT_MODELLED);
	assert_int_equal(start(&d, 1), 1);
	assert_int_equal(accepted(&d)->place.cores[0], 4);
	leave(&d);
}

static void tasks_start_on_the_nodes_that_the_job_says_when_these_are_free(void **state)
{
	struct build *b = build_create("4x8c");
	struct sl_pick picks[] = { { .node = 1, .cores = 1 }, { .node = 3, .cores = 7 } };
	struct sl_how how = { .method = SL_PLACE_EXPLICIT, .picks = picks, .count = 2 };
	struct sl_job_row r = build_row(b, (struct build_job) { .id = 1, .limit = 3600 });
	struct desk d;

	(void) state;
	build_say_tasks(b, &r, 1, "107");
	build_append(b, &r);
	r = build_row(b, (struct build_job) { .id = 2, .limit = 3600 });
	build_say_tasks(b, &r, 1, "9");
	build_append(b, &r);
	build_running(b, (struct build_job) { .id = 3, .first = 3, .cores = 2, .ends_in = 600 });
	d = sit(b);
	assert_false(sl_want_takes_places(sl_cluster_want(d.c, entry(&d, 1), &d.err)));
	assert_int_equal(checked(&d, sl_plan_start(d.p, entry(&d, 1), &(struct sl_terms) { .how = &how }, &d.why, &d.err)), 0);
	assert_int_equal(d.why.why, SL_WHY_NOT_MODELLED);
	assert_int_equal(start(&d, 1), 0);
	assert_string_equal(sl_refusal_text(&d.why), "requires node n3, which is not free");
	assert_int_equal(reserve(&d, 1), 1);
	assert_int_equal(d.at, 600);
	assert_string_equal(where(&d, 1), "n1:1 n3:7");
	assert_int_equal(start(&d, 2), 0);
	assert_int_equal(d.why.why, SL_WHY_NEVER);
	accepted(&d);
	leave(&d);
}

/* Four cores of each node are free all the time, but select might give it others. */
static void a_native_job_is_kept_off_nodes_that_another_has_reserved_within_its_time(void **state)
{
	struct build *b = build_create("3x8c");
	const struct sl_plan_image *plan;
	struct desk d;

	(void) state;
	for (uint32_t n = 0; n < 2; n++)
		build_running(b, (struct build_job) { .id = 8 + n, .first = n, .cores = 8, .ends_in = 600 });
	build_pending(b, (struct build_job) { .id = 1, .nodes = 3, .tasks = 12, .limit = 3600 });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 1, .tasks = 1, .limit = 3600 });
	build_pending(b, (struct build_job) { .id = 3, .nodes = 1, .tasks = 1, .limit = 3600 });
	build_pending(b, (struct build_job) { .id = 4, .nodes = 1, .tasks = 1, .limit = 600 });
	build_change_job(b, 1, .asks = SL_ASKS_TASK_COUNTS);
	build_change_job(b, 2, .asks = SL_ASKS_TASK_COUNTS);
	build_change_job(b, 4, .asks = SL_ASKS_TASK_COUNTS);
	d = sit(b);
	assert_int_equal(start(&d, 2), 1);
	assert_int_equal(reserve(&d, 1), 1);
	assert_int_equal(d.at, 600);
	assert_int_equal(backfill(&d, 4), 1);
	plan = accepted(&d);
	assert_int_equal(plan->start.behind[0], 0);
	assert_int_equal(plan->start.behind[1], 1);
	leave(&d);
}

static void a_native_job_that_would_run_into_a_reservation_waits_and_others_do_not(void **state)
{
	struct build *b = build_create("3x8c");
	struct desk d;

	(void) state;
	for (uint32_t n = 0; n < 2; n++)
		build_running(b, (struct build_job) { .id = 8 + n, .first = n, .cores = 8, .ends_in = 600 });
	build_pending(b, (struct build_job) { .id = 1, .nodes = 3, .tasks = 12, .limit = 3600 });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 1, .tasks = 1, .limit = 601 });
	build_pending(b, (struct build_job) { .id = 3, .nodes = 1, .tasks = 1, .limit = 601 });
	build_change_job(b, 2, .asks = SL_ASKS_TASK_COUNTS);
	d = sit(b);
	assert_int_equal(reserve(&d, 1), 1);
	assert_int_equal(backfill(&d, 2), 0);
	assert_int_equal(d.why.why, SL_WHY_PRIORITY);
	assert_int_equal(backfill(&d, 3), 1);
	accepted(&d);
	leave(&d);
}

static void jobs_that_share_cores_are_started_until_the_shares_are_used_up(void **state)
{
	struct build *b = build_create("1x2c");
	struct desk d;

	(void) state;
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .oversubscribe = 3);
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .flags |= SL_PART_FORCE);
	build_running(b, (struct build_job) { .id = 9, .cores = 2, .ends_in = 60 });
	for (uint32_t i = 0; i < 5; i++)
		build_pending(b, (struct build_job) { .id = i + 1, .limit = 60 });
	d = sit(b);
	for (uint32_t id = 1; id < 5; id++)
		assert_int_equal(start(&d, id), 1);
	assert_int_equal(start(&d, 5), 0);
	accepted(&d);
	leave(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_deadline_trims_the_time_limit_down_to_time_min),
		cmocka_unit_test(a_deadline_trims_a_default_time_limit),
		cmocka_unit_test(a_job_with_time_min_starts_for_as_long_as_fits),
		cmocka_unit_test(a_reserved_job_with_a_deadline_starts_as_early_as_it_can_for_what_is_left),
		cmocka_unit_test(tasks_of_an_array_are_started_one_by_one_up_to_the_throttle),
		cmocka_unit_test(all_tasks_of_an_array_started_is_started),
		cmocka_unit_test(a_job_in_several_partitions_is_started_once_and_its_best_refusal_counts),
		cmocka_unit_test(licences_are_booked_over_time),
		cmocka_unit_test(of_alternative_licences_the_first_that_is_free_is_booked),
		cmocka_unit_test(an_alternative_may_be_another_number_of_the_same_licence),
		cmocka_unit_test(no_licence_is_taken_that_slurmctld_would_not_take),
		cmocka_unit_test(max_cpus_per_node_is_shared_by_the_jobs_of_a_partition),
		cmocka_unit_test(a_reservation_ahead_keeps_long_jobs_off_its_nodes),
		cmocka_unit_test(what_others_have_reserved_is_told_where_the_rest_would_never_do),
		cmocka_unit_test(a_job_in_a_reservation_has_its_nodes_and_nobody_elses),
		cmocka_unit_test(a_native_job_books_an_upper_bound),
		cmocka_unit_test(no_place_is_named_for_tasks_that_go_round_in_planes),
		cmocka_unit_test(tasks_start_on_the_nodes_that_the_job_says_when_these_are_free),
		cmocka_unit_test(a_native_job_is_kept_off_nodes_that_another_has_reserved_within_its_time),
		cmocka_unit_test(a_native_job_that_would_run_into_a_reservation_waits_and_others_do_not),
		cmocka_unit_test(jobs_that_share_cores_are_started_until_the_shares_are_used_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
