/* SPDX-License-Identifier: MIT */
/*
 * Places that are held for jobs for which others were stopped in an earlier cycle: who has them, and what becomes of them.
 */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "check/check.h"
#include "model/preempt.h"
#include "model/prospect.h"
#include "t/model/four_nodes.h"

/* Node 0 is held for job 7, since its job has ended. */
static struct build *one_held(void)
{
	struct build *b = build_create("2x8c");
	struct sl_held_row h = sl_held_row();

	build_running(b, (struct build_job) { .id = 2, .first = 1, .ends_in = 3600 });
	build_stoppable(b, 2, SL_STOP_CANCEL);
	build_pending(b, (struct build_job) { .id = 7, .nodes = 1, .exclusive = true, .limit = 3600 });
	build_may_preempt(b, 7);
	build_pending(b, (struct build_job) { .id = 8, .nodes = 1, .exclusive = true, .limit = 60 });
	h.job = build_job_row(b, 7);
	h.partition = 0;
	h.since = BUILD_NOW - 20;
	h.until = BUILD_NOW + 500;
	h.places = (struct sl_range) { sl_builder_append(b->builder, SL_T_ALLOC, &(struct sl_alloc_row) { .node = 0, .cores = 8 }), 1 };
	sl_builder_append(b->builder, SL_T_HELD, &h);
	return b;
}

static void nobody_else_starts_on_a_place_that_is_held(void **state)
{
	struct desk d = sit_at(one_held());

	(void) state;
	assert_int_equal(start(&d, 8), 0);
	assert_int_equal(reserve(&d, 8), 1);
	assert_int_equal(d.at, 3600);	/* when the other node's job ends */
	assert_int_equal(start(&d, 7), 1);
	assert_string_equal(where(&d, 7), "n0:8");
	accepted(&d);
	assert_int_equal(d.plan.start.native[0], 0);
	assert_int_equal(d.plan.hold.rows, 0);
	leave(&d);
}

static void the_checker_refuses_who_starts_on_a_place_that_is_held(void **state)
{
	struct build *b = one_held();
	struct desk d;

	(void) state;
	/* of a plan that does not know of it */
	build_change(b, SL_T_HELD, 0, sl_held_row, .until = BUILD_NOW);
	d = sit_at(b);
	assert_int_equal(start(&d, 8), 1);
	accepted(&d);
	build_change(b, SL_T_HELD, 0, sl_held_row, .until = BUILD_NOW + 500);
	build_open(b);
	assert_int_equal(sl_check_plan(&b->snap, &d.plan, &d.err), -1);
	assert_non_null(strstr(d.err.text, "job 8: node n0: 16 cores in use now, it has 8"));
	leave(&d);
}

static void who_has_a_held_place_stops_nobody_else(void **state)
{
	struct build *b = one_held();
	struct desk d;
	struct asked a;

	(void) state;
	build_running(b, (struct build_job) { .id = 1, .first = 0, .ends_in = 30 });	/* its victim, which is about to end */
	d = sit_at(b);
	assert_int_equal(start(&d, 7), 0);
	a = ask(&d, 7, NULL);
	assert_int_equal(a.rc, 1);
	assert_true(a.answer.is_held);
	assert_int_equal(a.victims, 0);
	assert_int_equal(a.answer.start, BUILD_NOW + 30);
	accepted(&d);
	assert_int_equal(d.plan.hold.rows + d.plan.stop.rows, 0);
	leave(&d);
}

static void a_place_that_cannot_be_had_in_time_is_released(void **state)
{
	struct build *b = one_held();
	struct desk d;
	struct asked a;

	(void) state;
	build_change(b, SL_T_NODE, 0, sl_node_row, .state = SL_NODE_DOWN);
	d = sit_at(b);
	a = ask(&d, 7, NULL);	/* the other node is one that it may have */
	assert_int_equal(a.rc, 1);
	assert_int_equal(a.victims, 1);
	accepted(&d);
	assert_int_equal(d.plan.hold.rows, 1);
	assert_int_equal(d.plan.hold.release[0], 0);
	leave(&d);
}

/* Three nodes are held for job 7, for which their jobs were stopped, which have the nodes still; those of jobs 4 and 5 are no part of it. */
static struct build *three_held(void)
{
	struct build *b = build_create("5x8c");
	struct sl_held_row h = sl_held_row();

