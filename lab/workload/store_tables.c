/* SPDX-License-Identifier: MIT */
/* store_tables.c - columns of the image of a workload, by the schema alone; see private.h */
#include <string.h>

#include "workload/private.h"

void sl_store_fill_defaults(const struct sl_job_view *view)
{
	const struct sl_table *table = &sl_snapshot_schema.table[SL_T_JOB];
	const unsigned char *base = (const unsigned char *) view;

	for (uint32_t c = 0; c < table->columns; c++) {
		const struct sl_column *col = &table->column[c];
		void *to;

		memcpy(&to, base + col->view_offset, sizeof(to));
		if (col->type == SL_TYPE_u32 && col->missing)
			for (uint32_t r = 0; r < view->rows; r++)
				((uint32_t *) to)[r] = col->missing;
		else if (col->type == SL_TYPE_i64 && col->missing)
			for (uint32_t r = 0; r < view->rows; r++)
				((int64_t *) to)[r] = col->missing;
		else if (col->type == SL_TYPE_ref)
			for (uint32_t r = 0; r < view->rows; r++)
				((uint32_t *) to)[r] = SL_NONE;
	}
}

void sl_store_copy_tables(const struct sl_snapshot *from, void *to, const uint32_t *rows)
{
	const struct sl_schema *schema = &sl_snapshot_schema;

	for (int t = 0; t < schema->tables; t++) {
		const struct sl_table *table = &schema->table[t];

		if (t == SL_T_JOB || t == SL_T_JOB_GRES)
			continue;
		for (uint32_t c = 0; c < table->columns; c++) {
			size_t at = table->view_offset + table->column[c].view_offset;
			enum sl_type type = table->column[c].type;
			size_t width = type == SL_TYPE_i64 || type == SL_TYPE_f64 || type == SL_TYPE_range ? 8 : 4;
			void *dst;
			const void *src;

			memcpy(&dst, (const char *) to + at, sizeof(dst));
			memcpy(&src, (const char *) from + at, sizeof(src));
			memcpy(dst, src, width * rows[t]);
		}
	}
}

void sl_store_count_rows(const struct sl_snapshot *machine, uint32_t *rows)
{
	for (int t = 0; t < SL_SNAPSHOT_TABLES; t++)
		memcpy(&rows[t], (const char *) machine + sl_snapshot_schema.table[t].view_offset, sizeof(*rows));
}
