/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * start.h - one start of a plan, through select_nodes(): with another shape, on borrowed nodes, or with a shorter time limit
 * if the plan says so.  If it fails, the job's record is as before.
 *
 * Threads: the cycle thread only; SL_START_LOCKS held (SL_COMMIT_LOCKS do for a native start).
 */
#ifndef SL_START_H
#define SL_START_H

#include "plugin/commit/layout.h"
#include "plugin/commit/work.h"

struct sl_start {
	struct sl_commit *m;
	/* from the plan */
	uint32_t job_id, partition;	/* partition: row in the snapshot */
	int64_t stamp, time_limit;
	struct sl_range places;
	uint32_t shape;
	uint32_t through;		/* row of the partition to start it in; SL_NONE: its own */
	struct sl_range lenders;
	bool native, dealt;
	uint32_t resv;			/* row in the snapshot; SL_NONE: as the job asks */
	bool any_way;			/* any reservation that the job may start in will do */
	int64_t expected;		/* seconds for which the plan has booked its nodes; 0: its time limit */
	uint32_t behind;		/* native: the nodes of the plan's first *behind* reservations are hidden from select */
	uint32_t blocks;		/* native: the nodes of the plan's first *blocks* blocks are hidden from select, too */
	bool again;			/* an earlier row of the plan has started a task of the same array */
	/* found out during the start */
	uint32_t row;			/* of the job in the snapshot, or SL_NONE */
	job_record_t *job;
	part_record_t *part;
	part_record_t *lend;		/* the partition *through*; NULL: nothing is borrowed */
	struct sl_layout_place *place;
	uint32_t count;
	bitstr_t *keep_off;		/* nodes that are closed to the job: held for other jobs and, for a native one,
					 * reserved for others or kept free by the policy while it would run; or NULL */
	bool closed;			/* keep_off is complete */
	bool as_planned;		/* the record was unchanged, and no strayed job was on its places */
	/* result */
	enum sl_fate fate;
	char *text;			/* why it was not started, 160 bytes */
};

/* Find the job's record.  NULL if it is there and unchanged since the snapshot; else a text that says what has changed. */
const char *sl_start_find(struct sl_start *s);

/* Start the job.  False if it was not started: s->fate and s->text say why. */
bool sl_start_run(struct sl_start *s, struct sl_cores *cores);

/* Count the result in the status.  A job that was refused may be left out of the plans for a while. */
void sl_start_count(struct sl_start *s);

#endif
