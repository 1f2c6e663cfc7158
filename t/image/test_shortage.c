/* SPDX-License-Identifier: MIT */
/*
 * Why nobody is stopped for a job, in words for people, and in the journal: it says so once, and not again because numbers change.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "image/shortage.h"
#include "t/build.h"
#include "t/image/journals.h"

/* -- words ------------------------------------------------------------------- */

/* Four nodes with a job on each, the first so many of which may be stopped; job 7 waits for four nodes with two GPUs each. */
static struct build *four(uint32_t stoppable)
{
	struct build *b = build_create("4x8c2g1000m");

	for (uint32_t id = 1; id <= 4; id++) {
		build_running(b, (struct build_job) { .id = id, .first = id - 1, .cores = 6, .gpus = 1, .memory = 600, .ends_in = 3600 });
		if (id <= stoppable)
			build_stoppable(b, id, SL_STOP_CANCEL);
	}
	build_pending(b, (struct build_job) { .id = 7, .nodes = 4, .tasks = 16, .gpus = 2, .memory = 500, .limit = 600 });
	build_may_preempt(b, 7);
	return b;
}

static struct sl_plan_shortage_row shortage_of(uint32_t job, uint32_t what, int64_t needs, int64_t has)
{
	struct sl_plan_shortage_row row = sl_plan_shortage_row();

	row.job = job;
	row.what = what;
	row.needs = needs;
	row.has = has;
	row.seconds = 600;
	row.stoppable = job == 7 ? 4 : 0;
	return row;
}

static uint32_t gpus_of(struct build *b, uint32_t id)
{
	struct sl_job_row job;

	sl_builder_row(b->builder, SL_T_JOB, build_job_row(b, id), &job);
	return job.gres.first;
}

static void add_short(struct built_plan *p, struct sl_plan_shortage_row *row, uint32_t what, uint32_t which, int64_t needs)
{
	struct sl_plan_short_row s = { .first = 3, .last = 3, .what = what, .which = which, .needs = needs };
	uint32_t at = sl_builder_append(p->builder, SL_P_SHORT, &s);

	row->shorts = (struct sl_range) { row->shorts.count ? row->shorts.first : at, row->shorts.count + 1 };
}

