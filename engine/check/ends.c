/* SPDX-License-Identifier: MIT */
/* check/ends.c - when nodes are released: see check.h, "Overdue", "Nodes" and "Power". */
#include "check/private.h"

#include <inttypes.h>

#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))

static bool is_cleaned_up(const struct check *c, uint32_t j)
{
	return c->snap->job.flags[j] & SL_JOBF_COMPLETING;
}

/* The new expected end of something overdue since then: it goes on for as long again. */
static int64_t as_long_again(const struct check *c, int64_t since)
{
	return sl_sum_signed(c->now, MAX(sl_difference(c->now, since), SL_OVERDUE_S));
}

static bool hangs(const struct check *c, uint32_t j)
{
	const struct sl_meta_view *meta = &c->snap->meta;
	int64_t ended = c->snap->job.end_time[j], patience = sl_sum_signed(meta->kill_wait[0], meta->unkillable_timeout[0]);

	return is_cleaned_up(c, j) && ended && sl_difference(c->now, ended) > MAX(patience, SL_HUNG_S);
}

/* -- power --------------------------------------------------------------- */

static int64_t told(const struct check *c, uint32_t node)
{
	int64_t t = c->snap->node.power_time[node];

	return t <= 0 || t > c->now ? c->now : t;
}

static int64_t boot_time(const struct check *c, uint32_t node)
{
	int64_t limit = c->snap->node.resume_timeout[node];

	return limit == SL_UNLIMITED || limit < 0 ? 0 : limit;
}

int64_t check_boots(const struct check *c, uint32_t node, int64_t at)
{
	uint32_t state = c->snap->node.state[node];

	if (state & SL_NODE_POWERING_UP)
		return MAX(sl_difference(sl_sum_signed(told(c, node), boot_time(c, node)), at), 0);
	if (state & (SL_NODE_POWERED_DOWN | SL_NODE_POWERING_DOWN))
		return boot_time(c, node);
	return 0;
}

/* -- jobs ---------------------------------------------------------------- */

/* The end of its time limit, which begins when the last of its nodes is up. */
static int64_t end_from_boot(const struct check *c, uint32_t j)
{
	struct sl_range alloc = c->snap->job.alloc[j];
	int64_t boots = 0;

	for (uint32_t a = alloc.first; a < alloc.first + alloc.count; a++)
		boots = MAX(boots, check_boots(c, c->snap->alloc.node[a], c->now));
	return sl_sum_signed(sl_sum_signed(c->now, boots), c->snap->job.time_limit[j]);
}

/* Until when a job may go on whose time limit ended at *end* (check.h, "Overdue"). */
static int64_t overtime(const struct check *c, uint32_t j, int64_t end)
{
	uint32_t part = c->snap->job.partition[j];
	int64_t over = c->snap->meta.over_time_limit[0], limit = c->snap->job.time_limit[j];

	if (part != SL_NONE && c->snap->partition.over_time_limit[part] >= 0)
		over = c->snap->partition.over_time_limit[part];
	if (over != SL_UNLIMITED)
		return sl_sum_signed(sl_sum_signed(end, over), c->snap->meta.kill_wait[0]);
	return sl_sum_signed(end, limit <= 0 || limit == SL_UNLIMITED ? SL_YEAR_S : limit);
}

/* The expected end of a running job with time_min_as_soft_limit: after its time_min; if that is past, halfway to its limit. */
static int64_t soft_end(const struct check *c, uint32_t j, int64_t hard)
{
	int64_t least = c->snap->job.time_min[j], at = sl_sum_signed(c->snap->job.start_time[j], least);

	if (least <= 0 || hard <= c->now)
		return hard;
	if (at < c->now && hard != SL_UNLIMITED)
		at = c->now + sl_difference(hard, c->now) / 2;
	return at < c->now ? hard : MIN(at, hard);
}

