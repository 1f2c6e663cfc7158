/* SPDX-License-Identifier: MIT */
#include "image/partitions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/search.h"
#include "image/nodelist.h"
#include "image/shapes.h"

/* -- the nodes of partitions ------------------------------------------------ */

/* Nodes are told apart by row: a change of the table of nodes without one of its size, which
 * moves them, comes with a new configuration and a new journal. */
uint64_t sl_partitions_digest(const struct sl_snapshot *snap)
{
	uint64_t hash = sl_hash_number(SL_HASH, snap->node.rows);

	for (uint32_t p = 0; p < snap->partition.rows; p++) {
		struct sl_range runs = snap->partition.nodes[p];

		hash = sl_hash_number(sl_hash_text(hash, sl_snapshot_str(snap, snap->partition.name[p])), runs.count);
		for (uint32_t i = runs.first; i < runs.first + runs.count; i++)
			hash = sl_hash_number(hash, (uint64_t) snap->run.first[i] << 32 | snap->run.last[i]);
	}
	return hash;
}

static int put_nodes(struct sl_json *json, const struct sl_snapshot *snap, uint32_t part, const char **name,
		     struct sl_error *err)
{
	struct sl_range runs = snap->partition.nodes[part];
	uint32_t n = 0;
	char *list;

	for (uint32_t i = runs.first; i < runs.first + runs.count; i++)
		for (uint32_t k = snap->run.first[i]; k <= snap->run.last[i] && n < snap->node.rows; k++)
			name[n++] = sl_snapshot_str(snap, snap->node.name[k]);
	if (!n)
		return 0;
	list = sl_nodelist_join(name, n, err);
	if (!list)
		return -1;
	sl_json_put_str(json, sl_snapshot_str(snap, snap->partition.name[part]), list);
	free(list);
	return 0;
}

int sl_partitions_put(struct sl_json *json, const struct sl_snapshot *snap, struct sl_error *err)
{
	const char **name = malloc((snap->node.rows + (size_t) 1) * sizeof(*name));
	int rc = name ? 0 : sl_fail(err, SL_ENOMEM, "partitions: no memory");

	sl_json_begin_object(json);
	for (uint32_t p = 0; !rc && p < snap->partition.rows; p++)
		rc = put_nodes(json, snap, p, name, err);
	sl_json_end_object(json);
	free(name);
	return rc;
}

/* -- where jobs are queued ---------------------------------------------------- */

struct entry {
	uint32_t job, row;	/* id, of the queue */
};

struct sl_queued {
	const struct sl_snapshot *snap;
	struct entry *entry;	/* by job, then in the queue's order */
	uint32_t entries;
	char text[1024];
	char beyond[SL_BEYOND_TEXT];
};

static int by_job(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return x->job != y->job ? (x->job > y->job) - (x->job < y->job) : (x->row > y->row) - (x->row < y->row);
}

struct sl_queued *sl_queued_create(const struct sl_snapshot *snap, struct sl_error *err)
{
	struct sl_queued *q = calloc(1, sizeof(*q));

	if (q)
		q->entry = malloc((snap->queue.rows + (size_t) 1) * sizeof(*q->entry));
	if (!q || !q->entry) {
		sl_queued_destroy(q);
		sl_fail(err, SL_ENOMEM, "queue: no memory");
		return NULL;
	}
	q->snap = snap;
	q->entries = snap->queue.rows;
	for (uint32_t i = 0; i < q->entries; i++)
		q->entry[i] = (struct entry) { snap->job.id[snap->queue.job[i]], i };
	qsort(q->entry, q->entries, sizeof(*q->entry), by_job);
	return q;
}

void sl_queued_destroy(struct sl_queued *q)
{
	if (q)
		free(q->entry);
	free(q);
}

/* The first entry of the job, or of one after it. */
static uint32_t first_entry(const struct sl_queued *q, uint32_t job_id)
{
	return SL_FIRST(i, 0, q->entries, q->entry[i].job < job_id);
}

const char *sl_queued_note(const struct sl_queued *q, uint32_t job_id)
{
	uint32_t i = first_entry(q, job_id);

	if (i >= q->entries || q->entry[i].job != job_id)
		return "";
	return sl_snapshot_str(q->snap, q->snap->job.shapes_ignored[q->snap->queue.job[q->entry[i].row]]);
}

const char *sl_queued_beyond(struct sl_queued *q, uint32_t job_id)
{
	const struct sl_snapshot *snap = q->snap;
	uint32_t i = first_entry(q, job_id), first = 0, beyond = 0;
	struct sl_range shapes = { 0, 0 };

	if (i < q->entries && q->entry[i].job == job_id)
		shapes = snap->job.shapes[snap->queue.job[q->entry[i].row]];
	for (uint32_t k = shapes.count; k; k--)
		if (snap->shape.refused[shapes.first + k - 1] > SL_SHAPE_REFUSED_LATELY) {
			first = k;
			beyond++;
		}
	return sl_shapes_say_beyond(q->beyond, first, beyond ? snap->shape.refused[shapes.first + first - 1] : 0, beyond);
}

const char *sl_queued_in(struct sl_queued *q, uint32_t job_id)
{
	const struct sl_snapshot *snap = q->snap;
	size_t n = 0;

	q->text[0] = 0;
	for (uint32_t i = first_entry(q, job_id); i < q->entries && q->entry[i].job == job_id && n < sizeof(q->text); i++) {
		const char *name = sl_snapshot_str(snap, snap->partition.name[snap->queue.partition[q->entry[i].row]]);

		n += (size_t) snprintf(q->text + n, sizeof(q->text) - n, "%s%s", n ? "," : "", name);
	}
	return q->text;
}

int sl_fail_not_queued(const struct sl_snapshot *snap, uint32_t job_id, struct sl_error *err)
{
	const struct sl_job_view *v = &snap->job;
	uint32_t row = 0;
	const char *reason;

	while (row < v->rows && v->id[row] != job_id)
		row++;
	if (row == v->rows)
		return sl_fail(err, SL_ENOENT, "job %" PRIu32 " is not queued", job_id);
	if (v->state[row] != SL_JOB_PENDING)
		return sl_fail(err, SL_ENOENT, "job %" PRIu32 " is not queued: it %s", job_id,
			       v->state[row] == SL_JOB_COMPLETE ? "has ended" : "has started");
	reason = sl_snapshot_str(snap, v->state_reason[row]);
	return sl_fail(err, SL_ENOENT, "job %" PRIu32 " is not queued: it may not start yet%s%s", job_id, *reason ? ", " : "",
		       *reason ? reason : v->flags[row] & SL_JOBF_HELD ? ", it is held" : "");
}
