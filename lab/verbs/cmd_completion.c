/* SPDX-License-Identifier: MIT */
/*
 * cmd_completion.c - schedlua completion: what a shell needs to complete commands and
 * options, from the tables that parse them.
 */
#include "tool/tool.h"

#include <stdio.h>
#include <string.h>

#include "script/script.h"
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

/*
 * What is not in the tables: names that a command prints when they are asked for, a line each.  Slurm's commands are
 * asked for what Slurm knows; where they are not, or do not answer, nothing is offered.
 */
static const struct names {
	const char *kind, *command;
	const char *separator;		/* of a list of them in one value; NULL: there is one */
	const char *options[4];		/* whose values they are */
} names[] = {
	{ "policy", "schedlua completion policies", " ", { "policy", "policies", "baseline" } },
	{ "partition", "sinfo -ho %R", ",", { "partition" } },
	{ "user", "squeue -ho %u", ",", { "user" } },
	{ "account", "squeue -ho %a", ",", { "account" } },
	{ "qos", "squeue -ho %q", ",", { "qos" } },
	{ "figure", "schedlua completion figures", NULL, { "objective" } },
	{ "job", "squeue -ho %A", NULL, { NULL } },
};
#define NAMES (sizeof(names) / sizeof(names[0]))

/* Whose names are the option's values, or NULL. */
static const struct names *names_of(const struct sl_option *o)
{
	for (size_t i = 0; sl_option_needs_value(o) && i < NAMES; i++)
		for (size_t k = 0; names[i].options[k]; k++)
			if (!strcmp(names[i].options[k], o->name))
				return &names[i];
	return NULL;
}

static bool takes_jobs(const struct sl_verb *v)
{
	return strstr(v->operands, "JOBID") != NULL;
}

/* The words that an operand can be, of "[OPTION]... show | import FILE": those in lower case.  How many; each is put
 * after *before*. */
