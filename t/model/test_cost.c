/* SPDX-License-Identifier: MIT */
/* Whatever a user asks for, planning it is a bounded amount of work, and others are planned too.  Work is counted in
 * units (base/effort.h), so that nothing here depends on a clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/busy.h"
#include "model/plan.h"
#include "t/costly.h"

#define NODES 3000
#define MALLORY 1000
#define ALICE 1001

/* A plan on a busy machine. */
struct scene {
	struct sl_builder *builder;
	struct sl_snapshot snap;
	struct sl_cluster *cluster;
	struct sl_plan *plan;
	struct sl_refusal why;
	uint32_t next_id;
};

static struct scene begin_scene(uint64_t seed)
{
	struct scene s = { .builder = sl_builder_create(&sl_snapshot_schema, NULL), .next_id = 1000000 };
	struct busy busy = { .nodes = NODES, .pending = 0, .seed = seed };

	assert_int_equal(busy_snapshot(s.builder, &busy, NULL), 0);
	costly_features(s.builder, NODES, seed);
	return s;
}

/* Another job; its row. */
static uint32_t add_job(struct scene *s, enum costly kind, uint32_t uid, uint64_t seed)
{
	uint32_t row = costly_job(s->builder, kind, NODES, s->next_id, uid, seed);

	s->next_id += COSTLY_COMPONENTS;
	return row;
}

static void open_scene(struct scene *s)
{
	struct sl_error err = { 0 };
	const void *bytes;
	size_t size;

	if (sl_builder_finish(s->builder, &bytes, &size, &err) || sl_snapshot_open(&s->snap, bytes, size, &err))
		fail_msg("%s", err.text);
	s->cluster = sl_cluster_create(&s->snap, &err);
	s->plan = s->cluster ? sl_plan_create(s->cluster, &err) : NULL;
	if (!s->plan)
		fail_msg("%s", err.text);
	sl_plan_set_policy(s->plan, "cost");
}

static void end_scene(struct scene *s)
{
	sl_plan_destroy(s->plan);
	sl_cluster_destroy(s->cluster);
	sl_builder_destroy(s->builder);
}

/* Start it, or else reserve it.  1, or 0 with s->why. */
static int decide(struct scene *s, uint32_t job)
{
	const struct sl_terms terms = { .any_shape = true };
	struct sl_entry e = { .job = job };
	struct sl_error err = { 0 };
	int64_t t;
	int rc = sl_plan_backfill(s->plan, e, &terms, &s->why, &err);

	if (!rc)
		rc = sl_plan_reserve(s->plan, e, &terms, &t, &s->why, &err);
	if (rc < 0)
		fail_msg("job row %u: %s", job, err.text);
	return rc;
}

/* Units of one decision. */
static uint64_t cost_of(struct scene *s, uint32_t job)
{
	uint64_t before = sl_cluster_effort(s->cluster);

	decide(s, job);
	return sl_cluster_effort(s->cluster) - before;
}

static void no_request_is_more_work_than_it_is_left_out_for(void **state)
{
	enum { EACH = 8 };
	uint32_t row[COSTLY_KINDS][EACH];

	(void) state;
	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct scene s = begin_scene(seed);
		uint64_t most;

		for (int kind = 0; kind < COSTLY_KINDS; kind++)
			for (uint32_t i = 0; i < EACH; i++)
				row[kind][i] = add_job(&s, kind, MALLORY + (uint32_t) (kind * EACH) + i, seed * 1000 + i);
		open_scene(&s);
		most = sl_plan_most_effort(s.plan);
		for (int kind = 0; kind < COSTLY_KINDS; kind++)
			for (uint32_t i = 0; i < EACH; i++) {
				uint64_t cost = cost_of(&s, row[kind][i]);

				/* what is done between two looks at the allowance comes on top */
				if (cost > most + most / 4)
					fail_msg("seed %llu, %s: %llu units, the most is %llu", (unsigned long long) seed,
						 costly_word(kind), (unsigned long long) cost, (unsigned long long) most);
			}
		end_scene(&s);
	}
}

