/* SPDX-License-Identifier: MIT */
/*
 * main.c - schedlua: the verbs, --help, --version, and the man pages.
 */
#include "tool/tool.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/plain.h"
#include "base/suggest.h"
#include "image/snapshot.h"
#include "tool/man_schema.h"

static const char description[] =
	"schedlua is the engine of sched/lua, Slurm's scheduler programmable in Lua, and\n"
	"the tool for those who write and run its policies.  The program that slurmctld\n"
	"starts as its scheduling engine and the one that tries a policy offline are the\n"
	"same, so that what was tested is what runs.\n"
	"\n"
	"A *policy* is a Lua module that decides which pending jobs start, where, and\n"
	"which get a reservation.  A *site file* says which policies serve which\n"
	"partitions, and with which options.  A *snapshot* is the picture of a cluster at\n"
	"one instant: the plug-in takes one each cycle, *schedlua-capture* takes one of a\n"
	"running cluster from any login node.\n"
	"# COMMANDS\n";

static const char more[] =
	"# EXIT STATUS\n"
	"*0* all is well; *1* something failed, and stderr says what; *2* wrong usage.\n"
	"\n"
	"Errors are printed as \"schedlua: FILE:LINE: what is wrong, what was expected\".\n"
	"# ENVIRONMENT\n"
	"*SLURM_CONF* names the slurm.conf in which status and explain look for\n"
	"StateSaveLocation, if it is not /etc/slurm/slurm.conf.  *NO_COLOR*: nothing is coloured,\n"
	"as where output is no terminal.\n"
	"# EXAMPLES\n"
	"    schedlua check /etc/slurm/sched.lua\n"
	"    schedlua-capture now.snap && schedlua plan --policy=easy,window=200 now.snap\n"
	"    schedlua explain 4711\n"
	"    schedlua status\n"
	"# ACKNOWLEDGEMENT\n"
	"The workloads on which the project is measured come from the Parallel Workloads\n"
	"Archive, https://www.cs.huji.ac.il/labs/parallel/workload/, and from the sites\n"
	"that gave their logs to it.\n";

static void help(FILE *out)
{
	fputs("Usage: schedlua COMMAND [OPTION]... [ARGUMENT]...\n"
	      "The engine and the tool of sched/lua, Slurm's scheduler programmable in Lua.\n\n", out);
	for (const struct sl_verb *const *v = sl_verbs; *v; v++)
		fprintf(out, "  %-12s%s\n", (*v)->name, (*v)->summary);
	fputs("\nMore: schedlua help COMMAND, man schedlua\n", out);
}

static void man(FILE *out)
{
	fprintf(out, ".\\\" SPDX-License-Identifier: MIT\n");
	fprintf(out, ".TH SCHEDLUA 1 \"\" \"schedlua %s\" \"sched/lua\"\n", SCHEDLUA_VERSION);
	fputs(".SH NAME\nschedlua \\- engine and tool of Slurm's scheduler programmable in Lua\n"
	      ".SH SYNOPSIS\n.B schedlua\n.I COMMAND\n[\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...\n.br\n"
	      ".B schedlua\n\\-\\-help | \\-\\-version\n.SH DESCRIPTION\n", out);
	sl_man_text(description, out);
	for (const struct sl_verb *const *v = sl_verbs; *v; v++)
		fprintf(out, ".TP\n.BR schedlua\\-%s (1)\n%s\n", (*v)->name, (*v)->summary);
	sl_man_text(more, out);
	fputs(".SH SEE ALSO\n.BR slurm.conf (5),\n.BR squeue (1),\n.BR sdiag (1)\n", out);
}

static int refuse_verb(const char *name)
{
	struct sl_nearest near = { .word = name };

	for (const struct sl_verb *const *v = sl_verbs; *v; v++)
		sl_nearest_try(&near, (*v)->name);
	if (near.best)
		return sl_tool_usage(NULL, "no command \"%s\"; did you mean \"%s\"?", name, near.best);
	return sl_tool_usage(NULL, "no command \"%s\"", name);
}

/* help [COMMAND] */
static int print_help(const char *name)
{
	const struct sl_verb *verb = name ? sl_verb_find(name) : NULL;

	if (name && !verb)
		return refuse_verb(name);
	if (verb)
		sl_verb_help(verb, stdout);
	else
		help(stdout);
	return sl_tool_end(SL_EXIT_FINE);
}

/* The build asks for the man pages: schedlua --man [VERB | snapshot]. */
static int print_man(const char *name)
{
	const struct sl_verb *verb = name ? sl_verb_find(name) : NULL;

	if (name && !strcmp(name, "snapshot")) {
		sl_schema_man(&sl_snapshot_schema, sl_snapshot_man_summary, sl_snapshot_man_text, stdout);
		return sl_tool_end(SL_EXIT_FINE);
	}
	if (name && !verb)
		return refuse_verb(name);
	if (verb)
		sl_verb_man(verb, stdout);
	else
		man(stdout);
	return sl_tool_end(SL_EXIT_FINE);
}

/* Whatever verbs print, they quote what users and policies wrote: all of it goes through
 * streams that make it plain.  JSON has escapes for the same characters, and loses nothing. */
static int make_plain(void)
{
	FILE *out = sl_plain_stream(STDOUT_FILENO, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF);
	FILE *err = sl_plain_stream(STDERR_FILENO, _IONBF);

	if (!out || !err) {
		perror("schedlua");
		return -1;
	}
	stdout = out;
	stderr = err;
	return 0;
}

static int run(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;
	const struct sl_verb *verb;

	if (!word)
		return sl_tool_usage(NULL, "a command is missing");
	if (!strcmp(word, "--help") || !strcmp(word, "-h"))
		return print_help(NULL);
	if (!strcmp(word, "help"))
		return print_help(argc > 2 ? argv[2] : NULL);
	if (!strcmp(word, "--man"))
		return print_man(argc > 2 ? argv[2] : NULL);
	if (!strcmp(word, "--version"))
		word = "version";
	verb = sl_verb_find(word);
	if (!verb)
		return refuse_verb(word);
	return verb->run(verb, argc - 2, argv + 2);
}

int main(int argc, char **argv)
{
	int status;

	if (make_plain())
		return SL_EXIT_FAILED;
	sl_tool_begin(argc, argv);
	status = run(argc, argv);
	/* what can go wrong has been told by now (sl_tool_end()) */
	fclose(stdout);
	fclose(stderr);
	return status;
}