static int put_operands(const struct sl_verb *v, const char *before, FILE *out)
{
	int count = 0;

	for (const char *at = v->operands; *at;) {
		size_t n;

		at += strspn(at, " |");
		n = strcspn(at, " |");
		if (n && strspn(at, "abcdefghijklmnopqrstuvwxyz-") == n && *at != '-')
			fprintf(out, "%s%.*s", count++ ? " " : before, (int) n, at);
		at += n;
	}
	return count;
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

static void bash_operands(const struct sl_verb *v, FILE *out)
{
	char before[80];

	snprintf(before, sizeof(before), "\t%s) words='", v->name);
	if (put_operands(v, before, out))
		fputs("' ;;\n", out);
	else if (takes_jobs(v))
		fprintf(out, "\t%s) kind=job ;;\n", v->name);
}

/* What Slurm's commands and schedlua print is read line by line, and never evaluated. */
static void bash_names(FILE *out)
{
	fputs("_schedlua_names() { # KIND\n\tcase $1 in\n", out);
	for (size_t i = 0; i < NAMES; i++)
		fprintf(out, "\t%s) %s ;;\n", names[i].kind, names[i].command);
	fputs("\tesac 2>/dev/null | sort -u\n}\n"
	      "_schedlua_kind() { # OPTION: sets kind, and what is between several\n\tcase $1 in\n", out);
	for (size_t i = 0; i < NAMES; i++)
		for (size_t k = 0; names[i].options[k]; k++)
			fprintf(out, "\t--%s) kind=%s between='%s' ;;\n", names[i].options[k], names[i].kind,
				names[i].separator ? names[i].separator : "");
	fputs("\tesac\n}\n", out);
}

/* Where nothing is replied bash completes files, which is what options and operands take. */
static void bash(FILE *out)
{
	fputs("# bash completion for schedlua, printed by schedlua completion bash\n", out);
	bash_names(out);
	fputs("_schedlua() {\n"
	      "\tlocal n=$COMP_CWORD cur=${COMP_WORDS[COMP_CWORD]} words='' word before='' kind='' between='' last option=''\n"
	      "\tCOMPREPLY=()\n"
	      "\tcase $n:${COMP_WORDS[1]-} in\n"
	      "\t1:*) words='", out);
	put_verbs(out);
	fputs(" --help --version' ;;\n\t2:help) words='", out);
	put_verbs(out);
	fputs("' ;;\n\tesac\n"
	      "\t# bash divides words at \"=\", unless it is told not to\n"
	      "\tif [[ $cur == --*=* ]]; then option=${cur%%=*} before=$option= cur=${cur#*=}\n"
	      "\telif [[ $n -gt 2 && $cur == = ]]; then option=${COMP_WORDS[n-1]} cur=''\n"
	      "\telif [[ $n -gt 3 && ${COMP_WORDS[n-1]} == = ]]; then option=${COMP_WORDS[n-2]}\n"
	      "\telif [[ $n -gt 2 && $cur != -* ]]; then option=${COMP_WORDS[n-1]}\n"
	      "\tfi\n"
	      "\t_schedlua_kind \"$option\"\n"
	      "\tif [[ $n -gt 1 && $cur == -* && ! $kind ]]; then case ${COMP_WORDS[1]} in\n", out);
	for (const struct sl_verb *const *v = sl_lab_verbs; *v; v++)
		bash_verb(*v, out);
	fputs("\tesac\n\telif [[ $n -gt 1 && ! $kind && ! $before && $cur != = && ${COMP_WORDS[n-1]} != = ]]; then case ${COMP_WORDS[1]} in\n", out);
	for (const struct sl_verb *const *v = sl_lab_verbs; *v; v++)
		bash_operands(*v, out);
	fputs("\tesac\n"
	      "\t\tfor ((last = 2; last < n; last++)); do [[ \" $words \" != *\" ${COMP_WORDS[last]} \"* ]] || words=''; done\n"
	      "\tfi\n"
	      "\tif [[ $kind ]]; then\n"
	      "\t\tcur=${cur#[\\\"\\']}\n"
	      "\t\tif [[ $between && $cur == *\"$between\"* ]]; then\n"
	      "\t\t\tlast=${cur##*\"$between\"} before+=${cur%\"$last\"} cur=$last\n"
	      "\t\tfi\n"
	      "\t\twhile read -r word; do\n"
	      "\t\t\t[[ $word != \"$cur\"* ]] || COMPREPLY+=(\"$before$word\")\n"
	      "\t\tdone < <(_schedlua_names \"$kind\")\n"
	      "\t\treturn 0\n"
	      "\tfi\n"
	      "\tfor word in $words; do\n"
	      "\t\t[[ $word == \"$cur\"* ]] && COMPREPLY+=(\"$word\")\n"
	      "\tdone\n"
	      "\t[[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null\n"
	      "\treturn 0\n"
	      "}\n"
	      "complete -o bashdefault -o default -F _schedlua schedlua\n", out);
}

/* -- zsh ------------------------------------------------------------------ */

static void zsh_names(const struct names *n, FILE *out)
{
	fputc('{', out);
	if (n->separator)
		fprintf(out, "_sequence -s \"%s\" ", n->separator);
	fprintf(out, "compadd - ${(fu)\"$(%s 2>/dev/null)\"}}", n->command);
}

static void zsh_option(const struct sl_option *o, FILE *out)
{
	const struct names *n = names_of(o);

	fprintf(out, " \\\n\t\t\t'--%s%s[", o->name, sl_option_needs_value(o) ? "=" : "");
	put_quoted(o->doc, "[]:\\", out);
	fputc(']', out);
	if (sl_option_needs_value(o)) {
		fputc(':', out);
		put_quoted(o->argument ? o->argument : "value", ":\\", out);
		fputs(is_file(o) ? ":_files" : is_directory(o) ? ":_directories" : ":", out);
		if (n)
			zsh_names(n, out);
	}
	fputc('\'', out);
}

static void zsh_operands(const struct sl_verb *v, FILE *out)
{
	if (put_operands(v, " \\\n\t\t\t'1:command:(", out))
		fputs(")'", out);
	if (takes_jobs(v)) {
		fputs(" \\\n\t\t\t'*:job:", out);
		zsh_names(&names[NAMES - 1], out);
		fputs("' ;;\n", out);
	} else {
		fputs(" \\\n\t\t\t'*:file:_files' ;;\n", out);
	}
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
	      "\thelp) _describe command verbs ;;\n", out);
	for (const struct sl_verb *const *v = sl_lab_verbs; *v; v++) {
		fprintf(out, "\t%s) _arguments", (*v)->name);
		for (const struct sl_option *o = (*v)->options; o && o->name; o++)
			zsh_option(o, out);
		fputs(" \\\n\t\t\t'--help[print a summary and exit]'", out);
		zsh_operands(*v, out);
	}
	fputs("\tesac\n}\n_schedlua \"$@\"\n", out);
}

