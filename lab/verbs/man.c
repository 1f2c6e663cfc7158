/* SPDX-License-Identifier: MIT */
#include "verbs/man.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "image/snapshot.h"
#include "tool/tool.h"
#include "verbs/verbs.h"

#define MOST_TEXT (1 << 20)

/* One line of text as roff: specials escaped, *word* in bold. */
static void man_line(const char *line, size_t length, bool literal, FILE *out)
{
	bool bold = false;

	if (length && (line[0] == '.' || line[0] == '\''))
		fputs("\\&", out);
	for (size_t i = 0; i < length; i++) {
		if (line[i] == '\\')
			fputs("\\e", out);
		else if (line[i] == '-')
			fputs("\\-", out);
		else if (line[i] == '*' && !literal)
			fputs((bold = !bold) ? "\\fB" : "\\fR", out);
		else
			fputc(line[i], out);
	}
	fputc('\n', out);
}

const char *sl_man_text(const char *text, const char *title, FILE *out)
{
	bool literal = false, gap = false, found = false;

	while (*text && !found) {
		size_t length = strcspn(text, "\n");
		bool indented = length > 4 && !strncmp(text, "    ", 4);

		if (literal && !indented && length) {
			fputs(".fi\n.RE\n", out);
			literal = false;
			gap = true;
		}
		if (!length) {
			gap = true;
		} else if (!strncmp(text, "# ", 2)) {
			fprintf(out, ".SH %.*s\n", (int) length - 2, text + 2);
			found = title && length - 2 == strlen(title) && !strncmp(text + 2, title, length - 2);
			gap = false;
		} else if (strncmp(text, ".\\\"", 3)) {
			if (gap)
				fputs(literal ? "\n" : ".PP\n", out);
			gap = false;
			if (indented && !literal)
				fputs(".RS 4\n.nf\n", out);
			literal = indented;
			man_line(text + (indented ? 4 : 0), length - (indented ? 4 : 0), indented, out);
		}
		text += length;
		text += *text == '\n';
	}
	if (literal)
		fputs(".fi\n.RE\n", out);
	return text;
}

/* -- of a verb ------------------------------------------------------------ */

static void man_option(const struct sl_option *o, const char *doc, FILE *out)
{
	bool needs = sl_option_needs_value(o);

	fputs(".TP\n.B ", out);
	if (o->letter)
		fprintf(out, "\\-%c, ", o->letter);
	fputs("\\-\\-", out);
	for (const char *c = o->name; *c; c++)
		fputs(*c == '-' ? "\\-" : (char[]) { *c, 0 }, out);
	if (o->argument)
		fprintf(out, needs ? "\\fR=\\fI%s" : "\\fR[=\\fI%s\\fR]", o->argument);
	fputc('\n', out);
	man_line(doc, strlen(doc), true, out);
}

void sl_verb_man(const struct sl_verb *verb, const char *text, FILE *out)
{
	char doc[600], upper[40];
	size_t n = 0;

	for (const char *c = verb->name; *c && n + 1 < sizeof(upper); c++)
		upper[n++] = *c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c;
	upper[n] = 0;
	fprintf(out, ".\\\" SPDX-License-Identifier: MIT\n");
	fprintf(out, ".TH SCHEDLUA\\-%s 1 \"\" \"schedlua %s\" \"sched/lua\"\n", upper, SCHEDLUA_VERSION);
	fprintf(out, ".SH NAME\nschedlua\\-%s \\- %s\n", verb->name, verb->summary);
	fprintf(out, ".SH SYNOPSIS\n.B schedlua %s\n", verb->name);
	man_line(verb->operands, strlen(verb->operands), true, out);
	fputs(".SH DESCRIPTION\n", out);
	text = sl_man_text(text, "OPTIONS", out);
	for (const struct sl_option *o = verb->options; o && o->name; o++) {
		sl_option_doc(o, doc, sizeof(doc));
		man_option(o, doc, out);
	}
	man_option(&(struct sl_option) { .name = "help" }, "print a summary and exit", out);
	sl_man_text(text, NULL, out);
	fputs(".SH SEE ALSO\n.BR schedlua (1),\n.BR schedlua\\-snapshot (5)\n", out);
}

/* -- of the programs ------------------------------------------------------ */

static void list_verbs(const struct sl_verb *const *v, FILE *out)
{
	for (; *v; v++)
		fprintf(out, ".TP\n.BR schedlua\\-%s (1)\n%s\n", (*v)->name, (*v)->summary);
}

static void lab_man(const char *text, FILE *out)
{
	fprintf(out, ".\\\" SPDX-License-Identifier: MIT\n");
	fprintf(out, ".TH SCHEDLAB 1 \"\" \"schedlua %s\" \"sched/lua\"\n", SCHEDLUA_VERSION);
	fputs(".SH NAME\nschedlab \\- simulator of Slurm's scheduler programmable in Lua\n"
	      ".SH SYNOPSIS\n.B schedlab\n.I COMMAND\n[\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...\n.SH DESCRIPTION\n", out);
	text = sl_man_text(text, "COMMANDS", out);
	list_verbs(sl_lab_verbs + sl_lab_own, out);
	sl_man_text(text, NULL, out);
	fputs(".SH SEE ALSO\n.BR schedlua (1)\n", out);
}

