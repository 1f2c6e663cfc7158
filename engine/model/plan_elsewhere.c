/* SPDX-License-Identifier: MIT */
/*
 * plan_elsewhere.c - other places for running jobs that are stopped so that a job fits: see preempt.h, "Consolidation".
 *
 * Each of them is placed as if it were pending in the partition in which it runs.  The places are booked one after the other
 * and removed at the end, so the answer is what the next plan will find if it starts the job and then these.
 */
#include "model/plan_elsewhere.h"
#include "model/victims.h"

#include <stdlib.h>

#include "base/order.h"

struct mover {
	uint32_t job;
	uint32_t nodes;
	int64_t cores;
	struct booking *booking;
};

/* The want of a running job, as if it were pending in its partition; NULL with *err. */
static const struct want *want_of(struct sl_plan *p, uint32_t job, struct sl_error *err)
{
	struct sl_entry e = { .job = job, .partition = p->c->snap->job.partition[job] };

	return cluster_want(p->c, e, err);
}

int plan_may_move(struct sl_plan *p, uint32_t job, struct sl_error *err)
{
	const struct want *w;
	struct sl_refusal why;

	if (plan_is_component(p->c, job) || !sl_snapshot_may_stop_so(p->c->snap, job, SL_STOP_REQUEUE))
		return 0;
	w = want_of(p, job, err);
	return w ? w->pub.why == SL_WHY_NONE && !plan_stops_are_selects(p->c, w, &why) : -1;
}

/* -- what is free in sum ----------------------------------------------------------- */

/* Cores of the smallest node. */
static int32_t smallest_node(const struct sl_plan *p, const struct sl_timeline *tl)
{
	int32_t least = INT32_MAX;

	for (uint32_t n = 0; n < p->c->snap->node.rows; n++) {
		int32_t cores = sl_timeline_kind(tl, n)->capacity.cores;

		least = cores < least ? cores : least;
	}
	return least;
}

/* True if the job has the same amount of these kinds wherever it runs; on whole nodes the amount depends on the node. */
static bool keeps_kinds(const struct sl_request *r, uint32_t kinds)
{
	for (uint32_t i = 0; i < r->gres_needs; i++)
		if (r->gres[i].kinds & kinds && (r->gres[i].kinds & ~kinds ||
						 (r->gres[i].per == SL_GRES_PER_NODE && r->min_nodes != r->max_nodes)))
			return false;
	return r->gres_needs && !r->whole_nodes;
}

/* Add to *sum, in the dimensions of *r, what the job holds here but may not need elsewhere.  0 or -1. */
static int add_slack(struct sl_plan *p, const struct sl_request *r, uint32_t job, int32_t smallest, int64_t *sum, struct sl_error *err)
{
	const struct held *h = p->c->held[job];
	const struct want *w = want_of(p, job, err);
	int64_t amount[SL_VICTIM_DIMS], least[SL_VICTIM_DIMS], cores = 0;

	if (!w)
		return -1;
	plan_total(p->c->tl, &w->pub.request, least);
	for (uint32_t i = 0; i < h->count; i++) {
		struct sl_resources held;

		cluster_count_place(p->c, job, h, i, false, &held);
		plan_to_dims(r, &held, amount);
		cores += amount[OF_CORES];
		for (uint32_t k = 0; k < r->gres_needs; k++)
			sum[OF_GRES + k] += keeps_kinds(&w->pub.request, r->gres[k].kinds) ? 0 : amount[OF_GRES + k];
	}
	least[OF_CORES] = w->pub.request.whole_nodes ? (int64_t) w->pub.request.min_nodes * smallest : least[OF_CORES];
	sum[OF_CORES] += cores > least[OF_CORES] ? cores - least[OF_CORES] : 0;
	return 0;
}

int plan_has_enough_in_sum(struct attempt *a, const struct victim_groups *groups, int64_t t, struct sl_refusal *why, struct sl_error *err)
{
	const struct sl_request *r = &a->w->pub.request;
	int64_t total[SL_VICTIM_DIMS], sum[SL_VICTIM_DIMS] = { 0 }, amount[SL_VICTIM_DIMS];
	int32_t smallest = smallest_node(a->p, a->tl);

	plan_total(a->tl, r, total);
	for (uint32_t n = 0; n < a->p->c->snap->node.rows; n++) {
		struct sl_resources open;

		sl_timeline_free(a->tl, n, t, t + 1, &open);
		plan_to_dims(r, &open, amount);
		for (uint32_t d = 0; d < OF_GRES + r->gres_needs; d++)
			sum[d] += amount[d] > 0 ? amount[d] : 0;
	}
	for (uint32_t g = 0; g < groups->count; g++)
		for (uint32_t k = 0; k < groups->item[g].jobs; k++)
			if (add_slack(a->p, r, groups->item[g].job[k], smallest, sum, err) < 0)
				return -1;
	for (uint32_t d = 0; d < OF_GRES + r->gres_needs; d++)
		if (d != OF_MEMORY && sum[d] < total[d]) {
			plan_say(why, SL_WHY_RESOURCES, "others are moved only where enough is free in sum");
			return 0;
		}
	return 1;
}

