/* SPDX-License-Identifier: MIT */
#include "sim/stock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/grow.h"
#include "base/lines.h"
#include "base/number.h"
#include "conf/conf.h"
#include "sim/stock_private.h"
#include "timeline/choose.h"

#define NOT_YET INT64_MIN
#define GOLDEN_RATIO 0.6180339887	/* its multiples lie evenly between whole numbers */

struct sl_stock_options sl_stock_defaults(void)
{
	return (struct sl_stock_options) {
		.bf_interval_s = 30, .bf_window_s = 86400, .bf_resolution_s = 60, .bf_max_job_test = 500, .default_queue_depth = 100,
		.sched_interval_s = 60, .batch_sched_delay_s = 3,
	};
}

/* -- slurm.conf -------------------------------------------------------------- */

/* The number behind a word of the parameters, from *least* on; else *standard*. */
static int64_t find_number(const char *parameters, const char *word, int64_t least, int64_t standard)
{
	size_t length = strlen(word);
	int64_t n;

	for (const char *p = parameters; *p; p += strcspn(p, ", \t"), p += strspn(p, ", \t")) {
		const char *value = p + length + 1;

		if (!strncasecmp(p, word, length) && p[length] == '=')
			return sl_scan_int(&value, &n) && n >= least ? n : standard;
	}
	return standard;
}

static const char *setting(const struct sl_conf *c, const char *key, const char *standard)
{
	const struct sl_conf_value *v = sl_conf_get(c, key);

	return v ? v->value : standard;
}

/* True if a priority may have other fractions than those of the job's age and size. */
static bool has_fractions(const struct sl_conf *c)
{
	return strtod(setting(c, "PriorityWeightFairshare", "0"), NULL) > 0 || strtod(setting(c, "PriorityWeightAssoc", "0"), NULL) > 0 ||
		*setting(c, "PriorityWeightTRES", "") || strcasestr(setting(c, "PriorityFlags", ""), "SMALL_RELATIVE_TO_TIME");
}

static void read_priority(struct sl_stock_options *opt, const struct sl_conf *c)
{
	int64_t age = 7 * 86400;

	if (strcasecmp(setting(c, "PriorityType", ""), "priority/multifactor"))
		return;
	if (!has_fractions(c))
		opt->size_weight = strtod(setting(c, "PriorityWeightJobSize", "0"), NULL);
	opt->favours_small = !strcasecmp(setting(c, "PriorityFavorSmall", "no"), "yes");
	opt->age_weight = strtod(setting(c, "PriorityWeightAge", "0"), NULL);
	if (!sl_scan_duration(setting(c, "PriorityMaxAge", "7-0"), &age) || age <= 0 || age == SL_UNLIMITED)
		opt->age_weight = 0;
	opt->max_age_s = age;
	if (!sl_scan_duration(setting(c, "PriorityCalcPeriod", "5"), &opt->calc_period_s) || opt->calc_period_s == SL_UNLIMITED)
		opt->calc_period_s = 300;
}

int sl_stock_read(struct sl_stock_options *opt, const char *path, struct sl_error *err)
{
	struct sl_conf *c = sl_conf_read(path, SL_CONF_SETTINGS, err);
	const char *words;

	*opt = sl_stock_defaults();
	if (!c)
		return -1;
	words = setting(c, "SchedulerParameters", "");
	opt->builtin = !strcasecmp(setting(c, "SchedulerType", ""), "sched/builtin");
	opt->bf_interval_s = find_number(words, "bf_interval", 1, opt->bf_interval_s);
	opt->bf_window_s = 60 * find_number(words, "bf_window", 1, opt->bf_window_s / 60);
	opt->bf_resolution_s = find_number(words, "bf_resolution", 1, opt->bf_resolution_s);
	opt->bf_max_job_test = (uint32_t) find_number(words, "bf_max_job_test", 1, opt->bf_max_job_test);
	opt->bf_window_scale_s = find_number(words, "bf_window_scale", 0, 0);
	opt->sched_interval_s = find_number(words, "sched_interval", 1, opt->sched_interval_s);
	opt->batch_sched_delay_s = find_number(words, "batch_sched_delay", 0, opt->batch_sched_delay_s);
	opt->default_queue_depth = (uint32_t) find_number(words, "default_queue_depth", 0, opt->default_queue_depth);
	read_priority(opt, c);
	sl_conf_destroy(c);
	return 0;
}

