/* SPDX-License-Identifier: MIT */
#include "sim/forecast.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/order.h"
#include "base/random.h"
#include "image/copy.h"
#include "image/map.h"
#include "image/partitions.h"
#include "image/remember.h"
#include "model/devices.h"
#include "usage/history.h"

#define WEEK INT64_C(604800)	/* stands for the walltime of a job that has none */
#define DAY INT64_C(86400)
#define LIKE 40			/* so many like runs at most */
#define ENOUGH 20		/* with fewer, less alike ones are taken, too */
#define TASKS 1000		/* of an array; those behind them wait longer than anybody looks */
#define LOOKED_AT 64		/* runs that are asked for, of which some are too short */

/* How long one job may run in all: runs of like jobs, those that are most alike first. */
struct sample {
	int64_t ran, limit;
	int64_t seconds[LIKE];
	uint32_t count;
};

struct scene {
	struct sl_cluster *c;
	const struct sl_forecast_options *opt;
	struct sl_forecast *f;
	struct sl_error *err;
	struct sl_history *history;
	struct sl_workload w;		/* running, then queued, then arriving */
	struct sample *sample;		/* of the first two */
	uint32_t *row;			/* by job of the forecast: its row */
	uint32_t running, known;
	uint32_t next_id;		/* of tasks and arrivals, downwards */
	int64_t now;
	int64_t *wake_s;		/* begin times that are yet to come, ascending */
	uint32_t wakes;
	bool late;
	struct sl_sim *sim;
};

static int no_memory(struct scene *x)
{
	return sl_fail(x->err, SL_ENOMEM, "forecast: out of memory");
}

/* -- how long may it run? ----------------------------------------------------- */

/* Add runs that are longer than it has run.  *scaled*: by the share of the walltime. */
static int add_like(struct scene *x, struct sample *s, const struct sl_history_query *q, bool scaled)
{
	const struct sl_past_run *const *run;
	uint32_t n;

	if (sl_history_ask(x->history, q, &run, &n, x->err))
		return -1;
	for (uint32_t i = 0; i < n && s->count < LIKE; i++) {
		double seconds = (double) run[i]->seconds;

		if (scaled && run[i]->limit > 0 && run[i]->limit < SL_UNLIMITED)
			seconds *= (double) s->limit / (double) run[i]->limit;
		if (seconds > (double) s->ran)
			s->seconds[s->count++] = seconds < (double) s->limit ? (int64_t) seconds : s->limit;
	}
	return 0;
}

static int make_sample(struct scene *x, uint32_t job, int64_t ran, struct sample *s)
{
	const struct sl_snapshot *snap = sl_cluster_snapshot(x->c);
	int64_t limit = snap->job.time_limit[job];
	int64_t cpus = sl_cluster_state(x->c, job) == SL_JOB_PENDING ? snap->job.min_cpus[job] :
		       sl_cluster_has(x->c, job, SL_UNIT_CPU);
	const char *account = sl_snapshot_str(snap, snap->job.account[job]);
	struct sl_history_query q = { .user = sl_snapshot_str(snap, snap->job.user[job]), .now = x->now, .last = LOOKED_AT,
				      .least_cpus = cpus, .most_cpus = cpus, .least_limit = limit, .most_limit = limit };

	*s = (struct sample) { .ran = ran, .limit = limit < SL_UNLIMITED ? limit : WEEK };
	if (!*q.user) {
		q.user = NULL;
		q.account = *account ? account : SL_HISTORY_NOBODY;
	}
	if (add_like(x, s, &q, false))
		return -1;
	q.least_cpus = INT64_MIN;
	q.most_cpus = INT64_MAX;
	if (s->count < ENOUGH && add_like(x, s, &q, false))
		return -1;
	q.least_limit = INT64_MIN;
	q.most_limit = INT64_MAX;
	if (s->count < ENOUGH && add_like(x, s, &q, true))
		return -1;
	if (!q.user || !*account)
		return 0;
	q.user = NULL;
	q.account = account;
	return s->count < ENOUGH ? add_like(x, s, &q, true) : 0;
}

/* One of them, the newer the likelier; of nothing known any share of the walltime. */
static int64_t draw(const struct sample *s, struct sl_random *random)
{
	double u = (double) (sl_random_u64(random) >> 11) * 0x1p-53;
	int64_t left = s->limit - s->ran, seconds;

	if (s->count)
		seconds = s->seconds[(uint32_t) (u * u * s->count)];
	else
		seconds = s->ran + (left > 0 ? (int64_t) (u * (double) left) : 0);
	return seconds > s->ran ? seconds : s->ran + 1;
}

