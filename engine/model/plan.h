/* SPDX-License-Identifier: MIT */
/*
 * plan.h - what a policy decides in one cycle.
 *
 * A plan books every start and every reservation in the cluster's timeline at
 * once, so that a policy cannot overbook: what does not fit is refused, with
 * the reason.  Destroying a plan takes its bookings back, so that the cluster is
 * as it was; the simulator carries the starts out afterwards with
 * sl_cluster_start().
 *
 * Walltime of a booking: the job's time_limit; where it has none, SL_UNLIMITED.
 * A deadline trims it, down to time_min.  A job with a time_min that cannot be
 * started for its whole time_limit is started for the longest time that fits, in
 * whole minutes, down to time_min (as Slurm's backfill does).  Jobs with a
 * "native" request are started with place "native": an upper bound is booked,
 * Slurm's select picks the nodes; an explicit layout for one is refused.
 *
 * A policy may take a job to run for less than its walltime (terms.expected): then it is
 * booked for that time only, and its walltime stays what it is.  What Slurm itself keeps free
 * for somebody is not staked on a guess: a job with licences, one in a reservation, and one
 * that could use nodes on which a reservation of others stands are booked for their walltime.
 *
 * A record that stands for several tasks of an array is one job here: each start
 * starts one of its tasks, up to array_pending and to what its throttle allows.  A
 * policy that wants more of them starts it again; the job counts as started when
 * all its tasks are.
 *
 * Ownership: borrows the cluster.  One plan per cluster at a time.  What a guard is asked
 * about (sl_plan_set_guard()) is on trial until it has answered: nothing else can be started,
 * reserved or taken back meanwhile (SL_EBUSY); nor while a policy is asked whom to stop, or for a score.
 */
#ifndef SL_PLAN_H
#define SL_PLAN_H

#include "model/cluster.h"
#include "timeline/place.h"

struct sl_plan;
struct sl_booking;

/* Why a job was not started, for the policy and the user. */
#define SL_REFUSAL_ARGS 5
struct sl_refusal {
	enum sl_why why;
	const char *format;	/* of the text, which nobody has asked for yet; NULL: it is in *text* */
	union {
		int64_t number;
		const char *words;
	} arg[SL_REFUSAL_ARGS];
	char text[160];
};

/* "needs 4 nodes, 3 are free now": made when it is first asked for, since of most refusals nobody
 * asks.  Good as long as the refusal and its cluster are. */
const char *sl_refusal_text(struct sl_refusal *r);

/* Does the later of two refusals of a job tell the user more?  Where the first says that it
 * can never run, in that partition or shape, and the other one does not. */
bool sl_refusal_yields(enum sl_why before, enum sl_why now);

struct sl_plan *sl_plan_create(struct sl_cluster *c, struct sl_error *err);
void sl_plan_destroy(struct sl_plan *p);

/* The policy that decides from here on; the name is copied.  Without memory for that
 * the one before stays.  The head is then the first reservation that it makes. */
void sl_plan_set_policy(struct sl_plan *p, const char *by);

/*
 * Who has a say in each start: asked before a place is looked for, and again when there is
 * one (sl_plan_trial()).  1: it may start; 0 with *why: not; -1 with *err.
 */
typedef int sl_plan_guard(void *arg, struct sl_entry e, struct sl_refusal *why, struct sl_error *err);

/* From now on it is asked; NULL: nobody is. */
void sl_plan_set_guard(struct sl_plan *p, sl_plan_guard *guard, void *arg);

/* From now on jobs wait for so many seconds for nodes that are up rather than to have others boot for them.  0, as it is
 * at first: they wait for none, as in Slurm. */
void sl_plan_wake_after(struct sl_plan *p, int64_t seconds);

/* How an entry is to be booked; all zero: as it asks, where it suits the job. */
struct sl_terms {
	/* Where: a method, or an explicit layout.  NULL: bestfit; spread for --spread-job; native
	 * where Slurm is told to use the least loaded nodes. */
	const struct sl_how *how;
	const struct sl_loan *borrow;	/* on nodes of these too (sl_cluster_borrow()); NULL: of nobody */
	int64_t expected;		/* seconds that it is taken to run; 0: its walltime */
	int64_t from;			/* of a reservation: no sooner than then; 0: now */
	int64_t wake_after;		/* rather than to have nodes boot for it, it waits for so many seconds for nodes that
					 * are up; 0: for as long as the plan says (sl_plan_wake_after()); below: not at all */
	bool any_shape;			/* as asked or, where that fails, as one of its alternatives in
					 * their order; else in the shape that the entry has */
};

