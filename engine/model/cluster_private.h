/* SPDX-License-Identifier: MIT */
/*
 * cluster_private.h - the inside of a cluster, for cluster*.c, want*.c and plan*.c
 * only.
 *
 * The timeline of a cluster ("main") has everything that holds nodes: running jobs
 * first, then blocks (nodes that are down, reservations of whole nodes) on top of
 * them, then what depends on the former (specials: below).
 *
 * A reservation that queued jobs ask for has a timeline of its own, an enclave: on
 * main its nodes are blocked, in the enclave they are free but for what runs there.
 * It is made when it is first asked for, and again after the running jobs changed.
 * In an enclave of a reservation of parts of nodes, cores are those it may have on
 * each node (where the snapshot does not say how many, an upper bound, check/check.h);
 * memory and gres are shared with main, and what either books of them the other has booked too.
 *
 * Where jobs share cores (OverSubscribe=FORCE:n, or YES:n and asked for) there is one more
 * timeline, an enclave of no reservation, and one more for each reservation: each node has as
 * many times its cores as jobs may share one there.  Slurm lets jobs that share on no node on
 * which others are, and the reverse: while a job is on a node on one side, the node is blocked
 * on the other.
 *
 * So it is with jobs that have nodes to themselves with others of their user or their label (a
 * tenant: tenant.c): each tenant has a timeline, which is blocked where others are, and its nodes
 * are blocked for all others.  Jobs of the user that do not insist on that are on the main one,
 * so they come to no node of his tenant; the tenant goes to theirs, once they run.
 *
 * A job of a flexible reservation may have its nodes and all others, at any time: the enclave of one has all nodes,
 * those of the reservation before others.  What is booked there is booked on main as well, beneath the reservation's
 * block, and the reverse: without regard to blocks both have the same.  With timelines of which that is not so (where
 * cores are shared or reserved, of tenants, of other reservations) nodes are blocked, as they are for tenants.
 *
 * Specials are what follows from other bookings and has to be worked out again when
 * those change: nodes on which jobs share cores; nodes of a tenant, blocked until its last job there ends;
 * completing nodes, blocked for a moment; the cores of partial reservations that none of their jobs holds, as far as they are
 * free.  Few clusters have any.
 */
#ifndef SL_CLUSTER_PRIVATE_H
#define SL_CLUSTER_PRIVATE_H

#include "base/number.h"
#include "check/check.h"
#include "model/cluster.h"
#include "model/features.h"
#include "model/tally.h"

struct part {
	struct sl_nodeset nodes, usable;
	uint32_t min_threads, max_threads;	/* of its nodes; 0: not looked at yet */
	sl_word_set words;		/* then: circumstances (model/native.h) */
	uint32_t max_cores;		/* of one of its nodes */
	int64_t memory;			/* of each of its nodes; -1: they differ */
	int64_t core_spec;		/* likewise */
	int64_t sockets, socket_cores;	/* likewise; -1 also where the cores of a socket are not known */
	bool restricts_cores;		/* some of them have RestrictedCoresPerGPU */
	bool has_others;		/* some of them are below no switch, nor in a block */
	uint32_t block_most;		/* the most of them that are in one block, where there are blocks */
	bool shares;			/* on some of its nodes jobs may share a core, in this partition or in another one */
	uint32_t cap;			/* MaxCPUsPerNode, 0: none */
	uint32_t cap_kind;		/* gres kind of the timeline that counts it, or SL_NONE */
	uint32_t share;			/* jobs that have to share a core (FORCE:n), else 1 */
	uint32_t row_cores;		/* of each of its nodes, where several jobs may have a core and the nodes are alike, and
					   of no other such partition; else 0 */
};

struct loan {
	struct sl_loan pub;
	struct part part;		/* its own nodes and those lent, as if they were a partition */
};

/* Whose jobs are on nodes of their own. */
struct tenant {
	uint32_t job;			/* row of one of them */
	bool by_user, by_label;		/* all are of its user, have its label */
};

struct tenancy {			/* of a job */
	uint32_t asked, in_exclusive;	/* number of its tenant, from 1, 0: of none; the same where ExclusiveUser is set */
};

