/* SPDX-License-Identifier: MIT */
/* What hostile and careless policies do to the bindings: each is refused, by name, and the
 * cycle and the state stay whole.  t/attack tries all of it; here are the cases worked by
 * hand, one for each thing that was found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <lauxlib.h>

#include "t/build.h"
#include "check/check.h"
#include "sandbox/sandbox.h"
#include "script/script.h"

/* What only sched.* modules are given, every policy here has: these functions do not rely on
 * who calls them. */
void __real_sl_lua_provide_engine(lua_State *L);
void __wrap_sl_lua_provide_engine(lua_State *L);
void __wrap_sl_lua_provide_engine(lua_State *L)
{
	sl_sandbox_globals(L);
	lua_pushvalue(L, -2);
	lua_setfield(L, -2, "engine");
	lua_pop(L, 1);
	__real_sl_lua_provide_engine(L);
}

static struct build *jobs_and_an_array(void)
{
	struct build *b = build_create("4x4c");
	struct sl_job_row array;

	build_running(b, (struct build_job) { .id = 1, .nodes = 1, .ends_in = 3600 });
	array = build_row(b, (struct build_job) { .id = 2, .limit = 3600, .tasks = 1 });
	array.array_job_id = 2;
	array.array_pending = 3;
	build_append(b, &array);
	for (uint32_t id = 10; id < 14; id++)
		build_pending(b, (struct build_job) { .id = id, .limit = 3600, .tasks = 1 });
	return b;
}

/* Let a policy of this text decide once on each of the snapshots (NULL ends them); the error
 * of the last, or of loading.  Beside it lie a module that fails and a plain file. */
static struct sl_error decide(const char *text, struct build *const *build, const struct sl_limits *limits)
{
	const struct sl_bundle_text texts[] = {
		{ "policy", text }, { "broken", "error('broken as it is')" }, { "data.conf", "some 1\n" },
	};
	struct sl_bundle_source src = { .policy = "policy", .text = texts, .texts = 3 };
	struct sl_error err = { 0 };
	struct sl_bundle *set = sl_bundle_load(&src, NULL, NULL, &err);
	struct sl_script *s;

	if (!set)
		return err;
	s = sl_script_create(set, NULL, &err);
	assert_non_null(s);
	for (; *build; build++) {
		struct sl_cluster *c = build_cluster(*build);
		struct sl_plan *p = sl_plan_create(c, &err);
		struct sl_plan_figures fig = { 0 };
		char *trace;

		assert_non_null(p);
		err = (struct sl_error) { 0 };
		sl_script_decide(s, c, p, limits, &fig, &trace, &err);
		free(trace);
		sl_plan_destroy(p);
		sl_cluster_destroy(c);
	}
	sl_script_destroy(s);
	sl_bundle_destroy(set);
	return err;
}

/* The policy's text, which begins with M, fails with these words; NULL: it does not fail.  The
 * probe of the load has no jobs: what needs some says so. */
static void told(const char *text, const char *words)
{
	struct build *b = jobs_and_an_array();
	struct sl_error err = decide(text, (struct build *[]) { b, NULL }, NULL);

	if (words ? !strstr(err.text, words) : err.code)
		fail_msg("%s", err.text);
	build_destroy(b);
}

#define DECIDE(body) "local M = { api = 1 }\nfunction M.decide(cluster, plan)\n" \
	"if cluster.name == 'probe' then return end\n" body "\nend\nreturn M"

