/* SPDX-License-Identifier: MIT */
/*
 * sacct_columns.h - the columns that sacct has in any release from 20.11 to 26.05, and what becomes of each when its
 * output is read as a workload.
 *
 * Threads: safe; no state.
 */
#ifndef SL_SACCT_COLUMNS_H
#define SL_SACCT_COLUMNS_H

#include <stdbool.h>
#include <stdio.h>

/* Those that are used, by number. */
enum sl_sacct_used {
	SL_SACCT_JOBIDRAW, SL_SACCT_JOBID, SL_SACCT_USER, SL_SACCT_UID, SL_SACCT_ACCOUNT, SL_SACCT_QOS, SL_SACCT_PARTITION,
	SL_SACCT_JOBNAME, SL_SACCT_SUBMIT, SL_SACCT_START, SL_SACCT_END, SL_SACCT_ELAPSEDRAW, SL_SACCT_ELAPSED,
	SL_SACCT_TIMELIMITRAW, SL_SACCT_TIMELIMIT, SL_SACCT_STATE, SL_SACCT_REQCPUS, SL_SACCT_NCPUS, SL_SACCT_ALLOCCPUS,
	SL_SACCT_REQNODES, SL_SACCT_NNODES, SL_SACCT_ALLOCNODES, SL_SACCT_REQTRES, SL_SACCT_ALLOCTRES, SL_SACCT_REQMEM,
	SL_SACCT_REQGRES, SL_SACCT_ALLOCGRES, SL_SACCT_SEGMENTSIZE,
	/* with as_it_was */
	SL_SACCT_ELIGIBLE, SL_SACCT_PRIORITY, SL_SACCT_REASON, SL_SACCT_RESERVATION, SL_SACCT_CONSTRAINTS, SL_SACCT_LICENSES,
	SL_SACCT_SUSPENDED, SL_SACCT_RESTARTS, SL_SACCT_SUBMITLINE, SL_SACCT_NODELIST,
	SL_SACCT_USED
};

enum sl_sacct_fate {
	SL_SACCT_IS_USED,
	SL_SACCT_NOT_NEEDED,	/* a simulation has no use for it */
	SL_SACCT_CANNOT,	/* it would change what a simulation does; *why* says what stands in the way */
	SL_SACCT_UNKNOWN,
};

/* The name of a column that is used. */
const char *sl_sacct_name(enum sl_sacct_used column);

/* What becomes of a column (in any case), and why. */
enum sl_sacct_fate sl_sacct_fate(const char *column, const char **why);

/* True if the column is used with as_it_was alone. */
bool sl_sacct_is_real(const char *column);

/*
 * The number of the column in which there may be separators, since somebody wrote its text (a JobName, an alternative of
 * features) and sacct -P escapes nothing.  -1 where there is none, or more than one: a row that has too many fields then
 * cannot be told apart.
 */
int sl_sacct_text_column(char *const *name, int names);

/* How many of sacct's columns a header has that is cut at *separator*. */
int sl_sacct_count_names(const char *header, const char *separator);

/* The table, in the form that doc/workloads.md has it. */
void sl_sacct_print_table(FILE *out);

/* The command that prints what is used, and no text that a user wrote. */
extern const char sl_sacct_command[];

/* The one that also prints when jobs really started, and what held them back (sacct_real.c). */
extern const char sl_sacct_real_command[];

#endif
