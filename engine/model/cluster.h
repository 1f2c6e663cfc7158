/* SPDX-License-Identifier: MIT */
/*
 * cluster.h - the model of a cluster that policies, plans and the simulator
 * work on.
 *
 * It is built from a snapshot and keeps, beside the rows, what changes: which
 * jobs are queued, which run and on what, and the timeline of free resources
 * that follows from that (timeline/timeline.h).  In production a cluster lives for one
 * cycle.  The simulator opens one snapshot that holds all jobs of a workload
 * and then moves them with sl_cluster_submit/start/finish/advance, so that an
 * event costs what it changes and nothing is rebuilt.
 *
 * A job is named by its row in the snapshot throughout.
 *
 * Ownership: borrows the snapshot, which must outlive it.  Threads: none.
 */
#ifndef SL_CLUSTER_H
#define SL_CLUSTER_H

#include <signal.h>

#include "timeline/nodeset.h"
#include "timeline/place.h"
#include "timeline/score.h"
#include "image/plan_image.h"
#include "image/snapshot.h"
#include "image/words.h"
#include "timeline/timeline.h"
#include "usage/history.h"

struct sl_cluster;

/* A pending job in one of its partitions: an entry of the queue. */
struct sl_entry {
	uint32_t job;		/* row in snapshot.job */
	uint32_t partition;	/* row in snapshot.partition */
	uint32_t shape;		/* 0: as asked; n: the job's nth alternative (the queue has 0) */
	uint32_t loan;		/* 0: its own partition's nodes; n: and those of a loan (the queue has 0) */
	uint32_t resv;		/* 0: in the reservation that it asks for; n: in row n-1 (the queue has 0) */
	uint32_t row;		/* in the queue, where it has ways: row in snapshot.queue + 1; else 0 */
	bool freed;		/* its nodes are emptied for it (preempt.h), so select has nobody to preempt (the queue has false) */
	uint32_t confine;		/* its nodes are of that set (sl_cluster_confinement()); 0: of what the policy said last
					 * of the job, or any (the queue has 0) */
};

/* Nodes of other partitions, for jobs that wait in one. */
#define SL_MAX_LENDERS 16
struct sl_loan {
	uint32_t home;		/* partition row: where they wait */
	uint32_t through;	/* partition that has the nodes of all of them */
	uint32_t lender[SL_MAX_LENDERS], lenders;	/* rows */
};

/*
 * Build the model: running jobs and reservations booked in the timeline, the
 * queue as the snapshot has it.  Returns NULL with *err set when the snapshot
 * asks for more than the ceilings of timeline/nodeset.h and timeline/timeline.h.
 */
struct sl_cluster *sl_cluster_create(const struct sl_snapshot *snap, struct sl_error *err);
void sl_cluster_destroy(struct sl_cluster *c);

const struct sl_snapshot *sl_cluster_snapshot(const struct sl_cluster *c);
int64_t sl_cluster_now(const struct sl_cluster *c);

/* Units of work (base/effort.h) done on it so far, by all who place, search or read requests. */
uint64_t sl_cluster_effort(const struct sl_cluster *c);

/* What is worked out on it fails with SL_ETIME once that is set; NULL: nothing does. */
void sl_cluster_stop_at(struct sl_cluster *c, const volatile sig_atomic_t *stop);
struct sl_timeline *sl_cluster_timeline(struct sl_cluster *c);

/* When the first of the jobs in the queue that wait for few switches would take any; INT64_MAX: none does. */
int64_t sl_cluster_next_impatient(const struct sl_cluster *c);

/* Queue entries, in order.  The pointer holds until the queue changes. */
const struct sl_entry *sl_cluster_queue(const struct sl_cluster *c, uint32_t *count);

/* What is left beside a job that others may not delay: from that time on no more than so many cores. */
struct sl_room {
	bool known;
	uint32_t head;			/* the job */
	int64_t from, cores;
};

/*
 * Can none of the entries from this one on be started now, whatever is tried, since each needs more cores than
 * are free, or would still run from room->from on and need more than are left then?  Asks no more of each than two
 * numbers, kept since it was first asked.
 */
bool sl_cluster_lacks_room(struct sl_cluster *c, uint32_t first, const struct sl_room *room);

/*
 * On a machine of one node: does the entry at that place of the queue take so many cores, for so many seconds, and
 * nothing else whatever?  Then it can start at once where that is free, and *cores and *seconds are filled in.
 */
