/* SPDX-License-Identifier: MIT */
/*
 * Jobs that a plan stops for others, and places that it holds, written by hand: what check/stops.c and check/holds.c take and refuse.
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

/* Its reservation's place is held; the first so many starts and reservations stood before. */
static void hold(struct built_plan *p, uint32_t job, uint32_t starts, uint32_t behind)
{
	struct sl_plan_hold_row row = sl_plan_hold_row();

	row.job = job;
	row.stamp = job + 1000;
	row.until = BUILD_NOW + 10000;
	row.starts = starts;
	row.behind = behind;
	row.verdict = SL_VERDICT_OPTIMAL;
	sl_builder_append(p->builder, SL_P_HOLD, &row);
}

static void stop(struct build *b, struct built_plan *p, uint32_t job, uint32_t preemptor, uint32_t group)
{
	struct sl_plan_stop_row row = sl_plan_stop_row();
	struct sl_job_row of;

	sl_builder_row(b->builder, SL_T_JOB, build_job_row(b, job), &of);
	row.job = job;
	row.start_time = of.start_time;
	row.preemptor = preemptor;
	row.group = group;
	sl_builder_append(p->builder, SL_P_STOP, &row);
}

/* A job that runs and may be stopped, at once. */
static void victim(struct build *b, struct build_job j)
{
	j.ends_in = 3600;
	build_running(b, j);
	build_stoppable(b, j.id, SL_STOP_CANCEL);
}

static void preemptor(struct build *b, struct build_job j)
{
	j.limit = 600;
	build_pending(b, j);
	build_may_preempt(b, j.id);
}

/* -- the free part of a place ---------------------------------------------------- */

/* Job 1 has half of the node and five minutes of grace; job 7 wants all of it, and jobs 8 and 9 four cores for a minute each. */
static struct build *half_a_node(void)
{
	struct build *b = build_create("1x8c");

	victim(b, (struct build_job) { .id = 1, .cores = 4 });
	build_change_job(b, 1, .grace_time = 300, build_r_.safe_until = BUILD_NOW + 300);
	preemptor(b, (struct build_job) { .id = 7, .exclusive = true });
	build_pending(b, (struct build_job) { .id = 8, .tasks = 4, .limit = 60 });
	build_pending(b, (struct build_job) { .id = 9, .tasks = 4, .limit = 60 });
	return b;
}

static void nobody_starts_on_the_free_part_of_a_place_that_the_same_plan_holds(void **state)
{
	struct build *b = half_a_node();

	(void) state;
	for (uint32_t stood = 0; stood < 2; stood++) {
		struct built_plan *p = build_plan(b);

		put_start(p, 8, place(p, 0, 4, 0, 0));
		put_reservation(p, 7, 300, place(p, 0, 8, 0, 0));
		hold(p, 7, stood, 0);
		stop(b, p, 1, 7, 0);
		expect(b, p, stood ? NULL : "job 8: node n0: 12 cores in use now, it has 8");
	}
	build_destroy(b);
}

static void nor_is_it_reserved_there_for_a_time_before(void **state)
{
	struct build *b = half_a_node();

	(void) state;
	for (uint32_t stood = 0; stood < 2; stood++) {
		struct built_plan *p = build_plan(b);

		put_reservation(p, 8, 100, place(p, 0, 4, 0, 0));
		put_reservation(p, 7, 300, place(p, 0, 8, 0, 0));
		hold(p, 7, 0, stood);
		stop(b, p, 1, 7, 0);
		expect(b, p, stood ? NULL : "job 8: node n0: 12 cores in use in 100 s, it has 8");
	}
	build_destroy(b);
}

static void who_was_there_first_may_stay_and_nobody_else_comes(void **state)
{
	struct build *b = half_a_node();
	struct built_plan *p;

	(void) state;
	build_change_job(b, 8, .min_cpus = 2, build_r_.num_tasks = 2);
	build_change_job(b, 9, .min_cpus = 2, build_r_.num_tasks = 2);
	p = build_plan(b);
	put_start(p, 8, place(p, 0, 2, 0, 0));
	put_start(p, 9, place(p, 0, 2, 0, 0));
	put_reservation(p, 7, 300, place(p, 0, 8, 0, 0));
	hold(p, 7, 1, 0);
	stop(b, p, 1, 7, 0);
	expect(b, p, "job 9: node n0: 10 cores in use now, it has 8");
	build_destroy(b);
}

