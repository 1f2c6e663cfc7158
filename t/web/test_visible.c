/* SPDX-License-Identifier: MIT */
/* test_visible.c - what a page may show of a cluster under PrivateData */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "t/build.h"
#include "t/random.h"
#include "tool/job_index.h"
#include "tool/stops.h"
#include "web/answers.h"
#include "web/metrics.h"
#include "web/visible.h"

/* What slurmctld's and the journal's words would give away: each names whose it is. */
#define USERS 4
static const char *const users[USERS] = { "ann", "bob", "cat", "dan" };

/* Its place is held, and others' jobs were stopped for it: one that is gone, one that may be in the cluster. */
static void hold_place(struct build *b, uint32_t row, uint32_t id, uint32_t partition)
{
	char text[80];

	snprintf(text, sizeof(text), "secret of %s", users[below(USERS)]);
	sl_builder_append(b->builder, SL_T_HELD, &(struct sl_held_row) { .job = row, .partition = partition, .since = BUILD_NOW - 20,
		.until = BUILD_NOW + 500, .places = { sl_builder_append(b->builder, SL_T_ALLOC, &(struct sl_alloc_row) { .cores = 1 }), 1 } });
	sl_builder_append(b->builder, SL_T_STOPPED, &(struct sl_stopped_row) { .job = id + 100, .preemptor = id, .time = BUILD_NOW - 20,
		.user = sl_builder_str(b->builder, text), .partition = partition });
	sl_builder_append(b->builder, SL_T_STOPPED, &(struct sl_stopped_row) { .job = 1 + below(12), .preemptor = id, .time = BUILD_NOW - 5,
		.user = sl_builder_str(b->builder, text), .partition = partition });
}

/* A cluster with jobs of all users, each with its user's name in whatever text it has, and partitions of all kinds. */
static struct build *random_private_cluster(void)
{
	struct build *b = build_create("6x8c2g");
	uint32_t parts[] = { 0, build_partition(b, "open", 0, 2), build_partition(b, "some", 2, 4), build_partition(b, "veiled", 4, 5) };

	build_change(b, SL_T_PARTITION, 2, sl_partition_row, .allow_accounts = sl_builder_str(b->builder, "club"));
	build_change(b, SL_T_PARTITION, 3, sl_partition_row, .flags = SL_PART_UP | SL_PART_HIDDEN);
	for (uint32_t id = 1; id <= 12; id++) {
		const char *user = users[below(USERS)];
		struct sl_job_row r = build_row(b, (struct build_job) { .id = id, .nodes = 1, .partition = parts[below(4)], .limit = 600 });
		char text[80];

		r.user = sl_builder_str(b->builder, user);
		snprintf(text, sizeof(text), "secret of %s", user);
		r.name = r.comment = r.account = r.state_reason = sl_builder_str(b->builder, text);
		r.submit_time = BUILD_NOW - 100;
		if (one_in(2)) {
			uint32_t row = build_append(b, &r);

			build_queue(b, row, r.partition);
			if (one_in(4))
				hold_place(b, row, id, r.partition);
			continue;
		}
		r.state = SL_JOB_RUNNING;
		r.start_time = BUILD_NOW - 10;
		r.end_time = BUILD_NOW + 590;
		build_append(b, &r);
	}
	return b;
}

static void look_at(struct sl_look *l, const struct sl_snapshot *s)
{
	struct sl_error err;

	*l = (struct sl_look) { .snap = *s, .bytes = (void *) 1, .status = json_pack("{s:s, s:s}", "source", "site", "policy", "easy") };
	l->used = calloc(s->node.rows, sizeof(*l->used));
	l->gpus = calloc(s->node.rows, sizeof(*l->gpus));
	assert_int_equal(sl_recent_open(&l->recent, &err), 0);
	l->stops = sl_stops_read(s);
	assert_non_null(l->stops);
	for (uint32_t j = 0; j < s->job.rows; j++) {
		char key[24], text[80];

		snprintf(key, sizeof(key), "%u", s->job.id[j]);
		snprintf(text, sizeof(text), "behind a secret of %s", users[below(USERS)]);
		if (s->job.state[j] == SL_JOB_PENDING)
			json_object_set_new(l->recent.waiting, key,
				json_pack("{s:I, s:s, s:s, s:s}", "job", (json_int_t) s->job.id[j], "why", "priority", "text", text, "nodes", "n1"));
	}
	json_array_append_new(l->recent.events, json_pack("[I, s]", (json_int_t) BUILD_NOW, "job 1: secret of ann"));
}

