/* SPDX-License-Identifier: MIT */
/*
 * The engine when policies, or what guards them, fail on the real cluster: what has been booked
 * stands, easy decides within the site's limits, nothing starts where the site says hold.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "image/fence.h"
#include "t/tool/engine.h"

/* -- deciding ----------------------------------------------------------- */

static void what_a_failing_policy_has_booked_stands(void **state)
{
	struct engine *e = *state;
	struct sl_frame_plan plan;
	uint32_t started;

	write_site(e, SITE("for job in cluster:queue() do plan:start(job) end\n"
			   "if cluster.name == \"tiny\" then error(\"late\") end\n"));
	assert_int_equal(load_site(e, e->site, -1).ok, 1);
	plan = decide(e, snapshot_fd(), &started);
	assert_int_equal(plan.ok, 1);
	assert_int_equal(plan.code, SL_ESCRIPT);
	CONTAINS(plan.text, "sched.lua:5:");
	assert_int_equal(started, 7);
}

static void a_policy_that_never_ends_is_stopped_and_its_bookings_stand(void **state)
{
	struct engine *e = *state;
	struct sl_frame_plan plan;
	uint32_t started;

	write_site(e, SITE("for job in cluster:queue() do plan:start(job) end\n"
			   "while cluster.name == \"tiny\" do pcall(function() while true do end end) end\n"));
	assert_int_equal(load_site(e, e->site, -1).ok, 1);
	plan = decide(e, snapshot_fd(), &started);
	assert_int_equal(plan.ok, 1);
	assert_int_equal(plan.code, SL_ETIME);
	assert_int_equal(started, 7);
	plan = decide(e, snapshot_fd(), &started);
	assert_int_equal(plan.ok, 1);
}

/* -- when what decides or what guards fails -------------------------------- */

/* A quota of one CPU-hour that job 7 (10 minutes of one core) is within, or is over. */
#define GUARDED(most, list) \
	"local sched = require \"sched\"\n" \
	"local bomb = { api = 1, name = \"bomb\", doc = \"fails on the real cluster\" }\n" \
	"function bomb.decide(cluster) if cluster.name == \"tiny\" then error(\"bang\") end end\n" \
	"local guard = { api = 1, name = \"guard\", doc = \"fails on the real cluster\" }\n" \
	"function guard.admit(_, cluster) if cluster.name == \"tiny\" then error(\"lost\") end return true end\n" \
	"local loop = { api = 1, name = \"loop\", doc = \"never ends on the real cluster\" }\n" \
	"function loop.allow(_, cluster) while cluster.name == \"tiny\" do end return true end\n" \
	"local quota = sched.quota { per_user = \"" most " cpu-hours\" }\n" \
	"return sched.site { default = { " list " } }\n"

static void when_a_policy_fails_easy_decides_within_the_sites_limits(void **state)
{
	struct engine *e = *state;
	struct sl_frame_plan plan;
	char reason[256];
	uint32_t started;

	write_site(e, GUARDED("0.1", "quota, bomb"));
	assert_int_equal(load_site(e, e->site, -1).ok, 1);
	plan = decide(e, snapshot_fd(), &started);
	assert_int_equal(plan.code, SL_ESCRIPT);
	assert_int_equal(started, 0);
	plan = decide_bundled(e, snapshot_fd(), &started, reason);
	assert_int_equal(plan.ok, 1);
	assert_int_equal(started, 0);
	CONTAINS(reason, "quota");
	CONTAINS(plan.policy, "easy");

	write_site(e, GUARDED("1", "quota, bomb"));
	assert_int_equal(load_site(e, e->site, -1).ok, 1);
	plan = decide_bundled(e, snapshot_fd(), &started, reason);
	assert_int_equal(started, 7);
	assert_string_equal(plan.held, "");
}

static void when_what_guards_fails_nothing_starts_where_the_site_says_hold(void **state)
{
	struct engine *e = *state;
	struct sl_frame_plan plan;
	char reason[256];
	uint32_t started;

	write_site(e, GUARDED("1", "quota, guard"));
	assert_int_equal(load_site(e, e->site, -1).ok, 1);
	plan = decide_bundled(e, snapshot_fd(), &started, reason);
	assert_int_equal(plan.ok, 1);
	assert_int_equal(started, 0);
	CONTAINS(reason, "lost");
	CONTAINS(plan.held, "p: ");
	CONTAINS(plan.held, "lost");
	plan = decide(e, snapshot_fd(), &started);
	assert_int_equal(started, 0);
	CONTAINS(plan.held, "lost");

	write_site(e, GUARDED("1", "quota, guard, on_failure = \"easy\""));
	assert_int_equal(load_site(e, e->site, -1).ok, 1);
	plan = decide_bundled(e, snapshot_fd(), &started, reason);
	assert_int_equal(started, 7);
	assert_string_equal(plan.held, "");
}