int64_t check_end(const struct check *c, uint32_t j)
{
	const struct sl_job_view *job = &c->snap->job;
	bool asleep = job->state[j] == SL_JOB_SUSPENDED;
	int64_t end = job->end_time[j];

	if (hangs(c, j))
		return SL_UNLIMITED;
	if (is_cleaned_up(c, j) || (job->state[j] != SL_JOB_RUNNING && !asleep))
		return as_long_again(c, end && end < c->now ? end : c->now);
	if (!end)
		end = job->time_limit[j] == SL_UNLIMITED ? SL_UNLIMITED :
			sl_sum_signed(job->start_time[j], job->time_limit[j]);
	if (c->snap->meta.select_flags[0] & SL_SELECT_SOFT_LIMIT && job->state[j] == SL_JOB_RUNNING)
		end = soft_end(c, j, end);
	if (end == SL_UNLIMITED)
		return end;
	if (asleep && job->suspend_time[j])
		end = sl_sum_signed(c->now, sl_difference(end, job->suspend_time[j]));
	else if (job->flags[j] & SL_JOBF_POWER_UP && job->time_limit[j] != SL_UNLIMITED)
		end = MAX(end, end_from_boot(c, j));
	if (end <= c->now)
		end = overtime(c, j, end);
	return end > c->now ? end : as_long_again(c, end);
}

/* -- nodes --------------------------------------------------------------- */

/* When the last completing job of the node is expected to be gone; if none is known, after KillWait. */
static int64_t cleaned_up_at(const struct check *c, uint32_t node)
{
	const struct sl_job_view *job = &c->snap->job;
	int64_t at = INT64_MIN;

	for (uint32_t j = 0; j < job->rows; j++)
		for (uint32_t a = job->alloc[j].first; is_cleaned_up(c, j) && a < job->alloc[j].first + job->alloc[j].count; a++)
			if (c->snap->alloc.node[a] == node)
				at = MAX(at, check_end(c, j));
	return at > INT64_MIN ? at : sl_sum_signed(c->now, c->snap->meta.kill_wait[0]);
}

static int64_t rebooted_at(const struct check *c, uint32_t node)
{
	uint32_t state = c->snap->node.state[node];
	int64_t down = sl_sum_signed(told(c, node), c->snap->node.suspend_timeout[node]);

	if (state & SL_NODE_REBOOT_ISSUED)
		return sl_sum_signed(told(c, node), boot_time(c, node));
	if (state & SL_NODE_REBOOT_REQUESTED)
		return sl_sum_signed(MAX(MAX(c->held_until[node], sl_sum_signed(c->now, SL_OVERDUE_S)), c->now), boot_time(c, node));
	if (!(state & SL_NODE_POWERING_DOWN) || state & SL_NODE_POWERED_DOWN)
		return INT64_MIN;
	return down > c->now ? down : as_long_again(c, down);
}

static int check_boots_in_time(const struct check *c, const struct row *r, uint32_t node)
{
	bool boots = c->snap->node.state[node] & (SL_NODE_POWERING_UP | SL_NODE_REBOOT_ISSUED);
	int64_t limit = c->snap->node.resume_timeout[node];

	if (!boots || limit == SL_UNLIMITED || sl_sum_signed(told(c, node), limit) >= c->now)
		return 0;
	return check_fail(c, r, "node %s boots for longer than its ResumeTimeout", check_str(c, c->snap->node.name[node]));
}

int check_free_of_jobs(struct check *c, const struct row *r, uint32_t node)
{
	const struct sl_snapshot *s = c->snap;
	const char *name = check_str(c, s->node.name[node]);

	if (check_boots_in_time(c, r, node) < 0)
		return -1;
	if (c->hung[node])
		return check_fail(c, r, "node %s has a job that hangs in COMPLETING", name);
	if (s->node.state[node] & SL_NODE_COMPLETING && r->at < cleaned_up_at(c, node))
		return check_fail(c, r, "node %s is completing", name);
	if (r->at < rebooted_at(c, node))
		return check_fail(c, r, "node %s is being powered down or rebooted", name);
	return 0;
}

void check_find_hung(struct check *c)
{
	const struct sl_job_view *job = &c->snap->job;

	for (uint32_t j = 0; j < job->rows; j++)
		for (uint32_t a = job->alloc[j].first; hangs(c, j) && a < job->alloc[j].first + job->alloc[j].count; a++)
			c->hung[c->snap->alloc.node[a]] = 1;
}
