/* SPDX-License-Identifier: MIT */
/*
 * heap.h - binary heaps in arrays of any type: what comes first is in element 0.
 *
 * SL_HEAP(NAME, TYPE, CONTEXT, BEFORE) defines, where it stands, functions for heaps of TYPE
 * that are ordered by bool BEFORE(CONTEXT, const TYPE *a, const TYPE *b), which is inlined;
 * CONTEXT is the type of a pointer that is handed through to it.  The array and its length
 * are the caller's (base/grow.h makes room).
 *
 *   NAME_sift_down(context, heap, n, i)  element i has come to be later
 *   NAME_sift_up(context, heap, i)       element i has come to be earlier, or is new
 *   NAME_order(context, heap, n)         make a heap of any array
 *   NAME_drop_first(context, heap, &n)   take element 0 out; n > 0
 */
#ifndef SL_HEAP_H
#define SL_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#define SL_HEAP(name, type, context, before) \
static __attribute__((unused)) void name##_sift_down(context ctx, type *heap, uint32_t n, uint32_t i) \
{ \
	uint32_t child; \
	type moved; \
\
	if (i >= n) \
		return; \
	moved = heap[i]; \
	while ((child = 2 * i + 1) < n) { \
		if (child + 1 < n && before(ctx, &heap[child + 1], &heap[child])) \
			child++; \
		if (!before(ctx, &heap[child], &moved)) \
			break; \
		heap[i] = heap[child]; \
		i = child; \
	} \
	heap[i] = moved; \
} \
\
static __attribute__((unused)) void name##_sift_up(context ctx, type *heap, uint32_t i) \
{ \
	type moved = heap[i]; \
\
	for (; i && before(ctx, &moved, &heap[(i - 1) / 2]); i = (i - 1) / 2) \
		heap[i] = heap[(i - 1) / 2]; \
	heap[i] = moved; \
} \
\
static __attribute__((unused)) void name##_order(context ctx, type *heap, uint32_t n) \
{ \
	for (uint32_t i = n / 2; i-- > 0; ) \
		name##_sift_down(ctx, heap, n, i); \
} \
\
static __attribute__((unused)) void name##_drop_first(context ctx, type *heap, uint32_t *n) \
{ \
	heap[0] = heap[--*n]; \
	name##_sift_down(ctx, heap, *n, 0); \
}

#endif
