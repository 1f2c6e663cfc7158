/* SPDX-License-Identifier: MIT */
/* The real keeper, as the engine meets it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "t/build.h"
#include "base/clock.h"
#include "ledger/keeper.h"
#include "ledger/ledger.h"
#include "image/wire.h"

static struct sl_error err;
static char dir[256], path[300];
static struct sl_keeper *keeper;
static int64_t sequence;

static int begin(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void) state;
	snprintf(dir, sizeof(dir), "%s/schedlua-keeper-XXXXXX", tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/%s", dir, SL_LEDGER_FILE);
	keeper = sl_keeper_start(dir, &err);
	return keeper ? 0 : -1;
}

static int end(void **state)
{
	char pattern[300];
	glob_t found;

	(void) state;
	sl_keeper_destroy(keeper);
	snprintf(pattern, sizeof(pattern), "%s/*", dir);
	if (!glob(pattern, 0, NULL, &found)) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			unlink(found.gl_pathv[i]);
		globfree(&found);
	}
	rmdir(dir);
	return 0;
}

/* A cycle: job *job* has ended after 10 seconds on 8 CPUs, as have all before it. */
static void feed(uint32_t jobs)
{
	struct build *b = build_create("4x64c");
	const struct sl_snapshot *snap;
	int fd;

	for (uint32_t i = 1; i <= jobs; i++) {
		struct sl_job_row r = build_row(b, (struct build_job) { .id = i });

		r.state = SL_JOB_COMPLETE;
		r.user = sl_builder_str(b->builder, "anna");
		r.start_time = BUILD_NOW - 100;
		r.end_time = BUILD_NOW - 90;
		r.alloc_cpus = 8;
		r.alloc_nodes = 1;
		build_append(b, &r);
	}
	snap = build_open(b);
	fd = sl_wire_memfd("snapshot", snap->image.base, snap->image.size, &err);
	assert_true(fd >= 0);
	sl_keeper_feed(keeper, fd, ++sequence);
	close(fd);
	build_destroy(b);
}

static int64_t ask(void)
{
	struct sl_usage_provider p = sl_keeper_provider(keeper);
	struct sl_usage_query q = { .by = SL_BY_USER, .unit = SL_UNIT_CPU, .since = INT64_MIN, .until = SL_FOREVER };
	const struct sl_usage_total *t;
	uint32_t n;

	assert_int_equal(p.ask(p.arg, &q, &t, &n, &err), 0);
	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(t[i].name, "anna"))
			return t[i].seconds;
	return 0;
}

/* How many runs of *user* are known in this cycle, and that they are his. */
static uint32_t runs_of(const char *user)
{
	struct sl_history *h = sl_keeper_history(keeper);
	struct sl_history_query q = { .user = user, .now = BUILD_NOW, .last = SL_HISTORY_KEPT, .most_cpus = INT64_MAX,
				      .most_limit = INT64_MAX };
	const struct sl_past_run *const *run;
	uint32_t n;

	sl_history_begin(h);
	assert_int_equal(sl_history_ask(h, &q, &run, &n, &err), 0);
	for (uint32_t i = 0; i < n; i++) {
		assert_string_equal(sl_history_text(h, run[i]->user), user);
		assert_int_equal(run[i]->seconds, 10);
		assert_int_equal(run[i]->count[SL_UNIT_CPU], 8);
		assert_int_equal(run[i]->state, SL_JOB_COMPLETE);
	}
	return n;
}

static void nap(void)
{
	nanosleep(&(struct timespec) { .tv_nsec = 10000000 }, NULL);
}

/* Cycle after cycle, until something is so; bounded. */
#define UNTIL(condition, jobs) do {					\
	int tries_ = 12000;						\
	while (!(condition) && --tries_) {				\
		nap();							\
		feed(jobs);						\
		sl_keeper_poll(keeper);					\
	}								\
	if (!tries_)							\
		fail_msg("never: %s (stale: %s)", #condition, sl_keeper_stale(keeper));	\
} while (0)

/* Pid of the process of that name, child of *parent*, that has not ended: what became of the
 * test before is a zombie, and pids begin anew at some time. */
static pid_t child_of(pid_t parent, const char *name)
{
	struct dirent *e;
	DIR *proc = opendir("/proc");
	pid_t found = 0;

	assert_non_null(proc);
	while ((e = readdir(proc))) {
		char file[300], is[32], state;
		int pid, ppid;
		FILE *f;

		snprintf(file, sizeof(file), "/proc/%s/stat", e->d_name);
		if (!(f = fopen(file, "re")))
			continue;
		if (fscanf(f, "%d (%31[^)]) %c %d", &pid, is, &state, &ppid) == 4 && ppid == parent && state != 'Z' &&
		    !strcmp(is, name))
			found = pid;
		fclose(f);
	}
	closedir(proc);
	return found;
}

static pid_t keeper_pid(void)
{
	pid_t watch = child_of(getpid(), "ledger-watch");

	return watch ? child_of(watch, "ledger-keeper") : 0;
}

/* -------------------------------------------------------------------------- */

static void what_ended_just_now_is_in_the_answer(void **state)
{
	(void) state;
	UNTIL(ask() == 80, 1);
	assert_null(sl_keeper_stale(keeper));
	feed(3);
	UNTIL(ask() == 240, 3);
	UNTIL(sl_keeper_safe(keeper) >= sequence - 5, 3);
	assert_null(sl_keeper_stale(keeper));
}

