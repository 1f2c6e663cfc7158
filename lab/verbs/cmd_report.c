/* SPDX-License-Identifier: MIT */
/*
 * cmd_report.c - schedlua report: the last days of a cluster as a page.
 *
 * The journal says who waited for what and started where, the ledger who ran until when, the
 * last snapshot what the machine is.  The journal is read from its newest line back: what is
 * known of a job is known from then on.
 */
#include "tool/tool.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/grow.h"
#include "base/lines.h"
#include "base/map.h"
#include "base/text.h"
#include "image/journal.h"
#include "image/nodelist.h"
#include "ledger/ledger.h"
#include "report/page.h"
#include "tool/job_index.h"
#include "tool/shadow.h"
#include "tool/statedir.h"
#include "tool/member.h"
#include "workload/workload.h"

#define PARTS 480		/* of the time, for how many waited for what */
#define TASK_S 30		/* a task of an array is found by when it began */
#define LATE_S 900		/* a start stands in the ledger so much later at most */
#define SHADOW_S 5		/* starts that differ by no more are the same */
#define SHADOW_JOBS 50		/* of shadow mode, those that differ most */

struct values {
	const char *dir, *ledger, *last, *output;
};

static const struct sl_option options[] = {
	{ .name = "last", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, last), .argument = "TIME",
	  .standard = "7d", .doc = "how far to go back from the last decision: 12h, 7d, or as Slurm writes it" },
	{ .name = "output", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, output), .argument = "FILE.html",
	  .standard = "schedlua-report.html", .doc = "the page, to be opened in a browser" },
	SL_DIR_OPTION(values),
	{ .name = "ledger", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, ledger), .argument = "FILE",
	  .doc = "the ledger that knows when jobs ended; default: ledger.db in that directory" },
	{ 0 }
};

/* A row of the page: a job that waits (start 0), or one of its runs. */
struct row {
	uint32_t job, user, partition, cores;	/* user: a string of the builder, 0: not known yet */
	int64_t submit, start, end;		/* end 0: it runs still */
	bool ended;				/* end is known, or that it has none */
	uint32_t node_count;
	char *nodes;
};

/* A job, while lines are read back. */
struct job {
	uint32_t id, row;		/* SL_NONE: it has none yet */
	int64_t next;			/* what is said of it before holds until then */
	bool waits;			/* and then it waited still: it has not left the queue */
};

struct run {			/* of the ledger */
	uint32_t job, user, nodes, partition;
	int64_t start, end;
	bool taken;
};

struct report {
	const struct values *v;
	char dir[PATH_MAX], policy[80], policies[400];
	int64_t last, since, until;
	int64_t horizon;		/* nobody is known to wait after that without being named since */
	bool all_named;			/* who waited when the time begins is known */

	void *bytes;
	struct sl_snapshot now;		/* last.snap */
	struct sl_map row_of;		/* job id -> its row there */
	uint32_t *id;			/* of each row of the page */
	struct sl_builder *b;
	struct sl_map nodes;		/* -> row, of the page's machine */

	struct row *row;
	struct job *job;
	struct run *run;
	uint32_t rows, row_room, jobs, job_room, runs, run_room;
	struct sl_map by_job, by_run;
	uint32_t missing;		/* runs that began before the time and whose start was not read yet */
	bool no_ledger;
	double waited[SL_WHYS * PARTS];	/* job-seconds */
	uint32_t parts;
	int64_t oldest;			/* line that was read */
	struct sl_error *err;
};

static uint32_t partition_row(const struct report *r, const char *names)
{
	const struct sl_snapshot *s = &r->now;

	for (uint32_t p = 0; p < s->partition.rows; p++) {
		const char *name = sl_snapshot_str(s, s->partition.name[p]);

		if (!strncmp(names, name, strlen(name)) && (!names[strlen(name)] || names[strlen(name)] == ','))
			return p;
	}
	return 0;
}

/* -- what the ledger has -------------------------------------------------------- */

static int keep_run(void *to, const struct sl_job_run *run, bool open)
{
	struct report *r = to;

	if (sl_grow(&r->run, &r->run_room, r->runs + 1, sizeof(*r->run), r->err) ||
	    sl_map_put(&r->by_run, sl_hash_id(run->job), r->runs, r->err))
		return -1;
	r->run[r->runs++] = (struct run) { run->job, sl_builder_str(r->b, run->dim.user), run->count[SL_UNIT_NODE],
		partition_row(r, run->dim.partition), run->start, open || run->end > r->until ? 0 : run->end, false };
	r->missing += run->start < r->since;
	return 0;
}

