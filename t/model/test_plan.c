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

/* "n0:8 n3:2" of a job that is booked. */
static const char *where(struct desk *d, uint32_t job)
{
	static char text[256];
	uint32_t n;
	int64_t at;
	const struct sl_place *place = sl_plan_places(d->p, job, &n, &at);

	text[0] = 0;
	for (uint32_t i = 0; i < n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%sn%u:%u", i ? " " : "", place[i].node,
			 place[i].cores);
	return text;
}

static int64_t limit_of(struct desk *d, uint32_t i)
{
	struct sl_booking b;

	checked(d, sl_plan_booking(d->p, false, i, &b, &d->err));
	return b.time_limit;
}
static const char *pending_text(const struct sl_plan_image *p, uint32_t id, uint32_t *why)
{
	for (uint32_t i = 0; i < p->pending.rows; i++)
		if (p->pending.job[i] == id) {
			*why = p->pending.why[i];
			return sl_image_str(&p->image, p->pending.text[i]);
		}
	*why = SL_WHYS;
	return NULL;
}

/* -- starting ------------------------------------------------------------ */

static void a_start_books_what_the_job_gets(void **state)
{
	struct build *b = build_create("4x8c2g");
	struct desk d;

	(void) state;
	build_pending(b, (struct build_job) { .id = 1, .nodes = 2, .tasks = 12, .gpus = 1 });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 3, .exclusive = true });
	d = sit(b);
	assert_int_equal(start(&d, 0), 1);
	assert_int_equal(sl_plan_job(d.p, 0), SL_PLAN_STARTED);
	assert_int_equal(start(&d, 1), 0);
	assert_int_equal(d.why.why, SL_WHY_RESOURCES);
	assert_string_equal(d.why.text, "needs 3 nodes, 2 are free");
	assert_int_equal(start(&d, 0), 0);
	assert_string_equal(d.why.text, "is started already");
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
	assert_int_equal(checked(&d, sl_plan_start(d.p, entry(1), &(struct sl_terms) { .how = &how }, &d.why, &d.err)), 1);
	assert_string_equal(where(&d, 1), "n1:6 n3:2");
	accepted(&d);
	pick[0] = (struct sl_pick) { .node = 2, .cores = 4 };
	pick[1] = (struct sl_pick) { .node = 0, .cores = 4 };
	assert_int_equal(checked(&d, sl_plan_start(d.p, entry(2), &(struct sl_terms) { .how = &how }, &d.why, &d.err)), 0);
	assert_int_equal(d.why.why, SL_WHY_RESOURCES);
	pick[0].node = 0;
	assert_int_equal(sl_plan_start(d.p, entry(2), &(struct sl_terms) { .how = &how }, &d.why, &d.err), -1);
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
	assert_int_equal(sl_plan_start(d.p, entry(7), NULL, &d.why, &d.err), -1);
	assert_int_equal(sl_plan_start(d.p, entry(1), NULL, &d.why, &d.err), -1);
	assert_int_equal(sl_plan_start(d.p, (struct sl_entry) { .job = 0, .partition = 1 }, NULL, &d.why, &d.err), -1);
	assert_int_equal(sl_plan_start(d.p, entry(0), &(struct sl_terms) { .how = &how }, &d.why, &d.err), -1);
	assert_int_equal(sl_plan_undo(d.p, 0, &d.err), -1);
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
	build_change(b, SL_T_JOB, 4, sl_job_row, .req_nodes = build_nodes(b, 3, 3));
	build_change(b, SL_T_JOB, 5, sl_job_row, .begin_time = BUILD_NOW + 60);
	d = sit(b);
	assert_int_equal(start(&d, 1), 0);
	assert_int_equal(d.why.why, SL_WHY_NEVER);
	assert_int_equal(start(&d, 2), 0);
	assert_int_equal(d.why.why, SL_WHY_NODES_DOWN);
	assert_string_equal(d.why.text, "1 node is down or drained, needs more than are left");
	assert_int_equal(start(&d, 3), 0);
	assert_int_equal(d.why.why, SL_WHY_RESOURCES);
	assert_int_equal(start(&d, 4), 0);
	assert_int_equal(d.why.why, SL_WHY_NODES_DOWN);
	assert_string_equal(d.why.text, "requires node n3, which is down");
	assert_int_equal(start(&d, 5), 0);
	assert_int_equal(d.why.why, SL_WHY_BEGIN);
	assert_int_equal(reserve(&d, 5), 1);
	assert_int_equal(d.at, 60);
	assert_int_equal(reserve(&d, 2), 0);
	assert_int_equal(d.why.why, SL_WHY_NODES_DOWN);
	accepted(&d);
	leave(&d);
}

