/* SPDX-License-Identifier: MIT */
/*
 * cluster_private.h - the inside of a cluster, for cluster*.c, want*.c and plan*.c only.
 *
 * The main timeline has everything that holds nodes: running jobs, then blocks over them (down nodes, reservations of whole
 * nodes), then specials, which depend on these.
 *
 * Enclave: a timeline beside the main one.  Each reservation that queued jobs ask for has one.  Its nodes are blocked on the
 * main timeline; in the enclave they are free apart from what runs there.  It is created when first needed, and again after
 * running jobs changed.  If the reservation has only parts of nodes, the cores in its enclave are those that it may have on
 * each node (an upper bound if the snapshot does not say, check/check.h).  Memory and gres of these nodes are shared with the
 * main timeline: a booking in one is also made in the other.
 *
 * If jobs may share cores (OverSubscribe=FORCE:n, or YES:n for jobs that ask for it) there is one more enclave without a
 * reservation, and one more for each reservation.  A node has n times its cores there.  Slurm puts jobs that share cores only
 * on nodes without jobs that do not, and vice versa: while a job of one sort is on a node, the node is blocked for the other
 * sort.
 *
 * Tenants (tenant.c) are jobs that have nodes only with jobs of the same user or label.  Each tenant has an enclave, blocked
 * where other jobs run; nodes with its jobs are blocked for all others.  Jobs of the same user that do not insist on this are
 * on the main timeline.  They do not get the tenant's nodes; the tenant may get theirs while they run.
 *
 * A job of a flexible reservation may use its nodes and all others, at any time: its enclave has all nodes, those of the
 * reservation first.  Bookings there are also made on the main timeline, beneath the reservation's block, and vice versa, so
 * both have the same bookings.  Towards other enclaves (shared cores, reserved cores, tenants, other reservations) nodes are
 * blocked, as for tenants.
 *
 * Specials are bookings and blocks that depend on others and are made again when those change: nodes on which jobs share
 * cores; nodes of a tenant, blocked until its last job there ends; completing nodes, blocked for a moment; cores of partial
 * reservations that none of their jobs holds, as far as they are free.  Few clusters have any.
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
	uint32_t min_threads, max_threads;	/* of its nodes; 0: not computed yet */
	sl_word_set words;		/* circumstances (model/native.h), set with min_threads */
	uint32_t max_cores;		/* cores of its largest node */
	int64_t memory;			/* MiB of each node; -1: they differ */
	int64_t core_spec;		/* of each node; -1: they differ */
	int64_t sockets, socket_cores;	/* of each node; -1: they differ, or the cores of a socket are unknown */
	bool restricts_cores;		/* some nodes have RestrictedCoresPerGPU */
	bool has_others;		/* some nodes are below no switch, or in no block */
	uint32_t block_most;		/* largest number of its nodes in one block, if there are blocks */
	bool shares;			/* on some of its nodes jobs may share a core, in this or another partition */
	uint32_t cap;			/* MaxCPUsPerNode, 0: none */
	uint32_t cap_kind;		/* gres kind of the timeline used to count it, or SL_NONE */
	uint32_t share;			/* n if jobs must share cores (FORCE:n), else 1 */
	uint32_t row_cores;		/* cores of each node, if several jobs may share a core, all nodes have the same,
					 * and no other such partition has these nodes; else 0 */
};

struct loan {
	struct sl_loan pub;
	struct part part;		/* its own nodes and the lent ones, as one partition */
};

/* Jobs that have nodes only among themselves. */
struct tenant {
	uint32_t job;			/* row of one of its jobs */
	bool by_user, by_label;		/* its jobs have the same user; the same label */
};

struct tenancy {			/* tenants of a job */
	uint32_t asked, in_exclusive;	/* number from 1 of the tenant that it asks for, 0: none; the same in a partition
					 * with ExclusiveUser */
};

