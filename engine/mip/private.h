/* SPDX-License-Identifier: MIT */
/*
 * mip/private.h - what the files of the unit mip share, backends among them.
 */
#ifndef SL_MIP_PRIVATE_H
#define SL_MIP_PRIVATE_H

#include <sys/types.h>

#include "mip/mip.h"

struct sl_mip_backend;

/*
 * What a relaxation was found to be: the solver's bound, and the iterations that it took.  A search that has a start
 * begins with the relaxation (child.c), which is the same each time, so a model that has not changed keeps it.
 */
struct sl_mip_relaxed {
	const struct sl_mip_backend *backend;	/* whose words these are; NULL: not known */
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
	uint32_t *seen;			/* row + 1 where the column was last */
	double *lo, *hi;		/* by row */
	uint32_t *begin;		/* rows + 1 of them, when there is a row */
	uint32_t *row_name;
	uint32_t *column;		/* by term */
	double *coefficient;
	char *name;			/* all names, each with its NUL */
	double *start;			/* values, or NULL */
	uint32_t start_columns;
	struct sl_mip_relaxed relaxed;
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
	struct sl_mip_relaxed relaxed;	/* of this program, if it was solved before */
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
	/* In one that is kept, after its answer: free what the last solve has left.  NULL: it leaves nothing. */
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

/*
 * mip/child.c: solve in a process of its own.  The answer is in *a* (made by
 * sl_mip_answer_map()) when this returns; the process is gone.
 */
size_t sl_mip_answer_size(uint32_t columns);
struct sl_mip_answer *sl_mip_answer_map(uint32_t columns, struct sl_error *err);
void sl_mip_answer_unmap(struct sl_mip_answer *a, uint32_t columns);
void sl_mip_run(const struct sl_mip *m, const struct sl_mip_options *o, const struct sl_mip_backend *backend,
		const double *start, double start_objective, struct sl_mip_answer *a, struct sl_mip_report *report);

/*
 * What a solver's process does once it is confined.  *soft_s* seconds by the clock from *begin* on (INFINITY: it does not count).
 * Returns 0 with whatever came out of it in *a*; -1 when there is no memory to begin with.
 */
int sl_mip_solve_here(const struct sl_mip *m, const struct sl_mip_options *o, const struct sl_mip_backend *backend,
		      const double *start, double start_objective, double soft_s, int64_t begin, struct sl_mip_answer *a);

/* A copy of this process, as fork() makes it: 0 in the copy, its number here, or -1. */
pid_t sl_mip_copy_process(void);

/*
 * In a solver's process: default signals, an end with *parent*, limits on files, processes, and on memory: *memory_mb* beside
 * *size* bytes (0: no limit).
 */
int sl_mip_confine(uint32_t memory_mb, uint64_t size, pid_t parent, struct sl_error *err);

/* Close descriptor *first* and all above it. */
void sl_mip_close_from(unsigned first);

/* Leaves a solver's process memory, clocks, and what it has open. */
int sl_mip_filter_calls(struct sl_error *err);

/* Wait for a solver's process that has ended or is about to; *until* (CLOCK_MONOTONIC): when its time was up. */
void sl_mip_reap(pid_t pid, int64_t until, struct sl_mip_report *report);

/* Bytes of address space that this process has, and so a copy of it; 0: not known. */
uint64_t sl_mip_own_size(void);

/* mip/packed.c: what is asked of a model, and a model without its names as bytes. */
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

/* The model's arrays, and *start* (or NULL), point into *from*. */
void sl_mip_unpack(const struct sl_mip_question *q, void *from, struct sl_mip *m, const double **start);

/*
 * mip/kept.c: sl_mip_run() by a process that is kept for the next solve, where sl_mip_keep() allows one and the clock does not
 * count.  Returns false where it is not to be used, or is gone, or has failed: then nothing is known but report->seconds, which
 * is as before where nothing was tried.
 */
bool sl_mip_run_kept(const struct sl_mip *m, const struct sl_mip_options *o, const struct sl_mip_backend *backend,
		     const double *start, double start_objective, struct sl_mip_answer *a, struct sl_mip_report *report);

/* When all of a solve with these options is over, from now on. */
int64_t sl_mip_longest_ns(const struct sl_mip_options *o);

/* Called while files can still be opened: sl_mip_run() has to know how large this process is. */
void sl_mip_know_size(void);

/*
 * mip/proven.c: true if it was proven that no solution of the program is better by more than *slack* than one worth *objective*.
 * False says nothing: there may be a better one, or the program is too large for a quick proof, or no packing.
 */
bool sl_mip_is_best(const struct sl_mip *m, double objective, double slack);

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
