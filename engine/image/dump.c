/* SPDX-License-Identifier: MIT */
/*
 * image/dump.c - an image as JSON, for people.
 *
 * The other direction is image/json.c.  What is left out there has the column's
 * default; one row of a table that is not nested takes one line.
 */
#include "image/image.h"

#include <stdlib.h>
#include <string.h>

#include "image/json_out.h"
#include "image/nodelist.h"

struct dump {
	const struct sl_image *image;
	const struct sl_schema *schema;
	const unsigned char *view;
	const struct sl_extra *extra;
	uint32_t extras;
	struct sl_json *json;
	struct sl_error *err;
};

static const void *column_values(const struct dump *d, int t, uint32_t c)
{
	const struct sl_table *table = &d->schema->table[t];
	const void *values;

	memcpy(&values, d->view + table->view_offset + table->column[c].view_offset, sizeof(values));
	return values;
}

static uint32_t table_rows(const struct dump *d, int t)
{
	uint32_t rows;

	memcpy(&rows, d->view + d->schema->table[t].view_offset, sizeof(rows));
	return rows;
}

static bool is_default(const struct dump *d, int t, uint32_t c, uint32_t row)
{
	const struct sl_column *col = &d->schema->table[t].column[c];
	const void *v = column_values(d, t, c);

	switch (col->type) {
	case SL_TYPE_u32:
		return ((const uint32_t *) v)[row] == (uint32_t) col->missing;
	case SL_TYPE_i64:
		return ((const int64_t *) v)[row] == col->missing;
	case SL_TYPE_f64:
		return ((const double *) v)[row] == (double) col->missing;
	case SL_TYPE_str:
		return !*sl_image_str(d->image, ((const uint32_t *) v)[row]);
	case SL_TYPE_ref:
		return ((const uint32_t *) v)[row] == SL_NONE;
	case SL_TYPE_range:
		return ((const struct sl_range *) v)[row].count == 0;
	}
	return false;
}

static void dump_number(struct dump *d, int t, uint32_t c, uint32_t value)
{
	const struct sl_words *words = sl_schema_words(d->schema, t, c);
	const char *word;

	if (!words) {
		sl_json_int(d->json, value);
	} else if (!words->flags) {
		word = sl_words_find(words, value);
		sl_json_str(d->json, word ? word : "");
	} else {
		sl_json_begin_array(d->json);
		for (uint32_t i = 0; i < words->count; i++)
			if (value & words->word[i].value)
				sl_json_str(d->json, words->word[i].word);
		sl_json_end_array(d->json);
	}
}

/* The name of a row of another table: its key, or its number where it has none. */
static void dump_ref(struct dump *d, int t, uint32_t row)
{
	const struct sl_table *table = &d->schema->table[t];
	const uint32_t *key;

	if (row == SL_NONE) {
		sl_json_null(d->json);
		return;
	}
	if (table->key < 0) {
		sl_json_int(d->json, row);
		return;
	}
	key = column_values(d, t, table->key);
	if (table->column[table->key].type == SL_TYPE_str)
		sl_json_str(d->json, sl_image_str(d->image, key[row]));
	else
		sl_json_int(d->json, key[row]);
}

/* Rows of (first, last) as one list of names. */
static int dump_nodelist(struct dump *d, int t, struct sl_range range)
{
	const struct sl_table *table = &d->schema->table[t];
	const uint32_t *first = column_values(d, t, 0), *last = column_values(d, t, 1), *key;
	int target = table->column[0].target;
	const char **name;
	char *list;
	uint64_t n = 0, at = 0;

	for (uint32_t r = range.first; r < range.first + range.count; r++)
		if (first[r] <= last[r] && last[r] != SL_NONE)
			n += (uint64_t) last[r] - first[r] + 1;
	if (n > SL_IMAGE_MAX_ROWS)
		return sl_fail(d->err, SL_ELIMIT, "%s: a node list of %llu names", d->schema->name,
			       (unsigned long long) n);
	name = malloc((n ? n : 1) * sizeof(*name));
	if (!name)
		return sl_fail(d->err, SL_ENOMEM, "%s: no memory for a node list", d->schema->name);
	key = column_values(d, target, d->schema->table[target].key);
	for (uint32_t r = range.first; r < range.first + range.count; r++)
		for (uint64_t i = first[r]; i <= last[r] && last[r] != SL_NONE; i++)
			name[at++] = sl_image_str(d->image, key[i]);
	list = sl_nodelist_join(name, at, d->err);
	free(name);
	if (!list)
		return -1;
	sl_json_str(d->json, list);
	free(list);
	return 0;
}

