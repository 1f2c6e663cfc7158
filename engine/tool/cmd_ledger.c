/* SPDX-License-Identifier: MIT */
/*
 * cmd_ledger.c - schedlua ledger: what was used, for administrators.
 */
#include "tool/tool.h"

#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "image/json_out.h"
#include "ledger/text.h"
#include "tool/progress.h"
#include "tool/statedir.h"
#include "base/text.h"

struct values {
	const char *dir, *by, *since, *until, *partition, *user, *account, *without;
	const char *cpu, *gpu, *node, *reason, *at, *who;
	bool runs, adjustments, json, quiet;
};

#define TEXT(n, a, d) { .name = #n, .type = SL_OPTION_TEXT, .offset = offsetof(struct values, n), .argument = a, .doc = d }
#define FLAG(n, d) { .name = #n, .type = SL_OPTION_FLAG, .offset = offsetof(struct values, n), .doc = d }

static const struct sl_option options[] = {
	TEXT(dir, "DIR", "the directory of the ledger, if it is not \"schedlua\" in StateSaveLocation"),
	{ .name = "by", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, by), .argument = "WHOM",
	  .standard = "user", .doc = "show: add up by \"user\" or \"account\"" },
	TEXT(since, "TIME", "show: what was used from then on"),
	TEXT(until, "TIME", "show: and before then"),
	TEXT(without, "STATES", "show: leave out runs that ended so, such as FAILED,PREEMPTED,REQUEUED"),
	FLAG(runs, "show: each run instead of sums"),
	FLAG(adjustments, "show: the adjustments that were made, by whom, when and why"),
	FLAG(json, "show: as JSON"),
	TEXT(user, "NAME", "show: only of this user; adjust: whose"),
	TEXT(account, "NAME", "show: only of this account, with --runs; adjust: under which"),
	TEXT(partition, "NAME", "show: only of this partition; adjust: in which"),
	TEXT(cpu, "TIME", "adjust: CPU time to add, as Slurm writes it (\"100:00:00\", \"-1-00:00:00\")"),
	TEXT(gpu, "TIME", "adjust: GPU time"),
	TEXT(node, "TIME", "adjust: node time"),
	TEXT(reason, "TEXT", "adjust: why; needed"),
	TEXT(at, "TIME", "adjust: when it counts; now if nothing is said"),
	TEXT(who, "NAME", "adjust: who makes it, if that is not who runs this"),
	FLAG(quiet, "import: no progress bar"),
	{ 0 }
};

/* -- times ---------------------------------------------------------------- */

/* Local midnight of today, of this week's Monday, of the first of this month or year. */
static bool scan_word(const char *word, int64_t *t)
{
	time_t now = time(NULL);
	struct tm tm;

	localtime_r(&now, &tm);
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	tm.tm_isdst = -1;
	if (!strcmp(word, "week"))
		tm.tm_mday -= (tm.tm_wday + 6) % 7;
	else if (!strcmp(word, "month") || !strcmp(word, "year"))
		tm.tm_mday = 1;
	else if (strcmp(word, "today"))
		return false;
	if (!strcmp(word, "year"))
		tm.tm_mon = 0;
	*t = mktime(&tm);
	return true;
}

static int read_when(const char *option, const char *text, int64_t otherwise, int64_t *t, struct sl_error *err)
{
	*t = otherwise;
	if (!text || scan_word(text, t) || sl_scan_when(text, t))
		return 0;
	return sl_fail(err, SL_EINVAL, "--%s=%s: expected 2026-01-31, 2026-01-31T12:00, seconds since the epoch, today, "
		       "week, month or year", option, text);
}

/* "[+|-]DURATION" */
static int read_amount(const char *option, const char *text, int64_t *amount, struct sl_error *err)
{
	const char *p = text;
	bool less = p && *p == '-';

	*amount = 0;
	if (!text)
		return 0;
	p += *p == '-' || *p == '+';
	if (!sl_scan_duration(p, amount) || *amount == SL_UNLIMITED)
		return sl_fail(err, SL_EINVAL, "--%s=%s: expected a time such as 30:00 (minutes), 100:00:00 or -1-00:00:00",
			       option, text);
	if (less)
		*amount = -*amount;
	return 0;
}

/* -- the file ------------------------------------------------------------- */

