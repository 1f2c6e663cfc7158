/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "t/make_image.h"

/* A schema of its own, with every type of column. */
enum { T_ONE, T_ITEM, T_PART, TINY_TABLES };
#define ONE_COLUMNS(X) \
	X(i64, now, -1, 0, "time")
#define ITEM_COLUMNS(X) \
	X(str, name, -1, 0, "name") \
	X(u32, kind, -1, 0, "one word") \
	X(u32, bits, -1, 0, "several words") \
	X(i64, size, -1, 7, "size") \
	X(f64, ratio, -1, 1, "ratio") \
	X(ref, next, T_ITEM, 0, "another item") \
	X(range, parts, T_PART, 0, "parts")
#define PART_COLUMNS(X) \
	X(u32, number, -1, 0, "number")
SL_DECLARE_TABLE(one, ONE_COLUMNS)
SL_DECLARE_TABLE(item, ITEM_COLUMNS)
SL_DECLARE_TABLE(part, PART_COLUMNS)

struct tiny {
	struct sl_one_view one;
	struct sl_item_view item;
	struct sl_part_view part;
};

#define ONE(...) SL_COLUMN(one, __VA_ARGS__)
#define ITEM(...) SL_COLUMN(item, __VA_ARGS__)
#define PART(...) SL_COLUMN(part, __VA_ARGS__)
static const struct sl_column one_columns[] = { ONE_COLUMNS(ONE) };
static const struct sl_column item_columns[] = { ITEM_COLUMNS(ITEM) };
static const struct sl_column part_columns[] = { PART_COLUMNS(PART) };
static const struct sl_table tiny_tables[] = {
	[T_ONE] = { .name = "one", SL_COLUMNS_OF(one), .view_offset = offsetof(struct tiny, one), .plural = "one",
		    .key = -1, .single = true },
	[T_ITEM] = { .name = "item", SL_COLUMNS_OF(item), .view_offset = offsetof(struct tiny, item),
		     .plural = "items", .key = 0 },
	[T_PART] = { .name = "part", SL_COLUMNS_OF(part), .view_offset = offsetof(struct tiny, part),
		     .plural = "parts", .key = -1, .nested = true },
};
static const struct sl_word kinds[] = { { 0, "none" }, { 5, "five" } };
static const struct sl_word bits[] = { { 1, "A" }, { 4, "C" } };
static const struct sl_words tiny_words[] = {
	{ T_ITEM, offsetof(struct sl_item_row, kind), false, kinds, 2 },
	{ T_ITEM, offsetof(struct sl_item_row, bits), true, bits, 2 },
};
static const struct sl_schema tiny_schema = {
	.name = "tiny", .magic = 0x594e4954, .version = 3, .tables = TINY_TABLES, .table = tiny_tables,
	.words = 2, .word = tiny_words,
};

/* An image that may be spoilt: a copy of its own, at the end of its memory, so
 * that a sanitizer sees every byte that is read behind it. */
struct spoilt {
	unsigned char *bytes;
	size_t size;
	struct tiny view;
	struct sl_image image;
};

static struct sl_builder *make_tiny(void)
{
	struct sl_builder *b = sl_builder_create(&tiny_schema, NULL);
	struct sl_one_row one = { .now = 99 };
	struct sl_item_row item = sl_item_row();
	struct sl_part_row part = sl_part_row();

	sl_builder_append(b, T_ONE, &one);
	for (uint32_t i = 0; i < 3; i++) {
		part.number = i;
		sl_builder_append(b, T_PART, &part);
		item.name = sl_builder_str(b, i ? "middle" : "first");
		item.bits = 5;
		item.next = i ? 0 : SL_NONE;
		item.parts = (struct sl_range) { 0, i };
		sl_builder_append(b, T_ITEM, &item);
	}
	return b;
}

static struct spoilt copy_of(struct sl_builder *b)
{
	struct spoilt s = { .bytes = NULL };
	struct sl_error err;
	const void *bytes;

