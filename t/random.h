/* SPDX-License-Identifier: MIT */
/*
 * random.h - numbers for property tests: the same on every machine for a seed.
 *
 * A test prints its seed when it fails; SL_SEED in the environment sets it, and
 * SL_ROUNDS multiplies how much is tried.  Under sanitizers, which take several times as long
 * and look at each access whatever comes of it, it is a quarter where nothing is said.
 */
#ifndef T_RANDOM_H
#define T_RANDOM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* One of each in a program, whichever of its files include this. */
__attribute__((weak)) uint64_t random_state = 1;
__attribute__((weak)) uint64_t failing_seed;	/* of the round that runs; 0: none does */

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

/* How often to try, where *usual* is what a run for every day has time for. */
static inline uint64_t rounds_of(uint64_t usual)
{
#ifdef __SANITIZE_ADDRESS__
	if (!getenv("SL_ROUNDS"))
		return (usual + 3) / 4;
#endif
	return usual * number_from("SL_ROUNDS", 1);
}

/* The teardown of a test that sets failing_seed: runs also when it failed. */
static inline int say_seed(void **state)
{
	(void) state;
	if (failing_seed)
		printf("# SL_SEED=%llu\n", (unsigned long long) failing_seed);
	return 0;
}

#endif
