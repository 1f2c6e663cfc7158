/* SPDX-License-Identifier: MIT */
/*
 * image.c - laying images out, and refusing those that are laid out wrongly.
 *
 *	header		64 bytes
 *	directory	16 bytes a table: rows, offset
 *	tables		in the schema's order; their columns one after the other
 *	pool		strings, each with its NUL; the first is the empty one
 *
 * Every table and every column begins at the first multiple of 8 after what
 * precedes it.  So the row counts determine where everything is, and an image
 * whose directory says anything else is refused: nothing can overlap.  Strings
 * stand in the pool in the order of their first use, whatever the order in which
 * they were interned, so that equal rows make equal bytes.
 */
#include "image/image.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/map.h"

struct header {
	uint32_t magic;
	uint32_t version;
	uint64_t hash;		/* of the names and types of all columns */
	uint64_t size;		/* of the whole image */
	uint32_t tables;
	uint32_t zero;
	uint64_t pool_offset;
	uint64_t pool_size;
	uint64_t zeroes[2];
};

struct directory {
	uint32_t rows;
	uint32_t zero;
	uint64_t offset;
};

_Static_assert(sizeof(struct header) == 64, "the header is 64 bytes");
_Static_assert(sizeof(struct directory) == 16, "a directory entry is 16 bytes");

static const uint8_t type_size[] = {
	[SL_TYPE_u32] = 4, [SL_TYPE_i64] = 8, [SL_TYPE_f64] = 8,
	[SL_TYPE_str] = 4, [SL_TYPE_ref] = 4, [SL_TYPE_range] = 8,
};

static uint64_t align8(uint64_t n)
{
	return (n + 7) & ~(uint64_t) 7;
}

/* -- schemas ------------------------------------------------------------ */

const struct sl_words *sl_schema_words(const struct sl_schema *schema, int table, uint32_t column)
{
	uint32_t offset = schema->table[table].column[column].row_offset;

	for (uint32_t i = 0; i < schema->words; i++)
		if (schema->word[i].table == table && schema->word[i].row_offset == offset)
			return &schema->word[i];
	return NULL;
}

const char *sl_words_find(const struct sl_words *words, uint32_t value)
{
	for (uint32_t i = 0; i < words->count; i++)
		if (words->word[i].value == value)
			return words->word[i].word;
	return NULL;
}

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)	/* FNV-1a */
{
	const unsigned char *p = bytes;

	while (n--)
		hash = (hash ^ *p++) * UINT64_C(0x100000001b3);
	return hash;
}

/* Tells builds apart whose columns differ although nobody changed the version. */
static uint64_t hash_schema(const struct sl_schema *schema)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (int t = 0; t < schema->tables; t++) {
		const struct sl_table *table = &schema->table[t];

		hash = hash_bytes(hash, table->name, strlen(table->name) + 1);
		for (uint32_t c = 0; c < table->columns; c++) {
			const struct sl_column *col = &table->column[c];
			int32_t kind[2] = { col->type, col->target };

			hash = hash_bytes(hash, col->name, strlen(col->name) + 1);
			hash = hash_bytes(hash, kind, sizeof(kind));
		}
	}
	return hash;
}

/* The bytes of a table of so many rows, from an offset that is a multiple of 8
 * on.  Cannot overflow: rows are capped and columns are few. */
static uint64_t table_size(const struct sl_table *table, uint32_t rows)
{
	uint64_t size = 0;

	for (uint32_t c = 0; c < table->columns; c++)
		size += align8((uint64_t) rows * type_size[table->column[c].type]);
	return size;
}

/* -- writing ------------------------------------------------------------ */

struct rows {			/* of one table, as the caller gave them */
	unsigned char *data;
	uint32_t rows, room;
};

struct sl_builder {
	const struct sl_schema *schema;
	uint64_t hash;
	struct rows *table;
	char *text;		/* strings in the order of interning */
	size_t text_size;
	uint32_t text_room;
	struct sl_map by_text;	/* -> offset in text */
	uint32_t *moved;	/* by offset in text: offset in the pool */
	uint32_t moved_room;
	unsigned char *out;
	uint32_t out_room;
	struct sl_error err;	/* the first failure */
};

