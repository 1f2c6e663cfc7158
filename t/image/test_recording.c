/* SPDX-License-Identifier: MIT */
/*
 * Recorded snapshots: written whole, read back, bounded in number and bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <signal.h>
#include <unistd.h>

#include <cmocka.h>

#include "t/make_image.h"
#include "t/scratch.h"
#include "image/recording.h"

static char dir[64];
static const struct sl_recording_limits plenty = { 1000, UINT64_C(1) << 40 };

static int make_dir(void **state)
{
	static int number;

	(void) state;
	snprintf(dir, sizeof(dir), "%s/%d", scratch, number++);
	return 0;
}

static void record(int64_t sequence, const void *bytes, size_t size, const struct sl_recording_limits *limits)
{
	struct sl_error err = { 0 };

	if (sl_recording_add(dir, SL_RECORDED_SNAPSHOT, sequence, bytes, size, limits, &err))
		fail_msg("%s", err.text);
}

static uint32_t count(void)
{
	struct sl_recording r;
	struct sl_error err;
	uint32_t n;

	sl_recording_list(&r, dir, &err);
	n = r.count;
	sl_recording_free(&r);
	return n;
}

static void touch(const char *name)
{
	char path[160];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fclose(f), 0);
}

static bool there(const char *name)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return access(path, F_OK) == 0;
}

static void a_snapshot_is_read_back_as_it_was_and_is_smaller(void **state)
{
	struct sl_error err = { 0 };
	struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, &err);
	struct sl_recording r;
	const void *bytes;
	void *back;
	size_t size, got;
	struct stat st;

	(void) state;
	make_snapshot(b, 1, 100, 400);
	assert_int_equal(sl_builder_finish(b, &bytes, &size, &err), 0);
	record(7, bytes, size, &plenty);
	assert_int_equal(sl_recording_list(&r, dir, &err), 0);
	assert_int_equal(r.count, 1);
	assert_int_equal(stat(r.path[0], &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	assert_true((size_t) st.st_size < size);
	if (sl_image_load(&sl_snapshot_schema, r.path[0], &back, &got, &err))
		fail_msg("%s", err.text);
	assert_int_equal(got, size);
	assert_memory_equal(back, bytes, size);
	free(back);
	sl_recording_free(&r);
	sl_builder_destroy(b);
}

static void files_are_listed_in_the_order_of_cycles(void **state)
{
	static const int64_t sequence[] = { 1700000000123, 9, 10, INT64_MAX, 0 };
	struct sl_recording r;
	struct sl_error err;

	(void) state;
	for (size_t i = 0; i < 5; i++)
		record(sequence[i], "x", 1, &plenty);
	assert_int_equal(sl_recording_list(&r, dir, &err), 0);
	assert_int_equal(r.count, 5);
	assert_non_null(strstr(r.path[0], "-00000000000000000000."));
	assert_non_null(strstr(r.path[2], "-00000000000000000010."));
	assert_non_null(strstr(r.path[4], "-09223372036854775807."));
	sl_recording_free(&r);
}

static void the_oldest_go_when_there_are_too_many(void **state)
{
	struct sl_recording_limits three = { 3, UINT64_C(1) << 40 };

	(void) state;
	for (int i = 1; i <= 10; i++)
		record(i, "x", 1, &three);
	assert_int_equal(count(), 3);
	assert_true(there("cycle-00000000000000000008.snap.gz"));
	assert_true(there("cycle-00000000000000000010.snap.gz"));
}

static void the_oldest_go_when_they_are_too_large_but_never_the_newest(void **state)
{
	struct sl_recording_limits little = { 1000, 100 };

	(void) state;
	for (int i = 1; i <= 10; i++)
		record(i, "x", 1, &little);		/* 21 bytes each */
	assert_in_range(count(), 3, 5);
	little.bytes = 1;
	record(11, "x", 1, &little);
	assert_int_equal(count(), 1);
	assert_true(there("cycle-00000000000000000011.snap.gz"));
}

static void what_is_not_ours_is_neither_read_nor_removed(void **state)
{
	struct sl_recording_limits one = { 1, UINT64_C(1) << 40 };

	(void) state;
	record(1, "x", 1, &one);
	touch("cycle-1.snap.gz");
	touch("cycle-00000000000000000001.snap");
	touch("cycle-0000000000000000000x.snap.gz");
	record(2, "x", 1, &one);
	assert_int_equal(count(), 1);
	assert_true(there("cycle-1.snap.gz"));
	assert_true(there("cycle-00000000000000000001.snap"));
	assert_true(there("cycle-0000000000000000000x.snap.gz"));
}

static void what_a_crash_left_unfinished_is_removed(void **state)
{
	(void) state;
	record(1, "x", 1, &plenty);
	touch("cycle-00000000000000000002.snap.gz.new");
	assert_int_equal(count(), 1);
	record(3, "x", 1, &plenty);
	assert_int_equal(count(), 2);
	assert_false(there("cycle-00000000000000000002.snap.gz.new"));
}

