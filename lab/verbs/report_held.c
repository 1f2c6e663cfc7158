/* SPDX-License-Identifier: MIT */
/*
 * report_held.c - what the last snapshot knows of the jobs of schedlua report: what those that run hold on each node, and what
 * jobs ask for (report_private.h).
 */
#include "verbs/report_private.h"

#include <stdlib.h>

#include "base/order.h"
#include "model/cluster.h"

static int by_node(const void *a, const void *b)
{
	const struct sl_stretch *x = a, *y = b;

	return SL_ORDER(x->first, y->first);
}

static uint32_t gpus_of(const struct sl_snapshot *s, uint32_t alloc)
{
	uint16_t kinds = sl_gpu_kinds(s);
	uint32_t n = 0;

	for (uint32_t g = s->alloc.gres[alloc].first; g < s->alloc.gres[alloc].first + s->alloc.gres[alloc].count; g++)
		n += s->alloc_gres.kind[g] < 16 && kinds >> s->alloc_gres.kind[g] & 1 ? s->alloc_gres.count[g] : 0;
	return n;
}

int sl_report_held(const struct report *r, const struct row *row, struct sl_stretch **stretch, uint32_t *count, uint32_t *gpus)
{
	const struct sl_snapshot *s = &r->now;
	uint32_t at = sl_map_by_id(&r->row_of, row->job);
	struct sl_stretch *list;
	struct sl_range alloc;

	if (at == SL_NONE || !row->start || row->end || !s->job.alloc[at].count || sl_builder_rows(r->b, SL_T_NODE) != s->node.rows)
		return 0;
	if (s->job.state[at] != SL_JOB_RUNNING && s->job.state[at] != SL_JOB_SUSPENDED)
		return 0;
	alloc = s->job.alloc[at];
	list = calloc(alloc.count, sizeof(*list));
	if (!list)
		return sl_fail(r->err, SL_ENOMEM, "report: out of memory");
	*count = *gpus = 0;
	for (uint32_t a = alloc.first; a < alloc.first + alloc.count; a++) {
		uint32_t cores = s->alloc.cores[a];

		list[*count] = (struct sl_stretch) { s->alloc.node[a], 1, cores ? cores : 1, gpus_of(s, a) };
		*gpus += list[(*count)++].gpus;
	}
	qsort(list, *count, sizeof(*list), by_node);
	*stretch = list;
	return 1;
}

static struct sl_range copy_gres(const struct report *r, struct sl_range from)
{
	const struct sl_job_gres_view *v = &r->now.job_gres;
	struct sl_range to = { sl_builder_rows(r->b, SL_T_JOB_GRES), from.count };

	for (uint32_t g = from.first; g < from.first + from.count; g++)
		sl_builder_append(r->b, SL_T_JOB_GRES, &(struct sl_job_gres_row) {
			.name = sl_builder_str(r->b, sl_snapshot_str(&r->now, v->name[g])), .type = sl_builder_str(r->b, sl_snapshot_str(&r->now, v->type[g])),
			.count = v->count[g], .per = v->per[g], .cpus = v->cpus[g], .memory = v->memory[g] });
	return to;
}

void sl_report_ask(const struct report *r, const struct row *row, struct sl_job_row *job)
{
	const struct sl_job_view *v = &r->now.job;
	uint32_t at = sl_map_by_id(&r->row_of, row->job), threads = r->now.node.rows && r->now.node.threads[0] ? r->now.node.threads[0] : 1;

	if (at != SL_NONE) {
		job->min_nodes = v->min_nodes[at];
		job->max_nodes = v->max_nodes[at];
		job->min_cpus = v->min_cpus[at];
		job->num_tasks = v->num_tasks[at];
		job->cpus_per_task = v->cpus_per_task[at];
		job->ntasks_per_node = v->ntasks_per_node[at];
		job->pn_min_cpus = v->pn_min_cpus[at];
		job->gres = copy_gres(r, v->gres[at]);
		return;
	}
	if (!row->gpus)
		return;
	job->min_nodes = job->max_nodes = row->node_count ? row->node_count : 1;
	job->min_cpus = row->cores ? row->cores * threads : 1;
	job->gres = (struct sl_range) { sl_builder_append(r->b, SL_T_JOB_GRES, &(struct sl_job_gres_row) {
		.name = sl_builder_str(r->b, "gpu"), .type = sl_builder_str(r->b, ""), .count = row->gpus, .per = SL_PER_JOB }), 1 };
}
