/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "t/image/journals.h"
#include "t/make_image.h"
#include "image/shapes.h"

static void a_cycle_is_one_line_that_tells_what_became_of_it(void **state)
{
	struct fixture *f = *state;
	struct sl_error err;
	struct sl_journal *j = sl_journal_open(f->dir, &err);
	struct sl_plan_action_row action = sl_plan_action_row();
	const struct sl_carried carried[] = {
		{ 7, SL_FATE_DONE, NULL }, { 8, SL_FATE_CHANGED, "cancelled meanwhile" },
		{ 9, SL_FATE_ACTION, "no such job" },
	};
	struct stat st;

	begin_plan(f, 5);
	add_start(f, 7, 1, 3);
	add_start(f, 8, 18, 4);		/* two nodes that the snapshot has not */
	add_reserve(f, 10, 2000);
	add_pending(f, 11, SL_WHY_RESOURCES, "needs 4 nodes, \"3\" are free");
	action.verb = SL_ACTION_SIGNAL;
	action.job = 9;
	action.number = 10;
	sl_builder_append(f->plan, SL_P_ACTION, &action);
	assert_int_equal(write_plan(f, j, carried, &err), 0);
	expect_lines(f, 1,
		"{\"sequence\": 5, \"now\": 1005, \"policy\": \"easy\", \"full\": true, "
		"\"started\": [{\"job\": 7, \"partition\": \"batch\", \"nodes\": \"n[1-3]\", \"node_count\": 3, "
		"\"cores\": 24, \"by\": \"easy\", \"done\": true}, "
		"{\"job\": 8, \"partition\": \"batch\", \"nodes\": \"n[18-19]\", \"node_count\": 4, \"cores\": 32, "
		"\"by\": \"easy\", \"done\": false, \"fate\": \"changed\", \"text\": \"cancelled meanwhile\"}], "
		"\"reserved\": [{\"job\": 10, \"start_time\": 2000, \"partition\": \"batch\", \"nodes\": \"n[0-3]\", "
		"\"node_count\": 4, \"cores\": 32}], "
		"\"pending\": [{\"job\": 11, \"why\": \"resources\", \"text\": \"needs 4 nodes, \\\"3\\\" are free\"}], "
		"\"actions\": [{\"job\": 9, \"verb\": \"signal\", \"number\": 10, \"done\": false, "
		"\"fate\": \"action\", \"why\": \"no such job\"}]}");
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	sl_journal_close(j);
}

static void jobs_that_are_stopped_are_named_with_those_for_which_they_are(void **state)
{
	struct fixture *f = *state;
	struct sl_error err;
	struct sl_journal *j = sl_journal_open(f->dir, &err);
	struct sl_plan_hold_row hold = sl_plan_hold_row();
	struct sl_plan_stop_row stop = sl_plan_stop_row();
	const struct sl_carried carried[] = {
		{ 4, SL_FATE_DONE, "" }, { 5, SL_FATE_UNFIT, "Slurm does not let it be preempted for that job now" },
	};

	begin_plan(f, 1);
	add_reserve(f, 7, 2000);
	hold.job = stop.preemptor = 7;
	hold.until = 3000;
	hold.verdict = SL_VERDICT_OPTIMAL;
	hold.cost = hold.bound = 2.5;
	hold.because = sl_builder_str(f->plan, "the cheapest of 3");
	sl_builder_append(f->plan, SL_P_HOLD, &hold);
	stop.group = 1;
	stop.job = 4;
	stop.cost = 2.5;
	stop.mode = SL_STOP_REQUEUE;
	sl_builder_append(f->plan, SL_P_STOP, &stop);
	stop.job = 5;
	stop.cost = 0;
	stop.mode = SL_STOP_NONE;
	sl_builder_append(f->plan, SL_P_STOP, &stop);
	assert_int_equal(write_plan(f, j, carried, &err), 0);
	expect_lines(f, 1, "{\"sequence\": 1, \"now\": 1001, \"policy\": \"easy\", \"full\": true, "
		"\"reserved\": [{\"job\": 7, \"start_time\": 2000, \"partition\": \"batch\", \"nodes\": \"n[0-3]\", "
		"\"node_count\": 4, \"cores\": 32}], "
		"\"held\": [{\"job\": 7, \"until\": 3000, \"verdict\": \"optimal\", \"cost\": 2.5, \"bound\": 2.5, "
		"\"because\": \"the cheapest of 3\"}], "
		"\"stopped\": [{\"job\": 4, \"preemptor\": 7, \"group\": 1, \"cost\": 2.5, \"mode\": \"requeue\", \"done\": true}, "
		"{\"job\": 5, \"preemptor\": 7, \"group\": 1, \"cost\": 0, \"done\": false, \"fate\": \"unfit\", "
		"\"text\": \"Slurm does not let it be preempted for that job now\"}]}");
	begin_plan(f, 2);		/* it is only held for longer */
	add_reserve(f, 7, 2000);
	hold.until = 4000;
	hold.because = 0;
	sl_builder_append(f->plan, SL_P_HOLD, &hold);
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	expect_lines(f, 1, NULL);
	begin_plan(f, 3);
	add_reserve(f, 7, 2000);
	hold.release = 1;
	sl_builder_append(f->plan, SL_P_HOLD, &hold);
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	expect_lines(f, 2, "{\"sequence\": 3, \"now\": 1003, \"policy\": \"easy\", \"held\": [{\"job\": 7, \"release\": true}]}");
	sl_journal_close(j);
}

