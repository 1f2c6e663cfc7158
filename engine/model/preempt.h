/* SPDX-License-Identifier: MIT */
/*
 * preempt.h - stopping running jobs for a pending job: sl_plan_preempt().
 *
 * The plan finds the cheapest set of running jobs whose end makes a place for the job, reserves that place from the time when
 * they are expected to be gone, and holds it from now on (image/plan_image.h: hold, stop).  The snapshot says which jobs
 * Slurm allows to be stopped (sl_snapshot_may_stop()); the caller may exclude some and sets the cost of each.  Whether a set
 * suffices is tested by placing the job with the victims off the timeline.  So no job is stopped whose end frees nothing
 * useful, and no job of a set is superfluous.  A victim that becomes superfluous later, because others are stopped too or a
 * reservation is removed, goes on running.
 *
 * Gangs are stopped together or not at all: components of a heterogeneous job; running jobs of a user with the same
 * "gang=NAME" in their comment; tasks of an array with "gang".  If one member may not be stopped, none is.  But a job that
 * Slurm does not let be stopped for this job protects no others by its comment: it is left out of the gang and goes on
 * without it.
 *
 * No circles: a job that was stopped for another one stops neither that one nor the jobs for which that one was stopped, as
 * long as the snapshot lists this (snapshot.h, stopped).
 *
 * Consolidation: with *elsewhere*, only jobs with another place are stopped, so that they can start again at once.  Those
 * places are on nodes that the job does not get, free for their whole walltime from the time when all victims are gone, and
 * do not overlap.  Among the sets that make room for the job, and do not without any of their members, the cheapest with this
 * property is chosen.  The victims are requeued, whatever Slurm's mode is, if Slurm allows that.
 *
 * A job with a held place (of this or an earlier plan) is booked on it and stops no others.  In the plan that stops jobs for
 * it, it does not start elsewhere.  If the place is not available by the time until which it is held (a node failed, say), it
 * is released, and jobs are stopped at once for what is missing; what is left of the place is free for the job.  After a
 * second failure this waits for SL_PREEMPT_RETRY_S.
 */
#ifndef SL_PREEMPT_H
#define SL_PREEMPT_H

#include "model/plan.h"

/* Waiting time before jobs are stopped again for a job whose place failed: this many seconds after the last stop, for each
 * failed place but the first.  The first is replaced at once, because its victims have been told to end and fewer jobs are
 * needed.  Stops after which the job has started (of an array: one task) do not count. */
#define SL_PREEMPT_RETRY_S 300

/* Seconds for which a place is held after it is expected to be free. */
#define SL_PREEMPT_HOLD_S 600

struct sl_preempt_terms {
	int64_t at;			/* earliest start; 0: as soon as victims can be gone */
	double wait_price;		/* cost of an hour of waiting; negative: the job does not wait, whatever the stops
					 * cost */
	double max_cost;		/* most that a set may cost; 0: no limit */
	bool elsewhere;			/* stop, and requeue, only jobs that have another place */
	uint32_t max_victims;		/* most jobs to stop for this job; 0: no limit */
	uint32_t max_a_cycle, max_an_hour;	/* most jobs stopped for all jobs, in this plan and within an hour; 0: no
						 * limit */
	uint32_t max_of_user, max_of_partition;	/* the same per user and per partition of the victims; 0: no limit */
	uint32_t mode;			/* SL_STOP_*: REQUEUE or EXPEDITE if Slurm allows it; else Slurm's own mode */
	uint64_t most_work;		/* units (base/effort.h) for the search; 0: SL_PREEMPT_WORK, or
					 * SL_PREEMPT_WORK_ELSEWHERE */
	double most_mip;		/* seconds of work (mip.h) for an integer program if the search proves nothing; 0:
					 * SL_PREEMPT_MIP; negative: none */
	/* May the running job *victim* (a row) be stopped for *job*?  1, 0, or -1 with *err.  NULL: all may. */
	int (*may)(void *arg, uint32_t victim, uint32_t job, struct sl_error *err);
	/* Cost of that, 0 to SL_PREEMPT_MOST_COST; other values are an error that names both jobs.  0, or -1 with *err.
	 * NULL: sl_preempt_cost(). */
	int (*cost)(void *arg, uint32_t victim, uint32_t job, double *cost, struct sl_error *err);
	void *arg;
};

