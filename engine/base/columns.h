/* SPDX-License-Identifier: MIT */
/*
 * columns.h - tables as sacct -P prints them: fields between bars, or whatever stands between the names of the first
 * line (sacct --delimiter), which tells the columns.
 *
 * Ownership: fields are those of the line at hand (lines.h), good until the next one.  Threads: none.
 */
#ifndef SL_COLUMNS_H
#define SL_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/lines.h"

#define SL_COLUMNS_NAMED 64	/* that somebody asks for */
#define SL_COLUMNS_SEPARATOR 8	/* bytes of a separator, with its end */
#define SL_COLUMNS_FIELDS 256	/* of a line */

struct sl_columns {
	struct sl_lines *lines;
	char separator[SL_COLUMNS_SEPARATOR];
	int column[SL_COLUMNS_NAMED];	/* number of the field, -1: not there */
	int columns;
	int fields;			/* of the line at hand; a bad row has another number than *columns* */
	char *field[SL_COLUMNS_FIELDS];
};

/*
 * Read the first line that is not empty; *names* (in either case) are what is looked for.  1;
 * 0: there is no line; -1 with *err, also for more than SL_COLUMNS_FIELDS of them, and for a table whose columns are
 * filled up with blanks.  Until the next line *field* has the names of all columns.
 */
int sl_columns_begin(struct sl_columns *c, struct sl_lines *lines, const char *const *names, int count,
		     struct sl_error *err);

/*
 * What stands between the names of a header: "|" where there is one, else what follows the first name.  False for
 * blanks, or nothing.
 */
bool sl_columns_separator(const char *header, char separator[SL_COLUMNS_SEPARATOR]);

/* The next line that is not empty: 1; 0 at the end; -1 with *err. */
int sl_columns_next(struct sl_columns *c, struct sl_error *err);

/* Was the column of names[n] there, and its text in the row at hand, "" where it was not. */
static inline bool sl_columns_has(const struct sl_columns *c, int n)
{
	return c->column[n] >= 0;
}

static inline const char *sl_columns_text(const struct sl_columns *c, int n)
{
	return c->column[n] < 0 ? "" : c->field[c->column[n]];
}

/* The text of the first of two that has one. */
static inline const char *sl_columns_either(const struct sl_columns *c, int a, int b)
{
	return *sl_columns_text(c, a) ? sl_columns_text(c, a) : sl_columns_text(c, b);
}

/* The value of "gres/gpu" in "billing=8,cpu=8,gres/gpu=4,mem=16G" and, in *length, how long it
 * is; NULL where there is none. */
const char *sl_tres_find(const char *list, const char *name, int *length);

#endif
