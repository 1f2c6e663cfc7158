/* SPDX-License-Identifier: MIT */
/* test_page_gpus.c - types of GPUs and shapes of jobs in a report page */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "t/report/made_page.h"

/* A node of two GPUs of a type and four of another one, and a node of cores alone; jobs 0 to 3: one of the second type, two of any, none, four of the second. */
static struct fixture begin_types(void)
{
	struct fixture f = { .b = build_create("2x8c") };
	struct sl_gres_kind_row a = sl_gres_kind_row(), h = sl_gres_kind_row();
	struct sl_node_gres_row two = sl_node_gres_row(), four = sl_node_gres_row();
	const struct { const char *type; uint32_t count; } asks[] = { { "h100", 1 }, { "", 2 }, { "", 0 }, { "h100", 4 }, { "", 2 } };

	a.key = sl_builder_str(f.b->builder, "gpu:a100");
	a.name = h.name = sl_builder_str(f.b->builder, "gpu");
	a.type = sl_builder_str(f.b->builder, "a100");
	h.key = sl_builder_str(f.b->builder, "gpu:h100");
	h.type = sl_builder_str(f.b->builder, "h100");
	two.kind = sl_builder_append(f.b->builder, SL_T_GRES_KIND, &a);
	two.count = 2;
	four.kind = sl_builder_append(f.b->builder, SL_T_GRES_KIND, &h);
	four.count = 4;
	build_change(f.b, SL_T_NODE, 0, sl_node_row, .gres = ((struct sl_range) { sl_builder_append(f.b->builder, SL_T_NODE_GRES, &two), 2 }));
	sl_builder_append(f.b->builder, SL_T_NODE_GRES, &four);
	for (uint32_t i = 0; i < 5; i++) {
		struct sl_job_row r = build_row(f.b, (struct build_job) { .id = 7 + i, .cpus_per_task = 1 + i % 4, .limit = 3600 });

		if (asks[i].count)
			r.gres = build_gres(f.b, "gpu", asks[i].type, asks[i].count, SL_PER_NODE);
		r.submit_time = BUILD_NOW + 10 * i;
		build_append(f.b, &r);
	}
	f.w = (struct sl_workload) { .name = (char *) "types", .snap = *build_open(f.b), .origin_s = BUILD_NOW };
	return f;
}

static void gpus_are_drawn_at_those_of_their_type(void **state)
{
	struct fixture f = begin_types();
	struct sl_page *p = open_page(&f, "out.html");
	struct sl_stretch stretch = { 0, 1, 1, 0 };
	struct sl_error err = { 0 };
	char *text;

	(void) state;
	for (uint32_t i = 0; i < 2; i++) {
		stretch.gpus = i + 1;
		assert_int_equal(sl_page_job(p, &(struct sl_page_job) { .job = i, .start_s = BUILD_NOW + 10 * i, .end_s = BUILD_NOW + 60, .gpus = i + 1,
					.stretch = &stretch, .stretches = 1 }, &err), 0);
	}
	finish(p);
	text = get_file("out.html");
	/* (kind 0 is build.h's own, of no type, which no node has) */
	assert_non_null(strstr(text, "\"gpu_types\": [\"\", \"a100\", \"h100\"]"));
	assert_non_null(strstr(text, "\"gpu_kinds\": [[1, 1, 2, 2, 4], [1]]"));
	free(text);
	/* job 0 has GPU 2, the first of the second type; job 1 the first two; 2 to 4 never started */
	assert_numbers("out.html", "run-jobs", "1 60 1 1 0 1 1 0 1 0 1 1 2 1 50 2 1 0 1 1 1 1 0 1 2 0 0 0 0");
	build_destroy(f.b);
}

static void shapes_of_jobs_with_gpus_are_counted_and_told_of_each_job(void **state)
{
	struct fixture f = begin_types();
	struct sl_page *p = open_page(&f, "out.html");
	struct sl_error err = { 0 };
	char *text;

	(void) state;
	finish(p);
	text = get_file("out.html");
	/* cores, GPUs, types, jobs: each is asked for by one job, those of more cores first; the last job has one core again */
	assert_non_null(strstr(text, "\"shapes\": [[4, 4, 4, 1], [2, 2, 7, 1], [1, 2, 7, 1], [1, 1, 4, 1]]"));
	free(text);
	assert_numbers("out.html", "workload-jobs", "0 14 0 0 3600 4 20 2 0 0 3600 2 20 2 0 0 3600 0 20 2 0 0 3600 1 20 2 0 0 3600 3");
	p = sl_page_open(in_dir("hers.html"), "of one user", &err);
	assert_int_equal(sl_page_workload(p, &f.w, &(struct sl_page_about) { .user = "ann" }, &err), 0);
	assert_int_equal(sl_page_begin_run(p, "easy", &err), 0);
	finish(p);
	text = get_file("hers.html");
	assert_null(strstr(text, "shapes"));
	free(text);
	assert_numbers("hers.html", "workload-jobs", "0 14 0 0 3600 20 2 0 0 3600 20 2 0 0 3600 20 2 0 0 3600 20 2 0 0 3600");
	build_destroy(f.b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		page_test(gpus_are_drawn_at_those_of_their_type),
		page_test(shapes_of_jobs_with_gpus_are_counted_and_told_of_each_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
