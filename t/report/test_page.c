/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "t/build.h"
#include "t/hostile.h"
#include "t/random.h"
#include "t/report/made_page.h"

/* -- what was written ----------------------------------------------------------- */

static unsigned count(const char *text, const char *what)
{
	unsigned n = 0;

	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

static void a_page_is_its_template_with_everything_in_place(void **state)
{
	struct fixture f = begin("2x4c", 1, "ann");
	struct sl_page *p = open_page(&f, "out.html");
	char *text;

	(void) state;
	add(p, 0, 5, 25, 0, 1, 4);
	finish(p);
	text = get_file("out.html");
	assert_int_equal(strncmp(text, "<html>\n<title>a &lt;title&gt;</title>\n<style>\nb { }\n</style>\n\n<script", 67), 0);
	assert_non_null(strstr(text, "<script>\nlibrary();\n</script>\n<pre>\nAnybody &lt;may&gt;.\n</pre>\n</html>\n"));
	assert_non_null(strstr(text, "\"seed\": \"5\""));
	free(text);
	build_destroy(f.b);
}

static void names_cannot_end_the_element_they_stand_in(void **state)
{
	struct fixture f = begin("2x4c", 2, "</script><script>alert(1)<!--");
	struct sl_page *p = open_page(&f, "out.html");
	char *text;

	(void) state;
	add(p, 0, 5, 25, 0, 1, 4);
	finish(p);
	text = get_file("out.html");
	assert_int_equal(count(text, "<script"), 5);	/* 2 of the workload, 2 of the run, 1 library */
	assert_int_equal(count(text, "</script"), 5);
	assert_int_equal(count(text, "<!--"), 0);
	assert_non_null(strstr(text, "\\u003c/script>\\u003cscript>alert(1)\\u003c!--"));
	assert_non_null(strstr(text, "easy\\u003c/script>"));
	free(text);
	build_destroy(f.b);
}

static void the_numbers_are_those_worked_out_by_hand(void **state)
{
	struct fixture f = begin("4x4c", 3, "ann");
	struct sl_page *p = open_page(&f, "out.html");

	(void) state;
	/* row 0 never starts; 1 takes nodes 1 to 3 whole; 2 takes a core of node 0 */
	add(p, 1, 10, 210, 1, 3, 4);
	add(p, 2, 320, 0, 0, 1, 1);
	finish(p);
	/* submit +0 +10 +10 and ids 7 +1 +1, zigzag; the user; the partition; 3600 */
	assert_numbers("out.html", "workload-jobs", "0 14 0 0 3600 20 2 0 0 3600 20 2 0 0 3600");
	/* row 1: wait 0, 200 s, no GPU, one rectangle: node 1, 3 nodes, whole;
	 * row 2: wait 300, runs still at 1000: 680 s; node 0, 1 node, 1 core from 0 */
	assert_numbers("out.html", "run-jobs", "0 1 200 0 1 2 3 0 301 680 0 1 0 1 1 0");
	build_destroy(f.b);
}

static void jobs_that_share_a_node_are_drawn_at_cores_of_their_own(void **state)
{
	struct fixture f = begin("1x4c", 5, "ann");
	struct sl_page *p = open_page(&f, "out.html");

	(void) state;
	/* 1 core each at 0, 1 and 2; the middle one ends; 2 cores then are 1 and 3 */
	add(p, 3, 60, 100, 0, 1, 2);	/* given before those that start earlier */
	add(p, 0, 40, 100, 0, 1, 1);
	add(p, 1, 40, 50, 0, 1, 1);
	add(p, 2, 40, 100, 0, 1, 1);
	add(p, 4, 100, 101, 0, 1, 2);	/* all are free again */
	finish(p);
	assert_numbers("out.html", "run-jobs",
		       "41 60 0 1 0 1 1 0 31 10 0 1 0 1 1 1 21 60 0 1 0 1 1 2 31 40 0 2 0 1 1 1 1 1 1 3 61 1 0 1 0 1 2 0");
	build_destroy(f.b);
}

static void a_node_with_more_than_it_has_is_drawn_all_the_same(void **state)
{
	struct fixture f = begin("1x2c", 2, "ann");
	struct sl_page *p = open_page(&f, "out.html");

	(void) state;
	add(p, 0, 10, 50, 0, 1, 2);
	add(p, 1, 10, 50, 0, 1, 9);
	finish(p);
	assert_numbers("out.html", "run-jobs", "11 40 0 1 0 1 0 1 40 0 1 0 1 0");
	build_destroy(f.b);
}

static void gpus_are_drawn_as_cores_are(void **state)
{
	struct fixture f = begin("2x8c4g", 2, "ann");
	struct sl_page *p = open_page(&f, "out.html");
	const struct sl_stretch two = { 0, 2, 8, 3 }, one = { 1, 1, 1, 1 };
	struct sl_error err = { 0 };
	char *text;

	(void) state;
	assert_int_equal(sl_page_job(p, &(struct sl_page_job) { .job = 0, .start_s = BUILD_NOW, .end_s = BUILD_NOW + 60, .gpus = 6,
				.stretch = &two, .stretches = 1 }, &err), 0);
	assert_int_equal(sl_page_job(p, &(struct sl_page_job) { .job = 1, .start_s = BUILD_NOW + 10, .end_s = BUILD_NOW + 70, .gpus = 1,
				.stretch = &one, .stretches = 1 }, &err), 0);
	finish(p);
	text = get_file("out.html");
	assert_non_null(strstr(text, "\"gpus\""));
	free(text);
	/* 0: both nodes whole, GPUs 0 to 2 of both; 1: node 1, whose cores are all held: core 0, GPU 3 */
	assert_numbers("out.html", "run-jobs", "1 60 6 1 0 2 0 1 0 2 3 0 1 60 1 1 2 1 1 0 1 2 1 1 3");
	build_destroy(f.b);
}

static void what_is_planned_stands_in_the_run(void **state)
{
	struct fixture f = begin("4x4c", 2, "ann");
	struct sl_page *p = open_page(&f, "out.html");
	const struct sl_stretch where = { 2, 2, 4, 0 }, beyond = { 3, 2, 4, 0 };
	struct sl_error err = { 0 };
	char *text, *at;

	(void) state;
	add(p, 0, 5, 0, 0, 1, 4);
	assert_int_equal(sl_page_plan(p, &(struct sl_page_planned) { .job = 0, .start_s = BUILD_NOW + 5, .end_s = BUILD_NOW + 2000 }, &err), 0);
	assert_int_equal(sl_page_plan(p, &(struct sl_page_planned) { .job = 1, .start_s = BUILD_NOW + 1500, .end_s = BUILD_NOW + 1600,
				.stretch = &where, .stretches = 1 }, &err), 0);
	assert_int_equal(sl_page_plan(p, &(struct sl_page_planned) { .job = 1, .stretch = &beyond, .stretches = 1 }, &err), -1);
	assert_int_equal(sl_page_plan(p, &(struct sl_page_planned) { .job = 2 }, &err), -1);
	assert_int_equal(sl_page_plan(p, &(struct sl_page_planned) { .job = 1, .start_s = 5, .end_s = 4 }, &err), -1);
	finish(p);
	text = get_file("out.html");
	at = strstr(text, "\"planned\"");
	assert_non_null(at);
	assert_int_equal(count(at, "1600"), 1);
	free(text);
	build_destroy(f.b);
}

static void same_input_same_bytes(void **state)
{
	struct fixture f = begin("2x4c", 9, "ann");
	char *a, *b;

	(void) state;
	for (int i = 0; i < 2; i++) {
		struct sl_page *p = open_page(&f, i ? "b.html" : "a.html");

		for (uint32_t k = 0; k < 9; k++) {
			uint32_t row = i ? 8 - k : k;	/* in whatever order they are given */

			add(p, row, 10 * row + 100 * row, 100 + 110 * row, row % 2, 1, 1 + row % 4);
		}
		finish(p);
	}
	a = get_file("a.html");
	b = get_file("b.html");
	assert_string_equal(a, b);
	free(a);
	free(b);
	build_destroy(f.b);
}

/* -- what is refused ------------------------------------------------------------- */

static void a_path_that_cannot_be_written_is_refused_at_once(void **state)
{
	int before = files_in_dir();
	struct sl_error err = { 0 };

	(void) state;
	assert_null(sl_page_open(in_dir("no/such/out.html"), "t", &err));
	assert_int_equal(err.code, SL_EIO);
	assert_non_null(strstr(err.text, "no/such/out.html: No such file"));
	assert_null(sl_page_open(in_dir("."), "t", &err));
	assert_non_null(strstr(err.text, "no regular file"));
	assert_null(sl_page_open("/dev/null", "t", &err));
	assert_null(sl_page_open("", "t", &err));
	assert_int_equal(err.code, SL_EINVAL);
	assert_int_equal(files_in_dir(), before);
}

static void without_a_chart_library_a_page_is_made_and_it_says_what_is_missing(void **state)
{
	struct fixture f = begin("2x4c", 1, "ann");
	struct sl_page *p = open_page(&f, "out.html");
	char *text;

	(void) state;
	assert_null(sl_page_lacks(p));
	sl_page_destroy(p);
	remove(in_dir("uPlot.js"));
	p = open_page(&f, "out.html");
	assert_non_null(strstr(sl_page_lacks(p), "make report-library"));
	add(p, 0, 5, 25, 0, 1, 4);
	finish(p);
	text = get_file("out.html");
	assert_null(strstr(text, "library();"));
	assert_non_null(strstr(text, "</script>\n<pre>\nAnybody"));
	free(text);
	build_destroy(f.b);
}

static void another_asset_that_is_missing_is_an_error(void **state)
{
	struct sl_error err = { 0 };
	int before;

	(void) state;
	remove(in_dir("a.css"));
	before = files_in_dir();
	assert_null(sl_page_open(in_dir("out.html"), "t", &err));
	assert_int_equal(err.code, SL_ENOENT);
	assert_int_equal(files_in_dir(), before);
}

static void assets_that_make_no_page_are_refused(void **state)
{
	struct sl_error err = { 0 };

	(void) state;
	put_file("uPlot.js", "\"</script>\"");
	assert_null(sl_page_open(in_dir("out.html"), "t", &err));
	assert_int_equal(err.code, SL_EFORMAT);
	put_file("uPlot.js", "");
	put_file("page.html", "<!-- data -->\n<!-- data -->\n");
	assert_null(sl_page_open(in_dir("out.html"), "t", &err));
	assert_int_equal(err.code, SL_EFORMAT);
	put_file("page.html", "<html>\n");
	assert_null(sl_page_open(in_dir("out.html"), "t", &err));
	assert_int_equal(err.code, SL_EFORMAT);
	put_file("page.html", "<!-- data -->\n<!-- exe a.css -->\n");
	assert_null(sl_page_open(in_dir("out.html"), "t", &err));
	assert_int_equal(err.code, SL_EFORMAT);
}

static void a_page_given_up_leaves_what_was_there(void **state)
{
	struct fixture f = begin("2x4c", 1, "ann");
	struct sl_page *p;
	int before;
	char *text;

	(void) state;
	put_file("out.html", "yesterday's");
	before = files_in_dir();
	p = open_page(&f, "out.html");
	add(p, 0, 5, 25, 0, 1, 4);
	sl_page_destroy(p);
	assert_int_equal(files_in_dir(), before);
	text = get_file("out.html");
	assert_string_equal(text, "yesterday's");
	free(text);
	build_destroy(f.b);
}

static void a_full_disk_is_an_error_and_leaves_nothing(void **state)
{
	struct rlimit old, small;
	struct fixture f = begin("2x4c", 2000, "ann");
	struct sl_page *p = open_page(&f, "out.html");
	struct sl_result r = { 0 };
	struct sl_error err = { 0 };
	int rc;

	(void) state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = old;
	small.rlim_cur = 4096;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	rc = sl_page_end_run(p, &r, BUILD_NOW, &err) || sl_page_finish(p, &err);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_true(rc);
	assert_int_equal(err.code, SL_EIO);
	sl_page_destroy(p);
	assert_int_equal(access(in_dir("out.html"), F_OK), -1);
	build_destroy(f.b);
}

/* Job 0 runs on core 0 of node 1, is stopped for job 1, and runs again; job 1 is cancelled, so that its run stands in its own row. */
static void runs_that_were_stopped_stand_behind_the_jobs(void **state)
{
	struct fixture f = begin("2x4c", 2, "ann");
	struct sl_page *p = open_page(&f, "out.html");
	const struct sl_stretch one = { 1, 1, 1, 0 };
	struct sl_page_stop stop = { .job = 0, .preemptor = 1, .mode = SL_STOP_REQUEUE, .verdict = SL_VERDICT_FOUND, .start_s = BUILD_NOW + 10,
				     .told_s = BUILD_NOW + 20, .end_s = BUILD_NOW + 30, .lost_s = 20, .cores = 1, .stretch = &one, .stretches = 1 };
	struct sl_error err = { 0 };
	char *text;

	(void) state;
	assert_int_equal(sl_page_stop(p, &stop, &err), 0);
	add(p, 0, 50, 90, 0, 1, 4);
	add(p, 1, 15, 40, 0, 1, 2);
	assert_int_equal(sl_page_stop(p, &(struct sl_page_stop) { .job = 1, .preemptor = SL_NONE, .mode = SL_STOP_CANCEL, .start_s = BUILD_NOW + 15,
				.told_s = BUILD_NOW + 30, .end_s = BUILD_NOW + 40, .lost_s = 25, .in_job = true, .cores = 2 }, &err), 0);
	finish(p);
	text = get_file("out.html");
	assert_non_null(strstr(text, "\"stops\": [[0, 1, \"requeue\", \"found\", "));
	assert_non_null(strstr(text, "[1, -1, \"cancel\", \"\", "));
	free(text);
	assert_numbers("out.html", "run-jobs", "51 40 0 1 0 1 0 6 25 0 1 0 1 2 0 0 1 2 1 1 0 0 0");
	build_destroy(f.b);
}

static void stops_that_cannot_be_are_refused(void **state)
{
	struct fixture f = begin("2x4c", 2, "ann");
	struct sl_page *p = open_page(&f, "out.html");
	const struct sl_stretch beyond = { 1, 2, 1, 0 };
	const struct sl_page_stop bad[] = {
		{ .job = 2, .preemptor = 0, .start_s = BUILD_NOW + 50, .told_s = BUILD_NOW + 50, .end_s = BUILD_NOW + 50 },
		{ .job = 0, .preemptor = 2, .start_s = BUILD_NOW + 50, .told_s = BUILD_NOW + 50, .end_s = BUILD_NOW + 50 },
		{ .job = 1, .preemptor = 0, .start_s = BUILD_NOW - 50, .told_s = BUILD_NOW + 50, .end_s = BUILD_NOW + 50 },
		{ .job = 0, .preemptor = 1, .start_s = BUILD_NOW + 50, .told_s = BUILD_NOW + 49, .end_s = BUILD_NOW + 50 },
		{ .job = 0, .preemptor = 1, .start_s = BUILD_NOW + 50, .told_s = BUILD_NOW + 50, .end_s = BUILD_NOW + 49 },
		{ .job = 0, .preemptor = 1, .start_s = BUILD_NOW + 50, .told_s = BUILD_NOW + 50, .end_s = BUILD_NOW + 50, .stretch = &beyond,
		  .stretches = 1 },
	};
	struct sl_error err = { 0 };

	(void) state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err.code = SL_OK;
		if (!sl_page_stop(p, &bad[i], &err) || err.code != SL_EINVAL)
			fail_msg("stop %zu was taken", i);
	}
	assert_int_equal(sl_page_end_run(p, &(struct sl_result) { .jobs = 1 }, BUILD_NOW + 1000, &err), 0);
	assert_int_equal(sl_page_stop(p, &bad[0], &err), -1);	/* of no run */
	sl_page_destroy(p);
	build_destroy(f.b);
}

