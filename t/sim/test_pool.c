/* SPDX-License-Identifier: MIT */
/*
 * A pool of processors, whose simulation asks a policy that has promised EASY once: the same schedule and figures,
 * byte for byte, as when it is asked at each instant.  Thousands of random workloads; and all that must keep the
 * simulator from deciding by itself.  SL_SEED and SL_ROUNDS choose.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/trial.h"
#include "t/random.h"

static char dir[] = "/tmp/test_pool.XXXXXX";
static char path[64];

struct text {
	char buf[32768];
	size_t n;
};

static void put(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(struct text *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	t->n += (size_t) vsnprintf(t->buf + t->n, sizeof(t->buf) - t->n, fmt, ap);
	va_end(ap);
	assert_true(t->n < sizeof(t->buf));
}

static const char *file(const char *text)
{
	FILE *f;

	snprintf(path, sizeof(path), "%s/w.json", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	return path;
}

/* -- one simulation, and the other --------------------------------------------- */

#define MOST_JOBS 128

struct outcome {
	int rc;
	struct sl_error err;
	struct sl_result result;
	uint64_t asked;
	bool promised;
	uint32_t jobs;
	struct sl_sim_job job[MOST_JOBS];
	uint32_t cores[MOST_JOBS];		/* by the stretches */
	uint32_t runs[MOST_JOBS];		/* that the history has of its user */
};

/* Who looks at plans sees them all: the policy is asked each time. */
static int look_at_plan(struct sl_cluster *c, struct sl_plan *p, void *arg, struct sl_error *err)
{
	bool *promised = arg;

	(void) c; (void) err;
	*promised |= sl_plan_promises(p) != SL_RULE_NONE;
	return 0;
}

static void read_schedule(struct outcome *o, const struct sl_trial *t)
{
	const struct sl_stretch *stretch = sl_sim_stretches(t->sim);
	struct sl_history *history = sl_sim_history(t->sim, NULL);
	const struct sl_snapshot *snap = &t->workload->snap;

	assert_non_null(history);
	sl_history_begin(history);
	o->jobs = snap->job.rows;
	assert_true(o->jobs <= MOST_JOBS);
	memcpy(o->job, sl_sim_schedule(t->sim), o->jobs * sizeof(*o->job));
	for (uint32_t i = 0; i < o->jobs; i++) {
		const struct sl_history_query q = { .user = sl_snapshot_str(snap, snap->job.user[i]), .now = INT64_MAX,
			.last = MOST_JOBS, .most_cpus = INT64_MAX, .most_limit = INT64_MAX };
		const struct sl_past_run *const *run;

		if (o->job[i].stretches)
			o->cores[i] = stretch[o->job[i].first_stretch].cores;
		o->job[i].first_stretch = 0;
		if (*q.user)
			assert_return_code(sl_history_ask(history, &q, &run, &o->runs[i], NULL), 0);
	}
}

static struct outcome simulate(const struct sl_trial_options *opt, bool ask_each_time)
{
	struct sl_trial_options o = *opt;
	struct outcome out = { .rc = -1 };
	struct sl_trial t;

	o.sim.keep_schedule = o.sim.check = true;
	if (ask_each_time) {
		o.sim.after_pass = look_at_plan;
		o.sim.after_pass_arg = &out.promised;
	}
	if (!sl_trial_open(&t, &o, &out.err)) {
		out.rc = sl_trial_go(&t, true, &out.err);
		assert_return_code(sl_sim_result(t.sim, &out.result, NULL), 0);
		out.asked = out.result.asked;
		out.result.asked = 0;
		out.result.cycle_us_p50 = out.result.cycle_us_p99 = out.result.cycle_us_max = 0;
		read_schedule(&out, &t);
	}
	sl_trial_close(&t);
	return out;
}

static void assert_same(const struct outcome *a, const struct outcome *b, const char *what)
{
	if (a->rc != b->rc || strcmp(a->err.text, b->err.text))
		fail_msg("%s: %d %s, expected %d %s (%s)", what, a->rc, a->err.text, b->rc, b->err.text, path);
	for (uint32_t i = 0; i < b->jobs; i++)
		if (memcmp(&a->job[i], &b->job[i], sizeof(a->job[i])) || a->cores[i] != b->cores[i] || a->runs[i] != b->runs[i])
			fail_msg("%s: job row %u: from %lld to %lld with %u cores, expected %lld to %lld with %u (%s)", what, i,
				 (long long) a->job[i].start_s, (long long) a->job[i].end_s, a->cores[i],
				 (long long) b->job[i].start_s, (long long) b->job[i].end_s, b->cores[i], path);
	if (memcmp(&a->result, &b->result, sizeof(a->result)))
		fail_msg("%s: %llu cycles, expected %llu; or other figures (%s)", what, (unsigned long long) a->result.cycles,
			 (unsigned long long) b->result.cycles, path);
}