void sl_stock_phase(struct sl_stock_options *opt, uint32_t i, uint32_t n)
{
	double turn = i * GOLDEN_RATIO;

	opt->phase_s = i * opt->bf_interval_s / n;
	opt->calc_phase_s = (int64_t) ((turn - floor(turn)) * (double) opt->calc_period_s);
}

/* -- life ---------------------------------------------------------------------- */

int sl_stock_open(struct sl_stock *s, const struct sl_snapshot *snap, struct sl_error *err)
{
	size_t partitions = snap->partition.rows;

	s->wake_at = s->backfilled_s = s->went_through_s = s->came_s = NOT_YET;
	s->closed = calloc(partitions + 1, sizeof(*s->closed));
	s->work = calloc(1, sizeof(*s->work));
	if (s->closed && s->work)
		return 0;
	sl_stock_close(s);
	return sl_fail(err, SL_ENOMEM, "stock schedulers: out of memory");
}

void sl_stock_close(struct sl_stock *s)
{
	free(s->closed);
	stock_work_free(s->work);
	sl_nodeset_free(&s->gone);
	s->closed = NULL;
	s->work = NULL;
}

/* The simulation wakes up then, or before. */
static void wake(struct sl_stock *s, int64_t at)
{
	s->wake_at = s->wake_at == NOT_YET ? at : sl_min_signed(s->wake_at, at);
}

/* -- on open nodes --------------------------------------------------------------- */

int stock_fits(struct sl_stock_work *w, struct sl_entry e, int64_t t, struct sl_error *err)
{
	const struct sl_want *want = sl_cluster_want(w->c, e, err);
	int rc = want ? 0 : -1;

	sl_layout_clear(&w->layout);
	for (uint32_t i = 0; !rc && want->why == SL_WHY_NONE && i < want->variants; i++) {
		struct sl_request r = want->variant[i].request;
		struct sl_how how = { .method = want->variant[i].select ? SL_PLACE_NATIVE : want->method };

		if (t < want->variant[i].from || t >= want->variant[i].until)
			continue;
		if (r.eligible && sl_nodeset_meet(&w->eligible, r.eligible, &w->open, err) < 0)
			return -1;
		r.eligible = r.eligible ? &w->eligible : &w->open;
		rc = sl_fit_at(sl_cluster_timeline(w->c), &r, &how, t, &w->layout, NULL, err);
		if (rc > 0 && stock_selects(w, want))
			rc = stock_select(w, &r, r.eligible, t, err);
	}
	return rc;
}

/* work.layout as picks of an explicit layout. */
static int name_places(struct sl_stock_work *w, struct sl_error *err)
{
	uint32_t nodes = w->layout.nodes;

	if (sl_grow(&w->place, &w->places, nodes, sizeof(*w->place), err) < 0 ||
	    sl_grow(&w->pick, &w->picks, nodes, sizeof(*w->pick), err) < 0 || sl_layout_places(&w->layout, w->place, err) < 0)
		return -1;
	for (uint32_t i = 0; i < nodes; i++)
		w->pick[i] = (struct sl_pick) { .node = w->place[i].node, .cores = w->place[i].cores };
	return 0;
}

