/* SPDX-License-Identifier: MIT */
/*
 * request.h - what a job asks for, read once: as it asks, or as one of its alternatives.
 *
 * Everything that makes plans, counts demand or forecasts use starts here.  The result is the snapshot's row with defaults
 * filled in.  It does not depend on partition or nodes: want.c applies those, or workload/demand.c for an empty machine.  The
 * checker reads the same rows independently (check/layout.c).
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
	bool most_nodes;		/* prefer more nodes to fewer */
	uint32_t tasks;			/* in all; 0: unknown */
	uint32_t tasks_per_node;	/* 0: unknown; the maximum if tasks are known, else the number on each node */
	uint32_t cpus_per_task;		/* CPUs, at least 1 */
	uint32_t min_cpus;		/* CPUs in all, at least 1 */
	uint32_t max_cpus;		/* CPUs in all; 0: no limit */
	uint32_t node_cpus;		/* CPUs on each node, including those of its tasks; at least 1 */
	bool overcommit;		/* min_cpus CPUs, whatever the number of tasks: cpus_per_task is 1 */
	int64_t memory_per_node;	/* MiB; 0: none */
	int64_t memory_per_cpu;		/* MiB; 0: none */
	struct sl_range gres;		/* rows of snapshot.job_gres, from which the next fields are computed */
	uint32_t pers;			/* bits: 1 << SL_PER_* */
	uint32_t job_gres;		/* largest count of a gres of the job as a whole: it may be spread over that many
					 * nodes */
	struct {			/* what comes with the gres; memory only if Slurm counts it */
		uint32_t cpus, memory;	/* number of rows with CPUs, with memory */
		uint32_t per;		/* bits as in pers, of these rows */
		uint64_t all_cpus;	/* CPUs per node, task or job */
		bool some_memory;	/* some row that asks for at least one gres has memory */
	} with;
	int64_t walltime;		/* seconds, SL_UNLIMITED */
	int64_t walltime_min;		/* shortest acceptable walltime in seconds; 0: walltime */
	bool default_time;		/* the job names no walltime: the partition's default applies */
};

/* Read job row *job*; *shape* 0: as it asks, n: its nth alternative. */
struct sl_ask sl_request_read(const struct sl_snapshot *snap, uint32_t job, uint32_t shape);

/* The time limits of a job in a partition, in seconds; SL_UNLIMITED: none. */
struct sl_walltime {
	int64_t named;			/* the limit that it names; if none, the partition's DefaultTime, or MaxTime */
	int64_t ceiling;		/* MaxTime, unless QOS or an administrator allows more */
	int64_t asked;			/* *named*, or the ceiling if that is unlimited */
	int64_t limit, floor;		/* the most that it gets; and the least it accepts (time_min, or any time for a
					 * deadline) */
};

/* For job row *job*, read into *a.  It is too long for the partition if asked > ceiling without time_min, or if time_min >
 * ceiling. */
struct sl_walltime sl_request_walltime(const struct sl_snapshot *snap, uint32_t job, const struct sl_ask *a,
				       uint32_t partition);

/* Tasks in all: as stated, or tasks per node on min_nodes; 0: unknown. */
int64_t sl_ask_tasks(const struct sl_ask *a);

/* Least number of CPUs in all; at least one per node. */
int64_t sl_ask_cpus(const struct sl_ask *a);

/* Count of a row of snapshot.job_gres in all on that many nodes; and of all GPUs. */
int64_t sl_ask_gres(const struct sl_snapshot *snap, const struct sl_ask *a, uint32_t row, int64_t nodes);
int64_t sl_ask_gpus(const struct sl_snapshot *snap, const struct sl_ask *a, int64_t nodes);

/* The fewest nodes that it may have if it needs *amount* in all and a node has *most* of it (0: none). */
uint32_t sl_ask_fewest_nodes(const struct sl_ask *a, int64_t amount, int64_t most);

/* True if the job sets its core specialization itself.  It then has whole nodes. */
bool sl_request_core_spec(const struct sl_snapshot *snap, uint32_t job);

/* Cores of a node that the job may use: those of any job, or all but its own core specialization; 0: none are left. */
uint32_t sl_request_node_cores(const struct sl_snapshot *snap, uint32_t job, uint32_t node);

/* Least number of these units on min_nodes. */
int64_t sl_ask_units(const struct sl_snapshot *snap, const struct sl_ask *a, enum sl_unit unit);

/* True if that gres kind satisfies the row of snapshot.job_gres. */
bool sl_gres_matches(const struct sl_snapshot *snap, uint32_t row, uint32_t kind);

#endif
