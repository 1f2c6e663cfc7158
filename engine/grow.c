/* SPDX-License-Identifier: MIT */
#include "grow.h"

#include <stdlib.h>
#include <string.h>

int sl_grow(void *array, uint32_t *room, uint32_t need, size_t size)
{
	uint32_t n = *room ? *room : 64;
	void *old, *grown;

	if (need <= *room)
		return 0;
	while (n < need)
		n = n > UINT32_MAX / 2 ? UINT32_MAX : 2 * n;
	memcpy(&old, array, sizeof(old));
	grown = reallocarray(old, n, size);
	if (!grown)
		return -1;
	memcpy(array, &grown, sizeof(grown));
	*room = n;
	return 0;
}
