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
#include "plugin/request/asked_line.h"
#include "base/error.h"

/* So many jobs at a time; of more the original is not kept. */
#define SL_ASKED_MOST 100000u

struct sl_asked_book;

struct sl_asked_book *sl_asked_create(void);
void sl_asked_destroy(struct sl_asked_book *b);

/*
 * Read *path*, or nothing where there is no such file, and write there from now on. Returns how many
 * lines made no sense and were left out, or -1 with *err: SL_EVERSION for a file of a version that did not
 * escape what users wrote, of which nothing is taken. An entry that was read is believed only if the job's record
 * agrees with it (see sl_asked_restore()).
 */
int sl_asked_open(struct sl_asked_book *b, const char *path, struct sl_error *err);

/* Write the book if it has changed.  No locks of slurmctld held.  0, or -1 with *err. */
int sl_asked_save(struct sl_asked_book *b, struct sl_error *err);

/* -- with job read locks, at least ------------------------------------------ */

/* True if the job's request can be written and read back (sl_asked_is_possible()). Only such requests are kept. */
bool sl_asked_can_keep(const job_record_t *job);

/*
 * Remember what a pending job asks for, before it is started. NULL: the book is full, or not
 * sl_asked_can_keep().
 */
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
 * Jobs that are pending again get their request back; what belongs to jobs that are gone is dropped. Returns how
 * many requests were put back.
 *
 * The first call after sl_asked_open() compares what was read with the jobs. An entry stays only if the job's user,
 * submit time and size are those that the entry has (the submit time may be a later one if the job was requeued
 * since). The others are dropped, and their jobs named in the log, as are jobs that run as an alternative and have
 * no entry.
 */
uint32_t sl_asked_restore(struct sl_asked_book *b);

#endif
