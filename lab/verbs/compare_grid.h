/* SPDX-License-Identifier: MIT */
/*
 * compare_grid.h - policies x workloads x repeats, as schedlua compare runs them, and the figures that it prints.
 *
 * Ownership: all is borrowed.  Threads: none.
 */
#ifndef SL_COMPARE_GRID_H
#define SL_COMPARE_GRID_H

#include "sim/sweep.h"

/* Trials are in the order of workload, repeat, policy. */
struct sl_compare_grid {
	char **workload;
	uint32_t workloads;
	char **policy;			/* as given: "NAME,OPTION=VALUE", "site=FILE" */
	uint32_t policies;
	uint32_t repeats;		/* seeds x starts */
	struct sl_trial_options *trial;
	struct sl_trial_outcome *outcome;
	uint32_t trials;		/* all of them; fewer where only a part was run */
	uint32_t baseline;		/* of the policies, if there is *pair* */
	struct sl_compare_pair *pair;	/* by workload and policy; NULL: nothing is compared with a baseline */
	bool stops;			/* with the figures of stops */
};

/* A figure of a table: its key is that of schedlua sim --json; the title is NULL if the table for people has none. */
struct sl_compare_figure {
	const char *key, *title;
	double (*of)(const struct sl_result *r);
	int digits;
	bool of_stops, of_gpus;		/* only where jobs may be stopped for others; only where machines have GPUs */
	double unit;			/* of the table for people, in that of the key; 0: the same */
};
extern const struct sl_compare_figure sl_compare_figures[];	/* the last has no key */

/* True if CSV and JSON have the figure; if the tables for people do: that of stops, which is there if grid->stops, or the other. */
bool sl_compare_has(const struct sl_compare_grid *g, size_t figure);
bool sl_compare_shows(const struct sl_compare_grid *g, bool of_stops, size_t figure);

/* "FIRST,>title,>title..." of the figures that such a table has. */
#define SL_COMPARE_TITLES 512
const char *sl_compare_titles(const struct sl_compare_grid *g, bool of_stops, const char *first, char titles[SL_COMPARE_TITLES]);

/* A value of the figure in the unit of the tables for people. */
double sl_compare_in_unit(size_t figure, double value);

/* True if a simulation had jobs that may have others stopped. */
bool sl_compare_met_stops(const struct sl_compare_grid *g);

#define SL_COMPARE_MOST_FIGURES 24

/* The path of "site=FILE", or NULL: it is no site file. */
const char *sl_compare_site(const char *policy);

#endif
