/* SPDX-License-Identifier: MIT */
/*
 * The rules by which running jobs are stopped for others, one by one; and what becomes of the place that is held.
 */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "check/check.h"
#include "model/preempt.h"
#include "model/prospect.h"
#include "t/model/four_nodes.h"

static void those_who_lose_least_are_stopped_and_the_place_is_held(void **state)
{
	struct desk d = sit_at(four_nodes(2));
	struct asked a = ask(&d, 7, NULL);

	(void) state;
	assert_int_equal(a.rc, 1);
	assert_int_equal(a.victims, 2);
	assert_int_equal(a.id[0] + a.id[1], 3);
	assert_int_equal(a.answer.verdict, SL_VERDICT_OPTIMAL);
	/* ten and twenty minutes of eight cores, and a minute for each to end */
	assert_true(fabs(a.answer.cost - 8 * (10 + 20 + 2) / 60.) < 1e-9);
	assert_int_equal(a.answer.start, BUILD_NOW + 1);
	assert_string_equal(where(&d, 7), "n0:8 n1:8");
	accepted(&d);
	assert_int_equal(d.plan.hold.rows, 1);
	assert_int_equal(d.plan.hold.until[0], BUILD_NOW + 1 + SL_PREEMPT_HOLD_S);
	assert_int_equal(d.plan.stop.rows, 2);
	assert_int_equal(d.plan.reserve.rows, 1);
	assert_int_equal(d.plan.reserve.native[0], 0);
	leave(&d);
}

static void it_is_said_what_would_still_be_missing(void **state)
{
	struct build *b = four_nodes(4);
	struct desk d;
	struct asked a;

	(void) state;
	build_change_job(b, 2, .preempt_mode = SL_STOP_NONE);
	d = sit_at(b);
	a = ask(&d, 7, NULL);
	assert_int_equal(a.rc, 0);
	assert_int_equal(a.answer.verdict, SL_VERDICT_IMPOSSIBLE);
	assert_string_equal(sl_refusal_text(&d.why), "needs 4 nodes, 3 are free, even without the 3 jobs that may be stopped for it");
	leave(&d);
}

static int cost_says(void *arg, uint32_t victim, uint32_t job, double *cost, struct sl_error *err)
{
	(void) victim;
	(void) job;
	(void) err;
	*cost = *(const double *) arg;
	return 0;
}

static void costs_that_are_no_numbers_are_refused_with_both_jobs(void **state)
{
	static double wrong[] = { NAN, INFINITY, -1, 2e15 };
	struct sl_preempt_terms terms = { .wait_price = -1, .cost = cost_says };
	struct desk d = sit_at(four_nodes(1));

	(void) state;
	for (size_t i = 0; i < 4; i++) {
		terms.arg = &wrong[i];
		assert_int_equal(ask(&d, 7, &terms).rc, -1);
		assert_non_null(strstr(d.err.text, "preempt: job 7: stopping job 1 costs "));
		encode(&d, false);
		assert_int_equal(d.plan.stop.rows, 0);
	}
	leave(&d);
}

static void to_wait_is_compared_with_to_stop(void **state)
{
	struct sl_preempt_terms terms = { .wait_price = 1 };
	struct build *b = four_nodes(1);
	struct desk d;
	struct asked a;

	(void) state;
	build_change_job(b, 4, .end_time = BUILD_NOW + 240);
	d = sit_at(b);
	a = ask(&d, 7, &terms);
	assert_int_equal(a.rc, 0);
	assert_true(a.answer.waits);
	assert_int_equal(a.answer.alone, BUILD_NOW + 240);
	assert_string_equal(sl_refusal_text(&d.why), "starts in 240 s by itself: to wait costs 0.06639, to stop others 1.467");
	assert_int_equal(encode(&d, false)->stop.rows, 0);
	terms.wait_price = 100;
	assert_int_equal(ask(&d, 7, &terms).rc, 1);
	leave(&d);
}

