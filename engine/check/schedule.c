/* SPDX-License-Identifier: MIT */
/* schedule.c - checking a schedule that has run: see check.h */
#include "check/private.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/order.h"
#include "base/search.h"

static bool asks_for_partition(const struct sl_snapshot *s, uint32_t job, uint32_t partition)
{
	struct sl_range list = s->job.partitions[job];

	for (uint32_t i = list.first; i < list.first + list.count; i++)
		if (s->job_partition.partition[i] == partition)
			return true;
	return !list.count && s->job.partition[job] == partition;
}

/* Check that it ran after submission and begin time, within its limit, and until its deadline. */
static int check_run_times(struct check *c, const struct row *r, const struct ask *a)
{
	const struct sl_job_view *job = &c->snap->job;

	if (r->at < job->submit_time[r->job] || r->at < job->begin_time[r->job])
		return check_fail(c, r, "starts at %" PRId64 ", before %s %" PRId64, r->at,
				  r->at < job->submit_time[r->job] ? "its submission," : "its begin time,",
				  r->at < job->submit_time[r->job] ? job->submit_time[r->job] : job->begin_time[r->job]);
	if (r->until <= r->at || r->until - r->at > a->time_limit)
		return check_fail(c, r, "runs for %" PRId64 " s, its limit is %" PRId64 " s", r->until - r->at,
				  a->time_limit);
	if (job->deadline[r->job] && r->until > job->deadline[r->job])
		return check_fail(c, r, "ends at %" PRId64 ", after its deadline %" PRId64, r->until, job->deadline[r->job]);
	return 0;
}

static int check_run(struct check *c, uint32_t i, int64_t end, struct row *r)
{
	const struct sl_plan_reserve_view *reserve = &c->plan->reserve;
	uint32_t id = reserve->job[i];
	struct ask a;

	*r = (struct row) { .job = check_find_job(c, id), .partition = reserve->partition[i], .shape = reserve->shape[i],
		.native = reserve->native[i], .way = reserve->reservation[i], .license = SL_NONE, .at = reserve->start_time[i], .until = end, .may_until = end,
		.places = reserve->places[i], .through = reserve->through[i], .lenders = reserve->lenders[i] };
	if (r->job == SL_NONE)
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": is not in the snapshot", id);
	if (r->partition >= c->snap->partition.rows || !asks_for_partition(c->snap, r->job, r->partition))
		return check_fail(c, r, "ran in a partition that it did not ask for");
	c->bookings[r->job]++;
	r->resv = check_reservation(c, r->job);
	check_ask(c, r->job, r->partition, r->shape, &a);
	return check_run_times(c, r, &a) < 0 ? -1 : check_run_row(c, r, &a);
}

/* -- runs that were stopped for other jobs -------------------------------------------- */

/* The row of the table of stops for that run of the job; SL_NONE: none. */
static uint32_t find_stop(const struct check *c, const struct key *stops, uint32_t id, int64_t start)
{
	const struct sl_plan_stop_view *v = &c->plan->stop;

	for (uint32_t i = SL_FIRST(k, 0, v->rows, stops[k].key < id); i < v->rows && stops[i].key == id; i++)
		if (v->start_time[stops[i].row] == start)
			return stops[i].row;
	return SL_NONE;
}

/* True if the suspended job would keep something that its run used. */
static bool keeps_some(const struct check *c, const struct row *r)
{
	bool counts = c->snap->meta.select_flags[0] & SL_SELECT_MEMORY;

	for (uint32_t i = r->places.first; i < r->places.first + r->places.count; i++)
		if (c->plan->place.gres[i].count || (counts && c->plan->place.memory[i] > 0))
			return true;
	return false;
}

/* Check that a suspended job resumed where it was, and did not exceed its walltime in all. */
static int check_resumed(const struct check *c, const struct row *r, const struct row *next, int64_t *ran)
{
	const struct sl_plan_place_view *v = &c->plan->place;
	uint32_t same = 0;
	int64_t limit = c->snap->job.time_limit[r->job];

	*ran += r->until - r->at;
	while (same < r->places.count && same < next->places.count && v->node[r->places.first + same] == v->node[next->places.first + same] &&
	       v->cores[r->places.first + same] == v->cores[next->places.first + same])
		same++;
	if (same < r->places.count || same < next->places.count)
		return check_fail(c, r, "was suspended, and goes on elsewhere");
	if (limit != SL_UNLIMITED && *ran + next->until - next->at > limit)
		return check_fail(c, r, "runs for %" PRId64 " s, beside the time that it was suspended; its limit is %" PRId64
				  " s", *ran + next->until - next->at, limit);
	return 0;
}

