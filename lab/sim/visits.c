/* SPDX-License-Identifier: MIT */
#include "sim/visits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "base/order.h"
#include "base/search.h"

#define AFTER_END_S 5		/* so soon after an end the main scheduler starts jobs */
#define SAME_VISIT_S 2		/* starts that are no farther apart are one visit's */
#define SMOOTH 30		/* intervals that the mean of those before counts for */

static int add(struct sl_visits *v, int64_t at, struct sl_error *err)
{
	if (sl_grow(&v->at_s, &v->room, v->count + UINT64_C(1), sizeof(*v->at_s), err) < 0)
		return -1;
	v->at_s[v->count++] = at;
	return 0;
}

/* True if a job ended within *seconds* before *t*, or at it. */
static bool ends_before(const int64_t *end, uint32_t ends, int64_t t, int64_t seconds)
{
	uint32_t behind = SL_FIRST(i, 0, ends, end[i] <= t);

	return behind && end[behind - 1] >= t - seconds;
}

/* v becomes the starts that were backfill's, one of each visit. */
static int find_starts(struct sl_visits *v, const struct sl_workload *w, const int64_t *end, uint32_t ends,
		       int64_t delay_s, struct sl_error *err)
{
	uint32_t kept = 0;

	for (uint32_t row = 0; row < w->snap.job.rows; row++) {
		const struct sl_real *real = &w->real[row];
		int64_t waited = real->start_s - w->snap.job.submit_time[row];

		if (real->start_s && !real->ran && !real->negative && waited > delay_s + 1 &&
		    !ends_before(end, ends, real->start_s, AFTER_END_S) && add(v, real->start_s, err) < 0)
			return -1;
	}
	if (v->count)
		qsort(v->at_s, v->count, sizeof(*v->at_s), sl_order_i64);
	for (uint32_t i = 0; i < v->count; i++)
		if (!kept || v->at_s[i] > v->at_s[kept - 1] + SAME_VISIT_S)
			v->at_s[kept++] = v->at_s[i];
	v->count = kept;
	return 0;
}

/* How many steps are between two visits; 0 where their distance is no multiple of one, but for a part of a second in each. */
static int64_t count_steps(int64_t a, int64_t b, double step)
{
	double between = (double) (b - a), n = round(between / step);

	return n >= 1 && fabs(between - n * step) <= 2 + n / 10 ? (int64_t) n : 0;
}

/* Two starts that are less than an interval apart cannot both be of backfill: the one that is out of step with those before goes. */
static void drop_others(struct sl_visits *v, int64_t interval)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < v->count; i++) {
		int64_t at = v->at_s[i];

		if (kept && at < v->at_s[kept - 1] + interval - 1) {
			if (kept < 2 || count_steps(v->at_s[kept - 2], v->at_s[kept - 1], (double) interval))
				continue;
			kept--;
		}
		v->at_s[kept++] = at;
	}
	v->count = v->seen = kept;
}

/* Visits between two that are known.  *step: the mean interval so far. */
static int fill_gap(struct sl_visits *v, int64_t a, int64_t b, int64_t interval, double *step, struct sl_error *err)
{
	int64_t n = count_steps(a, b, *step);
	double mean = n ? (double) (b - a) / (double) n : 0;

	for (int64_t i = 1; i < n; i++)
		if (add(v, a + (int64_t) ((double) i * mean), err) < 0)
			return -1;
	if (n)
		*step += (mean - *step) * (double) n / (double) (n + SMOOTH);
	for (int64_t t = a + interval; !n && t <= b - interval; t += interval)
		if (add(v, t, err) < 0)
			return -1;
	return 0;
}

int sl_visits_find(struct sl_visits *v, const struct sl_workload *w, int64_t interval_s, int64_t delay_s, struct sl_error *err)
{
	uint32_t jobs = w->snap.job.rows, ends = 0;
	int64_t *end = calloc(jobs + UINT64_C(1), sizeof(*end));
	double step = (double) interval_s;
	int rc;

	if (!end)
		return sl_fail(err, SL_ENOMEM, "%s: no memory", w->name);
	for (uint32_t row = 0; row < jobs; row++)
		if (w->real[row].start_s)
			end[ends++] = w->real[row].start_s + w->runtime_s[row];
	if (ends)
		qsort(end, ends, sizeof(*end), sl_order_i64);
	rc = find_starts(v, w, end, ends, delay_s, err);
	free(end);
	drop_others(v, interval_s);
	if (v->seen < 2)
		v->count = v->seen = 0;
	for (uint32_t i = 1; !rc && i < v->seen; i++)
		rc = fill_gap(v, v->at_s[i - 1], v->at_s[i], interval_s, &step, err);
	if (v->count)
		qsort(v->at_s, v->count, sizeof(*v->at_s), sl_order_i64);
	return rc;
}

void sl_visits_free(struct sl_visits *v)
{
	free(v->at_s);
	memset(v, 0, sizeof(*v));
}

int64_t sl_visits_next(const struct sl_visits *v, int64_t last, int64_t now, int64_t interval)
{
	int64_t from = sl_max_signed(last + 1, now), ends = v->at_s[v->count - 1];

	if (from <= v->at_s[0])
		return v->at_s[0] - (v->at_s[0] - from) / interval * interval;
	if (from > ends)
		return ends + (from - ends + interval - 1) / interval * interval;
	return v->at_s[SL_FIRST(i, 0, v->count, v->at_s[i] < from)];
}