struct enclave {
	uint32_t resv;			/* row of its reservation, or SL_NONE */
	uint32_t number;		/* index in cluster.enclave */
	bool shared;			/* for jobs that share cores */
	uint32_t tenant;		/* number of the tenant, see cluster_tenant() */
	bool flexible;			/* its reservation is flexible: the enclave has all nodes */
	bool partial, dirty;
	struct sl_nodeset nodes;
	struct sl_timeline *tl;
};

/* True if the enclave has only the nodes of a reservation. */
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

/* A running, suspended or completing job, which holds nodes. */
struct held {
	struct sl_place *place;		/* as given by the snapshot or the caller */
	struct node_booking *own_bookings;	/* bookings per node, if not all of it was free */
	uint32_t own_count;
	bool clamped;			/* own_bookings are used */
	uint32_t count;
	uint32_t resv;			/* row of the reservation in which it runs, or SL_NONE */
	struct sl_range licenses;	/* rows of job_license */
	int64_t end;			/* end of its booking */
	int64_t due;			/* end of its time limit; before *end* if it is overdue */
	int64_t start;			/* set by sl_cluster_start() */
	uint32_t tenant;		/* number, see cluster_tenant() */
	bool charged;			/* started by sl_cluster_start(), which owns *place* */
};

/* Core slots of nodes on which n jobs may share each core: a node has n slots per core (want_shared.c). */
struct rows {
	uint32_t spare;			/* with this many slots free beside its own, the job gets cores that no other job
					 * uses; 0: cores are not shared */
	uint32_t enough;		/* with this many slots free on each node, some row certainly has enough cores for
					 * it; 0: unknown */
	bool alone;			/* *enough* holds for one node only */
};

struct count_run {		/* a range of node counts, both ends included */
	uint32_t first, last;
};

enum chance { CHANCE_UNKNOWN, CHANCE_GOOD, CHANCE_DOWN, CHANCE_NONE };

struct want {
	struct sl_want pub;
	struct rows rows;
	struct sl_variant *list;	/* the variants of *pub*, if there are several */
	enum chance chance;		/* on an empty machine: does it fit?  DOWN: it would fit if the down nodes were up */
	uint32_t down;			/* number of suitable nodes that are down */
	struct sl_misfit misfit;	/* for DOWN and NONE */
	struct sl_entry entry;
	struct want *next;		/* next want of the same job */
	struct sl_nodeset eligible, required;
	struct sl_nodeset up;		/* pub.up */
	struct sl_nodeset active;	/* eligible nodes on which the features are active now; others would have to reboot
					 * (want_variants.c) */
	struct sl_nodeset *choice;	/* node sets of which it uses one; preferred ones first */
	struct count_run *count;	/* ranges of allowed node counts, ascending */
	uint32_t choices, counts;
	struct sl_pick *pick;		/* request.pick */
	struct sl_part *part;
	struct sl_range gres;		/* rows of snapshot.job_gres */
	bool asks_no_consume;		/* it asks for gres that are not used up (no_consume) */
	uint32_t parts;
	struct enclave *enclave;	/* NULL: the main timeline */
	const struct sl_nodeset *resv_nodes;	/* nodes of the reservation that confines it, or NULL */
	uint32_t resv;			/* row of its reservation, or SL_NONE; licences are left to Slurm if there is one */
	bool any_time;			/* its reservation is flexible: not limited to the reservation's time */
	int64_t asked;			/* time limit that the job asks for in that partition */
	int64_t valid_until;		/* must be computed again after this time */
	int64_t leaves_until;		/* from this time on it accepts any number of switches */
	char *text;
};

struct component {		/* a component of a heterogeneous job */
	uint32_t leader;		/* its JobId */
	uint32_t offset, row;
};

/* A node that is closed over [t0, t1) for all jobs but one kind. */
struct block {
	uint32_t node;
	enum { FOR_ALL, BUT_SHARING, BUT_TENANT, BUT_OWNER } kind;
	uint32_t who;			/* for BUT_TENANT the tenant, for BUT_OWNER the uid */
	int64_t t0, t1;
};

/* The least that an entry needs, wherever it is placed. */
struct least {
	enum { LEAST_NOT_ASKED, LEAST_KNOWN, LEAST_UNKNOWN } kind;
	bool is_all;			/* on a machine of one node: it needs exactly this and nothing else */
	uint32_t cores;
	int64_t seconds;		/* its time limit, which cannot be shortened */
};

