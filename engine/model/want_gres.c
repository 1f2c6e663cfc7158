/* SPDX-License-Identifier: MIT */
/*
 * want_gres.c - what comes with gres: tasks, CPUs and memory.
 *
 * Memory is simply an amount per gres (timeline/place.h).  CPUs and tasks are dealt out by select: CPUs like tasks of one
 * CPU, in turn to all nodes, until they match the tasks, or the gres of all nodes if these have more.  If the result is the
 * same on each node, it is the least that each node gives (model/request.c).  Otherwise the job is left to select.
 */
#include "model/native.h"
#include "model/request.h"
#include "model/want_private.h"

#include <string.h>

/* -- gres per node ---------------------------------------------------------------- */

/* Restrict the job to min_nodes nodes, because only select knows what each node gives if there are more.  False if that is
 * not allowed: a job that uses as many nodes as possible would get more. */
static bool narrow_nodes(const struct sl_cluster *c, const struct want *w, struct exact *x)
{
	struct sl_request *r = &x->request;

	if (r->min_nodes == r->max_nodes)
		return true;
	if (r->most_nodes || w->counts || r->contiguous || c->snap->job.flags[w->entry.job] & SL_JOBF_SPREAD)
		return false;
	x->narrower = true;
	r->max_nodes = r->min_nodes;
	return true;
}

uint64_t want_count_gres(const struct sl_cluster *c, uint32_t row, uint32_t n)
{
	const struct sl_snapshot *s = c->snap;
	const char *name = cluster_str(c, s->job_gres.name[row]);
	struct sl_range g = s->node.gres[n];
	uint64_t count = 0;

	for (uint32_t i = g.first; i < g.first + g.count; i++)
		count += strcmp(cluster_str(c, s->gres_kind.name[s->node_gres.kind[i]]), name) ? 0 : s->node_gres.count[i];
	return count;
}

/* Number of gres of the job (--gpus) on each node, if it is certain: one node, or one gres per node, or all gres of each
 * node.  0: select deals them out. */
static uint32_t share_of_job(const struct sl_cluster *c, const struct want *w, const struct sl_ask *a, struct exact *x)
{
	const struct sl_request *r = &x->request;
	const struct sl_nodeset *nodes = &cluster_part(c, &w->entry)->nodes;
	uint32_t count = a->job_gres, share = count / r->min_nodes;

	if (count == 1 && r->min_nodes == 1)
		return count;
	if (share * r->min_nodes != count || !narrow_nodes(c, w, x))
		return 0;
	if (r->max_nodes == 1)
		return count;
	for (uint32_t n = sl_nodeset_next(nodes, 0); share > 1 && n < SL_MAX_NODES; n = sl_nodeset_next(nodes, n + 1))
		if (want_count_gres(c, a->gres.first, n) > share)
			return 0;
	return share;
}

/* -- tasks per gres --------------------------------------------------------------- */

/* True if all nodes of the job give the same number of gres, and whole cores. */
static bool are_alike(const struct sl_cluster *c, const struct want *w, const struct sl_ask *a, uint64_t cpus, struct exact *x)
{
	const struct part *part = cluster_part(c, &w->entry);
	struct sl_request *r = &x->request;
	uint32_t share;

	if (cpus % part->max_threads || w->pub.asked & SL_W(LLN) || c->snap->job.distribution[w->entry.job] == SL_DIST_PLANE)
		return false;
	if (c->snap->job_gres.per[a->gres.first] == SL_PER_NODE || r->whole_nodes)
		return true;
	share = share_of_job(c, w, a, x);
	if (!share || !r->gres_needs)
		return false;
	r->gres[0].per = SL_GRES_PER_NODE;
	r->gres[0].count = share;
	return true;
}

/* True if slurmctld counted the CPUs of the tasks that it derived from GPUs; otherwise select deals out fewer. */
static bool has_all_cpus(const struct sl_cluster *c, const struct want *w, const struct sl_ask *a)
{
	return a->cpus_per_task == 1 || a->tasks_per_node || w->pub.request.whole_nodes ||
		c->snap->job.min_cpus[w->entry.job] >= (uint64_t) a->tasks * a->cpus_per_task;
}

/* With tasks per GPU, no column has their number; it follows from the number of tasks.  On min_nodes nodes select gives
 * each the same number. */
static bool settle_tasks(const struct sl_cluster *c, const struct want *w, const struct sl_ask *a, struct exact *x)
{
	const struct sl_job_gres_view *gres = &c->snap->job_gres;
	struct sl_request *r = &x->request;
	uint32_t tasks = c->snap->job.num_tasks[w->entry.job], g = a->gres.first, here = tasks / r->min_nodes;
	uint64_t count;

	if (!a->gres.count || !tasks || a->tasks != tasks || !has_all_cpus(c, w, a))
		return false;
	count = (uint64_t) gres->count[g] * (gres->per[g] == SL_PER_NODE ? r->min_nodes : 1);
	if (!count || tasks % count || tasks % r->min_nodes || (a->tasks_per_node && a->tasks_per_node != here) ||
	    a->node_cpus > (uint64_t) here * a->cpus_per_task || !narrow_nodes(c, w, x))
		return false;
	if (r->max_nodes == 1)
		return true;
	r->tasks_per_node = here;
	return are_alike(c, w, a, (uint64_t) here * a->cpus_per_task, x);
}

