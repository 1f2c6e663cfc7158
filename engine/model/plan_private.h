/* SPDX-License-Identifier: MIT */
/*
 * plan_private.h - the inside of a plan, for plan*.c only.
 */
#ifndef SL_PLAN_PRIVATE_H
#define SL_PLAN_PRIVATE_H

#include "base/map.h"
#include "model/cluster_private.h"
#include "model/plan.h"

#include <string.h>

struct booking {
	struct sl_entry entry;
	const struct want *want;
	struct sl_layout layout;
	struct sl_place *places;	/* the layout as a list; NULL until needed */
	int64_t t0, t1;
	int64_t limit;			/* seconds; less than the time limit if it was shortened */
	int64_t expected;		/* seconds for which it is booked, if less than the limit; else 0 */
	int64_t boots;			/* seconds at its begin in which its nodes boot */
	enum sl_place_method method;
	uint32_t segment;		/* as in struct sl_how */
	struct sl_range licenses;	/* rows of job_license that it uses */
	uint32_t by;
	uint32_t reserved;		/* number of reservations made before, including those dropped since */
	uint32_t blocks;		/* the first this many of the plan's blocks apply to it */
	char *because;			/* NULL: no reason given */
};

struct bookings {
	struct booking **item;
	struct sl_entry *entry;		/* the same entries, for readers */
	uint32_t count, room;
};

struct note {				/* why a job stays pending */
	uint32_t job;
	bool own;			/* set by the policy itself */
	uint32_t by;
	uint32_t barred_by;		/* number + 1 of the policy whose guard rejected its place; 0: none */
	struct sl_refusal said;
};

struct closing {			/* a partition that a policy has closed */
	enum sl_why why;		/* SL_WHY_NONE: not closed */
	uint32_t by;
	char text[160];
};

struct action {				/* an action of the plan */
	enum sl_action verb;
	uint32_t job, by;
	int64_t number;
	char *text;
};

struct line {
	unsigned level;
	char *text;
};

struct throttle {			/* limit on running tasks of an array */
	uint32_t array;
	uint32_t running;		/* tasks that run or were started in this plan */
};

struct kept_free {			/* nodes kept free for a time (confine.c) */
	struct sl_nodeset nodes;
	int64_t from, to;
};

struct enclave_mark {
	struct enclave *enclave;
	uint32_t mark;
};

/* Why an attempt did not fit. */
struct lack {
	struct sl_misfit misfit;
	uint32_t license;		/* licence that was missing, or SL_NONE */
	int64_t license_has;
};

enum refusal_kind {
	REFUSED_NOW,			/* does not fit now for that long */
	REFUSED_BESIDE_HEAD,		/* nor by exchanging nodes with the head without delaying it */
};

struct refused {			/* a request that was refused a moment ago */
	const struct want *w;
	enum refusal_kind kind;
	bool block;			/* it needs consecutive nodes */
	bool native;			/* nodes reserved by others were left out, so this holds for native jobs only */
	int64_t seconds;
	struct lack lack;
};
#define PLAN_REFUSALS 64

struct waited {				/* no start before *until*, computed for starts from *from* on */
	const struct want *w;
	bool block;
	int64_t seconds, from, until;
};
#define PLAN_WAITS 128

/* Jobs for which select is asked to preempt others. */
struct preempting {
	struct sl_entry entry[SL_PLAN_PREEMPT_MAX];
	uint32_t reserved[SL_PLAN_PREEMPT_MAX];	/* of confirmed ones: as booking.reserved */
	uint32_t blocks[SL_PLAN_PREEMPT_MAX];	/* likewise, as booking.blocks */
	uint32_t count;
};

/* The part of a running job's booking from t0, when other jobs may preempt it, to its end t1 (plan_yields.c). */
struct tail {
	uint32_t job;
	bool lifted;			/* currently off the timeline */
	struct sl_nodeset nodes;	/* except those with a stump */
	struct sl_resources each;
	int64_t t0, t1;
};

/* What is left of a tail on a node that a job which may preempt has reserved: the running job keeps the node only until
 * that reservation begins. */
struct stump {
	uint32_t tail, node;
	int64_t t1;			/* end of the booking; nothing is booked if it is not after the tail's t0 */
};

