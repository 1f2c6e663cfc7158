/* SPDX-License-Identifier: MIT */
/*
 * nodeset.h - a set of node indices, as sorted disjoint runs.
 *
 * Nodes are numbered from 0 in the order of the snapshot (Slurm's node table).  Two runs never touch, so equal sets have
 * equal runs.  An operation costs the number of runs, not of nodes.  Union and subtraction of a set with few runs edit the
 * other set in place (a binary search and a memmove for each run).
 *
 * Ownership: the struct is a value and owns its array of runs.  A set of zero bytes (SL_NODESET_EMPTY) is empty and needs no
 * sl_nodeset_free(); any other does.  Fields may be read; change them only through the functions.  Threads: several may read
 * a const set.
 *
 * Errors: functions that may need memory take *err (may be NULL) and return 0 or -1 (SL_ENOMEM; SL_ELIMIT and SL_EINVAL for a
 * bad run).  On failure the set is unchanged.
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
	uint32_t room;		/* allocated runs */
	uint32_t count;		/* nodes in the set */
};

#define SL_NODESET_EMPTY { NULL, 0, 0, 0 }

/* Free the memory.  The set is empty afterwards and can be used again. */
void sl_nodeset_free(struct sl_nodeset *s);

/* Empty the set, keep its memory. */
void sl_nodeset_clear(struct sl_nodeset *s);

/* *to becomes a copy of *from; its array is reused. */
int sl_nodeset_copy(struct sl_nodeset *to, const struct sl_nodeset *from, struct sl_error *err);

/* Add the nodes first..last.  Appending takes constant time, so building a set in ascending order is linear. */
int sl_nodeset_add(struct sl_nodeset *s, uint32_t first, uint32_t last, struct sl_error *err);

/* *s |= *b, *s &= *b, *s &= ~*b.  b may equal s. */
int sl_nodeset_union(struct sl_nodeset *s, const struct sl_nodeset *b, struct sl_error *err);
int sl_nodeset_intersect(struct sl_nodeset *s, const struct sl_nodeset *b, struct sl_error *err);
int sl_nodeset_subtract(struct sl_nodeset *s, const struct sl_nodeset *b, struct sl_error *err);

/* *out = *a & *b.  *out must be another set than either; cheaper than copying the larger one. */
int sl_nodeset_meet(struct sl_nodeset *out, const struct sl_nodeset *a, const struct sl_nodeset *b,
		    struct sl_error *err);

/* Number of nodes in *a & *b. */
uint32_t sl_nodeset_common(const struct sl_nodeset *a, const struct sl_nodeset *b);

static inline uint32_t sl_nodeset_count(const struct sl_nodeset *s)
{
	return s->count;
}

bool sl_nodeset_contains(const struct sl_nodeset *s, uint32_t node);

/* True if all nodes of *b are in *s; true if some node of *b is in *s. */
bool sl_nodeset_includes(const struct sl_nodeset *s, const struct sl_nodeset *b);
bool sl_nodeset_overlaps(const struct sl_nodeset *s, const struct sl_nodeset *b);

bool sl_nodeset_equal(const struct sl_nodeset *a, const struct sl_nodeset *b);

/* Number of the first run that ends at or after *node*, s->runs if there is none: where a search or a merge begins. */
uint32_t sl_nodeset_find(const struct sl_nodeset *s, uint32_t node);

/* The smallest node >= *from* in the set, SL_MAX_NODES if there is none.  for (n = sl_nodeset_next(s, 0); n <
 * SL_MAX_NODES; n = sl_nodeset_next(s, n + 1)) */
uint32_t sl_nodeset_next(const struct sl_nodeset *s, uint32_t from);

#endif