/*
 * Start an entry now.  *terms* may be NULL.  Returns 1 when it was booked; 0 with *refusal
 * (may be NULL) when it does not fit, was started already or may not; -1 with *err on misuse
 * (an unknown row, a layout with a node twice), lack of memory, or when the guard failed.
 *
 * What the guard does not allow once there is a place is taken back.  The job would be given
 * the same place again: this policy cannot reserve one for it either.
 *
 * What is refused here or below is also what the plan says about the job in the
 * end, unless the policy has words of its own (sl_plan_refuse()), or tried it on
 * borrowed nodes (entry.loan): then what was said of its own partition stands.  Of an
 * alternative (entry.shape) it is said only where the job can never run as it asks.
 */
int sl_plan_start(struct sl_plan *p, struct sl_entry e, const struct sl_terms *terms,
		  struct sl_refusal *refusal, struct sl_error *err);

/*
 * Book the earliest start of an entry, of several shapes in the one that can start first.
 * Returns 1 and the time, 0 when it can never run there (with the reason), -1 on misuse
 * (to borrow is; reservations are for nodes of the job's own partition).  An entry that
 * could start now is booked for now but not started.  A second reservation for a job moves
 * the first; in another partition only to an earlier time, else it is refused.  Nothing is reserved
 * for a job whose QOS says so (NO_RESERVE): 0.
 */
int sl_plan_reserve(struct sl_plan *p, struct sl_entry e, const struct sl_terms *terms,
		    int64_t *start_time, struct sl_refusal *refusal, struct sl_error *err);

/*
 * EASY backfill (Lifka 1995): start an entry now unless that would delay the
 * head, the first job to which this policy gave a reservation.  The head's nodes may change, its
 * start time may not: when the entry does not fit beside the nodes booked for
 * the head, the head is placed anew at its shadow time.  Other reservations
 * stand as they are.  Without a head the same as sl_plan_start().
 */
int sl_plan_backfill(struct sl_plan *p, struct sl_entry e, const struct sl_terms *terms,
		     struct sl_refusal *refusal, struct sl_error *err);

/* When could it start, given all that is booked?  Books nothing. */
int sl_plan_earliest(struct sl_plan *p, struct sl_entry e, const struct sl_terms *terms,
		     int64_t *start_time, struct sl_refusal *refusal, struct sl_error *err);

/*
 * Jobs that are left out: all verbs above refuse them without a look, for some time on the snapshots' clock.
 *
 *	SL_WHY_COST	Planning the job took more work than one job may be.  It is left out for a minute.  Each user has an
 *			allowance, too, for all of his jobs that cost more than twenty plain ones.  Not where the snapshot's
 *			source is "sim".
 *	SL_WHY_CHECK	The checker refused the job's place, or the planner failed at the job.  It is left out for five minutes,
 *			or until its stamp changes.  A failure costs no other job anything; it is a row in the plan's table of
 *			what was refused.  In a simulation the whole decision fails instead, and so it does for wrong arguments.
 *
 * sl_plan_left_out() lists these jobs, and sl_plan_leave_out() tells them to the next plan.  It copies the text, and ignores
 * entries that are over or end too late; without memory it ignores the entry, and the job is planned.
 */
struct sl_left_out {
	uint32_t id;			/* of the job */
	int64_t until;
	int64_t stamp;			/* of the job whose place was refused */
	char *text;			/* what the job's user reads while it is left out; NULL: planning it took too long */
	bool failed;			/* in this plan, by a fault of the planner's */
};
#define SL_PLAN_LEFT_OUT_MAX 1000
void sl_plan_leave_out(struct sl_plan *p, struct sl_left_out left);
const struct sl_left_out *sl_plan_left_out(const struct sl_plan *p, uint32_t *count);

struct sl_cuts;			/* image/plan_cut.h */

/* Leave out the jobs that lose a start or reservation of the image by *cuts*, where no start of theirs stays. */
void sl_plan_leave_out_refused(struct sl_plan *p, const struct sl_plan_image *plan, const struct sl_cuts *cuts);

/* Units (base/effort.h) that a job may be at most, and be left out beyond. */
uint64_t sl_plan_most_effort(const struct sl_plan *p);