int stock_start(struct sl_stock_work *w, struct sl_entry e, struct sl_error *err)
{
	const struct sl_want *want = sl_cluster_want(w->c, e, err);
	struct sl_how how = { .method = SL_PLACE_EXPLICIT };
	int rc;

	if (!want)
		return -1;
	if (!stock_selects(w, want) && sl_nodeset_includes(&w->open, want->request.eligible ? want->request.eligible :
							      sl_cluster_usable_nodes(w->c, e.partition)))
		return sl_plan_start(w->p, e, NULL, NULL, err);
	rc = stock_fits(w, e, w->now, err);
	if (rc <= 0 || !sl_want_takes_places(want))
		return rc <= 0 ? rc : sl_plan_start(w->p, e, NULL, NULL, err);
	if (name_places(w, err) < 0)
		return -1;
	how.picks = w->pick;
	how.count = w->layout.nodes;
	return sl_plan_start(w->p, e, &(struct sl_terms) { .how = &how }, NULL, err);
}

/* -- deciding -------------------------------------------------------------------- */

/* Start a job whose nodes are known on these.  1; 0: none are, or it does not fit there; -1 with *err. */
static int start_where_it_was(struct sl_stock *s, struct sl_entry e, struct sl_error *err)
{
	const struct sl_nodeset *nodes = s->opt.nodes ? s->opt.nodes(s->opt.nodes_arg, e.job) : NULL;

	if (!nodes)
		return 0;
	return sl_nodeset_copy(&s->work->open, nodes, err) < 0 ? -1 : stock_start(s->work, e, err);
}

/* schedule(): a job that does not fit closes its partition, and keeps that one's nodes from all jobs behind it. */
static int decide_main(struct sl_stock *s, bool whole_queue, struct sl_error *err)
{
	struct sl_stock_work *w = s->work;
	uint32_t queued, partitions = sl_cluster_snapshot(w->c)->partition.rows;
	const struct sl_entry *e = sl_cluster_queue(w->c, &queued);

	memset(s->closed, 0, partitions * sizeof(*s->closed));
	sl_nodeset_clear(&s->gone);
	for (uint32_t i = 0; i < queued && (whole_queue || i <= s->opt.default_queue_depth); i++) {
		const struct sl_want *want = sl_cluster_want(w->c, e[i], err);
		uint32_t partition = e[i].partition;
		int rc;

		if (!want)
			return -1;
		if (s->closed[partition] || want->why != SL_WHY_NONE)	/* who can never run there is in nobody's way */
			continue;
		rc = start_where_it_was(s, e[i], err);
		if (!rc && (sl_nodeset_copy(&w->open, sl_cluster_usable_nodes(w->c, partition), err) < 0 ||
			    sl_nodeset_subtract(&w->open, &s->gone, err) < 0))
			return -1;
		if (!rc)
			rc = stock_start(w, e[i], err);
		if (rc < 0)
			return -1;
		if (rc)
			continue;
		s->closed[partition] = true;
		if (sl_nodeset_union(&s->gone, sl_cluster_partition_nodes(w->c, partition), err) < 0)
			return -1;
	}
	return 0;
}

/* The whole queue is gone through once in sched_interval, else no more than default_queue_depth jobs of it. */
static int go_through_queue(struct sl_stock *s, struct sl_error *err)
{
	int64_t now = s->work->now;
	bool whole = s->opt.builtin || s->went_through_s == NOT_YET || now >= s->went_through_s + s->opt.sched_interval_s;
	uint32_t queued;

	if (whole)
		s->went_through_s = now;
	if (decide_main(s, whole, err) < 0)
		return -1;
	sl_cluster_queue(s->work->c, &queued);
	if (!whole && queued > s->opt.default_queue_depth)
		wake(s, s->went_through_s + s->opt.sched_interval_s);
	return 0;
}

/*
 * True if the main scheduler goes through the queue now; notes that it did, or wakes up when it will.  It does as soon as a job has
 * ended; for jobs that came, and for the whole queue, when the time has come.
 */
