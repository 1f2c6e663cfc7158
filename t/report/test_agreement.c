/* SPDX-License-Identifier: MIT */
/* Simulated waits beside real ones: figures worked by hand, and what holds of any jobs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/agreement.h"
#include "t/random.h"

#define DAY 86400
#define HOUR 3600
#define NEAR(a, b, most) assert_true(fabs((a) - (b)) <= (most))

static struct sl_agreement_job job(int64_t eligible, int64_t real_wait, int64_t simulated_wait)
{
	return (struct sl_agreement_job) {
		.submit_s = eligible, .eligible_s = eligible, .real_s = eligible + real_wait, .simulated_s = eligible + simulated_wait,
		.cores = 1, .partition = "p", .qos = "normal",
	};
}

static struct sl_agreement computed(const struct sl_agreement_job *jobs, uint32_t n)
{
	struct sl_agreement a;
	struct sl_error err;

	assert_int_equal(sl_agreement_compute(&a, jobs, n, &err), 0);
	return a;
}

static void the_error_by_day_is_the_mean_over_days_of_how_far_their_mean_waits_are_apart(void **state)
{
	/* day 1: 150 s really, 300 s simulated, +100 %; day 2: 400 s, 300 s, -25 % */
	const struct sl_agreement_job jobs[] = {
		job(DAY + 10, 100, 200), job(DAY + 20, 200, 400), job(2 * DAY + 1, 400, 300),
	};
	struct sl_agreement a = computed(jobs, 3);

	(void) state;
	assert_int_equal(a.by[SL_BY_DAY].groups, 2);
	assert_string_equal(a.by[SL_BY_DAY].group[0].name, "1970-01-02");
	assert_int_equal(a.by[SL_BY_DAY].group[0].jobs, 2);
	NEAR(a.by[SL_BY_DAY].group[0].error, 1, 1e-12);
	NEAR(a.by[SL_BY_DAY].error, 0.625, 1e-12);
	NEAR(a.pooled, (100 + 200 + 100) / 700.0, 1e-12);
	NEAR(a.median_s, 100, 1e-12);
	assert_int_equal(a.later, 2);
	assert_int_equal(a.earlier, 1);
	sl_agreement_free(&a);
}

static void a_day_on_which_hardly_anybody_waited_is_left_out_and_counted(void **state)
{
	const struct sl_agreement_job jobs[] = { job(DAY, 1, 59), job(2 * DAY, 100, 110) };
	struct sl_agreement a = computed(jobs, 2), none = computed(jobs, 1);

	(void) state;
	assert_int_equal(a.by[SL_BY_DAY].left_out, 1);
	NEAR(a.by[SL_BY_DAY].error, 0.1, 1e-12);
	assert_true(none.by[SL_BY_DAY].error < 0);
	assert_int_equal(none.same, 1);
	sl_agreement_free(&a);
	sl_agreement_free(&none);
}

static void classes_are_widths_partitions_and_qos(void **state)
{
	struct sl_agreement_job jobs[] = { job(DAY, 100, 100), job(DAY, 100, 150), job(DAY, 100, 200), job(DAY, 200, 200) };
	static const char *const width[] = { "1 core", "2 to 7 cores", "8 to 31 cores", "from 2048 cores" };
	struct sl_agreement a;

	(void) state;
	jobs[1].cores = 7;
	jobs[2].cores = 8;
	jobs[3].cores = 100000;
	jobs[3].partition = "gpu";
	jobs[2].qos = "high";
	a = computed(jobs, 4);
	assert_int_equal(a.by[SL_BY_WIDTH].groups, 4);
	for (int i = 0; i < 4; i++)
		assert_string_equal(a.by[SL_BY_WIDTH].group[i].name, width[i]);
	NEAR(a.by[SL_BY_WIDTH].error, (0 + 0.5 + 1 + 0) / 4, 1e-12);
	assert_int_equal(a.by[SL_BY_PARTITION].groups, 2);
	NEAR(a.by[SL_BY_PARTITION].error, (0 + 0.5) / 2, 1e-12);
	assert_int_equal(a.by[SL_BY_QOS].groups, 2);
	sl_agreement_free(&a);
}

