/* SPDX-License-Identifier: MIT */
/* Arithmetic on numbers that users give, against the same in 128 bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/lines.h"
#include "base/number.h"
#include "t/random.h"

/* Powers of two, what is beside them, and numbers of any length. */
static uint64_t draw(void)
{
	uint64_t n = UINT64_C(1) << below(64);

	switch (below(4)) {
	case 0:
		return n - 1;
	case 1:
		return n;
	case 2:
		return -n + below(3);
	default:
		return random_u64() >> below(64);
	}
}

static uint64_t capped(unsigned __int128 n)
{
	return n > UINT64_MAX ? UINT64_MAX : (uint64_t) n;
}

static int64_t capped_signed(__int128 n)
{
	return n > INT64_MAX ? INT64_MAX : n < INT64_MIN ? INT64_MIN : (int64_t) n;
}

static void a_result_is_exact_or_the_nearest_that_there_is(void **state)
{
	(void) state;
	for (uint64_t i = rounds_of(200000); i; i--) {
		uint64_t a = draw(), b = draw();
		int64_t x = (int64_t) draw(), y = (int64_t) draw();

		assert_true(sl_product(a, b) == capped((unsigned __int128) a * b));
		assert_true(sl_sum(a, b) == capped((unsigned __int128) a + b));
		assert_true(sl_product_signed(x, y) == capped_signed((__int128) x * y));
		assert_true(sl_difference(x, y) == capped_signed((__int128) x - y));
		assert_true(sl_sum_signed(x, y) == capped_signed((__int128) x + y));
		assert_true(sl_product_within(a, b, a) == ((unsigned __int128) a * b > a ? a : a * b));
		assert_true(sl_max(a, b) + (unsigned __int128) sl_min(a, b) == (unsigned __int128) a + b && sl_max(a, b) >= sl_min(a, b));
		assert_true(sl_max_signed(x, y) + (__int128) sl_min_signed(x, y) == (__int128) x + y);
		assert_true(sl_max_signed(x, y) >= sl_min_signed(x, y));
		assert_true(sl_quotient_up(a, b) == (b ? (uint64_t) (((unsigned __int128) a + b - 1) / b) : a));
		assert_true(sl_cap_u32(a) == (a < UINT32_MAX ? a : UINT32_MAX - 1));
	}
}

static void a_gcd_divides_both_and_nothing_larger_does(void **state)
{
	(void) state;
	for (uint64_t i = rounds_of(20000); i; i--) {
		uint64_t a = below(100), b = below(100), n = sl_gcd(a, b), most = a > b ? a : b;

		assert_true(a && b ? n > 0 && a % n == 0 && b % n == 0 : n == most);
		for (uint64_t d = n + 1; a && b && d <= most; d++)
			assert_false(a % d == 0 && b % d == 0);
	}
}

static void a_number_in_a_text_is_that_number_or_none(void **state)
{
	const unsigned __int128 most = (unsigned __int128) 1 << 62;

	(void) state;
	for (uint64_t i = rounds_of(200000); i; i--) {
		unsigned __int128 want = 0;
		char text[32] = "";
		uint32_t digits = 1 + below(25);
		int64_t got = -1;

		for (uint32_t d = 0; d < digits; d++) {
			text[d] = (char) ('0' + below(10));
			want = want * 10 + (unsigned) (text[d] - '0');
		}
		if (sl_scan_whole(text, &got) ? got < 0 || (unsigned __int128) got != want : want < most)
			fail_msg("%s is read as %lld", text, (long long) got);
	}
}

/* 2^64 + 1771702670364157934 */
static void a_number_that_wraps_around_is_none(void **state)
{
	int64_t got;

	(void) state;
	assert_false(sl_scan_whole("20218446744073709550", &got));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_result_is_exact_or_the_nearest_that_there_is),
		cmocka_unit_test(a_gcd_divides_both_and_nothing_larger_does),
		cmocka_unit_test(a_number_in_a_text_is_that_number_or_none),
		cmocka_unit_test(a_number_that_wraps_around_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
