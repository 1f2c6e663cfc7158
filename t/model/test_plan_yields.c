/* SPDX-License-Identifier: MIT */
/*
 * Jobs whose QOS reserves nothing (NoReserve), and which others may preempt.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "model/prospect.h"
#include "t/model/desk.h"

/* A job of so many whole nodes whose QOS has NoReserve; others may have its nodes after *yields* seconds, 0: never. */
static uint32_t standby(struct build *b, uint32_t id, uint32_t nodes, int64_t limit, int64_t yields)
{
	struct sl_job_row r = build_row(b, (struct build_job) { .id = id, .nodes = nodes, .exclusive = true, .limit = limit });
	uint32_t job;

	r.flags |= SL_JOBF_NO_RESERVE;
	r.yields_after = yields;
	job = build_append(b, &r);
	build_queue(b, job, 0);
	return job;
}

/* Eight nodes, half of them taken for an hour; job 2 waits for all of them. */
static struct build *half_full(void)
{
	struct build *b = build_create("8x4c");

	build_running(b, (struct build_job) { .id = 1, .nodes = 4, .exclusive = true, .ends_in = 3600 });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 8, .exclusive = true, .limit = 3600 });
	return b;
}

static void nothing_is_reserved_for_a_job_of_such_a_qos(void **state)
{
	struct build *b = build_create("8x4c");
	struct desk d;
	uint32_t why;

	(void) state;
	build_running(b, (struct build_job) { .id = 1, .nodes = 4, .exclusive = true, .ends_in = 3600 });
	standby(b, 2, 8, 3600, 0);
	build_pending(b, (struct build_job) { .id = 3, .nodes = 4, .exclusive = true, .limit = 36000 });
	d = sit(b);
	assert_int_equal(start(&d, 2), 0);
	assert_int_equal(reserve(&d, 2), 0);
	assert_string_equal(sl_refusal_text(&d.why), "no nodes are kept free for it (QOS NoReserve, or MinPrioThreshold)");
	assert_int_equal(backfill(&d, 3), 1);
	accepted(&d);
	/* its user is told what it waits for, and not that */
	assert_string_equal(pending_text(&d.plan, 2, &why), "needs 8 nodes, 4 are free");
	leave(&d);
}

static void a_job_that_may_be_preempted_starts_beside_a_reservation(void **state)
{
	struct build *b = half_full();
	struct desk d;

	(void) state;
	standby(b, 3, 2, 36000, 60);
	standby(b, 4, 2, 36000, 0);
	build_pending(b, (struct build_job) { .id = 5, .nodes = 2, .exclusive = true, .limit = 36000 });
	d = sit(b);
	assert_int_equal(reserve(&d, 2), 1);
	assert_int_equal(d.at, 3600);
	assert_int_equal(backfill(&d, 4), 0);
	assert_int_equal(backfill(&d, 5), 0);
	assert_int_equal(backfill(&d, 3), 1);
	accepted(&d);
	assert_int_equal(sl_plan_job(d.p, row(&d, 2)), SL_PLAN_RESERVED);
	assert_int_equal(d.plan.start.time_limit[0], 0);
	leave(&d);
}

static void it_is_safe_for_as_long_as_it_may_not_be_preempted(void **state)
{
	struct build *b = half_full();
	struct desk d;

	(void) state;
	standby(b, 3, 2, 36000, 3601);
	standby(b, 4, 2, 36000, 3600);
	d = sit(b);
	assert_int_equal(reserve(&d, 2), 1);
	assert_int_equal(backfill(&d, 3), 0);
	assert_int_equal(backfill(&d, 4), 1);
	accepted(&d);
	leave(&d);
}

static void an_advance_reservation_preempts_nobody(void **state)
{
	struct build *b = build_create("4x4c");
	struct desk d;

	(void) state;
	standby(b, 3, 2, 3600, 60);
	standby(b, 4, 2, 3601, 60);
	build_reservation(b, "maint", 3600, 7200, 0, 3);
	d = sit(b);
	assert_int_equal(start(&d, 4), 0);
	assert_int_equal(start(&d, 3), 1);
	accepted(&d);
	leave(&d);
}