static struct outcome simulate_both(const struct sl_trial_options *opt, const char *what)
{
	struct outcome by_pool = simulate(opt, false), asked = simulate(opt, true);

	assert_same(&by_pool, &asked, what);
	by_pool.promised = asked.promised;
	return by_pool;
}

/* -- what it decides ----------------------------------------------------------- */

#define JOB_AND(more, id, submit, cores, limit, run)							\
	"{\"id\": " #id ", \"submit_time\": " #submit ", \"min_cpus\": " #cores ", \"num_tasks\": " #cores	\
	", \"time_limit\": " #limit ", \"runtime_s\": " #run more "}"
#define JOB(...) JOB_AND("", __VA_ARGS__)

#define POOL "\"meta\": {\"now\": 0}, \"nodes\": [{\"name\": \"n1\", \"cores\": 4}], \"partitions\": ["	\
	"{\"name\": \"p\", \"nodes\": \"n1\", \"flags\": [\"UP\", \"DEFAULT\"]}]"

/* Two start at once, two wait, one is backfilled, one comes when nothing waits any more. */
#define JOBS JOB(1, 0, 3, 100, 90) "," JOB(2, 0, 1, 20, 20) "," JOB(3, 1, 4, 50, 50) "," JOB(4, 2, 1, 60, 60) ","	\
	JOB(5, 3, 1, 200, 200) "," JOB(6, 900, 4, 10, 10)

static const char plain[] = "{" POOL ", \"jobs\": [" JOBS "]}";

static void it_is_asked_once_and_the_schedule_is_easys(void **state)
{
	static const int64_t start[] = { 0, 0, 90, 20, 140, 900 };
	struct sl_trial_options opt = { .workload = file(plain), .source = { .policy = "easy" } };
	struct outcome o = simulate_both(&opt, "plain");

	(void) state;
	assert_int_equal(o.rc, 0);
	assert_int_equal(o.asked, 1);
	assert_true(o.promised);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(o.job[i].start_s, o.job[0].start_s + start[i]);
	assert_int_equal(o.result.cycles, 9);
}

/* At the head's time there is one core more than it needs: the first that outlasts it has that. */
static void what_the_head_leaves_goes_to_one(void **state)
{
	struct sl_trial_options opt = { .source = { .policy = "easy" }, .workload_options = { .machine = "1x5c" },
		.workload = file("{\"jobs\": [" JOB(1, 0, 3, 100, 100) "," JOB(2, 1, 4, 50, 50) "," JOB(3, 1, 2, 200, 200) ","
		JOB(4, 1, 2, 150, 150) "," JOB(5, 1, 1, 200, 200) "," JOB(6, 1, 1, 99, 99) "]}") };
	static const int64_t start[] = { 0, 100, 150, 150, 1, 1 };
	struct outcome o = simulate_both(&opt, "beside the head");

	(void) state;
	assert_int_equal(o.asked, 1);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(o.job[i].start_s, o.job[0].start_s + start[i]);
}

/* -- what keeps it from deciding ------------------------------------------------ */

#define ODD(more) "{" POOL ", \"jobs\": [" JOBS "," JOB_AND(", " more, 7, 4, 1, 30, 30) "]}"

