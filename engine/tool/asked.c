/* SPDX-License-Identifier: MIT */
#include "tool/asked.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "base/search.h"
#include "image/copy.h"
#include "image/shapes.h"

/* A queue entry of the job, and the row that it comes before. */
struct entry {
	struct sl_queue_row row;
	uint32_t before;
};

/* -- size ------------------------------------------------------------------ */

static int read_size(struct sl_builder *b, const char *size, struct sl_shape_row *shape, struct sl_error *err)
{
	struct sl_range range;

	if (sl_shapes_add(b, size, &range, err) < 0)
		return -1;
	if (range.count != 1 || sl_builder_row(b, SL_T_SHAPE, range.first, shape))
		return sl_fail(err, SL_EINVAL, "--gres, --gpus...: expected one number of each, not a range");
	return 0;
}

int sl_asked_check(const char *size, struct sl_error *err)
{
	struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, err);
	struct sl_shape_row shape;
	int rc = b ? read_size(b, size, &shape, err) : -1;

	sl_builder_destroy(b);
	return rc;
}

/* -- who --------------------------------------------------------------------- */

static bool equals(const struct sl_snapshot *snap, uint32_t str, const char *text)
{
	return !strcmp(sl_snapshot_str(snap, str), text);
}

/* The job of that user that was submitted last, or SL_NONE. */
static uint32_t find_last(const struct sl_snapshot *snap, const char *user)
{
	const struct sl_job_view *j = &snap->job;
	uint32_t last = SL_NONE;

	for (uint32_t i = 0; i < j->rows; i++)
		if (equals(snap, j->user[i], user) && (last == SL_NONE || j->submit_time[i] >= j->submit_time[last]))
			last = i;
	return last;
}

static void fill_who(struct sl_asked *a, const struct sl_snapshot *snap, struct sl_builder *b, struct sl_job_row *row)
{
	uint32_t last = find_last(snap, a->user);
	const struct passwd *known = last == SL_NONE ? getpwnam(a->user) : NULL;

	if (!a->account)
		a->account = last == SL_NONE ? "" : sl_snapshot_str(snap, snap->job.account[last]);
	if (!a->qos)
		a->qos = last == SL_NONE ? "" : sl_snapshot_str(snap, snap->job.qos[last]);
	row->user = sl_builder_str(b, a->user);
	row->account = sl_builder_str(b, a->account);
	row->qos = sl_builder_str(b, a->qos);
	row->uid = last != SL_NONE ? snap->job.uid[last] : known ? known->pw_uid : SL_NONE;
	row->gid = last != SL_NONE ? snap->job.gid[last] : known ? known->pw_gid : SL_NONE;
}

/* -- where ------------------------------------------------------------------- */

/* An empty list of those who may says nothing. */
static bool is_allowed(const struct sl_snapshot *snap, uint32_t allow, uint32_t deny, const char *word)
{
	const char *may = sl_snapshot_str(snap, allow);

	return *may ? sl_list_has(may, ",", word, strlen(word)) :
		!sl_list_has(sl_snapshot_str(snap, deny), ",", word, strlen(word));
}

/* AllowAccounts, AllowQos, AllowGroups, RootOnly: slurmctld holds back what a partition does not admit. */
static bool is_admitted(struct sl_asked *a, const struct sl_snapshot *snap, uint32_t p, uint32_t uid)
{
	const struct sl_partition_view *v = &snap->partition;
	const char *name = sl_snapshot_str(snap, v->name[p]);
	char digits[16];

	snprintf(digits, sizeof(digits), "%" PRIu32, uid);
	if (!is_allowed(snap, v->allow_accounts[p], v->deny_accounts[p], a->account))
		snprintf(a->why, sizeof(a->why), "partition %s does not admit account \"%s\"%s", name, a->account,
			 *a->account ? "" : " (expected --account=NAME)");
	else if (!is_allowed(snap, v->allow_qos[p], v->deny_qos[p], a->qos))
		snprintf(a->why, sizeof(a->why), "partition %s does not admit QOS \"%s\"", name, a->qos);
	else if (uid && !is_allowed(snap, v->allow_users[p], 0, digits))
		snprintf(a->why, sizeof(a->why), "partition %s does not admit user %s", name, a->user);
	else if (uid && v->flags[p] & SL_PART_ROOT_ONLY)
		snprintf(a->why, sizeof(a->why), "partition %s is for root only", name);
	else
		return true;
	return false;
}

