/* SPDX-License-Identifier: MIT */
/*
 * Jobs for which others are stopped, beside what else the plan decides.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "check/check.h"
#include "model/preempt.h"
#include "t/model/desk.h"

static int preempt(struct desk *d, uint32_t id, const struct sl_preempt_terms *terms)
{
	struct sl_preempt_answer answer;
	int rc = checked(d, sl_plan_preempt(d->p, entry(d, id), terms, &answer, &d->err));

	d->why = answer.why;
	sl_preempt_answer_free(&answer);
	return rc;
}

/* Job 1 has half of the node, and five minutes of grace; job 7 wants all of it and may preempt, job 8 half of it for a minute. */
static struct desk half_a_node(void)
{
	struct build *b = build_create("1x8c");

	build_running(b, (struct build_job) { .id = 1, .cores = 4, .ends_in = 3600 });
	build_stoppable(b, 1, SL_STOP_CANCEL);
	build_change_job(b, 1, .grace_time = 300, build_r_.safe_until = BUILD_NOW + 300);
	build_pending(b, (struct build_job) { .id = 7, .nodes = 1, .exclusive = true, .limit = 600 });
	build_may_preempt(b, 7);
	for (uint32_t id = 8; id <= 9; id++)
		build_pending(b, (struct build_job) { .id = id, .tasks = 2, .limit = 60 });
	build_open(b);
	return sit(b);
}

static void what_was_started_before_may_be_on_a_place_that_is_held(void **state)
{
	struct desk d = half_a_node();

	(void) state;
	assert_int_equal(start(&d, 8), 1);
	assert_int_equal(start(&d, 9), 1);
	assert_int_equal(preempt(&d, 7, NULL), 1);
	accepted(&d);
	assert_int_equal(d.plan.hold.starts[0], 2);
	assert_int_equal(sl_plan_undo(d.p, row(&d, 8), &d.err), 0);
	accepted(&d);
	assert_int_equal(d.plan.hold.starts[0], 1);
	leave(&d);
	d = half_a_node();
	assert_int_equal(preempt(&d, 7, NULL), 1);
	assert_int_equal(start(&d, 8), 0);
	accepted(&d);
	assert_int_equal(d.plan.hold.starts[0], 0);
	leave(&d);
}

/* Node 0 is held for job 7, whose victim there ends in half a minute; on node 1 a job runs for an hour.  Job 8 would fit before. */
static void a_held_place_whose_reservation_is_undone_is_held_on(void **state)
{
	struct build *b = build_create("2x8c");
	struct sl_held_row h = sl_held_row();
	struct desk d;

	(void) state;
	build_running(b, (struct build_job) { .id = 1, .first = 0, .ends_in = 30 });
	build_running(b, (struct build_job) { .id = 2, .first = 1, .ends_in = 3600 });
	for (uint32_t id = 7; id <= 8; id++)
		build_pending(b, (struct build_job) { .id = id, .nodes = 1, .exclusive = true, .limit = 60 });
	h.job = build_job_row(b, 7);
	h.partition = 0;
	h.since = BUILD_NOW - 20;
	h.until = BUILD_NOW + 500;
	h.places = (struct sl_range) { sl_builder_append(b->builder, SL_T_ALLOC, &(struct sl_alloc_row) { .node = 0, .cores = 8 }), 1 };
	sl_builder_append(b->builder, SL_T_HELD, &h);
	build_open(b);
	d = sit(b);
	assert_int_equal(reserve(&d, 7), 1);
	assert_int_equal(d.at, 30);
	assert_int_equal(sl_plan_undo(d.p, row(&d, 7), &d.err), 0);
	assert_int_equal(reserve(&d, 8), 1);
	assert_int_equal(d.at, 560);	/* when job 7 would be over at the latest */
	accepted(&d);
	leave(&d);
}

/* Jobs 1 and 2 have a node each since half an hour and five hours, two more nodes are asleep, and take ten minutes to boot. */
static struct desk two_asleep(void)
{
	struct build *b = build_create("4x8c");

	for (uint32_t id = 1; id <= 2; id++) {
		build_running(b, (struct build_job) { .id = id, .first = id - 1, .ends_in = 36000 });
		build_change_job(b, id, .start_time = BUILD_NOW - (id == 1 ? 1800 : 18000));
		build_stoppable(b, id, SL_STOP_REQUEUE);
	}
	for (uint32_t n = 2; n < 4; n++)
		build_change(b, SL_T_NODE, n, sl_node_row, .state = SL_NODE_POWERED_DOWN, build_r_.resume_timeout = 600,
			     build_r_.power_time = BUILD_NOW - 4000);
	build_pending(b, (struct build_job) { .id = 7, .nodes = 1, .exclusive = true, .limit = 600 });
	build_may_preempt(b, 7);
	build_open(b);
	return sit(b);
}