	if (sl_builder_finish(b, &bytes, &s.size, &err) < 0)
		fail_msg("%s", err.text);
	s.bytes = malloc(s.size);
	memcpy(s.bytes, bytes, s.size);
	if (sl_image_open(&s.image, &s.view, &tiny_schema, s.bytes, s.size, &err) < 0)
		fail_msg("%s", err.text);
	return s;
}

static struct spoilt make_spoilt(void)
{
	struct sl_builder *b = make_tiny();
	struct spoilt s = copy_of(b);

	sl_builder_destroy(b);
	return s;
}

static void expect_refusal(struct spoilt s, enum sl_errno code, const char *text)
{
	struct sl_error err;
	struct sl_image image = { .size = 12345 };
	struct tiny view = { .one.rows = 54321 };

	assert_int_equal(sl_image_open(&image, &view, &tiny_schema, s.bytes, s.size, &err), -1);
	assert_string_equal(err.text, text);
	assert_int_equal(err.code, code);
	assert_int_equal(image.size, 12345);		/* a failure has no side effect */
	assert_int_equal(view.one.rows, 54321);
	free(s.bytes);
}

#define SPOIL(place, type, value, code, text) do {		\
	struct spoilt spoilt_ = make_spoilt();			\
	type value_ = (value);					\
	memcpy(spoilt_.bytes + (place), &value_, sizeof(value_)); \
	expect_refusal(spoilt_, code, text);			\
} while (0)

/* Spoil row r of a column. */
#define SPOIL_ROW(column, r, type, value, text) do {		\
	struct spoilt spoilt_ = make_spoilt();			\
	((type *) (uintptr_t) spoilt_.view.column)[r] = (value);	\
	expect_refusal(spoilt_, SL_EFORMAT, text);		\
} while (0)

/* -- writing ----------------------------------------------------------------- */

static void what_is_appended_is_read_back(void **state)
{
	struct sl_error err;
	struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, &err);
	struct sl_meta_row meta = sl_meta_row();
	struct sl_node_row node = sl_node_row();
	struct sl_snapshot s;
	const void *bytes;
	size_t size;

	(void) state;
	assert_non_null(b);
	meta.now = 1000;
	sl_builder_append(b, SL_T_META, &meta);
	node.name = sl_builder_str(b, "n1");
	node.cores = 8;
	assert_int_equal(sl_builder_append(b, SL_T_NODE, &node), 0);
	node.name = sl_builder_str(b, "n2");
	assert_int_equal(sl_builder_append(b, SL_T_NODE, &node), 1);
	node.cores = 9;
	sl_builder_update(b, SL_T_NODE, 1, &node);
	assert_int_equal(sl_builder_row(b, SL_T_NODE, 0, &node), 0);
	assert_int_equal(node.cores, 8);
	assert_int_equal(sl_builder_row(b, SL_T_NODE, 2, &node), -1);
	assert_int_equal(sl_builder_finish(b, &bytes, &size, &err), 0);
	if (sl_snapshot_open(&s, bytes, size, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(s.meta.now[0], 1000);
	assert_int_equal(s.node.rows, 2);
	assert_int_equal(s.node.cores[1], 9);
	assert_string_equal(sl_snapshot_str(&s, s.node.name[1]), "n2");
	assert_int_equal(s.node.owner[1], SL_NONE);
	sl_builder_destroy(b);
	sl_builder_destroy(NULL);
}

static void equal_strings_share_one_offset(void **state)
{
	struct sl_builder *b = sl_builder_create(&tiny_schema, NULL);
	uint32_t first[5000];
	char text[32];

	(void) state;
	assert_int_equal(sl_builder_str(b, NULL), 0);
	assert_int_equal(sl_builder_str(b, ""), 0);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 5000; i++) {
			snprintf(text, sizeof(text), "string %d", i);
			if (!round)
				first[i] = sl_builder_str(b, text);
			assert_int_equal(sl_builder_str(b, text), first[i]);
			assert_string_equal(sl_builder_text(b, first[i]), text);
		}
	}
	assert_string_equal(sl_builder_text(b, UINT32_MAX), "");
	sl_builder_destroy(b);
}

