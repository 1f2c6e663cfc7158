/* SPDX-License-Identifier: MIT */
/*
 * plan.h - what a policy decides in one cycle.
 *
 * A plan books every start and every reservation in the cluster's timeline at once.  A policy cannot overbook: what does not
 * fit is refused, with the reason.  Destroying a plan removes its bookings, so the cluster is as before; the simulator then
 * carries out the starts with sl_cluster_start().
 *
 * A booking lasts for the job's time_limit (SL_UNLIMITED if it has none).  A deadline shortens it, at most to time_min.  A
 * job with a time_min that cannot start for its whole time_limit is started for the longest time that fits, in whole minutes,
 * at least time_min (as in Slurm's backfill).  A native job is started with place "native": an upper bound is booked, and
 * Slurm's select chooses the nodes.  An explicit layout for a native job is refused.
 *
 * A policy may expect a job to run for less than its walltime (terms.expected).  The job is then booked for that time only,
 * but keeps its walltime.  What Slurm itself keeps free for others is not risked on a guess: jobs with licences, jobs in a
 * reservation, and jobs that could use nodes reserved for others are booked for their walltime.
 *
 * A job record that stands for several tasks of an array is one job here.  Each start starts one task, up to array_pending
 * and the array's throttle; a policy starts the job again for more tasks.  The job counts as started once all its tasks are.
 *
 * Ownership: borrows the cluster.  One plan per cluster at a time.  While a guard is asked about a start
 * (sl_plan_set_guard()), while a policy is asked which jobs to stop, or for a score, nothing else can be started, reserved or
 * undone (SL_EBUSY).
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
	const char *format;	/* format of the text, which is made when needed; NULL: it is in *text* */
	union {
		int64_t number;
		const char *words;
	} arg[SL_REFUSAL_ARGS];
	char text[160];
};

/* The text, such as "needs 4 nodes, 3 are free now".  Made when first needed, because most refusals are never read.  Valid
 * as long as the refusal and its cluster. */
const char *sl_refusal_text(struct sl_refusal *r);

/* True if the later of two refusals of a job tells its user more: the first says that the job can never run in that
 * partition or shape, the second does not. */
bool sl_refusal_yields(enum sl_why before, enum sl_why now);

struct sl_plan *sl_plan_create(struct sl_cluster *c, struct sl_error *err);
void sl_plan_destroy(struct sl_plan *p);

/* Set the name of the policy that decides from now on; copied.  Without memory the former name stays.  The head becomes
 * the first reservation made after this call. */
void sl_plan_set_policy(struct sl_plan *p, const char *by);

/* A guard can veto starts.  It is asked before a place is looked for, and again when there is one (sl_plan_trial()).  1:
 * the entry may start; 0 with *why: it may not; -1 with *err. */
typedef int sl_plan_guard(void *arg, struct sl_entry e, struct sl_refusal *why, struct sl_error *err);

/* Set the guard; NULL: none. */
void sl_plan_set_guard(struct sl_plan *p, sl_plan_guard *guard, void *arg);

/* From now on, jobs wait up to this many seconds for nodes that are up rather than use nodes that have to boot.  0, the
 * initial value: they do not wait, as in Slurm. */
void sl_plan_wake_after(struct sl_plan *p, int64_t seconds);

/* How to book an entry; all zero: as the job asks. */
struct sl_terms {
	/* Method or explicit layout.  NULL: bestfit; spread for --spread-job; native if Slurm is to use the least loaded
	 * nodes. */
	const struct sl_how *how;
	const struct sl_loan *borrow;	/* use nodes of these lenders, too (sl_cluster_borrow()); NULL: borrow none */
	int64_t expected;		/* expected run time in seconds; 0: its walltime */
	int64_t from;			/* for a reservation: not before this time; 0: now */
	int64_t wake_after;		/* seconds for which it waits for nodes that are up rather than use nodes that have
					 * to boot; 0: as sl_plan_wake_after() says; negative: it does not wait */
	bool any_shape;			/* try the job as asked, then its alternatives in order; false: only the shape of
					 * the entry */
};

