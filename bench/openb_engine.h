/* SPDX-License-Identifier: MIT */
/*
 * openb_engine.h - the machine of bench/openb as a timeline of the engine, whose placement scores choose the nodes.
 *
 * Ownership: the caller's, until openb_engine_destroy().  Running out of memory ends the program.  Threads: none.
 */
#ifndef OPENB_ENGINE_H
#define OPENB_ENGINE_H

#include "bench/openb_lua.h"
#include "bench/openb_score.h"
#include "timeline/score.h"

#define CPU_MILLI_OF_CORE 2	/* a core of the engine's: so that a node has no more than it can count */
#define OPENB_CORES(cores) ((cores) * (CPU_MILLI_OF_CORE / 1000.0))	/* of the trace's */

struct openb_engine;

/* Empty nodes, in their order.  *method*: a bundled score; any device can be chosen for a part of a GPU, or (*first*) the first
 * that has enough, as Slurm does.  *own*: the score of SL_PLACE_OWN, borrowed, or NULL. */
struct openb_engine *openb_engine_create(const struct openb_node *node, uint32_t nodes, const struct openb_mix *mix,
					 enum sl_place_method method, bool first,
					 struct openb_lua *own);
void openb_engine_destroy(struct openb_engine *e);

/* Start a job: its node, or UINT32_MAX if it fits nowhere. */
uint32_t openb_engine_start(struct openb_engine *e, const struct openb_job *job);

#endif