static const struct {
	const char *what, *text;
} odd[] = {
	{ "two nodes", "{\"nodes\": [{\"name\": \"n1\", \"cores\": 2}, {\"name\": \"n2\", \"cores\": 2}], \"partitions\": ["
	  "{\"name\": \"p\", \"nodes\": \"n[1-2]\", \"flags\": [\"UP\", \"DEFAULT\"]}], \"jobs\": [" JOBS "]}" },
	{ "two partitions", "{\"nodes\": [{\"name\": \"n1\", \"cores\": 4}], \"partitions\": ["
	  "{\"name\": \"p\", \"nodes\": \"n1\", \"flags\": [\"UP\", \"DEFAULT\"]}, {\"name\": \"q\", \"nodes\": \"n1\"}],"
	  "\"jobs\": [" JOBS "]}" },
	{ "a reservation", "{" POOL ", \"reservations\": [{\"name\": \"r\", \"nodes\": \"n1\", \"start_time\": 500,"
	  "\"end_time\": 600}], \"jobs\": [" JOBS "]}" },
	{ "licences", "{" POOL ", \"licenses\": [{\"name\": \"l\", \"total\": 1}], \"jobs\": [" JOBS "]}" },
	{ "cores are shared", "{\"nodes\": [{\"name\": \"n1\", \"cores\": 4}], \"partitions\": [{\"name\": \"p\","
	  "\"nodes\": \"n1\", \"flags\": [\"UP\", \"FORCE\"], \"oversubscribe\": 2}], \"jobs\": [" JOBS "]}" },
	{ "whole nodes", "{\"nodes\": [{\"name\": \"n1\", \"cores\": 4}], \"partitions\": [{\"name\": \"p\","
	  "\"nodes\": \"n1\", \"oversubscribe\": 0}], \"jobs\": [" JOBS "]}" },
	{ "memory is counted", "{\"meta\": {\"select_flags\": [\"MEMORY\"]}, \"nodes\": [{\"name\": \"n1\", \"cores\": 4,"
	  "\"memory\": 100}], \"partitions\": [{\"name\": \"p\", \"nodes\": \"n1\"}], \"jobs\": [" JOBS "]}" },
	{ "a limit of a partition's CPUs", "{\"nodes\": [{\"name\": \"n1\", \"cores\": 5}], \"partitions\": [{\"name\": \"p\","
	  "\"nodes\": \"n1\", \"max_cpus_per_node\": 4}], \"jobs\": [" JOBS "]}" },
	{ "a begin time", ODD("\"begin_time\": 40") },
	{ "a deadline", ODD("\"deadline\": 400") },
	{ "alternatives", ODD("\"shapes\": [{\"num_tasks\": 2}]") },
	{ "a shorter time would do", ODD("\"time_min\": 10") },
	{ "a node of its own", ODD("\"flags\": [\"EXCLUSIVE\"]") },
	{ "consecutive nodes", ODD("\"flags\": [\"CONTIGUOUS\"]") },
	{ "spread", ODD("\"flags\": [\"SPREAD\"]") },
	{ "several partitions of its own", ODD("\"partitions\": [\"p\", \"p\"]") },
	{ "a throttle", ODD("\"array_job_id\": 7, \"array_max_running\": 1") },
	{ "a component", ODD("\"het_job_id\": 7, \"het_offset\": 0") },
	{ "sockets", ODD("\"sockets_per_node\": 1, \"cores_per_socket\": 2") },
	{ "tasks of each node", ODD("\"ntasks_per_node\": 1") },
	{ "what only select can heed", ODD("\"asks\": [\"BOARDS\"]") },
	{ "features that no node has", ODD("\"features\": \"x\"") },
	{ "a time that the partition does not allow", "{\"nodes\": [{\"name\": \"n1\", \"cores\": 4}], \"partitions\": ["
	  "{\"name\": \"p\", \"nodes\": \"n1\", \"max_time\": 300}], \"jobs\": [" JOBS "," JOB(7, 4, 1, 400, 30) "]}" },
};

static void what_is_more_than_a_count_of_cores_is_asked_about(void **state)
{
	(void) state;
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		struct sl_trial_options opt = { .workload = file(odd[i].text), .source = { .policy = "easy" } };
		struct outcome o = simulate_both(&opt, odd[i].what);

		if (o.rc)
			fail_msg("%s: %s", odd[i].what, o.err.text);
		if (o.asked < 2)
			fail_msg("%s: asked %llu times", odd[i].what, (unsigned long long) o.asked);
	}
}

/* Once the odd one has come it is asked, and when that runs no more. */
static void it_decides_again_when_the_odd_one_has_gone(void **state)
{
	struct sl_trial_options opt = { .source = { .policy = "easy" }, .workload = file("{" POOL ", \"jobs\": ["
		JOB(1, 0, 3, 100, 90) "," JOB(2, 1, 4, 50, 50) "," JOB_AND(", \"flags\": [\"CONTIGUOUS\"]", 3, 2, 1, 60, 60) ","
		JOB(4, 100, 2, 100, 50) "," JOB(5, 101, 4, 50, 50) "," JOB(6, 102, 1, 30, 30) "," JOB(7, 103, 4, 50, 50) "]}") };
	struct outcome o = simulate_both(&opt, "one odd job");

	(void) state;
	assert_int_equal(o.asked, 2);
	assert_int_equal(o.job[2].start_s, o.job[0].start_s + 2);
}