/*
 * Start an entry now.  *terms* may be NULL.  Returns 1 if it was booked; 0 with *refusal (may be NULL) if it does not fit, is
 * already started or may not start; -1 with *err on misuse (an unknown row, a layout with a node twice), lack of memory, or
 * failure of the guard.
 *
 * If the guard rejects the place, the start is undone.  The job would get the same place again, so this policy cannot make a
 * reservation for it either.
 *
 * Refusals by this function and those below are also what the plan finally says about the job.  Exceptions: the policy says
 * something itself (sl_plan_refuse()); the attempt was on borrowed nodes (entry.loan): then the refusal in its own partition
 * stands; the attempt was for an alternative (entry.shape): it is reported only if the job can never run as it asks.
 */
int sl_plan_start(struct sl_plan *p, struct sl_entry e, const struct sl_terms *terms,
		  struct sl_refusal *refusal, struct sl_error *err);

/*
 * Reserve the earliest start of an entry; of several shapes the one that can start first.  Returns 1 and the time; 0 with the
 * reason if it can never run there; -1 on misuse (borrowing is misuse: reservations use nodes of the job's own partition
 * only).  An entry that could start now is booked for now but not started.  A second reservation for a job moves the first
 * one; in another partition it does so only if it is earlier, otherwise it is refused.  0 for a job whose QOS forbids
 * reservations (NO_RESERVE).
 */
int sl_plan_reserve(struct sl_plan *p, struct sl_entry e, const struct sl_terms *terms,
		    int64_t *start_time, struct sl_refusal *refusal, struct sl_error *err);

/*
 * EASY backfill (Lifka 1995): start an entry now unless that delays the head, the first job that this policy has reserved.
 * The head may get other nodes but not another time: if the entry does not fit beside the head's nodes, the head is placed
 * again at its shadow time.  Other reservations stay as they are.  Without a head this is sl_plan_start().
 */
int sl_plan_backfill(struct sl_plan *p, struct sl_entry e, const struct sl_terms *terms,
		     struct sl_refusal *refusal, struct sl_error *err);

/* The earliest start given all bookings.  Books nothing. */
int sl_plan_earliest(struct sl_plan *p, struct sl_entry e, const struct sl_terms *terms,
		     int64_t *start_time, struct sl_refusal *refusal, struct sl_error *err);

/*
 * Jobs that are left out: all functions above refuse them at once, for some time on the snapshots' clock.
 *
 *	SL_WHY_COST	Planning the job took more work than one job may take.  It is left out for a minute.  Each user
 *			has an allowance, too, for all jobs that cost more than twenty plain ones.  Not if the snapshot's
 *			source is "sim".
 *	SL_WHY_CHECK	The checker refused the job's place, or the planner failed at the job.  It is left out for five
 *			minutes, or until its stamp changes.  Other jobs are not affected by a failure; it becomes a row in
 *			the plan's table of refusals.  In a simulation the whole decision fails instead, as for wrong arguments.
 *
 * sl_plan_left_out() lists these jobs, and sl_plan_leave_out() passes them to the next plan.  It copies the text, and ignores
 * entries that have expired or end too late.  Without memory it ignores the entry, and the job is planned.
 */
struct sl_left_out {
	uint32_t id;			/* JobId */
	int64_t until;
	int64_t stamp;			/* stamp of the job when its place was refused */
	char *text;			/* shown to the job's user while it is left out; NULL: planning it took too long */
	bool failed;			/* the planner failed at it in this plan */
};
#define SL_PLAN_LEFT_OUT_MAX 1000
void sl_plan_leave_out(struct sl_plan *p, struct sl_left_out left);
const struct sl_left_out *sl_plan_left_out(const struct sl_plan *p, uint32_t *count);

struct sl_cuts;			/* image/plan_cut.h */

/* Leave out the jobs that lose a start or reservation of the image by *cuts* and keep no start. */
void sl_plan_leave_out_refused(struct sl_plan *p, const struct sl_plan_image *plan, const struct sl_cuts *cuts);

/* Units of work (base/effort.h) that one job may take; a job that takes more is left out. */
uint64_t sl_plan_most_effort(const struct sl_plan *p);

/*
 * Refuse the entry if time alone cannot help it: something else must change first (down or drained nodes, features, a limit
 * of its partition, too few licences in total), or it is left out.  1: refused, with the reason; 0: it may be tried; -1 with
 * *err.  Always 0 for entries that can be tried in several ways (alternatives, reservations) and for components of
 * heterogeneous jobs.
 */
