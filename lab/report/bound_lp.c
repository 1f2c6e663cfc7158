/* SPDX-License-Identifier: MIT */
/*
 * bound_lp.c - column generation for patterns on nodes.
 *
 *	min T
 *	sum over patterns p of gain_rp x_p  - s_r = demand_r	for each row r
 *	nodes_t T - sum over patterns of kind t of x_p - u_t = 0	for each kind t
 *
 * x_p is the time that nodes of one kind spend on pattern p.  Duals are the prices
 * pi_r and the rents mu_t; a pattern enters when it earns more than its node's rent.
 * The most profitable pattern is an unbounded knapsack in cores and GPUs.
 *
 * For any prices pi >= 0, nodes of kind t earn at most v_t a second, the knapsack's
 * optimum, so that T >= pi.demand / sum of nodes_t v_t.  The best of these over all
 * iterations is kept; how well the simplex method did is of no consequence for its
 * validity.  The basis is inverted anew now and then, and the number of iterations
 * is limited.
 *
 * Why not with mip/: a solver there is a process for each of up to a dozen programs, and takes 3 to
 * 9 ms for one (20 to 50 beside a simulation of 200 MB), where all of this takes less than 0.1 ms
 * for the workloads that come with us; and without a solver there would be no bound.
 */
#include "report/bound_lp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIZE (SL_BOUND_ROWS + SL_BOUND_NODES)
#define MOST_STEPS 3000
#define MOST_WORK 4e8		/* cells of knapsacks, in all */
#define REFRESH 50		/* steps between inversions of the basis */
#define EPS 1e-9

struct lp {
	const struct sl_bound_problem *p;
	uint32_t m;			/* rows + kinds */
	double column[SIZE][SIZE];	/* of the basis, by position */
	double cost[SIZE];
	double inverse[SIZE][SIZE];	/* of the basis: inverse[position][row] */
	double x[SIZE];			/* by position */
	double rhs[SIZE];
	double nodes;			/* in all: what the LP's units are scaled by */
	double dual[SIZE];
	double *best;			/* knapsack: by cores * (gpus + 1) + gpus */
	int32_t *choice;
	double best_price[SL_BOUND_ROWS], best_earning, best_bound;
};

/* -- the knapsack --------------------------------------------------------------- */

/* What a node of a kind can earn a second at these prices; *gain is what it makes
 * of each row then (NULL: not wanted). */
static double knapsack(struct lp *lp, uint32_t kind, const double *price, double *gain)
{
	const struct sl_bound_problem *p = lp->p;
	uint32_t cores = p->node[kind].cores, gpus = p->node[kind].gpus, width = gpus + 1;
	int32_t whole = -1, best;
	double value = 0;

	for (uint32_t c = 0; c <= cores; c++)
		for (uint32_t g = 0; g <= gpus; g++) {
			size_t at = (size_t) c * width + g;

			lp->best[at] = 0;
			lp->choice[at] = -1;
			for (uint32_t i = 0; i < p->items; i++) {
				const struct sl_bound_item *it = &p->item[i];
				double v;

				if (it->whole || it->cores > c || it->gpus > g)
					continue;
				v = price[it->row] * it->gain + lp->best[at - (size_t) it->cores * width - it->gpus];
				if (v > lp->best[at]) {
					lp->best[at] = v;
					lp->choice[at] = i;
				}
			}
		}
	for (uint32_t i = 0; i < p->items; i++)
		if (p->item[i].whole && price[p->item[i].row] * p->item[i].gain > value) {
			value = price[p->item[i].row] * p->item[i].gain;
			whole = i;
		}
	if (gain)
		memset(gain, 0, p->rows * sizeof(*gain));
	if (value > lp->best[(size_t) cores * width + gpus]) {
		if (gain)
			gain[p->item[whole].row] += p->item[whole].gain;
		return value;
	}
	value = lp->best[(size_t) cores * width + gpus];
	while (gain && (best = lp->choice[(size_t) cores * width + gpus]) >= 0) {
		gain[p->item[best].row] += p->item[best].gain;
		cores -= p->item[best].cores;
		gpus -= p->item[best].gpus;
	}
	return value;
}

/* The bound that these prices give; the best is remembered. */
static void consider(struct lp *lp, const double *value, const double *price)
{
	double earning = 0, worth = 0;

	for (uint32_t t = 0; t < lp->p->kinds; t++)
		earning += lp->p->node[t].nodes * value[t];
	for (uint32_t r = 0; r < lp->p->rows; r++)
		worth += price[r] * lp->p->demand[r];
	if (earning > 0 && worth / earning > lp->best_bound) {
		lp->best_bound = worth / earning;
		lp->best_earning = earning;
		memcpy(lp->best_price, price, lp->p->rows * sizeof(*price));
	}
}

/* -- the simplex method ------------------------------------------------------------ */

