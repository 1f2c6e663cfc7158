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
	struct sl_place *places;	/* the same as a list, NULL until asked for */
	int64_t t0, t1;
	int64_t limit;			/* seconds; less than what was asked: it was shortened */
	int64_t expected;		/* seconds that it is booked for, where less than the limit; else 0 */
	int64_t boots;			/* seconds before those, in which its nodes boot */
	enum sl_place_method method;
	uint32_t segment;		/* struct sl_how */
	struct sl_range licenses;	/* rows of job_license that it has */
	uint32_t by;
	uint32_t reserved;		/* reservations made before, of those that were dropped meanwhile too */
	uint32_t blocks;		/* the first so many blocks bind it */
	char *because;			/* NULL: nothing said */
};

struct bookings {
	struct booking **item;
	struct sl_entry *entry;		/* the same entries, for those who read */
	uint32_t count, room;
};

struct note {				/* why a job stays pending */
	uint32_t job;
	bool own;			/* the policy's own words */
	uint32_t by;
	uint32_t barred_by;		/* number of the policy + 1 whose guard forbade its place; 0: none */
	struct sl_refusal said;
};

struct closing {			/* of a partition */
	enum sl_why why;		/* SL_WHY_NONE: it is not closed */
	uint32_t by;
	char text[160];
};

struct action {				/* what the plan says of a job besides */
	enum sl_action verb;
	uint32_t job, by;
	int64_t number;
	char *text;
};

struct line {
	unsigned level;
	char *text;
};

struct throttle {			/* of one array */
	uint32_t array;
	uint32_t running;		/* tasks that run, or were started here */
};

struct kept_free {			/* nodes, for a time (confine.c) */
	struct sl_nodeset nodes;
	int64_t from, to;
};

struct enclave_mark {
	struct enclave *enclave;
	uint32_t mark;
};

/* What kept an attempt from fitting. */
struct lack {
	struct sl_misfit misfit;
	uint32_t license;		/* that it lacked, or SL_NONE */
	int64_t license_has;
};

enum refusal_kind {
	REFUSED_NOW,			/* fits nowhere for so long */
	REFUSED_BESIDE_HEAD,		/* nor where the head is booked, without delaying it */
};

struct refused {			/* what was, a moment ago */
	const struct want *w;
	enum refusal_kind kind;
	bool block;			/* of consecutive nodes */
	bool native;			/* for native jobs only: nodes that others have reserved were left out */
	int64_t seconds;
	struct lack lack;
};
#define PLAN_REFUSALS 64

struct waited {				/* the request was looked for from *from* on; it cannot start before *until* */
	const struct want *w;
	bool block;
	int64_t seconds, from, until;
};
#define PLAN_WAITS 128

/* Jobs for which select is asked to preempt others. */
struct preempting {
	struct sl_entry entry[SL_PLAN_PREEMPT_MAX];
	uint32_t reserved[SL_PLAN_PREEMPT_MAX];	/* of those confirmed: as in a booking */
	uint32_t blocks[SL_PLAN_PREEMPT_MAX];	/* likewise */
	uint32_t count;
};

/* What a running job holds from t0, when others may preempt it, to t1, when it ends (plan_yields.c). */
struct tail {
	uint32_t job;
	bool lifted;			/* off the timeline */
	struct sl_nodeset nodes;	/* without those of its stumps */
	struct sl_resources each;
	int64_t t0, t1;
};

/* The part of a tail that is back on the timeline, on one node.  A job that may preempt has reserved the node, so the running
 * job holds it only until that reservation begins. */
struct stump {
	uint32_t tail, node;
	int64_t t1;			/* booked until; no later than the tail's begin: nothing is */
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
	struct node_booking *booking;	/* what of that is on the timeline now, beside the job's own booking */
	uint32_t bookings;
	bool is_placed, is_aside;
	bool fresh;			/* of this plan; else the snapshot has it */
	bool released;			/* it is held no longer */
	uint32_t starts, reservations;	/* of a fresh one: made before, the starts as far as they still stand */
	enum sl_verdict verdict;	/* of a fresh one, like what follows */
	double cost, bound;
	uint32_t by;
	char *because;
};

