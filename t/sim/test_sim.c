/* SPDX-License-Identifier: MIT */
/*
 * The simulator: cases worked by hand, and thousands of random workloads, whose
 * schedules are checked by code that knows no timeline.  SL_SEED and SL_ROUNDS choose.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "check/check.h"
#include "t/random.h"
#include "sim/audit.h"
#include "sim/trial.h"

static char dir[] = "/tmp/test_sim.XXXXXX";
static char path[64];

/* A workload in a file of its own, read by the next trial. */
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

struct told {
	struct sl_result result;
	int rc;
	int64_t start[64], end[64];	/* by row; counted from the origin, -1: never */
	struct sl_error err;
};

static struct told simulate_with(const struct sl_trial_options *opt)
{
	struct told told = { .rc = -1 };
	struct sl_trial t;

	if (!sl_trial_open(&t, opt, &told.err)) {
		told.rc = sl_trial_go(&t, true, &told.err);
		told.result = t.result;
		for (uint32_t i = 0; opt->sim.keep_schedule && i < t.workload->snap.job.rows && i < 64; i++) {
			const struct sl_sim_job *j = &sl_sim_schedule(t.sim)[i];

			told.start[i] = j->nodes ? j->start_s - t.workload->origin_s : -1;
			told.end[i] = j->end_s ? j->end_s - t.workload->origin_s : -1;
		}
	}
	sl_trial_close(&t);
	return told;
}

#define SIMULATE_ON(machine_, policy_, text_, ...) simulate_with(&(struct sl_trial_options) {			\
	.workload = file(text_), .source = { .policy = policy_ }, .workload_options = { .machine = machine_ },	\
	.sim = { .keep_schedule = true, .check = true, __VA_ARGS__ } })
#define SIMULATE(...) SIMULATE_ON("4x1c", __VA_ARGS__)

#define JOB(id, submit, cores, limit, run)								\
	"{\"id\": " #id ", \"submit_time\": " #submit ", \"min_cpus\": " #cores ", \"num_tasks\": " #cores	\
	", \"time_limit\": " #limit ", \"runtime_s\": " #run "}"

static void assert_starts(const struct told *t, const int64_t *start, uint32_t jobs)
{
	if (t->rc)
		fail_msg("%s", t->err.text);
	for (uint32_t i = 0; i < jobs; i++)
		if (t->start[i] != start[i])
			fail_msg("job %u: starts at %lld, expected %lld", i + 1, (long long) t->start[i],
				 (long long) start[i]);
}

#define STARTS(told, ...) assert_starts(&(told), (const int64_t[]) { __VA_ARGS__ },			\
					sizeof((const int64_t[]) { __VA_ARGS__ }) / sizeof(int64_t))

/* -- by hand ----------------------------------------------------------------- */

/* 3 of 4 cores are taken until 100; the wide one waits; the short one fits before it,
 * the long one does not. */
static const char holes[] = "{\"jobs\": [" JOB(1, 0, 3, 100, 100) "," JOB(2, 1, 4, 50, 50) ","
	JOB(3, 2, 1, 60, 60) "," JOB(4, 3, 1, 200, 200) "]}";

static void easy_fills_the_hole_before_the_head_and_nothing_else(void **state)
{
	struct told t = SIMULATE("easy", holes);

	(void) state;
	STARTS(t, 0, 100, 2, 150);
	assert_int_equal(t.result.makespan_s, 350);
	assert_int_equal(t.result.jobs, 4);
	assert_int_equal(t.result.unfinished, 0);
}

/* Two cores are free until the head's time, one then: for those behind its first follower, too, who are only
 * counted. */
static void easy_starts_whom_the_last_core_beside_the_head_suffices(void **state)
{
	struct told t = SIMULATE_ON("1x5c", "easy", "{\"jobs\": [" JOB(1, 0, 3, 100, 100) "," JOB(2, 1, 4, 50, 50) ","
		JOB(3, 1, 2, 200, 200) "," JOB(4, 1, 2, 150, 150) "," JOB(5, 1, 1, 200, 200) "," JOB(6, 1, 1, 99, 99) "]}");

	(void) state;
	STARTS(t, 0, 100, 150, 150, 1, 1);
}

