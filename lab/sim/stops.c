/* SPDX-License-Identifier: MIT */
#include "sim/stops_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "check/check.h"
#include "model/preempt.h"
#include "sim/sleeper.h"

#define REMEMBERED_S 3600	/* jobs that were stopped are listed for that long (snapshot.h, stopped) */

/* -- life ------------------------------------------------------------------ */

bool sl_stops_suit(const struct sl_workload *w)
{
	for (uint32_t i = 0; i < w->snap.job.rows; i++)
		if (w->snap.job.preempt_mode[i] != SL_STOP_NONE)
			return true;
	return false;
}

/* True if the job would keep something that others cannot have meanwhile (sl_collect_safe_until() in the plug-in). */
static bool keeps_some(const struct sl_stops *x, uint32_t job)
{
	struct sl_range alloc = x->job.alloc[job];
	bool counts = x->snap.meta.select_flags[0] & SL_SELECT_MEMORY;

	for (uint32_t i = alloc.first; i < alloc.first + alloc.count; i++)
		if (x->alloc.gres[i].count || (counts && x->alloc.memory[i] > 0))
			return true;
	return false;
}

/* Until when nobody gets its nodes by preempting it: 0, for ever. */
static int64_t safe_until(const struct sl_stops *x, uint32_t job)
{
	return x->snap.job.preempt_mode[job] == SL_STOP_SUSPEND && keeps_some(x, job) ? 0 : x->job.preempt_from[job];
}

struct sl_stops *sl_stops_create(const struct sl_workload *w, struct sl_error *err)
{
	struct sl_stops *x;

	x = calloc(1, sizeof(*x));
	if (!x) {
		sl_fail(err, SL_ENOMEM, "simulator: out of memory");
		return NULL;
	}
	x->w = w;
	x->snap = w->snap;
	if (sl_stops_rows_begin(x, err) < 0)
		goto error;
	for (uint32_t i = 0; i < w->snap.job.rows && w->snap.job.state[i] != SL_JOB_PENDING; i++) {
		x->of[i].first_start = x->of[i].began = w->snap.job.start_time[i];
		x->of[i].end = w->snap.job.start_time[i] + w->runtime_s[i];
		if (w->snap.job.preempt_mode[i] && !x->job.preempt_from[i])
			x->job.preempt_from[i] = w->snap.job.start_time[i] + w->exempt_s;
		x->job.safe_until[i] = safe_until(x, i);
	}
	x->now = w->snap.meta.now[0];
	sl_stops_rows_show(x);
	return x;
error:
	sl_stops_destroy(x);
	return NULL;
}

void sl_stops_destroy(struct sl_stops *x)
{
	if (!x)
		return;
	sl_builder_destroy(x->builder);
	sl_stops_rows_free(x);
	free(x->asleep);
	free(x);
}

const struct sl_snapshot *sl_stops_snapshot(const struct sl_stops *x)
{
	return &x->snap;
}

int64_t sl_stops_kept(const struct sl_stops *x, uint32_t job)
{
	return x->of[job].kept;
}

int64_t sl_stops_first_start(const struct sl_stops *x, uint32_t job)
{
	return x->of[job].first_start;
}

/* -- held places ------------------------------------------------------------ */

static uint32_t find_held(const struct sl_stops *x, uint32_t job)
{
	for (uint32_t i = 0; x->of[job].is_held && i < x->helds; i++)
		if (x->held.job[i] == job)
			return i;
	return SL_NONE;
}

static void drop_held(struct sl_stops *x, uint32_t at, bool failed)
{
	x->of[x->held.job[at]].is_held = false;
	x->failed += failed;
	x->helds--;
	for (uint32_t i = at; i < x->helds; i++) {
		x->held.job[i] = x->held.job[i + 1];
		x->held.partition[i] = x->held.partition[i + 1];
		x->held.since[i] = x->held.since[i + 1];
		x->held.until[i] = x->held.until[i + 1];
		x->held.places[i] = x->held.places[i + 1];
	}
}

