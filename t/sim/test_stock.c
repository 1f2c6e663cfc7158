/* SPDX-License-Identifier: MIT */
/* Slurm's own two schedulers in a simulation: cases worked by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/reality.h"
#include "sim/sim.h"
#include "sim/stock.h"
#include "t/scratch.h"

#define JOB(id, submit, cores, limit, run)								\
	"{\"id\": " #id ", \"submit_time\": " #submit ", \"min_cpus\": " #cores ", \"num_tasks\": " #cores	\
	", \"time_limit\": " #limit ", \"runtime_s\": " #run "}"
#define DUMP "JobIDRaw|Submit|ElapsedRaw|TimelimitRaw|State|ReqCPUS|Partition\n"

static const char *write_file(const char *name, const char *text)
{
	static char path[200];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	return path;
}

/* Each job's start: of JSON since its origin, of what sacct prints since the epoch. */
static void assert_starts(const char *machine, const char *jobs, struct sl_stock_options stock_options, const int64_t *start, uint32_t n)
{
	const struct sl_workload_options wopt = { .machine = machine };
	struct sl_stock stock = { .opt = stock_options };
	struct sl_sim_options opt = { .keep_schedule = true, .check = true, .decide = sl_stock_decide, .decide_arg = &stock,
				      .wake_at = &stock.wake_at };
	struct sl_error err = { 0 };
	struct sl_workload *w = sl_workload_load(write_file("w.json", jobs), &wopt, &err);
	struct sl_sim *sim;
	int64_t zero;

	if (!w)
		fail_msg("%s", err.text);
	assert_int_equal(sl_stock_open(&stock, &w->snap, &err), 0);
	sim = sl_sim_create(w, NULL, &opt, &err);
	if (!sim || sl_sim_run(sim, NULL, &err))
		fail_msg("%s", err.text);
	assert_int_equal(w->snap.job.rows, n);
	zero = *jobs == '{' ? w->origin_s : 0;
	for (uint32_t i = 0; i < n; i++)
		if (sl_sim_schedule(sim)[i].start_s - zero != start[i])
			fail_msg("job %u starts at %lld, expected %lld", w->snap.job.id[i],
				 (long long) (sl_sim_schedule(sim)[i].start_s - zero), (long long) start[i]);
	sl_sim_destroy(sim);
	sl_stock_close(&stock);
	sl_workload_destroy(w);
}

#define STARTS(machine, jobs, options, ...) assert_starts(machine, jobs, options, (const int64_t[]) { __VA_ARGS__ },	\
							  sizeof((const int64_t[]) { __VA_ARGS__ }) / sizeof(int64_t))

/* 3 of 4 cores are taken until 6100; the wide one waits; the short one fits before it, the long one does not. */
static const char holes[] = "{\"jobs\": [" JOB(1, 6000, 3, 100, 100) "," JOB(2, 6001, 4, 50, 50) ","
	JOB(3, 6002, 1, 60, 60) "," JOB(4, 6003, 1, 200, 200) "]}";

static void backfill_comes_by_its_interval_and_starts_what_delays_nobody(void **state)
{
	struct sl_stock_options opt = sl_stock_defaults();

	(void) state;
	opt.bf_resolution_s = 1;
	STARTS("4x1c", holes, opt, 6000, 6100, 6030, 6150);
	opt.bf_interval_s = 10;
	STARTS("4x1c", holes, opt, 6000, 6100, 6010, 6150);
}

/* 6030 + 60 is in the minute in which job 2 would start (6060 to 6120): as far as backfill can see it would delay it. */
static void backfill_sees_no_more_than_its_resolution(void **state)
{
	(void) state;
	STARTS("4x1c", holes, sl_stock_defaults(), 6000, 6100, 6150, 6150);
}

static void the_builtin_scheduler_starts_nothing_behind_one_that_waits(void **state)
{
	struct sl_stock_options opt = sl_stock_defaults();

	(void) state;
	opt.bf_resolution_s = 1;
	opt.builtin = true;
	STARTS("4x1c", holes, opt, 6000, 6100, 6150, 6150);
}

