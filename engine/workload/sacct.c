/* SPDX-License-Identifier: MIT */
/*
 * workload/sacct.c - what `sacct --parsable2` (-P) prints, so that a site can replay
 * its own month.
 *
 *	sacct -aXP -S 2024-01-01 -E 2024-02-01 --format=JobIDRaw,User,Account,QOS,\
 *	Partition,Submit,Start,End,ElapsedRaw,TimelimitRaw,State,ReqCPUS,ReqNodes,ReqTRES
 *
 * Columns are found by the names in the first line, in any order; others are left
 * alone.  Needed are JobID or JobIDRaw, Submit, one of ElapsedRaw, Elapsed and
 * Start with End, and one of ReqCPUS, NCPUS and AllocCPUS.  Also used, where there:
 * User, UID, Account, QOS, Partition, JobName, State, TimelimitRaw or Timelimit,
 * ReqNodes, ReqTRES or AllocTRES (gres/gpu, mem).  Times are taken as UTC, or as
 * seconds since the epoch (SLURM_TIME_FORMAT=%s): say TZ=UTC when a change of clocks
 * lies in between.  Without -X job steps are listed, and skipped here.
 *
 * sacct does not tell of tasks, exclusive nodes or constraints: CPUs are placed
 * where they fit, on ReqNodes nodes or more.
 */
#include "workload/private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum column {
	C_JOBIDRAW, C_JOBID, C_USER, C_UID, C_ACCOUNT, C_QOS, C_PARTITION, C_JOBNAME, C_SUBMIT, C_START, C_END,
	C_ELAPSEDRAW, C_ELAPSED, C_TIMELIMITRAW, C_TIMELIMIT, C_STATE, C_REQCPUS, C_NCPUS, C_ALLOCCPUS,
	C_REQNODES, C_REQTRES, C_ALLOCTRES, COLUMNS
};

static const char *const names[COLUMNS] = {
	"JobIDRaw", "JobID", "User", "UID", "Account", "QOS", "Partition", "JobName", "Submit", "Start", "End",
	"ElapsedRaw", "Elapsed", "TimelimitRaw", "Timelimit", "State", "ReqCPUS", "NCPUS", "AllocCPUS", "ReqNodes",
	"ReqTRES", "AllocTRES",
};

#define MOST_FIELDS 256

struct dump {
	struct sl_store *s;
	const struct sl_snapshot *machine;
	int column[COLUMNS];	/* -1: not there */
	int fields;
	char *field[MOST_FIELDS];
	uint64_t line;
};

static int read_names(struct dump *d, char *line, const char *path, struct sl_error *err)
{
	d->fields = sl_lines_columns(line, d->field, MOST_FIELDS, names, d->column, COLUMNS, path, err);
	if (d->fields < 0)
		return -1;
	if (d->column[C_JOBIDRAW] < 0 && d->column[C_JOBID] < 0)
		return sl_fail(err, SL_EFORMAT, "%s:1: no column JobIDRaw or JobID", path);
	if (d->column[C_SUBMIT] < 0)
		return sl_fail(err, SL_EFORMAT, "%s:1: no column Submit", path);
	if (d->column[C_ELAPSEDRAW] < 0 && d->column[C_ELAPSED] < 0 &&
	    (d->column[C_START] < 0 || d->column[C_END] < 0))
		return sl_fail(err, SL_EFORMAT, "%s:1: no column ElapsedRaw, Elapsed, or Start and End", path);
	if (d->column[C_REQCPUS] < 0 && d->column[C_NCPUS] < 0 && d->column[C_ALLOCCPUS] < 0)
		return sl_fail(err, SL_EFORMAT, "%s:1: no column ReqCPUS, NCPUS or AllocCPUS", path);
	return 0;
}

/* The text of a column in the row at hand, "" where there is none. */
static const char *field_text(const struct dump *d, enum column c)
{
	return d->column[c] < 0 ? "" : d->field[d->column[c]];
}

static bool whole_int(const char *p, int64_t *n)
{
	return *p && sl_scan_int(&p, n) && !*p;
}

/* "2024-01-31T12:00:00", "1706702400"; false for "Unknown" and the like. */
static bool scan_time(const char *p, int64_t *t)
{
	struct tm tm = { 0 };
	int n = 0;

	if (whole_int(p, t))
		return true;
	if (sscanf(p, "%4d-%2d-%2dT%2d:%2d:%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour, &tm.tm_min,
		   &tm.tm_sec, &n) != 6 || p[n])
		return false;
	if (tm.tm_mon < 1 || tm.tm_mon > 12 || tm.tm_mday < 1 || tm.tm_mday > 31 || tm.tm_hour > 23 ||
	    tm.tm_min > 59 || tm.tm_sec > 60 || tm.tm_year < 1970)
		return false;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	*t = timegm(&tm);
	return true;
}