/* -- the scene: a workload that begins now ---------------------------------- */

static int append_places(struct scene *x, struct sl_builder *b, uint32_t job, struct sl_range *alloc)
{
	const struct sl_snapshot *snap = sl_cluster_snapshot(x->c);
	struct sl_range all = { 0, 0 };
	const struct sl_place *place = sl_cluster_places(x->c, job, &all.count);
	struct sl_range *gres = calloc((size_t) all.count + 1, sizeof(*gres));

	if (!gres)
		return no_memory(x);
	for (uint32_t i = 0; i < all.count; i++)
		for (uint32_t k = 0; k < snap->gres_kind.rows; k++) {
			struct sl_alloc_gres_row row = { .kind = k, .count = place[i].gres[k] };
			uint32_t at;

			row.devices = sl_cluster_devices(x->c, place[i].gres, k, &row.of);
			at = row.count ? sl_builder_append(b, SL_T_ALLOC_GRES, &row) : 0;

			if (row.count && !gres[i].count++)
				gres[i].first = at;
		}
	for (uint32_t i = 0; i < all.count; i++) {
		struct sl_alloc_row row = { .node = place[i].node, .cores = place[i].cores, .memory = place[i].memory,
					    .gres = gres[i] };
		uint32_t at = sl_builder_append(b, SL_T_ALLOC, &row);

		if (!i)
			all.first = at;
	}
	free(gres);
	*alloc = all;
	return 0;
}

static int append_running(struct scene *x, struct sl_image_copy *copy)
{
	uint32_t n;
	const uint32_t *running = sl_cluster_running(x->c, &n);

	for (uint32_t i = 0; i < n; i++) {
		int64_t ran = sl_cluster_ran(x->c, running[i]);
		struct sl_job_row row;

		if (make_sample(x, running[i], ran, &x->sample[x->known++]))
			return -1;
		sl_image_copy_row(copy, SL_T_JOB, running[i], &row);
		row.state = SL_JOB_RUNNING;
		row.start_time = x->now - ran;
		row.end_time = sl_cluster_end(x->c, running[i]);
		if (append_places(x, copy->to, running[i], &row.alloc))
			return -1;
		sl_builder_append(copy->to, SL_T_JOB, &row);
	}
	x->running = n;
	return 0;
}

static uint32_t tasks_of(const struct sl_snapshot *snap, uint32_t job)
{
	uint32_t n = snap->job.array_pending[job];

	return n < 1 ? 1 : n < TASKS ? n : TASKS;
}

/* Each job of the queue; of an array each task, of which the first is asked about. */
static int append_queued(struct scene *x, struct sl_image_copy *copy)
{
	const struct sl_snapshot *snap = copy->view;
	uint8_t *seen = calloc((size_t) snap->job.rows + 1, 1);
	uint32_t n, first;
	const struct sl_entry *e = sl_cluster_queue(x->c, &n);
	int rc = seen ? 0 : no_memory(x);

	for (uint32_t i = 0; !rc && i < n; i++) {
		struct sl_job_row row;

		if (seen[e[i].job])
			continue;
		seen[e[i].job] = 1;
		first = x->known;
		rc = make_sample(x, e[i].job, 0, &x->sample[first]);
		sl_image_copy_row(copy, SL_T_JOB, e[i].job, &row);
		row.state = SL_JOB_PENDING;
		row.array_pending = 0;
		if (row.begin_time > x->now)	/* of a job that is only asked about: others are not queued before it */
			x->wake_s[x->wakes++] = row.begin_time;
		else
			row.begin_time = 0;
		if (!x->opt->only || row.id == x->opt->only) {
			x->row[x->f->jobs] = x->known;
			x->f->job[x->f->jobs++] = row.id;
		}
		for (uint32_t task = tasks_of(snap, e[i].job); task; task--) {
			x->sample[x->known] = x->sample[first];
			x->known++;
			sl_builder_append(copy->to, SL_T_JOB, &row);
			row.id = x->next_id--;
		}
	}
	free(seen);
	qsort(x->wake_s, x->wakes, sizeof(*x->wake_s), sl_order_i64);
	if (!rc && !x->f->jobs && x->opt->only)
		rc = sl_fail_not_queued(snap, x->opt->only, x->err);
	return rc;
}

