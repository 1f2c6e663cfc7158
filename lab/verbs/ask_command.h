/* SPDX-License-Identifier: MIT */
/*
 * ask_command.h - ask a program of the user's: it reads a text on stdin and prints an answer.
 *
 * The program is a command line for /bin/sh, in a process group of its own.  However it behaves, the call ends: after
 * *timeout_s* seconds, or when more than *most* bytes were printed, the whole group is killed.  What it prints on stderr is
 * shown.
 *
 * Ownership: the answer is malloc'ed.  Threads: none may run, since it forks.
 */
#ifndef SL_ASK_COMMAND_H
#define SL_ASK_COMMAND_H

#include <signal.h>
#include <stddef.h>

#include "base/error.h"

/*
 * 0 with *answer, ended by a 0 byte that *length does not count; -1 with *err, which says in a few words what happened ("said
 * nothing for 60 s", "exit status 3"): SL_EINVAL for what the program did, SL_EIO and SL_ENOMEM where it could not be started.
 * Once *stop is not 0 (NULL: never) the program is not waited for any more.
 */
int sl_ask_command(const char *command, const char *input, size_t input_length, double timeout_s, size_t most,
		   const volatile sig_atomic_t *stop, char **answer, size_t *length, struct sl_error *err);

#endif