static void fcfs_lets_nobody_overtake(void **state)
{
	struct told t = SIMULATE("fcfs", holes);

	(void) state;
	STARTS(t, 0, 100, 150, 150);
}

static void who_ends_makes_room_for_who_arrives_in_the_same_second(void **state)
{
	struct told t = SIMULATE("fcfs", "{\"jobs\": [" JOB(1, 0, 4, 10, 10) "," JOB(2, 10, 4, 10, 10) "]}");

	(void) state;
	STARTS(t, 0, 10);
}

/* Both end at 100.  In one pass for the instant, the head takes all four cores.  In a
 * pass after the first of them, the third job still fits beside the head. */
static const char two_ends[] = "{\"jobs\": [" JOB(1, 0, 2, 100, 100) "," JOB(2, 0, 2, 110, 100) ","
	JOB(3, 1, 4, 50, 50) "," JOB(4, 2, 2, 10, 10) "]}";

static void one_pass_an_instant_or_one_for_each_end(void **state)
{
	struct told once = SIMULATE("easy", two_ends), each = SIMULATE("easy", two_ends, .each_end = true);

	(void) state;
	STARTS(once, 0, 0, 100, 150);
	STARTS(each, 0, 0, 110, 100);
}

/* The first job ends at 10, long before its walltime, and the third arrives.  Seen before that it fits in
 * beside the head, which was to begin at 30. */
static const char end_and_arrival[] = "{\"jobs\": [" JOB(1, 0, 3, 30, 10) "," JOB(2, 1, 4, 50, 50) ","
	JOB(3, 10, 1, 20, 20) "]}";

static void arrivals_may_be_seen_before_what_ends_in_the_same_second(void **state)
{
	struct told after = SIMULATE("easy", end_and_arrival);
	struct told before = SIMULATE("easy", end_and_arrival, .arrivals_first = true);

	(void) state;
	STARTS(after, 0, 10, 60);
	STARTS(before, 0, 30, 10);
}

static void at_intervals_decisions_wait_for_the_next_tick(void **state)
{
	struct told t = SIMULATE("easy", holes, .interval_s = 30);

	(void) state;
	STARTS(t, 0, 120, 30, 180);
}

static void what_was_decided_starts_after_the_latency(void **state)
{
	struct told t = SIMULATE("easy", holes, .interval_s = 30, .latency_s = 5);

	(void) state;
	STARTS(t, 5, 125, 35, 185);
}

/*
 * Job 1 ends at 10 instead of 100.  Compressed, as pyss does it, job 4 would keep its
 * time (31) until it moves to 10, and job 3 would come at 81.  Here the plan is made
 * anew in the order of the queue, as in Slurm: job 3 at 31, job 4 after it.
 */
static void conservative_makes_its_plan_anew_when_a_job_ends_early(void **state)
{
	struct told t = SIMULATE("conservative", "{\"jobs\": [" JOB(1, 0, 2, 100, 10) "," JOB(2, 1, 2, 30, 30) ","
				 JOB(3, 2, 4, 100, 100) "," JOB(4, 3, 2, 50, 50) "]}");

	(void) state;
	STARTS(t, 0, 1, 31, 131);
}

static void a_job_that_waits_for_a_reservation_to_end_starts_when_it_does(void **state)
{
	static const char text[] = "{\"meta\": {\"now\": 1000}, \"nodes\": [{\"name\": \"n1\", \"cores\": 4}],"
		"\"partitions\": [{\"name\": \"p\", \"nodes\": \"n1\", \"flags\": [\"UP\", \"DEFAULT\"]}],"
		"\"reservations\": [{\"name\": \"r\", \"nodes\": \"n1\", \"start_time\": 1050, \"end_time\": 1500}],"
		"\"jobs\": [{\"id\": 1, \"partition\": \"p\", \"min_cpus\": 1, \"time_limit\": 40, \"runtime_s\": 40},"
		"{\"id\": 2, \"partition\": \"p\", \"min_cpus\": 1, \"time_limit\": 60, \"runtime_s\": 60}]}";
	struct sl_trial_options opt = { .workload = file(text), .source = { .policy = "easy" },
		.sim = { .keep_schedule = true, .check = true } };
	struct told t = simulate_with(&opt);

	(void) state;
	STARTS(t, 0, 500);
}

