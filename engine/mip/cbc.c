/* SPDX-License-Identifier: MIT */
/* mip/cbc.c - the backend Cbc, through its own C interface.  It accepts a start and a limit on elapsed time.  Its
 * "infeasible" can be trusted unless it has hit a limit.  It neither limits nor counts the iterations of a relaxation. */
#include "mip/private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <Cbc_C_Interface.h>

#define FUNCTIONS(X) \
	X(Cbc_newModel) X(Cbc_loadProblem) X(Cbc_setInteger) X(Cbc_setObjSense) X(Cbc_setParameter) \
	X(Cbc_setMIPStartI) X(Cbc_solve) X(Cbc_isProvenOptimal) X(Cbc_isProvenInfeasible) \
	X(Cbc_isContinuousUnbounded) X(Cbc_isAbandoned) X(Cbc_getObjValue) X(Cbc_getBestPossibleObjValue) \
	X(Cbc_getIterationCount) X(Cbc_bestSolution) X(Cbc_getColSolution) X(Cbc_getNodeCount) X(Cbc_isNodeLimitReached) \
	X(Cbc_isSecondsLimitReached) X(Cbc_deleteModel)

FUNCTIONS(SL_MIP_POINTER)

static const struct sl_mip_function functions[] = { FUNCTIONS(SL_MIP_FUNCTION) { 0 } };
static struct sl_mip_library library = { .soname = CBC_SONAME, .function = functions };

/* models of the solves since the last forget(): a relaxation and a search */
static Cbc_Model *model_of[2];
static unsigned models;

static void set_number(Cbc_Model *model, const char *name, double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.9g", value);
	pCbc_setParameter(model, name, text);
}

static void set_options(Cbc_Model *model, const struct sl_mip_problem *p, bool mip)
{
	pCbc_setParameter(model, "log", "0");
	pCbc_setParameter(model, "timeMode", "elapsed");
	if (isfinite(p->time_limit))
		set_number(model, "sec", p->time_limit);
	if (!mip)
		return;
	set_number(model, "ratioGap", p->gap);
	set_number(model, "maxNodes", (double) p->max_nodes);
}

static void set_start(Cbc_Model *model, const struct sl_mip_problem *p)
{
	int *index = malloc((size_t) p->columns * sizeof(*index));

	if (!index)
		return;
	for (int c = 0; c < p->columns; c++)
		index[c] = c;
	pCbc_setMIPStartI(model, p->columns, index, p->start);
	free(index);
}

static void read_answer(Cbc_Model *model, const struct sl_mip_problem *p, bool mip, struct sl_mip_answer *a)
{
	double objective = pCbc_getObjValue(model), bound = pCbc_getBestPossibleObjValue(model);
	const double *x = mip ? pCbc_bestSolution(model) : pCbc_getColSolution(model);
	bool limit = pCbc_isNodeLimitReached(model) || pCbc_isSecondsLimitReached(model);

	a->iterations += pCbc_getIterationCount(model);
	a->nodes = mip ? pCbc_getNodeCount(model) : 0;
	if (pCbc_isAbandoned(model))
		a->claim = SL_CLAIM_FAILED;
	else if (pCbc_isContinuousUnbounded(model))
		a->claim = SL_CLAIM_UNBOUNDED;
	else if (pCbc_isProvenInfeasible(model) && !limit)
		a->claim = SL_CLAIM_INFEASIBLE;
	else
		a->claim = pCbc_isProvenOptimal(model) ? SL_CLAIM_OPTIMAL : SL_CLAIM_STOPPED;
	if (a->claim != SL_CLAIM_OPTIMAL && a->claim != SL_CLAIM_STOPPED)
		return;
	if (!mip)
		bound = a->claim == SL_CLAIM_OPTIMAL ? objective : NAN;
	if (isfinite(bound) && fabs(bound) < SL_MIP_NOTHING)
		a->bound = bound;
	if (!x || !isfinite(objective) || fabs(objective) >= SL_MIP_NOTHING)
		return;
	memcpy(a->x, x, (size_t) p->columns * sizeof(*x));
	a->has_values = mip || a->claim == SL_CLAIM_OPTIMAL;
}

static void solve(const struct sl_mip_problem *p, struct sl_mip_answer *a)
{
	Cbc_Model *model = pCbc_newModel();
	bool mip = !p->relax && memchr(p->integer, 1, (size_t) p->columns);

	if (models < sizeof(model_of) / sizeof(model_of[0]))
		model_of[models++] = model;
	pCbc_loadProblem(model, p->columns, p->rows, p->begin, p->index, p->value, p->lb, p->ub, p->obj, p->lo, p->hi);
	pCbc_setObjSense(model, p->maximize ? -1 : 1);
	for (int c = 0; mip && c < p->columns; c++)
		if (p->integer[c])
			pCbc_setInteger(model, c);
	set_options(model, p, mip);
	if (mip && p->start)
		set_start(model, p);
	pCbc_solve(model);
	read_answer(model, p, mip, a);
}

static void forget(void)
{
	while (models)
		pCbc_deleteModel(model_of[--models]);
}

const struct sl_mip_backend sl_mip_cbc = {
	.name = "cbc", .proves_infeasible = true, .library = &library, .solve = solve, .forget = forget,
};
