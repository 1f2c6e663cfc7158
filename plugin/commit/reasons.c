/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reasons.c - see reasons.h */
#include <stdlib.h>

#include "plugin/commit/planned.h"
#include "plugin/commit/reasons.h"
#include "base/plain.h"
#include "image/nodelist.h"

/* Slurm's reason for each reason of the engine: scripts look for Slurm's words in squeue's output. */
static const uint32_t words[SL_WHYS] = {
	[SL_WHY_NONE] = WAIT_RESOURCES,
	[SL_WHY_RESOURCES] = WAIT_RESOURCES,
	[SL_WHY_PRIORITY] = WAIT_PRIORITY,
	[SL_WHY_NEVER] = WAIT_PART_CONFIG,
	[SL_WHY_NODES_DOWN] = WAIT_NODE_NOT_AVAIL,
	[SL_WHY_RESERVATION] = WAIT_RESERVATION,
	[SL_WHY_LICENSES] = WAIT_LICENSES,
	[SL_WHY_POLICY] = WAIT_RESOURCES,
	[SL_WHY_DEADLINE] = WAIT_RESOURCES,
	[SL_WHY_NOT_MODELLED] = WAIT_RESOURCES,
	[SL_WHY_WINDOW] = WAIT_PRIORITY,
	[SL_WHY_BUDGET] = WAIT_PRIORITY,
	[SL_WHY_BEGIN] = WAIT_TIME,
	[SL_WHY_ARRAY] = WAIT_ARRAY_TASK_LIMIT,
	[SL_WHY_PARTITION] = WAIT_PART_CONFIG,
	[SL_WHY_CHECK] = WAIT_RESOURCES,
	[SL_WHY_COST] = WAIT_PRIORITY,
	[SL_WHY_RESERVED] = WAIT_NODE_NOT_AVAIL,
};

/* The text that squeue is to show as the reason; NULL if it is to show Slurm's word alone.  The engine's text stands behind
 * that word, or in its place if it is the policy's own or the site wants that (lua_reason_text). */
static char *describe(const struct sl_commit *m, uint32_t why, const char *text)
{
	if (!*text || !(sl_why_shows_text(why) || m->reason_text))
		return NULL;
	if (why == SL_WHY_POLICY || m->reason_text)
		return sl_plain(xstrdup(text));
	return sl_plain(xstrdup_printf("%s, %s", sl_reason_string(words[why]), text));
}

/* Set both, and return whether they have changed: only then last_job_update is set, which makes every client fetch all
 * jobs anew. */
static bool set_reason(job_record_t *job, uint32_t reason, char *desc, time_t start, const char *nodes)
{
	bool changed = false;

	if (job->state_reason != reason) {
		job->state_reason = reason;
		changed = true;
	}
	if (xstrcmp(job->state_desc, desc)) {
		xfree(job->state_desc);
		job->state_desc = desc;
		desc = NULL;
		changed = true;
	}
	xfree(desc);
	if (job->start_time != start) {
		job->start_time = start;
		changed = true;
	}
	/* a start clears this, as it clears what Slurm's own backfill writes there */
	if (xstrcmp(job->sched_nodes, nodes)) {
		xfree(job->sched_nodes);
		job->sched_nodes = xstrdup(nodes);
		changed = true;
	}
	job->last_sched_eval = time(NULL);
	return changed;
}

/* The job's record if it competed in this cycle and still waits, else NULL: other jobs have a reason from
 * build_job_queue() or from select. */
static job_record_t *find_waiting(const struct sl_commit *m, uint32_t job_id)
{
	uint32_t row = sl_collect_row(m->c, job_id);
	job_record_t *job = find_job_record(job_id);

	if (!job || row == SL_NONE || !IS_JOB_PENDING(job) || IS_JOB_COMPLETING(job) || !job->priority ||
	    !sl_job_sane(job))
		return NULL;
	return job;
}

static bool failed_start(const struct sl_commit *m, uint32_t job_id)
{
	uint32_t row = sl_collect_row(m->c, job_id);

	return row != SL_NONE && m->marks[row] & SL_MARK_FAILED;
}

/* -- when and where ------------------------------------------------------------ */

/* A job that is expected to start. */
struct expected {
	uint32_t job;
	time_t start;
	char *nodes;			/* NULL: Slurm's select is to choose */
	bool told;
};

/* What the plan says about waiting jobs. */
struct told {
	struct sl_commit *m;
	struct expected *expected;	/* first what policies said, then reservations, then forecasts */
	uint32_t *of;			/* [job row] its index in *expected* + 1, or 0 */
	uint32_t count;
	bool *next;			/* [job row] the job is the first of its line */
};

