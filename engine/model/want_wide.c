/* SPDX-License-Identifier: MIT */
/*
 * want_wide.c - jobs that can be placed only where there is room for a little more than they need.
 *
 * Such a job has two requests: a strict one, which leaves nothing for select to choose, so that it can be placed by it;
 * and, kept in w->wide, what it says less than that.  Where the strict one cannot be had, select is tried by the wide one,
 * as for a native job, so that nobody waits for being placed:
 *
 *	gres of the job			on its fewest nodes (want_gres.c)
 *	sockets of several nodes	the same number of tasks on each, and so many cores free that it does not matter
 *					of which sockets they are: beside gres all of them
 *	features that a reboot brings	on nodes where they are active
 */
#include "model/native.h"
#include "model/want_private.h"

void want_keep_wide(struct want *w)
{
	const struct sl_request *r = &w->pub.request;

	w->wide = (struct wide) { .max_nodes = r->max_nodes, .min_nodes = r->min_nodes, .tasks_per_node = r->tasks_per_node,
				  .min_cores_per_node = r->min_cores_per_node, .gres = r->gres[0] };
}

void want_restore_wide(const struct want *w, struct sl_request *r)
{
	r->max_nodes = w->wide.max_nodes;
	r->min_nodes = w->wide.min_nodes;
	r->tasks_per_node = w->wide.tasks_per_node;
	r->min_cores_per_node = w->wide.min_cores_per_node;
	if (w->wide.gres.count)
		r->gres[0] = w->wide.gres;
	if (w->wide.eligible)
		r->eligible = w->wide.eligible;
}

void cluster_widen(const struct want *w, struct sl_request *r)
{
	r->least_free_cores = 0;
	if (w->wide.differs)
		want_restore_wide(w, r);
}

/* -- native but for that ---------------------------------------------------- */

/* Is its request whole but for what makes it native?  (Of a native job it says nothing of switches, caps and choices.) */
static bool is_whole(const struct sl_cluster *c, const struct want *w)
{
	return !c->snap->job.switches[w->entry.job] && !cluster_part(c, &w->entry)->cap && !w->choices && !w->parts &&
		!w->pub.rows.spare;
}

/* Features of which some need a reboot, and nothing to choose among them. */
static bool needs_active(const struct sl_cluster *c, const struct want *w)
{
	const struct sl_job_view *job = &c->snap->job;
	uint32_t j = w->entry.job, choices;

	return w->pub.native == SL_W(REBOOT) && !*cluster_str(c, job->prefer[j]) &&
		sl_constraint_read(cluster_str(c, job->features[j]), &choices) == SL_CONSTRAINT_PLACED && choices == 1;
}

/* Sockets alone, of so many nodes with so many tasks each.  (To several of the least loaded nodes select deals
 * tasks itself, whatever it is told.) */
static bool is_even(const struct want *w)
{
	const sl_word_set by_sockets = SL_SOCKET_SHAPE | (w->even_nodes == 1 ? SL_W(LLN) : 0);
	const struct sl_request *r = &w->pub.request;

	return w->even_nodes && w->pub.native && !(w->pub.native & ~by_sockets) && !r->counts && !r->plane && !r->picks;
}

/* It can be placed, by a request that has been made stricter. */
static void is_placed(struct want *w)
{
	w->wide.differs = true;
	w->wide.native = w->pub.native;
	w->pub.native = 0;
	w->pub.method = w->placed;
}

/* Where its features are active, if any node has them. */
static int confine_to_active(struct sl_cluster *c, struct want *w, struct sl_error *err)
{
	const struct sl_nodeset *f = sl_features_nodes(c->features, c->snap->job.features[w->entry.job], 0, err);
	struct sl_request *r = &w->pub.request;

	if (!f || sl_nodeset_meet(&w->active, r->eligible, f, err) < 0)
		return -1;
	if (!w->active.count)
		return 0;
	want_keep_wide(w);
	w->wide.eligible = r->eligible;
	r->eligible = &w->active;
	is_placed(w);
	return 0;
}

static void deal_evenly(struct want *w)
{
	struct sl_request *r = &w->pub.request;

	want_keep_wide(w);
	r->min_nodes = r->max_nodes = w->even_nodes;
	r->tasks_per_node = w->even_tasks;
	r->least_free_cores = w->even_free;
	is_placed(w);
}

int want_place_strictly(struct sl_cluster *c, struct want *w, struct sl_error *err)
{
	if (w->entry.loan || !is_whole(c, w))
		return 0;
	if (needs_active(c, w))
		return confine_to_active(c, w, err);
	if (is_even(w))
		deal_evenly(w);
	return 0;
}
