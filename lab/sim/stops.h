/* SPDX-License-Identifier: MIT */
/*
 * sim/stops.h - running jobs that are stopped for others, and places that are held: what slurmctld does of it, simulated.
 *
 * Used if some job of the workload may be stopped (preempt_mode).  Then the cluster's snapshot is a view of the workload's
 * with columns of its own, which say what slurmctld's snapshots would: who runs since when, may be stopped from when on
 * (preempt_from: from the start on, and the workload's exempt_s later), was told to end, was requeued, has what; and the tables
 * of held places and of jobs that were stopped in the last hour.
 *
 * A job that is told to end does so after its GraceTime (grace_time), SL_OVERDUE_S at least, or by itself before that.  One that is
 * requeued runs again from its last checkpoint, if its comment says "checkpoint=MINUTES", else from its start.  One that is
 * cancelled has ended.  One that is suspended keeps its places and goes on where it was, with the rest of its work and of its walltime, as
 * soon as none of its cores is used or held for the job that it was suspended for; GraceTime does not count.  Until then nobody gets the
 * cores that this one leaves.  Jobs that would keep memory or gres are not suspended by a plan (safe_until).
 *
 * A place is held until its job starts, the plan releases it or its time is up.
 *
 * Ownership: borrows the workload.  Threads: none.
 */
#ifndef SL_SIM_STOPS_H
#define SL_SIM_STOPS_H

#include "sim/sim.h"

struct sl_stops;

/* True if some job of the workload may be stopped for others. */
bool sl_stops_suit(const struct sl_workload *w);

/* NULL with *err: no memory. */
struct sl_stops *sl_stops_create(const struct sl_workload *w, struct sl_error *err);
void sl_stops_destroy(struct sl_stops *x);

/* What the cluster is to be made of. */
const struct sl_snapshot *sl_stops_snapshot(const struct sl_stops *x);

/* Seconds of work that the job need not do again. */
int64_t sl_stops_kept(const struct sl_stops *x, uint32_t job);

/* When it began to run for the first time; 0: it did not. */
int64_t sl_stops_first_start(const struct sl_stops *x, uint32_t job);

/* A job starts on those places, and will end at *end* by itself.  0, or -1 with *err. */
int sl_stops_started(struct sl_stops *x, const struct sl_cluster *c, uint32_t job, int64_t end, struct sl_error *err);

/* True if a job that began then, and is to end then, still does so: it was not told to end earlier. */
bool sl_stops_is_current(const struct sl_stops *x, uint32_t job, int64_t start, int64_t end);

/*
 * Remember what the plan stops, holds and releases, and which running jobs it cancels or requeues, until it is carried out.
 * Returns 1; 0: nothing; -1 with *err.
 */
int sl_stops_take(struct sl_stops *x, struct sl_plan *p, struct sl_error *err);

/* A job that was told to end: it will do so at *end*.  *c* has it booked until then. */
typedef int sl_stops_told(void *arg, uint32_t job, int64_t start, int64_t end, struct sl_error *err);

/* Carry it out.  Rows that do not hold any more (the job ended, or began anew) are left out.  0, or -1 with *err. */
int sl_stops_carry_out(struct sl_stops *x, struct sl_cluster *c, sl_stops_told *told, void *arg, struct sl_error *err);

/* A running job ends at *end*, or is suspended.  1 if because it was told to: *stop says the rest (not the nodes); 0; -1 with *err. */
int sl_stops_ended(struct sl_stops *x, uint32_t job, int64_t end, struct sl_sim_stop *stop, struct sl_error *err);

/* A job that was suspended goes on with *rest_s* of its walltime: *end becomes when it ends.  0, or -1 with *err. */
typedef int sl_stops_woke(void *arg, uint32_t job, int64_t rest_s, int64_t *end, struct sl_error *err);

/* Others have ended, or time has passed: see to those that are suspended.  Also before starts that were decided earlier. */
int sl_stops_settle(struct sl_stops *x, struct sl_cluster *c, sl_stops_woke *woke, void *arg, struct sl_error *err);

/* Time has come to *now*: places whose time is up are dropped, and what is older than an hour.  True if a place was. */
bool sl_stops_begin(struct sl_stops *x, int64_t now);

/* When the time of the first held place is up; INT64_MAX: none is held. */
int64_t sl_stops_next(const struct sl_stops *x);

/* Places that were held so far, and of these how many the job did not start on. */
void sl_stops_holds(const struct sl_stops *x, uint64_t *holds, uint64_t *failed);

#endif
