/* SPDX-License-Identifier: MIT */
/*
 * cmd_forecast.c - schedlua forecast: when will jobs start?
 */
#include "tool/explain_stops.h"
#include "tool/tool.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/order.h"
#include "base/state_file.h"
#include "base/text.h"
#include "bundle/trust.h"
#include "image/json_out.h"
#include "image/partitions.h"
#include "ledger/ledger.h"
#include "sim/awaited.h"
#include "sim/trial.h"
#include "tool/explain_order.h"
#include "tool/progress.h"
#include "verbs/sim_args.h"
#include "tool/statedir.h"
#include "usage/history.h"

struct values {
	struct sl_workload_args args;
	struct sl_sim_args sim;
	const char *dir, *snapshot, *site, *policy, *ledger, *workload, *calibration, *output;
	double confidence;
	int64_t draws, every, seconds;
	bool arrivals, submission, learn, quiet, json;
};

static const struct sl_option options[] = {
	{ .name = "confidence", .type = SL_OPTION_NUMBER, .offset = offsetof(struct values, confidence), .argument = "SHARE",
	  .min = 0.5, .max = 0.98, .standard = "0.8", .doc = "how often the interval is to hold" },
	{ .name = "draws", .type = SL_OPTION_INTEGER, .offset = offsetof(struct values, draws), .argument = "N",
	  .min = 10, .max = SL_FORECAST_DRAWS, .standard = "40", .doc = "how many times the cluster goes on" },
	{ .name = "seconds", .type = SL_OPTION_INTEGER, .offset = offsetof(struct values, seconds), .argument = "N",
	  .min = 1, .max = 86400, .standard = "60", .doc = "how long that may take; what was found by then is printed" },
	SL_DIR_OPTION(values),
	{ .name = "snapshot", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, snapshot), .argument = "FILE",
	  .doc = "of this capture, not of the cluster as it is" },
	{ .name = "site", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, site), .argument = "FILE",
	  .doc = "the site file that decides; default: the one that does" },
	{ .name = "policy", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, policy),
	  .argument = "NAME[,OPTION=VALUE]...", .doc = "the policy that decides, instead of a site file" },
	{ .name = "ledger", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, ledger), .argument = "FILE",
	  .doc = "the ledger that knows how long jobs ran; default: the cluster's, where it may be read; with --snapshot what that knows" },
	{ .name = "calibration", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, calibration), .argument = "FILE",
	  .doc = "what forecasts were worth: read, or written with --workload; default: forecasts/calibration.json beside the site file, where that is" },
	{ .name = "learn", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, learn),
	  .doc = "correct the calibration by what became of forecasts that were made with --learn before, and keep these (for a timer)" },
	{ .name = "workload", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, workload), .argument = "WORKLOAD",
	  .doc = "say what forecasts would have been worth on these jobs" },
	{ .name = "every", .type = SL_OPTION_INTEGER, .offset = offsetof(struct values, every), .argument = "N",
	  .min = 1, .max = SL_WORKLOAD_MAX_JOBS, .standard = "1", .doc = "with --workload: of one of so many jobs" },
	{ .name = "submission", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, submission),
	  .doc = "with --workload: when a job is submitted and has to wait, not when it gets its first reservation" },
	{ .name = "arrivals", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, arrivals),
	  .doc = "with --workload: the jobs of the week before arrive again" },
	{ .name = "quiet", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, quiet),
	  .doc = "with --workload: no progress bar, and nothing about rows that were left out" },
	{ .name = "output", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, output), .argument = "FILE",
	  .doc = "write them into that file whole, for policies and squeue (forecasts = in the site file)" },
	SL_WORKLOAD_ARGS(values, args),
	SL_SIM_ARGS(values, sim),
	SL_JSON_OPTION(values),
	{ 0 }
};

/* -- what forecasts would have been worth ---------------------------------------- */

struct worth {
	uint32_t forecasts, told;
	double coverage, error, told_error, width;	/* medians but the first */
};

