/* SPDX-License-Identifier: MIT */
/*
 * metrics.h - what came of a schedule, in figures.
 *
 * A simulation feeds each job once, when it has ended, and asks for the result in
 * the end.  Definitions are those of the IPSCHED and AUCSCHED papers:
 *
 *	makespan	last end - first submission, of the jobs fed
 *	utilization	sum of cores asked for x runtime / (cores x makespan); of a job that ran
 *			as an alternative, the cores that this asks for
 *	wait		start - submission; of a job that was requeued, its first start
 *	slowdown	(wait + runtime) / runtime; of a job that was requeued (end - submission) / its work
 *	bsld		max(1, (wait + runtime) / max(runtime, 10 s))
 *	fragmentation	contiguous blocks of nodes that a job has
 *	spread		(last node - first node + 1) / nodes
 *	packing		nodes / fewest nodes that could hold it on the empty machine
 *
 * Of runs that were stopped for other jobs ("stops"): lost is what they held for work that is to be done again, GPU- and
 * core-seconds of it.  What a run did before its last checkpoint is not lost.  The share that is lost is of all that jobs held.
 * Preemptors are jobs that may have others stopped.
 *
 * A standard deviation is that of all jobs (divided by n).  Percentiles are by
 * nearest rank.  Memory: 8 bytes a job, and about 100 a user.
 *
 * Ownership: metrics borrow the snapshot, which must outlive them.  Threads: none.
 */
#ifndef SL_METRICS_H
#define SL_METRICS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/bound.h"
#include "image/snapshot.h"

#define SL_BSLD_TAU 10		/* seconds */

struct sl_metrics;

/* A job that has ended.  Begin with { .job = row, .start_s = ..., .end_s = ... } and
 * call sl_ended_node() for each of its nodes, in ascending order. */
struct sl_ended {
	uint32_t job;			/* row in snapshot.job */
	uint32_t shape;			/* the alternative as which it ran; 0: as asked */
	int64_t start_s, end_s;
	int64_t first_start_s;		/* of a job that was requeued; 0: that start */
	int64_t kept_s;			/* seconds of work that its earlier runs did */
	bool killed;			/* at its walltime */
	bool cancelled;			/* for another job */
	uint64_t cores, gpus;		/* held, on all nodes */
	uint32_t nodes, blocks, first, last;
};

static inline void sl_ended_node(struct sl_ended *e, uint32_t node, uint32_t cores, uint32_t gpus)
{
	if (!e->nodes)
		e->first = node;
	if (!e->nodes || node != e->last + 1)
		e->blocks++;
	e->last = node;
	e->nodes++;
	e->cores += cores;
	e->gpus += gpus;
}

/* Consecutive nodes of a job, with so many cores and GPUs held on each. */
struct sl_stretch {
	uint32_t first, count, cores, gpus;
};

struct sl_moments {			/* of some quantity over jobs */
	double mean, sd, max;
};

/* Jobs by cores asked for and by runtime. */
#define SL_SIZE_BINS 6
#define SL_LENGTH_BINS 6
extern const uint32_t sl_size_bin[SL_SIZE_BINS];	/* smallest number of cores of each bin */
extern const int64_t sl_length_bin[SL_LENGTH_BINS];	/* smallest runtime of each bin, seconds */

struct sl_class_result {
	uint64_t jobs;
	double wait_mean_s, wait_max_s, slowdown_mean, bsld_mean;
	double core_s;			/* cores asked for x runtime */
};

struct sl_user_result {
	const char *user;		/* in the snapshot's pool; "" where it has none */
	uint64_t jobs;
	double wait_mean_s, wait_max_s, slowdown_mean, bsld_mean;
	double core_s;
	double first_wait_s;		/* of the job submitted first */
};

/* Runs that were ended for other jobs. */
struct sl_stop_figures {
	uint64_t stops, cancels, suspends;	/* all; those of them that were cancelled, suspended; the others were requeued */
	uint64_t moves;			/* of the requeued ones those that had another place to start again */
	double lost_core_s, lost_gpu_s;
	double moves_lost_core_s;	/* of the core-seconds those of the moves */
	double lost_core_share, lost_gpu_share;	/* of the core- and GPU-seconds that jobs held; filled in by sl_metrics_result() */
};

