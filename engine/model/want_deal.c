/* SPDX-License-Identifier: MIT */
/*
 * want_deal.c - how tasks are distributed over nodes.
 *
 * Select chooses nodes without regard to the distribution, and deals the tasks out in planes afterwards.  With whole nodes,
 * one node, or one CPU per node there is nothing to deal.  A job is native if planes may not reach all of its nodes (select
 * would give such a node no CPU); if its CPUs are not those of its tasks or come with gres of the job, because select deals
 * these differently; or if planes alone do not keep to --ntasks-per-node, because select continues round after round
 * regardless of it.
 *
 * With an arbitrary distribution the user lists the nodes and the tasks of each.
 */
#include "model/native.h"
#include "model/request.h"
#include "model/want_private.h"

#include <stdlib.h>

/* True if planes alone give every node the number of tasks that --ntasks-per-node allows. */
static bool fills_planes(const struct sl_request *r, uint32_t plane)
{
	return !r->tasks_per_node || (r->tasks_per_node % plane == 0 && want_tasks_of_each_node(r));
}

static void deal_in_planes(struct sl_cluster *c, struct want *w)
{
	struct sl_request *r = &w->pub.request;
	uint32_t plane = c->snap->job.plane_size[w->entry.job];

	if (r->max_nodes == 1)
		w->pub.asked &= ~SL_W(PLANE);
	else if (!plane || (uint64_t) (r->max_nodes - 1) * plane >= r->tasks || !fills_planes(r, plane))
		w->pub.asked |= SL_W(UNDEALT);
	if (want_can_place(w, SL_W(PLANE)))
		r->plane = plane;
}

/* True if each of these nodes has tasks, and their sum is *tasks*. */
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

/* Use the user's list, if Slurm does: before 23.11 select deals the tasks of such a job out like any other's. */
static int deal_as_said(struct sl_cluster *c, struct want *w, struct sl_error *err)
{
	struct sl_range nodes = c->snap->job.arbitrary_tpn[w->entry.job];

	if (!are_all_tasks(c, nodes, w->pub.request.tasks))
		w->pub.asked |= SL_W(UNDEALT);
	if (!want_can_place(w, SL_W(ARBITRARY)))
		return 0;
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

int want_deal(struct sl_cluster *c, struct want *w, struct sl_error *err)
{
	if (w->pub.asked & SL_W(PLANE))
		deal_in_planes(c, w);
	return w->pub.asked & SL_W(ARBITRARY) ? deal_as_said(c, w, err) : 0;
}
