/* SPDX-License-Identifier: MIT */
/*
 * constraint.h - what sbatch --constraint and --prefer say, as far as nodes can be chosen by it.
 *
 * Names of features joined by "&" (or ",", as Slurm still takes it) and "|", which Slurm reads from
 * left to right, neither before the other; parts of that in parentheses, one deep; and one list in
 * brackets of at most 16, "[a|b]", joined to the rest by "&": all of the job's nodes have the same one of it.
 *
 * Ownership: nothing is kept.  Threads: any.
 */
#ifndef SL_CONSTRAINT_H
#define SL_CONSTRAINT_H

#include <stdbool.h>
#include <stdint.h>

enum sl_constraint {
	SL_CONSTRAINT_PLACED,		/* as above */
	SL_CONSTRAINT_OTHER,		/* counts, say: for select to read */
	SL_CONSTRAINT_BROKEN,		/* brackets or parentheses that do not match: nobody can read it */
};

/* What it is; of one that can be placed by, how many there are to choose from in its brackets; 1: it has none. */
enum sl_constraint sl_constraint_read(const char *constraint, uint32_t *choices);

/* Does a node with these features ("a,b") satisfy it, the *choice*-th in its brackets taken?  It is one
 * that can be placed by; an empty one is always satisfied. */
bool sl_constraint_holds(const char *constraint, uint32_t choice, const char *features);

#endif
