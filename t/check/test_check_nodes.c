/* SPDX-License-Identifier: MIT */
/*
 * What the checker says of which nodes a job gets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "t/check/by_hand.h"
#include "check/check.h"

static void places_must_be_nodes_in_order(void **state)
{
	struct build *b = one((struct build_job) { .nodes = 2 });
	struct built_plan *p = build_plan(b);
	struct sl_range r = place(p, 2, 1, 0, 0);

	(void) state;
	place(p, 1, 1, 0, 0);
	r.count = 2;
	put_start(p, 2, r);
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

static void a_completing_node_takes_reservations_from_when_its_jobs_are_gone(void **state)
{
	struct build *b = one((struct build_job) { 0 });
	struct built_plan *p = build_plan(b);

	(void) state;
	build_change(b, SL_T_NODE, 3, sl_node_row, .state = SL_NODE_COMPLETING);
	put_reservation(p, 2, 29, place(p, 3, 1, 0, 0));
	expect(b, p, "job 2: node n3 is completing");
	p = build_plan(b);
	put_reservation(p, 2, 30, place(p, 3, 1, 0, 0));
	expect(b, p, NULL);
	build_destroy(b);
}

/* Job 1 runs on all of node 0 for an hour and may be preempted after 100 s; job 2 may preempt it, job 3 may not. */
static struct build *preemptible(void)
{
	struct build *b = build_create("2x8c");
	struct sl_job_row r;
	uint32_t j = build_running(b, (struct build_job) { .id = 1, .cores = 8, .ends_in = 3600 });

	sl_builder_row(b->builder, SL_T_JOB, j, &r);
	r.qos = sl_builder_str(b->builder, "low");
	r.safe_until = BUILD_NOW + 100;
	sl_builder_update(b->builder, SL_T_JOB, j, &r);
	for (uint32_t id = 2; id <= 3; id++) {
		build_pending(b, (struct build_job) { .id = id, .cores = 8, .limit = 600 });
		build_change_job(b, id, .flags |= SL_JOBF_MAY_PREEMPT);
		build_change_job(b, id, .preempts = sl_builder_str(b->builder, id == 2 ? "QOS=low" : "QOS=normal"));
	}
	return b;
}

/* All of node 0, by select, after so many seconds. */
static void book_all(struct built_plan *p, uint32_t job, int64_t in)
{
	struct sl_plan_reserve_row row = sl_plan_reserve_row();

	row.job = job;
	row.start_time = BUILD_NOW + in;
	row.partition = 0;
	row.native = 1;
	row.places = place(p, 0, 8, 0, 0);
	sl_builder_append(p->builder, SL_P_RESERVE, &row);
}

static void a_running_job_makes_room_for_jobs_that_preempt_it_alone(void **state)
{
	static const struct { uint32_t first, first_at, then, then_at; const char *words; } cases[] = {
		{ 2, 100, 0, 0, NULL }, { 2, 99, 0, 0, "job 2: node n0: 16 cores in use in 99 s" },
		{ 3, 100, 0, 0, "job 3: node n0: 16 cores in use in 100 s" }, { 3, 3600, 0, 0, NULL },
		{ 2, 200, 3, 800, NULL },	/* it has gone by then */
		{ 2, 800, 3, 200, "job 3: node n0: 16 cores in use in 200 s" },
	};
	struct build *b = preemptible();

	(void) state;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct built_plan *p = build_plan(b);

		book_all(p, cases[i].first, cases[i].first_at);
		if (cases[i].then)
			book_all(p, cases[i].then, cases[i].then_at);
		expect(b, p, cases[i].words);
	}
	build_destroy(b);
}