/* The place of a reservation of the plan. */
static int copy_place(struct sl_stops *x, struct sl_range places, struct sl_error *err)
{
	const struct sl_plan_image *p = &x->plan;

	for (uint32_t i = places.first; i < places.first + places.count; i++) {
		struct sl_range gres = p->place.gres[i];
		uint32_t first = x->gress;

		for (uint32_t k = gres.first; k < gres.first + gres.count; k++)
			if (sl_stops_add_gres(x, p->place_gres.kind[k], p->place_gres.count[k], p->place_gres.of[k], p->place_gres.devices[k], err) < 0)
				return -1;
		if (sl_stops_add_alloc(x, p->place.node[i], p->place.cores[i], p->place.memory[i], first, err) < 0)
			return -1;
	}
	return 0;
}

/* The row of a job of that id that waits in the cluster; SL_NONE: there is none. */
static uint32_t find_waiting(const struct sl_stops *x, const struct sl_cluster *c, uint32_t id)
{
	uint32_t queued;
	const struct sl_entry *e = sl_cluster_queue(c, &queued);

	for (uint32_t i = 0; i < queued; i++)
		if (x->snap.job.id[e[i].job] == id)
			return e[i].job;
	return SL_NONE;
}

static int hold(struct sl_stops *x, const struct sl_cluster *c, uint32_t row, struct sl_error *err)
{
	const struct sl_plan_image *p = &x->plan;
	uint32_t job = find_waiting(x, c, p->hold.job[row]), at, r = 0;
	struct sl_range places = { x->allocs, 0 };

	while (r < p->reserve.rows && p->reserve.job[r] != p->hold.job[row])
		r++;
	if (job == SL_NONE || (!p->hold.release[row] && r == p->reserve.rows))
		return 0;
	if ((at = find_held(x, job)) != SL_NONE)
		drop_held(x, at, p->hold.release[row]);
	if (p->hold.release[row])
		return 0;
	x->holds += at == SL_NONE;
	if (copy_place(x, p->reserve.places[r], err) < 0 || sl_stops_grow_held(x, err) < 0)
		return -1;
	places.count = x->allocs - places.first;
	x->held.job[x->helds] = job;
	x->held.partition[x->helds] = p->reserve.partition[r];
	x->held.since[x->helds] = sl_cluster_now(c);
	x->held.until[x->helds] = p->hold.until[row];
	x->held.places[x->helds++] = places;
	x->of[job].is_held = true;
	return 0;
}

/* -- jobs that start and end -------------------------------------------------- */

/* What it has of each node. */
static int note_allocation(struct sl_stops *x, const struct sl_cluster *c, uint32_t job, struct sl_error *err)
{
	uint32_t count, first = x->allocs;
	const struct sl_place *place = sl_cluster_places(c, job, &count);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t gres = x->gress;

		for (uint32_t k = 0; k < x->snap.gres_kind.rows && k < SL_MAX_GRES; k++)
			if (place[i].gres[k] && sl_stops_add_gres(x, k, place[i].gres[k], SL_NONE, 0, err) < 0)
				return -1;
		if (sl_stops_add_alloc(x, place[i].node, (uint32_t) place[i].cores, place[i].memory, gres, err) < 0)
			return -1;
	}
	x->job.alloc[job] = (struct sl_range) { first, count };
	return 0;
}