/* Job 2 was started without the policy, which is to find its core taken when the odd one comes. */
static void who_was_started_by_it_is_there_when_the_policy_is_asked_again(void **state)
{
	struct sl_trial_options opt = { .source = { .policy = "easy" }, .workload = file("{" POOL ", \"jobs\": ["
		JOB(1, 0, 3, 100, 90) "," JOB(2, 1, 1, 70, 70) "," JOB_AND(", \"flags\": [\"CONTIGUOUS\"]", 3, 2, 1, 60, 60) ","
		JOB(4, 3, 2, 10, 10) "]}") };
	struct outcome o = simulate_both(&opt, "who runs");

	(void) state;
	assert_int_equal(o.rc, 0);
	assert_int_equal(o.job[2].start_s, o.job[0].start_s + 71);
	assert_int_equal(o.job[3].start_s, o.job[0].start_s + 90);
}

static int before_pass(struct sl_cluster *c, int64_t now, void *arg, struct sl_error *err)
{
	(void) c; (void) now; (void) arg; (void) err;
	return 0;
}

static void other_ways_to_simulate_ask_each_time(void **state)
{
	const struct sl_sim_options way[] = {
		{ .interval_s = 30 }, { .interval_s = 30, .latency_s = 5 }, { .each_end = true }, { .arrivals_first = true },
		{ .before_pass = before_pass },
	};

	(void) state;
	for (size_t i = 0; i < sizeof(way) / sizeof(way[0]); i++) {
		struct sl_trial_options opt = { .workload = file(plain), .source = { .policy = "easy" }, .sim = way[i] };

		assert_true(simulate_both(&opt, "a way").asked > 1);
	}
	assert_true(simulate_both(&(struct sl_trial_options) { .workload = file(plain), .source = { .policy = "easy" },
		.workload_options = { .overrun = SL_OVERRUN_STAYS } }, "outstay").asked > 1);
}

/* -- who promises ---------------------------------------------------------------- */

static void easy_promises_with_its_options_as_they_come(void **state)
{
	static const char *const other[] = {
		"easy,window=100", "easy,backfill_order=sjbf", "easy,max_job_user=5", "easy,min_age_reserve=10", "conservative,reserved=2",
		"conservative,window=50", "fcfs,window=100", "predictive,window=100", "predictive,predictor=last_two",
	};

	(void) state;
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		struct sl_trial_options opt = { .workload = file(plain), .source = { .policy = other[i] } };
		struct outcome o = simulate_both(&opt, other[i]);

		if (o.promised || o.asked < 2)
			fail_msg("%s: %d, asked %llu times", other[i], o.promised, (unsigned long long) o.asked);
	}
}

#define EASY_LOOP "for job in c:queue() do if p.head then p:backfill(job) elseif not p:start(job) then p:reserve(job) end end"

static struct outcome simulate_text(const char *lua)
{
	struct sl_bundle_text text = { "mine", lua };
	struct sl_trial_options opt = { .workload = file(plain),
		.source = { .policy = "mine", .text = &text, .texts = 1 } };

	return simulate_both(&opt, lua);
}

static void a_policy_that_settles_or_has_a_say_by_other_means_is_asked(void **state)
{
	static const char *const policy[] = {
		"return { api = 1, name = 'mine', decide = function(c, p) " EASY_LOOP " p:settle() end }",
		"return { api = 1, name = 'mine', decide = function(c, p) " EASY_LOOP " end }",
		"local e = require 'easy' return { api = 1, name = 'mine', options = e.options,"
		"decide = function(...) e.decide(...) end }",
		"local e = require 'easy' return { api = 1, name = 'mine', options = e.options,"
		"decide = function(...) return e.decide(...) end }",
		"return { api = 1, name = 'mine', decide = function(c, p) " EASY_LOOP " p:settle('easy') end,"
		"admit = function() return true end }",
		"return { api = 1, name = 'mine', decide = function(c, p) " EASY_LOOP " p:settle('easy') end,"
		"rank = function(job) return -job.id end }",
	};

	(void) state;
	for (size_t i = 0; i < sizeof(policy) / sizeof(policy[0]); i++) {
		struct outcome o = simulate_text(policy[i]);

		if (o.rc || o.asked < 2)
			fail_msg("policy %zu: %s, asked %llu times", i, o.err.text, (unsigned long long) o.asked);
	}
	assert_int_equal(simulate_text("return { api = 1, name = 'mine', decide = function(c, p) " EASY_LOOP
				       " p:settle('easy') end }").asked, 1);
}

