/* SPDX-License-Identifier: MIT */
/*
 * victims_bound.c - lower bounds of the cost of a set of victims; see victims.h
 *
 * Per node: the least cost of covering what its claim lacks.  A group on several nodes counts on each with an equal part of
 * its cost, so that it is never counted for more than its cost.  The job pays at least for the min_nodes cheapest nodes.  Per
 * total amount: the least cost of covering what is lacking, on useful nodes.  The larger bound is used.
 *
 * Covering one amount at least cost is a knapsack problem.  It is solved exactly if the amount is small; otherwise two bounds
 * are used: fractional items, best ratio first; and the least number of items, cheapest first.
 */
#include "model/victims_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_WORK 4000000	/* items times amount up to which the exact solution is computed, within the first quarter
				 * of the allowed work */

static int by_worth(const void *a, const void *b)
{
	const struct victim_item *x = a, *y = b;
	double p = x->cost * (double) y->amount, q = y->cost * (double) x->amount;

	if (p != q)
		return p < q ? -1 : 1;
	return (x->group > y->group) - (x->group < y->group);
}

static int by_cost(const void *a, const void *b)
{
	double x = *(const double *) a, y = *(const double *) b;

	return (x > y) - (x < y);
}

static int by_amount(const void *a, const void *b)
{
	int64_t x = ((const struct victim_item *) a)->amount, y = ((const struct victim_item *) b)->amount;

	return (x < y) - (x > y);
}

/* Bound by fractional items, best ratio first.  Leaves the items in that order. */
static double cover_in_fractions(struct victim_item *item, uint32_t n, int64_t lack)
{
	double sum = 0;

	qsort(item, n, sizeof(*item), by_worth);
	for (uint32_t i = 0; i < n && lack > 0; i++) {
		int64_t part = item[i].amount < lack ? item[i].amount : lack;

		sum += item[i].cost * (double) part / (double) item[i].amount;
		lack -= part;
	}
	return lack > 0 ? INFINITY : sum;
}

/* Lower bound: if at least n of the largest items are needed to cover *lack*, the n cheapest items cost no more. */
static double cover_by_count(struct victim_bounds *b, struct victim_item *item, uint32_t n, int64_t lack)
{
	double sum = 0;
	uint32_t least = 0;

	qsort(item, n, sizeof(*item), by_amount);
	for (; least < n && lack > 0; least++)
		lack -= item[least].amount;
	if (lack > 0)
		return INFINITY;
	for (uint32_t i = 0; i < n; i++)
		b->number[i] = item[i].cost;
	qsort(b->number, n, sizeof(*b->number), by_cost);
	for (uint32_t i = 0; i < least; i++)
		sum += b->number[i];
	return sum;
}

/* Exact solution by dynamic programming: best[a] is the least cost of covering *a*. */
static double cover_exactly(const struct victim_item *item, uint32_t n, int64_t lack)
{
	double *best = malloc(((size_t) lack + 1) * sizeof(*best)), found;

	if (!best)
		return 0;
	best[0] = 0;
	for (int64_t a = 1; a <= lack; a++)
		best[a] = INFINITY;
	for (uint32_t i = 0; i < n; i++)
		for (int64_t a = lack; a > 0; a--) {
			int64_t rest = a > item[i].amount ? a - item[i].amount : 0;

			if (best[rest] + item[i].cost < best[a])
				best[a] = best[rest] + item[i].cost;
		}
	found = best[lack];
	free(best);
	return found;
}

double victims_cover(struct victim_bounds *b, struct victim_item *item, uint32_t n, int64_t lack)
{
	double fractions, count;

	if (lack <= 0)
		return 0;
	b->work += 8 * (uint64_t) n;
	fractions = cover_in_fractions(item, n, lack);
	if (isinf(fractions))
		return fractions;
	count = cover_by_count(b, item, n, lack);
	if (count >= fractions && count > 0 && item[0].amount == item[n - 1].amount)
		return count;	/* exact, because all items are equal */
	if ((double) n * (double) lack <= EXACT_WORK && b->work < b->v->most_work / 4) {
		b->work += (uint64_t) n * (uint64_t) lack / 4;
		return cover_exactly(item, n, lack);
	}
	return count > fractions ? count : fractions;
}

/* -- nodes ----------------------------------------------------------------- */

/* How much of resource *d* the preemptor still lacks on node *n* if the groups marked as stopped in *state* are gone. */
static int64_t lack_on(const struct victim_bounds *b, uint32_t n, uint32_t d, const uint8_t *state)
{
	const struct sl_victims *v = b->v;
	int64_t lack = v->node[n].claim[d] - v->node[n].free[d];

	for (uint32_t i = b->first[n]; i < b->first[n + 1] && lack > 0; i++)
		if (state[v->piece[i].group] == VICTIM_STOPPED)
			lack -= v->piece[i].amount[d];
	return lack;
}

