/* SPDX-License-Identifier: GPL-2.0-or-later */
/* commit.c - a plan, in batches; see commit.h */
#include "plugin/commit/launch.h"
#include "plugin/commit/start.h"

/* Jobs that select is asked about in a cycle because they may preempt others. */
#define MAX_PREEMPT_TRIES 20

/* -- holding the locks ------------------------------------------------------- */

void sl_hold_take(struct sl_hold *h, struct sl_commit *m, slurmctld_lock_t locks)
{
	*h = (struct sl_hold) { .m = m, .locks = locks };
	lock_slurmctld(locks);
	h->since = sl_clock_us();
}

bool sl_hold_lasts(struct sl_hold *h)
{
	uint64_t now = sl_clock_us();
	bool first = !h->step;

	if (!first)
		h->longest = MAX(h->longest, now - h->step);
	h->step = now;
	if (atomic_load(h->m->stop))
		return false;
	return first || now + h->longest < h->since + (uint64_t) (h->m->batch_ms * 1000);
}

void sl_hold_leave(struct sl_hold *h)
{
	sl_times_add(&h->m->status->commit_hold, sl_clock_us() - h->since);
	unlock_slurmctld(h->locks);
}

bool sl_commit_same_world(const struct sl_commit *m)
{
	return slurm_conf.last_update == m->c->conf_update && node_record_count == m->c->node_count &&
		!slurmctld_config.shutdown_time;
}

/* -- starts and orders -------------------------------------------------------- */

/* Is the job of that start to run as something else than it asked for? */
static bool is_altered(const struct sl_commit *m, uint32_t i)
{
	const struct sl_plan_start_view *v = &m->plan->start;
	const struct sl_job_view *job = &m->c->snap.job;
	uint32_t row = sl_collect_row(m->c, v->job[i]);

	return row != SL_NONE && (v->shape[i] || job->time_min[row] || job->deadline[row]);
}

static void note_request(struct sl_commit *m, uint32_t i)
{
	job_record_t *job = is_altered(m, i) ? find_job_record(m->plan->start.job[i]) : NULL;

	if (job && sl_job_sane(job) && IS_JOB_PENDING(job))
		sl_asked_add(m->asked, job);
}

/*
 * Before a job is started as something else than it asked for, what it asked for is
 * on disk.  Others than those may be started so, too (a limit that changed a moment
 * ago): they are noted after the start.
 */
static void note_requests(struct sl_commit *m)
{
	uint32_t i = 0, starts = m->plan->start.rows;
	bool noted = false;

	while (!atomic_load(m->stop)) {
		struct sl_hold h;

		while (i < starts && !is_altered(m, i))
			i++;
		if (i == starts)
			break;
		sl_hold_take(&h, m, (slurmctld_lock_t) { .job = READ_LOCK });
		for (; i < starts && sl_hold_lasts(&h); i++)
			note_request(m, i);
		sl_hold_leave(&h);
		noted = true;
	}
	if (noted)
		sl_commit_save(m);
}

void sl_commit_save(struct sl_commit *m)
{
	struct sl_error err = { SL_OK, "" };

	if (!sl_asked_save(m->asked, &err))
		return;
	if (sl_status_trouble(m->status, SL_TROUBLE_REQUESTS, err.text))
		error("sched/lua: %s: what jobs that run as something else asked for is forgotten with slurmctld",
		      err.text);
}

static void note_fate(struct sl_commit *m, uint32_t job_id, uint8_t fate)
{
	uint32_t row = sl_collect_row(m->c, job_id);

	if (row != SL_NONE)
		m->fate[row] |= fate;
}

/* A task of that array was started by an earlier row. */
static bool is_again(const struct sl_commit *m, uint32_t job_id)
{
	uint32_t row = sl_collect_row(m->c, job_id);

	return row != SL_NONE && m->c->snap.job.array_pending[row] && m->fate[row] & SL_FATE_STARTED;
}

static void run_one(struct sl_commit *m, uint32_t i, struct sl_cores *cores)
{
	const struct sl_plan_start_view *v = &m->plan->start;
	struct sl_start s = { .m = m, .job_id = v->job[i], .partition = v->partition[i], .stamp = v->stamp[i],
			   .time_limit = v->time_limit[i], .places = v->places[i], .shape = v->shape[i],
			   .native = v->native[i], .text = m->text[i], .through = v->through[i],
			   .lenders = v->lenders[i], .again = is_again(m, v->job[i]) };
	bool ok = sl_start_try(&s, cores);

	sl_start_count(&s, ok);
	note_fate(m, s.job_id, ok ? SL_FATE_STARTED : SL_FATE_FAILED);
	m->outcome[i] = (struct sl_outcome) { s.job_id, ok, ok ? "" : m->text[i] };
	if (!ok)
		debug("sched/lua: JobId=%u not started: %s", s.job_id, m->text[i]);
	xfree(s.place);
}