static void an_iteration_is_not_advanced_by_what_it_asks(void **state)
{
	(void) state;
	/* the array comes again, and each time that it is asked about it comes again */
	told("local M, step, started, most = { api = 1 }, nil, false, 100\n"
	     "function M.allow(job, cluster)\n"
	     "  if not started or most == 0 then return true end\n"
	     "  most = most - 1\n"
	     "  step()\n"
	     "  return 'later', 'not yet'\n"
	     "end\n"
	     "function M.decide(cluster, plan)\n"
	     "  if cluster.name == 'probe' then return end\n"
	     "  step = cluster:queue()\n"
	     "  for job in step do started = plan:start(job) end\n"
	     "end\nreturn M", "this iteration over the queue is at work");
	told("local M, step = { api = 1 }, nil\n"
	     "function M.admit(job, cluster) if step then step() end return true end\n"
	     "function M.decide(cluster, plan)\n"
	     "  if cluster.name == 'probe' then return end\n"
	     "  step = cluster:queue()\n"
	     "  for job in step do end\n"
	     "end\nreturn M", "this iteration over the queue is at work");
	/* one of its own is another matter */
	told("local M, seen = { api = 1 }, 0\n"
	     "function M.rank(job, cluster) for other in cluster:queue() do seen = seen + 1 end return 1 end\n"
	     "function M.decide(cluster, plan)\n"
	     "  for job in cluster:queue() do for other in cluster:queue() do plan:start(other) end end\n"
	     "end\nreturn M", NULL);
}

/* Quick while it is refused; with the memory and time of all those copies, else. */
static void lists_are_no_longer_than_what_they_list(void **state)
{
	(void) state;
	told(DECIDE("local job = cluster:queue()() local t = {} for i = 1, 1e6 do t[i] = job end cluster:bids(t)"),
	     "expected each queued job once at most: a list of 1000000, and 5 are queued");
	told(DECIDE("local job = cluster:queue()() local t = {} for i = 1, 1e6 do t[i] = job end cluster:window(t)"),
	     "expected each queued job once at most: a list of 1000000, and 5 are queued");
	told(DECIDE("local b = cluster:bids(cluster:queue()())[1] local t = {} for i = 1, 1e6 do t[i] = b end\n"
		    "cluster:overlaps(t)"), "expected each bid once at most: a list of 1000000, and ");
	/* #t of a table whose keys are powers of two is the last of them */
	told(DECIDE("local t = {} for k = 61, 0, -1 do t[1 << k] = cluster:queue()() end cluster:bids(t)"),
	     "expected each queued job once at most: a list of ");
	told(DECIDE("local jobs = {} for job in cluster:queue() do jobs[#jobs + 1] = job end\n"
		    "assert(#cluster:overlaps(cluster:bids(jobs)) > 0 and #cluster:window(jobs).jobs == #jobs)"), NULL);
}

/* What __eq is given may be any userdata: a model is eight bytes. */
static void an_object_is_compared_with_any_other(void **state)
{
	(void) state;
	told("local mip = require 'sched.mip'\n" DECIDE("local m = mip.model { sense = 'max' }\n"
	     "assert(cluster ~= m and m ~= cluster and plan ~= m and cluster ~= plan)\n"
	     "local job = cluster:queue()()\n"
	     "assert(job == cluster:job(job.id) and cluster:bids(job)[1] ~= job and job ~= m)"), NULL);
}

/* The row of a partition that the new snapshot has not. */
static void a_partition_of_an_earlier_cycle_is_not_closed(void **state)
{
	struct build *many = jobs_and_an_array(), *one = jobs_and_an_array();
	struct sl_error err;

	(void) state;
	for (char name[] = "p0"; name[1] <= '9'; name[1]++)
		build_partition(many, name, 0, 3);
	err = decide("local M, kept = { api = 1 }, nil\n"
		     "function M.decide(cluster, plan)\n"
		     "  if cluster.name == 'probe' then return end\n"
		     "  if kept then plan:close(kept, 'all of it') end\n"
		     "  kept = cluster.partitions[#cluster.partitions]\n"
		     "end\nreturn M", (struct build *[]) { many, one, NULL }, NULL);
	if (!strstr(err.text, "this partition is from an earlier cycle"))
		fail_msg("%s", err.text);
	build_destroy(many);
	build_destroy(one);
}

