/* SPDX-License-Identifier: MIT */
/*
 * metrics.c - sums over jobs, kept as they end.
 */
#include "report/metrics.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/map.h"
#include "base/order.h"
#include "workload/demand.h"

const uint32_t sl_size_bin[SL_SIZE_BINS] = { 1, 2, 8, 32, 128, 512 };
const int64_t sl_length_bin[SL_LENGTH_BINS] = { 0, 60, 600, 3600, 14400, 43200 };

/* Of cycles' durations: bins of equal ratio, 1 % wide, from 0.01 us to 1000 s. */
#define CYCLE_BINS 2560
#define CYCLE_STEP 0.00995033085316808285	/* ln 1.01 */
#define CYCLE_LEAST 0.01

/* Mean and variance in one pass (Welford 1962). */
struct sum {
	uint64_t n;
	double mean, m2, max;
};

struct user {
	uint32_t str;		/* the user's name, or 0 */
	uint32_t uid;
	uint64_t jobs;
	double wait, slowdown, bsld, core_s, wait_max;	/* sums, and the largest */
	int64_t first_submit;
	uint32_t first_job;
	double first_wait;
};

struct bin {			/* of a class of jobs */
	uint64_t jobs;
	double wait, wait_max, slowdown, bsld, core_s;
};

struct sl_metrics {
	const struct sl_snapshot *snap;
	struct sl_machine machine;
	uint8_t *seen;		/* by job row: fed */
	int64_t *wait;		/* of the jobs fed, in any order */
	uint32_t waits;
	uint64_t killed;
	int64_t first_submit, last_end;
	double core_s, held_s, gpu_s;
	struct sl_stop_figures stopped;
	int64_t *preemptor_wait;
	uint32_t preemptors, preemptor_room;
	struct sum sum_wait, sum_slowdown, sum_bsld, sum_fragmentation, sum_spread, sum_packing;
	struct bin bin[SL_SIZE_BINS][SL_LENGTH_BINS];
	struct user *user;
	uint32_t users, user_room;
	struct sl_map by_user;	/* -> index of the user */
	struct sl_user_result *result;
	uint64_t cycles, cycle[CYCLE_BINS];
	double cycle_max;
	uint64_t skipped;		/* cycles */
	uint64_t hidden_cycles;
	uint32_t hidden_max;
};

/* -- life -------------------------------------------------------------------- */

struct sl_metrics *sl_metrics_create(const struct sl_snapshot *snap, struct sl_error *err)
{
	struct sl_metrics *m = calloc(1, sizeof(*m));
	uint32_t n = snap->job.rows;

	if (!m)
		goto nomem;
	m->snap = snap;
	m->seen = calloc(n / 8 + 1, 1);
	m->wait = malloc((n + 1) * sizeof(*m->wait));
	if (!m->seen || !m->wait)
		goto nomem;
	if (sl_machine_open(&m->machine, snap, err) < 0) {
		sl_metrics_destroy(m);
		return NULL;
	}
	return m;
nomem:
	sl_metrics_destroy(m);
	sl_fail(err, SL_ENOMEM, "no memory for the metrics of %" PRIu32 " jobs", n);
	return NULL;
}

void sl_metrics_destroy(struct sl_metrics *m)
{
	if (!m)
		return;
	sl_machine_close(&m->machine);
	free(m->seen);
	free(m->wait);
	free(m->preemptor_wait);
	free(m->user);
	sl_map_free(&m->by_user);
	free(m->result);
	free(m);
}

/* -- users --------------------------------------------------------------------- */

/* The user of a job: by name where there is one (the pool has each name once), else
 * by number.  NULL: no memory. */
static struct user *find_user(struct sl_metrics *m, uint32_t job)
{
	uint32_t str = m->snap->job.user[job], uid = str ? SL_NONE : m->snap->job.uid[job];
	uint64_t hash = sl_hash_number(SL_HASH, str ? str : uid);

	SL_MAP_EACH(&m->by_user, hash, at) {
		struct user *u = &m->user[at.value];

		if (u->str == str && u->uid == uid)
			return u;
	}
	if (sl_grow(&m->user, &m->user_room, m->users + UINT64_C(1), sizeof(*m->user), NULL) ||
	    sl_map_put(&m->by_user, hash, m->users, NULL))
		return NULL;
	m->user[m->users] = (struct user) { .str = str, .uid = uid };
	return &m->user[m->users++];
}

/* -- feeding ---------------------------------------------------------------------- */

static void add_sample(struct sum *s, double x)
{
	double d = x - s->mean;

	s->n++;
	s->mean += d / (double) s->n;
	s->m2 += d * (x - s->mean);
	if (s->n == 1 || x > s->max)
		s->max = x;
}

