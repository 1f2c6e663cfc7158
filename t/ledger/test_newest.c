/* SPDX-License-Identifier: MIT */
/* Who ran what lately, by name; and ledgers of before there were names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "t/ledger/ledgers.h"

static int64_t last_limit, last_seconds;
static uint32_t last_cpus;

static int add_number(void *to, const struct sl_job_run *run)
{
	char *text = to;

	last_limit = run->limit;
	last_seconds = run->seconds;
	last_cpus = run->count[SL_UNIT_CPU];
	sprintf(text + strlen(text), "%s%u%s", *text ? " " : "", run->job, run->name);
	return 0;
}

static const char *newest(struct sl_ledger *l, enum sl_usage_by by, const char *name, uint32_t most)
{
	static char text[4000];

	*text = 0;
	OK(sl_ledger_newest(l, by, name, most, add_number, text, &err));
	return text;
}

static struct sl_job_run named_run(uint32_t job, const char *user, const char *name, int64_t end)
{
	struct sl_job_run r = run_of(job, end - 100, end, 4);

	r.dim.user = user;
	r.dim.state = job % 3 ? SL_JOB_COMPLETE : SL_JOB_FAILED;
	r.dim.partition = job % 2 ? "main" : "long";
	r.name = name;
	r.limit = 3600;
	return r;
}

static void the_newest_runs_of_somebody_are_found(void **state)
{
	struct sl_ledger *l = open_ledger(SL_LEDGER_CREATE);
	uint64_t before;

	(void) state;
	for (uint32_t i = 1; i <= 6; i++)
		add(l, named_run(i, i == 2 ? "bert" : "anna", "a", T0 + 1000 * i));
	assert_string_equal(newest(l, SL_BY_USER, "anna", 3), "4a 5a 6a");
	OK(sl_ledger_commit(l, &err));
	assert_string_equal(newest(l, SL_BY_USER, "anna", 3), "4a 5a 6a");
	assert_string_equal(newest(l, SL_BY_ACCOUNT, "chem", 10), "1a 2a 3a 4a 5a 6a");
	assert_string_equal(newest(l, SL_BY_ACCOUNT, SL_HISTORY_EVERYBODY, 10), "1a 2a 3a 4a 5a 6a");
	assert_string_equal(newest(l, SL_BY_ACCOUNT, SL_HISTORY_EVERYBODY, 2), "5a 6a");
	assert_string_equal(newest(l, SL_BY_USER, "carl", 10), "");
	before = sl_ledger_stamp(l, SL_BY_USER, "bert");
	add(l, named_run(7, "anna", "b", T0 + 500));		/* what waits, and ended long ago */
	assert_string_equal(newest(l, SL_BY_USER, "anna", 10), "7b 1a 3a 4a 5a 6a");
	assert_true(sl_ledger_stamp(l, SL_BY_USER, "anna") > before);
	assert_int_equal(sl_ledger_stamp(l, SL_BY_USER, "bert"), before);
	assert_true(sl_ledger_stamp(l, SL_BY_ACCOUNT, SL_HISTORY_EVERYBODY) > before);
	sl_ledger_close(l);
}

static void a_run_that_is_known_better_by_now_is_one_run(void **state)
{
	struct sl_ledger *l = open_ledger(SL_LEDGER_CREATE);
	struct sl_job_run r = named_run(1, "anna", "a", T0 + 5000);

	(void) state;
	r.source = SL_RUN_GUESSED;
	add(l, r);
	OK(sl_ledger_commit(l, &err));
	r.source = SL_RUN_SEEN;
	r.end -= 50;
	r.seconds -= 50;
	assert_int_equal(add(l, r), 1);
	assert_string_equal(newest(l, SL_BY_USER, "anna", 10), "1a");
	OK(sl_ledger_commit(l, &err));
	assert_string_equal(newest(l, SL_BY_USER, "anna", 10), "1a");
	sl_ledger_close(l);
}

#define WITHOUT_PIECES "DROP INDEX run_piece; ALTER TABLE run DROP COLUMN began; ALTER TABLE run DROP COLUMN earlier;" \
	"ALTER TABLE run DROP COLUMN most; ALTER TABLE open DROP COLUMN began; ALTER TABLE open DROP COLUMN earlier;" \
	"ALTER TABLE open DROP COLUMN most;"
#define WITHOUT_NAMES WITHOUT_PIECES "DROP INDEX run_dim; ALTER TABLE run DROP COLUMN name;" \
	"ALTER TABLE run DROP COLUMN walltime; ALTER TABLE open DROP COLUMN name; ALTER TABLE open DROP COLUMN walltime;"

