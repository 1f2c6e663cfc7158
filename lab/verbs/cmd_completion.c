/* SPDX-License-Identifier: MIT */
/*
 * cmd_completion.c - schedlua completion: what a shell needs to complete commands and
 * options, from the tables that parse them.
 */
#include "tool/tool.h"

#include <stdio.h>
#include <string.h>

#include "verbs/verbs.h"

static const char *const shells[] = { "bash", "zsh", "fish", NULL };

struct values {
	char none;
};

static const struct sl_option options[] = {
	{ 0 }
};

static bool is_file(const struct sl_option *o)
{
	return o->argument && (!strncmp(o->argument, "FILE", 4) || !strcmp(o->argument, "MACHINE"));
}

static bool is_directory(const struct sl_option *o)
{
	return o->argument && !strncmp(o->argument, "DIR", 3);
}

/* Names, separated by blanks, for a shell's word list. */
static void put_words(const char *const *word, FILE *out)
{
	for (; *word; word++)
		fprintf(out, "%s%s", *word, word[1] ? " " : "");
}

static void put_verbs(FILE *out)
{
	for (const struct sl_verb *const *v = sl_lab_verbs; *v; v++)
		fprintf(out, "%s ", (*v)->name);
	fputs("help", out);
}

/* Text within single quotes, a backslash before each of *special*; shells end quotes to have one. */
static void put_quoted(const char *text, const char *special, FILE *out)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\'", out);
		else if (strchr(special, *text))
			fputc('\\', out);
		fputc(*text, out);
	}
}

/* -- bash ----------------------------------------------------------------- */

static void bash_verb(const struct sl_verb *v, FILE *out)
{
	fprintf(out, "\t%s) words='", v->name);
	for (const struct sl_option *o = v->options; o && o->name; o++)
		fprintf(out, "--%s%s ", o->name, sl_option_needs_value(o) ? "=" : "");
	fputs("--help' ;;\n", out);
}

/* Where nothing is replied bash completes files, which is what options and operands take. */
static void bash(FILE *out)
{
	fputs("# bash completion for schedlua, printed by schedlua completion bash\n"
	      "_schedlua() {\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} words='' word\n"
	      "\tCOMPREPLY=()\n"
	      "\tcase $COMP_CWORD:${COMP_WORDS[1]-} in\n"
	      "\t1:*) words='", out);
	put_verbs(out);
	fputs(" --help --version' ;;\n\t2:help) words='", out);
	put_verbs(out);
	fputs("' ;;\n\t2:completion) words='", out);
	put_words(shells, out);
	fputs("' ;;\n\tesac\n\t[[ $COMP_CWORD -gt 1 && $cur == -* ]] && case ${COMP_WORDS[1]} in\n", out);
	for (const struct sl_verb *const *v = sl_lab_verbs; *v; v++)
		bash_verb(*v, out);
	fputs("\tesac\n"
	      "\tfor word in $words; do\n"
	      "\t\t[[ $word == \"$cur\"* ]] && COMPREPLY+=(\"$word\")\n"
	      "\tdone\n"
	      "\t[[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null\n"
	      "\treturn 0\n"
	      "}\n"
	      "complete -o bashdefault -o default -F _schedlua schedlua\n", out);
}

/* -- zsh ------------------------------------------------------------------ */

static void zsh_option(const struct sl_option *o, FILE *out)
{
	fprintf(out, " \\\n\t\t\t'--%s%s[", o->name, sl_option_needs_value(o) ? "=" : "");
	put_quoted(o->doc, "[]:\\", out);
	fputc(']', out);
	if (sl_option_needs_value(o)) {
		fputc(':', out);
		put_quoted(o->argument ? o->argument : "value", ":\\", out);
		fputs(is_file(o) ? ":_files" : is_directory(o) ? ":_directories" : ":", out);
	}
	fputc('\'', out);
}

static void zsh(FILE *out)
{
	fputs("#compdef schedlua\n# printed by schedlua completion zsh\n"
	      "_schedlua() {\n\tlocal -a verbs\n\tverbs=(\n", out);
	for (const struct sl_verb *const *v = sl_lab_verbs; *v; v++) {
		fprintf(out, "\t\t'%s:", (*v)->name);
		put_quoted((*v)->summary, ":\\", out);
		fputs("'\n", out);
	}
	fputs("\t\t'help:print what a command does'\n\t)\n"
	      "\tif (( CURRENT == 2 )); then\n\t\t_describe command verbs\n\t\treturn\n\tfi\n"
	      "\tlocal verb=$words[2]\n\tshift words\n\t(( CURRENT-- ))\n\tcase $verb in\n"
	      "\thelp) _describe command verbs ;;\n\tcompletion) _values shell ", out);
	put_words(shells, out);
	fputs(" ;;\n", out);
	for (const struct sl_verb *const *v = sl_lab_verbs; *v; v++) {
		if (!strcmp((*v)->name, "completion"))
			continue;
		fprintf(out, "\t%s) _arguments", (*v)->name);
		for (const struct sl_option *o = (*v)->options; o && o->name; o++)
			zsh_option(o, out);
		fputs(" \\\n\t\t\t'--help[print a summary and exit]' '*:file:_files' ;;\n", out);
	}
	fputs("\tesac\n}\n_schedlua \"$@\"\n", out);
}

/* -- fish ----------------------------------------------------------------- */

static void fish_option(const struct sl_verb *v, const struct sl_option *o, FILE *out)
{
	fprintf(out, "complete -c schedlua -n '__fish_seen_subcommand_from %s' -l %s%s -d '", v->name, o->name,
		sl_option_needs_value(o) ? " -r" : "");
	put_quoted(o->doc, "\\", out);
	fputs("'\n", out);
}

static void fish(FILE *out)
{
	fputs("# fish completion for schedlua, printed by schedlua completion fish\n", out);
	for (const struct sl_verb *const *v = sl_lab_verbs; *v; v++) {
		fprintf(out, "complete -c schedlua -n __fish_use_subcommand -f -a %s -d '", (*v)->name);
		put_quoted((*v)->summary, "\\", out);
		fputs("'\n", out);
		for (const struct sl_option *o = (*v)->options; o && o->name; o++)
			fish_option(*v, o, out);
	}
	fputs("complete -c schedlua -n __fish_use_subcommand -f -a help -d 'print what a command does'\n"
	      "complete -c schedlua -n '__fish_seen_subcommand_from help' -f -a '", out);
	put_verbs(out);
	fputs("'\ncomplete -c schedlua -n '__fish_seen_subcommand_from completion' -f -a '", out);
	put_words(shells, out);
	fputs("'\n", out);
}

/* -- the verb ------------------------------------------------------------- */

static int run(const struct sl_verb *verb, int argc, char **argv)
{
	static void (*const print[])(FILE *out) = { bash, zsh, fish };
	struct values v;
	int status;

	if (sl_tool_parse(verb, &v, argc, argv, 1, 1, &status) < 0)
		return status;
	for (size_t i = 0; shells[i]; i++)
		if (!strcmp(argv[0], shells[i])) {
			print[i](stdout);
			return sl_tool_end(SL_EXIT_FINE);
		}
	return sl_tool_usage(verb, "no completion for \"%s\": expected bash, zsh or fish", argv[0]);
}

const struct sl_verb sl_verb_completion = {
	.name = "completion",
	.operands = "bash|zsh|fish",
	.summary = "print what completes schedlua's commands and options in a shell",
	.options = options,
	.run = run,
};