enum stage { STAGE_NONE, STAGE_QUEUED, STAGE_RUNNING, STAGE_ENDED };

struct sl_cluster {
	const struct sl_snapshot *snap;
	int64_t now;
	int64_t origin;			/* time 0 of the simulated workload, or 0 */
	struct sl_shelf shelf;		/* memory limit shared by all timelines */
	struct sl_timeline *tl;
	struct sl_timeline *empty;	/* a timeline of the empty machine; NULL until needed */
	struct part *part;
	struct loan **loan;		/* [number - 1] */
	uint32_t loans;
	struct sl_nodeset *confinement;	/* [number - 1] (confine.c) */
	uint32_t confinements, confinement_room;
	uint32_t *confined;		/* [job] number; NULL: no job is confined */
	struct sl_node_kind *kind;	/* node kinds, as given to the timelines */
	uint32_t *kind_of, kinds;
	struct sl_tree tree;		/* no switches: none known, or only one */
	uint32_t *rows;			/* [node] n if n jobs may share a core there; NULL: no node shares */
	bool modelled[SL_MAX_GRES];	/* gres kinds that the engine counts: the first SL_MAX_GRES, if no node has more
					 * than 65,535 */
	struct sl_devices devices;	/* devices with shares: model/devices.h */
	bool has_devices;
	struct scoring *scoring;	/* mix.c */
	bool no_consume[SL_MAX_GRES];	/* kinds that jobs do not use up (no_consume) */

	struct sl_nodeset unusable, scratch;
	struct sl_nodeset lost;		/* the unusable nodes that Slurm does not call down (cluster_ends.c) */
	struct sl_nodeset sleepers;	/* nodes that have to boot, or are booting (cluster_power.c) */
	int64_t longest_boot;		/* the longest boot time among them, in seconds */
	bool reboots;			/* some nodes are being powered down or rebooted */
	struct sl_nodeset *resv_nodes;	/* [reservation] */
	struct enclave **enclave;	/* enclaves created so far */
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
	struct least *least;		/* [queue entry] */
	uint32_t queued, queue_room, least_room;
	uint32_t *running, runs;	/* running: rows of jobs */
	uint32_t *run_at;		/* [job] index in *running* */
	uint8_t *stage;			/* [job] enum stage */
	struct held **held;		/* [job] */
	uint32_t *lingering, lingers;	/* rows of jobs that hold nodes but do not run */
	struct sl_place *alloc;		/* array of the places read from the snapshot */
	int64_t first_end;		/* the earliest *due* of all jobs that hold nodes */
	bool unbooked;			/* starts are not booked: sl_cluster_unbook() */
	int64_t cores;			/* of usable nodes */
	struct sl_tally *license;	/* [license] */

	struct component *component;	/* pending components, by leader and offset; NULL until needed */
	uint32_t components;

	struct want **want;		/* [job] */
	struct sl_features *features;	/* which nodes satisfy a constraint */
	struct sl_effort effort;	/* work done on this cluster */

	struct sl_usage_provider usage;
	struct sl_history *history;	/* the history that policies ask; NULL: own_history */
	struct sl_history *own_history;	/* built from the snapshot's rows */
	struct sl_usage *own_usage;	/* built from the snapshot's rows, if no other provider is set */

	/* Arrays lent to the current plan, so that making a plan does not cost an array of all jobs.  All zero while there
	 * is no plan. */
	uint32_t *plan_starts;		/* [job] tasks started */
	uint32_t *plan_notes;		/* [job] number of its note + 1 */
	uint32_t *plan_queue;		/* [job] number of its first queue entry + 1 */
	void *spare_plan;		/* memory for the next plan, which is large; or NULL */
};

static inline const char *cluster_str(const struct sl_cluster *c, uint32_t str)
{
	return sl_snapshot_str(c->snap, str);
}

