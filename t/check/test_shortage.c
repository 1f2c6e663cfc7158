/* SPDX-License-Identifier: MIT */
/*
 * Reasons of a plan for which nobody is stopped for a job, written by hand: what is true is taken, and what is not is refused.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "t/check/by_hand.h"
#include "check/check.h"

/* Four nodes of eight cores, two GPUs and 1000 MiB with a job on each, of which the fourth may not be stopped; job 7 waits for three. */
static struct build *four(void)
{
	struct build *b = build_create("4x8c2g1000m");

	b->meta.select_flags |= SL_SELECT_MEMORY;

	for (uint32_t id = 1; id <= 4; id++) {
		build_running(b, (struct build_job) { .id = id, .first = id - 1, .cores = 6, .gpus = 1, .memory = 600, .ends_in = 3600 });
		if (id < 4)
			build_stoppable(b, id, SL_STOP_CANCEL);
	}
	build_pending(b, (struct build_job) { .id = 7, .nodes = 4, .tasks = 16, .cpus_per_task = 1, .gpus = 2, .memory = 500, .limit = 600 });
	build_may_preempt(b, 7);
	return b;
}

/* Job 7 is short, at once and for its time. */
static struct sl_plan_shortage_row row_of(uint32_t what, int64_t needs, int64_t has)
{
	struct sl_plan_shortage_row row = sl_plan_shortage_row();

	row.job = 7;
	row.stamp = 1007;
	row.partition = 0;
	row.start_time = BUILD_NOW + 1;
	row.seconds = 600;
	row.what = what;
	row.needs = needs;
	row.has = has;
	row.stoppable = 3;
	return row;
}

static struct sl_range short_on(struct built_plan *p, uint32_t first, uint32_t last, uint32_t what, uint32_t which, int64_t needs,
				int64_t has)
{
	struct sl_plan_short_row row = { .first = first, .last = last, .what = what, .which = which, .needs = needs, .has = has };

	return (struct sl_range) { sl_builder_append(p->builder, SL_P_SHORT, &row), 1 };
}

static struct sl_range spared(struct built_plan *p, uint32_t id)
{
	return (struct sl_range) { sl_builder_append(p->builder, SL_P_SPARED, &(struct sl_plan_spared_row) { .job = id }), 1 };
}

static void say(struct built_plan *p, const struct sl_plan_shortage_row *row)
{
	sl_builder_append(p->builder, SL_P_SHORTAGE, row);
}

/* Node 3 is short of that, so that the job has three of its four nodes. */
static void expect_of_node(uint32_t what, int64_t needs, int64_t has, const char *words)
{
	struct build *b = four();
	struct built_plan *p = build_plan(b);
	struct sl_plan_shortage_row row = row_of(SL_SHORT_NODES, 4, 3);
	struct sl_job_row job;

	sl_builder_row(b->builder, SL_T_JOB, build_job_row(b, 7), &job);
	row.shorts = short_on(p, 3, 3, what, what == SL_SHORT_GRES ? job.gres.first : SL_NONE, needs, has);
	say(p, &row);
	expect(b, p, words);
	build_destroy(b);
}

static void a_node_is_short_of_what_it_would_not_have_free(void **state)
{
	static const char *const gpus = "job 7: node n3 is not short of gres: it has 1, the job needs 2 there";
	static const char *const memory = "job 7: node n3 is not short of memory: it has 400, the job needs 500 there";

	(void) state;
	expect_of_node(SL_SHORT_GRES, 2, 1, NULL);
	expect_of_node(SL_SHORT_GRES, 2, 0, gpus);
	expect_of_node(SL_SHORT_GRES, 3, 1, gpus);
	expect_of_node(SL_SHORT_GRES, 1, 1, gpus);
	expect_of_node(SL_SHORT_MEMORY, 500, 400, NULL);
	expect_of_node(SL_SHORT_MEMORY, 450, 420, NULL);
	expect_of_node(SL_SHORT_MEMORY, 500, 399, memory);
	expect_of_node(SL_SHORT_MEMORY, 501, 400, memory);
	expect_of_node(SL_SHORT_CORES, 3, 2, "job 7: node n3 is not short of cores: it has 2, the job needs 1 there");
	expect_of_node(SL_SHORT_NODES, 2, 1, "job 7: what is short on some of its nodes is not said");
}