/* A place that is held for a job (plan_hold.c). */
struct hold {
	uint32_t job;
	int64_t until;
	struct held_node {
		uint32_t node;
		struct sl_resources each;
	} *node;
	uint32_t count;
	struct node_booking *booking;	/* what is on the timeline now, beside the job's own booking */
	uint32_t bookings;
	bool is_placed, is_aside;
	bool fresh;			/* made by this plan; false: from the snapshot */
	bool released;			/* no longer held */
	uint32_t starts, reservations;	/* of a fresh one: numbers of starts (still valid) and reservations made before */
	enum sl_verdict verdict;	/* this and the rest: of a fresh one */
	double cost, bound;
	uint32_t by;
	char *because;
};

/* A running job that is stopped for another one (plan_stop.c). */
struct stop {
	uint32_t job, preemptor;	/* rows */
	uint32_t group, mode, by;
	bool moves;			/* it has another place to go to */
	double cost;
	int64_t from, end;		/* it was booked until *end*; now it is booked until *from* */
};

/* A job for which others were stopped and that has not started since (plan_backoff.c). */
struct backoff {
	uint32_t job;			/* JobId */
	uint32_t places;		/* number of places made for it */
	int64_t began, last;		/* times of the first and last stop for its latest place */
};

/* Why no jobs are stopped for a pending one: becomes a row in the plan's table of shortages. */
struct shortage {
	struct sl_entry entry;
	uint32_t by, what, which;
	int64_t at, seconds, needs, has;
	struct sl_plan_short_row *shorts;
	uint32_t *spared;		/* rows of jobs */
	uint32_t short_count, spared_count, stoppable;
	uint64_t given_back;		/* p->given_back at that time */
};

struct spendings {			/* work spent, by job row or user */
	struct spending {
		uint32_t number;
		uint64_t units;
	} *item;
	uint32_t count;
	struct sl_map by_number;
};

struct cost {				/* plan_cost.c */
	bool bounded;
	bool is_well_asked;		/* the caller's arguments are valid: failure is the planner's fault */
	uint32_t inside;		/* nesting depth of attempts */
	uint64_t begun;			/* units spent before the outermost attempt */
	struct spendings of_job, of_user;	/* of_user: only what exceeds the base allowance of each job */
};

struct left_outs {			/* plan_left_out.c */
	struct sl_left_out *out;
	uint32_t count;
	struct sl_map by_id;		/* index into *out* */
};

struct sl_plan {
	struct sl_cluster *c;
	uint32_t mark;
	struct enclave_mark *marks;
	uint32_t mark_count;
	char **by;
	uint32_t bys;			/* the last one is deciding */
	struct bookings started, reserved;
	uint32_t reservations;		/* made so far, including dropped ones */
	struct kept_free *kept_free;	/* by sl_plan_block() */
	uint32_t kept_frees;
	uint8_t *uses_blocked;		/* [job] may use those nodes; NULL: no job may */
	bool blocked_open;		/* those nodes are currently open */
	bool unheard, settled, settled_full;
	struct sl_promise promise;
	uint8_t *passed;		/* [entry] passed over; NULL: none was */
	struct room {			/* what jobs behind the head can use */
		bool known;
		uint64_t moment;	/* of the timeline when this was computed */
		int64_t cores;		/* free now */
		int64_t until;		/* seconds until the head's start */
		int64_t later;		/* cores for jobs that still run at that time */
	} room;
	int64_t wake_after;		/* see sl_plan_wake_after() */
	uint32_t forecasts;		/* number of forecasts, which are the last ones in *reserved* */
	int64_t *expected;		/* [job] start shown to users; 0: of its reservation or forecast; NULL: all 0 */
	uint64_t revision;
	sl_plan_guard *guard;		/* NULL: all jobs may start */
	void *guard_arg;
	bool on_trial;			/* the guard is being asked about the last of *started* */
	bool choosing;			/* the policy is being asked which jobs to stop: the plan must not change */
	struct cost cost;
	struct left_outs left;
	uint32_t head_at;		/* number of reservations by earlier policies: the head is the next one */
	uint32_t *starts, *notes_of;	/* [job] arrays of the cluster: plan_starts, plan_notes */
	struct note *note;
	uint32_t notes;
	struct closing *closing;	/* [partition]; NULL: none is closed */
	uint32_t *queue_of;		/* [job] array of the cluster: plan_queue */
	uint32_t *queue_next;		/* [entry] number of the same job's next entry + 1, or 0 */
	uint32_t refusals, next_refusal;
	uint32_t waits, next_wait;
	const struct booking *stuck;	/* the last head that was found to have no other nodes at its time; NULL after
					 * resources are released */
	bool counts_arrays;		/* the running tasks of all arrays have been counted */
	struct throttle *throttle;
	uint32_t throttles;
	struct sl_map throttle_of;	/* by array_job_id */
	struct tail *tail;
	uint32_t tails;
	uint64_t tail_work;		/* units spent on tails */
	uint64_t **preempted;		/* [list of preemptees] bits: tails of jobs in that list */
	uint32_t preempteds;
	struct sl_map preempted_of;
	struct stump *stump;
	uint32_t stumps;
	bool tails_known;
	bool stumps_short;		/* some stump could not be booked as a whole */
	bool stumps_stale;		/* a booking that kept a stump short was removed since */
	uint32_t tails_for;		/* list of preemptees (job.preempts) whose tails are off the timeline; 0: none */
	struct hold *hold;
	uint32_t holds;
	struct stop *stop;
	uint32_t stops, stop_groups;
	uint32_t narrow;		/* calls of plan_hold_narrow() minus calls of plan_hold_widen() */
	struct orphan *orphan;
	uint32_t orphans;
	uint8_t *own_stops;		/* [partition] sl_plan_own_stops(); NULL: for none */
	struct backoff *backoff;	/* by JobId; NULL: not read yet */
	uint32_t backoffs;
	struct shortage *shortage;
	uint32_t shortages, spared;	/* spared: total number of jobs that the shortages spare */
	double cores_per_gpu;		/* sl_preempt_cores_per_gpu(); 0: not computed yet */
	double mip_work;		/* seconds of integer programming so far */
	uint64_t given_back;		/* counts bookings removed or moved, and places released */
	struct action *action;
	uint32_t actions;
	uint8_t *acted;		/* [job] number of actions; NULL: no job has any */
	struct line *line;
	uint32_t lines;
	/* Large arrays that are mostly empty.  A plan is made in each cycle, so only their counts are cleared. */
	struct preempting tried;	/* tried by this policy without success */
	struct preempting confirmed;	/* may start beside all that has started so far */
	struct refused refusal[PLAN_REFUSALS];
	struct waited wait[PLAN_WAITS];
};

