/* SPDX-License-Identifier: MIT */
/* Accounting dumps of any column set: GPUs, nodes, memory, limits, separators, dates; sacct --json; Batsim. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/lines.h"
#include "t/workload/load.h"
#include "workload/sacct_columns.h"

#define BASE "JobIDRaw|Submit|ElapsedRaw|TimelimitRaw|State|ReqCPUS"
#define JOB "1|2024-01-01T00:00:00|600|60|COMPLETED|16"

/* A dump of one job with some more columns. */
static const char *dump(const char *columns, const char *values)
{
	char text[1000];

	snprintf(text, sizeof(text), BASE "%s\n" JOB "%s\n", columns, values);
	return file("dump.txt", text);
}

static void assert_noted(const struct sl_workload *w, const char *words)
{
	for (uint32_t i = 0; i < w->notes.count; i++)
		if (strstr(w->notes.text[i], words))
			return;
	fail_msg("no note \"%s\" (of %u: %s)", words, w->notes.count, w->notes.count ? w->notes.text[0] : "");
}

static void gpus_are_read_from_whichever_column_has_them(void **state)
{
	static const struct { const char *columns, *values; uint32_t count; const char *type; } cases[] = {
		{ "|ReqTRES", "|cpu=16,gres/gpu=4", 4, "" }, { "|AllocTRES", "|cpu=16,gres/gpu=4,node=1", 4, "" },
		{ "|AllocTRES", "|gres/gpu:a100=3", 3, "a100" }, { "|ReqTRES", "|gres/gpu:a100=1,gres/gpu:v100=2", 3, "" },
		{ "|ReqTRES|AllocTRES", "|cpu=16|cpu=16,gres/gpu=2,gres/gpu:a100=2", 2, "a100" },
		{ "|AllocGRES", "|gpu:2", 2, "" }, { "|AllocGRES", "|nic:1,gpu:a100:4(S:0-1)", 4, "a100" },
		{ "|ReqGRES", "|gres/gpu:3", 3, "" }, { "|ReqGRES|AllocGRES", "|gpu:1|gpu:2", 2, "" },
		{ "|AllocGRES", "|gpu:h100:1", 1, "" },		/* the machine has none of these */
	};

	(void) state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_workload *w = LOAD(dump(cases[i].columns, cases[i].values), .machine = "1x16c4g:a100,1x16c4g:v100");
		const struct sl_snapshot *s = &w->snap;
		uint32_t at = s->job.gres[0].first;

		if (s->job.gres[0].count != 1 || s->job_gres.count[at] != cases[i].count ||
		    strcmp(str(w, s->job_gres.type[at]), cases[i].type))
			fail_msg("%s%s: %u of type \"%s\"", cases[i].columns, cases[i].values, s->job.gres[0].count ? s->job_gres.count[at] : 0,
				 s->job.gres[0].count ? str(w, s->job_gres.type[at]) : "");
		sl_workload_destroy(w);
	}
}

static void nodes_and_memory_are_read_from_old_columns_and_new_ones(void **state)
{
	static const struct { const char *columns, *values; uint32_t nodes, mib_per_cpu; } cases[] = {
		{ "|NNodes|ReqMem", "|4|60Gn", 4, 15360 }, { "|AllocNodes|ReqMem", "|2|4Gc", 2, 4096 },
		{ "|ReqNodes|NNodes|ReqMem", "|3|4|16G", 3, 1024 }, { "|NNodes|ReqMem", "|1|0n", 1, 0 },
		{ "|NNodes|ReqMem", "|1|1600M", 1, 100 }, { "|ReqMem|ReqTRES", "|1Gc|mem=32G", 1, 2048 },
		{ "|ReqMem|AllocTRES", "||mem=16G", 1, 1024 }, { "|ReqNodes|NNodes", "|0|4", 4, 0 },
	};

	(void) state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_workload *w = LOAD(dump(cases[i].columns, cases[i].values), .machine = "4x16c64000m");

		if (w->snap.job.min_nodes[0] != cases[i].nodes || w->snap.job.memory_per_cpu[0] != cases[i].mib_per_cpu)
			fail_msg("%s%s: %u nodes, %lld MiB a CPU", cases[i].columns, cases[i].values, w->snap.job.min_nodes[0],
				 (long long) w->snap.job.memory_per_cpu[0]);
		sl_workload_destroy(w);
	}
}

