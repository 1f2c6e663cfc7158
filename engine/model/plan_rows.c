/* SPDX-License-Identifier: MIT */
/*
 * plan_rows.c - a start on cores that others may have, too: where it is sure that select finds them (want_shared.c).
 */
#include "model/plan_private.h"

#include <stdlib.h>

/* Do its cores of a node have to be in one row?  (Of one core any will do.) */
static bool is_in_rows(const struct want *w)
{
	return w->enclave && w->enclave->shared && w->rows.enough != 1;
}

int plan_open_nodes(struct attempt *a, const struct sl_request *r, bool in_rows, struct sl_error *err)
{
	const struct bookings *reserved = &a->p->reserved;
	int64_t end = sl_later(a->p->c->now, r->duration);

	if (sl_nodeset_copy(&a->open, r->eligible, err) < 0)
		return -1;
	for (uint32_t i = 0; i < reserved->count; i++) {
		const struct booking *b = reserved->item[i];

		if (b->entry.job == a->w->entry.job || b->t0 >= end || (in_rows && !is_in_rows(b->want)))
			continue;
		for (uint32_t s = 0; s < b->layout.shares; s++)
			if (sl_nodeset_subtract(&a->open, &b->layout.share[s].nodes, err) < 0)
				return -1;
	}
	return a->p->holds ? plan_hold_keep_off(a->p, a->w->entry.job, &a->open, err) : 0;
}

/* Jobs that have cores of each node, or are to start there: it may be more, and never fewer. */
static void count_jobs(const struct sl_plan *p, uint32_t *jobs)
{
	const struct sl_cluster *c = p->c;

	for (uint32_t i = 0; i < c->runs + c->lingers; i++) {
		const struct held *h = c->held[i < c->runs ? c->running[i] : c->lingering[i - c->runs]];

		for (uint32_t k = 0; h && k < h->count; k++)
			jobs[h->place[k].node]++;
	}
	for (uint32_t i = 0; i < p->started.count; i++) {
		const struct sl_layout *l = &p->started.item[i]->layout;

		for (uint32_t s = 0; s < l->shares; s++) {
			const struct sl_nodeset *set = &l->share[s].nodes;

			for (uint32_t n = sl_nodeset_next(set, 0); n < SL_MAX_NODES; n = sl_nodeset_next(set, n + 1))
				jobs[n]++;
		}
	}
}

int plan_keep_few(struct attempt *a, uint32_t most, struct sl_error *err)
{
	uint32_t nodes = a->p->c->snap->node.rows, *jobs = calloc((size_t) nodes + 1, sizeof(*jobs));
	struct sl_nodeset many = SL_NODESET_EMPTY;
	int rc = jobs ? 0 : sl_fail(err, SL_ENOMEM, "plan: out of memory");

	if (jobs)
		count_jobs(a->p, jobs);
	for (uint32_t n = 0; !rc && n < nodes; n++)
		if (jobs[n] > most)
			rc = sl_nodeset_add(&many, n, n, err);
	if (!rc)
		rc = sl_nodeset_subtract(&a->open, &many, err);
	sl_nodeset_free(&many);
	free(jobs);
	return rc;
}
