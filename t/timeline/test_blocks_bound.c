/* SPDX-License-Identifier: MIT */
/*
 * The bound of bench/blocks, beside a search of all packings.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bench/blocks_bound.h"
#include "t/random.h"

#define SIZE 18
#define PIECES 9

/* The fewest blocks for piece[0..n), given what is free in those in use. */
static uint32_t fewest(const uint32_t *piece, uint32_t n, uint32_t *free, uint32_t blocks, uint32_t best)
{
	if (blocks >= best)
		return best;
	if (!n)
		return blocks;
	for (uint32_t b = 0; b <= blocks; b++) {
		uint32_t room = b < blocks ? free[b] : SIZE, found;

		if (room < piece[0])
			continue;
		free[b] = room - piece[0];
		found = fewest(piece + 1, n - 1, free, blocks + (b == blocks), best);
		best = found < best ? found : best;
		free[b] = room;
	}
	return best;
}

static void nothing_needs_no_block(void **state)
{
	const uint32_t none[BLOCKS_LARGEST + 1] = { 0 };

	(void) state;
	assert_int_equal(blocks_at_least(none, SIZE), 0);
	assert_int_equal(blocks_enough(none, SIZE), 0);
}

static void segments_that_share_no_block_need_one_each(void **state)
{
	uint32_t count[BLOCKS_LARGEST + 1] = { [18] = 2, [12] = 3, [10] = 1 };

	(void) state;
	assert_int_equal(blocks_at_least(count, SIZE), 6);
	count[6] = 3;		/* beside those of 12 */
	count[8] = 1;
	assert_int_equal(blocks_at_least(count, SIZE), 6);
	assert_int_equal(blocks_enough(count, SIZE), 6);
	count[1] = 1;
	assert_int_equal(blocks_at_least(count, SIZE), 7);
	assert_int_equal(blocks_enough(count, SIZE), 7);
}

static void the_fewest_blocks_lie_between_the_two(void **state)
{
	uint32_t equal = 0, rounds = (uint32_t) rounds_of(2000);

	(void) state;
	for (uint32_t i = 0; i < rounds; i++) {
		uint32_t piece[PIECES], count[BLOCKS_LARGEST + 1] = { 0 }, free[PIECES + 1] = { 0 }, least, enough, best;
		uint32_t n = 1 + i % PIECES;

		for (uint32_t k = 0; k < n; k++) {
			piece[k] = 1 + below(SIZE);
			count[piece[k]]++;
		}
		least = blocks_at_least(count, SIZE);
		enough = blocks_enough(count, SIZE);
		best = fewest(piece, n, free, 0, n + 1);
		assert_in_range(best, least, enough);
		equal += least == enough;
	}
	assert_true(equal > rounds * 9 / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_needs_no_block),
		cmocka_unit_test(segments_that_share_no_block_need_one_each),
		cmocka_unit_test(the_fewest_blocks_lie_between_the_two),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
