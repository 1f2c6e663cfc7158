/* SPDX-License-Identifier: MIT */
/*
 * Forecasts: small clusters worked by hand, and what is learnt from errors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/random.h"
#include "sim/awaited.h"
#include "usage/history.h"
#include "t/scratch.h"

#define CLUSTER(rest) "{\"meta\": {\"now\": 10000}, \"nodes\": [{\"name\": \"n1\", \"cores\": 4}],"	\
	" \"partitions\": [{\"name\": \"p\", \"nodes\": \"n1\"}], " rest "}"
#define RUNNING RUNNING_OF("ann")
#define RUNNING_OF(user_) "{\"id\": 1, \"user\": \"" user_ "\", \"state\": \"RUNNING\", \"partition\": \"p\", \"start_time\": 9900,"	\
	" \"end_time\": 10900, \"time_limit\": 1000, \"min_cpus\": 4, \"alloc\": [{\"node\": \"n1\", \"cores\": 4}]}"
#define PENDING(id_, user_, more) "{\"id\": " #id_ ", \"user\": \"" user_ "\", \"partition\": \"p\", \"submit_time\": 9950,"	\
	" \"time_limit\": 1000, \"min_cpus\": 4, \"num_tasks\": 4" more "}"

struct fixture {
	struct sl_builder *b;
	struct sl_snapshot snap;
	struct sl_cluster *c;
	struct sl_bundle *bundle;
	struct sl_script *script;
	struct sl_history *history;
	struct sl_forecast f;
};

/* One at a time: a cluster borrows its snapshot. */
static struct fixture *make(const char *text, const char *policy)
{
	static const struct sl_limits none;
	static struct fixture x;
	struct sl_error err = { 0 };
	const void *bytes;
	size_t size;

	memset(&x, 0, sizeof(x));
	x.b = sl_builder_create(&sl_snapshot_schema, &err);
	if (!x.b || sl_builder_from_json(x.b, "test", text, strlen(text), &err) || sl_builder_finish(x.b, &bytes, &size, &err) ||
	    sl_snapshot_open(&x.snap, bytes, size, &err) || !(x.c = sl_cluster_create(&x.snap, &err)) ||
	    !(x.bundle = sl_bundle_load(&(struct sl_bundle_source) { .policy = policy }, NULL, NULL, &err)) ||
	    !(x.script = sl_script_create(x.bundle, &none, &err)) || !(x.history = sl_history_create(NULL, NULL, &err)))
		fail_msg("%s", err.text);
	return &x;
}

static void past(struct fixture *x, const char *user, const int64_t *seconds, uint32_t count)
{
	struct sl_error err = { 0 };

	for (uint32_t i = 0; i < count; i++) {
		struct sl_job_run run = { .job = 100 + i, .start = 1000 + 10 * i - seconds[i], .end = 1000 + 10 * i, .seconds = seconds[i],
					  .limit = 1000, .count = { 4, 0, 1 }, .dim = { user, "", "p", SL_JOB_COMPLETE } };

		if (sl_history_add(x->history, &run, &err))
			fail_msg("%s", err.text);
	}
}

#define PAST(x, user, ...) past(x, user, (const int64_t[]) { __VA_ARGS__ }, sizeof((const int64_t[]) { __VA_ARGS__ }) / sizeof(int64_t))

static int forecast(struct fixture *x, uint32_t draws, uint64_t seed, uint32_t only, struct sl_error *err)
{
	const struct sl_forecast_options opt = { .script = x->script, .history = x->history, .draws = draws, .seed = seed, .only = only };
	char *trace = NULL;
	int rc;

	sl_forecast_clear(&x->f);
	sl_history_begin(x->history);
	rc = sl_forecast_make(x->c, &opt, &x->f, &trace, err);
	free(trace);
	return rc;
}

static void must_forecast(struct fixture *x, uint32_t draws, uint64_t seed)
{
	struct sl_error err = { 0 };

	if (forecast(x, draws, seed, 0, &err))
		fail_msg("%s", err.text);
}