static int find_path(const struct values *v, char *path, size_t size, struct sl_error *err)
{
	char dir[4000];

	if (sl_statedir_find(v->dir, dir, sizeof(dir), err))
		return -1;
	if (snprintf(path, size, "%s/%s", dir, SL_LEDGER_FILE) >= (int) size)
		return sl_fail(err, SL_EINVAL, "--dir: the path is too long");
	return 0;
}

/* What root writes has to belong to who owns the directory: the keeper writes it, too. */
static int become_owner(const char *path, struct sl_error *err)
{
	char dir[4300];
	struct stat st;

	snprintf(dir, sizeof(dir), "%s", path);
	*strrchr(dir, '/') = 0;
	if (stat(dir, &st))
		return sl_fail(err, SL_EIO, "%s: %s", dir, strerror(errno));
	umask(027);
	if (geteuid() || !st.st_uid)
		return 0;
	if (setegid(st.st_gid) || seteuid(st.st_uid))
		return sl_fail(err, SL_EIO, "becoming the owner of %s: %s", dir, strerror(errno));
	return 0;
}

static struct sl_ledger *open_ledger(const struct values *v, enum sl_ledger_mode mode, struct sl_error *err)
{
	struct sl_ledger *l;
	char path[4200];

	if (find_path(v, path, sizeof(path), err) || (mode != SL_LEDGER_READ && become_owner(path, err)))
		return NULL;
	l = sl_ledger_open(path, mode, err);
	if (!l && err->code == SL_ENOENT && sl_ledger_was_set_aside(path))
		sl_fail(err, SL_ENOENT, "%s: was damaged and set aside; make another with schedlua ledger import or create",
			path);
	return l;
}

/* -- show ----------------------------------------------------------------- */

struct who {
	const char *name;
	int64_t seconds[SL_UNITS];
};

