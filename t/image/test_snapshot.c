/* SPDX-License-Identifier: MIT */
/* What the schemas of snapshots and plans cannot say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "t/make_image.h"

/* Three nodes, two partitions, one running and one pending job. */
static struct sl_builder *make_small(void)
{
	static const char *const names[] = { "n1", "n2", "n3" };
	struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, NULL);
	struct sl_meta_row meta = sl_meta_row();
	struct sl_node_row node = sl_node_row();
	struct sl_partition_row part = sl_partition_row();
	struct sl_run_row run = { 0, 2 };
	struct sl_job_row job;
	struct sl_alloc_row alloc = sl_alloc_row();
	struct sl_queue_row queue = { .job = 1, .priority = 5 };
	struct sl_gres_kind_row kind = sl_gres_kind_row();
	struct sl_license_row license = sl_license_row();

	sl_builder_append(b, SL_T_META, &meta);
	kind.key = kind.name = sl_builder_str(b, "gpu");
	sl_builder_append(b, SL_T_GRES_KIND, &kind);
	license.name = sl_builder_str(b, "matlab");
	sl_builder_append(b, SL_T_LICENSE, &license);
	for (int i = 0; i < 3; i++) {
		node.name = sl_builder_str(b, names[i]);
		sl_builder_append(b, SL_T_NODE, &node);
	}
	sl_builder_append(b, SL_T_RUN, &run);
	part.nodes = (struct sl_range) { 0, 1 };
	for (int i = 0; i < 2; i++) {
		part.name = sl_builder_str(b, i ? "batch" : "long");
		sl_builder_append(b, SL_T_PARTITION, &part);
	}
	for (uint32_t i = 0; i < 2; i++) {
		alloc.node = i;
		sl_builder_append(b, SL_T_ALLOC, &alloc);
		job = sl_job_row();
		job.id = 7 + i;
		job.state = i ? SL_JOB_PENDING : SL_JOB_RUNNING;
		job.alloc.count = i ? 0 : 2;
		sl_builder_append(b, SL_T_JOB, &job);
	}
	sl_builder_append(b, SL_T_QUEUE, &queue);
	return b;
}

static int open_small(struct sl_builder *b, struct sl_error *err)
{
	struct sl_snapshot snap;
	const void *bytes;
	size_t size;
	int rc;

	if (sl_builder_finish(b, &bytes, &size, err) < 0)
		fail_msg("%s", err->text);
	rc = sl_snapshot_open(&snap, bytes, size, err);
	sl_builder_destroy(b);
	return rc;
}

static void expect_refusal(struct sl_builder *b, const char *text)
{
	struct sl_error err;

	assert_int_equal(open_small(b, &err), -1);
	assert_string_equal(err.text, text);
	assert_int_equal(err.code, SL_EFORMAT);
}

/* The small snapshot with one row changed. */
#define CHANGED(b, table, row, type, ...)			\
	struct sl_builder *b = make_small();			\
	struct sl_##type##_row changed_;			\
	assert_int_equal(sl_builder_row(b, table, row, &changed_), 0); \
	changed_ __VA_ARGS__;					\
	sl_builder_update(b, table, row, &changed_)

#define REFUSED(table, row, type, change, text) do {		\
	CHANGED(b_, table, row, type, change);			\
	expect_refusal(b_, text);				\
} while (0)

/* The small snapshot with one row more. */
#define REFUSED_ROW(table, type, text, ...) do {		\
	struct sl_builder *b_ = make_small();			\
	struct sl_##type##_row row_ = sl_##type##_row();	\
	row_ __VA_ARGS__;					\
	sl_builder_append(b_, table, &row_);			\
	expect_refusal(b_, text);				\
} while (0)

static void random_snapshots_and_plans_are_valid(void **state)
{
	struct sl_builder *snapshot = sl_builder_create(&sl_snapshot_schema, NULL);
	struct sl_builder *plan = sl_builder_create(&sl_plan_schema, NULL);
	struct sl_snapshot snap;
	struct sl_plan_image image;
	struct sl_error err;
	const void *bytes;
	size_t size;

	(void) state;
	for (uint64_t seed = 0; seed < 300; seed++) {
		sl_builder_reset(snapshot);
		make_snapshot(snapshot, seed, seed % 50, seed % 41);
		if (sl_builder_finish(snapshot, &bytes, &size, &err) < 0 ||
		    sl_snapshot_open(&snap, bytes, size, &err) < 0)
			fail_msg("seed %d: %s", (int) seed, err.text);
		sl_builder_reset(plan);
		make_plan(plan, seed, 1 + seed % 50, seed % 41);
		if (sl_builder_finish(plan, &bytes, &size, &err) < 0 ||
		    sl_plan_image_open(&image, bytes, size, &err) < 0)
			fail_msg("seed %d: %s", (int) seed, err.text);
	}
	sl_builder_destroy(snapshot);
	sl_builder_destroy(plan);
}

