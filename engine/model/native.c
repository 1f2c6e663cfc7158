/* SPDX-License-Identifier: MIT */
/* native.c - see native.h */
#include "model/native.h"
#include "model/want_private.h"

#include <stdio.h>
#include <string.h>

/* -- words --------------------------------------------------------------- */

static const struct {
	uint32_t native;
	const char *words;
} words[] = {
	{ SL_NATIVE_FEATURES, "features" },
	{ SL_NATIVE_BOARDS, "a shape of boards" },
	{ SL_NATIVE_SOCKETS, "a shape of sockets and cores" },
	{ SL_NATIVE_TASKS_PER_SOCKET, "tasks per socket" },
	{ SL_NATIVE_CORE_SPEC, "core specialization beside gres, on unequal nodes, or by threads" },
	{ SL_NATIVE_DISTRIBUTION, "a distribution, arbitrary or by planes, that is not settled" },
	{ SL_NATIVE_NODE_COUNTS, "a list of node counts that is long, or beside gres of the job or counts of features" },
	{ SL_NATIVE_TASK_COUNTS, "its own tasks for each node" },
	{ SL_NATIVE_UNCOUNTED_GRES, "a gres that is not counted (some of mps, shard, no_consume; types without files)" },
	{ SL_NATIVE_BY_GRES, "CPUs, memory or tasks per gres" },
	{ SL_NATIVE_SOCKET_GRES, "gres per socket" },
	{ SL_NATIVE_WHOLE_SWITCHES, "switches of its own" },
	{ SL_NATIVE_BURST_BUFFER, "a burst buffer" },
	{ SL_NATIVE_TASK_GRES, "gres for each task" },
	{ SL_NATIVE_BOUND_GRES, "gres bound to cores" },
	{ SL_NATIVE_EXPAND, "the expansion of a job" },
	{ SL_NATIVE_PREEMPT, "jobs that it may preempt" },
	{ SL_NATIVE_REFUSED, "a placement that select refuses" },
	{ SL_NATIVE_SHARED_CORES, "shared cores beside other counts of them" },
	{ SL_NATIVE_BY_SOCKET, "allocation by socket, of unequal ones or beside other counts of cores" },
	{ SL_NATIVE_RESERVATIONS, "several reservations" },
	{ SL_NATIVE_PARTIAL, "a reservation of gres, or of parts of nodes, beside gres or with cores that others may have" },
	{ SL_NATIVE_UNEQUAL_THREADS, "nodes with unequal threads" },
	{ SL_NATIVE_GRES, "gres" },
	{ SL_NATIVE_CPU_CAP, "MaxCPUsPerNode" },
	{ SL_NATIVE_LLN, "tasks on least loaded nodes" },
	{ SL_NATIVE_HRES, "hierarchical resources" },
	{ SL_NATIVE_EXTRA, "constraints on Extra of nodes" },
	{ SL_NATIVE_SOCKET_CAP, "MaxCPUsPerSocket" },
	{ SL_NATIVE_TOPOLOGY, "several nodes of blocks, a ring or a torus, or of one of several topologies" },
	{ SL_NATIVE_GPU_CORES, "nodes that keep cores for jobs with GPUs (RestrictedCoresPerGPU)" },
};
_Static_assert(sizeof(words) / sizeof(words[0]) == SL_NATIVE_FLAGS, "words for each flag");

const char *sl_native_text(uint32_t native, char *text, size_t size)
{
	size_t at = 0;

	text[0] = '\0';
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && at < size; i++)
		if (native & words[i].native)
			at += (size_t) snprintf(text + at, size - at, "%s%s", at ? ", " : "", words[i].words);
	return text;
}

/* -- facts --------------------------------------------------------------- */

/* What each SL_ASKS_* comes to. */
static const struct {
	uint32_t asks, native;
} asked[] = {
	{ SL_ASKS_BOARDS, SL_NATIVE_BOARDS },
	{ SL_ASKS_UNCOUNTED_GRES | SL_ASKS_ONE_TYPE, SL_NATIVE_UNCOUNTED_GRES },
	{ SL_ASKS_REBOOT, SL_NATIVE_FEATURES },
	{ SL_ASKS_NODE_COUNTS, SL_NATIVE_NODE_COUNTS },
	{ SL_ASKS_TASK_COUNTS, SL_NATIVE_TASK_COUNTS },
	{ SL_ASKS_WHOLE_SWITCHES, SL_NATIVE_WHOLE_SWITCHES },
	{ SL_ASKS_BURST_BUFFER, SL_NATIVE_BURST_BUFFER },
	{ SL_ASKS_EXPAND, SL_NATIVE_EXPAND },
	{ SL_ASKS_HRES, SL_NATIVE_HRES },
	{ SL_ASKS_EXTRA, SL_NATIVE_EXTRA },
	{ SL_ASKS_RECLAIM, SL_NATIVE_PREEMPT },
};

static uint32_t if_so(bool is, uint32_t native)
{
	return is ? native : 0;
}

static bool is_placed(const struct sl_cluster *c, uint32_t constraint)
{
	return cluster_constraint(c, constraint).kind == SL_CONSTRAINT_PLACED;
}

