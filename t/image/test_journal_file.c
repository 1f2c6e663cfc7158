/* SPDX-License-Identifier: MIT */
/* The file of a journal: rotated, torn, moved away, published. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/line_file.h"
#include "t/image/journals.h"
#include "t/make_image.h"

static void files_are_rotated_and_each_begins_with_all_that_waits(void **state)
{
	struct fixture *f = *state;
	struct sl_error err;
	struct sl_journal *j = sl_journal_open(f->dir, &err);
	struct lines l;
	struct stat st;
	char path[80];
	int sequence;

	sl_journal_set_size(j, 1000);
	for (int cycle = 1; cycle <= 100; cycle++) {
		begin_plan(f, cycle);
		add_start(f, cycle, 0, 1);
		add_pending(f, 1000, SL_WHY_PRIORITY, "");
		assert_int_equal(write_plan(f, j, NULL, &err), 0);
		assert_int_equal(stat(f->path, &st), 0);
		assert_true(st.st_size <= 1000);
	}
	sl_journal_close(j);
	for (int i = 1; i <= SL_LINE_FILE_MOST + 1; i++) {
		char first[200];
		FILE *in;

		snprintf(path, sizeof(path), "%s.%d", f->path, i);
		in = fopen(path, "r");
		assert_true(i <= SL_LINE_FILE_MOST ? in != NULL : in == NULL);
		if (!in)
			break;
		assert_non_null(fgets(first, sizeof(first), in));
		assert_non_null(strstr(first, "\"full\": true"));
		fclose(in);
	}
	l = read_lines(f);
	assert_true(l.n > 10 && l.n < 64);
	for (int i = 0; i < l.n; i++) {
		assert_int_equal(sscanf(l.line[i], "{\"sequence\": %d", &sequence), 1);
		assert_int_equal(sequence, 100 - i);
	}
	forget(&l);
}

static void append_raw(struct fixture *f, const char *text, size_t size)
{
	FILE *out = fopen(f->path, "a");

	fwrite(text, 1, size, out);
	fclose(out);
}

static void a_torn_line_is_skipped_by_readers_and_cut_by_the_writer(void **state)
{
	struct fixture *f = *state;
	struct sl_error err;
	struct sl_journal *j = sl_journal_open(f->dir, &err);

	begin_plan(f, 1);
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	sl_journal_close(j);
	append_raw(f, "{\"sequence\": 2, \"now", 20);
	expect_lines(f, 1, "{\"sequence\": 1, \"now\": 1001, \"policy\": \"easy\", \"full\": true}");
	append_raw(f, "\n\0\0\0\0\n\n}{\n{\"sequence\": 3}", 26);
	expect_lines(f, 1, NULL);		/* nor is what a crash leaves otherwise a line */
	j = sl_journal_open(f->dir, &err);
	begin_plan(f, 4);
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	expect_lines(f, 2, "{\"sequence\": 4, \"now\": 1004, \"policy\": \"easy\", \"full\": true}");
	sl_journal_close(j);
}

static void a_journal_of_one_torn_line_has_no_line(void **state)
{
	struct fixture *f = *state;
	struct sl_error err;

	append_raw(f, "{\"sequence\": 2}", 15);
	expect_lines(f, 0, NULL);
	sl_journal_close(sl_journal_open(f->dir, &err));
	expect_lines(f, 0, NULL);
}

