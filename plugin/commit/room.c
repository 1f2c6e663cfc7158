/* SPDX-License-Identifier: GPL-2.0-or-later */
/* room.c - see room.h */
#include "base/map.h"
#include "plugin/commit/room.h"

struct sl_room {
	int64_t *left;			/* by node row of the snapshot: cores that no job has and no place holds */
	bool *held;			/* by node row: some place is held there */
};

/* The row of the node with that name, or SL_NONE. */
static uint32_t find_row(const struct sl_snapshot *snap, const struct sl_map *rows, const char *name)
{
	SL_MAP_EACH(rows, sl_hash_text(SL_HASH, name), at)
		if (!strcmp(sl_snapshot_str(snap, snap->node.name[at.value]), name))
			return at.value;
	return SL_NONE;
}

static void add_alloc(struct sl_room *r, const struct sl_snapshot *snap, struct sl_range alloc, int64_t sign)
{
	for (uint32_t i = alloc.first; i < alloc.first + alloc.count; i++)
		r->left[snap->alloc.node[i]] += sign * (int64_t) snap->alloc.cores[i];
}

/* Add to own[], by node row, the cores that jobs that are being stopped for *job* still have. */
static void add_own(const struct sl_commit *m, int64_t *own, uint32_t job, int64_t sign)
{
	const struct sl_snapshot *snap = &m->c->snap;

	SL_HELD_EACH_STOP(m->held, job, at) {
		const struct sl_stopped *s = sl_held_stop_at(m->held, at.value);
		uint32_t row = sl_collect_row(m->c, s->job);

		if (row == SL_NONE || snap->job.start_time[row] != s->start_time)
			continue;
		for (uint32_t k = snap->job.alloc[row].first; k < snap->job.alloc[row].first + snap->job.alloc[row].count; k++)
			own[snap->alloc.node[k]] += sign * (int64_t) snap->alloc.cores[k];
	}
}

/* Subtract what one place holds.  Cores that its victims still have are already subtracted as theirs.  *own: zeroes,
 * before and after. */
static void add_place(const struct sl_commit *m, struct sl_room *r, const struct sl_held *h, const struct sl_map *rows, int64_t *own)
{
	const struct sl_snapshot *snap = &m->c->snap;

	add_own(m, own, h->job, 1);
	for (uint32_t i = 0; i < h->nodes; i++) {
		uint32_t row = find_row(snap, rows, h->node[i].name);

		if (row == SL_NONE)
			continue;
		r->held[row] = true;
		r->left[row] -= MAX((int64_t) h->node[i].cores - own[row], 0);
	}
	add_own(m, own, h->job, -1);
}

static struct sl_room *find_room(struct sl_commit *m)
{
	const struct sl_snapshot *snap = &m->c->snap;
	struct sl_room *r = xmalloc(sizeof(*r));
	int64_t *own = xcalloc(snap->node.rows + 1, sizeof(*own));
	struct sl_map rows = { 0 };

	r->left = xcalloc(snap->node.rows + 1, sizeof(*r->left));
	r->held = xcalloc(snap->node.rows + 1, sizeof(*r->held));
	(void) sl_map_reserve(&rows, snap->node.rows, NULL);
	for (uint32_t i = 0; i < snap->node.rows; i++) {
		r->left[i] = snap->node.cores[i];
		(void) sl_map_put(&rows, sl_hash_text(SL_HASH, sl_snapshot_str(snap, snap->node.name[i])), i, NULL);
	}
	for (uint32_t i = 0; i < snap->job.rows; i++)
		add_alloc(r, snap, snap->job.alloc[i], -1);
	for (uint32_t i = 0; i < m->held->places; i++)
		add_place(m, r, &m->held->place[i], &rows, own);
	xfree(own);
	sl_map_free(&rows);
	return r;
}

static bool has_place(const struct sl_commit *m, uint32_t job)
{
	return sl_held_find(m->held, job);
}

const char *sl_room_lacks(struct sl_commit *m, uint32_t job, struct sl_range places)
{
	const struct sl_plan_place_view *v = &m->plan->place;

	/* a job with a held place may use it; the engine has checked that it leaves the other places */
	if (!m->held->places || has_place(m, job))
		return NULL;
	if (!m->room)
		m->room = find_room(m);
	for (uint32_t i = places.first; i < places.first + places.count; i++)
		if (v->node[i] < m->c->snap.node.rows && m->room->held[v->node[i]] &&
		    m->room->left[v->node[i]] < (int64_t) v->cores[i])
			return "a node of the plan is held for another job";
	return NULL;
}

void sl_room_take(struct sl_commit *m, struct sl_range places)
{
	const struct sl_plan_place_view *v = &m->plan->place;

	if (!m->room)
		return;
	for (uint32_t i = places.first; i < places.first + places.count; i++)
		if (v->node[i] < m->c->snap.node.rows)
			m->room->left[v->node[i]] -= v->cores[i];
}

void sl_room_free(struct sl_commit *m)
{
	if (m->room) {
		xfree(m->room->left);
		xfree(m->room->held);
	}
	xfree(m->room);
}
