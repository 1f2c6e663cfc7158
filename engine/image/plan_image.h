/* SPDX-License-Identifier: MIT */
/*
 * plan_image.h - a plan on its way from the engine to the plug-in.
 *
 * Nodes, partitions, gres kinds and licences are named by their row in the
 * snapshot that the plan answers; meta.sequence says which one that was.  A job
 * carries its id and the stamp it had there, so that the plug-in can tell that
 * it changed meanwhile.  Made by model/plan.c, checked by check/check.c, read by commit/commit.c.
 */
#ifndef SL_PLAN_IMAGE_H
#define SL_PLAN_IMAGE_H

#include "image/image.h"
#include "image/remember.h"
#include "image/snapshot.h"

/* Bytes of any text in a plan, and of all of them, each counted where it is used (rows may
 * share one); lines for the log; actions for one job.  Writers cut, readers refuse. */
#define SL_PLAN_TEXT_MAX 4096
#define SL_PLAN_TEXTS_MAX ((size_t) 32 << 20)
#define SL_PLAN_LOG_MAX 1000
#define SL_PLAN_ACTIONS_MAX 16

/* Refused rows of which the reason is kept and which the journal lists; further ones are only counted. */
#define SL_PLAN_REFUSED_MAX 1000

/* Sets of nodes that policies keep free in one plan. */
#define SL_PLAN_BLOCKS_MAX 256

/* Jobs in a plan that select may be asked about so that it preempts others. */
#define SL_PLAN_PREEMPT_MAX 20

enum sl_plan_table {
	SL_P_META, SL_P_START, SL_P_PLACE, SL_P_PLACE_GRES, SL_P_RESERVE,
	SL_P_PENDING, SL_P_ACTION, SL_P_LOG, SL_P_LENDER, SL_P_PREEMPT, SL_P_FORECAST, SL_P_REMEMBERED, SL_P_HISTORY,
	SL_P_REFUSED, SL_P_HOLD, SL_P_STOP, SL_P_BLOCK, SL_P_NODE_RUN, SL_P_SHORTAGE, SL_P_SHORT, SL_P_SPARED, SL_PLAN_TABLES
};

#define SL_PLAN_META_COLUMNS(X) \
	X(i64, sequence, -1, 0, "of the snapshot answered") \
	X(i64, now, -1, 0, "time of that snapshot") \
	X(str, policy, -1, 0, "who decided: easy, or site (several)") \
	X(u32, examined, -1, 0, "queue entries looked at") \
	X(u32, truncated, -1, 0, "1: the budget ended the policy; what is booked stands") \
	X(str, error, -1, 0, "the policy failed: file:line: message; what is booked stands") \
	X(i64, wake_time, -1, 0, "a policy asks for a cycle no later than then (a clock of its shows another time); 0: it does not") \
	X(i64, decide_us, -1, 0, "microseconds in the policy") \
	X(i64, total_us, -1, 0, "microseconds from the snapshot's arrival to this plan")

/*
 * Start this job now.  A record that stands for several tasks of an array
 * (array_pending) starts one task for each row; such rows repeat the job id, up
 * to array_pending times.  In Slurm the rest of the array keeps the record's job
 * id when select_nodes() splits a task off (job_array_split), so that the next
 * row finds the record by the same id; the stamp tells only whether the record
 * had changed before the first of them.
 *
 * A job may be given nodes of other partitions, the lenders.  Slurm wants one partition
 * for a job, so there must be one that has the nodes of all of them: it is started
 * "through" that one (check/check.h).
 *
 * Of a native one nobody knows which nodes select will choose, so it is kept off all nodes
 * on which another job has one of those reservations within its time, and off those of the blocks that bind it.
 */