/* -- places ------------------------------------------------------------------------- */

static int largest_first(const void *a, const void *b)
{
	const struct mover *x = a, *y = b;

	return SL_ORDER(y->nodes, x->nodes) ?: SL_ORDER(y->cores, x->cores) ?: SL_ORDER(x->job, y->job);
}

static struct mover *list_movers(const struct sl_plan *p, const struct victim_groups *groups, const bool *gone, uint32_t *count,
				 struct sl_error *err)
{
	struct mover *m = calloc((size_t) p->c->runs + 1, sizeof(*m));
	uint32_t n = 0;

	if (!m) {
		plan_no_memory(err);
		return NULL;
	}
	for (uint32_t g = 0; g < groups->count; g++)
		for (uint32_t k = 0; gone[g] && k < groups->item[g].jobs; k++) {
			uint32_t job = groups->item[g].job[k];
			const struct held *h = p->c->held[job];

			m[n] = (struct mover) { .job = job, .nodes = h->count };
			for (uint32_t i = 0; i < h->count; i++)
				m[n].cores += h->place[i].cores;
			n++;
		}
	qsort(m, n, sizeof(*m), largest_first);
	*count = n;
	return m;
}

static int place_mover(struct sl_plan *p, struct mover *m, int64_t t, struct sl_error *err)
{
	const struct want *w = want_of(p, m->job, err);
	struct attempt a;
	int64_t time;
	int rc;

	if (!w || plan_attempt(&a, p, w, NULL, err) < 0)
		return -1;
	time = plan_time(p, w, t);
	rc = time ? plan_fits(&a, t, plan_booked(&a, time), true, err) : 0;
	if (rc > 0)
		rc = plan_take(&a, t, time, &m->booking, err);
	plan_attempt_end(&a);
	return rc;
}

static int unite(const struct sl_layout *l, struct sl_nodeset *nodes, struct sl_error *err)
{
	for (uint32_t s = 0; s < l->shares; s++)
		if (sl_nodeset_union(nodes, &l->share[s].nodes, err) < 0)
			return -1;
	return 0;
}

static int note_moves(const struct mover *m, uint32_t jobs, struct sl_move **out, struct sl_error *err)
{
	struct sl_move *move = calloc((size_t) jobs + 1, sizeof(*move));

	if (!move)
		return plan_no_memory(err);
	for (uint32_t i = 0; i < jobs; i++) {
		move[i].job = m[i].job;
		if (unite(&m[i].booking->layout, &move[i].nodes, err) < 0) {
			plan_moves_free(move, jobs);
			return -1;
		}
	}
	*out = move;
	return 0;
}

/* Place all movers.  The job's own nodes are closed meanwhile. */
static int place_all(struct sl_plan *p, struct mover *m, uint32_t jobs, int64_t t, struct sl_move **out, struct sl_error *err)
{
	int rc = 1;

	for (uint32_t i = 0; rc > 0 && i < jobs; i++)
		rc = place_mover(p, &m[i], t, err);
	if (rc > 0 && out && note_moves(m, jobs, out, err) < 0)
		rc = -1;
	for (uint32_t i = jobs; i-- > 0; ) {
		if (m[i].booking && plan_unbook(p, m[i].booking, rc < 0 ? NULL : err) < 0)
			rc = -1;
		plan_free_booking(m[i].booking);
	}
	return rc;
}

int plan_find_elsewhere(struct sl_plan *p, const struct booking *b, const struct victim_groups *groups, const bool *gone, int64_t t,
			struct sl_move **move, uint32_t *moves, struct sl_error *err)
{
	struct kept_free own = { .from = t, .to = SL_FOREVER };
	uint32_t jobs = 0;
	struct mover *m = list_movers(p, groups, gone, &jobs, err);
	int rc = m && !unite(&b->layout, &own.nodes, err) && !plan_keep_free(p, &own, true, err) ? 1 : -1;

	if (rc > 0) {
		rc = place_all(p, m, jobs, t, move, err);
		if (plan_keep_free(p, &own, false, rc < 0 ? NULL : err) < 0)
			rc = -1;
		plan_refusals_forget(p);
	}
	if (rc <= 0 && move) {
		plan_moves_free(*move, jobs);
		*move = NULL;
	}
	if (moves)
		*moves = rc > 0 ? jobs : 0;
	sl_nodeset_free(&own.nodes);
	free(m);
	return rc;
}

void plan_moves_free(struct sl_move *move, uint32_t count)
{
	for (uint32_t i = 0; move && i < count; i++)
		sl_nodeset_free(&move[i].nodes);
	free(move);
}
