/* SPDX-License-Identifier: MIT */
/*
 * conf/topology_blocks.c - BlockSizes of topology/block, as block_record_validate() of slurmctld has them (24.05 to 26.05); see
 * conf/private.h.
 *
 * The first size is that of a base block, or, without any, the nodes of the first block.  Each other one is that times a power
 * of two.  A job is placed in one block of the smallest size that is large enough, or in all of them.
 */
#include "conf/private.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "base/lines.h"

#define USUAL_LEVELS 0x1fu		/* without BlockSizes: 1, 2, 4, 8 and 16 base blocks */

static int add_size(struct sl_conf_switches *s, struct sl_conf_where where, const char *text, struct sl_error *err)
{
	int64_t n;
	uint64_t blocks;

	if (!sl_scan_whole(text, &n) || n < 1 || n > UINT32_MAX)
		return sl_conf_fail(where, err, "BlockSizes: \"%.40s\": expected a number of nodes", text);
	blocks = s->sizes ? (uint64_t) n / s->size[0] : 1;
	if ((s->sizes && (uint64_t) n % s->size[0]) || blocks & (blocks - 1) || !blocks || blocks >> (SL_CONF_LEVELS - 1) > 1)
		return sl_conf_fail(where, err, "BlockSizes: %s: expected the first size, %" PRIu64 ", times a power of two", text, s->size[0]);
	for (uint32_t i = 0; i < s->sizes; i++)
		if (s->size[i] == (uint64_t) n)
			return 0;
	s->size[s->sizes++] = (uint64_t) n;
	return 0;
}

int sl_conf_add_block_sizes(struct sl_conf_switches *s, struct sl_conf_where where, const char *text, struct sl_error *err)
{
	char word[48];

	for (text += strspn(text, ", \t"); *text; text += strspn(text, ", \t")) {
		size_t n = strcspn(text, ", \t");

		snprintf(word, sizeof(word), "%.*s", (int) (n < sizeof(word) ? n : sizeof(word) - 1), text);
		if (add_size(s, where, word, err))
			return -1;
		text += n;
	}
	return 0;
}

/* Bit *l*: there are blocks of 2^l base blocks. */
static uint32_t levels_of(const struct sl_conf_switches *s)
{
	uint32_t levels = s->sizes ? 1 : USUAL_LEVELS;

	for (uint32_t i = 1; i < s->sizes; i++)
		levels |= (uint32_t) (s->size[i] / s->size[0]);
	return levels;
}

struct sl_conf_topology sl_conf_resolve_blocks(struct sl_conf *c, const struct sl_conf_switches *s, const uint32_t *members)
{
	struct sl_conf_topology t = { .block_nodes = s->sizes ? (uint32_t) s->size[0] : 0 };
	uint32_t levels = levels_of(s);

	for (uint32_t i = 0; i < s->count && !t.block_nodes; i++)
		t.block_nodes = members[i];
	for (uint32_t i = 0; i < s->count; i++)
		if (s->at[i].nodes && members[i] < t.block_nodes)
			sl_conf_note(c, s->at[i].where, "block %s has %" PRIu32 " nodes, a block is of %" PRIu32 ": slurmctld takes that since 25.05",
				     s->at[i].name, members[i], t.block_nodes);
	for (uint32_t level = 1; level < SL_CONF_LEVELS; level++)
		t.block_levels |= levels >> level & 1 && UINT32_C(1) << level < s->count;
	return t;
}

int sl_conf_add_topology(struct sl_conf *c, const char *name, struct sl_error *err)
{
	struct sl_conf_own *own = c->own;

	if (sl_grow(&own->name, &own->name_room, own->names + UINT64_C(1), sizeof(*own->name), err))
		return -1;
	own->name[own->names++] = name;
	return 0;
}
