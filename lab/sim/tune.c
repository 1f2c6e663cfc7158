/* SPDX-License-Identifier: MIT */
#include "sim/tune_private.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/random.h"
#include "report/interval.h"

/* -- windows of the log ------------------------------------------------------ */

static int too_short(const struct sl_tune *t, const struct sl_workload *w, uint32_t good, int64_t span, struct sl_error *err)
{
	double days = (double) t->opt.window_s / 86400;

	return sl_fail(err, SL_EINVAL, "%s: %" PRIu32 " jobs in %.1f days make %" PRIu32 " windows of %.3g days with %d jobs or "
		       "more; needed are %d, so at least %d jobs in %.3g days (or a shorter --window)", w->name, w->snap.job.rows,
		       (double) span / 86400, good, days, SL_TUNE_WINDOW_JOBS, SL_TUNE_WINDOWS,
		       SL_TUNE_WINDOWS * SL_TUNE_WINDOW_JOBS, SL_TUNE_WINDOWS * days);
}

/* Keep SL_TUNE_MOST pairs of neighbours, spread evenly over the log: the first of a pair is for learning,
 * the second judges. */
static void thin_windows(struct sl_tune *t)
{
	uint32_t pairs = t->windows / 2, keep = pairs < SL_TUNE_MOST ? pairs : SL_TUNE_MOST;

	for (uint32_t k = 0; k < keep; k++) {
		uint32_t from = (uint32_t) ((uint64_t) k * pairs / keep);

		t->window[2 * k] = t->window[2 * from];
		t->window[2 * k + 1] = t->window[2 * from + 1];
	}
	t->windows = 2 * keep;
	for (uint32_t i = 0; i < t->windows; i++) {
		struct sl_tune_window *w = &t->window[i];

		w->judges = i % 2;
		snprintf(w->from, sizeof(w->from), "%" PRId64 "s", w->from_s);
		snprintf(w->to, sizeof(w->to), "%" PRId64 "s", w->to_s);
	}
}

static int cut_windows(struct sl_tune *t, struct sl_error *err)
{
	struct sl_workload *w = sl_workload_load(t->opt.trial.workload, &t->opt.trial.workload_options, err);
	const int64_t *submit = w ? w->snap.job.submit_time : NULL;
	uint32_t rows = w ? w->snap.job.rows : 0;
	int64_t first = w ? submit[0] - w->origin_s : 0, span = w ? submit[rows - 1] - submit[0] : 0;
	int rc = w ? 0 : -1;

	for (uint32_t i = 0, end; !rc && i < rows; i = end) {
		int64_t n = (submit[i] - submit[0]) / t->opt.window_s, from = first + n * t->opt.window_s;

		for (end = i; end < rows && (submit[end] - submit[0]) / t->opt.window_s == n; end++)
			;
		if (end - i < SL_TUNE_WINDOW_JOBS)
			continue;
		rc = sl_grow_list(&t->window, t->windows, sizeof(*t->window), err);
		if (!rc)
			t->window[t->windows++] = (struct sl_tune_window) { from, from + t->opt.window_s, end - i, "", "", false };
	}
	if (!rc && t->windows < SL_TUNE_WINDOWS)
		rc = too_short(t, w, t->windows, span, err);
	if (!rc)
		thin_windows(t);
	sl_workload_destroy(w);
	return rc;
}

/* -- settings ------------------------------------------------------------------ */

static bool is_new(const struct sl_tune *t, const uint32_t *value)
{
	for (uint32_t s = 0; s < t->settings; s++)
		if (!memcmp(t->setting[s].value, value, t->tunables * sizeof(*value)))
			return false;
	return true;
}

static int add_setting(struct sl_tune *t, const uint32_t *value, struct sl_error *err)
{
	struct sl_tune_setting *s;

	if (sl_grow_list(&t->setting, t->settings, sizeof(*t->setting), err) < 0)
		return -1;
	s = &t->setting[t->settings];
	s->value = malloc(t->tunables * sizeof(*s->value));
	s->figure = malloc((size_t) t->windows * SL_TUNE_FIGURES * sizeof(*s->figure));
	s->score = 1;
	t->settings++;
	if (!s->value || !s->figure)
		return sl_tune_no_memory(err);
	memcpy(s->value, value, t->tunables * sizeof(*value));
	for (uint32_t i = 0; i < t->windows * SL_TUNE_FIGURES; i++)
		s->figure[i] = NAN;
	return 0;
}