/* -- CPUs and memory --------------------------------------------------------- */

/* True if -c or --mincpus asks for other CPUs than those that come with the gres. */
static bool has_other_cpus(const struct sl_cluster *c, const struct want *w, const struct sl_ask *a)
{
	uint32_t per_node = a->tasks_per_node ? a->tasks_per_node : 1, mincpus = c->snap->job.pn_min_cpus[w->entry.job];
	uint64_t of_task = a->with.per == 1u << SL_PER_TASK ? a->with.all_cpus : 1;

	return a->cpus_per_task != of_task || (mincpus > of_task * per_node && mincpus > a->with.all_cpus);
}

/* True if each node gives the same number of CPUs with its gres, in whole cores, whatever its tasks are. */
static bool are_equal(const struct sl_request *r, uint64_t cpus, uint32_t threads)
{
	if (r->whole_nodes || (cpus <= r->tasks_per_node && cpus <= r->tasks))
		return true;
	if (r->tasks_per_node &&
	    (r->min_nodes != r->max_nodes || (uint64_t) r->tasks_per_node * r->min_nodes != r->tasks))
		return false;
	return r->max_nodes == 1 || cpus % threads == 0;
}

/* From 24.11 on, with several nodes, select counts no more CPUs on a node than come with its gres, however many tasks it
 * is to have. */
static bool has_more_tasks(const struct sl_cluster *c, const struct sl_request *r, uint64_t cpus)
{
	return c->snap->meta.select_flags[0] & SL_SELECT_DEALS_ALL && !r->whole_nodes && r->max_nodes > 1 &&
		r->tasks > cpus * r->min_nodes;
}

static bool settle_share(const struct sl_cluster *c, const struct want *w, const struct sl_ask *a, struct exact *x)
{
	struct sl_request *r = &x->request;
	uint32_t share = share_of_job(c, w, a, x), threads = cluster_part(c, &w->entry)->max_threads;
	uint64_t cpus = a->with.cpus ? (uint64_t) c->snap->job_gres.cpus[a->gres.first] * share : 0;

	if (!share || r->whole_nodes || (cpus && (r->tasks_per_node || r->tasks > a->with.all_cpus)))
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

/* With gres per task, the memory of a node is that of its tasks.  Their number is certain if no core has room for another
 * one. */
static bool settle_amounts(const struct sl_cluster *c, const struct want *w, const struct sl_ask *a, struct exact *x)
{
	const struct sl_request *r = &x->request;
	const struct part *part = cluster_part(c, &w->entry);

	if (a->with.per == 1u << SL_PER_NODE)
		return !a->with.cpus || (are_equal(r, a->with.all_cpus, part->max_threads) && !has_more_tasks(c, r, a->with.all_cpus));
	if (a->gres.count > 1)
		return false;
	if (a->with.per == 1u << SL_PER_TASK)
		return !a->with.memory || r->whole_nodes || r->max_nodes == 1 ||
			(part->min_threads == part->max_threads && a->cpus_per_task % part->max_threads == 0);
	return a->with.per == 1u << SL_PER_JOB && settle_share(c, w, a, x);
}

void want_with_gres(struct sl_cluster *c, struct want *w, const struct sl_ask *a, struct exact *x)
{
	if (want_can_place(w, SL_W(TASKS_PER_GRES)) && !settle_tasks(c, w, a, x))
		w->pub.asked |= SL_W(UNEVEN);
	if (a->with.cpus && has_other_cpus(c, w, a))
		w->pub.asked |= SL_W(OTHER_CPUS);
	if (want_can_place(w, SL_W(CPUS_PER_GRES) | SL_W(MEMORY_PER_GRES)) &&
	    ((x->request.whole_nodes && a->with.memory > 1) || !settle_amounts(c, w, a, x)))
		w->pub.asked |= SL_W(UNEVEN);
}

/* -- gres of the job on fewer nodes than its tasks ---------------------------------- */

void want_job_gres(struct sl_cluster *c, struct want *w)
{
	struct sl_request each;

	if (w->pub.why || !sl_fit_outgrows_gres(c->tl, &w->pub.request, &each))
		return;
	w->pub.asked |= SL_W(OUTGROWN_GRES);
	w->pub.request = each;
}

/* -- whole nodes give all their gres -------------------------------------------- */

bool want_brings_with_gres(const struct sl_cluster *c, const struct want *w)
{
	for (uint32_t g = w->gres.first; w->pub.request.whole_nodes && g < w->gres.first + w->gres.count; g++)
		if (c->snap->job_gres.cpus[g] || c->snap->job_gres.memory[g] > 0)
			return true;
	return false;
}

bool want_has_brought(const struct sl_cluster *c, const struct want *w, uint32_t n)
{
	const struct sl_snapshot *s = c->snap;
	uint64_t cpus = (uint64_t) s->node.cores[n] * (s->node.threads[n] ? s->node.threads[n] : 1);

	for (uint32_t g = w->gres.first; g < w->gres.first + w->gres.count; g++) {
		uint64_t count = want_count_gres(c, g, n);

		if (count * s->job_gres.cpus[g] > cpus)
			return false;
		if (s->meta.select_flags[0] & SL_SELECT_MEMORY && s->node.memory[n] > 0 && count && s->job_gres.memory[g] > 0 &&
		    s->job_gres.memory[g] > s->node.memory[n] / (int64_t) count)
			return false;
	}
	return true;
}
