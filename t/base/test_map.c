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

/* The example of the paper, appendix A: SipHash-2-4 of 00 01 ... 0e with the key 00 01 ... 0f. */
static void the_hash_is_siphash(void **state)
{
	unsigned char bytes[16];
	uint64_t key[2], first;

	(void) state;
	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char) i;
	memcpy(key, bytes, sizeof(key));
	assert_true(sl_siphash(key, 2, 4, false, 0, bytes, 15) == UINT64_C(0xa129ca6149be45e5));
	/* the first eight bytes may be a number */
	memcpy(&first, bytes, 8);
	assert_true(sl_siphash(key, 2, 4, true, first, bytes + 8, 7) == UINT64_C(0xa129ca6149be45e5));
	sl_hash_with_key(key);
	assert_true(sl_hash_bytes(first, bytes + 8, 7) == sl_siphash(key, 1, 3, false, 0, bytes, 15));
	for (size_t n = 0; n < 16; n++)	/* whatever is left of eight bytes */
		assert_true(sl_hash_bytes(SL_HASH, bytes, n) == sl_siphash(key, 1, 3, false, 0, bytes, n) &&
			    (n < 8 || sl_hash_bytes(SL_HASH, bytes, n) == sl_hash_bytes(first, bytes + 8, n - 8)));
}

/* What anybody can work out who knows a hash without a key, as this once was: two words of eight bytes, the second
 * of which undoes what the first has done. */
static void craft_name(uint64_t i, char name[17])
{
	const uint64_t times = UINT64_C(0xff51afd7ed558ccd);
	uint64_t hash = SL_HASH ^ 16, word[2] = { i * 2 + 1, 0 };

	hash = (hash ^ word[0]) * times;
	hash ^= hash >> 32;
	word[1] = hash ^ 7;		/* so that what goes in next is the same for all */
	memcpy(name, word, 16);
	name[16] = 0;
}

static void names_crafted_to_collide_do_not(void **state)
{
	enum { NAMES = 20000 };
	struct sl_map m = { 0 };
	uint32_t met = 0;
	char name[17];

	(void) state;
	for (uint32_t i = 0; i < NAMES; i++) {
		craft_name(i, name);
		assert_int_equal(sl_map_put(&m, sl_hash_bytes(SL_HASH, name, 16), i, NULL), 0);
	}
	for (uint32_t i = 0; i < NAMES; i++) {
		craft_name(i, name);
		SL_MAP_EACH(&m, sl_hash_bytes(SL_HASH, name, 16), at)
			met += 1 + (at.value == UINT32_MAX);
	}
	assert_in_range(met, NAMES, NAMES + 50);	/* of 32 bits some are the same by chance */
	sl_map_free(&m);
}

static void each_process_has_a_key_of_its_own(void **state)
{
	const uint64_t one[2] = { 1, 2 }, other[2] = { 1, 3 };
	uint64_t hash, drawn = sl_hash_text(SL_HASH, "a name");

	(void) state;
	sl_hash_with_key(one);
	hash = sl_hash_text(SL_HASH, "a name");
	sl_hash_with_key(other);
	assert_true(sl_hash_text(SL_HASH, "a name") != hash);
	assert_true(drawn != hash);
	/* (but what is kept is the same everywhere) */
	assert_true(sl_digest(SL_HASH, "a name", 6) == UINT64_C(0x1d7b4878880b8f3b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_process_has_a_key_of_its_own),
		cmocka_unit_test(names_crafted_to_collide_do_not),
		cmocka_unit_test(the_hash_is_siphash),
		cmocka_unit_test(what_is_put_in_is_found_by_its_hash),
		cmocka_unit_test(values_with_the_same_hash_are_all_found),
		cmocka_unit_test(with_room_reserved_nothing_moves),
		cmocka_unit_test(more_than_fits_is_an_error_and_changes_nothing),
		cmocka_unit_test(it_does_what_a_plain_table_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
