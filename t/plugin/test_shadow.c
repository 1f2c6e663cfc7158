/* SPDX-License-Identifier: MIT */
/* test_shadow.c - shadow mode: what is noted of both, and the scheduler that is hosted. */
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

#include "base/escape.h"
#include "image/journal.h"
#include "plugin/host/shadow.h"
#include "plugin/host/stock.h"
#include "t/hostile.h"
#include "t/random.h"

#define RELEASE 0x160508u

/* -- the book ----------------------------------------------------------------- */

struct desk {
	char dir[40], path[80], line[32768];
	struct sl_builder *b, *p;
	struct sl_snapshot snap;
	struct sl_plan_image plan;
	struct sl_shadow *book;
	uint32_t lines;
};

static void begin(struct desk *d, int64_t now)
{
	struct sl_plan_meta_row about = sl_plan_meta_row();
	struct sl_partition_row part = sl_partition_row();
	struct sl_meta_row meta = sl_meta_row();
	struct sl_node_row node = sl_node_row();

	sl_builder_reset(d->b);
	sl_builder_reset(d->p);
	meta.now = about.now = now;
	sl_builder_append(d->b, SL_T_META, &meta);
	sl_builder_append(d->p, SL_P_META, &about);
	node.name = sl_builder_str(d->b, "n1");
	node.cores = 8;
	sl_builder_append(d->b, SL_T_NODE, &node);
	part.name = sl_builder_str(d->b, "main");
	sl_builder_append(d->b, SL_T_PARTITION, &part);
}

static void add_job(struct desk *d, uint32_t id, uint32_t array, enum sl_job_state state, int64_t start)
{
	struct sl_job_row job = sl_job_row();

	job.id = id;
	job.array_job_id = array ? array : SL_NONE;
	job.array_pending = array && state == SL_JOB_PENDING ? 3 : 0;
	job.user = sl_builder_str(d->b, "ann");
	job.partition = 0;
	job.state = state;
	job.submit_time = 900;
	job.start_time = start;
	job.end_time = state > SL_JOB_SUSPENDED ? start + 7 : 0;
	sl_builder_append(d->b, SL_T_JOB, &job);
}

static void plan_start(struct desk *d, uint32_t id)
{
	struct sl_plan_start_row start = sl_plan_start_row();
	struct sl_plan_place_row place = sl_plan_place_row();

	place.node = 0;
	place.cores = 2;
	start.places = (struct sl_range) { sl_builder_append(d->p, SL_P_PLACE, &place), 1 };
	start.job = id;
	start.partition = 0;
	sl_builder_append(d->p, SL_P_START, &start);
}

static void plan_stop(struct desk *d, uint32_t id, uint32_t preemptor, double cost)
{
	struct sl_plan_stop_row row = sl_plan_stop_row();

	row.job = id;
	row.preemptor = preemptor;
	row.cost = cost;
	row.mode = SL_STOP_REQUEUE;
	sl_builder_append(d->p, SL_P_STOP, &row);
}

static void plan_hold(struct desk *d, uint32_t id, uint32_t verdict)
{
	struct sl_plan_hold_row row = sl_plan_hold_row();

	row.job = id;
	row.until = 5000;
	row.verdict = verdict;
	sl_builder_append(d->p, SL_P_HOLD, &row);
}

static void plan_wait(struct desk *d, uint32_t id, enum sl_why why, const char *text)
{
	struct sl_plan_pending_row row = sl_plan_pending_row();

	row.job = id;
	row.why = why;
	row.text = sl_builder_str(d->p, text);
	sl_builder_append(d->p, SL_P_PENDING, &row);
}

/* Note the cycle; 1 when it wrote a line, which is in d->line then. */
static int note(struct desk *d, const char *failed)
{
	struct sl_shadow_cycle c = { .snap = &d->snap, .plan = &d->plan, .policy = "easy", .failed = failed, .decide_us = 100 };
	struct sl_error err = { SL_OK, "" };
	const void *bytes;
	uint32_t n = 0;
	size_t size;
	FILE *in;

	if (sl_builder_finish(d->b, &bytes, &size, &err) || sl_snapshot_open(&d->snap, bytes, size, &err) ||
	    sl_builder_finish(d->p, &bytes, &size, &err) || sl_plan_image_open(&d->plan, bytes, size, &err) ||
	    sl_shadow_note(d->book, d->dir, &c, &err))
		fail_msg("%s", err.text);
	if (!(in = fopen(d->path, "r")))
		return 0;
	while (fgets(d->line, sizeof(d->line), in))
		n++;
	fclose(in);
	if (n == d->lines)
		return 0;
	d->lines = n;
	return 1;
}

