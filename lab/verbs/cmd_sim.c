/* SPDX-License-Identifier: MIT */
/*
 * cmd_sim.c - schedlua sim: a workload under a policy.
 */
#include "tool/tool.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image/json_out.h"
#include "tool/progress.h"
#include "sim/trial.h"
#include "sim/schedule_csv.h"
#include "sim/schedule_page.h"
#include "verbs/sim_args.h"
#include "verbs/sim_step.h"
#include "base/text.h"

/* What the schedule is written as, each to a file. */
enum { JOBS, EVALYS, SWF, FILES };

static int (*const writer[FILES])(const struct sl_workload *, const struct sl_sim *, FILE *, struct sl_error *) = {
	sl_schedule_csv, sl_schedule_evalys, sl_schedule_swf,
};

struct values {
	struct sl_workload_args args;
	struct sl_sim_args sim;
	const char *workload, *policy, *site, *file[FILES], *report;
	bool json, users, quiet, check, step, schema;
	int64_t timeout;
};

static const struct sl_option options[] = {
	SL_POLICY_OPTIONS(values),
	{ .name = "workload", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, workload),
	  .argument = "WORKLOAD", .doc = "what jobs to simulate, where it is not the argument" },
	SL_WORKLOAD_ARGS(values, args),
	SL_SIM_ARGS(values, sim),
	{ .name = "check", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, check),
	  .doc = "check the schedule with code that shares nothing with what made it" },
	{ .name = "users", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, users),
	  .doc = "figures of each user, too" },
	{ .name = "jobs", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, file[JOBS]), .argument = "FILE",
	  .doc = "write the schedule as CSV, one line a job" },
	{ .name = "evalys", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, file[EVALYS]), .argument = "FILE",
	  .doc = "write the schedule as CSV in the columns of evalys and Batsim" },
	{ .name = "swf", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, file[SWF]), .argument = "FILE",
	  .doc = "write the schedule as SWF" },
	{ .name = "report", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, report), .argument = "FILE.html",
	  .doc = "write the schedule and its figures as a page to open in a browser" },
	{ .name = "step", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, step),
	  .doc = "an agent decides, by JSON lines on stdin and stdout, in the place of a policy" },
	{ .name = "schema", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, schema),
	  .doc = "print the JSON Schema of the lines of --step, and exit" },
	{ .name = "timeout", .type = SL_OPTION_INTEGER, .offset = offsetof(struct values, timeout), .min = 1, .max = 86400,
	  .standard = "60", .argument = "SECONDS", .doc = "with --step, the time that the agent has to read an observation and to answer it" },
	SL_JSON_OPTION(values),
	{ .name = "quiet", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, quiet),
	  .doc = "no progress bar, and nothing about rows that were left out" },
	{ 0 }
};

/* -- output ------------------------------------------------------------------ */

static int print_json(const struct values *v, struct sl_trial *t, struct sl_error *err)
{
	struct sl_json *j = sl_json_create(stdout, err);
	const struct sl_user_result *users;
	uint32_t count;
	int rc = -1;

	if (!j)
		return -1;
	sl_json_begin_object(j);
	sl_json_put_str(j, "workload", t->workload->name);
	sl_json_put_str(j, "policy", sl_bundle_figures(t->bundle)->policy);
	sl_json_put_int(j, "seed", v->args.seed);
	sl_result_json(j, &t->result, true);
	if (v->users) {
		if (sl_metrics_users(sl_sim_metrics(t->sim), &users, &count, err) < 0)
			goto error;
		sl_json_key(j, "per_user");
		sl_users_json(j, users, count);
	}
	sl_json_end_object(j);
	sl_json_end_line(j);
	rc = sl_json_finish(j, NULL, NULL, err);
error:
	sl_json_destroy(j);
	return rc;
}

