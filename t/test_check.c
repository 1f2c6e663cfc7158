/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "build.h"
#include "check.h"

/* -- plans by hand ------------------------------------------------------- */

static struct sl_range place(struct built_plan *p, uint32_t node, uint32_t cores, int64_t memory, uint32_t gpus)
{
	struct sl_plan_place_row row = { .node = node, .cores = cores, .memory = memory };
	struct sl_plan_place_gres_row gres = { .kind = 0, .count = gpus };

	if (gpus)
		row.gres = (struct sl_range) { sl_builder_append(p->builder, SL_P_PLACE_GRES, &gres), 1 };
	return (struct sl_range) { sl_builder_append(p->builder, SL_P_PLACE, &row), 1 };
}

/* The same on nodes first..last. */
static struct sl_range places(struct built_plan *p, uint32_t first, uint32_t last, uint32_t cores)
{
	struct sl_range r = place(p, first, cores, 0, 0);

	for (uint32_t n = first + 1; n <= last; n++, r.count++)
		place(p, n, cores, 0, 0);
	return r;
}

static struct sl_plan_start_row start_row(uint32_t job, struct sl_range places)
{
	struct sl_plan_start_row row = sl_plan_start_row();

	row.job = job;
	row.stamp = job + 1000;
	row.partition = 0;
	row.places = places;
	return row;
}

static void start(struct built_plan *p, uint32_t job, struct sl_range places)
{
	struct sl_plan_start_row row = start_row(job, places);

	sl_builder_append(p->builder, SL_P_START, &row);
}

static void reserve(struct built_plan *p, uint32_t job, int64_t in, struct sl_range places)
{
	struct sl_plan_reserve_row row = sl_plan_reserve_row();

	row.job = job;
	row.start_time = BUILD_NOW + in;
	row.partition = 0;
	row.places = places;
	sl_builder_append(p->builder, SL_P_RESERVE, &row);
}

/* The plan is refused and the message has these words; NULL: it is not. */
static void expect(struct build *b, struct built_plan *p, const char *words)
{
	struct sl_error err = { 0 };
	const struct sl_snapshot *snap = build_open(b);
	int rc = sl_check_plan(snap, build_plan_open(p), &err);

	if (!words && rc)
		fail_msg("refused: %s", err.text);
	if (words && !rc)
		fail_msg("not refused (%s)", words);
	if (words && !strstr(err.text, words))
		fail_msg("\"%s\" has no \"%s\"", err.text, words);
	build_plan_destroy(p);
}

/* One job 2 on a machine of four nodes of eight cores and two GPUs. */
static struct build *one(struct build_job j)
{
	struct build *b = build_create("4x8c2g");

	j.id = 2;
	build_pending(b, j);
	return b;
}

#define EXPECT_START(b, places_, words) do {				\
	struct built_plan *p_ = build_plan(b);				\
	start(p_, 2, places_);						\
	expect(b, p_, words);						\
} while (0)

/* -- the plan and the snapshot ------------------------------------------- */

static void a_feasible_plan_passes(void **state)
{
	struct build *b = build_create("4x8c2g");
	struct built_plan *p;

	(void) state;
	build_running(b, (struct build_job) { .id = 1, .nodes = 3, .exclusive = true, .ends_in = 3600 });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 4, .limit = 3600, .exclusive = true });
	build_pending(b, (struct build_job) { .id = 3, .nodes = 1, .limit = 1800 });
	build_open(b);
	p = build_plan(b);
	reserve(p, 2, 3600, places(p, 0, 3, 8));
	start(p, 3, place(p, 3, 1, 0, 0));
	expect(b, p, NULL);
	p = build_plan(b);
	expect(b, p, NULL);
	build_destroy(b);
}

static void a_plan_for_another_snapshot_is_refused(void **state)
{
	struct build *b = one((struct build_job) { 0 });
	struct built_plan *p = build_plan(b);

	(void) state;
	b->meta.sequence++;
	expect(b, p, "snapshot 7");
	build_destroy(b);
}

static void a_job_that_changed_is_refused(void **state)
{
	struct build *b = one((struct build_job) { 0 });
	struct built_plan *p = build_plan(b);
	struct sl_plan_start_row row = start_row(2, place(p, 0, 1, 0, 0));

	(void) state;
	row.stamp++;
	sl_builder_append(p->builder, SL_P_START, &row);
	expect(b, p, "job 2: has stamp 1003");
	build_destroy(b);
}

static void a_job_that_is_unknown_or_not_queued_there_is_refused(void **state)
{
	struct build *b = one((struct build_job) { 0 });
	struct built_plan *p = build_plan(b);
	struct sl_plan_start_row row;

	(void) state;
	build_partition(b, "other", 0, 3);
	build_running(b, (struct build_job) { .id = 9, .cores = 1, .ends_in = 60 });
	start(p, 3, place(p, 0, 1, 0, 0));
	expect(b, p, "job 3: is not in the snapshot");
	p = build_plan(b);
	row = start_row(2, place(p, 0, 1, 0, 0));
	row.partition = 1;
	sl_builder_append(p->builder, SL_P_START, &row);
	expect(b, p, "job 2: is not queued in partition other");
	p = build_plan(b);
	start(p, 9, place(p, 0, 1, 0, 0));
	expect(b, p, "job 9: is not queued");
	p = build_plan(b);
	row.partition = 7;
	row.places = place(p, 0, 1, 0, 0);
	sl_builder_append(p->builder, SL_P_START, &row);
	expect(b, p, "no partition row 7");
	build_destroy(b);
}

static void a_partition_that_is_down_is_refused(void **state)
{
	struct build *b = one((struct build_job) { 0 });

	(void) state;
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .flags = 0);
	EXPECT_START(b, place(p_, 0, 1, 0, 0), "job 2: partition batch is down");
	build_destroy(b);
}