#define SL_PLAN_START_COLUMNS(X) \
	X(u32, job, -1, 0, "JobId") \
	X(i64, stamp, -1, 0, "the job's stamp in the snapshot") \
	X(u32, partition, -1, SL_NONE, "partition row in the snapshot") \
	X(u32, native, -1, 0, "1: Slurm's select chooses; the places are an upper bound") \
	X(u32, reservation, -1, SL_NONE, "row of that of its ways, where it has several") \
	X(u32, behind, -1, 0, "native: the first so many reservations stood before it") \
	X(u32, blocks, -1, 0, "the first so many blocks bind it") \
	X(u32, shape, -1, 0, "0: as asked; n: the job's nth alternative") \
	X(i64, time_limit, -1, 0, "seconds, where the plan shortened it (time_min, deadline); 0: the job's") \
	X(i64, expected, -1, 0, "seconds that it is booked for, where the policy expects less; 0: its walltime") \
	X(u32, license, -1, SL_NONE, "of alternative licences the one that it is booked with, its row in the snapshot") \
	X(range, places, SL_P_PLACE, 0, "nodes, cores and tasks, in node order") \
	X(u32, dealt, -1, 0, "1: select is told the tasks of each place, since its nodes do not settle them") \
	X(str, by, -1, 0, "policy that decided") \
	X(u32, through, -1, SL_NONE, "row of the partition to start it in, where nodes are borrowed") \
	X(range, lenders, SL_P_LENDER, 0, "partitions whose nodes it may have beside its own") \
	X(str, because, -1, 0, "in the policy's words; mostly empty")

#define SL_PLAN_LENDER_COLUMNS(X) \
	X(u32, partition, -1, SL_NONE, "partition row in the snapshot")

#define SL_PLAN_PLACE_COLUMNS(X) \
	X(u32, node, -1, SL_NONE, "node row in the snapshot") \
	X(u32, cores, -1, 0, "physical cores") \
	X(u32, tasks, -1, 0, "of the job there; 0: not said, as of whole nodes and where select chooses") \
	X(i64, memory, -1, 0, "MiB booked there") \
	X(range, gres, SL_P_PLACE_GRES, 0, "generic resources booked there")

#define SL_PLAN_PLACE_GRES_COLUMNS(X) \
	X(u32, kind, -1, SL_NONE, "gres kind row in the snapshot") \
	X(u32, count, -1, 0, "how many") \
	X(u32, of, -1, SL_NONE, "shares: kind of the device") \
	X(u32, devices, -1, 0, "where devices have shares, which of that kind are booked, as bits; 0: there they have none")

/* Expected to start then, and booked for it; at most one row for a job. */
#define SL_PLAN_RESERVE_COLUMNS(X) \
	X(u32, job, -1, 0, "JobId") \
	X(i64, start_time, -1, 0, "when") \
	X(u32, partition, -1, SL_NONE, "partition row in the snapshot") \
	X(u32, native, -1, 0, "1: Slurm's select will choose; the places are an upper bound") \
	X(u32, reservation, -1, SL_NONE, "as in a start") \
	X(u32, blocks, -1, 0, "as in a start") \
	X(u32, shape, -1, 0, "0: as asked; n: the job's nth alternative") \
	X(i64, time_limit, -1, 0, "seconds, where the plan shortened it (deadline); 0: the job's") \
	X(i64, expected, -1, 0, "as in a start") \
	X(u32, license, -1, SL_NONE, "as in a start") \
	X(range, places, SL_P_PLACE, 0, "nodes and cores, in node order") \
	X(str, by, -1, 0, "policy that decided") \
	X(u32, through, -1, SL_NONE, "as in a start, of a schedule that is checked") \
	X(range, lenders, SL_P_LENDER, 0, "likewise")

/* Expected to start then if nothing changes, for users to see: nobody counts on it.  A job with
 * a reservation has none; at most one row for a job.  Besides, one without a partition for each job of which a
 * policy said when users may expect it (sl_plan_expect()): that is told in place of all else. */
#define SL_PLAN_FORECAST_COLUMNS(X) \
	X(u32, job, -1, 0, "JobId") \
	X(i64, start_time, -1, 0, "when") \
	X(u32, partition, -1, SL_NONE, "partition row in the snapshot") \
	X(u32, native, -1, 0, "1: Slurm's select will choose; the places are an upper bound") \
	X(range, places, SL_P_PLACE, 0, "nodes and cores, in node order")

/* Stays pending, and why: the user sees it in squeue. */
#define SL_PLAN_PENDING_COLUMNS(X) \
	X(u32, job, -1, 0, "JobId") \
	X(u32, why, -1, 0, "SL_WHY_*") \
	X(str, text, -1, 0, "in words; empty: the code says it all") \
	X(str, by, -1, 0, "policy that decided")