/* -- EASY ---------------------------------------------------------------- */

static void a_short_job_is_backfilled_behind_a_wide_one_that_must_wait(void **state)
{
	struct build *b = build_create("4x8c2g");
	struct desk d;

	(void) state;
	build_running(b, (struct build_job) { .id = 1, .nodes = 3, .exclusive = true, .ends_in = 3600 });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 4, .limit = 3600 });
	build_pending(b, (struct build_job) { .id = 3, .nodes = 1, .limit = 1800 });
	build_pending(b, (struct build_job) { .id = 4, .nodes = 1, .limit = 7200, .exclusive = true });
	d = sit(b);
	assert_int_equal(start(&d, 1), 0);
	assert_string_equal(d.why.text, "needs 4 nodes, 1 is free");
	assert_int_equal(reserve(&d, 1), 1);
	assert_int_equal(d.at, 3600);
	assert_int_equal(backfill(&d, 3), 0);
	assert_int_equal(d.why.why, SL_WHY_PRIORITY);
	assert_string_equal(d.why.text, "would delay job 2");
	assert_int_equal(backfill(&d, 2), 1);
	assert_string_equal(where(&d, 2), "n3:1");
	assert_int_equal(sl_plan_job(d.p, 1), SL_PLAN_RESERVED);
	accepted(&d);
	leave(&d);
}

static void a_long_job_may_use_the_extra_nodes(void **state)
{
	struct build *b = build_create("4x8c");
	struct desk d;

	(void) state;
	build_running(b, (struct build_job) { .id = 1, .nodes = 2, .exclusive = true, .ends_in = 100 });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 3, .exclusive = true, .limit = 100 });
	build_pending(b, (struct build_job) { .id = 3, .nodes = 1, .exclusive = true, .limit = 9999 });
	build_pending(b, (struct build_job) { .id = 4, .nodes = 1, .exclusive = true, .limit = 9999 });
	d = sit(b);
	assert_int_equal(reserve(&d, 1), 1);
	assert_int_equal(d.at, 100);
	assert_int_equal(backfill(&d, 2), 1);
	assert_int_equal(backfill(&d, 3), 0);
	assert_int_equal(d.why.why, SL_WHY_PRIORITY);
	accepted(&d);
	leave(&d);
}

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
	assert_int_equal(start(&d, 1), 0);
	assert_int_equal(d.why.why, SL_WHY_LICENSES);
	assert_int_equal(reserve(&d, 1), 1);
	assert_int_equal(d.at, 100);
	assert_non_null(strstr(where(&d, 1), "n0"));
	assert_int_equal(backfill(&d, 2), 1);
	assert_string_equal(where(&d, 2), "n0:8");
	assert_null(strstr(where(&d, 1), "n0"));
	accepted(&d);
	/* A second one has no room beside the head, wherever that goes. */
	assert_int_equal(backfill(&d, 3), 0);
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
	assert_int_equal(reserve(&d, 1), 1);
	assert_int_equal(d.at, 100);
	assert_int_equal(reserve(&d, 2), 1);
	assert_int_equal(d.at, 0);
	assert_string_equal(where(&d, 2), "n1:8");
	assert_int_equal(sl_plan_job(d.p, 2), SL_PLAN_RESERVED);
	assert_int_equal(backfill(&d, 3), 0);
	assert_int_equal(backfill(&d, 2), 1);	/* its own reservation is not in its way */
	assert_int_equal(sl_plan_job(d.p, 2), SL_PLAN_STARTED);
	accepted(&d);
	leave(&d);
}

