/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stop.c - see stop.h */
#include <stdlib.h>

#include "base/map.h"
#include "base/plain.h"
#include "plugin/commit/hold.h"
#include "plugin/commit/permit.h"
#include "plugin/commit/start.h"
#include "plugin/commit/stop.h"

/* The stops for one job: rows order[first] to order[end - 1] of the plan's stops, sorted by group. */
struct batch {
	struct sl_commit *m;
	const uint32_t *order;
	uint32_t first, end;
	uint32_t hold;			/* row of its place in the plan's holds */
	uint32_t told;			/* jobs that were told to end */
	int64_t time;			/* noted with all of these stops */
	bool first_noted;		/* no stop for this job had been noted before */
	uint32_t gang;			/* victims that gang scheduling suspends when the job starts */
	bool refused;
	char why[200];			/* why it was refused */
};

/* -- what became of a stop --------------------------------------------------------------- */

static void set_fate(struct sl_commit *m, uint32_t row, enum sl_fate fate, const char *why)
{
	uint32_t i = m->decisions + row;

	snprintf(m->text[i], sizeof(m->text[i]), "%s", why);
	m->carried[i] = (struct sl_carried) { m->plan->stop.job[row], fate, m->text[i] };
}

static bool was_told(const struct batch *b, uint32_t row);

/* Take stops from *from* on off the book, except those of jobs that have already been told to end. */
static void forget_notes(struct batch *b, uint32_t from)
{
	const struct sl_plan_stop_view *v = &b->m->plan->stop;
	struct sl_held *place = sl_held_find(b->m->held, v->preemptor[b->order[b->first]]);

	for (uint32_t i = from; i < b->end; i++)
		if (!was_told(b, b->order[i]))
			sl_held_unstop(b->m->held, v->job[b->order[i]], v->preemptor[b->order[i]], v->start_time[b->order[i]]);
	if (place && b->first_noted && !b->told)
		place->since = 0;
}

/* Refuse the stops from *from* on.  Locks held, unless nothing was noted. */
static void refuse_rest(struct batch *b, uint32_t from, enum sl_fate fate)
{
	struct sl_commit *m = b->m;
	const struct sl_plan_stop_view *v = &m->plan->stop;
	uint32_t preemptor = v->preemptor[b->order[b->first]];
	char text[sizeof(m->status->stop_refused)];

	b->refused = true;
	forget_notes(b, from);
	for (uint32_t i = from; i < b->end; i++) {
		set_fate(m, b->order[i], fate, b->why);
		m->status->stops_refused++;
	}
	snprintf(text, sizeof(text), "JobId=%u is not stopped for JobId=%u: %s", v->job[b->order[from]], preemptor, b->why);
	/* (logged once: a policy may plan the same in each cycle, perhaps with other victims) */
	if (sl_note_says(&sl_hold_note(m, preemptor)->unstopped, b->why))
		info("sched/lua: %s%s", text, b->end - from > 1 ? "; nor are others" : "");
	snprintf(m->status->stop_refused, sizeof(m->status->stop_refused), "%s", text);
}

/* -- one victim --------------------------------------------------------------------------- */

bool sl_stop_tell(job_record_t *victim, job_record_t *preemptor, uint32_t mode)
{
	slurm_job_preempt(victim, preemptor, sl_permit_mode(victim, mode), true);
	/* not by its return code, which is an error also while GraceTime passes */
	return victim->preempt_time || !IS_JOB_RUNNING(victim);
}

