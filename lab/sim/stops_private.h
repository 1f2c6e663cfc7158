/* SPDX-License-Identifier: MIT */
/*
 * What a simulation keeps of jobs that are stopped for others, and the tables of its snapshot that change with them
 * (stops_rows.c): rows are added at the end of all columns of a table, whose room grows as it has to.
 */
#ifndef SIM_STOPS_PRIVATE_H
#define SIM_STOPS_PRIVATE_H

#include "sim/stops.h"

/* The snapshot's columns of jobs that change. */
#define COLUMNS(X) \
	X(uint32_t, state) X(int64_t, start_time) X(int64_t, end_time) X(uint32_t, restarts) X(int64_t, preempt_from) \
	X(int64_t, preempt_time) X(int64_t, safe_until) X(int64_t, suspend_time) X(uint32_t, alloc_nodes) X(uint32_t, alloc_cpus) X(uint32_t, alloc_gpus) X(struct sl_range, alloc)

struct of_job {
	int64_t kept, first_start, end;	/* seconds; 0; when it ends, while it runs */
	int64_t told;			/* when it was told to end, 0: it was not */
	uint32_t preemptor, mode, verdict;	/* then */
	bool moves;
	bool is_held;			/* a place is held for it */
	int64_t began;			/* its run, or the part of it since it was suspended last */
	int64_t booked, rest_s;		/* until when it was before it was told; of its walltime, while it sleeps */
};

/* A table that grows: its columns one after the other, as the view of the snapshot has them. */
struct sl_stops {
	const struct sl_workload *w;
	struct sl_snapshot snap;
	struct {
#define FIELD(type, name) type *name;
		COLUMNS(FIELD)
#undef FIELD
	} job;
	struct of_job *of;
	int64_t now;			/* of the snapshot */
	struct { uint32_t *node, *cores; int64_t *memory; struct sl_range *gres; } alloc;
	struct { uint32_t *kind, *count, *of, *devices; } gres;
	struct { uint32_t *job, *partition; int64_t *since, *until; struct sl_range *places; } held;
	struct { uint32_t *job, *preemptor; int64_t *time; uint32_t *user, *partition, *started; } stopped;
	uint32_t alloc_room[4], gres_room[4], held_room[5], stopped_room[6];
	uint32_t allocs, gress, helds, stoppeds;
	struct sl_builder *builder;	/* of the plan that is to be carried out, or NULL */
	struct sl_plan_image plan;
	uint32_t *asleep, asleeps, asleep_room;	/* rows of jobs that are suspended, the first first */
	uint64_t holds, failed;
};

/* The columns and tables as the workload has them, and room in each for a row. 0; -1: out of memory, *err says so. */
int sl_stops_rows_begin(struct sl_stops *x, struct sl_error *err);
void sl_stops_rows_free(struct sl_stops *x);

/* Have the snapshot's views show the rows that there are now. */
void sl_stops_rows_show(struct sl_stops *x);

/* A row of alloc, one node of a place: its gres are those that were added since there were *first_gres*. 0 or -1. */
int sl_stops_add_alloc(struct sl_stops *x, uint32_t node, uint32_t cores, int64_t memory, uint32_t first_gres, struct sl_error *err);
int sl_stops_add_gres(struct sl_stops *x, uint32_t kind, uint32_t count, uint32_t of, uint32_t devices, struct sl_error *err);

/* Room for one more row of held, and of stopped. 0 or -1. */
int sl_stops_grow_held(struct sl_stops *x, struct sl_error *err);
int sl_stops_grow_stopped(struct sl_stops *x, struct sl_error *err);

#endif