/* Where it has not ended by now nobody knows how long it ran. */
static int past_runtime(struct scene *x, uint32_t row, struct sl_random *random, int64_t *seconds)
{
	struct sample s;

	*seconds = x->opt->past->runtime_s[row];
	if (&x->opt->past->snap != sl_cluster_snapshot(x->c) || sl_cluster_state(x->c, row) == SL_JOB_COMPLETE)
		return 0;
	if (make_sample(x, row, 0, &s))
		return -1;
	*seconds = draw(&s, random);
	return 0;
}

/* The jobs that came in the week before, in the same order, a week later.  0 or -1. */
static int append_arrivals(struct scene *x, struct sl_image_copy *copy, struct sl_random *random)
{
	const struct sl_workload *past = x->opt->past;
	const struct sl_job_view *v = past ? &past->snap.job : NULL;
	struct sl_image_copy from = { .image = past ? &past->snap.image : NULL, .view = past ? &past->snap : NULL, .to = copy->to,
				      .map = copy->map };

	for (uint32_t i = 0; v && i < v->rows && v->submit_time[i] <= x->now; i++) {
		struct sl_job_row row;

		if (v->submit_time[i] <= x->now - 7 * DAY)
			continue;
		sl_image_copy_row(&from, SL_T_JOB, i, &row);
		row.id = x->next_id--;
		row.submit_time += 7 * DAY;
		row.eligible_time = row.submit_time;
		row.state = SL_JOB_PENDING;
		row.alloc = (struct sl_range) { 0, 0 };
		row.start_time = row.end_time = row.begin_time = 0;
		row.array_pending = 0;
		if (past_runtime(x, i, random, &x->w.runtime_s[sl_builder_rows(copy->to, SL_T_JOB)]))
			return -1;
		sl_builder_append(copy->to, SL_T_JOB, &row);
	}
	return 0;
}

static int allocate(struct scene *x)
{
	const struct sl_snapshot *snap = sl_cluster_snapshot(x->c);
	uint32_t running, queued;
	const struct sl_entry *e = sl_cluster_queue(x->c, &queued);
	size_t most, arrive = x->opt->past ? x->opt->past->snap.job.rows : 0;

	sl_cluster_running(x->c, &running);
	most = (size_t) running + 1;
	for (uint32_t i = 0; i < queued; i++)
		most += tasks_of(snap, e[i].job);
	x->sample = malloc(most * sizeof(*x->sample));
	x->row = malloc(most * sizeof(*x->row));
	x->wake_s = malloc(((size_t) queued + 1) * sizeof(*x->wake_s));
	x->f->job = malloc(most * sizeof(*x->f->job));
	x->f->wait = malloc(most * x->opt->draws * sizeof(*x->f->wait));
	x->w.runtime_s = calloc(most + arrive, sizeof(int64_t));
	x->w.arrival_s = calloc(most + arrive, sizeof(int64_t));
	x->w.name = (char *) (uintptr_t) "forecast";
	return x->sample && x->row && x->wake_s && x->f->job && x->f->wait && x->w.runtime_s && x->w.arrival_s ? 0 : no_memory(x);
}

static int copy_machine(struct scene *x, struct sl_image_copy *copy)
{
	static const int tables[] = { SL_T_META, SL_T_GRES_KIND, SL_T_NODE, SL_T_PARTITION, SL_T_LICENSE, SL_T_RESERVATION,
				      SL_T_USAGE, SL_T_REMEMBERED };
	struct sl_meta_row meta;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		sl_image_copy_table(copy, tables[i]);
	if (!sl_builder_row(copy->to, SL_T_META, 0, &meta)) {
		meta.now = x->now;
		sl_builder_update(copy->to, SL_T_META, 0, &meta);
	}
	return 0;
}

static int make_scene(struct scene *x, struct sl_builder *b, struct sl_random *random)
{
	const struct sl_snapshot *snap = sl_cluster_snapshot(x->c);
	const uint32_t *map[SL_SNAPSHOT_TABLES] = { 0 };
	struct sl_image_copy copy = { .image = &snap->image, .view = snap, .to = b, .map = map };
	const void *bytes;

	if (allocate(x) || copy_machine(x, &copy) || append_running(x, &copy) || append_queued(x, &copy) ||
	    append_arrivals(x, &copy, random))
		return -1;
	for (uint32_t i = 0; i < x->known; i++)
		x->f->known += x->sample[i].count > 0;
	sl_history_encode(x->history, b, SL_T_HISTORY);
	if (sl_builder_finish(b, &bytes, &x->w.size, x->err) || sl_snapshot_open(&x->w.snap, bytes, x->w.size, x->err))
		return -1;
	for (uint32_t i = 0; i < x->w.snap.job.rows; i++)
		x->w.arrival_s[i] = i < x->known ? x->now : x->w.snap.job.submit_time[i];
	x->w.origin_s = x->now;
	return 0;
}

