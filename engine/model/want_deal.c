/* SPDX-License-Identifier: MIT */
/*
 * want_deal.c - how tasks are to be dealt out to nodes.
 *
 * select chooses nodes without a look at that, and has the tasks go round in planes afterwards.  Where the nodes are
 * whole or but one, or a CPU of each is all, there is nothing to deal.  A node that planes do not reach would get no
 * CPU at all; and CPUs that are not those of tasks, or come with gres of the job, are dealt otherwise.
 */
#include "model/constraint.h"
#include "model/native.h"
#include "model/request.h"
#include "model/want_private.h"

/* Are CPUs dealt out for tasks alone? */
static bool deals_tasks_alone(const struct sl_cluster *c, const struct want *w, const struct sl_ask *a)
{
	const char *constraint = cluster_str(c, c->snap->job.features[w->entry.job]);
	uint32_t terms;

	for (uint32_t g = a->gres.first; g < a->gres.first + a->gres.count; g++)
		if (c->snap->job_gres.per[g] == SL_PER_JOB || c->snap->job_gres.cpus[g])
			return false;
	return a->node_cpus <= a->cpus_per_task * (a->tasks_per_node ? a->tasks_per_node : 1) &&
		sl_constraint_read(constraint, &terms) != SL_CONSTRAINT_COUNTED;
}

void want_deal(struct sl_cluster *c, struct want *w, const struct sl_ask *a)
{
	struct sl_request *r = &w->pub.request;
	uint32_t plane = c->snap->job.plane_size[w->entry.job];

	if (c->snap->job.distribution[w->entry.job] != SL_DIST_PLANE || r->whole_nodes || a->overcommit || r->max_nodes == 1)
		return;
	if (!plane || (uint64_t) (r->max_nodes - 1) * plane >= r->tasks || !deals_tasks_alone(c, w, a))
		w->pub.native |= SL_NATIVE_DISTRIBUTION;
	else
		r->plane = plane;
}