/* Where blocks count a job has as many nodes as it had, and an equal part of each; elsewhere CPUs on at least as many. */
static void segments_are_read_and_jobs_on_blocks_have_their_number_of_nodes(void **state)
{
	static const struct { const char *plugin, *columns, *values; uint32_t segment, max_nodes, per_node; } cases[] = {
		{ "block", "|NNodes|SegmentSize", "|4|2", 2, 4, 4 }, { "block", "|NNodes|SegmentSize", "|4|0", 0, 4, 4 },
		{ "block", "|NNodes", "|3", 0, 3, 0 }, { "block", "|NNodes", "|1", 0, 0, 0 },
		{ "tree", "|NNodes|SegmentSize", "|4|2", 2, 4, 4 }, { "tree", "|NNodes|SegmentSize", "|4|", 0, 0, 0 },
	};
	static const char conf[] = "TopologyPlugin=topology/%s\nNodeName=n[1-4] CPUs=8\nPartitionName=p Nodes=ALL Default=YES\n";

	(void) state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[200], machine[112];
		struct sl_workload *w;

		file("topology.conf", strcmp(cases[i].plugin, "tree") ? "BlockName=a Nodes=n[1-2]\nBlockName=b Nodes=n[3-4]\nBlockSizes=2\n" :
		     "SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[3-4]\n");
		snprintf(text, sizeof(text), conf, cases[i].plugin);
		strcpy(machine, file("slurm.conf", text));
		w = LOAD(dump(cases[i].columns, cases[i].values), .machine = machine);
		if (w->snap.job.segment[0] != cases[i].segment || w->snap.job.max_nodes[0] != cases[i].max_nodes ||
		    w->snap.job.ntasks_per_node[0] != cases[i].per_node)
			fail_msg("%s%s: segments of %u, at most %u nodes, %u tasks on each", cases[i].columns, cases[i].values,
				 w->snap.job.segment[0], w->snap.job.max_nodes[0], w->snap.job.ntasks_per_node[0]);
		assert_int_equal(w->snap.partition.block_nodes[0], strcmp(cases[i].plugin, "tree") ? 2 : 0);
		sl_workload_destroy(w);
	}
	file("topology.conf", "");
}

static const char two_partitions[] =
	"SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nNodeName=n1 CPUs=16\n"
	"PartitionName=short Nodes=n1 MaxTime=2:00:00\nPartitionName=long Nodes=n1 Default=YES\n";

static void a_job_without_a_limit_has_its_partitions_or_that_of_the_options(void **state)
{
	static const char log[] = "JobIDRaw|Submit|ElapsedRaw|TimelimitRaw|Timelimit|Partition|State|ReqCPUS\n"
		"1|1|600|UNLIMITED||short|COMPLETED|1\n2|2|600|Partition_Limit||long|COMPLETED|1\n"
		"3|3|600||UNLIMITED|short|COMPLETED|1\n4|4|600||||COMPLETED|1\n5|5|600|INFINITE||nowhere|COMPLETED|1\n";
	char conf[112];
	struct sl_workload *w;

	(void) state;
	strcpy(conf, file("slurm.conf", two_partitions));
	w = LOAD(file("log.txt", log), .machine = conf);
	assert_int_equal(w->snap.job.time_limit[0], 7200);
	assert_int_equal(w->snap.job.time_limit[1], 365 * 86400);
	assert_int_equal(w->snap.job.time_limit[2], 7200);
	assert_int_equal(w->snap.job.time_limit[3], 600);
	assert_int_equal(w->issue[SL_ISSUE_UNLIMITED].count, 4);
	assert_int_equal(w->issue[SL_ISSUE_NO_ESTIMATE].count, 1);
	sl_workload_destroy(w);
	w = LOAD(path, .machine = conf, .unlimited = "10d");
	assert_int_equal(w->snap.job.time_limit[1], 10 * 86400);
	assert_int_equal(w->snap.job.time_limit[4], 10 * 86400);
	sl_workload_destroy(w);
	REFUSED(path, SL_EINVAL, "unlimited \"soon\": expected a time", .machine = conf, .unlimited = "soon");
}