static void forget(struct sl_look *l)
{
	free(l->used);
	free(l->gpus);
	sl_recent_close(&l->recent);
	json_decref(l->status);
	json_decref(l->stops);
}

/* Whose secrets the text has, as bits of users[]. */
static unsigned secrets_in(const char *text)
{
	unsigned whose = 0;

	for (unsigned u = 0; u < USERS; u++) {
		char secret[40];

		snprintf(secret, sizeof(secret), "secret of %s", users[u]);
		whose |= (strstr(text, secret) != NULL) << u;
	}
	return whose;
}

static unsigned mask_of(const char *user)
{
	for (unsigned u = 0; user && u < USERS; u++)
		if (!strcmp(users[u], user))
			return 1u << u;
	return 0;
}

static struct sl_budget plenty = { .most = 1e18 };

static bool is_owned(const struct sl_snapshot *s, json_int_t id, unsigned own)
{
	for (uint32_t j = 0; j < s->job.rows; j++)
		if (s->job.id[j] == id)
			return mask_of(sl_snapshot_str(s, s->job.user[j])) & own;
	return false;
}

/* No job of another's is named as stopped, as the one that it was stopped for, or as one that has to end. */
static void expect_stops_of(const json_t *page, const struct sl_snapshot *s, unsigned own)
{
	json_t *o, *label;
	size_t i, k;

	json_array_foreach(json_object_get(page, "stopped"), i, o) {
		const char *preemptor = json_string_value(json_object_get(o, "preemptor"));

		assert_true(is_owned(s, json_integer_value(json_object_get(o, "id")), own));
		assert_non_null(preemptor);
		assert_true(!*preemptor || is_owned(s, atoll(preemptor), own));
		assert_true(*preemptor || !json_integer_value(json_object_get(o, "until")));
	}
	json_array_foreach(json_object_get(page, "held"), i, o) {
		assert_true(is_owned(s, json_integer_value(json_object_get(o, "id")), own));
		json_array_foreach(json_object_get(o, "ending"), k, label)
			assert_true(is_owned(s, atoll(json_string_value(label)), own));
	}
}

static void look_through(const struct sl_page *p, struct sl_look *l, unsigned own)
{
	struct sl_error err;
	size_t size;
	char *text = sl_page_data(p, &size, &err), id[24];
	json_t *page;

	assert_non_null(text);
	assert_int_equal(secrets_in(text) & ~own, 0);
	page = json_loadb(text, size, 0, NULL);
	assert_non_null(page);
	assert_int_equal(json_array_size(json_object_get(page, "events")), 0);
	expect_stops_of(page, &l->snap, own);
	json_decref(page);
	free(text);
	for (uint32_t j = 0; j < l->snap.job.rows; j++) {
		bool mine = mask_of(sl_snapshot_str(&l->snap, l->snap.job.user[j])) & own;
		int status = 0;

		snprintf(id, sizeof(id), "%u", l->snap.job.id[j]);
		text = sl_web_explain(p, l, &plenty, id, &status);
		assert_non_null(text);
		assert_int_equal(status, mine ? 200 : 404);
		assert_int_equal(secrets_in(text) & ~own, 0);
		free(text);
	}
	text = sl_web_health(p, &(int) { 0 });
	assert_int_equal(secrets_in(text), 0);
	free(text);
	text = sl_web_metrics(l, false, BUILD_NOW, &size);
	assert_null(strstr(text, "partition="));
	assert_null(strstr(text, "slurm_jobs"));
	free(text);
}

static void under_private_jobs_nothing_of_another_users_job_is_shown(void **state)
{
	const uint64_t rounds = rounds_of(300);

	(void) state;
	failing_seed = number_from("SL_SEED", 1);
	for (uint64_t i = 0; i < rounds; i++, failing_seed++) {
		struct build *b;
		struct sl_visible v = { 0 };
		const char *user;
		struct sl_look l;
		struct sl_page p;
		struct sl_error err;

		random_state = failing_seed;
		b = random_private_cluster();
		look_at(&l, build_open(b));
		user = one_in(3) ? NULL : users[below(USERS)];
		p = (struct sl_page) { .look = &l, .seen = &v, .hides = SL_HIDE_JOBS | below(SL_HIDE_ALL + 1), .now = BUILD_NOW };
		assert_int_equal(sl_visible_make(&v, &l.snap, p.hides, user, &err), 0);
		look_through(&p, &l, mask_of(user));
		sl_visible_clear(&v);
		forget(&l);
		build_destroy(b);
	}
	failing_seed = 0;
}

