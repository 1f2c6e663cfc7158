/* SPDX-License-Identifier: MIT */
/*
 * check/each.c - CPUs and memory that come with each gres.
 */
#include "check/private.h"

#include <string.h>

static bool brings_memory(const struct check *c, uint32_t g)
{
	return (c->snap->meta.select_flags[0] & SL_SELECT_MEMORY) && c->snap->job_gres.memory[g] > 0;
}

uint64_t check_gres_cpus(const struct check *c, struct sl_range gres, uint32_t per)
{
	uint64_t cpus = 0;

	for (uint32_t g = gres.first; g < gres.first + gres.count; g++)
		if (c->snap->job_gres.per[g] == per)
			cpus += (uint64_t) c->snap->job_gres.cpus[g] * c->snap->job_gres.count[g];
	return cpus;
}

/* Gres of that name on a node, of whatever type. */
static uint64_t count_of_node(const struct check *c, uint32_t want, uint32_t node)
{
	const struct sl_snapshot *s = c->snap;
	const char *name = check_str(c, s->job_gres.name[want]);
	uint64_t count = 0;

	for (uint32_t i = s->node.gres[node].first; i < s->node.gres[node].first + s->node.gres[node].count; i++)
		count += strcmp(check_str(c, s->gres_kind.name[s->node_gres.kind[i]]), name) ? 0 : s->node_gres.count[i];
	return count;
}

bool check_gres_memory(const struct check *c, const struct ask *a, uint32_t place, int64_t *memory)
{
	uint32_t node = c->plan->place.node[place];
	bool any = false;

	*memory = 0;
	for (uint32_t g = a->gres.first; g < a->gres.first + a->gres.count; g++) {
		bool each = c->snap->job_gres.per[g] == SL_PER_NODE;
		uint64_t count = a->whole ? count_of_node(c, g, node) : each ? c->snap->job_gres.count[g] :
			check_gres_at(c, g, place);
		int64_t all;

		if (!brings_memory(c, g))
			continue;
		any = true;
		if (__builtin_mul_overflow(c->snap->job_gres.memory[g], count, &all))
			all = INT64_MAX;
		*memory = check_later(*memory, all);
	}
	return any;
}

bool check_gres_fits_whole(const struct check *c, const struct ask *a, uint32_t node)
{
	const struct sl_node_view *n = &c->snap->node;
	uint64_t cpus = (uint64_t) n->cores[node] * (n->threads[node] ? n->threads[node] : 1);

	for (uint32_t g = a->gres.first; g < a->gres.first + a->gres.count; g++)
		if (count_of_node(c, g, node) * c->snap->job_gres.cpus[g] > cpus)
			return false;
	return true;
}

/* Are tasks and cores what they are not for these CPUs alone? */
static bool has_odd_layout(const struct check *c, const struct row *r, const struct ask *a)
{
	const struct sl_job_view *job = &c->snap->job;
	bool one_a_core = a->tasks_per_core || a->threads;
	uint32_t j = r->job;

	for (uint32_t i = r->places.first; i < r->places.first + r->places.count; i++)
		if (one_a_core && c->snap->node.threads[c->plan->place.node[i]] > 1)
			return true;
	return a->gres.count != 1 || a->overcommit || check_has_sockets(c, j) || (job->asks[j] & SL_ASKS_BOUND_GRES) ||
		a->cpus_per_task != (a->gres_cpus ? 1 : check_gres_cpus(c, a->gres, SL_PER_TASK)) ||
		(job->pn_min_cpus[j] > a->gres_cpus && job->pn_min_cpus[j] > a->cpus_per_task &&
		 job->pn_min_cpus[j] > (uint64_t) a->tasks_per_node * a->cpus_per_task);
}

/* Has each of its nodes the same number, of whole cores? */
static bool has_equal_nodes(const struct check *c, const struct row *r, const struct ask *a)
{
	uint32_t nodes = r->places.count;

	if (a->gres_cpus <= a->tasks_per_node && a->gres_cpus <= a->tasks)
		return true;
	if (a->tasks_per_node && (uint64_t) a->tasks_per_node * nodes != a->tasks)
		return false;
	for (uint32_t i = r->places.first; nodes > 1 && i < r->places.first + nodes; i++) {
		uint32_t threads = c->snap->node.threads[c->plan->place.node[i]];

		if (threads > 1 && a->gres_cpus % threads)
			return false;
	}
	return true;
}

/* Are its tasks on several nodes such that a core may have room for one more of them? */
static bool has_loose_tasks(const struct check *c, const struct row *r, const struct ask *a)
{
	for (uint32_t i = r->places.first; r->places.count > 1 && i < r->places.first + r->places.count; i++) {
		uint32_t threads = c->snap->node.threads[c->plan->place.node[i]];

		if (threads > 1 && a->cpus_per_task % threads)
			return true;
	}
	return false;
}

/* Can nodes give no other share of gres of the job?  One has all, each has one, or all that it has. */
static bool has_equal_shares(const struct check *c, const struct row *r, const struct ask *a, uint32_t want)
{
	uint32_t count = c->snap->job_gres.count[want], nodes = r->places.count;

	if (nodes == 1)
		return a->min_nodes == 1;
	if (a->min_nodes != nodes || count % nodes)
		return false;
	if (a->gres_cpus && count > nodes && (c->snap->job.asks[r->job] & SL_ASKS_DEFAULT_CPUS))
		return false;
	for (uint32_t i = r->places.first; i < r->places.first + nodes; i++)
		if (check_gres_at(c, want, i) != count / nodes ||
		    (count > nodes && count_of_node(c, want, c->plan->place.node[i]) != count / nodes))
			return false;
	return true;
}

