/* SPDX-License-Identifier: MIT */
/*
 * plan_shortage.c - why no set of stops makes a place for a job: what is short with all stoppable jobs gone.
 *
 * Numbers show it if too few nodes have what the job needs of each node, if these have too little in all, or if a licence is
 * short.  Otherwise only placement knows (counted features, say), and nothing is noted.
 */
#include "model/plan_private.h"
#include "model/request.h"
#include "model/victims.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

struct finder {
	struct attempt *a;
	struct shortage s;
	int64_t claim[SL_VICTIM_DIMS], have[SL_VICTIM_DIMS], sum[SL_VICTIM_DIMS];
	int64_t nodes, row, longest;	/* suitable nodes; length of the current and the longest run of consecutive ones */
	uint32_t dims, gres;		/* its first row of job_gres */
	bool whole;			/* the request's gres correspond to these rows one by one */
	int64_t *below;			/* [switch] suitable nodes; NULL: no limit on switches */
};

/* Number of switches for which it waits; 0: any. */
static uint32_t most_leaves(const struct finder *f)
{
	const struct sl_cluster *c = f->a->p->c;
	const struct sl_job_view *job = &c->snap->job;
	uint32_t j = f->s.entry.job;
	int64_t since = job->eligible_time[j] > job->submit_time[j] ? job->eligible_time[j] : job->submit_time[j];

	return c->tree.switches && f->s.at < sl_later(since, job->switch_wait[j]) ? job->switches[j] : 0;
}

/* Most suitable nodes within that number of switches. */
static int64_t most_below(struct finder *f)
{
	int64_t sum = 0;

	for (uint32_t k = most_leaves(f); k; k--) {
		uint32_t most = 0;

		for (uint32_t s = 1; s < f->a->p->c->tree.switches; s++)
			most = f->below[s] > f->below[most] ? s : most;
		sum += f->below[most];
		if (!f->below[most])
			break;
		f->below[most] = 0;
	}
	return sum;
}

static uint32_t what_of(uint32_t d)
{
	return d == OF_CORES ? SL_SHORT_CORES : d == OF_MEMORY ? SL_SHORT_MEMORY : SL_SHORT_GRES;
}

/* True if the node has too little in this dimension, and the image can express it. */
static bool is_short(const struct finder *f, uint32_t d)
{
	const struct sl_request *r = &f->a->w->pub.request;
	const struct sl_job_gres_view *g = &f->a->p->c->snap->job_gres;

	if (f->have[d] >= f->claim[d])
		return false;
	return d < OF_GRES || (f->whole && (r->max_nodes == 1 || (g->per[f->gres + d - OF_GRES] == SL_PER_NODE &&
								    r->gres[d - OF_GRES].per == SL_GRES_PER_NODE)));
}

/* Note that the node is short; extends the previous row if the node follows and is equally short. */
static int add_short(struct finder *f, uint32_t n, uint32_t d, struct sl_error *err)
{
	struct sl_plan_short_row row = { .first = n, .last = n, .what = what_of(d), .which = d < OF_GRES ? SL_NONE : f->gres + d - OF_GRES,
					 .needs = f->claim[d], .has = f->have[d] > 0 ? f->have[d] : 0 };
	struct sl_plan_short_row *last = f->s.short_count ? &f->s.shorts[f->s.short_count - 1] : NULL;

	if (last && last->last + 1 == n && last->what == row.what && last->which == row.which && last->needs == row.needs &&
	    last->has == row.has) {
		last->last = n;
		return 0;
	}
	if (sl_grow_list(&f->s.shorts, f->s.short_count, sizeof(row), err))
		return -1;
	f->s.shorts[f->s.short_count++] = row;
	return 0;
}

static int look_at(struct finder *f, uint32_t n, struct sl_error *err)
{
	const struct sl_request *r = &f->a->w->pub.request;
	int64_t end = sl_later(f->s.at, f->s.seconds);
	struct sl_resources there, open;
	bool may = !r->eligible || sl_nodeset_contains(r->eligible, n);
	uint32_t d = 0;

	if (may) {
		sl_timeline_free(f->a->tl, n, f->s.at, end, &open);
		sl_timeline_unbooked(f->a->tl, n, f->s.at, end, &there);
		may = sl_resources_equal(&open, &there);
	}
	if (!may) {
		f->row = 0;
		return 0;
	}
	plan_to_dims(r, &there, f->have);
	plan_claim(r, sl_timeline_kind(f->a->tl, n), f->claim);
	while (d < f->dims && !is_short(f, d))
		d++;
	if (d < f->dims) {
		f->row = 0;
		return add_short(f, n, d, err);
	}
	f->nodes++;
	if (f->below && f->a->p->c->tree.leaf_of[n] != SL_NO_SWITCH)
		f->below[f->a->p->c->tree.leaf_of[n]]++;
	f->longest = ++f->row > f->longest ? f->row : f->longest;
	for (d = 0; d < f->dims; d++)
		f->sum[d] += f->have[d] > 0 ? f->have[d] : 0;
	return 0;
}