static void a_plain_job_is_far_from_that(void **state)
{
	struct scene s = begin_scene(7);
	uint32_t row[20];

	(void) state;
	for (uint32_t i = 0; i < 20; i++)
		row[i] = add_job(&s, COSTLY_PLAIN, ALICE, 100 + i);
	open_scene(&s);
	for (uint32_t i = 0; i < 20; i++)
		assert_in_range(cost_of(&s, row[i]), 1, sl_plan_most_effort(s.plan) / 20);
	end_scene(&s);
}

/* The row of a job that is refused since it takes too long; there is one among these. */
static uint32_t find_costly(struct scene *s, const uint32_t *row, uint32_t rows)
{
	for (uint32_t i = 0; i < rows; i++)
		if (!decide(s, row[i]) && s->why.why == SL_WHY_COST)
			return row[i];
	fail_msg("none of %u jobs takes too long", rows);
	return 0;
}

static void add_costly(struct scene *s, uint32_t *row, uint32_t rows)
{
	for (uint32_t i = 0; i < rows; i++)
		row[i] = add_job(s, i % 2 ? COSTLY_HET : COSTLY_PREFER, MALLORY, i);
}

static void what_takes_too_long_is_left_out_and_the_user_reads_it(void **state)
{
	struct scene s = begin_scene(2);
	uint32_t row[30], job, count;
	const struct sl_left_out *left;
	uint64_t before;

	(void) state;
	add_costly(&s, row, 30);
	open_scene(&s);
	job = find_costly(&s, row, 30);
	assert_string_equal(sl_refusal_text(&s.why), "takes too long to plan");
	left = sl_plan_left_out(s.plan, &count);
	assert_in_range(count, 1, 30);
	assert_int_equal(left[count - 1].id, s.snap.job.id[job]);
	assert_true(left[count - 1].until > s.snap.meta.now[0]);
	assert_int_equal(sl_plan_job(s.plan, job), SL_PLAN_REFUSED);
	/* and costs nothing when it is tried again */
	before = sl_cluster_effort(s.cluster);
	assert_int_equal(decide(&s, job), 0);
	assert_int_equal(s.why.why, SL_WHY_COST);
	assert_int_equal(sl_cluster_effort(s.cluster), before);
	end_scene(&s);
}

static void who_was_left_out_before_is_left_out_until_then(void **state)
{
	struct scene s = begin_scene(3);
	uint32_t job = add_job(&s, COSTLY_PLAIN, ALICE, 1), other = add_job(&s, COSTLY_PLAIN, ALICE, 2);
	uint32_t third = add_job(&s, COSTLY_PLAIN, ALICE, 3), count;
	int64_t now;

	(void) state;
	open_scene(&s);
	now = s.snap.meta.now[0];
	sl_plan_leave_out(s.plan, (struct sl_left_out) { .id = s.snap.job.id[job], .until = now + 1 });
	/* that is over; the clock was set back */
	sl_plan_leave_out(s.plan, (struct sl_left_out) { .id = s.snap.job.id[other], .until = now });
	sl_plan_leave_out(s.plan, (struct sl_left_out) { .id = s.snap.job.id[third], .until = now + 1000 });
	sl_plan_left_out(s.plan, &count);
	assert_int_equal(count, 1);
	assert_int_equal(decide(&s, job), 0);
	assert_int_equal(s.why.why, SL_WHY_COST);
	assert_int_equal(decide(&s, other), 1);
	assert_int_equal(decide(&s, third), 1);
	end_scene(&s);
}

static void a_user_with_many_such_jobs_stops_nobody(void **state)
{
	enum { JOBS = 200 };
	struct scene s = begin_scene(4);
	uint32_t row[JOBS], plain;
	uint64_t most;

	(void) state;
	add_costly(&s, row, JOBS);
	plain = add_job(&s, COSTLY_PLAIN, ALICE, 1);
	open_scene(&s);
	most = sl_plan_most_effort(s.plan);
	for (uint32_t i = 0; i < JOBS; i++)
		decide(&s, row[i]);
	/* some jobs at the most, all others at the base */
	assert_in_range(sl_cluster_effort(s.cluster), 1, 8 * most + JOBS * (most / 20 + most / 80));
	assert_int_equal(decide(&s, plain), 1);
	end_scene(&s);
}

