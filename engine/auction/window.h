/* SPDX-License-Identifier: MIT */
/*
 * window.h - a window of jobs against classes of nodes, for integer programs.
 *
 * Nodes that are alike in everything that matters to these jobs are one class: the same
 * kind (partitions, features, weight) and as much free.  "Free" depends on how long a job
 * runs: a reservation later on takes from what long jobs may use.  So jobs have levels:
 * walltimes between which nothing changes are one level, and level l of a class is the
 * least that is free from now until the longest job of that level ends.  What all
 * jobs of level l and above take together must fit into level l, for every l; that is
 * exact, since levels only lose.
 *
 * Nodes that would have to boot first are of no use here: who needs some is started by the placement, which knows what
 * they cost.
 *
 * Requests are given in cores and nodes.  What they do not say (which nodes must be among
 * them, consecutive nodes, gres by task) the plan looks at when a job is started.
 *
 * Ownership: a window owns everything but the cluster.  Threads: none.
 */
#ifndef SL_WINDOW_H
#define SL_WINDOW_H

#include "base/allowance.h"
#include "model/cluster.h"

#define SL_WINDOW_LEVELS 8	/* with more, those beside each other are one */

struct sl_window_free {
	int64_t cores, gpus, memory;	/* of each node; GPUs of all types together */
};

struct sl_window_class {
	struct sl_nodeset nodes;
	uint32_t weight;
	int64_t capacity;		/* cores of an empty node */
	struct sl_window_free free[SL_WINDOW_LEVELS];
};

struct sl_window_job {
	bool never, native;		/* it cannot run at all; nobody can say where, as of a bid */
	bool divisible;			/* nothing but cores, on any nodes */
	bool whole, contiguous;
	uint32_t level;			/* from 0 */
	uint32_t set;			/* which nodes it may use */
	int64_t cores, unit;		/* in all; of one task */
	int64_t least, most;		/* cores of a node; most 0: no limit */
	uint32_t min_nodes, max_nodes;	/* max 0: no limit */
	int64_t gpus, memory, core_memory;	/* of each node; for each core */
	int64_t seconds;		/* sl_cluster_needs_nodes_s() */
};

struct sl_window {
	uint32_t levels, classes, jobs, sets;
	struct sl_window_class *cls;	/* by first node; with a core free now, of use to some job */
	struct sl_window_job *job;	/* as given */
	uint32_t *usable;		/* [class * sets + set]: nodes of the class that the set has */
};

/* Returns 0, or -1 with *err: SL_ENOMEM, SL_EINVAL for an entry that does not exist. */
int sl_window_make(struct sl_window *w, struct sl_cluster *c, const struct sl_entry *entry, uint32_t entries,
		   const struct sl_allowance *allowance, struct sl_error *err);
void sl_window_free(struct sl_window *w);

#endif