/* Note the first failure; what follows it is only its consequence. */
#define STICKY(b, ...) ((b)->err.code ? -1 : sl_fail(&(b)->err, __VA_ARGS__))

struct sl_builder *sl_builder_create(const struct sl_schema *schema, struct sl_error *err)
{
	struct sl_builder *b = calloc(1, sizeof(*b));

	if (!b)
		goto error;
	b->schema = schema;
	b->hash = hash_schema(schema);
	b->table = calloc(schema->tables, sizeof(*b->table));
	if (!b->table || sl_map_reserve(&b->by_text, 128, NULL) || sl_grow(&b->text, &b->text_room, 64, 1, NULL))
		goto error;
	sl_builder_reset(b);
	return b;
error:
	sl_builder_destroy(b);
	sl_fail(err, SL_ENOMEM, "%s: no memory for a builder", schema->name);
	return NULL;
}

void sl_builder_destroy(struct sl_builder *b)
{
	if (!b)
		return;
	for (int t = 0; b->table && t < b->schema->tables; t++)
		free(b->table[t].data);
	free(b->table);
	free(b->text);
	sl_map_free(&b->by_text);
	free(b->moved);
	free(b->out);
	free(b);
}

const struct sl_schema *sl_builder_schema(const struct sl_builder *b)
{
	return b->schema;
}

void sl_builder_reset(struct sl_builder *b)
{
	for (int t = 0; t < b->schema->tables; t++)
		b->table[t].rows = 0;
	sl_map_clear(&b->by_text);
	b->text[0] = 0;
	b->text_size = 1;
	b->err.code = SL_OK;
}

uint32_t sl_builder_append(struct sl_builder *b, int table, const void *row)
{
	const struct sl_table *desc = &b->schema->table[table];
	struct rows *rows = &b->table[table];
	uint32_t n = rows->rows;

	if (b->err.code)
		return n;
	if (n >= SL_IMAGE_MAX_ROWS) {
		STICKY(b, SL_ELIMIT, "%s: more than %" PRIu32 " rows of %s",
		       b->schema->name, SL_IMAGE_MAX_ROWS, desc->name);
		return n;
	}
	if (sl_grow(&rows->data, &rows->room, (uint64_t) n + 1, desc->row_size, NULL)) {
		STICKY(b, SL_ENOMEM, "%s: no memory for row %" PRIu32 " of %s", b->schema->name, n, desc->name);
		return n;
	}
	memcpy(rows->data + (size_t) n * desc->row_size, row, desc->row_size);
	rows->rows++;
	return n;
}

void sl_builder_update(struct sl_builder *b, int table, uint32_t row, const void *data)
{
	const struct sl_table *desc = &b->schema->table[table];

	if (row >= b->table[table].rows) {
		STICKY(b, SL_EINVAL, "%s: update of row %" PRIu32 " of %s, which has %" PRIu32,
		       b->schema->name, row, desc->name, b->table[table].rows);
		return;
	}
	memcpy(b->table[table].data + (size_t) row * desc->row_size, data, desc->row_size);
}

uint32_t sl_builder_rows(const struct sl_builder *b, int table)
{
	return b->table[table].rows;
}

int sl_builder_row(const struct sl_builder *b, int table, uint32_t row, void *data)
{
	uint32_t size = b->schema->table[table].row_size;

	if (row >= b->table[table].rows)
		return -1;
	memcpy(data, b->table[table].data + (size_t) row * size, size);
	return 0;
}

