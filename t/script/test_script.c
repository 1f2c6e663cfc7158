/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "t/build.h"
#include "base/clock.h"
#include "base/map.h"
#include "check/check.h"
#include "script/decide.h"
#include "script/script.h"

/* Load a policy of this text, or fail the test. */
static struct sl_bundle *load(const char *text)
{
	const struct sl_bundle_text module = { "policy", text };
	struct sl_bundle_source src = { .policy = "policy", .text = &module, .texts = 1 };
	struct sl_error err;
	char *trace;
	struct sl_bundle *b = sl_bundle_load(&src, NULL, &trace, &err);

	if (!b)
		fail_msg("%s\n%s", err.text, trace ? trace : "");
	return b;
}

/* Only what would never end is given little time: the machine may be busy. */
static void refused(const char *text, enum sl_errno code, const char *message)
{
	const struct sl_bundle_text module = { "policy", text };
	struct sl_bundle_source src = { .policy = "policy", .text = &module, .texts = 1 };
	struct sl_limits limits = { .memory = 32 << 20, .budget_us = code == SL_ETIME ? 500000 : 60000000 };
	struct sl_error err;
	char *trace;

	assert_null(sl_bundle_load(&src, &limits, &trace, &err));
	if (err.code != code || !strstr(err.text, message))
		fail_msg("code %d: %s", err.code, err.text);
	free(trace);
}

/* One cycle; what was started is counted, the plan checked. */
static int cycle(struct sl_script *s, const struct sl_snapshot *snap, const struct sl_limits *limits,
		 struct sl_plan_figures *fig, uint32_t *started, struct sl_error *err)
{
	struct sl_cluster *c = sl_cluster_create(snap, err);
	struct sl_plan *p = sl_plan_create(c, err);
	struct sl_builder *b = sl_builder_create(&sl_plan_schema, err);
	struct sl_plan_image image;
	struct sl_error why = { 0 };
	const void *bytes;
	char *trace;
	size_t size;
	int r;

	memset(fig, 0, sizeof(*fig));
	r = sl_script_decide(s, c, p, limits, fig, &trace, err);
	assert_int_equal(sl_plan_encode(p, fig, b, &why), 0);
	assert_int_equal(sl_builder_finish(b, &bytes, &size, &why), 0);
	assert_int_equal(sl_plan_image_open(&image, bytes, size, &why), 0);
	if (sl_check_plan(snap, &image, &why))
		fail_msg("%s", why.text);
	*started = image.start.rows;
	if (r && err->code != SL_ENOMEM)
		assert_non_null(trace);
	free(trace);
	sl_builder_destroy(b);
	sl_plan_destroy(p);
	sl_cluster_destroy(c);
	return r;
}

static struct build *three_jobs(void)
{
	struct build *b = build_create("2x4c");

	build_running(b, (struct build_job) { .id = 1, .nodes = 1, .ends_in = 3600 });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 2, .limit = 3600 });
	build_pending(b, (struct build_job) { .id = 3, .nodes = 1, .limit = 3600 });
	build_pending(b, (struct build_job) { .id = 4, .nodes = 1, .limit = 7200, .tasks = 4 });
	return b;
}

/* A policy with three_jobs(), and what came of its last cycle. */
struct scene {
	struct sl_bundle *set;
	struct sl_script *s;
	struct build *b;
	const struct sl_snapshot *snap;
	struct sl_plan_figures fig;
	struct sl_error err;
	uint32_t started;
};

static struct scene set_scene(const char *policy, const struct sl_limits *limits)
{
	struct scene n = { .set = load(policy), .b = three_jobs() };

	n.snap = build_open(n.b);
	n.s = sl_script_create(n.set, limits, &n.err);
	assert_non_null(n.s);
	return n;
}

static int run_cycle(struct scene *n, const struct sl_limits *limits)
{
	return cycle(n->s, n->snap, limits, &n->fig, &n->started, &n->err);
}

static void clear_scene(struct scene *n)
{
	sl_script_destroy(n->s);
	sl_bundle_destroy(n->set);
	build_destroy(n->b);
}

