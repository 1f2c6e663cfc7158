/* SPDX-License-Identifier: MIT */
/* top_machine.c - GPUs and blocks on the page of schedlua top (tool/top.h). */
#include "tool/top.h"

#include <inttypes.h>

#include "tool/blocks_now.h"
#include "tool/gpus_now.h"

#define TYPES 4			/* lines of types of GPUs */

static void put_sort(struct sl_top *t, const char *head, const char *type, const struct sl_gpu_sort *sort)
{
	struct sl_screen *s = &t->screen;
	char text[200];

	sl_screen_put(s, SL_STYLE_BOLD, 7, "%s", head);
	sl_screen_put(s, SL_STYLE_PLAIN, 11, "%s", type);
	sl_screen_put(s, SL_STYLE_PLAIN, -12, "%" PRIu64 "/%" PRIu64, sort->used, sort->all);
	sl_screen_put(s, SL_STYLE_PLAIN, -5, "%.0f%%", 100.0 * (double) sort->used / (double) sort->all);
	sl_screen_put(s, SL_STYLE_PLAIN, 0, "  %s", sl_gpus_now_say(sort, text, sizeof(text)));
	if (sort->shared)
		sl_screen_put(s, SL_STYLE_PLAIN, 0, "; %" PRIu64 " in use in part", sort->shared);
	if (sort->off)
		sl_screen_put(s, SL_STYLE_RED, 0, "; %" PRIu64 " down or drained", sort->off);
	sl_screen_next(s);
}

/* What of the free GPUs is of no use to those who wait. */
static void put_no_use(struct sl_top *t, const struct sl_gpus_now *g)
{
	struct sl_screen *s = &t->screen;

	if (!g->no_use || !g->waiting)
		return;
	sl_screen_put(s, SL_STYLE_PLAIN, 7, "%s", "");
	sl_screen_put(s, SL_STYLE_RED, 0, "%" PRIu64 " of the free ones %s on nodes where ", g->no_use, g->no_use == 1 ? "is" : "are");
	if (g->waiting == 1)
		sl_screen_put(s, SL_STYLE_RED, 0, "the one job that waits for GPUs does not fit");
	else
		sl_screen_put(s, SL_STYLE_RED, 0, "none of the %" PRIu32 " jobs that wait for GPUs fits", g->waiting);
	sl_screen_next(s);
}

static void put_gpus(struct sl_top *t)
{
	struct sl_gpus_now g;
	struct sl_error err;
	uint32_t shown;

	if (sl_gpus_now_read(&g, &t->seen.snap, NULL, &err))
		return;
	shown = g.sorts > TYPES ? TYPES - 1 : g.sorts;
	if (g.sorts > 1)
		put_sort(t, "GPUS", "in all", &g.all);
	for (uint32_t i = 0; i < shown; i++)
		put_sort(t, g.sorts > 1 ? "" : "GPUS", *g.sort[i].type || g.sorts == 1 ? g.sort[i].type : "(no type)", &g.sort[i]);
	if (shown < g.sorts) {
		sl_screen_put(&t->screen, SL_STYLE_DIM, 0, "       and %" PRIu32 " more types", g.sorts - shown);
		sl_screen_next(&t->screen);
	}
	put_no_use(t, &g);
	sl_gpus_now_clear(&g);
}

/* Some blocks that stand next to each other, as a cell. */
static void put_blocks_cell(struct sl_top *t, const struct sl_block_now *block, uint32_t count)
{
	struct sl_block_now all = { 0 };

	for (uint32_t i = 0; i < count; i++) {
		all.nodes += block[i].nodes;
		all.busy += block[i].busy;
		all.off += block[i].off;
	}
	if (all.off == all.nodes)
		sl_screen_put(&t->screen, SL_STYLE_RED, 1, "x");
	else
		sl_top_put_level(t, all.off ? SL_STYLE_RED : SL_STYLE_GREEN, all.busy, all.nodes);
}

static void put_blocks(struct sl_top *t)
{
	struct sl_screen *s = &t->screen;
	struct sl_blocks_now b;
	struct sl_error err;
	uint32_t room, each;

	if (sl_blocks_now_read(&b, &t->seen.snap, t->seen.used, &err))
		return;
	if (b.blocks) {
		sl_screen_put(s, SL_STYLE_BOLD, 7, "BLOCKS");
		sl_screen_put(s, SL_STYLE_PLAIN, 0, "%" PRIu32 " of %" PRIu32 " free  ", b.whole, b.blocks);
		room = s->columns > s->x + 2 ? (uint32_t) (s->columns - s->x - 1) : 1;
		each = (b.blocks + room - 1) / room;
		for (uint32_t i = 0; i < b.blocks; i += each)
			put_blocks_cell(t, b.block + i, b.blocks - i < each ? b.blocks - i : each);
		sl_screen_next(s);
	}
	sl_blocks_now_clear(&b);
}

void sl_top_put_machine(struct sl_top *t)
{
	put_gpus(t);
	put_blocks(t);
}
