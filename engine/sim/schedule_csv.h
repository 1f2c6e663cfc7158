/* SPDX-License-Identifier: MIT */
/*
 * schedule_csv.h - a simulated schedule as a table: one line a job.
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

#endif