static void the_bundled_policies_load_and_decide(void **state)
{
	static const char *const name[] = { "easy", "fcfs", "conservative", "easy,window=100" };
	struct build *b = three_jobs();
	const struct sl_snapshot *snap = build_open(b);

	(void) state;
	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
		struct sl_bundle_source src = { .policy = name[i] };
		struct sl_plan_figures fig;
		struct sl_error err;
		struct sl_bundle *set = sl_bundle_load(&src, NULL, NULL, &err);
		struct sl_script *s;
		uint32_t started;

		if (!set)
			fail_msg("%s", err.text);
		assert_non_null(strstr(sl_bundle_file(set, 0), "sched/site.lua"));
		s = sl_script_create(set, NULL, &err);
		assert_non_null(s);
		assert_int_equal(cycle(s, snap, NULL, &fig, &started, &err), 0);
		assert_int_equal(started, i == 1 ? 0 : 1);
		assert_int_equal(fig.examined, i == 1 ? 1 : 3);
		assert_false(fig.truncated);
		assert_null(fig.error);
		assert_true(fig.decide_us >= 0);
		sl_script_destroy(s);
		sl_bundle_destroy(set);
	}
	build_destroy(b);
}

/* The plan as bytes, but for how long it took; malloc'ed. */
static void *decide_with_key(const char *policy, uint64_t key, uint64_t seed, size_t *size)
{
	const uint64_t keys[2] = { key, ~key };
	struct sl_bundle_source src = { .policy = policy };
	struct sl_limits limits = { .memory = 0 };
	struct sl_decision d = { 0 };
	struct sl_bundle *set;
	struct sl_error err;
	struct build *b;
	void *copy;

	sl_hash_with_key(keys);
	b = build_random_cluster(seed, 30, 60);
	set = sl_bundle_load(&src, NULL, NULL, &err);
	if (!set || sl_decide(set, build_open(b), &limits, sl_clock_us(), &d, &err))
		fail_msg("%s: %s", policy, err.text);
	*(int64_t *) (uintptr_t) d.plan.meta.decide_us = 0;
	*(int64_t *) (uintptr_t) d.plan.meta.total_us = 0;
	copy = malloc(d.size);
	memcpy(copy, d.bytes, d.size);
	*size = d.size;
	sl_decision_clear(&d);
	sl_bundle_destroy(set);
	build_destroy(b);
	return copy;
}

static void a_decision_does_not_depend_on_the_key_of_hashes(void **state)
{
	static const char *const name[] = { "easy", "fcfs", "conservative", "critical", "predictive", "ip_window" };

	(void) state;
	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		for (uint64_t seed = 1; seed <= 4; seed++) {
			size_t size, other_size;
			void *plan = decide_with_key(name[i], 17 * seed, seed, &size);
			void *other = decide_with_key(name[i], 4711 + seed, seed, &other_size);

			if (size != other_size || memcmp(plan, other, size))
				fail_msg("%s, seed %d", name[i], (int) seed);
			free(plan);
			free(other);
		}
}

static void a_failure_is_told_and_what_was_booked_stands(void **state)
{
	struct scene n = set_scene("local M = { api = 1 }\n"
				   "function M.decide(cluster, plan)\n"
				   "  for job in cluster:queue() do plan:start(job) end\n"
				   "  if cluster.name ~= 'probe' then error('mine') end\n"
				   "end\nreturn M", NULL);

	(void) state;
	assert_int_equal(run_cycle(&n, NULL), 1);
	assert_int_equal(n.started, 1);
	assert_int_equal(n.err.code, SL_ESCRIPT);
	assert_string_equal(n.err.text, "policy.lua:4: mine");
	assert_string_equal(n.fig.error, "policy.lua:4: mine");
	assert_false(n.fig.truncated);
	clear_scene(&n);
}

