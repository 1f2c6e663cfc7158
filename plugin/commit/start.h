/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * start.h - one start of a plan, through select_nodes(): as another shape, on borrowed
 * nodes, with a trimmed time limit where the plan says so; everything is as it was where
 * it fails.
 *
 * Threads: the cycle thread only; SL_COMMIT_LOCKS held.
 */
#ifndef SL_START_H
#define SL_START_H

#include "plugin/commit/layout.h"
#include "plugin/commit/work.h"

struct sl_start {
	struct sl_commit *m;
	/* as the plan says */
	uint32_t job_id, partition;	/* its row in the snapshot */
	int64_t stamp, time_limit;
	struct sl_range places;
	uint32_t shape;
	uint32_t through;		/* partition row to start it in, SL_NONE: its own */
	struct sl_range lenders;
	bool native, dealt;
	uint32_t resv;			/* its row in the snapshot, SL_NONE: as it asks */
	bool any_way;			/* or in any reservation that it may start in */
	int64_t expected;		/* seconds that the plan has booked its nodes for; 0: its walltime */
	uint32_t behind;		/* of a native start: the nodes of the plan's first *behind* reservations are hidden from select */
	uint32_t blocks;		/* the first *blocks* of the plan's blocked nodes are closed to it */
	bool again;			/* an earlier row was for the same array, and started a task */
	/* found out on the way */
	uint32_t row;			/* of the job in the snapshot, or SL_NONE */
	job_record_t *job;
	part_record_t *part;
	part_record_t *lend;		/* through; NULL: nothing is borrowed */
	struct sl_layout_place *place;
	uint32_t count;
	bitstr_t *keep_off;		/* native: nodes that, while the job would run, are reserved for other jobs, kept free by
					 * the policy or held for other jobs; or NULL */
	bool closed;			/* keep_off has all of them */
	bool as_planned;		/* the record was there, unchanged, and nobody has strayed to its places */
	/* what became of it */
	enum sl_fate fate;
	char *text;			/* why not, 160 bytes */
};

/* Find the job's record.  NULL if it is there and unchanged since the snapshot; else a text that says what has changed. */
const char *sl_start_find(struct sl_start *s);

/* Start the job.  False if it was not started: s->fate and s->text say why. */
bool sl_start_run(struct sl_start *s, struct sl_cores *cores);

/* Count the result in the status, and note jobs that are not tried again for a while. */
void sl_start_count(struct sl_start *s);

#endif
