/* SPDX-License-Identifier: MIT */
/* test_grow.c - arrays that grow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/grow.h"

static void an_array_has_what_was_asked_for_and_keeps_what_was_in_it(void **state)
{
	uint32_t room = 0, *array = NULL;

	(void) state;
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(sl_grow(&array, &room, i + 1, sizeof(*array), NULL), 0);
		assert_true(room > i);
		array[i] = i;
	}
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(array[i], i);
	free(array);
}

static void an_array_that_cannot_grow_stays_as_it_was(void **state)
{
	uint32_t room = 0, *array = NULL, *before;
	struct sl_error err = { SL_OK, "" };

	(void) state;
	assert_int_equal(sl_grow(&array, &room, 8, sizeof(*array), &err), 0);
	before = array;
	assert_int_equal(sl_grow(&array, &room, UINT64_C(1) << 32, sizeof(*array), &err), -1);
	assert_int_equal(err.code, SL_ENOMEM);
	assert_ptr_equal(array, before);
	assert_int_equal(room, 8);
	free(array);
}

/* Under the address sanitizer, a list that is too short is found here. */
static void a_list_has_room_for_one_more_whatever_its_length_was_before(void **state)
{
	uint32_t length = 0, *list = NULL;

	(void) state;
	for (uint32_t to = 1; to < 70; to += 3) {
		while (length < to) {
			assert_int_equal(sl_grow_list(&list, length, sizeof(*list), NULL), 0);
			list[length] = length;
			length++;
		}
		length -= to > 2 ? 2 : 0;
		for (uint32_t i = 0; i < length; i++)
			assert_int_equal(list[i], i);
	}
	free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_array_has_what_was_asked_for_and_keeps_what_was_in_it),
		cmocka_unit_test(an_array_that_cannot_grow_stays_as_it_was),
		cmocka_unit_test(a_list_has_room_for_one_more_whatever_its_length_was_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
