/* SPDX-License-Identifier: MIT */
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

static int resize(void *array, uint64_t room, size_t size, struct sl_error *err)
{
	void *old, *grown;

	memcpy(&old, array, sizeof(old));
	grown = reallocarray(old, room, size);
	if (!grown)
		return sl_fail(err, SL_ENOMEM, "out of memory");
	memcpy(array, &grown, sizeof(grown));
	return 0;
}

int sl_grow_by_doubling(void *array, uint32_t *room, uint64_t want, size_t size, struct sl_error *err)
{
	uint64_t n = *room ? *room : 4;

	if (want > UINT32_MAX)
		return sl_fail(err, SL_ENOMEM, "out of memory");
	while (n < want)
		n *= 2;
	if (n > UINT32_MAX)
		n = UINT32_MAX;
	if (resize(array, n, size, err))
		return -1;
	*room = (uint32_t) n;
	return 0;
}

int sl_grow_list(void *array, uint32_t length, size_t size, struct sl_error *err)
{
	if (length & (length - 1))
		return 0;
	return resize(array, length ? UINT64_C(2) * length : 1, size, err);
}
