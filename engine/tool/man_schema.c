/* SPDX-License-Identifier: MIT */
#include "tool/man_schema.h"

#include <inttypes.h>
#include <string.h>

#include "tool/options.h"

const char sl_snapshot_man_summary[] = "the picture of a cluster that a policy decides on";

const char sl_snapshot_man_text[] =
	"A snapshot is what sched/lua knows of a cluster at one instant: its nodes,\n"
	"partitions, reservations and licences, its running jobs and what they hold, its\n"
	"pending jobs and what they ask for, and the queue, which says which of them may\n"
	"start and in which order.  The plug-in takes one each cycle; schedlua-capture\n"
	"takes one of a running cluster; schedlua show converts between the image and the\n"
	"JSON form.\n"
	"\n"
	"The JSON form is one object with an array for each table below.  A row is an object;\n"
	"a column that is left out has its default.  A row is referred to by its name (jobs\n"
	"by their id), whether it stands before or after.  Lists of nodes are strings as\n"
	"Slurm writes them, \"n[1-4,7]\".  An unknown key is an error.\n"
	"\n"
	"Names are Slurm's where Slurm has one.  Times are seconds since the epoch, 0\n"
	"meaning not set; durations are seconds; memory is MiB; cores are physical cores, and\n"
	"CPUs are what Slurm counts.\n";

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

void sl_schema_man(const struct sl_schema *schema, const char *summary, const char *text, FILE *out)
{
	fprintf(out, ".\\\" SPDX-License-Identifier: MIT\n.TH schedlua\\-%s 5 \"\" \"schedlua %s\" \"sched/lua\"\n",
		schema->name, SCHEDLUA_VERSION);
	fprintf(out, ".SH NAME\nschedlua\\-%s \\- %s\n.SH DESCRIPTION\n", schema->name, summary);
	sl_man_text(text, out);
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
