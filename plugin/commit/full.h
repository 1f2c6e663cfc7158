/* SPDX-License-Identifier: GPL-2.0-or-later */
/* full.h - nodes without a free core.  They are hidden from select when it places a native job, because on a large machine
 * that is full, looking at them is most of what a start costs. */
#ifndef SL_FULL_H
#define SL_FULL_H

#include "plugin/commit/work.h"

/*
 * The nodes that were full when the snapshot was taken.  NULL if there are none, or if the job may share cores or preempt
 * other jobs.  *row*: the job's row in the snapshot.  The bitmap is owned by *m* and freed by sl_full_free().  Job and node
 * read locks held.
 */
const bitstr_t *sl_full_nodes(struct sl_commit *m, const job_record_t *job, const part_record_t *part, uint32_t row);

void sl_full_free(struct sl_commit *m);

#endif
