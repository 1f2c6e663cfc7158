/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "t/build.h"
#include "workload/demand.h"
#include "image/json_out.h"
#include "report/interval.h"
#include "report/metrics.h"
#include "image/shapes.h"

/* 4 nodes of 8 cores and 2 GPUs; T is the first submission. */
#define T BUILD_NOW

static struct build *b;
static struct sl_metrics *m;

struct job {
	uint32_t id;
	const char *user;
	int64_t submit;		/* after T */
	uint32_t nodes, tasks, tasks_per_node, gpus;
};

static uint32_t add(struct job j)
{
	struct sl_job_row r = build_row(b, (struct build_job) {
		.id = j.id, .nodes = j.nodes, .tasks = j.tasks, .tasks_per_node = j.tasks_per_node, .gpus = j.gpus,
	});

	r.submit_time = T + j.submit;
	r.user = sl_builder_str(b->builder, j.user);
	return build_append(b, &r);
}

static void begin(const struct job *job, int n)
{
	b = build_create("4x8c2g");
	for (int i = 0; i < n; i++)
		add(job[i]);
	m = sl_metrics_create(build_open(b), NULL);
	assert_non_null(m);
}

static void end(void)
{
	sl_metrics_destroy(m);
	build_destroy(b);
}

/* Job row ran from start to end on the nodes whose bits are set, so many cores on each. */
static struct sl_ended ran(uint32_t job, int64_t start, int64_t end_s, uint32_t nodes, uint32_t cores, uint32_t gpus)
{
	struct sl_ended e = { .job = job, .start_s = T + start, .end_s = T + end_s };

	for (uint32_t n = 0; n < 32; n++)
		if (nodes & 1u << n)
			sl_ended_node(&e, n, cores, gpus);
	return e;
}

static void feed(uint32_t job, int64_t start, int64_t end_s, uint32_t nodes, uint32_t cores, uint32_t gpus)
{
	struct sl_ended e = ran(job, start, end_s, nodes, cores, gpus);
	struct sl_error err;

	if (sl_metrics_ended(m, &e, &err) < 0)
		fail_msg("%s", err.text);
}

static struct sl_result result(void)
{
	struct sl_result r;

	assert_int_equal(sl_metrics_result(m, &r, NULL), 0);
	return r;
}

#define NEAR(a, b) do {							\
	double a_ = (a), b_ = (b);					\
	if (!(fabs(a_ - b_) <= 1e-9 * fmax(1, fabs(b_))))		\
		fail_msg("%s is %.12g, expected %.12g", #a, a_, b_);	\
} while (0)

/* Three jobs that the tests below share:
 *	1: ann, at 0, 16 cores, runs 0 .. 100 on nodes 0, 1
 *	2: bob, at 0, 8 cores, runs 100 .. 150 on nodes 0, 2 (4 cores each)
 *	3: ann, at 50, 1 core, runs 60 .. 64 on node 3 */
static void three_jobs(void)
{
	static const struct job jobs[] = {
		{ .id = 1, .user = "ann", .tasks = 16 }, { .id = 2, .user = "bob", .tasks = 8 },
		{ .id = 3, .user = "ann", .submit = 50, .tasks = 1 },
	};

	begin(jobs, 3);
	feed(0, 0, 100, 0x3, 8, 0);
	feed(2, 60, 64, 0x8, 1, 0);
	feed(1, 100, 150, 0x5, 4, 0);
}

static void utilization_is_work_by_machine_and_makespan(void **state)
{
	struct sl_result r;

	(void) state;
	three_jobs();
	r = result();
	assert_int_equal(r.jobs, 3);
	assert_int_equal(r.unfinished, 0);
	assert_int_equal(r.cores, 32);
	assert_int_equal(r.nodes, 4);
	assert_int_equal(r.makespan_s, 150);
	assert_int_equal(r.first_submit_s, T);
	assert_int_equal(r.last_end_s, T + 150);
	NEAR(r.utilization, (16 * 100 + 8 * 50 + 1 * 4) / (32.0 * 150));
	NEAR(r.held_utilization, r.utilization);
	NEAR(r.gpu_utilization, 0);
	end();
}

