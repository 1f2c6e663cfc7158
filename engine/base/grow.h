/* SPDX-License-Identifier: MIT */
/*
 * grow.h - arrays that grow by doubling.
 */
#ifndef SL_GROW_H
#define SL_GROW_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * Room for *want* elements of *size* bytes in *array (the address of a pointer that was
 * NULL or malloc'ed), which has *room.  Returns 0, or -1 with *err (SL_ENOMEM): nothing
 * changed.
 */
int sl_grow(void *array, uint32_t *room, uint64_t want, size_t size, struct sl_error *err);

#endif