/* Enter the stop in the book.  Comes before the victim is told. */
static void note_stop(struct batch *b, uint32_t row, const job_record_t *victim)
{
	struct sl_commit *m = b->m;
	const struct sl_plan_stop_view *v = &m->plan->stop;
	struct sl_held *place = sl_held_find(m->held, v->preemptor[row]);
	struct sl_error err = { SL_OK, "" };
	uint32_t job = sl_collect_row(m->c, v->job[row]);
	struct sl_stopped stop = { v->job[row], v->preemptor[row], v->start_time[row], b->time,
				   (char *) (job == SL_NONE ? "" : sl_snapshot_str(&m->c->snap, m->c->snap.job.user[job])),
				   victim->part_ptr ? victim->part_ptr->name : (char *) "", v->mode[row], false };

	if (sl_held_stop(m->held, &stop, &err))
		error("sched/lua: %s", err.text);
	b->first_noted |= !place->since;
	if (!place->since)
		place->since = stop.time;
}

static void count_left(const struct batch *b)
{
	struct sl_held *place = sl_held_find(b->m->held, b->m->plan->stop.preemptor[b->order[b->first]]);

	if (place)
		place->left++;
}

/* Carry out one stop that is permitted.  A component stands for its whole heterogeneous job. */
static void stop_row(struct batch *b, uint32_t row, job_record_t *preemptor)
{
	struct sl_commit *m = b->m;
	const struct sl_plan_stop_view *v = &m->plan->stop;
	job_record_t *victim = sl_permit_leader(find_job_record(v->job[row]));
	char *by;

	if (victim->preempt_time || !IS_JOB_RUNNING(victim)) {	/* stopped just now, with another component */
		count_left(b);
		set_fate(m, row, SL_FATE_DONE, "");
		return;
	}
	by = sl_plain(xstrdup(sl_image_str(&m->plan->image, v->by[row])));
	info("sched/lua: policy %s: %pJ is %s for %pJ", by, victim, v->moves[row] ? "moved" : "stopped", preemptor);
	xfree(by);
	if (!sl_stop_tell(victim, preemptor, v->mode[row])) {
		set_fate(m, row, SL_FATE_ACTION, "slurmctld did not stop it");
		m->status->stops_refused++;
		sl_held_unstop(m->held, v->job[row], v->preemptor[row], v->start_time[row]);
		return;
	}
	count_left(b);
	set_fate(m, row, SL_FATE_DONE, "");
	m->status->stops++;
	m->status->moves += v->moves[row] != 0;
	b->told++;
}

/* -- all victims of a job ---------------------------------------------------------------- */

/* True if order[i] is the first row of its group. */
static bool is_group_begin(const struct batch *b, uint32_t i)
{
	const struct sl_plan_stop_view *v = &b->m->plan->stop;

	return i == b->first || v->group[b->order[i]] != v->group[b->order[i - 1]];
}

static uint32_t group_end(const struct batch *b, uint32_t i)
{
	do
		i++;
	while (i < b->end && !is_group_begin(b, i));
	return i;
}

static bool refuse(struct batch *b, uint32_t row, const char *why)
{
	snprintf(b->why, sizeof(b->why), "JobId=%u: %s", b->m->plan->stop.job[row], why);
	return false;
}

/* True if the victim has already been told to end for that job, by an earlier plan. */
static bool was_told(const struct batch *b, uint32_t row)
{
	const struct sl_plan_stop_view *v = &b->m->plan->stop;
	const struct sl_stopped *s = sl_held_stopped(b->m->held, v->job[row], v->start_time[row]);
	job_record_t *job = find_job_record(v->job[row]);

	return s && s->preemptor == v->preemptor[row] && job && job->start_time == v->start_time[row] &&
		sl_permit_leader(job)->preempt_time;
}

/* True if each victim of the group may be stopped, or if the group's only victim has ended by itself. */
static bool may_stop_group(struct batch *b, struct sl_permit *p, uint32_t from, uint32_t end)
{
	const struct sl_plan_stop_view *v = &b->m->plan->stop;

	for (uint32_t i = from; i < end; i++) {
		uint32_t row = b->order[i];
		const char *why = sl_permit_refused(p, v->job[row], v->start_time[row], v->mode[row]);

		if (why && !was_told(b, row) && (why != sl_permit_ended || end - from > 1))
			return refuse(b, row, why);
	}
	return true;
}

