/* SPDX-License-Identifier: MIT */
/*
 * Nodes that have to boot: others come first, a boot costs its time, and jobs may rather wait.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "check/check.h"
#include "t/model/desk.h"

/* A letter for each node: u up, b boots since ten seconds ago, s asleep, f asleep and has failed to boot; boots take 300 s. */
static struct build *nodes_in(const char *states)
{
	struct build *b = build_create(states[4] ? "5x4c" : "4x4c");

	for (uint32_t n = 0; states[n]; n++) {
		build_change(b, SL_T_NODE, n, sl_node_row, .resume_timeout = 300);
		if (states[n] == 'u')
			continue;
		build_change(b, SL_T_NODE, n, sl_node_row,
			     .state = states[n] == 'b' ? SL_NODE_POWERING_UP : SL_NODE_POWERED_DOWN);
		build_change(b, SL_T_NODE, n, sl_node_row, .power_time = BUILD_NOW - 10);
		if (states[n] == 'f')
			build_change(b, SL_T_NODE, n, sl_node_row,
				     .reason = sl_builder_str(b->builder, "ResumeTimeout reached [slurm@2026-01-01]"));
	}
	return b;
}

static void weigh(struct build *b, uint32_t node, uint32_t weight)
{
	build_change(b, SL_T_NODE, node, sl_node_row, .weight = weight);
}

static void add_job(struct build *b, uint32_t id, uint32_t nodes, int64_t limit)
{
	build_pending(b, (struct build_job) { .id = id, .nodes = nodes, .exclusive = true, .limit = limit });
}

static void nodes_that_are_up_come_first_whatever_their_weight_and_the_method(void **state)
{
	static const enum sl_place_method method[] = { SL_PLACE_BESTFIT, SL_PLACE_PACK, SL_PLACE_SPREAD, SL_PLACE_TIGHT,
						       SL_PLACE_LEAST_LOADED, SL_PLACE_NATIVE, SL_PLACE_CONTIGUOUS };

	(void) state;
	for (size_t i = 0; i < sizeof(method) / sizeof(method[0]); i++) {
		struct build *b = nodes_in("sbuu");
		struct sl_how how = { .method = method[i] };
		struct sl_terms terms = { .how = &how };
		struct desk d;

		weigh(b, 2, UINT32_MAX);
		weigh(b, 3, 1000);
		add_job(b, 1, 2, 600);
		d = sit(b);
		assert_int_equal(checked(&d, sl_plan_start(d.p, entry(&d, 1), &terms, &d.why, &d.err)), 1);
		assert_string_equal(where(&d, 1), "n2:4 n3:4");
		accepted(&d);
		leave(&d);
	}
}

static void of_others_those_that_boot_come_first_and_those_that_failed_to_last(void **state)
{
	static const char *const want[] = { "n3:4", "n2:4", "n1:4", "n4:4", "n0:4" };
	struct build *b = nodes_in("fsbus");
	struct desk d;

	(void) state;
	weigh(b, 2, 500);
	weigh(b, 3, 900);
	weigh(b, 4, 7);
	for (uint32_t id = 1; id <= 5; id++)
		add_job(b, id, 1, 600);
	d = sit(b);
	for (uint32_t id = 1; id <= 5; id++) {
		assert_int_equal(start(&d, id), 1);
		assert_string_equal(where(&d, id), want[id - 1]);
	}
	accepted(&d);
	leave(&d);
}

/* Two jobs on four nodes in those states, of which the first starts: in how many seconds the other one does, on all. */
static int64_t follows(const char *states)
{
	struct build *b = nodes_in(states);
	struct desk d;
	int64_t at;

	add_job(b, 1, 3, 600);
	add_job(b, 2, 4, 600);
	d = sit(b);
	assert_int_equal(start(&d, 1), 1);
	assert_int_equal(reserve(&d, 2), 1);
	at = d.at;
	accepted(&d);
	leave(&d);
	return at;
}

/* The first node was told to boot at some time, seconds from now.  Job 1 requires it, job 2 any two nodes: the first one's
 * start if it is planned, SL_UNLIMITED if not, and the second one starts at once. */