static void program_man(const char *text, FILE *out)
{
	fprintf(out, ".\\\" SPDX-License-Identifier: MIT\n");
	fprintf(out, ".TH SCHEDLUA 1 \"\" \"schedlua %s\" \"sched/lua\"\n", SCHEDLUA_VERSION);
	fputs(".SH NAME\nschedlua \\- engine and tool of Slurm's scheduler programmable in Lua\n"
	      ".SH SYNOPSIS\n.B schedlua\n.I COMMAND\n[\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...\n.br\n"
	      ".B schedlua\n\\-\\-help | \\-\\-version\n.SH DESCRIPTION\n", out);
	text = sl_man_text(text, "COMMANDS", out);
	list_verbs(sl_lab_verbs, out);
	sl_man_text(text, NULL, out);
	fputs(".SH SEE ALSO\n.BR schedlab (1),\n.BR slurm.conf (5),\n.BR squeue (1),\n.BR sdiag (1)\n", out);
}

/* -- of snapshots: what reads and writes them ------------------------------ */

static const char *json_type(const struct sl_schema *schema, int table, uint32_t c)
{
	const struct sl_column *column = &schema->table[table].column[c];
	const struct sl_words *words = sl_schema_words(schema, table, c);
	const struct sl_table *target = column->target >= 0 ? &schema->table[column->target] : NULL;

	switch (column->type) {
	case SL_TYPE_u32:
	case SL_TYPE_i64:
		return !words ? "integer" : words->flags ? "list of words" : "word";
	case SL_TYPE_f64:
		return "number";
	case SL_TYPE_str:
		return "string";
	case SL_TYPE_ref:
		return target->key >= 0 ? "name" : "row number";
	case SL_TYPE_range:
		return target->nodelist ? "node list" : target->columns == 1 ? "list of names" : "list";
	}
	return "";
}

/* What the column means, without the C names that words stand for. */
static const char *meaning_of(const struct sl_column *column, const struct sl_words *words)
{
	const char *doc = column->doc;

	if (!words || strncmp(doc, "SL_", 3))
		return doc;
	doc += strcspn(doc, ";:");
	return *doc ? doc + 1 + (doc[1] == ' ') : doc;
}

static void put_default(const struct sl_column *column, FILE *out)
{
	if (column->type != SL_TYPE_u32 && column->type != SL_TYPE_i64)
		return;
	if (column->missing == INT64_MAX)
		fputs("; default: no limit", out);
	else if (column->type == SL_TYPE_u32 && (uint32_t) column->missing == SL_NONE)
		fputs("; default: none", out);
	else if (column->missing)
		fprintf(out, "; default %" PRId64, column->missing);
}

static void put_words(const struct sl_words *words, const char *before, FILE *out)
{
	if (!words)
		return;
	fprintf(out, "%s%s", before, words->flags ? "any of" : "one of");
	for (uint32_t i = 0; i < words->count; i++)
		fprintf(out, "%s %s", i ? "," : "", words->word[i].word);
}

static void put_column(const struct sl_schema *schema, int table, uint32_t c, FILE *out)
{
	const struct sl_column *column = &schema->table[table].column[c];
	const struct sl_words *words = sl_schema_words(schema, table, c);
	const struct sl_table *target = column->target >= 0 ? &schema->table[column->target] : NULL;

	fprintf(out, ".TP\n\\fB%s\\fR (%s", column->name, json_type(schema, table, c));
	if (!words)
		put_default(column, out);
	fprintf(out, ")\n\\&%s", meaning_of(column, words));
	if (target && target->nested && !target->nodelist && target->columns > 1)
		fprintf(out, "; see %s", target->name);
	put_words(words, *meaning_of(column, words) ? "; " : "", out);
	fputc('\n', out);
}

static void snapshot_man(const char *text, FILE *out)
{
	const struct sl_schema *schema = &sl_snapshot_schema;

	fprintf(out, ".\\\" SPDX-License-Identifier: MIT\n.TH schedlua\\-snapshot 5 \"\" \"schedlua %s\" \"sched/lua\"\n",
		SCHEDLUA_VERSION);
	fputs(".SH NAME\nschedlua\\-snapshot \\- the picture of a cluster that a policy decides on\n"
	      ".SH DESCRIPTION\n", out);
	sl_man_text(text, NULL, out);
	for (int t = 0; t < schema->tables; t++) {
		const struct sl_table *table = &schema->table[t];

		if (table->nodelist || (table->nested && table->columns == 1))
			continue;
		if (table->nested)
			fprintf(out, ".SH %s\nOne entry of such a list inside another table.\n", table->name);
		else
			fprintf(out, ".SH %s\n", table->plural);
		for (uint32_t c = 0; c < table->columns; c++)
			put_column(schema, t, c, out);
	}
	fputs(".SH SEE ALSO\n.BR schedlua\\-show (1)\n", out);
}

/* -- the page of a file ---------------------------------------------------- */

static int print_page(const char *path, const char *text, FILE *out, struct sl_error *err)
{
	const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
	char name[40] = "";
	const struct sl_verb *verb;

	if (!strcmp(file, "schedlua.txt"))
		return program_man(text, out), 0;
	if (!strcmp(file, "schedlab.txt"))
		return lab_man(text, out), 0;
	if (!strcmp(file, "schedlua-snapshot.txt"))
		return snapshot_man(text, out), 0;
	if (sscanf(file, "schedlua-%39[a-z-].txt", name) != 1 || !(verb = sl_verb_find(sl_lab_verbs, name)))
		return sl_fail(err, SL_EINVAL, "%s: expected schedlua.txt, schedlua-COMMAND.txt, schedlua-snapshot.txt or schedlab.txt", path);
	sl_verb_man(verb, text, out);
	return 0;
}

int sl_man_page(const char *path, FILE *out, struct sl_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;
	char *text = NULL;
	size_t size;

	if (fd < 0)
		return sl_fail(err, SL_EIO, "%s: %s", path, strerror(errno));
	rc = sl_read_all(fd, path, MOST_TEXT, &text, &size, err);
	close(fd);
	if (!rc)
		rc = print_page(path, text, out, err);
	free(text);
	return rc;
}