/* A bid is of one job: where options are for all jobs it is refused before anybody looks whose it is. */
static void a_bid_is_not_for_all_jobs_of_a_queue(void **state)
{
	static const char *const key[] = { "bid", "layout", "borrow", "through", "because", "expected", "from" };

	(void) state;
	for (size_t i = 0; i < sizeof(key) / sizeof(key[0]); i++) {
		char text[500];

		snprintf(text, sizeof(text), DECIDE("local b = cluster:bids(cluster:queue()())[1]\n"
						    "plan:backfill_rest(cluster:queue(), { %s = b })"), key[i]);
		told(text, "for all jobs of a queue: expected place, shape or wake_after, no other key");
	}
}

/* What it holds of another snapshot is as long as that one's partitions are many. */
static void sums_of_another_snapshot_are_not_asked(void **state)
{
	static const char *const use[] = { "kept(job)", "kept:of('root')", "kept:falls(job, 1)", "kept:is_first(job)" };

	(void) state;
	for (size_t i = 0; i < sizeof(use) / sizeof(use[0]); i++) {
		struct build *few = jobs_and_an_array(), *many = jobs_and_an_array();
		struct sl_error err;
		char text[500];

		for (char name[] = "p0"; name[1] <= '9'; name[1]++)
			build_partition(many, name, 0, 3);
		build_pending(many, (struct build_job) { .id = 99, .limit = 60, .tasks = 1, .partition = 10 });
		snprintf(text, sizeof(text), "local M, kept = { api = 1 }, nil\n"
			 "function M.decide(cluster, plan)\n"
			 "  if cluster.name == 'probe' then return end\n"
			 "  for job in cluster:queue() do if kept then local x = %s end end\n"
			 "  kept = engine.held { by = 'user', unit = 'cpu', partitions = { cluster.partitions[1].name } }\n"
			 "end\nreturn M", use[i]);
		err = decide(text, (struct build *[]) { few, many, NULL }, NULL);
		if (!strstr(err.text, "this engine.held is of another snapshot: get another one in this cycle"))
			fail_msg("%s: %s", use[i], err.text);
		build_destroy(few);
		build_destroy(many);
	}
}

/* serve() runs before anybody's turn: what it sees is the new queue, in its own order. */
static void what_the_last_turn_left_is_not_looked_at(void **state)
{
	struct build *few = jobs_and_an_array(), *many = jobs_and_an_array(), *none = build_create("1x1c");
	struct sl_error err;

	(void) state;
	for (uint32_t id = 100; id < 400; id++)
		build_pending(many, (struct build_job) { .id = id, .limit = 3600, .tasks = 1 });
	for (char name[] = "p0"; name[1] <= '9'; name[1]++)
		build_partition(many, name, 0, 3);
	err = decide("local M = { api = 1 }\n"
		     "function M.serve(partitions, cluster) for job in cluster:queue() do local id = job.id end end\n"
		     "function M.admit() return true end\n"
		     "function M.rank(job) return -job.id end\n"
		     "function M.decide(cluster, plan) for job in cluster:queue() do plan:start(job) end end\n"
		     "return M", (struct build *[]) { few, many, none, few, NULL }, NULL);
	if (err.code)
		fail_msg("%s", err.text);
	build_destroy(few);
	build_destroy(many);
	build_destroy(none);
}

/* allow() is asked about a start, and fails: the start is taken back, nothing stays on trial. */
static void a_start_that_allow_fails_about_is_taken_back(void **state)
{
	(void) state;
	told("local M, asked = { api = 1 }, 0\n"
	     "function M.allow(job, cluster)\n"
	     "  asked = asked + 1\n"
	     "  if asked == 2 then error('allow itself') end\n"
	     "  return true\n"
	     "end\n"
	     "function M.decide(cluster, plan)\n"
	     "  if cluster.name == 'probe' then asked = 0 return end\n"
	     "  asked = 0\n"
	     "  local job = cluster:job(10)\n"
	     "  local ok, why = pcall(plan.start, plan, job)\n"
	     "  assert(not ok and why:find('allow itself') and #plan.started == 0)\n"
	     "  assert(plan:start(job) and #plan.started == 1)\n"
	     "end\nreturn M", NULL);
}

