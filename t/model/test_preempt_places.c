/* SPDX-License-Identifier: MIT */
/*
 * Several places that are held at once, and several jobs for which others are stopped in one plan: who has what, and who is
 * stopped for nothing.  Random machines, on each of which the checker accepts whatever the plan decides.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "check/check.h"
#include "t/model/four_nodes.h"
#include "t/model/random_verb.h"

/* A job that waits, with so many tasks, and may preempt. */
static void add_taker(struct build *b, uint32_t id, uint32_t tasks)
{
	build_pending(b, (struct build_job) { .id = id, .tasks = tasks, .limit = 600 });
	build_may_preempt(b, id);
}

/* So many cores of a node are held for it. */
static void add_held(struct build *b, uint32_t id, uint32_t node, uint32_t cores)
{
	struct sl_held_row h = sl_held_row();

	h.job = build_job_row(b, id);
	h.partition = 0;
	h.since = BUILD_NOW - 2;
	h.until = BUILD_NOW + 500;
	h.places = (struct sl_range) { sl_builder_append(b->builder, SL_T_ALLOC, &(struct sl_alloc_row) { .node = node, .cores = cores }), 1 };
	sl_builder_append(b->builder, SL_T_HELD, &h);
}

static void add_running(struct build *b, uint32_t id, uint32_t node, uint32_t cores, int64_t ends_in)
{
	build_running(b, (struct build_job) { .id = id, .first = node, .cores = cores, .ends_in = ends_in });
	build_change_job(b, id, .start_time = BUILD_NOW - 60 * (int64_t) id);
}

/* It was told to end. */
static void add_ending(struct build *b, uint32_t id, uint32_t node, uint32_t cores, int64_t ends_in)
{
	add_running(b, id, node, cores, ends_in);
	build_stoppable(b, id, SL_STOP_REQUEUE);
	build_change_job(b, id, .preempt_time = BUILD_NOW - 2);
}

/* -- held places ------------------------------------------------------------------- */

static void a_job_starts_on_its_place_though_a_later_one_waits_for_the_rest(void **state)
{
	struct build *b = build_create("1x8c");
	struct desk d;

	(void) state;
	add_running(b, 1, 0, 2, 3600);
	add_ending(b, 2, 0, 3, 1);
	for (uint32_t id = 5; id <= 7; id++)
		add_taker(b, id, id == 7 ? 2 : 1);
	for (uint32_t id = 5; id <= 7; id++)
		add_held(b, id, 0, id == 7 ? 2 : 1);
	d = sit_at(b);
	assert_int_equal(start(&d, 5), 1);
	assert_int_equal(start(&d, 6), 1);
	assert_int_equal(start(&d, 7), 0);
	assert_true(ask(&d, 7, NULL).answer.is_held);
	accepted(&d);
	leave(&d);
}

static bool start_on(struct desk *d, uint32_t id, uint32_t node, uint32_t cores)
{
	struct sl_pick pick = { .node = node, .cores = cores };
	struct sl_how how = { .method = SL_PLACE_EXPLICIT, .picks = &pick, .count = 1 };
	struct sl_terms terms = { .how = &how };

	return checked(d, sl_plan_start(d->p, entry(d, id), &terms, &d->why, &d->err)) > 0;
}

/* Of node 0 two cores are free, which are held for job 5; and for job 6, for which job 1 is about to end. */
static struct build *two_for_one_place(void)
{
	struct build *b = build_create("2x8c");

	add_ending(b, 1, 0, 6, 1);
	add_taker(b, 5, 2);
	add_taker(b, 6, 2);
	build_pending(b, (struct build_job) { .id = 8, .tasks = 1, .limit = 60 });
	add_held(b, 5, 0, 2);
	add_held(b, 6, 0, 2);
	return b;
}

static void what_a_job_leaves_of_its_place_is_held_for_the_next(void **state)
{
	struct desk d = sit_at(two_for_one_place());

	(void) state;
	assert_true(start_on(&d, 5, 1, 2));
	assert_false(start_on(&d, 8, 0, 1));
	assert_true(start_on(&d, 6, 0, 2));
	accepted(&d);
	leave(&d);
}

