/* SPDX-License-Identifier: MIT */
/*
 * workload/trace.c - traces that are published as tables (CSV): which column means what is a table here.
 *
 * GPU traces say no CPUs: a job has one for each GPU then.  A fraction of a GPU is a whole one.  What such a trace has
 * that is not used is named once.
 */
#include "workload/trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MOST_FIELDS 128

enum role {
	ID, USER, ACCOUNT, PARTITION, QOS, NAME, SUBMIT, START, END, RUNTIME_S, WALLTIME_S, CORES, CPU_MILLI, NODES, GPUS,
	MEMORY_MIB, ROLES
};

static const struct table {
	const char *name, *what;
	struct { const char *column; enum role role; } columns[12];	/* all of them have to be there */
	struct { const char *column; enum role role; } more[2];	/* used where they are there */
	int64_t origin;		/* of times that are no dates: 0, or one that is made up */
	int64_t unit;		/* seconds of what they count, and of durations */
} tables[] = {
	{ "openb", "pods of Alibaba's cluster-trace-gpu-v2023",
	  { { "name", NAME }, { "cpu_milli", CPU_MILLI }, { "memory_mib", MEMORY_MIB }, { "num_gpu", GPUS }, { "qos", QOS },
	    { "creation_time", SUBMIT }, { "scheduled_time", START }, { "deletion_time", END } }, { { NULL, 0 } }, SL_WORKLOAD_ORIGIN, 1 },
	{ "philly", "Philly in the form of Sia's artifact",
	  { { "timestamp", SUBMIT }, { "duration", RUNTIME_S }, { "num_gpus", GPUS }, { "cluster", PARTITION } }, { { NULL, 0 } }, 0, 1 },
	{ "chronus", "Philly in the form of Chronus' artifact",
	  { { "job_id", ID }, { "user", USER }, { "num_gpu", GPUS }, { "submit_time", SUBMIT }, { "duration", RUNTIME_S },
	    { "model_name", NAME } }, { { "job_type", QOS } }, SL_WORKLOAD_ORIGIN, 60 },
	{ "eagle", "NREL's Eagle",
	  { { "job_id", ID }, { "user", USER }, { "account", ACCOUNT }, { "partition", PARTITION }, { "qos", QOS },
	    { "wallclock_req", WALLTIME_S }, { "nodes_req", NODES }, { "processors_req", CORES }, { "gpus_req", GPUS },
	    { "submit_time", SUBMIT }, { "run_time", RUNTIME_S } }, { { "start_time", START } }, 0, 1 },
	{ "alcf", "composites of jobs of Argonne's machines",
	  { { "USERNAME_GENID", USER }, { "PROJECT_NAME_GENID", ACCOUNT }, { "QUEUE_NAME", PARTITION },
	    { "QUEUED_TIMESTAMP", SUBMIT }, { "RUNTIME_SECONDS", RUNTIME_S }, { "WALLTIME_SECONDS", WALLTIME_S },
	    { "NODES_REQUESTED", NODES }, { "CORES_REQUESTED", CORES } }, { { NULL, 0 } }, 0, 1 },
};

#define TABLES (sizeof(tables) / sizeof(tables[0]))

struct trace {
	struct sl_store *s;
	const struct sl_snapshot *machine;
	const struct table *table;
	int field[ROLES];		/* which column has it; -1: none */
	char *text[MOST_FIELDS];	/* of the row at hand */
	int columns;
	uint64_t line;
};

/* Cut a line at its commas, in place; a field may be quoted.  How many fields, at most MOST_FIELDS + 1. */
static int cut_line(char *line, char **field)
{
	int fields = 0;

	for (char *p = line; p && fields < MOST_FIELDS; fields++) {
		char *to = p, *start = p;
		bool quoted = *p == '"';

		field[fields] = start;
		for (p += quoted; *p && (quoted || *p != ','); p++) {
			if (quoted && *p == '"') {
				if (p[1] != '"') {
					quoted = false;
					continue;
				}
				p++;
			}
			*to++ = *p;
		}
		start = *p ? p + 1 : NULL;
		*to = 0;
		p = start;
		if (!p)
			return fields + 1;
	}
	return MOST_FIELDS + 1;
}

static int find_column(char **field, int fields, const char *name)
{
	for (int i = 0; i < fields; i++)
		if (!strcasecmp(field[i], name))
			return i;
	return -1;
}

