/* SPDX-License-Identifier: MIT */
/*
 * sim/audit.h - a simulated schedule, written down so that it can be checked.
 *
 * What starts where is laid out as a plan in which each run of a job has one reservation, at
 * the time at which it started, and each run that was stopped for another job has a stop; sl_check_schedule() then goes through it with code
 * that knows nothing of timelines.
 *
 * Ownership: borrows the snapshot.  Threads: none.
 */
#ifndef SL_SIM_AUDIT_H
#define SL_SIM_AUDIT_H

#include "model/cluster.h"
#include "sim/sim.h"

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

/* A job that was suspended goes on where it was; it has no gres.  0, or -1 with *err. */
int sl_audit_resumed(struct sl_audit *a, uint32_t job, int64_t start, int64_t end, const struct sl_place *places, uint32_t count,
		     struct sl_error *err);

/* The job's run ends earlier than it was to: it is stopped for another job, as *stop* says. */
void sl_audit_stopped(struct sl_audit *a, const struct sl_sim_stop *stop);

/* Is the schedule feasible?  0, or -1 with *err.  Nothing may be added then. */
int sl_audit_check(struct sl_audit *a, struct sl_error *err);

#endif
