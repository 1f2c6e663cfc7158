/* SPDX-License-Identifier: MIT */
/*
 * want_sockets.c - requests for sockets, and allocation of whole sockets (CR_Socket).
 *
 * With CR_Socket, a job on part of a node gets all cores of as many sockets as its tasks fill: the plug-in tells select to
 * fill one socket after the other.  Otherwise select would take a core of each free socket in turn, and the job would get all
 * these sockets.  A job that asks for that itself (--distribution=block:cyclic) is native, because the number of its sockets
 * depends on the nodes.  So is a job whose cores are counted differently.
 */
#include "model/native.h"
#include "model/request.h"
#include "model/want_private.h"

#include "base/search.h"

#include <inttypes.h>

/* -- sockets that the job asks for --------------------------------------------- */

/* Cores of a whole node that tasks may use, with at most that many tasks per socket and the job's number of threads per
 * core. */
static uint32_t cores_by_sockets(const struct part *part, const struct sl_ask *a, uint32_t tasks, uint32_t threads)
{
	uint64_t cores = ((uint64_t) tasks * a->cpus_per_task + threads - 1) / threads;

	return (uint32_t) (part->sockets * (cores < (uint64_t) part->socket_cores ? (int64_t) cores : part->socket_cores));
}

/*
 * Number of cores that tasks certainly get if *free* cores of a node are free, whichever they are.  A socket with fewer than
 * *fewest* free cores gives none, any other at most *cap*.  0 if fewer than *sockets* sockets may be usable.  In the worst
 * case some sockets are entirely free, one is partly free, and all others have one free core too few.
 */
static int64_t sure_cores(const struct part *part, int64_t free, int64_t cap, int64_t fewest, int64_t sockets)
{
	int64_t all = part->sockets, each = part->socket_cores, worst = INT64_MAX;

	if (free <= (sockets - 1) * each + (all - sockets + 1) * (fewest - 1))
		return 0;
	for (int64_t full = 0; full <= all && full * each <= free; full++) {
		int64_t rest = free - full * each, poor = all - full - 1, sure;

		rest -= poor > 0 ? poor * (fewest - 1) : 0;
		if (rest > (poor >= 0 ? each - 1 : 0))
			continue;
		sure = full * (cap < each ? cap : each) + (rest >= fewest ? rest < cap ? rest : cap : 0);
		worst = sure < worst ? sure : worst;
	}
	return worst == INT64_MAX ? 0 : worst;
}

uint32_t want_tasks_of_each_node(const struct sl_request *r)
{
	if (r->max_nodes == 1)
		return sl_max(r->tasks, 1);
	return r->tasks_per_node && r->min_nodes == r->max_nodes &&
		(uint64_t) r->tasks_per_node * r->min_nodes == r->tasks ? r->tasks_per_node : 0;
}

/* Threads per core that the job's tasks may use on its nodes. */
static uint32_t job_threads(const struct sl_cluster *c, const struct want *w, const struct sl_ask *a)
{
	uint32_t threads = cluster_part(c, &w->entry)->min_threads, j = w->entry.job;

	if (c->snap->job.threads_per_core[j])
		threads = sl_min(threads, c->snap->job.threads_per_core[j]);
	return c->snap->job.ntasks_per_core[j] ? counted_cpus(threads, c->snap->job.ntasks_per_core[j], a->cpus_per_task) : threads;
}

/* Number of cores that must be free on a node so that its sockets certainly suffice for *here* tasks.  0: no number is
 * enough, or it cannot be computed. */