struct sl_result {
	uint64_t jobs;			/* fed */
	uint64_t unfinished;		/* rows of the snapshot that were not */
	uint64_t killed;
	bool partial;			/* set by the caller: the run was stopped */
	int64_t first_submit_s, last_end_s, makespan_s;
	uint64_t cores, gpus, nodes;	/* of the machine */
	double utilization;
	double held_utilization;	/* with the cores that jobs held, not asked for */
	double gpu_utilization;
	struct sl_moments wait_s, slowdown, bsld, fragmentation, spread, packing;
	double wait_median_s, wait_p99_s;
	uint32_t users;
	double user_wait_mean_s;	/* mean over users of the mean over their jobs */
	double user_wait_gini;		/* of those means: 0 equal, 1 one user waits for all */
	double first_wait_mean_s;	/* mean over users of the wait of the first job */
	struct sl_class_result class[SL_SIZE_BINS][SL_LENGTH_BINS];
	struct sl_stop_figures stopped;
	uint64_t holds, holds_failed;	/* places held for jobs; those that ended without a start; set by the caller */
	uint64_t preemptors;		/* jobs fed that may have others stopped */
	double preemptor_wait_mean_s, preemptor_wait_p99_s, preemptor_wait_max_s;
	uint64_t cycles;
	uint64_t asked;			/* those of them that were decided by asking a policy */
	uint64_t hidden_cycles;		/* in which a window hid queued jobs */
	uint32_t hidden_max;		/* most of them in a cycle */
	double cycle_us_p50, cycle_us_p99, cycle_us_max;	/* of those asked */
	double sim_wall_s;		/* set by the caller */
	double sim_cpu_s;		/* likewise: of the loop alone, in the thread that ran it, with the solvers of integer programs */
	uint64_t solves_cut;		/* that the clock ended (mip/mip.h); set by the caller */
	struct sl_bound bound;		/* set by the caller, or all zero */
};

struct sl_metrics *sl_metrics_create(const struct sl_snapshot *snap, struct sl_error *err);
void sl_metrics_destroy(struct sl_metrics *m);

/* Feed a job.  Returns 0, or -1 with *err: SL_EINVAL for one that was fed before,
 * started before its submission or has no nodes; SL_ENOMEM. */
int sl_metrics_ended(struct sl_metrics *m, const struct sl_ended *job, struct sl_error *err);

/* Feed a run that was ended for another job: SL_STOP_*, what it had from when to when, and the seconds of work that are lost. */
void sl_metrics_stopped(struct sl_metrics *m, uint32_t mode, bool moves, const struct sl_ended *run, int64_t lost_s);

/* Feed the duration of a cycle in which a policy was asked.  Percentiles of cycles are within 1 %. */
void sl_metrics_cycle(struct sl_metrics *m, double us);

/* Count a cycle in which nobody had to be asked. */
void sl_metrics_skipped(struct sl_metrics *m);

/* Feed how many queue entries a policy's window hid in a cycle. */
void sl_metrics_hidden(struct sl_metrics *m, uint32_t entries);

/* The figures so far.  Feeding may go on afterwards.  0, or -1 with *err. */
int sl_metrics_result(struct sl_metrics *m, struct sl_result *r, struct sl_error *err);

/* True if the workload has jobs that may have others stopped, or if some were: figures of stops mean something. */
bool sl_result_has_stops(const struct sl_result *r);

/* Per user, in the order of core-seconds, the greatest first.  *users is the
 * metrics' own, valid until the next call. */
int sl_metrics_users(struct sl_metrics *m, const struct sl_user_result **users, uint32_t *count,
		     struct sl_error *err);

/* -- as text and JSON (metrics_out.c) ------------------------------------- */

struct sl_json;

/*
 * The members of an object, keys as in schedlua(1): jobs, makespan_s, utilization,
 * wait_mean_s, ...; classes that have jobs; nothing about GPUs where there are none.
 * Without *timing* what may differ though the schedule is the same is left out: asked, cycle_us, sim_wall_s,
 * sim_cpu_s, solves_cut.
 */
void sl_result_json(struct sl_json *j, const struct sl_result *r, bool timing);

/* An array of one object a user. */
void sl_users_json(struct sl_json *j, const struct sl_user_result *users, uint32_t count);

/* For people: two columns, and a table of the classes. */
void sl_result_print(const struct sl_result *r, FILE *out);

#endif