static void expect_words(struct build *b, struct built_plan *p, const struct sl_plan_shortage_row *row, const char *words)
{
	char text[SL_SHORTAGE_TEXT];
	struct sl_plan_image image;
	struct sl_error err;
	const void *bytes;
	uint32_t *jobs;
	size_t size;

	sl_builder_append(p->builder, SL_P_SHORTAGE, row);
	build_open(b);
	if (sl_builder_finish(p->builder, &bytes, &size, &err) < 0 || sl_plan_image_open(&image, bytes, size, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(sl_shortage_jobs(&b->snap, &image, &jobs, &err), 0);
	assert_string_equal(sl_shortage_text(&b->snap, &image, 0, jobs[0], text, sizeof(text)), words);
	assert_int_equal(strlen(sl_shortage_text(&b->snap, &image, 0, jobs[0], text, 10)), 9);
	free(jobs);
	assert_memory_equal(text, words, 9);
	build_plan_destroy(p);
	build_destroy(b);
}

static void too_few_nodes_have_what_the_job_needs_of_each(void **state)
{
	static const struct {
		uint32_t stoppable, what, needs, has;
		int64_t each;
		const char *words;
	} cases[] = {
		{ 4, SL_SHORT_GRES, 4, 3, 2, "with all 4 jobs that may be stopped gone, 3 nodes of the 4 that it needs would have 2 GPUs" },
		{ 1, SL_SHORT_GRES, 4, 1, 1, "with the one job that may be stopped gone, 1 node of the 4 that it needs would have 1 GPU" },
		{ 0, SL_SHORT_CORES, 4, 0, 4, "no job may be stopped for it, and no node of the 4 that it needs would have 4 cores" },
		{ 2, SL_SHORT_MEMORY, 1, 0, 500, "with all 2 jobs that may be stopped gone, no node would have 500 MiB of memory" },
	};

	(void) state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct build *b = four(cases[i].stoppable);
		struct built_plan *p = build_plan(b);
		struct sl_plan_shortage_row row = shortage_of(7, SL_SHORT_NODES, cases[i].needs, cases[i].has);
		bool gpus = cases[i].what == SL_SHORT_GRES;

		row.stoppable = cases[i].stoppable;
		add_short(p, &row, cases[i].what, gpus ? gpus_of(b, 7) : SL_NONE, cases[i].each);
		expect_words(b, p, &row, cases[i].words);
	}
}

static void each_resource_that_is_short_is_named_once_with_the_least_of_it(void **state)
{
	struct build *b = four(4);
	struct built_plan *p = build_plan(b);
	struct sl_plan_shortage_row row = shortage_of(7, SL_SHORT_NODES, 4, 2);

	(void) state;
	add_short(p, &row, SL_SHORT_CORES, SL_NONE, 6);
	add_short(p, &row, SL_SHORT_GRES, gpus_of(b, 7), 2);
	add_short(p, &row, SL_SHORT_CORES, SL_NONE, 4);
	expect_words(b, p, &row, "with all 4 jobs that may be stopped gone, 2 nodes of the 4 that it needs would have 4 cores and 2 GPUs");
}

static void what_is_short_in_all_or_is_a_licence_has_words_of_its_own(void **state)
{
	struct build *b = four(4);
	struct built_plan *p = build_plan(b);
	struct sl_plan_shortage_row row = shortage_of(7, SL_SHORT_CORES, 64, 40);

	(void) state;
	expect_words(b, p, &row, "with all 4 jobs that may be stopped gone, its nodes would have 40 cores of the 64 that it needs");
	b = four(4);
	p = build_plan(b);
	row = shortage_of(7, SL_SHORT_LICENSE, 5, 1);
	row.which = 99;			/* a plan that was not checked */
	expect_words(b, p, &row, "with all 4 jobs that may be stopped gone, there would be 1 licence ? of the 5 that it needs");
	b = four(4);
	p = build_plan(b);
	row = shortage_of(8, SL_SHORT_GRES, 5, 3);
	expect_words(b, p, &row, "no job may be stopped for it, and its nodes would have 3 of resource ? of the 5 that it needs");
}

static void whom_the_policy_spares_is_counted_apart(void **state)
{
	struct build *b = four(4);
	struct built_plan *p = build_plan(b);
	struct sl_plan_shortage_row row = shortage_of(7, SL_SHORT_NODES, 4, 3);
	struct sl_plan_spared_row spared = { .job = 4 };

	(void) state;
	row.spared = (struct sl_range) { sl_builder_append(p->builder, SL_P_SPARED, &spared), 1 };
	expect_words(b, p, &row, "with all 3 jobs that may be stopped gone, it could have 3 nodes of the 4 that it needs "
		     "(the policy spares 1 that Slurm would let be stopped)");
}

/* A plan that was not checked may name jobs twice, or some that are not there. */
static void the_jobs_of_all_shortages_are_found_in_one_walk(void **state)
{
	static const uint32_t ids[] = { 7, 99, 2, 7, 1 };
	struct build *b = four(4);
	struct built_plan *p = build_plan(b);
	struct sl_plan_image image;
	struct sl_error err;
	const void *bytes;
	uint32_t *jobs;
	size_t size;

	(void) state;
	for (int i = 0; i < 5; i++) {
		struct sl_plan_shortage_row row = shortage_of(ids[i], SL_SHORT_NODES, 4, 3);

		sl_builder_append(p->builder, SL_P_SHORTAGE, &row);
	}
	build_open(b);
	assert_int_equal(sl_builder_finish(p->builder, &bytes, &size, &err), 0);
	assert_int_equal(sl_plan_image_open(&image, bytes, size, &err), 0);
	assert_int_equal(sl_shortage_jobs(&b->snap, &image, &jobs, &err), 0);
	for (int i = 0; i < 5; i++)
		assert_true(ids[i] == 99 ? jobs[i] == SL_NONE : b->snap.job.id[jobs[i]] == ids[i]);
	free(jobs);
	build_plan_destroy(p);
	build_destroy(b);
}

/* -- the journal ------------------------------------------------------------------ */

static void add_shortage(struct fixture *f, uint32_t job, uint32_t what, int64_t has)
{
	struct sl_plan_shortage_row row = shortage_of(job, what, 40, has);

	sl_builder_append(f->plan, SL_P_SHORTAGE, &row);
}

/* A cycle in which job 1 waits, short of that (SL_SHORTS: nothing is said); how many lines there are then. */
static int lines_with(struct fixture *f, struct sl_journal *j, int64_t cycle, uint32_t what, int64_t has)
{
	struct sl_error err;
	struct lines l;
	int n;

	begin_plan(f, cycle);
	add_pending(f, 1, SL_WHY_RESOURCES, "");
	if (what != SL_SHORTS)
		add_shortage(f, 1, what, has);
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	l = read_lines(f);
	n = l.n;
	forget(&l);
	return n;
}

static void a_shortage_is_told_when_it_is_of_something_else_and_not_for_its_numbers(void **state)
{
	struct fixture *f = *state;
	struct sl_journal *j = sl_journal_open(f->dir, NULL);

	assert_int_equal(lines_with(f, j, 1, SL_SHORTS, 0), 1);
	assert_int_equal(lines_with(f, j, 2, SL_SHORT_NODES, 3), 2);
	expect_lines(f, 2, "{\"sequence\": 2, \"now\": 1002, \"policy\": \"easy\", "
		     "\"pending\": [{\"job\": 1, \"why\": \"resources\"}], "
		     "\"shortages\": [{\"job\": 1, \"what\": \"nodes\", \"needs\": 40, \"has\": 3, "
		     "\"text\": \"no job may be stopped for it, and it could have 3 nodes of the 40 that it needs\"}]}");
	assert_int_equal(lines_with(f, j, 3, SL_SHORT_NODES, 2), 2);
	assert_int_equal(lines_with(f, j, 4, SL_SHORTS, 0), 2);		/* it was not looked at */
	assert_int_equal(lines_with(f, j, 5, SL_SHORT_NODES, 3), 2);
	assert_int_equal(lines_with(f, j, 6, SL_SHORT_CORES, 3), 3);
	sl_journal_close(j);
}

static void one_of_a_job_that_does_not_wait_is_left_out(void **state)
{
	struct fixture *f = *state;
	struct sl_error err;
	struct sl_journal *j = sl_journal_open(f->dir, &err);

	begin_plan(f, 1);
	add_pending(f, 1, SL_WHY_RESOURCES, "");
	add_shortage(f, 2, SL_SHORT_NODES, 3);
	assert_int_equal(write_plan(f, j, NULL, &err), 0);
	expect_lines(f, 1, "{\"sequence\": 1, \"now\": 1001, \"policy\": \"easy\", \"full\": true, "
		     "\"pending\": [{\"job\": 1, \"why\": \"resources\"}]}");
	sl_journal_close(j);
}

/* Of 10,000 jobs for which nothing would help, each cycle looks at 20 others, and its numbers change. */
static void ten_thousand_jobs_for_which_nothing_would_help_are_told_once(void **state)
{
	struct fixture *f = *state;
	struct sl_error err;
	struct sl_journal *j = sl_journal_open(f->dir, &err);
	off_t once = 0;
	struct stat st;

	for (int cycle = 1; cycle <= 1500; cycle++) {
		begin_plan(f, cycle);
		for (uint32_t job = 1; job <= 10000; job++)
			add_pending(f, job, SL_WHY_RESOURCES, "needs 40 nodes");
		for (uint32_t k = 0; k < 20; k++)
			add_shortage(f, 1 + ((uint32_t) cycle * 20 + k) % 10000, SL_SHORT_NODES, cycle % 39);
		assert_int_equal(write_plan(f, j, NULL, &err), 0);
		assert_int_equal(stat(f->path, &st), 0);
		if (cycle == 500)
			once = st.st_size;
	}
	assert_int_equal(st.st_size, once);
	assert_true(once < 10000 * 500);
	sl_journal_close(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(too_few_nodes_have_what_the_job_needs_of_each),
		cmocka_unit_test(each_resource_that_is_short_is_named_once_with_the_least_of_it),
		cmocka_unit_test(what_is_short_in_all_or_is_a_licence_has_words_of_its_own),
		cmocka_unit_test(whom_the_policy_spares_is_counted_apart),
		cmocka_unit_test(the_jobs_of_all_shortages_are_found_in_one_walk),
		WITH_DIR(a_shortage_is_told_when_it_is_of_something_else_and_not_for_its_numbers),
		WITH_DIR(one_of_a_job_that_does_not_wait_is_left_out),
		WITH_DIR(ten_thousand_jobs_for_which_nothing_would_help_are_told_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
