/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "demand.h"
#include "lines.h"
#include "workload.h"

static char dir[64];
static char path[96];

static int make_dir(void **state)
{
	(void) state;
	strcpy(dir, "/tmp/test_workload.XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	char command[128];

	(void) state;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

/* A file with this text in the test's directory; its path. */
static const char *file(const char *name, const char *text)
{
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	return path;
}

static struct sl_workload *load(const char *name, struct sl_workload_options opt)
{
	struct sl_error err = { 0 };
	struct sl_workload *w = sl_workload_load(name, &opt, &err);

	if (!w)
		fail_msg("%s", err.text);
	return w;
}

#define LOAD(name, ...) load(name, (struct sl_workload_options) { __VA_ARGS__ })

/* Loading must fail, with these words in the message. */
static void refused(const char *name, struct sl_workload_options opt, enum sl_errno code, const char *words)
{
	struct sl_error err = { 0 };
	struct sl_workload *w = sl_workload_load(name, &opt, &err);

	assert_null(w);
	if (err.code != code || !strstr(err.text, words))
		fail_msg("%s (code %d), expected \"%s\"", err.text, err.code, words);
}

#define REFUSED(name, code, words, ...) refused(name, (struct sl_workload_options) { __VA_ARGS__ }, code, words)

static double core_seconds(const struct sl_workload *w)
{
	struct sl_machine m;
	struct sl_demand d;
	double sum = 0;

	assert_int_equal(sl_machine_open(&m, &w->snap, NULL), 0);
	for (uint32_t i = 0; i < w->snap.job.rows; i++) {
		sl_job_demand(&m, i, &d);
		assert_int_not_equal(d.nodes, SL_NONE);
		sum += (double) d.cores * (double) w->runtime_s[i];
	}
	sl_machine_close(&m);
	return sum;
}

static const char *str(const struct sl_workload *w, uint32_t s)
{
	return sl_snapshot_str(&w->snap, s);
}

/* -- SWF ---------------------------------------------------------------------- */

static const char small[] =
	"; Version: 2.2\n"
	"; MaxNodes: 10\n"
	"; MaxProcs: 10\n"
	"; UnixStartTime: 843480031\n"
	"; Queue: 1 short\n"
	"    1   0   5   100   4  -1  -1   6   300  2048  1  7  3  9  1 -1 -1 -1\n"
	"\n"
	"    2  10   0    50  -1  -1  -1   2   -1    -1  0  8 -1 -1  2 -1 -1 -1\r\n"
	"    3  10   0   200  10  42.5 -1 10  150    -1  1  7  3 -1 -1 -1 -1 -1\n";

static void the_header_and_the_rows_of_a_log_are_read(void **state)
{
	struct sl_workload *w = LOAD(file("a.swf", small), 0);
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
	struct sl_workload *w = LOAD(file("a.swf", small), 0);

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
	w = LOAD(path, .overrun = true);
	assert_int_equal(w->runtime_s[2], 200);
	assert_int_equal(w->estimate_s[2], 150);
	assert_int_equal(w->snap.job.time_limit[2], 200);
	sl_workload_destroy(w);
}

static void estimates_may_be_exact_or_a_multiple_of_the_runtime(void **state)
{
	struct sl_workload *w = LOAD(file("a.swf", small), .estimate = "exact");

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
	struct sl_workload *w = LOAD(file("a.swf", small), .requested_procs = true);

	(void) state;
	assert_int_equal(w->snap.job.num_tasks[0], 6);
	assert_int_equal(w->snap.job.num_tasks[1], 2);
	sl_workload_destroy(w);
}

static void the_machine_of_a_log_may_be_another_one(void **state)
{
	struct sl_workload *w = LOAD(file("a.swf", small), .machine = "5x4c");

	(void) state;
	assert_int_equal(w->snap.node.rows, 5);
	assert_string_equal(str(w, w->snap.node.name[4]), "n5");
	sl_workload_destroy(w);
	w = LOAD(path, .procs = 100000);
	assert_int_equal(w->snap.node.rows, 2);
	assert_int_equal(w->snap.node.cores[0] + w->snap.node.cores[1], 100000);
	sl_workload_destroy(w);
	REFUSED(path, SL_EINVAL, "expected one of them", .machine = "5x4c", .procs = 3);
	REFUSED(file("b.swf", small + strlen("; Version: 2.2\n; MaxNodes: 10\n; MaxProcs: 10\n")), SL_EINVAL,
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
		{ SL_ISSUE_DUPLICATE, 2, 10 }, { SL_ISSUE_STEP, 1, 12 },
	};
	uint64_t dropped = 0;

	(void) state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		if (w->issue[expected[i].issue].count != expected[i].count)
			fail_msg("%s: %d", sl_issue_words(expected[i].issue), (int) w->issue[expected[i].issue].count);
		if (expected[i].issue != SL_ISSUE_DUPLICATE)
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
	sl_workload_destroy(LOAD(file("a.swf", small), .strict = true));
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
	struct sl_workload *w = LOAD(file("a.swf", small), .jobs = 2);

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

	snprintf(whole, sizeof(whole), "%s/whole.gz", dir);
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
	snprintf(path, sizeof(path), "%s/%s", dir, name);
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

static void what_is_no_workload_is_refused_with_a_reason(void **state)
{
	char *long_line = malloc(SL_LINE_MAX + 100);

	(void) state;
	REFUSED(file("empty.swf", ""), SL_EFORMAT, "an empty file");
	REFUSED(file("prose.swf", "Dear reader,\nthis is a letter.\n"), SL_EFORMAT, "no job in 2 lines");
	REFUSED(dir, SL_EIO, "Is a directory");
	REFUSED("frobnicate", SL_ENOENT, "none of esp, esp-gpu, esp-gpu-rand, auction:I.1 ... auction:V.3, synthetic");
	memset(long_line, '1', SL_LINE_MAX + 99);
	long_line[SL_LINE_MAX + 99] = 0;
	REFUSED(file("long.swf", long_line), SL_EFORMAT, "a line of more than");
	free(long_line);
}

static void a_workload_written_as_swf_is_read_back(void **state)
{
	struct sl_workload *w = LOAD(file("a.swf", small), 0), *back;
	char out[112];
	FILE *f;

	(void) state;
	snprintf(out, sizeof(out), "%s/out.swf", dir);
	f = fopen(out, "w");
	assert_int_equal(sl_workload_write_swf(w, f, NULL), 0);
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

/* -- JSON ----------------------------------------------------------------------- */

static const char json[] =
	"{ \"nodes\": [ { \"name\": \"a1\", \"cores\": 8 }, { \"name\": \"a2\", \"cores\": 8 } ],\n"
	"  \"jobs\": [\n"
	"    { \"id\": 2, \"submit_time\": 60, \"runtime_s\": 30, \"time_limit\": 90, \"min_nodes\": 2, \"max_nodes\": 2,\n"
	"      \"min_cpus\": 16, \"ntasks_per_node\": 8, \"num_tasks\": 16, \"flags\": [\"CONTIGUOUS\"], \"req_nodes\": \"a2\" },\n"
	"    { \"id\": 1, \"submit_time\": 0, \"runtime_s\": 600, \"estimate_s\": 500 },\n"
	"    { \"id\": 3, \"submit_time\": 0, \"runtime_s\": 5, \"min_cpus\": 17 },\n"
	"    { \"id\": 4, \"runtime_s\": 7 } ] }\n";

static void a_workload_in_json_has_all_fields_of_jobs(void **state)
{
	struct sl_workload *w = LOAD(file("a.json", json), 0);
	const struct sl_job_view *j = &w->snap.job;

	(void) state;
	assert_int_equal(j->rows, 3);
	assert_int_equal(w->issue[SL_ISSUE_TOO_LARGE].count, 1);
	assert_int_equal(w->issue[SL_ISSUE_BACKWARDS].count, 1);
	assert_int_equal(j->id[0], 1);
	assert_int_equal(j->id[1], 4);
	assert_int_equal(j->id[2], 2);
	assert_int_equal(w->runtime_s[0], 500);
	assert_int_equal(w->runtime_s[1], 7);
	assert_int_equal(w->runtime_s[2], 30);
	assert_int_equal(j->time_limit[1], 7);
	assert_int_equal(j->time_limit[2], 90);
	assert_int_equal(w->estimate_s[2], 90);
	assert_int_equal(j->submit_time[2], w->origin_s + 60);
	assert_int_equal(j->flags[2], SL_JOBF_CONTIGUOUS);
	assert_int_equal(j->req_nodes[2].count, 1);
	assert_int_equal(j->partition[0], 0);
	assert_string_equal(str(w, w->snap.partition.name[0]), "all");
	sl_workload_destroy(w);
	REFUSED(path, SL_EINVAL, "1 jobs submitted before the row above", .strict = true);
}

static void a_machine_that_is_named_replaces_that_of_the_json(void **state)
{
	struct sl_workload *w = LOAD(file("b.json", "{\"jobs\": [{\"id\": 1, \"runtime_s\": 5, \"min_cpus\": 9}]}"),
				     .machine = "2x8c1g");

	(void) state;
	assert_int_equal(w->snap.node.rows, 2);
	assert_int_equal(w->snap.gres_kind.rows, 1);
	assert_int_equal(w->snap.job.rows, 1);
	sl_workload_destroy(w);
	REFUSED(path, SL_EINVAL, "has no nodes");
}

static void json_that_is_no_workload_is_refused_with_the_place(void **state)
{
	(void) state;
	REFUSED(file("c.json", "{\"jobs\": []}"), SL_EFORMAT, "has no jobs");
	REFUSED(file("c.json", "{\"jobs\": [{\"id\": 1}]}"), SL_EINVAL, "jobs[0].runtime_s: expected seconds from 1 on");
	REFUSED(file("c.json", "{\"jobs\": [{\"id\": 1, \"runtime_s\": \"x\"}]}"), SL_EINVAL, "jobs[0].runtime_s");
	REFUSED(file("c.json", "{\"jobs\": [{\"id\": 1, \"runtime_s\": 5, \"state\": \"RUNNING\"}]}"), SL_EINVAL,
		"jobs[0].state: expected PENDING");
	REFUSED(file("c.json", "{\"jobs\": [{\"id\": 1, \"runtime_s\": 5, \"colour\": 1}]}"), SL_EINVAL,
		"unknown key \"colour\"", .procs = 4);
	REFUSED(file("c.json", "{\"jobs\": [{\"id\": 1, \"runtime_s\": 5, \"submit_time\": -1}]}"), SL_EINVAL,
		"jobs[0].submit_time: negative", .procs = 4);
	REFUSED(file("c.json", "{\"jobs\": [5]}"), SL_EINVAL, "jobs[0]: expected an object", .procs = 4);
	REFUSED(file("c.json", "{\"jobs\": \n ["), SL_EFORMAT, "c.json:");
}

static char *as_json(const struct sl_workload *w)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_int_equal(sl_workload_write_json(w, f, NULL), 0);
	fclose(f);
	return text;
}

static void every_kind_of_workload_survives_the_way_through_json(void **state)
{
	static const char *const names[] = {
		"esp:first=10", "esp-gpu", "esp-gpu-rand", "auction:I.3", "auction:V.2", "synthetic:jobs=300,gpu=0.2",
	};

	(void) state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct sl_workload *w = LOAD(names[i], .machine = "64x8c2g", .seed = 5), *back;
		char *first = as_json(w), *second;

		back = LOAD(file("way.json", first), 0);
		second = as_json(back);
		assert_string_equal(first, second);
		assert_int_equal(back->snap.job.rows, w->snap.job.rows);
		assert_memory_equal(back->runtime_s, w->runtime_s, w->snap.job.rows * sizeof(int64_t));
		free(first);
		free(second);
		sl_workload_destroy(w);
		sl_workload_destroy(back);
	}
}

/* -- sacct ------------------------------------------------------------------------ */

static const char sacct[] =
	"JobIDRaw|User|Account|QOS|Partition|Submit|Start|End|ElapsedRaw|TimelimitRaw|State|ReqCPUS|ReqNodes|ReqTRES|Comment\n"
	"100|ann|phys|normal|all|2024-03-01T12:00:00|2024-03-01T12:00:05|2024-03-01T13:00:05|3600|120|COMPLETED|16|2|billing=16,cpu=16,gres/gpu=4,mem=64G,node=2|\n"
	"100.batch|||||2024-03-01T12:00:05|2024-03-01T12:00:05|2024-03-01T13:00:05|3600||COMPLETED|8|1||\n"
	"101|bob|chem|low|all|2024-03-01T12:10:00|2024-03-01T12:10:00|Unknown|60|UNLIMITED|RUNNING|1|1|cpu=1|\n"
	"102|bob|chem|low|all|2024-03-01T12:20:00|2024-03-01T12:30:00|2024-03-01T12:40:00|600|Partition_Limit|CANCELLED by 7|3|1|cpu=3,mem=1500M,gres/gpu:a100=1,gres/gpu=1|x\n"
	"103|bob|chem|low|all|2024-03-01T12:20:00|None|None|0|60|CANCELLED|3|1|cpu=3|\n"
	"104|bob|chem|low|all|yesterday|||600|60|COMPLETED|3|1||\n"
	"105|bob|chem|low|all|2024-03-01T12:20:00|||600|60\n"
	"106_7|bob|chem|low|all|1709299800|||600|60|TIMEOUT|3|2|cpu=3,gres/gpu=1|\n";

static void what_sacct_printed_is_read_by_the_names_of_its_columns(void **state)
{
	struct sl_workload *w = LOAD(file("march.txt", sacct), .machine = "4x8c64000m2g:a100");
	const struct sl_snapshot *s = &w->snap;
	const struct sl_job_view *j = &s->job;

	(void) state;
	assert_int_equal(j->rows, 3);
	assert_int_equal(w->rows_read, 8);
	assert_int_equal(w->issue[SL_ISSUE_STEP].count, 1);
	assert_int_equal(w->issue[SL_ISSUE_STATE].count, 1);
	assert_int_equal(w->issue[SL_ISSUE_NO_RUNTIME].count, 1);
	assert_int_equal(w->issue[SL_ISSUE_FIELDS].count, 2);
	assert_int_equal(w->issue[SL_ISSUE_FIELDS].line[0], 7);
	assert_int_equal(j->id[0], 100);
	assert_int_equal(j->submit_time[0], 1709294400);
	assert_int_equal(w->origin_s, 1709294400);
	assert_int_equal(w->runtime_s[0], 3600);
	assert_int_equal(j->time_limit[0], 7200);
	assert_int_equal(j->min_nodes[0], 2);
	assert_int_equal(j->num_tasks[0], 16);
	assert_int_equal(j->memory_per_cpu[0], 4096);
	assert_string_equal(str(w, j->user[0]), "ann");
	assert_string_equal(str(w, j->account[0]), "phys");
	assert_string_equal(str(w, j->qos[0]), "normal");
	assert_int_equal(s->job_gres.count[j->gres[0].first], 2);
	assert_int_equal(s->job_gres.per[j->gres[0].first], SL_PER_NODE);
	assert_int_equal(j->time_limit[1], 600);		/* no limit of its own */
	assert_int_equal(j->memory_per_cpu[1], 500);
	assert_string_equal(str(w, s->job_gres.type[j->gres[1].first]), "a100");
	assert_int_equal(j->submit_time[2], 1709299800);
	assert_int_equal(j->id[2], 103);			/* 106_7 is no number */
	assert_int_equal(s->job_gres.per[j->gres[2].first], SL_PER_JOB);
	assert_int_equal(s->meta.select_flags[0], SL_SELECT_MEMORY);
	sl_workload_destroy(w);
}

static void what_sacct_does_not_tell_is_asked_for(void **state)
{
	(void) state;
	REFUSED(file("march.txt", sacct), SL_EINVAL, "name one");
	REFUSED(file("c.txt", "JobID|Submit|Elapsed\n"), SL_EFORMAT, "no column ReqCPUS", .machine = "1x1c");
	REFUSED(file("c.txt", "JobID|Elapsed|NCPUS\n"), SL_EFORMAT, "no column Submit", .machine = "1x1c");
	REFUSED(file("c.txt", "JobID|Submit|NCPUS|Start\n"), SL_EFORMAT, "Start and End", .machine = "1x1c");
	REFUSED(file("c.txt", "JobID|Submit|NCPUS|Elapsed\n"), SL_EFORMAT, "no job that has run", .machine = "1x1c");
}

static void gpus_that_the_machine_lacks_are_left_out_with_a_word(void **state)
{
	struct sl_workload *w = LOAD(file("march.txt", sacct), .machine = "4x8c");

	(void) state;
	assert_int_equal(w->snap.job.rows, 3);
	assert_int_equal(w->issue[SL_ISSUE_MODEL].count, 3);
	assert_int_equal(w->snap.job_gres.rows, 0);
	sl_workload_destroy(w);
}

/* -- generators --------------------------------------------------------------------- */

static void esp_has_the_jobs_of_the_papers(void **state)
{
	struct sl_workload *w = LOAD("esp", 0);
	double seconds;

	(void) state;
	assert_int_equal(w->snap.job.rows, 230);
	/* by hand from table 4; the paper says 10984, but also what follows from 11011: */
	seconds = core_seconds(w) / 8192;
	assert_true(seconds > 11010 && seconds < 11013);
	sl_workload_destroy(w);
	w = LOAD("esp-gpu", 0);
	assert_int_equal(w->snap.job.rows, 458);
	seconds = core_seconds(w) / 8192;
	assert_true(seconds > 21821 && seconds < 21824);	/* "21822 seconds" */
	sl_workload_destroy(w);
}

static void esp_jobs_arrive_fifty_at_once_and_then_every_thirty_seconds(void **state)
{
	struct sl_workload *w = LOAD("esp-gpu", .seed = 3);
	const struct sl_job_view *j = &w->snap.job;
	uint32_t at_once = 0, gpus = 0, z = 0;
	int64_t last = 0;

	(void) state;
	for (uint32_t i = 0; i < j->rows; i++) {
		at_once += j->submit_time[i] == w->origin_s;
		gpus += j->gres[i].count;
		if (!strcmp(str(w, j->name[i]), "Z")) {
			assert_int_equal(j->submit_time[i] - w->origin_s, z++ ? 240 * 60 : 80 * 60);
			assert_int_equal(j->num_tasks[i], 8192);
		} else if (j->submit_time[i] > last) {
			last = j->submit_time[i];
		}
		assert_int_equal(w->runtime_s[i], j->time_limit[i]);
	}
	assert_int_equal(at_once, 50);
	assert_int_equal(gpus, 228);
	assert_int_equal(z, 2);
	/* 406 gaps of 30 s, sigma 10: 201 s */
	assert_in_range(last - w->origin_s, 406 * 30 - 1000, 406 * 30 + 1000);
	sl_workload_destroy(w);
}

static void esp_sizes_are_multiples_of_a_node_unless_they_are_random(void **state)
{
	struct sl_workload *w = LOAD("esp-gpu", 0), *r = LOAD("esp-gpu-rand", 0);
	uint32_t odd = 0;

	(void) state;
	for (uint32_t i = 0; i < w->snap.job.rows; i++)
		assert_int_equal(w->snap.job.num_tasks[i] % 8, 0);
	for (uint32_t i = 0; i < r->snap.job.rows; i++) {
		uint32_t off = (r->snap.job.num_tasks[i] + 4) % 8;

		assert_true(r->snap.job.num_tasks[i] <= 8192);
		odd += off != 4;
	}
	assert_true(odd > 300);
	sl_workload_destroy(w);
	sl_workload_destroy(r);
	REFUSED("esp-gpu", SL_EINVAL, "has no GPUs", .machine = "64x8c");
	REFUSED("esp:z1=x", SL_EINVAL, "z1=x: expected a number from 0 to 1e+06");
	REFUSED("esp:z3=1", SL_EINVAL, "KEY one of first, gap, sigma, z1, z2, gpus, rand");
}

/* Counts of an auction workload by kind: cores, nodes, 1 GPU, 2 GPUs, contiguous. */
static void count_auction(const struct sl_workload *w, uint32_t *count)
{
	const struct sl_job_view *j = &w->snap.job;

	memset(count, 0, 5 * sizeof(*count));
	for (uint32_t i = 0; i < j->rows; i++) {
		uint32_t gpus = j->gres[i].count ? w->snap.job_gres.count[j->gres[i].first] : 0;
		uint32_t per_node = j->ntasks_per_node[i], cores = j->num_tasks[i];

		assert_int_equal(j->submit_time[i], w->origin_s);
		assert_in_range(w->runtime_s[i], 60, 600);
		assert_int_equal(j->time_limit[i], w->runtime_s[i]);
		assert_int_equal(cores % 8, 0);
		assert_in_range(cores, 8, 128);
		if (per_node) {
			assert_int_equal(j->min_nodes[i] * per_node, cores);
			assert_int_equal(j->max_nodes[i], j->min_nodes[i]);
			assert_true(gpus == 2 ? per_node == 2 || per_node == 4 : gpus == 1 ? per_node <= 2 :
				    per_node == 4 || per_node == 8);
		}
		count[gpus ? gpus + 1 : per_node ? 1 : 0]++;
		count[4] += (j->flags[i] & SL_JOBF_CONTIGUOUS) != 0;
	}
}

static void auction_workloads_have_the_shares_of_their_table(void **state)
{
	static const struct { const char *name; double share[5]; } expected[] = {
		{ "auction:I.1,hours=40", { 1, 0, 0, 0, 0 } }, { "auction:II.2,hours=40", { 0, 1, 0, 0, .5 } },
		{ "auction:III.3,hours=40", { .5, .5, 0, 0, 1 } }, { "auction:IV.1,hours=40", { .4, .4, .2, 0, 0 } },
		{ "auction:V.3,hours=40", { 1 / 3., 1 / 3., 1 / 6., 1 / 6., 1 } },
	};
	uint32_t count[5];

	(void) state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		struct sl_workload *w = LOAD(expected[i].name, .seed = 11);
		double area = core_seconds(w) / 1024 / 3600;

		assert_true(area >= 40 && area < 40.1);
		count_auction(w, count);
		for (int k = 0; k < 5; k++)
			assert_true(count[k] >= (expected[i].share[k] - .03) * w->snap.job.rows &&
				    count[k] <= (expected[i].share[k] + .03) * w->snap.job.rows);
		sl_workload_destroy(w);
	}
}

static void versions_of_an_auction_workload_differ_in_contiguity_only(void **state)
{
	struct sl_workload *a = LOAD("auction:V.1", .seed = 2), *b = LOAD("auction:V.2", .seed = 2);

	(void) state;
	assert_int_equal(a->snap.job.rows, b->snap.job.rows);
	assert_memory_equal(a->runtime_s, b->runtime_s, a->snap.job.rows * sizeof(int64_t));
	assert_memory_equal(a->snap.job.num_tasks, b->snap.job.num_tasks, a->snap.job.rows * sizeof(uint32_t));
	sl_workload_destroy(a);
	sl_workload_destroy(b);
}

static void gpu_jobs_may_be_kept_to_half_of_the_nodes(void **state)
{
	struct sl_workload *w = LOAD("auction:IV.1,cap=0.5", 0), *full = LOAD("auction:IV.1", 0);
	uint32_t most = 0;

	(void) state;
	for (uint32_t i = 0; i < w->snap.job.rows; i++)
		if (w->snap.job.gres[i].count)
			assert_in_range(w->snap.job.min_nodes[i], 1, 64);
	for (uint32_t i = 0; i < full->snap.job.rows; i++)
		if (full->snap.job.gres[i].count && full->snap.job.min_nodes[i] > most)
			most = full->snap.job.min_nodes[i];
	assert_int_equal(most, 128);
	sl_workload_destroy(w);
	sl_workload_destroy(full);
	REFUSED("auction:VI.1", SL_EINVAL, "expected auction:W.V");
	REFUSED("auction:V.4", SL_EINVAL, "expected auction:W.V");
	REFUSED("auction", SL_EINVAL, "expected auction:W.V");
	REFUSED("auction:V.1", SL_EINVAL, "1 GPUs a node, expected 2", .machine = "64x8c1g");
	REFUSED("auction:I.1", SL_EINVAL, "nodes are alike", .machine = "64x8c,64x16c");
}

static void a_synthetic_workload_has_the_load_that_was_asked_for(void **state)
{
	struct sl_workload *w = LOAD("synthetic:jobs=20000,load=0.7,users=50", .machine = "100x16c", .seed = 4);
	const struct sl_job_view *j = &w->snap.job;
	double span = (double) (j->submit_time[j->rows - 1] - j->submit_time[0]), over = 0;
	uint32_t first_user = 0, powers = 0, uid_max = 0;

	(void) state;
	assert_int_equal(j->rows, 20000);
	assert_true(core_seconds(w) / (1600 * span) > 0.6 && core_seconds(w) / (1600 * span) < 0.75);
	for (uint32_t i = 0; i < j->rows; i++) {
		assert_true(w->runtime_s[i] >= 1 && w->runtime_s[i] <= w->estimate_s[i]);
		assert_in_range(j->num_tasks[i], 1, 400);
		assert_int_equal(j->id[i], i + 1);
		over += (double) w->estimate_s[i] / (double) w->runtime_s[i] > 1.5;
		first_user += j->uid[i] == 1000;
		powers += !(j->num_tasks[i] & (j->num_tasks[i] - 1));
		uid_max = j->uid[i] > uid_max ? j->uid[i] : uid_max;
	}
	assert_true(over > 0.5 * 20000);
	assert_true(first_user > 20000 / 50 * 3);	/* Zipf: 22 % instead of 2 */
	assert_true(powers > 0.7 * 20000);
	assert_in_range(uid_max, 1030, 1049);
	sl_workload_destroy(w);
}

static void a_million_users_are_no_trouble(void **state)
{
	struct sl_workload *w = LOAD("synthetic:jobs=30000,users=1000000", 0);

	(void) state;
	assert_int_equal(w->snap.job.rows, 30000);
	sl_workload_destroy(w);
}

static void the_same_seed_makes_the_same_bytes_and_another_one_does_not(void **state)
{
	static const char *const names[] = { "esp-gpu", "auction:V.2", "synthetic:jobs=500" };

	(void) state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct sl_workload *a = LOAD(names[i], .seed = 9), *b = LOAD(names[i], .seed = 9),
			*c = LOAD(names[i], .seed = 10);

		assert_int_equal(a->size, b->size);
		assert_memory_equal(a->bytes, b->bytes, a->size);
		assert_true(c->size != a->size || memcmp(a->bytes, c->bytes, a->size));
		assert_int_equal(a->snap.meta.seed[0], 9);
		sl_workload_destroy(a);
		sl_workload_destroy(b);
		sl_workload_destroy(c);
	}
}

