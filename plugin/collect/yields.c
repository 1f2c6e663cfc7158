/* SPDX-License-Identifier: GPL-2.0-or-later */
/* collect/yields.c - jobs that may start into the gaps of a plan, since others may preempt them; see collect/int.h */
#include "plugin/collect/int.h"

/* For less than this sched/backfill takes no job to run. */
#define SHORTEST_S 60

static bool preempts_by(const char *type)
{
	return !xstrcmp(slurm_conf.preempt_type, type);
}

/* What _job_preempt_mode() of preempt/qos and preempt/partition_prio says, but for gang scheduling. */
static uint16_t preempt_mode(const job_record_t *job)
{
	uint16_t mode = slurm_conf.preempt_mode;

	if (preempts_by("preempt/qos") && job->qos_ptr->preempt_mode)
		mode = job->qos_ptr->preempt_mode;
	else if (preempts_by("preempt/partition_prio") && job->part_ptr && job->part_ptr->preempt_mode != NO_VAL16)
		mode = job->part_ptr->preempt_mode;
	return mode & ~SL_PREEMPT_HOW;
}

/* PreemptExemptTime, in the order of acct_policy_get_preemptable_time(). */
static int64_t exempt_s(const job_record_t *job)
{
	slurmdb_qos_rec_t *first, *second;

	acct_policy_set_qos_order((job_record_t *) job, &first, &second);
	if (first && first->preempt_exempt_time != INFINITE)
		return first->preempt_exempt_time;
	if (second && second->preempt_exempt_time != INFINITE)
		return second->preempt_exempt_time;
	return slurm_conf.preempt_exempt_time == INFINITE ? 0 : slurm_conf.preempt_exempt_time;
}

/* GraceTime, between being told to end and being ended. */
static int64_t grace_s(const job_record_t *job)
{
	if (preempts_by("preempt/qos"))
		return job->qos_ptr->grace_time;
	return job->part_ptr ? job->part_ptr->grace_time : 0;
}

static bool has_no_reserve(const job_record_t *job)
{
	return job->qos_ptr && job->qos_ptr->flags & QOS_FLAG_NO_RESERVE;
}

bool sl_collect_reserves(const job_record_t *job)
{
	return !has_no_reserve(job) &&
		!(IS_JOB_PENDING(job) && job->priority < acct_policy_get_prio_thresh((job_record_t *) job, true));
}

int64_t sl_collect_yields_after(const struct sl_scratch *s, const job_record_t *job)
{
	if (!s->preempts || !has_no_reserve(job) || !preempt_mode(job))
		return 0;
	return MAX(SHORTEST_S, exempt_s(job) + grace_s(job));
}
