/* SPDX-License-Identifier: MIT */
#include "sim/sim_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/grow.h"
#include "base/number.h"
#include "timeline/choose.h"

#define MOST_IDLE_WAKES 10000	/* passes by the clock alone, where nothing else will happen: then the simulation ends */
#define PROGRESS_EVERY_NS 100000000

/* -- one pass of the policy --------------------------------------------- */

/* Copy what the plan starts: it is destroyed before they are carried out. */
static int copy_starts(struct sl_sim *s, struct sl_plan *p, struct sl_error *err)
{
	struct sl_booking b;
	uint32_t n;

	sl_plan_started(p, &n);
	s->starts = s->places = 0;
	if (sl_grow(&s->starting, &s->starting_room, n, sizeof(*s->starting), err) < 0)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		if (sl_plan_booking(p, false, i, &b, err) < 0 ||
		    sl_grow(&s->place, &s->place_room, s->places + b.count, sizeof(*b.places), err) < 0)
			return -1;
		memcpy(s->place + s->places, b.places, b.count * sizeof(*b.places));
		s->starting[s->starts++] = (struct starting) {
			b.entry, b.end_time == SL_UNLIMITED ? SL_UNLIMITED : b.end_time - b.start_time, s->places, b.count,
		};
		s->places += b.count;
	}
	return 0;
}

static uint32_t hidden_by_window(const struct sl_sim *s)
{
	uint32_t queued;

	sl_cluster_queue(s->cluster, &queued);
	return queued > s->settled.window ? queued - s->settled.window : 0;
}

/* The policy decides, or its rule; the history is that of now.  As sl_script_decide(). */
static int decide_plan(struct sl_sim *s, struct sl_plan *p, bool by_rule, struct sl_plan_figures *fig, struct sl_error *err)
{
	static const struct sl_limits none;

	if (s->opt.decide)
		return s->opt.decide(s->cluster, p, s->opt.decide_arg, err);
	if (!by_rule)
		return sl_script_decide(s->script, s->cluster, p, s->opt.limits ? s->opt.limits : &none, fig, s->trace, err);
	sl_cluster_queue(s->cluster, &fig->examined);	/* all of it */
	fig->window = s->settled.window;
	return sl_by_rule_decide(s->by_rule, p, err);
}

bool sl_sim_starts(const struct sl_sim *s, uint32_t job)
{
	for (uint32_t i = 0; i < s->starts; i++)
		if (s->starting[i].entry.job == job)
			return true;
	return false;
}

/* Is a plan wanted where there is none yet?  What would be started is known. */
static bool wants_plan(const struct sl_sim *s, const struct sl_promise *by)
{
	return s->opt.wants_plan && s->opt.wants_plan(s->cluster, by, s->opt.after_pass_arg);
}

static int make_decision(struct sl_sim *s, bool by_rule, struct sl_error *err)
{
	struct sl_plan_figures fig = { 0 };
	struct sl_plan *p = sl_plan_create(s->cluster, err);
	uint32_t hidden;
	int rc;

	if (!p)
		return -1;
	if (!s->opt.after_pass || by_rule)
		sl_plan_unheard(p);
	rc = sl_past_begin(s->past, err);
	if (!rc)
		rc = decide_plan(s, p, by_rule, &fig, err);
	if (rc)
		sl_fail_in(err, "at %" PRId64 " s", s->now - s->w->origin_s);
	else
		rc = copy_starts(s, p, err);
	if (!rc && by_rule && wants_plan(s, &s->settled.promise)) {
		sl_plan_destroy(p);
		return make_decision(s, false, err);
	}
	if (s->stops && s->script)
		sl_script_keep_memory(s->script);
	if (!rc && s->stops)
		rc = (s->stopping = sl_stops_take(s->stops, p, err)) < 0 ? -1 : 0;
	if (!rc && s->opt.after_pass && !by_rule)
		rc = s->opt.after_pass(s->cluster, p, s->opt.after_pass_arg, err);
	hidden = sl_plan_hidden(p, fig.examined);
	sl_metrics_hidden(s->metrics, hidden);
	s->wake_time = fig.wake_time ? fig.wake_time : NEVER;
	s->settled.window = fig.window;
	s->settled.full = s->may_settle && sl_plan_is_settled_full(p) && hidden == hidden_by_window(s);
	s->settled.is = s->settled.full && sl_plan_is_settled(p);
	s->settled.all = s->settled.is && (!hidden || !s->starts);	/* or others come into its window */
	s->settled.promise = *sl_plan_promises(p);
	if (!s->settled.full || (hidden && !s->settled.promise.window) || s->wake_time != NEVER)
		s->settled.promise.rule = SL_RULE_NONE;
	if (s->by_rule)
		sl_by_rule_promised(s->by_rule, &s->settled.promise);
	s->settled.room = s->punctual && s->settled.is ? sl_plan_room(p) : (struct sl_room) { .known = false };
	sl_plan_destroy(p);
	return rc ? -1 : 0;
}

