/* SPDX-License-Identifier: MIT */
/* plan_preempt.c - jobs that do not fit and for which Slurm could preempt others. */
#include "model/plan_private.h"

#include "model/preempt.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void append_entry(struct preempting *list, struct sl_entry e, uint32_t reserved, uint32_t blocks)
{
	for (uint32_t i = 0; i < list->count; i++)
		if (list->entry[i].job == e.job && list->entry[i].partition == e.partition)
			return;
	if (list->count == SL_PLAN_PREEMPT_MAX)
		return;
	list->reserved[list->count] = reserved;
	list->blocks[list->count] = blocks;
	list->entry[list->count++] = e;
}

static void take_entry_out(struct preempting *list, uint32_t at)
{
	list->count--;
	memmove(list->entry + at, list->entry + at + 1, (list->count - at) * sizeof(*list->entry));
	memmove(list->reserved + at, list->reserved + at + 1, (list->count - at) * sizeof(*list->reserved));
	memmove(list->blocks + at, list->blocks + at + 1, (list->count - at) * sizeof(*list->blocks));
}

/* Preempting helps if too little is free, for the job as asked in its own partition. */
void plan_preempt_tried(struct sl_plan *p, const struct want *w, enum sl_why why)
{
	const struct sl_entry *e = &w->entry;

	if (!e->loan && !e->shape && !plan_hold_of(p, e->job) && (why == SL_WHY_RESOURCES || why == SL_WHY_RESERVATION ||
					why == SL_WHY_RESERVED) &&
	    sl_snapshot_may_preempt(p->c->snap, e->job) && !plan_owns_stops_for(p, w))
		append_entry(&p->tried, *e, 0, 0);
}

void plan_preempt_outdated(struct sl_plan *p)
{
	p->confirmed.count = 0;
}

static void drop_from(struct preempting *list, uint32_t job)
{
	for (uint32_t i = list->count; i-- > 0; )
		if (list->entry[i].job == job)
			take_entry_out(list, i);
}

void plan_preempt_drop(struct sl_plan *p, uint32_t job)
{
	drop_from(&p->tried, job);
	drop_from(&p->confirmed, job);
}

bool sl_plan_next_preempting(struct sl_plan *p, struct sl_entry *e)
{
	while (p->tried.count) {
		*e = p->tried.entry[0];
		take_entry_out(&p->tried, 0);
		if (sl_plan_job(p, e->job) != SL_PLAN_STARTED)
			return true;
	}
	return false;
}

void sl_plan_confirm_preempting(struct sl_plan *p, struct sl_entry e)
{
	uint32_t own = plan_find(&p->reserved, e.job);
	const struct want *w = cluster_want(p->c, e, NULL);

	/* it may have been tried before the plan took over the preemption of its partition */
	if (!w || plan_owns_stops_for(p, w))
		return;
	append_entry(&p->confirmed, e, own == SL_NONE ? p->reservations : p->reserved.item[own]->reserved,
		     plan_blocks_of(p, e.job, w));
}

const struct sl_entry *sl_plan_preempting(const struct sl_plan *p, uint32_t *count)
{
	*count = p->confirmed.count;
	return p->confirmed.entry;
}

/* -- who decides which jobs are preempted -------------------------------------------- */

bool plan_stops_are_selects(const struct sl_cluster *c, const struct want *w, struct sl_refusal *why)
{
	char text[SL_WORDS_TEXT];

	if (plan_is_component(c, w->entry.job))
		plan_say(why, SL_WHY_RESOURCES, "for components of heterogeneous jobs others are not stopped by the plan");
	else if (w->pub.native)
		plan_say_now(why, SL_WHY_RESOURCES, "only Slurm's select can place it (%s), and so can say whom to stop",
			     sl_words_text(w->pub.native, w->pub.asked, text, sizeof(text)));
	else if (w->enclave || c->rows || c->tenants || c->has_partial || c->has_flexible)
		plan_say(why, SL_WHY_RESOURCES, "where nodes are shared or reserved in part others are not stopped by the plan");
	else
		return false;
	return true;
}

int sl_plan_own_stops(struct sl_plan *p, uint32_t partition, struct sl_error *err)
{
	uint32_t rows = p->c->snap->partition.rows;

	if (partition >= rows)
		return sl_fail(err, SL_EINVAL, "there is no partition row %" PRIu32, partition);
	if (!p->own_stops && !(p->own_stops = calloc(rows, sizeof(*p->own_stops)))) {
		plan_no_memory(err);
		return -1;
	}
	if (!p->own_stops[partition])
		plan_refusals_forget(p);
	p->own_stops[partition] = 1;
	return 0;
}

bool plan_knows_blocks_for(const struct sl_plan *p, struct sl_entry e)
{
	const struct want *w;

	e.freed = true;
	return p->own_stops && p->own_stops[e.partition] && sl_snapshot_may_preempt(p->c->snap, e.job) &&
		(w = cluster_want(p->c, e, NULL)) && w->pub.request.segment && plan_owns_stops_for(p, w);
}

/* A job that borrows nodes of a reservation preempts that reservation's jobs; no plan decides about that. */
bool plan_owns_stops_for(const struct sl_plan *p, const struct want *w)
{
	struct sl_entry e = w->entry;
	struct sl_refusal why;

	if (!p->own_stops || !p->own_stops[e.partition] || p->c->snap->job.flags[e.job] & SL_JOBF_BORROWS)
		return false;
	e.freed = true;
	return (w = cluster_want(p->c, e, NULL)) && !plan_stops_are_selects(p->c, w, &why);
}
