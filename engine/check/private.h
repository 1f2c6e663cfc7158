/* SPDX-License-Identifier: MIT */
/*
 * check/private.h - what the files of the checker share, and no other file includes.  README.md says which file checks what.
 *
 * In contracts "0 or -1" means: 0, or -1 with c->err.  A predicate says "True if"; a function that can run out of memory returns 1,
 * 0 or -1 instead.
 */
#ifndef SL_CHECK_PRIVATE_H
#define SL_CHECK_PRIVATE_H

#include "base/number.h"
#include "check/check.h"
#include "image/plan_cut.h"

/* With shared cores, cores are counted in this many parts, a multiple of all numbers up to 16. */
#define CORE_PARTS INT64_C(720720)

/* What one job, or one reservation of cores, has on one node from start to end. */
struct bill {
	int64_t start, end;
	int64_t memory;			/* MiB */
	const uint32_t *kind, *count;	/* gres: kinds and counts */
	const uint32_t *of, *devices;	/* per kind: the kind of the devices, and which devices (bits) */
	uint32_t kinds;
	uint32_t node, cores;
	uint32_t job;			/* row; SL_NONE: marks a reservation */
	uint32_t partition;		/* in which it runs */
	uint32_t resv;			/* reservation in which it runs, or SL_NONE */
	uint32_t row;			/* index in check.row; SL_NONE: not planned */
	bool planned, native;
	bool counted;			/* currently in the sums of check/sweep.c */
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
	struct key *jobs;		/* rows by JobId */
	struct key *queue;		/* rows by (job row, partition) */
	uint8_t **member;		/* [partition][node]; NULL until needed */
	uint8_t **reserved;		/* [reservation][node]; NULL until needed */
	uint32_t *resv_nodes;		/* [reservation] number of nodes */
	uint32_t **resv_parts;		/* [reservation][node] 1 + its cores there according to the snapshot, 0: unknown;
					 * NULL until needed */
	int64_t *held_until;		/* [node] end of the last job that runs there */
	struct check_preemptees *preempted;	/* one per list of jobs that a pending job may preempt (yields.c) */
	uint32_t preemptees;
	uint8_t *hung;			/* [node] 1: a job hangs in COMPLETING there */
	uint32_t *starts, *bookings;	/* [job row] number of rows in the plan */
	bool *queued;			/* [job row] */
	struct bill *bill;
	uint32_t bills, room;
	struct row *row;		/* the plan's starts, then its reservations */
	uint32_t rows;
	struct key *het;		/* the rows of heterogeneous jobs, by het_job_id */
	uint32_t hets;
	struct sl_cuts *cuts;		/* receives refused rows; NULL: the first violation ends the check */
	uint64_t looked_at;		/* number of bills that the sweep looked at */
	uint32_t *stop_of;		/* [job row] index of the plan's stop of the job + 1; 0: none; NULL: not read yet */
	uint32_t *stop_row;		/* [stop] row of the job for which it is, or SL_NONE */
	uint32_t *gang;			/* [job row] number of the gang of a running job; 0: none */
	bool *circle;			/* [row of snapshot.stopped] its job is circle_of, or a job for which circle_of was
					 * stopped, directly or by a chain of stops */
	uint32_t circle_of;
	uint32_t *held_count;		/* [row of alloc_gres] of a held place: how much of its gres is free, and billed */
	uint32_t *hold_count;		/* [row of place_gres] the same for places that the plan begins to hold */
	bool names_devices;		/* the plan says which devices each place uses */
};

/* A start or reservation of the plan. */
struct row {
	uint32_t job;			/* row in the snapshot; SL_NONE: not there */
	uint32_t partition;
	uint32_t shape;
	bool native;
	bool start;			/* false: a reservation */
	uint32_t way;			/* reservation named by the plan, or SL_NONE: the one that the job asks for */
	uint32_t resv;			/* reservation in which it runs, or SL_NONE */
	uint32_t license;		/* the one of several licences that the plan names, or SL_NONE */
	int64_t at, until;		/* begin and end of the booking */
	int64_t may_until;		/* end of its walltime, or of its reservation */
	int64_t boots;			/* seconds before its walltime begins, in which its nodes boot */
	struct sl_range places;
	uint32_t through;		/* partition through which it is started, or SL_NONE */
	struct sl_range lenders;	/* partitions whose nodes it may also use then */
	int64_t shortened, expected;	/* seconds: its time limit and booked time, if the plan sets them; else 0 */
	struct sl_range bills;
	uint32_t blocks;		/* number of the plan's blocks, from the first, that apply to it */
	bool holds;			/* its place is held: it preempts only jobs that the plan stops */
	bool out;			/* refused */
};