static void a_job_planned_twice_is_refused(void **state)
{
	struct build *b = one((struct build_job) { .limit = 60 });
	struct built_plan *p = build_plan(b);

	(void) state;
	start(p, 2, place(p, 0, 1, 0, 0));
	start(p, 2, place(p, 1, 1, 0, 0));
	expect(b, p, "job 2: is planned 2 times, it stands for 1 task");
	p = build_plan(b);
	start(p, 2, place(p, 0, 1, 0, 0));
	reserve(p, 2, 60, place(p, 1, 1, 0, 0));
	expect(b, p, "job 2: is planned 2 times");
	build_destroy(b);
}

static struct build *array(uint32_t pending, uint32_t throttle)
{
	struct build *b = build_create("4x8c");
	struct sl_job_row r = build_row(b, (struct build_job) { .id = 2, .limit = 60 });

	r.array_job_id = 2;
	r.array_pending = pending;
	r.array_max_running = throttle;
	build_append(b, &r);
	return b;
}

static void an_array_record_starts_as_many_tasks_as_it_has(void **state)
{
	struct build *b = array(3, 0);
	struct built_plan *p = build_plan(b);

	(void) state;
	for (uint32_t n = 0; n < 3; n++)
		start(p, 2, place(p, n, 1, 0, 0));
	expect(b, p, NULL);
	p = build_plan(b);
	for (uint32_t n = 0; n < 4; n++)
		start(p, 2, place(p, n, 1, 0, 0));
	expect(b, p, "job 2: is planned 4 times, it stands for 3 tasks");
	p = build_plan(b);
	reserve(p, 2, 60, place(p, 0, 1, 0, 0));
	reserve(p, 2, 90, place(p, 0, 1, 0, 0));
	expect(b, p, "job 2: is reserved twice");
	build_destroy(b);
}

static void an_array_throttle_counts_running_tasks_too(void **state)
{
	struct build *b = array(3, 2);
	struct built_plan *p = build_plan(b);
	uint32_t row = build_running(b, (struct build_job) { .id = 8, .cores = 1, .ends_in = 60 });

	(void) state;
	start(p, 2, place(p, 0, 1, 0, 0));
	build_change(b, SL_T_JOB, row, sl_job_row, .array_job_id = 2);
	expect(b, p, NULL);
	p = build_plan(b);
	start(p, 2, place(p, 0, 1, 0, 0));
	start(p, 2, place(p, 1, 1, 0, 0));
	expect(b, p, "3 tasks of array 2 would run, 2 may");
	build_destroy(b);
}

static void what_is_said_about_jobs_must_be_about_jobs(void **state)
{
	struct build *b = one((struct build_job) { 0 });
	struct built_plan *p = build_plan(b);
	struct sl_plan_pending_row pending = { .job = 5, .why = SL_WHY_RESOURCES };
	struct sl_plan_action_row action = { .verb = SL_DO_CANCEL, .job = 2, .stamp = 1 };

	(void) state;
	sl_builder_append(p->builder, SL_P_PENDING, &pending);
	expect(b, p, "job 5: stays pending");
	p = build_plan(b);
	pending.job = 2;
	sl_builder_append(p->builder, SL_P_PENDING, &pending);
	start(p, 2, place(p, 0, 1, 0, 0));
	expect(b, p, "job 2: is started and stays pending");
	p = build_plan(b);
	sl_builder_append(p->builder, SL_P_ACTION, &action);
	expect(b, p, "job 2: is to be changed (cancel)");
	build_destroy(b);
}

static void a_part_of_a_heterogeneous_job_is_refused(void **state)
{
	struct build *b = one((struct build_job) { 0 });

	(void) state;
	build_change(b, SL_T_JOB, 0, sl_job_row, .het_job_id = 2);
	EXPECT_START(b, place(p_, 0, 1, 0, 0), "heterogeneous");
	build_destroy(b);
}

/* -- nodes --------------------------------------------------------------- */

static void places_must_be_nodes_in_order(void **state)
{
	struct build *b = one((struct build_job) { .nodes = 2 });
	struct built_plan *p = build_plan(b);
	struct sl_range r = place(p, 2, 1, 0, 0);

	(void) state;
	place(p, 1, 1, 0, 0);
	r.count = 2;
	start(p, 2, r);
	expect(b, p, "job 2: node n1 comes twice or out of order");
	EXPECT_START(b, place(p_, 4, 1, 0, 0), "no node row 4");
	build_destroy(b);
}

static void a_dead_node_is_refused(void **state)
{
	struct build *b = one((struct build_job) { 0 });

	(void) state;
	build_change(b, SL_T_NODE, 1, sl_node_row, .state = SL_NODE_DOWN);
	build_change(b, SL_T_NODE, 2, sl_node_row, .state = SL_NODE_DRAIN);
	build_change(b, SL_T_NODE, 3, sl_node_row, .state = SL_NODE_COMPLETING);
	EXPECT_START(b, place(p_, 1, 1, 0, 0), "job 2: node n1 is down");
	EXPECT_START(b, place(p_, 2, 1, 0, 0), "job 2: node n2 is drained");
	EXPECT_START(b, place(p_, 3, 1, 0, 0), "job 2: node n3 is completing");
	EXPECT_START(b, place(p_, 0, 1, 0, 0), NULL);
	build_destroy(b);
}

static void a_completing_node_takes_reservations(void **state)
{
	struct build *b = one((struct build_job) { 0 });
	struct built_plan *p = build_plan(b);

	(void) state;
	build_change(b, SL_T_NODE, 3, sl_node_row, .state = SL_NODE_COMPLETING);
	reserve(p, 2, SL_OVERDUE_S, place(p, 3, 1, 0, 0));
	expect(b, p, NULL);
	build_destroy(b);
}

