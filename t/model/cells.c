/* SPDX-License-Identifier: MIT */
/* cells.c - see cells.h */
#include "t/model/cells.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/words.h"
#include "t/model/desk.h"
#include "t/timeline/set.h"

static const char *on;			/* what machine, for messages */
static const struct cell *tried;
#define fail_cell(...) do {								\
	print_error("on %s: job %s: wanted %s\n", on, tried->job, tried->is);		\
	fail_msg(__VA_ARGS__);								\
} while (0)

/* A word of a line, "name=value" or "name": where it begins, the next one. */
struct word {
	char name[64], value[256];
};

static bool next_word(const char **at, struct word *w)
{
	size_t length, name;

	*at += strspn(*at, " ");
	length = strcspn(*at, " ");
	name = strcspn(*at, "= ");
	assert_true(name < sizeof(w->name) && length < sizeof(w->value));
	snprintf(w->name, sizeof(w->name), "%.*s", (int) name, *at);
	snprintf(w->value, sizeof(w->value), "%.*s", name < length ? (int) (length - name - 1) : 0, *at + name + 1);
	*at += length;
	return length;
}

static bool is(const struct word *w, const char *name)
{
	return !strcmp(w->name, name);
}

/* -- columns and flags -------------------------------------------------------- */

static const struct flag {
	const char *name;
	uint32_t sets;
} selects[] = {
	{ "MEMORY", SL_SELECT_MEMORY }, { "ONE_TASK_PER_CORE", SL_SELECT_ONE_TASK_PER_CORE }, { "LLN", SL_SELECT_LLN },
	{ "SOCKET", SL_SELECT_SOCKET }, { "LLN_DEALS", SL_SELECT_LLN_DEALS }, { "GRES_IN_TURN", SL_SELECT_GRES_IN_TURN },
	{ "TOPO_OPTIONAL", SL_SELECT_TOPO_OPTIONAL }, { "SERIAL_AT_END", SL_SELECT_SERIAL_AT_END },
	{ "DEALS_ALL", SL_SELECT_DEALS_ALL }, { "PARTS_OF_TASKS", SL_SELECT_PARTS_OF_TASKS },
	{ "DEALS_TO_NODES", SL_SELECT_DEALS_TO_NODES }, { NULL, 0 },
}, parts[] = {
	{ "part.BY_SOCKET", SL_PART_BY_SOCKET }, { "part.BY_CORE", SL_PART_BY_CORE }, { "part.OTHER_TOPOLOGY", SL_PART_OTHER_TOPOLOGY },
	{ "part.LLN", SL_PART_LLN },
	{ NULL, 0 },
}, jobs[] = {
	{ "exclusive", SL_JOBF_EXCLUSIVE }, { "spread", SL_JOBF_SPREAD }, { "overcommit", SL_JOBF_OVERCOMMIT },
	{ "any_time", SL_JOBF_ANY_TIME }, { "any_max_nodes", SL_JOBF_ANY_MAX_NODES }, { "any_min_nodes", SL_JOBF_ANY_MIN_NODES },
	{ NULL, 0 },
}, asks[] = {
	{ "spec_cores", SL_ASKS_SPEC_CORES }, { "spec_threads", SL_ASKS_SPEC_THREADS }, { "bound_gres", SL_ASKS_BOUND_GRES },
	{ "task_gres", SL_ASKS_TASK_GRES }, { "tasks_per_gres", SL_ASKS_TASKS_PER_GRES }, { "task_tres", SL_ASKS_TASK_TRES },
	{ "default_cpus", SL_ASKS_DEFAULT_CPUS }, { NULL, 0 },
};

static bool flag_of(const struct flag *flags, const char *name, size_t length, uint32_t *out)
{
	for (; flags->name; flags++)
		if (strlen(flags->name) == length && !strncmp(flags->name, name, length)) {
			*out |= flags->sets;
			return true;
		}
	return false;
}

static struct sl_range nodes_of(struct build *b, const char *text)
{
	const char *dash = strchr(text, '-');
	uint32_t first = (uint32_t) atoi(text);

	return build_nodes(b, first, dash ? (uint32_t) atoi(dash + 1) : first);
}