static void any_separator_and_order_will_do(void **state)
{
	static const char *const logs[] = {
		"JobIDRaw|Submit|ElapsedRaw|State|ReqCPUS|\n7|100|600|COMPLETED|4|\n",
		"ReqCPUS,State,ElapsedRaw,Submit,JobIDRaw\n4,COMPLETED,600,100,7\n",
		"jobidraw;submit;elapsedraw;state;reqcpus\n7;100;600;COMPLETED;4\n",
		"JobIDRaw\tSubmit\tElapsedRaw\tState\tReqCPUS\n7\t100\t600\tCOMPLETED\t4\n",
		"JobIDRaw~~Submit~~ElapsedRaw~~State~~ReqCPUS\r\n7~~100~~600~~COMPLETED~~4\r\n",
		"\nState^Submit^ElapsedRaw^JobID^NCPUS\nCOMPLETED^100^600^7^4\n",
	};

	(void) state;
	for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
		struct sl_workload *w = LOAD(file("log.txt", logs[i]), .machine = "1x16c");

		assert_int_equal(w->snap.job.id[0], 7);
		assert_int_equal(w->snap.job.submit_time[0], 100);
		assert_int_equal(w->snap.job.num_tasks[0], 4);
		sl_workload_destroy(w);
	}
}

static void what_is_no_good_dump_is_answered_with_the_command_that_gives_one(void **state)
{
	(void) state;
	REFUSED(file("x.txt", "1|alice|phys|2024-01-01T00:00:00|60\n"), SL_EFORMAT, "x.txt:1: rows of sacct without a line that names the "
		"columns: expected what this prints: TZ=UTC sacct -aXPD", .machine = "1x1c");
	REFUSED(file("x.txt", "User|Submit|Elapsed|NCPUS\na|1|2|3\n"), SL_EFORMAT, "no column JobIDRaw or JobID: expected what this prints: "
		"TZ=UTC sacct", .machine = "1x1c");
	REFUSED(file("x.txt", "JobID           JobName  Partition\n------------ ---------- ----------\n1 a b\n"), SL_EFORMAT,
		"a table for people", .machine = "1x1c");
	REFUSED(file("x.txt", "a,b,c\n1,2,3\n"), SL_EFORMAT, "x.txt:1: \"a,b,c\" begins no workload that is known", .machine = "1x1c");
	REFUSED("/dev/null", SL_EIO, "a pipe or a device", .machine = "1x1c");
}