/* At 6030 backfill has left job 2 waiting: it comes at 6060, 6090, ..., and so at 6510. */
static void backfill_comes_in_step_as_long_as_jobs_wait(void **state)
{
	static const char late[] = "{\"jobs\": [" JOB(1, 6000, 3, 3600, 1000) "," JOB(2, 6001, 4, 50, 50) "," JOB(3, 6500, 1, 60, 60) "]}";

	(void) state;
	STARTS("4x1c", late, sl_stock_defaults(), 6000, 7000, 6510);
}

/*
 * At first job 4 is to have n1 from 6650 to 7250, that is: the minutes from 6600 to 7200, when job 3 is to have it, and job 5 would delay
 * job 4.  Nothing happens before 6650.  But at 6620 job 4's walltime is too long for n1, and so job 5, which ends at 7160, starts.
 */
static void backfill_decides_anew_as_time_goes_by(void **state)
{
	static const char jobs[] = DUMP "1|6000|1200|20|COMPLETED|2|two\n2|6050|600|10|COMPLETED|1|one\n3|6060|600|10|COMPLETED|4|both\n"
		"4|6061|600|10|COMPLETED|2|one\n5|6062|540|9|COMPLETED|1|one\n";
	char conf[200];

	(void) state;
	strcpy(conf, write_file("slurm.conf", "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nNodeName=n[1-2] CPUs=2 CoresPerSocket=2\n"
		"PartitionName=both Nodes=n[1-2] Default=YES\nPartitionName=one Nodes=n1\nPartitionName=two Nodes=n2\n"));
	STARTS(conf, jobs, sl_stock_defaults(), 6000, 6050, 7200, 7800, 6620);
}

/* Job 3 ends before job 1, and so starts with the first visit behind its submission. */
static void backfill_comes_at_known_seconds(void **state)
{
	static const char jobs[] = DUMP "1|6000|600|10|COMPLETED|3|part\n2|6001|60|1|COMPLETED|4|part\n3|6002|60|1|COMPLETED|1|part\n";
	int64_t at[] = { 5990, 6017, 6111 };
	const struct sl_visits visits = { .at_s = at, .count = 3 };
	struct sl_stock_options opt = sl_stock_defaults();

	(void) state;
	opt.visits = &visits;
	STARTS("4x1c", jobs, opt, 6000, 6600, 6017);
}

static void backfill_comes_at_once_where_nobody_has_waited(void **state)
{
	static const char late[] = "{\"jobs\": [" JOB(1, 6000, 3, 3600, 1000) "," JOB(2, 6500, 4, 50, 50) "," JOB(3, 6500, 1, 60, 60) "]}";

	(void) state;
	STARTS("4x1c", late, sl_stock_defaults(), 6000, 7000, 6500);
}

/*
 * Backfill has come at 6030, and at 6032 only the main scheduler's time has come, for jobs 2 and 3: job 4 comes in that very second.
 * It is in nobody's way, and so starts at 6060.
 */
static void backfill_sees_jobs_that_come_as_the_main_scheduler_wakes_up(void **state)
{
	static const char jobs[] = "{\"jobs\": [" JOB(1, 6000, 3, 3600, 1000) "," JOB(2, 6029, 4, 50, 50) "," JOB(3, 6030, 4, 50, 50) ","
		JOB(4, 6032, 1, 60, 60) "]}";

	(void) state;
	STARTS("4x1c", jobs, sl_stock_defaults(), 6000, 7000, 7050, 6060);
}

/* Job 2 ends in that second instead: it ends before its time, and so job 3 may have its core. */
static void backfill_sees_jobs_that_end_as_the_main_scheduler_wakes_up(void **state)
{
	static const char jobs[] = "{\"jobs\": [" JOB(1, 6000, 2, 3600, 1000) "," JOB(2, 6000, 2, 3600, 32) "," JOB(3, 6029, 4, 50, 50) ","
		JOB(4, 6030, 1, 60, 60) "]}";

	(void) state;
	STARTS("4x1c", jobs, sl_stock_defaults(), 6000, 6000, 7000, 6060);
}

/*
 * Job 3 can start at 7000, when a core of the first node is free.  But select takes jobs 1 and 2 away together, since 7050 is within
 * its first window: so it foresees 7050, and job 4, which ends at 6990, is in nobody's way.
 */
