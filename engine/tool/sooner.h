/* SPDX-License-Identifier: MIT */
/*
 * sooner.h - which change of its request would start a job sooner?
 *
 * Each change is made in a copy of the snapshot, and the site's own policies decide on that: what
 * comes out is when the job would start on the real timeline, by walltimes.  Threads: none.
 */
#ifndef SL_SOONER_H
#define SL_SOONER_H

#include "script/decide.h"

/* A table of the changes that help, as text.  *text is malloc'ed.  0, or -1 with *err: SL_ENOENT, the job
 * is not queued. */
int sl_sooner(const struct sl_bundle *bundle, const struct sl_snapshot *snap, const struct sl_usage_provider *usage,
	      const struct sl_limits *limits, uint32_t job, char **text, struct sl_error *err);

#endif