/* -- is each needed ------------------------------------------------------------------ */

static void license(struct build *b, const char *name, uint32_t total, uint32_t used)
{
	struct sl_license_row row = { .total = total, .used = used };

	row.name = sl_builder_str(b->builder, name);
	sl_builder_append(b->builder, SL_T_LICENSE, &row);
}

/* Job 1 runs with one of a licence of which there are so many; job 7 wants another node, and one of a licence. */
static void expect_of_licenses(uint32_t of_victim, uint32_t of_job, uint32_t total, const char *words)
{
	struct build *b = build_create("2x8c");
	struct built_plan *p;

	license(b, "matlab", total, of_victim == 0);
	license(b, "ansys", total, of_victim == 1);
	victim(b, (struct build_job) { .id = 1, .cores = 8 });
	build_change_job(b, 1, .licenses = build_license(b, of_victim, 1));
	preemptor(b, (struct build_job) { .id = 7, .exclusive = true });
	build_change_job(b, 7, .licenses = build_license(b, of_job, 1));
	p = build_plan(b);
	put_reservation(p, 7, 1, place(p, 1, 8, 0, 0));
	hold(p, 7, 0, 0);
	stop(b, p, 1, 7, 0);
	expect(b, p, words);
	build_destroy(b);
}

static void a_licence_that_is_not_short_is_no_reason_to_stop_anybody(void **state)
{
	(void) state;
	expect_of_licenses(0, 0, 1, NULL);
	expect_of_licenses(0, 0, 2, "job 7: job 1 is stopped for it in vain");
	expect_of_licenses(0, 1, 1, "job 7: job 1 is stopped for it in vain");
}

static void nor_is_the_partitions_share_of_a_node_while_it_is_not_used_up(void **state)
{
	(void) state;
	for (uint32_t most = 8; most <= 12; most += 4) {
		struct build *b = build_create("1x16c");
		struct built_plan *p;

		build_change(b, SL_T_PARTITION, 0, sl_partition_row, .max_cpus_per_node = most);
		victim(b, (struct build_job) { .id = 1, .cores = 4 });
		preemptor(b, (struct build_job) { .id = 7, .tasks = 8 });
		p = build_plan(b);
		put_reservation(p, 7, 1, place(p, 0, 8, 0, 0));
		hold(p, 7, 0, 0);
		stop(b, p, 1, 7, 0);
		expect(b, p, most == 8 ? NULL : "job 7: job 1 is stopped for it in vain");
		build_destroy(b);
	}
}

#define GPU 0
#define SHARD 1

