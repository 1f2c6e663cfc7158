/* SPDX-License-Identifier: MIT */
#include "base/watch.h"

#include <sys/stat.h>

static uint64_t mix(uint64_t mark, uint64_t value)
{
	mark ^= value + UINT64_C(0x9e3779b97f4a7c15) + (mark << 6) + (mark >> 2);
	return mark * UINT64_C(0xff51afd7ed558ccd);
}

uint64_t sl_watch_mark(uint64_t mark, const char *path)
{
	struct stat s;

	if (stat(path, &s))
		return mix(mark, 1);
	mark = mix(mark, s.st_dev);
	mark = mix(mark, s.st_ino);
	mark = mix(mark, (uint64_t) s.st_size);
	mark = mix(mark, (uint64_t) s.st_mtim.tv_sec * 1000000000u + (uint64_t) s.st_mtim.tv_nsec);
	mark = mix(mark, (uint64_t) s.st_ctim.tv_sec * 1000000000u + (uint64_t) s.st_ctim.tv_nsec);
	mark = mix(mark, s.st_uid);
	return mix(mark, s.st_mode);
}
