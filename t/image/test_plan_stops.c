/* SPDX-License-Identifier: MIT */
/*
 * What a plan says of jobs that are stopped for others is compared with the snapshot before it is carried out: nobody is stopped
 * whom Slurm would not let be stopped, and nobody twice, and what is held has a place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "image/plan_answer.h"
#include "image/plan_cut.h"
#include "t/build.h"

/* Jobs 1 and 2 run on a node each and may be stopped, job 3 may not; job 7 waits, and may preempt; job 8 waits. */
static struct build *two_to_stop(void)
{
	struct build *b = build_create("3x8c");

	for (uint32_t id = 1; id <= 3; id++)
		build_running(b, (struct build_job) { .id = id, .first = id - 1, .ends_in = 3600 });
	build_pending(b, (struct build_job) { .id = 7, .nodes = 2 });
	build_pending(b, (struct build_job) { .id = 8, .nodes = 2 });
	build_stoppable(b, 1, SL_STOP_CANCEL);
	build_stoppable(b, 2, SL_STOP_CANCEL);
	build_may_preempt(b, 7);
	build_open(b);
	return b;
}

static void reserve(struct built_plan *p, uint32_t job, uint32_t native)
{
	struct sl_plan_reserve_row row = sl_plan_reserve_row();

	row.job = job;
	row.partition = 0;
	row.start_time = BUILD_NOW + 60;
	row.native = native;
	row.places = build_place(p, 0, 8);
	sl_builder_append(p->builder, SL_P_RESERVE, &row);
}

static struct sl_plan_hold_row hold_of(uint32_t job)
{
	struct sl_plan_hold_row row = sl_plan_hold_row();

	row.job = job;
	row.until = BUILD_NOW + 600;
	row.verdict = SL_VERDICT_OPTIMAL;
	row.cost = row.bound = 2.5;
	return row;
}

static void hold(struct built_plan *p, uint32_t job)
{
	struct sl_plan_hold_row row = hold_of(job);

	sl_builder_append(p->builder, SL_P_HOLD, &row);
}

static struct sl_plan_stop_row stop_of(const struct build *b, uint32_t job, uint32_t preemptor)
{
	struct sl_plan_stop_row row = sl_plan_stop_row();

	row.job = job;
	row.start_time = job < 9 ? b->snap.job.start_time[build_job_row(b, job)] : 0;
	row.preemptor = preemptor;
	row.cost = 1.25;
	return row;
}

static void stop(const struct build *b, struct built_plan *p, uint32_t job, uint32_t preemptor)
{
	struct sl_plan_stop_row row = stop_of(b, job, preemptor);

	sl_builder_append(p->builder, SL_P_STOP, &row);
}

/* A plan with a place for job 7. */
static struct built_plan *with_place(const struct build *b)
{
	struct built_plan *p = build_plan(b);

	reserve(p, 7, 0);
	hold(p, 7);
	return p;
}

static void jobs_are_stopped_for_one_whose_place_is_held(void **state)
{
	struct build *b = two_to_stop();
	struct built_plan *p = with_place(b);

	(void) state;
	stop(b, p, 1, 7);
	stop(b, p, 2, 7);
	build_expect_answer(b, p, NULL);
	p = build_plan(b);
	reserve(p, 7, 0);
	stop(b, p, 1, 7);
	build_expect_answer(b, p, "stop[0]: job 1 for job 7: no place is held for that one");
	build_destroy(b);
}

static void nobody_is_stopped_twice_or_in_a_run_that_is_over(void **state)
{
	struct build *b = two_to_stop();
	struct built_plan *p = with_place(b);
	struct sl_plan_stop_row row = stop_of(b, 1, 7);

	(void) state;
	stop(b, p, 1, 7);
	stop(b, p, 1, 7);
	build_expect_answer(b, p, "stop[1]: job 1 for job 7: it is stopped twice");
	p = with_place(b);
	row.start_time++;
	sl_builder_append(p->builder, SL_P_STOP, &row);
	build_expect_answer(b, p, "stop[0]: job 1 for job 7: that run is not the one that the snapshot has");
	p = with_place(b);
	stop(b, p, 99, 7);
	build_expect_answer(b, p, "stop[0]: job 99 is not in the snapshot");
	build_destroy(b);
}