static void jobs_that_cannot_be_are_refused(void **state)
{
	struct fixture f = begin("2x4c", 2, "ann");
	struct sl_page *p = open_page(&f, "out.html");
	const struct {
		struct sl_page_job job;
		struct sl_stretch stretch[2];
	} bad[] = {
		{ { .job = 2, .start_s = BUILD_NOW + 50, .stretches = 1 }, { { 0, 1, 1, 0 } } },	/* no such row */
		{ { .job = 0, .start_s = BUILD_NOW + 50, .stretches = 1 }, { { 0, 1, 1, 0 } } },	/* given before */
		{ { .job = 1, .start_s = BUILD_NOW + 5, .stretches = 1 }, { { 0, 1, 1, 0 } } },	/* before its submission */
		{ { .job = 1, .start_s = BUILD_NOW + 50, .end_s = BUILD_NOW + 49, .stretches = 1 }, { { 0, 1, 1, 0 } } },
		{ { .job = 1, .start_s = BUILD_NOW + 50, .stretches = 1 }, { { 1, 2, 1, 0 } } },	/* past the last node */
		{ { .job = 1, .start_s = BUILD_NOW + 50, .stretches = 1 }, { { UINT32_MAX, 2, 1, 0 } } },
		{ { .job = 1, .start_s = BUILD_NOW + 50, .stretches = 2 }, { { 1, 1, 1, 0 }, { 0, 1, 1, 0 } } },
		{ { .job = 1, .start_s = BUILD_NOW + 50, .stretches = 1 }, { { 0, 1, 0, 0 } } },	/* no cores */
	};
	struct sl_error err = { 0 };

	(void) state;
	add(p, 0, 5, 25, 0, 1, 4);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct sl_page_job job = bad[i].job;

		job.stretch = bad[i].stretch;
		err.code = SL_OK;
		assert_int_equal(sl_page_job(p, &job, &err), -1);
		assert_int_equal(err.code, SL_EINVAL);
	}
	finish(p);
	assert_numbers("out.html", "run-jobs", "6 20 0 1 0 1 0 0");
	build_destroy(f.b);
}

