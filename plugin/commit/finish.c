/* SPDX-License-Identifier: GPL-2.0-or-later */
/* finish.c - see finish.h */
#include "plugin/commit/finish.h"
#include "plugin/commit/hold.h"
#include "plugin/commit/permit.h"
#include "plugin/commit/stop.h"

/* The stops for the job of one held place, copied because the book changes meanwhile. */
struct begun {
	struct sl_held *place;
	struct sl_stopped *stop;
	uint32_t stops;
	char why[200];
};

/* True if that run of the job still goes on, and its record says that it was not told to end. */
static bool is_untold(const struct sl_stopped *s, const struct sl_held *place)
{
	job_record_t *job = s->time >= place->since ? find_job_record(s->job) : NULL;

	return job && sl_job_sane(job) && job->start_time == s->start_time && IS_JOB_RUNNING(job) && !IS_JOB_COMPLETING(job) &&
		!sl_permit_leader(job)->preempt_time;
}

static void find_untold(struct begun *x, const struct sl_held_book *b)
{
	SL_HELD_EACH_STOP(b, x->place->job, at) {
		const struct sl_stopped *s = sl_held_stop_at(b, at.value);

		if (!is_untold(s, x->place))
			continue;
		xrecalloc(x->stop, x->stops + 1, sizeof(*x->stop));
		x->stop[x->stops++] = *s;
	}
}

/* Why the victims need not be told any more, because the plan decides anew for the job; NULL if it does not.  (If the plan
 * starts the job, it does so on other nodes: the victims still have theirs.) */
static const char *decided_anew(const struct sl_commit *m, uint32_t job)
{
	const struct sl_plan_image *plan = m->plan;

	for (uint32_t i = 0; i < plan->start.rows; i++)
		if (plan->start.job[i] == job)
			return "it starts elsewhere";
	for (uint32_t i = 0; i < plan->hold.rows; i++)
		if (plan->hold.job[i] == job && plan->hold.release[i])
			return "the plan releases it";
	for (uint32_t i = 0; i < plan->stop.rows; i++)
		if (plan->stop.preemptor[i] == job)
			return "the plan has another place for it";
	return NULL;
}

static bool may_stop_all(struct begun *x, struct sl_permit *p, const struct sl_commit *m)
{
	const char *why = decided_anew(m, x->place->job);

	if (!why)
		why = sl_permit_begin(p, m->c, x->place->job, x->place->stamp, x->place->partition);
	if (why)
		snprintf(x->why, sizeof(x->why), "%s", why);
	for (uint32_t i = 0; !why && i < x->stops; i++)
		if ((why = sl_permit_refused(p, x->stop[i].job, x->stop[i].start_time, x->stop[i].mode)))
			snprintf(x->why, sizeof(x->why), "JobId=%u: %s", x->stop[i].job, why);
	return !why;
}

static void tell_all(const struct begun *x, struct sl_commit *m, job_record_t *preemptor)
{
	for (uint32_t i = 0; i < x->stops; i++) {
		job_record_t *victim = sl_permit_leader(find_job_record(x->stop[i].job));

		if (!victim || victim->preempt_time || !IS_JOB_RUNNING(victim))	/* stopped just now, with another component
										 * of its heterogeneous job */
			continue;
		info("sched/lua: %pJ is stopped for %pJ, as was planned before slurmctld began", victim, preemptor);
		m->stopped += sl_stop_tell(victim, preemptor, x->stop[i].mode);
	}
	last_job_update = time(NULL);
}

static void give_up(const struct begun *x, struct sl_commit *m)
{
	uint32_t job = x->place->job;

	info("sched/lua: the place that is held for JobId=%u is given up: those that were to be stopped for it are not: %s", job, x->why);
	for (uint32_t i = 0; i < x->stops; i++)
		sl_held_unstop(m->held, x->stop[i].job, job, x->stop[i].start_time);
	(void) sl_hold_end(m, job);
}

/* False if the place has been given up. */
static bool finish_place(struct sl_commit *m, struct sl_held *place)
{
	struct begun x = { .place = place };
	struct sl_permit p = { 0 };
	bool kept = true;

	find_untold(&x, m->held);
	if (x.stops && may_stop_all(&x, &p, m)) {
		tell_all(&x, m, p.preemptor);
	} else if (x.stops) {
		give_up(&x, m);
		kept = false;
	}
	sl_permit_end(&p);
	xfree(x.stop);
	return kept;
}

void sl_finish_stops(struct sl_commit *m)
{
	struct sl_held_book *b = m->held;
	uint32_t i = 0;

	while (b->reread && !atomic_load(m->stop)) {
		struct sl_hold h;

		sl_hold_take(&h, m, (slurmctld_lock_t) SL_COMMIT_LOCKS);
		if (!sl_commit_same_world(m))
			i = b->places;	/* leave the rest to the plan after the next snapshot */
		else
			while (i < b->places && sl_hold_lasts(&h))
				i += finish_place(m, &b->place[i]);
		if (sl_commit_same_world(m) && i >= b->places)
			b->reread = false;
		sl_hold_leave(&h);
		if (i >= b->places)
			break;
	}
}
