/* SPDX-License-Identifier: MIT */
/* Workloads as logs in SWF: rows, walltimes, windows of them, and files that are compressed or damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/lines.h"
#include "t/workload/load.h"

static void the_header_and_the_rows_of_a_log_are_read(void **state)
{
	struct sl_workload *w = LOAD(file("a.swf", small_swf), 0);
	const struct sl_job_view *j = &w->snap.job;

	(void) state;
	assert_int_equal(j->rows, 3);
	assert_int_equal(w->rows_read, 3);
	assert_int_equal(w->origin_s, 843480031);
	assert_int_equal(w->snap.meta.now[0], 843480031);
	assert_int_equal(w->snap.node.rows, 1);
	assert_int_equal(w->snap.node.cores[0], 10);
	assert_int_equal(j->id[0], 1);
	assert_int_equal(j->submit_time[1], 843480041);
	assert_int_equal(j->eligible_time[1], 843480041);
	assert_int_equal(j->state[0], SL_JOB_PENDING);
	assert_int_equal(j->priority[0], 1);
	assert_int_equal(j->array_job_id[0], SL_NONE);
	assert_int_equal(j->partition[2], 0);
	assert_int_equal(j->flags[0], SL_JOBF_BATCH);
	assert_int_equal(j->num_tasks[0], 4);
	assert_int_equal(j->min_cpus[0], 4);
	assert_int_equal(j->num_tasks[1], 2);
	assert_int_equal(j->memory_per_cpu[0], 2);
	assert_string_equal(str(w, j->user[0]), "u7");
	assert_int_equal(j->user[0], j->user[2]);
	assert_int_equal(j->uid[1], 8);
	assert_string_equal(str(w, j->account[0]), "g3");
	assert_string_equal(str(w, j->account[1]), "");
	assert_string_equal(str(w, j->name[0]), "a9");
	assert_string_equal(str(w, j->qos[0]), "short");
	assert_string_equal(str(w, j->qos[1]), "q2");
	assert_int_equal(w->snap.queue.rows, 0);
	sl_workload_destroy(w);
}

static void a_walltime_is_what_was_asked_for_and_ends_what_runs_longer(void **state)
{
	struct sl_workload *w = LOAD(file("a.swf", small_swf), 0);

	(void) state;
	assert_int_equal(w->runtime_s[0], 100);
	assert_int_equal(w->estimate_s[0], 300);
	assert_int_equal(w->snap.job.time_limit[0], 300);
	assert_int_equal(w->snap.job.time_limit[1], 50);	/* asked for nothing */
	assert_int_equal(w->estimate_s[1], 0);
	assert_int_equal(w->runtime_s[2], 150);
	assert_int_equal(w->snap.job.time_limit[2], 150);
	assert_int_equal(w->issue[SL_ISSUE_NO_ESTIMATE].count, 1);
	assert_int_equal(w->issue[SL_ISSUE_NO_ESTIMATE].line[0], 8);
	assert_int_equal(w->issue[SL_ISSUE_OVERRUN].count, 1);
	assert_int_equal(w->issue[SL_ISSUE_OVERRUN].line[0], 9);
	sl_workload_destroy(w);
	w = LOAD(path, .overrun = SL_OVERRUN_RAISES);
	assert_int_equal(w->runtime_s[2], 200);
	assert_int_equal(w->estimate_s[2], 150);
	assert_int_equal(w->snap.job.time_limit[2], 200);
	sl_workload_destroy(w);
}

static void estimates_may_be_exact_or_a_multiple_of_the_runtime(void **state)
{
	struct sl_workload *w = LOAD(file("a.swf", small_swf), .estimate = "exact");

	(void) state;
	assert_int_equal(w->snap.job.time_limit[0], 100);
	assert_int_equal(w->snap.job.time_limit[2], 150);
	assert_int_equal(w->estimate_s[0], 300);
	sl_workload_destroy(w);
	w = LOAD(path, .estimate = "x2.5");
	assert_int_equal(w->snap.job.time_limit[0], 250);
	assert_int_equal(w->snap.job.time_limit[1], 125);
	sl_workload_destroy(w);
	REFUSED(path, SL_EINVAL, "expected exact, user, or x", .estimate = "x0.5");
	REFUSED(path, SL_EINVAL, "expected exact, user, or x", .estimate = "good");
}

