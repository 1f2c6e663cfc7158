/* SPDX-License-Identifier: MIT */
/*
 * place_parts.c - requests that ask for a number of nodes of each of several parts (counted features).
 *
 * At one instant, the nodes of each part are chosen as for a job of its own, one part after the other.  Then the job is
 * placed on all of them.
 */
#include <inttypes.h>

#include "timeline/place_impl.h"

struct parts {
	struct sl_timeline *tl;
	const struct sl_request *r;
	const struct sl_how *how;
	int64_t t;
	uint32_t nodes;			/* nodes of the job, at least */
	bool evenly;			/* each node must have room for an equal number of tasks, not only for one */
	struct sl_nodeset taken;	/* nodes chosen so far */
	struct sl_layout layout;	/* of the latest part */
	struct sl_misfit *misfit;
};

/* The request without parts, on other eligible nodes. */
static struct sl_request request_on(const struct sl_request *r, const struct sl_nodeset *eligible)
{
	struct sl_request one = *r;

	one.part = NULL;
	one.parts = 0;
	one.eligible = eligible;
	return one;
}

/* A request for *nodes* of the job's nodes. */
static struct sl_request request_of(const struct parts *p, const struct sl_nodeset *eligible, uint32_t nodes)
{
	struct sl_request one = request_on(p->r, eligible);
	uint64_t share = ((uint64_t) p->r->tasks * nodes + p->nodes - 1) / p->nodes;

	one.min_nodes = one.max_nodes = nodes;
	one.most_nodes = false;
	one.cores = 0;
	one.tasks = p->evenly && share > nodes ? (uint32_t) share : nodes;
	if (p->r->tasks_per_node_exact)
		one.tasks = nodes * p->r->tasks_per_node;
	one.gres_needs = 0;
	for (uint32_t i = 0; i < p->r->gres_needs && i < SL_MAX_GRES_NEEDS; i++)
		if (p->r->gres[i].per != SL_GRES_PER_JOB)
			one.gres[one.gres_needs++] = p->r->gres[i];
	return one;
}

/* Nodes of part *n* that are not taken yet; with *alone* only those that no later part can use. */
static int nodes_of(const struct parts *p, uint32_t n, bool alone, struct sl_nodeset *out, struct sl_error *err)
{
	if (p->r->eligible ? sl_nodeset_meet(out, &p->r->part[n].nodes, p->r->eligible, err) < 0 :
			     sl_nodeset_copy(out, &p->r->part[n].nodes, err) < 0)
		return -1;
	for (uint32_t i = n + 1; alone && i < p->r->parts; i++) {
		sl_effort_add(p->tl->effort, out->runs + p->r->part[i].nodes.runs);
		if (sl_nodeset_subtract(out, &p->r->part[i].nodes, err) < 0)
			return -1;
	}
	sl_effort_add(p->tl->effort, out->runs + p->taken.runs);
	return sl_nodeset_subtract(out, &p->taken, err);
}

/* Choose *count* of these nodes into p->layout. */
static int choose_nodes(struct parts *p, const struct sl_nodeset *nodes, uint32_t count, struct sl_error *err)
{
	struct sl_request one = request_of(p, nodes, count);

	if (nodes->count < count)
		return sl_refuse(p->misfit, SL_LACK_NODES, count, nodes->count);
	return sl_fit_at(p->tl, &one, p->how, p->t, &p->layout, p->misfit, err);
}

static int take_chosen(struct parts *p, struct sl_error *err)
{
	for (uint32_t s = 0; s < p->layout.shares; s++)
		if (sl_nodeset_union(&p->taken, &p->layout.share[s].nodes, err) < 0)
			return -1;
	return 0;
}

/* Take as many of these nodes as possible, at most *count*; *had is the number taken. */
static int take_most(struct parts *p, const struct sl_nodeset *nodes, uint32_t count, uint32_t *had,
		     struct sl_error *err)
{
	uint32_t lo = 0, hi = nodes->count < count ? nodes->count : count;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo + 1) / 2;
		int rc = choose_nodes(p, nodes, mid, err);

		if (rc < 0)
			return -1;
		if (rc)
			lo = mid;
		else
			hi = mid - 1;
	}
	*had = lo;
	return !lo || (choose_nodes(p, nodes, lo, err) > 0 && !take_chosen(p, err)) ? 0 : -1;
}

