/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * asks.c - properties of a request that no number of a snapshot expresses; and the digest of a request.
 *
 * These are facts.  image/words.h says which of them the engine can deal with.
 */
#include "plugin/collect/int.h"

/* -- facts ----------------------------------------------------------------- */

struct asks_walk {
	const struct sl_scratch *s;
	bool one_task;		/* each task takes its shares from a GPU of its own */
	uint32_t asks;
};

static int each_gres(void *x, void *arg)
{
	gres_state_t *g = x;
	gres_job_state_t *js = g->gres_data;
	struct asks_walk *w = arg;

	if (!js || !g->gres_name || sl_collect_uncounted(w->s, g) || sl_is_typed_share(g, js)) {
		w->asks |= SL_ASKS_UNCOUNTED_GRES;
		return 0;
	}
	if (w->one_task && g->config_flags & GRES_CONF_SHARED)
		w->asks |= SL_ASKS_UNCOUNTED_GRES;
	if (!js->type_name && sl_collect_by_type(w->s, g))
		w->asks |= SL_ASKS_ONE_TYPE;
	if (js->cpus_per_gres || js->def_cpus_per_gres)
		w->asks |= SL_ASKS_CPUS_PER_GRES;
	if (js->def_cpus_per_gres && !js->cpus_per_gres)
		w->asks |= SL_ASKS_DEFAULT_CPUS;
	if (js->mem_per_gres || js->def_mem_per_gres)
		w->asks |= SL_ASKS_MEMORY_PER_GRES;
	if (sl_said16(js->ntasks_per_gres))
		w->asks |= SL_ASKS_TASKS_PER_GRES;
	if (js->gres_per_task && (js->gres_per_node || js->gres_per_job || js->gres_per_socket))
		w->asks |= SL_ASKS_TASK_GRES;
	return 0;
}

/* A feature that a node does not have now but would have after a reboot. */
static int each_feature(void *x, void *arg)
{
	job_feature_t *f = x;
	uint32_t *asks = arg;

	if (f->changeable)
		*asks |= SL_ASKS_REBOOT;
	return 0;
}

bool sl_collect_node_counts(const sl_details_t *d, char text[SL_NODE_COUNTS_TEXT])
{
	text[0] = '\0';
#if SL_HAVE_NODE_COUNTS
	if (!d->job_size_bitmap)
		return true;
	bit_fmt(text, SL_NODE_COUNTS_TEXT, d->job_size_bitmap);
	/* (if it fills the buffer it was cut off, perhaps in the middle of a number) */
	if (text[0] && strlen(text) < SL_NODE_COUNTS_TEXT - 16)
		return true;
	text[0] = '\0';
	return false;
#else
	(void) d;
	return true;
#endif
}

static uint32_t asks_of_details(const sl_details_t *d)
{
	const multi_core_data_t *m = d->mc_ptr;
	char counts[SL_NODE_COUNTS_TEXT];
	uint32_t asks = 0;

	if (m && (sl_said16(m->boards_per_node) || sl_said16(m->sockets_per_board) || sl_said16(m->ntasks_per_board)))
		asks |= SL_ASKS_BOARDS;
	if (sl_said16(d->ntasks_per_tres))
		asks |= SL_ASKS_TASKS_PER_GRES;
	if (d->feature_list)
		list_for_each(d->feature_list, each_feature, &asks);
	if (d->prefer_list)
		list_for_each(d->prefer_list, each_feature, &asks);
	if (d->task_dist & SLURM_DIST_SOCKCYCLIC)	/* SLURM_DIST_SOCKCFULL has this bit, too */
		asks |= SL_ASKS_SOCKETS_IN_TURN;
	if (!d->min_nodes)
		asks |= SL_ASKS_NODE_COUNTS;
	if (d->whole_node & SL_WHOLE_SWITCHES)
		asks |= SL_ASKS_WHOLE_SWITCHES;
	if (d->core_spec != NO_VAL16)
		asks |= d->core_spec & CORE_SPEC_THREAD ? SL_ASKS_SPEC_THREADS : 0;
	if (d->expanding_jobid)
		asks |= SL_ASKS_EXPAND;
	if (d->min_nodes && !sl_collect_node_counts(d, counts))
		asks |= SL_ASKS_NODE_COUNTS;
	return asks;
}

uint32_t sl_collect_company(const job_record_t *job)
{
	const sl_details_t *d = job->details;
	/* Slurm's function only reads the job, but is not declared const */
	bool label = job->mcs_label && d && slurm_mcs_get_select((job_record_t *) job) == 1;

	return (d && sl_is_for_user(d) ? SL_ASKS_USER_NODES : 0) | (label ? SL_ASKS_MCS : 0) |
		(d && !d->core_spec ? SL_ASKS_SPEC_CORES : 0);
}

static int is_hres(void *x, void *arg)
{
	(void) arg;
	return sl_license_is_hres(x);
}

bool sl_collect_reclaims(const struct sl_scratch *s, const job_record_t *job)
{
	return sl_reclaims_licenses() && job->licenses && !strchr(job->licenses, '|') && sl_collect_may_preempt(s, job);
}