static const struct table *find_table(char **field, int fields)
{
	for (size_t t = 0; t < TABLES; t++) {
		bool all = true;

		for (size_t i = 0; i < sizeof(tables[t].columns) / sizeof(tables[t].columns[0]) && tables[t].columns[i].column; i++)
			all &= find_column(field, fields, tables[t].columns[i].column) >= 0;
		if (all)
			return &tables[t];
	}
	return NULL;
}

bool sl_trace_is_header(const char *line)
{
	char *field[MOST_FIELDS], *copy = strdup(line);
	int fields = copy ? cut_line(copy, field) : 0;
	bool is = fields > 2 && fields <= MOST_FIELDS && find_table(field, fields);

	free(copy);
	return is;
}

const char *sl_trace_names(void)
{
	return "a table of openb, Philly (Sia), Chronus, Eagle or ALCF, an accounting log of PBS";
}

int sl_trace_begin(struct sl_store *s, const char *path, const struct sl_snapshot **machine, struct sl_error *err)
{
	int named = sl_store_machine(s, err);

	if (named == 0)
		sl_fail(err, SL_EINVAL, "%s: a trace does not say on which machine: name one (--machine=321x8c8g)", path);
	if (named <= 0)
		return -1;
	*machine = sl_store_snapshot(s, err);
	return *machine ? 0 : -1;
}

uint32_t sl_trace_partition(const struct sl_snapshot *machine, const char *name)
{
	for (uint32_t i = 0; i < machine->partition.rows; i++)
		if (!strcmp(sl_snapshot_str(machine, machine->partition.name[i]), name))
			return i;
	return SL_NONE;
}

/* -- rows ------------------------------------------------------------------------ */

static const char *text_of(const struct trace *t, enum role role)
{
	return t->field[role] < 0 ? "" : t->text[t->field[role]];
}

/* A number, rounded up; -1 where there is none. */
static int64_t number_of(const struct trace *t, enum role role)
{
	const char *text = text_of(t, role);
	char *end;
	double n = strtod(text, &end);

	return end > text && !*end && n >= 0 && n < 0x1p53 ? (int64_t) ceil(n) : -1;
}

/* An instant: a date, or a time after a beginning that the trace does not tell. */
static bool instant_of(const struct trace *t, enum role role, int64_t *when)
{
	int64_t n = number_of(t, role);

	if (n >= 0) {
		*when = t->table->origin + n * t->table->unit;
		return true;
	}
	return sl_scan_time(text_of(t, role), when);
}

static bool runtime_of(const struct trace *t, int64_t *runtime)
{
	int64_t start, end;

	*runtime = number_of(t, RUNTIME_S) * t->table->unit;
	if (t->field[RUNTIME_S] >= 0)
		return *runtime >= 0;
	if (!instant_of(t, START, &start) || !instant_of(t, END, &end))
		return false;
	*runtime = end - start;
	return true;
}

static bool machine_has_gpus(const struct trace *t)
{
	for (uint32_t i = 0; i < t->machine->gres_kind.rows; i++)
		if (!strcmp(sl_snapshot_str(t->machine, t->machine->gres_kind.name[i]), "gpu"))
			return true;
	return false;
}

static bool size_of(const struct trace *t, struct sl_draft *j)
{
	int64_t gpus = number_of(t, GPUS), nodes = number_of(t, NODES), cores = number_of(t, CORES), memory = number_of(t, MEMORY_MIB);

	if (t->field[CPU_MILLI] >= 0)
		cores = number_of(t, CPU_MILLI) >= 0 ? (number_of(t, CPU_MILLI) + 999) / 1000 : -1;
	else if (t->field[CORES] < 0)
		cores = gpus;
	if (cores < 0 || cores >= SL_NONE || gpus >= SL_NONE || nodes >= SL_NONE)
		return false;
	j->tasks = (uint32_t) (cores > 0 ? cores : gpus > 0 ? gpus : 1);
	j->min_nodes = nodes > 0 ? (uint32_t) nodes : 1;
	if (memory > 0)
		j->memory_per_cpu = (uint32_t) (memory / j->tasks < SL_NONE ? (memory + j->tasks - 1) / j->tasks : SL_NONE - 1);
	if (gpus > 0 && !machine_has_gpus(t)) {
		sl_store_note(t->s, SL_ISSUE_MODEL, t->line, "%" PRId64 " GPUs, the machine has none", gpus);
	} else if (gpus > 0) {
		j->gpus = (uint32_t) gpus;
		j->gpus_per = SL_PER_JOB;
	}
	return true;
}

