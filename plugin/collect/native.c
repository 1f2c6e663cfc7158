/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * native.c - what of a request the engine does not model, so that only Slurm's
 * select can place it; and the digest of a request.
 */
#include "plugin/collect/int.h"

struct gres_check {
	const char *why;
};

static int each_gres(void *x, void *arg)
{
	gres_state_t *g = x;
	gres_job_state_t *js = g->gres_data;
	struct gres_check *k = arg;

	if (!js || !g->gres_name)
		k->why = "a gres";
	else if (g->config_flags & GRES_CONF_SHARED)
		k->why = "a shared gres (mps, shard)";
	else if (js->cpus_per_gres || js->def_cpus_per_gres)
		k->why = "CPUs per gres";
	else if (js->mem_per_gres || js->def_mem_per_gres)
		k->why = "memory per gres";
	else if (js->ntasks_per_gres && js->ntasks_per_gres != NO_VAL16)
		k->why = "tasks per gres";
	else if (!js->gres_per_node && js->gres_per_socket)
		k->why = "gres per socket";
	return k->why ? -1 : 0;
}

static const char *native_gres(const job_record_t *job)
{
	struct gres_check k = { NULL };

	if (job->gres_list_req)
		list_for_each(job->gres_list_req, each_gres, &k);
	if (!k.why && job->details->ntasks_per_tres && job->details->ntasks_per_tres != NO_VAL16)
		k.why = "tasks per gres";
	return k.why;
}

static const char *native_shape(const struct sl_scratch *s, const sl_details_t *d)
{
	const multi_core_data_t *m = d->mc_ptr;

	if (m && (sl_said16(m->sockets_per_node) || sl_said16(m->cores_per_socket) || sl_said16(m->boards_per_node) ||
		  sl_said16(m->sockets_per_board)))
		return "a shape of sockets and cores";
	if (m && (sl_said16(m->ntasks_per_socket) || sl_said16(m->ntasks_per_board)))
		return "tasks per socket";
	if (m && s->threads && (sl_said16(m->ntasks_per_core) || sl_said16(m->threads_per_core)))
		return "threads per core";
	if (d->core_spec != NO_VAL16 && d->core_spec)
		return "core specialization";
	if (d->pn_min_tmp_disk)
		return "temporary disk";
	if ((d->task_dist & SLURM_DIST_STATE_BASE) == SLURM_DIST_ARBITRARY)
		return "an arbitrary distribution";
	if ((d->task_dist & SLURM_DIST_STATE_BASE) == SLURM_DIST_PLANE)
		return "a plane distribution";
	if (d->overcommit)
		return "overcommit";
	if (s->memory && !(d->pn_min_memory & ~MEM_PER_CPU) && !(d->whole_node & WHOLE_NODE_REQUIRED))
		return "all memory of a node";
#if SL_HAVE_ARBITRARY_TPN
	if (d->job_size_bitmap)
		return "a list of node counts";
	if (d->arbitrary_tpn)
		return "its own tasks for each node";
#endif
	return NULL;
}

/* Could other jobs be preempted for it? */
static const char *native_preempt(const struct sl_scratch *s, const job_record_t *job)
{
	if (!s->preempts)
		return NULL;
	if (job->part_ptr && job->part_ptr->priority_tier > s->min_tier)
		return "preemption by partition";
	if (job->qos_ptr && job->qos_ptr->preempt_bitstr && bit_ffs(job->qos_ptr->preempt_bitstr) >= 0)
		return "preemption by QOS";
	return NULL;
}

static const char *native_rest(const job_record_t *job)
{
	const sl_details_t *d = job->details;
	const part_record_t *p = job->part_ptr;

	if (d->features || d->prefer || d->cluster_features || job->batch_features)
		return "features";
	if (job->resv_name || job->resv_list)
		return "a reservation";
	if (job->req_switch)
		return "switches";
	if (job->het_job_id)
		return "a heterogeneous job";
	if (job->burst_buffer)
		return "a burst buffer";
	if (job->mcs_label)
		return "multi-category security";
	if (d->expanding_jobid)
		return "the expansion of a job";
	if (job->licenses && strchr(job->licenses, '|'))
		return "alternative licences";
	if ((d->whole_node & ~WHOLE_NODE_REQUIRED))
		return "nodes exclusive to a user";
	if (p && p->flags & PART_FLAG_EXCLUSIVE_USER)
		return "a partition exclusive to users";
	if (p && (p->max_share & ~SHARED_FORCE) > 1 && (p->max_share & SHARED_FORCE || d->share_res == 1))
		return "shared cores";
	if (d->min_nodes == 0)
		return "no nodes";
	return NULL;
}

const char *sl_collect_native(struct sl_collector *c, const job_record_t *job)
{
	struct sl_scratch *s = c->scratch;
	const char *why;

	/* select refused the engine's placement again and again: let it choose */
	if (sl_collect_note(s, job)->refusals >= 3)
		return "a placement that select refuses";
	if ((why = native_rest(job)) || (why = native_shape(s, job->details)) || (why = native_gres(job)))
		return why;
	return native_preempt(s, job);
}

/* -- the digest ------------------------------------------------------------ */

static uint64_t mix_num(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

static uint64_t mix_str(uint64_t h, const char *s)
{
	for (; s && *s; s++)
		h = (h ^ (unsigned char) *s) * 0x100000001b3ull;
	return mix_num(h, 0x5e);	/* where one ends and the next begins */
}

int64_t sl_job_stamp(const job_record_t *job)
{
	const sl_details_t *d = job->details;
	uint64_t h = 0xcbf29ce484222325ull;

	/* The fields as asked for (orig_*): the others are rewritten for each
	 * partition that is looked at. */
	h = mix_num(h, job->job_id);
	h = mix_num(h, job->user_id);
	h = mix_num(h, job->priority == 0);
	h = mix_num(h, job->restart_cnt);
	h = mix_num(h, ((uint64_t) job->time_limit << 32) | job->time_min);
	h = mix_num(h, (uint64_t) job->deadline);
	h = mix_num(h, (uint64_t) d->submit_time);	/* ids are used again */
	h = mix_num(h, (uint64_t) d->begin_time);
	h = mix_num(h, ((uint64_t) d->min_nodes << 32) | d->max_nodes);
	h = mix_num(h, ((uint64_t) d->orig_min_cpus << 32) | d->orig_max_cpus);
	h = mix_num(h, ((uint64_t) d->num_tasks << 32) | d->orig_cpus_per_task);
	h = mix_num(h, ((uint64_t) d->orig_pn_min_cpus << 32) | d->ntasks_per_node);
	h = mix_num(h, d->orig_pn_min_memory);
	h = mix_num(h, ((uint64_t) d->whole_node << 16) | (uint64_t) d->share_res << 8 | (d->contiguous != 0));
	h = mix_num(h, job->req_switch);
	h = mix_str(h, job->partition);
	h = mix_str(h, job->account);
	h = mix_num(h, job->qos_id);
	h = mix_str(h, job->resv_name);
	h = mix_str(h, job->licenses);
	h = mix_str(h, d->features);
	h = mix_str(h, d->req_nodes);
	h = mix_str(h, d->exc_nodes);
	h = mix_str(h, job->tres_per_job);
	h = mix_str(h, job->tres_per_node);
	h = mix_str(h, job->tres_per_socket);
	h = mix_str(h, job->tres_per_task);
	h = mix_str(h, job->comment);
	return (int64_t) (h >> 1);	/* JSON has no unsigned 64-bit numbers */
}
