/* SPDX-License-Identifier: MIT */
/*
 * cluster.h - the model of a cluster on which policies, plans and the simulator work.
 *
 * It is built from a snapshot.  It refers to the snapshot's rows and keeps what changes: which jobs are queued, which run and
 * on which nodes, and the timeline of free resources that results (timeline/timeline.h).  In production a cluster lives for
 * one cycle.  The simulator opens one snapshot with all jobs of a workload and changes the cluster by
 * sl_cluster_submit/start/finish/advance, so that an event costs only what it changes.
 *
 * Jobs are named by their row in the snapshot.
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

/* A pending job in one of its partitions: an entry of the queue.  In the queue itself shape, loan, resv and confine are 0
 * and freed is false. */
struct sl_entry {
	uint32_t job;		/* row in snapshot.job */
	uint32_t partition;	/* row in snapshot.partition */
	uint32_t shape;		/* 0: as asked; n: the job's nth alternative */
	uint32_t loan;		/* 0: only nodes of its own partition; n: also those of loan n */
	uint32_t resv;		/* 0: in the reservation that the job asks for; n: in the one of row n-1 */
	uint32_t row;		/* row in snapshot.queue + 1 if the entry may start in several reservations (queue.ways);
				 * else 0 */
	bool freed;		/* jobs are stopped to free its nodes (preempt.h), so select need not preempt anybody */
	uint32_t confine;		/* its nodes must be in this set (sl_cluster_confinement()); 0: in the set that the
					 * policy gave to the job, if any */
};

/* A loan: nodes of other partitions for jobs that wait in one partition. */
#define SL_MAX_LENDERS 16
struct sl_loan {
	uint32_t home;		/* row of the partition in which the jobs wait */
	uint32_t through;	/* row of the partition in which they are started; its nodes include those of the lenders */
	uint32_t lender[SL_MAX_LENDERS], lenders;	/* rows of the lending partitions */
};

/* Build the model: running jobs and reservations are booked in the timeline, the queue is as in the snapshot.  NULL with
 * *err if the snapshot exceeds the limits of timeline/nodeset.h and timeline/timeline.h. */
struct sl_cluster *sl_cluster_create(const struct sl_snapshot *snap, struct sl_error *err);
void sl_cluster_destroy(struct sl_cluster *c);

const struct sl_snapshot *sl_cluster_snapshot(const struct sl_cluster *c);
int64_t sl_cluster_now(const struct sl_cluster *c);

/* Units of work (base/effort.h) spent on this cluster so far: placement, searches, reading requests. */
uint64_t sl_cluster_effort(const struct sl_cluster *c);

/* Work on this cluster fails with SL_ETIME once *stop is set; NULL: never. */
void sl_cluster_stop_at(struct sl_cluster *c, const volatile sig_atomic_t *stop);
struct sl_timeline *sl_cluster_timeline(struct sl_cluster *c);

/* The first time at which a queued job that waits for few switches will accept any number; INT64_MAX if there is none. */
int64_t sl_cluster_next_impatient(const struct sl_cluster *c);

/* Queue entries in order, valid until the queue changes. */
const struct sl_entry *sl_cluster_queue(const struct sl_cluster *c, uint32_t *count);

/* What jobs that may not delay another job (the head) may use: from *from* on, at most *cores* cores. */
struct sl_room {
	bool known;
	uint32_t head;			/* row of the head */
	int64_t from, cores;
};

/* True if no entry from number *first* on can start now, because each needs more cores than are free; or would still run
 * at room->from and needs more than room->cores.  Compares only two numbers per entry, which are kept from call to call. */
bool sl_cluster_lacks_room(struct sl_cluster *c, uint32_t first, const struct sl_room *room);

/* True if, on a machine of one node, the entry needs only *cores* for *seconds* and nothing else.  It can start as soon as
 * these are free. */
bool sl_cluster_takes_cores(struct sl_cluster *c, uint32_t at, uint32_t *cores, int64_t *seconds);

/* True if the job is a component of a heterogeneous job, but not its leader.  Policies do not see it in the queue, because
 * decisions about the leader hold for all components. */
bool sl_cluster_is_led(const struct sl_cluster *c, uint32_t job);

/* Rows of running (and suspended) jobs, in no particular order. */
const uint32_t *sl_cluster_running(const struct sl_cluster *c, uint32_t *count);

