/* SPDX-License-Identifier: MIT */
/*
 * cluster_usage.c - what jobs use and ask for, and who is asked about the past.
 */
#include "model/cluster_private.h"

#include <string.h>

/* -- what a job asks for ----------------------------------------------- */

static int64_t tasks_of(const struct sl_job_view *j, uint32_t row)
{
	return j->num_tasks[row] ? j->num_tasks[row] : (int64_t) j->ntasks_per_node[row] * j->min_nodes[row];
}

static int64_t cpus_of(const struct sl_job_view *j, uint32_t row)
{
	int64_t cpus = j->min_cpus[row], by_task = tasks_of(j, row) * j->cpus_per_task[row];

	if (by_task > cpus)
		cpus = by_task;
	return cpus > j->min_nodes[row] ? cpus : j->min_nodes[row];
}

int64_t sl_job_gres_total(const struct sl_snapshot *snap, uint32_t row, uint32_t need)
{
	const struct sl_job_view *j = &snap->job;
	int64_t count = snap->job_gres.count[need], tasks;

	switch (snap->job_gres.per[need]) {
	case SL_PER_JOB:
		return count;
	case SL_PER_TASK:
		tasks = tasks_of(j, row);
		return count * (tasks ? tasks : j->min_nodes[row]);
	default:
		return count * j->min_nodes[row];
	}
}

uint16_t sl_gpu_kinds(const struct sl_snapshot *snap)
{
	uint16_t kinds = 0;

	for (uint32_t k = 0; k < snap->gres_kind.rows && k < SL_MAX_GRES; k++)
		if (!strcmp(sl_snapshot_str(snap, snap->gres_kind.name[k]), "gpu"))
			kinds |= (uint16_t) (1u << k);
	return kinds;
}

static int64_t gpus_of(const struct sl_snapshot *snap, uint32_t row)
{
	struct sl_range r = snap->job.gres[row];
	int64_t gpus = 0;

	for (uint32_t i = r.first; i < r.first + r.count; i++)
		if (!strcmp(sl_snapshot_str(snap, snap->job_gres.name[i]), "gpu"))
			gpus += sl_job_gres_total(snap, row, i);
	return gpus;
}

int64_t sl_job_asks(const struct sl_snapshot *snap, uint32_t row, enum sl_unit unit)
{
	switch (unit) {
	case SL_UNIT_CPU: return cpus_of(&snap->job, row);
	case SL_UNIT_GPU: return gpus_of(snap, row);
	default: return snap->job.min_nodes[row];
	}
}

int64_t sl_job_tasks(const struct sl_snapshot *snap, uint32_t row)
{
	return tasks_of(&snap->job, row);
}

/* -- what a running one has -------------------------------------------- */

static bool is_gpu(const struct sl_cluster *c, uint32_t kind)
{
	return kind < c->snap->gres_kind.rows && !strcmp(cluster_str(c, c->snap->gres_kind.name[kind]), "gpu");
}

int64_t sl_cluster_has(const struct sl_cluster *c, uint32_t job, enum sl_unit unit)
{
	const uint32_t known[SL_UNITS] = { c->snap->job.alloc_cpus[job], c->snap->job.alloc_gpus[job],
					   c->snap->job.alloc_nodes[job] };
	const struct sl_place *place;
	int64_t sum = 0;
	uint32_t count;

	/* slurmctld's own figures, where the job was running in the snapshot */
	if (known[SL_UNIT_NODE] && !(c->held[job] && c->held[job]->charged))
		return known[unit];
	place = sl_cluster_places(c, job, &count);
	for (uint32_t i = 0; i < count; i++) {
		if (unit == SL_UNIT_NODE)
			sum++;
		else if (unit == SL_UNIT_CPU)
			sum += (int64_t) place[i].cores * c->snap->node.threads[place[i].node];
		for (uint32_t k = 0; unit == SL_UNIT_GPU && k < SL_MAX_GRES; k++)
			if (place[i].gres[k] && is_gpu(c, k))
				sum += place[i].gres[k];
	}
	return sum;
}

int64_t sl_cluster_ran(const struct sl_cluster *c, uint32_t job)
{
	const struct sl_job_view *j = &c->snap->job;
	int64_t ran = c->now - j->start_time[job];

	if (c->held[job] && c->held[job]->charged)
		ran = c->now - c->held[job]->start;
	else if (j->state[job] == SL_JOB_SUSPENDED && j->suspend_time[job])
		ran = j->pre_suspend_s[job];
	else if (j->suspend_time[job])
		ran = j->pre_suspend_s[job] + c->now - j->suspend_time[job];
	return ran > 0 ? ran : 0;
}

/* -- the past ----------------------------------------------------------- */

void sl_cluster_set_usage(struct sl_cluster *c, const struct sl_usage_provider *usage)
{
	c->usage = usage ? *usage : (struct sl_usage_provider) { 0 };
}

const struct sl_usage_provider *sl_cluster_usage(struct sl_cluster *c, struct sl_error *err)
{
	if (c->usage.ask)
		return &c->usage;
	if (!c->own_usage && !(c->own_usage = sl_usage_of_snapshot(c->snap, err)))
		return NULL;
	c->usage = sl_usage_provider(c->own_usage);
	return &c->usage;
}