/*
 * Can no time help the entry, whatever ends: not before something changes (nodes that are down or drained, features,
 * a limit of its partition, licences of which there are too few at all), or since it is left out?  1: it is refused, with
 * the reason; 0: it may be tried, which says nothing of when; -1 with *err.  An entry that may be tried in
 * several ways (alternatives, reservations), and a component of a heterogeneous job, is never that here.
 */
int sl_plan_refuse_hopeless(struct sl_plan *p, struct sl_entry e, struct sl_error *err);

/*
 * Keep nodes free from one time to another: nothing that is started or reserved from now on is on them then, but jobs
 * that sl_plan_use_blocked() lets, and jobs in advance reservations.  The plan has the nodes in its table of blocks, so that
 * select does not choose them for a native start.  What runs there is left alone.  What lies in the past keeps nothing.
 * SL_ELIMIT for more than SL_PLAN_BLOCKS_MAX.  The policy that decides may not settle then.
 */
int sl_plan_block(struct sl_plan *p, const struct sl_nodeset *nodes, int64_t from, int64_t to, struct sl_error *err);
int sl_plan_use_blocked(struct sl_plan *p, uint32_t job, bool may, struct sl_error *err);

/* Take back the reservation of a job in this plan, or else its last start; of a component, those of all components of its
 * heterogeneous job.  0, or -1 with *err if the job has neither (SL_ENOENT). */
int sl_plan_undo(struct sl_plan *p, uint32_t job, struct sl_error *err);

/* Say why a job stays pending (the policy's own words; the last word wins). */
int sl_plan_refuse(struct sl_plan *p, uint32_t job, enum sl_why why, const char *text, struct sl_error *err);

/*
 * Say why the jobs of a partition stay pending of which nothing else is said: neither
 * started nor reserved, nor tried in vain, nor refused.  It costs the same however many there
 * are, forbids nothing, and leaves their state open.
 */
int sl_plan_close(struct sl_plan *p, uint32_t partition, enum sl_why why, const char *text, struct sl_error *err);

/* Tell users to expect a job that waits at that time, or now if that is past, in place of the start that the plan
 * has or forecasts for it.  Binds nobody.  0, or -1 with *err. */
int sl_plan_expect(struct sl_plan *p, uint32_t job, int64_t start, struct sl_error *err);

/* Say why the job was started, its last start. 0, or -1 with *err when it has none. */
int sl_plan_because(struct sl_plan *p, uint32_t job, const char *text, struct sl_error *err);

/*
 * Jobs for which Slurm could preempt others.  One that was tried in vain (sl_plan_start(),
 * sl_plan_backfill()), since too little is free, may be handed to Slurm's select all the same,
 * if the policy says that it may start even now that the policy has decided all else: so the
 * policy is asked again at its end, of one job after the other.  The plan keeps the first
 * SL_PLAN_PREEMPT_MAX that were tried, and forgets
 * those that were not confirmed when another policy begins, those that are refused in a policy's
 * own words, and, as something starts, all those that were confirmed before.
 *
 * The first one not asked about yet goes into *e and is taken off: true; false: there is none.
 */
bool sl_plan_next_preempting(struct sl_plan *p, struct sl_entry *e);

/* The policy lets it start. */
void sl_plan_confirm_preempting(struct sl_plan *p, struct sl_entry e);

/* Those that are confirmed. */
const struct sl_entry *sl_plan_preempting(const struct sl_plan *p, uint32_t *count);

/* Do something else with a job (enum sl_action).  There may be SL_PLAN_ACTIONS_MAX for each, and
 * 100,000 in all: what is in a plan is no longer under a policy's memory limit. */
int sl_plan_act(struct sl_plan *p, enum sl_action verb, uint32_t job, int64_t number, const char *text,
	       struct sl_error *err);

/* A line for the log: 0 error, 1 info, 2 debug.  0, or -1 without memory.  The last of
 * SL_PLAN_LOG_MAX says that further ones are dropped: a policy in a loop cannot fill a disk. */
int sl_plan_log(struct sl_plan *p, unsigned level, const char *text);

/*
 * When the policies have decided: book the earliest starts of the jobs that wait without a
 * reservation, in the order in which they were tried and then in the queue's, for users to see
 * when theirs may start.  Not of those that a policy refused, or that can never run.  Stops
 * after *most* jobs, or at *until* (sl_clock_us(); the first few are done in any case).  0, or
 * -1 with *err.  Nothing else may be decided afterwards.
 */
int sl_plan_forecast(struct sl_plan *p, uint32_t most, int64_t until, struct sl_error *err);

/* -- reading it back --------------------------------------------------- */

