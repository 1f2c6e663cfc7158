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
 * The words of row *i*: "with all 14 jobs that may be stopped gone, 3 nodes of the 4 that it needs would have 4 GPUs of type a100".
 * How many may be stopped is counted in the snapshot, in time proportional to its jobs.  The plan need not have been checked.
 * Returns *text*.
 */
const char *sl_shortage_text(const struct sl_snapshot *snap, const struct sl_plan_image *plan, uint32_t i, char *text, size_t size);

/* A digest of what the job is short of, without the numbers, which change all the time; never 0. */
uint64_t sl_shortage_digest(const struct sl_snapshot *snap, const struct sl_plan_image *plan, uint32_t i);

#endif
