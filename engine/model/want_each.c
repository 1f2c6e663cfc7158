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

/* Has it -c or --mincpus of other CPUs than come with its gres? */
static bool has_other_cpus(const struct sl_cluster *c, const struct want *w, const struct sl_ask *a,
			   const struct company *with)
{
	uint32_t per_node = a->tasks_per_node ? a->tasks_per_node : 1, mincpus = c->snap->job.pn_min_cpus[w->entry.job];
	uint64_t of_task = with->per == 1u << SL_PER_TASK ? with->all_cpus : 1;

	return a->cpus_per_task != of_task || (mincpus > of_task * per_node && mincpus > with->all_cpus);
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

/* From 24.11 on select counts on each of several nodes no more CPUs than come with its gres, however many tasks it is to have. */
static bool has_more_tasks(const struct sl_cluster *c, const struct sl_request *r, uint64_t cpus)
{
	return c->snap->meta.select_flags[0] & SL_SELECT_DEALS_ALL && !r->whole_nodes && r->max_nodes > 1 &&
		r->tasks > cpus * r->min_nodes;
}

static bool has_name_of(const struct sl_cluster *c, uint32_t row, uint32_t kind)
{
	return !strcmp(cluster_str(c, c->snap->gres_kind.name[kind]), cluster_str(c, c->snap->job_gres.name[row]));
}

uint64_t want_count_gres(const struct sl_cluster *c, uint32_t row, uint32_t n, bool any_type)
{
	const struct sl_snapshot *s = c->snap;
	struct sl_range g = s->node.gres[n];
	uint64_t count = 0;

	for (uint32_t i = g.first; i < g.first + g.count; i++) {
		uint32_t kind = s->node_gres.kind[i];

		if (any_type ? has_name_of(c, row, kind) : sl_gres_matches(s, row, kind))
			count += s->node_gres.count[i];
	}
	return count;
}

uint32_t want_share_of_job(struct sl_cluster *c, struct want *w, const struct sl_ask *a)
{
	const struct sl_request *r = &w->pub.request;
	const struct sl_nodeset *nodes = &cluster_part(c, &w->entry)->nodes;
	uint32_t count = sl_ask_job_gres(c->snap, a), share = count / r->min_nodes;

	if (count == 1 && r->min_nodes == 1)
		return count;
	if (share * r->min_nodes != count || !want_narrow(c, w))
		return 0;
	if (r->max_nodes == 1)
		return count;
	for (uint32_t n = sl_nodeset_next(nodes, 0); share > 1 && n < SL_MAX_NODES; n = sl_nodeset_next(nodes, n + 1))
		if (want_count_gres(c, a->gres.first, n, true) > share)
			return 0;
	return share;
}

static bool are_of_job(struct sl_cluster *c, struct want *w, const struct sl_ask *a, const struct company *with)
{
	struct sl_request *r = &w->pub.request;
	uint32_t share = want_share_of_job(c, w, a), threads = cluster_part(c, &w->entry)->max_threads;
	uint64_t cpus = with->cpus ? (uint64_t) c->snap->job_gres.cpus[a->gres.first] * share : 0;

	if (!share || r->whole_nodes || (cpus && (r->tasks_per_node || r->tasks > with->all_cpus)))
		return false;
	if (r->min_nodes == 1)
		return true;
	/* with DefCpuPerGPU select gives the last nodes the CPUs of one GPU only */
	if (cpus && share > 1 && c->snap->job.asks[w->entry.job] & SL_ASKS_DEFAULT_CPUS)
		return false;
	if (cpus % threads || cpus > SL_MAX_NODE_CORES || !r->gres_needs)
		return false;
	r->gres[0].per = SL_GRES_PER_NODE;
	r->gres[0].count = share;
	if (r->min_cores_per_node < cpus / threads)
		r->min_cores_per_node = (uint32_t) (cpus / threads);
	return true;
}

/*
 * Of gres for each task the memory of a node is that of its tasks: these are settled where no core has room for
 * another one.
 */
static bool are_settled(struct sl_cluster *c, struct want *w, const struct sl_ask *a, const struct company *with)
{
	const struct sl_request *r = &w->pub.request;
	const struct part *part = cluster_part(c, &w->entry);

	if (with->per == 1u << SL_PER_NODE)
		return !with->cpus || (are_equal(r, with->all_cpus, part->max_threads) && !has_more_tasks(c, r, with->all_cpus));
	if (a->gres.count > 1)
		return false;
	if (with->per == 1u << SL_PER_TASK)
		return !with->memory || r->whole_nodes || r->max_nodes == 1 ||
			(part->min_threads == part->max_threads && a->cpus_per_task % part->max_threads == 0);
	return with->per == 1u << SL_PER_JOB && are_of_job(c, w, a, with);
}

void want_each_gres(struct sl_cluster *c, struct want *w, const struct sl_ask *a)
{
	const sl_word_set each = SL_W(CPUS_PER_GRES) | SL_W(MEMORY_PER_GRES);
	struct company with = read_company(c, a);

	if (with.cpus && has_other_cpus(c, w, a, &with))
		w->pub.asked |= SL_W(OTHER_CPUS);
	if (!want_can_place(w, each))
		return;
	if ((w->pub.request.whole_nodes && with.memory > 1) || !are_settled(c, w, a, &with))
		w->pub.asked |= SL_W(UNEVEN);
}

/* -- whole nodes: they come with all their gres --------------------------- */

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
		uint64_t count = want_count_gres(c, g, n, true);

		if (count * s->job_gres.cpus[g] > cpus)
			return false;
		if (s->meta.select_flags[0] & SL_SELECT_MEMORY && s->node.memory[n] > 0 && count && s->job_gres.memory[g] > 0 &&
		    s->job_gres.memory[g] > s->node.memory[n] / (int64_t) count)
			return false;
	}
	return true;
}
