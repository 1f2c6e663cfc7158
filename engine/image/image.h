/* SPDX-License-Identifier: MIT */
/*
 * image.h - tables in one contiguous, versioned, position-independent image.
 *
 * Snapshots (snapshot.h) and plans (plan_image.h) are images: a header, a
 * directory, one block of columns per table (structure of arrays) and one
 * string pool.  There are offsets and no pointers, so an image can be mapped,
 * sent through a memfd or kept in a file.  It is validated once, on receipt
 * (sl_image_open), and then read in place: after validation every string is
 * NUL-terminated, every reference names a row that exists, every range lies
 * inside its table.
 *
 * A schema says which tables there are and which columns each one has.  One
 * list of columns (an X-macro) makes the row struct of the writer, the view
 * struct of the reader, the validator's description and the JSON form, so
 * that a column is named in one place only.
 *
 * Ownership: a builder owns what was appended until it is destroyed; an image
 * borrows the bytes it was opened on.  Threads: none; one object, one thread.
 */
#ifndef SL_IMAGE_H
#define SL_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/duration.h"
#include "base/error.h"

#define SL_NONE UINT32_MAX	/* a reference to nothing */

/* Ceilings: an image beyond them is refused, with the ceiling named. */
#define SL_IMAGE_MAX_SIZE ((size_t) 1 << 30)	/* bytes */
#define SL_IMAGE_MAX_ROWS ((uint32_t) 1 << 26)	/* rows of one table */

struct sl_range {		/* consecutive rows of another table */
	uint32_t first, count;
};

/* The column types and their C types.  A string is an offset into the pool
 * (0 is the empty string), a reference is a row number or SL_NONE. */
enum sl_type { SL_TYPE_u32, SL_TYPE_i64, SL_TYPE_f64, SL_TYPE_str, SL_TYPE_ref, SL_TYPE_range };
#define SL_CTYPE_u32 uint32_t
#define SL_CTYPE_i64 int64_t
#define SL_CTYPE_f64 double
#define SL_CTYPE_str uint32_t
#define SL_CTYPE_ref uint32_t
#define SL_CTYPE_range struct sl_range
#define SL_INIT_u32(v) (v)
#define SL_INIT_i64(v) (v)
#define SL_INIT_f64(v) (v)
#define SL_INIT_str(v) 0
#define SL_INIT_ref(v) SL_NONE
#define SL_INIT_range(v) { 0, 0 }

struct sl_column {
	const char *name;
	enum sl_type type;
	int target;		/* table of a reference or range, else -1 */
	uint32_t row_offset;	/* of the field in the row struct */
	uint32_t view_offset;	/* of the pointer in the view struct */
	int64_t missing;	/* value where JSON leaves a number out */
	const char *doc;	/* meaning and unit, for people */
};

struct sl_table {
	const char *name;
	const struct sl_column *column;
	uint32_t columns;
	uint32_t row_size;	/* of the row struct */
	uint32_t view_offset;	/* of the table's view in the schema's view */
	const char *plural;	/* its key in JSON: "nodes" */
	int key;		/* column that names a row (references in JSON), or -1 */
	bool nested;		/* in JSON, only inside the rows that refer to it */
	bool single;		/* has exactly one row */
	bool nodelist;		/* columns are (first, last): in JSON "n[1-4,7]" (nodelist.h) */
};

/*
 * Words for the numbers of a u32 column: for people (JSON), and for the
 * validator, which refuses a number that has no word.
 */
struct sl_word {
	uint32_t value;		/* the number, or one bit of it */
	const char *word;
};

struct sl_words {
	int table;		/* the column's table and */
	uint32_t row_offset;	/* place in the row struct: offsetof(struct sl_job_row, state) */
	bool flags;		/* the number is a set of bits */
	const struct sl_word *word;
	uint32_t count;
};

struct sl_schema {
	const char *name;	/* "snapshot", "plan" */
	uint32_t magic;
	uint32_t version;	/* changes whenever a column's meaning changes */
	int tables;
	const struct sl_table *table;
	uint32_t words;		/* how many columns have words */
	const struct sl_words *word;
};

