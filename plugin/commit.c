/* SPDX-License-Identifier: GPL-2.0-or-later */
/* commit.c - a plan, in batches; see commit.h */
#include "launch.h"
#include "start.h"

/* Jobs that select is asked about in a cycle because they may preempt others. */
#define MAX_PREEMPT_TRIES 20

/*
 * Before a job is started as something else than it asked for, what it asked for is
 * on disk.  Others than those may be started so, too (a limit that changed a moment
 * ago): they are noted after the start.
 */
static void note_requests(struct sl_commit *m)
{
	slurmctld_lock_t locks = { .job = READ_LOCK };
	const struct sl_plan_start_view *v = &m->plan->start;
	const struct sl_snapshot *snap = &m->c->snap;
	uint32_t i, row;
	bool locked = false;

	for (i = 0; i < v->rows; i++) {
		job_record_t *job;

		row = sl_collect_row(m->c, v->job[i]);
		if (row == SL_NONE || (!v->shape[i] && !snap->job.time_min[row] && !snap->job.deadline[row]))
			continue;
		if (!locked)
			lock_slurmctld(locks);
		locked = true;
		if ((job = find_job_record(v->job[i])) && sl_job_sane(job) && IS_JOB_PENDING(job))
			sl_asked_add(m->asked, job);
	}
	if (locked) {
		unlock_slurmctld(locks);
		sl_commit_save(m);
	}
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

static bool array_record(const struct sl_commit *m, uint32_t job_id)
{
	uint32_t row = sl_collect_row(m->c, job_id);

	return row != SL_NONE && m->c->snap.job.array_pending[row];
}

static void run_one(struct sl_commit *m, uint32_t i, struct sl_cores *cores)
{
	const struct sl_plan_start_view *v = &m->plan->start;
	struct sl_start s = { .m = m, .job_id = v->job[i], .partition = v->partition[i], .stamp = v->stamp[i],
			   .time_limit = v->time_limit[i], .places = v->places[i], .shape = v->shape[i],
			   .native = v->native[i], .text = m->text[i], .through = v->through[i],
			   .lenders = v->lenders[i] };
	uint32_t k;
	bool ok;

	/* rows of one array come one after the other more often than not */
	for (k = i; array_record(m, s.job_id) && k-- && !s.again; )
		s.again = m->plan->start.job[k] == s.job_id && m->outcome[k].done;
	ok = sl_start_try(&s, cores);
	sl_start_count(&s, ok);
	m->outcome[i] = (struct sl_outcome) { s.job_id, ok, ok ? "" : m->text[i] };
	if (!ok)
		debug("sched/lua: JobId=%u not started: %s", s.job_id, m->text[i]);
	xfree(s.place);
}

/* The records are still those of the snapshot: same configuration, same nodes. */
static bool same_world(const struct sl_commit *m)
{
	return slurm_conf.last_update == m->c->conf_update && node_record_count == m->c->node_count &&
		!slurmctld_config.shutdown_time;
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
	}
}

/* One hold of the locks; returns the first decision not looked at yet. */
static uint32_t run_batch(struct sl_commit *m, uint32_t from)
{
	slurmctld_lock_t locks = SL_COMMIT_LOCKS;
	struct sl_cores cores = { 0 };
	uint64_t t0, end, at, longest = 0;
	uint32_t i = from, starts = m->plan->start.rows;
	const char *why;

	lock_slurmctld(locks);
	t0 = sl_clock_us();
	end = t0 + (uint64_t) (m->batch_ms * 1000);
	if (!same_world(m)) {
		fail_rest(m, from, "the configuration changed meanwhile");
		i = m->outcomes;
	}
	/* one that takes as long as the longest so far must still fit */
	for (; i < m->outcomes && (i == from || sl_clock_us() + longest < end); i++) {
		if (i < starts) {
			at = sl_clock_us();
			run_one(m, i, &cores);
			at = sl_clock_us() - at;
			longest = MAX(longest, at);
			if (m->outcome[i].done)
				sl_times_add(&m->status->start, at);
			continue;
		}
		why = sl_commit_action(m, i - starts);
		m->outcome[i] = (struct sl_outcome) { m->plan->action.job[i - starts], !why, why ? why : "" };
		m->status->actions++;
		m->status->actions_failed += why != NULL;
	}
	sl_cores_clear(&cores);
	if (i == m->outcomes && sl_clock_us() < end)
		sl_launch_some(m, end);
	sl_times_add(&m->status->commit_hold, sl_clock_us() - t0);
	unlock_slurmctld(locks);
	return i;
}

/*
 * Jobs that may preempt others: the engine sees what they could take as in use
 * and lets them wait, so select is asked, in queue order.  It preempts and says
 * "busy" until the nodes are free.
 */
static uint32_t preempt_batch(struct sl_commit *m, uint32_t from, uint32_t *tries)
{
	slurmctld_lock_t locks = SL_COMMIT_LOCKS;
	const struct sl_snapshot *snap = &m->c->snap;
	struct sl_cores cores = { 0 };
	char text[160];
	uint64_t t0, end;
	uint32_t q = from;

	lock_slurmctld(locks);
	t0 = sl_clock_us();
	end = t0 + (uint64_t) (m->batch_ms * 1000);
	for (; q < snap->queue.rows && *tries && same_world(m) && sl_clock_us() < end; q++) {
		uint32_t row = snap->queue.job[q];
		struct sl_start s = { .m = m, .job_id = snap->job.id[row], .partition = snap->queue.partition[q],
				   .stamp = snap->job.stamp[row], .native = true, .text = text,
				   .through = SL_NONE };
		job_record_t *job = find_job_record(s.job_id);

		if (strncmp(sl_snapshot_str(snap, snap->job.native[row]), "preemption", 10) || !job || !IS_JOB_PENDING(job))
			continue;
		--*tries;
		if (sl_start_try(&s, &cores)) {
			m->started++;
			m->status->starts++;
			m->status->native_starts++;
		}
		xfree(s.place);
	}
	if (!same_world(m))
		q = snap->queue.rows;
	sl_cores_clear(&cores);
	sl_times_add(&m->status->commit_hold, sl_clock_us() - t0);
	unlock_slurmctld(locks);
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
	xfree(m->launch);
}