/* True if a licence is short. */
static bool find_license(struct finder *f)
{
	const struct sl_cluster *c = f->a->p->c;
	uint32_t j = f->s.entry.job, l;

	if (cluster_any_license(c, j) || plan_licensed(f->a, f->s.at, f->s.seconds))
		return false;
	l = f->a->lack.license;
	f->s.what = SL_SHORT_LICENSE;
	f->s.which = l;
	f->s.needs = sl_cluster_licenses(c, f->a->licenses, l);
	f->s.has = sl_cluster_licenses_left(c, l, f->s.at, f->s.at + 1);
	f->s.has = f->s.has > 0 ? f->s.has : 0;
	return f->s.has < f->s.needs;
}

static bool find_sum(struct finder *f)
{
	const struct sl_request *r = &f->a->w->pub.request;
	int64_t total[SL_VICTIM_DIMS], least = r->min_nodes ? r->min_nodes : 1;

	f->s.which = SL_NONE;
	f->s.needs = least;
	f->s.has = r->contiguous ? f->longest : f->nodes;
	if (f->below) {
		int64_t below = most_below(f);

		f->s.has = below < f->s.has ? below : f->s.has;
	}
	f->s.what = SL_SHORT_NODES;
	if (f->s.has < least)
		return true;
	plan_total(f->a->tl, r, total);
	for (uint32_t d = 0; d < f->dims; d++) {
		if (d == OF_MEMORY || f->sum[d] >= total[d] || (d >= OF_GRES && !f->whole))
			continue;
		f->s.what = what_of(d);
		f->s.which = d < OF_GRES ? SL_NONE : f->gres + d - OF_GRES;
		f->s.needs = total[d];
		f->s.has = f->sum[d];
		return true;
	}
	return false;
}

/* List the running jobs that Slurm would let be stopped but that are in no group. */
static int find_spared(struct finder *f, const struct victim_groups *groups, struct sl_error *err)
{
	const struct sl_cluster *c = f->a->p->c;
	bool *gone = calloc((size_t) c->snap->job.rows + 1, sizeof(*gone));

	f->s.spared = calloc((size_t) c->runs + 1, sizeof(*f->s.spared));
	if (!gone || !f->s.spared) {
		free(gone);
		return plan_no_memory(err);
	}
	for (uint32_t g = 0; g < groups->count; g++)
		for (uint32_t k = 0; k < groups->item[g].jobs; k++)
			gone[groups->item[g].job[k]] = true;
	for (uint32_t i = 0; i < c->runs; i++)
		if (sl_snapshot_may_stop(c->snap, f->s.entry.job, c->running[i])) {
			f->s.stoppable++;
			if (!gone[c->running[i]])
				f->s.spared[f->s.spared_count++] = c->running[i];
		}
	free(gone);
	return 0;
}

/* 1 if there is a shortage, 0 or -1. */
static int find_shortage(struct finder *f, const struct victim_groups *groups, struct sl_error *err)
{
	const struct sl_cluster *c = f->a->p->c;
	bool by_license = find_license(f);

	if (most_leaves(f) && !(f->below = calloc((size_t) c->tree.switches + 1, sizeof(*f->below))))
		return plan_no_memory(err);

	for (uint32_t n = 0; !by_license && n < c->snap->node.rows; n++)
		if (look_at(f, n, err) < 0)
			return -1;
	if (!by_license && !find_sum(f))
		return 0;
	return find_spared(f, groups, err) < 0 ? -1 : 1;
}

static void free_lists(struct shortage *s)
{
	free(s->shorts);
	free(s->spared);
}

/* True if jobs are stopped for others after *t*.  They may be gone earlier than booked, so what is free then is unknown. */
static bool is_beside_stops(const struct sl_plan *p, int64_t t)
{
	for (uint32_t i = 0; i < p->stops; i++)
		if (p->stop[i].from > t)
			return true;
	return false;
}

int plan_note_shortage(struct attempt *a, const struct victim_groups *groups, int64_t t, int64_t seconds, struct sl_error *err)
{
	struct sl_plan *p = a->p;
	const struct sl_request *r = &a->w->pub.request;
	struct sl_entry e = a->w->entry;
	struct sl_range gres = sl_request_read(p->c->snap, e.job, e.shape).gres;
	struct finder f = { .a = a, .dims = OF_GRES + r->gres_needs, .gres = gres.first, .whole = gres.count == r->gres_needs,
			    .s = { .entry = e, .by = p->bys - 1, .at = t, .given_back = p->given_back,
				   .seconds = seconds < a->w->pub.time_floor ? seconds : a->w->pub.time_floor } };
	int rc;

	if (p->shortages == SL_PLAN_SHORTAGES_MAX)
		return 0;
	if (r->parts || r->picks || a->w->pub.native || e.loan || f.s.seconds < 1 || is_beside_stops(p, t))
		return 0;
	rc = find_shortage(&f, groups, err);
	free(f.below);
	if (rc > 0 && p->spared + (uint64_t) f.s.spared_count > SL_PLAN_SPARED_MAX)
		rc = 0;
	if (rc > 0 && sl_grow_list(&p->shortage, p->shortages, sizeof(f.s), err))
		rc = -1;
	if (rc > 0) {
		p->shortage[p->shortages++] = f.s;
		p->spared += f.s.spared_count;
	} else {
		free_lists(&f.s);
	}
	return rc < 0 ? -1 : 0;
}

void plan_free_shortages(struct sl_plan *p)
{
	for (uint32_t i = 0; i < p->shortages; i++)
		free_lists(&p->shortage[i]);
	free(p->shortage);
}