/* The names of the nodes; NULL for a native job. */
static char *name_places(const struct sl_commit *m, struct sl_range places, bool native)
{
	const struct sl_plan_image *plan = m->plan;
	const char **name = native ? NULL : malloc((places.count + 1) * sizeof(*name));
	char *list;
	uint32_t n = 0;

	if (!name)
		return NULL;
	for (uint32_t k = places.first; k < places.first + places.count; k++)
		if (plan->place.node[k] < m->c->snap.node.rows)
			name[n++] = sl_snapshot_str(&m->c->snap, m->c->snap.node.name[plan->place.node[k]]);
	list = n ? sl_nodelist_join(name, n, NULL) : NULL;
	free(name);
	return list;
}

static void expect(struct told *t, uint32_t job, int64_t start, struct sl_range places, bool native)
{
	uint32_t row = sl_collect_row(t->m->c, job);

	if (row == SL_NONE || t->of[row])
		return;
	t->expected[t->count] = (struct expected) { .job = job, .start = (time_t) start,
		.nodes = name_places(t->m, places, native) };
	t->of[row] = ++t->count;
}

/* Read when the plan expects jobs to start.  Done before a lock is taken: there may be such a time for every job. */
static bool read_expected(struct told *t)
{
	const struct sl_plan_reserve_view *r = &t->m->plan->reserve;
	const struct sl_plan_forecast_view *f = &t->m->plan->forecast;

	t->expected = calloc((size_t) r->rows + f->rows + 1, sizeof(*t->expected));
	t->of = calloc((size_t) t->m->c->snap.job.rows + 1, sizeof(*t->of));
	t->next = calloc((size_t) t->m->c->snap.job.rows + 1, sizeof(*t->next));
	if (!t->expected || !t->of || !t->next)
		return false;
	for (uint32_t i = 0; i < f->rows; i++)
		if (f->partition[i] == SL_NONE)		/* a policy said so */
			expect(t, f->job[i], f->start_time[i], (struct sl_range) { 0, 0 }, true);
	for (uint32_t i = 0; i < r->rows; i++)
		expect(t, r->job[i], r->start_time[i], r->places[i], r->native[i]);
	for (uint32_t i = 0; i < f->rows; i++)
		expect(t, f->job[i], f->start_time[i], f->places[i], f->native[i]);
	return true;
}

/* A line of waiting jobs: those of one partition, or of one reservation that they ask for. */
struct line {
	uint32_t partition, reservation;	/* partition row; the string of the reservation's name, 0: none */
	bool led;				/* its first job is known */
};

/* -- who is the next in line ----------------------------------------------------- */

/* The line that the job stands in; NULL without memory.  There are few lines, so they are searched one after the other. */
static struct line *find_line(struct line **lines, uint32_t *count, const struct sl_job_view *job, uint32_t row)
{
	struct line *more;

	for (uint32_t i = 0; i < *count; i++)
		if ((*lines)[i].partition == job->partition[row] && (*lines)[i].reservation == job->reservation[row])
			return &(*lines)[i];
	more = realloc(*lines, (*count + 1) * sizeof(**lines));
	if (!more)
		return NULL;
	*lines = more;
	more[*count] = (struct line) { job->partition[row], job->reservation[row], false };
	return &more[(*count)++];
}

/*
 * In each partition or reservation Slurm's main scheduler gives the reason Resources to the first job that it cannot start,
 * and Priority to those behind it (_schedule()).  Here the first is the job with the first reservation of the plan or, if
 * there is none, the first one of the queue that waits for resources.
 */
static void find_next(struct told *t)
{
	const struct sl_plan_image *plan = t->m->plan;
	const struct sl_job_view *job = &t->m->c->snap.job;
	struct line *lines = NULL, *line;
	uint32_t count = 0, reserved = plan->reserve.rows;

	for (uint32_t i = 0; i < reserved + plan->pending.rows; i++) {
		uint32_t row = sl_collect_row(t->m->c, i < reserved ? plan->reserve.job[i] : plan->pending.job[i - reserved]);

		if (row == SL_NONE || t->next[row] || (i >= reserved && plan->pending.why[i - reserved] != SL_WHY_RESOURCES))
			continue;
		line = find_line(&lines, &count, job, row);
		if (!line)
			break;
		/* the components of a heterogeneous job are first together */
		t->next[row] = !line->led || job->het_job_id[row] != SL_NONE;
		line->led = true;
	}
	free(lines);
}

/* Slurm's reason for the engine's. */
static uint32_t reason_of(const struct told *t, uint32_t why, uint32_t row)
{
	return why == SL_WHY_RESOURCES && row != SL_NONE && !t->next[row] ? WAIT_PRIORITY : words[why];
}

static void forget_expected(struct told *t)
{
	free(t->next);
	for (uint32_t i = 0; t->expected && i < t->count; i++)
		free(t->expected[i].nodes);
	free(t->expected);
	free(t->of);
}

