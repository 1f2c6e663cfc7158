/* SPDX-License-Identifier: GPL-2.0-or-later */
/* collect/yields.c - how jobs can be preempted; see collect/int.h */
#include "plugin/collect/int.h"

/* The shortest run time that sched/backfill assumes for a job. */
#define SHORTEST_S 60

static bool preempts_by(const char *type)
{
	return !xstrcmp(slurm_conf.preempt_type, type);
}

/* What _job_preempt_mode() of preempt/qos and preempt/partition_prio returns, without gang scheduling. */
static uint16_t preempt_mode(const job_record_t *job)
{
	uint16_t mode = slurm_conf.preempt_mode;

	if (preempts_by("preempt/qos"))
		mode = !job->qos_ptr ? PREEMPT_MODE_OFF : job->qos_ptr->preempt_mode ? job->qos_ptr->preempt_mode : mode;
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

/* GraceTime: the time between the notice and the end. */
static int64_t grace_s(const job_record_t *job)
{
	if (preempts_by("preempt/qos"))
		return job->qos_ptr ? job->qos_ptr->grace_time : 0;
	return job->part_ptr ? job->part_ptr->grace_time : 0;
}

static bool has_no_reserve(const job_record_t *job)
{
	return job->qos_ptr && job->qos_ptr->flags & QOS_FLAG_NO_RESERVE;
}

bool sl_collect_reserves(const job_record_t *job)
{
	/* of a job without an association slurmctld would log a line each time */
	return !has_no_reserve(job) && !(IS_JOB_PENDING(job) && job->assoc_ptr &&
					 job->priority < acct_policy_get_prio_thresh((job_record_t *) job, true));
}

/* Read a number of PreemptParameters as s_p_handle_uint32() does; 0 for a value with which slurmctld would not start. */
static uint32_t min_exempt_priority(const char *params)
{
	static const char key[] = "min_exempt_priority=";
	const char *at = params ? strcasestr(params, key) : NULL, *value = at ? at + strlen(key) : "unlimited";
	unsigned long number;
	char *end;

	if (!at || !strncasecmp(value, "unlimited", 9) || !strncasecmp(value, "infinite", 8))
		return INFINITE;
	number = strtoul(value, &end, 0);
	if (end == value || number > UINT32_MAX)
		return 0;
	return (uint32_t) (*end == 'k' || *end == 'K' ? MIN(number * 1024, UINT32_MAX) : number);
}

void sl_collect_preempt_params(struct sl_scratch *s, const char *params)
{
	s->min_exempt_priority = min_exempt_priority(params);
}

/* True if nobody may preempt the job, or if that depends on its other components (_is_job_preempt_exempt()). */
static bool is_exempt(const struct sl_scratch *s, const job_record_t *job)
{
	return job->het_job_id || job->priority > s->min_exempt_priority;
}

int64_t sl_collect_yields_after(const struct sl_scratch *s, const job_record_t *job)
{
	if (!s->preempts || !has_no_reserve(job) || !preempt_mode(job) || is_exempt(s, job))
		return 0;
	return MAX(SHORTEST_S, exempt_s(job) + grace_s(job));
}

/* -- who may preempt whom -------------------------------------------------- */

/* True if the job keeps something while it is suspended (memory, gres), so that others could not have all of it. */
static bool keeps_some(const struct sl_scratch *s, const job_record_t *job)
{
	return job->gres_list_alloc || (s->memory && job->job_resrcs && job->job_resrcs->memory_allocated);
}

/* (A job that is suspended gets no GraceTime.) */
int64_t sl_collect_safe_until(const struct sl_scratch *s, const job_record_t *job)
{
	uint16_t mode;
	time_t from;

	if (!s->preempts || !IS_JOB_RUNNING(job) || is_exempt(s, job) || !(mode = preempt_mode(job)) ||
	    (mode == PREEMPT_MODE_SUSPEND && keeps_some(s, job)))
		return 0;
	from = MAX(job->start_time + (time_t) exempt_s(job), s->now);
	return from + (mode == PREEMPT_MODE_SUSPEND ? 0 : grace_s(job));
}

/* -- how a running job is stopped for another one --------------------------------- */

/* What Slurm does to preempt a running job.  Of a heterogeneous job: to one component alone. */
static uint32_t stop_mode(const struct sl_scratch *s, const job_record_t *job)
{
	uint16_t mode = s->preempts && job->priority <= s->min_exempt_priority ? preempt_mode(job) : PREEMPT_MODE_OFF;

	if (mode == PREEMPT_MODE_SUSPEND)
		return slurm_conf.preempt_mode & PREEMPT_MODE_GANG ? SL_STOP_SUSPEND : SL_STOP_NONE;
	/* (a job that cannot be requeued is killed instead) */
	if (mode == PREEMPT_MODE_REQUEUE)
		return job->batch_flag && job->details && job->details->requeue ? SL_STOP_REQUEUE : SL_STOP_CANCEL;
	return mode == PREEMPT_MODE_CANCEL ? SL_STOP_CANCEL : SL_STOP_NONE;
}

struct stop_terms {
	const struct sl_scratch *s;
	struct sl_job_row *row;
	bool never;
};

static int add_stop_terms(void *x, void *arg)
{
	const job_record_t *job = x;
	struct stop_terms *t = arg;
	uint32_t mode = stop_mode(t->s, job);

	if (!mode)
		t->never = true;
	/* of the modes of all components, slurm_job_preempt_mode() takes the first in this order */
	t->row->preempt_mode = MAX(t->row->preempt_mode, mode);
	t->row->preempt_from = MAX(t->row->preempt_from, (int64_t) job->start_time + exempt_s(job));
	t->row->grace_time = MAX(t->row->grace_time, grace_s(job));
	return 0;
}

void sl_collect_stop_terms(const struct sl_scratch *s, const job_record_t *job, struct sl_job_row *row)
{
	const job_record_t *leader = job->het_job_id ? find_job_record(job->het_job_id) : NULL;
	struct stop_terms t = { s, row, false };

	if (leader && leader->het_job_list)
		list_for_each(leader->het_job_list, add_stop_terms, &t);
	else
		add_stop_terms((void *) job, &t);
	if (t.never) {
		row->preempt_mode = SL_STOP_NONE;
		row->preempt_from = row->grace_time = 0;
	}
	row->preempt_time = job->preempt_time;
}

/* -- whom a waiting job may preempt ------------------------------------------------- */

struct preemptees {
	const job_record_t *job;
	char *names;
};

static void add_name(struct preemptees *p, const char *kind, const char *name)
{
	xstrfmtcat(p->names, "%s%s", p->names ? "," : kind, name);
}

static int each_qos(void *x, void *arg)
{
	const slurmdb_qos_rec_t *qos = x;
	struct preemptees *p = arg;
	bitstr_t *preempts = p->job->qos_ptr->preempt_bitstr;

	if (qos->id < bit_size(preempts) && bit_test(preempts, qos->id))
		add_name(p, "QOS=", qos->name);
	return 0;
}

static int each_part(void *x, void *arg)
{
	const part_record_t *part = x;
	struct preemptees *p = arg;

	if (part->priority_tier < p->job->part_ptr->priority_tier && part->preempt_mode != PREEMPT_MODE_OFF)
		add_name(p, "Partition=", part->name);
	return 0;
}

/* True if that bit of PreemptMode is set for the job: by its QOS or its partition, or for all of the cluster. */
static bool has_preempt_mode(const job_record_t *job, bool by_qos, uint16_t bit)
{
	uint16_t own = by_qos ? job->qos_ptr->preempt_mode : job->part_ptr->preempt_mode;

	return slurm_conf.preempt_mode & bit || (own != NO_VAL16 && own & bit);
}

uint32_t sl_collect_preempts_how(const job_record_t *job)
{
	bool by_qos = preempts_by("preempt/qos") && job->qos_ptr;

	if ((!by_qos && !(preempts_by("preempt/partition_prio") && job->part_ptr)) || job->details->expanding_jobid)
		return 0;
	return (has_preempt_mode(job, by_qos, SL_PREEMPT_PRIORITY) ? SL_JOBF_PREEMPTS_LOWER : 0) |
		(by_qos && has_preempt_mode(job, true, PREEMPT_MODE_WITHIN) ? SL_JOBF_PREEMPTS_WITHIN : 0);
}

bool sl_collect_preempts_within(const job_record_t *job)
{
	return preempts_by("preempt/qos") && job->qos_ptr && has_preempt_mode(job, true, PREEMPT_MODE_WITHIN);
}

static uint32_t list_preemptees(struct sl_collector *c, const job_record_t *job, bool by_qos)
{
	struct preemptees p = { .job = job };
	uint32_t str;

	if (!by_qos)
		list_for_each(part_list, each_part, &p);
	else if (job->qos_ptr->preempt_bitstr && assoc_mgr_qos_list)
		list_for_each(assoc_mgr_qos_list, each_qos, &p);
	str = sl_builder_str(c->b, p.names);
	xfree(p.names);
	return str;
}

uint32_t sl_collect_preempts(struct sl_collector *c, const job_record_t *job)
{
	bool by_qos = preempts_by("preempt/qos") && job->qos_ptr;
	bool by_part = preempts_by("preempt/partition_prio") && job->part_ptr;
	struct sl_map *known = &c->scratch->preemptees;
	uint32_t number, at;

	if ((!by_qos && !by_part) || job->details->expanding_jobid)
		return 0;
	number = by_qos ? job->qos_ptr->id : sl_collect_part(c, job->part_ptr);
	at = number == SL_NONE ? SL_MAP_NOTHING : sl_map_by_id(known, number);
	if (at != SL_MAP_NOTHING)
		return at;
	at = list_preemptees(c, job, by_qos);
	if (number != SL_NONE)
		(void) sl_map_put(known, sl_hash_id(number), at, NULL);
	return at;
}

void sl_collect_forget_preempts(struct sl_scratch *s)
{
	sl_map_clear(&s->preemptees);
}

/* -- reservations with MaxStartDelay ----------------------------------------- */

/*
 * A job with --signal=R can get nodes of such a reservation if it can be told to end early enough; jobs of the reservation
 * then preempt it (job_test_resv(), job_borrow_from_resv_check()).  Which of these nodes it gets only Slurm can decide: if
 * the plan has no place for a job of either kind, select is asked, as for jobs that preempt others.
 */
uint32_t sl_collect_borrows(const struct sl_scratch *s, const job_record_t *job)
{
	if (!s->start_delay)
		return 0;
	if (job->resv_name)
		return job->resv_ptr && job->resv_ptr->max_start_delay ? SL_JOBF_MAY_PREEMPT : 0;
	return job->warn_flags & KILL_JOB_RESV && job->warn_time <= s->start_delay ? SL_JOBF_BORROWS | SL_JOBF_MAY_PREEMPT : 0;
}
