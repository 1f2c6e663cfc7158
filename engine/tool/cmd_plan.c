/* SPDX-License-Identifier: MIT */
/*
 * cmd_plan.c - schedlua plan: one decision on a snapshot, for people.
 */
#include "tool/tool.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "script/decide.h"
#include "ledger/ledger.h"
#include "tool/report.h"

struct values {
	const char *site, *policy, *path, *ledger;
	double budget;
	int64_t memory;
	bool json;
};

static const struct sl_option options[] = {
	SL_POLICY_OPTIONS(values),
	{ .name = "path", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, path), .argument = "DIR[:DIR]...",
	  .doc = "directories to search for policies before the bundled ones" },
	{ .name = "ledger", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, ledger), .argument = "FILE",
	  .doc = "the ledger that knows what was used (ledger.db); default: what the snapshot says" },
	{ .name = "budget", .type = SL_OPTION_NUMBER, .offset = offsetof(struct values, budget), .argument = "SECONDS",
	  .min = 0, .max = 86400,
	  .doc = "wall time after which the policy is stopped; 0: what the site file says, else 2" },
	{ .name = "memory", .type = SL_OPTION_INTEGER, .offset = offsetof(struct values, memory), .argument = "MIB",
	  .min = 1, .max = 65536, .standard = "512", .doc = "most memory that Lua may use" },
	SL_JSON_OPTION(values),
	{ 0 }
};

#define DEFAULT_BUDGET_S 2.0

static int print(const struct values *v, const char *file, const struct sl_snapshot *snap,
		 const struct sl_decision *d)
{
	struct sl_report report = {
		.file = file, .snap = snap, .plan = &d->plan, .check = &d->check, .lua_peak = d->lua_peak,
	};
	struct sl_error err = { 0 };
	struct sl_json *json = NULL;

	if (!v->json) {
		if (sl_report_print(&report, stdout))
			sl_fail(&err, SL_ENOMEM, "plan: out of memory while printing");
	} else if ((json = sl_json_create(stdout, &err))) {
		sl_report_json(&report, json, &err);
		sl_json_destroy(json);
	}
	if (err.code)
		return sl_tool_fail(&err);
	if (d->policy.code) {
		sl_tool_fail(&d->policy);
		sl_tool_trace(d->trace, stderr);
	}
	if (sl_decision_faultless(d, &err))
		sl_tool_fail(&err);
	return sl_tool_end(d->policy.code || err.code ? SL_EXIT_FAILED : SL_EXIT_FINE);
}

static void tell(const char *what, void *arg)
{
	(void) arg;
	fprintf(stderr, "%s\n", what);
}

static int plan(const struct values *v, const char *file)
{
	struct sl_bundle_source source = { .site = v->site, .policy = v->policy, .path = v->path };
	struct sl_limits limits = { .memory = (size_t) v->memory << 20 };
	struct sl_bundle *bundle = NULL;
	struct sl_decision decision = { 0 };
	struct sl_usage_provider usage;
	struct sl_ledger *ledger = NULL;
	struct sl_history *history = NULL;
	struct sl_snapshot snap;
	struct sl_error err = { 0 };
	double budget = v->budget;
	char *trace = NULL;
	void *bytes = NULL;
	size_t size;
	int status = SL_EXIT_FAILED;

	limits.budget_us = (int64_t) llround((budget > 0 ? budget : DEFAULT_BUDGET_S) * 1e6);
	bundle = sl_bundle_load(&source, &limits, &trace, &err);
	if (!bundle)
		goto error;
	if (budget <= 0 && sl_bundle_figures(bundle)->budget_s > 0)
		limits.budget_us = (int64_t) llround(sl_bundle_figures(bundle)->budget_s * 1e6);
	if (sl_image_load(&sl_snapshot_schema, file, &bytes, &size, &err))
		goto error;
	if (sl_snapshot_open(&snap, bytes, size, &err)) {
		sl_fail_in(&err, "%s", file);
		goto error;
	}
	if (v->ledger) {
		ledger = sl_ledger_open(v->ledger, SL_LEDGER_READ, &err);
		if (!ledger)
			goto error;
		usage = sl_usage_provider(sl_ledger_usage(ledger));
		decision.usage = &usage;
		decision.history = history = sl_history_create(sl_ledger_load_history, ledger, &err);
	}
	sl_bundle_strangers(bundle, &snap, tell, NULL);
	if (sl_decide(bundle, &snap, &limits, sl_clock_us(), &decision, &err))
		goto error;
	status = print(v, file, &snap, &decision);
error:
	if (err.code) {
		sl_tool_fail(&err);
		sl_tool_trace(trace, stderr);
	}
	sl_decision_clear(&decision);
	sl_history_destroy(history);
	sl_ledger_close(ledger);
	sl_bundle_destroy(bundle);
	free(trace);
	free(bytes);
	return status;
}

static int run(const struct sl_verb *verb, int argc, char **argv)
{
	struct values v;
	int status;

	if (sl_tool_parse(verb, &v, argc, argv, 1, 1, &status) < 0)
		return status;
	return plan(&v, argv[0]);
}

const struct sl_verb sl_verb_plan = {
	.name = "plan",
	.operands = "[--site=FILE | --policy=NAME] [OPTION]... SNAPSHOT",
	.summary = "let a policy decide once on a snapshot and print what it decided",
	.options = options,
	.run = run,
};