static double median(int64_t *x, uint32_t n)
{
	qsort(x, n, sizeof(*x), sl_order_i64);
	return n ? ((double) x[(n - 1) / 2] + (double) x[n / 2]) / 2 : 0;
}

static int weigh(const struct sl_hindsights *h, struct worth *w, struct sl_error *err)
{
	int64_t *error = calloc(3 * ((size_t) h->waiting + 1), sizeof(*error));
	int64_t *told = error + h->waiting, *width = told + h->waiting;
	uint32_t held = 0, tolds = 0;

	if (!error)
		return sl_fail(err, SL_ENOMEM, "forecast: out of memory");
	for (uint32_t i = 0; i < h->waiting; i++) {
		const struct sl_hindsight *x = &h->item[i];
		int64_t wait = x->start_s - x->at_s;

		error[i] = llabs(x->expected.point - wait);
		if (x->told_s)
			told[tolds++] = llabs(x->told_s - x->start_s);
		width[i] = x->expected.high - x->expected.low;
		held += x->expected.low <= wait && wait <= x->expected.high;
	}
	*w = (struct worth) { .forecasts = h->waiting, .told = h->told, .coverage = h->waiting ? (double) held / h->waiting : 0,
			      .error = median(error, h->waiting), .told_error = median(told, tolds),
			      .width = median(width, h->waiting) };
	free(error);
	return 0;
}

static int print_worth(const struct values *v, const struct worth *w, struct sl_error *err)
{
	struct sl_json *j;
	int rc;

	const char *which = v->submission ? "jobs that had to wait" : "reservations";

	if (!v->json && !w->forecasts) {
		printf("of %" PRIu32 " %s, no forecast whose job has started: there is nothing to compare\n", w->told, which);
		return 0;
	}
	if (!v->json) {
		printf("of %" PRIu32 " %s, %" PRIu32 " forecasts\n"
		       "intervals that held       %.1f %% (expected %g %%)\n"
		       "median error of forecasts %.0f s\n"
		       "%s %.0f s\n"
		       "median width of intervals %.0f s\n",
		       w->told, which, w->forecasts, 100 * w->coverage, 100 * v->confidence, w->error,
		       v->submission ? "of the plan, by walltimes" : "of the reservations      ", w->told_error, w->width);
		return 0;
	}
	j = sl_json_create(stdout, err);
	if (!j)
		return -1;
	sl_json_begin_object(j);
	sl_json_put_int(j, "reservations", w->told);
	sl_json_put_int(j, "forecasts", w->forecasts);
	sl_json_put_real(j, "confidence", v->confidence);
	if (w->forecasts) {
		sl_json_put_real(j, "coverage", w->coverage);
		sl_json_put_real(j, "error_median_s", w->error);
		sl_json_put_real(j, "reservation_error_median_s", w->told_error);
		sl_json_put_real(j, "width_median_s", w->width);
	}
	sl_json_end_object(j);
	sl_json_end_line(j);
	rc = sl_json_finish(j, NULL, NULL, err);
	sl_json_destroy(j);
	return rc;
}

static int look_back(const struct values *v, struct sl_calibrator *c, struct sl_error *err)
{
	struct sl_hindsights h = { .every = (uint32_t) v->every, .at_submission = v->submission, .calibrator = c,
				   .opt = { .draws = (uint32_t) v->draws, .seed = (uint64_t) v->args.seed } };
	struct sl_trial_options opt = { .workload = v->workload, .workload_options = sl_workload_args(&v->args),
					.source = { .policy = v->policy, .site = v->site, .path = v->sim.path },
					.sim = sl_sim_args(&v->sim) };
	struct sl_progress bar;
	struct sl_trial t;
	struct worth w = { 0 };
	int rc;

	opt.sim.keep_schedule = true;
	opt.sim.after_pass = sl_hindsights_after_pass;
	opt.sim.after_pass_arg = &h;
	opt.sim.wants_plan = sl_hindsights_want_plan;
	opt.sim.progress = sl_progress_jobs;
	opt.sim.progress_arg = &bar;
	rc = sl_trial_open(&t, &opt, err);
	if (t.workload && !v->quiet)
		sl_workload_print_issues(t.workload, "schedlua: ", stderr);
	h.opt.script = rc ? NULL : sl_script_create(t.bundle, &t.limits, err);
	h.opt.past = v->arrivals ? t.workload : NULL;
	h.sim = t.sim;
	sl_progress_begin(&bar, "jobs", v->quiet);
	rc = h.opt.script ? sl_trial_go(&t, false, err) : -1;
	sl_progress_end(&bar);
	if (rc >= 0) {
		sl_hindsights_finish(&h);
		rc = weigh(&h, &w, err) || print_worth(v, &w, err) ? -1 : 0;
	} else {
		sl_tool_trace(t.trace, stderr);
	}
	if (!rc && v->calibration)
		rc = sl_calibrator_write(c, v->calibration, err);
	sl_script_destroy(h.opt.script);
	sl_hindsights_clear(&h);
	sl_trial_close(&t);
	return rc;
}

