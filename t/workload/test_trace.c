/* SPDX-License-Identifier: MIT */
/* Tables of published traces, and accounting logs of PBS; and input that is none of what is known. */
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

#include "t/workload/load.h"

static void assert_noted(const struct sl_workload *w, const char *words)
{
	for (uint32_t i = 0; i < w->notes.count; i++)
		if (strstr(w->notes.text[i], words))
			return;
	fail_msg("no note \"%s\" (of %u: %s)", words, w->notes.count, w->notes.count ? w->notes.text[0] : "");
}

static void pods_of_openb_have_cpus_memory_and_gpus(void **state)
{
	struct sl_workload *w = LOAD(file("pods.txt",
		"name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
		"p0,11500,24000,1,1000,,LS,Running,10,1000,40\np1,6000,6000,2,460,T4|P100,BE,Pending,20,,\n"
		"p2,4000,1000,0,0,,BE,Failed,30,60,31\n"), .machine = "2x16c64000m4g");

	(void) state;
	assert_int_equal(w->snap.job.rows, 2);
	assert_int_equal(w->snap.job.num_tasks[0], 12);
	assert_int_equal(w->snap.job.memory_per_cpu[0], 2000);
	assert_int_equal(w->snap.job_gres.count[w->snap.job.gres[0].first], 1);
	assert_int_equal(w->runtime_s[0], 960);
	assert_int_equal(w->runtime_s[1], 29);
	assert_int_equal(w->issue[SL_ISSUE_STATE].count, 1);
	assert_noted(w, "pods.txt: read as pods of Alibaba's cluster-trace-gpu-v2023; columns that are not used: gpu_milli, gpu_spec, pod_phase");
	sl_workload_destroy(w);
	REFUSED(path, SL_EINVAL, "a trace does not say on which machine: name one");
}

static void nodes_of_openb_are_a_machine(void **state)
{
	char nodes[128];
	struct sl_workload *w;

	(void) state;
	strcpy(nodes, file("nodes.txt", "sn,cpu_milli,memory_mib,gpu,model\nn-0,32000,262144,0,\nn-1,64000,262144,2,P100\n"));
	w = LOAD(file("a.swf", small_swf), .machine = nodes);
	assert_int_equal(w->snap.node.rows, 2);
	assert_int_equal(w->snap.node.cores[1], 64);
	assert_int_equal(w->snap.node.memory[0], 262144);
	assert_int_equal(w->snap.node.gres[0].count, 0);
	assert_string_equal(str(w, w->snap.gres_kind.key[w->snap.node_gres.kind[w->snap.node.gres[1].first]]), "gpu:P100");
	sl_workload_destroy(w);
	file("nodes.txt", "sn,cpu_milli,memory_mib,gpu,model\nn-0,many,1,0,\n");
	REFUSED("esp", SL_EFORMAT, "nodes.txt:2: expected a node", .machine = nodes);
}

static void jobs_of_gpu_traces_have_a_cpu_for_each_gpu(void **state)
{
	struct sl_workload *w = LOAD(file("sia.csv", "timestamp,duration,num_gpus,gpu_time,cluster\n"
		"2017-10-09 07:01:55,66.5,4,66.0,11cb48\n2017-10-09 07:01:56,10,x,1,a\n"), .machine = "2x8c4g");

	(void) state;
	assert_int_equal(w->snap.job.rows, 1);
	assert_int_equal(w->snap.job.submit_time[0], 1507532515);
	assert_int_equal(w->snap.job.num_tasks[0], 4);
	assert_int_equal(w->runtime_s[0], 67);
	assert_string_equal(str(w, w->snap.job.account[0]), "11cb48");
	assert_int_equal(w->issue[SL_ISSUE_FIELDS].count, 1);
	sl_workload_destroy(w);
	w = LOAD(file("chronus.csv", "job_id,user,num_gpu,submit_time,iterations,model_name,duration,interval,expect_time_list,expect_value_list,"
		"best_effort,job_type\n7,vc_1,2,8555,5049,vgg16,747,14,1105,10,0,strict\n"), .machine = "2x8c4g");
	assert_int_equal(w->snap.job.id[0], 7);
	assert_int_equal(w->snap.job.submit_time[0] - w->origin_s, 0);
	assert_int_equal(w->runtime_s[0], 747 * 60);	/* its times are minutes */
	assert_noted(w, "not used: iterations, interval, expect_time_list");
	sl_workload_destroy(w);
}

