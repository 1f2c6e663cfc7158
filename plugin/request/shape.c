/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shape.c - see shape.h */
#include "plugin/request/shape.h"
#include "plugin/request/env.h"
#include "plugin/records/units.h"
#include "image/words.h"

/* Of the words of its request those of which a shape says nothing. */
static sl_word_set words_of(const job_record_t *job)
{
	const sl_details_t *d = job->details;
	const multi_core_data_t *m = d->mc_ptr;
	sl_word_set words = 0;

#define SAYS(id, test) words |= (test) ? SL_W(id) : 0
	SAYS(CPUS_PER_GRES, job->cpus_per_tres);
	SAYS(MEMORY_PER_GRES, job->mem_per_tres);
	SAYS(SOCKET_GRES, job->tres_per_socket);
	SAYS(TASKS_PER_GRES, sl_said16(d->ntasks_per_tres));
	SAYS(SOCKETS, m && (sl_said16(m->sockets_per_node) || sl_said16(m->cores_per_socket)));
	SAYS(BOARDS, m && (sl_said16(m->boards_per_node) || sl_said16(m->sockets_per_board) || sl_said16(m->ntasks_per_board)));
	SAYS(TASKS_PER_SOCKET, m && sl_said16(m->ntasks_per_socket));
	SAYS(OVERCOMMIT, d->overcommit);
	SAYS(CORE_SPEC, d->core_spec != NO_VAL16);
	SAYS(ARBITRARY, (d->task_dist & SLURM_DIST_STATE_BASE) == SLURM_DIST_ARBITRARY);
	SAYS(PLANE, (d->task_dist & SLURM_DIST_STATE_BASE) == SLURM_DIST_PLANE);
	SAYS(EXPAND, d->expanding_jobid);
#if SL_HAVE_NODE_COUNTS
	SAYS(NODE_COUNTS, d->job_size_bitmap);
#endif
#undef SAYS
	return words & SL_NO_ALTERNATIVE;
}

const char *sl_shape_never(const job_record_t *job)
{
	static const char *const asks[] = {
#define ASKS(id, text, ...) "it asks for " text,
		SL_WORDS(ASKS)
#undef ASKS
	};
	sl_word_set words = words_of(job);

	if (job->het_job_id)
		return "it is part of a heterogeneous job";
	for (int w = 0; w < SL_WORD_IDS; w++)
		if (words >> w & 1)
			return asks[w];
	if (!sl_asked_can_keep(job))
		return "what it asks for cannot be kept while it runs as another: its gres have control characters or more than "
			"4096 bytes, or its most nodes or CPUs are fewer than its fewest";
	return NULL;
}

uint32_t sl_shape_tasks(const job_record_t *job)
{
	return job->batch_flag ? 0 : MAX(job->details->num_tasks, 1);
}

const char *sl_shape_interactive(uint32_t tasks, uint32_t num_tasks)
{
	if (!tasks || num_tasks == tasks)
		return NULL;
	return "srun and salloc start the tasks of their command line whatever the shape: expected as many in each";
}

/* -- the request ----------------------------------------------------------------- */

/* gres of the shape as Slurm writes them: one text for each of node, job and task. */
static void write_tres(const struct sl_snapshot *snap, struct sl_range gres, struct sl_asked *r)
{
	static const enum sl_asked_tres where[] = {
		[SL_PER_NODE] = SL_ASKED_PER_NODE, [SL_PER_JOB] = SL_ASKED_PER_JOB,
		[SL_PER_TASK] = SL_ASKED_PER_TASK, [SL_PER_SOCKET] = SL_ASKED_PER_SOCKET,
	};
	uint32_t i;

	for (i = gres.first; i < gres.first + gres.count; i++) {
		const char *type = sl_snapshot_str(snap, snap->job_gres.type[i]);
		uint32_t per = snap->job_gres.per[i];
		char **at;

		if (per >= sizeof(where) / sizeof(where[0]))
			continue;
		at = &r->tres[where[per]];
		xstrfmtcat(*at, "%s" SL_TRES_GRES "%s%s%s:%u", *at ? "," : "",
			   sl_snapshot_str(snap, snap->job_gres.name[i]), *type ? ":" : "", type,
			   snap->job_gres.count[i]);
	}
}

