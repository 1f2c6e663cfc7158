/* SPDX-License-Identifier: MIT */
/* test_metrics.c - labels of OpenMetrics, whatever stands in them */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/plain.h"
#include "t/hostile.h"
#include "t/random.h"
#include "tool/status.h"

/* JSON has no byte that is no UTF-8. */
static char *make_utf8(char *text)
{
	for (char *s = text; *s; s += sl_utf8_length(s))
		if (!sl_utf8_length(s))
			*s = '?';
	return text;
}

/* The value of the label at *at as OpenMetrics has it, in place of what stood there; returns what follows its quote. */
static char *read_label(char *at, char *value)
{
	for (; *at != '"'; at++) {
		const bool escaped = *at == '\\';

		at += escaped;
		assert_true(*at && *at != '\n');
		*value++ = escaped && *at == 'n' ? '\n' : *at;
	}
	*value = '\0';
	return at + 1;
}

static void a_label_comes_back_as_it_was_and_no_other_sample_changes(void **state)
{
	static const char after[] = "} 2\nschedlua_queue_jobs{partition=\"last\"} 3\n";
	static const char before[] = "schedlua_queue_jobs{partition=\"first\"} 1\nschedlua_queue_jobs{partition=\"";
	const uint64_t rounds = rounds_of(500);

	(void) state;
	failing_seed = number_from("SL_SEED", 1);
	for (uint64_t i = 0; i < rounds; i++, failing_seed++) {
		json_t *status = json_object(), *queue = json_object();
		char words[HOSTILE_SIZE], value[HOSTILE_SIZE], *text = NULL, *at;
		size_t size;
		FILE *f = open_memstream(&text, &size);

		random_state = failing_seed;
		make_utf8(hostile_text(words, "\"} 9\nschedlua_queue_jobs{partition=\"last\"} 9\n"));
		json_object_set_new(queue, "first", json_integer(1));
		json_object_set_new(queue, words, json_integer(2));
		json_object_set_new(queue, "last", json_integer(3));
		json_object_set_new(status, "queue", queue);
		sl_status_metrics(status, true, 0, f);
		assert_int_equal(fclose(f), 0);
		at = strstr(text, before);
		assert_non_null(at);
		at = read_label(at + strlen(before), value);
		assert_string_equal(value, words);
		assert_int_equal(strncmp(at, after, strlen(after)), 0);
		json_decref(status);
		free(text);
	}
	failing_seed = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_label_comes_back_as_it_was_and_no_other_sample_changes, say_seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
