/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "usage/usage.h"

#define T0 INT64_C(1699920000)	/* a UTC midnight */

static struct sl_error err;

static uint32_t dim(struct sl_usage *u, const char *user, const char *account, const char *partition, uint32_t state)
{
	uint32_t d = sl_usage_dim(u, &(struct sl_dim) { user, account, partition, state }, &err);

	assert_int_not_equal(d, SL_NONE);
	return d;
}

static void add(struct sl_usage *u, uint32_t d, int64_t start, int64_t end, int64_t cpu)
{
	assert_int_equal(sl_usage_note(u, &(struct sl_piece) { d, start, end, { cpu, 0, 0 } }, 1, &err), 0);
}

/* The one total, or that of *name. */
static int64_t past(struct sl_usage *u, const char *name, int64_t since, int64_t until)
{
	struct sl_usage_query q = { .by = SL_BY_USER, .unit = SL_UNIT_CPU, .since = since, .until = until };
	const struct sl_usage_total *t;
	uint32_t n;

	assert_int_equal(sl_usage_ask(u, &q, &t, &n, &err), 0);
	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(t[i].name, name))
			return t[i].seconds;
	return 0;
}

static double decayed(struct sl_usage *u, const char *name, double half_life, int64_t now)
{
	struct sl_usage_query q = { .by = SL_BY_USER, .unit = SL_UNIT_CPU, .half_life = half_life, .now = now };
	const struct sl_usage_total *t;
	uint32_t n;

	assert_int_equal(sl_usage_ask(u, &q, &t, &n, &err), 0);
	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(t[i].name, name))
			return t[i].decayed;
	return 0;
}

static void the_parts_of_a_piece_add_up_to_it(void **state)
{
	struct sl_piece p = { 0, 10, 17, { 100, -100, 3 } };
	int64_t sum[SL_UNITS] = { 0 };

	(void) state;
	for (int64_t t = 0; t < 30; t += 3)
		for (int k = 0; k < SL_UNITS; k++)
			sum[k] += sl_piece_part(&p, (enum sl_unit) k, t, t + 3);
	assert_int_equal(sum[0], 100);
	assert_int_equal(sum[1], -100);
	assert_int_equal(sum[2], 3);
	assert_int_equal(sl_piece_part(&p, SL_UNIT_CPU, 0, 12), 28);	/* floor(100 * 2 / 7) */
	assert_int_equal(sl_piece_part(&p, SL_UNIT_CPU, 12, 10), 0);
	p.end = p.start;
	assert_int_equal(sl_piece_part(&p, SL_UNIT_CPU, 10, 11), 100);
	assert_int_equal(sl_piece_part(&p, SL_UNIT_CPU, 0, 10), 0);
}

static void an_interval_may_begin_and_end_anywhere(void **state)
{
	struct sl_usage *u = sl_usage_create_memory(&err);
	uint32_t a = dim(u, "anna", "x", "p", SL_JOB_COMPLETE);

	(void) state;
	/* three days long, one CPU-second a second */
	add(u, a, T0 + 3600, T0 + 3600 + 3 * SL_DAY, 3 * SL_DAY);
	assert_int_equal(past(u, "anna", INT64_MIN, SL_FOREVER), 3 * SL_DAY);
	assert_int_equal(past(u, "anna", T0, T0 + SL_DAY), SL_DAY - 3600);
	assert_int_equal(past(u, "anna", T0 + 5000, T0 + 5001), 1);
	assert_int_equal(past(u, "anna", T0 + 5000, T0 + 2 * SL_DAY + 7), 2 * SL_DAY + 7 - 5000);
	assert_int_equal(past(u, "anna", T0 + 5000, SL_FOREVER), 3 * SL_DAY + 3600 - 5000);
	assert_int_equal(past(u, "anna", INT64_MIN, T0 + 5000), 1400);
	assert_int_equal(past(u, "anna", T0 + SL_DAY - 1, T0 + SL_DAY + 1), 2);
	/* the cache is right */
	add(u, a, T0 + SL_DAY, T0 + SL_DAY + 10, 50);
	assert_int_equal(past(u, "anna", T0 + 5000, T0 + 2 * SL_DAY + 7), 2 * SL_DAY + 7 - 5000 + 50);
	assert_int_equal(past(u, "anna", T0 + SL_DAY - 1, T0 + SL_DAY + 1), 2 + 5);
	sl_usage_destroy(u);
}

static void times_before_the_epoch_are_times(void **state)
{
	struct sl_usage *u = sl_usage_create_memory(&err);

	(void) state;
	assert_int_equal(sl_day_of(-1), -1);
	assert_int_equal(sl_day_of(-SL_DAY), -1);
	assert_int_equal(sl_day_of(-SL_DAY - 1), -2);
	assert_int_equal(sl_day_of(0), 0);
	add(u, dim(u, "a", "", "", 3), -SL_DAY - 10, 10, SL_DAY + 20);
	assert_int_equal(past(u, "a", -20, 20), 30);
	assert_int_equal(past(u, "a", -SL_DAY - 5, -SL_DAY), 5);
	sl_usage_destroy(u);
}