static void conservative_reservations_follow_one_another(void **state)
{
	struct build *b = build_create("4x8c");
	struct desk d;
	uint32_t n;

	(void) state;
	for (uint32_t i = 0; i < 3; i++)
		build_pending(b, (struct build_job) { .id = i + 1, .nodes = 3, .exclusive = true, .limit = 100 });
	build_pending(b, (struct build_job) { .id = 4, .nodes = 1, .exclusive = true, .limit = 300 });
	d = sit(b);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(reserve(&d, i), 1);
		assert_int_equal(d.at, 100 * i);
	}
	assert_int_equal(start(&d, 3), 1);
	assert_int_equal(sl_plan_reserved(d.p, &n)[0].job, 0);
	assert_int_equal(n, 3);
	accepted(&d);
	leave(&d);
}

/* -- times --------------------------------------------------------------- */

static void a_deadline_trims_the_time_limit_down_to_time_min(void **state)
{
	struct build *b = build_create("2x8c");
	struct desk d;

	(void) state;
	for (uint32_t i = 0; i < 4; i++)
		build_pending(b, (struct build_job) { .id = i + 1, .limit = 3600 });
	build_change(b, SL_T_JOB, 0, sl_job_row, .deadline = BUILD_NOW + 1850);
	build_change(b, SL_T_JOB, 1, sl_job_row, .deadline = BUILD_NOW + 1850);
	build_change(b, SL_T_JOB, 1, sl_job_row, .time_min = 600);
	build_change(b, SL_T_JOB, 2, sl_job_row, .deadline = BUILD_NOW + 1850);
	build_change(b, SL_T_JOB, 2, sl_job_row, .time_limit = SL_UNLIMITED);
	build_change(b, SL_T_JOB, 3, sl_job_row, .deadline = BUILD_NOW + 3600);
	d = sit(b);
	assert_int_equal(start(&d, 0), 0);
	assert_int_equal(d.why.why, SL_WHY_DEADLINE);
	assert_string_equal(d.why.text, "needs 60 minutes, its deadline is in 30");
	assert_int_equal(reserve(&d, 0), 0);
	assert_int_equal(d.why.why, SL_WHY_DEADLINE);
	assert_int_equal(start(&d, 1), 1);
	assert_int_equal(limit_of(&d, 0), 1800);
	assert_int_equal(start(&d, 2), 1);
	assert_int_equal(limit_of(&d, 1), 1800);
	assert_int_equal(start(&d, 3), 1);
	assert_int_equal(limit_of(&d, 2), 0);
	assert_int_equal(accepted(&d)->start.time_limit[0], 1800);
	leave(&d);
}

/* The partition's longest time, which took the place of it, is no limit that it named. */
static void a_deadline_trims_a_default_time_limit(void **state)
{
	struct build *b = build_create("2x8c");
	struct desk d;

	(void) state;
	build_pending(b, (struct build_job) { .id = 1, .limit = 3600 });
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .max_time = 3600);
	build_change(b, SL_T_JOB, 0, sl_job_row, .deadline = BUILD_NOW + 1850);
	build_change(b, SL_T_JOB, 0, sl_job_row, .flags = SL_JOBF_DEFAULT_TIME);
	d = sit(b);
	assert_int_equal(start(&d, 0), 1);
	assert_int_equal(limit_of(&d, 0), 1800);
	accepted(&d);
	leave(&d);
}

