/* SPDX-License-Identifier: MIT */
/*
 * when.h - one line for users: what a job waits for, how many are ahead of it, and when it is
 * expected to start; or what holds it back where it may not compete.
 *
 * Ownership: texts are malloc'ed, and the caller's.  Threads: none.
 */
#ifndef SL_TOOL_WHEN_H
#define SL_TOOL_WHEN_H

#include <stdbool.h>
#include <stdio.h>

#include "image/snapshot.h"
#include "script/script.h"

/* What is known of a job beside the snapshot. */
struct sl_when {
	uint32_t job;
	const char *why, *text;		/* of the newest decision (sl_why_word()); "": there is none */
	const char *nodes;		/* of its reservation; "": it has none */
	int64_t start_s;		/* when that begins; 0: it has none */
	int64_t now;			/* where there is no snapshot */
	const char *stock;		/* Slurm's scheduler that decides while ours only look on; "": ours decide */
	const char *dependency;		/* as squeue prints it; "": not known */
	bool ordered;			/* the policies were asked where it stands; else Slurm's order is counted */
	struct sl_standing standing;	/* what they said; ahead -1: not known */
};

/*
 * The line, with its end.  *snap*: a picture of the cluster; NULL: there is none, and what the job asks for
 * is left out.  NULL: nothing is known of the job, or it has ended, or memory lacks.
 */
char *sl_when_line(const struct sl_when *w, const struct sl_snapshot *snap);

/* The words for a forecast, the same wherever users meet one: "15:31 (80 %: 15:10 to 16:05)". */
void sl_when_interval(const struct sl_standing *s, int64_t now, FILE *out);

/*
 * What a reservation costs: the core-seconds that its nodes are idle until it begins if nothing is backfilled,
 * running jobs taking all of their walltime.  0 where the job has none.
 */
double sl_when_idle(const struct sl_when *w, const struct sl_snapshot *snap);

/*
 * The words for a job that a limit of an association or a QOS holds back: who holds what the limit is on, and when
 * the first of them ends.  *reason*: Slurm's word.  False: it is no such limit; nothing is written.
 */
bool sl_when_limit(const struct sl_snapshot *snap, uint32_t row, const char *reason, FILE *out);

#endif
