/* SPDX-License-Identifier: MIT */
/*
 * Plans of which some rows are wrong: which rows are taken out, what is left, what it says of their jobs, and
 * how much work it is to find them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check/check.h"
#include "image/plan_answer.h"
#include "t/check/by_hand.h"

/* A plan without the rows that the checker refuses. */
struct rest {
	struct sl_cuts cuts;
	struct sl_builder *builder;
	struct sl_plan_image plan;
};

/* It is checked again as a whole, and by the rules by which the plug-in takes it. */
static struct rest rest_of(struct build *b, struct built_plan *p)
{
	struct rest r = { .builder = sl_builder_create(&sl_plan_schema, NULL) };
	const struct sl_snapshot *snap = build_open(b);
	const struct sl_plan_image *plan = build_plan_open(p);
	struct sl_error err = { SL_OK, "" };
	const void *bytes;
	size_t size;

	if (sl_check_rows(snap, plan, &r.cuts, &err) || sl_plan_cut(plan, &r.cuts, NULL, r.builder, &err) ||
	    sl_builder_finish(r.builder, &bytes, &size, &err) || sl_plan_image_open(&r.plan, bytes, size, &err) ||
	    sl_check_plan(snap, &r.plan, &err) || sl_plan_answers(&r.plan, snap, &err))
		fail_msg("%s", err.text);
	assert_int_equal(r.plan.refused.rows, r.cuts.count);
	return r;
}

static void end(struct build *b, struct built_plan *p, struct rest *r)
{
	sl_builder_destroy(r->builder);
	sl_cuts_free(&r->cuts);
	build_plan_destroy(p);
	if (b)
		build_destroy(b);
}

static bool starts(const struct rest *r, uint32_t job)
{
	for (uint32_t i = 0; i < r->plan.start.rows; i++)
		if (r->plan.start.job[i] == job)
			return true;
	return false;
}

/* What the plan says of a job that stays pending; NULL: nothing. */
static const char *says(const struct rest *r, uint32_t job)
{
	for (uint32_t i = 0; i < r->plan.pending.rows; i++)
		if (r->plan.pending.job[i] == job)
			return sl_image_str(&r->plan.image, r->plan.pending.text[i]);
	return NULL;
}

/* *jobs* jobs of a whole node each, on a machine of as many; all are planned. */
static struct build *full(uint32_t jobs, struct built_plan **p)
{
	struct build *b;
	char machine[20];

	snprintf(machine, sizeof(machine), "%ux8c2g", jobs);
	b = build_create(machine);
	for (uint32_t i = 0; i < jobs; i++)
		build_pending(b, (struct build_job) { .id = i + 1, .limit = 600 });
	*p = build_plan(b);
	for (uint32_t i = 0; i < jobs; i++)
		put_start(*p, i + 1, place(*p, i, 1, 0, 0));
	return b;
}

/* The first node of that start is another one, with so many cores. */
static void move(struct built_plan *p, uint32_t start, uint32_t node, uint32_t cores)
{
	struct sl_plan_start_row row;
	struct sl_plan_place_row at;

	assert_int_equal(sl_builder_row(p->builder, SL_P_START, start, &row), 0);
	assert_int_equal(sl_builder_row(p->builder, SL_P_PLACE, row.places.first, &at), 0);
	at.node = node;
	at.cores = cores;
	sl_builder_update(p->builder, SL_P_PLACE, row.places.first, &at);
}

