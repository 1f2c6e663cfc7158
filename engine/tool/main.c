/* SPDX-License-Identifier: MIT */
/*
 * main.c - schedlua: the engine, and the commands that need no simulation.  All other commands are
 * those of schedlab, which lies in the same directory.
 */
#include "tool/tool.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tool/verbs.h"

static const struct sl_verb *const verbs[] = { SL_TOOL_VERBS(SL_LIST_VERB) NULL };

/* Become schedlab; returns false if there is none. */
static bool run_lab(int argc, char **argv, int *status)
{
	char path[PATH_MAX];

	(void) argc;
	(void) status;
	sl_tool_beside("schedlab", path);
	execvp(path, argv);
	fprintf(stderr, "schedlua: schedlab, which has more commands: %s: %s\n", path, strerror(errno));
	return false;
}

int main(int argc, char **argv)
{
	static const struct sl_program program = { .verbs = verbs, .other = run_lab };

	return sl_tool_main(&program, argc, argv);
}
