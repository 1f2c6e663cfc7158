/* SPDX-License-Identifier: MIT */
/*
 * Bad input for each reader of a file that others wrote: lines and texts of 100 MB, files of 4 GB, bytes that are no
 * text.  Each is read by a process of its own, so that the most memory that it ever had can be told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "t/workload/load.h"

#define WIDE ((size_t) 100 << 20)

/* What a file of each kind begins with, so that it is taken for one. */
static const struct kind {
	const char *name, *head;
	const char *beside;		/* of a file beside slurm.conf: what that has */
	bool machine, json;
} kinds[] = {
	{ .name = "swf", .head = "; MaxProcs: 64\n1 0 0 10 1 -1 -1 1 20 -1 1 1 1 1 1 1 -1 -1\n" },
	{ .name = "sacct", .head = "JobIDRaw|Submit|ElapsedRaw|ReqCPUS\n1|2024-01-01T00:00:00|10|1\n" },
	{ .name = "openb", .head = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,"
				   "scheduled_time\np,1000,1,0,0,,LS,Running,0,10,0\n" },
	{ .name = "philly", .head = "timestamp,duration,num_gpus,cluster\n2017-10-09 07:01:55,66.0,0,a\n" },
	{ .name = "chronus", .head = "job_id,user,num_gpu,submit_time,duration,model_name\n0,a,1,5,6,m\n" },
	{ .name = "eagle", .head = "job_id,user,account,partition,qos,wallclock_req,nodes_req,processors_req,gpus_req,submit_time,"
				   "run_time\n" },
	{ .name = "alcf", .head = "USERNAME_GENID,PROJECT_NAME_GENID,QUEUE_NAME,QUEUED_TIMESTAMP,RUNTIME_SECONDS,WALLTIME_SECONDS,"
				  "NODES_REQUESTED,CORES_REQUESTED\n" },
	{ .name = "pbs", .head = "01/02/2024 00:00:00;E;1.x;user=u queue=q ctime=1704100000 qtime=1704100000 start=1704100100 "
				 "end=1704100200 Resource_List.ncpus=4 resources_used.walltime=00:01:40\n" },
	{ .name = "snapshot", .head = "{\"meta\": {\"now\": 1}, \"jobs\": [", .json = true },
	{ .name = "sacct --json", .head = "{\"meta\": {\"Slurm\": {}}, \"jobs\": [", .json = true },
	{ .name = "batsim", .head = "{\"nb_res\": 4, \"jobs\": [", .json = true },
	{ .name = "lines", .head = "NodeName=n1\nPartitionName=p Nodes=n1\n", .machine = true },
	{ .name = "value", .head = "NodeName=n1\nPartitionName=p Nodes=n1\nEpilog=", .machine = true },
	{ .name = "names", .head = "NodeName=n1\nPartitionName=p Nodes=n1,", .machine = true },
	{ .name = "nodes", .head = "sn,cpu_milli,memory_mib,gpu,model\nopenb-node-0000,64000,262144,0,\n", .machine = true },
	{ .name = "gres.conf", .head = "NodeName=n1 Name=gpu Count=2\n", .beside = "NodeName=n1\nGresTypes=gpu\n", .machine = true },
	{ .name = "topology.conf", .head = "SwitchName=s Nodes=n1\n", .beside = "NodeName=n1\nTopologyPlugin=topology/tree\n",
	  .machine = true },
	{ .name = "topology.yaml", .head = "- topology: a\n  tree:\n    switches:\n    - switch: s\n      nodes: n1\n",
	  .beside = "NodeName=n1\n", .machine = true },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* A file of *fill* again and again, behind a head that write_head() puts over its beginning. */
static void make_wide(const char *fill)
{
	static char chunk[1 << 20];
	size_t n = strlen(fill);
	FILE *f;

	for (size_t i = 0; i < sizeof(chunk); i++)
		chunk[i] = fill[i % n];
	snprintf(path, sizeof(path), "%s/wide", scratch);
	f = fopen(path, "w");
	assert_non_null(f);
	for (size_t i = 0; i < WIDE / sizeof(chunk); i++)
		assert_int_equal(fwrite(chunk, 1, sizeof(chunk) / n * n, f), sizeof(chunk) / n * n);
	assert_int_equal(fclose(f), 0);
}

static void write_head(const char *name, const char *head, const char *fill)
{
	char text[512];
	FILE *f = fopen(name, "r+");

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = fill[i % strlen(fill)];
	memcpy(text, head, strlen(head));
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, sizeof(text), f), sizeof(text));
	assert_int_equal(fclose(f), 0);
}

