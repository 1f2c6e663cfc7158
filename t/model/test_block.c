/* SPDX-License-Identifier: MIT */
/*
 * Nodes that a policy keeps free for a time: no job that they are closed to is planned there, the plan names them, so that
 * the plug-in closes them to Slurm's select as well, and the checker refuses what is planned on them all the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "check/check.h"
#include "image/plan_answer.h"
#include "image/plan_cut.h"
#include "t/model/desk.h"
#include "t/model/random_verb.h"
#include "t/random.h"

static void block(struct desk *d, uint32_t first, uint32_t last, int64_t from, int64_t to)
{
	struct sl_nodeset nodes = SL_NODESET_EMPTY;

	checked(d, sl_nodeset_add(&nodes, first, last, &d->err));
	checked(d, sl_plan_block(d->p, &nodes, BUILD_NOW + from, BUILD_NOW + to, &d->err));
	sl_nodeset_free(&nodes);
}

static void the_plan_has_the_blocks_and_which_of_them_bind_whom(void **state)
{
	struct build *b = build_create("6x8c");
	const struct sl_plan_image *plan;
	struct desk d;

	(void) state;
	for (uint32_t id = 1; id <= 5; id++)
		build_pending(b, (struct build_job) { .id = id, .nodes = 1, .tasks = 1, .limit = 3600 });
	build_change_job(b, 2, .asks = SL_ASKS_TASK_COUNTS);
	d = sit(b);
	assert_int_equal(start(&d, 1), 1);
	block(&d, 0, 1, 60, 120);
	block(&d, 3, 3, 600, 1200);
	checked(&d, sl_plan_use_blocked(d.p, row(&d, 3), true, &d.err));
	assert_int_equal(start(&d, 2), 1);
	assert_int_equal(start(&d, 3), 1);
	assert_int_equal(reserve(&d, 4), 1);
	plan = accepted(&d);
	assert_int_equal(plan->start.blocks[0], 0);	/* it was decided before */
	assert_int_equal(plan->start.native[1], 1);
	assert_int_equal(plan->start.blocks[1], 2);
	assert_int_equal(plan->start.blocks[2], 0);	/* it may use them */
	assert_int_equal(plan->reserve.blocks[0], 2);
	assert_int_equal(plan->block.rows, 2);
	assert_int_equal(plan->block.start_time[1], BUILD_NOW + 600);
	assert_int_equal(plan->block.end_time[1], BUILD_NOW + 1200);
	assert_int_equal(plan->node_run.first[plan->block.nodes[1].first], 3);
	assert_int_equal(plan->node_run.last[plan->block.nodes[0].first], 1);
	checked(&d, sl_plan_answers(plan, &d.b->snap, &d.err));
	leave(&d);
}

/* A job that is tried once more, in vain, has the reservation that it had before nodes were closed. */
static void what_was_reserved_before_stands_also_when_something_else_is_tried_for_the_job(void **state)
{
	struct build *b = build_create("1x8c");
	const struct sl_plan_image *plan;
	struct desk d;

	(void) state;
	build_running(b, (struct build_job) { .id = 9, .cores = 8, .ends_in = 600 });
	build_pending(b, (struct build_job) { .id = 1, .nodes = 1, .tasks = 1, .limit = 3600 });
	d = sit(b);
	assert_int_equal(reserve(&d, 1), 1);
	assert_int_equal(d.at, 600);
	block(&d, 0, 0, 0, 7200);
	assert_int_equal(start(&d, 1), 0);
	plan = accepted(&d);
	assert_int_equal(plan->reserve.rows, 1);
	assert_int_equal(plan->reserve.start_time[0], BUILD_NOW + 600);
	assert_int_equal(plan->reserve.blocks[0], 0);
	assert_int_equal(checked(&d, sl_plan_undo(d.p, row(&d, 1), &d.err)), 0);
	leave(&d);
}

static void jobs_in_an_advance_reservation_are_not_bound(void **state)
{
	struct build *b = build_create("2x8c");
	const struct sl_plan_image *plan;
	struct desk d;

	(void) state;
	build_reservation(b, "course", 0, 7200, 0, 1);
	build_pending(b, (struct build_job) { .id = 1, .nodes = 1, .tasks = 1, .limit = 3600 });
	build_change_job(b, 1, .reservation = sl_builder_str(b->builder, "course"));
	d = sit(b);
	block(&d, 0, 1, 0, 7200);
	assert_int_equal(start(&d, 1), 1);
	plan = accepted(&d);
	assert_int_equal(plan->start.blocks[0], 0);
	leave(&d);
}

/* Move the block of that row to the place of a start or reservation that it binds: the checker names the job. */
static void must_notice(struct desk *d, uint64_t seed, uint32_t blocks, struct sl_range places)
{
	struct sl_plan_node_run_row run = sl_plan_node_run_row();
	struct sl_plan_block_row row, moved;
	struct sl_plan_place_row place;
	struct sl_plan_image p;
	const void *bytes;
	size_t size;

	if (!blocks || !places.count)
		return;
	sl_builder_row(d->image, SL_P_PLACE, places.first + seed % places.count, &place);
	sl_builder_row(d->image, SL_P_BLOCK, blocks - 1, &row);
	run.first = run.last = place.node;
	moved = row;
	moved.start_time = 0;
	moved.end_time = INT64_MAX;
	moved.nodes = (struct sl_range) { sl_builder_append(d->image, SL_P_NODE_RUN, &run), 1 };
	sl_builder_update(d->image, SL_P_BLOCK, blocks - 1, &moved);
	checked(d, sl_builder_finish(d->image, &bytes, &size, &d->err));
	checked(d, sl_plan_image_open(&p, bytes, size, &d->err));
	if (!sl_check_plan(&d->b->snap, &p, &d->err) || !strstr(d->err.text, "is kept free from"))
		fail_msg("seed %lu: not noticed: \"%s\"", (unsigned long) seed, d->err.text);
	sl_builder_update(d->image, SL_P_BLOCK, blocks - 1, &row);
}

