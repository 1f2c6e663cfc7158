/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * collect/int.h - what the files of collect share: nobody else includes it.
 * All functions here run under read locks, but for those that say otherwise.
 */
#ifndef SL_COLLECT_INT_H
#define SL_COLLECT_INT_H

#include "base/map.h"
#include "image/shapes.h"
#include "plugin/collect/collect.h"
#include "plugin/host/status.h"
#include "plugin/records/units.h"

#define SL_KINDS 64
#define SL_UNCOUNTED 16

/*
 * Others get the locks after so many microseconds, however much there is to look at: the records of a
 * snapshot are not all of one moment, then, as the queue is not that of the records.
 */
#define SL_COLLECT_HOLD_US 8000

struct sl_queue_rec {		/* of build_job_queue(), after its locks are gone */
	uint32_t job_id, array_task_id, priority, resv_id, qos_id;
	part_record_t *part;	/* compare, do not follow */
	time_t drawn_until;	/* a magnetic reservation draws it in if it ends by then; 0: whenever */
	uint32_t drawn_nodes;	/* ... and asks for no more nodes */
	bool prefer;
	/* what it is sorted by */
	bool expedites, has_resv;
	uint16_t tier;
	uint32_t order_id, place;
	time_t submit;
};

struct sl_kind {
	char name[64], type[64];
};

/* A finished run, and the first snapshot that had it: slurmctld's records do not say
 * whether the ledger knows them. */
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

/* A pending job with alternatives in its comment, and what else they depend on. */
struct sl_commented {
	uint32_t row, job;
	time_t submitted;
	const char *never;	/* why it can have none, or NULL */
	uint32_t tasks;		/* it has so many in any shape; 0: it does not matter */
	struct sl_accepted accepted;
};

struct sl_scratch {
	struct sl_tellings told, telling;	/* by the last snapshot, by this one */
	uint32_t only_told;		/* in this snapshot */
	struct sl_queue_rec *queue;
	uint32_t queue_len, queue_room;
	uint32_t taken;			/* so many records did Slurm's queue have */
	struct sl_kind kind[SL_KINDS];
	uint32_t kinds;
	uint32_t uncounted[SL_UNCOUNTED], uncounted_len;	/* gres (plugin_id) of which nodes have what no row says */
	uint32_t by_type[SL_UNCOUNTED], by_type_len;	/* ... of which they have several types without files */
	struct sl_map row_of;		/* job id -> row */
	uint32_t first_way_room;
	struct { uint32_t row; uid_t uid; } *nameless;	/* jobs whose user has yet to be looked up */
	uint32_t nameless_len, nameless_room;
	struct { uid_t uid; char name[64]; time_t when; } user[1024];	/* cache */
	struct sl_commented *commented;	/* jobs whose comment has yet to be read */
	uint32_t commented_len, commented_room;
	bool checked;			/* records are laid out as this was compiled for */
	bool preempts;			/* preemption is on */
	uint32_t min_exempt_priority;	/* above it no job is preempted; NO_VAL: there is none */
	struct sl_map preemptees;	/* id of a QOS, or row of a partition -> sl_collect_preempts() of its jobs */
	bool memory;			/* memory is consumable */
	bool linear;			/* select/linear */
	uint32_t part_room, resv_room;
	uint32_t min_tier;		/* lowest PriorityTier of all partitions */
	uint32_t start_delay;		/* longest MaxStartDelay of all reservations */
	time_t now;
	uint64_t held_since;		/* microseconds */
	uint32_t breaths;		/* how often others could have the locks in between */
	const struct sl_collect_in *in;
};

/* Asked before each record that is copied: let others have the locks, where they have been
 * held for long.  False: slurmctld's tables are other ones now. */
bool sl_collect_breathe(struct sl_collector *c);

/* Copy each record of a list, in as many holds as it takes: it may change in between.  False: as above. */
typedef void sl_collect_record(struct sl_collector *c, void *record);
bool sl_collect_each(struct sl_collector *c, sl_list_t *list, sl_collect_record *record);

/* canary.c: do the records look as this plug-in was compiled to see them?  1; 0, they seem to, but
 * there is no job to tell by yet; -1 with *err (SL_EVERSION). */
int sl_collect_check_layout(struct sl_error *err);

/* queue.c.  What may run, in the order in which Slurm would look at it; takes the locks itself, once for
 * Slurm's queue and then as often as it takes to look at its jobs.  0, or -1 with *err. */
int sl_collect_queue(struct sl_collector *c, struct sl_error *err);

/* lent.c.  Find those that are not known of, by looking at all jobs; takes the locks itself. */
void sl_collect_find_lent(struct sl_collector *c);

/* Those that wait again are put back; the job write lock is held. */
void sl_collect_restore_lent(struct sl_collector *c);

/* Of that, rows; no locks held.  Entries that stand for the same job in the same partition (in a
 * magnetic reservation, with preferred features) become ways to start it. */
void sl_collect_entries(struct sl_collector *c);

/* yields.c.  False if sched/backfill keeps no nodes free for the job: its QOS has NoReserve, or its priority is below
 * MinPrioThreshold of a QOS or its account.  assoc_mgr's qos and assoc read locks are held. */
bool sl_collect_reserves(const job_record_t *job);

/* Read PreemptParameters; NULL: there are none. */
void sl_collect_preempt_params(struct sl_scratch *s, const char *params);

/* Under preemption, of a job whose QOS has NoReserve: seconds after its start from which on others may take
 * its nodes; else 0.  assoc_mgr's qos read lock is held. */
int64_t sl_collect_yields_after(const struct sl_scratch *s, const job_record_t *job);

/* Until when nobody gets the nodes of a running job by preempting it; 0: as long as it runs, also where that cannot be
 * told without who would preempt it, or without its other components (_is_job_preempt_exempt_internal()). */