/* The victim has ended by itself: its stop is taken off the book. */
static void find_ended(struct batch *b, uint32_t row)
{
	const struct sl_plan_stop_view *v = &b->m->plan->stop;

	sl_held_unstop(b->m->held, v->job[row], v->preemptor[row], v->start_time[row]);
	set_fate(b->m, row, SL_FATE_CHANGED, sl_permit_ended);
}

static void stop_group(struct batch *b, struct sl_permit *p, uint32_t from, uint32_t end)
{
	const struct sl_plan_stop_view *v = &b->m->plan->stop;

	for (uint32_t i = from; i < end; i++) {
		uint32_t row = b->order[i];

		if (was_told(b, row))
			set_fate(b->m, row, SL_FATE_DONE, "");
		else if (sl_permit_refused(p, v->job[row], v->start_time[row], v->mode[row]) == sl_permit_ended)
			find_ended(b, row);
		else if (sl_permit_is_gang(find_job_record(v->job[row])))
			b->gang++;
		else
			stop_row(b, row, p->preemptor);
	}
}

/* True if all of them may be stopped. */
static bool may_stop_all(struct batch *b, struct sl_permit *p)
{
	for (uint32_t i = b->first, end; i < b->end; i = end) {
		end = group_end(b, i);
		if (!may_stop_group(b, p, i, end))
			return false;
	}
	return true;
}

static bool find_preemptor(struct batch *b, struct sl_permit *p)
{
	struct sl_commit *m = b->m;
	const struct sl_held *place = sl_held_find(m->held, m->plan->stop.preemptor[b->order[b->first]]);
	const char *why = place ? sl_permit_begin(p, m->c, place->job, place->stamp, place->partition) :
		"no place is held for it";

	if (why)
		snprintf(b->why, sizeof(b->why), "%s", why);
	if (why == sl_permit_limited)	/* when the limit permits it the job is in the queue again */
		sl_hold_note(m, place->job)->limited = true;
	return !why;
}

/* Enter in the book all victims that have to be told.  Locks held. */
static void note_all(struct batch *b, struct sl_permit *p)
{
	const struct sl_plan_stop_view *v = &b->m->plan->stop;

	for (uint32_t i = b->first; i < b->end; i++) {
		uint32_t row = b->order[i];
		job_record_t *job = find_job_record(v->job[row]);

		if (!was_told(b, row) && !sl_permit_refused(p, v->job[row], v->start_time[row], v->mode[row]) && !sl_permit_is_gang(job))
			note_stop(b, row, job);
	}
}

static bool may_begin(struct batch *b, struct sl_permit *p)
{
	snprintf(b->why, sizeof(b->why), "slurmctld ends, or has another configuration");
	return sl_commit_same_world(b->m) && find_preemptor(b, p);
}

/* Enter all stops in the book if all may be carried out; else refuse them all. */
static void prepare(struct batch *b)
{
	struct sl_permit p = { 0 };
	struct sl_hold h;

	sl_hold_take(&h, b->m, (slurmctld_lock_t) SL_COMMIT_LOCKS);
	b->time = time(NULL);
	if (may_begin(b, &p) && may_stop_all(b, &p))
		note_all(b, &p);
	else
		refuse_rest(b, b->first, SL_FATE_UNFIT);
	sl_permit_end(&p);
	sl_hold_leave(&h);
}

/* Carry out the stops of some groups during one hold of the locks.  Returns the first row that is left. */
static uint32_t run_some(struct batch *b, uint32_t from)
{
	struct sl_permit p = { 0 };
	struct sl_hold h;
	uint32_t i = from, end;

	sl_hold_take(&h, b->m, (slurmctld_lock_t) SL_COMMIT_LOCKS);
	if (!may_begin(b, &p) || (from == b->first && !may_stop_all(b, &p))) {
		refuse_rest(b, from, SL_FATE_UNFIT);
		i = b->end;
	}
	for (; i < b->end && sl_hold_lasts(&h); i = end) {
		end = group_end(b, i);
		if (i != b->first && !may_stop_group(b, &p, i, end)) {
			refuse_rest(b, i, SL_FATE_UNFIT);
			i = b->end;
			break;
		}
		stop_group(b, &p, i, end);
	}
	if (b->told)
		last_job_update = time(NULL);
	sl_permit_end(&p);
	sl_hold_leave(&h);
	return i;
}