struct enclave {
	uint32_t resv;			/* row, or SL_NONE: of those in none */
	uint32_t number;		/* that it has in cluster.enclave */
	bool shared;			/* of jobs that share cores */
	uint32_t tenant;		/* whose jobs, as cluster_tenant() says */
	bool flexible;			/* its reservation is: on its nodes and all others */
	bool partial, dirty;
	struct sl_nodeset nodes;
	struct sl_timeline *tl;
};

/* Has it the nodes of a reservation alone? */
static inline bool cluster_is_confined(const struct enclave *en)
{
	return en->resv != SL_NONE && !en->flexible;
}

/* A booking on one node. */
struct node_booking {
	uint32_t node;
	struct sl_resources r;
	int64_t t0, t1;
};

/* What holds nodes: a running, suspended or completing job. */
struct held {
	struct sl_place *place;		/* as the snapshot or the caller has it */
	struct node_booking *own_bookings;	/* node by node, where not all of it is free */
	uint32_t own_count;
	bool clamped;			/* that is so */
	uint32_t count;
	uint32_t resv;			/* reservation it runs in, or SL_NONE */
	struct sl_range licenses;	/* rows of job_license */
	int64_t end;			/* booked until */
	int64_t due;			/* when its time is up: the same, but of one that is overdue */
	int64_t start;			/* of sl_cluster_start(): when */
	uint32_t tenant;		/* as cluster_tenant() says */
	bool charged;			/* places are bookings already (sl_cluster_start) */
};

/* Core slots, of which a node has as many for each core as jobs may have it (want_shared.c). */
struct rows {
	uint32_t spare;			/* that stay free of a node on which its cores are nobody else's; 0: it shares none */
	uint32_t enough;		/* that are free of each node where some row is sure to have its cores; 0: that is not said */
	bool alone;			/* there is one of them then */
};

struct count_run {		/* both ends included */
	uint32_t first, last;
};

enum chance { CHANCE_UNKNOWN, CHANCE_GOOD, CHANCE_DOWN, CHANCE_NONE };

struct want {
	struct sl_want pub;
	struct rows rows;
	struct sl_variant *list;	/* of *pub*, where they are several */
	enum chance chance;		/* on an empty machine; NONE but for nodes that are down: DOWN */
	uint32_t down;			/* so many of which would do */
	struct sl_misfit misfit;	/* of the latter two */
	struct sl_entry entry;
	struct want *next;		/* of the same job */
	struct sl_nodeset eligible, required;
	struct sl_nodeset up;		/* that of *pub* */
	struct sl_nodeset active;	/* of those: where the features that a reboot brings are active (want_variants.c) */
	struct sl_nodeset *choice;	/* sets of nodes, of which it takes one; preferred ones come first */
	struct count_run *count;	/* ranges of numbers of nodes, ascending; it takes a number of one of them */
	uint32_t choices, counts;
	struct sl_pick *pick;		/* of the request */
	struct sl_part *part;
	struct sl_range gres;		/* rows that it asks for */
	bool asks_no_consume;		/* some of them are used up by nobody */
	uint32_t parts;
	struct enclave *enclave;	/* NULL: main */
	const struct sl_nodeset *resv_nodes;	/* of the reservation that it is confined to, or NULL */
	uint32_t resv;			/* that it runs in, or SL_NONE; its licences are left to Slurm */
	bool any_time;			/* that is flexible: not in its time alone */
	int64_t asked;			/* time limit as the job has it in that partition */
	int64_t valid_until;		/* worked out again then */
	int64_t leaves_until;		/* then it may start below any number of switches */
	char *text;
};

struct component {		/* of a heterogeneous job */
	uint32_t leader;		/* its id */
	uint32_t offset, row;
};

/* A node that is closed over [t0, t1), and those to whom it stays open. */
struct block {
	uint32_t node;
	enum { FOR_ALL, BUT_SHARING, BUT_TENANT, BUT_OWNER } kind;
	uint32_t who;			/* the tenant; the owner's uid */
	int64_t t0, t1;
};