/* A column of a row; false: the table has none of that name. */
static bool set_column(struct build *b, int table, const char *name, const char *value, void *row)
{
	const struct sl_table *t = &sl_snapshot_schema.table[table];

	for (uint32_t i = 0; i < t->columns; i++) {
		void *at = (char *) row + t->column[i].row_offset;

		if (strcmp(t->column[i].name, name))
			continue;
		if (t->column[i].type == SL_TYPE_u32)
			*(uint32_t *) at = (uint32_t) strtoul(value, NULL, 0);
		else if (t->column[i].type == SL_TYPE_i64)
			*(int64_t *) at = strtoll(value, NULL, 0);
		else if (t->column[i].type == SL_TYPE_str)
			*(uint32_t *) at = sl_builder_str(b->builder, value);
		else if (t->column[i].type == SL_TYPE_range)
			*(struct sl_range *) at = nodes_of(b, value);
		else
			fail_cell("%s: a column of that type has no text", name);
		return true;
	}
	return false;
}

/* -- the machine ---------------------------------------------------------------- */

static void add_kind(struct build *b, const char *key)
{
	struct sl_gres_kind_row kind = sl_gres_kind_row();
	const char *colon = strchr(key, ':');
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int) strcspn(key, ":"), key);
	kind.key = sl_builder_str(b->builder, key);
	kind.name = sl_builder_str(b->builder, name);
	kind.type = sl_builder_str(b->builder, colon ? colon + 1 : "");
	sl_builder_append(b->builder, SL_T_GRES_KIND, &kind);
}

static void set_nodes(struct build *b, const char *name, const char *column, const char *value)
{
	uint32_t first = name[1] == '*' ? 0 : (uint32_t) atoi(name + 1), last = name[1] == '*' ? b->nodes - 1 : first;
	struct sl_node_row row;

	for (uint32_t n = first; n <= last; n++) {
		sl_builder_row(b->builder, SL_T_NODE, n, &row);
		if (!set_column(b, SL_T_NODE, column, value, &row))
			fail_cell("%s: no column of nodes", column);
		sl_builder_update(b->builder, SL_T_NODE, n, &row);
	}
}

static void set_select(struct build *b, const char *value)
{
	for (const char *at = value; *at; at += strcspn(at, "|"), at += *at == '|')
		if (!flag_of(selects, at, strcspn(at, "|"), &b->meta.select_flags))
			fail_cell("select=%s: no such flag", value);
}

static struct build *build_machine(const char *line)
{
	struct sl_partition_row part;
	struct build *b;
	struct word w;

	next_word(&line, &w);
	b = build_create(w.name);
	sl_builder_row(b->builder, SL_T_PARTITION, 0, &part);
	while (next_word(&line, &w)) {
		const char *dot = strchr(w.name, '.');

		if (is(&w, "select"))
			set_select(b, w.value);
		else if (is(&w, "kind"))
			add_kind(b, w.value);
		else if (dot && *w.name == 'n')
			set_nodes(b, w.name, dot + 1, w.value);
		else if (!flag_of(parts, w.name, strlen(w.name), &part.flags) &&
			 !(dot && set_column(b, SL_T_PARTITION, dot + 1, w.value, &part)))
			fail_cell("%s: not of a machine", w.name);
	}
	sl_builder_update(b->builder, SL_T_PARTITION, 0, &part);
	return b;
}

/* -- the job ------------------------------------------------------------------- */

