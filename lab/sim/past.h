/* SPDX-License-Identifier: MIT */
/*
 * past.h - the runs that have ended in a simulation, for those who ask about the past.
 *
 * There is no ledger here.  What has ended is written down as it is, and goes into usage and history when somebody may
 * ask: before a decision, and in the end.  Memory: 40 bytes for each run since then.
 *
 * Ownership: borrows the cluster, which asks it.  Threads: none.
 */
#ifndef SL_PAST_H
#define SL_PAST_H

#include "model/cluster.h"

struct sl_past;

/* NULL with *err: out of memory.  To be destroyed after the cluster. */
struct sl_past *sl_past_create(struct sl_cluster *c, struct sl_error *err);
void sl_past_destroy(struct sl_past *p);

/* A run ends, and the cluster does not know it yet: *how* (PENDING: it was requeued).  0, or -1 with *err: out of memory. */
int sl_past_ended(struct sl_past *p, uint32_t job, int64_t start, int64_t end, enum sl_job_state how, struct sl_error *err);

/* A decision begins: what has ended is known. */
int sl_past_begin(struct sl_past *p, struct sl_error *err);

/* All that has ended; the past's own.  NULL with *err: out of memory. */
struct sl_history *sl_past_history(struct sl_past *p, struct sl_error *err);

#endif
