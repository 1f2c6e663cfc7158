/* SPDX-License-Identifier: GPL-2.0-or-later */
/* commit.c - a plan, in batches; see commit.h */
#include "plugin/commit/commit.h"
#include "plugin/commit/actions.h"
#include "plugin/commit/full.h"
#include "plugin/commit/het.h"
#include "plugin/commit/finish.h"
#include "plugin/commit/hold.h"
#include "plugin/commit/launch.h"
#include "plugin/commit/room.h"
#include "plugin/commit/start.h"
#include "plugin/commit/stop.h"
#include "plugin/commit/strayed.h"

/* -- what jobs asked for ------------------------------------------------------- */

/* Is that start to give the job another shape, or a shorter time limit, than it asked for? */
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
 * Write the requests of jobs that are to start with another shape or time limit to disk before they start.  A job may get
 * another limit without is_altered(), for example because a limit of its partition has just changed: its request is noted
 * after the start (note_altered()).
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

/* -- starts and actions ------------------------------------------------------- */

static void mark_job(struct sl_commit *m, uint32_t job_id, uint8_t mark)
{
	uint32_t row = sl_collect_row(m->c, job_id);

	if (row != SL_NONE)
		m->marks[row] |= mark;
}

/* True if an earlier row of the plan has started a task of the same array. */
static bool is_again(const struct sl_commit *m, uint32_t job_id)
{
	uint32_t row = sl_collect_row(m->c, job_id);

	return row != SL_NONE && m->c->snap.job.array_pending[row] && m->marks[row] & SL_MARK_STARTED;
}

static struct sl_start planned_start(struct sl_commit *m, uint32_t i)
{
	const struct sl_plan_start_view *v = &m->plan->start;

	return (struct sl_start) { .m = m, .job_id = v->job[i], .partition = v->partition[i], .stamp = v->stamp[i],
			   .time_limit = v->time_limit[i], .places = v->places[i], .shape = v->shape[i],
			   .native = v->native[i], .dealt = v->dealt[i], .resv = v->reservation[i], .behind = v->behind[i],
			   .blocks = v->blocks[i], .expected = v->expected[i],
			   .text = m->text[i], .through = v->through[i], .lenders = v->lenders[i],
			   .again = is_again(m, v->job[i]), .row = SL_NONE };
}

static void start_ended(struct sl_commit *m, uint32_t i, struct sl_start *s)
{
	bool ok = s->fate == SL_FATE_DONE;

	sl_start_count(s);
	mark_job(m, s->job_id, ok ? SL_MARK_STARTED : SL_MARK_FAILED);
	m->carried[i] = (struct sl_carried) { s->job_id, s->fate, ok ? "" : m->text[i] };
	if (ok && !sl_hold_started(m, s->job_id, s->job))
		sl_room_take(m, s->places);
	if (!ok)
		debug("sched/lua: JobId=%u not started: %s", s->job_id, m->text[i]);
	xfree(s->place);
	FREE_NULL_BITMAP(s->keep_off);
}

static void start_one(struct sl_commit *m, uint32_t i, struct sl_cores *cores)
{
	struct sl_start s = planned_start(m, i);

	sl_start_run(&s, cores);
	start_ended(m, i, &s);
}

/* Start the components of a heterogeneous job, *count* rows of the plan from row *i* on.  If one of them fails, those before it
 * are taken back. */
static void start_het(struct sl_commit *m, uint32_t i, uint32_t count, struct sl_cores *cores)
{
	struct sl_start *s = xcalloc(count, sizeof(*s));
	uint32_t k, done = 0;
	bool ready;

	for (k = 0; k < count; k++)
		s[k] = planned_start(m, i + k);
	ready = sl_het_ready(s, count);
	while (ready && done < count && sl_start_run(&s[done], cores))
		done++;
	for (k = 0; ready && k < count && done < count; k++) {
		if (k < done)
			sl_het_take_back(s[k].job);
		if (k == done)
			continue;
		s[k].fate = SL_FATE_CHANGED;
		snprintf(m->text[i + k], sizeof(m->text[i + k]), "component JobId=%u did not start", s[done].job_id);
	}
	for (k = 0; k < count; k++)
		start_ended(m, i + k, &s[k]);
	xfree(s);
}

static void act_one(struct sl_commit *m, uint32_t i)
{
	uint32_t action = i - m->plan->start.rows;
	const char *why;
	enum sl_fate fate = sl_commit_action(m, action, &why);

	if (fate == SL_FATE_DONE)
		mark_job(m, m->plan->action.job[action], SL_MARK_ACTED);
	m->carried[i] = (struct sl_carried) { m->plan->action.job[action], fate, why ? why : "" };
	m->status->actions++;
	m->status->actions_failed += fate != SL_FATE_DONE;
}

/* Mark the decisions from *from* on as not carried out. */
static void stop_at(struct sl_commit *m, uint32_t from, const char *why)
{
	const struct sl_plan_image *plan = m->plan;
	uint32_t i;

	m->cut_short = true;
	for (i = from; i < m->decisions; i++) {
		bool start = i < plan->start.rows;
		uint32_t job_id = start ? plan->start.job[i] : plan->action.job[i - plan->start.rows];

		m->carried[i] = (struct sl_carried) { job_id, SL_FATE_STOPPED, why };
		m->status->stale++;
		if (start)
			mark_job(m, job_id, SL_MARK_FAILED);
	}
}

