/* SPDX-License-Identifier: MIT */
/*
 * harden.h - what the engine gives up before it reads its first byte.
 *
 * The sandbox of the policies (sandbox.h) is the first line; this is the second:
 * should somebody break out of Lua, the process he is in can read trusted
 * files, answer on the sockets it has, and nothing else.
 *
 * Threads: call it while there is only one.
 */
#ifndef SL_HARDEN_H
#define SL_HARDEN_H

#include <stddef.h>

#include "error.h"

enum sl_harden_role {
	SL_HARDEN_ENGINE,	/* decides: reads trusted files, writes none */
	SL_HARDEN_KEEPER,	/* keeps the ledger: writes files, as their owner (keeper.h) */
};

struct sl_harden {
	enum sl_harden_role role;
	size_t address_space;	/* bytes of memory in all */
	size_t file_size;	/* bytes of the largest memfd; not the keeper's */
	unsigned files;		/* open descriptors */
	unsigned uid, gid;	/* the keeper's: who it becomes where it is root */
};

/*
 * In this order: signals as a fresh process has them; limits (no core); no new
 * privileges; a root process becomes "nobody" and keeps only the capability
 * to read files, any other one loses all capabilities; not traceable; killed when
 * the thread that started it ends; a filter on system calls (no exec, no
 * threads, no sockets, no signals to others, files open for reading only).  What it
 * may still start is a copy of itself, for a solver (mip_child.c).
 *
 * The keeper becomes the owner of its directory, loses all capabilities, may open files for
 * writing, lock, sync, rename and remove them, and is otherwise bound in the same way.
 *
 * Sanitizer builds skip the limit on memory, the filter and the ban on
 * tracing, which the sanitizers' run time cannot live with; machines other than
 * x86-64 and arm64 and kernels without seccomp do without the filter.
 *
 * Returns 0, or -1 with *err.
 */
int sl_harden(const struct sl_harden *h, struct sl_error *err);

#endif
