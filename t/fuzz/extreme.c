/* SPDX-License-Identifier: MIT */
/*
 * Extreme numbers: a small cluster in which some numbers of the snapshot are 0, 1, or as large as
 * their column.  Whatever sl_snapshot_open() takes, the demand of each job is known, the model plans
 * it, and the checker looks at the plan, without an overflow or a division by 0.  The checker may refuse
 * it: of a node without cores on which a job runs there is no right answer.
 *
 * An input is a seed of the cluster, 4 bytes, and then 6 bytes for each number: table, column, row (2),
 * value (2).
 */
#include <string.h>

#include "t/build.h"
#include "t/fuzz/fuzz.h"
#include "auction/bid.h"
#include "check/check.h"
#include "image/snapshot.h"
#include "model/cluster.h"
#include "model/plan.h"
#include "workload/demand.h"

const char fuzz_name[] = "extreme";

#define EDIT 6
#define MOST_EDITS 12

static const uint64_t values[] = {
	0, 1, 2, 3, 7, 255, 256, 65534, 65535, 65536, 65537, 1 << 20, 0x7fffffff, 0x80000000, 0x80000001, UINT32_MAX - 2,
	UINT32_MAX - 1, UINT32_MAX, (uint64_t) 1 << 32, (uint64_t) 1 << 40, INT64_MAX / 1024, INT64_MAX / 2, INT64_MAX - 1,
	INT64_MAX, (uint64_t) INT64_MIN, (uint64_t) -1, (uint64_t) -2,
};

static const int tables[] = {
	SL_T_NODE, SL_T_NODE_GRES, SL_T_PARTITION, SL_T_JOB, SL_T_JOB, SL_T_JOB, SL_T_JOB_GRES, SL_T_RESERVATION, SL_T_LICENSE,
	SL_T_JOB_LICENSE, SL_T_SHAPE, SL_T_ALLOC, SL_T_ALLOC_GRES, SL_T_NODE_TASKS,
};

/* Set one number; a key, a reference, a text or a flag is left alone. */
static void edit(struct sl_builder *b, const uint8_t *at)
{
	int id = tables[at[0] % (sizeof(tables) / sizeof(tables[0]))];
	const struct sl_table *t = &sl_snapshot_schema.table[id];
	const struct sl_column *c = &t->column[at[1] % t->columns];
	uint64_t value = values[at[4] % (sizeof(values) / sizeof(values[0]))] + (at[5] < 16 ? at[5] : 0);
	uint32_t rows = sl_builder_rows(b, id);
	char row[1024];

	MUST(t->row_size <= sizeof(row));
	if (!rows || t->key == (int) (at[1] % t->columns) || sl_schema_words(&sl_snapshot_schema, id, at[1] % t->columns) ||
	    (c->type != SL_TYPE_u32 && c->type != SL_TYPE_i64))
		return;
	sl_builder_row(b, id, (at[2] | (uint32_t) at[3] << 8) % rows, row);
	if (c->type == SL_TYPE_u32)
		memcpy(row + c->row_offset, &(uint32_t) { (uint32_t) value }, sizeof(uint32_t));
	else
		memcpy(row + c->row_offset, &value, sizeof(value));
	sl_builder_update(b, id, (at[2] | (uint32_t) at[3] << 8) % rows, row);
}

static void demand_of_all(const struct sl_snapshot *snap)
{
	struct sl_machine m = { 0 };
	struct sl_demand d;

	MUST(!sl_machine_open(&m, snap, NULL));
	for (uint32_t j = 0; j < snap->job.rows; j++)
		for (uint32_t s = 0; s <= snap->job.shapes[j].count; s++)
			sl_shape_demand(&m, j, s, &d);
	sl_machine_close(&m);
}

static void ask_market(struct sl_plan *p, const struct sl_entry *queue, uint32_t count)
{
	const struct sl_bid_options opt = { .kinds = 1u << SL_BID_A | 1u << SL_BID_B | 1u << SL_BID_C, .max = 3 };
	struct sl_market *m = sl_market_create(p, NULL);
	struct sl_error err;

	MUST(m);
	sl_market_bid(m, queue, count, &opt, &err);
	sl_market_destroy(m);
}

static void check_plan(const struct sl_snapshot *snap, struct sl_plan *p)
{
	struct sl_builder *b = sl_builder_create(&sl_plan_schema, NULL);
	struct sl_plan_image image;
	struct sl_error err = { 0 };
	const void *bytes;
	size_t size;

	MUST(b);
	if (sl_plan_encode(p, &(struct sl_plan_figures) { 0 }, b, &err))
		fuzz_refused(&err);
	else
		MUST(!sl_builder_finish(b, &bytes, &size, &err) && !sl_plan_image_open(&image, bytes, size, &err));
	if (!err.code && sl_check_plan(snap, &image, &err))
		fuzz_refused(&err);
	sl_builder_destroy(b);
}

static void plan_all(const struct sl_snapshot *snap)
{
	struct sl_error err = { 0 };
	struct sl_cluster *c = sl_cluster_create(snap, &err);
	struct sl_plan *p;
	const struct sl_entry *queue;
	uint32_t count;

	if (!c) {
		fuzz_refused(&err);
		return;
	}
	p = sl_plan_create(c, &err);
	MUST(p);
	queue = sl_cluster_queue(c, &count);
	ask_market(p, queue, count);
	for (uint32_t i = 0; i < count; i++) {
		struct sl_refusal refusal;
		int64_t when;
		int r = sl_plan_start(p, queue[i], NULL, &refusal, &err);

		if (!r)
			r = i % 3 ? sl_plan_earliest(p, queue[i], NULL, &when, &refusal, &err) :
				sl_plan_reserve(p, queue[i], NULL, &when, &refusal, &err);
		if (r < 0)
			fuzz_refused(&err);
	}
	check_plan(snap, p);
	sl_plan_destroy(p);
	sl_cluster_destroy(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sl_error err = { .code = SL_OK };
	struct sl_snapshot snap;
	struct build *b;
	const void *bytes;
	uint32_t seed;
	size_t n;

	if (size < sizeof(seed))
		return 0;
	memcpy(&seed, data, sizeof(seed));
	b = build_random_cluster(seed, 1 + seed % 7, 1 + seed % 11);
	sl_builder_update(b->builder, SL_T_META, 0, &b->meta);
	for (size_t at = sizeof(seed), k = 0; at + EDIT <= size && k < MOST_EDITS; at += EDIT, k++)
		edit(b->builder, data + at);
	MUST(!sl_builder_finish(b->builder, &bytes, &n, &err));
	fuzz_accepted++;	/* whatever it makes of the numbers */
	if (sl_snapshot_open(&snap, bytes, n, &err) == 0) {
		demand_of_all(&snap);
		plan_all(&snap);
	} else {
		fuzz_refused(&err);
	}
	build_destroy(b);
	return 0;
}

size_t fuzz_make(uint8_t *to, uint64_t *seed)
{
	size_t size = 4 + EDIT * (size_t) make_below(seed, MOST_EDITS);

	for (size_t i = 0; i < size; i++)
		to[i] = (uint8_t) make_random(seed);
	return size;
}
