/* SPDX-License-Identifier: MIT */
/*
 * trial.h - one simulation, from names to figures.
 *
 * What schedlua sim, compare and the oracles share: read the workload, load the
 * policy, simulate, ask for the result.  Each step fails with what a user would want
 * to read.
 *
 * Ownership: a trial owns all it points to; it borrows its options' strings.
 * Threads: none.
 */
#ifndef SL_TRIAL_H
#define SL_TRIAL_H

#include "sim/sim.h"

struct sl_trial_options {
	const char *workload;
	const struct sl_workload *loaded;	/* the same, read before: borrowed; NULL: it is read */
	struct sl_workload_options workload_options;
	struct sl_bundle_source source;
	struct sl_sim_options sim;
};

struct sl_trial {
	const struct sl_workload *workload;
	struct sl_workload *own;	/* the same, where it was read for this trial */
	struct sl_bundle *bundle;
	struct sl_script *script;
	struct sl_sim *sim;
	struct sl_limits limits;
	char *trace;			/* of a policy that failed, or NULL */
	struct sl_result result;	/* after sl_trial_go() */
};

/* Read and load all that is needed.  Returns 0, or -1 with *err and perhaps
 * t->trace; close it in any case. */
int sl_trial_open(struct sl_trial *t, const struct sl_trial_options *opt, struct sl_error *err);

/* Simulate.  *bound*: work out what no schedule can beat, too.  Returns what
 * sl_sim_run() does; result is filled unless it is -1. */
int sl_trial_go(struct sl_trial *t, bool bound, struct sl_error *err);

void sl_trial_close(struct sl_trial *t);

#endif
