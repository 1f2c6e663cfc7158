/* SPDX-License-Identifier: MIT */
/*
 * bound.h - a makespan that no schedule of a workload can beat.
 *
 * So that a utilization is always seen beside what is possible at all.  The bound is the greatest of
 *
 *	longest		a job's submission + runtime
 *	area		core-seconds / cores
 *	GPU area	GPU-seconds / GPUs
 *	nodes		node-seconds / nodes, counted in two ways
 *
 * the latter three also for the jobs submitted from some instant on, added to that instant.  A part is what
 * a job must have on one node.  In the first way a part with more than half of the cores of the largest node
 * counts as one node, because no two of these fit on one, and a part of exactly half as half a node.  In the second way a part with all cores of the
 * largest node counts as one node, and GPUs count as a share of the node that has most: no job with GPUs fits
 * beside such a part.
 *
 * What is left out (other parts that do not fit together, memory, contiguity, partitions, that all parts of a
 * job run at the same time and on different nodes) can only make the truth longer.
 */
#ifndef SL_BOUND_H
#define SL_BOUND_H

#include <stdint.h>

#include "image/snapshot.h"

struct sl_bound {
	double makespan_s;		/* from the first submission on; no schedule is shorter */
	double utilization;		/* sum of cores x runtime / (cores x makespan_s), 1 at the most */
	double longest_s, area_s, gpu_area_s, nodes_s;	/* each by itself */
};

/* The bound for all jobs of a workload.  Returns 0, or -1 with *err (SL_ENOMEM). */
int sl_bound_makespan(const struct sl_snapshot *snap, const int64_t *runtime_s, struct sl_bound *bound,
		      struct sl_error *err);

#endif
