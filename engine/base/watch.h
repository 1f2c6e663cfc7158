/* SPDX-License-Identifier: MIT */
/*
 * watch.h - has a file changed?  Threads: safe.
 */
#ifndef SL_WATCH_H
#define SL_WATCH_H

#include <stdint.h>

/*
 * Mix the state of a file (which one it is, size, times, owner, mode; or that
 * there is none) into *mark*, 0 at first.  Equal marks: nothing has changed.
 */
uint64_t sl_watch_mark(uint64_t mark, const char *path);

#endif
