/* SPDX-License-Identifier: MIT */
/*
 * workload/sacct.c - what `sacct --parsable2` (-P) and --parsable (-p) print, so that a site can replay its own month.
 *
 *	schedlua workload --sacct-command	prints the command that tells all that is used
 *
 * Columns are found by the names in the first line, in any order, and whatever stands between them (--delimiter).
 * What becomes of each column that sacct has is in workload/sacct_columns.c.  Times are taken as UTC, as said by
 * their offset, or as seconds since the epoch (SLURM_TIME_FORMAT=%s); or as those of a zone that is named (sacct_zone.c).
 * Without -X job steps are listed, and skipped here.
 *
 * sacct -P escapes nothing: a JobName with a line end in it makes a row of its user's.  That does no harm to but a
 * simulation, so it is read where it is there, and not asked for by the command.
 *
 * sacct does not tell of tasks, exclusive nodes or constraints: CPUs are placed where they fit, on as many nodes as the
 * job had, or more.
 */
#include "workload/sacct.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/columns.h"
#include "base/number.h"
#include "base/zone.h"
#include "image/gres_word.h"

/* -- fields ------------------------------------------------------------------- */

static const char *first_said(const struct sl_sacct *d, enum sl_sacct_used a, enum sl_sacct_used b)
{
	return *d->text[a] ? d->text[a] : d->text[b];
}

/* A count as sacct prints it: "4096", "4K", "1.50K". */
static bool scan_count(const char *text, int64_t *n)
{
	char *end;
	double v;

	if (!isdigit((unsigned char) *text))
		return false;
	v = strtod(text, &end);
	if (*end && strchr("KMG", *end)) {
		for (const char *unit = "KMG"; ; unit++) {
			v *= 1024;
			if (*unit == *end)
				break;
		}
		end++;
	}
	if (*end || !(v < SL_NONE))
		return false;
	*n = (int64_t) v;
	return true;
}

static bool scan_first(const struct sl_sacct *d, const enum sl_sacct_used *columns, int64_t *n)
{
	for (; *columns != SL_SACCT_USED; columns++)
		if (scan_count(d->text[*columns], n) && *n > 0)
			return true;
	return false;
}

static bool scan_runtime(const struct sl_sacct *d, int64_t *runtime)
{
	int64_t start, end;

	if (sl_scan_whole(d->text[SL_SACCT_ELAPSEDRAW], runtime))
		return true;
	if (*d->text[SL_SACCT_ELAPSED] && sl_scan_duration(d->text[SL_SACCT_ELAPSED], runtime))
		return true;
	if (!sl_scan_time(d->text[SL_SACCT_START], &start) || !sl_scan_time(d->text[SL_SACCT_END], &end))
		return false;
	*runtime = end - start;
	return true;
}

/* Was there no limit of the job's own? */
static bool is_unlimited(const char *text)
{
	return !strcasecmp(text, "UNLIMITED") || !strcasecmp(text, "INFINITE") || !strcasecmp(text, "Partition_Limit");
}

/* The walltime of a job without a limit: its partition's, else what the options say, else Slurm's own. */
static int64_t limit_of_partition(const struct sl_sacct *d, const char *text, uint32_t partition)
{
	const struct sl_snapshot *m = d->machine;
	int64_t most = SL_UNLIMITED;

	for (uint32_t i = 0; i < m->partition.rows; i++)
		if (i == partition || (partition == SL_NONE && m->partition.flags[i] & SL_PART_DEFAULT))
			most = m->partition.max_time[i];
	if (most == SL_UNLIMITED || most <= 0)
		most = sl_store_unlimited(d->s);
	sl_store_note(d->s, SL_ISSUE_UNLIMITED, d->line, "%.20s: %" PRId64 " minutes", text, most / 60);
	return most;
}

/* 0 where the dump says nothing of limits. */
static int64_t scan_limit(const struct sl_sacct *d, uint32_t partition)
{
	const char *raw = d->text[SL_SACCT_TIMELIMITRAW], *text = d->text[SL_SACCT_TIMELIMIT];
	int64_t n;

	if (sl_scan_whole(raw, &n) && n > 0 && n < SL_WORKLOAD_MAX_SECONDS / 60)
		return n * 60;
	if (is_unlimited(raw) || is_unlimited(text))
		return limit_of_partition(d, *raw ? raw : text, partition);
	if (sl_scan_duration(text, &n) && n > 0)
		return n;
	return 0;
}

/* -- GPUs and memory ------------------------------------------------------------ */