static void a_policy_that_starts_nothing_is_an_error_with_the_job(void **state)
{
	struct sl_bundle_text text = { "idle", "return { api = 1, name = 'idle', decide = function() end }" };
	struct sl_trial_options opt = { .workload = file(holes), .workload_options = { .machine = "4x1c" },
		.source = { .policy = "idle", .text = &text, .texts = 1 } };
	struct told t = simulate_with(&opt);

	(void) state;
	assert_int_equal(t.rc, -1);
	assert_non_null(strstr(t.err.text, "starts none of 4 queued jobs (the first: job 1)"));
}

static void jobs_that_the_policy_refuses_for_good_are_told_as_unfinished(void **state)
{
	struct sl_bundle_text text = { "picky", "return { api = 1, name = 'picky', decide = function(c, p)\n"
		"for job in c:queue() do if job.id ~= 3 then p:start(job) end end end }" };
	struct sl_trial_options opt = { .workload = file(holes), .workload_options = { .machine = "4x1c" },
		.source = { .policy = "picky", .text = &text, .texts = 1 }, .sim = { .keep_schedule = true } };
	struct told t = simulate_with(&opt);

	(void) state;
	assert_int_equal(t.rc, 0);
	assert_int_equal(t.result.unfinished, 1);
	assert_false(t.result.partial);
	assert_int_equal(t.start[2], -1);
}

static void a_settled_queue_is_not_decided_about_until_there_is_room(void **state)
{
	/* the first pass starts job 1; 2 and then 4 have no room until 100; 3 has, at 2, and 4 gets it then */
	struct sl_bundle_text text = { "calm", "local asked = 0\n"
		"return { api = 1, name = 'calm', decide = function(c, p) asked = asked + 1\n"
		"if c.source == 'sim' and asked > 4 then error('asked at ' .. c.now - c.origin) end\n"
		"for job in c:queue() do p:start(job) end p:settle() end }" };
	struct sl_trial_options opt = { .workload_options = { .machine = "1x4c" }, .sim = { .keep_schedule = true },
		.source = { .policy = "calm", .text = &text, .texts = 1 }, .workload = file("{\"jobs\": ["
		JOB(1, 0, 3, 100, 100) "," JOB(2, 1, 4, 50, 50) "," JOB(3, 2, 1, 60, 60) "," JOB(4, 3, 1, 200, 200) "]}") };
	struct told t = simulate_with(&opt);

	(void) state;
	STARTS(t, 0, 262, 2, 62);
	assert_int_equal(t.result.cycles, 7);
}

/*
 * Until 100, when job 4 is to start, nobody is to run on who would keep it from that.  At 10 something is given back
 * that was to be free by then anyway, at 20 and 80 something that was not.
 */
static void a_settled_queue_is_not_decided_about_while_all_would_delay_the_head(void **state)
{
	struct sl_bundle_text text = { "patient", "local never = { [1] = true, [3] = true, [10] = true, [21] = true }\n"
		"return { api = 1, name = 'patient', decide = function(c, p)\n"
		"if c.source == 'sim' and never[c.now - c.origin] then error('asked at ' .. c.now - c.origin) end\n"
		"for job in c:queue() do\n"
		"if p.head then p:backfill(job) elseif not p:start(job) then p:reserve(job) end\n"
		"end p:settle() end }" };
	struct sl_trial_options opt = { .workload_options = { .machine = "1x5c" }, .sim = { .keep_schedule = true },
		.source = { .policy = "patient", .text = &text, .texts = 1 }, .workload = file("{\"jobs\": ["
		JOB(1, 0, 2, 100, 100) "," JOB(2, 0, 1, 300, 20) "," JOB(3, 0, 1, 90, 10) "," JOB(4, 1, 4, 50, 50) ","
		JOB(5, 2, 1, 200, 60) "," JOB(6, 3, 1, 200, 60) "," JOB(7, 21, 1, 200, 60) "]}") };
	struct told t = simulate_with(&opt);

	(void) state;
	STARTS(t, 0, 0, 0, 100, 20, 80, 140);
}

