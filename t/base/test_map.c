/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/map.h"
#include "base/random.h"

static uint32_t count_of(const struct sl_map *m, uint64_t hash, uint32_t value)
{
	uint32_t n = 0;

	SL_MAP_EACH(m, hash, at)
		n += at.value == value;
	return n;
}

static void what_is_put_in_is_found_by_its_hash(void **state)
{
	const char *name[] = { "", "a", "node12", "node13", "a name of more than eight letters" };
	struct sl_map m = { 0 };

	(void) state;
	assert_int_equal(count_of(&m, 7, 0), 0);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(sl_map_put(&m, sl_hash_text(SL_HASH, name[i]), i, NULL), 0);
	for (uint32_t i = 0; i < 5; i++)
		for (uint32_t j = 0; j < 5; j++)
			assert_int_equal(count_of(&m, sl_hash_text(SL_HASH, name[i]), j), i == j);
	sl_map_clear(&m);
	assert_int_equal(m.count, 0);
	assert_int_equal(count_of(&m, sl_hash_text(SL_HASH, "a"), 1), 0);
	sl_map_free(&m);
}

static void values_with_the_same_hash_are_all_found(void **state)
{
	struct sl_map m = { 0 };

	(void) state;
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(sl_map_put(&m, UINT32_MAX, i, NULL), 0);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(count_of(&m, UINT32_MAX, i), 1);
	sl_map_remove(&m, UINT32_MAX, 50);
	sl_map_remove(&m, UINT32_MAX, 50);
	sl_map_remove(&m, 0, 51);
	assert_int_equal(m.count, 99);
	assert_int_equal(count_of(&m, UINT32_MAX, 50), 0);
	assert_int_equal(count_of(&m, UINT32_MAX, 99), 1);
	sl_map_free(&m);
}

static void with_room_reserved_nothing_moves(void **state)
{
	struct sl_map m = { 0 };
	struct sl_map_slot *slot;

	(void) state;
	assert_int_equal(sl_map_reserve(&m, 1000, NULL), 0);
	slot = m.slot;
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(sl_map_put(&m, sl_hash_number(SL_HASH, i), i, NULL), 0);
	assert_ptr_equal(m.slot, slot);
	sl_map_free(&m);
}

static void more_than_fits_is_an_error_and_changes_nothing(void **state)
{
	struct sl_map m = { 0 };
	struct sl_error err;

	(void) state;
	assert_int_equal(sl_map_put(&m, 5, 5, NULL), 0);
	assert_int_equal(sl_map_reserve(&m, UINT64_C(1) << 33, &err), -1);
	assert_int_equal(err.code, SL_ENOMEM);
	assert_int_equal(count_of(&m, 5, 5), 1);
	sl_map_free(&m);
}

/* Against a table of counts; few hashes, close together, so that they get into each other's way. */
static void it_does_what_a_plain_table_does(void **state)
{
	static uint32_t plain[40][20];
	struct sl_map m = { 0 };
	struct sl_random r;

	(void) state;
	print_message("seed 11\n");
	sl_random_seed(&r, 11);
	for (int i = 0; i < 20000; i++) {
		uint32_t hash = (uint32_t) sl_random_below(&r, 40), value = (uint32_t) sl_random_below(&r, 20);

		if (sl_random_below(&r, 2) && !plain[hash][value]) {
			assert_int_equal(sl_map_put(&m, hash, value, NULL), 0);
			plain[hash][value]++;
		} else if (plain[hash][value]) {
			sl_map_remove(&m, hash, value);
			plain[hash][value]--;
		}
		assert_int_equal(count_of(&m, hash, value), plain[hash][value]);
		if (i % 97 == 0)
			for (hash = 0; hash < 40; hash++)
				for (value = 0; value < 20; value++)
					assert_int_equal(count_of(&m, hash, value), plain[hash][value]);
	}
	sl_map_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_put_in_is_found_by_its_hash),
		cmocka_unit_test(values_with_the_same_hash_are_all_found),
		cmocka_unit_test(with_room_reserved_nothing_moves),
		cmocka_unit_test(more_than_fits_is_an_error_and_changes_nothing),
		cmocka_unit_test(it_does_what_a_plain_table_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
