/* SPDX-License-Identifier: MIT */
/*
 * Histories of jobs as slurmctld tells them, snapshot by snapshot; the ledger against a
 * recount of what really ran.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "t/build.h"
#include "t/random.h"
#include "ledger/tracker.h"

#define T0 INT64_C(1700000000)

static struct sl_error err;

#define OK(call) do { err.text[0] = 0; if (call) fail_msg("%s: %s", #call, err.text); } while (0)

/* -- snapshots ------------------------------------------------------------- */

struct job {
	uint32_t id, state, cpus, flags;
	int64_t submit, start, end, suspend, pre;
};

static void feed(struct sl_tracker *t, const struct job *job, int count, int64_t now)
{
	struct build *b = build_create("4x64c");

	b->meta.now = now;
	for (int i = 0; i < count; i++) {
		struct sl_job_row r = build_row(b, (struct build_job) { .id = job[i].id });

		r.user = sl_builder_str(b->builder, job[i].id % 2 ? "anna" : "bob");
		r.account = sl_builder_str(b->builder, "chem");
		r.state = job[i].state;
		r.flags = job[i].flags;
		r.submit_time = job[i].submit;
		r.start_time = job[i].start;
		r.end_time = job[i].end;
		r.suspend_time = job[i].suspend;
		r.pre_suspend_s = job[i].pre;
		if (job[i].cpus) {
			r.alloc_cpus = job[i].cpus;
			r.alloc_nodes = 1;
			r.alloc_gpus = job[i].cpus / 8;
		}
		build_append(b, &r);
	}
	OK(sl_tracker_feed(t, build_open(b), NULL, &err));
	build_destroy(b);
}

static int64_t total(struct sl_ledger *l, const char *name, enum sl_unit unit)
{
	struct sl_usage_query q = { .unit = unit, .since = INT64_MIN, .until = SL_FOREVER };
	const struct sl_usage_total *t;
	uint32_t n;

	OK(sl_usage_ask(sl_ledger_usage(l), &q, &t, &n, &err));
	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(t[i].name, name))
			return t[i].seconds;
	return 0;
}

static struct sl_ledger *ledger;
static struct sl_tracker *tracker;

static int begin(void **state)
{
	(void) state;
	ledger = sl_ledger_open(NULL, SL_LEDGER_CREATE, &err);
	tracker = ledger ? sl_tracker_create(ledger, &err) : NULL;
	return tracker ? 0 : -1;
}

static int end(void **state)
{
	(void) state;
	sl_tracker_destroy(tracker);
	sl_ledger_close(ledger);
	return 0;
}

/* As after a restart of the keeper: what was committed is all that is known. */
static void restart(void)
{
	OK(sl_ledger_commit(ledger, &err));
	sl_tracker_destroy(tracker);
	tracker = sl_tracker_create(ledger, &err);
	assert_non_null(tracker);
}

#define FEED(now, ...) feed(tracker, (struct job[]) { __VA_ARGS__ }, \
			    sizeof((struct job[]) { __VA_ARGS__ }) / sizeof(struct job), now)
#define RUNS(n, s, ...) { .id = n, .state = SL_JOB_RUNNING, .cpus = 8, .start = s, .submit = __VA_OPT__(__VA_ARGS__ +) T0 }
#define ENDED(n, s, e, ...) { .id = n, .state = SL_JOB_COMPLETE, .cpus = 8, .start = s, .end = e, __VA_ARGS__ }
#define WAITS(n, t, ...) { .id = n, .state = SL_JOB_PENDING, .submit = t, __VA_ARGS__ }

/* -- by hand --------------------------------------------------------------- */

static void a_job_that_ends_counts_from_its_start_to_its_end(void **state)
{
	(void) state;
	FEED(T0 + 10, RUNS(1, T0 + 5));
	assert_int_equal(total(ledger, "anna", SL_UNIT_CPU), 0);
	FEED(T0 + 20, ENDED(1, T0 + 5, T0 + 15));
	FEED(T0 + 30, ENDED(1, T0 + 5, T0 + 15));
	assert_int_equal(total(ledger, "anna", SL_UNIT_CPU), 80);
	assert_int_equal(total(ledger, "anna", SL_UNIT_GPU), 10);
	assert_int_equal(total(ledger, "anna", SL_UNIT_NODE), 10);
}