enum sl_plan_state { SL_PLAN_OPEN, SL_PLAN_STARTED, SL_PLAN_RESERVED, SL_PLAN_REFUSED };

/* Where a job stands in this plan. */
enum sl_plan_state sl_plan_job(const struct sl_plan *p, uint32_t job);

/* The booking of a started or reserved job (the last one of an array): start time
 * and places, NULL if none.  The pointer holds until the plan changes. */
const struct sl_place *sl_plan_places(struct sl_plan *p, uint32_t job, uint32_t *count, int64_t *start_time);

/* The shape in which it is booked there; 0 if there is no booking. */
uint32_t sl_plan_shape(const struct sl_plan *p, uint32_t job);

/* The start about which the guard is asked and which has a place already: true, and the
 * booking.  It counts as started everywhere but in the list of starts. */
bool sl_plan_trial(struct sl_plan *p, struct sl_booking *b);

/* Changes with each start that stands, and with each that is taken back, by one. */
uint64_t sl_plan_revision(const struct sl_plan *p);

/* Entries started, in the order of the decisions: one for each task of an array. */
const struct sl_entry *sl_plan_started(const struct sl_plan *p, uint32_t *count);

/* Entries reserved, in the order of the decisions. */
const struct sl_entry *sl_plan_reserved(const struct sl_plan *p, uint32_t *count);

/* The first reservation of the policy that decides now; NULL when it made none. */
const struct sl_entry *sl_plan_head(const struct sl_plan *p);

/* All of one booking: i counts what the two functions above return. */
struct sl_booking {
	struct sl_entry entry;
	int64_t start_time, end_time;	/* end: of its walltime, SL_UNLIMITED without */
	int64_t time_limit;		/* seconds, where the plan shortened it, else 0 */
	bool native;
	const char *by;			/* policy */
	const struct sl_place *places;	/* in node order; until the plan changes */
	uint32_t count;
};
int sl_plan_booking(struct sl_plan *p, bool reserved, uint32_t i, struct sl_booking *b, struct sl_error *err);

/* The last start of a job, also the one that is on trial.  1 with *b; 0: it has none; -1 with *err. */
int sl_plan_last_start(struct sl_plan *p, uint32_t job, struct sl_booking *b, struct sl_error *err);

/* Figures for the plan image's meta row. */
struct sl_plan_figures {
	uint32_t examined;
	uint32_t window;		/* the least of those that policies asked for */
	bool truncated;
	int64_t wake_time;		/* the next cycle is to be no later than then; 0: whenever */
	const char *error;
	int64_t decide_us, total_us;
};

/* Of the queue's entries how many the policies' windows hid: neither looked at nor closed
 * (sl_plan_close()).  *examined*: those that were looked at. */
uint32_t sl_plan_hidden(const struct sl_plan *p, uint32_t examined);

/*
 * Nobody will ask why jobs wait: the plan is not laid out as an image.  Then entries can be passed over.
 */
void sl_plan_unheard(struct sl_plan *p);

/*
 * Pass over the entries of the queue from *first* on, of *count* at most, that cannot be backfilled for want of
 * cores: now, or when the head is to start.  They are refused then.  How many; 0 also where that cannot be said.
 */
uint32_t sl_plan_pass_over(struct sl_plan *p, uint32_t first, uint32_t count);

/*
 * True if nobody will ask why jobs wait, and it is sure that the entry cannot start for want of cores: now, or, on a
 * machine of one node, at some time of its run.  Cheaper than to try.
 */
bool sl_plan_lacks_cores(struct sl_plan *p, struct sl_entry e);

/*
 * What still waits is waiting for room: decided again, and from nothing, it would wait on, until something was given
 * back, or an entry that is behind them now has room; and the job that has the only reservation would have it
 * again.  And was that said?
 */
void sl_plan_settle(struct sl_plan *p);
bool sl_plan_is_settled(const struct sl_plan *p);

/*
 * The same of less: as long as each entry of the queue needs more cores than are free now, it would start none, in
 * whichever order it looks at them, and do nothing else.  Who has settled the plan has said that, too.
 */
void sl_plan_settle_full(struct sl_plan *p);
bool sl_plan_is_settled_full(const struct sl_plan *p);

