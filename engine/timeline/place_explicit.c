/* SPDX-License-Identifier: MIT */
/* place_explicit.c - explicit layouts: the policy, or the request itself, names the nodes and amounts. */
#include "timeline/place_impl.h"

#include <inttypes.h>

#include "base/number.h"

static uint32_t units_in(const struct sl_need *need, uint32_t cores)
{
	return (uint32_t) sl_min((uint64_t) sl_need_held(&need->node, cores), need->most);
}

/* Collect the picked nodes in *nodes*; each must exist and may occur once. */
static int check_picks(const struct sl_timeline *tl, const struct sl_how *how, struct sl_nodeset *nodes,
		       struct sl_error *err)
{
	for (uint32_t i = 0; i < how->count; i++) {
		uint32_t n = how->picks[i].node;

		if (n >= tl->nodes)
			return sl_fail(err, SL_EINVAL, "layout: node %u: there are %u", n, tl->nodes);
		if (sl_nodeset_contains(nodes, n))
			return sl_fail(err, SL_EINVAL, "layout: node %u stands in it twice", n);
		if (sl_nodeset_add(nodes, n, n, err))
			return -1;
	}
	return 0;
}

/* The fewest units for which all cores of a pick are needed.  A pick without cores, or with no more cores than a node
 * gives in any case, may have the least; so may whole nodes. */
static uint32_t fewest_in(const struct sl_need *need, uint32_t cores)
{
	if (!cores || need->whole || cores <= (uint32_t) need->given_cores)
		return need->least;
	return (uint32_t) sl_need_held(&need->node, (int64_t) cores - need->once) + 1;
}

/* The fewest units of a pick: its tasks, or the fewest that need its cores. */
static uint32_t fewest_of(const struct sl_need *need, const struct sl_pick *p)
{
	return (uint32_t) sl_max(p->tasks, fewest_in(need, p->cores));
}

/* Refuse because of an unsuitable required node. */
static int refuse_required(struct sl_misfit *m, uint32_t node, int64_t need, int64_t have)
{
	sl_refuse(m, SL_LACK_REQUIRED, need, have);
	if (m)
		m->node = node;
	return 0;
}

/* Refuse because of the node of pick *i*. */
static int refuse_node(struct sl_misfit *m, const struct sl_need *need, const struct sl_how *how, uint32_t i)
{
	return need->r->picks ? refuse_required(m, how->picks[i].node, how->count, i) : sl_refuse(m, SL_LACK_NODES, how->count, i);
}

/* Check what does not depend on what is free.  1, or 0 with *misfit. */
static int check_request(const struct sl_need *need, const struct sl_how *how, const struct sl_nodeset *nodes,
			 struct sl_misfit *misfit)
{
	const struct sl_request *r = need->r;
	int64_t fewest = 0, most = 0;
	bool open = false;

	if (how->count < need->min_nodes)
		return sl_refuse(misfit, SL_LACK_NODES, need->min_nodes, how->count);
	if (how->count > need->max_nodes)
		return sl_refuse(misfit, SL_LACK_MAX_NODES, how->count, need->max_nodes);
	if (r->required && !sl_nodeset_includes(nodes, r->required))
		return refuse_required(misfit, sl_nodeset_next(r->required, 0), r->required->count,
				       sl_nodeset_common(nodes, r->required));
	if (r->eligible && !sl_nodeset_includes(r->eligible, nodes))
		return sl_refuse(misfit, SL_LACK_NODES, nodes->count, sl_nodeset_common(r->eligible, nodes));
	if (r->contiguous && nodes->runs != 1)
		return sl_refuse(misfit, SL_LACK_BLOCK, nodes->count, nodes->run[0].last - nodes->run[0].first + 1);
	for (uint32_t i = 0; i < how->count; i++) {
		uint32_t cores = how->picks[i].cores, units = units_in(need, cores);

		fewest += fewest_of(need, &how->picks[i]);
		if (!cores || need->whole) {
			open = true;
			continue;
		}
		if (cores < (uint32_t) need->given_cores || cores > (uint32_t) need->most_cores || units < need->least ||
		    cores % need->once)
			return sl_refuse(misfit, SL_LACK_CORES, need->given_cores, cores);
		if (fewest_in(need, cores) > units)	/* its last core is needed by no whole task, or only by more tasks
							 * than a node may have */
			return sl_refuse(misfit, SL_LACK_SENSE, units, cores);
		most += units;
	}
	if (!open && most < need->units)
		return sl_refuse(misfit, SL_LACK_CORES, need->units, most);
	if (fewest > need->units && fewest > (int64_t) how->count * need->least)
		return sl_refuse(misfit, SL_LACK_SENSE, need->units, fewest);
	return 1;
}

/* Units of a pick on a node that can take *most*.  *rest* units are to be dealt, of which the later picks need *later*. */
static uint32_t share_of(const struct sl_need *need, const struct sl_pick *p, int64_t rest, int64_t later, uint32_t most)
{
	int64_t units = sl_min_signed(most, rest - later);

	if (p->tasks)
		return p->tasks;
	if (p->cores && !need->whole)
		units = sl_min_signed(units, units_in(need, p->cores));
	return (uint32_t) sl_max_signed(units, fewest_in(need, p->cores));
}

