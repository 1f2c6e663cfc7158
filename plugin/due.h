/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * due.h - when is the next cycle?  Soon after a change, and after a while in any case.
 *
 * Threads: the cycle thread's.  The locks: none is held by the caller.
 */
#ifndef SL_DUE_H
#define SL_DUE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "plugin/host/options.h"

/* What tells that something changed, read without locks. */
struct sl_stamps {
	time_t job, node, part, resv, conf;
	uint32_t submitted, ended;
};

/* All 0: no cycle yet. */
struct sl_due {
	struct sl_stamps seen;		/* by the last cycle */
	bool trailing;			/* a change in the second of its snapshot may have been missed... */
	bool was_trailing;		/* ... or in that of the one before */
	bool again;			/* the last one started jobs, and did not see all of the queue */
	time_t snapshot_second;
	time_t wake;			/* a policy asked for a cycle no later than then; 0: it did not */
	double last_start, last_end;	/* seconds of sl_clock_s() */
};

/* A cycle begins. */
void sl_due_begin(struct sl_due *d);

/* The policy asks for another cycle no later than that second; 0: it does not. */
void sl_due_wake(struct sl_due *d, time_t t);

/* It has carried out what was decided, *started* jobs among it; *before*: last_job_update when it had its
 * snapshot.  Its own writes are no news.  *unseen*: the policy did not come to the end of the queue. */
void sl_due_done(struct sl_due *d, time_t before, bool started, bool unseen);

/* It ends.  Microseconds that it took. */
uint64_t sl_due_end(struct sl_due *d);

/* Is it time, where a cycle follows the last after *interval_s* at the latest? */
bool sl_due_now(const struct sl_due *d, double interval_s);

/*
 * slurm.conf has all scheduling wait, as Slurm's own would: while as many RPCs are served
 * (max_rpc_cnt), or jobs are being cleaned up that ended less than CompleteWait ago, so that
 * what comes next finds their nodes free.  With reduce_completing_frag Slurm spares its
 * main scheduler that; here nobody waits then.
 */
bool sl_due_waits(const struct sl_options *o);

#endif