/* Job 1 has three of the four shards of one GPU of two; job 7 gets as many, of that GPU or the other. */
static void expect_of_shares(uint32_t device, const char *words)
{
	struct build *b = build_create("1x8c2g");
	struct sl_gres_kind_row kind = sl_gres_kind_row();
	struct sl_node_gres_row gpus = { .kind = GPU, .count = 2, .share = SL_NONE }, shares = { .kind = SHARD, .count = 8, .share = GPU };
	struct sl_alloc_gres_row has = { .kind = SHARD, .count = 3, .of = GPU, .devices = 1 };
	struct sl_plan_place_gres_row gets = { .kind = SHARD, .count = 3, .of = GPU, .devices = 1u << device };
	struct sl_plan_place_row place = { .node = 0, .cores = 1 };
	struct sl_range rows;
	struct sl_job_row job;
	struct built_plan *p;

	kind.key = kind.name = sl_builder_str(b->builder, "shard");
	sl_builder_append(b->builder, SL_T_GRES_KIND, &kind);
	rows = (struct sl_range) { sl_builder_append(b->builder, SL_T_NODE_GRES, &gpus), 2 };
	sl_builder_append(b->builder, SL_T_NODE_GRES, &shares);
	build_change(b, SL_T_NODE, 0, sl_node_row, .gres = rows);
	victim(b, (struct build_job) { .id = 1, .cores = 1 });
	rows = (struct sl_range) { sl_builder_append(b->builder, SL_T_ALLOC_GRES, &has), 1 };
	sl_builder_row(b->builder, SL_T_JOB, build_job_row(b, 1), &job);
	build_change(b, SL_T_ALLOC, job.alloc.first, sl_alloc_row, .gres = rows);
	preemptor(b, (struct build_job) { .id = 7, .tasks = 1 });
	build_change_job(b, 7, .gres = build_gres(b, "shard", "", 3, SL_PER_NODE));
	p = build_plan(b);
	place.gres = (struct sl_range) { sl_builder_append(p->builder, SL_P_PLACE_GRES, &gets), 1 };
	put_reservation(p, 7, 1, (struct sl_range) { sl_builder_append(p->builder, SL_P_PLACE, &place), 1 });
	hold(p, 7, 0, 0);
	stop(b, p, 1, 7, 0);
	expect(b, p, words);
	build_destroy(b);
}

static void shares_are_short_of_one_device_and_not_of_all_together(void **state)
{
	(void) state;
	expect_of_shares(0, NULL);
	expect_of_shares(1, "job 7: job 1 is stopped for it in vain");
}

/* -- circles ---------------------------------------------------------------------------- */

static void note_stopped(struct build *b, uint32_t job, uint32_t for_whom)
{
	struct sl_stopped_row row = sl_stopped_row();

	row.job = job;
	row.preemptor = for_whom;
	row.time = BUILD_NOW - 100;
	row.partition = 0;
	sl_builder_append(b->builder, SL_T_STOPPED, &row);
}

/* Job 7 was stopped for another, that one for a third and so on, each so many times; job 1 is the last of them. */
static void expect_of_chain(uint32_t links, uint32_t times, const char *words)
{
	struct build *b = build_create("1x8c");
	struct built_plan *p;

	victim(b, (struct build_job) { .id = 1 });
	preemptor(b, (struct build_job) { .id = 7, .exclusive = true });
	for (uint32_t i = 0; i < links; i++)
		for (uint32_t k = 0; k < times; k++)
			note_stopped(b, i ? 100 + i : 7, i + 1 < links ? 101 + i : words ? 1 : 99);
	p = build_plan(b);
	put_reservation(p, 7, 1, place(p, 0, 8, 0, 0));
	hold(p, 7, 0, 0);
	stop(b, p, 1, 7, 0);
	expect(b, p, words);
	build_destroy(b);
}

static void a_circle_is_found_however_long_it_is_and_however_often_each_was_stopped(void **state)
{
	static const char *const words = "job 1, which is stopped for it, preempted it, or whoever did, a while ago";

	(void) state;
	expect_of_chain(1, 1, words);
	expect_of_chain(12, 1, words);
	expect_of_chain(12, 40, NULL);	/* 40 to the power of 12 walks */
}

/* -- gangs --------------------------------------------------------------------------------- */

/* Jobs 1 to 4 run on a node each, with these comments, and *spared* may not be preempted yet; job 7 wants the first two nodes. */
static void expect_of_spared(const char *const comment[4], uint32_t array, uint32_t spared, const char *words)
{
	struct build *b = build_create("4x8c");
	struct built_plan *p;

	for (uint32_t id = 1; id <= 4; id++) {
		victim(b, (struct build_job) { .id = id, .first = id - 1, .cores = 8 });
		build_change_job(b, id, .comment = sl_builder_str(b->builder, comment[id - 1]), build_r_.uid = id == 4 ? 2 : 1,
				 build_r_.array_job_id = array ? array : SL_NONE);
		if (id == spared)
			build_change_job(b, id, .preempt_from = BUILD_NOW + 5);
	}
	preemptor(b, (struct build_job) { .id = 7, .nodes = 2, .exclusive = true });
	p = build_plan(b);
	put_reservation(p, 7, 1, places(p, 0, 1, 8));
	hold(p, 7, 0, 0);
	stop(b, p, 1, 7, 0);
	stop(b, p, 2, 7, words && *words == '1' ? 1 : 0);
	expect(b, p, words && *words == '1' ? words + 1 : words);
	build_destroy(b);
}