static bool set_size(struct build_job *j, const struct word *w)
{
	const struct { const char *name; uint32_t *at; } numbers[] = {
		{ "nodes", &j->nodes }, { "max_nodes", &j->max_nodes }, { "tasks", &j->tasks }, { "cpus_per_task", &j->cpus_per_task },
		{ "tasks_per_node", &j->tasks_per_node }, { "gpus", &j->gpus },
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (is(w, numbers[i].name)) {
			*numbers[i].at = (uint32_t) atoi(w->value);
			return true;
		}
	if (is(w, "memory"))
		j->memory = atoll(w->value);
	else if (is(w, "limit"))
		j->limit = atoll(w->value);
	return is(w, "memory") || is(w, "limit");
}

/* "gres:NAME[:TYPE]", "COUNT[/PER]". */
static void set_gres(struct build *b, struct sl_job_row *row, const struct word *w)
{
	static const struct { const char *word; uint32_t per; } pers[] = {
		{ "/task", SL_PER_TASK }, { "/socket", SL_PER_SOCKET }, { "/job", SL_PER_JOB }, { "", SL_PER_NODE },
	};
	const char *per = w->value + strcspn(w->value, "/"), *type = strchr(w->name + 5, ':');
	char name[64];
	size_t i = 0;

	while (strcmp(pers[i].word, per))
		i++;
	snprintf(name, sizeof(name), "%.*s", (int) strcspn(w->name + 5, ":"), w->name + 5);
	row->gres = build_gres(b, name, type ? type + 1 : "", (uint32_t) atoi(w->value), pers[i].per);
}

/* CPUs and memory that come with each of its gres. */
static bool set_beside_gres(struct build *b, struct sl_job_row *row, const struct word *w)
{
	struct sl_job_gres_row gres;

	if (!is(w, "cpus_with_gres") && !is(w, "memory_with_gres"))
		return false;
	sl_builder_row(b->builder, SL_T_JOB_GRES, row->gres.first, &gres);
	if (is(w, "cpus_with_gres"))
		gres.cpus = (uint32_t) atoi(w->value);
	else
		gres.memory = atoll(w->value);
	sl_builder_update(b->builder, SL_T_JOB_GRES, row->gres.first, &gres);
	row->asks |= is(w, "cpus_with_gres") ? SL_ASKS_CPUS_PER_GRES : SL_ASKS_MEMORY_PER_GRES;
	return true;
}

/* CPUs that come with the gres of all nodes are CPUs of the job. */
static void count_gres_cpus(const struct build *b, struct sl_job_row *row)
{
	struct sl_job_gres_row gres;

	sl_builder_row(b->builder, SL_T_JOB_GRES, row->gres.first, &gres);
	if (gres.per == SL_PER_NODE && row->min_nodes * gres.count * gres.cpus > row->num_tasks * row->cpus_per_task)
		row->min_cpus = row->min_nodes * gres.count * gres.cpus;
}

struct build *build_of(const char *machine, const char *line)
{
	struct build *b = build_machine(machine);
	struct build_job size = { .id = 1 };
	const char *at = line;
	struct sl_job_row row;
	struct word w;

	while (next_word(&at, &w))
		set_size(&size, &w);
	row = build_row(b, size);
	for (at = line; next_word(&at, &w);) {
		struct build_job known = size;

		if (!strncmp(w.name, "gres:", 5))
			set_gres(b, &row, &w);
		else if (is(&w, "counted"))
			count_gres_cpus(b, &row);
		else if (is(&w, "plane")) {
			row.distribution = SL_DIST_PLANE;
			row.plane_size = (uint32_t) atoi(w.value);
		} else if (!set_size(&known, &w) && !set_beside_gres(b, &row, &w) &&
			 !flag_of(jobs, w.name, strlen(w.name), &row.flags) &&
			 !flag_of(asks, w.name, strlen(w.name), &row.asks) && !set_column(b, SL_T_JOB, w.name, w.value, &row))
			fail_cell("%s: not of a job", w.name);
	}
	build_append(b, &row);
	return b;
}

/* -- what is wanted of it ---------------------------------------------------------- */

enum number { NONE, YES, U32, I32, I64 };

static const struct field {
	const char *name;
	size_t offset;
	enum number number;
} fields[] = {
#define NUMBER(x) _Generic((x), bool: YES, uint32_t: U32, int32_t: I32, int64_t: I64, default: NONE)
#define FIELD(type, name, comparison, holds) { #name, offsetof(struct sl_request, name), NUMBER(((struct sl_request *) NULL)->name) },
	SL_REQUEST_FIELDS(FIELD)
#undef FIELD
};

static void expect_text(const char *what, const char *is, const char *wanted)
{
	if (!is || strcmp(is, wanted))
		fail_cell("%s: \"%s\", not \"%s\"", what, is ? is : "", wanted);
}

static void expect_field(const struct sl_request *r, const char *name, const char *value)
{
	if (!strcmp(name, "eligible") || !strcmp(name, "required")) {
		expect_text(name, set_text(*name == 'e' ? r->eligible : r->required), value);
		return;
	}
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const void *at = (const char *) r + fields[i].offset;
		int64_t n = fields[i].number == YES ? *(const bool *) at : fields[i].number == U32 ? *(const uint32_t *) at :
			fields[i].number == I32 ? *(const int32_t *) at : *(const int64_t *) at;

		if (strcmp(fields[i].name, name))
			continue;
		assert_int_not_equal(fields[i].number, NONE);
		if (n != atoll(value))
			fail_cell("%s: %lld, not %s", name, (long long) n, value);
		return;
	}
	fail_cell("%s: nothing that can be wanted", name);
}