static bool take_turn(struct sl_stock *s)
{
	struct sl_stock_work *w = s->work;
	uint32_t running, queued;
	const struct sl_entry *e = sl_cluster_queue(w->c, &queued);

	sl_cluster_running(w->c, &running);
	if (s->came_s == NOT_YET || w->now >= s->came_s + s->opt.batch_sched_delay_s) {
		s->came_s = w->now;
		return true;
	}
	if (running < s->running || s->opt.pool || (queued && sl_cluster_snapshot(w->c)->job.priority[e[0].job] >= SL_STOCK_AT_ONCE))
		return true;
	wake(s, s->came_s + s->opt.batch_sched_delay_s);
	return false;
}

/* How many jobs run and wait when this decision has been carried out. */
static void note_jobs(struct sl_stock *s)
{
	uint32_t started;

	sl_cluster_running(s->work->c, &s->running);
	sl_cluster_queue(s->work->c, &s->waiting);
	sl_plan_started(s->work->p, &started);
	s->running += started;
	s->waiting -= started;
}

/* Has a job come or ended since the last decision?  A wake-up of one's own is no change, unless one did in that very second. */
static bool has_changed(const struct sl_stock *s)
{
	uint32_t running, queued;

	sl_cluster_running(s->work->c, &running);
	sl_cluster_queue(s->work->c, &queued);
	return s->work->now != s->wake_at || running < s->running || queued > s->waiting;
}

/* On a pool of processors there are no nodes to take: each job is reserved its processors. */
static int backfill_pool(struct sl_stock *s, struct sl_error *err)
{
	struct sl_stock_work *w = s->work;
	uint32_t queued;
	const struct sl_entry *e = sl_cluster_queue(w->c, &queued);

	for (uint32_t i = 0; i < queued && i < s->opt.bf_max_job_test; i++) {
		int64_t starts;
		int rc = sl_plan_start(w->p, e[i], NULL, NULL, err);

		if (!rc && (rc = sl_plan_earliest(w->p, e[i], NULL, &starts, NULL, err)) > 0 && starts <= w->now + s->opt.bf_window_s)
			rc = sl_plan_reserve(w->p, e[i], NULL, &starts, NULL, err);
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* When backfill comes next.  As long as jobs wait it comes in step, since it takes its own last visit for a change (_more_work()). */
static int64_t next_backfill(const struct sl_stock *s)
{
	int64_t now = s->work->now, step = s->opt.bf_interval_s, due = s->backfilled_s + step;

	if (s->opt.visits)
		return sl_visits_next(s->opt.visits, s->backfilled_s, now, step);
	return s->waited && now > due ? due + (now - due + step - 1) / step * step : due;
}

static int decide(struct sl_stock *s, struct sl_error *err)
{
	int64_t now = s->work->now, due = next_backfill(s);
	int rc;

	if (take_turn(s) && go_through_queue(s, err) < 0)
		return -1;
	if (s->opt.builtin || !s->changed)
		return 0;
	if (now < due) {
		wake(s, due);
		return 0;
	}
	s->backfilled_s = now;
	rc = s->opt.pool ? backfill_pool(s, err) : stock_backfill(s, err);
	note_jobs(s);
	s->waited = s->waiting > 0;
	s->changed = s->waited && s->running && !s->opt.pool;
	if (s->changed)
		wake(s, next_backfill(s));
	return rc;
}

int sl_stock_decide(struct sl_cluster *c, struct sl_plan *p, void *arg, struct sl_error *err)
{
	struct sl_stock *s = arg;
	int64_t now = sl_cluster_now(c);

	if (s->backfilled_s == NOT_YET) {
		sl_timeline_late_as_now(sl_cluster_timeline(c));
		s->backfilled_s = now - s->opt.phase_s;
		s->waited = s->opt.phase_s > 0;
	}
	s->work->c = c;
	s->work->p = p;
	s->work->now = now;
	s->changed |= has_changed(s);
	s->wake_at = NOT_YET;
	if (decide(s, err) < 0)
		return -1;
	note_jobs(s);
	return 0;
}
