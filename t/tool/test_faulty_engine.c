/* SPDX-License-Identifier: MIT */
/*
 * An engine whose planner has a fault (t/tool/faulty_engine.c): one job of a thousand has a place that it
 * cannot have, or cannot be planned at all. The others start.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "image/plan_answer.h"
#include "t/build.h"
#include "t/tool/engine.h"

#define JOBS 1000
#define BAD 5007	/* the fault is in jobs whose id ends in 7 */
#define TRAP 5008
#define DEAR 5009

/* The job that does not start, and what its user reads. */
static uint32_t bad = BAD;
static const char *bad_words = "the checker refused its place: node n";

/* What the plan before remembered, as its rows stand in the next snapshot. */
static struct build *thousand_jobs(const struct sl_remember *memory)
{
	struct build *b = build_create("1000x8c");

	if (memory)
		sl_remember_encode(memory, b->builder, SL_T_REMEMBERED);

	for (uint32_t i = 0; i < JOBS; i++)
		build_pending(b, (struct build_job) { .id = i == 100 ? BAD : i * 10 + 1, .limit = 600, .exclusive = true });
	b->meta.sequence = 5;
	build_open(b);
	return b;
}

/* ... of which one, of that id and name, is a trap to the planner, and none has a bad place. */
static struct build *thousand_and_one(uint32_t id, const char *name, const struct sl_remember *memory)
{
	struct build *b = build_create("1000x8c");

	if (memory)
		sl_remember_encode(memory, b->builder, SL_T_REMEMBERED);
	for (uint32_t i = 0; i < JOBS; i++)
		build_pending(b, (struct build_job) { .id = i == 100 ? id : i * 10 + 1, .limit = 600, .exclusive = true });
	build_change_job(b, id, .name = sl_builder_str(b->builder, name));
	b->meta.sequence = 5;
	build_open(b);
	return b;
}

static int as_memfd(const struct build *b)
{
	struct sl_error err;
	int fd = sl_wire_memfd("snapshot", b->snap.image.base, b->snap.image.size, &err);

	assert_true(fd >= 0);
	return fd;
}

/* The last plan, all but how long it took. */
static struct plan_bytes {
	void *bytes;
	size_t size;
} last;

static void keep_plan(const void *bytes, size_t size)
{
	struct sl_plan_image plan;
	struct sl_error err;

	free(last.bytes);
	last = (struct plan_bytes) { memcpy(malloc(size), bytes, size), size };
	if (sl_plan_image_open(&plan, last.bytes, last.size, &err))
		fail_msg("%s", err.text);
	*(int64_t *) (uintptr_t) plan.meta.decide_us = 0;
	*(int64_t *) (uintptr_t) plan.meta.total_us = 0;
}

static struct plan_bytes take_plan(void)
{
	struct plan_bytes b = last;

	last = (struct plan_bytes) { 0 };
	return b;
}

static void must_be_last_plan(struct plan_bytes b)
{
	assert_int_equal(last.size, b.size);
	assert_memory_equal(last.bytes, b.bytes, b.size);
}

/* What the plug-in makes of the answer: all other jobs, or those within the policy's window, start, and the
 * reason of that one. */
static void must_start_others(struct engine *e, const struct build *b, uint32_t least, uint32_t refused,
			      struct sl_remember *memory)
{
	struct sl_frame f = { .type = SL_FRAME_DECIDE, .fd = as_memfd(b) };
	struct sl_plan_image plan;
	struct sl_error err;
	const void *bytes;
	uint32_t at = 0;
	size_t size;