enum sl_why {
	SL_WHY_NONE,		/* not examined */
	SL_WHY_RESOURCES,	/* not enough free now */
	SL_WHY_PRIORITY,	/* would delay a job ahead of it */
	SL_WHY_NEVER,		/* cannot run on this partition even when it is empty */
	SL_WHY_NODES_DOWN,	/* could, were it not for nodes that are down or drained */
	SL_WHY_RESERVATION,	/* its own reservation is not there yet, no more, or full */
	SL_WHY_LICENSES,	/* not enough licences */
	SL_WHY_POLICY,		/* the policy refused: the text says why */
	SL_WHY_DEADLINE,	/* cannot end by its deadline */
	SL_WHY_NOT_MODELLED,	/* asks for something that neither engine nor select can do */
	SL_WHY_WINDOW,		/* beyond the policy's window */
	SL_WHY_BUDGET,		/* the cycle's budget was used up before it was looked at */
	SL_WHY_BEGIN,		/* not before its begin time */
	SL_WHY_ARRAY,		/* as many tasks of its array run as may run at once */
	SL_WHY_PARTITION,	/* the partition is down, or its limits do not allow the job */
	SL_WHY_RESERVED,	/* without what is reserved for others too little is left, however idle */
	SL_WHY_CHECK,		/* it had a place, which the checker refused; or the planner failed */
	SL_WHY_COST,		/* takes too long to plan */
	SL_WHYS
};

/*
 * Does not fit, but Slurm could preempt others for it, and the policy lets it start: select
 * may be asked.  It holds for the starts of this plan and for one of these jobs: when one
 * has started, what the policy said of the others is out of date.
 */
#define SL_PLAN_PREEMPT_COLUMNS(X) \
	X(u32, job, -1, 0, "JobId") \
	X(i64, stamp, -1, 0, "the job's stamp in the snapshot") \
	X(u32, partition, -1, SL_NONE, "partition row in the snapshot") \
	X(u32, behind, -1, 0, "as in a native start") \
	X(u32, blocks, -1, 0, "as in a start")

/*
 * Nodes that a policy keeps free for a time (sl_plan_block()).  A job that is bound by the block is not on them within that
 * time.  Blocks stand in the order in which they were made: one that is made later binds nothing that was decided before.
 */
#define SL_PLAN_BLOCK_COLUMNS(X) \
	X(i64, start_time, -1, 0, "from when") \
	X(i64, end_time, -1, 0, "until when") \
	X(range, nodes, SL_P_NODE_RUN, 0, "which nodes")

#define SL_PLAN_NODE_RUN_COLUMNS(X) \
	X(u32, first, -1, SL_NONE, "node row in the snapshot") \
	X(u32, last, -1, SL_NONE, "node row in the snapshot, of the run too")

/*
 * From now on the place of the job's reservation in this plan is held for it: nobody else is started on the nodes, neither by a
 * plan nor, natively, by select, until the job starts, does not wait any more or has another stamp, *until* is past, or a later
 * plan releases it.  It stands in the next snapshots (snapshot.h, held).  A second hold of a job takes the place of the first.  The
 * reservation has its nodes and amounts, and says when they are expected to be free; it is never native.  Jobs that run there, or
 * that hold something else that the job needs, are in the table of stops.  There may be none of these (the place of an
 * earlier plan is held for longer, or its victims have ended).
 *
 * What this plan decided before it was held (the first so many starts and reservations) may be on the part that is free now;
 * nothing else may.
 *
 * A row with *release* ends what is held for the job, and has no reservation that belongs to it.
 */
#define SL_PLAN_HOLD_COLUMNS(X) \
	X(u32, job, -1, 0, "JobId") \
	X(i64, stamp, -1, 0, "the job's stamp in the snapshot") \
	X(i64, until, -1, 0, "it is held until then at most") \
	X(u32, release, -1, 0, "1: what is held for the job is no longer held") \
	X(u32, verdict, -1, 0, "SL_VERDICT_*: what is known of the cost") \
	X(f64, cost, -1, 0, "of all stops for the job, as the policy counts") \
	X(f64, bound, -1, 0, "no set of running jobs that makes a place for it costs less") \
	X(u32, starts, -1, 0, "the first so many starts stood before it") \
	X(u32, behind, -1, 0, "the first so many reservations stood before it") \
	X(str, because, -1, 0, "how the choice came about, for people") \
	X(str, by, -1, 0, "policy that decided")

