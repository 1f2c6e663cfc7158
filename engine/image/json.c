/* SPDX-License-Identifier: MIT */
/*
 * image/json.c - an image from JSON, and image files of either form.
 *
 * References are keys there, and may point forward (a job names a partition that
 * comes later in the file), so the keys of all tables are indexed first: rows of a
 * table that is not nested are numbered as they stand in their array.  Then the
 * tables are read in the schema's order and their columns in the column's order,
 * so that the order of keys in the file makes no difference.
 */
#include "image/image.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/grow.h"
#include "base/lines.h"
#include "base/order.h"
#include "image/json_tree.h"
#include "image/nodelist.h"

#define ROW_MAX 1024		/* bytes of the largest row struct */

/* Where in the file we are: jobs[3].alloc[0].node */
struct place {
	const struct place *in;
	const char *key;	/* or NULL: */
	size_t index;
};

struct reader {
	struct sl_builder *b;
	const struct sl_schema *schema;
	const char *name;
	json_t **index;		/* per table: key -> row number */
	struct sl_error *err;
};

static void put_place(const struct place *p, char *text, size_t size)
{
	size_t n;

	if (!p)
		return;
	put_place(p->in, text, size);
	n = strlen(text);
	if (p->key)
		snprintf(text + n, size - n, "%s%s", n ? "." : "", p->key);
	else
		snprintf(text + n, size - n, "[%zu]", p->index);
}

__attribute__((format(printf, 3, 4)))
static int fail_at(struct reader *r, const struct place *p, const char *fmt, ...)
{
	char where[256] = "", what[200];
	va_list ap;

	put_place(p, where, sizeof(where));
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return sl_fail(r->err, SL_EINVAL, "%s: %s%s%s", r->name, where, *where ? ": " : "", what);
}

/* What a value is, in messages. */
static const char *type_name(const json_t *v)
{
	static const char *const word[] = {
		[JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array", [JSON_STRING] = "a string",
		[JSON_INTEGER] = "an integer", [JSON_REAL] = "a real number", [JSON_TRUE] = "true",
		[JSON_FALSE] = "false", [JSON_NULL] = "null",
	};

	return word[json_typeof(v)];
}

/* -- keys ---------------------------------------------------------------- */

/* A key as the text that indexes use: strings are themselves, numbers decimal. */
static const char *key_text(const json_t *v, char *digits, size_t size)
{
	if (json_is_string(v))
		return json_string_value(v);
	snprintf(digits, size, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
	return digits;
}

static bool key_fits(const struct sl_column *col, const json_t *v)
{
	return col->type == SL_TYPE_str ? json_is_string(v) && *json_string_value(v) : json_is_integer(v);
}

static int index_table(struct reader *r, int t, json_t *rows)
{
	const struct sl_table *table = &r->schema->table[t];
	const struct sl_column *col = &table->column[table->key];
	struct place at = { NULL, table->plural, 0 }, item = { &at, NULL, 0 }, field = { &item, col->name, 0 };
	const char *text;
	char digits[24];
	size_t i;
	json_t *row;

	if (json_array_size(rows) > SL_IMAGE_MAX_ROWS)
		return fail_at(r, &at, "%zu rows, the most is %" PRIu32, json_array_size(rows), SL_IMAGE_MAX_ROWS);
	json_array_foreach(rows, i, row) {
		json_t *v = json_object_get(row, col->name);

		item.index = i;
		if (!json_is_object(row))
			return fail_at(r, &item, "%s, expected an object", type_name(row));
		if (!v)
			return fail_at(r, &item, "has no \"%s\"", col->name);
		if (!key_fits(col, v))
			return fail_at(r, &field, "%s, expected %s", type_name(v),
				       col->type == SL_TYPE_str ? "a string that is not empty" : "an integer");
		text = key_text(v, digits, sizeof(digits));
		if (json_object_get(r->index[t], text))
			return fail_at(r, &field, "a second \"%s\"", text);
		if (json_object_set_new(r->index[t], text, json_integer(i)) < 0)
			return sl_fail(r->err, SL_ENOMEM, "%s: no memory", r->name);
	}
	return 0;
}

static int find_ref(struct reader *r, const struct place *p, int t, const json_t *v, uint32_t *row)
{
	const struct sl_table *table = &r->schema->table[t];
	const char *text;
	char digits[24];
	json_t *found;

	*row = SL_NONE;
	if (json_is_null(v))
		return 0;
	if (table->key < 0) {
		if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) >= SL_IMAGE_MAX_ROWS)
			return fail_at(r, p, "%s, expected the number of a row", type_name(v));
		*row = json_integer_value(v);
		return 0;
	}
	if (!key_fits(&table->column[table->key], v))
		return fail_at(r, p, "%s, expected the %s of a %s", type_name(v), table->column[table->key].name,
			       table->name);
	text = key_text(v, digits, sizeof(digits));
	found = json_object_get(r->index[t], text);
	if (!found)
		return fail_at(r, p, "no %s \"%s\"", table->name, text);
	*row = json_integer_value(found);
	return 0;
}