/* -- machines ------------------------------------------------------------------------- */

static void a_machine_in_words_has_kinds_of_nodes(void **state)
{
	struct sl_workload *w = LOAD(file("a.swf", small), .machine = "90x8c,10x64c256000m2t2s4g:a100+1x4c5w");
	const struct sl_snapshot *s = &w->snap;

	(void) state;
	assert_int_equal(s->node.rows, 101);
	assert_string_equal(str(w, s->node.name[0]), "n001");
	assert_string_equal(str(w, s->node.name[100]), "n101");
	assert_int_equal(s->node.cores[90], 64);
	assert_int_equal(s->node.memory[90], 256000);
	assert_int_equal(s->node.threads[90], 2);
	assert_int_equal(s->node.sockets[90], 2);
	assert_int_equal(s->node.weight[100], 5);
	assert_int_equal(s->node.gres[89].count, 0);
	assert_int_equal(s->node_gres.count[s->node.gres[90].first], 4);
	assert_string_equal(str(w, s->gres_kind.key[0]), "gpu:a100");
	assert_int_equal(s->run.last[s->partition.nodes[0].first], 100);
	assert_int_equal(s->meta.select_flags[0], SL_SELECT_MEMORY);
	sl_workload_destroy(w);
	REFUSED(path, SL_EINVAL, "expected a number of nodes", .machine = "0x8c");
	REFUSED(path, SL_EINVAL, "expected a number of cores", .machine = "1x2g");
	REFUSED(path, SL_EINVAL, "expected one of c (cores), g (GPUs)", .machine = "1x8q");
	REFUSED(path, SL_EINVAL, "expected a number up to 65535", .machine = "1x70000c");
	REFUSED(path, SL_EINVAL, "expected a type of GPU", .machine = "1x8c2g:");
	REFUSED(path, SL_EINVAL, "expected a number of nodes", .machine = "4x8c,");
	REFUSED(path, SL_ENOENT, "no such file", .machine = "/no/such/slurm.conf");
	REFUSED(path, SL_ELIMIT, "more than", .machine = "4000000x1c,4000000x1c");
}