	for (uint32_t id = 1; id <= 5; id++) {
		build_running(b, (struct build_job) { .id = id, .first = id - 1, .ends_in = id <= 3 ? 60 : 3600 });
		build_change_job(b, id, .start_time = BUILD_NOW - 600 * (int64_t) id);
		build_stoppable(b, id, SL_STOP_REQUEUE);
		if (id > 3)
			continue;
		build_change_job(b, id, .preempt_time = BUILD_NOW - 10);
		note_stopped(b, id, 7, 10);
	}
	build_pending(b, (struct build_job) { .id = 7, .nodes = 3, .exclusive = true, .limit = 3600 });
	build_may_preempt(b, 7);
	h.job = build_job_row(b, 7);
	h.partition = 0;
	h.since = BUILD_NOW - 10;
	h.until = BUILD_NOW + 600;
	for (uint32_t n = 0; n < 3; n++)
		(void) sl_builder_append(b->builder, SL_T_ALLOC, &(struct sl_alloc_row) { .node = n, .cores = 8 });
	h.places = (struct sl_range) { sl_builder_rows(b->builder, SL_T_ALLOC) - 3, 3 };
	sl_builder_append(b->builder, SL_T_HELD, &h);
	return b;
}

static void if_a_node_of_a_held_place_fails_only_what_it_gave_is_stopped_for(void **state)
{
	static const uint32_t failed[] = { SL_NODE_DOWN, SL_NODE_DRAIN };

	(void) state;
	for (int i = 0; i < 2; i++) {
		struct build *b = three_held();
		struct desk d;
		struct asked a;

		build_change(b, SL_T_NODE, 1, sl_node_row, .state = failed[i]);
		d = sit_at(b);
		assert_int_equal(start(&d, 7), 0);
		a = ask(&d, 7, NULL);
		assert_int_equal(a.rc, 1);
		assert_int_equal(a.victims, 1);
		assert_int_equal(a.id[0], 4);
		assert_string_equal(where(&d, 7), "n0:8 n2:8 n3:8");
		assert_int_equal(a.answer.start, BUILD_NOW + 60);
		accepted(&d);
		assert_int_equal(d.plan.hold.rows, 1);
		assert_int_equal(d.plan.hold.release[0], 0);
		leave(&d);
	}
}

static void a_place_that_fails_twice_is_not_made_good_at_once(void **state)
{
	struct build *b = three_held();
	struct desk d;

	(void) state;
	note_stopped(b, 6, 7, 400);
	build_change(b, SL_T_NODE, 1, sl_node_row, .state = SL_NODE_DOWN);
	d = sit_at(b);
	assert_int_equal(ask(&d, 7, NULL).rc, 0);
	assert_string_equal(sl_refusal_text(&d.why),
			    "others were stopped for it and the place was not had: again in 290 s at the earliest");
	accepted(&d);
	assert_int_equal(d.plan.hold.rows, 1);
	assert_int_equal(d.plan.hold.release[0], 1);
	leave(&d);
}

static void a_place_that_is_released_is_anybodys_in_the_same_plan(void **state)
{
	struct build *b = one_held();
	struct desk d;

	(void) state;
	build_running(b, (struct build_job) { .id = 1, .first = 0, .cores = 4, .ends_in = 3600 });	/* it is late */
	build_pending(b, (struct build_job) { .id = 9, .tasks = 4, .limit = 60 });
	d = sit_at(b);
	assert_int_equal(start(&d, 9), 0);
	assert_int_equal(ask(&d, 7, NULL).id[0], 2);
	assert_int_equal(start(&d, 9), 1);
	assert_string_equal(where(&d, 9), "n0:4");
	accepted(&d);
	leave(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_else_starts_on_a_place_that_is_held),
		cmocka_unit_test(the_checker_refuses_who_starts_on_a_place_that_is_held),
		cmocka_unit_test(who_has_a_held_place_stops_nobody_else),
		cmocka_unit_test(a_place_that_cannot_be_had_in_time_is_released),
		cmocka_unit_test(if_a_node_of_a_held_place_fails_only_what_it_gave_is_stopped_for),
		cmocka_unit_test(a_place_that_fails_twice_is_not_made_good_at_once),
		cmocka_unit_test(a_place_that_is_released_is_anybodys_in_the_same_plan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
