/* SPDX-License-Identifier: MIT */
/*
 * job_order.h - the order of jobs by the past of their users (history:order() in bind/order.c).
 *
 * The key of a job is cpus^size x runtime^length / (1 + waited / patience)^ageing; the smallest key goes first.  With
 * `slowdown`, a job is overdue if it has waited at least wait_s, and that many times the shortest runtime that is likely for
 * it.
 *
 * Ownership: borrows snapshot and history.  Threads: none.
 */
#ifndef SL_JOB_ORDER_H
#define SL_JOB_ORDER_H

#include "model/plan.h"
#include "usage/history.h"

/* Cache of what is known of a job, valid as long as the snapshot is the same and the history forgets nothing.  Initially
 * 0. */
struct sl_order_job {
	uint32_t cpus;			/* number + 1; 0: not known yet */
	uint32_t prospect;		/* number + 1; 0: not known yet (usage/history.h) */
};

int64_t sl_order_cpus(const struct sl_snapshot *snap, uint32_t job, struct sl_order_job *known);

/* The number under which the history keeps its expectation of the job.  SL_NONE with *err: out of memory. */
uint32_t sl_order_prospect(struct sl_history *h, const struct sl_snapshot *snap, uint32_t job, struct sl_order_job *known,
			   struct sl_error *err);

/* Seconds for which the job has been eligible to start. */
int64_t sl_order_waited(const struct sl_snapshot *snap, uint32_t job, int64_t now);

/* The key of a job with an expected runtime of *typical* seconds, before waiting; and the key after waiting. */
double sl_order_first_key(const struct sl_order_by *by, int64_t cpus, double typical);
double sl_order_key(const struct sl_order_by *by, double first_key, int64_t waited);

/* The runtime that the past predicts, in seconds, and the factor by which predictions are stretched.  0, or -1 with *err. */
int sl_order_expect(const struct sl_order_by *by, struct sl_history *h, const struct sl_snapshot *snap, uint32_t job,
		    int64_t now, struct sl_order_job *known, double *typical, double *stretch, struct sl_error *err);

/*
 * Seconds for which the job has been overdue; below 0 if it is not.  0, or -1 with *err.
 *
 * Overdue jobs are served by this value, the largest first, and not by their keys.  It grows for all alike, so the first one
 * stays first while the users' pasts do not change.  By key, a smaller job that becomes overdue would take over the
 * reservation, and the processors kept free for the first job would have been idle for nothing.
 */
int sl_order_overdue(const struct sl_order_by *by, struct sl_history *h, const struct sl_snapshot *snap, uint32_t job,
		     int64_t now, int64_t waited, double stretch, struct sl_order_job *known, double *overdue_s,
		     struct sl_error *err);

#endif