/* -- values -------------------------------------------------------------- */

static const struct sl_word *find_word(const struct sl_words *words, const json_t *v)
{
	for (uint32_t i = 0; json_is_string(v) && i < words->count; i++)
		if (!strcmp(words->word[i].word, json_string_value(v)))
			return &words->word[i];
	return NULL;
}

static int read_words(struct reader *r, const struct place *p, const struct sl_words *words, const json_t *v,
		      uint32_t *value)
{
	const struct sl_word *word;
	struct place item = { p, NULL, 0 };
	json_t *member;

	if (!words->flags) {
		word = find_word(words, v);
		if (!word)
			return fail_at(r, p, "%s, expected a word such as \"%s\"",
				       json_is_string(v) ? json_string_value(v) : type_name(v), words->word[0].word);
		*value = word->value;
		return 0;
	}
	if (!json_is_array(v))
		return fail_at(r, p, "%s, expected an array of words such as \"%s\"", type_name(v), words->word[0].word);
	*value = 0;
	json_array_foreach(v, item.index, member) {
		word = find_word(words, member);
		if (!word)
			return fail_at(r, &item, "%s, expected a word such as \"%s\"",
				       json_is_string(member) ? json_string_value(member) : type_name(member),
				       words->word[0].word);
		*value |= word->value;
	}
	return 0;
}

static int read_u32(struct reader *r, const struct place *p, const struct sl_words *words, const json_t *v,
		    uint32_t *value)
{
	if (words)
		return read_words(r, p, words, v, value);
	if (!json_is_integer(v))
		return fail_at(r, p, "%s, expected an integer", type_name(v));
	if (json_integer_value(v) < 0 || json_integer_value(v) > UINT32_MAX)
		return fail_at(r, p, "%" JSON_INTEGER_FORMAT ", expected 0 to %" PRIu32, json_integer_value(v),
			       UINT32_MAX);
	*value = json_integer_value(v);
	return 0;
}

static int read_i64(struct reader *r, const struct place *p, const json_t *v, int64_t *value)
{
	if (json_is_string(v) && !strcmp(json_string_value(v), "unlimited"))
		*value = SL_UNLIMITED;
	else if (json_is_integer(v))
		*value = json_integer_value(v);
	else
		return fail_at(r, p, "%s, expected an integer or \"unlimited\"", type_name(v));
	return 0;
}

/* -- node lists ---------------------------------------------------------- */

struct nodes {			/* rows of a list, as they are found */
	struct reader *r;
	const struct place *place;
	int target;
	uint32_t *row;
	uint32_t rows, room;
};

static int add_node(const char *name, void *arg)
{
	struct nodes *n = arg;
	json_t *found = json_object_get(n->r->index[n->target], name);

	if (!found)
		return fail_at(n->r, n->place, "no %s \"%s\"", n->r->schema->table[n->target].name, name);
	if (n->rows == SL_IMAGE_MAX_ROWS)
		return sl_fail(n->r->err, SL_ELIMIT, "%s: a node list of more than %" PRIu32 " names", n->r->name,
			       SL_IMAGE_MAX_ROWS);
	if (sl_grow(&n->row, &n->room, n->rows + UINT64_C(1), sizeof(*n->row), n->r->err))
		return sl_fail_in(n->r->err, "%s", n->r->name);
	n->row[n->rows++] = json_integer_value(found);
	return 0;
}