	f.body.decide.sequence = 5;
	f.body.decide.budget_us = 10000000;
	ask_engine(e, &f);
	assert_string_equal(f.body.plan.text, "");
	assert_int_equal(f.body.plan.ok, 1);
	if (sl_wire_map(f.fd, &bytes, &size, &err) || sl_plan_image_open(&plan, bytes, size, &err) ||
	    sl_plan_answers(&plan, &b->snap, &err))
		fail_msg("%s", err.text);
	assert_true(plan.start.rows >= least);
	for (uint32_t i = 0; i < plan.start.rows; i++)
		assert_int_not_equal(plan.start.job[i], bad);
	assert_int_equal(plan.refused.rows, refused);
	if (refused)
		assert_int_equal(plan.refused.job[0], bad);
	assert_int_equal(plan.pending.rows, JOBS - plan.start.rows);
	while (at + 1 < plan.pending.rows && plan.pending.job[at] != bad)
		at++;
	assert_int_equal(plan.pending.why[at], SL_WHY_CHECK);
	CONTAINS(sl_image_str(&plan.image, plan.pending.text[at]), bad_words);
	keep_plan(bytes, size);
	if (sl_remember_load(memory, &plan.image, &plan.remembered, NULL, &err))
		fail_msg("%s", err.text);
	sl_wire_unmap(bytes, size);
	close(f.fd);
}

static void the_bundled_easy_loses_one_job(void **state)
{
	struct sl_remember *memory = sl_remember_create(NULL);
	struct build *b = thousand_jobs(NULL), *next;

	must_start_others(*state, b, 400, 1, memory);
	next = thousand_jobs(memory);
	must_start_others(*state, next, 400, 0, memory);	/* it is not planned, and says the same */
	build_destroy(b);
	build_destroy(next);
	sl_remember_destroy(memory);
}

/* A decision is a function of the snapshot, and not of what the process decided before. */
static void what_the_checker_refused_replays_byte_for_byte(void **state)
{
	struct sl_remember *memory = sl_remember_create(NULL);
	struct build *first = thousand_jobs(NULL), *second;
	struct plan_bytes of_first, of_second;

	must_start_others(*state, first, 400, 1, memory);
	of_first = take_plan();
	second = thousand_jobs(memory);
	must_start_others(*state, second, 400, 0, memory);
	of_second = take_plan();
	/* in another order, by the same process and by one that knows of nothing */
	must_start_others(*state, first, 400, 1, memory);
	must_be_last_plan(of_first);
	stop_engine(state);
	start_engine(state);
	must_start_others(*state, second, 400, 0, memory);
	must_be_last_plan(of_second);
	must_start_others(*state, first, 400, 1, memory);
	must_be_last_plan(of_first);
	free(of_first.bytes);
	free(of_second.bytes);
	build_destroy(first);
	build_destroy(second);
	sl_remember_destroy(memory);
}

/* Jobs 17, which is refused, and 18, beside which there is no room for it. */
static struct build *wide_and_small(const struct sl_remember *memory, int64_t stamp)
{
	struct build *b = build_create("4x8c");

	if (memory)
		sl_remember_encode(memory, b->builder, SL_T_REMEMBERED);
	build_pending(b, (struct build_job) { .id = 17, .nodes = 4, .limit = 600, .exclusive = true });
	build_pending(b, (struct build_job) { .id = 18, .limit = 600, .exclusive = true });
	build_change_job(b, 17, .stamp = stamp);
	b->meta.sequence = 5;
	build_open(b);
	return b;
}

/* The job that starts. */
static uint32_t decide_and_remember(struct engine *e, struct build *b, struct sl_remember *memory)
{
	struct sl_frame f = { .type = SL_FRAME_DECIDE, .fd = as_memfd(b) };
	struct sl_plan_image plan;
	struct sl_error err;
	const void *bytes;
	uint32_t started;
	size_t size;

	f.body.decide.sequence = 5;
	f.body.decide.budget_us = 10000000;
	ask_engine(e, &f);
	if (sl_wire_map(f.fd, &bytes, &size, &err) || sl_plan_image_open(&plan, bytes, size, &err) ||
	    sl_remember_load(memory, &plan.image, &plan.remembered, NULL, &err))
		fail_msg("%s", err.text);
	started = plan.start.rows ? plan.start.job[0] : 0;
	sl_wire_unmap(bytes, size);
	close(f.fd);
	build_destroy(b);
	return started;
}

/* What it is planned to hold is held in vain: in the next cycle others have it. */
static void a_wide_job_that_is_refused_keeps_no_nodes_idle(void **state)
{
	struct sl_remember *memory = sl_remember_create(NULL);

	assert_int_equal(decide_and_remember(*state, wide_and_small(NULL, 4710), memory), 0);
	assert_int_equal(decide_and_remember(*state, wide_and_small(memory, 4710), memory), 18);
	assert_int_equal(decide_and_remember(*state, wide_and_small(memory, 4710), memory), 18);
	/* somebody has changed it */
	assert_int_equal(decide_and_remember(*state, wide_and_small(memory, 4711), memory), 0);
	sl_remember_destroy(memory);
}