static void under_private_jobs_the_texts_are_shown_that_squeue_shows(void **state)
{
	static const char *const shown[] = { "never", "partition", "nodes_down", "deadline", "not_modelled", "cost", "policy",
		"reserved", "check" };
	struct sl_visible v = { 0 };
	struct sl_page p = { .seen = &v, .hides = SL_HIDE_JOBS };
	unsigned count = 0;

	(void) state;
	for (uint32_t why = 0; why < SL_WHYS; why++) {
		json_t *record = json_pack("{s:s, s:s}", "why", sl_why_word(why), "text", "because");
		bool is_shown = false;

		for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
			is_shown |= !strcmp(shown[i], sl_why_word(why));
		assert_string_equal(sl_page_text(&p, record), is_shown ? "because" : "");
		count += is_shown;
		json_decref(record);
	}
	assert_int_equal(count, sizeof(shown) / sizeof(shown[0]));
}

/* Job 1 of ann's ends, 2 of bob's was requeued, 9 of ann's is gone: all three for 3 of cat's, whose place on n1 and n2 is held. */
static struct build *cluster_with_stops(int64_t until)
{
	struct build *b = build_create("3x8c");
	static const struct { uint32_t job; const char *user; } stops[] = { { 1, "ann" }, { 2, "bob" }, { 9, "ann" } };
	uint32_t ann = build_running(b, (struct build_job) { .id = 1, .nodes = 1, .first = 1, .ends_in = 600 });
	uint32_t bob = build_pending(b, (struct build_job) { .id = 2 }), cat = build_pending(b, (struct build_job) { .id = 3, .nodes = 2 });
	uint32_t first;

	build_change(b, SL_T_JOB, ann, sl_job_row, .user = sl_builder_str(b->builder, "ann"));
	build_change(b, SL_T_JOB, bob, sl_job_row, .user = sl_builder_str(b->builder, "bob"));
	build_change(b, SL_T_JOB, cat, sl_job_row, .user = sl_builder_str(b->builder, "cat"));
	first = sl_builder_append(b->builder, SL_T_ALLOC, &(struct sl_alloc_row) { .node = 1, .cores = 8 });
	sl_builder_append(b->builder, SL_T_ALLOC, &(struct sl_alloc_row) { .node = 2, .cores = 8 });
	sl_builder_append(b->builder, SL_T_HELD, &(struct sl_held_row) { .job = cat, .since = BUILD_NOW - 5, .until = until, .places = { first, 2 } });
	for (size_t i = 0; i < sizeof(stops) / sizeof(stops[0]); i++)
		sl_builder_append(b->builder, SL_T_STOPPED, &(struct sl_stopped_row) { .job = stops[i].job, .preemptor = 3, .time = BUILD_NOW - 5,
			.user = sl_builder_str(b->builder, stops[i].user) });
	return b;
}

/* "JOB<PREEMPTOR:FATE:UNTIL" of each that is shown as stopped, then "JOB@NODES:UNTIL<ENDING" of each held place. */
static void tell_stops(const json_t *page, char *text, size_t size)
{
	json_t *o, *label;
	size_t i, k, n = 0;

	*text = 0;
	json_array_foreach(json_object_get(page, "stopped"), i, o)
		n += (size_t) snprintf(text + n, size - n, "%s<%s:%s:%lld ", json_string_value(json_object_get(o, "label")),
			json_string_value(json_object_get(o, "preemptor")), json_string_value(json_object_get(o, "fate")),
			json_integer_value(json_object_get(o, "until")));
	json_array_foreach(json_object_get(page, "held"), i, o) {
		n += (size_t) snprintf(text + n, size - n, "%s@%s:%lld", json_string_value(json_object_get(o, "label")),
			json_string_value(json_object_get(o, "nodes")), json_integer_value(json_object_get(o, "until")));
		json_array_foreach(json_object_get(o, "ending"), k, label)
			n += (size_t) snprintf(text + n, size - n, "<%s", json_string_value(label));
	}
}