static void numbers_are_checked_before_they_are_cut(void **state)
{
	(void) state;
	told(DECIDE("plan:modify(cluster:job(10), { time_limit = 1e300 })"), "expected an integer from 60 to ");
	told(DECIDE("plan:modify(cluster:job(10), { priority = math.huge })"), "expected an integer from 0 to ");
	told(DECIDE("plan:modify(cluster:job(10), { priority = 0/0 })"), "expected an integer from 0 to ");
	told(DECIDE("plan:modify(cluster:job(10), { priority = 7.0 })"), NULL);
}

/* An address is another one in each run, and tells where things lie. */
static void no_message_shows_an_address(void **state)
{
	(void) state;
	told(DECIDE("local ok, why = pcall(function() return cluster.totals[{}] end) assert(not why:find('0x'), why)"),
	     NULL);
	told(DECIDE("local ok, why = pcall(cluster.usage.past, cluster.usage, { [{}] = 1 }) assert(not why:find('0x'), why)"),
	     NULL);
}

/* "requires itself" is for a module that is being loaded. */
static void a_module_that_failed_says_why_each_time_that_it_is_required(void **state)
{
	(void) state;
	told("for i = 1, 2 do\n"
	     "  local ok, why = pcall(require, 'broken')\n"
	     "  assert(not ok and why:find('broken as it is', 1, true), why)\n"
	     "end\n" DECIDE(""), NULL);
	told("pcall(require, 'broken') require 'broken'\n" DECIDE(""), "broken as it is");
	told("require 'policy'\n" DECIDE(""), "module 'policy' requires itself");
	/* the mark of the outer one is not the inner one's to take away */
	told("pcall(require, 'policy') require 'policy'\n" DECIDE(""), "module 'policy' requires itself");
}

static void a_parser_does_not_open_the_file_that_it_parses(void **state)
{
	(void) state;
	told("local function parse(text) return engine.file('data.conf', parse):all() end\n"
	     "engine.file('data.conf', parse)\n" DECIDE(""), "data.conf is being parsed: its parser cannot open it");
	/* having failed it may be opened again, by one that can */
	told("local function twice()\n"
	     "  local ok, why = pcall(engine.file, 'data.conf', function() return {} end)\n"
	     "  return { opened = ok, why = why }\n"
	     "end\n"
	     "local f = engine.file('data.conf', twice)\n"
	     "assert(not f:get('opened') and f:get('why'):find('is being parsed', 1, true), f:get('why'))\n"
	     "assert(engine.file('data.conf', error):get('why') == f:get('why'))\n" DECIDE(""), NULL);
}

/* What the C library takes for TZ is more than names: rules, paths, whatever file is there. */
static void a_time_zone_is_the_name_of_one(void **state)
{
	static const char *const zones[] = {
		"", ":", ":UTC", "MSK-3", "<+03>-3", "EST5EDT,M3.2.0,M11.1.0", "/etc/passwd", "/usr/share/zoneinfo/UTC",
		"../../../etc/passwd", "Europe/../UTC", "Europe", ".", "zone.tab", "tzdata.zi", "Europe/Atlantis", "UTC\\0x", "UTC ",
	};
	char text[512];

	(void) state;
	for (size_t i = 0; i < sizeof(zones) / sizeof(zones[0]); i++) {
		if (*zones[i]) {	/* "" is the machine's, for what asks for a time */
			snprintf(text, sizeof(text), "engine.wall(0, '%s')\n" DECIDE(""), zones[i]);
			told(text, "there is no such time zone on this machine");
		}
		snprintf(text, sizeof(text), "assert(not engine.knows_zone '%s')\n" DECIDE(""), zones[i]);
		told(text, NULL);
	}
	told("engine.wall(math.maxinteger, '')\n" DECIDE(""), "a time that no calendar has");
	told("engine.wall(math.mininteger, '')\n" DECIDE(""), "a time that no calendar has");
	told("engine.wall_instant('', 1 << 40, 1, 1, 0, 0)\n" DECIDE(""), "a time that no calendar has");
	told("engine.wall_instant('', 2024, 1, -(1 << 40), 0, 0)\n" DECIDE(""), "a time that no calendar has");
}

