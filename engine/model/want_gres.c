/* SPDX-License-Identifier: MIT */
/*
 * want_gres.c - gres of which select counts more than so many of each node, each task or the job.
 */
#include "model/request.h"
#include "model/want_private.h"

/* -- fewest nodes ---------------------------------------------------------- */

/* (Of a range of nodes that has no gres of the job as a whole select takes the most.) */
bool want_narrow(const struct sl_cluster *c, struct want *w)
{
	struct sl_request *r = &w->pub.request;

	if (r->min_nodes == r->max_nodes)
		return true;
	if (r->most_nodes || r->counts || r->contiguous || c->snap->job.flags[w->entry.job] & SL_JOBF_SPREAD)
		return false;
	w->wide = (struct wide) { r->max_nodes, r->tasks_per_node, r->min_cores_per_node, r->gres[0] };
	r->max_nodes = r->min_nodes;
	return true;
}

void cluster_widen(const struct want *w, struct sl_request *r)
{
	r->least_free_cores = 0;
	if (!w->wide.max_nodes)
		return;
	r->max_nodes = w->wide.max_nodes;
	r->tasks_per_node = w->wide.tasks_per_node;
	r->min_cores_per_node = w->wide.min_cores_per_node;
	r->gres[0] = w->wide.gres;
	r->gres_tasks = 0;
}

/* -- of each socket ---------------------------------------------------------- */

/* What a node has of the gres of a row, by name and type. */
static uint64_t count_of_row(const struct sl_cluster *c, uint32_t row, uint32_t n)
{
	const struct sl_snapshot *s = c->snap;
	struct sl_range g = s->node.gres[n];
	uint64_t count = 0;

	for (uint32_t i = g.first; i < g.first + g.count; i++)
		if (sl_gres_matches(s, row, s->node_gres.kind[i]))
			count += s->node_gres.count[i];
	return count;
}

/*
 * Whole nodes come with all of their gres, and select looks no further than whether one of the sockets has as many as are
 * asked for of each.  Which socket a device is near is not in the snapshot; of as many as there are some socket has its
 * share at least.
 */
bool want_has_socket_gres(struct sl_cluster *c, const struct want *w, const struct sl_ask *a, uint32_t row)
{
	const struct part *part = cluster_part(c, &w->entry);
	uint32_t j = w->entry.job, asked = c->snap->job_gres.count[row];

	if (!w->pub.request.whole_nodes || part->sockets < 1 || a->gres.count > 1 || !asked || a->overcommit ||
	    c->snap->job.ntasks_per_socket[j] ||
	    c->snap->job.asks[j] & (SL_ASKS_BOUND_GRES | SL_ASKS_TASK_GRES | SL_ASKS_TASKS_PER_GRES))
		return false;
	for (uint32_t n = sl_nodeset_next(&part->nodes, 0); n < SL_MAX_NODES; n = sl_nodeset_next(&part->nodes, n + 1)) {
		uint64_t has = count_of_row(c, row, n);

		if (has >= asked && has <= (uint64_t) (asked - 1) * (uint64_t) part->sockets)
			return false;
	}
	return true;
}
