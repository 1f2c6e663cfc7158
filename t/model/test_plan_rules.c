/* SPDX-License-Identifier: MIT */
/*
 * The rules of a plan that hold whoever decides: who has a say in starts, which shape is
 * taken, which of two reservations stands.
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

/* A guard that says no to starts of more cores than it allows, once it knows their places. */
struct guard {
	struct desk *d;
	uint32_t most;			/* cores */
	bool fails;
	unsigned asked, about_places;
	int nested;			/* what another decision came to meanwhile */
	enum sl_errno code;
};

static int at_most(void *arg, struct sl_entry e, struct sl_refusal *why, struct sl_error *err)
{
	struct guard *g = arg;
	struct sl_booking b;
	uint32_t cores = 0, started;

	g->asked++;
	if (!sl_plan_trial(g->d->p, &b))
		return 1;
	g->about_places++;
	assert_int_equal(b.entry.job, e.job);
	assert_int_equal(sl_plan_job(g->d->p, e.job), SL_PLAN_STARTED);
	sl_plan_started(g->d->p, &started);
	assert_int_equal(started, sl_plan_revision(g->d->p));
	g->nested = sl_plan_start(g->d->p, entry(g->d, 1), NULL, NULL, err);
	g->code = err->code;
	for (uint32_t i = 0; i < b.count; i++)
		cores += b.places[i].cores;
	if (g->fails)
		return sl_fail(err, SL_ESCRIPT, "lost");
	*why = (struct sl_refusal) { .why = SL_WHY_POLICY, .text = "too much for one" };
	return cores <= g->most;
}

static void guarded(struct build *b, struct guard *g, struct desk *d)
{
	*d = sit(b);
	g->d = d;
	sl_plan_set_guard(d->p, at_most, g);
}

static void the_guard_is_asked_before_a_place_is_known_and_about_the_place(void **state)
{
	struct build *b = build_create("4x8c");
	struct guard g = { .most = 8 };
	struct desk d;
	uint32_t n;

	(void) state;
	build_pending(b, (struct build_job) { .id = 1, .nodes = 1, .tasks = 4 });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 2, .tasks = 16 });
	guarded(b, &g, &d);
	assert_int_equal(start(&d, 1), 1);
	assert_int_equal(g.asked, 2);
	assert_int_equal(g.about_places, 1);
	assert_int_equal(sl_plan_revision(d.p), 1);
	assert_int_equal(start(&d, 2), 0);
	assert_int_equal(d.why.why, SL_WHY_POLICY);
	assert_string_equal(sl_refusal_text(&d.why), "too much for one");
	sl_plan_started(d.p, &n);
	assert_int_equal(n, 1);
	assert_int_equal(sl_plan_revision(d.p), 1);
	assert_int_equal(sl_plan_job(d.p, row(&d, 2)), SL_PLAN_REFUSED);
	/* what it held is free again */
	sl_plan_set_guard(d.p, NULL, NULL);
	assert_int_equal(start(&d, 2), 1);
	accepted(&d);
	leave(&d);
}

static void what_the_guard_forbade_is_not_reserved_by_the_same_policy(void **state)
{
	struct build *b = build_create("4x8c");
	struct guard g = { .most = 8 };
	struct desk d;

	(void) state;
	build_pending(b, (struct build_job) { .id = 1, .nodes = 2, .tasks = 16 });
	guarded(b, &g, &d);
	assert_int_equal(start(&d, 1), 0);
	assert_int_equal(reserve(&d, 1), 0);
	assert_string_equal(sl_refusal_text(&d.why), "has no place that the policy allows");
	sl_plan_set_policy(d.p, "another");
	assert_int_equal(reserve(&d, 1), 1);
	leave(&d);
}

static void nothing_else_is_decided_while_the_guard_is_asked(void **state)
{
	struct build *b = build_create("4x8c");
	struct guard g = { .most = 8 };
	struct desk d;

	(void) state;
	build_pending(b, (struct build_job) { .id = 1, .nodes = 1, .tasks = 1 });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 1, .tasks = 1 });
	guarded(b, &g, &d);
	assert_int_equal(start(&d, 2), 1);
	assert_int_equal(g.nested, -1);
	assert_int_equal(g.code, SL_EBUSY);
	assert_int_equal(sl_plan_job(d.p, row(&d, 1)), SL_PLAN_OPEN);
	leave(&d);
}