/* The present one, and others at random; each option keeps its present value half of the time,
 * so that what differs can be told apart. */
static int draw_settings(struct sl_tune *t, struct sl_error *err)
{
	uint32_t *value = calloc(t->tunables, sizeof(*value));
	struct sl_random r;
	int rc = value ? 0 : sl_tune_no_memory(err);

	sl_random_seed(&r, t->opt.seed);
	for (uint32_t i = 0; !rc && i < t->tunables; i++)
		value[i] = t->tunable[i].present;
	if (!rc)
		rc = add_setting(t, value, err);
	for (uint32_t tries = 0; !rc && t->settings < t->opt.trials && tries < 100 * t->opt.trials; tries++) {
		for (uint32_t i = 0; i < t->tunables; i++)
			value[i] = sl_random_below(&r, 2) ? t->tunable[i].present :
							    (uint32_t) sl_random_below(&r, t->tunable[i].values);
		if (is_new(t, value))
			rc = add_setting(t, value, err);
	}
	free(value);
	return rc;
}

/* -- simulating ------------------------------------------------------------------ */

struct batch {
	struct sl_tune *t;
	struct sl_trial_options *trial;
	struct sl_trial_outcome *outcome;
	struct sl_bundle_text *text;
	uint32_t *setting, *window;
	uint32_t count;
	FILE *results;			/* or NULL */
};

static void note_result(uint32_t i, void *arg)
{
	struct batch *b = arg;
	const struct sl_result *r = &b->outcome[i].result;
	double *f = sl_tune_figures(b->t, b->setting[i], b->window[i]);

	if (b->outcome[i].err.code)
		return;
	f[SL_TUNE_WAIT] = r->wait_s.mean;
	f[SL_TUNE_BSLD] = r->bsld.mean;
	f[SL_TUNE_UTILIZATION] = r->utilization;
	f[SL_TUNE_LONGEST] = r->wait_s.max;
	f[SL_TUNE_GINI] = r->user_wait_gini;
	f[SL_TUNE_STOPS] = (double) r->stopped.stops;
	f[SL_TUNE_LOST] = r->stopped.lost_core_s;
	f[SL_TUNE_LOST_GPUS] = r->stopped.lost_gpu_s;
	f[SL_TUNE_URGENT] = r->preemptor_wait_mean_s;
	b->t->simulated++;
	if (b->results)
		sl_tune_write_result(b->t, b->setting[i], b->window[i], b->results);
}

static void free_batch(struct batch *b)
{
	for (uint32_t i = 0; b->text && i < b->count; i++)
		free((void *) (uintptr_t) b->text[i].text);
	free(b->text);
	free(b->trial);
	free(b->outcome);
	free(b->setting);
	free(b->window);
	if (b->results)
		fclose(b->results);
}

static int fill_batch(struct batch *b, struct sl_error *err)
{
	struct sl_tune *t = b->t;

	b->text = calloc(b->count, sizeof(*b->text));
	b->trial = calloc(b->count, sizeof(*b->trial));
	b->outcome = calloc(b->count, sizeof(*b->outcome));
	if (!b->text || !b->trial || !b->outcome)
		return sl_tune_no_memory(err);
	for (uint32_t i = 0; i < b->count; i++) {
		const struct sl_tune_window *w = &t->window[b->window[i]];

		b->text[i] = (struct sl_bundle_text) { t->opt.site, sl_tune_site(t, b->setting[i], err) };
		if (!b->text[i].text)
			return -1;
		b->trial[i] = t->opt.trial;
		b->trial[i].workload_options.from = w->from;
		b->trial[i].workload_options.to = w->to;
		b->trial[i].workload_options.skip = b->trial[i].workload_options.jobs = 0;
		b->trial[i].source.site = t->opt.site;
		b->trial[i].source.text = &b->text[i];
		b->trial[i].source.texts = 1;
	}
	if (t->opt.state && !(b->results = sl_tune_open_results(t, err)))
		return -1;
	return 0;
}

static int first_failure(const struct batch *b, struct sl_error *err)
{
	for (uint32_t i = 0; i < b->count; i++)
		if (b->outcome[i].err.code) {
			*err = b->outcome[i].err;
			return sl_fail_in(err, "days %.1f to %.1f of the log", (double) b->t->window[b->window[i]].from_s / 86400,
					  (double) b->t->window[b->window[i]].to_s / 86400);
		}
	return 0;
}

