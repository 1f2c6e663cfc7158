/* SPDX-License-Identifier: MIT */
/*
 * plan_het_nodes.c - assigning nodes to all components of a heterogeneous job at once, if placing them one after the other
 * fails.
 *
 * For a component that needs the same on each of its nodes, only the number of nodes and the set of suitable nodes matter.
 * Nodes suitable for the same components are of one kind.  The assignment is a flow from components to at most 2^8 kinds of
 * nodes; a flow of full size exists if and only if all components fit (Ford and Fulkerson, "Flows in Networks", 1962, chapter
 * II).
 */
#include "model/plan_private.h"

#include <stdlib.h>

#include "base/number.h"

#define KINDS (1u << PLAN_HET_EXACT)

struct flow {
	uint32_t components;
	uint32_t wants[PLAN_HET_EXACT];		/* nodes still missing */
	uint32_t free[KINDS];			/* [kind] unassigned nodes; kind: bit mask of components */
	uint32_t has[PLAN_HET_EXACT][KINDS];
};

/* -- suitable nodes ------------------------------------------------------------ */

/* Turn the request into one that asks an equal amount of each of any number of nodes.  False if that is impossible. */
static bool ask_each_node(struct sl_request *r)
{
	uint32_t nodes = r->min_nodes ? r->min_nodes : 1;

	if (!sl_request_is_apart(r) || (nodes > 1 && sl_request_has_job_gres(r)))
		return false;
	if (r->tasks) {
		uint32_t each = sl_quotient_up(r->tasks, nodes);

		if (r->tasks_per_node && r->tasks_per_node < each)
			return false;
		r->tasks_per_node = each;
		r->tasks_per_node_exact = true;
		r->tasks = 0;
	} else if (r->cores > 0) {
		uint32_t each = sl_quotient_up((uint64_t) r->cores, nodes);

		r->min_cores_per_node = each > r->min_cores_per_node ? each : r->min_cores_per_node;
		r->cores = 0;
	}
	r->most_nodes = false;
	r->max_nodes = 0;
	return true;
}

static int add_layout(struct sl_nodeset *set, const struct sl_layout *l, struct sl_error *err)
{
	for (uint32_t s = 0; s < l->shares; s++)
		if (sl_nodeset_union(set, &l->share[s].nodes, err) < 0)
			return -1;
	return 0;
}

/* Find all nodes that are suitable from *t* on, by asking for more nodes than there are: the misfit says how many are
 * suitable.  1 with *set; 0: unknown; -1. */
static int find_candidates(struct sl_timeline *tl, struct sl_request r, int64_t t, struct sl_nodeset *set, struct sl_error *err)
{
	const struct sl_how how = { .method = SL_PLACE_BESTFIT };
	struct sl_layout layout = SL_LAYOUT_EMPTY;
	struct sl_misfit misfit;
	int rc = 0;

	if (!ask_each_node(&r) || !r.eligible)
		return 0;
	r.min_nodes = r.eligible->count ? r.eligible->count : 1;
	for (int turn = 0; turn < 2 && !rc; turn++) {
		rc = sl_fit_at(tl, &r, &how, t, &layout, &misfit, err);
		if (!rc && (misfit.lack != SL_LACK_NODES || misfit.have <= 0 || misfit.have >= r.min_nodes))
			break;
		if (!rc)
			r.min_nodes = (uint32_t) misfit.have;
	}
	if (rc > 0 && add_layout(set, &layout, err) < 0)
		rc = -1;
	sl_layout_free(&layout);
	return rc;
}

/* -- the flow ---------------------------------------------------------------- */

/* Find a path from a component that lacks nodes to a kind with unassigned nodes, through components that can exchange one
 * kind for another.  Returns the number of nodes moved; 0: there is no path. */