int sl_plan_refuse_hopeless(struct sl_plan *p, struct sl_entry e, struct sl_error *err);

/*
 * Keep nodes free over an interval: what is started or reserved from now on does not use them, except jobs allowed by
 * sl_plan_use_blocked() and jobs in advance reservations.  The nodes become part of the plan's table of blocks, so that
 * select does not choose them for a native start.  Jobs that run there stay.  The past is ignored.  SL_ELIMIT for more than
 * SL_PLAN_BLOCKS_MAX.  A policy that uses this must not call sl_plan_settle().
 */
int sl_plan_block(struct sl_plan *p, const struct sl_nodeset *nodes, int64_t from, int64_t to, struct sl_error *err);
int sl_plan_use_blocked(struct sl_plan *p, uint32_t job, bool may, struct sl_error *err);

/* Take back the reservation of a job in this plan, or else its last start; for a component, those of all components of its
 * heterogeneous job.  0, or -1 with *err if the job has neither (SL_ENOENT). */
int sl_plan_undo(struct sl_plan *p, uint32_t job, struct sl_error *err);

/* Set the reason why a job stays pending, in the policy's words; the last call wins. */
int sl_plan_refuse(struct sl_plan *p, uint32_t job, enum sl_why why, const char *text, struct sl_error *err);

/* Set the reason for all jobs of a partition about which nothing else is said: not started, reserved, tried or refused.
 * The cost does not depend on their number.  Forbids nothing; their state stays open. */
int sl_plan_close(struct sl_plan *p, uint32_t partition, enum sl_why why, const char *text, struct sl_error *err);

/* The start time to show to users for a pending job (now if it is past), in place of the plan's reservation or forecast.
 * Not binding.  0, or -1 with *err. */
int sl_plan_expect(struct sl_plan *p, uint32_t job, int64_t start, struct sl_error *err);

/* Set the reason why the job was started, for its last start.  0, or -1 with *err if it has none. */
int sl_plan_because(struct sl_plan *p, uint32_t job, const char *text, struct sl_error *err);

/*
 * Jobs for which Slurm could preempt others.  A job that did not fit (sl_plan_start(), sl_plan_backfill()) may still be given
 * to Slurm's select, if the policy allows it to start now that all else is decided.  So at its end the policy is asked about
 * these jobs one by one.  The plan keeps the first SL_PLAN_PREEMPT_MAX.  It forgets those not confirmed when another policy
 * begins, those refused in a policy's own words, and all confirmed ones when something starts.
 *
 * This function returns the next one in *e and removes it from the list; false: there is none.
 */
bool sl_plan_next_preempting(struct sl_plan *p, struct sl_entry *e);

/* The policy lets this entry start. */
void sl_plan_confirm_preempting(struct sl_plan *p, struct sl_entry e);

/* The confirmed entries. */
const struct sl_entry *sl_plan_preempting(const struct sl_plan *p, uint32_t *count);

/* Add an action (enum sl_action) for a job.  At most SL_PLAN_ACTIONS_MAX per job and 100,000 in all, because a plan does
 * not count against a policy's memory limit. */
int sl_plan_act(struct sl_plan *p, enum sl_action verb, uint32_t job, int64_t number, const char *text,
	       struct sl_error *err);

/* Add a log line: 0 error, 1 info, 2 debug.  0, or -1 without memory.  The last of SL_PLAN_LOG_MAX lines says that further
 * ones are dropped, so a policy in a loop cannot fill a disk. */
int sl_plan_log(struct sl_plan *p, unsigned level, const char *text);

/*
 * Called after all policies have decided: book the earliest starts of jobs that wait without a reservation, so that users see
 * when theirs may start.  First the jobs that were tried, in that order, then the rest of the queue.  Not for jobs that a
 * policy refused or that can never run.  Stops after *most* jobs or at *until* (sl_clock_us()), but does the first few in any
 * case.  0, or -1 with *err.  Nothing may be decided afterwards.
 */
int sl_plan_forecast(struct sl_plan *p, uint32_t most, int64_t until, struct sl_error *err);

/* -- results -------------------------------------------------------------- */

enum sl_plan_state { SL_PLAN_OPEN, SL_PLAN_STARTED, SL_PLAN_RESERVED, SL_PLAN_REFUSED };