static void whoever_takes_what_a_job_leaves_of_its_place_is_refused(void **state)
{
	struct build *b = two_for_one_place();
	struct desk d;

	(void) state;
	build_change(b, SL_T_HELD, 1, sl_held_row, .until = BUILD_NOW);	/* of a plan that does not know of it */
	d = sit_at(b);
	assert_true(start_on(&d, 5, 1, 2));
	assert_true(start_on(&d, 8, 0, 1));
	accepted(&d);
	build_change(b, SL_T_HELD, 1, sl_held_row, .until = BUILD_NOW + 500);
	build_open(b);
	assert_int_equal(sl_check_plan(&b->snap, &d.plan, &d.err), -1);
	assert_string_equal(d.err.text, "job 8: node n0: 9 cores in use now, it has 8");
	leave(&d);
}

/* -- stops for nothing ----------------------------------------------------------------- */

/* One core is free.  Job 11 needs one more, for which job 2 is stopped; job 12 needs one, which only job 1 gives, and four more. */
static struct desk two_takers(void)
{
	struct build *b = build_create("1x8c");

	add_running(b, 1, 0, 5, 3600);
	add_running(b, 2, 0, 1, 3600);
	add_running(b, 3, 0, 1, 3600);
	build_stoppable(b, 1, SL_STOP_REQUEUE);
	build_stoppable(b, 2, SL_STOP_REQUEUE);
	add_taker(b, 11, 2);
	add_taker(b, 12, 1);
	add_taker(b, 13, 3);
	return sit_at(b);
}

static void who_is_not_needed_since_another_is_stopped_goes_on(void **state)
{
	struct desk d = two_takers();

	(void) state;
	assert_int_equal(ask(&d, 11, NULL).id[0], 2);
	assert_int_equal(ask(&d, 12, NULL).id[0], 1);
	accepted(&d);
	assert_int_equal(d.plan.stop.rows, 1);
	assert_int_equal(d.plan.stop.job[0], 1);
	assert_int_equal(d.plan.stop.preemptor[0], 12);
	assert_int_equal(d.plan.hold.rows, 1);
	assert_int_equal(d.plan.hold.job[0], 12);
	assert_int_equal(sl_plan_job(d.p, row(&d, 11)), SL_PLAN_RESERVED);
	/* and what is left is to be had: three cores, one less than if both had gone */
	assert_int_equal(ask(&d, 13, NULL).rc, 1);
	accepted(&d);
	leave(&d);
}

static void who_is_not_needed_since_a_reservation_was_taken_back_goes_on(void **state)
{
	struct build *b = build_create("1x8c");
	struct desk d;

	(void) state;
	add_running(b, 1, 0, 4, 3600);
	build_stoppable(b, 1, SL_STOP_REQUEUE);
	add_taker(b, 11, 4);
	add_taker(b, 12, 4);
	d = sit_at(b);
	assert_int_equal(reserve(&d, 11), 1);
	assert_int_equal(ask(&d, 12, NULL).victims, 1);
	assert_int_equal(sl_plan_undo(d.p, row(&d, 11), &d.err), 0);
	accepted(&d);
	assert_int_equal(d.plan.stop.rows + d.plan.hold.rows, 0);
	leave(&d);
}

/* -- random machines ------------------------------------------------------------------- */

struct room {
	struct build *b;
	uint64_t seed;
	uint32_t nodes, each, free[4], ids, held;
};

static uint32_t below(struct room *m, uint32_t limit)
{
	return build_below(&m->seed, limit);
}