static void a_waiting_job_is_named_again_only_when_its_answer_changed(void **state)
{
	struct fixture *f = *state;
	struct sl_error err;
	struct sl_journal *j = sl_journal_open(f->dir, &err);
	struct lines l;

	for (int cycle = 1; cycle <= 3; cycle++) {
		begin_plan(f, cycle);
		add_reserve(f, 1, 2000);
		add_pending(f, 2, SL_WHY_PRIORITY, "");
		add_pending(f, 3, SL_WHY_WINDOW, "");
		assert_int_equal(write_plan(f, j, NULL, &err), 0);
		expect_lines(f, 1, NULL);
	}
	begin_plan(f, 4);
	add_reserve(f, 1, 2000);
	add_pending(f, 2, SL_WHY_RESOURCES, "");
	add_pending(f, 3, SL_WHY_WINDOW, "");
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	expect_lines(f, 2, "{\"sequence\": 4, \"now\": 1004, \"policy\": \"easy\", "
		     "\"pending\": [{\"job\": 2, \"why\": \"resources\"}]}");
	begin_plan(f, 5);		/* both left the queue */
	add_reserve(f, 1, 2000);
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	l = read_lines(f);
	assert_int_equal(l.n, 3);
	assert_non_null(strstr(l.line[0], "\"gone\": [{\"job\": "));
	assert_non_null(strstr(l.line[0], "{\"job\": 2}"));
	assert_non_null(strstr(l.line[0], "{\"job\": 3}"));
	forget(&l);
	begin_plan(f, 6);		/* and one is back: that is news */
	add_reserve(f, 1, 2000);
	add_pending(f, 2, SL_WHY_RESOURCES, "");
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	expect_lines(f, 4, "{\"sequence\": 6, \"now\": 1006, \"policy\": \"easy\", "
		     "\"pending\": [{\"job\": 2, \"why\": \"resources\"}]}");
	begin_plan(f, 7);		/* once started it is news again */
	add_start(f, 2, 4, 1);
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	begin_plan(f, 8);
	add_pending(f, 2, SL_WHY_RESOURCES, "");
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	expect_lines(f, 6, "{\"sequence\": 8, \"now\": 1008, \"policy\": \"easy\", "
		     "\"pending\": [{\"job\": 2, \"why\": \"resources\"}]}");
	sl_journal_close(j);
}

/* A cycle with one job that waits, reserved for *start* (0: not), for that reason; how many lines there are then. */
static int lines_after(struct fixture *f, struct sl_journal *j, int64_t sequence, int64_t start, const char *text)
{
	struct sl_error err;
	struct lines l;
	int n;

	begin_plan(f, sequence);
	if (start)
		add_reserve(f, 1, start);
	add_pending(f, 1, SL_WHY_RESOURCES, text);
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	l = read_lines(f);
	n = l.n;
	forget(&l);
	return n;
}

static void numbers_in_a_reason_are_no_news(void **state)
{
	struct fixture *f = *state;
	struct sl_journal *j = sl_journal_open(f->dir, NULL);

	assert_int_equal(lines_after(f, j, 1, 0, "needs 14 nodes, 2 are free"), 1);
	assert_int_equal(lines_after(f, j, 2, 0, "needs 14 nodes, 13 are free"), 1);
	assert_int_equal(lines_after(f, j, 3, 0, "needs 14 nodes, 1 is free"), 1);
	assert_int_equal(lines_after(f, j, 4, 0, "needs 2 of license fluent, 1 is free"), 2);
	assert_int_equal(lines_after(f, j, 5, 0, "needs 2 of license ansys, 1 is free"), 3);
	assert_int_equal(lines_after(f, j, 6, 0, "needs 14 nodes, 2 are free"), 4);
	sl_journal_close(j);
}