static void done(struct fixture *x)
{
	sl_forecast_clear(&x->f);
	sl_history_destroy(x->history);
	sl_script_destroy(x->script);
	sl_bundle_destroy(x->bundle);
	sl_cluster_destroy(x->c);
	sl_builder_destroy(x->b);
}

/* -- the cluster goes on --------------------------------------------------------- */

static void jobs_run_like_their_users_last_and_not_to_their_walltime(void **state)
{
	struct fixture *x = make(CLUSTER("\"jobs\": [" RUNNING ", " PENDING(2, "bob", "") ", " PENDING(3, "bob", "") "],"
		" \"queue\": [{\"job\": 2, \"partition\": \"p\"}, {\"job\": 3, \"partition\": \"p\"}]"), "easy");

	(void) state;
	PAST(x, "ann", 300, 300, 300);
	PAST(x, "bob", 50, 50, 50);
	must_forecast(x, 20, 1);
	assert_int_equal(x->f.jobs, 2);
	assert_int_equal(x->f.job[0], 2);
	for (uint32_t d = 0; d < 20; d++) {
		assert_int_equal(x->f.wait[d], 200);	/* it has run for 100 */
		assert_int_equal(x->f.wait[20 + d], 250);
	}
	done(x);
}

static void runs_that_it_has_outlived_say_nothing_of_it(void **state)
{
	struct fixture *x = make(CLUSTER("\"jobs\": [" RUNNING ", " PENDING(2, "bob", "") "],"
		" \"queue\": [{\"job\": 2, \"partition\": \"p\"}]"), "easy");

	(void) state;
	PAST(x, "ann", 40, 600, 30, 600, 20);
	must_forecast(x, 20, 1);
	for (uint32_t d = 0; d < 20; d++)
		assert_int_equal(x->f.wait[d], 500);
	done(x);
}

static void of_whom_nothing_is_known_any_time_within_the_walltime_is_as_likely(void **state)
{
	struct fixture *x = make(CLUSTER("\"jobs\": [" RUNNING ", " PENDING(2, "bob", "") "],"
		" \"queue\": [{\"job\": 2, \"partition\": \"p\"}]"), "easy");

	(void) state;
	must_forecast(x, 400, 1);
	assert_in_range(x->f.wait[0], 1, 50);
	assert_in_range(x->f.wait[200], 360, 540);
	assert_in_range(x->f.wait[399], 850, 900);
	done(x);
}

static void a_run_of_no_time_is_one(void **state)
{
	struct fixture *x = make(CLUSTER("\"jobs\": [" RUNNING ", " PENDING(2, "bob", "") ", " PENDING(3, "bob", "") "],"
		" \"queue\": [{\"job\": 2, \"partition\": \"p\"}, {\"job\": 3, \"partition\": \"p\"}]"), "easy");

	(void) state;
	PAST(x, "ann", 300, 300);
	PAST(x, "bob", 0, 0, 0);
	must_forecast(x, 10, 1);
	for (uint32_t d = 0; d < 10; d++)
		assert_in_range(x->f.wait[10 + d] - x->f.wait[d], 1, 1000);
	done(x);
}

static void the_tasks_of_an_array_stand_before_who_is_behind_it(void **state)
{
	struct fixture *x = make(CLUSTER("\"jobs\": [" PENDING(2, "bob", ", \"array_job_id\": 2, \"array_pending\": 3") ", "
		PENDING(5, "cid", "") "], \"queue\": [{\"job\": 2, \"partition\": \"p\"}, {\"job\": 5, \"partition\": \"p\"}]"), "fcfs");

	(void) state;
	PAST(x, "bob", 100, 100);
	must_forecast(x, 10, 1);
	assert_int_equal(x->f.jobs, 2);
	assert_int_equal(x->f.wait[0], 0);
	assert_int_equal(x->f.wait[10], 300);
	done(x);
}

