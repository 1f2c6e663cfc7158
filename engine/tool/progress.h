/* SPDX-License-Identifier: MIT */
/*
 * progress.h - a bar with rate and remaining time, on a terminal and nowhere else.
 *
 * It appears after a second of work and is wiped out in the end, so that short work
 * and redirected output show nothing.  Ownership: a value.  Threads: none.
 */
#ifndef SL_PROGRESS_H
#define SL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct sl_progress {
	const char *what;		/* "jobs" */
	double since, shown;		/* seconds, monotonic clock */
	bool terminal, drawn;
};

/* *quiet*: never show it. */
void sl_progress_begin(struct sl_progress *p, const char *what, bool quiet);

/* May be called as often as one likes. */
void sl_progress_set(struct sl_progress *p, uint64_t done, uint64_t all);

/* As sl_progress_set(), for a simulation: *ended* of *jobs* jobs have ended; *progress* is a struct sl_progress. */
void sl_progress_jobs(uint64_t ended, uint64_t jobs, int64_t now, void *progress);

/* As sl_progress_set(), for a sweep of few, long trials.  *share*: the fraction of the whole work that is done, 0 to 1, unfinished
 * trials included; *progress* is a struct sl_progress. */
void sl_progress_trials(double share, uint32_t done, uint32_t trials, void *progress);

void sl_progress_end(struct sl_progress *p);

#endif
