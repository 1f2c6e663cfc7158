/* SPDX-License-Identifier: MIT */
/* cluster_usage.c - what jobs use now, and the providers of past usage. */
#include "model/cluster_private.h"

#include <string.h>

/* -- what the machine has, and what a running job has of it ------------------ */

uint16_t sl_gpu_kinds(const struct sl_snapshot *snap)
{
	uint16_t kinds = 0;

	for (uint32_t k = 0; k < snap->gres_kind.rows && k < SL_MAX_GRES; k++)
		if (!strcmp(sl_snapshot_str(snap, snap->gres_kind.name[k]), "gpu"))
			kinds |= (uint16_t) (1u << k);
	return kinds;
}

uint32_t sl_node_gpus(const struct sl_snapshot *snap, uint32_t node)
{
	struct sl_range r = snap->node.gres[node];
	uint32_t n = 0;

	for (uint32_t i = r.first; i < r.first + r.count; i++)
		if (!strcmp(sl_snapshot_str(snap, snap->gres_kind.name[snap->node_gres.kind[i]]), "gpu"))
			n += snap->node_gres.count[i];
	return n;
}

int64_t sl_place_units(const struct sl_snapshot *snap, uint16_t gpu_kinds, const struct sl_place *place,
		       uint32_t count, enum sl_unit unit)
{
	int64_t n = 0;

	if (unit == SL_UNIT_NODE)
		return count;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t threads = snap->node.threads[place[i].node];

		if (unit == SL_UNIT_CPU)
			n += (int64_t) place[i].cores * (threads ? threads : 1);
		for (unsigned k = 0; unit == SL_UNIT_GPU && gpu_kinds >> k; k++)
			if (gpu_kinds >> k & 1)
				n += place[i].gres[k];
	}
	return n;
}

int64_t sl_cluster_has(const struct sl_cluster *c, uint32_t job, enum sl_unit unit)
{
	const uint32_t known[SL_UNITS] = { c->snap->job.alloc_cpus[job], c->snap->job.alloc_gpus[job],
					   c->snap->job.alloc_nodes[job] };
	const struct sl_place *place;
	uint32_t count;

	/* slurmctld's own figures, if the job was already running in the snapshot */
	if (known[SL_UNIT_NODE] && !(c->held[job] && c->held[job]->charged))
		return known[unit];
	place = sl_cluster_places(c, job, &count);
	return sl_place_units(c->snap, unit == SL_UNIT_GPU ? sl_gpu_kinds(c->snap) : 0, place, count, unit);
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

int64_t sl_cluster_resized(const struct sl_cluster *c, uint32_t job)
{
	const struct sl_job_view *j = &c->snap->job;
	bool started_here = c->held[job] && c->held[job]->charged;

	/* later than now: the clock was set back */
	return started_here || j->resize_time[job] <= j->start_time[job] || j->resize_time[job] > c->now ? 0 :
		j->resize_time[job];
}

int64_t sl_cluster_ran_at_size(const struct sl_cluster *c, uint32_t job)
{
	int64_t ran = sl_cluster_ran(c, job), resized = sl_cluster_resized(c, job);

	return resized && ran > c->now - resized ? c->now - resized : ran;
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

void sl_cluster_set_history(struct sl_cluster *c, struct sl_history *history)
{
	c->history = history;
}

struct sl_history *sl_cluster_history(struct sl_cluster *c, struct sl_error *err)
{
	if (!c->history && !c->own_history)
		c->own_history = sl_history_of_snapshot(c->snap, err);
	return c->history ? c->history : c->own_history;
}

void sl_cluster_encode_history(const struct sl_cluster *c, struct sl_builder *b, int table)
{
	struct sl_history *h = c->history ? c->history : c->own_history;

	if (h)
		sl_history_encode(h, b, table);
}