static const char slurm_conf[] =
	"# a cluster\n"
	"ClusterName=test\n"
	"SelectType=select/cons_tres\n"
	"SelectTypeParameters=CR_Core_Memory,CR_ONE_TASK_PER_CORE\n"
	"NodeName=DEFAULT Sockets=2 CoresPerSocket=8 ThreadsPerCore=2 RealMemory=64000 State=UNKNOWN\n"
	"NodeName=c[1-3] Weight=10 Feature=ib,fast   # three of them\n"
	"NodeName=g[1-2] CPUs=32 Gres=gpu:a100:4(S:0-1),nic:1 \\\n"
	"    RealMemory=256000 MemSpecLimit=1000 CoreSpecCount=2\n"
	"NodeName=old CPUs=4 Sockets=1 CoresPerSocket=4 ThreadsPerCore=1 State=DOWN\n"
	"NodeName=new[1-9] State=FUTURE\n"
	"PartitionName=DEFAULT MaxTime=2-00:00:00 State=UP\n"
	"PartitionName=main Nodes=c[1-3],old Default=YES DefaultTime=60\n"
	"PartitionName=gpu Nodes=g[1-2] MaxTime=UNLIMITED PriorityTier=5 OverSubscribe=EXCLUSIVE MaxNodes=1\n"
	"PartitionName=all Nodes=ALL MaxTime=INFINITE Hidden=YES\n";

