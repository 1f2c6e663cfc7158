/* SPDX-License-Identifier: MIT */
/* Layouts that are given, and what can be done with one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "t/timeline/where.h"
#include "t/timeline/in_order.h"

/* -- explicit layouts ---------------------------------------------------- */

static void an_explicit_layout_is_taken_or_refused_as_it_is(void **state)
{
	struct sl_timeline *tl = machine(4, NULL);
	const struct sl_pick picks[] = { { 3, 6, 0 }, { 1, 2, 0 } }, open[] = { { 2, 3, 0 }, { 0, 0, 0 }, { 1, 0, 0 } };
	const struct sl_pick twice[] = { { 1, 1, 0 }, { 1, 1, 0 } }, beyond[] = { { 4, 1, 0 } };
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

/* Of two tasks a core; a GPU for each. */
static void a_request_that_says_the_tasks_of_its_nodes_has_them_whatever_the_method(void **state)
{
	struct sl_timeline *tl = machine(4, NULL);
	const struct sl_pick pick[] = { { 1, 0, 1 }, { 2, 0, 2 }, { 3, 0, 2 } };
	struct sl_request r = { .min_nodes = 3, .tasks = 5, .tasks_per_core = 2, .pick = pick, .picks = 3, .duration = 10,
				.gres = { { 1, SL_GRES_PER_TASK, 1, 0 } }, .gres_needs = 1 };
	struct sl_how how = { .method = SL_PLACE_BESTFIT };
	struct sl_layout l = SL_LAYOUT_EMPTY;
	struct sl_misfit m;

	(void) state;
	for (how.method = 0; how.method <= SL_PLACE_NATIVE; how.method++)
		assert_string_equal(at(tl, &r, &how, 0), "1-3:1");
	how.method = SL_PLACE_SPREAD;
	assert_int_equal(sl_fit_at(tl, &r, &how, 0, &l, NULL, NULL), 1);
	assert_int_equal(l.share[0].each.gres[0], 1);
	assert_int_equal(l.share[1].each.gres[0], 2);
	book(tl, "0,2", 8, 0, 30);
	book(tl, "3", 8, 20, 40);
	assert_int_equal(sl_fit_at(tl, &r, &how, 0, NULL, &m, NULL), 0);
	assert_int_equal(m.lack, SL_LACK_REQUIRED);
	assert_int_equal(m.node, 2);
	assert_string_equal(earliest(tl, &r, &how, 0, SL_FOREVER), "@40 1-3:1");
	r.whole_nodes = true;
	assert_string_equal(earliest(tl, &r, &how, 0, SL_FOREVER), "@40 1-3:8");
	sl_layout_free(&l);
	sl_timeline_destroy(tl);
}

static void tasks_that_a_node_never_holds_are_never_placed(void **state)
{
	struct sl_timeline *tl = machine(4, NULL);
	const struct sl_pick pick[] = { { 1, 0, 9 }, { 2, 0, 1 } };
	struct sl_request r = { .min_nodes = 2, .tasks = 10, .pick = pick, .picks = 2, .duration = 10 };
	struct sl_how how = { .method = SL_PLACE_BESTFIT };
	struct sl_misfit m;

	(void) state;
	assert_int_equal(sl_fit_earliest(tl, &r, &how, 0, SL_FOREVER, NULL, NULL, &m, NULL), 0);
	assert_int_equal(m.lack, SL_LACK_REQUIRED);
	assert_int_equal(m.node, 1);
	assert_true(m.ever);
	sl_timeline_destroy(tl);
}

/* -- layouts ------------------------------------------------------------- */

static void a_layout_keeps_nodes_that_get_the_same_together_and_lists_them_in_order(void **state)
{
	const struct { uint32_t node; struct sl_resources each; } in[] = {
		{ 4, { .cores = 2, .memory = 5 } }, { 1, { .cores = 2, .memory = 5 } },
		{ 2, { .cores = 2, .memory = 6 } }, { 0, { .cores = 2, .memory = 5, .gres = { 1 } } },
	};
	const struct sl_place first = { .node = 0, .cores = 2, .tasks = 1, .memory = 5, .gres = { 1 } };
	struct sl_layout l = SL_LAYOUT_EMPTY;
	struct sl_place out[4];

	(void) state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(sl_layout_add(&l, in[i].node, in[i].node, 1, &in[i].each, NULL), 0);
	assert_int_equal(l.shares, 3);
	assert_int_equal(l.nodes, 4);
	assert_int_equal(l.cores, 8);
	assert_int_equal(sl_layout_places(&l, out, NULL), 0);
	assert_memory_equal(&out[0], &first, sizeof(out[0]));
	assert_int_equal(out[2].memory, 6);
	assert_string_equal(text_of(&l), "0-2:2 4:2");
	assert_int_equal(sl_layout_add(&l, 5, 5, 2, &in[0].each, NULL), 0);
	assert_int_equal(l.shares, 4);	/* the same amounts, other tasks */
	sl_layout_free(&l);
}

static void a_layout_is_booked_wholly_or_not_at_all(void **state)
{
	struct sl_timeline *tl = machine(4, NULL);
	struct sl_layout l = SL_LAYOUT_EMPTY;
	struct sl_free_now f;

	(void) state;
	assert_int_equal(sl_layout_add(&l, 0, 2, 1, &(struct sl_resources) { .cores = 2 }, NULL), 0);
	assert_int_equal(sl_layout_add(&l, 3, 3, 1, &(struct sl_resources) { .cores = 7 }, NULL), 0);
	book(tl, "3", 2, 0, 100);
	assert_int_equal(sl_layout_book(tl, &l, 0, 10, NULL), -1);
	sl_timeline_free_now(tl, &f);
	assert_int_equal(f.cores, 30);
	assert_int_equal(sl_layout_book(tl, &l, 100, 110, NULL), 0);
	assert_int_equal(sl_layout_unbook(tl, &l, 100, 111, NULL), -1);
	assert_int_equal(sl_layout_unbook(tl, &l, 100, 110, NULL), 0);
	assert_int_equal(check_timeline(tl, NULL), 0);
	assert_int_equal(sl_timeline_next(tl, 0), 100);
	assert_true(sl_timeline_next(tl, 100) == SL_FOREVER);
	sl_layout_free(&l);
	sl_timeline_destroy(tl);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_explicit_layout_is_taken_or_refused_as_it_is),
		cmocka_unit_test(a_request_that_says_the_tasks_of_its_nodes_has_them_whatever_the_method),
		cmocka_unit_test(tasks_that_a_node_never_holds_are_never_placed),
		cmocka_unit_test(a_layout_keeps_nodes_that_get_the_same_together_and_lists_them_in_order),
		cmocka_unit_test(a_layout_is_booked_wholly_or_not_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