/* Job 1 has one core of n1, which keeps jobs off that do not share: when it ends early, they have four. */
static void a_core_that_was_shared_gives_back_its_node(void **state)
{
	static const char text[] = "{\"meta\": {\"now\": 1000}, \"nodes\": [{\"name\": \"n1\", \"cores\": 4},"
		"{\"name\": \"n2\", \"cores\": 4}, {\"name\": \"n3\", \"cores\": 4}], \"partitions\": ["
		"{\"name\": \"p\", \"nodes\": \"n[1-3]\", \"flags\": [\"UP\", \"DEFAULT\"]},"
		"{\"name\": \"s\", \"nodes\": \"n1\", \"flags\": [\"UP\", \"FORCE\"], \"oversubscribe\": 2}], \"jobs\": ["
		"{\"id\": 1, \"partition\": \"s\", \"submit_time\": 1000, \"min_cpus\": 1, \"num_tasks\": 1,"
		" \"time_limit\": 300, \"runtime_s\": 20}," JOB(2, 1000, 7, 100, 100) "," JOB(3, 1001, 8, 50, 50) ","
		JOB(4, 1002, 1, 50, 50) "," JOB(5, 1003, 2, 200, 60) "]}";
	struct sl_trial_options opt = { .workload = file(text), .source = { .policy = "easy" },
		.sim = { .keep_schedule = true, .check = true } };
	struct told t = simulate_with(&opt);

	(void) state;
	STARTS(t, 0, 0, 100, 2, 20);
}

/* Job 4 is between those that are passed over in two walks, and in neither of them. */
static void who_was_not_looked_at_is_not_refused(void **state)
{
	struct sl_bundle_text text = { "walks", "return { api = 1, name = 'walks', decide = function(c, p)\n"
		"local all, some, small = c:queue(), c:queue(2), nil\n"
		"for job in all do\n"
		"if not p.head and not p:start(job) then p:reserve(job) some() p:backfill_rest(some) end\n"
		"if job.id == 4 then small = job break end end\n"
		"p:backfill_rest(all)\n"
		"if small and p:state(small) == 'open' then p:backfill(small) end end }" };
	struct sl_trial_options opt = { .workload_options = { .machine = "1x4c" }, .sim = { .keep_schedule = true },
		.source = { .policy = "walks", .text = &text, .texts = 1 }, .workload = file("{\"jobs\": ["
		JOB(1, 0, 3, 100, 100) "," JOB(2, 0, 4, 50, 50) "," JOB(3, 0, 4, 50, 50) "," JOB(4, 0, 1, 50, 50) ","
		JOB(5, 0, 4, 50, 50) "]}") };
	struct told t = simulate_with(&opt);

	(void) state;
	assert_int_equal(t.start[3], 0);
}

/* What conservative says of the queue before 50 s is not what the policy that calls it does at 60 s. */
static void a_policy_that_another_one_calls_does_not_settle_the_queue(void **state)
{
	static const char jobs[] = "{\"jobs\": [" JOB(1, 0, 3, 100, 100) "," JOB(2, 1, 3, 50, 50) ","
		JOB(3, 2, 4, 50, 50) "," JOB(4, 3, 1, 300, 300) "," JOB(5, 60, 4, 10, 10) "]}";
	static const char *const call[] = { "by.decide(c, p, opt)", "return by.decide(c, p, opt)",
					    "pcall(by.decide, c, p, opt)" };

	(void) state;
	for (int i = 0; i < 3; i++) {
		char policy[600];
		struct sl_bundle_text text = { "late", policy };
		struct sl_trial_options opt = { .workload_options = { .machine = "1x4c" }, .sim = { .keep_schedule = true },
			.source = { .policy = "late", .text = &text, .texts = 1 }, .workload = file(jobs) };
		struct told t;

		snprintf(policy, sizeof(policy), "local easy, conservative = require 'easy', require 'conservative'\n"
			 "return { api = 1, name = 'late', decide = function(c, p)\n"
			 "local by = c.now - c.origin < 50 and conservative or easy\n"
			 "local opt = require('sched.options').resolve(by, {}, error)\n"
			 "%s end }", call[i]);
		t = simulate_with(&opt);
		assert_int_equal(t.start[3], 60);
	}
}

