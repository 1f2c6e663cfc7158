/* SPDX-License-Identifier: MIT */
/*
 * grow.h - arrays that grow by doubling.
 */
#ifndef SL_GROW_H
#define SL_GROW_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

int sl_grow_by_doubling(void *array, uint32_t *room, uint64_t want, size_t size, struct sl_error *err);

/*
 * Room for *want* elements of *size* bytes in *array (the address of a pointer that was
 * NULL or malloc'ed), which has *room.  Returns 0, or -1 with *err (SL_ENOMEM): nothing
 * changed.
 */
static inline int sl_grow(void *array, uint32_t *room, uint64_t want, size_t size, struct sl_error *err)
{
	return want <= *room ? 0 : sl_grow_by_doubling(array, room, want, size, err);
}

/*
 * Make room for one more element in *array, which has *length* elements.  For short lists that keep no room member:
 * the room is always *length* rounded up to a power of two, so no other function may have made it.
 * Call it only before an element is added: each call with a *length* that is a power of two reallocates the array.
 * Returns as sl_grow().
 */
int sl_grow_list(void *array, uint32_t length, size_t size, struct sl_error *err);

#endif
