/* SPDX-License-Identifier: MIT */
/*
 * When jobs end whose time is up, when nodes are free that are completing, being powered down or rebooted: a job that
 * needs all nodes is promised that time, the checker allows it then and not before, and small ones start meanwhile.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "check/check.h"
#include "t/model/desk.h"

/* Two nodes, of which the first is held by job 1 in some way; job 2 wants both, job 3 one for a minute. */
static struct build *two_nodes(int64_t end)
{
	struct build *b = build_create("2x4c");

	build_running(b, (struct build_job) { .id = 1, .ends_in = 1 });
	build_change_job(b, 1, .start_time = BUILD_NOW - 9000);
	build_change_job(b, 1, .end_time = BUILD_NOW + end);
	build_change_job(b, 1, .time_limit = 600);
	build_pending(b, (struct build_job) { .id = 2, .nodes = 2, .exclusive = true, .limit = 3600 });
	build_pending(b, (struct build_job) { .id = 3, .nodes = 1, .exclusive = true, .limit = 60 });
	return b;
}

/* When job 2 is promised its nodes, in seconds; SL_UNLIMITED: never.  A plan that has it a second sooner is refused. */
static int64_t promised(struct build *b)
{
	struct desk d = sit(b);
	int64_t at = reserve(&d, 2) ? d.at : SL_UNLIMITED;

	assert_int_equal(backfill(&d, 3), at == SL_UNLIMITED || at >= 60);
	accepted(&d);
	for (uint32_t i = 0; i < d.plan.reserve.rows; i++) {
		if (at == SL_UNLIMITED || !at)
			continue;
		((int64_t *) d.plan.reserve.start_time)[i]--;
		assert_int_equal(sl_check_plan(&d.b->snap, &d.plan, &d.err), -1);
	}
	leave(&d);
	return at;
}

static void a_job_whose_time_is_up_is_expected_to_have_its_over_time(void **state)
{
	struct build *b;

	(void) state;
	assert_int_equal(promised(two_nodes(100)), 100);
	assert_int_equal(promised(two_nodes(-10)), 20);			/* KillWait */
	b = two_nodes(-10);
	b->meta.kill_wait = 100;
	assert_int_equal(promised(b), 90);
	b = two_nodes(-10);
	b->meta.over_time_limit = 600;
	assert_int_equal(promised(b), 620);
	b = two_nodes(-10);
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .over_time_limit = 1200);
	assert_int_equal(promised(b), 1220);
	b = two_nodes(-10);
	b->meta.over_time_limit = 600;
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .over_time_limit = 0);
	assert_int_equal(promised(b), 20);
	b = two_nodes(-10);
	b->meta.over_time_limit = SL_UNLIMITED;
	assert_int_equal(promised(b), 590);				/* its time limit once more */
}

/* Job 1 runs on one of two nodes; job 2 waits for both. */
static int64_t promised_softly(int64_t end, int64_t ran, int64_t time_min)
{
	struct build *b = two_nodes(end);

	b->meta.select_flags |= SL_SELECT_SOFT_LIMIT;
	build_change_job(b, 1, .start_time = BUILD_NOW - ran);
	build_change_job(b, 1, .time_min = time_min);
	return promised(b);
}

static void where_time_min_is_a_soft_limit_a_job_is_expected_to_run_for_that(void **state)
{
	(void) state;
	assert_int_equal(promised_softly(3600, 100, 700), 600);
	assert_int_equal(promised_softly(3600, 100, 0), 3600);
	assert_int_equal(promised_softly(3600, 100, 36000), 3600);	/* its limit was shortened */
	assert_int_equal(promised_softly(3600, 701, 700), 1800);	/* half of the rest */
	assert_int_equal(promised_softly(-10, 3600, 700), 20);		/* that is over, too */
}

/* Job 3 is to start beside job 2, which can start in 700 s. */
static void where_time_min_is_a_soft_limit_a_job_is_booked_for_that_and_keeps_its_limit(void **state)
{
	static const struct { uint32_t flags; int64_t time_min, limit, expected; } cases[] = {
		{ 0, 600, 660, 0 }, { SL_SELECT_SOFT_LIMIT, 600, 0, 600 }, { SL_SELECT_SOFT_LIMIT, 660, 0, 660 },
	};

	(void) state;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct build *b = two_nodes(700);
		struct desk d;

		b->meta.select_flags |= cases[i].flags;
		build_change_job(b, 3, .time_limit = 7200);
		build_change_job(b, 3, .time_min = cases[i].time_min);
		d = sit(b);
		assert_int_equal(reserve(&d, 2), 1);
		assert_int_equal(backfill(&d, 3), 1);
		accepted(&d);
		assert_int_equal(d.plan.start.time_limit[0], cases[i].limit);
		assert_int_equal(d.plan.start.expected[0], cases[i].expected);
		leave(&d);
	}
}

static void a_job_that_outlasts_that_is_expected_to_go_on_for_as_long_again(void **state)
{
	(void) state;
	assert_int_equal(promised(two_nodes(-30)), SL_OVERDUE_S);
	assert_int_equal(promised(two_nodes(-31)), 1);
	assert_int_equal(promised(two_nodes(-90)), 60);
	assert_int_equal(promised(two_nodes(-1000)), 970);
	assert_int_equal(promised(two_nodes(-BUILD_NOW + 1)), BUILD_NOW - 31);
}

static struct build *completing(int64_t end)
{
	struct build *b = two_nodes(end);