/* What an entry of the queue needs at least, wherever it is placed. */
struct least {
	enum { LEAST_NOT_ASKED, LEAST_KNOWN, LEAST_UNKNOWN } kind;
	bool is_all;			/* on a machine of one node: it takes just that, and nothing else */
	uint32_t cores;
	int64_t seconds;		/* it can do with no fewer, and asks for no more */
};

enum stage { STAGE_NONE, STAGE_QUEUED, STAGE_RUNNING, STAGE_ENDED };

struct sl_cluster {
	const struct sl_snapshot *snap;
	int64_t now;
	int64_t origin;			/* of the workload that is simulated, or 0 */
	struct sl_shelf shelf;		/* of all timelines */
	struct sl_timeline *tl;
	struct sl_timeline *empty;	/* the machine with nothing on it, NULL until asked for */
	struct part *part;
	struct loan **loan;		/* by number - 1 */
	uint32_t loans;
	struct sl_nodeset *confinement;	/* by number - 1 (confine.c) */
	uint32_t confinements, confinement_room;
	uint32_t *confined;		/* [job] number; NULL: no job is */
	struct sl_node_kind *kind;	/* as given to the timelines */
	uint32_t *kind_of, kinds;
	struct sl_tree tree;		/* no switches: none is known, or there is but one */
	uint32_t *rows;			/* [node] jobs that may share a core there; NULL: nowhere */
	bool modelled[SL_MAX_GRES];	/* gres kinds: the first few, without counts beyond 65,535 */
	struct sl_devices devices;	/* that have shares: model/devices.h */
	bool has_devices;
	struct scoring *scoring;	/* mix.c */
	bool no_consume[SL_MAX_GRES];	/* of these: no node's is used up by those who have it (no_consume) */

	struct sl_nodeset unusable, scratch;
	struct sl_nodeset lost;		/* of the unusable ones: those that Slurm does not call so (cluster_ends.c) */
	struct sl_nodeset sleepers;	/* that have to boot, or do (cluster_power.c) */
	int64_t longest_boot;		/* seconds that one of them takes at most */
	bool reboots;			/* some are being powered down, or rebooted */
	struct sl_nodeset *resv_nodes;	/* by reservation */
	struct enclave **enclave;	/* those that were asked for */
	uint32_t enclaves;
	struct tenant *tenant;
	uint32_t tenants;
	struct tenancy *tenancy;	/* [job]; NULL: there are no tenants */
	struct block *block;		/* specials that are blocks */
	uint32_t blocks, blocks_room;
	struct node_booking *kept;	/* specials that are bookings */
	uint32_t kepts;
	bool has_specials, has_partial, has_flexible;
	bool has_busy;			/* some nodes are completing, being powered down, or rebooted */

	struct sl_entry *queue;
	struct least *least;		/* [entry] */
	uint32_t queued, queue_room, least_room;
	uint32_t *running, runs;	/* rows */
	uint32_t *run_at;		/* [job] place in running */
	uint8_t *stage;			/* [job] enum stage */
	struct held **held;		/* [job] */
	uint32_t *lingering, lingers;	/* rows that hold nodes and do not run */
	struct sl_place *alloc;		/* places of the snapshot's own */
	int64_t first_end;		/* no held job's time is up earlier */
	bool unbooked;			/* what starts is not booked: sl_cluster_unbook() */
	int64_t cores;			/* of usable nodes */
	struct sl_tally *license;	/* [license] */

	struct component *component;	/* pending ones, by leader and offset; NULL until asked for */
	uint32_t components;

	struct want **want;		/* [job] */
	struct sl_features *features;	/* who satisfies a constraint */
	struct sl_effort effort;	/* of all that is worked out on it */

	struct sl_usage_provider usage;
	struct sl_history *history;	/* whom policies ask; NULL: */
	struct sl_history *own_history;	/* of the snapshot's rows */
	struct sl_usage *own_usage;	/* of the snapshot's rows, where nobody else is asked */

	/* Lent to the plan that is being made, so that it costs what is in it and not
	 * what is in the snapshot.  All zero when there is none. */
	uint32_t *plan_starts;		/* [job] tasks started */
	uint32_t *plan_notes;		/* [job] number of its note + 1 */
	uint32_t *plan_queue;		/* [job] number of its first entry in the queue + 1 */
	void *spare_plan;		/* room for the next plan: it is large, and one is made in each cycle; or NULL */
};

