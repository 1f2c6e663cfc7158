/* SPDX-License-Identifier: MIT */
/*
 * want_sure.c - a native job that starts now is placed all the same, where there is room for a little more than it needs.
 *
 * Its own request stays an upper bound, by which select is tried and nodes are reserved.  This one is stricter, so that
 * nothing is left for select to choose:
 *
 *	features that a reboot brings	on nodes where they are active
 *	sockets of several nodes	the same number of tasks on each, and so many cores free that it does not
 *					matter of which sockets they are: beside gres all of them
 */
#include "model/constraint.h"
#include "model/native.h"
#include "model/want_private.h"

#include <stdlib.h>

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

	return w->pub.native == SL_NATIVE_FEATURES && job->asks[j] & SL_ASKS_REBOOT && !*cluster_str(c, job->prefer[j]) &&
		sl_constraint_read(cluster_str(c, job->features[j]), &choices) == SL_CONSTRAINT_PLACED && choices == 1;
}

static int confine_to_active(struct sl_cluster *c, struct want *w, struct sl_error *err)
{
	const struct sl_nodeset *f = want_feature_nodes(c, c->snap->job.features[w->entry.job], 0, err);

	if (!f || sl_nodeset_meet(&w->active, w->pub.request.eligible, f, err) < 0)
		return -1;
	w->sure->eligible = &w->active;
	return 0;
}

/* Sockets alone, of so many nodes with so many tasks each. */
static bool is_even(const struct want *w)
{
	const uint32_t by_sockets = SL_NATIVE_SOCKETS | SL_NATIVE_TASKS_PER_SOCKET | SL_NATIVE_LLN;
	const struct sl_request *r = &w->pub.request;

	return w->even_nodes && !(w->pub.native & ~by_sockets) && !r->counts && !r->plane && !r->picks;
}

static void deal_evenly(struct want *w)
{
	struct sl_request *r = w->sure;

	r->min_nodes = r->max_nodes = w->even_nodes;
	r->tasks_per_node = w->even_tasks;
	r->least_free_cores = w->even_free;
}

int want_find_sure(struct sl_cluster *c, struct want *w, struct sl_error *err)
{
	bool active = needs_active(c, w), even = !active && is_even(w);

	if (!w->pub.native || !is_whole(c, w) || !(active || even))
		return 0;
	w->sure = malloc(sizeof(*w->sure));
	if (!w->sure)
		return sl_fail(err, SL_ENOMEM, "cluster: out of memory");
	*w->sure = w->pub.request;
	if (even)
		deal_evenly(w);
	return active ? confine_to_active(c, w, err) : 0;
}
