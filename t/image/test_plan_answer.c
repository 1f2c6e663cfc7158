/* SPDX-License-Identifier: MIT */
/*
 * A plan is compared with its snapshot before it is carried out: what it names is there,
 * nothing comes twice, and there is an end to how much it is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "t/build.h"
#include "image/plan_answer.h"

/* Two nodes; job 1 runs; job 2 waits, job 3 is an array of three tasks; partition 1 has no queue. */
static struct build *two_waiting(void)
{
	struct build *b = build_create("2x8c");
	struct sl_job_row array;

	build_partition(b, "empty", 0, 1);
	build_running(b, (struct build_job) { .id = 1, .cores = 1, .ends_in = 3600 });
	build_pending(b, (struct build_job) { .id = 2 });
	array = build_row(b, (struct build_job) { .id = 3 });
	array.array_job_id = 3;
	array.array_pending = 3;
	build_append(b, &array);
	build_open(b);
	return b;
}

static struct sl_plan_start_row start_of(struct built_plan *p, uint32_t job)
{
	struct sl_plan_start_row row = sl_plan_start_row();

	row.job = job;
	row.partition = 0;
	row.places = build_place(p, 0, 1);
	return row;
}

static void start(struct built_plan *p, uint32_t job)
{
	struct sl_plan_start_row row = start_of(p, job);

	sl_builder_append(p->builder, SL_P_START, &row);
}

static void an_honest_plan_answers(void **state)
{
	struct build *b = two_waiting();
	struct built_plan *p = build_plan(b);
	struct sl_plan_pending_row pending = sl_plan_pending_row();
	struct sl_plan_reserve_row reserve = sl_plan_reserve_row();
	struct sl_plan_action_row action = sl_plan_action_row();

	(void) state;
	start(p, 3);
	start(p, 3);
	pending.job = 3;
	sl_builder_append(p->builder, SL_P_PENDING, &pending);
	reserve.job = 2;
	reserve.partition = 0;
	reserve.places = build_place(p, 1, 8);
	sl_builder_append(p->builder, SL_P_RESERVE, &reserve);
	action.job = 1;
	action.verb = SL_ACTION_SIGNAL;
	sl_builder_append(p->builder, SL_P_ACTION, &action);
	action.verb = SL_ACTION_NOTIFY;
	sl_builder_append(p->builder, SL_P_ACTION, &action);
	build_expect_answer(b, p, NULL);
	build_destroy(b);
}

static void the_answer_to_another_snapshot_is_refused(void **state)
{
	struct build *b = two_waiting();
	struct built_plan *p;

	(void) state;
	b->meta.sequence++;
	p = build_plan(b);
	build_expect_answer(b, p, "answers snapshot 8, expected 7");
	build_destroy(b);
}

static void a_job_starts_once_and_an_array_once_for_each_task(void **state)
{
	struct build *b = two_waiting();
	struct built_plan *p = build_plan(b);
	int i;

	(void) state;
	start(p, 2);
	start(p, 2);
	build_expect_answer(b, p, "start[1]: job 2 is started more often than it has tasks");
	p = build_plan(b);
	for (i = 0; i < 4; i++)
		start(p, 3);
	build_expect_answer(b, p, "start[3]: job 3 is started more often than it has tasks");
	build_destroy(b);
}

static void only_what_is_in_the_queue_is_started(void **state)
{
	struct build *b = two_waiting();
	struct built_plan *p = build_plan(b);
	struct sl_plan_start_row row;

	(void) state;
	start(p, 100002);
	build_expect_answer(b, p, "start[0]: job 100002 is not in the snapshot");
	p = build_plan(b);
	start(p, 1);
	build_expect_answer(b, p, "job 1 is not in the queue of partition row 0");
	p = build_plan(b);
	row = start_of(p, 2);
	row.partition = 1;
	sl_builder_append(p->builder, SL_P_START, &row);
	build_expect_answer(b, p, "job 2 is not in the queue of partition row 1");
	p = build_plan(b);
	row = start_of(p, 2);
	row.shape = 1;
	sl_builder_append(p->builder, SL_P_START, &row);
	build_expect_answer(b, p, "job 2 has no alternative 1");
	build_destroy(b);
}