/* -- now ------------------------------------------------------------------------ */

struct ahead {
	const struct values *v;
	struct sl_calibrator *calibrator;
	char calibration[PATH_MAX];	/* its file; "": there is none */
	const struct sl_bundle *bundle;
	struct sl_ledger *ledger;
	uint32_t *only;			/* job ids */
	int only_count;
	char *trace;
};

static bool is_asked(const struct ahead *a, uint32_t job)
{
	int i = 0;

	while (i < a->only_count && a->only[i] != job)
		i++;
	return !a->only_count || i < a->only_count;
}

static const char *date(int64_t now, int64_t wait, char text[32])
{
	time_t t = wait < SL_UNLIMITED ? (time_t) (now + wait) : 0;
	struct tm tm;

	if (!t || !localtime_r(&t, &tm) || !strftime(text, 32, "%Y-%m-%dT%H:%M:%S", &tm))
		strcpy(text, "not seen");
	return text;
}

static int print_table(const struct ahead *a, const struct sl_forecast *f, int64_t now, struct sl_error *err)
{
	struct sl_text_table *table = sl_text_table_create(">job,not before,likely,not after");
	char text[32];
	int rc;

	for (uint32_t i = 0; table && i < f->jobs; i++) {
		struct sl_expected e = sl_calibrate(a->calibrator, f->wait + (size_t) i * f->draws, f->draws);

		if (!is_asked(a, f->job[i]))
			continue;
		sl_text_table_addf(table, "%" PRIu32, f->job[i]);
		sl_text_table_add(table, date(now, e.low, text));
		sl_text_table_add(table, date(now, e.point, text));
		sl_text_table_add(table, date(now, e.high, text));
	}
	rc = table && !sl_text_table_print(table, 0, stdout) ? 0 : sl_fail(err, SL_ENOMEM, "forecast: out of memory");
	sl_text_table_destroy(table);
	if (sl_calibrator_knows(a->calibrator))
		printf("%g of 100 jobs start within, as far as past forecasts tell\n", 100 * a->v->confidence);
	else
		printf("not calibrated: how many jobs start within is not known yet (--calibration)\n");
	return rc;
}

static void put_time(struct sl_json *j, const char *key, int64_t now, int64_t wait)
{
	if (wait < SL_UNLIMITED)
		sl_json_put_int(j, key, now + wait);
}

static int print_json(const struct ahead *a, const struct sl_forecast *f, int64_t now, struct sl_error *err)
{
	struct sl_json *j = sl_json_create(stdout, err);
	int rc;

	if (!j)
		return -1;
	sl_json_begin_object(j);
	sl_json_put_int(j, "now", now);
	sl_json_put_real(j, "confidence", a->v->confidence);
	sl_json_put_bool(j, "calibrated", sl_calibrator_knows(a->calibrator));
	sl_json_put_int(j, "draws", f->draws);
	sl_json_put_int(j, "known", f->known);
	sl_json_key(j, "jobs");
	sl_json_begin_array(j);
	for (uint32_t i = 0; i < f->jobs; i++) {
		struct sl_expected e = sl_calibrate(a->calibrator, f->wait + (size_t) i * f->draws, f->draws);

		if (!is_asked(a, f->job[i]))
			continue;
		sl_json_begin_object(j);
		sl_json_put_int(j, "job", f->job[i]);
		put_time(j, "not_before", now, e.low);
		put_time(j, "likely", now, e.point);
		put_time(j, "not_after", now, e.high);
		sl_json_end_object(j);
	}
	sl_json_end_array(j);
	sl_json_end_object(j);
	sl_json_end_line(j);
	rc = sl_json_finish(j, NULL, NULL, err);
	sl_json_destroy(j);
	return rc;
}