static bool scan_runtime(const struct dump *d, int64_t *runtime)
{
	int64_t start, end;

	if (whole_int(field_text(d, C_ELAPSEDRAW), runtime))
		return true;
	if (*field_text(d, C_ELAPSED) && sl_scan_duration(field_text(d, C_ELAPSED), runtime))
		return true;
	if (!scan_time(field_text(d, C_START), &start) || !scan_time(field_text(d, C_END), &end))
		return false;
	*runtime = end - start;
	return true;
}

/* Nothing where the limit is the partition's or none. */
static int64_t scan_limit(const struct dump *d)
{
	int64_t n;

	if (whole_int(field_text(d, C_TIMELIMITRAW), &n) && n > 0 && n < SL_WORKLOAD_MAX_SECONDS / 60)
		return n * 60;
	if (sl_scan_duration(field_text(d, C_TIMELIMIT), &n) && n > 0 && n != SL_UNLIMITED)
		return n;
	return 0;
}

/* The value of "gres/gpu=4" in "billing=8,cpu=8,gres/gpu=4,mem=16G". */
static bool find_tres(const char *tres, const char *name, char *value, size_t size)
{
	size_t n = strlen(name);

	for (; *tres; tres += strcspn(tres, ","), tres += *tres == ',') {
		if (strncmp(tres, name, n) || tres[n] != '=')
			continue;
		snprintf(value, size, "%.*s", (int) strcspn(tres + n + 1, ","), tres + n + 1);
		return true;
	}
	return false;
}

static bool machine_has_gpus(const struct dump *d)
{
	for (uint32_t i = 0; i < d->machine->gres_kind.rows; i++)
		if (!strcmp(sl_snapshot_str(d->machine, d->machine->gres_kind.name[i]), "gpu"))
			return true;
	return false;
}

/* The type that is asked for, where the machine knows it: "gres/gpu:a100=4". */
static uint32_t gpu_type(const struct dump *d, const char *tres)
{
	char name[96], value[32];

	for (uint32_t i = 0; i < d->machine->gres_kind.rows; i++) {
		const char *type = sl_snapshot_str(d->machine, d->machine->gres_kind.type[i]);

		snprintf(name, sizeof(name), "gres/gpu:%s", type);
		if (*type && find_tres(tres, name, value, sizeof(value)))
			return sl_store_str(d->s, type);
	}
	return 0;
}

static void read_tres(const struct dump *d, struct sl_draft *j)
{
	const char *tres = *field_text(d, C_REQTRES) ? field_text(d, C_REQTRES) : field_text(d, C_ALLOCTRES);
	char value[32];
	int64_t n;

	if (find_tres(tres, "mem", value, sizeof(value)) && sl_scan_memory(value, 'M', &n, NULL) && j->tasks) {
		n = (n + j->tasks - 1) / j->tasks;
		j->memory_per_cpu = n < SL_NONE ? n : SL_NONE - 1;
	}
	if (!find_tres(tres, "gres/gpu", value, sizeof(value)) || !whole_int(value, &n) || n <= 0 || n >= SL_NONE)
		return;
	if (!machine_has_gpus(d)) {
		sl_store_note(d->s, SL_ISSUE_MODEL, d->line, "%" PRId64 " GPUs, the machine has none", n);
		return;
	}
	j->gpus = n % j->min_nodes ? n : n / j->min_nodes;
	j->gpus_per = n % j->min_nodes ? SL_PER_JOB : SL_PER_NODE;
	j->gpu_type = gpu_type(d, tres);
}

/* The first of its partitions that the machine has. */
static uint32_t find_partition(const struct dump *d)
{
	const char *list = field_text(d, C_PARTITION), *p = list;

	for (; *p; p += strcspn(p, ","), p += *p == ',')
		for (uint32_t i = 0; i < d->machine->partition.rows; i++) {
			const char *name = sl_snapshot_str(d->machine, d->machine->partition.name[i]);
			size_t n = strcspn(p, ",");

			if (strlen(name) == n && !strncmp(p, name, n))
				return i;
		}
	if (*list && (d->machine->partition.rows > 1 ||
		      strcmp(sl_snapshot_str(d->machine, d->machine->partition.name[0]), "all")))
		sl_store_note(d->s, SL_ISSUE_MODEL, d->line, "no partition %s, the default one is taken", list);
	return SL_NONE;
}

