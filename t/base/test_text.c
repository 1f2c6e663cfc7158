/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/plain.h"
#include "base/search.h"
#include "base/text.h"

static void durations_are_written_as_slurm_does(void **state)
{
	char text[SL_TEXT_SIZE];

	(void) state;
	assert_string_equal(sl_text_duration(text, 0), "00:00:00");
	assert_string_equal(sl_text_duration(text, 1800), "00:30:00");
	assert_string_equal(sl_text_duration(text, 86399), "23:59:59");
	assert_string_equal(sl_text_duration(text, 86400 + 2 * 3600 + 3 * 60 + 4), "1-02:03:04");
	assert_string_equal(sl_text_duration(text, -60), "-00:01:00");
	assert_string_equal(sl_text_duration(text, INT64_MAX), "UNLIMITED");
	assert_string_equal(sl_text_duration(text, INT64_MAX - 1), "106751991167300-15:30:06");
}

static void a_word_is_found_whole_in_a_list(void **state)
{
	(void) state;
	assert_true(sl_list_has("a,bc", ",", "bc", 2) && sl_list_has("a,bc,", ",", "a", 1));
	assert_true(sl_list_has("lo, hi or name", ", ", "name", 4) && sl_list_has(",,x", ",", "x", 1));
	assert_true(sl_list_has("gpu,long", ",", "gpu&big", 3));
	assert_false(sl_list_has("a,bc", ",", "b", 1) || sl_list_has("abc", ",", "bc", 2));
	assert_false(sl_list_has("", ",", "a", 1) || sl_list_has("", ",", "", 0) || sl_list_has("a,,b", ",", "", 0));
}

static void times_are_local_and_none_is_a_dash(void **state)
{
	char text[SL_TEXT_SIZE];

	(void) state;
	setenv("TZ", "UTC", 1);
	tzset();
	assert_string_equal(sl_text_time(text, 1793620800), "2026-11-02T12:00:00");
	assert_string_equal(sl_text_time(text, 0), "-");
	assert_string_equal(sl_text_time(text, INT64_MAX), "-");
}

static void what_users_wrote_becomes_one_line_of_plain_text(void **state)
{
	char text[] = "two\nlines\t\033[31mred\177 \xc3\xa4 \xc2\x9b" "1m \xff\xc0\x80 \xe2\x82";

	(void) state;
	assert_ptr_equal(sl_plain(text), text);
	assert_string_equal(text, "two lines  [31mred  \xc3\xa4   1m ??? ??");
}

static void a_stream_makes_plain_what_goes_through_it_in_whatever_pieces(void **state)
{
	static const char in[] = "two\nlines\t\033[31m \xc3\xa4 \xe2\x80\xae\xf0\x9f\x98\x80 \xff \xe2\x82\xac";
	char got[100] = "";
	FILE *file = tmpfile(), *f;

	(void) state;
	f = sl_plain_stream(fileno(file), _IONBF);
	assert_non_null(f);
	for (size_t i = 0; i < sizeof(in); i++)		/* the NUL, too */
		assert_int_equal(fwrite(in + i, 1, 1, f), 1);
	assert_int_equal(fclose(f), 0);
	rewind(file);
	assert_true(fread(got, 1, sizeof(got) - 1, file) > 0);
	assert_string_equal(got, "two\nlines\t [31m \xc3\xa4    \xf0\x9f\x98\x80 ? \xe2\x82\xac?");
	fclose(file);
	f = sl_plain_stream(-1, _IONBF);
	assert_int_equal(fputs("lost", f), EOF);
	fclose(f);
}

static void columns_are_as_wide_as_their_widest_cell(void **state)
{
	struct sl_text_table *t = sl_text_table_create(">JOB,NODELIST,NOTE");
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void) state;
	sl_text_table_addf(t, "%d", 7);
	sl_text_table_add(t, "n[1-4]");
	sl_text_table_add(t, NULL);
	sl_text_table_addf(t, "%d", 12345);
	sl_text_table_add(t, "login");
	sl_text_table_add(t, "late");
	assert_int_equal(sl_text_table_print(t, 2, out), 0);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text,
			    "    JOB  NODELIST  NOTE\n"
			    "      7  n[1-4]\n"
			    "  12345  login     late\n");
	free(text);
	sl_text_table_destroy(t);
	sl_text_table_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations_are_written_as_slurm_does),
		cmocka_unit_test(a_word_is_found_whole_in_a_list),
		cmocka_unit_test(times_are_local_and_none_is_a_dash),
		cmocka_unit_test(what_users_wrote_becomes_one_line_of_plain_text),
		cmocka_unit_test(a_stream_makes_plain_what_goes_through_it_in_whatever_pieces),
		cmocka_unit_test(columns_are_as_wide_as_their_widest_cell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