static void a_start_is_foreseen_where_a_group_of_jobs_has_ended(void **state)
{
	static const char jobs[] = "{\"jobs\": [" JOB(1, 6000, 1, 1000, 1000) "," JOB(2, 6000, 1, 1050, 1050) "," JOB(3, 6001, 3, 100, 100) ","
		JOB(4, 6002, 1, 960, 100) "]}";
	static const char longer[] = "{\"jobs\": [" JOB(1, 6000, 1, 1000, 1000) "," JOB(2, 6000, 1, 1051, 1051) "," JOB(3, 6001, 3, 100, 100) ","
		JOB(4, 6002, 1, 960, 100) "]}";

	(void) state;
	STARTS("2x2c", jobs, sl_stock_defaults(), 6000, 6000, 7000, 6030);
	STARTS("2x2c", longer, sl_stock_defaults(), 6000, 6000, 7000, 7051);
}

/*
 * Job 2's end, at 7200, is beyond the first window, that of job 1's (7020), which ends at 7080.  But select only looks at how far the
 * next job's end is when it has taken one away: that is job 3's, and where this one is within the window, but has no node of the
 * partition, job 2 is taken with job 1.  So job 4 is foreseen at 7200, and job 5, which ends at 7110, is in nobody's way.
 */
static void select_passes_over_the_end_of_its_window_behind_a_job_of_other_nodes(void **state)
{
	static const char within[] = DUMP "1|6000|1020|17|COMPLETED|1|part\n2|6000|1200|20|COMPLETED|1|part\n3|6000|1080|18|COMPLETED|1|rest\n"
		"4|6001|60|2|COMPLETED|3|part\n5|6002|100|18|COMPLETED|1|part\n";
	static const char beyond[] = DUMP "1|6000|1020|17|COMPLETED|1|part\n2|6000|1200|20|COMPLETED|1|part\n3|6000|1140|19|COMPLETED|1|rest\n"
		"4|6001|60|2|COMPLETED|3|part\n5|6002|100|18|COMPLETED|1|part\n";
	char conf[200];

	(void) state;
	strcpy(conf, write_file("slurm.conf", "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nNodeName=n[1-2] CPUs=2 CoresPerSocket=2\n"
		"NodeName=n3 CPUs=1\nPartitionName=part Nodes=n[1-2] Default=YES\nPartitionName=rest Nodes=n3\n"));
	STARTS(conf, within, sl_stock_defaults(), 6000, 6000, 6000, 7020, 6030);
	STARTS(conf, beyond, sl_stock_defaults(), 6000, 6000, 6000, 7020, 7080);
}

static void backfill_looks_at_no_more_jobs_than_it_is_told(void **state)
{
	struct sl_stock_options opt = sl_stock_defaults();

	(void) state;
	opt.bf_resolution_s = 1;
	opt.bf_max_job_test = 1;
	STARTS("4x1c", holes, opt, 6000, 6100, 6150, 6150);
}

static void beyond_its_window_backfill_reserves_nothing(void **state)
{
	static const char jobs[] = "{\"jobs\": [" JOB(1, 6000, 3, 7200, 3000) "," JOB(2, 6001, 4, 50, 50) ","
		JOB(3, 6002, 1, 10000, 10000) "]}";
	struct sl_stock_options opt = sl_stock_defaults();

	(void) state;
	STARTS("4x1c", jobs, opt, 6000, 9000, 9050);
	opt.bf_window_s = 3600;		/* job 2 would start in two hours: nothing is kept for it, and job 3 delays it */
	STARTS("4x1c", jobs, opt, 6000, 16030, 6030);
}

/* Three cores, two are taken until 7000, when job 2 takes two: a core would do for job 3, but the reservation is of the node. */
static void reservations_of_backfill_are_of_whole_nodes(void **state)
{
	static const char jobs[] = "{\"jobs\": [" JOB(1, 6000, 2, 1000, 1000) "," JOB(2, 6001, 2, 500, 500) "," JOB(3, 6002, 1, 2000, 2000) "]}";

	(void) state;
	struct sl_stock_options pool = sl_stock_defaults();

	STARTS("1x3c", jobs, sl_stock_defaults(), 6000, 7000, 7000);
	pool.pool = true;		/* but for a pool of processors */
	STARTS("1x3c", jobs, pool, 6000, 7000, 6030);
}

