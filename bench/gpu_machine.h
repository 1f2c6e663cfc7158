/* SPDX-License-Identifier: MIT */
/*
 * gpu_machine.h - a machine of alike nodes with GPUs, in one partition.
 */
#ifndef SL_BENCH_GPU_MACHINE_H
#define SL_BENCH_GPU_MACHINE_H

#include <inttypes.h>
#include <stdio.h>

#include "image/snapshot.h"

/* Of each node so many GPUs, cores and MiB of memory (0: not counted). */
static inline void add_gpu_machine(struct sl_builder *b, uint32_t nodes, uint32_t gpus, uint32_t cores, int64_t memory)
{
	struct sl_gres_kind_row gpu = sl_gres_kind_row();
	struct sl_partition_row part = sl_partition_row();
	struct sl_run_row run = { 0, nodes - 1 };

	gpu.key = gpu.name = sl_builder_str(b, "gpu");
	sl_builder_append(b, SL_T_GRES_KIND, &gpu);
	for (uint32_t i = 0; i < nodes; i++) {
		struct sl_node_gres_row gres = { .kind = 0, .count = gpus, .share = SL_NONE };
		struct sl_node_row node = sl_node_row();
		char name[16];

		snprintf(name, sizeof(name), "n%" PRIu32, i);
		node.name = sl_builder_str(b, name);
		node.cores = cores;
		node.memory = memory;
		node.gres = (struct sl_range) { sl_builder_append(b, SL_T_NODE_GRES, &gres), 1 };
		sl_builder_append(b, SL_T_NODE, &node);
	}
	part.name = sl_builder_str(b, "gpu");
	part.nodes = (struct sl_range) { sl_builder_append(b, SL_T_RUN, &run), 1 };
	sl_builder_append(b, SL_T_PARTITION, &part);
}

#endif
