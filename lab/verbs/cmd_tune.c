/* SPDX-License-Identifier: MIT */
/*
 * cmd_tune.c - schedlua tune: the options of a site, tried on its own jobs.
 */
#include "tool/tool.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "base/text.h"
#include "sim/tune.h"
#include "tool/progress.h"
#include "verbs/sim_args.h"
#include "verbs/verbs.h"

struct values {
	struct sl_workload_args args;
	struct sl_sim_args sim;
	const char *site, *workload, *objective, *output, *state, *part;
	int64_t trials, workers;
	double hours, window;
	bool quiet;
};

static const struct sl_option options[] = {
	{ .name = "site", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, site), .argument = "FILE",
	  .doc = "the site file whose policies' options are tuned" },
	{ .name = "workload", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, workload), .argument = "WORKLOAD",
	  .doc = "the site's own jobs, as schedlua sim reads them" },
	{ .name = "objective", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, objective), .argument = "FIGURE",
	  .standard = "bsld", .doc = "what is to become better: bsld, wait, longest, utilization or fairness; of stops: stops, lost, lost-gpus or urgent" },
	{ .name = "trials", .type = SL_OPTION_INTEGER, .offset = offsetof(struct values, trials), .argument = "N",
	  .min = 2, .max = 100000, .standard = "27", .doc = "settings to try, the present one among them" },
	{ .name = "hours", .type = SL_OPTION_NUMBER, .offset = offsetof(struct values, hours), .argument = "N",
	  .min = 0, .max = 10000, .doc = "begin no simulation after so many hours; 0: however long it takes" },
	{ .name = "window", .type = SL_OPTION_NUMBER, .offset = offsetof(struct values, window), .argument = "DAYS",
	  .min = 0.01, .max = 3650, .standard = "7", .doc = "the log is cut into windows of so many days" },
	{ .name = "state", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, state), .argument = "DIRECTORY",
	  .doc = "keep results there, and go on from those that are there" },
	{ .name = "part", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, part), .argument = "I/N",
	  .doc = "with --state: do part I of N, I from 0 on, of the next step and end: for job arrays" },
	{ .name = "output", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, output), .argument = "FILE",
	  .doc = "write the site file with the best setting, where it is better for sure" },
	{ .name = "workers", .type = SL_OPTION_INTEGER, .offset = offsetof(struct values, workers), .argument = "N",
	  .min = 0, .max = 4096, .standard = "0", .doc = "simulations at a time; 0: as many as there are processors" },
	SL_WORKLOAD_ARGS(values, args),
	SL_SIM_ARGS(values, sim),
	{ .name = "quiet", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, quiet), .doc = "no progress bar" },
	{ 0 }
};

static const struct figure {
	const char *key, *title;
	int digits;
	bool more_is_better;
	double unit;			/* that is printed, in that of the figure; 0: the same */
} figures[SL_TUNE_FIGURES] = {
	[SL_TUNE_WAIT] = { "wait", "wait s", 0, false, 0 },
	[SL_TUNE_BSLD] = { "bsld", "bounded slowdown", 2, false, 0 },
	[SL_TUNE_UTILIZATION] = { "utilization", "utilization", 4, true, 0 },
	[SL_TUNE_LONGEST] = { "longest", "longest wait s", 0, false, 0 },
	[SL_TUNE_GINI] = { "fairness", "Gini of users' waits", 3, false, 0 },
	[SL_TUNE_STOPS] = { "stops", "stops", 1, false, 0 },
	[SL_TUNE_LOST] = { "lost", "lost core-h", 1, false, 3600 },
	[SL_TUNE_LOST_GPUS] = { "lost-gpus", "lost GPU-h", 1, false, 3600 },
	[SL_TUNE_URGENT] = { "urgent", "preemptors' wait s", 0, false, 0 },
};

static double in_unit(const struct figure *f, double value)
{
	return f->unit > 0 ? value / f->unit : value;
}

void sl_tune_figures(void (*tell)(const char *word, void *arg), void *arg)
{
	for (int f = 0; f < SL_TUNE_FIGURES; f++)
		tell(figures[f].key, arg);
}

/* -- being ended -------------------------------------------------------------- */

