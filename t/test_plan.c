/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "build.h"
#include "check.h"
#include "plan.h"
#include "same.h"

/* -- a cluster and a plan on it ------------------------------------------ */

struct desk {
	struct build *b;
	struct sl_cluster *c;
	struct sl_plan *p;
	struct sl_refusal why;
	struct sl_error err;
	int64_t at;			/* of the last reservation, after BUILD_NOW */
	struct sl_builder *image;
	struct sl_plan_image plan;
	void *bytes;
	size_t size;
};

static struct desk sit(struct build *b)
{
	struct desk d = { .b = b };

	d.c = sl_cluster_create(build_open(b), &d.err);
	if (d.c)
		d.p = sl_plan_create(d.c, &d.err);
	if (!d.p)
		fail_msg("%s", d.err.text);
	sl_plan_set_policy(d.p, "test");
	return d;
}

static void leave(struct desk *d)
{
	sl_plan_destroy(d->p);
	sl_cluster_destroy(d->c);
	if (d->image)
		sl_builder_destroy(d->image);
	free(d->bytes);
	build_destroy(d->b);
}

static struct sl_entry entry(uint32_t job)
{
	return (struct sl_entry) { .job = job };
}

static int checked(struct desk *d, int rc)
{
	if (rc < 0)
		fail_msg("%s", d->err.text);
	return rc;
}

static int start(struct desk *d, uint32_t job)
{
	return checked(d, sl_plan_start(d->p, entry(job), NULL, &d->why, &d->err));
}

static int backfill(struct desk *d, uint32_t job)
{
	return checked(d, sl_plan_backfill(d->p, entry(job), NULL, &d->why, &d->err));
}

static int reserve(struct desk *d, uint32_t job)
{
	int rc = checked(d, sl_plan_reserve(d->p, entry(job), NULL, &d->at, &d->why, &d->err));

	d->at -= BUILD_NOW;
	return rc;
}

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

/* The plan as an image. */
static const struct sl_plan_image *encode(struct desk *d, bool truncated)
{
	struct sl_plan_figures fig = { .examined = 3, .truncated = truncated, .decide_us = 5, .total_us = 6 };
	const void *bytes;

	if (!d->image)
		d->image = sl_builder_create(&sl_plan_schema, &d->err);
	else
		sl_builder_reset(d->image);
	assert_non_null(d->image);
	checked(d, sl_plan_encode(d->p, &fig, d->image, &d->err));
	checked(d, sl_builder_finish(d->image, &bytes, &d->size, &d->err));
	free(d->bytes);
	d->bytes = malloc(d->size);
	memcpy(d->bytes, bytes, d->size);
	checked(d, sl_plan_image_open(&d->plan, d->bytes, d->size, &d->err));
	return &d->plan;
}