static void a_node_outside_the_partition_is_refused(void **state)
{
	struct build *b = build_create("4x8c");
	uint32_t p = build_partition(b, "half", 0, 1);
	struct built_plan *plan;
	struct sl_plan_start_row row;

	(void) state;
	build_pending(b, (struct build_job) { .id = 2, .partition = p });
	plan = build_plan(b);
	row = start_row(2, place(plan, 2, 1, 0, 0));
	row.partition = p;
	sl_builder_append(plan->builder, SL_P_START, &row);
	expect(b, plan, "job 2: node n2 is not in partition half");
	build_destroy(b);
}

/* A job of two nodes of partition home, nodes 0 and 1, on node 1 of it and 2 of gpu, nodes
 * 2 and 3, through batch, which has all. */
static struct build *borrower(void)
{
	struct build *b = build_create("4x8c");
	uint32_t home = build_partition(b, "home", 0, 1), gpu = build_partition(b, "gpu", 2, 3);

	(void) gpu;
	build_pending(b, (struct build_job) { .id = 2, .nodes = 2, .limit = 3600, .exclusive = true, .partition = home });
	return b;
}

static struct built_plan *borrowing(struct build *b, uint32_t through, bool lends)
{
	struct built_plan *p = build_plan(b);
	struct sl_plan_lender_row lender = { .partition = 2 };
	struct sl_plan_start_row row = start_row(2, places(p, 1, 2, 8));

	row.partition = 1;
	row.through = through;
	if (lends)
		row.lenders = (struct sl_range) { sl_builder_append(p->builder, SL_P_LENDER, &lender), 1 };
	sl_builder_append(p->builder, SL_P_START, &row);
	return p;
}

static void a_job_may_have_nodes_that_are_lent_to_it(void **state)
{
	struct build *b = borrower();

	(void) state;
	expect(b, borrowing(b, 0, true), NULL);
	expect(b, borrowing(b, 0, false), "job 2: node n2 is not in partition home");
	expect(b, borrowing(b, SL_NONE, true), "has lenders, and no partition to borrow through");
	expect(b, borrowing(b, SL_NONE, false), "job 2: node n2 is not in partition home");
	expect(b, borrowing(b, 2, true), "job 2: node n1 is not in partition home");
	expect(b, borrowing(b, 1, true), "asks for the partition that it borrows through");
	expect(b, borrowing(b, 7, true), "partition row 7, which does not exist");
	build_destroy(b);
}

#define EXPECT_LOAN(row_, words, ...) do {				\
	struct build *b_ = borrower();					\
	build_change(b_, SL_T_PARTITION, row_, sl_partition_row, __VA_ARGS__);	\
	expect(b_, borrowing(b_, 0, true), words);			\
	build_destroy(b_);						\
} while (0)

static void what_lends_nodes_keeps_its_limits(void **state)
{
	(void) state;
	EXPECT_LOAN(2, NULL, .max_time = 3600);
	EXPECT_LOAN(2, "partition gpu, which its MaxTime forbids", .max_time = 3599);
	EXPECT_LOAN(0, "partition batch, which its MaxTime forbids", .max_time = 3599);
	EXPECT_LOAN(2, "its MaxNodes forbids", .max_nodes = 1);
	EXPECT_LOAN(2, "its MinNodes forbids", .min_nodes = 3);
	EXPECT_LOAN(2, "its MaxCPUsPerNode forbids", .max_cpus_per_node = 8);
	EXPECT_LOAN(1, "its partition has MaxCPUsPerNode", .max_cpus_per_node = 8);
	EXPECT_LOAN(2, "how it shares nodes forbids", .oversubscribe = 0);
	EXPECT_LOAN(2, "its state forbids", .flags = 0);
	EXPECT_LOAN(2, "its AllowAccounts forbids", .allow_accounts = sl_builder_str(b_->builder, "a,b"));
	EXPECT_LOAN(2, "its AllowQos forbids", .allow_qos = sl_builder_str(b_->builder, "high"));
	EXPECT_LOAN(2, "its AllowGroups forbids", .allow_users = sl_builder_str(b_->builder, "11,12"));
	EXPECT_LOAN(2, "RootOnly forbids", .flags |= SL_PART_ROOT_ONLY);
	EXPECT_LOAN(0, NULL, .flags |= SL_PART_ROOT_ONLY);
}

static void required_and_excluded_nodes_are_honoured(void **state)
{
	struct build *b = one((struct build_job) { .nodes = 1, .max_nodes = 2 });

	(void) state;
	build_change(b, SL_T_JOB, 0, sl_job_row, .req_nodes = build_nodes(b, 1, 1));
	build_change(b, SL_T_JOB, 0, sl_job_row, .exc_nodes = build_nodes(b, 2, 3));
	EXPECT_START(b, place(p_, 0, 1, 0, 0), "job 2: has 0 of the 1 nodes it requires");
	EXPECT_START(b, places(p_, 1, 2, 1), "job 2: node n2 is excluded");
	EXPECT_START(b, places(p_, 0, 1, 1), NULL);
	build_destroy(b);
}

static void a_node_of_another_user_is_refused_until_it_is_his_no_more(void **state)
{
	struct build *b = one((struct build_job) { 0 });
	struct built_plan *p = build_plan(b);

	(void) state;
	build_running(b, (struct build_job) { .id = 1, .cores = 1, .ends_in = 60 });
	build_change(b, SL_T_NODE, 0, sl_node_row, .owner = 7);
	EXPECT_START(b, place(p_, 0, 1, 0, 0), "job 2: node n0 belongs to user 7");
	reserve(p, 2, 60, place(p, 0, 1, 0, 0));
	expect(b, p, NULL);
	build_destroy(b);
}

