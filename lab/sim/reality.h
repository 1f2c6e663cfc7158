/* SPDX-License-Identifier: MIT */
/*
 * reality.h - a log that says when its jobs really started (sl_workload.real), simulated as it was: what to change in the
 * cluster before each pass, and the two starts of each job beside each other.
 *
 * The queue is in Slurm's order: PriorityTier, priority, submission.  Where the age of a job adds to its priority
 * (sl_stock_options.age_weight), that part is the one of the instant, so that jobs that wait longer here than they did go on
 * rising.  The recorded priority is that of the job's start, its age included, or that of its submission (22.05's database
 * keeps that one): the latter where one is recorded that is less than what the age alone would have added by its start.
 * Recorded priorities are whole numbers, and those at any instant are, but not what they are the sum of: where the part of the job's size
 * is the only other one that may have a fraction (sl_stock_options.size_weight), the sum is made of this part as it was.
 * Where no priority is recorded, jobs are in the order in which they became eligible.
 *
 * Ownership: borrows the workload.  Threads: none.
 */
#ifndef SL_REALITY_H
#define SL_REALITY_H

#include "report/agreement.h"
#include "sim/sim.h"
#include "sim/stock.h"

#define SL_REALITY_PHASES_MAX 60

struct sl_reality {
	const struct sl_workload *workload;
	struct sl_stock_options stock;
	/* sl_reality_begin() */
	bool aged;			/* recorded priorities have the age in them */
	double cpus;			/* of the machine */
};

/* Find out what the recorded priorities are, when workload and stock are there. */
void sl_reality_begin(struct sl_reality *r);

/* For sl_sim_options.before_pass, with a struct sl_reality as its argument. */
int sl_reality_before_pass(struct sl_cluster *c, int64_t now, void *reality, struct sl_error *err);

/* For sl_stock_options.nodes, with a struct sl_reality as its argument: the nodes of a job that ran when what the source tells begins. */
const struct sl_nodeset *sl_reality_nodes(const void *reality, uint32_t row);

/* What is compared. */
struct sl_reality_jobs {
	struct sl_agreement_job *job;
	uint32_t jobs;
	uint32_t ran, negative, unknown, never;	/* left out: ran when it begins; see sl_real; no start recorded; started by nobody
						 * in the simulation */
};

/* Of a log that was simulated with keep_schedule.  0, or -1 with *err; free job in any case. */
int sl_reality_gather(struct sl_reality_jobs *r, const struct sl_workload *w, const struct sl_sim *sim, struct sl_error *err);

/*
 * Of several simulations of one log, which differ in the second at which backfill comes: *sum gets the starts of *r added, and in
 * the end each job's mean.  sl_reality_add() takes the jobs of the first one over; those that another one does not start count
 * for the others.  0, or -1 with *err.
 */
struct sl_reality_sum {
	struct sl_reality_jobs jobs;	/* simulated_s: the mean, after sl_reality_mean() */
	int64_t *total_s;		/* of their starts, relative to the real ones */
	uint32_t *times;
	double mean_s[SL_REALITY_PHASES_MAX];	/* mean wait of each simulation */
	uint32_t simulations;
	int64_t *best_s;		/* starts in that simulation which has most of them within a second of the real ones; and how many these are */
	uint32_t most, least;
};
int sl_reality_add(struct sl_reality_sum *sum, struct sl_reality_jobs *r, struct sl_error *err);
void sl_reality_mean(struct sl_reality_sum *sum);

/* simulated_s becomes that of the simulation which has most starts within a second of the real ones, instead. */
void sl_reality_best(struct sl_reality_sum *sum);
void sl_reality_sum_free(struct sl_reality_sum *sum);

/* The standard deviation of these mean waits; 0 for one. */
double sl_reality_spread(const struct sl_reality_sum *sum);

/* The same of a recording (sim/replay.h); starts and ends within it are compared. */
struct sl_replay;
int sl_reality_gather_recorded(struct sl_reality_jobs *r, const struct sl_replay *replay, const struct sl_sim *sim,
			       struct sl_error *err);

#endif
