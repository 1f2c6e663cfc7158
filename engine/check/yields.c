/* SPDX-License-Identifier: MIT */
/*
 * check/yields.c - when running jobs release nodes to jobs of the plan that may preempt them.
 *
 * The set of jobs that a job may preempt is a list of names (preempts), of which there are few; if priority decides, too,
 * each job has its own set.  For each set there is a bit per running job, and, for the node that is being swept, the time at
 * which the first job of the plan with that set begins.
 */
#include "check/private.h"

#include <stdlib.h>

#include "base/grow.h"

/* The set of jobs that certain jobs may preempt. */
struct check_preemptees {
	uint32_t preempts;
	uint32_t job;			/* row of the only job with this set; SL_NONE: all jobs with these names */
	uint64_t *runs;			/* a bit per job row */
	int64_t first;			/* on the current node: begin of the first job of the plan with this set */
};

/* The time from which the running job may be preempted by some job; INT64_MAX: never. */
static int64_t safe_until(const struct check *c, uint32_t j)
{
	int64_t soon = sl_sum_signed(c->now, SL_OVERDUE_S), safe = c->snap->job.safe_until[j];

	if (safe <= 0 || c->snap->job.state[j] != SL_JOB_RUNNING)
		return INT64_MAX;
	return safe > soon ? safe : soon;
}

static bool is_preempted(const struct check_preemptees *p, uint32_t j)
{
	return p->runs[j / 64] >> j % 64 & 1;
}

static struct check_preemptees *find_list(const struct check *c, uint32_t job)
{
	bool own = sl_snapshot_preempts_by_priority(c->snap, job);

	for (uint32_t i = 0; (own || c->snap->job.preempts[job]) && i < c->preemptees; i++)
		if (c->preempted[i].job == (own ? job : SL_NONE) && c->preempted[i].preempts == c->snap->job.preempts[job])
			return &c->preempted[i];
	return NULL;
}

static int add_list(struct check *c, uint32_t job)
{
	bool own = sl_snapshot_preempts_by_priority(c->snap, job);
	uint32_t rows = c->snap->job.rows, preempts = c->snap->job.preempts[job];
	struct check_preemptees *p;

	if (sl_grow_list(&c->preempted, c->preemptees, sizeof(*c->preempted), c->err))
		return -1;
	p = &c->preempted[c->preemptees];
	*p = (struct check_preemptees) { .preempts = preempts, .job = own ? job : SL_NONE, .first = INT64_MAX };
	if (!(p->runs = calloc(rows / 64 + 1, sizeof(*p->runs))))
		return sl_fail(c->err, SL_ENOMEM, "out of memory");
	c->preemptees++;
	for (uint32_t j = 0; j < rows; j++)
		if (safe_until(c, j) != INT64_MAX && sl_snapshot_preempts(c->snap, job, j))
			p->runs[j / 64] |= UINT64_C(1) << j % 64;
	return 0;
}

static int add_if_new(struct check *c, uint32_t j)
{
	bool preempts = c->snap->job.state[j] == SL_JOB_PENDING && sl_snapshot_may_preempt(c->snap, j);

	return preempts && !find_list(c, j) ? add_list(c, j) : 0;
}

/* Build sets of running jobs that may be preempted: one for each list of preemptees that pending jobs have, and one for
 * each planned job that may preempt by its priority. */
int check_preemptors(struct check *c)
{
	const struct sl_plan_image *plan = c->plan;
	int rc = 0;

	for (uint32_t j = 0; !rc && j < c->snap->job.rows; j++)
		if (c->snap->job.preempts[j] && !sl_snapshot_preempts_by_priority(c->snap, j))
			rc = add_if_new(c, j);
	for (uint32_t i = 0; !rc && i < plan->start.rows + plan->reserve.rows; i++) {
		uint32_t j = check_find_job(c, i < plan->start.rows ? plan->start.job[i] : plan->reserve.job[i - plan->start.rows]);

		if (j != SL_NONE && sl_snapshot_preempts_by_priority(c->snap, j))
			rc = add_if_new(c, j);
	}
	return rc;
}

void check_end_preemptors(struct check *c)
{
	for (uint32_t i = 0; i < c->preemptees; i++)
		free(c->preempted[i].runs);
	free(c->preempted);
}

int64_t check_holds_until(const struct check *c, uint32_t j)
{
	int64_t end = check_end(c, j), safe = safe_until(c, j);
	uint32_t i = 0;

	while (i < c->preemptees && !is_preempted(&c->preempted[i], j))
		i++;
	return i < c->preemptees && safe < end ? safe : end;
}

void check_begin_node(struct check *c)
{
	for (uint32_t i = 0; i < c->preemptees; i++)
		c->preempted[i].first = INT64_MAX;
}

void check_take_over(struct check *c, const struct bill *b)
{
	bool holds = b->row != SL_NONE && c->row[b->row].holds;
	struct check_preemptees *p = b->planned && !holds && sl_snapshot_may_preempt(c->snap, b->job) ? find_list(c, b->job) : NULL;

	if (p && b->start < p->first)
		p->first = b->start;
}

int64_t check_bill_end(const struct check *c, const struct bill *b)
{
	int64_t first = INT64_MAX, safe, end;

	if (b->planned || b->job == SL_NONE)
		return b->end;
	end = check_stopped_at(c, b->job);
	end = end < b->end ? end : b->end;
	if (!c->preemptees || (safe = safe_until(c, b->job)) == INT64_MAX)
		return end;
	for (uint32_t i = 0; i < c->preemptees; i++)
		if (c->preempted[i].first < first && is_preempted(&c->preempted[i], b->job))
			first = c->preempted[i].first;
	first = first > safe ? first : safe;
	return first < end ? first : end;
}
