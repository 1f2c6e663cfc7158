/* SPDX-License-Identifier: MIT */
/*
 * sweep.h - many simulations, as many at a time as there are cores.
 *
 * Each trial runs in a process of its own, so that one that fails, or uses all the
 * memory that it may, takes no other with it.  Results come back in the order of the
 * trials whatever order they end in.
 *
 * Ownership: the caller's.  Threads: none may run, since it forks.
 */
#ifndef SL_SWEEP_H
#define SL_SWEEP_H

#include "sim/trial.h"

/* What came of a trial. */
struct sl_trial_outcome {
	struct sl_error err;		/* SL_OK, or why there is no result */
	struct sl_result result;
	struct sl_issue_count issue[SL_ISSUES];	/* of its workload */
};

/* A schedule that was made in another process, mapped. */
struct sl_mapped_schedule {
	struct sl_schedule schedule;
	void *map;
	size_t size;
};

struct sl_sweep {
	/* NULL, or by trial: gets the schedule of those that keep one (sim.keep_schedule), to
	 * be given back with sl_sweep_unmap(); all zero where there is none. */
	struct sl_mapped_schedule *schedule;
	const struct sl_trial_options *trial;
	struct sl_trial_outcome *outcome;	/* as many */
	uint32_t trials;
	uint32_t workers;		/* 0: as many as there are processors */
	uint32_t cpu_s;			/* a trial that uses more CPU time fails; 0: none does */
	bool bound;			/* what no schedule can beat, too */
	/* NULL, or called ten times a second: *share* of all the work, parts of trials counted, and
	 * how many trials are done. */
	void (*progress)(double share, uint32_t done, uint32_t trials, void *arg);
	void *progress_arg;
	/* NULL, or called when a trial has ended, in whatever order. */
	void (*ended)(uint32_t trial, void *arg);
	void *ended_arg;
	/* NULL, or not 0: no further trial begins; those that did not have no result. */
	const volatile sig_atomic_t *stop;
};

/* Run them all.  Returns 0, trials may have failed by themselves; -1 with *err when no
 * process can be made. */
int sl_sweep_run(struct sl_sweep *sweep, struct sl_error *err);

void sl_sweep_unmap(struct sl_mapped_schedule *schedule);

#endif
