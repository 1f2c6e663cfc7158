/* SPDX-License-Identifier: MIT */
/*
 * pool.h - policies that have promised to go by a rule (enum sl_plan_rule), on a pool of processors, by counts of cores.
 *
 * Where a machine is one node and jobs take cores of it, and nothing else, whether a job starts is a matter of two
 * numbers: what is free now, and what the first that waits leaves when its time comes.  A policy that has promised
 * to go by that rule (plan:settle("easy")) need not be asked then: this does the same, job by job.
 *
 * A pool is closed until the policy's promise opens it, and closes by itself when a job arrives of which more can be
 * said than how many cores it takes.  It keeps who runs by the end of the walltime; all else it asks the cluster,
 * whose timeline knows nothing of what starts while the pool is open.
 *
 * Ownership: borrows the cluster.  Threads: none.
 */
#ifndef SL_POOL_H
#define SL_POOL_H

#include "model/plan.h"

struct sl_pool;

/* Is the machine one at all?  One node in one partition, without licences and reservations. */
bool sl_pool_suits(const struct sl_snapshot *snap);

/* Closed.  NULL with *err: out of memory. */
struct sl_pool *sl_pool_create(struct sl_cluster *c, struct sl_error *err);
void sl_pool_destroy(struct sl_pool *p);

/* The policy has promised; it stays closed where it is not known of all who run and wait what they take.  The promise is copied;
 * a rank is borrowed.  0, or -1 with *err: out of memory. */
int sl_pool_open(struct sl_pool *p, const struct sl_promise *promise, struct sl_error *err);

/* Is it open still, with those who have arrived since?  Ask before each decision.  1, 0, or -1 with *err. */
int sl_pool_is_open(struct sl_pool *p, struct sl_error *err);

/* What it decided last is not carried out, and the policy decides instead.  0, or -1 with *err. */
int sl_pool_close(struct sl_pool *p, struct sl_error *err);

struct sl_pool_start {
	struct sl_entry entry;
	uint32_t cores;
	int64_t seconds;		/* of its walltime */
};

/* Number of jobs in the queue beyond the rule's window. */
uint32_t sl_pool_hidden(const struct sl_pool *p);

/* True if it asks the cluster's history, which is to know then who has ended. */
bool sl_pool_asks_history(const struct sl_pool *p);

/*
 * Whom to start now, in this order: the caller does so at once.  Valid until the next call.  NULL with *err: out of
 * memory.
 */
const struct sl_pool_start *sl_pool_decide(struct sl_pool *p, uint32_t *starts, struct sl_error *err);

/* A running job has ended, and the cluster does not know it yet. */
void sl_pool_ended(struct sl_pool *p, uint32_t job);

#endif
