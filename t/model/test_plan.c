/* SPDX-License-Identifier: MIT */
/*
 * The verbs of a plan, one case each, worked out by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "t/model/desk.h"
#include "image/plan_answer.h"

/* -- starting ------------------------------------------------------------ */

static void a_start_books_what_the_job_gets(void **state)
{
	struct build *b = build_create("4x8c2g");
	struct desk d;

	(void) state;
	build_pending(b, (struct build_job) { .id = 1, .nodes = 2, .tasks = 12, .gpus = 1 });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 3, .exclusive = true });
	d = sit(b);
	assert_int_equal(start(&d, 1), 1);
	assert_int_equal(sl_plan_job(d.p, row(&d, 1)), SL_PLAN_STARTED);
	assert_int_equal(start(&d, 2), 0);
	assert_int_equal(d.why.why, SL_WHY_RESOURCES);
	assert_string_equal(sl_refusal_text(&d.why), "needs 3 nodes, 2 are free");
	assert_int_equal(start(&d, 1), 0);
	assert_string_equal(sl_refusal_text(&d.why), "is started already");
	accepted(&d);
	leave(&d);
}

static void an_explicit_layout_is_taken_as_it_is_or_not_at_all(void **state)
{
	struct build *b = build_create("4x8c");
	struct sl_pick pick[2] = { { .node = 3, .cores = 2 }, { .node = 1, .cores = 6 } };
	struct sl_how how = { .method = SL_PLACE_EXPLICIT, .picks = pick, .count = 2 };
	struct desk d;

	(void) state;
	build_running(b, (struct build_job) { .id = 9, .first = 2, .cores = 5, .ends_in = 60 });
	build_pending(b, (struct build_job) { .id = 1, .nodes = 2, .tasks = 8 });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 2, .tasks = 8 });
	d = sit(b);
	assert_int_equal(checked(&d, sl_plan_start(d.p, entry(&d, 1), &(struct sl_terms) { .how = &how }, &d.why, &d.err)), 1);
	assert_string_equal(where(&d, 1), "n1:6 n3:2");
	accepted(&d);
	pick[0] = (struct sl_pick) { .node = 2, .cores = 4 };
	pick[1] = (struct sl_pick) { .node = 0, .cores = 4 };
	assert_int_equal(checked(&d, sl_plan_start(d.p, entry(&d, 2), &(struct sl_terms) { .how = &how }, &d.why, &d.err)), 0);
	assert_int_equal(d.why.why, SL_WHY_RESOURCES);
	pick[0].node = 0;
	assert_int_equal(sl_plan_start(d.p, entry(&d, 2), &(struct sl_terms) { .how = &how }, &d.why, &d.err), -1);
	assert_int_equal(d.err.code, SL_EINVAL);
	leave(&d);
}

static void misuse_is_an_error_and_not_a_refusal(void **state)
{
	struct build *b = build_create("4x8c");
	struct sl_how how = { .method = 77 };
	struct desk d;

	(void) state;
	build_partition(b, "other", 0, 1);
	build_pending(b, (struct build_job) { .id = 1 });
	build_running(b, (struct build_job) { .id = 2, .cores = 1 });
	d = sit(b);
	assert_int_equal(sl_plan_start(d.p, (struct sl_entry) { .job = 7 }, NULL, &d.why, &d.err), -1);
	assert_int_equal(sl_plan_start(d.p, entry(&d, 2), NULL, &d.why, &d.err), -1);
	assert_int_equal(sl_plan_start(d.p, (struct sl_entry) { .job = 0, .partition = 1 }, NULL, &d.why, &d.err), -1);
	assert_int_equal(sl_plan_start(d.p, entry(&d, 1), &(struct sl_terms) { .how = &how }, &d.why, &d.err), -1);
	assert_int_equal(sl_plan_undo(d.p, row(&d, 1), &d.err), -1);
	assert_int_equal(d.err.code, SL_ENOENT);
	leave(&d);
}

