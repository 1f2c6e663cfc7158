/* SPDX-License-Identifier: MIT */
/*
 * Images, JSON and journal when memory runs out: every allocation is made to fail
 * in turn.  Each time the failure is reported as such, nothing leaks (the
 * sanitizers look) and what was made before can be destroyed.
 *
 * jansson, a shared library, is not reached, and should not be: that reader drops
 * characters when it cannot grow a string.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "t/failing_malloc.h"
#include "image/journal.h"
#include "t/make_image.h"

/* Let the nth allocation fail, for n = 0, 1, ... until none did. */
static void fail_in_turn(int (*work)(struct sl_error *err))
{
	struct sl_error err;
	long n, left;
	int rc;

	for (n = 0; n < 100000; n++) {
		err.code = SL_OK;
		countdown = n;
		rc = work(&err);
		left = countdown;
		countdown = -1;
		if (left >= 0) {
			assert_int_equal(rc, 0);
			print_message("# %ld allocations\n", n);
			assert_true(n > 0);
			return;
		}
		if (rc != -1)
			fail_msg("allocation %ld failed and nobody noticed", n);
		if (err.code != SL_ENOMEM)
			fail_msg("allocation %ld: %s", n, err.text);
	}
	fail_msg("no end");
}

static int build_and_open(struct sl_error *err)
{
	struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, err);
	struct sl_snapshot snap;
	const void *bytes;
	size_t size;
	int rc = -1;

	if (!b)
		return -1;
	make_snapshot(b, 1, 300, 300);
	if (sl_builder_finish(b, &bytes, &size, err) == 0)
		rc = sl_snapshot_open(&snap, bytes, size, err);
	sl_builder_destroy(b);
	return rc;
}

/* What the tests below work on, made while memory is plenty. */
static struct {
	struct sl_builder *snapshot_builder, *plan_builder;
	struct sl_snapshot snap;
	struct sl_plan_image plan;
	FILE *null;
	char *json;
	char dir[32];
} made;

static int make_all(void **state)
{
	const void *bytes;
	size_t size;
	FILE *out;

	(void) state;
	made.snapshot_builder = sl_builder_create(&sl_snapshot_schema, NULL);
	made.plan_builder = sl_builder_create(&sl_plan_schema, NULL);
	make_snapshot(made.snapshot_builder, 1, 10, 10);
	make_plan(made.plan_builder, 1, 10, 40);
	if (sl_builder_finish(made.snapshot_builder, &bytes, &size, NULL) < 0 ||
	    sl_snapshot_open(&made.snap, bytes, size, NULL) < 0 ||
	    sl_builder_finish(made.plan_builder, &bytes, &size, NULL) < 0 ||
	    sl_plan_image_open(&made.plan, bytes, size, NULL) < 0)
		return -1;
	out = open_memstream(&made.json, &size);
	sl_image_to_json(&made.snap.image, &made.snap, out, NULL);
	fclose(out);
	made.null = fopen("/dev/null", "w");
	strcpy(made.dir, "test_memory.XXXXXX");
	return mkdtemp(made.dir) ? 0 : -1;
}

static int unmake_all(void **state)
{
	char path[64];

	(void) state;
	snprintf(path, sizeof(path), "%s/decisions.jsonl", made.dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/file", made.dir);
	unlink(path);
	sl_builder_destroy(made.snapshot_builder);
	sl_builder_destroy(made.plan_builder);
	free(made.json);
	fclose(made.null);
	return rmdir(made.dir);
}

static int write_json(struct sl_error *err)
{
	return sl_image_to_json(&made.snap.image, &made.snap, made.null, err);
}

static int read_json(struct sl_error *err)
{
	struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, err);
	const void *bytes;
	size_t size;
	int rc = -1;

	if (!b)
		return -1;
	if (sl_builder_from_json(b, "json", made.json, strlen(made.json), err) == 0)
		rc = sl_builder_finish(b, &bytes, &size, err);
	sl_builder_destroy(b);
	return rc;
}

static int save_and_load(struct sl_error *err)
{
	char path[64];
	void *bytes;
	size_t size;

	snprintf(path, sizeof(path), "%s/file", made.dir);
	if (sl_image_save(path, made.snap.image.base, made.snap.image.size, err) < 0 ||
	    sl_image_load(&sl_snapshot_schema, path, &bytes, &size, err) < 0)
		return -1;
	free(bytes);
	return 0;
}

static int count(const char *line, size_t length, void *arg)
{
	(void) line;
	(void) length;
	++*(int *) arg;
	return 0;
}

static int write_and_read_journal(struct sl_error *err)
{
	struct sl_journal *j = sl_journal_open(made.dir, err);
	int lines = 0, rc;

	if (!j)
		return -1;
	rc = sl_journal_write(j, &made.snap, &made.plan, NULL, err);
	sl_journal_close(j);
	if (rc < 0)
		return -1;
	return sl_journal_read(made.dir, count, &lines, err) < 0 ? -1 : lines > 0 ? 0 : -2;
}

static void a_builder_reports_that_memory_ran_out(void **state)
{
	(void) state;
	fail_in_turn(build_and_open);
}

static void writing_json_reports_that_memory_ran_out(void **state)
{
	(void) state;
	fail_in_turn(write_json);
}

static void reading_json_reports_that_memory_ran_out(void **state)
{
	(void) state;
	fail_in_turn(read_json);
}

static void image_files_report_that_memory_ran_out(void **state)
{
	(void) state;
	fail_in_turn(save_and_load);
}

static void the_journal_reports_that_memory_ran_out(void **state)
{
	(void) state;
	fail_in_turn(write_and_read_journal);
}

/* From a plan into the next snapshot, with something changed between. */
static int carry_memory(struct sl_error *err)
{
	struct sl_remember *m = sl_remember_create(err);
	struct sl_builder *b = m ? sl_builder_create(&sl_snapshot_schema, err) : NULL;
	const void *bytes;
	size_t size;
	int rc = -1;

	if (b && !sl_remember_load(m, &made.plan.image, &made.plan.remembered, "set", err) &&
	    !sl_remember_set(m, "main", "one", "{1,2,3}", err) && !sl_remember_set(m, "main", "one", "true", err)) {
		sl_remember_encode(m, b, SL_T_REMEMBERED);
		rc = sl_builder_finish(b, &bytes, &size, err);
	}
	sl_builder_destroy(b);
	sl_remember_destroy(m);
	return rc;
}

static void what_is_remembered_reports_that_memory_ran_out(void **state)
{
	(void) state;
	fail_in_turn(carry_memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_builder_reports_that_memory_ran_out),
		cmocka_unit_test(writing_json_reports_that_memory_ran_out),
		cmocka_unit_test(reading_json_reports_that_memory_ran_out),
		cmocka_unit_test(image_files_report_that_memory_ran_out),
		cmocka_unit_test(the_journal_reports_that_memory_ran_out),
		cmocka_unit_test(what_is_remembered_reports_that_memory_ran_out),
	};

	return cmocka_run_group_tests(tests, make_all, unmake_all);
}