static void processors_are_those_that_a_job_had_or_on_demand_asked_for(void **state)
{
	struct sl_workload *w = LOAD(file("a.swf", small_swf), .requested_procs = true);

	(void) state;
	assert_int_equal(w->snap.job.num_tasks[0], 6);
	assert_int_equal(w->snap.job.num_tasks[1], 2);
	sl_workload_destroy(w);
}

static void the_machine_of_a_log_may_be_another_one(void **state)
{
	struct sl_workload *w = LOAD(file("a.swf", small_swf), .machine = "5x4c");

	(void) state;
	assert_int_equal(w->snap.node.rows, 5);
	assert_string_equal(str(w, w->snap.node.name[4]), "n5");
	sl_workload_destroy(w);
	w = LOAD(path, .procs = 100000);
	assert_int_equal(w->snap.node.rows, 2);
	assert_int_equal(w->snap.node.cores[0] + w->snap.node.cores[1], 100000);
	sl_workload_destroy(w);
	REFUSED(path, SL_EINVAL, "expected one of them", .machine = "5x4c", .procs = 3);
	REFUSED(file("b.swf", small_swf + strlen("; Version: 2.2\n; MaxNodes: 10\n; MaxProcs: 10\n")), SL_EINVAL,
		"no MaxProcs");
}

static const char bad_rows[] =
	"; MaxProcs: 8\n"
	"1 100 0 10 1 -1 -1 1 20 -1 1 1 1 -1 -1 -1 -1 -1\n"
	"2 110 0 10 1\n"
	"3 120 0 ten 1 -1 -1 1 20 -1 1 1 1 -1 -1 -1 -1 -1\n"
	"4 -5 0 10 1 -1 -1 1 20 -1 1 1 1 -1 -1 -1 -1 -1\n"
	"5 130 0 0 1 -1 -1 1 20 -1 5 1 1 -1 -1 -1 -1 -1\n"
	"6 140 0 -1 1 -1 -1 1 20 -1 1 1 1 -1 -1 -1 -1 -1\n"
	"7 150 0 10 0 -1 -1 -1 20 -1 1 1 1 -1 -1 -1 -1 -1\n"
	"8 160 0 10 9 -1 -1 9 20 -1 1 1 1 -1 -1 -1 -1 -1\n"
	"9 90 0 10 1 -1 -1 1 20 -1 1 1 1 -1 -1 -1 -1 -1\n"
	"1 170 0 10 1 -1 -1 1 20 -1 1 1 1 -1 -1 -1 -1 -1\n"
	"11 180 0 10 1 -1 -1 1 20 -1 3 1 1 -1 -1 -1 -1 -1\n"
	"12 99999999999999999999 0 10 1 -1 -1 1 20 -1 1 1 1 -1 -1 -1 -1 -1\n"
	"13 4000000000000000 0 10 1 -1 -1 1 20 -1 1 1 1 -1 -1 -1 -1 -1\n"
	"14 190 0 10 1 -1 -1 1 20 -1 1 1 1 -1 -1 -1 -1 -1 and more";

static void no_row_is_dropped_without_a_word(void **state)
{
	struct sl_workload *w = LOAD(file("bad.swf", bad_rows), 0);
	const struct { enum sl_issue issue; uint64_t count, line; } expected[] = {
		{ SL_ISSUE_FIELDS, 4, 3 }, { SL_ISSUE_NEGATIVE, 1, 5 }, { SL_ISSUE_NO_RUNTIME, 2, 6 },
		{ SL_ISSUE_NO_CORES, 1, 8 }, { SL_ISSUE_TOO_LARGE, 1, 9 }, { SL_ISSUE_BACKWARDS, 1, 10 },
		{ SL_ISSUE_DUPLICATE, 1, 11 }, { SL_ISSUE_STEP, 1, 12 },
	};
	uint64_t dropped = 0;

	(void) state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		if (w->issue[expected[i].issue].count != expected[i].count)
			fail_msg("%s: %d", sl_issue_words(expected[i].issue), (int) w->issue[expected[i].issue].count);
		assert_int_equal(w->issue[expected[i].issue].line[0], expected[i].line);
		if (expected[i].issue != SL_ISSUE_BACKWARDS && expected[i].issue != SL_ISSUE_DUPLICATE)
			dropped += expected[i].count;
	}
	assert_int_equal(w->rows_read, 14);
	assert_int_equal(w->snap.job.rows, 4);
	assert_int_equal(w->snap.job.rows + dropped, w->rows_read);
	sl_workload_destroy(w);
}

