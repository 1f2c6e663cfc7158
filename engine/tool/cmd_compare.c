/* SPDX-License-Identifier: MIT */
/*
 * cmd_compare.c - schedlua compare: policies x workloads x seeds, one table.
 */
#include "tool/tool.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/json_out.h"
#include "tool/progress.h"
#include "sim/schedule_page.h"
#include "tool/sim_args.h"
#include "sim/sweep.h"
#include "base/grow.h"
#include "base/lines.h"
#include "base/text.h"
#include "report/interval.h"

struct values {
	struct sl_workload_args args;
	struct sl_sim_args sim;
	const char *policies, *part, *report, *starts;
	int64_t seeds, workers;
	bool json, csv, runs, quiet;
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
	SL_SIM_ARGS(values, sim),
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

static const struct figure {
	const char *key;		/* as in schedlua sim --json */
	const char *title;		/* in the table for people, or NULL */
	double (*of)(const struct sl_result *r);
	int digits;
} figures[] = {
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
};
#define FIGURES (sizeof(figures) / sizeof(figures[0]))

struct compare {
	const struct values *v;
	char **workload;
	uint32_t workloads;
	char **policy;			/* words of one string */
	uint32_t policies;
	uint32_t *start, starts;	/* of sequences; at least one */
	uint32_t repeats;		/* seeds x starts */
	char **option;			/* names of the policies' options: columns */
	uint32_t options;
	struct sl_trial_options *trial;
	struct sl_trial_outcome *outcome;
	struct sl_mapped_schedule *schedule;	/* with a report */
	uint32_t trials;
	struct sl_page *page;
};

/* A line of the table: outcomes of equal workload and policy. */
struct line {
	const char *workload, *policy;
	uint64_t seed, start;
	const struct sl_trial_outcome *outcome;
	uint32_t step, runs;		/* outcome[0], outcome[step], ... */
	uint32_t failed;
};

/* Mean, standard deviation of a sample, and half of the 95 % interval of the mean. */
static void summarize(const struct line *l, const struct figure *f, double *mean, double *sd, double *ci)
{
	uint32_t n = 0;
	double sum = 0, squares = 0;

	for (uint32_t i = 0; i < l->runs; i++)
		if (!l->outcome[i * l->step].err.code) {
			sum += f->of(&l->outcome[i * l->step].result);
			n++;
		}
	*mean = n ? sum / n : NAN;
	for (uint32_t i = 0; i < l->runs; i++)
		if (!l->outcome[i * l->step].err.code)
			squares += pow(f->of(&l->outcome[i * l->step].result) - *mean, 2);
	*sd = n > 1 ? sqrt(squares / (n - 1)) : 0;
	*ci = n > 1 ? sl_student95(n - 1) * *sd / sqrt(n) : NAN;
}

/* -- output ---------------------------------------------------------------------- */

struct sink {
	const struct compare *c;
	struct sl_text_table *table;
	struct sl_json *json;
	bool runs, several;		/* a line a run; lines stand for several */
};

static bool is_site(const char *policy)
{
	return !strncmp(policy, "site=", 5);
}

static void put_csv_text(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		if (*s == '"')
			putchar('"');
		putchar(*s);
	}
	putchar('"');
}

/* The next option of "NAME,OPTION=VALUE,...", from *at on; false: there is none. */
static bool next_option(const char **at, char name[64], char value[128])
{
	while (**at) {
		size_t n;
		const char *eq;

		*at += strcspn(*at, ",");
		*at += **at == ',';
		n = strcspn(*at, ",");
		eq = memchr(*at, '=', n);
		if (!eq || eq - *at > 63)
			continue;
		snprintf(name, 64, "%.*s", (int) (eq - *at), *at);
		snprintf(value, 128, "%.*s", (int) (n - (size_t) (eq + 1 - *at)), eq + 1);
		return true;
	}
	return false;
}