static void draw_running(struct room *m)
{
	uint32_t n = below(m, m->nodes), id = ++m->ids, cores = m->free[n] ? 1 + below(m, m->free[n] < 5 ? m->free[n] : 5) : 0;

	if (!cores)
		return;
	m->free[n] -= cores;
	if (!below(m, 4)) {
		add_ending(m->b, id, n, cores, 1 + below(m, 4));
		return;
	}
	add_running(m->b, id, n, cores, 300 + 300 * (int64_t) below(m, 6));
	if (below(m, 5))
		build_stoppable(m->b, id, SL_STOP_REQUEUE);
	build_change_job(m->b, id, .grace_time = below(m, 3) ? 0 : 3);
	if (!below(m, 4))
		build_change_job(m->b, id, .comment = sl_builder_str(m->b->builder, below(m, 2) ? "gang=a" : "gang=b"));
}

static void draw_waiting(struct room *m)
{
	uint32_t id = ++m->ids, tasks = 1 + below(m, m->each);

	if (!below(m, 4)) {
		build_pending(m->b, (struct build_job) { .id = id, .tasks = tasks, .limit = 60 + 300 * below(m, 4) });
		return;
	}
	add_taker(m->b, id, tasks);
	if (below(m, 2))
		build_change_job(m->b, id, .max_nodes = 1);
	if (!below(m, 3) && m->held++ < 4)
		add_held(m->b, id, below(m, m->nodes), tasks);
}

static struct desk draw_desk(uint64_t seed)
{
	struct room m = { .seed = seed };
	char text[32];

	m.nodes = 1 + below(&m, 3);
	m.each = 3 + below(&m, 6);
	snprintf(text, sizeof(text), "%" PRIu32 "x%" PRIu32 "c", m.nodes, m.each);
	m.b = build_create(text);
	for (uint32_t n = 0; n < m.nodes; n++)
		m.free[n] = m.each;
	for (uint32_t i = 3 + below(&m, 10); i--; )
		draw_running(&m);
	for (uint32_t i = 2 + below(&m, 7); i--; )
		draw_waiting(&m);
	return sit_at(m.b);
}

static void preempt_any(struct desk *d, uint64_t *s)
{
	uint32_t count;
	const struct sl_entry *queue = sl_cluster_queue(d->c, &count);
	struct sl_preempt_answer answer;

	if (!count)
		return;
	checked(d, sl_plan_preempt(d->p, queue[build_below(s, count)], NULL, &answer, &d->err));
	sl_preempt_answer_free(&answer);
}

static void the_checker_accepts_what_is_decided_on_random_machines(void **state)
{
	uint32_t stops = 0, held = 0, gone = 0, shorts = 0;

	(void) state;
	for (uint64_t seed = 1; seed <= 4000; seed++) {
		struct desk d = draw_desk(seed);
		uint64_t s = seed * 7919;

		assert_int_equal(sl_plan_own_stops(d.p, 0, &d.err), 0);	/* (as sched.preempt does) */
		for (uint32_t i = 3 + build_below(&s, 8); i--; )
			if (build_below(&s, 2))
				preempt_any(&d, &s);
			else
				random_verb(&d, &s);
		encode(&d, false);
		/* (what is said to be short beside jobs that are ending anyway is not the subject here) */
		if (sl_check_plan(&d.b->snap, &d.plan, &d.err) < 0 && !(strstr(d.err.text, "not short of") && ++shorts))
			fail_msg("seed %" PRIu64 ": %s", seed, d.err.text);
		stops += d.plan.stop.rows;
		held += d.b->snap.held.rows;
		gone += d.plan.hold.rows;
		leave(&d);
	}
	print_message("%u stops, %u places of the snapshot, %u made or given up\n", stops, held, gone);
	assert_true(stops > 1000 && held > 1000 && gone > 1000 && shorts < 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_starts_on_its_place_though_a_later_one_waits_for_the_rest),
		cmocka_unit_test(what_a_job_leaves_of_its_place_is_held_for_the_next),
		cmocka_unit_test(whoever_takes_what_a_job_leaves_of_its_place_is_refused),
		cmocka_unit_test(who_is_not_needed_since_another_is_stopped_goes_on),
		cmocka_unit_test(who_is_not_needed_since_a_reservation_was_taken_back_goes_on),
		cmocka_unit_test(the_checker_accepts_what_is_decided_on_random_machines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