static void one_that_never_started_counts_nothing(void **state)
{
	(void) state;
	/* cancelled while it waited: slurmctld sets both times to then */
	FEED(T0 + 20, { .id = 1, .state = SL_JOB_CANCELLED, .submit = T0, .start = T0 + 9, .end = T0 + 9 });
	assert_int_equal(sl_ledger_waiting(ledger), 0);
}

static void suspended_time_does_not_count(void **state)
{
	(void) state;
	/* ran 10, slept 100, ran 20 */
	FEED(T0 + 140, ENDED(1, T0, T0 + 130, .suspend = T0 + 110, .pre = 10));
	assert_int_equal(total(ledger, "anna", SL_UNIT_NODE), 30);
	/* ended while it slept: its end is when it fell asleep */
	FEED(T0 + 240, ENDED(1, T0, T0 + 130, .suspend = T0 + 110, .pre = 10),
	     ENDED(3, T0, T0 + 50, .suspend = T0 + 50, .pre = 50));
	assert_int_equal(total(ledger, "anna", SL_UNIT_NODE), 80);
}

static void a_requeued_run_ends_when_slurmctld_says(void **state)
{
	(void) state;
	FEED(T0 + 10, RUNS(1, T0));
	/* its nodes are being cleaned up: the end is known */
	FEED(T0 + 20, WAITS(1, T0, .start = T0, .end = T0 + 17, .cpus = 8, .flags = SL_JOBF_COMPLETING));
	FEED(T0 + 30, WAITS(1, T0 + 18));
	assert_int_equal(total(ledger, "anna", SL_UNIT_NODE), 17);
	FEED(T0 + 40, RUNS(1, T0 + 35, 18));
	FEED(T0 + 50, ENDED(1, T0 + 35, T0 + 45, .submit = T0 + 18));
	assert_int_equal(total(ledger, "anna", SL_UNIT_NODE), 27);
}

static void a_requeue_that_nobody_saw_ends_at_the_new_submit_time(void **state)
{
	(void) state;
	FEED(T0 + 10, RUNS(1, T0));
	FEED(T0 + 30, WAITS(1, T0 + 18));
	assert_int_equal(total(ledger, "anna", SL_UNIT_NODE), 18);
	/* it runs again already */
	FEED(T0 + 40, RUNS(2, T0 + 30));
	restart();
	FEED(T0 + 90, RUNS(2, T0 + 70, 60));
	assert_int_equal(total(ledger, "bob", SL_UNIT_NODE), 30);
	FEED(T0 + 120, ENDED(2, T0 + 70, T0 + 100, .submit = T0 + 60));
	assert_int_equal(total(ledger, "bob", SL_UNIT_NODE), 60);
}

static void a_job_that_is_gone_counts_until_it_was_seen_last(void **state)
{
	(void) state;
	FEED(T0 + 10, RUNS(1, T0), RUNS(2, T0));
	FEED(T0 + 25, RUNS(1, T0), RUNS(2, T0));
	FEED(T0 + 40, RUNS(2, T0));
	assert_int_equal(total(ledger, "anna", SL_UNIT_NODE), 25);
	assert_int_equal(total(ledger, "bob", SL_UNIT_NODE), 0);
	/* it was not gone after all */
	FEED(T0 + 60, RUNS(2, T0), ENDED(1, T0, T0 + 50));
	assert_int_equal(total(ledger, "anna", SL_UNIT_NODE), 50);
}

static void a_clock_that_is_set_back_an_hour_makes_nothing_negative(void **state)
{
	(void) state;
	FEED(T0 + 5000, RUNS(1, T0 + 4900), RUNS(2, T0 + 4900));
	FEED(T0 + 1500, RUNS(1, T0 + 4900), WAITS(2, T0 + 1400));
	FEED(T0 + 1600, ENDED(1, T0 + 4900, T0 + 1550));
	assert_true(total(ledger, "anna", SL_UNIT_NODE) >= 0);
	assert_true(total(ledger, "bob", SL_UNIT_NODE) >= 0);
	OK(sl_ledger_commit(ledger, &err));
	OK(sl_ledger_verify(ledger, &err));
}

/* -- against a recount ------------------------------------------------------ */

#define JOBS 40

/* A job of a simulated slurmctld. */
struct sim {
	struct job j;
	int64_t finished;		/* when it ended, 0 while it has not */
	bool purged;
};

static struct sim sim[JOBS];
static int64_t truth;			/* node-seconds of runs that are over */