static void no_more_are_stopped_than_may_be(void **state)
{
	struct sl_preempt_terms terms = { .wait_price = -1, .max_victims = 1 };
	struct build *b = build_create("2x8c");
	struct desk d;

	(void) state;
	/* two cheap halves of one node, or the whole of the other */
	for (uint32_t id = 1; id <= 3; id++) {
		build_running(b, (struct build_job) { .id = id, .first = id == 3, .cores = id == 3 ? 8 : 4, .ends_in = 3600 });
		build_change_job(b, id, .start_time = BUILD_NOW - (id == 3 ? 6000 : 60));
		build_stoppable(b, id, SL_STOP_CANCEL);
	}
	build_pending(b, (struct build_job) { .id = 7, .nodes = 1, .exclusive = true, .limit = 3600 });
	build_may_preempt(b, 7);
	d = sit_at(b);
	assert_int_equal(ask(&d, 7, &terms).id[0], 3);
	leave(&d);
	d = sit_at(four_nodes(2));
	assert_int_equal(ask(&d, 7, &terms).rc, 0);
	assert_string_equal(sl_refusal_text(&d.why), "2 jobs would have to be stopped for it, of at most 1 that may be");
	terms = (struct sl_preempt_terms) { .wait_price = -1, .max_a_cycle = 2 };
	assert_int_equal(ask(&d, 7, &terms).rc, 1);
	leave(&d);
}

static void nobody_stops_in_a_circle(void **state)
{
	struct build *b = four_nodes(1);
	struct desk d;

	(void) state;
	note_stopped(b, 7, 1, 7200);
	note_stopped(b, 1, 2, 7300);
	d = sit_at(b);
	assert_int_equal(ask(&d, 7, NULL).id[0], 3);
	accepted(&d);
	leave(&d);
}

/* (Of one place two are told to end, a second apart.) */
static void a_place_that_failed_is_replaced_once(void **state)
{
	struct build *b = four_nodes(1);
	struct desk d;

	(void) state;
	note_stopped(b, 5, 7, 101);
	note_stopped(b, 6, 7, 100);
	d = sit_at(b);
	assert_int_equal(ask(&d, 7, NULL).rc, 1);
	accepted(&d);
	leave(&d);
}

static void after_two_that_failed_it_takes_a_while(void **state)
{
	struct build *b = four_nodes(1);
	struct desk d;

	(void) state;
	note_stopped(b, 4, 7, 700);
	note_stopped(b, 5, 7, 100);
	d = sit_at(b);
	assert_int_equal(ask(&d, 7, NULL).rc, 0);
	assert_string_equal(sl_refusal_text(&d.why),
			    "others were stopped for it and the place was not had: again in 200 s at the earliest");
	leave(&d);
	b = four_nodes(1);
	note_stopped(b, 4, 7, 700);
	note_stopped(b, 5, 7, 301);
	d = sit_at(b);
	assert_int_equal(ask(&d, 7, NULL).rc, 1);
	leave(&d);
}

/* An array's waiting record has the id that the task before had when others were stopped for it; a job that was requeued has its own. */
static void a_place_on_which_the_job_has_started_is_none_that_failed(void **state)
{
	struct build *b = four_nodes(1);
	struct desk d;

	(void) state;
	note_stopped_before(b, 5, 7, 100, true);
	note_stopped_before(b, 6, 7, 90, true);
	d = sit_at(b);
	assert_int_equal(ask(&d, 7, NULL).rc, 1);
	accepted(&d);
	leave(&d);
	b = four_nodes(1);
	note_stopped_before(b, 4, 7, 300, true);
	note_stopped(b, 5, 7, 200);
	note_stopped(b, 6, 7, 100);
	d = sit_at(b);
	assert_int_equal(ask(&d, 7, NULL).rc, 0);
	assert_string_equal(sl_refusal_text(&d.why),
			    "others were stopped for it and the place was not had: again in 200 s at the earliest");
	leave(&d);
}

