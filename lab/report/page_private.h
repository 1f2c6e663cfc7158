/* SPDX-License-Identifier: MIT */
/*
 * page_private.h - what the parts of a page share: page.c has the file and its
 * assets, page_data.c what a workload and a run look like in it, page_stops.c runs that were stopped for
 * others, page_gpus.c types of GPUs and shapes of jobs, page_lanes.c where jobs are drawn.
 */
#ifndef SL_PAGE_PRIVATE_H
#define SL_PAGE_PRIVATE_H

#include <stdbool.h>
#include <stdio.h>

#include "image/json_out.h"
#include "report/page.h"

/* What of a node jobs are drawn at. */
enum page_unit { PAGE_CORES, PAGE_GPUS, PAGE_UNITS };

/* A started job, until its run is written. */
struct page_start {
	int64_t start, end;
	uint32_t job, gpus;
	uint32_t first, stretches;		/* of sl_page.stretch, as they were given */
	struct sl_range drawn[PAGE_UNITS];	/* of page_units.lane */
	uint32_t stop;				/* 0: its last run; else of sl_page.stop, from 1 on */
};

/* A run that was stopped for another job. */
struct page_stop {
	struct sl_page_stop is;			/* without its stretches */
	uint32_t start;				/* of sl_page.start, from 1 on, once these are sorted */
};

/* What is drawn: the same units of consecutive nodes. */
struct page_lane {
	uint32_t first, count, unit, units;
};

/* All cores, or all GPUs, of the machine. */
struct page_units {
	uint64_t *first;		/* per node, into free_at; one more */
	int64_t *free_at;		/* per unit: when its last job ends */
	struct page_lane *lane;
	uint32_t lanes, lane_room;
};

/* The end that is planned for a job that runs, or a reservation that the plan has for one that waits. */
struct page_planned {
	int64_t start, end;
	uint32_t job, first, stretches;		/* of sl_page.stretch; none: it runs, where it is */
};

struct sl_page {
	char *path, *temporary;
	FILE *out;
	bool failed;			/* a write has failed: nothing may be finished */
	bool lacks_library;		/* the template asks for the chart library, which is not there */
	char *rest;			/* the template from the data on */
	struct sl_json *json;
	uint32_t workloads, runs;	/* so far */

	const struct sl_workload *w;
	struct page_units unit[PAGE_UNITS];
	uint16_t gpu_kinds;		/* of gres, as bits */
	uint32_t *shape_of;		/* per job row: the number of its shape, from 1 on; 0: it asks for no GPU.  NULL: shapes are not written */
	uint32_t *start_of;		/* per job row: its place in start + 1, 0 when there is none */

	char *label;			/* of the run that is open, or NULL */
	struct page_start *start;
	uint32_t starts, start_room;
	struct sl_stretch *stretch;
	uint32_t stretches, stretch_room;
	struct page_planned *planned;
	uint32_t plans, planned_room;
	struct page_stop *stop;
	uint32_t stops, stop_room;
};

/* How many units a node has. */
static inline uint32_t sl_page_units(const struct sl_page *p, enum page_unit unit, uint32_t node)
{
	return (uint32_t) (p->unit[unit].first[node + 1] - p->unit[unit].first[node]);
}

/* Count the units of the workload's machine.  0, or -1 with *err. */
int sl_page_count_units(struct sl_page *p, struct sl_error *err);

/* Types of GPUs, and if *shapes* the shapes of jobs, as members of the object of a workload that has GPUs.  0, or -1 with *err. */
int sl_page_put_gpus(struct sl_page *p, bool shapes, struct sl_error *err);

/* Which GPUs of a node are of the first kind that will do for that row of job_gres; count 0: none. */
struct sl_range sl_page_gpus_of_kind(const struct sl_page *p, uint32_t node, uint32_t row);

/* Sort the starts and find where each is drawn; jobs that run still end at *now*.  0, or -1 with *err. */
int sl_page_place(struct sl_page *p, int64_t now, struct sl_error *err);

void sl_page_forget_lanes(struct sl_page *p);
void sl_page_forget_units(struct sl_page *p);

/* Keep what a run has of nodes.  0, or -1 with *err: they are not on the machine, or there is no memory. */
int sl_page_keep_stretches(struct sl_page *p, uint32_t row, const struct sl_stretch *stretch, uint32_t stretches, struct sl_error *err);

/* The runs that were stopped, as members of the object of a run (page_stops.c). */
void sl_page_put_stops(struct sl_page *p);

/* Forget the workload and the run that are open. */
void sl_page_forget(struct sl_page *p);

#endif