int sl_stops_started(struct sl_stops *x, const struct sl_cluster *c, uint32_t job, int64_t end, struct sl_error *err)
{
	int64_t now = sl_cluster_now(c), limit = x->snap.job.time_limit[job];
	uint32_t held = find_held(x, job);

	if (held != SL_NONE)
		drop_held(x, held, false);
	for (uint32_t i = 0; i < x->stoppeds; i++)
		x->stopped.started[i] |= x->stopped.preemptor[i] == x->snap.job.id[job];
	if (note_allocation(x, c, job, err) < 0)
		return -1;
	if (!x->of[job].first_start)
		x->of[job].first_start = now;
	x->of[job].end = end;
	x->of[job].told = 0;
	x->of[job].began = now;
	x->job.state[job] = SL_JOB_RUNNING;
	x->job.start_time[job] = now;
	x->job.end_time[job] = limit == SL_UNLIMITED ? SL_UNLIMITED : now + limit;
	x->job.preempt_time[job] = 0;
	x->job.preempt_from[job] = x->snap.job.preempt_mode[job] ? now + x->w->exempt_s : 0;
	x->job.alloc_nodes[job] = x->job.alloc[job].count;
	x->job.alloc_cpus[job] = (uint32_t) sl_cluster_has(c, job, SL_UNIT_CPU);
	x->job.alloc_gpus[job] = (uint32_t) sl_cluster_has(c, job, SL_UNIT_GPU);
	x->job.safe_until[job] = safe_until(x, job);
	x->job.suspend_time[job] = 0;
	sl_stops_rows_show(x);
	return 0;
}

bool sl_stops_is_current(const struct sl_stops *x, uint32_t job, int64_t start, int64_t end)
{
	return x->job.state[job] == SL_JOB_RUNNING && x->of[job].began == start && x->of[job].end == end;
}

/* It sleeps from then on: what it did is not lost, and its places stay its own. */
static int fall_asleep(struct sl_stops *x, uint32_t job, int64_t end, struct sl_sim_stop *stop, struct sl_error *err)
{
	struct of_job *of = &x->of[job];

	if (sl_grow(&x->asleep, &x->asleep_room, x->asleeps + UINT64_C(1), sizeof(*x->asleep), err))
		return -1;
	x->asleep[x->asleeps++] = job;
	x->job.state[job] = SL_JOB_SUSPENDED;
	x->job.suspend_time[job] = end;
	of->rest_s = of->booked == SL_UNLIMITED ? SL_UNLIMITED : of->booked - end;
	stop->kept_s = end - of->began;
	of->kept += stop->kept_s;
	of->told = 0;
	return 1;
}

int sl_stops_ended(struct sl_stops *x, uint32_t job, int64_t end, struct sl_sim_stop *stop, struct sl_error *err)
{
	struct of_job *of = &x->of[job];
	int64_t start = of->began, ran = end - start;
	int64_t every = sl_preempt_checkpoint_s(sl_snapshot_str(&x->snap, x->snap.job.comment[job]));
	bool requeued = of->mode != SL_STOP_CANCEL, was_told = of->told && of->end == end;

	*stop = (struct sl_sim_stop) { .job = job, .preemptor = of->preemptor, .mode = of->mode, .verdict = of->verdict, .moves = of->moves,
				       .start_s = start, .told_s = of->told, .end_s = end };
	if (was_told && of->mode == SL_STOP_SUSPEND)
		return fall_asleep(x, job, end, stop, err);
	x->job.state[job] = was_told && requeued ? SL_JOB_PENDING : SL_JOB_COMPLETE;
	x->job.end_time[job] = end;
	x->job.alloc[job] = (struct sl_range) { 0, 0 };
	if (!was_told)
		return 0;
	stop->kept_s = requeued && every ? ran / every * every : 0;
	stop->lost_s = ran - stop->kept_s + (requeued ? 0 : of->kept);
	of->kept = requeued ? of->kept + stop->kept_s : 0;
	of->told = 0;
	if (requeued) {
		x->job.start_time[job] = x->job.end_time[job] = x->job.preempt_from[job] = x->job.preempt_time[job] = 0;
		x->job.restarts[job]++;
	}
	return 1;
}

/* -- plans ---------------------------------------------------------------------- */

