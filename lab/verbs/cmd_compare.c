/* SPDX-License-Identifier: MIT */
/*
 * cmd_compare.c - schedlua compare: policies x workloads x seeds, one table.
 */
#include "tool/tool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "verbs/compare_paired.h"
#include "verbs/compare_table.h"
#include "tool/progress.h"
#include "sim/schedule_page.h"
#include "verbs/sim_args.h"
#include "sim/sweep.h"
#include "base/grow.h"
#include "base/lines.h"

struct values {
	struct sl_workload_args args;
	struct sl_sim_args sim;
	const char *policies, *part, *report, *starts, *baseline;
	int64_t seeds, workers, windows;
	bool json, csv, runs, quiet, check, stops;
};

static const struct sl_option options[] = {
	{ .name = "policies", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, policies),
	  .argument = "\"NAME[,OPTION=VALUE]... ...\"", .standard = "easy conservative fcfs",
	  .doc = "the policies, separated by blanks; site=FILE is a site file" },
	SL_WORKLOAD_ARGS(values, args),
	{ .name = "seeds", .type = SL_OPTION_INTEGER, .offset = offsetof(struct values, seeds),
	  .min = 1, .max = 10000, .standard = "1", .argument = "N",
	  .doc = "that many seeds, from --seed on, of each workload" },
	{ .name = "starts", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, starts), .argument = "\"N N...\"",
	  .doc = "sequences of --first jobs, each without the first N, instead of one" },
	{ .name = "windows", .type = SL_OPTION_INTEGER, .offset = offsetof(struct values, windows), .min = 0, .max = 10000,
	  .argument = "N", .doc = "N windows of --first jobs each, equally far apart, instead of --starts; without --first all jobs, in N windows" },
	{ .name = "baseline", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, baseline), .argument = "POLICY",
	  .doc = "one of the policies: print differences to it as well, with 95 % intervals" },
	SL_SIM_ARGS(values, sim),
	{ .name = "check", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, check),
	  .doc = "check each schedule with code that shares nothing with what made it" },
	{ .name = "stops", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, stops),
	  .doc = "figures of jobs that were stopped for others, even if no job of any workload may be" },
	{ .name = "workers", .type = SL_OPTION_INTEGER, .offset = offsetof(struct values, workers),
	  .min = 0, .max = 4096, .standard = "0", .argument = "N",
	  .doc = "simulations at a time; 0: as many as there are processors" },
	{ .name = "part", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, part), .argument = "I/N",
	  .doc = "run only the simulations of part I of N, I from 0 on: for job arrays" },
	{ .name = "runs", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, runs),
	  .doc = "a line for each simulation, instead of mean and deviation over the seeds" },
	{ .name = "report", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, report), .argument = "FILE.html",
	  .doc = "write the schedules of the first seed, policies overlaid, as a page for a browser" },
	{ .name = "json", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, json),
	  .doc = "print a JSON array of one object a line of the table" },
	{ .name = "csv", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, csv), .doc = "print CSV" },
	{ .name = "quiet", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, quiet),
	  .doc = "no progress bar, and nothing about rows that were left out" },
	{ 0 }
};

/* -- what is compared --------------------------------------------------------- */

struct compare {
	const struct values *v;
	struct sl_compare_grid grid;
	uint32_t *start, starts;	/* of sequences, by workload; at least one each */
	uint32_t *length;		/* of a workload's windows, or NULL */
	struct sl_mapped_schedule *schedule;	/* with a report or a baseline */
	struct sl_page *page;
};

/* -- what is run ----------------------------------------------------------------- */

static int split_policies(struct compare *c, char *words, struct sl_error *err)
{
	char *save = NULL;

	c->grid.policy = calloc(strlen(words) / 2 + 2, sizeof(*c->grid.policy));
	if (!c->grid.policy)
		return sl_fail(err, SL_ENOMEM, "compare: out of memory");
	for (char *w = strtok_r(words, " \t\n", &save); w; w = strtok_r(NULL, " \t\n", &save))
		c->grid.policy[c->grid.policies++] = w;
	return c->grid.policies ? 0 : sl_fail(err, SL_EINVAL, "--policies: expected at least one");
}

/* The policy that others are compared with. */
static int find_baseline(struct compare *c, struct sl_error *err)
{
	for (c->grid.baseline = 0; c->grid.baseline < c->grid.policies; c->grid.baseline++)
		if (!strcmp(c->grid.policy[c->grid.baseline], c->v->baseline))
			return 0;
	return sl_fail(err, SL_EINVAL, "--baseline=%s: expected one of --policies=\"%s\"", c->v->baseline, c->v->policies);
}