static void without_a_quota_a_failing_admit_holds_only_if_the_site_says_so(void **state)
{
	struct engine *e = *state;
	char reason[256];
	uint32_t started;

	write_site(e, GUARDED("1", "guard"));
	assert_int_equal(load_site(e, e->site, -1).ok, 1);
	decide_bundled(e, snapshot_fd(), &started, reason);
	assert_int_equal(started, 7);
	write_site(e, GUARDED("1", "guard, on_failure = \"hold\""));
	assert_int_equal(load_site(e, e->site, -1).ok, 1);
	decide_bundled(e, snapshot_fd(), &started, reason);
	assert_int_equal(started, 0);
	CONTAINS(reason, "held");
}

static void an_allow_that_never_ends_holds_what_it_guards(void **state)
{
	struct engine *e = *state;
	struct sl_frame f = { .fd = snapshot_fd() };
	struct sl_frame_plan plan;
	char reason[256];
	uint32_t started;

	f.body.decide.bundled = 1;
	f.body.decide.budget_us = 200000;
	write_site(e, GUARDED("1", "quota, loop"));
	assert_int_equal(load_site(e, e->site, -1).ok, 1);
	plan = decide_as(e, f, &started, reason);
	assert_int_equal(plan.ok, 1);
	assert_int_equal(started, 0);
	CONTAINS(reason, "held");
	f.fd = snapshot_fd();
	write_site(e, GUARDED("1", "loop"));
	assert_int_equal(load_site(e, e->site, -1).ok, 1);
	decide_as(e, f, &started, reason);
	assert_int_equal(started, 7);
}

/* A policy that fails as it decides, and quotas; what it does before that. */
#define PREPARING(most, lines) \
	"local sched = require \"sched\"\n" \
	"local bomb = { api = 1, name = \"bomb\", doc = \"fails on the real cluster\" }\n" \
	"function bomb.prepare(cluster, plan)\n" lines "end\n" \
	"function bomb.decide(cluster) if cluster.name == \"tiny\" then error(\"bang\") end end\n" \
	"return sched.site { default = { sched.quota { per_user = \"" most " cpu-hours\" }, bomb } }\n"
#define BLOCK_ALL "plan:block(cluster:nodes(), cluster.now, cluster.now + 3600)\n"

static void nodes_that_a_failing_policy_keeps_free_are_kept_free_by_easy(void **state)
{
	struct engine *e = *state;
	struct sl_frame_plan plan;
	char reason[256];
	uint32_t started;

	write_site(e, PREPARING("1", BLOCK_ALL));
	assert_int_equal(load_site(e, e->site, -1).ok, 1);
	plan = decide_bundled(e, snapshot_fd(), &started, reason);
	assert_int_equal(plan.ok, 1);
	assert_int_equal(plan.code, SL_OK);
	assert_int_equal(started, 0);
	/* what it has said before it fails holds, too */
	write_site(e, PREPARING("1", BLOCK_ALL "if cluster.name == \"tiny\" then error(\"early\") end\n"));
	assert_int_equal(load_site(e, e->site, -1).ok, 1);
	plan = decide_bundled(e, snapshot_fd(), &started, reason);
	assert_int_equal(plan.code, SL_OK);
	assert_int_equal(started, 0);
}

