/* SPDX-License-Identifier: MIT */
/*
 * blocks_now.h - the blocks of nodes of a snapshot as they are now.
 *
 * A block is the nodes of one leaf switch, or one block of topology/block: those whose path in the topology is the same.
 *
 * Ownership: sl_blocks_now_clear() gives back what sl_blocks_now_read() has allocated; names are the snapshot's.  Threads: none.
 */
#ifndef SL_BLOCKS_NOW_H
#define SL_BLOCKS_NOW_H

#include "image/snapshot.h"

struct sl_block_now {
	const char *name;		/* of the leaf */
	uint32_t nodes;
	uint32_t busy;			/* with a job on them */
	uint32_t off;			/* down or drained, and without a job */
};

struct sl_blocks_now {
	struct sl_block_now *block;	/* in the order of their first nodes */
	uint32_t *of;			/* by node: its block; SL_NONE: it is in none */
	uint32_t blocks;		/* 0: the machine has none, or a single one */
	uint32_t whole;			/* all of whose nodes are up and without a job */
};

/* Read them; *used*: cores in use by node, as in struct sl_look.  0, or -1 with *err, where there is no memory. */
int sl_blocks_now_read(struct sl_blocks_now *b, const struct sl_snapshot *snap, const uint32_t *used, struct sl_error *err);
void sl_blocks_now_clear(struct sl_blocks_now *b);

#endif
