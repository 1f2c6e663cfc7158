/* SPDX-License-Identifier: MIT */
#include "image/copy.h"

#include <string.h>

/* No row struct of a schema that is copied is larger. */
#define ROW_MAX 2048

static const unsigned char *table_view(const struct sl_schema *schema, const void *view, int table)
{
	return (const unsigned char *) view + schema->table[table].view_offset;
}

/* The rows of a table in an image. */
static uint32_t table_rows(const struct sl_schema *schema, const void *view, int table)
{
	uint32_t rows;

	memcpy(&rows, table_view(schema, view, table), sizeof(rows));
	return rows;
}

/* The rows that a range names, appended; where they stand now. */
static struct sl_range copy_range(struct sl_image_copy *c, int table, struct sl_range from)
{
	_Alignas(8) unsigned char row[ROW_MAX];
	struct sl_range to = { 0, from.count };

	for (uint32_t i = 0; i < from.count; i++) {
		uint32_t at;

		sl_image_copy_row(c, table, from.first + i, row);
		at = sl_builder_append(c->to, table, row);
		if (!i)
			to.first = at;
	}
	return to;
}

static uint32_t copy_ref(struct sl_image_copy *c, int table, uint32_t ref)
{
	uint32_t to = ref == SL_NONE || !c->map[table] ? ref : c->map[table][ref];

	c->lost |= to == SL_NONE && ref != SL_NONE;
	return to;
}

void sl_image_copy_row(struct sl_image_copy *c, int table, uint32_t number, void *row)
{
	const struct sl_table *t = &c->image->schema->table[table];
	const unsigned char *view = table_view(c->image->schema, c->view, table);

	memset(row, 0, t->row_size);
	for (uint32_t i = 0; i < t->columns; i++) {
		const struct sl_column *col = &t->column[i];
		unsigned char *to = (unsigned char *) row + col->row_offset;
		const void *from;
		struct sl_range range;
		uint32_t n;

		memcpy(&from, view + col->view_offset, sizeof(from));
		switch (col->type) {
		case SL_TYPE_i64:
		case SL_TYPE_f64:
			memcpy(to, (const int64_t *) from + number, sizeof(int64_t));
			break;
		case SL_TYPE_range:
			range = copy_range(c, col->target, ((const struct sl_range *) from)[number]);
			memcpy(to, &range, sizeof(range));
			break;
		default:
			n = ((const uint32_t *) from)[number];
			if (col->type == SL_TYPE_str)
				n = sl_builder_str(c->to, sl_image_str(c->image, n));
			else if (col->type == SL_TYPE_ref)
				n = copy_ref(c, col->target, n);
			memcpy(to, &n, sizeof(n));
		}
	}
}

void sl_image_copy_table(struct sl_image_copy *c, int table)
{
	_Alignas(8) unsigned char row[ROW_MAX];
	uint32_t rows = table_rows(c->image->schema, c->view, table);

	for (uint32_t i = 0; i < rows; i++) {
		sl_image_copy_row(c, table, i, row);
		sl_builder_append(c->to, table, row);
	}
}