/* ... which the checker accepts. */
static const struct sl_plan_image *accepted(struct desk *d)
{
	const struct sl_plan_image *plan = encode(d, false);

	checked(d, sl_check_plan(&d->b->snap, plan, &d->err));
	return plan;
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
	assert_int_equal(checked(&d, sl_plan_start(d.p, entry(1), &how, &d.why, &d.err)), 1);
	assert_string_equal(where(&d, 1), "n1:6 n3:2");
	accepted(&d);
	pick[0] = (struct sl_pick) { .node = 2, .cores = 4 };
	pick[1] = (struct sl_pick) { .node = 0, .cores = 4 };
	assert_int_equal(checked(&d, sl_plan_start(d.p, entry(2), &how, &d.why, &d.err)), 0);
	assert_int_equal(d.why.why, SL_WHY_RESOURCES);
	pick[0].node = 0;
	assert_int_equal(sl_plan_start(d.p, entry(2), &how, &d.why, &d.err), -1);
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
	assert_int_equal(sl_plan_start(d.p, entry(0), &how, &d.why, &d.err), -1);
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

static uint32_t reservation(struct build *b, const char *name, int64_t from, int64_t to, uint32_t first, uint32_t last)
{
	struct sl_reservation_row r = sl_reservation_row();

	r.name = sl_builder_str(b->builder, name);
	r.start_time = BUILD_NOW + from;
	r.end_time = BUILD_NOW + to;
	r.nodes = build_nodes(b, first, last);
	return sl_builder_append(b->builder, SL_T_RESERVATION, &r);
}

static void a_reservation_ahead_keeps_long_jobs_off_its_nodes(void **state)
{
	struct build *b = build_create("2x8c");
	struct desk d;

	(void) state;
	reservation(b, "maint", 100, 200, 0, 1);
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
	reservation(b, "course", -100, 1000, 1, 2);
	reservation(b, "later", 50, 500, 3, 3);
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
	assert_int_equal(checked(&d, sl_plan_start(d.p, entry(0), &how, &d.why, &d.err)), 0);
	assert_int_equal(d.why.why, SL_WHY_NOT_MODELLED);
	assert_string_equal(d.why.text, "only Slurm's select can place it (switches)");
	assert_int_equal(checked(&d, sl_plan_start(d.p, entry(0), &best, &d.why, &d.err)), 1);
	assert_int_equal(accepted(&d)->start.native[0], 1);
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
	leave(&d);
}

static void orders_are_checked(void **state)
{
	struct build *b = build_create("2x8c");
	struct desk d;

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
	assert_int_equal(sl_plan_refuse(d.p, 9, SL_WHY_POLICY, "", &d.err), -1);
	assert_int_equal(sl_plan_refuse(d.p, 0, SL_WHYS, "", &d.err), -1);
	leave(&d);
}

/* -- random policies on random clusters ---------------------------------- */

static void random_how(uint64_t *s, uint32_t nodes, struct sl_how *how, struct sl_pick *pick)
{
	uint32_t n = build_below(s, SL_PLACE_METHODS);

	*how = (struct sl_how) { .method = n == SL_PLACE_TOPOLOGY ? SL_PLACE_BESTFIT : n };
	if (n != SL_PLACE_EXPLICIT)
		return;
	how->picks = pick;
	for (uint32_t i = build_below(s, nodes); i < nodes && how->count < 4; i += 1 + build_below(s, 2))
		pick[how->count++] = (struct sl_pick) { i, build_below(s, 6) };
}

/* What is refused for want of something free could not have started now. */
static void start_for_sure(struct desk *d, struct sl_entry e, const struct sl_how *how)
{
	struct sl_refusal other;
	int64_t at;

	if (checked(d, sl_plan_start(d->p, e, how, &d->why, &d->err)) ||
	    (d->why.why != SL_WHY_RESOURCES && d->why.why != SL_WHY_PRIORITY))
		return;
	if (checked(d, sl_plan_earliest(d->p, e, how, &at, &other, &d->err)) && at <= sl_cluster_now(d->c))
		fail_msg("job %u: refused (%s), and could start now", d->b->snap.job.id[e.job], d->why.text);
}

/* Now and then, with nodes of other partitions. */
static void random_loan(struct desk *d, uint64_t *s, struct sl_entry *e)
{
	uint32_t parts = d->b->snap.partition.rows;
	struct sl_loan wish = { .through = build_below(s, parts), .lenders = 1 + build_below(s, 3) };
	char why[160];

	if (build_below(s, 3))
		return;
	for (uint32_t i = 0; i < wish.lenders; i++)
		wish.lender[i] = build_below(s, parts);
	if (!checked(d, sl_cluster_borrow(d->c, *e, &wish, &e->loan, why, &d->err)) && !*why)
		fail_msg("job %u: may not borrow, and nothing says why", d->b->snap.job.id[e->job]);
}

/* One verb of a random policy; misuse is none of its habits. */
static void verb(struct desk *d, uint64_t *s)
{
	uint32_t count, kind = build_below(s, 16);
	const struct sl_entry *queue = sl_cluster_queue(d->c, &count);
	struct sl_pick pick[4];
	struct sl_how how, *h = build_below(s, 3) ? NULL : &how;
	struct sl_entry e;
	int64_t at;

	if (!count)
		return;
	e = queue[build_below(s, count)];
	random_how(s, d->b->nodes, &how, pick);
	random_loan(d, s, &e);
	if (kind < 4)
		start_for_sure(d, e, h);
	else if (kind < 8)
		checked(d, sl_plan_backfill(d->p, e, h, &d->why, &d->err));
	else if (kind < 12)
		checked(d, sl_plan_reserve(d->p, e, h, &at, &d->why, &d->err));
	else if (kind < 13)
		checked(d, sl_plan_earliest(d->p, e, h, &at, &d->why, &d->err));
	else if (kind < 14)
		checked(d, sl_plan_refuse(d->p, e.job, SL_WHY_POLICY, "no", &d->err));
	else if (sl_plan_job(d->p, e.job) == SL_PLAN_RESERVED || sl_plan_job(d->p, e.job) == SL_PLAN_STARTED)
		checked(d, sl_plan_undo(d->p, e.job, &d->err));
}

static uint64_t rounds(void)
{
	const char *n = getenv("SL_ROUNDS");

	return 3000 * (n ? strtoull(n, NULL, 10) : 1);
}

static void random_policy(uint64_t seed)
{
	uint64_t s = seed;
	struct desk d = sit(build_random_cluster(seed, 2 + build_below(&s, 6), 5 + build_below(&s, 25)));
	struct sl_cluster *fresh;

	for (uint32_t i = 5 + build_below(&s, 60); i > 0; i--)
		verb(&d, &s);
	encode(&d, false);
	if (sl_check_plan(&d.b->snap, &d.plan, &d.err) < 0)
		fail_msg("seed %lu: %s", (unsigned long) seed, d.err.text);
	if (sl_timeline_validate(sl_cluster_timeline(d.c), &d.err) < 0)
		fail_msg("seed %lu: %s", (unsigned long) seed, d.err.text);
	sl_plan_destroy(d.p);
	d.p = NULL;
	fresh = sl_cluster_create(&d.b->snap, &d.err);
	assert_non_null(fresh);
	must_equal(d.c, fresh, seed);
	sl_cluster_destroy(fresh);
	leave(&d);
}

static void every_plan_of_any_policy_passes_the_checker_and_leaves_no_trace(void **state)
{
	/* layouts with open and odd picks, which one in a hundred thousand policies makes */
	static const uint64_t rare[] = { 107314, 169238 };
	const char *first = getenv("SL_SEED");
	uint64_t from = first ? strtoull(first, NULL, 10) : 1;

	(void) state;
	for (size_t i = 0; i < sizeof(rare) / sizeof(rare[0]); i++)
		random_policy(rare[i]);
	for (uint64_t seed = from; seed < from + rounds(); seed++)
		random_policy(seed);
}

/* A number that nobody expects in a row that nobody would write. */
static void spoil(struct build *b, uint64_t *s)
{
	static const int64_t odd[] = { 0, 1, -1, 2, 59, 60, 65535, 65536, INT32_MAX, UINT32_MAX, BUILD_NOW,
		BUILD_NOW - 1, INT64_MAX, INT64_MAX - 1, INT64_MIN, INT64_MIN + 1, INT64_C(1) << 40 };
	union { struct sl_job_row job; char bytes[1024]; int64_t align; } row;
	uint32_t table = build_below(s, SL_SNAPSHOT_TABLES), rows = sl_builder_rows(b->builder, (int) table);
	const struct sl_table *t = &sl_snapshot_schema.table[table];
	const struct sl_column *col = &t->column[build_below(s, t->columns)];
	int64_t value = odd[build_below(s, sizeof(odd) / sizeof(odd[0]))];
	uint32_t at;

	if (!rows || table == SL_T_META)
		return;
	at = build_below(s, rows);
	sl_builder_row(b->builder, (int) table, at, &row);
	if (col->type == SL_TYPE_i64)
		memcpy(row.bytes + col->row_offset, &value, sizeof(value));
	else if (col->type == SL_TYPE_u32 && !sl_schema_words(&sl_snapshot_schema, (int) table,
							     (uint32_t) (col - t->column)))
		memcpy(row.bytes + col->row_offset, &(uint32_t) { (uint32_t) value }, sizeof(uint32_t));
	else if (table == SL_T_JOB && col->type == SL_TYPE_ref)
		memcpy(row.bytes + col->row_offset, &(uint32_t) { SL_NONE }, sizeof(uint32_t));
	sl_builder_update(b->builder, (int) table, at, &row);
}

static void odd_numbers_in_a_snapshot_do_no_harm(void **state)
{
	uint32_t tried = 0;

	(void) state;
	for (uint64_t seed = 1; seed <= rounds(); seed++) {
		struct build *b = build_random_cluster(seed, 5, 20);
		struct desk d = { .b = b };
		uint64_t s = ~seed;
		const void *bytes;
		size_t size;

		for (int i = 0; i < 4; i++)
			spoil(b, &s);
		sl_builder_update(b->builder, SL_T_META, 0, &b->meta);
		checked(&d, sl_builder_finish(b->builder, &bytes, &size, &d.err));
		b->bytes = malloc(size);
		memcpy(b->bytes, bytes, size);
		if (sl_snapshot_open(&b->snap, b->bytes, size, &d.err) < 0 ||
		    !(d.c = sl_cluster_create(&b->snap, &d.err))) {
			build_destroy(b);
			continue;
		}
		tried++;
		d.p = sl_plan_create(d.c, &d.err);
		assert_non_null(d.p);
		for (int i = 0; i < 40; i++)
			verb(&d, &s);
		encode(&d, false);
		if (sl_check_plan(&b->snap, &d.plan, &d.err) < 0)
			fail_msg("seed %lu: %s", (unsigned long) seed, d.err.text);
		leave(&d);
	}
	assert_true(tried > rounds() / 2);
}

static void the_same_decisions_make_the_same_bytes(void **state)
{
	(void) state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		void *bytes = NULL;
		size_t size = 0;

		for (int turn = 0; turn < 2; turn++) {
			struct desk d = sit(build_random_cluster(seed, 6, 25));
			uint64_t s = seed;

			for (int i = 0; i < 40; i++)
				verb(&d, &s);
			encode(&d, false);
			if (turn && (d.size != size || memcmp(d.bytes, bytes, size)))
				fail_msg("seed %lu: another plan", (unsigned long) seed);
			if (!turn) {
				bytes = malloc(d.size);
				memcpy(bytes, d.bytes, size = d.size);
			}
			leave(&d);
		}
		free(bytes);
	}
}