static void refusals_say_what_is_in_the_way(void **state)
{
	struct build *b = build_create("4x8c");
	struct desk d;

	(void) state;
	build_change(b, SL_T_NODE, 3, sl_node_row, .state = SL_NODE_DOWN);
	build_running(b, (struct build_job) { .id = 9, .first = 2, .exclusive = true, .ends_in = 60 });
	build_pending(b, (struct build_job) { .id = 1, .nodes = 9 });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 4 });
	build_pending(b, (struct build_job) { .id = 3, .nodes = 3 });
	build_pending(b, (struct build_job) { .id = 4 });
	build_pending(b, (struct build_job) { .id = 5 });
	build_change_job(b, 4, .req_nodes = build_nodes(b, 3, 3));
	build_change_job(b, 5, .begin_time = BUILD_NOW + 60);
	/* features that only select understands are no feature that no node has */
	build_pending(b, (struct build_job) { .id = 6, .nodes = 4 });
	build_change_job(b, 6, .features = sl_builder_str(b->builder, "ib*1&fast*1"));
	d = sit(b);
	assert_int_equal(start(&d, 6), 0);
	assert_int_equal(d.why.why, SL_WHY_NODES_DOWN);
	assert_int_equal(start(&d, 1), 0);
	assert_int_equal(d.why.why, SL_WHY_NEVER);
	assert_int_equal(start(&d, 2), 0);
	assert_int_equal(d.why.why, SL_WHY_NODES_DOWN);
	assert_string_equal(sl_refusal_text(&d.why), "1 node is down or drained, needs more than are left");
	assert_int_equal(start(&d, 3), 0);
	assert_int_equal(d.why.why, SL_WHY_RESOURCES);
	assert_int_equal(start(&d, 4), 0);
	assert_int_equal(d.why.why, SL_WHY_NODES_DOWN);
	assert_string_equal(sl_refusal_text(&d.why), "requires node n3, which is down");
	assert_int_equal(start(&d, 5), 0);
	assert_int_equal(d.why.why, SL_WHY_BEGIN);
	assert_int_equal(reserve(&d, 5), 1);
	assert_int_equal(d.at, 60);
	assert_int_equal(reserve(&d, 2), 0);
	assert_int_equal(d.why.why, SL_WHY_NODES_DOWN);
	accepted(&d);
	leave(&d);
}

static void only_nodes_that_would_do_are_counted_as_down(void **state)
{
	struct build *b = build_create("4x8c+2x16c");
	struct desk d;

	(void) state;
	build_change(b, SL_T_NODE, 0, sl_node_row, .state = SL_NODE_DOWN);
	build_change(b, SL_T_NODE, 1, sl_node_row, .state = SL_NODE_DRAIN);
	build_change(b, SL_T_NODE, 4, sl_node_row, .state = SL_NODE_DOWN);
	for (uint32_t n = 1; n < 4; n++)
		build_change(b, SL_T_NODE, n, sl_node_row, .features = sl_builder_str(b->builder, "ib"));
	build_pending(b, (struct build_job) { .id = 1, .nodes = 2, .tasks_per_node = 16 });	/* of n4 and n5 */
	build_pending(b, (struct build_job) { .id = 2, .nodes = 3 });				/* n1 to n3 */
	build_change_job(b, 2, .features = sl_builder_str(b->builder, "ib"));
	build_pending(b, (struct build_job) { .id = 3, .nodes = 6 });
	build_pending(b, (struct build_job) { .id = 4, .nodes = 1, .tasks = 1, .tasks_per_node = 17 });	/* no node has room for 17 */
	d = sit(b);
	assert_int_equal(start(&d, 4), 0);
	assert_int_equal(d.why.why, SL_WHY_NEVER);
	assert_int_equal(start(&d, 1), 0);
	assert_int_equal(d.why.why, SL_WHY_NODES_DOWN);
	assert_string_equal(sl_refusal_text(&d.why), "1 node is down or drained, needs more than are left");
	assert_int_equal(start(&d, 2), 0);
	assert_string_equal(sl_refusal_text(&d.why), "1 node is down or drained, needs more than are left");
	assert_int_equal(start(&d, 3), 0);
	assert_string_equal(sl_refusal_text(&d.why), "3 nodes are down or drained, needs more than are left");
	leave(&d);
}

/* -- backfill and reservations: what spec/easy_spec.lua and its like do not say --- */

/* The head, contiguous, is booked on n0 and n1 (free now) for the time at which n2
 * and n3 are free too; the candidate runs on n0 only. */