static void the_budget_ends_a_cycle_and_the_state_serves_the_next_one(void **state)
{
	struct scene n = set_scene("local M = { api = 1 } n = 0\n"
				   "function M.decide(cluster, plan)\n"
				   "  for job in cluster:queue() do plan:start(job) end\n"
				   "  n = n + 1\n"
				   "  if cluster.name ~= 'probe' and n == 1 then while true do end end\n"
				   "end\nreturn M", NULL);
	struct sl_limits limits = { .budget_us = 500000 };

	(void) state;
	assert_int_equal(run_cycle(&n, &limits), 1);
	assert_true(n.fig.truncated);
	assert_null(n.fig.error);
	assert_int_equal(n.err.code, SL_ETIME);
	assert_int_equal(n.started, 1);
	/* the simulator keeps its state */
	assert_int_equal(run_cycle(&n, NULL), 0);
	assert_false(n.fig.truncated);
	assert_int_equal(n.started, 1);
	clear_scene(&n);
}

/* A policy that keeps objects in a module's variable, which only a kept state can. */
static void an_object_that_was_kept_raises_in_the_next_cycle(void **state)
{
	static const char *const use[][2] = {
		{ "kept.id", "this job is from an earlier cycle: keep its id or name, not the object" },
		{ "plan:start(kept)", "this job is from an earlier cycle" },
		{ "kept_cluster.now", NULL },	/* the cluster is one and the same */
		{ "kept_node.name", "this node is from an earlier cycle" },
		{ "kept_next()", "this iteration over the queue is from an earlier cycle: get another one in this cycle" },
	};

	(void) state;
	for (size_t i = 0; i < sizeof(use) / sizeof(use[0]); i++) {
		char text[1000];
		struct scene n;
		int r;

		snprintf(text, sizeof(text), "local M = { api = 1 } local kept, kept_cluster, kept_node, kept_next\n"
			 "function M.decide(cluster, plan)\n"
			 "  if kept then local x = %s return end\n"
			 "  kept_cluster, kept_node, kept_next = cluster, cluster.nodes[1], cluster:queue()\n"
			 "  for job in cluster:queue() do kept = job end\n"
			 "end\nreturn M", use[i][0]);
		n = set_scene(text, NULL);
		assert_int_equal(run_cycle(&n, NULL), 0);
		r = run_cycle(&n, NULL);
		assert_int_equal(r, use[i][1] ? 1 : 0);
		if (r && !strstr(n.err.text, use[i][1]))
			fail_msg("%s", n.err.text);
		clear_scene(&n);
	}
}

static void a_kept_state_sees_the_jobs_of_another_snapshot(void **state)
{
	struct sl_bundle *set = load("local M = { api = 1 }\n"
				     "function M.decide(cluster, plan)\n"
				     "  for job in cluster:queue() do slurm.log_info('%d', job.id) end\n"
				     "end\nreturn M");
	struct sl_error err;
	struct sl_script *s = sl_script_create(set, NULL, &err);

	(void) state;
	for (uint32_t id = 2; id < 6; id++) {
		struct build *b = build_create("1x1c");
		struct sl_plan_figures fig;
		const struct sl_entry *entry;
		struct sl_cluster *c;
		struct sl_plan *p;
		uint32_t n;

		for (uint32_t i = 0; i < id; i++)
			build_pending(b, (struct build_job) { .id = 100 * id + i, .limit = 60 });
		c = build_cluster(b);
		p = sl_plan_create(c, &err);
		assert_int_equal(sl_script_decide(s, c, p, NULL, &fig, NULL, &err), 0);
		assert_int_equal(fig.examined, id);
		entry = sl_cluster_queue(c, &n);
		assert_non_null(entry);
		assert_int_equal(n, id);
		sl_plan_destroy(p);
		sl_cluster_destroy(c);
		build_destroy(b);
	}
	sl_script_destroy(s);
	sl_bundle_destroy(set);
}

static void a_set_that_fails_to_load_is_refused_with_the_place(void **state)
{
	(void) state;
	refused("return {", SL_ESCRIPT, "policy.lua:1: ");
	refused("error('mine')", SL_ESCRIPT, "policy.lua:1: mine");
	refused("error({})", SL_ESCRIPT, "policy.lua:1: error() with a table, expected a text");
	refused("local function f() error(nil) end f()", SL_ESCRIPT, "policy.lua:1: error() with a nil, expected a text");
	refused("while true do end", SL_ETIME, "policy.lua:1: time budget of 500 ms is used up");
	refused("local t = {} for i = 1, math.huge do t[i] = {} end", SL_ENOMEM, "memory limit of 32 MiB is used up");
	refused("return { api = 1, decide = function(c) while true do end end }", SL_ETIME, "time budget");
	refused("return { api = 1, decide = function(c) return { 7 } end }", SL_ESCRIPT, "decide returned a table, expected nothing");
	refused("return { api = 1, decide = function(c) error('mine') end }", SL_ESCRIPT,
		"policy.lua:1: mine (while probed on a canned cluster)");
}

