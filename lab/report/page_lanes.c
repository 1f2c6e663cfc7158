/* SPDX-License-Identifier: MIT */
/*
 * page_lanes.c - which cores and GPUs of its nodes a job is drawn at.
 *
 * A schedule says how many cores and GPUs a job has on each node, not which.  Each job is
 * given units of its own, in the order of starts: those that were free when it began,
 * adjacent ones if possible; of GPUs those of the type that it asks for.
 */
#include "report/page_private.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/order.h"
#include "model/cluster.h"
#include "model/request.h"

static int no_memory(struct sl_error *err)
{
	return sl_fail(err, SL_ENOMEM, "report: out of memory");
}

/* -- what the machine has ------------------------------------------------------- */

static uint32_t gpus_of(const struct sl_snapshot *snap, uint32_t node)
{
	struct sl_range has = snap->node.gres[node];
	uint16_t kinds = sl_gpu_kinds(snap);
	uint32_t gpus = 0;

	for (uint32_t i = has.first; i < has.first + has.count; i++)
		if (snap->node_gres.kind[i] < 16 && kinds >> snap->node_gres.kind[i] & 1)
			gpus += snap->node_gres.count[i];
	return gpus;
}

static uint32_t units_of(const struct sl_snapshot *snap, enum page_unit unit, uint32_t node)
{
	if (unit == PAGE_GPUS)
		return gpus_of(snap, node);
	return snap->node.cores[node] ? snap->node.cores[node] : 1;
}

int sl_page_count_units(struct sl_page *p, struct sl_error *err)
{
	const struct sl_snapshot *snap = &p->w->snap;

	p->gpu_kinds = sl_gpu_kinds(snap);
	for (int u = 0; u < PAGE_UNITS; u++) {
		struct page_units *of = &p->unit[u];

		of->first = calloc(snap->node.rows + 1, sizeof(*of->first));
		if (!of->first)
			return no_memory(err);
		for (uint32_t i = 0; i < snap->node.rows; i++)
			of->first[i + 1] = of->first[i] + units_of(snap, (enum page_unit) u, i);
		of->free_at = calloc(of->first[snap->node.rows] + 1, sizeof(*of->free_at));
		if (!of->free_at)
			return no_memory(err);
	}
	return 0;
}

void sl_page_forget_units(struct sl_page *p)
{
	for (int u = 0; u < PAGE_UNITS; u++) {
		free(p->unit[u].free_at);
		free(p->unit[u].first);
		p->unit[u].free_at = NULL;
		p->unit[u].first = NULL;
	}
}

void sl_page_forget_lanes(struct sl_page *p)
{
	for (int u = 0; u < PAGE_UNITS; u++) {
		free(p->unit[u].lane);
		p->unit[u].lane = NULL;
		p->unit[u].lanes = p->unit[u].lane_room = 0;
	}
}

/* -- where a job is drawn ------------------------------------------------------- */

/* The job that is placed, in one kind of unit. */
struct placing {
	struct sl_page *p;
	struct page_start *st;
	enum page_unit unit;
};

/* Add a rectangle of one node, or make the last one of the job a node taller. */
static int add_lane(const struct placing *g, struct page_lane lane, struct sl_error *err)
{
	struct page_units *of = &g->p->unit[g->unit];
	struct page_lane *last = g->st->drawn[g->unit].count ? &of->lane[of->lanes - 1] : NULL;

	if (last && last->first + last->count == lane.first && last->unit == lane.unit && last->units == lane.units &&
	    sl_page_units(g->p, g->unit, last->first) == sl_page_units(g->p, g->unit, lane.first)) {
		last->count++;
		return 0;
	}
	if (sl_grow(&of->lane, &of->lane_room, of->lanes + 1, sizeof(*of->lane), err) < 0)
		return -1;
	of->lane[of->lanes++] = lane;
	g->st->drawn[g->unit].count++;
	return 0;
}

/* The first of *want* adjacent units that are free, or the number of all when there
 * are none. */
static uint32_t first_fit(const int64_t *free_at, uint32_t all, uint32_t want, int64_t now)
{
	for (uint32_t k = 0, n = 0; k < all; k++) {
		n = free_at[k] <= now ? n + 1 : 0;
		if (n == want)
			return k + 1 - want;
	}
	return all;
}