uint32_t sl_builder_str(struct sl_builder *b, const char *s)
{
	uint64_t hash;
	uint32_t str;
	size_t n;

	if (!s || !*s || b->err.code)
		return 0;
	n = strlen(s);
	hash = sl_hash_bytes(SL_HASH, s, n);
	SL_MAP_EACH(&b->by_text, hash, at)
		if (!strcmp(b->text + at.value, s))
			return at.value;
	if (n >= SL_IMAGE_MAX_SIZE - b->text_size) {
		STICKY(b, SL_ELIMIT, "%s: more than %zu bytes of strings", b->schema->name, SL_IMAGE_MAX_SIZE);
		return 0;
	}
	str = b->text_size;
	if (sl_grow(&b->text, &b->text_room, b->text_size + n + 1, 1, NULL) ||
	    sl_map_put(&b->by_text, hash, str, NULL))
		goto error;
	memcpy(b->text + str, s, n + 1);
	b->text_size += n + 1;
	return str;
error:
	STICKY(b, SL_ENOMEM, "%s: no memory for a string of %zu bytes", b->schema->name, n);
	return 0;
}

const char *sl_builder_text(const struct sl_builder *b, uint32_t str)
{
	return str < b->text_size ? b->text + str : "";
}

/* Where a string goes in the pool: moved there on its first use. */
static int pool_string(struct sl_builder *b, uint32_t str, char *pool, size_t *size, uint32_t *to)
{
	size_t n;

	if (!b->moved[str]) {
		if (str && b->text[str - 1])
			return -1;
		n = strlen(b->text + str) + 1;
		memcpy(pool + *size, b->text + str, n);
		b->moved[str] = *size;
		*size += n;
	}
	*to = b->moved[str];
	return 0;
}

static void clear_empty(unsigned char *to, uint32_t rows)
{
	struct sl_range range;

	for (uint32_t r = 0; r < rows; r++) {
		memcpy(&range, to + (size_t) r * sizeof(range), sizeof(range));
		if (!range.count)
			memset(to + (size_t) r * sizeof(range), 0, sizeof(range));
	}
}

/* One column out of the rows.  Strings also move to the pool; a range of nothing
 * begins at 0, wherever the writer was when it found nothing. */
static int write_column(struct sl_builder *b, int t, const struct sl_column *col, unsigned char *to, char *pool,
			size_t *pool_size)
{
	const struct sl_table *table = &b->schema->table[t];
	const unsigned char *from = b->table[t].data;
	uint32_t rows = b->table[t].rows, str;
	size_t step = table->row_size, width = type_size[col->type], bytes = width * rows;

	if (rows)
		from += col->row_offset;
	for (uint32_t r = 0; r < rows; r++, from += step) {
		if (col->type == SL_TYPE_str) {
			memcpy(&str, from, sizeof(str));
			if (str && (str >= b->text_size || pool_string(b, str, pool, pool_size, &str) < 0))
				return sl_fail(&b->err, SL_EINVAL, "%s: %s[%" PRIu32 "].%s: %" PRIu32
					       " is no string of this builder", b->schema->name, table->name, r,
					       col->name, str);
			memcpy(to + (size_t) r * 4, &str, 4);
		} else if (width == 4) {
			memcpy(to + (size_t) r * 4, from, 4);
		} else {
			memcpy(to + (size_t) r * 8, from, 8);
		}
	}
	if (col->type == SL_TYPE_range)
		clear_empty(to, rows);
	memset(to + bytes, 0, align8(bytes) - bytes);
	return 0;
}

/* Where the pool begins: the end of everything else. */
static uint64_t pool_offset(const struct sl_builder *b)
{
	uint64_t at = sizeof(struct header) + b->schema->tables * sizeof(struct directory);

	for (int t = 0; t < b->schema->tables; t++)
		at += table_size(&b->schema->table[t], b->table[t].rows);
	return at;
}

