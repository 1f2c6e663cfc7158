/* SPDX-License-Identifier: GPL-2.0-or-later */
/* collect/int.h - what the files of collect/ share; no other file includes it.  All functions here run under read locks,
 * except where stated. */
#ifndef SL_COLLECT_INT_H
#define SL_COLLECT_INT_H

#include "base/map.h"
#include "image/shapes.h"
#include "plugin/collect/collect.h"
#include "plugin/host/status.h"
#include "plugin/records/units.h"

#define SL_KINDS 64
#define SL_UNCOUNTED 16

/* The longest hold of the locks, in microseconds; after that others get them, and the rest is copied in further holds.  So
 * the records of a snapshot may be of different moments, and the queue of an earlier one. */
#define SL_COLLECT_HOLD_US 8000

struct sl_queue_rec {		/* an entry of build_job_queue(), kept after its locks were released */
	uint32_t job_id, array_task_id, priority, resv_id, qos_id;
	part_record_t *part;	/* compare, do not follow */
	time_t drawn_until;	/* a magnetic reservation takes the job in only if it ends by then; 0: whenever it ends */
	uint32_t drawn_nodes;	/* ... and if it asks for no more nodes than this */
	bool prefer;
	/* sort keys */
	bool expedites, has_resv;
	uint16_t tier;
	uint32_t order_id, place;
	time_t submit;
};

struct sl_kind {
	char name[64], type[64];
};

/* A finished run, and the number of the first snapshot that had it.  Kept because slurmctld's records do not say whether
 * the ledger has the run. */
struct sl_told {
	uint32_t job;
	time_t start;
	int64_t sequence;
};

struct sl_tellings {
	struct sl_told *run;
	uint32_t count, room;
	struct sl_map by_job;		/* -> index of run */
};

/* A pending job with alternatives in its comment, and what decides which of them it may have. */
struct sl_commented {
	uint32_t row, job;
	time_t submitted;
	const char *never;	/* why it can have none, or NULL */
	uint32_t tasks;		/* number of its tasks, the same in any shape; 0: may vary */
	struct sl_accepted accepted;
};

struct sl_scratch {
	struct sl_tellings told, telling;	/* finished runs in the last snapshot, and in this one */
	uint32_t only_told;		/* of this snapshot: finished runs that are in it only for the ledger */
	struct sl_queue_rec *queue;
	uint32_t queue_len, queue_room;
	uint32_t taken;			/* number of entries of Slurm's queue */
	struct sl_kind kind[SL_KINDS];
	uint32_t kinds;
	uint32_t uncounted[SL_UNCOUNTED], uncounted_len;	/* plugin_id of gres that some node has but no row describes */
	uint32_t by_type[SL_UNCOUNTED], by_type_len;	/* ... of which some node has several types, without device files */
	struct sl_map row_of;		/* job id -> row */
	uint32_t first_way_room;
	struct { uint32_t row; uid_t uid; } *nameless;	/* jobs whose user name has yet to be looked up */
	uint32_t nameless_len, nameless_room;
	struct { uid_t uid; char name[64]; time_t when; } user[1024];	/* cache, by uid */
	struct sl_commented *commented;	/* jobs whose comment has yet to be read */
	uint32_t commented_len, commented_room;
	bool checked;			/* the layout of the records has been checked */
	bool preempts;			/* preemption is on */
	uint32_t min_exempt_priority;	/* jobs with a higher priority are not preempted; NO_VAL: no such limit */
	struct sl_map preemptees;	/* id of a QOS, or row of a partition -> what sl_collect_preempts() returns for its
					 * jobs */
	bool memory;			/* memory is consumable */
	bool linear;			/* select/linear */
	uint32_t part_room, resv_room;
	uint32_t min_tier;		/* lowest PriorityTier of all partitions */
	uint32_t start_delay;		/* longest MaxStartDelay of all reservations */
	time_t now;
	uint64_t held_since;		/* microseconds; when the locks were taken */
	uint32_t breaths;		/* how often the locks were released in between */
	const struct sl_collect_in *in;
};

