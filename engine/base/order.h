/* SPDX-License-Identifier: MIT */
/*
 * order.h - which of two comes first, for qsort() and its like.
 *
 *	return SL_ORDER(a->time, b->time) ?: SL_ORDER(b->weight, a->weight);
 *
 * earlier ones first, of those the heavier ones.  Threads: safe.
 */
#ifndef SL_ORDER_H
#define SL_ORDER_H

#include <stdint.h>

#define SL_ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* Arrays of numbers, ascending. */
static inline int sl_order_u32(const void *a, const void *b)
{
	return SL_ORDER(*(const uint32_t *) a, *(const uint32_t *) b);
}

static inline int sl_order_i64(const void *a, const void *b)
{
	return SL_ORDER(*(const int64_t *) a, *(const int64_t *) b);
}

static inline int sl_order_double(const void *a, const void *b)
{
	return SL_ORDER(*(const double *) a, *(const double *) b);
}

#endif