static inline const char *cluster_str(const struct sl_cluster *c, uint32_t str)
{
	return sl_snapshot_str(c->snap, str);
}

/* What a constraint says, by its offset in the snapshot's strings (0: there is none, as for most jobs). */
static inline struct sl_constraint_says cluster_constraint(const struct sl_cluster *c, uint32_t str)
{
	if (!str)
		return (struct sl_constraint_says) { .kind = SL_CONSTRAINT_PLACED, .choices = 1 };
	return sl_features_says(c->features, str);
}

/* From one moment to another; the first and the last moment are the bounds. */
static inline int64_t cluster_until(int64_t t, int64_t end)
{
	return sl_difference(end, t);
}

/* The nodes that an entry may have, and what they have in common. */
static inline struct part *cluster_part(const struct sl_cluster *c, const struct sl_entry *e)
{
	return e->loan ? &c->loan[e->loan - 1]->part : &c->part[e->partition];
}

/* mix.c: what placement scores are asked with; and from now on an own score is asked about that entry. */
int cluster_scoring_create(struct sl_cluster *c, struct sl_error *err);
void cluster_scoring_free(struct sl_cluster *c);
struct sl_scoring *cluster_scoring(const struct sl_cluster *c);
void cluster_scores_for(struct sl_cluster *c, struct sl_entry e);
/* True while an own score is asked: what was gathered for the job at hand stays as it is meanwhile. */
bool cluster_asks_score(const struct sl_cluster *c);

/* confine.c */
void cluster_confinements_free(struct sl_cluster *c);

/* From when on a job starts below any number of switches; INT64_MIN: always. */
int64_t cluster_impatient_at(const struct sl_cluster *c, uint32_t job);

/* cluster_tree.c: the switches that nodes hang on, for all timelines; -1 or NULL with *err. */
int cluster_build_tree(struct sl_cluster *c, struct sl_error *err);
void cluster_tree_free(struct sl_cluster *c);

/* The most of the nodes that are below one leaf switch, or in one block; UINT32_MAX without memory. */
uint32_t cluster_most_in_leaf(const struct sl_cluster *c, const struct sl_nodeset *nodes);

/* A timeline that has just been made gets what all have together; and one of the nodes as they are. */
void cluster_share(struct sl_cluster *c, struct sl_timeline *tl);
struct sl_timeline *cluster_new_timeline(struct sl_cluster *c, struct sl_error *err);

/* cluster_build.c: a new cluster's parts.  All return 0, or -1 with *err. */
int cluster_build_nodes(struct sl_cluster *c, struct sl_error *err);
int cluster_build_running(struct sl_cluster *c, struct sl_error *err);
int cluster_build_specials(struct sl_cluster *c, struct sl_error *err);
int cluster_build_queue(struct sl_cluster *c, struct sl_error *err);

/* Block on main what is unusable or reserved as a whole, and the reverse; *own*: but
 * for what does not keep jobs of that reservation out. */
enum which { EVERYTHING, NOT_IN_THE_WAY };
int cluster_blocks(struct sl_cluster *c, bool place, enum which which, uint32_t own, struct sl_error *err);

/* The nodes of a list of runs become *out. */
int cluster_nodes(const struct sl_cluster *c, struct sl_range list, struct sl_nodeset *out, struct sl_error *err);

/* Jobs that share a core in that partition, 1 where none do. */
uint32_t cluster_sharing(const struct sl_cluster *c, uint32_t job, uint32_t partition);

/* Whether a job that holds nodes keeps those off that do not share cores. */
bool cluster_shares(const struct sl_cluster *c, uint32_t job);

/* The first reservation a job names that exists, or SL_NONE. */
uint32_t cluster_reservation(const struct sl_cluster *c, uint32_t job);

/* The reservation that an entry is tried in, or SL_NONE. */
uint32_t cluster_entry_reservation(const struct sl_cluster *c, const struct sl_entry *e);

/* Whether a reservation keeps the jobs of reservation *own* (SL_NONE: of none) out. */
bool cluster_keeps_out(const struct sl_cluster *c, uint32_t resv, uint32_t own);

