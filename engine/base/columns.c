/* SPDX-License-Identifier: MIT */
#include "base/columns.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

bool sl_columns_separator(const char *header, char separator[SL_COLUMNS_SEPARATOR])
{
	size_t n = 0;

	strcpy(separator, "|");
	if (strchr(header, '|'))
		return true;
	while (isalnum((unsigned char) *header) || *header == '_')
		header++;
	while (header[n] && !isalnum((unsigned char) header[n]) && header[n] != '_' && n < SL_COLUMNS_SEPARATOR - 1)
		n++;
	memcpy(separator, header, n);
	separator[n] = 0;
	return separator[strspn(separator, " \r\n")];
}

/* Cut a line in place at its separators.  Too many fields are one more than there is room for. */
static void cut_line(struct sl_columns *c, char *line)
{
	size_t n = strlen(c->separator);

	for (c->fields = 0; line; c->fields++) {
		char *end = c->fields < SL_COLUMNS_FIELDS ? strstr(line, c->separator) : NULL;

		if (c->fields < SL_COLUMNS_FIELDS)
			c->field[c->fields] = line;
		if (end)
			*end = 0;
		line = end ? end + n : NULL;
	}
}

int sl_columns_next(struct sl_columns *c, struct sl_error *err)
{
	char *line;
	int64_t n;

	while ((n = sl_lines_next(c->lines, &line, err)) > 0)
		if (*line) {
			cut_line(c, line);
			return 1;
		}
	return (int) n;
}

int sl_columns_begin(struct sl_columns *c, struct sl_lines *lines, const char *const *names, int count,
		     struct sl_error *err)
{
	int64_t rc;
	char *line;

	c->lines = lines;
	do
		rc = sl_lines_next(lines, &line, err);
	while (rc > 0 && !*line);
	if (rc <= 0)
		return (int) rc;
	if (!sl_columns_separator(line, c->separator) && strchr(line, ' '))
		return sl_fail(err, SL_EFORMAT, "%s:1: a table for people, whose columns are cut off: expected separators, as sacct -P "
			       "prints them", sl_lines_path(lines));
	if (!c->separator[0])
		strcpy(c->separator, "|");
	cut_line(c, line);
	if (c->fields > SL_COLUMNS_FIELDS)
		return sl_fail(err, SL_EFORMAT, "%s:1: more than %d columns", sl_lines_path(lines), SL_COLUMNS_FIELDS);
	c->columns = c->fields;
	for (int n = 0; n < count; n++) {
		c->column[n] = -1;
		for (int i = 0; i < c->fields; i++)
			if (!strcasecmp(c->field[i], names[n]))
				c->column[n] = i;
	}
	return 1;
}

const char *sl_tres_find(const char *list, const char *name, int *length)
{
	size_t n = strlen(name);

	for (; *list; list += strcspn(list, ","), list += *list == ',')
		if (!strncmp(list, name, n) && list[n] == '=') {
			*length = (int) strcspn(list + n + 1, ",");
			return list + n + 1;
		}
	return NULL;
}