static void jobs_come_in_the_order_of_submission_and_every_id_once(void **state)
{
	struct sl_workload *w = LOAD(file("bad.swf", bad_rows), 0);
	const struct sl_job_view *j = &w->snap.job;

	(void) state;
	assert_int_equal(j->id[0], 9);
	assert_int_equal(j->submit_time[0] - w->origin_s, 90);
	for (uint32_t i = 1; i < j->rows; i++)
		assert_true(j->submit_time[i] >= j->submit_time[i - 1]);
	for (uint32_t i = 0; i < j->rows; i++)
		for (uint32_t k = 0; k < i; k++)
			assert_int_not_equal(j->id[i], j->id[k]);
	sl_workload_destroy(w);
}

static void strictness_makes_a_bad_row_an_error_with_its_line(void **state)
{
	(void) state;
	REFUSED(file("bad.swf", bad_rows), SL_EINVAL, "4 rows that are no jobs (lines 3, 4, 13, 14",
		.strict = true);
	REFUSED(file("large.swf", "; MaxProcs: 8\n1 0 0 10 9 -1 -1 9 20 -1 1 1 1 -1 -1 -1 -1 -1\n"
		     "2 0 0 10 8 -1 -1 8 20 -1 1 1 1 -1 -1 -1 -1 -1\n"), SL_EINVAL,
		"1 jobs larger than the machine (line 2: job 1 asks for 9 cores)", .strict = true);
	sl_workload_destroy(LOAD(file("a.swf", small_swf), .strict = true));
}

static void issues_are_printed_one_a_line_with_the_first_lines(void **state)
{
	struct sl_workload *w = LOAD(file("bad.swf", bad_rows), 0);
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	(void) state;
	sl_workload_print_issues(w, "schedlua: ", f);
	fclose(f);
	assert_non_null(strstr(text, "2 jobs that did not run, skipped (lines 6, 7: ran 0 s)\n"));
	assert_non_null(strstr(text, "1 jobs submitted before the row above, sorted (line 10: 90 after 160)\n"));
	free(text);
	sl_workload_destroy(w);
}

static void only_the_first_jobs_are_read_on_demand(void **state)
{
	struct sl_workload *w = LOAD(file("a.swf", small_swf), .jobs = 2);

	(void) state;
	assert_int_equal(w->snap.job.rows, 2);
	sl_workload_destroy(w);
}

static void write_gz(const char *name, size_t cut, bool garble)
{
	char whole[112], bytes[4096];
	size_t n;
	gzFile gz;
	FILE *f;

	snprintf(whole, sizeof(whole), "%s/whole.gz", scratch);
	gz = gzopen(whole, "wb");
	for (int i = 0; i < 200; i++)
		gzprintf(gz, "%d %d 0 %d 4 -1 -1 6 300 -1 1 7 3 9 1 -1 -1 -1\n", i + 1, i * 7, 10 + i * i % 97);
	gzclose(gz);
	f = fopen(whole, "rb");
	n = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	assert_true(n > 300 && n < sizeof(bytes));
	if (garble)
		bytes[n / 2] ^= 0x55;
	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	f = fopen(path, "wb");
	fwrite(bytes, 1, n - cut, f);
	fclose(f);
}

static void compressed_logs_are_read_and_damaged_ones_refused(void **state)
{
	struct sl_workload *w;

	(void) state;
	write_gz("good.swf.gz", 0, false);
	w = LOAD(path, .procs = 8);
	assert_int_equal(w->snap.job.rows, 200);
	sl_workload_destroy(w);
	write_gz("short.swf.gz", 1, false);
	REFUSED(path, SL_EFORMAT, "end too early", .procs = 8);
	write_gz("shorter.swf.gz", 200, false);
	REFUSED(path, SL_EFORMAT, "end too early", .procs = 8);
	write_gz("garbled.swf.gz", 0, true);
	REFUSED(path, SL_EFORMAT, "corrupt", .procs = 8);
}

