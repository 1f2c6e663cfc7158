/* SPDX-License-Identifier: MIT */
#include "base/watch.h"

#include <sys/stat.h>

#include "base/map.h"

uint64_t sl_watch_mark(uint64_t mark, const char *path)
{
	struct stat s;

	if (stat(path, &s))
		return sl_hash_number(mark, 1);
	mark = sl_hash_number(mark, s.st_dev);
	mark = sl_hash_number(mark, s.st_ino);
	mark = sl_hash_number(mark, (uint64_t) s.st_size);
	mark = sl_hash_number(mark, (uint64_t) s.st_mtim.tv_sec * 1000000000u + (uint64_t) s.st_mtim.tv_nsec);
	mark = sl_hash_number(mark, (uint64_t) s.st_ctim.tv_sec * 1000000000u + (uint64_t) s.st_ctim.tv_nsec);
	mark = sl_hash_number(mark, s.st_uid);
	return sl_hash_number(mark, s.st_mode);
}