/* Rows of (first, last): as few as there can be, in node order. */
static int read_nodelist(struct reader *r, const struct place *p, int t, const json_t *v, struct sl_range *range)
{
	struct nodes n = { .r = r, .place = p, .target = r->schema->table[t].column[0].target };
	struct sl_error why;
	int rc;

	if (!json_is_string(v))
		return fail_at(r, p, "%s, expected a node list such as \"n[1-4,7]\"", type_name(v));
	why.code = SL_OK;
	rc = sl_nodelist_split(json_string_value(v), add_node, &n, &why);
	if (rc && why.code)
		fail_at(r, p, "%s", why.text);
	if (!rc && n.rows)
		qsort(n.row, n.rows, sizeof(*n.row), sl_order_u32);
	range->first = sl_builder_rows(r->b, t);
	for (size_t i = 0; !rc && i < n.rows;) {
		uint32_t run[2] = { n.row[i], n.row[i] };

		for (i++; i < n.rows && n.row[i] <= run[1] + 1; i++)
			run[1] = n.row[i];
		sl_builder_append(r->b, t, run);
	}
	range->count = sl_builder_rows(r->b, t) - range->first;
	free(n.row);
	return rc;
}

/* -- rows ---------------------------------------------------------------- */

static int append_row(struct reader *r, const struct place *p, int t, json_t *v);

static int read_range(struct reader *r, const struct place *p, int t, const json_t *v, struct sl_range *range)
{
	struct place item = { p, NULL, 0 };
	json_t *member;

	if (r->schema->table[t].nodelist)
		return read_nodelist(r, p, t, v, range);
	if (!json_is_array(v))
		return fail_at(r, p, "%s, expected an array", type_name(v));
	range->first = sl_builder_rows(r->b, t);
	json_array_foreach(v, item.index, member)
		if (append_row(r, &item, t, member) < 0)
			return -1;
	range->count = sl_builder_rows(r->b, t) - range->first;
	return 0;
}

static int read_value(struct reader *r, const struct place *p, int t, uint32_t c, const json_t *v,
		      unsigned char *field)
{
	const struct sl_column *col = &r->schema->table[t].column[c];
	union {
		uint32_t u32;
		int64_t i64;
		double f64;
		struct sl_range range;
	} value;
	size_t size = sizeof(value.u32);
	int rc = 0;

	switch (col->type) {
	case SL_TYPE_u32:
		rc = read_u32(r, p, sl_schema_words(r->schema, t, c), v, &value.u32);
		break;
	case SL_TYPE_i64:
		size = sizeof(value.i64);
		rc = read_i64(r, p, v, &value.i64);
		break;
	case SL_TYPE_f64:
		size = sizeof(value.f64);
		value.f64 = json_number_value(v);
		if (!json_is_number(v))
			rc = fail_at(r, p, "%s, expected a number", type_name(v));
		break;
	case SL_TYPE_str:
		if (!json_is_string(v))
			return fail_at(r, p, "%s, expected a string", type_name(v));
		value.u32 = sl_builder_str(r->b, json_string_value(v));
		break;
	case SL_TYPE_ref:
		rc = find_ref(r, p, col->target, v, &value.u32);
		break;
	case SL_TYPE_range:
		size = sizeof(value.range);
		rc = read_range(r, p, col->target, v, &value.range);
		break;
	}
	if (!rc)
		memcpy(field, &value, size);
	return rc;
}

static void set_defaults(const struct sl_table *table, unsigned char *row)
{
	memset(row, 0, table->row_size);
	for (uint32_t c = 0; c < table->columns; c++) {
		const struct sl_column *col = &table->column[c];
		uint32_t u32 = col->type == SL_TYPE_ref ? SL_NONE : (uint32_t) col->missing;
		double f64 = (double) col->missing;

		if (col->type == SL_TYPE_u32 || col->type == SL_TYPE_ref)
			memcpy(row + col->row_offset, &u32, sizeof(u32));
		else if (col->type == SL_TYPE_i64)
			memcpy(row + col->row_offset, &col->missing, sizeof(col->missing));
		else if (col->type == SL_TYPE_f64)
			memcpy(row + col->row_offset, &f64, sizeof(f64));
	}
}