/* -- fish ----------------------------------------------------------------- */

static void fish_option(const struct sl_verb *v, const struct sl_option *o, FILE *out)
{
	const struct names *n = names_of(o);

	fprintf(out, "complete -c schedlua -n '__fish_seen_subcommand_from %s' -l %s%s -d '", v->name, o->name,
		sl_option_needs_value(o) ? " -r" : "");
	put_quoted(o->doc, "\\", out);
	fputc('\'', out);
	if (n)
		fprintf(out, " -a '(%s 2>/dev/null | sort -u)'", n->command);
	fputc('\n', out);
}

static void fish_operands(const struct sl_verb *v, FILE *out)
{
	char before[120];

	snprintf(before, sizeof(before), "complete -c schedlua -n '__fish_seen_subcommand_from %s' -a '", v->name);
	if (put_operands(v, before, out))
		fputs("'\n", out);
	if (takes_jobs(v))
		fprintf(out, "%s(%s 2>/dev/null | sort -u)'\n", before, names[NAMES - 1].command);
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
		fish_operands(*v, out);
	}
	fputs("complete -c schedlua -n __fish_use_subcommand -f -a help -d 'print what a command does'\n"
	      "complete -c schedlua -n '__fish_seen_subcommand_from help' -f -a '", out);
	put_verbs(out);
	fputs("'\n", out);
}

/* -- the verb ------------------------------------------------------------- */

static void put_name(const char *name, void *arg)
{
	(void) arg;
	puts(name);
}

/* The bundled policies, and those of the directory in which policies are looked for. */
static int list_policies(void)
{
	struct sl_error err;
	struct sl_bundle *b = sl_bundle_load(&(struct sl_bundle_source) { .policy = "easy" }, NULL, NULL, &err);

	if (!b)
		return sl_tool_fail(&err);
	sl_bundle_policies(b, put_name, NULL);
	sl_bundle_destroy(b);
	return sl_tool_end(SL_EXIT_FINE);
}

static int run(const struct sl_verb *verb, int argc, char **argv)
{
	static void (*const print[])(FILE *out) = { bash, zsh, fish };
	struct values v;
	int status;

	if (sl_tool_parse(verb, &v, argc, argv, 1, 1, &status) < 0)
		return status;
	if (!strcmp(argv[0], "policies"))
		return list_policies();
	if (!strcmp(argv[0], "figures")) {
		sl_tune_figures(put_name, NULL);
		return sl_tool_end(SL_EXIT_FINE);
	}
	for (size_t i = 0; shells[i]; i++)
		if (!strcmp(argv[0], shells[i])) {
			print[i](stdout);
			return sl_tool_end(SL_EXIT_FINE);
		}
	return sl_tool_usage(verb, "no completion for \"%s\": expected bash, zsh or fish, policies or figures", argv[0]);
}

const struct sl_verb sl_verb_completion = {
	.name = "completion",
	.operands = "bash|zsh|fish|policies|figures",
	.summary = "print what completes schedlua's commands and options in a shell",
	.options = options,
	.run = run,
};
