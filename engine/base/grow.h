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
 * Room for one more in *array, which has *length* elements and, since it never had room made
 * for it in another way, as many as the next power of two: for lists that are not worth a
 * member for their room.  For somebody who adds one: room that is asked for again and again, and
 * not used, costs a realloc() each time.  Returns as above.
 */
int sl_grow_list(void *array, uint32_t length, size_t size, struct sl_error *err);

#endif
