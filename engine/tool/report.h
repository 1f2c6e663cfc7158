/* SPDX-License-Identifier: MIT */
/*
 * report.h - a plan in words and in JSON, for schedlua plan.
 *
 * Ownership: borrows everything.  Threads: none.
 */
#ifndef SL_REPORT_H
#define SL_REPORT_H

#include "base/map.h"
#include "image/json_out.h"
#include "image/plan_image.h"
#include "image/snapshot.h"

/* What stands above a plan: where it comes from and what it cost. */
struct sl_report {
	const char *file;		/* of the snapshot */
	const struct sl_snapshot *snap;
	const struct sl_plan_image *plan;
	const struct sl_error *check;	/* SL_OK, or the violation */
	size_t lua_peak;		/* bytes */
	struct sl_map row_of;		/* private: by job id, while printing */
};

/* Print a readable report.  0, or -1 on lack of memory. */
int sl_report_print(struct sl_report *r, FILE *out);

/* The same as one object, keys as schedlua-plan(1) documents them.  0, or -1 with *err. */
int sl_report_json(struct sl_report *r, struct sl_json *j, struct sl_error *err);

/* For who tells of one job: its nodes as a node list, malloc'ed, NULL on lack of memory; and the key "places". */
char *sl_report_nodelist(const struct sl_report *r, struct sl_range places);
void sl_report_put_places(const struct sl_report *r, struct sl_json *j, struct sl_range places);

/* report_stops.c: jobs that are stopped for others, places that are held, and why nobody is stopped for some; printed (0, or -1 on lack
 * of memory; nothing where the plan has none), and as the keys "stopped", "held" and "shortages". */
int sl_report_print_stops(const struct sl_report *r, FILE *out);
void sl_report_put_stops(const struct sl_report *r, struct sl_json *j);

#endif