static void a_job_with_time_min_starts_for_as_long_as_fits(void **state)
{
	struct build *b = build_create("2x8c");
	struct desk d;

	(void) state;
	build_running(b, (struct build_job) { .id = 1, .exclusive = true, .ends_in = 1000 });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 2, .exclusive = true, .limit = 600 });
	build_pending(b, (struct build_job) { .id = 3, .limit = 3600 });
	build_pending(b, (struct build_job) { .id = 4, .limit = 3600 });
	build_change(b, SL_T_JOB, 2, sl_job_row, .time_min = 600);
	build_change(b, SL_T_JOB, 3, sl_job_row, .time_min = 1001);
	d = sit(b);
	assert_int_equal(reserve(&d, 1), 1);
	assert_int_equal(d.at, 1000);
	assert_int_equal(backfill(&d, 3), 0);
	assert_int_equal(backfill(&d, 2), 1);
	assert_int_equal(limit_of(&d, 0), 960);
	accepted(&d);
	leave(&d);
}

static void a_reserved_job_with_a_deadline_starts_as_early_as_it_can_for_what_is_left(void **state)
{
	struct build *b = build_create("1x8c");
	struct desk d;

	(void) state;
	build_running(b, (struct build_job) { .id = 1, .exclusive = true, .ends_in = 1000 });
	build_pending(b, (struct build_job) { .id = 2, .limit = 3600 });
	build_change(b, SL_T_JOB, 1, sl_job_row, .time_min = 600);
	build_change(b, SL_T_JOB, 1, sl_job_row, .deadline = BUILD_NOW + 3000);
	d = sit(b);
	assert_int_equal(reserve(&d, 1), 1);
	assert_int_equal(d.at, 1000);
	assert_int_equal(accepted(&d)->reserve.time_limit[0], 1980);
	leave(&d);
}

/* -- arrays, partitions, licences ---------------------------------------- */

static void tasks_of_an_array_are_started_one_by_one_up_to_the_throttle(void **state)
{
	struct build *b = build_create("4x8c");
	struct sl_job_row r = build_row(b, (struct build_job) { .id = 5, .limit = 60 });
	const struct sl_plan_image *plan;
	struct desk d;
	uint32_t job, n;

	(void) state;
	job = build_running(b, (struct build_job) { .id = 4, .cores = 1, .ends_in = 90 });
	build_change(b, SL_T_JOB, job, sl_job_row, .array_job_id = 5);
	r.array_job_id = 5;
	r.array_pending = 4;
	r.array_max_running = 3;
	job = build_append(b, &r);
	d = sit(b);
	assert_int_equal(start(&d, job), 1);
	assert_int_equal(sl_plan_job(d.p, job), SL_PLAN_OPEN);
	assert_int_equal(start(&d, job), 1);
	assert_int_equal(start(&d, job), 0);
	assert_int_equal(d.why.why, SL_WHY_ARRAY);
	assert_string_equal(d.why.text, "3 tasks of its array run, as many as may");
	assert_int_equal(reserve(&d, job), 1);
	assert_int_equal(d.at, 60);
	sl_plan_started(d.p, &n);
	assert_int_equal(n, 2);
	plan = accepted(&d);
	assert_int_equal(plan->start.rows, 2);
	assert_int_equal(plan->start.job[0], 5);
	assert_int_equal(plan->start.job[1], 5);
	assert_int_equal(plan->reserve.rows, 1);
	checked(&d, sl_plan_undo(d.p, job, &d.err));
	checked(&d, sl_plan_undo(d.p, job, &d.err));
	assert_int_equal(start(&d, job), 1);
	accepted(&d);
	leave(&d);
}

static void all_tasks_of_an_array_started_is_started(void **state)
{
	struct build *b = build_create("4x8c");
	struct sl_job_row r = build_row(b, (struct build_job) { .id = 5, .limit = 60 });
	struct desk d;
	uint32_t job;

	(void) state;
	r.array_job_id = 5;
	r.array_pending = 2;
	job = build_append(b, &r);
	d = sit(b);
	assert_int_equal(start(&d, job), 1);
	assert_int_equal(start(&d, job), 1);
	assert_int_equal(sl_plan_job(d.p, job), SL_PLAN_STARTED);
	assert_int_equal(start(&d, job), 0);
	assert_string_equal(d.why.text, "is started already");
	accepted(&d);
	leave(&d);
}