static int take_units(const struct placing *g, uint32_t node, uint32_t unit, uint32_t units, struct sl_error *err)
{
	const struct page_units *of = &g->p->unit[g->unit];
	int64_t *free_at = of->free_at + of->first[node];

	for (uint32_t k = unit; k < unit + units; k++)
		if (free_at[k] < g->st->end)
			free_at[k] = g->st->end;
	return add_lane(g, (struct page_lane) { node, 1, unit, units }, err);
}

/* Some of these units of one node for one job: adjacent ones, else the lowest that are free,
 * else (where the schedule has more on the node than it has units) the lowest. */
static int place_within(const struct placing *g, uint32_t node, struct sl_range units, uint32_t want, struct sl_error *err)
{
	const struct page_units *of = &g->p->unit[g->unit];
	const int64_t *free_at = of->free_at + of->first[node] + units.first;
	uint32_t all = units.count, k, n;

	if (want > all)
		want = all;
	if (!want)
		return 0;
	k = first_fit(free_at, all, want, g->st->start);
	if (k < all)
		return take_units(g, node, units.first + k, want, err);
	for (k = 0; k < all && want; k += n ? n : 1) {
		for (n = 0; n < want && k + n < all && free_at[k + n] <= g->st->start; n++)
			;
		if (n && take_units(g, node, units.first + k, n, err) < 0)
			return -1;
		want -= n;
	}
	return want ? take_units(g, node, units.first, want, err) : 0;
}

/* Units of one node: GPUs of the types that the job names are drawn at GPUs of these types. */
static int place_on_node(const struct placing *g, uint32_t node, uint32_t want, struct sl_error *err)
{
	const struct sl_snapshot *snap = &g->p->w->snap;
	const struct sl_range all = { 0, sl_page_units(g->p, g->unit, node) };
	bool types = g->unit == PAGE_GPUS && g->p->gpu_kinds & (g->p->gpu_kinds - 1);
	struct sl_ask a;

	if (!types)
		return place_within(g, node, all, want, err);
	a = sl_request_read(snap, g->st->job, 0);
	for (uint32_t r = a.gres.first; r < a.gres.first + a.gres.count && want; r++) {
		struct sl_range units = sl_page_gpus_of_kind(g->p, node, r);
		uint32_t each = (uint32_t) ((sl_ask_gres(snap, &a, r, a.min_nodes) + a.min_nodes - 1) / a.min_nodes);

		if (!*sl_snapshot_str(snap, snap->job_gres.type[r]) || !units.count)
			continue;
		each = each > want ? want : each > units.count ? units.count : each;
		if (place_within(g, node, units, each, err) < 0)
			return -1;
		want -= each;
	}
	return place_within(g, node, all, want, err);
}

static int place_start(struct sl_page *p, struct page_start *st, enum page_unit unit, struct sl_error *err)
{
	const struct placing g = { p, st, unit };

	st->drawn[unit] = (struct sl_range) { .first = p->unit[unit].lanes };
	for (uint32_t k = st->first; k < st->first + st->stretches; k++) {
		const struct sl_stretch *s = &p->stretch[k];

		for (uint32_t n = 0; n < s->count; n++)
			if (place_on_node(&g, s->first + n, unit == PAGE_GPUS ? s->gpus : s->cores, err) < 0)
				return -1;
	}
	return 0;
}

static int start_order(const void *a, const void *b)
{
	const struct page_start *x = a, *y = b;

	return SL_ORDER(x->start, y->start) ?: SL_ORDER(x->job, y->job) ?: SL_ORDER(x->stop, y->stop);
}

int sl_page_place(struct sl_page *p, int64_t now, struct sl_error *err)
{
	if (p->starts)
		qsort(p->start, p->starts, sizeof(*p->start), start_order);
	for (uint32_t i = 0; i < p->starts; i++) {
		struct page_start *st = &p->start[i];

		if (!st->end)
			st->end = now > st->start ? now : st->start;
		*(st->stop ? &p->stop[st->stop - 1].start : &p->start_of[st->job]) = i + 1;
		if (place_start(p, st, PAGE_CORES, err) < 0 || place_start(p, st, PAGE_GPUS, err) < 0)
			return -1;
	}
	return 0;
}
