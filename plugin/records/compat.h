/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compat.h - Slurm's internal headers, and what differs between its releases.
 *
 * Nothing else: no logic of ours.  22.05 to 26.05 compile; newer releases are
 * followed here and in release.h only.  Every file that touches a Slurm symbol
 * includes this header first.
 *
 * "config.h" is Slurm's: configure gives ours another name.
 */
#ifndef SL_COMPAT_H
#define SL_COMPAT_H

#include "config.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "slurm/slurm_version.h"
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include "plugin/records/release.h"

#include "src/common/assoc_mgr.h"
#include "src/common/bitstring.h"
#include "src/common/job_resources.h"
#include "src/common/list.h"
#include "src/common/log.h"
#include "src/common/macros.h"
#include "src/common/node_conf.h"
#include "src/common/plugin.h"
#include "src/common/read_config.h"
#include "src/common/slurm_protocol_api.h"
#include "src/common/uid.h"
#include "src/common/xmalloc.h"
#include "src/common/xstring.h"
#if SL_SLURM(23, 2)
#include "src/common/job_features.h"
#include "src/interfaces/burst_buffer.h"
#include "src/interfaces/gres.h"
#include "src/interfaces/mcs.h"
#include "src/interfaces/preempt.h"
#include "src/interfaces/select.h"
#include "src/interfaces/topology.h"
#else
#include "src/common/slurm_mcs.h"
#include "src/common/slurm_topology.h"
#include "src/common/gres.h"
#include "src/common/select.h"
#include "src/slurmctld/burst_buffer.h"
#include "src/slurmctld/preempt.h"
#endif
#if SL_SLURM(24, 5)
#include "src/common/job_record.h"
#include "src/common/part_record.h"
#endif
#include "src/slurmctld/acct_policy.h"
#include "src/slurmctld/fed_mgr.h"
#include "src/slurmctld/job_scheduler.h"
#include "src/slurmctld/licenses.h"
#include "src/slurmctld/locks.h"
#include "src/slurmctld/node_scheduler.h"
#include "src/slurmctld/reservation.h"
#include "src/slurmctld/slurmctld.h"
#if SL_SLURM(24, 5)
#include "src/slurmctld/proc_req.h"
#include "src/stepmgr/srun_comm.h"
#else
#include "src/slurmctld/srun_comm.h"
#endif
#include "src/slurmctld/state_save.h"

/* What was named otherwise. */
#if !SL_SLURM(23, 11)
#define topology_g_get_node_addr slurm_topo_get_node_addr
#endif
#if SL_SLURM(23, 2)
typedef job_details_t sl_details_t;
#else
typedef struct job_details sl_details_t;
#endif

#if SL_SLURM(24, 11)
typedef list_t *sl_list_t;
#else
typedef List sl_list_t;
#endif
#if SL_SLURM(23, 2)
typedef list_itr_t *sl_list_itr_t;
#else
typedef ListIterator sl_list_itr_t;
#endif

#if SL_SLURM(24, 5)
#define sl_reason_string job_state_reason_string
#else
#define sl_reason_string job_reason_string
#endif

#if SL_SLURM(25, 5)
extern list_t *cluster_license_list;	/* still there, not declared; cluster_license_copy() leaves the names out */
#endif
#if SL_SLURM(23, 2)
#define sl_licenses cluster_license_list
#else
#define sl_licenses license_list
#endif

/* The job's id in messages: from 25.11 on it is part of a step's id. */
#if SL_SLURM(25, 11)
#define SL_MSG_JOB_ID step_id.job_id
#else
#define SL_MSG_JOB_ID job_id
#endif

/* A range of nodes of which it wants no more than it needs. */
#ifdef JOB_IMPLICIT_MAX_NODES
#define SL_IMPLICIT_NODES JOB_IMPLICIT_MAX_NODES	/* its most nodes are its tasks, which slurmctld wrote there */
#else
#define SL_IMPLICIT_NODES UINT64_C(0)
#endif
#define SL_FEW_NODES (USE_MIN_NODES | SL_IMPLICIT_NODES)

