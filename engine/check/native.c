/* SPDX-License-Identifier: MIT */
/*
 * check/native.c - what has to be left to Slurm's select.
 */
#include "check/private.h"

#include <string.h>

/* Not as many on each of its nodes as it says? */
static bool has_uneven_tasks(const struct sl_job_view *job, uint32_t j)
{
	uint32_t per_node = job->ntasks_per_node[j], nodes = per_node ? job->num_tasks[j] / per_node : 0;

	return per_node && (nodes * per_node != job->num_tasks[j] || nodes < job->min_nodes[j]);
}

static const char *special_request(const struct check *c, uint32_t j)
{
	const struct sl_job_view *job = &c->snap->job;
	bool by_task = job->asks[j] & SL_ASKS_TASK_GRES;

	if (!check_reads_features(c, j))
		return "features";
	if (job->asks[j] & ~(uint32_t) (SL_ASKS_USER_NODES | SL_ASKS_MCS | SL_ASKS_SPEC_CORES | SL_ASKS_SPEC_THREADS |
					      SL_ASKS_BOUND_GRES | SL_ASKS_TASKS_PER_GRES | SL_ASKS_TASK_GRES | SL_ASKS_CPUS_PER_GRES |
					      SL_ASKS_MEMORY_PER_GRES | SL_ASKS_DEFAULT_CPUS | SL_ASKS_SOCKETS_IN_TURN |
					      SL_ASKS_ANY_LICENSE | SL_ASKS_REBOOT))
		return "what it asks for besides";
	if (job->flags[j] & SL_JOBF_MAY_PREEMPT)
		return "preemption";
	for (uint32_t g = job->gres[j].first; g < job->gres[j].first + job->gres[j].count; g++)
		by_task |= c->snap->job_gres.per[g] == SL_PER_TASK;
	if (by_task && ((job->flags[j] & SL_JOBF_OVERCOMMIT) ||
			(job->asks[j] & SL_ASKS_TASK_GRES && has_uneven_tasks(job, j))))
		return "gres for each task";
	return job->refusals[j] >= SL_REFUSALS ? "refused placements" : NULL;
}

/* Gres that is bound to cores near it: on nodes of one socket, or whole ones ... */
static const char *bound_gres(const struct check *c, const struct row *r, const struct ask *a)
{
	if (!a->gres.count || a->whole)
		return NULL;
	for (uint32_t i = r->places.first; i < r->places.first + r->places.count; i++)
		if (c->snap->node.sockets[c->plan->place.node[i]] > 1)
			return "gres bound to cores, on nodes of several sockets";
	return NULL;
}

/* ... and where it is for each task, with as many of them on each node. */
static const char *bound_tasks(const struct check *c, const struct row *r, const struct ask *a)
{
	uint32_t asks = c->snap->job.asks[r->job], nodes = r->places.count, here = a->tasks / (nodes ? nodes : 1);
	bool by_task = asks & SL_ASKS_TASK_GRES, by_other = false;

	for (uint32_t g = a->gres.first; g < a->gres.first + a->gres.count; g++) {
		by_task |= c->snap->job_gres.per[g] == SL_PER_TASK;
		by_other |= c->snap->job_gres.per[g] != SL_PER_TASK;
	}
	if (!(asks & SL_ASKS_BOUND_GRES))
		return NULL;
	if (!by_task)
		return bound_gres(c, r, a);
	if (r->shape || by_other || nodes != a->min_nodes || here * nodes != a->tasks || a->tasks_per_core ||
	    check_has_sockets(c, r->job) || (nodes > 1 && here > 1 && a->tasks_per_node != here) ||
	    (a->tasks_per_node && a->tasks_per_node != here) || a->node_cpus > (uint64_t) here * a->cpus_per_task ||
	    (c->snap->meta.select_flags[0] & SL_SELECT_SOCKET && !a->whole))
		return "tasks bound to their gres, not as many on each node";
	for (uint32_t i = r->places.first; i < r->places.first + nodes; i++) {
		uint32_t node = c->plan->place.node[i], threads = c->snap->node.threads[node];

		if (c->snap->node.sockets[node] > 1)
			return "tasks bound to their gres, on nodes of several sockets";
		if (threads > 1 && (a->threads || (a->cpus_per_task > 1 && a->cpus_per_task % threads)))
			return "tasks bound to their gres, of parts of cores";
	}
	return NULL;
}