static struct bin *find_bin(struct sl_metrics *m, uint64_t cores, int64_t runtime)
{
	int size = SL_SIZE_BINS - 1, length = SL_LENGTH_BINS - 1;

	while (size > 0 && cores < sl_size_bin[size])
		size--;
	while (length > 0 && runtime < sl_length_bin[length])
		length--;
	return &m->bin[size][length];
}

struct figures {		/* of one job */
	double wait, slowdown, bsld, core_s;
};

static void add_to_user(struct user *u, uint32_t job, int64_t submit, const struct figures *f)
{
	u->wait += f->wait;
	u->slowdown += f->slowdown;
	u->bsld += f->bsld;
	u->core_s += f->core_s;
	if (!u->jobs || f->wait > u->wait_max)
		u->wait_max = f->wait;
	if (!u->jobs || submit < u->first_submit || (submit == u->first_submit && job < u->first_job)) {
		u->first_submit = submit;
		u->first_job = job;
		u->first_wait = f->wait;
	}
	u->jobs++;
}

static void add_to_bin(struct bin *b, const struct figures *f)
{
	b->jobs++;
	b->wait += f->wait;
	b->slowdown += f->slowdown;
	b->bsld += f->bsld;
	b->core_s += f->core_s;
	if (f->wait > b->wait_max)
		b->wait_max = f->wait;
}

/* A job that ran for no time counts as one second in ratios. */
static struct figures figures_of(const struct sl_ended *e, int64_t submit, uint64_t cores)
{
	double wait = (double) ((e->first_start_s ? e->first_start_s : e->start_s) - submit), took = (double) (e->end_s - submit);
	double run = (double) (e->end_s - e->start_s + e->kept_s);
	struct figures f = {
		.wait = wait, .slowdown = took / fmax(run, 1), .bsld = fmax(1, took / fmax(run, SL_BSLD_TAU)),
		.core_s = (double) cores * (e->cancelled ? 0 : run),
	};

	return f;
}

int sl_metrics_ended(struct sl_metrics *m, const struct sl_ended *e, struct sl_error *err)
{
	struct sl_demand d;
	struct figures f;
	struct user *u;
	int64_t submit;
	double run;

	if (e->job >= m->snap->job.rows)
		return sl_fail(err, SL_EINVAL, "job row %" PRIu32 " of %" PRIu32, e->job, m->snap->job.rows);
	if (e->shape > m->snap->job.shapes[e->job].count)
		return sl_fail(err, SL_EINVAL, "job %" PRIu32 " has no alternative %" PRIu32, m->snap->job.id[e->job],
			       e->shape);
	submit = m->snap->job.submit_time[e->job];
	if (m->seen[e->job / 8] & 1u << e->job % 8)
		return sl_fail(err, SL_EINVAL, "job %" PRIu32 " ended twice", m->snap->job.id[e->job]);
	if (e->start_s < submit || e->end_s < e->start_s || !e->nodes)
		return sl_fail(err, SL_EINVAL, "job %" PRIu32 ": submitted at %" PRId64 ", ran from %" PRId64 " to %"
			       PRId64 " on %" PRIu32 " nodes", m->snap->job.id[e->job], submit, e->start_s,
			       e->end_s, e->nodes);
	u = find_user(m, e->job);
	if (!u)
		return sl_fail(err, SL_ENOMEM, "no memory for the metrics of %" PRIu32 " users", m->users);
	if (m->snap->job.flags[e->job] & SL_JOBF_MAY_PREEMPT && sl_grow(&m->preemptor_wait, &m->preemptor_room,
								      m->preemptors + UINT64_C(1), sizeof(*m->preemptor_wait), err))
		return -1;
	sl_shape_demand(&m->machine, e->job, e->shape, &d);
	f = figures_of(e, submit, d.cores);
	run = (double) (e->end_s - e->start_s);
	if (!m->waits || submit < m->first_submit)
		m->first_submit = submit;
	if (!m->waits || e->end_s > m->last_end)
		m->last_end = e->end_s;
	m->seen[e->job / 8] |= 1u << e->job % 8;
	m->wait[m->waits++] = (int64_t) f.wait;
	if (m->snap->job.flags[e->job] & SL_JOBF_MAY_PREEMPT)
		m->preemptor_wait[m->preemptors++] = (int64_t) f.wait;
	m->killed += e->killed && !e->cancelled;
	m->core_s += f.core_s;
	if (!e->cancelled) {	/* (its run was fed by itself) */
		m->held_s += (double) e->cores * run;
		m->gpu_s += (double) e->gpus * run;
	}
	add_sample(&m->sum_wait, f.wait);
	add_sample(&m->sum_slowdown, f.slowdown);
	add_sample(&m->sum_bsld, f.bsld);
	add_sample(&m->sum_fragmentation, e->blocks);
	add_sample(&m->sum_spread, (double) (e->last - e->first + 1) / e->nodes);
	add_sample(&m->sum_packing, d.nodes && d.nodes != SL_NONE ? (double) e->nodes / d.nodes : 1);
	add_to_user(u, e->job, submit, &f);
	add_to_bin(find_bin(m, d.cores, e->end_s - e->start_s), &f);
	return 0;
}

