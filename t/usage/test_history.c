/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "usage/history.h"
#include "t/random.h"

#define T0 INT64_C(1700000000)

static struct sl_error err;

static struct sl_job_run run_of(uint32_t job, const char *user, const char *name, int64_t start, int64_t seconds)
{
	return (struct sl_job_run) { .job = job, .start = start, .end = start + seconds, .seconds = seconds, .limit = 3600,
				     .count = { job % 8 + 1, 0, 1 }, .dim = { user, "chem", "main", SL_JOB_COMPLETE },
				     .name = name };
}

static void add(struct sl_history *h, struct sl_job_run run)
{
	if (sl_history_add(h, &run, &err))
		fail_msg("%s", err.text);
}

static struct sl_history_query query(const char *user, uint32_t last, int64_t now)
{
	return (struct sl_history_query) { .user = user, .last = last, .now = now, .least_cpus = INT64_MIN,
					   .most_cpus = INT64_MAX, .least_limit = INT64_MIN, .most_limit = INT64_MAX };
}

/* Their job numbers, "3 2 1". */
static const char *jobs(struct sl_history *h, struct sl_history_query q)
{
	static char text[8000];
	const struct sl_past_run *const *run;
	uint32_t n, at = 0;

	if (sl_history_ask(h, &q, &run, &n, &err))
		fail_msg("%s", err.text);
	*text = 0;
	for (uint32_t i = 0; i < n; i++)
		at += (uint32_t) snprintf(text + at, sizeof(text) - at, "%s%u", i ? " " : "", run[i]->job);
	return text;
}

static struct sl_history *new_history(void)
{
	struct sl_history *h = sl_history_create(NULL, NULL, &err);

	assert_non_null(h);
	return h;
}

static void what_ended_last_comes_first(void **state)
{
	struct sl_history *h = new_history();

	(void) state;
	add(h, run_of(1, "anna", "a", T0, 1000));
	add(h, run_of(2, "anna", "b", T0, 10));
	add(h, run_of(3, "bert", "a", T0, 20));
	add(h, run_of(4, "anna", "a", T0 + 990, 10));	/* ends with the first: began later */
	assert_string_equal(jobs(h, query("anna", 10, T0 + 5000)), "4 1 2");
	assert_string_equal(jobs(h, query("anna", 2, T0 + 5000)), "4 1");
	assert_string_equal(jobs(h, query("carl", 2, T0 + 5000)), "");
	sl_history_destroy(h);
}

static void nothing_is_known_of_what_has_not_ended(void **state)
{
	struct sl_history *h = new_history();

	(void) state;
	add(h, run_of(1, "anna", "a", T0, 100));
	add(h, run_of(2, "anna", "a", T0, 200));
	assert_string_equal(jobs(h, query("anna", 10, T0 + 199)), "1");
	assert_string_equal(jobs(h, query("anna", 10, T0 + 200)), "2 1");
	sl_history_destroy(h);
}

static void a_question_narrows_down(void **state)
{
	struct sl_history *h = new_history();
	struct sl_history_query q = query(NULL, 10, T0 + 5000);

	(void) state;
	for (uint32_t i = 0; i < 8; i++)
		add(h, run_of(i, i % 2 ? "anna" : "bert", i < 4 ? "a" : "b", T0 + i, 10));
	q.account = "chem";
	assert_string_equal(jobs(h, q), "7 6 5 4 3 2 1 0");
	q.name = "b";
	assert_string_equal(jobs(h, q), "7 6 5 4");
	q.user = "anna";
	assert_string_equal(jobs(h, q), "7 5");
	q.most_cpus = 6;
	assert_string_equal(jobs(h, q), "5");
	q.least_limit = 3601;
	assert_string_equal(jobs(h, q), "");
	q = query("anna", 10, T0 + 5000);
	q.account = "physics";
	assert_string_equal(jobs(h, q), "");
	q.account = NULL;
	q.name = "nobody ran this";
	assert_string_equal(jobs(h, q), "");
	sl_history_destroy(h);
}

