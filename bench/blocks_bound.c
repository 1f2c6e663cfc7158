/* SPDX-License-Identifier: MIT */
#include "bench/blocks_bound.h"

/*
 * Pieces of at least *small* nodes, for one value of it: two of more than half a block never share a block, and those of more than
 * size - small share one with none of the others; what of the rest the blocks of the middle ones cannot take needs further ones.
 */
static uint32_t at_least_beside(const uint32_t count[], uint32_t size, uint32_t small)
{
	uint32_t alone = 0, middle = 0, room = 0, rest = 0;

	for (uint32_t s = 1; s <= size; s++) {
		if (s > size - small) {
			alone += count[s];
		} else if (2 * s > size) {
			middle += count[s];
			room += count[s] * (size - s);
		} else if (s >= small) {
			rest += count[s] * s;
		}
	}
	return alone + middle + (rest > room ? (rest - room + size - 1) / size : 0);
}

uint32_t blocks_at_least(const uint32_t count[], uint32_t size)
{
	uint32_t most = 0;

	for (uint32_t small = 0; 2 * small <= size; small++) {
		uint32_t n = at_least_beside(count, size, small);

		most = n > most ? n : most;
	}
	return most;
}

uint32_t blocks_enough(const uint32_t count[], uint32_t size)
{
	uint32_t with_room[BLOCKS_LARGEST + 1] = { 0 };		/* blocks in use, by what is free in them */
	uint32_t blocks = 0;

	for (uint32_t s = size; s; s--)
		for (uint32_t k = 0; k < count[s]; k++) {
			uint32_t room = s;

			while (room <= size && !with_room[room])
				room++;
			if (room > size) {
				room = size;
				with_room[room]++;
				blocks++;
			}
			with_room[room]--;
			with_room[room - s]++;
		}
	return blocks;
}