static void the_same_seed_gives_the_same_forecast(void **state)
{
	struct fixture *x = make(CLUSTER("\"jobs\": [" RUNNING ", " PENDING(2, "bob", "") "],"
		" \"queue\": [{\"job\": 2, \"partition\": \"p\"}]"), "easy");
	int64_t wait[30];

	(void) state;
	must_forecast(x, 30, 7);
	memcpy(wait, x->f.wait, sizeof(wait));
	must_forecast(x, 30, 7);
	assert_memory_equal(wait, x->f.wait, sizeof(wait));
	must_forecast(x, 30, 8);
	assert_memory_not_equal(wait, x->f.wait, sizeof(wait));
	done(x);
}

static void a_job_that_is_not_queued_has_none(void **state)
{
	struct fixture *x = make(CLUSTER("\"jobs\": [" RUNNING "]"), "easy");
	struct sl_error err = { 0 };

	(void) state;
	assert_int_equal(forecast(x, 10, 1, 1, &err), -1);
	assert_int_equal(err.code, SL_ENOENT);
	assert_string_equal(err.text, "job 1 is not queued: it has started");
	must_forecast(x, 10, 1);
	assert_int_equal(x->f.jobs, 0);
	done(x);
}

static void a_draw_that_fails_is_left_out(void **state)
{
	struct sl_error err = { 0 };
	struct fixture *x;
	char file[64];
	FILE *f;

	(void) state;
	snprintf(file, sizeof(file), "%s/late.lua", scratch);
	f = fopen(file, "w");
	assert_non_null(f);
	fputs("return { api = 1, name = 'late', doc = 'd', decide = function(cluster, plan)\n"
	      "if cluster.now > 10300 and cluster.now < 20000 then error('too late') end\n"
	      "for job in cluster:queue() do plan:start(job) end end }\n", f);
	fclose(f);
	x = make(CLUSTER("\"jobs\": [" RUNNING ", " PENDING(2, "bob", "") "], \"queue\": [{\"job\": 2, \"partition\": \"p\"}]"), file);
	PAST(x, "ann", 300, 600);
	PAST(x, "bob", 50, 50);
	must_forecast(x, 40, 1);
	assert_in_range(x->f.draws, 1, 39);
	assert_non_null(strstr(x->f.missed.text, "too late"));
	for (uint32_t d = 0; d < x->f.draws; d++)
		assert_int_equal(x->f.wait[d], 200);
	past(x, "ann", (const int64_t[]) { 600, 600, 600, 600, 600, 600, 600, 600, 600, 600 }, 10);
	assert_int_equal(forecast(x, 10, 1, 0, &err), -1);
	assert_non_null(strstr(err.text, "too late"));
	done(x);
}

/* Policies know jobs by numbers of the history, and each draw has a history of its own, as its own past goes on. */
static void draws_under_a_policy_that_goes_by_the_past_are_as_the_first(void **state)
{
	struct fixture *x = make(CLUSTER("\"jobs\": [" RUNNING ", " PENDING(2, "bob", "") ", " PENDING(3, "cid", "") ", " PENDING(4, "dan", "") "],"
		" \"queue\": [{\"job\": 2, \"partition\": \"p\"}, {\"job\": 3, \"partition\": \"p\"}, {\"job\": 4, \"partition\": \"p\"}]"),
		"predictive");

	(void) state;
	PAST(x, "ann", 300, 300);
	PAST(x, "bob", 800, 800);
	PAST(x, "cid", 400, 400);
	PAST(x, "dan", 50, 50);
	for (int again = 0; again < 2; again++) {
		must_forecast(x, 20, 1);
		for (uint32_t d = 0; d < 20; d++) {
			assert_int_equal(x->f.wait[40 + d], 200);	/* dan's, then cid's, then bob's */
			assert_int_equal(x->f.wait[20 + d], 250);
			assert_int_equal(x->f.wait[d], 650);
		}
	}
	done(x);
}

