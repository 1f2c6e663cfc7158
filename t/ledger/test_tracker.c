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
	int64_t submit, start, end, suspend, pre, resized, limit;
	const char *name;
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
		r.resize_time = job[i].resized;
		r.time_limit = job[i].limit ? job[i].limit : 3600;
		r.name = sl_builder_str(b->builder, job[i].name ? job[i].name : "job");
		if (job[i].cpus) {
			r.alloc_cpus = job[i].cpus;
			r.alloc_nodes = (job[i].cpus + 63) / 64;
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

/* -- jobs that change their size -------------------------------------------- */

#define SIZED(n, c, s, ...) { .id = n, .state = SL_JOB_RUNNING, .cpus = c, .start = s, __VA_ARGS__ }
#define SHRUNK(n, c, s, e, ...) { .id = n, .state = SL_JOB_COMPLETE, .cpus = c, .start = s, .end = e, __VA_ARGS__ }

static void a_job_that_shrinks_at_its_end_is_charged_for_what_it_held(void **state)
{
	(void) state;
	FEED(T0 + 1, SIZED(1, 32, T0));
	FEED(T0 + 28, SIZED(1, 32, T0));
	FEED(T0 + 29, SIZED(1, 8, T0, .resized = T0 + 29));
	assert_int_equal(total(ledger, "anna", SL_UNIT_CPU), 29 * 32);	/* before it has ended */
	assert_int_equal(total(ledger, "anna", SL_UNIT_GPU), 29 * 4);
	for (int again = 0; again < 3; again++) {
		FEED(T0 + 40 + again, SHRUNK(1, 8, T0, T0 + 30, .resized = T0 + 29));
		assert_int_equal(total(ledger, "anna", SL_UNIT_CPU), 29 * 32 + 8);
		assert_int_equal(total(ledger, "anna", SL_UNIT_GPU), 29 * 4 + 1);
		restart();
	}
	OK(sl_ledger_verify(ledger, &err));
}

static void a_hundred_nodes_that_become_one_count_as_a_hundred(void **state)
{
	(void) state;
	FEED(T0 + 1, SIZED(1, 6400, T0));
	/* shrunk and over before anybody looked again */
	FEED(T0 + 100, SHRUNK(1, 64, T0, T0 + 90, .resized = T0 + 89));
	assert_int_equal(total(ledger, "anna", SL_UNIT_NODE), 89 * 100 + 1);
}

static void the_larger_size_counts_while_nobody_looked(void **state)
{
	(void) state;
	FEED(T0 + 10, SIZED(1, 8, T0), SIZED(2, 32, T0));
	/* both were resized at 50, how often before nobody knows */
	FEED(T0 + 60, SIZED(1, 32, T0, .resized = T0 + 50), SIZED(2, 8, T0, .resized = T0 + 50));
	FEED(T0 + 90, SHRUNK(1, 32, T0, T0 + 80, .resized = T0 + 50), SHRUNK(2, 8, T0, T0 + 80, .resized = T0 + 50));
	assert_int_equal(total(ledger, "anna", SL_UNIT_CPU), 10 * 8 + 70 * 32);
	assert_int_equal(total(ledger, "bob", SL_UNIT_CPU), 50 * 32 + 30 * 8);
}

static void a_restart_in_the_middle_forgets_no_size(void **state)
{
	(void) state;
	FEED(T0 + 10, SIZED(1, 32, T0));
	restart();
	FEED(T0 + 50, SIZED(1, 8, T0, .resized = T0 + 40));
	restart();
	FEED(T0 + 80, SIZED(1, 1, T0, .resized = T0 + 70));
	restart();
	FEED(T0 + 100, SHRUNK(1, 1, T0, T0 + 90, .resized = T0 + 70));
	restart();
	FEED(T0 + 110, SHRUNK(1, 1, T0, T0 + 90, .resized = T0 + 70));
	assert_int_equal(total(ledger, "anna", SL_UNIT_CPU), 40 * 32 + 30 * 8 + 20);
	assert_int_equal(total(ledger, "anna", SL_UNIT_NODE), 90);
}

static void a_requeue_ends_the_last_size_only(void **state)
{
	(void) state;
	FEED(T0 + 10, SIZED(1, 32, T0));
	FEED(T0 + 20, SIZED(1, 8, T0, .resized = T0 + 20));
	FEED(T0 + 40, WAITS(1, T0 + 31));
	assert_int_equal(total(ledger, "anna", SL_UNIT_CPU), 20 * 32 + 11 * 8);
	/* slurmctld still has the time of that resize */
	FEED(T0 + 50, SIZED(1, 16, T0 + 45, .submit = T0 + 31));
	FEED(T0 + 70, SHRUNK(1, 16, T0 + 45, T0 + 55, .submit = T0 + 31));
	assert_int_equal(total(ledger, "anna", SL_UNIT_CPU), 20 * 32 + 11 * 8 + 160);
}

static int keep_run(void *to, const struct sl_job_run *run)
{
	*(struct sl_job_run *) to = *run;
	return 0;
}

/* The newest run of anna, as those see it who learn from the past. */
static struct sl_job_run newest_run(void)
{
	struct sl_job_run r = { 0 };

	OK(sl_ledger_newest(ledger, SL_BY_USER, "anna", 1, keep_run, &r, &err));
	return r;
}

static void the_past_knows_a_run_as_a_whole_and_as_it_was_submitted(void **state)
{
	struct sl_job_run r;

	(void) state;
	FEED(T0 + 10, SIZED(1, 32, T0, .limit = 7200, .name = "real"));
	FEED(T0 + 60, SIZED(1, 8, T0, .resized = T0 + 60, .limit = 7200, .name = "real"));
	assert_int_equal(newest_run().job, 0);		/* it goes on */
	for (int again = 0; again < 2; again++) {
		FEED(T0 + 90, SHRUNK(1, 8, T0, T0 + 80, .resized = T0 + 60, .limit = 120, .name = "decoy"));
		r = newest_run();
		assert_int_equal(r.start, T0);
		assert_int_equal(r.seconds, 80);
		assert_int_equal(r.count[SL_UNIT_CPU], 32);
		assert_int_equal(r.limit, 7200);
		OK(sl_ledger_commit(ledger, &err));
	}
}

static void accounting_takes_the_place_of_what_was_seen(void **state)
{
	struct sl_job_run row = { .job = 1, .start = T0, .end = T0 + 50, .seconds = 50, .count = { 32, 4, 1 },
				  .dim = { "anna", "chem", "main", SL_JOB_RUNNING }, .name = "job", .limit = 3600,
				  .source = SL_RUN_SACCT };

	(void) state;
	FEED(T0 + 10, SIZED(1, 32, T0));
	/* resized at 50 to 16 and at 70 to 8: only the latter is in the snapshot */
	FEED(T0 + 80, SIZED(1, 8, T0, .resized = T0 + 70));
	FEED(T0 + 100, SHRUNK(1, 8, T0, T0 + 90, .resized = T0 + 70));
	assert_int_equal(total(ledger, "anna", SL_UNIT_CPU), 70 * 32 + 20 * 8);
	OK(sl_ledger_commit(ledger, &err));
	for (int again = 0; again < 2; again++) {
		OK(sl_ledger_add(ledger, &row, &err) < 0);
		row = (struct sl_job_run) { row.job, T0 + 50, T0 + 70, 20, .count = { 16, 2, 1 }, .dim = row.dim, .name = "job",
					    .limit = 3600, .source = SL_RUN_SACCT };
		OK(sl_ledger_add(ledger, &row, &err) < 0);
		row = (struct sl_job_run) { row.job, T0 + 70, T0 + 90, 20, .count = { 8, 1, 1 },
					    .dim = { "anna", "chem", "main", SL_JOB_COMPLETE }, .name = "job", .limit = 3600,
					    .source = SL_RUN_SACCT };
		OK(sl_ledger_add(ledger, &row, &err) < 0);
		OK(sl_ledger_commit(ledger, &err));
		row = (struct sl_job_run) { row.job, T0, T0 + 50, 50, .count = { 32, 4, 1 },
					    .dim = { "anna", "chem", "main", SL_JOB_RUNNING }, .name = "job", .limit = 3600,
					    .source = SL_RUN_SACCT };
		assert_int_equal(total(ledger, "anna", SL_UNIT_CPU), 50 * 32 + 20 * 16 + 20 * 8);
	}
	assert_int_equal(newest_run().seconds, 90);
	OK(sl_ledger_verify(ledger, &err));
}

/* -- against a recount ------------------------------------------------------ */

#define JOBS 40

/* A job of a simulated slurmctld. */
struct sim {
	struct job j;
	int64_t counted;		/* seconds of this run that the truth has of */
	int64_t finished;		/* when it ended, 0 while it has not */
	bool purged;
};

static struct sim sim[JOBS];
static int64_t truth, truth_cpu;	/* node- and CPU-seconds of runs and of sizes that are over */
static bool is_hidden;			/* jobs shrink while nobody looks */

static void look(int64_t now);

/* What it has held until now counts. */
static void settle(struct sim *s, int64_t now)
{
	struct job *j = &s->j;
	int64_t ran = j->pre + (j->state == SL_JOB_SUSPENDED ? 0 : now - (j->suspend ? j->suspend : j->start));

	truth += ran - s->counted;
	truth_cpu += (ran - s->counted) * j->cpus;
	s->counted = ran;
}

static void change_size(struct sim *s, int64_t now)
{
	uint32_t cpus = is_hidden ? 1 + below(s->j.cpus) : 1 + below(64);

	if (cpus == s->j.cpus)
		return;
	if (cpus > s->j.cpus)		/* else what is between two looks counts as the larger */
		look(now);
	settle(s, now);
	s->j.cpus = cpus;
	s->j.resized = now;
}

static void step(struct sim *s, int64_t now)
{
	struct job *j = &s->j;

	switch (j->state) {
	case SL_JOB_PENDING:
		if (one_in(6)) {
			j->state = SL_JOB_RUNNING;
			j->start = now;
			j->cpus = 1 + below(64);
			j->suspend = j->pre = j->resized = s->counted = 0;
		}
		break;
	case SL_JOB_RUNNING:
		if (one_in(8) && now > j->start)
			change_size(s, now);
		if (one_in(15)) {			/* suspended */
			j->pre += now - (j->suspend ? j->suspend : j->start);
			j->suspend = now;
			j->state = SL_JOB_SUSPENDED;
		} else if (one_in(15)) {		/* requeued, or preempted so */
			settle(s, now);
			*j = (struct job) { .id = j->id, .state = SL_JOB_PENDING, .submit = now };
		} else if (one_in(10)) {
			settle(s, now);
			j->state = one_in(3) ? SL_JOB_FAILED : SL_JOB_COMPLETE;
			j->end = s->finished = now;
		}
		break;
	case SL_JOB_SUSPENDED:
		if (one_in(4)) {			/* resumed */
			j->suspend = now;
			j->state = SL_JOB_RUNNING;
		} else if (one_in(20)) {		/* cancelled asleep */
			settle(s, now);
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

/* 600 steps of slurmctld, with what the keeper sees of them. */
static void live(void)
{
	int64_t now = T0, missing = 0;

	truth = truth_cpu = 0;
	for (uint32_t i = 0; i < JOBS; i++)
		sim[i] = (struct sim) { .j = { .id = i + 1, .state = SL_JOB_PENDING, .submit = T0 } };
	for (int i = 0; i < 600; i++) {
		int64_t pass = one_in(10) ? between(1, 40) : 1;

		now += pass;
		for (uint32_t k = 0; k < JOBS; k++) {
			uint32_t was = sim[k].j.state;
			int64_t resized = sim[k].j.resized;

			step(&sim[k], now);
			/* a start or a change of mind that is followed by a requeue must be seen */
			if ((sim[k].j.state != was && (sim[k].j.state == SL_JOB_RUNNING ||
			     sim[k].j.state == SL_JOB_SUSPENDED || sim[k].j.state == SL_JOB_PENDING)) ||
			    (!is_hidden && sim[k].j.resized != resized))
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
}

static int64_t both(enum sl_unit unit)
{
	return total(ledger, "anna", unit) + total(ledger, "bob", unit);
}

/*
 * slurmctld moves on second by second; snapshots are missed for up to 250 s (MinJobAge is 300), repeated,
 * and the keeper is restarted.  Only requeues and sizes are looked at as they change, and suspensions of runs that
 * will be: what slurmctld forgets at once must have been seen (ledger/tracker.h).
 */
static void random_histories_equal_what_ran(void **state)
{
	uint64_t seed = number_from("SL_SEED", 1), rounds = rounds_of(15);

	is_hidden = false;
	for (; rounds--; seed++) {
		random_state = seed;
		live();
		if (both(SL_UNIT_NODE) != truth || both(SL_UNIT_CPU) != truth_cpu)
			fail_msg("seed %llu: %lld node-seconds, expected %lld; %lld CPU-seconds, expected %lld",
				 (unsigned long long) seed, (long long) both(SL_UNIT_NODE), (long long) truth,
				 (long long) both(SL_UNIT_CPU), (long long) truth_cpu);
		OK(sl_ledger_verify(ledger, &err));
		end(state);
		assert_int_equal(begin(state), 0);
	}
}

/* The same, but jobs shrink several times between two looks, and that is not looked at. */
static void shrinking_while_nobody_looks_saves_nothing(void **state)
{
	uint64_t seed = number_from("SL_SEED", 1), rounds = rounds_of(15);

	is_hidden = true;
	for (; rounds--; seed++) {
		random_state = seed;
		live();
		if (both(SL_UNIT_NODE) != truth || both(SL_UNIT_CPU) < truth_cpu || both(SL_UNIT_CPU) > 64 * truth)
			fail_msg("seed %llu: %lld node-seconds, expected %lld; %lld CPU-seconds, expected %lld or more",
				 (unsigned long long) seed, (long long) both(SL_UNIT_NODE), (long long) truth,
				 (long long) both(SL_UNIT_CPU), (long long) truth_cpu);
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
		TEST(a_job_that_shrinks_at_its_end_is_charged_for_what_it_held),
		TEST(a_hundred_nodes_that_become_one_count_as_a_hundred),
		TEST(the_larger_size_counts_while_nobody_looked),
		TEST(a_restart_in_the_middle_forgets_no_size),
		TEST(a_requeue_ends_the_last_size_only),
		TEST(the_past_knows_a_run_as_a_whole_and_as_it_was_submitted),
		TEST(accounting_takes_the_place_of_what_was_seen),
		TEST(random_histories_equal_what_ran),
		TEST(shrinking_while_nobody_looks_saves_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