/* Who was beyond the window has room, and is looked at as soon as anything happens. */
static void a_queue_is_not_settled_when_others_come_into_the_window(void **state)
{
	static const char crowd[] = "{\"jobs\": [" JOB(1, 0, 1, 100, 100) "," JOB(2, 0, 1, 100, 100) ","
		JOB(3, 0, 1, 100, 100) "," JOB(4, 10, 4, 100, 100) "]}";
	struct told t = SIMULATE_ON("1x4c", "easy,window=2", crowd);

	(void) state;
	STARTS(t, 0, 0, 10, 110);
	t = SIMULATE_ON("1x4c", "conservative,window=2", crowd);
	STARTS(t, 0, 0, 10, 110);
}

static void a_job_that_waits_for_its_begin_time_is_not_settled(void **state)
{
	struct told t = SIMULATE_ON("1x4c", "easy", "{\"jobs\": [" JOB(1, 0, 2, 100, 100) ","
		"{\"id\": 2, \"submit_time\": 1, \"min_cpus\": 1, \"num_tasks\": 1, \"time_limit\": 20,"
		" \"runtime_s\": 20, \"begin_time\": 50}," JOB(3, 60, 4, 100, 100) "]}");

	(void) state;
	STARTS(t, 0, 60, 100);
}

static void a_policy_that_fails_ends_the_run_with_the_time_and_the_line(void **state)
{
	struct sl_bundle_text text = { "late", "return { api = 1, name = 'late', decide = function(c, p)\n"
		"for job in c:queue() do if job.time_limit == 200 then error('no') end p:start(job) end end }" };
	struct sl_trial_options opt = { .workload = file(holes), .workload_options = { .machine = "4x1c" },
		.source = { .policy = "late", .text = &text, .texts = 1 } };
	struct told t = simulate_with(&opt);

	(void) state;
	assert_int_equal(t.rc, -1);
	assert_int_equal(t.err.code, SL_ESCRIPT);
	if (!strstr(t.err.text, "at 3 s: ") || !strstr(t.err.text, "late.lua:2: no"))
		fail_msg("%s", t.err.text);
}

static void a_run_that_is_stopped_tells_what_it_has_and_says_partial(void **state)
{
	volatile sig_atomic_t stop = 1;
	struct told t = SIMULATE("easy", holes, .stop = &stop);

	(void) state;
	assert_int_equal(t.rc, 1);
	assert_true(t.result.partial);
	assert_int_equal(t.result.jobs, 0);
	assert_int_equal(t.result.unfinished, 4);
}

static void an_array_is_refused(void **state)
{
	struct told t = SIMULATE("easy", "{\"jobs\": [{\"id\": 7, \"min_cpus\": 1, \"time_limit\": 60, "
				 "\"runtime_s\": 5, \"array_job_id\": 7, \"array_pending\": 3}]}");

	(void) state;
	assert_int_equal(t.rc, -1);
	assert_non_null(strstr(t.err.text, "job 7 stands for 3 tasks of an array"));
}

/* -- at random ----------------------------------------------------------------- */

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

static void put_machine(struct text *t)
{
	static const char *const sharing[] = { "\"UP\"", "\"UP\", \"FORCE\"" };
	bool gpus = one_in(2), memory = one_in(2), resv = one_in(3), shared = one_in(3);
	uint32_t nodes = 1 + below(8);

	put(t, "{\"meta\": {\"now\": 1000000%s}, ", memory ? ", \"select_flags\": [\"MEMORY\"]" : "");
	put(t, "\"nodes\": [");
	for (uint32_t i = 0; i < nodes; i++) {
		put(t, "%s{\"name\": \"n%u\", \"cores\": %u, \"memory\": 8000", i ? ", " : "", i + 1,
		    1u << below(4));
		if (gpus && one_in(2))
			put(t, ", \"gres\": [{\"kind\": \"gpu\", \"count\": %u}]", 1 + below(4));
		put(t, "}");
	}
	put(t, "], \"gres_kinds\": [{\"key\": \"gpu\", \"name\": \"gpu\"}], \"partitions\": ["
	    "{\"name\": \"all\", \"nodes\": \"n[1-%u]\", \"flags\": [\"UP\", \"DEFAULT\"]}, "
	    "{\"name\": \"some\", \"nodes\": \"n[1-%u]\", \"flags\": [%s], \"oversubscribe\": %u}], ", nodes,
	    (nodes + 1) / 2, sharing[shared && one_in(2)], shared ? 2 + below(3) : 1);
	if (resv)
		put(t, "\"reservations\": [{\"name\": \"r\", \"nodes\": \"n%u\", \"start_time\": %u, "
		    "\"end_time\": %u}], ", 1 + below(nodes), 1000000 + below(500), 1000600 + below(500));
}