/* What is known of the running jobs that would have to be stopped for a job. */
enum sl_verdict {
	SL_VERDICT_NONE,		/* not asked */
	SL_VERDICT_OPTIMAL,		/* no set costs less */
	SL_VERDICT_FOUND,		/* a set; some other one may cost less, but not less than the bound */
	SL_VERDICT_IMPOSSIBLE,		/* not even all that may be stopped would do */
	SL_VERDICT_UNPROVEN,		/* none was found, and none was shown not to exist */
	SL_VERDICTS
};

/*
 * Stop this run of a job for another job, for which the plan has a hold.  Rows of one preemptor and one group are stopped all
 * or none: if one of them cannot be stopped any more (it ended, or may not be), none of the group is, and what the
 * preemptor needs is decided anew.
 */
#define SL_PLAN_STOP_COLUMNS(X) \
	X(u32, job, -1, 0, "JobId") \
	X(i64, start_time, -1, 0, "of the run: another one is not stopped") \
	X(u32, preemptor, -1, 0, "JobId of the job for which it is stopped") \
	X(u32, group, -1, 0, "the same number: all or none") \
	X(f64, cost, -1, 0, "as the policy counts; the cost of a group is that of its rows together") \
	X(u32, mode, -1, 0, "SL_STOP_*: NONE: as Slurm has it; REQUEUE or EXPEDITE only of a job that can be requeued") \
	X(u32, moves, -1, 0, "1: it is requeued, and has another place to start again") \
	X(str, by, -1, 0, "policy that decided")

/* Stops in a plan at most. */
#define SL_PLAN_STOPS_MAX 100000

/*
 * Why no set of running jobs would make a place for the job then, for so long (SL_VERDICT_IMPOSSIBLE): even without all that
 * may be stopped something stays short.  Those are all whom Slurm lets be stopped for it, but for the ones that are spared.  On the nodes of
 * *shorts* each node has too little of something.  Of the others that it may have there are too few nodes (NODES), or too
 * little in all (CORES, GRES); or it is a licence.  It holds beside all that this plan starts, reserves and holds.
 */
#define SL_PLAN_SHORTAGE_COLUMNS(X) \
	X(u32, job, -1, 0, "JobId") \
	X(i64, stamp, -1, 0, "the job's stamp in the snapshot") \
	X(u32, partition, -1, SL_NONE, "partition row in the snapshot") \
	X(u32, reservation, -1, SL_NONE, "as in a start") \
	X(u32, shape, -1, 0, "as in a start") \
	X(i64, start_time, -1, 0, "when it would have to start") \
	X(i64, seconds, -1, 0, "for how long it would have to fit at least") \
	X(u32, what, -1, 0, "SL_SHORT_*: what stays short") \
	X(u32, which, -1, SL_NONE, "GRES: its row of job_gres in the snapshot; LICENSE: of license") \
	X(i64, needs, -1, 0, "so much of it the job needs at least") \
	X(i64, has, -1, 0, "so much it could have at most") \
	X(range, shorts, SL_P_SHORT, 0, "nodes that are of no use to it, and why") \
	X(range, spared, SL_P_SPARED, 0, "jobs that Slurm would let be stopped for it, and the policy does not") \
	X(u32, stoppable, -1, 0, "how many jobs Slurm would let be stopped for it, these included") \
	X(str, by, -1, 0, "policy that asked")

/* Each of these nodes has too little. */
#define SL_PLAN_SHORT_COLUMNS(X) \
	X(u32, first, -1, SL_NONE, "node row in the snapshot") \
	X(u32, last, -1, SL_NONE, "node row in the snapshot, of the run too") \
	X(u32, what, -1, 0, "SL_SHORT_*: CORES, MEMORY or GRES") \
	X(u32, which, -1, SL_NONE, "as above") \
	X(i64, needs, -1, 0, "of each of its nodes at least") \
	X(i64, has, -1, 0, "of each of these at most, even so")

