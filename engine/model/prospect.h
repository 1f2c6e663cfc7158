/* SPDX-License-Identifier: MIT */
/*
 * model/prospect.h - what bidders (auction/) ask of a plan: entries that could start now, what is free for them, and trial
 * starts that are all undone.
 *
 * Ownership: everything belongs to the plan, and is valid until it changes.
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
	struct sl_timeline *tl;		/* the timeline in which it would be booked */
	enum sl_place_method method;	/* as for a start without terms */
	int64_t seconds;		/* for which it needs its nodes: its walltime; less if a deadline comes first or
					 * other jobs may preempt it */
};

/* 1 with *out; 0 if the entry may not start now; -1 with *err. */
int sl_plan_prospect(struct sl_plan *p, struct sl_entry e, struct sl_prospect *out, struct sl_error *err);

/*
 * sl_plan_prospect(), or a later call with its result, has failed with *err*.  Returns 0 if the planner is at fault: then
 * only the entry's job is left out of this and the next plans (sl_plan_leave_out()), and its user sees why.  Otherwise -1,
 * with *err* unchanged.
 */
int sl_prospect_failed(struct sl_plan *p, struct sl_entry e, struct sl_error *err);

/* True if its licences are free from now on for that many seconds. */
bool sl_prospect_licensed(const struct sl_prospect *w, int64_t seconds);

/* A place now, for all its time.  1 with the layout, and *native set if select would choose the nodes; 0; or -1 with *err. */
int sl_prospect_place(const struct sl_prospect *w, struct sl_layout *layout, bool *native, struct sl_error *err);

/* Where an entry would be booked, and which jobs it may share nodes with. */
struct sl_stand {
	const struct sl_request *request;
	struct sl_timeline *tl;
	uint32_t where;		/* number of the timeline: 0 the cluster's, another number for each other one */
	uint32_t sharers;	/* Jobs may be on one node only if their numbers are equal.  Own numbers: each user or
				 * label with nodes of its own, jobs that share cores, each reservation that is flexible or
				 * has parts of nodes.  0: all others */
};

/* 0, or -1 with *err. */
int sl_plan_stand(struct sl_plan *p, struct sl_entry e, struct sl_stand *out, struct sl_error *err);

/* A number that changes with every booking in any of these timelines. */
uint64_t sl_plan_moment(const struct sl_plan *p);

/* Number of tasks of the job's array that may still start, INT64_MAX: no limit; -1 with *err. */
int64_t sl_plan_tasks_left(struct sl_plan *p, uint32_t job, struct sl_error *err);

/* Trial starts: booked in the timelines, so that each leaves less for the next, but not part of the plan.  Between begin
 * and end, book nothing else, and look at no entry of a reservation that has not been looked at before. */
struct sl_pretence;
struct sl_pretence *sl_pretence_begin(struct sl_plan *p, struct sl_error *err);
void sl_pretence_end(struct sl_pretence *x);

/* Book the layout for the prospect's whole time.  1; 0 if something shared is not free; -1 with *err. */
int sl_pretence_book(struct sl_pretence *x, const struct sl_prospect *w, const struct sl_layout *layout,
		     struct sl_error *err);

#endif
