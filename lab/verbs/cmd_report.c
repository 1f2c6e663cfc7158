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
#include "base/map.h"
#include "base/text.h"
#include "image/nodelist.h"
#include "report/page.h"
#include "tool/job_index.h"
#include "tool/shadow.h"
#include "tool/statedir.h"
#include "verbs/report_private.h"
#include "verbs/sim_args.h"
#include "workload/workload.h"

#define SHADOW_S 5		/* starts that differ by no more are the same */
#define SHADOW_JOBS 50		/* of shadow mode, those that differ most */

static const struct sl_option options[] = {
	{ .name = "last", .type = SL_OPTION_TEXT, .offset = offsetof(struct report_values, last), .argument = "TIME",
	  .standard = "7d", .doc = "how far to go back from the last decision: 12h, 7d, or as Slurm writes it" },
	{ .name = "output", .type = SL_OPTION_TEXT, .offset = offsetof(struct report_values, output), .argument = "FILE.html",
	  .standard = "schedlua-report.html", .doc = "the page, to be opened in a browser" },
	{ .name = "user", .type = SL_OPTION_TEXT, .offset = offsetof(struct report_values, user), .argument = "NAME",
	  .doc = "a page for one user: only that user's jobs, and nothing of others'" },
	SL_DIR_OPTION(report_values),
	{ .name = "ledger", .type = SL_OPTION_TEXT, .offset = offsetof(struct report_values, ledger), .argument = "FILE",
	  .doc = "the ledger that knows when jobs ended; default: ledger.db in that directory" },
	{ 0 }
};

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
		if (job->time_limit[at] > 0 && job->time_limit[at] < SL_WORKLOAD_MAX_SECONDS)
			row->limit = job->time_limit[at];
		if (job->state[at] == SL_JOB_RUNNING && row->start)
			row->planned_end = job->end_time[at];
		else if (row->planned_start)	/* without a limit it stands as long as the page goes back */
			row->planned_end = row->planned_start + (row->limit ? row->limit : r->last);
		if (!row->ended && job->state[at] != SL_JOB_PENDING) {
			row->ended = true;
			row->end = job->state[at] == SL_JOB_COMPLETE ? job->end_time[at] : 0;
		}
	}
	row->ended |= row->start > r->now.meta.now[0];		/* too new to be in either */
	if (row->start && !row->ended) {	/* else nobody knows when */
		row->end = sl_report_stopped_at(r, row);
		row->ended = row->end > 0;
		row->end = row->end ? row->end : row->start;
	}
	if (row->start && row->end && row->end < row->start)
		row->end = row->start;
	if (row->start && row->submit > row->start)
		row->submit = row->start;
}

/* A user's page: what is not certainly that user's is left out. */
static int keep_own(struct report *r)
{
	uint32_t kept = 0;

	r->only = sl_builder_str(r->b, r->v->user);
	for (uint32_t i = 0; i < r->rows; i++)
		if (r->row[i].user == r->only)
			r->row[kept++] = r->row[i];
		else
			free(r->row[i].nodes);
	r->rows = kept;
	return kept ? 0 : sl_fail(r->err, SL_ENOENT, "report: user %s has no job in that time", r->v->user);
}

/* -- the page ----------------------------------------------------------------------- */

/* Slurm's reservations, as the last snapshot has them.  Its nodes are the page's, row for row. */
static void copy_reservations(struct report *r)
{
	const struct sl_reservation_view *v = &r->now.reservation;

	for (uint32_t i = 0; i < v->rows && sl_builder_rows(r->b, SL_T_NODE) == r->now.node.rows; i++) {
		struct sl_reservation_row row = sl_reservation_row();

		row.name = sl_builder_str(r->b, sl_snapshot_str(&r->now, v->name[i]));
		row.start_time = v->start_time[i];
		row.end_time = v->end_time[i];
		row.flags = v->flags[i];
		row.nodes = (struct sl_range) { sl_builder_rows(r->b, SL_T_RUN), v->nodes[i].count };
		for (uint32_t k = v->nodes[i].first; k < v->nodes[i].first + v->nodes[i].count; k++)
			sl_builder_append(r->b, SL_T_RUN, &(struct sl_run_row) { .first = r->now.run.first[k], .last = r->now.run.last[k] });
		sl_builder_append(r->b, SL_T_RESERVATION, &row);
	}
}