/* -- it goes on -------------------------------------------------------------- */

static bool is_late(const struct scene *x)
{
	return x->opt->until_us && sl_clock_us() > x->opt->until_us;
}

/* Once all that are asked about have started, nothing more has to be known. */
static bool is_done(void *scene)
{
	struct scene *x = scene;
	const struct sl_sim_job *job = sl_sim_schedule(x->sim);
	uint32_t i = 0;

	while (i < x->f->jobs && job[x->row[i]].start_s)
		i++;
	x->late = is_late(x);
	return i == x->f->jobs || x->late;
}

static int go_on(struct scene *x, struct sl_random *random, char **trace)
{
	static const struct sl_limits none;
	const struct sl_limits *limits = x->opt->limits ? x->opt->limits : &none;
	/* until for ever: where no job starts at all, that is an answer */
	struct sl_sim_options opt = { .keep_schedule = true, .limits = limits, .until_s = INT64_MAX, .wake_s = x->wake_s,
				      .wakes = x->wakes, .is_enough = is_done, .is_enough_arg = x };
	const struct sl_sim_job *job;
	int rc = -1;

	for (uint32_t i = 0; i < x->known; i++)
		x->w.runtime_s[i] = draw(&x->sample[i], random);
	/* each time policies remember what they do now, not what they did in the draw before */
	sl_remember_destroy(sl_script_take_memory(x->opt->script));
	x->sim = sl_sim_create(&x->w, x->opt->script, &opt, x->err);
	if (x->sim)
		rc = sl_sim_run(x->sim, trace, x->err);
	if (rc >= 0 && x->late)
		rc = sl_fail(x->err, SL_ETIME, "no time was left");
	job = x->sim && rc >= 0 ? sl_sim_schedule(x->sim) : NULL;
	for (uint32_t i = 0; job && i < x->f->jobs; i++) {
		int64_t start = job[x->row[i]].start_s;

		x->f->wait[(size_t) i * x->opt->draws + x->f->draws] = start ? start - x->now : SL_UNLIMITED;
	}
	sl_sim_destroy(x->sim);
	return rc < 0 ? -1 : 0;
}

/* All draws that can be made; each job's waits end up side by side. */
static int draw_all(struct scene *x, struct sl_random *random, char **trace)
{
	struct sl_forecast *f = x->f;
	struct sl_error *err = x->err;
	char *why = NULL;

	for (uint32_t i = 0; i < x->opt->draws && !x->late; i++) {
		struct sl_error failed = { 0 };

		x->err = &failed;
		if (!go_on(x, random, &why)) {
			f->draws++;
		} else if (!f->missed.code) {
			f->missed = failed;
			*trace = why;
			why = NULL;
		}
		free(why);
		why = NULL;
	}
	x->err = err;
	if (!f->draws) {
		*err = f->missed;
		return -1;
	}
	for (uint32_t i = 0; i < f->jobs; i++) {
		memmove(f->wait + (size_t) i * f->draws, f->wait + (size_t) i * x->opt->draws, f->draws * sizeof(*f->wait));
		qsort(f->wait + (size_t) i * f->draws, f->draws, sizeof(*f->wait), sl_order_i64);
	}
	return 0;
}

int sl_forecast_make(struct sl_cluster *c, const struct sl_forecast_options *opt, struct sl_forecast *f, char **trace,
		     struct sl_error *err)
{
	struct scene x = { .c = c, .opt = opt, .f = f, .err = err, .now = sl_cluster_now(c), .next_id = UINT32_MAX - 1 };
	struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, err);
	struct sl_random random;
	int rc = -1;

	memset(f, 0, sizeof(*f));
	x.history = opt->history ? opt->history : sl_cluster_history(c, err);
	sl_random_seed(&random, opt->seed);
	if (b && x.history)
		rc = make_scene(&x, b, &random);
	if (!rc && f->jobs)
		rc = draw_all(&x, &random, trace);
	sl_builder_destroy(b);
	free(x.sample);
	free(x.row);
	free(x.wake_s);
	free(x.w.runtime_s);
	free(x.w.arrival_s);
	return rc;
}

void sl_forecast_clear(struct sl_forecast *f)
{
	free(f->job);
	free(f->wait);
	memset(f, 0, sizeof(*f));
}
