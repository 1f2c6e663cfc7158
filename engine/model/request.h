/* SPDX-License-Identifier: MIT */
/*
 * request.h - what a job asks for, read once: as it asks, or as one of its alternatives.
 *
 * All that makes plans, counts demand or foresees what is held begins here.  It is the
 * row with its defaults filled in, and knows no partition and no node: what becomes of it
 * there is want.c's, on an empty machine workload/demand.c's.  The checker reads the same
 * rows in words of its own (check/layout.c).
 *
 * Ownership: nothing is kept.  Threads: any.
 */
#ifndef SL_REQUEST_H
#define SL_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "image/snapshot.h"
#include "usage/usage.h"

struct sl_ask {
	uint32_t min_nodes;		/* at least 1 */
	uint32_t max_nodes;		/* 0: no limit */
	bool most_nodes;		/* rather more of them than fewer */
	uint32_t tasks;			/* in all; 0: not said */
	uint32_t tasks_per_node;	/* 0: not said; a maximum where tasks are said, else each node's */
	uint32_t cpus_per_task;		/* CPUs, at least 1 */
	uint32_t min_cpus;		/* CPUs in all, at least 1 */
	uint32_t max_cpus;		/* CPUs in all; 0: no limit */
	uint32_t node_cpus;		/* CPUs on each node, those of its tasks included; at least 1 */
	bool overcommit;		/* min_cpus, however many tasks: cpus_per_task is 1 */
	int64_t memory_per_node;	/* MiB; 0: not said */
	int64_t memory_per_cpu;		/* MiB; 0: not said */
	struct sl_range gres;		/* rows of snapshot.job_gres; what follows is read of these */
	uint32_t pers;			/* bits: 1 << SL_PER_* */
	uint32_t job_gres;		/* the most that is asked for of a gres for the job as a whole: it may lie on as many nodes */
	struct {			/* what comes with them, memory where Slurm counts it */
		uint32_t cpus, memory;	/* rows with CPUs, with memory */
		uint32_t per;		/* as pers, of these rows */
		uint64_t all_cpus;	/* of a node, a task or the job */
		bool some_memory;	/* with a gres of which it asks for any */
	} with;
	int64_t walltime;		/* seconds, SL_UNLIMITED */
	int64_t walltime_min;		/* seconds that would do as well; 0: walltime */
	bool default_time;		/* names no walltime: that of the partition it runs in */
};

/* Job row *job*; *shape* 0: as it asks, n: its nth alternative. */
struct sl_ask sl_request_read(const struct sl_snapshot *snap, uint32_t job, uint32_t shape);

/* How long a job may run in a partition, in seconds.  SL_UNLIMITED: for ever. */
struct sl_walltime {
	int64_t named;			/* what it names; where it names nothing the partition's DefaultTime, else MaxTime */
	int64_t ceiling;		/* MaxTime, unless its QOS or an administrator lets it go beyond */
	int64_t asked;			/* what it names; the ceiling where that has no end */
	int64_t limit, floor;		/* what it is given at most, and what would do: its time_min, any for a deadline */
};

/* Of job row *job*, which was read into *a.  It is too long for the partition if asked, with time_min 0, or
 * time_min is above the ceiling. */
struct sl_walltime sl_request_walltime(const struct sl_snapshot *snap, uint32_t job, const struct sl_ask *a,
				       uint32_t partition);

/* Tasks in all: as said, or each node's on the fewest nodes; 0: not said. */
int64_t sl_ask_tasks(const struct sl_ask *a);

/* CPUs in all at the least; a node has one. */
int64_t sl_ask_cpus(const struct sl_ask *a);

/* What a row of snapshot.job_gres comes to in all on so many nodes; and all GPUs. */
int64_t sl_ask_gres(const struct sl_snapshot *snap, const struct sl_ask *a, uint32_t row, int64_t nodes);
int64_t sl_ask_gpus(const struct sl_snapshot *snap, const struct sl_ask *a, int64_t nodes);

/* Does it say itself how many cores of a node are the system's?  Then it has whole nodes. */
bool sl_request_core_spec(const struct sl_snapshot *snap, uint32_t job);

/* Cores that it may have of a node: those of any job, or all but as many as it leaves to the
 * system; 0 where it leaves none. */
uint32_t sl_request_node_cores(const struct sl_snapshot *snap, uint32_t job, uint32_t node);

/* Any of these at the least, on the fewest nodes. */
int64_t sl_ask_units(const struct sl_snapshot *snap, const struct sl_ask *a, enum sl_unit unit);

/* Would that kind do for that row of snapshot.job_gres? */
bool sl_gres_matches(const struct sl_snapshot *snap, uint32_t row, uint32_t kind);

#endif