/* sacct -P escapes nothing; the fields on both sides of the only text are where the header has them. */
static void separators_in_the_only_text_of_users_are_part_of_it(void **state)
{
	struct sl_workload *w = LOAD(file("dump.txt", BASE "|JobName|Partition|QOS\n" JOB "|a|b|c||p|high\n" JOB "||p|low\n" JOB "|short|p\n"),
				     .machine = "1x16c");

	(void) state;
	assert_int_equal(w->snap.job.rows, 2);
	assert_string_equal(str(w, w->snap.job.name[0]), "a|b|c|");
	assert_string_equal(str(w, w->snap.job.qos[0]), "high");
	assert_string_equal(str(w, w->snap.job.name[1]), "");
	assert_noted(w, "1 rows have \"|\" in the text of column 7");
	assert_int_equal(w->issue[SL_ISSUE_FIELDS].count, 1);
	sl_workload_destroy(w);
	w = LOAD(file("dump.txt", "SubmitLine;;" "JobIDRaw;;Submit;;ElapsedRaw;;ReqCPUS\nsbatch --wrap=a;;b;;1;;2024-01-01T00:00:00;;5;;1\n"),
		 .machine = "1x16c");
	assert_int_equal(w->snap.job.rows, 1);
	assert_int_equal(w->snap.job.id[0], 1);
	sl_workload_destroy(w);
	/* of two such columns nobody can tell */
	REFUSED(file("dump.txt", BASE "|JobName|SubmitLine\n" JOB "|a|b|c\n"), SL_EFORMAT, "no job is left of 1: 1 rows that are no jobs, skipped "
		"(9 fields, expected 8: separators within a text such as JobName)", .machine = "1x16c");
}

/* Of a cluster whose AccountingStorageTRES has no gres/gpu. */
static void what_json_says_and_cannot_be_used_is_named_with_the_reason(void **state)
{
	struct sl_workload *w = LOAD(file("dump.json", "{ \"jobs\": [ { \"job_id\": 7, \"time\": { \"submission\": 5, \"elapsed\": 60, \"suspended\": 9 },"
		" \"required\": { \"CPUs\": 2 }, \"used_gres\": \"gpu:2\", \"constraints\": \"fast\", \"licenses\": \"\", \"segment_size\": 3,"
		" \"reservation\": { \"name\": \"r\" } } ] }"), .machine = "2x4c4g");

	(void) state;
	assert_int_equal(w->snap.job_gres.count[w->snap.job.gres[0].first], 2);
	assert_noted(w, "1 jobs with constraints, which cannot be used: ");
	assert_noted(w, "1 jobs with reservation/name, which cannot be used: ");
	assert_noted(w, "1 jobs with time/suspended, which cannot be used: ");
	assert_int_equal(w->snap.job.segment[0], 3);
	assert_int_equal(w->notes.count, 3);
	sl_workload_destroy(w);
}

/* As "jq -c" writes it: two megabytes without the end of a line. */
static void json_may_stand_in_one_line(void **state)
{
	static const char job[] = "{\"id\": \"%u\", \"subtime\": %u, \"res\": 2, \"profile\": \"p\"},";
	const uint32_t jobs = 40000;
	char *text = malloc(jobs * sizeof(job) * 2), *to = text;
	struct sl_workload *w;

	(void) state;
	to += sprintf(to, " {\"nb_res\": 4, \"jobs\": [");
	for (uint32_t i = 1; i <= jobs; i++)
		to += sprintf(to, job, i, i);
	strcpy(to - 1, "], \"profiles\": {\"p\": {\"type\": \"delay\", \"delay\": 10}}}");
	assert_true(strlen(text) > 2u << 20);
	w = LOAD(file("line.json", text));
	assert_int_equal(w->snap.job.rows, jobs);
	sl_workload_destroy(w);
	free(text);
}

static void a_dump_without_a_job_to_schedule_is_refused_with_the_reason(void **state)
{
	(void) state;
	REFUSED(file("dump.txt", BASE "\n1.batch|2024-01-01T00:00:00|600|60|COMPLETED|16\n"), SL_EFORMAT, "no job is left of 1: 1 steps and parts of "
		"jobs, skipped (1.batch)", .machine = "1x16c");
	REFUSED(file("dump.json", "{\"jobs\": [{\"job_id\": 1, \"time\": {\"submission\": 5}}]}"), SL_EFORMAT, "no job is left of 1: 1 rows that are "
		"no jobs", .machine = "1x16c");
	REFUSED(file("dump.json", "{\"nb_res\": 4, \"jobs\": [{\"id\": \"1\", \"subtime\": 0, \"res\": 1, \"profile\": \"p\"}], \"profiles\": {\"p\": "
		"{\"type\": \"parallel\"}}}"), SL_EFORMAT, "no job is left of 1: 1 ");
}