static void contiguous_means_adjacent(void **state)
{
	struct build *b = one((struct build_job) { .nodes = 2 });
	struct built_plan *p = build_plan(b);
	struct sl_range r = place(p, 0, 1, 0, 0);

	(void) state;
	build_change(b, SL_T_JOB, 0, sl_job_row, .flags = SL_JOBF_CONTIGUOUS);
	place(p, 2, 1, 0, 0);
	r.count = 2;
	start(p, 2, r);
	expect(b, p, "job 2: its nodes are not contiguous");
	EXPECT_START(b, places(p_, 2, 3, 1), NULL);
	build_destroy(b);
}

static void features_and_tmp_disk_are_those_of_the_nodes(void **state)
{
	struct build *b = one((struct build_job) { 0 });

	(void) state;
	build_change(b, SL_T_NODE, 1, sl_node_row, .features = sl_builder_str(b->builder, "fast,ib"));
	build_change(b, SL_T_NODE, 2, sl_node_row, .features = sl_builder_str(b->builder, "faster,ib"));
	build_change(b, SL_T_NODE, 1, sl_node_row, .tmp_disk = 10);
	build_change(b, SL_T_JOB, 0, sl_job_row, .features = sl_builder_str(b->builder, "ib&fast"));
	EXPECT_START(b, place(p_, 2, 1, 0, 0), "job 2: node n2: has features faster,ib, needs ib&fast");
	EXPECT_START(b, place(p_, 1, 1, 0, 0), NULL);
	build_change(b, SL_T_JOB, 0, sl_job_row, .tmp_disk = 11);
	EXPECT_START(b, place(p_, 1, 1, 0, 0), "TmpDisk");
	build_change(b, SL_T_JOB, 0, sl_job_row, .features = sl_builder_str(b->builder, "[ib|fast]"));
	EXPECT_START(b, place(p_, 1, 1, 0, 0), "only Slurm's select can place it (features)");
	build_destroy(b);
}

/* -- amounts ------------------------------------------------------------- */

static void too_few_and_too_many_nodes_are_refused(void **state)
{
	struct build *b = one((struct build_job) { .nodes = 2, .max_nodes = 3 });

	(void) state;
	EXPECT_START(b, places(p_, 0, 0, 1), "job 2: has 1 nodes, needs 2");
	EXPECT_START(b, places(p_, 0, 3, 1), "job 2: has 4 nodes, takes at most 3");
	EXPECT_START(b, places(p_, 0, 2, 1), NULL);
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .max_nodes = 2);
	EXPECT_START(b, places(p_, 0, 2, 1), "takes at most 2");
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .max_nodes = 4);
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .min_nodes = 3);
	EXPECT_START(b, places(p_, 0, 1, 1), "needs 3");
	build_destroy(b);
}

static void the_tasks_must_have_their_cores_and_not_one_more(void **state)
{
	struct build *b = one((struct build_job) { .nodes = 2, .tasks = 6, .cpus_per_task = 2 });
	struct built_plan *p;
	struct sl_range r;

	(void) state;
	EXPECT_START(b, places(p_, 0, 1, 6), NULL);
	EXPECT_START(b, places(p_, 0, 1, 4), "host 4 tasks of 2 CPUs, it has 6");
	EXPECT_START(b, places(p_, 0, 1, 7), "cores for 8 tasks of 2 CPUs, it has 6");
	EXPECT_START(b, places(p_, 0, 1, 1), "node n0: has 1 cores, needs 2");
	p = build_plan(b);
	r = place(p, 0, 8, 0, 0);
	place(p, 1, 4, 0, 0);
	r.count = 2;
	start(p, 2, r);
	expect(b, p, NULL);
	build_destroy(b);
}

static void tasks_per_node_bound_what_a_node_hosts(void **state)
{
	struct build *b = one((struct build_job) { .nodes = 1, .max_nodes = 4, .tasks = 6, .tasks_per_node = 3 });

	(void) state;
	EXPECT_START(b, places(p_, 0, 1, 3), NULL);
	EXPECT_START(b, places(p_, 0, 0, 6), "host 3 tasks");
	EXPECT_START(b, places(p_, 0, 2, 2), "node n0: has 2 cores, needs 3");
	build_destroy(b);
}

static void hyper_threads_count_as_cpus(void **state)
{
	struct build *b = build_create("2x4c2t");

	(void) state;
	build_pending(b, (struct build_job) { .id = 2, .nodes = 1, .tasks = 8 });
	EXPECT_START(b, place(p_, 0, 4, 0, 0), NULL);
	EXPECT_START(b, place(p_, 0, 3, 0, 0), "needs 4");
	b->meta.select_flags = SL_SELECT_ONE_TASK_PER_CORE;
	EXPECT_START(b, place(p_, 0, 4, 0, 0), "host 4 tasks of 1 CPUs, it has 8");
	b->meta.select_flags = 0;
	build_change(b, SL_T_JOB, 0, sl_job_row, .threads_per_core = 1);
	EXPECT_START(b, place(p_, 0, 4, 0, 0), "needs 8");
	build_destroy(b);
}

static void overcommit_takes_a_cpu_a_node(void **state)
{
	struct build *b = one((struct build_job) { .nodes = 2, .tasks = 100 });

	(void) state;
	build_change(b, SL_T_JOB, 0, sl_job_row, .min_cpus = 2);
	EXPECT_START(b, places(p_, 0, 1, 1), "host 2 tasks");
	build_change(b, SL_T_JOB, 0, sl_job_row, .flags = SL_JOBF_OVERCOMMIT);
	EXPECT_START(b, places(p_, 0, 1, 1), NULL);
	build_destroy(b);
}