/* The state of a job: as in the snapshot, or as changed by the simulator. */
uint32_t sl_cluster_state(const struct sl_cluster *c, uint32_t job);

/* Seconds from *t* on until the node has booted and a job can run there; 0: it is up. */
int64_t sl_cluster_boots_in(const struct sl_cluster *c, uint32_t node, int64_t t);

/* True if the node is not used although Slurm does not call it down: it has been booting, or a job has been completing on
 * it, for too long. */
bool sl_cluster_is_lost(const struct sl_cluster *c, uint32_t node);

/* The time until which a running job is booked: the end of its walltime (SL_UNLIMITED: no limit), or later if it is
 * overdue; 0 for other jobs. */
int64_t sl_cluster_end(const struct sl_cluster *c, uint32_t job);

/* The places of a running job; NULL with *count 0 for other jobs. */
const struct sl_place *sl_cluster_places(const struct sl_cluster *c, uint32_t job, uint32_t *count);

/*
 * One way to place a job: a request in which only nodes are left to choose.
 *
 * Alternatives in a request (feature sets, node counts, switches for a limited time), and fall-backs (the exact request, then
 * select), become a list of variants.  A start now uses the first variant that fits; a later start uses the one that fits
 * soonest, of equal ones the first.
 */
struct sl_variant {
	struct sl_request request;	/* its duration is the time limit */
	int64_t from, until;		/* valid for starts in [from, until) */
	bool now, later;		/* now: may be used for a start now; later: for a later start */
	bool select;			/* Slurm's select chooses the nodes; the request is an upper bound */
	bool in_rows;			/* a start now shares cores with other jobs: it may not use nodes reserved for jobs
					 * that need one row there (want_shared.c) */
};
#define SL_MAX_VARIANTS 64		/* a job with more variants is left to select */

/* What an entry asks for, in the engine's terms.  Computed when first needed, then kept.  The rules are those of
 * check/check.h.  NULL with *err for rows that do not exist, or lack of memory. */
struct sl_want {
	union {
		struct sl_variant bound;	/* asks for no more than any variant does; if there is only one variant,
						 * that one */
		struct sl_request request;	/* bound.request */
	};
	const struct sl_variant *variant;	/* at least one, unless the job cannot run in this partition at all */
	uint32_t variants;
	bool many_sets, many_counts;	/* the variants use several node sets; several node counts */
	const struct sl_request *exact;	/* a lower bound of the variants that the engine places itself; *request* is one of
					 * all variants */
	bool shares;			/* it may share cores with other jobs */
	const struct sl_nodeset *up;	/* its eligible nodes that need not boot; NULL: none of its nodes has to boot */
	int64_t boots;			/* seconds for which a place must be free in addition to the walltime, because
					 * nodes that boot may be among its nodes */
	int64_t time_limit;		/* seconds, SL_UNLIMITED */
	int64_t time_floor;		/* shortest time to which it may be cut: time_min, or the limit */
	enum sl_place_method method;	/* used if the policy names none */
	sl_word_set asked;		/* what it asks for and the relevant circumstances (image/words.h) */
	sl_word_set native;		/* those words of *asked* because of which only select can place it; 0: the engine
					 * places it */
	enum sl_why why;		/* not SL_WHY_NONE if it cannot run in this partition at all, */
	const char *text;		/* and the text for its user */
};
const struct sl_want *sl_cluster_want(struct sl_cluster *c, struct sl_entry e, struct sl_error *err);

/* Seconds for which a start now needs its nodes: its time limit, or less if other jobs may preempt it earlier
 * (yields_after). */
int64_t sl_cluster_needs_nodes_s(const struct sl_cluster *c, const struct sl_want *want);

/* True if a policy may say on which nodes the job starts, and with how much of each.  Not if something else decides that:
 * Slurm's select, counts of features, planes of tasks, the user's list of nodes, or which shared cores are free. */
static inline bool sl_want_takes_places(const struct sl_want *w)
{
	return !w->native && !w->shares && sl_request_may_be_named(&w->request);
}

/*
 * Find which of the partitions of *wish* may lend nodes to the job, and set *loan to the number of that loan (for
 * entry.loan).  The rules are those of check/check.h.  Returns 1; 0 with the reason if none may; -1 with *err on misuse or
 * lack of memory.
 */
