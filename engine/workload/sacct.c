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
 * sacct -P escapes nothing: a JobName with a line end in it makes a row of its user's.  That does no harm to
 * but a simulation, so it is read where it is there, and not asked for above.
 *
 * sacct does not tell of tasks, exclusive nodes or constraints: CPUs are placed
 * where they fit, on ReqNodes nodes or more.
 */
#include "workload/private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/columns.h"
#include "base/product.h"

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

struct dump {
	struct sl_store *s;
	const struct sl_snapshot *machine;
	struct sl_columns row;	/* at hand */
	uint64_t line;
};

static bool has(const struct dump *d, enum column c)
{
	return sl_columns_has(&d->row, c);
}

static int check_names(const struct dump *d, const char *path, struct sl_error *err)
{
	const char *lacks = NULL;

	if (!has(d, C_JOBIDRAW) && !has(d, C_JOBID))
		lacks = "JobIDRaw or JobID";
	else if (!has(d, C_SUBMIT))
		lacks = "Submit";
	else if (!has(d, C_ELAPSEDRAW) && !has(d, C_ELAPSED) && (!has(d, C_START) || !has(d, C_END)))
		lacks = "ElapsedRaw, Elapsed, or Start and End";
	else if (!has(d, C_REQCPUS) && !has(d, C_NCPUS) && !has(d, C_ALLOCCPUS))
		lacks = "ReqCPUS, NCPUS or AllocCPUS";
	return lacks ? sl_fail(err, SL_EFORMAT, "%s:1: no column %s", path, lacks) : 0;
}

static const char *field_text(const struct dump *d, enum column c)
{
	return sl_columns_text(&d->row, c);
}

static bool scan_runtime(const struct dump *d, int64_t *runtime)
{
	int64_t start, end;

	if (sl_scan_whole(field_text(d, C_ELAPSEDRAW), runtime))
		return true;
	if (*field_text(d, C_ELAPSED) && sl_scan_duration(field_text(d, C_ELAPSED), runtime))
		return true;
	if (!sl_scan_time(field_text(d, C_START), &start) || !sl_scan_time(field_text(d, C_END), &end))
		return false;
	*runtime = end - start;
	return true;
}

/* Nothing where the limit is the partition's or none. */
static int64_t scan_limit(const struct dump *d)
{
	int64_t n;

	if (sl_scan_whole(field_text(d, C_TIMELIMITRAW), &n) && n > 0 && n < SL_WORKLOAD_MAX_SECONDS / 60)
		return n * 60;
	if (sl_scan_duration(field_text(d, C_TIMELIMIT), &n) && n > 0 && n != SL_UNLIMITED)
		return n;
	return 0;
}

/* The value of "gres/gpu", say; "" where there is none. */
static const char *find_tres(const char *tres, const char *name, char value[32])
{
	int length = 0;
	const char *at = sl_tres_find(tres, name, &length);

	snprintf(value, 32, "%.*s", length, at ? at : "");
	return value;
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
		if (*type && *find_tres(tres, name, value))
			return sl_store_str(d->s, type);
	}
	return 0;
}

static void read_tres(const struct dump *d, struct sl_draft *j)
{
	const char *tres = sl_columns_either(&d->row, C_REQTRES, C_ALLOCTRES);
	char value[32];
	int64_t n;

	if (sl_scan_memory(find_tres(tres, "mem", value), 'M', &n, NULL) && j->tasks) {
		n = (int64_t) sl_quotient_up((uint64_t) n, j->tasks);
		j->memory_per_cpu = n < SL_NONE ? n : SL_NONE - 1;
	}
	if (!sl_scan_whole(find_tres(tres, "gres/gpu", value), &n) || n <= 0 || n >= SL_NONE)
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

	if (!sl_scan_time(field_text(d, C_SUBMIT), &j->submit_s) || !scan_runtime(d, &j->runtime_s))
		return false;
	if (!sl_scan_whole(field_text(d, C_REQCPUS), &cpus) && !sl_scan_whole(field_text(d, C_NCPUS), &cpus) &&
	    !sl_scan_whole(field_text(d, C_ALLOCCPUS), &cpus))
		return false;
	if (cpus < 0 || cpus >= SL_NONE)
		return false;
	if (*field_text(d, C_REQNODES) && (!sl_scan_whole(field_text(d, C_REQNODES), &nodes) || nodes < 0 || nodes >= SL_NONE))
		return false;
	j->tasks = cpus;
	j->min_nodes = nodes > 0 ? nodes : 1;
	j->estimate_s = scan_limit(d);
	return true;
}

/* Returns 1 when no more rows are wanted. */
static int add_row(struct dump *d)
{
	const char *id = sl_columns_either(&d->row, C_JOBIDRAW, C_JOBID);
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
	if (sl_scan_whole(id, &n) && n > 0 && n < SL_NONE)
		j.id = n;		/* tasks of arrays and parts of het jobs get one */
	if (strchr(id, '+'))
		sl_store_note(d->s, SL_ISSUE_MODEL, d->line, "het job %.40s, its parts are jobs", id);
	j.line = d->line;
	if (sl_scan_whole(field_text(d, C_UID), &n) && n >= 0 && n < SL_NONE)
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
	int rc = sl_columns_begin(&d->row, l, names, COLUMNS, err);

	if (rc <= 0 || check_names(d, path, err))
		return rc ? -1 : 0;
	while ((rc = sl_columns_next(&d->row, err)) > 0) {
		d->line = sl_lines_number(l);
		sl_store_count_row(d->s);
		if (d->row.fields != d->row.columns)
			sl_store_note(d->s, SL_ISSUE_FIELDS, d->line, "%d fields, expected %d", d->row.fields, d->row.columns);
		else if (add_row(d))
			return 0;
	}
	return rc;
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
