/* SPDX-License-Identifier: MIT */
/*
 * shortage.h - a plan's table of shortages in words for people: why nobody is stopped for a job.
 *
 * Threads: safe; no state.
 */
#ifndef SL_SHORTAGE_H
#define SL_SHORTAGE_H

#include <stddef.h>
#include <stdint.h>

#include "image/plan_image.h"
#include "image/snapshot.h"

#define SL_SHORTAGE_TEXT 400	/* room for the words; longer names of resources are cut */

/*
 * The rows in the snapshot of the jobs of all shortages, in their order; SL_NONE: it is not there.  Malloc'ed, in one walk over the jobs.
 * 0, or -1 with *err, and NULL.
 */
int sl_shortage_jobs(const struct sl_snapshot *snap, const struct sl_plan_image *plan, uint32_t **jobs, struct sl_error *err);

/*
 * The words of row *i*: "with all 14 jobs that may be stopped gone, 3 nodes of the 4 that it needs would have 4 GPUs of type a100".
 * *job*: the row of its job in the snapshot, or SL_NONE.  The plan need not have been checked.  Returns *text*.
 */
const char *sl_shortage_text(const struct sl_snapshot *snap, const struct sl_plan_image *plan, uint32_t i, uint32_t job, char *text,
			     size_t size);

/* A digest of what the job is short of, without the numbers, which change all the time; never 0. */
uint64_t sl_shortage_digest(const struct sl_snapshot *snap, const struct sl_plan_image *plan, uint32_t i);

#endif