static void put_job(struct text *t, uint32_t id, bool memory)
{
	int64_t run = between(1, 200);

	put(t, "{\"id\": %u, \"partition\": \"%s\", \"submit_time\": %u, \"runtime_s\": %lld, \"time_limit\": %lld, "
	    "\"user\": \"u%u\", \"uid\": %u", id, one_in(3) ? "some" : "all", below(600), (long long) run,
	    (long long) (run + (one_in(2) ? 0 : between(0, 400))), id % 5, id % 5);
	if (one_in(3)) {
		uint32_t nodes = 1 + below(3);

		put(t, ", \"min_nodes\": %u, \"max_nodes\": %u, \"num_tasks\": %u, \"min_cpus\": %u", nodes, nodes,
		    nodes, nodes);
	} else {
		uint32_t tasks = 1 + below(one_in(4) ? 12 : 4), cpus = one_in(4) ? 2 : 1;

		put(t, ", \"num_tasks\": %u, \"cpus_per_task\": %u, \"min_cpus\": %u", tasks, cpus, tasks * cpus);
	}
	if (memory && one_in(2))
		put(t, ", \"memory_per_node\": %u", 500 + below(4000));
	if (one_in(6))
		put(t, ", \"flags\": [\"CONTIGUOUS\"]");
	else if (one_in(4))
		put(t, ", \"flags\": [\"OVERSUBSCRIBE\"]");
	put(t, "}");
}

static void put_workload(struct text *t)
{
	uint32_t jobs = 1 + below(40);

	t->n = 0;
	put_machine(t);
	put(t, "\"jobs\": [");
	for (uint32_t i = 1; i <= jobs; i++) {
		put_job(t, i, true);
		put(t, i < jobs ? ", " : "]}");
	}
}

/* Everything about a schedule that could differ, in one number. */
static uint64_t digest(const struct sl_trial *t)
{
	const struct sl_sim_job *job = sl_sim_schedule(t->sim);
	const struct sl_stretch *stretch = sl_sim_stretches(t->sim);
	uint64_t h = 1469598103934665603u;
	struct sl_result told;

	assert_return_code(sl_sim_result(t->sim, &told, NULL), 0);
	h = (h ^ told.cycles) * 1099511628211u ^ told.hidden_cycles ^ (uint64_t) told.hidden_max << 32;

	for (uint32_t i = 0; i < t->workload->snap.job.rows; i++) {
		h = (h ^ (uint64_t) job[i].start_s) * 1099511628211u;
		h = (h ^ (uint64_t) job[i].end_s) * 1099511628211u;
		for (uint32_t r = job[i].first_stretch; r < job[i].first_stretch + job[i].stretches; r++)
			h = (h ^ ((uint64_t) stretch[r].first << 32 | stretch[r].count)) * 1099511628211u;
	}
	return h;
}

static uint64_t run_checked(const struct sl_workload *w, const struct sl_bundle *bundle,
			    const struct sl_sim_options *opt, const char *what)
{
	struct sl_error err = { 0 };
	struct sl_limits limits = { 0 };
	struct sl_trial t = { .workload = (struct sl_workload *) w };
	uint64_t h;

	t.script = sl_script_create(bundle, &limits, &err);
	assert_non_null(t.script);
	t.sim = sl_sim_create(w, t.script, opt, &err);
	if (!t.sim || sl_sim_run(t.sim, NULL, &err) < 0) {
		/* Nobody but the reservation's owner fits on the only node that would do. */
		if (t.sim && strstr(err.text, "starts none"))
			goto done;
		fail_msg("%s: %s (workload in %s)", what, err.text, path);
	}
done:
	h = digest(&t);
	sl_sim_destroy(t.sim);
	sl_script_destroy(t.script);
	return h;
}