/* The plan of a cycle is of the time 1000 + its number (begin_plan()). */
static void an_expected_start_is_told_again_when_it_has_moved_far(void **state)
{
	struct fixture *f = *state;
	struct sl_journal *j = sl_journal_open(f->dir, NULL);

	assert_int_equal(lines_after(f, j, 1, 9000, ""), 1);
	assert_int_equal(lines_after(f, j, 2, 8900, ""), 1);
	assert_int_equal(lines_after(f, j, 3, 8100, ""), 1);	/* 900 s of a wait of 8000 */
	assert_int_equal(lines_after(f, j, 4, 7900, ""), 2);	/* against what was written, not against the last */
	assert_int_equal(lines_after(f, j, 5, 8000, ""), 2);
	assert_int_equal(lines_after(f, j, 6, 0, ""), 3);	/* lost */
	assert_int_equal(lines_after(f, j, 7, 1100, ""), 4);
	assert_int_equal(lines_after(f, j, 8, 1130, ""), 4);	/* less than a minute */
	sl_journal_close(j);
}

static void thousands_of_cycles_of_jobs_that_wait_leave_a_file_small(void **state)
{
	enum { JOBS = 250, CYCLES = 400 };
	struct fixture *f = *state;
	struct sl_error err;
	struct sl_journal *j = sl_journal_open(f->dir, &err);
	struct stat st;
	uint64_t seed = 1;
	char text[80];

	for (int cycle = 1; cycle <= CYCLES; cycle++) {
		begin_plan(f, cycle);
		for (uint32_t job = 1; job <= JOBS; job++) {
			if (job <= 20)
				add_reserve(f, job, 5000 + 100 * job + cycle % 7);
			snprintf(text, sizeof(text), "needs %u nodes, %u are free", job % 20,
				 (unsigned) (seed = seed * 6364136223846793005u + 1) >> 28);
			add_pending(f, job, SL_WHY_RESOURCES, text);
		}
		assert_int_equal(write_plan(f, j, NULL, &err), 0);
	}
	assert_int_equal(stat(f->path, &st), 0);
	assert_in_range(st.st_size, 1, 200 * JOBS);	/* it was 400 times as much */
	sl_journal_close(j);
}

/* In the snapshot: a job that is queued in the first so many partitions. */
static void add_job(struct fixture *f, uint32_t id, const char *ignored, uint32_t partitions)
{
	struct sl_job_row job = sl_job_row();
	struct sl_queue_row queue = sl_queue_row();

	job.id = id;
	job.partition = 0;
	job.shapes_ignored = *ignored ? sl_builder_str(f->snapshot, ignored) : 0;
	queue.job = sl_builder_rows(f->snapshot, SL_T_JOB);
	sl_builder_append(f->snapshot, SL_T_JOB, &job);
	for (queue.partition = 0; queue.partition < partitions; queue.partition++)
		sl_builder_append(f->snapshot, SL_T_QUEUE, &queue);
}

static void add_partition(struct fixture *f, const char *name, uint32_t first, uint32_t last)
{
	struct sl_partition_row part = sl_partition_row();
	struct sl_run_row run = sl_run_row();

	part.name = sl_builder_str(f->snapshot, name);
	part.nodes = (struct sl_range) { sl_builder_rows(f->snapshot, SL_T_RUN), 1 };
	run.first = first;
	run.last = last;
	sl_builder_append(f->snapshot, SL_T_RUN, &run);
	sl_builder_append(f->snapshot, SL_T_PARTITION, &part);
}

static void open_snapshot(struct fixture *f)
{
	struct sl_error err;
	const void *bytes;
	size_t size;

	if (sl_builder_finish(f->snapshot, &bytes, &size, &err) || sl_snapshot_open(&f->snap, bytes, size, &err))
		fail_msg("%s", err.text);
}

