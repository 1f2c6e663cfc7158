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

#include "t/random.h"
#include "t/sim/both.h"

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
	static const char *const policy[] = { "fcfs", "predictive", "predictive,slowdown=0,guard_wait=50", "predictive,predictor=limit",
		"critical", "critical,fill=critical,patience=0" };

	(void) state;
	for (size_t i = 0; i < sizeof(policy) / sizeof(policy[0]); i++) {
		struct sl_trial_options opt = { .workload = file(plain), .source = { .policy = policy[i] } };
		struct outcome o = simulate_both(&opt, policy[i]);

		if (o.rc || o.asked != 1)
			fail_msg("%s: %s, asked %llu times", policy[i], o.err.text, (unsigned long long) o.asked);
	}
}

/* Whatever the machine and the jobs are, predictive's plans are those of its rule. */
static void predictive_is_asked_once_on_other_machines_too(void **state)
{
	static const char *const policy[] = { "predictive", "predictive,guard_wait=20,reservations=1", "predictive,shapes=false",
		"predictive,slowdown=0.1,slowdown_wait=1,horizon=30" };

	(void) state;
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		for (size_t k = 0; k < sizeof(policy) / sizeof(policy[0]); k++) {
			struct sl_trial_options opt = { .workload = file(odd[i].text), .source = { .policy = policy[k] } };
			struct outcome o = simulate_both(&opt, odd[i].what);

			if (!strcmp(odd[i].what, "two nodes") && o.asked != 1)
				fail_msg("%s, %s: asked %llu times", policy[k], odd[i].what, (unsigned long long) o.asked);
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
	assert_non_null(strstr(o.err.text, "settle: expected \"fcfs\", \"easy\", \"conservative\", \"order\", \"critical\", \"full\" or nothing, got \"tetris\""));
}

static void a_window_is_checked_where_it_is_promised(void **state)
{
	static const char *const wrong[][2] = {
		{ "3", "table expected" }, { "{}", "window: expected a number, got nil" }, { "{ window = 0 }", "window: expected a number from" },
		{ "{ window = 1001 }", "window: expected a number from" },
	};
	char lua[200];

	(void) state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct outcome o;

		snprintf(lua, sizeof(lua), "return { api = 1, name = 'mine', decide = function(c, p) p:settle('conservative', %s) end }", wrong[i][0]);
		o = simulate_text(lua);
		if (o.rc != -1 || !strstr(o.err.text, wrong[i][1]))
			fail_msg("%s: %d, %s", wrong[i][0], o.rc, o.err.text);
	}
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

/* Policies, each of which says by plan:settle() when it need not be asked; those of a name of their own have a rank. */
static const char *const settling[] = {
	"fcfs", "conservative", "conservative", "conservative,reserved=2", "critical", "critical,fill=critical", "critical,threshold=1000",
	"critical,patience=0.1", "critical,guard_wait=30,patience=0", "critical,guard_wait=40,guard_jobs=1,guard_stretch=0.5,threshold=0.3",
	"critical,place=last", "critical,guard_wait=0,patience=0.02,threshold=2,fill=critical", "predictive", "predictive,slowdown=1,slowdown_wait=20,slowdown_jobs=1",
	"predictive,predictor=last_two,guard_wait=60", "predictive,predictor=limit,reservations=1,horizon=1000",
	"predictive,window=3,size=2,ageing=2", "fcfs,reserve=false", "predictive,guard_wait=100,guard_jobs=2,guard_stretch=0.5",
	"predictive,guard_wait=30,slowdown=0,reservations=3", "predictive,slowdown=0.5,slowdown_wait=5,slowdown_jobs=2,slowdown_horizon=50,horizon=60",
	"predictive,predictor=limit,guard_wait=40,guard_stretch=1,reservations=1", "predictive,slowdown_wait=1,slowdown=0.1,guard_wait=200,horizon=0",
	"predictive,guard_load=1,guard_wait=50", "predictive,guard_bypass=2", "early", "aged", "full", "windowed", "windowed",
};
static const struct sl_bundle_text with_rank[] = {
	{ "early", "return { api = 1, name = 'early', rank = function(job) return -job.time_limit end }" },
	{ "aged", "return { api = 1, name = 'aged', rank = function(job) return (job.waited / job.time_limit) ^ 3 * job.cpus end }" },
	{ "full", "return { api = 1, name = 'full', rank = function(job) return job.id end, decide = function(c, p)\n"
	  "for job in c:queue() do p:start(job) end p:settle('full') end }" },
	{ "windowed", "return { api = 1, name = 'windowed', decide = function(c, p)\n"
	  "for job in c:queue(3) do if not p:start(job) then p:reserve(job) end end p:settle('conservative', { window = 3 }) end }" },
};

static void a_random_pool_is_as_if_policies_that_settle_were_asked(void **state)
{
	uint64_t seed = number_from("SL_SEED", 1), runs = rounds_of(600), cycles = 0, asked = 0;
	static struct text text;

	(void) state;
	for (uint64_t i = seed; i < seed + runs; i++) {
		const char *policy = settling[i % (sizeof(settling) / sizeof(settling[0]))];
		struct sl_trial_options opt = { .source = { .policy = policy, .text = with_rank, .texts = sizeof(with_rank) / sizeof(with_rank[0]) } };
		struct outcome o;
		char what[120];

		failing_seed = random_state = i;
		put_workload(&text, MOST_JOBS);
		opt.workload = file(text.buf);
		opt.workload_options.overrun = one_in(3) ? SL_OVERRUN_RAISES : SL_OVERRUN_ENDS;
		if (one_in(3))
			opt.workload_options.machine = "5x8c";
		snprintf(what, sizeof(what), "SL_SEED=%llu (%s)", (unsigned long long) i, policy);
		o = simulate_both(&opt, what);
		if (o.rc && !strstr(o.err.text, "starts none") && !strstr(o.err.text, "no job") && !strstr(o.err.text, "no node"))
			fail_msg("%s: %s (%s)", what, o.err.text, both_path());
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
		put_workload(&text, MOST_JOBS);
		opt.workload = file(text.buf);
		opt.workload_options.overrun = one_in(3) ? SL_OVERRUN_RAISES : one_in(10) ? SL_OVERRUN_STAYS : SL_OVERRUN_ENDS;
		opt.workload_options.estimate = estimate[below(4)];
		snprintf(what, sizeof(what), "SL_SEED=%llu", (unsigned long long) i);
		o = simulate_both(&opt, what);
		if (o.rc && !strstr(o.err.text, "starts none") && !strstr(o.err.text, "no job"))
			fail_msg("%s: %s (%s)", what, o.err.text, both_path());
		jobs += o.jobs;
		cycles += o.result.cycles;
		asked += o.asked;
	}
	failing_seed = 0;
	print_message("# %llu workloads, %llu jobs, %llu cycles, asked at %llu\n", (unsigned long long) runs,
		      (unsigned long long) jobs, (unsigned long long) cycles, (unsigned long long) asked);
	assert_true(asked * 2 <= cycles);
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
		cmocka_unit_test(predictive_is_asked_once_on_other_machines_too),
		cmocka_unit_test(an_order_is_checked_where_it_is_promised),
		cmocka_unit_test(no_other_rule_can_be_promised),
		cmocka_unit_test(a_window_is_checked_where_it_is_promised),
		cmocka_unit_test(who_lies_gets_what_he_promised),
		cmocka_unit_test(a_random_pool_is_as_if_the_policy_were_asked),
		cmocka_unit_test(a_random_pool_is_as_if_policies_that_settle_were_asked),
	};

	return cmocka_run_group_tests(tests, both_set_up, both_tear_down);
}