static void expect_of_gangs(const char *const comment[4], uint32_t array, const char *words)
{
	expect_of_spared(comment, array, 0, words);
}

static void whom_slurm_spares_may_go_on_without_his_gang(void **state)
{
	(void) state;
	expect_of_spared((const char *const[]) { "gang=a", "gang=a", "gang=a", "" }, 0, 3, NULL);
	expect_of_spared((const char *const[]) { "gang", "gang", "gang", "" }, 5, 3, NULL);
	expect_of_spared((const char *const[]) { "gang=a", "gang=a", "gang=a", "" }, 0, 4,
			 "job 7: job 1 is stopped for it without job 3, which is of the same gang");
}

static void a_gang_is_who_says_so_of_one_user_and_one_name(void **state)
{
	(void) state;
	expect_of_gangs((const char *const[]) { "gang=a", "x gang=a;y", "gang=b", "gang=a" }, 0, NULL);
	expect_of_gangs((const char *const[]) { "gang=a", "gang=a", "gang=a", "" }, 0,
			"job 7: job 1 is stopped for it without job 3, which is of the same gang");
	expect_of_gangs((const char *const[]) { "gang=a", "gang=a", "", "" }, 0,
			"1job 7: job 1 is stopped for it without job 2, which is of the same gang");
	expect_of_gangs((const char *const[]) { "gang", "gang", "gang=gang", "gang" }, 5, NULL);
	expect_of_gangs((const char *const[]) { "gang", "gang", "gang", "" }, 5, "without job 3, which is of the same gang");
	expect_of_gangs((const char *const[]) { "gang", "gang", "gang", "" }, 0, NULL);
	expect_of_gangs((const char *const[]) { "gangs=a", "", "gangs=a", "" }, 0, NULL);
}

/* -- whom Slurm would not let be stopped ------------------------------------------------------ */

/* Job 1 runs on node 0 and may be stopped for job 7, job 2 on node 1 in another partition; what is wrong with the stop of a job? */
static void expect_wrong(uint32_t job, void (*spoil)(struct build *b, struct sl_plan_stop_row *row), const char *words)
{
	struct build *b = build_create("2x8c");
	struct sl_plan_stop_row row = sl_plan_stop_row();
	struct built_plan *p;
	struct sl_job_row of;

	build_partition(b, "other", 1, 1);
	victim(b, (struct build_job) { .id = 1, .cores = 8 });
	victim(b, (struct build_job) { .id = 2, .first = 1, .cores = 8, .partition = 1 });
	preemptor(b, (struct build_job) { .id = 7, .exclusive = true });
	sl_builder_row(b->builder, SL_T_JOB, build_job_row(b, job), &of);
	row = (struct sl_plan_stop_row) { .job = job, .preemptor = 7, .start_time = of.start_time };
	if (spoil)
		spoil(b, &row);
	p = build_plan(b);
	put_reservation(p, 7, 1, place(p, 0, 8, 0, 0));
	hold(p, 7, 0, 0);
	if (job != 1)
		stop(b, p, 1, 7, 5);
	sl_builder_append(p->builder, SL_P_STOP, &row);
	expect(b, p, words);
	build_destroy(b);
}

static void has_ended(struct build *b, struct sl_plan_stop_row *row)
{
	(void) row;
	build_change_job(b, 1, .flags |= SL_JOBF_COMPLETING);
}

static void runs_again(struct build *b, struct sl_plan_stop_row *row)
{
	(void) b;
	row->start_time++;
}

static void is_told_already(struct build *b, struct sl_plan_stop_row *row)
{
	(void) row;
	build_change_job(b, 1, .preempt_time = BUILD_NOW - 5);
}