static void a_run_that_is_told_again_is_one_run(void **state)
{
	struct sl_history *h = new_history();
	struct sl_job_run r = run_of(1, "anna", "a", T0, 100);

	(void) state;
	add(h, r);
	add(h, r);
	assert_string_equal(jobs(h, query("anna", 10, T0 + 5000)), "1");
	r.end += 50;		/* somebody knows better */
	r.seconds += 50;
	add(h, r);
	assert_string_equal(jobs(h, query("anna", 10, T0 + 149)), "");
	assert_string_equal(jobs(h, query("anna", 10, T0 + 150)), "1");
	sl_history_destroy(h);
}

static void long_names_are_cut_where_they_are_kept_and_where_they_are_asked(void **state)
{
	struct sl_history *h = new_history();
	struct sl_history_query q = query("anna", 10, T0 + 5000);
	char name[200];

	(void) state;
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = 0;
	add(h, run_of(1, "anna", name, T0, 100));
	q.name = name;
	assert_string_equal(jobs(h, q), "1");
	sl_history_destroy(h);
}

/* As many as ever, in whatever order they come: the newest are there. */
static void the_newest_are_kept_of_any_number(void **state)
{
	struct sl_history *h = new_history();
	struct sl_history_query q = query("anna", SL_HISTORY_KEPT, T0 + 100000000);
	const struct sl_past_run *const *run;
	uint32_t n;

	(void) state;
	for (uint32_t i = 0; i < 20000; i += 4)	/* a little out of order */
		for (uint32_t k = 4; k-- > 0; )
			add(h, run_of(i + k, "anna", "a", T0 + i + k, 10));
	assert_int_equal(sl_history_ask(h, &q, &run, &n, &err), 0);
	assert_int_equal(n, SL_HISTORY_KEPT);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(run[i]->job, 19999 - i);
	sl_history_destroy(h);
}

/* A history of the rows that answers rested on answers the same, question by question. */
static void what_was_asked_replays(void **state)
{
	static const char *const users[] = { "anna", "bert", "carl" }, *const names[] = { "a", "b", NULL };

	(void) state;
	for (unsigned round = 0; round < 200; round++) {
		struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, &err);
		struct sl_meta_row meta = sl_meta_row();
		struct sl_history *h = new_history(), *again;
		struct sl_history_query q[6];
		char first[6][8000];
		struct sl_snapshot snap;
		const void *bytes;
		size_t size;

		for (uint32_t i = 0; i < 300; i++)
			add(h, run_of(i, users[below(3)], names[below(2)], T0 + (int64_t) below(1000), 1 + (int64_t) below(1000)));
		sl_history_begin(h);
		for (int i = 0; i < 6; i++) {
			q[i] = query(users[below(3)], 1 + below(30), T0 + 900 + (int64_t) below(1000));
			q[i].name = names[below(3)];
			q[i].most_cpus = one_in(3) ? 4 : INT64_MAX;
			if (one_in(3)) {
				q[i].user = NULL;
				q[i].account = "chem";
			}
			strcpy(first[i], jobs(h, q[i]));
		}
		sl_builder_append(b, SL_T_META, &meta);
		sl_history_encode(h, b, SL_T_HISTORY);
		assert_int_equal(sl_builder_finish(b, &bytes, &size, &err), 0);
		assert_int_equal(sl_snapshot_open(&snap, bytes, size, &err), 0);
		assert_non_null(again = sl_history_of_snapshot(&snap, &err));
		for (int i = 0; i < 6; i++)
			assert_string_equal(jobs(again, q[i]), first[i]);
		sl_history_destroy(again);
		sl_history_destroy(h);
		sl_builder_destroy(b);
	}
}

/* -- loading --------------------------------------------------------------------- */

static unsigned loads;

static int load(void *arg, struct sl_history *h, enum sl_usage_by by, const char *name, struct sl_error *e)
{
	struct sl_job_run *run = arg;

	loads++;
	sl_history_replace(h, by, name);
	if (sl_history_put(h, by, name, run, e))
		return -1;
	sl_history_loaded(h, by, name);
	return 0;
}