/* A policy's name and options, in the columns of all policies' options. */
static void put_options(const struct compare *c, const char *policy)
{
	char name[64], value[128], plain[256];

	snprintf(plain, sizeof(plain), "%.*s", (int) (is_site(policy) ? strlen(policy) : strcspn(policy, ",")), policy);
	putchar(',');
	put_csv_text(plain);
	for (uint32_t i = 0; i < c->options; i++) {
		const char *at = is_site(policy) ? "" : policy;

		putchar(',');
		while (next_option(&at, name, value))
			if (!strcmp(name, c->option[i]))
				put_csv_text(value);
	}
}

static void json_options(struct sl_json *j, const char *policy)
{
	char name[64], value[128], plain[256];
	const char *at = is_site(policy) ? "" : policy;

	snprintf(plain, sizeof(plain), "%.*s", (int) (is_site(policy) ? strlen(policy) : strcspn(policy, ",")), policy);
	sl_json_put_str(j, "name", plain);
	sl_json_open_object(j, "options");
	while (next_option(&at, name, value))
		sl_json_put_str(j, name, value);
	sl_json_end_object(j);
}

static void csv_line(const struct sink *sink, const struct line *l)
{
	put_csv_text(l->workload);
	putchar(',');
	put_csv_text(l->policy);
	put_options(sink->c, l->policy);
	if (sink->runs)
		printf(",%" PRIu64 ",%" PRIu64 ",%" PRIu32, l->seed, l->start, l->failed);
	else
		printf(",%" PRIu32 ",%" PRIu32, l->runs, l->failed);
	for (size_t f = 0; f < FIGURES; f++) {
		double mean, sd, ci;

		summarize(l, &figures[f], &mean, &sd, &ci);
		printf(isfinite(mean) ? ",%.10g" : ",", mean);
		if (!sink->runs)
			printf(isfinite(mean) ? ",%.10g" : ",", sd);
		if (!sink->runs)
			printf(isfinite(ci) ? ",%.10g" : ",", ci);
	}
	putchar('\n');
}

static void json_line(const struct sink *sink, const struct line *l)
{
	struct sl_json *j = sink->json;

	sl_json_break(j);
	sl_json_begin_object(j);
	sl_json_put_str(j, "workload", l->workload);
	sl_json_put_str(j, "policy", l->policy);
	json_options(j, l->policy);
	sl_json_put_int(j, sink->runs ? "seed" : "runs", sink->runs ? (int64_t) l->seed : l->runs);
	if (sink->runs)
		sl_json_put_int(j, "start", (int64_t) l->start);
	sl_json_put_int(j, "failed", l->failed);
	for (size_t f = 0; f < FIGURES; f++) {
		double mean, sd, ci;

		summarize(l, &figures[f], &mean, &sd, &ci);
		if (sink->runs) {
			sl_json_put_real(j, figures[f].key, mean);
			continue;
		}
		sl_json_open_object(j, figures[f].key);
		sl_json_put_real(j, "mean", mean);
		sl_json_put_real(j, "sd", sd);
		if (isfinite(ci))
			sl_json_put_real(j, "ci95", ci);
		sl_json_end_object(j);
	}
	sl_json_end_object(j);
}

static void table_line(const struct sink *sink, const struct line *l)
{
	sl_text_table_add(sink->table, l->workload);
	sl_text_table_add(sink->table, l->policy);
	if (sink->runs)
		sl_text_table_addf(sink->table, "%" PRIu64, l->seed);
	if (sink->runs)
		sl_text_table_addf(sink->table, "%" PRIu64, l->start);
	for (size_t f = 0; f < FIGURES; f++) {
		double mean, sd, ci;

		if (!figures[f].title)
			continue;
		summarize(l, &figures[f], &mean, &sd, &ci);
		if (!isfinite(mean))
			sl_text_table_add(sink->table, "failed");
		else if (sink->several)
			sl_text_table_addf(sink->table, "%.*f ± %.*f", figures[f].digits, mean, figures[f].digits, sd);
		else
			sl_text_table_addf(sink->table, "%.*f", figures[f].digits, mean);
	}
}

static void csv_titles(const struct sink *sink)
{
	fputs("workload,policy,name", stdout);
	for (uint32_t i = 0; i < sink->c->options; i++)
		printf(",option_%s", sink->c->option[i]);
	printf(",%s,failed", sink->runs ? "seed,start" : "runs");
	for (size_t f = 0; f < FIGURES; f++) {
		printf(",%s", figures[f].key);
		if (!sink->runs)
			printf(",%s_sd,%s_ci95", figures[f].key, figures[f].key);
	}
	putchar('\n');
}