/* One that orders its jobs by their users' past, and one that lets nobody overtake, are asked once, too. */
static void policies_with_a_rule_of_their_own_are_asked_once(void **state)
{
	static const char *const policy[] = { "fcfs", "predictive", "predictive,slowdown=0,guard_wait=50", "predictive,predictor=limit" };

	(void) state;
	for (size_t i = 0; i < sizeof(policy) / sizeof(policy[0]); i++) {
		struct sl_trial_options opt = { .workload = file(plain), .source = { .policy = policy[i] } };
		struct outcome o = simulate_both(&opt, policy[i]);

		if (o.rc || o.asked != 1)
			fail_msg("%s: %s, asked %llu times", policy[i], o.err.text, (unsigned long long) o.asked);
	}
}

static void an_order_is_checked_where_it_is_promised(void **state)
{
	static const char *const wrong[][2] = {
		{ "p:settle('order')", "table expected" }, { "o.size = nil", "size" }, { "o.predictor = 'oracle'", "predictor" },
		{ "o.size = 0/0", "size" }, { "o.patience = 0", "patience" }, { "o.guard_jobs = 1e6", "guard_jobs" },
		{ "o.horizon = -1", "horizon" }, { "o.reservations = 0", "reservations" }, { "o.guard_wait = '5d'", "guard_wait" },
	};
	char lua[600];

	(void) state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct outcome o;

		snprintf(lua, sizeof(lua), "return { api = 1, name = 'mine', decide = function(c, p) local o = { size = 1, length = 1, "
			 "patience = 9, ageing = 1, predictor = 'limit', slowdown = 0, slowdown_wait = 0, slowdown_horizon = 0, "
			 "slowdown_jobs = 1, horizon = 0, reservations = 1, guard_wait = 0, guard_stretch = 0, guard_jobs = 1 } "
			 "%s p:settle('order', o) end }", wrong[i][0]);
		o = simulate_text(lua);
		if (o.rc != -1 || !strstr(o.err.text, wrong[i][1]))
			fail_msg("%s: %d, %s", wrong[i][0], o.rc, o.err.text);
	}
}

static void no_other_rule_can_be_promised(void **state)
{
	struct outcome o = simulate_text("return { api = 1, name = 'mine', decide = function(c, p) p:settle('tetris') end }");

	(void) state;
	assert_int_equal(o.rc, -1);
	assert_non_null(strstr(o.err.text, "settle: expected \"fcfs\", \"easy\", \"conservative\", \"order\", \"full\" or nothing, got \"tetris\""));
}

/* The last comes first, by this one's word: what it promised is done, and no core is given twice (check). */
static void who_lies_gets_what_he_promised(void **state)
{
	struct sl_bundle_text text = { "mine", "return { api = 1, name = 'mine', decide = function(c, p)\n"
		"local jobs = {} for job in c:queue() do table.insert(jobs, 1, job) end\n"
		"for _, job in ipairs(jobs) do p:start(job) end p:settle('easy') end }" };
	struct sl_trial_options opt = { .workload = file(plain), .source = { .policy = "mine", .text = &text, .texts = 1 } };
	struct outcome o = simulate(&opt, false);

	(void) state;
	assert_int_equal(o.rc, 0);
	assert_int_equal(o.asked, 1);
	assert_int_equal(o.result.unfinished, 0);
}

/* -- at random --------------------------------------------------------------------- */