static void who_is_asked_about_is_loaded_once_in_a_cycle(void **state)
{
	struct sl_job_run run = run_of(7, "anna", "a", T0, 100);
	struct sl_history *h = sl_history_create(load, &run, &err);
	enum sl_usage_by by;
	const char *name;
	uint32_t at = 0;

	(void) state;
	assert_string_equal(jobs(h, query("anna", 10, T0 + 100)), "7");
	assert_string_equal(jobs(h, query("anna", 1, T0 + 100)), "7");
	assert_int_equal(loads, 1);
	sl_history_begin(h);
	assert_true(sl_history_next_asked(h, &at, &by, &name));
	assert_string_equal(name, "anna");
	assert_int_equal(by, SL_BY_USER);
	at = 0;
	run.job = 8;
	assert_string_equal(jobs(h, query("anna", 10, T0 + 100)), "8");
	assert_int_equal(loads, 2);
	assert_false(sl_history_next_asked(h, &at, &by, &name));
	sl_history_begin(h);
	sl_history_begin(h);
	at = 0;
	assert_false(sl_history_next_asked(h, &at, &by, &name));
	sl_history_destroy(h);
}

/* -- what a user's past says of a job ----------------------------------------- */

static struct sl_history_like like(struct sl_history *h, int64_t cpus, int64_t now)
{
	struct sl_history_like found;

	if (sl_history_like(h, "anna", cpus, 3600, now, &found, &err))
		fail_msg("%s", err.text);
	return found;
}

static struct sl_job_run sized_run(uint32_t job, uint32_t cpus, int64_t start, int64_t seconds)
{
	struct sl_job_run run = run_of(job, "anna", "a", start, seconds);

	run.count[SL_UNIT_CPU] = cpus;
	return run;
}

/* Real jobs of 32 CPUs that run for 3000 s, with so many before each that end after a second; the time after them. */
static int64_t cheat(struct sl_history *h, int reals, int decoys, uint32_t decoy_cpus)
{
	int64_t now = T0;
	uint32_t job = 1;

	for (int i = 0; i < reals; i++) {
		for (int k = 0; k < decoys; k++, now += 2)
			add(h, sized_run(job++, decoy_cpus, now, 1));
		add(h, sized_run(job++, 32, now, 3000));
		now += 3001;
	}
	for (int k = 0; k < decoys; k++, now += 2)
		add(h, sized_run(job++, decoy_cpus, now, 1));
	return now;
}

static void runs_of_another_size_say_nothing_of_a_job(void **state)
{
	struct sl_history *h = new_history();
	int64_t now = cheat(h, 20, 2, 1);
	struct sl_history_like found = like(h, 32, now);

	(void) state;
	assert_int_equal(found.count, 2);
	assert_int_equal(found.runtime[0], 3000);
	assert_int_equal(found.runtime[1], 3000);
	assert_true(found.stretch < 1.001);
	found = like(h, 1, now);
	assert_int_equal(found.runtime[0], 1);
	sl_history_destroy(h);
}

static void twins_that_end_at_once_are_stretched_by_what_they_hid(void **state)
{
	(void) state;
	for (int decoys = 2; decoys <= 50; decoys += 12) {
		struct sl_history *h = new_history();
		struct sl_history_like found = like(h, 32, cheat(h, 400 / decoys, decoys, 32));

		assert_int_equal(found.runtime[0], 10);
		assert_true(found.runtime[0] * found.stretch > 2800);
		sl_history_destroy(h);
	}
}

/* What somebody gains by deceiving for a share of his work is bounded by what the others then cost him. */
static void deceiving_for_a_share_gains_that_share_s_inverse_at_most(void **state)
{
	(void) state;
	for (int share = 2; share <= 8; share *= 2) {
		struct sl_history *h = new_history();
		struct sl_history_like found;
		int64_t now = T0;
		uint32_t job = 1;

		for (int i = 0; i < 64; i++, now += 3001) {
			for (int k = 0; k < 2 && i % share == 0; k++, now += 2)
				add(h, sized_run(job++, 32, now, 1));
			add(h, sized_run(job++, 32, now, 3000));
		}
		found = like(h, 32, now);
		assert_true(found.stretch * 10 >= 3000 / share * 0.7);
		sl_history_destroy(h);
	}
}