/* -- EASY as it is written in the books ---------------------------------- */

struct simple {			/* a job on a machine of single processors */
	uint32_t nodes;
	int64_t seconds;	/* that it runs, or still runs */
};

/* Lifka's rule, counting processors: start in order; the first that cannot start gets
 * the shadow time and the extra processors; later ones start if they end by then or
 * need no more than the extra ones. */
static void by_the_book(uint32_t procs, const struct simple *run, uint32_t runs, const struct simple *job,
			uint32_t jobs, bool *started, int64_t *shadow)
{
	struct simple held[64];
	uint32_t n = 0, free_now = procs, extra = 0;
	bool head = false;

	for (uint32_t i = 0; i < runs; free_now -= run[i++].nodes)
		held[n++] = run[i];
	for (uint32_t j = 0; j < jobs; j++) {
		uint32_t will = free_now;

		started[j] = job[j].nodes <= free_now && (!head || job[j].seconds <= *shadow || job[j].nodes <= extra);
		if (started[j]) {
			if (head && job[j].seconds > *shadow)
				extra -= job[j].nodes;
			free_now -= job[j].nodes;
			held[n++] = job[j];
			continue;
		}
		if (head)
			continue;
		head = true;
		for (*shadow = 0; will < job[j].nodes; ) {	/* the next end */
			int64_t next = INT64_MAX;

			for (uint32_t i = 0; i < n; i++)
				if (held[i].seconds > *shadow && held[i].seconds < next)
					next = held[i].seconds;
			for (uint32_t i = 0; i < n; i++)
				will += held[i].seconds == next ? held[i].nodes : 0;
			*shadow = next;
		}
		extra = will - job[j].nodes;
	}
}