/* Said of so many nodes from *first* on, with that job spared. */
static void expect_of_nodes(uint32_t first, uint32_t nodes, uint32_t needs, uint32_t has, uint32_t sparing, const char *words)
{
	struct build *b = four();
	struct built_plan *p = build_plan(b);
	struct sl_plan_shortage_row row = row_of(SL_SHORT_NODES, needs, has);
	struct sl_job_row job;

	sl_builder_row(b->builder, SL_T_JOB, build_job_row(b, 7), &job);
	if (nodes)
		row.shorts = short_on(p, first, first + nodes - 1, SL_SHORT_GRES, job.gres.first, 2, 1);
	if (sparing)
		row.spared = spared(p, sparing);
	say(p, &row);
	expect(b, p, words);
	build_destroy(b);
}

static void how_many_may_be_stopped_is_counted_again(void **state)
{
	(void) state;
	for (uint32_t said = 2; said <= 4; said++) {
		struct build *b = four();
		struct built_plan *p = build_plan(b);
		struct sl_plan_shortage_row row = row_of(SL_SHORT_NODES, 4, 3);
		struct sl_job_row job;

		sl_builder_row(b->builder, SL_T_JOB, build_job_row(b, 7), &job);
		row.shorts = short_on(p, 3, 3, SL_SHORT_GRES, job.gres.first, 2, 1);
		row.stoppable = said;
		say(p, &row);
		expect(b, p, said == 3 ? NULL : said == 2 ? "job 7: 2 jobs are said to be what may be stopped for it, there are 3" :
		       "job 7: 4 jobs are said to be what may be stopped for it, there are 3");
		build_destroy(b);
	}
}

static void all_others_count_whoever_is_spared(void **state)
{
	(void) state;
	expect_of_nodes(2, 2, 4, 2, 0, "job 7: node n2 is not short of gres: it has 2");
	expect_of_nodes(2, 2, 4, 2, 3, NULL);
	expect_of_nodes(3, 1, 4, 2, 3, "job 7: is not short of nodes without those that may be stopped: it could have 3");
	expect_of_nodes(3, 1, 4, 4, 0, "job 7: is not short of nodes");
	expect_of_nodes(3, 1, 5, 4, 0, "job 7: is not short of nodes");
	expect_of_nodes(0, 0, 4, 3, 0, "job 7: is not short of nodes without those that may be stopped: it could have 4");
	expect_of_nodes(3, 2, 4, 3, 0, "job 7: what is short on some of its nodes is not said");
	expect_of_nodes(3, 1, 4, 3, 99, "job 7: job 99, which would not be stopped for it, is not in the snapshot");
}

static void in_all_it_is_short_of_what_its_nodes_have_together(void **state)
{
	static const struct { uint32_t tasks; int64_t has; const char *words; } cases[] = {
		{ 27, 26, NULL }, { 27, 25, "job 7: is not short of cores" }, { 26, 25, "job 7: is not short of cores" },
		{ 26, 26, "job 7: is not short of cores" },
	};

	(void) state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct build *b = four();	/* 24 cores of three nodes, and two of the fourth */
		struct built_plan *p = build_plan(b);
		struct sl_plan_shortage_row row = row_of(SL_SHORT_CORES, cases[i].tasks, cases[i].has);

		build_change_job(b, 7, .num_tasks = cases[i].tasks, build_r_.min_cpus = cases[i].tasks,
				 build_r_.gres = (struct sl_range) { 0, 0 });
		build_change_job(b, 7, .memory_per_node = 1);
		say(p, &row);
		expect(b, p, cases[i].words);
		build_destroy(b);
	}
}

/* The row is about the job in a reservation that it may use. */
static void reserve_for_it(struct build *b, struct sl_plan_shortage_row *row)
{
	uint32_t resv = build_reservation(b, "magnet", -60, 3600, 0, 0);
	struct sl_range way = { sl_builder_append(b->builder, SL_T_WAY, &(struct sl_way_row) { resv }), 1 };

	build_change(b, SL_T_QUEUE, 0, sl_queue_row, .ways = way);
	row->reservation = resv;
}

