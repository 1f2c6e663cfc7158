/* SPDX-License-Identifier: MIT */
#include "tool/options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"

#define HELP_COLUMN 28		/* where the meaning of an option begins */
#define HELP_WIDTH 79

bool sl_option_needs_value(const struct sl_option *o)
{
	return o->type != SL_OPTION_FLAG && o->type != SL_OPTION_WORD;
}

static void *field(void *values, const struct sl_option *o)
{
	return (char *) values + o->offset;
}

/* The range of a number, in words. */
static void say_range(const struct sl_option *o, char *text, size_t size)
{
	const char *what = o->type == SL_OPTION_INTEGER ? "an integer" : "a number";

	if (isinf(o->max))
		snprintf(text, size, "%s of at least %.15g", what, o->min);
	else
		snprintf(text, size, "%s from %.15g to %.15g", what, o->min, o->max);
}

static int set_number(const struct sl_option *o, void *values, const char *text, struct sl_error *err)
{
	char range[100], *end;
	double number = 0;
	long long integer = 0;

	say_range(o, range, sizeof(range));
	errno = 0;
	if (o->type == SL_OPTION_INTEGER)
		number = (double) (integer = strtoll(text, &end, 10));
	else
		number = strtod(text, &end);
	if (end == text || *end || errno || !(number >= o->min && number <= o->max))
		return sl_fail(err, SL_EINVAL, "--%s=%s: expected %s", o->name, text, range);
	if (o->type == SL_OPTION_INTEGER)
		*(int64_t *) field(values, o) = integer;
	else
		*(double *) field(values, o) = number;
	return 0;
}

static int set(const struct sl_option *o, void *values, const char *text, struct sl_error *err)
{
	switch (o->type) {
	case SL_OPTION_FLAG:
		*(bool *) field(values, o) = true;
		return 0;
	case SL_OPTION_WORD:
		*(const char **) field(values, o) = text;
		return 0;
	case SL_OPTION_TEXT:
		if (!*text)
			return sl_fail(err, SL_EINVAL, "--%s: expected %s, got nothing", o->name, o->argument);
		*(const char **) field(values, o) = text;
		return 0;
	default:
		return set_number(o, values, text, err);
	}
}

static void clear_value(const struct sl_option *o, void *values)
{
	switch (o->type) {
	case SL_OPTION_FLAG:	*(bool *) field(values, o) = false; break;
	case SL_OPTION_INTEGER:	*(int64_t *) field(values, o) = 0; break;
	case SL_OPTION_NUMBER:	*(double *) field(values, o) = 0; break;
	case SL_OPTION_WORD:
	case SL_OPTION_TEXT:	*(const char **) field(values, o) = NULL; break;
	}
}

static const struct sl_option *find_option(const struct sl_option *table, const char *name, size_t length)
{
	for (const struct sl_option *o = table; o && o->name; o++)
		if (strlen(o->name) == length && !strncmp(o->name, name, length))
			return o;
	return NULL;
}

static const struct sl_option *find_letter(const struct sl_option *table, char letter)
{
	for (const struct sl_option *o = table; letter && o && o->name; o++)
		if (o->letter == letter)
			return o;
	return NULL;
}

static int refuse_word(const struct sl_option *table, const char *given, const char *word, size_t length,
		   struct sl_error *err)
{
	char name[64];
	struct sl_nearest near = { .word = name };

	snprintf(name, sizeof(name), "%.*s", (int) (length < sizeof(name) ? length : sizeof(name) - 1), word);
	for (const struct sl_option *o = table; given[1] == '-' && o && o->name; o++)
		sl_nearest_try(&near, o->name);
	/* one that begins so: --policy for --policies */
	for (const struct sl_option *o = table; given[1] == '-' && !near.best && o && o->name; o++)
		if (strlen(name) > 4 && !strncmp(o->name, name, strlen(name) - 1))
			near.best = o->name;
	if (near.best)
		return sl_fail(err, SL_EINVAL, "unknown option %s; did you mean --%s?", given, near.best);
	return sl_fail(err, SL_EINVAL, "unknown option %s", given);
}

/* As take_option(), of "-N4" and "-N 4". */
static int take_letter(const struct sl_option *table, void *values, int argc, char **argv, int *i, struct sl_error *err)
{
	const char *word = argv[*i];
	const struct sl_option *o = find_letter(table, word[1]);

	if (!o || (!sl_option_needs_value(o) && word[2]))
		return refuse_word(table, word, word, strlen(word), err);
	if (!sl_option_needs_value(o))
		return set(o, values, "", err);
	if (word[2])
		return set(o, values, word + 2, err);
	if (*i + 1 >= argc)
		return sl_fail(err, SL_EINVAL, "-%c: %s is missing", o->letter, o->argument);
	return set(o, values, argv[++*i], err);
}