int sl_builder_finish(struct sl_builder *b, const void **bytes, size_t *size, struct sl_error *err)
{
	const struct sl_schema *schema = b->schema;
	struct header head = { .magic = schema->magic, .version = schema->version, .hash = b->hash,
			       .tables = schema->tables };
	uint64_t pool = pool_offset(b), at = sizeof(head) + schema->tables * sizeof(struct directory);
	size_t pool_size = 1;

	if (b->err.code)
		goto error;
	if (pool + b->text_size > SL_IMAGE_MAX_SIZE) {
		STICKY(b, SL_ELIMIT, "%s: an image of %" PRIu64 " bytes, the most is %zu", schema->name,
		       pool + b->text_size, SL_IMAGE_MAX_SIZE);
		goto error;
	}
	if (sl_grow(&b->out, &b->out_room, pool + b->text_size, 1, NULL) ||
	    sl_grow(&b->moved, &b->moved_room, b->text_size, sizeof(*b->moved), NULL)) {
		STICKY(b, SL_ENOMEM, "%s: no memory for an image of %" PRIu64 " bytes", schema->name,
		       pool + b->text_size);
		goto error;
	}
	memset(b->moved, 0, b->text_size * sizeof(*b->moved));
	b->out[pool] = 0;
	for (int t = 0; t < schema->tables; t++) {
		const struct sl_table *table = &schema->table[t];
		struct directory dir = { .rows = b->table[t].rows, .offset = at };

		memcpy(b->out + sizeof(head) + t * sizeof(dir), &dir, sizeof(dir));
		for (uint32_t c = 0; c < table->columns; c++) {
			if (write_column(b, t, &table->column[c], b->out + at, (char *) b->out + pool,
					 &pool_size) < 0)
				goto error;
			at += align8((uint64_t) dir.rows * type_size[table->column[c].type]);
		}
	}
	head.pool_offset = pool;
	head.pool_size = pool_size;
	head.size = pool + pool_size;
	memcpy(b->out, &head, sizeof(head));
	*bytes = b->out;
	*size = head.size;
	return 0;
error:
	return sl_fail(err, b->err.code, "%s", b->err.text);
}

/* -- writing columns ----------------------------------------------------- */

int sl_image_measure(const struct sl_schema *schema, const uint32_t *rows, size_t pool_size, size_t *size,
		     struct sl_error *err)
{
	uint64_t at = sizeof(struct header) + schema->tables * sizeof(struct directory);

	for (int t = 0; t < schema->tables; t++) {
		if (rows[t] > SL_IMAGE_MAX_ROWS)
			return sl_fail(err, SL_ELIMIT, "%s: more than %" PRIu32 " rows of %s", schema->name,
				       SL_IMAGE_MAX_ROWS, schema->table[t].name);
		at += table_size(&schema->table[t], rows[t]);
	}
	if (pool_size > SL_IMAGE_MAX_SIZE || at + pool_size > SL_IMAGE_MAX_SIZE)
		return sl_fail(err, SL_ELIMIT, "%s: an image of %" PRIu64 " bytes, the most is %zu", schema->name,
			       at + pool_size, SL_IMAGE_MAX_SIZE);
	*size = at + pool_size;
	return 0;
}

/* -- reading ------------------------------------------------------------ */

static int check_header(const struct sl_schema *schema, const struct header *head, size_t size, struct sl_error *err)
{
	if (head->magic == __builtin_bswap32(schema->magic))
		return sl_fail(err, SL_EVERSION, "%s: written by a machine of the other byte order", schema->name);
	if (head->magic != schema->magic)
		return sl_fail(err, SL_EFORMAT, "%s: not one (magic 0x%" PRIx32 ", expected 0x%" PRIx32 ")",
			       schema->name, head->magic, schema->magic);
	if (head->version != schema->version)
		return sl_fail(err, SL_EVERSION, "%s: version %" PRIu32 ", expected %" PRIu32, schema->name,
			       head->version, schema->version);
	if (head->hash != hash_schema(schema))
		return sl_fail(err, SL_EVERSION, "%s: written by another build, whose columns differ", schema->name);
	if (head->size != size)
		return sl_fail(err, SL_EFORMAT, "%s: %zu bytes, the header says %" PRIu64, schema->name, size,
			       head->size);
	if (head->tables != (uint32_t) schema->tables)
		return sl_fail(err, SL_EFORMAT, "%s: %" PRIu32 " tables, expected %d", schema->name, head->tables,
			       schema->tables);
	if (head->zero || head->zeroes[0] || head->zeroes[1])
		return sl_fail(err, SL_EFORMAT, "%s: header: reserved words are not zero", schema->name);
	return 0;
}