/* Who looks at plans sees them all, and all of each. */
static int look_at_plan(struct sl_cluster *c, struct sl_plan *p, void *arg, struct sl_error *err)
{
	(void) c; (void) p; (void) arg; (void) err;
	return 0;
}

/* All bundled ones; those that solve integer programs, each in a process, less often. */
static const struct {
	const char *name;
	uint32_t every;
} policies[] = {
	{ "easy", 1 }, { "conservative", 1 }, { "fcfs", 1 }, { "critical", 1 },
	{ "ip_window,branches=20", 50 }, { "auction,max_nodes=20", 50 },
};
#define SETTLING 2	/* so many of them say plan:settle() */
#define POLICIES (sizeof(policies) / sizeof(policies[0]))

static void every_schedule_is_feasible_and_comes_again(void **state)
{
	uint64_t seed = number_from("SL_SEED", 1), runs = rounds_of(1000);
	struct sl_bundle *bundle[POLICIES];
	struct sl_error err = { 0 };
	static struct text text;
	uint64_t jobs = 0;

	(void) state;
	for (size_t p = 0; p < POLICIES; p++) {
		struct sl_bundle_source source = { .policy = policies[p].name };
		struct sl_limits limits = { 0 };

		bundle[p] = sl_bundle_load(&source, &limits, NULL, &err);
		assert_non_null(bundle[p]);
	}
	for (uint64_t i = seed; i < seed + runs; i++) {
		struct sl_workload *w;
		char what[64];

		random_state = i;
		put_workload(&text);
		w = sl_workload_load(file(text.buf), NULL, &err);
		if (!w && strstr(err.text, "no job"))
			continue;
		if (!w)
			fail_msg("SL_SEED=%llu: %s", (unsigned long long) i, err.text);
		jobs += w->snap.job.rows;
		for (size_t p = 0; p < POLICIES; p++) {
			struct sl_sim_options opt = { .check = true, .keep_schedule = true,
				.interval_s = i % 4 ? 0 : 30, .latency_s = i % 8 ? 0 : 7, .each_end = i % 3 == 1 && i % 4 };
			uint64_t h;

			if (i % policies[p].every)
				continue;
			snprintf(what, sizeof(what), "SL_SEED=%llu %s", (unsigned long long) i, policies[p].name);
			h = run_checked(w, bundle[p], &opt, what);
			if (i % 16 == 0 && run_checked(w, bundle[p], &opt, what) != h)
				fail_msg("%s: not the same the second time", what);
			opt.after_pass = look_at_plan;
			if (p < SETTLING && run_checked(w, bundle[p], &opt, what) != h)
				fail_msg("%s: not the same when nothing is passed over", what);
		}
		sl_workload_destroy(w);
	}
	print_message("# %llu workloads, %llu jobs, %zu policies\n", (unsigned long long) runs,
		      (unsigned long long) jobs, POLICIES);
	for (size_t p = 0; p < POLICIES; p++)
		sl_bundle_destroy(bundle[p]);
}

/* -- the check itself ------------------------------------------------------------ */

/* It has the cores of whole nodes but those that it leaves to the system, which nobody else gets. */
static void cores_that_a_job_leaves_to_the_system_are_no_fault_of_the_schedule(void **state)
{
	static const int64_t start[] = { 0, 0, 10 };
	struct told t = SIMULATE_ON("2x4c", "easy", "{\"jobs\": ["
		"{\"id\": 1, \"core_spec\": 1, \"min_cpus\": 3, \"num_tasks\": 3, \"time_limit\": 60, \"runtime_s\": 10},"
		JOB(2, 0, 4, 60, 10) "," JOB(3, 0, 1, 60, 10) "]}");

	(void) state;
	assert_starts(&t, start, 3);
}

struct wrong {
	uint32_t node, cores;
	int64_t start, end;
	const char *text;
};

