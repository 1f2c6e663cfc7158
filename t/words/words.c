/* SPDX-License-Identifier: MIT */
/*
 * words.c - the list of words (image/words.h) for those who do not read C.
 *
 *	words requests|parity		a table of Markdown: what is left to select beside what; and why
 *	words claims FILE		a table of Markdown: which pairs that are not left to select a live test has seen accepted,
 *					by FILE (t/live/accepted.t writes it); fails if the list leaves one of them to select
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

/* -- claims ---------------------------------------------------------------- */

#define MOST_CLAIMS 4096
#define SERIES_LENGTH 96

struct claim {
	int word, other;
	char series[SERIES_LENGTH];	/* "22.05, 24.11" */
};

static int word_of(const char *name)
{
	int w = 0;

	while (w < SL_WORD_IDS && strcmp(sl_word_line[w].name, name))
		w++;
	return w;
}

static bool is_left(int word, int other, const char *series)
{
	const struct sl_word_line *line = &sl_word_line[word];

	return line->beside >> other & 1 && strcmp(series, line->since) >= 0 && (!*line->until || strcmp(series, line->until) < 0);
}

/* "A B 22.05=12 24.11=3"; false, and says why, if that is no claim of the list. */
static bool read_claim(char *line, struct claim *c)
{
	const char *name = strtok(line, " \n"), *other = strtok(NULL, " \n"), *series;
	size_t at = 0;

	*c = (struct claim) { .word = word_of(name ? name : ""), .other = word_of(other ? other : "") };
	if (c->word == SL_WORD_IDS || c->other == SL_WORD_IDS) {
		fprintf(stderr, "words: %s %s: the list has no such words\n", name ? name : "", other ? other : "");
		return false;
	}
	while ((series = strtok(NULL, "=\n")) && at < SERIES_LENGTH - 8) {
		series += strspn(series, " ");
		if (is_left(c->word, c->other, series) || is_left(c->other, c->word, series)) {
			fprintf(stderr, "words: %s %s: left to select in %s, and nothing to claim\n", name, other, series);
			return false;
		}
		at += (size_t) snprintf(c->series + at, SERIES_LENGTH - at, "%s%.5s", at ? ", " : "", series);
		strtok(NULL, " \n");
	}
	return true;
}

static void put_claim(int word, const char *beside, const char *series)
{
	printf("| ");
	put_cell(sl_word_line[word].text);
	printf(" | ");
	put_cell(beside);
	printf(" | %s |\n", series);
}

/* Of a word all others that were tried beside it on the same releases, in as many rows as it takes. */
static void put_claims(struct claim *claim, int n, int first)
{
	char cell[MOST + 1] = "";
	size_t at = 0;

	for (int i = first; i < n; i++) {
		struct claim *c = &claim[i];
		const char *text;

		if (c->word != claim[first].word || strcmp(c->series, claim[first].series))
			continue;
		text = sl_word_line[c->other].text;
		if (at && at + strlen(text) > MOST - 2) {
			put_claim(claim[first].word, cell, claim[first].series);
			at = 0;
		}
		at += (size_t) snprintf(cell + at, sizeof(cell) - at, "%s%s", at ? "; " : "", text);
		if (i > first)
			c->word = SL_WORD_IDS;	/* it is printed */
	}
	put_claim(claim[first].word, cell, claim[first].series);
}

static int print_claims(const char *path)
{
	static struct claim claim[MOST_CLAIMS];
	char line[512];
	int n = 0;
	bool good = true;
	FILE *file = fopen(path, "r");

	if (!file) {
		perror(path);
		return 1;
	}
	while (fgets(line, sizeof(line), file) && n < MOST_CLAIMS)
		if (read_claim(line, &claim[n]))
			n++;
		else
			good = false;
	fclose(file);
	printf("| asked for | placed as planned beside | tried on |\n|---|---|---|\n");
	for (int w = 0; w < SL_WORD_IDS; w++)
		for (int i = 0; i < n; i++)
			if (claim[i].word == w)
				put_claims(claim, n, i);
	return !good;
}

int main(int argc, char **argv)
{
	static const struct { const char *name; void (*print)(void); } prints[] = {
		{ "requests", print_requests }, { "parity", print_parity }, { "list", print_list },
	};

	if (argc == 3 && !strcmp(argv[1], "claims"))
		return print_claims(argv[2]);
	for (size_t i = 0; argc >= 2 && i < sizeof(prints) / sizeof(prints[0]); i++)
		if (!strcmp(argv[1], prints[i].name)) {
			prints[i].print();
			return 0;
		}
	fprintf(stderr, "usage: words requests|parity|list|claims FILE\n");
	return 2;
}