/* Put the amounts of each pick at t into the layout.  1; 0 with *misfit; -1 with *err. */
static int fill(struct sl_timeline *tl, const struct sl_need *need, const struct sl_how *how, int64_t t,
		struct sl_layout *layout, struct sl_misfit *misfit, struct sl_error *err)
{
	int64_t end = sl_later(t, need->r->duration), job[SL_MAX_GRES_NEEDS], rest = need->units, later = 0;

	for (uint32_t i = 0; i < how->count; i++)
		later += fewest_of(need, &how->picks[i]);
	for (uint32_t j = 0; j < need->jobs; j++)
		job[j] = need->need[need->needs + j].count;
	sl_layout_clear(layout);
	for (uint32_t i = 0; i < how->count; i++) {
		const struct sl_pick *p = &how->picks[i];
		const struct sl_resources *cap = &sl_timeline_kind(tl, p->node)->capacity;
		struct sl_offer o = { .class = tl->class_of[p->node] };
		const struct sl_node_class *g = &tl->class[o.class];
		struct sl_resources each;
		uint32_t units, give[SL_MAX_GRES_NEEDS] = { 0 };

		if (!sl_step_min(g, t, end, &o.free))
			return refuse_node(misfit, need, how, i);
		sl_need_in_turn(&need->node, cap, &g->step[sl_step_at(g, t)].free, &o.free);
		if (!sl_need_offer(&need->node, cap, &o) || o.units < p->tasks || (p->tasks && p->tasks < need->least))
			return refuse_node(misfit, need, how, i);
		if (need->whole && p->cores && p->cores != (uint32_t) cap->cores)
			return sl_refuse(misfit, SL_LACK_CORES, cap->cores, p->cores);
		later -= fewest_of(need, p);
		units = share_of(need, p, rest, later, o.units);
		rest -= units;
		for (uint32_t j = 0; j < need->jobs; j++) {
			int64_t least = job[j] > 0;

			give[j] = (uint32_t) sl_deal_share(job[j], how->count - i, least, least, o.job[j]);
			job[j] -= give[j];
		}
		if (!sl_need_amounts(need, cap, &o.free, units, give, &each))
			return sl_refuse(misfit, SL_LACK_GRES, units, o.units);
		if (p->cores && !need->whole) {
			if (each.cores > (int32_t) p->cores || fewest_in(need, p->cores) > units)
				return sl_refuse(misfit, SL_LACK_SENSE, each.cores, p->cores);
			each.memory += need->r->memory_per_core * ((int64_t) p->cores - each.cores);
			each.cores = (int32_t) p->cores;
		}
		if (!sl_resources_fit(&each, &o.free))
			return sl_refuse(misfit, SL_LACK_CORES, each.cores, o.free.cores);
		if (sl_layout_add(layout, p->node, p->node, need->whole ? 0 : units, &each, err))
			return -1;
	}
	if (rest > 0)
		return sl_refuse(misfit, SL_LACK_CORES, need->units, need->units - rest);
	for (uint32_t j = 0; j < need->jobs; j++) {
		if (job[j] > 0)
			return sl_refuse(misfit, SL_LACK_GRES, need->need[need->needs + j].count,
					 need->need[need->needs + j].count - job[j]);
	}
	return 1;
}

/* The first instant after t at which a picked node changes.  What does not fit at t cannot fit before. */
static int64_t next_change(const struct sl_timeline *tl, const struct sl_how *how, int64_t t)
{
	int64_t next = SL_FOREVER;

	for (uint32_t i = 0; i < how->count; i++) {
		const struct sl_node_class *g = &tl->class[tl->class_of[how->picks[i].node]];
		uint32_t k = sl_step_at(g, t);

		if (k + 1 < g->steps)
			next = sl_min_signed(next, g->step[k + 1].t);
	}
	return next;
}

#define EFFORT_OF_PICK 20

int sl_explicit_fit(struct sl_timeline *tl, const struct sl_need *need, const struct sl_how *how, int64_t from,
		    int64_t latest, int64_t *start, struct sl_layout *layout, struct sl_misfit *misfit, struct sl_error *err)
{
	struct sl_layout unasked = SL_LAYOUT_EMPTY, *to = layout ? layout : &unasked;
	struct sl_nodeset nodes = SL_NODESET_EMPTY;
	int64_t t = from;
	int rc = -1;

	if (check_picks(tl, how, &nodes, err))
		goto error;
	rc = check_request(need, how, &nodes, misfit);
	if (rc == 1 && tl->tree && need->r->max_leaves && sl_tree_leaves(tl->tree, &nodes) > need->r->max_leaves)
		rc = sl_refuse(misfit, SL_LACK_LEAVES, need->r->max_leaves, 0);
	if (rc == 1 && tl->tree && need->r->segment && !sl_tree_has_segments(tl->tree, &nodes, need->r->segment))
		rc = sl_refuse(misfit, SL_LACK_SEGMENTS, nodes.count, need->r->segment);
	if (rc == 0 && misfit)
		misfit->ever = true;
	while (rc == 1) {
		rc = sl_effort_spend(tl->effort, EFFORT_OF_PICK * (uint64_t) how->count, err) ? -1 :
			fill(tl, need, how, t, to, misfit, err);
		if (start)
			*start = t;
		if (rc)
			break;
		t = next_change(tl, how, t);
		if (misfit)
			misfit->ever = t == SL_FOREVER && from <= tl->now && latest == SL_FOREVER;
		rc = t <= latest && t != SL_FOREVER;
	}
	if (rc != 1)
		sl_layout_clear(to);
error:
	sl_layout_free(&unasked);
	sl_nodeset_free(&nodes);
	return rc;
}