static int64_t start_on_booting(int64_t told, const char **why)
{
	static char text[256];
	struct build *b = nodes_in("buuu");
	struct desk d;
	int64_t at;

	build_change(b, SL_T_NODE, 0, sl_node_row, .power_time = BUILD_NOW + told);
	add_job(b, 1, 1, 600);
	build_change_job(b, 1, .req_nodes = build_nodes(b, 0, 0));
	add_job(b, 2, 2, 600);
	d = sit(b);
	at = reserve(&d, 1) ? d.at : SL_UNLIMITED;
	snprintf(text, sizeof(text), "%s", sl_refusal_text(&d.why));
	*why = text;
	assert_int_equal(backfill(&d, 2), 1);
	accepted(&d);
	leave(&d);
	return at;
}

static void who_waits_for_a_node_that_does_not_come_up_is_told_and_nobody_else_waits(void **state)
{
	const char *why;

	(void) state;
	assert_int_equal(start_on_booting(-10, &why), 0);
	assert_int_equal(start_on_booting(-300, &why), 0);
	assert_int_equal(start_on_booting(-301, &why), SL_UNLIMITED);
	assert_string_equal(why, "requires node n0, which is not up although its ResumeTimeout has passed");
}

static void a_step_of_the_clock_during_a_boot_keeps_nobody_waiting(void **state)
{
	const char *why;

	(void) state;
	assert_int_equal(start_on_booting(36000, &why), 0);	/* back: it boots since now */
	assert_int_equal(start_on_booting(INT64_MAX / 2, &why), 0);
	assert_int_equal(start_on_booting(-36000, &why), SL_UNLIMITED);	/* on: it should have been up for long */
	assert_int_equal(start_on_booting(-BUILD_NOW, &why), 0);	/* not known: since now */
}

static void a_boot_costs_its_time(void **state)
{
	(void) state;
	assert_int_equal(follows("uuus"), 600);
	assert_int_equal(follows("uuss"), 900);
	assert_int_equal(follows("uubs"), 890);
	assert_int_equal(follows("ssss"), 900);
}

static void a_plan_that_forgets_a_boot_is_refused(void **state)
{
	struct build *b = nodes_in("uuss");
	struct desk d;

	(void) state;
	add_job(b, 1, 3, 600);
	add_job(b, 2, 4, 600);
	d = sit(b);
	assert_int_equal(start(&d, 1), 1);
	assert_int_equal(reserve(&d, 2), 1);
	accepted(&d);
	((int64_t *) d.plan.reserve.start_time)[0] = BUILD_NOW + 899;
	assert_int_equal(sl_check_plan(&d.b->snap, &d.plan, &d.err), -1);
	assert_non_null(strstr(d.err.text, "in use"));
	leave(&d);
}

static void a_job_does_not_boot_nodes_into_a_reservation(void **state)
{
	struct build *b = nodes_in("ssss");
	struct desk d;

	(void) state;
	build_reservation(b, "maint", 800, 9000, 0, 3);
	add_job(b, 1, 1, 600);
	add_job(b, 2, 1, 500);
	d = sit(b);
	assert_int_equal(start(&d, 1), 0);
	assert_int_equal(start(&d, 2), 1);
	accepted(&d);
	leave(&d);
}

static void a_job_that_boots_its_nodes_ends_when_they_have_been_up_for_its_time(void **state)
{
	struct build *b = nodes_in("sbuu");
	struct desk d;

	(void) state;
	build_running(b, (struct build_job) { .id = 1, .nodes = 2, .ends_in = 600 });
	build_change_job(b, 1, .time_limit = 600);
	build_change_job(b, 1, .flags |= SL_JOBF_POWER_UP);
	add_job(b, 2, 4, 600);
	d = sit(b);
	assert_int_equal(reserve(&d, 2), 1);
	assert_int_equal(d.at, 900);
	accepted(&d);
	leave(&d);
}

/* -- waiting rather than waking ------------------------------------------- */

