/* SPDX-License-Identifier: MIT */
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

int sl_grow(void *array, uint32_t *room, uint64_t want, size_t size, struct sl_error *err)
{
	uint64_t n = *room ? *room : 8;
	void *old, *grown;

	if (want <= *room)
		return 0;
	if (want > UINT32_MAX)
		return sl_fail(err, SL_ENOMEM, "out of memory");
	while (n < want)
		n *= 2;
	if (n > UINT32_MAX)
		n = UINT32_MAX;
	memcpy(&old, array, sizeof(old));
	grown = reallocarray(old, n, size);
	if (!grown)
		return sl_fail(err, SL_ENOMEM, "out of memory");
	memcpy(array, &grown, sizeof(grown));
	*room = (uint32_t) n;
	return 0;
}