static uint32_t free_cores_for(const struct sl_cluster *c, const struct want *w, const struct sl_ask *a, uint32_t here)
{
	const struct sl_job_view *job = &c->snap->job;
	const struct part *part = cluster_part(c, &w->entry);
	const struct sl_request *r = &w->pub.request;
	uint32_t j = w->entry.job, tasks = job->ntasks_per_socket[j], threads = job_threads(c, w, a), all, free;
	int64_t cap = tasks ? ((int64_t) tasks * a->cpus_per_task + threads - 1) / threads : INT32_MAX, need;

	if (!here || job->sockets_per_node[j] > part->sockets ||
	    tasks > part->socket_cores * part->min_threads)
		return 0;
	need = (int64_t) sl_max(want_cores_of(r, here), sl_max(r->min_cores_per_node, sl_quotient_up(a->node_cpus, threads)));
	if (tasks && !a->tasks_per_node && need < cap)	/* select requires room for a socket's tasks on each node */
		need = cap;
	all = (uint32_t) (part->sockets * part->socket_cores);
	free = SL_FIRST(n, 1, all + 1, sure_cores(part, n, cap, sl_max(job->cores_per_socket[j], 1),
						  sl_max(job->sockets_per_node[j], 1)) < need);
	return free <= all ? free : 0;
}

#define EVEN_TRIES 64

/* If the tasks per node are not certain: find the smallest number of nodes that can have equal numbers of tasks, with room
 * for these. */
static void find_even_nodes(const struct sl_cluster *c, const struct want *w, const struct sl_ask *a, struct exact *x)
{
	const struct part *part = cluster_part(c, &w->entry);
	const struct sl_request *r = &w->pub.request;
	uint32_t nodes = r->min_nodes, most_nodes = sl_min(sl_min(r->max_nodes, r->tasks), part->nodes.count);

	if ((a->tasks_per_node && !want_tasks_of_each_node(r)) || !r->tasks || r->most_nodes)
		return;
	for (uint32_t i = 0; i < EVEN_TRIES && !x->even_nodes && nodes <= most_nodes; i++, nodes++) {
		x->even_free = r->tasks % nodes ? 0 : free_cores_for(c, w, a, r->tasks / nodes);
		x->even_nodes = x->even_free ? nodes : 0;
	}
}

/* From 24.11 on select requires a CPU of a whole node for each task; a thread left over on a socket does not count. */
static bool counts_tasks(const struct sl_cluster *c, const struct sl_request *r)
{
	return r->whole_nodes && c->snap->meta.select_flags[0] & SL_SELECT_DEALS_ALL;
}

/* Of parts of nodes with tasks for each socket select gives no more than the CPUs of the tasks, whatever --ntasks-per-core says,
 * as soon as a task takes more than a core. */
static bool packs_tasks(const struct want *w, const struct sl_ask *a, uint32_t threads)
{
	return !w->pub.request.whole_nodes && w->pub.asked & SL_W(TASKS_PER_CORE) && a->cpus_per_task > threads &&
		a->cpus_per_task % threads;
}

/* On whole nodes all cores are free, so the number of usable cores is known. */
int want_sockets(struct sl_cluster *c, struct want *w, const struct sl_ask *a)
{
	const struct sl_job_view *job = &c->snap->job;
	const struct part *part = cluster_part(c, &w->entry);
	struct sl_request *r = &w->pub.request;
	uint32_t j = w->entry.job, tasks = job->ntasks_per_socket[j], threads, sockets, cores;

	if (!(w->pub.asked & SL_SOCKET_SHAPE))
		return 0;
	threads = job_threads(c, w, a);
	cores = tasks && part->sockets > 0 && part->socket_cores > 0 ? cores_by_sockets(part, a, tasks, threads) : 0;
	if ((cores && r->min_cores_per_node > cores) || (tasks && packs_tasks(w, a, threads)) || ((a->tasks_per_node || counts_tasks(c, r)) &&
							 (uint64_t) tasks * a->cpus_per_task % threads))
		w->pub.asked |= SL_W(UNSURE_SOCKETS);
	if (!r->whole_nodes || !want_can_place(w, SL_SOCKET_SHAPE))
		return 0;
	sockets = job->sockets_per_node[j];
	if (sockets > part->sockets || job->cores_per_socket[j] > part->socket_cores)
		return want_refuse(w, SL_WHY_NEVER, "needs %" PRIu64 " sockets of %" PRIu64 " cores on a node, there are %" PRId64
				   " of %" PRId64, sl_max(sockets, 1), sl_max(job->cores_per_socket[j], 1), part->sockets,
				   part->socket_cores);
	if (tasks > part->socket_cores * part->min_threads ||
	    (!a->tasks_per_node && (uint64_t) cores * threads / a->cpus_per_task < tasks))
		return want_refuse(w, SL_WHY_NEVER, "needs sockets for %" PRIu32 " tasks, they have %" PRId64 " cores", tasks,
				   part->socket_cores);
	r->max_cores_per_node = cores;
	return 0;
}