/* Most cores that a partial reservation may have on a node. */
uint32_t cluster_resv_cores(const struct sl_cluster *c, uint32_t resv, uint32_t node);

/* cluster_ends.c: when the time of a job that holds nodes is up; before now: it is overdue.  And when it is expected to
 * give them back, if its time is up at *end*.  check/check.h has the rules. */
int64_t cluster_end_of(const struct sl_cluster *c, uint32_t job);
int64_t cluster_expect_end(const struct sl_cluster *c, uint32_t job, int64_t end);

/* When something that was due at *due*, before now, is expected to be over: it goes on for as long again. */
int64_t cluster_goes_on(int64_t due, int64_t now);

/* True if the job has been completing for so long that its nodes are planned without. */
bool cluster_is_hung(const struct sl_cluster *c, uint32_t job);

/* Fill c->lost; 0 or -1 with *err.  And why a node is unusable: "down", "drained", ... */
int cluster_find_lost(struct sl_cluster *c, struct sl_error *err);
const char *cluster_why_unusable(const struct sl_cluster *c, uint32_t node);

/* cluster_power.c: fill c->sleepers, c->longest_boot and c->reboots.  0 or -1 with *err. */
int cluster_find_sleepers(struct sl_cluster *c, struct sl_error *err);

/* Weights by which nodes that are powered up come before all others, and otherwise in the order of Slurm's weights.  *rank becomes
 * a list by node, which the caller frees; NULL if all nodes are up.  0, or -1 with *err. */
int cluster_rank_nodes(struct sl_cluster *c, uint32_t **rank, struct sl_error *err);

/* True if a node that boots should have been up by now. */
bool cluster_boots_too_long(const struct sl_cluster *c, uint32_t node);

/* Until when a node takes no job, being powered down or rebooted, where the last of its jobs ends at *jobs_end*;
 * INT64_MIN: it is neither. */
int64_t cluster_powerless_until(const struct sl_cluster *c, uint32_t node, int64_t jobs_end);

/* cluster_hold.c: booking what jobs hold. */
/* On main, over [t0, t1), as far as it is free; no block may stand there. */
int cluster_hold(struct sl_cluster *c, uint32_t job, struct held *h, int64_t t0, int64_t t1, struct sl_error *err);
int cluster_hold_strictly(struct sl_cluster *c, uint32_t job, struct held *h, int64_t t0, int64_t t1,
			  struct sl_error *err);
int cluster_release(struct sl_cluster *c, uint32_t job, struct held *h, struct sl_error *err);
int cluster_unbook_on_node(struct sl_cluster *c, const struct node_booking *b, struct sl_error *err);
int cluster_specials_lift(struct sl_cluster *c, struct sl_error *err);
int cluster_specials_place(struct sl_cluster *c, struct sl_error *err);

/* A job that says how many cores are the system's keeps others off those as well: its places become whole nodes. */
void cluster_hold_whole(const struct sl_cluster *c, uint32_t job, struct held *h);

/* What a job's i-th place costs in timelines; *shared*: in those of jobs that share cores. */
void cluster_count_place(const struct sl_cluster *c, uint32_t job, const struct held *h, uint32_t i, bool shared,
			 struct sl_resources *r);

/* Book on one node what is free of *r*, at each time as much as there is; remember it in *list (may
 * be NULL). */
int cluster_book_available(struct sl_cluster *c, struct sl_timeline *tl, uint32_t node, const struct sl_resources *r,
			   int64_t t0, int64_t t1, struct node_booking **list, uint32_t *count, struct sl_error *err);
int cluster_change_block(struct sl_cluster *c, struct sl_timeline *tl, const struct block *b, bool place,
			 struct sl_error *err);

/* The cores that partial reservations keep from jobs of reservation *own* (SL_NONE: of none), as far as they are free;
 * remembered like the above. */
int cluster_keep_cores(struct sl_cluster *c, struct sl_timeline *tl, uint32_t own, bool shared,
		       struct node_booking **list, uint32_t *count, struct sl_error *err);