static void write_time(FILE *out, int64_t now, int64_t wait)
{
	if (wait < SL_UNLIMITED)
		fprintf(out, " %" PRId64, now + wait);
	else
		fputs(" -", out);
}

static void write_job(const struct ahead *a, const struct sl_forecast *f, uint32_t i, int64_t now, FILE *out)
{
	struct sl_expected e = sl_calibrate(a->calibrator, f->wait + (size_t) i * f->draws, f->draws);

	fprintf(out, "job %" PRIu32, f->job[i]);
	write_time(out, now, e.low);
	write_time(out, now, e.point);
	write_time(out, now, e.high);
	fputc('\n', out);
}

/* What lib/sched/forecasts.lua reads; where that is more than policies may read, of the jobs that come first. */
static int write_file(const struct ahead *a, const struct sl_forecast *f, int64_t now, struct sl_error *err)
{
	char *text = NULL;
	size_t size = 0, whole;
	FILE *out = open_memstream(&text, &size);
	uint32_t left = 0;
	int rc;

	if (!out)
		return sl_fail(err, SL_ENOMEM, "forecast: out of memory");
	fprintf(out, "made %" PRId64 " %g\n", now, a->v->confidence);
	whole = (size_t) ftell(out);
	for (uint32_t i = 0; i < f->jobs && !left; i++) {
		if (is_asked(a, f->job[i]))
			write_job(a, f, i, now, out);
		if ((size_t) ftell(out) > SL_BUNDLE_FILE_MAX)
			left = f->jobs - i;
		else
			whole = (size_t) ftell(out);
	}
	rc = fclose(out) ? sl_fail(err, SL_ENOMEM, "forecast: out of memory") :
	     sl_state_put(a->v->output, 0644, text, whole, err);
	if (!rc && left)
		fprintf(stderr, "%s: the last %" PRIu32 " of %" PRIu32 " jobs are left out: policies read %zu bytes at most\n",
			a->v->output, left, f->jobs, SL_BUNDLE_FILE_MAX);
	free(text);
	return rc;
}

/* Each job that is asked about is among those. */
static int find_asked(const struct ahead *a, const struct sl_snapshot *snap, const struct sl_forecast *f, struct sl_error *err)
{
	for (int i = 0; i < a->only_count; i++) {
		uint32_t k = 0;

		while (k < f->jobs && f->job[k] != a->only[i])
			k++;
		if (k == f->jobs)
			return sl_fail_not_queued(snap, a->only[i], err);
	}
	return 0;
}

/* -- what became of those made before ------------------------------------------------ */

static int settle(struct ahead *a, const struct sl_snapshot *snap, struct sl_history *history, struct sl_awaited *awaited,
		  struct sl_error *err)
{
	char file[PATH_MAX + 16];

	if (!a->v->learn)
		return 0;
	snprintf(file, sizeof(file), "%s" SL_AWAITED_SUFFIX, a->calibration);
	return sl_awaited_read(awaited, file, err) || sl_awaited_settle(awaited, snap, history, a->calibrator, err) ? -1 : 0;
}

/* Keep those that are new.  The list is written first: what it no longer has is never learnt twice. */
static int keep(struct ahead *a, const struct sl_snapshot *snap, const struct sl_forecast *f, struct sl_awaited *awaited,
		struct sl_error *err)
{
	char file[PATH_MAX + 16];