/* What a constraint says; *str* is its offset in the snapshot's strings (0: no constraint, as for most jobs). */
static inline struct sl_constraint_says cluster_constraint(const struct sl_cluster *c, uint32_t str)
{
	if (!str)
		return (struct sl_constraint_says) { .kind = SL_CONSTRAINT_PLACED, .choices = 1 };
	return sl_features_says(c->features, str);
}

/* end - t, limited to the range of int64_t. */
static inline int64_t cluster_until(int64_t t, int64_t end)
{
	return sl_difference(end, t);
}

/* The partition of an entry, or its pool of nodes if it borrows some. */
static inline struct part *cluster_part(const struct sl_cluster *c, const struct sl_entry *e)
{
	return e->loan ? &c->loan[e->loan - 1]->part : &c->part[e->partition];
}

/* mix.c: create and free what placement scores need.  cluster_scores_for(): the own score is about this entry from now on. */
int cluster_scoring_create(struct sl_cluster *c, struct sl_error *err);
void cluster_scoring_free(struct sl_cluster *c);
struct sl_scoring *cluster_scoring(const struct sl_cluster *c);
void cluster_scores_for(struct sl_cluster *c, struct sl_entry e);
/* True while a policy computes its own score.  What was gathered for the current job must not change then. */
bool cluster_asks_score(const struct sl_cluster *c);

/* confine.c */
void cluster_confinements_free(struct sl_cluster *c);

/* The time from which a job accepts any number of switches; INT64_MIN: always. */
int64_t cluster_impatient_at(const struct sl_cluster *c, uint32_t job);

/* cluster_tree.c: read the tree of switches, for all timelines; -1 with *err. */
int cluster_build_tree(struct sl_cluster *c, struct sl_error *err);
void cluster_tree_free(struct sl_cluster *c);

/* Largest number of these nodes below one leaf switch, or in one block; UINT32_MAX without memory. */
uint32_t cluster_most_in_leaf(const struct sl_cluster *c, const struct sl_nodeset *nodes);

/* cluster_share(): give a new timeline what all timelines share.  cluster_new_timeline(): a timeline of empty nodes. */
void cluster_share(struct sl_cluster *c, struct sl_timeline *tl);
struct sl_timeline *cluster_new_timeline(struct sl_cluster *c, struct sl_error *err);

/* cluster_build.c: the steps that build a cluster.  All return 0, or -1 with *err. */
int cluster_build_nodes(struct sl_cluster *c, struct sl_error *err);
int cluster_build_running(struct sl_cluster *c, struct sl_error *err);
int cluster_build_specials(struct sl_cluster *c, struct sl_error *err);
int cluster_build_queue(struct sl_cluster *c, struct sl_error *err);

/* Block unusable nodes and reservations of whole nodes on the main timeline (*place*), or unblock them.  NOT_IN_THE_WAY:
 * only the reservations that let in jobs of reservation *own*. */
enum which { EVERYTHING, NOT_IN_THE_WAY };
int cluster_blocks(struct sl_cluster *c, bool place, enum which which, uint32_t own, struct sl_error *err);

/* *out becomes the set of nodes in a list of runs. */
int cluster_nodes(const struct sl_cluster *c, struct sl_range list, struct sl_nodeset *out, struct sl_error *err);

/* Number of jobs that may share a core with this job in that partition; 1: none. */
uint32_t cluster_sharing(const struct sl_cluster *c, uint32_t job, uint32_t partition);

/* True if the job shares cores, so it keeps only jobs off its nodes that do not. */
bool cluster_shares(const struct sl_cluster *c, uint32_t job);

/* The first existing reservation that the job names, or SL_NONE. */
uint32_t cluster_reservation(const struct sl_cluster *c, uint32_t job);

/* The reservation in which the entry is tried, or SL_NONE. */
uint32_t cluster_entry_reservation(const struct sl_cluster *c, const struct sl_entry *e);

/* True if the reservation keeps out jobs of reservation *own* (SL_NONE: jobs without one). */
bool cluster_keeps_out(const struct sl_cluster *c, uint32_t resv, uint32_t own);