/* Job 1 has priority 1000. */
static void it_makes_room_for_those_of_higher_priority_where_that_decides(void **state)
{
	static const struct { uint32_t flags; const char *qos, *preempts; int64_t priority; bool is_refused; } cases[] = {
		{ SL_JOBF_PREEMPTS_LOWER, "high", "QOS=low", 1001, false }, { SL_JOBF_PREEMPTS_LOWER, "high", "QOS=low", 1000, true },
		{ SL_JOBF_PREEMPTS_LOWER, "high", "QOS=normal", 1001, true },
		{ SL_JOBF_PREEMPTS_WITHIN, "low", "", 1001, false }, { SL_JOBF_PREEMPTS_WITHIN, "low", "", 1000, true },
		{ SL_JOBF_PREEMPTS_WITHIN, "high", "", 1001, true }, { 0, "low", "", 1001, true },
	};

	(void) state;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct build *b = preemptible();
		struct built_plan *p;

		build_change_job(b, 1, .priority = 1000);
		build_change_job(b, 2, .flags |= cases[i].flags);
		build_change_job(b, 2, .priority = cases[i].priority);
		build_change_job(b, 2, .qos = sl_builder_str(b->builder, cases[i].qos));
		build_change_job(b, 2, .preempts = sl_builder_str(b->builder, cases[i].preempts));
		p = build_plan(b);
		book_all(p, 2, 100);
		expect(b, p, cases[i].is_refused ? "job 2: node n0: 16 cores in use in 100 s" : NULL);
		build_destroy(b);
	}
}

static void nothing_is_kept_free_for_a_job_that_reserves_nothing(void **state)
{
	struct build *b = preemptible();
	struct built_plan *p = build_plan(b);

	(void) state;
	build_change_job(b, 3, .flags |= SL_JOBF_NO_RESERVE);
	book_all(p, 3, 3600);
	expect(b, p, "job 3: no nodes are kept free for it");
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
	EXPECT_LOAN(2, "its MaxCPUsPerSocket forbids", .max_cpus_per_socket = 8);
	EXPECT_LOAN(2, "how it shares nodes forbids", .flags |= SL_PART_OTHER_TOPOLOGY);
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
	build_change_job(b, 2, .req_nodes = build_nodes(b, 1, 1));
	build_change_job(b, 2, .exc_nodes = build_nodes(b, 2, 3));
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
	put_reservation(p, 2, 60, place(p, 0, 1, 0, 0));
	expect(b, p, NULL);
	build_destroy(b);
}

static void set_company(struct build *b, uint32_t id, uint32_t uid, uint32_t asks, const char *label)
{
	build_change_job(b, id, .uid = uid);
	build_change_job(b, id, .asks = asks);
	build_change_job(b, id, .mcs_label = sl_builder_str(b->builder, label));
}

/* Job 1 of user 8 runs on n0 for a minute; job 2 is to start there. */
#define EXPECT_COMPANY(uid, asks_1, asks_2, label_2, words) do {	\
	struct build *b_ = one((struct build_job) { 0 });		\
	build_running(b_, (struct build_job) { .id = 1, .cores = 1, .ends_in = 60 });	\
	set_company(b_, 1, 8, asks_1, "red");				\
	set_company(b_, 2, uid, asks_2, label_2);			\
	EXPECT_START(b_, place(p_, 0, 1, 0, 0), words);			\
	EXPECT_START(b_, place(p_, 1, 1, 0, 0), NULL);			\
	build_destroy(b_);						\
} while (0)

static void who_minds_others_is_on_no_node_with_them(void **state)
{
	const char *user = "job 2: node n0: has job 1 of another user now";
	const char *label = "job 2: node n0: has job 1 of another MCS label now";

	(void) state;
	EXPECT_COMPANY(7, 0, 0, "", NULL);
	EXPECT_COMPANY(7, SL_ASKS_USER_NODES, 0, "", user);
	EXPECT_COMPANY(7, 0, SL_ASKS_USER_NODES, "", user);
	EXPECT_COMPANY(8, 0, SL_ASKS_USER_NODES, "", NULL);
	EXPECT_COMPANY(7, SL_ASKS_MCS, 0, "red", label);
	EXPECT_COMPANY(7, 0, SL_ASKS_MCS, "red", label);
	EXPECT_COMPANY(7, SL_ASKS_MCS, SL_ASKS_MCS, "blue", label);
	EXPECT_COMPANY(7, SL_ASKS_MCS, SL_ASKS_MCS, "red", NULL);
}

