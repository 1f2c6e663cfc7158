/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "verbs/man.h"
#include "tool/options.h"

struct values {
	bool json;
	int64_t window;
	double budget;
	const char *site, *alone, *over;
};

static const struct sl_option table[] = {
	{ .name = "json", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, json), .doc = "as JSON" },
	{ .name = "window", .type = SL_OPTION_INTEGER, .offset = offsetof(struct values, window), .argument = "N",
	  .min = 1, .max = 1000, .standard = "500", .doc = "jobs to look at" },
	{ .name = "budget", .type = SL_OPTION_NUMBER, .offset = offsetof(struct values, budget),
	  .argument = "SECONDS", .min = 0.5, .max = 10, .doc = "time to take" },
	{ .name = "site", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, site), .argument = "FILE",
	  .doc = "site file", .letter = 's' },
	{ .name = "alone", .type = SL_OPTION_WORD, .offset = offsetof(struct values, alone), .argument = "user", .doc = "alone" },
	{ .name = "over", .type = SL_OPTION_WORD, .offset = offsetof(struct values, over), .doc = "over", .letter = 'O' },
	{ 0 }
};

#define MAX_WORDS 8

/* Parse a line of words; operands are left at the front of *argv. */
static int parse(const char *line, struct values *v, char *argv[MAX_WORDS], struct sl_command *cmd,
		 struct sl_error *err)
{
	static char copy[200];
	int argc = 0;

	snprintf(copy, sizeof(copy), "%s", line);
	for (char *word = strtok(copy, " "); word && argc < MAX_WORDS; word = strtok(NULL, " "))
		argv[argc++] = word;
	err->text[0] = 0;
	return sl_options_parse(table, v, argc, argv, cmd, err);
}

static void values_come_after_an_equals_sign_or_as_the_next_word(void **state)
{
	char *argv[MAX_WORDS];
	struct sl_command cmd;
	struct sl_error err;
	struct values v;

	(void) state;
	assert_int_equal(parse("--window=7 --site s.lua --json --budget 2.5", &v, argv, &cmd, &err), 0);
	assert_int_equal(v.window, 7);
	assert_string_equal(v.site, "s.lua");
	assert_true(v.json);
	assert_true(v.budget == 2.5);
	assert_int_equal(cmd.operands, 0);
}

static void the_value_of_a_word_may_be_left_out(void **state)
{
	char *argv[MAX_WORDS];
	struct sl_command cmd;
	struct sl_error err;
	struct values v;

	(void) state;
	assert_int_equal(parse("--json", &v, argv, &cmd, &err), 0);
	assert_null(v.alone);
	assert_int_equal(parse("--alone user -O", &v, argv, &cmd, &err), 0);
	assert_string_equal(v.alone, "");
	assert_string_equal(v.over, "");
	assert_int_equal(cmd.operands, 1);
	assert_int_equal(parse("--alone=user", &v, argv, &cmd, &err), 0);
	assert_string_equal(v.alone, "user");
	assert_int_equal(parse("--over=user", &v, argv, &cmd, &err), -1);
	assert_string_equal(err.text, "--over takes no value");
	assert_int_equal(parse("-O3", &v, argv, &cmd, &err), -1);
}

static void a_letter_may_stand_for_a_name(void **state)
{
	char *argv[MAX_WORDS];
	struct sl_command cmd;
	struct sl_error err;
	struct values v;

	(void) state;
	assert_int_equal(parse("-ss.lua one", &v, argv, &cmd, &err), 0);
	assert_string_equal(v.site, "s.lua");
	assert_int_equal(cmd.operands, 1);
	assert_int_equal(parse("-s t.lua", &v, argv, &cmd, &err), 0);
	assert_string_equal(v.site, "t.lua");
	assert_int_equal(parse("-s", &v, argv, &cmd, &err), -1);
	assert_string_equal(err.text, "-s: FILE is missing");
	assert_int_equal(parse("-w3", &v, argv, &cmd, &err), -1);
	assert_string_equal(err.text, "unknown option -w3");
}

static void what_is_not_said_has_its_default(void **state)
{
	char *argv[MAX_WORDS];
	struct sl_command cmd;
	struct sl_error err;
	struct values v;

	(void) state;
	memset(&v, 0xff, sizeof(v));
	assert_int_equal(parse("", &v, argv, &cmd, &err), 0);
	assert_int_equal(v.window, 500);
	assert_null(v.site);
	assert_false(v.json);
	assert_true(v.budget == 0);
}