/* Refuse the stops from *from* on.  Takes the locks. */
static void refuse_now(struct batch *b, uint32_t from, enum sl_fate fate, const char *why)
{
	slurmctld_lock_t locks = SL_COMMIT_LOCKS;

	snprintf(b->why, sizeof(b->why), "%s", why);
	lock_slurmctld(locks);
	refuse_rest(b, from, fate);
	unlock_slurmctld(locks);
}

/* -- victims that gang scheduling suspends -------------------------------------------------- */

/* True if the victims of the batch include the job with that leader. */
static bool is_in_batch(uint32_t leader, void *arg)
{
	const struct batch *b = arg;

	for (uint32_t i = b->first; i < b->end; i++) {
		const job_record_t *job = sl_permit_leader(find_job_record(b->m->plan->stop.job[b->order[i]]));

		if (job && job->job_id == leader)
			return true;
	}
	return false;
}

/* True if no job on those nodes, except the victims, can be preempted for the job. */
static bool is_theirs_alone(struct batch *b, const bitstr_t *nodes)
{
	struct sl_permit p = { 0 };
	bool ok = find_preemptor(b, &p);
	uint32_t other = ok ? sl_permit_other(&p, nodes, is_in_batch, b) : 0;

	if (other)
		snprintf(b->why, sizeof(b->why), "JobId=%u on its nodes could be preempted instead", other);
	sl_permit_end(&p);
	return ok && !other;
}

/* Let select start the job on those nodes and no others.  Locks held. */
static bool put_beside(struct batch *b, struct sl_start *s, const bitstr_t *nodes)
{
	struct sl_cores cores = { 0 };
	bool ok;

	s->keep_off = bit_copy((bitstr_t *) nodes);
	bit_not(s->keep_off);
	ok = sl_start_run(s, &cores);
	if (ok)
		(void) sl_hold_started(b->m, s->job_id, s->job);
	sl_start_count(s);
	sl_cores_clear(&cores);
	FREE_NULL_BITMAP(s->keep_off);
	return ok;
}

/*
 * Start the job beside its victims, on the nodes of its place and no others: gang scheduling suspends them at that moment,
 * and tells them nothing before.  If select could preempt other jobs on these nodes it is unknown whom it would take, and the
 * job is not started.
 */
static bool start_beside(struct batch *b)
{
	struct sl_commit *m = b->m;
	const struct sl_plan_hold_view *v = &m->plan->hold;
	uint32_t job = v->job[b->hold], part = SL_NONE;
	struct sl_hold h;
	struct sl_start s;
	const bitstr_t *nodes;
	bool ok;

	for (uint32_t i = 0; i < m->plan->reserve.rows; i++)
		if (m->plan->reserve.job[i] == job)
			part = m->plan->reserve.partition[i];
	s = (struct sl_start) { .m = m, .job_id = job, .partition = part, .stamp = v->stamp[b->hold], .native = true, .any_way = true,
				.text = b->why, .through = SL_NONE };
	sl_hold_take(&h, m, (slurmctld_lock_t) SL_COMMIT_LOCKS);
	ok = sl_commit_same_world(m) && (nodes = sl_hold_nodes(m, job)) && is_theirs_alone(b, nodes) && put_beside(b, &s, nodes);
	sl_hold_leave(&h);
	return ok;
}