static void times_of_held_are_numbers_from_0_on(void **state)
{
	static const char *const keys[] = { "no_walltime", "from", "to" };
	char text[512];

	(void) state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		snprintf(text, sizeof(text), DECIDE("engine.held { by = 'user', unit = 'cpu', %s = 0/0 }"), keys[i]);
		told(text, "expected 0 or more");
		snprintf(text, sizeof(text), DECIDE("engine.held { by = 'user', unit = 'cpu', %s = -1 }"), keys[i]);
		told(text, "expected 0 or more");
		snprintf(text, sizeof(text), DECIDE("engine.held { by = 'user', unit = 'cpu', %s = -math.huge }"), keys[i]);
		told(text, "expected 0 or more");
		/* the largest there are do not run over */
		snprintf(text, sizeof(text), DECIDE("local h = engine.held { by = 'user', unit = 'cpu', from = 0, %s = math.huge }\n"
			 "local _, asked, has = h(cluster:job(10)) assert(asked >= 0 and has >= 0)"), keys[i]);
		told(text, NULL);
	}
	told(DECIDE("engine.held { by = 'user', unit = 'cpu', from = {} }"), "number expected, got table");
	told(DECIDE("engine.held { by = 'node', unit = 'cpu' }"), "invalid option 'node'");
	told(DECIDE("engine.held { by = 'user', unit = 'cpu', rows = { -1, 1 << 40, 0.5, 0/0 } }(cluster:job(10))"), NULL);
}

static void without_is_a_list_of_ends_of_jobs(void **state)
{
	static const struct { const char *value, *words; } bad[] = {
		{ "7", "without: expected a list of states, got number" },
		{ "'FAILED'", "without: expected a list of states, got string" },
		{ "{ 7 }", "without: expected a string, got number" },
		{ "{ {} }", "without: expected a string, got table" },
		{ "{ 'FAILED', 'failed' }", "without: no job ends as 'failed'" },
		{ "{ 'PENDING' }", "without: no job ends as 'PENDING'" },
		{ "{ '' }", "without: no job ends as ''" },
		{ "{ 'FAILED', 'PREEMPTED', 'REQUEUED' }", NULL },
		{ "{}", NULL },
		/* no end to it but the time that a policy has: what is looked at is the list, not what it answers */
		{ "setmetatable({}, { __index = function() return 'FAILED' end })", NULL },
	};
	char text[512];

	(void) state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(text, sizeof(text), DECIDE("cluster.usage:past { by = 'user', unit = 'cpu', since = 0, without = %s }"),
			 bad[i].value);
		told(text, bad[i].words);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_iteration_is_not_advanced_by_what_it_asks),
		cmocka_unit_test(lists_are_no_longer_than_what_they_list),
		cmocka_unit_test(an_object_is_compared_with_any_other),
		cmocka_unit_test(a_partition_of_an_earlier_cycle_is_not_closed),
		cmocka_unit_test(a_bid_is_not_for_all_jobs_of_a_queue),
		cmocka_unit_test(sums_of_another_snapshot_are_not_asked),
		cmocka_unit_test(what_the_last_turn_left_is_not_looked_at),
		cmocka_unit_test(a_start_that_allow_fails_about_is_taken_back),
		cmocka_unit_test(numbers_are_checked_before_they_are_cut),
		cmocka_unit_test(no_message_shows_an_address),
		cmocka_unit_test(a_module_that_failed_says_why_each_time_that_it_is_required),
		cmocka_unit_test(a_parser_does_not_open_the_file_that_it_parses),
		cmocka_unit_test(a_time_zone_is_the_name_of_one),
		cmocka_unit_test(times_of_held_are_numbers_from_0_on),
		cmocka_unit_test(without_is_a_list_of_ends_of_jobs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
