/* SPDX-License-Identifier: MIT */
/*
 * check/private.h - what the parts of the checker share: check.c (rows, jobs and
 * times), check/layout.c (does a layout answer the request) and check/sweep.c
 * (does everything fit at every instant).  Nobody else includes it.
 */
#ifndef SL_CHECK_PRIVATE_H
#define SL_CHECK_PRIVATE_H

#include "check/check.h"
#include "image/plan_cut.h"

/* Cores are added up in parts of a core, where jobs share cores: what all numbers to
 * 16 divide. */
#define CORE_PARTS INT64_C(720720)

/* What one job (or a partial reservation) has of one node, from start to end. */
struct bill {
	int64_t start, end;
	int64_t memory;			/* MiB */
	const uint32_t *kind, *count;	/* gres */
	const uint32_t *of, *devices;	/* of these: shares of what, and which devices */
	uint32_t kinds;
	uint32_t node, cores;
	uint32_t job;			/* row, or SL_NONE: a reservation's mark */
	uint32_t partition;		/* that it runs in */
	uint32_t resv;			/* reservation that it runs in, or SL_NONE */
	uint32_t row;			/* of struct check that it belongs to; of what is not planned SL_NONE */
	bool planned, native;
	bool counted;			/* the sweep has it among what is in use */
};

struct key {
	uint64_t key;
	uint32_t row;
};

struct check {
	const struct sl_snapshot *snap;
	const struct sl_plan_image *plan;
	struct sl_error *err;
	int64_t now;
	struct key *jobs;		/* rows by job id */
	struct key *queue;		/* rows by (job row, partition) */
	uint8_t **member;		/* [partition][node], NULL until asked for */
	uint8_t **reserved;		/* [reservation][node], NULL until asked for */
	uint32_t *resv_nodes;		/* nodes of a reservation */
	uint32_t **resv_parts;		/* [reservation][node] 1 + cores said to be held there, 0: none said; NULL until asked for */
	int64_t *held_until;		/* [node] end of the last job that runs there */
	struct check_preemptees *preempted;	/* one for each list of jobs that a pending job may preempt (yields.c) */
	uint32_t preemptees;
	uint8_t *hung;			/* [node] 1: it has a job that hangs in COMPLETING */
	uint32_t *starts, *bookings;	/* [job row] rows in the plan */
	bool *queued;			/* [job row] */
	struct bill *bill;
	uint32_t bills, room;
	struct row *row;		/* the plan's starts, then its reservations */
	uint32_t rows;
	struct key *het;		/* of these those of heterogeneous jobs, by het_job_id */
	uint32_t hets;
	struct sl_cuts *cuts;		/* what is refused goes there; NULL: the first violation ends the check */
	uint64_t looked_at;		/* bills, by the sweep */
	uint32_t *stop_of;		/* [job row] the plan's stop of it + 1; 0: none; NULL: not looked at yet */
	uint32_t *stop_row;		/* [stop] the row of the job for which it is, or SL_NONE */
	uint32_t *gang;			/* [job row] number of the gang of a running job; 0: it is in none */
	bool *circle;			/* [stopped] was circle_of, or who was stopped for it and so on, stopped for that one? */
	uint32_t circle_of;
	uint32_t *held_count;		/* [row of alloc_gres] of a held place: how much of its gres is free and billed */
	uint32_t *hold_count;		/* [row of place_gres] the same of places that the plan begins to hold */
	bool names_devices;		/* the plan: of gres that live on devices, which */
};