static struct sl_text_table *make_table(const struct sink *sink)
{
	char titles[512];
	int n = snprintf(titles, sizeof(titles), "workload,policy%s", sink->runs ? ",>seed,>start" : "");

	for (size_t f = 0; f < FIGURES; f++)
		if (figures[f].title)
			n += snprintf(titles + n, sizeof(titles) - (size_t) n, ",>%s", figures[f].title);
	return sl_text_table_create(titles);
}

static void put_line(const struct compare *c, const struct sink *sink, const struct line *l)
{
	if (c->v->json)
		json_line(sink, l);
	else if (c->v->csv)
		csv_line(sink, l);
	else
		table_line(sink, l);
}

/* Trials are in the order of workload, seed, start, policy; lines of workload, policy. */
static void put_lines(const struct compare *c, const struct sink *sink)
{
	uint32_t repeats = c->repeats;

	for (uint32_t i = 0; sink->runs && i < c->trials; i++) {
		const struct sl_trial_options *t = &c->trial[i];
		struct line l = { t->workload, t->source.site ? t->source.site : t->source.policy,
				  t->workload_options.seed, t->workload_options.skip, &c->outcome[i], 0, 1,
				  c->outcome[i].err.code != SL_OK };

		put_line(c, sink, &l);
	}
	for (uint32_t w = 0; !sink->runs && w < c->workloads; w++)
		for (uint32_t p = 0; p < c->policies; p++) {
			struct line l = { c->workload[w], c->policy[p], 0, 0,
					  &c->outcome[w * repeats * c->policies + p], c->policies, repeats, 0 };

			for (uint32_t i = 0; i < repeats; i++)
				l.failed += l.outcome[i * l.step].err.code != SL_OK;
			put_line(c, sink, &l);
		}
}

static int print(const struct compare *c, struct sl_error *err)
{
	struct sink sink = { .c = c, .runs = c->v->runs, .several = !c->v->runs && c->repeats > 1 };
	int rc = 0;

	if (c->v->json) {
		sink.json = sl_json_create(stdout, err);
		if (!sink.json)
			return -1;
		sl_json_begin_array(sink.json);
	} else if (c->v->csv) {
		csv_titles(&sink);
	} else if (!(sink.table = make_table(&sink))) {
		return sl_fail(err, SL_ENOMEM, "compare: out of memory");
	}
	put_lines(c, &sink);
	if (sink.json) {
		sl_json_break(sink.json);
		sl_json_end_array(sink.json);
		rc = sl_json_end(sink.json, err);
	}
	if (sink.table && sl_text_table_print(sink.table, 0, stdout) < 0)
		rc = sl_fail(err, SL_ENOMEM, "compare: out of memory while printing");
	sl_text_table_destroy(sink.table);
	return rc;
}

/* -- what is run ----------------------------------------------------------------- */

static int split_policies(struct compare *c, char *words, struct sl_error *err)
{
	char *save = NULL;

	c->policy = calloc(strlen(words) / 2 + 2, sizeof(*c->policy));
	if (!c->policy)
		return sl_fail(err, SL_ENOMEM, "compare: out of memory");
	for (char *w = strtok_r(words, " \t\n", &save); w; w = strtok_r(NULL, " \t\n", &save))
		c->policy[c->policies++] = w;
	return c->policies ? 0 : sl_fail(err, SL_EINVAL, "--policies: expected at least one");
}

/* The columns of all policies' options, in the order in which they come. */
static int list_options(struct compare *c, struct sl_error *err)
{
	char name[64], value[128];

	for (uint32_t p = 0; p < c->policies; p++)
		for (const char *at = is_site(c->policy[p]) ? "" : c->policy[p]; next_option(&at, name, value);) {
			uint32_t i = 0;

			while (i < c->options && strcmp(c->option[i], name))
				i++;
			if (i < c->options)
				continue;
			if (sl_grow_list(&c->option, c->options, sizeof(*c->option), err))
				return -1;
			if (!(c->option[c->options] = strdup(name)))
				return sl_fail(err, SL_ENOMEM, "compare: out of memory");
			c->options++;
		}
	return 0;
}