/* Job 3 is to have the first two of three nodes at 7000, as select takes them, although the first is free since 6010. */
static void reservations_take_nodes_that_are_free_already_as_select_does(void **state)
{
	static const char jobs[] = "{\"jobs\": [" JOB(1, 6000, 1, 600, 10) "," JOB(2, 6000, 2, 1000, 1000) "," JOB(3, 6001, 2, 100, 100) ","
		JOB(4, 6020, 1, 2000, 2000) "]}";

	(void) state;
	STARTS("3x1c", jobs, sl_stock_defaults(), 6000, 6000, 7000, 7000);
}

/*
 * Jobs 2 to 4 are to have n1 one after the other, from 7200 to 10800.  For backfill that is one reservation, behind which it looks for a
 * place for job 5: so this one is to have both nodes at 10800, and job 6 would delay it.
 */
static void reservations_that_follow_each_other_are_one(void **state)
{
	static const char jobs[] = DUMP "1|6000|1200|20|COMPLETED|1|one\n2|6001|1200|20|COMPLETED|1|one\n3|6002|1200|20|COMPLETED|1|one\n"
		"4|6003|1200|20|COMPLETED|1|one\n5|6004|1800|30|COMPLETED|2|both\n6|6005|5400|90|COMPLETED|1|two\n";
	char conf[200];

	(void) state;
	strcpy(conf, write_file("slurm.conf", "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nNodeName=n[1-2] CPUs=1\n"
		"PartitionName=both Nodes=n[1-2] Default=YES\nPartitionName=one Nodes=n1\nPartitionName=two Nodes=n2\n"));
	STARTS(conf, jobs, sl_stock_defaults(), 6000, 7200, 8400, 9600, 10800, 12600);
}

static const char two_partitions[] =
	"SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nNodeName=n[1-4] CPUs=1\n"
	"PartitionName=all Nodes=n[1-4] Default=YES\nPartitionName=part Nodes=n[1-2]\n";

/* Job 2 closes both, since "part" has no nodes but those of "all"; of "part" it closes that one alone, and keeps its nodes from job 3. */
static void a_job_that_waits_closes_the_partitions_whose_nodes_it_may_have(void **state)
{
	static const char wide[] = DUMP "1|6000|600|10|COMPLETED|3|all\n2|6001|60|10|COMPLETED|4|all\n3|6002|300|5|COMPLETED|1|part\n";
	static const char narrow[] = DUMP "1|6000|600|10|COMPLETED|1|part\n2|6001|60|10|COMPLETED|2|part\n3|6002|300|5|COMPLETED|1|all\n";
	static const char other[] = DUMP "1|6000|10|5|COMPLETED|1|part\n2|6001|10|5|COMPLETED|2|part\n3|6002|300|5|COMPLETED|3|all\n";
	struct sl_stock_options opt = sl_stock_defaults();
	char conf[200];

	(void) state;
	strcpy(conf, write_file("slurm.conf", two_partitions));
	opt.builtin = true;
	STARTS(conf, wide, opt, 6000, 6600, 6660);
	STARTS(conf, narrow, opt, 6000, 6600, 6003);
	STARTS(conf, other, opt, 6000, 6010, 6020);
}

/* Of the queue only job 2 is looked at, until all of it is a minute after the first time. */
static void jobs_beyond_the_depth_are_looked_at_once_a_minute(void **state)
{
	static const char jobs[] = DUMP "1|6000|600|10|COMPLETED|1|part\n2|6001|60|10|COMPLETED|2|part\n3|6005|300|5|COMPLETED|1|all\n";
	struct sl_stock_options opt = sl_stock_defaults();
	char conf[200];

	(void) state;
	strcpy(conf, write_file("slurm.conf", two_partitions));
	opt.bf_interval_s = 500;
	STARTS(conf, jobs, opt, 6000, 6600, 6006);
	opt.default_queue_depth = 0;
	STARTS(conf, jobs, opt, 6000, 6600, 6060);
}