static void a_job_that_ran_as_an_alternative_counts_as_that(void **state)
{
	struct sl_error err = { 0 };
	struct sl_job_row row;
	struct sl_ended e;
	struct sl_result r;

	(void) state;
	b = build_create("4x8c2g");
	row = build_row(b, (struct build_job) { .id = 1, .tasks = 32 });
	row.submit_time = T;
	row.comment = sl_builder_str(b->builder, "sched: -N2 --ntasks-per-node=2");
	build_append(b, &row);
	sl_shapes_fill(b->builder);
	m = sl_metrics_create(build_open(b), NULL);
	assert_non_null(m);
	e = ran(0, 0, 100, 0x3, 2, 0);
	e.shape = 2;
	assert_int_equal(sl_metrics_ended(m, &e, &err), -1);
	assert_string_equal(err.text, "job 1 has no alternative 2");
	e.shape = 1;
	assert_int_equal(sl_metrics_ended(m, &e, &err), 0);
	r = result();
	NEAR(r.utilization, 4 / 32.0);
	NEAR(r.packing.mean, 1);
	end();
}

static void waits_have_mean_deviation_maximum_and_percentiles(void **state)
{
	struct sl_result r;

	(void) state;
	three_jobs();		/* waits 0, 100, 10 */
	r = result();
	NEAR(r.wait_s.mean, 110 / 3.0);
	NEAR(r.wait_s.sd, sqrt((110 / 3.0 * 110 / 3 + 190 / 3.0 * 190 / 3 + 80 / 3.0 * 80 / 3) / 3));
	NEAR(r.wait_s.max, 100);
	NEAR(r.wait_median_s, 10);
	NEAR(r.wait_p99_s, 100);
	end();
}

static void slowdown_is_turnaround_by_runtime_and_bounded_for_short_jobs(void **state)
{
	struct sl_result r;

	(void) state;
	three_jobs();		/* (0 + 100) / 100, (100 + 50) / 50, (10 + 4) / 4; bounded: 14 / 10 */
	r = result();
	NEAR(r.slowdown.mean, (1 + 3 + 3.5) / 3);
	NEAR(r.slowdown.max, 3.5);
	NEAR(r.bsld.mean, (1 + 3 + 1.4) / 3);
	NEAR(r.bsld.max, 3);
	end();
}

static void a_short_job_that_did_not_wait_has_bounded_slowdown_one(void **state)
{
	struct job one = { .id = 1, .user = "ann", .tasks = 1 };

	(void) state;
	begin(&one, 1);
	feed(0, 2, 5, 0x1, 1, 0);
	NEAR(result().bsld.mean, 1);		/* 5 s / 10 s */
	NEAR(result().slowdown.mean, 5 / 3.0);
	end();
}

static void placement_has_blocks_spread_and_packing(void **state)
{
	struct sl_result r;

	(void) state;
	three_jobs();		/* nodes 0-1; 0 and 2; 3 */
	r = result();
	NEAR(r.fragmentation.mean, (1 + 2 + 1) / 3.0);
	NEAR(r.spread.mean, (1 + 3 / 2.0 + 1) / 3);
	NEAR(r.packing.mean, (1 + 2 + 1) / 3.0);	/* job 2 would fit on one node */
	NEAR(r.packing.max, 2);
	end();
}

static void gpus_count_as_held(void **state)
{
	static const struct job jobs[] = { { .id = 1, .user = "ann", .nodes = 2, .tasks_per_node = 1, .gpus = 2 } };
	struct sl_result r;

	(void) state;
	begin(jobs, 1);
	feed(0, 0, 60, 0x6, 1, 2);
	r = result();
	assert_int_equal(r.gpus, 8);
	NEAR(r.gpu_utilization, 4 * 60 / (8.0 * 60));
	NEAR(r.utilization, 2 * 60 / (32.0 * 60));
	end();
}

static void cores_that_a_job_holds_beyond_its_request_are_told_apart(void **state)
{
	static const struct job jobs[] = { { .id = 1, .user = "ann", .tasks = 3 } };
	struct sl_result r;

	(void) state;
	begin(jobs, 1);
	feed(0, 0, 60, 0x1, 8, 0);
	r = result();
	NEAR(r.utilization, 3 / 32.0);
	NEAR(r.held_utilization, 8 / 32.0);
	end();
}

static void users_have_means_a_gini_coefficient_and_their_first_job(void **state)
{
	const struct sl_user_result *u;
	struct sl_result r;
	uint32_t n;

	(void) state;
	three_jobs();		/* ann waits 0 and 10, bob 100 */
	r = result();
	assert_int_equal(r.users, 2);
	NEAR(r.user_wait_mean_s, (5 + 100) / 2.0);
	NEAR(r.user_wait_gini, (-1 * 5 + 1 * 100) / (2 * 105.0));
	NEAR(r.first_wait_mean_s, (0 + 100) / 2.0);
	assert_int_equal(sl_metrics_users(m, &u, &n, NULL), 0);
	assert_int_equal(n, 2);
	assert_string_equal(u[0].user, "ann");	/* 1604 core-seconds before 400 */
	assert_int_equal(u[0].jobs, 2);
	NEAR(u[0].wait_mean_s, 5);
	NEAR(u[0].wait_max_s, 10);
	NEAR(u[0].first_wait_s, 0);
	NEAR(u[0].core_s, 1604);
	NEAR(u[0].slowdown_mean, (1 + 3.5) / 2);
	NEAR(u[1].first_wait_s, 100);
	NEAR(u[1].bsld_mean, 3);
	end();
}