static int dump_value(struct dump *d, int t, uint32_t c, uint32_t row);

static int dump_row(struct dump *d, int t, uint32_t row)
{
	const struct sl_table *table = &d->schema->table[t];

	sl_json_begin_object(d->json);
	for (uint32_t c = 0; c < table->columns; c++) {
		if (is_default(d, t, c, row) && table->key != (int) c)
			continue;
		sl_json_key(d->json, table->column[c].name);
		if (dump_value(d, t, c, row) < 0)
			return -1;
	}
	for (uint32_t i = 0; i < d->extras; i++) {
		if (d->extra[i].table != t || !d->extra[i].value[row])
			continue;
		sl_json_put_int(d->json, d->extra[i].name, d->extra[i].value[row]);
	}
	sl_json_end_object(d->json);
	return 0;
}

static int dump_range(struct dump *d, int t, struct sl_range range)
{
	const struct sl_table *table = &d->schema->table[t];

	if (table->nodelist)
		return dump_nodelist(d, t, range);
	sl_json_begin_array(d->json);
	for (uint32_t r = range.first; r < range.first + range.count; r++)
		if ((table->columns == 1 ? dump_value(d, t, 0, r) : dump_row(d, t, r)) < 0)
			return -1;
	sl_json_end_array(d->json);
	return 0;
}

static int dump_value(struct dump *d, int t, uint32_t c, uint32_t row)
{
	const struct sl_column *col = &d->schema->table[t].column[c];
	const void *v = column_values(d, t, c);
	int64_t i64;

	switch (col->type) {
	case SL_TYPE_u32:
		dump_number(d, t, c, ((const uint32_t *) v)[row]);
		break;
	case SL_TYPE_i64:
		i64 = ((const int64_t *) v)[row];
		if (i64 == SL_UNLIMITED)
			sl_json_str(d->json, "unlimited");
		else
			sl_json_int(d->json, i64);
		break;
	case SL_TYPE_f64:
		sl_json_real(d->json, ((const double *) v)[row]);
		break;
	case SL_TYPE_str:
		sl_json_str(d->json, sl_image_str(d->image, ((const uint32_t *) v)[row]));
		break;
	case SL_TYPE_ref:
		dump_ref(d, col->target, ((const uint32_t *) v)[row]);
		break;
	case SL_TYPE_range:
		return dump_range(d, col->target, ((const struct sl_range *) v)[row]);
	}
	return 0;
}

static int dump_table(struct dump *d, int t)
{
	const struct sl_table *table = &d->schema->table[t];
	uint32_t rows = table_rows(d, t);

	if (table->nested || !rows)
		return 0;
	sl_json_break(d->json);
	sl_json_key(d->json, table->plural);
	if (table->single)
		return dump_row(d, t, 0);
	sl_json_begin_array(d->json);
	for (uint32_t r = 0; r < rows; r++) {
		sl_json_break(d->json);
		if (dump_row(d, t, r) < 0)
			return -1;
	}
	sl_json_break(d->json);
	sl_json_end_array(d->json);
	return 0;
}

int sl_image_to_json(const struct sl_image *image, const void *view, FILE *out, struct sl_error *err)
{
	return sl_image_to_json_with(image, view, NULL, 0, out, err);
}

int sl_image_to_json_with(const struct sl_image *image, const void *view, const struct sl_extra *extra,
			  uint32_t extras, FILE *out, struct sl_error *err)
{
	struct dump d = { .image = image, .schema = image->schema, .view = view, .extra = extra, .extras = extras,
			  .err = err };
	int rc = -1;

	d.json = sl_json_create(out, err);
	if (!d.json)
		return -1;
	sl_json_begin_object(d.json);
	sl_json_break(d.json);
	sl_json_put_str(d.json, "format", d.schema->name);
	sl_json_break(d.json);
	sl_json_put_int(d.json, "version", d.schema->version);
	for (int t = 0; t < d.schema->tables; t++)
		if (dump_table(&d, t) < 0)
			goto error;
	sl_json_break(d.json);
	sl_json_end_object(d.json);
	sl_json_end_line(d.json);
	rc = sl_json_finish(d.json, NULL, NULL, err);
error:
	sl_json_destroy(d.json);
	return rc;
}