static void a_full_disk_leaves_nothing_behind(void **state)
{
	struct rlimit old, small = { 4096, 4096 };
	static unsigned char noise[100000];
	struct sl_error err = { 0 };
	uint64_t seed = 3;

	(void) state;
	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (unsigned char) make_random(&seed);
	record(1, "x", 1, &plenty);
	getrlimit(RLIMIT_FSIZE, &old);
	small.rlim_max = old.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &small);
	assert_int_equal(sl_recording_add(dir, SL_RECORDED_SNAPSHOT, 2, noise, sizeof(noise), &plenty, &err), -1);
	setrlimit(RLIMIT_FSIZE, &old);
	signal(SIGXFSZ, SIG_DFL);
	assert_int_equal(err.code, SL_EIO);
	assert_non_null(strstr(err.text, "cycle-00000000000000000002"));
	assert_int_equal(count(), 1);
	assert_false(there("cycle-00000000000000000002.snap.gz.new"));
}

/* The snapshot is as it was, but for the runs that the decision rested on. */
static void what_a_decision_rested_on_is_recorded_with_it(void **state)
{
	struct sl_error err = { 0 };
	struct sl_builder *s = sl_builder_create(&sl_snapshot_schema, &err), *p = sl_builder_create(&sl_plan_schema, &err);
	struct sl_builder *b[2] = { sl_builder_create(&sl_snapshot_schema, &err), sl_builder_create(&sl_snapshot_schema, &err) };
	struct sl_snapshot snap, with[2];
	struct sl_plan_image plan;
	const void *bytes, *made[2];
	size_t size, length[2];

	(void) state;
	make_snapshot(s, 3, 50, 200);
	assert_int_equal(sl_builder_finish(s, &bytes, &size, &err), 0);
	assert_int_equal(sl_snapshot_open(&snap, bytes, size, &err), 0);
	for (uint64_t seed = 1; ; seed++) {
		sl_builder_reset(p);
		make_plan(p, seed, 50, 200);
		assert_int_equal(sl_builder_finish(p, &bytes, &size, &err), 0);
		assert_int_equal(sl_plan_image_open(&plan, bytes, size, &err), 0);
		if (plan.history.rows > 1)
			break;
	}
	for (int i = 0; i < 2; i++) {	/* and of the second the same again */
		if (sl_recording_with_history(i ? &with[0] : &snap, &plan, b[i], &made[i], &length[i], &err) ||
		    sl_snapshot_open(&with[i], made[i], length[i], &err))
			fail_msg("%s", err.text);
		assert_int_equal(with[i].job.rows, snap.job.rows);
		assert_int_equal(with[i].queue.rows, snap.queue.rows);
		assert_int_equal(with[i].alloc.rows, snap.alloc.rows);
		assert_int_equal(with[i].remembered.rows, snap.remembered.rows);
		assert_memory_equal(with[i].queue.job, snap.queue.job, snap.queue.rows * sizeof(*snap.queue.job));
		assert_memory_equal(with[i].job.stamp, snap.job.stamp, snap.job.rows * sizeof(*snap.job.stamp));
		assert_int_equal(with[i].history.rows, plan.history.rows);
		assert_memory_equal(with[i].history.runtime, plan.history.runtime, plan.history.rows * sizeof(int64_t));
		for (uint32_t k = 0; k < plan.history.rows; k++)
			assert_string_equal(sl_snapshot_str(&with[i], with[i].history.user[k]),
					    sl_image_str(&plan.image, plan.history.user[k]));
	}
	assert_int_equal(length[0], length[1]);
	assert_memory_equal(made[0], made[1], length[0]);
	sl_builder_destroy(b[0]);
	sl_builder_destroy(b[1]);
	sl_builder_destroy(p);
	sl_builder_destroy(s);
}

static void an_empty_or_missing_directory_says_so(void **state)
{
	struct sl_recording r;
	struct sl_error err = { 0 };

	(void) state;
	assert_int_equal(sl_recording_list(&r, dir, &err), -1);
	assert_int_equal(err.code, SL_ENOENT);
	assert_int_equal(mkdir(dir, 0755), 0);
	assert_int_equal(sl_recording_list(&r, dir, &err), -1);
	assert_non_null(strstr(err.text, "no recorded snapshots"));
	sl_recording_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_snapshot_is_read_back_as_it_was_and_is_smaller, make_dir),
		cmocka_unit_test_setup(files_are_listed_in_the_order_of_cycles, make_dir),
		cmocka_unit_test_setup(the_oldest_go_when_there_are_too_many, make_dir),
		cmocka_unit_test_setup(the_oldest_go_when_they_are_too_large_but_never_the_newest, make_dir),
		cmocka_unit_test_setup(what_is_not_ours_is_neither_read_nor_removed, make_dir),
		cmocka_unit_test_setup(what_a_crash_left_unfinished_is_removed, make_dir),
		cmocka_unit_test_setup(a_full_disk_leaves_nothing_behind, make_dir),
		cmocka_unit_test_setup(what_a_decision_rested_on_is_recorded_with_it, make_dir),
		cmocka_unit_test_setup(an_empty_or_missing_directory_says_so, make_dir),
	};

	return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