/* Repeats of the same jobs are no samples: an interval over them would be too narrow. */
static int check_samples(const struct compare *c, struct sl_error *err)
{
	for (uint32_t i = 0; i < c->grid.workloads; i++)
		if (c->v->seeds > 1 && sl_workload_is_file(c->grid.workload[i]))
			return sl_fail(err, SL_EINVAL, "--baseline with --seeds=%" PRId64 ": %s is a log, which has the same jobs with each "
				       "seed: expected --windows", c->v->seeds, c->grid.workload[i]);
	return 0;
}

/* A workload's rows with these options: -1 with *err. */
static int64_t count_jobs(const char *workload, const struct sl_workload_options *opt, struct sl_error *err)
{
	struct sl_workload *w = sl_workload_load(workload, opt, err);
	int64_t n = w ? (int64_t) w->snap.job.rows : -1;

	sl_workload_destroy(w);
	return n;
}

/* The windows of a workload; they do not overlap. */
static int list_windows(struct compare *c, uint32_t workload, struct sl_error *err)
{
	const char *name = c->grid.workload[workload];
	struct sl_workload_options opt = sl_workload_args(&c->v->args);
	uint32_t length = opt.jobs;
	int64_t n, part;

	opt.jobs = 0;
	n = count_jobs(name, &opt, err);
	if (n < 0)
		return -1;
	length = length ? length : (uint32_t) (n / c->starts);
	if (!length || (uint64_t) length * c->starts > (uint64_t) n)
		return sl_fail(err, SL_EINVAL, "--windows=%" PRIu32 ": %s has %" PRId64 " jobs, expected at least %" PRIu64,
			       c->starts, name, n, (uint64_t) (length ? length : 1) * c->starts);
	opt.jobs = length;
	part = count_jobs(name, &opt, err);
	if (part >= 0 && part != length)
		return sl_fail(err, SL_EINVAL, "--windows: %s is one whole, not a log: expected --seeds", name);
	if (part < 0)
		return -1;
	c->length[workload] = length;
	for (uint32_t i = 0; i < c->starts; i++)
		c->start[(size_t) workload * c->starts + i] = c->starts > 1 ? (uint32_t) (i * (n - length) / (c->starts - 1)) : 0;
	return 0;
}

static int list_all_windows(struct compare *c, struct sl_error *err)
{
	c->starts = (uint32_t) c->v->windows;
	c->start = calloc((size_t) c->grid.workloads * c->starts, sizeof(*c->start));
	c->length = calloc(c->grid.workloads, sizeof(*c->length));
	if (!c->start || !c->length)
		return sl_fail(err, SL_ENOMEM, "compare: out of memory");
	for (uint32_t i = 0; i < c->grid.workloads; i++)
		if (list_windows(c, i, err) < 0)
			return -1;
	c->grid.repeats = (uint32_t) c->v->seeds * c->starts;
	return 0;
}

/* "0 1024 2048"; one, from the first job on, where nothing is said. */
static int list_starts(struct compare *c, struct sl_error *err)
{
	const char *at = c->v->starts ? c->v->starts : "0";
	int64_t n;

	if (c->v->windows)
		return list_all_windows(c, err);

	for (at += strspn(at, " \t\n,"); *at; at += strspn(at, " \t\n,")) {
		if (!sl_scan_int(&at, &n) || n < 0 || n > SL_WORKLOAD_MAX_JOBS || (*at && !strchr(" \t\n,", *at)))
			return sl_fail(err, SL_EINVAL, "--starts=%s: expected numbers of jobs", c->v->starts);
		if (sl_grow_list(&c->start, c->starts, sizeof(*c->start), err))
			return -1;
		c->start[c->starts++] = (uint32_t) n;
	}
	c->grid.repeats = (uint32_t) c->v->seeds * c->starts;
	return c->grid.repeats ? 0 : sl_fail(err, SL_EINVAL, "--starts: expected at least one");
}

static struct sl_trial_options make_trial(const struct compare *c, uint32_t i)
{
	const struct values *v = c->v;
	const char *policy = c->grid.policy[i % c->grid.policies];
	uint32_t workload = i / c->grid.policies / c->grid.repeats;
	struct sl_trial_options t = {
		.workload = c->grid.workload[workload],
		.workload_options = sl_workload_args(&v->args), .source = { .path = v->sim.path }, .sim = sl_sim_args(&v->sim),
	};
	uint32_t repeat = i / c->grid.policies % c->grid.repeats;