static void is_of_another_qos(struct build *b, struct sl_plan_stop_row *row)
{
	(void) row;
	build_change_job(b, 1, .qos = sl_builder_str(b->builder, "high"));
}

static void is_exempt(struct build *b, struct sl_plan_stop_row *row)
{
	(void) row;
	build_change_job(b, 1, .preempt_from = BUILD_NOW + 1);
}

static void cannot_be_requeued(struct build *b, struct sl_plan_stop_row *row)
{
	(void) b;
	row->mode = SL_STOP_REQUEUE;
}

static void costs_less_than_nothing(struct build *b, struct sl_plan_stop_row *row)
{
	(void) b;
	row->cost = -1;
}

static void is_moved_without_a_requeue(struct build *b, struct sl_plan_stop_row *row)
{
	(void) b;
	row->moves = 1;
}

static void is_half_moved(struct build *b, struct sl_plan_stop_row *row)
{
	(void) b;
	row->moves = 2;
}

static void is_gone(struct build *b, struct sl_plan_stop_row *row)
{
	(void) b;
	row->job = 99;
}

static void nobody_is_stopped_whom_slurm_would_not_let_be_stopped_and_both_jobs_are_named(void **state)
{
#define WHO "job 7: job 1, which is stopped for it, "
	(void) state;
	expect_wrong(1, NULL, NULL);
	expect_wrong(1, has_ended, WHO "does not run");
	expect_wrong(1, runs_again, WHO "is in another run");
	expect_wrong(1, is_told_already, WHO "is being stopped already");
	expect_wrong(1, is_of_another_qos, WHO "may not be preempted by it");
	expect_wrong(1, is_exempt, WHO "may not be preempted yet");
	expect_wrong(1, cannot_be_requeued, WHO "may not be stopped in that way");
	expect_wrong(1, is_moved_without_a_requeue, WHO "is moved, and would not be requeued");
	expect_wrong(1, is_half_moved, WHO "is neither moved nor not moved");
	expect_wrong(1, costs_less_than_nothing, WHO "would cost less than nothing");
	expect_wrong(1, is_gone, "job 7: job 99 is to be stopped for it, which is not in the snapshot");
	expect_wrong(7, NULL, "job 7: job 7 is to be stopped for it, which is itself");
	expect_wrong(2, NULL, "job 7: job 2 is stopped for it in vain");	/* it has none of the nodes */
}

static void nobody_is_stopped_twice(void **state)
{
	struct build *b = build_create("1x8c");
	struct built_plan *p;

	(void) state;
	victim(b, (struct build_job) { .id = 1, .cores = 8 });
	preemptor(b, (struct build_job) { .id = 7, .exclusive = true });
	p = build_plan(b);
	put_reservation(p, 7, 1, place(p, 0, 8, 0, 0));
	hold(p, 7, 0, 0);
	stop(b, p, 1, 7, 0);
	stop(b, p, 1, 7, 1);
	expect(b, p, WHO "is stopped twice");
	build_destroy(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_starts_on_the_free_part_of_a_place_that_the_same_plan_holds),
		cmocka_unit_test(nor_is_it_reserved_there_for_a_time_before),
		cmocka_unit_test(who_was_there_first_may_stay_and_nobody_else_comes),
		cmocka_unit_test(a_licence_that_is_not_short_is_no_reason_to_stop_anybody),
		cmocka_unit_test(nor_is_the_partitions_share_of_a_node_while_it_is_not_used_up),
		cmocka_unit_test(shares_are_short_of_one_device_and_not_of_all_together),
		cmocka_unit_test(a_circle_is_found_however_long_it_is_and_however_often_each_was_stopped),
		cmocka_unit_test(a_gang_is_who_says_so_of_one_user_and_one_name),
		cmocka_unit_test(whom_slurm_spares_may_go_on_without_his_gang),
		cmocka_unit_test(nobody_is_stopped_whom_slurm_would_not_let_be_stopped_and_both_jobs_are_named),
		cmocka_unit_test(nobody_is_stopped_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