/* Gres that bring something and are not of each node. */
static const char *odd_per(const struct check *c, const struct row *r, const struct ask *a, uint32_t g)
{
	switch (c->snap->job_gres.per[g]) {
	case SL_PER_NODE:
		return NULL;
	case SL_PER_TASK:
		return a->gres.count > 1 || (brings_memory(c, g) && !a->whole && has_loose_tasks(c, r, a)) ?
			"CPUs or memory for gres of each task, on uneven nodes" : NULL;
	case SL_PER_JOB:
		return a->gres.count > 1 || a->whole || !has_equal_shares(c, r, a, g) ||
			(a->gres_cpus && (a->tasks_per_node || a->tasks > a->gres_cpus * r->places.count)) ?
			"CPUs or memory for gres of the job, on several nodes" : NULL;
	default:
		return "CPUs or memory for gres of each socket";
	}
}

/* Its tasks are as many on each node, on no more cores than they take. */
static bool has_even_cores(const struct check *c, const struct row *r, const struct ask *a, uint64_t cpus)
{
	for (uint32_t i = r->places.first; i < r->places.first + r->places.count; i++) {
		uint32_t threads = c->snap->node.threads[c->plan->place.node[i]];

		threads = threads > 1 ? threads : 1;
		if ((threads > 1 && a->threads) || (r->places.count > 1 && cpus % threads) ||
		    (a->whole ? (uint64_t) c->plan->place.cores[i] * threads < cpus :
		     c->plan->place.cores[i] != (cpus + threads - 1) / threads))
			return false;
	}
	return true;
}

const char *check_gres_tasks(const struct check *c, const struct row *r, const struct ask *a)
{
	const struct sl_snapshot *s = c->snap;
	uint32_t nodes = r->places.count, tasks = s->job.num_tasks[r->job], g = a->gres.first, j = r->job;
	bool lln = s->meta.select_flags[0] & SL_SELECT_LLN || s->partition.flags[r->partition] & SL_PART_LLN;
	uint64_t all;

	if (r->shape || a->gres.count != 1 || a->overcommit || a->tasks_per_core || check_has_sockets(c, j) || s->job_gres.cpus[g] ||
	    (s->job_gres.per[g] != SL_PER_NODE && s->job_gres.per[g] != SL_PER_JOB) ||
	    (s->meta.select_flags[0] & SL_SELECT_SOCKET && !a->whole) ||
	    s->job.asks[j] & (SL_ASKS_BOUND_GRES | SL_ASKS_TASK_GRES | SL_ASKS_CPUS_PER_GRES))
		return "tasks for each gres, beside others";
	all = (uint64_t) s->job_gres.count[g] * (s->job_gres.per[g] == SL_PER_NODE ? nodes : 1);
	if (nodes != a->min_nodes || !all || !tasks || a->tasks != tasks || tasks % all || tasks % nodes ||
	    (a->tasks_per_node && a->tasks_per_node != tasks / nodes))
		return "tasks for each gres, not as many on each node";
	if (a->cpus_per_task > 1 && !a->tasks_per_node && !a->whole &&
	    s->job.min_cpus[j] / a->cpus_per_task < tasks)
		return "tasks for each gres, not all CPUs of which are counted";
	if (nodes > 1 && (s->job.distribution[j] == SL_DIST_PLANE || (lln && s->meta.select_flags[0] & SL_SELECT_LLN_DEALS)))
		return "tasks for each gres, dealt out otherwise";
	if (nodes > 1 && s->job_gres.per[g] == SL_PER_JOB && !a->whole && !has_equal_shares(c, r, a, g))
		return "tasks for each gres of the job, on several nodes";
	return has_even_cores(c, r, a, (uint64_t) (tasks / nodes) * a->cpus_per_task) ? NULL :
		"tasks for each gres, on uneven cores";
}

const char *check_gres_company(const struct check *c, const struct row *r, const struct ask *a)
{
	uint32_t asks = c->snap->job.asks[r->job], cpus = 0, memory = 0;
	const char *why = NULL;

	for (uint32_t g = a->gres.first; g < a->gres.first + a->gres.count && !why; g++) {
		cpus += c->snap->job_gres.cpus[g] != 0;
		memory += brings_memory(c, g);
		if (c->snap->job_gres.cpus[g] || brings_memory(c, g))
			why = odd_per(c, r, a, g);
	}
	if (why)
		return why;
	if (((asks & SL_ASKS_CPUS_PER_GRES) && !cpus) ||
	    ((asks & SL_ASKS_MEMORY_PER_GRES) && !memory && (c->snap->meta.select_flags[0] & SL_SELECT_MEMORY)))
		return "CPUs or memory for each gres, nobody says how much";
	if ((cpus || memory) && (c->snap->meta.select_flags[0] & SL_SELECT_WHOLE_NODE))
		return "CPUs or memory for each gres, of nodes that are allocated whole";
	if (a->whole && memory > 1)
		return "memory for gres of several types on whole nodes";
	if (cpus && (has_odd_layout(c, r, a) || (!a->whole && !has_equal_nodes(c, r, a))))
		return "CPUs for each gres beside others";
	return NULL;
}