/* arbitrary_tpn: tasks of each node, in node order, whatever the distribution. */
#define SL_HAVE_ARBITRARY_TPN SL_SLURM(23, 11)

/* A tree of switches heeds arbitrary_tpn only from 26.05 on; before, no tree is asked
 * for nodes that have to be contiguous, and nothing else looks at that when all nodes
 * are given. */
#define SL_TPN_WANTS_CONTIGUOUS !SL_SLURM(26, 5)

/* Words by which a job may have shares of several GPUs, or those of the one that is least used. */
#if SL_SLURM(25, 11)
#define SL_SHARES_OTHERWISE (SELECT_LL_SHARED_GRES | SELECT_MULTIPLE_SHARING_GRES_PJ)
#elif defined(MULTIPLE_SHARING_GRES_PJ)
#define SL_SHARES_OTHERWISE (LL_SHARED_GRES | MULTIPLE_SHARING_GRES_PJ)
#else
#define SL_SHARES_OTHERWISE 0
#endif

/* RESV_MAGIC is private to reservation.c and has not changed in years. */
#define SL_RESV_MAGIC 0x3b82

static inline void sl_job_set_state(job_record_t *job, uint32_t state)
{
#if SL_SLURM_POINT(23, 11, 5)
	job_state_set(job, state);
#else
	job->job_state = state;
#endif
}

/* What its association and QOS have that runs. */
static inline void sl_acct_begun(job_record_t *job)
{
#if SL_SLURM(23, 11)
	acct_policy_job_begin(job, false);
#else
	acct_policy_job_begin(job);
#endif
}

static inline void sl_acct_ended(job_record_t *job)
{
#if SL_SLURM(23, 11)
	acct_policy_job_fini(job, false);
#else
	acct_policy_job_fini(job);
#endif
}

static inline void sl_job_set_configuring(job_record_t *job, bool on)
{
#if SL_SLURM_POINT(23, 11, 5)
	if (on)
		job_state_set_flag(job, JOB_CONFIGURING);
	else
		job_state_unset_flag(job, JOB_CONFIGURING);
#else
	job->job_state = on ? job->job_state | JOB_CONFIGURING : job->job_state & ~JOB_CONFIGURING;
#endif
}

/* Allocate and start; SLURM_SUCCESS, or why not. */
static inline int sl_select_nodes(job_record_t *job)
{
#if SL_SLURM(24, 11)
	job_node_select_t sel = { .job_ptr = job };

	return select_nodes(&sel, false, false, SLURMDB_JOB_FLAG_SCHED);
#else
	return select_nodes(job, false, NULL, NULL, false, SLURMDB_JOB_FLAG_SCHED);
#endif
}

/* False: the job cannot meet its deadline any more and was cancelled. */
static inline bool sl_deadline_ok(job_record_t *job)
{
#if SL_SLURM(24, 5)
	return deadline_ok(job, "sched/lua");
#else
	static char who[] = "sched/lua";

	return deadline_ok(job, who);
#endif
}

/* How gres are written in the tres_per_* of a job. */
#if SL_SLURM(23, 11)
#define SL_TRES_GRES "gres/"
#else
#define SL_TRES_GRES "gres:"
#endif

/* What srun takes from a script's environment for GPUs of each task. */
#if SL_SLURM(23, 11)
#define SL_ENV_PER_TASK "SLURM_TRES_PER_TASK"
#define SL_ENV_PER_TASK_GPU "gres/gpu:"
#define SL_ENV_BIND_GPU "gres/gpu:per_task:"
#else
#define SL_ENV_PER_TASK "SLURM_GPUS_PER_TASK"
#define SL_ENV_PER_TASK_GPU ""
#define SL_ENV_BIND_GPU "gpu:per_task:"
#endif

/* Make gres_list_req, which must be NULL, of what the job's tres_per_* say; counts of
 * nodes and tasks that follow are filled in. */