#define SL_PLAN_SPARED_COLUMNS(X) \
	X(u32, job, -1, 0, "JobId")

/* Of those in a plan at most, and of jobs that are spared in all of them. */
#define SL_PLAN_SHORTAGES_MAX 1000
#define SL_PLAN_SPARED_MAX 1000000

enum sl_short { SL_SHORT_NODES, SL_SHORT_CORES, SL_SHORT_MEMORY, SL_SHORT_GRES, SL_SHORT_LICENSE, SL_SHORTS };

/* What else an external scheduler has been able to do since wiki2. */
#define SL_PLAN_ACTION_COLUMNS(X) \
	X(u32, verb, -1, 0, "SL_ACTION_*") \
	X(u32, job, -1, 0, "JobId") \
	X(i64, stamp, -1, 0, "the job's stamp in the snapshot") \
	X(i64, number, -1, 0, "signal, priority, seconds") \
	X(str, text, -1, 0, "partition, message") \
	X(str, by, -1, 0, "policy that decided")

enum sl_action {
	SL_ACTION_CANCEL, SL_ACTION_REQUEUE, SL_ACTION_SUSPEND, SL_ACTION_RESUME, SL_ACTION_SIGNAL,
	SL_ACTION_PRIORITY, SL_ACTION_TIME_LIMIT, SL_ACTION_PARTITION, SL_ACTION_NOTIFY,
	SL_ACTIONS
};

/* What became of a start or an action of the plan when it was carried out. */
enum sl_fate {
	SL_FATE_DONE,
	SL_FATE_CHANGED,	/* the job is gone, or not as the snapshot had it */
	SL_FATE_UNFIT,		/* it may not start now: a dependency, a limit, licences, its partition */
	SL_FATE_PLACES,		/* the nodes of the plan are gone, or not what the job asks for */
	SL_FATE_SHAPE,		/* it cannot be that alternative */
	SL_FATE_LOAN,		/* nodes of other partitions cannot be lent to it */
	SL_FATE_SELECT,		/* Slurm's select refused */
	SL_FATE_LIMIT,		/* ... for a limit that shows only once the nodes are known */
	SL_FATE_ACTION,		/* slurmctld refused the action */
	SL_FATE_SHADOW,		/* nothing is carried out: Slurm's own scheduler decides */
	SL_FATE_STOPPED,	/* it was not looked at: slurmctld ends, or has another configuration */
	SL_FATES
};

/*
 * A row that the checker refused, and that was therefore taken out of the plan (image/plan_cut.h): kept for
 * the report of the error.  Nobody carries it out.  The columns that its kind of row does not have are empty.
 */
#define SL_PLAN_REFUSED_COLUMNS(X) \
	X(u32, job, -1, 0, "JobId") \
	X(u32, was, -1, 0, "SL_REFUSED_*: which kind of row it was") \
	X(str, text, -1, 0, "why, in the checker's words") \
	X(i64, start_time, -1, 0, "when the job was to start") \
	X(u32, partition, -1, SL_NONE, "partition row in the snapshot") \
	X(u32, native, -1, 0, "as in a start") \
	X(u32, reservation, -1, SL_NONE, "as in a start") \
	X(u32, shape, -1, 0, "as in a start") \
	X(i64, time_limit, -1, 0, "as in a start") \
	X(i64, expected, -1, 0, "as in a start") \
	X(u32, license, -1, SL_NONE, "as in a start") \
	X(range, places, SL_P_PLACE, 0, "as in a start") \
	X(u32, through, -1, SL_NONE, "as in a start") \
	X(range, lenders, SL_P_LENDER, 0, "as in a start") \
	X(str, by, -1, 0, "policy that decided")

enum sl_refused { SL_REFUSED_START, SL_REFUSED_RESERVATION, SL_REFUSED_ACTION, SL_REFUSED_REASON, SL_REFUSED_SHORTAGE, SL_REFUSEDS };

#define SL_PLAN_LOG_COLUMNS(X) \
	X(u32, level, -1, 0, "0 error, 1 info, 2 debug") \
	X(str, text, -1, 0, "one line")

