/* SPDX-License-Identifier: GPL-2.0-or-later */
/* planned.c - see planned.h */
#include "plugin/commit/planned.h"

/* The nodes that jobs of the plan wait for. */
static bitstr_t *waiting_nodes(const struct sl_commit *m)
{
	const struct sl_plan_reserve_view *v = &m->plan->reserve;
	const struct sl_plan_place_view *place = &m->plan->place;
	bitstr_t *nodes = bit_alloc(MAX(node_record_count, 1));
	uint32_t i, k;

	for (i = 0; i < v->rows; i++)
		for (k = v->places[i].first; k < v->places[i].first + v->places[i].count; k++)
			if (sl_collect_node(m->c, place->node[k]))
				bit_set(nodes, m->c->node_index[place->node[k]]);
	return nodes;
}

void sl_planned_mark(struct sl_commit *m)
{
	slurmctld_lock_t locks = { .conf = READ_LOCK, .node = WRITE_LOCK };
	bool changed = false;
	bitstr_t *nodes;
	int i;

	lock_slurmctld(locks);
	nodes = m->plan && sl_commit_same_world(m) ? waiting_nodes(m) : NULL;
	for (i = 0; i < node_record_count; i++) {
		node_record_t *n = node_record_table_ptr[i];
		bool is = n && n->node_state & NODE_STATE_PLANNED;

		/* of an allocated one the state would say nothing */
		if (!n || is == (nodes && bit_test(nodes, i) && IS_NODE_IDLE(n)))
			continue;
		n->node_state ^= NODE_STATE_PLANNED;
		changed = true;
	}
	if (changed)
		last_node_update = time(NULL);
	FREE_NULL_BITMAP(nodes);
	unlock_slurmctld(locks);
}