static void easy_decides_as_the_book_does(void **state)
{
	(void) state;
	for (uint64_t seed = 1; seed <= 500; seed++) {
		struct build *b = build_create("24x1c");
		struct simple run[8], job[30];
		bool started[30];
		uint64_t s = seed;
		uint32_t used = 0, runs = 0, first;
		int64_t shadow = -1, at;
		bool head = false;
		struct desk d;

		for (; runs < 8; runs++, used += run[runs - 1].nodes) {
			run[runs] = (struct simple) { 1 + build_below(&s, 6), 1 + build_below(&s, 400) };
			if (used + run[runs].nodes > 24)
				break;
			build_running(b, (struct build_job) { .id = 100 + runs, .first = used,
				      .nodes = run[runs].nodes, .ends_in = run[runs].seconds });
		}
		first = runs;
		for (uint32_t j = 0; j < 30; j++) {
			job[j] = (struct simple) { 1 + build_below(&s, 12), 1 + build_below(&s, 500) };
			build_pending(b, (struct build_job) { .id = j + 1, .nodes = job[j].nodes,
				      .limit = job[j].seconds });
		}
		by_the_book(24, run, runs, job, 30, started, &shadow);
		d = sit(b);
		for (uint32_t j = 0; j < 30; j++) {
			int rc = head ? backfill(&d, first + j) : start(&d, first + j);

			if (rc != started[j])
				fail_msg("seed %lu: job %u is %sstarted", (unsigned long) seed, j + 1,
					 rc ? "" : "not ");
			if (rc || head)
				continue;
			head = reserve(&d, first + j);
			at = d.at;
			if (at != shadow)
				fail_msg("seed %lu: shadow time %ld, by the book %ld", (unsigned long) seed, (long) at,
					 (long) shadow);
		}
		accepted(&d);
		leave(&d);
	}
}