static bool says(const struct desk *d, const char *text)
{
	if (strstr(d->line, text))
		return true;
	print_message("%s", d->line);
	return false;
}

static int set_up(void **state)
{
	static struct desk d;

	d = (struct desk) { .dir = "/tmp/test_shadow.XXXXXX" };
	*state = &d;
	if (!mkdtemp(d.dir))
		return -1;
	snprintf(d.path, sizeof(d.path), "%s/" SL_SHADOW_BOOK, d.dir);
	d.b = sl_builder_create(&sl_snapshot_schema, NULL);
	d.p = sl_builder_create(&sl_plan_schema, NULL);
	d.book = sl_shadow_create("backfill", NULL);
	return d.b && d.p && d.book ? 0 : -1;
}

static int tear_down(void **state)
{
	struct desk *d = *state;

	sl_shadow_destroy(d->book);
	sl_builder_destroy(d->b);
	sl_builder_destroy(d->p);
	unlink(d->path);
	return rmdir(d->dir);
}

/* Once, as long as it waits; anew if it is requeued. */
static void who_would_be_stopped_for_whom_is_told_once(void **state)
{
	struct desk *d = *state;

	for (int cycle = 0; cycle < 2; cycle++) {
		begin(d, 1000 + cycle);
		add_job(d, 1, 0, SL_JOB_RUNNING, 950);
		add_job(d, 2, 0, SL_JOB_RUNNING, 960);
		add_job(d, 3, 0, SL_JOB_PENDING, 0);
		plan_stop(d, 1, 3, 0.5);
		plan_stop(d, 2, 3, 0.25);
		plan_hold(d, 3, SL_VERDICT_OPTIMAL);
		assert_int_equal(note(d, ""), !cycle);
	}
	assert_true(says(d, "\"stops\": [{\"job\": 3, \"verdict\": \"optimal\", \"cost\": 0.75, \"victims\": [{\"job\": 1, \"user\": \"ann\", "
		    "\"start\": 950, \"cost\": 0.5, \"mode\": \"requeue\"}, {\"job\": 2,"));
	begin(d, 1010);
	add_job(d, 1, 0, SL_JOB_RUNNING, 950);
	add_job(d, 3, 0, SL_JOB_RUNNING, 1005);
	assert_true(note(d, "") && !strstr(d->line, "stops"));
	begin(d, 1015);
	add_job(d, 1, 0, SL_JOB_RUNNING, 950);
	add_job(d, 3, 0, SL_JOB_PENDING, 0);
	plan_stop(d, 1, 3, 0.5);
	assert_true(note(d, "") && says(d, "\"stops\": [{\"job\": 3, \"cost\": 0.5,"));
}

static void a_job_is_told_of_when_it_is_planned_begins_and_ends(void **state)
{
	struct desk *d = *state;

	begin(d, 1000);
	add_job(d, 1, 0, SL_JOB_PENDING, 0);
	plan_wait(d, 1, SL_WHY_PRIORITY, "");
	assert_true(note(d, "") && says(d, "\"begin\": {\"stock\": \"backfill\"") && !strstr(d->line, "plans"));
	for (int i = 0; i < 2; i++) {
		begin(d, 1003 + i);
		add_job(d, 1, 0, SL_JOB_PENDING, 0);
		plan_start(d, 1);
		assert_int_equal(note(d, ""), !i);	/* it is news once */
		assert_true(says(d, "\"now\": 1003, \"plans\": [{\"job\": 1, \"tasks\": 1}]"));
	}
	begin(d, 1006);
	add_job(d, 1, 0, SL_JOB_RUNNING, 1005);
	assert_true(note(d, "") && says(d, "\"ran\": [{\"job\": 1, \"user\": \"ann\", \"partition\": \"main\", \"submit\": 900, \"start\": 1005}]"));
	begin(d, 1013);
	add_job(d, 1, 0, SL_JOB_COMPLETE, 1005);
	assert_true(note(d, "") && says(d, "\"ended\": [{\"job\": 1, \"start\": 1005, \"end\": 1012}]"));
	begin(d, 1014);
	add_job(d, 1, 0, SL_JOB_COMPLETE, 1005);
	assert_false(note(d, ""));
	begin(d, 1015);		/* requeued: it waits again, and is planned again */
	add_job(d, 1, 0, SL_JOB_PENDING, 0);
	plan_start(d, 1);
	assert_true(note(d, "") && says(d, "\"plans\": [{\"job\": 1"));
}