bool sl_cluster_takes_cores(struct sl_cluster *c, uint32_t at, uint32_t *cores, int64_t *seconds);

/* Is it a component of a heterogeneous job whose leader is another one?  What is decided about
 * the leader is decided about it too, so policies do not see it in the queue. */
bool sl_cluster_is_led(const struct sl_cluster *c, uint32_t job);

/* Rows of running (and suspended) jobs, in no particular order. */
const uint32_t *sl_cluster_running(const struct sl_cluster *c, uint32_t *count);

/* The state of a job: the snapshot's, or what became of it since (the simulator). */
uint32_t sl_cluster_state(const struct sl_cluster *c, uint32_t job);

/* Seconds from *t* on that a node has to boot before a job can run there; 0: it is up. */
int64_t sl_cluster_boots_in(const struct sl_cluster *c, uint32_t node, int64_t t);

/* True if a node is planned without although Slurm does not call it down: it boots for too long, or hangs in
 * COMPLETING. */
bool sl_cluster_is_lost(const struct sl_cluster *c, uint32_t node);

/* Until when a running job is booked: the end of its walltime, SL_UNLIMITED without, later where it is overdue;
 * 0 for others. */
int64_t sl_cluster_end(const struct sl_cluster *c, uint32_t job);

/* Where a running job is; NULL with *count 0 for others. */
const struct sl_place *sl_cluster_places(const struct sl_cluster *c, uint32_t job, uint32_t *count);

/*
 * One way to place a job: a request that leaves nothing to choose but nodes.
 *
 * What a job says by alternatives (feature sets, node counts, switches that it waits for but so long) and what is tried
 * for it one after the other (exactly, else by select) is a list of these.  A start now is by the first that fits, a later one
 * by that which fits soonest, of equals the first.
 */
struct sl_variant {
	struct sl_request request;	/* duration: the time limit */
	int64_t from, until;		/* starts in [from, until) */
	bool now, later;		/* a start at this moment; one after it */
	bool select;			/* Slurm's select chooses its nodes: an upper bound */
	bool in_rows;			/* a start now shares cores with others: not on nodes reserved for jobs that need a row there */
};
#define SL_MAX_VARIANTS 64		/* a job with more of them is left to select */

/*
 * What an entry asks for, in the engine's terms; worked out when first asked for
 * and kept.  The rules are those of check/check.h.  NULL with *err for rows that do not
 * exist, or lack of memory.
 */
struct sl_want {
	union {
		struct sl_variant bound;	/* a bound: asks no more than any variant does; if there is only one, that one */
		struct sl_request request;	/* that of *bound* */
	};
	const struct sl_variant *variant;	/* at least one, unless it cannot run there at all */
	uint32_t variants;
	bool many_sets, many_counts;	/* they are of several sets of nodes; several numbers of them */
	const struct sl_request *exact;	/* as *request*, but of no variant that is left to select */
	bool shares;			/* on cores that others may have, too */
	const struct sl_nodeset *up;	/* of its eligible nodes those that need not boot first; NULL: none of them has to */
	int64_t boots;			/* seconds that a place is to be free beyond its time, where others may be among its nodes */
	int64_t time_limit;		/* seconds, SL_UNLIMITED */
	int64_t time_floor;		/* shortest it may be cut to: time_min, or the limit */
	enum sl_place_method method;	/* where the policy names none */
	sl_word_set asked;		/* what it asks for, and in what circumstances (image/words.h) */
	sl_word_set native;		/* what of that only Slurm's select can place; 0: the engine does */
	enum sl_why why;		/* not SL_WHY_NONE: it cannot run there at all, ... */
	const char *text;		/* ... because */
};
const struct sl_want *sl_cluster_want(struct sl_cluster *c, struct sl_entry e, struct sl_error *err);

/* Seconds for which a start now needs its nodes to be free: its time limit, or less if others may preempt it
 * (yields_after in the snapshot). */
int64_t sl_cluster_needs_nodes_s(const struct sl_cluster *c, const struct sl_want *want);

/* True if a policy may say on which nodes the job starts, and with how much of each.  It may not if something else decides
 * that: Slurm's select, counts of features, planes of tasks, the user's list of nodes, or which shared cores are free. */
static inline bool sl_want_takes_places(const struct sl_want *w)
{
	return !w->native && !w->shares && sl_request_may_be_named(&w->request);
}

