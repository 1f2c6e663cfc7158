/* SPDX-License-Identifier: MIT */
/*
 * report_read.c - what the ledger and the journal say of the time that a page is about.
 */
#include "verbs/report_private.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/grow.h"
#include "image/journal.h"
#include "ledger/ledger.h"
#include "tool/member.h"
#include "workload/workload.h"

#define TASK_S 30		/* a task of an array is found by when it began */
#define LATE_S 900		/* a start stands in the ledger so much later at most */

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

	if (r->v->user && strcmp(run->dim.user, r->v->user))
		return 0;
	if (sl_grow(&r->run, &r->run_room, r->runs + 1, sizeof(*r->run), r->err) ||
	    sl_map_put(&r->by_run, sl_hash_id(run->job), r->runs, r->err))
		return -1;
	r->run[r->runs++] = (struct run) { run->job, sl_builder_str(r->b, run->dim.user), run->count[SL_UNIT_NODE],
		run->count[SL_UNIT_GPU], partition_row(r, run->dim.partition), run->start, open || run->end > r->until ? 0 : run->end, false };
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
	uint32_t why = sl_why_of(word) % SL_WHYS;	/* a word that is not known counts as the first */

	from = from > r->since ? from : r->since;
	for (uint32_t k = from < until ? (uint32_t) ((double) (from - r->since) / part) : PARTS; k < PARTS; k++) {
		a = (double) r->since + k * part;
		b = a + part;
		if (a >= (double) until)
			break;
		r->waited[why * PARTS + k] += (b < (double) until ? b : (double) until) - (a > (double) from ? a : (double) from);
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
	row->gpus = run->gpus;
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

/* True if the page is about the job: all jobs, or those that are known to be of its user. */
static bool is_shown(const struct report *r, uint32_t id)
{
	uint32_t at = sl_map_by_id(&r->row_of, id);

	if (!r->v->user)
		return true;
	if (at != SL_NONE)
		return !strcmp(sl_snapshot_str(&r->now, r->now.job.user[at]), r->v->user);
	return sl_map_by_id(&r->by_run, id) != SL_MAP_NOTHING;
}

/* Where and when the plan has a job that waits: the newest that was said, unless a newer line that names all does not have it. */
static void take_reserved(struct report *r, struct row *row, const json_t *record)
{
	int64_t start = sl_member_integer(record, "start_time");

	if (row->nodes || row->start || start <= r->until || start > SL_WORKLOAD_MAX_SECONDS || r->horizon != r->until)
		return;
	row->planned_start = start;
	row->nodes = strdup(sl_member_text(record, "nodes"));
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
	if (!reason && job->waits && job->row != SL_NONE)
		take_reserved(r, &r->row[job->row], record);
	return 0;
}

static uint32_t number_of(const char *word, const char *(*word_of)(uint32_t), uint32_t count)
{
	uint32_t i = count;

	while (i-- > 1 && strcmp(word_of(i), word))
		;
	return i < count ? i : 0;
}

/* How the set was chosen is said of the place that is held for the other job, in the same line. */
static uint32_t verdict_for(const json_t *line, uint32_t preemptor)
{
	json_t *held;
	size_t i;

	json_array_foreach(json_object_get(line, "held"), i, held)
		if ((uint32_t) sl_member_integer(held, "job") == preemptor)
			return number_of(sl_member_text(held, "verdict"), sl_verdict_word, SL_VERDICTS);
	return SL_VERDICT_NONE;
}

static int take_stops(struct report *r, const json_t *line, int64_t at)
{
	json_t *record;
	size_t i;

	json_array_foreach(json_object_get(line, "stopped"), i, record) {
		uint32_t preemptor = (uint32_t) sl_member_integer(record, "preemptor");

		if (json_is_false(json_object_get(record, "done")) || !is_shown(r, (uint32_t) sl_member_integer(record, "job")))
			continue;
		if (sl_grow(&r->stop, &r->stop_room, r->stops + 1, sizeof(*r->stop), r->err))
			return -1;
		r->stop[r->stops++] = (struct stop_told) { (uint32_t) sl_member_integer(record, "job"), preemptor,
			number_of(sl_member_text(record, "mode"), sl_stop_mode_word, SL_STOP_MODES), verdict_for(line, preemptor), at };
	}
	return 0;
}

static int take_line(struct report *r, const json_t *line, int64_t at)
{
	static const char *const lists[] = { "gone", "pending", "reserved", "started" };
	json_t *record;
	size_t i;

	for (size_t k = 0; k < sizeof(lists) / sizeof(lists[0]); k++)
		json_array_foreach(json_object_get(line, lists[k]), i, record)
			if ((k == 3 || !r->all_named) && is_shown(r, (uint32_t) sl_member_integer(record, "job")) &&
			    (k == 0 ? take_gone(r, record, at) : k == 3 ? take_start(r, record, at) : take_wait(r, record, at, k == 1)))
				return -1;
	return r->all_named ? 0 : take_stops(r, line, at);
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

int sl_report_read(struct report *r)
{
	r->until = r->now.meta.now[0];
	if (sl_journal_read(r->dir, visit_newest, r, r->err))
		return -1;
	r->since = r->until - r->last;
	r->horizon = r->until;
	if (read_ledger(r) || sl_journal_read(r->dir, visit, r, r->err))
		return -1;
	match_tasks(r);
	return 0;
}