static void it_ends_when_its_time_is_up(void **state)
{
	struct fixture *x = make(CLUSTER("\"jobs\": [" RUNNING ", " PENDING(2, "bob", "") "],"
		" \"queue\": [{\"job\": 2, \"partition\": \"p\"}]"), "easy");
	struct sl_forecast_options opt = { .script = x->script, .history = x->history, .draws = 10, .until_us = 1 };
	struct sl_error err = { 0 };
	char *trace = NULL;

	(void) state;
	sl_history_begin(x->history);
	assert_int_equal(sl_forecast_make(x->c, &opt, &x->f, &trace, &err), -1);
	assert_int_equal(err.code, SL_ETIME);
	done(x);
}

/* A job that nobody's name is known of runs like others of which none is. */
static void of_a_log_without_users_all_runs_count(void **state)
{
	static const int64_t ran[] = { 150, 150, 150, 150, 150 };
	struct fixture *x = make(CLUSTER("\"jobs\": [" RUNNING_OF("") ", " PENDING(2, "", "") "], \"queue\": [{\"job\": 2, \"partition\": \"p\"}]"),
				 "easy");

	(void) state;
	past(x, "", ran, 5);
	must_forecast(x, 20, 1);
	assert_int_equal(x->f.wait[0], 50);	/* it has run for 100 s */
	assert_int_equal(x->f.wait[19], 50);
	assert_int_equal(x->f.known, 2);
	done(x);
}

static void a_job_that_may_begin_later_does_not_start_before(void **state)
{
	struct fixture *x = make(CLUSTER("\"jobs\": [" PENDING(2, "ann", ", \"begin_time\": 12000") "], "
					 "\"queue\": [{\"job\": 2, \"partition\": \"p\"}]"), "easy");

	(void) state;
	must_forecast(x, 10, 1);
	assert_int_equal(x->f.wait[0], 2000);
	assert_int_equal(x->f.wait[9], 2000);
	done(x);
}

/* -- awaited ---------------------------------------------------------------------------- */

#define AWAITED_JOBS 40

/* A snapshot at *now* of jobs of which each waits, runs since some time, or is gone. */
static struct fixture *awaited_cluster(int64_t now, const int64_t *start, const bool *gone)
{
	static char text[16384];
	size_t n = (size_t) snprintf(text, sizeof(text), "{\"meta\": {\"now\": %lld}, \"nodes\": [{\"name\": \"n1\", \"cores\": 400}],"
		" \"partitions\": [{\"name\": \"p\", \"nodes\": \"n1\"}], \"jobs\": [", (long long) now);
	bool first = true;

	for (int i = 0; i < AWAITED_JOBS; i++) {
		if (gone[i])
			continue;
		n += (size_t) snprintf(text + n, sizeof(text) - n, "%s{\"id\": %d, \"user\": \"ann\", \"partition\": \"p\", \"time_limit\": 90000",
				       first ? "" : ", ", i + 1);
		if (start[i] && start[i] <= now)
			n += (size_t) snprintf(text + n, sizeof(text) - n, ", \"state\": \"RUNNING\", \"start_time\": %lld, \"end_time\": %lld, "
				"\"alloc\": [{\"node\": \"n1\", \"cores\": 1}]", (long long) start[i], (long long) start[i] + 90000);
		n += (size_t) snprintf(text + n, sizeof(text) - n, "}");
		first = false;
	}
	snprintf(text + n, sizeof(text) - n, "]}");
	return make(text, "easy");
}

static uint32_t scores_in(const struct sl_calibrator *c)
{
	uint32_t n = 0;

	for (int k = 0; k < SL_CALIBRATOR_CLASSES; k++)
		n += c->of[k].scores;
	return n;
}