void sl_metrics_stopped(struct sl_metrics *m, uint32_t mode, bool moves, const struct sl_ended *e, int64_t lost_s)
{
	double run = (double) (e->end_s - e->start_s);

	m->stopped.stops++;
	m->stopped.cancels += mode == SL_STOP_CANCEL;
	m->stopped.suspends += mode == SL_STOP_SUSPEND;
	m->stopped.moves += moves;
	m->stopped.moves_lost_core_s += moves ? (double) e->cores * (double) lost_s : 0;
	m->stopped.lost_core_s += (double) e->cores * (double) lost_s;
	m->stopped.lost_gpu_s += (double) e->gpus * (double) lost_s;
	m->held_s += (double) e->cores * run;
	m->gpu_s += (double) e->gpus * run;
}

void sl_metrics_cycle(struct sl_metrics *m, double us)
{
	double at = us > CYCLE_LEAST ? log(us / CYCLE_LEAST) / CYCLE_STEP : 0;

	m->cycle[at < CYCLE_BINS - 1 ? (int) at : CYCLE_BINS - 1]++;
	m->cycles++;
	if (us > m->cycle_max)
		m->cycle_max = us;
}

void sl_metrics_skipped(struct sl_metrics *m)
{
	m->skipped++;
}

void sl_metrics_hidden(struct sl_metrics *m, uint32_t entries)
{
	m->hidden_cycles += entries > 0;
	if (entries > m->hidden_max)
		m->hidden_max = entries;
}

/* -- results ------------------------------------------------------------------------ */

static struct sl_moments moments(const struct sum *s)
{
	return (struct sl_moments) {
		.mean = s->mean, .sd = s->n ? sqrt(s->m2 / (double) s->n) : 0, .max = s->n ? s->max : 0,
	};
}

/* Nearest rank: the smallest value that a share p of all does not exceed. */
static double percentile(const int64_t *sorted, uint32_t n, double p)
{
	uint32_t rank = (uint32_t) ceil(p * n - 1e-9);

	return n ? (double) sorted[rank ? rank - 1 : 0] : 0;
}

static double cycle_percentile(const struct sl_metrics *m, double p)
{
	uint64_t rank = (uint64_t) ceil(p * (double) m->cycles - 1e-9), seen = 0;
	double us;

	for (int i = 0; i < CYCLE_BINS; i++) {
		seen += m->cycle[i];
		if (seen >= rank && seen) {
			us = CYCLE_LEAST * exp((i + 0.5) * CYCLE_STEP);
			return us < m->cycle_max ? us : m->cycle_max;
		}
	}
	return 0;
}

/* Users' mean waits: their mean and Gini coefficient, sum over i of (2i - n - 1) x_i
 * by n sum of x, for x in ascending order and i from 1 on. */
static int user_figures(const struct sl_metrics *m, struct sl_result *r, struct sl_error *err)
{
	double *mean = malloc((m->users + 1) * sizeof(*mean)), sum = 0, weighted = 0, first = 0;
	double n = m->users;

	if (!mean)
		return sl_fail(err, SL_ENOMEM, "no memory for the metrics of %" PRIu32 " users", m->users);
	for (uint32_t i = 0; i < m->users; i++) {
		mean[i] = m->user[i].wait / (double) m->user[i].jobs;
		sum += mean[i];
		first += m->user[i].first_wait;
	}
	qsort(mean, m->users, sizeof(*mean), sl_order_double);
	for (uint32_t i = 0; i < m->users; i++)
		weighted += (2.0 * (i + 1) - n - 1) * mean[i];
	r->users = m->users;
	r->user_wait_mean_s = n ? sum / n : 0;
	r->user_wait_gini = sum > 0 ? weighted / (n * sum) : 0;
	r->first_wait_mean_s = n ? first / n : 0;
	free(mean);
	return 0;
}

static void class_figures(const struct sl_metrics *m, struct sl_result *r)
{
	for (int s = 0; s < SL_SIZE_BINS; s++)
		for (int l = 0; l < SL_LENGTH_BINS; l++) {
			const struct bin *b = &m->bin[s][l];
			double n = b->jobs ? (double) b->jobs : 1;

			r->class[s][l] = (struct sl_class_result) {
				.jobs = b->jobs, .wait_mean_s = b->wait / n, .wait_max_s = b->wait_max,
				.slowdown_mean = b->slowdown / n, .bsld_mean = b->bsld / n, .core_s = b->core_s,
			};
		}
}