static void the_machine_of_a_slurm_conf_is_as_slurmctld_sees_it(void **state)
{
	struct sl_workload *w;
	const struct sl_snapshot *s;
	char conf[112];

	(void) state;
	strcpy(conf, file("slurm.conf", slurm_conf));
	w = LOAD(file("a.swf", small), .machine = conf);
	s = &w->snap;
	assert_int_equal(s->node.rows, 6);
	assert_string_equal(str(w, s->node.name[0]), "c1");
	assert_int_equal(s->node.cores[0], 16);
	assert_int_equal(s->node.threads[0], 2);
	assert_int_equal(s->node.memory[0], 64000);
	assert_int_equal(s->node.weight[0], 10);
	assert_string_equal(str(w, s->node.features[0]), "ib,fast");
	assert_int_equal(s->node.cores[3], 14);
	assert_int_equal(s->node.memory[3], 255000);
	assert_int_equal(s->node.weight[3], 1);
	assert_int_equal(s->node.gres[3].count, 2);
	assert_int_equal(s->node_gres.count[s->node.gres[3].first], 4);
	assert_string_equal(str(w, s->gres_kind.key[s->node_gres.kind[s->node.gres[3].first]]), "gpu:a100");
	assert_int_equal(s->node.cores[5], 4);
	assert_int_equal(s->node.threads[5], 1);
	assert_int_equal(s->node.state[5], 0);
	assert_int_equal(s->partition.rows, 3);
	assert_int_equal(s->partition.nodes[0].count, 2);
	assert_int_equal(s->run.last[s->partition.nodes[0].first], 2);
	assert_int_equal(s->partition.max_time[0], 2 * 86400);
	assert_int_equal(s->partition.default_time[0], 3600);
	assert_int_equal(s->partition.default_time[1], 0);
	assert_int_equal(s->partition.flags[0], SL_PART_UP | SL_PART_DEFAULT);
	assert_int_equal(s->partition.max_time[1], SL_UNLIMITED);
	assert_int_equal(s->partition.priority_tier[1], 5);
	assert_int_equal(s->partition.oversubscribe[1], 0);
	assert_int_equal(s->partition.max_nodes[1], 1);
	assert_int_equal(s->partition.flags[2], SL_PART_UP | SL_PART_HIDDEN);
	assert_int_equal(s->meta.select_flags[0], SL_SELECT_MEMORY | SL_SELECT_ONE_TASK_PER_CORE);
	assert_int_equal(s->job.partition[0], 0);
	sl_workload_destroy(w);
}

