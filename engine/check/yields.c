/* SPDX-License-Identifier: MIT */
/*
 * check/yields.c - nodes that a running job holds no longer than until others may preempt it.
 */
#include "check/private.h"

#include <stdlib.h>

#include "base/search.h"

static uint32_t row_of(const struct check *c, uint32_t id)
{
	uint32_t lo = SL_FIRST(i, 0, c->snap->job.rows, c->jobs[i].key < id);

	return lo < c->snap->job.rows && c->jobs[lo].key == id ? c->jobs[lo].row : SL_NONE;
}

int check_take_overs(struct check *c)
{
	const struct sl_plan_reserve_view *v = &c->plan->reserve;
	uint32_t nodes = c->snap->node.rows;

	for (uint32_t i = 0; i < v->rows; i++) {
		uint32_t j = row_of(c, v->job[i]);

		if (j == SL_NONE || !v->native[i] || !sl_snapshot_may_preempt(c->snap, j))
			continue;
		if (!c->taken_over && !(c->taken_over = malloc(((size_t) nodes + 1) * sizeof(*c->taken_over))))
			return sl_fail(c->err, SL_ENOMEM, "check: out of memory");
		for (uint32_t n = 0; !c->take_overs && n < nodes; n++)
			c->taken_over[n] = INT64_MAX;
		c->take_overs++;
		for (uint32_t k = v->places[i].first; k < v->places[i].first + v->places[i].count; k++) {
			int64_t *at = &c->taken_over[c->plan->place.node[k]];

			if (v->start_time[i] < *at)
				*at = v->start_time[i];
		}
	}
	return 0;
}

int64_t check_holds_until(const struct check *c, uint32_t j, uint32_t node)
{
	const struct sl_job_view *job = &c->snap->job;
	int64_t end = check_end(c, j), safe = check_later(c->now, SL_OVERDUE_S), yields;

	if (!c->taken_over || job->yields_after[j] <= 0 || job->state[j] != SL_JOB_RUNNING)
		return end;
	yields = check_later(job->start_time[j], job->yields_after[j]);
	safe = yields > safe ? yields : safe;
	safe = c->taken_over[node] > safe ? c->taken_over[node] : safe;
	return safe < end ? safe : end;
}