/* One start or reservation of the plan, read. */
struct row {
	uint32_t job;			/* row in the snapshot, SL_NONE: it is not there */
	uint32_t partition;
	uint32_t shape;
	bool native;
	bool start;			/* a start, else a reservation */
	uint32_t way;			/* reservation that the plan says it runs in, or SL_NONE: as it asks */
	uint32_t resv;			/* that it runs in, or SL_NONE */
	uint32_t license;		/* of alternative licences the one that the plan names, or SL_NONE */
	int64_t at, until;		/* booked from, to */
	int64_t may_until;		/* end of its walltime, or of its reservation */
	int64_t boots;			/* seconds before its walltime begins, in which its nodes boot */
	struct sl_range places;
	uint32_t through;		/* partition that it is started in instead, or SL_NONE */
	struct sl_range lenders;	/* then: whose nodes it may have, too */
	int64_t shortened, expected;	/* seconds: its time limit and how long it is booked, where the plan says so; else 0 */
	struct sl_range bills;
	uint32_t blocks;		/* of the plan's blocks the first so many bind it */
	bool holds;			/* its place is held from now on: it preempts nobody but whom the plan stops */
	bool out;			/* it was refused */
};

/* What a job asks for, in one partition and shape. */
struct ask {
	uint32_t min_nodes, max_nodes;
	uint32_t tasks, tasks_max;	/* to be hosted; at most */
	uint32_t cpus_per_task;
	uint32_t tasks_per_node;	/* at most, 0: any */
	uint32_t tasks_per_core;	/* at most, 0: any */
	bool by_socket;			/* select allocates whole sockets */
	uint32_t few_on_core;		/* tasks_per_core, if the job itself says so: then CPUs beyond those of so many tasks do not count */
	uint32_t threads;		/* usable threads of a core, 0: all */
	uint32_t tasks_per_socket;	/* at most, 0: any; of a socket it uses no more CPUs than these tasks have */
	uint32_t node_cpus;		/* fewest on each node */
	uint64_t gres_cpus;		/* that come with the gres of a node */
	bool whole;			/* whole nodes */
	bool overcommit;
	int64_t time_limit, time_floor;	/* asked for; shortest it may become */
	struct sl_range gres;
};

static inline const char *check_str(const struct check *c, uint32_t str)
{
	return sl_snapshot_str(c->snap, str);
}

/* Sum and difference of what may be any number; beyond the ends of time, the end. */
static inline int64_t check_later(int64_t t, int64_t seconds)
{
	int64_t sum;

	return !__builtin_add_overflow(t, seconds, &sum) ? sum : t < 0 ? INT64_MIN : INT64_MAX;
}

static inline int64_t check_rest(int64_t end, int64_t t)
{
	int64_t rest;

	return !__builtin_sub_overflow(end, t, &rest) ? rest : end < 0 ? INT64_MIN : INT64_MAX;
}

/* Finds a key among sorted ones: its row, or SL_NONE. */
uint32_t check_find_key(const struct key *keys, uint32_t count, uint64_t key);

/* Sorts them by key, then by row. */
void check_sort_keys(struct key *keys, uint32_t count);

/* The row of the snapshot that a JobId has, or SL_NONE. */
uint32_t check_find_job(const struct check *c, uint32_t id);

/* Tables by which the snapshot is looked up, and what is held on it.  0, or -1 with c->err. */
int check_begin(struct check *c);
void check_end_all(struct check *c);

/* Are the nodes of each of the plan's blocks in order?  0 or -1. */
int check_block_order(struct check *c);

/* One start or reservation, which is billed: job, partition, nodes, times and layout.  0, or -1 with c->err. */
int check_row(struct check *c, struct row *r);

/* May the job of the row have that node from r->at to r->until?  0, or -1 with c->err. */
int check_may_have(struct check *c, const struct row *r, uint32_t node);
bool check_in_runs(const struct check *c, struct sl_range list, uint32_t node);

/* True if the job may start in the reservation that the row says (way). */
bool check_is_way(const struct check *c, const struct row *r);

/* The same for a row of a schedule, whose job ran until r->until. */
int check_run_row(struct check *c, struct row *r, const struct ask *a);

/*
 * check/refuse.c.  c->err says what is wrong with a row.  If refusals are collected: takes the row out, as do
 * the other rows of its heterogeneous job, and returns 0: the check goes on.  Otherwise -1: c->err ends it.
 */
