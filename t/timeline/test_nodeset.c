/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "timeline/nodeset.h"
#include "t/random.h"
#include "t/timeline/set.h"

static void expect(struct sl_nodeset *s, const char *text)
{
	assert_string_equal(set_text(s), text);
}

static void runs_that_touch_become_one(void **state)
{
	struct sl_nodeset s = SL_NODESET_EMPTY;

	(void) state;
	assert_int_equal(sl_nodeset_add(&s, 3, 4, NULL), 0);
	assert_int_equal(sl_nodeset_add(&s, 7, 7, NULL), 0);
	assert_int_equal(sl_nodeset_add(&s, 0, 1, NULL), 0);
	expect(&s, "0-1,3-4,7");
	assert_int_equal(sl_nodeset_add(&s, 2, 2, NULL), 0);
	expect(&s, "0-4,7");
	assert_int_equal(sl_nodeset_add(&s, 5, 6, NULL), 0);
	expect(&s, "0-7");
	assert_int_equal(s.count, 8);
	sl_nodeset_free(&s);
}

static void take_away(struct sl_nodeset *s, const char *text)
{
	struct sl_nodeset gone = set(text);

	assert_int_equal(sl_nodeset_subtract(s, &gone, NULL), 0);
	sl_nodeset_free(&gone);
}

static void removing_splits_trims_and_swallows_runs(void **state)
{
	struct sl_nodeset s = set("0-9,20-29,40");

	(void) state;
	take_away(&s, "4-5");
	expect(&s, "0-3,6-9,20-29,40");
	take_away(&s, "8-22");
	expect(&s, "0-3,6-7,23-29,40");
	take_away(&s, "7-100");
	expect(&s, "0-3,6");
	take_away(&s, "50-60");
	expect(&s, "0-3,6");
	take_away(&s, "0-99");
	expect(&s, "");
	sl_nodeset_free(&s);
}

static void union_intersection_and_difference_by_hand(void **state)
{
	struct sl_nodeset a = set("0-4,8-12,20"), b = set("3-9,15,20-21"), c = SL_NODESET_EMPTY;

	(void) state;
	assert_int_equal(sl_nodeset_copy(&c, &a, NULL), 0);
	assert_int_equal(sl_nodeset_union(&c, &b, NULL), 0);
	expect(&c, "0-12,15,20-21");
	assert_int_equal(sl_nodeset_copy(&c, &a, NULL), 0);
	assert_int_equal(sl_nodeset_intersect(&c, &b, NULL), 0);
	expect(&c, "3-4,8-9,20");
	assert_int_equal(sl_nodeset_copy(&c, &a, NULL), 0);
	assert_int_equal(sl_nodeset_subtract(&c, &b, NULL), 0);
	expect(&c, "0-2,10-12");
	assert_int_equal(sl_nodeset_common(&a, &b), 5);
	assert_true(sl_nodeset_overlaps(&a, &b));
	assert_false(sl_nodeset_overlaps(&c, &b));
	assert_true(sl_nodeset_includes(&a, &c));
	assert_false(sl_nodeset_includes(&c, &a));
	sl_nodeset_free(&a);
	sl_nodeset_free(&b);
	sl_nodeset_free(&c);
}

static void a_set_with_itself(void **state)
{
	struct sl_nodeset s = set("1-3,9");

	(void) state;
	assert_int_equal(sl_nodeset_union(&s, &s, NULL), 0);
	assert_int_equal(sl_nodeset_intersect(&s, &s, NULL), 0);
	assert_int_equal(sl_nodeset_copy(&s, &s, NULL), 0);
	expect(&s, "1-3,9");
	assert_int_equal(sl_nodeset_subtract(&s, &s, NULL), 0);
	expect(&s, "");
	assert_int_equal(sl_nodeset_union(&s, &s, NULL), 0);
	sl_nodeset_free(&s);
}

static void what_is_refused_changes_nothing(void **state)
{
	struct sl_nodeset s = set("1-3");
	struct sl_error err;

	(void) state;
	assert_int_equal(sl_nodeset_add(&s, 5, 4, &err), -1);
	assert_int_equal(err.code, SL_EINVAL);
	assert_int_equal(sl_nodeset_add(&s, 5, SL_MAX_NODES, &err), -1);
	assert_int_equal(err.code, SL_ELIMIT);
	expect(&s, "1-3");
	sl_nodeset_free(&s);
}

static void the_last_node_that_can_be(void **state)
{
	struct sl_nodeset s = SL_NODESET_EMPTY;

	(void) state;
	assert_int_equal(sl_nodeset_add(&s, SL_MAX_NODES - 1, SL_MAX_NODES - 1, NULL), 0);
	assert_int_equal(sl_nodeset_add(&s, 0, SL_MAX_NODES - 2, NULL), 0);
	assert_int_equal(s.runs, 1);
	assert_int_equal(s.count, SL_MAX_NODES);
	assert_int_equal(sl_nodeset_next(&s, SL_MAX_NODES - 1), SL_MAX_NODES - 1);
	assert_int_equal(sl_nodeset_next(&s, SL_MAX_NODES), SL_MAX_NODES);
	sl_nodeset_free(&s);
}

