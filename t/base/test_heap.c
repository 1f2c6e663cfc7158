/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/heap.h"
#include "base/random.h"

static bool comes_before(const int *direction, const int64_t *a, const int64_t *b)
{
	return *direction * *a < *direction * *b;
}

SL_HEAP(numbers, int64_t, const int *, comes_before)

static void assert_drained_in_order(const int *direction, int64_t *heap, uint32_t n)
{
	int64_t last = heap[0];

	while (n) {
		assert_false(comes_before(direction, &heap[0], &last));
		last = heap[0];
		numbers_drop_first(direction, heap, &n);
	}
}

static void any_array_becomes_a_heap_and_comes_out_in_order(void **state)
{
	int64_t heap[200];
	struct sl_random r;

	(void) state;
	print_message("seed 12\n");
	sl_random_seed(&r, 12);
	for (uint32_t n = 1; n <= 200; n++) {
		const int direction = n % 2 ? 1 : -1;

		for (uint32_t i = 0; i < n; i++)
			heap[i] = sl_random_between(&r, 0, 99);
		numbers_order(&direction, heap, n);
		assert_drained_in_order(&direction, heap, n);
	}
}

static void what_is_new_and_what_has_changed_finds_its_place(void **state)
{
	const int direction = 1;
	int64_t heap[200];
	struct sl_random r;

	(void) state;
	print_message("seed 13\n");
	sl_random_seed(&r, 13);
	for (uint32_t i = 0; i < 200; i++) {
		heap[i] = sl_random_between(&r, 0, 99);
		numbers_sift_up(&direction, heap, i);
	}
	for (uint32_t i = 0; i < 200; i += 3) {
		heap[i] += 50;
		numbers_sift_down(&direction, heap, 200, i);
	}
	assert_drained_in_order(&direction, heap, 200);
}

static void an_empty_heap_stays_alone(void **state)
{
	const int direction = 1;
	int64_t one = 7;

	(void) state;
	numbers_order(&direction, &one, 0);
	numbers_sift_down(&direction, &one, 0, 0);
	assert_int_equal(one, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_array_becomes_a_heap_and_comes_out_in_order),
		cmocka_unit_test(what_is_new_and_what_has_changed_finds_its_place),
		cmocka_unit_test(an_empty_heap_stays_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
