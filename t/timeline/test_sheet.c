/* SPDX-License-Identifier: MIT */
/*
 * Sheets of what nodes offer make no difference: on random machines of many classes each answer is that
 * which comes from all classes.  Inside two marks no sheet is used, so the same timeline gives both.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "t/random.h"
#include "t/timeline/many.h"
#include "timeline/place_sheet.h"

static int book_layout(struct scene *s, const struct sl_layout *l, int64_t seconds)
{
	return sl_layout_book(s->tl, l, s->now, s->now + seconds, NULL);
}

static struct sl_shelf *shared;		/* NULL: each timeline has its own */

static enum sl_place_method some_score(void)
{
	return (enum sl_place_method) (SL_PLACE_LEAST_LEFT + below(SL_PLACE_FGD - SL_PLACE_LEAST_LEFT + 1));
}

/* With sheets, if there is one for it, and without. */
static void ask_both(struct scene *s, struct sl_request *r, bool start)
{
	const struct sl_how how = { .method = one_in(8) ? below(SL_PLACE_EXPLICIT) : one_in(3) ? some_score() : SL_PLACE_BESTFIT };
	struct sl_layout a = SL_LAYOUT_EMPTY, b = SL_LAYOUT_EMPTY;
	struct sl_misfit why = { 0 }, why_not = { 0 };
	int rc = sl_fit_at(s->tl, r, &how, s->now, &a, &why, NULL);
	uint32_t outer = sl_timeline_mark(s->tl), inner = sl_timeline_mark(s->tl);

	assert_int_equal(rc, sl_fit_at(s->tl, r, &how, s->now, &b, &why_not, NULL));
	sl_timeline_rollback(s->tl, inner);
	sl_timeline_rollback(s->tl, outer);
	same_layout(&a, &b);
	assert_memory_equal(&why, &why_not, sizeof(why));
	assert_int_equal(rc, sl_fit_at(s->tl, r, &how, s->now, NULL, NULL, NULL));
	assert_true(!shared || shared->bytes <= shared->most);
	if (start && rc == 1)
		assert_int_equal(book_layout(s, &a, r->duration), 0);
	sl_layout_free(&a);
	sl_layout_free(&b);
}

/* Something is tried inside a mark, and taken back. */
static void try_in_vain(struct scene *s, struct sl_request *r)
{
	uint32_t mark = sl_timeline_mark(s->tl), depth = below(2) ? sl_timeline_mark(s->tl) : mark;

	for (uint32_t i = 0; i < 40; i++) {
		struct sl_nodeset nodes = SL_NODESET_EMPTY;
		struct sl_resources each = some_of(4, 1);

		add_some(s, &nodes, 1);
		sl_timeline_book(s->tl, &nodes, &each, s->now, s->now + 100, NULL);
		sl_nodeset_free(&nodes);
	}
	if (one_in(2))
		ask_both(s, r, true);
	sl_timeline_rollback(s->tl, depth);
	sl_timeline_rollback(s->tl, mark);
}

/* How often a sheet was used. */
static uint64_t change_and_ask(struct scene *s)
{
	struct sl_request r = some_request(), eligible_too, usual[6];
	struct sl_nodeset eligible = SL_NODESET_EMPTY;
	const struct sl_space *sp;

	for (uint32_t i = 0; i < 6; i++)
		usual[i] = some_request();
	sl_nodeset_add(&eligible, below(s->nodes / 2), s->nodes / 2 + below(s->nodes / 2), NULL);
	if (one_in(2))		/* the first sheet is made inside a mark */
		try_in_vain(s, &usual[0]);
	for (uint32_t i = 0; i < 300; i++) {
		uint32_t what = below(20);

		if (what < 3) {
			book_some(s);
		} else if (what < 5) {
			take_back_some(s);
		} else if (what == 5 && one_in(4)) {
			block_some(s);
		} else if (what == 6 && one_in(4)) {
			s->now += below(20);
			assert_int_equal(sl_timeline_advance(s->tl, s->now, NULL), 0);
		} else if (what == 7) {
			try_in_vain(s, &usual[below(6)]);
		} else {
			r = what < 18 ? usual[below(6)] : some_request();
			r.duration = one_in(3) ? between(1, 900) : r.duration;
			eligible_too = r;
			eligible_too.eligible = &eligible;
			ask_both(s, one_in(5) ? &eligible_too : &r, one_in(2));
		}
	}
	sp = s->tl->space;
	sl_nodeset_free(&eligible);
	return sp->sheets ? sp->sheets->uses : 0;
}