static void its_licences_are_not_given_back(void **state)
{
	struct sl_license_row lic = { .total = 1 };
	struct build *b = half_full();
	struct desk d;

	(void) state;
	lic.name = sl_builder_str(b->builder, "matlab");
	sl_builder_append(b->builder, SL_T_LICENSE, &lic);
	standby(b, 3, 2, 36000, 60);
	build_change_job(b, 3, .licenses = build_license(b, 0, 1));
	d = sit(b);
	assert_int_equal(reserve(&d, 2), 1);
	assert_int_equal(backfill(&d, 3), 0);
	accepted(&d);
	leave(&d);
}

static void a_bid_is_for_as_long_as_it_needs_its_nodes(void **state)
{
	struct build *b = half_full();
	struct sl_prospect brief, whole;
	struct desk d;

	(void) state;
	standby(b, 3, 2, 36000, 60);
	build_pending(b, (struct build_job) { .id = 4, .nodes = 2, .exclusive = true, .limit = 36000 });
	d = sit(b);
	assert_int_equal(checked(&d, sl_plan_prospect(d.p, entry(&d, 3), &brief, &d.err)), 1);
	assert_int_equal(checked(&d, sl_plan_prospect(d.p, entry(&d, 4), &whole, &d.err)), 1);
	assert_int_equal(brief.seconds, 60);
	assert_int_equal(whole.seconds, 36000);
	assert_int_equal(sl_cluster_needs_nodes_s(d.c, brief.want), 60);
	leave(&d);
}

/* Job 1 holds half of the nodes for an hour, a job that may be preempted some of the rest for ten. */
static struct build *half_full_and_standby(int64_t safe)
{
	struct build *b = half_full();
	struct sl_job_row r;
	uint32_t running;

	running = build_running(b, (struct build_job) { .id = 9, .first = 4, .nodes = 2, .exclusive = true, .ends_in = 36000 });
	sl_builder_row(b->builder, SL_T_JOB, running, &r);
	r.qos = sl_builder_str(b->builder, "standby");
	r.safe_until = BUILD_NOW + safe;
	sl_builder_update(b->builder, SL_T_JOB, running, &r);
	build_change_job(b, 2, .flags |= SL_JOBF_MAY_PREEMPT);
	build_change_job(b, 2, .preempts = sl_builder_str(b->builder, "QOS=low,standby"));
	build_pending(b, (struct build_job) { .id = 3, .nodes = 2, .exclusive = true, .limit = 36000 });
	build_pending(b, (struct build_job) { .id = 4, .nodes = 8, .exclusive = true, .limit = 60 });
	return b;
}

static void who_may_preempt_a_running_job_does_not_wait_for_its_end(void **state)
{
	struct desk d = sit(half_full_and_standby(60));

	(void) state;
	assert_int_equal(reserve(&d, 2), 1);
	assert_int_equal(d.at, 3600);
	assert_int_equal(backfill(&d, 3), 0);	/* or job 2 would have to wait for it */
	accepted(&d);
	leave(&d);
}

static void who_may_preempt_others_waits_for_the_end_of_those_of_another_qos(void **state)
{
	static const char *const lists[] = { "QOS=low,standbys", "QOS=stand", "Partition=standby", "Partition=low,batch" };

	(void) state;
	for (uint32_t i = 0; i < 4; i++) {
		struct build *b = half_full_and_standby(60);
		struct desk d;

		build_change_job(b, 2, .preempts = sl_builder_str(b->builder, lists[i]));
		d = sit(b);
		assert_int_equal(reserve(&d, 2), 1);
		assert_int_equal(d.at, i == 3 ? 3600 : 36000);
		accepted(&d);
		leave(&d);
	}
}

