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
};

/* A figure of a table: its key is that of schedlua sim --json; the title is NULL if the table for people has none. */
struct sl_compare_figure {
	const char *key, *title;
	double (*of)(const struct sl_result *r);
	int digits;
};
extern const struct sl_compare_figure sl_compare_figures[];	/* the last has no key */

#define SL_COMPARE_MOST_FIGURES 24

/* The path of "site=FILE", or NULL: it is no site file. */
const char *sl_compare_site(const char *policy);

#endif
