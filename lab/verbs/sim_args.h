/* SPDX-License-Identifier: MIT */
/*
 * sim_args.h - the options by which verbs say how a simulation is run: the same words
 * wherever there is one.
 */
#ifndef SL_SIM_ARGS_H
#define SL_SIM_ARGS_H

#include "report/page.h"
#include "sim/sim.h"
#include "verbs/workload_args.h"

struct sl_sim_args {
	const char *path;
	int64_t interval, latency, requeue_wait;
	bool each_end, arrivals_first;
};

/* Rows of an option table; *at* is a struct sl_sim_args in the values struct. */
#define SL_SIM_ARGS(values, at)								\
	{ .name = "path", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, at.path),	\
	  .argument = "DIR[:DIR]...", .doc = "directories to search for policies before the bundled ones" },	\
	{ .name = "interval", .type = SL_OPTION_INTEGER, .offset = offsetof(struct values, at.interval),	\
	  .min = 0, .max = 86400, .standard = "0", .argument = "SECONDS",			\
	  .doc = "let the policy decide this often; 0: whenever something happens" },		\
	{ .name = "latency", .type = SL_OPTION_INTEGER, .offset = offsetof(struct values, at.latency),	\
	  .min = 0, .max = 86400, .standard = "0", .argument = "SECONDS",			\
	  .doc = "from a decision to the start of its jobs, shorter than the interval" },	\
	{ .name = "requeue-wait", .type = SL_OPTION_INTEGER, .offset = offsetof(struct values, at.requeue_wait),	\
	  .min = 0, .max = 86400, .standard = "0", .argument = "SECONDS",			\
	  .doc = "until a job that was stopped for another one may start again; slurmctld has 121" },	\
	{ .name = "each-end", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, at.each_end),	\
	  .doc = "decide after each job that ends, instead of once an instant" },			\
	{ .name = "arrivals-first", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, at.arrivals_first),	\
	  .doc = "likewise, and before that once more if jobs arrive at the same instant" }

/* What is wrong with them together, for the user; NULL: nothing. */
const char *sl_sim_args_wrong(const struct sl_sim_args *a);

/* "3/10": of 10 parts the one after three others.  NULL leaves both as they are.  0, or -1 with *err. */
int sl_sim_args_part(const char *text, uint32_t *part, uint32_t *parts, struct sl_error *err);

struct sl_sim_options sl_sim_args(const struct sl_sim_args *a);

/* -- for a report page ------------------------------------------------------ */

/* Begin the part of a page about a workload: what it is and how it was simulated. */
int sl_sim_args_page(const struct sl_sim_args *a, const struct sl_workload_args *args, const struct sl_workload *w,
		     struct sl_page *page, struct sl_error *err);

/* The last part of a path: "january.txt". */
const char *sl_sim_args_base(const char *workload);

/* Say on stderr what a page lacks; if there is one, and it lacks anything. */
void sl_sim_args_tell_lacks(const struct sl_page *page);

/* Say on stderr that the clock ended solves, which makes a schedule one of this machine; if it did. */
void sl_sim_args_warn(uint64_t solves_cut);

#endif
