/* SPDX-License-Identifier: MIT */
/*
 * stock_select.c - the nodes that select/cons_tres takes for a number of cores on a fixed number of nodes: _eval_nodes(), and
 * choose_nodes() around it.
 *
 * The engine's best fit (timeline/place.h) passes over nodes that are too poor to lead to a fit.  Select first counts them as
 * part of their sets, and goes through all sets anew with the poorest nodes left out, when that has led to none: so it takes
 * other nodes where the number of nodes binds.
 */
#include "sim/stock_private.h"

#include <string.h>

#include "base/grow.h"
#include "base/number.h"

/* Consecutive nodes of equal weight with a core free. */
struct set {
	uint32_t first, last, nodes;
	int64_t cores;
	uint32_t weight;
};

struct choice {
	const uint32_t *weight;
	int32_t *cores;			/* that a node has; 0: left out */
	bool *taken;
	uint32_t nodes;
	struct set *set;
	uint32_t sets;
	int64_t rem_cores, rem_nodes, max_nodes;
};

bool stock_selects(const struct sl_stock_work *w, const struct sl_want *want)
{
	const struct sl_snapshot *snap = sl_cluster_snapshot(w->c);
	const struct sl_request *r = &want->request;

	return !*sl_snapshot_str(snap, snap->node.topology[0]) && want->why == SL_WHY_NONE && want->variants == 1 &&
		want->method == SL_PLACE_BESTFIT && sl_want_takes_places(want) &&
		r->min_nodes > 1 && r->max_nodes == r->min_nodes && r->tasks && r->cores_per_task <= 1 && r->tasks_per_core <= 1 &&
		!r->tasks_per_node && r->min_cores_per_node <= 1 && !r->max_cores_per_node && r->cores_at_once <= 1 && !r->least_free_cores &&
		!r->spare_cores && !r->memory_per_core && !r->all_memory && !r->gres_needs && !r->whole_nodes && !r->required && !r->parts &&
		!r->picks && !r->max_leaves && !r->segment && !r->most_nodes && !r->contiguous && !r->plane;
}

static void find_sets(struct choice *c)
{
	struct set *s = NULL;

	c->sets = 0;
	for (uint32_t i = 0; i < c->nodes; i++) {
		if (c->cores[i] <= 0) {
			s = NULL;
			continue;
		}
		if (!s || s->weight != c->weight[i]) {
			s = &c->set[c->sets++];
			*s = (struct set) { .first = i, .weight = c->weight[i] };
		}
		s->last = i;
		s->nodes++;
		s->cores += c->cores[i];
	}
}

/* The lowest weight; of those the tightest that suffices, else the one with the most cores; of equals the first. */
static struct set *best_set(const struct choice *c)
{
	struct set *best = NULL;
	bool best_suffices = false;

	for (uint32_t i = 0; i < c->sets; i++) {
		struct set *s = &c->set[i];
		bool suffices = s->cores >= c->rem_cores && s->nodes >= c->rem_nodes;

		if (!s->nodes)
			continue;
		if (!best || s->weight < best->weight ||
		    (s->weight == best->weight && (suffices ? !best_suffices || s->cores < best->cores : s->cores > best->cores))) {
			best = s;
			best_suffices = suffices;
		}
	}
	return best;
}

/* Where one more node will do, the tightest of the set that does; c->nodes: none does. */
static uint32_t tightest(const struct choice *c, const struct set *s)
{
	uint32_t best = c->nodes;

	for (uint32_t i = s->first; c->rem_nodes <= 1 && i <= s->last; i++)
		if (!c->taken[i] && c->cores[i] >= c->rem_cores && (best == c->nodes || c->cores[i] < c->cores[best]))
			best = i;
	return best;
}

static void take_of(struct choice *c, const struct set *s)
{
	uint32_t only = tightest(c, s);

	for (uint32_t i = s->first; i <= s->last && c->max_nodes > 0 && (c->rem_nodes > 0 || c->rem_cores > 0); i++) {
		int64_t cores = c->cores[i], others = sl_max_signed(c->rem_nodes - 1, 0);

		if (c->taken[i] || cores <= 0 || (only != c->nodes && i != only) || (c->max_nodes == 1 && cores < c->rem_cores))
			continue;
		c->rem_cores -= sl_min_signed(cores, sl_max_signed(c->rem_cores - others, 1));	/* one is left for each further node */
		c->taken[i] = true;
		c->rem_nodes--;
		c->max_nodes--;
	}
}

