/* SPDX-License-Identifier: MIT */
#include "timeline/place.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "timeline/place_impl.h"

/* -- words ------------------------------------------------------------- */

static const char *const method_word[SL_PLACE_EXPLICIT] = {
	[SL_PLACE_BESTFIT] = "bestfit", [SL_PLACE_CONTIGUOUS] = "contiguous", [SL_PLACE_PACK] = "pack",
	[SL_PLACE_SPREAD] = "spread", [SL_PLACE_TIGHT] = "tight", [SL_PLACE_LEAST_LOADED] = "least_loaded", [SL_PLACE_LAST] = "last",
	[SL_PLACE_LEAST_LEFT] = "least_left", [SL_PLACE_WORST_FIT] = "worst_fit", [SL_PLACE_DOT_PRODUCT] = "dot_product",
	[SL_PLACE_GPU_PACKING] = "gpu_packing", [SL_PLACE_GPU_CLUSTERING] = "gpu_clustering", [SL_PLACE_FGD] = "fgd",
	[SL_PLACE_BLOCKS] = "blocks", [SL_PLACE_NATIVE] = "native",
};

int sl_place_method(const char *name, struct sl_error *err)
{
	for (int m = 0; m < SL_PLACE_EXPLICIT; m++) {
		if (method_word[m] && !strcmp(name, method_word[m]))
			return m;
	}
	return sl_fail(err, SL_EINVAL, "place \"%.40s\": expected bestfit, contiguous, pack, spread, tight, least_loaded, last, "
		       "least_left, worst_fit, dot_product, gpu_packing, gpu_clustering, fgd, blocks or native", name);
}

/* -- at one time ------------------------------------------------------- */

static bool includes_all(const struct sl_timeline *tl, const struct sl_need *need)
{
	return !need->r->eligible || need->r->eligible->count == tl->nodes;
}

#define EFFORT_OF_FIT 40	/* units of work of each placement, beside those for what it looks at */

static int prepare(const struct sl_timeline *tl, const struct sl_request *r, const struct sl_how *how,
		   struct sl_need *need, struct sl_misfit *misfit, struct sl_error *err)
{
	if (sl_request_check(r, err))
		return -1;
	if ((unsigned) how->method >= SL_PLACE_METHODS)
		return sl_fail(err, SL_EINVAL, "place: no method %d", how->method);
	if (how->segment && r->parts)
		return sl_fail(err, SL_EINVAL, "place: segments beside counts of nodes of each part");
	if (sl_effort_spend(tl->effort, EFFORT_OF_FIT, err))
		return -1;
	if (sl_need_of(tl, r, need, misfit))
		return 0;
	if (tl->tree && r->segment)
		need->segment = r->segment;
	else if (tl->tree && how->method != SL_PLACE_NATIVE && need->max_nodes >= how->segment)
		need->segment = how->segment;
	return 1;
}

/* Place the request with a sheet, for a start now. */
static int fit_from_sheet(struct sl_timeline *tl, const struct sl_need *need, struct sl_sheet *sheet, bool scored,
			  struct sl_layout *layout, struct sl_misfit *misfit, struct sl_error *err)
{
	struct sl_sums sums = *sl_sheet_sums(sheet);
	enum sl_lack lack;
	int rc;

	if (sl_effort_spend(tl->effort, 0, err))
		return -1;
	if (!includes_all(tl, need) && sl_sheet_sets(tl, sheet, need->r->eligible, &sums, err))
		return -1;
	lack = sl_sums_lack(&sums, need);
	if (lack != SL_LACK_NOTHING) {
		sl_misfit_from(misfit, need, &sums, lack);
		return 0;
	}
	rc = layout ? sl_choose_from_sheet(tl, need, sheet, scored, misfit, err) : 1;
	return rc == 1 && layout && sl_deal(tl, need, false, layout, err) ? -1 : rc;
}

