/* SPDX-License-Identifier: MIT */
/*
 * mip/coinmp.c - the backend CoinMP.
 *
 * What CoinMP 1.8 returns needs care.  "Optimal" with an objective of -1.8e308 means infeasible, unbounded, or stopped by a
 * limit before the search; "infeasible" with a finite objective means a limit and a solution.  Its time limit is CPU time.
 * It takes no start: instead a row is added that excludes everything worse.  Its iterations are limited by an option in a
 * relaxation.  In a search they are limited when it reports a node, and by the number of nodes: a root node that takes long
 * is not cut short.
 */
#include "mip/private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <CoinMP.h>

#define FUNCTIONS(X) \
	X(CoinInitSolver) X(CoinCreateProblem) X(CoinLoadMatrix) X(CoinLoadInteger) X(CoinSetIntOption) \
	X(CoinSetRealOption) X(CoinOptimizeProblem) X(CoinGetSolutionStatus) X(CoinGetObjectValue) \
	X(CoinGetMipBestBound) X(CoinGetIterCount) X(CoinRegisterMipNodeCallback) X(CoinGetMipNodeCount) X(CoinGetSolutionValues) \
	X(CoinUnloadProblem)

FUNCTIONS(SL_MIP_POINTER)

static const struct sl_mip_function functions[] = { FUNCTIONS(SL_MIP_FUNCTION) { 0 } };
static struct sl_mip_library library = { .soname = COINMP_SONAME, .function = functions };

/* problems of the solves since the last forget(), a relaxation and a search, and their arrays */
static struct {
	HPROB problem;
	void *array[6];
} made[2];
static unsigned problems;

static void claim_failed(struct sl_mip_answer *a, const char *what)
{
	a->claim = SL_CLAIM_FAILED;
	snprintf(a->message, sizeof(a->message), "CoinMP: %s", what);
}

static bool any_integer(const struct sl_mip_problem *p)
{
	return !p->relax && memchr(p->integer, 1, (size_t) p->columns);
}

/* Ends the search when it has worked enough.  Called at each node, but not in small subtrees that Clp searches itself. */
static int SOLVCALL has_worked_enough(int iterations, int nodes, double bound, double objective, int improved,
				      void *problem)
{
	const struct sl_mip_problem *p = problem;

	(void) nodes, (void) bound, (void) objective, (void) improved;
	return iterations >= p->iterations;
}

static void set_options(HPROB h, const struct sl_mip_problem *p)
{
	int64_t relaxed = p->iterations < INT32_MAX / SL_MIP_RELAXED ? p->iterations * SL_MIP_RELAXED : INT32_MAX;
	bool clock = isfinite(p->time_limit);

	pCoinSetIntOption(h, COIN_INT_LOGLEVEL, 0);
	if (clock)
		pCoinSetRealOption(h, COIN_REAL_MAXSECONDS, p->time_limit);
	if (!any_integer(p)) {
		pCoinSetIntOption(h, COIN_INT_MAXITER, (int) relaxed);
		return;
	}
	pCoinRegisterMipNodeCallback(h, has_worked_enough, (void *) p);
	if (clock)
		pCoinSetRealOption(h, COIN_REAL_MIPMAXSEC, p->time_limit);
	pCoinSetRealOption(h, COIN_REAL_MIPFRACGAP, p->gap);
	pCoinSetIntOption(h, COIN_INT_MIPMAXNODES, (int) p->max_nodes);
}