static int print_users(struct sl_trial *t, struct sl_error *err)
{
	const struct sl_user_result *u;
	struct sl_text_table *table;
	uint32_t count;
	int rc = -1;

	if (sl_metrics_users(sl_sim_metrics(t->sim), &u, &count, err) < 0)
		return -1;
	table = sl_text_table_create("user,>jobs,>core-hours,>mean wait s,>longest,>first job,>bounded slowdown");
	for (uint32_t i = 0; table && i < count; i++) {
		sl_text_table_add(table, *u[i].user ? u[i].user : "-");
		sl_text_table_addf(table, "%" PRIu64, u[i].jobs);
		sl_text_table_addf(table, "%.1f", u[i].core_s / 3600);
		sl_text_table_addf(table, "%.0f", u[i].wait_mean_s);
		sl_text_table_addf(table, "%.0f", u[i].wait_max_s);
		sl_text_table_addf(table, "%.0f", u[i].first_wait_s);
		sl_text_table_addf(table, "%.2f", u[i].bsld_mean);
	}
	putchar('\n');
	rc = table ? sl_text_table_print(table, 0, stdout) : -1;
	sl_text_table_destroy(table);
	return rc ? sl_fail(err, SL_ENOMEM, "sim: out of memory while printing") : 0;
}

static int print(const struct values *v, struct sl_trial *t, struct sl_error *err)
{
	if (v->json)
		return print_json(v, t, err);
	printf("%-24s %s\n%-24s %s\n", "workload", t->workload->name, "policy",
	       sl_bundle_figures(t->bundle)->policy);
	sl_result_print(&t->result, stdout);
	printf("\n%.2f s, %.0f jobs a second\n", t->result.sim_wall_s,
	       (double) t->result.jobs / fmax(t->result.sim_wall_s, 1e-9));
	return v->users ? print_users(t, err) : 0;
}

/* -- the report ------------------------------------------------------------------ */

static const char *asked_for(const struct values *v)
{
	return v->site ? v->site : v->policy;
}

static struct sl_page *open_report(const struct values *v, struct sl_error *err)
{
	struct sl_page *page;
	char title[512];

	snprintf(title, sizeof(title), "%s on %s", asked_for(v), sl_sim_args_base(v->workload));
	page = sl_page_open(v->report, title, err);
	sl_sim_args_tell_lacks(page);
	return page;
}

static int write_report(const struct values *v, const struct sl_trial *t, struct sl_page *page, struct sl_error *err)
{
	const struct sl_schedule schedule = sl_sim_whole_schedule(t->sim);

	if (sl_sim_args_page(&v->sim, &v->args, t->workload, page, err) < 0 ||
	    sl_schedule_page(page, asked_for(v), t->workload, &schedule, &t->result, err) < 0)
		return -1;
	return sl_page_finish(page, err);
}

/* -- the verb -------------------------------------------------------------------- */

static int write_files(const struct values *v, const struct sl_trial *t, FILE *const file[FILES], struct sl_page *page,
		       struct sl_error *err)
{
	for (int i = 0; i < FILES; i++) {
		if (!file[i])
			continue;
		if (writer[i](t->workload, t->sim, file[i], err) < 0)
			return -1;
		if (fflush(file[i]) || ferror(file[i]))
			return sl_fail(err, SL_EIO, "%s: %m", v->file[i]);
	}
	return page ? write_report(v, t, page, err) : 0;
}

static struct sl_trial_options trial_options(const struct values *v, FILE *const file[FILES], const struct sl_page *page,
					     struct sl_progress *bar, struct sl_step *step)
{
	struct sl_trial_options opt = {
		.workload = v->workload, .workload_options = sl_workload_args(&v->args),
		.source = { .site = v->site, .policy = v->policy, .path = v->sim.path }, .sim = sl_sim_args(&v->sim),
	};

	opt.sim.check = v->check;
	opt.sim.keep_schedule = file[JOBS] || file[EVALYS] || file[SWF] || page;
	opt.sim.stop = sl_tool_stop_on(SIGINT);
	sl_tool_stop_on(SIGTERM);
	opt.sim.progress = sl_progress_jobs;
	opt.sim.progress_arg = bar;
	opt.sim.decide = step ? sl_step_decide : NULL;
	opt.sim.decide_arg = step;
	return opt;
}

static void tell_end(const struct values *v, const struct sl_trial *t, int rc, const struct sl_error *err)
{
	sl_sim_args_warn(t->result.solves_cut);
	if (rc < 0) {
		sl_tool_fail(err);
		sl_tool_trace(t->trace, stderr);
	} else if (!rc && t->result.unfinished) {
		fprintf(stderr, "schedlua: the %s never starts %" PRIu64 " of the jobs\n", v->step ? "agent" : "policy", t->result.unfinished);
	} else if (rc) {
		fprintf(stderr, "schedlua: stopped: these are the figures of %" PRIu64 " of %" PRIu64 " jobs\n",
			t->result.jobs, t->result.jobs + t->result.unfinished);
	}
}

