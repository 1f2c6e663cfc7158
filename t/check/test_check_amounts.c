/* SPDX-License-Identifier: MIT */
/*
 * What the checker says of how much a job gets of its nodes, and of licences.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "t/check/by_hand.h"
#include "check/check.h"

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

static void the_number_of_nodes_is_one_of_those_that_are_listed(void **state)
{
	struct build *b = one((struct build_job) { .nodes = 1, .max_nodes = 4 });

	(void) state;
	build_change_job(b, 2, .node_counts = sl_builder_str(b->builder, "1,3-4"));
	EXPECT_START(b, places(p_, 0, 0, 1), NULL);
	EXPECT_START(b, places(p_, 0, 1, 1), "job 2: has 2 nodes, takes 1,3-4");
	EXPECT_START(b, places(p_, 0, 2, 1), NULL);
	EXPECT_START(b, places(p_, 0, 3, 1), NULL);
	build_destroy(b);
}

static void a_start_that_runs_into_a_reservation_of_the_plan_is_refused(void **state)
{
	struct build *b = one((struct build_job) { .tasks = 4, .limit = 100 });
	struct built_plan *p;

	(void) state;
	build_pending(b, (struct build_job) { .id = 3, .nodes = 4, .exclusive = true, .limit = 60 });
	p = build_plan(b);
	put_start(p, 2, place(p, 1, 4, 0, 0));
	put_reservation(p, 3, 100, places(p, 0, 3, 8));
	expect(b, p, NULL);
	p = build_plan(b);
	put_start(p, 2, place(p, 1, 4, 0, 0));
	put_reservation(p, 3, 99, places(p, 0, 3, 8));
	expect(b, p, "job 3: node n1: 12 cores in use in 99 s, it has 8");
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
	EXPECT_START(b, place(p_, 0, 2, 600, 0), "job 2: node n0: 1100 MiB in use now, it has 1000");
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
	build_change_job(b, 2, .gres = build_gres(b, "gpu", "", 3, SL_PER_JOB));
	for (uint32_t second = 0; second < 2; second++) {
		struct sl_range r;

		p = build_plan(b);
		r = place(p, 0, 1, 0, 2);
		place(p, 1, 1, 0, second);
		r.count = 2;
		put_start(p, 2, r);
		expect(b, p, second ? NULL : "job 2: its nodes have 2 gpu, needs 3");
	}
	build_change_job(b, 2, .gres = build_gres(b, "gpu", "", 2, SL_PER_TASK));
	for (uint32_t second = 1; second < 3; second++) {
		struct sl_range r;

		p = build_plan(b);
		r = place(p, 0, 1, 0, 2);
		place(p, 1, 1, 0, second);
		r.count = 2;
		put_start(p, 2, r);
		expect(b, p, second == 2 ? NULL : "job 2: its nodes have 1 tasks' worth of gpu, needs 2");
	}
	build_destroy(b);
}

static void gres_that_nobody_uses_up_are_there_or_not(void **state)
{
	struct build *b = one((struct build_job) { 0 });
	struct sl_gres_kind_row kind = sl_gres_kind_row();
	struct sl_node_gres_row has = { .count = 2, .no_consume = 1, .share = SL_NONE };
	struct sl_range gres;

	(void) state;
	kind.key = kind.name = sl_builder_str(b->builder, "bandwidth");
	has.kind = sl_builder_append(b->builder, SL_T_GRES_KIND, &kind);
	gres = (struct sl_range) { sl_builder_append(b->builder, SL_T_NODE_GRES, &has), 1 };
	build_change(b, SL_T_NODE, 1, sl_node_row, .gres = gres);
	build_change_job(b, 2, .gres = build_gres(b, "bandwidth", "", 2, SL_PER_NODE));
	EXPECT_START(b, place(p_, 1, 1, 0, 0), NULL);
	EXPECT_START(b, place(p_, 2, 1, 0, 0), "job 2: node n2: has 0 bandwidth, needs 2");
	build_change_job(b, 2, .gres = build_gres(b, "bandwidth", "", 3, SL_PER_NODE));
	EXPECT_START(b, place(p_, 1, 1, 0, 0), "job 2: node n1: has 2 bandwidth, needs 3");
	build_change_job(b, 2, .gres = build_gres(b, "bandwidth", "", 1, SL_PER_JOB));
	EXPECT_START(b, place(p_, 1, 1, 0, 0), "job 2: its nodes have 0 bandwidth, needs 1");
	build_destroy(b);
}

static void gres_are_not_given_twice_nor_unasked(void **state)
{
	struct build *b = one((struct build_job) { .gpus = 1 });

	(void) state;
	EXPECT_START(b, place(p_, 0, 1, 0, 1), NULL);
	build_running(b, (struct build_job) { .id = 1, .cores = 1, .gpus = 2, .ends_in = 60 });
	EXPECT_START(b, place(p_, 0, 1, 0, 1), "job 2: node n0: 3 gpu in use now, it has 2");
	build_change_job(b, 2, .gres = (struct sl_range) { 0, 0 });
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
	EXPECT_START(b, place(p_, 0, 1, 0, 0), "job 2: 5 of license matlab in use now, there are 4");
	p = build_plan(b);
	put_reservation(p, 2, 60, place(p, 0, 1, 0, 0));
	expect(b, p, NULL);
	p = build_plan(b);
	put_reservation(p, 2, 59, place(p, 0, 1, 0, 0));
	expect(b, p, "job 2: 5 of license");
	build_destroy(b);
}

static void of_alternative_licences_a_row_has_one_of_the_job(void **state)
{
	struct build *b = build_create("4x8c");
	struct sl_plan_start_row start = sl_plan_start_row();
	struct sl_range either;

	(void) state;
	for (uint32_t l = 0; l < 3; l++) {
		struct sl_license_row lic = { .total = 1, .name = sl_builder_str(b->builder, l ? l == 1 ? "b" : "c" : "a") };

		sl_builder_append(b->builder, SL_T_LICENSE, &lic);
	}
	build_running(b, (struct build_job) { .id = 1, .cores = 1 });
	build_change_job(b, 1, .licenses = build_license(b, 0, 1));
	build_pending(b, (struct build_job) { .id = 2 });
	either = build_license(b, 0, 1);
	either.count += build_license(b, 1, 1).count;
	build_change_job(b, 2, .licenses = either);
	build_change_job(b, 2, .asks = SL_ASKS_ANY_LICENSE);
	for (uint32_t i = 0; i < 4; i++) {
		static const char *const said[] = { "2 of license a in use", NULL, "none of its alternatives", "none of its alternatives" };
		struct built_plan *p = build_plan(b);

		start.job = 2;
		start.stamp = build_open(b)->job.stamp[1];
		start.partition = 0;
		start.license = i == 3 ? SL_NONE : i;
		start.places = place(p, 1, 1, 0, 0);
		sl_builder_append(p->builder, SL_P_START, &start);
		expect(b, p, said[i]);
	}
	build_destroy(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(too_few_and_too_many_nodes_are_refused),
		cmocka_unit_test(the_number_of_nodes_is_one_of_those_that_are_listed),
		cmocka_unit_test(a_start_that_runs_into_a_reservation_of_the_plan_is_refused),
		cmocka_unit_test(memory_counts_where_it_is_consumable),
		cmocka_unit_test(gres_are_counted_by_node_job_and_task),
		cmocka_unit_test(gres_that_nobody_uses_up_are_there_or_not),
		cmocka_unit_test(gres_are_not_given_twice_nor_unasked),
		cmocka_unit_test(max_cpus_per_node_is_counted_over_the_jobs_of_a_partition),
		cmocka_unit_test(licences_are_counted_over_time),
		cmocka_unit_test(of_alternative_licences_a_row_has_one_of_the_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
