/* SPDX-License-Identifier: MIT */
/* schedule.c - a whole schedule, after it has run: see check.h */
#include "check/private.h"

#include <inttypes.h>
#include <stdlib.h>

static bool asks_for_partition(const struct sl_snapshot *s, uint32_t job, uint32_t partition)
{
	struct sl_range list = s->job.partitions[job];

	for (uint32_t i = list.first; i < list.first + list.count; i++)
		if (s->job_partition.partition[i] == partition)
			return true;
	return !list.count && s->job.partition[job] == partition;
}

/* Did it run after its submission and begin time, within its limit, until its deadline? */
static int check_run_times(struct check *c, const struct row *r, const struct ask *a)
{
	const struct sl_job_view *job = &c->snap->job;
	uint32_t id = job->id[r->job];

	if (r->at < job->submit_time[r->job] || r->at < job->begin_time[r->job])
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": starts at %" PRId64 ", before %s %" PRId64, id,
			       r->at, r->at < job->submit_time[r->job] ? "its submission," : "its begin time,",
			       r->at < job->submit_time[r->job] ? job->submit_time[r->job] : job->begin_time[r->job]);
	if (r->until <= r->at || r->until - r->at > a->time_limit)
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": runs for %" PRId64 " s, its limit is %" PRId64
			       " s", id, r->until - r->at, a->time_limit);
	if (job->deadline[r->job] && r->until > job->deadline[r->job])
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": ends at %" PRId64 ", after its deadline %" PRId64,
			       id, r->until, job->deadline[r->job]);
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
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": ran in a partition that it did not ask for", id);
	if (c->bookings[r->job]++)
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": ran twice", id);
	r->resv = check_reservation(c, r->job);
	check_ask(c, r->job, r->partition, r->shape, &a);
	return check_run_times(c, r, &a) < 0 ? -1 : check_run_row(c, r, &a);
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
	if (!rc && (check_nodes(&c) < 0 || check_licenses(&c) < 0))
		rc = -1;
	check_end_all(&c);
	return rc;
}
