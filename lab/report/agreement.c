/* SPDX-License-Identifier: MIT */
#include "report/agreement.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/order.h"

#define HOUR_S 3600
#define EDGE_HOURS 48

static const char *const grouping_name[SL_GROUPINGS] = { "day", "width", "partition", "QOS" };

const char *sl_grouping_name(enum sl_grouping by)
{
	return grouping_name[by];
}

static double real_wait(const struct sl_agreement_job *j)
{
	return (double) (j->real_s - j->eligible_s);
}

static double simulated_wait(const struct sl_agreement_job *j)
{
	return (double) (j->simulated_s - j->eligible_s);
}

static double distance(const struct sl_agreement_job *j)
{
	return fabs(simulated_wait(j) - real_wait(j));
}

/* -- groups -------------------------------------------------------------------- */

/* The first number of cores of each class, as in sl_result.classes. */
static const uint32_t widths[] = { 1, 2, 8, 32, 128, 512, 2048 };

#define WIDTHS (sizeof(widths) / sizeof(widths[0]))

static size_t width_of(uint32_t cores)
{
	size_t w = WIDTHS - 1;

	while (w && cores < widths[w])
		w--;
	return w;
}

static void name_group(char name[64], const struct sl_agreement_job *j, enum sl_grouping by)
{
	time_t day = (time_t) j->eligible_s;
	struct tm tm;
	size_t w;

	switch (by) {
	case SL_BY_DAY:
		if (!gmtime_r(&day, &tm) || !strftime(name, 64, "%Y-%m-%d", &tm))
			snprintf(name, 64, "%" PRId64, j->eligible_s / 86400);
		break;
	case SL_BY_WIDTH:
		w = width_of(j->cores);
		if (w + 1 < WIDTHS && widths[w + 1] > widths[w] + 1)
			snprintf(name, 64, "%" PRIu32 " to %" PRIu32 " cores", widths[w], widths[w + 1] - 1);
		else
			snprintf(name, 64, w ? "from %" PRIu32 " cores" : "%" PRIu32 " core", widths[w]);
		break;
	default:
		snprintf(name, 64, "%s", by == SL_BY_QOS ? j->qos : j->partition);
		break;
	}
}

static int compare_key(const struct sl_agreement_job *a, const struct sl_agreement_job *b, enum sl_grouping by)
{
	switch (by) {
	case SL_BY_DAY:
		return SL_ORDER(a->eligible_s / 86400, b->eligible_s / 86400);
	case SL_BY_WIDTH:
		return SL_ORDER(width_of(a->cores), width_of(b->cores));
	default:
		return by == SL_BY_QOS ? strcmp(a->qos, b->qos) : strcmp(a->partition, b->partition);
	}
}

static int by_key(const void *x, const void *y, void *arg)
{
	const struct sl_agreement_job *const *a = x, *const *b = y;
	const enum sl_grouping *by = arg;

	return compare_key(*a, *b, *by) ?: SL_ORDER(*a, *b);
}

static void close_group(struct sl_agreement *a, enum sl_grouping by)
{
	struct sl_agreement_group *g = &a->by[by].group[a->by[by].groups++];

	g->real_s /= g->jobs;
	g->simulated_s /= g->jobs;
	g->error = -1;
	if (g->real_s < SL_AGREEMENT_LEAST_S) {
		a->by[by].left_out++;
		return;
	}
	g->error = fabs(g->simulated_s - g->real_s) / g->real_s;
	a->by[by].error += g->error;
}

static int make_groups(struct sl_agreement *a, const struct sl_agreement_job **order, uint32_t jobs, enum sl_grouping by)
{
	uint32_t counted;

	qsort_r(order, jobs, sizeof(*order), by_key, &by);
	a->by[by].group = calloc((size_t) jobs + 1, sizeof(*a->by[by].group));
	if (!a->by[by].group)
		return -1;
	for (uint32_t i = 0; i < jobs; i++) {
		struct sl_agreement_group *g = &a->by[by].group[a->by[by].groups];

		if (!g->jobs++)
			name_group(g->name, order[i], by);
		g->real_s += real_wait(order[i]);
		g->simulated_s += simulated_wait(order[i]);
		if (i + 1 == jobs || compare_key(order[i], order[i + 1], by))
			close_group(a, by);
	}
	counted = a->by[by].groups - a->by[by].left_out;
	a->by[by].error = counted ? a->by[by].error / counted : -1;
	return 0;
}

/* -- the moving mean -------------------------------------------------------------- */

static int by_submission(const void *x, const void *y)
{
	const struct sl_agreement_job *const *a = x, *const *b = y;

	return SL_ORDER((*a)->submit_s, (*b)->submit_s) ?: SL_ORDER(*a, *b);
}