/* Job 9 runs in QOS standby with priority 1000, job 2 waits. */
static void where_priorities_decide_it_waits_for_those_of_no_lower_one(void **state)
{
	static const struct {
		uint32_t flags;
		const char *qos, *preempts;
		int64_t priority, at;
	} cases[] = {
		{ SL_JOBF_PREEMPTS_LOWER, "high", "QOS=standby", 1001, 3600 },
		{ SL_JOBF_PREEMPTS_LOWER, "high", "QOS=standby", 1000, 36000 },
		{ SL_JOBF_PREEMPTS_LOWER, "high", "QOS=low", 1001, 36000 },
		{ SL_JOBF_PREEMPTS_LOWER, "high", "Partition=batch", 1000, 3600 },	/* preempt/partition_prio: an equal one, too */
		{ SL_JOBF_PREEMPTS_LOWER, "high", "Partition=batch", 999, 36000 },
		{ SL_JOBF_PREEMPTS_WITHIN, "standby", "", 1001, 3600 },
		{ SL_JOBF_PREEMPTS_WITHIN, "standby", "QOS=standby", 1000, 36000 },
		{ SL_JOBF_PREEMPTS_WITHIN, "high", "", 1001, 36000 },
		{ SL_JOBF_PREEMPTS_WITHIN, "high", "QOS=standby", 1, 3600 },
		{ SL_JOBF_PREEMPTS_WITHIN, "", "", 1001, 36000 },
	};

	(void) state;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct build *b = half_full_and_standby(60);
		struct desk d;

		build_change_job(b, 9, .priority = 1000);
		build_change_job(b, 2, .flags |= cases[i].flags);
		build_change_job(b, 2, .priority = cases[i].priority);
		build_change_job(b, 2, .qos = sl_builder_str(b->builder, cases[i].qos));
		build_change_job(b, 2, .preempts = sl_builder_str(b->builder, cases[i].preempts));
		d = sit(b);
		assert_int_equal(reserve(&d, 2), 1);
		assert_int_equal(d.at, cases[i].at);
		accepted(&d);
		leave(&d);
	}
}

static void it_waits_for_as_long_as_that_one_is_safe(void **state)
{
	struct desk d = sit(half_full_and_standby(7200));

	(void) state;
	assert_int_equal(reserve(&d, 2), 1);
	assert_int_equal(d.at, 7200);
	accepted(&d);
	leave(&d);
}

static void who_may_not_preempt_it_waits_for_its_end(void **state)
{
	struct desk d = sit(half_full_and_standby(60));

	(void) state;
	assert_int_equal(reserve(&d, 4), 1);
	assert_int_equal(d.at, 36000);
	assert_int_equal(reserve(&d, 2), 1);
	assert_int_equal(d.at, 3600);
	assert_int_equal(sl_plan_undo(d.p, row(&d, 4), &d.err), 0);
	assert_int_equal(reserve(&d, 4), 1);
	assert_int_equal(d.at, 7200);		/* when job 2 ends, for which the running job had to go */
	accepted(&d);
	leave(&d);
}

/* Job 2 waits for one node beside the free one, and may preempt nobody; job 3 preempts what runs on the third. */
static void the_head_gets_no_nodes_in_exchange_of_jobs_that_another_may_preempt(void **state)
{
	struct build *b = build_create("3x4c");
	struct sl_job_row r;
	struct desk d;
	uint32_t low;

	(void) state;
	build_running(b, (struct build_job) { .id = 1, .nodes = 1, .exclusive = true, .ends_in = 3600 });
	low = build_running(b, (struct build_job) { .id = 9, .first = 1, .nodes = 1, .exclusive = true, .ends_in = 36000 });
	sl_builder_row(b->builder, SL_T_JOB, low, &r);
	r.qos = sl_builder_str(b->builder, "standby");
	r.safe_until = BUILD_NOW + 60;
	sl_builder_update(b->builder, SL_T_JOB, low, &r);
	build_pending(b, (struct build_job) { .id = 2, .nodes = 2, .exclusive = true, .limit = 3600 });
	build_pending(b, (struct build_job) { .id = 3, .nodes = 3, .exclusive = true, .limit = 60 });
	build_change_job(b, 3, .flags |= SL_JOBF_MAY_PREEMPT);
	build_change_job(b, 3, .preempts = sl_builder_str(b->builder, "QOS=standby"));
	build_pending(b, (struct build_job) { .id = 4, .nodes = 1, .exclusive = true, .limit = 6960 });
	d = sit(b);
	assert_int_equal(reserve(&d, 2), 1);
	assert_int_equal(d.at, 3600);
	assert_int_equal(reserve(&d, 3), 1);
	assert_int_equal(d.at, 7200);
	assert_int_equal(backfill(&d, 4), 0);
	accepted(&d);
	leave(&d);
}