static void to_wait_for_nodes_that_boot_has_its_price(void **state)
{
	struct sl_preempt_terms terms = { .wait_price = 10 };
	struct desk d = two_asleep();

	(void) state;
	/* to stop job 1 costs eight cores' half hour and minute, to wait ten minutes at ten core-hours each hour */
	assert_int_equal(preempt(&d, 7, &terms), 0);
	assert_string_equal(sl_refusal_text(&d.why), "its nodes will have booted in 600 s: to wait costs 1.664, to stop others 4.133");
	terms.wait_price = 30;
	assert_int_equal(preempt(&d, 7, &terms), 1);
	assert_string_equal(where(&d, 7), "n0:8");
	accepted(&d);
	assert_int_equal(d.plan.stop.rows, 1);
	leave(&d);
	d = two_asleep();
	terms.wait_price = -1;		/* without a price what is asleep is as good as what is up */
	assert_int_equal(preempt(&d, 7, &terms), 1);
	accepted(&d);
	assert_int_equal(d.plan.stop.rows, 0);
	leave(&d);
}

static int nobody(void *arg, uint32_t victim, uint32_t job, struct sl_error *err)
{
	(void) arg;
	(void) victim;
	(void) job;
	(void) err;
	return 0;
}

/* Node 0 is taken by job 1, which may be preempted at once; job 7 has a reservation there, for which select would preempt it. */
static void who_counts_on_select_is_told_whom_the_plan_would_stop(void **state)
{
	const struct sl_preempt_terms plain = { .wait_price = -1 }, none = { .wait_price = -1, .may = nobody };

	(void) state;
	for (int i = 0; i < 2; i++) {
		struct build *b = build_create("1x8c");
		struct desk d;

		build_running(b, (struct build_job) { .id = 1, .cores = 8, .ends_in = 3600 });
		build_stoppable(b, 1, SL_STOP_REQUEUE);
		build_pending(b, (struct build_job) { .id = 7, .nodes = 1, .exclusive = true, .limit = 600 });
		build_may_preempt(b, 7);
		build_open(b);
		d = sit(b);
		assert_int_equal(reserve(&d, 7), 1);
		assert_int_equal(d.at, 1);
		assert_int_equal(preempt(&d, 7, i ? &none : &plain), !i);
		accepted(&d);
		assert_int_equal(d.plan.stop.rows, !i);
		assert_int_equal(d.plan.reserve.rows, 1);
		assert_int_equal(d.plan.reserve.start_time[0], BUILD_NOW + 1);
		leave(&d);
	}
}

static void for_components_of_heterogeneous_jobs_it_is_said_that_nobody_is_stopped(void **state)
{
	struct build *b = build_create("2x8c");
	struct desk d;

	(void) state;
	build_running(b, (struct build_job) { .id = 1, .cores = 8, .ends_in = 3600 });
	build_running(b, (struct build_job) { .id = 2, .first = 1, .cores = 8, .ends_in = 3600 });
	for (uint32_t id = 1; id <= 2; id++)
		build_stoppable(b, id, SL_STOP_REQUEUE);
	for (uint32_t id = 7; id <= 8; id++) {
		build_pending(b, (struct build_job) { .id = id, .nodes = 1, .exclusive = true, .limit = 600 });
		build_change_job(b, id, .het_job_id = 7, build_r_.het_offset = id - 7);
		build_may_preempt(b, id);
	}
	build_open(b);
	d = sit(b);
	assert_int_equal(preempt(&d, 7, NULL), 0);
	assert_string_equal(sl_refusal_text(&d.why), "for components of heterogeneous jobs others are not stopped by the plan");
	accepted(&d);
	assert_int_equal(d.plan.stop.rows, 0);
	leave(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_started_before_may_be_on_a_place_that_is_held),
		cmocka_unit_test(a_held_place_whose_reservation_is_undone_is_held_on),
		cmocka_unit_test(to_wait_for_nodes_that_boot_has_its_price),
		cmocka_unit_test(who_counts_on_select_is_told_whom_the_plan_would_stop),
		cmocka_unit_test(for_components_of_heterogeneous_jobs_it_is_said_that_nobody_is_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
