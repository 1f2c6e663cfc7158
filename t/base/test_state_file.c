/* SPDX-License-Identifier: MIT */
/* Files of the state directory: what is not one is neither waited for nor read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/state_file.h"

static char dir[40], path[64];

static int set_up(void **state)
{
	(void) state;
	strcpy(dir, "/tmp/schedlua-state-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/file", dir);
	return 0;
}

static int tear_down(void **state)
{
	(void) state;
	unlink(path);
	return rmdir(dir);
}

static void write_text(const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void a_file_is_read_whole(void **state)
{
	struct sl_error err;
	struct stat st;
	char *bytes;
	size_t size;

	(void) state;
	assert_int_equal(sl_state_read(path, 100, &bytes, &size, NULL, &err), 0);
	write_text("a line\n");
	assert_int_equal(sl_state_read(path, 7, &bytes, &size, &st, &err), 1);
	assert_int_equal(size, 7);
	assert_string_equal(bytes, "a line\n");
	assert_int_equal(st.st_uid, geteuid());
	free(bytes);
	write_text("");
	assert_int_equal(sl_state_read(path, 0, &bytes, &size, NULL, &err), 1);
	assert_int_equal(size, 0);
	free(bytes);
}

static void refused(enum sl_errno code, const char *words)
{
	struct sl_error err;
	char *bytes;
	size_t size;

	assert_int_equal(sl_state_read(path, 1 << 20, &bytes, &size, NULL, &err), -1);
	assert_int_equal(err.code, code);
	assert_non_null(strstr(err.text, path));
	assert_non_null(strstr(err.text, words));
}

static void what_is_no_file_is_not_waited_for(void **state)
{
	(void) state;
	assert_int_equal(mkfifo(path, 0600), 0);
	refused(SL_EIO, "not a regular file");
	unlink(path);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	refused(SL_EIO, "symbolic links");
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	refused(SL_EIO, "not a regular file");
	assert_int_equal(rmdir(path), 0);
}

static void a_file_of_terabytes_is_not_read(void **state)
{
	(void) state;
	write_text("");
	assert_int_equal(truncate(path, (off_t) 1 << 40), 0);
	refused(SL_ELIMIT, "larger than 1048576 bytes");
}

static void is_written(void)
{
	struct sl_error err;
	struct stat st;
	char *bytes;
	size_t size;

	assert_int_equal(sl_state_write(path, 0600, "whole", 5, true, &err), 0);
	assert_int_equal(sl_state_read(path, 100, &bytes, &size, &st, &err), 1);
	assert_string_equal(bytes, "whole");
	assert_int_equal(st.st_mode & 07777, 0600);
	free(bytes);
}

static void a_written_file_takes_the_place_of_whatever_is_there(void **state)
{
	char new[sizeof(path) + 4];

	(void) state;
	snprintf(new, sizeof(new), "%s.new", path);
	is_written();
	is_written();
	assert_int_equal(mkfifo(new, 0600), 0);
	is_written();
	assert_int_equal(symlink("/nonexistent/file", new), 0);
	is_written();
	assert_int_equal(access(new, F_OK), -1);
}

static void a_file_that_cannot_be_written_leaves_what_was_there(void **state)
{
	const struct rlimit tiny = { 3, RLIM_INFINITY }, whole = { RLIM_INFINITY, RLIM_INFINITY };
	struct sl_error err;
	char *bytes;
	size_t size;

	(void) state;
	is_written();
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tiny), 0);
	assert_int_equal(sl_state_write(path, 0600, "half of it", 10, false, &err), -1);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &whole), 0);
	assert_int_equal(err.code, SL_EIO);
	assert_int_equal(sl_state_read(path, 100, &bytes, &size, NULL, &err), 1);
	assert_string_equal(bytes, "whole");
	free(bytes);
}

static void what_a_user_names_is_replaced_only_where_it_is_a_file(void **state)
{
	struct sl_error err;
	struct stat st;

	(void) state;
	unlink(path);
	assert_int_equal(sl_state_put(path, 0644, "whole", 5, &err), 0);
	assert_int_equal(sl_state_put(path, 0644, "whole", 5, &err), 0);
	unlink(path);
	assert_int_equal(symlink("/dev/null", path), 0);
	assert_int_equal(sl_state_put(path, 0644, "whole", 5, &err), -1);
	assert_int_equal(err.code, SL_EINVAL);
	assert_non_null(strstr(err.text, path));
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
}

enum { TIMES = 60, LENGTH = 100000 };

/* Put the file, all of one letter, and look at it each time. */
static bool is_always_whole(char letter)
{
	char text[LENGTH], *bytes;
	struct sl_error err;
	size_t size;
	bool whole = true;

	memset(text, letter, LENGTH);
	for (int i = 0; i < TIMES && whole; i++) {
		if (sl_state_put(path, 0644, text, LENGTH, &err) || sl_state_read(path, LENGTH, &bytes, &size, NULL, &err) != 1)
			return false;
		whole = size == LENGTH && !memcmp(bytes, bytes + 1, LENGTH - 1);
		free(bytes);
	}
	return whole;
}

/* A policy that others may not read stays so when it is replaced. */
static void a_file_is_replaced_with_the_rights_of_another(void **state)
{
	struct stat like = { .st_mode = S_IFREG | 0640, .st_uid = geteuid(), .st_gid = getegid() }, st;
	struct sl_error err;

	(void) state;
	umask(0077);
	assert_int_equal(sl_state_put_like(path, &like, "whole", 5, &err), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode, like.st_mode);
	like.st_gid++;
	assert_int_equal(sl_state_put_like(path, &like, "whole", 5, &err), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode, st.st_gid == like.st_gid ? like.st_mode : (S_IFREG | 0600));
}

static void two_that_put_it_at_once_leave_it_whole(void **state)
{
	pid_t pid = fork();
	bool whole = is_always_whole(pid ? 'a' : 'b');
	int status;

	(void) state;
	if (!pid)
		_exit(whole ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(whole);
	assert_int_equal(status, 0);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_file_is_read_whole),
		TEST(what_is_no_file_is_not_waited_for),
		TEST(a_file_of_terabytes_is_not_read),
		TEST(a_written_file_takes_the_place_of_whatever_is_there),
		TEST(a_file_that_cannot_be_written_leaves_what_was_there),
		TEST(what_a_user_names_is_replaced_only_where_it_is_a_file),
		TEST(a_file_is_replaced_with_the_rights_of_another),
		TEST(two_that_put_it_at_once_leave_it_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