/* Simulate what is missing of these settings on these windows.  1: nothing is missing any more. */
static int simulate(struct sl_tune *t, const uint32_t *setting, uint32_t settings, const uint32_t *window, uint32_t windows,
		    struct sl_error *err)
{
	uint32_t all = settings * windows, missing = 0;
	struct batch b = { .t = t, .setting = malloc((all + 1) * sizeof(uint32_t)), .window = malloc((all + 1) * sizeof(uint32_t)) };
	int rc = b.setting && b.window ? 0 : sl_tune_no_memory(err);

	for (uint32_t i = 0; !rc && i < all; i++) {
		uint32_t s = setting[i % settings], w = window[i / settings];

		if (!isnan(*sl_tune_figures(t, s, w)))
			continue;
		missing++;
		if (t->opt.parts && i % t->opt.parts != t->opt.part)
			continue;
		b.setting[b.count] = s;
		b.window[b.count++] = w;
	}
	if (!rc && b.count)
		rc = fill_batch(&b, err);
	if (!rc && b.count) {
		struct sl_sweep sweep = {
			.trial = b.trial, .outcome = b.outcome, .trials = b.count, .workers = t->opt.workers, .ended = note_result,
			.ended_arg = &b, .stop = t->opt.stop, .progress = t->opt.progress, .progress_arg = t->opt.progress_arg,
		};

		rc = sl_sweep_run(&sweep, err);
		if (!rc && !(t->opt.stop && *t->opt.stop))
			rc = first_failure(&b, err);
	}
	t->missing = missing;
	for (uint32_t i = 0; !rc && i < b.count; i++)
		t->missing -= !isnan(*sl_tune_figures(t, b.setting[i], b.window[i]));
	free_batch(&b);
	return rc ? rc : !t->missing;
}

/* -- the search -------------------------------------------------------------------- */

/* Of a figure what is less is better.  A little is added to those that may be 0, so that they have a ratio. */
static double loss(const double *figure, enum sl_tune_figure f)
{
	return f == SL_TUNE_UTILIZATION ? 1 / fmax(figure[f], 1e-9) : figure[f] + (f == SL_TUNE_GINI ? 0.01 : 1);
}

/* The geometric mean, over windows, of the objective divided by the present setting's: so a busy week
 * counts no more than a quiet one. */
static void score(struct sl_tune *t, uint32_t setting, const uint32_t *window, uint32_t windows)
{
	double sum = 0;

	for (uint32_t i = 0; i < windows; i++)
		sum += log(loss(sl_tune_figures(t, setting, window[i]), t->opt.objective) /
			   loss(sl_tune_figures(t, 0, window[i]), t->opt.objective));
	t->setting[setting].score = exp(sum / windows);
}

static int by_score(const void *a, const void *b, void *arg)
{
	const struct sl_tune *t = arg;
	double x = t->setting[*(const uint32_t *) a].score, y = t->setting[*(const uint32_t *) b].score;

	return x < y ? -1 : x > y ? 1 : *(const uint32_t *) a < *(const uint32_t *) b ? -1 : 1;
}

static uint32_t list_windows(const struct sl_tune *t, bool judges, uint32_t *window)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->windows; i++)
		if (t->window[i].judges == judges)
			window[n++] = i;
	return n;
}

/* Successive halving, which keeps a third: afterwards *left* begins with the present setting and the
 * finalists, the best first.  Returns as sl_tune_run(). */
static int halve(struct sl_tune *t, uint32_t *left, uint32_t *window, struct sl_error *err)
{
	uint32_t all = list_windows(t, false, window), used = 1, count = t->settings - 1;
	struct sl_random r;
	int rc;

	sl_random_seed(&r, ~t->opt.seed);
	for (uint32_t i = all; i-- > 1;) {	/* shuffled: the log's first week need not be a typical one */
		uint32_t k = (uint32_t) sl_random_below(&r, i + 1), w = window[i];

		window[i] = window[k];
		window[k] = w;
	}
	for (uint32_t i = 0; i < count; i++)
		left[i + 1] = i + 1;
	left[0] = 0;
	for (;;) {
		rc = simulate(t, left, count + 1, window, used, err);
		if (rc <= 0)
			return rc;
		for (uint32_t i = 0; i <= count; i++)
			score(t, left[i], window, used);
		qsort_r(left + 1, count, sizeof(*left), by_score, t);
		if (used == all)
			break;
		used = 3 * used < all ? 3 * used : all;
		if (count > SL_TUNE_FINALISTS)
			count = (count + 2) / 3 > SL_TUNE_FINALISTS ? (count + 2) / 3 : SL_TUNE_FINALISTS;
	}
	t->finalists = 1 + (count < SL_TUNE_FINALISTS ? count : SL_TUNE_FINALISTS);
	return 1;
}

