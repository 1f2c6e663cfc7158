/* SPDX-License-Identifier: MIT */
/*
 * random.h - numbers that look random and are the same for the same seed.
 *
 * The generator is xoshiro256** of Blackman and Vigna (ACM TOMS 47:4, 2021),
 * seeded as they advise from splitmix64.  For workloads and tests; never for
 * secrets.  Ownership: a value.  Threads: one generator, one thread.
 */
#ifndef SL_RANDOM_H
#define SL_RANDOM_H

#include <math.h>
#include <stdint.h>

struct sl_random {
	uint64_t s[4];
};

static inline void sl_random_seed(struct sl_random *r, uint64_t seed)
{
	for (int i = 0; i < 4; i++) {
		uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);

		z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
		z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
		r->s[i] = z ^ z >> 31;
	}
}

static inline uint64_t sl_random_u64(struct sl_random *r)
{
	uint64_t *s = r->s, x = s[1] * 5, t = s[1] << 17;

	x = (x << 7 | x >> 57) * 9;
	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = s[3] << 45 | s[3] >> 19;
	return x;
}

/* 0 <= n < limit, each equally likely.  limit > 0. */
static inline uint64_t sl_random_below(struct sl_random *r, uint64_t limit)
{
	uint64_t least = -limit % limit, x;	/* 2^64 mod limit: what would be one too many */

	do
		x = sl_random_u64(r);
	while (x < least);
	return x % limit;
}

/* lo <= n <= hi */
static inline int64_t sl_random_between(struct sl_random *r, int64_t lo, int64_t hi)
{
	return lo + (int64_t) sl_random_below(r, (uint64_t) (hi - lo) + 1);
}

/* 0 <= x < 1 */
static inline double sl_random_real(struct sl_random *r)
{
	return (double) (sl_random_u64(r) >> 11) * 0x1p-53;
}

/* Mean 0, variance 1 (Box and Muller 1958; the second of the pair is not used,
 * so that there is no state to carry). */
static inline double sl_random_gauss(struct sl_random *r)
{
	double u = 1.0 - sl_random_real(r), v = sl_random_real(r);

	return sqrt(-2.0 * log(u)) * cos(2.0 * 3.14159265358979323846 * v);
}

/* Mean 1. */
static inline double sl_random_exponential(struct sl_random *r)
{
	return -log(1.0 - sl_random_real(r));
}

#endif
