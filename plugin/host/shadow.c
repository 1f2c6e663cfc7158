/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shadow.c - see shadow.h */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "base/duration.h"
#include "base/grow.h"
#include "base/line_file.h"
#include "base/map.h"
#include "image/journal.h"
#include "image/json_out.h"
#include "plugin/host/shadow.h"

#define SAMPLE_S 20

/* What was said of a job, or of an array (by its ArrayJobId). */
struct note {
	uint32_t id;
	uint32_t row;		/* in this cycle's snapshot; SL_NONE: it stands for an array only */
	uint32_t ran, planned;	/* tasks that Slurm has started; ... and those that were planned besides, once */
	uint32_t tasks;		/* planned in this cycle */
	int64_t start;		/* that Slurm gave it; 0: it waits */
	bool ended;
	bool stops;		/* it waits, and that others would be stopped for it is said */
	uint32_t why;		/* the policies' last word */
	int64_t expected;
	char *text;
};

struct notes {
	struct note *note;
	uint32_t count, room;
	struct sl_map by_id;
};

struct sl_shadow {
	char stock[16];
	struct sl_line_file file;
	bool open, begun;
	struct sl_json *json;
	struct notes was, is;	/* of the cycle before, of this one */
	char failed[256];
	int64_t sampled;		/* when the last such line was written */
	uint64_t deaths;
	struct {
		uint64_t cycles, failures, decide_us, decide_max_us;
	} sum;
};

struct record {
	struct sl_shadow *s;
	const struct sl_shadow_cycle *c;
	bool news;
};

static void clear_notes(struct notes *n)
{
	for (uint32_t i = 0; i < n->count; i++)
		free(n->note[i].text);
	n->count = 0;
	sl_map_clear(&n->by_id);
}

static void free_notes(struct notes *n)
{
	clear_notes(n);
	free(n->note);
	sl_map_free(&n->by_id);
}

struct sl_shadow *sl_shadow_create(const char *stock, struct sl_error *err)
{
	struct sl_shadow *s = calloc(1, sizeof(*s));

	if (!s || !(s->json = sl_json_create(NULL, err))) {
		free(s);
		sl_fail(err, SL_ENOMEM, "shadow: no memory");
		return NULL;
	}
	snprintf(s->stock, sizeof(s->stock), "%s", stock);
	return s;
}

void sl_shadow_destroy(struct sl_shadow *s)
{
	if (!s)
		return;
	if (s->open)
		sl_line_file_close(&s->file);
	sl_json_destroy(s->json);
	free_notes(&s->was);
	free_notes(&s->is);
	free(s);
}

/* -- notes -------------------------------------------------------------------- */

static struct note *find_note(const struct notes *n, uint32_t id)
{
	uint32_t at = sl_map_by_id(&n->by_id, id);

	return at == SL_MAP_NOTHING ? NULL : &n->note[at];
}

/* The note of that job in this cycle, with what the one before had; there is room. */
static struct note *keep_note(struct sl_shadow *s, uint32_t id)
{
	struct note *n = find_note(&s->is, id), *was;

	if (n)
		return n;
	was = find_note(&s->was, id);
	n = &s->is.note[s->is.count];
	*n = was ? *was : (struct note) { .id = id };
	n->row = SL_NONE;
	n->tasks = 0;
	if (was)
		was->text = NULL;
	(void) sl_map_put(&s->is.by_id, sl_hash_id(id), s->is.count++, NULL);
	return n;
}

static uint32_t group_of(const struct sl_snapshot *snap, uint32_t row)
{
	return snap->job.array_job_id[row] != SL_NONE ? snap->job.array_job_id[row] : snap->job.id[row];
}

/* Each job of the snapshot may need a note, and its array another. */
static int begin_notes(struct sl_shadow *s, const struct sl_snapshot *snap, struct sl_error *err)
{
	struct notes before = s->was;
	uint64_t most = (uint64_t) snap->job.rows * 2;

	s->was = s->is;
	s->is = before;
	clear_notes(&s->is);
	return sl_grow(&s->is.note, &s->is.room, most, sizeof(*s->is.note), err) || sl_map_reserve(&s->is.by_id, most, err) ?
		-1 : 0;
}

/* -- a line ------------------------------------------------------------------- */

static void put_int(struct sl_json *j, const char *key, int64_t v)
{
	if (v)
		sl_json_put_int(j, key, v);
}

static void put_text(struct sl_json *j, const char *key, const char *text)
{
	if (text && *text)
		sl_json_put_str(j, key, text);
}