static void only_who_may_be_preempted_is_stopped(void **state)
{
	struct build *b = two_to_stop();
	struct built_plan *p = with_place(b);

	(void) state;
	stop(b, p, 3, 7);
	build_expect_answer(b, p, "stop[0]: job 3 for job 7: Slurm does not let that one preempt it now");
	p = with_place(b);
	stop(b, p, 7, 7);
	build_expect_answer(b, p, "stop[0]: job 7 for job 7: Slurm does not let that one preempt it now");
	p = build_plan(b);
	reserve(p, 8, 0);
	hold(p, 8);
	stop(b, p, 1, 8);
	build_expect_answer(b, p, "stop[0]: job 1 for job 8: Slurm does not let that one preempt it now");
	build_change_job(b, 1, .preempt_time = BUILD_NOW - 5);
	build_change_job(b, 2, .preempt_from = BUILD_NOW + 5);
	build_open(b);
	for (uint32_t id = 1; id <= 2; id++) {
		p = with_place(b);
		stop(b, p, id, 7);
		build_expect_answer(b, p, "Slurm does not let that one preempt it now");
	}
	build_destroy(b);
}

static void a_job_is_stopped_no_harder_than_slurm_would(void **state)
{
	static const bool allowed[SL_STOP_MODES][SL_STOP_MODES] = {
		[SL_STOP_CANCEL] = { true, true, true, false, true },
		[SL_STOP_REQUEUE] = { true, false, true, false, true },
		[SL_STOP_SUSPEND] = { true, false, false, true, false },
	};
	struct build *b = two_to_stop();
	struct sl_plan_stop_row row;
	struct built_plan *p;

	(void) state;
	build_change_job(b, 1, .flags |= SL_JOBF_REQUEUE);
	for (uint32_t own = 0; own < SL_STOP_EXPEDITE; own++) {
		build_change_job(b, 1, .preempt_mode = own);
		build_open(b);
		for (uint32_t mode = 0; mode < SL_STOP_MODES; mode++)
			assert_int_equal(sl_snapshot_may_stop_so(&b->snap, build_job_row(b, 1), mode), allowed[own][mode]);
	}
	/* whom Slurm cancels after a GraceTime it cancels by itself */
	build_change_job(b, 1, .preempt_mode = SL_STOP_CANCEL, build_r_.grace_time = 30);
	build_open(b);
	assert_false(sl_snapshot_may_stop_so(&b->snap, build_job_row(b, 1), SL_STOP_REQUEUE));
	build_change_job(b, 1, .preempt_mode = SL_STOP_REQUEUE);
	build_open(b);
	assert_true(sl_snapshot_may_stop_so(&b->snap, build_job_row(b, 1), SL_STOP_REQUEUE));
	build_change_job(b, 1, .flags = 0, build_r_.preempt_mode = SL_STOP_CANCEL);
	build_open(b);
	p = with_place(b);
	row = stop_of(b, 1, 7);
	row.mode = SL_STOP_REQUEUE;
	sl_builder_append(p->builder, SL_P_STOP, &row);
	build_expect_answer(b, p, "stop[0]: job 1 for job 7: Slurm does not let it be stopped in that way");
	build_destroy(b);
}

static void what_is_held_has_a_place_a_time_and_a_price(void **state)
{
	struct build *b = two_to_stop();
	struct built_plan *p = build_plan(b);
	struct sl_plan_hold_row row = hold_of(7);
	struct sl_plan_stop_row cheap = stop_of(b, 1, 7);

	(void) state;
	hold(p, 7);
	build_expect_answer(b, p, "hold[0]: job 7 has no reservation");
	p = build_plan(b);
	reserve(p, 7, 1);
	hold(p, 7);
	build_expect_answer(b, p, "hold[0]: job 7 has no reservation");
	p = with_place(b);
	hold(p, 7);
	build_expect_answer(b, p, "hold[1]: job 7 stands there twice");
	p = build_plan(b);
	reserve(p, 7, 0);
	row.until = BUILD_NOW;
	sl_builder_append(p->builder, SL_P_HOLD, &row);
	build_expect_answer(b, p, "hold[0]: job 7 has its place for no time, or at a negative cost");
	p = with_place(b);
	cheap.cost = -1;
	sl_builder_append(p->builder, SL_P_STOP, &cheap);
	build_expect_answer(b, p, "stop[0]: job 1 for job 7: at a negative cost");
	build_destroy(b);
}

