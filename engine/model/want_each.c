/* SPDX-License-Identifier: MIT */
/*
 * want_each.c - CPUs and memory that come with each gres.
 *
 * Memory is no more than a number of MiB for each (timeline/place.h).  CPUs are what select deals out as if they
 * were tasks of one CPU: in turn to all nodes, until there are as many as the tasks have, or the gres of all nodes,
 * if these have more.  Where that comes to the same on each node it is the least that each gives (model/request.c);
 * else the job is native.
 */
#include "model/native.h"
#include "model/request.h"
#include "model/want_private.h"

#include <string.h>

/* Rows of the gres asked for that bring something. */
struct company {
	uint32_t cpus, memory;		/* rows with CPUs, with memory */
	uint32_t per;			/* bits: 1 << SL_PER_* of these */
	uint64_t all_cpus;		/* of a node, a task or the job */
};

static struct company read_company(const struct sl_cluster *c, const struct sl_ask *a)
{
	const struct sl_job_gres_view *gres = &c->snap->job_gres;
	struct company with = { 0 };

	for (uint32_t g = a->gres.first; g < a->gres.first + a->gres.count; g++) {
		bool memory = c->snap->meta.select_flags[0] & SL_SELECT_MEMORY && gres->memory[g] > 0;

		with.cpus += gres->cpus[g] > 0;
		with.memory += memory;
		if (!gres->cpus[g] && !memory)
			continue;
		with.per |= 1u << gres->per[g];
		with.all_cpus += (uint64_t) gres->cpus[g] * gres->count[g];
	}
	return with;
}

/* Does it ask for some of which the rows say nothing?  So it is with defaults beside what the job says itself, of
 * which select takes account for all that; and alternatives have rows of their own. */
static bool is_unsaid(const struct sl_cluster *c, const struct want *w, const struct company *with)
{
	uint32_t asks = c->snap->job.asks[w->entry.job];

	if (!(c->snap->meta.select_flags[0] & SL_SELECT_MEMORY))
		asks &= ~(uint32_t) SL_ASKS_MEMORY_PER_GRES;
	return (asks & SL_ASKS_CPUS_PER_GRES && !with->cpus) || (asks & SL_ASKS_MEMORY_PER_GRES && !with->memory);
}

/* Does it say besides how CPUs lie, or has other gres, by which select cuts them down? */
static bool has_odd_cpus(const struct sl_cluster *c, const struct want *w, const struct sl_ask *a,
			 const struct company *with)
{
	const struct sl_job_view *job = &c->snap->job;
	const struct part *part = cluster_part(c, &w->entry);
	uint32_t j = w->entry.job, per_node = a->tasks_per_node ? a->tasks_per_node : 1;
	bool by_core = job->ntasks_per_core[j] || job->threads_per_core[j] ||
		c->snap->meta.select_flags[0] & SL_SELECT_ONE_TASK_PER_CORE;
	uint64_t of_task = with->per == 1u << SL_PER_TASK ? with->all_cpus : 1;

	return a->gres.count > 1 || a->overcommit || a->cpus_per_task != of_task ||
		part->min_threads != part->max_threads || (by_core && part->max_threads > 1) ||
		(job->pn_min_cpus[j] > of_task * per_node && job->pn_min_cpus[j] > with->all_cpus) ||
		job->asks[j] & SL_ASKS_BOUND_GRES || job->ntasks_per_socket[j] || job->sockets_per_node[j] ||
		job->cores_per_socket[j];
}

/* Are those of each node the same, whatever tasks it has, and whole cores? */
static bool are_equal(const struct sl_request *r, uint64_t cpus, uint32_t threads)
{
	if (r->whole_nodes || (cpus <= r->tasks_per_node && cpus <= r->tasks))
		return true;
	if (r->tasks_per_node &&
	    (r->min_nodes != r->max_nodes || (uint64_t) r->tasks_per_node * r->min_nodes != r->tasks))
		return false;
	return r->max_nodes == 1 || cpus % threads == 0;
}

