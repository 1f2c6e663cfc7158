/* SPDX-License-Identifier: MIT */
/*
 * harden.h - what the engine's processes give up before they read their first byte.
 *
 * The sandbox of the policies (sandbox/sandbox.h) is the first line; this is the second:
 * should somebody break out of Lua, the process he is in can read the directories of the
 * policies, answer on the sockets it has, and nothing else.  doc/operating.md has what
 * holds on which kernel as a table, t/process/test_harden.c tries each line of it.
 *
 * Threads: call it while there is only one.
 */
#ifndef SL_HARDEN_H
#define SL_HARDEN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "process/landlock.h"

enum sl_harden_role {
	SL_HARDEN_ENGINE,	/* decides: reads trusted files, writes none, starts nothing */
	SL_HARDEN_SOLVER,	/* starts copies of itself that solve (mip/server.c): opens no file */
	SL_HARDEN_KEEPER,	/* keeps the ledger: writes files, as their owner (ledger/keeper.h) */
	SL_HARDEN_WATCH,	/* starts the keeper; has its user and privileges, reads nothing */
};

struct sl_harden {
	enum sl_harden_role role;
	size_t address_space;	/* bytes; memfds are not in it unless they are mapped */
	size_t file_size;	/* bytes of the largest memfd; not the keeper's */
	unsigned files;		/* open descriptors: times file_size is what memfds hold at the most */
	unsigned uid, gid;	/* who it becomes where it is root */
	bool must;		/* and an error where it cannot; otherwise it goes on as root without capabilities */
	const struct sl_landlock_path *path;	/* what the engine and the keeper may open */
	unsigned paths;		/* 0: whatever the user may */
};

/* What came of it: not everything holds everywhere. */
struct sl_harden_holds {
	unsigned uid;
	bool filter;		/* on system calls */
	bool first;		/* the kernel ends it before others when memory runs out */
	int landlock;		/* its version; 0: there is none */
};

/*
 * In this order: signals as a fresh process has them, but that a file that is too large is an
 * error (SIGXFSZ ignored); the first to be ended when memory runs out (oom_score_adj 1000: not
 * slurmctld; what a memfd holds is given back with it); limits (no core); no new privileges; a root process becomes *uid*, and whoever it is loses all capabilities; not
 * traceable; killed when the thread that started it ends; no process more (RLIMIT_NPROC) but for
 * those that start some; Landlock; a filter on system calls (call_filter.h).
 *
 * Sanitizer builds skip the limit on memory, the ban on tracing, Landlock and the filter, which the
 * sanitizers' run time cannot live with; kernels without Landlock or seccomp do without.
 *
 * Returns 0 with *holds (may be NULL), or -1 with *err.
 */
int sl_harden(const struct sl_harden *h, struct sl_harden_holds *holds, struct sl_error *err);

/* "uid 65534, no capabilities, system calls filtered, files by Landlock 6"; text[] is long enough. */
#define SL_HARDEN_TEXT 128
void sl_harden_say(const struct sl_harden_holds *holds, char text[SL_HARDEN_TEXT]);

/* No signal is blocked or handled: who started this process may have done both. */
void sl_reset_signals(void);

#endif