	t.workload_options.seed += repeat / c->starts;
	t.workload_options.skip += c->start[(c->length ? (size_t) workload * c->starts : 0) + repeat % c->starts];
	if (c->length)
		t.workload_options.jobs = c->length[workload];
	t.sim.check = v->check;
	t.sim.keep_schedule = (c->page && !repeat) || v->baseline;
	t.source.site = sl_compare_site(policy);
	if (!t.source.site)
		t.source.policy = policy;
	return t;
}

/* All that are wrong are told before the first is simulated.  0, or 1 when some are. */
static int try_policies(const struct compare *c)
{
	int failed = 0;

	for (uint32_t p = 0; p < c->grid.policies; p++) {
		const struct sl_trial_options t = make_trial(c, p);
		struct sl_limits limits = { 0 };
		struct sl_error err;
		char *trace = NULL;
		struct sl_bundle *b = sl_bundle_load(&t.source, &limits, &trace, &err);

		if (!b)
			fprintf(stderr, "schedlua: %s: %s\n", c->grid.policy[p], err.text);
		failed |= !b;
		sl_bundle_destroy(b);
		free(trace);
	}
	return failed;
}

static int make_trials(struct compare *c, struct sl_error *err)
{
	uint64_t all = (uint64_t) c->grid.workloads * c->grid.policies * c->grid.repeats;
	uint32_t part = 0, parts = 1;

	if (sl_sim_args_part(c->v->part, &part, &parts, err) < 0)
		return -1;
	if (all > 1000000)
		return sl_fail(err, SL_ELIMIT, "%" PRIu64 " simulations, at most 1000000 at once", all);
	c->grid.trial = calloc(all + 1, sizeof(*c->grid.trial));
	c->grid.outcome = calloc(all + 1, sizeof(*c->grid.outcome));
	if (c->page || c->v->baseline)
		c->schedule = calloc(all + 1, sizeof(*c->schedule));
	if (!c->grid.trial || !c->grid.outcome || ((c->page || c->v->baseline) && !c->schedule))
		return sl_fail(err, SL_ENOMEM, "compare: out of memory");
	for (uint32_t i = part; i < all; i += parts)
		c->grid.trial[c->grid.trials++] = make_trial(c, i);
	return 0;
}

/* What was left out of each workload, once: of the first of its simulations. */
static void tell_issues(const struct compare *c)
{
	for (uint32_t i = 0; i < c->grid.trials; i++)
		if (!i || strcmp(c->grid.trial[i].workload, c->grid.trial[i - 1].workload))
			sl_issues_print(c->grid.trial[i].workload, c->grid.outcome[i].issue, "schedlua: ", stderr);
}

static int run_all(struct compare *c, struct sl_error *err)
{
	struct sl_progress bar;
	struct sl_sweep sweep = {
		.trial = c->grid.trial, .outcome = c->grid.outcome, .schedule = c->schedule, .trials = c->grid.trials, .bound = true,
		.workers = (uint32_t) c->v->workers, .progress = sl_progress_trials, .progress_arg = &bar,
	};
	uint64_t cut = 0;
	int rc, failed = 0;

	fflush(stdout);
	sl_progress_begin(&bar, "simulations", c->v->quiet);
	rc = sl_sweep_run(&sweep, err);
	sl_progress_end(&bar);
	if (!rc && !c->v->quiet)
		tell_issues(c);
	for (uint32_t i = 0; !rc && i < c->grid.trials; i++) {
		cut += c->grid.outcome[i].result.solves_cut;
		if (!c->grid.outcome[i].err.code)
			continue;
		failed++;
		fprintf(stderr, "schedlua: %s, seed %" PRIu64 ", %s: %s\n", c->grid.trial[i].workload,
			c->grid.trial[i].workload_options.seed,
			c->grid.trial[i].source.site ? c->grid.trial[i].source.site : c->grid.trial[i].source.policy,
			c->grid.outcome[i].err.text);
	}
	sl_sim_args_warn(cut);
	return rc ? rc : failed > 0;
}

/* -- the report -------------------------------------------------------------------- */

static struct sl_page *open_report(const struct compare *c, struct sl_error *err)
{
	struct sl_page *page;
	char title[512];

	snprintf(title, sizeof(title), "%" PRIu32 " policies on %s%s", c->grid.policies, sl_sim_args_base(c->grid.workload[0]),
		 c->grid.workloads > 1 ? " and others" : "");
	page = sl_page_open(c->v->report, title, err);
	sl_sim_args_tell_lacks(page);
	return page;
}

