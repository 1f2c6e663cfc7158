/* SPDX-License-Identifier: MIT */
/*
 * stock.h - Slurm's own two schedulers, as a simulation's decisions (sl_sim_options.decide).
 *
 * The main scheduler goes through the queue in its order whenever a job comes or ends.  A job that does not fit closes
 * its partition, and those whose nodes it has, until the next time.  sched/backfill comes bf_interval seconds after it came
 * last, or later with the next change, if nothing has changed since.  It gives each job that it looks at a reservation of
 * whole nodes, from the beginning of the resolution (a minute) in which the job would start, and starts what fits beside
 * all of them.  The reservation's nodes are those that select would take then, also such as are free already.  That is
 * _attempt_backfill() and schedule() of 22.05, but for what takes time there: here both decide within an instant.  It makes
 * SL_PLAN_BLOCKS_MAX reservations at most.
 *
 * Threads: none.
 */
#ifndef SL_STOCK_H
#define SL_STOCK_H

#include "base/error.h"
#include "model/plan.h"

struct sl_stock_options {
	bool builtin;			/* sched/builtin: no backfill */
	bool pool;			/* nodes are none, but processors together: reservations are of processors */
	int64_t bf_interval_s, bf_window_s, bf_resolution_s;
	uint32_t bf_max_job_test, default_queue_depth;
	/* priority/multifactor: how much a job's age adds, and after which time no more; 0: nothing */
	double age_weight;
	int64_t max_age_s;
	int64_t calc_period_s;		/* how often that is computed anew */
};

/* Slurm's defaults. */
struct sl_stock_options sl_stock_defaults(void);

/* What a slurm.conf says of them.  0, or -1 with *err. */
int sl_stock_read(struct sl_stock_options *opt, const char *path, struct sl_error *err);

struct sl_stock {
	struct sl_stock_options opt;
	int64_t wake_at;		/* for sl_sim_options.wake_at; INT64_MIN: none */

	/* private */
	int64_t backfilled_s;		/* when backfill came last */
	bool changed;			/* a job came or ended since then */
	bool *closed;			/* partitions */
	uint8_t *within;		/* [a * partitions + b]: all nodes of a are nodes of b */
};

/* Begin with { .opt = ... }.  0, or -1 with *err. */
int sl_stock_open(struct sl_stock *s, const struct sl_snapshot *snap, struct sl_error *err);
void sl_stock_close(struct sl_stock *s);

/* For sl_sim_options.decide, with the struct sl_stock as its argument. */
int sl_stock_decide(struct sl_cluster *c, struct sl_plan *p, void *stock, struct sl_error *err);

#endif
