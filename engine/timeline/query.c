/* SPDX-License-Identifier: MIT */
/* timeline/query.c - queries. */
#include "timeline/choose.h"
#include "timeline/impl.h"

#include <stdlib.h>
#include <string.h>

void sl_timeline_free(const struct sl_timeline *tl, uint32_t node, int64_t t0, int64_t t1,
		      struct sl_resources *free)
{
	sl_step_min(&tl->class[tl->class_of[node]], t0, t1, free);
}

void sl_timeline_unbooked(const struct sl_timeline *tl, uint32_t node, int64_t t0, int64_t t1,
			  struct sl_resources *free)
{
	const struct sl_node_class *g = &tl->class[tl->class_of[node]];
	uint32_t i = sl_step_at(g, t0);

	*free = g->step[i].free;
	while (++i < g->steps && g->step[i].t < t1)
		sl_resources_min(free, &g->step[i].free);
}

int64_t sl_timeline_next(const struct sl_timeline *tl, int64_t t)
{
	int64_t next = SL_FOREVER;

	if (t < tl->now)
		t = tl->now;
	for (uint32_t i = 0; i < tl->lives; i++) {
		const struct sl_node_class *g = &tl->class[tl->live[i].class];
		uint32_t s = sl_step_at(g, t) + 1;

		if (s < g->steps && g->step[s].t < next)
			next = g->step[s].t;
	}
	return next;
}

int64_t sl_timeline_next_on(const struct sl_timeline *tl, uint32_t node, int64_t t)
{
	const struct sl_node_class *g = &tl->class[tl->class_of[node]];
	uint32_t s = sl_step_at(g, t < tl->now ? tl->now : t) + 1;

	return s < g->steps ? g->step[s].t : SL_FOREVER;
}

void sl_timeline_free_now(const struct sl_timeline *tl, struct sl_free_now *f)
{
	f->cores = tl->free_cores;
	f->nodes = tl->nodes - tl->full_nodes;
	f->idle_nodes = tl->idle_nodes;
}

void sl_timeline_free_gres(const struct sl_timeline *tl, uint64_t sum[SL_MAX_GRES])
{
	struct sl_resources free;

	memset(sum, 0, SL_MAX_GRES * sizeof(*sum));
	for (uint32_t i = 0; i < tl->lives; i++) {
		const struct sl_node_class *g = &tl->class[tl->live[i].class];

		sl_step_min(g, tl->now, tl->now + 1, &free);
		for (uint32_t k = 0; k < SL_MAX_GRES; k++)
			sum[k] += (uint64_t) g->nodes.count * free.gres[k];
	}
}

static int64_t sum_cores(const struct sl_timeline *tl, int64_t t)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < tl->lives; i++) {
		const struct sl_node_class *g = &tl->class[tl->live[i].class];

		sum += g->nodes.count * sl_step_cores(g, t);
	}
	return sum;
}

int64_t sl_timeline_cores_at(struct sl_timeline *tl, int64_t t)
{
	if (t <= tl->now)
		return tl->free_cores;
	if (t != tl->watched) {
		tl->watched = t;
		tl->watched_cores = sum_cores(tl, t);
	}
	return tl->watched_cores;
}

int64_t sl_timeline_cores_until(const struct sl_timeline *tl, int64_t t1)
{
	const struct sl_node_class *g = tl->lives == 1 ? &tl->class[tl->live[0].class] : NULL;
	int64_t least = tl->free_cores;

	if (!g || t1 <= g->steady)
		return least;
	for (uint32_t i = 1; i < g->steps && g->step[i].t < t1 && g->step[i].t <= g->ebb; i++) {
		int64_t cores = g->step[i].blocks ? 0 : (int64_t) g->nodes.count * g->step[i].free.cores;

		least = cores < least ? cores : least;
	}
	return least;
}

static int grow_views(struct sl_timeline *tl, struct sl_error *err)
{
	uint32_t room = tl->view_room, old = tl->view_room;

	/* if the second array cannot grow, the first is larger than view_room, which is harmless */
	if (sl_grow(&tl->view, &room, tl->lives, sizeof(*tl->view), err))
		return -1;
	room = old;
	if (sl_grow(&tl->view_set, &room, tl->lives, sizeof(*tl->view_set), err))
		return -1;
	if (room > old)
		memset(tl->view_set + old, 0, (room - old) * sizeof(*tl->view_set));
	tl->view_room = room;
	return 0;
}

static int by_first_node(const void *a, const void *b)
{
	const struct sl_class *x = a, *y = b;
	uint32_t m = x->nodes->run[0].first, n = y->nodes->run[0].first;

	return (m > n) - (m < n);
}

