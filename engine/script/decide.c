/* SPDX-License-Identifier: MIT */
#include "script/decide.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "check/check.h"
#include "script/private.h"

void sl_decision_clear(struct sl_decision *d)
{
	sl_builder_destroy(d->builder);
	sl_builder_destroy(d->spare);
	free(d->trace);
	*d = (struct sl_decision) { 0 };
}

/* Forget the last decision, keep the builder's memory. */
static int restart(struct sl_decision *d, struct sl_error *err)
{
	struct sl_builder *b = d->builder, *spare = d->spare;

	free(d->trace);
	*d = (struct sl_decision) { .builder = b, .spare = spare, .usage = d->usage, .history = d->history,
				    .stand_in = d->stand_in, 
				    .hold = d->hold, .hold_why = d->hold_why, .forecasts = d->forecasts,
				    .forecast_us = d->forecast_us };
	if (b)
		sl_builder_reset(b);
	else
		d->builder = sl_builder_create(&sl_plan_schema, err);
	return d->builder ? 0 : -1;
}

/* Let the policies decide into *plan*; how they failed is not a failure here. */
static int run_policies(const struct sl_bundle *bundle, struct sl_cluster *cluster, struct sl_plan *plan,
			const struct sl_limits *limits, struct sl_plan_figures *fig, struct sl_remember **memory,
			struct sl_decision *d, struct sl_error *err)
{
	int64_t since = sl_clock_us();
	struct sl_error said = { 0 };
	struct sl_script *script;
	struct sl_limits left;
	int rc;

	sl_bundle_refresh(bundle);
	script = sl_script_create(bundle, limits, err);
	/* running its files is a part of deciding */
	if (!script || sl_limits_left(limits, since, &left, err)) {
		sl_script_destroy(script);
		return -1;
	}
	if (d->stand_in)
		sl_script_stand_in(script);
	if (d->hold)
		sl_script_hold(script, d->hold, d->hold_why);
	rc = sl_script_decide(script, cluster, plan, &left, fig, &d->trace, &said);
	snprintf(d->held, sizeof(d->held), "%s", sl_script_held(script));
	sl_script_memory(script, &d->lua_peak);
	*memory = sl_script_take_memory(script);
	sl_script_destroy(script);
	if (rc < 0) {
		if (err)
			*err = said;
		return -1;
	}
	if (rc > 0)
		d->policy = said;
	return 0;
}

/* The plan becomes one without the rows that the checker refused, and remembers that.  0, or -1 with *err. */
static int cut_plan(struct sl_decision *d, const struct sl_cuts *cuts, const struct sl_remember *memory,
		    struct sl_error *err)
{
	struct sl_builder *b = d->spare;
	struct sl_plan_image rest;
	const void *bytes;
	size_t size;

	if (b)
		sl_builder_reset(b);
	else if (!(b = d->spare = sl_builder_create(&sl_plan_schema, err)))
		return -1;
	if (sl_plan_cut(&d->plan, cuts, memory, b, err) || sl_builder_finish(b, &bytes, &size, err) ||
	    sl_plan_image_open(&rest, bytes, size, err))
		return -1;
	d->spare = d->builder;
	d->builder = b;
	d->plan = rest;
	d->bytes = bytes;
	d->size = size;
	return 0;
}

/* One row that is wrong costs one job, which is left out of the next plans.  What is left is checked as a whole
 * again: what is carried out has passed the checker as it is. */
static void check_plan(struct sl_decision *d, const struct sl_snapshot *snap, struct sl_plan *plan,
		       struct sl_remember *memory)
{
	struct sl_cuts cuts = { 0 };

	if (!sl_check_rows(snap, &d->plan, &cuts, &d->check) && cuts.count) {
		sl_plan_leave_out_refused(plan, &d->plan, &cuts);
		sl_script_remember_left_out(memory, plan);
		if (!cut_plan(d, &cuts, memory, &d->check))
			(void) sl_check_plan(snap, &d->plan, &d->check);
	}
	d->check_bookings = cuts.bookings;
	sl_cuts_free(&cuts);
}