static void a_job_in_several_partitions_is_started_once_and_its_best_refusal_counts(void **state)
{
	struct build *b = build_create("4x8c");
	uint32_t small = build_partition(b, "small", 0, 0), job, why;
	struct sl_entry there = { .partition = small };
	struct desk d;

	(void) state;
	build_running(b, (struct build_job) { .id = 1, .nodes = 3, .exclusive = true, .ends_in = 60 });
	job = there.job = build_pending(b, (struct build_job) { .id = 2, .nodes = 2 });
	build_queue(b, job, small);
	d = sit(b);
	assert_int_equal(start(&d, job), 0);
	assert_int_equal(checked(&d, sl_plan_start(d.p, there, NULL, &d.why, &d.err)), 0);
	assert_int_equal(d.why.why, SL_WHY_NEVER);
	assert_string_equal(pending_text(accepted(&d), 2, &why), "needs 2 nodes, 1 is free");
	assert_int_equal(why, SL_WHY_RESOURCES);
	assert_int_equal(d.plan.pending.rows, 1);
	leave(&d);
}

static void licences_are_booked_over_time(void **state)
{
	struct build *b = build_create("4x8c");
	struct sl_license_row lic = { .total = 5, .used = 3, .reserved = 1 };
	uint32_t job;
	struct desk d;

	(void) state;
	lic.name = sl_builder_str(b->builder, "matlab");
	sl_builder_append(b->builder, SL_T_LICENSE, &lic);
	job = build_running(b, (struct build_job) { .id = 1, .cores = 1, .ends_in = 60 });
	build_change(b, SL_T_JOB, job, sl_job_row, .licenses = build_license(b, 0, 3));
	for (uint32_t i = 0; i < 3; i++) {
		job = build_pending(b, (struct build_job) { .id = 2 + i, .limit = 100 });
		build_change(b, SL_T_JOB, job, sl_job_row, .licenses = build_license(b, 0, i == 2 ? 9 : 3));
	}
	d = sit(b);
	assert_int_equal(start(&d, 1), 0);
	assert_int_equal(d.why.why, SL_WHY_LICENSES);
	assert_string_equal(d.why.text, "needs 3 of license matlab, 1 is free");
	assert_int_equal(reserve(&d, 1), 1);
	assert_int_equal(d.at, 60);
	assert_int_equal(reserve(&d, 2), 1);
	assert_int_equal(d.at, 160);
	assert_int_equal(reserve(&d, 3), 0);
	assert_int_equal(d.why.why, SL_WHY_LICENSES);
	accepted(&d);
	leave(&d);
}

static void max_cpus_per_node_is_shared_by_the_jobs_of_a_partition(void **state)
{
	struct build *b = build_create("2x8c");
	struct desk d;

	(void) state;
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .max_cpus_per_node = 4);
	build_running(b, (struct build_job) { .id = 1, .cores = 2, .ends_in = 60 });
	for (uint32_t i = 0; i < 3; i++)
		build_pending(b, (struct build_job) { .id = i + 2, .nodes = 1, .tasks = 2 + (i == 2) });
	d = sit(b);
	assert_int_equal(start(&d, 3), 1);
	assert_string_equal(where(&d, 3), "n1:3");
	assert_int_equal(start(&d, 1), 1);
	assert_string_equal(where(&d, 1), "n0:2");
	assert_int_equal(start(&d, 2), 0);
	accepted(&d);
	leave(&d);
}

/* -- reservations -------------------------------------------------------- */