/* What is decided about all jobs of a scene, as a number. */
static uint64_t digest_of_decisions(const char *source)
{
	struct scene s = begin_scene(5);
	struct sl_meta_row meta;
	uint64_t digest = 0;
	uint32_t row[40];

	sl_builder_row(s.builder, SL_T_META, 0, &meta);
	meta.source = sl_builder_str(s.builder, source);
	sl_builder_update(s.builder, SL_T_META, 0, &meta);
	add_costly(&s, row, 40);
	open_scene(&s);
	for (uint32_t i = 0; i < 40; i++)
		digest = digest * 31 + (uint64_t) decide(&s, row[i]) * 100 + (sl_plan_job(s.plan, row[i]) == SL_PLAN_REFUSED &&
									      s.why.why == SL_WHY_COST);
	digest = digest * 31 + sl_cluster_effort(s.cluster);
	end_scene(&s);
	return digest;
}

/* One who took too long stays left out, whatever is changed of him. */
static void who_was_refused_by_the_checker_is_left_out_until_changed(void **state)
{
	struct scene s = begin_scene(3);
	uint32_t job = add_job(&s, COSTLY_PLAIN, ALICE, 1), other = add_job(&s, COSTLY_PLAIN, ALICE, 2), count;
	struct sl_left_out left = { .text = (char[]) { "the checker refused its place: \"x\"" } };

	(void) state;
	open_scene(&s);
	left.until = s.snap.meta.now[0] + 300;
	left.id = s.snap.job.id[job];
	left.stamp = s.snap.job.stamp[job];
	sl_plan_leave_out(s.plan, left);
	left.id = s.snap.job.id[other];
	left.stamp = s.snap.job.stamp[other] + 1;
	sl_plan_leave_out(s.plan, left);
	sl_plan_left_out(s.plan, &count);
	assert_int_equal(count, 2);
	assert_int_equal(decide(&s, job), 0);
	assert_int_equal(s.why.why, SL_WHY_CHECK);
	assert_string_equal(sl_refusal_text(&s.why), "the checker refused its place: \"x\"");
	assert_int_equal(decide(&s, other), 1);
	end_scene(&s);
}

static void the_same_jobs_are_left_out_each_time(void **state)
{
	(void) state;
	assert_int_equal(digest_of_decisions("plugin"), digest_of_decisions("plugin"));
}

static void a_simulation_has_no_bounds(void **state)
{
	struct scene s = begin_scene(6);
	struct sl_meta_row meta;
	uint32_t row[6], count;

	(void) state;
	sl_builder_row(s.builder, SL_T_META, 0, &meta);
	meta.source = sl_builder_str(s.builder, "sim");
	sl_builder_update(s.builder, SL_T_META, 0, &meta);
	add_costly(&s, row, 6);
	open_scene(&s);
	for (uint32_t i = 0; i < 6; i++)
		assert_true(decide(&s, row[i]) || s.why.why != SL_WHY_COST);
	sl_plan_left_out(s.plan, &count);
	assert_int_equal(count, 0);
	end_scene(&s);
}

static void after_the_deadline_nothing_goes_on(void **state)
{
	struct scene s = begin_scene(8);
	uint32_t job = add_job(&s, COSTLY_PREFER, ALICE, 1);
	volatile sig_atomic_t stop = 1;
	struct sl_error err;
	int64_t t;

	(void) state;
	open_scene(&s);
	sl_cluster_stop_at(s.cluster, &stop);
	assert_int_equal(sl_plan_reserve(s.plan, (struct sl_entry) { .job = job }, NULL, &t, NULL, &err), -1);
	assert_int_equal(err.code, SL_ETIME);
	end_scene(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_request_is_more_work_than_it_is_left_out_for),
		cmocka_unit_test(a_plain_job_is_far_from_that),
		cmocka_unit_test(what_takes_too_long_is_left_out_and_the_user_reads_it),
		cmocka_unit_test(who_was_left_out_before_is_left_out_until_then),
		cmocka_unit_test(who_was_refused_by_the_checker_is_left_out_until_changed),
		cmocka_unit_test(a_user_with_many_such_jobs_stops_nobody),
		cmocka_unit_test(the_same_jobs_are_left_out_each_time),
		cmocka_unit_test(a_simulation_has_no_bounds),
		cmocka_unit_test(after_the_deadline_nothing_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