int sl_decision_faultless(const struct sl_decision *d, struct sl_error *err)
{
	const struct sl_plan_refused_view *r = &d->plan.refused;

	if (d->check.code) {
		if (err)
			*err = d->check;
		return -1;
	}
	if (!r->rows)
		return 0;
	return sl_fail(err, SL_EINVAL, "the checker refused %" PRIu32 " row%s of the plan; job %" PRIu32 ": %s: %s", r->rows,
		       r->rows == 1 ? "" : "s", r->job[0], sl_refused_word(r->was[0]), sl_image_str(&d->plan.image, r->text[0]));
}

int sl_decide(const struct sl_bundle *bundle, const struct sl_snapshot *snap, const struct sl_limits *limits,
	      int64_t since, struct sl_decision *d, struct sl_error *err)
{
	struct sl_limits left;
	struct sl_plan_figures fig = { 0 };
	struct sl_cluster *cluster = NULL;
	struct sl_remember *memory = NULL;
	struct sl_plan *plan = NULL;
	int rc = -1;

	if (restart(d, err) || !(cluster = sl_cluster_create(snap, err)) || !(plan = sl_plan_create(cluster, err)))
		goto error;
	if (d->usage)
		sl_cluster_set_usage(cluster, d->usage);
	if (d->history) {
		sl_history_begin(d->history);
		sl_cluster_set_history(cluster, d->history);
	}
	if (sl_limits_left(limits, since, &left, err))
		goto error;
	if (run_policies(bundle, cluster, plan, &left, &fig, &memory, d, err))
		goto error;
	if (d->forecasts && sl_plan_forecast(plan, d->forecasts, sl_clock_us() + d->forecast_us, err) < 0)
		goto error;
	/* what the script said of it is gone with the script */
	fig.error = d->policy.code && !fig.truncated ? d->policy.text : NULL;
	fig.total_us = sl_clock_us() - since;
	if (sl_plan_encode(plan, &fig, d->builder, err))
		goto error;
	sl_remember_encode(memory, d->builder, SL_P_REMEMBERED);
	sl_cluster_encode_history(cluster, d->builder, SL_P_HISTORY);
	if (sl_builder_finish(d->builder, &d->bytes, &d->size, err) ||
	    sl_plan_image_open(&d->plan, d->bytes, d->size, err))
		goto error;
	check_plan(d, snap, plan, memory);
	rc = 0;
error:
	sl_remember_destroy(memory);
	sl_plan_destroy(plan);
	sl_cluster_destroy(cluster);
	return rc;
}

int sl_decide_explain(const struct sl_bundle *bundle, const struct sl_snapshot *snap,
		      const struct sl_usage_provider *usage, struct sl_history *history, const struct sl_limits *limits,
		      uint32_t job_id, char **text, struct sl_standing *standing, char **trace,
		      struct sl_error *err)
{
	struct sl_cluster *cluster = sl_cluster_create(snap, err);
	struct sl_plan *plan = cluster ? sl_plan_create(cluster, err) : NULL;
	const int64_t since = sl_clock_us();
	struct sl_script *script = plan ? sl_script_create(bundle, limits, err) : NULL;
	struct sl_limits left;
	int rc = -1;

	*text = *trace = NULL;
	if (cluster && usage)
		sl_cluster_set_usage(cluster, usage);
	if (cluster && history) {
		sl_history_begin(history);
		sl_cluster_set_history(cluster, history);
	}
	if (script && !sl_limits_left(limits, since, &left, err))
		rc = sl_script_explain(script, cluster, plan, &left, job_id, text, standing, trace, err);
	sl_script_destroy(script);
	sl_plan_destroy(plan);
	sl_cluster_destroy(cluster);
	return rc;
}