static void what_is_released_needs_no_place(void **state)
{
	struct build *b = two_to_stop();
	struct built_plan *p = build_plan(b);
	struct sl_plan_hold_row row = sl_plan_hold_row();

	(void) state;
	row.job = 7;
	row.release = 1;
	sl_builder_append(p->builder, SL_P_HOLD, &row);
	build_expect_answer(b, p, NULL);
	p = build_plan(b);
	sl_builder_append(p->builder, SL_P_HOLD, &row);
	stop(b, p, 1, 7);
	build_expect_answer(b, p, "no place is held for that one");
	build_destroy(b);
}

static void who_loses_its_place_stops_nobody(void **state)
{
	struct build *b = two_to_stop();
	struct built_plan *p = with_place(b), *left = build_plan(b);
	struct sl_plan_hold_row release = sl_plan_hold_row();
	const struct sl_plan_image *plan;
	struct sl_cuts cuts = { 0 };
	struct sl_error err;

	(void) state;
	stop(b, p, 1, 7);
	release.job = 8;
	release.release = 1;
	sl_builder_append(p->builder, SL_P_HOLD, &release);
	plan = build_plan_open(p);
	assert_int_equal(sl_cuts_add(&cuts, &(struct sl_cut) { SL_P_RESERVE, 0, 7, true, NULL }, "because", &err), 0);
	sl_builder_destroy(left->builder);
	left->builder = sl_builder_create(&sl_plan_schema, &err);
	assert_int_equal(sl_plan_cut(plan, &cuts, NULL, left->builder, &err), 0);
	plan = build_plan_open(left);
	assert_int_equal(plan->stop.rows, 0);
	assert_int_equal(plan->hold.rows, 1);
	assert_int_equal(plan->hold.job[0], 8);
	sl_cuts_free(&cuts);
	build_plan_destroy(p);
	build_plan_destroy(left);
	build_destroy(b);
}

/* Why the snapshot is refused. */
static void expect_refused(struct build *b, const char *words)
{
	struct sl_error err = { SL_OK, "" };
	struct sl_snapshot snap;
	const void *bytes;
	size_t size;

	assert_int_equal(sl_builder_finish(b->builder, &bytes, &size, &err), 0);
	if (!sl_snapshot_open(&snap, bytes, size, &err) || !strstr(err.text, words))
		fail_msg("said \"%s\", expected \"%s\"", err.text, words);
}

static void held_places_are_of_jobs_that_wait_and_on_nodes_in_order(void **state)
{
	struct build *b = two_to_stop();
	struct sl_held_row row = sl_held_row();

	(void) state;
	row.job = build_job_row(b, 7);
	row.partition = 0;
	row.places.first = sl_builder_append(b->builder, SL_T_ALLOC, &(struct sl_alloc_row) { .node = 0, .cores = 8 });
	sl_builder_append(b->builder, SL_T_ALLOC, &(struct sl_alloc_row) { .node = 1, .cores = 8 });
	row.places.count = 2;
	sl_builder_append(b->builder, SL_T_HELD, &row);
	build_open(b);
	assert_int_equal(b->snap.held.rows, 1);
	build_change(b, SL_T_ALLOC, row.places.first + 1, sl_alloc_row, .node = 0);
	expect_refused(b, "the place held for job 7 has node n0 behind n0");
	build_change(b, SL_T_ALLOC, row.places.first + 1, sl_alloc_row, .node = 1);
	build_change(b, SL_T_HELD, 0, sl_held_row, .job = build_job_row(b, 1));
	expect_refused(b, "held[0]: job 1 is RUNNING, expected PENDING");
	build_change(b, SL_T_HELD, 0, sl_held_row, .job = build_job_row(b, 7));
	row.places.count = 0;
	sl_builder_append(b->builder, SL_T_HELD, &row);
	expect_refused(b, "held.job");
	build_destroy(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_are_stopped_for_one_whose_place_is_held),
		cmocka_unit_test(nobody_is_stopped_twice_or_in_a_run_that_is_over),
		cmocka_unit_test(only_who_may_be_preempted_is_stopped),
		cmocka_unit_test(a_job_is_stopped_no_harder_than_slurm_would),
		cmocka_unit_test(what_is_held_has_a_place_a_time_and_a_price),
		cmocka_unit_test(what_is_released_needs_no_place),
		cmocka_unit_test(who_loses_its_place_stops_nobody),
		cmocka_unit_test(held_places_are_of_jobs_that_wait_and_on_nodes_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