static void what_does_not_fit_on_the_disk_leaves_nothing_torn(void **state)
{
	struct fixture *f = *state;
	struct sl_error err;
	struct sl_journal *j = sl_journal_open(f->dir, &err);
	struct rlimit old, small;
	struct stat before, after;
	int partial, none;

	begin_plan(f, 1);
	add_pending(f, 1, SL_WHY_PRIORITY, "");
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	stat(f->path, &before);
	getrlimit(RLIMIT_FSIZE, &old);
	small = old;
	begin_plan(f, 2);
	add_start(f, 5, 0, 2);
	add_pending(f, 1, SL_WHY_RESOURCES, "");
	small.rlim_cur = before.st_size + 10;
	setrlimit(RLIMIT_FSIZE, &small);
	partial = write_plan(f, j, NULL, &err);
	small.rlim_cur = before.st_size;
	setrlimit(RLIMIT_FSIZE, &small);
	none = write_plan(f, j, NULL, &err);		/* would end in SIGXFSZ */
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(partial, -1);
	assert_int_equal(none, -1);
	assert_int_equal(err.code, SL_EIO);
	stat(f->path, &after);
	assert_int_equal(before.st_size, after.st_size);
	begin_plan(f, 3);
	add_pending(f, 1, SL_WHY_RESOURCES, "");
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	expect_lines(f, 2, "{\"sequence\": 3, \"now\": 1003, \"policy\": \"easy\", "
		     "\"pending\": [{\"job\": 1, \"why\": \"resources\"}]}");
	sl_journal_close(j);
}

static void a_file_that_was_moved_away_is_begun_anew(void **state)
{
	struct fixture *f = *state;
	struct sl_error err;
	struct sl_journal *j = sl_journal_open(f->dir, &err);
	char moved[80];

	begin_plan(f, 1);
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	snprintf(moved, sizeof(moved), "%s.1", f->path);
	assert_int_equal(rename(f->path, moved), 0);
	begin_plan(f, 2);
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	expect_lines(f, 2, "{\"sequence\": 2, \"now\": 1002, \"policy\": \"easy\", \"full\": true}");
	unlink(moved);				/* a reader may see a file twice */
	assert_int_equal(link(f->path, moved), 0);
	expect_lines(f, 1, NULL);
	sl_journal_close(j);
}

static void a_writer_waits_for_nobody(void **state)
{
	struct fixture *f = *state;
	struct sl_error err;
	struct sl_journal *j = sl_journal_open(f->dir, &err);
	int other = open(f->path, O_RDONLY);

	assert_int_equal(flock(other, LOCK_EX), 0);
	begin_plan(f, 1);
	assert_int_equal(write_plan(f, j, NULL, &err), -1);
	assert_int_equal(err.code, SL_EBUSY);
	close(other);
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	expect_lines(f, 1, NULL);
	sl_journal_close(j);
}

static unsigned mode_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : st.st_mode & 07777;
}

static void a_published_journal_is_for_all_to_read_and_for_nobody_to_lock(void **state)
{
	struct fixture *f = *state;
	struct sl_error err;
	char rotated[sizeof(f->path) + 3];
	mode_t mask = umask(077);
	struct sl_journal *j = sl_journal_publish(f->dir, &err);
	int reader = open(f->path, O_RDONLY);

	assert_non_null(j);
	assert_int_equal(mode_of(f->path), 0644);
	assert_int_equal(flock(reader, LOCK_EX | LOCK_NB), 0);
	for (uint64_t seed = 0; seed < 2; seed++) {
		sl_builder_reset(f->plan);
		make_plan(f->plan, seed, 30, seed);
		assert_int_equal(write_plan(f, j, NULL, &err), 0);
		sl_journal_set_size(j, 1);	/* the next one is the first of a new file */
	}
	snprintf(rotated, sizeof(rotated), "%s.1", f->path);
	assert_int_equal(mode_of(f->path), 0644);
	assert_int_equal(mode_of(rotated), 0644);
	sl_journal_close(j);
	assert_int_equal(sl_journal_remove(f->dir, &err), 0);
	assert_int_equal(mode_of(f->path), 0);
	assert_int_equal(mode_of(rotated), 0);
	assert_int_equal(sl_journal_remove(f->dir, &err), 0);
	close(reader);
	umask(mask);
}

