/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fallback.c - see fallback.h */
#include "plugin/fallback.h"
#include "plugin/commit/check.h"
#include "plugin/commit/finish.h"
#include "plugin/commit/hold.h"
#include "plugin/commit/launch.h"
#include "plugin/commit/layout.h"

static void wait_for_resources(job_record_t *job, uint32_t reason)
{
	if (job->state_reason != WAIT_NO_REASON && job->state_reason != WAIT_RESOURCES &&
	    job->state_reason != WAIT_PRIORITY)
		return;
	if (job->state_reason != reason || job->state_desc)
		last_job_update = time(NULL);
	job->state_reason = reason;
	xfree(job->state_desc);
}

/*
 * The nodes that are closed to a job: those that are held for others, and where a place is held for it all but that, so
 * that select does not put it elsewhere, and preempt somebody else, while its own victims end. NULL: none.
 */
static bitstr_t *closed_nodes(struct sl_commit *m, uint32_t job)
{
	const bitstr_t *own = sl_hold_nodes(m, job);
	bitstr_t *off = NULL;

	if (own) {
		off = bit_copy((bitstr_t *) own);
		bit_not(off);
	}
	sl_hold_keep_off(m, job, &off);
	return off;
}

/* select_nodes() on what is open to it. */
static int select_open(struct sl_commit *m, job_record_t *job)
{
	bitstr_t *off = closed_nodes(m, job->job_id);
	struct sl_cores cores = { 0 };
	time_t preempted = sl_hold_quiet_begin(m, job);
	enum sl_layout_way how;
	bool exact;
	int rc = sl_layout_start(job, NULL, 0, false, off, NULL, &cores, &how, &exact);

	sl_hold_quiet_end(job, preempted);
	/* to select closed nodes are not there */
	if (off && rc != SLURM_SUCCESS && rc != ESLURM_ACCOUNTING_POLICY)
		rc = ESLURM_NODES_BUSY;
	FREE_NULL_BITMAP(off);
	return rc;
}

/* One try; true when it runs.  *busy: it must wait for resources. */
static bool start_job(struct sl_commit *m, const struct sl_way *way, bool *busy)
{
	const struct sl_snapshot *snap = &m->c->snap;
	job_record_t *job = find_job_record(way->job_id), *head;
	part_record_t *part = find_part_record((char *) sl_snapshot_str(snap, snap->partition.name[way->part]));
	uint32_t limit;
	int rc;

	*busy = false;
	if (!job || !sl_job_sane(job) || job->het_job_id || sl_commit_check(job, part, way)) {
		if (job)
			job_resv_clear_magnetic_flag(job);
		return false;
	}
	limit = job->time_limit;
	if (job->deadline && job->deadline != (time_t) NO_VAL && limit != NO_VAL)
		job->time_limit = MIN(limit, (uint32_t) MAX((job->deadline - time(NULL)) / 60, 1));
	rc = fed_mgr_job_lock(job) ? ESLURM_FED_JOB_LOCK : select_open(m, job);
	if (rc == SLURM_SUCCESS)
		fed_mgr_job_start(job, job->start_time);
	else if (rc != ESLURM_FED_JOB_LOCK)
		fed_mgr_job_unlock(job);
	if (rc != SLURM_SUCCESS) {
		job->time_limit = limit;
		/* (nobody behind it waits for a place that is held) */
		*busy = rc == ESLURM_NODES_BUSY && !sl_held_find(m->held, way->job_id);
		job_resv_clear_magnetic_flag(job);
		return false;
	}
	sl_launch_now(job);
	(void) sl_hold_started(m, way->job_id, job);
	if ((head = find_job_record(way->job_id)) && head != job)
		job_resv_clear_magnetic_flag(head);
	return true;
}

struct fallback {
	struct sl_commit *m;
	bool *held;		/* by partition: the site wants that nothing starts */
	bool *blocked;		/* by partition: a job waits there */
	uint32_t at;		/* next way */
};

static void tell_held(job_record_t *job)
{
	static const char why[] = "held: the site's policies, which say who may start, do not run";

	if (job->state_reason != WAIT_NO_REASON && job->state_reason != WAIT_RESOURCES &&
	    job->state_reason != WAIT_PRIORITY)
		return;
	if (job->state_reason == WAIT_RESOURCES && !xstrcmp(job->state_desc, why))
		return;
	job->state_reason = WAIT_RESOURCES;
	xfree(job->state_desc);
	job->state_desc = xstrdup(why);
	last_job_update = time(NULL);
}

/* Nothing behind a job that waits may take its nodes: neither in its partition
 * nor in one that shares nodes with it. */
static void block_around(struct fallback *f, const part_record_t *part)
{
	const struct sl_snapshot *snap = &f->m->c->snap;
	uint32_t i;

	for (i = 0; i < f->m->c->parts; i++) {
		part_record_t *other = find_part_record((char *) sl_snapshot_str(snap, snap->partition.name[i]));

		if (other && other->node_bitmap && part->node_bitmap &&
		    bit_overlap_any(other->node_bitmap, part->node_bitmap))
			f->blocked[i] = true;
	}
}

/* A way as long as it starts jobs: tasks of an array. */
static void run_next_way(struct fallback *f)
{
	const struct sl_way *way = &f->m->c->way[f->at];
	job_record_t *job = find_job_record(way->job_id);
	bool busy = false;

	if (f->held[way->part]) {
		if (job && IS_JOB_PENDING(job))
			tell_held(job);
		f->at++;
		return;
	}
	if (f->blocked[way->part]) {
		if (job && IS_JOB_PENDING(job))
			wait_for_resources(job, WAIT_PRIORITY);
		f->at++;
		return;
	}
	if (start_job(f->m, way, &busy)) {
		f->m->started++;
		f->m->status->starts++;
		f->m->status->native_starts++;
		job = find_job_record(way->job_id);
		if (job && IS_JOB_PENDING(job) && job->array_recs)
			return;	/* once more: the next task */
	} else if (busy && job) {
		wait_for_resources(job, WAIT_RESOURCES);
		/* a job that waits for nodes of its own choice blocks nobody else */
		if (!job->details->req_node_bitmap && !job->resv_name)
			block_around(f, job->part_ptr);
	}
	f->at++;
}

void sl_fallback_run(struct sl_commit *m, const struct sl_fence *hold)
{
	const struct sl_snapshot *snap = &m->c->snap;
	struct fallback f = { .m = m, .held = xcalloc(m->c->parts + 1, sizeof(bool)),
			      .blocked = xcalloc(m->c->parts + 1, sizeof(bool)) };
	uint32_t i;

	for (i = 0; i < m->c->parts; i++)
		f.held[i] = sl_fence_has(hold, sl_snapshot_str(snap, snap->partition.name[i]));

	sl_finish_stops(m);
	while (f.at < m->c->ways && !atomic_load(m->stop)) {
		struct sl_hold h;

		sl_hold_take(&h, m, (slurmctld_lock_t) SL_COMMIT_LOCKS);
		if (!sl_commit_same_world(m))
			f.at = m->c->ways;
		while (f.at < m->c->ways && sl_hold_lasts(&h))
			run_next_way(&f);
		sl_hold_leave(&h);
	}
	xfree(f.held);
	xfree(f.blocked);
	(void) sl_hold_save(m);
	if (m->started) {
		schedule_job_save();
		schedule_node_save();
	}
}
