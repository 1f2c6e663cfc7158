/* SPDX-License-Identifier: MIT */
/*
 * ledger/text.h - the ledger from and to text, in the form of sacct -P.
 *
 * Columns are found by the names in the first line, in any order.  Needed are JobIDRaw or JobID,
 * Start, End or ElapsedRaw, State, and AllocCPUS or NCPUS; also used, where there: User,
 * Account, Partition, Elapsed, AllocNodes or NNodes, AllocTRES (gres/gpu, node), Timelimit.
 *
 * sacct -P escapes nothing: a job's name with a line end in it would be a row of its user's making, of any
 * other user's usage.  So a table with a column that is not known to hold no words of users (JobName,
 * Comment, WorkDir, ...) is refused as a whole, and a row that cannot be true by itself.
 *
 * What sl_ledger_export() writes has JobName, and columns of its own: Source, and for adjustments (State
 * ADJUSTMENT) Amounts, Who and Why, for pieces of a run that was resized Began, Earlier (seconds that it had
 * run before the piece) and MostCPUs; and last SL_LEDGER_MARK, which says that its texts are escaped
 * (base/escape.h), so that they come back as they were.  (Versions without it wrote a question mark for each
 * bar and line end.)  It is the ledger's own word: only its form is looked at.
 *
 * Ownership: borrows everything.  Threads: none.
 */
#ifndef SL_LEDGER_TEXT_H
#define SL_LEDGER_TEXT_H

#include <stdio.h>

#include "ledger/ledger.h"
#include "base/lines.h"

#define SL_LEDGER_MARK "schedlua-2"	/* the name of an empty column */

struct sl_import {
	uint64_t rows;			/* of jobs, read */
	uint64_t added;			/* new, or better known than before */
	uint64_t known;
	uint64_t unfinished;		/* rows of jobs that wait or run */
	uint64_t never;			/* of jobs that never ran */
	uint64_t bad;			/* that make no sense */
	uint64_t unknown;		/* of users whom this machine does not know; they count nevertheless */
	char unknown_user[64];		/* the first of them */
	int64_t now;			/* set by the caller: no run of sacct's can have ended later, and users are looked
					 * up on this machine; 0: neither is asked */
	void (*refuse)(uint64_t line, const char *why, void *arg);	/* set by the caller: told of each bad row; may be NULL */
	void (*progress)(uint64_t rows, void *arg);	/* set by the caller; may be NULL */
	void *progress_arg;
};

/* Add all runs of a dump, committing now and then; the counts stand also after an error. */
int sl_ledger_import(struct sl_ledger *l, struct sl_lines *in, struct sl_import *result, struct sl_error *err);

/* Write everything. */
int sl_ledger_export(struct sl_ledger *l, FILE *out, struct sl_error *err);

/* "COMPLETED", "REQUEUED", "CANCELLED by 0": enum sl_job_state of a run that ended; -1. */
int sl_run_state_of(const char *word);
const char *sl_run_state_word(uint32_t state);

/* "2026-01-31", "2026-01-31T12:00[:00]" in local time, seconds since the epoch. */
bool sl_scan_when(const char *text, int64_t *t);

#endif
