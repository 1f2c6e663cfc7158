/* SPDX-License-Identifier: MIT */
#include "verbs/compare_grid.h"

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
static double unfinished(const struct sl_result *r) { return (double) r->unfinished; }

const struct sl_compare_figure sl_compare_figures[] = {
	{ "wait_mean_s", "wait s", wait_mean, 0 },
	{ "wait_p99_s", "99 %", wait_p99, 0 },
	{ "wait_max_s", "longest", wait_max, 0 },
	{ "bsld_mean", "bsld", bsld, 2 },
	{ "slowdown_mean", "slowdown", slowdown, 2 },
	{ "utilization", "utilization", utilization, 4 },
	{ "utilization_bound", "at most", bound, 4 },
	{ "gpu_utilization", NULL, gpus, 4 },
	{ "fragmentation_mean", "blocks", fragmentation, 2 },
	{ "spread_mean", "spread", spread, 2 },
	{ "packing_mean", NULL, packing, 4 },
	{ "user_wait_gini", "gini", gini, 3 },
	{ "first_job_wait_mean_s", NULL, first_wait, 0 },
	{ "makespan_s", NULL, makespan, 0 },
	{ "jobs", NULL, jobs, 0 },
	{ "unfinished", NULL, unfinished, 0 },
	{ 0 }
};
_Static_assert(sizeof(sl_compare_figures) / sizeof(sl_compare_figures[0]) <= SL_COMPARE_MOST_FIGURES, "a pair has room for each");

const char *sl_compare_site(const char *policy)
{
	return strncmp(policy, "site=", 5) ? NULL : policy + 5;
}
