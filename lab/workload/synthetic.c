/* SPDX-License-Identifier: MIT */
/*
 * workload/synthetic.c - a workload of the shape that logs of production machines
 * have: few users submit most of the jobs, in sessions of similar ones, by day more
 * than by night and less at weekends; sizes are often powers of two; runtimes spread
 * over four orders of magnitude; estimates are round numbers several times too large.
 *
 * The model follows what Feitelson, "Workload Modeling for Computer Systems
 * Performance Evaluation" (2015) says of such logs, without being fitted to one:
 *
 *	user		Zipf: weight 1/rank
 *	session		geometric number of jobs (mean `burst`); all of one user; gaps
 *			between its submissions exponential, 2 minutes on average
 *	size		2^k, k uniform up to `width` of the machine, for three quarters of
 *			the sessions; any number below that for the others
 *	runtime		log-normal: the user's median (itself log-normal around 15 minutes),
 *			times the session's, times the job's; at most `longest` hours
 *	estimate	runtime x 1 ... 10, rounded up to what people write; one job in twenty
 *			asked for too little and was ended by its walltime
 *	arrivals	by an hourly profile of the week; the whole is stretched so that
 *			the offered load is `load` (or lasts `days`)
 *
 * Jobs are generated twice, from one seed: once to learn how much work there is,
 * once to be submitted.  So nothing needs to be kept.
 */
#include "workload/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "workload/demand.h"

#define HOURS 168		/* of a week */
#define GAP_S 120.0
#define MEDIAN_S 900.0

struct synthetic {
	struct sl_store *s;
	struct sl_random random;
	double jobs, users, load, days, burst, width, longest, gpu;
	uint64_t cores;
	uint32_t node_cores, node_gpus;
	double span_s;		/* of all sessions' beginnings */
	double profile[HOURS + 1];	/* cumulative share of a week's sessions */
	double *zipf;		/* cumulative, by user */
	uint32_t *user;		/* names */
	double *median;		/* of a user's runtimes */
};

/* What people write as a time limit, minutes. */
static const int round_minutes[] = { 5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 360, 480, 720, 1080, 1440, 2880 };

static int64_t round_up(double seconds, double longest_s)
{
	int64_t limit = (int64_t) longest_s;

	for (size_t i = 0; i < sizeof(round_minutes) / sizeof(round_minutes[0]); i++)
		if (round_minutes[i] * 60 >= seconds)
			return round_minutes[i] * 60 < limit ? round_minutes[i] * 60 : limit;
	return limit;
}

/* Work begins at eight, peaks in the afternoon; nights are quiet, weekends quieter. */
static void make_profile(double *profile)
{
	double sum = 0;

	profile[0] = 0;
	for (int h = 0; h < HOURS; h++) {
		int hour = h % 24, day = h / 24;
		double rate = hour < 7 ? 0.3 : hour < 9 ? 0.8 : hour < 18 ? 1.8 : hour < 22 ? 1.0 : 0.5;

		sum += day >= 5 ? rate * 0.5 : rate;
		profile[h + 1] = sum;
	}
	for (int h = 1; h <= HOURS; h++)
		profile[h] /= sum;
}

/* The instant by which a share *x* of a span of *weeks* has begun. */
static double profile_time(const struct synthetic *y, double x)
{
	double weeks = y->span_s / (HOURS * 3600.0), total = floor(weeks), rest = weeks - total, at, part;
	int h = (int) (rest * HOURS), k = 0;

	part = y->profile[h] + (y->profile[h + 1 > HOURS ? HOURS : h + 1] - y->profile[h]) * (rest * HOURS - h);
	at = x * (total + part);
	total = floor(at);
	at -= total;
	while (k < HOURS - 1 && y->profile[k + 1] <= at)
		k++;
	at = k + (at - y->profile[k]) / (y->profile[k + 1] - y->profile[k]);
	return (total * HOURS + at) * 3600.0;
}

static int make_users(struct synthetic *y, struct sl_error *err)
{
	uint32_t n = y->users;
	double sum = 0;
	char name[24];

	y->zipf = malloc(n * sizeof(*y->zipf));
	y->median = malloc(n * sizeof(*y->median));
	y->user = malloc(n * sizeof(*y->user));
	if (!y->zipf || !y->median || !y->user)
		return sl_fail(err, SL_ENOMEM, "synthetic: no memory for %u users", n);
	for (uint32_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "u%u", i + 1);
		y->user[i] = sl_store_str(y->s, name);
		y->median[i] = MEDIAN_S * exp(1.2 * sl_random_gauss(&y->random));
		sum += 1.0 / (i + 1);
		y->zipf[i] = sum;
	}
	for (uint32_t i = 0; i < n; i++)
		y->zipf[i] /= sum;
	return 0;
}