/* Load a site file of this text, beside a module "other"; NULL with *err. */
static struct sl_bundle *load_site(const char *text, struct sl_error *err)
{
	const struct sl_bundle_text file[] = {
		{ "site.lua", text },
		{ "other", "return { api = 1, name = 'other', admit = function() return true end }" },
	};
	struct sl_bundle_source src = { .site = "site.lua", .text = file, .texts = 2 };
	char *trace;
	struct sl_bundle *b = sl_bundle_load(&src, NULL, &trace, err);

	free(trace);
	return b;
}

/* The engine reads it after it was checked. */
static void a_site_cannot_be_changed_once_it_was_checked(void **state)
{
	static const char *const change[] = {
		"s.sets = 0x41414141", "s.policy = nil", "s.policy = {}", "s.default.name = nil", "s.default.name = 5",
		"s.default = nil", "s.interval = 'x'", "s.sets[1] = { partitions = 5 }",
		"require 'sched.site'.check(s, 'x').sets = 0x41414141", "rawset(s, 'sets', 5)", "table.insert(s, 5)",
		"setmetatable(s, { __index = print })", "s = require 'sched.site'.single('easy', '')",
		"s = setmetatable({}, { __index = s })",
	};
	static const char format[] = "local sched = require 'sched' local s = sched.site {} %s return s";
	char text[300];

	(void) state;
	for (size_t i = 0; i < sizeof(change) / sizeof(change[0]); i++) {
		struct sl_error err = { 0 };
		struct sl_bundle *b;

		snprintf(text, sizeof(text), format, change[i]);
		b = load_site(text, &err);
		if (b)
			fail_msg("was accepted: %s", text);
		/* a C function that writes for it has no line */
		if (err.code != SL_ESCRIPT || (strncmp(err.text, "site.lua:1: ", 12) && !strstr(err.text, "a site is read-only")))
			fail_msg("%s: %s", text, err.text);
	}
}

/* What the engine looks at later is what it was when it was checked. */
static void a_policy_cannot_be_changed_once_it_was_checked(void **state)
{
	static const char *const change[] = {
		"p.name = nil", "p.name = 5", "p.stages = 7", "p.stages = { { run = 5 } }", "p.admit = 5",
		"p.serve = 'x'", "p.options = 5", "p.lenders = 1",
		"for k in pairs(p) do p[k] = nil end",
		/* a component that needs no name of its own */
		"s = sched.site { default = { { through = 'the default', stages = { { run = function() end } } } } }",
	};
	static const char format[] = "local sched = require 'sched' local p = require 'other' "
				     "local s = sched.site { default = { p, 'other', sched.ageing {}, 'easy' } } %s return s";
	char text[500];

	(void) state;
	for (size_t i = 0; i < sizeof(change) / sizeof(change[0]); i++) {
		struct sl_error err = { 0 };
		struct sl_bundle *b;

		snprintf(text, sizeof(text), format, change[i]);
		b = load_site(text, &err);
		if (!b)
			fail_msg("%s: %s", text, err.text);
		sl_bundle_destroy(b);
	}
}

/* It is not the fault of the policy that was the last to decide in the cycle before. */
static void a_cycle_without_memory_to_begin_with_is_told(void **state)
{
	struct sl_limits limits = { .memory = 8 << 20 };
	struct scene n = set_scene("local M = { api = 1, name = 'policy' } local cycle = 0\n"
				   "function M.serve(_, cluster) if cluster.name == 'probe' then return end\n"
				   "  cycle = cycle + 1 local t = {} while cycle > 1 do t = { t } end end\n"
				   "function M.decide() end\nreturn M", &limits);
	struct build *other = three_jobs();

	(void) state;
	assert_int_equal(run_cycle(&n, &limits), 0);
	assert_int_equal(cycle(n.s, build_open(other), &limits, &n.fig, &n.started, &n.err), 1);
	assert_int_equal(n.err.code, SL_ENOMEM);
	assert_string_equal(n.err.text, "memory limit of 8 MiB is used up");
	clear_scene(&n);
	build_destroy(other);
}