/* The same by the pool.  1; 0: a plan is wanted; -1 with *err. */
static int decide_in_pool(struct sl_sim *s, struct sl_error *err)
{
	const struct sl_pool_start *start;

	if (sl_pool_asks_history(s->pool) && sl_past_begin(s->past, err))
		return -1;
	start = sl_pool_decide(s->pool, &s->starts, err);
	if (!start || sl_grow(&s->starting, &s->starting_room, s->starts, sizeof(*s->starting), err) < 0 ||
	    sl_grow(&s->place, &s->place_room, s->starts, sizeof(*s->place), err) < 0)
		return -1;
	for (uint32_t i = 0; i < s->starts; i++) {
		s->place[i] = (struct sl_place) { .cores = start[i].cores };
		s->starting[i] = (struct starting) { start[i].entry, start[i].seconds, i, 1 };
	}
	s->settled.is = s->settled.full = false;
	if (wants_plan(s, &s->settled.promise))
		return sl_pool_close(s->pool, err);
	sl_metrics_hidden(s->metrics, sl_pool_hidden(s->pool));
	sl_metrics_skipped(s->metrics);
	return 1;
}

/* A job was told to end (sim/stops.h). */
static int note_told(void *arg, uint32_t job, int64_t start, int64_t end, struct sl_error *err)
{
	return sim_push_ending(arg, (struct ending) { start, end, job, 0 }, err);
}

static int start_decided(struct sl_sim *s, struct sl_error *err)
{
	if (s->opt.latency_s && sim_settle(s, err) < 0)
		return -1;
	for (uint32_t i = 0; i < s->starts; i++)
		if (sim_start_job(s, &s->starting[i], err) < 0)
			return -1;
	if (s->stops && sl_stops_carry_out(s->stops, s->cluster, note_told, s, err) < 0)
		return -1;
	s->starts = 0;
	s->starts_at = NEVER;
	return 0;
}

/*
 * Who waited then does so now, where nothing was given back; those behind, or else all, are asked what they need.
 * Of several nodes others may be chosen for a reservation at another time, and make room elsewhere.
 */
static bool still_settled(const struct sl_sim *s)
{
	bool same = s->w->snap.node.rows == 1 && s->settled.all && !s->timed &&
		s->settled.moment == sl_timeline_moment(sl_cluster_timeline(s->cluster));

	return s->settled.full && sl_cluster_lacks_room(s->cluster, same ? s->settled.entries : 0, &s->settled.room);
}

static void note_settled(struct sl_sim *s)
{
	s->settled.moment = sl_timeline_moment(sl_cluster_timeline(s->cluster));
	sl_cluster_queue(s->cluster, &s->settled.entries);
}

static int make_pass(struct sl_sim *s, struct sl_error *err)
{
	uint32_t queued;
	uint64_t t0;
	bool by_rule;
	int rc;

	sl_cluster_queue(s->cluster, &queued);
	s->changed = false;
	if (!queued)
		return 0;
	rc = s->pool ? sl_pool_is_open(s->pool, err) : 0;
	if (rc > 0)
		rc = decide_in_pool(s, err);
	if (rc)
		return rc < 0 ? -1 : start_decided(s, err);
	if (still_settled(s) && !wants_plan(s, NULL)) {
		note_settled(s);
		s->settled.all |= !s->settled.is;	/* by what is free alone */
		sl_metrics_skipped(s->metrics);
		sl_metrics_hidden(s->metrics, hidden_by_window(s));
		return 0;
	}
	t0 = (uint64_t) sl_clock_ns();
	if (s->opt.before_pass && s->opt.before_pass(s->cluster, s->now, s->opt.before_pass_arg, err) < 0)
		return -1;
	by_rule = s->by_rule && sl_by_rule_knows(s->by_rule);
	if (make_decision(s, by_rule, err) < 0)
		return -1;
	if (by_rule)
		sl_metrics_skipped(s->metrics);
	else
		sl_metrics_cycle(s->metrics, (double) ((uint64_t) sl_clock_ns() - t0) / 1e3);
	s->starts_at = s->starts || s->stopping > 0 ? s->now + s->opt.latency_s : NEVER;
	if (s->starts_at == s->now && start_decided(s, err) < 0)
		return -1;
	note_settled(s);
	return s->pool && s->settled.promise.rule ? sl_pool_open(s->pool, &s->settled.promise, err) : 0;
}

