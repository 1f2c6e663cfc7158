/* SPDX-License-Identifier: MIT */
/* victims_private.h - the inside of the search for victims, for victims*.c only. */
#ifndef SL_VICTIMS_PRIVATE_H
#define SL_VICTIMS_PRIVATE_H

#include "model/victims.h"

enum { VICTIM_OPEN, VICTIM_STOPPED, VICTIM_KEPT };	/* state of a group in the search */

struct victim_item {
	uint32_t group;
	int64_t amount;			/* positive */
	double cost;
};

struct victim_bounds {
	const struct sl_victims *v;
	uint32_t *first;		/* [node] index of its first piece; the next node's is the end */
	double *spread;			/* [group] number of nodes that it uses */
	uint64_t work;			/* done so far, in units (base/effort.h) */
	/* working memory */
	struct victim_item *item;
	double *number, *sorted;
	int64_t *sum;			/* [group] */
	double *node_cost;		/* [node] from the latest bound; INFINITY: useless whichever jobs are stopped */
};

int victims_begin_bounds(struct victim_bounds *b, const struct sl_victims *v, struct sl_error *err);
void victims_end_bounds(struct victim_bounds *b);

/* Lower bound of the cost of a set consistent with *state*, beyond what is stopped already; INFINITY: there is none. */
double victims_bound(struct victim_bounds *b, const uint8_t *state);

/* Solve as an integer program.  1 with *chosen [group]: a proposal; 0: none; -1.  *out is set in every case. */
struct sl_proposal {
	double bound;			/* no set costs less, within the solver's precision */
	double work;			/* seconds (mip.h) */
	bool hung;			/* the solver was ended by the clock */
};
int victims_solve(const struct victim_bounds *b, bool *chosen, struct sl_proposal *out, struct sl_error *err);

/* The least cost of covering *lack* with some of the items, or a lower bound of it.  Reorders the items. */
double victims_cover(struct victim_bounds *b, struct victim_item *item, uint32_t n, int64_t lack);

#endif
