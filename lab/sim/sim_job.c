/* SPDX-License-Identifier: MIT */
/* sim_job.c - jobs that start, end, and are stopped; see sim_private.h */
#include "sim/sim_private.h"

#include <string.h>

#include "base/grow.h"
#include "base/heap.h"
#include "base/number.h"
#include "base/order.h"

/* -- jobs that run, by their end ---------------------------------------- */

/* Of those that end together the first of the log, or the first that started. */
static bool ends_before(const struct sl_sim *s, const struct ending *a, const struct ending *b)
{
	if (a->end == b->end && s->opt.arrivals_first && a->start != b->start)
		return a->start < b->start;
	return a->end < b->end || (a->end == b->end && a->job < b->job);
}

SL_HEAP(endings, struct ending, const struct sl_sim *, ends_before)

int sim_push_ending(struct sl_sim *s, struct ending e, struct sl_error *err)
{
	if (sl_grow(&s->heap, &s->heap_room, s->heap_size + UINT64_C(1), sizeof(e), err) < 0)
		return -1;
	s->heap[s->heap_size] = e;
	endings_sift_up(s, s->heap, s->heap_size++);
	return 0;
}

struct ending sim_pop_ending(struct sl_sim *s)
{
	struct ending top = s->heap[0];

	endings_drop_first(s, s->heap, &s->heap_size);
	return top;
}

void sim_drop_outdated(struct sl_sim *s)
{
	while (s->stops && s->heap_size && !sl_stops_is_current(s->stops, s->heap[0].job, s->heap[0].start, s->heap[0].end))
		(void) sim_pop_ending(s);
}

/* -- one job starts, one job ends --------------------------------------- */

static uint32_t gpus_at(const struct sl_sim *s, const struct sl_place *place)
{
	uint32_t gpus = 0;

	for (unsigned k = 0; s->gpu_kinds >> k; k++)
		if (s->gpu_kinds >> k & 1)
			gpus += place->gres[k];
	return gpus;
}

/* A run before this one, which was stopped, has its stretches in its own row. */
static int note_start(struct sl_sim *s, uint32_t job, const struct sl_place *place, uint32_t count,
		      struct sl_error *err)
{
	struct sl_sim_job *j = &s->schedule[job];

	*j = (struct sl_sim_job) { .start_s = s->now, .nodes = count, .first_s = s->stops ? sl_stops_first_start(s->stops, job) : s->now };
	j->first_stretch = s->stretches;
	for (uint32_t i = 0; i < count; i++) {
		struct sl_stretch *last = j->stretches ? &s->stretch[s->stretches - 1] : NULL;
		uint32_t gpus = gpus_at(s, &place[i]);

		j->cores += place[i].cores;
		j->gpus += gpus;
		if (last && last->first + last->count == place[i].node && last->cores == place[i].cores && last->gpus == gpus) {
			last->count++;
			continue;
		}
		if (sl_grow(&s->stretch, &s->stretch_room, s->stretches + 1, sizeof(*s->stretch), err) < 0)
			return -1;
		s->stretch[s->stretches++] = (struct sl_stretch) { place[i].node, 1, place[i].cores, gpus };
		j->stretches++;
	}
	return 0;
}

/* The kinds of gres that a job asks for: whole nodes come with others, too. */
static int audit_start(struct sl_sim *s, const struct starting *st, int64_t end, struct sl_error *err)
{
	const struct sl_want *w = sl_cluster_want(s->cluster, st->entry, err);
	uint16_t kinds = 0;

	if (!w)
		return -1;
	for (uint32_t i = 0; i < w->request.gres_needs; i++)
		kinds |= w->request.gres[i].kinds;
	return sl_audit_job(s->audit, st->entry, sl_cluster_loan(s->cluster, st->entry.loan), s->now, end,
			    s->place + st->first_place, st->places, kinds, w->native != 0, err);
}

/* What is left of its work, and of what it would run if no walltime ended it. */
static int64_t runtime_of(const struct sl_sim *s, uint32_t job)
{
	return s->w->runtime_s[job] - (s->stops ? sl_stops_kept(s->stops, job) : 0);
}

