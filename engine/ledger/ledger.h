/* SPDX-License-Identifier: MIT */
/*
 * ledger.h - what was used, kept in a file: SQLite, under StateSaveLocation.
 *
 * The file has every run of a job that has ended, known by (job id, start time), and
 * every adjustment with who made it, when and why; and, worked out from these as
 * they come, totals by dimension and UTC day.  All is written in transactions, with a
 * rollback journal (no write-ahead log: StateSaveLocation is often on NFS) and
 * synchronous=FULL: what was committed is there after a crash, what was not is not.
 *
 * A run that changed its size is several rows, one for each size (struct sl_job_run, began): each
 * counts as a run does.  The last one ended as the run did, the others as SL_JOB_RUNNING.
 *
 * What is added waits in memory, bounded, and counts at once for those who ask
 * this object; sl_ledger_commit() writes all of it or nothing.  A commit that fails (a full
 * disk) loses nothing: it is tried again.  Adding the same run twice adds it once, also
 * when another process added it meanwhile.
 *
 * Ownership: a ledger owns its connection and its usage.  Threads: none.
 */
#ifndef SL_LEDGER_H
#define SL_LEDGER_H

#include "usage/history.h"

#define SL_LEDGER_FILE "ledger.db"	/* in the directory "schedlua" */
#define SL_LEDGER_BACKLOG 200000	/* runs that may wait to be written */
#define SL_LEDGER_MAX_SECONDS ((INT64_C(1) << 19) * SL_DAY)	/* no time is beyond: a total for each day until then */
#define SL_RUN_MAX_SECONDS (3660 * SL_DAY)

struct sl_ledger;

enum sl_ledger_mode {
	SL_LEDGER_READ,		/* there must be one; nothing is written */
	SL_LEDGER_WRITE,	/* there must be one */
	SL_LEDGER_CREATE,	/* made where there is none */
};

struct sl_adjustment {
	int64_t id;			/* given by the ledger */
	int64_t at;			/* the time that it counts at */
	int64_t amount[SL_UNITS];	/* unit-seconds, more or less */
	struct sl_dim dim;		/* of state SL_JOB_COMPLETE */
	int64_t made;			/* when, */
	const char *who, *why;		/* by whom, why */
};

/* False in a program that was built without SQLite; everything below fails there. */
bool sl_ledger_available(void);

/*
 * Open the file (NULL: one in memory, for tests).  SL_ENOENT where there must be one;
 * SL_EFORMAT for a file that is no ledger or is damaged; SL_EVERSION.  NULL with *err.
 */
struct sl_ledger *sl_ledger_open(const char *path, enum sl_ledger_mode mode, struct sl_error *err);
void sl_ledger_close(struct sl_ledger *l);

/* How long to wait for another process that reads or writes; ten seconds if nothing is said. */
void sl_ledger_set_patience(struct sl_ledger *l, int ms);

/*
 * Rename a damaged ledger and its journal, so that they are not touched any more, to
 * PATH.damaged-YYYYMMDDTHHMMSSZ; *to gets that name.  0, or -1 with *err.
 */
int sl_ledger_set_aside(const char *path, char *to, size_t size, struct sl_error *err);

/* Was a ledger set aside, and is there none since?  Then none is made but on order. */
bool sl_ledger_was_set_aside(const char *path);

/* For questions; includes what waits.  Asking may fail: SL_EBUSY, SL_EIO, SL_EFORMAT. */
struct sl_usage *sl_ledger_usage(struct sl_ledger *l);

/* Has another process written?  Then what is kept of answers is dropped.  0 or -1. */
int sl_ledger_refresh(struct sl_ledger *l, struct sl_error *err);

/*
 * Add a run.  Returns 1 when it is new or says other than what is there and is believed, 0 when it
 * is known; -1 with *err: SL_EINVAL for one that cannot be, SL_ELIMIT when too many wait.
 */
int sl_ledger_add(struct sl_ledger *l, const struct sl_job_run *run, struct sl_error *err);
uint32_t sl_ledger_waiting(const struct sl_ledger *l);

/* Drop all that waits, as if it had not been added. */
void sl_ledger_drop(struct sl_ledger *l);

/* Add an adjustment to what waits. */
int sl_ledger_adjust(struct sl_ledger *l, const struct sl_adjustment *a, struct sl_error *err);

/* Runs that have not ended, as far as is known: replace what is kept for the job (end: where
 * it was seen last; seconds: until then), or forget it (*run NULL). */
int sl_ledger_keep_open(struct sl_ledger *l, uint32_t job, const struct sl_job_run *run, struct sl_error *err);

/* Write what waits.  0, or -1 with *err and nothing written. */
int sl_ledger_commit(struct sl_ledger *l, struct sl_error *err);

/* All runs that overlap [since, until), by start and job; all adjustments, by number; all open
 * runs, by job.  The callback returns 0, or something else to end it. */
typedef int sl_ledger_each_run(void *to, const struct sl_job_run *run);
typedef int sl_ledger_each_adjustment(void *to, const struct sl_adjustment *a);
int sl_ledger_runs(struct sl_ledger *l, int64_t since, int64_t until, sl_ledger_each_run *each, void *to,
		   struct sl_error *err);
int sl_ledger_adjustments(struct sl_ledger *l, sl_ledger_each_adjustment *each, void *to, struct sl_error *err);
int sl_ledger_open_runs(struct sl_ledger *l, sl_ledger_each_run *each, void *to, struct sl_error *err);

/* The run of which this is the last piece, with the most CPUs that it had. */
struct sl_job_run sl_whole_run(struct sl_job_run piece);

/*
 * The newest runs of a user or account (SL_HISTORY_EVERYBODY: of all), *most* at most, the newest last; and what changes when
 * there are others than before (never 0, and greater than all that a ledger opened before said).
 */
int sl_ledger_newest(struct sl_ledger *l, enum sl_usage_by by, const char *name, uint32_t most,
		     sl_ledger_each_run *each, void *to, struct sl_error *err);
uint64_t sl_ledger_stamp(const struct sl_ledger *l, enum sl_usage_by by, const char *name);

/* For sl_history_create(): loads from *ledger*. */
int sl_ledger_load_history(void *ledger, struct sl_history *h, enum sl_usage_by by, const char *name,
			   struct sl_error *err);

struct sl_ledger_figures {
	int64_t runs, adjustments, first, last;		/* first start, last end; 0 where there are none */
	int64_t bytes;
};
int sl_ledger_figures(struct sl_ledger *l, struct sl_ledger_figures *f, struct sl_error *err);

/* Recompute all totals from the runs and adjustments, and compare: 0 when all agree, -1 with *err. */
int sl_ledger_verify(struct sl_ledger *l, struct sl_error *err);

#endif