/* Counts are placed by, beside nothing that other nodes would have to be chosen for. */
static bool has_placed_features(const struct sl_cluster *c, uint32_t j)
{
	const struct sl_job_view *job = &c->snap->job;

	if (!cluster_is_counted(c, job->features[j]))
		return is_placed(c, job->features[j]) && is_placed(c, job->prefer[j]);
	return !*cluster_str(c, job->prefer[j]) && !job->req_nodes[j].count && !job->switches[j] && !(job->flags[j] & SL_JOBF_CONTIGUOUS);
}

static bool has_task_gres(const struct sl_cluster *c, uint32_t j)
{
	struct sl_range gres = c->snap->job.gres[j];

	for (uint32_t g = gres.first; g < gres.first + gres.count; g++)
		if (c->snap->job_gres.per[g] == SL_PER_TASK)
			return true;
	return c->snap->job.asks[j] & SL_ASKS_TASK_GRES;
}

/* Are there fewer tasks than on each node there are to be? */
static bool lacks_tasks(const struct sl_job_view *job, uint32_t j)
{
	uint32_t tasks = job->num_tasks[j], per_node = job->ntasks_per_node[j];

	return per_node && (tasks % per_node || tasks / per_node < job->min_nodes[j]);
}

/*
 * Gres for each task, where select gives CPUs to all tasks that overcommit, and for gres of each node besides wants as
 * many tasks on each as that makes.  (Those that are bound: want_gres.c.)
 */
static bool has_odd_tasks(const struct sl_cluster *c, uint32_t j)
{
	const struct sl_job_view *job = &c->snap->job;

	return has_task_gres(c, j) && ((job->flags[j] & SL_JOBF_OVERCOMMIT) ||
				       (job->asks[j] & SL_ASKS_TASK_GRES && lacks_tasks(job, j)));
}

static uint32_t native_of_job(const struct sl_cluster *c, uint32_t j)
{
	const struct sl_job_view *job = &c->snap->job;
	uint32_t native = 0;

	for (size_t i = 0; job->asks[j] && i < sizeof(asked) / sizeof(asked[0]); i++)
		native |= if_so(job->asks[j] & asked[i].asks, asked[i].native);
	return native | if_so(!has_placed_features(c, j), SL_NATIVE_FEATURES) |
		if_so(has_odd_tasks(c, j), SL_NATIVE_TASK_GRES) |
		if_so(job->flags[j] & SL_JOBF_MAY_PREEMPT, SL_NATIVE_PREEMPT) |
		if_so(job->refusals[j] >= SL_REFUSALS, SL_NATIVE_REFUSED);
}

/*
 * Is it one of parts of nodes, of which cores its jobs find free is not known?  Not of how many it has of each node, nor
 * where jobs that hold some may be in none or in another one; nor is it said which gres are its.
 */
static bool has_unknown_cores(const struct sl_cluster *c, uint32_t r, const struct sl_entry *e)
{
	const struct sl_reservation_view *v = &c->snap->reservation;
	struct sl_range gres = e->shape ? c->snap->shape.gres[c->snap->job.shapes[e->job].first + e->shape - 1] :
		c->snap->job.gres[e->job];

	return v->cores[r] && (!v->parts[r].count || v->flags[r] & (SL_RESV_FLEX | SL_RESV_IGNORE_JOBS | SL_RESV_OVERLAP) ||
			       gres.count || c->snap->meta.select_flags[0] & SL_SELECT_SOCKET);
}

/*
 * True if the job asks for gres while a reservation sets some aside: which of a node's gres are free for jobs inside and
 * outside of it, the snapshot does not say.
 */
static bool meets_reserved_gres(const struct sl_cluster *c, const struct sl_entry *e)
{
	const struct sl_reservation_view *v = &c->snap->reservation;
	struct sl_range gres = e->shape ? c->snap->shape.gres[c->snap->job.shapes[e->job].first + e->shape - 1] :
		c->snap->job.gres[e->job];

	for (uint32_t r = 0; r < v->rows && gres.count; r++)
		if (v->flags[r] & SL_RESV_GRES && v->end_time[r] > c->now)
			return true;
	return false;
}

static uint32_t native_of_reservation(const struct sl_cluster *c, const struct sl_entry *e)
{
	uint32_t r = cluster_entry_reservation(c, e);

	if (r == SL_NONE)
		return 0;
	return if_so(!e->resv && strchr(cluster_str(c, c->snap->job.reservation[e->job]), ','), SL_NATIVE_RESERVATIONS) |
		if_so(has_unknown_cores(c, r, e), SL_NATIVE_PARTIAL);
}

static uint32_t native_of_partition(const struct sl_cluster *c, uint32_t p)
{
	return if_so(c->snap->partition.flags[p] & SL_PART_EXCLUSIVE_TOPO, SL_NATIVE_WHOLE_SWITCHES) |
		if_so(c->snap->partition.max_cpus_per_socket[p] != SL_NONE, SL_NATIVE_SOCKET_CAP);
}

uint32_t want_native(const struct sl_cluster *c, const struct sl_entry *e)
{
	return native_of_job(c, e->job) | native_of_reservation(c, e) | native_of_partition(c, e->partition) |
		if_so(meets_reserved_gres(c, e), SL_NATIVE_PARTIAL);
}