static uint32_t draw_user(struct synthetic *y)
{
	double x = sl_random_real(&y->random);

	return SL_FIRST(user, 0, (uint32_t) y->users - 1, y->zipf[user] <= x);
}

static uint32_t draw_size(struct synthetic *y)
{
	uint32_t most = (uint32_t) fmax(1, y->width * (double) y->cores);

	if (sl_random_below(&y->random, 4))
		return UINT32_C(1) << sl_random_below(&y->random, (uint64_t) log2(most) + 1);
	return (uint32_t) exp(sl_random_real(&y->random) * log(most));
}

static void draw_times(struct synthetic *y, double median, struct sl_draft *j)
{
	double longest = y->longest * 3600, runtime = median * exp(0.5 * sl_random_gauss(&y->random));
	double factor = exp(sl_random_real(&y->random) * log(10));

	runtime = fmin(fmax(runtime, 1), longest);
	j->estimate_s = round_up(runtime * factor, longest);
	if (sl_random_below(&y->random, 20) == 0)
		runtime = (double) j->estimate_s;
	j->runtime_s = (int64_t) fmin(runtime, (double) j->estimate_s);
}

/* All jobs, from the seed on.  Returns cores x seconds; submits them on the second
 * time round. */
static double make_jobs(struct synthetic *y, bool submit)
{
	double area = 0;
	uint32_t made = 0, total = y->jobs;
	int done = 0;

	while (made < total && !done) {
		uint32_t user = draw_user(y), size = draw_size(y);
		double at = profile_time(y, sl_random_real(&y->random));
		double median = y->median[user] * exp(sl_random_gauss(&y->random));
		bool gpu = y->node_gpus && sl_random_real(&y->random) < y->gpu;

		do {
			struct sl_draft j = sl_draft();

			draw_times(y, median, &j);
			made++;
			j.tasks = size;
			j.submit_s = (int64_t) at;
			j.user = y->user[user];
			j.uid = 1000 + user;
			j.gpus = gpu ? y->node_gpus : 0;
			area += (double) j.tasks * (double) j.runtime_s;
			at += GAP_S * sl_random_exponential(&y->random);
			if (submit)
				done = sl_store_add(y->s, &j);
		} while (made < total && !done && sl_random_real(&y->random) >= 1 / y->burst);
	}
	return area;
}

static int read_machine(struct synthetic *y, struct sl_error *err)
{
	int machine = sl_store_machine(y->s, err);
	const struct sl_snapshot *snap;
	struct sl_machine m;

	if (machine < 0 || (!machine && sl_store_set_machine(y->s, "128x16c", err) < 0))
		return -1;
	snap = sl_store_snapshot(y->s, err);
	if (!snap || sl_machine_open(&m, snap, err) < 0)
		return -1;
	y->cores = m.cores;
	y->node_cores = m.kind[0].cores;
	y->node_gpus = m.kind[0].gpus;
	sl_machine_close(&m);
	return 0;
}

int sl_workload_make_synthetic(struct sl_store *s, const char *name, struct sl_error *err)
{
	struct synthetic y = { .s = s, .jobs = 10000, .users = 200, .load = 0.8, .burst = 5, .width = 0.25,
			       .longest = 24 };
	const struct sl_param param[] = {
		{ "jobs", &y.jobs, 1, SL_WORKLOAD_MAX_JOBS }, { "users", &y.users, 1, SL_WORKLOAD_MAX_JOBS },
		{ "load", &y.load, 0.01, 10 }, { "days", &y.days, 0, 100000 }, { "burst", &y.burst, 1, 1000 },
		{ "width", &y.width, 0, 1 }, { "longest", &y.longest, 0.1, 10000 }, { "gpu", &y.gpu, 0, 1 },
	};
	const char *colon = strchr(name, ':');
	struct sl_random begin;
	int rc = -1;

	sl_random_seed(&y.random, sl_store_options(s)->seed);
	make_profile(y.profile);
	if (sl_params_parse(name, colon ? colon + 1 : NULL, param, sizeof(param) / sizeof(param[0]), err) < 0 ||
	    read_machine(&y, err) < 0 || make_users(&y, err) < 0)
		goto error;
	begin = y.random;
	y.span_s = y.days * 86400;
	if (y.days <= 0)
		y.span_s = make_jobs(&y, false) / ((double) y.cores * y.load);
	y.random = begin;
	make_jobs(&y, true);
	rc = 0;
error:
	free(y.zipf);
	free(y.median);
	free(y.user);
	return rc;
}
