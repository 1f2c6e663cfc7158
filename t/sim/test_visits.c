/* SPDX-License-Identifier: MIT */
/* At which seconds backfill came, by starts: cases worked by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/visits.h"
#include "t/scratch.h"

/* Jobs of a dump that are eligible at 5900, start at these seconds and run on; job 1 ends at 5010, before all of them. */
static void assert_visits(const int64_t *start, uint32_t starts, const char *others, const int64_t *visit, uint32_t n)
{
	const struct sl_workload_options opt = { .machine = "100x1c", .as_it_was = true };
	struct sl_visits v = { 0 };
	struct sl_error err = { 0 };
	struct sl_workload *w;
	char path[200];
	FILE *f;

	snprintf(path, sizeof(path), "%s/dump.txt", scratch);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "JobIDRaw|Submit|Eligible|Start|ElapsedRaw|ReqCPUS\n1|5000|5000|5000|10|1\n%s", others);
	for (uint32_t i = 0; i < starts; i++)
		fprintf(f, "%u|5900|5900|%lld|100000|1\n", 100 + i, (long long) start[i]);
	assert_int_equal(fclose(f), 0);
	w = sl_workload_load(path, &opt, &err);
	if (!w || sl_visits_find(&v, w, 30, 3, &err) < 0)
		fail_msg("%s", err.text);
	for (uint32_t i = 0; i < v.count && i < n; i++)
		assert_int_equal(v.at_s[i], visit[i]);
	assert_int_equal(v.count, n);
	sl_visits_free(&v);
	sl_workload_destroy(w);
}

#define AT(...) (const int64_t[]) { __VA_ARGS__ }, sizeof((const int64_t[]) { __VA_ARGS__ }) / sizeof(int64_t)

static void visits_are_evenly_between_two_starts(void **state)
{
	(void) state;
	assert_visits(AT(6010, 6100, 6101, 6161), "", AT(6010, 6040, 6070, 6100, 6130, 6161));
}

/* Nobody waited between 6040 or 6070 and 6117: backfill came then because somebody did. */
static void visits_are_in_step_where_nobody_may_have_waited(void **state)
{
	(void) state;
	assert_visits(AT(6010, 6117, 6147), "", AT(6010, 6040, 6070, 6117, 6147));
}

/* Job 2 ends at 6020 and makes room for one, job 3 has waited for two seconds: the main scheduler starts both. */
static void starts_behind_an_end_or_an_arrival_are_none(void **state)
{
	(void) state;
	assert_visits(AT(6010, 6022, 6070), "2|5908|5908|5910|110|1\n3|6050|6050|6052|100000|1\n", AT(6010, 6040, 6070));
}

/* Somebody started jobs at 6052 and 6079: only one of two that are nearer than an interval can be backfill's. */
static void starts_out_of_step_are_dropped(void **state)
{
	(void) state;
	assert_visits(AT(6010, 6040, 6052, 6070, 6079, 6100), "", AT(6010, 6040, 6070, 6100));
}

static void one_start_says_nothing(void **state)
{
	(void) state;
	assert_visits(AT(6010), "", NULL, 0);
}

static void before_and_behind_known_visits_they_go_on_in_step(void **state)
{
	int64_t at[] = { 6000, 6030, 6061 };
	const struct sl_visits v = { .at_s = at, .count = 3 };

	(void) state;
	assert_int_equal(sl_visits_next(&v, 5000, 5915, 30), 5940);
	assert_int_equal(sl_visits_next(&v, 5940, 5941, 30), 5970);
	assert_int_equal(sl_visits_next(&v, 5970, 5970, 30), 6000);
	assert_int_equal(sl_visits_next(&v, 6000, 6000, 30), 6030);
	assert_int_equal(sl_visits_next(&v, 6000, 6031, 30), 6061);
	assert_int_equal(sl_visits_next(&v, 6030, 6061, 30), 6061);
	assert_int_equal(sl_visits_next(&v, 6061, 6062, 30), 6091);
	assert_int_equal(sl_visits_next(&v, 6061, 6092, 30), 6121);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(visits_are_evenly_between_two_starts),
		cmocka_unit_test(visits_are_in_step_where_nobody_may_have_waited),
		cmocka_unit_test(starts_behind_an_end_or_an_arrival_are_none),
		cmocka_unit_test(starts_out_of_step_are_dropped),
		cmocka_unit_test(one_start_says_nothing),
		cmocka_unit_test(before_and_behind_known_visits_they_go_on_in_step),
	};

	return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