/* True if enough in sum may not suffice, because a score can refuse nodes. */
static bool may_refuse(const struct sl_need *need, enum sl_place_method method)
{
	return method == SL_PLACE_OWN || need->least_score;
}

static int fit_method(struct sl_timeline *tl, const struct sl_need *need, enum sl_place_method method, int64_t t,
		      struct sl_layout *layout, struct sl_misfit *misfit, struct sl_error *err)
{
	struct sl_sheet *sheet;
	struct sl_sums sums;
	enum sl_lack lack;
	int rc;

	sheet = t == tl->now ? sl_sheet_of(tl, need, method, layout) : NULL;
	if (sheet)
		return fit_from_sheet(tl, need, sheet, sl_place_has_score(method), layout, misfit, err);
	rc = sl_gather(tl, need, t, !layout && !need->r->contiguous && method != SL_PLACE_CONTIGUOUS && !may_refuse(need, method) &&
		       !(tl->tree && need->r->max_leaves) && !need->segment, &sums, err);
	if (rc)
		return rc;
	lack = sl_sums_lack(&sums, need);
	if (lack != SL_LACK_NOTHING) {
		sl_misfit_from(misfit, need, &sums, lack);
		if (misfit && lack == SL_LACK_REQUIRED)
			misfit->node = sl_required_missing(tl, need);
		return 0;
	}
	rc = sl_choose(tl, need, method, t, misfit, err);
	if (rc == 1 && layout && sl_deal(tl, need, method == SL_PLACE_SPREAD, layout, err))
		return -1;
	return rc;
}

/* A request with picks of its own is placed explicitly, whatever the method. */
static struct sl_how how_of(const struct sl_request *r, const struct sl_how *how)
{
	return r->picks ? (struct sl_how) { .method = SL_PLACE_EXPLICIT, .picks = r->pick, .count = r->picks } : *how;
}

/* Place one request: at *from* if *start is NULL, else at the first possible time from *from* to *latest*. */
static int fit_one(struct sl_timeline *tl, const struct sl_request *r, const struct sl_how *how, int64_t from, int64_t latest,
		   int64_t *start, struct sl_layout *layout, struct sl_misfit *misfit, struct sl_error *err)
{
	const struct sl_how own = how_of(r, how);
	struct sl_need need;
	int rc = prepare(tl, r, &own, &need, misfit, err);

	if (rc <= 0)
		return rc;
	if (latest < from)
		return sl_refuse(misfit, SL_LACK_TIME, 0, 0);
	if (own.method == SL_PLACE_EXPLICIT)
		return sl_explicit_fit(tl, &need, &own, from, latest, start, layout, misfit, err);
	if (start)
		return sl_sweep(tl, &need, own.method, from, latest, start, layout, misfit, err);
	need.least_score = own.least;
	return fit_method(tl, &need, own.method, from, layout, misfit, err);
}

int sl_fit_at(struct sl_timeline *tl, const struct sl_request *r, const struct sl_how *how, int64_t t,
	      struct sl_layout *layout, struct sl_misfit *misfit, struct sl_error *err)
{
	t = sl_max_signed(t, tl->now);
	if (layout)
		sl_layout_clear(layout);
	return r->parts ? sl_parts_at(tl, r, how, t, layout, misfit, err) : fit_one(tl, r, how, t, t, NULL, layout, misfit, err);
}

int sl_fit_earliest(struct sl_timeline *tl, const struct sl_request *r, const struct sl_how *how,
		    int64_t from, int64_t latest, int64_t *start, struct sl_layout *layout,
		    struct sl_misfit *misfit, struct sl_error *err)
{
	int64_t at;
	int rc;

	if (layout)
		sl_layout_clear(layout);
	from = sl_max_signed(from, tl->now);
	rc = r->parts ? sl_parts_earliest(tl, r, how, from, latest, &at, layout, misfit, err) :
			fit_one(tl, r, how, from, latest, &at, layout, misfit, err);
	if (rc == 1 && start)
		*start = at;
	return rc;
}