/* The same by its definition, window by window. */
static double slow_moving(const struct sl_agreement_job *jobs, uint32_t n)
{
	int64_t first = INT64_MAX, last = 0, counted = 0;
	double sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		first = jobs[i].submit_s < first ? jobs[i].submit_s : first;
		last = jobs[i].submit_s > last ? jobs[i].submit_s : last;
	}
	first = first / HOUR * HOUR;
	for (int64_t h = 48; h < (last - SL_AGREEMENT_MOVING_S - first) / HOUR - 48; h++) {
		double real = 0, simulated = 0;

		for (uint32_t i = 0; i < n; i++)
			if (jobs[i].submit_s >= first + h * HOUR && jobs[i].submit_s < first + h * HOUR + SL_AGREEMENT_MOVING_S) {
				real += (double) (jobs[i].real_s - jobs[i].submit_s);
				simulated += (double) (jobs[i].simulated_s - jobs[i].submit_s);
			}
		if (real > 0) {
			sum += fabs(simulated - real) / real;
			counted++;
		}
	}
	return counted ? sum / (double) counted : -1;
}

static void the_moving_mean_is_that_of_its_definition_on_random_jobs(void **state)
{
	(void) state;
	for (int round = 0; round < 20; round++) {
		uint32_t n = 20 + below(200);
		struct sl_agreement_job *jobs = calloc(n, sizeof(*jobs));
		struct sl_agreement a;

		for (uint32_t i = 0; i < n; i++)
			jobs[i] = job(between(0, 40 * DAY), between(0, 4999), between(0, 4999));
		a = computed(jobs, n);
		NEAR(a.moving, slow_moving(jobs, n), 1e-9);
		assert_true(a.moving >= 0);
		sl_agreement_free(&a);
		free(jobs);
	}
}

static void a_short_log_has_no_moving_mean_and_says_how_long_it_would_have_to_be(void **state)
{
	const struct sl_agreement_job jobs[] = { job(0, 100, 100), job(7 * DAY, 100, 100) };
	struct sl_agreement a = computed(jobs, 2);

	(void) state;
	assert_true(a.moving < 0);
	assert_int_equal(a.span_s, 7 * DAY);
	assert_int_equal(a.moving_needs_s, 18 * DAY + HOUR);
	sl_agreement_free(&a);
}

static void equal_starts_have_no_error_whatever_the_jobs(void **state)
{
	struct sl_agreement_job jobs[100];
	struct sl_agreement a;

	(void) state;
	for (int i = 0; i < 100; i++) {
		int64_t wait = between(0, 99999);

		jobs[i] = job(between(0, 30 * DAY), wait, wait);
		jobs[i].cores = 1 + below(5000);
	}
	a = computed(jobs, 100);
	for (int by = 0; by < SL_GROUPINGS; by++)
		assert_true(a.by[by].error <= 0);
	assert_int_equal(a.same, 100);
	NEAR(a.pooled, 0, 1e-12);
	sl_agreement_free(&a);
}

static void the_shares_of_what_explains_are_of_all_differences(void **state)
{
	struct sl_agreement_job jobs[] = { job(0, 100, 400), job(0, 100, 200), job(0, 50, 50) };
	double share;

	(void) state;
	jobs[0].why = 1;
	jobs[2].why = 3;
	assert_int_equal(sl_agreement_share(jobs, 3, 1, &share), 2);
	NEAR(share, 0.75, 1e-12);
	assert_int_equal(sl_agreement_share(jobs, 3, 4, &share), 0);
	NEAR(share, 0, 1e-12);
}

static void no_jobs_are_no_figures(void **state)
{
	struct sl_agreement a = computed(NULL, 0);

	(void) state;
	assert_true(a.pooled < 0 && a.moving < 0 && a.by[SL_BY_DAY].error < 0);
	sl_agreement_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_error_by_day_is_the_mean_over_days_of_how_far_their_mean_waits_are_apart),
		cmocka_unit_test(a_day_on_which_hardly_anybody_waited_is_left_out_and_counted),
		cmocka_unit_test(classes_are_widths_partitions_and_qos),
		cmocka_unit_test(the_moving_mean_is_that_of_its_definition_on_random_jobs),
		cmocka_unit_test(a_short_log_has_no_moving_mean_and_says_how_long_it_would_have_to_be),
		cmocka_unit_test(equal_starts_have_no_error_whatever_the_jobs),
		cmocka_unit_test(the_shares_of_what_explains_are_of_all_differences),
		cmocka_unit_test(no_jobs_are_no_figures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