static void a_guard_that_fails_leaves_the_plan_as_it_was(void **state)
{
	struct build *b = build_create("4x8c");
	struct guard g = { .most = 64, .fails = true };
	struct desk d;

	(void) state;
	build_pending(b, (struct build_job) { .id = 1, .nodes = 4, .exclusive = true });
	guarded(b, &g, &d);
	assert_int_equal(sl_plan_start(d.p, entry(&d, 1), NULL, &d.why, &d.err), -1);
	assert_string_equal(d.err.text, "lost");
	assert_int_equal(sl_plan_job(d.p, row(&d, 1)), SL_PLAN_OPEN);
	assert_int_equal(sl_plan_revision(d.p), 0);
	g.fails = false;
	assert_int_equal(start(&d, 1), 1);
	leave(&d);
}

static void each_start_and_each_that_is_taken_back_is_a_revision(void **state)
{
	struct build *b = build_create("4x8c");
	struct desk d;

	(void) state;
	build_pending(b, (struct build_job) { .id = 1, .nodes = 1 });
	d = sit(b);
	assert_int_equal(reserve(&d, 1), 1);
	checked(&d, sl_plan_undo(d.p, row(&d, 1), &d.err));
	assert_int_equal(sl_plan_revision(d.p), 0);	/* a reservation is no start */
	assert_int_equal(start(&d, 1), 1);
	assert_int_equal(sl_plan_revision(d.p), 1);
	checked(&d, sl_plan_undo(d.p, row(&d, 1), &d.err));
	assert_int_equal(sl_plan_revision(d.p), 2);
	leave(&d);
}

/* A job of four nodes, or of two, or of one; of four nodes so many are busy for a while. */
static struct build *one_with_shapes(uint32_t busy, int64_t until)
{
	struct build *b = build_create("4x8c");
	struct sl_shape_row two = { .min_nodes = 2, .num_tasks = 16, .time_limit = 600 };
	struct sl_shape_row one = { .min_nodes = 1, .num_tasks = 8, .time_limit = 600 };
	struct sl_range shapes = { sl_builder_append(b->builder, SL_T_SHAPE, &two), 2 };

	sl_builder_append(b->builder, SL_T_SHAPE, &one);
	build_running(b, (struct build_job) { .id = 1, .nodes = busy, .exclusive = true, .ends_in = until });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 4, .exclusive = true, .limit = 600 });
	build_change_job(b, 2, .shapes = shapes);
	return b;
}

static void any_shape_is_the_first_that_fits(void **state)
{
	const struct sl_terms any = { .any_shape = true };
	struct desk d = sit(one_with_shapes(2, 60));

	(void) state;
	assert_int_equal(start(&d, 2), 0);
	assert_int_equal(checked(&d, sl_plan_start(d.p, entry(&d, 2), &any, &d.why, &d.err)), 1);
	assert_int_equal(sl_plan_shape(d.p, row(&d, 2)), 1);
	leave(&d);
	d = sit(one_with_shapes(4, 60));
	assert_int_equal(checked(&d, sl_plan_start(d.p, entry(&d, 2), &any, &d.why, &d.err)), 0);
	assert_string_equal(sl_refusal_text(&d.why), "needs 4 nodes, 0 are free");
	leave(&d);
}

static void a_reservation_of_any_shape_is_of_the_soonest(void **state)
{
	const struct sl_terms any = { .any_shape = true };
	struct desk d = sit(one_with_shapes(3, 60));
	int64_t at;

	(void) state;
	assert_int_equal(checked(&d, sl_plan_earliest(d.p, entry(&d, 2), &any, &at, &d.why, &d.err)), 1);
	assert_int_equal(at, BUILD_NOW);
	assert_int_equal(checked(&d, sl_plan_reserve(d.p, entry(&d, 2), &any, &at, &d.why, &d.err)), 1);
	assert_int_equal(at, BUILD_NOW);
	assert_int_equal(sl_plan_shape(d.p, row(&d, 2)), 2);
	leave(&d);
	/* of equal ones the first */
	d = sit(one_with_shapes(4, 60));
	assert_int_equal(checked(&d, sl_plan_reserve(d.p, entry(&d, 2), &any, &at, &d.why, &d.err)), 1);
	assert_int_equal(at, BUILD_NOW + 60);
	assert_int_equal(sl_plan_shape(d.p, row(&d, 2)), 0);
	leave(&d);
}