/* -- plans that were tampered with --------------------------------------- */

static void refused(struct desk *d, uint64_t seed, const char *what, const char *words)
{
	const void *bytes;
	struct sl_plan_image p;
	size_t size;

	checked(d, sl_builder_finish(d->image, &bytes, &size, &d->err));
	checked(d, sl_plan_image_open(&p, bytes, size, &d->err));
	if (!sl_check_plan(&d->b->snap, &p, &d->err))
		fail_msg("seed %lu: %s: not noticed", (unsigned long) seed, what);
	if (words && !strstr(d->err.text, words))
		fail_msg("seed %lu: %s: \"%s\" has no \"%s\"", (unsigned long) seed, what, d->err.text, words);
	if (strncmp(d->err.text, "job ", 4))
		fail_msg("seed %lu: %s: \"%s\" names no job", (unsigned long) seed, what, d->err.text);
}

static void tamper_place(struct desk *d, uint64_t seed, struct sl_plan_start_row *row)
{
	const struct sl_snapshot *s = &d->b->snap;
	struct sl_plan_place_row place, other;
	uint32_t at = row->places.first, i;

	sl_builder_row(d->image, SL_P_PLACE, at, &place);
	other = place;
	other.cores = s->node.cores[place.node] * s->partition.oversubscribe[row->partition] + 1;
	sl_builder_update(d->image, SL_P_PLACE, at, &other);
	refused(d, seed, "more cores than the node has", NULL);
	for (i = 0; i < s->node.rows; i++)
		if (s->node.state[i] & SL_NODE_UNUSABLE)
			break;
	other = place;
	other.node = i;
	sl_builder_update(d->image, SL_P_PLACE, at, &other);
	refused(d, seed, "a dead node, or one that is none", NULL);
	sl_builder_update(d->image, SL_P_PLACE, at, &place);
}