static void what_is_safe_is_in_the_file(void **state)
{
	struct sl_usage_query q = { .by = SL_BY_USER, .since = INT64_MIN, .until = SL_FOREVER };
	const struct sl_usage_total *t;
	int64_t want;
	struct sl_ledger *l;
	uint32_t n;

	(void) state;
	feed(5);
	want = sequence;
	UNTIL(sl_keeper_safe(keeper) >= want, 5);
	l = sl_ledger_open(path, SL_LEDGER_READ, &err);
	assert_non_null(l);
	assert_int_equal(sl_usage_ask(sl_ledger_usage(l), &q, &t, &n, &err), 0);
	assert_int_equal(n, 1);
	assert_int_equal(t[0].seconds, 400);
	sl_ledger_close(l);
}

static void runs_that_ended_just_now_are_known(void **state)
{
	(void) state;
	UNTIL(runs_of("anna") == 1, 1);
	feed(3);
	UNTIL(runs_of("anna") == 3, 3);
	assert_null(sl_keeper_stale(keeper));
	assert_int_equal(runs_of("nobody"), 0);
}

static void runs_are_known_again_when_the_keeper_was_killed(void **state)
{
	pid_t pid;

	(void) state;
	UNTIL(runs_of("anna") == 2, 2);
	UNTIL((pid = keeper_pid()) > 0, 2);
	kill(pid, SIGSTOP);
	feed(5);
	assert_int_equal(runs_of("anna"), 2);	/* the last that is known */
	assert_non_null(sl_keeper_stale(keeper));
	kill(pid, SIGKILL);
	UNTIL(runs_of("anna") == 5 && !sl_keeper_stale(keeper), 5);
}

static void a_keeper_that_is_killed_is_started_again(void **state)
{
	(void) state;
	for (uint32_t i = 1; i < 5; i++) {
		pid_t pid;

		UNTIL((pid = keeper_pid()) > 0, i);
		kill(pid, SIGKILL);
		UNTIL(keeper_pid() > 0 && keeper_pid() != pid, i + 1);
		UNTIL(ask() == 80 * (i + 1), i + 1);
		UNTIL(!sl_keeper_stale(keeper), i + 1);
	}
}

static void one_that_is_stuck_delays_nothing_for_long(void **state)
{
	double before;
	pid_t pid;

	(void) state;
	UNTIL(ask() == 160, 2);
	UNTIL((pid = keeper_pid()) > 0, 2);
	kill(pid, SIGSTOP);
	before = sl_clock_s();
	for (int i = 0; i < 5; i++) {	/* more than it may wait for in a cycle */
		if (!i)
			feed(3);
		assert_int_equal(ask(), 160);	/* the last that is known */
		assert_non_null(sl_keeper_stale(keeper));
	}
	/* not a test of speed: without a bound it would be for ever */
	assert_true(sl_clock_s() - before < 600);
	for (int i = 0; i < 2000; i++)	/* nor does what it does not read */
		feed(3);
	assert_non_null(sl_keeper_stale(keeper));
	kill(pid, SIGCONT);
	UNTIL(ask() == 240 && !sl_keeper_stale(keeper), 3);
}

static void a_damaged_file_is_set_aside_and_nothing_ended_is_lost(void **state)
{
	struct sl_ledger *l;
	char pattern[400];
	glob_t found;
	int fd;

	(void) state;
	UNTIL(sl_keeper_safe(keeper) > 0, 2);
	fd = open(path, O_WRONLY | O_TRUNC);
	assert_int_equal(write(fd, "this is no database, and never was one, whatever you say about that.................."
			       "......................", 100), 100);
	close(fd);
	UNTIL(sl_keeper_stale(keeper) && strstr(sl_keeper_stale(keeper), "import"), 4);
	assert_int_equal(access(path, F_OK), -1);
	snprintf(pattern, sizeof(pattern), "%s.damaged-*", path);
	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	globfree(&found);
	/* what ends meanwhile counts, but none is made silently */
	UNTIL(ask() == 320, 4);
	assert_int_equal(access(path, F_OK), -1);
	l = sl_ledger_open(path, SL_LEDGER_CREATE, &err);
	assert_non_null(l);
	sl_ledger_close(l);
	UNTIL(!sl_keeper_stale(keeper), 4);
	UNTIL(ask() == 320, 4);
}

static void it_ends_with_the_engine(void **state)
{
	pid_t watch = child_of(getpid(), "ledger-watch");
	int tries = 1500;

	(void) state;
	UNTIL(keeper_pid() > 0, 1);
	watch = child_of(getpid(), "ledger-watch");
	sl_keeper_destroy(keeper);
	keeper = NULL;
	while (child_of(watch, "ledger-keeper") && --tries)
		nap();
	assert_true(tries);
}

static void a_directory_that_is_not_there_is_stale_usage(void **state)
{
	(void) state;
	sl_keeper_destroy(keeper);
	keeper = sl_keeper_start("/nonexistent/schedlua", &err);
	assert_non_null(keeper);
	feed(1);
	assert_int_equal(ask(), 0);
	assert_non_null(sl_keeper_stale(keeper));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_ended_just_now_is_in_the_answer),
		TEST(what_is_safe_is_in_the_file),
		TEST(runs_that_ended_just_now_are_known),
		TEST(runs_are_known_again_when_the_keeper_was_killed),
		TEST(a_keeper_that_is_killed_is_started_again),
		TEST(one_that_is_stuck_delays_nothing_for_long),
		TEST(a_damaged_file_is_set_aside_and_nothing_ended_is_lost),
		TEST(it_ends_with_the_engine),
		TEST(a_directory_that_is_not_there_is_stale_usage),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