/* A running job that is stopped for another (plan_stop.c). */
struct stop {
	uint32_t job, preemptor;	/* rows */
	uint32_t group, mode, by;
	bool moves;			/* it has another place */
	double cost;
	int64_t from, end;		/* it was booked until *end*, and now is until *from* */
};

/* A job for which others were stopped, and which has not started (plan_backoff.c). */
struct backoff {
	uint32_t job;			/* JobId */
	uint32_t places;		/* that were made for it */
	int64_t began, last;		/* when the first and the last jobs were stopped for the last of them */
};

/* Why no job is stopped for a pending one: a row of the plan's table of shortages. */
struct shortage {
	struct sl_entry entry;
	uint32_t by, what, which;
	int64_t at, seconds, needs, has;
	struct sl_plan_short_row *shorts;
	uint32_t *spared;		/* rows of jobs */
	uint32_t short_count, spared_count, stoppable;
	uint64_t given_back;		/* p->given_back when it was found */
};

struct spendings {			/* of work, by row of job or by user */
	struct spending {
		uint32_t number;
		uint64_t units;
	} *item;
	uint32_t count;
	struct sl_map by_number;
};

struct cost {				/* plan_cost.c */
	bool bounded;
	bool is_well_asked;		/* the caller's arguments are right: if the outer attempt fails, that is a fault of the planner */
	uint32_t inside;		/* attempts at a job, one within the other */
	uint64_t begun;			/* units spent before the outer one */
	struct spendings of_job, of_user;	/* of a user: what exceeds the bases of his jobs */
};

struct left_outs {			/* plan_left_out.c */
	struct sl_left_out *out;
	uint32_t count;
	struct sl_map by_id;		/* into *out* */
};

struct sl_plan {
	struct sl_cluster *c;
	uint32_t mark;
	struct enclave_mark *marks;
	uint32_t mark_count;
	char **by;
	uint32_t bys;			/* the last one decides now */
	struct bookings started, reserved;
	uint32_t reservations;		/* made so far */
	struct kept_free *kept_free;	/* sl_plan_block() */
	uint32_t kept_frees;
	uint8_t *uses_blocked;		/* [job] those nodes are free for it; NULL: for none */
	bool blocked_open;		/* they are, at this moment */
	bool unheard, settled, settled_full;
	struct sl_promise promise;
	uint8_t *passed;		/* [entry] was it passed over?  NULL: none was */
	struct room {			/* what there is for jobs behind the head */
		bool known;
		uint64_t moment;	/* of the timeline then */
		int64_t cores;		/* free now */
		int64_t until;		/* seconds until the head is to start */
		int64_t later;		/* cores that are free then, for jobs that run longer */
	} room;
	int64_t wake_after;		/* sl_plan_wake_after() */
	uint32_t forecasts;		/* how many of *reserved*, the last ones, are forecasts */
	int64_t *expected;		/* [job] start that users see; 0: that of its reservation or forecast; NULL: no job has one */
	uint64_t revision;
	sl_plan_guard *guard;		/* NULL: all may start */
	void *guard_arg;
	bool on_trial;			/* the guard is asked about the last one of *started* */
	bool choosing;			/* the policy is asked which jobs to stop: the plan does not change meanwhile */
	struct cost cost;
	struct left_outs left;
	uint32_t head_at;		/* reservations of the policies before: the head comes next */
	uint32_t *starts, *notes_of;	/* [job] the cluster's: plan_starts, plan_notes */
	struct note *note;
	uint32_t notes;
	struct closing *closing;	/* [partition]; NULL: none is closed */
	uint32_t *queue_of;		/* [job] the cluster's: plan_queue */
	uint32_t *queue_next;		/* [entry] number of the next one of the same job + 1, or 0 */
	uint32_t refusals, next_refusal;
	uint32_t waits, next_wait;
	const struct booking *stuck;	/* a head with no choice of nodes at its time; forgotten when something is given back */
	bool counts_arrays;		/* the tasks of all arrays that run are counted */
	struct throttle *throttle;
	uint32_t throttles;
	struct sl_map throttle_of;	/* by array */
	struct tail *tail;
	uint32_t tails;
	uint64_t tail_work;		/* units spent on them */
	uint64_t **preempted;		/* [list of preemptees] [tail] a bit: the tail's job is in the list */
	uint32_t preempteds;
	struct sl_map preempted_of;
	struct stump *stump;
	uint32_t stumps;
	bool tails_known;
	bool stumps_short;		/* a stump did not fit as a whole */
	bool stumps_stale;		/* a booking that had kept a stump short was taken back since */
	uint32_t tails_for;		/* list of preemptees ("preempts" of a job) whose tails are off the timeline now; 0: none are */
	struct hold *hold;
	uint32_t holds;
	struct stop *stop;
	uint32_t stops, stop_groups;
	uint32_t narrow;		/* calls of plan_hold_narrow() without plan_hold_widen() */
	struct orphan *orphan;
	uint32_t orphans;
	uint8_t *own_stops;		/* [partition] sl_plan_own_stops(); NULL: of none */
	struct backoff *backoff;	/* by JobId; NULL: nobody has asked yet */
	uint32_t backoffs;
	struct shortage *shortage;
	uint32_t shortages, spared;	/* the latter: jobs that they spare */
	double cores_per_gpu;		/* sl_preempt_cores_per_gpu(); 0: not known yet */
	double mip_work;		/* seconds of work of integer programs so far */
	uint64_t given_back;		/* how often a booking was taken back or moved, or a place released */
	struct action *action;
	uint32_t actions;
	uint8_t *acted;		/* [job] how often; NULL: nothing yet */
	struct line *line;
	uint32_t lines;
	/* Large, and mostly empty; a plan is made in each cycle.  So only their counts are cleared. */
	struct preempting tried;	/* by this policy, in vain */
	struct preempting confirmed;	/* may start, with all that has started so far */
	struct refused refusal[PLAN_REFUSALS];
	struct waited wait[PLAN_WAITS];
};