static void events_of_the_simulator_of_slurm_are_what_sbatch_was_told(void **state)
{
	struct sl_workload *w = LOAD(file("week.events", "\n"
		"-dt          10.50 -e submit_batch_job | -sim-walltime   84805.00 --uid=user001 -J jobid_00001 -N    2 -n     32 -t 3-00:00:00 "
		"-q general -p general --gres=gpu:2 --gres=gpu:2 --mem=500G --exclusive pseudo.job\n"
		"-dt 11 -e submit_batch_job | -sim-walltime -1 --uid=user002 -J jobid_00002 -N 1 -n 4 -t 1:00:00 -q debug --constraint=A pseudo.job\n"
		"-dt x -e submit_batch_job | -sim-walltime 5 -N 1 -n 4 -t 1:00:00 pseudo.job\n"), .machine = "2x16c2g");

	(void) state;
	assert_int_equal(w->snap.job.rows, 2);
	assert_int_equal(w->snap.job.submit_time[0] - w->origin_s, 10);
	assert_int_equal(w->runtime_s[0], 84805);
	assert_int_equal(w->snap.job.time_limit[0], 3 * 86400);
	assert_int_equal(w->snap.job.min_nodes[0], 2);
	assert_int_equal(w->snap.job.num_tasks[0], 32);
	assert_true(w->snap.job.flags[0] & SL_JOBF_EXCLUSIVE);
	assert_int_equal(w->snap.job_gres.count[w->snap.job.gres[0].first], 2);
	assert_string_equal(str(w, w->snap.job.qos[1]), "debug");
	assert_int_equal(w->runtime_s[1], 3600);
	assert_int_equal(w->issue[SL_ISSUE_FIELDS].count, 1);
	assert_int_equal(w->issue[SL_ISSUE_MODEL].count, 1);
	sl_workload_destroy(w);
}

static const char two_classes[] = "job_id,user,num_gpu,submit_time,iterations,model_name,duration,interval,expect_time_list,expect_value_list,"
	"best_effort,job_type\n1,ann,2,10,1,vgg16,700,14,1,10,0,strict\n2,bob,1,11,1,vgg16,700,14,1,10,1,best\n3,eve,1,12,1,vgg16,700,14,1,10,1,best\n";

static void jobs_of_the_upper_tier_may_have_the_others_stopped(void **state)
{
	struct sl_workload *w = LOAD(file("chronus.csv", two_classes), .machine = "2x8c4g",
				     .tiers = "qos=strict+urgent,mode=cancel,grace=2m,exempt=10m,checkpoint=30");
	const struct sl_job_view *j = &w->snap.job;

	(void) state;
	assert_string_equal(str(w, j->qos[0]), "high");
	assert_string_equal(str(w, j->preempts[0]), "QOS=low");
	assert_true(j->flags[0] & SL_JOBF_MAY_PREEMPT);
	assert_int_equal(j->preempt_mode[0], SL_STOP_NONE);
	assert_true(j->priority[0] > j->priority[1]);
	assert_string_equal(str(w, j->qos[1]), "low");
	assert_int_equal(j->preempt_mode[1], SL_STOP_CANCEL);
	assert_true(j->flags[1] & SL_JOBF_REQUEUE);
	assert_int_equal(j->grace_time[1], 120);
	assert_string_equal(str(w, j->comment[1]), "checkpoint=30");
	assert_int_equal(w->exempt_s, 600);
	sl_workload_destroy(w);
}

static void tiers_are_made_by_names_or_by_lot(void **state)
{
	static const struct { const char *tiers; uint32_t upper; } cases[] = {
		{ "user=bob+eve", 2 }, { "qos=stri", 0 }, { "partition=all", 3 }, { "share=1", 3 }, { "share=0", 0 }, { "account=x", 0 },
	};
	const char *table = file("chronus.csv", two_classes);

	(void) state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_workload *w = LOAD(table, .machine = "2x8c4g", .tiers = cases[i].tiers);
		uint32_t upper = 0;

		for (uint32_t k = 0; k < w->snap.job.rows; k++)
			upper += (w->snap.job.flags[k] & SL_JOBF_MAY_PREEMPT) != 0;
		if (upper != cases[i].upper)
			fail_msg("%s: %u jobs of the upper tier, expected %u", cases[i].tiers, upper, cases[i].upper);
		sl_workload_destroy(w);
	}
	REFUSED(table, SL_EINVAL, "expected qos=NAME", .machine = "2x8c4g", .tiers = "strict");
	REFUSED(table, SL_EINVAL, "expected qos=NAME", .machine = "2x8c4g", .tiers = "share=2");
	REFUSED(table, SL_EINVAL, "\"grace=x\"", .machine = "2x8c4g", .tiers = "qos=a,grace=x");
	REFUSED(table, SL_EINVAL, "\"mode=kill\"", .machine = "2x8c4g", .tiers = "qos=a,mode=kill");
	REFUSED(file("w.json", "{\"jobs\": [{\"id\": 1, \"runtime_s\": 5}]}"), SL_EINVAL, "say themselves", .machine = "1x1c", .tiers = "qos=a");
}

/* Of 3,000 jobs in order of submission 960 are of another tier than the one before, if a fifth is drawn; six standard deviations
 * are 139. */
static void jobs_that_follow_each_other_are_drawn_by_themselves(void **state)
{
	(void) state;
	for (uint64_t seed = 0; seed < 5; seed++) {
		struct sl_workload *w = LOAD("synthetic:jobs=3000", .machine = "4x8c", .tiers = "share=0.2", .seed = seed);
		const uint32_t *flags = w->snap.job.flags;
		int changes = 0;

		for (uint32_t k = 1; k < w->snap.job.rows; k++)
			changes += ((flags[k] ^ flags[k - 1]) & SL_JOBF_MAY_PREEMPT) != 0;
		if (abs(changes - 960) > 139)
			fail_msg("seed %llu: %d jobs are of another tier than the one before", (unsigned long long) seed, changes);
		sl_workload_destroy(w);
	}
}