int64_t sl_fit_least_cores(const struct sl_timeline *tl, const struct sl_request *r)
{
	struct sl_need need;
	int64_t cores, each;

	if (sl_request_check(r, NULL) || sl_need_of(tl, r, &need, NULL))
		return 0;
	each = sl_min_signed(need.given_cores, need.least_cores);
	if (need.whole)
		each = sl_max_signed(each, tl->least_cores);
	if (need.beside > 0)
		return each * need.min_nodes;
	cores = need.units > INT64_MAX / need.unit_cores ? 0 : need.units * need.unit_cores / need.core_units;
	return sl_max_signed(cores, each * need.min_nodes);
}

bool sl_fit_may_move(struct sl_timeline *tl, const struct sl_request *r, const struct sl_layout *layout, int64_t t)
{
	struct sl_need need;
	struct sl_sums sums;

	if (r->parts || sl_request_check(r, NULL) || sl_need_of(tl, r, &need, NULL) || need.jobs ||
	    layout->nodes != need.min_nodes || need.units != (int64_t) need.least * need.min_nodes)
		return true;
	return sl_gather(tl, &need, t, false, &sums, NULL) || sums.nodes;
}

/* How many nodes take how many units.  Of more sizes than this the first ones count: the answer is then that of a smaller
 * machine. */
struct sizes {
	uint32_t n;
	struct size { uint32_t units; uint64_t nodes; } at[64];
};

static void count_size(struct sizes *sizes, uint32_t units, uint32_t nodes)
{
	uint32_t i = 0;

	while (i < sizes->n && sizes->at[i].units != units)
		i++;
	if (i == sizeof(sizes->at) / sizeof(sizes->at[0]))
		return;
	if (i == sizes->n)
		sizes->at[sizes->n++] = (struct size) { .units = units };
	sizes->at[i].nodes += nodes;
}

/* Units that the *nodes* largest take. */
static int64_t largest_take(struct sizes sizes, uint64_t nodes)
{
	int64_t sum = 0;

	while (nodes && sizes.n) {
		struct size *most = &sizes.at[0];
		uint64_t n;

		for (uint32_t i = 1; i < sizes.n; i++)
			if (sizes.at[i].units > most->units)
				most = &sizes.at[i];
		n = sl_min(nodes, most->nodes);
		sum += (int64_t) n * most->units;
		nodes -= n;
		*most = sizes.at[--sizes.n];
	}
	return sum;
}

bool sl_fit_outgrows_gres(const struct sl_timeline *tl, const struct sl_request *r, struct sl_request *each)
{
	struct sizes sizes = { .n = 0 };
	uint32_t pieces = 0;
	struct sl_need need;

	if (!sl_request_has_job_gres(r) || sl_request_check(r, NULL))
		return false;
	*each = *r;
	for (uint32_t i = 0; i < r->gres_needs; i++) {
		if (r->gres[i].per != SL_GRES_PER_JOB)
			continue;
		pieces = sl_max(pieces, r->gres[i].count);
		each->gres[i] = (struct sl_gres_need) { .kinds = r->gres[i].kinds, .per = SL_GRES_PER_NODE, .count = 1 };
	}
	if (sl_need_of(tl, each, &need, NULL))
		return false;
	for (uint32_t k = 0; k < tl->kinds; k++) {
		const struct sl_nodeset *nodes = &tl->kind_nodes[k];
		struct sl_offer o = { .free = tl->kind[k].capacity };

		if (sl_need_offer(&need.node, &tl->kind[k].capacity, &o))
			count_size(&sizes, o.units, r->eligible ? sl_nodeset_common(nodes, r->eligible) : nodes->count);
	}
	pieces = sl_max(pieces, need.min_nodes);
	return largest_take(sizes, sl_min(pieces, need.max_nodes)) < need.units && largest_take(sizes, need.max_nodes) >= need.units;
}
