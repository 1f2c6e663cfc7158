/* SPDX-License-Identifier: GPL-2.0-or-later */
/* commit/check.c - is a job fit to be started, now, under the locks? */
#include "plugin/commit/check.h"

static int same_part(void *x, void *key)
{
	return x == key;
}

static int same_resv(void *x, void *key)
{
	return ((slurmctld_resv_t *) x)->resv_id == *(uint32_t *) key;
}

/* False if the job may not use its QOS any more: it was taken away after the job was submitted. */
static bool qos_valid(job_record_t *job)
{
	assoc_mgr_lock_t locks = { .assoc = READ_LOCK, .qos = READ_LOCK };
	uint32_t id = sl_job_qos_id(job);
	bool ok = true;

	if (!id || !(accounting_enforce & ACCOUNTING_ENFORCE_QOS))
		return true;
	assoc_mgr_lock(&locks);
	if (job->assoc_ptr && !job->limit_set.qos &&
	    (id >= g_qos_count || !job->assoc_ptr->usage || !job->assoc_ptr->usage->valid_qos ||
	     !bit_test(job->assoc_ptr->usage->valid_qos, id)))
		ok = false;
	assoc_mgr_unlock(&locks);
	if (!ok)
		sl_job_fail_qos(job, __func__);
	return ok;
}

/* Find the reservation that *way* names; *resv is NULL if it names none.  False if it names one that is gone. */
static bool find_resv(const struct sl_way *way, slurmctld_resv_t **resv)
{
	*resv = way->resv_id && resv_list ? list_find_first(resv_list, same_resv, (void *) &way->resv_id) : NULL;
	return !way->resv_id || *resv;
}

/* Set what the stock schedulers set before select_nodes(), which reads it. */
static void set_for_select(job_record_t *job, part_record_t *part, const struct sl_way *way, slurmctld_resv_t *resv)
{
	sl_details_t *d = job->details;
	bool prefer = way->prefer && d->prefer;

	job->part_ptr = part;
	d->features_use = prefer ? d->prefer : d->features;
	d->feature_list_use = prefer ? d->prefer_list : d->feature_list;
	if (resv && job->resv_list) {
		job->resv_ptr = resv;
		job->resv_id = resv->resv_id;
	} else if (resv && !job->resv_name) {
		/* a magnetic reservation, which the job does not name; job_resv_clear_magnetic_flag() undoes this */
		job->resv_ptr = resv;
		job->resv_name = xstrdup(resv->name);
		job->resv_id = resv->resv_id;
		job->bit_flags |= JOB_MAGNETIC;
	}
	job->last_sched_eval = time(NULL);
}

static const char *check_partition(job_record_t *job, part_record_t *part)
{
	if (!part || part->magic != PART_MAGIC || !part->node_bitmap)
		return "its partition is gone";
	if (!(part->state_up & PARTITION_SCHED))
		return "its partition is down";
	if (job->part_ptr_list ? !list_find_first(job->part_ptr_list, same_part, part) : job->part_ptr != part)
		return "it is in another partition now";
	return NULL;
}

const char *sl_commit_not_pending(const job_record_t *job)
{
	if (IS_JOB_PENDING(job) && !IS_JOB_COMPLETING(job))
		return NULL;
	return IS_JOB_FINISHED(job) ? "it was cancelled meanwhile" : "it is not pending any more";
}

const char *sl_commit_check(job_record_t *job, part_record_t *part, const struct sl_way *way)
{
	slurmctld_resv_t *resv;
	const char *why;

	if ((why = sl_commit_not_pending(job)))
		return why;
	/* (such a job stays PENDING, and while no cluster of the federation runs it fed_mgr_job_lock() does not refuse it) */
	if (IS_JOB_REVOKED(job))
		return "it is left to other clusters of the federation";
	if (!job->priority)
		return "it was held meanwhile";
	if (job->preempt_in_progress)
		return "jobs are being preempted for it";
	if ((why = check_partition(job, part)))
		return why;
	if (!find_resv(way, &resv))
		return "its reservation is gone";
	if (!sl_job_take_qos(job, way->qos_id))
		return "it does not ask for that QOS any more";
	set_for_select(job, part, way, resv);
	if (!job_independent(job))
		return "it waits for a dependency or a begin time";
	if ((job->array_task_id != NO_VAL || job->array_recs) && !job_array_start_test(job))
		return "as many tasks of its array run as may run at once";
	if (job_limits_check(&job, true) != WAIT_NO_REASON)
		return "a limit of its partition or QOS";
	if (!qos_valid(job))
		return "its QOS is not valid";
	if (job->deadline && job->deadline != (time_t) NO_VAL && !sl_deadline_ok(job))
		return "it cannot meet its deadline any more and was cancelled";
	/* (if accounts are not enforced Slurm may have no list of them, and the call would try to read one) */
	if (accounting_enforce & ACCOUNTING_ENFORCE_ASSOCS &&
	    assoc_mgr_validate_assoc_id(acct_db_conn, job->assoc_id, accounting_enforce)) {
		job->state_reason = FAIL_ACCOUNT;
		xfree(job->state_desc);
		return "its account is not valid";
	}
	/* (if jobs can be preempted for their licences, select looks at licences itself) */
	if (!sl_select_tests_licenses(job) && license_job_test(job, time(NULL), true) != SLURM_SUCCESS) {
		job->state_reason = WAIT_LICENSES;
		xfree(job->state_desc);
		return "not enough licences";
	}
	/* (Slurm compares with the node count of the last call of select, which of an array may be that of another task) */
	if (job->bit_flags & JOB_MAGNETIC && job->resv_ptr && job->resv_ptr->node_bitmap &&
	    bit_overlap(job->resv_ptr->node_bitmap, part->node_bitmap) < (int) job->details->min_nodes)
		return "the reservation is too small";
	return NULL;
}