/* One request on one timeline, tried for a start now or for the earliest start. */
struct attempt {
	struct sl_plan *p;
	const struct want *w;
	struct sl_how how;
	struct sl_timeline *tl;
	int64_t expected;		/* expected run time in seconds; 0: its walltime */
	int64_t wake_after;		/* it waits this many seconds for nodes that are up */
	enum { MAY_WAKE, WAKES_NONE, NOT_LOOKED_AT } wakes;	/* for a start now: may it use nodes that have to boot? */
	bool on_up;			/* restricted to nodes that are up */
	bool wakes_nobody;		/* restricted so in all calls of plan_fits() */
	struct sl_nodeset open;		/* of a native job: its nodes without those reserved by other jobs */
	struct sl_layout layout;	/* of the last call that fitted */
	struct lack lack;		/* of the last call that did not */
	struct sl_range licenses;	/* licences as of the last look, as in a booking */
};

/* Number of tasks that a job's record stands for. */
static inline uint32_t plan_tasks(const struct sl_plan *p, uint32_t job)
{
	uint32_t n = p->c->snap->job.array_pending[job];

	return n ? n : 1;
}

/* plan.c: lists and notes. */
int plan_no_memory(struct sl_error *err);
void plan_free_booking(struct booking *b);

/* plan_make_room(): make room for one more, so that plan_insert() cannot fail.  plan_find(): index of a job's last
 * booking, SL_NONE if there is none. */
int plan_make_room(struct bookings *list, struct sl_error *err);
void plan_insert(struct bookings *list, uint32_t at, struct booking *b);
void plan_take_out(struct bookings *list, uint32_t at);
uint32_t plan_find(const struct bookings *list, uint32_t job);

/* The closing of one of the job's partitions, which is the reason that its user reads if there is no other one; NULL if none
 * is closed. */
const struct closing *plan_closing(const struct sl_plan *p, uint32_t job);

/* Hand a refusal to the caller, and keep it for the user.  0, or -1 with *err. */
int plan_refuse(struct sl_plan *p, const struct sl_entry *e, const struct sl_refusal *why, struct sl_refusal *out,
		struct sl_error *err);

/* Called if the job has started after all: forget why earlier attempts failed. */
void plan_forget_attempts(struct sl_plan *p, uint32_t job);

/* plan_cost.c: find out whether the plan has bounds on work (a simulation has none); free what it notes of work. */
void plan_bound_costs(struct sl_plan *p);
void plan_free_costs(struct sl_plan *p);

/* Begin work for a job.  The work fails with SL_EEFFORT once it exceeds the job's allowance.  False if the job is left out: then
 * nothing has begun. */
bool plan_begin_work(struct sl_plan *p, uint32_t job);