/* What a job asks for, in one partition and shape. */
struct ask {
	uint32_t min_nodes, max_nodes;
	uint32_t tasks, tasks_max;	/* least; most */
	uint32_t cpus_per_task;
	uint32_t tasks_per_node;	/* most; 0: no limit */
	uint32_t tasks_per_core;	/* most; 0: no limit */
	bool by_socket;			/* select allocates whole sockets */
	uint32_t few_on_core;		/* tasks_per_core if the job itself sets it: a core then counts only the CPUs of
					 * these tasks */
	uint32_t threads;		/* usable threads of a core; 0: all */
	uint32_t tasks_per_socket;	/* most; 0: no limit.  A socket then counts only the CPUs of these tasks */
	uint32_t node_cpus;		/* least on each node */
	uint64_t gres_cpus;		/* that come with the gres of a node */
	bool whole;			/* whole nodes */
	bool overcommit;
	int64_t time_limit, time_floor;	/* as asked for; shortest acceptable */
	struct sl_range gres;
};

static inline const char *check_str(const struct check *c, uint32_t str)
{
	return sl_snapshot_str(c->snap, str);
}

/* The row for a key in a sorted array, or SL_NONE. */
uint32_t check_find_key(const struct key *keys, uint32_t count, uint64_t key);

/* Sort by key, then by row. */
void check_sort_keys(struct key *keys, uint32_t count);

/* The row of a JobId in the snapshot, or SL_NONE. */
uint32_t check_find_job(const struct check *c, uint32_t id);

/* Build the lookup tables, and the bills of what already holds nodes.  0 or -1. */
int check_begin(struct check *c);
void check_end_all(struct check *c);

/* -1 with c->err if the node runs of some block are not in order; else 0. */
int check_block_order(struct check *c);

/* Check one start or reservation (job, partition, nodes, times, layout), and add its bills.  0 or -1. */
int check_row(struct check *c, struct row *r);

/* -1 with c->err if the job of the row may not have that node from r->at to r->until; else 0. */
int check_may_have(struct check *c, const struct row *r, uint32_t node);
bool check_in_runs(const struct check *c, struct sl_range list, uint32_t node);

/* True if the job may start in the reservation r->way. */
bool check_is_way(const struct check *c, const struct row *r);

/* As check_row(), for a row of a schedule, whose job ran until r->until. */
int check_run_row(struct check *c, struct row *r, const struct ask *a);