/*
 * What a policy does from now on, at every instant, and nothing else.  FCFS: the whole queue, in its order; each job that can
 * ever run starts, until one does not fit.  EASY: the whole queue, in its order, first come first
 * served with EASY backfill, by walltimes.  CONSERVATIVE: each job of it starts, or else has a reservation at its earliest
 * time, by walltimes, as long as no more than SL_PLAN_CONSERVATIVE_MAX wait, or else (sl_promise.window) of the first so many.  ORDER: see struct sl_order_rule.  RANK: EASY, but
 * in the order of a rank (model/rank_code.h): the largest first, of equal ones the larger second number, then Slurm's priority,
 * time of submission and id.  CRITICAL: see struct sl_critical_rule.
 */
enum sl_plan_rule { SL_RULE_NONE, SL_RULE_FCFS, SL_RULE_EASY, SL_RULE_CONSERVATIVE, SL_RULE_ORDER, SL_RULE_RANK, SL_RULE_CRITICAL };
#define SL_PLAN_FCFS_MAX 10000
#define SL_PLAN_CONSERVATIVE_MAX 1000
#define SL_PLAN_CRITICAL_MAX 1000

/* By what jobs are put in order (model/job_order.h). */
enum sl_predictor { SL_PREDICT_LIMIT, SL_PREDICT_SIMILAR };
struct sl_order_by {
	double size, length, patience, ageing;
	double slowdown, wait_s;	/* who is overdue */
	enum sl_predictor predictor;
};

/*
 * Three passes over the queue, in which a job starts if it fits beside all that is booked, for its walltime.  First the
 * jobs that became eligible guard_wait and guard_stretch times their walltime ago, those first for which that time was over
 * first: whoever does not start gets a reservation, guard_jobs at most, at which the pass ends.  Then those that are overdue,
 * those that have been for longest first: a reservation if it can be within slowdown_horizon and the time for which they are
 * overdue, slowdown_jobs at most, likewise.  Then all that were not tried yet, in the order: a reservation within *horizon*,
 * until one cannot have that or *reservations* have one; with *reservations* 1, none where a pass before has made one.  Those
 * behind only start.
 */
struct sl_order_rule {
	struct sl_order_by by;
	double guard_wait, guard_stretch;	/* guard_wait 0: nobody is */
	double slowdown_horizon, horizon;
	uint32_t guard_jobs, slowdown_jobs, reservations;	/* slowdown_jobs 0: there is no second pass */
	bool any_shape;			/* a job may start as one of its alternatives */
};

/*
 * The policy "critical" (lua/policies/critical.lua), as long as no more than SL_PLAN_CRITICAL_MAX wait, on one node without gres.
 * Its options, as they are called there.
 */
struct sl_critical_rule {
	double threshold, patience;
	double guard_wait, guard_stretch;	/* guard_wait 0: nobody is due */
	uint32_t guard_jobs;
	bool fills_small;
};

struct sl_rank_code;
struct sl_promise {
	enum sl_plan_rule rule;
	struct sl_order_rule order;	/* of ORDER */
	struct sl_critical_rule critical;	/* of CRITICAL */
	uint32_t window;		/* of CONSERVATIVE: so many of the queue, and those behind are left alone; 0: all of it */
	const struct sl_rank_code *rank;	/* of RANK; borrowed: it has to be there for as long as somebody goes by it */
};
void sl_plan_promise(struct sl_plan *p, const struct sl_promise *promise);
const struct sl_promise *sl_plan_promises(const struct sl_plan *p);	/* as long as the plan */

/*
 * What a settled plan with one reservation leaves beside it.  It holds until jobs start that are not in the plan, as
 * long as none runs beyond its end and what others give back early is added to its cores where they were to have
 * it from then on.  Not known where there is no such reservation, a later time might be found for it the next
 * time, or a job may give back more than it has.
 */
struct sl_room sl_plan_room(struct sl_plan *p);

/* True if the plan stops or holds anything, gives up what is held, or has actions: what changes jobs that run, or places. */
bool sl_plan_changes_runs(const struct sl_plan *p);

/*
 * Lay the plan out as an image.  Pending rows, one for each queued job at most, in
 * the queue's order: jobs that were refused, with the reason (those that have a
 * reservation too), and jobs that were neither started nor reserved nor refused: with
 * what sl_plan_close() was told, else SL_WHY_BUDGET when truncated, else SL_WHY_WINDOW.  Reservations are dropped first that
 * stand where a job runs which no other reservation's job preempts any more.  Returns 0, or -1 with *err.
 */
int sl_plan_encode(struct sl_plan *p, const struct sl_plan_figures *fig, struct sl_builder *b,
		   struct sl_error *err);

#endif