/* Most cores that a partial reservation may have on the node. */
uint32_t cluster_resv_cores(const struct sl_cluster *c, uint32_t resv, uint32_t node);

/* cluster_ends.c.  cluster_end_of(): end of the time limit of a job that holds nodes; in the past if it is overdue.
 * cluster_expect_end(): when it is expected to release them, if its time limit ends at *end*.  Rules: check/check.h. */
int64_t cluster_end_of(const struct sl_cluster *c, uint32_t job);
int64_t cluster_expect_end(const struct sl_cluster *c, uint32_t job, int64_t end);

/* New expected end of something that was due at *due*, before now: it goes on for as long again. */
int64_t cluster_goes_on(int64_t due, int64_t now);

/* True if the job has been completing for so long that its nodes are not used. */
bool cluster_is_hung(const struct sl_cluster *c, uint32_t job);

/* Fill c->lost; 0 or -1 with *err.  cluster_why_unusable(): why a node is unusable: "down", "drained", ... */
int cluster_find_lost(struct sl_cluster *c, struct sl_error *err);
const char *cluster_why_unusable(const struct sl_cluster *c, uint32_t node);

/* cluster_power.c: fill c->sleepers, c->longest_boot and c->reboots.  0 or -1 with *err. */
int cluster_find_sleepers(struct sl_cluster *c, struct sl_error *err);

/* Weights that put nodes which are powered up first and otherwise keep the order of Slurm's weights.  *rank becomes an
 * array by node, which the caller frees; NULL if all nodes are up.  0, or -1 with *err. */
int cluster_rank_nodes(struct sl_cluster *c, uint32_t **rank, struct sl_error *err);

/* True if a booting node should have been up by now. */
bool cluster_boots_too_long(const struct sl_cluster *c, uint32_t node);

/* Until when a node that is being powered down or rebooted takes no job, if its last job ends at *jobs_end*; INT64_MIN: it
 * is neither. */
int64_t cluster_powerless_until(const struct sl_cluster *c, uint32_t node, int64_t jobs_end);

/* cluster_hold.c: booking what jobs hold */
/* Book what the job holds on the main timeline over [t0, t1), as far as it is free; requires that nothing is blocked.
 * cluster_hold_strictly(): all of it or nothing. */
int cluster_hold(struct sl_cluster *c, uint32_t job, struct held *h, int64_t t0, int64_t t1, struct sl_error *err);
int cluster_hold_strictly(struct sl_cluster *c, uint32_t job, struct held *h, int64_t t0, int64_t t1,
			  struct sl_error *err);
int cluster_release(struct sl_cluster *c, uint32_t job, struct held *h, struct sl_error *err);
int cluster_unbook_on_node(struct sl_cluster *c, const struct node_booking *b, struct sl_error *err);
int cluster_specials_lift(struct sl_cluster *c, struct sl_error *err);
int cluster_specials_place(struct sl_cluster *c, struct sl_error *err);

/* A job with a core specialization of its own keeps other jobs off those cores, too: its places become whole nodes. */
void cluster_hold_whole(const struct sl_cluster *c, uint32_t job, struct held *h);

/* What the job's ith place takes of a timeline; *shared*: of one for jobs that share cores. */
void cluster_count_place(const struct sl_cluster *c, uint32_t job, const struct held *h, uint32_t i, bool shared,
			 struct sl_resources *r);

/* Book of *r* on one node whatever is free at each time, and add it to *list (may be NULL). */
int cluster_book_available(struct sl_cluster *c, struct sl_timeline *tl, uint32_t node, const struct sl_resources *r,
			   int64_t t0, int64_t t1, struct node_booking **list, uint32_t *count, struct sl_error *err);
int cluster_change_block(struct sl_cluster *c, struct sl_timeline *tl, const struct block *b, bool place,
			 struct sl_error *err);

/* Book the free cores that partial reservations keep from jobs of reservation *own* (SL_NONE: without one), and add them
 * to *list. */
int cluster_keep_cores(struct sl_cluster *c, struct sl_timeline *tl, uint32_t own, bool shared,
		       struct node_booking **list, uint32_t *count, struct sl_error *err);

