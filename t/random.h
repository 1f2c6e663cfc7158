/* SPDX-License-Identifier: MIT */
/*
 * random.h - numbers for property tests: the same on every machine for a seed.
 *
 * A test prints its seed when it fails; SL_SEED in the environment sets it, and
 * SL_ROUNDS multiplies how much is tried.
 */
#ifndef T_RANDOM_H
#define T_RANDOM_H

#include <stdint.h>
#include <stdlib.h>

static uint64_t random_state = 1;

static inline uint64_t random_u64(void)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15u;	/* splitmix64 */

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* 0 .. n-1 */
static inline uint32_t below(uint32_t n)
{
	return (uint32_t) (random_u64() % n);
}

/* a .. b */
static inline int64_t between(int64_t a, int64_t b)
{
	return a + (int64_t) (random_u64() % (uint64_t) (b - a + 1));
}

static inline int one_in(uint32_t n)
{
	return below(n) == 0;
}

static inline uint64_t number_from(const char *name, uint64_t otherwise)
{
	const char *s = getenv(name);

	return s && *s ? strtoull(s, NULL, 0) : otherwise;
}

#endif
