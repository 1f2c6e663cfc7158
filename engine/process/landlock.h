/* SPDX-License-Identifier: MIT */
/*
 * landlock.h - which files a process may still open (Linux 5.13 and later).
 *
 * Whatever its user may do: a process can open files below the directories that it named
 * and no others.  What is open stays open.  It cannot trace a process outside, nor open
 * its memory; since 6.12 it cannot signal one either.
 *
 * Threads: holds for the calling thread and those that it makes.
 */
#ifndef SL_LANDLOCK_H
#define SL_LANDLOCK_H

#include <stdbool.h>

#include "base/error.h"

struct sl_landlock_path {
	const char *path;	/* a directory with all below it, or a file; one that is not there is left out */
	bool write;		/* make, change and remove files, too */
};

/*
 * Confine the process, for ever.  The process has PR_SET_NO_NEW_PRIVS.  Returns the version
 * of Landlock that holds (1 and up); 0 where the kernel has none; -1 with *err.
 */
int sl_landlock(const struct sl_landlock_path *path, unsigned paths, struct sl_error *err);

#endif