static void append(const char *name, const char *bytes, size_t size)
{
	FILE *f = fopen(name, "ab");

	assert_int_equal(fwrite(bytes, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

static void what_stands_behind_compressed_data_is_no_part_of_the_log(void **state)
{
	char first[4096];
	size_t n;
	FILE *f;

	(void) state;
	write_gz("two.swf.gz", 0, false);
	f = fopen(path, "rb");
	n = fread(first, 1, sizeof(first), f);
	fclose(f);
	append(path, first, n);		/* a second member: gzip joins them */
	sl_workload_destroy(LOAD(path, .procs = 8));
	write_gz("junk.swf.gz", 0, false);
	append(path, "junk", 4);
	REFUSED(path, SL_EFORMAT, "follows the compressed data", .procs = 8);
	write_gz("one.swf.gz", 0, false);
	append(path, "", 1);
	REFUSED(path, SL_EFORMAT, "follows the compressed data", .procs = 8);
}

static void a_mark_of_the_order_of_bytes_is_no_part_of_the_text(void **state)
{
	struct sl_workload *w = LOAD(file("mark.swf", "\xef\xbb\xbf; MaxProcs: 7\n1 0 0 10 1 -1 -1 1 20 -1 1 1 1 -1 -1 -1 -1 -1\n"), 0);

	(void) state;
	assert_int_equal(w->snap.node.cores[0], 7);
	sl_workload_destroy(w);
	w = LOAD(file("mark.json", "\xef\xbb\xbf{ \"jobs\": [ { \"id\": 1, \"runtime_s\": 5 } ] }"), .procs = 1);
	assert_int_equal(w->runtime_s[0], 5);
	sl_workload_destroy(w);
}

static void durations_are_rounded_up_and_instants_down(void **state)
{
	struct sl_workload *w = LOAD(file("parts.swf", "; MaxProcs: 7\n1 9.9 0 99.9 1 -1 -1 1 100.01 -1 1 1 1 -1 -1 -1 -1 -1\n"
		"2 10 0 0.2 1 -1 -1 1 20.0 -1 1 1 1 -1 -1 -1 -1 -1\n"), 0);

	(void) state;
	assert_int_equal(w->snap.job.submit_time[0] - w->origin_s, 9);
	assert_int_equal(w->runtime_s[0], 100);
	assert_int_equal(w->estimate_s[0], 101);
	assert_int_equal(w->runtime_s[1], 1);
	assert_int_equal(w->estimate_s[1], 20);
	sl_workload_destroy(w);
}

static void times_that_nothing_can_be_counted_with_are_no_jobs(void **state)
{
	struct sl_workload *w = LOAD(file("far.swf", "; MaxProcs: 7\n1 0 0 900000000000 1 -1 -1 1 20 -1 1 1 1 -1 -1 -1 -1 -1\n"
		"2 0 0 5 1 -1 -1 1 900000000000 -1 1 1 1 -1 -1 -1 -1 -1\n3 0 0 5 1 -1 -1 1 20 -1 1 1 1 -1 -1 -1 -1 -1\n"), 0);

	(void) state;
	assert_int_equal(w->snap.job.rows, 1);
	assert_int_equal(w->issue[SL_ISSUE_FIELDS].count, 2);
	sl_workload_destroy(w);
}

static void the_first_job_of_an_id_keeps_it(void **state)
{
	struct sl_workload *w = LOAD(file("twice.swf", "; MaxProcs: 7\n5 0 0 10 1 -1 -1 1 20 -1 1 1 1 -1 -1 -1 -1 -1\n"
		"5 1 0 11 1 -1 -1 1 20 -1 1 1 1 -1 -1 -1 -1 -1\n4 2 0 12 1 -1 -1 1 20 -1 1 1 1 -1 -1 -1 -1 -1\n"), 0);

	(void) state;
	assert_int_equal(w->snap.job.id[0], 5);
	assert_int_equal(w->snap.job.id[1], 6);
	assert_int_equal(w->snap.job.id[2], 4);
	assert_int_equal(w->issue[SL_ISSUE_DUPLICATE].count, 1);
	assert_int_equal(w->issue[SL_ISSUE_DUPLICATE].line[0], 3);
	sl_workload_destroy(w);
}

static void what_a_walltime_cuts_is_not_forgotten(void **state)
{
	struct sl_workload *w = LOAD(file("a.swf", small_swf), .overrun = SL_OVERRUN_STAYS);

	(void) state;
	assert_int_equal(w->runtime_s[2], 200);
	assert_int_equal(w->snap.job.time_limit[2], 150);
	assert_true(w->outstays);
	sl_workload_destroy(w);
	w = LOAD(path, 0);
	assert_int_equal(w->runtime_s[2], 150);
	assert_int_equal(w->wanted_s[2], 200);
	assert_int_equal(w->wanted_s[0], 100);
	sl_workload_destroy(w);
}

/* Five jobs, a day from one to the next; the third is the first of the second line. */
static const char days[] = "; UnixStartTime: 1704067200\n; MaxProcs: 4\n"
	"1 0 0 10 1 -1 -1 1 20 -1 1 1 1 -1 -1 -1 -1 -1\n3 172800 0 10 1 -1 -1 1 20 -1 1 1 1 -1 -1 -1 -1 -1\n"
	"2 86400 0 10 1 -1 -1 1 20 -1 1 1 1 -1 -1 -1 -1 -1\n4 259200 0 10 1 -1 -1 1 20 -1 1 1 1 -1 -1 -1 -1 -1\n"
	"5 345600 0 10 1 -1 -1 1 20 -1 1 1 1 -1 -1 -1 -1 -1\n";

static void has_jobs(struct sl_workload *w, uint32_t first, uint32_t last)
{
	assert_int_equal(w->snap.job.rows, last - first + 1);
	for (uint32_t i = 0; i < w->snap.job.rows; i++)
		assert_int_equal(w->snap.job.id[i], first + i);
	assert_int_equal(w->origin_s, 1704067200);
	assert_int_equal(w->snap.meta.now[0], w->snap.job.submit_time[0]);
	sl_workload_destroy(w);
}

static void a_window_of_a_log_is_in_the_order_of_submission(void **state)
{
	(void) state;
	has_jobs(LOAD(file("days.swf", days), .from = "1d"), 2, 5);
	has_jobs(LOAD(path, .to = "2d"), 1, 2);
	has_jobs(LOAD(path, .from = "24h", .to = "3-00:00:01"), 2, 4);
	has_jobs(LOAD(path, .from = "2024-01-02", .to = "2024-01-03T00:00:01"), 2, 3);
	has_jobs(LOAD(path, .skip = 1, .jobs = 2), 2, 3);
	has_jobs(LOAD(path, .from = "1d", .skip = 1, .jobs = 2), 3, 4);
	REFUSED(path, SL_EINVAL, "no job is left", .from = "30d");
	REFUSED(path, SL_EINVAL, "no job is left", .skip = 5);
	REFUSED(path, SL_EINVAL, "expected the former to be the earlier", .from = "2d", .to = "1d");
	REFUSED(path, SL_EINVAL, "from \"soon\": expected a time after", .from = "soon");
	REFUSED(path, SL_EINVAL, "to \"2024-13-01\": expected", .to = "2024-13-01");
}

static void windows_are_those_of_json_too(void **state)
{
	struct sl_workload *w = LOAD(file("w.json", "{ \"jobs\": [ { \"id\": 2, \"submit_time\": 60, \"runtime_s\": 5 }, "
		"{ \"id\": 1, \"runtime_s\": 6 }, { \"id\": 3, \"submit_time\": 120, \"runtime_s\": 7 } ] }"), .procs = 1,
		.from = "1m", .skip = 1);

	(void) state;
	assert_int_equal(w->snap.job.rows, 1);
	assert_int_equal(w->snap.job.id[0], 3);
	assert_int_equal(w->runtime_s[0], 7);
	sl_workload_destroy(w);
	REFUSED(path, SL_EINVAL, "no job is left", .procs = 1, .from = "1h");
}

static void what_is_no_workload_is_refused_with_a_reason(void **state)
{
	char *long_line = malloc(SL_LINE_MAX + 100);

	(void) state;
	REFUSED(file("empty.swf", ""), SL_EFORMAT, "an empty file");
	REFUSED(file("prose.swf", "Dear reader,\nthis is a letter.\n"), SL_EFORMAT, "prose.swf:1: \"Dear reader,\" begins no workload that is known");
	REFUSED(file("numbers.swf", "1 2\n3 4\n"), SL_EFORMAT, "no job in 2 lines");
	REFUSED(scratch, SL_EIO, "a directory: expected a file");
	REFUSED("frobnicate", SL_ENOENT, "none of esp, esp-gpu, esp-gpu-rand, auction:I.1 ... auction:V.3, synthetic");
	memset(long_line, '1', SL_LINE_MAX + 99);
	long_line[SL_LINE_MAX + 99] = 0;
	REFUSED(file("long.swf", long_line), SL_EFORMAT, "a line of more than");
	free(long_line);
}

static void a_workload_written_as_swf_is_read_back(void **state)
{
	struct sl_workload *w = LOAD(file("a.swf", small_swf), 0), *back;
	char out[112];
	FILE *f;

	(void) state;
	snprintf(out, sizeof(out), "%s/out.swf", scratch);
	f = fopen(out, "w");
	assert_int_equal(sl_workload_write_swf(w, NULL, f, NULL), 0);
	fclose(f);
	back = LOAD(out, 0);
	assert_int_equal(back->snap.job.rows, 3);
	assert_int_equal(back->origin_s, w->origin_s);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(back->runtime_s[i], w->runtime_s[i]);
		assert_int_equal(back->estimate_s[i], w->estimate_s[i]);
		assert_int_equal(back->snap.job.id[i], w->snap.job.id[i]);
		assert_int_equal(back->snap.job.submit_time[i], w->snap.job.submit_time[i]);
		assert_int_equal(back->snap.job.min_cpus[i], w->snap.job.min_cpus[i]);
		assert_int_equal(back->snap.job.memory_per_cpu[i], w->snap.job.memory_per_cpu[i]);
		assert_string_equal(str(back, back->snap.job.user[i]), str(w, w->snap.job.user[i]));
		assert_string_equal(str(back, back->snap.job.account[i]), str(w, w->snap.job.account[i]));
	}
	sl_workload_destroy(back);
	sl_workload_destroy(w);
}

/* -- real logs ---------------------------------------------------------------------------- */

static void logs_of_the_archive_have_the_jobs_they_should(void **state)
{
	static const struct { const char *name; uint32_t jobs, skipped, cores; } logs[] = {
		{ "KTH-SP2-1996-2-raw.swf.gz", 28481, 8, 100 },
		{ "CTC-SP2-1996-3.1-cln.swf.gz", 77205, 17, 338 },
		{ "SDSC-BLUE-2000-4.2-cln.swf.gz", 232536, 10770, 1152 },
	};
	const char *where = getenv("SL_TRACES");
	char log[512];
	int found = 0;

	(void) state;
	for (size_t i = 0; where && i < sizeof(logs) / sizeof(logs[0]); i++) {
		struct sl_workload *w;

		snprintf(log, sizeof(log), "%s/%s", where, logs[i].name);
		if (access(log, R_OK))
			continue;
		w = LOAD(log, .strict = true);
		assert_int_equal(w->snap.job.rows, logs[i].jobs);
		assert_int_equal(w->issue[SL_ISSUE_NO_RUNTIME].count, logs[i].skipped);
		assert_int_equal(w->snap.node.cores[0], logs[i].cores);
		sl_workload_destroy(w);
		found++;
	}
	if (!found)	/* cmocka's own word for skipping is a failure in TAP */
		print_message("# skipped: SL_TRACES names no directory with logs of the Parallel Workloads Archive\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_header_and_the_rows_of_a_log_are_read),
		cmocka_unit_test(a_walltime_is_what_was_asked_for_and_ends_what_runs_longer),
		cmocka_unit_test(estimates_may_be_exact_or_a_multiple_of_the_runtime),
		cmocka_unit_test(processors_are_those_that_a_job_had_or_on_demand_asked_for),
		cmocka_unit_test(the_machine_of_a_log_may_be_another_one),
		cmocka_unit_test(no_row_is_dropped_without_a_word),
		cmocka_unit_test(jobs_come_in_the_order_of_submission_and_every_id_once),
		cmocka_unit_test(strictness_makes_a_bad_row_an_error_with_its_line),
		cmocka_unit_test(issues_are_printed_one_a_line_with_the_first_lines),
		cmocka_unit_test(only_the_first_jobs_are_read_on_demand),
		cmocka_unit_test(compressed_logs_are_read_and_damaged_ones_refused),
		cmocka_unit_test(what_stands_behind_compressed_data_is_no_part_of_the_log),
		cmocka_unit_test(a_mark_of_the_order_of_bytes_is_no_part_of_the_text),
		cmocka_unit_test(durations_are_rounded_up_and_instants_down),
		cmocka_unit_test(times_that_nothing_can_be_counted_with_are_no_jobs),
		cmocka_unit_test(the_first_job_of_an_id_keeps_it),
		cmocka_unit_test(what_a_walltime_cuts_is_not_forgotten),
		cmocka_unit_test(a_window_of_a_log_is_in_the_order_of_submission),
		cmocka_unit_test(windows_are_those_of_json_too),
		cmocka_unit_test(what_is_no_workload_is_refused_with_a_reason),
		cmocka_unit_test(a_workload_written_as_swf_is_read_back),
		cmocka_unit_test(logs_of_the_archive_have_the_jobs_they_should),
	};

	return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