/*
 * Which of those partitions may lend nodes to the entry's job, and under which number
 * (to be put into entry.loan)?  The rules are those of check/check.h.  Returns 1; 0 with the
 * reason when none of them may; -1 with *err on misuse or lack of memory.
 */
int sl_cluster_borrow(struct sl_cluster *c, struct sl_entry e, const struct sl_loan *wish, uint32_t *loan,
		      char why[160], struct sl_error *err);

/* The loan of that number, with the lenders that are left; NULL if there is none. */
const struct sl_loan *sl_cluster_loan(const struct sl_cluster *c, uint32_t loan);

/*
 * Sets of nodes that a policy confines jobs to.  A set has a number, the same for equal sets, to be put into
 * entry.confine or said of a job: then all its entries are confined to it that say nothing else, until that is said
 * anew or taken back.  A job that only Slurm's select can place cannot be confined: it is not started.
 */
int sl_cluster_confinement(struct sl_cluster *c, const struct sl_nodeset *nodes, uint32_t *number, struct sl_error *err);
int sl_cluster_confine(struct sl_cluster *c, uint32_t job, uint32_t number, struct sl_error *err);
uint32_t sl_cluster_confined(const struct sl_cluster *c, uint32_t job);
const struct sl_nodeset *sl_cluster_confined_to(const struct sl_cluster *c, uint32_t number);	/* NULL: no such number */
void sl_cluster_unconfine(struct sl_cluster *c);		/* all jobs: a cycle begins */

/* The nodes of a partition, and those of them that may take jobs now. */
const struct sl_nodeset *sl_cluster_partition_nodes(const struct sl_cluster *c, uint32_t partition);
const struct sl_nodeset *sl_cluster_usable_nodes(const struct sl_cluster *c, uint32_t partition);

/* Sums over usable nodes. */
struct sl_supply {
	uint64_t nodes, cores, cpus;
	uint64_t memory;			/* MiB, of nodes that say so */
	uint64_t gres[SL_MAX_GRES];		/* by kind */
	uint64_t gres_nodes[SL_MAX_GRES];	/* nodes that have some */
};

/* The sums over the nodes of all partitions whose mark in *marks* ([partition]) is not 0; NULL: of all partitions. */
void sl_cluster_supply(const struct sl_cluster *c, const uint8_t *marks, struct sl_supply *supply);

/* The rows of job_license that the job has if it starts at *t*: all of them, or of alternatives the one that slurmctld
 * takes; where none is free, the first. */
struct sl_range sl_cluster_choose_licenses(const struct sl_cluster *c, uint32_t job, int64_t t, int64_t seconds);

/* How many of a licence such rows come to, and how many are left of it at least over [t0, t1). */
uint32_t sl_cluster_licenses(const struct sl_cluster *c, struct sl_range rows, uint32_t license);
int64_t sl_cluster_licenses_left(const struct sl_cluster *c, uint32_t license, int64_t t0, int64_t t1);

/* What is free at this instant on a node (0 everywhere on an unusable or reserved
 * one). */
void sl_cluster_free(const struct sl_cluster *c, uint32_t node, struct sl_resources *free);

/* Totals, for policies and metrics. */
struct sl_totals {
	uint32_t nodes, usable_nodes, idle_nodes;
	int64_t cores, free_cores;	/* of usable nodes; reserved ones have none free */
	uint64_t free_gres[SL_MAX_GRES];
	uint32_t queued, running;
};
void sl_cluster_totals(const struct sl_cluster *c, struct sl_totals *t);

/* -- placement scores (mix.c) ------------------------------------------- */

/* From now on that is the own score (SL_PLACE_OWN); NULL: there is none.  And the entry about which it is asked. */
void sl_cluster_own_score(struct sl_cluster *c, sl_own_score *own, void *arg);
struct sl_entry sl_cluster_scored(const struct sl_cluster *c);

/* -- usage (cluster_usage.c) ------------------------------------------- */

/* The gres kinds called "gpu", as bits: 1 << row; the GPUs of a node. */
uint16_t sl_gpu_kinds(const struct sl_snapshot *snap);
uint32_t sl_node_gpus(const struct sl_snapshot *snap, uint32_t node);

/* What places come to: CPUs as Slurm counts them (threads of whole cores), GPUs, nodes. */
int64_t sl_place_units(const struct sl_snapshot *snap, uint16_t gpu_kinds, const struct sl_place *place,
		       uint32_t count, enum sl_unit unit);