static void equal_rows_make_equal_bytes_whatever_was_interned_before(void **state)
{
	struct sl_builder *a = make_tiny(), *b = sl_builder_create(&tiny_schema, NULL);
	struct sl_item_row item;
	struct sl_one_row one;
	struct sl_part_row part;
	struct spoilt x = copy_of(a), y;

	(void) state;
	sl_builder_str(b, "nobody needs this");
	sl_builder_str(b, "middle");
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(sl_builder_row(a, T_ITEM, i, &item), 0);
		item.name = sl_builder_str(b, sl_builder_text(a, item.name));
		if (!item.parts.count)
			item.parts.first = 3;	/* wherever nothing begins */
		sl_builder_append(b, T_ITEM, &item);
		sl_builder_row(a, T_PART, i, &part);
		sl_builder_append(b, T_PART, &part);
	}
	sl_builder_row(a, T_ONE, 0, &one);
	sl_builder_append(b, T_ONE, &one);
	y = copy_of(b);
	assert_int_equal(x.size, y.size);
	assert_memory_equal(x.bytes, y.bytes, x.size);
	free(x.bytes);
	free(y.bytes);
	sl_builder_destroy(a);
	sl_builder_destroy(b);
}

static void a_builder_can_be_finished_appended_to_and_reset(void **state)
{
	struct sl_builder *b = make_tiny();
	struct spoilt x = copy_of(b), y = copy_of(b);
	struct sl_item_row item = sl_item_row();
	struct sl_error err;
	const void *bytes;
	size_t size;

	(void) state;
	assert_int_equal(x.size, y.size);
	assert_memory_equal(x.bytes, y.bytes, x.size);
	free(x.bytes);
	free(y.bytes);
	item.name = sl_builder_str(b, "last");
	sl_builder_append(b, T_ITEM, &item);
	x = copy_of(b);
	assert_int_equal(x.view.item.rows, 4);
	free(x.bytes);
	sl_builder_reset(b);
	assert_int_equal(sl_builder_rows(b, T_ITEM), 0);
	assert_int_equal(sl_builder_finish(b, &bytes, &size, &err), 0);
	assert_int_equal(sl_image_open(&x.image, &x.view, &tiny_schema, bytes, size, &err), -1);
	assert_string_equal(err.text, "tiny: one: 0 rows, expected one");
	sl_builder_destroy(b);
}

static void a_failure_of_the_builder_is_sticky_until_reset(void **state)
{
	struct sl_builder *b = make_tiny();
	struct sl_item_row item = sl_item_row();
	struct sl_error err;
	const void *bytes;
	size_t size;

	(void) state;
	sl_builder_update(b, T_ITEM, 77, &item);
	assert_int_equal(sl_builder_append(b, T_ITEM, &item), 3);
	assert_int_equal(sl_builder_append(b, T_ITEM, &item), 3);
	assert_int_equal(sl_builder_str(b, "text"), 0);
	assert_int_equal(sl_builder_finish(b, &bytes, &size, &err), -1);
	assert_string_equal(err.text, "tiny: update of row 77 of item, which has 3");
	sl_builder_reset(b);
	item.name = 4711;
	sl_builder_append(b, T_ITEM, &item);
	assert_int_equal(sl_builder_finish(b, &bytes, &size, &err), -1);
	assert_string_equal(err.text, "tiny: item[0].name: 4711 is no string of this builder");
	sl_builder_destroy(b);
}

/* -- reading ----------------------------------------------------------------- */