/* The first key of an object that is no column. */
static int unknown_key(struct reader *r, const struct place *p, const struct sl_table *table, json_t *v)
{
	const char *key;
	json_t *member;

	json_object_foreach(v, key, member) {
		uint32_t c = 0;

		while (c < table->columns && strcmp(table->column[c].name, key))
			c++;
		if (c == table->columns)
			return fail_at(r, p, "unknown key \"%s\"", key);
	}
	return 0;
}

static int read_fields(struct reader *r, const struct place *p, int t, json_t *v, unsigned char *row)
{
	const struct sl_table *table = &r->schema->table[t];
	struct place field = { p, NULL, 0 };
	size_t known = 0;

	if (!json_is_object(v))
		return fail_at(r, p, "%s, expected an object", type_name(v));
	for (uint32_t c = 0; c < table->columns; c++) {
		json_t *member = json_object_get(v, table->column[c].name);

		if (!member)
			continue;
		known++;
		field.key = table->column[c].name;
		if (read_value(r, &field, t, c, member, row + table->column[c].row_offset) < 0)
			return -1;
	}
	return known < json_object_size(v) ? unknown_key(r, p, table, v) : 0;
}

static int append_row(struct reader *r, const struct place *p, int t, json_t *v)
{
	const struct sl_table *table = &r->schema->table[t];
	_Alignas(max_align_t) unsigned char row[ROW_MAX];
	int rc;

	if (table->row_size > sizeof(row))
		return sl_fail(r->err, SL_EINVAL, "%s: rows of %s are too large", r->schema->name, table->name);
	set_defaults(table, row);
	if (table->columns == 1 && table->nested)
		rc = read_value(r, p, t, 0, v, row);
	else
		rc = read_fields(r, p, t, v, row);
	if (rc < 0)
		return -1;
	sl_builder_append(r->b, t, row);
	return 0;
}

/* -- the whole file ------------------------------------------------------ */

static json_t *get_table(const struct reader *r, json_t *root, int t)
{
	return r->schema->table[t].nested ? NULL : json_object_get(root, r->schema->table[t].plural);
}

static int check_top(struct reader *r, json_t *root)
{
	struct place at = { NULL, NULL, 0 };
	json_t *v;
	int t;

	if (!json_is_object(root))
		return fail_at(r, NULL, "%s, expected an object", type_name(root));
	json_object_foreach(root, at.key, v) {
		if (!strcmp(at.key, "format")) {
			if (!json_is_string(v) || strcmp(json_string_value(v), r->schema->name))
				return fail_at(r, &at, "expected \"%s\"", r->schema->name);
			continue;
		}
		if (!strcmp(at.key, "version")) {
			if (json_integer_value(v) != r->schema->version)
				return sl_fail(r->err, SL_EVERSION, "%s: version %" JSON_INTEGER_FORMAT ", expected %"
					       PRIu32, r->name, json_integer_value(v), r->schema->version);
			continue;
		}
		for (t = 0; t < r->schema->tables; t++)
			if (!r->schema->table[t].nested && !strcmp(at.key, r->schema->table[t].plural))
				break;
		if (t == r->schema->tables)
			return fail_at(r, NULL, "unknown key \"%s\"", at.key);
		if (!r->schema->table[t].single && !json_is_array(v))
			return fail_at(r, &at, "%s, expected an array", type_name(v));
	}
	return 0;
}

static int read_table(struct reader *r, json_t *root, int t)
{
	const struct sl_table *table = &r->schema->table[t];
	struct place at = { NULL, table->plural, 0 }, item = { &at, NULL, 0 };
	json_t *rows = get_table(r, root, t), *row, *nothing;
	int rc;

	if (table->single) {
		if (rows)
			return append_row(r, &at, t, rows);
		nothing = json_object();
		rc = nothing ? append_row(r, &at, t, nothing) : sl_fail(r->err, SL_ENOMEM, "%s: no memory", r->name);
		json_decref(nothing);
		return rc;
	}
	json_array_foreach(rows, item.index, row)
		if (append_row(r, &item, t, row) < 0)
			return -1;
	return 0;
}

