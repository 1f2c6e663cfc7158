/* SPDX-License-Identifier: MIT */
/*
 * map.h - memory for an image that is made whole, by whoever knows its size beforehand.
 *
 * Ownership: the caller's.  Threads: safe.
 */
#ifndef SL_IMAGE_MAP_H
#define SL_IMAGE_MAP_H

#include <stddef.h>

/* Map so many zero bytes (NULL: no memory), and give them back; NULL is fine. */
void *sl_image_map(size_t size);
void sl_image_unmap(void *bytes, size_t size);

#endif