/* Ctrl-C, or the end of the hours, ends it when the simulations that run are done; a second Ctrl-C at once. */
static const volatile sig_atomic_t *stop_on_signals(double hours)
{
	struct itimerval when = { .it_value = { (time_t) (hours * 3600), (suseconds_t) (fmod(hours * 3600, 1) * 1e6) } };

	sl_tool_stop_on(SIGTERM);
	sl_tool_stop_on(SIGALRM);
	if (hours > 0)
		setitimer(ITIMER_REAL, &when, NULL);
	return sl_tool_stop_on(SIGINT);
}

/* -- output ---------------------------------------------------------------------- */

static void add_row(struct sl_text_table *table, const struct sl_tune *t, const char *name, uint32_t setting, bool gain)
{
	sl_text_table_add(table, name);
	for (int f = 0; f < SL_TUNE_FIGURES; f++) {
		double half, x = (gain ? sl_tune_gain : sl_tune_mean)(t, setting, f, &half);

		if (sl_tune_knows(t, f))
			sl_text_table_addf(table, gain ? "%+.*f ± %.*f" : "%.*f ± %.*f", figures[f].digits, in_unit(&figures[f], x),
					   figures[f].digits, in_unit(&figures[f], half));
	}
}

static int print_table(const struct sl_tune *t, struct sl_error *err)
{
	struct sl_text_table *table;
	char titles[256] = "setting", name[32];
	size_t n = strlen(titles);
	int rc;

	for (int f = 0; f < SL_TUNE_FIGURES; f++)
		if (sl_tune_knows(t, f))
			n += (size_t) snprintf(titles + n, sizeof(titles) - n, ",>%s", figures[f].title);
	table = sl_text_table_create(titles);
	for (uint32_t i = 0; table && i < t->finalists; i++) {
		snprintf(name, sizeof(name), i ? "%s %" PRIu32 : "%s present", sl_tune_is_pareto(t, t->finalist[i]) ? "*" : " ", i);
		add_row(table, t, name, t->finalist[i], false);
		if (i)
			add_row(table, t, "    than now", t->finalist[i], true);
	}
	rc = table && !sl_text_table_print(table, 0, stdout) ? 0 : sl_fail(err, SL_ENOMEM, "tune: out of memory");
	sl_text_table_destroy(table);
	putchar('\n');
	for (uint32_t i = 1; !rc && i < t->finalists; i++) {
		char *words = sl_tune_words(t, t->finalist[i], err);

		rc = words ? 0 : -1;
		printf("%" PRIu32 ": %s\n", i, words ? words : "");
		free(words);
	}
	return rc;
}

static int write_site(const struct sl_tune *t, uint32_t setting, const char *path, struct sl_error *err)
{
	char *text = sl_tune_site(t, setting, err);
	FILE *out = text ? fopen(path, "we") : NULL;
	int rc = out ? 0 : text ? sl_fail(err, SL_EIO, "%s: %m", path) : -1;

	if (out && (fputs(text, out) < 0 || fclose(out)))
		rc = sl_fail(err, SL_EIO, "%s: %m", path);
	if (!rc)
		printf("%s is written: try it with schedlua check and compare.\n", path);
	free(text);
	return rc;
}

/* Is the best setting better than the present one on windows that it was not chosen by, or is that noise? */
static int judge(const struct values *v, const struct sl_tune *t, struct sl_error *err)
{
	const struct figure *f = &figures[t->opt.objective];
	uint32_t best = t->finalist[t->finalists > 1 ? 1 : 0], judges = 0;
	double half, gain = in_unit(f, sl_tune_gain(t, best, t->opt.objective, &half)), unused;
	double now = in_unit(f, sl_tune_mean(t, 0, t->opt.objective, &unused));
	bool better;

	half = in_unit(f, half);
	better = (f->more_is_better ? gain : -gain) > half;
	for (uint32_t w = 0; w < t->windows; w++)
		judges += t->window[w].judges;
	printf("\nSetting 1, on %" PRIu32 " windows of %g days that it was not chosen by, changes the %s\nfrom %.*f by %+.*f ± %.*f "
	       "(95 %%): ", judges, (double) t->opt.window_s / 86400, f->title, f->digits, now, f->digits, gain, f->digits, half);
	if (!better) {
		printf("%s\n", fabs(gain) <= half ? "that may as well be noise, so the present setting stays." :
						    "that is worse, so the present setting stays.");
		return 0;
	}
	printf("that is more than the noise.\n");
	return v->output ? write_site(t, best, v->output, err) : 0;
}