/* Who stands ahead of a job can only be told by those who know where it may run. */
static void nodes_of_partitions_are_told_once_and_again_when_they_change(void **state)
{
	struct fixture *f = *state;
	struct sl_error err;
	struct sl_journal *j = sl_journal_open(f->dir, &err);

	add_partition(f, "gpu", 16, 19);
	add_job(f, 40, "", 2);
	open_snapshot(f);
	for (int i = 1; i < 3; i++) {
		begin_plan(f, i);
		add_pending(f, 40, SL_WHY_RESOURCES, "waits");
		assert_int_equal(write_plan(f, j, NULL, &err), 0);
	}
	expect_lines(f, 1, "{\"sequence\": 1, \"now\": 1001, \"policy\": \"easy\", \"full\": true, "
		     "\"partitions\": {\"gpu\": \"n[16-19]\"}, "
		     "\"pending\": [{\"job\": 40, \"why\": \"resources\", \"text\": \"waits\", "
		     "\"partition\": \"batch,gpu\"}]}");
	add_partition(f, "new", 0, 0);
	open_snapshot(f);
	begin_plan(f, 3);
	add_pending(f, 40, SL_WHY_RESOURCES, "waits");
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	expect_lines(f, 2, "{\"sequence\": 3, \"now\": 1003, \"policy\": \"easy\", "
		     "\"partitions\": {\"gpu\": \"n[16-19]\", \"new\": \"n0\"}}");
	sl_journal_close(j);
}

static void a_job_whose_alternatives_are_ignored_is_told_so_once(void **state)
{
	struct fixture *f = *state;
	struct sl_error err;
	struct sl_journal *j = sl_journal_open(f->dir, &err);

	add_job(f, 30, "", 1);
	add_job(f, 31, "'or' is no option", 1);
	add_job(f, 32, "", 1);
	open_snapshot(f);
	for (int i = 1; i < 4; i++) {
		begin_plan(f, i);
		add_pending(f, 31, SL_WHY_RESOURCES, "waits");
		add_pending(f, 32, SL_WHY_RESOURCES, i == 3 ? "waits still" : "waits");
		assert_int_equal(write_plan(f, j, NULL, &err), 0);
	}
	expect_lines(f, 2, "{\"sequence\": 3, \"now\": 1003, \"policy\": \"easy\", "
		     "\"pending\": [{\"job\": 32, \"why\": \"resources\", \"text\": \"waits still\", "
		     "\"partition\": \"batch\"}]}");
	begin_plan(f, 4);
	add_start(f, 31, 1, 1);
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	struct lines l = read_lines(f);
	assert_non_null(strstr(l.line[0], "\"note\": \"'or' is no option\""));
	assert_non_null(strstr(l.line[2], "\"text\": \"waits\", \"partition\": \"batch\", "
			       "\"note\": \"'or' is no option\"}, {\"job\": 32, "
			       "\"why\": \"resources\", \"text\": \"waits\", \"partition\": \"batch\"}"));
	forget(&l);
	sl_journal_close(j);
}

/* shapes_ignored is for all of them. */
static void alternatives_that_are_not_offered_are_told_by_number(void **state)
{
	static const uint32_t refused[] = { SL_SHAPE_REFUSED_LATELY, SL_SHAPE_FREE, SL_SHAPE_MORE_GRES, SL_SHAPE_MORE_TIME };
	struct fixture *f = *state;
	struct sl_error err;
	struct sl_journal *j = sl_journal_open(f->dir, &err);
	struct sl_job_row job;

	add_job(f, 30, "", 1);
	sl_builder_row(f->snapshot, SL_T_JOB, 0, &job);
	job.shapes.count = 4;
	sl_builder_update(f->snapshot, SL_T_JOB, 0, &job);
	for (int i = 0; i < 4; i++) {
		struct sl_shape_row s = sl_shape_row();

		s.refused = refused[i];
		sl_builder_append(f->snapshot, SL_T_SHAPE, &s);
	}
	add_job(f, 31, "", 1);
	open_snapshot(f);
	for (int i = 1; i < 4; i++) {
		begin_plan(f, i);
		add_pending(f, 30, SL_WHY_RESOURCES, "waits");
		assert_int_equal(write_plan(f, j, NULL, &err), 0);
	}
	begin_plan(f, 4);
	add_start(f, 30, 1, 1);
	add_pending(f, 31, SL_WHY_RESOURCES, "waits");
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	struct lines l = read_lines(f);
	assert_int_equal(l.n, 2);
	assert_non_null(strstr(l.line[1], "\"text\": \"waits\", \"partition\": \"batch\", \"beyond\": "
			       "\"alternative 3 asks for more gres than the job; 2 alternatives are not offered\"}"));
	assert_non_null(strstr(l.line[0], "\"beyond\": \"alternative 3 asks"));
	assert_null(strstr(strstr(l.line[0], "\"job\": 31"), "beyond"));
	forget(&l);
	sl_journal_close(j);
}