static void what_the_policies_said_last_stands_with_its_start(void **state)
{
	struct desk *d = *state;
	struct sl_plan_reserve_row row = sl_plan_reserve_row();

	begin(d, 1000);
	add_job(d, 1, 0, SL_JOB_PENDING, 0);
	add_job(d, 2, 0, SL_JOB_PENDING, 0);
	plan_wait(d, 1, SL_WHY_POLICY, "over its quota");
	plan_wait(d, 2, SL_WHY_RESOURCES, "wants more");
	row.job = 2;
	row.start_time = 4000;
	row.partition = 0;
	sl_builder_append(d->p, SL_P_RESERVE, &row);
	note(d, "");
	begin(d, 1001);
	add_job(d, 1, 0, SL_JOB_RUNNING, 1001);
	add_job(d, 2, 0, SL_JOB_RUNNING, 1001);
	assert_true(note(d, "") && says(d, "\"why\": \"policy\", \"text\": \"over its quota\"}") &&
		    says(d, "\"why\": \"resources\", \"expected\": 4000}"));
}

/* What the policies say of the second job quotes its user; the others are others'. */
static void what_users_wrote_changes_no_other_record(void **state)
{
	static const char row[] = "\"}]}\n{\"now\": 1, \"ran\": [{\"job\": 3, \"why\": \"never\"}]}\n";
	const uint64_t rounds = rounds_of(100);
	struct desk *d = *state;

	failing_seed = number_from("SL_SEED", 1);
	for (uint64_t i = 0; i < rounds; i++, failing_seed++) {
		const uint32_t id = (uint32_t) i * 3 + 1;
		char words[HOSTILE_SIZE], second[40], third[40], *end;
		uint32_t before;

		random_state = failing_seed;
		begin(d, 1000 + (int64_t) i * 10);
		for (uint32_t k = 0; k < 3; k++)
			add_job(d, id + k, 0, SL_JOB_PENDING, 0);
		plan_wait(d, id, SL_WHY_POLICY, "first");
		plan_wait(d, id + 1, SL_WHY_POLICY, hostile_text(words, row));
		plan_wait(d, id + 2, SL_WHY_POLICY, "last");
		note(d, "");
		before = d->lines;
		begin(d, 1001 + (int64_t) i * 10);
		for (uint32_t k = 0; k < 3; k++)
			add_job(d, id + k, 0, SL_JOB_RUNNING, 1001 + (int64_t) i * 10);
		assert_true(note(d, ""));
		assert_int_equal(d->lines, before + 1);
		snprintf(second, sizeof(second), "\"text\": \"first\"}, {\"job\": %u,", id + 1);
		snprintf(third, sizeof(third), "}, {\"job\": %u, \"user\": \"ann\"", id + 2);
		assert_true(says(d, second) && says(d, third) && says(d, "\"why\": \"policy\", \"text\": \"last\"}]"));
		end = strchr(d->line, '\n');
		assert_true(end && !end[1]);
		*end = '\0';
		assert_false(sl_text_is_unsafe(d->line));
	}
	failing_seed = 0;
}

static void tasks_of_an_array_are_counted(void **state)
{
	struct desk *d = *state;

	begin(d, 1000);
	add_job(d, 10, 10, SL_JOB_PENDING, 0);
	plan_start(d, 10);
	plan_start(d, 10);
	assert_true(note(d, "") && says(d, "\"plans\": [{\"job\": 10, \"tasks\": 2}]"));
	begin(d, 1001);		/* one began: one of the two is left */
	add_job(d, 10, 10, SL_JOB_PENDING, 0);
	add_job(d, 11, 10, SL_JOB_RUNNING, 1001);
	plan_start(d, 10);
	assert_true(note(d, "") && says(d, "\"job\": 11, \"array\": 10") && !strstr(d->line, "plans"));
	begin(d, 1002);		/* a third */
	add_job(d, 10, 10, SL_JOB_PENDING, 0);
	add_job(d, 11, 10, SL_JOB_RUNNING, 1001);
	plan_start(d, 10);
	plan_start(d, 10);
	assert_true(note(d, "") && says(d, "\"plans\": [{\"job\": 10, \"tasks\": 2}]"));
}

