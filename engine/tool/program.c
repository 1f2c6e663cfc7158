/* SPDX-License-Identifier: MIT */
/*
 * program.c - a program of verbs: --help, --version, and which verb is meant.
 */
#include "tool/tool.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/plain.h"
#include "base/suggest.h"

static void help(const struct sl_program *program, FILE *out)
{
	fputs("Usage: schedlua COMMAND [OPTION]... [ARGUMENT]...\n"
	      "The engine and the tool of sched/lua, Slurm's scheduler programmable in Lua.\n\n", out);
	for (const struct sl_verb *const *v = program->verbs; *v; v++)
		fprintf(out, "  %-12s%s\n", (*v)->name, (*v)->summary);
	fputs("\nMore: schedlua help COMMAND, man schedlua\n", out);
}

static int refuse_verb(const struct sl_program *program, const char *name)
{
	struct sl_nearest near = { .word = name };

	for (const struct sl_verb *const *v = program->verbs; *v; v++)
		sl_nearest_try(&near, (*v)->name);
	if (near.best)
		return sl_tool_usage(NULL, "no command \"%s\"; did you mean \"%s\"?", name, near.best);
	return sl_tool_usage(NULL, "no command \"%s\"", name);
}

/* help [COMMAND] */
static int print_help(const struct sl_program *program, const char *name)
{
	const struct sl_verb *verb = name ? sl_verb_find(program->verbs, name) : NULL;

	if (name && !verb)
		return refuse_verb(program, name);
	if (verb)
		sl_verb_help(verb, stdout);
	else
		help(program, stdout);
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

static int run(const struct sl_program *program, int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;
	const struct sl_verb *verb;
	int status;

	if (word && !strcmp(word, "--version"))
		word = "version";
	verb = word ? sl_verb_find(program->verbs, word) : NULL;
	if (verb)
		return verb->run(verb, argc - 2, argv + 2);
	if (program->other && program->other(argc, argv, &status))
		return status;
	if (!word)
		return sl_tool_usage(NULL, "a command is missing");
	if (!strcmp(word, "--help") || !strcmp(word, "-h"))
		return print_help(program, NULL);
	if (!strcmp(word, "help"))
		return print_help(program, argc > 2 ? argv[2] : NULL);
	return refuse_verb(program, word);
}

const struct sl_verb *sl_verb_find(const struct sl_verb *const *verbs, const char *name)
{
	for (; *verbs; verbs++)
		if (!strcmp((*verbs)->name, name))
			return *verbs;
	return NULL;
}

int sl_tool_main(const struct sl_program *program, int argc, char **argv)
{
	int status;

	if (make_plain())
		return SL_EXIT_FAILED;
	sl_tool_begin(argc, argv);
	status = run(program, argc, argv);
	/* what can go wrong has been told by now (sl_tool_end()) */
	fclose(stdout);
	fclose(stderr);
	return status;
}