/* Jobs that are more than a count of cores: few, so that there is a pool before and after them. */
static void put_oddity(struct text *t)
{
	static const char *const more[] = {
		"\"flags\": [\"CONTIGUOUS\"]", "\"flags\": [\"EXCLUSIVE\"]", "\"shapes\": [{\"num_tasks\": 1}]", "\"time_min\": 5",
		"\"features\": \"x\"", "\"ntasks_per_node\": 2", "\"array_job_id\": 1, \"array_max_running\": 1",
		"\"ntasks_per_core\": 1", "\"pn_min_cpus\": 3", "\"flags\": [\"OVERCOMMIT\"]", "\"max_cpus\": 2", "\"min_nodes\": 2",
		"\"begin_time\": 1000200", "\"deadline\": 1000400", "\"flags\": [\"OVERSUBSCRIBE\"]", "\"req_nodes\": \"n1\"",
	};

	put(t, ", %s", more[below(sizeof(more) / sizeof(more[0]))]);
}

static void put_job(struct text *t, uint32_t id, uint32_t cores, uint32_t span, bool oddities)
{
	int64_t run = between(1, one_in(3) ? 20 : 300), limit = run + (one_in(3) ? 0 : between(-50, 300));
	uint32_t tasks = 1 + below(one_in(5) ? cores + 1 : cores / 2 + 1), cpus = one_in(6) ? 2 : 1;

	put(t, "{\"id\": %u, \"submit_time\": %u, \"runtime_s\": %lld, \"user\": \"u%u\", \"account\": \"a%u\", \"min_cpus\": %u",
	    id, 1000000 + below(span), (long long) run, id % 7, id % 3, tasks * cpus);
	if (one_in(5))
		put(t, ", \"cpus_per_task\": %u", cpus);
	else
		put(t, ", \"num_tasks\": %u, \"cpus_per_task\": %u", tasks, cpus);
	if (!oddities || !one_in(20))
		put(t, ", \"time_limit\": %lld", (long long) (limit > 0 ? limit : 1));
	if (oddities && one_in(12))
		put_oddity(t);
	put(t, "}");
}

static void put_workload(struct text *t)
{
	uint32_t jobs = 1 + below(one_in(4) ? MOST_JOBS : 40), cores = 1 + below(one_in(2) ? 8 : 40);
	uint32_t span = 1 + below(one_in(4) ? 30 : 60 * jobs);
	bool oddities = one_in(4);

	t->n = 0;
	put(t, "{\"meta\": {\"now\": 1000000}, \"nodes\": [{\"name\": \"n1\", \"cores\": %u, \"threads\": %u}], \"partitions\": ["
	    "{\"name\": \"all\", \"nodes\": \"n1\", \"flags\": [\"UP\", \"DEFAULT\"]%s}], \"jobs\": [", cores,
	    one_in(5) ? 2 : 1, one_in(8) ? ", \"max_time\": 250" : "");
	for (uint32_t i = 1; i <= jobs; i++) {
		put_job(t, i, cores, span, oddities);
		put(t, i < jobs ? ", " : "]}");
	}
}

/* Policies, each of which says by plan:settle() when it need not be asked; those of a name of their own have a rank. */
static const char *const settling[] = {
	"fcfs", "conservative", "conservative", "conservative,reserved=2", "critical", "predictive", "predictive,slowdown=1,slowdown_wait=20,slowdown_jobs=1",
	"predictive,predictor=last_two,guard_wait=60", "predictive,predictor=limit,reservations=1,horizon=1000",
	"predictive,window=3,size=2,ageing=2", "fcfs,reserve=false", "predictive,guard_wait=100,guard_jobs=2,guard_stretch=0.5",
	"predictive,guard_wait=30,slowdown=0,reservations=3", "predictive,slowdown=0.5,slowdown_wait=5,slowdown_jobs=2,slowdown_horizon=50,horizon=60",
	"predictive,predictor=limit,guard_wait=40,guard_stretch=1,reservations=1", "predictive,slowdown_wait=1,slowdown=0.1,guard_wait=200,horizon=0",
	"predictive,guard_load=1,guard_wait=50", "predictive,guard_bypass=2", "early", "aged", "full",
};
static const struct sl_bundle_text with_rank[] = {
	{ "early", "return { api = 1, name = 'early', rank = function(job) return -job.time_limit end }" },
	{ "aged", "return { api = 1, name = 'aged', rank = function(job) return (job.waited / job.time_limit) ^ 3 * job.cpus end }" },
	{ "full", "return { api = 1, name = 'full', rank = function(job) return job.id end, decide = function(c, p)\n"
	  "for job in c:queue() do p:start(job) end p:settle('full') end }" },
};