SL_DECLARE_TABLE(plan_meta, SL_PLAN_META_COLUMNS)
SL_DECLARE_TABLE(plan_start, SL_PLAN_START_COLUMNS)
SL_DECLARE_TABLE(plan_place, SL_PLAN_PLACE_COLUMNS)
SL_DECLARE_TABLE(plan_place_gres, SL_PLAN_PLACE_GRES_COLUMNS)
SL_DECLARE_TABLE(plan_reserve, SL_PLAN_RESERVE_COLUMNS)
SL_DECLARE_TABLE(plan_pending, SL_PLAN_PENDING_COLUMNS)
SL_DECLARE_TABLE(plan_action, SL_PLAN_ACTION_COLUMNS)
SL_DECLARE_TABLE(plan_log, SL_PLAN_LOG_COLUMNS)
SL_DECLARE_TABLE(plan_lender, SL_PLAN_LENDER_COLUMNS)
SL_DECLARE_TABLE(plan_preempt, SL_PLAN_PREEMPT_COLUMNS)
SL_DECLARE_TABLE(plan_forecast, SL_PLAN_FORECAST_COLUMNS)
SL_DECLARE_TABLE(plan_refused, SL_PLAN_REFUSED_COLUMNS)
SL_DECLARE_TABLE(plan_hold, SL_PLAN_HOLD_COLUMNS)
SL_DECLARE_TABLE(plan_stop, SL_PLAN_STOP_COLUMNS)
SL_DECLARE_TABLE(plan_block, SL_PLAN_BLOCK_COLUMNS)
SL_DECLARE_TABLE(plan_node_run, SL_PLAN_NODE_RUN_COLUMNS)
SL_DECLARE_TABLE(plan_shortage, SL_PLAN_SHORTAGE_COLUMNS)
SL_DECLARE_TABLE(plan_short, SL_PLAN_SHORT_COLUMNS)
SL_DECLARE_TABLE(plan_spared, SL_PLAN_SPARED_COLUMNS)

struct sl_plan_image {
	struct sl_image image;
	struct sl_plan_meta_view meta;
	struct sl_plan_start_view start;
	struct sl_plan_place_view place;
	struct sl_plan_place_gres_view place_gres;
	struct sl_plan_reserve_view reserve;
	struct sl_plan_pending_view pending;
	struct sl_plan_action_view action;
	struct sl_plan_log_view log;
	struct sl_plan_lender_view lender;
	struct sl_plan_preempt_view preempt;
	struct sl_plan_forecast_view forecast;
	struct sl_plan_refused_view refused;
	struct sl_plan_hold_view hold;
	struct sl_plan_stop_view stop;
	struct sl_plan_block_view block;
	struct sl_plan_node_run_view node_run;
	struct sl_plan_shortage_view shortage;
	struct sl_plan_short_view short_;
	struct sl_plan_spared_view spared;
	struct sl_remembered_view remembered;	/* goes into the next snapshot as it is */
	struct sl_history_view history;		/* what policies asked about: goes into the one that is recorded */
};

extern const struct sl_schema sl_plan_schema;

/*
 * Validate and open a plan image; actions and codes are known, texts within
 * SL_PLAN_TEXT_MAX, no two rows share places, gres, lenders or nodes of another; what is to be
 * remembered as remember.h has it.  Returns 0, or -1
 * with *err.  The bytes must outlive the plan.
 */
int sl_plan_image_open(struct sl_plan_image *plan, const void *bytes, size_t size, struct sl_error *err);

/* Words for codes, never NULL: "resources", "cancel", "select". */
const char *sl_why_word(uint32_t why);
uint32_t sl_why_of(const char *word);	/* SL_WHYS if it is no such word */

/* True if squeue shows the text of such a reason beside Slurm's word, which alone does not tell users what to do. */
bool sl_why_shows_text(uint32_t why);

const char *sl_action_word(uint32_t verb);
const char *sl_fate_word(uint32_t fate);
const char *sl_refused_word(uint32_t was);
const char *sl_verdict_word(uint32_t verdict);
const char *sl_short_word(uint32_t what);

#endif