static struct sl_asked request_of(const job_record_t *job, const struct sl_snapshot *snap, uint32_t i)
{
	const struct sl_shape_view *v = &snap->shape;
	uint32_t cpus = MAX(v->cpus_per_task[i], 1), tasks = MAX(v->num_tasks[i], 1);
	struct sl_asked r = {
		.min_nodes = v->min_nodes[i], .max_nodes = v->max_nodes[i], .num_tasks = tasks,
		.tasks_set = true,
		.min_cpus = tasks * cpus, .max_cpus = job->details->orig_max_cpus,
		.cpus_per_task = cpus > 1 ? cpus : NO_VAL16, .ntasks_per_node = v->ntasks_per_node[i],
	};

	/* as _copy_job_desc_to_job_record() */
	r.pn_min_cpus = r.ntasks_per_node && tasks > 1 ? cpus * r.ntasks_per_node : cpus;
	write_tres(snap, v->gres[i], &r);
	return r;
}

/* True if slurmctld would have accepted the job at submission with the request that it has now.  Limits that depend on the nodes
 * are not tested here: select_nodes() does that itself. */
static bool is_acceptable(const job_record_t *job, part_record_t *part)
{
	acct_policy_limit_set_t set = { 0 };
	job_desc_msg_t desc;
	uint32_t reason = 0;
	bool ok;

	if (!(accounting_enforce & ACCOUNTING_ENFORCE_LIMITS) || !job->assoc_ptr)
		return true;
	slurm_init_job_desc_msg(&desc);
	desc.user_id = job->user_id;
	desc.group_id = job->group_id;
	desc.time_limit = job->time_limit;
	desc.min_nodes = job->details->min_nodes;
	desc.min_cpus = job->details->min_cpus;
	desc.tres_req_cnt = xcalloc(slurmctld_tres_cnt, sizeof(uint64_t));
	memcpy(desc.tres_req_cnt, job->tres_req_cnt, sizeof(uint64_t) * slurmctld_tres_cnt);
	set.tres = xcalloc(slurmctld_tres_cnt, sizeof(uint16_t));
	ok = acct_policy_validate(&desc, part, NULL, job->assoc_ptr, job->qos_ptr, &reason, &set, false);
	xfree(set.tres);
	xfree(desc.tres_req_cnt);
	xfree(desc.alloc_node);
	xfree(desc.job_id_str);
	return ok;
}

const char *sl_shape_put(job_record_t *job, part_record_t *part, const struct sl_snapshot *snap, uint32_t shape,
			 uint32_t n)
{
	bool per_node = job->details->ntasks_per_node && job->details->ntasks_per_node != NO_VAL16;
	struct sl_gpus_then had = {
		.job = xstrstr(job->tres_per_job, SL_TRES_GRES "gpu"), .node = xstrstr(job->tres_per_node, SL_TRES_GRES "gpu"),
		.task = xstrstr(job->tres_per_task, SL_TRES_GRES "gpu"),
	};
	struct sl_asked r = request_of(job, snap, shape);
	int64_t seconds = snap->shape.time_limit[shape];
	const char *why = sl_shape_never(job);
	int i, rc;

	if (!why)
		why = sl_shape_interactive(sl_shape_tasks(job), r.num_tasks);
	if (!why) {
		job->part_ptr = part;
		rc = sl_asked_put(job, &r);
		if (seconds > 0)
			job->time_limit = (uint32_t) MIN(seconds / 60, (int64_t) NO_VAL - 1);
		if (job->batch_flag)
			sl_env_set(job->details, n, per_node, snap, shape, &had);
		if (rc != SLURM_SUCCESS)
			why = "Slurm does not accept its gres";
		else if (!is_acceptable(job, part))
			why = "it is beyond a limit of its account or QOS";
	}
	for (i = 0; i < SL_ASKED_TRES; i++)
		xfree(r.tres[i]);
	return why;
}