/* Such a file is as those were that knew nothing of pieces, or of names either: without the columns and the index. */
static void make_old(const char *without)
{
	sqlite3 *db;

	if (sqlite3_libversion_number() < 3035000)	/* it cannot drop columns */
		skip();
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, without, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void a_ledger_without_names_is_read_and_gets_them(void **state)
{
	struct sl_ledger *l = open_ledger(SL_LEDGER_CREATE);

	(void) state;
	for (uint32_t i = 1; i <= 3; i++)
		add(l, named_run(i, "anna", "a", T0 + 1000 * i));
	OK(sl_ledger_commit(l, &err));
	sl_ledger_close(l);
	make_old(WITHOUT_NAMES);
	l = open_ledger(SL_LEDGER_READ);
	assert_string_equal(newest(l, SL_BY_USER, "anna", 2), "2 3");
	assert_int_equal(CPU(l, "anna"), 1200);
	OK(sl_ledger_verify(l, &err));
	sl_ledger_close(l);
	l = open_ledger(SL_LEDGER_WRITE);
	add(l, named_run(4, "anna", "b", T0 + 4000));
	OK(sl_ledger_commit(l, &err));
	assert_string_equal(newest(l, SL_BY_USER, "anna", 2), "3 4b");
	sl_ledger_close(l);
	l = open_ledger(SL_LEDGER_READ);
	assert_string_equal(newest(l, SL_BY_USER, "anna", 2), "3 4b");
	OK(sl_ledger_verify(l, &err));
	sl_ledger_close(l);
}

static struct sl_job_run piece_of(uint32_t job, int64_t began, int64_t start, int64_t end, uint32_t cpus)
{
	struct sl_job_run r = named_run(job, "anna", "a", end);

	r.start = start;
	r.end = end;
	r.seconds = end - start;
	r.count[SL_UNIT_CPU] = cpus;
	r.began = began;
	r.before_s = start - began;
	r.most_cpus = 32;
	r.source = SL_RUN_WATCHED;
	return r;
}

static void a_ledger_without_pieces_is_read_and_gets_them(void **state)
{
	struct sl_ledger *l = open_ledger(SL_LEDGER_CREATE);
	struct sl_job_run first = piece_of(2, T0, T0, T0 + 100, 32), last = piece_of(2, T0, T0 + 100, T0 + 150, 8);
	int64_t sum = 0;

	(void) state;
	add(l, named_run(1, "anna", "a", T0 + 50));
	OK(sl_ledger_keep_open(l, 9, &last, &err));
	OK(sl_ledger_commit(l, &err));
	sl_ledger_close(l);
	make_old(WITHOUT_PIECES);
	l = open_ledger(SL_LEDGER_READ);
	assert_string_equal(newest(l, SL_BY_USER, "anna", 2), "1a");
	OK(sl_ledger_open_runs(l, add_job_number, &sum, &err));
	assert_int_equal(sum, 2);
	OK(sl_ledger_verify(l, &err));
	sl_ledger_close(l);
	l = open_ledger(SL_LEDGER_WRITE);
	first.dim.state = SL_JOB_RUNNING;
	add(l, first);
	add(l, last);
	OK(sl_ledger_commit(l, &err));
	assert_string_equal(newest(l, SL_BY_USER, "anna", 9), "1a 2a");
	assert_int_equal(last_seconds, 150);
	assert_int_equal(last_cpus, 32);
	sl_ledger_close(l);
	l = open_ledger(SL_LEDGER_READ);
	assert_string_equal(newest(l, SL_BY_USER, "anna", 9), "1a 2a");
	assert_int_equal(last_seconds, 150);
	OK(sl_ledger_verify(l, &err));
	sl_ledger_close(l);
}

/* Another program upgrades the file just when this one is about to. */
static int upgrade_first(unsigned what, void *done, void *statement, void *text)
{
	(void) what, (void) statement;
	if (!strncmp(text, "BEGIN EXCLUSIVE", strlen("BEGIN EXCLUSIVE")) && !*(int *) done) {
		*(int *) done = 1;
		sl_ledger_close(open_ledger(SL_LEDGER_WRITE));
	}
	return 0;
}

static int others_upgrades;

static int watch_connection(sqlite3 *db, char **message, const void *api)
{
	(void) message, (void) api;
	return sqlite3_trace_v2(db, SQLITE_TRACE_STMT, upgrade_first, &others_upgrades);
}

static void two_programs_may_upgrade_a_ledger_at_once(void **state)
{
	struct sl_ledger *l = open_ledger(SL_LEDGER_CREATE);

	(void) state;
	add(l, named_run(1, "anna", "a", T0 + 1000));
	OK(sl_ledger_commit(l, &err));
	sl_ledger_close(l);
	make_old(WITHOUT_NAMES);
	others_upgrades = 0;
	assert_int_equal(sqlite3_auto_extension((void (*)(void)) watch_connection), SQLITE_OK);
	l = sl_ledger_open(path, SL_LEDGER_WRITE, &err);
	sqlite3_cancel_auto_extension((void (*)(void)) watch_connection);
	if (!l)
		fail_msg("%s", err.text);
	assert_int_equal(others_upgrades, 1);
	assert_string_equal(newest(l, SL_BY_USER, "anna", 2), "1");
	sl_ledger_close(l);
}

static void names_and_walltimes_outlive_a_dump_without_them(void **state)
{
	struct sl_ledger *l = open_ledger(SL_LEDGER_CREATE);
	struct sl_job_run r = named_run(1, "anna", "a", T0 + 5000);

	(void) state;
	for (int in_file = 0; in_file < 2; in_file++) {
		r = named_run(1 + in_file, "anna", "a", T0 + 5000 + 100 * in_file);
		r.source = SL_RUN_SEEN;
		add(l, r);
		if (in_file)
			OK(sl_ledger_commit(l, &err));
		r.source = SL_RUN_SACCT;
		r.name = NULL;
		r.limit = 0;
		assert_int_equal(add(l, r), 1);
		assert_int_equal(add(l, r), 0);
	}
	assert_string_equal(newest(l, SL_BY_USER, "anna", 10), "1a 2a");
	assert_int_equal(last_limit, 3600);
	OK(sl_ledger_commit(l, &err));
	assert_string_equal(newest(l, SL_BY_USER, "anna", 10), "1a 2a");
	assert_int_equal(last_limit, 3600);
	sl_ledger_close(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_newest_runs_of_somebody_are_found),
		TEST(a_run_that_is_known_better_by_now_is_one_run),
		TEST(a_ledger_without_names_is_read_and_gets_them),
		TEST(a_ledger_without_pieces_is_read_and_gets_them),
		TEST(two_programs_may_upgrade_a_ledger_at_once),
		TEST(names_and_walltimes_outlive_a_dump_without_them),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