static int read_all(struct reader *r, json_t *root)
{
	if (check_top(r, root) < 0)
		return -1;
	for (int t = 0; t < r->schema->tables; t++) {
		if (r->schema->table[t].key < 0 || r->schema->table[t].nested)
			continue;
		r->index[t] = json_object();
		if (!r->index[t])
			return sl_fail(r->err, SL_ENOMEM, "%s: no memory", r->name);
		if (index_table(r, t, get_table(r, root, t)) < 0)
			return -1;
	}
	for (int t = 0; t < r->schema->tables; t++)
		if (!r->schema->table[t].nested && read_table(r, root, t) < 0)
			return -1;
	return 0;
}

int sl_builder_from_tree(struct sl_builder *b, const char *name, struct json_t *root, struct sl_error *err)
{
	struct reader r = { .b = b, .schema = sl_builder_schema(b), .name = name, .err = err };
	int rc;

	r.index = calloc(r.schema->tables, sizeof(*r.index));
	if (!r.index)
		return sl_fail(err, SL_ENOMEM, "%s: no memory", name);
	rc = read_all(&r, root);
	for (int t = 0; t < r.schema->tables; t++)
		json_decref(r.index[t]);
	free(r.index);
	return rc;
}

int sl_builder_from_json(struct sl_builder *b, const char *name, const char *text, size_t length,
			 struct sl_error *err)
{
	json_t *root;
	size_t blank = 0;
	int rc;

	while (blank < length && strchr(" \t\r\n", text[blank]) && text[blank])
		blank++;
	root = sl_json_tree(name, text, length, err);
	if (!root && blank < length && text[blank] != '{')
		return sl_fail(err, SL_EFORMAT, "%s: neither a snapshot as it was captured nor its JSON form", name);
	if (!root)
		return -1;
	rc = sl_builder_from_tree(b, name, root, err);
	json_decref(root);
	return rc;
}

/* -- files --------------------------------------------------------------- */

static bool is_binary(const struct sl_schema *schema, const char *bytes, size_t size)
{
	uint32_t magic;

	if (size < sizeof(magic))
		return false;
	memcpy(&magic, bytes, sizeof(magic));
	return magic == schema->magic || magic == __builtin_bswap32(schema->magic);
}

/* Replace JSON text by the image it describes. */
static int convert_json(const struct sl_schema *schema, const char *path, char **bytes, size_t *size,
			struct sl_error *err)
{
	struct sl_builder *b = sl_builder_create(schema, err);
	const void *image;
	char *copy;
	size_t n;
	int rc = -1;

	if (!b || sl_builder_from_json(b, path, *bytes, *size, err) < 0)
		goto error;
	if (sl_builder_finish(b, &image, &n, err) < 0) {
		sl_fail_in(err, "%s", path);
		goto error;
	}
	copy = malloc(n);
	if (!copy) {
		sl_fail(err, SL_ENOMEM, "%s: no memory", path);
		goto error;
	}
	memcpy(copy, image, n);
	free(*bytes);
	*bytes = copy;
	*size = n;
	rc = 0;
error:
	sl_builder_destroy(b);
	return rc;
}

int sl_image_load(const struct sl_schema *schema, const char *path, void **bytes, size_t *size,
		  struct sl_error *err)
{
	struct sl_image image;
	char *p = NULL;
	size_t n = 0;

	if (sl_lines_whole(path, SL_IMAGE_MAX_SIZE, &p, &n, err) < 0)
		return -1;
	if (!is_binary(schema, p, n) && convert_json(schema, path, &p, &n, err) < 0)
		goto error;
	if (sl_image_open(&image, NULL, schema, p, n, err) < 0) {
		sl_fail_in(err, "%s", path);
		goto error;
	}
	*bytes = p;
	*size = n;
	return 0;
error:
	free(p);
	return -1;
}
