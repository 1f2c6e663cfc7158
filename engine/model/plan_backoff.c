/* SPDX-License-Identifier: MIT */
/*
 * plan_backoff.c - jobs for which others were stopped within the last hour and that have not started since.
 *
 * Not used for a job that still has such a place.
 */
#include "model/plan_private.h"
#include "model/preempt.h"

#include <stdlib.h>

#include "base/order.h"

#define ONE_PLACE_S 2	/* the victims of one place are told to end within this time */

static int by_job(const void *a, const void *b)
{
	const struct backoff *x = a, *y = b;

	return SL_ORDER(x->job, y->job) ?: SL_ORDER(x->last, y->last);
}

/* Merge to one entry per job: the number of its places and the time of the last one. */
static uint32_t merge_jobs(struct backoff *list, uint32_t count)
{
	uint32_t n = 0;

	qsort(list, count, sizeof(*list), by_job);
	for (uint32_t i = 0; i < count; i++) {
		if (!n || list[n - 1].job != list[i].job) {
			list[n++] = list[i];
			continue;
		}
		if (list[i].last > list[n - 1].began + ONE_PLACE_S) {
			list[n - 1].places++;
			list[n - 1].began = list[i].last;
		}
		list[n - 1].last = list[i].last;
	}
	return n;
}

/* Returns false without memory. */
static bool know_backoffs(struct sl_plan *p)
{
	const struct sl_stopped_view *v = &p->c->snap->stopped;
	uint32_t n = 0;

	if (p->backoff || !v->rows)
		return true;
	if (!(p->backoff = calloc(v->rows, sizeof(*p->backoff))))
		return false;
	for (uint32_t r = 0; r < v->rows; r++)
		if (!v->started[r] && v->time[r] > p->c->now - 3600)
			p->backoff[n++] = (struct backoff) { v->preemptor[r], 1, v->time[r], v->time[r] };
	p->backoffs = merge_jobs(p->backoff, n);
	return true;
}

int64_t plan_backs_off_until(struct sl_plan *p, uint32_t job)
{
	struct backoff key = { .job = p->c->snap->job.id[job] };
	const struct backoff *found = NULL;
	uint32_t low = 0, high;
	int64_t until;

	if (!know_backoffs(p))
		return INT64_MAX;
	for (high = p->backoffs; low < high && !found; ) {
		uint32_t middle = low + (high - low) / 2;

		if (p->backoff[middle].job == key.job)
			found = &p->backoff[middle];
		else if (p->backoff[middle].job < key.job)
			low = middle + 1;
		else
			high = middle;
	}
	if (!found || found->places == 1)
		return 0;
	until = sl_later(found->last, SL_PREEMPT_RETRY_S * (int64_t) (found->places - 1));
	return until > p->c->now ? until : 0;
}
