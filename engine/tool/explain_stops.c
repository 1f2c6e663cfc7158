/* SPDX-License-Identifier: MIT */
#include "tool/explain_stops.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "image/shortage.h"

#define SHOWN 20

static bool may_preempt(const struct sl_snapshot *snap, uint32_t id)
{
	for (uint32_t j = 0; j < snap->job.rows; j++)
		if (snap->job.id[j] == id)
			return sl_snapshot_may_preempt(snap, j);
	return false;
}

/* The jobs that the plan stops for it, and how they were chosen. */
static void print_stopped(const struct sl_plan_image *plan, uint32_t id, FILE *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < plan->stop.rows; i++)
		if (plan->stop.preemptor[i] == id && n++ < SHOWN)
			fprintf(out, "%s job %" PRIu32, n > 1 ? "," : plan->stop.moves[i] ? "  moved for it:" : "  stopped for it:",
				plan->stop.job[i]);
	if (n > SHOWN)
		fprintf(out, ", and %" PRIu32 " more", n - SHOWN);
	for (uint32_t i = 0; n && i < plan->hold.rows; i++)
		if (plan->hold.job[i] == id)
			fprintf(out, " (the plan %s)", sl_image_str(&plan->image, plan->hold.because[i]));
	if (n)
		fputc('\n', out);
}

static void print_shortage(const struct sl_snapshot *snap, const struct sl_plan_image *plan, uint32_t id, FILE *out)
{
	char words[SL_SHORTAGE_TEXT];
	uint32_t *jobs;

	if (sl_shortage_jobs(snap, plan, &jobs, NULL) < 0)
		return;
	for (uint32_t i = 0; i < plan->shortage.rows; i++)
		if (plan->shortage.job[i] == id)
			fprintf(out, "  nobody is stopped for it: %s\n", sl_shortage_text(snap, plan, i, jobs[i], words, sizeof(words)));
	free(jobs);
}

static int describe(const struct sl_snapshot *snap, const struct sl_plan_image *plan, uint32_t id, char **text, struct sl_error *err)
{
	size_t size = 0;
	FILE *out = open_memstream(text, &size);

	if (out) {
		print_stopped(plan, id, out);
		print_shortage(snap, plan, id, out);
	}
	if (!out || fclose(out))
		return sl_fail(err, SL_ENOMEM, "explain: out of memory");
	if (!size) {
		free(*text);
		*text = NULL;
	}
	return 0;
}

int sl_explain_stops(const struct sl_bundle *bundle, const struct sl_snapshot *snap, const struct sl_usage_provider *usage,
		     struct sl_history *history, uint32_t job, char **text, struct sl_error *err)
{
	struct sl_limits limits = { .budget_us = SL_EXPLAIN_BUDGET_US };
	struct sl_decision d = { .usage = usage, .history = history };
	int rc;

	*text = NULL;
	if (!may_preempt(snap, job))
		return 0;
	rc = sl_decide(bundle, snap, &limits, sl_clock_us(), &d, err);
	if (!rc)
		rc = describe(snap, &d.plan, job, text, err);
	sl_decision_clear(&d);
	return rc;
}
