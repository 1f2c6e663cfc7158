/* SPDX-License-Identifier: MIT */
/*
 * main.c - schedlab: the commands of schedlua and those that simulate.  schedlua runs it for each
 * command that it does not have itself, so it calls itself schedlua in all that it prints.
 */
#include "tool/tool.h"

#include <string.h>

#include "verbs/man.h"
#include "verbs/verbs.h"

/* The build asks for the man pages: schedlab --man FILE. */
static bool print_man(int argc, char **argv, int *status)
{
	struct sl_error err;

	if (argc < 2 || strcmp(argv[1], "--man"))
		return false;
	if (argc < 3)
		*status = sl_tool_usage(NULL, "--man: the page's text is missing");
	else
		*status = sl_man_page(argv[2], stdout, &err) ? sl_tool_fail(&err) : sl_tool_end(SL_EXIT_FINE);
	return true;
}

int main(int argc, char **argv)
{
	static const struct sl_program program = { .verbs = sl_lab_verbs, .other = print_man };

	return sl_tool_main(&program, argc, argv);
}