/*
 * Of gres of the job those of one node alone are settled, if tasks take no more CPUs; of several nodes select deals out
 * the gres, and CPUs without a look at that.  Of gres for each task the memory of a node is that of its tasks: these
 * are settled where no core has room for another one.
 */
static bool are_settled(const struct sl_cluster *c, const struct want *w, const struct sl_ask *a,
			const struct company *with)
{
	const struct sl_request *r = &w->pub.request;
	const struct part *part = cluster_part(c, &w->entry);
	uint32_t nodes = sl_ask_job_gres(c->snap, a);

	if (with->per == 1u << SL_PER_NODE)
		return !with->cpus || are_equal(r, with->all_cpus, part->max_threads);
	if (a->gres.count > 1)
		return false;
	if (with->per == 1u << SL_PER_TASK)
		return !with->memory || r->whole_nodes || r->max_nodes == 1 ||
			(part->min_threads == part->max_threads && a->cpus_per_task % part->max_threads == 0);
	return with->per == 1u << SL_PER_JOB && !r->whole_nodes && (r->max_nodes == 1 || (nodes == 1 && r->min_nodes == 1)) &&
		(!with->cpus || (!r->tasks_per_node && r->tasks <= with->all_cpus));
}

void want_each_gres(struct sl_cluster *c, struct want *w, const struct sl_ask *a)
{
	struct company with = read_company(c, a);
	bool odd = is_unsaid(c, w, &with);

	if (!odd && !with.cpus && !with.memory)
		return;
	odd = odd || c->snap->meta.select_flags[0] & SL_SELECT_WHOLE_NODE ||
		(w->pub.request.whole_nodes && with.memory > 1) || !are_settled(c, w, a, &with) ||
		(with.cpus && has_odd_cpus(c, w, a, &with));
	if (odd)
		w->pub.native |= SL_NATIVE_BY_GRES;
}

/* -- whole nodes: they come with all their gres --------------------------- */

static uint64_t count_on_node(const struct sl_cluster *c, uint32_t row, uint32_t n)
{
	const struct sl_snapshot *s = c->snap;
	struct sl_range g = s->node.gres[n];
	uint64_t count = 0;

	for (uint32_t i = g.first; i < g.first + g.count; i++)
		if (!strcmp(cluster_str(c, s->gres_kind.name[s->node_gres.kind[i]]), cluster_str(c, s->job_gres.name[row])))
			count += s->node_gres.count[i];
	return count;
}

static struct sl_range gres_of(const struct sl_cluster *c, const struct want *w)
{
	const struct sl_snapshot *s = c->snap;
	uint32_t j = w->entry.job;

	return w->entry.shape ? s->shape.gres[s->job.shapes[j].first + w->entry.shape - 1] : s->job.gres[j];
}

bool want_asks_company(const struct sl_cluster *c, const struct want *w)
{
	struct sl_range gres = gres_of(c, w);

	for (uint32_t g = gres.first; w->pub.request.whole_nodes && g < gres.first + gres.count; g++)
		if (c->snap->job_gres.cpus[g] || c->snap->job_gres.memory[g] > 0)
			return true;
	return false;
}

bool want_has_company(const struct sl_cluster *c, const struct want *w, uint32_t n)
{
	const struct sl_snapshot *s = c->snap;
	struct sl_range gres = gres_of(c, w);
	uint64_t cpus = (uint64_t) s->node.cores[n] * (s->node.threads[n] ? s->node.threads[n] : 1);

	for (uint32_t g = gres.first; g < gres.first + gres.count; g++) {
		uint64_t count = count_on_node(c, g, n);

		if (count * s->job_gres.cpus[g] > cpus)
			return false;
		if (s->meta.select_flags[0] & SL_SELECT_MEMORY && s->node.memory[n] > 0 && count && s->job_gres.memory[g] > 0 &&
		    s->job_gres.memory[g] > s->node.memory[n] / (int64_t) count)
			return false;
	}
	return true;
}