static void the_header_must_be_the_schemas(void **state)
{
	(void) state;
	SPOIL(0, uint32_t, 0x12345678, SL_EFORMAT, "tiny: not one (magic 0x12345678, expected 0x594e4954)");
	SPOIL(0, uint32_t, 0x54494e59, SL_EVERSION, "tiny: written by a machine of the other byte order");
	SPOIL(4, uint32_t, 4, SL_EVERSION, "tiny: version 4, expected 3");
	SPOIL(8, uint64_t, 1, SL_EVERSION, "tiny: written by another build, whose columns differ");
	SPOIL(24, uint32_t, 2, SL_EFORMAT, "tiny: 2 tables, expected 3");
	SPOIL(28, uint32_t, 2, SL_EFORMAT, "tiny: header: reserved words are not zero");
	SPOIL(56, uint64_t, 2, SL_EFORMAT, "tiny: header: reserved words are not zero");
}

static void a_table_is_where_the_row_counts_put_it_and_nowhere_else(void **state)
{
	struct spoilt s;

	(void) state;
	SPOIL(64, uint32_t, 2, SL_EFORMAT, "tiny: one: 2 rows, expected one");
	SPOIL(64 + 8, uint64_t, 120, SL_EFORMAT, "tiny: one: begins at 120, expected 112");
	SPOIL(64 + 16, uint32_t, 100, SL_EFORMAT, "tiny: item: 100 rows end beyond the image");
	SPOIL(64 + 16, uint32_t, UINT32_MAX, SL_ELIMIT, "tiny: item: 4294967295 rows, the most is 67108864");
	SPOIL(64 + 16, uint32_t, 0, SL_EFORMAT, "tiny: part: begins at 256, expected 120");
	SPOIL(64 + 32 + 8, uint64_t, UINT64_MAX, SL_EFORMAT, "tiny: part: begins at 18446744073709551615, expected 256");
	SPOIL(40, uint64_t, 16, SL_EFORMAT, "tiny: strings at 272 + 16, expected from 272 to the end at 286");
	SPOIL(40, uint64_t, UINT64_MAX, SL_EFORMAT,
	      "tiny: strings at 272 + 18446744073709551615, expected from 272 to the end at 286");
	SPOIL(16, uint64_t, 272, SL_EFORMAT, "tiny: 286 bytes, the header says 272");
	s = make_spoilt();
	assert_int_equal(s.size, 286);
	s.size = 272;
	memcpy(s.bytes + 16, &(uint64_t) { 272 }, 8);
	expect_refusal(s, SL_EFORMAT, "tiny: strings at 272 + 14, expected from 272 to the end at 272");
	s = make_spoilt();
	s.size = 100;
	expect_refusal(s, SL_EFORMAT, "tiny: 100 bytes are too few for one");
}

static void every_prefix_of_an_image_is_refused(void **state)
{
	struct spoilt s = make_spoilt();
	struct sl_error err;

	(void) state;
	for (size_t size = 0; size < s.size; size++) {
		unsigned char *cut = malloc(size ? size : 1);

		memcpy(cut, s.bytes, size);
		assert_int_equal(sl_image_open(&s.image, &s.view, &tiny_schema, cut, size, &err), -1);
		if (size >= 24) {		/* also when the header says so */
			memcpy(cut + 16, &(uint64_t) { size }, 8);
			assert_int_equal(sl_image_open(&s.image, &s.view, &tiny_schema, cut, size, &err), -1);
		}
		free(cut);
	}
	free(s.bytes);
}