/* Called before each record is copied: if the locks have been held for long, release them and take them again.  False if
 * slurmctld's tables have been replaced meanwhile. */
bool sl_collect_breathe(struct sl_collector *c);

/* Copy each record of a list, in as many holds of the locks as it takes; the list may change in between.  False: as above. */
typedef void sl_collect_record(struct sl_collector *c, void *record);
bool sl_collect_each(struct sl_collector *c, sl_list_t *list, sl_collect_record *record);

/* canary.c: are the records laid out as this plug-in was compiled for?  1: yes; 0: it seems so, but there is no job yet to
 * tell by; -1 with *err (SL_EVERSION): no. */
int sl_collect_check_layout(struct sl_error *err);

/* queue.c.  Find the jobs that may run, in the order in which Slurm would look at them.  Takes the locks itself: once for
 * Slurm's queue, then as often as it takes to look at its jobs.  0, or -1 with *err. */
int sl_collect_queue(struct sl_collector *c, struct sl_error *err);

/* lent.c.  If some jobs on borrowed nodes may be unknown, find all by looking at every job.  Takes the locks itself. */
void sl_collect_find_lent(struct sl_collector *c);

/* Restore the records of such jobs that are pending again.  Job write lock held. */
void sl_collect_restore_lent(struct sl_collector *c);

/* Turn the queue's entries into rows of the snapshot.  Entries for the same job in the same partition (in a magnetic
 * reservation, with preferred features) become ways to start it.  No locks held. */
void sl_collect_entries(struct sl_collector *c);

/* yields.c.  False if sched/backfill keeps no nodes free for the job: its QOS has NoReserve, or its priority is below
 * MinPrioThreshold of its QOS or account.  assoc_mgr's qos and assoc read locks held. */
bool sl_collect_reserves(const job_record_t *job);

/* Read PreemptParameters; NULL: there are none. */
void sl_collect_preempt_params(struct sl_scratch *s, const char *params);

/* For a job whose QOS has NoReserve: the seconds after its start after which others may take its nodes by preemption;
 * else, or without preemption, 0.  assoc_mgr's qos read lock held. */
int64_t sl_collect_yields_after(const struct sl_scratch *s, const job_record_t *job);

/* The time until which nobody gets the nodes of a running job by preempting it.  0: as long as it runs, also if the answer
 * depends on who would preempt it or on its other components (_is_job_preempt_exempt_internal()). */
int64_t sl_collect_safe_until(const struct sl_scratch *s, const job_record_t *job);

/* Whose running jobs that job may preempt, as a string of the builder, in the format of the snapshot; 0: nobody's.  For
 * jobs that may preempt at all. */
uint32_t sl_collect_preempts(struct sl_collector *c, const job_record_t *job);

/* How priorities restrict that: SL_JOBF_PREEMPTS_LOWER, SL_JOBF_PREEMPTS_WITHIN. */
uint32_t sl_collect_preempts_how(const job_record_t *job);

/* True if the job may preempt jobs of its own QOS of lower priority. */
bool sl_collect_preempts_within(const job_record_t *job);

/* Forget what is known of QOS and partitions: called when a snapshot begins, and when others have had the locks. */
void sl_collect_forget_preempts(struct sl_scratch *s);

/* Fill in how and from when on Slurm may preempt a running job: preempt_mode, preempt_from, grace_time and preempt_time of
 * its row.  assoc_mgr's qos read lock held. */
void sl_collect_stop_terms(const struct sl_scratch *s, const job_record_t *job, struct sl_job_row *row);

/* held.c.  Write the tables of held places and of stopped jobs.  Comes when all jobs have rows.  A place is dropped from
 * the book if its job has started, no longer waits, is held or was changed, or if its time is over. */
void sl_collect_held(struct sl_collector *c);

/* told.c.  Called when a snapshot begins: the finished runs of the last snapshot become those of the one before. */
void sl_collect_begin_telling(struct sl_scratch *s);

/* Must this snapshot have the finished job, because it is recent or the ledger may lack it?  A job that has been in one
 * snapshot is in all further ones, until the ledger has one of these. */
bool sl_collect_is_told(struct sl_scratch *s, const job_record_t *job, bool recent);

