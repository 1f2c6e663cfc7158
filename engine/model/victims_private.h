/* SPDX-License-Identifier: MIT */
/* victims_private.h - the inside of the search for victims, for victims*.c only. */
#ifndef SL_VICTIMS_PRIVATE_H
#define SL_VICTIMS_PRIVATE_H

#include "model/victims.h"

enum { VICTIM_OPEN, VICTIM_STOPPED, VICTIM_KEPT };	/* what is decided of a group */

struct victim_item {
	uint32_t group;
	int64_t amount;			/* more than 0 */
	double cost;
};

struct victim_bounds {
	const struct sl_victims *v;
	uint32_t *first;		/* [node] its first piece; the next one's is where they end */
	double *spread;			/* [group] nodes that it is on */
	uint64_t work;			/* done so far, in units (base/effort.h) */
	/* what follows is room to work in */
	struct victim_item *item;
	double *number, *sorted;
	int64_t *sum;			/* [group] */
	double *node_cost;		/* [node] of the latest bound: INFINITY where it is of no use whoever is stopped */
};

int victims_begin_bounds(struct victim_bounds *b, const struct sl_victims *v, struct sl_error *err);
void victims_end_bounds(struct victim_bounds *b);

/* What a set that agrees with *state* costs at least, beside what is stopped already; INFINITY: there is none. */
double victims_bound(struct victim_bounds *b, const uint8_t *state);

/* As an integer program.  1 with *chosen, by group: a proposal; 0: it has none; -1.  *out in each case. */
struct sl_proposal {
	double bound;			/* no set costs less, as far as the solver's numbers go */
	double work;			/* seconds, as in mip.h */
	bool hung;			/* the clock ended the solver */
};
int victims_solve(const struct victim_bounds *b, bool *chosen, struct sl_proposal *out, struct sl_error *err);

/* The least that it costs to cover *lack* by some of the items, or a lower bound of it.  Changes their order. */
double victims_cover(struct victim_bounds *b, struct victim_item *item, uint32_t n, int64_t lack);

#endif