/* -1 with *err, which names the verb, if the policy is being asked which jobs to stop: no verb may be called then.  Else 0. */
int plan_check_idle(const struct sl_plan *p, const char *verb, struct sl_error *err);

/* End the work for a job, which returned *rc* and *err* (not NULL).  Too much work, or a fault of the planner, becomes a refusal.
 * Returns rc, or 0 for such a refusal. */
int plan_end_work(struct sl_plan *p, const struct sl_entry *e, int rc, struct sl_refusal *refusal, struct sl_error *err);

/* Planning the job of the entry has failed with *err*.  If that was too much work, or a fault of the planner's, only this job
 * is left out and refused: 0.  -1 with *err if it is neither, in a simulation, or without memory. */
int plan_spare_others(struct sl_plan *p, const struct sl_entry *e, struct sl_refusal *refusal, struct sl_error *err);

/* plan_left_out.c: why the job of that row is not planned for a while, since it is on the list and, if the checker refused
 * its place, nobody has changed it since; NULL: it is planned. */
const struct sl_left_out *plan_find_left_out(const struct sl_plan *p, uint32_t job);

/* Set *why to what the user reads of a job that is left out (*l* NULL: that it takes too long to plan).  The text stays the plan's. */
void plan_say_left_out(const struct sl_left_out *l, struct sl_refusal *why);

/* Leave the job out from now on, because planning it took too long; or because it failed with that error. */
void plan_leave_out_costly(struct sl_plan *p, uint32_t job);
void plan_leave_out_failed(struct sl_plan *p, uint32_t job, const char *error);
void plan_free_left_outs(struct sl_plan *p);

/* Do not charge *units* of the work done so far to the job whose turn it is. */
void plan_charge_nobody(struct sl_plan *p, uint64_t units);

/* True, with the reason in *why, if only Slurm's select can choose which jobs are preempted for this one. */
bool plan_stops_are_selects(const struct sl_cluster *c, const struct want *w, struct sl_refusal *why);

/* True if this plan alone decides which jobs are preempted for the job (sl_plan_own_stops()). */
bool plan_owns_stops_for(const struct sl_plan *p, const struct want *w);

/* True if plan_owns_stops_for() is, and the entry asks for its nodes in blocks.  Such an entry is placed as if it could not preempt:
 * left to select it would get an upper bound, which knows no blocks, and would always seem to fit. */
bool plan_knows_blocks_for(const struct sl_plan *p, struct sl_entry e);

/* Refuse the entry because its job is left out.  0, or -1 with *err. */
int plan_refuse_work(struct sl_plan *p, const struct sl_entry *e, struct sl_refusal *refusal, struct sl_error *err);

/* plan_preempt.c: call these when a start did not fit; when something was started; when a job is refused. */
void plan_preempt_tried(struct sl_plan *p, const struct want *w, enum sl_why why);
void plan_preempt_outdated(struct sl_plan *p);
void plan_preempt_drop(struct sl_plan *p, uint32_t job);

/* plan_bar(): the guard forbade the place that was found for the job; until another policy decides, it gets no reservation
 * either.  0, or -1 with *err.  plan_is_barred(): true if that has happened. */
int plan_bar(struct sl_plan *p, uint32_t job, const struct sl_refusal *why, struct sl_error *err);
bool plan_is_barred(const struct sl_plan *p, uint32_t job);

/* plan_start.c: start one entry, loan included, or (*easy*) exchange nodes with the head, as sl_plan_start() and
 * sl_plan_backfill() say.  On success it is the last of p->started. */
int plan_start(struct sl_plan *p, struct sl_entry e, const struct sl_terms *terms, bool easy, struct sl_refusal *refusal,
	       struct sl_error *err);

/* plan_decide.c: as sl_plan_start(), or (*easy*) sl_plan_backfill(), for one component. */
int plan_start_alone(struct sl_plan *p, struct sl_entry e, const struct sl_terms *terms, bool easy,
		     struct sl_refusal *refusal, struct sl_error *err);

/* plan_het.c: true for components of heterogeneous jobs; for these plan_start_het() and plan_reserve_het() do what
 * sl_plan_start(), sl_plan_backfill() and sl_plan_reserve() say, for all components. */
static inline bool plan_is_component(const struct sl_cluster *c, uint32_t job)
{
	return job < c->snap->job.rows && c->snap->job.het_job_id[job] && c->snap->job.het_job_id[job] != SL_NONE;
}
int plan_drop_het(struct sl_plan *p, uint32_t job, struct sl_error *err);	/* drop all its reservations */