static void the_small_snapshot_is_valid(void **state)
{
	struct sl_error err;

	(void) state;
	if (open_small(make_small(), &err) < 0)
		fail_msg("%s", err.text);
}

static void runs_go_forward(void **state)
{
	(void) state;
	REFUSED(SL_T_RUN, 0, run, .first = 2; changed_.last = 1, "snapshot: run[0]: from node 2 back to 1");
	REFUSED(SL_T_RUN, 0, run, .last = SL_NONE, "snapshot: run.last of row 0 is missing");
	REFUSED(SL_T_RUN, 0, run, .last = 3, "snapshot: run[0].last: a reference to nothing");
}

static void a_clock_shows_a_time(void **state)
{
	(void) state;
	REFUSED(SL_T_META, 0, meta, .now = INT64_MAX, "snapshot: meta.now: 9223372036854775807 is no time");
	REFUSED(SL_T_META, 0, meta, .now = -1, "snapshot: meta.now: -1 is no time");
	REFUSED(SL_T_META, 0, meta, .now = INT64_MIN, "snapshot: meta.now: -9223372036854775808 is no time");
	REFUSED(SL_T_META, 0, meta, .now = (INT64_C(1) << 40) + 1, "snapshot: meta.now: 1099511627777 is no time");
}

static void only_pending_jobs_are_queued(void **state)
{
	(void) state;
	REFUSED(SL_T_QUEUE, 0, queue, .job = 0, "snapshot: queue[0]: job 7 is RUNNING, expected PENDING");
	REFUSED(SL_T_QUEUE, 0, queue, .job = SL_NONE, "snapshot: queue.job of row 0 is missing");
	REFUSED(SL_T_QUEUE, 0, queue, .partition = SL_NONE, "snapshot: queue.partition of row 0 is missing");
	REFUSED(SL_T_JOB, 1, job, .state = SL_JOB_STATES, "snapshot: job[1].state: a number without a meaning");
}

static void what_is_held_or_asked_for_is_named(void **state)
{
	(void) state;
	REFUSED(SL_T_ALLOC, 1, alloc, .node = SL_NONE, "snapshot: alloc.node of row 1 is missing");
	REFUSED_ROW(SL_T_NODE_GRES, node_gres, "snapshot: node_gres.kind of row 0 is missing", .count = 1);
	REFUSED_ROW(SL_T_ALLOC_GRES, alloc_gres, "snapshot: alloc_gres.kind of row 0 is missing", .count = 1);
	REFUSED_ROW(SL_T_JOB_LICENSE, job_license, "snapshot: job_license.license of row 0 is missing", .count = 1);
	REFUSED_ROW(SL_T_NODE_TASKS, node_tasks, "snapshot: node_tasks.node of row 0 is missing", .node = SL_NONE);
	REFUSED_ROW(SL_T_JOB_PARTITION, job_partition, "snapshot: job_partition.partition of row 0 is missing",
		    .partition = SL_NONE);
	REFUSED_ROW(SL_T_JOB_GRES, job_gres, "snapshot: job_gres[0].per: a number without a meaning", .per = 4);
}

static void an_allocation_has_a_node_once_and_belongs_to_one_job(void **state)
{
	(void) state;
	REFUSED(SL_T_ALLOC, 1, alloc, .node = 0, "snapshot: job 7 has node n1 twice");
	REFUSED(SL_T_JOB, 1, job, .alloc.count = 1, "snapshot: job 8 shares rows of alloc with another");
}

/* Two jobs of two nodes each. */
static struct sl_builder *with_node_tasks(void)
{
	struct sl_builder *b = make_small();
	struct sl_node_tasks_row row = sl_node_tasks_row();
	struct sl_job_row job;