static void begin_item(struct record *r, const char *array, bool *begun)
{
	if (!*begun)
		sl_json_open_array(r->s->json, array);
	*begun = r->news = true;
	sl_json_begin_object(r->s->json);
}

static bool is_begun(const struct sl_snapshot *snap, uint32_t row)
{
	return snap->job.state[row] != SL_JOB_PENDING && snap->job.start_time[row] > 0 &&
		snap->job.start_time[row] <= snap->meta.now[0];
}

static int64_t cores_of(const struct sl_snapshot *snap, uint32_t row)
{
	struct sl_range r = snap->job.alloc[row];
	int64_t cores = 0;

	for (uint32_t i = r.first; i < r.first + r.count; i++)
		cores += snap->alloc.cores[i];
	return cores;
}

static void put_ran(struct record *r, uint32_t row, const struct note *group)
{
	const struct sl_snapshot *snap = r->c->snap;
	const struct sl_job_view *job = &snap->job;
	struct sl_json *j = r->s->json;
	uint32_t part = sl_snapshot_home(snap, row);

	sl_json_put_int(j, "job", job->id[row]);
	if (group->id != job->id[row])
		sl_json_put_int(j, "array", group->id);
	put_text(j, "user", sl_snapshot_str(snap, job->user[row]));
	put_text(j, "account", sl_snapshot_str(snap, job->account[row]));
	if (part != SL_NONE)
		put_text(j, "partition", sl_snapshot_str(snap, snap->partition.name[part]));
	put_int(j, "submit", job->submit_time[row]);
	put_int(j, "eligible", job->eligible_time[row]);
	sl_json_put_int(j, "start", job->start_time[row]);
	put_int(j, "limit", job->time_limit[row] == SL_UNLIMITED ? 0 : job->time_limit[row]);
	put_int(j, "nodes", job->alloc_nodes[row]);
	put_int(j, "cpus", job->alloc_cpus[row]);
	put_int(j, "cores", cores_of(snap, row));
	if (group->why)
		put_text(j, "why", sl_why_word(group->why));
	put_text(j, "text", group->text);
	put_int(j, "expected", group->expected);
}

/* Those that Slurm has started since the cycle before. */
static void put_starts(struct record *r)
{
	const struct sl_snapshot *snap = r->c->snap;
	bool begun = false;

	for (uint32_t i = 0; i < snap->job.rows; i++) {
		struct note *n = keep_note(r->s, snap->job.id[i]), *group = keep_note(r->s, group_of(snap, i));

		n->row = i;
		if (!is_begun(snap, i)) {
			if (snap->job.state[i] == SL_JOB_PENDING)
				n->start = 0;
			continue;
		}
		if (n->start == snap->job.start_time[i])
			continue;
		n->start = snap->job.start_time[i];
		n->ended = n->stops = false;
		group->ran++;
		group->planned = group->planned > group->ran ? group->planned : group->ran;
		begin_item(r, "ran", &begun);
		put_ran(r, i, group);
		sl_json_end_object(r->s->json);
	}
	if (begun)
		sl_json_end_array(r->s->json);
}

static void put_ends(struct record *r)
{
	const struct sl_snapshot *snap = r->c->snap;
	bool begun = false;

	for (uint32_t i = 0; i < snap->job.rows; i++) {
		struct note *n = find_note(&r->s->is, snap->job.id[i]);

		if (n->ended || !n->start || snap->job.state[i] <= SL_JOB_SUSPENDED)
			continue;
		n->ended = true;
		begin_item(r, "ended", &begun);
		sl_json_put_int(r->s->json, "job", n->id);
		sl_json_put_int(r->s->json, "start", n->start);
		sl_json_put_int(r->s->json, "end", snap->job.end_time[i]);
		sl_json_end_object(r->s->json);
	}
	if (begun)
		sl_json_end_array(r->s->json);
}

/* -- what the policies say ------------------------------------------------------ */

/* What is noted of that job, or of the array that it is of; NULL: the snapshot has it not. */
static struct note *group_note(struct record *r, uint32_t job_id)
{
	const struct note *n = find_note(&r->s->is, job_id);

	return n && n->row != SL_NONE ? find_note(&r->s->is, group_of(r->c->snap, n->row)) : NULL;
}

static void set_word(struct note *group, uint32_t why, int64_t expected, const char *text)
{
	group->why = why;
	group->expected = expected;
	if (group->text ? text && !strcmp(group->text, text) : !text || !*text)
		return;
	free(group->text);
	group->text = text && *text ? strdup(text) : NULL;
}

