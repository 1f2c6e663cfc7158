/* SPDX-License-Identifier: MIT */
/*
 * schedule_page.h - what a simulation did, as a run of a report page.
 */
#ifndef SL_SCHEDULE_PAGE_H
#define SL_SCHEDULE_PAGE_H

#include "report/page.h"
#include "sim/sim.h"

/*
 * Add the schedule of a simulation, ended or stopped, to a page that is
 * at its workload.  *label*: the policy as it was asked for.  Returns 0, or -1 with
 * *err.
 */
int sl_schedule_page(struct sl_page *p, const char *label, const struct sl_workload *w,
		     const struct sl_schedule *schedule, const struct sl_result *r, struct sl_error *err);

#endif
