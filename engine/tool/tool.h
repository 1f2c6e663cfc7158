/* SPDX-License-Identifier: MIT */
/*
 * tool.h - what the verbs of schedlua share.
 *
 * Exit status: 0 fine, 1 failed, 2 wrong usage.  Errors go to stderr as
 * "schedlua: FILE:LINE: what is wrong, what was expected".
 */
#ifndef SL_TOOL_H
#define SL_TOOL_H

#include <signal.h>

#include "tool/options.h"

enum sl_exit { SL_EXIT_FINE, SL_EXIT_FAILED, SL_EXIT_USAGE };

/* All of them, NULL at the end; the one of that name, or NULL. */
extern const struct sl_verb *const sl_verbs[];
const struct sl_verb *sl_verb_find(const char *name);

/*
 * Parse a verb's command line into *values*.  Returns the number of operands,
 * which lies between *least* and *most* (-1: any number); or -1 when the verb
 * is to end with *status*: after --help, or after usage was complained about.
 */
int sl_tool_parse(const struct sl_verb *verb, void *values, int argc, char **argv, int least, int most,
		  int *status);

/* The command line as one would type it in a shell; sl_tool_begin() takes it, before words are moved. */
void sl_tool_begin(int argc, char **argv);
const char *sl_tool_command(void);

/* Print "schedlua: " and the error, with the line of Lua that it names; returns SL_EXIT_FAILED. */
int sl_tool_fail(const struct sl_error *err);

/*
 * Print what a Lua traceback adds to its message: where the policy's own functions
 * were called from.  Nothing for NULL, and nothing when it adds nothing.
 */
void sl_tool_trace(const char *trace, FILE *out);

/* Complain about usage; returns SL_EXIT_USAGE. */
int sl_tool_usage(const struct sl_verb *verb, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* How far back, in seconds: "7d", "12h", "90m", or what Slurm writes; 0 for anything else. */
int64_t sl_tool_last(const char *text);

/*
 * Let that signal end what goes on, with what there is then: the flag that is returned becomes 1.
 * Another such signal ends the program.
 */
const volatile sig_atomic_t *sl_tool_stop_on(int signal);

/* Flush stdout; SL_EXIT_FAILED with a message where that fails, else *status*. */
int sl_tool_end(int status);

#endif