/* _eval_nodes() */
static bool evaluate(struct choice *c, const struct sl_request *r)
{
	struct set *s;

	memset(c->taken, 0, c->nodes * sizeof(*c->taken));
	c->rem_cores = r->tasks;
	c->rem_nodes = c->max_nodes = r->min_nodes;
	find_sets(c);
	while (c->max_nodes > 0 && (s = best_set(c))) {
		take_of(c, s);
		if (c->rem_nodes <= 0 && c->rem_cores <= 0)
			return true;
		s->nodes = 0;
	}
	return false;
}

/* choose_nodes(): with the poorest nodes left out one after the other. */
static bool choose(struct choice *c, const struct sl_request *r)
{
	uint32_t left = 0;
	int32_t most = 0;

	for (uint32_t i = 0; i < c->nodes; i++) {
		left += c->cores[i] > 0;
		most = c->cores[i] > most ? c->cores[i] : most;
	}
	if (evaluate(c, r))
		return true;
	for (int32_t count = 1; count < most && left > r->min_nodes; count++) {
		bool changed = false;

		for (uint32_t i = 0; i < c->nodes && left > r->min_nodes; i++) {
			if (c->cores[i] <= 0 || c->cores[i] > count)
				continue;
			c->cores[i] = 0;
			left--;
			changed = true;
		}
		if (changed && evaluate(c, r))
			return true;
	}
	return false;
}

/* What is free on the nodes of *within* then, for as long as the request runs. */
static int read_free(struct sl_stock_work *w, const struct sl_request *r, const struct sl_nodeset *within, int64_t t, struct choice *c,
		     struct sl_error *err)
{
	const struct sl_class *class;
	int64_t classes = sl_timeline_classes(sl_cluster_timeline(w->c), within, t, sl_later(t, r->duration), &class, err);

	memset(c->cores, 0, c->nodes * sizeof(*c->cores));
	for (int64_t k = 0; k < classes; k++)
		if (class[k].free.cores > 0 && class[k].free.memory >= r->memory_per_node)
			for (uint32_t i = sl_nodeset_next(class[k].nodes, 0); i < SL_MAX_NODES; i = sl_nodeset_next(class[k].nodes, i + 1))
				c->cores[i] = class[k].free.cores;
	for (uint32_t i = 0; i < c->nodes; i++)
		if (c->cores[i] && !sl_nodeset_contains(within, i))
			c->cores[i] = 0;
	return classes < 0 ? -1 : 0;
}

int stock_select(struct sl_stock_work *w, const struct sl_request *r, const struct sl_nodeset *within, int64_t t, struct sl_error *err)
{
	struct choice c = { .nodes = sl_cluster_snapshot(w->c)->node.rows, .weight = sl_cluster_snapshot(w->c)->node.weight };
	struct sl_how how = { .method = SL_PLACE_EXPLICIT };

	if (sl_grow(&w->cores, &w->cores_room, c.nodes, sizeof(*w->cores), err) < 0 ||
	    sl_grow(&w->taken, &w->taken_room, c.nodes, sizeof(*w->taken), err) < 0 ||
	    sl_grow(&w->set, &w->set_room, c.nodes, sizeof(*c.set), err) < 0 ||
	    sl_grow(&w->pick, &w->picks, r->min_nodes, sizeof(*w->pick), err) < 0)
		return -1;
	c.cores = w->cores;
	c.taken = w->taken;
	c.set = w->set;
	if (read_free(w, r, within, t, &c, err) < 0)
		return -1;
	if (!choose(&c, r))
		return 0;
	for (uint32_t i = 0; i < c.nodes; i++)
		if (c.taken[i])
			w->pick[how.count++] = (struct sl_pick) { .node = i };
	how.picks = w->pick;
	return sl_fit_at(sl_cluster_timeline(w->c), r, &how, t, &w->layout, NULL, err);
}
