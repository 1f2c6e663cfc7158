/* SPDX-License-Identifier: MIT */
/*
 * want_shared.c - nodes on which n jobs may share a core: how much must be free so that select certainly finds a place.
 *
 * Select keeps the jobs of a partition in n rows.  Within a row no two jobs have a core in common.  Select puts a job on
 * cores that no job uses; if there are too few, into the first row with enough free cores on all its nodes.  The snapshot
 * does not say which cores a job has, nor its row.  But counting is sometimes enough.  On the timeline a node of C cores has
 * n*C core slots.  A job that needs k cores of the node certainly finds them in two cases:
 *
 * "spare": if (n-1)*C slots are free beside the k, then k cores are used by no job, wherever the others are.
 *
 * "enough": a row with fewer than k free cores on a node has at least C-k+1 in use there.  If more than n*(k-1) slots of the
 * node are free, fewer than n rows can lack them.  With m nodes, at most (n-1)/m rows may lack them on each node: then some
 * row lacks them on none.
 */
#include "model/native.h"
#include "model/request.h"
#include "model/want_private.h"

/* On several nodes the tasks of each must be certain and use all its cores.  Otherwise the plug-in would have to name
 * cores, but select chooses them. */
static void ask_rows(const struct sl_cluster *c, struct want *w, const struct sl_ask *a, const struct sl_request *r, uint32_t rows)
{
	const struct part *part = &c->part[w->entry.partition];
	uint32_t each = want_tasks_of_each_node(r), nodes = r->max_nodes == 1 ? 1 : r->min_nodes, poor;
	uint64_t cores;

	if (r->tasks == r->min_nodes && r->min_nodes == r->max_nodes && !a->overcommit)
		each = 1;
	w->rows.alone = !each && r->min_nodes <= 1 && !w->counts && !(r->tasks_per_node && r->tasks > r->tasks_per_node);
	if (w->rows.alone) {
		each = r->tasks ? r->tasks : 1;
		nodes = 1;
	}
	cores = sl_max(sl_max(want_cores_of(r, each), r->min_cores_per_node), r->least_free_cores);
	if (!each || !nodes || cores > part->row_cores ||
	    (nodes > 1 && cores * part->max_threads != (uint64_t) each * a->cpus_per_task))
		return;
	poor = (rows - 1) / nodes;
	w->rows.enough = (rows - 1 - poor) * part->row_cores + (poor + 1) * ((uint32_t) cores - 1) + 1;
}

void want_shared(struct sl_cluster *c, struct want *w, const struct sl_ask *a, const struct sl_request *r)
{
	uint32_t rows = cluster_sharing(c, w->entry.job, w->entry.partition);

	if (!want_can_place(w, SL_W(SHARED_CORES)))
		return;
	w->pub.shares = true;
	w->rows.spare = (rows - 1) * c->part[w->entry.partition].row_cores;
	ask_rows(c, w, a, r, rows);
}