static void the_head_moves_to_other_nodes_but_not_to_another_time(void **state)
{
	struct build *b = build_create("4x8c");
	struct sl_license_row lic = { .total = 2 };
	struct desk d;
	uint32_t job;

	(void) state;
	lic.name = sl_builder_str(b->builder, "matlab");
	sl_builder_append(b->builder, SL_T_LICENSE, &lic);
	job = build_running(b, (struct build_job) { .id = 1, .first = 2, .nodes = 2, .exclusive = true,
			    .ends_in = 100 });
	build_change(b, SL_T_JOB, job, sl_job_row, .licenses = build_license(b, 0, 2));
	job = build_pending(b, (struct build_job) { .id = 2, .nodes = 2, .exclusive = true, .limit = 100 });
	build_change(b, SL_T_JOB, job, sl_job_row, .flags |= SL_JOBF_CONTIGUOUS);
	build_change(b, SL_T_JOB, job, sl_job_row, .licenses = build_license(b, 0, 2));
	job = build_pending(b, (struct build_job) { .id = 3, .nodes = 1, .exclusive = true, .limit = 9999 });
	build_change(b, SL_T_JOB, job, sl_job_row, .exc_nodes = build_nodes(b, 1, 3));
	job = build_pending(b, (struct build_job) { .id = 4, .nodes = 2, .exclusive = true, .limit = 9999 });
	d = sit(b);
	assert_int_equal(start(&d, 2), 0);
	assert_int_equal(d.why.why, SL_WHY_LICENSES);
	assert_int_equal(reserve(&d, 2), 1);
	assert_int_equal(d.at, 100);
	assert_non_null(strstr(where(&d, 2), "n0"));
	assert_int_equal(backfill(&d, 3), 1);
	assert_string_equal(where(&d, 3), "n0:8");
	assert_null(strstr(where(&d, 2), "n0"));
	accepted(&d);
	/* A second one has no room beside the head, wherever that goes. */
	assert_int_equal(backfill(&d, 4), 0);
	accepted(&d);
	leave(&d);
}

static void the_other_reservations_stand(void **state)
{
	struct build *b = build_create("2x8c");
	struct desk d;

	(void) state;
	build_running(b, (struct build_job) { .id = 1, .exclusive = true, .ends_in = 100 });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 2, .exclusive = true, .limit = 100 });
	build_pending(b, (struct build_job) { .id = 3, .nodes = 1, .exclusive = true, .limit = 100 });
	build_pending(b, (struct build_job) { .id = 4, .nodes = 1, .exclusive = true, .limit = 100 });
	d = sit(b);
	assert_int_equal(reserve(&d, 2), 1);
	assert_int_equal(d.at, 100);
	assert_int_equal(reserve(&d, 3), 1);
	assert_int_equal(d.at, 0);
	assert_string_equal(where(&d, 3), "n1:8");
	assert_int_equal(sl_plan_job(d.p, row(&d, 3)), SL_PLAN_RESERVED);
	assert_int_equal(backfill(&d, 4), 0);
	assert_int_equal(backfill(&d, 3), 1);	/* its own reservation is not in its way */
	assert_int_equal(sl_plan_job(d.p, row(&d, 3)), SL_PLAN_STARTED);
	accepted(&d);
	leave(&d);
}

/* -- what the plan says -------------------------------------------------- */