/* Take the option at argv[*i]; *i is left on its last word. */
static int take_option(const struct sl_option *table, void *values, int argc, char **argv, int *i, struct sl_error *err)
{
	const char *word = argv[*i] + 2, *equals = strchr(word, '=');
	size_t length = equals ? (size_t) (equals - word) : strlen(word);
	const struct sl_option *o;

	if (argv[*i][1] != '-')
		return take_letter(table, values, argc, argv, i, err);
	o = find_option(table, word, length);
	if (!o)
		return refuse_word(table, argv[*i], word, length, err);
	if (equals && !sl_option_needs_value(o) && !o->argument)
		return sl_fail(err, SL_EINVAL, "--%s takes no value", o->name);
	if (!equals && !sl_option_needs_value(o))
		return set(o, values, "", err);
	if (equals)
		return set(o, values, equals + 1, err);
	if (*i + 1 >= argc)
		return sl_fail(err, SL_EINVAL, "--%s: %s is missing", o->name, o->argument);
	return set(o, values, argv[++*i], err);
}

int sl_options_parse(const struct sl_option *table, void *values, int argc, char **argv,
		     struct sl_command *cmd, struct sl_error *err)
{
	int n = 0;

	*cmd = (struct sl_command) { 0 };
	for (const struct sl_option *o = table; o && o->name; o++) {
		clear_value(o, values);
		if (o->standard && set(o, values, o->standard, err))
			return -1;
	}
	for (int i = 0; i < argc; i++) {
		char *word = argv[i];

		if (!strcmp(word, "--")) {
			while (++i < argc)
				argv[n++] = argv[i];
			break;
		}
		if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
			cmd->help = true;
			return 0;
		}
		if (word[0] != '-' || !word[1])
			argv[n++] = word;
		else if (take_option(table, values, argc, argv, &i, err))
			return -1;
	}
	cmd->operands = n;
	return 0;
}

/* -- --help ------------------------------------------------------------- */

void sl_option_doc(const struct sl_option *o, char *text, size_t size)
{
	char range[100] = "";

	if (o->type == SL_OPTION_INTEGER || o->type == SL_OPTION_NUMBER)
		say_range(o, range, sizeof(range));
	if (o->standard)
		snprintf(text, size, "%s (%s%sdefault %s)", o->doc, range, *range ? "; " : "", o->standard);
	else if (*range)
		snprintf(text, size, "%s (%s)", o->doc, range);
	else
		snprintf(text, size, "%s", o->doc);
}

/* Print words from column *column* on, wrapped, continued at *indent*. */
static void wrap(const char *text, int column, int indent, FILE *out)
{
	while (*text) {
		int length = (int) strcspn(text, " ");

		if (column > indent && column + 1 + length > HELP_WIDTH) {
			fprintf(out, "\n%*s", indent, "");
			column = indent;
		} else if (column > indent) {
			fputc(' ', out);
			column++;
		}
		fprintf(out, "%.*s", length, text);
		column += length;
		text += length;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

static void help_option(const struct sl_option *o, const char *doc, FILE *out)
{
	char brief[] = { '-', o->letter, ',', ' ', 0 };
	const char *before = !o->argument ? "" : sl_option_needs_value(o) ? "=" : "[=";
	int column = fprintf(out, "  %s--%s%s%s%s", o->letter ? brief : "", o->name, before, o->argument ? o->argument : "",
			     before[0] == '[' ? "]" : "");

	if (column > HELP_COLUMN - 2) {
		fputc('\n', out);
		column = 0;
	}
	fprintf(out, "%*s", HELP_COLUMN - column, "");
	wrap(doc, HELP_COLUMN, HELP_COLUMN, out);
}

void sl_verb_help(const struct sl_verb *verb, FILE *out)
{
	char doc[600];

	fprintf(out, "Usage: schedlua %s%s%s\n", verb->name, *verb->operands ? " " : "", verb->operands);
	fprintf(out, "%s: %s.\n\n", verb->name, verb->summary);
	for (const struct sl_option *o = verb->options; o && o->name; o++) {
		sl_option_doc(o, doc, sizeof(doc));
		help_option(o, doc, out);
	}
	help_option(&(struct sl_option) { .name = "help" }, "print this and exit", out);
	fprintf(out, "\nMore: man schedlua-%s\n", verb->name);
}