/* Every table where the row counts put it, all within the image. */
static int check_layout(const struct sl_schema *schema, const struct header *head, const struct directory *dir,
			struct sl_error *err)
{
	uint64_t at = sizeof(*head) + schema->tables * sizeof(*dir);

	for (int t = 0; t < schema->tables; t++) {
		const struct sl_table *table = &schema->table[t];

		if (dir[t].rows > SL_IMAGE_MAX_ROWS)
			return sl_fail(err, SL_ELIMIT, "%s: %s: %" PRIu32 " rows, the most is %" PRIu32,
				       schema->name, table->name, dir[t].rows, SL_IMAGE_MAX_ROWS);
		if (dir[t].offset != at || dir[t].zero)
			return sl_fail(err, SL_EFORMAT, "%s: %s: begins at %" PRIu64 ", expected %" PRIu64,
				       schema->name, table->name, dir[t].offset, at);
		at += table_size(table, dir[t].rows);
		if (at > head->size)
			return sl_fail(err, SL_EFORMAT, "%s: %s: %" PRIu32 " rows end beyond the image",
				       schema->name, table->name, dir[t].rows);
		if (table->single && dir[t].rows != 1)
			return sl_fail(err, SL_EFORMAT, "%s: %s: %" PRIu32 " rows, expected one", schema->name,
				       table->name, dir[t].rows);
	}
	if (head->pool_offset != at || head->pool_size == 0 || head->pool_size != head->size - at)
		return sl_fail(err, SL_EFORMAT, "%s: strings at %" PRIu64 " + %" PRIu64
			       ", expected from %" PRIu64 " to the end at %" PRIu64, schema->name,
			       head->pool_offset, head->pool_size, at, head->size);
	return 0;
}

/* The first row of a column with a value that cannot be, or *rows*. */
static uint32_t bad_u32(const uint32_t *v, uint32_t rows, uint64_t limit, bool none)
{
	for (uint32_t r = 0; r < rows; r++)
		if (v[r] >= limit && !(none && v[r] == SL_NONE))
			return r;
	return rows;
}

static uint32_t bad_range(const struct sl_range *v, uint32_t rows, uint64_t limit)
{
	for (uint32_t r = 0; r < rows; r++)
		if ((uint64_t) v[r].first + v[r].count > limit)
			return r;
	return rows;
}

static uint32_t bad_f64(const double *v, uint32_t rows)
{
	for (uint32_t r = 0; r < rows; r++)
		if (!isfinite(v[r]))
			return r;
	return rows;
}

static uint32_t bad_word(const struct sl_words *words, const uint32_t *v, uint32_t rows)
{
	uint32_t known = 0;

	for (uint32_t i = 0; words->flags && i < words->count; i++)
		known |= words->word[i].value;
	for (uint32_t r = 0; r < rows; r++)
		if (words->flags ? (v[r] & ~known) != 0 : !sl_words_find(words, v[r]))
			return r;
	return rows;
}

static int check_column(const struct sl_schema *schema, int t, uint32_t c, const struct directory *dir,
			const void *values, uint64_t pool_size, struct sl_error *err)
{
	static const char *const what[] = {
		[SL_TYPE_u32] = "a number without a meaning", [SL_TYPE_i64] = "",
		[SL_TYPE_f64] = "not a finite number", [SL_TYPE_str] = "a string outside the pool",
		[SL_TYPE_ref] = "a reference to nothing", [SL_TYPE_range] = "a range outside its table",
	};
	const struct sl_table *table = &schema->table[t];
	const struct sl_column *col = &table->column[c];
	const struct sl_words *words;
	uint32_t rows = dir[t].rows, bad = rows;
	size_t used = (size_t) rows * type_size[col->type];

	switch (col->type) {
	case SL_TYPE_u32:
		words = sl_schema_words(schema, t, c);
		if (words)
			bad = bad_word(words, values, rows);
		break;
	case SL_TYPE_i64:
		break;
	case SL_TYPE_f64:
		bad = bad_f64(values, rows);
		break;
	case SL_TYPE_str:
		bad = bad_u32(values, rows, pool_size, false);
		break;
	case SL_TYPE_ref:
		bad = bad_u32(values, rows, dir[col->target].rows, true);
		break;
	case SL_TYPE_range:
		bad = bad_range(values, rows, dir[col->target].rows);
		break;
	}
	if (bad < rows)
		return sl_fail(err, SL_EFORMAT, "%s: %s[%" PRIu32 "].%s: %s", schema->name, table->name, bad,
			       col->name, what[col->type]);
	for (size_t i = used; i < align8(used); i++)
		if (((const unsigned char *) values)[i])
			return sl_fail(err, SL_EFORMAT, "%s: %s.%s: bytes between columns are not zero",
				       schema->name, table->name, col->name);
	return 0;
}