static void a_plan_that_is_gone_has_left_the_running_job_as_it_was(void **state)
{
	struct desk d = sit(half_full_and_standby(60));

	(void) state;
	assert_int_equal(reserve(&d, 2), 1);
	sl_plan_destroy(d.p);
	d.p = sl_plan_create(d.c, &d.err);
	assert_non_null(d.p);
	assert_int_equal(reserve(&d, 4), 1);
	assert_int_equal(d.at, 36000);
	leave(&d);
}

/* So many nodes with four jobs each that may be preempted; a queue in which those who may do that and those who may not
 * take turns. */
static struct build *full_of_standby(uint32_t nodes, uint32_t queue)
{
	char machine[32];
	struct build *b;

	snprintf(machine, sizeof(machine), "%" PRIu32 "x4c", nodes);
	b = build_create(machine);
	for (uint32_t i = 0; i < 4 * nodes; i++) {
		struct sl_job_row r;
		uint32_t j = build_running(b, (struct build_job) { .id = 1000 + i, .first = i / 4, .nodes = 1, .cores = 1,
								   .ends_in = 36000 + 60 * (i % 7) });

		sl_builder_row(b->builder, SL_T_JOB, j, &r);
		r.qos = sl_builder_str(b->builder, i % 2 ? "standby" : "low");
		r.safe_until = BUILD_NOW + 60;
		sl_builder_update(b->builder, SL_T_JOB, j, &r);
	}
	for (uint32_t id = 1; id <= queue; id++) {
		struct sl_job_row r = build_row(b, (struct build_job) { .id = id, .nodes = id % 2 ? nodes : nodes / 2, .exclusive = true,
									.limit = 3600 });

		if (id % 2) {
			r.flags |= SL_JOBF_MAY_PREEMPT;
			r.preempts = sl_builder_str(b->builder, id % 4 == 1 ? "QOS=low,standby" : "QOS=standby,low");
		}
		build_queue(b, build_append(b, &r), 0);
	}
	return b;
}

/* With each turn some are lifted or put back, with each reservation that is taken back those under it. */
static uint64_t work_of_turns(struct desk *d, uint32_t queue, uint32_t rounds)
{
	uint64_t before = sl_cluster_effort(d->c);

	for (uint32_t n = 0; n < rounds; n++)
		for (uint32_t id = 1; id <= queue; id++) {
			if (n)
				assert_int_equal(sl_plan_undo(d->p, row(d, id), &d->err), 0);
			reserve(d, id);
		}
	return sl_cluster_effort(d->c) - before;
}

static void what_others_preempt_is_no_more_work_than_a_decision_may_be(void **state)
{
	uint64_t work[2], most;

	(void) state;
	for (uint32_t i = 0; i < 2; i++) {
		struct desk d = sit(full_of_standby(5000, 8));

		most = sl_plan_most_effort(d.p);
		work[i] = work_of_turns(&d, 8, i ? 12 : 6);
		leave(&d);
	}
	print_message("%" PRIu64 " %" PRIu64 " of %" PRIu64 "\n", work[0], work[1], most);
	/* one turn at most is beyond the bound, and what it is to place the jobs */
	assert_in_range(work[1], 1, 16 * most);
	assert_in_range(work[1] - work[0], 0, 4 * most);
}

/* A machine on which some jobs run that others may preempt, and some wait. */
static struct build *random_preemption(uint64_t *s)
{
	static const char *const qos[] = { "low", "standby", "normal" };
	static const char *const lists[] = { "QOS=low,standby", "QOS=standby", "Partition=batch", "" };
	struct build *b = build_create("6x4c");

