/* SPDX-License-Identifier: MIT */
/* Killed, disks that are full, files that are damaged or missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "t/ledger/ledgers.h"
#include "t/random.h"

static void killed_at_any_instant_it_has_all_of_a_commit_or_nothing(void **state)
{
	uint64_t rounds = rounds_of(25);
	int told[2];

	(void) state;
	sl_ledger_close(open_ledger(SL_LEDGER_CREATE));
	random_state = number_from("SL_SEED", 1);
	for (uint32_t round = 0; round < rounds; round++) {
		struct sl_ledger *l;
		int status, safe = 0, got;
		int64_t sum;
		pid_t pid;

		assert_int_equal(pipe(told), 0);
		if (!(pid = fork())) {
			/* batches of ten, and word of each that is safe */
			if (!(l = sl_ledger_open(path, SL_LEDGER_WRITE, &err)))
				_exit(1);
			for (int i = 0; i < 1000; i++) {
				for (uint32_t k = 0; k < 10; k++) {
					struct sl_job_run r = run_of(round * 10000 + (uint32_t) i * 10 + k + 1, T0 + i, T0 + i + 1, 1);

					if (sl_ledger_add(l, &r, &err) < 0)
						_exit(1);
				}
				if (sl_ledger_commit(l, &err) || write(told[1], "x", 1) != 1)
					_exit(1);
			}
			_exit(0);
		}
		close(told[1]);
		while (safe < 1 + (int) below(3)) {
			char c;

			assert_int_equal(read(told[0], &c, 1), 1);
			safe++;
		}
		for (volatile uint32_t spin = below(200000); spin; spin--)
			;
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		assert_true(WIFSIGNALED(status));
		for (char c; read(told[0], &c, 1) == 1; )
			safe++;
		close(told[0]);
		l = open_ledger(SL_LEDGER_WRITE);
		sum = CPU(l, "anna");
		OK(sl_ledger_verify(l, &err));
		got = (int) (sum % 10);
		assert_int_equal(got, 0);		/* whole batches */
		assert_true(sum >= 10 * safe);
		sl_ledger_close(l);
		unlink(path);
		sl_ledger_close(open_ledger(SL_LEDGER_CREATE));
	}
}

static void a_full_disk_loses_nothing(void **state)
{
	struct rlimit old, small = { 120 << 10, RLIM_INFINITY };
	struct sl_ledger *l = open_ledger(SL_LEDGER_CREATE);
	uint32_t job = 0;
	int failed = 0;

	(void) state;
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	for (int i = 0; i < 200 && failed < 3; i++) {
		for (int k = 0; k < 100; k++, job++)
			add(l, run_of(job + 1, T0 + job, T0 + job + 10, 1));
		if (sl_ledger_commit(l, &err)) {
			failed++;
			assert_int_equal(err.code, SL_EIO);
		}
		assert_int_equal(CPU(l, "anna"), 10 * job);	/* what waits counts */
	}
	assert_int_equal(failed, 3);
	assert_int_equal(sl_ledger_waiting(l), 300);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	OK(sl_ledger_commit(l, &err));
	assert_int_equal(sl_ledger_waiting(l), 0);
	assert_int_equal(CPU(l, "anna"), 10 * job);
	OK(sl_ledger_verify(l, &err));
	sl_ledger_close(l);
	l = open_ledger(SL_LEDGER_READ);
	assert_int_equal(CPU(l, "anna"), 10 * job);
	sl_ledger_close(l);
}

/* A ledger of some pages. */
static void fill(void)
{
	struct sl_ledger *l = open_ledger(SL_LEDGER_CREATE);

	for (uint32_t i = 0; i < 2000; i++)
		add(l, run_of(i + 1, T0 + i * 100, T0 + i * 100 + 50, 1));
	OK(sl_ledger_commit(l, &err));
	sl_ledger_close(l);
}

static void damage(off_t at, const char *with, size_t size)
{
	int fd = open(path, O_RDWR);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, with, size, at), size);
	close(fd);
}

/* Open and read all of it: the code of the first error. */
static enum sl_errno read_all(void)
{
	struct sl_ledger *l = sl_ledger_open(path, SL_LEDGER_WRITE, &err);
	enum sl_errno code = err.code;
	int64_t sum = 0;

	if (!l)
		return code;
	code = sl_ledger_runs(l, INT64_MIN, INT64_MAX, add_job_number, &sum, &err) || sl_ledger_verify(l, &err) ?
		err.code : SL_OK;
	sl_ledger_close(l);
	return code;
}

static void a_damaged_file_is_recognized(void **state)
{
	static const char junk[4096] = "this is not what was here";
	struct stat st;

	(void) state;
	fill();
	assert_int_equal(read_all(), SL_OK);
	damage(0, junk, 100);			/* no database */
	assert_int_equal(read_all(), SL_EFORMAT);
	unlink(path);
	fill();
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(truncate(path, st.st_size / 2 / 4096 * 4096), 0);	/* half-written */
	assert_int_equal(read_all(), SL_EFORMAT);
	unlink(path);
	fill();
	for (off_t page = 2; page < 40; page++)
		damage(page * 4096, junk, sizeof(junk));
	assert_int_equal(read_all(), SL_EFORMAT);
	/* another program's database */
	unlink(path);
	sl_ledger_close(open_ledger(SL_LEDGER_CREATE));
	damage(68, "\0\0\0\7", 4);
	assert_int_equal(read_all(), SL_EFORMAT);
}

static void an_empty_file_is_a_ledger_that_was_not_begun(void **state)
{
	int fd = open(path, O_CREAT | O_WRONLY, 0600);

	(void) state;
	close(fd);
	assert_null(sl_ledger_open(path, SL_LEDGER_WRITE, &err));
	assert_int_equal(err.code, SL_ENOENT);
	sl_ledger_close(open_ledger(SL_LEDGER_CREATE));
	assert_int_equal(read_all(), SL_OK);
}

static void a_damaged_file_is_set_aside_and_none_made_silently(void **state)
{
	char to[400];
	struct stat st;

	(void) state;
	assert_false(sl_ledger_was_set_aside(path));
	fill();
	assert_false(sl_ledger_was_set_aside(path));
	OK(sl_ledger_set_aside(path, to, sizeof(to), &err));
	assert_int_equal(stat(to, &st), 0);
	assert_int_equal(stat(path, &st), -1);
	assert_true(sl_ledger_was_set_aside(path));
	sl_ledger_close(open_ledger(SL_LEDGER_CREATE));
	assert_false(sl_ledger_was_set_aside(path));
}

static void a_missing_ledger_is_said_to_be_missing(void **state)
{
	(void) state;
	assert_null(sl_ledger_open(path, SL_LEDGER_READ, &err));
	assert_int_equal(err.code, SL_ENOENT);
	assert_null(sl_ledger_open("/nonexistent/ledger.db", SL_LEDGER_CREATE, &err));
	assert_int_equal(err.code, SL_EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(killed_at_any_instant_it_has_all_of_a_commit_or_nothing),
		TEST(a_full_disk_loses_nothing),
		TEST(a_damaged_file_is_recognized),
		TEST(an_empty_file_is_a_ledger_that_was_not_begun),
		TEST(a_damaged_file_is_set_aside_and_none_made_silently),
		TEST(a_missing_ledger_is_said_to_be_missing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