/* Of what sockets a job has, where they are allocated, something else decides. */
static bool has_other_sockets(const struct check *c, const struct row *r, const struct ask *a)
{
	uint32_t cap = c->snap->partition.max_cpus_per_node[r->partition];

	if (check_core_spec(c, r->job))
		return true;
	for (uint32_t g = a->gres.first; !a->whole && g < a->gres.first + a->gres.count; g++)
		if (c->snap->job_gres.cpus[g])
			return true;
	return !a->whole && (check_has_sockets(c, r->job) || (cap && cap != SL_NONE) ||
			     (c->snap->job.asks[r->job] & (SL_ASKS_SOCKETS_IN_TURN | SL_ASKS_BOUND_GRES)));
}

/* Is it known how many cores of each node the reservation has, and that its jobs alone are on them? */
static bool knows_parts(const struct check *c, uint32_t resv, const struct ask *a)
{
	uint32_t flags = c->snap->reservation.flags[resv];

	if (flags & SL_RESV_FLEX || flags & SL_RESV_IGNORE_JOBS || flags & SL_RESV_OVERLAP)
		return false;
	return c->snap->reservation.parts[resv].count && !a->gres.count &&
	       !(c->snap->meta.select_flags[0] & SL_SELECT_SOCKET);
}

/* What its partition, and the nodes that it has, leave to select. */
static const char *special_nodes(const struct check *c, const struct row *r)
{
	uint32_t flags = c->snap->partition.flags[r->partition];

	if (flags & SL_PART_EXCLUSIVE_TOPO)
		return "switches of its own";
	if (flags & SL_PART_OTHER_TOPOLOGY && r->places.count > 1)
		return "several nodes of another topology";
	if (c->snap->partition.max_cpus_per_socket[r->partition] != SL_NONE)
		return "MaxCPUsPerSocket";
	for (uint32_t i = r->places.first; i < r->places.first + r->places.count; i++)
		if (c->snap->node.res_cores_per_gpu[c->plan->place.node[i]])
			return "cores for jobs with GPUs";
	return NULL;
}

/* Gres, of which a reservation that is not over has some. */
static bool meets_reserved_gres(const struct check *c, const struct ask *a)
{
	const struct sl_reservation_view *v = &c->snap->reservation;
	bool meets = false;

	for (uint32_t r = 0; r < v->rows && a->gres.count; r++)
		meets |= v->flags[r] & SL_RESV_GRES && v->end_time[r] > c->snap->meta.now[0];
	return meets;
}

const char *check_native(const struct check *c, const struct row *r, const struct ask *a)
{
	const struct sl_snapshot *s = c->snap;
	uint32_t own = r->way != SL_NONE ? r->way : check_reservation(c, r->job);
	const char *why = special_request(c, r->job);

	if (!why)
		why = check_gres_company(c, r, a);
	if (!why && s->job.asks[r->job] & SL_ASKS_TASKS_PER_GRES)
		why = check_gres_tasks(c, r, a);
	if (!why)
		why = bound_tasks(c, r, a);
	if (why)
		return why;
	if (!check_deals_planes(c, r, a))
		return "planes";
	if (!check_says_tasks(c, r, a))
		return "an arbitrary distribution";
	if (check_has_sockets(c, r->job) && (check_core_spec(c, r->job) || a->overcommit))
		return "sockets beside -O or cores for the system";
	if (s->meta.select_flags[0] & SL_SELECT_SOCKET && has_other_sockets(c, r, a))
		return "allocation by socket";
	if (s->meta.select_flags[0] & SL_SELECT_LLN_DEALS && r->places.count > 1 && !a->whole && !a->tasks_per_node &&
	    (s->meta.select_flags[0] & SL_SELECT_LLN || s->partition.flags[r->partition] & SL_PART_LLN))
		return "tasks on least loaded nodes";
	if ((why = special_nodes(c, r)) || (why = check_shared_native(c, r, a)))
		return why;
	if (meets_reserved_gres(c, a))
		return "a reservation of gres";
	if (r->way == SL_NONE && strchr(check_str(c, s->job.reservation[r->job]), ','))
		return "several reservations";
	if (own != SL_NONE && s->reservation.cores[own] && !knows_parts(c, own, a))
		return "a partial reservation";
	return NULL;
}