static int keep_ended(void *to, const struct sl_job_run *run) { return keep_run(to, run, false); }
static int keep_open(void *to, const struct sl_job_run *run) { return keep_run(to, run, true); }

/* Without a ledger the page says so. */
static int read_ledger(struct report *r)
{
	char path[PATH_MAX + 16];
	struct sl_ledger *l;
	int rc;

	snprintf(path, sizeof(path), "%s/%s", r->dir, SL_LEDGER_FILE);
	l = sl_ledger_open(r->v->ledger ? r->v->ledger : path, SL_LEDGER_READ, r->err);
	r->no_ledger = !l;
	if (!l)
		return r->v->ledger || r->err->code != SL_ENOENT ? -1 : 0;
	rc = sl_ledger_runs(l, r->since, r->until, keep_ended, r, r->err) || sl_ledger_open_runs(l, keep_open, r, r->err) ? -1 : 0;
	sl_ledger_close(l);
	return rc;
}

/* The ledger's run of a start that was decided then, or NULL. */
static struct run *find_run(struct report *r, uint32_t job, int64_t decided)
{
	SL_MAP_EACH(&r->by_run, sl_hash_id(job), at) {
		struct run *run = &r->run[at.value];

		if (!run->taken && run->start >= decided - 1 && run->start < decided + LATE_S)
			return run;
	}
	return NULL;
}

/* -- what the journal says --------------------------------------------------------- */

static void add_waiting(struct report *r, const char *word, int64_t from, int64_t until)
{
	double part = (double) (r->until - r->since) / PARTS, a, b;
	uint32_t why = SL_WHYS;

	while (why > 1 && strcmp(sl_why_word(why - 1), word))
		why--;
	from = from > r->since ? from : r->since;
	for (uint32_t k = from < until ? (uint32_t) ((double) (from - r->since) / part) : PARTS; k < PARTS; k++) {
		a = (double) r->since + k * part;
		b = a + part;
		if (a >= (double) until)
			break;
		r->waited[(why - 1) * PARTS + k] += (b < (double) until ? b : (double) until) - (a > (double) from ? a : (double) from);
	}
}

static uint32_t add_row(struct report *r, uint32_t job, const json_t *record, int64_t at)
{
	if (sl_grow(&r->row, &r->row_room, r->rows + 1, sizeof(*r->row), r->err))
		return SL_NONE;
	r->row[r->rows] = (struct row) { .job = job, .partition = partition_row(r, sl_member_text(record, "partition")), .submit = at };
	return r->rows++;
}

/* What is known of a job; one that nothing was said of until now waits still, unless a line that
 * names all that wait has not named it. */
static struct job *know_job(struct report *r, const json_t *record)
{
	uint32_t id = (uint32_t) sl_member_integer(record, "job"), at = sl_map_by_id(&r->by_job, id);

	if (at != SL_MAP_NOTHING)
		return &r->job[at];
	if (sl_grow(&r->job, &r->job_room, r->jobs + 1, sizeof(*r->job), r->err) ||
	    sl_map_put(&r->by_job, sl_hash_id(id), r->jobs, r->err))
		return NULL;
	r->job[r->jobs] = (struct job) { id, SL_NONE, r->horizon, r->horizon == r->until };
	return &r->job[r->jobs++];
}

static int take_gone(struct report *r, const json_t *record, int64_t at)
{
	struct job *job = know_job(r, record);

	if (!job)
		return -1;
	*job = (struct job) { job->id, SL_NONE, at, false };
	return 0;
}

static void take_run(struct row *row, struct run *run)
{
	run->taken = row->ended = true;
	row->start = run->start;
	row->end = run->end;
	row->user = run->user;
}

static bool runs_still(const struct report *r, uint32_t id)
{
	uint32_t at = sl_map_by_id(&r->row_of, id);

	return at != SL_NONE && (r->now.job.state[at] == SL_JOB_RUNNING || r->now.job.state[at] == SL_JOB_SUSPENDED);
}

