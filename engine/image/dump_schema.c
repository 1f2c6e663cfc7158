/* SPDX-License-Identifier: MIT */
/*
 * image/dump_schema.c - the JSON Schema of what image/dump.c writes and image/json.c reads, from the lists of
 * columns from which both work.
 */
#include "image/image.h"

#include <string.h>

#include "image/json_out.h"

static void put_type(struct sl_json *j, const char *type, const char *other)
{
	sl_json_key(j, "type");
	if (!other) {
		sl_json_str(j, type);
		return;
	}
	sl_json_begin_array(j);
	sl_json_str(j, type);
	sl_json_str(j, other);
	sl_json_end_array(j);
}

/* The words of a column: one of them, or with flags a list. */
static void put_words(struct sl_json *j, const struct sl_words *words)
{
	if (words->flags) {
		put_type(j, "array", NULL);
		sl_json_open_object(j, "items");
	}
	sl_json_open_array(j, "enum");
	for (uint32_t i = 0; i < words->count; i++)
		sl_json_str(j, words->word[i].word);
	sl_json_end_array(j);
	if (words->flags)
		sl_json_end_object(j);
}

static void put_value(struct sl_json *j, const struct sl_schema *s, int t, uint32_t c);

static void put_ref(struct sl_json *j, const struct sl_table *to)
{
	char ref[80];

	snprintf(ref, sizeof(ref), "#/$defs/%s", to->name);
	sl_json_put_str(j, "$ref", ref);
}

/* Rows of another table. */
static void put_range(struct sl_json *j, const struct sl_schema *s, int target)
{
	const struct sl_table *to = &s->table[target];

	if (to->nodelist) {
		put_type(j, "string", NULL);
		return;
	}
	put_type(j, "array", NULL);
	sl_json_open_object(j, "items");
	if (to->columns == 1)
		put_value(j, s, target, 0);
	else
		put_ref(j, to);
	sl_json_end_object(j);
}

static void put_i64(struct sl_json *j)
{
	sl_json_open_array(j, "anyOf");
	sl_json_begin_object(j);
	put_type(j, "integer", NULL);
	sl_json_end_object(j);
	sl_json_begin_object(j);
	sl_json_put_str(j, "const", "unlimited");
	sl_json_end_object(j);
	sl_json_end_array(j);
}

/* What a value of the column looks like: members of an object that is open. */
static void put_value(struct sl_json *j, const struct sl_schema *s, int t, uint32_t c)
{
	const struct sl_column *col = &s->table[t].column[c];
	const struct sl_words *words = sl_schema_words(s, t, c);
	const struct sl_table *to = col->target >= 0 ? &s->table[col->target] : NULL;

	switch (col->type) {
	case SL_TYPE_u32:
		if (words) {
			put_words(j, words);
			break;
		}
		put_type(j, "integer", NULL);
		sl_json_put_int(j, "minimum", 0);
		sl_json_put_int(j, "maximum", UINT32_MAX);
		break;
	case SL_TYPE_i64:
		put_i64(j);
		break;
	case SL_TYPE_f64:
		put_type(j, "number", NULL);
		break;
	case SL_TYPE_str:
		put_type(j, "string", NULL);
		break;
	case SL_TYPE_ref:
		put_type(j, to->key >= 0 && to->column[to->key].type == SL_TYPE_str ? "string" : "integer", "null");
		break;
	case SL_TYPE_range:
		put_range(j, s, col->target);
		break;
	}
}

static void put_row(struct sl_json *j, const struct sl_schema *s, int t)
{
	const struct sl_table *table = &s->table[t];

	sl_json_break(j);
	sl_json_open_object(j, table->name);
	put_type(j, "object", NULL);
	sl_json_open_object(j, "properties");
	for (uint32_t c = 0; c < table->columns; c++) {
		sl_json_break(j);
		sl_json_open_object(j, table->column[c].name);
		put_value(j, s, t, c);
		sl_json_put_str(j, "description", table->column[c].doc);
		sl_json_end_object(j);
	}
	sl_json_end_object(j);
	if (table->key >= 0) {
		sl_json_open_array(j, "required");
		sl_json_str(j, table->column[table->key].name);
		sl_json_end_array(j);
	}
	sl_json_put_bool(j, "additionalProperties", false);
	sl_json_end_object(j);
}

static void put_top(struct sl_json *j, const struct sl_schema *s)
{
	sl_json_open_object(j, "format");
	sl_json_put_str(j, "const", s->name);
	sl_json_end_object(j);
	sl_json_open_object(j, "version");
	sl_json_put_int(j, "const", s->version);
	sl_json_end_object(j);
	for (int t = 0; t < s->tables; t++) {
		const struct sl_table *table = &s->table[t];

		if (table->nested)
			continue;
		sl_json_open_object(j, table->plural);
		if (!table->single) {
			put_type(j, "array", NULL);
			sl_json_open_object(j, "items");
		}
		put_ref(j, table);
		if (!table->single)
			sl_json_end_object(j);
		sl_json_end_object(j);
	}
}

int sl_image_schema_to_json(const struct sl_schema *s, FILE *out, struct sl_error *err)
{
	struct sl_json *j = sl_json_create(out, err);
	char title[80];

	if (!j)
		return -1;
	snprintf(title, sizeof(title), "A %s of sched/lua as JSON", s->name);
	sl_json_begin_object(j);
	sl_json_put_str(j, "$schema", "https://json-schema.org/draft/2020-12/schema");
	sl_json_put_str(j, "title", title);
	put_type(j, "object", NULL);
	sl_json_open_object(j, "properties");
	put_top(j, s);
	sl_json_end_object(j);
	sl_json_put_bool(j, "additionalProperties", false);
	sl_json_open_object(j, "$defs");
	for (int t = 0; t < s->tables; t++)
		if (!s->table[t].nodelist)
			put_row(j, s, t);
	sl_json_end_object(j);
	sl_json_end_object(j);
	return sl_json_end(j, err);
}