static void expect_gres(const struct sl_request *r, uint32_t which, const char *name, const char *value)
{
	int64_t n = !strcmp(name, "kinds") ? r->gres[which].kinds : !strcmp(name, "per") ? r->gres[which].per : r->gres[which].count;

	assert_in_range(which + 1, 1, r->gres_needs);
	if (n != atoll(value))
		fail_cell("gres %u: %s: %lld, not %s", which, name, (long long) n, value);
}

static sl_word_set words_of(const char *text)
{
	sl_word_set set = 0;

	for (const char *at = text; *at; at += strcspn(at, "+"), at += *at == '+') {
		uint32_t w = 0;

		while (w < SL_WORD_IDS && (strlen(sl_word_line[w].name) != strcspn(at, "+") ||
					   strncmp(sl_word_line[w].name, at, strcspn(at, "+"))))
			w++;
		if (w == SL_WORD_IDS)
			fail_cell("%s: no such word", at);
		set |= (sl_word_set) 1 << w;
	}
	return set;
}

/* Of the want itself; false: it is no such word. */
static bool expect_of_want(const struct sl_want *w, const struct word *word)
{
	const struct { const char *name; int64_t is; } numbers[] = {
		{ "variants", w->variants }, { "time_limit", w->time_limit }, { "time_floor", w->time_floor },
		{ "parts", w->request.parts }, { "shares", w->shares },
	};

	if (is(word, "why"))
		expect_text("why", sl_why_word(w->why), word->value);
	else if (is(word, "method"))
		assert_int_equal(w->method, sl_place_method(word->value, NULL));
	else {
		for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
			if (is(word, numbers[i].name)) {
				if (numbers[i].is != atoll(word->value))
					fail_cell("%s: %lld, not %s", word->name, (long long) numbers[i].is, word->value);
				return true;
			}
		return false;
	}
	return true;
}

static void expect_places(struct desk *d, const char *places, int64_t memory)
{
	if (start(d, 1) != 1)
		fail_cell("it does not start: %s", sl_refusal_text(&d->why));
	expect_text("places", where(d, 1), places);
	if (accepted(d)->place.memory[0] != memory && memory >= 0)
		fail_cell("memory: %lld, not %lld", (long long) d->plan.place.memory[0], (long long) memory);
}

static void expect_all(struct desk *d, const struct sl_want *w, const char *is_wanted)
{
	bool refused = strstr(is_wanted, "why=");
	sl_word_set native = 0;
	int64_t memory = -1;
	struct word word;

	for (const char *at = is_wanted; next_word(&at, &word);) {
		size_t digit = strlen(word.name) > 2 && word.name[2] == '.' ? 3 : 0;

		if (is(&word, "left"))
			native = words_of(word.value);
		else if (is(&word, "memory"))
			memory = atoll(word.value);
		else if (is(&word, "text")) {
			expect_text("text", w->text, strstr(is_wanted, "text=") + 5);
			break;
		} else if (is(&word, "on")) {
			expect_places(d, strstr(is_wanted, "on=") + 3, memory);
			break;
		} else if (is(&word, "never")) {
			assert_int_equal(start(d, 1), 0);
			assert_int_equal(d->why.why, SL_WHY_NEVER);
		} else if (digit && *word.name == 'v') {
			assert_in_range(word.name[1] - '0', 0, w->variants - 1);
			expect_field(&w->variant[word.name[1] - '0'].request, word.name + digit, word.value);
		} else if (digit && *word.name == 'g') {
			expect_gres(&w->request, (uint32_t) (word.name[1] - '0'), word.name + digit, word.value);
		} else if (!expect_of_want(w, &word)) {
			expect_field(&w->request, word.name, word.value);
		}
	}
	for (uint32_t i = 0; i < SL_WORD_IDS; i++)
		if ((w->native ^ native) >> i & 1)
			fail_cell("%s is %s to select", sl_word_line[i].name, native >> i & 1 ? "not left" : "left");
	if (!refused && w->why)
		fail_cell("it cannot run: %s", w->text);
}

void try_cells(const struct cell *cells, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct desk d;

		if (!cells[i].is) {
			on = cells[i].job;
			continue;
		}
		tried = &cells[i];
		d = sit(build_of(on, cells[i].job));
		expect_all(&d, sl_cluster_want(d.c, entry(&d, 1), &d.err), cells[i].is);
		leave(&d);
	}
}