static void a_reservation_ahead_keeps_long_jobs_off_its_nodes(void **state)
{
	struct build *b = build_create("2x8c");
	struct desk d;

	(void) state;
	build_reservation(b, "maint", 100, 200, 0, 1);
	build_pending(b, (struct build_job) { .id = 1, .nodes = 1, .limit = 101 });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 2, .limit = 100 });
	d = sit(b);
	assert_int_equal(start(&d, 0), 0);
	assert_int_equal(d.why.why, SL_WHY_RESERVATION);
	assert_int_equal(reserve(&d, 0), 1);
	assert_int_equal(d.at, 200);
	assert_int_equal(start(&d, 1), 1);
	accepted(&d);
	leave(&d);
}

static void a_job_in_a_reservation_has_its_nodes_and_nobody_elses(void **state)
{
	struct build *b = build_create("4x8c");
	struct desk d;

	(void) state;
	build_reservation(b, "course", -100, 1000, 1, 2);
	build_reservation(b, "later", 50, 500, 3, 3);
	for (uint32_t i = 0; i < 5; i++)
		build_pending(b, (struct build_job) { .id = i + 1, .nodes = 1, .exclusive = true, .limit = 600 });
	for (uint32_t i = 0; i < 4; i++)
		build_change(b, SL_T_JOB, i, sl_job_row, .reservation =
			     sl_builder_str(b->builder, i == 3 ? "later" : "course"));
	d = sit(b);
	assert_int_equal(start(&d, 0), 1);
	assert_string_equal(where(&d, 0), "n1:8");
	assert_int_equal(start(&d, 1), 1);
	assert_string_equal(where(&d, 1), "n2:8");
	assert_int_equal(start(&d, 2), 0);
	assert_int_equal(reserve(&d, 2), 1);
	assert_int_equal(d.at, 600);
	assert_int_equal(start(&d, 3), 0);
	assert_string_equal(d.why.text, "its reservation later has not begun");
	assert_int_equal(reserve(&d, 3), 1);
	assert_int_equal(d.at, 50);
	assert_int_equal(start(&d, 4), 1);
	assert_string_equal(where(&d, 4), "n0:8");
	accepted(&d);
	leave(&d);
}

/* -- native -------------------------------------------------------------- */

static void a_native_job_books_an_upper_bound(void **state)
{
	struct build *b = build_create("2x8c");
	struct sl_pick pick = { .node = 0, .cores = 4 };
	struct sl_how how = { .method = SL_PLACE_EXPLICIT, .picks = &pick, .count = 1 };
	struct sl_how best = { .method = SL_PLACE_BESTFIT };
	struct desk d;

	(void) state;
	build_pending(b, (struct build_job) { .id = 1, .nodes = 2, .tasks = 8 });
	build_change(b, SL_T_JOB, 0, sl_job_row, .switches = 1);
	d = sit(b);
	assert_int_equal(checked(&d, sl_plan_start(d.p, entry(0), &(struct sl_terms) { .how = &how }, &d.why, &d.err)), 0);
	assert_int_equal(d.why.why, SL_WHY_NOT_MODELLED);
	assert_string_equal(d.why.text, "only Slurm's select can place it (switches)");
	assert_int_equal(checked(&d, sl_plan_start(d.p, entry(0), &(struct sl_terms) { .how = &best }, &d.why, &d.err)), 1);
	assert_int_equal(accepted(&d)->start.native[0], 1);
	leave(&d);
}

/* Four cores of each node are free all the time, but select might give it others. */
static void a_native_job_is_kept_off_nodes_that_another_has_reserved_within_its_time(void **state)
{
	struct build *b = build_create("3x8c");
	const struct sl_plan_image *plan;
	struct desk d;

	(void) state;
	for (uint32_t n = 0; n < 2; n++)
		build_running(b, (struct build_job) { .id = 8 + n, .first = n, .cores = 8, .ends_in = 600 });
	build_pending(b, (struct build_job) { .id = 1, .nodes = 3, .tasks = 12, .limit = 3600 });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 1, .tasks = 1, .limit = 3600 });
	build_pending(b, (struct build_job) { .id = 3, .nodes = 1, .tasks = 1, .limit = 3600 });
	build_pending(b, (struct build_job) { .id = 4, .nodes = 1, .tasks = 1, .limit = 600 });
	build_change(b, SL_T_JOB, 2, sl_job_row, .switches = 1);
	build_change(b, SL_T_JOB, 3, sl_job_row, .switches = 1);
	build_change(b, SL_T_JOB, 5, sl_job_row, .switches = 1);
	d = sit(b);
	assert_int_equal(start(&d, 3), 1);
	assert_int_equal(reserve(&d, 2), 1);
	assert_int_equal(d.at, 600);
	assert_int_equal(backfill(&d, 5), 1);
	plan = accepted(&d);
	assert_int_equal(plan->start.behind[0], 0);
	assert_int_equal(plan->start.behind[1], 1);
	leave(&d);
}

