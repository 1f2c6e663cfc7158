/* SPDX-License-Identifier: MIT */
/* Workloads in JSON and as sacct printed them, and the words in which times and amounts are written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/lines.h"
#include "t/workload/load.h"

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
	assert_int_equal(j->time_limit[1], 365 * 86400);	/* neither the job nor its partition has a limit */
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

/* Dropped after they were read: nothing to schedule, and a report of nothing. */
static void a_source_of_which_no_job_is_left_is_refused_with_the_reason(void **state)
{
	(void) state;
	REFUSED(file("a.swf", small_swf), SL_EFORMAT, "a.swf: no job is left of 3: 3 jobs larger than the machine, skipped (job ",
		.machine = "1x1c");
	REFUSED(file("c.txt", "JobID|Submit|NCPUS|Elapsed\n1|100|9|00:10:00\n"), SL_EFORMAT, "c.txt: no job is left of 1: ",
		.machine = "1x1c");
	REFUSED(file("c.json", "{\"nodes\": [{\"name\": \"n1\", \"cores\": 1}], \"partitions\": [{\"name\": \"p\"}],\n"
		     "\"jobs\": [{\"id\": 1, \"partition\": \"p\", \"min_nodes\": 2, \"num_tasks\": 2, \"runtime_s\": 9}]}\n"),
		SL_EFORMAT, "c.json: no job is left of 1: 1 jobs larger than the machine");
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_workload_in_json_has_all_fields_of_jobs),
		cmocka_unit_test(a_machine_that_is_named_replaces_that_of_the_json),
		cmocka_unit_test(json_that_is_no_workload_is_refused_with_the_place),
		cmocka_unit_test(every_kind_of_workload_survives_the_way_through_json),
		cmocka_unit_test(what_sacct_printed_is_read_by_the_names_of_its_columns),
		cmocka_unit_test(what_sacct_does_not_tell_is_asked_for),
		cmocka_unit_test(a_source_of_which_no_job_is_left_is_refused_with_the_reason),
		cmocka_unit_test(gpus_that_the_machine_lacks_are_left_out_with_a_word),
		cmocka_unit_test(durations_and_amounts_are_read_as_slurm_writes_them),
		cmocka_unit_test(a_line_longer_than_the_buffer_is_read_whole),
	};

	return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
