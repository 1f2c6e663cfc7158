/* SPDX-License-Identifier: MIT */
/*
 * preempt.h - stopping running jobs for a job that waits: sl_plan_preempt().
 *
 * The plan finds the cheapest set of running jobs that makes a place for the job, reserves that place from when they are
 * expected to be gone, and holds it from now on (image/plan_image.h: hold, stop).  Whom Slurm lets be stopped the snapshot says
 * (sl_snapshot_may_stop()); whoever asks may leave some of these out, and says what each costs.  Whether a set will do
 * is decided by the code that places jobs, with the victims taken for gone.  So nobody is stopped whose end frees nothing
 * that the job can use, and none of a set can be left out.  Who can be, since others are stopped later in the plan or a reservation was
 * taken back, goes on after all.
 *
 * Stopped together or not at all are the components of a heterogeneous job, and running jobs of a user that say "gang=NAME" with
 * the same name in their comment, or "gang" of one array.  If one of them may not be stopped, none is; but whom Slurm does not let
 * be stopped for the job protects no others by what a comment says: he is left out of the gang, and goes on without it.
 *
 * Nobody stops in a circle: a job that was stopped for another one stops neither that one nor those for which that one
 * was stopped in its turn, for as long as the snapshot lists it (snapshot.h, stopped).
 *
 * Consolidation: with *elsewhere* only those are stopped that have another place, so that they can start again at once.  It is a
 * place on nodes that the job does not get, free for their whole walltime from when all of the set are gone, and all of the set
 * have theirs side by side.  Of the sets that make room for the job, and do not without any of their jobs, it is the cheapest of which
 * that is true.  They are requeued, whatever Slurm's mode is, where Slurm allows that.
 *
 * A job with a held place (of this plan or an earlier one) is booked on that place and stops nobody else.  In the plan that stops
 * others for it, it does not start elsewhere.  If the place cannot
 * be had by the time until which it is held, it is released, and others are stopped at once for what is missing (if a node of it
 * has failed, say): what is left of the place is free, or comes free, for the job.  After a second such failure they are
 * stopped after a while (SL_PREEMPT_RETRY_S).
 */
#ifndef SL_PREEMPT_H
#define SL_PREEMPT_H

#include "model/plan.h"

/* Seconds after the last stop for a job whose place failed, for each place after the first that did, until others are stopped for it.
 * The first is replaced at once: those who were told to end count as gone, so that fewer are needed.  Stops after which the job has
 * started (of an array: one of its tasks) do not count. */
#define SL_PREEMPT_RETRY_S 300

/* Seconds for which a place is held beyond the time at which it is expected to be free. */
#define SL_PREEMPT_HOLD_S 600

struct sl_preempt_terms {
	int64_t at;			/* it is to start then, or later; 0: as soon as others can be gone */
	double wait_price;		/* what an hour of waiting costs; less than 0: it does not wait, whatever others cost */
	double max_cost;		/* of a set that is dearer nobody is stopped; 0: whatever it costs */
	bool elsewhere;			/* only jobs are stopped, and requeued, that have another place */
	uint32_t max_victims;		/* jobs stopped for it at most; 0: any number */
	uint32_t max_a_cycle, max_an_hour;	/* jobs stopped for anybody, in this plan and with the last hour's; 0: any number */
	uint32_t max_of_user, max_of_partition;	/* the same, of one user or partition; 0: any number */
	uint32_t mode;			/* SL_STOP_*: REQUEUE or EXPEDITE where Slurm allows it; else as Slurm has it */
	uint64_t most_work;		/* units (base/effort.h) of the search; 0: SL_PREEMPT_WORK, or ..._ELSEWHERE */
	double most_mip;		/* seconds of work (mip.h) of an integer program where that does not prove it; 0: SL_PREEMPT_MIP;
					 * less than 0: none is solved */
	/* May that running job (row) be stopped for the other?  1, 0, or -1 with *err.  NULL: all may. */
	int (*may)(void *arg, uint32_t victim, uint32_t job, struct sl_error *err);
	/* What that costs: 0 to SL_PREEMPT_MOST_COST; others are refused with both jobs named.  0, or -1 with *err.  NULL:
	 * sl_preempt_cost(). */
	int (*cost)(void *arg, uint32_t victim, uint32_t job, double *cost, struct sl_error *err);
	void *arg;
};

