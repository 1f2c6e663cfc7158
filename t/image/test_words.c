/* SPDX-License-Identifier: MIT */
/* test_words.c - what users who mean harm have written, in the JSON that is written of it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/escape.h"
#include "base/plain.h"
#include "t/hostile.h"
#include "t/image/journals.h"
#include "t/random.h"

/* What a JSON text can hold of it: a byte that is no UTF-8 is U+FFFD.  malloc'ed. */
static char *as_json_has_it(const char *text)
{
	char *out = malloc(3 * strlen(text) + 1), *to = out;

	for (unsigned n; *text; text += n ? n : 1) {
		n = sl_utf8_length(text);
		memcpy(to, n ? text : "\xef\xbf\xbd", n ? n : 3);
		to += n ? n : 3;
	}
	*to = '\0';
	return out;
}

static void assert_member(const json_t *object, const char *key, const char *text)
{
	char *expected = as_json_has_it(text);

	assert_string_equal(json_string_value(json_object_get(object, key)), expected);
	free(expected);
}

/* The one record of the journal: a line of plain text. */
static json_t *read_record(struct fixture *f)
{
	struct lines l = read_lines(f);
	json_t *v;

	assert_int_equal(l.n, 1);
	assert_false(sl_text_is_unsafe(l.line[0]));
	v = json_loads(l.line[0], JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(v);
	forget(&l);
	return v;
}

static void a_record_of_the_journal_says_of_others_what_it_would_without_them(void **state)
{
	static const char row[] = "\"}]}\n{\"sequence\": 9, \"pending\": [{\"job\": 3, \"why\": \"never\", \"text\": \"x\"}]}\n";
	const uint64_t rounds = rounds_of(150);
	struct fixture *f = *state;
	struct sl_error err;

	failing_seed = number_from("SL_SEED", 1);
	for (uint64_t i = 0; i < rounds; i++, failing_seed++) {
		struct sl_journal *j = sl_journal_open(f->dir, &err);
		char words[HOSTILE_SIZE];
		json_t *record, *pending;

		random_state = failing_seed;
		assert_non_null(j);
		begin_plan(f, 1);
		add_pending(f, 1, SL_WHY_POLICY, "first");
		add_pending(f, 2, SL_WHY_POLICY, hostile_text(words, row));
		add_pending(f, 3, SL_WHY_POLICY, "last");
		assert_int_equal(write_plan(f, j, NULL, &err), 0);
		sl_journal_close(j);
		record = read_record(f);
		pending = json_object_get(record, "pending");
		assert_int_equal(json_array_size(pending), 3);
		assert_member(json_array_get(pending, 0), "text", "first");
		if (*words)
			assert_member(json_array_get(pending, 1), "text", words);
		assert_member(json_array_get(pending, 2), "text", "last");
		json_decref(record);
		unlink(f->path);
	}
	failing_seed = 0;
}

/* The jobs of a snapshot: names, comments and what is asked for. */
static void add_jobs(struct sl_builder *b, char words[4][HOSTILE_SIZE])
{
	struct sl_partition_row part = sl_partition_row();
	struct sl_meta_row meta = sl_meta_row();
	struct sl_job_row job = sl_job_row();

	part.name = sl_builder_str(b, "main");
	sl_builder_append(b, SL_T_META, &meta);
	sl_builder_append(b, SL_T_PARTITION, &part);
	for (uint32_t i = 1; i <= 3; i++) {
		job.id = i;
		job.partition = 0;
		job.name = sl_builder_str(b, i == 2 ? words[0] : "mine");
		job.comment = sl_builder_str(b, i == 2 ? words[1] : "");
		job.features = sl_builder_str(b, i == 2 ? words[2] : "");
		job.wckey = sl_builder_str(b, i == 2 ? words[3] : "key");
		sl_builder_append(b, SL_T_JOB, &job);
	}
}

static void assert_jobs(struct sl_builder *b, char words[4][HOSTILE_SIZE])
{
	struct sl_job_row job;

	assert_int_equal(sl_builder_rows(b, SL_T_JOB), 3);
	for (uint32_t i = 0; i < 3; i++) {
		char *expected[4];

		assert_int_equal(sl_builder_row(b, SL_T_JOB, i, &job), 0);
		for (int k = 0; k < 4; k++)
			expected[k] = as_json_has_it(i == 1 ? words[k] : !k ? "mine" : k == 3 ? "key" : "");
		assert_int_equal(job.id, i + 1);
		assert_string_equal(sl_builder_text(b, job.name), expected[0]);
		assert_string_equal(sl_builder_text(b, job.comment), expected[1]);
		assert_string_equal(sl_builder_text(b, job.features), expected[2]);
		assert_string_equal(sl_builder_text(b, job.wckey), expected[3]);
		for (int k = 0; k < 4; k++)
			free(expected[k]);
	}
}

static void a_snapshot_as_json_comes_back_as_it_was(void **state)
{
	const uint64_t rounds = rounds_of(300);

	(void) state;
	failing_seed = number_from("SL_SEED", 1);
	for (uint64_t i = 0; i < rounds; i++, failing_seed++) {
		struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, NULL), *back = sl_builder_create(&sl_snapshot_schema, NULL);
		char words[4][HOSTILE_SIZE], *text = NULL;
		struct sl_snapshot snap;
		struct sl_error err;
		const void *bytes;
		size_t size;
		FILE *f = open_memstream(&text, &size);

		random_state = failing_seed;
		for (int k = 0; k < 4; k++)
			hostile_text(words[k], "\"}, {\"id\": 3, \"name\": \"x\"}, {\"a\": \"");
		add_jobs(b, words);
		if (sl_builder_finish(b, &bytes, &size, &err) || sl_snapshot_open(&snap, bytes, size, &err) ||
		    sl_image_to_json(&snap.image, &snap, f, &err) || fclose(f) ||
		    sl_builder_from_json(back, "back", text, size, &err))
			fail_msg("%s", err.text);
		assert_jobs(back, words);
		sl_builder_destroy(b);
		sl_builder_destroy(back);
		free(text);
	}
	failing_seed = 0;
}

static int end(void **state)
{
	return tear_down(state) | say_seed(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_record_of_the_journal_says_of_others_what_it_would_without_them, set_up, end),
		cmocka_unit_test_teardown(a_snapshot_as_json_comes_back_as_it_was, say_seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
