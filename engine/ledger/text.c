/* SPDX-License-Identifier: MIT */
#include "ledger/text.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/columns.h"
#include "base/escape.h"
#include "base/map.h"

#define COMMIT_EVERY 50000
#define ENDS "|"			/* a field */

/* What no job of sacct's can have, whatever its user did. */
#define MOST_CPUS (INT64_C(1) << 26)
#define CLOCKS_GO_ON 3600	/* seconds that local times may be wrong by, twice a year */
#define CLOCKS_DIFFER 300	/* ... and those of two machines */

enum column {
	C_JOBIDRAW, C_JOBID, C_USER, C_ACCOUNT, C_PARTITION, C_START, C_END, C_ELAPSEDRAW, C_ELAPSED, C_STATE,
	C_ALLOCCPUS, C_NCPUS, C_ALLOCNODES, C_NNODES, C_ALLOCTRES, C_SOURCE, C_AMOUNTS, C_WHO, C_WHY,
	C_JOBNAME, C_TIMELIMIT, C_TIMELIMITRAW, C_BEGAN, C_EARLIER, C_MOSTCPUS, C_MARK,
	COLUMNS
};

static const char *const names[COLUMNS] = {
	"JobIDRaw", "JobID", "User", "Account", "Partition", "Start", "End", "ElapsedRaw", "Elapsed", "State",
	"AllocCPUS", "NCPUS", "AllocNodes", "NNodes", "AllocTRES", "Source", "Amounts", "Who", "Why",
	"JobName", "Timelimit", "TimelimitRaw", "Began", "Earlier", "MostCPUs", SL_LEDGER_MARK,
};

/* Others of sacct's in which no user's words stand. */
static const char *const harmless[] = {
	"AllocTRES", "AssocID", "Cluster", "CPUTime", "CPUTimeRAW", "DBIndex", "DerivedExitCode", "Eligible", "ExitCode", "Flags", "GID",
	"Group", "NodeList", "Planned", "PlannedCPU", "PlannedCPURAW", "Priority", "QOS", "QOSRAW", "QOSREQ", "ReqCPUS", "ReqMem",
	"ReqNodes", "ReqTRES", "Reserved", "Restarts", "Submit", "Suspended", "SystemCPU", "TotalCPU", "UID", "UserCPU",
};

static const char *const source_word[SL_RUN_SOURCES] = { "guessed", "seen", "sacct", "watched" };

struct dump {
	struct sl_ledger *l;
	struct sl_import *result;
	struct sl_columns row;	/* at hand */
	bool own;		/* the ledger's export */
	struct sl_map known;	/* digest of a user's name -> whether this machine knows that user */
};

/* -- words ---------------------------------------------------------------- */

const char *sl_run_state_word(uint32_t state)
{
	return state == SL_JOB_PENDING ? "REQUEUED" : state == SL_JOB_RUNNING ? "RESIZING" : sl_job_state_word(state);
}

int sl_run_state_of(const char *word)
{
	size_t n = strcspn(word, " +");

	for (uint32_t state = 0; state < SL_JOB_STATES; state++) {
		const char *known = sl_run_state_word(state);

		if (state != SL_JOB_SUSPENDED && strlen(known) == n && !strncmp(word, known, n))
			return (int) state;
	}
	return -1;
}

