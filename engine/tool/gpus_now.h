/* SPDX-License-Identifier: MIT */
/*
 * gpus_now.h - the GPUs of a snapshot as they are now: in use, free, and whether what is free lies together.
 *
 * A GPU is one of a gres of the name "gpu", whatever its type.  It is in use if a job holds it, or a share of it (shard, mps);
 * jobs that are suspended hold nothing, as in tool/look.h.
 *
 * Ownership: sl_gpus_now_clear() gives back what sl_gpus_now_read() has allocated; names are the snapshot's.  Threads: none.
 */
#ifndef SL_GPUS_NOW_H
#define SL_GPUS_NOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image/snapshot.h"

/* GPUs of one type, or all. */
struct sl_gpu_sort {
	const char *type;		/* "": the type is not said */
	uint64_t all, used;		/* used: also on nodes that are down or drained */
	uint64_t shared;		/* of those in use: by shares alone */
	uint64_t off;			/* not in use, on nodes that are down or drained */
	uint64_t free;			/* all - used - off */
	uint64_t coreless;		/* of the free ones: on nodes with no free core */
	uint32_t free_nodes;		/* nodes that have the free ones */
	uint32_t most, most_nodes;	/* the most that are free on one node beside a free core, and how many nodes have as many */
};

struct sl_gpus_now {
	struct sl_gpu_sort all;		/* nodes with several types count once */
	struct sl_gpu_sort *sort;	/* by type, in the order of the snapshot's kinds */
	uint32_t sorts;			/* 0: there are no GPUs */
	uint32_t waiting;		/* jobs that ask for GPUs and could start */
	uint64_t no_use;		/* free GPUs on nodes on which none of these can have a node's share of what it asks for */
};

/*
 * Read them from a snapshot: of the nodes of those partitions alone of which *shown* (by row; NULL: all) is true.
 * The jobs that wait are those of the queue in these partitions.  0, or -1 with *err, where there is no memory.
 */
int sl_gpus_now_read(struct sl_gpus_now *g, const struct sl_snapshot *snap, const bool *shown, struct sl_error *err);
void sl_gpus_now_clear(struct sl_gpus_now *g);

/* "8 free on 8 nodes, at most 1 on one", in *text*. */
const char *sl_gpus_now_say(const struct sl_gpu_sort *sort, char *text, size_t size);

#endif