static void the_words_of_slurm_conf_are_read_and_else_slurms_defaults_hold(void **state)
{
	struct sl_stock_options opt;
	struct sl_error err = { 0 };

	(void) state;
	assert_int_equal(sl_stock_read(&opt, write_file("a.conf", "SchedulerType=sched/backfill\nPriorityType=priority/multifactor\n"
		"SchedulerParameters=bf_interval=20,bf_window=60,bf_max_job_test=7,default_queue_depth=9,bf_resolution=300,sched_interval=90,"
		"batch_sched_delay=0,bf_window_scale=45\n"
		"PriorityWeightAge=500\nPriorityMaxAge=1-0\nPriorityWeightJobSize=40\nPriorityFavorSmall=YES\n"), &err), 0);
	assert_int_equal(opt.bf_interval_s, 20);
	assert_int_equal(opt.bf_window_s, 3600);
	assert_int_equal(opt.bf_resolution_s, 300);
	assert_int_equal(opt.bf_max_job_test, 7);
	assert_int_equal(opt.default_queue_depth, 9);
	assert_int_equal(opt.sched_interval_s, 90);
	assert_int_equal(opt.batch_sched_delay_s, 0);
	assert_int_equal(opt.bf_window_scale_s, 45);
	assert_int_equal(opt.max_age_s, 86400);
	assert_true(opt.age_weight > 499 && opt.age_weight < 501 && !opt.builtin);
	assert_true(opt.size_weight > 39 && opt.size_weight < 41 && opt.favours_small);
	assert_int_equal(sl_stock_read(&opt, write_file("c.conf", "PriorityType=priority/multifactor\nPriorityWeightJobSize=40\n"
		"PriorityWeightFairshare=9\n"), &err), 0);
	assert_false(opt.size_weight > 0 || opt.favours_small);
	assert_int_equal(sl_stock_read(&opt, write_file("b.conf", "SchedulerType=sched/builtin\nSchedulerParameters=xbf_interval=20,bf_window=no\n"),
				       &err), 0);
	assert_int_equal(opt.bf_interval_s, 30);
	assert_int_equal(opt.bf_window_s, 86400);
	assert_true(opt.builtin);
}

static struct sl_stock_options ages_and_sizes(void)
{
	struct sl_stock_options opt = sl_stock_defaults();

	opt.age_weight = 1000;
	opt.max_age_s = 3600;
	opt.size_weight = 10;
	return opt;
}

