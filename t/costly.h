/* SPDX-License-Identifier: MIT */
/*
 * costly.h - requests that users may write, and that are as slow to plan as they can be made.
 *
 * Constraints of 1,023 bytes, lists of half of the machine's nodes, heterogeneous jobs of 128 components, 16
 * alternatives, lists of node counts, and all of that together; drawn at random, the same from the same seed.  They are
 * appended to a builder that has a machine of bench/busy.h.
 *
 * Ownership: the builder's.  Threads: none.
 */
#ifndef COSTLY_H
#define COSTLY_H

#include "image/snapshot.h"

enum costly {
	COSTLY_PLAIN,		/* for comparison: a few cores of a node or some nodes */
	COSTLY_CONSTRAINT,	/* --constraint of 1,023 bytes with 16 choices */
	COSTLY_COUNTS,		/* --constraint with 8 counts */
	COSTLY_PREFER,		/* --prefer beside --constraint, 16 choices each */
	COSTLY_EXCLUDE,	/* --exclude of every other node */
	COSTLY_REQUIRE,	/* --nodelist of up to half of the nodes */
	COSTLY_HET,		/* 128 components, each with one of the others */
	COSTLY_SHAPES,		/* 16 alternatives */
	COSTLY_NODE_COUNTS,	/* --nodes=1,3,5,... */
	COSTLY_CONTIGUOUS,
	COSTLY_WIDE,		/* many tasks that may lie anywhere, on few nodes */
	COSTLY_ALL,		/* some of each */
	COSTLY_KINDS
};

const char *costly_word(enum costly kind);

/* Give the nodes features: a rack each, and a dozen of sixty others, which seldom are those of the neighbour. */
void costly_features(struct sl_builder *b, uint32_t nodes, uint64_t seed);

#define COSTLY_COMPONENTS 128

/* Append a job of that kind, pending and queued, of user *uid*; of a heterogeneous one all components, ids from *id* on.
 * Its row, of the leader. */
uint32_t costly_job(struct sl_builder *b, enum costly kind, uint32_t nodes, uint32_t id, uint32_t uid, uint64_t seed);

#endif
