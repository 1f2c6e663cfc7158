/* SPDX-License-Identifier: MIT */
/*
 * explain_stops.h - whom the site's policies would stop for a job on a snapshot, or why nobody.  Threads: none.
 */
#ifndef SL_EXPLAIN_STOPS_H
#define SL_EXPLAIN_STOPS_H

#include "script/decide.h"

#define SL_EXPLAIN_BUDGET_US INT64_C(30000000)	/* of one decision that somebody waits for */

/*
 * Let the policies decide on the snapshot, and give back in *text a line about the job, malloc'ed; NULL: the job may not preempt
 * others, or the plan says nothing of that.  0, or -1 with *err.
 */
int sl_explain_stops(const struct sl_bundle *bundle, const struct sl_snapshot *snap, const struct sl_usage_provider *usage,
		     struct sl_history *history, uint32_t job, char **text, struct sl_error *err);

#endif