static bool is_named(const struct sl_asked *a, const struct sl_snapshot *snap, uint32_t p)
{
	const char *name = sl_snapshot_str(snap, snap->partition.name[p]);

	if (!a->partitions)
		return snap->partition.rows == 1 || snap->partition.flags[p] & SL_PART_DEFAULT;
	return sl_list_has(a->partitions, ",", name, strlen(name));
}

static bool is_there(const struct sl_snapshot *snap, const char *name, size_t length)
{
	for (uint32_t p = 0; p < snap->partition.rows; p++) {
		const char *other = sl_snapshot_str(snap, snap->partition.name[p]);

		if (strlen(other) == length && !memcmp(other, name, length))
			return true;
	}
	return false;
}

/* Those that are asked for and admit it, in the order of the snapshot. */
static int find_partitions(struct sl_asked *a, const struct sl_snapshot *snap, uint32_t uid, struct sl_error *err)
{
	uint32_t named = 0;

	for (const char *name = a->partitions; name && *name; name += strcspn(name, ","), name += *name == ',') {
		a->misnamed = !is_there(snap, name, strcspn(name, ","));
		if (a->misnamed)
			return sl_fail(err, SL_EINVAL, "--partition=%s: expected names of partitions; there is no \"%.*s\"",
				       a->partitions, (int) strcspn(name, ","), name);
	}
	for (uint32_t p = 0; p < snap->partition.rows; p++) {
		if (!is_named(a, snap, p))
			continue;
		named++;
		if (a->count < SL_ASKED_PARTITIONS && is_admitted(a, snap, p, uid))
			a->partition[a->count++] = p;
	}
	a->misnamed = !named;
	return named ? 0 : sl_fail(err, SL_EINVAL, "no partition is the default one; expected --partition=NAME");
}

/* -- when it is its turn --------------------------------------------------------- */

static bool is_like(const struct sl_asked *a, const struct sl_snapshot *snap, uint32_t job)
{
	const struct sl_job_view *j = &snap->job;

	return equals(snap, j->user[job], a->user) && equals(snap, j->account[job], a->account) && equals(snap, j->qos[job], a->qos);
}

/* Has somebody who came later a higher priority?  Else the order may be that of submission. */
static bool is_overtaken(const struct sl_snapshot *snap, uint32_t entry)
{
	const struct sl_queue_view *q = &snap->queue;
	int64_t since = snap->job.submit_time[q->job[entry]];

	for (uint32_t i = 0; i < q->rows; i++)
		if (q->priority[i] > q->priority[entry] && snap->job.submit_time[q->job[i]] > since)
			return true;
	return false;
}

static int64_t find_priority(struct sl_asked *a, const struct sl_snapshot *snap, uint32_t partition)
{
	const struct sl_queue_view *q = &snap->queue;
	int64_t least = 2;
	uint32_t last = SL_NONE;

	if (a->priority)
		return a->priority;
	for (uint32_t i = 0; i < q->rows; i++) {
		least = !i || q->priority[i] < least ? q->priority[i] : least;
		if (q->partition[i] == partition && is_like(a, snap, q->job[i]) &&
		    (last == SL_NONE || snap->job.submit_time[q->job[i]] >= snap->job.submit_time[q->job[last]]))
			last = i;
	}
	if (last == SL_NONE || !is_overtaken(snap, last))
		return least > 1 ? least - 1 : 1;
	a->like = snap->job.id[q->job[last]];
	return q->priority[last];
}

static struct entry make_entry(struct sl_asked *a, const struct sl_snapshot *snap, uint32_t partition)
{
	const struct sl_queue_view *q = &snap->queue;
	const uint32_t *tier = snap->partition.priority_tier;
	struct entry e = { .row = { .job = snap->job.rows, .partition = partition } };

	e.row.priority = find_priority(a, snap, partition);
	for (uint32_t i = 0; i < q->rows; i++)
		if (tier[q->partition[i]] > tier[partition] ||
		    (tier[q->partition[i]] == tier[partition] && q->priority[i] >= e.row.priority))
			e.before = i + 1;
	return e;
}