static void a_reservation_goes_to_another_partition_only_for_an_earlier_start(void **state)
{
	struct build *b = build_create("4x8c");
	uint32_t left = build_partition(b, "left", 0, 1), right = build_partition(b, "right", 2, 3), job;
	struct sl_entry here = { .partition = left }, there = { .partition = right };
	struct desk d;
	int64_t at;

	(void) state;
	build_running(b, (struct build_job) { .id = 1, .nodes = 2, .exclusive = true, .ends_in = 600 });
	build_running(b, (struct build_job) { .id = 2, .first = 2, .nodes = 2, .exclusive = true, .ends_in = 60 });
	job = build_pending(b, (struct build_job) { .id = 3, .nodes = 2, .partition = left });
	build_queue(b, job, right);
	here.job = there.job = job;
	d = sit(b);
	assert_int_equal(checked(&d, sl_plan_reserve(d.p, here, NULL, &at, &d.why, &d.err)), 1);
	assert_int_equal(at, BUILD_NOW + 600);
	assert_int_equal(checked(&d, sl_plan_reserve(d.p, there, NULL, &at, &d.why, &d.err)), 1);
	assert_int_equal(at, BUILD_NOW + 60);
	assert_int_equal(checked(&d, sl_plan_reserve(d.p, here, NULL, &at, &d.why, &d.err)), 0);
	assert_string_equal(sl_refusal_text(&d.why), "expected to start in partition right no later");
	assert_int_equal(sl_plan_head(d.p)->partition, right);
	leave(&d);
}

static void a_reservation_does_not_borrow(void **state)
{
	const struct sl_loan wish = { 0 };
	struct build *b = build_create("4x8c");
	struct desk d;
	int64_t at;

	(void) state;
	build_pending(b, (struct build_job) { .id = 1 });
	d = sit(b);
	assert_int_equal(sl_plan_reserve(d.p, entry(&d, 1), &(struct sl_terms) { .borrow = &wish }, &at, &d.why, &d.err),
			 -1);
	assert_string_equal(d.err.text, "borrow: a reservation is for nodes of the job's own partition");
	leave(&d);
}

/* -- what nobody has ----------------------------------------------------- */

static void a_feature_that_no_node_of_the_partition_has_is_named(void **state)
{
	struct build *b = build_create("2x8c");
	uint32_t job = build_pending(b, (struct build_job) { .id = 1, .nodes = 1 });
	struct desk d;

	(void) state;
	build_change(b, SL_T_JOB, job, sl_job_row, .features = sl_builder_str(b->builder, "fast&ib"));
	d = sit(b);
	assert_int_equal(start(&d, 1), 0);
	assert_int_equal(d.why.why, SL_WHY_NEVER);
	assert_non_null(strstr(sl_refusal_text(&d.why), "has fast&ib"));
	assert_memory_equal(sl_refusal_text(&d.why), "no node of partition ", 21);
	leave(&d);
}

/*
 * Only the second of four nodes has the feature now; any might get it by a reboot.  The first job is placed
 * where it is active, the second is left to select, which has a node rebooted.
 */
static void features_that_a_reboot_brings_are_placed_where_they_are_active(void **state)
{
	struct build *b = build_create("4x8c");
	const struct sl_plan_image *plan;
	struct desk d;

	(void) state;
	for (uint32_t n = 0; n < 4; n++)
		build_change(b, SL_T_NODE, n, sl_node_row, .features = sl_builder_str(b->builder, n == 1 ? "blue" : "red"));
	for (uint32_t id = 1; id < 5; id++) {
		build_pending(b, (struct build_job) { .id = id, .tasks = 8, .limit = 600 });
		build_change_job(b, id, .features = sl_builder_str(b->builder, "blue"));
		build_change_job(b, id, .asks = SL_ASKS_REBOOT);
	}
	build_change_job(b, 4, .features = sl_builder_str(b->builder, "blue&green"));
	d = sit(b);
	assert_int_equal(backfill(&d, 1), 1);
	assert_string_equal(where(&d, 1), "n1:8");
	assert_int_equal(start(&d, 2), 1);
	assert_int_equal(reserve(&d, 3), 1);
	assert_int_equal(start(&d, 4), 1);
	plan = accepted(&d);
	assert_int_equal(plan->start.native[0], 0);
	assert_int_equal(plan->start.native[1], 1);
	assert_int_equal(plan->start.native[2], 1);
	leave(&d);
}