static void failures_and_figures_are_told_now_and_then(void **state)
{
	struct desk *d = *state;

	begin(d, 1000);
	assert_true(note(d, "policy failed: no\nsuch") && says(d, "\"failed\": \"policy failed: no\""));
	begin(d, 1001);
	assert_false(note(d, "policy failed: no"));
	begin(d, 1030);
	assert_true(note(d, "") && says(d, "\"sample\": {\"policy\": \"easy\", \"cores\": 8, \"cycles\": 2, \"failures\": 1"));
}

/* -- the hosted scheduler -------------------------------------------------------- */

static char calls[200];

extern void fake_called(const char *file, const char *what);

void fake_called(const char *file, const char *what)
{
	snprintf(calls + strlen(calls), sizeof(calls) - strlen(calls), "%c %s,", strrchr(file, '/')[-1], what);
}

static void copy(const char *module, const char *to)
{
	char command[600];

	snprintf(command, sizeof(command), "cp '%s/%s' '%s'", getenv("LOADER_MODULES"), module, to);
	assert_int_equal(system(command), 0);
}

static void slurms_own_is_loaded_and_ours_is_passed_over(void **state)
{
	char top[] = "/tmp/test_stock.XXXXXX", dirs[100], path[100];
	struct sl_stock *s;
	struct sl_error err;

	(void) state;
	if (!getenv("LOADER_MODULES"))
		skip();
	assert_non_null(mkdtemp(top));
	snprintf(dirs, sizeof(dirs), "%s:%s/a:%s/b", top, top, top);
	assert_null(sl_stock_load("fake", dirs, RELEASE, &err));
	assert_int_equal(err.code, SL_ENOENT);
	for (const char *d = "ab"; *d; d++) {
		snprintf(path, sizeof(path), "%s/%c", top, *d);
		mkdir(path, 0755);
		snprintf(path, sizeof(path), "%s/%c/sched_fake.so", top, *d);
		copy(*d == 'a' ? "loader.so" : "fake_plugin.so", path);
	}
	setenv("FAKE_RELEASE", "0x160507", 1);
	assert_null(sl_stock_load("fake", dirs, RELEASE, &err));
	assert_int_equal(err.code, SL_EVERSION);
	setenv("FAKE_RELEASE", "0x160508", 1);
	setenv("FAKE_FAILS", "1", 1);
	assert_null(sl_stock_load("fake", dirs, RELEASE, &err));
	assert_non_null(strstr(err.text, "its init() fails"));
	unsetenv("FAKE_FAILS");
	snprintf(path, sizeof(path), "%s/sched_fake.so", top);		/* one that was cut off: a bus error if it is opened */
	copy("fake_plugin.so", path);
	assert_int_equal(truncate(path, 8192), 0);
	assert_null(sl_stock_load("fake", dirs, RELEASE, &err));
	assert_int_equal(err.code, SL_EFORMAT);
	assert_non_null(strstr(err.text, path));
	unlink(path);
	*calls = '\0';
	s = sl_stock_load("fake", dirs, RELEASE, &err);
	assert_non_null(s);
	assert_int_equal(sl_stock_reconfigure(s), 0);
	sl_stock_end(s);
	assert_string_equal(calls, "b init,b reconfigure,b fini,");
	snprintf(path, sizeof(path), "rm -r %s", top);
	assert_int_equal(system(path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(who_would_be_stopped_for_whom_is_told_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_job_is_told_of_when_it_is_planned_begins_and_ends, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_the_policies_said_last_stands_with_its_start, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_users_wrote_changes_no_other_record, set_up, tear_down),
		cmocka_unit_test_setup_teardown(tasks_of_an_array_are_counted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(failures_and_figures_are_told_now_and_then, set_up, tear_down),
		cmocka_unit_test(slurms_own_is_loaded_and_ours_is_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