static void copy_queue(struct sl_image_copy *copy, const struct sl_snapshot *snap, const struct entry *entry, uint32_t count)
{
	struct sl_queue_row row;

	for (uint32_t i = 0; i <= snap->queue.rows; i++) {
		for (uint32_t e = 0; e < count; e++)
			if (entry[e].before == i)
				sl_builder_append(copy->to, SL_T_QUEUE, &entry[e].row);
		if (i == snap->queue.rows)
			break;
		sl_image_copy_row(copy, SL_T_QUEUE, i, &row);
		sl_builder_append(copy->to, SL_T_QUEUE, &row);
	}
}

/* -- the job ---------------------------------------------------------------------- */

static void fill_size(const struct sl_asked *a, struct sl_builder *b, const struct sl_shape_row *shape, struct sl_job_row *row)
{
	row->min_nodes = shape->min_nodes;
	row->max_nodes = shape->max_nodes;
	row->num_tasks = shape->num_tasks;
	row->cpus_per_task = shape->cpus_per_task;
	row->ntasks_per_node = shape->ntasks_per_node;
	row->min_cpus = shape->num_tasks * shape->cpus_per_task;
	row->gres = shape->gres;
	row->memory_per_node = a->memory_per_node;
	row->memory_per_cpu = a->memory_per_cpu;
	row->features = sl_builder_str(b, a->constraint);
	row->flags = SL_JOBF_BATCH |
		(shape->max_nodes > shape->min_nodes ? SL_JOBF_MOST_NODES : 0);
}

static void fill_time(const struct sl_snapshot *snap, const struct sl_shape_row *shape, struct sl_job_row *row)
{
	int64_t by_default = snap->partition.default_time[row->partition];

	row->submit_time = row->eligible_time = snap->meta.now[0];
	row->time_limit = shape->time_limit ? shape->time_limit :
		by_default ? by_default : snap->partition.max_time[row->partition];
	if (!shape->time_limit)
		row->flags |= SL_JOBF_DEFAULT_TIME;
}

/* An id that no job has. */
static uint32_t find_id(const struct sl_snapshot *snap)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < snap->job.rows; i++)
		most = snap->job.id[i] > most ? snap->job.id[i] : most;
	return most + 1;
}

static struct sl_range add_partitions(const struct sl_asked *a, struct sl_builder *b)
{
	struct sl_range range = { sl_builder_rows(b, SL_T_JOB_PARTITION), a->count };

	if (a->count < 2)
		return (struct sl_range) { 0, 0 };
	for (uint32_t i = 0; i < a->count; i++)
		sl_builder_append(b, SL_T_JOB_PARTITION, &(struct sl_job_partition_row) { .partition = a->partition[i] });
	return range;
}

int sl_asked_add(struct sl_asked *a, const struct sl_snapshot *snap, struct sl_builder *b, struct sl_error *err)
{
	const uint32_t *map[SL_SNAPSHOT_TABLES] = { 0 };
	struct sl_image_copy copy = { .image = &snap->image, .view = snap, .to = b, .map = map };
	struct sl_job_row row = sl_job_row();
	struct entry entry[SL_ASKED_PARTITIONS];
	struct sl_shape_row shape;

	fill_who(a, snap, b, &row);
	if (find_partitions(a, snap, row.uid, err) || read_size(b, a->size, &shape, err))
		return -1;
	row.partition = a->count ? a->partition[0] : 0;
	fill_size(a, b, &shape, &row);
	fill_time(snap, &shape, &row);
	a->misnamed = sl_wishes_fill(&a->wishes, snap, b, &row, err) < 0;
	if (a->misnamed)
		return -1;
	if (!a->count)
		return 0;
	for (int t = 0; t < SL_SNAPSHOT_TABLES; t++)
		if (!sl_snapshot_schema.table[t].nested && t != SL_T_QUEUE)
			sl_image_copy_table(&copy, t);
	row.id = a->id = find_id(snap);
	row.name = sl_builder_str(b, "willrun");
	row.partitions = add_partitions(a, b);
	for (uint32_t i = 0; i < a->count; i++)
		entry[i] = make_entry(a, snap, a->partition[i]);
	row.priority = a->priority = entry[0].row.priority;
	sl_builder_append(b, SL_T_JOB, &row);
	copy_queue(&copy, snap, entry, a->count);
	return 0;
}