static void a_native_job_that_would_run_into_a_reservation_waits_and_others_do_not(void **state)
{
	struct build *b = build_create("3x8c");
	struct desk d;

	(void) state;
	for (uint32_t n = 0; n < 2; n++)
		build_running(b, (struct build_job) { .id = 8 + n, .first = n, .cores = 8, .ends_in = 600 });
	build_pending(b, (struct build_job) { .id = 1, .nodes = 3, .tasks = 12, .limit = 3600 });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 1, .tasks = 1, .limit = 601 });
	build_pending(b, (struct build_job) { .id = 3, .nodes = 1, .tasks = 1, .limit = 601 });
	build_change(b, SL_T_JOB, 3, sl_job_row, .switches = 1);
	d = sit(b);
	assert_int_equal(reserve(&d, 2), 1);
	assert_int_equal(backfill(&d, 3), 0);
	assert_int_equal(d.why.why, SL_WHY_PRIORITY);
	assert_int_equal(backfill(&d, 4), 1);
	accepted(&d);
	leave(&d);
}

static void jobs_that_share_cores_are_started_until_the_shares_are_used_up(void **state)
{
	struct build *b = build_create("1x2c");
	struct desk d;

	(void) state;
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .oversubscribe = 3);
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .flags |= SL_PART_FORCE);
	build_running(b, (struct build_job) { .id = 9, .cores = 2, .ends_in = 60 });
	for (uint32_t i = 0; i < 5; i++)
		build_pending(b, (struct build_job) { .id = i + 1, .limit = 60 });
	d = sit(b);
	for (uint32_t i = 1; i < 5; i++)
		assert_int_equal(start(&d, i), 1);
	assert_int_equal(start(&d, 5), 0);
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
	checked(&d, sl_plan_refuse(d.p, 2, SL_WHY_POLICY, "over its quota", &d.err));
	assert_int_equal(start(&d, 2), 0);
	assert_int_equal(start(&d, 3), 0);
	checked(&d, sl_plan_do(d.p, SL_DO_PRIORITY, 4, 7, NULL, &d.err));
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
	assert_int_equal(sl_plan_job(d.p, 4), SL_PLAN_OPEN);
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
	for (i = 0; i <= orders / SL_PLAN_ORDERS_MAX; i++)
		build_pending(b, (struct build_job) { .id = i + 1 });
	d = sit(b);
	for (i = 0; i < orders; i++)
		checked(&d, sl_plan_do(d.p, SL_DO_NOTIFY, i / SL_PLAN_ORDERS_MAX, 0, text, &d.err));
	p = accepted(&d);
	assert_int_equal(sl_plan_answers(p, &b->snap, &err), 0);
	assert_string_equal(sl_image_str(&p->image, p->action.text[0]), text);
	assert_string_equal(sl_image_str(&p->image, p->action.text[orders - 1]), "");
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
	assert_int_equal(sl_plan_do(d.p, SL_DOS, 0, 0, NULL, &d.err), -1);
	assert_int_equal(sl_plan_do(d.p, SL_DO_CANCEL, 5, 0, NULL, &d.err), -1);
	assert_int_equal(sl_plan_do(d.p, SL_DO_SIGNAL, 0, 99, NULL, &d.err), -1);
	assert_int_equal(sl_plan_do(d.p, SL_DO_PRIORITY, 0, -1, NULL, &d.err), -1);
	assert_int_equal(sl_plan_do(d.p, SL_DO_TIME_LIMIT, 0, 59, NULL, &d.err), -1);
	assert_int_equal(sl_plan_do(d.p, SL_DO_NOTIFY, 0, 0, "", &d.err), -1);
	assert_int_equal(sl_plan_do(d.p, SL_DO_PARTITION, 0, 0, "nowhere", &d.err), -1);
	assert_string_equal(d.err.text, "partition: there is no partition \"nowhere\"");
	checked(&d, sl_plan_do(d.p, SL_DO_PARTITION, 0, 0, "batch", &d.err));
	for (i = 1; i < SL_PLAN_ORDERS_MAX; i++)
		checked(&d, sl_plan_do(d.p, SL_DO_SIGNAL, 0, 15, NULL, &d.err));
	assert_int_equal(sl_plan_do(d.p, SL_DO_CANCEL, 0, 0, NULL, &d.err), -1);
	assert_string_equal(d.err.text, "cancel: more than 16 orders for job 1 in a cycle");
	assert_int_equal(sl_plan_refuse(d.p, 9, SL_WHY_POLICY, "", &d.err), -1);
	assert_int_equal(sl_plan_refuse(d.p, 0, SL_WHYS, "", &d.err), -1);
	assert_int_equal(sl_plan_close(d.p, 9, SL_WHY_POLICY, "", &d.err), -1);
	assert_int_equal(sl_plan_close(d.p, 0, SL_WHY_NONE, "", &d.err), -1);
	leave(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_start_books_what_the_job_gets),
		cmocka_unit_test(an_explicit_layout_is_taken_as_it_is_or_not_at_all),
		cmocka_unit_test(misuse_is_an_error_and_not_a_refusal),
		cmocka_unit_test(refusals_say_what_is_in_the_way),
		cmocka_unit_test(a_short_job_is_backfilled_behind_a_wide_one_that_must_wait),
		cmocka_unit_test(a_long_job_may_use_the_extra_nodes),
		cmocka_unit_test(the_head_moves_to_other_nodes_but_not_to_another_time),
		cmocka_unit_test(the_other_reservations_stand),
		cmocka_unit_test(conservative_reservations_follow_one_another),
		cmocka_unit_test(a_deadline_trims_the_time_limit_down_to_time_min),
		cmocka_unit_test(a_deadline_trims_a_default_time_limit),
		cmocka_unit_test(a_job_with_time_min_starts_for_as_long_as_fits),
		cmocka_unit_test(a_reserved_job_with_a_deadline_starts_as_early_as_it_can_for_what_is_left),
		cmocka_unit_test(tasks_of_an_array_are_started_one_by_one_up_to_the_throttle),
		cmocka_unit_test(all_tasks_of_an_array_started_is_started),
		cmocka_unit_test(a_job_in_several_partitions_is_started_once_and_its_best_refusal_counts),
		cmocka_unit_test(licences_are_booked_over_time),
		cmocka_unit_test(max_cpus_per_node_is_shared_by_the_jobs_of_a_partition),
		cmocka_unit_test(a_reservation_ahead_keeps_long_jobs_off_its_nodes),
		cmocka_unit_test(a_job_in_a_reservation_has_its_nodes_and_nobody_elses),
		cmocka_unit_test(a_native_job_books_an_upper_bound),
		cmocka_unit_test(a_native_job_is_kept_off_nodes_that_another_has_reserved_within_its_time),
		cmocka_unit_test(a_native_job_that_would_run_into_a_reservation_waits_and_others_do_not),
		cmocka_unit_test(jobs_that_share_cores_are_started_until_the_shares_are_used_up),
		cmocka_unit_test(every_queued_job_that_is_not_booked_has_a_reason),
		cmocka_unit_test(texts_are_cut_where_they_are_too_much_in_all),
		cmocka_unit_test(orders_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