/* Their last word about each job, for when Slurm starts it. */
static void note_words(struct record *r)
{
	const struct sl_plan_image *plan = r->c->plan;
	struct note *group;
	uint32_t i;

	for (i = 0; i < plan->pending.rows; i++)
		if ((group = group_note(r, plan->pending.job[i])))
			set_word(group, plan->pending.why[i], 0,
				 plan->pending.why[i] == SL_WHY_POLICY ?
				 sl_image_str(&plan->image, plan->pending.text[i]) : NULL);
	for (i = 0; i < plan->reserve.rows; i++)
		if ((group = group_note(r, plan->reserve.job[i])))
			group->expected = plan->reserve.start_time[i];
	for (i = 0; i < plan->start.rows; i++)
		if ((group = group_note(r, plan->start.job[i]))) {
			set_word(group, SL_WHY_NONE, 0, NULL);
			group->tasks++;
		}
}

static void put_plans(struct record *r)
{
	bool begun = false;

	note_words(r);
	for (uint32_t i = 0; i < r->s->is.count; i++) {
		struct note *n = &r->s->is.note[i];

		if (n->ran + n->tasks <= n->planned)
			continue;
		n->planned = n->ran + n->tasks;
		begin_item(r, "plans", &begun);
		sl_json_put_int(r->s->json, "job", n->id);
		sl_json_put_int(r->s->json, "tasks", n->tasks);
		sl_json_end_object(r->s->json);
	}
	if (begun)
		sl_json_end_array(r->s->json);
}

/* -- whom they would stop for whom ------------------------------------------------ */

static void put_victim(struct record *r, uint32_t i)
{
	const struct sl_plan_stop_view *stop = &r->c->plan->stop;
	const struct sl_snapshot *snap = r->c->snap;
	const struct note *n = find_note(&r->s->is, stop->job[i]);
	struct sl_json *j = r->s->json;

	if (!n || n->row == SL_NONE)
		return;
	sl_json_begin_object(j);
	sl_json_put_int(j, "job", stop->job[i]);
	put_text(j, "user", sl_snapshot_str(snap, snap->job.user[n->row]));
	sl_json_put_int(j, "start", snap->job.start_time[n->row]);
	put_int(j, "cores", cores_of(snap, n->row));
	put_int(j, "gpus", snap->job.alloc_gpus[n->row]);
	sl_json_put_real(j, "cost", stop->cost[i]);
	put_text(j, "mode", sl_stop_mode_word(stop->mode[i] == SL_STOP_NONE ? snap->job.preempt_mode[n->row] : stop->mode[i]));
	if (stop->moves[i])
		sl_json_put_bool(j, "moves", true);
	sl_json_end_object(j);
}

/* All that the plan stops for that job. */
static void put_victims(struct record *r, uint32_t preemptor)
{
	const struct sl_plan_stop_view *stop = &r->c->plan->stop;
	const struct sl_plan_hold_view *hold = &r->c->plan->hold;
	struct sl_json *j = r->s->json;
	double cost = 0;

	sl_json_put_int(j, "job", preemptor);
	for (uint32_t i = 0; i < hold->rows; i++)
		if (hold->job[i] == preemptor && !hold->release[i])
			put_text(j, "verdict", sl_verdict_word(hold->verdict[i]));
	for (uint32_t i = 0; i < stop->rows; i++)
		cost += stop->preemptor[i] == preemptor ? stop->cost[i] : 0;
	sl_json_put_real(j, "cost", cost);
	sl_json_open_array(j, "victims");
	for (uint32_t i = 0; i < stop->rows; i++)
		if (stop->preemptor[i] == preemptor)
			put_victim(r, i);
	sl_json_end_array(j);
}

static void put_stops(struct record *r)
{
	const struct sl_plan_stop_view *stop = &r->c->plan->stop;
	bool begun = false;

	for (uint32_t i = 0; i < stop->rows; i++) {
		struct note *n = find_note(&r->s->is, stop->preemptor[i]);

		if (!n || n->stops)
			continue;
		n->stops = true;
		begin_item(r, "stops", &begun);
		put_victims(r, n->id);
		sl_json_end_object(r->s->json);
	}
	if (begun)
		sl_json_end_array(r->s->json);
}

