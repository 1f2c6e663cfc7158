/* SPDX-License-Identifier: MIT */
/*
 * Counts over time, against counting second by second.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

#include <cmocka.h>

#include "t/build.h"
#include "model/tally.h"

static void ok(int rc, const struct sl_error *err)
{
	if (rc < 0)
		fail_msg("%s", err->text);
}

static void a_tally_is_what_was_added(void **state)
{
	struct sl_tally t = { NULL, 0, 0 };
	struct sl_error err;

	(void) state;
	ok(sl_tally_add(&t, 10, 20, 2, &err), &err);
	ok(sl_tally_add(&t, 15, INT64_MAX, 1, &err), &err);
	assert_int_equal(sl_tally_most(&t, 0, 10), 0);
	assert_int_equal(sl_tally_most(&t, 0, 16), 3);
	assert_int_equal(sl_tally_most(&t, 20, 100), 1);
	assert_int_equal(sl_tally_earliest(&t, 0, 10, 2, 3), 0);
	assert_int_equal(sl_tally_earliest(&t, 0, 11, 2, 3), 20);
	assert_int_equal(sl_tally_earliest(&t, 12, 5, 1, 3), 20);
	assert_true(sl_tally_earliest(&t, 0, 11, 3, 3) == INT64_MAX);
	ok(sl_tally_add(&t, 15, INT64_MAX, -1, &err), &err);
	ok(sl_tally_add(&t, 10, 20, -2, &err), &err);
	assert_int_equal(t.steps, 0);
	sl_tally_free(&t);
}

static void a_tally_agrees_with_counting_second_by_second(void **state)
{
	(void) state;
	for (uint64_t seed = 1; seed <= 500; seed++) {
		struct sl_tally t = { NULL, 0, 0 };
		int64_t used[64] = { 0 };
		struct sl_error err;
		uint64_t s = seed;

		for (int i = 0; i < 12; i++) {
			int64_t t0 = build_below(&s, 50), t1 = t0 + build_below(&s, 64 - (uint32_t) t0);
			int64_t from = build_below(&s, 50), len = 1 + build_below(&s, 8), first, n = build_below(&s, 4);

			ok(sl_tally_add(&t, t0, t1, n, &err), &err);
			for (int64_t x = t0; x < t1; x++)
				used[x] += n;
			for (first = from; first < 64; first++) {
				bool fits = true;

				for (int64_t x = first; x < first + len && x < 64; x++)
					fits &= used[x] + 2 <= 6;
				if (fits)
					break;
			}
			if (sl_tally_earliest(&t, from, len, 2, 6) != first)
				fail_msg("seed %lu: earliest %ld, counted %ld", (unsigned long) seed,
					 (long) sl_tally_earliest(&t, from, len, 2, 6), (long) first);
		}
		sl_tally_free(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tally_is_what_was_added),
		cmocka_unit_test(a_tally_agrees_with_counting_second_by_second),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