int64_t sl_timeline_classes(struct sl_timeline *tl, const struct sl_nodeset *within, int64_t t0, int64_t t1,
			    const struct sl_class **out, struct sl_error *err)
{
	uint32_t n = 0;

	if (grow_views(tl, err))
		return -1;
	for (uint32_t i = 0; i < tl->lives; i++) {
		const struct sl_node_class *g = &tl->class[tl->live[i].class];
		struct sl_class *v = &tl->view[n];

		v->nodes = &g->nodes;
		if (within && !sl_nodeset_includes(within, &g->nodes)) {
			if (sl_nodeset_meet(&tl->view_set[n], &g->nodes, within, err))
				return -1;
			v->nodes = &tl->view_set[n];
		}
		if (!v->nodes->count)
			continue;
		v->kind = &tl->kind[g->kind];
		v->number = tl->live[i].class;
		sl_step_min(g, t0, t1, &v->free);
		n++;
	}
	qsort(tl->view, n, sizeof(*tl->view), by_first_node);
	*out = tl->view;
	return n;
}

int64_t sl_timeline_open_classes(struct sl_timeline *tl, int64_t t1, const struct sl_class **out,
				 struct sl_error *err)
{
	uint32_t n = 0;

	if (grow_views(tl, err))
		return -1;
	for (uint32_t i = 0; i < tl->lives; i++) {
		const struct sl_node_class *g = &tl->class[tl->live[i].class];
		struct sl_class *v = &tl->view[n];

		if (!tl->live[i].free.cores || !sl_live_min(tl, i, t1, &v->free) || v->free.cores <= 0)
			continue;
		v->kind = &tl->kind[g->kind];
		v->nodes = &g->nodes;
		v->number = tl->live[i].class;
		n++;
	}
	*out = tl->view;
	return n;
}

/* -- when less is free than before ------------------------------------------- */

static bool is_less(const struct sl_step *next, const struct sl_step *before)
{
	return (next->blocks && !before->blocks) || !sl_resources_fit(&before->free, &next->free);
}

bool sl_timeline_less(const struct sl_timeline *tl, uint32_t class, uint32_t *at, int64_t *t,
		      struct sl_resources *free)
{
	const struct sl_node_class *g = &tl->class[class];
	uint32_t i = *at;

	while (i && i < g->steps && !is_less(&g->step[i], &g->step[i - 1]))
		i++;
	if (i >= g->steps)
		return false;
	*at = i + 1;
	*t = i ? g->step[i].t : tl->now;
	*free = g->step[i].blocks ? (struct sl_resources) { 0 } : g->step[i].free;
	return true;
}

static int by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;

	return (x > y) - (x < y);
}

int64_t sl_timeline_breaks(const struct sl_timeline *tl, int64_t **t, uint32_t *room, struct sl_error *err)
{
	uint32_t count = 0, n = 0;

	for (uint32_t i = 0; i < tl->lives; i++) {
		const struct sl_node_class *g = &tl->class[tl->live[i].class];

		for (uint32_t s = 1; s < g->steps; s++) {
			if (!is_less(&g->step[s], &g->step[s - 1]))
				continue;
			if (sl_grow(t, room, (uint64_t) count + 1, sizeof(**t), err) < 0)
				return -1;
			(*t)[count++] = g->step[s].t;
		}
	}
	if (count)
		qsort(*t, count, sizeof(**t), by_time);
	for (uint32_t i = 0; i < count; i++)
		if (!i || (*t)[i] != (*t)[n - 1])
			(*t)[n++] = (*t)[i];
	return n;
}

void sl_timeline_late_as_now(struct sl_timeline *tl)
{
	tl->late_as_now = true;
}

uint64_t sl_timeline_moment(const struct sl_timeline *tl)
{
	return tl->moment;
}

void sl_timeline_figures(const struct sl_timeline *tl, struct sl_timeline_figures *f)
{
	*f = (struct sl_timeline_figures) { .classes = tl->lives };
	f->bytes = sizeof(*tl) + tl->kinds * sizeof(*tl->kind) + tl->nodes * sizeof(*tl->class_of) +
		   tl->classes * (sizeof(*tl->class) + sizeof(*tl->live) + sizeof(*tl->fall) + sizeof(*tl->turned)) + tl->buckets * sizeof(*tl->bucket) +
		   tl->log_room * sizeof(*tl->log) +
		   tl->log_run_room * sizeof(*tl->log_run) + tl->change_room * sizeof(*tl->change) +
		   tl->touch_room * sizeof(*tl->touch) +
		   tl->step_room * sizeof(*tl->step) + tl->view_room * (sizeof(*tl->view) + sizeof(*tl->view_set));
	for (uint32_t id = 0; id < tl->classes; id++)
		f->bytes += tl->class[id].room * sizeof(struct sl_step) +
			    tl->class[id].nodes.room * sizeof(struct sl_run);
	for (uint32_t i = 0; i < tl->lives; i++)
		f->steps += tl->class[tl->live[i].class].steps;
}
