/* SPDX-License-Identifier: MIT */
/*
 * want_socket.c - where whole sockets are allocated (CR_Socket).
 *
 * Of a part of a node a job has the cores of so many sockets as hold its tasks, where the plug-in has select fill one
 * after the other.  Left alone select takes a core of each free socket in turn, and gives the job all of these; a job
 * that asks for that itself is native, since how many they are depends on its nodes.  So is what counts cores otherwise.
 */
#include "model/native.h"
#include "model/request.h"
#include "model/want_private.h"

static bool has_gres_cpus(const struct sl_cluster *c, const struct sl_ask *a)
{
	for (uint32_t g = a->gres.first; g < a->gres.first + a->gres.count; g++)
		if (c->snap->job_gres.cpus[g])
			return true;
	return false;
}

/*
 * Do the tasks that a socket holds have all of its CPUs?  Of a node that is followed by others select leaves each of
 * those the CPUs of a socket, whether they are for whole tasks or not.
 */
static bool fills_sockets(const struct sl_cluster *c, const struct want *w, const struct part *part, const struct sl_ask *a)
{
	const struct sl_job_view *job = &c->snap->job;
	const struct sl_request *r = &w->pub.request;
	uint64_t threads = part->min_threads, use = job->threads_per_core[w->entry.job], cores = (uint64_t) part->socket_cores;
	uint64_t cpus = (uint64_t) job->ntasks_per_core[w->entry.job] * a->cpus_per_task, tasks;

	if (use && use < threads)
		threads = use;
	if (cpus && cpus < threads)
		threads = cpus;
	tasks = cores * r->tasks_per_core / r->cores_per_task;
	return tasks * a->cpus_per_task == cores * threads;
}

/* Of parts of nodes, what else decides of their cores. */
static bool is_counted_otherwise(const struct sl_cluster *c, const struct want *w, const struct part *part,
				 const struct sl_ask *a)
{
	const struct sl_job_view *job = &c->snap->job;
	uint32_t j = w->entry.job;

	return part->socket_cores < 1 || part->min_threads != part->max_threads || part->cap ||
		job->ntasks_per_socket[j] || job->sockets_per_node[j] || job->cores_per_socket[j] ||
		(job->asks[j] & SL_ASKS_SOCKETS_IN_TURN) || has_gres_cpus(c, a) ||
		(w->pub.request.max_nodes != 1 && !fills_sockets(c, w, part, a));
}

void want_whole_sockets(struct sl_cluster *c, struct want *w, const struct sl_ask *a)
{
	const struct part *part = cluster_part(c, &w->entry);
	struct sl_request *r = &w->pub.request;

	if (!(c->snap->meta.select_flags[0] & SL_SELECT_SOCKET))
		return;
	/* (a socket with a core of the system is nobody's) */
	if (part->core_spec || w->entry.loan || sl_request_core_spec(c->snap, w->entry.job) ||
	    (!r->whole_nodes && is_counted_otherwise(c, w, part, a)))
		w->pub.native |= SL_NATIVE_BY_SOCKET;
	if (!r->whole_nodes && part->socket_cores > 0)
		r->cores_at_once = (uint32_t) part->socket_cores;
}