/* Lower bound of the cost of making a node useful. */
static double cost_of_node(struct victim_bounds *b, uint32_t n, const uint8_t *state)
{
	const struct sl_victims *v = b->v;
	double most = 0;

	for (uint32_t d = 0; d < v->dims; d++) {
		int64_t lack = lack_on(b, n, d, state);
		uint32_t items = 0;
		double cost;

		for (uint32_t i = b->first[n]; lack > 0 && i < b->first[n + 1]; i++) {
			const struct sl_victim_piece *p = &v->piece[i];

			if (state[p->group] == VICTIM_OPEN && p->amount[d] > 0)
				b->item[items++] = (struct victim_item) { p->group, p->amount[d],
									  v->cost[p->group] / b->spread[p->group] };
		}
		cost = victims_cover(b, b->item, items, lack);
		most = cost > most ? cost : most;
	}
	return most;
}

/* -- all together ------------------------------------------------------------ */

/* Lower bound of the cost of covering what all useful nodes together lack in dimension *d*. */
static double cost_of_total(struct victim_bounds *b, uint32_t d, const uint8_t *state)
{
	const struct sl_victims *v = b->v;
	int64_t lack = v->total[d];
	uint32_t items = 0;

	memset(b->sum, 0, v->groups * sizeof(*b->sum));
	for (uint32_t n = 0; n < v->nodes; n++) {
		if (isinf(b->node_cost[n]))
			continue;
		lack -= v->node[n].free[d] > 0 ? v->node[n].free[d] : 0;
		for (uint32_t i = b->first[n]; i < b->first[n + 1]; i++)
			b->sum[v->piece[i].group] += v->piece[i].amount[d];
	}
	for (uint32_t g = 0; g < v->groups; g++) {
		if (state[g] == VICTIM_STOPPED)
			lack -= b->sum[g];
		else if (state[g] == VICTIM_OPEN && b->sum[g] > 0)
			b->item[items++] = (struct victim_item) { g, b->sum[g], v->cost[g] };
	}
	return victims_cover(b, b->item, items, lack);
}

double victims_bound(struct victim_bounds *b, const uint8_t *state)
{
	const struct sl_victims *v = b->v;
	double bound = 0;
	uint32_t use = 0;

	if (!v->bounded)
		return 0;
	b->work += (v->pieces + (uint64_t) v->nodes) * v->dims;
	for (uint32_t n = 0; n < v->nodes; n++) {
		b->node_cost[n] = cost_of_node(b, n, state);
		if (!isinf(b->node_cost[n]))
			b->sorted[use++] = b->node_cost[n];
	}
	if (use < v->min_nodes)
		return INFINITY;
	qsort(b->sorted, use, sizeof(*b->sorted), by_cost);
	for (uint32_t i = 0; i < v->min_nodes; i++)
		bound += b->sorted[i];
	for (uint32_t d = 0; d < v->dims; d++) {
		double cost = v->total[d] > 0 ? cost_of_total(b, d, state) : 0;

		bound = cost > bound ? cost : bound;
	}
	return bound;
}

/* -- begin and end -------------------------------------------------------------- */

int victims_begin_bounds(struct victim_bounds *b, const struct sl_victims *v, struct sl_error *err)
{
	size_t items = (size_t) v->groups + v->pieces + 1;

	*b = (struct victim_bounds) { .v = v };
	b->first = calloc((size_t) v->nodes + 2, sizeof(*b->first));
	b->spread = calloc((size_t) v->groups + 1, sizeof(*b->spread));
	b->item = malloc(items * sizeof(*b->item));
	b->number = malloc(items * sizeof(*b->number));
	b->sum = malloc(((size_t) v->groups + 1) * sizeof(*b->sum));
	b->node_cost = malloc(((size_t) v->nodes + 1) * sizeof(*b->node_cost));
	b->sorted = malloc(((size_t) v->nodes + 1) * sizeof(*b->sorted));
	if (!b->first || !b->spread || !b->item || !b->number || !b->sum || !b->node_cost || !b->sorted) {
		victims_end_bounds(b);
		return sl_fail(err, SL_ENOMEM, "preempt: out of memory");
	}
	for (uint32_t i = 0; i < v->pieces; i++) {
		b->first[v->piece[i].node + 1]++;
		b->spread[v->piece[i].group] += 1;
	}
	for (uint32_t n = 0; n < v->nodes; n++)
		b->first[n + 1] += b->first[n];
	return 0;
}

void victims_end_bounds(struct victim_bounds *b)
{
	free(b->first);
	free(b->spread);
	free(b->item);
	free(b->number);
	free(b->sum);
	free(b->node_cost);
	free(b->sorted);
	*b = (struct victim_bounds) { .v = b->v };
}