static void tampering_is_noticed(void **state)
{
	(void) state;
	for (uint64_t seed = 1; seed <= 500; seed++) {
		struct desk d = sit(build_random_cluster(seed, 6, 25));
		struct sl_plan_start_row row, twin;
		uint64_t s = seed;
		uint32_t i, tasks;

		for (int k = 0; k < 40; k++)
			verb(&d, &s);
		encode(&d, false);
		if (d.plan.start.rows) {
			i = build_below(&s, d.plan.start.rows);
			sl_builder_row(d.image, SL_P_START, i, &row);
			if (d.b->snap.partition.oversubscribe[row.partition])
				tamper_place(&d, seed, &row);
			twin = row;
			twin.stamp++;
			sl_builder_update(d.image, SL_P_START, i, &twin);
			refused(&d, seed, "another stamp", "has stamp");
			twin = row;
			twin.time_limit = SL_UNLIMITED - 1;
			sl_builder_update(d.image, SL_P_START, i, &twin);
			if (sl_check_plan(&d.b->snap, &d.plan, &d.err) == 0 &&
			    d.b->snap.partition.max_time[row.partition] != SL_UNLIMITED)
				refused(&d, seed, "more time", "gets");
			sl_builder_update(d.image, SL_P_START, i, &row);
			for (tasks = 0; tasks < 5; tasks++) {	/* no array here has more */
				twin = row;
				twin.places = twin.lenders = (struct sl_range) { 0, 0 };
				sl_builder_append(d.image, SL_P_START, &twin);
			}
			refused(&d, seed, "a job again and again", NULL);
		}
		leave(&d);
	}
}

/* A reservation on an otherwise empty plan is the earliest there is: a second before,
 * its nodes are not free. */
static void a_reservation_moved_forward_is_noticed(void **state)
{
	uint32_t moved = 0;

	(void) state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct build *b = build_create("5x8c2g");
		uint64_t s = seed;
		struct desk d;

		for (uint32_t i = 0; i < 5; i++)
			if (build_below(&s, 4))
				build_running(b, (struct build_job) { .id = 100 + i, .first = i, .exclusive = true,
					      .ends_in = 1 + build_below(&s, 500) });
		for (uint32_t i = 0; i < 12; i++)
			build_pending(b, (struct build_job) { .id = i + 1, .nodes = 1 + build_below(&s, 5),
				      .limit = 1 + build_below(&s, 300), .tasks = 5 + build_below(&s, 30),
				      .exclusive = build_below(&s, 2) });
		d = sit(b);
		for (uint32_t j = 0, n = d.b->snap.job.rows; j < n; j++) {
			struct sl_plan_reserve_row row;
			uint32_t last;

			if (d.b->snap.job.state[j] != SL_JOB_PENDING || !reserve(&d, j) || !d.at)
				continue;
			accepted(&d);
			last = d.plan.reserve.rows - 1;
			sl_builder_row(d.image, SL_P_RESERVE, last, &row);
			row.start_time--;
			sl_builder_update(d.image, SL_P_RESERVE, last, &row);
			refused(&d, seed, "a second earlier", "in use");
			moved++;
		}
		leave(&d);
	}
	assert_true(moved > 1000);
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
		cmocka_unit_test(jobs_that_share_cores_are_started_until_the_shares_are_used_up),
		cmocka_unit_test(every_queued_job_that_is_not_booked_has_a_reason),
		cmocka_unit_test(orders_are_checked),
		cmocka_unit_test(every_plan_of_any_policy_passes_the_checker_and_leaves_no_trace),
		cmocka_unit_test(odd_numbers_in_a_snapshot_do_no_harm),
		cmocka_unit_test(the_same_decisions_make_the_same_bytes),
		cmocka_unit_test(easy_decides_as_the_book_does),
		cmocka_unit_test(tampering_is_noticed),
		cmocka_unit_test(a_reservation_moved_forward_is_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