void sl_collect_free_told(struct sl_tellings *t);

/* The nodes of a bitmap as rows (runs of nodes). */
struct sl_range sl_collect_runs(struct sl_collector *c, const bitstr_t *bitmap);

/* The row of a kind of gres, added if it is new; SL_NONE if there are too many. */
uint32_t sl_collect_kind(struct sl_collector *c, const char *name, const char *type);

/* shares.c.  Add rows to a node for a gres that is a share of its GPUs.  Returns how many; 0: no row can describe these
 * shares. */
uint32_t sl_collect_shares(struct sl_collector *c, const gres_node_state_t *gpus, const gres_state_t *g);

/* Fill in which GPUs of node *n* the job has through that gres.  *host*: the node's number among the job's hosts.  The
 * row's kind is already set. */
void sl_collect_devices(struct sl_collector *c, const node_record_t *n, const gres_state_t *g, uint32_t host,
			struct sl_alloc_gres_row *row);

/* True for shares of GPUs of one type: no row of a snapshot can state the type. */
static inline bool sl_is_typed_share(const gres_state_t *g, const gres_job_state_t *js)
{
	return (g->config_flags & GRES_CONF_SHARED) && js->type_name && js->type_name[0];
}

/* True if some node has more of that gres than rows can say: shares (mps, shard) of some kinds, devices that jobs do not
 * use up (no_consume), or too many kinds. */
bool sl_collect_uncounted(const struct sl_scratch *s, const gres_state_t *g);

/* True if select gives a job pieces of one type only on each node.  It does so if no device files tell the pieces apart. */
bool sl_collect_by_type(const struct sl_scratch *s, const gres_state_t *g);

/* What is noted of the job from cycle to cycle. */
static inline const struct sl_note *sl_collect_note(const struct sl_scratch *s, const job_record_t *job)
{
	return sl_note_read(s->in->notes, job->job_id, job->details ? job->details->submit_time : 0);
}

/* The node counts that a job lists, as text; empty: it lists none.  False, with an empty text: the list is too long. */
bool sl_collect_node_counts(const sl_details_t *d, char text[SL_NODE_COUNTS_TEXT]);

/* Rows for a list of licences, without those of resources.yaml.  The snapshot has the cluster's licences already. */
struct sl_range sl_collect_licenses(struct sl_collector *c, sl_list_t licenses);

/* False if slurmctld's tables have been replaced meanwhile. */
bool sl_collect_nodes(struct sl_collector *c);

/* Partitions, licences and reservations.  False: as above. */
bool sl_collect_lists(struct sl_collector *c);

void sl_collect_forget_topology(struct sl_collector *c);
void sl_collect_job(struct sl_collector *c, job_record_t *job);

/* Note that a pending job may have alternatives; its comment is read when the locks are released. */
void sl_collect_note_commented(struct sl_collector *c, uint32_t row, const job_record_t *job);

/* Read the comments of those jobs; no locks held. */
void sl_collect_shapes(struct sl_collector *c);

/* SL_ASKS_*: what the job asks for that has no column of its own in the snapshot. */
uint32_t sl_collect_asks(const struct sl_scratch *s, const job_record_t *job);

/* Those SL_ASKS_* that also hold while the job runs, because they say who may share its nodes. */
uint32_t sl_collect_company(const job_record_t *job);

/* How its tasks are distributed over nodes. */
enum sl_distribution sl_collect_distribution(const job_record_t *job);

/* True if jobs could be preempted for it, in its current partition. */
bool sl_collect_may_preempt(const struct sl_scratch *s, const job_record_t *job);

/* SL_JOBF_BORROWS and SL_JOBF_MAY_PREEMPT, for a job that reservations with MaxStartDelay concern; else 0. */
uint32_t sl_collect_borrows(const struct sl_scratch *s, const job_record_t *job);

/* True if select would preempt jobs to get its licences.  Then they are not counted. */
bool sl_collect_reclaims(const struct sl_scratch *s, const job_record_t *job);

uint32_t sl_collect_part(const struct sl_collector *c, const part_record_t *part);

#endif