int sl_cluster_borrow(struct sl_cluster *c, struct sl_entry e, const struct sl_loan *wish, uint32_t *loan,
		      char why[160], struct sl_error *err);

/* The loan with that number, with the lenders that are allowed; NULL if there is none. */
const struct sl_loan *sl_cluster_loan(const struct sl_cluster *c, uint32_t loan);

/*
 * Node sets to which a policy confines jobs.  sl_cluster_confinement() numbers a set; equal sets have the same number.  The
 * number is used in entry.confine, or is set for a job by sl_cluster_confine(): then it holds for all entries of the job
 * without a number of their own, until it is set again.  A job that only select can place cannot be confined and is not
 * started.
 */
int sl_cluster_confinement(struct sl_cluster *c, const struct sl_nodeset *nodes, uint32_t *number, struct sl_error *err);
int sl_cluster_confine(struct sl_cluster *c, uint32_t job, uint32_t number, struct sl_error *err);
uint32_t sl_cluster_confined(const struct sl_cluster *c, uint32_t job);
const struct sl_nodeset *sl_cluster_confined_to(const struct sl_cluster *c, uint32_t number);	/* NULL: no such number */
void sl_cluster_unconfine(struct sl_cluster *c);		/* for all jobs: a cycle begins */

/* The nodes of a partition, and those of them that can take jobs now. */
const struct sl_nodeset *sl_cluster_partition_nodes(const struct sl_cluster *c, uint32_t partition);
const struct sl_nodeset *sl_cluster_usable_nodes(const struct sl_cluster *c, uint32_t partition);

/* Sums over usable nodes. */
struct sl_supply {
	uint64_t nodes, cores, cpus;
	uint64_t memory;			/* MiB, of nodes with known memory */
	uint64_t gres[SL_MAX_GRES];		/* by kind */
	uint64_t gres_nodes[SL_MAX_GRES];	/* number of nodes with that kind */
};

/* Sum over the nodes of all partitions p with marks[p] != 0; NULL: of all partitions. */
void sl_cluster_supply(const struct sl_cluster *c, const uint8_t *marks, struct sl_supply *supply);

/* The rows of job_license that the job uses if it starts at *t*: all of them; or, if any one suffices, the one that
 * slurmctld would take (the first if none is free). */
struct sl_range sl_cluster_choose_licenses(const struct sl_cluster *c, uint32_t job, int64_t t, int64_t seconds);

/* The count of a licence in these rows; and the least that is left of it over [t0, t1). */
uint32_t sl_cluster_licenses(const struct sl_cluster *c, struct sl_range rows, uint32_t license);
int64_t sl_cluster_licenses_left(const struct sl_cluster *c, uint32_t license, int64_t t0, int64_t t1);

/* What is free on a node now; all 0 if the node is unusable or reserved. */
void sl_cluster_free(const struct sl_cluster *c, uint32_t node, struct sl_resources *free);

/* Totals, for policies and metrics. */
struct sl_totals {
	uint32_t nodes, usable_nodes, idle_nodes;
	int64_t cores, free_cores;	/* of usable nodes; reserved nodes have none free */
	uint64_t free_gres[SL_MAX_GRES];
	uint32_t queued, running;
};
void sl_cluster_totals(const struct sl_cluster *c, struct sl_totals *t);

/* -- placement scores (mix.c) ------------------------------------------- */

/* Set the policy's own score (SL_PLACE_OWN); NULL: none.  sl_cluster_scored(): the entry for which it is being computed. */
void sl_cluster_own_score(struct sl_cluster *c, sl_own_score *own, void *arg);
struct sl_entry sl_cluster_scored(const struct sl_cluster *c);

/* -- usage (cluster_usage.c) ------------------------------------------- */

/* Bits (1 << row): the gres kinds named "gpu".  The number of GPUs of a node. */
uint16_t sl_gpu_kinds(const struct sl_snapshot *snap);
uint32_t sl_node_gpus(const struct sl_snapshot *snap, uint32_t node);

/* The sum of the places: CPUs as Slurm counts them (threads of whole cores), GPUs or nodes. */
int64_t sl_place_units(const struct sl_snapshot *snap, uint16_t gpu_kinds, const struct sl_place *place,
		       uint32_t count, enum sl_unit unit);