static int take_part(struct parts *p, uint32_t n, struct sl_error *err)
{
	struct sl_nodeset nodes = SL_NODESET_EMPTY;
	uint32_t had = 0, count = p->r->part[n].count;
	int rc = 1;

	if (nodes_of(p, n, true, &nodes, err) < 0 || take_most(p, &nodes, count, &had, err) < 0)
		rc = -1;
	if (rc > 0 && had < count) {
		rc = nodes_of(p, n, false, &nodes, err) < 0 ? -1 : choose_nodes(p, &nodes, count - had, err);
		if (rc > 0 && take_chosen(p, err) < 0)
			rc = -1;
		if (!rc && p->misfit && p->misfit->lack == SL_LACK_NODES) {
			p->misfit->need += had;
			p->misfit->have += had;
		}
	}
	sl_nodeset_free(&nodes);
	return rc;
}

static int try_parts(struct parts *p, struct sl_layout *layout, struct sl_error *err)
{
	struct sl_request all = request_on(p->r, p->r->eligible);
	int rc = 1;

	sl_nodeset_clear(&p->taken);
	for (uint32_t n = 0; rc > 0 && n < p->r->parts; n++)
		rc = take_part(p, n, err);
	all.required = &p->taken;
	all.min_nodes = p->nodes;
	return rc > 0 ? sl_fit_at(p->tl, &all, p->how, p->t, layout, p->misfit, err) : rc;
}

/* The number of nodes of all parts, or min_nodes if that is more. */
static uint32_t count_nodes(const struct sl_request *r)
{
	uint64_t nodes = 0;

	for (uint32_t n = 0; n < r->parts; n++)
		nodes += r->part[n].count;
	if (nodes < r->min_nodes)
		nodes = r->min_nodes;
	return nodes > SL_MAX_NODES ? SL_MAX_NODES : nodes ? (uint32_t) nodes : 1;
}

int sl_parts_at(struct sl_timeline *tl, const struct sl_request *r, const struct sl_how *how, int64_t t,
		struct sl_layout *layout, struct sl_misfit *misfit, struct sl_error *err)
{
	struct sl_layout whole = SL_LAYOUT_EMPTY;
	struct parts p = { .tl = tl, .r = r, .how = how, .t = t, .nodes = count_nodes(r), .misfit = misfit,
			   .taken = SL_NODESET_EMPTY, .layout = SL_LAYOUT_EMPTY };
	int rc;

	if (sl_request_check(r, err))
		return -1;
	p.evenly = true;
	rc = try_parts(&p, layout ? layout : &whole, err);
	p.evenly = false;
	if (!rc && r->tasks > p.nodes)
		rc = try_parts(&p, layout ? layout : &whole, err);
	sl_nodeset_free(&p.taken);
	sl_layout_free(&p.layout);
	sl_layout_free(&whole);
	return rc;
}

/* The first time from *from* on at which each part alone, and the job without parts, can start: a lower bound. */
static int bound_start(struct parts *p, int64_t from, int64_t latest, int64_t *start, struct sl_error *err)
{
	struct sl_request one = request_on(p->r, p->r->eligible);
	int rc = sl_fit_earliest(p->tl, &one, p->how, from, latest, start, NULL, p->misfit, err);

	for (uint32_t n = 0; rc > 0 && n < p->r->parts; n++) {
		struct sl_nodeset nodes = SL_NODESET_EMPTY;

		rc = nodes_of(p, n, false, &nodes, err) < 0 ? -1 : 1;
		one = request_of(p, &nodes, p->r->part[n].count);
		if (rc > 0)
			rc = sl_fit_earliest(p->tl, &one, p->how, *start, latest, start, NULL, p->misfit, err);
		sl_nodeset_free(&nodes);
	}
	return rc;
}

int sl_parts_earliest(struct sl_timeline *tl, const struct sl_request *r, const struct sl_how *how, int64_t from,
		      int64_t latest, int64_t *start, struct sl_layout *layout, struct sl_misfit *misfit,
		      struct sl_error *err)
{
	struct parts p = { .tl = tl, .r = r, .how = how, .nodes = count_nodes(r), .misfit = misfit,
			   .taken = SL_NODESET_EMPTY };
	int rc;

	do {
		rc = bound_start(&p, from, latest, start, err);
		if (rc <= 0)
			return rc;
		rc = sl_parts_at(tl, r, how, *start, layout, misfit, err);
		from = sl_timeline_next(tl, *start);
	} while (!rc && from != SL_FOREVER && from <= latest);
	return rc;
}