/* The value of "gres/gpu", say; "" where there is none. */
static const char *find_tres(const char *tres, const char *name, char value[32])
{
	int length = 0;
	const char *at = sl_tres_find(tres, name, &length);

	snprintf(value, 32, "%.*s", length, at ? at : "");
	return value;
}

struct gpus {
	int64_t count;
	char type[64];		/* "": any, or several */
};

/* "gres/gpu=4,gres/gpu:a100=4", and where only types are told their sum. */
static bool gpus_of_tres(const char *tres, struct gpus *g)
{
	static const char typed[] = "gres/gpu:";
	int64_t sum = 0, n;
	int types = 0;
	char value[32];

	*g = (struct gpus) { .count = 0 };
	for (const char *p = tres; *p; p += strcspn(p, ","), p += *p == ',') {
		size_t name = strcspn(p, ",=");

		if (strncmp(p, typed, strlen(typed)) || p[name] != '=')
			continue;
		snprintf(value, sizeof(value), "%.*s", (int) strcspn(p + name + 1, ","), p + name + 1);
		if (!scan_count(value, &n) || n <= 0)
			continue;
		sum += n;
		if (!types++)
			snprintf(g->type, sizeof(g->type), "%.*s", (int) (name - strlen(typed)), p + strlen(typed));
	}
	if (types != 1)
		*g->type = 0;
	if (!scan_count(find_tres(tres, "gres/gpu", value), &g->count))
		g->count = sum;
	return g->count > 0;
}

/* "gpu:2", "gpu:a100:2,nic:1", "gres/gpu:2": of the job as a whole. */
static bool gpus_of_gres(const char *list, struct gpus *g)
{
	struct sl_gres_word w;

	*g = (struct gpus) { .count = 0 };
	for (const char *p = list; *p; p += *p == ',') {
		size_t n = sl_gres_word_length(p);
		const char *word = n > 5 && !strncmp(p, "gres/", 5) ? p + 5 : p;

		if (sl_gres_word(word, n - (size_t) (word - p), &w) && !strcmp(w.name, "gpu")) {
			snprintf(g->type, sizeof(g->type), "%s", g->count ? "" : w.type);
			g->count += (int64_t) w.count;
		}
		p += n;
	}
	return g->count > 0;
}

/* Does the machine have GPUs, of this type where one is said? */
static bool machine_has_gpus(const struct sl_sacct *d, const char *type)
{
	for (uint32_t i = 0; i < d->machine->gres_kind.rows; i++)
		if (!strcmp(sl_snapshot_str(d->machine, d->machine->gres_kind.name[i]), "gpu") &&
		    (!*type || !strcmp(sl_snapshot_str(d->machine, d->machine->gres_kind.type[i]), type)))
			return true;
	return false;
}

static void read_gpus(const struct sl_sacct *d, struct sl_draft *j)
{
	struct gpus g;

	if (!gpus_of_tres(d->text[SL_SACCT_REQTRES], &g) && !gpus_of_tres(d->text[SL_SACCT_ALLOCTRES], &g) &&
	    !gpus_of_gres(d->text[SL_SACCT_ALLOCGRES], &g) && !gpus_of_gres(d->text[SL_SACCT_REQGRES], &g))
		return;
	if (g.count >= SL_NONE) {
		sl_store_note(d->s, SL_ISSUE_MODEL, d->line, "%" PRId64 " GPUs", g.count);
		return;
	}
	if (!machine_has_gpus(d, "")) {
		sl_store_note(d->s, SL_ISSUE_MODEL, d->line, "%" PRId64 " GPUs, the machine has none", g.count);
		return;
	}
	if (*g.type && !machine_has_gpus(d, g.type)) {
		sl_store_note(d->s, SL_ISSUE_MODEL, d->line, "GPUs of type %.20s, the machine has none: any will do", g.type);
		*g.type = 0;
	}
	j->gpus = (uint32_t) (g.count % j->min_nodes ? g.count : g.count / j->min_nodes);
	j->gpus_per = g.count % j->min_nodes ? SL_PER_JOB : SL_PER_NODE;
	j->gpu_type = sl_store_str(d->s, g.type);
}

/* "60Gn" of each node, "4Gc" of each CPU (up to 20.11), "240G" of the job: MiB of the job. */
static bool scan_reqmem(const char *text, const struct sl_draft *j, int64_t *mib)
{
	const char *end;

	if (!sl_scan_memory(text, 'M', mib, &end))
		return false;
	if (*end && end[1])
		return false;
	if ((*end == 'n' && __builtin_mul_overflow(*mib, (int64_t) j->min_nodes, mib)) ||
	    (*end == 'c' && __builtin_mul_overflow(*mib, (int64_t) j->tasks, mib)))
		return false;
	return *mib > 0 && (!*end || *end == 'n' || *end == 'c');
}