/* check/refuse.c.  Set c->err to "job N: ...", or "job N: node NAME: ...", for that row; returns -1. */
int check_fail(const struct check *c, const struct row *r, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int check_fail_at(const struct check *c, const struct row *r, uint32_t node, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* A row has violated a rule; c->err says which.  If refusals are collected, remove the row and the other rows of its
 * heterogeneous job, and return 0: the check goes on.  Otherwise return -1. */
int check_refuse(struct check *c, uint32_t row);
/* The same for a row of SL_P_PENDING or another table without places. */
int check_refuse_words(struct check *c, enum sl_plan_table table, uint32_t row, uint32_t job_id);
/* At the end: note for each refused row whether its job still waits. */
void check_find_waiting(struct check *c);
/* List the rows of heterogeneous jobs.  0, or -1 with c->err. */
int check_list_hets(struct check *c);

/* True if the bill belongs to a row that was refused. */
static inline bool check_is_out(const struct check *c, const struct bill *b)
{
	return b->row != SL_NONE && c->row[b->row].out;
}

/* Number of jobs that may share a core with it in this partition; 1: none. */
uint32_t check_sharing(const struct check *c, uint32_t job, uint32_t partition);

/* True if the job asks for specialised cores or threads (--core-spec, --thread-spec). */
bool check_core_spec(const struct check *c, uint32_t job);

/* The first existing reservation that the job names, or SL_NONE. */
uint32_t check_reservation(const struct check *c, uint32_t job);

/* 1 if the node is in the partition, in the reservation; 0 if not; -1 with c->err (memory). */
int check_member(struct check *c, uint32_t partition, uint32_t node);
int check_reserved(struct check *c, uint32_t resv, uint32_t node);

/* The most cores that a reservation of parts of nodes can hold on the node. */
uint32_t check_resv_cores(struct check *c, uint32_t resv, uint32_t node);

/* check/layout.c */
void check_ask(const struct check *c, uint32_t job, uint32_t partition, uint32_t shape, struct ask *a);
int check_layout(struct check *c, const struct row *r, const struct ask *a);

/* check/features.c */
/* Number of nodes that the job's constraint counts ("[a*2&b*1]": 3); 0: no counts. */
uint32_t check_counted_nodes(const struct check *c, uint32_t job);
int check_features(struct check *c, const struct row *r);

/* False if the job's constraint excludes that node. */
bool check_may_satisfy(const struct check *c, uint32_t job, uint32_t node);

/* check/shares.c.  -1 with c->err if the i-th place names devices, or shares of devices, that the node does not have; else 0. */
int check_devices(struct check *c, const struct row *r, uint32_t i);

bool check_names_devices(const struct sl_plan_image *plan);

/* Shares in use of each device of a node. */
struct device_use {
	int64_t *all, *planned;		/* [kind and device] all shares; shares of planned jobs */
};
int check_devices_begin(struct check *c, struct device_use *u);
void check_devices_end(struct device_use *u);
void check_devices_clear(const struct check *c, struct device_use *u);
void check_devices_count(const struct check *c, struct device_use *u, const struct bill *b, int sign);
/* True if more shares of a device are in use than it has, and the plan uses some of them. */
bool check_devices_over(const struct check *c, const struct device_use *u, uint32_t node, uint32_t *device, int64_t *used,
			int64_t *have);
/* How many shares of that device a bill has. */
int64_t check_devices_of(const struct check *c, const struct bill *b, uint32_t device);

/*
 * check_hosted(): how many tasks fit on *cores* cores of the node.
 * check_least_cores(): the fewest cores that the job can have of the node.
 * check_memory(): MiB that the job has there beside *cores* cores, if no memory comes with its gres.
 * check_same_gres(): true if that kind of gres satisfies row *want* of job_gres.
 */
uint64_t check_hosted(const struct check *c, const struct ask *a, uint32_t node, uint64_t cores);
uint32_t check_least_cores(const struct check *c, const struct ask *a, uint32_t node);
int64_t check_memory(const struct check *c, uint32_t job, uint32_t node, uint32_t cores);
bool check_same_gres(const struct check *c, uint32_t want, uint32_t kind);

/* How many gres a place has that satisfy row *want* of job_gres. */
uint64_t check_gres_at(const struct check *c, uint32_t want, uint32_t place);

/* check/loan.c */
/* 1 if the node is in the job's partition or in one that lends it; 0 if not; -1 with c->err (memory). */
int check_available(struct check *c, const struct row *r, uint32_t node);
/* -1 with c->err if the row exceeds a limit of a partition that it borrows from; else 0. */
int check_loan(struct check *c, const struct row *r);

/* check/sweep.c */
int check_nodes(struct check *c);

/* check/licenses.c */
/* True if the row's reservation sets some aside: then how many there are for it is left to Slurm. */
bool check_brings_licenses(const struct check *c, const struct row *r);
/* -1 with c->err unless the row names one of the job's alternative licences (in a reservation it need not); else 0. */
int check_any_license(struct check *c, const struct row *r);
int check_licenses(struct check *c);

/* When a running, suspended or completing job is expected to end. */
int64_t check_end(const struct check *c, uint32_t job);

/* yields.c.  check_preemptors() finds the pending jobs that may preempt others: 0 or -1.  After that check_holds_until() says until
 * when a running job holds its nodes at least: to its end, or until one of these jobs may preempt it. */
int check_preemptors(struct check *c);
void check_end_preemptors(struct check *c);
int64_t check_holds_until(const struct check *c, uint32_t job);

/* Which bills of one node end early: that of a running job does if a job of the plan that may preempt it begins on the node.  Call
 * check_begin_node(), then check_take_over() with all bills of the node, then check_bill_end() for the end of each. */
void check_begin_node(struct check *c);
void check_take_over(struct check *c, const struct bill *b);
int64_t check_bill_end(const struct check *c, const struct bill *b);

/* check.c: append a bill.  0 or -1. */
int check_add_bill(struct check *c, const struct bill *b);

/* holds.c: add bills for the places that the snapshot and the plan hold for pending jobs.  Called after the rows and the stops are
 * checked.  0 or -1. */
int check_bill_holds(struct check *c);

/* stops.c: check the plan's stops.  Called after the rows are checked.  0 or -1. */
int check_stops(struct check *c);

/* check_spares(): why the job may not be stopped for the other job, NULL if it may.  check_slurm_spares(): the same by Slurm's rules
 * alone; a plan spares more jobs.  check_gone_at(): when the job is expected to be gone if it is told to stop now. */
const char *check_spares(const struct check *c, uint32_t job, uint32_t other);
const char *check_slurm_spares(const struct check *c, uint32_t job, uint32_t other);
int64_t check_gone_at(const struct check *c, uint32_t job);

/* All bills, sorted by node. */
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

/* When the running job is gone if the plan stops it; INT64_MAX if the plan does not. */
int64_t check_stopped_at(const struct check *c, uint32_t job);

/* ends.c: seconds from *at* on that a node has to boot before a job runs there. */
int64_t check_boots(const struct check *c, uint32_t node, int64_t at);

/* Mark the nodes of jobs that hang in COMPLETING. */
void check_find_hung(struct check *c);

/* -1 with c->err if the row may not have the node because that is completing, boots, is powered down or reboots; else 0. */
int check_free_of_jobs(struct check *c, const struct row *r, uint32_t node);

#endif
