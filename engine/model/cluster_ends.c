/* SPDX-License-Identifier: MIT */
/* cluster_ends.c - when jobs that hold nodes are expected to end, and which nodes are lost: not used although Slurm does
 * not call them down. */
#include "model/cluster_private.h"

#include <stdlib.h>

/* -- jobs ---------------------------------------------------------------- */

bool cluster_is_hung(const struct sl_cluster *c, uint32_t j)
{
	const struct sl_job_view *job = &c->snap->job;
	int64_t bound = sl_later(c->snap->meta.kill_wait[0], c->snap->meta.unkillable_timeout[0]);

	if (!(job->flags[j] & SL_JOBF_COMPLETING) || !job->end_time[j])
		return false;
	return cluster_until(job->end_time[j], c->now) > (bound > SL_HUNG_S ? bound : SL_HUNG_S);
}

int64_t cluster_goes_on(int64_t due, int64_t now)
{
	int64_t over = cluster_until(due, now);

	return sl_later(now, over > SL_OVERDUE_S ? over : SL_OVERDUE_S);
}

/* OverTimeLimit of the job's partition, or of the cluster. */
static int64_t over_time_limit(const struct sl_cluster *c, uint32_t j)
{
	uint32_t p = c->snap->job.partition[j];
	int64_t own = p == SL_NONE ? -1 : c->snap->partition.over_time_limit[p];

	return own < 0 ? c->snap->meta.over_time_limit[0] : own;
}

/* When a job whose time limit ends at *end* is killed at the latest, as in _guess_job_end() of select/cons_tres.  With
 * OverTimeLimit=UNLIMITED that is unknown: it is assumed to run for its time limit again. */
static int64_t find_kill(const struct sl_cluster *c, uint32_t j, int64_t end)
{
	int64_t over = over_time_limit(c, j), limit = c->snap->job.time_limit[j];

	if (over == SL_UNLIMITED)
		return sl_later(end, limit > 0 && limit != SL_UNLIMITED ? limit : SL_YEAR_S);
	return sl_later(sl_later(end, over), c->snap->meta.kill_wait[0]);
}

int64_t cluster_expect_end(const struct sl_cluster *c, uint32_t j, int64_t end)
{
	if (c->snap->job.flags[j] & SL_JOBF_COMPLETING)
		return cluster_is_hung(c, j) ? SL_FOREVER : cluster_goes_on(end, c->now);
	if (end > c->now)
		return end;
	end = find_kill(c, j, end);
	return end > c->now ? end : cluster_goes_on(end, c->now);
}

/* The time limit of a job on booting nodes begins when they are up. */
static int64_t count_from_boot(const struct sl_cluster *c, uint32_t j, int64_t end)
{
	const struct sl_job_view *job = &c->snap->job;
	int64_t boots = 0;

	if (!(job->flags[j] & SL_JOBF_POWER_UP) || job->time_limit[j] == SL_UNLIMITED)
		return end;
	for (uint32_t a = job->alloc[j].first; a < job->alloc[j].first + job->alloc[j].count; a++) {
		int64_t own = sl_cluster_boots_in(c, c->snap->alloc.node[a], c->now);

		boots = own > boots ? own : boots;
	}
	boots = sl_later(sl_later(c->now, boots), job->time_limit[j]);
	return boots > end ? boots : end;
}

/* With time_min_as_soft_limit a running job is expected to end after its --time-min, and after that halfway to its limit,
 * again and again, as in _bf_reserve_running() of sched/backfill. */
static int64_t soft_end(const struct sl_cluster *c, uint32_t j, int64_t end)
{
	const struct sl_job_view *job = &c->snap->job;
	int64_t soft = sl_later(job->start_time[j], job->time_min[j]);

	if (!(c->snap->meta.select_flags[0] & SL_SELECT_SOFT_LIMIT) || job->time_min[j] <= 0 || end <= c->now ||
	    job->state[j] != SL_JOB_RUNNING)
		return end;
	if (soft < c->now)
		soft = end == SL_FOREVER ? end : c->now + cluster_until(c->now, end) / 2;
	return soft < end ? soft : end;
}

int64_t cluster_end_of(const struct sl_cluster *c, uint32_t j)
{
	const struct sl_job_view *job = &c->snap->job;
	int64_t end = job->end_time[j];

	if (job->flags[j] & SL_JOBF_COMPLETING || (job->state[j] != SL_JOB_RUNNING && job->state[j] != SL_JOB_SUSPENDED))
		return end && end < c->now ? end : c->now;
	if (!end)
		end = job->time_limit[j] == SL_UNLIMITED ? SL_FOREVER : sl_later(job->start_time[j], job->time_limit[j]);
	end = soft_end(c, j, end);
	if (end == SL_FOREVER)
		return end;
	if (job->state[j] == SL_JOB_SUSPENDED && job->suspend_time[j])
		return sl_later(c->now, cluster_until(job->suspend_time[j], end));
	return count_from_boot(c, j, end);
}

/* -- nodes --------------------------------------------------------------- */

int cluster_find_lost(struct sl_cluster *c, struct sl_error *err)
{
	const struct sl_snapshot *s = c->snap;

	for (uint32_t n = 0; n < s->node.rows; n++)
		if (cluster_boots_too_long(c, n) && sl_nodeset_add(&c->lost, n, n, err) < 0)
			return -1;
	for (uint32_t j = 0; j < s->job.rows; j++)
		for (uint32_t a = s->job.alloc[j].first;
		     cluster_is_hung(c, j) && a < s->job.alloc[j].first + s->job.alloc[j].count; a++)
			if (sl_nodeset_add(&c->lost, s->alloc.node[a], s->alloc.node[a], err) < 0)
				return -1;
	return 0;
}

const char *cluster_why_unusable(const struct sl_cluster *c, uint32_t node)
{
	uint32_t state = c->snap->node.state[node];

	if (state & SL_NODE_UNUSABLE)
		return state & SL_NODE_DOWN ? "down" : "drained";
	return cluster_boots_too_long(c, node) ? "not up although its ResumeTimeout has passed" :
		"still completing a job that should have been gone by now";
}

bool sl_cluster_is_lost(const struct sl_cluster *c, uint32_t node)
{
	return sl_nodeset_contains(&c->lost, node);
}