static void places_are_nodes_of_the_snapshot_in_order(void **state)
{
	struct build *b = two_waiting();
	struct built_plan *p = build_plan(b);
	struct sl_plan_start_row row = start_of(p, 2);

	(void) state;
	row.places = build_place(p, 2, 1);
	sl_builder_append(p->builder, SL_P_START, &row);
	build_expect_answer(b, p, "start[0]: there is no node row 2");
	p = build_plan(b);
	row = start_of(p, 2);
	build_place(p, 0, 1);
	row.places.count = 2;
	sl_builder_append(p->builder, SL_P_START, &row);
	build_expect_answer(b, p, "node row 0 comes twice or out of order");
	p = build_plan(b);
	row = start_of(p, 2);
	row.places = build_place(p, 0, 0);
	sl_builder_append(p->builder, SL_P_START, &row);
	build_expect_answer(b, p, "no cores of node row 0");
	build_destroy(b);
}

static void lenders_are_partitions_and_no_more_than_there_are(void **state)
{
	struct build *b = two_waiting();
	struct built_plan *p = build_plan(b);
	struct sl_plan_start_row row = start_of(p, 2);
	struct sl_plan_lender_row lender = { .partition = 2 };

	(void) state;
	row.through = 2;
	sl_builder_append(p->builder, SL_P_START, &row);
	build_expect_answer(b, p, "there is no partition row 2");
	p = build_plan(b);
	row = start_of(p, 2);
	row.through = 1;
	row.lenders = (struct sl_range) { sl_builder_append(p->builder, SL_P_LENDER, &lender), 1 };
	sl_builder_append(p->builder, SL_P_START, &row);
	build_expect_answer(b, p, "there is no partition row 2");
	p = build_plan(b);
	row = start_of(p, 2);
	lender.partition = 1;
	row.lenders = (struct sl_range) { sl_builder_append(p->builder, SL_P_LENDER, &lender), 3 };
	sl_builder_append(p->builder, SL_P_LENDER, &lender);
	sl_builder_append(p->builder, SL_P_LENDER, &lender);
	sl_builder_append(p->builder, SL_P_START, &row);
	build_expect_answer(b, p, "more lenders than there are partitions");
	build_destroy(b);
}

static void a_job_is_reserved_once_and_waits_once(void **state)
{
	struct build *b = two_waiting();
	struct built_plan *p = build_plan(b);
	struct sl_plan_reserve_row reserve = sl_plan_reserve_row();
	struct sl_plan_pending_row pending = sl_plan_pending_row();

	(void) state;
	reserve.job = pending.job = 2;
	reserve.partition = 0;
	sl_builder_append(p->builder, SL_P_RESERVE, &reserve);
	sl_builder_append(p->builder, SL_P_RESERVE, &reserve);
	build_expect_answer(b, p, "reserve[1]: job 2 is reserved twice");
	p = build_plan(b);
	sl_builder_append(p->builder, SL_P_PENDING, &pending);
	sl_builder_append(p->builder, SL_P_PENDING, &pending);
	build_expect_answer(b, p, "pending[1]: job 2 stays pending twice");
	p = build_plan(b);
	pending.job = 1;
	sl_builder_append(p->builder, SL_P_PENDING, &pending);
	build_expect_answer(b, p, "pending[0]: job 1 is not in the queue");
	build_destroy(b);
}

static void orders_for_a_job_have_an_end(void **state)
{
	struct build *b = two_waiting();
	struct built_plan *p = build_plan(b);
	struct sl_plan_action_row action = sl_plan_action_row();
	int i;

	(void) state;
	action.job = 1;
	action.verb = SL_ACTION_NOTIFY;
	for (i = 0; i <= SL_PLAN_ACTIONS_MAX; i++)
		sl_builder_append(p->builder, SL_P_ACTION, &action);
	build_expect_answer(b, p, "action[16]: more than 16 actions for job 1");
	build_destroy(b);
}

/* A few kilobytes of image that are hundreds of megabytes where they are read. */
static void texts_that_are_shared_are_counted_each_time(void **state)
{
	struct build *b = build_create("1x1c");
	struct sl_plan_pending_row pending = sl_plan_pending_row();
	char text[SL_PLAN_TEXT_MAX + 1];
	uint32_t i, jobs = SL_PLAN_TEXTS_MAX / SL_PLAN_TEXT_MAX;

	(void) state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (i = 0; i <= jobs; i++)
		build_pending(b, (struct build_job) { .id = 1 + i });
	build_open(b);
	for (; jobs + 1 >= i - 1; jobs--) {	/* one too many, and just enough */
		struct built_plan *p = build_plan(b);
		uint32_t k;

		pending.text = sl_builder_str(p->builder, text);
		for (k = 0; k <= jobs; k++) {
			pending.job = 1 + k;
			sl_builder_append(p->builder, SL_P_PENDING, &pending);
		}
		build_expect_answer(b, p, jobs + 1 == i ? "plan: its texts are more than 33554432 bytes" : NULL);
	}
	build_destroy(b);
}

