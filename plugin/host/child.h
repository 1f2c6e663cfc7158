/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * child.h - a program as a child process: a socket to talk to it, its stderr in the log.
 *
 * It is started with posix_spawn, never with a fork of a threaded slurmctld: own process
 * group, all signals at their defaults and none blocked, file descriptors 0 and 1 on
 * /dev/null, 2 on a pipe that is read into the log, 3 on the socket, nothing else, and a
 * minimal environment.
 *
 * Knows nothing of Slurm, nor of what is said over the socket.  The cycle thread only.
 */
#ifndef SL_CHILD_H
#define SL_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

#define SL_LOG_LINES 20		/* of its stderr that are logged in a cycle */

struct sl_child {
	pid_t pid;			/* 0: there is none */
	int sock;			/* SOCK_SEQPACKET; -1: there is none */
	int err_pipe;			/* poll it for POLLIN and call sl_child_listen(); or -1 */
	void (*log)(int level, const char *line);	/* may be NULL */
	char line[512];			/* of stderr, not ended yet */
	size_t line_len;
	unsigned lines, dropped;
};

/* No child yet. */
#define SL_CHILD_NONE { .sock = -1, .err_pipe = -1 }

/* Start argv[0], a path.  0, or -1 with *err, and then there is no child. */
int sl_child_start(struct sl_child *c, char *const argv[], struct sl_error *err);

/* Kill it with all of its process group, reap it, log its last words. */
void sl_child_end(struct sl_child *c);

/* Has it ended by itself?  Then *how* is "exit 1", "signal 11"; sl_child_end() reaps it. */
#define SL_CHILD_HOW 32
bool sl_child_has_ended(const struct sl_child *c, char how[SL_CHILD_HOW]);

/* Log what it has written to its stderr; never waits. */
void sl_child_listen(struct sl_child *c);

/* Log up to SL_LOG_LINES lines more. */
void sl_child_new_cycle(struct sl_child *c);

#endif
