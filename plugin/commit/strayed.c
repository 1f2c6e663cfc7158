/* SPDX-License-Identifier: GPL-2.0-or-later */
/* strayed.c - see strayed.h */
#include "plugin/commit/strayed.h"

/* Cores planned on that node; the places stand in the order of nodes, and *at* is where the search goes on. */
static uint32_t planned_cores(const struct sl_commit *m, struct sl_range places, uint32_t node, uint32_t *at)
{
	const struct sl_plan_place_view *place = &m->plan->place;

	while (*at < places.count && m->c->node_index[place->node[places.first + *at]] < (int) node)
		(*at)++;
	if (*at == places.count || m->c->node_index[place->node[places.first + *at]] != (int) node)
		return 0;
	return place->cores[places.first + *at];
}

void sl_strayed_note(struct sl_commit *m, const job_record_t *job, struct sl_range places)
{
	const job_resources_t *jr = job->job_resrcs;
	uint32_t host, rep = 0, in_rep = 0, at = 0;
	int node = -1, core = 0, n;

	if (!jr || !jr->core_bitmap || !jr->node_bitmap)
		return;
	for (host = 0; host < jr->nhosts; host++) {
		for (node++; node < node_record_count && !bit_test(jr->node_bitmap, node); node++)
			;
		while (in_rep >= jr->sock_core_rep_count[rep]) {
			rep++;
			in_rep = 0;
		}
		in_rep++;
		n = jr->sockets_per_node[rep] * jr->cores_per_socket[rep];
		if (job->gres_list_alloc ||
		    bit_set_count_range(jr->core_bitmap, core, core + n) > (int) planned_cores(m, places, node, &at)) {
			if (!m->strayed)
				m->strayed = bit_alloc(node_record_count);
			bit_set(m->strayed, node);
		}
		core += n;
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