static void the_first_job_is_the_one_submitted_first_not_the_one_that_ended_first(void **state)
{
	static const struct job jobs[] = {
		{ .id = 1, .user = "ann", .tasks = 1 }, { .id = 2, .user = "ann", .submit = 1, .tasks = 1 },
		{ .id = 3, .user = "ann", .submit = 0, .tasks = 1 },
	};

	(void) state;
	begin(jobs, 3);
	feed(1, 2, 5, 1, 1, 0);
	feed(2, 3, 6, 1, 1, 0);
	NEAR(result().first_wait_mean_s, 3);
	feed(0, 70, 80, 1, 1, 0);	/* of two submitted together, the first row */
	NEAR(result().first_wait_mean_s, 70);
	end();
}

static void jobs_are_classed_by_cores_and_runtime(void **state)
{
	struct sl_result r;

	(void) state;
	three_jobs();
	r = result();
	assert_int_equal(r.class[2][1].jobs, 1);	/* 16 cores: 8 .. 31; 100 s: 60 .. 599 */
	assert_int_equal(r.class[2][0].jobs, 1);	/* 8 cores, 50 s */
	assert_int_equal(r.class[0][0].jobs, 1);	/* 1 core, 4 s */
	NEAR(r.class[2][0].wait_mean_s, 100);
	NEAR(r.class[2][0].wait_max_s, 100);
	NEAR(r.class[2][0].slowdown_mean, 3);
	NEAR(r.class[0][0].bsld_mean, 1.4);
	NEAR(r.class[2][1].core_s, 1600);
	end();
}

static void percentiles_are_by_nearest_rank(void **state)
{
	struct sl_result r;

	(void) state;
	b = build_create("4x8c");
	for (uint32_t i = 0; i < 200; i++)
		add((struct job) { .id = i + 1, .user = "ann", .tasks = 1 });
	m = sl_metrics_create(build_open(b), NULL);
	for (uint32_t i = 0; i < 200; i++)
		feed(i, (i * 67 + 13) % 200 + 1, 500, 1, 1, 0);	/* 1 .. 200 in some order */
	r = result();
	NEAR(r.wait_median_s, 100);
	NEAR(r.wait_p99_s, 198);
	NEAR(r.wait_s.mean, 100.5);
	NEAR(r.wait_s.sd, sqrt((200.0 * 200 - 1) / 12));
	end();
}

static void equal_waits_have_gini_zero_and_one_waiting_user_nearly_one(void **state)
{
	static const struct job jobs[] = {
		{ .id = 1, .user = "a", .tasks = 1 }, { .id = 2, .user = "b", .tasks = 1 },
		{ .id = 3, .user = "c", .tasks = 1 }, { .id = 4, .user = "d", .tasks = 1 },
	};

	(void) state;
	begin(jobs, 4);
	for (uint32_t i = 0; i < 4; i++)
		feed(i, 30, 60, 1, 1, 0);
	NEAR(result().user_wait_gini, 0);
	end();
	begin(jobs, 4);
	for (uint32_t i = 0; i < 4; i++)
		feed(i, i == 2 ? 30 : 0, 60, 1, 1, 0);
	NEAR(result().user_wait_gini, 0.75);	/* (n - 1) / n */
	end();
	begin(jobs, 4);
	for (uint32_t i = 0; i < 4; i++)
		feed(i, 0, 60, 1, 1, 0);
	NEAR(result().user_wait_gini, 0);	/* nobody waits */
	end();
}

static void what_cannot_have_happened_is_refused_and_changes_nothing(void **state)
{
	struct sl_ended twice, early, nowhere, unknown;
	struct sl_error err;
	struct sl_result before, after;

	(void) state;
	three_jobs();
	before = result();
	twice = ran(0, 0, 100, 0x3, 8, 0);
	assert_int_equal(sl_metrics_ended(m, &twice, &err), -1);
	assert_string_equal(err.text, "job 1 ended twice");
	end();
	begin((struct job[]) { { .id = 9, .user = "ann", .submit = 50, .tasks = 1 } }, 1);
	before = result();
	early = ran(0, 49, 100, 0x1, 1, 0);
	assert_int_equal(sl_metrics_ended(m, &early, &err), -1);
	assert_non_null(strstr(err.text, "job 9: submitted at"));
	nowhere = ran(0, 60, 100, 0, 1, 0);
	assert_int_equal(sl_metrics_ended(m, &nowhere, NULL), -1);
	unknown = ran(1, 60, 100, 0x1, 1, 0);
	assert_int_equal(sl_metrics_ended(m, &unknown, NULL), -1);
	after = result();
	assert_memory_equal(&before, &after, sizeof(before));
	assert_int_equal(after.unfinished, 1);
	end();
}

