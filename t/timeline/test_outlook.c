/* SPDX-License-Identifier: MIT */
/*
 * An outlook makes no difference: on random machines of many classes each earliest start is the one that is
 * found when all classes are looked at, as is done wherever there is a latest start.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "t/random.h"
#include "t/timeline/many.h"
#include "timeline/place_outlook.h"

/* -- slots ------------------------------------------------------------------ */

/* Each begins where the one before ends, and is that of all its instants. */
static void slots_follow_each_other(void **state)
{
	struct sl_outlook o = { .base = 12345 };
	int64_t begin = o.base;

	(void) state;
	for (uint32_t slot = 0; slot < SL_SLOTS; slot++) {
		int64_t end = sl_outlook_end(&o, slot);

		assert_true(end > begin);
		assert_int_equal(sl_outlook_slot(&o, begin), slot);
		assert_int_equal(sl_outlook_slot(&o, end - 1), slot);
		begin = end;
	}
	assert_int_equal(begin, SL_FOREVER);
	assert_int_equal(sl_outlook_slot(&o, SL_FOREVER), SL_SLOTS - 1);
	assert_int_equal(sl_outlook_slot(&o, 0), 0);
}

/* -- earliest starts -------------------------------------------------------- */

static void ask_both(struct scene *s, const struct sl_request *r, int64_t from, bool reserve)
{
	const struct sl_how how = { .method = one_in(8) ? below(SL_PLACE_EXPLICIT) : SL_PLACE_BESTFIT };
	struct sl_layout a = SL_LAYOUT_EMPTY, b = SL_LAYOUT_EMPTY;
	struct sl_misfit why = { 0 }, why_not = { 0 };
	int64_t start = 0, other = 0;
	int rc = sl_fit_earliest(s->tl, r, &how, from, SL_FOREVER, &start, &a, &why, NULL);

	assert_int_equal(rc, sl_fit_earliest(s->tl, r, &how, from, SL_FOREVER - 1, &other, &b, &why_not, NULL));
	assert_int_equal(start, other);
	same_layout(&a, &b);
	if (!rc)
		assert_memory_equal(&why, &why_not, sizeof(why));
	if (reserve && rc == 1)
		assert_int_equal(sl_layout_book(s->tl, &a, start, start + r->duration, NULL), 0);
	sl_layout_free(&a);
	sl_layout_free(&b);
}

/* For long, or when much is taken already, so that slots lie in between. */
static struct sl_request some_longer_request(void)
{
	struct sl_request r = some_request();

	r.duration = one_in(2) ? between(1, 20000) : r.duration;
	return r;
}

static void change(struct scene *s)
{
	uint32_t what = below(40);

	if (what < 4)
		book_some(s);
	else if (what < 7)
		take_back_some(s);
	else if (what == 7)
		block_some(s);
	else if (what == 8)
		sl_timeline_advance(s->tl, s->now += below(20), NULL);
}

/* How many sweeps were made since time went on, where they had an outlook. */
static uint32_t change_and_ask(struct scene *s)
{
	struct sl_nodeset eligible = SL_NODESET_EMPTY;
	uint32_t mark = SL_NO_MARK, most = 0;

	sl_nodeset_add(&eligible, below(s->nodes / 2), s->nodes / 2 + below(s->nodes / 2), NULL);
	for (uint32_t i = 0; i < 150; i++) {
		struct sl_request r = some_longer_request();
		const struct sl_space *sp;

		if (mark == SL_NO_MARK)
			change(s);
		if (mark == SL_NO_MARK && one_in(20)) {
			mark = sl_timeline_mark(s->tl);
		} else if (mark != SL_NO_MARK && one_in(10)) {
			sl_timeline_rollback(s->tl, mark);
			mark = SL_NO_MARK;
		}
		r.eligible = one_in(5) ? &eligible : NULL;
		/* what is reserved without a mark stays: the machine fills up */
		ask_both(s, &r, s->now + (one_in(3) ? between(0, 5000) : 0), mark != SL_NO_MARK || one_in(4));
		sp = s->tl->space;
		if (sp && sp->outlook && sp->outlook->rows && sp->outlook->sweeps > most)
			most = sp->outlook->sweeps;
	}
	sl_timeline_rollback(s->tl, mark);
	sl_nodeset_free(&eligible);
	return most;
}

static void outlooks_make_no_difference(void **state)
{
	uint64_t seed = number_from("SL_SEED", 11000), rounds = rounds_of(30), used = 0;
	static struct scene s;

	(void) state;
	for (uint64_t round = 0; round < rounds; round++) {
		struct sl_shelf shelf = { .most = SL_SHELF_BYTES };

		failing_seed = random_state = seed + round;
		create_scene(&s);
		if (one_in(4))		/* not for the largest */
			shelf.most = 300000;
		sl_timeline_shelf(s.tl, &shelf);
		used += change_and_ask(&s) > 20;
		assert_true(shelf.bytes <= shelf.most && shelf.firm <= shelf.most / 2);
		destroy_scene(&s);
		assert_true(!shelf.bytes && !shelf.firm);
	}
	failing_seed = 0;
	assert_true(used > rounds / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots_follow_each_other),
		cmocka_unit_test_teardown(outlooks_make_no_difference, say_seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