static int take_start(struct report *r, const json_t *record, int64_t at)
{
	uint32_t id = (uint32_t) sl_member_integer(record, "job");
	struct run *run = find_run(r, id, at);
	struct job *job;
	struct row *row;

	if (json_is_false(json_object_get(record, "done")))
		return 0;
	if (at < r->since && !run && !runs_still(r, id))
		return r->all_named ? 0 : take_gone(r, record, at);
	if (take_gone(r, record, at) || !(job = know_job(r, record)) || (job->row = add_row(r, id, record, at)) == SL_NONE)
		return -1;
	row = &r->row[job->row];
	row->start = at;
	row->cores = (uint32_t) sl_member_integer(record, "cores");
	row->node_count = (uint32_t) sl_member_integer(record, "node_count");
	row->nodes = strdup(sl_member_text(record, "nodes"));
	if (!run)
		return 0;
	r->missing -= run->start < r->since;
	take_run(row, run);
	return 0;
}

/* That it waits, for the same, until what is known already. */
static int take_wait(struct report *r, const json_t *record, int64_t at, bool reason)
{
	struct job *job = know_job(r, record);

	if (!job)
		return -1;
	if (reason) {
		add_waiting(r, sl_member_text(record, "why"), at, job->next);
		job->next = at;
	}
	if (job->waits && job->row == SL_NONE && (job->row = add_row(r, job->id, record, at)) == SL_NONE)
		return -1;
	if (job->row != SL_NONE && at < r->row[job->row].submit)
		r->row[job->row].submit = at;
	return 0;
}

static int take_line(struct report *r, const json_t *line, int64_t at)
{
	static const char *const lists[] = { "gone", "pending", "reserved", "started" };
	json_t *record;
	size_t i;

	for (size_t k = 0; k < sizeof(lists) / sizeof(lists[0]); k++)
		json_array_foreach(json_object_get(line, lists[k]), i, record)
			if ((k == 3 || !r->all_named) &&
			    (k == 0 ? take_gone(r, record, at) : k == 3 ? take_start(r, record, at) : take_wait(r, record, at, k == 1)))
				return -1;
	return 0;
}

/* Who decided, the newest first. */
static void note_policy(struct report *r, const char *policy)
{
	size_t n = strlen(r->policies);

	if (!*policy || !strcmp(policy, r->policy))
		return;
	snprintf(r->policy, sizeof(r->policy), "%s", policy);
	snprintf(r->policies + n, sizeof(r->policies) - n, "%s%s", n ? "; before: " : "", policy);
}

static int visit(const char *text, size_t length, void *arg)
{
	struct report *r = arg;
	json_t *line;
	int64_t at;
	int rc;

	if (r->all_named && !r->missing)
		return 1;
	if (r->all_named && !memmem(text, length, "\"started\"", 9))
		return 0;
	line = json_loadb(text, length, 0, NULL);
	at = sl_member_integer(line, "now");
	if (!line || at <= 0 || at > r->until) {	/* torn by a crash, or damaged */
		json_decref(line);
		return 0;
	}
	if (at >= r->since || !*r->policies)
		note_policy(r, sl_member_text(line, "policy"));
	r->oldest = at;
	rc = take_line(r, line, at);
	if (json_is_true(json_object_get(line, "full"))) {
		r->horizon = at;
		r->all_named |= at < r->since;
	}
	json_decref(line);
	return rc;
}

/* The time ends with the newest line, or with the snapshot. */
static int visit_newest(const char *text, size_t length, void *arg)
{
	struct report *r = arg;
	json_t *line = json_loadb(text, length, 0, NULL);
	int64_t at = sl_member_integer(line, "now");

	json_decref(line);
	if (at <= 0 || at > SL_WORKLOAD_MAX_SECONDS)
		return 0;
	r->until = at > r->until ? at : r->until;
	return 1;
}

static int read_journal(struct report *r)
{
	r->until = r->now.meta.now[0];
	if (sl_journal_read(r->dir, visit_newest, r, r->err))
		return -1;
	r->since = r->until - r->last;
	r->horizon = r->until;
	return read_ledger(r) || sl_journal_read(r->dir, visit, r, r->err) ? -1 : 0;
}

/* -- what the snapshot has --------------------------------------------------------- */