/* Jobs start while they are seen, start and end unseen, are cancelled, or wait on: each that started counts once. */
static void each_start_is_learnt_once(void **state)
{
	struct sl_calibrator c;
	struct sl_awaited a = { 0 }, read;
	struct sl_error err = { 0 };
	struct sl_random r;
	int64_t start[AWAITED_JOBS] = { 0 };
	bool gone[AWAITED_JOBS] = { 0 };
	uint32_t started = 0, waiting = 0;
	char file[96];

	(void) state;
	sl_random_seed(&r, 11);
	sl_calibrator_begin(&c, 0.8);
	snprintf(file, sizeof(file), "%s/awaited.json", scratch);
	for (int64_t now = 1000; now < 4000; now += 300) {
		struct fixture *x;

		for (int i = 0; i < AWAITED_JOBS && now > 1000; i++) {
			int64_t what = sl_random_between(&r, 0, 9);

			if (gone[i] || (start[i] && what > 2))
				continue;
			if (start[i] || what == 0)	/* it ends, or is cancelled */
				gone[i] = true;
			else if (what < 3)
				start[i] = now - sl_random_between(&r, 0, 299);
			if (what == 2 && start[i])	/* nobody has seen it run */
				gone[i] = true;
		}
		x = awaited_cluster(now, start, gone);
		for (int i = 0; i < AWAITED_JOBS; i++)
			if (gone[i] && start[i] && sl_history_add(x->history, &(struct sl_job_run) { .job = (uint32_t) i + 1, .start = start[i],
				.end = start[i] + 1, .seconds = 1, .limit = 90000, .dim = { "ann", "", "p", SL_JOB_COMPLETE } }, &err))
				fail_msg("%s", err.text);
		assert_int_equal(sl_awaited_settle(&a, &x->snap, x->history, &c, &err), 0);
		for (uint32_t j = 0; j < x->snap.job.rows; j++)
			if (x->snap.job.state[j] == SL_JOB_PENDING)
				assert_int_equal(sl_awaited_add(&a, &x->snap, j, &(struct sl_expected) { 10, 500, 900, 500 }, &err), 0);
		done(x);
		assert_int_equal(sl_awaited_write(&a, file, &err), 0);
		assert_int_equal(sl_awaited_read(&read, file, &err), 0);
		assert_int_equal(read.count, a.count);
		for (uint32_t i = 0; i < a.count; i++) {
			assert_int_equal(read.item[i].job, a.item[i].job);
			assert_int_equal(read.item[i].at_s, 1000);
			assert_string_equal(read.item[i].user, "ann");
		}
		sl_awaited_clear(&a);
		a = read;
	}
	for (int i = 0; i < AWAITED_JOBS; i++) {
		started += start[i] > 0;
		waiting += !start[i] && !gone[i];
	}
	assert_true(started > 10);
	assert_int_equal(scores_in(&c), started);
	assert_int_equal(a.count, waiting);
	sl_awaited_clear(&a);
}

/* -- what they are worth ---------------------------------------------------------------- */

/* The sample says 100 to 300 s; what comes is longer by a factor that is skewed, and drifts. */
static double coverage_of(double confidence)
{
	struct sl_calibrator c;
	struct sl_random r;
	uint32_t held = 0, n = 6000;

	sl_random_seed(&r, 5);
	sl_calibrator_begin(&c, confidence);
	for (uint32_t i = 0; i < n; i++) {
		int64_t wait[40], actual;
		struct sl_expected e;

		for (int k = 0; k < 40; k++)
			wait[k] = 100 + 5 * k;
		e = sl_calibrate(&c, wait, 40);
		assert_true(e.low <= e.point && e.point <= e.high);
		actual = (int64_t) (200 * (1 + i / 3000.0) * exp((double) sl_random_between(&r, 0, 3000) / 1000));
		held += e.low <= actual && actual <= e.high;
		sl_calibrator_learn(&c, &e, actual);
	}
	return (double) held / n;
}

struct kept {
	double coverage;
	int64_t width;		/* of the last interval */
};

