/* SPDX-License-Identifier: MIT */
#include "tool/excerpt.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".lua:"
#define MOST_BYTES (1 << 20)
#define WIDTH 200
#define TAB 4

/* -- where ---------------------------------------------------------------- */

/* The file and line that a message names; returns what follows them, or NULL. */
static const char *find_place(const char *message, char path[PATH_MAX], unsigned long *line)
{
	const char *colon = strstr(message, SUFFIX), *from = message, *p;
	char *end;

	if (!colon)
		return NULL;
	colon += strlen(SUFFIX) - 1;
	*line = strtoul(colon + 1, &end, 10);
	if (end == colon + 1 || *end != ':' || !*line)
		return NULL;
	for (p = message; p + 1 < colon; p++)	/* "the order was not computed: FILE.lua:3: ..." */
		if (p[0] == ':' && p[1] == ' ')
			from = p + 2;
	if (colon - from >= PATH_MAX)
		return NULL;
	memcpy(path, from, (size_t) (colon - from));
	path[colon - from] = 0;
	return end + 1;
}

/* A line of a file, without its end; false where there is none. */
static bool read_line(const char *path, unsigned long number, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
	struct stat st;
	bool found = false;

	if (in && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= MOST_BYTES)
		while (number && fgets(text, (int) size, in)) {
			found = number == 1;
			number -= strchr(text, '\n') || found;
		}
	if (in)
		fclose(in);
	else if (fd >= 0)
		close(fd);
	text[strcspn(text, "\r\n")] = 0;
	return found && text[strspn(text, " \t")];
}

/* -- what ----------------------------------------------------------------- */

static bool is_word(char c)
{
	return isalnum((unsigned char) c) || c == '_';
}

/* Where a name stands in a line, as a word where it is one; its length is not 0. */
static const char *find_name(const char *line, const char *name, size_t length)
{
	for (const char *p = line; (p = memmem(p, strlen(p), name, length)); p++)
		if (!is_word(name[0]) || ((p == line || !is_word(p[-1])) && !is_word(p[length])))
			return p;
	return NULL;
}

/* What is meant: the first name in quotes that stands in the line, else where it begins.  Of
 * a syntax error it is what the parser stood before, "near 'x'". */
static const char *find_meant(const char *line, const char *message, size_t *length)
{
	const char *near = strstr(message, " near '");

	for (const char *open = near ? near : message; (open = strpbrk(open, "'\"")); open++) {
		const char *close = strchr(open + 1, *open), *at;

		if (!close)
			break;
		*length = (size_t) (close - open) - 1;
		at = *length ? find_name(line, open + 1, *length) : NULL;
		if (at)
			return at;
		open = close;
	}
	*length = 1;
	return line + strspn(line, " \t");
}

/* -- print ---------------------------------------------------------------- */

/* Its own escapes go by the stream that lets none through. */
static void colour(FILE *out, const char *escape)
{
	int fd = out == stderr ? STDERR_FILENO : STDOUT_FILENO;
	const char *no = getenv("NO_COLOR");

	if ((no && *no) || !isatty(fd))
		return;
	fflush(out);
	dprintf(fd, "%s", escape);
}

static int width_of(char c, int column)
{
	return c == '\t' ? TAB - column % TAB : (c & 0xc0) != 0x80;
}

void sl_excerpt(const char *message, FILE *out)
{
	char path[PATH_MAX], line[WIDTH + 1];
	const char *rest, *meant;
	unsigned long number;
	int column = 0, at = 0;
	size_t length;

	rest = find_place(message, path, &number);
	if (!rest || !read_line(path, number, line, sizeof(line)))
		return;
	meant = find_meant(line, rest, &length);
	fprintf(out, "%5lu | ", number);
	for (const char *c = line; *c; c++) {
		int width = width_of(*c, column);

		if (c == meant)
			at = column;
		if (*c == '\t')
			fprintf(out, "%*s", width, "");
		else
			fputc(*c, out);
		column += width;
	}
	fprintf(out, "\n%5s | %*s", "", at, "");
	colour(out, "\033[1;31m");
	for (size_t i = 0; i < length; i++)
		if (width_of(meant[i], 0))
			fputc('^', out);
	colour(out, "\033[0m");
	fputc('\n', out);
	fflush(out);
}
