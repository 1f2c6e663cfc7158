/* SPDX-License-Identifier: MIT */
/* Rows that the checker refused: counted each time, told and kept once for each kind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "image/recording.h"
#include "plugin/host/refused.h"
#include "t/scratch.h"

static void fails(void *arg, enum sl_trouble what, const char *text)
{
	(void) arg;
	(void) what;
	fail_msg("%s", text);
}

/* A plan of which the checker refused two rows, the first of that job and for that. */
static int note(struct sl_refused_log *log, struct sl_status *s, int64_t sequence, uint32_t job, const char *text, char line[512])
{
	struct sl_builder *b = sl_builder_create(&sl_plan_schema, NULL);
	struct sl_plan_meta_row meta = sl_plan_meta_row();
	struct sl_plan_refused_row row = sl_plan_refused_row();
	struct sl_plan_image plan;
	const void *bytes;
	size_t size;
	int rc;

	meta.sequence = sequence;
	sl_builder_append(b, SL_P_META, &meta);
	row.job = job;
	row.text = sl_builder_str(b, text);
	sl_builder_append(b, SL_P_REFUSED, &row);
	row.text = 0;
	sl_builder_append(b, SL_P_REFUSED, &row);
	assert_int_equal(sl_builder_finish(b, &bytes, &size, NULL), 0);
	assert_int_equal(sl_plan_image_open(&plan, bytes, size, NULL), 0);
	rc = sl_refused_note(log, s, &(struct sl_refused_in) { &plan, "a snapshot", 10, scratch }, line, 512, fails, NULL);
	sl_builder_destroy(b);
	return rc;
}

static uint32_t files(void)
{
	struct sl_recording r;
	struct sl_error err;
	char path[512];
	uint32_t n;

	snprintf(path, sizeof(path), "%s/" SL_REFUSED_DIR, scratch);
	(void) sl_recording_list(&r, path, &err);
	n = r.count;
	sl_recording_free(&r);
	return n;
}

/* Each test has the directory for itself. */
static int forget_files(void **state)
{
	return scratch_remove(state) || scratch_make(state) ? -1 : 0;
}

static void a_kind_is_told_and_kept_once(void **state)
{
	struct sl_refused_log log = { .last = 0 };
	struct sl_status s = { .version = "1" };
	char line[512] = "";

	(void) state;
	assert_int_equal(note(&log, &s, 1, 7, "node n3: 5 cores in use now, it has 4", line), 1);
	assert_non_null(strstr(line, "refused 2 rows of the plan (job 7: start: node n3: 5 cores"));
	assert_string_equal(s.row_refused, "job 7: start: node n3: 5 cores in use now, it has 4");
	assert_int_equal(files(), 1);
	/* another job, node and figures: of the same kind */
	log.last = 0;
	assert_int_equal(note(&log, &s, 2, 8, "node n12: 9 cores in use now, it has 8", line), 0);
	assert_string_equal(s.row_refused, "job 8: start: node n12: 9 cores in use now, it has 8");
	assert_int_equal(files(), 1);
	/* another kind, but not too soon after the last one */
	log.last = log.kind[0].told;
	assert_int_equal(note(&log, &s, 3, 9, "partition small is down", line), 0);
	log.last -= SL_REFUSED_PAUSE_S;
	assert_int_equal(note(&log, &s, 4, 9, "partition small is down", line), 1);
	assert_int_equal(files(), 2);
	/* the first one, an hour later */
	log.last = 0;
	for (unsigned i = 0; i < SL_REFUSED_KINDS; i++)
		log.kind[i].told -= log.kind[i].told ? SL_REFUSED_AGAIN_S : 0;
	assert_int_equal(note(&log, &s, 5, 7, "node n3: 5 cores in use now, it has 4", line), 1);
	assert_int_equal(s.rows_refused, 10);
}

static void however_many_kinds_there_are_the_files_are_bounded(void **state)
{
	struct sl_refused_log log = { .last = 0 };
	struct sl_status s = { .version = "1" };
	char line[512], text[] = "reason a";

	(void) state;
	for (int i = 0; i < 20; i++) {
		text[sizeof(text) - 2] = (char) ('a' + i);
		log.last = 0;
		assert_int_equal(note(&log, &s, 10 + i, 7, text, line), 1);
	}
	assert_int_equal(files(), SL_REFUSED_FILES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_kind_is_told_and_kept_once, forget_files),
		cmocka_unit_test_setup(however_many_kinds_there_are_the_files_are_bounded, forget_files),
	};

	return cmocka_run_group_tests_name("refused", tests, scratch_make, scratch_remove);
}
