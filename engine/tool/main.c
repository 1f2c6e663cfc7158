/* SPDX-License-Identifier: MIT */
/*
 * main.c - schedlua: the verbs, --help, --version, and the man pages.
 */
#include "tool/tool.h"

#include "tool/man_schema.h"
#include "base/plain.h"
#include "image/snapshot.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct sl_verb *const verbs[] = {
	&sl_verb_check,
	&sl_verb_plan,
	&sl_verb_show,
	&sl_verb_explain,
	&sl_verb_status,
	&sl_verb_ledger,
	&sl_verb_sim,
	&sl_verb_compare,
	&sl_verb_replay,
	&sl_verb_workload,
	&sl_verb_engine,
	&sl_verb_version,
};
#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

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
	"StateSaveLocation, if it is not /etc/slurm/slurm.conf.\n"
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
	for (size_t i = 0; i < VERBS; i++)
		fprintf(out, "  %-10s%s\n", verbs[i]->name, verbs[i]->summary);
	fputs("\nMore: schedlua COMMAND --help, man schedlua\n", out);
}

static void man(FILE *out)
{
	fprintf(out, ".\\\" SPDX-License-Identifier: MIT\n");
	fprintf(out, ".TH SCHEDLUA 1 \"\" \"schedlua %s\" \"sched/lua\"\n", SCHEDLUA_VERSION);
	fputs(".SH NAME\nschedlua \\- engine and tool of Slurm's scheduler programmable in Lua\n"
	      ".SH SYNOPSIS\n.B schedlua\n.I COMMAND\n[\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...\n.br\n"
	      ".B schedlua\n\\-\\-help | \\-\\-version\n.SH DESCRIPTION\n", out);
	sl_man_text(description, out);
	for (size_t i = 0; i < VERBS; i++)
		fprintf(out, ".TP\n.BR schedlua\\-%s (1)\n%s\n", verbs[i]->name, verbs[i]->summary);
	sl_man_text(more, out);
	fputs(".SH SEE ALSO\n.BR slurm.conf (5),\n.BR squeue (1),\n.BR sdiag (1)\n", out);
}

static const struct sl_verb *find(const char *name)
{
	for (size_t i = 0; i < VERBS; i++)
		if (!strcmp(verbs[i]->name, name))
			return verbs[i];
	return NULL;
}

/* The build asks for the man pages: schedlua --man [VERB | snapshot]. */
static int print_man(const char *name)
{
	const struct sl_verb *verb = name ? find(name) : NULL;

	if (name && !strcmp(name, "snapshot")) {
		sl_schema_man(&sl_snapshot_schema, sl_snapshot_man_summary, sl_snapshot_man_text, stdout);
		return sl_tool_end(SL_EXIT_FINE);
	}
	if (name && !verb)
		return sl_tool_usage(NULL, "no command \"%s\"", name);
	if (verb)
		sl_verb_man(verb, stdout);
	else
		man(stdout);
	return sl_tool_end(SL_EXIT_FINE);
}

int sl_tool_parse(const struct sl_verb *verb, void *values, int argc, char **argv, int least, int most,
		  int *status)
{
	struct sl_command cmd;
	struct sl_error err;

	*status = SL_EXIT_USAGE;
	if (sl_options_parse(verb->options, values, argc, argv, &cmd, &err)) {
		sl_tool_usage(verb, "%s", err.text);
		return -1;
	}
	if (cmd.help) {
		sl_verb_help(verb, stdout);
		*status = sl_tool_end(SL_EXIT_FINE);
		return -1;
	}
	if (cmd.operands < least) {
		sl_tool_usage(verb, "an argument is missing: schedlua %s %s", verb->name, verb->operands);
		return -1;
	}
	if (most >= 0 && cmd.operands > most) {
		sl_tool_usage(verb, "one argument too many: \"%s\"", argv[most]);
		return -1;
	}
	return cmd.operands;
}

int sl_tool_fail(const struct sl_error *err)
{
	fflush(stdout);
	fprintf(stderr, "schedlua: %s\n", err->text);
	return SL_EXIT_FAILED;
}

/* A frame of the traceback that is the policy's: neither Lua's nor the library's. */
static bool is_frame(const char *line, size_t length)
{
	return length && line[0] == '\t' && !memmem(line, length, "[C]:", 4) &&
	       !memmem(line, length, "/lib/sched/", 11) && !memmem(line, length, "(...tail calls...)", 18);
}

void sl_tool_trace(const char *trace, FILE *out)
{
	const char *frames = trace ? strstr(trace, "stack traceback:\n") : NULL;
	unsigned n = 0;

	/* the first frame stands in the message */
	for (const char *line = frames; line && *line; line += strcspn(line, "\n"), line += *line == '\n')
		if (is_frame(line, strcspn(line, "\n")) && n++)
			fprintf(out, "%s%.*s\n", n == 2 ? "called from\n" : "", (int) strcspn(line, "\n"), line);
}

int sl_tool_usage(const struct sl_verb *verb, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "schedlua: ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\nTry: schedlua %s%s--help\n", verb ? verb->name : "", verb ? " " : "");
	return SL_EXIT_USAGE;
}

int sl_tool_end(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	fprintf(stderr, "schedlua: standard output: %s\n", strerror(errno));
	return SL_EXIT_FAILED;
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

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;
	const struct sl_verb *verb;

	if (make_plain())
		return SL_EXIT_FAILED;

	if (!word)
		return sl_tool_usage(NULL, "a command is missing");
	if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help")) {
		help(stdout);
		return sl_tool_end(SL_EXIT_FINE);
	}
	if (!strcmp(word, "--man"))
		return print_man(argc > 2 ? argv[2] : NULL);
	if (!strcmp(word, "--version"))
		word = "version";
	verb = find(word);
	if (!verb)
		return sl_tool_usage(NULL, "no command \"%s\"", word);
	return verb->run(verb, argc - 2, argv + 2);
}