static void decay_is_the_integral(void **state)
{
	struct sl_usage *u = sl_usage_create_memory(&err);
	const double h = 7 * SL_DAY;
	const int64_t now = T0 + 20 * SL_DAY;
	double sum = 0;

	(void) state;
	/* 2 CPUs over 3.5 days, by Simpson's rule as good as exact */
	add(u, dim(u, "a", "", "", 3), T0, T0 + 302400, 604800);
	for (int64_t t = T0; t < T0 + 302400; t += 100)
		sum += 2 * 100 / 6.0 * (exp2(-(double) (now - t) / h) + 4 * exp2(-(double) (now - t - 50) / h) +
					exp2(-(double) (now - t - 100) / h));
	assert_true(fabs(decayed(u, "a", h, now) / sum - 1) < 1e-9);
	/* a week later it is half of that, whether it was cached or is worked out anew */
	assert_true(fabs(decayed(u, "a", h, now + 7 * SL_DAY) / sum - 0.5) < 1e-6);
	sl_usage_forget(u);
	assert_true(fabs(decayed(u, "a", h, now + 7 * SL_DAY) / sum - 0.5) < 1e-6);
	sl_usage_forget(u);
	/* beyond the exact days: spread over each day, the last half day over a whole one */
	assert_true(fabs(decayed(u, "a", h, now + 70 * SL_DAY) / sum - 1.0 / 1024) < 1e-5);
	/* a clock that was set back */
	assert_true(fabs(decayed(u, "a", h, now) / sum - 1) < 1e-9);
	sl_usage_destroy(u);
}

static void what_is_new_decays_from_when_it_was(void **state)
{
	struct sl_usage *u = sl_usage_create_memory(&err);
	uint32_t a = dim(u, "a", "", "", 3);

	(void) state;
	add(u, a, T0, T0, 1000);
	assert_true(fabs(decayed(u, "a", 100, T0 + 100) - 500) < 1e-9);
	add(u, a, T0 + 100, T0 + 100, 1000);
	assert_true(fabs(decayed(u, "a", 100, T0 + 100) - 1500) < 1e-9);
	assert_true(fabs(decayed(u, "a", 100, T0 + 200) - 750) < 1e-9);
	sl_usage_destroy(u);
}

static void more_questions_than_are_cached(void **state)
{
	struct sl_usage *u = sl_usage_create_memory(&err);
	uint32_t a = dim(u, "a", "", "", 3);

	(void) state;
	for (int i = 0; i < 200; i++)
		add(u, a, T0 + i * SL_DAY, T0 + i * SL_DAY + 10, 10);
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 100; i++) {
			assert_int_equal(past(u, "a", T0 + i * SL_DAY + 5, T0 + 2 * i * SL_DAY + 5), 10 * i);
			assert_true(decayed(u, "a", 1e9 + i, T0 + 200 * SL_DAY) > 1700);
		}
	sl_usage_destroy(u);
}

static void names_may_be_long_and_many(void **state)
{
	struct sl_usage *u = sl_usage_create_memory(&err);
	char name[301], other[301];

	(void) state;
	memset(name, 'x', 300);
	memset(other, 'x', 300);
	name[300] = other[300] = 0;
	other[299] = 'y';
	past(u, name, 0, SL_FOREVER);	/* an answer that is cached before there are names */
	for (int i = 0; i < 5000; i++) {
		char many[16];

		snprintf(many, sizeof(many), "u%d", i);
		add(u, dim(u, many, "a", "p", 3), T0, T0 + 5, 5 + i);
	}
	add(u, dim(u, name, name, name, 3), T0, T0 + 5, 7);
	add(u, dim(u, other, name, name, 3), T0, T0 + 5, 8);
	assert_int_equal(past(u, name, 0, SL_FOREVER), 7);
	assert_int_equal(past(u, other, 0, SL_FOREVER), 8);
	assert_int_equal(past(u, "u4999", 0, SL_FOREVER), 5004);
	assert_int_equal(sl_usage_dims(u), 5002);
	sl_usage_destroy(u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_parts_of_a_piece_add_up_to_it),
		cmocka_unit_test(an_interval_may_begin_and_end_anywhere),
		cmocka_unit_test(times_before_the_epoch_are_times),
		cmocka_unit_test(decay_is_the_integral),
		cmocka_unit_test(what_is_new_decays_from_when_it_was),
		cmocka_unit_test(more_questions_than_are_cached),
		cmocka_unit_test(names_may_be_long_and_many),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