/* "0 1024 2048"; one, from the first job on, where nothing is said. */
static int list_starts(struct compare *c, struct sl_error *err)
{
	const char *at = c->v->starts ? c->v->starts : "0";
	int64_t n;

	for (at += strspn(at, " \t\n,"); *at; at += strspn(at, " \t\n,")) {
		if (!sl_scan_int(&at, &n) || n < 0 || n > SL_WORKLOAD_MAX_JOBS || (*at && !strchr(" \t\n,", *at)))
			return sl_fail(err, SL_EINVAL, "--starts=%s: expected numbers of jobs", c->v->starts);
		if (sl_grow_list(&c->start, c->starts, sizeof(*c->start), err))
			return -1;
		c->start[c->starts++] = (uint32_t) n;
	}
	c->repeats = (uint32_t) c->v->seeds * c->starts;
	return c->repeats ? 0 : sl_fail(err, SL_EINVAL, "--starts: expected at least one");
}

static struct sl_trial_options make_trial(const struct compare *c, uint32_t i)
{
	const struct values *v = c->v;
	const char *policy = c->policy[i % c->policies];
	struct sl_trial_options t = {
		.workload = c->workload[i / c->policies / c->repeats],
		.workload_options = sl_workload_args(&v->args), .source = { .path = v->sim.path }, .sim = sl_sim_args(&v->sim),
	};
	uint32_t repeat = i / c->policies % c->repeats;

	t.workload_options.seed += repeat / c->starts;
	t.workload_options.skip += c->start[repeat % c->starts];
	t.sim.keep_schedule = c->page && !repeat;
	if (is_site(policy))
		t.source.site = policy + 5;
	else
		t.source.policy = policy;
	return t;
}

/* All that are wrong are told before the first is simulated.  0, or 1 when some are. */
static int try_policies(const struct compare *c)
{
	int failed = 0;

	for (uint32_t p = 0; p < c->policies; p++) {
		const struct sl_trial_options t = make_trial(c, p);
		struct sl_limits limits = { 0 };
		struct sl_error err;
		char *trace = NULL;
		struct sl_bundle *b = sl_bundle_load(&t.source, &limits, &trace, &err);

		if (!b)
			fprintf(stderr, "schedlua: %s: %s\n", c->policy[p], err.text);
		failed |= !b;
		sl_bundle_destroy(b);
		free(trace);
	}
	return failed;
}

/* "3/10": of 10 parts the one after three others. */
static int parse_part(const char *text, uint32_t *part, uint32_t *parts, struct sl_error *err)
{
	char rest;

	*part = 0;
	*parts = 1;
	if (text && (sscanf(text, "%" SCNu32 "/%" SCNu32 "%c", part, parts, &rest) != 2 || *part >= *parts))
		return sl_fail(err, SL_EINVAL, "--part=%s: expected I/N with I from 0 to N - 1, as in 3/10", text);
	return 0;
}

static int make_trials(struct compare *c, struct sl_error *err)
{
	uint64_t all = (uint64_t) c->workloads * c->policies * c->repeats;
	uint32_t part, parts;

	if (parse_part(c->v->part, &part, &parts, err) < 0)
		return -1;
	if (all > 1000000)
		return sl_fail(err, SL_ELIMIT, "%" PRIu64 " simulations, at most 1000000 at once", all);
	c->trial = calloc(all + 1, sizeof(*c->trial));
	c->outcome = calloc(all + 1, sizeof(*c->outcome));
	if (c->page)
		c->schedule = calloc(all + 1, sizeof(*c->schedule));
	if (!c->trial || !c->outcome || (c->page && !c->schedule))
		return sl_fail(err, SL_ENOMEM, "compare: out of memory");
	for (uint32_t i = part; i < all; i += parts)
		c->trial[c->trials++] = make_trial(c, i);
	return 0;
}

static void show_progress(double share, uint32_t done, uint32_t trials, void *arg)
{
	sl_progress_share(arg, share, done, trials);
}

