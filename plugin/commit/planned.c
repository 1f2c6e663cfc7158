/* SPDX-License-Identifier: GPL-2.0-or-later */
/* planned.c - see planned.h */
#include "plugin/commit/planned.h"

/* Nodes that are marked in one step of a hold of the locks. */
#define STEP 256

/* By node row of the snapshot: true if the plan has a reservation there.  Done without locks: each job may have a place on
 * every node. */
static bool *waiting_rows(const struct sl_commit *m)
{
	const struct sl_plan_reserve_view *v = &m->plan->reserve;
	const struct sl_plan_place_view *place = &m->plan->place;
	bool *waiting = xcalloc(m->c->nodes + 1, sizeof(*waiting));
	uint32_t i, k;

	for (i = 0; i < v->rows; i++)
		for (k = v->places[i].first; k < v->places[i].first + v->places[i].count; k++)
			if (place->node[k] < m->c->nodes)
				waiting[place->node[k]] = true;
	return waiting;
}

/* Is node *i* to be in state PLANNED?  Not if it is allocated: the state says nothing then. */
static bool is_to_wait(const struct sl_commit *m, const bool *waiting, int i)
{
	uint32_t row = waiting && (uint32_t) i < m->c->node_slots ? m->c->node_row[i] : SL_NONE;

	return row != SL_NONE && waiting[row] && IS_NODE_IDLE(node_record_table_ptr[i]) && sl_collect_node(m->c, row);
}

/* Set or clear the state on STEP nodes from *i* on.  True if a node has changed. */
static bool mark_some(const struct sl_commit *m, const bool *waiting, int i)
{
	int end = MIN(i + STEP, node_record_count);
	bool changed = false;

	for (; i < end; i++) {
		node_record_t *n = node_record_table_ptr[i];

		if (!n || !(n->node_state & NODE_STATE_PLANNED) == !is_to_wait(m, waiting, i))
			continue;
		n->node_state ^= NODE_STATE_PLANNED;
		changed = true;
	}
	return changed;
}

void sl_planned_mark(struct sl_commit *m)
{
	bool *waiting = m->plan ? waiting_rows(m) : NULL;
	int i = 0, n = 1;

	while (i < n && !atomic_load(m->stop)) {
		bool changed = false;
		struct sl_hold h;

		sl_hold_take_brief(&h, m, (slurmctld_lock_t) { .conf = READ_LOCK, .node = WRITE_LOCK });
		if (!sl_commit_same_world(m))
			xfree(waiting);
		n = node_record_count;
		for (; i < n && sl_hold_lasts(&h); i += STEP)
			changed |= mark_some(m, waiting, i);
		if (changed)
			last_node_update = time(NULL);
		sl_hold_leave(&h);
	}
	xfree(waiting);
}