/* All draws are one instant.  Of 100 jobs *same* start then, *early* before it and the others after it. */
static struct kept kept_around_one_instant(int64_t same, int64_t early)
{
	struct sl_calibrator c;
	struct sl_random r;
	struct kept k = { 0 };
	uint32_t held = 0, n = 3000;

	sl_random_seed(&r, 21);
	sl_calibrator_begin(&c, 0.8);
	for (uint32_t i = 0; i < n; i++) {
		int64_t wait[40], actual = 5000, what = sl_random_between(&r, 1, 100);
		struct sl_expected e;

		for (int d = 0; d < 40; d++)
			wait[d] = 5000;
		e = sl_calibrate(&c, wait, 40);
		if (what > same)
			actual += (what <= same + early ? -1 : 1) * sl_random_between(&r, 1, 4000);
		held += e.low <= actual && actual <= e.high;
		k.width = e.high - e.low;
		sl_calibrator_learn(&c, &e, actual);
	}
	k.coverage = (double) held / n;
	return k;
}

static void an_end_that_misses_too_few_lets_the_other_end_miss_more(void **state)
{
	struct kept late = kept_around_one_instant(60, 5), early = kept_around_one_instant(60, 35);

	(void) state;
	assert_true(late.coverage > 0.78 && late.coverage < 0.82);
	assert_true(early.coverage > 0.78 && early.coverage < 0.82);
}

static void an_interval_is_one_instant_where_more_jobs_start_then_than_have_to(void **state)
{
	struct kept k = kept_around_one_instant(90, 5);

	(void) state;
	assert_int_equal(k.width, 0);
	assert_true(k.coverage > 0.88 && k.coverage < 0.92);
}

/* Starts spread twice as far as draws do: of the first sixty forecasts of many beginnings most hold, too. */
static void the_first_intervals_hold_nearly_as_often(void **state)
{
	struct sl_calibrator c;
	struct sl_random r;
	uint32_t held = 0, n = 0;

	(void) state;
	sl_random_seed(&r, 9);
	for (int begin = 0; begin < 40; begin++) {
		sl_calibrator_begin(&c, 0.8);
		for (int i = 0; i < 60; i++, n++) {
			double centre = 1000 * (double) sl_random_between(&r, 1, 20), spread;
			int64_t wait[40], actual;
			struct sl_expected e;

			for (int k = 0; k < 40; k++)
				wait[k] = (int64_t) (centre * (0.8 + 0.01 * k));
			spread = (double) sl_random_between(&r, -400, 400) / 1000;
			actual = (int64_t) (centre * (1 + spread));
			e = sl_calibrate(&c, wait, 40);
			held += e.low <= actual && actual <= e.high;
			sl_calibrator_learn(&c, &e, actual);
		}
	}
	assert_true(held > 0.74 * n && held < 0.9 * n);
}

static void intervals_come_to_hold_as_often_as_they_say(void **state)
{
	(void) state;
	assert_true(coverage_of(0.8) > 0.78 && coverage_of(0.8) < 0.82);
	assert_true(coverage_of(0.5) > 0.48 && coverage_of(0.5) < 0.52);
}

static void a_horizon_of_which_little_is_known_goes_by_the_others(void **state)
{
	struct sl_calibrator c;
	int64_t near[10] = { 10, 20, 30, 40, 50, 60, 70, 80, 90, 100 }, far[10];
	struct sl_expected e;

	(void) state;
	for (int k = 0; k < 10; k++)
		far[k] = 5000 + k;
	sl_calibrator_begin(&c, 0.8);
	e = sl_calibrate(&c, far, 10);
	assert_in_range(e.high, 5000, 5009);
	for (int i = 0; i < 40; i++) {
		e = sl_calibrate(&c, near, 10);
		sl_calibrator_learn(&c, &e, i % 2 ? 30 : 300);
	}
	e = sl_calibrate(&c, far, 10);
	assert_in_range(e.high, 14000, 17000);	/* (300 + 60) / (60 + 60) times as far away */
}