int64_t sl_collect_safe_until(const struct sl_scratch *s, const job_record_t *job);

/* Whose running jobs a job may preempt that may preempt any, as the snapshot has it: a string of the builder.  0: nobody's. */
uint32_t sl_collect_preempts(struct sl_collector *c, const job_record_t *job);

/* What its priority has to do with that: SL_JOBF_PREEMPTS_LOWER, SL_JOBF_PREEMPTS_WITHIN. */
uint32_t sl_collect_preempts_how(const job_record_t *job);

/* True if the job may preempt jobs of its own QOS of lower priority. */
bool sl_collect_preempts_within(const job_record_t *job);

/* A snapshot begins, or others have had the locks: QOS and partitions may be other ones. */
void sl_collect_forget_preempts(struct sl_scratch *s);

/* What Slurm does to preempt a running job, and from when on: preempt_mode, preempt_from, grace_time and preempt_time of its row.
 * assoc_mgr's qos read lock is held. */
void sl_collect_stop_terms(const struct sl_scratch *s, const job_record_t *job, struct sl_job_row *row);

/* held.c.  The tables of held places and stopped jobs, when all jobs have their rows. Places that are held no longer leave
 * the book: their job has started, does not wait, is held or was changed, or their time is over. */
void sl_collect_held(struct sl_collector *c);

/* told.c.  A snapshot begins: the finished jobs of the last one become those of the one before. */
void sl_collect_begin_telling(struct sl_scratch *s);

/* Does this snapshot have to have the finished job, since it is a recent one or the ledger may lack
 * it?  A job that was in a snapshot is so in each one, until the ledger has that snapshot, or a later one. */
bool sl_collect_is_told(struct sl_scratch *s, const job_record_t *job, bool recent);

void sl_collect_free_told(struct sl_tellings *t);

/* A row range of the nodes in a bitmap. */
struct sl_range sl_collect_runs(struct sl_collector *c, const bitstr_t *bitmap);

/* The row of a gres kind, made when it is new; SL_NONE when there are too many. */
uint32_t sl_collect_kind(struct sl_collector *c, const char *name, const char *type);

/* shares.c.  Rows of a node for a gres that is a share of its GPUs, and how many they are; 0: the shares are not
 * what a row can say. */
uint32_t sl_collect_shares(struct sl_collector *c, const gres_node_state_t *gpus, const gres_state_t *g);

/* Which GPUs of the node a job has by that gres on its host of that number, into *row*, whose kind is set. */
void sl_collect_devices(struct sl_collector *c, const node_record_t *n, const gres_state_t *g, uint32_t host,
			struct sl_alloc_gres_row *row);

/* Shares of GPUs of one type: a row of a snapshot has no type for them. */
static inline bool sl_is_typed_share(const gres_state_t *g, const gres_job_state_t *js)
{
	return (g->config_flags & GRES_CONF_SHARED) && js->type_name && js->type_name[0];
}

/* Is that a gres of which nodes have what is in no row: some of those that are shared (mps, shard), of devices and not used up by
 * those who have them (no_consume), or of too many kinds? */
bool sl_collect_uncounted(const struct sl_scratch *s, const gres_state_t *g);

/* Does select take of that gres on a node all of one type?  So it does where no files tell the pieces apart. */
bool sl_collect_by_type(const struct sl_scratch *s, const gres_state_t *g);

/* What is noted of a job. */
static inline const struct sl_note *sl_collect_note(const struct sl_scratch *s, const job_record_t *job)
{
	return sl_note_read(s->in->notes, job->job_id, job->details ? job->details->submit_time : 0);
}

/* A list of node counts as text, empty: none.  False: it is too long, and empty. */
bool sl_collect_node_counts(const sl_details_t *d, char text[SL_NODE_COUNTS_TEXT]);

/* A list of licences, without those of resources.yaml; the snapshot has those of the cluster already. */
struct sl_range sl_collect_licenses(struct sl_collector *c, sl_list_t licenses);

/* False: slurmctld's tables are other ones now. */
bool sl_collect_nodes(struct sl_collector *c);

/* Partitions, licences and reservations.  False: slurmctld's tables are other ones now. */
bool sl_collect_lists(struct sl_collector *c);

void sl_collect_forget_topology(struct sl_collector *c);
void sl_collect_job(struct sl_collector *c, job_record_t *job);

/* A pending job may have alternatives: its comment is read after the locks are gone. */
void sl_collect_note_commented(struct sl_collector *c, uint32_t row, const job_record_t *job);

/* Read the comments of those jobs; no locks held. */
void sl_collect_shapes(struct sl_collector *c);

/* What a job asks for that has no column of its own: SL_ASKS_*. */
uint32_t sl_collect_asks(const struct sl_scratch *s, const job_record_t *job);

/* Those of them that hold for a job that runs, too: who may be on its nodes. */
uint32_t sl_collect_company(const job_record_t *job);

/* How its tasks are to be dealt out. */
enum sl_distribution sl_collect_distribution(const job_record_t *job);

/* Could jobs be preempted for it, in its current partition? */
bool sl_collect_may_preempt(const struct sl_scratch *s, const job_record_t *job);

/* Flags of a job that reservations with MaxStartDelay concern: SL_JOBF_BORROWS and SL_JOBF_MAY_PREEMPT, or 0. */
uint32_t sl_collect_borrows(const struct sl_scratch *s, const job_record_t *job);

/* True if select would preempt jobs for its licences: then they are not counted. */
bool sl_collect_reclaims(const struct sl_scratch *s, const job_record_t *job);

uint32_t sl_collect_part(const struct sl_collector *c, const part_record_t *part);

#endif
