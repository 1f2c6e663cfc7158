/* SPDX-License-Identifier: MIT */
/*
 * fake_coinmp.c - a library by the name of CoinMP that does whatever a solver should not,
 * for t/mip/test_solver.sh.  $FAKE_COINMP says what.  It runs in the solver's process only.
 */
#include <float.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <CoinMP.h>

static int columns;

static int is(const char *mode)
{
	const char *wanted = getenv("FAKE_COINMP");

	return wanted && !strcmp(wanted, mode);
}

/* Until there is no more, or so much that there is no limit. */
static void eat(void)
{
	for (int i = 0; i < 64; i++)
		if (!malloc((size_t) 64 << 20))
			break;
	abort();
}

int CoinInitSolver(const char *license)
{
	(void) license;
	return SOLV_CALL_SUCCESS;
}

HPROB CoinCreateProblem(const char *name)
{
	(void) name;
	return &columns;
}

int CoinLoadMatrix(HPROB h, int cols, int rows, int terms, int ranges, int sense, double constant, double *obj,
		   double *lb, double *ub, const char *types, double *rhs, double *range, int *begin, int *count,
		   int *index, double *value)
{
	(void) h, (void) rows, (void) terms, (void) ranges, (void) sense, (void) constant, (void) obj, (void) lb;
	(void) ub, (void) types, (void) rhs, (void) range, (void) begin, (void) count, (void) index, (void) value;
	columns = cols;
	return SOLV_CALL_SUCCESS;
}

int CoinLoadInteger(HPROB h, const char *types)
{
	(void) h, (void) types;
	return SOLV_CALL_SUCCESS;
}

int CoinSetIntOption(HPROB h, int option, int value)
{
	(void) h, (void) option, (void) value;
	return SOLV_CALL_SUCCESS;
}

int CoinSetRealOption(HPROB h, int option, double value)
{
	(void) h, (void) option, (void) value;
	return SOLV_CALL_SUCCESS;
}

int CoinRegisterMipNodeCallback(HPROB h, COIN_MIPNODE_CB at_node, void *what)
{
	(void) h, (void) at_node, (void) what;
	return SOLV_CALL_SUCCESS;
}

int CoinGetIterCount(HPROB h)
{
	(void) h;
	return 0;
}

int CoinOptimizeProblem(HPROB h, int method)
{
	(void) h, (void) method;
	if (is("crash"))
		raise(SIGSEGV);
	if (is("killed"))
		raise(SIGKILL);
	if (is("leaves"))
		_exit(3);
	if (is("eats"))
		eat();
	while (is("sleeps"))
		pause();
	return SOLV_CALL_SUCCESS;
}

int CoinGetSolutionStatus(HPROB h)
{
	(void) h;
	return is("infeasible") ? 1 : 0;
}

double CoinGetObjectValue(HPROB h)
{
	(void) h;
	return is("infeasible") ? -DBL_MAX : 1e6;
}

double CoinGetMipBestBound(HPROB h)
{
	(void) h;
	return 1e6;
}

int CoinGetMipNodeCount(HPROB h)
{
	(void) h;
	return 0;
}

/* "wrong": more of everything than there is; "nonsense": no numbers at all. */
int CoinGetSolutionValues(HPROB h, double *x, double *reduced, double *slack, double *shadow)
{
	(void) h, (void) reduced, (void) slack, (void) shadow;
	for (int c = 0; c < columns; c++)
		x[c] = is("nonsense") ? NAN : 1e3;
	return SOLV_CALL_SUCCESS;
}

int CoinUnloadProblem(HPROB h)
{
	(void) h;
	return SOLV_CALL_SUCCESS;
}