static void the_memory_of_a_state_is_known_and_bounded(void **state)
{
	struct sl_limits limits = { .memory = 8 << 20 };
	struct scene n = set_scene("local M = { api = 1 }\n"
				   "function M.decide(cluster) if cluster.name ~= 'probe' then\n"
				   "  local t = {} for i = 1, math.huge do t[i] = { i } end end end\nreturn M", &limits);
	size_t peak, before = sl_script_memory(n.s, &peak);

	(void) state;
	assert_true(before > 0 && before < (1 << 20));
	assert_int_equal(run_cycle(&n, &limits), 1);
	assert_int_equal(n.err.code, SL_ENOMEM);
	assert_false(n.fig.truncated);
	sl_script_memory(n.s, &peak);
	assert_true(peak > (4 << 20) && peak <= (8 << 20));
	clear_scene(&n);
}

static void many_states_come_from_one_bundle(void **state)
{
	struct sl_bundle_source src = { .policy = "easy" };
	struct sl_error err;
	struct sl_bundle *set = sl_bundle_load(&src, NULL, NULL, &err);
	struct build *b = three_jobs();
	const struct sl_snapshot *snap = build_open(b);

	(void) state;
	for (int i = 0; i < 50; i++) {
		struct sl_script *s = sl_script_create(set, NULL, &err);
		struct sl_plan_figures fig;
		uint32_t started;

		assert_non_null(s);
		assert_int_equal(cycle(s, snap, NULL, &fig, &started, &err), 0);
		assert_int_equal(started, 1);
		sl_script_destroy(s);
	}
	assert_int_equal(sl_bundle_changed(set), 0);
	sl_bundle_destroy(set);
	build_destroy(b);
}

/* Compiling is most of a small cycle.  Nobody who compiled these texts again would get anywhere. */
static void a_set_is_compiled_once_and_keeps_its_lines_and_names(void **state)
{
	struct sl_bundle *set = load("local M = { api = 1 }\n"
				     "function M.decide(cluster, plan)\n"
				     "  local nothing\n"
				     "  if cluster.name ~= 'probe' then nothing.at_all() end\n"
				     "end\nreturn M");
	struct scene n = { .set = set, .b = three_jobs() };

	(void) state;
	for (unsigned i = 0; i < set->files; i++)
		memset(set->file[i]->text, '}', set->file[i]->length);
	n.snap = build_open(n.b);
	for (int i = 0; i < 2; i++) {
		n.s = sl_script_create(set, NULL, &n.err);
		if (!n.s)
			fail_msg("%s", n.err.text);
		assert_int_equal(run_cycle(&n, NULL), 1);
		assert_string_equal(n.err.text, "policy.lua:4: attempt to index a nil value (local 'nothing')");
		if (!i)
			sl_script_destroy(n.s);
	}
	clear_scene(&n);
}

/* Snapshots come from files too: no time in them may be more than a bad guess.  (The sanitizers see it.) */
static void times_that_no_clock_shows_do_no_harm(void **state)
{
	static const int64_t odd[] = { INT64_MIN, INT64_MIN + 1, -1, 0, INT64_MAX - 1, INT64_MAX };
	enum { ODD = sizeof(odd) / sizeof(odd[0]), CASES = ODD * ODD * ODD };
	struct sl_bundle_source src = { .policy = "easy" };
	struct sl_error err;
	struct sl_bundle *set = sl_bundle_load(&src, NULL, NULL, &err);
	struct sl_script *s = sl_script_create(set, NULL, &err);

	(void) state;
	assert_non_null(s);
	for (int i = 0; i < 2 * CASES; i++) {
		struct build *b = three_jobs();
		struct sl_plan_figures fig;
		struct sl_error why = { 0 };
		uint32_t started;

		build_change(b, SL_T_JOB, 0, sl_job_row, .start_time = odd[i % ODD]);
		build_change(b, SL_T_JOB, 0, sl_job_row, .end_time = odd[i / ODD % ODD]);
		build_change(b, SL_T_JOB, 0, sl_job_row, .time_limit = odd[i / ODD / ODD % ODD]);
		if (i >= CASES) {
			build_change(b, SL_T_JOB, 0, sl_job_row, .suspend_time = odd[i % ODD]);
			build_change(b, SL_T_JOB, 0, sl_job_row, .state = SL_JOB_SUSPENDED);
		}
		for (uint32_t j = 1; j < 4; j++) {
			build_change(b, SL_T_JOB, j, sl_job_row, .submit_time = odd[i % ODD]);
			build_change(b, SL_T_JOB, j, sl_job_row, .time_limit = odd[i / ODD % ODD]);
		}
		assert_int_equal(cycle(s, build_open(b), NULL, &fig, &started, &why), 0);
		build_destroy(b);
	}
	sl_script_destroy(s);
	sl_bundle_destroy(set);
}

