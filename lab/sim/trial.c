/* SPDX-License-Identifier: MIT */
#include "sim/trial.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "mip/mip.h"

int sl_trial_open(struct sl_trial *t, const struct sl_trial_options *opt, struct sl_error *err)
{
	memset(t, 0, sizeof(*t));
	t->bundle = sl_bundle_load(&opt->source, &t->limits, &t->trace, err);
	if (!t->bundle)
		return -1;
	if (!opt->loaded)
		t->own = sl_workload_load(opt->workload, &opt->workload_options, err);
	t->workload = opt->loaded ? opt->loaded : t->own;
	if (!t->workload)
		return -1;
	t->script = sl_script_create(t->bundle, &t->limits, err);
	if (!t->script)
		return -1;
	t->sim = sl_sim_create(t->workload, t->script, &opt->sim, err);
	return t->sim ? 0 : -1;
}

int sl_trial_go(struct sl_trial *t, bool bound, struct sl_error *err)
{
	const struct sl_workload *w = t->workload;
	double since = sl_clock_s(), cpu = sl_clock_cpu_s(), solver = sl_mip_solver_s();
	uint64_t hung = sl_mip_hung();
	int rc;

	sl_mip_keep();
	rc = sl_sim_run(t->sim, &t->trace, err);
	sl_mip_release();
	cpu = sl_clock_cpu_s() - cpu + sl_mip_solver_s() - solver;
	if (rc < 0 || sl_sim_result(t->sim, &t->result, err) < 0)
		return -1;
	t->result.solves_cut = sl_mip_hung() - hung;
	t->result.sim_wall_s = sl_clock_s() - since;
	t->result.sim_cpu_s = cpu;
	if (bound && !rc && sl_bound_makespan(&w->snap, w->runtime_s, &t->result.bound, err) < 0)
		return -1;
	return rc;
}

void sl_trial_close(struct sl_trial *t)
{
	sl_sim_destroy(t->sim);
	sl_script_destroy(t->script);
	sl_bundle_destroy(t->bundle);
	sl_workload_destroy(t->own);
	free(t->trace);
	memset(t, 0, sizeof(*t));
}