static void end_gang(struct batch *b, bool now)
{
	bool ok;

	snprintf(b->why, sizeof(b->why), "it is suspended when the others have ended");
	ok = now && start_beside(b);
	b->refused |= now && !ok;

	for (uint32_t i = b->first; i < b->end; i++) {
		uint32_t row = b->order[i];

		if (b->m->carried[b->m->decisions + row].job)
			continue;
		set_fate(b->m, row, ok ? SL_FATE_DONE : now ? SL_FATE_SELECT : SL_FATE_CHANGED, ok ? "" : b->why);
		b->m->status->stops += ok;
		b->m->status->stops_refused += now && !ok;
	}
}

/* -- all of it --------------------------------------------------------------------------------- */

/* *saved: the book, with the stops of prepare(), has been written to disk. */
static void run_batch(struct batch *b, bool saved)
{
	struct sl_commit *m = b->m;
	uint32_t preemptor = m->plan->stop.preemptor[b->order[b->first]], i = b->first;
	const struct sl_held *place;

	/* a place that is not on disk would be forgotten if slurmctld ended before the job starts */
	if (!b->refused && !saved)
		refuse_now(b, i, SL_FATE_UNFIT, "no place is held for it: it could not be written");
	while (i < b->end && !b->refused && !atomic_load(m->stop))
		i = run_some(b, i);
	if (i < b->end && !b->refused)
		refuse_now(b, i, SL_FATE_STOPPED, "slurmctld ends");
	place = sl_held_find(m->held, preemptor);
	if (b->gang)
		end_gang(b, !b->refused && place && !place->left);
	place = sl_held_find(m->held, preemptor);
	/* no victim was told: give the place up, the next plan decides anew */
	if (place && !place->since && b->refused)
		sl_hold_end(m, preemptor);
	else if (place && !b->refused)
		sl_hold_tell(m, preemptor);
}

static const struct sl_plan_stop_view *ordered;	/* qsort() passes nothing else to its comparison; the cycle thread only */

static int by_preemptor(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b, *key[] = { ordered->preemptor, ordered->group };

	for (int i = 0; i < 2; i++)
		if (key[i][*x] != key[i][*y])
			return key[i][*x] < key[i][*y] ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

static uint32_t hold_of(const struct sl_commit *m, uint32_t job)
{
	for (uint32_t i = 0; i < m->plan->hold.rows; i++)
		if (m->plan->hold.job[i] == job && !m->plan->hold.release[i])
			return i;
	return SL_NONE;
}

static void prepare_batch(struct batch *b, const char *const *refused)
{
	uint32_t hold = hold_of(b->m, b->m->plan->stop.preemptor[b->order[b->first]]);
	const char *why = hold == SL_NONE ? "the plan does not say which" : refused[hold];
	char text[sizeof(b->why)];

	b->hold = hold;
	if (!why) {
		prepare(b);
		return;
	}
	snprintf(text, sizeof(text), "no place is held for it: %s", why);
	refuse_now(b, b->first, SL_FATE_UNFIT, text);
}

void sl_stop_run(struct sl_commit *m, const char *const *refused)
{
	const struct sl_plan_stop_view *v = &m->plan->stop;
	uint32_t *order = xcalloc(MAX(v->rows, 1), sizeof(*order)), i, batches = 0;
	struct batch *batch = xcalloc(MAX(v->rows, 1), sizeof(*batch));
	bool saved;

	for (i = 0; i < v->rows; i++)
		order[i] = i;
	ordered = v;
	qsort(order, v->rows, sizeof(*order), by_preemptor);
	for (i = 0; i < v->rows; i = batch[batches++].end) {
		struct batch *b = &batch[batches];

		*b = (struct batch) { .m = m, .order = order, .first = i, .end = i + 1 };
		while (b->end < v->rows && v->preemptor[order[b->end]] == v->preemptor[order[i]])
			b->end++;
		prepare_batch(b, refused);
	}
	saved = sl_hold_save(m);
	for (i = 0; i < batches; i++) {
		run_batch(&batch[i], saved);
		m->stopped += batch[i].told;
	}
	xfree(batch);
	xfree(order);
	(void) sl_hold_save(m);
}