static void columns_that_are_not_used_are_named_once_with_the_reason(void **state)
{
	struct sl_workload *w = LOAD(dump("|AveRSS|Constraints|Colour|WorkDir|Reservation", "|1|fast|red|/tmp|r"), .machine = "1x16c");

	(void) state;
	assert_int_equal(w->notes.count, 3);
	assert_noted(w, "dump.txt: columns that are not needed: AveRSS; WorkDir");
	assert_noted(w, "columns that cannot be used: Constraints (jobs of a log are told apart by their partition, not by features of "
			"nodes); Reservation (reservations of that time are not known)");
	assert_noted(w, "columns that sacct is not known to have, left out: Colour");
	sl_workload_destroy(w);
	w = LOAD(file("log.txt", "JobID|Submit|Elapsed|NCPUS\n1|2|3:00|4\n"), .machine = "1x16c");
	assert_noted(w, "log.txt: no column TimelimitRaw: walltimes are the runtimes");
	sl_workload_destroy(w);
}

/* Of another one the CPUs that it had are those that it needs; one with whole nodes gets all that they have. */
static void the_command_line_says_whether_nodes_were_whole(void **state)
{
	static const struct { const char *line; bool whole; } lines[] = {
		{ "sbatch -N 2 --exclusive job.sh", true }, { "--exclusive", true }, { "srun --exclusive=user --exclusive", true },
		{ "sbatch --exclusive=user job.sh", false }, { "sbatch --exclusively", false }, { "sbatch no--exclusive", false }, { "", false },
	};
	char text[300];

	(void) state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct sl_workload *w;

		snprintf(text, sizeof(text), "JobIDRaw|Submit|Start|ElapsedRaw|ReqCPUS|NNodes|AllocCPUS|SubmitLine\n"
			 "1|2024-01-01T00:00:00|2024-01-01T00:00:10|5|4|2|16|%s\n", lines[i].line);
		w = LOAD(file("dump.txt", text), .machine = "4x8c", .as_it_was = true);
		assert_int_equal(!!(w->snap.job.flags[0] & SL_JOBF_EXCLUSIVE), lines[i].whole);
		assert_int_equal(w->snap.job.num_tasks[0], lines[i].whole ? 4 : 16);
		assert_int_equal(w->snap.job.min_nodes[0], 2);
		sl_workload_destroy(w);
	}
}

/* Job 3 starts behind the first end, and is placed by whoever simulates. */
static void nodes_are_those_of_jobs_that_run_when_a_dump_begins(void **state)
{
	char conf[200];
	struct sl_workload *w;

	(void) state;
	strcpy(conf, file("slurm.conf", "NodeName=n[1-6] CPUs=8\nPartitionName=all Nodes=ALL Default=YES\n"));
	w = LOAD(file("dump.txt", "JobIDRaw|Submit|Start|ElapsedRaw|ReqCPUS|NodeList\n1|1000|1000|50|1|n[2-3],n5\n"
		"2|1001|1001|10|1|elsewhere\n3|1020|1020|10|1|n4\n4|1002|1002|50|1|\n5|1003|1003|50|1|n[2\n"),
		.machine = conf, .as_it_was = true);
	for (uint32_t row = 0; row < w->snap.job.rows; row++) {
		const struct sl_nodeset *nodes = &w->real[row].nodes;

		assert_int_equal(nodes->count, w->snap.job.id[row] == 1 ? 3 : 0);
		assert_true(!nodes->count || (sl_nodeset_contains(nodes, 1) && sl_nodeset_contains(nodes, 2) && sl_nodeset_contains(nodes, 4)));
	}
	sl_workload_destroy(w);
}