static int read_snapshot(struct report *r)
{
	char path[PATH_MAX + 16];
	uint32_t flags;
	size_t size;

	snprintf(path, sizeof(path), "%s/last.snap", r->dir);
	r->b = sl_builder_create(&sl_snapshot_schema, r->err);
	if (!r->b || sl_image_load(&sl_snapshot_schema, path, &r->bytes, &size, r->err) ||
	    sl_snapshot_open(&r->now, r->bytes, size, r->err) || sl_machine_load(r->b, path, &flags, NULL, r->err))
		return -1;
	return !sl_job_index(&r->row_of, &r->now) ? 0 : sl_fail(r->err, SL_ENOMEM, "report: out of memory");
}

/* What slurmctld still knew of a job says more than the journal. */
static void complete_row(struct report *r, struct row *row)
{
	uint32_t at = sl_map_by_id(&r->row_of, row->job);
	const struct sl_job_view *job = &r->now.job;

	if (at != SL_NONE) {
		if (job->submit_time[at] > 0 && (!row->start || job->submit_time[at] <= row->start))
			row->submit = job->submit_time[at];
		if (!row->user)
			row->user = sl_builder_str(r->b, sl_snapshot_str(&r->now, job->user[at]));
		if (!row->ended && job->state[at] != SL_JOB_PENDING) {
			row->ended = true;
			row->end = job->state[at] == SL_JOB_COMPLETE ? job->end_time[at] : 0;
		}
	}
	row->ended |= row->start > r->now.meta.now[0];		/* too new to be in either */
	if (row->start && !row->ended)
		row->end = row->start;	/* nobody knows when */
	if (row->start && row->end && row->end < row->start)
		row->end = row->start;
	if (row->start && row->submit > row->start)
		row->submit = row->start;
}

static int compare_starts(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	return x->start != y->start ? (x->start > y->start) - (x->start < y->start) : (x->job > y->job) - (x->job < y->job);
}

/*
 * The journal has the tasks of an array under the id of what was pending; Slurm gives each an id of
 * its own when it starts, a greater one.  So a start that has no run is that of the nearest such id
 * which began then, in the same partition, on as many nodes, and that nothing else explains.
 */
static void match_tasks(struct report *r)
{
	if (r->runs)
		qsort(r->run, r->runs, sizeof(*r->run), compare_starts);
	for (uint32_t i = 0; i < r->rows; i++) {
		struct row *row = &r->row[i];
		struct run *best = NULL;
		uint32_t low = 0, high = r->runs;

		if (!row->start || row->ended)
			continue;
		while (low < high)
			if (r->run[(low + high) / 2].start < row->start - 1)
				low = (low + high) / 2 + 1;
			else
				high = (low + high) / 2;
		for (; low < r->runs && r->run[low].start < row->start + TASK_S; low++) {
			struct run *run = &r->run[low];

			if (!run->taken && run->job > row->job && run->nodes == row->node_count && run->partition == row->partition &&
			    (!best || run->job < best->job))
				best = run;
		}
		if (best)
			take_run(row, best);
	}
}

/* -- the page ----------------------------------------------------------------------- */

static int make_workload(struct report *r, struct sl_workload *w)
{
	struct sl_meta_row meta = sl_meta_row();
	const void *bytes;
	size_t size;

	match_tasks(r);
	r->id = malloc((r->rows + 1u) * sizeof(*r->id));
	if (!r->id)
		return sl_fail(r->err, SL_ENOMEM, "report: out of memory");
	sl_builder_append(r->b, SL_T_META, &meta);
	for (uint32_t i = 0; i < r->rows; i++) {
		struct sl_job_row job = sl_job_row();

		complete_row(r, &r->row[i]);
		r->id[i] = r->row[i].job;
		job.id = i + 1;		/* a job may have run more than once; in a snapshot each is there once */
		job.user = r->row[i].user;
		job.partition = r->row[i].partition;
		job.submit_time = r->row[i].submit;
		job.time_limit = SL_UNLIMITED;
		sl_builder_append(r->b, SL_T_JOB, &job);
	}
	if (sl_builder_finish(r->b, &bytes, &size, r->err) || sl_snapshot_open(&w->snap, bytes, size, r->err))
		return -1;
	w->snap.job.id = r->id;
	for (uint32_t n = 0; n < w->snap.node.rows; n++)
		if (sl_map_put(&r->nodes, sl_hash_text(SL_HASH, sl_snapshot_str(&w->snap, w->snap.node.name[n])), n, r->err))
			return -1;
	return 0;
}

