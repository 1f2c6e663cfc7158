/* SPDX-License-Identifier: MIT */
/*
 * model/prospect.h - what those who make bids (auction/) ask of a plan: entries that could start
 * now, what is left for them, and starts on trial that are all taken back.
 *
 * Ownership: everything belongs to the plan, and holds until it changes.
 */
#ifndef SL_PROSPECT_H
#define SL_PROSPECT_H

#include "model/plan.h"

struct sl_cluster *sl_plan_cluster(const struct sl_plan *p);

/* An entry that may start now, if there is a place for it. */
struct sl_prospect {
	struct sl_plan *plan;
	struct sl_entry entry;
	const struct sl_want *want;
	struct sl_timeline *tl;		/* in which it would be booked */
	enum sl_place_method method;	/* as for a start without terms */
	int64_t seconds;		/* for which it needs its nodes: its walltime, less before a deadline, or until others
					   may preempt it */
};

/* 1 and *out; 0 when the entry may not start now; -1 with *err. */
int sl_plan_prospect(struct sl_plan *p, struct sl_entry e, struct sl_prospect *out, struct sl_error *err);

/*
 * A bid of the entry could not be made: sl_plan_prospect(), or what was asked of its prospect since, has failed with *err*.
 * 0 if that was a fault of the planner's: then only the entry's job is left out of this plan and the next ones
 * (sl_plan_leave_out()), and its user reads why.  Else -1, and *err* is as it was.
 */
int sl_prospect_failed(struct sl_plan *p, struct sl_entry e, struct sl_error *err);

/* Are its licences free from now on for so many seconds? */
bool sl_prospect_licensed(const struct sl_prospect *w, int64_t seconds);

/* A place now, for all its time.  1 and the layout, and in *native whether it is only where select would be
 * let try; 0; or -1 with *err. */
int sl_prospect_place(const struct sl_prospect *w, struct sl_layout *layout, bool *native, struct sl_error *err);

/* Where an entry would be booked, and beside whom. */
struct sl_stand {
	const struct sl_request *request;
	struct sl_timeline *tl;
	uint32_t where;		/* whose timeline that is: 0 the cluster's, else another number for each */
	uint32_t sharers;	/* jobs may be on one node only if this number is the same: one number for each user or label
				 * that has nodes to itself, for jobs that share cores, for each reservation that is flexible
				 * or has parts of nodes; 0 for all others */
};

/* 0, or -1 with *err. */
int sl_plan_stand(struct sl_plan *p, struct sl_entry e, struct sl_stand *out, struct sl_error *err);

/* A number that changes with every booking in any of these timelines. */
uint64_t sl_plan_moment(const struct sl_plan *p);

/* Tasks of the job's array that may still be started, INT64_MAX without a limit; -1 with *err. */
int64_t sl_plan_tasks_left(struct sl_plan *p, uint32_t job, struct sl_error *err);

/*
 * Starts that are only pretended: they stand in the timelines, so that each leaves less for the
 * next, and in nothing else of the plan.  Between begin and end nothing else may be booked, and
 * no entry looked at whose reservation none was looked at before.
 */
struct sl_pretence;
struct sl_pretence *sl_pretence_begin(struct sl_plan *p, struct sl_error *err);
void sl_pretence_end(struct sl_pretence *x);

/* Book the layout for all of the prospect's time.  1; 0 when something that is shared with others
 * is not free; -1 with *err. */
int sl_pretence_book(struct sl_pretence *x, const struct sl_prospect *w, const struct sl_layout *layout,
		     struct sl_error *err);

#endif