/* State of a job in this plan. */
enum sl_plan_state sl_plan_job(const struct sl_plan *p, uint32_t job);

/* The booking of a started or reserved job (of an array: the last one): start time and places; NULL if there is none.
 * Valid until the plan changes. */
const struct sl_place *sl_plan_places(struct sl_plan *p, uint32_t job, uint32_t *count, int64_t *start_time);

/* The shape in which it is booked; 0 if there is no booking. */
uint32_t sl_plan_shape(const struct sl_plan *p, uint32_t job);

/* The start about which the guard is being asked, if it has a place already: true, with the booking.  It counts as
 * started, but is not in the list of starts yet. */
bool sl_plan_trial(struct sl_plan *p, struct sl_booking *b);

/* Increases by one with each start that is final and each start that is undone. */
uint64_t sl_plan_revision(const struct sl_plan *p);

/* Started entries, in the order of the decisions: one per task of an array. */
const struct sl_entry *sl_plan_started(const struct sl_plan *p, uint32_t *count);

/* Reserved entries, in the order of the decisions. */
const struct sl_entry *sl_plan_reserved(const struct sl_plan *p, uint32_t *count);

/* The first reservation of the current policy; NULL if it has made none. */
const struct sl_entry *sl_plan_head(const struct sl_plan *p);

/* A booking; *i* is an index into what the two functions above return. */
struct sl_booking {
	struct sl_entry entry;
	int64_t start_time, end_time;	/* end: of its walltime; SL_UNLIMITED: none */
	int64_t time_limit;		/* seconds, if the plan shortened it; else 0 */
	bool native;
	const char *by;			/* name of the policy */
	const struct sl_place *places;	/* in node order; valid until the plan changes */
	uint32_t count;
};
int sl_plan_booking(struct sl_plan *p, bool reserved, uint32_t i, struct sl_booking *b, struct sl_error *err);

/* The last start of a job, including one about which the guard is being asked.  1 with *b; 0 if there is none; -1 with *err. */
int sl_plan_last_start(struct sl_plan *p, uint32_t job, struct sl_booking *b, struct sl_error *err);

/* Figures for the plan image's meta row. */
struct sl_plan_figures {
	uint32_t examined;
	uint32_t window;		/* the smallest that a policy asked for */
	bool truncated;
	int64_t wake_time;		/* latest time of the next cycle; 0: no limit */
	const char *error;
	int64_t decide_us, total_us;
};

/* Number of queue entries that were hidden by the policies' windows: neither examined nor closed (sl_plan_close()).
 * *examined*: number of entries examined. */
uint32_t sl_plan_hidden(const struct sl_plan *p, uint32_t examined);

/* The plan will not be encoded as an image, so reasons need not be kept, and entries can be passed over. */
void sl_plan_unheard(struct sl_plan *p);

/* Pass over the entries from number *first* on, at most *count*, that cannot be backfilled because too few cores are free
 * now or when the head is to start.  They count as refused.  Returns how many; 0 also if that cannot be told. */
uint32_t sl_plan_pass_over(struct sl_plan *p, uint32_t first, uint32_t count);

/* True if reasons need not be kept and the entry certainly cannot start because too few cores are free: now, or, on a
 * machine of one node, at some time of its run.  Cheaper than an attempt. */
bool sl_plan_lacks_cores(struct sl_plan *p, struct sl_entry e);

/*
 * The policy promises: all jobs that still wait do so for room.  Another decision from scratch would leave them waiting until
 * resources are released or a later entry has room, and would reserve for the same job at the same time.
 * sl_plan_is_settled(): was that promised?
 */
void sl_plan_settle(struct sl_plan *p);
bool sl_plan_is_settled(const struct sl_plan *p);

/* A weaker promise: as long as each queued entry needs more cores than are free now, the policy would start none and do
 * nothing else.  sl_plan_settle() implies it. */
void sl_plan_settle_full(struct sl_plan *p);
bool sl_plan_is_settled_full(const struct sl_plan *p);

/*
 * What a policy promises to do from now on, at every instant, and nothing else.
 *	FCFS		the whole queue in order; each job that can ever run starts, until one does not fit
 *	EASY		the whole queue in order, FCFS with EASY backfill, by walltimes
 *	CONSERVATIVE	each job starts or has a reservation at its earliest time, by walltimes: all jobs if at most
 *			SL_PLAN_CONSERVATIVE_MAX wait, or the first sl_promise.window
 *	ORDER		see struct sl_order_rule
 *	RANK		EASY in the order of a rank (model/rank_code.h): largest first, then larger second number, Slurm's
 *			priority, submission, id
 *	CRITICAL	see struct sl_critical_rule
 */
