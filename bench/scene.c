/* SPDX-License-Identifier: MIT */
#include "bench/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure.h"
#include "t/random.h"

struct sl_builder *scene_create(uint32_t nodes)
{
	struct sl_error err;
	struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, &err);
	struct sl_meta_row meta = sl_meta_row();
	struct sl_gres_kind_row gpu = sl_gres_kind_row();
	struct sl_partition_row part = sl_partition_row();
	struct sl_run_row run = { 0, nodes - 1 };

	if (!b)
		give_up("scene", &err);
	meta.now = NOW;
	sl_builder_append(b, SL_T_META, &meta);
	gpu.key = gpu.name = sl_builder_str(b, "gpu");
	sl_builder_append(b, SL_T_GRES_KIND, &gpu);
	for (uint32_t i = 0; i < nodes; i++) {
		struct sl_node_gres_row gres = { .kind = 0, .count = 2 };
		struct sl_node_row node = sl_node_row();
		char name[16];

		snprintf(name, sizeof(name), "n%u", i);
		node.name = sl_builder_str(b, name);
		node.cores = 8;
		node.gres = (struct sl_range) { sl_builder_append(b, SL_T_NODE_GRES, &gres), 1 };
		sl_builder_append(b, SL_T_NODE, &node);
	}
	part.name = sl_builder_str(b, "batch");
	part.nodes = (struct sl_range) { sl_builder_append(b, SL_T_RUN, &run), 1 };
	sl_builder_append(b, SL_T_PARTITION, &part);
	return b;
}

void scene_run(struct sl_builder *b, uint32_t id, uint32_t first, uint32_t count, uint32_t cores, uint32_t gpus)
{
	struct sl_job_row job = sl_job_row();

	job.id = id;
	job.partition = 0;
	job.state = SL_JOB_RUNNING;
	job.end_time = NOW + 60 * (1 + below(1440));
	job.alloc = (struct sl_range) { sl_builder_rows(b, SL_T_ALLOC), count };
	for (uint32_t i = 0; i < count; i++) {
		struct sl_alloc_gres_row g = { .kind = 0, .count = gpus };
		struct sl_alloc_row a = { .node = first + i, .cores = cores };

		if (gpus)
			a.gres = (struct sl_range) { sl_builder_append(b, SL_T_ALLOC_GRES, &g), 1 };
		sl_builder_append(b, SL_T_ALLOC, &a);
	}
	sl_builder_append(b, SL_T_JOB, &job);
}

void scene_queue(struct sl_builder *b, const struct sl_job_row *job)
{
	struct sl_queue_row q = { .partition = 0, .priority = 100 };

	q.job = sl_builder_append(b, SL_T_JOB, job);
	sl_builder_append(b, SL_T_QUEUE, &q);
}

void *scene_open(struct sl_builder *b, struct sl_snapshot *snap)
{
	struct sl_error err;
	const void *bytes;
	void *copy;
	size_t size;

	if (sl_builder_finish(b, &bytes, &size, &err) < 0)
		give_up("scene", &err);
	copy = malloc(size);
	if (!copy)
		sl_fail(&err, SL_ENOMEM, "out of memory");
	else
		memcpy(copy, bytes, size);
	sl_builder_destroy(b);
	if (!copy || sl_snapshot_open(snap, copy, size, &err) < 0)
		give_up("scene", &err);
	return copy;
}