static void no_jobs_make_no_figures_and_no_trouble(void **state)
{
	struct sl_result r;
	const struct sl_user_result *u;
	uint32_t n;

	(void) state;
	begin(NULL, 0);
	r = result();
	NEAR(r.utilization, 0);
	NEAR(r.wait_s.mean, 0);
	NEAR(r.user_wait_gini, 0);
	assert_int_equal(sl_metrics_users(m, &u, &n, NULL), 0);
	assert_int_equal(n, 0);
	end();
}

static void cycles_have_percentiles_within_a_hundredth(void **state)
{
	struct sl_result r;

	(void) state;
	begin(NULL, 0);
	for (int i = 1; i <= 1000; i++)
		sl_metrics_cycle(m, i);
	sl_metrics_cycle(m, 0);
	sl_metrics_cycle(m, 1e12);
	r = result();
	assert_int_equal(r.cycles, 1002);
	assert_true(fabs(r.cycle_us_p50 - 500) < 6);
	assert_true(fabs(r.cycle_us_p99 - 991) < 11);
	NEAR(r.cycle_us_max, 1e12);
	end();
}

static void many_users_are_told_apart(void **state)
{
	const struct sl_user_result *u;
	uint32_t n;

	(void) state;
	b = build_create("4x8c");
	for (uint32_t i = 0; i < 5000; i++) {
		char name[16];

		snprintf(name, sizeof(name), "u%u", i % 2500);
		add((struct job) { .id = i + 1, .user = name, .tasks = 1 });
	}
	m = sl_metrics_create(build_open(b), NULL);
	for (uint32_t i = 0; i < 5000; i++)
		feed(i, i % 2500, 5000, 1, 1, 0);
	assert_int_equal(result().users, 2500);
	assert_int_equal(sl_metrics_users(m, &u, &n, NULL), 0);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(u[i].jobs, 2);
		NEAR(u[i].wait_mean_s, atoi(u[i].user + 1));
	}
	end();
}

static void json_has_the_documented_keys(void **state)
{
	static const char *const keys[] = {
		"jobs", "makespan_s", "utilization", "wait_mean_s", "wait_sd_s", "wait_max_s", "slowdown_mean",
		"slowdown_sd", "bsld_mean", "fragmentation_mean", "spread_mean", "packing_mean", "gpu_utilization",
		"cycles", "asked", "cycle_us", "sim_wall_s", "sim_cpu_s", "wait_p99_s", "user_wait_gini", "first_job_wait_mean_s", "classes",
	};
	struct sl_json *j = sl_json_create(NULL, NULL);
	struct sl_result r;
	const char *text;
	size_t size;
	char quoted[64];

	(void) state;
	three_jobs();
	r = result();
	sl_json_begin_object(j);
	sl_result_json(j, &r, true);
	sl_json_end_object(j);
	assert_int_equal(sl_json_finish(j, &text, &size, NULL), 0);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		snprintf(quoted, sizeof(quoted), "\"%s\":", keys[i]);
		if (!strstr(text, quoted))
			fail_msg("no %s in %s", keys[i], text);
	}
	sl_json_reset(j);
	sl_json_begin_object(j);
	sl_result_json(j, &r, false);
	sl_json_end_object(j);
	assert_int_equal(sl_json_finish(j, &text, &size, NULL), 0);
	assert_null(strstr(text, "wall"));
	assert_null(strstr(text, "cycle_us"));
	sl_json_destroy(j);
	end();
}

/* -- demand ------------------------------------------------------------------------ */

static struct sl_demand demand(const char *machine, struct build_job job)
{
	struct build *c = build_create(machine);
	struct sl_machine machine_kinds;
	struct sl_demand d;
	uint32_t row;

	job.id = 1;
	row = build_pending(c, job);
	assert_int_equal(sl_machine_open(&machine_kinds, build_open(c), NULL), 0);
	sl_job_demand(&machine_kinds, row, &d);
	sl_machine_close(&machine_kinds);
	build_destroy(c);
	return d;
}

#define DEMAND(machine, ...) demand(machine, (struct build_job) { __VA_ARGS__ })