static void stops_and_held_places_are_shown_to_those_who_may_see_the_jobs(void **state)
{
	static const struct { unsigned hides; const char *user; int64_t until; const char *told; } tries[] = {
		{ 0, NULL, 1000500, "9<3:gone:1000500 2<3:waiting:1000500 1<3:ending:1000500 3@n[1-2]:1000500<1" },
		{ 0, NULL, 999999, "9<3:gone:0 2<3:waiting:0 1<3:ending:0 " },
		{ SL_HIDE_NODES, NULL, 1000500, "2<3:waiting:1000500 1<3:ending:1000500 3@:1000500<1" },
		{ SL_HIDE_JOBS, NULL, 1000500, "" },
		{ SL_HIDE_JOBS, "dan", 1000500, "" },
		{ SL_HIDE_JOBS, "ann", 1000500, "9<:gone:0 1<:ending:0 " },
		{ SL_HIDE_JOBS, "bob", 1000500, "2<:waiting:0 " },
		{ SL_HIDE_JOBS, "cat", 1000500, "3@n[1-2]:1000500" },
		{ SL_HIDE_ALL, "cat", 1000500, "3@:1000500" },
	};

	(void) state;
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		struct build *b = cluster_with_stops(tries[i].until);
		struct sl_visible v = { 0 };
		struct sl_look l;
		struct sl_page p = { .look = &l, .seen = &v, .hides = tries[i].hides, .now = BUILD_NOW };
		struct sl_error err;
		char told[400], *text;
		json_t *page;
		size_t size;

		look_at(&l, build_open(b));
		assert_int_equal(sl_visible_make(&v, &l.snap, p.hides, tries[i].user, &err), 0);
		text = sl_page_data(&p, &size, &err);
		assert_non_null(text);
		page = json_loadb(text, size, 0, NULL);
		tell_stops(page, told, sizeof(told));
		assert_string_equal(told, tries[i].told);
		json_decref(page);
		free(text);
		sl_visible_clear(&v);
		forget(&l);
		build_destroy(b);
	}
}

static void without_private_data_all_but_what_is_hidden_is_shown(void **state)
{
	struct build *b = build_create("4x8c");
	uint32_t veiled = build_partition(b, "veiled", 0, 1), job, row;
	struct sl_visible v = { 0 };
	const struct sl_snapshot *s;
	struct sl_error err;

	(void) state;
	build_change(b, SL_T_PARTITION, veiled, sl_partition_row, .flags = SL_PART_UP | SL_PART_HIDDEN);
	build_pending(b, (struct build_job) { .id = 1 });
	job = build_pending(b, (struct build_job) { .id = 2, .partition = veiled });
	s = build_open(b);
	assert_int_equal(sl_visible_make(&v, s, 0, NULL, &err), 0);
	assert_true(v.some);
	assert_int_equal(v.snap->job.rows, 1);
	assert_int_equal(v.snap->job.id[0], 1);
	assert_int_equal(v.snap->queue.rows, 1);
	assert_true(v.partition[0] && !v.partition[veiled]);
	sl_visible_clear(&v);
	row = build_job_row(b, 2);
	assert_int_equal(row, job);
	build_change(b, SL_T_JOB, job, sl_job_row, .user = sl_builder_str(b->builder, "ann"));
	assert_int_equal(sl_visible_make(&v, build_open(b), 0, "ann", &err), 0);
	assert_int_equal(v.snap->job.rows, 2);		/* her own, and so the partition */
	assert_true(v.partition[veiled]);
	sl_visible_clear(&v);
	build_destroy(b);
}

static void where_nothing_is_hidden_nothing_is_copied(void **state)
{
	struct build *b = build_random_cluster(7, 20, 30);
	const struct sl_snapshot *s = build_open(b);
	struct sl_visible v = { 0 };
	struct sl_error err;

	(void) state;
	for (uint32_t p = 0; p < s->partition.rows; p++)
		build_change(b, SL_T_PARTITION, p, sl_partition_row, .flags &= ~(uint32_t) SL_PART_HIDDEN);
	s = build_open(b);
	assert_int_equal(sl_visible_make(&v, s, 0, "ann", &err), 0);
	assert_ptr_equal(v.snap, s);
	sl_visible_clear(&v);
	build_destroy(b);
}