static int add_row(struct trace *t)
{
	struct sl_draft j = sl_draft();
	int64_t id = number_of(t, ID), walltime = number_of(t, WALLTIME_S), start;

	j.line = t->line;
	if (t->field[END] >= 0 && (!*text_of(t, START) || !*text_of(t, END))) {
		sl_store_note(t->s, SL_ISSUE_STATE, t->line, "it has no start or no end");
		return 0;
	}
	if (!instant_of(t, SUBMIT, &j.submit_s) || !runtime_of(t, &j.runtime_s) || !size_of(t, &j)) {
		sl_store_note(t->s, SL_ISSUE_FIELDS, t->line, "a number or time that is none");
		return 0;
	}
	j.id = id > 0 && id < SL_NONE ? (uint32_t) id : 0;
	j.estimate_s = walltime > 0 ? walltime * t->table->unit : 0;
	j.user = sl_store_str(t->s, text_of(t, USER));
	j.account = sl_store_str(t->s, text_of(t, t->field[ACCOUNT] >= 0 ? ACCOUNT : PARTITION));
	j.qos = sl_store_str(t->s, text_of(t, QOS));
	j.name = sl_store_str(t->s, text_of(t, NAME));
	j.partition = sl_trace_partition(t->machine, text_of(t, PARTITION));
	if (sl_store_reals(t->s) && j.runtime_s > 0 && instant_of(t, START, &start))
		sl_reals_add(sl_store_reals(t->s), &j, INT64_MIN, start, 0, 0, "");
	return sl_store_add(t->s, &j);
}

/* Say what the table is, and which of its columns are not used. */
static void note_columns(const struct trace *t, const char *path)
{
	char others[400] = "";

	for (int i = 0; i < t->columns; i++) {
		bool is_used = false;
		size_t n = strlen(others);

		for (int role = 0; role < ROLES; role++)
			is_used |= t->field[role] == i;
		if (!is_used && n < sizeof(others))
			snprintf(others + n, sizeof(others) - n, "%s%s", n ? ", " : "", t->text[i]);
	}
	sl_notes_add(sl_store_notes(t->s), "%s: read as %s%s%s", path, t->table->what,
		     *others ? "; columns that are not used: " : "", others);
}

static int begin_table(struct trace *t, struct sl_lines *l, const char *path, struct sl_error *err)
{
	char *line;
	int64_t n = sl_lines_next(l, &line, err);

	while (n > 0 && !*line)
		n = sl_lines_next(l, &line, err);
	if (n < 0)
		return -1;
	t->columns = n ? cut_line(line, t->text) : 0;
	t->table = t->columns <= MOST_FIELDS ? find_table(t->text, t->columns) : NULL;
	if (!t->table)
		return sl_fail(err, SL_EFORMAT, "%s:1: expected the names of columns", path);
	for (int role = 0; role < ROLES; role++)
		t->field[role] = -1;
	for (size_t i = 0; i < sizeof(t->table->columns) / sizeof(t->table->columns[0]) && t->table->columns[i].column; i++)
		t->field[t->table->columns[i].role] = find_column(t->text, t->columns, t->table->columns[i].column);
	for (size_t i = 0; i < sizeof(t->table->more) / sizeof(t->table->more[0]) && t->table->more[i].column; i++)
		t->field[t->table->more[i].role] = find_column(t->text, t->columns, t->table->more[i].column);
	note_columns(t, path);
	return 0;
}

static int read_rows(struct trace *t, struct sl_lines *l, struct sl_error *err)
{
	char *line;
	int64_t n;
	int fields;

	while ((n = sl_lines_next(l, &line, err)) > 0) {
		if (!*line)
			continue;
		t->line = sl_lines_number(l);
		sl_store_count_row(t->s);
		fields = cut_line(line, t->text);
		if (fields != t->columns)
			sl_store_note(t->s, SL_ISSUE_FIELDS, t->line, "%d fields, expected %d", fields, t->columns);
		else if (add_row(t))
			return 0;
	}
	return n < 0 ? -1 : 0;
}

int sl_workload_read_trace(struct sl_store *s, const char *path, struct sl_error *err)
{
	struct trace *t = calloc(1, sizeof(*t));
	struct sl_lines *l = sl_lines_open(path, err);
	int rc = -1;

	if (!t) {
		sl_fail(err, SL_ENOMEM, "%s: out of memory", path);
	} else if (l && !sl_trace_begin(s, path, &t->machine, err)) {
		t->s = s;
		if (sl_store_reals(s))
			sl_store_reals(s)->lacks = SL_REAL_ALL;
		if (!begin_table(t, l, path, err)) {
			sl_store_set_origin(s, 0);
			rc = read_rows(t, l, err);
		}
	}
	sl_lines_close(l);
	free(t);
	return rc;
}
