/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * commit.h - carries a plan out in slurmctld: starts and actions.
 *
 * Each decision is checked against the live record before it is carried out: the job is still there, pending, unchanged since
 * the snapshot, independent, within its limits, its partition up.  A stale decision is dropped; its fate (enum sl_fate) says
 * why.  Locks are taken for a batch of decisions, which ends when its time is up.
 *
 * Threads: the cycle thread only; takes slurmctld's locks itself, call with none held.
 */
#ifndef SL_COMMIT_H
#define SL_COMMIT_H

#include "plugin/commit/work.h"

/* Carry out the whole plan.  The results are allocated in *m* and freed by sl_commit_free(). */
void sl_commit_run(struct sl_commit *m);

/* Write the book of requests, if it has changed.  No locks held. */
void sl_commit_save(struct sl_commit *m);

void sl_commit_free(struct sl_commit *m);

#endif