static void a_slurm_conf_with_mistakes_is_refused_with_its_line(void **state)
{
	static const struct { const char *text, *words; } bad[] = {
		{ "ClusterName=x\n", "no NodeName line" },
		{ "NodeName=a[1-2] CPUs=x\n", "bad.conf:1: CPUs=x: expected a number" },
		{ "NodeName=a1\nNodeName=a1\n", "node a1 twice" },
		{ "NodeName=a1 CPUs=2\n\nPartitionName=p Nodes=a2\n", "bad.conf:3: no node a2" },
		{ "NodeName=a1 CPUs=2\nPartitionName=p Nodes=a1 MaxTime=soon\n", "bad.conf:2: MaxTime=soon" },
		{ "NodeName=a[1 CPUs=2\n", "bad.conf:1" },
		{ "NodeName=a1 Gres=gpu:a:b:c:1\n", "expected name:type:count" },
		{ "Include nowhere.conf\n", "nowhere.conf: No such file" },
		{ "Include bad.conf\n", "more than 8 deep" },
	};
	char conf[112], log[112];

	(void) state;
	strcpy(log, file("a.swf", small));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct sl_workload_options opt = { .machine = conf };
		struct sl_error err = { 0 };

		strcpy(conf, file("bad.conf", bad[i].text));
		assert_null(sl_workload_load(log, &opt, &err));
		if (!strstr(err.text, bad[i].words))
			fail_msg("%s, expected \"%s\"", err.text, bad[i].words);
	}
}