static void read_memory(const struct sl_sacct *d, struct sl_draft *j)
{
	char value[32];
	int64_t n;

	if (!j->tasks)
		return;
	if (!sl_scan_memory(find_tres(d->text[SL_SACCT_REQTRES], "mem", value), 'M', &n, NULL) &&
	    !scan_reqmem(d->text[SL_SACCT_REQMEM], j, &n) &&
	    !sl_scan_memory(find_tres(d->text[SL_SACCT_ALLOCTRES], "mem", value), 'M', &n, NULL)) {
		if (*d->text[SL_SACCT_REQMEM] && strspn(d->text[SL_SACCT_REQMEM], "0KMGTPnc") != strlen(d->text[SL_SACCT_REQMEM]))
			sl_store_note(d->s, SL_ISSUE_MODEL, d->line, "ReqMem=%.30s", d->text[SL_SACCT_REQMEM]);
		return;
	}
	n = (int64_t) sl_quotient_up((uint64_t) n, j->tasks);
	j->memory_per_cpu = (uint32_t) (n < SL_NONE ? n : SL_NONE - 1);
}

/* -- a job ---------------------------------------------------------------------- */

/* The first of its partitions that the machine has. */
static uint32_t find_partition(const struct sl_sacct *d)
{
	const char *list = d->text[SL_SACCT_PARTITION], *p = list;

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

static bool read_numbers(const struct sl_sacct *d, struct sl_draft *j)
{
	static const enum sl_sacct_used cpu_columns[] = {
		SL_SACCT_REQCPUS, SL_SACCT_NCPUS, SL_SACCT_ALLOCCPUS, SL_SACCT_USED,
	};
	static const enum sl_sacct_used node_columns[] = {
		SL_SACCT_REQNODES, SL_SACCT_NNODES, SL_SACCT_ALLOCNODES, SL_SACCT_USED,
	};
	int64_t cpus = 0, nodes = 1;
	bool said = false;

	if (!sl_scan_time(d->text[SL_SACCT_SUBMIT], &j->submit_s) || !scan_runtime(d, &j->runtime_s))
		return false;
	for (const enum sl_sacct_used *c = cpu_columns; *c != SL_SACCT_USED; c++)
		said |= scan_count(d->text[*c], &cpus);
	if (!said || (!scan_first(d, cpu_columns, &cpus) && cpus))
		return false;
	for (const enum sl_sacct_used *c = node_columns; *c != SL_SACCT_USED; c++)
		if (*d->text[*c] && !scan_count(d->text[*c], &nodes))
			return false;
	if (!scan_first(d, node_columns, &nodes))
		nodes = 1;
	j->tasks = (uint32_t) cpus;
	j->min_nodes = (uint32_t) nodes;
	return true;
}

/* True if jobs of that partition are placed in blocks. */
static bool has_blocks(const struct sl_sacct *d, uint32_t partition)
{
	const struct sl_partition_view *p = &d->machine->partition;

	for (uint32_t i = 0; i < p->rows; i++)
		if (i == partition || (partition == SL_NONE && p->flags[i] & SL_PART_DEFAULT))
			return p->block_nodes[i];
	return false;
}

/* Where blocks count, a job has as many nodes as it had, since topology/block takes the fewest, and each has an equal part of it. */
static void read_segment(const struct sl_sacct *d, struct sl_draft *j)
{
	int64_t n;

	if (sl_scan_whole(d->text[SL_SACCT_SEGMENTSIZE], &n) && n > 0 && n < SL_NONE)
		j->segment = (uint32_t) n;
	if (j->min_nodes < 2 || !(j->segment || has_blocks(d, j->partition)))
		return;
	j->max_nodes = j->min_nodes;
	if (j->tasks % j->min_nodes == 0)
		j->ntasks_per_node = j->tasks / j->min_nodes;
}

int sl_sacct_add(struct sl_sacct *d)
{
	const char *id = first_said(d, SL_SACCT_JOBIDRAW, SL_SACCT_JOBID);
	struct sl_draft j = sl_draft();
	int64_t n;

	sl_store_count_row(d->s);
	if (strchr(id, '.')) {
		sl_store_note(d->s, SL_ISSUE_STEP, d->line, "%.60s", id);
		return 0;
	}
	if (unfinished(d->text[SL_SACCT_STATE]) && !sl_sacct_is_running(d)) {
		sl_store_note(d->s, SL_ISSUE_STATE, d->line, "job %.40s is %.20s", id, d->text[SL_SACCT_STATE]);
		return 0;
	}
	if (!*id || !read_numbers(d, &j)) {
		sl_store_note(d->s, SL_ISSUE_FIELDS, d->line, "job %.40s: a number or time that is none", id);
		return 0;
	}
	if (sl_scan_whole(id, &n) && n > 0 && n < SL_NONE)
		j.id = (uint32_t) n;		/* tasks of arrays and parts of het jobs get one */
	if (strchr(id, '+'))
		sl_store_note(d->s, SL_ISSUE_MODEL, d->line, "het job %.40s, its parts are jobs", id);
	j.line = d->line;
	if (sl_scan_whole(d->text[SL_SACCT_UID], &n) && n >= 0 && n < SL_NONE)
		j.uid = (uint32_t) n;
	j.user = sl_store_str(d->s, d->text[SL_SACCT_USER]);
	j.account = sl_store_str(d->s, d->text[SL_SACCT_ACCOUNT]);
	j.qos = sl_store_str(d->s, d->text[SL_SACCT_QOS]);
	j.name = sl_store_str(d->s, d->text[SL_SACCT_JOBNAME]);
	if (j.runtime_s > 0) {
		j.partition = find_partition(d);
		j.estimate_s = scan_limit(d, j.partition);
		if (sl_sacct_is_running(d) && j.estimate_s > j.runtime_s)
			j.runtime_s = j.estimate_s;
		sl_sacct_add_real(d, &j);
	}
	read_memory(d, &j);
	read_gpus(d, &j);
	read_segment(d, &j);
	return sl_store_add(d->s, &j);
}

int sl_sacct_begin(struct sl_sacct *d, struct sl_store *s, const char *path, struct sl_error *err)
{
	const char *zone = sl_store_options(s)->zone;
	int machine;

	*d = (struct sl_sacct) { .s = s, .path = path, .submitted = INT64_MIN };
	for (int i = 0; i < SL_SACCT_USED; i++)
		d->text[i] = "";
	sl_store_set_origin(s, 0);
	machine = sl_store_machine(s, err);
	if (machine == 0)
		sl_fail(err, SL_EINVAL, "%s: what sacct printed does not say on which machine: name one (--machine=slurm.conf)", path);
	if (machine <= 0)
		return -1;
	d->machine = sl_store_snapshot(s, err);
	if (d->machine && zone && !(d->zone = sl_zone_read(zone, err)))
		return -1;
	return d->machine ? 0 : -1;
}

void sl_sacct_end(struct sl_sacct *d)
{
	sl_zone_destroy(d->zone);
}

/* -- columns ----------------------------------------------------------------------- */

static bool has(const struct sl_columns *c, enum sl_sacct_used column)
{
	return sl_columns_has(c, column);
}

static int check_names(const struct sl_columns *c, const char *path, struct sl_error *err)
{
	const char *lacks = NULL;

	if (!has(c, SL_SACCT_JOBIDRAW) && !has(c, SL_SACCT_JOBID))
		lacks = "JobIDRaw or JobID";
	else if (!has(c, SL_SACCT_SUBMIT))
		lacks = "Submit";
	else if (!has(c, SL_SACCT_ELAPSEDRAW) && !has(c, SL_SACCT_ELAPSED) && (!has(c, SL_SACCT_START) || !has(c, SL_SACCT_END)))
		lacks = "ElapsedRaw, Elapsed, or Start and End";
	else if (!has(c, SL_SACCT_REQCPUS) && !has(c, SL_SACCT_NCPUS) && !has(c, SL_SACCT_ALLOCCPUS))
		lacks = "ReqCPUS, NCPUS or AllocCPUS";
	return lacks ? sl_fail(err, SL_EFORMAT, "%s:1: no column %s: expected what this prints: %s", path, lacks, sl_sacct_command) : 0;
}

static void add_name(char *list, size_t size, const char *name, const char *why)
{
	size_t n = strlen(list);

	if (n < size)
		snprintf(list + n, size - n, "%s%s%s%s%s", n ? "; " : "", name, *why ? " (" : "", why, *why ? ")" : "");
}

/* Say what becomes of the columns that are not used: a line for each kind. */
static void note_columns(struct sl_store *s, const struct sl_columns *c, const char *path)
{
	char plain[1500] = "", cannot[1500] = "", unknown[500] = "";
	struct sl_notes *notes = sl_store_notes(s);

	for (int i = 0; i < c->columns; i++) {
		bool is_used = !*c->field[i] || (sl_store_reals(s) && sl_sacct_is_real(c->field[i]));
		const char *why;

		switch (is_used ? SL_SACCT_IS_USED : sl_sacct_fate(c->field[i], &why)) {
		case SL_SACCT_NOT_NEEDED: add_name(plain, sizeof(plain), c->field[i], ""); break;
		case SL_SACCT_CANNOT: add_name(cannot, sizeof(cannot), c->field[i], why); break;
		case SL_SACCT_UNKNOWN: add_name(unknown, sizeof(unknown), c->field[i], ""); break;
		case SL_SACCT_IS_USED: break;
		}
	}
	if (*plain)
		sl_notes_add(notes, "%s: columns that are not needed: %s", path, plain);
	if (*cannot)
		sl_notes_add(notes, "%s: columns that cannot be used: %s", path, cannot);
	if (*unknown)
		sl_notes_add(notes, "%s: columns that sacct is not known to have, left out: %s", path, unknown);
	if (!has(c, SL_SACCT_TIMELIMITRAW) && !has(c, SL_SACCT_TIMELIMIT))
		sl_notes_add(notes, "%s: no column TimelimitRaw: walltimes are the runtimes", path);
}

/* A row with too many fields: those of *text* are one, up to as many behind it as the header has.  False if it cannot be. */
static bool join_text(struct sl_columns *row, int text)
{
	int more = row->fields - row->columns;

	if (text < 0 || more <= 0 || row->fields > SL_COLUMNS_FIELDS)
		return false;
	for (int i = text + 1; i <= text + more; i++)
		row->field[i][-(ptrdiff_t) strlen(row->separator)] = *row->separator;
	for (int i = text + 1; i < row->columns; i++)
		row->field[i] = row->field[i + more];
	row->fields = row->columns;
	return true;
}

static int read_rows(struct sl_sacct *d, struct sl_columns *row, struct sl_lines *l, const char *path, struct sl_error *err)
{
	const char *names[SL_SACCT_USED];
	bool there[SL_SACCT_USED];
	uint64_t joined = 0;
	int rc, text;

	for (int i = 0; i < SL_SACCT_USED; i++)
		names[i] = sl_sacct_name((enum sl_sacct_used) i);
	rc = sl_columns_begin(row, l, names, SL_SACCT_USED, err);
	if (rc <= 0 || check_names(row, path, err))
		return rc ? -1 : 0;
	note_columns(d->s, row, path);
	for (int i = 0; i < SL_SACCT_USED; i++)
		there[i] = has(row, (enum sl_sacct_used) i);
	sl_sacct_real_lacks(d, there);
	text = sl_sacct_text_column(row->field, row->columns);
	while ((rc = sl_columns_next(row, err)) > 0) {
		d->line = sl_lines_number(l);
		joined += row->fields > row->columns;
		if (row->fields != row->columns && !join_text(row, text)) {
			joined -= row->fields > row->columns;
			sl_store_count_row(d->s);
			sl_store_note(d->s, SL_ISSUE_FIELDS, d->line, "%d fields, expected %d%s", row->fields, row->columns,
				      row->fields > row->columns ? ": separators within a text such as JobName" : "");
			continue;
		}
		for (int i = 0; i < SL_SACCT_USED; i++)
			d->text[i] = sl_columns_text(row, i);
		sl_sacct_tell_instants(d);
		if (sl_sacct_add(d))
			return 0;
	}
	if (joined)
		sl_notes_add(sl_store_notes(d->s), "%s: %" PRIu64 " rows have \"%s\" in the text of column %d, the only one that may",
			     path, joined, row->separator, text + 1);
	return rc;
}

int sl_workload_read_sacct(struct sl_store *s, const char *path, struct sl_error *err)
{
	struct sl_columns *row = calloc(1, sizeof(*row));
	struct sl_lines *l = sl_lines_open(path, err);
	struct sl_sacct d = { 0 };
	int rc = -1;

	if (!row)
		sl_fail(err, SL_ENOMEM, "%s: out of memory", path);
	else if (l && !sl_sacct_begin(&d, s, path, err))
		rc = read_rows(&d, row, l, path, err);
	sl_sacct_end(&d);
	sl_lines_close(l);
	free(row);
	return rc;
}