/* -- the clock ---------------------------------------------------------- */

/* Interval mode: the first tick after *t*, counted from the origin. */
static int64_t next_tick(const struct sl_sim *s, int64_t t)
{
	int64_t since = t - s->w->origin_s;

	return s->w->origin_s + (since / s->opt.interval_s + 1) * s->opt.interval_s;
}

static int64_t arrival_of(const struct sl_sim *s, uint32_t job)
{
	return s->w->arrival_s ? s->w->arrival_s[job] : s->w->snap.job.submit_time[job];
}

/* The instant at which something happens next, NEVER when nothing will. */
static int64_t next_instant(struct sl_sim *s)
{
	int64_t t = s->starts_at;
	uint32_t queued;

	if (s->next < s->w->snap.job.rows)
		t = sl_min_signed(t, arrival_of(s, s->next));
	if (s->returned < s->returns)
		t = sl_min_signed(t, s->returning[s->returned].at);
	if (s->heap_size)
		t = sl_min_signed(t, s->heap[0].end);
	if (s->stops)
		t = sl_min_signed(t, sl_stops_next(s->stops));
	sl_cluster_queue(s->cluster, &queued);
	if (s->next_wake < s->opt.wakes)
		t = sl_min_signed(t, s->opt.wake_s[s->next_wake]);
	if (queued && t == NEVER)	/* only time can help: a reservation that ends, a wait for switches */
		t = sl_min_signed(sl_timeline_next(sl_cluster_timeline(s->cluster), s->now),
			       sl_cluster_next_impatient(s->cluster));
	if (queued && (t != NEVER || s->idle_wakes < MOST_IDLE_WAKES))
		t = sl_min_signed(t, s->wake_time);
	if (queued && s->opt.wake_at && *s->opt.wake_at > s->now)
		t = sl_min_signed(t, *s->opt.wake_at);
	if (queued && s->opt.interval_s && (s->changed || t != NEVER))
		t = sl_min_signed(t, next_tick(s, s->now));
	return t;
}

static int submit_arrived(struct sl_sim *s, int64_t t, struct sl_error *err)
{
	while (s->returned < s->returns && s->returning[s->returned].at <= t)
		if (sim_submit(s, s->returning[s->returned++].job, err) < 0)
			return -1;
	while (s->next < s->w->snap.job.rows && arrival_of(s, s->next) <= t)
		if (sim_submit(s, s->next++, err) < 0)
			return -1;
	return 0;
}

/* A pass that is not the last of its instant, where there are such. */
static int pass_within(struct sl_sim *s, int64_t t, struct sl_error *err)
{
	if (s->opt.interval_s || !(s->opt.each_end || s->opt.arrivals_first))
		return 0;
	return sl_cluster_advance(s->cluster, t, err) < 0 || sim_settle(s, err) < 0 || make_pass(s, err) < 0 ? -1 : 0;
}

static int advance_to(struct sl_sim *s, int64_t t, struct sl_error *err)
{
	const struct sl_job_view *job = &s->w->snap.job;

	s->changed |= t == s->starts_at || (s->heap_size && s->heap[0].end <= t) ||
		(s->next < job->rows && arrival_of(s, s->next) <= t) ||
		(s->returned < s->returns && s->returning[s->returned].at <= t);
	for (; s->next_wake < s->opt.wakes && s->opt.wake_s[s->next_wake] <= t; s->next_wake++)
		s->changed = true;
	s->idle_wakes = s->changed ? 0 : s->idle_wakes + 1;
	if (s->wake_time <= t) {
		s->changed = true;
		s->settled.is = s->settled.full = false;	/* its word held until then */
		s->wake_time = NEVER;
	}
	s->now = t;
	if (s->stops)
		s->changed |= sl_stops_begin(s->stops, t);
	/* Jobs end before the cluster's clock moves on, or they would be overdue there. */
	if (s->opt.arrivals_first && s->heap_size && s->heap[0].end <= t && s->next < job->rows &&
	    arrival_of(s, s->next) <= t && (submit_arrived(s, t, err) < 0 || pass_within(s, t, err) < 0))
		return -1;
	for (sim_drop_outdated(s); s->heap_size && s->heap[0].end <= t; sim_drop_outdated(s))
		if (sim_end_job(s, sim_pop_ending(s), err) < 0 || pass_within(s, t, err) < 0)
			return -1;
	if (sl_cluster_advance(s->cluster, t, err) < 0 || sim_settle(s, err) < 0 || submit_arrived(s, t, err) < 0)
		return -1;
	if (s->starts_at <= t)
		return start_decided(s, err);
	if (s->starts_at != NEVER || (s->opt.interval_s && (t - s->w->origin_s) % s->opt.interval_s))
		return 0;
	return make_pass(s, err);
}

