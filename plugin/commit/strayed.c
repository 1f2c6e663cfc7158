/* SPDX-License-Identifier: GPL-2.0-or-later */
/* strayed.c - see strayed.h */
#include "plugin/commit/strayed.h"
#include "plugin/records/hosts.h"

/* The plan's row for that node; an empty row if the job has no place there.  Places and calls are in node order; *at, 0 at
 * first, is where the search continues. */
static struct sl_plan_place_row planned_on(const struct sl_commit *m, struct sl_range places, int node, uint32_t *at)
{
	const struct sl_plan_place_view *v = &m->plan->place;
	struct sl_plan_place_row place = sl_plan_place_row();
	uint32_t i;

	while (*at < places.count && m->c->node_index[v->node[places.first + *at]] < node)
		++*at;
	i = places.first + *at;
	if (*at < places.count && m->c->node_index[v->node[i]] == node) {
		place.cores = v->cores[i];
		place.memory = v->memory[i];
		place.gres = v->gres[i];
	}
	return place;
}

struct gres_walk {
	const struct sl_commit *m;
	struct sl_range planned;
	uint32_t host;
	bool more;		/* than planned, on that node */
};

static int each_gres(void *x, void *arg)
{
	gres_state_t *g = x;
	gres_job_state_t *js = g->gres_data;
	struct gres_walk *w = arg;
	const struct sl_snapshot *snap = &w->m->c->snap;
	const struct sl_plan_place_gres_view *v = &w->m->plan->place_gres;
	uint64_t planned = 0;
	uint32_t i;

	if (!js || !js->gres_cnt_node_alloc || w->host >= js->node_cnt ||
	    js->gres_cnt_node_alloc[w->host] == NO_CONSUME_VAL64)
		return 0;
	for (i = w->planned.first; i < w->planned.first + w->planned.count; i++)
		if (v->kind[i] < snap->gres_kind.rows &&
		    !xstrcmp(sl_snapshot_str(snap, snap->gres_kind.name[v->kind[i]]), g->gres_name) &&
		    (!js->type_name || !xstrcmp(sl_snapshot_str(snap, snap->gres_kind.type[v->kind[i]]), js->type_name)))
			planned += v->count[i];
	w->more |= js->gres_cnt_node_alloc[w->host] > planned;
	return 0;
}

static bool has_more_than_planned(const struct sl_commit *m, const job_record_t *job, const struct sl_host *h,
				  const struct sl_plan_place_row *place)
{
	const job_resources_t *jr = job->job_resrcs;
	struct gres_walk w = { m, place->gres, h->index, false };

	if (job->gres_list_alloc)
		list_for_each(job->gres_list_alloc, each_gres, &w);
	return w.more || sl_host_cores(jr, h) > place->cores ||
		(jr->memory_allocated && (int64_t) jr->memory_allocated[h->index] > place->memory);
}

void sl_strayed_note(struct sl_commit *m, const job_record_t *job, struct sl_range places)
{
	struct sl_host h = SL_BEFORE_HOSTS;
	uint32_t at = 0;

	if (!sl_has_hosts(job->job_resrcs))
		return;
	while (sl_host_next(job->job_resrcs, &h)) {
		struct sl_plan_place_row place = planned_on(m, places, h.node, &at);

		if (!has_more_than_planned(m, job, &h, &place))
			continue;
		if (!m->strayed)
			m->strayed = bit_alloc(node_record_count);
		bit_set(m->strayed, h.node);
	}
}

bool sl_strayed_has(const struct sl_commit *m, const struct sl_layout_place *place, uint32_t count)
{
	uint32_t i;

	for (i = 0; m->strayed && i < count; i++)
		if (bit_test(m->strayed, place[i].node))
			return true;
	return false;
}

void sl_strayed_free(struct sl_commit *m)
{
	FREE_NULL_BITMAP(m->strayed);
}