/* Carry out decisions during one hold of the locks.  Returns the first one that is left. */
static uint32_t run_batch(struct sl_commit *m, uint32_t from)
{
	struct sl_cores cores = { 0 };
	struct sl_hold h;
	uint32_t i = from, n;

	sl_hold_take(&h, m, (slurmctld_lock_t) SL_START_LOCKS);
	if (!sl_commit_same_world(m)) {
		stop_at(m, from, "the configuration changed meanwhile");
		i = m->decisions;
	}
	for (; i < m->decisions && sl_hold_lasts(&h); i += n) {
		n = 1;
		if (i >= m->plan->start.rows) {
			act_one(m, i);
			continue;
		}
		n = sl_het_count(m, i);
		if (n > 1)
			start_het(m, i, n, &cores);
		else
			start_one(m, i, &cores);
		if (m->carried[i].fate == SL_FATE_DONE)
			sl_times_add(&m->status->start, sl_clock_us() - h.step);
	}
	sl_cores_clear(&cores);
	if (i == m->decisions && sl_hold_lasts(&h))
		sl_launch_some(m, h.since + (uint64_t) (m->batch_ms * 1000));
	sl_hold_leave(&h);
	return i;
}

/* -- jobs that may preempt others ---------------------------------------------- */

/*
 * For the engine the nodes of jobs that this one could preempt are in use, so it does not start the job; but the plan lists
 * it.  The plug-in then calls select_nodes(), which preempts jobs and says "busy" until their nodes are free; the engine sees
 * these in a later cycle.  True if the job runs already.
 */
static bool preempt_for(struct sl_commit *m, uint32_t i, struct sl_cores *cores)
{
	const struct sl_plan_preempt_view *v = &m->plan->preempt;
	char text[160];
	struct sl_start s = { .m = m, .job_id = v->job[i], .partition = v->partition[i], .stamp = v->stamp[i],
			   .native = true, .any_way = true, .behind = v->behind[i], .blocks = v->blocks[i], .text = text,
			   .through = SL_NONE };
	bool ok;

	/* victims for this job are chosen, or were told to end for it: select must not choose others */
	if (sl_held_find(m->held, s.job_id) || sl_collect_left(m->held, s.job_id, 0))
		return false;
	ok = sl_start_run(&s, cores);
	FREE_NULL_BITMAP(s.keep_off);
	if (!ok)
		return false;
	(void) sl_hold_started(m, s.job_id, s.job);
	sl_start_count(&s);
	return true;
}

/* Does that for jobs of the list during one hold of the locks.  Returns the first one that is left. */
static uint32_t preempt_batch(struct sl_commit *m, uint32_t from)
{
	uint32_t i = from, jobs = m->plan->preempt.rows;
	struct sl_cores cores = { 0 };
	struct sl_hold h;

	sl_hold_take(&h, m, (slurmctld_lock_t) SL_COMMIT_LOCKS);
	if (!sl_commit_same_world(m))
		i = jobs;
	/* the policy let each of them start alone, not one after the other: stop here, the next cycle asks it again */
	for (; i < jobs && sl_hold_lasts(&h); i++)
		if (preempt_for(m, i, &cores))
			i = jobs - 1;
	sl_cores_clear(&cores);
	sl_hold_leave(&h);
	return i;
}

static void run_preempting(struct sl_commit *m)
{
	uint32_t i = 0;

	while (i < m->plan->preempt.rows && !atomic_load(m->stop))
		i = preempt_batch(m, i);
}

/* Comes before all starts, because native starts of the same plan must keep off the places that are held. */
static void hold_and_stop(struct sl_commit *m)
{
	const char **refused = xcalloc(MAX(m->plan->hold.rows, 1), sizeof(*refused));

	sl_hold_run(m, refused);
	sl_stop_run(m, refused);
	xfree(refused);
}

void sl_commit_run(struct sl_commit *m)
{
	uint32_t i = 0, all;

	m->decisions = m->plan->start.rows + m->plan->action.rows;
	all = MAX(m->decisions + m->plan->stop.rows, 1);
	m->carried = xcalloc(all, sizeof(*m->carried));
	m->text = xcalloc(all, sizeof(*m->text));
	m->marks = xcalloc(MAX(m->c->snap.job.rows, 1), sizeof(*m->marks));
	sl_finish_stops(m);
	hold_and_stop(m);
	note_requests(m);
	while (i < m->decisions && !atomic_load(m->stop)) {
		i = run_batch(m, i);
		if (sl_launch_due(m))
			sl_launch_rest(m);
	}
	if (i < m->decisions)
		stop_at(m, i, "slurmctld ends");
	run_preempting(m);
	sl_commit_save(m);
	(void) sl_hold_save(m);
	sl_launch_rest(m);
	if (m->started || m->stopped || m->plan->action.rows) {
		schedule_job_save();
		schedule_node_save();
	}
}

void sl_commit_free(struct sl_commit *m)
{
	xfree(m->carried);
	xfree(m->text);
	xfree(m->marks);
	xfree(m->launch);
	sl_full_free(m);
	sl_hold_free(m);
	sl_room_free(m);
	sl_strayed_free(m);
}