static void the_machine_of_a_snapshot_is_up_and_empty(void **state)
{
	static const char text[] =
		"{ \"meta\": { \"select_flags\": [\"MEMORY\"] },\n"
		"  \"gres_kinds\": [ { \"key\": \"nic\", \"name\": \"nic\" }, { \"key\": \"gpu\", \"name\": \"gpu\" } ],\n"
		"  \"nodes\": [ { \"name\": \"x1\", \"cores\": 12, \"memory\": 500, \"state\": [\"DOWN\"] },\n"
		"             { \"name\": \"x2\", \"cores\": 4, \"gres\": [ { \"kind\": \"gpu\", \"count\": 3 } ] } ],\n"
		"  \"partitions\": [ { \"name\": \"p\", \"nodes\": \"x2\" }, { \"name\": \"q\", \"nodes\": \"x[1-2]\", \"flags\": [\"UP\", \"DEFAULT\"] } ],\n"
		"  \"jobs\": [ { \"id\": 5, \"state\": \"RUNNING\", \"partition\": \"q\", \"start_time\": 1, \"alloc\": [ { \"node\": \"x1\", \"cores\": 2 } ] } ] }\n";
	char snap[112];
	struct sl_workload *w;

	(void) state;
	strcpy(snap, file("now.json", text));
	w = LOAD(file("a.swf", small), .machine = snap);
	assert_int_equal(w->snap.node.rows, 2);
	assert_int_equal(w->snap.node.state[0], 0);
	assert_int_equal(w->snap.job.rows, 3);
	assert_int_equal(w->snap.job.partition[0], 1);
	assert_int_equal(w->snap.alloc.rows, 0);
	assert_string_equal(str(w, w->snap.gres_kind.name[w->snap.node_gres.kind[w->snap.node.gres[1].first]]), "gpu");
	assert_int_equal(w->snap.meta.select_flags[0], SL_SELECT_MEMORY);
	sl_workload_destroy(w);
}