static void quoted_tables_have_walltimes_and_nodes(void **state)
{
	struct sl_workload *w = LOAD(file("alcf.csv",
		"\"JOB_NAME\",\"QUEUED_TIMESTAMP\",\"USERNAME_GENID\",\"PROJECT_NAME_GENID\",\"QUEUE_NAME\",\"WALLTIME_SECONDS\",\"RUNTIME_SECONDS\","
		"\"NODES_REQUESTED\",\"CORES_REQUESTED\"\n"
		"\"a,\"\"b\"\"\",\"2023-01-01 00:03:45\",\"17\",\"3\",\"debug\",\"3600.0\",\"600.5\",\"2.0\",\"16.0\"\n"), .machine = "2x8c");

	(void) state;
	assert_int_equal(w->snap.job.rows, 1);
	assert_int_equal(w->snap.job.min_nodes[0], 2);
	assert_int_equal(w->snap.job.num_tasks[0], 16);
	assert_int_equal(w->snap.job.time_limit[0], 3600);
	assert_int_equal(w->runtime_s[0], 601);
	sl_workload_destroy(w);
}

static void records_of_pbs_tell_of_jobs_that_have_ended(void **state)
{
	struct sl_workload *w = LOAD(file("20240131",
		"01/31/2024 12:00:00;Q;123.host;queue=prod\n"
		"01/31/2024 12:10:00;E;123.host;user=ann project=p queue=prod ctime=1706702400 qtime=1706702401 start=1706702500 end=1706703100 "
		"Resource_List.nodect=2 Resource_List.ncpus=16 Resource_List.walltime=01:00:00 resources_used.walltime=00:09:59 Exit_status=0\n"
		"01/31/2024 12:20:00;E;124.host;user=bob queue=prod ctime=1706702500 start=1706702600 end=1706702700 Resource_List.nodect=1\n"
		"nonsense\n01/31/2024 12:20:00;E;125.host;user=bob\n"), .machine = "2x8c");

	(void) state;
	assert_int_equal(w->snap.job.rows, 2);
	assert_int_equal(w->snap.job.id[0], 123);
	assert_int_equal(w->snap.job.submit_time[0], 1706702401);
	assert_int_equal(w->runtime_s[0], 599);
	assert_int_equal(w->snap.job.time_limit[0], 3600);
	assert_int_equal(w->runtime_s[1], 100);
	assert_string_equal(str(w, w->snap.job.user[1]), "bob");
	assert_int_equal(w->issue[SL_ISSUE_FIELDS].count, 2);
	sl_workload_destroy(w);
}

/* -- bad input -------------------------------------------------------------------------- */

/* Both as a workload and as a machine: an error with words of where and what, and nothing else. */
static void assert_refused_everywhere(const char *name, const char *words, const char *machine_words)
{
	struct sl_workload_options opt = { .machine = "1x1c" };
	struct sl_error err = { .code = SL_OK };

	assert_null(sl_workload_load(name, &opt, &err));
	if (!strstr(err.text, words))
		fail_msg("%s, expected \"%s\"", err.text, words);
	opt.machine = name;
	assert_null(sl_workload_load("esp", &opt, &err));
	if (!strstr(err.text, machine_words))
		fail_msg("as a machine: %s, expected \"%s\"", err.text, machine_words);
}

static void bad_input_is_refused_with_its_place(void **state)
{
	char pipe[128];

	(void) state;
	assert_refused_everywhere(scratch, "a directory: expected a file", "expected a file");
	snprintf(pipe, sizeof(pipe), "%s/pipe", scratch);
	assert_int_equal(mkfifo(pipe, 0600), 0);
	assert_refused_everywhere(pipe, "a pipe or a device: expected a file", "expected a file");
	assert_refused_everywhere("/dev/zero", "a pipe or a device: expected a file", "expected a file");
	assert_refused_everywhere(file("latin", "NodeName=b\xe4r CPUs=1\nMachin\xe9\n"), "latin:1: \"NodeName=b", "latin:2: \"Machin");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pods_of_openb_have_cpus_memory_and_gpus),
		cmocka_unit_test(nodes_of_openb_are_a_machine),
		cmocka_unit_test(jobs_of_gpu_traces_have_a_cpu_for_each_gpu),
		cmocka_unit_test(events_of_the_simulator_of_slurm_are_what_sbatch_was_told),
		cmocka_unit_test(jobs_of_the_upper_tier_may_have_the_others_stopped),
		cmocka_unit_test(tiers_are_made_by_names_or_by_lot),
		cmocka_unit_test(jobs_that_follow_each_other_are_drawn_by_themselves),
		cmocka_unit_test(quoted_tables_have_walltimes_and_nodes),
		cmocka_unit_test(records_of_pbs_tell_of_jobs_that_have_ended),
		cmocka_unit_test(bad_input_is_refused_with_its_place),
	};

	return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