bool sl_scan_when(const char *p, int64_t *t)
{
	struct tm tm = { 0 };
	int n = 0, m = 0;

	if (sl_scan_whole(p, t))
		return true;
	if (sscanf(p, "%4d-%2d-%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &n) != 3)
		return false;
	if (p[n] == 'T' || p[n] == ' ') {
		n++;
		if (sscanf(p + n, "%2d:%2d%n", &tm.tm_hour, &tm.tm_min, &m) != 2)
			return false;
		n += m;
		m = 0;
		if (p[n] == ':' && sscanf(p + n, ":%2d%n", &tm.tm_sec, &m) == 1)
			n += m;
	}
	if (p[n] || tm.tm_year < 1970 || tm.tm_mon < 1 || tm.tm_mon > 12 || tm.tm_mday < 1 || tm.tm_mday > 31 ||
	    tm.tm_hour < 0 || tm.tm_hour > 24 || tm.tm_min < 0 || tm.tm_min > 59 || tm.tm_sec < 0 || tm.tm_sec > 60)
		return false;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	tm.tm_isdst = -1;
	*t = mktime(&tm);
	return true;
}

/* -- reading -------------------------------------------------------------- */

static bool has_either(const struct dump *d, enum column a, enum column b)
{
	return sl_columns_has(&d->row, a) || sl_columns_has(&d->row, b);
}

static bool is_listed(const char *name, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcasecmp(name, list[i]))
			return true;
	return false;
}

static bool may_have_words(const char *name)
{
	return !strcasecmp(name, names[C_JOBNAME]) || (!is_listed(name, names, COLUMNS) &&
		!is_listed(name, harmless, sizeof(harmless) / sizeof(harmless[0])));
}

static int refuse_columns(const char *path, const char *what, const char *column, struct sl_error *err)
{
	return sl_fail(err, SL_EFORMAT, "%s:1: %s%.40s; expected what this prints: SLURM_TIME_FORMAT=%%s sacct -aXDP -S 2025-01-01 "
		       "--format=JobIDRaw,User,Account,Partition,Start,End,ElapsedRaw,AllocCPUS,NNodes,AllocTRES,State,Timelimit", path,
		       what, column);
}

/* The first line is still at hand. */
static int check_names(struct dump *d, const char *path, struct sl_error *err)
{
	d->own = sl_columns_has(&d->row, C_SOURCE);
	for (int i = 0; !d->own && i < d->row.columns; i++) {
		const char *name = d->row.field[i];

		/* (-p ends each line with a bar) */
		if (*name && may_have_words(name))
			return refuse_columns(path, "users may write line ends, and so rows of others, into the column ", name, err);
	}
	if (has_either(d, C_JOBIDRAW, C_JOBID) && sl_columns_has(&d->row, C_START) && has_either(d, C_END, C_ELAPSEDRAW) &&
	    sl_columns_has(&d->row, C_STATE) && has_either(d, C_ALLOCCPUS, C_NCPUS))
		return 0;
	return refuse_columns(path, "a column is missing", "", err);
}

static const char *field_text(const struct dump *d, enum column c)
{
	return sl_columns_text(&d->row, c);
}

/* The number of "gres/gpu=4" in "cpu=8,gres/gpu=4,node=2", 0 where there is none. */
static int64_t find_number(const char *list, const char *name)
{
	int length;
	const char *value = sl_tres_find(list, name, &length);

	return value ? strtoll(value, NULL, 10) : 0;
}

static uint32_t count_of(int64_t n)
{
	return n < 0 || n > UINT32_MAX - 1 ? 0 : (uint32_t) n;
}

static void note_bad_row(struct dump *d, const char *why)
{
	d->result->bad++;
	if (d->result->refuse)
		d->result->refuse(sl_lines_number(d->row.lines), why, d->result->progress_arg);
}

static bool read_times(const struct dump *d, struct sl_job_run *r)
{
	bool end = sl_scan_when(field_text(d, C_END), &r->end);
	int64_t seconds = -1;

	if (!sl_scan_whole(field_text(d, C_ELAPSEDRAW), &seconds) && *field_text(d, C_ELAPSED) &&
	    !sl_scan_duration(field_text(d, C_ELAPSED), &seconds))
		return false;
	if (!end && seconds < 0)
		return false;
	if (!end)
		r->end = r->start + seconds;
	r->seconds = seconds < 0 ? r->end - r->start : seconds;
	return true;
}

/* -- what can be true ------------------------------------------------------- */

static bool is_strange_name(const char *name)
{
	return strlen(name) > 255 || sl_text_is_unsafe(name);
}

/* Why sacct cannot have printed that of a run; NULL: it can. */
static const char *find_doubt(const struct dump *d, const struct sl_job_run *r, int64_t cpus, int64_t nodes)
{
	int64_t whole, told = find_number(field_text(d, C_ALLOCTRES), "cpu");
	int64_t slack = sl_scan_whole(field_text(d, C_START), &whole) && sl_scan_whole(field_text(d, C_END), &whole) ? 0 : CLOCKS_GO_ON;

	if (sl_columns_has(&d->row, C_USER) && !*field_text(d, C_USER))
		return "no user";
	if (is_strange_name(r->dim.user) || is_strange_name(r->dim.account) || is_strange_name(r->dim.partition))
		return "a user, account or partition whose name cannot be one";
	if (r->start <= 0 || r->end < r->start)
		return "an end before its start, or before 1970";
	if (r->seconds > r->end - r->start + slack)
		return "a run that is longer than from its start to its end";
	if (d->result->now && r->end > d->result->now + CLOCKS_DIFFER)
		return "an end in the future";
	if (cpus < 0 || cpus > MOST_CPUS || nodes < 0 || nodes > cpus)
		return "more CPUs than there can be, or fewer than nodes";
	if (told && told != cpus)
		return "AllocTRES has another number of CPUs than AllocCPUS";
	return NULL;
}

/* A user who is gone has used what he used: that this machine does not know him is told, no more. */
static void look_up_user(struct dump *d, const char *user)
{
	uint64_t digest = sl_hash_text(SL_HASH, user);
	uint32_t known = SL_MAP_NOTHING;

	if (!d->result->now || !*user)
		return;
	SL_MAP_EACH(&d->known, digest, at)
		known = at.value;
	if (known == SL_MAP_NOTHING) {
		known = getpwnam(user) != NULL;
		(void) sl_map_put(&d->known, digest, known, NULL);
	}
	if (!known && !d->result->unknown++)
		snprintf(d->result->unknown_user, sizeof(d->result->unknown_user), "%.60s", user);
}

static enum sl_run_source read_source(const struct dump *d)
{
	for (int s = 0; s < SL_RUN_SOURCES; s++)
		if (!strcmp(field_text(d, C_SOURCE), source_word[s]))
			return (enum sl_run_source) s;
	return SL_RUN_SACCT;
}

static struct sl_dim read_dim(const struct dump *d, uint32_t state)
{
	return (struct sl_dim) { field_text(d, C_USER), field_text(d, C_ACCOUNT), field_text(d, C_PARTITION),
				 state };
}

struct search {
	const struct sl_adjustment *a;
	bool found;
};

static int same_adjustment(void *to, const struct sl_adjustment *b)
{
	struct search *s = to;
	const struct sl_adjustment *a = s->a;

	s->found = a->at == b->at && a->made == b->made && !memcmp(a->amount, b->amount, sizeof(a->amount)) &&
		!strcmp(a->who, b->who) && !strcmp(a->why, b->why) && !strcmp(a->dim.user, b->dim.user) &&
		!strcmp(a->dim.account, b->dim.account) && !strcmp(a->dim.partition, b->dim.partition);
	return s->found;
}

static int add_adjustment(struct dump *d, struct sl_error *err)
{
	struct sl_adjustment a = { .dim = read_dim(d, SL_JOB_COMPLETE), .who = field_text(d, C_WHO),
				   .why = field_text(d, C_WHY) };
	struct search search = { .a = &a };

	for (int k = 0; k < SL_UNITS; k++)
		a.amount[k] = find_number(field_text(d, C_AMOUNTS), sl_unit_word[k]);
	if (!sl_scan_when(field_text(d, C_START), &a.at) || !sl_scan_when(field_text(d, C_END), &a.made)) {
		note_bad_row(d, "an adjustment whose time is none");
		return 0;
	}
	if (sl_ledger_adjustments(d->l, same_adjustment, &search, err))
		return -1;
	if (search.found) {
		d->result->known++;
		return 0;
	}
	d->result->added++;
	return sl_ledger_adjust(d->l, &a, err);
}

/* "1-00:00:00", "UNLIMITED", or else the minutes of TimelimitRaw; 0 for what is neither, "Partition_Limit" among them. */
static int64_t read_limit(const struct dump *d)
{
	const char *text = field_text(d, C_TIMELIMIT);
	int64_t seconds, minutes;

	if (!*text && sl_scan_whole(field_text(d, C_TIMELIMITRAW), &minutes))
		return minutes > 0 && minutes < SL_RUN_MAX_SECONDS / 60 ? minutes * 60 : 0;

	if (!strcasecmp(text, "unlimited"))
		return SL_UNLIMITED;
	return sl_scan_duration(text, &seconds) && seconds > 0 ? seconds : 0;
}

static void put_limit(FILE *out, int64_t s)
{
	if (s == SL_UNLIMITED)
		fputs("UNLIMITED", out);
	else if (s)
		fprintf(out, "%" PRId64 "-%02d:%02d:%02d", s / SL_DAY, (int) (s % SL_DAY / 3600), (int) (s % 3600 / 60),
			(int) (s % 60));
}

/* Add a run as the row at hand tells it: 0, or -1 when the ledger fails. */
static int add_run(struct dump *d, struct sl_job_run *r, int64_t cpus, int64_t nodes, struct sl_error *err)
{
	const char *doubt = d->own ? NULL : find_doubt(d, r, cpus, nodes);
	struct sl_error why;
	int rc;

	if (doubt) {
		note_bad_row(d, doubt);
		return 0;
	}
	if (r->seconds > r->end - r->start)
		r->seconds = r->end - r->start;
	r->count[SL_UNIT_CPU] = count_of(cpus);
	r->count[SL_UNIT_GPU] = count_of(find_number(field_text(d, C_ALLOCTRES), "gres/gpu"));
	r->count[SL_UNIT_NODE] = count_of(nodes);
	rc = sl_ledger_add(d->l, r, &why);
	if (rc < 0 && why.code == SL_EINVAL) {
		note_bad_row(d, why.text);
		return 0;
	}
	if (rc < 0 && err)
		*err = why;
	if (!d->own && rc >= 0)
		look_up_user(d, r->dim.user);
	d->result->added += rc > 0;
	d->result->known += rc == 0;
	return rc < 0 ? -1 : 0;
}

/* Texts of an export are escaped.  False: one of them is not. */
static bool read_texts(struct dump *d)
{
	static const enum column texts[] = { C_USER, C_ACCOUNT, C_PARTITION, C_WHO, C_WHY, C_JOBNAME };

	if (!sl_columns_has(&d->row, C_MARK))
		return true;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (sl_columns_has(&d->row, texts[i]) && !sl_unescape(d->row.field[d->row.column[texts[i]]], ENDS))
			return false;
	return true;
}

/* Of a piece of a run that was resized, in what the ledger exports. */
static void read_earlier(const struct dump *d, struct sl_job_run *r)
{
	int64_t began, earlier, most;

	if (!sl_scan_whole(field_text(d, C_BEGAN), &began) || !sl_scan_whole(field_text(d, C_EARLIER), &earlier) ||
	    !sl_scan_whole(field_text(d, C_MOSTCPUS), &most))
		return;
	r->began = began;
	r->before_s = earlier;
	r->most_cpus = count_of(most);
}

/* One row: 0, or -1 when the ledger fails. */
static int add_row(struct dump *d, struct sl_error *err)
{
	const char *id = sl_columns_either(&d->row, C_JOBIDRAW, C_JOBID);
	struct sl_job_run r = { .source = read_source(d) };
	int64_t job, cpus = 0, nodes = 0;
	int state;

	if (strchr(id, '.'))
		return 0;	/* a step */
	d->result->rows++;
	if (!read_texts(d)) {
		note_bad_row(d, "a text that is not escaped as schedlua ledger export does");
		return 0;
	}
	if (d->own && !strcmp(field_text(d, C_STATE), "ADJUSTMENT"))
		return add_adjustment(d, err);
	if ((state = sl_run_state_of(field_text(d, C_STATE))) < 0) {
		d->result->unfinished++;
		return 0;
	}
	if (!sl_scan_when(field_text(d, C_START), &r.start)) {
		d->result->never++;	/* "Unknown", "None" */
		return 0;
	}
	if (!sl_scan_whole(id, &job) || job <= 0 || job > UINT32_MAX || !read_times(d, &r)) {
		note_bad_row(d, "a number or time that is none");
		return 0;
	}
	sl_scan_whole(sl_columns_either(&d->row, C_ALLOCCPUS, C_NCPUS), &cpus);
	if (!sl_scan_whole(sl_columns_either(&d->row, C_ALLOCNODES, C_NNODES), &nodes))
		nodes = find_number(field_text(d, C_ALLOCTRES), "node");
	if (!cpus) {
		d->result->never++;
		return 0;
	}
	r.job = (uint32_t) job;
	r.dim = read_dim(d, (uint32_t) state);
	r.name = field_text(d, C_JOBNAME);
	r.limit = read_limit(d);
	read_earlier(d, &r);
	return add_run(d, &r, cpus, nodes, err);
}

static int add_rows(struct dump *d, struct sl_error *err)
{
	struct sl_import *result = d->result;
	int rc;

	while ((rc = sl_columns_next(&d->row, err)) > 0) {
		if (d->row.fields != d->row.columns)
			note_bad_row(d, "another number of fields than in the first line");
		else if (add_row(d, err))
			return -1;
		if (sl_ledger_waiting(d->l) >= COMMIT_EVERY && sl_ledger_commit(d->l, err))
			return -1;
		if (result->progress && !(result->rows & 0xfff))
			result->progress(result->rows, result->progress_arg);
	}
	return rc < 0 ? -1 : sl_ledger_commit(d->l, err);
}

int sl_ledger_import(struct sl_ledger *l, struct sl_lines *in, struct sl_import *result, struct sl_error *err)
{
	struct dump d = { .l = l, .result = result };
	int rc = sl_columns_begin(&d.row, in, names, COLUMNS, err);

	if (!rc)
		return sl_fail(err, SL_EFORMAT, "%s: there is nothing in it", sl_lines_path(in));
	if (rc < 0 || check_names(&d, sl_lines_path(in), err))
		return -1;
	rc = add_rows(&d, err);
	sl_map_free(&d.known);
	return rc;
}

/* -- writing -------------------------------------------------------------- */

static void put_field(FILE *out, const char *s)
{
	sl_escape_put(out, s, ENDS);
	fputc('|', out);
}

static void put_dim(FILE *out, const struct sl_dim *d)
{
	put_field(out, d->user);
	put_field(out, d->account);
	put_field(out, d->partition);
}

static int put_run(void *to, const struct sl_job_run *r)
{
	FILE *out = to;

	fprintf(out, "%" PRIu32 "|", r->job);
	put_dim(out, &r->dim);
	fprintf(out, "%" PRId64 "|%" PRId64 "|%" PRId64 "|%" PRIu32 "|%" PRIu32 "|cpu=%" PRIu32 ",node=%" PRIu32
		",gres/gpu=%" PRIu32 "|%s|%s||||", r->start, r->end, r->seconds, r->count[SL_UNIT_CPU],
		r->count[SL_UNIT_NODE], r->count[SL_UNIT_CPU], r->count[SL_UNIT_NODE], r->count[SL_UNIT_GPU],
		sl_run_state_word(r->dim.state), source_word[r->source < SL_RUN_SOURCES ? r->source : 0]);
	put_field(out, r->name);
	put_limit(out, r->limit);
	fprintf(out, "|%" PRId64 "|%" PRId64 "|%" PRIu32 "|\n", r->began, r->before_s, r->most_cpus);
	return ferror(out);
}

static int put_adjustment(void *to, const struct sl_adjustment *a)
{
	FILE *out = to;

	fprintf(out, "%" PRId64 "|", a->id);
	put_dim(out, &a->dim);
	fprintf(out, "%" PRId64 "|%" PRId64 "|0|0|0||ADJUSTMENT||cpu=%" PRId64 ",gpu=%" PRId64 ",node=%" PRId64 "|",
		a->at, a->made, a->amount[SL_UNIT_CPU], a->amount[SL_UNIT_GPU], a->amount[SL_UNIT_NODE]);
	put_field(out, a->who);
	put_field(out, a->why);
	fputs("|||||\n", out);
	return ferror(out);
}

int sl_ledger_export(struct sl_ledger *l, FILE *out, struct sl_error *err)
{
	fputs("JobIDRaw|User|Account|Partition|Start|End|ElapsedRaw|AllocCPUS|AllocNodes|AllocTRES|State|Source|Amounts|"
	      "Who|Why|JobName|Timelimit|Began|Earlier|MostCPUs|" SL_LEDGER_MARK "\n", out);
	if (sl_ledger_runs(l, INT64_MIN, INT64_MAX, put_run, out, err) ||
	    sl_ledger_adjustments(l, put_adjustment, out, err))
		return -1;
	return ferror(out) ? sl_fail(err, SL_EIO, "writing: %m") : 0;
}
