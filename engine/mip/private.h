/* SPDX-License-Identifier: MIT */
/*
 * mip/private.h - what the files of the unit mip share, backends among them.
 */
#ifndef SL_MIP_PRIVATE_H
#define SL_MIP_PRIVATE_H

#include <sys/types.h>

#include "mip/mip.h"

struct sl_mip {
	bool maximize;
	sl_mip_alloc *alloc;
	void *ud;
	uint32_t columns, rows, terms;
	size_t column_room, row_room, term_room, name_room, names;
	double *lb, *ub, *obj;		/* by column */
	uint8_t *integer;
	uint32_t *column_name;		/* offset in name, 0: none */
	uint32_t *seen;			/* row + 1 where the column was last */
	double *lo, *hi;		/* by row */
	uint32_t *begin;		/* rows + 1 of them, when there is a row */
	uint32_t *row_name;
	uint32_t *column;		/* by term */
	double *coefficient;
	char *name;			/* all names, each with its NUL */
	double *start;			/* values, or NULL */
	uint32_t start_columns;
};

/* Where a backend limits nodes of the search and not iterations, a node counts as so many of them. */
#define SL_MIP_ITERATIONS_A_NODE 4

/*
 * An iteration of a search counts as so many of a relaxation: those of a search are few, and what else
 * it does, cuts, heuristics and nodes, is counted by them.  Measured on programs of ip_window: a
 * second of a search is 0.5 to 1 of work; a second of a relaxation would be 5 (300 columns) to 530
 * (12,000 columns), counted alike.
 */
#define SL_MIP_RELAXED 50

/* A problem as backends want it: columns one after the other, at least one row. */
struct sl_mip_problem {
	bool maximize, relax;
	int columns, rows, terms;
	double *lb, *ub, *obj;
	char *integer;
	double *lo, *hi;
	int *begin, *index;		/* begin[columns + 1] */
	double *value;
	const double *start;		/* a solution, verified; or NULL */
	double start_objective;
	double time_limit;		/* seconds by the clock; INFINITY: it does not count */
	double gap;
	int64_t iterations;		/* of a search, at most; of a relaxation SL_MIP_RELAXED times as many */
	int32_t max_nodes;		/* of the search, at most; never more than iterations allow */
};

/*
 * What the solver's process says, in memory shared with its parent, who believes
 * none of it.  *state* is written last.
 */
enum sl_mip_claim { SL_CLAIM_NONE, SL_CLAIM_OPTIMAL, SL_CLAIM_STOPPED, SL_CLAIM_INFEASIBLE, SL_CLAIM_UNBOUNDED,
		    SL_CLAIM_FAILED };
struct sl_mip_answer {
	int32_t claim;
	int32_t has_values;
	double bound;			/* NAN: none */
	int64_t nodes;
	int64_t iterations;		/* done in all */
	char message[128];
	double x[];
};

/* mip/library.c: a solver's library, of which a backend has one and never closes it. */
struct sl_mip_function {
	const char *name;
	void *pointer;			/* to the pointer that shall point to it */
};

struct sl_mip_library {
	const char *soname;
	const struct sl_mip_function *function;	/* ends with a NULL name */
	bool tried, complete;		/* complete: all functions were found */
};

/* Open it and find its functions: 0, or -1 with *err, the first time and ever after. */
int sl_mip_library_load(struct sl_mip_library *l, struct sl_error *err);

/* For X lists of functions: pName, a pointer to the function Name, and its row of the table. */
#define SL_MIP_POINTER(name) static __typeof__(name) *p##name;
#define SL_MIP_FUNCTION(name) { #name, &p##name },

/* Beyond it a solver's objective or bound stands for none. */
#define SL_MIP_NOTHING 1e49

struct sl_mip_backend {
	const char *name;
	bool proves_infeasible;
	struct sl_mip_library *library;	/* loaded in the parent, before the first solve */
	/* In the solver's process. */
	void (*solve)(const struct sl_mip_problem *p, struct sl_mip_answer *a);
};

extern const struct sl_mip_backend sl_mip_coinmp, sl_mip_cbc;

/* How the solver's process ended. */
enum sl_mip_end { SL_END_ANSWERED, SL_END_DEADLINE, SL_END_SIGNAL, SL_END_EXIT, SL_END_NOT_STARTED };
struct sl_mip_report {
	enum sl_mip_end end;
	int status;			/* signal, exit status or errno */
	double seconds, wall;
};

/*
 * mip/child.c: solve in a process of its own.  The answer is in *a* (made by
 * sl_mip_answer_map()) when this returns; the process is gone.
 */
size_t sl_mip_answer_size(uint32_t columns);
struct sl_mip_answer *sl_mip_answer_map(uint32_t columns, struct sl_error *err);
void sl_mip_answer_unmap(struct sl_mip_answer *a, uint32_t columns);
void sl_mip_run(const struct sl_mip *m, const struct sl_mip_options *o, const struct sl_mip_backend *backend,
		const double *start, double start_objective, struct sl_mip_answer *a, struct sl_mip_report *report);

/* When all of a solve with these options is over, from now on. */
int64_t sl_mip_longest_ns(const struct sl_mip_options *o);

/* Called while files can still be opened: sl_mip_run() has to know how large this process is. */
void sl_mip_know_size(void);

/* mip/solve.c: backend k of those that were compiled in, or NULL. */
const struct sl_mip_backend *sl_mip_backend(unsigned k);

/*
 * mip/server.c: sl_mip_ask() is sl_mip_run() by the server (mip.h), for a process that has one.
 * sl_mip_server_has() is 0 if the server has loaded backend k, or -1 with *err.
 */
bool sl_mip_has_server(void);
int sl_mip_server_has(unsigned k, struct sl_error *err);
void sl_mip_ask(const struct sl_mip *m, const struct sl_mip_options *o, unsigned backend, const double *start,
		double start_objective, struct sl_mip_answer *a, struct sl_mip_report *report);

/* Seconds of work that an iteration is worth. */
double sl_mip_iteration_s(const struct sl_mip *m);

/* The name of a column or row, or its number, for messages. */
const char *sl_mip_column_text(const struct sl_mip *m, uint32_t column, char buffer[64]);
const char *sl_mip_row_text(const struct sl_mip *m, uint32_t row, char buffer[64]);

#endif