static void a_random_pool_is_as_if_policies_that_settle_were_asked(void **state)
{
	uint64_t seed = number_from("SL_SEED", 1), runs = rounds_of(500), cycles = 0, asked = 0;
	static struct text text;

	(void) state;
	for (uint64_t i = seed; i < seed + runs; i++) {
		const char *policy = settling[i % (sizeof(settling) / sizeof(settling[0]))];
		struct sl_trial_options opt = { .source = { .policy = policy, .text = with_rank, .texts = 3 } };
		struct outcome o;
		char what[120];

		failing_seed = random_state = i;
		put_workload(&text);
		opt.workload = file(text.buf);
		opt.workload_options.overrun = one_in(3) ? SL_OVERRUN_RAISES : SL_OVERRUN_ENDS;
		if (one_in(3))
			opt.workload_options.machine = "5x8c";
		snprintf(what, sizeof(what), "SL_SEED=%llu (%s)", (unsigned long long) i, policy);
		o = simulate_both(&opt, what);
		if (o.rc && !strstr(o.err.text, "starts none") && !strstr(o.err.text, "no job") && !strstr(o.err.text, "no node"))
			fail_msg("%s: %s (%s)", what, o.err.text, path);
		cycles += o.result.cycles;
		asked += o.asked;
	}
	failing_seed = 0;
	print_message("# %llu workloads, %llu cycles, asked at %llu\n", (unsigned long long) runs, (unsigned long long) cycles,
		      (unsigned long long) asked);
	assert_true(asked * 5 <= cycles * 4);
}

static void a_random_pool_is_as_if_the_policy_were_asked(void **state)
{
	uint64_t seed = number_from("SL_SEED", 1), runs = rounds_of(1000), cycles = 0, asked = 0, jobs = 0;
	static const char *const estimate[] = { "user", "user", "exact", "x2.5" };
	static struct text text;

	(void) state;
	for (uint64_t i = seed; i < seed + runs; i++) {
		struct sl_trial_options opt = { .source = { .policy = "easy" } };
		struct outcome o;
		char what[40];

		failing_seed = random_state = i;
		put_workload(&text);
		opt.workload = file(text.buf);
		opt.workload_options.overrun = one_in(3) ? SL_OVERRUN_RAISES : one_in(10) ? SL_OVERRUN_STAYS : SL_OVERRUN_ENDS;
		opt.workload_options.estimate = estimate[below(4)];
		snprintf(what, sizeof(what), "SL_SEED=%llu", (unsigned long long) i);
		o = simulate_both(&opt, what);
		if (o.rc && !strstr(o.err.text, "starts none") && !strstr(o.err.text, "no job"))
			fail_msg("%s: %s (%s)", what, o.err.text, path);
		jobs += o.jobs;
		cycles += o.result.cycles;
		asked += o.asked;
	}
	failing_seed = 0;
	print_message("# %llu workloads, %llu jobs, %llu cycles, asked at %llu\n", (unsigned long long) runs,
		      (unsigned long long) jobs, (unsigned long long) cycles, (unsigned long long) asked);
	assert_true(asked * 2 <= cycles);
}

static int set_up(void **state)
{
	(void) state;
	return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
	if (failing_seed)
		return say_seed(state);
	if (*path)
		unlink(path);
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_asked_once_and_the_schedule_is_easys),
		cmocka_unit_test(what_the_head_leaves_goes_to_one),
		cmocka_unit_test(what_is_more_than_a_count_of_cores_is_asked_about),
		cmocka_unit_test(it_decides_again_when_the_odd_one_has_gone),
		cmocka_unit_test(who_was_started_by_it_is_there_when_the_policy_is_asked_again),
		cmocka_unit_test(other_ways_to_simulate_ask_each_time),
		cmocka_unit_test(easy_promises_with_its_options_as_they_come),
		cmocka_unit_test(a_policy_that_settles_or_has_a_say_by_other_means_is_asked),
		cmocka_unit_test(policies_with_a_rule_of_their_own_are_asked_once),
		cmocka_unit_test(an_order_is_checked_where_it_is_promised),
		cmocka_unit_test(no_other_rule_can_be_promised),
		cmocka_unit_test(who_lies_gets_what_he_promised),
		cmocka_unit_test(a_random_pool_is_as_if_the_policy_were_asked),
		cmocka_unit_test(a_random_pool_is_as_if_policies_that_settle_were_asked),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