static int make_workload(struct report *r, struct sl_workload *w)
{
	struct sl_meta_row meta = sl_meta_row();
	const void *bytes;
	size_t size;

	for (uint32_t i = 0; i < r->rows; i++)
		complete_row(r, &r->row[i]);
	if (r->v->user && keep_own(r))
		return -1;
	r->id = malloc((r->rows + 1u) * sizeof(*r->id));
	if (!r->id)
		return sl_fail(r->err, SL_ENOMEM, "report: out of memory");
	sl_builder_append(r->b, SL_T_META, &meta);
	if (!r->v->user)
		copy_reservations(r);
	for (uint32_t i = 0; i < r->rows; i++) {
		struct sl_job_row job = sl_job_row();

		r->id[i] = r->row[i].job;
		job.id = i + 1;		/* a job may have run more than once; in a snapshot each is there once */
		job.user = r->row[i].user;
		job.partition = r->row[i].partition;
		job.submit_time = r->row[i].submit;
		job.time_limit = r->row[i].limit ? r->row[i].limit : SL_UNLIMITED;
		sl_report_ask(r, &r->row[i], &job);
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

/* Find the nodes of a row, in ascending order.  p->node is the caller's to free. */
static int find_nodes(const struct row *row, struct places *p)
{
	int rc = sl_nodelist_split(row->nodes ? row->nodes : "", add_place, p, p->err);

	if (p->n)
		qsort(p->node, p->n, sizeof(*p->node), compare_numbers);
	return rc;
}

/* The journal has cores in all, and the ledger GPUs: they are dealt out evenly. */
static int deal_stretches(const struct row *row, const struct places *p, struct sl_stretch **stretch, uint32_t *count)
{
	struct sl_stretch *s = calloc(p->n + 1u, sizeof(*s)), *last = NULL;

	if (!s)
		return sl_fail(p->err, SL_ENOMEM, "report: out of memory");
	*count = 0;
	for (uint32_t n = 0; n < p->n; n++) {
		uint32_t cores = row->cores / p->n + (n < row->cores % p->n), gpus = row->gpus / p->n + (n < row->gpus % p->n);

		cores = cores ? cores : 1;
		if (last && last->first + last->count == p->node[n] && last->cores == cores && last->gpus == gpus) {
			last->count++;
			continue;
		}
		last = &s[(*count)++];
		*last = (struct sl_stretch) { p->node[n], 1, cores, gpus };
	}
	*stretch = s;
	return 0;
}

/* A job's run or, if it waits, its place in the plan. */
static int put_row(struct report *r, struct sl_page *page, const struct sl_workload *w, uint32_t i)
{
	const struct row *row = &r->row[i];
	struct places p = { .r = r, .s = &w->snap, .err = r->err };
	struct sl_page_planned planned = { .job = i, .start_s = row->planned_start ? row->planned_start : row->start, .end_s = row->planned_end };
	struct sl_page_job job = { .job = i, .start_s = row->start, .end_s = row->end, .gpus = row->gpus };
	struct sl_stretch *stretch = NULL;
	uint32_t stretches = 0;
	int rc = sl_report_held(r, row, &stretch, &stretches, &job.gpus);

	if (!rc)
		rc = find_nodes(row, &p) || deal_stretches(row, &p, &stretch, &stretches) ? -1 : 0;
	rc = rc < 0 ? rc : 0;
	job.stretch = planned.stretch = stretch;
	job.stretches = stretches;
	planned.stretches = row->start ? 0 : stretches;
	if (!rc && row->start)
		rc = sl_page_job(page, &job, r->err);
	if (!rc && row->planned_end > r->until && (row->start ? !row->end : stretches > 0))
		rc = sl_page_plan(page, &planned, r->err);
	free(stretch);
	free(p.node);
	return rc;
}

/* On a user's page nodes and partitions that no job of it has are nameless. */
static int hide_names(struct report *r, struct sl_workload *w)
{
	struct sl_snapshot *s = &w->snap;

	r->node_name = calloc(s->node.rows + 1u, sizeof(*r->node_name));
	r->partition_name = calloc(s->partition.rows + 1u, sizeof(*r->partition_name));
	if (!r->node_name || !r->partition_name)
		return sl_fail(r->err, SL_ENOMEM, "report: out of memory");
	for (uint32_t i = 0; i < r->rows; i++) {
		struct places p = { .r = r, .s = s, .err = r->err };
		int rc = find_nodes(&r->row[i], &p);

		for (uint32_t n = 0; n < p.n; n++)
			r->node_name[p.node[n]] = s->node.name[p.node[n]];
		free(p.node);
		if (rc)
			return -1;
		if (r->row[i].partition < s->partition.rows)
			r->partition_name[r->row[i].partition] = s->partition.name[r->row[i].partition];
	}
	return 0;
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
	if (make_workload(r, &w) || (r->v->user && hide_names(r, &w)))
		return -1;
	if (r->v->user) {
		w.snap.node.name = r->node_name;
		w.snap.partition.name = r->partition_name;
	}
	about.user = r->v->user;
	about.notes = write_notes(r, notes, sizeof(notes));
	about.shadow = shadow = r->v->user ? NULL : pack_shadow(r);
	rc = sl_page_workload(page, &w, &about, r->err);
	free(shadow);
	if (rc || sl_page_begin_run(page, cluster, r->err))
		return -1;
	for (uint32_t i = 0; i < r->rows; i++)
		if (put_row(r, page, &w, i))
			return -1;
	if (sl_report_put_stopped(r, page))
		return -1;
	return sl_page_end_run(page, NULL, r->until, r->err) || sl_page_finish(page, r->err) ? -1 : 0;
}

/* -- the verb ----------------------------------------------------------------------- */

static int make_report(struct report *r)
{
	struct sl_page *page;
	char title[256], from[SL_TEXT_SIZE], until[SL_TEXT_SIZE];
	int rc;

	if (sl_statedir_find(r->v->dir, r->dir, sizeof(r->dir), r->err) || read_snapshot(r))
		return -1;
	snprintf(title, sizeof(title), "%.60s%s%.60s, the last %.30s", sl_snapshot_str(&r->now, r->now.meta.cluster[0]),
		 r->v->user ? ", jobs of " : "", r->v->user ? r->v->user : "", r->v->last);
	page = sl_page_open(r->v->output, title, r->err);
	if (!page)
		return -1;
	sl_sim_args_tell_lacks(page);
	rc = sl_report_read(r) || write_page(r, page) ? -1 : 0;
	sl_page_destroy(page);
	if (!rc)
		printf("%s: %u jobs, %s to %s\n", r->v->output, r->rows, sl_text_time(from, r->since), sl_text_time(until, r->until));
	return rc;
}

static int run(const struct sl_verb *verb, int argc, char **argv)
{
	struct sl_error err = { 0 };
	struct report *r;
	struct report_values v;
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
	free(r->node_name);
	free(r->partition_name);
	free(r->row);
	free(r->job);
	free(r->run);
	free(r->stop);
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
