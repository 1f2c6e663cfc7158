/* SPDX-License-Identifier: MIT */
#include "t/timeline/in_order.h"

#include <inttypes.h>

#include "timeline/impl.h"

static int broken(struct sl_error *err, uint32_t id, const char *what)
{
	return sl_fail(err, SL_EINVAL, "timeline: class %u: %s", id, what);
}

static int check_steps(const struct sl_timeline *tl, uint32_t id, struct sl_error *err)
{
	const struct sl_node_class *g = &tl->class[id];
	const struct sl_resources *cap = &tl->kind[g->kind].capacity;

	if (!g->steps || g->step[0].t != SL_DAWN)
		return broken(err, id, "does not begin at the dawn of time");
	if (g->next != (g->steps > 1 ? g->step[1].t : SL_FOREVER) || g->next <= tl->now)
		return broken(err, id, "has a step in the past");
	if (g->next < tl->next)
		return broken(err, id, "has a step that advance() would miss");
	for (uint32_t s = 0; s < g->steps; s++) {
		if (s && (g->step[s].t <= g->step[s - 1].t || sl_step_equal(&g->step[s], &g->step[s - 1])))
			return broken(err, id, "has steps that do not ascend or do not differ");
		if (g->step[s].free.cores < 0 || g->step[s].free.memory < 0 ||
		    !sl_resources_fit(&g->step[s].free, cap))
			return broken(err, id, "has less than nothing or more than all free");
	}
	return 0;
}

/* What its summary says, by the steps; and the list of those with nodes has all of it. */
static int check_summary(const struct sl_timeline *tl, uint32_t id, struct sl_error *err)
{
	static const struct sl_resources nothing;
	const struct sl_node_class *g = &tl->class[id];
	const struct sl_live *l = &tl->live[g->live];
	const struct sl_fall *f = &tl->fall[g->live];
	struct sl_resources least = g->step[0].blocks ? nothing : g->step[0].free, now = least;
	int64_t steady = SL_FOREVER, ebb = SL_FOREVER;
	bool rising = !g->step[0].blocks;

	for (uint32_t i = 1; i < g->steps; i++) {
		const struct sl_resources *free = g->step[i].blocks ? &nothing : &g->step[i].free;

		rising &= !g->step[i].blocks && sl_resources_fit(&g->step[i - 1].free, free);
		if (!sl_resources_fit(&now, free) && steady == SL_FOREVER)
			steady = g->step[i].t;
		if (!sl_resources_fit(&least, free))
			ebb = g->step[i].t;
		sl_resources_min(&least, free);
	}
	if (!sl_resources_equal(&g->now_free, &now) || !sl_resources_equal(&g->least, &least) ||
	    g->steady != steady || g->ebb != ebb || g->rising != rising)
		return broken(err, id, "does not know what is free now, and when less is");
	if (l->kind != g->kind || l->nodes != g->nodes.count || l->runs != g->nodes.runs ||
	    l->run.first != g->nodes.run[0].first || l->run.last != g->nodes.run[0].last ||
	    !sl_resources_equal(&l->free, &now) || !sl_resources_equal(&l->least, &least) || l->next != g->next ||
	    f->steady != steady || f->ebb != ebb || f->cores != now.cores)
		return broken(err, id, "is listed with something else than it has");
	return 0;
}

static int check_nodes(const struct sl_timeline *tl, uint32_t id, struct sl_error *err)
{
	const struct sl_nodeset *s = &tl->class[id].nodes;
	uint32_t count = 0;

	for (uint32_t i = 0; i < s->runs; i++) {
		if (s->run[i].last < s->run[i].first || s->run[i].last >= tl->nodes ||
		    (i && s->run[i].first <= s->run[i - 1].last + 1))
			return broken(err, id, "has runs out of order");
		for (uint32_t n = s->run[i].first; n <= s->run[i].last; n++, count++) {
			if (tl->class_of[n] != id)
				return broken(err, id, "has a node that does not know it");
		}
	}
	return count == s->count && count ? 0 : broken(err, id, "counts its nodes wrongly");
}

static int check_table(const struct sl_timeline *tl, uint32_t id, struct sl_error *err)
{
	const struct sl_node_class *g = &tl->class[id];
	unsigned times = 0;

	for (uint32_t o = tl->bucket[g->hash & (tl->buckets - 1)]; o != SL_NO_CLASS; o = tl->class[o].chain) {
		const struct sl_node_class *h = &tl->class[o];
		bool same = h->kind == g->kind && h->steps == g->steps;

		for (uint32_t s = 0; same && s < g->steps; s++)
			same = h->step[s].t == g->step[s].t && sl_step_equal(&h->step[s], &g->step[s]);
		times += same;
	}
	return times == 1 ? 0 : broken(err, id, "is in the table never or twice");
}

int check_timeline(const struct sl_timeline *tl, struct sl_error *err)
{
	int64_t cores = 0, sum = 0;
	uint32_t nodes = 0, idle = 0, none = 0;

	for (uint32_t i = 0; i < tl->lives; i++) {
		uint32_t id = tl->live[i].class;
		const struct sl_node_class *g = &tl->class[id];

		if (g->live != i)
			return broken(err, id, "does not know its place");
		if (check_steps(tl, id, err) || check_summary(tl, id, err) || check_nodes(tl, id, err) || check_table(tl, id, err))
			return -1;
		if (!tl->marks && g->pins)
			return broken(err, id, "is pinned without a mark");
		nodes += g->nodes.count;
		sum += g->nodes.count * sl_step_cores(g, tl->watched);
		cores += (int64_t) g->nodes.count * g->now_free.cores;
		none += g->now_free.cores ? 0 : g->nodes.count;
		if (g->now_free.cores && g->now_free.cores == tl->kind[g->kind].capacity.cores)
			idle += g->nodes.count;
	}
	if (tl->watched != SL_DAWN && tl->watched_cores != sum)
		return sl_fail(err, SL_EINVAL, "timeline: what is free at %" PRId64 " is counted wrongly", tl->watched);
	if (nodes != tl->nodes)
		return sl_fail(err, SL_EINVAL, "timeline: %u nodes in classes, %u in all", nodes, tl->nodes);
	if (cores != tl->free_cores || idle != tl->idle_nodes || none != tl->full_nodes)
		return sl_fail(err, SL_EINVAL, "timeline: what is free now is counted wrongly");
	if (!tl->marks && (tl->logged || tl->hashed != tl->lives))
		return sl_fail(err, SL_EINVAL, "timeline: log or empty classes left: %u, %u", tl->logged,
			       tl->hashed - tl->lives);
	return 0;
}
