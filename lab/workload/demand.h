/* SPDX-License-Identifier: MIT */
/*
 * demand.h - how much a job asks for, as one figure each.
 *
 * What metrics, bounds and workload readers need to know of a request without a
 * timeline: it reads the row as timeline/place.h does, on the empty machine.
 *
 * Ownership: a machine borrows its snapshot.  Threads: none.
 */
#ifndef SL_DEMAND_H
#define SL_DEMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "image/snapshot.h"

/* Nodes that are alike. */
struct sl_machine_kind {
	uint32_t node;			/* one of them */
	uint32_t nodes;
	uint32_t cores, threads;
	uint32_t gpus;			/* of all types */
	int64_t memory;			/* MiB; 0: not known */
};

struct sl_machine {
	const struct sl_snapshot *snap;
	struct sl_machine_kind *kind;	/* the most cores first, then the most GPUs */
	uint32_t kinds;
	uint64_t nodes, cores, gpus;	/* of usable nodes */
	uint32_t threads;		/* the most that any node has */
	struct sl_capacity *room;	/* working memory */
};

struct sl_demand {
	uint64_t cores;			/* asked for in all */
	uint64_t gpus;			/* in all, on the fewest nodes */
	uint32_t nodes;			/* the fewest that could hold it; SL_NONE: none could */
	/* How its parts look, for bounds. */
	uint32_t node_cores;		/* exactly so many cores on each node; 0: not said */
	uint32_t task_cores;		/* cores that stay together: of a task, or 1 */
	uint32_t node_gpus;		/* GPUs on each node it has */
	uint32_t task_gpus;		/* GPUs of each task */
	uint32_t job_gpus;		/* GPUs wherever they are */
	uint64_t tasks;			/* 0: not said */
	bool fixed_nodes;		/* on .nodes nodes and no others */
	bool whole_nodes;
};

/* The usable nodes of a snapshot by kind.  Returns 0, or -1 with *err (SL_ENOMEM). */
int sl_machine_open(struct sl_machine *m, const struct sl_snapshot *snap, struct sl_error *err);
void sl_machine_close(struct sl_machine *m);

/* What job row *job* asks for; and what one of its alternatives does, from 1, which asks
 * for itself where *shape* is 0. */
void sl_job_demand(const struct sl_machine *m, uint32_t job, struct sl_demand *d);
void sl_shape_demand(const struct sl_machine *m, uint32_t job, uint32_t shape, struct sl_demand *d);

/* Could the machine hold it, as it asks or as one of its alternatives? */
bool sl_job_could_run(const struct sl_machine *m, uint32_t job);

#endif
