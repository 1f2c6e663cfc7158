/* SPDX-License-Identifier: MIT */
/*
 * check/yields.c - nodes of running jobs that jobs which wait may preempt.
 */
#include "check/private.h"

#include "base/grow.h"

int check_preemptors(struct check *c)
{
	const struct sl_job_view *job = &c->snap->job;

	for (uint32_t j = 0; j < job->rows; j++) {
		bool waits = job->state[j] == SL_JOB_PENDING && job->preempts[j] && sl_snapshot_may_preempt(c->snap, j);
		uint32_t i = 0;

		while (waits && i < c->preemptors && job->preempts[c->preemptor[i]] != job->preempts[j])
			i++;
		if (!waits || i < c->preemptors)
			continue;
		if (sl_grow_list(&c->preemptor, c->preemptors, sizeof(*c->preemptor), c->err))
			return -1;
		c->preemptor[c->preemptors++] = j;
	}
	return 0;
}

int64_t check_holds_until(const struct check *c, uint32_t j)
{
	int64_t end = check_end(c, j), safe = check_later(c->now, SL_OVERDUE_S);
	uint32_t i = 0;

	if (c->snap->job.safe_until[j] <= 0 || c->snap->job.state[j] != SL_JOB_RUNNING)
		return end;
	while (i < c->preemptors && !sl_snapshot_preempts(c->snap, c->preemptor[i], j))
		i++;
	if (i == c->preemptors)
		return end;
	safe = c->snap->job.safe_until[j] > safe ? c->snap->job.safe_until[j] : safe;
	return safe < end ? safe : end;
}