static void sheets_make_no_difference(void **state)
{
	uint64_t seed = number_from("SL_SEED", 9000), rounds = rounds_of(30), used = 0;
	static struct scene s;

	(void) state;
	for (uint64_t round = 0; round < rounds; round++) {
		failing_seed = random_state = seed + round;
		create_scene(&s);
		used += change_and_ask(&s) > 50;
		destroy_scene(&s);
	}
	failing_seed = 0;
	assert_true(used > rounds / 2);
}

/* Of some timelines that have room for a few sheets together each gets its own by turns. */
static void a_shelf_bounds_all_timelines(void **state)
{
	uint64_t seed = number_from("SL_SEED", 9500), rounds = rounds_of(3);
	static struct scene s[4];

	(void) state;
	for (uint64_t round = 0; round < rounds; round++) {
		struct sl_shelf shelf = { .most = 100000 };
		uint64_t used[4] = { 0 };	/* by a scene that has no use for sheets none */

		failing_seed = random_state = seed + round;
		shared = &shelf;
		for (uint32_t i = 0; i < 4; i++) {
			create_scene(&s[i]);
			sl_timeline_shelf(s[i].tl, shared);
		}
		for (uint32_t i = 0; i < 12; i++)
			used[i % 4] = change_and_ask(&s[i % 4]);
		assert_true(used[0] + used[1] + used[2] + used[3] > 80);
		for (uint32_t i = 0; i < 4; i++)
			destroy_scene(&s[i]);
		assert_int_equal(shelf.bytes, 0);
		assert_null(shelf.first);
	}
	shared = NULL;
	failing_seed = 0;
}

/* Whole nodes: each gives what it has on the timeline, and what the request has beside that. */
static void cores_beside_the_timeline_count(void **state)
{
	struct sl_node_kind kind = { .weight = 1, .capacity = { .cores = 8 } };
	static uint32_t kind_of[1000];
	struct sl_request plain = { .tasks = 40, .whole_nodes = true, .duration = 10 }, more = plain;
	struct scene s = { .nodes = 1000 };
	const struct sl_space *sp;

	(void) state;
	more.extra_cores = 2;
	s.tl = sl_timeline_create(s.nodes, kind_of, &kind, 1, 0, NULL);
	for (uint32_t n = 0; n < 500; n++) {	/* each a class of its own */
		struct sl_resources each = { .cores = 1 };
		struct sl_run run = { n, n };
		struct sl_nodeset one = { &run, 1, 1, 1 };

		sl_timeline_book(s.tl, &one, &each, 0, 1000 + n, NULL);
	}
	for (uint32_t i = 0; i < 2; i++) {
		ask_both(&s, &plain, false);
		ask_both(&s, &more, false);
	}
	sp = s.tl->space;
	assert_true(sp->sheets && sp->sheets->uses);
	sl_timeline_destroy(s.tl);
}

static void book_each(struct scene *s, uint32_t first, uint32_t last, int32_t cores, int64_t t0, int64_t t1)
{
	const struct sl_resources each = { .cores = cores };

	for (uint32_t n = first; n <= last; n++) {
		struct sl_run run = { n, n };
		struct sl_nodeset one = { &run, 1, 1, 1 };

		assert_int_equal(sl_timeline_book(s->tl, &one, &each, t0, t1 + n, NULL), 0);
	}
}

/* Of later bookings a sheet is told when a request ends behind their beginning. */
static void sheets_are_moved_to_other_ends(void **state)
{
	static const int64_t ends[] = { 10, 50, 150, 50, 350, 150, 360, 310, 2000, 10 };
	const uint32_t count = sizeof(ends) / sizeof(*ends);
	struct sl_node_kind kind = { .weight = 1, .capacity = { .cores = 8 } };
	static uint32_t kind_of[1000];
	struct scene s = { .nodes = 1000 };
	const struct sl_space *sp;

	(void) state;
	s.tl = sl_timeline_create(s.nodes, kind_of, &kind, 1, 0, NULL);
	book_each(&s, 0, 499, 1, 0, 1000);
	for (uint32_t i = 0; i < 2 * count; i++) {
		struct sl_request all = { .tasks = 7500, .duration = ends[i % count] };

		if (i == 1)
			book_each(&s, 999, 999, 8, 100, 200);
		if (i == count) {
			book_each(&s, 0, 99, 7, 300, 400);
			book_each(&s, 998, 998, 8, 320, 340);
		}
		ask_both(&s, &all, false);
		all.tasks = 7300;
		ask_both(&s, &all, false);
	}
	sp = s.tl->space;
	assert_true(sp->sheets && sp->sheets->uses >= 3 * count);
	sl_timeline_destroy(s.tl);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cores_beside_the_timeline_count),
		cmocka_unit_test(sheets_are_moved_to_other_ends),
		cmocka_unit_test_teardown(sheets_make_no_difference, say_seed),
		cmocka_unit_test_teardown(a_shelf_bounds_all_timelines, say_seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