static void fail_rest(struct sl_commit *m, uint32_t from, const char *why)
{
	uint32_t i;

	for (i = from; i < m->outcomes; i++) {
		m->outcome[i].job = i < m->plan->start.rows ? m->plan->start.job[i] :
			m->plan->action.job[i - m->plan->start.rows];
		m->outcome[i].done = false;
		m->outcome[i].text = why;
		m->status->stale++;
		if (i < m->plan->start.rows)
			note_fate(m, m->outcome[i].job, SL_FATE_FAILED);
	}
}

static void order_one(struct sl_commit *m, uint32_t i)
{
	uint32_t action = i - m->plan->start.rows;
	const char *why = sl_commit_action(m, action);

	m->outcome[i] = (struct sl_outcome) { m->plan->action.job[action], !why, why ? why : "" };
	m->status->actions++;
	m->status->actions_failed += why != NULL;
}

/* One hold of the locks; returns the first decision not looked at yet. */
static uint32_t run_batch(struct sl_commit *m, uint32_t from)
{
	struct sl_cores cores = { 0 };
	struct sl_hold h;
	uint32_t i = from;

	sl_hold_take(&h, m, (slurmctld_lock_t) SL_COMMIT_LOCKS);
	if (!sl_commit_same_world(m)) {
		fail_rest(m, from, "the configuration changed meanwhile");
		i = m->outcomes;
	}
	for (; i < m->outcomes && sl_hold_lasts(&h); i++) {
		if (i >= m->plan->start.rows) {
			order_one(m, i);
			continue;
		}
		run_one(m, i, &cores);
		if (m->outcome[i].done)
			sl_times_add(&m->status->start, sl_clock_us() - h.step);
	}
	sl_cores_clear(&cores);
	if (i == m->outcomes && sl_hold_lasts(&h))
		sl_launch_some(m, h.since + (uint64_t) (m->batch_ms * 1000));
	sl_hold_leave(&h);
	return i;
}

/*
 * Jobs that may preempt others: the engine sees what they could take as in use
 * and lets them wait, so select is asked, in queue order.  It preempts and says
 * "busy" until the nodes are free.
 */
static void preempt_one(struct sl_commit *m, uint32_t q, struct sl_cores *cores, uint32_t *tries)
{
	const struct sl_snapshot *snap = &m->c->snap;
	uint32_t row = snap->queue.job[q];
	char text[160];
	struct sl_start s = { .m = m, .job_id = snap->job.id[row], .partition = snap->queue.partition[q],
			   .stamp = snap->job.stamp[row], .native = true, .text = text, .through = SL_NONE };
	job_record_t *job;

	if (strncmp(sl_snapshot_str(snap, snap->job.native[row]), "preemption", 10) ||
	    !(job = find_job_record(s.job_id)) || !IS_JOB_PENDING(job))
		return;
	--*tries;
	if (sl_start_try(&s, cores)) {
		m->started++;
		m->status->starts++;
		m->status->native_starts++;
	}
	xfree(s.place);
}

static uint32_t preempt_batch(struct sl_commit *m, uint32_t from, uint32_t *tries)
{
	struct sl_cores cores = { 0 };
	struct sl_hold h;
	uint32_t q = from;

	sl_hold_take(&h, m, (slurmctld_lock_t) SL_COMMIT_LOCKS);
	for (; q < m->c->snap.queue.rows && *tries && sl_commit_same_world(m) && sl_hold_lasts(&h); q++)
		preempt_one(m, q, &cores, tries);
	if (!sl_commit_same_world(m))
		q = m->c->snap.queue.rows;
	sl_cores_clear(&cores);
	sl_hold_leave(&h);
	return q;
}

static void run_preempting(struct sl_commit *m)
{
	uint32_t q = 0, tries = MAX_PREEMPT_TRIES;

	while (m->c->preempts && q < m->c->snap.queue.rows && tries && !atomic_load(m->stop))
		q = preempt_batch(m, q, &tries);
}

void sl_commit_run(struct sl_commit *m)
{
	uint32_t i = 0;

	m->outcomes = m->plan->start.rows + m->plan->action.rows;
	m->outcome = xcalloc(MAX(m->outcomes, 1), sizeof(*m->outcome));
	m->text = xcalloc(MAX(m->outcomes, 1), sizeof(*m->text));
	m->fate = xcalloc(MAX(m->c->snap.job.rows, 1), sizeof(*m->fate));
	note_requests(m);
	while (i < m->outcomes && !atomic_load(m->stop)) {
		i = run_batch(m, i);
		if (sl_launch_due(m))
			sl_launch_rest(m);
	}
	if (i < m->outcomes)
		fail_rest(m, i, "slurmctld ends");
	run_preempting(m);
	sl_commit_save(m);
	sl_launch_rest(m);
	m->changed = m->started || m->plan->action.rows;
	if (m->changed) {
		schedule_job_save();
		schedule_node_save();
	}
}

void sl_commit_free(struct sl_commit *m)
{
	xfree(m->outcome);
	xfree(m->text);
	xfree(m->fate);
	xfree(m->launch);
}