/*
 * Macros that turn a list of columns  LIST(X), where each line is
 * X(type, field, target, missing, doc),  into the row struct, the view struct,
 * a row of defaults, and the description.
 */
#define SL_ROW_FIELD(type, field, target, missing, doc) SL_CTYPE_##type field;
#define SL_VIEW_FIELD(type, field, target, missing, doc) const SL_CTYPE_##type *field;
#define SL_ROW_INIT(type, field, target, missing, doc) .field = SL_INIT_##type(missing),
#define SL_DECLARE_TABLE(name, LIST)					\
	struct sl_##name##_row { LIST(SL_ROW_FIELD) };			\
	struct sl_##name##_view { uint32_t rows; LIST(SL_VIEW_FIELD) };	\
	__attribute__((unused)) static inline struct sl_##name##_row sl_##name##_row(void) \
	{ return (struct sl_##name##_row) { LIST(SL_ROW_INIT) }; }

/*
 * And what describes a table to this code.  A schema's source file says
 *	#define NODE(...) SL_COLUMN(node, __VA_ARGS__)
 *	static const struct sl_column node_columns[] = { SL_NODE_COLUMNS(NODE) };
 */
#define SL_COLUMN(table, type, field, target, missing, doc)		\
	{ #field, SL_TYPE_##type, target, offsetof(struct sl_##table##_row, field), \
	  offsetof(struct sl_##table##_view, field), missing, doc },
#define SL_COLUMNS_OF(table) .column = table##_columns,			\
	.columns = sizeof(table##_columns) / sizeof(table##_columns[0]),	\
	.row_size = sizeof(struct sl_##table##_row)

/* The words of a column, or NULL; the word of a number, or NULL. */
const struct sl_words *sl_schema_words(const struct sl_schema *schema, int table, uint32_t column);
const char *sl_words_find(const struct sl_words *words, uint32_t value);

/* -- writing ----------------------------------------------------------- */

struct sl_builder;

/* Returns a builder, or NULL on failure with *err set. */
struct sl_builder *sl_builder_create(const struct sl_schema *schema, struct sl_error *err);
void sl_builder_destroy(struct sl_builder *b);

const struct sl_schema *sl_builder_schema(const struct sl_builder *b);

/* Forget all rows and strings, keep the memory: a builder that is used every
 * cycle allocates nothing once it is warm. */
void sl_builder_reset(struct sl_builder *b);

/*
 * Append and return the row's number.  Failure (memory, a ceiling) is sticky:
 * appending goes on doing nothing and sl_builder_finish() reports it, so that
 * callers that hold locks need not check each call.
 */
uint32_t sl_builder_append(struct sl_builder *b, int table, const void *row);

/* Overwrite a row appended before.  An unknown row is a sticky failure. */
void sl_builder_update(struct sl_builder *b, int table, uint32_t row, const void *data);

/* The number of rows in a table so far: the next row appended gets it. */
uint32_t sl_builder_rows(const struct sl_builder *b, int table);

/* Read back a row appended before into *row.  0, or -1 if there is none. */
int sl_builder_row(const struct sl_builder *b, int table, uint32_t row, void *data);

/* Put a string into the pool; NULL is the empty string.  Equal strings share
 * one offset. */
uint32_t sl_builder_str(struct sl_builder *b, const char *s);

/* The text at an offset returned by sl_builder_str(); valid until the next call. */
const char *sl_builder_text(const struct sl_builder *b, uint32_t str);

/*
 * Lay the image out.  *bytes is owned by the builder and valid until the next
 * call on it.  Returns 0, or -1 with *err set (also for a sticky failure).
 */
int sl_builder_finish(struct sl_builder *b, const void **bytes, size_t *size, struct sl_error *err);

/* -- writing columns ---------------------------------------------------- */

/*
 * For writers of so many rows that they cannot hold them as structs: the size of
 * an image with rows[t] rows of each table and a pool of pool_size bytes (at least
 * 1).  Returns 0, or -1 with *err (SL_ELIMIT).
 */
int sl_image_measure(const struct sl_schema *schema, const uint32_t *rows, size_t pool_size, size_t *size,
		     struct sl_error *err);

/*
 * Turn that many zero bytes, 8-aligned, into an image whose columns and pool hold
 * nothing but zeroes, and point *view* at the columns: the caller, who owns the
 * bytes, fills them in (casting const away), writes strings into the last pool_size
 * bytes, each with its NUL from the second byte on, and lets sl_image_open() judge.
 * Zeroes are not written, so that columns that stay zero cost no memory where the
 * bytes come from mmap().
 */
void sl_image_lay_out(const struct sl_schema *schema, void *bytes, const uint32_t *rows, size_t pool_size,
		      void *view);

/* -- reading ----------------------------------------------------------- */

struct sl_image {
	const struct sl_schema *schema;
	const unsigned char *base;
	size_t size;
	const char *pool;
};

/*
 * Validate *size* bytes at *bytes* (8-aligned) as an image of the schema and
 * fill *view* (the schema's view struct; NULL for none), whose pointers point
 * into the bytes.
 * Returns 0, or -1 with *err saying what is wrong and where (SL_EFORMAT,
 * SL_EVERSION).  Never reads outside the bytes, whatever they hold.
 */
int sl_image_open(struct sl_image *image, void *view, const struct sl_schema *schema,
		  const void *bytes, size_t size, struct sl_error *err);

/* The text of a str column's value. */
static inline const char *sl_image_str(const struct sl_image *image, uint32_t str)
{
	return image->pool + str;
}

/* -- JSON (image/dump.c, image/json.c) --------------------------------- */

/*
 * Write the image as one JSON object: "format" and "version", then a key per
 * table that is not nested, with an array of its rows.  Values equal to the
 * column's default are left out; a number that has words is written as its word,
 * or as an array of them; a reference as the key of the row it names; a range as
 * an array of objects, of plain values where the target table has one column, or as a
 * node list.  *view* is the view that sl_image_open() filled.  Returns 0, or -1
 * with *err.
 */
int sl_image_to_json(const struct sl_image *image, const void *view, FILE *out, struct sl_error *err);

/* Write the JSON Schema (2020-12) of such objects, from the lists of columns.  0, or -1 with *err. */
int sl_image_schema_to_json(const struct sl_schema *schema, FILE *out, struct sl_error *err);

/* A number of each row of a table that is no column: it stands in the JSON row
 * under a name of its own, and is left out where it is 0. */
struct sl_extra {
	int table;
	const char *name;
	const int64_t *value;	/* by row */
};

/* The same, with so many extras. */
int sl_image_to_json_with(const struct sl_image *image, const void *view, const struct sl_extra *extra,
			  uint32_t extras, FILE *out, struct sl_error *err);

/*
 * Read such an object and append its rows to an empty builder of the schema.
 * Unknown keys, wrong types, values out of range and references to nothing are
 * errors that name the place ("jobs[3].alloc[0].node: no node \"n9\"").
 * *name* is used in messages, e.g. a file's name.  After a failure the builder
 * holds a part of the rows: reset or destroy it.
 */
int sl_builder_from_json(struct sl_builder *b, const char *name, const char *text, size_t length,
			 struct sl_error *err);

/* The same for what jansson has parsed already, which stays the caller's. */
struct json_t;
int sl_builder_from_tree(struct sl_builder *b, const char *name, struct json_t *root, struct sl_error *err);

/* -- files ------------------------------------------------------------- */

/*
 * Read a whole image file, binary or JSON (told apart by the first bytes), either of
 * them perhaps compressed with gzip, into malloc'ed *bytes that sl_image_open() accepts.  Returns 0, or -1 with *err.
 */
int sl_image_load(const struct sl_schema *schema, const char *path, void **bytes, size_t *size,
		  struct sl_error *err);

/* Write bytes to path atomically (temporary file in the same directory,
 * fsync, rename), mode 0640.  Returns 0, or -1 with *err. */
int sl_image_save(const char *path, const void *bytes, size_t size, struct sl_error *err);

#endif
