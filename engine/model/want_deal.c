/* SPDX-License-Identifier: MIT */
/*
 * want_deal.c - how tasks are to be dealt out to nodes.
 *
 * select chooses nodes without a look at that, and has the tasks go round in planes afterwards.  Where the nodes are
 * whole or but one, or a CPU of each is all, there is nothing to deal.  A node that planes do not reach would get no
 * CPU at all; and CPUs that are not those of tasks, or come with gres of the job, are dealt otherwise.
 *
 * Of an arbitrary distribution the nodes are those that it names, and the tasks of each its user's.
 */
#include "model/native.h"
#include "model/request.h"
#include "model/want_private.h"

#include <stdlib.h>

/* Are CPUs dealt out for tasks alone? */
static bool deals_tasks_alone(const struct sl_cluster *c, const struct want *w, const struct sl_ask *a)
{
	for (uint32_t g = a->gres.first; g < a->gres.first + a->gres.count; g++)
		if (c->snap->job_gres.per[g] == SL_PER_JOB || c->snap->job_gres.cpus[g])
			return false;
	return a->node_cpus <= a->cpus_per_task * (a->tasks_per_node ? a->tasks_per_node : 1) &&
		!cluster_is_counted(c, c->snap->job.features[w->entry.job]);
}

static void deal_in_planes(struct sl_cluster *c, struct want *w, const struct sl_ask *a)
{
	struct sl_request *r = &w->pub.request;
	uint32_t plane = c->snap->job.plane_size[w->entry.job];

	if (r->whole_nodes || a->overcommit || r->max_nodes == 1)
		return;
	if (!plane || (uint64_t) (r->max_nodes - 1) * plane >= r->tasks || !deals_tasks_alone(c, w, a))
		w->pub.native |= SL_NATIVE_DISTRIBUTION;
	else
		r->plane = plane;
}

/* Each of these nodes has tasks, and they are all that there are. */
static bool are_all_tasks(const struct sl_cluster *c, struct sl_range nodes, uint32_t tasks)
{
	uint64_t sum = 0;

	for (uint32_t i = nodes.first; i < nodes.first + nodes.count; i++) {
		if (!c->snap->node_tasks.tasks[i])
			return false;
		sum += c->snap->node_tasks.tasks[i];
	}
	return sum == tasks;
}

/* As its user says, where Slurm knows of that: else (before 23.11) select deals them out as those of any job. */
static int deal_as_said(struct sl_cluster *c, struct want *w, const struct sl_ask *a, struct sl_error *err)
{
	struct sl_range nodes = c->snap->job.arbitrary_tpn[w->entry.job];

	if (!nodes.count)
		return 0;
	if (w->entry.shape || a->overcommit || a->tasks_per_node || !deals_tasks_alone(c, w, a) ||
	    !are_all_tasks(c, nodes, w->pub.request.tasks)) {
		w->pub.native |= SL_NATIVE_DISTRIBUTION;
		return 0;
	}
	w->pick = calloc(nodes.count, sizeof(*w->pick));
	if (!w->pick)
		return sl_fail(err, SL_ENOMEM, "cluster: out of memory");
	for (uint32_t i = 0; i < nodes.count; i++) {
		w->pick[i].node = c->snap->node_tasks.node[nodes.first + i];
		w->pick[i].tasks = c->snap->node_tasks.tasks[nodes.first + i];
	}
	w->pub.request.pick = w->pick;
	w->pub.request.picks = nodes.count;
	return 0;
}

int want_deal(struct sl_cluster *c, struct want *w, const struct sl_ask *a, struct sl_error *err)
{
	switch (c->snap->job.distribution[w->entry.job]) {
	case SL_DIST_PLANE:
		deal_in_planes(c, w, a);
		return 0;
	case SL_DIST_ARBITRARY:
		return deal_as_said(c, w, a, err);
	default:
		return 0;
	}
}