static void a_log_has_an_end(void **state)
{
	struct build *b = two_waiting();
	struct built_plan *p = build_plan(b);
	struct sl_plan_log_row line = { .level = 1 };
	int i;

	(void) state;
	for (i = 0; i <= SL_PLAN_LOG_MAX; i++)
		sl_builder_append(p->builder, SL_P_LOG, &line);
	build_expect_answer(b, p, "plan: 1001 lines for the log, expected at most 1000");
	build_destroy(b);
}

static void a_job_is_not_behind_more_reservations_than_there_are(void **state)
{
	struct build *b = two_waiting();
	struct built_plan *p = build_plan(b);
	struct sl_plan_start_row row = start_of(p, 2);

	(void) state;
	row.behind = 1;
	sl_builder_append(p->builder, SL_P_START, &row);
	build_expect_answer(b, p, "start[0]: job 2 is behind more reservations than there are");
	build_destroy(b);
}

/* A block of that list of node rows, first and last of each run. */
static void put_block(struct built_plan *p, uint32_t count, const uint32_t *runs)
{
	struct sl_plan_block_row block = { .start_time = 10, .end_time = 20,
		.nodes = { sl_builder_rows(p->builder, SL_P_NODE_RUN), count } };

	for (uint32_t i = 0; i < count; i++)
		sl_builder_append(p->builder, SL_P_NODE_RUN,
				  &(struct sl_plan_node_run_row) { .first = runs[2 * i], .last = runs[2 * i + 1] });
	sl_builder_append(p->builder, SL_P_BLOCK, &block);
}

static void a_block_is_of_nodes_of_the_snapshot_in_order(void **state)
{
	struct build *b = two_waiting();
	struct built_plan *p = build_plan(b);

	(void) state;
	put_block(p, 2, (const uint32_t[]) { 0, 0, 1, 1 });
	build_expect_answer(b, p, NULL);
	p = build_plan(b);
	put_block(p, 1, (const uint32_t[]) { 1, 2 });
	build_expect_answer(b, p, "node_run[0]: there are no node rows 1 to 2");
	p = build_plan(b);
	put_block(p, 1, (const uint32_t[]) { 1, 0 });
	build_expect_answer(b, p, "node_run[0]: there are no node rows 1 to 0");
	p = build_plan(b);
	put_block(p, 2, (const uint32_t[]) { 0, 1, 1, 1 });
	build_expect_answer(b, p, "block[0]: node row 1 comes twice or out of order");
	p = build_plan(b);
	for (int i = 0; i <= SL_PLAN_BLOCKS_MAX; i++)
		put_block(p, 1, (const uint32_t[]) { 0, 0 });
	build_expect_answer(b, p, "plan: 257 blocks, expected at most 256");
	build_destroy(b);
}

static void nobody_is_bound_by_more_blocks_than_there_are(void **state)
{
	struct build *b = two_waiting();
	struct built_plan *p = build_plan(b);
	struct sl_plan_start_row row = start_of(p, 2);
	struct sl_plan_reserve_row reserve = sl_plan_reserve_row();

	(void) state;
	row.blocks = 1;
	sl_builder_append(p->builder, SL_P_START, &row);
	build_expect_answer(b, p, "start[0]: job 2 is bound by more blocks than there are");
	p = build_plan(b);
	put_block(p, 1, (const uint32_t[]) { 0, 0 });
	reserve.job = 2;
	reserve.partition = 0;
	reserve.places = build_place(p, 1, 8);
	reserve.blocks = 2;
	sl_builder_append(p->builder, SL_P_RESERVE, &reserve);
	build_expect_answer(b, p, "reserve[0]: job 2 is bound by more blocks than there are");
	build_destroy(b);
}