static void every_queued_job_that_is_not_booked_has_a_reason(void **state)
{
	struct build *b = build_create("2x8c");
	const struct sl_plan_image *p;
	struct desk d;
	uint32_t why;

	(void) state;
	build_running(b, (struct build_job) { .id = 9, .exclusive = true, .ends_in = 60 });
	for (uint32_t i = 0; i < 5; i++)
		build_pending(b, (struct build_job) { .id = i + 1, .nodes = 2, .exclusive = true, .limit = 60 });
	d = sit(b);
	assert_int_equal(start(&d, 1), 0);
	assert_int_equal(reserve(&d, 1), 1);
	sl_plan_set_policy(d.p, "quota");
	checked(&d, sl_plan_refuse(d.p, row(&d, 2), SL_WHY_POLICY, "over its quota", &d.err));
	assert_int_equal(start(&d, 2), 0);
	assert_int_equal(start(&d, 3), 0);
	checked(&d, sl_plan_act(d.p, SL_ACTION_PRIORITY, row(&d, 4), 7, NULL, &d.err));
	assert_int_equal(sl_plan_log(d.p, 1, "hello"), 0);
	p = accepted(&d);
	assert_string_equal(pending_text(p, 1, &why), "needs 2 nodes, 1 is free");
	assert_string_equal(pending_text(p, 2, &why), "over its quota");
	assert_int_equal(why, SL_WHY_POLICY);
	assert_string_equal(pending_text(p, 3, &why), "needs 2 nodes, 1 is free");
	assert_string_equal(pending_text(p, 4, &why), "");
	assert_int_equal(why, SL_WHY_WINDOW);
	assert_int_equal(p->pending.rows, 5);
	assert_string_equal(sl_image_str(&p->image, p->meta.policy[0]), "site");
	assert_string_equal(sl_image_str(&p->image, p->pending.by[0]), "test");
	assert_string_equal(sl_image_str(&p->image, p->pending.by[1]), "quota");
	assert_int_equal(p->action.number[0], 7);
	assert_int_equal(p->log.level[0], 1);
	p = encode(&d, true);
	pending_text(p, 5, &why);
	assert_int_equal(why, SL_WHY_BUDGET);
	assert_int_equal(p->meta.truncated[0], 1);
	/* of a partition that is closed those have its words that have none yet */
	checked(&d, sl_plan_close(d.p, 0, SL_WHY_PRIORITY, "behind job 1", &d.err));
	p = encode(&d, true);
	assert_int_equal(p->pending.rows, 5);
	assert_string_equal(pending_text(p, 2, &why), "over its quota");
	assert_string_equal(pending_text(p, 3, &why), "needs 2 nodes, 1 is free");
	assert_string_equal(pending_text(p, 4, &why), "behind job 1");
	assert_string_equal(pending_text(p, 5, &why), "behind job 1");
	assert_int_equal(why, SL_WHY_PRIORITY);
	assert_int_equal(sl_plan_job(d.p, row(&d, 4)), SL_PLAN_OPEN);
	leave(&d);
}

/* As many messages as there is room for, and some more. */
static void texts_are_cut_where_they_are_too_much_in_all(void **state)
{
	uint32_t i, orders = SL_PLAN_TEXTS_MAX / SL_PLAN_TEXT_MAX + 10;
	struct build *b = build_create("1x1c");
	const struct sl_plan_image *p;
	char text[SL_PLAN_TEXT_MAX + 1];
	struct sl_error err;
	struct desk d;

	(void) state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	for (i = 0; i <= orders / SL_PLAN_ACTIONS_MAX; i++)
		build_pending(b, (struct build_job) { .id = i + 1 });
	d = sit(b);
	for (i = 0; i < orders; i++)
		checked(&d, sl_plan_act(d.p, SL_ACTION_NOTIFY, i / SL_PLAN_ACTIONS_MAX, 0, text, &d.err));
	p = accepted(&d);
	assert_int_equal(sl_plan_answers(p, &b->snap, &err), 0);
	assert_string_equal(sl_image_str(&p->image, p->action.text[0]), text);
	assert_string_equal(sl_image_str(&p->image, p->action.text[orders - 1]), "");
	leave(&d);
}

/* A loop over all jobs of a large queue. */
static void orders_and_lines_are_limited_in_all(void **state)
{
	uint32_t i, jobs = 100000 / SL_PLAN_ACTIONS_MAX + 1, done = 0;
	struct build *b = build_create("1x1c");
	const struct sl_plan_image *p;
	struct desk d;

	(void) state;
	for (i = 0; i < jobs; i++)
		build_pending(b, (struct build_job) { .id = i + 1 });
	d = sit(b);
	for (i = 0; i < jobs * SL_PLAN_ACTIONS_MAX; i++)
		done += !sl_plan_act(d.p, SL_ACTION_RESUME, i / SL_PLAN_ACTIONS_MAX, 0, NULL, &d.err);
	assert_int_equal(done, 100000);
	assert_string_equal(d.err.text, "resume: more than 100000 actions in a cycle");
	for (i = 0; i < 2 * SL_PLAN_LOG_MAX; i++)
		assert_int_equal(sl_plan_log(d.p, 1, "hello"), 0);
	p = encode(&d, false);
	assert_int_equal(p->action.rows, 100000);
	assert_int_equal(p->log.rows, SL_PLAN_LOG_MAX);
	assert_string_equal(sl_image_str(&p->image, p->log.text[SL_PLAN_LOG_MAX - 2]), "hello");
	assert_string_equal(sl_image_str(&p->image, p->log.text[SL_PLAN_LOG_MAX - 1]),
			    "further lines of this cycle are dropped");
	leave(&d);
}

