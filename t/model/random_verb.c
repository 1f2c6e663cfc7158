/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "t/model/random_verb.h"

static void random_how(uint64_t *s, uint32_t nodes, struct sl_how *how, struct sl_pick *pick)
{
	uint32_t n = build_below(s, SL_PLACE_METHODS);

	*how = (struct sl_how) { .method = n };
	if (n != SL_PLACE_EXPLICIT)
		return;
	how->picks = pick;
	for (uint32_t i = build_below(s, nodes); i < nodes && how->count < 4; i += 1 + build_below(s, 2))
		pick[how->count++] = (struct sl_pick) { .node = i, .cores = build_below(s, 6) };
}

/* What is refused for want of something free could not have started now.  (A start of a job that others may preempt needs its
 * nodes for a shorter time than a reservation does.  So it may wait for nodes that are up where a reservation would not.) */
static void start_for_sure(struct desk *d, struct sl_entry e, const struct sl_terms *terms)
{
	bool waits = terms->wake_after && d->b->snap.job.yields_after[e.job] > 0;
	struct sl_refusal other;
	int64_t at;

	if (checked(d, sl_plan_start(d->p, e, terms, &d->why, &d->err)) ||
	    (d->why.why != SL_WHY_RESOURCES && d->why.why != SL_WHY_PRIORITY) || waits ||
	    strstr(sl_refusal_text(&d->why), "others are stopped for it"))	/* (it has its place, and starts nowhere else) */
		return;
	if (checked(d, sl_plan_earliest(d->p, e, terms, &at, &other, &d->err)) && at <= sl_cluster_now(d->c))
		fail_msg("job %u: refused (%s), and could start now", d->b->snap.job.id[e.job], sl_refusal_text(&d->why));
}

/* Now and then, with nodes of other partitions. */
static void random_loan(struct desk *d, uint64_t *s, struct sl_entry *e)
{
	uint32_t parts = d->b->snap.partition.rows;
	struct sl_loan wish = { .through = build_below(s, parts), .lenders = 1 + build_below(s, 3) };
	char why[160];

	if (build_below(s, 3))
		return;
	for (uint32_t i = 0; i < wish.lenders; i++)
		wish.lender[i] = build_below(s, parts);
	if (!checked(d, sl_cluster_borrow(d->c, *e, &wish, &e->loan, why, &d->err)) && !*why)
		fail_msg("job %u: may not borrow, and nothing says why", d->b->snap.job.id[e->job]);
}

void random_verb(struct desk *d, uint64_t *s)
{
	uint32_t count, kind = build_below(s, 16);
	const struct sl_entry *queue = sl_cluster_queue(d->c, &count);
	struct sl_pick pick[4];
	struct sl_how how;
	struct sl_terms terms = { .how = build_below(s, 3) ? NULL : &how, .any_shape = !build_below(s, 4),
		.expected = *s >> 40 & 1 ? 1 + (int64_t) (*s >> 20) % 7200 : 0,
		.wake_after = *s >> 33 & 3 ? 0 : (int64_t) (*s >> 25) % 1000 };
	struct sl_entry e;
	int64_t at;

	if (!count)
		return;
	e = queue[build_below(s, count)];
	random_how(s, d->b->nodes, &how, pick);
	random_loan(d, s, &e);
	if (kind < 4)
		start_for_sure(d, e, &terms);
	else if (kind < 8)
		checked(d, sl_plan_backfill(d->p, e, &terms, &d->why, &d->err));
	else if (kind < 12)
		checked(d, sl_plan_reserve(d->p, e, &terms, &at, &d->why, &d->err));
	else if (kind < 13)
		checked(d, sl_plan_earliest(d->p, e, &terms, &at, &d->why, &d->err));
	else if (kind < 14)
		checked(d, sl_plan_refuse(d->p, e.job, SL_WHY_POLICY, "no", &d->err));
	else if (sl_plan_job(d->p, e.job) == SL_PLAN_RESERVED || sl_plan_job(d->p, e.job) == SL_PLAN_STARTED)
		checked(d, sl_plan_undo(d->p, e.job, &d->err));
}