static void one_bad_row_of_a_thousand_costs_one_job(void **state)
{
	struct built_plan *p;
	struct build *b = full(1000, &p);
	struct rest r;

	(void) state;
	move(p, 499, 499, 9);
	r = rest_of(b, p);
	assert_int_equal(r.plan.start.rows, 999);
	assert_false(starts(&r, 500));
	assert_int_equal(r.plan.pending.rows, 1);
	assert_int_equal(r.plan.pending.why[0], SL_WHY_CHECK);
	assert_string_equal(says(&r, 500), "the checker refused its place: node n499: has 9 cores, the node has 8");
	assert_int_equal(r.plan.refused.job[0], 500);
	assert_int_equal(r.plan.refused.was[0], SL_REFUSED_START);
	assert_int_equal(r.plan.place.cores[r.plan.refused.places[0].first], 9);
	assert_int_equal(r.cuts.cut[0].table, SL_P_START);
	assert_int_equal(r.cuts.cut[0].row, 499);
	end(b, p, &r);
}

static void a_hundred_bad_rows_take_no_longer_to_find_than_none(void **state)
{
	struct built_plan *p;
	struct build *b = full(2000, &p);
	struct rest none = rest_of(b, p), bad;

	(void) state;
	assert_int_equal(none.cuts.count, 0);
	for (uint32_t i = 0; i < 100; i++)	/* beside those that are there */
		for (uint32_t k = 0; k < 8; k++)
			move(p, 1000 + i * 8 + k, i, 1);
	bad = rest_of(b, p);
	assert_int_equal(bad.cuts.count, 100);
	assert_int_equal(bad.plan.start.rows, 1900);
	assert_true(bad.cuts.bookings < 4 * none.cuts.bookings);
	end(NULL, p, &bad);
	sl_cuts_free(&none.cuts);
	sl_builder_destroy(none.builder);
	build_destroy(b);
}

static void on_one_node_too_the_work_is_bounded_by_what_is_refused(void **state)
{
	struct build *b = build_create("1x8c");
	struct built_plan *p;
	struct rest r;

	(void) state;
	for (uint32_t i = 0; i < 1000; i++)
		build_pending(b, (struct build_job) { .id = i + 1, .limit = 600 });
	p = build_plan(b);
	for (uint32_t i = 0; i < 1000; i++)
		put_start(p, i + 1, place(p, 0, 1, 0, 0));
	r = rest_of(b, p);
	assert_int_equal(r.plan.start.rows, 8);
	for (uint32_t id = 1; id <= 8; id++)	/* the first ones planned are those that stay */
		assert_true(starts(&r, id));
	assert_true(r.cuts.bookings < 3 * 1000 * 1000);
	end(b, p, &r);
}

/* Three jobs begin on the node; the first one has a GPU too many.  Of the others none is refused, though they
 * are planned later. */
static void who_holds_nothing_of_what_is_short_is_not_refused(void **state)
{
	struct build *b = build_create("1x8c2g");
	struct built_plan *p;
	struct rest r;

	(void) state;
	build_running(b, (struct build_job) { .id = 1, .cores = 1, .gpus = 2, .ends_in = 3600 });
	build_pending(b, (struct build_job) { .id = 2, .gpus = 1, .limit = 600 });
	build_pending(b, (struct build_job) { .id = 3, .limit = 600 });
	build_pending(b, (struct build_job) { .id = 4, .limit = 600 });
	p = build_plan(b);
	put_start(p, 2, place(p, 0, 1, 0, 1));
	put_start(p, 3, place(p, 0, 1, 0, 0));
	put_start(p, 4, place(p, 0, 1, 0, 0));
	r = rest_of(b, p);
	assert_int_equal(r.plan.start.rows, 2);
	assert_string_equal(says(&r, 2), "the checker refused its place: node n0: 3 gpu in use now, it has 2");
	end(b, p, &r);
}

/* A job of all cores before small ones: it alone is what is too much. */
static void one_is_refused_rather_than_several(void **state)
{
	struct build *b = build_create("1x8c");
	struct built_plan *p;
	struct rest r;

	(void) state;
	build_pending(b, (struct build_job) { .id = 1, .tasks = 8, .limit = 600 });
	build_pending(b, (struct build_job) { .id = 2, .tasks = 2, .limit = 600 });
	build_pending(b, (struct build_job) { .id = 3, .tasks = 2, .limit = 600 });
	p = build_plan(b);
	put_start(p, 1, place(p, 0, 8, 0, 0));
	put_start(p, 2, place(p, 0, 2, 0, 0));
	put_start(p, 3, place(p, 0, 2, 0, 0));
	r = rest_of(b, p);
	assert_int_equal(r.cuts.count, 1);
	assert_false(starts(&r, 1));
	end(b, p, &r);
}

