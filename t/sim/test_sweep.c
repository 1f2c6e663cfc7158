/* SPDX-License-Identifier: MIT */
/*
 * Sweeps: trials in processes of their own, in whatever order they end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sim/sweep.h"

struct seen {
	double last;
	bool between;		/* a part of a trial was told while none was done */
	bool backwards;
	uint32_t done;
};

static void see(double share, uint32_t done, uint32_t trials, void *arg)
{
	struct seen *s = arg;

	assert_true(share >= 0 && share <= 1 && done <= trials);
	s->backwards |= share < s->last;
	s->between |= share > 0 && !done;
	s->last = share;
	s->done = done;
}

/* Two simulations of so many jobs. */
static struct seen run(const char *workload)
{
	struct sl_trial_options trial[2] = { {
		.workload = workload, .source = { .policy = "conservative" }, .workload_options = { .machine = "32x4c" },
	} };
	struct sl_trial_outcome outcome[2];
	struct seen seen = { 0 };
	struct sl_sweep sweep = {
		.trial = trial, .outcome = outcome, .trials = 2, .workers = 2, .progress = see, .progress_arg = &seen,
	};
	struct sl_error err;

	trial[1] = trial[0];
	trial[1].workload_options.seed = 1;
	if (sl_sweep_run(&sweep, &err))
		fail_msg("%s", err.text);
	for (int i = 0; i < 2; i++)
		if (outcome[i].err.code)
			fail_msg("%s", outcome[i].err.text);
	assert_int_equal(outcome[0].result.jobs, outcome[1].result.jobs);
	return seen;
}

/* On whatever machine: more jobs, until a simulation takes some ticks. */
static void progress_is_told_while_the_first_simulations_run(void **state)
{
	struct seen seen = { 0 };
	char workload[40];

	(void) state;
	for (int jobs = 500; !seen.between && jobs <= 64000; jobs *= 2) {
		snprintf(workload, sizeof(workload), "synthetic:jobs=%d", jobs);
		seen = run(workload);
		assert_false(seen.backwards);
		assert_int_equal(seen.done, 2);
		assert_true(seen.last == 1);
	}
	assert_true(seen.between);
}

static void a_trial_that_fails_takes_no_other_with_it(void **state)
{
	struct sl_trial_options trial[2] = { { .workload = "esp", .source = { .policy = "fcfs" },
					       .workload_options = { .machine = "32x4c" } },
					     { .workload = "nosuch", .source = { .policy = "fcfs" } } };
	struct sl_trial_outcome outcome[2];
	struct sl_sweep sweep = { .trial = trial, .outcome = outcome, .trials = 2 };
	struct sl_error err;

	(void) state;
	assert_int_equal(sl_sweep_run(&sweep, &err), 0);
	assert_int_equal(outcome[0].err.code, SL_OK);
	assert_true(outcome[0].result.jobs > 0);
	assert_int_equal(outcome[1].err.code, SL_ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(progress_is_told_while_the_first_simulations_run),
		cmocka_unit_test(a_trial_that_fails_takes_no_other_with_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