/* -- the verb -------------------------------------------------------------------- */

static int read_options(const struct values *v, struct sl_tune_options *opt, struct sl_error *err)
{
	int f = 0;

	while (f < SL_TUNE_FIGURES && strcmp(v->objective, figures[f].key))
		f++;
	if (f == SL_TUNE_FIGURES)
		return sl_fail(err, SL_EINVAL, "--objective=%s: expected bsld, wait, longest, utilization, fairness, stops, lost, lost-gpus or urgent", v->objective);
	opt->objective = (enum sl_tune_figure) f;
	return sl_sim_args_part(v->part, &opt->part, &opt->parts, err);
}

static int tune(const struct values *v, struct sl_tune *t, const struct sl_tune_options *opt, struct sl_error *err)
{
	int rc = sl_tune_open(t, opt, err);

	if (rc < 0)
		return -1;
	if (!v->quiet)
		fprintf(stderr, "schedlua: %" PRIu32 " settings of %" PRIu32 " options, %" PRIu32 " windows of %g days, half of them to learn "
			"from\n", t->settings, t->tunables, t->windows, v->window);
	return sl_tune_run(t, err);
}

static int run(const struct sl_verb *verb, int argc, char **argv)
{
	struct sl_error err = { 0 };
	struct sl_tune t = { 0 };
	struct sl_progress bar;
	struct values v;
	int status, rc, n = sl_tool_parse(verb, &v, argc, argv, 0, 0, &status);
	struct sl_tune_options opt;

	if (n < 0)
		return status;
	if (!v.site || !v.workload)
		return sl_tool_usage(verb, "--%s is missing", v.site ? "workload" : "site");
	if (sl_sim_args_wrong(&v.sim))
		return sl_tool_usage(verb, "%s", sl_sim_args_wrong(&v.sim));
	if (v.part && !v.state)
		return sl_tool_usage(verb, "--part: expected --state as well: parts meet there");
	opt = (struct sl_tune_options) {
		.site = v.site, .window_s = llround(v.window * 86400), .trials = (uint32_t) v.trials,
		.seed = (uint64_t) v.args.seed, .workers = (uint32_t) v.workers, .state = v.state, .stop = stop_on_signals(v.hours),
		.progress = sl_progress_trials, .progress_arg = &bar,
		.trial = { .workload = v.workload, .workload_options = sl_workload_args(&v.args),
			   .source = { .path = v.sim.path }, .sim = sl_sim_args(&v.sim) },
	};
	fflush(stdout);
	sl_progress_begin(&bar, "simulations", v.quiet);
	rc = read_options(&v, &opt, &err) < 0 ? -1 : tune(&v, &t, &opt, &err);
	sl_progress_end(&bar);
	if (rc > 0 && (print_table(&t, &err) < 0 || judge(&v, &t, &err) < 0))
		rc = -1;
	if (rc < 0)
		sl_tool_fail(&err);
	else if (!rc && *opt.stop)
		fprintf(stderr, "schedlua: stopped after %" PRIu64 " simulations; %s\n", t.simulated, v.state ?
			"the same command goes on from there" : "with --state they would not be lost");
	else if (!rc)
		fprintf(stderr, "schedlua: part %s is done (%" PRIu64 " simulations); %" PRIu32 " of this step are missing\n", v.part,
			t.simulated, t.missing);
	sl_tune_free(&t);
	return sl_tool_end(rc < 0 || (!rc && *opt.stop) ? SL_EXIT_FAILED : SL_EXIT_FINE);
}

const struct sl_verb sl_verb_tune = {
	.name = "tune",
	.operands = "--site=FILE --workload=WORKLOAD [OPTION]...",
	.summary = "search the options of a site's policies on its own jobs",
	.options = options,
	.run = run,
};