/* Read the file at *path* as this kind; 0 if it was refused with its name and these words. */
static int read_as(const struct kind *k, const char *words)
{
	struct sl_workload_options opt = { .machine = k->machine ? path : "4x8c" };
	struct sl_error err = { .code = SL_OK };
	struct sl_workload *w;
	char conf[128];

	snprintf(conf, sizeof(conf), "%s/%s", scratch, k->name);
	if (k->beside) {
		file("slurm.conf", k->beside);
		if (symlink("wide", conf))
			return 1;
		opt.machine = path;
	}
	w = sl_workload_load(k->machine ? "esp" : path, &opt, &err);
	if (k->beside)
		unlink(conf);
	if (w)
		fprintf(stderr, "%s: it is accepted\n", k->name);
	else if (strstr(err.text, k->beside ? k->name : path) && strstr(err.text, words))
		return 0;
	else
		fprintf(stderr, "%s: %s, expected \"%s\"\n", k->name, err.text, words);
	return 1;
}

/* It is refused, and *most_mib* of memory were enough for that. */
static void assert_refused_within(const struct kind *k, const char *words, long most_mib)
{
	struct rusage used;
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid)
		_exit(read_as(k, words));
	assert_int_equal(wait4(pid, &status, 0, &used), pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		fail_msg("%s: see above (status %d)", k->name, status);
	if (used.ru_maxrss >> 10 > most_mib)
		fail_msg("%s: %ld MiB of memory, expected up to %ld", k->name, used.ru_maxrss >> 10, most_mib);
}

static void a_line_of_100_megabytes_is_refused_without_reading_it(void **state)
{
	static const char *const fills[] = { "a", "\\", "n1," };

	(void) state;
	for (size_t i = 0; i < sizeof(fills) / sizeof(fills[0]); i++) {
		make_wide(fills[i]);
		for (size_t n = 0; n < KINDS; n++)
			if (!kinds[n].json) {
				write_head(path, kinds[n].head, fills[i]);
				assert_refused_within(&kinds[n], "a line of more than", 200);
				snprintf(path, sizeof(path), "%s/wide", scratch);
			}
	}
}

static void json_of_100_megabytes_is_refused_within_what_it_may_have(void **state)
{
	static const struct { const char *fill, *words; } fills[] = {
		{ "a", ":1:" }, { " ", ":1:" }, { "\"", ":1:" },
		{ "[", "would need more than 4 GiB of memory" }, { "{},", "would need more than 4 GiB of memory" },
	};

	(void) state;
	for (size_t i = 0; i < sizeof(fills) / sizeof(fills[0]); i++) {
		make_wide(fills[i].fill);
		for (size_t n = 0; n < KINDS; n++)
			if (kinds[n].json) {
				write_head(path, kinds[n].head, fills[i].fill);
				assert_refused_within(&kinds[n], fills[i].words, 400);
			}
	}
}

/* (A hole in a file needs no disk.) */
static void a_file_of_four_gigabytes_needs_no_memory(void **state)
{
	(void) state;
	for (size_t n = 0; n < KINDS; n++) {
		file("wide", kinds[n].head);
		assert_int_equal(truncate(path, INT64_C(4) << 30), 0);
		assert_refused_within(&kinds[n], kinds[n].json ? "larger than" : "a line of more than", 200);
	}
}

static void bytes_that_are_no_text_are_refused_with_their_line(void **state)
{
	FILE *f;

	(void) state;
	for (size_t n = 0; n < KINDS; n++) {
		f = fopen(file("wide", kinds[n].head), "a");
		assert_non_null(f);
		fwrite("a\0b\n", 1, 4, f);
		fclose(f);
		assert_refused_within(&kinds[n], kinds[n].json ? ":1:" : "a NUL byte: expected text", 200);
		file("wide", kinds[n].head);
		f = fopen(path, "a");
		assert_non_null(f);
		fwrite("\xe4\n\0", 1, 3, f);
		fclose(f);
		assert_refused_within(&kinds[n], ":", 200);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_of_100_megabytes_is_refused_without_reading_it),
		cmocka_unit_test(json_of_100_megabytes_is_refused_within_what_it_may_have),
		cmocka_unit_test(a_file_of_four_gigabytes_needs_no_memory),
		cmocka_unit_test(bytes_that_are_no_text_are_refused_with_their_line),
	};

	return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
