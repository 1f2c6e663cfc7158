/* SPDX-License-Identifier: MIT */
/*
 * sooner.h - which change of its request would start a job sooner?
 *
 * Each change is made in a copy of the snapshot, and the site's own policies decide on that: what
 * comes out is when the job would start on the real timeline, by walltimes.  A change of which the
 * policies cannot decide, or for which no time is left, is counted and said.  Threads: none.
 */
#ifndef SL_SOONER_H
#define SL_SOONER_H

#include "script/decide.h"

/* A table of the changes that help, as text.  *usage* and *history*: as for sl_decide_explain().  All takes
 * about as long as limits->budget_us at most.  *text is malloc'ed.  0, or -1 with *err: SL_ENOENT, the job is not
 * queued; nothing is known of it as it is. */
int sl_sooner(const struct sl_bundle *bundle, const struct sl_snapshot *snap, const struct sl_usage_provider *usage,
	      struct sl_history *history, const struct sl_limits *limits, uint32_t job, char **text, struct sl_error *err);

#endif
