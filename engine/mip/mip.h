/* SPDX-License-Identifier: MIT */
/*
 * mip.h - mixed-integer programs: building one, solving it, believing nothing.
 *
 *	maximize or minimize  obj x  subject to  lo <= row x <= hi,  lb <= x <= ub,
 *	some x integer
 *
 * A solve happens in a process of its own (mip/child.c), or in one that is kept
 * (sl_mip_keep()); its memory and time are limited, and it is killed and reaped whatever
 * it does.  What it says is verified here: bounds, rows, integrality; the objective is computed again.  A wrong
 * answer is an error of the solver and no solution.  "Infeasible" is said only where it
 * was proven, by this unit or by a backend that can.
 *
 * Ownership: a model owns copies of what it was given; a result owns its values.
 * Threads: solving needs a process of one thread (it is copied).
 */
#ifndef SL_MIP_H
#define SL_MIP_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Caps of a model; what passes one is refused with the cap named (SL_ELIMIT). */
#define SL_MIP_MAX_COLUMNS 1000000u
#define SL_MIP_MAX_ROWS 1000000u
#define SL_MIP_MAX_TERMS 10000000u
/* Largest magnitude of a coefficient or bound; beyond it a bound must be infinite. */
#define SL_MIP_MAX_NUMBER 1e15

/*
 * Work is what a solve has done, the same on every machine and under any load: the simplex
 * iterations, each worth its columns, rows and terms, in seconds of a machine that does so
 * many of these a second.
 */
#define SL_MIP_WORK_A_SECOND 2e7

/* Where the clock does not count, a solve that hangs is ended all the same: after so many seconds, or
 * so many times its time_limit if that is longer. */
#define SL_MIP_HANGS_S 600.0
#define SL_MIP_HANGS_TIMES 100.0

#define SL_MIP_FEASIBILITY 1e-6		/* tolerance, relative to the size of a row's terms */
#define SL_MIP_INTEGRALITY 1e-5

enum sl_mip_status { SL_MIP_OPTIMAL, SL_MIP_FEASIBLE, SL_MIP_INFEASIBLE, SL_MIP_NO_SOLUTION, SL_MIP_ERROR };

/* "optimal", "feasible", "infeasible", "no_solution", "error" */
const char *sl_mip_status_word(enum sl_mip_status status);

/* Like lua_Alloc: a model's memory may be counted by somebody. */
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
	double time_limit;	/* seconds, > 0: of work (below), and of wall time where the clock counts */
	bool clock;		/* wall time counts, too */
	double hangs_s;		/* where it does not: ended after so long all the same; 0: SL_MIP_HANGS_* */
	double gap;		/* relative; 0: proven */
	int64_t max_nodes;	/* of branch and bound; < 0: no limit */
	uint32_t memory_mb;	/* for the solver, on top of what this process has; 0: no limit */
	bool relax;		/* let integer columns be fractions */
	int64_t deadline_ns;	/* CLOCK_MONOTONIC: all is over by then; 0: none */
	const char *backend;	/* NULL: the first there is */
	const struct sl_mip_backend *fake;	/* tests only: used instead */
};

struct sl_mip_result {
	enum sl_mip_status status;
	double objective, bound, gap;	/* NAN where there is none */
	double *values;			/* by column, or NULL */
	uint32_t columns;
	int64_t nodes;
	double work;			/* done, in seconds of work */
	bool hung;			/* ended by hangs_s: on another machine it might have gone on */
	double seconds;			/* CPU time of the solver's process */
	double wall;
	const char *source;		/* backend, "start", "bounds" (no solver was needed), or "" */
	char message[256];
};

struct sl_mip;

/* alloc NULL: malloc.  NULL when there is no memory. */
struct sl_mip *sl_mip_create(bool maximize, sl_mip_alloc *alloc, void *ud);
void sl_mip_destroy(struct sl_mip *m);

/*
 * Add a column or a row; returns its number, from 0, or -1 with *err: SL_EINVAL (not
 * a number, an infinite coefficient, lb above ub, no such column, a column twice in a
 * row), SL_ELIMIT, SL_ENOMEM.  The model stays as it was then.
 */
int64_t sl_mip_var(struct sl_mip *m, const struct sl_mip_column *c, struct sl_error *err);
int64_t sl_mip_add(struct sl_mip *m, const struct sl_mip_row *r, struct sl_error *err);

/* A solution to begin with, values[columns].  It is verified when solving. */
int sl_mip_start(struct sl_mip *m, const double *values, uint32_t columns, struct sl_error *err);

uint32_t sl_mip_columns(const struct sl_mip *m);
uint32_t sl_mip_rows(const struct sl_mip *m);
uint32_t sl_mip_terms(const struct sl_mip *m);
bool sl_mip_is_integer(const struct sl_mip *m, uint32_t column);

/*
 * Solve.  The start is the answer unless something better is found; no solver is asked where that is proven of a small packing (mip/proven.c).
 * Returns 0 with *r, whatever came out of it; -1 with *err for what the caller
 * did wrong: an empty model, options out of range, an unknown backend.
 */
int sl_mip_solve(struct sl_mip *m, const struct sl_mip_options *o, struct sl_mip_result *r, struct sl_error *err);

/* How many solves of this process were ended by hangs_s; CPU seconds of all its solves. */
uint64_t sl_mip_hung(void);
double sl_mip_solver_s(void);

/*
 * For one who solves many programs, without a clock, as a simulation does: between these two calls a solver's process may be
 * kept for the next solve.  The answers are those of a process for each; a process that crashed, hung, leaked or has solved
 * many is replaced.  Calls nest; a copy of this process (fork()) begins without a kept one.
 */
void sl_mip_keep(void);
void sl_mip_release(void);

void sl_mip_result_clear(struct sl_mip_result *r);

/* Name of backend i of those that this program can use, the default first; NULL past the end. */
const char *sl_mip_backend_name(unsigned i);

/*
 * For a process that is about to lose the right to make processes (process/harden.h): start a server, a
 * process that starts solvers for this one from now on.  The server loads their libraries, then calls
 * confine(arg), and ends with this process.  Returns 0; -1 with *err: there are no solvers then.
 */
int sl_mip_start_server(int (*confine)(void *arg, struct sl_error *err), void *arg, struct sl_error *err);

/* The server was started and has ended: nothing can be solved any more. */
bool sl_mip_server_gone(void);

#endif
