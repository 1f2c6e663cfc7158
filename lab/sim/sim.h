/* SPDX-License-Identifier: MIT */
/*
 * sim.h - a workload, driven through a policy by discrete events.
 *
 * The simulator moves the jobs of a workload on the same cluster model, with the
 * same script, plan and placement that run in slurmctld; it adds the clock and
 * nothing of its own to a decision (a promised one it makes by itself: sim/pool.h).  At one instant terminations come first,
 * then arrivals, then one pass of the policy.  In interval mode passes are made
 * as the plug-in makes them: every interval_s seconds, and what is decided takes
 * effect latency_s later, if it is still free then.
 *
 * A job ends when it has run for as long as its workload says, or at its walltime
 * where the policy shortened that.
 *
 * The script is kept from pass to pass, where production makes a fresh one each
 * cycle: a policy that keeps state between decisions is told apart by
 * `schedlua check`.
 *
 * Where jobs may be stopped for others (preempt_mode), the queue is in the order of priority, then of submission, and stops and
 * held places of a plan are carried out (sim/stops.h).
 *
 * Jobs of the workload that run already when it begins (the first rows, with their
 * alloc) go on running to their end; metrics do not count them.
 *
 * Same workload, options and seed: same schedule, byte for byte.
 *
 * Ownership: borrows workload and script.  Threads: none; *stop* may be set by a
 * signal handler.
 */
#ifndef SL_SIM_H
#define SL_SIM_H

#include <signal.h>

#include "report/metrics.h"
#include "script/script.h"
#include "workload/workload.h"

struct sl_sim_options {
	int64_t interval_s;		/* 0: a pass at every instant at which something happens */
	int64_t latency_s;		/* interval mode: from decision to start */
	int64_t requeue_wait_s;		/* a requeued job (stops.h) may start again after that */
	bool each_end;			/* a pass after each job that ends, not one for the instant */
	bool arrivals_first;		/* likewise, and one before them where jobs arrive in that second */
	bool check;			/* check the whole schedule in the end (check/check.h) */
	bool keep_schedule;		/* keep start and layout of each job (reports, --jobs) */
	int64_t until_s;		/* not 0: end after this instant, whatever still runs or waits */
	const struct sl_limits *limits;	/* of each pass; NULL: none but memory */
	const volatile sig_atomic_t *stop;	/* not 0: end with the metrics so far */

	/* Called before each pass, may be NULL: replay puts the queue in the order that it
	 * had then.  Returns 0, or -1 with *err.  Passes are made at these instants, too. */
	const int64_t *wake_s;
	uint32_t wakes;
	int (*before_pass)(struct sl_cluster *c, int64_t now, void *arg, struct sl_error *err);
	void *before_pass_arg;
	/* Called after each decision, before it is carried out, may be NULL. */
	int (*after_pass)(struct sl_cluster *c, struct sl_plan *p, void *arg, struct sl_error *err);
	void *after_pass_arg;
	/* Asked where the simulator has decided without a plan of the policy (sl_sim_starts() says what), with what the policy
	 * promised, or NULL: it starts none.  True: that plan is made after all, and after_pass sees it.  If this is NULL,
	 * after_pass sees each plan; otherwise those that are made.  Its argument is after_pass_arg. */
	bool (*wants_plan)(struct sl_cluster *c, const struct sl_promise *by, void *arg);

	/* Asked before each instant, may be NULL: true ends the simulation as *stop does. */
	bool (*is_enough)(void *arg);
	void *is_enough_arg;

	/* Decides in the place of the script, may be NULL: 0, or -1 with *err. */
	int (*decide)(struct sl_cluster *c, struct sl_plan *p, void *arg, struct sl_error *err);
	void *decide_arg;

	/* A pass is made then, too, if it lies ahead and jobs wait; decide may move it.  May be NULL. */
	const int64_t *wake_at;

	/* Called about ten times a second of wall time, may be NULL. */
	void (*progress)(uint64_t ended, uint64_t jobs, int64_t now, void *arg);
	void *progress_arg;
};

/* What became of a job; where it ran is in sl_sim_stretches(). */
struct sl_sim_job {
	int64_t start_s, end_s;		/* 0: never started; of a job that was requeued, its last run */
	int64_t first_s, work_s;	/* its first start; seconds of work that its runs did and that were not lost */
	uint32_t nodes, cores, gpus;
	uint32_t first_stretch, stretches;	/* of nodes, into the schedule's pool */
};

/* A run that was ended for another job (sim/stops.h); of a requeued job the last run is in sl_sim_job. */
struct sl_sim_stop {
	uint32_t job, preemptor;	/* rows; SL_NONE: for no job in particular, by a policy's own word */
	uint32_t mode;			/* SL_STOP_CANCEL, or it was requeued */
	uint32_t verdict;		/* SL_VERDICT_*, of the plan that stopped it */
	bool moves;			/* it had another place to start again, as the plan had it */
	int64_t start_s, told_s, end_s;	/* began; was told to end; ended */
	int64_t kept_s, lost_s;		/* seconds of work: up to the last checkpoint; that are to be done again */
	uint32_t nodes, cores, gpus;
	uint32_t first_stretch, stretches;
};

/* A schedule: what became of each row of the workload, the stretches of nodes of all, and the runs that were stopped. */
struct sl_schedule {
	const struct sl_sim_job *job;
	const struct sl_stretch *stretch;
	const struct sl_sim_stop *stop;
	uint32_t jobs, stretches, stops;
};

struct sl_sim;

/* Returns NULL with *err when the workload does not fit the model's ceilings. */
struct sl_sim *sl_sim_create(const struct sl_workload *w, struct sl_script *s, const struct sl_sim_options *opt,
			     struct sl_error *err);
void sl_sim_destroy(struct sl_sim *sim);

/*
 * Run to the end.  Returns 0; 1 when *stop ended it (the result says partial);
 * -1 with *err: the policy failed (SL_ESCRIPT, with the simulated time, and *trace,
 * malloc'ed, how it came to it; *trace may be NULL), the schedule failed its check, or
 * the policy starts no job at all (SL_EINVAL, naming the first one in the queue).  Jobs
 * that it never starts, when others have ended, are what the result calls unfinished.
 */
int sl_sim_run(struct sl_sim *sim, char **trace, struct sl_error *err);

/* Figures so far; the bound is not filled in (report/bound.h). */
int sl_sim_result(struct sl_sim *sim, struct sl_result *r, struct sl_error *err);
struct sl_metrics *sl_sim_metrics(struct sl_sim *sim);

/* True if the decision that is being made starts that job, a row. */
bool sl_sim_starts(const struct sl_sim *sim, uint32_t job);

/* The runs that have ended so far, as policies know them; the simulation's.  NULL with *err: out of memory. */
struct sl_history *sl_sim_history(struct sl_sim *sim, struct sl_error *err);

/* With keep_schedule: per job row.  NULL otherwise. */
const struct sl_sim_job *sl_sim_schedule(const struct sl_sim *sim);
const struct sl_stretch *sl_sim_stretches(const struct sl_sim *sim);
struct sl_schedule sl_sim_whole_schedule(const struct sl_sim *sim);

#endif
