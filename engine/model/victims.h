/* SPDX-License-Identifier: MIT */
/*
 * victims.h - which running jobs to stop, so that a job fits: the cheapest set.
 *
 * The search knows groups of jobs (of which all are stopped or none), what each costs, and a question: does the job fit if
 * these are gone?  Whoever asks answers it with the code that places jobs.  Stopping more never makes the job fit less.
 *
 * What the job needs at least is told besides, in numbers, so that a set can be shown to be the cheapest without trying
 * all: each of its nodes has to have some amounts (*claim*), and all of them together some amounts (*total*), in as many
 * nodes as *min_nodes*.  Amounts are of *dims* kinds: cores, memory, gres.  From these follow bounds: a node is of use only if
 * what is stopped there covers what its claim lacks; a sum has to be covered by somebody.  A job that needs less than that
 * says would be denied a set, so these numbers may be too low and never too high.
 *
 * A set may have to be *accepted*, too, by a question of which nothing follows for other sets: do those who are stopped have places
 * elsewhere?  Then the cheapest is looked for among the sets that are accepted, make the job fit, and do not without any of their groups.
 *
 * Ownership: the problem borrows all of its lists; a choice owns its.  Threads: none.
 */
#ifndef SL_VICTIMS_H
#define SL_VICTIMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "image/plan_image.h"

#define SL_VICTIM_DIMS 10

/* What is freed on one node if the group is stopped. */
struct sl_victim_piece {
	uint32_t group, node;		/* numbers, from 0 */
	int64_t amount[SL_VICTIM_DIMS];
};

struct sl_victim_node {
	int64_t free[SL_VICTIM_DIMS];	/* at most, with nobody stopped */
	int64_t claim[SL_VICTIM_DIMS];	/* that the job needs at least, if it has the node */
};

struct sl_victims {
	uint32_t groups;
	const double *cost;		/* by group, finite and not negative */
	uint32_t dims, nodes, pieces;
	const struct sl_victim_node *node;
	const struct sl_victim_piece *piece;	/* in the order of their nodes */
	int64_t total[SL_VICTIM_DIMS];
	uint32_t min_nodes, max_nodes;	/* that it has; the latter 0: any number */
	double most_mip;		/* seconds of work (mip.h) for an integer program; 0: none is tried */
	bool bounded;			/* these numbers are known; else only trying shows anything */
	uint64_t most_work;		/* units (base/effort.h) for the search, beside those of the questions */
	bool (*has_enough)(void *arg);	/* no more questions; NULL: as many as it takes */
	/* At first nobody is gone.  0, or -1 with *err. */
	int (*set_gone)(void *arg, uint32_t group, bool gone, struct sl_error *err);
	int (*fits)(void *arg, struct sl_error *err);	/* 1, 0 or -1 */
	int (*accepts)(void *arg, struct sl_error *err);	/* 1, 0 or -1, of a set that fits; NULL: all sets are accepted */
	void *arg;
};

struct sl_choice {
	enum sl_verdict verdict;	/* OPTIMAL, FOUND, IMPOSSIBLE; UNPROVEN: all together would do, and no set was found in the work there is */
	bool none_accepted;		/* IMPOSSIBLE: there are sets that would do, and none of them is accepted */
	bool *stopped;			/* by group */
	uint32_t count;
	double cost, bound;
	uint32_t looks;			/* questions asked */
	uint32_t sets;			/* sets that would do and were compared */
	double mip_work;		/* seconds of it that were spent */
	bool mip_hung;			/* the clock ended the solver, after some seconds in which it was not done */
};

/*
 * Find the cheapest set.  No group of it can be left out.  When this returns nobody is gone, whatever it returns: 0 with
 * *choice, or -1 with *err.  End it with sl_choice_free().
 */
int sl_victims_choose(const struct sl_victims *v, struct sl_choice *choice, struct sl_error *err);
void sl_choice_free(struct sl_choice *c);

#endif