/* Create the problem.  With a start it has one more row, which excludes everything worse. */
static HPROB make_problem(const struct sl_mip_problem *p)
{
	int cut = p->start && !p->relax, rows = p->rows + cut, terms = 0;
	int *begin = malloc(((size_t) p->columns + 1) * sizeof(*begin));
	int *count = malloc((size_t) p->columns * sizeof(*count));
	int *index = malloc(((size_t) p->terms + p->columns) * sizeof(*index));
	double *value = malloc(((size_t) p->terms + p->columns) * sizeof(*value));
	double *lo = malloc((size_t) rows * sizeof(*lo)), *hi = malloc((size_t) rows * sizeof(*hi));
	double slack = 1e-7 * fmax(1, fabs(p->start_objective));
	HPROB h = pCoinCreateProblem("sl");

	if (problems < sizeof(made) / sizeof(made[0])) {
		void *const array[] = { begin, count, index, value, lo, hi };

		made[problems].problem = h;
		memcpy(made[problems++].array, array, sizeof(array));
	}
	if (!h || !begin || !count || !index || !value || !lo || !hi)
		return NULL;
	for (int c = 0; c < p->columns; c++) {
		begin[c] = terms;
		for (int i = p->begin[c]; i < p->begin[c + 1]; i++) {
			index[terms] = p->index[i];
			value[terms++] = p->value[i];
		}
		if (cut && p->obj[c] != 0) {
			index[terms] = p->rows;
			value[terms++] = p->obj[c];
		}
		count[c] = terms - begin[c];
	}
	begin[p->columns] = terms;
	memcpy(lo, p->lo, (size_t) p->rows * sizeof(*lo));
	memcpy(hi, p->hi, (size_t) p->rows * sizeof(*hi));
	if (cut) {
		lo[p->rows] = p->maximize ? p->start_objective - slack : -INFINITY;
		hi[p->rows] = p->maximize ? INFINITY : p->start_objective + slack;
	}
	/* without row types the right-hand sides are lower ends, and the ranges upper ends */
	if (pCoinLoadMatrix(h, p->columns, rows, terms, 0, p->maximize ? SOLV_OBJSENS_MAX : SOLV_OBJSENS_MIN, 0,
			    p->obj, p->lb, p->ub, NULL, lo, hi, begin, count, index, value) != SOLV_CALL_SUCCESS)
		return NULL;
	return h;
}

static void load_integers(HPROB h, const struct sl_mip_problem *p)
{
	char *type = malloc((size_t) p->columns + 1);

	if (!type)
		return;
	for (int c = 0; c < p->columns; c++)
		type[c] = p->integer[c] ? 'I' : 'C';
	type[p->columns] = 0;
	pCoinLoadInteger(h, type);
	free(type);
}

static void read_answer(HPROB h, const struct sl_mip_problem *p, struct sl_mip_answer *a)
{
	int status = pCoinGetSolutionStatus(h);
	double objective = pCoinGetObjectValue(h);
	bool something = isfinite(objective) && fabs(objective) < SL_MIP_NOTHING, mip = any_integer(p);

	a->iterations += mip ? pCoinGetIterCount(h) : (pCoinGetIterCount(h) + SL_MIP_RELAXED - 1) / SL_MIP_RELAXED;
	a->nodes = mip ? pCoinGetMipNodeCount(h) : 0;
	if (!something) {
		/* CoinMP says "optimal" for infeasible, unbounded and stopped early */
		a->claim = mip || status ? SL_CLAIM_STOPPED : SL_CLAIM_FAILED;
		if (!mip && (status == 1 || status == 2))
			a->claim = SL_CLAIM_INFEASIBLE;
		return;
	}
	if (mip) {
		double bound = pCoinGetMipBestBound(h);

		if (isfinite(bound) && fabs(bound) < SL_MIP_NOTHING)
			a->bound = bound;
		a->claim = status == 0 ? SL_CLAIM_OPTIMAL : SL_CLAIM_STOPPED;
	} else {
		a->claim = status == 0 ? SL_CLAIM_OPTIMAL : status == 1 || status == 2 ? SL_CLAIM_INFEASIBLE :
			   SL_CLAIM_STOPPED;
		if (a->claim != SL_CLAIM_OPTIMAL)
			return;
		a->bound = objective;
	}
	pCoinGetSolutionValues(h, a->x, NULL, NULL, NULL);
	a->has_values = 1;
}

static void solve(const struct sl_mip_problem *p, struct sl_mip_answer *a)
{
	HPROB h;

	pCoinInitSolver("");
	h = make_problem(p);
	if (!h) {
		claim_failed(a, "the problem was not accepted");
		return;
	}
	if (any_integer(p))
		load_integers(h, p);
	set_options(h, p);
	if (pCoinOptimizeProblem(h, SOLV_METHOD_DEFAULT) != SOLV_CALL_SUCCESS) {
		claim_failed(a, "the solver was not started");
		return;
	}
	read_answer(h, p, a);
}

static void forget(void)
{
	while (problems) {
		problems--;
		if (made[problems].problem)
			pCoinUnloadProblem(made[problems].problem);
		for (size_t i = 0; i < sizeof(made[0].array) / sizeof(made[0].array[0]); i++)
			free(made[problems].array[i]);
	}
}

const struct sl_mip_backend sl_mip_coinmp = {
	.name = "coinmp", .library = &library, .solve = solve, .forget = forget,
};
