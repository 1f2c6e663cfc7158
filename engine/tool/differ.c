/* SPDX-License-Identifier: MIT */
#include "tool/differ.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/map.h"
#include "script/decide.h"
#include "tool/excerpt.h"

#define SHOWN 12		/* jobs of each kind that are named */
#define BUDGET_S 2.0		/* where the site does not say */
#define MOVED_S 60		/* an expected start that moves by less is the same */

/* What a plan says of each job of the snapshot. */
struct outlook {
	int64_t *start;		/* [job row] expected; 0: not known */
	uint64_t *nodes;	/* [job row] of those that start now, a digest of nodes and cores */
	bool *starts;
	struct sl_map rows;	/* by job id */
	char policy[256];
};

static void free_outlook(struct outlook *o)
{
	free(o->start);
	free(o->nodes);
	free(o->starts);
	sl_map_free(&o->rows);
}

static uint64_t digest(const struct sl_plan_image *p, struct sl_range places)
{
	uint64_t h = SL_HASH;

	for (uint32_t i = places.first; i < places.first + places.count; i++)
		h = sl_hash_number(sl_hash_number(h, p->place.node[i]), p->place.cores[i]);
	return h;
}

static void expect(struct outlook *o, uint32_t id, int64_t start)
{
	uint32_t row = sl_map_by_id(&o->rows, id);

	if (row != SL_MAP_NOTHING && !o->start[row])
		o->start[row] = start;
}

static int read_plan(struct outlook *o, const struct sl_snapshot *snap, const struct sl_plan_image *p, struct sl_error *err)
{
	o->start = calloc(snap->job.rows + 1u, sizeof(*o->start));
	o->nodes = calloc(snap->job.rows + 1u, sizeof(*o->nodes));
	o->starts = calloc(snap->job.rows + 1u, sizeof(*o->starts));
	if (!o->start || !o->nodes || !o->starts)
		return sl_fail(err, SL_ENOMEM, "deploy: out of memory");
	for (uint32_t row = 0; row < snap->job.rows; row++)
		if (sl_map_put(&o->rows, sl_hash_id(snap->job.id[row]), row, err))
			return -1;
	for (uint32_t i = 0; i < p->start.rows; i++) {
		uint32_t row = sl_map_by_id(&o->rows, p->start.job[i]);

		if (row == SL_MAP_NOTHING)
			continue;
		o->starts[row] = true;
		o->nodes[row] ^= digest(p, p->start.places[i]);
		expect(o, p->start.job[i], snap->meta.now[0]);
	}
	for (uint32_t i = 0; i < p->reserve.rows; i++)
		expect(o, p->reserve.job[i], p->reserve.start_time[i]);
	for (uint32_t i = 0; i < p->forecast.rows; i++)
		expect(o, p->forecast.job[i], p->forecast.start_time[i]);
	return 0;
}

static void print_stranger(const char *what, void *out)
{
	fprintf(out, "%s\n", what);
	sl_excerpt(what, out);
}

/* *strangers*: where it is said which of the site's partitions the cluster does not have; NULL: nowhere. */
static int decide(const char *site, const char *path, const struct sl_snapshot *snap, struct outlook *o, FILE *strangers,
		  struct sl_error *err)
{
	struct sl_bundle_source source = { .site = site, .path = path };
	struct sl_limits limits = { .budget_us = (int64_t) (BUDGET_S * 1e6) };
	struct sl_decision d = { .forecasts = SL_FORECASTS, .forecast_us = 1000000 };
	char *trace = NULL;
	struct sl_bundle *bundle = sl_bundle_load(&source, NULL, &trace, err);
	int rc = -1;

	if (bundle)
		snprintf(o->policy, sizeof(o->policy), "%s", sl_bundle_figures(bundle)->policy);
	if (bundle && strangers)
		sl_bundle_strangers(bundle, snap, print_stranger, strangers);
	if (bundle && sl_bundle_figures(bundle)->budget_s > 0)
		limits.budget_us = (int64_t) llround(sl_bundle_figures(bundle)->budget_s * 1e6);
	if (bundle && !sl_decide(bundle, snap, &limits, sl_clock_us(), &d, err)) {
		if (d.policy.code)
			*err = d.policy;
		else
			rc = read_plan(o, snap, &d.plan, err);
	}
	sl_decision_clear(&d);
	sl_bundle_destroy(bundle);
	free(trace);
	return rc;
}

/* Kinds of differences. */
enum kind { STARTS, STARTS_NOT, ELSEWHERE, EARLIER, LATER, KINDS };

static const char *const words[KINDS] = { "would start now", "would not start now", "would start on other nodes or cores",
					  "are expected earlier", "are expected later" };

static enum kind kind_of(const struct outlook *a, const struct outlook *b, uint32_t row)
{
	if (a->starts[row] != b->starts[row])
		return b->starts[row] ? STARTS : STARTS_NOT;
	if (a->starts[row])
		return a->nodes[row] == b->nodes[row] ? KINDS : ELSEWHERE;
	if (!a->start[row] || !b->start[row] || llabs(a->start[row] - b->start[row]) < MOVED_S)
		return KINDS;
	return b->start[row] < a->start[row] ? EARLIER : LATER;
}

static void print_kind(const struct sl_snapshot *snap, const struct outlook *a, const struct outlook *b, enum kind kind, FILE *out)
{
	uint32_t n = 0;

	for (uint32_t row = 0; row < snap->job.rows; row++)
		n += kind_of(a, b, row) == kind;
	if (!n)
		return;
	fprintf(out, "  %" PRIu32 " %s:", n, words[kind]);
	for (uint32_t row = 0, shown = 0; row < snap->job.rows && shown < SHOWN; row++)
		if (kind_of(a, b, row) == kind)
			fprintf(out, "%s %" PRIu32, shown++ ? "," : "", snap->job.id[row]);
	fprintf(out, "%s\n", n > SHOWN ? ", ..." : "");
}

static void print_all(const struct sl_snapshot *snap, const struct outlook *a, const struct outlook *b, FILE *out)
{
	uint32_t differ = 0;

	for (uint32_t row = 0; row < snap->job.rows; row++)
		differ += kind_of(a, b, row) != KINDS;
	if (!differ)
		fputs("no job would start differently on the cluster as it is\n", out);
	else
		fprintf(out, "%" PRIu32 " job%s would start differently on the cluster as it is:\n", differ, differ == 1 ? "" : "s");
	for (enum kind kind = 0; kind < KINDS; kind++)
		print_kind(snap, a, b, kind, out);
}

int sl_differ(const char *before, const char *after, const char *path, const struct sl_snapshot *snap, FILE *out,
	      char policy[256], struct sl_error *err)
{
	struct outlook a = { 0 }, b = { 0 };
	struct sl_error old = { 0 };
	int rc = decide(after, path, snap, &b, out, err);

	if (!rc && before && !decide(before, path, snap, &a, NULL, &old))
		print_all(snap, &a, &b, out);
	else if (!rc)
		fprintf(out, "not compared: %s\n", before ? old.text : "there is no site file yet");
	snprintf(policy, sizeof(b.policy), "%s", b.policy);
	free_outlook(&a);
	free_outlook(&b);
	return rc;
}