/* Point the view at the columns. */
static void fill_view(const struct sl_schema *schema, const unsigned char *base, const struct directory *dir,
		      void *view)
{
	for (int t = 0; t < schema->tables; t++) {
		const struct sl_table *table = &schema->table[t];
		unsigned char *v = (unsigned char *) view + table->view_offset;
		const unsigned char *at = base + dir[t].offset;

		memcpy(v, &dir[t].rows, sizeof(dir[t].rows));
		for (uint32_t c = 0; c < table->columns; c++) {
			const void *p = at;

			memcpy(v + table->column[c].view_offset, &p, sizeof(p));
			at += align8((uint64_t) dir[t].rows * type_size[table->column[c].type]);
		}
	}
}

void sl_image_lay_out(const struct sl_schema *schema, void *bytes, const uint32_t *rows, size_t pool_size,
		      void *view)
{
	struct header head = { .magic = schema->magic, .version = schema->version, .hash = hash_schema(schema),
			       .tables = schema->tables, .pool_size = pool_size };
	unsigned char *base = bytes;
	struct directory *dir = (void *) (base + sizeof(head));
	uint64_t at = sizeof(head) + schema->tables * sizeof(*dir);

	for (int t = 0; t < schema->tables; t++) {
		dir[t] = (struct directory) { .rows = rows[t], .offset = at };
		at += table_size(&schema->table[t], rows[t]);
	}
	head.pool_offset = at;
	head.size = at + pool_size;
	memcpy(base, &head, sizeof(head));
	fill_view(schema, base, dir, view);
}

int sl_image_open(struct sl_image *image, void *view, const struct sl_schema *schema, const void *bytes, size_t size,
		  struct sl_error *err)
{
	const unsigned char *base = bytes, *at;
	const struct header *head = bytes;
	const struct directory *dir = (const void *) (base + sizeof(*head));

	if ((uintptr_t) bytes % 8)
		return sl_fail(err, SL_EINVAL, "%s: not at an address that is a multiple of 8", schema->name);
	if (size < sizeof(*head) + schema->tables * sizeof(*dir))
		return sl_fail(err, SL_EFORMAT, "%s: %zu bytes are too few for one", schema->name, size);
	if (size > SL_IMAGE_MAX_SIZE)
		return sl_fail(err, SL_ELIMIT, "%s: %zu bytes, the most is %zu", schema->name, size,
			       SL_IMAGE_MAX_SIZE);
	if (check_header(schema, head, size, err) < 0 || check_layout(schema, head, dir, err) < 0)
		return -1;
	if (base[head->pool_offset] || base[size - 1])
		return sl_fail(err, SL_EFORMAT, "%s: strings do not begin and end with NUL", schema->name);
	for (int t = 0; t < schema->tables; t++) {
		at = base + dir[t].offset;
		for (uint32_t c = 0; c < schema->table[t].columns; c++) {
			if (check_column(schema, t, c, dir, at, head->pool_size, err) < 0)
				return -1;
			at += align8((uint64_t) dir[t].rows * type_size[schema->table[t].column[c].type]);
		}
	}
	if (view)
		fill_view(schema, base, dir, view);
	*image = (struct sl_image) {
		.schema = schema, .base = base, .size = size, .pool = (const char *) base + head->pool_offset,
	};
	return 0;
}