/* What a running (or suspended) job has, and the seconds that it has run; not
 * those that it was suspended. */
int64_t sl_cluster_has(const struct sl_cluster *c, uint32_t job, enum sl_unit unit);
int64_t sl_cluster_ran(const struct sl_cluster *c, uint32_t job);

/* When its size changed last in this run, 0: it did not; and the seconds that it has run since then, or since its
 * start.  What it had before is in the ledger already. */
int64_t sl_cluster_resized(const struct sl_cluster *c, uint32_t job);
int64_t sl_cluster_ran_at_size(const struct sl_cluster *c, uint32_t job);

/*
 * Who knows of the past.  Without one it is what the snapshot's table "usage" says.
 * The provider is copied; what it points to must outlive the cluster.
 */
void sl_cluster_set_usage(struct sl_cluster *c, const struct sl_usage_provider *usage);
const struct sl_usage_provider *sl_cluster_usage(struct sl_cluster *c, struct sl_error *err);

/* The same for runs that have ended and the table "history"; *history is borrowed.  NULL with
 * *err: out of memory. */
void sl_cluster_set_history(struct sl_cluster *c, struct sl_history *history);
struct sl_history *sl_cluster_history(struct sl_cluster *c, struct sl_error *err);

/* What was asked of it in this cycle, as rows of a table (sl_history_encode()). */
void sl_cluster_encode_history(const struct sl_cluster *c, struct sl_builder *b, int table);

/* -- what changes (the simulator) -------------------------------------- */

/* The zero of the workload that is simulated; 0, as long as nobody said: there is none. */
void sl_cluster_set_origin(struct sl_cluster *c, int64_t origin);
int64_t sl_cluster_origin(const struct sl_cluster *c);

/* Let time pass; the clock never goes back. */
int sl_cluster_advance(struct sl_cluster *c, int64_t now, struct sl_error *err);

/* Append a pending job to the queue, in its partition(s). */
int sl_cluster_submit(struct sl_cluster *c, uint32_t job, struct sl_error *err);

/* Close exactly these nodes: from now on no job may start on them, and nodes that were closed before are open again.
 * Jobs that run there go on.  The caller keeps node.state of the snapshot up to date. */
int sl_cluster_set_down(struct sl_cluster *c, const struct sl_nodeset *down, struct sl_error *err);

/* Put the queue in another order; as qsort_r() has it.  Equal entries may change
 * places: let *compare* tell them all apart. */
void sl_cluster_sort(struct sl_cluster *c, int (*compare)(const void *, const void *, void *), void *arg);

/* Take a queued job off the queue and run it on *places* until *end* (its
 * walltime; what is booked).  Fails, changing nothing, if that is not free. */
int sl_cluster_start(struct sl_cluster *c, uint32_t job, const struct sl_place *places, uint32_t count,
		     int64_t end, struct sl_error *err);

/*
 * sl_cluster_unbook(): until sl_cluster_rebook(), starts are not booked in the timeline, since the caller counts itself
 * what is free.  sl_cluster_rebook() books what runs then; the timeline is as if it had known all along.  False, and
 * nothing has changed, if bookings depend on each other (specials, cluster_private.h).
 */
bool sl_cluster_unbook(struct sl_cluster *c);
int sl_cluster_rebook(struct sl_cluster *c, struct sl_error *err);

/* A running job that is suspended for another one, and goes on as soon as all of its places are free. */
struct sl_sleeper {
	uint32_t job;
	int64_t rest_s;			/* of its walltime, or SL_UNLIMITED */
	int64_t until;			/* until then others are expected to have cores of its places */
	const struct sl_place *before;	/* that are kept free for another job until then, which has not begun; by several jobs once */
	uint32_t before_count;
	bool is_awake;			/* what comes of it: its places are free, and booked for the rest */
};

/*
 * Book anew what suspended jobs hold: while they sleep what others leave of their places, so that nobody slips in, and all of it from
 * *until* on.  They hold no memory or gres, and keep their licences.  Those that are awake then are as they were before.  Called when
 * others have started or ended, in the order in which they were suspended.  0, or -1 with *err.
 */
int sl_cluster_sleep(struct sl_cluster *c, struct sl_sleeper *s, uint32_t count, struct sl_error *err);

/* A running job has ended: its resources are free from now on. */
int sl_cluster_finish(struct sl_cluster *c, uint32_t job, struct sl_error *err);

#endif