/* There are four of a licence, of which job 1, which may be stopped, has one and job 4 one. */
static void expect_of_license(int64_t needs, int64_t has, uint32_t sparing, bool reserved, const char *words)
{
	struct sl_license_row lic = { .total = 4, .used = 2 };
	struct build *b = four();
	struct built_plan *p = build_plan(b);
	struct sl_plan_shortage_row row = row_of(SL_SHORT_LICENSE, needs, has);

	lic.name = sl_builder_str(b->builder, "matlab");
	row.which = sl_builder_append(b->builder, SL_T_LICENSE, &lic);
	build_change_job(b, 1, .licenses = build_license(b, 0, 1));
	build_change_job(b, 4, .licenses = build_license(b, 0, 1));
	build_change_job(b, 7, .licenses = build_license(b, 0, 4));
	if (sparing)
		row.spared = spared(p, sparing);
	if (reserved)
		reserve_for_it(b, &row);
	say(p, &row);
	expect(b, p, words);
	build_destroy(b);
}

static void of_a_licence_there_are_those_that_nobody_keeps(void **state)
{
	(void) state;
	/* also for a job in a reservation that brings none */
	for (int reserved = 0; reserved < 2; reserved++) {
		expect_of_license(4, 3, 0, reserved, NULL);
		expect_of_license(4, 2, 0, reserved, "job 7: is not short of license matlab: there are 3");
		expect_of_license(4, 2, 1, reserved, NULL);
		expect_of_license(5, 4, 0, reserved, "job 7: is not short of license matlab: there are 3");
	}
}

static void who_is_not_gone_by_then_is_in_the_way(void **state)
{
	(void) state;
	for (int64_t at = 60; at <= 120; at += 60) {
		struct build *b = four();
		struct built_plan *p = build_plan(b);
		struct sl_plan_shortage_row row = row_of(SL_SHORT_NODES, 4, 2);
		struct sl_job_row job;

		build_change_job(b, 3, .grace_time = 100);
		sl_builder_row(b->builder, SL_T_JOB, build_job_row(b, 7), &job);
		row.start_time = BUILD_NOW + at;
		row.shorts = short_on(p, 2, 3, SL_SHORT_GRES, job.gres.first, 2, 1);
		say(p, &row);
		expect(b, p, at < 100 ? NULL : "job 7: node n2 is not short of gres: it has 2");
		build_destroy(b);
	}
}

static void what_the_plan_books_is_in_the_way_too(void **state)
{
	struct build *b = four();
	struct built_plan *p = build_plan(b);
	struct sl_plan_shortage_row row = row_of(SL_SHORT_NODES, 4, 2);
	struct sl_job_row job;

	(void) state;
	build_pending(b, (struct build_job) { .id = 8, .tasks = 1, .gpus = 1, .memory = 100, .limit = 600 });
	sl_builder_row(b->builder, SL_T_JOB, build_job_row(b, 7), &job);
	put_start(p, 8, place(p, 0, 1, 100, 1));
	row.shorts = short_on(p, 0, 0, SL_SHORT_GRES, job.gres.first, 2, 1);
	short_on(p, 3, 3, SL_SHORT_GRES, job.gres.first, 2, 1);
	row.shorts.count = 2;
	say(p, &row);
	expect(b, p, NULL);
	build_destroy(b);
}

