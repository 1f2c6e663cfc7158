/* SPDX-License-Identifier: MIT */
/*
 * constraint.h - what sbatch --constraint and --prefer say, as far as nodes can be chosen by it.
 *
 * Syntax: names of features joined by "&" (or ",", which Slurm still accepts) and "|", which Slurm evaluates from left to
 * right without precedence; parentheses, one level deep; and one list in brackets, "[a|b]" with at most 16 names, joined to
 * the rest by "&": all nodes of the job have the same feature of the list.
 *
 * Or counts: "a*2" (two nodes of the job have a), or up to 8 terms in brackets, "[a*2&(b|c)*1]" (two nodes have a, another
 * one has b or c).  If the job has more nodes than are counted: with one term the rest may be any nodes, with several terms
 * each node must satisfy one of them.  A feature without a count, outside of brackets and beside a count ("a*2&d"), is
 * ignored, as by Slurm.
 *
 * Ownership: nothing is kept.  Threads: any.
 */
#ifndef SL_CONSTRAINT_H
#define SL_CONSTRAINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sl_constraint {
	SL_CONSTRAINT_PLACED,		/* no counts */
	SL_CONSTRAINT_COUNTED,		/* with counts */
	SL_CONSTRAINT_OTHER,		/* anything else: left to select */
	SL_CONSTRAINT_BROKEN,		/* unbalanced brackets or parentheses */
	SL_CONSTRAINT_NO_COUNT,		/* a count that is not a number >= 1 */
};

/* The kind of a constraint.  *choices: for PLACED the number of names in its brackets, 1 without brackets; for COUNTED the
 * number of terms. */
enum sl_constraint sl_constraint_read(const char *constraint, uint32_t *choices);

#define SL_CONSTRAINT_CHOICES 16	/* with more choices, select chooses */
#define SL_CONSTRAINT_TERMS 8		/* most terms with a count */

/* Sets of features, as bits in *words* words.  having() returns the sets that include the feature with that name; NULL if
 * none does. */
struct sl_feature_bits {
	uint32_t words;
	const uint64_t *(*having)(void *arg, const char *name, size_t length);
	void *arg;
};

/*
 * Mark in *out* the sets that satisfy a PLACED or COUNTED constraint with its *choice*-th choice or term; an empty constraint
 * is satisfied by all.  The result is in the first *words* words; *out* must have room for SL_CONSTRAINT_WORK times as many.
 * The constraint is parsed once, however many sets there are.
 */
#define SL_CONSTRAINT_WORK 3
void sl_constraint_mark(const char *constraint, uint32_t choice, const struct sl_feature_bits *bits, uint64_t *out);

/* True if a node with these features ("a,b") satisfies the constraint with its *choice*-th choice or term.  An empty
 * constraint is always satisfied. */
bool sl_constraint_holds(const char *constraint, uint32_t choice, const char *features);

/* Number of nodes that must satisfy the *n*-th term of a COUNTED constraint. */
uint32_t sl_constraint_count(const char *constraint, uint32_t n);

#endif