int sl_tune_run(struct sl_tune *t, struct sl_error *err)
{
	uint32_t *window = malloc((t->windows + 1) * sizeof(*window)), count;
	int rc = window ? halve(t, t->finalist, window, err) : sl_tune_no_memory(err);

	if (rc > 0) {
		count = list_windows(t, true, window);
		rc = simulate(t, t->finalist, t->finalists, window, count, err);
	}
	free(window);
	return rc;
}

/* -- what came of it ------------------------------------------------------------------ */

/* Of a window: the setting's figure, or how much it differs from the present setting's. */
static double figure_of(const struct sl_tune *t, uint32_t setting, uint32_t window, enum sl_tune_figure f, bool difference)
{
	return sl_tune_figures(t, setting, window)[f] - (difference ? sl_tune_figures(t, 0, window)[f] : 0);
}

static double mean_of(const struct sl_tune *t, uint32_t setting, enum sl_tune_figure f, bool difference, double *half)
{
	double sum = 0, squares = 0, mean;
	uint32_t n = 0;

	for (uint32_t w = 0; w < t->windows; w++)
		if (t->window[w].judges) {
			sum += figure_of(t, setting, w, f, difference);
			n++;
		}
	mean = n ? sum / n : 0;
	for (uint32_t w = 0; w < t->windows; w++)
		if (t->window[w].judges)
			squares += pow(figure_of(t, setting, w, f, difference) - mean, 2);
	*half = n > 1 ? sl_student95(n - 1) * sqrt(squares / (n - 1) / n) : NAN;
	return mean;
}

double sl_tune_mean(const struct sl_tune *t, uint32_t setting, enum sl_tune_figure figure, double *half)
{
	return mean_of(t, setting, figure, false, half);
}

double sl_tune_gain(const struct sl_tune *t, uint32_t setting, enum sl_tune_figure figure, double *half)
{
	return mean_of(t, setting, figure, true, half);
}

bool sl_tune_knows(const struct sl_tune *t, enum sl_tune_figure figure)
{
	double half;

	if (figure < SL_TUNE_STOPS)
		return true;
	for (uint32_t i = 0; i < t->finalists; i++)
		if (sl_tune_mean(t, t->finalist[i], figure, &half) > 0)
			return true;
	return false;
}

bool sl_tune_is_pareto(const struct sl_tune *t, uint32_t setting)
{
	for (uint32_t i = 0; i < t->finalists; i++) {
		bool worse = false, better = false;

		for (int f = 0; f < SL_TUNE_FIGURES; f++) {
			double half, mine = sl_tune_mean(t, setting, f, &half), other = sl_tune_mean(t, t->finalist[i], f, &half);
			double sign = f == SL_TUNE_UTILIZATION ? -1 : 1;

			worse |= sign * other > sign * mine;
			better |= sign * other < sign * mine;
		}
		if (better && !worse)
			return false;
	}
	return true;
}

/* -- life ------------------------------------------------------------------------------ */

int sl_tune_open(struct sl_tune *t, const struct sl_tune_options *opt, struct sl_error *err)
{
	*t = (struct sl_tune) { .opt = *opt };
	if (sl_tune_read_site(t, err) < 0 || cut_windows(t, err) < 0 || draw_settings(t, err) < 0)
		return -1;
	t->finalist = calloc(t->settings + 1, sizeof(*t->finalist));
	if (!t->finalist)
		return sl_tune_no_memory(err);
	return t->opt.state ? sl_tune_read_results(t, err) : 0;
}

void sl_tune_free(struct sl_tune *t)
{
	for (uint32_t i = 0; i < t->tunables; i++) {
		for (uint32_t k = 0; k < t->tunable[i].values; k++)
			free(t->tunable[i].value[k]);
		free(t->tunable[i].value);
		free(t->tunable[i].policy);
		free(t->tunable[i].name);
	}
	for (uint32_t i = 0; i < t->settings; i++) {
		free(t->setting[i].value);
		free(t->setting[i].figure);
	}
	free(t->tunable);
	free(t->setting);
	free(t->window);
	free(t->finalist);
	free(t->text);
	free(t->path);
	*t = (struct sl_tune) { 0 };
}