static inline int sl_gres_validate(job_record_t *job)
{
	sl_details_t *d = job->details;
	uint16_t per_socket = d->mc_ptr ? d->mc_ptr->ntasks_per_socket : NO_VAL16;
	uint16_t sockets = d->mc_ptr ? d->mc_ptr->sockets_per_node : NO_VAL16;
#if SL_SLURM(24, 5)
	gres_job_state_validate_t v = {
		.cpus_per_tres = job->cpus_per_tres, .mem_per_tres = job->mem_per_tres, .tres_freq = job->tres_freq,
		.tres_per_job = job->tres_per_job, .tres_per_node = job->tres_per_node,
		.tres_per_socket = job->tres_per_socket, .tres_per_task = job->tres_per_task,
		.cpus_per_task = &d->orig_cpus_per_task, .max_nodes = &d->max_nodes, .min_cpus = &d->min_cpus,
		.min_nodes = &d->min_nodes, .ntasks_per_node = &d->ntasks_per_node, .ntasks_per_socket = &per_socket,
		.ntasks_per_tres = &d->ntasks_per_tres, .num_tasks = &d->num_tasks, .sockets_per_node = &sockets,
		.gres_list = &job->gres_list_req,
	};

	return gres_job_state_validate(&v);
#else
	return gres_job_state_validate(job->cpus_per_tres, job->tres_freq, job->tres_per_job, job->tres_per_node,
				       job->tres_per_socket, job->tres_per_task, job->mem_per_tres, &d->num_tasks,
				       &d->min_nodes, &d->max_nodes, &d->ntasks_per_node, &per_socket, &sockets,
				       &d->orig_cpus_per_task, &d->ntasks_per_tres, &job->gres_list_req);
#endif
}

static inline int sl_job_requeue(uid_t uid, job_record_t *job)
{
#if SL_SLURM(25, 11)
	return job_requeue_internal(uid, job, false, 0);
#else
	return job_requeue(uid, job->job_id, NULL, false, 0);
#endif
}

static inline int sl_job_suspend(suspend_msg_t *msg, uid_t uid)
{
#if SL_SLURM(24, 11)
	return job_suspend(NULL, msg, uid, true, NO_VAL16);
#else
	return job_suspend(msg, uid, -1, true, NO_VAL16);
#endif
}

/* Of PreemptMode: a job preempts others of lower priority alone.  Releases before 25.05 never set the bit. */
#ifdef PREEMPT_MODE_PRIORITY
#define SL_PREEMPT_PRIORITY PREEMPT_MODE_PRIORITY
#else
#define SL_PREEMPT_PRIORITY 0x2000
#endif

/* Of PreemptMode: what says how jobs are preempted, and not that they are. */
#define SL_PREEMPT_HOW (PREEMPT_MODE_GANG | PREEMPT_MODE_WITHIN | SL_PREEMPT_PRIORITY)

/* PreemptParameters, or NULL: releases before 23.02 have none. */
static inline const char *sl_preempt_params(void)
{
#if SL_SLURM(23, 2)
	return slurm_conf.preempt_params;
#else
	return NULL;
#endif
}

/* The number of the QOS of a queue record, since from 24.11 on a job may ask for several; 0: none, or the
 * job's own. */
static inline uint32_t sl_queue_qos_id(const job_queue_rec_t *rec)
{
#if SL_SLURM(24, 11)
	return rec->qos_ptr ? rec->qos_ptr->id : 0;
#else
	(void) rec;
	return 0;
#endif
}

/* Of which QOS limits are looked at, and the job runs, if it is started. */
static inline void sl_job_set_qos(job_record_t *job, slurmdb_qos_rec_t *qos)
{
#if SL_SLURM(24, 11)
	job->qos_ptr = qos;
#else
	(void) job;
	(void) qos;
#endif
#if SL_SLURM(25, 11)
	if (qos)
		job->qos_id = qos->id;
#endif
}

/* The QOS that the job asks for, where it asks for several; else NULL. */
static inline sl_list_t sl_job_several_qos(const job_record_t *job)
{
#if SL_SLURM(24, 11)
	return job->qos_list && list_count(job->qos_list) ? job->qos_list : NULL;
#else
	(void) job;
	return NULL;
#endif
}

