/* SPDX-License-Identifier: GPL-2.0-or-later */
/* collect/lent.c - jobs whose record has the mark of borrowed nodes (request/lend.h) */
#include <stdlib.h>

#include "base/grow.h"
#include "plugin/collect/int.h"
#include "plugin/request/lend.h"

void sl_collect_note_lent(struct sl_collector *c, uint32_t job_id)
{
	struct sl_lent *l = &c->lent;

	if (sl_grow(&l->job, &l->room, l->count + UINT64_C(1), sizeof(*l->job), NULL))
		l->unsure = true;
	else
		l->job[l->count++] = job_id;
}

/* Look at jobs during one hold of the locks, at least at one.  False if there are no more. */
static bool look_at_some(struct sl_collector *c, sl_list_itr_t *i)
{
	slurmctld_lock_t locks = { .job = READ_LOCK };
	job_record_t *job = NULL;
	uint64_t since;

	lock_slurmctld(locks);
	since = sl_clock_us();
	if (!*i && job_list)
		*i = list_iterator_create(job_list);
	while (*i && (job = list_next(*i))) {
		if (job->magic == JOB_MAGIC && sl_lend_marked(job))
			sl_collect_note_lent(c, job->job_id);
		if (sl_clock_us() - since >= SL_COLLECT_HOLD_US)
			break;
	}
	if (*i && !job)
		list_iterator_destroy(*i);
	c->copy_us = MAX(c->copy_us, sl_clock_us() - since);
	unlock_slurmctld(locks);
	return job != NULL;
}

void sl_collect_find_lent(struct sl_collector *c)
{
	sl_list_itr_t i = NULL;

	if (!c->lent.unsure)
		return;
	c->lent.count = 0;
	while (look_at_some(c, &i))
		;
}

void sl_collect_restore_lent(struct sl_collector *c)
{
	for (uint32_t i = 0; i < c->lent.count; i++) {
		job_record_t *job = find_job_record(c->lent.job[i]);

		if (job && IS_JOB_PENDING(job) && !IS_JOB_COMPLETING(job) && sl_lend_marked(job))
			sl_lend_restore(job);
	}
}
