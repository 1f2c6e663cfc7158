/* SPDX-License-Identifier: MIT */
#include "tool/sooner.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/duration.h"
#include "base/number.h"
#include "base/text.h"
#include "image/copy.h"
#include "image/partitions.h"

#define SHORTEST 60	/* seconds: no walltime below that is proposed */
#define FORECAST_US INT64_C(5000000)	/* for the times of all that stand before it */

struct trial {
	const struct sl_bundle *bundle;
	const struct sl_snapshot *snap;
	struct sl_limits limits;	/* of one decision */
	int64_t until_us;		/* of all of them */
	struct sl_decision decision;
	uint32_t job, row, queue;	/* id; rows of the job and of its first entry */
	uint32_t entries;
	int64_t start;			/* as it asks; SL_UNLIMITED: not known */
	struct sl_text_table *table;
	uint32_t sooner, tried, failed;
	struct sl_error why;		/* the first one that failed */
};

/* When the plan has it start; SL_UNLIMITED: it does not say. */
static int64_t start_of(const struct trial *t)
{
	const struct sl_plan_image *p = &t->decision.plan;

	for (uint32_t i = 0; i < p->start.rows; i++)
		if (p->start.job[i] == t->job)
			return t->snap->meta.now[0];
	for (uint32_t i = 0; i < p->reserve.rows; i++)
		if (p->reserve.job[i] == t->job)
			return p->reserve.start_time[i];
	for (uint32_t i = 0; i < p->forecast.rows; i++)
		if (p->forecast.job[i] == t->job && p->forecast.partition[i] != SL_NONE)	/* else a policy told that */
			return p->forecast.start_time[i];
	return SL_UNLIMITED;
}

/* Decide where the job is *row* instead, in that partition.  0 and *start, or -1 with *err. */
static int decide(struct trial *t, const struct sl_job_row *changed, uint32_t partition, int64_t *start, struct sl_error *err)
{
	static const int tables[] = { SL_T_META, SL_T_GRES_KIND, SL_T_NODE, SL_T_PARTITION, SL_T_LICENSE, SL_T_RESERVATION,
				      SL_T_JOB, SL_T_QUEUE, SL_T_USAGE, SL_T_REMEMBERED, SL_T_HISTORY, SL_T_HELD, SL_T_STOPPED };
	const uint32_t *map[SL_SNAPSHOT_TABLES] = { 0 };
	struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, err);
	struct sl_image_copy copy = { .image = &t->snap->image, .view = t->snap, .to = b, .map = map };
	struct sl_queue_row entry;
	struct sl_snapshot snap;
	struct sl_job_row row;
	const void *bytes;
	size_t size;
	int64_t begin = sl_clock_us(), left = t->until_us - begin;
	int rc = -1;

	t->limits.budget_us = left < t->limits.budget_us ? left : t->limits.budget_us;
	for (size_t i = 0; b && i < sizeof(tables) / sizeof(tables[0]); i++)
		sl_image_copy_table(&copy, tables[i]);
	if (b && !sl_builder_row(b, SL_T_JOB, t->row, &row) && !sl_builder_row(b, SL_T_QUEUE, t->queue, &entry)) {
		row.time_limit = changed->time_limit;
		row.min_nodes = changed->min_nodes;
		row.max_nodes = changed->max_nodes;
		row.min_cpus = changed->min_cpus;
		row.max_cpus = changed->max_cpus;
		row.num_tasks = changed->num_tasks;
		row.ntasks_per_node = changed->ntasks_per_node;
		row.flags = changed->flags;
		row.partition = entry.partition = partition;
		sl_builder_update(b, SL_T_JOB, t->row, &row);
		sl_builder_update(b, SL_T_QUEUE, t->queue, &entry);
	}
	if (left <= 0)
		sl_fail(err, SL_ETIME, "no time was left");
	else if (b && !sl_builder_finish(b, &bytes, &size, err) && !sl_snapshot_open(&snap, bytes, size, err))
		rc = sl_decide(t->bundle, &snap, &t->limits, begin, &t->decision, err);
	if (!rc && t->decision.policy.code) {
		*err = t->decision.policy;
		rc = -1;
	}
	if (!rc)
		*start = start_of(t);
	sl_builder_destroy(b);
	return rc;
}