/* One request on one timeline, tried for a start now or for the earliest start. */
struct attempt {
	struct sl_plan *p;
	const struct want *w;
	struct sl_how how;
	struct sl_timeline *tl;
	int64_t expected;		/* seconds that it is expected to run; 0: its walltime */
	int64_t wake_after;		/* it waits this many seconds for nodes that are up */
	enum { MAY_WAKE, WAKES_NONE, NOT_LOOKED_AT } wakes;	/* starting now: may it take nodes that have to boot? */
	bool on_up;			/* it is tried on nodes that are up only */
	bool wakes_nobody;		/* ... in all calls of plan_fits() */
	struct sl_nodeset open;		/* of a native job: its nodes without those that other jobs have reserved */
	struct sl_layout layout;	/* of the last one that fitted */
	struct lack lack;		/* of the last one that did not */
	struct sl_range licenses;	/* as in a booking, as of the latest look */
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

/* plan_make_room(): make room for one more, so that plan_insert() cannot fail.  plan_find(): the place of the last
 * booking of a job, SL_NONE if there is none. */
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

/* The job has started after all: forget why earlier attempts at it failed. */
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

/* plan_preempt.c: to be called if a start did not fit; if something was started; if a job is refused. */
void plan_preempt_tried(struct sl_plan *p, const struct want *w, enum sl_why why);
void plan_preempt_outdated(struct sl_plan *p);
void plan_preempt_drop(struct sl_plan *p, uint32_t job);

/* plan_bar(): the guard forbade the place that was found for the job; until another policy decides, it gets no reservation
 * either.  0, or -1 with *err.  plan_is_barred(): true if that has happened. */
int plan_bar(struct sl_plan *p, uint32_t job, const struct sl_refusal *why, struct sl_error *err);
bool plan_is_barred(const struct sl_plan *p, uint32_t job);

/* plan_start.c: start an entry as it is, loan and all, or make way for it (*easy*), as
 * sl_plan_start() and sl_plan_backfill() say.  It is the last one of p->started then. */
int plan_start(struct sl_plan *p, struct sl_entry e, const struct sl_terms *terms, bool easy, struct sl_refusal *refusal,
	       struct sl_error *err);

/* plan_decide.c: as sl_plan_start(), or sl_plan_backfill() where *easy*, for one component. */
int plan_start_alone(struct sl_plan *p, struct sl_entry e, const struct sl_terms *terms, bool easy,
		     struct sl_refusal *refusal, struct sl_error *err);

/* plan_het.c: is the job a component of a heterogeneous one?  Then these two, as sl_plan_start(),
 * sl_plan_backfill() and sl_plan_reserve(), for all components. */
static inline bool plan_is_component(const struct sl_cluster *c, uint32_t job)
{
	return job < c->snap->job.rows && c->snap->job.het_job_id[job] && c->snap->job.het_job_id[job] != SL_NONE;
}
int plan_drop_het(struct sl_plan *p, uint32_t job, struct sl_error *err);	/* its reservations */

/* As sl_plan_undo(): of all components of a heterogeneous job, whichever of them *job* is; of that job alone. */
int plan_undo_het(struct sl_plan *p, uint32_t job, struct sl_error *err);
int plan_undo_one(struct sl_plan *p, uint32_t job, struct sl_error *err);

/* plan_het_nodes.c: nodes for all of up to PLAN_HET_EXACT components from *t* on, so that each gets enough of
 * those that would do for it.  1, and in avoid[] (empty sets, the caller's) the nodes that a component leaves
 * to others; 0 where there is no such deal, or a component is not the same on each of its nodes; -1 with *err. */
#define PLAN_HET_EXACT 8
int plan_share_out(struct sl_plan *p, const struct want *const *w, uint32_t components, int64_t t, struct sl_nodeset *avoid,
		   struct sl_error *err);
int plan_start_het(struct sl_plan *p, struct sl_entry e, const struct sl_terms *terms, bool easy,
		   struct sl_refusal *refusal, struct sl_error *err);
int plan_reserve_het(struct sl_plan *p, struct sl_entry e, const struct sl_terms *terms, int64_t *start_time,
		     struct sl_refusal *refusal, struct sl_error *err);

/* plan_yields.c: show the timeline as that entry has to see it, without the tails of jobs that it may preempt, until the next call.
 * 0 or -1. */
int plan_look_for(struct sl_plan *p, const struct want *w, struct sl_error *err);

/* Show the timeline with all running jobs until their ends.  0 or -1. */
int plan_look_for_nobody(struct sl_plan *p, struct sl_error *err);

/* True if a reservation of this plan already counts on the running job's being preempted. */
bool plan_is_taken_over(const struct sl_plan *p, uint32_t job);

/* The running job, which is not, is off the timeline from then on. */
void plan_tails_end(struct sl_plan *p, uint32_t job, int64_t at);
void plan_free_tails(struct sl_plan *p);

/* Drop reservations that have become impossible.  A reservation may count on nodes of a running job since an earlier
 * reservation's job preempts it.  If that earlier reservation has been moved or taken back, the nodes are not free in time.
 * 0, or -1 with *err. */
int plan_drop_voids(struct sl_plan *p, struct sl_error *err);

/* Take back the reservation with that number, and say why.  0, or -1 with *err. */
int plan_drop_void(struct sl_plan *p, uint32_t at, struct sl_error *err);

/* The booking is off the timeline. */
void plan_stumps_outdated(struct sl_plan *p, const struct booking *b);

/* plan_reserve.c: as sl_plan_reserve() and sl_plan_earliest(), for an entry as it is, *from* then on. */
int plan_reserve(struct sl_plan *p, struct sl_entry e, const struct sl_terms *terms, int64_t from, int64_t *start_time,
		 struct sl_refusal *refusal, struct sl_error *err);
int plan_earliest_start(struct sl_plan *p, struct sl_entry e, const struct sl_terms *terms, int64_t *start_time,
			struct sl_refusal *why, struct sl_error *err);

/* plan_start.c: what an entry asks for; NULL with *err for one that is not queued. */
const struct want *plan_look_up(struct sl_plan *p, struct sl_entry e, const struct sl_how *how,
				struct sl_error *err);

/* 0 with *r if something forbids booking it, whatever is free (its partition, its limits, ...); else 1. */
int plan_gate(struct sl_plan *p, const struct want *w, const struct sl_how *how, struct sl_refusal *r);

/* 0 with *r if something forbids starting it now (its begin time, its array's limit, ...); else 1; -1 with *err. */
int plan_gate_now(struct sl_plan *p, const struct want *w, struct sl_refusal *r, struct sl_error *err);

/* True if the job's array has a limit of running tasks.  Count a task that was started (*by* 1) or taken back (-1). */
bool plan_throttled(const struct sl_plan *p, uint32_t job);
void plan_count_task(struct sl_plan *p, uint32_t job, int by);

/* Book what the attempt found.  1 with *out; 0; -1. */
int plan_take(struct attempt *a, int64_t t, int64_t seconds, struct booking **out, struct sl_error *err);

/* Take a job's reservation, which becomes *at, off the timeline while something else
 * is tried for it; then put it back or drop it.  SL_NONE as *at: it has none. */
int plan_lift(struct sl_plan *p, uint32_t job, uint32_t *at, struct sl_error *err);
int plan_put_back(struct sl_plan *p, uint32_t at, struct sl_error *err);
void plan_drop(struct sl_plan *p, uint32_t at);

/* plan_across.c: the timeline that a job is booked in, NULL with *err; watched, so that the plan can be
 * taken back. */
struct sl_timeline *plan_timeline_of(struct sl_plan *p, struct enclave *en, struct sl_error *err);

/* Close the booking's nodes in other timelines, to jobs that may not run beside it (*up*); or open them again.  If that fails,
 * nothing has changed. */
int plan_bar_across(const struct sl_plan *p, const struct booking *b, bool up, struct sl_error *err);

/* Close those nodes in all timelines (*up*), or open them again, for jobs that are not confined to an advance reservation.  0; or -1
 * with *err, and nothing has changed. */
int plan_keep_free(const struct sl_plan *p, const struct kept_free *k, bool up, struct sl_error *err);

/* plan_mark(): mark all timelines; NULL with *err.  plan_unmark(): undo what was done since (*undo*), and forget the marks. */
uint32_t *plan_mark(const struct sl_plan *p, struct sl_error *err);
void plan_unmark(const struct sl_plan *p, uint32_t *mark, bool undo);

/* confine.c: nodes that are kept free are open to a job while a place is looked for, where it may use them, and to no
 * other; so is what is held for it.  0, or -1 with *err; *was is for the second, whatever the first returned.  If the second
 * lacks memory nothing changes, and the first tries it again for the next job. */
struct opened {
	bool blocked;
	uint32_t job;			/* whose held place is off the timeline; SL_NONE: nobody's */
};
int plan_open_for(struct sl_plan *p, uint32_t job, struct opened *was, struct sl_error *err);
void plan_as_before(struct sl_plan *p, struct opened was);
void plan_free_blocked(struct sl_plan *p);

/* How many of the plan's blocks, counted from the first, are closed to the job of *w* (NULL: in no reservation). */
uint32_t plan_blocks_of(const struct sl_plan *p, uint32_t job, const struct want *w);

/* plan_hold.c: what is held for the job; NULL: nothing is.  plan_hold_all(): begin with what the snapshot has.
 * plan_hold_add(): hold that, which is the plan's then (its lists too), and for which plan_hold_room() has made room.  0, or -1 with *err:
 * without memory a part of it is not held. */
struct hold *plan_hold_of(const struct sl_plan *p, uint32_t job);
int plan_hold_all(struct sl_plan *p, struct sl_error *err);
int plan_hold_room(struct sl_plan *p, struct sl_error *err);
int plan_hold_add(struct sl_plan *p, const struct hold *h, struct sl_error *err);
void plan_hold_release(struct sl_plan *p, uint32_t job);

/* When the last victim with usable nodes of the held place will have ended; 0 if there is none. */
int64_t plan_hold_rest_at(const struct sl_plan *p, const struct hold *h);

/* The job's reservation was taken back: its held place no longer ends where the reservation began. */
void plan_hold_on(struct sl_plan *p, uint32_t job);
void plan_hold_free(struct sl_plan *p);

/* The start with that number was taken back. */
void plan_hold_start_gone(struct sl_plan *p, uint32_t start);

/* plan_hold_narrow(): book of held places only what is free now.  plan_hold_widen() ends that: what becomes free later, too. */
void plan_hold_narrow(struct sl_plan *p);
void plan_hold_widen(struct sl_plan *p);

/* Take the held place of that job off the timeline, and put those of all others back on it; SL_NONE: of all jobs. */
void plan_hold_open(struct sl_plan *p, uint32_t job);

/* Take the nodes of other jobs' held places out of *nodes*.  0 or -1. */
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

/* plan_victims.c: the cheapest set of running jobs without which the attempt fits at *t* for so many seconds.  Who may not be
 * stopped is left out; *permitted* is how many are left.  The choice's groups are those of the list, which is the caller's. */
struct victim_group {
	uint32_t *job;			/* rows */
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

/* When the group is gone if it is told to end now, at the earliest; all groups, or (not NULL) those of *of*. */
int64_t plan_group_gone_at(const struct sl_plan *p, const struct victim_group *g);
int64_t plan_all_gone_at(const struct sl_plan *p, const struct victim_groups *groups, const bool *of);

/* plan_limits.c.  plan_limits_create(): counts of jobs stopped before, and of the chosen groups (NULL: none); NULL with *err.
 * plan_is_spared(): true if no more jobs of this job's user or partition may be stopped.  plan_stops_too_many(): 1, with the reason, if
 * the chosen groups would exceed a limit; 0; -1. */
struct stop_limits *plan_limits_create(const struct sl_plan *p, const struct sl_preempt_terms *t, const struct victim_groups *groups,
				       const bool *chosen, struct sl_error *err);
void plan_limits_free(struct stop_limits *l);
bool plan_is_spared(const struct sl_plan *p, const struct sl_preempt_terms *t, const struct stop_limits *l, uint32_t job);
int plan_stops_too_many(const struct sl_plan *p, const struct sl_preempt_terms *t, const struct victim_groups *groups,
			const bool *chosen, struct sl_refusal *why, struct sl_error *err);

/* What of a node's or of all nodes' amounts counts, by dimension of the search (victims.h): cores, memory, each gres that the request
 * asks for.  plan_claim(): the least that the job has of each of its nodes; plan_total(): of all together. */
enum { OF_CORES, OF_MEMORY, OF_GRES };
void plan_to_dims(const struct sl_request *r, const struct sl_resources *have, int64_t *amount);
void plan_claim(const struct sl_request *r, const struct sl_node_kind *kind, int64_t *claim);
void plan_total(const struct sl_timeline *tl, const struct sl_request *r, int64_t *total);

/* plan_shortage.c.  The job does not fit at *t* for so many seconds, with all of the groups gone, as they are at this moment: note what
 * stays short, if numbers show it.  0 or -1. */
int plan_note_shortage(struct attempt *a, const struct victim_groups *groups, int64_t t, int64_t seconds, struct sl_error *err);
void plan_free_shortages(struct sl_plan *p);

/* Take what the running job holds off the timeline from *t* on, as far as its being stopped frees it, or put it back.  0 or -1. */
int plan_set_gone(struct sl_plan *p, uint32_t job, int64_t t, bool gone, struct sl_error *err);

/* plan_fit.c: prepare an attempt; 0 or -1 with *err.  plan_attempt_end() frees its layout.
 * *terms* may be NULL; what they say of shapes and loans is in the want. */
int plan_attempt(struct attempt *a, struct sl_plan *p, const struct want *w, const struct sl_terms *terms,
		 struct sl_error *err);

/* The attempt is to start the entry now, not to reserve: a job that others may preempt needs its nodes free only for
 * as long as it is safe from them (yields_after). */
void plan_attempt_now(struct attempt *a);

/* For how many seconds the job's nodes have to be free, and are booked, if its walltime is *seconds*: fewer if it is expected to
 * end earlier. */
int64_t plan_booked(const struct attempt *a, int64_t seconds);
void plan_attempt_end(struct attempt *a);

/* True if the job's licences are free from *t* on for so many seconds; a->licenses is what it takes (of alternatives one).
 * Otherwise a->lack names the licence. */
bool plan_licensed(struct attempt *a, int64_t t, int64_t seconds);

/* 1 if the attempt fits at *t* for that many seconds and for the time that its nodes take to boot; nodes that are up are tried first.
 * 0 if not, -1 with *err.  *layout*: the caller needs a->layout. */
int plan_fits(struct attempt *a, int64_t t, int64_t seconds, bool layout, struct sl_error *err);

/* Seconds until the last of its nodes has booted, if it has them from *t* on. */
int64_t plan_boots_of(const struct sl_plan *p, const struct want *w, const struct sl_layout *layout, int64_t t);

/* True if some of the nodes that it may have are up, and others would have to boot. */
bool plan_may_wake(const struct want *w);

/* The longest time in whole minutes, from *least* seconds to *most*, that fits at
 * *t*; 0 when not even *least* does; -1 with *err.  Leaves the layout. */
int64_t plan_longest(struct attempt *a, int64_t t, int64_t least, int64_t most, struct sl_error *err);

/* The earliest start from *from* on, and for how long.  1, 0 or -1. */
int plan_earliest(struct attempt *a, int64_t from, int64_t *start, int64_t *seconds, struct sl_error *err);

/* Book *b* (everything but its layout's owner is set) or take it back.  plan_book()
 * returns 1; 0 when another timeline, across, has no room for it; -1 with *err. */
int plan_book(struct sl_plan *p, struct booking *b, struct sl_error *err);

/* Book again what was just taken back, even if its nodes were closed after the first booking (sl_plan_block()).  0, or -1 with *err. */
int plan_book_again(struct sl_plan *p, struct booking *b, struct sl_error *err);
int plan_unbook(struct sl_plan *p, struct booking *b, struct sl_error *err);

/* Its licences only: sign 1 take, -1 give back. */
int plan_count_licenses(struct sl_plan *p, const struct booking *b, int sign, struct sl_error *err);

/* Seconds that a job may run from *t* on, given its deadline: 0 when too few. */
int64_t plan_time(const struct sl_plan *p, const struct want *w, int64_t t);

/* True if an advance reservation that keeps the job out begins before *until* on nodes that the job could use. */
bool plan_reserved_ahead(const struct sl_cluster *c, const struct want *w, int64_t until);

/* plan_explain.c.  plan_explain_now(): why it does not fit now.  plan_explain_later(): why it does not fit for that many seconds,
 * although it fits at this moment. */
int plan_explain_now(struct attempt *a, int64_t seconds, struct sl_refusal *r, struct sl_error *err);
int plan_explain_later(struct attempt *a, int64_t seconds, struct sl_refusal *r, struct sl_error *err);

/* Why there is no time at all at which it fits. */
int plan_explain_never(struct attempt *a, struct sl_refusal *r, struct sl_error *err);

/* 1, with *r, if it fits at no time: it needs more licences than there are, or nodes that do not exist or are down.  0 if not,
 * -1 with *err. */
int plan_explain_hopeless(struct attempt *a, struct sl_refusal *r, struct sl_error *err);

/* plan_refusals.c.  plan_refusals_find(): true, with the reason in *lack, if this request or one that asks for no more was refused
 * already.  plan_refusals_keep(): note a refusal (a->lack).  plan_refusals_forget(): something was given back, forget all. */
bool plan_refusals_find(const struct attempt *a, enum refusal_kind kind, int64_t seconds, struct lack *lack);
void plan_refusals_keep(const struct attempt *a, enum refusal_kind kind, int64_t seconds);
void plan_refusals_forget(struct sl_plan *p);

/* sl_fit_earliest() for an attempt of that many seconds; times at which a request that asks for no more could not start are skipped. */
int plan_fit_earliest(struct attempt *a, const struct sl_request *r, int64_t from, int64_t latest, int64_t *start,
		      struct sl_error *err);

/* plan_fits() at the present time; a refusal is noted. */
int plan_fits_now(struct attempt *a, int64_t seconds, bool layout, struct sl_error *err);

/* plan_room.c: true if the job was passed over, because two numbers said that it has no room. */
bool plan_is_passed(const struct sl_plan *p, uint32_t job);

/* Make it an empty refusal.  Cheaper than an initialiser, which clears all of the text. */
static inline void plan_say_nothing(struct sl_refusal *r)
{
	r->why = SL_WHY_NONE;
	r->format = NULL;
	r->text[0] = 0;
}

/* All of it but the room for a text that is not made yet. */
static inline void plan_copy_refusal(struct sl_refusal *to, const struct sl_refusal *from)
{
	memcpy(to, from, from->format ? offsetof(struct sl_refusal, text) : sizeof(*to));
}

/* plan_say(): set reason and text.  The text is formatted only when it is read, so the format may have %s (of strings that live as
 * long as the cluster), %u (32 bits) and %d of 64 bits.  plan_say_now() formats at once, and takes any format. */
void plan_say(struct sl_refusal *r, enum sl_why why, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void plan_say_now(struct sl_refusal *r, enum sl_why why, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