static void exclusive_jobs_get_whole_nodes(void **state)
{
	struct build *b = one((struct build_job) { .exclusive = true });

	(void) state;
	EXPECT_START(b, place(p_, 0, 7, 0, 0), "job 2: node n0: has 7 of 8 cores, wants the whole node");
	EXPECT_START(b, place(p_, 0, 8, 0, 0), NULL);
	build_running(b, (struct build_job) { .id = 1, .cores = 1, .ends_in = 60 });
	EXPECT_START(b, place(p_, 0, 8, 0, 0), "job 2: node n0: 9 cores in use");
	build_destroy(b);
	b = one((struct build_job) { 0 });
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .oversubscribe = 0);
	EXPECT_START(b, place(p_, 0, 1, 0, 0), "wants the whole node");
	build_destroy(b);
}

static void more_cores_than_a_node_has_left_are_refused(void **state)
{
	struct build *b = one((struct build_job) { .tasks = 4, .limit = 60 });
	struct built_plan *p;

	(void) state;
	build_running(b, (struct build_job) { .id = 1, .nodes = 2, .cores = 5, .ends_in = 60 });
	EXPECT_START(b, place(p_, 1, 4, 0, 0), "job 2: node n1: 9 cores in use at 1000000, it has 8");
	EXPECT_START(b, place(p_, 2, 4, 0, 0), NULL);
	p = build_plan(b);
	reserve(p, 2, 60, place(p, 1, 4, 0, 0));
	expect(b, p, NULL);
	p = build_plan(b);
	reserve(p, 2, 59, place(p, 1, 4, 0, 0));
	expect(b, p, "job 2: node n1: 9 cores in use at 1000059");
	build_destroy(b);
}

static void a_start_that_runs_into_a_reservation_of_the_plan_is_refused(void **state)
{
	struct build *b = one((struct build_job) { .tasks = 4, .limit = 100 });
	struct built_plan *p;

	(void) state;
	build_pending(b, (struct build_job) { .id = 3, .nodes = 4, .exclusive = true, .limit = 60 });
	p = build_plan(b);
	start(p, 2, place(p, 1, 4, 0, 0));
	reserve(p, 3, 100, places(p, 0, 3, 8));
	expect(b, p, NULL);
	p = build_plan(b);
	start(p, 2, place(p, 1, 4, 0, 0));
	reserve(p, 3, 99, places(p, 0, 3, 8));
	expect(b, p, "job 3: node n1: 12 cores in use at 1000099, it has 8");
	build_destroy(b);
}

static void memory_counts_where_it_is_consumable(void **state)
{
	struct build *b = build_create("2x8c1000m");
	uint32_t row = build_pending(b, (struct build_job) { .id = 2, .nodes = 1, .tasks = 2, .memory = 600 });

	(void) state;
	EXPECT_START(b, place(p_, 0, 2, 0, 0), NULL);
	b->meta.select_flags = SL_SELECT_MEMORY;
	EXPECT_START(b, place(p_, 0, 2, 0, 0), "job 2: node n0: has 0 MiB, needs 600");
	EXPECT_START(b, place(p_, 0, 2, 600, 0), NULL);
	build_running(b, (struct build_job) { .id = 1, .cores = 1, .memory = 500, .ends_in = 60 });
	EXPECT_START(b, place(p_, 0, 2, 600, 0), "job 2: node n0: 1100 MiB in use at 1000000, it has 1000");
	build_change(b, SL_T_JOB, row, sl_job_row, .memory_per_node = 0);
	build_change(b, SL_T_JOB, row, sl_job_row, .memory_per_cpu = 200);
	EXPECT_START(b, place(p_, 0, 2, 300, 0), "has 300 MiB, needs 400");
	EXPECT_START(b, place(p_, 0, 2, 400, 0), NULL);
	build_change(b, SL_T_JOB, row, sl_job_row, .memory_per_cpu = 0);
	EXPECT_START(b, place(p_, 1, 2, 400, 0), "has 400 MiB, needs 1000");
	build_destroy(b);
}

static void gres_are_counted_by_node_job_and_task(void **state)
{
	struct build *b = one((struct build_job) { .nodes = 2, .tasks = 2, .gpus = 2 });
	struct built_plan *p;

	(void) state;
	EXPECT_START(b, places(p_, 0, 1, 1), "job 2: node n0: has 0 gpu, needs 2");
	build_change(b, SL_T_JOB, 0, sl_job_row, .gres = build_gres(b, "gpu", "", 3, SL_PER_JOB));
	for (uint32_t second = 0; second < 2; second++) {
		struct sl_range r;

		p = build_plan(b);
		r = place(p, 0, 1, 0, 2);
		place(p, 1, 1, 0, second);
		r.count = 2;
		start(p, 2, r);
		expect(b, p, second ? NULL : "job 2: its nodes have 2 gpu, needs 3");
	}
	build_change(b, SL_T_JOB, 0, sl_job_row, .gres = build_gres(b, "gpu", "", 2, SL_PER_TASK));
	for (uint32_t second = 1; second < 3; second++) {
		struct sl_range r;

		p = build_plan(b);
		r = place(p, 0, 1, 0, 2);
		place(p, 1, 1, 0, second);
		r.count = 2;
		start(p, 2, r);
		expect(b, p, second == 2 ? NULL : "job 2: its nodes have 1 tasks' worth of gpu, needs 2");
	}
	build_destroy(b);
}

static void gres_are_not_given_twice_nor_unasked(void **state)
{
	struct build *b = one((struct build_job) { .gpus = 1 });

	(void) state;
	EXPECT_START(b, place(p_, 0, 1, 0, 1), NULL);
	build_running(b, (struct build_job) { .id = 1, .cores = 1, .gpus = 2, .ends_in = 60 });
	EXPECT_START(b, place(p_, 0, 1, 0, 1), "job 2: node n0: 3 gpu in use at 1000000, it has 2");
	build_change(b, SL_T_JOB, 0, sl_job_row, .gres = (struct sl_range) { 0, 0 });
	EXPECT_START(b, place(p_, 1, 1, 0, 1), "job 2: node n1: gets gpu, did not ask for it");
	build_destroy(b);
}

