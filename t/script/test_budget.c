/* SPDX-License-Identifier: MIT */
/* A set's code runs when it is loaded, tried, searched and asked: on one budget each time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "t/build.h"
#include "base/clock.h"
#include "sandbox/limit.h"
#include "script/decide.h"
#include "script/script.h"

/* A clock on which each look takes a millisecond, beside what really passes. */
static int64_t looks;

int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	int r = __real_clock_gettime(clock, t);

	if (clock == CLOCK_MONOTONIC) {
		int64_t ns = t->tv_nsec + ++looks * 1000000;

		t->tv_sec += ns / 1000000000;
		t->tv_nsec = ns % 1000000000;
	}
	return r;
}

/* The budgets on which something ran. */
static int64_t granted[20];
static unsigned grants;

int __real_sl_limit_arm(struct sl_limit *limit, int64_t budget_us, struct sl_error *err);
int __wrap_sl_limit_arm(struct sl_limit *limit, int64_t budget_us, struct sl_error *err);
int __wrap_sl_limit_arm(struct sl_limit *limit, int64_t budget_us, struct sl_error *err)
{
	assert_true(grants < 20);
	granted[grants++] = budget_us;
	return __real_sl_limit_arm(limit, budget_us, err);
}

#define BUDGET_US INT64_C(600000000)

static const struct sl_limits limits = { .memory = 32 << 20, .budget_us = BUDGET_US };

/* The first began with no more than there was, each other one with less than the one before. */
static void each_has_what_the_ones_before_left(unsigned least)
{
	assert_true(grants >= least);
	assert_true(granted[0] > 0 && granted[0] <= BUDGET_US);
	for (unsigned i = 1; i < grants; i++)
		assert_true(granted[i] > 0 && granted[i] < granted[i - 1]);
	grants = 0;
}

static struct sl_bundle *load(const struct sl_limits *l, struct sl_error *err)
{
	static const struct sl_bundle_text module = { "policy", "local M = { api = 1 }\n"
		"function M.decide(cluster, plan)\n"
		"  for job in cluster:queue() do plan:start(job) end\n"
		"  if #cluster.nodes > 99 then nonsense() end\n"
		"end\nreturn M" };
	struct sl_bundle_source src = { .policy = "policy", .text = &module, .texts = 1 };

	struct sl_bundle *set = sl_bundle_load(&src, l, NULL, err);

	if (!set)
		fail_msg("%s", err->text);
	return set;
}

static struct build *some_jobs(void)
{
	struct build *b = build_create("2x4c");

	build_pending(b, (struct build_job) { .id = 2, .limit = 60, .tasks = 1 });
	build_open(b);
	return b;
}

static void loading_runs_a_set_several_times_on_one_budget(void **state)
{
	struct sl_error err;
	struct sl_bundle *set = load(&limits, &err);

	(void) state;
	each_has_what_the_ones_before_left(4);
	sl_bundle_destroy(set);
	/* and where none is given, too */
	set = load(NULL, &err);
	assert_true(granted[0] <= SL_LOAD_BUDGET_US);
	each_has_what_the_ones_before_left(4);
	sl_bundle_destroy(set);
}

static void a_decision_and_the_files_it_runs_first_have_one_budget(void **state)
{
	struct build *b = some_jobs();
	struct sl_decision d = { 0 };
	struct sl_error err;
	struct sl_bundle *set = load(&limits, &err);

	(void) state;
	grants = 0;
	assert_int_equal(sl_decide(set, &b->snap, &limits, sl_clock_us(), &d, &err), 0);
	assert_int_equal(d.plan.start.rows, 1);
	each_has_what_the_ones_before_left(2);
	sl_decision_clear(&d);
	sl_bundle_destroy(set);
	build_destroy(b);
}

static void an_explanation_has_one_budget(void **state)
{
	struct build *b = some_jobs();
	struct sl_error err;
	struct sl_bundle *set = load(&limits, &err);
	char *text, *trace;

	(void) state;
	grants = 0;
	assert_int_equal(sl_decide_explain(set, &b->snap, NULL, NULL, &limits, 2, &text, NULL, &trace, &err), 0);
	each_has_what_the_ones_before_left(2);
	free(text);
	free(trace);
	sl_bundle_destroy(set);
	build_destroy(b);
}

static void count(const char *what, void *arg)
{
	assert_non_null(strstr(what, "nonsense"));
	++*(unsigned *) arg;
}

static void names_are_looked_for_on_the_budget_that_is_given(void **state)
{
	struct sl_error err;
	struct sl_bundle *set = load(&limits, &err);
	unsigned told = 0;

	(void) state;
	grants = 0;
	assert_int_equal(sl_bundle_undefined(set, &limits, count, &told, &err), 1);
	assert_int_equal(told, 1);
	each_has_what_the_ones_before_left(2);
	sl_bundle_destroy(set);
}

/* A millisecond is gone with the second look at the clock. */
static void what_is_used_up_is_an_error_before_anything_runs(void **state)
{
	const struct sl_limits little = { .memory = 32 << 20, .budget_us = 1 };
	struct sl_limits left;
	struct sl_error err;

	(void) state;
	assert_int_equal(sl_limits_left(&little, sl_clock_us(), &left, &err), -1);
	assert_int_equal(err.code, SL_ETIME);
	assert_int_equal(sl_limits_left(&(struct sl_limits) { .budget_us = 0 }, 0, &left, &err), 0);
	assert_int_equal(left.budget_us, 0);
	grants = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loading_runs_a_set_several_times_on_one_budget),
		cmocka_unit_test(a_decision_and_the_files_it_runs_first_have_one_budget),
		cmocka_unit_test(an_explanation_has_one_budget),
		cmocka_unit_test(names_are_looked_for_on_the_budget_that_is_given),
		cmocka_unit_test(what_is_used_up_is_an_error_before_anything_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
