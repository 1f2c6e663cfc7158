/* SPDX-License-Identifier: MIT */
/*
 * plan:preempt() and plan:start() with preempt when memory runs out: from the call on each allocation, Lua's or the plan's, is made to fail in
 * turn, alone (Lua collects its garbage and tries again), with the two that follow, and with all that follow.  Each time the policy goes
 * on or is told, the checker accepts what was planned, and nothing leaks (the sanitizers look).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <lauxlib.h>

#include "bind/bind.h"
#include "check/check.h"
#include "script/script.h"
#include "t/build.h"
#include "t/failing_malloc.h"

/* -- from which allocation on it fails ------------------------------------------- */

static long first = -1, following;
static uint32_t calls;

static void arm(void)
{
	if (calls++)
		return;
	countdown = first;
	more = following;
}

int __real_sl_lua_plan_preempt(lua_State *L);
int __wrap_sl_lua_plan_preempt(lua_State *L);
int __wrap_sl_lua_plan_preempt(lua_State *L)
{
	arm();
	return __real_sl_lua_plan_preempt(L);
}

int __real_sl_lua_preempt_instead(lua_State *L, struct sl_lua *x, struct sl_entry e);
int __wrap_sl_lua_preempt_instead(lua_State *L, struct sl_lua *x, struct sl_entry e);
int __wrap_sl_lua_preempt_instead(lua_State *L, struct sl_lua *x, struct sl_entry e)
{
	arm();
	return __real_sl_lua_preempt_instead(L, x, e);
}

/* -- the cluster and its policies --------------------------------------------------- */

/* Four nodes with jobs 1 to 4; jobs 7 and 8 wait and may preempt. */
static struct build *machine(void)
{
	struct build *b = build_create("4x8c");

	for (uint32_t id = 1; id <= 4; id++) {
		build_running(b, (struct build_job) { .id = id, .first = id - 1, .ends_in = 3600 });
		build_change_job(b, id, .start_time = BUILD_NOW - 600 * (int64_t) id);
		build_stoppable(b, id, SL_STOP_REQUEUE);
	}
	for (uint32_t id = 7; id <= 8; id++) {
		build_pending(b, (struct build_job) { .id = id, .nodes = id - 5, .exclusive = true, .limit = 3600 });
		build_may_preempt(b, id);
	}
	build_open(b);
	return b;
}

/* Each of four nodes has two GPUs, and jobs 1 to 4 one each; job 7 wants both GPUs of two nodes. */
static struct build *halves(void)
{
	struct build *b = build_create("4x8c2g");

	for (uint32_t id = 1; id <= 4; id++) {
		build_running(b, (struct build_job) { .id = id, .nodes = 1, .max_nodes = 1, .tasks = 1, .gpus = 1, .cores = 1, .first = id - 1,
						      .limit = 7200, .ends_in = 3600 });
		build_change_job(b, id, .start_time = BUILD_NOW - 600 * (int64_t) id);
		build_stoppable(b, id, SL_STOP_REQUEUE);
	}
	for (uint32_t id = 7; id <= 8; id++) {
		build_pending(b, (struct build_job) { .id = id, .nodes = 2, .max_nodes = 2, .tasks = 2, .gpus = 2, .limit = 3600 });
		build_may_preempt(b, id);
	}
	build_open(b);
	return b;
}

#define POLICY(body) "local M = { api = 1 }\nlocal how = { max_victims = 3, mode = 'requeue', prove = 0,\n"		\
	"  may = function(victim, job, cluster) return victim.id ~= 2 and job.id > 0 and cluster.now > 0 end,\n"		\
	"  cost = function(victim) return #tostring(victim.id) + victim.id end }\n"						\
	"function M.decide(cluster, plan)\n  if cluster.name == 'probe' then return end\n"					\
	"  local job, other = cluster:job(7), cluster:job(8)\n" body "\nend\nreturn M"