/* As sl_plan_undo(): for all components of the heterogeneous job that *job* belongs to; for that job alone. */
int plan_undo_het(struct sl_plan *p, uint32_t job, struct sl_error *err);
int plan_undo_one(struct sl_plan *p, uint32_t job, struct sl_error *err);

/* plan_het_nodes.c: assign nodes to all of up to PLAN_HET_EXACT components from *t* on, such that each gets enough
 * suitable ones.  1, with avoid[] (initially empty, the caller's) set to the nodes that each component must leave to
 * others; 0 if there is no assignment, or a component needs different amounts on its nodes; -1 with *err. */
#define PLAN_HET_EXACT 8
int plan_share_out(struct sl_plan *p, const struct want *const *w, uint32_t components, int64_t t, struct sl_nodeset *avoid,
		   struct sl_error *err);
int plan_start_het(struct sl_plan *p, struct sl_entry e, const struct sl_terms *terms, bool easy,
		   struct sl_refusal *refusal, struct sl_error *err);
int plan_reserve_het(struct sl_plan *p, struct sl_entry e, const struct sl_terms *terms, int64_t *start_time,
		     struct sl_refusal *refusal, struct sl_error *err);

/* plan_yields.c: until the next call, show the timeline as this entry must see it: without the tails of jobs that it may
 * preempt.  0 or -1. */
int plan_look_for(struct sl_plan *p, const struct want *w, struct sl_error *err);

/* Show the timeline with all running jobs until their ends.  0 or -1. */
int plan_look_for_nobody(struct sl_plan *p, struct sl_error *err);

/* True if a reservation of this plan already counts on the running job's being preempted. */
bool plan_is_taken_over(const struct sl_plan *p, uint32_t job);

/* The running job, which no reservation preempts, is off the timeline from *at* on. */
void plan_tails_end(struct sl_plan *p, uint32_t job, int64_t at);
void plan_free_tails(struct sl_plan *p);

/* Drop reservations that have become impossible.  A reservation may count on nodes of a running job since an earlier
 * reservation's job preempts it.  If that earlier reservation has been moved or taken back, the nodes are not free in time.
 * 0, or -1 with *err. */
int plan_drop_voids(struct sl_plan *p, struct sl_error *err);

/* Take back the reservation with that number, and say why.  0, or -1 with *err. */
int plan_drop_void(struct sl_plan *p, uint32_t at, struct sl_error *err);

/* To be called when a booking is taken off the timeline: stumps may become longer. */
void plan_stumps_outdated(struct sl_plan *p, const struct booking *b);

/* plan_reserve.c: as sl_plan_reserve() and sl_plan_earliest(), for one entry, from *from* on. */
int plan_reserve(struct sl_plan *p, struct sl_entry e, const struct sl_terms *terms, int64_t from, int64_t *start_time,
		 struct sl_refusal *refusal, struct sl_error *err);
int plan_earliest_start(struct sl_plan *p, struct sl_entry e, const struct sl_terms *terms, int64_t *start_time,
			struct sl_refusal *why, struct sl_error *err);

/* plan_start.c: the want of an entry; NULL with *err if it is not queued. */
const struct want *plan_look_up(struct sl_plan *p, struct sl_entry e, const struct sl_how *how,
				struct sl_error *err);

/* 0 with *r if something forbids booking it, whatever is free (its partition, its limits, ...); else 1. */
int plan_gate(struct sl_plan *p, const struct want *w, const struct sl_how *how, struct sl_refusal *r);

/* 0 with *r if something forbids starting it now (its begin time, its array's limit, ...); else 1; -1 with *err. */
int plan_gate_now(struct sl_plan *p, const struct want *w, struct sl_refusal *r, struct sl_error *err);

/* True if the job's array has a limit of running tasks.  Count a task that was started (*by* 1) or taken back (-1). */
bool plan_throttled(const struct sl_plan *p, uint32_t job);
void plan_count_task(struct sl_plan *p, uint32_t job, int by);

/* Book what the attempt found, from *t* on.  1 with *out; 0; -1. */
int plan_take(struct attempt *a, int64_t t, int64_t seconds, struct booking **out, struct sl_error *err);

/* plan_lift(): take a job's reservation, *at, off the timeline while something else is tried for the job (*at SL_NONE: it
 * has none).  Then either plan_put_back() or plan_drop(). */
int plan_lift(struct sl_plan *p, uint32_t job, uint32_t *at, struct sl_error *err);
int plan_put_back(struct sl_plan *p, uint32_t at, struct sl_error *err);
void plan_drop(struct sl_plan *p, uint32_t at);