static uint32_t asks_of_licenses(const struct sl_scratch *s, const job_record_t *job)
{
	if (!job->license_list)
		return 0;
	return (job->licenses && strchr(job->licenses, '|') ? SL_ASKS_ANY_LICENSE : 0) |
		(list_find_first(job->license_list, is_hres, NULL) ? SL_ASKS_HRES : 0) |
		(sl_collect_reclaims(s, job) ? SL_ASKS_RECLAIM : 0);
}

uint32_t sl_collect_asks(const struct sl_scratch *s, const job_record_t *job)
{
	struct asks_walk w = { s, job->bit_flags & GRES_ONE_TASK_PER_SHARING, 0 };
	uint32_t asks;

	if (job->gres_list_req) {
		list_for_each(job->gres_list_req, each_gres, &w);
		if (job->bit_flags & GRES_ENFORCE_BIND)
			w.asks |= SL_ASKS_BOUND_GRES;
	}
	asks = w.asks | asks_of_details(job->details) | sl_collect_company(job);
	if (job->tres_per_task && job->details->overcommit)
		asks |= SL_ASKS_TASK_TRES;
	if (job->burst_buffer)
		asks |= SL_ASKS_BURST_BUFFER;
	if (sl_job_extra(job))
		asks |= SL_ASKS_EXTRA;
	if (sl_says_segment_blocks(job))
		asks |= SL_ASKS_SEGMENT_BLOCKS;
	return asks | asks_of_licenses(s, job);
}

enum sl_distribution sl_collect_distribution(const job_record_t *job)
{
	switch (job->details->task_dist & SLURM_DIST_NODEMASK) {
	case SLURM_DIST_BLOCK: return SL_DIST_BLOCK;
	case SLURM_DIST_CYCLIC: return SL_DIST_CYCLIC;
	case SLURM_DIST_PLANE: return SL_DIST_PLANE;
	case SLURM_DIST_ARBITRARY: return SL_DIST_ARBITRARY;
	default: return SL_DIST_ANY;
	}
}

bool sl_collect_may_preempt(const struct sl_scratch *s, const job_record_t *job)
{
	return s->preempts && ((job->part_ptr && job->part_ptr->priority_tier > s->min_tier) ||
			       (job->qos_ptr && job->qos_ptr->preempt_bitstr &&
				bit_ffs(job->qos_ptr->preempt_bitstr) >= 0) ||
			       sl_collect_preempts_within(job));
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
	return mix_num(h, 0x5e);	/* marks the end of the string */
}

int64_t sl_job_stamp(const job_record_t *job)
{
	const sl_details_t *d = job->details;
	uint64_t h = 0xcbf29ce484222325ull;
	char counts[SL_NODE_COUNTS_TEXT];

	/* The fields that keep the request as made (orig_*): Slurm rewrites the others for each partition that it looks at. */
	h = mix_num(h, job->job_id);
	h = mix_num(h, job->user_id);
	h = mix_num(h, job->priority == 0);
	h = mix_num(h, job->restart_cnt);
	h = mix_num(h, ((uint64_t) job->time_limit << 32) | job->time_min);
	h = mix_num(h, (uint64_t) job->deadline);
	h = mix_num(h, (uint64_t) d->submit_time);	/* because job ids are used again */
	h = mix_num(h, (uint64_t) d->begin_time);
	h = mix_num(h, ((uint64_t) d->min_nodes << 32) | d->max_nodes);
	sl_collect_node_counts(d, counts);
	h = mix_str(h, counts);
	h = mix_num(h, ((uint64_t) d->orig_min_cpus << 32) | d->orig_max_cpus);
	h = mix_num(h, ((uint64_t) d->num_tasks << 32) | d->orig_cpus_per_task);
	h = mix_num(h, ((uint64_t) d->orig_pn_min_cpus << 32) | d->ntasks_per_node);
	h = mix_num(h, d->orig_pn_min_memory);
	h = mix_num(h, ((uint64_t) d->whole_node << 16) | (uint64_t) d->share_res << 8 | (d->contiguous != 0));
	h = mix_num(h, job->req_switch ? (uint64_t) job->wait4switch << 32 | job->req_switch : 0);
	h = mix_str(h, job->partition);
	h = mix_str(h, job->account);
	h = mix_num(h, job->qos_id);
	h = mix_str(h, job->resv_name);
	h = mix_str(h, job->licenses);
	h = mix_str(h, d->features);
	h = mix_str(h, d->prefer);
	h = mix_str(h, d->req_nodes);
	h = mix_str(h, d->exc_nodes);
	h = mix_str(h, job->tres_per_job);
	h = mix_str(h, job->tres_per_node);
	h = mix_str(h, job->tres_per_socket);
	h = mix_str(h, job->tres_per_task);
	h = mix_str(h, job->comment);
	h = mix_str(h, job->mcs_label);
	return (int64_t) (h >> 1);	/* JSON has no unsigned 64-bit numbers */
}