/* Windows from each full hour on, the jobs in the order of submission. */
static double moving_error(const struct sl_agreement_job **order, uint32_t jobs, int64_t first_hour, int64_t hours)
{
	double real = 0, simulated = 0, sum = 0;
	uint32_t from = 0, to = 0;
	int64_t counted = 0;

	for (int64_t h = EDGE_HOURS; h < hours - EDGE_HOURS; h++) {
		int64_t begin = first_hour + h * HOUR_S;

		for (; to < jobs && order[to]->submit_s < begin + SL_AGREEMENT_MOVING_S; to++) {
			real += (double) (order[to]->real_s - order[to]->submit_s);
			simulated += (double) (order[to]->simulated_s - order[to]->submit_s);
		}
		for (; from < to && order[from]->submit_s < begin; from++) {
			real -= (double) (order[from]->real_s - order[from]->submit_s);
			simulated -= (double) (order[from]->simulated_s - order[from]->submit_s);
		}
		if (real <= 0)
			continue;
		sum += fabs(simulated - real) / real;
		counted++;
	}
	return counted ? sum / (double) counted : -1;
}

static void find_moving(struct sl_agreement *a, const struct sl_agreement_job **order, uint32_t jobs)
{
	int64_t first, last, hours;

	qsort(order, jobs, sizeof(*order), by_submission);
	first = order[0]->submit_s / HOUR_S * HOUR_S;
	last = order[jobs - 1]->submit_s;
	hours = (last - SL_AGREEMENT_MOVING_S - first) / HOUR_S;
	a->span_s = last - order[0]->submit_s;
	a->moving_needs_s = SL_AGREEMENT_MOVING_S + (2 * EDGE_HOURS + 1) * HOUR_S;
	a->moving = hours > 2 * EDGE_HOURS ? moving_error(order, jobs, first, hours) : -1;
}

/* -- all of it ------------------------------------------------------------------------ */

static int by_number(const void *x, const void *y)
{
	return SL_ORDER(*(const double *) x, *(const double *) y);
}

static int find_median(struct sl_agreement *a, const struct sl_agreement_job *job, uint32_t jobs)
{
	double *d = malloc(((size_t) jobs + 1) * sizeof(*d));

	for (uint32_t i = 0; d && i < jobs; i++)
		d[i] = distance(&job[i]);
	if (d && jobs) {
		qsort(d, jobs, sizeof(*d), by_number);
		a->median_s = jobs % 2 ? d[jobs / 2] : (d[jobs / 2 - 1] + d[jobs / 2]) / 2;
	}
	free(d);
	return d ? 0 : -1;
}

static void add_up(struct sl_agreement *a, const struct sl_agreement_job *job, uint32_t jobs)
{
	double apart = 0;

	for (uint32_t i = 0; i < jobs; i++) {
		int64_t by = job[i].simulated_s - job[i].real_s;

		a->real_s += real_wait(&job[i]);
		a->simulated_s += simulated_wait(&job[i]);
		apart += distance(&job[i]);
		a->same += llabs(by) <= SL_AGREEMENT_SAME_S;
		a->earlier += by < -SL_AGREEMENT_SAME_S;
		a->later += by > SL_AGREEMENT_SAME_S;
	}
	a->pooled = a->real_s > 0 ? apart / a->real_s : -1;
	a->real_s /= jobs ? jobs : 1;
	a->simulated_s /= jobs ? jobs : 1;
}

int sl_agreement_compute(struct sl_agreement *a, const struct sl_agreement_job *job, uint32_t jobs, struct sl_error *err)
{
	const struct sl_agreement_job **order = malloc(((size_t) jobs + 1) * sizeof(*order));
	int rc = order ? 0 : -1;

	*a = (struct sl_agreement) { .jobs = jobs, .moving = -1 };
	for (uint32_t i = 0; order && i < jobs; i++)
		order[i] = &job[i];
	add_up(a, job, jobs);
	for (int by = 0; !rc && by < SL_GROUPINGS; by++)
		rc = make_groups(a, order, jobs, (enum sl_grouping) by);
	if (!rc && jobs)
		find_moving(a, order, jobs);
	if (!rc)
		rc = find_median(a, job, jobs);
	free(order);
	return rc ? sl_fail(err, SL_ENOMEM, "comparing waits: out of memory") : 0;
}

void sl_agreement_free(struct sl_agreement *a)
{
	for (int by = 0; by < SL_GROUPINGS; by++) {
		free(a->by[by].group);
		a->by[by].group = NULL;
	}
}

uint32_t sl_agreement_share(const struct sl_agreement_job *job, uint32_t jobs, uint32_t why, double *share)
{
	double all = 0, theirs = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < jobs; i++) {
		double d = distance(&job[i]);

		all += d;
		if (!(job[i].why & why))
			continue;
		theirs += d;
		n++;
	}
	*share = all > 0 ? theirs / all : 0;
	return n;
}
