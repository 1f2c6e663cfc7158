/* SPDX-License-Identifier: MIT */
/*
 * Forecasts that are made during a simulation, compared with the starts that follow.
 *
 * The simulator decides without calling the policy if a rule says what the policy would do.  This must not change a forecast.
 * Therefore random logs are simulated twice, once with the policy wrapped so that it is called at each instant, and both runs have
 * to make the same forecasts.  SL_SEED is the first seed, SL_ROUNDS the number of logs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/forecast.h"
#include "sim/trial.h"
#include "t/random.h"
#include "t/scratch.h"

struct trial {
	const char *workload, *machine, *policy;
	bool asks_each_time;		/* the policy is wrapped, so that the simulator cannot decide in its place */
	bool at_submission, stays;	/* stays: jobs outstay their walltimes */
	uint32_t every;
};

static struct sl_hindsights look_back(const struct trial *x, struct sl_calibrator *c)
{
	char lua[256];
	struct sl_bundle_text text = { "wrapped", lua };
	struct sl_hindsights h = { .every = x->every, .at_submission = x->at_submission, .calibrator = c,
				   .opt = { .draws = 10, .seed = 3 } };
	struct sl_trial_options opt = { .workload = x->workload, .workload_options = { .machine = x->machine,
			.overrun = x->stays ? SL_OVERRUN_STAYS : SL_OVERRUN_ENDS },
		.source = { .policy = x->asks_each_time ? "wrapped" : x->policy, .text = &text, .texts = 1 },
		.sim = { .keep_schedule = true, .after_pass = sl_hindsights_after_pass, .after_pass_arg = &h,
			 .wants_plan = x->asks_each_time ? NULL : sl_hindsights_want_plan } };
	struct sl_trial t;
	struct sl_error err = { 0 };

	snprintf(lua, sizeof(lua), "local p = require '%s' return { api = 1, name = 'wrapped', doc = 'asked each time', "
		 "options = p.options, decide = function(...) p.decide(...) end }", x->policy);
	sl_calibrator_begin(c, 0.8);
	if (sl_trial_open(&t, &opt, &err))
		fail_msg("%s", err.text);
	h.sim = t.sim;
	h.opt.script = sl_script_create(t.bundle, &t.limits, &err);
	assert_non_null(h.opt.script);
	if (sl_trial_go(&t, false, &err))
		fail_msg("%s: %s", x->policy, err.text);
	sl_hindsights_finish(&h);
	sl_script_destroy(h.opt.script);
	sl_trial_close(&t);
	return h;
}

static struct sl_hindsights look_back_on_easy(const char *workload, struct sl_calibrator *c)
{
	return look_back(&(struct trial) { .workload = workload, .machine = "1x4c", .policy = "easy", .every = 1 }, c);
}

/* Jobs of 4 CPUs, one each 100 s, that run for *first* s, from the 40th on for *then* s. */
static const char *log_of(const char *name, int first, int then)
{
	static char path[96];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.swf", scratch, name);
	f = fopen(path, "w");
	assert_non_null(f);
	for (int i = 0; i < 60; i++)
		fprintf(f, "%d %d 0 %d 4 -1 -1 4 2000 -1 1 7 1 1 1 1 -1 -1\n", i + 1, 100 * i, i < 40 ? first : then);
	assert_int_equal(fclose(f), 0);
	return path;
}

static void nothing_is_known_before_it_happened(void **state)
{
	struct sl_calibrator c;
	struct sl_hindsights one = look_back_on_easy(log_of("one", 150, 100), &c), two = look_back_on_easy(log_of("two", 150, 1900), &c);
	uint32_t same = 0;

	(void) state;
	assert_true(one.waiting > 40 && two.waiting > 40);
	for (uint32_t i = 0; i < 40; i++) {
		const struct sl_hindsight *a = &one.item[i], *b = &two.item[i];

		if (a->at_s != b->at_s || a->at_s >= one.item[0].at_s - 100 + 39 * 150)
			break;
		assert_int_equal(a->job, b->job);
		assert_int_equal(a->told_s, b->told_s);
		assert_int_equal(a->expected.point, b->expected.point);
		assert_int_equal(a->expected.low, b->expected.low);
		assert_int_equal(a->expected.high, b->expected.high);
		same++;
	}
	assert_true(same >= 30);
	sl_hindsights_clear(&one);
	sl_hindsights_clear(&two);
}