/* Of each job of a random list of stops: the same as a walk over the list finds. */
static void how_long_nobody_is_stopped_is_what_the_list_of_stops_says(void **state)
{
	uint64_t seed = 7;

	(void) state;
	for (int round = 0; round < 200; round++) {
		struct build *b = four_nodes(1);
		int64_t last = 0, time[12];
		uint32_t places = 0, n = build_below(&seed, 12);
		bool counts[12];
		struct desk d;

		for (uint32_t i = 0; i < n; i++) {
			uint32_t whose = 6 + build_below(&seed, 3), ago = build_below(&seed, 6) * 700 + 1;
			bool started = build_below(&seed, 3) == 0, again = false;

			note_stopped_before(b, 10 + i, whose, ago, started);
			time[i] = BUILD_NOW - (int64_t) ago;
			counts[i] = whose == 7 && !started && ago < 3600;
			for (uint32_t k = 0; k < i; k++)
				again |= counts[k] && time[k] == time[i];
			if (!counts[i])
				continue;
			places += !again;
			last = time[i] > last ? time[i] : last;
		}
		d = sit_at(b);
		if (places > 1 && last + SL_PREEMPT_RETRY_S * (int64_t) (places - 1) > BUILD_NOW) {
			char text[120];

			snprintf(text, sizeof(text), "others were stopped for it and the place was not had: again in %lld s at the earliest",
				 (long long) (last + SL_PREEMPT_RETRY_S * (int64_t) (places - 1) - BUILD_NOW));
			assert_int_equal(ask(&d, 7, NULL).rc, 0);
			assert_string_equal(sl_refusal_text(&d.why), text);
		} else {
			assert_int_equal(ask(&d, 7, NULL).rc, 1);
		}
		leave(&d);
	}
}

static void of_a_user_or_an_hour_only_so_many_are_stopped(void **state)
{
	struct sl_preempt_terms terms = { .wait_price = -1, .max_an_hour = 2 };
	struct build *b = four_nodes(1);
	struct desk d;

	(void) state;
	note_stopped(b, 5, 6, 100);
	note_stopped(b, 6, 9, 3500);
	build_change_job(b, 1, .user = sl_builder_str(b->builder, "u"));
	d = sit_at(b);
	assert_int_equal(ask(&d, 7, &terms).rc, 0);
	terms = (struct sl_preempt_terms) { .wait_price = -1, .max_of_user = 2 };
	assert_int_equal(ask(&d, 7, &terms).id[0], 2);
	leave(&d);
}

static void a_plan_takes_back_what_is_not_wanted_after_all(void **state)
{
	struct desk d = sit_at(four_nodes(2));

	(void) state;
	assert_int_equal(ask(&d, 7, NULL).rc, 1);
	assert_int_equal(sl_cluster_end(d.c, row(&d, 1)), BUILD_NOW + 1);
	assert_int_equal(sl_plan_undo(d.p, row(&d, 7), &d.err), 0);
	assert_int_equal(sl_cluster_end(d.c, row(&d, 1)), BUILD_NOW + 3600);
	accepted(&d);
	assert_int_equal(d.plan.stop.rows + d.plan.hold.rows + d.plan.reserve.rows, 0);
	assert_int_equal(reserve(&d, 8), 1);
	assert_int_equal(d.at, 3600);
	accepted(&d);
	leave(&d);
}

static void grace_time_is_waited_for(void **state)
{
	struct build *b = four_nodes(1);
	struct desk d;
	struct asked a;

	(void) state;
	build_change_job(b, 1, .grace_time = 120, build_r_.safe_until = BUILD_NOW + 120);
	for (uint32_t id = 2; id <= 4; id++)
		build_change_job(b, id, .grace_time = 30, build_r_.safe_until = BUILD_NOW + 30);
	d = sit_at(b);
	a = ask(&d, 7, NULL);
	assert_int_equal(a.answer.start, BUILD_NOW + 120);
	accepted(&d);
	leave(&d);
}