struct places {
	const struct report *r;
	const struct sl_snapshot *s;
	uint32_t *node, n, room;
	struct sl_error *err;
};

/* A node that the machine has no more is left out. */
static int add_place(const char *name, void *arg)
{
	struct places *p = arg;

	if (sl_grow(&p->node, &p->room, p->n + 1, sizeof(*p->node), p->err))
		return -1;
	SL_MAP_EACH(&p->r->nodes, sl_hash_text(SL_HASH, name), at)
		if (!strcmp(sl_snapshot_str(p->s, p->s->node.name[at.value]), name)) {
			p->node[p->n++] = at.value;
			break;
		}
	return 0;
}

static int compare_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;

	return (x > y) - (x < y);
}

/* The journal has cores in all: they are dealt out evenly. */
static int put_run(struct report *r, struct sl_page *page, const struct sl_workload *w, uint32_t i)
{
	const struct row *row = &r->row[i];
	struct places p = { .r = r, .s = &w->snap, .err = r->err };
	struct sl_page_job job = { .job = i, .start_s = row->start, .end_s = row->end };
	struct sl_stretch *stretch = NULL;
	int rc = sl_nodelist_split(row->nodes ? row->nodes : "", add_place, &p, r->err);

	if (!rc && p.n && !(stretch = calloc(p.n, sizeof(*stretch))))
		rc = sl_fail(r->err, SL_ENOMEM, "report: out of memory");
	if (p.n)
		qsort(p.node, p.n, sizeof(*p.node), compare_numbers);
	for (uint32_t n = 0; !rc && n < p.n; n++) {
		uint32_t cores = row->cores / p.n + (n < row->cores % p.n);
		struct sl_stretch *last = job.stretches ? &stretch[job.stretches - 1] : NULL;

		if (last && last->first + last->count == p.node[n] && last->cores == (cores ? cores : 1))
			last->count++;
		else
			stretch[job.stretches++] = (struct sl_stretch) { p.node[n], 1, cores ? cores : 1 };
	}
	job.stretch = stretch;
	if (!rc)
		rc = sl_page_job(page, &job, r->err);
	free(stretch);
	free(p.node);
	return rc;
}

/* Where Slurm's own scheduler decided, what the policies would have done otherwise, as JSON; NULL: nothing
 * is known of that. */
static char *pack_shadow(const struct report *r)
{
	struct sl_error none;
	struct sl_shadow_report b;
	struct sl_shadow_users us = { 0 };
	char *text = NULL;

	/* the book may end long before the time that the page is about: shadow mode is over then */
	if (!sl_shadow_read(&b, r->dir, r->last, SHADOW_S, &none) && b.to >= r->since && !sl_shadow_users(&b, &us, &none)) {
		json_t *o;

		sl_shadow_sort(&b);
		o = sl_shadow_pack(&b, &us, SHADOW_JOBS);
		text = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(6));
		json_decref(o);
	}
	sl_shadow_users_free(&us);
	sl_shadow_close(&b);
	return text;
}

static const char *write_notes(const struct report *r, char *text, size_t size)
{
	uint32_t strange = 0, open = 0;

	for (uint32_t i = 0; i < r->runs; i++)
		strange += !r->run[i].taken;
	for (uint32_t i = 0; i < r->rows; i++)
		open += r->row[i].start && !r->row[i].ended;
	*text = 0;
	if (r->no_ledger)
		snprintf(text, size, "There is no ledger: only jobs that slurmctld still knows have an end. ");
	if (strange)
		snprintf(text + strlen(text), size - strlen(text), "Runs of the ledger that are not drawn, as sched/lua did not start "
			 "them or the journal does not go back so far: %u. ", strange);
	if (open)
		snprintf(text + strlen(text), size - strlen(text), "Jobs that started, and nobody knows when they ended: %u. ", open);
	if (!r->all_named)
		snprintf(text + strlen(text), size - strlen(text), "The journal does not go back farther. ");
	return text;
}