/* Of the node where its feature is active four cores are free, maybe all of one socket, and it asks for two: select's. */
static void beside_a_reboot_its_sockets_are_heeded(void **state)
{
	struct build *b = build_create("2x8c2s");
	struct desk d;

	(void) state;
	for (uint32_t n = 0; n < 2; n++)
		build_change(b, SL_T_NODE, n, sl_node_row, .features = sl_builder_str(b->builder, n ? "red" : "blue"));
	build_running(b, (struct build_job) { .id = 9, .cores = 4, .ends_in = 6000 });
	build_pending(b, (struct build_job) { .id = 1, .nodes = 1, .max_nodes = 1, .tasks = 4, .limit = 600 });
	build_change_job(b, 1, .sockets_per_node = 2);
	build_change_job(b, 1, .features = sl_builder_str(b->builder, "blue"));
	build_change_job(b, 1, .asks = SL_ASKS_REBOOT);
	d = sit(b);
	assert_int_equal(start(&d, 1), 1);
	assert_int_equal(accepted(&d)->start.native[0], 1);
	leave(&d);
}

/* That one waits for the only node where its feature is active: no reason for any other to wait. */
static void for_want_of_an_active_feature_nobody_else_waits(void **state)
{
	struct build *b = build_create("2x8c");
	struct desk d;

	(void) state;
	for (uint32_t n = 0; n < 2; n++)
		build_change(b, SL_T_NODE, n, sl_node_row, .features = sl_builder_str(b->builder, n ? "red" : "blue"));
	build_running(b, (struct build_job) { .id = 9, .ends_in = 6000 });
	build_pending(b, (struct build_job) { .id = 1, .tasks = 1, .limit = 7200 });
	build_change_job(b, 1, .exc_nodes = build_nodes(b, 0, 0));
	for (uint32_t id = 2; id < 4; id++)
		build_pending(b, (struct build_job) { .id = id, .tasks = 4, .limit = 600 });
	build_change_job(b, 1, .begin_time = BUILD_NOW + 60);
	build_change_job(b, 2, .features = sl_builder_str(b->builder, "blue"));
	build_change_job(b, 2, .asks = SL_ASKS_REBOOT);
	d = sit(b);
	assert_int_equal(reserve(&d, 1), 1);
	assert_int_equal(start(&d, 2), 0);
	assert_int_equal(start(&d, 3), 1);
	assert_string_equal(where(&d, 3), "n1:4");
	leave(&d);
}

/* Its time is trimmed to what is left until the head starts there: a longer one would have to be native. */
static void of_such_a_job_the_longest_time_is_of_one_kind(void **state)
{
	struct build *b = build_create("1x8c");
	struct desk d;

	(void) state;
	build_change(b, SL_T_NODE, 0, sl_node_row, .features = sl_builder_str(b->builder, "blue"));
	build_running(b, (struct build_job) { .id = 9, .cores = 4, .ends_in = 1200 });
	build_pending(b, (struct build_job) { .id = 1, .tasks = 8, .limit = 3600 });
	build_pending(b, (struct build_job) { .id = 2, .tasks = 4, .limit = 3600 });
	build_change_job(b, 2, .time_min = 600);
	build_change_job(b, 2, .features = sl_builder_str(b->builder, "blue"));
	build_change_job(b, 2, .asks = SL_ASKS_REBOOT);
	d = sit(b);
	assert_int_equal(reserve(&d, 1), 1);
	assert_int_equal(backfill(&d, 2), 1);
	assert_int_equal(accepted(&d)->start.native[0], 0);
	assert_int_equal(accepted(&d)->start.time_limit[0], 1200);
	leave(&d);
}