static void add_row(struct trial *t, const char *change, int64_t start)
{
	char text[40] = "not known";
	time_t at = (time_t) start;
	struct tm tm;

	if (start < SL_UNLIMITED && localtime_r(&at, &tm))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	sl_text_table_add(t->table, change);
	sl_text_table_add(t->table, text);
	if (start < t->start && t->start < SL_UNLIMITED)
		sl_text_table_addf(t->table, "%" PRId64 " min", (t->start - start + 59) / 60);
	else
		sl_text_table_add(t->table, "");
}

/* Where it is not known when the job starts as it asks, only a start at once is sooner. */
static bool is_sooner(const struct trial *t, int64_t start)
{
	return start < t->start && (t->start < SL_UNLIMITED || start <= t->snap->meta.now[0]);
}

static void try(struct trial *t, const char *change, const struct sl_job_row *row, uint32_t partition)
{
	struct sl_error why = { 0 };
	int64_t start;

	t->tried++;
	if (decide(t, row, partition, &start, &why)) {
		if (!t->failed++)
			t->why = why;
	} else if (is_sooner(t, start)) {
		add_row(t, change, start);
		t->sooner++;
	}
}

static struct sl_job_row row_of(const struct trial *t)
{
	const struct sl_job_view *v = &t->snap->job;
	uint32_t i = t->row;

	return (struct sl_job_row) { .time_limit = v->time_limit[i], .min_nodes = v->min_nodes[i], .max_nodes = v->max_nodes[i],
				     .min_cpus = v->min_cpus[i], .max_cpus = v->max_cpus[i], .num_tasks = v->num_tasks[i],
				     .ntasks_per_node = v->ntasks_per_node[i], .flags = v->flags[i] };
}

static void try_shorter(struct trial *t, uint32_t partition)
{
	struct sl_job_row row = row_of(t);
	char change[80];

	for (int64_t limit = row.time_limit / 2; row.time_limit < SL_UNLIMITED && limit >= SHORTEST &&
	     limit >= t->snap->job.time_limit[t->row] / 16; limit /= 2) {
		row.time_limit = limit / 60 * 60;
		snprintf(change, sizeof(change), "a walltime of %" PRId64 " min", row.time_limit / 60);
		try(t, change, &row, partition);
	}
}

static const char *plural(uint32_t n)
{
	return n == 1 ? "" : "s";
}

/* Half and a quarter of its nodes and CPUs; of one node, or where no number of nodes is asked for, of its CPUs. */
static void try_smaller(struct trial *t, uint32_t partition)
{
	char change[80];

	for (uint32_t part = 2; part <= 4; part *= 2) {
		struct sl_job_row row = row_of(t);
		bool fewer_nodes = row.min_nodes > 1;
		uint32_t cpus = sl_quotient_up(row.min_cpus, part);
		int n = 0;

		if ((fewer_nodes ? row.min_nodes : row.min_cpus) < part)
			break;
		if (fewer_nodes) {
			row.min_nodes = sl_quotient_up(row.min_nodes, part);
			row.max_nodes = sl_quotient_up(row.max_nodes, part);
			n = snprintf(change, sizeof(change), "%" PRIu32 " node%s%s", row.min_nodes, plural(row.min_nodes),
				     cpus ? ", " : "");
		}
		row.min_cpus = cpus;
		row.max_cpus = sl_quotient_up(row.max_cpus, part);
		row.num_tasks = sl_quotient_up(row.num_tasks, part);
		if (cpus)
			n += snprintf(change + n, sizeof(change) - (size_t) n, "%" PRIu32 " CPU%s", cpus, plural(cpus));
		if (row.num_tasks)
			snprintf(change + n, sizeof(change) - (size_t) n, ", %" PRIu32 " task%s", row.num_tasks,
				 plural(row.num_tasks));
		try(t, change, &row, partition);
	}
}