/* plan_across.c: the timeline of an enclave (NULL: the main one); NULL with *err.  The plan marks it, so that it can undo
 * its bookings. */
struct sl_timeline *plan_timeline_of(struct sl_plan *p, struct enclave *en, struct sl_error *err);

/* Close the booking's nodes (*up*) in other timelines, for jobs that may not run beside it, or open them again.  On
 * failure nothing has changed. */
int plan_bar_across(const struct sl_plan *p, const struct booking *b, bool up, struct sl_error *err);

/* Close those nodes (*up*) in all timelines for jobs that are not confined to an advance reservation, or open them again.
 * 0; or -1 with *err, and nothing has changed. */
int plan_keep_free(const struct sl_plan *p, const struct kept_free *k, bool up, struct sl_error *err);

/* plan_mark(): mark all timelines; NULL with *err.  plan_unmark(): remove the marks, with *undo* rolling back to them. */
uint32_t *plan_mark(const struct sl_plan *p, struct sl_error *err);
void plan_unmark(const struct sl_plan *p, uint32_t *mark, bool undo);

/* confine.c: while a place for a job is looked for, open nodes that are kept free if this job may use them, and take its
 * held place off the timeline.  0, or -1 with *err.  plan_as_before() restores that by *was, whatever the first returned.
 * If it lacks memory nothing changes, and plan_open_for() tries again for the next job. */
struct opened {
	bool blocked;
	uint32_t job;			/* job whose held place is off the timeline; SL_NONE: none */
};
int plan_open_for(struct sl_plan *p, uint32_t job, struct opened *was, struct sl_error *err);
void plan_as_before(struct sl_plan *p, struct opened was);
void plan_free_blocked(struct sl_plan *p);

/* How many of the plan's blocks, counted from the first, apply to the job of *w* (NULL: not in a reservation). */
uint32_t plan_blocks_of(const struct sl_plan *p, uint32_t job, const struct want *w);

/* plan_hold.c.  plan_hold_of(): the place held for the job; NULL: none.  plan_hold_all(): read those of the snapshot.
 * plan_hold_add(): hold a place, whose lists the plan then owns, after plan_hold_room().  0, or -1 with *err: without
 * memory a part of it is not held. */
struct hold *plan_hold_of(const struct sl_plan *p, uint32_t job);
int plan_hold_all(struct sl_plan *p, struct sl_error *err);
int plan_hold_room(struct sl_plan *p, struct sl_error *err);
int plan_hold_add(struct sl_plan *p, const struct hold *h, struct sl_error *err);
void plan_hold_release(struct sl_plan *p, uint32_t job);

/* When the last victim with usable nodes of the held place will have ended; 0 if there is none. */
int64_t plan_hold_rest_at(const struct sl_plan *p, const struct hold *h);

/* To be called when a job's reservation is removed: its held place no longer ends where the reservation began. */
void plan_hold_on(struct sl_plan *p, uint32_t job);
void plan_hold_free(struct sl_plan *p);

/* To be called when the start with that index is undone. */
void plan_hold_start_gone(struct sl_plan *p, uint32_t start);

/* plan_hold_narrow(): book only what is free now of held places.  plan_hold_widen() ends that. */
void plan_hold_narrow(struct sl_plan *p);
void plan_hold_widen(struct sl_plan *p);

/* Take the held place of that job off the timeline, and put those of all others back; SL_NONE: put back all. */
void plan_hold_open(struct sl_plan *p, uint32_t job);

/* Remove the nodes of other jobs' held places from *nodes*.  0 or -1. */
int plan_hold_keep_off(const struct sl_plan *p, uint32_t job, struct sl_nodeset *nodes, struct sl_error *err);

/* plan_stop.c.  plan_preempt(): sl_plan_preempt() for an entry that the guard allows.  plan_stops_others(): true if the plan stops
 * jobs for this one.  plan_cancel_stops(): it does so no longer. */
struct sl_preempt_terms;
struct sl_preempt_answer;
int plan_preempt(struct sl_plan *p, struct sl_entry e, const struct sl_preempt_terms *terms, struct sl_preempt_answer *answer,
		 struct sl_error *err);
bool plan_stops_others(const struct sl_plan *p, uint32_t job);
void plan_cancel_stops(struct sl_plan *p, uint32_t job);
void plan_free_stops(struct sl_plan *p);

/* plan_backoff.c: until when no jobs are stopped for this one, because two or more places that were made for it failed:
 * SL_PREEMPT_RETRY_S after the last stop, for each of them but the first; 0: jobs may be stopped now; INT64_MAX: no memory. */