/* -- text ------------------------------------------------------------------------------ */

static void durations_and_amounts_are_read_as_slurm_writes_them(void **state)
{
	static const struct { const char *text; int64_t s; } good[] = {
		{ "5", 300 }, { "5:30", 330 }, { "1:00:05", 3605 }, { "2-3", 183600 }, { "2-3:04", 183840 },
		{ "2-03:04:05", 183845 }, { "00:00:07.123", 7 }, { "UNLIMITED", SL_UNLIMITED },
		{ "infinite", SL_UNLIMITED }, { "0", 0 },
	};
	static const char *const wrong[] = { "", "-5", "5:", "1:2:3:4", "5m", "1-", "Partition_Limit", ":5", "1-2-3" };
	int64_t n;

	(void) state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(sl_scan_duration(good[i].text, &n));
		assert_int_equal(n, good[i].s);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_false(sl_scan_duration(wrong[i], &n));
	assert_true(sl_scan_memory("1.5G", 'M', &n, NULL) && n == 1536);
	assert_true(sl_scan_memory("64000", 'M', &n, NULL) && n == 64000);
	assert_true(sl_scan_memory("100K", 'M', &n, NULL) && n == 1);
	assert_true(sl_scan_memory("2T", 'M', &n, NULL) && n == 2 * 1024 * 1024);
	assert_false(sl_scan_memory("G", 'M', &n, NULL));
	assert_false(sl_scan_memory("1e30", 'M', &n, NULL));
}