static int by_cpu(const void *x, const void *y)
{
	const struct who *a = x, *b = y;

	for (int k = 0; k < SL_UNITS; k++)
		if (a->seconds[k] != b->seconds[k])
			return a->seconds[k] > b->seconds[k] ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* All names with what they used, of all units.  The names live as long as the ledger. */
static int collect(struct sl_ledger *l, struct sl_usage_query q, const char *only, struct who **list, uint32_t *count,
		   struct sl_error *err)
{
	struct sl_usage *u = sl_ledger_usage(l);
	const struct sl_usage_total *t;
	struct who *w = NULL;
	uint32_t n, m = 0;

	*list = calloc((size_t) sl_usage_dims(u) * SL_UNITS + 1, sizeof(**list));
	if (!*list)
		return sl_fail(err, SL_ENOMEM, "ledger: out of memory");
	for (int k = 0; k < SL_UNITS; k++) {
		q.unit = (enum sl_unit) k;
		if (sl_usage_ask(u, &q, &t, &n, err))
			return -1;
		for (uint32_t i = 0; i < n; i++) {
			if (only && strcmp(t[i].name, only))
				continue;
			for (w = *list; w < *list + m && strcmp(w->name, t[i].name); w++)
				;
			m += w == *list + m;
			w->name = t[i].name;
			w->seconds[k] = t[i].seconds;
		}
	}
	qsort(*list, m, sizeof(**list), by_cpu);
	*count = m;
	return 0;
}

static int print_json(const struct who *list, uint32_t n, enum sl_usage_by by, struct sl_error *err)
{
	static const char *const key[SL_UNITS] = { "cpu_s", "gpu_s", "node_s" };
	struct sl_json *j = sl_json_create(stdout, err);

	if (!j)
		return -1;
	sl_json_begin_array(j);
	for (uint32_t i = 0; i < n; i++) {
		sl_json_break(j);
		sl_json_begin_object(j);
		sl_json_put_str(j, sl_usage_by_word[by], list[i].name);
		for (int k = 0; k < SL_UNITS; k++)
			sl_json_put_int(j, key[k], list[i].seconds[k]);
		sl_json_end_object(j);
	}
	sl_json_end_array(j);
	return sl_json_end(j, err);
}

static int print_totals(struct sl_ledger *l, const struct values *v, struct sl_usage_query q, struct sl_error *err)
{
	struct sl_text_table *table;
	struct who *list = NULL;
	uint32_t n = 0;
	int rc = collect(l, q, q.by == SL_BY_USER ? v->user : v->account, &list, &n, err);

	if (!rc && v->json) {
		rc = print_json(list, n, q.by, err);
	} else if (!rc) {
		table = sl_text_table_create(q.by == SL_BY_USER ? "user,>CPU hours,>GPU hours,>node hours" :
					     "account,>CPU hours,>GPU hours,>node hours");
		for (uint32_t i = 0; i < n; i++) {
			sl_text_table_add(table, list[i].name);
			for (int k = 0; k < SL_UNITS; k++)
				sl_text_table_addf(table, "%.2f", (double) list[i].seconds[k] / 3600);
		}
		rc = sl_text_table_print(table, 0, stdout) ? sl_fail(err, SL_ENOMEM, "ledger: out of memory") : 0;
		sl_text_table_destroy(table);
	}
	free(list);
	return rc;
}

struct listing {
	const struct values *v;
	const struct sl_usage_query *q;
	struct sl_text_table *table;
};

static void add_dim(struct sl_text_table *t, const struct sl_dim *d)
{
	sl_text_table_add(t, d->user);
	sl_text_table_add(t, d->account);
	sl_text_table_add(t, d->partition);
}

static int list_run(void *to, const struct sl_job_run *r)
{
	struct listing *x = to;
	char text[SL_TEXT_SIZE];

	if ((x->v->user && strcmp(x->v->user, r->dim.user)) || (x->v->account && strcmp(x->v->account, r->dim.account)) ||
	    (x->v->partition && strcmp(x->v->partition, r->dim.partition)) || x->q->without >> r->dim.state & 1)
		return 0;
	sl_text_table_addf(x->table, "%" PRIu32, r->job);
	add_dim(x->table, &r->dim);
	sl_text_table_add(x->table, sl_text_time(text, r->start));
	sl_text_table_add(x->table, sl_text_time(text, r->end));
	sl_text_table_add(x->table, sl_text_duration(text, r->seconds));
	for (int k = 0; k < SL_UNITS; k++)
		sl_text_table_addf(x->table, "%" PRIu32, r->count[k]);
	sl_text_table_addf(x->table, "%s%s", sl_run_state_word(r->dim.state), r->source == SL_RUN_GUESSED ? " (end guessed)" : "");
	return 0;
}

static int list_adjustment(void *to, const struct sl_adjustment *a)
{
	struct listing *x = to;
	char text[SL_TEXT_SIZE];

	sl_text_table_addf(x->table, "%" PRId64, a->id);
	sl_text_table_add(x->table, sl_text_time(text, a->made));
	sl_text_table_add(x->table, a->who);
	add_dim(x->table, &a->dim);
	for (int k = 0; k < SL_UNITS; k++)
		sl_text_table_addf(x->table, "%+.2f", (double) a->amount[k] / 3600);
	sl_text_table_add(x->table, sl_text_time(text, a->at));
	sl_text_table_add(x->table, a->why);
	return 0;
}

static int print_list(struct sl_ledger *l, const struct values *v, const struct sl_usage_query *q, struct sl_error *err)
{
	struct listing x = { .v = v, .q = q };
	int rc;

	if (v->runs) {
		x.table = sl_text_table_create(">job,user,account,partition,start,end,>ran,>CPUs,>GPUs,>nodes,state");
		rc = sl_ledger_runs(l, q->since, q->until, list_run, &x, err);
	} else {
		x.table = sl_text_table_create(">no,made,by,user,account,partition,>CPU hours,>GPU hours,>node hours,counts at,why");
		rc = sl_ledger_adjustments(l, list_adjustment, &x, err);
	}
	if (!rc && sl_text_table_print(x.table, 0, stdout))
		rc = sl_fail(err, SL_ENOMEM, "ledger: out of memory");
	sl_text_table_destroy(x.table);
	return rc;
}

static int read_states(const char *list, uint32_t *mask, struct sl_error *err)
{
	char word[64];
	int state;

	for (const char *p = list; p && *p; p += strcspn(p, ","), p += *p == ',') {
		snprintf(word, sizeof(word), "%.*s", (int) strcspn(p, ","), p);
		if ((state = sl_run_state_of(word)) < 0)
			return sl_fail(err, SL_EINVAL, "--without: no run ends as \"%s\"", word);
		*mask |= 1u << state;
	}
	return 0;
}

static int show(const struct values *v, struct sl_error *err)
{
	struct sl_usage_query q = { .partition = (char *) v->partition };
	int by = sl_usage_by_of(v->by), rc;
	struct sl_ledger *l;

	if (by < 0)
		return sl_fail(err, SL_EINVAL, "--by=%s: expected user or account", v->by);
	q.by = (enum sl_usage_by) by;
	if (read_when("since", v->since, INT64_MIN, &q.since, err) ||
	    read_when("until", v->until, SL_FOREVER, &q.until, err) || read_states(v->without, &q.without, err) ||
	    !(l = open_ledger(v, SL_LEDGER_READ, err)))
		return -1;
	rc = v->runs || v->adjustments ? print_list(l, v, &q, err) : print_totals(l, v, q, err);
	sl_ledger_close(l);
	return rc;
}

/* -- the others ------------------------------------------------------------ */

#define MOST_TOLD 20	/* bad rows */

/* A dump that is read. */
struct reading {
	struct sl_progress progress;
	const char *file;
	uint64_t told;
};

static void show_progress(uint64_t rows, void *arg)
{
	struct reading *r = arg;

	sl_progress_set(&r->progress, rows, 0);
}

static void tell_bad_row(uint64_t line, const char *why, void *arg)
{
	struct reading *r = arg;

	if (r->told++ < MOST_TOLD)
		fprintf(stderr, "schedlua: %s:%" PRIu64 ": left out: %s\n", r->file, line, why);
}

static int import(const struct values *v, const char *file, struct sl_error *err)
{
	struct reading reading = { .file = file };
	struct sl_import r = { .progress = show_progress, .refuse = tell_bad_row, .progress_arg = &reading, .now = time(NULL) };
	struct sl_lines *in = sl_lines_open(strcmp(file, "-") ? file : "/dev/stdin", err);
	struct sl_ledger *l;
	int rc = -1;

	if (in && (l = open_ledger(v, SL_LEDGER_CREATE, err))) {
		sl_progress_begin(&reading.progress, "jobs", v->quiet);
		rc = sl_ledger_import(l, in, &r, err);
		sl_progress_end(&reading.progress);
		sl_ledger_close(l);
		if (!rc || r.rows)
			printf("%" PRIu64 " rows: %" PRIu64 " added, %" PRIu64 " known, %" PRIu64 " unfinished, %" PRIu64
			       " never ran, %" PRIu64 " unreadable\n", r.rows, r.added, r.known, r.unfinished, r.never, r.bad);
		if (r.bad > MOST_TOLD)
			fprintf(stderr, "schedlua: %s: %" PRIu64 " more rows are left out\n", file, r.bad - MOST_TOLD);
		if (r.unknown)
			fprintf(stderr, "schedlua: %s: rows of users whom this machine does not know, which count: %" PRIu64 ", such as of %s\n",
				file, r.unknown, r.unknown_user);
	}
	sl_lines_close(in);
	return rc;
}

static int export(const struct values *v, const char *file, struct sl_error *err)
{
	FILE *out = file && strcmp(file, "-") ? fopen(file, "we") : stdout;
	struct sl_ledger *l;
	int rc;

	if (!out)
		return sl_fail(err, SL_EIO, "%s: %m", file);
	l = open_ledger(v, SL_LEDGER_READ, err);
	rc = l ? sl_ledger_export(l, out, err) : -1;
	sl_ledger_close(l);
	if (out != stdout && fclose(out) && !rc)
		rc = sl_fail(err, SL_EIO, "%s: %m", file);
	return rc;
}

/* Who is to answer for it. */
static const char *whoami(const struct values *v)
{
	const char *sudo = getenv("SUDO_USER");
	const struct passwd *p;

	if (v->who)
		return v->who;
	if (!getuid() && sudo && *sudo)
		return sudo;
	p = getpwuid(getuid());
	return p ? p->pw_name : "unknown";
}

static int adjust(const struct values *v, struct sl_error *err)
{
	struct sl_adjustment a = { .made = time(NULL), .dim = { v->user ? v->user : "", v->account ? v->account : "",
				   v->partition ? v->partition : "", SL_JOB_COMPLETE }, .who = whoami(v), .why = v->reason };
	struct sl_ledger *l;
	int rc;

	if (!v->user && !v->account)
		return sl_fail(err, SL_EINVAL, "adjust: whose? say --user=NAME, and --account=NAME where accounts have quotas");
	if (!v->reason)
		return sl_fail(err, SL_EINVAL, "adjust: why? say --reason=TEXT");
	if (read_amount("cpu", v->cpu, &a.amount[SL_UNIT_CPU], err) ||
	    read_amount("gpu", v->gpu, &a.amount[SL_UNIT_GPU], err) ||
	    read_amount("node", v->node, &a.amount[SL_UNIT_NODE], err) || read_when("at", v->at, a.made, &a.at, err))
		return -1;
	if (!a.amount[SL_UNIT_CPU] && !a.amount[SL_UNIT_GPU] && !a.amount[SL_UNIT_NODE])
		return sl_fail(err, SL_EINVAL, "adjust: by how much? say --cpu=TIME, --gpu=TIME or --node=TIME");
	l = open_ledger(v, SL_LEDGER_WRITE, err);
	if (!l)
		return -1;
	rc = sl_ledger_adjust(l, &a, err) || sl_ledger_commit(l, err) ? -1 : 0;
	sl_ledger_close(l);
	return rc;
}

static int create(const struct values *v, struct sl_error *err)
{
	struct sl_ledger *l;
	char path[4200];

	if (find_path(v, path, sizeof(path), err))
		return -1;
	if (!access(path, F_OK))
		return sl_fail(err, SL_EINVAL, "%s: there is one already", path);
	l = open_ledger(v, SL_LEDGER_CREATE, err);
	sl_ledger_close(l);
	return l ? 0 : -1;
}

static int verify(const struct values *v, struct sl_error *err)
{
	struct sl_ledger *l = open_ledger(v, SL_LEDGER_READ, err);
	struct sl_ledger_figures f;
	char first[SL_TEXT_SIZE], last[SL_TEXT_SIZE];
	int rc;

	if (!l)
		return -1;
	rc = sl_ledger_verify(l, err) || sl_ledger_figures(l, &f, err) ? -1 : 0;
	if (!rc)
		printf("%" PRId64 " runs from %s to %s, %" PRId64 " adjustments, %" PRId64 " bytes: all totals are right\n",
		       f.runs, sl_text_time(first, f.first), sl_text_time(last, f.last), f.adjustments, f.bytes);
	sl_ledger_close(l);
	return rc;
}

static int run(const struct sl_verb *verb, int argc, char **argv)
{
	struct sl_error err = { 0 };
	struct values v;
	int status, n = sl_tool_parse(verb, &v, argc, argv, 1, 2, &status), rc;
	const char *what;

	if (n < 0)
		return status;
	what = argv[0];
	if (n == 2 && strcmp(what, "import") && strcmp(what, "export"))
		return sl_tool_usage(verb, "one argument too many: \"%s\"", argv[1]);
	if (n == 1 && !strcmp(what, "import"))
		return sl_tool_usage(verb, "import: what sacct printed is missing: a FILE, or - for standard input");
	if (!strcmp(what, "show"))
		rc = show(&v, &err);
	else if (!strcmp(what, "import"))
		rc = import(&v, argv[1], &err);
	else if (!strcmp(what, "export"))
		rc = export(&v, n == 2 ? argv[1] : NULL, &err);
	else if (!strcmp(what, "adjust"))
		rc = adjust(&v, &err);
	else if (!strcmp(what, "create"))
		rc = create(&v, &err);
	else if (!strcmp(what, "verify"))
		rc = verify(&v, &err);
	else
		return sl_tool_usage(verb, "ledger %s: expected show, import, export, adjust, create or verify", what);
	if (rc && err.code == SL_EINVAL)
		return sl_tool_usage(verb, "%s", err.text);
	return rc ? sl_tool_fail(&err) : sl_tool_end(SL_EXIT_FINE);
}

const struct sl_verb sl_verb_ledger = {
	.name = "ledger",
	.operands = "[OPTION]... show | import FILE | export [FILE] | adjust | create | verify",
	.summary = "show, correct, save and restore what users and accounts have used",
	.options = options,
	.run = run,
};