/* Gauss and Jordan with row exchanges.  False: the basis is singular. */
static bool invert(struct lp *lp)
{
	static const double tiny = 1e-13;
	double (*a)[SIZE] = calloc(SIZE, sizeof(*a));
	uint32_t m = lp->m;

	if (!a)
		return false;
	for (uint32_t i = 0; i < m; i++)
		for (uint32_t j = 0; j < m; j++) {
			a[i][j] = lp->column[j][i];
			lp->inverse[i][j] = i == j;
		}
	for (uint32_t k = 0; k < m; k++) {
		uint32_t pivot = k;

		for (uint32_t i = k + 1; i < m; i++)
			if (fabs(a[i][k]) > fabs(a[pivot][k]))
				pivot = i;
		if (fabs(a[pivot][k]) < tiny) {
			free(a);
			return false;
		}
		for (uint32_t j = 0; j < m; j++) {
			double s = a[k][j], u = lp->inverse[k][j];

			a[k][j] = a[pivot][j];
			a[pivot][j] = s;
			lp->inverse[k][j] = lp->inverse[pivot][j];
			lp->inverse[pivot][j] = u;
		}
		for (uint32_t i = 0; i < m; i++) {
			double f = a[i][k] / a[k][k];

			if (i == k || f == 0)
				continue;
			for (uint32_t j = 0; j < m; j++) {
				a[i][j] -= f * a[k][j];
				lp->inverse[i][j] -= f * lp->inverse[k][j];
			}
		}
	}
	for (uint32_t k = 0; k < m; k++)
		for (uint32_t j = 0; j < m; j++)
			lp->inverse[k][j] /= a[k][k];
	free(a);
	for (uint32_t i = 0; i < m; i++) {
		lp->x[i] = 0;
		for (uint32_t j = 0; j < m; j++)
			lp->x[i] += lp->inverse[i][j] * lp->rhs[j];
	}
	return true;
}

static void compute_duals(struct lp *lp)
{
	for (uint32_t j = 0; j < lp->m; j++) {
		lp->dual[j] = 0;
		for (uint32_t i = 0; i < lp->m; i++)
			lp->dual[j] += lp->cost[i] * lp->inverse[i][j];
	}
}

/* Bring a column into the basis.  False when nothing limits it, or numbers fail. */
static bool enter(struct lp *lp, const double *column, double cost)
{
	double d[SIZE], ratio = INFINITY;
	uint32_t out = lp->m;

	for (uint32_t i = 0; i < lp->m; i++) {
		d[i] = 0;
		for (uint32_t j = 0; j < lp->m; j++)
			d[i] += lp->inverse[i][j] * column[j];
	}
	for (uint32_t i = 0; i < lp->m; i++) {
		double r = fmax(lp->x[i], 0) / d[i];

		if (d[i] < EPS)
			continue;
		if (r < ratio - 1e-12 || (r <= ratio + 1e-12 && out < lp->m && d[i] > d[out])) {
			ratio = r;
			out = i;
		}
	}
	if (out == lp->m)
		return false;
	for (uint32_t i = 0; i < lp->m; i++) {
		double f = d[i] / d[out];

		if (i == out || f == 0)
			continue;
		lp->x[i] -= f * lp->x[out];
		for (uint32_t j = 0; j < lp->m; j++)
			lp->inverse[i][j] -= f * lp->inverse[out][j];
	}
	lp->x[out] /= d[out];
	for (uint32_t j = 0; j < lp->m; j++)
		lp->inverse[out][j] /= d[out];
	memcpy(lp->column[out], column, sizeof(lp->column[out]));
	lp->cost[out] = cost;
	return true;
}

/* The kind of node that makes most of a row alone, and how much: patterns to begin
 * with.  False: no node can hold any part of it. */
static bool first_pattern(const struct lp *lp, uint32_t row, uint32_t *kind, double *gain)
{
	const struct sl_bound_problem *p = lp->p;

	*gain = 0;
	for (uint32_t t = 0; t < p->kinds; t++)
		for (uint32_t i = 0; i < p->items; i++) {
			const struct sl_bound_item *it = &p->item[i];
			uint32_t n = UINT32_MAX;

			if (it->row != row)
				continue;
			if (it->cores)
				n = p->node[t].cores / it->cores;
			if (it->gpus && p->node[t].gpus / it->gpus < n)
				n = p->node[t].gpus / it->gpus;
			if (it->whole)
				n = 1;
			if (n < UINT32_MAX && (double) n * it->gain > *gain) {
				*gain = (double) n * it->gain;
				*kind = t;
			}
		}
	return *gain > 0;
}

/* A basis to begin with: one pattern for each row, T, and the slacks of all kinds
 * but the busiest. */