int64_t plan_backs_off_until(struct sl_plan *p, uint32_t job);

/* plan_victims.c.  plan_find_victims(): list the groups that may be stopped; *permitted* counts their jobs.
 * plan_choose_victims(): the cheapest set of the caller's groups without which the attempt fits at *t* for that many
 * seconds. */
struct victim_group {
	uint32_t *job;			/* rows of jobs */
	double *cost;			/* of each */
	uint32_t jobs;
	double sum;
};
struct victim_groups {
	struct victim_group *item;
	uint32_t count, permitted;
};
struct sl_choice;
int plan_find_victims(struct attempt *a, const struct sl_preempt_terms *terms, struct victim_groups *groups, struct sl_error *err);
int plan_choose_victims(struct attempt *a, const struct sl_preempt_terms *terms, const struct victim_groups *groups, int64_t t,
			int64_t seconds, bool count_alike, struct sl_choice *choice, struct sl_error *err);
void plan_victims_free(struct victim_groups *groups);

/* When the group is gone at the earliest, if told to end now; the latest of these over all groups, or those of *of*. */
int64_t plan_group_gone_at(const struct sl_plan *p, const struct victim_group *g);
int64_t plan_all_gone_at(const struct sl_plan *p, const struct victim_groups *groups, const bool *of);

/* plan_limits.c.  plan_limits_create(): count jobs stopped before, and those of the chosen groups (NULL: none); NULL with
 * *err.  plan_is_spared(): true if no more jobs of this job's user or partition may be stopped.  plan_stops_too_many(): 1,
 * with the reason, if the chosen groups exceed a limit; 0; -1. */
struct stop_limits *plan_limits_create(const struct sl_plan *p, const struct sl_preempt_terms *t, const struct victim_groups *groups,
				       const bool *chosen, struct sl_error *err);
void plan_limits_free(struct stop_limits *l);
bool plan_is_spared(const struct sl_plan *p, const struct sl_preempt_terms *t, const struct stop_limits *l, uint32_t job);
int plan_stops_too_many(const struct sl_plan *p, const struct sl_preempt_terms *t, const struct victim_groups *groups,
			const bool *chosen, struct sl_refusal *why, struct sl_error *err);

/* Convert amounts to the dimensions of the search (victims.h): cores, memory, each gres that the request asks for.
 * plan_claim(): the least that the job needs on each of its nodes; plan_total(): on all nodes together. */
enum { OF_CORES, OF_MEMORY, OF_GRES };
void plan_to_dims(const struct sl_request *r, const struct sl_resources *have, int64_t *amount);
void plan_claim(const struct sl_request *r, const struct sl_node_kind *kind, int64_t *claim);
void plan_total(const struct sl_timeline *tl, const struct sl_request *r, int64_t *total);

/* plan_shortage.c.  The job does not fit at *t* for that many seconds although all groups are off the timeline: note what
 * is short, if numbers show it.  0 or -1. */
int plan_note_shortage(struct attempt *a, const struct victim_groups *groups, int64_t t, int64_t seconds, struct sl_error *err);
void plan_free_shortages(struct sl_plan *p);

/* Take what stopping the running job would release off the timeline from *t* on, or put it back.  0 or -1. */
int plan_set_gone(struct sl_plan *p, uint32_t job, int64_t t, bool gone, struct sl_error *err);

/* plan_fit.c: prepare an attempt; 0 or -1 with *err.  *terms* may be NULL; shapes and loans are taken from the want.
 * plan_attempt_end() frees it. */
int plan_attempt(struct attempt *a, struct sl_plan *p, const struct want *w, const struct sl_terms *terms,
		 struct sl_error *err);

/* The attempt is a start, not a reservation: if other jobs may preempt the job, it needs its nodes only for as long as it
 * is safe from that (yields_after). */
void plan_attempt_now(struct attempt *a);

/* Seconds for which a job with a walltime of *seconds* is booked: fewer if it is expected to end earlier. */
int64_t plan_booked(const struct attempt *a, int64_t seconds);
void plan_attempt_end(struct attempt *a);

/* True if the job's licences are free from *t* on for so many seconds; a->licenses is what it takes (of alternatives one).
 * Otherwise a->lack names the licence. */
bool plan_licensed(struct attempt *a, int64_t t, int64_t seconds);

/* 1 if the attempt fits at *t* for that many seconds plus the boot time of its nodes; nodes that are up are tried first.
 * 0 if not, -1 with *err.  *layout*: a->layout is needed. */
int plan_fits(struct attempt *a, int64_t t, int64_t seconds, bool layout, struct sl_error *err);

