/* SPDX-License-Identifier: MIT */
/*
 * An engine whose planner has a fault (t/tool/faulty_engine.c): one job of a thousand has a place that it
 * cannot have. The others start.
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

static struct build *thousand_jobs(void)
{
	struct build *b = build_create("1000x8c");

	for (uint32_t i = 0; i < JOBS; i++)
		build_pending(b, (struct build_job) { .id = i == 100 ? BAD : i * 10 + 1, .limit = 600, .exclusive = true });
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

/* What the plug-in makes of the answer: all other jobs, or those within the policy's window, start, and the
 * reason of that one. */
static void must_start_others(struct engine *e, const struct build *b, uint32_t least, uint32_t refused)
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
		assert_int_not_equal(plan.start.job[i], BAD);
	assert_int_equal(plan.refused.rows, refused);
	if (refused)
		assert_int_equal(plan.refused.job[0], BAD);
	assert_int_equal(plan.pending.rows, JOBS - plan.start.rows);
	while (at + 1 < plan.pending.rows && plan.pending.job[at] != BAD)
		at++;
	assert_int_equal(plan.pending.why[at], SL_WHY_CHECK);
	CONTAINS(sl_image_str(&plan.image, plan.pending.text[at]), "the checker refused its place: node n");
	sl_wire_unmap(bytes, size);
	close(f.fd);
}

static void the_bundled_easy_loses_one_job(void **state)
{
	struct build *b = thousand_jobs();

	must_start_others(*state, b, 400, 1);
	must_start_others(*state, b, 400, 0);	/* in the next cycle it is not planned, and says the same */
	build_destroy(b);
}

/* What it is planned to hold is held in vain: in the next cycle others have it. */
static void a_wide_job_that_is_refused_keeps_no_nodes_idle(void **state)
{
	struct build *b = build_create("4x8c");
	uint32_t started;
	char reason[256];

	build_pending(b, (struct build_job) { .id = 17, .nodes = 4, .limit = 600, .exclusive = true });
	build_pending(b, (struct build_job) { .id = 18, .limit = 600, .exclusive = true });
	b->meta.sequence = 5;
	build_open(b);
	decide_as(*state, (struct sl_frame) { .fd = as_memfd(b) }, &started, reason);
	assert_int_equal(started, 0);
	decide_as(*state, (struct sl_frame) { .fd = as_memfd(b) }, &started, reason);
	assert_int_equal(started, 18);
	CONTAINS(reason, "the checker refused its place: node n0");
	build_change_job(b, 17, .stamp = 4711);	/* somebody has changed it */
	build_open(b);
	decide_as(*state, (struct sl_frame) { .fd = as_memfd(b) }, &started, reason);
	assert_int_equal(started, 0);
	build_destroy(b);
}

static void a_site_is_loaded_and_of_its_thousand_jobs_999_start(void **state)
{
	struct build *b = thousand_jobs();
	struct engine *e = *state;
	struct sl_frame_loaded loaded;

	write_site(e, START_ALL);
	loaded = load_site(e, e->site, as_memfd(b));
	assert_string_equal(loaded.text, "");
	assert_int_equal(loaded.ok, 1);
	must_start_others(e, b, JOBS - 1, 0);	/* the trial has noticed it */
	build_destroy(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_bundled_easy_loses_one_job, start_engine, stop_engine),
		cmocka_unit_test_setup_teardown(a_wide_job_that_is_refused_keeps_no_nodes_idle, start_engine, stop_engine),
		cmocka_unit_test_setup_teardown(a_site_is_loaded_and_of_its_thousand_jobs_999_start, start_engine, stop_engine),
	};
	const char *faulty = getenv("FAULTY_ENGINE");

	setenv("SCHEDLUA", faulty ? faulty : "t/tool/faulty_engine", 1);
	return cmocka_run_group_tests_name("faulty_engine", tests, NULL, NULL);
}