static void orders_are_checked(void **state)
{
	struct build *b = build_create("2x8c");
	struct desk d;
	int i;

	(void) state;
	build_pending(b, (struct build_job) { .id = 1 });
	d = sit(b);
	assert_int_equal(sl_plan_act(d.p, SL_ACTIONS, row(&d, 1), 0, NULL, &d.err), -1);
	assert_int_equal(sl_plan_act(d.p, SL_ACTION_CANCEL, 5, 0, NULL, &d.err), -1);
	assert_int_equal(sl_plan_act(d.p, SL_ACTION_SIGNAL, row(&d, 1), 99, NULL, &d.err), -1);
	assert_int_equal(sl_plan_act(d.p, SL_ACTION_PRIORITY, row(&d, 1), -1, NULL, &d.err), -1);
	assert_int_equal(sl_plan_act(d.p, SL_ACTION_TIME_LIMIT, row(&d, 1), 59, NULL, &d.err), -1);
	assert_int_equal(sl_plan_act(d.p, SL_ACTION_NOTIFY, row(&d, 1), 0, "", &d.err), -1);
	assert_int_equal(sl_plan_act(d.p, SL_ACTION_PARTITION, row(&d, 1), 0, "nowhere", &d.err), -1);
	assert_string_equal(d.err.text, "partition: there is no partition \"nowhere\"");
	checked(&d, sl_plan_act(d.p, SL_ACTION_PARTITION, row(&d, 1), 0, "batch", &d.err));
	for (i = 1; i < SL_PLAN_ACTIONS_MAX; i++)
		checked(&d, sl_plan_act(d.p, SL_ACTION_SIGNAL, row(&d, 1), 15, NULL, &d.err));
	assert_int_equal(sl_plan_act(d.p, SL_ACTION_CANCEL, row(&d, 1), 0, NULL, &d.err), -1);
	assert_string_equal(d.err.text, "cancel: more than 16 actions for job 1 in a cycle");
	assert_int_equal(sl_plan_refuse(d.p, 9, SL_WHY_POLICY, "", &d.err), -1);
	assert_int_equal(sl_plan_refuse(d.p, row(&d, 1), SL_WHYS, "", &d.err), -1);
	assert_int_equal(sl_plan_close(d.p, 9, SL_WHY_POLICY, "", &d.err), -1);
	assert_int_equal(sl_plan_close(d.p, 0, SL_WHY_NONE, "", &d.err), -1);
	leave(&d);
}

/* -- gres of the job as a whole -------------------------------------------- */

/* Five GPUs where nodes have two: three nodes, though one CPU would do. */
static void gpus_of_a_job_lie_on_as_many_nodes_as_it_takes(void **state)
{
	struct build *b = build_create("4x8c2g");
	const struct sl_plan_image *plan;
	struct desk d;

	(void) state;
	for (uint32_t id = 1; id <= 4; id++) {
		build_pending(b, (struct build_job) { .id = id, .tasks = id == 3 ? 2 : 0, .limit = 600 });
		build_change_job(b, id, .gres = build_gres(b, "gpu", "", 5 - (id - 1) % 3, SL_PER_JOB));
	}
	build_change_job(b, 4, .max_nodes = 2);
	d = sit(b);
	assert_int_equal(start(&d, 1), 1);
	assert_int_equal(start(&d, 2), 0);	/* 4 of the 3 that are left */
	assert_int_equal(d.why.why, SL_WHY_RESOURCES);
	assert_int_equal(start(&d, 3), 1);	/* 3 for two tasks */
	assert_int_equal(start(&d, 4), 0);
	plan = accepted(&d);
	assert_int_equal(plan->start.places[0].count, 3);
	assert_int_equal(plan->start.places[1].count, 2);
	leave(&d);
}

