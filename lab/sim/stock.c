/* SPDX-License-Identifier: MIT */
#include "sim/stock.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/lines.h"
#include "base/number.h"
#include "conf/conf.h"
#include "timeline/choose.h"

#define NOT_YET INT64_MIN

struct sl_stock_options sl_stock_defaults(void)
{
	return (struct sl_stock_options) {
		.bf_interval_s = 30, .bf_window_s = 86400, .bf_resolution_s = 60, .bf_max_job_test = 500, .default_queue_depth = 100,
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

static void read_priority(struct sl_stock_options *opt, const struct sl_conf *c)
{
	int64_t age = 7 * 86400;

	if (strcasecmp(setting(c, "PriorityType", ""), "priority/multifactor"))
		return;
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
	opt->default_queue_depth = (uint32_t) find_number(words, "default_queue_depth", 0, opt->default_queue_depth);
	read_priority(opt, c);
	sl_conf_destroy(c);
	return 0;
}

/* -- life ---------------------------------------------------------------------- */

int sl_stock_open(struct sl_stock *s, const struct sl_snapshot *snap, struct sl_error *err)
{
	size_t partitions = snap->partition.rows;

	s->wake_at = s->backfilled_s = NOT_YET;
	s->closed = calloc(partitions + 1, sizeof(*s->closed));
	s->within = calloc(partitions * partitions + 1, sizeof(*s->within));
	if (s->closed && s->within)
		return 0;
	sl_stock_close(s);
	return sl_fail(err, SL_ENOMEM, "stock schedulers: out of memory");
}

void sl_stock_close(struct sl_stock *s)
{
	free(s->closed);
	free(s->within);
	s->closed = NULL;
	s->within = NULL;
}

/* Which partitions have no nodes but those of another one; looked at once. */
static void compare_partitions(struct sl_stock *s, const struct sl_cluster *c)
{
	uint32_t partitions = sl_cluster_snapshot(c)->partition.rows;

	for (uint32_t a = 0; a < partitions; a++)
		for (uint32_t b = 0; b < partitions; b++)
			s->within[a * partitions + b] = sl_nodeset_includes(sl_cluster_partition_nodes(c, b),
									     sl_cluster_partition_nodes(c, a));
}

/* -- deciding -------------------------------------------------------------------- */

/* fail_by_part of schedule(): its nodes are no more for jobs behind it. */
static void close_partition(struct sl_stock *s, uint32_t partitions, uint32_t partition)
{
	for (uint32_t a = 0; a < partitions; a++)
		s->closed[a] |= s->within[a * partitions + partition];
}

static int decide_main(struct sl_stock *s, struct sl_cluster *c, struct sl_plan *p, struct sl_error *err)
{
	uint32_t queued, partitions = sl_cluster_snapshot(c)->partition.rows, looked = 0;
	const struct sl_entry *e = sl_cluster_queue(c, &queued);

	memset(s->closed, 0, partitions * sizeof(*s->closed));
	for (uint32_t i = 0; i < queued && (looked < s->opt.default_queue_depth || s->opt.builtin); i++) {
		int rc;

		if (s->closed[e[i].partition])
			continue;
		looked++;
		rc = sl_plan_start(p, e[i], NULL, NULL, err);
		if (rc < 0)
			return -1;
		if (!rc)
			close_partition(s, partitions, e[i].partition);
	}
	return 0;
}

/*
 * _add_reservation(): the job's nodes, whole ones, are nobody's else from the beginning of the resolution in which it would
 * start to that in which it would end.  A job that ends at that very instant is in its way, too.
 */
static int keep_nodes(struct sl_stock *s, struct sl_plan *p, int64_t now, struct sl_error *err)
{
	int64_t grain = s->opt.bf_resolution_s, from, to;
	struct sl_nodeset nodes = { 0 };
	struct sl_booking b;
	uint32_t n;
	int rc;

	sl_plan_reserved(p, &n);
	rc = sl_plan_booking(p, true, n - 1, &b, err);
	for (uint32_t i = 0; !rc && i < b.count; i++)
		rc = sl_nodeset_add(&nodes, b.places[i].node, b.places[i].node, err);
	if (!rc) {
		from = b.start_time / grain * grain - 1;
		to = b.end_time == SL_UNLIMITED ? SL_UNLIMITED : b.end_time / grain * grain;
		to = sl_max_signed(to, b.start_time / grain * grain + grain);
		rc = sl_plan_block(p, &nodes, sl_max_signed(from, now), to, err);
	}
	sl_nodeset_free(&nodes);
	return rc;
}

/* 1: it has a reservation now. */
static int reserve(struct sl_stock *s, struct sl_plan *p, struct sl_entry e, int64_t now, struct sl_error *err)
{
	int64_t starts;
	int rc = sl_plan_earliest(p, e, NULL, &starts, NULL, err);

	if (rc <= 0 || starts > now + s->opt.bf_window_s)
		return rc < 0 ? -1 : 0;
	rc = sl_plan_reserve(p, e, NULL, &starts, NULL, err);
	if (rc <= 0 || s->opt.pool)
		return rc;
	return keep_nodes(s, p, now, err) < 0 ? -1 : 1;
}

static int decide_backfill(struct sl_stock *s, struct sl_cluster *c, struct sl_plan *p, struct sl_error *err)
{
	int64_t now = sl_cluster_now(c);
	uint32_t queued, blocks = 0;
	const struct sl_entry *e = sl_cluster_queue(c, &queued);

	for (uint32_t i = 0; i < queued && i < s->opt.bf_max_job_test && blocks < SL_PLAN_BLOCKS_MAX; i++) {
		int rc = sl_plan_start(p, e[i], NULL, NULL, err);

		if (!rc) {
			rc = reserve(s, p, e[i], now, err);
			blocks += rc > 0;
		}
		if (rc < 0)
			return -1;
	}
	return 0;
}

int sl_stock_decide(struct sl_cluster *c, struct sl_plan *p, void *arg, struct sl_error *err)
{
	struct sl_stock *s = arg;
	int64_t now = sl_cluster_now(c);

	if (s->backfilled_s == NOT_YET) {
		compare_partitions(s, c);
		sl_timeline_late_as_now(sl_cluster_timeline(c));
		s->backfilled_s = now;
	}
	s->changed |= now != s->wake_at;	/* _more_work() */
	s->wake_at = NOT_YET;
	if (decide_main(s, c, p, err) < 0)
		return -1;
	if (s->opt.builtin || !s->changed)
		return 0;
	if (now < s->backfilled_s + s->opt.bf_interval_s) {
		s->wake_at = s->backfilled_s + s->opt.bf_interval_s;
		return 0;
	}
	s->changed = false;
	s->backfilled_s = now;
	return decide_backfill(s, c, p, err);
}
