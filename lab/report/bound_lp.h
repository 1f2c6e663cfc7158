/* SPDX-License-Identifier: MIT */
/*
 * bound_lp.h - the pattern LP of bound.c: prices for parts of jobs.
 *
 * Ownership: the caller's arrays are borrowed.  Threads: none.
 */
#ifndef SL_BOUND_LP_H
#define SL_BOUND_LP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define SL_BOUND_ROWS 64	/* most kinds of demand */
#define SL_BOUND_NODES 32	/* most kinds of nodes */

struct sl_bound_item {		/* a part of a job that can be on a node */
	uint32_t cores, gpus;
	uint32_t row;		/* which demand it serves */
	uint32_t gain;		/* and how much of it, per second */
	bool whole;		/* takes a whole node, whatever it has */
};

struct sl_bound_node {		/* nodes that are alike */
	uint32_t nodes, cores, gpus;
};

struct sl_bound_problem {
	const struct sl_bound_item *item;
	uint32_t items;
	const struct sl_bound_node *node;
	uint32_t kinds;
	const double *demand;	/* by row, > 0 */
	uint32_t rows;
};

/*
 * Prices, one for each row and not negative, that make the bound as good as can be,
 * and their worth: the least time in which nodes that earn those prices can earn the
 * demand.  That is a bound whether or not the LP was solved to its end.  Returns the
 * number of patterns tried, or -1 with *err (SL_ENOMEM).
 */
int64_t sl_bound_prices(const struct sl_bound_problem *p, double *price, double *earning, struct sl_error *err);

#endif