/* Most restarts that raise the cost of a stop.  Slurm does not record who requeued a job, and users may do so as often as
 * they like. */
#define SL_PREEMPT_MOST_RESTARTS 3

#define SL_PREEMPT_WORK UINT64_C(40000000)
#define SL_PREEMPT_WORK_ELSEWHERE UINT64_C(4000000)	/* with *elsewhere*, where most attempts are in vain */
#define SL_PREEMPT_MIP 0.2
#define SL_PREEMPT_MIP_OF_PLAN 1.0	/* for all jobs of one plan */
#define SL_PREEMPT_MOST_COST 1e15	/* of one job: sums stay precise enough for comparison */

struct sl_preempt_answer {
	enum sl_verdict verdict;
	bool is_held;			/* its place is already held: no job is stopped */
	bool waits;			/* waiting costs less, or the set costs more than max_cost */
	int64_t start;			/* its reserved start; 0: it has no place */
	int64_t alone;			/* its start if no job were stopped; 0: not computed, or never */
	double cost, bound;		/* of the set that was found, even if the job waits instead */
	uint32_t *victim;		/* rows of the stopped jobs; owned by the answer */
	uint32_t victims;
	struct sl_move {		/* with *elsewhere*: the new place of each of them; owned by the answer */
		uint32_t job;		/* row */
		struct sl_nodeset nodes;
	} *move;
	uint32_t moves;
	uint32_t permitted;		/* number of jobs that could be stopped */
	uint32_t sets;			/* number of sets compared */
	struct sl_refusal why;		/* why there is no place, or why it waits */
};

/*
 * Stop other jobs for a queue entry.  1: it is reserved, and its place is held; 0: it is not, see answer->why; -1 with *err:
 * misuse, lack of memory, failure of a callback (SL_ESCRIPT).  Any other error is the planner's and affects only this job,
 * which is left out for a while.  The callbacks must not use the plan.  End the answer with sl_preempt_answer_free() in every
 * case.  *terms* may be NULL.  The guard is asked as for a start.
 */
int sl_plan_preempt(struct sl_plan *p, struct sl_entry e, const struct sl_preempt_terms *terms,
		    struct sl_preempt_answer *answer, struct sl_error *err);
void sl_preempt_answer_free(struct sl_preempt_answer *a);

/*
 * The work that a running job loses if it is stopped now, in core-hours.  A job with GPUs counts its GPUs instead, each as
 * its share of the machine's cores.  Lost is the time since its start, or since the last checkpoint ("checkpoint=MINUTES" in
 * its comment), times 1 + the number of earlier restarts (at most three), plus a minute for ending it.  A suspended job loses
 * no work.
 */
double sl_preempt_cost(const struct sl_cluster *c, uint32_t job, double cores_per_gpu);

/*
 * From now on this plan alone decides which jobs are preempted for jobs of that partition: if the plan could stop jobs for a
 * job, Slurm's select is not asked (sl_plan_next_preempting()), and no reservation counts on its preempting others.
 * sl_plan_preempt() does this for its entry's partition.  Jobs that only select can place are left to select.  0, or -1 with
 * *err.
 */
int sl_plan_own_stops(struct sl_plan *p, uint32_t partition, struct sl_error *err);

/* Cores per GPU of the machine, over nodes with gres; 1 without GPUs.  Walks over all nodes. */
double sl_preempt_cores_per_gpu(const struct sl_cluster *c);

/* sl_preempt_cost() as this plan counts it if the policy sets no cost. */
double sl_plan_lost_work(struct sl_plan *p, uint32_t job);

/* Find a word in a list of words separated by blanks, commas or semicolons.  Returns what follows the word: "=..." or
 * nothing; NULL if the word is not there. */
const char *sl_preempt_word(const char *text, const char *name);

/* Seconds between checkpoints according to a comment ("checkpoint=30" is minutes); 0: none. */
int64_t sl_preempt_checkpoint_s(const char *comment);

#endif