static void it_is_of_a_job_that_waits_and_of_a_time_for_it(void **state)
{
	static const struct { int64_t at, seconds, stamp; uint32_t job, partition, what; const char *words; } cases[] = {
		{ 1, 600, 1007, 7, 0, SL_SHORT_NODES, NULL }, { 1, 599, 1007, 7, 0, SL_SHORT_NODES, NULL },
		{ 1, 601, 1007, 7, 0, SL_SHORT_NODES, "job 7: is short of something from 1000001 for 601 s: not a time for it" },
		{ 1, 0, 1007, 7, 0, SL_SHORT_NODES, "not a time for it" }, { -1, 600, 1007, 7, 0, SL_SHORT_NODES, "not a time for it" },
		{ 1, 600, 1, 7, 0, SL_SHORT_NODES, "job 7: is short of something, and has another stamp there" },
		{ 1, 600, 1007, 99, 0, SL_SHORT_NODES, "job 99: is short of something, and not in the snapshot" },
		{ 1, 600, 1001, 1, 0, SL_SHORT_NODES, "job 1: is short of something where it is not queued" },
		{ 1, 600, 1007, 7, 5, SL_SHORT_NODES, "job 7: is short of something where it is not queued" },
		{ 1, 600, 1007, 7, 0, SL_SHORT_MEMORY, "job 7: what it is short of is not said" },
		{ 1, 600, 1007, 7, 0, SL_SHORT_GRES, "job 7: what it is short of is not said" },
		{ 1, 600, 1007, 7, 0, SL_SHORT_LICENSE, "job 7: what it is short of is not said" },
	};

	(void) state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct build *b = four();
		struct built_plan *p = build_plan(b);
		struct sl_plan_shortage_row row = row_of(cases[i].what, 4, 3);
		struct sl_job_row job;

		sl_builder_row(b->builder, SL_T_JOB, build_job_row(b, 7), &job);
		row.shorts = short_on(p, 3, 3, SL_SHORT_GRES, job.gres.first, 2, 1);
		row.start_time = BUILD_NOW + cases[i].at;
		row.seconds = cases[i].seconds;
		row.stamp = cases[i].stamp;
		row.job = cases[i].job;
		row.partition = cases[i].partition;
		say(p, &row);
		expect(b, p, cases[i].words);
		build_destroy(b);
	}
}

/* What it is short of in a reservation that it may not use says nothing of it. */
static void a_reservation_is_one_of_its_ways(void **state)
{
	static const struct { bool drawn; const char *words; } cases[] = {
		{ false, "job 7: is short of something in a reservation that is none of its ways" }, { true, NULL },
	};

	(void) state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct build *b = four();
		struct built_plan *p = build_plan(b);
		struct sl_plan_shortage_row row = row_of(SL_SHORT_NODES, 4, 1);
		uint32_t resv = build_reservation(b, "magnet", -60, 3600, 0, 0);
		struct sl_range way = { sl_builder_append(b->builder, SL_T_WAY, &(struct sl_way_row) { resv }), 1 };

		if (cases[i].drawn)
			build_change(b, SL_T_QUEUE, 0, sl_queue_row, .ways = way);
		row.reservation = resv;
		say(p, &row);
		expect(b, p, cases[i].words);
		build_destroy(b);
	}
}

static void a_plan_has_no_more_of_them_than_can_be_checked(void **state)
{
	struct build *b = four();
	struct sl_plan_shortage_row row = row_of(SL_SHORT_NODES, 4, 3);

	(void) state;
	for (uint32_t n = SL_PLAN_SHORTAGES_MAX; n <= SL_PLAN_SHORTAGES_MAX + 1; n++) {
		struct built_plan *p = build_plan(b);
		struct sl_plan_image image;
		struct sl_error err = { SL_OK, "" };
		const void *bytes;
		size_t size;

		for (uint32_t i = 0; i < n; i++)
			say(p, &row);
		assert_int_equal(sl_builder_finish(p->builder, &bytes, &size, &err), 0);
		assert_int_equal(sl_plan_image_open(&image, bytes, size, &err), n > SL_PLAN_SHORTAGES_MAX ? -1 : 0);
		if (err.code)
			assert_string_equal(err.text, "plan: 1001 shortages that spare 0 jobs, expected at most 1000 and 1000000");
		build_plan_destroy(p);
	}
	build_destroy(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_node_is_short_of_what_it_would_not_have_free),
		cmocka_unit_test(all_others_count_whoever_is_spared),
		cmocka_unit_test(how_many_may_be_stopped_is_counted_again),
		cmocka_unit_test(in_all_it_is_short_of_what_its_nodes_have_together),
		cmocka_unit_test(of_a_licence_there_are_those_that_nobody_keeps),
		cmocka_unit_test(who_is_not_gone_by_then_is_in_the_way),
		cmocka_unit_test(what_the_plan_books_is_in_the_way_too),
		cmocka_unit_test(it_is_of_a_job_that_waits_and_of_a_time_for_it),
		cmocka_unit_test(a_reservation_is_one_of_its_ways),
		cmocka_unit_test(a_plan_has_no_more_of_them_than_can_be_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