static void the_order_in_which_runs_become_known_does_not_matter(void **state)
{
	struct sl_job_run runs[60];
	struct sl_history *there = new_history(), *back = new_history();
	int64_t now = T0;

	(void) state;
	random_state = number_from("SL_SEED", 1);
	for (uint32_t i = 0; i < 60; i++) {
		runs[i] = sized_run(i + 1, 1 + below(64), now, one_in(3) ? 1 : (int64_t) below(3600));
		now += below(2000);
	}
	now += 4000;
	for (uint32_t i = 0; i < 60; i++) {
		add(there, runs[i]);
		add(back, runs[59 - i]);
	}
	for (int64_t cpus = 1; cpus <= 64; cpus *= 2) {
		struct sl_history_like a = like(there, cpus, now), b = like(back, cpus, now);

		assert_memory_equal(&a.stretch, &b.stretch, sizeof(a.stretch));
		assert_int_equal(a.count, b.count);
		assert_memory_equal(a.runtime, b.runtime, a.count * sizeof(*a.runtime));
	}
	sl_history_destroy(there);
	sl_history_destroy(back);
}

static void what_was_asked_of_like_runs_replays(void **state)
{
	struct sl_history *h = new_history(), *again;
	struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, &err);
	struct sl_meta_row meta = sl_meta_row();
	struct sl_history_like before, after;
	struct sl_snapshot snap;
	const void *bytes;
	int64_t now;
	size_t size;

	(void) state;
	now = cheat(h, 100, 3, 16);
	sl_history_begin(h);
	before = like(h, 32, now);
	sl_builder_append(b, SL_T_META, &meta);
	sl_history_encode(h, b, SL_T_HISTORY);
	assert_int_equal(sl_builder_finish(b, &bytes, &size, &err), 0);
	assert_int_equal(sl_snapshot_open(&snap, bytes, size, &err), 0);
	assert_non_null(again = sl_history_of_snapshot(&snap, &err));
	assert_true(snap.history.rows < 200);
	after = like(again, 32, now);
	assert_memory_equal(&before, &after, sizeof(before));
	sl_history_destroy(h);
	sl_history_destroy(again);
	sl_builder_destroy(b);
}

/* What is expected of anna's job of an hour, whose only run of that size lasted for 3000 s. */
static double expected_beside(int others, int64_t seconds, int64_t now)
{
	struct sl_history *h = new_history();
	double typical, stretch;
	uint32_t prospect;

	for (int i = 0; i < others; i++) {
		char name[16];

		snprintf(name, sizeof(name), "other%d", i);
		add(h, run_of(100 + (uint32_t) i, name, "a", T0 + i, seconds));
	}
	add(h, sized_run(1, 32, T0, 3000));
	for (uint32_t i = 0; i < 100; i++)	/* of no size that matters */
		add(h, sized_run(2 + i, 1, T0 + i, 1));
	prospect = sl_history_prospect(h, "anna", 32, 3600, &err);
	assert_int_not_equal(prospect, SL_NONE);
	assert_int_equal(sl_history_expect(h, prospect, now, &typical, &stretch, &err), 0);
	sl_history_destroy(h);
	return typical;
}

static void what_others_runs_took_of_their_walltimes_has_a_little_weight(void **state)
{
	double alone = expected_beside(0, 0, T0 + 5000);

	(void) state;
	assert_true(alone > 3000 && alone < 3200);
	assert_true(expected_beside(100, 10, T0 + 5000) < alone / 2);
	assert_true(expected_beside(100, 3600, T0 + 5000) >= alone);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_ended_last_comes_first),
		cmocka_unit_test(nothing_is_known_of_what_has_not_ended),
		cmocka_unit_test(a_question_narrows_down),
		cmocka_unit_test(a_run_that_is_told_again_is_one_run),
		cmocka_unit_test(long_names_are_cut_where_they_are_kept_and_where_they_are_asked),
		cmocka_unit_test(the_newest_are_kept_of_any_number),
		cmocka_unit_test(what_was_asked_replays),
		cmocka_unit_test(who_is_asked_about_is_loaded_once_in_a_cycle),
		cmocka_unit_test(runs_of_another_size_say_nothing_of_a_job),
		cmocka_unit_test(twins_that_end_at_once_are_stretched_by_what_they_hid),
		cmocka_unit_test(deceiving_for_a_share_gains_that_share_s_inverse_at_most),
		cmocka_unit_test(the_order_in_which_runs_become_known_does_not_matter),
		cmocka_unit_test(what_was_asked_of_like_runs_replays),
		cmocka_unit_test(what_others_runs_took_of_their_walltimes_has_a_little_weight),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