static void calls_out_of_turn_are_refused(void **state)
{
	struct fixture f = begin("2x4c", 1, "ann");
	struct sl_result r = { 0 };
	struct sl_error err = { 0 };
	struct sl_page *p = sl_page_open(in_dir("out.html"), "t", &err);

	(void) state;
	assert_non_null(p);
	assert_int_equal(sl_page_begin_run(p, "early", &err), -1);
	assert_int_equal(sl_page_job(p, &(struct sl_page_job) { 0 }, &err), -1);
	assert_int_equal(sl_page_end_run(p, &r, 0, &err), -1);
	assert_int_equal(sl_page_finish(p, &err), -1);
	assert_int_equal(sl_page_workload(p, &f.w, &(struct sl_page_about) { 0 }, &err), 0);
	assert_int_equal(sl_page_begin_run(p, "one", &err), 0);
	assert_int_equal(sl_page_begin_run(p, "two", &err), -1);
	assert_int_equal(sl_page_workload(p, &f.w, &(struct sl_page_about) { 0 }, &err), -1);
	assert_int_equal(sl_page_finish(p, &err), -1);
	finish(p);
	sl_page_destroy(NULL);
	build_destroy(f.b);
}


/* How often "<" stands in the page of one job of that user. */
static unsigned count_elements(const char *user)
{
	struct fixture f = begin("2x4c", 1, user);
	struct sl_page *p = open_page(&f, "out.html");
	unsigned n = 0;
	char *text;

	add(p, 0, 5, 25, 0, 1, 4);
	finish(p);
	text = get_file("out.html");
	for (const char *at = text; *at; at++)
		n += *at == '<';
	free(text);
	build_destroy(f.b);
	return n;
}

