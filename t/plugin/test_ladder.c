/* SPDX-License-Identifier: MIT */
/* Who decides a cycle, after what the cycles before it came to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "plugin/host/ladder.h"

#define NOW 1000.0

static void a_plan_of_the_site_decides_even_if_its_time_was_up(void **state)
{
	struct sl_ladder l = { 0 };

	(void) state;
	assert_true(sl_ladder_note(&l, SL_TRY_DECIDED, NOW).decides);
	assert_true(sl_ladder_note(&l, SL_TRY_CUT_SHORT, NOW).decides);
	assert_false(sl_ladder_note(&l, SL_TRY_CUT_SHORT, NOW).failure);
	for (int rung = 0; rung < SL_RUNGS; rung++)
		assert_false(sl_ladder_rests(&l, (enum sl_rung) rung, NOW));
}

static void what_a_failing_policy_had_booked_stands(void **state)
{
	struct sl_ladder l = { 0 };

	(void) state;
	assert_true(sl_ladder_note(&l, SL_TRY_FAILED_LATE, NOW).decides);
	assert_true(sl_ladder_note(&l, SL_TRY_FAILED_IDLE, NOW).decides);
	assert_false(sl_ladder_note(&l, SL_TRY_FAILED, NOW).decides);
	assert_false(sl_ladder_note(&l, SL_TRY_NO_PLAN, NOW).decides);
	assert_int_equal(l.failures, 4);
}

static void three_failures_in_a_row_make_the_site_rest_and_each_further_one_twice_as_long(void **state)
{
	static const double rests[] = { 0, 0, 5, 10, 20, 40, 60, 60, 60, 60, 60, 60, 60 };
	struct sl_ladder l = { 0 };
	double now = NOW;

	(void) state;
	for (unsigned i = 0; i < sizeof(rests) / sizeof(*rests); i++) {
		struct sl_try_end end = sl_ladder_note(&l, i % 2 ? SL_TRY_FAILED : SL_TRY_NO_PLAN, now);

		assert_true(end.failure && end.rests_s == rests[i] && end.log == (i < 3));
		assert_int_equal(sl_ladder_rests(&l, SL_RUNG_SITE, now + rests[i] - 0.1), rests[i] > 0);
		assert_false(sl_ladder_rests(&l, SL_RUNG_SITE, now + rests[i]));
		assert_false(sl_ladder_rests(&l, SL_RUNG_BUNDLED, now));
		now += rests[i];
	}
}

static void who_fails_again_and_again_rests_a_minute_at_most(void **state)
{
	static const double engine[] = { 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60 };

	(void) state;
	for (unsigned n = 0; n < sizeof(engine) / sizeof(*engine); n++)
		assert_true(sl_ladder_rest_s(n, 1) == engine[n]);
	assert_true(sl_ladder_rest_s(UINT32_MAX, 5) == 60);
}

static void a_plan_without_failure_forgives_those_before(void **state)
{
	struct sl_ladder l = { 0 };

	(void) state;
	for (int i = 0; i < 20; i++) {
		assert_true(sl_ladder_note(&l, SL_TRY_FAILED, NOW).rests_s == 0);
		assert_true(sl_ladder_note(&l, SL_TRY_FAILED, NOW).rests_s == 0);
		sl_ladder_note(&l, i % 2 ? SL_TRY_DECIDED : SL_TRY_CUT_SHORT, NOW);
	}
	assert_false(sl_ladder_rests(&l, SL_RUNG_SITE, NOW));
}

static void an_engine_that_rests_is_no_failure_of_the_policies(void **state)
{
	struct sl_ladder l = { .failures = 2 };
	struct sl_try_end end = sl_ladder_note(&l, SL_TRY_NOT_ASKED, NOW);

	(void) state;
	assert_true(!end.decides && !end.failure);
	assert_int_equal(l.failures, 2);
}

static void two_barren_plans_in_a_row_make_the_site_rest_and_four_easy_too(void **state)
{
	struct sl_ladder l = { 0 };
	struct sl_try_end end;

	(void) state;
	assert_false(sl_ladder_note_plan(&l, true, NOW, &end));
	assert_false(sl_ladder_note_plan(&l, false, NOW, &end));
	assert_false(sl_ladder_note_plan(&l, true, NOW, &end));
	assert_false(sl_ladder_rests(&l, SL_RUNG_SITE, NOW));
	assert_true(sl_ladder_note_plan(&l, true, NOW, &end));
	assert_true(end.failure && end.log);
	assert_true(sl_ladder_rests(&l, SL_RUNG_SITE, NOW + 9.9) && !sl_ladder_rests(&l, SL_RUNG_SITE, NOW + 10));
	assert_false(sl_ladder_rests(&l, SL_RUNG_BUNDLED, NOW));
	assert_false(sl_ladder_note_plan(&l, true, NOW + 2, &end));
	assert_true(sl_ladder_note_plan(&l, true, NOW + 3, &end));
	assert_true(sl_ladder_rests(&l, SL_RUNG_BUNDLED, NOW + 12.9) && !sl_ladder_rests(&l, SL_RUNG_BUNDLED, NOW + 13));
	assert_false(sl_ladder_rests(&l, SL_RUNG_PLUGIN, NOW + 3));
	/* and it is counted anew */
	assert_false(sl_ladder_note_plan(&l, true, NOW + 13, &end));
}

static void every_try_is_in_the_table(void **state)
{
	(void) state;
	for (int t = 0; t < SL_TRIES; t++) {
		struct sl_ladder l = { .failures = 1 };
		struct sl_try_end end = sl_ladder_note(&l, (enum sl_try) t, NOW);

		assert_non_null(end.ends);
		assert_int_equal(l.failures, end.failure ? 2 : end.decides ? 0 : 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plan_of_the_site_decides_even_if_its_time_was_up),
		cmocka_unit_test(what_a_failing_policy_had_booked_stands),
		cmocka_unit_test(three_failures_in_a_row_make_the_site_rest_and_each_further_one_twice_as_long),
		cmocka_unit_test(who_fails_again_and_again_rests_a_minute_at_most),
		cmocka_unit_test(a_plan_without_failure_forgives_those_before),
		cmocka_unit_test(an_engine_that_rests_is_no_failure_of_the_policies),
		cmocka_unit_test(two_barren_plans_in_a_row_make_the_site_rest_and_four_easy_too),
		cmocka_unit_test(every_try_is_in_the_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
