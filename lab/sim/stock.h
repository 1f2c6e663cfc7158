/* SPDX-License-Identifier: MIT */
/*
 * stock.h - Slurm's own two schedulers, as a simulation's decisions (sl_sim_options.decide).
 *
 * That is schedule() and _attempt_backfill() of 22.05, with the start that select foresees for a job (_will_run_test()), but for
 * what takes time there: here they decide within an instant.
 *
 * The main scheduler goes through the queue in its order when a job ends, and batch_sched_delay after it last did that for jobs
 * that came: those that come meanwhile are taken together.  A job that does not fit closes
 * its partition, and keeps that one's nodes from all jobs behind it, until the next time.
 *
 * sched/backfill comes every bf_interval seconds as long as jobs wait, else with the first change after that time.  It comes without a
 * change, too: where a walltime ends if the job starts now, and so what that is in the way of, differs each time.  (On a pool of
 * processors such visits are left out.)
 * A job that it looks at starts if it fits beside all reservations on nodes that none of them needs, or has one itself: of whole
 * nodes, those that select would take then, also such as are free already, from the beginning of the resolution (a minute) in
 * which the job would start.  When that is select finds out by taking away the running jobs in groups, in the order in which
 * their walltimes end: the farther away, the larger the groups, and the later the start that it foresees.
 *
 * A job that only select can place starts on nodes that it may choose itself, reserved or not.
 *
 * Threads: none.
 */
#ifndef SL_STOCK_H
#define SL_STOCK_H

#include "base/error.h"
#include "model/plan.h"
#include "sim/visits.h"

struct sl_stock_options {
	bool builtin;			/* sched/builtin: no backfill */
	bool pool;			/* nodes are none, but processors together: reservations are of processors */
	int64_t bf_interval_s, bf_window_s, bf_resolution_s, sched_interval_s, batch_sched_delay_s;
	int64_t bf_window_scale_s;	/* how much longer each group of select is than the one before; 0: twice as long */
	int64_t phase_s;		/* backfill came so many seconds before the simulation begins, and has jobs waiting */
	/* The nodes that a job has to have (NULL: any), with its argument; or NULL. */
	const struct sl_nodeset *(*nodes)(const void *arg, uint32_t job);
	const void *nodes_arg;
	const struct sl_visits *visits;	/* when backfill comes, if that is known: then as long as jobs wait; else NULL */
	uint32_t bf_max_job_test, default_queue_depth;
	/* priority/multifactor: how much a job's age adds, and after which time no more; 0: nothing */
	double age_weight;
	int64_t max_age_s;
	int64_t calc_period_s;		/* how often that is computed anew */
	int64_t calc_phase_s;		/* and how many seconds after a multiple of that */
	/* How much the size of a job that has the whole machine adds.  0 also where other parts of a priority may be no whole numbers. */
	double size_weight;
	bool favours_small;		/* so much the less a larger one */
};

/* A job of that priority or of a higher one, which none has in Slurm, is started as it comes, and takes nobody's turn. */
#define SL_STOCK_AT_ONCE INT64_C(0x100000000)

/* Slurm's defaults. */
struct sl_stock_options sl_stock_defaults(void);

/* What a slurm.conf says of them.  0, or -1 with *err. */
int sl_stock_read(struct sl_stock_options *opt, const char *path, struct sl_error *err);

/* The seconds of backfill and of priorities in simulation *i* of *n*, each evenly over its interval.  Both are 0 in the first one. */
void sl_stock_phase(struct sl_stock_options *opt, uint32_t i, uint32_t n);

struct sl_stock {
	struct sl_stock_options opt;
	int64_t wake_at;		/* for sl_sim_options.wake_at; INT64_MIN: none */

	/* private */
	int64_t backfilled_s;		/* when backfill came last */
	bool waited;			/* and left jobs that wait */
	bool changed;			/* a job came or ended since then, or is waiting for another one's end */
	int64_t came_s;			/* when the main one last went through it for jobs that came */
	uint32_t running, waiting;	/* jobs, after the last decision */
	int64_t went_through_s;		/* when the main one last went through the whole queue */
	bool *closed;			/* partitions */
	struct sl_nodeset gone;		/* nodes of those */
	struct sl_stock_work *work;
};

/* Begin with { .opt = ... }.  0, or -1 with *err. */
int sl_stock_open(struct sl_stock *s, const struct sl_snapshot *snap, struct sl_error *err);
void sl_stock_close(struct sl_stock *s);

/* For sl_sim_options.decide, with the struct sl_stock as its argument. */
int sl_stock_decide(struct sl_cluster *c, struct sl_plan *p, void *stock, struct sl_error *err);

#endif
