/* SPDX-License-Identifier: MIT */
/*
 * make_image.h - random, valid images for property tests, fuzzing and benches.
 *
 * The same seed makes the same image.  Rows are appended in the order in which
 * JSON is read, so that an image survives the way through JSON byte for byte.
 */
#ifndef MAKE_IMAGE_H
#define MAKE_IMAGE_H

#include "image/plan_image.h"
#include "image/snapshot.h"

/* A generator of random numbers (splitmix64). */
uint64_t make_random(uint64_t *seed);
uint32_t make_below(uint64_t *seed, uint32_t limit);	/* 0 <= n < limit */

/* Append a snapshot of so many nodes and jobs (a third of them running). */
void make_snapshot(struct sl_builder *b, uint64_t seed, uint32_t nodes, uint32_t jobs);

/* Append a plan about so many jobs on so many nodes. */
void make_plan(struct sl_builder *b, uint64_t seed, uint32_t nodes, uint32_t jobs);

#endif
