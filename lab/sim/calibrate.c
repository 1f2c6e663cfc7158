/* SPDX-License-Identifier: MIT */
/*
 * calibrate.c - what forecasts are worth, learnt from those whose jobs have started (sim/forecast.h).
 */
#include "sim/forecast.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/order.h"
#include "base/state_file.h"

#define SHORT 60.0	/* seconds: waits are compared as if they were so much longer */
#define ENOUGH 30	/* scores of a class, before it is asked alone; as many of all make a forecast calibrated */
#define FEW 10		/* scores of all classes, before they are asked */
#define WIDER 0.25	/* before that: the draws' quantiles are taken at so much of the shares that may miss */
#define STEP 0.02	/* how far a level goes with one miss */
#define LEAST 0.1	/* the smallest part of both levels that one of them can be */

/* Until when, seconds, a forecast is of a class. */
static const double until[SL_CALIBRATOR_CLASSES] = { 600, 3600, 4 * 3600, 16 * 3600, INFINITY };

static uint32_t class_of(double centre)
{
	uint32_t k = 0;

	while (centre > until[k])
		k++;
	return k;
}

void sl_calibrator_begin(struct sl_calibrator *c, double confidence)
{
	memset(c, 0, sizeof(*c));
	c->confidence = confidence;
	for (int k = 0; k < SL_CALIBRATOR_CLASSES; k++)
		c->of[k].below = c->of[k].above = (1 - confidence) / 2;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *) a, y = *(const double *) b;

	return SL_ORDER(x, y);
}

/* The value that the share *p* of so many ascending ones does not exceed, as it is of one more. */
static uint32_t quantile_at(uint32_t n, double p)
{
	double at = ceil(p * (n + 1)) - 1;

	return at < 0 ? 0 : at > n - 1 ? n - 1 : (uint32_t) at;
}

/* The median of the shortest half: where most of the sample is, however far its tail goes. */
static int64_t most_likely(const int64_t *wait, uint32_t n)
{
	uint32_t half = n / 2, best = 0;

	for (uint32_t i = 1; i + half < n; i++)
		if (wait[i + half] - wait[i] < wait[best + half] - wait[best])
			best = i;
	return wait[best + half / 2];
}

static uint32_t scores_of(const struct sl_calibrator_class *k, double *to)
{
	uint32_t n = k->scores < SL_CALIBRATOR_KEPT ? k->scores : SL_CALIBRATOR_KEPT;

	memcpy(to, k->score, n * sizeof(*to));
	return n;
}

/* The scores of a class, ascending, or those of all classes as long as it has few. */
static uint32_t sorted_scores(const struct sl_calibrator *c, const struct sl_calibrator_class *k, double *sorted)
{
	uint32_t n = scores_of(k, sorted);

	if (n < ENOUGH) {
		n = 0;
		for (int i = 0; i < SL_CALIBRATOR_CLASSES; i++)
			n += scores_of(&c->of[i], sorted + n);
	}
	qsort(sorted, n, sizeof(*sorted), by_size);
	return n;
}

bool sl_calibrator_knows(const struct sl_calibrator *c)
{
	uint32_t n = 0;

	for (int i = 0; i < SL_CALIBRATOR_CLASSES; i++)
		n += c->of[i].scores;
	return n >= ENOUGH;
}

static int64_t seconds(double x)
{
	return x < 0 ? 0 : x < 0x1p52 ? (int64_t) llround(x) : SL_UNLIMITED;
}

/* The scores that an interval begins and ends with: indices of ascending scores. */
struct span {
	uint32_t first, last;
};

static uint32_t first_equal(const double *sorted, uint32_t at)
{
	while (at && sorted[at - 1] == sorted[at])
		at--;
	return at;
}

static uint32_t last_equal(const double *sorted, uint32_t n, uint32_t at)
{
	while (at + 1 < n && sorted[at + 1] == sorted[at])
		at++;
	return at;
}

/*
 * The quantiles at a class's levels.  Where many scores are equal, as where starts are foreseen to the second, an end
 * among these leaves out fewer scores than its level says; then the other end leaves out as many more.
 */
static struct span choose_span(const struct sl_calibrator_class *k, const double *sorted, uint32_t n)
{
	uint32_t low = quantile_at(n, k->below), high = quantile_at(n, 1 - k->above), outside, unused;
	struct span s;

	if (high < low)
		low = high = (low + high) / 2;
	outside = low + n - 1 - high;
	s.first = first_equal(sorted, low);
	s.last = last_equal(sorted, n, n - 1 - (outside - s.first));
	unused = outside - s.first - (n - 1 - s.last);
	s.first = first_equal(sorted, s.first + unused);
	return s;
}

/*
 * Draws differ less than starts do: nobody knows that a draw's runtimes are right, nor which jobs come.  On the logs of
 * bench/forecast.md 64 to 71 % of the first sixty starts are within the draws' quantiles of 10 and 90 %.  So, as long as
 * there are next to no scores, quantiles further out are taken.
 */
struct sl_expected sl_calibrate(const struct sl_calibrator *c, const int64_t *wait, uint32_t draws)
{
	double miss = (1 - c->confidence) / 2, sorted[SL_CALIBRATOR_CLASSES * SL_CALIBRATOR_KEPT];
	struct sl_expected e = { wait[quantile_at(draws, WIDER * miss)], most_likely(wait, draws),
				 wait[quantile_at(draws, 1 - WIDER * miss)], (double) wait[draws / 2] };
	const struct sl_calibrator_class *k = &c->of[class_of(e.centre)];
	uint32_t n = sorted_scores(c, k, sorted);