static int simulate(const struct values *v, FILE *const file[FILES], struct sl_page *page, struct sl_step *step)
{
	struct sl_progress bar;
	struct sl_trial_options opt = trial_options(v, file, page, &bar, step);
	struct sl_error err = { 0 };
	struct sl_trial t;
	int rc = sl_trial_open(&t, &opt, &err);

	if (t.workload && !v->quiet)
		sl_workload_print_issues(t.workload, "schedlua: ", stderr);
	if (!rc) {
		sl_progress_begin(&bar, "jobs", v->quiet || step);
		rc = sl_trial_go(&t, true, &err);
		sl_progress_end(&bar);
	}
	if (rc >= 0 && ((step ? sl_step_end(step, &t, &err) : print(v, &t, &err)) < 0 || write_files(v, &t, file, page, &err) < 0))
		rc = -1;
	tell_end(v, &t, rc, &err);
	sl_trial_close(&t);
	return sl_tool_end(rc ? SL_EXIT_FAILED : SL_EXIT_FINE);
}

/* An agent that is gone is an error like others, not a signal. */
static int step(const struct values *v, FILE *const file[FILES], struct sl_page *page)
{
	struct sl_error err;
	struct sl_step *s = sl_step_create(STDIN_FILENO, STDOUT_FILENO, v->timeout, sl_tool_stop_on(SIGINT), &err);
	int status;

	if (!s)
		return sl_tool_fail(&err);
	signal(SIGPIPE, SIG_IGN);
	status = simulate(v, file, page, s);
	sl_step_destroy(s);
	return status;
}

/* Before the run, not after it. */
static int open_files(const struct values *v, FILE *file[FILES], struct sl_error *err)
{
	for (int i = 0; i < FILES; i++)
		if (v->file[i] && !(file[i] = fopen(v->file[i], "we")))
			return sl_fail(err, SL_EIO, "%s: %m", v->file[i]);
	return 0;
}

static int close_files(const struct values *v, FILE *file[FILES], struct sl_error *err)
{
	int rc = 0;

	for (int i = 0; i < FILES; i++)
		if (file[i] && fclose(file[i]))
			rc = sl_fail(err, SL_EIO, "%s: %m", v->file[i]);
	return rc;
}

static int run(const struct sl_verb *verb, int argc, char **argv)
{
	struct values v;
	struct sl_page *page = NULL;
	FILE *file[FILES] = { NULL };
	struct sl_error err;
	int status, n = sl_tool_parse(verb, &v, argc, argv, 0, 1, &status);

	if (n < 0)
		return status;
	if (v.schema)
		return sl_step_schema(stdout, &err) < 0 ? sl_tool_fail(&err) : sl_tool_end(SL_EXIT_FINE);
	if (v.step && (v.site || v.json || v.users))
		return sl_tool_usage(verb, "--step: not with --site, --json or --users");
	if ((n > 0) == (v.workload != NULL))
		return sl_tool_usage(verb, n ? "--workload: there is the argument \"%s\" already" :
				     "a workload is missing%s", n ? argv[0] : "");
	if (n)
		v.workload = argv[0];
	if (sl_sim_args_wrong(&v.sim))
		return sl_tool_usage(verb, "%s", sl_sim_args_wrong(&v.sim));
	if (open_files(&v, file, &err) < 0 || (v.report && !(page = open_report(&v, &err)))) {
		close_files(&v, file, NULL);
		return sl_tool_fail(&err);
	}
	status = v.step ? step(&v, file, page) : simulate(&v, file, page, NULL);
	sl_page_destroy(page);
	if (close_files(&v, file, &err) < 0 && status == SL_EXIT_FINE)
		return sl_tool_fail(&err);
	return status;
}

const struct sl_verb sl_verb_sim = {
	.name = "sim",
	.operands = "[--policy=NAME | --site=FILE] [OPTION]... WORKLOAD",
	.summary = "simulate a workload under a policy and print what came of it",
	.options = options,
	.run = run,
};
