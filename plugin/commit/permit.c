/* SPDX-License-Identifier: GPL-2.0-or-later */
/* permit.c - see permit.h */
#include "plugin/commit/permit.h"

const char sl_permit_ended[] = "it does not run any more";
const char sl_permit_limited[] = "a limit of its account or QOS keeps it from starting";

job_record_t *sl_permit_leader(job_record_t *job)
{
	job_record_t *leader = job && job->het_job_id ? find_job_record(job->het_job_id) : NULL;

	return leader && leader->het_job_list ? leader : job;
}

bool sl_permit_is_gang(job_record_t *job)
{
	return slurm_job_preempt_mode(sl_permit_leader(job)) == PREEMPT_MODE_SUSPEND;
}

static int has_nodes(void *x, void *nodes)
{
	const job_record_t *job = x;

	return job->node_bitmap && bit_overlap_any(job->node_bitmap, nodes);
}

uint32_t sl_permit_other(const struct sl_permit *p, const bitstr_t *nodes, bool (*planned)(uint32_t leader, void *arg), void *arg)
{
	for (uint32_t i = 0; i < p->victims.slots; i++) {
		uint32_t id = p->victims.slot[i].entry - 1;	/* meaningless for a free slot */
		job_record_t *job = p->victims.slot[i].entry ? find_job_record(id) : NULL;

		if (!job || planned(id, arg))
			continue;
		if (job->het_job_list ? list_find_first(job->het_job_list, has_nodes, (void *) nodes) != NULL :
		    has_nodes(job, (void *) nodes))
			return id;
	}
	return 0;
}

static int add_victim(void *x, void *arg)
{
	const job_record_t *job = x;

	(void) sl_map_put(arg, sl_hash_id(job->job_id), job->job_id, NULL);
	return 0;
}

/* Read the setting that _preempt_jobs() of node_scheduler.c reads before it calls slurm_job_preempt(). */
static void read_user_signal(void)
{
	preempt_send_user_signal = xstrcasestr(slurm_conf.slurmctld_params, "preempt_send_user_signal") ||
		xstrcasestr(sl_preempt_params(), "preempt_send_user_signal");
}

/* select_nodes() asks the same before it preempts jobs: they need not end for a job that a limit keeps from starting. */
static bool is_over_limit(job_record_t *job)
{
	return accounting_enforce & ACCOUNTING_ENFORCE_LIMITS &&
		(!acct_policy_job_runnable_pre_select(job, false) || sl_job_is_limited(job));
}

const char *sl_permit_begin(struct sl_permit *p, const struct sl_collector *c, uint32_t job_id, int64_t stamp, const char *partition)
{
	job_record_t *job = find_job_record(job_id);
	part_record_t *part = find_part_record((char *) partition), *before;
	uint32_t row = sl_collect_row(c, job_id), w = row == SL_NONE ? SL_NONE : c->first_way[row];
	sl_list_t victims;
	bool limited;

	if (!job || !sl_job_sane(job) || !IS_JOB_PENDING(job) || IS_JOB_COMPLETING(job))
		return "it does not wait any more";
	if (!job->priority)
		return "it is held";
	if (sl_job_stamp(job) != stamp)
		return "it was changed meanwhile";
	if (!part || part->magic != PART_MAGIC || !part->node_bitmap)
		return "its partition is gone";
	while (w != SL_NONE && find_part_record((char *) sl_snapshot_str(&c->snap, c->snap.partition.name[c->way[w].part])) != part)
		w = c->way[w].next;
	if (w == SL_NONE)
		return "it is not queued in that partition";
	if (!sl_job_take_qos(job, c->way[w].qos_id))
		return "it does not ask for that QOS any more";
	read_user_signal();
	before = job->part_ptr;
	job->part_ptr = part;
	limited = is_over_limit(job);
	victims = limited ? NULL : slurm_find_preemptable_jobs(job);
	job->part_ptr = before;
	if (limited)
		return sl_permit_limited;
	p->c = c;
	p->preemptor = job;
	if (victims) {
		(void) sl_map_reserve(&p->victims, (uint64_t) list_count(victims), NULL);
		list_for_each(victims, add_victim, &p->victims);
		FREE_NULL_LIST(victims);
	}
	return NULL;
}

void sl_permit_end(struct sl_permit *p)
{
	sl_map_free(&p->victims);
	p->preemptor = NULL;
}

static bool can_requeue(const job_record_t *job)
{
	return job->batch_flag && job->details->requeue;
}

uint16_t sl_permit_mode(job_record_t *victim, uint32_t planned)
{
	uint16_t mode = slurm_job_preempt_mode(victim);

	return mode == PREEMPT_MODE_CANCEL && (planned == SL_STOP_REQUEUE || planned == SL_STOP_EXPEDITE) ? PREEMPT_MODE_REQUEUE : mode;
}

/* True if the job is told to end some time before it is ended.  slurmctld then ends it, in Slurm's own mode. */
static bool has_grace(const struct sl_permit *p, const job_record_t *victim)
{
	uint32_t row = sl_collect_row(p->c, victim->job_id);

	return row == SL_NONE || p->c->snap.job.grace_time[row];
}

/* NULL if the plan's mode is Slurm's or a milder one.  A plan that relies on another mode is refused. */
static const char *check_mode(const struct sl_permit *p, job_record_t *victim, uint32_t planned)
{
	uint16_t mode = slurm_job_preempt_mode(victim);
	bool requeues = can_requeue(victim) &&
		(mode == PREEMPT_MODE_REQUEUE || (mode == PREEMPT_MODE_CANCEL && !has_grace(p, victim)));

	if (mode == PREEMPT_MODE_SUSPEND)
		return !(slurm_conf.preempt_mode & PREEMPT_MODE_GANG) ? "Slurm has PreemptMode=SUSPEND for it, but not GANG" :
			planned == SL_STOP_NONE || planned == SL_STOP_SUSPEND ? NULL :
			"Slurm would suspend it, and the plan says otherwise";
	if (mode != PREEMPT_MODE_REQUEUE && mode != PREEMPT_MODE_CANCEL)
		return "PreemptMode is off for it";
	if (planned == SL_STOP_SUSPEND)
		return "the plan says that it is suspended, and Slurm would end it";
	if (planned == SL_STOP_CANCEL)
		return mode == PREEMPT_MODE_REQUEUE && requeues ? "Slurm would requeue it, and the plan says that it is cancelled" : NULL;
	return planned == SL_STOP_NONE || requeues ? NULL : "the plan says that it is requeued, and Slurm would cancel it";
}

const char *sl_permit_refused(const struct sl_permit *p, uint32_t job_id, int64_t start_time, uint32_t mode)
{
	job_record_t *job = find_job_record(job_id), *victim;

	if (!job || IS_JOB_FINISHED(job) || IS_JOB_PENDING(job) || IS_JOB_COMPLETING(job))
		return sl_permit_ended;
	if (!sl_job_sane(job))
		return "its record is not as expected";
	if (job->start_time != start_time)
		return "it is another run meanwhile";
	if (!IS_JOB_RUNNING(job))
		return "it is suspended";
	victim = sl_permit_leader(job);
	if (victim->preempt_time)
		return "it was told to end before";
	if (sl_map_by_id(&p->victims, victim->job_id) == SL_MAP_NOTHING)
		return "Slurm does not let it be preempted for that job now";
	return check_mode(p, victim, mode);
}
