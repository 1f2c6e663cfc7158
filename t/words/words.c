/* SPDX-License-Identifier: MIT */
/*
 * words.c - the list of words (image/words.h) for those who do not read C.
 *
 *	words requests|parity		a table of Markdown: what is left to select beside what; and why
 *	words list			a line each: id, ids beside which it is left to select ("*": always), first and last
 *					release, as users write it, options of schedlua willrun that may say it; with tabs in
 *					between
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "image/words.h"

#define MOST 180	/* characters in a cell */

/* Options stand between backticks, and a bar would end the cell. */
static void put_cell(const char *text)
{
	bool option = false;

	for (char last = ' '; *text; last = *text++) {
		if (last == ' ' && !strncmp(text, "--", 2))
			putchar('`'), option = true;
		else if (option && (strchr(" ;", *text) || !strncmp(text, ", ", 2)))
			putchar('`'), option = false;
		if (*text == '|')
			putchar('\\');
		putchar(*text);
	}
	if (option)
		putchar('`');
}

static void put_releases(const struct sl_word_line *line)
{
	if (*line->until)
		printf("%sto %s", line->since, line->until);
	else if (*line->since)
		printf("from %s on", line->since);
}

static void put_row(const struct sl_word_line *line, const char *beside)
{
	printf("| ");
	put_cell(line->text);
	printf(" | ");
	put_cell(beside);
	printf(" | ");
	put_releases(line);
	printf(" |\n");
}

/* What stands beside it, in as many rows as it takes. */
static void put_rows(const struct sl_word_line *line)
{
	char cell[MOST + 1] = "";
	size_t at = 0;

	if (line->beside == SL_ALONE) {
		put_row(line, "always");
		return;
	}
	for (int w = 0; w < SL_WORD_IDS; w++) {
		const char *text = sl_word_line[w].text;

		if (!(line->beside >> w & 1))
			continue;
		if (at && at + strlen(text) > MOST - 2) {
			put_row(line, cell);
			at = 0;
		}
		at += (size_t) snprintf(cell + at, sizeof(cell) - at, "%s%s", at ? "; " : "", text);
	}
	put_row(line, cell);
}

static void print_requests(void)
{
	printf("| asked for | left to select beside | in Slurm |\n|---|---|---|\n");
	for (int w = 0; w < SL_WORD_IDS; w++)
		if (sl_word_line[w].beside)
			put_rows(&sl_word_line[w]);
}

static void print_parity(void)
{
	printf("| | why select places it |\n|---|---|\n");
	for (int w = 0; w < SL_WORD_IDS; w++) {
		const struct sl_word_line *line = &sl_word_line[w];

		if (!line->beside)
			continue;
		printf("| ");
		put_cell(line->text);
		printf(line->beside == SL_ALONE ? " | " : ", beside others | ");
		put_cell(line->why);
		printf(" |\n");
	}
}

static void put_options(int word)
{
	static const struct { const char *name; sl_word_set words; } options[] = {
#define OPTION(id, name, kind, what, brief, words, text) { name, words },
		SL_SIZE_OPTIONS(OPTION) SL_VALUE_OPTIONS(OPTION) SL_WISH_OPTIONS(OPTION)
#undef OPTION
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (options[i].words >> word & 1)
			printf("--%s ", options[i].name);
}

static void print_list(void)
{
	for (int w = 0; w < SL_WORD_IDS; w++) {
		const struct sl_word_line *line = &sl_word_line[w];

		printf("%s\t%s", line->name, line->beside == SL_ALONE ? "*" : "");
		for (int o = 0; o < SL_WORD_IDS && line->beside != SL_ALONE; o++)
			if (line->beside >> o & 1)
				printf("%s ", sl_word_line[o].name);
		printf("\t%s\t%s\t%s\t", line->since, line->until, line->text);
		put_options(w);
		printf("\n");
	}
}

int main(int argc, char **argv)
{
	static const struct { const char *name; void (*print)(void); } prints[] = {
		{ "requests", print_requests }, { "parity", print_parity }, { "list", print_list },
	};

	for (size_t i = 0; argc == 2 && i < sizeof(prints) / sizeof(prints[0]); i++)
		if (!strcmp(argv[1], prints[i].name)) {
			prints[i].print();
			return 0;
		}
	fprintf(stderr, "usage: words requests|parity|list\n");
	return 2;
}
