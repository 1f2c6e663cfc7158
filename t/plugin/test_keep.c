/* SPDX-License-Identifier: MIT */
/* What the plug-in keeps in files: the last good set, and what policies remember. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "plugin/host/keep.h"
#include "plugin/host/remembered.h"
#include "image/snapshot.h"

/* -- keep ---------------------------------------------------------------------- */

static void a_set_that_cannot_be_written_is_kept_in_memory_and_written_later(void **state)
{
	char dir[] = "/tmp/schedlua-keep-XXXXXX", file[64];
	struct sl_keep k = { .bytes = NULL }, other = { .bytes = NULL };
	struct sl_error err;

	(void) state;
	assert_non_null(mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/there/last-good", dir);
	sl_keep_file(&k, file);
	assert_int_equal(sl_keep_set(&k, "a set", 5, &err), -1);
	assert_int_equal(sl_keep_get(&k, &err), 1);
	assert_int_equal(sl_keep_again(&k, &err), -1);
	/* the same again, as after a reload: still to be written */
	assert_int_equal(sl_keep_set(&k, "a set", 5, &err), -1);
	assert_true(k.unsaved);
	*strrchr(file, '/') = '\0';
	assert_int_equal(mkdir(file, 0700), 0);
	assert_int_equal(sl_keep_again(&k, &err), 0);
	assert_false(k.unsaved);
	sl_keep_file(&other, k.file);
	assert_int_equal(sl_keep_get(&other, &err), 1);
	assert_int_equal(other.size, 5);
	assert_memory_equal(other.bytes, "a set", 5);
	assert_int_equal(unlink(k.file), 0);
	/* a pipe there keeps nobody waiting, neither who writes nor who reads */
	sl_keep_clear(&other);
	assert_int_equal(mkfifo(k.file, 0600), 0);
	assert_int_equal(sl_keep_get(&other, &err), -1);
	assert_non_null(strstr(err.text, "not a regular file"));
	strcat(k.file, ".new");
	assert_int_equal(mkfifo(k.file, 0600), 0);
	*strrchr(k.file, '.') = '\0';
	assert_int_equal(sl_keep_set(&k, "another", 7, &err), 0);
	assert_int_equal(sl_keep_get(&other, &err), 1);
	assert_memory_equal(other.bytes, "another", 7);
	/* nor does what is there and larger than any set eat memory */
	sl_keep_clear(&other);
	assert_int_equal(truncate(k.file, INT64_C(1) << 40), 0);
	assert_int_equal(sl_keep_get(&other, &err), -1);
	assert_non_null(strstr(err.text, "last-good: larger than 67108864 bytes"));
	assert_int_equal(sl_keep_set(&other, "a set", 5, &err), 0);
	sl_keep_clear(&other);
	assert_int_equal(sl_keep_get(&other, &err), 1);
	assert_memory_equal(other.bytes, "a set", 5);
	assert_int_equal(unlink(k.file), 0);
	assert_int_equal(rmdir(file), 0);
	assert_int_equal(rmdir(dir), 0);
	sl_keep_clear(&k);
	sl_keep_clear(&other);
}

/* -- what policies remember ---------------------------------------------------- */

struct memory {
	char dir[40], file[64];
	struct sl_remember *m;
};

static int memory_set_up(void **state)
{
	static const struct sl_image image;
	static const struct sl_remembered_view none;
	struct memory *x = calloc(1, sizeof(*x));

	strcpy(x->dir, "/tmp/schedlua-remembered-XXXXXX");
	if (!mkdtemp(x->dir))
		return -1;
	snprintf(x->file, sizeof(x->file), "%s/remembered", x->dir);
	x->m = sl_remember_create(NULL);
	*state = x;
	return sl_remember_load(x->m, &image, &none, "set", NULL) ||
		sl_remember_set(x->m, "main", "jobs", "{1,2,3}", NULL);
}

static int memory_tear_down(void **state)
{
	struct memory *x = *state;

	unlink(x->file);
	sl_remember_destroy(x->m);
	return rmdir(x->dir) ? -1 : (free(x), 0);
}

static void what_is_remembered_outlives_slurmctld_once(void **state)
{
	struct memory *x = *state;
	struct sl_remember *next = sl_remember_create(NULL);
	struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, NULL);
	struct sl_remembered_row row;
	struct sl_error err;
	struct stat st;

	assert_int_equal(sl_remembered_load(next, x->file, &err), 0);
	assert_true(sl_remember_empty(next));
	assert_int_equal(sl_remembered_save(x->m, x->file, &err), 0);
	assert_int_equal(stat(x->file, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(sl_remembered_load(next, x->file, &err), 0);
	sl_remember_encode(next, b, SL_T_REMEMBERED);
	assert_int_equal(sl_builder_rows(b, SL_T_REMEMBERED), 1);
	assert_int_equal(sl_builder_row(b, SL_T_REMEMBERED, 0, &row), 0);
	assert_string_equal(sl_builder_text(b, row.set), "set");
	assert_string_equal(sl_builder_text(b, row.value), "{1,2,3}");
	assert_int_equal(stat(x->file, &st), -1);
	/* and nothing is left of one that remembers nothing */
	assert_int_equal(sl_remembered_save(x->m, x->file, &err), 0);
	sl_remember_clear(x->m);
	assert_int_equal(sl_remembered_save(x->m, x->file, &err), 0);
	assert_int_equal(stat(x->file, &st), -1);
	sl_builder_destroy(b);
	sl_remember_destroy(next);
}

static void a_memory_that_is_damaged_or_not_ours_is_put_away(void **state)
{
	struct memory *x = *state;
	struct sl_error err;
	struct stat st;

	for (int damage = 0; damage < 3; damage++) {
		assert_int_equal(sl_remembered_save(x->m, x->file, &err), 0);
		if (damage == 0) {
			FILE *f = fopen(x->file, "r+");

			fseek(f, -6, SEEK_END);
			fputc('}', f);
			fclose(f);
		} else if (damage == 1) {
			assert_int_equal(truncate(x->file, 100), 0);
		} else {
			assert_int_equal(chmod(x->file, 0666), 0);
		}
		assert_int_equal(sl_remembered_load(x->m, x->file, &err), -1);
		assert_non_null(strstr(err.text, x->file));
		assert_true(sl_remember_empty(x->m));
		assert_int_equal(stat(x->file, &st), -1);
		assert_int_equal(sl_remember_set(x->m, "main", "jobs", "{1,2,3}", &err), 0);
	}
}

#define MEMORY_TEST(f) cmocka_unit_test_setup_teardown(f, memory_set_up, memory_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_set_that_cannot_be_written_is_kept_in_memory_and_written_later),
		MEMORY_TEST(what_is_remembered_outlives_slurmctld_once),
		MEMORY_TEST(a_memory_that_is_damaged_or_not_ours_is_put_away),
	};

	return cmocka_run_group_tests_name("keep", tests, NULL, NULL);
}
