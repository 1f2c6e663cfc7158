/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * collect.h - copies slurmctld's records into a snapshot, in short holds of slurmctld's locks:
 *	- one hold with the job write lock for build_job_queue(), which decides what may run
 *	  at all (holds, dependencies, begin times, limits, partitions that are down) and
 *	  writes the reasons of jobs that may not;
 *	- with the same locks, in as many holds as it takes, a look at each job of that queue;
 *	- with read locks only, in as many holds as it takes, the copying.
 * Between two holds a record may disappear; then its queue entry disappears with it.
 *
 * A collector also keeps what the commit needs to find the records of a decision again: the node and the partition of each
 * row, and the ways to try a native start.
 *
 * Ownership: the image belongs to the collector until the next run.  Threads: the cycle thread only; takes slurmctld's locks
 * itself, call with none held.
 */
#ifndef SL_COLLECT_H
#define SL_COLLECT_H

#include "plugin/host/held.h"
#include "plugin/request/asked.h"
#include "plugin/records/compat.h"
#include "plugin/records/note.h"
#include "image/snapshot.h"

/* A way to start a job: in which partition, in which reservation that it may use without asking, with its preferred
 * features or not, with which of its QOS.  A job's ways are tried in order. */
struct sl_way {
	uint32_t job_id;
	uint32_t part;		/* its row in the snapshot */
	uint32_t resv_id;	/* 0: none */
	uint32_t qos_id;
	uint32_t next;			/* the next way of the same job, or SL_NONE */
	bool prefer;
};

/* Jobs that were started on borrowed nodes (request/lend.h).  Their records are restored when they are pending again. */
struct sl_lent {
	uint32_t *job, count, room;
	bool unsure;			/* there may be more, so all jobs have to be looked at */
};

struct sl_node_path {
	char *path;
	uint64_t of;			/* digest of the node's name and place, if these can change without a reconfiguration */
};

struct sl_collector {
	struct sl_builder *b;
	/* from the last run: */
	struct sl_snapshot snap;	/* the image, opened */
	const void *bytes;
	size_t size;
	int32_t *node_index;		/* by row: index in node_record_table_ptr */
	uint32_t *node_row;		/* by index: row in the snapshot, or SL_NONE */
	struct sl_node_path *topology;	/* by index: the switches above the node, if the topology is a tree */
	uint32_t topologies;
	time_t topology_of;		/* slurm_conf.last_update when it was read */
	struct sl_blocks blocks;	/* topology/block */
	uint32_t nodes, node_slots;
	part_record_t **part;		/* by row; compare, do not follow */
	uint32_t parts;
	uint32_t *resv_id;		/* by row */
	uint32_t resvs;
	struct sl_way *way;
	uint32_t ways;
	uint32_t *first_way;		/* by job row, or SL_NONE */
	time_t conf_update;		/* slurm_conf.last_update of that moment */
	int node_count;
	bool preempts;			/* some job may preempt others */
	struct sl_lent lent;
	/* figures of the last run */
	uint64_t queue_us, copy_us;	/* longest hold of the locks: for Slurm's queue, and for the rest */
	uint64_t build_us;		/* the part of queue_us that Slurm took to build the queue */
	uint32_t queued, running;
	struct sl_scratch *scratch;	/* working memory, collect/int.h */
};

struct sl_collect_in {
	int64_t sequence;
	double finished_s;		/* finished jobs are copied for so many seconds after their end, */
	int64_t ledger_safe;		/* and for longer if they ended after that snapshot (host/host.h); -1: not for longer */
	struct sl_notes *notes;		/* which jobs are not to be tried again yet, and what has been logged */
	struct sl_asked_book *asked;	/* original requests, put back into jobs that are pending again */
	const struct sl_remember *remembered;	/* what policies had the last plan remember */
	struct sl_held_book *held;	/* held places; those that have become invalid are dropped */
	bool shapes_off, shapes_any;	/* offer no alternatives; offer also those that ask for more than their job */
	bool aside;			/* another scheduler decides: leave no trace in the records (collect/aside.h) */
};

struct sl_collector *sl_collector_create(struct sl_error *err);
void sl_collector_destroy(struct sl_collector *c);

/* Take a snapshot.  0, or -1 with *err: SL_EBUSY if slurmctld has not loaded its nodes yet or its configuration changes
 * meanwhile, SL_EVERSION if its records are not laid out as this plug-in was compiled for, others if the image cannot be
 * built. */
int sl_collect(struct sl_collector *c, const struct sl_collect_in *in, struct sl_error *err);

/* Remember that the job was started on borrowed nodes. */
void sl_collect_note_lent(struct sl_collector *c, uint32_t job_id);

/* The row of a job in the last snapshot, or SL_NONE. */
uint32_t sl_collect_row(const struct sl_collector *c, uint32_t job_id);

/* How many jobs that were told to stop for *preemptor*, at *since* or later, still have their nodes.  Job read lock held. */
uint32_t sl_collect_left(const struct sl_held_book *b, uint32_t preemptor, int64_t since);

/*
 * The record of the node in row *row* of the last snapshot; NULL if it is not there any more.  Nodes are deleted and created
 * while a decision is made, and slots of the node table are used again: therefore the record must have the same name and
 * number of cores as the row.  Node read lock held.
 */
const node_record_t *sl_collect_node(const struct sl_collector *c, uint32_t row);

/*
 * A digest of what a decision about a pending job depends on and select_nodes() would not notice.  If it has changed by the
 * time of the start, the start is dropped ("changed meanwhile").  It covers the request as the user made it, as far as
 * scontrol, a prolog or a plug-in can change it.  It does not cover the priority (except whether the job is held), which
 * changes all the time; nor nodes, limits and reservations, which are checked again before the start.
 */
int64_t sl_job_stamp(const job_record_t *job);

/* True if the job may exceed its partition's MaxTime. */
bool sl_job_any_time(const job_record_t *job);

/* The time limit in minutes of a job that states *named*; if that is NO_VAL, what select gives the job in that partition. */
uint32_t sl_job_limit(uint32_t named, const part_record_t *p);

/* The time limit in minutes that the job would have in that partition: not above MaxTime, unless it may exceed that.
 * INFINITE: no limit. */
uint32_t sl_job_walltime(const job_record_t *job, const part_record_t *p);

/* True if the job's record looks as this plug-in was compiled for.  Cheap enough to be asked at each use. */
static inline bool sl_job_sane(const job_record_t *job)
{
	return job->magic == JOB_MAGIC && job->details && job->details->magic == DETAILS_MAGIC;
}

#endif