/* The text for a job with a held place: how many jobs are being stopped for it.  NULL if there are none. */
static char *describe_stops(const struct sl_commit *m, uint32_t job)
{
	const struct sl_held *h = sl_held_find(m->held, job);

	if (!h || !h->left)
		return NULL;
	return xstrdup_printf("%s, waits for %u job%s that %s being stopped for it", sl_reason_string(WAIT_RESOURCES), h->left,
			      h->left == 1 ? "" : "s", h->left == 1 ? "is" : "are");
}

/* -- telling ------------------------------------------------------------------- */

static bool tell_pending(struct told *t, uint32_t i)
{
	const struct sl_plan_image *plan = t->m->plan;
	uint32_t job_id = plan->pending.job[i], why = plan->pending.why[i], row = sl_collect_row(t->m->c, job_id);
	struct expected none = { 0 }, *e = row != SL_NONE && t->of[row] ? &t->expected[t->of[row] - 1] : &none;
	job_record_t *job = find_waiting(t->m, job_id);
	char *stops = job ? describe_stops(t->m, job_id) : NULL;

	e->told = true;
	if (stops)
		return set_reason(job, WAIT_RESOURCES, stops, e->start, e->nodes);
	if (!job || why == SL_WHY_NONE)
		return false;
	return set_reason(job, reason_of(t, why, row), describe(t->m, why, sl_image_str(&plan->image, plan->pending.text[i])),
			  e->start, e->nodes);
}

/* A job of which the plan only says when it starts: it waits for resources. */
static bool tell_expected(struct told *t, uint32_t i)
{
	const struct expected *e = &t->expected[i];
	uint32_t row = sl_collect_row(t->m->c, e->job);
	job_record_t *job = e->told || failed_start(t->m, e->job) ? NULL : find_waiting(t->m, e->job);

	char *stops = job ? describe_stops(t->m, e->job) : NULL;

	return job && set_reason(job, stops ? WAIT_RESOURCES : reason_of(t, SL_WHY_RESOURCES, row), stops, e->start, e->nodes);
}

static bool tell_failed(struct told *t, uint32_t i)
{
	const struct sl_carried *c = &t->m->carried[i];
	bool refused = c->fate == SL_FATE_SELECT || c->fate == SL_FATE_LIMIT;
	job_record_t *job = refused ? find_waiting(t->m, c->job) : NULL;
	char text[200];

	/* limits, reservations and the like have set a reason, which stays */
	if (!job || (job->state_reason != WAIT_NO_REASON && job->state_reason != WAIT_RESOURCES &&
		     job->state_reason != WAIT_PRIORITY))
		return false;
	snprintf(text, sizeof(text), "planned, but not started: %s", c->text);
	return set_reason(job, job->state_reason == WAIT_PRIORITY ? WAIT_PRIORITY : WAIT_RESOURCES,
			  describe(t->m, SL_WHY_RESOURCES, text), 0, NULL);
}

/* Tell the user of job number *i*.  Numbers: first the pending jobs, then those with an expected start, then those whose
 * start failed. */
static bool tell_one(struct told *t, uint32_t i)
{
	uint32_t pending = t->m->plan->pending.rows;

	if (i < pending)
		return tell_pending(t, i);
	if (i < pending + t->count)
		return tell_expected(t, i - pending);
	return tell_failed(t, i - pending - t->count);
}

/* Have burst buffers filled for the jobs that start next.  Slurm takes them in the order of the expected starts, which
 * have just been set, as far as there is room. */
static void stage_in(struct sl_commit *m)
{
	slurmctld_lock_t locks = SL_COMMIT_LOCKS;
	const struct sl_job_view *job = &m->c->snap.job;
	uint32_t j = 0;

	while (j < job->rows && !(job->state[j] == SL_JOB_PENDING && job->asks[j] & SL_ASKS_BURST_BUFFER))
		j++;
	if (j == job->rows || atomic_load(m->stop))
		return;
	lock_slurmctld(locks);
	bb_g_job_try_stage_in();
	unlock_slurmctld(locks);
}

void sl_commit_reasons(struct sl_commit *m)
{
	struct told t = { .m = m };
	uint32_t i = 0, n = m->plan->pending.rows + m->plan->start.rows;

	if (!read_expected(&t)) {
		forget_expected(&t);
		return;
	}
	find_next(&t);
	n += t.count;
	while (i < n && !atomic_load(m->stop)) {
		bool changed = false;
		struct sl_hold h;

		sl_hold_take_brief(&h, m, (slurmctld_lock_t) { .conf = READ_LOCK, .job = WRITE_LOCK });
		for (; i < n && sl_hold_lasts(&h); i++)
			changed |= tell_one(&t, i);
		if (changed)
			last_job_update = time(NULL);
		sl_hold_leave(&h);
	}
	forget_expected(&t);
	sl_planned_mark(m);
	stage_in(m);
}
