/* SPDX-License-Identifier: MIT */
/*
 * plan_cut.h - a plan without the rows that the checker refused.
 *
 * The checker (check/check.h) lists the rows; sl_plan_cut() copies the plan without them.  A job that loses a
 * start or its reservation stays pending for SL_WHY_CHECK, and the row itself is kept in the table "refused".
 *
 * Ownership: a list owns its texts; end it with sl_cuts_free().  Threads: none.
 */
#ifndef SL_PLAN_CUT_H
#define SL_PLAN_CUT_H

#include "image/plan_image.h"
#include "image/remember.h"

/* What users read of a job that lost its place, before ": " and the checker's words. */
#define SL_CUT_WHY "the checker refused its place"

/* ... and of a job that could not be planned. */
#define SL_FAULT_WHY "the planner failed"

/* One row that is to be taken out. */
struct sl_cut {
	enum sl_plan_table table;	/* SL_P_START, SL_P_RESERVE, SL_P_PENDING, SL_P_ACTION or SL_P_SHORTAGE */
	uint32_t row;			/* its row there */
	uint32_t job;			/* JobId that stands in it */
	bool waits;			/* the job is in the snapshot's queue, and the rest of the plan does not start all of it */
	char *text;			/* why, without the job's id in front; NULL beyond SL_PLAN_REFUSED_MAX rows */
};

/* All of them, each row at most once.  All bytes zero: none. */
struct sl_cuts {
	struct sl_cut *cut;
	uint32_t count, room;
	uint64_t bookings;		/* that were looked at to find them: the work of the check */
};

/* Add a row; its text is replaced by a copy of *text*.  0, or -1 with *err (SL_ENOMEM). */
int sl_cuts_add(struct sl_cuts *cuts, const struct sl_cut *cut, const char *text, struct sl_error *err);

void sl_cuts_free(struct sl_cuts *cuts);

/*
 * Copy *plan* into the empty builder *to*, without the rows of *cuts*.  Of a job whose start or reservation is
 * taken out, the forecast and the permission to preempt are taken out too; its actions and its other rows (the
 * tasks of an array that are planned beside) stay.  It gets a row in "pending": "the checker refused its
 * place: TEXT".  Numbers of reservations (start.behind, preempt.behind, hold.behind) and starts (hold.starts) are those of the
 * ones that stay.  Each row that is taken out stands in "refused" afterwards.  *memory* is what the plan remembers instead of what it
 * did; NULL: the same.  0, or -1 with *err (SL_ENOMEM); what else
 * fails is reported by sl_builder_finish().
 */
int sl_plan_cut(const struct sl_plan_image *plan, const struct sl_cuts *cuts, const struct sl_remember *memory,
		struct sl_builder *to, struct sl_error *err);

#endif