static void report_progress(struct sl_sim *s)
{
	uint64_t ns;

	if (!s->opt.progress)
		return;
	ns = (uint64_t) sl_clock_ns();
	if (ns - s->progress_ns < PROGRESS_EVERY_NS)
		return;
	s->progress_ns = ns;
	s->opt.progress(s->ended, s->w->snap.job.rows, s->now, s->opt.progress_arg);
}

static int fail_stuck(const struct sl_sim *s, struct sl_error *err)
{
	uint32_t queued;
	const struct sl_entry *e = sl_cluster_queue(s->cluster, &queued);

	return sl_fail(err, SL_EINVAL, "at %" PRId64 " s: nothing runs, nothing arrives, and the policy starts none "
		       "of %" PRIu32 " queued jobs (the first: job %" PRIu32 ")", s->now - s->w->origin_s, queued,
		       s->w->snap.job.id[e[0].job]);
}

int sl_sim_run(struct sl_sim *s, char **trace, struct sl_error *err)
{
	s->trace = trace;
	while (s->ended < s->w->snap.job.rows) {
		int64_t t = (sim_drop_outdated(s), next_instant(s));

		if ((s->opt.stop && *s->opt.stop) || (s->opt.is_enough && s->opt.is_enough(s->opt.is_enough_arg))) {
			s->stopped = true;
			return 1;
		}
		if (t == NEVER && !s->ended && !s->opt.until_s)
			return fail_stuck(s, err);
		if (t == NEVER)		/* nothing can happen any more: the policy starts none of what is left */
			break;
		if (s->opt.until_s && t > s->opt.until_s)
			break;
		if (advance_to(s, t, err) < 0)
			return -1;
		report_progress(s);
	}
	return s->audit ? sl_audit_check(s->audit, err) : 0;
}

/* -- life and results --------------------------------------------------- */

/* Only time makes such a job startable, or ends its chances, and those of others begin. */
static bool waits_for_time(const struct sl_sim *s, uint32_t job)
{
	return s->w->snap.job.begin_time[job] > arrival_of(s, job) || s->w->snap.job.deadline[job];
}

/* True if each job that runs when the workload begins ends when its walltime says, or before. */
static bool initial_ones_end_in_time(const struct sl_sim *s)
{
	for (uint32_t i = 0; i < s->initial; i++)
		if (s->w->snap.job.end_time[i] <= s->now ||
		    s->w->snap.job.start_time[i] + s->w->runtime_s[i] > s->w->snap.job.end_time[i])
			return false;
	return true;
}

/* A record of several tasks has one runtime: it cannot be what it stands for. */
static int refuse_arrays(const struct sl_workload *w, struct sl_error *err)
{
	for (uint32_t i = 0; i < w->snap.job.rows; i++)
		if (w->snap.job.array_pending[i] > 1)
			return sl_fail(err, SL_EINVAL, "%s: job %" PRIu32 " stands for %" PRIu32 " tasks of an array: "
				       "expected one job for each of them", w->name, w->snap.job.id[i],
				       w->snap.job.array_pending[i]);
	return 0;
}

/* Jobs that run when the workload begins, the first rows, end like all others. */
static int push_running(struct sl_sim *s, struct sl_error *err)
{
	const struct sl_job_view *job = &s->w->snap.job;

	for (uint32_t i = 0; i < job->rows && job->state[i] != SL_JOB_PENDING; i++) {
		int64_t end = job->start_time[i] + s->w->runtime_s[i];

		if (sim_push_ending(s, (struct ending) { job->start_time[i], end > s->now ? end : s->now, i, 0 }, err) < 0)
			return -1;
		if (s->schedule)
			s->schedule[i] = (struct sl_sim_job) { .start_s = job->start_time[i], .first_s = job->start_time[i], .nodes = job->alloc[i].count };
		s->initial = s->next = i + 1;
	}
	return 0;
}