/* What a running or suspended job has; and for how many seconds it has run, without suspensions. */
int64_t sl_cluster_has(const struct sl_cluster *c, uint32_t job, enum sl_unit unit);
int64_t sl_cluster_ran(const struct sl_cluster *c, uint32_t job);

/* When the size of the job last changed in this run, 0: never; and how long it has run since then, or since its start.
 * The time before is already in the ledger. */
int64_t sl_cluster_resized(const struct sl_cluster *c, uint32_t job);
int64_t sl_cluster_ran_at_size(const struct sl_cluster *c, uint32_t job);

/* Provider of past usage; by default the snapshot's table "usage".  The struct is copied; what it points to must outlive
 * the cluster. */
void sl_cluster_set_usage(struct sl_cluster *c, const struct sl_usage_provider *usage);
const struct sl_usage_provider *sl_cluster_usage(struct sl_cluster *c, struct sl_error *err);

/* The same for past runs; by default the snapshot's table "history".  *history is borrowed.  NULL with *err: out of
 * memory. */
void sl_cluster_set_history(struct sl_cluster *c, struct sl_history *history);
struct sl_history *sl_cluster_history(struct sl_cluster *c, struct sl_error *err);

/* Write what was asked of the history in this cycle as rows of a table (sl_history_encode()). */
void sl_cluster_encode_history(const struct sl_cluster *c, struct sl_builder *b, int table);

/* -- changes, for the simulator ------------------------------------------- */

/* The time 0 of the simulated workload; 0 if not set. */
void sl_cluster_set_origin(struct sl_cluster *c, int64_t origin);
int64_t sl_cluster_origin(const struct sl_cluster *c);

/* Move now forward; it never goes back. */
int sl_cluster_advance(struct sl_cluster *c, int64_t now, struct sl_error *err);

/* Append a pending job to the queue, with an entry for each of its partitions. */
int sl_cluster_submit(struct sl_cluster *c, uint32_t job, struct sl_error *err);

/* Close exactly these nodes: no job may start there from now on, and nodes closed before are open again.  Jobs that run
 * there go on.  The caller keeps node.state of the snapshot up to date. */
int sl_cluster_set_down(struct sl_cluster *c, const struct sl_nodeset *down, struct sl_error *err);

/* Sort the queue, as qsort_r().  Entries that *compare* calls equal may be in any order. */
void sl_cluster_sort(struct sl_cluster *c, int (*compare)(const void *, const void *, void *), void *arg);

/* Take a queued job off the queue and run it on *places*, booked until *end*.  Fails, changing nothing, if they are not
 * free. */
int sl_cluster_start(struct sl_cluster *c, uint32_t job, const struct sl_place *places, uint32_t count,
		     int64_t end, struct sl_error *err);

/*
 * After sl_cluster_unbook(), starts are not booked in the timeline: the caller keeps count of free resources itself.
 * sl_cluster_rebook() books all jobs that run then, with the same result as if they had been booked all along.
 * sl_cluster_unbook() returns false and changes nothing if bookings depend on each other (specials, cluster_private.h).
 */
bool sl_cluster_unbook(struct sl_cluster *c);
int sl_cluster_rebook(struct sl_cluster *c, struct sl_error *err);

/* A running job that is suspended for another one.  It resumes as soon as all its places are free. */
struct sl_sleeper {
	uint32_t job;
	int64_t rest_s;			/* rest of its walltime in seconds, or SL_UNLIMITED */
	int64_t until;			/* other jobs are expected to use cores of its places until then */
	const struct sl_place *before;	/* places kept free until then for another job that has not started; a place kept
					 * for several jobs is listed once */
	uint32_t before_count;
	bool is_awake;			/* result: its places are free, and booked for the rest of its walltime */
};

/*
 * Book again what suspended jobs hold: until *until* whatever the others leave of their places, so that no other job takes
 * it, and all of it afterwards.  Suspended jobs keep their licences but no memory or gres.  Jobs that are awake are booked as
 * before they were suspended.  Call it when other jobs have started or ended; *s is in the order of suspension.  0, or -1
 * with *err.
 */
int sl_cluster_sleep(struct sl_cluster *c, struct sl_sleeper *s, uint32_t count, struct sl_error *err);

/* A running job has ended: what it holds is free from now on. */
int sl_cluster_finish(struct sl_cluster *c, uint32_t job, struct sl_error *err);

#endif
