/* SPDX-License-Identifier: MIT */
/*
 * man_schema.h - the man page of a format, from the schema that reads and
 * writes it.  Threads: none.
 */
#ifndef SL_MAN_SCHEMA_H
#define SL_MAN_SCHEMA_H

#include <stdio.h>

#include "image/image.h"

/*
 * Print schedlua-NAME(5) as roff: what the text (sl_man_text()) says, then for each
 * table its columns with their JSON types, defaults, words and meanings.
 */
void sl_schema_man(const struct sl_schema *schema, const char *summary, const char *text, FILE *out);

/* The text of schedlua-snapshot(5). */
extern const char sl_snapshot_man_summary[], sl_snapshot_man_text[];

#endif