/* A random policy that also keeps random nodes free, and lets some jobs use them. */
static void no_plan_has_a_job_on_nodes_that_are_kept_free_of_it(void **state)
{
	uint64_t from = number_from("SL_SEED", 1), end = from + rounds_of(1000), bound = 0;

	(void) state;
	for (uint64_t seed = from; seed < end; seed++) {
		struct desk d = sit(build_random_cluster(seed, 6, 25));
		uint64_t s = seed;

		for (uint32_t i = 0; i < 40; i++) {
			uint32_t first = build_below(&s, d.b->nodes), at = build_below(&s, 14400);

			if (!build_below(&s, 8))
				block(&d, first, first, at, at + 1 + build_below(&s, 3600));
			if (!build_below(&s, 8))
				checked(&d, sl_plan_use_blocked(d.p, build_below(&s, d.b->snap.job.rows), s >> 40 & 1, &d.err));
			random_verb(&d, &s);
		}
		encode(&d, false);
		if (sl_check_plan(&d.b->snap, &d.plan, &d.err) < 0 || sl_plan_answers(&d.plan, &d.b->snap, &d.err) < 0)
			fail_msg("seed %lu: %s", (unsigned long) seed, d.err.text);
		for (uint32_t r = 0; r < d.plan.start.rows; r++)
			bound += d.plan.start.blocks[r] != 0;
		for (uint32_t r = 0; r < d.plan.reserve.rows; r++)
			bound += d.plan.reserve.blocks[r] != 0;
		for (uint32_t r = 0; r < sl_builder_rows(d.image, SL_P_START); r++) {
			struct sl_plan_start_row row;

			sl_builder_row(d.image, SL_P_START, r, &row);
			must_notice(&d, seed, row.blocks, row.places);
		}
		for (uint32_t r = 0; r < sl_builder_rows(d.image, SL_P_RESERVE); r++) {
			struct sl_plan_reserve_row row;

			sl_builder_row(d.image, SL_P_RESERVE, r, &row);
			must_notice(&d, seed, row.blocks, row.places);
		}
		leave(&d);
	}
	if (bound < rounds_of(1000))		/* or nothing was tried */
		fail_msg("%lu starts and reservations that a block bound", (unsigned long) bound);
}

/* What the checker has taken a row out of keeps its blocks. */
static void a_plan_without_the_rows_that_were_refused_has_its_blocks(void **state)
{
	struct build *b = build_create("4x8c");
	struct sl_builder *to;
	struct sl_cuts cuts = { 0 };
	struct sl_plan_image rest;
	struct sl_plan_place_row place;
	const void *bytes;
	struct desk d;
	size_t size;

	(void) state;
	for (uint32_t id = 1; id <= 2; id++)
		build_pending(b, (struct build_job) { .id = id, .nodes = 1, .tasks = 1, .limit = 3600 });
	d = sit(b);
	block(&d, 0, 1, 0, 600);
	assert_int_equal(start(&d, 1), 1);
	assert_int_equal(start(&d, 2), 1);
	encode(&d, false);
	sl_builder_row(d.image, SL_P_PLACE, 0, &place);
	place.node = 1;					/* kept free */
	sl_builder_update(d.image, SL_P_PLACE, 0, &place);
	checked(&d, sl_builder_finish(d.image, &bytes, &size, &d.err));
	checked(&d, sl_plan_image_open(&d.plan, bytes, size, &d.err));
	checked(&d, sl_check_rows(&d.b->snap, &d.plan, &cuts, &d.err));
	assert_int_equal(cuts.count, 1);
	assert_non_null(strstr(cuts.cut[0].text, "node n1 is kept free from"));
	to = sl_builder_create(&sl_plan_schema, &d.err);
	checked(&d, sl_plan_cut(&d.plan, &cuts, NULL, to, &d.err));
	checked(&d, sl_builder_finish(to, &bytes, &size, &d.err));
	checked(&d, sl_plan_image_open(&rest, bytes, size, &d.err));
	assert_int_equal(rest.start.rows, 1);
	assert_int_equal(rest.start.blocks[0], 1);
	assert_int_equal(rest.block.rows, 1);
	assert_int_equal(rest.node_run.last[rest.block.nodes[0].first], 1);
	sl_cuts_free(&cuts);
	sl_builder_destroy(to);
	leave(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_plan_has_the_blocks_and_which_of_them_bind_whom),
		cmocka_unit_test(what_was_reserved_before_stands_also_when_something_else_is_tried_for_the_job),
		cmocka_unit_test(jobs_in_an_advance_reservation_are_not_bound),
		cmocka_unit_test(no_plan_has_a_job_on_nodes_that_are_kept_free_of_it),
		cmocka_unit_test(a_plan_without_the_rows_that_were_refused_has_its_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
