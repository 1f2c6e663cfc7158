/* SPDX-License-Identifier: MIT */
/*
 * workload/tiers.h - two tiers of jobs: those of the upper one may have those of the lower one stopped.
 *
 *	qos=strict,checkpoint=30,grace=2m	who is of the upper tier, and how those of the lower one are stopped
 *
 * WHO is qos=NAME, partition=NAME, account=NAME or user=NAME, several names joined by "+", as the source has them; or share=0.2: so
 * many of all jobs, drawn by the seed.  Then, all with defaults: mode=requeue, cancel or suspend; grace=TIME (0); exempt=TIME (0), the time
 * that a job runs at least; checkpoint=MINUTES (none).
 *
 * Jobs get the QOS "high" or "low"; those of the upper tier are first in the queue.
 *
 * Threads: none.
 */
#ifndef SL_TIERS_H
#define SL_TIERS_H

#include "workload/private.h"

struct sl_tiers {
	const char *names;		/* in the text */
	enum { SL_TIER_NONE, SL_TIER_QOS, SL_TIER_PARTITION, SL_TIER_ACCOUNT, SL_TIER_USER, SL_TIER_SHARE } by;
	double share;
	uint32_t mode;			/* SL_STOP_REQUEUE, CANCEL or SUSPEND */
	int64_t grace_s, exempt_s;
	uint32_t checkpoint;		/* minutes, 0: none */
};

/* NULL or such a text.  0, or -1 with *err.  *t refers to the text. */
int sl_tiers_parse(struct sl_tiers *t, const char *text, struct sl_error *err);

/* True if a job is of the upper tier: its name by which the tiers are made, its number and the seed. */
bool sl_tiers_is_upper(const struct sl_tiers *t, const char *name, uint64_t number, uint64_t seed);

#endif
