/* SPDX-License-Identifier: MIT */
/*
 * job_index.h - the jobs of a snapshot by their ids.
 */
#ifndef SL_TOOL_JOB_INDEX_H
#define SL_TOOL_JOB_INDEX_H

#include "base/map.h"
#include "image/snapshot.h"

/* Put the row of each job into an empty map, for sl_map_by_id().  0, or -1 without memory. */
int sl_job_index(struct sl_map *m, const struct sl_snapshot *s);

#endif
