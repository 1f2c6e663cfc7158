/* SPDX-License-Identifier: MIT */
/*
 * tool.h - what the verbs of schedlua share.
 *
 * Exit status: 0 fine, 1 failed, 2 wrong usage.  Errors go to stderr as
 * "schedlua: FILE:LINE: what is wrong, what was expected".
 */
#ifndef SL_TOOL_H
#define SL_TOOL_H

#include <limits.h>
#include <signal.h>

#include "tool/options.h"

enum sl_exit { SL_EXIT_FINE, SL_EXIT_FAILED, SL_EXIT_USAGE };

/* A program of verbs. */
struct sl_program {
	const struct sl_verb *const *verbs;	/* in the order in which --help lists them; NULL at the end */
	/*
	 * Asked about a command line that begins with none of the verbs, "help" and "--help" included.  True if
	 * that was all, and the program is to end with *status*; NULL for a program that knows nothing else.
	 */
	bool (*other)(int argc, char **argv, int *status);
};

/* The whole of main(). */
int sl_tool_main(const struct sl_program *program, int argc, char **argv);

/* The verb of that name, or NULL. */
const struct sl_verb *sl_verb_find(const struct sl_verb *const *verbs, const char *name);

/*
 * The path of the program of that name: in the directory of the running program if it can be run there, else
 * the bare name, for PATH.
 */
void sl_tool_beside(const char *name, char path[PATH_MAX]);

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