static void a_start_stays_where_a_reservation_runs_into_it(void **state)
{
	struct build *b = build_create("2x8c");
	struct built_plan *p;
	struct rest r;

	(void) state;
	build_pending(b, (struct build_job) { .id = 1, .tasks = 8, .limit = 600 });
	build_pending(b, (struct build_job) { .id = 2, .tasks = 8, .limit = 600 });
	build_pending(b, (struct build_job) { .id = 3, .tasks = 8, .limit = 600 });
	p = build_plan(b);
	put_start(p, 1, place(p, 0, 8, 0, 0));
	put_reservation(p, 2, 599, place(p, 0, 8, 0, 0));
	put_reservation(p, 3, 60, place(p, 1, 8, 0, 0));
	r = rest_of(b, p);
	assert_true(starts(&r, 1));
	assert_int_equal(r.plan.reserve.rows, 1);
	assert_int_equal(r.plan.reserve.job[0], 3);
	assert_string_equal(says(&r, 2), "the checker refused its place: node n0: 16 cores in use in 599 s, it has 8");
	assert_int_equal(r.plan.refused.start_time[0], BUILD_NOW + 599);
	assert_int_equal(r.plan.refused.was[0], SL_REFUSED_RESERVATION);
	end(b, p, &r);
}

/* Counts of reservations are those of the ones that stay. */
static void what_is_behind_reservations_stays_behind_those_that_are_left(void **state)
{
	struct build *b = build_create("3x8c");
	struct sl_plan_start_row native;
	struct built_plan *p;
	struct rest r;

	(void) state;
	for (uint32_t id = 1; id <= 3; id++)
		build_pending(b, (struct build_job) { .id = id, .tasks = 8, .limit = 600 });
	p = build_plan(b);
	put_reservation(p, 1, 60, place(p, 7, 8, 0, 0));
	put_reservation(p, 2, 60, place(p, 1, 8, 0, 0));
	native = start_row(3, place(p, 2, 8, 0, 0));
	native.native = 1;
	native.behind = 2;
	sl_builder_append(p->builder, SL_P_START, &native);
	r = rest_of(b, p);
	assert_int_equal(r.plan.start.rows, 1);
	assert_int_equal(r.plan.start.behind[0], 1);
	end(b, p, &r);
}

static void of_a_heterogeneous_job_all_components_are_taken_out(void **state)
{
	struct build *b = build_create("4x8c");
	struct built_plan *p;
	struct rest r;

	(void) state;
	for (uint32_t id = 1; id <= 4; id++)
		build_pending(b, (struct build_job) { .id = id, .tasks = 8, .limit = 600 });
	for (uint32_t id = 1; id <= 3; id++)
		build_change_job(b, id, .het_job_id = 1);
	p = build_plan(b);
	for (uint32_t id = 1; id <= 4; id++)
		put_start(p, id, place(p, id - 1, 8, 0, 0));
	move(p, 1, 1, 7);
	r = rest_of(b, p);
	assert_int_equal(r.plan.start.rows, 1);
	assert_true(starts(&r, 4));
	assert_string_equal(says(&r, 3), "the checker refused its place: its heterogeneous job: job 2: its 1 nodes host 7 tasks of 1 CPUs, it has 8");
	end(b, p, &r);
}