static void the_long_grace_time_of_one_does_not_make_the_job_wait(void **state)
{
	struct build *b = four_nodes(1);
	struct desk d;
	struct asked a;

	(void) state;
	/* when it is over, the others have ended by themselves */
	build_change_job(b, 1, .grace_time = 7200, build_r_.safe_until = BUILD_NOW + 7200);
	d = sit_at(b);
	a = ask(&d, 7, NULL);
	assert_int_equal(a.rc, 1);
	assert_int_equal(a.id[0], 2);
	assert_int_equal(a.answer.start, BUILD_NOW + 1);
	accepted(&d);
	leave(&d);
}

static void who_is_not_allowed_to_preempt_stops_nobody(void **state)
{
	struct desk d = sit_at(four_nodes(1));

	(void) state;
	assert_int_equal(ask(&d, 8, NULL).rc, 0);
	assert_string_equal(sl_refusal_text(&d.why), "Slurm does not let it preempt others");
	leave(&d);
}

/* -- what the search may cost, and what may fail ------------------------------------ */

static void without_enough_work_nobody_is_stopped_and_it_is_said(void **state)
{
	static double nothing = 0;
	struct sl_preempt_terms terms = { .wait_price = -1, .most_work = 1, .cost = cost_says, .arg = &nothing };
	struct desk d = sit_at(four_nodes(2));
	struct asked a = ask(&d, 7, &terms);

	(void) state;
	assert_int_equal(a.rc, 0);
	assert_int_equal(a.answer.verdict, SL_VERDICT_UNPROVEN);
	assert_string_equal(sl_refusal_text(&d.why), "whom of 4 jobs to stop for it was not found in the time there is");
	assert_int_equal(ask(&d, 7, NULL).rc, 1);	/* and the plan is as before */
	accepted(&d);
	leave(&d);
}

/* Every verb, from within the question. */
static int decides_meanwhile(void *arg, uint32_t victim, uint32_t job, struct sl_error *err)
{
	struct desk *d = arg;
	const struct sl_preempt_terms plain = { .wait_price = -1 };
	struct sl_preempt_answer answer;
	struct sl_prospect prospect;
	struct sl_entry other = entry(d, 8);
	int64_t at;

	(void) victim;
	(void) job;
	(void) err;
	for (int i = 0; i < 2; i++, other = entry(d, 7)) {
		assert_int_equal(sl_plan_start(d->p, other, NULL, NULL, NULL), -1);
		assert_int_equal(sl_plan_backfill(d->p, other, NULL, NULL, NULL), -1);
		assert_int_equal(sl_plan_reserve(d->p, other, NULL, &at, NULL, NULL), -1);
		assert_int_equal(sl_plan_earliest(d->p, other, NULL, &at, NULL, NULL), -1);
		assert_int_equal(sl_plan_preempt(d->p, other, &plain, &answer, NULL), -1);
		sl_preempt_answer_free(&answer);
		assert_int_equal(sl_plan_undo(d->p, other.job, NULL), -1);
		assert_int_equal(sl_plan_prospect(d->p, other, &prospect, NULL), -1);
		assert_int_equal(sl_plan_refuse_hopeless(d->p, other, NULL), 0);
		assert_int_equal(sl_plan_refuse(d->p, other.job, SL_WHY_POLICY, "no", NULL), -1);
		assert_int_equal(sl_plan_use_blocked(d->p, other.job, true, NULL), -1);
	}
	return 1;
}

static void nothing_is_decided_while_it_is_asked_whom_to_stop(void **state)
{
	struct desk d = sit_at(four_nodes(1));
	struct sl_preempt_terms terms = { .wait_price = -1, .may = decides_meanwhile, .arg = &d };

	(void) state;
	assert_int_equal(reserve(&d, 8), 1);
	assert_int_equal(ask(&d, 7, &terms).rc, 1);
	accepted(&d);
	assert_int_equal(d.plan.stop.rows, 1);
	assert_int_equal(sl_plan_undo(d.p, row(&d, 7), &d.err), 0);
	/* one that has a reservation already: that is lifted meanwhile */
	assert_int_equal(reserve(&d, 7), 1);
	assert_int_equal(ask(&d, 7, &terms).rc, 1);
	accepted(&d);
	leave(&d);
}

