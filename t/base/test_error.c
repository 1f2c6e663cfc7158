/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"

static void a_failure_is_returned_in_one_expression(void **state)
{
	struct sl_error err;

	(void) state;
	assert_int_equal(sl_fail(&err, SL_EINVAL, "bid %d: negative", 3), -1);
	assert_int_equal(err.code, SL_EINVAL);
	assert_string_equal(err.text, "bid 3: negative");
	assert_int_equal(sl_fail(NULL, SL_EINVAL, "nobody listens"), -1);
}

static void context_goes_in_front_and_a_long_text_is_cut_not_overrun(void **state)
{
	struct sl_error err;
	char big[2000];

	(void) state;
	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = 0;
	sl_fail(&err, SL_EIO, "%s", "no space");
	sl_fail_in(&err, "%s", "journal");
	assert_string_equal(err.text, "journal: no space");
	sl_fail_in(&err, "%s", big);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	assert_int_equal(err.code, SL_EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failure_is_returned_in_one_expression),
		cmocka_unit_test(context_goes_in_front_and_a_long_text_is_cut_not_overrun),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