static void each_column_that_is_used_is_in_the_table(void **state)
{
	const char *why;

	(void) state;
	for (int i = 0; i < SL_SACCT_USED; i++) {
		const char *name = sl_sacct_name((enum sl_sacct_used) i);

		if (sl_sacct_is_real(name))		/* with as_it_was alone */
			assert_int_not_equal(sl_sacct_fate(name, &why), SL_SACCT_UNKNOWN);
		else
			assert_int_equal(sl_sacct_fate(name, &why), SL_SACCT_IS_USED);
	}
	assert_int_equal(sl_sacct_fate("allocgres", &why), SL_SACCT_IS_USED);
	assert_int_equal(sl_sacct_fate("Nonsense", &why), SL_SACCT_UNKNOWN);
	assert_true(sl_sacct_count_names(strchr(strstr(sl_sacct_command, "format="), '=') + 1, ",") == 18);
}

static void instants_have_blanks_fractions_and_offsets(void **state)
{
	static const struct { const char *text; int64_t t; } good[] = {
		{ "2024-01-01T00:00:00", 1704067200 }, { "2024-01-01 00:00:00", 1704067200 }, { "2024-01-01", 1704067200 },
		{ "2024-01-01T00:00:00Z", 1704067200 }, { "2024-01-01T01:00:00+01:00", 1704067200 },
		{ "2023-12-31T19:00:00-0500", 1704067200 }, { "2024-01-01T02:00:00.999+02", 1704067200 },
		{ "1704067200", 1704067200 }, { "2024-01-01T05:30:00+0530", 1704067200 },
	};
	static const char *const wrong[] = {
		"", "Unknown", "None", "2024-01-01T", "2024-01-01T00:00", "2024-13-01", "2024-01-01T25:00:00", "2024-01-01x",
		"2024-01-01T00:00:00+", "2024-01-01T00:00:00+99:00", "2024-01-01T00:00:00 CET", "2024-01-01T00:00:00+1:2:3",
	};
	int64_t t;

	(void) state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (!sl_scan_time(good[i].text, &t) || t != good[i].t)
			fail_msg("%s", good[i].text);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (sl_scan_time(wrong[i], &t))
			fail_msg("%s is no time", wrong[i]);
}

/* -- JSON ------------------------------------------------------------------------------ */

static void what_sacct_prints_as_json_is_read_as_its_columns_are(void **state)
{
	static const char text[] = "{ \"meta\": {}, \"jobs\": [\n"
		"{ \"job_id\": 7, \"user\": \"ann\", \"account\": \"phys\", \"partition\": \"short\", \"state\": { \"current\": [ \"COMPLETED\" ] },\n"
		"  \"time\": { \"submission\": 1704067200, \"start\": 1704067300, \"end\": 1704067900, \"elapsed\": 600,\n"
		"            \"limit\": { \"set\": true, \"infinite\": false, \"number\": 60 } },\n"
		"  \"required\": { \"CPUs\": 8 }, \"allocation_nodes\": 2,\n"
		"  \"tres\": { \"requested\": [ { \"type\": \"cpu\", \"name\": \"\", \"count\": 8 }, { \"type\": \"mem\", \"name\": \"\", \"count\": 8192 },\n"
		"                           { \"type\": \"gres\", \"name\": \"gpu\", \"count\": 4 } ], \"allocated\": [] } },\n"
		"{ \"job_id\": 8, \"state\": { \"current\": \"RUNNING\" }, \"time\": { \"submission\": 1704067201, \"elapsed\": 5, \"limit\": 7 },\n"
		"  \"required\": { \"CPUs\": 1 } },\n"
		"{ \"job_id\": 9, \"state\": { \"current\": \"FAILED\" }, \"partition\": \"short\",\n"
		"  \"time\": { \"submission\": 1704067202, \"elapsed\": 5, \"limit\": { \"set\": false, \"infinite\": true, \"number\": 0 } },\n"
		"  \"required\": { \"CPUs\": 1 } } ] }\n";
	struct sl_workload *w = LOAD(file("jobs.txt", text), .machine = "2x8c64000m2g");

	(void) state;
	assert_int_equal(w->snap.job.rows, 2);
	assert_int_equal(w->snap.job.id[0], 7);
	assert_int_equal(w->snap.job.submit_time[0], 1704067200);
	assert_int_equal(w->runtime_s[0], 600);
	assert_int_equal(w->snap.job.time_limit[0], 3600);
	assert_int_equal(w->snap.job.min_nodes[0], 2);
	assert_int_equal(w->snap.job.memory_per_cpu[0], 1024);
	assert_int_equal(w->snap.job_gres.count[w->snap.job.gres[0].first], 2);
	assert_int_equal(w->issue[SL_ISSUE_STATE].count, 1);
	assert_int_equal(w->issue[SL_ISSUE_UNLIMITED].count, 1);
	sl_workload_destroy(w);
}

