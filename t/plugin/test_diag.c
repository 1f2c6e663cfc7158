/* SPDX-License-Identifier: MIT */
/* test_diag.c - which starts are backfills */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plugin/host/diag.h"
#include "t/build.h"

static void add_start(struct built_plan *p, uint32_t job, uint32_t partition)
{
	struct sl_plan_start_row row = sl_plan_start_row();

	row.job = job;
	row.partition = partition;
	sl_builder_append(p->builder, SL_P_START, &row);
}

/* Jobs 1 to 4 wait in partition 0, 5 and 6 in another, in Slurm's order; *fate* is that of a start of each digit's job. */
static struct sl_backfilled count(const char *started, enum sl_fate fate)
{
	struct build *b = build_create("2x8c");
	uint32_t other = build_partition(b, "other", 0, 1), n = 0;
	struct sl_carried carried[10];
	struct sl_backfilled result;
	const struct sl_snapshot *s;
	struct built_plan *p;

	for (uint32_t id = 1; id <= 6; id++)
		build_pending(b, (struct build_job) { .id = id, .partition = id > 4 ? other : 0 });
	build_change_job(b, 6, .het_job_id = 5);
	s = build_open(b);
	p = build_plan(b);
	for (; started[n]; n++) {
		add_start(p, (uint32_t) (started[n] - '0'), started[n] > '4' ? other : 0);
		carried[n] = (struct sl_carried) { .job = (uint32_t) (started[n] - '0'), .fate = fate };
	}
	result = sl_diag_backfilled(s, build_plan_open(p), carried);
	build_plan_destroy(p);
	build_destroy(b);
	return result;
}

static void a_start_is_a_backfill_if_a_job_ahead_of_it_waits_on(void **state)
{
	(void) state;
	assert_int_equal(count("", SL_FATE_DONE).jobs, 0);
	assert_int_equal(count("12", SL_FATE_DONE).jobs, 0);
	assert_int_equal(count("1234", SL_FATE_DONE).jobs, 0);
	assert_int_equal(count("4321", SL_FATE_DONE).jobs, 0);	/* in whatever order they were planned */
	assert_int_equal(count("2", SL_FATE_DONE).jobs, 1);
	assert_int_equal(count("134", SL_FATE_DONE).jobs, 2);
	assert_int_equal(count("3322", SL_FATE_DONE).jobs, 4);	/* tasks of arrays */
}

static void a_partition_waits_for_itself_alone(void **state)
{
	(void) state;
	assert_int_equal(count("5", SL_FATE_DONE).jobs, 0);
	assert_int_equal(count("6", SL_FATE_DONE).jobs, 1);
	assert_int_equal(count("6", SL_FATE_DONE).het, 1);
	assert_int_equal(count("2", SL_FATE_DONE).het, 0);
}

static void a_start_that_was_not_carried_out_is_none(void **state)
{
	(void) state;
	assert_int_equal(count("24", SL_FATE_SELECT).jobs, 0);
	assert_int_equal(count("24", SL_FATE_SHADOW).jobs, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_start_is_a_backfill_if_a_job_ahead_of_it_waits_on),
		cmocka_unit_test(a_partition_waits_for_itself_alone),
		cmocka_unit_test(a_start_that_was_not_carried_out_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
