/* SPDX-License-Identifier: MIT */
/*
 * job_order.h - the order of jobs by what their users' past says of them (history:order() in bind/order.c).
 *
 * The key of a job is cpus^size x runtime^length / (1 + waited / patience)^ageing; the smallest goes first.  With a slowdown,
 * a job is overdue if it has waited for that many times the shortest runtime that is likely for it, and for wait_s.
 *
 * Ownership: borrows snapshot and history.  Threads: none.
 */
#ifndef SL_JOB_ORDER_H
#define SL_JOB_ORDER_H

#include "model/plan.h"
#include "usage/history.h"

/* What is known of a job for as long as its snapshot is the same one and the history has forgotten nothing.  Begins as 0. */
struct sl_order_job {
	uint32_t cpus;			/* + 1; 0: not asked yet */
	uint32_t prospect;		/* + 1, likewise (usage/history.h) */
};

int64_t sl_order_cpus(const struct sl_snapshot *snap, uint32_t job, struct sl_order_job *known);

/* Under which number the history keeps what it expects of the job.  SL_NONE with *err: out of memory. */
uint32_t sl_order_prospect(struct sl_history *h, const struct sl_snapshot *snap, uint32_t job, struct sl_order_job *known,
			   struct sl_error *err);

/* For how long the job could have been started, as far as that was up to it. */
int64_t sl_order_waited(const struct sl_snapshot *snap, uint32_t job, int64_t now);

/* The key: what it is at first, of a job of which *typical* seconds are expected; and what that becomes as the job waits. */
double sl_order_first_key(const struct sl_order_by *by, int64_t cpus, double typical);
double sl_order_key(const struct sl_order_by *by, double first_key, int64_t waited);

/* What the past says of a job: seconds, and what these were stretched by.  0, or -1 with *err. */
int sl_order_expect(const struct sl_order_by *by, struct sl_history *h, const struct sl_snapshot *snap, uint32_t job,
		    int64_t now, struct sl_order_job *known, double *typical, double *stretch, struct sl_error *err);

/*
 * Seconds for which the job is overdue; below 0 if it is not.  0, or -1 with *err.
 *
 * Jobs that are overdue are served by this, the largest first, and not by their keys: as they wait, all of these grow alike,
 * so the first one stays first while their users' pasts stay as they are.  By key a smaller job that becomes overdue would take the reservation
 * over, and the processors that were kept free for the first one would have been idle for nothing.
 */
int sl_order_overdue(const struct sl_order_by *by, struct sl_history *h, const struct sl_snapshot *snap, uint32_t job,
		     int64_t now, int64_t waited, double stretch, struct sl_order_job *known, double *overdue_s,
		     struct sl_error *err);

#endif