/* Of several QOS that one; a job that does not ask for several keeps its own.  False: that is none of them. */
static inline bool sl_job_take_qos(job_record_t *job, uint32_t qos_id)
{
	assoc_mgr_lock_t locks = { .qos = READ_LOCK };
	sl_list_t several = sl_job_several_qos(job);
	slurmdb_qos_rec_t *qos;

	if (!several)
		return true;
	assoc_mgr_lock(&locks);
	if ((qos = list_find_first(several, slurmdb_find_qos_in_list, &qos_id)))
		sl_job_set_qos(job, qos);
	assoc_mgr_unlock(&locks);
	return qos != NULL;
}

/* True if a limit of its account or QOS keeps it from starting now, if it gets no more than it asks for: the reason is the limit's then. */
static inline bool sl_job_is_limited(job_record_t *job)
{
	uint64_t tres[slurmctld_tres_cnt];

	if (!job->tres_req_cnt)
		return false;
	memcpy(tres, job->tres_req_cnt, sizeof(tres));
	return !acct_policy_job_runnable_post_select(job, tres, false);
}

/* The number of the job's QOS; 0: it has none. */
static inline uint32_t sl_job_qos_id(const job_record_t *job)
{
#if SL_SLURM(24, 11)	/* the number follows when the job starts */
	return job->qos_ptr ? job->qos_ptr->id : 0;
#else
	return job->qos_id;
#endif
}

/* Is this the queue record for what the job would prefer (--prefer)? */
static inline bool sl_queue_prefer(const job_queue_rec_t *rec)
{
#if SL_SLURM_POINT(22, 5, 4)
	return rec->use_prefer;
#else
	(void) rec;
	return false;
#endif
}

/* The job's QOS is not valid any more; no assoc_mgr lock held. */
static inline void sl_job_fail_qos(job_record_t *job, const char *who)
{
#if SL_SLURM_POINT(22, 5, 8)
	job_fail_qos(job, who, false);
#else
	job_fail_qos(job, who);
#endif
}

/* Submitted jobs as limits count them; no assoc_mgr lock held. */
static inline void sl_add_job_submit(job_record_t *job)
{
#if SL_SLURM(23, 11)
	acct_policy_add_job_submit(job, false);
#else
	acct_policy_add_job_submit(job);
#endif
}

static inline void sl_remove_job_submit(job_record_t *job)
{
#if SL_SLURM(23, 11)
	acct_policy_remove_job_submit(job, false);
#else
	acct_policy_remove_job_submit(job);
#endif
}

/* Priorities by partition, of a job that asks for several: taken off, put back, freed.
 * Slurm works them out anew where there are none. */
#if SL_SLURM(24, 11)
typedef priority_mult_t *sl_part_prio_t;
#define SL_PRIO_NAMES priority_array_names
#elif SL_SLURM(24, 5)
typedef priority_parts_t *sl_part_prio_t;
#define SL_PRIO_NAMES priority_array_parts
#else
typedef uint32_t *sl_part_prio_t;
#endif
/* The field of a job that has them; renamed in 24.11.7 and in 25.05.1. */
#if SL_SLURM_POINT(25, 5, 1) || (SL_SLURM_POINT(24, 11, 7) && !SL_SLURM(25, 5))
#define SL_PART_PRIO prio_mult
#elif SL_SLURM(24, 5)
#define SL_PART_PRIO part_prio
#else
#define SL_PART_PRIO priority_array
#endif

static inline sl_part_prio_t sl_part_prio_take(job_record_t *job)
{
	sl_part_prio_t p = job->SL_PART_PRIO;

	job->SL_PART_PRIO = NULL;
	return p;
}

static inline void sl_part_prio_free(sl_part_prio_t *p)
{
#if SL_SLURM(24, 5)
	if (*p) {
		xfree((*p)->priority_array);
		xfree((*p)->SL_PRIO_NAMES);
	}
#endif
	xfree(*p);
}

static inline void sl_part_prio_give(job_record_t *job, sl_part_prio_t *p)
{
	sl_part_prio_t now = sl_part_prio_take(job);

	sl_part_prio_free(&now);
	job->SL_PART_PRIO = *p;
	*p = NULL;
}