/* On parts of nodes it is unknown which sockets the free cores belong to: enough must be free for any case. */
void want_sockets_of_parts(const struct sl_cluster *c, struct want *w, const struct sl_ask *a, struct exact *x)
{
	const struct sl_request *r = &w->pub.request;
	/* with gres select may count only cores near them; with fewer tasks than --ntasks-per-node it requires sockets
	 * with room for that many */
	bool counts = !a->gres.count && !r->least_free_cores;
	uint32_t free;

	if (r->whole_nodes || !want_can_place(w, SL_SOCKET_SHAPE))
		return;
	free = counts ? free_cores_for(c, w, a, want_tasks_of_each_node(r)) : 0;
	if (free) {
		x->request.least_free_cores = free;
		return;
	}
	w->pub.asked |= SL_W(UNSURE_SOCKETS);
	if (counts)
		find_even_nodes(c, w, a, x);
}

/* -- whole sockets ------------------------------------------------------------- */

/* True if the tasks on a socket use all its CPUs.  Before going to the next node, select leaves each following node the
 * CPUs of a socket, whether or not they make whole tasks, or match its gres. */
static bool fills_sockets(const struct sl_cluster *c, const struct want *w, const struct part *part, const struct sl_ask *a)
{
	const struct sl_job_view *job = &c->snap->job;
	const struct sl_request *r = &w->pub.request;
	uint64_t threads = part->min_threads, use = job->threads_per_core[w->entry.job], cores = (uint64_t) part->socket_cores;
	uint64_t cpus = (uint64_t) job->ntasks_per_core[w->entry.job] * a->cpus_per_task, tasks;

	if (w->pub.asked & SL_W(TASK_GRES) && r->tasks > r->min_nodes && !want_tasks_of_each_node(r))
		return false;
	if (use && use < threads)
		threads = use;
	if (cpus && cpus < threads)
		threads = cpus;
	tasks = cores * r->tasks_per_core / r->cores_per_task;
	return tasks * a->cpus_per_task == cores * threads;
}

/* True if the job needs only one core per node. */
static bool has_single_cores(const struct sl_request *r)
{
	return r->tasks && r->tasks <= r->min_nodes && r->cores_per_task <= 1 && r->min_cores_per_node <= 1;
}

void want_whole_sockets(struct sl_cluster *c, struct want *w, const struct sl_ask *a)
{
	const struct part *part = cluster_part(c, &w->entry);
	struct sl_request *r = &w->pub.request;

	if (!(w->pub.asked & SL_W(PARTS_BY_SOCKET)))
		return;
	/* with gres select may already have taken a core of each free socket in turn before it is told to fill sockets */
	if (c->snap->meta.select_flags[0] & SL_SELECT_GRES_IN_TURN && w->pub.asked & SL_W(GRES_OF_SOCKETS) && !has_single_cores(r))
		w->pub.asked |= SL_W(GRES_IN_TURN);
	if (part->socket_cores < 1)
		return;
	if (r->max_nodes != 1 && !fills_sockets(c, w, part, a))
		w->pub.asked |= SL_W(UNFILLED_SOCKETS);
	r->cores_at_once = (uint32_t) part->socket_cores;
}
