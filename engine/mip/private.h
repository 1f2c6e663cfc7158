/* SPDX-License-Identifier: MIT */
/* mip/private.h - what the files of mip/ share, backends included. */
#ifndef SL_MIP_PRIVATE_H
#define SL_MIP_PRIVATE_H

#include <sys/types.h>

#include "mip/mip.h"

struct sl_mip_backend;

/* The result of solving a model's relaxation: the solver's bound, and the iterations that it took.  A search with a start
 * solves the relaxation first (child.c).  Its result is the same each time, so it is kept until the model changes. */
struct sl_mip_relaxed {
	const struct sl_mip_backend *backend;	/* that solved it; NULL: not solved yet */
	double bound;
	int64_t iterations;
};

struct sl_mip {
	bool maximize;
	sl_mip_alloc *alloc;
	void *ud;
	uint32_t columns, rows, terms;
	size_t column_room, row_room, term_room, name_room, names;
	double *lb, *ub, *obj;		/* by column */
	uint8_t *integer;
	uint32_t *column_name;		/* offset in name, 0: none */
	uint32_t *seen;			/* last row that had the column, + 1; finds columns that are twice in a row */
	double *lo, *hi;		/* by row */
	uint32_t *begin;		/* rows + 1 entries, once there is a row */
	uint32_t *row_name;
	uint32_t *column;		/* by term */
	double *coefficient;
	char *name;			/* all names, each with its NUL */
	double *start;			/* values, or NULL */
	uint32_t start_columns;
	struct sl_mip_relaxed relaxed;
};

/* The iterations that a node of the search counts as, for a backend that limits nodes instead of iterations. */
#define SL_MIP_ITERATIONS_A_NODE 4

/*
 * An iteration of a search counts as so many of a relaxation, because a search does few, and its other work (cuts,
 * heuristics, nodes) is measured only by them.  Measured on programs of ip_window: one second of a search is 0.5 to 1 second
 * of work; with equal weights one second of a relaxation would be 5 (300 columns) to 530 (12,000 columns).
 */
#define SL_MIP_RELAXED 50

/* A problem in the form that backends need: by columns, with at least one row. */
struct sl_mip_problem {
	bool maximize, relax;
	int columns, rows, terms;
	double *lb, *ub, *obj;
	char *integer;
	double *lo, *hi;
	int *begin, *index;		/* begin[columns + 1] */
	double *value;
	const double *start;		/* a verified solution, or NULL */
	double start_objective;
	struct sl_mip_relaxed relaxed;	/* the relaxation's result, if known */
	double time_limit;		/* seconds of wall time; INFINITY: no limit */
	double gap;
	int64_t iterations;		/* limit for a search; for a relaxation SL_MIP_RELAXED times as many */
	int32_t max_nodes;		/* limit for the nodes of a search; not more than *iterations* allow */
};

/* The answer of the solver's process, in memory shared with its parent, which trusts none of it.  *claim* is what the
 * solver says that it has found. */
enum sl_mip_claim { SL_CLAIM_NONE, SL_CLAIM_OPTIMAL, SL_CLAIM_STOPPED, SL_CLAIM_INFEASIBLE, SL_CLAIM_UNBOUNDED,
		    SL_CLAIM_FAILED };
struct sl_mip_answer {
	int32_t claim;
	int32_t has_values;
	double bound;			/* NAN: none */
	int64_t nodes;
	int64_t iterations;		/* total done */
	char message[128];
	double x[];
};

/* mip/library.c: the library of a solver.  It is loaded at most once and never closed. */
struct sl_mip_function {
	const char *name;
	void *pointer;			/* address of the pointer to the function */
};

struct sl_mip_library {
	const char *soname;
	const struct sl_mip_function *function;	/* ends with a NULL name */
	bool tried, complete;		/* complete: all functions were found */
};

/* Load the library and find its functions.  0, or -1 with *err; a second call returns the same as the first. */
int sl_mip_library_load(struct sl_mip_library *l, struct sl_error *err);

/* For X lists of functions: declares pName, a pointer to the function Name, and makes its row of the table. */
#define SL_MIP_POINTER(name) static __typeof__(name) *p##name;
#define SL_MIP_FUNCTION(name) { #name, &p##name },

/* An objective or bound of a solver with a larger magnitude means "none". */
#define SL_MIP_NOTHING 1e49

struct sl_mip_backend {
	const char *name;
	bool proves_infeasible;
	struct sl_mip_library *library;	/* loaded in the parent, before the first solve */
	/* called in the solver's process */
	void (*solve)(const struct sl_mip_problem *p, struct sl_mip_answer *a);
	/* Called in a kept process after an answer: frees what the last solve has left.  NULL: it leaves nothing. */
	void (*forget)(void);
};

extern const struct sl_mip_backend sl_mip_coinmp, sl_mip_cbc;

/* How the solver's process ended. */
enum sl_mip_end { SL_END_ANSWERED, SL_END_DEADLINE, SL_END_SIGNAL, SL_END_EXIT, SL_END_NOT_STARTED };
struct sl_mip_report {
	enum sl_mip_end end;
	int status;			/* signal, exit status or errno */
	double seconds, wall;
};

