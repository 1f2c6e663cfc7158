/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * commit.h - a plan into slurmctld's records: starts, other verbs, reasons.
 *
 * Each decision is checked against the live record before it is carried out: the
 * job is still there, pending, unchanged since the snapshot, independent, within
 * its limits, its partition up.  What is stale is dropped, and why is said in its
 * outcome.  Locks are taken in batches: a batch ends when its time is up.
 *
 * Threads: the cycle thread only; takes slurmctld's locks itself, call with none
 * held.
 */
#ifndef SL_COMMIT_H
#define SL_COMMIT_H

#include <stdatomic.h>

#include "plugin/collect/collect.h"
#include "image/journal.h"
#include "plugin/records/memo.h"
#include "plugin/host/status.h"

struct sl_commit {
	struct sl_collector *c;
	const struct sl_plan_image *plan;
	struct sl_status *status;
	struct sl_memo *refused;	/* how often select refused a placement in a row */
	struct sl_memo *rest;		/* until when a job that cannot start is left out of the queue */
	struct sl_memo *shapes;		/* alternatives that were refused, and until when */
	struct sl_memo *unlent;		/* until when a job is not lent nodes again */
	struct sl_asked_book *asked;	/* what jobs asked for that are started as something else */
	double batch_ms;
	const atomic_bool *stop;
	/* results: one per start, then one per action */
	struct sl_outcome *outcome;
	char (*text)[160];
	uint32_t outcomes;
	uint8_t *fate;			/* by job row of the snapshot: what became of its starts, SL_FATE_* */
	uint32_t started;
	bool changed;			/* records were changed: state must be saved */
	/* batch jobs that were started and are still to be launched */
	struct sl_launch {
		uint32_t job_id;
		time_t start_time;	/* another one: it was requeued meanwhile */
	} *launch;
	uint32_t launches, launched, launch_room;
	uint64_t launch_since;		/* microseconds; of the oldest one */
};

#define SL_FATE_STARTED 0x1	/* a start of it was carried out */
#define SL_FATE_FAILED 0x2	/* ... was not */

/* Starts and other verbs.  Outcomes are allocated here, freed by
 * sl_commit_free(). */
void sl_commit_run(struct sl_commit *m);

/* State reasons and expected starts of the jobs that stay pending. */
void sl_commit_reasons(struct sl_commit *m);

/* Write the book of requests, if it has changed.  No locks held. */
void sl_commit_save(struct sl_commit *m);

void sl_commit_free(struct sl_commit *m);

/* -- shared with fallback.c and reasons.c ----------------------------------- */

/*
 * One hold of slurmctld's locks, in steps: it is over when a step as long as the longest so
 * far might end after batch_ms, or the plug-in is to stop.  A hold has one step at least.
 */
struct sl_hold {
	struct sl_commit *m;
	slurmctld_lock_t locks;
	uint64_t since, step, longest;	/* microseconds */
};
void sl_hold_take(struct sl_hold *h, struct sl_commit *m, slurmctld_lock_t locks);
bool sl_hold_lasts(struct sl_hold *h);	/* asked before each step */
void sl_hold_leave(struct sl_hold *h);

/*
 * Slurm's tables are those of the snapshot: same configuration, same number of places for
 * nodes.  What is in them may have changed: each record is looked up.
 */
bool sl_commit_same_world(const struct sl_commit *m);

/*
 * Is the job fit to be started in that partition now?  NULL when it is, with
 * part_ptr, QOS, reservation and features set for select_nodes(); else why not.  Job and
 * node write locks held.
 */
const char *sl_commit_check(job_record_t *job, part_record_t *part, const struct sl_way *way);

/* After select_nodes() succeeded: launch, tell srun, log. */
void sl_commit_launched(job_record_t *job);

/* The locks that a start takes. */
#define SL_COMMIT_LOCKS { .conf = READ_LOCK, .job = WRITE_LOCK, .node = WRITE_LOCK, .part = READ_LOCK, \
			  .fed = READ_LOCK }

/* verbs.c: carry out action number *i* of the plan; NULL, or why not. */
const char *sl_commit_action(struct sl_commit *m, uint32_t i);

#endif