static void max_cpus_per_node_is_counted_over_the_jobs_of_a_partition(void **state)
{
	struct build *b = build_create("2x8c2t");

	(void) state;
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .max_cpus_per_node = 8);
	build_pending(b, (struct build_job) { .id = 2, .nodes = 1, .tasks = 4 });
	EXPECT_START(b, place(p_, 0, 2, 0, 0), NULL);
	build_running(b, (struct build_job) { .id = 1, .cores = 3, .ends_in = 60 });
	EXPECT_START(b, place(p_, 0, 2, 0, 0), "job 2: node n0: 10 CPUs of partition batch in use");
	EXPECT_START(b, place(p_, 1, 2, 0, 0), NULL);
	build_destroy(b);
}

static void licences_are_counted_over_time(void **state)
{
	struct build *b = build_create("4x8c");
	struct sl_license_row lic = { .total = 5, .used = 2, .reserved = 1 };
	uint32_t running = build_running(b, (struct build_job) { .id = 1, .cores = 1, .ends_in = 60 }), row;
	struct built_plan *p;

	(void) state;
	lic.name = sl_builder_str(b->builder, "matlab");
	sl_builder_append(b->builder, SL_T_LICENSE, &lic);
	build_change(b, SL_T_JOB, running, sl_job_row, .licenses = build_license(b, 0, 2));
	row = build_pending(b, (struct build_job) { .id = 2, .limit = 100 });
	build_change(b, SL_T_JOB, row, sl_job_row, .licenses = build_license(b, 0, 3));
	EXPECT_START(b, place(p_, 0, 1, 0, 0), "job 2: 5 of license matlab in use at 1000000, there are 4");
	p = build_plan(b);
	reserve(p, 2, 60, place(p, 0, 1, 0, 0));
	expect(b, p, NULL);
	p = build_plan(b);
	reserve(p, 2, 59, place(p, 0, 1, 0, 0));
	expect(b, p, "job 2: 5 of license");
	build_destroy(b);
}

/* -- times --------------------------------------------------------------- */

static void begin_time_and_deadline_are_kept(void **state)
{
	struct build *b = one((struct build_job) { .limit = 100 });
	struct built_plan *p;

	(void) state;
	build_change(b, SL_T_JOB, 0, sl_job_row, .begin_time = BUILD_NOW + 50);
	EXPECT_START(b, place(p_, 0, 1, 0, 0), "job 2: starts at 1000000, before its begin time, 1000050");
	build_change(b, SL_T_JOB, 0, sl_job_row, .deadline = BUILD_NOW + 160);
	p = build_plan(b);
	reserve(p, 2, 60, place(p, 0, 1, 0, 0));
	expect(b, p, NULL);
	p = build_plan(b);
	reserve(p, 2, 61, place(p, 0, 1, 0, 0));
	expect(b, p, "job 2: would end at 1000161, after its deadline 1000160");
	p = build_plan(b);
	reserve(p, 2, -1, place(p, 0, 1, 0, 0));
	expect(b, p, "before the present");
	build_destroy(b);
}

static void a_time_limit_shrinks_no_further_than_time_min(void **state)
{
	struct build *b = one((struct build_job) { .limit = 100 });

	(void) state;
	build_change(b, SL_T_JOB, 0, sl_job_row, .time_min = 40);
	for (int64_t limit = 39; limit <= 101; limit += 1 + 60 * (limit == 40)) {
		struct built_plan *p = build_plan(b);
		struct sl_plan_start_row row = start_row(2, place(p, 0, 1, 0, 0));

		row.time_limit = limit;
		sl_builder_append(p->builder, SL_P_START, &row);
		expect(b, p, limit == 40 ? NULL : "may get 40 to 100 s");
	}
	build_destroy(b);
}

static void an_overdue_job_ends_soon_and_a_job_without_limit_never(void **state)
{
	struct build *b = one((struct build_job) { .exclusive = true });
	uint32_t row = build_running(b, (struct build_job) { .id = 1, .nodes = 4, .ends_in = 1 });
	struct built_plan *p;

	(void) state;
	build_change(b, SL_T_JOB, row, sl_job_row, .end_time = BUILD_NOW - 500);
	EXPECT_START(b, place(p_, 0, 8, 0, 0), "16 cores in use at 1000000");
	p = build_plan(b);
	reserve(p, 2, SL_OVERDUE_S, place(p, 0, 8, 0, 0));
	expect(b, p, NULL);
	build_change(b, SL_T_JOB, row, sl_job_row, .end_time = SL_UNLIMITED);
	p = build_plan(b);
	reserve(p, 2, INT64_C(1) << 40, place(p, 0, 8, 0, 0));
	expect(b, p, "16 cores in use");
	build_destroy(b);
}

static void a_job_suspended_by_hand_gives_its_cores_back_but_not_its_memory(void **state)
{
	struct build *b = build_create("1x8c1000m");
	uint32_t row = build_running(b, (struct build_job) { .id = 1, .memory = 700, .ends_in = 60 });

	(void) state;
	b->meta.select_flags = SL_SELECT_MEMORY;
	build_change(b, SL_T_JOB, row, sl_job_row, .state = SL_JOB_SUSPENDED);
	build_pending(b, (struct build_job) { .id = 2, .tasks = 2, .memory = 300 });
	EXPECT_START(b, place(p_, 0, 2, 300, 0), "10 cores in use");
	build_change(b, SL_T_JOB, row, sl_job_row, .priority = 0);
	EXPECT_START(b, place(p_, 0, 2, 300, 0), NULL);
	EXPECT_START(b, place(p_, 0, 2, 301, 0), "1001 MiB in use");
	build_destroy(b);
}