/* A time of which nothing is known is not shown: parts that end before the oldest line. */
static void shorten_time(struct report *r)
{
	int64_t all = r->until - r->since;
	uint32_t skipped = r->all_named || r->oldest <= r->since ? 0 : (uint32_t) ((r->oldest - r->since) * PARTS / all);

	r->parts = PARTS - (skipped < PARTS ? skipped : PARTS - 1);
	r->since += all * (PARTS - r->parts) / PARTS;
	for (uint32_t i = 0; i < SL_WHYS; i++)
		for (uint32_t k = 0; k < r->parts; k++)
			r->waited[i * r->parts + k] = r->waited[i * PARTS + PARTS - r->parts + k] * PARTS / (double) all;
}

static int write_page(struct report *r, struct sl_page *page)
{
	const char *cluster = sl_snapshot_str(&r->now, r->now.meta.cluster[0]), *word[SL_WHYS];
	struct sl_page_about about = { .command = sl_tool_command(), .options = r->policies, .until_s = r->until };
	struct sl_workload w = { .name = (char *) cluster };
	char notes[900], *shadow;
	int rc;

	shorten_time(r);
	about.from_s = w.origin_s = r->since;
	about.reasons = (struct sl_page_reasons) { word, SL_WHYS, r->parts, r->waited };
	for (uint32_t i = 0; i < SL_WHYS; i++)
		word[i] = i ? sl_why_word(i) : "not looked at";
	if (make_workload(r, &w))
		return -1;
	about.notes = write_notes(r, notes, sizeof(notes));
	about.shadow = shadow = pack_shadow(r);
	rc = sl_page_workload(page, &w, &about, r->err);
	free(shadow);
	if (rc || sl_page_begin_run(page, cluster, r->err))
		return -1;
	for (uint32_t i = 0; i < r->rows; i++)
		if (r->row[i].start && put_run(r, page, &w, i))
			return -1;
	return sl_page_end_run(page, NULL, r->until, r->err) || sl_page_finish(page, r->err) ? -1 : 0;
}

/* -- the verb ----------------------------------------------------------------------- */

static int make_report(struct report *r)
{
	struct sl_page *page;
	char title[128], from[SL_TEXT_SIZE], until[SL_TEXT_SIZE];
	int rc;

	if (sl_statedir_find(r->v->dir, r->dir, sizeof(r->dir), r->err) || read_snapshot(r))
		return -1;
	snprintf(title, sizeof(title), "%.60s, the last %.30s", sl_snapshot_str(&r->now, r->now.meta.cluster[0]), r->v->last);
	page = sl_page_open(r->v->output, title, r->err);
	if (!page)
		return -1;
	rc = read_journal(r) || write_page(r, page) ? -1 : 0;
	sl_page_destroy(page);
	if (!rc)
		printf("%s: %u jobs, %s to %s\n", r->v->output, r->rows, sl_text_time(from, r->since), sl_text_time(until, r->until));
	return rc;
}

static int run(const struct sl_verb *verb, int argc, char **argv)
{
	struct sl_error err = { 0 };
	struct report *r;
	struct values v;
	int status;

	if (sl_tool_parse(verb, &v, argc, argv, 0, 0, &status) < 0)
		return status;
	if (!sl_tool_last(v.last))
		return sl_tool_usage(verb, "--last=%s: expected a time such as 12h, 7d or 1-00:00:00", v.last);
	r = calloc(1, sizeof(*r));
	if (!r)
		return sl_fail(&err, SL_ENOMEM, "report: out of memory"), sl_tool_fail(&err);
	*r = (struct report) { .v = &v, .err = &err, .last = sl_tool_last(v.last) };
	status = make_report(r) ? sl_tool_fail(&err) : sl_tool_end(SL_EXIT_FINE);
	for (uint32_t i = 0; i < r->rows; i++)
		free(r->row[i].nodes);
	sl_builder_destroy(r->b);
	sl_map_free(&r->nodes);
	sl_map_free(&r->by_job);
	sl_map_free(&r->by_run);
	free(r->bytes);
	sl_map_free(&r->row_of);
	free(r->id);
	free(r->row);
	free(r->job);
	free(r->run);
	free(r);
	return status;
}

const struct sl_verb sl_verb_report = {
	.name = "report",
	.operands = "[OPTION]...",
	.summary = "write a page of what happened on the cluster in the last days",
	.options = options,
	.run = run,
};
