/* SPDX-License-Identifier: MIT */
/*
 * job_index.h - the jobs of a snapshot by their ids.
 *
 * Ownership: the index is the caller's, for free().  Threads: none.
 */
#ifndef SL_TOOL_JOB_INDEX_H
#define SL_TOOL_JOB_INDEX_H

#include "image/snapshot.h"

/* Job rows in order of id; NULL without memory. */
uint32_t *sl_job_index(const struct sl_snapshot *s);

/* The row of a job, or SL_NONE. */
uint32_t sl_job_find(const struct sl_snapshot *s, const uint32_t *index, uint32_t id);

#endif