/* True if all memory that was asked for was had. */
static bool had_all(struct sl_script *s, struct build *b, uint32_t *stops)
{
	struct sl_error err = { 0 };
	struct sl_cluster *c = build_cluster(b);
	struct sl_plan *p = sl_plan_create(c, &err);
	struct sl_builder *image = sl_builder_create(&sl_plan_schema, &err);
	struct sl_plan_figures fig = { 0 };
	struct sl_plan_image plan;
	const void *bytes;
	char *trace = NULL;
	size_t size;
	bool all;
	int rc;

	assert_true(p && image);
	calls = 0;
	rc = sl_script_decide(s, c, p, NULL, &fig, &trace, &err);
	all = countdown >= 0 && more == following;
	countdown = -1;
	more = 0;
	assert_true(calls > 0);
	if (rc && (all || !err.text[0]))
		fail_msg("the policy failed: \"%s\"", err.text);
	free(trace);
	if (sl_plan_encode(p, &fig, image, &err) < 0 || sl_builder_finish(image, &bytes, &size, &err) < 0 ||
	    sl_plan_image_open(&plan, bytes, size, &err) < 0 || sl_check_plan(&b->snap, &plan, &err) < 0)
		fail_msg("the %ldth allocation and %ld more fail: %s", first, following, err.text);
	*stops = plan.stop.rows;
	sl_builder_destroy(image);
	sl_plan_destroy(p);
	sl_cluster_destroy(c);
	return all;
}

static void try_all(struct build *b, const char *text, uint32_t stops)
{
	static const long after[] = { 0, 2, 1000000 };
	const struct sl_bundle_text texts[] = { { "policy", text } };
	struct sl_bundle_source src = { .policy = "policy", .text = texts, .texts = 1 };
	struct sl_error err = { 0 };
	struct sl_bundle *set = sl_bundle_load(&src, NULL, NULL, &err);
	uint32_t found;

	if (!set)
		fail_msg("%s", err.text);
	for (int i = 0; i < 3; i++) {
		following = after[i];
		for (first = 0; ; first++) {
			struct sl_script *s = sl_script_create(set, NULL, &err);
			bool all;

			assert_non_null(s);
			all = had_all(s, b, &found);
			sl_script_destroy(s);
			if (all)
				break;
		}
		assert_true(first > 20);
		assert_int_equal(found, stops);
	}
	build_destroy(b);
	sl_bundle_destroy(set);
}

static void memory_may_be_short_at_each_step_of_preempt(void **state)
{
	(void) state;
	try_all(machine(), POLICY("  local answer, why = plan:preempt(job, how)\n  assert(answer, why)\n  assert(#answer.victims == 2)"), 2);
}

static void a_policy_that_catches_it_goes_on_with_a_plan_that_is_whole(void **state)
{
	(void) state;
	try_all(machine(), POLICY("  pcall(plan.preempt, plan, job, how)\n  pcall(plan.preempt, plan, other)\n  pcall(plan.start, plan, other)\n"
		       "  pcall(plan.reserve, plan, job)"), 2);
}

static void memory_may_be_short_at_each_step_of_start_with_preempt(void **state)
{
	(void) state;
	try_all(machine(), POLICY("  local ok, why, word, answer = plan:start(job, { preempt = how })\n  assert(not ok and answer, why)\n"
		       "  assert(#answer.victims == 2 and word)"), 2);
}

static void memory_may_be_short_where_nobody_is_stopped(void **state)
{
	(void) state;
	try_all(machine(), POLICY("  how.may = function() return false end\n  local answer, why, word, found = plan:preempt(job, how)\n"
		       "  assert(not answer and found.verdict == 'impossible' and why and word, why)"), 0);
}

static void memory_may_be_short_while_places_are_sought_for_those_who_are_moved(void **state)
{
	(void) state;
	try_all(halves(), POLICY("  how.elsewhere = true\n  local answer, why = plan:preempt(job, how)\n  assert(answer, why)\n"
				 "  assert(#answer.moves == 2)"), 2);
	try_all(halves(), POLICY("  how.elsewhere = true\n  pcall(plan.preempt, plan, job, how)\n  pcall(plan.preempt, plan, other, how)\n"
				 "  pcall(plan.start, plan, other)"), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_may_be_short_at_each_step_of_preempt),
		cmocka_unit_test(a_policy_that_catches_it_goes_on_with_a_plan_that_is_whole),
		cmocka_unit_test(memory_may_be_short_at_each_step_of_start_with_preempt),
		cmocka_unit_test(memory_may_be_short_where_nobody_is_stopped),
		cmocka_unit_test(memory_may_be_short_while_places_are_sought_for_those_who_are_moved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
