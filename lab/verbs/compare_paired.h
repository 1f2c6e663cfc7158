/* SPDX-License-Identifier: MIT */
/*
 * compare_paired.h - what a policy does to the same jobs that a baseline had, with intervals.
 *
 * Waits and bounded slowdowns are paired job by job; the interval is that of blocks of jobs
 * (report/paired.h).  If there are several windows (seeds x starts), all figures are paired
 * window by window as well; that interval is Student's t over the windows.  Windows must be samples of their
 * own: a log, which has the same jobs with each seed, comes with one seed.
 *
 * Ownership: sl_compare_pairs() makes grid->pair, which sl_compare_pairs_free() frees.  Threads: none.
 */
#ifndef SL_COMPARE_PAIRED_H
#define SL_COMPARE_PAIRED_H

#include "image/json_out.h"
#include "verbs/compare_grid.h"

struct sl_difference {
	double mean, half;		/* of the 95 % interval; NAN: there is none */
};

struct sl_compare_pair {
	uint32_t jobs;			/* that both started */
	uint32_t shorter, longer;	/* of them: waits that are shorter, longer than under the baseline */
	uint32_t blocks, windows;
	struct sl_difference wait_s, bsld;	/* by job */
	struct sl_difference window[SL_COMPARE_MOST_FIGURES];	/* by window, as sl_compare_figures[] */
};

/* Compare all with grid->baseline; *schedule* is by trial, all trials are there.  0, or -1 with *err. */
int sl_compare_pairs(struct sl_compare_grid *grid, const struct sl_mapped_schedule *schedule, struct sl_error *err);
void sl_compare_pairs_free(struct sl_compare_grid *grid);

/* What a line of the table has of it: more columns of CSV and their titles, keys of a JSON object. */
void sl_compare_pair_titles(const struct sl_compare_grid *grid);
void sl_compare_pair_csv(const struct sl_compare_grid *grid, const struct sl_compare_pair *p);
void sl_compare_pair_json(const struct sl_compare_grid *grid, const struct sl_compare_pair *p, struct sl_json *j);

/* Tables for people, below the first one. */
int sl_compare_pair_print(const struct sl_compare_grid *grid, struct sl_error *err);

#endif