/* The same CPUs, laid out otherwise. */
static void try_shapes(struct trial *t, uint32_t partition)
{
	struct sl_job_row row = row_of(t);
	bool nodes = row.min_nodes > 1 || row.max_nodes;
	char change[120];

	if (row.flags & SL_JOBF_EXCLUSIVE) {
		row.flags &= ~(uint32_t) SL_JOBF_EXCLUSIVE;
		try(t, "nodes shared with others (no --exclusive)", &row, partition);
		row = row_of(t);
	}
	if (row.flags & SL_JOBF_CONTIGUOUS) {
		row.flags &= ~(uint32_t) SL_JOBF_CONTIGUOUS;
		try(t, "any nodes (no --contiguous)", &row, partition);
		row = row_of(t);
	}
	if ((row.num_tasks > 1 || row.min_cpus > 1) && (nodes || row.ntasks_per_node)) {
		snprintf(change, sizeof(change), "its tasks on however many nodes (no %s%s%s)", nodes ? "--nodes" : "",
			 nodes && row.ntasks_per_node ? ", no " : "", row.ntasks_per_node ? "--ntasks-per-node" : "");
		row.min_nodes = 1;
		row.max_nodes = row.ntasks_per_node = 0;
		try(t, change, &row, partition);
	}
}

static void try_partitions(struct trial *t)
{
	const struct sl_partition_view *v = &t->snap->partition;
	struct sl_job_row row = row_of(t);
	char change[160];

	for (uint32_t p = 0; p < v->rows && t->entries == 1; p++) {
		if (p == t->snap->queue.partition[t->queue] || (row.time_limit > v->max_time[p]))
			continue;
		snprintf(change, sizeof(change), "partition %s, where it may", sl_snapshot_str(t->snap, v->name[p]));
		try(t, change, &row, p);
	}
}

static int find(struct trial *t, struct sl_error *err)
{
	const struct sl_queue_view *q = &t->snap->queue;

	for (uint32_t i = q->rows; i-- > 0;)
		if (t->snap->job.id[q->job[i]] == t->job) {
			t->queue = i;
			t->row = q->job[i];
			t->entries++;
		}
	return t->entries ? 0 : sl_fail_not_queued(t->snap, t->job, err);
}

static int print(const struct trial *t, char **text, struct sl_error *err)
{
	size_t size;
	FILE *out = open_memstream(text, &size);
	int rc = out && !sl_text_table_print(t->table, 0, out) ? 0 : sl_fail(err, SL_ENOMEM, "explain: out of memory");

	if (out && !t->sooner)
		fputs("no change that was tried would start it sooner\n", out);
	if (out && t->failed)
		fprintf(out, "%" PRIu32 " of %" PRIu32 " changes could not be tried: %s\n", t->failed, t->tried, t->why.text);
	if (out)
		fclose(out);
	return rc;
}

int sl_sooner(const struct sl_bundle *bundle, const struct sl_snapshot *snap, const struct sl_usage_provider *usage,
	      struct sl_history *history, const struct sl_limits *limits, uint32_t job, char **text, struct sl_error *err)
{
	struct trial t = { .bundle = bundle, .snap = snap, .limits = *limits, .job = job, .start = SL_UNLIMITED,
			   .until_us = sl_clock_us() + limits->budget_us,
			   .decision = { .usage = usage, .history = history, .forecasts = UINT32_MAX, .forecast_us = FORECAST_US } };
	struct sl_job_row row;
	uint32_t partition;
	int rc = -1;

	*text = NULL;
	if (find(&t, err))
		return -1;
	row = row_of(&t);
	partition = snap->queue.partition[t.queue];
	t.table = sl_text_table_create("change,may start,sooner by");
	if (!t.table)
		return sl_fail(err, SL_ENOMEM, "explain: out of memory");
	if (!decide(&t, &row, partition, &t.start, err)) {
		add_row(&t, "as it asks", t.start);
		try_shorter(&t, partition);
		try_smaller(&t, partition);
		try_shapes(&t, partition);
		try_partitions(&t);
		rc = print(&t, text, err);
	}
	sl_decision_clear(&t.decision);
	sl_text_table_destroy(t.table);
	return rc;
}