	for (uint32_t i = 0; i < 4; i++) {
		row.node = i % 2;
		row.tasks = 1 + i;
		sl_builder_append(b, SL_T_NODE_TASKS, &row);
	}
	for (uint32_t j = 0; j < 2; j++) {
		sl_builder_row(b, SL_T_JOB, j, &job);
		job.arbitrary_tpn = (struct sl_range) { 2 * j, 2 };
		sl_builder_update(b, SL_T_JOB, j, &job);
	}
	return b;
}

static void tasks_of_nodes_are_in_node_order_and_belong_to_one_job(void **state)
{
	struct sl_builder *b = with_node_tasks();
	struct sl_node_tasks_row row;
	struct sl_job_row job;
	struct sl_error err;

	(void) state;
	if (open_small(b, &err) < 0)
		fail_msg("%s", err.text);
	b = with_node_tasks();
	sl_builder_row(b, SL_T_NODE_TASKS, 3, &row);
	row.node = 0;
	sl_builder_update(b, SL_T_NODE_TASKS, 3, &row);
	expect_refusal(b, "snapshot: job 8: its arbitrary_tpn has node n1 behind n1");
	b = with_node_tasks();
	sl_builder_row(b, SL_T_JOB, 1, &job);
	job.arbitrary_tpn = (struct sl_range) { 1, 3 };
	sl_builder_update(b, SL_T_JOB, 1, &job);
	expect_refusal(b, "snapshot: job 8 shares rows of node_tasks with another");
}

static void names_and_ids_are_unique(void **state)
{
	(void) state;
	REFUSED(SL_T_NODE, 2, node, .name = sl_builder_str(b_, "n1"), "snapshot: node.name: rows 0 and 2 are both \"n1\"");
	REFUSED(SL_T_PARTITION, 1, partition, .name = sl_builder_str(b_, "long"),
		"snapshot: partition.name: rows 0 and 1 are both \"long\"");
	REFUSED(SL_T_JOB, 1, job, .id = 7, "snapshot: job.id: rows 0 and 1 are both 7");
	REFUSED_ROW(SL_T_GRES_KIND, gres_kind, "snapshot: gres_kind.key: rows 0 and 1 are both \"gpu\"",
		    .key = sl_builder_str(b_, "gpu"));
}

static void node_names_can_stand_in_a_node_list(void **state)
{
	(void) state;
	REFUSED(SL_T_NODE, 2, node, .name = 0, "snapshot: node[2].name: \"\" is no node name");
	REFUSED(SL_T_NODE, 0, node, .name = sl_builder_str(b_, "n[1]"), "snapshot: node[0].name: \"n[1]\" is no node name");
	REFUSED(SL_T_NODE, 0, node, .name = sl_builder_str(b_, "a,b"), "snapshot: node[0].name: \"a,b\" is no node name");
}

static void states_have_words(void **state)
{
	(void) state;
	for (uint32_t s = 0; s < SL_JOB_STATES; s++)
		assert_string_not_equal(sl_job_state_word(s), "UNKNOWN");
	assert_string_equal(sl_job_state_word(SL_JOB_COMPLETE), "COMPLETED");
	assert_string_equal(sl_job_state_word(SL_JOB_STATES), "UNKNOWN");
	for (uint32_t w = 0; w < SL_WHYS; w++) {
		assert_string_not_equal(sl_why_word(w), "unknown");
		assert_int_equal(sl_why_of(sl_why_word(w)), w);
	}
	assert_string_equal(sl_why_word(SL_WHYS), "unknown");
	assert_int_equal(sl_why_of("unknown"), SL_WHYS);
	assert_false(sl_why_shows_text(SL_WHYS));
	for (uint32_t d = 0; d < SL_ACTIONS; d++)
		assert_string_not_equal(sl_action_word(d), "unknown");
	assert_string_equal(sl_action_word(SL_ACTIONS), "unknown");
}

/* -- plans ------------------------------------------------------------------- */

static struct sl_builder *make_small_plan(void)
{
	struct sl_builder *b = sl_builder_create(&sl_plan_schema, NULL);
	struct sl_plan_meta_row meta = sl_plan_meta_row();
	struct sl_plan_place_row place = sl_plan_place_row();
	struct sl_plan_place_gres_row gres = { .kind = 0, .count = 1 };
	struct sl_plan_start_row start = sl_plan_start_row();
	struct sl_plan_reserve_row reserve = sl_plan_reserve_row();

