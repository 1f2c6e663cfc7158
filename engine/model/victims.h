/* SPDX-License-Identifier: MIT */
/*
 * victims.h - which running jobs to stop so that a job fits: the cheapest set.
 *
 * The search knows groups of jobs (stopped together or not at all), the cost of each, and a question: does the job fit if
 * these are gone?  The caller answers it by placing the job.  Stopping more jobs never makes the job fit less.
 *
 * The search also knows lower bounds of what the job needs, so that it can prove a set to be the cheapest without trying all:
 * each of its nodes needs some amounts (*claim*), and all of them together need some amounts (*total*), on at least
 * *min_nodes* nodes.  There are *dims* kinds of amounts: cores, memory, gres.  Bounds on the cost follow: a node is useful
 * only if the stops there cover what its claim lacks, and some stops must cover what the total lacks.  These numbers may be
 * too low but never too high, or sets that suffice would be missed.
 *
 * A set may also have to be *accepted*, by a question whose answer implies nothing for other sets: do the stopped jobs have
 * places elsewhere?  Then the result is the cheapest set that is accepted, makes the job fit, and does not without any of its
 * groups.
 *
 * Ownership: the problem borrows its lists; a choice owns its list.  Threads: none.
 */
#ifndef SL_VICTIMS_H
#define SL_VICTIMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "image/plan_image.h"

#define SL_VICTIM_DIMS 10

/* What stopping a group frees on one node. */
struct sl_victim_piece {
	uint32_t group, node;		/* numbers, from 0 */
	int64_t amount[SL_VICTIM_DIMS];
};

struct sl_victim_node {
	int64_t free[SL_VICTIM_DIMS];	/* upper bound of what is free with no job stopped */
	int64_t claim[SL_VICTIM_DIMS];	/* lower bound of what the job needs there, if it uses the node */
};

struct sl_victims {
	uint32_t groups;
	const double *cost;		/* by group, finite and not negative */
	uint32_t dims, nodes, pieces;
	const struct sl_victim_node *node;
	const struct sl_victim_piece *piece;	/* in node order */
	int64_t total[SL_VICTIM_DIMS];
	uint32_t min_nodes, max_nodes;	/* number of its nodes; max_nodes 0: no limit */
	double most_mip;		/* seconds of work (mip.h) for an integer program; 0: none */
	bool bounded;			/* these numbers are known; else sets can only be tried */
	uint64_t most_work;		/* units (base/effort.h) for the search itself, without the questions */
	bool (*has_enough)(void *arg);	/* stop asking questions; NULL: no limit */
	/* Initially no group is gone.  0, or -1 with *err. */
	int (*set_gone)(void *arg, uint32_t group, bool gone, struct sl_error *err);
	int (*fits)(void *arg, struct sl_error *err);	/* 1, 0 or -1 */
	int (*accepts)(void *arg, struct sl_error *err);	/* is a set that fits accepted?  1, 0 or -1; NULL: always */
	void *arg;
};

struct sl_choice {
	enum sl_verdict verdict;	/* OPTIMAL, FOUND, IMPOSSIBLE; UNPROVEN: stopping all suffices, but the work did
					 * not suffice to find a set */
	bool none_accepted;		/* IMPOSSIBLE: some sets suffice, but none is accepted */
	bool *stopped;			/* [group] */
	uint32_t count;
	double cost, bound;
	uint32_t looks;			/* number of questions asked */
	uint32_t sets;			/* number of sufficient sets compared */
	double mip_work;		/* seconds spent on the integer program */
	bool mip_hung;			/* the solver was ended by the clock */
};

/* Find the cheapest set; no group of it is superfluous.  On return no group is gone, in every case.  0 with *choice, or -1
 * with *err.  End it with sl_choice_free(). */
int sl_victims_choose(const struct sl_victims *v, struct sl_choice *choice, struct sl_error *err);
void sl_choice_free(struct sl_choice *c);

#endif