/* -- reservations -------------------------------------------------------- */

static uint32_t reservation(struct build *b, const char *name, int64_t from, int64_t to, uint32_t first, uint32_t last)
{
	struct sl_reservation_row r = sl_reservation_row();

	r.name = sl_builder_str(b->builder, name);
	r.start_time = BUILD_NOW + from;
	r.end_time = BUILD_NOW + to;
	r.nodes = build_nodes(b, first, last);
	return sl_builder_append(b->builder, SL_T_RESERVATION, &r);
}

static void a_reservation_keeps_others_out_for_its_time(void **state)
{
	struct build *b = one((struct build_job) { .limit = 100 });

	(void) state;
	reservation(b, "maint", 100, 200, 1, 2);
	EXPECT_START(b, place(p_, 1, 1, 0, 0), NULL);
	build_change(b, SL_T_JOB, 0, sl_job_row, .time_limit = 101);
	EXPECT_START(b, place(p_, 1, 1, 0, 0), "job 2: node n1 is reserved (maint) from 1000100 to 1000200");
	EXPECT_START(b, place(p_, 0, 1, 0, 0), NULL);
	build_destroy(b);
}

static void a_job_in_a_reservation_stays_on_its_nodes_within_its_time(void **state)
{
	struct build *b = one((struct build_job) { .limit = 1000 });
	uint32_t r = reservation(b, "course", -10, 100, 1, 2);

	(void) state;
	build_change(b, SL_T_JOB, 0, sl_job_row, .reservation = sl_builder_str(b->builder, "course"));
	EXPECT_START(b, place(p_, 0, 1, 0, 0), "job 2: node n0 is not in reservation course");
	EXPECT_START(b, place(p_, 1, 1, 0, 0), NULL);
	build_change(b, SL_T_RESERVATION, r, sl_reservation_row, .start_time = BUILD_NOW + 10);
	EXPECT_START(b, place(p_, 1, 1, 0, 0), "reservation course is from 1000010 to 1000100");
	build_change(b, SL_T_JOB, 0, sl_job_row, .reservation = sl_builder_str(b->builder, "gone"));
	EXPECT_START(b, place(p_, 1, 1, 0, 0), "there is no reservation gone");
	build_destroy(b);
}

static void overlapping_reservations_bind_each_other_unless_one_is_for_maintenance(void **state)
{
	struct build *b = one((struct build_job) { .limit = 50 });
	uint32_t r = reservation(b, "course", -10, 100, 1, 2);

	(void) state;
	reservation(b, "other", -10, 100, 1, 1);
	build_change(b, SL_T_JOB, 0, sl_job_row, .reservation = sl_builder_str(b->builder, "course"));
	EXPECT_START(b, place(p_, 1, 1, 0, 0), "node n1 is reserved (other)");
	EXPECT_START(b, place(p_, 2, 1, 0, 0), NULL);
	build_change(b, SL_T_RESERVATION, r, sl_reservation_row, .flags = SL_RESV_MAINT);
	EXPECT_START(b, place(p_, 1, 1, 0, 0), NULL);
	build_destroy(b);
}

static void a_reservation_of_parts_of_nodes_keeps_an_upper_bound(void **state)
{
	struct build *b = one((struct build_job) { .tasks = 5, .limit = 50 });
	uint32_t r = reservation(b, "part", -10, 100, 0, 1);

	(void) state;
	build_change(b, SL_T_RESERVATION, r, sl_reservation_row, .cores = 5);
	EXPECT_START(b, place(p_, 0, 5, 0, 0), "job 2: node n0: 9 cores in use");
	EXPECT_START(b, place(p_, 2, 5, 0, 0), NULL);
	build_change(b, SL_T_RESERVATION, r, sl_reservation_row, .cores = 4);
	EXPECT_START(b, place(p_, 0, 5, 0, 0), NULL);
	build_destroy(b);
}

/* -- what only Slurm can place ------------------------------------------- */

static void a_request_that_is_not_modelled_has_to_be_native(void **state)
{
	struct build *b = one((struct build_job) { .tasks = 4 });
	struct built_plan *p;
	struct sl_plan_start_row row;

	(void) state;
	build_change(b, SL_T_JOB, 0, sl_job_row, .switches = 1);
	EXPECT_START(b, place(p_, 0, 4, 0, 0), "job 2: only Slurm's select can place it (switches)");
	p = build_plan(b);
	row = start_row(2, place(p, 0, 4, 0, 0));
	row.native = 1;
	sl_builder_append(p->builder, SL_P_START, &row);
	expect(b, p, NULL);
	build_running(b, (struct build_job) { .id = 1, .nodes = 1, .cores = 5, .ends_in = 60 });
	p = build_plan(b);
	row.places = place(p, 0, 4, 0, 0);
	sl_builder_append(p->builder, SL_P_START, &row);
	expect(b, p, "job 2: node n0: 9 cores in use");
	build_destroy(b);
}

static void jobs_of_a_partition_that_shares_cores_count_a_part_of_them(void **state)
{
	struct build *b = one((struct build_job) { .tasks = 4 });
	struct built_plan *p = build_plan(b);
	struct sl_plan_start_row row = start_row(2, place(p, 0, 4, 0, 0));

	(void) state;
	build_running(b, (struct build_job) { .id = 1, .nodes = 1, .cores = 8, .ends_in = 60 });
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .oversubscribe = 2);
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .flags |= SL_PART_FORCE);
	row.native = 1;
	sl_builder_append(p->builder, SL_P_START, &row);
	expect(b, p, NULL);
	EXPECT_START(b, place(p_, 1, 4, 0, 0), "shared cores");
	build_destroy(b);
}

