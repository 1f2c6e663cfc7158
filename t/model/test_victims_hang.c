/* SPDX-License-Identifier: MIT */
/* A solver that hangs, or ends as it should not, while the cheapest set of victims is looked for. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "check/check.h"
#include "mip/private.h"
#include "mip/mip.h"
#include "t/model/four_nodes.h"

/* -- solvers ------------------------------------------------------------------------ */

static void sleep_on(const struct sl_mip_problem *p, struct sl_mip_answer *a)
{
	(void) p, (void) a;
	signal(SIGTERM, SIG_IGN);
	for (;;)
		sleep(1);
}

static void crash(const struct sl_mip_problem *p, struct sl_mip_answer *a)
{
	(void) p, (void) a;
	raise(SIGSEGV);
}

static void say_nothing(const struct sl_mip_problem *p, struct sl_mip_answer *a)
{
	(void) p, (void) a;
}

static const struct sl_mip_backend *fake;
static uint32_t solved;

int __real_sl_mip_solve(struct sl_mip *m, const struct sl_mip_options *o, struct sl_mip_result *r, struct sl_error *err);
int __wrap_sl_mip_solve(struct sl_mip *m, const struct sl_mip_options *o, struct sl_mip_result *r, struct sl_error *err);
int __wrap_sl_mip_solve(struct sl_mip *m, const struct sl_mip_options *o, struct sl_mip_result *r, struct sl_error *err)
{
	struct sl_mip_options with = *o;

	assert_true(o->hangs_s > 0);	/* else it would be the default, of minutes */
	with.fake = fake;
	with.hangs_s = 0.05;
	solved++;
	return __real_sl_mip_solve(m, &with, r, err);
}

/* -- one large node ------------------------------------------------------------------ */

#define VICTIMS 450

/* So many jobs, no two alike, on one node: all sets are too many to be looked through. Jobs 1001 to 1003 wait for what ten of them have. */
static struct build *crowded(void)
{
	struct build *b = build_create("1x30000c");
	uint32_t left = 30000;

	for (uint32_t id = 1; id <= VICTIMS; id++) {
		uint32_t cores = 300 + id * 104729u % 201;

		cores = cores / 10 + (cores % 10 > 4);
		left -= cores;
		build_running(b, (struct build_job) { .id = id, .cores = cores, .ends_in = 36000 });
		build_change_job(b, id, .start_time = BUILD_NOW + 60 - (int64_t) ((1000 + id * 7919u % 977) * 3600 / cores));
		build_stoppable(b, id, SL_STOP_REQUEUE);
	}
	for (uint32_t id = 1001; id <= 1003; id++) {
		build_pending(b, (struct build_job) { .id = id, .tasks = id == 1001 ? left + 400 : 400, .limit = 3600 });
		build_may_preempt(b, id);
	}
	return b;
}

static void no_answer_waits_for_a_solver(const struct sl_mip_backend *backend, uint32_t most)
{
	struct desk d = sit_at(crowded());

	fake = backend;
	solved = 0;
	for (uint32_t id = 1001; id <= 1003; id++) {
		struct asked a = ask(&d, id, NULL);

		assert_int_equal(a.rc, 1);
		assert_int_equal(a.answer.verdict, SL_VERDICT_FOUND);
		assert_true(a.victims > 0 && a.answer.bound > 0 && a.answer.bound < a.answer.cost);
	}
	assert_in_range(solved, 1, most);
	accepted(&d);
	assert_true(d.plan.stop.rows > 0);
	for (uint32_t i = 0; i < d.plan.hold.rows; i++)
		assert_true(d.plan.hold.verdict[i] == SL_VERDICT_FOUND && d.plan.hold.bound[i] > 0);
	leave(&d);
}

static void a_solver_that_hangs_is_asked_once_in_a_plan_and_what_was_found_stands(void **state)
{
	static const struct sl_mip_backend asleep = { .name = "asleep", .solve = sleep_on };
	uint64_t hung = sl_mip_hung();

	(void) state;
	no_answer_waits_for_a_solver(&asleep, 1);
	assert_int_equal(sl_mip_hung(), hung + 1);
}

static void what_was_found_stands_where_a_solver_crashes_or_says_nothing(void **state)
{
	static const struct sl_mip_backend crashing = { .name = "crashing", .solve = crash }, silent = { .name = "silent", .solve = say_nothing };

	(void) state;
	no_answer_waits_for_a_solver(&crashing, 3);
	no_answer_waits_for_a_solver(&silent, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_solver_that_hangs_is_asked_once_in_a_plan_and_what_was_found_stands),
		cmocka_unit_test(what_was_found_stands_where_a_solver_crashes_or_says_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