/* tenant.c */
/* List the tenants; 0 or -1 with *err. */
int cluster_build_tenants(struct sl_cluster *c, struct sl_error *err);

/* Number of the job's tenant in that partition; 0: none. */
uint32_t cluster_tenant(const struct sl_cluster *c, uint32_t job, uint32_t partition);

/* True if a tenant (0: jobs without one) may use nodes on which that job runs; nodes on which that user has jobs. */
bool cluster_goes_to_job(const struct sl_cluster *c, uint32_t tenant, uint32_t job, const struct held *h);
bool cluster_goes_to_owner(const struct sl_cluster *c, uint32_t tenant, uint32_t uid);

/* cluster_enclave.c */
/* The enclave with the resv, shared and tenant of *like*, created if necessary.  NULL with *err. */
struct enclave *cluster_enclave(struct sl_cluster *c, const struct enclave *like, struct sl_error *err);

/* The enclave's timeline, brought up to date. */
struct sl_timeline *cluster_enclave_timeline(struct sl_cluster *c, struct enclave *en, struct sl_error *err);
void cluster_enclave_free(struct enclave *en);

/* want.c, want_nodes.c */
/* Set w->chance.  0, or -1 with *err. */
int cluster_chance(struct sl_cluster *c, const struct want *w, struct sl_error *err);

/* Does it fit alone on the empty machine?  *among*: on these nodes only; NULL: on all eligible nodes.  1; 0 with *misfit;
 * -1. */
int cluster_fits_alone(struct sl_cluster *c, const struct want *w, const struct sl_nodeset *among, struct sl_misfit *misfit,
		       struct sl_error *err);

/* 1 if none of these nodes has the required features, 0, or -1. */
int cluster_lacks_features(struct sl_cluster *c, const struct want *w, const struct sl_nodeset *nodes,
			   struct sl_error *err);
const struct want *cluster_want(struct sl_cluster *c, struct sl_entry e, struct sl_error *err);

/* True if a variant for starts now (or for later ones) is left to select. */
bool cluster_has_select(const struct want *w, bool now);

/* True if that variant is tried for a start now (or later).  With SL_PLACE_NATIVE only variants for select are, or all if
 * there are none; with SL_PLACE_EXPLICIT only the others. */
static inline bool cluster_tries(const struct want *w, const struct sl_variant *v, bool now, enum sl_place_method method)
{
	if (!(now ? v->now : v->later))
		return false;
	if (method != SL_PLACE_NATIVE)
		return !v->select || method != SL_PLACE_EXPLICIT;
	return v->select || w->pub.variants == 1 || !cluster_has_select(w, now);
}

/* Which variant's misfit is reported: of several node sets the one that lacks least; of several node counts the smallest;
 * else the last.  *misfit* is that of *v* on entry, and the one to report on return. */
struct telling {
	const struct sl_variant *of;	/* NULL: none yet */
	struct sl_misfit misfit;
};
void cluster_tell_misfit(const struct want *w, struct telling *told, const struct sl_variant *v, struct sl_misfit *misfit);

void cluster_want_free(struct sl_cluster *c, uint32_t job);
void cluster_wants_free(struct sl_cluster *c);

/* loan.c */
void cluster_loans_free(struct sl_cluster *c);

/* licenses.c */
/* True if any one of its licences suffices. */
bool cluster_any_license(const struct sl_cluster *c, uint32_t job);

/* True if that reservation (SL_NONE: none) brings licences: how many are left for its jobs only Slurm knows. */
bool cluster_brings_licenses(const struct sl_cluster *c, uint32_t resv);

/* The first time from *t* on at which its licences are free for that many seconds; INT64_MAX: never. */
int64_t cluster_licensed_from(const struct sl_cluster *c, uint32_t job, int64_t t, int64_t seconds);

/* Count the licences of these rows over [t0, t1) (sign 1), or undo that (-1). */
int cluster_count_licenses(struct sl_cluster *c, struct sl_range rows, int64_t t0, int64_t t1, int sign, struct sl_error *err);

#endif
