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

static int forecast(struct sl_hindsights *h, struct sl_cluster *c, uint32_t job, int64_t told_s, struct sl_error *err)
{
	struct sl_forecast_options opt = h->opt;
	struct sl_hindsight x = { .job = job, .at_s = sl_cluster_now(c), .told_s = told_s };
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

/* Count a job that is looked at for the first time.  True if a forecast is to be made of it. */
static bool is_due(struct sl_hindsights *h, uint32_t job)
{
	if (h->known[job])
		return false;
	h->known[job] = 1;
	return h->told++ % h->every == 0;
}

/* True if the job at that place of the queue, which does not start now, can start on the whole machine.  *known: that is known. */
static bool can_ever_start(struct sl_cluster *c, uint32_t at, bool *known)
{
	struct sl_totals all;
	uint32_t cores;
	int64_t seconds;

	sl_cluster_totals(c, &all);
	*known = sl_cluster_takes_cores(c, at, &cores, &seconds);
	return cores <= all.cores;
}

/* Jobs that after_pass would count, in its order: h->fresh.  How many, or -1: only the plan itself says it. */
static int64_t find_fresh(struct sl_hindsights *h, struct sl_cluster *c, const struct sl_promise *by)
{
	uint32_t queued, n = 0;
	const struct sl_entry *e = sl_cluster_queue(c, &queued);
	enum sl_plan_rule rule = !h->at_submission && by ? by->rule : SL_RULE_NONE;
	uint32_t looked_at = rule == SL_RULE_CONSERVATIVE && by->window && by->window < queued ? by->window : queued;

	for (uint32_t i = 0; i < looked_at; i++) {
		bool is_told = h->known[e[i].job], known = true;

		if ((is_told && rule != SL_RULE_EASY) || sl_sim_starts(h->sim, e[i].job))
			continue;
		if (!h->at_submission && rule != SL_RULE_CONSERVATIVE && rule != SL_RULE_EASY)
			return -1;
		if (!h->at_submission && !can_ever_start(c, i, &known) && known)
			continue;
		if (!known || sl_grow(&h->fresh, &h->fresh_room, n + UINT64_C(1), sizeof(*h->fresh), NULL))
			return -1;
		if (!is_told)
			h->fresh[n++] = e[i].job;
		if (rule == SL_RULE_EASY)	/* the others have no reservation */
			break;
	}
	return n;
}

bool sl_hindsights_want_plan(struct sl_cluster *c, const struct sl_promise *by, void *hindsights)
{
	struct sl_hindsights *h = hindsights;
	int64_t n = h->known ? find_fresh(h, c, by) : -1, before_next = (h->every - h->told % h->every) % h->every;

	if (n < 0 || n > before_next)
		return true;
	for (int64_t i = 0; i < n; i++)
		(void) is_due(h, h->fresh[i]);
	return false;
}

/* Of each job when it gets its first reservation. */
static int look_at_reserved(struct sl_hindsights *h, struct sl_cluster *c, struct sl_plan *p, struct sl_error *err)
{
	struct sl_booking b;
	uint32_t n;

	sl_plan_reserved(p, &n);
	for (uint32_t i = 0; i < n; i++) {
		if (sl_plan_booking(p, true, i, &b, err))
			return -1;
		if (is_due(h, b.entry.job) && forecast(h, c, b.entry.job, b.start_time, err))
			return -1;
	}
	return 0;
}

/* When the plan has the job start: by its reservation, or by the walltimes of those before it; 0: it does not say. */
static int find_told(struct sl_plan *p, uint32_t job, int64_t *start_s, struct sl_error *err)
{
	struct sl_booking b;
	uint32_t n;
	const struct sl_entry *e = sl_plan_reserved(p, &n);

	*start_s = 0;
	for (uint32_t i = 0; i < n && !*start_s; i++) {
		if (e[i].job != job)
			continue;
		if (sl_plan_booking(p, true, i, &b, err))
			return -1;
		*start_s = b.start_time;
	}
	return 0;
}

/* Of each job that has to wait, when it is submitted. */
static int look_at_submitted(struct sl_hindsights *h, struct sl_cluster *c, struct sl_plan *p, struct sl_error *err)
{
	bool foreseen = false;
	uint32_t n;
	const struct sl_entry *e = sl_cluster_queue(c, &n);

	for (uint32_t i = 0; i < n; i++) {
		int64_t told_s;

		if (sl_plan_job(p, e[i].job) == SL_PLAN_STARTED || !is_due(h, e[i].job))
			continue;
		if (!foreseen && sl_plan_forecast(p, UINT32_MAX, INT64_MAX, err))
			return -1;
		foreseen = true;
		if (find_told(p, e[i].job, &told_s, err) || forecast(h, c, e[i].job, told_s, err))
			return -1;
	}
	return 0;
}

int sl_hindsights_after_pass(struct sl_cluster *c, struct sl_plan *p, void *hindsights, struct sl_error *err)
{
	struct sl_hindsights *h = hindsights;

	if (!h->known && !(h->known = calloc((size_t) sl_cluster_snapshot(c)->job.rows + 1, 1)))
		return sl_fail(err, SL_ENOMEM, "forecast: out of memory");
	return (h->at_submission ? look_at_submitted : look_at_reserved)(h, c, p, err);
}

void sl_hindsights_finish(struct sl_hindsights *h)
{
	learn(h, INT64_MAX);
}

void sl_hindsights_clear(struct sl_hindsights *h)
{
	free(h->item);
	free(h->known);
	free(h->fresh);
	memset(h, 0, sizeof(*h));
}
