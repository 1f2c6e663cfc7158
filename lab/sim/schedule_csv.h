/* SPDX-License-Identifier: MIT */
/*
 * schedule_csv.h - a simulated schedule for other programs: one line a job.
 *
 * Ownership: none.  Threads: none.
 */
#ifndef SL_SCHEDULE_CSV_H
#define SL_SCHEDULE_CSV_H

#include <stdio.h>

#include "sim/sim.h"

/*
 * job,user,account,partition,submit_s,start_s,end_s,wait_s,runtime_s,walltime_s,
 * cores,gpus,nodes,nodelist.  Times count from the workload's origin; those of jobs
 * that did not start (or end) are empty.  The simulation was made with keep_schedule.
 * Returns 0, or -1 with *err.
 */
int sl_schedule_csv(const struct sl_workload *w, const struct sl_sim *sim, FILE *out, struct sl_error *err);

/*
 * The columns that evalys reads (and Batsim writes), a line for each job that has ended, in the
 * order of starts.  allocated_resources are processors, counted over all nodes from 0 on: "0-3 7".
 */
int sl_schedule_evalys(const struct sl_workload *w, const struct sl_sim *sim, FILE *out, struct sl_error *err);

/* As SWF: the log with the waits, runtimes and processors that came of it, and status 1, or 0 for a
 * job that its walltime ended.  Jobs that did not end are left out. */
int sl_schedule_swf(const struct sl_workload *w, const struct sl_sim *sim, FILE *out, struct sl_error *err);

#endif