static void a_workload_of_batsim_has_processors_and_delays(void **state)
{
	static const char text[] = "{ \"nb_res\": 4, \"jobs\": [ { \"id\": \"w0!3\", \"subtime\": 10.7, \"walltime\": 100, \"res\": 4, \"profile\": \"d\" },\n"
		"{ \"id\": 4, \"subtime\": 20, \"walltime\": -1, \"res\": 1, \"profile\": \"c\" },\n"
		"{ \"id\": 5, \"subtime\": 30, \"res\": 2, \"profile\": \"d\" } ],\n"
		"\"profiles\": { \"d\": { \"type\": \"delay\", \"delay\": 20.2 }, \"c\": { \"type\": \"parallel_homogeneous\", \"cpu\": 1e9, \"com\": 0 } } }\n";
	struct sl_workload *w = LOAD(file("w.json", text), 0);

	(void) state;
	assert_int_equal(w->snap.job.rows, 2);
	assert_int_equal(w->snap.job.id[0], 3);
	assert_int_equal(w->runtime_s[0], 21);
	assert_int_equal(w->snap.job.time_limit[0], 100);
	assert_int_equal(w->snap.job.num_tasks[1], 2);
	assert_int_equal(w->issue[SL_ISSUE_MODEL].count, 1);
	sl_workload_destroy(w);
	REFUSED(file("w.json", "{ \"jobs\": [ { \"subtime\": 1 } ], \"profiles\": {} }"), SL_EFORMAT, "nb_res: expected a number");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gpus_are_read_from_whichever_column_has_them),
		cmocka_unit_test(nodes_and_memory_are_read_from_old_columns_and_new_ones),
		cmocka_unit_test(segments_are_read_and_jobs_on_blocks_have_their_number_of_nodes),
		cmocka_unit_test(a_job_without_a_limit_has_its_partitions_or_that_of_the_options),
		cmocka_unit_test(any_separator_and_order_will_do),
		cmocka_unit_test(what_is_no_good_dump_is_answered_with_the_command_that_gives_one),
		cmocka_unit_test(separators_in_the_only_text_of_users_are_part_of_it),
		cmocka_unit_test(what_json_says_and_cannot_be_used_is_named_with_the_reason),
		cmocka_unit_test(json_may_stand_in_one_line),
		cmocka_unit_test(a_dump_without_a_job_to_schedule_is_refused_with_the_reason),
		cmocka_unit_test(columns_that_are_not_used_are_named_once_with_the_reason),
		cmocka_unit_test(the_command_line_says_whether_nodes_were_whole),
		cmocka_unit_test(nodes_are_those_of_jobs_that_run_when_a_dump_begins),
		cmocka_unit_test(each_column_that_is_used_is_in_the_table),
		cmocka_unit_test(instants_have_blanks_fractions_and_offsets),
		cmocka_unit_test(what_sacct_prints_as_json_is_read_as_its_columns_are),
		cmocka_unit_test(a_workload_of_batsim_has_processors_and_delays),
	};

	return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