static void operands_may_stand_anywhere_and_keep_their_order(void **state)
{
	char *argv[MAX_WORDS];
	struct sl_command cmd;
	struct sl_error err;
	struct values v;

	(void) state;
	assert_int_equal(parse("a --json b --window 3 - -- --c", &v, argv, &cmd, &err), 0);
	assert_int_equal(cmd.operands, 4);
	assert_string_equal(argv[0], "a");
	assert_string_equal(argv[1], "b");
	assert_string_equal(argv[2], "-");
	assert_string_equal(argv[3], "--c");
}

static void help_is_found_unless_it_is_a_value(void **state)
{
	char *argv[MAX_WORDS];
	struct sl_command cmd;
	struct sl_error err;
	struct values v;

	(void) state;
	assert_int_equal(parse("a --help --nonsense", &v, argv, &cmd, &err), 0);
	assert_true(cmd.help);
	assert_int_equal(parse("-- --help", &v, argv, &cmd, &err), 0);
	assert_false(cmd.help);
}

static void errors_say_which_option_and_what_was_expected(void **state)
{
	static const struct { const char *line, *text; } bad[] = {
		{ "--nonsense", "unknown option --nonsense" },
		{ "-j", "unknown option -j" },
		{ "--win=3", "unknown option --win=3" },
		{ "--json=yes", "--json takes no value" },
		{ "--site", "--site: FILE is missing" },
		{ "--site=", "--site: expected FILE, got nothing" },
		{ "--window=0", "--window=0: expected an integer from 1 to 1000" },
		{ "--window=3x", "--window=3x: expected an integer from 1 to 1000" },
		{ "--window=99999999999999999999", "--window=99999999999999999999: expected an integer from 1 to 1000" },
		{ "--budget=nan", "--budget=nan: expected a number from 0.5 to 10" },
		{ "--budget=1e400", "--budget=1e400: expected a number from 0.5 to 10" },
	};
	char *argv[MAX_WORDS];
	struct sl_command cmd;
	struct sl_error err;
	struct values v;

	(void) state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(parse(bad[i].line, &v, argv, &cmd, &err), -1);
		assert_int_equal(err.code, SL_EINVAL);
		assert_string_equal(err.text, bad[i].text);
	}
}

static const struct sl_verb verb = {
	.name = "try", .operands = "[OPTION]... FILE", .summary = "try something", .options = table,
};

static const char prose[] =
	".\\\" a comment\nIt tries.\n.hidden request \\n stays *bold* text.\n\n    literal *line*\n\nLast.\n"
	"# OPTIONS\n# FILES\nnone\n";

static void print_man(const struct sl_verb *v, FILE *out)
{
	sl_verb_man(v, prose, out);
}

static char *printed(void (*print)(const struct sl_verb *, FILE *))
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	print(&verb, out);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void help_and_man_page_show_range_and_default_from_the_table(void **state)
{
	char *help = printed(sl_verb_help), *man = printed(print_man);

	(void) state;
	assert_non_null(strstr(help, "Usage: schedlua try [OPTION]... FILE\n"));
	assert_non_null(strstr(help, "--window=N"));
	assert_non_null(strstr(help, "  -s, --site=FILE "));
	assert_non_null(strstr(man, ".TP\n.B \\-s, \\-\\-site\\fR=\\fIFILE\n"));
	assert_non_null(strstr(help, "(an integer from 1 to 1000;"));
	assert_non_null(strstr(man, ".TP\n.B \\-\\-window\\fR=\\fIN\njobs to look at "
			       "(an integer from 1 to 1000; default 500)\n"));
	free(help);
	free(man);
}

static void text_in_man_pages_cannot_become_a_request(void **state)
{
	char *man = printed(print_man);

	(void) state;
	assert_non_null(strstr(man, "\n\\&.hidden request \\en stays \\fBbold\\fR text.\n"));
	assert_non_null(strstr(man, ".RS 4\n.nf\nliteral *line*\n.fi\n.RE\n.PP\nLast.\n"));
	assert_null(strstr(man, "a comment"));
	assert_non_null(strstr(man, "exit\n.SH FILES\nnone\n.SH SEE"));
	free(man);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_come_after_an_equals_sign_or_as_the_next_word),
		cmocka_unit_test(the_value_of_a_word_may_be_left_out),
		cmocka_unit_test(a_letter_may_stand_for_a_name),
		cmocka_unit_test(what_is_not_said_has_its_default),
		cmocka_unit_test(operands_may_stand_anywhere_and_keep_their_order),
		cmocka_unit_test(help_is_found_unless_it_is_a_value),
		cmocka_unit_test(errors_say_which_option_and_what_was_expected),
		cmocka_unit_test(help_and_man_page_show_range_and_default_from_the_table),
		cmocka_unit_test(text_in_man_pages_cannot_become_a_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
