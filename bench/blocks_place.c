/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "bench/blocks_bound.h"
#include "bench/blocks_world.h"

static struct sl_request request_of(const struct job *j)
{
	return (struct sl_request) { .min_nodes = j->nodes, .max_nodes = j->nodes, .whole_nodes = true, .duration = j->limit };
}

/* When the last of the jobs that a rack has at *t* really ends. */
static void last_ends(int64_t t, int64_t last[])
{
	for (uint32_t r = 0; r < world.racks; r++)
		last[r] = t;
	for (uint32_t i = 0; i < world.ending; i++)
		for (uint32_t r = 0; r < world.racks; r++)
			if (world.job[world.end[i].job].on[r] && world.end[i].t > last[r])
				last[r] = world.end[i].t;
}

/* What a segment in a rack costs: by the nodes that are left free; and, if ends are known, by how much longer the rack is in use. */
static double cost_of_rack(uint32_t left, bool whole, int64_t remains, int64_t run)
{
	return left + (whole ? 1e9 : 0) + (remains > 0 && run > remains ? 2 * log2((double) run / (double) remains) : 0);
}

/* The model: picks for a start at *t*; false where there is no room. */
static bool pick_segments(const struct way *w, const struct job *j, int64_t t, struct sl_pick *pick)
{
	uint32_t n = 0, free[MOST_NODES], on[MOST_RACKS] = { 0 };
	int64_t last[MOST_RACKS] = { 0 };

	if (w->ends_known)
		last_ends(t, last);

	for (uint32_t i = 0; i < world.nodes; i++) {
		struct sl_resources left;

		sl_timeline_free(world.tl, i, t, t + j->limit, &left);
		free[i] = left.cores == CORES;
		on[world.leaf_of[i]] += free[i];
	}
	for (uint32_t s = 0; s < j->nodes / j->segment; s++) {
		uint32_t best = world.racks, rest = j->segment;
		double least = INFINITY;

		for (uint32_t r = 0; r < world.racks; r++) {
			double cost = cost_of_rack(on[r] - rest, on[r] == world.first_of[r + 1] - world.first_of[r] && w->ends_known,
						   w->ends_known ? last[r] - t : 0, j->run);

			if (on[r] >= rest && cost <= least) {
				least = cost;
				best = r;
			}
		}
		if (best == world.racks)
			return false;
		on[best] -= rest;
		for (uint32_t i = world.first_of[best]; rest; i++)
			if (free[i]) {
				pick[n++] = (struct sl_pick) { .node = i, .cores = CORES };
				free[i] = 0;
				rest--;
			}
	}
	return true;
}

static int by_node(const void *x, const void *y)
{
	const struct sl_pick *a = x, *b = y;

	return SL_ORDER(a->node, b->node);
}

static int fit_by_model(const struct way *w, const struct job *j, int64_t t, struct sl_layout *l)
{
	struct sl_request r = request_of(j);
	struct sl_pick pick[MOST_NODES];
	struct sl_how how = { .method = SL_PLACE_EXPLICIT, .picks = pick, .count = j->nodes };
	struct sl_error err = { 0 };
	int rc;

	sl_layout_clear(l);
	if (!pick_segments(w, j, t, pick))
		return 0;
	qsort(pick, j->nodes, sizeof(*pick), by_node);
	rc = sl_fit_at(world.tl, &r, &how, t, l, NULL, &err);
	blocks_must(rc > 0, &err);
	return 1;
}

void blocks_count_running(int64_t now, int64_t t, uint32_t count[])
{
	memset(count, 0, (BLOCKS_LARGEST + 1) * sizeof(*count));
	for (uint32_t i = 0; i < world.ending; i++) {
		const struct job *j = &world.job[world.end[i].job];

		if (t == now || j->start + j->limit > t)
			count[j->segment] += j->nodes / j->segment;
	}
}

/* Whether all of them and a job that starts at *t* can be packed, then and when the head starts. */
static bool fits_moved(const struct job *j, int64_t now, int64_t t)
{
	uint32_t count[BLOCKS_LARGEST + 1];

	blocks_count_running(now, t, count);
	count[j->segment] += j->nodes / j->segment;
	if (blocks_enough(count, SMALL) > world.racks)
		return false;
	if (!world.head || t + j->limit <= world.head_at)
		return true;
	blocks_count_running(now, world.head_at, count);
	count[j->segment] += j->nodes / j->segment;
	count[world.head->segment] += world.head->nodes / world.head->segment;
	return blocks_enough(count, SMALL) <= world.racks;
}

static int64_t fits_moved_later(const struct job *j, int64_t now)
{
	for (int64_t t = now, next;; t = next) {
		next = SL_FOREVER;
		for (uint32_t i = 0; i < world.ending; i++) {
			const struct job *other = &world.job[world.end[i].job];
			int64_t end = other->start + other->limit;

			next = end > t && end < next ? end : next;
		}
		blocks_must(next < SL_FOREVER, &(struct sl_error) { SL_EINVAL, "no time at which a job fits" });
		if (fits_moved(j, now, next))
			return next;
	}
}

int blocks_fit_now(const struct way *w, const struct job *j, int64_t now, struct sl_layout *l)
{
	const struct sl_how how = { .method = w->method, .segment = w->segments ? j->segment : 0 };
	struct sl_request r = request_of(j);
	struct sl_error err = { 0 };
	int rc;

	if (w->moves)
		return fits_moved(j, now, now);
	if (w->model)
		return fit_by_model(w, j, now, l);
	rc = sl_fit_at(world.tl, &r, &how, now, l, NULL, &err);
	blocks_must(rc >= 0, &err);
	return rc;
}

int64_t blocks_fit_later(const struct way *w, const struct job *j, int64_t now, struct sl_layout *l)
{
	const struct sl_how how = { .method = w->method, .segment = w->segments ? j->segment : 0 };
	struct sl_request r = request_of(j);
	struct sl_error err = { 0 };
	int64_t start = now;

	if (w->moves)
		return fits_moved_later(j, now);
	if (w->model) {
		while (!fit_by_model(w, j, start, l)) {
			start = sl_timeline_next(world.tl, start);
			blocks_must(start < SL_FOREVER, &(struct sl_error) { SL_EINVAL, "no time at which a job fits" });
		}
		return start;
	}
	blocks_must(sl_fit_earliest(world.tl, &r, &how, now, SL_FOREVER, &start, l, NULL, &err) > 0, &err);
	return start;
}