static inline void sl_part_prio_drop(job_record_t *job)
{
	sl_part_prio_t now = sl_part_prio_take(job);

	sl_part_prio_free(&now);
}

/* AllowQos and DenyQos; assoc_mgr's qos read lock held. */
static inline bool sl_part_refuses_qos(part_record_t *part, job_record_t *job)
{
#if SL_SLURM(23, 2)
	return part_policy_valid_qos(part, job->qos_ptr, job->user_id, NULL) != SLURM_SUCCESS;
#else
	return part_policy_valid_qos(part, job->qos_ptr, NULL) != SLURM_SUCCESS;
#endif
}

/* Users that AllowGroups lets in: how many, 0 when there is no list. */
static inline uint32_t sl_allow_uids(const part_record_t *p)
{
	uint32_t n = 0;

#if SL_SLURM(24, 11)
	n = p->allow_uids && p->allow_uids_cnt > 0 ? (uint32_t) p->allow_uids_cnt : 0;
#else
	while (p->allow_uids && p->allow_uids[n])
		n++;
#endif
	return n;
}

/* Which words of --exclusive its whole_node holds: numbers at first, then flags. */
static inline bool sl_is_exclusive(const sl_details_t *d)
{
#if SL_SLURM(24, 5)
	return d->whole_node & WHOLE_NODE_REQUIRED;
#else
	return d->whole_node == WHOLE_NODE_REQUIRED;
#endif
}

static inline bool sl_is_for_user(const sl_details_t *d)
{
#if SL_SLURM(24, 5)
	return d->whole_node & WHOLE_NODE_USER;
#else
	return d->whole_node == WHOLE_NODE_USER;
#endif
}

#ifdef WHOLE_TOPO
#define SL_WHOLE_SWITCHES WHOLE_TOPO
#else
#define SL_WHOLE_SWITCHES 0
#endif

#include "plugin/records/compat_topology.h"

/* -- jobs: what there is since 23.11 ------------------------------------------------------------------ */

/* True if only nodes whose Extra meets the job's --extra will do; others may have it later. */
static inline bool sl_job_extra(const job_record_t *job)
{
#if SL_SLURM(23, 11)
	return job->extra_constraints;
#else
	(void) job;
	return false;
#endif
}

/* True if the job was requeued with --requeue=expedite: it goes before all others. */
static inline bool sl_job_expedites(const job_record_t *job)
{
#ifdef JOB_EXPEDITING
	return IS_JOB_EXPEDITING(job);
#else
	(void) job;
	return false;
#endif
}

/* True if that licence is one of resources.yaml: several records have its name, each of them for some of the nodes. */
static inline bool sl_license_is_hres(const licenses_t *license)
{
#if SL_SLURM(25, 5)
	return license->id.hres_id != NO_VAL16;
#else
	(void) license;
	return false;
#endif
}

/* True if select preempts jobs for their licences. */
static inline bool sl_reclaims_licenses(void)
{
#if SL_SLURM(23, 2)
	return xstrcasestr(slurm_conf.preempt_params, "reclaim_licenses") != NULL;
#else
	return false;
#endif
}

/* True if select tests the job's licences, and may preempt others that have some. */
static inline bool sl_select_tests_licenses(const job_record_t *job)
{
	return sl_reclaims_licenses() && slurm_preemption_enabled() && job->licenses && !strchr(job->licenses, '|');
}

/* Nodes that are closed to the job, whatever it asks for: those of external ones (State=EXTERNAL) to jobs that are not
 * (EXTERNAL_JOB).  NULL: none. */
static inline const bitstr_t *sl_job_closed_nodes(const job_record_t *job)
{
#if SL_SLURM(25, 5)
	return external_node_bitmap && !(job->bit_flags & EXTERNAL_JOB) && bit_ffs(external_node_bitmap) >= 0 ?
		external_node_bitmap : NULL;
#else
	(void) job;
	return NULL;
#endif
}

#endif