static void a_schedule_that_is_wrong_is_found_out(void **state)
{
	static const struct wrong wrong[] = {
		{ 0, 1, 0, 10, NULL }, { 0, 1, -5, 5, "before its submission" },
		{ 0, 2, 0, 10, "cores" }, { 0, 1, 0, 500, "its limit is 60" },
		{ 3, 1, 0, 10, "no node row 3" }, { 1, 1, 5, 15, "node n2" },
	};
	struct sl_workload *w = sl_workload_load(file("{\"jobs\": [" JOB(1, 0, 1, 60, 10) "," JOB(2, 0, 1, 60, 10) "]}"),
						 &(struct sl_workload_options) { .machine = "3x1c" }, NULL);
	struct sl_cluster *c = sl_cluster_create(&w->snap, NULL);

	(void) state;
	assert_non_null(c);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct sl_audit *a = sl_audit_create(c, NULL);
		struct sl_place at = { .node = 1, .cores = 1 }, bad = { .node = wrong[i].node, .cores = wrong[i].cores };
		int64_t t = w->origin_s;
		struct sl_error err = { 0 };
		int rc = sl_audit_job(a, (struct sl_entry) { .job = 0 }, NULL, t, t + 10, &at, 1, 0, false, &err);

		if (!rc)
			rc = sl_audit_job(a, (struct sl_entry) { .job = 1 }, NULL, t + wrong[i].start, t + wrong[i].end, &bad, 1,
					  0, false, &err);
		if (!rc)
			rc = sl_audit_check(a, &err);
		if ((rc != 0) != (wrong[i].text != NULL) || (rc && !strstr(err.text, wrong[i].text)))
			fail_msg("case %zu: %d %s", i, rc, err.text);
		sl_audit_destroy(a);
	}
	sl_cluster_destroy(c);
	sl_workload_destroy(w);
}

static int set_up(void **state)
{
	(void) state;
	return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void) state;
	if (*path)
		unlink(path);
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(easy_fills_the_hole_before_the_head_and_nothing_else),
		cmocka_unit_test(easy_starts_whom_the_last_core_beside_the_head_suffices),
		cmocka_unit_test(fcfs_lets_nobody_overtake),
		cmocka_unit_test(who_ends_makes_room_for_who_arrives_in_the_same_second),
		cmocka_unit_test(one_pass_an_instant_or_one_for_each_end),
		cmocka_unit_test(arrivals_may_be_seen_before_what_ends_in_the_same_second),
		cmocka_unit_test(at_intervals_decisions_wait_for_the_next_tick),
		cmocka_unit_test(what_was_decided_starts_after_the_latency),
		cmocka_unit_test(conservative_makes_its_plan_anew_when_a_job_ends_early),
		cmocka_unit_test(a_job_that_waits_for_a_reservation_to_end_starts_when_it_does),
		cmocka_unit_test(a_policy_that_starts_nothing_is_an_error_with_the_job),
		cmocka_unit_test(jobs_that_the_policy_refuses_for_good_are_told_as_unfinished),
		cmocka_unit_test(a_settled_queue_is_not_decided_about_until_there_is_room),
		cmocka_unit_test(a_settled_queue_is_not_decided_about_while_all_would_delay_the_head),
		cmocka_unit_test(a_core_that_was_shared_gives_back_its_node),
		cmocka_unit_test(who_was_not_looked_at_is_not_refused),
		cmocka_unit_test(a_policy_that_another_one_calls_does_not_settle_the_queue),
		cmocka_unit_test(a_queue_is_not_settled_when_others_come_into_the_window),
		cmocka_unit_test(a_job_that_waits_for_its_begin_time_is_not_settled),
		cmocka_unit_test(a_policy_that_fails_ends_the_run_with_the_time_and_the_line),
		cmocka_unit_test(a_run_that_is_stopped_tells_what_it_has_and_says_partial),
		cmocka_unit_test(an_array_is_refused),
		cmocka_unit_test(cores_that_a_job_leaves_to_the_system_are_no_fault_of_the_schedule),
		cmocka_unit_test(a_schedule_that_is_wrong_is_found_out),
		cmocka_unit_test(every_schedule_is_feasible_and_comes_again),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