static int fails(void *arg, uint32_t victim, uint32_t job, struct sl_error *err)
{
	(void) victim;
	(void) job;
	return sl_fail(err, *(const int *) arg, "that is broken");
}

static void a_fault_of_the_planner_costs_one_job(void **state)
{
	int code = SL_EINVAL;
	struct sl_preempt_terms terms = { .wait_price = -1, .may = fails, .arg = &code };
	struct build *b = four_nodes(1);
	struct desk d;

	(void) state;
	build_pending(b, (struct build_job) { .id = 9, .nodes = 1, .exclusive = true, .limit = 3600 });
	build_may_preempt(b, 9);
	d = sit_at(b);
	assert_int_equal(ask(&d, 7, &terms).rc, 0);
	assert_int_equal(ask(&d, 7, NULL).rc, 0);	/* it is left out for a while */
	assert_int_equal(ask(&d, 9, NULL).rc, 1);
	code = SL_ESCRIPT;
	assert_int_equal(ask(&d, 9, &terms).rc, 1);	/* its place is held */
	accepted(&d);
	leave(&d);
	d = sit_at(four_nodes(1));
	assert_int_equal(ask(&d, 7, &terms).rc, -1);	/* what a policy raised is the policy's */
	leave(&d);
}

static void one_set_is_of_no_more_of_a_user_or_partition_than_may_be(void **state)
{
	struct sl_preempt_terms terms = { .wait_price = -1, .max_of_user = 1 };
	struct build *b = four_nodes(2);
	struct desk d;
	struct asked a;

	(void) state;
	for (uint32_t id = 1; id <= 4; id++)
		build_change_job(b, id, .user = sl_builder_str(b->builder, "ada"));
	d = sit_at(b);
	a = ask(&d, 7, &terms);
	assert_int_equal(a.rc, 0);
	assert_int_equal(a.answer.verdict, SL_VERDICT_UNPROVEN);
	assert_string_equal(sl_refusal_text(&d.why), "2 jobs of user ada would have to be stopped for it, of at most 1 that may be");
	terms = (struct sl_preempt_terms) { .wait_price = -1, .max_of_partition = 1 };
	assert_int_equal(ask(&d, 7, &terms).rc, 0);
	assert_non_null(strstr(sl_refusal_text(&d.why), "2 jobs of partition "));
	terms = (struct sl_preempt_terms) { .wait_price = -1, .max_of_partition = 2, .max_of_user = 2 };
	assert_int_equal(ask(&d, 7, &terms).rc, 1);
	accepted(&d);
	leave(&d);
}

static void for_an_array_of_which_a_task_starts_nobody_is_stopped_yet(void **state)
{
	struct build *b = build_create("2x8c");
	struct desk d;

	(void) state;
	build_running(b, (struct build_job) { .id = 1, .first = 0, .ends_in = 3600 });
	build_stoppable(b, 1, SL_STOP_CANCEL);
	build_pending(b, (struct build_job) { .id = 7, .nodes = 1, .exclusive = true, .limit = 3600 });
	build_change_job(b, 7, .array_job_id = 7, build_r_.array_pending = 3);
	build_may_preempt(b, 7);
	d = sit_at(b);
	assert_int_equal(start(&d, 7), 1);
	assert_int_equal(ask(&d, 7, NULL).rc, 0);
	assert_string_equal(sl_refusal_text(&d.why), "a task of it starts now: others are stopped for the next one later");
	accepted(&d);
	assert_int_equal(d.plan.stop.rows, 0);
	leave(&d);
}

