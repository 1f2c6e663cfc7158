/* SPDX-License-Identifier: MIT */
/*
 * want_gres.c - gres that are more than a number for each node, each task or the job: of sockets, with tasks, bound to cores.
 */
#include "model/native.h"
#include "model/request.h"
#include "model/want_private.h"

/* -- fewest nodes ---------------------------------------------------------- */

/* (Not if the job takes as many nodes as it can get: there select would take more than the fewest.) */
bool want_narrow(const struct sl_cluster *c, struct want *w)
{
	struct sl_request *r = &w->pub.request;

	if (r->min_nodes == r->max_nodes)
		return true;
	if (r->most_nodes || w->counts || r->contiguous || c->snap->job.flags[w->entry.job] & SL_JOBF_SPREAD)
		return false;
	w->wide.differs = true;
	r->max_nodes = r->min_nodes;
	return true;
}

/* -- of each socket ---------------------------------------------------------- */

/*
 * Whole nodes come with all of their gres, and select looks no further than whether one of the sockets has as many as are
 * asked for of each.  Which socket a device is near is not in the snapshot; of as many as there are some socket has its
 * share at least.
 */
bool want_has_socket_gres(struct sl_cluster *c, const struct want *w, uint32_t row)
{
	const struct part *part = cluster_part(c, &w->entry);
	uint32_t asked = c->snap->job_gres.count[row];

	for (uint32_t n = sl_nodeset_next(&part->nodes, 0); n < SL_MAX_NODES; n = sl_nodeset_next(&part->nodes, n + 1)) {
		uint64_t has = want_count_gres(c, row, n, false);

		if (has >= asked && has <= (uint64_t) (asked - 1) * (uint64_t) part->sockets)
			return false;
	}
	return true;
}

/* -- tasks for each ---------------------------------------------------------- */

/* Does each of several nodes give as many of its gres, and whole cores? */
static bool are_alike(struct sl_cluster *c, struct want *w, const struct sl_ask *a, uint64_t cpus)
{
	const struct part *part = cluster_part(c, &w->entry);
	struct sl_request *r = &w->pub.request;
	uint32_t share;

	if (cpus % part->max_threads || w->pub.asked & SL_W(LLN) || c->snap->job.distribution[w->entry.job] == SL_DIST_PLANE)
		return false;
	if (c->snap->job_gres.per[a->gres.first] == SL_PER_NODE || r->whole_nodes)
		return true;
	share = want_share_of_job(c, w, a);
	if (!share || !r->gres_needs)
		return false;
	r->gres[0].per = SL_GRES_PER_NODE;
	r->gres[0].count = share;
	return true;
}

/* Has slurmctld counted the CPUs of tasks that it has counted by GPU?  Else select deals out fewer of them. */
static bool has_all_cpus(const struct sl_cluster *c, const struct want *w, const struct sl_ask *a)
{
	return a->cpus_per_task == 1 || a->tasks_per_node || w->pub.request.whole_nodes ||
		c->snap->job.min_cpus[w->entry.job] >= (uint64_t) a->tasks * a->cpus_per_task;
}

/*
 * All GPUs have as many tasks: how many is in no column, it follows from how many tasks there are.  On its fewest nodes
 * select gives each as many of them.
 */
static bool has_settled_gres_tasks(struct sl_cluster *c, struct want *w, const struct sl_ask *a)
{
	const struct sl_job_gres_view *gres = &c->snap->job_gres;
	struct sl_request *r = &w->pub.request;
	uint32_t tasks = c->snap->job.num_tasks[w->entry.job], g = a->gres.first, here = tasks / r->min_nodes;
	uint64_t count;

	if (!a->gres.count || !tasks || a->tasks != tasks || !has_all_cpus(c, w, a))
		return false;
	count = (uint64_t) gres->count[g] * (gres->per[g] == SL_PER_NODE ? r->min_nodes : 1);
	if (!count || tasks % count || tasks % r->min_nodes || (a->tasks_per_node && a->tasks_per_node != here) ||
	    a->node_cpus > (uint64_t) here * a->cpus_per_task || !want_narrow(c, w))
		return false;
	if (r->max_nodes == 1)
		return true;
	r->tasks_per_node = here;
	return are_alike(c, w, a, (uint64_t) here * a->cpus_per_task);
}

void want_gres_tasks(struct sl_cluster *c, struct want *w, const struct sl_ask *a)
{
	if (want_can_place(w, SL_W(TASKS_PER_GRES)) && !has_settled_gres_tasks(c, w, a))
		w->pub.asked |= SL_W(UNEVEN);
}

/* -- bound to cores near it ---------------------------------------------------- */

static uint32_t count_gres_of_tasks(const struct sl_cluster *c, const struct sl_ask *a)
{
	uint32_t rows = 0;

	for (uint32_t g = a->gres.first; g < a->gres.first + a->gres.count; g++)
		rows += c->snap->job_gres.per[g] == SL_PER_TASK;
	return rows;
}

/*
 * Select gives such a job a core of each socket at least that its gres may be near, and takes but cores of these.  Of nodes
 * of one socket all are near.  Beside gres of tasks it gives cores for as many tasks as could be on a node: no more than
 * it has where it is settled how many that are.
 */
static bool has_near_cores(const struct sl_cluster *c, struct want *w, const struct sl_ask *a)
{
	const struct part *part = cluster_part(c, &w->entry);
	const struct sl_request *r = &w->pub.request;
	uint32_t here = r->min_nodes == 1 ? r->tasks : r->min_nodes == r->tasks ? 1 : a->tasks_per_node;

	return count_gres_of_tasks(c, a) == a->gres.count &&
		(a->cpus_per_task == 1 || a->cpus_per_task % part->max_threads == 0) &&
		(uint64_t) here * r->min_nodes == r->tasks && (!a->tasks_per_node || a->tasks_per_node == here) &&
		a->node_cpus <= (uint64_t) here * a->cpus_per_task && want_narrow(c, w);
}

void want_bound_gres(struct sl_cluster *c, struct want *w, const struct sl_ask *a)
{
	if (want_can_place(w, SL_W(BOUND_TASKS)) && !has_near_cores(c, w, a))
		w->pub.asked |= SL_W(UNEVEN);
}
