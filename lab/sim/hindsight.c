/* SPDX-License-Identifier: MIT */
/*
 * hindsight.c - what forecasts along a simulation would have been worth (sim/forecast.h).
 */
#include "sim/forecast.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* Learn from those that have started by now; the others stay at the end. */
static void learn(struct sl_hindsights *h, int64_t now)
{
	const struct sl_sim_job *job = sl_sim_schedule(h->sim);

	for (uint32_t i = h->waiting; i < h->count; i++) {
		struct sl_hindsight x = h->item[i];

		x.start_s = job[x.job].start_s;
		if (!x.start_s || x.start_s > now)
			continue;
		sl_calibrator_learn(h->calibrator, &x.expected, x.start_s - x.at_s);
		memmove(h->item + h->waiting + 1, h->item + h->waiting, (i - h->waiting) * sizeof(x));
		h->item[h->waiting++] = x;
	}
}

static int forecast(struct sl_hindsights *h, struct sl_cluster *c, const struct sl_booking *b, struct sl_error *err)
{
	struct sl_forecast_options opt = h->opt;
	struct sl_hindsight x = { .job = b->entry.job, .at_s = sl_cluster_now(c), .told_s = b->start_time };
	struct sl_forecast f = { 0 };
	char *trace = NULL;
	int rc;

	if (sl_grow(&h->item, &h->room, h->count + 1, sizeof(x), err))
		return -1;
	learn(h, x.at_s);
	opt.only = sl_cluster_snapshot(c)->job.id[x.job];
	opt.seed += h->told;
	rc = sl_forecast_make(c, &opt, &f, &trace, err);
	if (!rc) {
		x.expected = sl_calibrate(h->calibrator, f.wait, f.draws);
		h->item[h->count++] = x;
	}
	sl_forecast_clear(&f);
	free(trace);
	return rc;
}

int sl_hindsights_after_pass(struct sl_cluster *c, struct sl_plan *p, void *hindsights, struct sl_error *err)
{
	struct sl_hindsights *h = hindsights;
	struct sl_booking b;
	uint32_t n;

	if (!h->known && !(h->known = calloc((size_t) sl_cluster_snapshot(c)->job.rows + 1, 1)))
		return sl_fail(err, SL_ENOMEM, "forecast: out of memory");
	sl_plan_reserved(p, &n);
	for (uint32_t i = 0; i < n; i++) {
		if (sl_plan_booking(p, true, i, &b, err))
			return -1;
		if (h->known[b.entry.job])
			continue;
		h->known[b.entry.job] = 1;
		if (h->told++ % h->every == 0 && forecast(h, c, &b, err))
			return -1;
	}
	return 0;
}

void sl_hindsights_finish(struct sl_hindsights *h)
{
	learn(h, INT64_MAX);
}

void sl_hindsights_clear(struct sl_hindsights *h)
{
	free(h->item);
	free(h->known);
	memset(h, 0, sizeof(*h));
}