	sl_builder_append(b, SL_P_META, &meta);
	place.gres = (struct sl_range) { 0, 1 };
	sl_builder_append(b, SL_P_PLACE, &place);
	place.gres = (struct sl_range) { 0, 0 };
	sl_builder_append(b, SL_P_PLACE, &place);
	sl_builder_append(b, SL_P_PLACE_GRES, &gres);
	start.job = 7;
	start.places = (struct sl_range) { 0, 1 };
	sl_builder_append(b, SL_P_START, &start);
	reserve.job = 8;
	reserve.places = (struct sl_range) { 1, 1 };
	sl_builder_append(b, SL_P_RESERVE, &reserve);
	return b;
}

static void expect_plan(struct sl_builder *b, const char *text)
{
	struct sl_plan_image plan;
	struct sl_error err;
	const void *bytes;
	size_t size;

	if (sl_builder_finish(b, &bytes, &size, &err) < 0)
		fail_msg("%s", err.text);
	if (!text) {
		if (sl_plan_image_open(&plan, bytes, size, &err) < 0)
			fail_msg("%s", err.text);
	} else {
		assert_int_equal(sl_plan_image_open(&plan, bytes, size, &err), -1);
		assert_string_equal(err.text, text);
	}
	sl_builder_destroy(b);
}

#define REFUSED_PLAN(table, row, type, change, text) do {	\
	struct sl_builder *b_ = make_small_plan();		\
	struct sl_plan_##type##_row changed_;			\
	assert_int_equal(sl_builder_row(b_, table, row, &changed_), 0); \
	changed_ change;					\
	sl_builder_update(b_, table, row, &changed_);		\
	expect_plan(b_, text);					\
} while (0)

static void a_plan_shares_no_rows_so_that_it_is_carried_out_in_bounded_time(void **state)
{
	(void) state;
	expect_plan(make_small_plan(), NULL);
	REFUSED_PLAN(SL_P_RESERVE, 0, reserve, .places.count = 2, "plan: reserve[0].places: a range outside its table");
	REFUSED_PLAN(SL_P_START, 0, start, .places.count = 2, "plan: starts and reservations share rows of place");
	REFUSED_PLAN(SL_P_PLACE, 1, place, .gres.count = 1, "plan: places share rows of place_gres");
}

static void codes_of_a_plan_are_known(void **state)
{
	(void) state;
	REFUSED_PLAN(SL_P_META, 0, meta, .truncated = 2, "plan: meta.truncated is 2, expected 0 or 1");
	REFUSED_PLAN(SL_P_START, 0, start, .native = 2, "plan: start[0].native is 2, expected 0 or 1");
	REFUSED_PLAN(SL_P_RESERVE, 0, reserve, .native = 2, "plan: reserve[0].native is 2, expected 0 or 1");
}

static void texts_of_a_plan_are_bounded(void **state)
{
	char text[SL_PLAN_TEXT_MAX + 2];

	(void) state;
	memset(text, 'x', sizeof(text));
	text[SL_PLAN_TEXT_MAX + 1] = 0;
	REFUSED_PLAN(SL_P_START, 0, start, .by = sl_builder_str(b_, text), "plan: start.by of row 0 is longer than 4096 bytes");
	REFUSED_PLAN(SL_P_META, 0, meta, .error = sl_builder_str(b_, text), "plan: meta.error of row 0 is longer than 4096 bytes");
	text[SL_PLAN_TEXT_MAX] = 0;
	REFUSED_PLAN(SL_P_META, 0, meta, .error = sl_builder_str(b_, text), NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_snapshots_and_plans_are_valid),
		cmocka_unit_test(the_small_snapshot_is_valid),
		cmocka_unit_test(runs_go_forward),
		cmocka_unit_test(a_clock_shows_a_time),
		cmocka_unit_test(only_pending_jobs_are_queued),
		cmocka_unit_test(what_is_held_or_asked_for_is_named),
		cmocka_unit_test(an_allocation_has_a_node_once_and_belongs_to_one_job),
		cmocka_unit_test(tasks_of_nodes_are_in_node_order_and_belong_to_one_job),
		cmocka_unit_test(names_and_ids_are_unique),
		cmocka_unit_test(node_names_can_stand_in_a_node_list),
		cmocka_unit_test(states_have_words),
		cmocka_unit_test(a_plan_shares_no_rows_so_that_it_is_carried_out_in_bounded_time),
		cmocka_unit_test(codes_of_a_plan_are_known),
		cmocka_unit_test(texts_of_a_plan_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