static void a_shape_stands_in_for_the_request(void **state)
{
	struct build *b = one((struct build_job) { .nodes = 4, .tasks = 32 });
	struct sl_shape_row shape = { .min_nodes = 1, .num_tasks = 4, .cpus_per_task = 1 };
	struct sl_range shapes = { sl_builder_append(b->builder, SL_T_SHAPE, &shape), 1 };

	(void) state;
	build_change(b, SL_T_JOB, 0, sl_job_row, .shapes = shapes);
	EXPECT_START(b, place(p_, 0, 4, 0, 0), "needs 4");
	for (uint32_t i = 1; i < 3; i++) {
		struct built_plan *p = build_plan(b);
		struct sl_plan_start_row row = start_row(2, place(p, 0, 4, 0, 0));

		row.shape = i;
		sl_builder_append(p->builder, SL_P_START, &row);
		expect(b, p, i == 1 ? NULL : "has 1 alternatives, not 2");
	}
	build_destroy(b);
}

static void an_alternative_that_was_refused_is_not_planned(void **state)
{
	struct build *b = one((struct build_job) { .nodes = 4, .tasks = 32 });
	struct sl_shape_row shape = { .min_nodes = 1, .num_tasks = 4, .cpus_per_task = 1, .refused = 1 };
	struct sl_range shapes = { sl_builder_append(b->builder, SL_T_SHAPE, &shape), 1 };
	struct built_plan *p;
	struct sl_plan_start_row row;

	(void) state;
	build_change(b, SL_T_JOB, 0, sl_job_row, .shapes = shapes);
	p = build_plan(b);
	row = start_row(2, place(p, 0, 4, 0, 0));
	row.shape = 1;
	sl_builder_append(p->builder, SL_P_START, &row);
	expect(b, p, "its alternative 1 is refused");
	build_destroy(b);
}

/* -- everything ---------------------------------------------------------- */

static void an_empty_plan_for_any_cluster_passes(void **state)
{
	(void) state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct build *b = build_random_cluster(seed, 6, 20);
		struct built_plan *p = build_plan(b);

		expect(b, p, NULL);
		build_destroy(b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_feasible_plan_passes),
		cmocka_unit_test(a_plan_for_another_snapshot_is_refused),
		cmocka_unit_test(a_job_that_changed_is_refused),
		cmocka_unit_test(a_job_that_is_unknown_or_not_queued_there_is_refused),
		cmocka_unit_test(a_partition_that_is_down_is_refused),
		cmocka_unit_test(a_job_planned_twice_is_refused),
		cmocka_unit_test(an_array_record_starts_as_many_tasks_as_it_has),
		cmocka_unit_test(an_array_throttle_counts_running_tasks_too),
		cmocka_unit_test(what_is_said_about_jobs_must_be_about_jobs),
		cmocka_unit_test(a_part_of_a_heterogeneous_job_is_refused),
		cmocka_unit_test(places_must_be_nodes_in_order),
		cmocka_unit_test(a_dead_node_is_refused),
		cmocka_unit_test(a_completing_node_takes_reservations),
		cmocka_unit_test(a_node_outside_the_partition_is_refused),
		cmocka_unit_test(a_job_may_have_nodes_that_are_lent_to_it),
		cmocka_unit_test(what_lends_nodes_keeps_its_limits),
		cmocka_unit_test(required_and_excluded_nodes_are_honoured),
		cmocka_unit_test(a_node_of_another_user_is_refused_until_it_is_his_no_more),
		cmocka_unit_test(contiguous_means_adjacent),
		cmocka_unit_test(features_and_tmp_disk_are_those_of_the_nodes),
		cmocka_unit_test(too_few_and_too_many_nodes_are_refused),
		cmocka_unit_test(the_tasks_must_have_their_cores_and_not_one_more),
		cmocka_unit_test(tasks_per_node_bound_what_a_node_hosts),
		cmocka_unit_test(hyper_threads_count_as_cpus),
		cmocka_unit_test(overcommit_takes_a_cpu_a_node),
		cmocka_unit_test(exclusive_jobs_get_whole_nodes),
		cmocka_unit_test(more_cores_than_a_node_has_left_are_refused),
		cmocka_unit_test(a_start_that_runs_into_a_reservation_of_the_plan_is_refused),
		cmocka_unit_test(memory_counts_where_it_is_consumable),
		cmocka_unit_test(gres_are_counted_by_node_job_and_task),
		cmocka_unit_test(gres_are_not_given_twice_nor_unasked),
		cmocka_unit_test(max_cpus_per_node_is_counted_over_the_jobs_of_a_partition),
		cmocka_unit_test(licences_are_counted_over_time),
		cmocka_unit_test(begin_time_and_deadline_are_kept),
		cmocka_unit_test(a_time_limit_shrinks_no_further_than_time_min),
		cmocka_unit_test(an_overdue_job_ends_soon_and_a_job_without_limit_never),
		cmocka_unit_test(a_job_suspended_by_hand_gives_its_cores_back_but_not_its_memory),
		cmocka_unit_test(a_reservation_keeps_others_out_for_its_time),
		cmocka_unit_test(a_job_in_a_reservation_stays_on_its_nodes_within_its_time),
		cmocka_unit_test(overlapping_reservations_bind_each_other_unless_one_is_for_maintenance),
		cmocka_unit_test(a_reservation_of_parts_of_nodes_keeps_an_upper_bound),
		cmocka_unit_test(a_request_that_is_not_modelled_has_to_be_native),
		cmocka_unit_test(jobs_of_a_partition_that_shares_cores_count_a_part_of_them),
		cmocka_unit_test(a_shape_stands_in_for_the_request),
		cmocka_unit_test(an_alternative_that_was_refused_is_not_planned),
		cmocka_unit_test(an_empty_plan_for_any_cluster_passes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