int check_refuse(struct check *c, uint32_t row);
/* The same of a row of SL_P_PENDING or SL_P_ACTION. */
int check_refuse_words(struct check *c, enum sl_plan_table table, uint32_t row, uint32_t job_id);
/* When all is checked: notes of each row that was refused whether its job waits now. */
void check_find_waiting(struct check *c);
/* Lists the rows of heterogeneous jobs.  0, or -1 with c->err. */
int check_list_hets(struct check *c);

/* True if the bill is of a row that was refused. */
static inline bool check_is_out(const struct check *c, const struct bill *b)
{
	return b->row != SL_NONE && c->row[b->row].out;
}

/* Jobs that share a core in this partition: 1 unless it oversubscribes. */
uint32_t check_sharing(const struct check *c, uint32_t job, uint32_t partition);

/* True if the job asks for specialised cores or threads (--core-spec, --thread-spec). */
bool check_core_spec(const struct check *c, uint32_t job);

/* The reservation a job names first, SL_NONE where it names none that exists. */
uint32_t check_reservation(const struct check *c, uint32_t job);

/* 1 if the node is in the partition, in the reservation; 0 if not; -1 with c->err (memory). */
int check_member(struct check *c, uint32_t partition, uint32_t node);
int check_reserved(struct check *c, uint32_t resv, uint32_t node);

/* The most cores that a reservation of cores (not of whole nodes) can hold on a node. */
uint32_t check_resv_cores(struct check *c, uint32_t resv, uint32_t node);

/* check/layout.c */
void check_ask(const struct check *c, uint32_t job, uint32_t partition, uint32_t shape, struct ask *a);
int check_layout(struct check *c, const struct row *r, const struct ask *a);

/* check/features.c */
/* Nodes that its constraint counts; 0: it does not. */
uint32_t check_counted_nodes(const struct check *c, uint32_t job);
int check_features(struct check *c, const struct row *r);

/* False if no place of the job's could have that node, for its features. */
bool check_may_satisfy(const struct check *c, uint32_t job, uint32_t node);

/* check/shares.c.  Are what the i-th place has of devices, and of shares of them, devices of the node?  -1 with c->err. */
int check_devices(struct check *c, const struct row *r, uint32_t i);

bool check_names_devices(const struct sl_plan_image *plan);

/* Shares that are in use of each device of a node. */
struct device_use {
	int64_t *all, *planned;		/* per kind and device */
};
int check_devices_begin(struct check *c, struct device_use *u);
void check_devices_end(struct device_use *u);
void check_devices_clear(const struct check *c, struct device_use *u);
void check_devices_count(const struct check *c, struct device_use *u, const struct bill *b, int sign);
/* True if more of a device is in use than it has, and the plan holds some of that. */
bool check_devices_over(const struct check *c, const struct device_use *u, uint32_t node, uint32_t *device, int64_t *used,
			int64_t *have);
/* How many shares of that device a bill has. */
int64_t check_devices_of(const struct check *c, const struct bill *b, uint32_t device);

/* Tasks that fit on so many cores of the node; the fewest cores that a job has of it, and the memory beside so many, if none comes with
 * its gres; is a kind of gres what is asked for in that row of job_gres? */
uint64_t check_hosted(const struct check *c, const struct ask *a, uint32_t node, uint64_t cores);
uint32_t check_least_cores(const struct check *c, const struct ask *a, uint32_t node);
int64_t check_memory(const struct check *c, uint32_t job, uint32_t node, uint32_t cores);
bool check_same_gres(const struct check *c, uint32_t want, uint32_t kind);

/* How much of what is asked for in a row of gres a place has. */
uint64_t check_gres_at(const struct check *c, uint32_t want, uint32_t place);

/* check/each.c.  CPUs that come with gres of a node, a task or the job. */
uint64_t check_gres_cpus(const struct check *c, struct sl_range gres, uint32_t per);

/* check_gres_memory(): true if memory comes with the job's gres; *memory: how much with those of a place.
 * check_gres_fits_whole(): true if a whole node has CPUs enough for all of its gres. */
