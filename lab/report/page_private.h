/* SPDX-License-Identifier: MIT */
/*
 * page_private.h - what the two halves of a page share: page.c has the file and
 * its assets, page_data.c what a workload and a run look like in it.
 */
#ifndef SL_PAGE_PRIVATE_H
#define SL_PAGE_PRIVATE_H

#include <stdbool.h>
#include <stdio.h>

#include "image/json_out.h"
#include "report/page.h"

/* A started job, until its run is written. */
struct page_start {
	int64_t start, end;
	uint32_t job, gpus;
	uint32_t first, stretches;		/* of sl_page.stretch, as they were given */
	uint32_t lane, lanes;		/* of sl_page.lane, as they are drawn */
};

/* What is drawn: the same cores of consecutive nodes. */
struct page_lane {
	uint32_t first, count, core, cores;
};

struct sl_page {
	char *path, *temporary;
	FILE *out;
	bool failed;			/* a write has failed: nothing may be finished */
	char *rest;			/* the template from the data on */
	struct sl_json *json;
	uint32_t workloads, runs;	/* so far */

	const struct sl_workload *w;
	int64_t *free_at;		/* per core of the machine: when its last job ends */
	uint64_t *first_core;		/* per node, into free_at; one more */
	uint32_t *start_of;		/* per job row: its place in start + 1, 0 when there is none */

	char *label;			/* of the run that is open, or NULL */
	struct page_start *start;
	uint32_t starts, start_room;
	struct sl_stretch *stretch;
	uint32_t stretches, stretch_room;
	struct page_lane *lane;
	uint32_t lanes, lane_room;
};

/* Forget the workload and the run that are open. */
void sl_page_forget(struct sl_page *p);

#endif
