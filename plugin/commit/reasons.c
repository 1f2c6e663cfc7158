/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reasons.c - see reasons.h */
#include <stdlib.h>

#include "plugin/commit/reasons.h"
#include "base/plain.h"
#include "image/nodelist.h"

/* Slurm's code for a reason; the words go to state_desc. */
static uint32_t slurm_reason(uint32_t why)
{
	switch (why) {
	case SL_WHY_PRIORITY:
	case SL_WHY_WINDOW:
	case SL_WHY_BUDGET:
		return WAIT_PRIORITY;
	case SL_WHY_NODES_DOWN:
		return WAIT_NODE_NOT_AVAIL;
	case SL_WHY_RESERVATION:
		return WAIT_RESERVATION;
	case SL_WHY_LICENSES:
		return WAIT_LICENSES;
	case SL_WHY_NEVER:
	case SL_WHY_PARTITION:
		return WAIT_PART_CONFIG;
	case SL_WHY_BEGIN:
		return WAIT_TIME;
	case SL_WHY_ARRAY:
		return WAIT_ARRAY_TASK_LIMIT;
	}
	return WAIT_RESOURCES;
}

/* Set them, and say so only if that changes something: last_job_update makes
 * every client fetch all jobs anew. */
static bool set_reason(job_record_t *job, uint32_t reason, const char *text, time_t start, const char *nodes)
{
	char *desc = *text ? sl_plain(xstrdup(text)) : NULL;
	bool changed = false;

	if (job->state_reason != reason) {
		job->state_reason = reason;
		changed = true;
	}
	if (xstrcmp(job->state_desc, desc)) {
		xfree(job->state_desc);
		job->state_desc = desc;
		desc = NULL;
		changed = true;
	}
	xfree(desc);
	if (job->start_time != start) {
		job->start_time = start;
		changed = true;
	}
	/* a start clears it, as it does that of Slurm's own backfill */
	if (xstrcmp(job->sched_nodes, nodes)) {
		xfree(job->sched_nodes);
		job->sched_nodes = xstrdup(nodes);
		changed = true;
	}
	job->last_sched_eval = time(NULL);
	return changed;
}

/* Only of jobs that were competing in this cycle and still are: others have a
 * reason of their own from build_job_queue() or select. */
static job_record_t *find_waiting(const struct sl_commit *m, uint32_t job_id)
{
	uint32_t row = sl_collect_row(m->c, job_id);
	job_record_t *job = find_job_record(job_id);

	if (!job || row == SL_NONE || !IS_JOB_PENDING(job) || IS_JOB_COMPLETING(job) || !job->priority ||
	    !sl_job_sane(job))
		return NULL;
	return job;
}

static bool failed_start(const struct sl_commit *m, uint32_t job_id)
{
	uint32_t row = sl_collect_row(m->c, job_id);

	return row != SL_NONE && m->marks[row] & SL_MARK_FAILED;
}

static bool tell_pending(struct sl_commit *m, uint32_t i)
{
	const struct sl_plan_image *plan = m->plan;
	job_record_t *job = find_waiting(m, plan->pending.job[i]);
	uint32_t why = plan->pending.why[i];

	if (!job || why == SL_WHY_NONE)
		return false;
	return set_reason(job, slurm_reason(why), sl_image_str(&plan->image, plan->pending.text[i]), 0, NULL);
}

/* Where it is expected to start; NULL where Slurm's select is to choose among these nodes. */
static char *name_places(const struct sl_commit *m, uint32_t i)
{
	const struct sl_plan_image *plan = m->plan;
	const struct sl_range places = plan->reserve.places[i];
	const char **name = plan->reserve.native[i] ? NULL : malloc((places.count + 1) * sizeof(*name));
	char *list;
	uint32_t n = 0;

	if (!name)
		return NULL;
	for (uint32_t k = places.first; k < places.first + places.count; k++)
		if (plan->place.node[k] < m->c->snap.node.rows)
			name[n++] = sl_snapshot_str(&m->c->snap, m->c->snap.node.name[plan->place.node[k]]);
	list = n ? sl_nodelist_join(name, n, NULL) : NULL;
	free(name);
	return list;
}

/* The nodes of all reservations, by row; NULL: they are not told.  It is made while no lock
 * is held: a conservative plan has a place for every job. */
static char **name_reserved(const struct sl_commit *m)
{
	char **nodes = calloc((size_t) m->plan->reserve.rows + 1, sizeof(*nodes));

	for (uint32_t i = 0; nodes && i < m->plan->reserve.rows; i++)
		nodes[i] = name_places(m, i);
	return nodes;
}

static void free_names(const struct sl_commit *m, char **nodes)
{
	for (uint32_t i = 0; nodes && i < m->plan->reserve.rows; i++)
		free(nodes[i]);
	free(nodes);
}

static bool tell_reserved(struct sl_commit *m, uint32_t i, const char *nodes)
{
	const struct sl_plan_image *plan = m->plan;
	job_record_t *job = failed_start(m, plan->reserve.job[i]) ? NULL : find_waiting(m, plan->reserve.job[i]);

	/* Slurm's word for a job that has resources set aside: Resources */
	return job && set_reason(job, WAIT_RESOURCES, "", (time_t) plan->reserve.start_time[i], nodes);
}

static bool tell_failed(struct sl_commit *m, uint32_t i)
{
	const struct sl_carried *c = &m->carried[i];
	bool refused = c->fate == SL_FATE_SELECT || c->fate == SL_FATE_LIMIT;
	job_record_t *job = refused ? find_waiting(m, c->job) : NULL;
	char text[200];

	/* limits, reservations and the like have set a reason of their own */
	if (!job || (job->state_reason != WAIT_NO_REASON && job->state_reason != WAIT_RESOURCES &&
		     job->state_reason != WAIT_PRIORITY))
		return false;
	snprintf(text, sizeof(text), "planned, but not started: %s", c->text);
	return set_reason(job, job->state_reason == WAIT_PRIORITY ? WAIT_PRIORITY : WAIT_RESOURCES, text, 0, NULL);
}

/* Number i of all that the plan tells: who waits, who has a reservation, who was refused. */
static bool tell_one(struct sl_commit *m, uint32_t i, char **nodes)
{
	const struct sl_plan_image *plan = m->plan;

	if (i < plan->pending.rows)
		return tell_pending(m, i);
	i -= plan->pending.rows;
	if (i < plan->reserve.rows)
		return tell_reserved(m, i, nodes ? nodes[i] : NULL);
	return tell_failed(m, i - plan->reserve.rows);
}

void sl_commit_reasons(struct sl_commit *m)
{
	const struct sl_plan_image *plan = m->plan;
	uint32_t i = 0, n = plan->pending.rows + plan->reserve.rows + plan->start.rows;
	char **nodes = name_reserved(m);

	while (i < n && !atomic_load(m->stop)) {
		bool changed = false;
		struct sl_hold h;

		sl_hold_take(&h, m, (slurmctld_lock_t) { .conf = READ_LOCK, .job = WRITE_LOCK });
		for (; i < n && sl_hold_lasts(&h); i++)
			changed |= tell_one(m, i, nodes);
		if (changed)
			last_job_update = time(NULL);
		sl_hold_leave(&h);
	}
	free_names(m, nodes);
}