static void put_failure(struct record *r)
{
	struct sl_shadow *s = r->s;
	char text[sizeof(s->failed)];

	snprintf(text, sizeof(text), "%.*s", (int) strcspn(r->c->failed, "\n"), r->c->failed);
	s->sum.failures += *text || !r->c->plan;
	if (*text && !sl_same_but_numbers(text, s->failed)) {
		sl_json_put_str(s->json, "failed", text);
		r->news = true;
	}
	memcpy(s->failed, text, sizeof(s->failed));
}

/* -- figures, now and then ---------------------------------------------------------- */

static int64_t planned_cores(const struct sl_plan_image *plan)
{
	int64_t cores = 0;

	for (uint32_t i = 0; plan && i < plan->start.rows; i++)
		for (uint32_t k = 0; k < plan->start.places[i].count; k++)
			cores += plan->place.cores[plan->start.places[i].first + k];
	return cores;
}

static void put_sample(struct record *r)
{
	const struct sl_snapshot *snap = r->c->snap;
	struct sl_shadow *s = r->s;
	int64_t cores = 0, used = 0;
	uint32_t i;

	s->sum.cycles++;
	s->sum.decide_us += r->c->decide_us;
	s->sum.decide_max_us = s->sum.decide_max_us > r->c->decide_us ? s->sum.decide_max_us : r->c->decide_us;
	if (snap->meta.now[0] - s->sampled < SAMPLE_S)
		return;
	for (i = 0; i < snap->node.rows; i++)
		cores += snap->node.cores[i];
	for (i = 0; i < snap->job.rows; i++)
		used += cores_of(snap, i);
	s->sampled = snap->meta.now[0];
	sl_json_open_object(s->json, "sample");
	put_text(s->json, "policy", r->c->policy);
	put_int(s->json, "cores", cores);
	put_int(s->json, "used", used);
	put_int(s->json, "planned", planned_cores(r->c->plan));
	put_int(s->json, "waiting", snap->queue.rows);
	put_int(s->json, "cycles", (int64_t) s->sum.cycles);
	put_int(s->json, "failures", (int64_t) s->sum.failures);
	put_int(s->json, "deaths", (int64_t) (r->c->deaths - s->deaths));
	put_int(s->json, "decide_us", (int64_t) s->sum.decide_us);
	put_int(s->json, "decide_max_us", (int64_t) s->sum.decide_max_us);
	sl_json_end_object(s->json);
	memset(&s->sum, 0, sizeof(s->sum));
	s->deaths = r->c->deaths;
	r->news = true;
}

/* -- a cycle ---------------------------------------------------------------------- */

static int compose(struct record *r, const char **text, size_t *size, struct sl_error *err)
{
	struct sl_shadow *s = r->s;

	sl_json_reset(s->json);
	sl_json_begin_object(s->json);
	sl_json_put_int(s->json, "now", r->c->snap->meta.now[0]);
	if (!s->begun) {
		sl_json_open_object(s->json, "begin");
		put_text(s->json, "stock", s->stock);
		put_text(s->json, "slurm", sl_snapshot_str(r->c->snap, r->c->snap->meta.slurm_version[0]));
		sl_json_end_object(s->json);
		s->begun = r->news = true;
	}
	put_starts(r);
	put_ends(r);
	if (r->c->plan)
		put_plans(r);
	if (r->c->plan)
		put_stops(r);
	put_failure(r);
	put_sample(r);
	sl_json_end_object(s->json);
	sl_json_end_line(s->json);
	return sl_json_finish(s->json, text, size, err);
}

/* In the directory that it is in already: slurm.conf's StateSaveLocation does not change. */
static int open_book(struct sl_shadow *s, const char *dir, struct sl_error *err)
{
	if (s->open)
		return 0;
	if (sl_line_file_open(&s->file, dir, SL_SHADOW_BOOK, false, err)) {
		sl_line_file_close(&s->file);
		return -1;
	}
	s->open = true;
	return 0;
}

int sl_shadow_note(struct sl_shadow *s, const char *dir, const struct sl_shadow_cycle *c, struct sl_error *err)
{
	struct record r = { .s = s, .c = c };
	const char *text;
	size_t size;
	int rc = 0;

	if (begin_notes(s, c->snap, err) || compose(&r, &text, &size, err))
		return -1;
	if (!r.news)
		return 0;
	if (open_book(s, dir, err) || sl_line_file_lock(&s->file, err))
		return -1;
	if (sl_line_file_room(&s->file, size, err) < 0 || sl_line_file_append(&s->file, text, size, err))
		rc = -1;
	sl_line_file_unlock(&s->file);
	return rc;
}