/* What was left out of each workload, once: of the first of its simulations. */
static void tell_issues(const struct compare *c)
{
	for (uint32_t i = 0; i < c->trials; i++)
		if (!i || strcmp(c->trial[i].workload, c->trial[i - 1].workload))
			sl_issues_print(c->trial[i].workload, c->outcome[i].issue, "schedlua: ", stderr);
}

static int run_all(struct compare *c, struct sl_error *err)
{
	struct sl_progress bar;
	struct sl_sweep sweep = {
		.trial = c->trial, .outcome = c->outcome, .schedule = c->schedule, .trials = c->trials, .bound = true,
		.workers = (uint32_t) c->v->workers, .progress = show_progress, .progress_arg = &bar,
	};
	uint64_t cut = 0;
	int rc, failed = 0;

	fflush(stdout);
	sl_progress_begin(&bar, "simulations", c->v->quiet);
	rc = sl_sweep_run(&sweep, err);
	sl_progress_end(&bar);
	if (!rc && !c->v->quiet)
		tell_issues(c);
	for (uint32_t i = 0; !rc && i < c->trials; i++) {
		cut += c->outcome[i].result.solves_cut;
		if (!c->outcome[i].err.code)
			continue;
		failed++;
		fprintf(stderr, "schedlua: %s, seed %" PRIu64 ", %s: %s\n", c->trial[i].workload,
			c->trial[i].workload_options.seed,
			c->trial[i].source.site ? c->trial[i].source.site : c->trial[i].source.policy,
			c->outcome[i].err.text);
	}
	sl_sim_args_warn(cut);
	return rc ? rc : failed > 0;
}

/* -- the report -------------------------------------------------------------------- */

static struct sl_page *open_report(const struct compare *c, struct sl_error *err)
{
	char title[512];

	snprintf(title, sizeof(title), "%" PRIu32 " policies on %s%s", c->policies, sl_sim_args_base(c->workload[0]),
		 c->workloads > 1 ? " and others" : "");
	return sl_page_open(c->v->report, title, err);
}

/* A workload and what each policy made of it, with the first seed. */
static int report_workload(const struct compare *c, uint32_t workload, struct sl_error *err)
{
	uint32_t first = workload * c->repeats * c->policies, p = 0;
	struct sl_workload *w;
	int rc = 0;

	while (p < c->policies && c->outcome[first + p].err.code)
		p++;
	if (p == c->policies)
		return 0;	/* none: told already */
	w = sl_workload_load(c->workload[workload], &c->trial[first].workload_options, err);
	if (!w || sl_sim_args_page(&c->v->sim, &c->v->args, w, c->page, err) < 0)
		rc = -1;
	for (; !rc && p < c->policies; p++)
		if (!c->outcome[first + p].err.code)
			rc = sl_schedule_page(c->page, c->policy[p], w, &c->schedule[first + p].schedule,
					      &c->outcome[first + p].result, err);
	sl_workload_destroy(w);
	return rc;
}

static int write_report(const struct compare *c, struct sl_error *err)
{
	for (uint32_t i = 0; i < c->workloads; i++)
		if (report_workload(c, i, err) < 0)
			return -1;
	return sl_page_finish(c->page, err);
}

/* -- the verb -------------------------------------------------------------------- */

static void free_compare(struct compare *c)
{
	for (uint32_t i = 0; c->schedule && i < c->trials; i++)
		sl_sweep_unmap(&c->schedule[i]);
	sl_page_destroy(c->page);
	free(c->schedule);
	free(c->trial);
	free(c->outcome);
	free(c->policy);
	free(c->start);
	for (uint32_t i = 0; i < c->options; i++)
		free(c->option[i]);
	free(c->option);
}