/* mip/child.c: solve in a process of its own.  When this returns the process has ended and its answer is in *a* (from
 * sl_mip_answer_map()). */
size_t sl_mip_answer_size(uint32_t columns);
struct sl_mip_answer *sl_mip_answer_map(uint32_t columns, struct sl_error *err);
void sl_mip_answer_unmap(struct sl_mip_answer *a, uint32_t columns);
void sl_mip_run(const struct sl_mip *m, const struct sl_mip_options *o, const struct sl_mip_backend *backend,
		const double *start, double start_objective, struct sl_mip_answer *a, struct sl_mip_report *report);

/* The work of a solver's process, after it has been confined.  *soft_s*: seconds of wall time from *begin* on (INFINITY:
 * no limit).  Returns 0 with the outcome in *a*; -1 without memory. */
int sl_mip_solve_here(const struct sl_mip *m, const struct sl_mip_options *o, const struct sl_mip_backend *backend,
		      const double *start, double start_objective, double soft_s, int64_t begin, struct sl_mip_answer *a);

/* Copy this process, as fork() does.  Returns 0 in the copy, its pid here, or -1. */
pid_t sl_mip_copy_process(void);

/* Confine a solver's process: default signals, an end together with *parent*, limits on files and processes, and a limit
 * on memory of *memory_mb* above *size* bytes (0: no limit). */
int sl_mip_confine(uint32_t memory_mb, uint64_t size, pid_t parent, struct sl_error *err);

/* Close all descriptors from *first* on. */
void sl_mip_close_from(unsigned first);

/* Filter system calls: a solver's process keeps memory, clocks, and its open descriptors. */
int sl_mip_filter_calls(struct sl_error *err);

/* Wait for a solver's process that has ended or is about to.  *until* (CLOCK_MONOTONIC): the end of its time. */
void sl_mip_reap(pid_t pid, int64_t until, struct sl_mip_report *report);

/* Bytes of address space of this process, and so of a copy of it; 0: unknown. */
uint64_t sl_mip_own_size(void);

/* mip/packed.c: the size of a model and the options of a solve.  With the model's arrays as bytes this is all that another
 * process needs; names are left out. */
struct sl_mip_question {
	uint32_t columns, rows, terms, memory_mb;
	uint8_t maximize, relax, has_start, clock, zero[4];
	double start_objective, time_limit, hangs_s, gap;
	int64_t max_nodes, deadline_ns;
	struct sl_mip_relaxed relaxed;
};

struct sl_mip_question sl_mip_question_of(const struct sl_mip *m, const struct sl_mip_options *o, bool has_start,
					  double start_objective);
struct sl_mip_options sl_mip_options_of(const struct sl_mip_question *q);
size_t sl_mip_packed_size(const struct sl_mip_question *q);
void sl_mip_pack(const struct sl_mip_question *q, const struct sl_mip *m, const double *start, void *to);

/* Makes *m and *start (or NULL) point into *from*. */
void sl_mip_unpack(const struct sl_mip_question *q, void *from, struct sl_mip *m, const double **start);

/*
 * mip/kept.c: sl_mip_run() in a process that is kept for the next solve, if sl_mip_keep() allows one and the clock does not
 * count.  False if that is not possible, or if the process has ended or failed: then *a* has no answer, and only
 * report->seconds is valid (unchanged if nothing was tried).
 */
bool sl_mip_run_kept(const struct sl_mip *m, const struct sl_mip_options *o, const struct sl_mip_backend *backend,
		     const double *start, double start_objective, struct sl_mip_answer *a, struct sl_mip_report *report);

/* Nanoseconds after which a solve with these options has ended in any case. */
int64_t sl_mip_longest_ns(const struct sl_mip_options *o);

/* Called while files can still be opened, because sl_mip_run() needs the size of this process. */
void sl_mip_know_size(void);

/* mip/proven.c: true if it was proven that no solution is better by more than *slack* than one worth *objective*.  False
 * proves nothing: a better one may exist, or the program is no packing or too large for a quick proof. */
bool sl_mip_is_best(const struct sl_mip *m, double objective, double slack);

/* mip/solve.c: compiled-in backend number k, or NULL. */
const struct sl_mip_backend *sl_mip_backend(unsigned k);

/* mip/server.c: sl_mip_ask() is sl_mip_run() in the server, for a process that has started one (mip.h).
 * sl_mip_server_has(): 0 if the server has loaded backend k, or -1 with *err. */
bool sl_mip_has_server(void);
int sl_mip_server_has(unsigned k, struct sl_error *err);
void sl_mip_ask(const struct sl_mip *m, const struct sl_mip_options *o, unsigned backend, const double *start,
		double start_objective, struct sl_mip_answer *a, struct sl_mip_report *report);

/* Seconds of work that one iteration counts as. */
double sl_mip_iteration_s(const struct sl_mip *m);

/* The name of a column or row for messages; if it has none, its number. */
const char *sl_mip_column_text(const struct sl_mip *m, uint32_t column, char buffer[64]);
const char *sl_mip_row_text(const struct sl_mip *m, uint32_t row, char buffer[64]);

#endif