int sl_stops_take(struct sl_stops *x, struct sl_plan *p, struct sl_error *err)
{
	static const struct sl_plan_figures none;
	const void *bytes;
	size_t size;

	sl_builder_destroy(x->builder);
	x->builder = NULL;
	if (!sl_plan_changes_runs(p))
		return 0;
	x->builder = sl_builder_create(&sl_plan_schema, err);
	if (!x->builder || sl_plan_encode(p, &none, x->builder, err) < 0 || sl_builder_finish(x->builder, &bytes, &size, err) < 0 ||
	    sl_plan_image_open(&x->plan, bytes, size, err) < 0)
		return -1;
	return 1;
}

static int note_stopped(struct sl_stops *x, uint32_t job, uint32_t preemptor, int64_t now, struct sl_error *err)
{
	if (preemptor == SL_NONE)
		return 0;
	if (sl_stops_grow_stopped(x, err) < 0)
		return -1;
	x->stopped.job[x->stoppeds] = x->snap.job.id[job];
	x->stopped.preemptor[x->stoppeds] = x->snap.job.id[preemptor];
	x->stopped.time[x->stoppeds] = now;
	x->stopped.user[x->stoppeds] = x->snap.job.user[job];
	x->stopped.started[x->stoppeds] = 0;
	x->stopped.partition[x->stoppeds++] = x->snap.job.partition[job];
	return 0;
}

/* Its places are booked until *end*, and no longer. */
static int book_until(struct sl_cluster *c, uint32_t job, int64_t end, struct sl_error *err)
{
	uint32_t count;
	const struct sl_place *place = sl_cluster_places(c, job, &count);
	struct sl_place *copy = malloc(((size_t) count + 1) * sizeof(*copy));
	int rc;

	if (!copy)
		return sl_fail(err, SL_ENOMEM, "simulator: out of memory");
	memcpy(copy, place, count * sizeof(*copy));
	rc = sl_cluster_finish(c, job, err) < 0 || sl_cluster_submit(c, job, err) < 0 ||
		sl_cluster_start(c, job, copy, count, end, err) < 0 ? -1 : 0;
	free(copy);
	return rc;
}

struct order {
	uint32_t id, preemptor, mode, verdict;	/* the JobId; a row or SL_NONE */
	int64_t start;			/* of the run; 0: whichever it is */
	bool moves;
};

/* The row of a running job that it is about; SL_NONE: it ended, was told already, or may not be stopped. */
static uint32_t find_ordered(const struct sl_stops *x, const struct sl_cluster *c, const struct order *o)
{
	uint32_t count;
	const uint32_t *run = sl_cluster_running(c, &count);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t job = run[i];

		if (x->snap.job.id[job] != o->id)
			continue;
		return x->job.preempt_time[job] || (o->start && x->job.start_time[job] != o->start) ||
			(o->mode != SL_STOP_CANCEL && o->mode != SL_STOP_SUSPEND && !(x->snap.job.flags[job] & SL_JOBF_REQUEUE)) ? SL_NONE : job;
	}
	return SL_NONE;
}

static int tell(struct sl_stops *x, struct sl_cluster *c, const struct order *o, sl_stops_told *told, void *arg, struct sl_error *err)
{
	uint32_t job = find_ordered(x, c, o);
	int64_t now = sl_cluster_now(c), grace = job == SL_NONE ? 0 : x->snap.job.grace_time[job], end;

	if (job == SL_NONE)
		return 0;
	end = sl_later(now, grace > SL_OVERDUE_S && o->mode != SL_STOP_SUSPEND ? grace : SL_OVERDUE_S);
	x->of[job].booked = sl_cluster_end(c, job);
	x->of[job].told = x->job.preempt_time[job] = now;
	x->of[job].preemptor = o->preemptor;
	x->of[job].mode = o->mode;
	x->of[job].verdict = o->verdict;
	x->of[job].moves = o->moves;
	if (note_stopped(x, job, o->preemptor, now, err) < 0)
		return -1;
	x->job.end_time[job] = end;
	if (book_until(c, job, end, err) < 0)
		return -1;
	if (end >= x->of[job].end) {	/* it ends by itself */
		x->of[job].told = 0;
		return 0;
	}
	x->of[job].end = end;
	return told(arg, job, x->of[job].began, end, err);
}

