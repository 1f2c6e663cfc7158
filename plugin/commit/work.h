/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * work.h - a plan that is being carried out, and how long it may hold slurmctld's locks.
 *
 * Threads: the cycle thread only.
 */
#ifndef SL_WORK_H
#define SL_WORK_H

#include <stdatomic.h>

#include "plugin/collect/collect.h"
#include "image/journal.h"
#include "plugin/host/status.h"

struct sl_commit {
	struct sl_collector *c;
	const struct sl_plan_image *plan;
	struct sl_status *status;
	struct sl_notes *notes;
	struct sl_asked_book *asked;	/* the original requests of jobs that run as one of their alternatives */
	struct sl_held_book *held;	/* held places (commit/hold.h) */
	double batch_ms;
	bool reason_text;		/* squeue shows the engine's text for all reasons (lua_reason_text) */
	const atomic_bool *stop;
	/* results: one per start, then one per action, then one per stop; *decisions* counts starts and actions only */
	struct sl_carried *carried;
	char (*text)[160];
	uint32_t decisions;
	uint8_t *marks;			/* by job row of the snapshot: SL_MARK_* */
	uint32_t started, stopped;
	uint32_t refused;		/* starts that Slurm refused: its limits, its select, or because the job may not run */
	bool cut_short;			/* not all decisions were carried out: slurmctld ends, or has another configuration */
	bitstr_t *full;			/* commit/full.h */
	bitstr_t *strayed;		/* commit/strayed.h */
	struct sl_room *room;		/* commit/room.h; NULL: not computed yet */
	struct sl_off *off;		/* commit/hold.h: one per place of the book, in its order; NULL: not computed yet */
	uint32_t offs;
	/* batch jobs that were started and are still to be launched */
	struct sl_launch {
		uint32_t job_id;
		time_t start_time;	/* if the job's is another one it was requeued meanwhile */
	} *launch;
	uint32_t launches, launched, launch_room;
	uint64_t launch_since;		/* microseconds; when the oldest one was started */
};

#define SL_MARK_STARTED 0x1	/* a start of that job was carried out */
#define SL_MARK_FAILED 0x2	/* a start of that job failed */
#define SL_MARK_ACTED 0x4	/* an action on that job was carried out */

/* SL_COMMIT_LOCKS: for actions, stops, launches and native starts.  SL_START_LOCKS include them, and are for starts on nodes of the
 * plan, too: from 23.11 on such a start clears LLN in its partition's record during select_nodes() (layout.c). */
#define SL_COMMIT_LOCKS { .conf = READ_LOCK, .job = WRITE_LOCK, .node = WRITE_LOCK, .part = READ_LOCK, \
			  .fed = READ_LOCK }
#define SL_START_LOCKS { .conf = READ_LOCK, .job = WRITE_LOCK, .node = WRITE_LOCK, \
			 .part = SL_LLN_DEALS ? WRITE_LOCK : READ_LOCK, .fed = READ_LOCK }

/* A hold of slurmctld's locks that lasts for several steps.  It ends if one more step, taken to last half as long again as
 * the longest so far, could end after batch_ms, or if the plug-in is to stop.  At least one step is done. */
struct sl_hold {
	struct sl_commit *m;
	slurmctld_lock_t locks;
	uint64_t since, step, longest, most;	/* microseconds */
};
void sl_hold_take(struct sl_hold *h, struct sl_commit *m, slurmctld_lock_t locks);

/* The same for work that is not urgent: the hold is shorter. */
void sl_hold_take_brief(struct sl_hold *h, struct sl_commit *m, slurmctld_lock_t locks);

bool sl_hold_lasts(struct sl_hold *h);	/* to be asked before each step */
void sl_hold_leave(struct sl_hold *h);

/* True if Slurm's tables are those of the snapshot (same configuration, same size of the node table) and slurmctld is not
 * ending.  Single records may still have changed: look each up and compare. */
bool sl_commit_same_world(const struct sl_commit *m);

#endif