	build_change_job(b, 1, .state = SL_JOB_TIMEOUT);
	build_change_job(b, 1, .flags = SL_JOBF_COMPLETING);
	build_change(b, SL_T_NODE, 0, sl_node_row, .state = SL_NODE_COMPLETING);
	return b;
}

static void a_job_that_is_cleaned_up_for_long_takes_as_long_again_and_then_hangs(void **state)
{
	struct build *b;

	(void) state;
	assert_int_equal(promised(completing(0)), SL_OVERDUE_S);
	assert_int_equal(promised(completing(5)), SL_OVERDUE_S);	/* the clock was set back */
	assert_int_equal(promised(completing(-20)), 20);
	assert_int_equal(promised(completing(-90)), 90);
	assert_int_equal(promised(completing(-91)), SL_UNLIMITED);	/* KillWait and UnkillableStepTimeout are over */
	b = completing(-91);
	b->meta.unkillable_timeout = 300;
	assert_int_equal(promised(b), 91);
	b = completing(-60);
	b->meta.kill_wait = b->meta.unkillable_timeout = 0;
	assert_int_equal(promised(b), 60);
	b = completing(-61);
	b->meta.kill_wait = b->meta.unkillable_timeout = 0;
	assert_int_equal(promised(b), SL_UNLIMITED);
}

static void users_read_which_node_hangs(void **state)
{
	struct build *b = completing(-500);
	struct desk d;

	(void) state;
	build_change_job(b, 3, .req_nodes = build_nodes(b, 0, 0));
	d = sit(b);
	assert_int_equal(start(&d, 3), 0);
	assert_int_equal(d.why.why, SL_WHY_NODES_DOWN);
	assert_string_equal(sl_refusal_text(&d.why),
			    "requires node n0, which is still completing a job that should have been gone by now");
	assert_int_equal(reserve(&d, 2), 0);
	assert_int_equal(d.why.why, SL_WHY_NODES_DOWN);
	assert_string_equal(sl_refusal_text(&d.why), "1 node is down or drained, or hangs, needs more than are left");
	leave(&d);
}

/* -- nodes that are on their way ----------------------------------------- */

/* The first of two idle nodes is in that state since so many seconds ago. */
static struct build *powered(uint32_t state, int64_t ago)
{
	struct build *b = build_create("2x4c");

	build_change(b, SL_T_NODE, 0, sl_node_row, .state = state);
	build_change(b, SL_T_NODE, 0, sl_node_row, .power_time = BUILD_NOW - ago);
	build_change(b, SL_T_NODE, 0, sl_node_row, .resume_timeout = 300);
	build_change(b, SL_T_NODE, 0, sl_node_row, .suspend_timeout = 100);
	build_pending(b, (struct build_job) { .id = 2, .nodes = 2, .exclusive = true, .limit = 3600 });
	build_pending(b, (struct build_job) { .id = 3, .nodes = 1, .exclusive = true, .limit = 60 });
	return b;
}

static void a_node_is_free_when_it_is_down_or_has_rebooted(void **state)
{
	struct build *b;

	(void) state;
	assert_int_equal(promised(powered(SL_NODE_POWERING_DOWN, 10)), 90);
	assert_int_equal(promised(powered(SL_NODE_POWERING_DOWN, 160)), 60);	/* overdue */
	assert_int_equal(promised(powered(SL_NODE_REBOOT_ISSUED, 10)), 290);
	assert_int_equal(promised(powered(SL_NODE_REBOOT_ISSUED, -50)), 300);	/* the clock was set back */
	assert_int_equal(promised(powered(SL_NODE_REBOOT_ISSUED, 301)), SL_UNLIMITED);
	b = powered(SL_NODE_REBOOT_REQUESTED, 10);
	build_running(b, (struct build_job) { .id = 1, .ends_in = 1000 });
	assert_int_equal(promised(b), 1300);
}

static void a_node_that_boots_too_long_is_named_and_holds_nobody_up(void **state)
{
	struct build *b = powered(SL_NODE_POWERING_UP, 301);
	struct desk d;

	(void) state;
	build_change_job(b, 3, .req_nodes = build_nodes(b, 0, 0));
	build_pending(b, (struct build_job) { .id = 4, .nodes = 1, .limit = 9000 });
	d = sit(b);
	assert_int_equal(start(&d, 3), 0);
	assert_string_equal(sl_refusal_text(&d.why),
			    "requires node n0, which is not up although its ResumeTimeout has passed");
	assert_int_equal(reserve(&d, 2), 0);
	assert_int_equal(backfill(&d, 4), 1);
	assert_string_equal(where(&d, 4), "n1:1");
	accepted(&d);
	leave(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_whose_time_is_up_is_expected_to_have_its_over_time),
		cmocka_unit_test(where_time_min_is_a_soft_limit_a_job_is_expected_to_run_for_that),
		cmocka_unit_test(where_time_min_is_a_soft_limit_a_job_is_booked_for_that_and_keeps_its_limit),
		cmocka_unit_test(a_job_that_outlasts_that_is_expected_to_go_on_for_as_long_again),
		cmocka_unit_test(a_job_that_is_cleaned_up_for_long_takes_as_long_again_and_then_hangs),
		cmocka_unit_test(users_read_which_node_hangs),
		cmocka_unit_test(a_node_is_free_when_it_is_down_or_has_rebooted),
		cmocka_unit_test(a_node_that_boots_too_long_is_named_and_holds_nobody_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