static void a_job_needs_the_fewest_nodes_that_hold_it(void **state)
{
	(void) state;
	assert_int_equal(DEMAND("4x8c", .tasks = 17).nodes, 3);
	assert_int_equal(DEMAND("4x8c", .tasks = 32).nodes, 4);
	assert_int_equal(DEMAND("4x8c", .tasks = 33).nodes, SL_NONE);
	assert_int_equal(DEMAND("4x8c+1x64c", .tasks = 33).nodes, 1);
	assert_int_equal(DEMAND("4x8c+1x64c", .tasks = 73).nodes, 3);
	assert_int_equal(DEMAND("4x8c", .tasks = 5, .cpus_per_task = 3).nodes, 3);	/* two tasks a node */
	assert_int_equal(DEMAND("4x8c", .tasks = 5, .cpus_per_task = 3).cores, 15);
	assert_int_equal(DEMAND("4x8c", .tasks = 1, .cpus_per_task = 9).nodes, SL_NONE);
	assert_int_equal(DEMAND("4x8c", .nodes = 3).nodes, 3);
	assert_int_equal(DEMAND("4x8c", .nodes = 5).nodes, SL_NONE);
	assert_int_equal(DEMAND("4x8c", .tasks = 8, .tasks_per_node = 2, .nodes = 4).nodes, 4);
	assert_int_equal(DEMAND("4x8c", .tasks = 8, .tasks_per_node = 2, .nodes = 4).node_cores, 2);
	assert_int_equal(DEMAND("4x8c2t", .tasks = 17).cores, 9);	/* two tasks share a core */
	assert_int_equal(DEMAND("4x8c2t", .tasks = 17).nodes, 2);
}

static void gpus_and_memory_limit_where_a_job_can_be(void **state)
{
	struct sl_demand d = DEMAND("4x8c+4x4c2g", .tasks = 10, .gpus = 1);

	(void) state;
	assert_int_equal(d.nodes, 3);
	assert_int_equal(d.gpus, 3);
	assert_int_equal(d.node_gpus, 1);
	assert_int_equal(DEMAND("4x8c2g", .tasks = 1, .gpus = 3).nodes, SL_NONE);
	assert_int_equal(DEMAND("4x8c", .tasks = 1, .gpus = 1).nodes, SL_NONE);
}

static void a_mean_of_few_samples_is_known_less_well(void **state)
{
	/* from the tables */
	static const struct { unsigned freedom; double t; } known[] = {
		{ 1, 12.7062 }, { 2, 4.3027 }, { 5, 2.5706 }, { 6, 2.4469 }, { 9, 2.2622 }, { 30, 2.0423 }, { 1000, 1.9623 },
	};

	(void) state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		assert_true(fabs(sl_student95(known[i].freedom) - known[i].t) < 0.0005);
	assert_true(isnan(sl_student95(0)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mean_of_few_samples_is_known_less_well),
		cmocka_unit_test(utilization_is_work_by_machine_and_makespan),
		cmocka_unit_test(a_job_that_ran_as_an_alternative_counts_as_that),
		cmocka_unit_test(waits_have_mean_deviation_maximum_and_percentiles),
		cmocka_unit_test(slowdown_is_turnaround_by_runtime_and_bounded_for_short_jobs),
		cmocka_unit_test(a_short_job_that_did_not_wait_has_bounded_slowdown_one),
		cmocka_unit_test(placement_has_blocks_spread_and_packing),
		cmocka_unit_test(gpus_count_as_held),
		cmocka_unit_test(cores_that_a_job_holds_beyond_its_request_are_told_apart),
		cmocka_unit_test(users_have_means_a_gini_coefficient_and_their_first_job),
		cmocka_unit_test(the_first_job_is_the_one_submitted_first_not_the_one_that_ended_first),
		cmocka_unit_test(jobs_are_classed_by_cores_and_runtime),
		cmocka_unit_test(percentiles_are_by_nearest_rank),
		cmocka_unit_test(equal_waits_have_gini_zero_and_one_waiting_user_nearly_one),
		cmocka_unit_test(what_cannot_have_happened_is_refused_and_changes_nothing),
		cmocka_unit_test(no_jobs_make_no_figures_and_no_trouble),
		cmocka_unit_test(cycles_have_percentiles_within_a_hundredth),
		cmocka_unit_test(many_users_are_told_apart),
		cmocka_unit_test(json_has_the_documented_keys),
		cmocka_unit_test(a_job_needs_the_fewest_nodes_that_hold_it),
		cmocka_unit_test(gpus_and_memory_limit_where_a_job_can_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