static void step(struct sim *s, int64_t now)
{
	struct job *j = &s->j;

	switch (j->state) {
	case SL_JOB_PENDING:
		if (one_in(6)) {
			j->state = SL_JOB_RUNNING;
			j->start = now;
			j->cpus = 1 + below(64);
			j->suspend = j->pre = 0;
		}
		break;
	case SL_JOB_RUNNING:
		if (one_in(15)) {			/* suspended */
			j->pre += now - (j->suspend ? j->suspend : j->start);
			j->suspend = now;
			j->state = SL_JOB_SUSPENDED;
		} else if (one_in(15)) {		/* requeued, or preempted so */
			truth += j->pre + now - (j->suspend ? j->suspend : j->start);
			*j = (struct job) { .id = j->id, .state = SL_JOB_PENDING, .submit = now };
		} else if (one_in(10)) {
			truth += j->pre + now - (j->suspend ? j->suspend : j->start);
			j->state = one_in(3) ? SL_JOB_FAILED : SL_JOB_COMPLETE;
			j->end = s->finished = now;
		}
		break;
	case SL_JOB_SUSPENDED:
		if (one_in(4)) {			/* resumed */
			j->suspend = now;
			j->state = SL_JOB_RUNNING;
		} else if (one_in(20)) {		/* cancelled asleep */
			truth += j->pre;
			j->state = SL_JOB_CANCELLED;
			j->end = j->suspend;
			s->finished = now;
		}
		break;
	default:
		if (now - s->finished > 300)
			s->purged = true;
	}
}

static void look(int64_t now)
{
	struct job job[JOBS];
	int n = 0;

	for (int i = 0; i < JOBS; i++)
		if (!sim[i].purged)
			job[n++] = sim[i].j;
	feed(tracker, job, n, now);
}

/*
 * slurmctld moves on second by second; snapshots are missed for up to 250 s (MinJobAge is 300), repeated,
 * and the keeper is restarted.  Only requeues are looked at as they happen, and suspensions of runs that
 * will be: what slurmctld forgets at once must have been seen (ledger/tracker.h).
 */
static void random_histories_equal_what_ran(void **state)
{
	uint64_t seed = number_from("SL_SEED", 1), rounds = rounds_of(15);

	for (; rounds--; seed++) {
		int64_t now = T0, missing = 0, sum = 0;

		random_state = seed;
		truth = 0;
		for (uint32_t i = 0; i < JOBS; i++)
			sim[i] = (struct sim) { .j = { .id = i + 1, .state = SL_JOB_PENDING, .submit = T0 } };
		for (int i = 0; i < 600; i++) {
			int64_t pass = one_in(10) ? between(1, 40) : 1;

			now += pass;
			for (uint32_t k = 0; k < JOBS; k++) {
				uint32_t was = sim[k].j.state;

				step(&sim[k], now);
				/* a start or a change of mind that is followed by a requeue must be seen */
				if (sim[k].j.state != was && (sim[k].j.state == SL_JOB_RUNNING ||
				    sim[k].j.state == SL_JOB_SUSPENDED || sim[k].j.state == SL_JOB_PENDING))
					missing = 0;
			}
			if (missing > 0) {
				missing -= pass;
				continue;
			}
			look(now);
			if (one_in(4))
				look(now);	/* the same again */
			if (one_in(10))
				missing = between(1, 200);
			if (one_in(10))
				restart();
		}
		look(now);
		OK(sl_ledger_commit(ledger, &err));
		sum = total(ledger, "anna", SL_UNIT_NODE) + total(ledger, "bob", SL_UNIT_NODE);
		if (sum != truth)
			fail_msg("seed %llu: %lld node-seconds, expected %lld", (unsigned long long) seed, (long long) sum,
				 (long long) truth);
		OK(sl_ledger_verify(ledger, &err));
		end(state);
		assert_int_equal(begin(state), 0);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_job_that_ends_counts_from_its_start_to_its_end),
		TEST(one_that_never_started_counts_nothing),
		TEST(suspended_time_does_not_count),
		TEST(a_requeued_run_ends_when_slurmctld_says),
		TEST(a_requeue_that_nobody_saw_ends_at_the_new_submit_time),
		TEST(a_job_that_is_gone_counts_until_it_was_seen_last),
		TEST(a_clock_that_is_set_back_an_hour_makes_nothing_negative),
		TEST(random_histories_equal_what_ran),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