static void a_forecast_is_of_a_job_that_is_queued_and_told_once(void **state)
{
	struct build *b = two_waiting();
	struct built_plan *p = build_plan(b);
	struct sl_plan_forecast_row row = { .job = 2 };

	(void) state;
	row.places = build_place(p, 0, 1);
	sl_builder_append(p->builder, SL_P_FORECAST, &row);
	build_expect_answer(b, p, NULL);
	p = build_plan(b);
	row.places = build_place(p, 0, 1);
	sl_builder_append(p->builder, SL_P_FORECAST, &row);
	row.places = build_place(p, 0, 1);
	sl_builder_append(p->builder, SL_P_FORECAST, &row);
	build_expect_answer(b, p, "forecast[1]: job 2 is reserved, or forecast, already");
	p = build_plan(b);
	row.places = (struct sl_range) { 0, 0 };	/* without a partition: told by a policy, beside another */
	row.partition = SL_NONE;
	sl_builder_append(p->builder, SL_P_FORECAST, &row);
	row.partition = 0;
	row.places = build_place(p, 0, 1);
	sl_builder_append(p->builder, SL_P_FORECAST, &row);
	build_expect_answer(b, p, NULL);
	p = build_plan(b);
	row.places = (struct sl_range) { 0, 0 };
	row.partition = SL_NONE;
	sl_builder_append(p->builder, SL_P_FORECAST, &row);
	sl_builder_append(p->builder, SL_P_FORECAST, &row);
	build_expect_answer(b, p, "forecast[1]: job 2 is reserved, or forecast, already");
	row.partition = 0;
	p = build_plan(b);
	row.places = build_place(p, 99, 1);
	sl_builder_append(p->builder, SL_P_FORECAST, &row);
	build_expect_answer(b, p, "forecast[0]: there is no node row 99");
	build_destroy(b);
}

static void preempt(struct built_plan *p, uint32_t job, uint32_t partition)
{
	struct sl_plan_preempt_row row = { .job = job, .partition = partition };

	sl_builder_append(p->builder, SL_P_PREEMPT, &row);
}

static void who_preempts_is_queued_and_may(void **state)
{
	struct build *b = build_create("2x8c");
	struct sl_job_row row;
	struct built_plan *p;
	int i;

	(void) state;
	build_partition(b, "empty", 0, 1);
	build_pending(b, (struct build_job) { .id = 2 });
	row = build_row(b, (struct build_job) { .id = 3 });
	row.flags |= SL_JOBF_MAY_PREEMPT;
	build_append(b, &row);
	build_open(b);
	p = build_plan(b);
	preempt(p, 3, 0);
	build_expect_answer(b, p, NULL);
	p = build_plan(b);
	preempt(p, 3, 0);
	preempt(p, 2, 0);
	build_expect_answer(b, p, "preempt[1]: job 2 is not in the queue of partition row 0, or can preempt nobody");
	p = build_plan(b);
	preempt(p, 3, 1);
	build_expect_answer(b, p, "preempt[0]: job 3 is not in the queue of partition row 1");
	p = build_plan(b);
	sl_builder_append(p->builder, SL_P_PREEMPT, &(struct sl_plan_preempt_row) { .job = 3, .behind = 1 });
	build_expect_answer(b, p, "preempt[0]: job 3 is behind more reservations than there are");
	p = build_plan(b);
	sl_builder_append(p->builder, SL_P_PREEMPT, &(struct sl_plan_preempt_row) { .job = 3, .blocks = 1 });
	build_expect_answer(b, p, "preempt[0]: job 3 is bound by more blocks than there are");
	p = build_plan(b);
	preempt(p, 4, 0);
	build_expect_answer(b, p, "preempt[0]: job 4 is not in the snapshot");
	p = build_plan(b);
	for (i = 0; i <= SL_PLAN_PREEMPT_MAX; i++)
		preempt(p, 3, 0);
	build_expect_answer(b, p, "plan: 21 jobs that may preempt others, expected at most 20");
	build_destroy(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_honest_plan_answers),
		cmocka_unit_test(the_answer_to_another_snapshot_is_refused),
		cmocka_unit_test(a_job_starts_once_and_an_array_once_for_each_task),
		cmocka_unit_test(only_what_is_in_the_queue_is_started),
		cmocka_unit_test(places_are_nodes_of_the_snapshot_in_order),
		cmocka_unit_test(lenders_are_partitions_and_no_more_than_there_are),
		cmocka_unit_test(a_job_is_reserved_once_and_waits_once),
		cmocka_unit_test(orders_for_a_job_have_an_end),
		cmocka_unit_test(texts_that_are_shared_are_counted_each_time),
		cmocka_unit_test(a_log_has_an_end),
		cmocka_unit_test(a_job_is_not_behind_more_reservations_than_there_are),
		cmocka_unit_test(a_block_is_of_nodes_of_the_snapshot_in_order),
		cmocka_unit_test(nobody_is_bound_by_more_blocks_than_there_are),
		cmocka_unit_test(a_forecast_is_of_a_job_that_is_queued_and_told_once),
		cmocka_unit_test(who_preempts_is_queued_and_may),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