static uint32_t augment(struct flow *f, uint32_t from)
{
	uint32_t queue[PLAN_HET_EXACT], by[PLAN_HET_EXACT], over[PLAN_HET_EXACT], n = 1, most;
	bool seen[PLAN_HET_EXACT] = { false };

	seen[from] = true;
	queue[0] = from;
	for (uint32_t at = 0; at < n; at++) {
		uint32_t c = queue[at];

		for (uint32_t kind = 1; kind < 1u << f->components; kind++) {
			if (!(kind >> c & 1))
				continue;
			if (f->free[kind]) {
				most = f->wants[from] < f->free[kind] ? f->wants[from] : f->free[kind];
				for (uint32_t d = c; d != from; d = by[d])
					most = f->has[d][over[d]] < most ? f->has[d][over[d]] : most;
				f->free[kind] -= most;
				f->has[c][kind] += most;
				for (uint32_t d = c; d != from; d = by[d]) {
					f->has[d][over[d]] -= most;
					f->has[by[d]][over[d]] += most;
				}
				f->wants[from] -= most;
				return most;
			}
			for (uint32_t d = 0; d < f->components; d++)
				if (!seen[d] && f->has[d][kind]) {
					seen[d] = true;
					by[d] = c;
					over[d] = kind;
					queue[n++] = d;
				}
		}
	}
	return 0;
}

static bool fill(struct flow *f)
{
	for (uint32_t c = 0; c < f->components; c++)
		while (f->wants[c])
			if (!augment(f, c))
				return false;
	return true;
}

/* -- all components -------------------------------------------------------------- */

/* Compute the kind of each node, and the number of nodes of each kind. */
static void sort_nodes(const struct sl_nodeset *set, uint32_t components, uint32_t nodes, uint8_t *kind, uint32_t *count)
{
	for (uint32_t c = 0; c < components; c++)
		for (uint32_t n = sl_nodeset_next(&set[c], 0); n < nodes; n = sl_nodeset_next(&set[c], n + 1))
			kind[n] |= (uint8_t) (1u << c);
	for (uint32_t n = 0; n < nodes; n++)
		count[kind[n]]++;
	count[0] = 0;
}

/* Distribute the nodes of each kind to its components, in rounds by increasing weight. */
static int deal_nodes(const struct sl_plan *p, struct flow *f, const uint8_t *kind, struct sl_nodeset *avoid,
		      struct sl_error *err)
{
	const int64_t none = -1;
	const struct sl_node_view *node = &p->c->snap->node;
	int64_t least = none;

	for (int64_t weight = 0; weight >= 0; weight = least) {
		least = none;
		for (uint32_t n = 0; n < node->rows; n++) {
			uint32_t c = 0;

			if (!kind[n] || node->weight[n] < weight)
				continue;
			if (node->weight[n] > weight) {
				if (least == none || node->weight[n] < least)
					least = node->weight[n];
				continue;
			}
			while (c < f->components && !f->has[c][kind[n]])
				c++;
			if (c < f->components)
				f->has[c][kind[n]]--;
			for (uint32_t d = 0; d < f->components; d++)
				if (d != c && sl_nodeset_add(&avoid[d], n, n, err) < 0)
					return -1;
		}
	}
	return 0;
}

int plan_share_out(struct sl_plan *p, const struct want *const *w, uint32_t components, int64_t t, struct sl_nodeset *avoid,
		   struct sl_error *err)
{
	struct sl_nodeset *set = calloc(components, sizeof(*set));
	struct flow *f = calloc(1, sizeof(*f));
	uint8_t *kind = calloc((size_t) p->c->snap->node.rows + 1, 1);
	int rc = set && f && kind ? 1 : plan_no_memory(err);

	for (uint32_t c = 0; c < components && rc > 0; c++) {
		struct sl_timeline *tl = plan_timeline_of(p, w[c]->enclave, err);

		rc = w[c]->pub.many_sets || w[c]->pub.many_counts ? 0 : tl ? find_candidates(tl, *w[c]->pub.exact, t, &set[c], err) : -1;
		if (rc > 0)
			f->wants[c] = w[c]->pub.exact->min_nodes ? w[c]->pub.exact->min_nodes : 1;
	}
	if (rc > 0) {
		f->components = components;
		sort_nodes(set, components, p->c->snap->node.rows, kind, f->free);
		rc = fill(f) ? 1 : 0;
	}
	if (rc > 0 && deal_nodes(p, f, kind, avoid, err) < 0)
		rc = -1;
	for (uint32_t c = 0; set && c < components; c++)
		sl_nodeset_free(&set[c]);
	free(set);
	free(f);
	free(kind);
	return rc;
}
