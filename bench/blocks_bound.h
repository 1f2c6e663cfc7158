/* SPDX-License-Identifier: MIT */
/*
 * blocks_bound.h - into how few blocks of one size pieces could be packed, if all of them could be put anywhere.
 *
 * count[s] is the number of pieces of s nodes, 1 <= s <= size <= BLOCKS_LARGEST; each piece lies in one block.
 */
#ifndef BENCH_BLOCKS_BOUND_H
#define BENCH_BLOCKS_BOUND_H

#include <stdint.h>

#define BLOCKS_LARGEST 64

/* No packing has fewer blocks than that (Martello and Toth's L2). */
uint32_t blocks_at_least(const uint32_t count[], uint32_t size);

/* A packing with that many blocks exists: the largest piece first, into the fullest block that has room for it. */
uint32_t blocks_enough(const uint32_t count[], uint32_t size);

#endif