	for (uint32_t n = 0; n < 6; n++) {
		struct sl_job_row r;
		uint32_t j;

		if (!build_below(s, 3))
			continue;
		j = build_running(b, (struct build_job) { .id = 100 + n, .first = n, .nodes = 1, .cores = 1 + build_below(s, 4),
							  .ends_in = 600 * (1 + build_below(s, 10)) });
		sl_builder_row(b->builder, SL_T_JOB, j, &r);
		r.qos = sl_builder_str(b->builder, qos[build_below(s, 3)]);
		r.priority = 1 + build_below(s, 5);
		r.safe_until = build_below(s, 4) ? BUILD_NOW - 600 + 300 * build_below(s, 10) : 0;
		sl_builder_update(b->builder, SL_T_JOB, j, &r);
	}
	for (uint32_t id = 1; id <= 12; id++) {
		struct sl_job_row r = build_row(b, (struct build_job) { .id = id, .nodes = 1 + build_below(s, 6),
			.exclusive = build_below(s, 2), .limit = 300 * (1 + build_below(s, 12)) });

		if (build_below(s, 2)) {
			r.flags |= SL_JOBF_MAY_PREEMPT | (build_below(s, 3) ? 0 : SL_JOBF_PREEMPTS_LOWER) |
				(build_below(s, 3) ? 0 : SL_JOBF_PREEMPTS_WITHIN);
			r.preempts = sl_builder_str(b->builder, lists[build_below(s, 4)]);
			r.qos = sl_builder_str(b->builder, qos[build_below(s, 3)]);
			r.priority = 1 + build_below(s, 5);
		} else if (build_below(s, 2)) {
			r.flags |= SL_JOBF_NO_RESERVE;
			r.yields_after = build_below(s, 2) ? 60 : 900;
		}
		build_queue(b, build_append(b, &r), 0);
	}
	return b;
}

/* ... and what was decided leaves no trace: decided again, it is the same. */
static void any_plan_of_jobs_that_preempt_passes_the_checker_and_leaves_no_trace(void **state)
{
	(void) state;
	for (uint64_t seed = 1; seed <= 4000; seed++) {
		uint64_t s = seed;
		struct desk d = sit(random_preemption(&s));
		int64_t at[2][13] = { { 0 } };

		for (uint32_t turn = 0; turn < 2; turn++) {
			uint64_t same = seed;

			for (uint32_t n = 0; n < 30; n++) {
				uint32_t id = 1 + build_below(&same, 12), verb = build_below(&same, 5);

				d.at = -1;
				if (verb == 0)
					at[turn][id] += start(&d, id);
				else if (verb == 1)
					at[turn][id] += backfill(&d, id);
				else if (verb == 2 && sl_plan_job(d.p, row(&d, id)) == SL_PLAN_RESERVED)
					assert_int_equal(sl_plan_undo(d.p, row(&d, id), &d.err), 0);
				else if (reserve(&d, id))
					at[turn][id] = 10 * d.at;
			}
			accepted(&d);
			sl_plan_destroy(d.p);
			d.p = sl_plan_create(d.c, &d.err);
			assert_non_null(d.p);
		}
		if (memcmp(at[0], at[1], sizeof(at[0])))
			print_error("seed %u\n", (unsigned) seed);
		assert_memory_equal(at[0], at[1], sizeof(at[0]));
		leave(&d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_reserved_for_a_job_of_such_a_qos),
		cmocka_unit_test(a_job_that_may_be_preempted_starts_beside_a_reservation),
		cmocka_unit_test(it_is_safe_for_as_long_as_it_may_not_be_preempted),
		cmocka_unit_test(an_advance_reservation_preempts_nobody),
		cmocka_unit_test(its_licences_are_not_given_back),
		cmocka_unit_test(who_may_preempt_a_running_job_does_not_wait_for_its_end),
		cmocka_unit_test(who_may_preempt_others_waits_for_the_end_of_those_of_another_qos),
		cmocka_unit_test(where_priorities_decide_it_waits_for_those_of_no_lower_one),
		cmocka_unit_test(it_waits_for_as_long_as_that_one_is_safe),
		cmocka_unit_test(who_may_not_preempt_it_waits_for_its_end),
		cmocka_unit_test(the_head_gets_no_nodes_in_exchange_of_jobs_that_another_may_preempt),
		cmocka_unit_test(a_plan_that_is_gone_has_left_the_running_job_as_it_was),
		cmocka_unit_test(any_plan_of_jobs_that_preempt_passes_the_checker_and_leaves_no_trace),
		cmocka_unit_test(what_others_preempt_is_no_more_work_than_a_decision_may_be),
		cmocka_unit_test(a_bid_is_for_as_long_as_it_needs_its_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
