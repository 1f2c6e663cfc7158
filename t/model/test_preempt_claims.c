/* SPDX-License-Identifier: MIT */
/*
 * What users say of their jobs, and do with them, and whom a plan stops then: checkpoints, gangs, restarts.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "t/model/four_nodes.h"

static void who_checkpoints_loses_less_and_who_was_requeued_before_more(void **state)
{
	struct build *b = four_nodes(1);
	struct desk d;

	(void) state;
	build_change_job(b, 4, .comment = sl_builder_str(b->builder, "run=5 checkpoint=8"));	/* 40 minutes: at the last one now */
	d = sit_at(b);
	assert_int_equal(ask(&d, 7, NULL).id[0], 4);
	leave(&d);
	b = four_nodes(1);
	build_change_job(b, 1, .restarts = 2);
	d = sit_at(b);
	assert_int_equal(ask(&d, 7, NULL).id[0], 2);
	leave(&d);
}

static int spares_three(void *arg, uint32_t victim, uint32_t job, struct sl_error *err)
{
	(void) arg, (void) job, (void) err;
	return victim != 2;	/* (the row of job 3) */
}

static void a_gang_is_stopped_whole_or_not_at_all(void **state)
{
	struct build *b = four_nodes(1);
	struct desk d;
	struct asked a;

	(void) state;
	build_change_job(b, 1, .comment = sl_builder_str(b->builder, "gang=x"));
	build_change_job(b, 2, .comment = sl_builder_str(b->builder, "gang=x,y"));
	d = sit_at(b);
	a = ask(&d, 7, NULL);	/* one and two would lose 30 minutes, and three as much, but for the minute to end */
	assert_int_equal(a.victims, 1);
	assert_int_equal(a.id[0], 3);
	leave(&d);
	b = four_nodes(2);
	for (uint32_t id = 1; id <= 3; id++)
		build_change_job(b, id, .comment = sl_builder_str(b->builder, "gang"), build_r_.array_job_id = 1);
	d = sit_at(b);
	a = ask(&d, 7, &(struct sl_preempt_terms) { .may = spares_three });	/* of those who may be stopped four is left */
	assert_int_equal(a.rc, 0);
	assert_int_equal(a.answer.verdict, SL_VERDICT_IMPOSSIBLE);
	leave(&d);
}

/* A user who has jobs 1 to 3 makes them a gang of one that Slurm does not let be preempted, now or ever. */
static void a_comment_is_no_shelter_under_a_job_that_slurm_spares(void **state)
{
	struct desk d;
	struct asked a;

	(void) state;
	for (int ever = 0; ever < 2; ever++) {
		struct build *b = four_nodes(1);

		for (uint32_t id = 1; id <= 3; id++)
			build_change_job(b, id, .comment = sl_builder_str(b->builder, "gang=x"), build_r_.priority = 10);
		if (ever)
			build_change_job(b, 3, .preempt_mode = SL_STOP_NONE);
		else
			build_change_job(b, 3, .preempt_from = BUILD_NOW + 5);
		d = sit_at(b);
		a = ask(&d, 7, NULL);	/* one and two lose 30 minutes, four 40 */
		assert_int_equal(a.victims, 2);
		assert_int_equal(a.id[0] + a.id[1], 3);
		accepted(&d);
		leave(&d);
	}
}

/* Components of heterogeneous jobs Slurm ends together. */
static void a_component_that_slurm_spares_spares_the_others(void **state)
{
	struct build *b = four_nodes(1);
	struct desk d;

	(void) state;
	for (uint32_t id = 1; id <= 2; id++)
		build_change_job(b, id, .het_job_id = 1);
	build_change_job(b, 2, .preempt_mode = SL_STOP_NONE);
	d = sit_at(b);
	assert_int_equal(ask(&d, 7, NULL).id[0], 3);
	leave(&d);
}

/* Job 1 would lose ten minutes, which would count 201 times. */
static void to_requeue_a_job_again_and_again_makes_it_no_dearer(void **state)
{
	struct build *b = four_nodes(1);
	struct desk d;

	(void) state;
	build_change_job(b, 1, .restarts = 200);
	for (uint32_t id = 2; id <= 4; id++)
		build_change_job(b, id, .start_time = BUILD_NOW - 2460);	/* 41 minutes */
	d = sit_at(b);
	assert_int_equal(ask(&d, 7, NULL).id[0], 1);
	leave(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_checkpoints_loses_less_and_who_was_requeued_before_more),
		cmocka_unit_test(a_gang_is_stopped_whole_or_not_at_all),
		cmocka_unit_test(a_comment_is_no_shelter_under_a_job_that_slurm_spares),
		cmocka_unit_test(a_component_that_slurm_spares_spares_the_others),
		cmocka_unit_test(to_requeue_a_job_again_and_again_makes_it_no_dearer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