static int run(const struct sl_verb *verb, int argc, char **argv)
{
	struct sl_error err = { 0 };
	struct values v;
	struct compare c = { .v = &v, .workload = argv };
	char *words = NULL;
	int status, rc, n = sl_tool_parse(verb, &v, argc, argv, 1, -1, &status);

	if (n < 0)
		return status;
	c.workloads = (uint32_t) n;
	if (v.json && v.csv)
		return sl_tool_usage(verb, "--json and --csv: expected one of them");
	if (sl_sim_args_wrong(&v.sim))
		return sl_tool_usage(verb, "%s", sl_sim_args_wrong(&v.sim));
	if (v.part && !v.runs)
		return sl_tool_usage(verb, "--part: expected --runs as well: a part has no means");
	if (v.part && v.report)
		return sl_tool_usage(verb, "--part and --report: expected one of them");
	words = strdup(v.policies);
	rc = words ? split_policies(&c, words, &err) : sl_fail(&err, SL_ENOMEM, "compare: out of memory");
	if (!rc && v.report && !(c.page = open_report(&c, &err)))	/* before the runs, not after them */
		rc = -1;
	if (!rc && (list_options(&c, &err) < 0 || list_starts(&c, &err) < 0))
		rc = -1;
	if (!rc)
		rc = make_trials(&c, &err);
	if (!rc && try_policies(&c)) {
		free_compare(&c);
		free(words);
		return SL_EXIT_FAILED;
	}
	if (!rc)
		rc = run_all(&c, &err);
	if (rc >= 0 && (print(&c, &err) < 0 || (c.page && write_report(&c, &err) < 0)))
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
	.text =
		"Simulates each workload under each policy, with as many seeds as --seeds says, and\n"
		"prints one line for each workload and policy: waiting time, its 99th percentile and\n"
		"its longest, bounded slowdown, slowdown, utilization beside what no schedule can\n"
		"exceed, blocks of nodes and spread of a job, and how unequal users' waits are.  With\n"
		"several seeds, or sequences (--starts), a figure is mean ± standard deviation (of a sample)\n"
		"over them.\n"
		"\n"
		"All policies see the same jobs.  Simulations run in processes of their own, as many\n"
		"at a time as there are processors; the output does not depend on that.  Policies that are\n"
		"wrong are told before the first of them.  One that fails is told on stderr and makes the\n"
		"status 1; the others count.\n"
		"\n"
		"--report writes one HTML page, as *schedlua sim* does, with the schedules of all\n"
		"policies under the first seed: Gantt charts below one another, utilization, queue\n"
		"and waits overlaid; of several workloads the reader chooses one.\n"
		"\n"
		"Workloads, machines and estimates are those of *schedlua sim*.\n",
	.more =
		"# OUTPUT\n"
		"--json and --csv have the keys of *schedlua sim --json*: wait_mean_s, wait_p99_s,\n"
		"wait_max_s, bsld_mean, slowdown_mean, utilization, utilization_bound,\n"
		"gpu_utilization, fragmentation_mean, spread_mean, user_wait_gini,\n"
		"first_job_wait_mean_s, makespan_s, jobs, unfinished; each as {mean, sd, ci95} or as three\n"
		"columns, KEY, KEY_sd and KEY_ci95: the mean's 95 % interval is KEY ± KEY_ci95 (Student's\n"
		"t).  With --runs there is one value each, and the seed and start.  *policy* is as given;\n"
		"*name* is its first word, and each option that any of them has is a column of its own,\n"
		"*option_NAME*, or in the object *options*.\n"
		"# SWEEPS ON A CLUSTER\n"
		"A sweep that is too large for a machine runs as a Slurm job array: each task runs\n"
		"--part=I/N of the simulations and writes CSV with --runs (examples/sweep.sbatch).\n"
		"# EXAMPLES\n"
		"    schedlua compare KTH-SP2-1996-2.swf.gz CTC-SP2-1996-3.swf.gz\n"
		"    schedlua compare --policies=\"easy conservative,window=50 site=/etc/slurm/sched.lua\" \\\n"
		"        --seeds=7 auction:V.1 auction:V.2 auction:V.3\n"
		"    schedlua compare --first=1024 --starts=\"1981 2756 4299\" --csv --policies=\"easy fcfs\" \\\n"
		"        lublin_256.swf.gz\n"
		"    schedlua compare --report=easy-or-fcfs.html --policies=\"easy fcfs\" esp\n"
		"    schedlua compare --runs --csv --part=0/10 --seeds=100 esp-gpu >part0.csv\n",
	.run = run,
};
