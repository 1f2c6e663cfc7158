/* SPDX-License-Identifier: MIT */
/*
 * sim/audit.h - a simulated schedule, written down so that it can be checked.
 *
 * What starts where is laid out as a plan in which each job has one reservation, at
 * the time at which it started; sl_check_schedule() then goes through it with code
 * that knows nothing of timelines.
 *
 * Ownership: borrows the snapshot.  Threads: none.
 */
#ifndef SL_SIM_AUDIT_H
#define SL_SIM_AUDIT_H

#include "model/cluster.h"

struct sl_audit;

/* *c* is the cluster that runs the jobs; it is borrowed. */
struct sl_audit *sl_audit_create(const struct sl_cluster *c, struct sl_error *err);
void sl_audit_destroy(struct sl_audit *a);

/* A job, from start to end.  *loan* is whose nodes it borrowed, NULL: nobody's; *kinds*
 * the mask of the gres kinds that it asked for; *native*: only Slurm's select could
 * place it.  Returns 0, or -1 with *err. */
int sl_audit_job(struct sl_audit *a, struct sl_entry e, const struct sl_loan *loan, int64_t start, int64_t end,
		 const struct sl_place *places, uint32_t count, uint16_t kinds, bool native,
		 struct sl_error *err);

/* Is the schedule feasible?  0, or -1 with *err.  Nothing may be added then. */
int sl_audit_check(struct sl_audit *a, struct sl_error *err);

#endif
