/* SPDX-License-Identifier: MIT */
#include "image/map.h"

#include <sys/mman.h>

void *sl_image_map(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void sl_image_unmap(void *bytes, size_t size)
{
	if (bytes)
		munmap(bytes, size);
}
