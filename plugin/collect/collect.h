/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * collect.h - slurmctld's records into a snapshot.
 *
 * Short holds of slurmctld's locks: one with the job write lock for
 * build_job_queue(), which decides what may run at all (holds, dependencies,
 * begin times, limits, partitions that are down) and writes the reasons of
 * those that may not; with the same locks, as many as it takes to look at each of those; then with read
 * locks only, for copying, as many as it takes.  Between two a record may go; then its queue entry goes with it.
 *
 * A collector also keeps what the commit needs to find the records of a
 * decision again: which node and partition a row stood for, and how a native
 * start is to be tried.
 *
 * Ownership: the image belongs to the collector until the next run.  Threads:
 * the cycle thread only; takes slurmctld's locks itself, call with none held.
 */
#ifndef SL_COLLECT_H
#define SL_COLLECT_H

#include "plugin/host/held.h"
#include "plugin/request/asked.h"
#include "plugin/records/compat.h"
#include "plugin/records/note.h"
#include "image/snapshot.h"

/* A way to start a job: in a reservation it may run in without asking, with its preferred
 * features, as one of its QOS.  Tried in order. */
struct sl_way {
	uint32_t job_id;
	uint32_t part;		/* row in the snapshot */
	uint32_t resv_id;	/* 0: none */
	uint32_t qos_id;
	uint32_t next;			/* the job's way after this one, or SL_NONE */
	bool prefer;
};

/* Jobs that were started on borrowed nodes (request/lend.h): to be put back when they wait again. */
struct sl_lent {
	uint32_t *job, count, room;
	bool unsure;			/* there may be others */
};

struct sl_node_path {
	char *path;
	uint64_t of;			/* digest of which node it is and where it was put, if that can change without a reconfiguration */
};

struct sl_collector {
	struct sl_builder *b;
	/* of the last run: */
	struct sl_snapshot snap;	/* the image, opened */
	const void *bytes;
	size_t size;
	int32_t *node_index;		/* by row: index in node_record_table_ptr */
	uint32_t *node_row;		/* by index: row, or SL_NONE */
	struct sl_node_path *topology;	/* by index: its switches, where there is a tree of them */
	uint32_t topologies;
	time_t topology_of;		/* the configuration that says so */
	struct sl_blocks blocks;	/* topology/block */
	uint32_t nodes, node_slots;
	part_record_t **part;		/* by row; compare, do not follow */
	uint32_t parts;
	uint32_t *resv_id;		/* by row */
	uint32_t resvs;
	struct sl_way *way;
	uint32_t ways;
	uint32_t *first_way;		/* by job row, or SL_NONE */
	time_t conf_update;		/* slurm_conf.last_update then */
	int node_count;
	bool preempts;			/* some job may preempt others */
	struct sl_lent lent;
	/* figures of the last run */
	uint64_t queue_us, copy_us;	/* how long locks were held: for Slurm's queue, then the longest time */
	uint64_t build_us;		/* of queue_us: what Slurm took to build it */
	uint32_t queued, running;
	struct sl_scratch *scratch;	/* working memory, collect/int.h */
};

struct sl_collect_in {
	int64_t sequence;
	double finished_s;		/* finished jobs of so many seconds, */
	int64_t ledger_safe;		/* and those that had not ended by this snapshot (host/host.h); -1: not these */
	struct sl_notes *notes;		/* what is not to be tried again yet, or said again */
	struct sl_asked_book *asked;	/* original requests, put back into jobs that are pending again */
	const struct sl_remember *remembered;	/* by policies, in the last plan */
	struct sl_held_book *held;	/* what is held no longer is dropped */
	bool shapes_off, shapes_any;	/* no alternative is offered; one that asks for more than its job is, too */
	bool aside;			/* another scheduler decides: no trace of this is to be left (collect/aside.h) */
};

struct sl_collector *sl_collector_create(struct sl_error *err);
void sl_collector_destroy(struct sl_collector *c);

/* Take a snapshot.  0, or -1 with *err: SL_EBUSY when slurmctld has not loaded
 * its nodes yet, SL_EVERSION when its records are not laid out as this plug-in
 * was compiled for, others when the image cannot be built. */
int sl_collect(struct sl_collector *c, const struct sl_collect_in *in, struct sl_error *err);

/* A job was started on borrowed nodes. */
void sl_collect_note_lent(struct sl_collector *c, uint32_t job_id);

/* The row of a job in the last snapshot, or SL_NONE. */
uint32_t sl_collect_row(const struct sl_collector *c, uint32_t job_id);

/* How many of the jobs that were told to stop for *preemptor*, at *since* or later, still have their nodes. Job read lock held. */
uint32_t sl_collect_left(const struct sl_held_book *b, uint32_t preemptor, int64_t since);

/*
 * Node row *row* of the last snapshot, in slurmctld's table; NULL: it is not there any
 * more.  Nodes are deleted and created while a decision is made, and a place in the table
 * is used again: the record must have the name and the cores that the snapshot has.  Node
 * read lock held.
 */
const node_record_t *sl_collect_node(const struct sl_collector *c, uint32_t row);

/*
 * Digest of what a decision about a pending job depends on, and select_nodes() would not
 * notice: a start whose job has another one by then is dropped ("changed meanwhile").  In
 * it: what scontrol, a prolog or a plug-in can change of a pending job, as it was asked
 * for.  Not in it: priority (but for a hold), since it changes by itself at each moment;
 * nodes, limits and reservations, which are looked at once more before the start.
 */
int64_t sl_job_stamp(const job_record_t *job);

/* Does its partition's MaxTime not bind it? */
bool sl_job_any_time(const job_record_t *job);

/* The time limit in minutes of a job that names that one, or NO_VAL: then what select gives it there. */
uint32_t sl_job_limit(uint32_t named, const part_record_t *p);

/* The same of a job as it stands, no more than MaxTime if that binds it.  INFINITE: without end. */
uint32_t sl_job_walltime(const job_record_t *job, const part_record_t *p);

/* Whether the record of a job looks as this plug-in was compiled to see it: cheap enough
 * for each use. */
static inline bool sl_job_sane(const job_record_t *job)
{
	return job->magic == JOB_MAGIC && job->details && job->details->magic == DETAILS_MAGIC;
}

#endif