static int64_t wanted_of(const struct sl_sim *s, uint32_t job)
{
	return (s->w->wanted_s ? s->w->wanted_s : s->w->runtime_s)[job] - (s->stops ? sl_stops_kept(s->stops, job) : 0);
}

/* Does a walltime end the job?  It need not, where it is its own. */
static bool ends_it(const struct sl_sim *s, uint32_t job, int64_t limit)
{
	return limit < runtime_of(s, job) && !(s->w->outstays && limit >= s->w->snap.job.time_limit[job]);
}

int sim_start_job(struct sl_sim *s, const struct starting *st, struct sl_error *err)
{
	const struct sl_place *place = s->place + st->first_place;
	uint32_t job = st->entry.job;
	int64_t run = runtime_of(s, job), end = s->now + (ends_it(s, job, st->limit) ? st->limit : run);
	struct sl_error why;

	if (sl_cluster_start(s->cluster, job, place, st->places, sl_later(s->now, st->limit), &why) < 0) {
		/* a reservation that began meanwhile */
		if (why.code == SL_EBUSY && s->opt.latency_s)
			return 0;
		if (err)
			*err = why;
		return -1;
	}
	/* that it outstays its walltime is no decision of anybody's */
	if (s->audit && audit_start(s, st, st->limit < end - s->now ? s->now + st->limit : end, err) < 0)
		return -1;
	if (s->stops && sl_stops_started(s->stops, s->cluster, job, end, err) < 0)
		return -1;
	if (s->schedule && note_start(s, job, place, st->places, err) < 0)
		return -1;
	return sim_push_ending(s, (struct ending) { s->now, end, job, st->entry.shape }, err);
}

/* A job that was suspended goes on. */
static int resume_job(void *arg, uint32_t job, int64_t rest_s, int64_t *end, struct sl_error *err)
{
	struct sl_sim *s = arg;
	uint32_t count;
	const struct sl_place *place = sl_cluster_places(s->cluster, job, &count);

	*end = s->now + (ends_it(s, job, rest_s) ? rest_s : runtime_of(s, job));
	if (s->audit && sl_audit_resumed(s->audit, job, s->now, rest_s < *end - s->now ? s->now + rest_s : *end, place, count,
					 err) < 0)
		return -1;
	if (s->schedule && note_start(s, job, place, count, err) < 0)
		return -1;
	return sim_push_ending(s, (struct ending) { s->now, *end, job, 0 }, err);
}

int sim_settle(struct sl_sim *s, struct sl_error *err)
{
	return s->stops ? sl_stops_settle(s->stops, s->cluster, resume_job, s, err) : 0;
}

/* What the job was to have when the first that waits is to start is left beside that one now. */
static void widen_room(struct sl_sim *s, uint32_t job)
{
	struct sl_room *room = &s->settled.room;
	uint32_t count;
	const struct sl_place *place = sl_cluster_places(s->cluster, job, &count);

	if (!room->known || sl_cluster_end(s->cluster, job) <= room->from)
		return;
	for (uint32_t i = 0; i < count; i++)
		room->cores += place[i].cores;
}

static int by_priority(const void *va, const void *vb, void *arg)
{
	const struct sl_entry *a = va, *b = vb;
	const struct sl_job_view *job = arg;

	return SL_ORDER(job->priority[b->job], job->priority[a->job]) ?: SL_ORDER(a->job, b->job) ?: SL_ORDER(a->partition, b->partition);
}

int sim_submit(struct sl_sim *s, uint32_t job, struct sl_error *err)
{
	void *job_view = (void *) &s->w->snap.job;
	const struct sl_entry *e;
	uint32_t queued;

	if (sl_cluster_submit(s->cluster, job, err) < 0)
		return -1;
	e = sl_cluster_queue(s->cluster, &queued);
	if (s->stops && queued > 1 && by_priority(&e[queued - 2], &e[queued - 1], job_view) > 0)
		sl_cluster_sort(s->cluster, by_priority, job_view);
	return 0;
}