struct sl_sim *sl_sim_create(const struct sl_workload *w, struct sl_script *script, const struct sl_sim_options *opt,
			     struct sl_error *err)
{
	struct sl_sim *s;

	if (refuse_arrays(w, err) < 0)
		return NULL;
	s = calloc(1, sizeof(*s));
	if (!s) {
		sl_fail(err, SL_ENOMEM, "simulator: out of memory");
		return NULL;
	}
	s->w = w;
	s->script = script;
	s->opt = *opt;
	s->starts_at = s->wake_time = NEVER;
	s->gpu_kinds = sl_gpu_kinds(&w->snap);
	if (sl_stops_suit(w) && !(s->stops = sl_stops_create(w, err)))
		goto error;
	s->cluster = sl_cluster_create(s->stops ? sl_stops_snapshot(s->stops) : &w->snap, err);
	if (s->cluster)
		s->metrics = sl_metrics_create(&w->snap, err);
	if (!s->metrics || !(s->past = sl_past_create(s->cluster, err)))
		goto error;
	sl_cluster_set_origin(s->cluster, w->origin_s);
	s->now = sl_cluster_now(s->cluster);
	if (opt->check && !(s->audit = sl_audit_create(s->cluster, err)))
		goto error;
	if (opt->keep_schedule) {
		s->schedule = calloc(w->snap.job.rows ? w->snap.job.rows : 1, sizeof(*s->schedule));
		if (!s->schedule) {
			sl_fail(err, SL_ENOMEM, "simulator: out of memory");
			goto error;
		}
	}
	s->may_settle = !s->stops && !opt->interval_s && !opt->before_pass && (!opt->after_pass || opt->wants_plan) && !w->snap.reservation.rows;
	for (uint32_t i = 0; i < w->snap.job.rows && !s->timed; i++)
		s->timed = waits_for_time(s, i);
	if (push_running(s, err) < 0)
		goto error;
	s->punctual = !opt->latency_s && !opt->each_end && !opt->arrivals_first && !w->outstays && !s->timed && !s->stops &&
		initial_ones_end_in_time(s);
	if (s->may_settle && !opt->decide && !(s->by_rule = sl_by_rule_create(s->cluster, err)))
		goto error;
	if (s->punctual && sl_pool_suits(&w->snap) && !(s->pool = sl_pool_create(s->cluster, err)))
		goto error;
	return s;
error:
	sl_sim_destroy(s);
	return NULL;
}

void sl_sim_destroy(struct sl_sim *s)
{
	if (!s)
		return;
	sl_audit_destroy(s->audit);
	sl_pool_destroy(s->pool);
	sl_by_rule_destroy(s->by_rule);
	sl_metrics_destroy(s->metrics);
	sl_cluster_destroy(s->cluster);
	sl_past_destroy(s->past);
	sl_stops_destroy(s->stops);
	free(s->stop);
	free(s->returning);
	free(s->heap);
	free(s->starting);
	free(s->place);
	free(s->schedule);
	free(s->stretch);
	free(s);
}

int sl_sim_result(struct sl_sim *s, struct sl_result *r, struct sl_error *err)
{
	if (sl_metrics_result(s->metrics, r, err) < 0)
		return -1;
	r->partial = s->stopped;
	if (s->stops)
		sl_stops_holds(s->stops, &r->holds, &r->holds_failed);
	return 0;
}

struct sl_history *sl_sim_history(struct sl_sim *s, struct sl_error *err)
{
	return sl_past_history(s->past, err);
}

struct sl_metrics *sl_sim_metrics(struct sl_sim *s)
{
	return s->metrics;
}

const struct sl_sim_job *sl_sim_schedule(const struct sl_sim *s)
{
	return s->schedule;
}

const struct sl_stretch *sl_sim_stretches(const struct sl_sim *s)
{
	return s->stretch;
}

struct sl_schedule sl_sim_whole_schedule(const struct sl_sim *s)
{
	return (struct sl_schedule) { s->schedule, s->stretch, s->stop, s->w->snap.job.rows, s->stretches, s->stop_count };
}
