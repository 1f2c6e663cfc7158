/* SPDX-License-Identifier: MIT */
/*
 * bound.h - a makespan that no schedule of a workload can beat.
 *
 * So that a utilization is always seen beside what is possible at all.  The bound
 * is the greatest of
 *
 *	longest		a job's submission + runtime
 *	area		core-seconds (GPU-seconds) / cores (GPUs)
 *	patterns	an LP over what a node can hold at one time
 *
 * the latter two also for the jobs submitted from some instant on, added to that
 * instant.  The LP: a pattern is a set of parts of jobs that fit on one node at the
 * same time; the time that nodes spend on patterns must cover the node-seconds of
 * each kind of part, and no kind of node may spend more than the makespan times its
 * number.  It is solved by column generation (Gilmore and Gomory 1961), but not
 * trusted: what is returned follows from the dual prices by one exact knapsack for
 * each kind of node, which bounds the makespan from below whatever the prices are.
 *
 * What the LP leaves out (memory, contiguity, partitions, that all parts of a job
 * run at the same time and on different nodes) can only make the truth longer.
 */
#ifndef SL_BOUND_H
#define SL_BOUND_H

#include <stdint.h>

#include "image/snapshot.h"

struct sl_bound {
	double makespan_s;		/* from the first submission on; no schedule is shorter */
	double utilization;		/* sum of cores x runtime / (cores x makespan_s), 1 at the most */
	double longest_s, area_s, gpu_area_s, patterns_s;	/* each by itself */
	uint32_t kinds;			/* of parts of jobs in the LP */
};

/* The bound for all jobs of a workload.  Returns 0, or -1 with *err (SL_ENOMEM). */
int sl_bound_makespan(const struct sl_snapshot *snap, const int64_t *runtime_s, struct sl_bound *bound,
		      struct sl_error *err);

#endif