static void where_jobs_are_alike_forecasts_are_right_and_reservations_are_not(void **state)
{
	struct sl_calibrator c;
	struct sl_hindsights h = look_back_on_easy(log_of("alike", 150, 150), &c);

	(void) state;
	for (uint32_t i = 10; i < h.waiting; i++) {
		const struct sl_hindsight *x = &h.item[i];

		assert_int_equal(x->at_s + x->expected.point, x->start_s);
		assert_true(x->told_s - x->start_s >= 1000);
	}
	sl_hindsights_clear(&h);
}

/* Some jobs outstay their walltimes, some are wider than the machine. */
static const char *random_log(void)
{
	static char path[96];
	uint32_t jobs = 10 + below(60), span = 1 + below(one_in(3) ? 300 : 100 * jobs);
	int64_t at = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/random.swf", scratch);
	f = fopen(path, "w");
	assert_non_null(f);
	for (uint32_t i = 0; i < jobs; i++) {
		int64_t ran = between(1, one_in(3) ? 30 : 400), limit = ran + (one_in(3) ? 0 : between(one_in(8) ? -40 : 0, 400));
		uint32_t cpus = one_in(30) ? 9 : 1 + below(one_in(4) ? 8 : 4);

		at += below(1 + span / jobs);
		fprintf(f, "%u %lld 0 %lld %u -1 -1 %u %lld -1 1 %u 1 1 1 1 -1 -1\n", i + 1, (long long) at, (long long) ran, cpus, cpus,
			(long long) (limit > 0 ? limit : 1), below(3));
	}
	assert_int_equal(fclose(f), 0);
	return path;
}

static void assert_same(const struct trial *x, const struct sl_hindsights *a, const struct sl_hindsights *b)
{
	if (a->told != b->told || a->count != b->count || a->waiting != b->waiting)
		fail_msg("%s on %s, %d: %u told, %u forecasts, %u started, expected %u, %u, %u", x->policy, x->machine, x->at_submission,
			 a->told, a->count, a->waiting, b->told, b->count, b->waiting);
	for (uint32_t i = 0; i < a->count; i++)
		if (memcmp(&a->item[i], &b->item[i], sizeof(a->item[i])))
			fail_msg("%s on %s, %d: forecast %u of row %u at %lld is %lld, expected row %u at %lld, %lld", x->policy, x->machine,
				 x->at_submission, i, a->item[i].job, (long long) a->item[i].at_s, (long long) a->item[i].expected.point,
				 b->item[i].job, (long long) b->item[i].at_s, (long long) b->item[i].expected.point);
}

static void forecasts_are_those_of_a_policy_that_is_asked_each_time(void **state)
{
	static const char *const policy[] = { "fcfs", "easy", "conservative", "predictive", "critical" };
	static const char *const machine[] = { "1x8c", "1x8c", "2x4c" };
	const uint64_t rounds = rounds_of(40), seed = number_from("SL_SEED", 1);

	(void) state;
	for (uint64_t round = 0; round < rounds; round++) {
		struct sl_calibrator c;
		struct trial x = { .every = 1 };
		struct sl_hindsights fast, asked;

		random_state = failing_seed = seed + round;
		x.workload = random_log();
		x.policy = policy[below(5)];
		x.machine = machine[below(3)];
		x.every = 1 + below(4);
		x.at_submission = one_in(2);
		x.stays = one_in(4);
		fast = look_back(&x, &c);
		x.asks_each_time = true;
		asked = look_back(&x, &c);
		assert_same(&x, &fast, &asked);
		sl_hindsights_clear(&fast);
		sl_hindsights_clear(&asked);
	}
	failing_seed = 0;
}

static int tear_down(void **state)
{
	say_seed(state);
	return scratch_remove(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_known_before_it_happened),
		cmocka_unit_test(where_jobs_are_alike_forecasts_are_right_and_reservations_are_not),
		cmocka_unit_test(forecasts_are_those_of_a_policy_that_is_asked_each_time),
	};

	return cmocka_run_group_tests(tests, scratch_make, tear_down);
}