static void contiguous_means_adjacent(void **state)
{
	struct build *b = one((struct build_job) { .nodes = 2 });
	struct built_plan *p = build_plan(b);
	struct sl_range r = place(p, 0, 1, 0, 0);

	(void) state;
	build_change_job(b, 2, .flags = SL_JOBF_CONTIGUOUS);
	place(p, 2, 1, 0, 0);
	r.count = 2;
	put_start(p, 2, r);
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
	build_change_job(b, 2, .features = sl_builder_str(b->builder, "ib&fast"));
	EXPECT_START(b, place(p_, 2, 1, 0, 0), "job 2: node n2: has features faster,ib, needs ib&fast");
	EXPECT_START(b, place(p_, 1, 1, 0, 0), NULL);
	build_change_job(b, 2, .tmp_disk = 11);
	EXPECT_START(b, place(p_, 1, 1, 0, 0), "TmpDisk");
	build_change_job(b, 2, .tmp_disk = 0);
	/* whether or not a reboot would bring them */
	build_change_job(b, 2, .asks = SL_ASKS_REBOOT);
	EXPECT_START(b, place(p_, 2, 1, 0, 0), "job 2: node n2: has features faster,ib, needs ib&fast");
	EXPECT_START(b, place(p_, 1, 1, 0, 0), NULL);
	build_change_job(b, 2, .features = sl_builder_str(b->builder, "big|fast"));
	EXPECT_START(b, place(p_, 1, 1, 0, 0), NULL);
	EXPECT_START(b, place(p_, 2, 1, 0, 0), "job 2: node n2: has features faster,ib, needs big|fast");
	build_destroy(b);
}

static void no_node_counts_for_two_features(void **state)
{
	struct build *b = one((struct build_job) { 0 });

	(void) state;
	build_change(b, SL_T_NODE, 1, sl_node_row, .features = sl_builder_str(b->builder, "fast,ib"));
	build_change(b, SL_T_NODE, 2, sl_node_row, .features = sl_builder_str(b->builder, "faster,ib"));
	build_change_job(b, 2, .features = sl_builder_str(b->builder, "[ib*1&(fast|big)*1]"));
	EXPECT_START(b, places(p_, 1, 2, 1), NULL);
	EXPECT_START(b, place(p_, 1, 1, 0, 0), "job 2: has 1 nodes, needs 2");
	EXPECT_START(b, places(p_, 0, 1, 1), "job 2: has 1 of 2 nodes with features, needs [ib*1&(fast|big)*1]");
	EXPECT_START(b, places(p_, 2, 3, 1), "job 2: has 0 of 1 nodes with features");
	build_change_job(b, 2, .max_nodes = 3);
	EXPECT_START(b, places(p_, 0, 2, 1), "job 2: has 1 nodes with no feature that is counted, needs [ib*1&(fast|big)*1]");
	build_change_job(b, 2, .features = sl_builder_str(b->builder, "ib*2"));
	EXPECT_START(b, places(p_, 1, 2, 1), NULL);
	EXPECT_START(b, places(p_, 0, 1, 1), "job 2: has 1 of 2 nodes with features, needs ib*2");
	build_destroy(b);
}