	if (!a->v->learn)
		return 0;
	for (uint32_t i = 0, j; i < f->jobs; i++) {
		struct sl_expected e = sl_calibrate(a->calibrator, f->wait + (size_t) i * f->draws, f->draws);

		for (j = 0; j < snap->job.rows && snap->job.id[j] != f->job[i]; j++)
			;
		if (j < snap->job.rows && sl_awaited_add(awaited, snap, j, &e, err))
			return -1;
	}
	snprintf(file, sizeof(file), "%s" SL_AWAITED_SUFFIX, a->calibration);
	return sl_awaited_write(awaited, file, err) || sl_calibrator_write(a->calibrator, a->calibration, err) ? -1 : 0;
}

static int forecast(const struct sl_snapshot *snap, void *arg, struct sl_error *err)
{
	struct ahead *a = arg;
	struct sl_awaited awaited = { 0 };
	struct sl_limits limits = { .budget_us = SL_EXPLAIN_BUDGET_US };
	struct sl_forecast_options opt = { .draws = (uint32_t) a->v->draws, .seed = (uint64_t) a->v->args.seed, .limits = &limits,
					   .only = a->only_count == 1 ? a->only[0] : 0,
					   .until_us = sl_clock_us() + a->v->seconds * 1000000 };
	struct sl_cluster *c = sl_cluster_create(snap, err);
	struct sl_forecast f = { 0 };
	int rc = -1;

	opt.history = a->ledger ? sl_history_create(sl_ledger_load_history, a->ledger, err) : NULL;
	opt.script = c && !a->ledger == !opt.history ? sl_script_create(a->bundle, &limits, err) : NULL;
	if (opt.history)
		sl_history_begin(opt.history);
	if (opt.script && !settle(a, snap, opt.history, &awaited, err))
		rc = sl_forecast_make(c, &opt, &f, &a->trace, err);
	if (rc && err->code == SL_ETIME && sl_clock_us() > opt.until_us)
		sl_fail(err, SL_ETIME, "forecast: none of %" PRIu32 " draws came to its end within %" PRId64 " s; expected more --seconds",
			opt.draws, a->v->seconds);
	if (!rc)
		rc = find_asked(a, snap, &f, err);
	if (!rc && f.missed.code)
		fprintf(stderr, "only %" PRIu32 " of %" PRIu32 " draws were made: %s\n", f.draws, opt.draws, f.missed.text);
	if (!rc)
		rc = keep(a, snap, &f, &awaited, err);
	if (!rc)
		rc = (a->v->output ? write_file : a->v->json ? print_json : print_table)(a, &f, sl_cluster_now(c), err);
	sl_awaited_clear(&awaited);
	sl_forecast_clear(&f);
	sl_script_destroy(opt.script);
	sl_history_destroy(opt.history);
	sl_cluster_destroy(c);
	return rc;
}

/* The cluster's own ledger and site file, where none are named. */
static char *find_site(const struct values *v, const char *dir)
{
	if (v->site || v->policy)
		return v->site ? strdup(v->site) : NULL;
	return *dir ? sl_explain_site(dir) : NULL;
}

/* What --calibration names, or the file that the forecast service keeps beside the site file. */
static int read_calibration(struct ahead *a, const char *site, struct sl_error *err)
{
	const char *slash = site ? strrchr(site, '/') : NULL;
	struct sl_error unread;

	if (a->v->calibration)
		snprintf(a->calibration, sizeof(a->calibration), "%s", a->v->calibration);
	else if (site)
		snprintf(a->calibration, sizeof(a->calibration), "%.*s" SL_CALIBRATION_FILE, slash ? (int) (slash + 1 - site) : 0, site);
	else if (a->v->learn)
		return sl_fail(err, SL_EINVAL, "--learn: expected --calibration, or --site, beside which it is kept");
	if ((!a->v->calibration || a->v->learn) && (!*a->calibration || access(a->calibration, F_OK)))
		return 0;
	if (a->v->calibration || a->v->learn)
		return sl_calibrator_read(a->calibrator, a->calibration, err);
	if (!sl_calibrator_read(a->calibrator, a->calibration, &unread))
		return 0;
	sl_calibrator_begin(a->calibrator, a->v->confidence);
	fprintf(stderr, "%s; forecasts are not calibrated\n", unread.text);
	return 0;
}