static int return_later(struct sl_sim *s, uint32_t job, int64_t at, struct sl_error *err)
{
	if (sl_grow(&s->returning, &s->return_room, s->returns + UINT64_C(1), sizeof(*s->returning), err) < 0)
		return -1;
	s->returning[s->returns++] = (struct returning) { at, job };
	return 0;
}

/* A run that ends for another job: it is in the list of these, and the job waits again, or is cancelled. */
static int end_stopped(struct sl_sim *s, struct sl_sim_stop *stop, struct sl_ended *done, struct sl_error *err)
{
	bool requeued = stop->mode != SL_STOP_CANCEL, sleeps = stop->mode == SL_STOP_SUSPEND;
	uint32_t job = stop->job;

	stop->nodes = done->nodes;
	stop->cores = (uint32_t) done->cores;
	stop->gpus = (uint32_t) done->gpus;
	if (!sleeps && sl_past_ended(s->past, job, stop->start_s, stop->end_s, requeued ? SL_JOB_PENDING : SL_JOB_PREEMPTED, err) < 0)
		return -1;
	if (s->audit)
		sl_audit_stopped(s->audit, stop);
	sl_metrics_stopped(s->metrics, stop->mode, stop->moves, done, stop->lost_s);
	if (s->schedule) {
		stop->first_stretch = s->schedule[job].first_stretch;
		stop->stretches = s->schedule[job].stretches;
		s->schedule[job] = requeued ? (struct sl_sim_job) { .nodes = 0 } : s->schedule[job];
		s->schedule[job].end_s = requeued ? 0 : stop->end_s;
		if (sl_grow(&s->stop, &s->stop_room, s->stop_count + UINT64_C(1), sizeof(*stop), err) < 0)
			return -1;
		s->stop[s->stop_count++] = *stop;
	}
	if (sleeps)
		return 0;
	if (sl_cluster_finish(s->cluster, job, err) < 0)
		return -1;
	if (requeued)
		return s->opt.requeue_wait_s ? return_later(s, job, stop->end_s + s->opt.requeue_wait_s, err) : sim_submit(s, job, err);
	s->ended++;
	done->cancelled = true;
	return job < s->initial ? 0 : sl_metrics_ended(s->metrics, done, err);
}

int sim_end_job(struct sl_sim *s, struct ending e, struct sl_error *err)
{
	struct sl_ended done = { .job = e.job, .shape = e.shape, .start_s = e.start, .end_s = e.end };
	struct sl_sim_stop stop = { .job = SL_NONE };
	const struct sl_place *place;
	uint32_t count;
	int rc = 0;

	if (s->stops) {
		done.kept_s = sl_stops_kept(s->stops, e.job);
		done.first_start_s = sl_stops_first_start(s->stops, e.job);
	}
	done.killed = e.end - e.start < wanted_of(s, e.job);
	place = sl_cluster_places(s->cluster, e.job, &count);
	for (uint32_t i = 0; i < count; i++)
		sl_ended_node(&done, place[i].node, place[i].cores, gpus_at(s, &place[i]));
	widen_room(s, e.job);
	if (s->pool)
		sl_pool_ended(s->pool, e.job);
	if (s->stops && (rc = sl_stops_ended(s->stops, e.job, e.end, &stop, err)))
		return rc < 0 ? -1 : end_stopped(s, &stop, &done, err);
	if (sl_past_ended(s->past, e.job, e.start, e.end, done.killed ? SL_JOB_TIMEOUT : SL_JOB_COMPLETE, err) < 0)
		return -1;
	if (s->schedule) {
		s->schedule[e.job].end_s = e.end;
		s->schedule[e.job].work_s = e.end - e.start + done.kept_s;
	}
	s->ended++;
	if (e.job >= s->initial && sl_metrics_ended(s->metrics, &done, err) < 0)
		return -1;
	return sl_cluster_finish(s->cluster, e.job, err);
}