static uint32_t mode_of(const struct sl_stops *x, const struct sl_cluster *c, uint32_t row)
{
	const struct sl_plan_stop_view *v = &x->plan.stop;
	struct order o = { .id = v->job[row], .mode = SL_STOP_CANCEL };
	uint32_t job = find_ordered(x, c, &o);

	return v->mode[row] != SL_STOP_NONE || job == SL_NONE ? v->mode[row] : x->snap.job.preempt_mode[job];
}

/* How the set of which that row is one was chosen: the place that is held for the preemptor says it. */
static uint32_t verdict_of(const struct sl_stops *x, uint32_t row)
{
	const struct sl_plan_hold_view *v = &x->plan.hold;

	for (uint32_t i = 0; i < v->rows; i++)
		if (v->job[i] == x->plan.stop.preemptor[row] && !v->release[i])
			return v->verdict[i];
	return SL_VERDICT_NONE;
}

static struct order order_of(const struct sl_stops *x, const struct sl_cluster *c, uint32_t row)
{
	const struct sl_plan_stop_view *v = &x->plan.stop;

	return (struct order) { v->job[row], find_waiting(x, c, v->preemptor[row]), mode_of(x, c, row), verdict_of(x, row),
				v->start_time[row], v->moves[row] };
}

/* Of a group all are told, or nobody is: one of them ended meanwhile. */
static bool is_whole(const struct sl_stops *x, const struct sl_cluster *c, uint32_t row)
{
	const struct sl_plan_stop_view *v = &x->plan.stop;

	for (uint32_t i = 0; i < v->rows; i++) {
		struct order o = order_of(x, c, i);

		if (v->group[i] == v->group[row] && v->preemptor[i] == v->preemptor[row] && find_ordered(x, c, &o) == SL_NONE)
			return false;
	}
	return true;
}

/* The stops of the plan. */
static int stop_all(struct sl_stops *x, struct sl_cluster *c, sl_stops_told *told, void *arg, struct sl_error *err)
{
	uint32_t rows = x->plan.stop.rows;
	bool *whole = calloc((size_t) rows + 1, sizeof(*whole));
	int rc = whole ? 0 : sl_fail(err, SL_ENOMEM, "simulator: out of memory");

	for (uint32_t i = 0; !rc && i < rows; i++)
		whole[i] = is_whole(x, c, i);
	for (uint32_t i = 0; !rc && i < rows; i++) {
		struct order o = order_of(x, c, i);

		if (o.preemptor != SL_NONE && whole[i])
			rc = tell(x, c, &o, told, arg, err);
	}
	free(whole);
	return rc;
}

/* Running jobs that the policy itself cancels or requeues. */
static int act_all(struct sl_stops *x, struct sl_cluster *c, sl_stops_told *told, void *arg, struct sl_error *err)
{
	const struct sl_plan_action_view *v = &x->plan.action;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < v->rows; i++) {
		bool cancels = v->verb[i] == SL_ACTION_CANCEL;
		struct order o = { v->job[i], SL_NONE, cancels ? SL_STOP_CANCEL : SL_STOP_REQUEUE, SL_VERDICT_NONE, 0, false };

		if (cancels || v->verb[i] == SL_ACTION_REQUEUE)
			rc = tell(x, c, &o, told, arg, err);
	}
	return rc;
}