/*
 * Two tasks for each socket of four cores: on idle nodes it is certain which those are of, where three are in use
 * only select sees it, and of a number that two nodes cannot share evenly three have a third each.
 */
static void sockets_of_several_nodes_are_placed_where_each_has_as_many_tasks(void **state)
{
	struct build *b = build_create("7x8c2s");
	const struct sl_plan_image *plan;
	struct desk d;

	(void) state;
	for (uint32_t n = 5; n < 7; n++)
		build_running(b, (struct build_job) { .id = 10 + n, .first = n, .cores = 3, .ends_in = 6000 });
	build_pending(b, (struct build_job) { .id = 1, .nodes = 2, .max_nodes = 2, .tasks = 8, .limit = 600 });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 1, .tasks = 9, .limit = 600 });
	build_change_job(b, 2, .max_nodes = 0);
	build_pending(b, (struct build_job) { .id = 3, .nodes = 2, .max_nodes = 2, .tasks = 8, .limit = 600 });
	for (uint32_t id = 1; id <= 3; id++)
		build_change_job(b, id, .ntasks_per_socket = 2);
	d = sit(b);
	assert_int_equal(start(&d, 1), 1);
	assert_string_equal(where(&d, 1), "n0:4 n1:4");
	assert_int_equal(start(&d, 2), 1);
	assert_string_equal(where(&d, 2), "n2:3 n3:3 n4:3");
	assert_int_equal(start(&d, 3), 1);
	plan = accepted(&d);
	assert_int_equal(plan->start.native[0], 0);
	assert_int_equal(plan->start.native[1], 0);
	assert_int_equal(plan->start.native[2], 1);
	leave(&d);
}

/* Beside GPUs select says which cores, on an idle node, too; both have room. */
static void sockets_beside_gres_are_left_to_select(void **state)
{
	struct build *b = build_create("2x8c2s2g");
	const struct sl_plan_image *plan;
	struct desk d;

	(void) state;
	for (uint32_t id = 1; id <= 2; id++) {
		build_pending(b, (struct build_job) { .id = id, .nodes = 1, .max_nodes = 1, .tasks = 4, .limit = 600, .gpus = 1 });
		build_change_job(b, id, .ntasks_per_socket = 2);
	}
	d = sit(b);
	assert_int_equal(start(&d, 1), 1);
	assert_int_equal(start(&d, 2), 1);
	plan = accepted(&d);
	assert_int_equal(plan->start.native[0], 1);
	assert_int_equal(plan->start.native[1], 1);
	leave(&d);
}

/* What a job reads in a reservation of n2 and n3, the last of which are down; n0 to n2 have features, n0 is fast. */
static void told_in_reservation(uint32_t nodes, const char *feature, uint32_t down, enum sl_why why, const char *text)
{
	struct build *b = build_create("4x8c");
	uint32_t job = build_pending(b, (struct build_job) { .id = 1, .nodes = nodes, .limit = 60 });
	struct desk d;

	build_reservation(b, "maint", 0, 3600, 2, 3);
	for (uint32_t n = 0; n < 3; n++)
		build_change(b, SL_T_NODE, n, sl_node_row,
			     .features = sl_builder_str(b->builder, n ? "a100,ib" : "a100,ib,fast"));
	for (uint32_t n = 4 - down; n < 4; n++)
		build_change(b, SL_T_NODE, n, sl_node_row, .state = SL_NODE_DOWN);
	build_change(b, SL_T_JOB, job, sl_job_row, .features = sl_builder_str(b->builder, feature));
	build_change(b, SL_T_JOB, job, sl_job_row, .reservation = sl_builder_str(b->builder, "maint"));
	d = sit(b);
	assert_int_equal(start(&d, 1), 0);
	assert_string_equal(sl_refusal_text(&d.why), text);
	assert_int_equal(d.why.why, why);
	leave(&d);
}

