/* SPDX-License-Identifier: MIT */
/* page_machine.c - GPUs by type, and blocks of nodes, as the live page shows them (web/page_data.h). */
#include "web/page_data.h"

#include "tool/blocks_now.h"
#include "tool/gpus_now.h"

static void put_sort(struct sl_json *j, const struct sl_gpu_sort *sort)
{
	sl_json_begin_object(j);
	sl_json_put_str(j, "type", sort->type);
	sl_json_put_int(j, "all", (int64_t) sort->all);
	sl_json_put_int(j, "used", (int64_t) sort->used);
	sl_json_put_int(j, "shared", (int64_t) sort->shared);
	sl_json_put_int(j, "off", (int64_t) sort->off);
	sl_json_put_int(j, "free", (int64_t) sort->free);
	sl_json_put_int(j, "free_nodes", sort->free_nodes);
	sl_json_put_int(j, "coreless", (int64_t) sort->coreless);
	sl_json_put_int(j, "most", sort->most);
	sl_json_put_int(j, "most_nodes", sort->most_nodes);
	sl_json_end_object(j);
}

/* Sums, as those by partition: of the nodes of partitions that the viewer may see. */
static void put_gpus(const struct sl_page *p, struct sl_json *j)
{
	struct sl_gpus_now g;
	struct sl_error err;

	if (sl_gpus_now_read(&g, &p->look->snap, p->seen->partition, &err))
		return;
	if (g.sorts) {
		sl_json_open_object(j, "gpus");
		sl_json_open_array(j, "sorts");
		for (uint32_t i = 0; i < g.sorts; i++)
			put_sort(j, &g.sort[i]);
		if (g.sorts > 1)
			put_sort(j, &g.all);
		sl_json_end_array(j);
		if (!p->hides && !p->seen->some) {	/* what those who wait ask for is theirs */
			sl_json_put_int(j, "waiting", g.waiting);
			sl_json_put_int(j, "no_use", (int64_t) g.no_use);
		}
		sl_json_end_object(j);
	}
	sl_gpus_now_clear(&g);
}

/* Which nodes are in which block: a number of nodes and their block in turn; -1: in none. */
static void put_block_of(const struct sl_blocks_now *b, uint32_t nodes, struct sl_json *j)
{
	uint32_t runs = 0;

	sl_json_open_array(j, "of");
	for (uint32_t i = 0, n; i < nodes && runs < SL_PAGE_RUNS; i += n, runs++) {
		for (n = 1; i + n < nodes && b->of[i + n] == b->of[i]; n++)
			;
		sl_json_int(j, n);
		sl_json_int(j, b->of[i] == SL_NONE ? -1 : (int64_t) b->of[i]);
	}
	sl_json_end_array(j);
}

static void put_blocks(const struct sl_page *p, struct sl_json *j)
{
	const struct sl_snapshot *s = p->seen->snap;
	struct sl_blocks_now b;
	struct sl_error err;

	if (p->hides & SL_HIDE_NODES || sl_blocks_now_read(&b, s, p->look->used, &err))
		return;
	if (b.blocks) {
		sl_json_open_object(j, "blocks");
		sl_json_put_int(j, "all", b.blocks);
		sl_json_put_int(j, "whole", b.whole);
		sl_json_open_array(j, "names");
		for (uint32_t i = 0; i < b.blocks && i < SL_PAGE_NODES; i++)
			sl_json_str(j, b.block[i].name);
		sl_json_end_array(j);
		put_block_of(&b, s->node.rows < SL_PAGE_NODES ? s->node.rows : SL_PAGE_NODES, j);
		sl_json_end_object(j);
	}
	sl_blocks_now_clear(&b);
}

void sl_page_put_machine(const struct sl_page *p, struct sl_json *j)
{
	put_gpus(p, j);
	put_blocks(p, j);
}
