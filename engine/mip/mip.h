/* SPDX-License-Identifier: MIT */
/*
 * mip.h - builds and solves mixed-integer programs.  No answer of a solver is trusted.
 *
 *	maximize or minimize  obj x  subject to  lo <= row x <= hi,  lb <= x <= ub,
 *	some x integer
 *
 * A program is solved in a process of its own (mip/child.c), or in one that is kept (sl_mip_keep()).  Its memory and time are
 * limited, and it is killed and reaped whatever it does.  Its answer is verified here: bounds, rows, integrality; the
 * objective is computed again.  A wrong answer is reported as an error of the solver, not as a solution.  The status is
 * "infeasible" only if that was proven, by this unit or by a backend that can.
 *
 * Ownership: a model owns copies of what it was given; a result owns its values.  Threads: only for a process with one
 * thread, because solving copies the process.
 */
#ifndef SL_MIP_H
#define SL_MIP_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Limits of a model.  What would exceed one is refused (SL_ELIMIT), and the message names the limit. */
#define SL_MIP_MAX_COLUMNS 1000000u
#define SL_MIP_MAX_ROWS 1000000u
#define SL_MIP_MAX_TERMS 10000000u
/* Largest magnitude of a coefficient or bound; beyond it a bound must be infinite. */
#define SL_MIP_MAX_NUMBER 1e15

/*
 * The work of a solve is measured so that it is the same on every machine and under any load: the number of simplex
 * iterations, times columns + rows + terms, divided by this constant.  The unit is a second of a machine that does so many of
 * these per second.
 */
#define SL_MIP_WORK_A_SECOND 2e7

/* If wall time does not count, a solve that hangs is still ended: after so many seconds, or after its time_limit times
 * that factor if that is longer. */
#define SL_MIP_HANGS_S 600.0
#define SL_MIP_HANGS_TIMES 100.0

#define SL_MIP_FEASIBILITY 1e-6		/* tolerance, relative to the size of a row's terms */
#define SL_MIP_INTEGRALITY 1e-5

enum sl_mip_status { SL_MIP_OPTIMAL, SL_MIP_FEASIBLE, SL_MIP_INFEASIBLE, SL_MIP_NO_SOLUTION, SL_MIP_ERROR };

/* "optimal", "feasible", "infeasible", "no_solution", "error" */
const char *sl_mip_status_word(enum sl_mip_status status);

/* Like lua_Alloc, so that a caller can count a model's memory. */
typedef void *sl_mip_alloc(void *ud, void *block, size_t old_size, size_t new_size);

struct sl_mip_column {
	double lb, ub, obj;
	bool integer;
	const char *name;	/* or NULL */
};

struct sl_mip_row {
	const uint32_t *column;		/* from 0 */
	const double *coefficient;
	uint32_t terms;
	double lo, hi;			/* -INFINITY, INFINITY: none */
	const char *name;		/* or NULL */
};

struct sl_mip_options {
	double time_limit;	/* seconds, > 0: limits work (above), and wall time if *clock* */
	bool clock;		/* wall time counts, too */
	double hangs_s;		/* if not: the wall time after which a solve has hung and is ended; 0: SL_MIP_HANGS_* */
	double gap;		/* relative gap at which to stop; 0: prove optimality */
	int64_t max_nodes;	/* of branch and bound; < 0: no limit */
	uint32_t memory_mb;	/* for the solver, on top of what this process has; 0: no limit */
	bool relax;		/* let integer columns be fractions */
	int64_t deadline_ns;	/* CLOCK_MONOTONIC: everything ends by then; 0: none */
	const char *backend;	/* NULL: the first one available */
	const struct sl_mip_backend *fake;	/* tests only: a backend that is used instead */
};

struct sl_mip_result {
	enum sl_mip_status status;
	double objective, bound, gap;	/* NAN if unknown */
	double *values;			/* by column, or NULL */
	uint32_t columns;
	int64_t nodes;
	double work;			/* seconds of work done */
	bool hung;			/* ended by hangs_s: on another machine the result might differ */
	double seconds;			/* CPU time of the solver's process */
	double wall;
	const char *source;		/* backend, "start", "bounds" (no solver was needed), or "" */
	char message[256];
};

struct sl_mip;

/* alloc NULL: malloc.  NULL when there is no memory. */
struct sl_mip *sl_mip_create(bool maximize, sl_mip_alloc *alloc, void *ud);
void sl_mip_destroy(struct sl_mip *m);

/* Add a column or a row.  Returns its number, from 0.  Or -1 with *err, and the model is unchanged: SL_EINVAL (not a
 * number, an infinite coefficient, lb above ub, no such column, a column twice in a row), SL_ELIMIT, SL_ENOMEM. */
int64_t sl_mip_var(struct sl_mip *m, const struct sl_mip_column *c, struct sl_error *err);
int64_t sl_mip_add(struct sl_mip *m, const struct sl_mip_row *r, struct sl_error *err);

/* Set a known solution, values[columns], to begin with.  It is verified when the model is solved. */
int sl_mip_start(struct sl_mip *m, const double *values, uint32_t columns, struct sl_error *err);

uint32_t sl_mip_columns(const struct sl_mip *m);
uint32_t sl_mip_rows(const struct sl_mip *m);
uint32_t sl_mip_terms(const struct sl_mip *m);
bool sl_mip_is_integer(const struct sl_mip *m, uint32_t column);

/*
 * Solve the model.  The result is the start unless something better is found.  For a small packing the start may be proven
 * the best here (mip/proven.c); then no solver runs.  Returns 0 with the outcome in *r, also if no solution was found; -1
 * with *err for an error of the caller: an empty model, options out of range, an unknown backend.
 */
int sl_mip_solve(struct sl_mip *m, const struct sl_mip_options *o, struct sl_mip_result *r, struct sl_error *err);

/* How many solves of this process were ended by hangs_s; CPU seconds of all its solves. */
uint64_t sl_mip_hung(void);
double sl_mip_solver_s(void);

/*
 * Between these two calls a solver's process may be kept for the next solve: for callers that solve many programs without a
 * clock, as a simulation does.  The answers are the same as with one process for each program; a process that crashed, hung,
 * leaked or has solved many programs is replaced.  Calls nest.  A copy of this process (fork()) begins without a kept one.
 */
void sl_mip_keep(void);
void sl_mip_release(void);

void sl_mip_result_clear(struct sl_mip_result *r);

/* The name of available backend number i, the default first; NULL past the end. */
const char *sl_mip_backend_name(unsigned i);

/*
 * Start a server: a process that from now on starts the solvers for this one, which is about to lose the right to make
 * processes (process/harden.h).  The server loads the solvers' libraries, then calls confine(arg), and ends when this process
 * ends.  Returns 0, or -1 with *err: then there are no solvers.
 */
int sl_mip_start_server(int (*confine)(void *arg, struct sl_error *err), void *arg, struct sl_error *err);

/* True if the server was started and has ended: nothing can be solved any more. */
bool sl_mip_server_gone(void);

#endif