static void a_site_is_loaded_and_of_its_thousand_jobs_999_start(void **state)
{
	struct sl_remember *memory = sl_remember_create(NULL);
	struct build *b = thousand_jobs(NULL);
	struct engine *e = *state;
	struct sl_frame_loaded loaded;

	write_site(e, START_ALL);
	loaded = load_site(e, e->site, as_memfd(b));
	assert_string_equal(loaded.text, "");
	assert_int_equal(loaded.ok, 1);
	must_start_others(e, b, JOBS - 1, 1, memory);
	build_destroy(b);
	sl_remember_destroy(memory);
}

/* An error of the planner's costs the job at which it comes up, and no policy its decision. */
static void a_job_that_the_planner_fails_at_is_left_out_and_the_others_start(void **state)
{
	struct sl_remember *memory = sl_remember_create(NULL);
	struct build *b = thousand_and_one(TRAP, "trap", NULL), *next;
	struct engine *e = *state;
	struct sl_frame_loaded loaded;

	bad = TRAP;
	bad_words = "the planner failed: no room for a trap";
	must_start_others(e, b, 400, 1, memory);
	next = thousand_and_one(TRAP, "trap", memory);
	must_start_others(e, next, 400, 0, memory);
	write_site(e, START_ALL);
	loaded = load_site(e, e->site, as_memfd(b));
	assert_string_equal(loaded.text, "");
	assert_int_equal(loaded.ok, 1);
	must_start_others(e, b, JOBS - 1, 1, memory);
	bad = BAD;
	bad_words = "the checker refused its place: node n";
	build_destroy(b);
	build_destroy(next);
	sl_remember_destroy(memory);
}

/* Policies that have the engine make bids (auction) ask the planner about many jobs in one call. */
static void a_job_of_which_no_bid_can_be_made_is_left_out_and_the_others_start(void **state)
{
	struct sl_remember *memory = sl_remember_create(NULL);
	struct build *b = thousand_and_one(DEAR, "dear", NULL), *next;
	struct engine *e = *state;
	struct sl_frame_loaded loaded;

	bad = DEAR;
	bad_words = "the planner failed: no bid is high enough";
	write_site(e, "local sched = require \"sched\"\n"
		   "return sched.site { default = { { \"auction\", window = 1000, time_limit = 0 } } }\n");
	loaded = load_site(e, e->site, as_memfd(b));
	assert_string_equal(loaded.text, "");
	assert_int_equal(loaded.ok, 1);
	must_start_others(e, b, JOBS - 1, 1, memory);
	next = thousand_and_one(DEAR, "dear", memory);
	must_start_others(e, next, JOBS - 1, 0, memory);
	bad = BAD;
	bad_words = "the checker refused its place: node n";
	build_destroy(b);
	build_destroy(next);
	sl_remember_destroy(memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_job_that_the_planner_fails_at_is_left_out_and_the_others_start, start_engine,
						stop_engine),
		cmocka_unit_test_setup_teardown(a_job_of_which_no_bid_can_be_made_is_left_out_and_the_others_start, start_engine,
						stop_engine),
		cmocka_unit_test_setup_teardown(the_bundled_easy_loses_one_job, start_engine, stop_engine),
		cmocka_unit_test_setup_teardown(what_the_checker_refused_replays_byte_for_byte, start_engine, stop_engine),
		cmocka_unit_test_setup_teardown(a_wide_job_that_is_refused_keeps_no_nodes_idle, start_engine, stop_engine),
		cmocka_unit_test_setup_teardown(a_site_is_loaded_and_of_its_thousand_jobs_999_start, start_engine, stop_engine),
	};
	const char *faulty = getenv("FAULTY_ENGINE");
	int failed;

	setenv("SCHEDLUA", faulty ? faulty : "t/tool/faulty_engine", 1);
	failed = cmocka_run_group_tests_name("faulty_engine", tests, NULL, NULL);
	free(last.bytes);
	return failed;
}