static void preemptor_figures(const struct sl_metrics *m, struct sl_result *r)
{
	double sum = 0;

	if (!m->preemptors)
		return;
	qsort(m->preemptor_wait, m->preemptors, sizeof(*m->preemptor_wait), sl_order_i64);
	for (uint32_t i = 0; i < m->preemptors; i++)
		sum += (double) m->preemptor_wait[i];
	r->preemptors = m->preemptors;
	r->preemptor_wait_mean_s = sum / m->preemptors;
	r->preemptor_wait_p99_s = percentile(m->preemptor_wait, m->preemptors, 0.99);
	r->preemptor_wait_max_s = (double) m->preemptor_wait[m->preemptors - 1];
}

int sl_metrics_result(struct sl_metrics *m, struct sl_result *r, struct sl_error *err)
{
	double area, gpu_area;

	memset(r, 0, sizeof(*r));
	if (user_figures(m, r, err) < 0)
		return -1;
	qsort(m->wait, m->waits, sizeof(*m->wait), sl_order_i64);
	r->jobs = m->waits;
	r->unfinished = m->snap->job.rows - m->waits;
	r->killed = m->killed;
	r->first_submit_s = m->first_submit;
	r->last_end_s = m->last_end;
	r->makespan_s = m->last_end - m->first_submit;
	r->cores = m->machine.cores;
	r->gpus = m->machine.gpus;
	r->nodes = m->machine.nodes;
	area = (double) r->cores * (double) r->makespan_s;
	gpu_area = (double) r->gpus * (double) r->makespan_s;
	r->utilization = area > 0 ? m->core_s / area : 0;
	r->held_utilization = area > 0 ? m->held_s / area : 0;
	r->gpu_utilization = gpu_area > 0 ? m->gpu_s / gpu_area : 0;
	r->wait_s = moments(&m->sum_wait);
	r->slowdown = moments(&m->sum_slowdown);
	r->bsld = moments(&m->sum_bsld);
	r->fragmentation = moments(&m->sum_fragmentation);
	r->spread = moments(&m->sum_spread);
	r->packing = moments(&m->sum_packing);
	r->wait_median_s = percentile(m->wait, m->waits, 0.5);
	r->wait_p99_s = percentile(m->wait, m->waits, 0.99);
	class_figures(m, r);
	r->stopped = m->stopped;
	r->stopped.lost_core_share = m->held_s > 0 ? m->stopped.lost_core_s / m->held_s : 0;
	r->stopped.lost_gpu_share = m->gpu_s > 0 ? m->stopped.lost_gpu_s / m->gpu_s : 0;
	preemptor_figures(m, r);
	r->cycles = m->cycles + m->skipped;
	r->asked = m->cycles;
	r->hidden_cycles = m->hidden_cycles;
	r->hidden_max = m->hidden_max;
	r->cycle_us_p50 = cycle_percentile(m, 0.5);
	r->cycle_us_p99 = cycle_percentile(m, 0.99);
	r->cycle_us_max = m->cycle_max;
	return 0;
}

bool sl_result_has_stops(const struct sl_result *r)
{
	return r->preemptors || r->stopped.stops || r->holds;
}

static int by_work(const void *a, const void *b)
{
	const struct sl_user_result *x = a, *y = b;

	if (x->core_s != y->core_s)
		return x->core_s > y->core_s ? -1 : 1;
	return strcmp(x->user, y->user);
}

int sl_metrics_users(struct sl_metrics *m, const struct sl_user_result **users, uint32_t *count,
		     struct sl_error *err)
{
	struct sl_user_result *result = malloc((m->users + 1) * sizeof(*result));

	if (!result)
		return sl_fail(err, SL_ENOMEM, "no memory for the metrics of %" PRIu32 " users", m->users);
	for (uint32_t i = 0; i < m->users; i++) {
		const struct user *u = &m->user[i];
		double n = (double) u->jobs;

		result[i] = (struct sl_user_result) {
			.user = sl_snapshot_str(m->snap, u->str), .jobs = u->jobs, .wait_mean_s = u->wait / n,
			.wait_max_s = u->wait_max, .slowdown_mean = u->slowdown / n, .bsld_mean = u->bsld / n,
			.core_s = u->core_s, .first_wait_s = u->first_wait,
		};
	}
	qsort(result, m->users, sizeof(*result), by_work);
	free(m->result);
	m->result = result;
	*users = result;
	*count = m->users;
	return 0;
}
