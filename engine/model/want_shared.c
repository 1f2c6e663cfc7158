/* SPDX-License-Identifier: MIT */
/*
 * want_shared.c - where n jobs may share a core: how much has to be free so that select is sure to have a place.
 *
 * Select keeps the jobs of a partition in n rows.  Within a row no two jobs have a core in common.  Select puts a job on
 * cores that no job has; if its nodes have too few of these, into the first row that has enough free cores on all of them.
 * Which cores a job has, and in which row it is, is not in the snapshot.  But numbers alone are sometimes enough.  On the
 * timeline a node of C cores has n*C core slots, and a job that needs k cores of the node is sure to find them in two cases:
 *
 * "spare": with (n-1)*C slots free beside the k, there are k cores that no job has, however the others lie.
 *
 * "enough": a row that lacks k free cores on a node has at least C-k+1 in use there.  If more than n*(k-1) slots of the node
 * are free, fewer than n rows can lack them.  With m nodes, at most (n-1)/m rows may lack them on each node: then one row is
 * left that lacks them on none.
 */
#include "model/native.h"
#include "model/request.h"
#include "model/want_private.h"

/*
 * On several nodes the tasks of each have to be settled, and be all that its cores are for: or the plug-in would have
 * to say which cores, and those are select's to choose.
 */
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