static void what_the_nodes_of_its_reservation_lack_is_told_of_the_reservation(void **state)
{
	(void) state;
	told_in_reservation(1, "ib&fast", 0, SL_WHY_NEVER, "no node of reservation maint has ib&fast");
	told_in_reservation(1, "slow", 0, SL_WHY_NEVER, "no node of partition batch has slow");
	told_in_reservation(2, "a100&ib", 0, SL_WHY_NEVER, "needs 2 nodes, 1 of reservation maint could ever do");
	told_in_reservation(3, "", 0, SL_WHY_NEVER, "needs 3 nodes, 2 of reservation maint could ever do");
	told_in_reservation(2, "", 1, SL_WHY_NODES_DOWN,
			    "1 node is down or drained in reservation maint, needs more than are left");
	told_in_reservation(1, "", 2, SL_WHY_NODES_DOWN,
			    "2 nodes are down or drained in reservation maint, needs more than are left");
}

/* -- forecasts ----------------------------------------------------------- */

static void who_waits_without_a_reservation_is_told_when_it_may_start_in_the_order_of_the_policy(void **state)
{
	struct build *b = build_create("2x8c");
	const struct sl_plan_image *plan;
	struct desk d;

	(void) state;
	build_running(b, (struct build_job) { .id = 9, .nodes = 2, .cores = 8, .ends_in = 600 });
	for (uint32_t id = 1; id <= 4; id++)
		build_pending(b, (struct build_job) { .id = id, .nodes = 1, .exclusive = true, .limit = 3600 });
	build_pending(b, (struct build_job) { .id = 5, .nodes = 3, .limit = 3600 });
	build_pending(b, (struct build_job) { .id = 6, .nodes = 1, .limit = 60 });
	d = sit(b);
	assert_int_equal(start(&d, 1), 0);
	assert_int_equal(reserve(&d, 1), 1);
	assert_int_equal(backfill(&d, 3), 0);
	assert_int_equal(backfill(&d, 2), 0);
	assert_int_equal(sl_plan_refuse(d.p, 4, SL_WHY_POLICY, "not today", &d.err), 0);
	assert_int_equal(backfill(&d, 5), 0);
	assert_int_equal(sl_plan_forecast(d.p, 100, INT64_MAX, &d.err), 0);
	plan = accepted(&d);
	assert_int_equal(plan->reserve.rows, 1);
	assert_int_equal(plan->forecast.rows, 3);
	assert_int_equal(plan->forecast.job[0], 3);
	assert_int_equal(plan->forecast.start_time[0], BUILD_NOW + 600);
	assert_int_equal(plan->place.node[plan->forecast.places[0].first], 1);
	assert_int_equal(plan->forecast.job[1], 2);
	assert_int_equal(plan->forecast.start_time[1], BUILD_NOW + 600 + 3600);
	assert_int_equal(plan->forecast.job[2], 6);
	/* the reasons are the policy's, as if nothing had been forecast */
	assert_int_equal(plan->pending.rows, 6);
	leave(&d);
}

static void the_components_of_a_heterogeneous_job_have_one_forecast(void **state)
{
	struct build *b = build_create("2x8c");
	const struct sl_plan_image *plan;
	struct desk d;

	(void) state;
	build_running(b, (struct build_job) { .id = 9, .nodes = 2, .cores = 8, .ends_in = 600 });
	build_pending(b, (struct build_job) { .id = 1, .nodes = 1, .exclusive = true, .limit = 3600 });
	for (uint32_t id = 2; id <= 3; id++) {
		build_pending(b, (struct build_job) { .id = id, .nodes = 1, .exclusive = true, .limit = 3600 });
		build_change_job(b, id, .het_job_id = 2);
		build_change_job(b, id, .het_offset = id - 2);
	}
	d = sit(b);
	assert_int_equal(reserve(&d, 1), 1);
	assert_int_equal(backfill(&d, 2), 0);
	assert_int_equal(sl_plan_forecast(d.p, 100, INT64_MAX, &d.err), 0);
	plan = accepted(&d);
	assert_int_equal(plan->forecast.rows, 2);	/* one node is free before, and none of them uses it */
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(plan->forecast.job[i], 2 + i);
		assert_int_equal(plan->forecast.start_time[i], BUILD_NOW + 600 + 3600);
	}
	leave(&d);
}

