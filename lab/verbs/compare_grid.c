/* SPDX-License-Identifier: MIT */
#include "verbs/compare_grid.h"

#include <stdio.h>
#include <string.h>

static double wait_mean(const struct sl_result *r) { return r->wait_s.mean; }
static double wait_max(const struct sl_result *r) { return r->wait_s.max; }
static double wait_p99(const struct sl_result *r) { return r->wait_p99_s; }
static double bsld(const struct sl_result *r) { return r->bsld.mean; }
static double slowdown(const struct sl_result *r) { return r->slowdown.mean; }
static double utilization(const struct sl_result *r) { return r->utilization; }
static double bound(const struct sl_result *r) { return r->bound.utilization; }
static double gpus(const struct sl_result *r) { return r->gpu_utilization; }
static double fragmentation(const struct sl_result *r) { return r->fragmentation.mean; }
static double spread(const struct sl_result *r) { return r->spread.mean; }
static double packing(const struct sl_result *r) { return r->packing.mean; }
static double gini(const struct sl_result *r) { return r->user_wait_gini; }
static double first_wait(const struct sl_result *r) { return r->first_wait_mean_s; }
static double makespan(const struct sl_result *r) { return (double) r->makespan_s; }
static double jobs(const struct sl_result *r) { return (double) r->jobs; }
static double stops(const struct sl_result *r) { return (double) r->stopped.stops; }
static double lost_core_s(const struct sl_result *r) { return r->stopped.lost_core_s; }
static double lost_gpu_s(const struct sl_result *r) { return r->stopped.lost_gpu_s; }
static double lost_core_share(const struct sl_result *r) { return r->stopped.lost_core_share; }
static double lost_gpu_share(const struct sl_result *r) { return r->stopped.lost_gpu_share; }
static double preemptor_wait(const struct sl_result *r) { return r->preemptor_wait_mean_s; }
static double unfinished(const struct sl_result *r) { return (double) r->unfinished; }

#define FIGURE(...) { __VA_ARGS__, .of_stops = false }
const struct sl_compare_figure sl_compare_figures[] = {
	FIGURE("wait_mean_s", "wait s", wait_mean, 0),
	FIGURE("wait_p99_s", "99 %", wait_p99, 0),
	FIGURE("wait_max_s", "longest", wait_max, 0),
	FIGURE("bsld_mean", "bsld", bsld, 2),
	FIGURE("slowdown_mean", "slowdown", slowdown, 2),
	FIGURE("utilization", "utilization", utilization, 4),
	FIGURE("utilization_bound", "at most", bound, 4),
	FIGURE("gpu_utilization", NULL, gpus, 4),
	FIGURE("fragmentation_mean", "blocks", fragmentation, 2),
	FIGURE("spread_mean", "spread", spread, 2),
	FIGURE("packing_mean", NULL, packing, 4),
	FIGURE("user_wait_gini", "gini", gini, 3),
	FIGURE("first_job_wait_mean_s", NULL, first_wait, 0),
	FIGURE("makespan_s", NULL, makespan, 0),
	FIGURE("jobs", NULL, jobs, 0),
	FIGURE("unfinished", NULL, unfinished, 0),
	{ "stops", "stops", stops, 0, .of_stops = true },
	{ "lost_core_s", "lost core-h", lost_core_s, 1, .of_stops = true, .unit = 3600 },
	{ "lost_gpu_s", "lost GPU-h", lost_gpu_s, 1, .of_stops = true, .of_gpus = true, .unit = 3600 },
	{ "lost_core_share", "% lost", lost_core_share, 2, .of_stops = true, .unit = 0.01 },
	{ "lost_gpu_share", "% of GPUs", lost_gpu_share, 2, .of_stops = true, .of_gpus = true, .unit = 0.01 },
	{ "preemptor_wait_mean_s", "preemptors' wait s", preemptor_wait, 0, .of_stops = true },
	{ 0 }
};
_Static_assert(sizeof(sl_compare_figures) / sizeof(sl_compare_figures[0]) <= SL_COMPARE_MOST_FIGURES, "a pair has room for each");

bool sl_compare_has(const struct sl_compare_grid *g, size_t figure)
{
	return g->stops || !sl_compare_figures[figure].of_stops;
}

static bool has_gpus(const struct sl_compare_grid *g)
{
	for (uint32_t i = 0; i < g->trials; i++)
		if (g->outcome[i].result.gpus)
			return true;
	return false;
}

bool sl_compare_shows(const struct sl_compare_grid *g, bool of_stops, size_t figure)
{
	const struct sl_compare_figure *f = &sl_compare_figures[figure];

	return f->title && f->of_stops == of_stops && (!f->of_gpus || has_gpus(g));
}

const char *sl_compare_titles(const struct sl_compare_grid *g, bool of_stops, const char *first, char titles[SL_COMPARE_TITLES])
{
	size_t n = (size_t) snprintf(titles, SL_COMPARE_TITLES, "%s", first);

	for (size_t f = 0; sl_compare_figures[f].key; f++)
		if (sl_compare_shows(g, of_stops, f) && n < SL_COMPARE_TITLES)
			n += (size_t) snprintf(titles + n, SL_COMPARE_TITLES - n, ",>%s", sl_compare_figures[f].title);
	return titles;
}

double sl_compare_in_unit(size_t figure, double value)
{
	return sl_compare_figures[figure].unit > 0 ? value / sl_compare_figures[figure].unit : value;
}

bool sl_compare_met_stops(const struct sl_compare_grid *g)
{
	for (uint32_t i = 0; i < g->trials; i++)
		if (!g->outcome[i].err.code && sl_result_has_stops(&g->outcome[i].result))
			return true;
	return false;
}

const char *sl_compare_site(const char *policy)
{
	return strncmp(policy, "site=", 5) ? NULL : policy + 5;
}