int sl_stops_carry_out(struct sl_stops *x, struct sl_cluster *c, sl_stops_told *told, void *arg, struct sl_error *err)
{
	const struct sl_plan_image *p = &x->plan;
	int rc = 0;

	if (!x->builder)
		return 0;
	for (uint32_t i = 0; !rc && i < p->hold.rows; i++)
		rc = hold(x, c, i, err);
	if (!rc && stop_all(x, c, told, arg, err) < 0)
		rc = -1;
	if (!rc && act_all(x, c, told, arg, err) < 0)
		rc = -1;
	sl_stops_rows_show(x);
	sl_builder_destroy(x->builder);
	x->builder = NULL;
	return rc;
}

/* -- jobs that are suspended ----------------------------------------------------- */

static int wake(struct sl_stops *x, const struct sl_sleeper *s, int64_t now, sl_stops_woke *woke, void *arg, struct sl_error *err)
{
	struct of_job *of = &x->of[s->job];

	x->job.state[s->job] = SL_JOB_RUNNING;
	x->job.preempt_time[s->job] = x->job.suspend_time[s->job] = 0;
	x->job.end_time[s->job] = sl_later(now, of->rest_s);
	of->began = now;
	return woke(arg, s->job, of->rest_s, &of->end, err);
}

int sl_stops_settle(struct sl_stops *x, struct sl_cluster *c, sl_stops_woke *woke, void *arg, struct sl_error *err)
{
	struct sl_sleeper *s = x->asleeps ? calloc(x->asleeps, sizeof(*s)) : NULL;
	bool *is_told = x->asleeps ? calloc((size_t) x->helds + 1, sizeof(*is_told)) : NULL;
	uint32_t count = x->asleeps, kept = 0;
	int rc = !count || (s && is_told) ? 0 : sl_fail(err, SL_ENOMEM, "simulator: out of memory");

	for (uint32_t i = 0; !rc && i < count; i++) {
		s[i] = (struct sl_sleeper) { .job = x->asleep[i], .rest_s = x->of[x->asleep[i]].rest_s };
		rc = sl_sleeper_describe(&s[i], &x->snap, c, x->of[x->asleep[i]].preemptor, is_told, err);
	}
	if (!rc && count)
		rc = sl_cluster_sleep(c, s, count, err);
	for (uint32_t i = 0; !rc && i < count; i++) {
		x->asleep[kept] = s[i].job;
		kept += !s[i].is_awake;
		rc = s[i].is_awake ? wake(x, &s[i], sl_cluster_now(c), woke, arg, err) : 0;
	}
	x->asleeps = rc ? x->asleeps : kept;
	for (uint32_t i = 0; s && i < count; i++)
		free((void *) (uintptr_t) s[i].before);
	free(s);
	free(is_told);
	return rc ? -1 : 0;
}

bool sl_stops_begin(struct sl_stops *x, int64_t now)
{
	uint32_t old = 0, held = x->helds;

	for (uint32_t i = x->helds; i-- > 0;)
		if (x->held.until[i] <= now)
			drop_held(x, i, true);
	while (old < x->stoppeds && x->stopped.time[old] <= now - REMEMBERED_S)
		old++;
	x->stoppeds -= old;
	for (uint32_t i = 0; old && i < x->stoppeds; i++) {
		x->stopped.job[i] = x->stopped.job[i + old];
		x->stopped.preemptor[i] = x->stopped.preemptor[i + old];
		x->stopped.time[i] = x->stopped.time[i + old];
		x->stopped.user[i] = x->stopped.user[i + old];
		x->stopped.partition[i] = x->stopped.partition[i + old];
		x->stopped.started[i] = x->stopped.started[i + old];
	}
	x->now = now;
	sl_stops_rows_show(x);
	return x->helds < held;
}

int64_t sl_stops_next(const struct sl_stops *x)
{
	int64_t first = INT64_MAX;

	for (uint32_t i = 0; i < x->helds; i++)
		if (x->held.until[i] < first)
			first = x->held.until[i];
	return first;
}

void sl_stops_holds(const struct sl_stops *x, uint64_t *holds, uint64_t *failed)
{
	*holds = x->holds;
	*failed = x->failed;
}