/* Check that the preemptor was allowed to stop this run, in that way. */
static int check_stopped_run(struct check *c, uint32_t stop, const struct row *r)
{
	const struct sl_plan_stop_view *v = &c->plan->stop;
	const struct sl_job_view *job = &c->snap->job;
	uint32_t other = v->preemptor[stop] ? check_find_job(c, v->preemptor[stop]) : SL_NONE;

	if (v->mode[stop] == SL_STOP_SUSPEND && (job->preempt_mode[r->job] != SL_STOP_SUSPEND || keeps_some(c, r)))
		return check_fail(c, r, "was suspended, which it may not be%s",
				  keeps_some(c, r) ? ": it would keep memory or gres" : "");
	if (v->mode[stop] != SL_STOP_CANCEL && v->mode[stop] != SL_STOP_SUSPEND && !(job->flags[r->job] & SL_JOBF_REQUEUE))
		return check_fail(c, r, "was requeued, which it may not be");
	if (!v->preemptor[stop])	/* stopped by the policy itself, as by scontrol */
		return 0;
	if (other == SL_NONE || other == r->job)
		return check_fail(c, r, "was stopped for job %" PRIu32 ", which is %s", v->preemptor[stop],
				  other == r->job ? "itself" : "not in the snapshot");
	if (job->preempt_mode[r->job] == SL_STOP_NONE || !(job->flags[other] & SL_JOBF_MAY_PREEMPT) ||
	    !sl_snapshot_preempts(c->snap, other, r->job))
		return check_fail(c, r, "was stopped for job %" PRIu32 ", which may not preempt it", job->id[other]);
	if (job->submit_time[other] >= r->until)
		return check_fail(c, r, "was stopped for job %" PRIu32 ", which was not yet submitted", job->id[other]);
	return 0;
}

static int by_job_and_time(const void *va, const void *vb)
{
	const struct row *a = *(const struct row *const *) va, *b = *(const struct row *const *) vb;

	return SL_ORDER(a->job, b->job) ?: SL_ORDER(a->at, b->at) ?: SL_ORDER(a, b);
}

/* Check the runs of each job in order: all but the last were stopped, and the job was then requeued or suspended. */
static int check_order(struct check *c, const struct row *const *run, const struct key *stops)
{
	int64_t ran = 0;		/* seconds in earlier runs that ended by suspension */

	for (uint32_t i = 0; i < c->rows; i++) {
		const struct row *r = run[i], *next = i + 1 < c->rows && run[i + 1]->job == r->job ? run[i + 1] : NULL;
		uint32_t stop = find_stop(c, stops, c->snap->job.id[r->job], r->at);

		if (stop != SL_NONE && check_stopped_run(c, stop, r) < 0)
			return -1;
		if (!next) {
			ran = 0;
			continue;
		}
		if (stop == SL_NONE || c->plan->stop.mode[stop] == SL_STOP_CANCEL)
			return check_fail(c, r, "ran twice%s", stop == SL_NONE ? "" : ", although it was cancelled");
		if (next->at < r->until)
			return check_fail(c, r, "starts at %" PRId64 " while its run before goes on until %" PRId64,
					  next->at, r->until);
		ran = c->plan->stop.mode[stop] == SL_STOP_SUSPEND ? ran : 0;
		if (c->plan->stop.mode[stop] == SL_STOP_SUSPEND && check_resumed(c, r, next, &ran) < 0)
			return -1;
	}
	return 0;
}

static int check_stopped_runs(struct check *c)
{
	const struct sl_plan_stop_view *v = &c->plan->stop;
	const struct row **run = calloc((size_t) c->rows + 1, sizeof(*run));
	struct key *stops = calloc((size_t) v->rows + 1, sizeof(*stops));
	int rc = run && stops ? 0 : sl_fail(c->err, SL_ENOMEM, "check: out of memory");

	for (uint32_t i = 0; !rc && i < c->rows; i++)
		run[i] = &c->row[i];
	for (uint32_t i = 0; !rc && i < v->rows; i++)
		stops[i] = (struct key) { v->job[i], i };
	if (!rc) {
		qsort(run, c->rows, sizeof(*run), by_job_and_time);
		check_sort_keys(stops, v->rows);
		rc = check_order(c, run, stops);
	}
	free(run);
	free(stops);
	return rc;
}

int sl_check_schedule(const struct sl_snapshot *snap, const struct sl_plan_image *schedule, const int64_t *end,
		      struct sl_error *err)
{
	struct check c = { .snap = snap, .plan = schedule, .err = err, .now = snap->meta.now[0],
			   .names_devices = check_names_devices(schedule) };
	uint32_t rows = schedule->reserve.rows;
	int rc;

	c.rows = rows;
	c.row = calloc((size_t) rows + 1, sizeof(*c.row));
	rc = c.row ? check_begin(&c) : sl_fail(err, SL_ENOMEM, "check: out of memory");
	for (uint32_t i = 0; !rc && i < rows; i++)
		rc = check_run(&c, i, end[i], &c.row[i]);
	if (!rc && (check_stopped_runs(&c) < 0 || check_nodes(&c) < 0 || check_licenses(&c) < 0))
		rc = -1;
	check_end_all(&c);
	return rc;
}