static void what_was_learnt_is_kept(void **state)
{
	struct sl_calibrator c, read = { .confidence = 0.8 };
	struct sl_error err = { 0 };
	int64_t wait[10] = { 10, 20, 30, 40, 50, 60, 70, 80, 90, 100 };
	struct sl_expected e, again;
	char file[96];

	(void) state;
	snprintf(file, sizeof(file), "%s/calibration.json", scratch);
	sl_calibrator_begin(&c, 0.8);
	for (int i = 0; i < 350; i++) {
		e = sl_calibrate(&c, wait, 10);
		sl_calibrator_learn(&c, &e, 100 + i);
	}
	assert_int_equal(sl_calibrator_write(&c, file, &err), 0);
	assert_int_equal(sl_calibrator_read(&read, file, &err), 0);
	e = sl_calibrate(&c, wait, 10);
	again = sl_calibrate(&read, wait, 10);
	assert_memory_equal(&e, &again, sizeof(e));
	assert_true(e.low > 100);
	read.confidence = 0.9;
	assert_int_equal(sl_calibrator_read(&read, file, &err), -1);
	assert_non_null(strstr(err.text, "is of a confidence of 0.8, expected 0.9"));
}

static void a_file_that_is_none_is_refused(void **state)
{
	static const char *const bad[] = { "", "{", "[]", "{\"confidence\": 0.8, \"classes\": [1, 2, 3, 4, 5]}",
		"{\"confidence\": 0.8, \"classes\": [{\"below\": 7, \"above\": 0.1, \"scores\": []}, {}, {}, {}, {}]}",
		"{\"confidence\": 0.8, \"classes\": [{\"below\": 0.1, \"above\": 0.1, \"scores\": [\"x\"]}, {}, {}, {}, {}]}" };
	struct sl_calibrator c = { .confidence = 0.8 };
	struct sl_error err;
	char file[96];

	(void) state;
	snprintf(file, sizeof(file), "%s/bad.json", scratch);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		FILE *f = fopen(file, "w");

		assert_non_null(f);
		fputs(bad[i], f);
		assert_int_equal(fclose(f), 0);
		assert_int_equal(sl_calibrator_read(&c, file, &err), -1);
		assert_non_null(strstr(err.text, "bad.json"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_run_like_their_users_last_and_not_to_their_walltime),
		cmocka_unit_test(runs_that_it_has_outlived_say_nothing_of_it),
		cmocka_unit_test(of_whom_nothing_is_known_any_time_within_the_walltime_is_as_likely),
		cmocka_unit_test(a_run_of_no_time_is_one),
		cmocka_unit_test(the_tasks_of_an_array_stand_before_who_is_behind_it),
		cmocka_unit_test(the_same_seed_gives_the_same_forecast),
		cmocka_unit_test(a_job_that_is_not_queued_has_none),
		cmocka_unit_test(a_draw_that_fails_is_left_out),
		cmocka_unit_test(draws_under_a_policy_that_goes_by_the_past_are_as_the_first),
		cmocka_unit_test(it_ends_when_its_time_is_up),
		cmocka_unit_test(of_a_log_without_users_all_runs_count),
		cmocka_unit_test(a_job_that_may_begin_later_does_not_start_before),
		cmocka_unit_test(each_start_is_learnt_once),
		cmocka_unit_test(the_first_intervals_hold_nearly_as_often),
		cmocka_unit_test(intervals_come_to_hold_as_often_as_they_say),
		cmocka_unit_test(an_end_that_misses_too_few_lets_the_other_end_miss_more),
		cmocka_unit_test(an_interval_is_one_instant_where_more_jobs_start_then_than_have_to),
		cmocka_unit_test(a_horizon_of_which_little_is_known_goes_by_the_others),
		cmocka_unit_test(what_was_learnt_is_kept),
		cmocka_unit_test(a_file_that_is_none_is_refused),
	};

	return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
