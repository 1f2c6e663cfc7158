/* SPDX-License-Identifier: MIT */
/*
 * plan_preempt.c - jobs that do not fit, and for which Slurm could preempt others.
 */
#include "model/plan_private.h"

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

/* Preempting others helps against too little that is free, in the job's own partition
 * and as it asked. */
void plan_preempt_tried(struct sl_plan *p, const struct sl_entry *e, enum sl_why why)
{
	if (!e->loan && !e->shape && !plan_hold_of(p, e->job) && (why == SL_WHY_RESOURCES || why == SL_WHY_RESERVATION ||
					why == SL_WHY_RESERVED) &&
	    sl_snapshot_may_preempt(p->c->snap, e->job))
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

	append_entry(&p->confirmed, e, own == SL_NONE ? p->reservations : p->reserved.item[own]->reserved,
		     plan_blocks_of(p, e.job, cluster_want(p->c, e, NULL)));
}

const struct sl_entry *sl_plan_preempting(const struct sl_plan *p, uint32_t *count)
{
	*count = p->confirmed.count;
	return p->confirmed.entry;
}