static void a_job_may_rather_wait_for_nodes_that_are_up(void **state)
{
	static const struct { int64_t wait, at; const char *where; } want[] = {
		{ 0, 0, "n2:4 n3:4" }, { 239, 0, "n2:4 n3:4" }, { 240, 240, "n0:4 n1:4" }, { 100000, 240, "n0:4 n1:4" },
	};

	(void) state;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		struct build *b = nodes_in("uuss");
		struct desk d;

		build_running(b, (struct build_job) { .id = 1, .nodes = 2, .ends_in = 240 });
		add_job(b, 2, 2, 600);
		d = sit(b);
		sl_plan_wake_after(d.p, want[i].wait);
		assert_int_equal(start(&d, 2), !want[i].at);
		if (want[i].at) {
			assert_string_equal(sl_refusal_text(&d.why), want[i].wait == 240 ?
				"waits for nodes that are up, for 240 s at most, and wakes no others" :
				"waits for nodes that are up, for 100000 s at most, and wakes no others");
			assert_int_equal(reserve(&d, 2), 1);
			assert_int_equal(d.at, want[i].at);
		}
		assert_string_equal(where(&d, 2), want[i].where);
		accepted(&d);
		leave(&d);
	}
}

static void a_job_that_wants_more_nodes_than_will_be_up_wakes_them_whatever_it_waits_for(void **state)
{
	struct build *b = nodes_in("uuss");
	struct desk d;

	(void) state;
	add_job(b, 2, 3, 600);
	d = sit(b);
	sl_plan_wake_after(d.p, 1 << 20);
	assert_int_equal(start(&d, 2), 1);
	accepted(&d);
	leave(&d);
}

static void a_job_does_not_wait_for_nodes_that_are_up_only_when_its_deadline_is_too_near(void **state)
{
	/* nodes that are up are free in 240 s; the job has 600 s, or may be cut to *least* */
	static const struct { int64_t deadline, least; bool waits; } want[] = {
		{ 839, 0, false }, { 840, 0, true }, { 500, 300, false }, { 540, 300, true },
	};

	(void) state;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		struct build *b = nodes_in("uuss");
		struct desk d;

		build_running(b, (struct build_job) { .id = 1, .nodes = 2, .ends_in = 240 });
		add_job(b, 2, 2, 600);
		build_change_job(b, 2, .deadline = BUILD_NOW + want[i].deadline);
		build_change_job(b, 2, .time_min = want[i].least);
		d = sit(b);
		sl_plan_wake_after(d.p, 1000);
		assert_int_equal(start(&d, 2), !want[i].waits);
		if (want[i].waits) {
			assert_int_equal(reserve(&d, 2), 1);
			assert_int_equal(d.at, 240);
		}
		accepted(&d);
		leave(&d);
	}
}

static void a_job_does_not_wait_for_nodes_that_are_up_only_when_its_reservation_has_ended(void **state)
{
	(void) state;
	for (int64_t end = 240; end <= 241; end++) {
		struct build *b = nodes_in("uuss");
		struct desk d;

		build_reservation(b, "class", 0, end, 0, 3);
		build_running(b, (struct build_job) { .id = 1, .nodes = 2, .ends_in = 240 });
		add_job(b, 2, 2, 600);
		build_change_job(b, 2, .reservation = sl_builder_str(b->builder, "class"));
		d = sit(b);
		sl_plan_wake_after(d.p, 1000);
		assert_int_equal(start(&d, 2), end == 240);
		leave(&d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_that_are_up_come_first_whatever_their_weight_and_the_method),
		cmocka_unit_test(of_others_those_that_boot_come_first_and_those_that_failed_to_last),
		cmocka_unit_test(who_waits_for_a_node_that_does_not_come_up_is_told_and_nobody_else_waits),
		cmocka_unit_test(a_step_of_the_clock_during_a_boot_keeps_nobody_waiting),
		cmocka_unit_test(a_boot_costs_its_time),
		cmocka_unit_test(a_plan_that_forgets_a_boot_is_refused),
		cmocka_unit_test(a_job_does_not_boot_nodes_into_a_reservation),
		cmocka_unit_test(a_job_that_boots_its_nodes_ends_when_they_have_been_up_for_its_time),
		cmocka_unit_test(a_job_may_rather_wait_for_nodes_that_are_up),
		cmocka_unit_test(a_job_that_wants_more_nodes_than_will_be_up_wakes_them_whatever_it_waits_for),
		cmocka_unit_test(a_job_does_not_wait_for_nodes_that_are_up_only_when_its_deadline_is_too_near),
		cmocka_unit_test(a_job_does_not_wait_for_nodes_that_are_up_only_when_its_reservation_has_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
