/* SPDX-License-Identifier: MIT */
/* Layouts that are given, and what can be done with one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "where.h"

/* -- explicit layouts ---------------------------------------------------- */

static void an_explicit_layout_is_taken_or_refused_as_it_is(void **state)
{
	struct sl_timeline *tl = machine(4, NULL);
	const struct sl_pick picks[] = { { 3, 6 }, { 1, 2 } }, open[] = { { 2, 3 }, { 0, 0 }, { 1, 0 } };
	const struct sl_pick twice[] = { { 1, 1 }, { 1, 1 } }, beyond[] = { { 4, 1 } };
	struct sl_how how = { .method = SL_PLACE_EXPLICIT, .picks = picks, .count = 2 };
	struct sl_request r = { .min_nodes = 1, .tasks = 8, .memory_per_core = 10, .duration = 10 };
	struct sl_layout l = SL_LAYOUT_EMPTY;

	(void) state;
	assert_int_equal(sl_fit_at(tl, &r, &how, 0, &l, NULL, NULL), 1);
	assert_string_equal(text_of(&l), "1:2 3:6");
	assert_int_equal(l.share[0].each.memory, 60);
	r.tasks = 9;
	assert_string_equal(at(tl, &r, &how, 0), "needs room for 9 tasks or cores, 8 could ever be had");
	r.tasks = 7;
	assert_string_equal(at(tl, &r, &how, 0), "asks for 7 where 8 is what it allows");
	r.tasks = 8;
	book(tl, "3", 3, 0, 20);
	assert_string_equal(earliest(tl, &r, &how, 0, SL_FOREVER), "@20 1:2 3:6");
	how.picks = open;
	how.count = 3;
	assert_string_equal(at(tl, &r, &how, 0), "0:4 1:1 2:3");
	how.picks = twice;
	how.count = 2;
	assert_string_equal(at(tl, &r, &how, 0), "error: layout: node 1 stands in it twice");
	how.picks = beyond;
	how.count = 1;
	assert_string_equal(at(tl, &r, &how, 0), "error: layout: node 4: there are 4");
	sl_layout_free(&l);
	sl_timeline_destroy(tl);
}

/* -- layouts ------------------------------------------------------------- */

static void a_layout_goes_to_places_and_back(void **state)
{
	const struct sl_place in[] = {
		{ .node = 4, .cores = 2, .memory = 5 }, { .node = 1, .cores = 2, .memory = 5 },
		{ .node = 2, .cores = 2, .memory = 6 }, { .node = 0, .cores = 2, .memory = 5, .gres = { 1 } },
	}, twice[] = { { .node = 1, .cores = 1 }, { .node = 1, .cores = 2 } };
	struct sl_layout l = SL_LAYOUT_EMPTY, m = SL_LAYOUT_EMPTY;
	struct sl_place out[4];

	(void) state;
	assert_int_equal(sl_layout_from_places(&l, in, 4, NULL), 0);
	assert_int_equal(l.shares, 3);
	assert_int_equal(l.nodes, 4);
	assert_int_equal(l.cores, 8);
	sl_layout_places(&l, out);
	assert_memory_equal(&out[0], &in[3], sizeof(out[0]));
	assert_memory_equal(&out[1], &in[1], sizeof(out[0]));
	assert_memory_equal(&out[3], &in[0], sizeof(out[0]));
	assert_int_equal(sl_layout_copy(&m, &l, NULL), 0);
	assert_int_equal(sl_layout_from_places(&l, twice, 2, NULL), -1);
	assert_int_equal(l.nodes, 0);
	assert_int_equal(sl_layout_from_places(&l, (struct sl_place[]) { twice[0], twice[0] }, 2, NULL), -1);
	assert_string_equal(text_of(&m), "0-2:2 4:2");
	sl_layout_free(&l);
	sl_layout_free(&m);
}

static void a_layout_is_booked_wholly_or_not_at_all(void **state)
{
	struct sl_timeline *tl = machine(4, NULL);
	struct sl_layout l = SL_LAYOUT_EMPTY;
	struct sl_free_now f;

	(void) state;
	assert_int_equal(sl_layout_add(&l, 0, 2, &(struct sl_resources) { .cores = 2 }, NULL), 0);
	assert_int_equal(sl_layout_add(&l, 3, 3, &(struct sl_resources) { .cores = 7 }, NULL), 0);
	book(tl, "3", 2, 0, 100);
	assert_int_equal(sl_layout_book(tl, &l, 0, 10, NULL), -1);
	sl_timeline_free_now(tl, &f);
	assert_int_equal(f.cores, 30);
	assert_int_equal(sl_layout_book(tl, &l, 100, 110, NULL), 0);
	assert_int_equal(sl_layout_unbook(tl, &l, 100, 111, NULL), -1);
	assert_int_equal(sl_layout_unbook(tl, &l, 100, 110, NULL), 0);
	assert_int_equal(sl_timeline_validate(tl, NULL), 0);
	assert_int_equal(sl_timeline_next(tl, 0), 100);
	assert_true(sl_timeline_next(tl, 100) == SL_FOREVER);
	sl_layout_free(&l);
	sl_timeline_destroy(tl);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_explicit_layout_is_taken_or_refused_as_it_is),
		cmocka_unit_test(a_layout_goes_to_places_and_back),
		cmocka_unit_test(a_layout_is_booked_wholly_or_not_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