static void who_is_suspended_keeps_its_licences(void **state)
{
	struct sl_license_row lic = { .total = 4, .used = 2 };
	struct build *b = build_create("3x8c");
	struct desk d;

	(void) state;
	lic.name = sl_builder_str(b->builder, "matlab");
	sl_builder_append(b->builder, SL_T_LICENSE, &lic);
	build_running(b, (struct build_job) { .id = 1, .first = 0, .ends_in = 3600 });
	build_change_job(b, 1, .licenses = build_license(b, 0, 2));
	build_stoppable(b, 1, SL_STOP_SUSPEND);
	build_running(b, (struct build_job) { .id = 2, .first = 1, .ends_in = 3600 });
	build_running(b, (struct build_job) { .id = 3, .first = 2, .cores = 4, .ends_in = 3600 });
	build_pending(b, (struct build_job) { .id = 7, .nodes = 1, .exclusive = true, .limit = 3600 });
	build_may_preempt(b, 7);
	build_pending(b, (struct build_job) { .id = 8, .nodes = 1, .limit = 60 });
	build_change_job(b, 8, .licenses = build_license(b, 0, 2));
	d = sit_at(b);
	assert_int_equal(ask(&d, 7, NULL).rc, 1);
	assert_int_equal(sl_plan_undo(d.p, row(&d, 7), &d.err), 0);
	assert_int_equal(start(&d, 8), 1);
	accepted(&d);
	leave(&d);
}

static void the_checker_refuses_to_suspend_who_keeps_memory(void **state)
{
	struct build *b = four_nodes(1);
	struct desk d;

	(void) state;
	build_change_job(b, 1, .preempt_mode = SL_STOP_SUSPEND);
	d = sit_at(b);
	assert_int_equal(ask(&d, 7, NULL).id[0], 1);
	accepted(&d);
	build_change_job(b, 1, .safe_until = 0);
	build_open(b);
	assert_int_equal(sl_check_plan(&b->snap, &d.plan, &d.err), -1);
	assert_non_null(strstr(d.err.text, "job 1, which is stopped for it, would be suspended, and keeps memory or gres"));
	leave(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_who_lose_least_are_stopped_and_the_place_is_held),
		cmocka_unit_test(it_is_said_what_would_still_be_missing),
		cmocka_unit_test(costs_that_are_no_numbers_are_refused_with_both_jobs),
		cmocka_unit_test(to_wait_is_compared_with_to_stop),
		cmocka_unit_test(no_more_are_stopped_than_may_be),
		cmocka_unit_test(nobody_stops_in_a_circle),
		cmocka_unit_test(a_place_that_failed_is_replaced_once),
		cmocka_unit_test(after_two_that_failed_it_takes_a_while),
		cmocka_unit_test(a_place_on_which_the_job_has_started_is_none_that_failed),
		cmocka_unit_test(how_long_nobody_is_stopped_is_what_the_list_of_stops_says),
		cmocka_unit_test(of_a_user_or_an_hour_only_so_many_are_stopped),
		cmocka_unit_test(a_plan_takes_back_what_is_not_wanted_after_all),
		cmocka_unit_test(grace_time_is_waited_for),
		cmocka_unit_test(the_long_grace_time_of_one_does_not_make_the_job_wait),
		cmocka_unit_test(who_is_not_allowed_to_preempt_stops_nobody),
		cmocka_unit_test(without_enough_work_nobody_is_stopped_and_it_is_said),
		cmocka_unit_test(nothing_is_decided_while_it_is_asked_whom_to_stop),
		cmocka_unit_test(a_fault_of_the_planner_costs_one_job),
		cmocka_unit_test(one_set_is_of_no_more_of_a_user_or_partition_than_may_be),
		cmocka_unit_test(for_an_array_of_which_a_task_starts_nobody_is_stopped_yet),
		cmocka_unit_test(who_is_suspended_keeps_its_licences),
		cmocka_unit_test(the_checker_refuses_to_suspend_who_keeps_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