bool check_gres_memory(const struct check *c, const struct ask *a, uint32_t place, int64_t *memory);
bool check_gres_fits_whole(const struct check *c, const struct ask *a, uint32_t node);

/* check/loan.c */
/* Whether a node is in the job's partition, or in one that lends it. */
int check_available(struct check *c, const struct row *r, uint32_t node);
/* The row, laid out, against the limits of the partitions that it borrows from. */
int check_loan(struct check *c, const struct row *r);

/* check/sweep.c */
int check_nodes(struct check *c);

/* check/licenses.c */
/* Of alternative licences the row names one that the job asks for (in a reservation it need not). */
int check_any_license(struct check *c, const struct row *r);
int check_licenses(struct check *c);

/* When a running, suspended or completing job is taken to end. */
int64_t check_end(const struct check *c, uint32_t job);

/* yields.c.  Find the jobs that wait and may preempt others: 0 or -1.  Then: until when a running job holds its nodes at least,
 * which is its end, or where one of those may preempt it, until it may. */
int check_preemptors(struct check *c);
void check_end_preemptors(struct check *c);
int64_t check_holds_until(const struct check *c, uint32_t job);

/* For one node: begin; tell of all bills that stand there; then ask when each of them ends.  The bill of a running job ends early
 * if a job of the plan that may preempt it begins on the node. */
void check_begin_node(struct check *c);
void check_take_over(struct check *c, const struct bill *b);
int64_t check_bill_end(const struct check *c, const struct bill *b);

/* check.c: one more. */
int check_add_bill(struct check *c, const struct bill *b);

/* holds.c: bill what the snapshot and the plan hold for jobs that wait, once the rows and the stops are looked at.  0 or -1. */
int check_bill_holds(struct check *c);

/* stops.c: the plan's stops, once the rows are looked at.  0 or -1. */
int check_stops(struct check *c);

/* Why Slurm would not let the job be stopped for the other; NULL: it would.  When it is expected to be gone if it is told now. */
const char *check_spares(const struct check *c, uint32_t job, uint32_t other);
const char *check_slurm_spares(const struct check *c, uint32_t job, uint32_t other);	/* ... by Slurm; the plan leaves out more */
int64_t check_gone_at(const struct check *c, uint32_t job);

/* All bills that there are, node by node. */
struct node_bills {
	uint32_t *first;		/* [node] in *bill; the next one's is where they end */
	uint32_t *bill;
};
int check_index_bills(struct check *c, struct node_bills *x);
void check_end_bills(struct node_bills *x);

/* shortage.c: the plan's table "shortage" says why no job is stopped for a pending one; refuse rows that are not true.  0 or -1. */
int check_shortages(struct check *c);

/* needed.c: refuse each group of stops without which its job would fit, too.  Called when all rows that are left fit.  0 or -1. */
int check_needed(struct check *c);

/*
 * licenses.c.  check_licenses_of(): how many of a licence a job has.
 * check_license_left(): how many of a licence are left for the row when it begins, if the jobs marked in *gone* (by job row) have
 * ended.
 * check_license_short(): true if the row would be short of a licence while it runs, if the jobs marked in *goes_on* were not
 * stopped.
 */
uint32_t check_licenses_of(const struct check *c, uint32_t job, uint32_t license);
int64_t check_license_left(const struct check *c, uint32_t license, const struct row *r, const bool *gone);
bool check_license_short(const struct check *c, const struct row *r, const bool *goes_on);

/* When a running job is gone that the plan stops; INT64_MAX: it does not. */
int64_t check_stopped_at(const struct check *c, uint32_t job);

/* ends.c: seconds from *at* on that a node has to boot before a job runs there. */
int64_t check_boots(const struct check *c, uint32_t node, int64_t at);

/* Mark the nodes of jobs that hang in COMPLETING. */
void check_find_hung(struct check *c);

/* May the row have a node, as far as that is completing, boots, is being powered down or rebooted?  0, or -1 with *err. */
int check_free_of_jobs(struct check *c, const struct row *r, uint32_t node);

#endif