/* A component is missing: that is wrong with those that are there. */
static void half_a_heterogeneous_job_is_taken_out(void **state)
{
	struct build *b = build_create("4x8c");
	struct built_plan *p;
	struct rest r;

	(void) state;
	for (uint32_t id = 1; id <= 3; id++)
		build_pending(b, (struct build_job) { .id = id, .limit = 600 });
	build_change_job(b, 1, .het_job_id = 1);
	build_change_job(b, 2, .het_job_id = 1);
	p = build_plan(b);
	put_start(p, 3, place(p, 0, 1, 0, 0));
	put_start(p, 1, place(p, 1, 1, 0, 0));
	r = rest_of(b, p);
	assert_int_equal(r.plan.start.rows, 1);
	assert_true(starts(&r, 3));
	end(b, p, &r);
}

static void of_an_array_the_task_is_taken_out(void **state)
{
	struct build *b = build_create("4x8c");
	struct sl_job_row array = build_row(b, (struct build_job) { .id = 7, .tasks = 8, .limit = 600 });
	struct built_plan *p;
	struct rest r;

	(void) state;
	array.array_job_id = 7;
	array.array_pending = 4;
	array.array_max_running = 3;
	build_append(b, &array);
	p = build_plan(b);
	for (uint32_t n = 0; n < 4; n++)
		put_start(p, 7, place(p, n, 8, 0, 0));
	move(p, 0, 0, 5);
	r = rest_of(b, p);
	assert_int_equal(r.plan.start.rows, 3);	/* the throttle counts those that are left */
	assert_int_equal(r.cuts.count, 1);
	assert_non_null(says(&r, 7));
	end(NULL, p, &r);
	p = build_plan(b);
	for (uint32_t n = 0; n < 4; n++)
		put_start(p, 7, place(p, n, 8, 0, 0));
	r = rest_of(b, p);
	assert_int_equal(r.plan.start.rows, 3);
	assert_int_equal(r.cuts.cut[0].row, 3);
	end(b, p, &r);
}

static void licences_go_to_those_who_were_planned_first(void **state)
{
	struct build *b = build_create("4x8c");
	struct sl_license_row lic = sl_license_row();
	struct built_plan *p;
	struct rest r;

	(void) state;
	lic.name = sl_builder_str(b->builder, "matlab");
	lic.total = 2;
	sl_builder_append(b->builder, SL_T_LICENSE, &lic);
	for (uint32_t id = 1; id <= 4; id++) {
		build_pending(b, (struct build_job) { .id = id, .limit = 600 });
		build_change_job(b, id, .licenses = build_license(b, 0, 1));
	}
	p = build_plan(b);
	for (uint32_t id = 1; id <= 4; id++)
		put_start(p, id, place(p, id - 1, 1, 0, 0));
	r = rest_of(b, p);
	assert_int_equal(r.plan.start.rows, 2);
	assert_true(starts(&r, 1) && starts(&r, 2));
	assert_string_equal(says(&r, 3), "the checker refused its place: 3 of license matlab in use now, there are 2");
	end(b, p, &r);
}

/* Rows of jobs that are not there are dropped; what was said of others stays. */
static void actions_and_reasons_are_rows_too(void **state)
{
	struct build *b = build_create("2x8c");
	struct sl_plan_action_row act = { .verb = SL_ACTION_CANCEL, .job = 1, .stamp = 1001 };
	struct built_plan *p;
	struct rest r;

	(void) state;
	build_pending(b, (struct build_job) { .id = 1, .limit = 600 });
	build_pending(b, (struct build_job) { .id = 2, .limit = 600 });
	p = build_plan(b);
	put_start(p, 9, place(p, 0, 1, 0, 0));
	sl_builder_append(p->builder, SL_P_ACTION, &act);
	act.stamp++;
	sl_builder_append(p->builder, SL_P_ACTION, &act);
	sl_builder_append(p->builder, SL_P_PENDING, &(struct sl_plan_pending_row) { .job = 8, .why = SL_WHY_PRIORITY });
	sl_builder_append(p->builder, SL_P_PENDING, &(struct sl_plan_pending_row) { .job = 2, .why = SL_WHY_PRIORITY });
	r = rest_of(b, p);
	assert_int_equal(r.plan.action.rows, 1);
	assert_int_equal(r.plan.pending.rows, 1);
	assert_int_equal(r.plan.pending.job[0], 2);
	assert_int_equal(r.cuts.count, 3);
	end(b, p, &r);
}

