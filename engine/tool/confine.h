/* SPDX-License-Identifier: MIT */
/*
 * confine.h - the engine gives up what it does not need, and knows what holds (process/harden.h).
 *
 * Threads: none.
 */
#ifndef SL_CONFINE_H
#define SL_CONFINE_H

#include <sys/types.h>

#include "process/harden.h"

#define SL_CONFINE_PLACES 40

/* Descriptors of an engine: its streams, its socket, those of the solver starter and the keeper, a
 * file with the directories above it, a snapshot and a memfd.  What memfds hold is in no process's
 * address space: all that may be open have as much as the address space together, but each 64 MiB at least, so that
 * the snapshot of a large cluster has room where the address space is small.  t/tool/test_engine.c shows that two fewer
 * descriptors suffice. */
#define SL_CONFINE_FILES 16
#define SL_CONFINE_LEAST_MEMFD ((size_t) 64 << 20)

/* Directories that may be read; with Landlock, for as long as each is the same one. */
struct sl_confined {
	struct {
		char *path;
		dev_t device;
		ino_t inode;	/* 0: it was not there */
	} place[SL_CONFINE_PLACES];
	unsigned places;
	struct sl_harden_holds holds;
};

/*
 * Start the process that has models solved (mip/mip.h), and harden this one: *memory* bytes of
 * address space, and as many again in memfds, of which each has an equal part at the most, or SL_CONFINE_LEAST_MEMFD;
 * *user* (NULL: nobody) is who it becomes where it is root; *read* is a list of directories,
 * colon-separated, beside which only the bundled policies and time zones can be read (NULL: whatever
 * that user may).  What is not as asked for and no error is said on stderr.
 *
 * *c is all zero before, and cleared by the caller also after a failure.  Returns 0, or -1 with *err.
 */
int sl_confine(struct sl_confined *c, size_t memory, const char *user, const char *read, struct sl_error *err);
void sl_confined_clear(struct sl_confined *c);

/* Who the engine becomes where it is root, by name or number (NULL: nobody).  -1 with *err: there is
 * no such user. */
int sl_confine_user(const char *name, unsigned *uid, unsigned *gid, struct sl_error *err);

/* Is all as it was?  -1 with *err when something has gone that only a new process can have: a
 * directory is another one now, or the process that has models solved has ended. */
int sl_confined_check(const struct sl_confined *c, struct sl_error *err);

#endif