/* Simulated with ages of 1000 in an hour and sizes of 10; the starts of the dump's jobs but those that ran, in the order in which they are eligible. */
static void assert_starts_with(struct sl_stock_options stock_options, const char *machine, const char *dump, uint32_t ran,
			       const int64_t *start, uint32_t n)
{
	const struct sl_workload_options wopt = { .machine = machine, .as_it_was = true };
	struct sl_error err = { 0 };
	struct sl_workload *w = sl_workload_load(write_file("dump.txt", dump), &wopt, &err);
	struct sl_reality reality = { .workload = w, .stock = stock_options };
	struct sl_stock stock;
	struct sl_sim_options opt = { .keep_schedule = true, .before_pass = sl_reality_before_pass, .before_pass_arg = &reality,
				      .decide = sl_stock_decide, .decide_arg = &stock, .wake_at = &stock.wake_at };
	struct sl_reality_jobs jobs;
	struct sl_sim *sim;

	if (!w)
		fail_msg("%s", err.text);
	sl_reality_begin(&reality);
	stock = (struct sl_stock) { .opt = reality.stock };
	stock.opt.nodes = sl_reality_nodes;
	stock.opt.nodes_arg = &reality;
	assert_int_equal(sl_stock_open(&stock, &w->snap, &err), 0);
	sim = sl_sim_create(w, NULL, &opt, &err);
	if (!sim || sl_sim_run(sim, NULL, &err) || sl_reality_gather(&jobs, w, sim, &err))
		fail_msg("%s", err.text);
	assert_int_equal(jobs.ran, ran);
	assert_int_equal(jobs.jobs, n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(jobs.job[i].simulated_s, start[i]);
	free(jobs.job);
	sl_sim_destroy(sim);
	sl_stock_close(&stock);
	sl_workload_destroy(w);
}

static void assert_starts_on(const char *machine, const char *dump, uint32_t ran, const int64_t *start, uint32_t n)
{
	assert_starts_with(ages_and_sizes(), machine, dump, ran, start, n);
}

static void assert_starts_of_dump(const char *dump, const int64_t *start, uint32_t n)
{
	assert_starts_on("4x1c", dump, 1, start, n);
}

#define HEAD "JobIDRaw|Submit|Eligible|Start|ElapsedRaw|TimelimitRaw|State|ReqCPUS|Priority\n"	\
	"1|6000|6000|6000|100|60|COMPLETED|4|1\n2|9000|9000|9000|1000|60|COMPLETED|4|1\n"

/* Jobs 3 and 4 wait for job 2.  Of its recorded 1500 job 3 had 1000 by its age: 777 at 10000, when job 4 has 922. */
static void recorded_priorities_have_the_age_of_their_start_in_them(void **state)
{
	(void) state;
	assert_starts_of_dump(HEAD "3|9001|9001|12601|10|60|COMPLETED|4|1500\n4|9500|9500|11000|10|60|COMPLETED|4|1200\n",
			      (const int64_t[]) { 9000, 10010, 10000 }, 3);
}

/* Nobody who has waited for an hour has a priority of 5 with its age: so these are of submission, and job 3 has 282 at 10000. */
static void priorities_that_are_too_small_for_the_age_are_those_of_submission(void **state)
{
	(void) state;
	assert_starts_of_dump(HEAD "3|9001|9001|12601|10|60|COMPLETED|4|5\n4|9500|9500|11000|10|60|COMPLETED|4|50\n",
			      (const int64_t[]) { 9000, 10000, 10010 }, 3);
}

/* At 10000 job 3 has 258 and job 4 249, if ages were last computed at 9750, and 174 and 180, if they were at 9450. */
static void ages_count_from_when_they_are_computed(void **state)
{
	static const char dump[] = HEAD "3|9001|9001|12601|10|60|COMPLETED|4|50\n4|9500|9500|12700|10|60|COMPLETED|4|180\n";
	struct sl_stock_options opt = ages_and_sizes();

	(void) state;
	opt.calc_period_s = 600;
	opt.calc_phase_s = 150;
	assert_starts_with(opt, "4x1c", dump, 1, (const int64_t[]) { 9000, 10000, 10010 }, 3);
	opt.calc_phase_s = 450;
	assert_starts_with(opt, "4x1c", dump, 1, (const int64_t[]) { 9000, 10010, 10000 }, 3);
}

static void simulations_have_their_seconds_evenly(void **state)
{
	struct sl_stock_options opt = sl_stock_defaults();
	int64_t sum = 0;

	(void) state;
	opt.calc_period_s = 300;
	for (uint32_t i = 0; i < 30; i++) {
		sl_stock_phase(&opt, i, 30);
		assert_int_equal(opt.phase_s, i);
		assert_true(opt.calc_phase_s >= 0 && opt.calc_phase_s < 300 && (i || !opt.calc_phase_s));
		sum += opt.calc_phase_s;
	}
	assert_in_range(sum / 30, 135, 165);
}

/*
 * Job 3 has all four nodes, 10 of its priority, and job 4 three, 7.5, of which 7 are recorded.  With their ages these are 284 and 285
 * at 10000.
 */
static void what_a_size_adds_to_a_priority_is_not_rounded(void **state)
{
	(void) state;
	assert_starts_of_dump("JobIDRaw|Submit|Eligible|Start|ElapsedRaw|TimelimitRaw|State|ReqCPUS|NNodes|Priority\n"
		"1|6000|6000|6000|100|60|COMPLETED|4|4|1\n2|9000|9000|9000|1000|60|COMPLETED|4|4|1\n"
		"3|9000|9012|12601|10|60|COMPLETED|4|4|10\n4|9001|9001|12612|10|60|COMPLETED|3|3|7\n",
			      (const int64_t[]) { 9000, 10000, 10010 }, 3);
}

/* Job 3 was submitted before job 4, and has become eligible after it.  Both have a priority of 1000 at 10000. */
static void equal_priorities_are_taken_in_the_order_of_submission(void **state)
{
	(void) state;
	assert_starts_of_dump(HEAD "3|9001|9500|10010|10|60|COMPLETED|4|1003\n4|9400|9400|10000|10|60|COMPLETED|4|1000\n",
			      (const int64_t[]) { 9000, 10010, 10000 }, 3);
}

/* Job 4 comes first, but within three seconds of job 3. */
static void jobs_that_come_one_after_the_other_are_taken_together(void **state)
{
	(void) state;
	assert_starts_of_dump(HEAD "3|11000|11000|11000|100|60|COMPLETED|1|1000\n4|11001|11001|11013|10|60|COMPLETED|3|1000\n"
			      "5|11002|11002|11003|10|60|COMPLETED|3|2000\n", (const int64_t[]) { 9000, 11000, 11013, 11003 }, 4);
}

/*
 * Free are n1, n3, n5 and two cores of n6.  Select takes n5 first, since n5 and n6 are the set with the most cores, and then n1: so
 * n3 is left for job 6, which may have no other.
 */
static void the_number_of_nodes_binds_after_sets_are_compared(void **state)
{
	char conf[200];

	(void) state;
	strcpy(conf, write_file("slurm.conf", "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nNodeName=n[1-6] CPUs=3 CoresPerSocket=3\n"
		"PartitionName=all Nodes=n[1-6] Default=YES\nPartitionName=two Nodes=n2\nPartitionName=three Nodes=n3\n"
		"PartitionName=four Nodes=n4\nPartitionName=six Nodes=n6\n"));
	assert_starts_on(conf, "JobIDRaw|Submit|Eligible|Start|ElapsedRaw|TimelimitRaw|State|ReqCPUS|NNodes|Partition|Priority\n"
		"1|6000|6000|6000|100|60|COMPLETED|1|1|six|1\n2|6000|6000|6000|5000|99|COMPLETED|3|1|two|1\n"
		"3|6000|6000|6000|5000|99|COMPLETED|3|1|four|1\n4|6000|6000|6000|5000|99|COMPLETED|1|1|six|1\n"
		"5|7000|7000|7000|500|60|COMPLETED|6|2|all|1\n6|7001|7001|7003|10|60|COMPLETED|3|1|three|1\n", 4,
		(const int64_t[]) { 7000, 7003 }, 2);
}

/*
 * Jobs 2 and 3 start together, job 3 first for its priority, and end at 7080, within the window.  Select takes them in the order of
 * their numbers: 3 last, behind which it sees job 4's end beyond the window.  So job 5 is foreseen at 7080, and job 6 would delay it.
 */
static void jobs_that_end_in_the_same_second_are_taken_in_the_order_of_their_submission(void **state)
{
	char conf[200];

	(void) state;
	strcpy(conf, write_file("slurm.conf", "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nNodeName=n[1-2] CPUs=2 CoresPerSocket=2\n"
		"NodeName=n3 CPUs=1\nPartitionName=part Nodes=n[1-2] Default=YES\nPartitionName=rest Nodes=n3\n"));
	assert_starts_on(conf, "JobIDRaw|Submit|Eligible|Start|ElapsedRaw|TimelimitRaw|State|ReqCPUS|NNodes|Partition|Priority\n"
		"1|5000|5000|5000|10|1|COMPLETED|1|1|part|1\n2|6000|6000|6000|1080|18|COMPLETED|1|1|rest|1\n"
		"3|6000|6000|6000|1080|18|COMPLETED|1|1|part|5000\n4|6000|6000|6000|1200|20|COMPLETED|1|1|part|1\n"
		"5|6001|6001|7080|60|2|COMPLETED|3|2|part|2000\n6|6002|6002|7140|100|18|COMPLETED|1|1|part|1000\n", 1,
		(const int64_t[]) { 6000, 6000, 6000, 7080, 7140 }, 5);
}

/*
 * Jobs 4 and 5 end in the same second.  Select takes job 4 away with job 2, behind job 3 of another node, and sees job 5's end beyond its
 * window: so job 6 is foreseen on n1 and n3, and job 7 has n2.
 */
static void select_takes_jobs_away_one_by_one_in_a_second_too(void **state)
{
	char conf[200];

	(void) state;
	strcpy(conf, write_file("slurm.conf", "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nNodeName=n[1-4] CPUs=2 CoresPerSocket=2\n"
		"PartitionName=part Nodes=n[1-3] Default=YES\nPartitionName=one Nodes=n1\nPartitionName=two Nodes=n2\n"
		"PartitionName=three Nodes=n3\nPartitionName=rest Nodes=n4\n"));
	assert_starts_on(conf, "JobIDRaw|Submit|Eligible|Start|ElapsedRaw|TimelimitRaw|State|ReqCPUS|NNodes|Partition|Priority\n"
		"1|5000|5000|5000|10|1|COMPLETED|1|1|one|1\n2|6000|6000|6000|1020|17|COMPLETED|1|1|one|1\n"
		"3|6000|6000|6000|1080|18|COMPLETED|1|1|rest|1\n4|6000|6000|6000|1200|20|COMPLETED|1|1|three|1\n"
		"5|6000|6000|6000|1200|20|COMPLETED|1|1|two|1\n6|6001|6001|7200|60|2|COMPLETED|4|2|part|2000\n"
		"7|6002|6002|6030|3000|50|COMPLETED|1|1|two|1000\n", 1, (const int64_t[]) { 6000, 6000, 6000, 6000, 7200, 6030 }, 6);
}

/* Jobs 1 and 2 run when the dump begins, job 1 on the second node: so the first one is free at 6000. */
static void jobs_that_run_when_a_dump_begins_are_where_they_were(void **state)
{
	char conf[200];

	(void) state;
	strcpy(conf, write_file("slurm.conf", "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nNodeName=n[1-2] CPUs=1\n"
		"PartitionName=both Nodes=n[1-2] Default=YES\nPartitionName=one Nodes=n1\n"));
	assert_starts_on(conf, "JobIDRaw|Submit|Eligible|Start|ElapsedRaw|TimelimitRaw|State|ReqCPUS|NNodes|Partition|Priority|NodeList\n"
		"1|5000|5000|5000|5000|99|COMPLETED|1|1|both|1|n2\n2|5000|5000|5000|10|1|COMPLETED|1|1|both|1|n1\n"
		"3|6000|6000|6000|60|2|COMPLETED|1|1|one|1|n1\n", 2, (const int64_t[]) { 6000 }, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(backfill_comes_by_its_interval_and_starts_what_delays_nobody),
		cmocka_unit_test(backfill_sees_no_more_than_its_resolution),
		cmocka_unit_test(the_builtin_scheduler_starts_nothing_behind_one_that_waits),
		cmocka_unit_test(backfill_comes_in_step_as_long_as_jobs_wait),
		cmocka_unit_test(backfill_decides_anew_as_time_goes_by),
		cmocka_unit_test(backfill_comes_at_known_seconds),
		cmocka_unit_test(backfill_comes_at_once_where_nobody_has_waited),
		cmocka_unit_test(backfill_sees_jobs_that_come_as_the_main_scheduler_wakes_up),
		cmocka_unit_test(backfill_sees_jobs_that_end_as_the_main_scheduler_wakes_up),
		cmocka_unit_test(a_start_is_foreseen_where_a_group_of_jobs_has_ended),
		cmocka_unit_test(select_passes_over_the_end_of_its_window_behind_a_job_of_other_nodes),
		cmocka_unit_test(select_takes_jobs_away_one_by_one_in_a_second_too),
		cmocka_unit_test(jobs_that_end_in_the_same_second_are_taken_in_the_order_of_their_submission),
		cmocka_unit_test(jobs_that_run_when_a_dump_begins_are_where_they_were),
		cmocka_unit_test(jobs_beyond_the_depth_are_looked_at_once_a_minute),
		cmocka_unit_test(the_number_of_nodes_binds_after_sets_are_compared),
		cmocka_unit_test(jobs_that_come_one_after_the_other_are_taken_together),
		cmocka_unit_test(backfill_looks_at_no_more_jobs_than_it_is_told),
		cmocka_unit_test(reservations_of_backfill_are_of_whole_nodes),
		cmocka_unit_test(reservations_take_nodes_that_are_free_already_as_select_does),
		cmocka_unit_test(reservations_that_follow_each_other_are_one),
		cmocka_unit_test(beyond_its_window_backfill_reserves_nothing),
		cmocka_unit_test(a_job_that_waits_closes_the_partitions_whose_nodes_it_may_have),
		cmocka_unit_test(the_words_of_slurm_conf_are_read_and_else_slurms_defaults_hold),
		cmocka_unit_test(recorded_priorities_have_the_age_of_their_start_in_them),
		cmocka_unit_test(ages_count_from_when_they_are_computed),
		cmocka_unit_test(simulations_have_their_seconds_evenly),
		cmocka_unit_test(what_a_size_adds_to_a_priority_is_not_rounded),
		cmocka_unit_test(equal_priorities_are_taken_in_the_order_of_submission),
		cmocka_unit_test(priorities_that_are_too_small_for_the_age_are_those_of_submission),
	};

	return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