static int look_ahead(struct ahead *a, struct sl_error *err)
{
	const struct values *v = a->v;
	char dir[PATH_MAX] = "", file[PATH_MAX + 16], *site;
	struct sl_bundle *bundle;
	int rc = -1;

	if (!v->snapshot && sl_statedir_find(v->dir, dir, sizeof(dir), err))
		return -1;
	site = find_site(v, dir);
	bundle = site || v->policy ? sl_bundle_load(&(struct sl_bundle_source) { .policy = site ? NULL : v->policy, .site = site,
		.path = v->sim.path }, NULL, &a->trace, err) : NULL;
	if (!site && !v->policy)
		sl_fail(err, SL_ENOENT, "nothing says which policies decide: expected --site or --policy");
	a->bundle = bundle;
	if (bundle && read_calibration(a, site, err))
		goto error;
	snprintf(file, sizeof(file), "%s/ledger.db", dir);
	if (bundle && (v->ledger || (*dir && !access(file, R_OK))))
		a->ledger = sl_ledger_open(v->ledger ? v->ledger : file, SL_LEDGER_READ, err);
	if (bundle && (a->ledger || !v->ledger))
		rc = sl_explain_snapshot(v->snapshot, forecast, a, err);
error:
	if (rc)
		sl_tool_trace(a->trace, stderr);
	sl_ledger_close(a->ledger);
	sl_bundle_destroy(bundle);
	free(site);
	return rc;
}

static int read_jobs(const struct sl_verb *verb, struct ahead *a, char **argv, int n)
{
	for (int i = 0; i < n; i++) {
		char *end;
		unsigned long long id = strtoull(argv[i], &end, 10);

		if (end == argv[i] || *end || !id || id >= UINT32_MAX || *argv[i] == '-')
			return sl_tool_usage(verb, "\"%s\" is no job id: expected a number, as squeue -o %%A prints it", argv[i]);
		a->only[i] = (uint32_t) id;
	}
	a->only_count = n;
	return 0;
}

/* What contradicts itself, or would be left out without a word; NULL: nothing. */
static const char *options_wrong(const struct values *v, int jobs)
{
	if (v->site && v->policy)
		return "--site and --policy exclude each other";
	if (v->workload && (jobs || v->snapshot || v->output))
		return "--workload goes with neither job ids nor --snapshot nor --output";
	if (v->output && v->json)
		return "--output and --json exclude each other";
	if (v->workload && (v->dir || v->ledger))
		return "--workload goes with neither --dir nor --ledger: what is known of the past is the log's";
	if ((v->arrivals || v->submission) && !v->workload)
		return v->arrivals ? "--arrivals goes with --workload" : "--submission goes with --workload";
	if (v->learn && (v->workload || jobs))
		return "--learn goes with neither --workload nor job ids";
	return sl_sim_args_wrong(&v->sim);
}

static int run(const struct sl_verb *verb, int argc, char **argv)
{
	struct sl_calibrator calibrator;
	struct sl_error err = { 0 };
	struct values v;
	int status, rc, n = sl_tool_parse(verb, &v, argc, argv, 0, 1000, &status);
	uint32_t only[1000];
	struct ahead a = { .v = &v, .calibrator = &calibrator, .only = only };

	if (n < 0)
		return status;
	if (options_wrong(&v, n))
		return sl_tool_usage(verb, "%s", options_wrong(&v, n));
	status = read_jobs(verb, &a, argv, n);
	if (status)
		return status;
	sl_calibrator_begin(&calibrator, v.confidence);
	rc = v.workload ? look_back(&v, &calibrator, &err) : look_ahead(&a, &err);
	free(a.trace);
	return rc ? sl_tool_fail(&err) : sl_tool_end(SL_EXIT_FINE);
}

const struct sl_verb sl_verb_forecast = {
	.name = "forecast",
	.operands = "[OPTION]... [JOBID]...",
	.summary = "say when pending jobs will start, as intervals",
	.options = options,
	.run = run,
};