static void features_in_brackets_are_the_same_on_all_nodes(void **state)
{
	static const char *const feature[] = { "red,fast", "blue,fast", "blue,red", "blue" };
	struct build *b = one((struct build_job) { .nodes = 2 });

	(void) state;
	for (uint32_t n = 0; n < 4; n++)
		build_change(b, SL_T_NODE, n, sl_node_row, .features = sl_builder_str(b->builder, feature[n]));
	build_change_job(b, 2, .features = sl_builder_str(b->builder, "[red|blue]"));
	EXPECT_START(b, places(p_, 0, 1, 1), "job 2: node n0: has features red,fast, needs [red|blue]");
	EXPECT_START(b, places(p_, 1, 2, 1), NULL);
	EXPECT_START(b, places(p_, 2, 3, 1), NULL);
	build_change_job(b, 2, .features = sl_builder_str(b->builder, "[red|blue]&fast"));
	EXPECT_START(b, places(p_, 1, 2, 1), "job 2: node n2: has features blue,red, needs [red|blue]&fast");
	/* from left to right: (red or fast) and blue */
	build_change_job(b, 2, .features = sl_builder_str(b->builder, "red|fast&blue"));
	EXPECT_START(b, places(p_, 1, 2, 1), NULL);
	EXPECT_START(b, places(p_, 0, 1, 1), "job 2: node n0: has features red,fast, needs red|fast&blue");
	/* or what it would rather have */
	build_change_job(b, 2, .prefer = sl_builder_str(b->builder, "red&fast"));
	EXPECT_START(b, place(p_, 0, 1, 0, 0), "job 2: has 1 nodes, needs 2");
	EXPECT_START(b, places(p_, 0, 1, 1), "job 2: node n0: has features red,fast, needs red|fast&blue");
	build_change_job(b, 2, .prefer = sl_builder_str(b->builder, "fast"));
	EXPECT_START(b, places(p_, 0, 1, 1), NULL);
	build_change_job(b, 2, .prefer = 0);
	build_change_job(b, 2, .features = sl_builder_str(b->builder, "red|(fast&blue)"));
	EXPECT_START(b, places(p_, 0, 1, 1), NULL);
	EXPECT_START(b, places(p_, 2, 3, 1), "job 2: node n3: has features blue, needs red|(fast&blue)");
	build_destroy(b);
}

static void constraints_that_cannot_be_read_are_not_taken_as_satisfied(void **state)
{
	static const char *const odd[] = { "red*2&red*1", "red*1|red", "[red*1&red]", "[red*1|red*1]", "(red*1)", "!red", "[red|blue", "red)", "((red))", "[(red|fast)|blue]", "red|[red|blue]",
					   "[red|blue]|red", "[red|blue]&[red|fast]", "red&", "red||blue", "[red&blue]", "[]", "()" };
	struct build *b = one((struct build_job) { 0 });

	(void) state;
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		build_change_job(b, 2, .features = sl_builder_str(b->builder, odd[i]));
		EXPECT_START(b, place(p_, 1, 1, 0, 0), "its nodes cannot be checked against its constraint");
	}
	build_destroy(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_must_be_nodes_in_order),
		cmocka_unit_test(a_dead_node_is_refused),
		cmocka_unit_test(a_completing_node_takes_reservations_from_when_its_jobs_are_gone),
		cmocka_unit_test(a_running_job_makes_room_for_jobs_that_preempt_it_alone),
		cmocka_unit_test(it_makes_room_for_those_of_higher_priority_where_that_decides),
		cmocka_unit_test(nothing_is_kept_free_for_a_job_that_reserves_nothing),
		cmocka_unit_test(a_node_outside_the_partition_is_refused),
		cmocka_unit_test(a_job_may_have_nodes_that_are_lent_to_it),
		cmocka_unit_test(what_lends_nodes_keeps_its_limits),
		cmocka_unit_test(required_and_excluded_nodes_are_honoured),
		cmocka_unit_test(a_node_of_another_user_is_refused_until_it_is_his_no_more),
		cmocka_unit_test(who_minds_others_is_on_no_node_with_them),
		cmocka_unit_test(contiguous_means_adjacent),
		cmocka_unit_test(features_and_tmp_disk_are_those_of_the_nodes),
		cmocka_unit_test(no_node_counts_for_two_features),
		cmocka_unit_test(features_in_brackets_are_the_same_on_all_nodes),
		cmocka_unit_test(constraints_that_cannot_be_read_are_not_taken_as_satisfied),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