/* Restarts that count for what a stop costs. (Who requeues a job Slurm does not say; users may, as often as they like.) */
#define SL_PREEMPT_MOST_RESTARTS 3

#define SL_PREEMPT_WORK UINT64_C(40000000)
#define SL_PREEMPT_WORK_ELSEWHERE UINT64_C(4000000)	/* with *elsewhere*, where most jobs that wait are asked about in vain */
#define SL_PREEMPT_MIP 0.2
#define SL_PREEMPT_MIP_OF_PLAN 1.0	/* for all jobs of one plan together */
#define SL_PREEMPT_MOST_COST 1e15	/* of one job: sums of these are still exact enough to be compared */

struct sl_preempt_answer {
	enum sl_verdict verdict;
	bool is_held;			/* its place is held already: nobody is stopped */
	bool waits;			/* to wait costs less, or a set costs more than it may */
	int64_t start;			/* when it is to start; 0: it has no place */
	int64_t alone;			/* when it would start if nobody were stopped, as far as that was asked; 0: it was not, or never */
	double cost, bound;		/* of a set that was found, also where the job waits instead */
	uint32_t *victim;		/* rows of those who are stopped; the answer's */
	uint32_t victims;
	struct sl_move {		/* with *elsewhere*: where each of them has a place; the answer's */
		uint32_t job;		/* its row */
		struct sl_nodeset nodes;
	} *move;
	uint32_t moves;
	uint32_t permitted;		/* jobs that might have been */
	uint32_t sets;			/* that were compared */
	struct sl_refusal why;		/* there is no place; or why it waits */
};

/*
 * Stop others for an entry of the queue.  1: it is reserved, and its place held; 0: it is not, with answer->why; -1 with *err:
 * misuse, lack of memory, what the callbacks said (SL_ESCRIPT).  Another error is the planner's, and costs the job only: it
 * is left out for a while.  While the callbacks are asked nothing may be asked of the plan, nor decided.  The answer is to be ended with sl_preempt_answer_free() in each case.
 * *terms* may be NULL.  The guard is asked as for a start.
 */
int sl_plan_preempt(struct sl_plan *p, struct sl_entry e, const struct sl_preempt_terms *terms,
		    struct sl_preempt_answer *answer, struct sl_error *err);
void sl_preempt_answer_free(struct sl_preempt_answer *a);

/*
 * The work that a running job would lose if it were stopped now, in core-hours (or GPU-hours: of a job with GPUs these are counted,
 * each as its share of the machine's cores): since its start or, if its comment says "checkpoint=MINUTES", since the last of
 * these; times one more than it was requeued before, of these restarts three at most; and a minute for ending it.  A suspended job loses none.
 */
double sl_preempt_cost(const struct sl_cluster *c, uint32_t job, double cores_per_gpu);

/*
 * From now on who is preempted in that partition is this plan's to say: for jobs of it that the plan could stop others for, Slurm's select
 * is not asked (sl_plan_next_preempting()), and no start is expected from its preempting somebody.  sl_plan_preempt() does so for its entry's
 * partition.  What only select can place stays select's.  0, or -1 with *err.
 */
int sl_plan_own_stops(struct sl_plan *p, uint32_t partition, struct sl_error *err);

/* The machine's cores for each of its GPUs, of nodes with gres; 1 without GPUs.  Walks over the nodes. */
double sl_preempt_cores_per_gpu(const struct sl_cluster *c);

/* The work of that running job, as a plan counts it where the policy says nothing else. */
double sl_plan_lost_work(struct sl_plan *p, uint32_t job);

/* What stands behind a word in a list of words, text between blanks, commas and semicolons: "=..." or nothing; NULL: the word is
 * not in it. */
const char *sl_preempt_word(const char *text, const char *name);

/* Seconds between two checkpoints of a job with that comment ("checkpoint=30" says minutes); 0: it makes none. */
int64_t sl_preempt_checkpoint_s(const char *comment);

#endif
