/* SPDX-License-Identifier: MIT */
/*
 * number.h - larger and smaller, reading a number, and arithmetic on numbers that come from files and users: a result that does
 * not fit its type is the largest that does, a division by nothing is by one.
 *
 * A count that is too large to be computed is more than any machine has, so that the cap compares as the
 * result would have.  What has to be told as an error is checked before.
 *
 * Threads: safe.
 */
#ifndef SL_NUMBER_H
#define SL_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline uint64_t sl_max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline uint64_t sl_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline int64_t sl_max_signed(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static inline int64_t sl_min_signed(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* a x b */
static inline uint64_t sl_product(uint64_t a, uint64_t b)
{
	uint64_t n;

	return __builtin_mul_overflow(a, b, &n) ? UINT64_MAX : n;
}

/* a x b, or *most* where it is more */
static inline uint64_t sl_product_within(uint64_t a, uint64_t b, uint64_t most)
{
	return sl_min(sl_product(a, b), most);
}

/* a x b of what is signed: INT64_MAX or INT64_MIN where it is beyond them. */
static inline int64_t sl_product_signed(int64_t a, int64_t b)
{
	int64_t n;

	if (!__builtin_mul_overflow(a, b, &n))
		return n;
	return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
}

/* a + b */
static inline uint64_t sl_sum(uint64_t a, uint64_t b)
{
	uint64_t n;

	return __builtin_add_overflow(a, b, &n) ? UINT64_MAX : n;
}

/* a + b of what is signed */
static inline int64_t sl_sum_signed(int64_t a, int64_t b)
{
	int64_t n;

	if (!__builtin_add_overflow(a, b, &n))
		return n;
	return a < 0 ? INT64_MIN : INT64_MAX;
}

/* a - b of what is signed */
static inline int64_t sl_difference(int64_t a, int64_t b)
{
	int64_t n;

	if (!__builtin_sub_overflow(a, b, &n))
		return n;
	return a < 0 ? INT64_MIN : INT64_MAX;
}

/* a / b, rounded up */
static inline uint64_t sl_quotient_up(uint64_t a, uint64_t b)
{
	if (!b)
		return a;
	return a / b + (a % b != 0);
}

/* The largest number that divides both; the other one if one of them is 0. */
static inline uint64_t sl_gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* *n is the number that *length* bytes are: digits and nothing else, from *least* to *most*.  False: they are none. */
static inline bool sl_read_number(const char *text, size_t length, uint32_t least, uint32_t most, uint32_t *n)
{
	uint64_t v = 0;

	for (size_t i = 0; i < length; i++) {
		if (text[i] < '0' || text[i] > '9' || v > most)
			return false;
		v = v * 10 + (uint64_t) (text[i] - '0');
	}
	if (!length || v < least || v > most)
		return false;
	*n = (uint32_t) v;
	return true;
}

/* The number, or the largest of 32 bits that is no SL_NONE. */
static inline uint32_t sl_cap_u32(uint64_t n)
{
	return n < UINT32_MAX ? (uint32_t) n : UINT32_MAX - 1;
}

#endif