static void a_reservation_that_is_lost_is_told_with_the_reason_that_stays(void **state)
{
	struct fixture *f = *state;
	struct sl_error err;
	struct sl_journal *j = sl_journal_open(f->dir, &err);

	begin_plan(f, 1);
	add_reserve(f, 1, 2000);
	add_pending(f, 1, SL_WHY_RESOURCES, "");
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	begin_plan(f, 2);
	add_pending(f, 1, SL_WHY_RESOURCES, "");
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	expect_lines(f, 2, "{\"sequence\": 2, \"now\": 1002, \"policy\": \"easy\", "
		     "\"pending\": [{\"job\": 1, \"why\": \"resources\"}]}");
	begin_plan(f, 3);
	add_reserve(f, 1, 2000);
	add_pending(f, 1, SL_WHY_RESOURCES, "");
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	expect_lines(f, 3, "{\"sequence\": 3, \"now\": 1003, \"policy\": \"easy\", \"reserved\": [{\"job\": 1, "
		     "\"start_time\": 2000, \"partition\": \"batch\", \"nodes\": \"n[0-3]\", \"node_count\": 4, "
		     "\"cores\": 32}], \"pending\": [{\"job\": 1, \"why\": \"resources\"}]}");
	sl_journal_close(j);
}

static void an_error_that_goes_on_is_written_once(void **state)
{
	struct fixture *f = *state;
	struct sl_error err;
	struct sl_journal *j = sl_journal_open(f->dir, &err);
	struct sl_plan_meta_row meta;

	begin_plan(f, 1);
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	for (int cycle = 2; cycle < 4; cycle++) {
		begin_plan(f, cycle);
		sl_builder_row(f->plan, SL_P_META, 0, &meta);
		meta.error = sl_builder_str(f->plan, "sched.lua:3: oops");
		sl_builder_update(f->plan, SL_P_META, 0, &meta);
		assert_int_equal(write_plan(f, j, NULL, &err), 0);
	}
	expect_lines(f, 2, "{\"sequence\": 2, \"now\": 1002, \"policy\": \"easy\", \"error\": \"sched.lua:3: oops\"}");
	begin_plan(f, 5);
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	expect_lines(f, 3, "{\"sequence\": 5, \"now\": 1005, \"policy\": \"easy\"}");
	sl_journal_close(j);
}

static void long_lines_are_read_whole(void **state)
{
	struct fixture *f = *state;
	struct sl_error err;
	struct sl_journal *j = sl_journal_open(f->dir, &err);
	struct lines l = { .n = 0, .limit = 2 };

	for (int cycle = 1; cycle <= 3; cycle++) {
		begin_plan(f, cycle);
		for (uint32_t job = 0; job < 20000; job++)
			add_pending(f, job, SL_WHY_POLICY, cycle % 2 ? "not now" : "not today");
		assert_int_equal(write_plan(f, j, NULL, &err), 0);
	}
	sl_journal_close(j);
	assert_int_equal(sl_journal_read(f->dir, keep, &l, &err), 0);
	assert_int_equal(l.n, 2);		/* it stops when told to */
	assert_true(strlen(l.line[0]) > 1000000);
	assert_non_null(strstr(l.line[0], "\"sequence\": 3,"));
	assert_non_null(strstr(l.line[1], "\"sequence\": 2,"));
	forget(&l);
}

static void random_plans_make_whole_lines(void **state)
{
	struct fixture *f = *state;
	struct sl_error err;
	struct sl_journal *j = sl_journal_open(f->dir, &err);

	for (uint64_t seed = 0; seed < 60; seed++) {
		sl_builder_reset(f->plan);
		make_plan(f->plan, seed, 30, seed);
		assert_int_equal(write_plan(f, j, NULL, &err), 0);
	}
	expect_lines(f, 60, NULL);
	sl_journal_close(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_DIR(a_cycle_is_one_line_that_tells_what_became_of_it),
		WITH_DIR(jobs_that_are_stopped_are_named_with_those_for_which_they_are),
		WITH_DIR(a_waiting_job_is_named_again_only_when_its_answer_changed),
		WITH_DIR(numbers_in_a_reason_are_no_news),
		WITH_DIR(an_expected_start_is_told_again_when_it_has_moved_far),
		WITH_DIR(thousands_of_cycles_of_jobs_that_wait_leave_a_file_small),
		WITH_DIR(a_job_whose_alternatives_are_ignored_is_told_so_once),
		WITH_DIR(alternatives_that_are_not_offered_are_told_by_number),
		WITH_DIR(nodes_of_partitions_are_told_once_and_again_when_they_change),
		WITH_DIR(a_reservation_that_is_lost_is_told_with_the_reason_that_stays),
		WITH_DIR(an_error_that_goes_on_is_written_once),
		WITH_DIR(long_lines_are_read_whole),
		WITH_DIR(random_plans_make_whole_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
