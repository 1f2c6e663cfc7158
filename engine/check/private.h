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

/* Where jobs share cores, cores are added up in this many parts of a core: a number that all numbers up to 16 divide. */
#define CORE_PARTS INT64_C(720720)

/* What one job (or one reservation of cores) has of one node, from start to end. */
struct bill {
	int64_t start, end;
	int64_t memory;			/* MiB */
	const uint32_t *kind, *count;	/* gres */
	const uint32_t *of, *devices;	/* of each kind: the kind whose shares they are, and which devices (bits) */
	uint32_t kinds;
	uint32_t node, cores;
	uint32_t job;			/* row, or SL_NONE: a reservation's mark */
	uint32_t partition;		/* that it runs in */
	uint32_t resv;			/* reservation that it runs in, or SL_NONE */
	uint32_t row;			/* in check.row; SL_NONE if it is not planned */
	bool planned, native;
	bool counted;			/* check/sweep.c has added it to what is in use */
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
	uint32_t **resv_parts;		/* [reservation][node] 1 + cores that the snapshot says it has there, 0: it does not say; NULL until asked for */
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
	bool *circle;			/* [stopped] true if its job is circle_of, or one for which circle_of was stopped, also by a chain of stops */
	uint32_t circle_of;
	uint32_t *held_count;		/* [row of alloc_gres] of a held place: how much of its gres is free and billed */
	uint32_t *hold_count;		/* [row of place_gres] the same of places that the plan begins to hold */
	bool names_devices;		/* the plan says which devices each place has */
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
	uint32_t blocks;		/* the first *blocks* of the plan's blocked nodes are closed to it */
	bool holds;			/* its place is held from now on: it preempts only the jobs that the plan stops */
	bool out;			/* it was refused */
};

/* What a job asks for, in one partition and shape. */
struct ask {
	uint32_t min_nodes, max_nodes;
	uint32_t tasks, tasks_max;	/* at least; at most */
	uint32_t cpus_per_task;
	uint32_t tasks_per_node;	/* at most, 0: any */
	uint32_t tasks_per_core;	/* at most, 0: any */
	bool by_socket;			/* select allocates whole sockets */
	uint32_t few_on_core;		/* tasks_per_core, if the job itself says so: then a core counts no more CPUs than these tasks use */
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

/* Finds a key among sorted ones: its row, or SL_NONE. */
uint32_t check_find_key(const struct key *keys, uint32_t count, uint64_t key);

/* Sorts them by key, then by row. */
void check_sort_keys(struct key *keys, uint32_t count);

/* The row of the snapshot that a JobId has, or SL_NONE. */
uint32_t check_find_job(const struct check *c, uint32_t id);

/* Make the tables by which the snapshot is looked up, and the bills of what holds nodes already.  0 or -1. */
int check_begin(struct check *c);
void check_end_all(struct check *c);

/* -1 with c->err unless the node runs of each of the plan's blocks are in order.  0 or -1. */
int check_block_order(struct check *c);

/* Check one start or reservation (job, partition, nodes, times, layout), and add its bills.  0 or -1. */
int check_row(struct check *c, struct row *r);

/* -1 with c->err if the job of the row may not have that node from r->at to r->until; else 0. */
int check_may_have(struct check *c, const struct row *r, uint32_t node);
bool check_in_runs(const struct check *c, struct sl_range list, uint32_t node);

/* True if the job may start in the reservation that the row says (way). */
bool check_is_way(const struct check *c, const struct row *r);

/* As check_row(), for a row of a schedule, whose job ran until r->until. */
int check_run_row(struct check *c, struct row *r, const struct ask *a);

/* check/refuse.c.  -1, and c->err is "job N: ..." of that row; "job N: node NAME: ...". */
int check_fail(const struct check *c, const struct row *r, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int check_fail_at(const struct check *c, const struct row *r, uint32_t node, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * c->err says what is wrong with a row.  If refusals are collected: takes the row out, as do
 * the other rows of its heterogeneous job, and returns 0: the check goes on.  Otherwise -1: c->err ends it.
 */
int check_refuse(struct check *c, uint32_t row);
/* The same of a row of SL_P_PENDING or SL_P_ACTION. */
int check_refuse_words(struct check *c, enum sl_plan_table table, uint32_t row, uint32_t job_id);
/* After the check: note for each refused row whether its job waits now. */
void check_find_waiting(struct check *c);
/* Lists the rows of heterogeneous jobs.  0, or -1 with c->err. */
int check_list_hets(struct check *c);

/* True if the bill belongs to a row that was refused. */
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
/* How many nodes the job's constraint asks for in all ("[a*2&b*1]": 3); 0 if it has no counts. */
uint32_t check_counted_nodes(const struct check *c, uint32_t job);
int check_features(struct check *c, const struct row *r);

/* False if the job's features rule that node out of any place. */
bool check_may_satisfy(const struct check *c, uint32_t job, uint32_t node);

/* check/shares.c.  -1 with c->err if the i-th place names devices, or shares of devices, that the node does not have; else 0. */
int check_devices(struct check *c, const struct row *r, uint32_t i);

bool check_names_devices(const struct sl_plan_image *plan);

/* How many shares of each device of a node are in use. */
struct device_use {
	int64_t *all, *planned;		/* per kind and device */
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
