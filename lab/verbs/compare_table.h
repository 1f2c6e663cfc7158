/* SPDX-License-Identifier: MIT */
/*
 * compare_table.h - the one table that schedlua compare prints, for people, as CSV or as JSON.
 *
 * Ownership: all is borrowed.  Threads: none.
 */
#ifndef SL_COMPARE_TABLE_H
#define SL_COMPARE_TABLE_H

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
};

enum sl_compare_format { SL_COMPARE_TABLE, SL_COMPARE_CSV, SL_COMPARE_JSON };

/* Print a line for each workload and policy, or with *runs* for each trial, to stdout: 0, or -1 with *err. */
int sl_compare_print(const struct sl_compare_grid *c, enum sl_compare_format format, bool runs, struct sl_error *err);

/* The path of "site=FILE", or NULL: it is no site file. */
const char *sl_compare_site(const char *policy);

#endif