/* -- against one bit per node ------------------------------------------ */

#define BITS 96

static void random_set(struct sl_nodeset *s, unsigned char *bit)
{
	uint32_t density = 1 + below(8);

	sl_nodeset_clear(s);
	for (uint32_t n = 0; n < BITS; n++) {
		bit[n] = below(9) < density;
		if (bit[n])
			assert_int_equal(sl_nodeset_add(s, n, n, NULL), 0);
	}
	if (one_in(4)) {	/* few runs against many */
		uint32_t a = below(BITS), b = (uint32_t) between(a, BITS - 1);

		sl_nodeset_clear(s);
		assert_int_equal(sl_nodeset_add(s, a, b, NULL), 0);
		for (uint32_t n = 0; n < BITS; n++)
			bit[n] = n >= a && n <= b;
	}
}

static void same(const struct sl_nodeset *s, const unsigned char *bit)
{
	uint32_t count = 0, next = sl_nodeset_next(s, 0);

	for (uint32_t n = 0; n < BITS; n++) {
		count += bit[n];
		assert_int_equal(sl_nodeset_contains(s, n), bit[n]);
		if (bit[n]) {
			assert_int_equal(next, n);
			next = sl_nodeset_next(s, n + 1);
		}
	}
	assert_int_equal(next, SL_MAX_NODES);
	assert_int_equal(count, s->count);
	for (uint32_t i = 1; i < s->runs; i++)
		assert_true(s->run[i].first > s->run[i - 1].last + 1);
	assert_true(s->runs <= s->room);
}

static void check_pair(struct sl_nodeset *a, const unsigned char *x, struct sl_nodeset *b, const unsigned char *y)
{
	struct sl_nodeset c = SL_NODESET_EMPTY, d = SL_NODESET_EMPTY;
	unsigned char z[BITS];
	uint32_t common = 0, only_b = 0, differ = 0;

	sl_nodeset_copy(&c, a, NULL);
	sl_nodeset_union(&c, b, NULL);
	for (uint32_t n = 0; n < BITS; n++)
		z[n] = x[n] | y[n];
	same(&c, z);
	sl_nodeset_copy(&c, a, NULL);
	sl_nodeset_subtract(&c, b, NULL);
	for (uint32_t n = 0; n < BITS; n++) {
		z[n] = x[n] & !y[n];
		common += x[n] & y[n];
		only_b += y[n] & !x[n];
		differ += x[n] != y[n];
	}
	same(&c, z);
	sl_nodeset_copy(&c, a, NULL);
	sl_nodeset_intersect(&c, b, NULL);
	sl_nodeset_meet(&d, a, b, NULL);
	for (uint32_t n = 0; n < BITS; n++)
		z[n] = x[n] & y[n];
	same(&c, z);
	assert_true(sl_nodeset_equal(&c, &d));
	assert_int_equal(sl_nodeset_common(a, b), common);
	assert_int_equal(sl_nodeset_overlaps(a, b), common > 0);
	assert_int_equal(sl_nodeset_includes(a, b), only_b == 0);
	assert_int_equal(sl_nodeset_equal(a, b), differ == 0);
	sl_nodeset_free(&c);
	sl_nodeset_free(&d);
}

static void operations_agree_with_one_bit_per_node(void **state)
{
	struct sl_nodeset a = SL_NODESET_EMPTY, b = SL_NODESET_EMPTY;
	unsigned char x[BITS], y[BITS];
	uint64_t seed = number_from("SL_SEED", 20260);

	(void) state;
	print_message("# seed %llu\n", (unsigned long long) seed);
	random_state = seed;
	for (uint64_t round = 0; round < rounds_of(3000); round++) {
		uint32_t first = below(BITS), last = (uint32_t) between(first, BITS - 1);
		struct sl_nodeset run = SL_NODESET_EMPTY;

		random_set(&a, x);
		random_set(&b, y);
		check_pair(&a, x, &b, y);
		check_pair(&b, y, &a, x);
		sl_nodeset_add(&a, first, last, NULL);
		sl_nodeset_add(&run, first, last, NULL);
		sl_nodeset_subtract(&b, &run, NULL);
		sl_nodeset_free(&run);
		memset(x + first, 1, last - first + 1);
		memset(y + first, 0, last - first + 1);
		same(&a, x);
		same(&b, y);
	}
	sl_nodeset_free(&a);
	sl_nodeset_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_that_touch_become_one),
		cmocka_unit_test(removing_splits_trims_and_swallows_runs),
		cmocka_unit_test(union_intersection_and_difference_by_hand),
		cmocka_unit_test(a_set_with_itself),
		cmocka_unit_test(what_is_refused_changes_nothing),
		cmocka_unit_test(the_last_node_that_can_be),
		cmocka_unit_test(operations_agree_with_one_bit_per_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
