/* SPDX-License-Identifier: MIT */
/*
 * Differences of the same jobs under two schedules, with intervals.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "report/paired.h"
#include "t/random.h"

static void block(struct sl_paired *p, const double *d, uint32_t n)
{
	struct sl_error err;

	assert_int_equal(sl_paired_begin_block(p, &err), 0);
	for (uint32_t i = 0; i < n; i++)
		sl_paired_add(p, d[i]);
}

/* Block means 2, 4, 9: their deviation is sqrt(13), and t with two degrees of freedom is 4.3027. */
static void the_interval_is_that_of_the_means_of_equal_blocks(void **state)
{
	struct sl_paired p = { 0 };
	double half;

	(void) state;
	block(&p, (const double []) { 1, 3 }, 2);
	block(&p, (const double []) { 4, 4 }, 2);
	block(&p, (const double []) { 10, 8 }, 2);
	assert_true(sl_paired_mean(&p, &half) == 5);
	assert_true(fabs(half - 4.30265 * sqrt(13.0 / 3)) < 1e-3);
	sl_paired_free(&p);
}

/* Sums 4, 8, 9 of 2, 2 and 1 jobs: by 4.2 each job they would be 8.4, 8.4, 4.2. */
static void the_interval_of_unequal_blocks_is_that_of_the_mean_over_jobs(void **state)
{
	struct sl_paired p = { 0 };
	double half;

	(void) state;
	block(&p, (const double []) { 1, 3 }, 2);
	block(&p, NULL, 0);	/* nobody of it started under both: no block */
	block(&p, (const double []) { 4, 4 }, 2);
	block(&p, (const double []) { 9 }, 1);
	block(&p, NULL, 0);
	assert_int_equal(sl_paired_count(&p), 3);
	assert_true(fabs(sl_paired_mean(&p, &half) - 21.0 / 5) < 1e-12);
	assert_true(fabs(half - 4.30265 * sqrt((4.4 * 4.4 + 0.4 * 0.4 + 4.8 * 4.8) * 3 / 2) / 5) < 1e-3);
	sl_paired_free(&p);
}

static void one_block_has_no_interval_and_nothing_has_no_mean(void **state)
{
	struct sl_paired p = { 0 };
	double half;

	(void) state;
	assert_true(isnan(sl_paired_mean(&p, &half)) && isnan(half));
	block(&p, (const double []) { 7, 7 }, 2);
	assert_true(sl_paired_mean(&p, &half) == 7 && isnan(half));
	sl_paired_free(&p);
}

static void there_are_twenty_blocks_or_as_many_as_pairs_but_no_more_than_jobs(void **state)
{
	(void) state;
	assert_int_equal(sl_paired_blocks(1000, 1), 20);
	assert_int_equal(sl_paired_blocks(1000, 3), 7);
	assert_int_equal(sl_paired_blocks(1000, 30), 1);
	assert_int_equal(sl_paired_blocks(4, 1), 4);
	assert_int_equal(sl_paired_blocks(0, 1), 1);
}

/* Jobs that share a queue: each difference is nine tenths of the one before and something new.  Were they taken for
 * independent the interval would miss the true mean, 0, about two times of three. */
static void differences_that_depend_on_each_other_have_an_honest_interval(void **state)
{
	uint32_t covered = 0;

	(void) state;
	random_state = 20;
	for (int run = 0; run < 400; run++) {
		struct sl_paired p = { 0 };
		struct sl_error err;
		double d = 0, half, mean;

		for (int i = 0; i < 4000; i++) {
			double noise = 0;

			for (int k = 0; k < 4; k++)
				noise += (double) below(2001) / 1000 - 1;
			d = 0.9 * d + noise;
			if (i % 200 == 0)
				assert_int_equal(sl_paired_begin_block(&p, &err), 0);
			sl_paired_add(&p, d);
		}
		mean = sl_paired_mean(&p, &half);
		covered += fabs(mean) <= half;
		sl_paired_free(&p);
	}
	assert_in_range(covered, 365, 395);	/* 91 to 99 % */
}

/* A block's part that is common to its jobs: 0 in the mean over all jobs. */
static double common_part(bool large, bool by_size)
{
	if (by_size)
		return large ? -1 : 7;
	return large && below(2) ? 4 : large ? -4 : 0;
}

/* How many of 400 intervals have the true mean, 0, in them: half of the blocks have 35 jobs, the others 5. */
static uint32_t cover_unequal(bool by_size)
{
	uint32_t covered = 0;

	for (int run = 0; run < 400; run++) {
		struct sl_paired p = { 0 };
		struct sl_error err;
		double half, mean;

		for (int b = 0; b < 40; b++) {
			bool large = below(2);
			double common = common_part(large, by_size);

			assert_int_equal(sl_paired_begin_block(&p, &err), 0);
			for (int i = 0; i < (large ? 35 : 5); i++)
				sl_paired_add(&p, common + (double) below(2001) / 1000 - 1);
		}
		mean = sl_paired_mean(&p, &half);
		covered += fabs(mean) <= half;
		sl_paired_free(&p);
	}
	return covered;
}

/* Were each block's mean counted once, whatever its jobs, the interval would be too narrow where the large ones differ
 * from each other, and too wide where a block's mean depends on its size. */
static void blocks_of_unequal_sizes_have_an_honest_interval(void **state)
{
	(void) state;
	random_state = 21;
	assert_in_range(cover_unequal(false), 365, 395);	/* 91 to 99 % */
	assert_in_range(cover_unequal(true), 365, 395);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_interval_is_that_of_the_means_of_equal_blocks),
		cmocka_unit_test(the_interval_of_unequal_blocks_is_that_of_the_mean_over_jobs),
		cmocka_unit_test(one_block_has_no_interval_and_nothing_has_no_mean),
		cmocka_unit_test(there_are_twenty_blocks_or_as_many_as_pairs_but_no_more_than_jobs),
		cmocka_unit_test(differences_that_depend_on_each_other_have_an_honest_interval),
		cmocka_unit_test(blocks_of_unequal_sizes_have_an_honest_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