static void values_name_what_there_is(void **state)
{
	(void) state;
	SPOIL_ROW(item.name, 1, uint32_t, 14, "tiny: item[1].name: a string outside the pool");
	SPOIL_ROW(item.name, 2, uint32_t, UINT32_MAX, "tiny: item[2].name: a string outside the pool");
	SPOIL_ROW(item.next, 0, uint32_t, 3, "tiny: item[0].next: a reference to nothing");
	SPOIL_ROW(item.parts, 2, struct sl_range, ((struct sl_range) { 2, 2 }), "tiny: item[2].parts: a range outside its table");
	SPOIL_ROW(item.parts, 1, struct sl_range, ((struct sl_range) { UINT32_MAX, 2 }),
		  "tiny: item[1].parts: a range outside its table");
	SPOIL_ROW(item.ratio, 0, double, NAN, "tiny: item[0].ratio: not a finite number");
	SPOIL_ROW(item.kind, 0, uint32_t, 4, "tiny: item[0].kind: a number without a meaning");
	SPOIL_ROW(item.bits, 0, uint32_t, 2, "tiny: item[0].bits: a number without a meaning");
	SPOIL_ROW(item.name, 3, uint32_t, 1, "tiny: item.name: bytes between columns are not zero");
	SPOIL(272, char, 'x', SL_EFORMAT, "tiny: strings do not begin and end with NUL");
	SPOIL(285, char, 'x', SL_EFORMAT, "tiny: strings do not begin and end with NUL");
}

static void an_image_must_be_aligned(void **state)
{
	struct spoilt s = make_spoilt();
	unsigned char *moved = malloc(s.size + 4);
	struct sl_error err;

	(void) state;
	memcpy(moved + 4, s.bytes, s.size);
	assert_int_equal(sl_image_open(&s.image, &s.view, &tiny_schema, moved + 4, s.size, &err), -1);
	assert_int_equal(err.code, SL_EINVAL);
	free(moved);
	free(s.bytes);
}

static void an_image_of_another_schema_is_refused(void **state)
{
	struct sl_builder *b = sl_builder_create(&sl_plan_schema, NULL);
	struct sl_snapshot snap;
	struct sl_error err;
	const void *bytes;
	size_t size;

	(void) state;
	make_plan(b, 1, 10, 10);
	assert_int_equal(sl_builder_finish(b, &bytes, &size, &err), 0);
	assert_int_equal(sl_snapshot_open(&snap, bytes, size, &err), -1);
	assert_int_equal(err.code, SL_EFORMAT);
	sl_builder_destroy(b);
}

static void an_image_can_be_laid_out_first_and_filled_in_then(void **state)
{
	const uint32_t rows[TINY_TABLES] = { 1, 2, 0 };
	struct sl_error err;
	struct sl_image image;
	struct tiny view;
	void *bytes;
	size_t size;

	(void) state;
	assert_int_equal(sl_image_measure(&tiny_schema, rows, 6, &size, &err), 0);
	bytes = calloc(1, size);
	sl_image_lay_out(&tiny_schema, bytes, rows, 6, &view);
	memcpy((char *) bytes + size - 5, "name", 5);
	((uint32_t *) (uintptr_t) view.item.name)[1] = 1;
	assert_int_equal(sl_image_open(&image, &view, &tiny_schema, bytes, size, &err), 0);
	assert_string_equal(sl_image_str(&image, view.item.name[1]), "name");
	free(bytes);
	assert_int_equal(sl_image_measure(&tiny_schema, rows, SL_IMAGE_MAX_SIZE, &size, &err), -1);
	assert_int_equal(err.code, SL_ELIMIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_appended_is_read_back),
		cmocka_unit_test(equal_strings_share_one_offset),
		cmocka_unit_test(equal_rows_make_equal_bytes_whatever_was_interned_before),
		cmocka_unit_test(a_builder_can_be_finished_appended_to_and_reset),
		cmocka_unit_test(a_failure_of_the_builder_is_sticky_until_reset),
		cmocka_unit_test(the_header_must_be_the_schemas),
		cmocka_unit_test(a_table_is_where_the_row_counts_put_it_and_nowhere_else),
		cmocka_unit_test(every_prefix_of_an_image_is_refused),
		cmocka_unit_test(values_name_what_there_is),
		cmocka_unit_test(an_image_must_be_aligned),
		cmocka_unit_test(an_image_of_another_schema_is_refused),
		cmocka_unit_test(an_image_can_be_laid_out_first_and_filled_in_then),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
