/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * asked.h - what jobs asked for, remembered while they run as something else.
 *
 * A job may be started as one of its alternatives (shape.h), or with a shorter time
 * limit (a deadline, --time-min).  slurmctld then keeps and saves the request that it
 * was started with: what it launches, shows and accounts must agree with what the
 * job has.  When the job is requeued it must ask for what its user asked for, also
 * after slurmctld was restarted in between.  So each original is written to
 * StateSaveLocation/schedlua/requests (a line for each job, replaced atomically)
 * before the job is started, and put back as soon as the job is pending again.
 *
 * Ownership: a book owns its entries; pointers to them are good until the next call
 * that adds or drops one.  Threads: the cycle thread only.
 */
#ifndef SL_ASKED_H
#define SL_ASKED_H

#include "plugin/records/compat.h"
#include "base/error.h"

/* So many jobs at a time; of more the original is not kept. */
#define SL_ASKED_MOST 100000u

enum sl_asked_tres { SL_ASKED_PER_JOB, SL_ASKED_PER_NODE, SL_ASKED_PER_SOCKET, SL_ASKED_PER_TASK, SL_ASKED_TRES };

/* Slurm's fields of that name, as they were. */
struct sl_asked {
	uint32_t job_id, user_id;
	bool started;		/* it was started as something else; else that was only planned */
	bool shaped;		/* not just with another time limit */
	bool tasks_set;		/* it said how many tasks (JOB_NTASKS_SET) */
	uint32_t limit_then;	/* minutes it was started with; 0: not known */
	uint32_t time_limit;	/* minutes; NO_VAL: it names none */
	uint32_t min_nodes, max_nodes, num_tasks, min_cpus, max_cpus, pn_min_cpus, cpus_per_task, ntasks_per_node;
	char *tres[SL_ASKED_TRES];	/* NULL: none; xmalloc'ed */
};

struct sl_asked_book;

struct sl_asked_book *sl_asked_create(void);
void sl_asked_destroy(struct sl_asked_book *b);

/*
 * Read *path*, or nothing where there is no such file, and write there from now on.
 * Returns how many lines made no sense and were left out, or -1 with *err.
 */
int sl_asked_open(struct sl_asked_book *b, const char *path, struct sl_error *err);

/* Write the book if it has changed.  No locks of slurmctld held.  0, or -1 with *err. */
int sl_asked_save(struct sl_asked_book *b, struct sl_error *err);

/* -- with job read locks, at least ------------------------------------------ */

/* Remember what a pending job asks for, before it is started.  NULL: the book is full. */
struct sl_asked *sl_asked_add(struct sl_asked_book *b, const job_record_t *job);

/* What is remembered of a job; NULL: nothing. */
struct sl_asked *sl_asked_find(struct sl_asked_book *b, uint32_t job_id);

/*
 * The job (for a task of an array: the record that was split off) was started with
 * another request than *original*, which may be its own entry or its array's.
 */
void sl_asked_started(struct sl_asked_book *b, const job_record_t *job, const struct sl_asked *original, bool shaped);

/* A start that was planned did not come about. */
void sl_asked_forget(struct sl_asked_book *b, uint32_t job_id);

/* -- with job write locks ------------------------------------------------------ */

/*
 * Make the job ask for that: all but the time limit.  gres and TRES follow.  Returns
 * Slurm's code for gres that it does not accept; the request is changed nevertheless.
 */
int sl_asked_put(job_record_t *job, const struct sl_asked *request);

/* The time limit, or that it names none. */
void sl_asked_put_limit(job_record_t *job, const struct sl_asked *request);

/*
 * Jobs that are pending again get their request back; what belongs to jobs that
 * are gone is dropped.  Returns how many requests were put back.
 */
uint32_t sl_asked_restore(struct sl_asked_book *b);

#endif