static bool begin(struct lp *lp)
{
	const struct sl_bound_problem *p = lp->p;
	double busy[SL_BOUND_NODES] = { 0 }, gain;
	uint32_t busiest = 0, at = 0, kind = 0;

	for (uint32_t r = 0; r < p->rows; r++, at++) {
		if (!first_pattern(lp, r, &kind, &gain))
			return false;
		lp->column[at][r] = gain;
		lp->column[at][p->rows + kind] = -1;
		lp->rhs[r] = p->demand[r] / lp->nodes;
		busy[kind] += p->demand[r] / gain / p->node[kind].nodes;
	}
	for (uint32_t t = 0; t < p->kinds; t++) {
		if (busy[t] > busy[busiest])
			busiest = t;
		lp->column[at][p->rows + t] = p->node[t].nodes / lp->nodes;
	}
	lp->cost[at++] = 1;
	for (uint32_t t = 0; t < p->kinds; t++)
		if (t != busiest)
			lp->column[at++][p->rows + t] = -1;
	return invert(lp);
}

/* A surplus or slack whose price has the wrong sign.  False: none has. */
static bool wrong_sign(const struct lp *lp, double *column)
{
	uint32_t worst = lp->m;

	for (uint32_t j = 0; j < lp->m; j++)
		if (lp->dual[j] < -EPS && (worst == lp->m || lp->dual[j] < lp->dual[worst]))
			worst = j;
	if (worst == lp->m)
		return false;
	memset(column, 0, SIZE * sizeof(*column));
	column[worst] = -1;
	return true;
}

/* The pattern that earns most above its node's rent.  False: none does. */
static bool best_pattern(struct lp *lp, double *column)
{
	const struct sl_bound_problem *p = lp->p;
	double price[SL_BOUND_ROWS], value[SL_BOUND_NODES], gain[SL_BOUND_ROWS], most = EPS;
	bool found = false;

	for (uint32_t r = 0; r < p->rows; r++)
		price[r] = fmax(lp->dual[r], 0);
	for (uint32_t t = 0; t < p->kinds; t++) {
		double profit;

		value[t] = knapsack(lp, t, price, gain);
		profit = value[t] - lp->dual[p->rows + t];
		if (profit <= most * (1 + EPS) || profit <= 1e-10 * value[t])
			continue;
		most = profit;
		found = true;
		memset(column, 0, SIZE * sizeof(*column));
		memcpy(column, gain, p->rows * sizeof(*gain));
		column[p->rows + t] = -1;
	}
	consider(lp, value, price);
	return found;
}

static int64_t solve(struct lp *lp)
{
	double column[SIZE], work = 0;
	int64_t patterns = lp->p->rows;

	for (uint32_t t = 0; t < lp->p->kinds; t++)
		work += (lp->p->node[t].cores + 1.0) * (lp->p->node[t].gpus + 1.0) * lp->p->items;
	for (int step = 0; step < MOST_STEPS && step * work < MOST_WORK; step++) {
		if (step % REFRESH == REFRESH - 1 && !invert(lp))
			break;
		compute_duals(lp);
		if (!wrong_sign(lp, column)) {
			if (!best_pattern(lp, column))
				break;
			patterns++;
		}
		if (!enter(lp, column, 0))
			break;
	}
	return patterns;
}

/* Prices that need no LP: cores alone. */
static void consider_cores(struct lp *lp)
{
	const struct sl_bound_problem *p = lp->p;
	double price[SL_BOUND_ROWS], value[SL_BOUND_NODES];

	for (uint32_t r = 0; r < p->rows; r++)
		price[r] = INFINITY;
	for (uint32_t i = 0; i < p->items; i++)
		if (!p->item[i].whole)
			price[p->item[i].row] = fmin(price[p->item[i].row], (double) p->item[i].cores / p->item[i].gain);
	for (uint32_t r = 0; r < p->rows; r++)
		price[r] = isfinite(price[r]) ? price[r] : 0;
	for (uint32_t t = 0; t < p->kinds; t++)
		value[t] = knapsack(lp, t, price, NULL);
	consider(lp, value, price);
}

int64_t sl_bound_prices(const struct sl_bound_problem *p, double *price, double *earning, struct sl_error *err)
{
	struct lp *lp = calloc(1, sizeof(*lp));
	size_t states = 1;
	double nodes = 0;
	int64_t patterns = -1;

	for (uint32_t t = 0; t < p->kinds; t++) {
		size_t n = ((size_t) p->node[t].cores + 1) * (p->node[t].gpus + 1);

		states = n > states ? n : states;
		nodes += p->node[t].nodes;
	}
	if (!lp || !(lp->best = malloc(states * sizeof(*lp->best))) ||
	    !(lp->choice = malloc(states * sizeof(*lp->choice)))) {
		sl_fail(err, SL_ENOMEM, "no memory for the bound of the makespan");
		goto error;
	}
	lp->p = p;
	lp->nodes = nodes;
	lp->m = p->rows + p->kinds;
	consider_cores(lp);
	patterns = begin(lp) ? solve(lp) : 0;
	memcpy(price, lp->best_price, p->rows * sizeof(*price));
	*earning = lp->best_earning;
error:
	if (lp) {
		free(lp->best);
		free(lp->choice);
	}
	free(lp);
	return patterns;
}