static void what_cannot_be_a_journal_is_refused(void **state)
{
	struct fixture *f = *state;
	struct sl_error err;
	struct lines l = { .n = 0 };

	assert_int_equal(sl_journal_read(f->dir, keep, &l, &err), -1);
	assert_int_equal(err.code, SL_ENOENT);
	assert_null(sl_journal_open("/nonexistent/dir", &err));
	assert_int_equal(err.code, SL_EIO);
	assert_int_equal(symlink("/dev/null", f->path), 0);
	assert_null(sl_journal_open(f->dir, &err));
	unlink(f->path);
	assert_int_equal(mkfifo(f->path, 0600), 0);
	assert_null(sl_journal_open(f->dir, &err));
	sl_journal_close(NULL);
}

/* A terabyte of nothing: where its last line ends would be found in half an hour. */
static void a_journal_of_terabytes_is_begun_anew(void **state)
{
	struct fixture *f = *state;
	struct sl_journal *j;
	struct sl_error err;
	struct stat st;
	int fd = open(f->path, O_WRONLY | O_CREAT, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t) 1 << 40), 0);
	close(fd);
	assert_non_null(j = sl_journal_open(f->dir, &err));
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_size, 0);
	sl_journal_close(j);
}

/* The rotated file with that number becomes so many days old. */
static void grow_old(const struct fixture *f, int number, int days)
{
	struct timespec at[2] = { { .tv_sec = time(NULL) - days * 24 * 3600 - 60 } };
	char path[80];

	at[1] = at[0];
	snprintf(path, sizeof(path), "%s.%d", f->path, number);
	assert_int_equal(utimensat(AT_FDCWD, path, at, 0), 0);
}

static int count_rotated(const struct fixture *f)
{
	char path[80];
	int n = 0;

	for (;; n++) {
		snprintf(path, sizeof(path), "%s.%d", f->path, n + 1);
		if (access(path, F_OK))
			return n;
	}
}

static void write_records(struct fixture *f, struct sl_journal *j, int records)
{
	static int sequence;
	struct sl_error err;

	while (records--) {
		begin_plan(f, ++sequence);
		add_start(f, (uint32_t) sequence, 0, 1);
		assert_int_equal(write_plan(f, j, NULL, &err), 0);
	}
}

static void young_files_are_kept_beyond_the_number_of_those_that_are_kept(void **state)
{
	struct fixture *f = *state;
	struct sl_error err;
	struct sl_journal *j = sl_journal_open(f->dir, &err);
	struct lines l;

	sl_journal_set_size(j, 300);
	while (count_rotated(f) < SL_LINE_FILE_KEEP + 2)
		write_records(f, j, 1);
	assert_int_equal(count_rotated(f), SL_LINE_FILE_KEEP + 2);
	l = read_lines(f);		/* readers see them, too */
	assert_true(l.n > SL_LINE_FILE_KEEP + 2);
	forget(&l);
	for (int i = 2; i <= SL_LINE_FILE_KEEP + 2; i++)
		grow_old(f, i, SL_LINE_FILE_DAYS);
	write_records(f, j, 2);		/* which are two files, or one */
	assert_int_equal(count_rotated(f), SL_LINE_FILE_KEEP);
	sl_journal_close(j);
	assert_int_equal(sl_journal_remove(f->dir, &err), 0);
	assert_int_equal(count_rotated(f), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_DIR(files_are_rotated_and_each_begins_with_all_that_waits),
		WITH_DIR(young_files_are_kept_beyond_the_number_of_those_that_are_kept),
		WITH_DIR(a_torn_line_is_skipped_by_readers_and_cut_by_the_writer),
		WITH_DIR(a_journal_of_one_torn_line_has_no_line),
		WITH_DIR(what_does_not_fit_on_the_disk_leaves_nothing_torn),
		WITH_DIR(a_file_that_was_moved_away_is_begun_anew),
		WITH_DIR(a_writer_waits_for_nobody),
		WITH_DIR(a_journal_of_terabytes_is_begun_anew),
		WITH_DIR(a_published_journal_is_for_all_to_read_and_for_nobody_to_lock),
		WITH_DIR(what_cannot_be_a_journal_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