/* As many as are free now; a reservation has the fewest, so that it comes soonest. */
static void a_range_of_nodes_is_used_up_by_who_starts_now(void **state)
{
	struct build *b = build_create("7x8c2g");
	const struct sl_plan_image *plan;
	struct desk d;

	(void) state;
	build_running(b, (struct build_job) { .id = 1, .nodes = 2, .exclusive = true, .ends_in = 1000 });
	build_pending(b, (struct build_job) { .id = 4, .nodes = 1, .max_nodes = 5, .limit = 600 });
	build_change_job(b, 4, .flags = SL_JOBF_MOST_NODES);
	build_change_job(b, 4, .gres = build_gres(b, "gpu", "", 3, SL_PER_JOB));
	for (uint32_t id = 2; id <= 3; id++) {
		build_pending(b, (struct build_job) { .id = id, .nodes = 2, .max_nodes = 5, .exclusive = true, .limit = 600 });
		build_change_job(b, id, .flags = SL_JOBF_MOST_NODES | SL_JOBF_EXCLUSIVE);
	}
	build_change_job(b, 2, .max_nodes = 3);
	d = sit(b);
	assert_int_equal(start(&d, 4), 1);	/* GPUs of two nodes, and no node more */
	assert_int_equal(start(&d, 2), 1);	/* three of the others */
	assert_int_equal(start(&d, 3), 0);	/* none is left */
	assert_int_equal(reserve(&d, 3), 1);
	assert_int_equal(d.at, 600);
	plan = accepted(&d);
	assert_int_equal(plan->start.places[0].count, 2);
	assert_int_equal(plan->start.places[1].count, 3);
	assert_int_equal(plan->reserve.places[0].count, 2);
	leave(&d);
}

static void of_a_list_of_counts_the_most_start_and_the_fewest_are_reserved(void **state)
{
	struct build *b = build_create("8x8c");
	const struct sl_plan_image *plan;
	struct desk d;

	(void) state;
	build_running(b, (struct build_job) { .id = 1, .nodes = 2, .exclusive = true, .ends_in = 1000 });
	for (uint32_t id = 2; id <= 4; id++) {
		build_pending(b, (struct build_job) { .id = id, .nodes = 2, .max_nodes = 8, .exclusive = true, .limit = 600 });
		build_change_job(b, id, .node_counts = sl_builder_str(b->builder, id == 4 ? "3-4,8" : "2,5,8"));
	}
	d = sit(b);
	assert_int_equal(start(&d, 2), 1);	/* five of six */
	assert_int_equal(start(&d, 3), 0);
	assert_int_equal(reserve(&d, 4), 1);
	assert_int_equal(d.at, 600);
	assert_int_equal(reserve(&d, 3), 1);	/* beside it two of the six that are free then */
	assert_int_equal(d.at, 600);
	plan = accepted(&d);
	assert_int_equal(plan->start.places[0].count, 5);
	assert_int_equal(plan->reserve.places[0].count, 3);
	assert_int_equal(plan->reserve.places[1].count, 2);
	leave(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_start_books_what_the_job_gets),
		cmocka_unit_test(an_explicit_layout_is_taken_as_it_is_or_not_at_all),
		cmocka_unit_test(misuse_is_an_error_and_not_a_refusal),
		cmocka_unit_test(refusals_say_what_is_in_the_way),
		cmocka_unit_test(only_nodes_that_would_do_are_counted_as_down),
		cmocka_unit_test(the_head_moves_to_other_nodes_but_not_to_another_time),
		cmocka_unit_test(the_other_reservations_stand),
		cmocka_unit_test(gpus_of_a_job_lie_on_as_many_nodes_as_it_takes),
		cmocka_unit_test(a_range_of_nodes_is_used_up_by_who_starts_now),
		cmocka_unit_test(of_a_list_of_counts_the_most_start_and_the_fewest_are_reserved),
		cmocka_unit_test(every_queued_job_that_is_not_booked_has_a_reason),
		cmocka_unit_test(texts_are_cut_where_they_are_too_much_in_all),
		cmocka_unit_test(orders_and_lines_are_limited_in_all),
		cmocka_unit_test(orders_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