/* tenant.c */
/* Who wants nodes to himself; 0 or -1 with *err. */
int cluster_build_tenants(struct sl_cluster *c, struct sl_error *err);

/* Whose job it is in that partition: a number, or 0: it minds nobody. */
uint32_t cluster_tenant(const struct sl_cluster *c, uint32_t job, uint32_t partition);

/* Whether a tenant (0: those that mind nobody) goes to nodes where that job is; where that user is said to
 * have jobs of the kind. */
bool cluster_goes_to_job(const struct sl_cluster *c, uint32_t tenant, uint32_t job, const struct held *h);
bool cluster_goes_to_owner(const struct sl_cluster *c, uint32_t tenant, uint32_t uid);

/* cluster_enclave.c */
/* The enclave with the *like*'s resv (SL_NONE: of no reservation), shared and tenant (0: of none).  NULL with *err. */
struct enclave *cluster_enclave(struct sl_cluster *c, const struct enclave *like, struct sl_error *err);

/* Its timeline, up to date. */
struct sl_timeline *cluster_enclave_timeline(struct sl_cluster *c, struct enclave *en, struct sl_error *err);
void cluster_enclave_free(struct enclave *en);

/* want.c, want_nodes.c */
/* Could it run, if nothing else did?  0, or -1 with *err. */
int cluster_chance(struct sl_cluster *c, const struct want *w, struct sl_error *err);

/* Would it fit if it were alone on the machine (c->empty)?  *among*: on these nodes only; NULL: on all that it may have.
 * 1; 0 with *misfit; -1. */
int cluster_fits_alone(struct sl_cluster *c, const struct want *w, const struct sl_nodeset *among, struct sl_misfit *misfit,
		       struct sl_error *err);

/* Does none of these nodes have the features that it names?  1, 0 or -1. */
int cluster_lacks_features(struct sl_cluster *c, const struct want *w, const struct sl_nodeset *nodes,
			   struct sl_error *err);
const struct want *cluster_want(struct sl_cluster *c, struct sl_entry e, struct sl_error *err);

/* Is any of its variants for starts now, or for later ones, left to select? */
bool cluster_has_select(const struct want *w, bool now);

/* Is a start now, or a later one, looked for by that variant?  With method SL_PLACE_NATIVE only by those that are left to
 * select, or by all where none is; with SL_PLACE_EXPLICIT by none of these. */
static inline bool cluster_tries(const struct want *w, const struct sl_variant *v, bool now, enum sl_place_method method)
{
	if (!(now ? v->now : v->later))
		return false;
	if (method != SL_PLACE_NATIVE)
		return !v->select || method != SL_PLACE_EXPLICIT;
	return v->select || w->pub.variants == 1 || !cluster_has_select(w, now);
}

/* Why a job does not fit is said of one of its variants: among several sets of nodes, of the set that lacks least; among
 * several numbers of nodes, of the smallest; else of the last.  *misfit* is that of *v*, and becomes what is said so far. */
struct telling {
	const struct sl_variant *of;	/* NULL: of none yet */
	struct sl_misfit misfit;
};
void cluster_tell_misfit(const struct want *w, struct telling *told, const struct sl_variant *v, struct sl_misfit *misfit);

void cluster_want_free(struct sl_cluster *c, uint32_t job);
void cluster_wants_free(struct sl_cluster *c);

/* loan.c */
void cluster_loans_free(struct sl_cluster *c);

/* licenses.c */
/* Does it ask for one of its licences, and not for all? */
bool cluster_any_license(const struct sl_cluster *c, uint32_t job);

/* True if that reservation (SL_NONE: none) sets licences aside: how many its jobs find is left to Slurm. */
bool cluster_brings_licenses(const struct sl_cluster *c, uint32_t resv);

/* The first instant from *t* on at which what it asks for is free for so many seconds; INT64_MAX: never. */
int64_t cluster_licensed_from(const struct sl_cluster *c, uint32_t job, int64_t t, int64_t seconds);

/* Add what such rows of job_license come to over [t0, t1) (sign 1), or take it back (-1). */
int cluster_count_licenses(struct sl_cluster *c, struct sl_range rows, int64_t t0, int64_t t1, int sign, struct sl_error *err);

#endif