	if (n >= FEW && wait[draws / 2] < SL_UNLIMITED) {
		struct span s = choose_span(k, sorted, n);

		e.low = seconds((e.centre + SHORT) * exp(sorted[s.first]) - SHORT);
		e.high = seconds((e.centre + SHORT) * exp(sorted[s.last]) - SHORT);
	}
	e.point = e.point < e.low ? e.low : e.point > e.high ? e.high : e.point;
	return e;
}

static double between(double least, double x, double most)
{
	return x < least ? least : x > most ? most : x;
}

/*
 * Each end is corrected by what it misses, so that in the long run both miss as often.  An end among equal scores cannot
 * miss that often, and its level would rise for ever while the other one falls; so neither is less than a tenth of their
 * sum, which is what the interval as a whole misses by.
 */
static void correct_levels(struct sl_calibrator_class *k, double miss, bool early, bool late)
{
	double below = k->below + STEP * (miss - early), above = k->above + STEP * (miss - late);
	double both = between(0.001, below + above, 0.9);

	k->below = between(LEAST * both, below, (1 - LEAST) * both);
	k->above = both - k->below;
}

void sl_calibrator_learn(struct sl_calibrator *c, const struct sl_expected *e, int64_t wait)
{
	struct sl_calibrator_class *k = &c->of[class_of(e->centre)];

	if (e->centre >= (double) SL_UNLIMITED)		/* no start was expected: no score comes of that */
		return;
	k->score[k->scores++ % SL_CALIBRATOR_KEPT] = log(((double) wait + SHORT) / (e->centre + SHORT));
	correct_levels(k, (1 - c->confidence) / 2, wait < e->low, wait > e->high);
}

/* -- kept ----------------------------------------------------------------------- */

int sl_calibrator_write(const struct sl_calibrator *c, const char *file, struct sl_error *err)
{
	json_t *classes = json_array(), *all = json_pack("{s:f, s:o}", "confidence", c->confidence, "classes", classes);
	char *text;
	int rc;

	if (!all)
		return sl_fail(err, SL_ENOMEM, "forecast: out of memory");
	for (int i = 0; i < SL_CALIBRATOR_CLASSES; i++) {
		const struct sl_calibrator_class *k = &c->of[i];
		uint32_t n = k->scores < SL_CALIBRATOR_KEPT ? k->scores : SL_CALIBRATOR_KEPT;
		json_t *scores = json_array();

		for (uint32_t s = 0; s < n; s++)
			json_array_append_new(scores, json_real(k->score[(k->scores - n + s) % SL_CALIBRATOR_KEPT]));
		json_array_append_new(classes, json_pack("{s:f, s:f, s:o}", "below", k->below, "above", k->above, "scores", scores));
	}
	text = json_dumps(all, JSON_COMPACT);
	rc = text ? sl_state_put(file, 0644, text, strlen(text), err) :
	     sl_fail(err, SL_ENOMEM, "forecast: out of memory");
	free(text);
	json_decref(all);
	return rc;
}

static bool is_level(const json_t *x)
{
	return json_is_number(x) && json_number_value(x) > 0 && json_number_value(x) < 0.9;
}

static bool read_class(struct sl_calibrator_class *k, const json_t *from)
{
	json_t *below = json_object_get(from, "below"), *above = json_object_get(from, "above");
	json_t *scores = json_object_get(from, "scores"), *score;
	size_t i;

	if (!is_level(below) || !is_level(above) || !json_is_array(scores) || json_array_size(scores) > SL_CALIBRATOR_KEPT)
		return false;
	k->below = json_number_value(below);
	k->above = json_number_value(above);
	json_array_foreach(scores, i, score) {
		if (!json_is_number(score) || !isfinite(json_number_value(score)))
			return false;
		k->score[k->scores++] = json_number_value(score);
	}
	return true;
}

int sl_calibrator_read(struct sl_calibrator *c, const char *file, struct sl_error *err)
{
	json_error_t why;
	json_t *all = json_load_file(file, 0, &why), *classes = json_object_get(all, "classes");
	double confidence = json_number_value(json_object_get(all, "confidence"));
	int rc = 0;

	sl_calibrator_begin(c, c->confidence);
	if (!all)
		rc = sl_fail(err, SL_EINVAL, "%s:%d: %s", file, why.line > 0 ? why.line : 1, why.text);
	else if (json_array_size(classes) != SL_CALIBRATOR_CLASSES)
		rc = sl_fail(err, SL_EINVAL, "%s: expected what schedlua forecast --workload wrote", file);
	else if (fabs(confidence - c->confidence) > 1e-9)
		rc = sl_fail(err, SL_EINVAL, "%s: is of a confidence of %g, expected %g", file, confidence, c->confidence);
	for (size_t i = 0; !rc && i < SL_CALIBRATOR_CLASSES; i++)
		if (!read_class(&c->of[i], json_array_get(classes, i)))
			rc = sl_fail(err, SL_EINVAL, "%s: class %zu: expected below, above and at most %d scores", file, i,
				     SL_CALIBRATOR_KEPT);
	json_decref(all);
	return rc;
}