/* Seconds until the last of these nodes has booted, from *t* on. */
int64_t plan_boots_of(const struct sl_plan *p, const struct want *w, const struct sl_layout *layout, int64_t t);

/* True if some of its eligible nodes are up and others would have to boot. */
bool plan_may_wake(const struct want *w);

/* The longest time in whole minutes, from *least* to *most* seconds, that fits at *t*; 0 if *least* does not fit; -1 with
 * *err.  Sets a->layout. */
int64_t plan_longest(struct attempt *a, int64_t t, int64_t least, int64_t most, struct sl_error *err);

/* The earliest start from *from* on, and the time for which it fits.  1, 0 or -1. */
int plan_earliest(struct attempt *a, int64_t from, int64_t *start, int64_t *seconds, struct sl_error *err);

/* Book *b*, or remove its booking.  plan_book() returns 1; 0 if another timeline across has no room for it; -1 with *err. */
int plan_book(struct sl_plan *p, struct booking *b, struct sl_error *err);

/* Restore a booking just removed, even if its nodes have been closed since (sl_plan_block()).  0, or -1 with *err. */
int plan_book_again(struct sl_plan *p, struct booking *b, struct sl_error *err);
int plan_unbook(struct sl_plan *p, struct booking *b, struct sl_error *err);

/* Count only its licences: sign 1 takes them, -1 returns them. */
int plan_count_licenses(struct sl_plan *p, const struct booking *b, int sign, struct sl_error *err);

/* Seconds for which a job may run from *t* on, given its deadline; 0: too few. */
int64_t plan_time(const struct sl_plan *p, const struct want *w, int64_t t);

/* True if an advance reservation that keeps the job out begins before *until* on nodes that the job could use. */
bool plan_reserved_ahead(const struct sl_cluster *c, const struct want *w, int64_t until);

/* plan_explain.c.  plan_explain_now(): why it does not fit now.  plan_explain_later(): why it does not fit for that many
 * seconds although it fits for a moment. */
int plan_explain_now(struct attempt *a, int64_t seconds, struct sl_refusal *r, struct sl_error *err);
int plan_explain_later(struct attempt *a, int64_t seconds, struct sl_refusal *r, struct sl_error *err);

/* Why it does not fit at any time. */
int plan_explain_never(struct attempt *a, struct sl_refusal *r, struct sl_error *err);

/* 1, with *r, if it can never fit: more licences than there are, or nodes that do not exist or are down.  0 otherwise, -1
 * with *err. */
int plan_explain_hopeless(struct attempt *a, struct sl_refusal *r, struct sl_error *err);

/* plan_refusals.c.  plan_refusals_find(): true, with the reason in *lack, if this request, or one that asks for no more,
 * was refused.  plan_refusals_keep(): note a refusal (a->lack).  plan_refusals_forget(): resources were released. */
bool plan_refusals_find(const struct attempt *a, enum refusal_kind kind, int64_t seconds, struct lack *lack);
void plan_refusals_keep(const struct attempt *a, enum refusal_kind kind, int64_t seconds);
void plan_refusals_forget(struct sl_plan *p);

/* sl_fit_earliest() for an attempt of that many seconds, skipping times at which a smaller request could not start. */
int plan_fit_earliest(struct attempt *a, const struct sl_request *r, int64_t from, int64_t latest, int64_t *start,
		      struct sl_error *err);

/* plan_fits() for now; a refusal is noted. */
int plan_fits_now(struct attempt *a, int64_t seconds, bool layout, struct sl_error *err);

/* plan_room.c: true if the job was passed over by sl_plan_pass_over(). */
bool plan_is_passed(const struct sl_plan *p, uint32_t job);

/* Clear a refusal.  Cheaper than an initialiser, which would clear the whole text. */
static inline void plan_say_nothing(struct sl_refusal *r)
{
	r->why = SL_WHY_NONE;
	r->format = NULL;
	r->text[0] = 0;
}

/* Copies everything except a text that has not been made yet. */
static inline void plan_copy_refusal(struct sl_refusal *to, const struct sl_refusal *from)
{
	memcpy(to, from, from->format ? offsetof(struct sl_refusal, text) : sizeof(*to));
}

/* plan_say(): set reason and text.  The text is formatted only when it is read, so the format may have %s (of strings that live as
 * long as the cluster), %u (32 bits) and %d of 64 bits.  plan_say_now() formats at once, and takes any format. */
void plan_say(struct sl_refusal *r, enum sl_why why, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void plan_say_now(struct sl_refusal *r, enum sl_why why, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
