/* SPDX-License-Identifier: MIT */
#include "base/columns.h"

#include <string.h>
#include <strings.h>

/* Cut a line in place at its bars.  Too many fields are one more than there is room for. */
static void cut_line(struct sl_columns *c, char *line)
{
	for (c->fields = 0; line; c->fields++) {
		if (c->fields < SL_COLUMNS_FIELDS)
			c->field[c->fields] = strsep(&line, "|");
		else
			line = NULL;
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
	int rc;

	c->lines = lines;
	if ((rc = sl_columns_next(c, err)) <= 0)
		return rc;
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