static void a_line_longer_than_the_buffer_is_read_whole(void **state)
{
	struct sl_lines *l;
	char *text = malloc(700000), *line;

	(void) state;
	memset(text, 'a', 600000);
	strcpy(text + 600000, "\r\nshort\n\nlast");
	l = sl_lines_open(file("long.txt", text), NULL);
	assert_int_equal(sl_lines_next(l, &line, NULL), 600001);
	assert_int_equal(sl_lines_next(l, &line, NULL), 6);
	assert_string_equal(line, "short");
	assert_int_equal(sl_lines_next(l, &line, NULL), 1);
	assert_int_equal(sl_lines_next(l, &line, NULL), 5);
	assert_string_equal(line, "last");
	assert_int_equal(sl_lines_number(l), 4);
	assert_int_equal(sl_lines_next(l, &line, NULL), 0);
	sl_lines_close(l);
	free(text);
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
		cmocka_unit_test(what_is_no_workload_is_refused_with_a_reason),
		cmocka_unit_test(a_workload_written_as_swf_is_read_back),
		cmocka_unit_test(a_workload_in_json_has_all_fields_of_jobs),
		cmocka_unit_test(a_machine_that_is_named_replaces_that_of_the_json),
		cmocka_unit_test(json_that_is_no_workload_is_refused_with_the_place),
		cmocka_unit_test(every_kind_of_workload_survives_the_way_through_json),
		cmocka_unit_test(what_sacct_printed_is_read_by_the_names_of_its_columns),
		cmocka_unit_test(what_sacct_does_not_tell_is_asked_for),
		cmocka_unit_test(gpus_that_the_machine_lacks_are_left_out_with_a_word),
		cmocka_unit_test(esp_has_the_jobs_of_the_papers),
		cmocka_unit_test(esp_jobs_arrive_fifty_at_once_and_then_every_thirty_seconds),
		cmocka_unit_test(esp_sizes_are_multiples_of_a_node_unless_they_are_random),
		cmocka_unit_test(auction_workloads_have_the_shares_of_their_table),
		cmocka_unit_test(versions_of_an_auction_workload_differ_in_contiguity_only),
		cmocka_unit_test(gpu_jobs_may_be_kept_to_half_of_the_nodes),
		cmocka_unit_test(a_synthetic_workload_has_the_load_that_was_asked_for),
		cmocka_unit_test(a_million_users_are_no_trouble),
		cmocka_unit_test(the_same_seed_makes_the_same_bytes_and_another_one_does_not),
		cmocka_unit_test(a_machine_in_words_has_kinds_of_nodes),
		cmocka_unit_test(the_machine_of_a_slurm_conf_is_as_slurmctld_sees_it),
		cmocka_unit_test(a_slurm_conf_with_mistakes_is_refused_with_its_line),
		cmocka_unit_test(the_machine_of_a_snapshot_is_up_and_empty),
		cmocka_unit_test(durations_and_amounts_are_read_as_slurm_writes_them),
		cmocka_unit_test(a_line_longer_than_the_buffer_is_read_whole),
		cmocka_unit_test(logs_of_the_archive_have_the_jobs_they_should),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