static void any_cluster_can_be_filtered(void **state)
{
	const uint64_t rounds = rounds_of(200);

	(void) state;
	for (uint64_t seed = 1; seed <= rounds; seed++) {
		struct build *b = build_random_cluster(seed, 1 + (uint32_t) seed % 40, 60);
		struct sl_visible v = { 0 };
		struct sl_error err;

		if (sl_visible_make(&v, build_open(b), (unsigned) seed % (SL_HIDE_ALL + 1), NULL, &err))
			fail_msg("seed %llu: %s", (unsigned long long) seed, err.text);
		sl_visible_clear(&v);
		build_destroy(b);
	}
}

static void words_of_private_data_are_known_and_an_unknown_one_hides_everything(void **state)
{
	(void) state;
	assert_int_equal(sl_hides_read(""), 0);
	assert_int_equal(sl_hides_read("none"), 0);
	assert_int_equal(sl_hides_read("accounts,events,users,usage,cloud"), 0);
	assert_int_equal(sl_hides_read("JOBS, nodes"), SL_HIDE_JOBS | SL_HIDE_NODES);
	assert_int_equal(sl_hides_read(",mcs,"), SL_HIDE_JOBS);
	assert_int_equal(sl_hides_read("partitions,reservations"), SL_HIDE_PARTITIONS | SL_HIDE_RESERVATIONS);
	assert_int_equal(sl_hides_read("job"), SL_HIDE_ALL);
	assert_int_equal(sl_hides_read("jobsx"), SL_HIDE_ALL);
	assert_int_equal(sl_hides_read("usage,novelties"), SL_HIDE_ALL);
}

static void what_is_no_job_id_is_refused(void **state)
{
	static const char *const bad[] = { "", "x", "-1", "0", "1x", "1_", "1_x", "1_2_3", "99999999999", "4294967296", "1 ", " 1", "0x1", "1;2",
		"../1", "1e9" };
	struct build *b = build_create("1x1c");
	struct sl_visible v = { 0 };
	struct sl_look l;
	struct sl_page p;
	struct sl_error err;
	int status;

	(void) state;
	look_at(&l, build_open(b));
	p = (struct sl_page) { .look = &l, .seen = &v, .now = BUILD_NOW };
	assert_int_equal(sl_visible_make(&v, &l.snap, 0, NULL, &err), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		free(sl_web_explain(&p, &l, &plenty, bad[i], &status));
		assert_int_equal(status, 400);
	}
	free(sl_web_explain(&p, &l, &plenty, NULL, &status));
	assert_int_equal(status, 400);
	free(sl_web_explain(&p, &l, &plenty, "4711", &status));
	assert_int_equal(status, 404);
	free(sl_web_explain(&p, &l, &(struct sl_budget) { .most = 1, .used = 1e9 }, "4711", &status));
	assert_int_equal(status, 503);		/* others have read all that may be read */
	sl_visible_clear(&v);
	forget(&l);
	build_destroy(b);
}

/* However requests come, no more is read than a stretch, what came back, and one request. */
static void a_budget_comes_back_with_time_and_is_never_more(void **state)
{
	struct sl_budget b = { .most = 100, .per_s = 10 };
	double used = 0, now = 5, first = now;
	struct sl_random r;

	(void) state;
	sl_random_seed(&r, 3);
	for (int i = 0; i < 5000; i++) {
		double amount = (double) sl_random_between(&r, 0, 40);

		now += (double) sl_random_between(&r, 0, 20) / 10;
		if (sl_budget_allows(&b, now)) {
			sl_budget_use(&b, amount, now);
			used += amount;
		}
		assert_true(used <= 100 + 40 + 10 * (now - first));
	}
	assert_true(used > 9 * (now - first));	/* and all that came back was used */
	now += 1000;
	assert_true(sl_budget_allows(&b, now));
	assert_true(b.used <= 0 && b.used >= 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(under_private_jobs_nothing_of_another_users_job_is_shown, say_seed),
		cmocka_unit_test(under_private_jobs_the_texts_are_shown_that_squeue_shows),
		cmocka_unit_test(stops_and_held_places_are_shown_to_those_who_may_see_the_jobs),
		cmocka_unit_test(without_private_data_all_but_what_is_hidden_is_shown),
		cmocka_unit_test(where_nothing_is_hidden_nothing_is_copied),
		cmocka_unit_test(any_cluster_can_be_filtered),
		cmocka_unit_test(words_of_private_data_are_known_and_an_unknown_one_hides_everything),
		cmocka_unit_test(what_is_no_job_id_is_refused),
		cmocka_unit_test(a_budget_comes_back_with_time_and_is_never_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