static void no_name_of_a_user_s_begins_or_ends_an_element(void **state)
{
	const uint64_t rounds = rounds_of(100);
	const unsigned expected = count_elements("ann");

	(void) state;
	failing_seed = number_from("SL_SEED", 1);
	for (uint64_t i = 0; i < rounds; i++, failing_seed++) {
		char words[HOSTILE_SIZE];

		random_state = failing_seed;
		assert_int_equal(count_elements(hostile_text(words, "</script><script>alert(1)</script>")), expected);
	}
	failing_seed = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		page_test(a_page_is_its_template_with_everything_in_place),
		page_test(no_name_of_a_user_s_begins_or_ends_an_element),
		page_test(names_cannot_end_the_element_they_stand_in),
		page_test(the_numbers_are_those_worked_out_by_hand),
		page_test(jobs_that_share_a_node_are_drawn_at_cores_of_their_own),
		page_test(a_node_with_more_than_it_has_is_drawn_all_the_same),
		page_test(gpus_are_drawn_as_cores_are),
		page_test(what_is_planned_stands_in_the_run),
		page_test(same_input_same_bytes),
		page_test(a_path_that_cannot_be_written_is_refused_at_once),
		page_test(without_a_chart_library_a_page_is_made_and_it_says_what_is_missing),
		page_test(another_asset_that_is_missing_is_an_error),
		page_test(assets_that_make_no_page_are_refused),
		page_test(a_page_given_up_leaves_what_was_there),
		page_test(a_full_disk_is_an_error_and_leaves_nothing),
		page_test(runs_that_were_stopped_stand_behind_the_jobs),
		page_test(stops_that_cannot_be_are_refused),
		page_test(jobs_that_cannot_be_are_refused),
		page_test(calls_out_of_turn_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