static void as_many_forecasts_are_made_as_are_asked_for(void **state)
{
	struct build *b = build_create("1x8c");
	struct desk d;

	(void) state;
	build_running(b, (struct build_job) { .id = 99, .nodes = 1, .cores = 8, .ends_in = 600 });
	for (uint32_t id = 1; id <= 30; id++)
		build_pending(b, (struct build_job) { .id = id, .nodes = 1, .exclusive = true, .limit = 3600 });
	d = sit(b);
	assert_int_equal(sl_plan_forecast(d.p, 25, INT64_MAX, &d.err), 0);
	assert_int_equal(accepted(&d)->forecast.rows, 25);
	leave(&d);
}

static void forecasts_end_in_time_but_for_the_first_few(void **state)
{
	struct build *b = build_create("1x8c");
	struct desk d;

	(void) state;
	build_running(b, (struct build_job) { .id = 99, .nodes = 1, .cores = 8, .ends_in = 600 });
	for (uint32_t id = 1; id <= 30; id++)
		build_pending(b, (struct build_job) { .id = id, .nodes = 1, .exclusive = true, .limit = 3600 });
	d = sit(b);
	assert_int_equal(sl_plan_forecast(d.p, 25, 0, &d.err), 0);
	assert_int_equal(accepted(&d)->forecast.rows, 20);
	leave(&d);
}

/* select looks for room for all tasks that --ntasks-per-node says, and gives cores for those that there are. */
static void fewer_tasks_than_of_a_node_need_room_for_those(void **state)
{
	struct build *b = build_create("2x8c");
	struct desk d;

	(void) state;
	build_running(b, (struct build_job) { .id = 1, .cores = 2, .ends_in = 3600 });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 1, .tasks = 1, .tasks_per_node = 7 });
	build_pending(b, (struct build_job) { .id = 3, .nodes = 1, .tasks = 1, .tasks_per_node = 7 });
	build_pending(b, (struct build_job) { .id = 4, .nodes = 1, .tasks = 1, .tasks_per_node = 6 });
	build_pending(b, (struct build_job) { .id = 5, .nodes = 1, .tasks = 1, .tasks_per_node = 7 });
	d = sit(b);
	assert_int_equal(start(&d, 2), 1);
	assert_string_equal(where(&d, 2), "n1:1");
	assert_int_equal(start(&d, 3), 1);
	assert_string_equal(where(&d, 3), "n1:1");
	assert_int_equal(start(&d, 4), 1);
	assert_int_equal(start(&d, 5), 0);
	accepted(&d);
	leave(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fewer_tasks_than_of_a_node_need_room_for_those),
		cmocka_unit_test(the_guard_is_asked_before_a_place_is_known_and_about_the_place),
		cmocka_unit_test(what_the_guard_forbade_is_not_reserved_by_the_same_policy),
		cmocka_unit_test(nothing_else_is_decided_while_the_guard_is_asked),
		cmocka_unit_test(a_guard_that_fails_leaves_the_plan_as_it_was),
		cmocka_unit_test(each_start_and_each_that_is_taken_back_is_a_revision),
		cmocka_unit_test(any_shape_is_the_first_that_fits),
		cmocka_unit_test(a_reservation_of_any_shape_is_of_the_soonest),
		cmocka_unit_test(a_reservation_goes_to_another_partition_only_for_an_earlier_start),
		cmocka_unit_test(a_reservation_does_not_borrow),
		cmocka_unit_test(a_feature_that_no_node_of_the_partition_has_is_named),
		cmocka_unit_test(features_that_a_reboot_brings_are_placed_where_they_are_active),
		cmocka_unit_test(beside_a_reboot_its_sockets_are_heeded),
		cmocka_unit_test(sockets_of_several_nodes_are_placed_where_each_has_as_many_tasks),
		cmocka_unit_test(sockets_beside_gres_are_left_to_select),
		cmocka_unit_test(for_want_of_an_active_feature_nobody_else_waits),
		cmocka_unit_test(of_such_a_job_the_longest_time_is_of_one_kind),
		cmocka_unit_test(what_the_nodes_of_its_reservation_lack_is_told_of_the_reservation),
		cmocka_unit_test(who_waits_without_a_reservation_is_told_when_it_may_start_in_the_order_of_the_policy),
		cmocka_unit_test(the_components_of_a_heterogeneous_job_have_one_forecast),
		cmocka_unit_test(as_many_forecasts_are_made_as_are_asked_for),
		cmocka_unit_test(forecasts_end_in_time_but_for_the_first_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
