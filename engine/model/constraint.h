/* SPDX-License-Identifier: MIT */
/*
 * constraint.h - what sbatch --constraint and --prefer say, as far as nodes can be chosen by it.
 *
 * Names of features joined by "&" (or ",", as Slurm still takes it) and "|", which Slurm reads from
 * left to right, neither before the other; parts of that in parentheses, one deep; and one list in
 * brackets of at most 16, "[a|b]", joined to the rest by "&": all of the job's nodes have the same one of it.
 *
 * Or counts: "a*2" (two of the job's nodes have a), or up to 8 terms in brackets, "[a*2&(b|c)*1]" (two nodes have a, and
 * one other node has b or c).  If the job has more nodes than are counted: with one term these may be any nodes, with
 * several terms each has to satisfy one of them.  A feature without a count beside a count and outside of brackets
 * ("a*2&d") is ignored, as it is by Slurm.
 *
 * Ownership: nothing is kept.  Threads: any.
 */
#ifndef SL_CONSTRAINT_H
#define SL_CONSTRAINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sl_constraint {
	SL_CONSTRAINT_PLACED,		/* as above */
	SL_CONSTRAINT_COUNTED,		/* likewise, with counts */
	SL_CONSTRAINT_OTHER,		/* anything else: for select to read */
	SL_CONSTRAINT_BROKEN,		/* brackets or parentheses that do not match: nobody can read it */
	SL_CONSTRAINT_NO_COUNT,		/* a count that is no number from 1 on */
};

/* What it is; of one that can be placed by, how many there are to choose from in its brackets, 1: it has none;
 * of one with counts, how many terms. */
enum sl_constraint sl_constraint_read(const char *constraint, uint32_t *choices);

#define SL_CONSTRAINT_CHOICES 16	/* at most; where there are more, select chooses */
#define SL_CONSTRAINT_TERMS 8		/* with a count, at most */

/*
 * Sets of features that nodes have, as bits of *words* words: having() returns those sets that have a feature of that
 * name, NULL where none has.
 */
struct sl_feature_bits {
	uint32_t words;
	const uint64_t *(*having)(void *arg, const char *name, size_t length);
	void *arg;
};

/*
 * Which sets satisfy a constraint that is PLACED or COUNTED, its *choice*-th choice taken, or its *choice*-th term; all
 * of an empty constraint.  They become the first *words* words of *out*, which has room for SL_CONSTRAINT_WORK times as
 * many.  The constraint is read once, however many sets there are.
 */
#define SL_CONSTRAINT_WORK 3
void sl_constraint_mark(const char *constraint, uint32_t choice, const struct sl_feature_bits *bits, uint64_t *out);

/* Does a node with these features ("a,b") satisfy it, the *choice*-th in its brackets taken; of one with counts,
 * its *choice*-th term?  An empty one is always satisfied. */
bool sl_constraint_holds(const char *constraint, uint32_t choice, const char *features);

/* How many nodes have to satisfy the *n*-th term of one with counts. */
uint32_t sl_constraint_count(const char *constraint, uint32_t n);

#endif