static void what_names_no_row_voids_the_plan(void **state)
{
	struct build *b = one((struct build_job) { 0 });
	struct built_plan *p = build_plan(b);
	struct sl_plan_image other = *build_plan_open(p);
	int64_t sequence = other.meta.sequence[0] + 1;
	struct sl_cuts cuts = { 0 };
	struct sl_error err;

	(void) state;
	other.meta.sequence = &sequence;
	assert_int_equal(sl_check_rows(build_open(b), &other, &cuts, &err), -1);
	assert_int_equal(cuts.count, 0);
	build_plan_destroy(p);
	build_destroy(b);
}

/* Job 2 starts on a node of ten, of which those runs (first and last of each) are kept free. */
static void expect_beside_block(uint32_t node, uint32_t runs, const uint32_t *run, const char *words)
{
	struct build *b = build_create("10x8c");
	struct built_plan *p = build_plan(b);
	struct sl_plan_block_row block = { .start_time = BUILD_NOW, .end_time = BUILD_NOW + 100, .nodes = { 0, runs } };
	struct sl_plan_start_row row = start_row(2, place(p, node, 1, 0, 0));

	build_pending(b, (struct build_job) { .id = 2, .tasks = 1, .limit = 600 });
	row.blocks = 1;
	sl_builder_append(p->builder, SL_P_START, &row);
	for (uint32_t i = 0; i < runs; i++)
		sl_builder_append(p->builder, SL_P_NODE_RUN, &(struct sl_plan_node_run_row) { run[2 * i], run[2 * i + 1] });
	sl_builder_append(p->builder, SL_P_BLOCK, &block);
	expect(b, p, words);
	build_destroy(b);
}

static void each_node_of_a_block_is_found_and_no_other(void **state)
{
	static const uint32_t runs[] = { 0, 1, 3, 3, 5, 7, 9, 9 }, wrong[] = { 3, 3, 0, 1 }, twice[] = { 0, 3, 3, 4 }, back[] = { 2, 1 };

	(void) state;
	for (uint32_t n = 0; n < 10; n++)
		expect_beside_block(n, 4, runs, n == 2 || n == 4 || n == 8 ? NULL : " is kept free from ");
	expect_beside_block(8, 2, wrong, "block 0: node row 0 comes twice or out of order");
	expect_beside_block(8, 2, twice, "block 0: node row 3 comes twice or out of order");
	expect_beside_block(8, 1, back, "block 0: node row 2 comes twice or out of order");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_bad_row_of_a_thousand_costs_one_job),
		cmocka_unit_test(a_hundred_bad_rows_take_no_longer_to_find_than_none),
		cmocka_unit_test(on_one_node_too_the_work_is_bounded_by_what_is_refused),
		cmocka_unit_test(who_holds_nothing_of_what_is_short_is_not_refused),
		cmocka_unit_test(one_is_refused_rather_than_several),
		cmocka_unit_test(a_start_stays_where_a_reservation_runs_into_it),
		cmocka_unit_test(what_is_behind_reservations_stays_behind_those_that_are_left),
		cmocka_unit_test(of_a_heterogeneous_job_all_components_are_taken_out),
		cmocka_unit_test(half_a_heterogeneous_job_is_taken_out),
		cmocka_unit_test(of_an_array_the_task_is_taken_out),
		cmocka_unit_test(licences_go_to_those_who_were_planned_first),
		cmocka_unit_test(actions_and_reasons_are_rows_too),
		cmocka_unit_test(what_names_no_row_voids_the_plan),
		cmocka_unit_test(each_node_of_a_block_is_found_and_no_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
