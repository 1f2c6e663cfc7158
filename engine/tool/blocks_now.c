/* SPDX-License-Identifier: MIT */
#include "tool/blocks_now.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

static const char *path_of(const struct sl_snapshot *s, uint32_t node)
{
	return sl_snapshot_str(s, s->node.topology[node]);
}

/* The block of that path; SL_NONE: there is none so far.  *first*: by block, its first node. */
static uint32_t find_block(const struct sl_map *map, const struct sl_snapshot *s, const uint32_t *first, const char *path)
{
	SL_MAP_EACH(map, sl_hash_text(SL_HASH, path), at)
		if (!strcmp(path_of(s, first[at.value]), path))
			return (uint32_t) at.value;
	return SL_NONE;
}

static int add_node(struct sl_blocks_now *b, struct sl_map *map, const struct sl_snapshot *s, uint32_t *first, uint32_t node, struct sl_error *err)
{
	const char *path = path_of(s, node), *dot = strrchr(path, '.');
	uint32_t at;

	b->of[node] = SL_NONE;
	if (!*path)
		return 0;
	at = find_block(map, s, first, path);
	if (at == SL_NONE) {
		at = b->blocks++;
		first[at] = node;
		b->block[at] = (struct sl_block_now) { .name = dot ? dot + 1 : path };
		if (sl_map_put(map, sl_hash_text(SL_HASH, path), at, err))
			return -1;
	}
	b->of[node] = at;
	return 0;
}

static void count(struct sl_blocks_now *b, const struct sl_snapshot *s, const uint32_t *used)
{
	for (uint32_t n = 0; n < s->node.rows; n++) {
		struct sl_block_now *block = b->of[n] == SL_NONE ? NULL : &b->block[b->of[n]];

		if (!block)
			continue;
		block->nodes++;
		block->busy += used[n] > 0;
		block->off += !used[n] && (s->node.state[n] & SL_NODE_UNUSABLE);
	}
	for (uint32_t i = 0; i < b->blocks; i++)
		b->whole += !b->block[i].busy && !b->block[i].off;
}

int sl_blocks_now_read(struct sl_blocks_now *b, const struct sl_snapshot *s, const uint32_t *used, struct sl_error *err)
{
	uint32_t *first = calloc(s->node.rows + 1u, sizeof(*first));
	struct sl_map map = { 0 };
	int rc = 0;

	*b = (struct sl_blocks_now) {
		.block = calloc(s->node.rows + 1u, sizeof(*b->block)), .of = calloc(s->node.rows + 1u, sizeof(*b->of)),
	};
	if (!first || !b->block || !b->of)
		rc = sl_fail(err, SL_ENOMEM, "blocks: out of memory");
	for (uint32_t n = 0; !rc && n < s->node.rows; n++)
		rc = add_node(b, &map, s, first, n, err);
	sl_map_free(&map);
	free(first);
	if (rc || b->blocks < 2)
		sl_blocks_now_clear(b);
	else
		count(b, s, used);
	return rc;
}

void sl_blocks_now_clear(struct sl_blocks_now *b)
{
	free(b->block);
	free(b->of);
	*b = (struct sl_blocks_now) { 0 };
}
