/* SPDX-License-Identifier: MIT */
/*
 * scene.h - a snapshot of a machine of equal nodes, 8 cores and 2 GPUs each, for
 * measurements: what bench/plan and bench/bid put their jobs on.
 *
 * Nodes come first, then running jobs, then pending ones, by the caller.  Running out of
 * memory ends the program.
 */
#ifndef SCENE_H
#define SCENE_H

#include "image/snapshot.h"

#define NOW 1000000

/* A builder with the nodes, and one partition of them. */
struct sl_builder *scene_create(uint32_t nodes);

/* A job on *count* nodes from *first* on, with so much on each; it ends within a day. */
void scene_run(struct sl_builder *b, uint32_t id, uint32_t first, uint32_t count, uint32_t cores, uint32_t gpus);

/* A pending job, queued. */
void scene_queue(struct sl_builder *b, const struct sl_job_row *job);

/* The builder becomes a snapshot, and is gone.  The bytes it stands in, to be freed. */
void *scene_open(struct sl_builder *b, struct sl_snapshot *snap);

#endif