static void a_prepare_that_fails_or_never_ends_does_not_keep_easy_from_deciding_within_the_sites_limits(void **state)
{
	static const char *const sites[][2] = {
		{ PREPARING("1", "if cluster.name == \"tiny\" then error(\"early\") end\n"),
		  PREPARING("0.1", "if cluster.name == \"tiny\" then error(\"early\") end\n") },
		{ PREPARING("1", "while cluster.name == \"tiny\" do end\n"),
		  PREPARING("0.1", "while cluster.name == \"tiny\" do end\n") },
		{ PREPARING("1", "local t = {} while cluster.name == \"tiny\" do t[#t + 1] = (\"x\"):rep(1000000) .. #t end\n"),
		  PREPARING("0.1", "local t = {} while cluster.name == \"tiny\" do t[#t + 1] = (\"x\"):rep(1000000) .. #t end\n") },
	};
	struct engine *e = *state;
	struct sl_frame_plan plan;
	char reason[256];
	uint32_t started;

	for (size_t i = 0; i < 3; i++) {
		for (int over = 0; over < 2; over++) {
			write_site(e, sites[i][over]);
			assert_int_equal(load_site(e, e->site, -1).ok, 1);
			plan = decide_bundled(e, snapshot_fd(), &started, reason);
			assert_int_equal(plan.ok, 1);
			assert_int_equal(plan.code, SL_OK);
			assert_int_equal(started, over ? 0 : 7);
			if (over)
				CONTAINS(reason, "quota");
		}
	}
}

static void without_a_set_easy_leaves_alone_what_it_is_told_to_hold(void **state)
{
	struct engine *e = *state;
	struct sl_frame f = { .fd = snapshot_fd() };
	struct sl_frame_plan plan;
	char reason[256];
	uint32_t started;

	sl_fence_set(&f.body.decide.hold, false, "p");
	plan = decide_as(e, f, &started, reason);
	assert_int_equal(started, 0);
	CONTAINS(reason, "held");
	CONTAINS(plan.held, "p: ");
	f.fd = snapshot_fd();
	sl_fence_set(&f.body.decide.hold, true, "p");
	decide_as(e, f, &started, reason);
	assert_int_equal(started, 7);
}

static void a_set_tells_which_partitions_are_to_be_held(void **state)
{
	struct engine *e = *state;
	struct sl_frame_loaded loaded;

	write_site(e, GUARDED("1", "quota, guard"));
	loaded = load_site(e, e->site, -1);
	assert_true(sl_fence_has(&loaded.hold, "p") && sl_fence_has(&loaded.hold, "another"));
	write_site(e, "local sched = require \"sched\"\nreturn sched.site { default = \"easy\",\n"
		   "partitions = { [\"a,b\"] = { sched.quota { per_user = \"1 cpu-hour\" } } } }\n");
	loaded = load_site(e, e->site, -1);
	assert_true(sl_fence_has(&loaded.hold, "a") && sl_fence_has(&loaded.hold, "b"));
	assert_false(sl_fence_has(&loaded.hold, "p"));
}

static void a_set_whose_first_real_decision_never_ends_is_refused(void **state)
{
	struct engine *e = *state;
	struct sl_frame_loaded loaded;
	struct sl_frame_plan plan;
	uint32_t started;

	write_site(e, START_ALL);
	assert_int_equal(load_site(e, e->site, snapshot_fd()).ok, 1);
	write_site(e, SITE("while cluster.name == \"tiny\" do end\n"));
	plan = decide(e, snapshot_fd(), &started);
	assert_int_equal(plan.reload, SL_RELOAD_REFUSED);
	CONTAINS(plan.reload_text, "budget");
	assert_int_equal(started, 7);
	loaded = load_site(e, e->site, snapshot_fd());
	assert_int_equal(loaded.ok, 0);
	assert_int_equal(loaded.code, SL_ETIME);
	decide(e, snapshot_fd(), &started);
	assert_int_equal(started, 7);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start_engine, stop_engine)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_a_failing_policy_has_booked_stands),
		TEST(a_policy_that_never_ends_is_stopped_and_its_bookings_stand),
		TEST(when_a_policy_fails_easy_decides_within_the_sites_limits),
		TEST(when_what_guards_fails_nothing_starts_where_the_site_says_hold),
		TEST(without_a_quota_a_failing_admit_holds_only_if_the_site_says_so),
		TEST(an_allow_that_never_ends_holds_what_it_guards),
		TEST(nodes_that_a_failing_policy_keeps_free_are_kept_free_by_easy),
		TEST(a_prepare_that_fails_or_never_ends_does_not_keep_easy_from_deciding_within_the_sites_limits),
		TEST(without_a_set_easy_leaves_alone_what_it_is_told_to_hold),
		TEST(a_set_tells_which_partitions_are_to_be_held),
		TEST(a_set_whose_first_real_decision_never_ends_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
