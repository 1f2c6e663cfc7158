/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/escape.h"
#include "base/plain.h"
#include "t/hostile.h"
#include "t/random.h"

/* What is written, malloc'ed. */
static char *escape(const char *text, const char *separators)
{
	char *written = NULL;
	size_t size;
	FILE *f = open_memstream(&written, &size);

	sl_escape_put(f, text, separators);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(strlen(written), size);
	return written;
}

static void assert_written(const char *text, const char *separators, const char *expected)
{
	char *written = escape(text, separators);

	assert_string_equal(written, expected);
	assert_true(sl_unescape(written, separators));
	assert_string_equal(written, text);
	free(written);
}

static void a_text_is_written_so_that_it_stays_one_field(void **state)
{
	(void) state;
	assert_written("", "\t", "");
	assert_written("gres:gpu:a100:2,gres:nvme", "\t", "gres:gpu:a100:2,gres:nvme");
	assert_written("two\nlines\tand\rmore", "|", "two\\x0alines\\x09and\\x0dmore");
	assert_written("a|b", "|", "a\\x7cb");
	assert_written("a|b", "\t", "a|b");
	assert_written("DOMAIN\\user", "|", "DOMAIN\\x5cuser");
	assert_written("M\xc3\xbcller \xf0\x9f\x98\x80", "|", "M\xc3\xbcller \xf0\x9f\x98\x80");
	assert_written("\xe2\x80\xae" "txt.exe", "|", "\\xe2\\x80\\xaetxt.exe");
	assert_written("\xff\xc3", "|", "\\xff\\xc3");
	assert_written("\\x0a", "|", "\\x5cx0a");
}

static void assert_refused(const char *written)
{
	char text[64];

	snprintf(text, sizeof(text), "%s", written);
	assert_false(sl_unescape(text, "|"));
}

static void what_was_not_written_so_is_refused(void **state)
{
	(void) state;
	assert_refused("a\nb");
	assert_refused("a|b");
	assert_refused("a\\");
	assert_refused("a\\n");
	assert_refused("a\\x0");
	assert_refused("a\\x0A");
	assert_refused("a\\x00b");
	assert_refused("\xe2\x80\xae");
	assert_refused("\xff");
}

static void what_users_write_comes_back_as_it_was_and_is_one_plain_field(void **state)
{
	const uint64_t rounds = rounds_of(20000);

	(void) state;
	failing_seed = number_from("SL_SEED", 1);
	for (uint64_t i = 0; i < rounds; i++, failing_seed++) {
		char text[HOSTILE_SIZE], *written, *plain;

		random_state = failing_seed;
		written = escape(hostile_text(text, "1\t0\t-\n"), "\t|");
		assert_null(strpbrk(written, "\t|\n\r"));
		assert_false(sl_text_is_unsafe(written));
		plain = sl_plain(strdup(written));
		assert_string_equal(plain, written);
		assert_true(sl_unescape(written, "\t|"));
		assert_string_equal(written, text);
		free(written);
		free(plain);
	}
	failing_seed = 0;
}

/* The field at *at as a reader of RFC 4180 has it, malloc'ed; *at moves behind it and the comma or line feed. */
static char *read_csv(const char **at)
{
	char *field = malloc(strlen(*at) + 1), *to = field;
	bool quoted = **at == '"';

	for (*at += quoted; quoted ? **at != '"' || (*at)[1] == '"' : !strchr(",\n", **at); (*at)++) {
		*at += quoted && **at == '"';
		*to++ = **at;
	}
	*at += quoted;
	assert_true(**at == ',' || **at == '\n');
	++*at;
	*to = '\0';
	return field;
}

static void a_table_of_csv_has_the_same_fields_whatever_stands_in_them(void **state)
{
	const uint64_t rounds = rounds_of(3000);

	(void) state;
	failing_seed = number_from("SL_SEED", 1);
	for (uint64_t i = 0; i < rounds; i++, failing_seed++) {
		char text[6][HOSTILE_SIZE], *table = NULL;
		const char *at;
		size_t size;
		FILE *f = open_memstream(&table, &size);

		random_state = failing_seed;
		for (int k = 0; k < 6; k++) {
			sl_csv_put(f, hostile_text(text[k], "\",\n\"forged\","));
			putc(k % 3 == 2 ? '\n' : ',', f);
		}
		assert_int_equal(fclose(f), 0);
		at = table;
		for (int k = 0; k < 6; k++) {
			char *field = read_csv(&at);

			assert_string_equal(field, text[k]);
			free(field);
		}
		assert_string_equal(at, "");
		free(table);
	}
	failing_seed = 0;
}

static void a_text_is_unsafe_if_a_reader_could_be_misled(void **state)
{
	(void) state;
	assert_false(sl_text_is_unsafe("") || sl_text_is_unsafe("gres:gpu:2 | \\ \"") || sl_text_is_unsafe("\xc3\xa4"));
	assert_true(sl_text_is_unsafe("a\nb") && sl_text_is_unsafe("\t") && sl_text_is_unsafe("\xe2\x80\xae") &&
		    sl_text_is_unsafe("a\xff") && sl_text_is_unsafe("\177"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_is_written_so_that_it_stays_one_field),
		cmocka_unit_test(what_was_not_written_so_is_refused),
		cmocka_unit_test_teardown(what_users_write_comes_back_as_it_was_and_is_one_plain_field, say_seed),
		cmocka_unit_test_teardown(a_table_of_csv_has_the_same_fields_whatever_stands_in_them, say_seed),
		cmocka_unit_test(a_text_is_unsafe_if_a_reader_could_be_misled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