enum sl_plan_rule { SL_RULE_NONE, SL_RULE_FCFS, SL_RULE_EASY, SL_RULE_CONSERVATIVE, SL_RULE_ORDER, SL_RULE_RANK, SL_RULE_CRITICAL };
#define SL_PLAN_FCFS_MAX 10000
#define SL_PLAN_CONSERVATIVE_MAX 1000
#define SL_PLAN_CRITICAL_MAX 1000

/* How jobs are ordered (model/job_order.h). */
enum sl_predictor { SL_PREDICT_LIMIT, SL_PREDICT_SIMILAR };
struct sl_order_by {
	double size, length, patience, ageing;
	double slowdown, wait_s;	/* when a job is overdue */
	enum sl_predictor predictor;
};

/*
 * Three passes over the queue.  In each, a job starts if it fits beside all bookings for its walltime.
 *	1.  Jobs that became eligible more than guard_wait and guard_stretch times their walltime ago, the one that passed
 *	    this limit first goes first.  Those that do not start get a reservation; the pass ends after guard_jobs
 *	    reservations.
 *	2.  Overdue jobs, longest overdue first: those that do not start get a reservation if it is within slowdown_horizon
 *	    and within the time for which they are overdue; at most slowdown_jobs.
 *	3.  All other jobs, in the order: those that do not start get a reservation within *horizon*, until one cannot or
 *	    *reservations* have one; if *reservations* is 1, none if an earlier pass made one.  Jobs after that can only start.
 */
struct sl_order_rule {
	struct sl_order_by by;
	double guard_wait, guard_stretch;	/* guard_wait 0: no first pass */
	double slowdown_horizon, horizon;
	uint32_t guard_jobs, slowdown_jobs, reservations;	/* slowdown_jobs 0: no second pass */
	bool any_shape;			/* a job may start as one of its alternatives */
};

/* The policy "critical" (lua/policies/critical.lua), if at most SL_PLAN_CRITICAL_MAX jobs wait, on one node without gres.
 * Fields are named as its options. */
struct sl_critical_rule {
	double threshold, patience;
	double guard_wait, guard_stretch;	/* guard_wait 0: no job is due */
	uint32_t guard_jobs;
	bool fills_small;
};

struct sl_rank_code;
struct sl_promise {
	enum sl_plan_rule rule;
	struct sl_order_rule order;	/* for ORDER */
	struct sl_critical_rule critical;	/* for CRITICAL */
	uint32_t window;		/* for CONSERVATIVE: number of queue entries considered; 0: all */
	const struct sl_rank_code *rank;	/* for RANK; borrowed for as long as the promise is used */
};
void sl_plan_promise(struct sl_plan *p, const struct sl_promise *promise);
const struct sl_promise *sl_plan_promises(const struct sl_plan *p);	/* valid as long as the plan */

/*
 * What other jobs may use beside the only reservation of a settled plan.  Valid until jobs start that are not in the plan,
 * provided that no job runs beyond its end, and that cores which jobs release early are added to room.cores if they were
 * booked at that time.  Unknown if there is no such reservation, if the reservation might move to a later time, or if a job
 * may release more than it has.
 */
struct sl_room sl_plan_room(struct sl_plan *p);

/* True if the plan changes running jobs or held places: stops, new or released holds, actions. */
bool sl_plan_changes_runs(const struct sl_plan *p);

/*
 * Encode the plan as an image.  Pending rows are in queue order, at most one per queued job: jobs that were refused, with the
 * reason (even if reserved); and jobs that were neither started, reserved nor refused: with the reason of sl_plan_close(),
 * else SL_WHY_BUDGET if truncated, else SL_WHY_WINDOW.  Reservations on nodes of a running job that no other reservation's
 * job preempts any more are dropped first.  Returns 0, or -1 with *err.
 */
int sl_plan_encode(struct sl_plan *p, const struct sl_plan_figures *fig, struct sl_builder *b,
		   struct sl_error *err);

#endif