/* Words of states in which a job has not come to its end. */
static bool unfinished(const char *state)
{
	static const char *const words[] = {
		"PENDING", "RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING", "RESIZING", "REQUEUED", "REQUEUE_HOLD",
		"PD", "R", "S", "CG", "CF", "RS", "RQ",
	};
	size_t n = strcspn(state, " +");

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i]) == n && !strncmp(words[i], state, n))
			return true;
	return false;
}

static bool read_numbers(const struct dump *d, struct sl_draft *j)
{
	int64_t cpus, nodes = 1;

	if (!scan_time(field_text(d, C_SUBMIT), &j->submit_s) || !scan_runtime(d, &j->runtime_s))
		return false;
	if (!whole_int(field_text(d, C_REQCPUS), &cpus) && !whole_int(field_text(d, C_NCPUS), &cpus) &&
	    !whole_int(field_text(d, C_ALLOCCPUS), &cpus))
		return false;
	if (cpus < 0 || cpus >= SL_NONE)
		return false;
	if (*field_text(d, C_REQNODES) && (!whole_int(field_text(d, C_REQNODES), &nodes) || nodes < 0 || nodes >= SL_NONE))
		return false;
	j->tasks = cpus;
	j->min_nodes = nodes > 0 ? nodes : 1;
	j->estimate_s = scan_limit(d);
	return true;
}

/* Returns 1 when no more rows are wanted. */
static int add_row(struct dump *d)
{
	const char *id = *field_text(d, C_JOBIDRAW) ? field_text(d, C_JOBIDRAW) : field_text(d, C_JOBID);
	struct sl_draft j = sl_draft();
	int64_t n;

	if (strchr(id, '.')) {
		sl_store_note(d->s, SL_ISSUE_STEP, d->line, "%.60s", id);
		return 0;
	}
	if (unfinished(field_text(d, C_STATE))) {
		sl_store_note(d->s, SL_ISSUE_STATE, d->line, "job %.40s is %.20s", id, field_text(d, C_STATE));
		return 0;
	}
	if (!*id || !read_numbers(d, &j)) {
		sl_store_note(d->s, SL_ISSUE_FIELDS, d->line, "job %.40s: a number or time that is none", id);
		return 0;
	}
	if (whole_int(id, &n) && n > 0 && n < SL_NONE)
		j.id = n;		/* tasks of arrays and parts of het jobs get one */
	if (strchr(id, '+'))
		sl_store_note(d->s, SL_ISSUE_MODEL, d->line, "het job %.40s, its parts are jobs", id);
	j.line = d->line;
	if (whole_int(field_text(d, C_UID), &n) && n >= 0 && n < SL_NONE)
		j.uid = n;
	j.user = sl_store_str(d->s, field_text(d, C_USER));
	j.account = sl_store_str(d->s, field_text(d, C_ACCOUNT));
	j.qos = sl_store_str(d->s, field_text(d, C_QOS));
	j.name = sl_store_str(d->s, field_text(d, C_JOBNAME));
	if (j.runtime_s > 0)
		j.partition = find_partition(d);
	read_tres(d, &j);
	return sl_store_add(d->s, &j);
}

static int read_rows(struct dump *d, struct sl_lines *l, const char *path, struct sl_error *err)
{
	bool begun = false;
	int64_t n;
	int fields;
	char *line;

	while ((n = sl_lines_next(l, &line, err)) > 0) {
		if (!*line)
			continue;
		if (!begun) {
			if (read_names(d, line, path, err) < 0)
				return -1;
			begun = true;
			continue;
		}
		d->line = sl_lines_number(l);
		sl_store_count_row(d->s);
		fields = sl_lines_cut(line, d->field, MOST_FIELDS);
		if (fields != d->fields) {
			sl_store_note(d->s, SL_ISSUE_FIELDS, d->line, "%d fields, expected %d", fields, d->fields);
			continue;
		}
		if (add_row(d))
			return 0;
	}
	return n < 0 ? -1 : 0;
}

int sl_workload_read_sacct(struct sl_store *s, const char *path, struct sl_error *err)
{
	struct dump *d = calloc(1, sizeof(*d));
	struct sl_lines *l = sl_lines_open(path, err);
	int machine, rc = -1;

	if (!l || !d)
		goto error;
	d->s = s;
	sl_store_set_origin(s, 0);
	machine = sl_store_machine(s, err);
	if (machine == 0)
		sl_fail(err, SL_EINVAL, "%s: what sacct printed does not say on which machine: name one", path);
	if (machine <= 0)
		goto error;
	d->machine = sl_store_snapshot(s, err);
	if (!d->machine || read_rows(d, l, path, err) < 0)
		goto error;
	if (!sl_store_jobs(s))
		sl_fail(err, SL_EFORMAT, "%s: no job that has run", path);
	else
		rc = 0;
error:
	sl_lines_close(l);
	free(d);
	return rc;
}