/* A workload and what each policy made of it, with the first seed. */
static int report_workload(const struct compare *c, uint32_t workload, struct sl_error *err)
{
	uint32_t first = workload * c->grid.repeats * c->grid.policies, p = 0;
	struct sl_workload *w;
	int rc = 0;

	while (p < c->grid.policies && c->grid.outcome[first + p].err.code)
		p++;
	if (p == c->grid.policies)
		return 0;	/* none: told already */
	w = sl_workload_load(c->grid.workload[workload], &c->grid.trial[first].workload_options, err);
	if (!w || sl_sim_args_page(&c->v->sim, &c->v->args, w, c->page, err) < 0)
		rc = -1;
	for (; !rc && p < c->grid.policies; p++)
		if (!c->grid.outcome[first + p].err.code)
			rc = sl_schedule_page(c->page, c->grid.policy[p], w, &c->schedule[first + p].schedule,
					      &c->grid.outcome[first + p].result, err);
	sl_workload_destroy(w);
	return rc;
}

static int write_report(const struct compare *c, struct sl_error *err)
{
	for (uint32_t i = 0; i < c->grid.workloads; i++)
		if (report_workload(c, i, err) < 0)
			return -1;
	return sl_page_finish(c->page, err);
}

/* -- the verb -------------------------------------------------------------------- */

static enum sl_compare_format format_of(const struct values *v)
{
	return v->json ? SL_COMPARE_JSON : v->csv ? SL_COMPARE_CSV : SL_COMPARE_TABLE;
}

static void free_compare(struct compare *c)
{
	for (uint32_t i = 0; c->schedule && i < c->grid.trials; i++)
		sl_sweep_unmap(&c->schedule[i]);
	sl_page_destroy(c->page);
	free(c->schedule);
	free(c->grid.trial);
	free(c->grid.outcome);
	free(c->grid.policy);
	free(c->start);
	free(c->length);
	sl_compare_pairs_free(&c->grid);
}

static int run(const struct sl_verb *verb, int argc, char **argv)
{
	struct sl_error err = { 0 };
	struct values v;
	struct compare c = { .v = &v, .grid.workload = argv };
	char *words = NULL;
	int status, rc, n = sl_tool_parse(verb, &v, argc, argv, 1, -1, &status);

	if (n < 0)
		return status;
	c.grid.workloads = (uint32_t) n;
	if (v.json && v.csv)
		return sl_tool_usage(verb, "--json and --csv: expected one of them");
	if (sl_sim_args_wrong(&v.sim))
		return sl_tool_usage(verb, "%s", sl_sim_args_wrong(&v.sim));
	if (v.part && !v.runs)
		return sl_tool_usage(verb, "--part: expected --runs as well: a part has no means");
	if (v.starts && v.windows)
		return sl_tool_usage(verb, "--starts and --windows: expected one of them");
	if (v.runs && v.baseline)
		return sl_tool_usage(verb, "--runs and --baseline: expected one of them: an interval is not of one run");
	if (v.part && v.report)
		return sl_tool_usage(verb, "--part and --report: expected one of them");
	words = strdup(v.policies);
	rc = words ? split_policies(&c, words, &err) : sl_fail(&err, SL_ENOMEM, "compare: out of memory");
	if (!rc && v.baseline && !(rc = find_baseline(&c, &err)))
		rc = check_samples(&c, &err);
	if (!rc && v.report && !(c.page = open_report(&c, &err)))	/* before the runs, not after them */
		rc = -1;
	if (!rc)
		rc = list_starts(&c, &err);
	if (!rc)
		rc = make_trials(&c, &err);
	if (!rc && try_policies(&c)) {
		free_compare(&c);
		free(words);
		return SL_EXIT_FAILED;
	}
	if (!rc)
		rc = run_all(&c, &err);
	c.grid.stops = v.stops || (rc >= 0 && sl_compare_met_stops(&c.grid));
	if (rc >= 0 && v.baseline && sl_compare_pairs(&c.grid, c.schedule, &err) < 0)
		rc = -1;
	if (rc >= 0 && (sl_compare_print(&c.grid, format_of(&v), v.runs, &err) < 0 || (c.page && write_report(&c, &err) < 0)))
		rc = -1;
	if (rc < 0)
		sl_tool_fail(&err);
	free_compare(&c);
	free(words);
	return sl_tool_end(rc ? SL_EXIT_FAILED : SL_EXIT_FINE);
}

const struct sl_verb sl_verb_compare = {
	.name = "compare",
	.operands = "[--policies=\"NAME...\"] [OPTION]... WORKLOAD...",
	.summary = "simulate workloads under several policies and print one table",
	.options = options,
	.run = run,
};