/* The clock itself is bounded when a snapshot is opened; at its bounds all is as it is today. */
static void the_first_and_the_last_moment_are_moments_as_others(void **state)
{
	static const int64_t now[] = { 0, 1, INT64_C(1) << 40 };
	struct sl_bundle_source src = { .policy = "easy" };
	struct sl_error err = { 0 };
	struct sl_bundle *set = sl_bundle_load(&src, NULL, NULL, &err);
	struct sl_script *s = sl_script_create(set, NULL, &err);
	uint32_t started, usual;

	(void) state;
	assert_non_null(s);
	for (int odd = 0; odd < 2; odd++)
		for (size_t i = 0; i < sizeof(now) / sizeof(now[0]); i++) {
			struct build *b = three_jobs(), *today = three_jobs();
			struct sl_plan_figures fig;

			build_reservation(b, "maint", 7200, 9000, 0, 0);
			build_reservation(today, "maint", 7200, 9000, 0, 0);
			b->meta.now = now[i];
			build_change(b, SL_T_JOB, 0, sl_job_row, .start_time = now[i] - 60);
			build_change(b, SL_T_JOB, 0, sl_job_row, .end_time = odd ? INT64_MIN : now[i] + 3600);
			build_change(b, SL_T_RESERVATION, 0, sl_reservation_row, .start_time = now[i] + 7200);
			build_change(b, SL_T_RESERVATION, 0, sl_reservation_row, .end_time = odd ? INT64_MAX : now[i] + 9000);
			if (cycle(s, build_open(b), NULL, &fig, &started, &err))
				fail_msg("at %lld: %s", (long long) now[i], err.text);
			assert_int_equal(cycle(s, build_open(today), NULL, &fig, &usual, &err), 0);
			if (!odd)
				assert_int_equal(started, usual);
			build_destroy(b);
			build_destroy(today);
		}
	sl_script_destroy(s);
	sl_bundle_destroy(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_decision_does_not_depend_on_the_key_of_hashes),
		cmocka_unit_test(the_bundled_policies_load_and_decide),
		cmocka_unit_test(a_failure_is_told_and_what_was_booked_stands),
		cmocka_unit_test(the_budget_ends_a_cycle_and_the_state_serves_the_next_one),
		cmocka_unit_test(an_object_that_was_kept_raises_in_the_next_cycle),
		cmocka_unit_test(a_kept_state_sees_the_jobs_of_another_snapshot),
		cmocka_unit_test(a_set_that_fails_to_load_is_refused_with_the_place),
		cmocka_unit_test(a_site_cannot_be_changed_once_it_was_checked),
		cmocka_unit_test(a_policy_cannot_be_changed_once_it_was_checked),
		cmocka_unit_test(a_cycle_without_memory_to_begin_with_is_told),
		cmocka_unit_test(the_memory_of_a_state_is_known_and_bounded),
		cmocka_unit_test(times_that_no_clock_shows_do_no_harm),
		cmocka_unit_test(the_first_and_the_last_moment_are_moments_as_others),
		cmocka_unit_test(many_states_come_from_one_bundle),
		cmocka_unit_test(a_set_is_compiled_once_and_keeps_its_lines_and_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
