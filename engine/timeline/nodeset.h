/* SPDX-License-Identifier: MIT */
/*
 * nodeset.h - a set of node indices, as sorted disjoint runs.
 *
 * Nodes are numbered from 0 in the order of the snapshot (Slurm's node table).
 * Runs are maximal: two of them never touch, so that equal sets have equal runs.
 * The cost of an operation follows the number of runs, not of nodes; union and
 * subtraction of a set of few runs edit the other one in place (a binary search
 * and a memmove for each run).
 *
 * Ownership: the struct is a value, its array of runs belongs to it; all bytes
 * zero (SL_NODESET_EMPTY) is the empty set and needs no sl_nodeset_free(), any
 * other does.  Read the fields freely, change them only through the functions.
 * A const set may be read by several threads, otherwise threads: none.
 *
 * Errors: what can run out of memory takes *err (may be NULL), returns 0 or -1
 * (SL_ENOMEM; SL_ELIMIT and SL_EINVAL for a bad run) and on failure leaves the
 * set as it was.
 */
#ifndef SL_NODESET_H
#define SL_NODESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Ceiling: node indices are below this. */
#define SL_MAX_NODES ((uint32_t) 1 << 22)

struct sl_run {			/* both ends included */
	uint32_t first, last;
};

struct sl_nodeset {
	struct sl_run *run;	/* ascending, neither overlapping nor touching */
	uint32_t runs;		/* how many */
	uint32_t room;		/* how many the array can hold */
	uint32_t count;		/* nodes in the set */
};

#define SL_NODESET_EMPTY { NULL, 0, 0, 0 }

/* Give the memory back; the set is empty afterwards and may be used again. */
void sl_nodeset_free(struct sl_nodeset *s);

/* Empty the set, keep its memory. */
void sl_nodeset_clear(struct sl_nodeset *s);

/* *to becomes a copy of *from (its memory is used again). */
int sl_nodeset_copy(struct sl_nodeset *to, const struct sl_nodeset *from, struct sl_error *err);

/* Add the nodes first..last.  Constant time for adding beyond the
 * end of the set, so that building in ascending order is linear. */
int sl_nodeset_add(struct sl_nodeset *s, uint32_t first, uint32_t last, struct sl_error *err);

/* *s |= *b, *s &= *b, *s &= ~*b.  b may be s itself. */
int sl_nodeset_union(struct sl_nodeset *s, const struct sl_nodeset *b, struct sl_error *err);
int sl_nodeset_intersect(struct sl_nodeset *s, const struct sl_nodeset *b, struct sl_error *err);
int sl_nodeset_subtract(struct sl_nodeset *s, const struct sl_nodeset *b, struct sl_error *err);

/* *out = *a & *b, out being neither of them: no copy of the larger one. */
int sl_nodeset_meet(struct sl_nodeset *out, const struct sl_nodeset *a, const struct sl_nodeset *b,
		    struct sl_error *err);

/* Nodes in *a & *b, without making it. */
uint32_t sl_nodeset_common(const struct sl_nodeset *a, const struct sl_nodeset *b);

static inline uint32_t sl_nodeset_count(const struct sl_nodeset *s)
{
	return s->count;
}

bool sl_nodeset_contains(const struct sl_nodeset *s, uint32_t node);

/* Every node of *b is in *s; some node of *b is in *s. */
bool sl_nodeset_includes(const struct sl_nodeset *s, const struct sl_nodeset *b);
bool sl_nodeset_overlaps(const struct sl_nodeset *s, const struct sl_nodeset *b);

bool sl_nodeset_equal(const struct sl_nodeset *a, const struct sl_nodeset *b);

/* Number of the first run that ends at or after *node*: where a search or a merge
 * begins.  s->runs when there is none. */
uint32_t sl_nodeset_find(const struct sl_nodeset *s, uint32_t node);

/* The smallest node of the set that is >= from, SL_MAX_NODES when there is none.
 * for (n = sl_nodeset_next(s, 0); n < SL_MAX_NODES; n = sl_nodeset_next(s, n + 1)) */
uint32_t sl_nodeset_next(const struct sl_nodeset *s, uint32_t from);

#endif
