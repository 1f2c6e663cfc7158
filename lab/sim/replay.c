/* SPDX-License-Identifier: MIT */
#include "sim/replay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/map.h"
#include "base/order.h"
#include "image/copy.h"
#include "image/map.h"

/* What the snapshots said of a job, or of one run of a job that was requeued. */
struct seen {
	uint32_t id, restarts;
	uint32_t state;			/* when last seen */
	uint32_t priority;
	uint32_t pending;		/* tasks that an array's record stood for when last seen */
	uint32_t row;			/* in the workload, or SL_NONE */
	bool ran, lost, gone;
	int64_t start, end;		/* as recorded */
	int64_t queued, kept_back;	/* first seen in the queue; last seen waiting outside of it */
	int64_t last, after;		/* last seen; first not seen any more */
	struct sl_job_row job;		/* as it was first seen */
};

/* Snapshots of one recording, while they are read. */
struct reader {
	struct sl_replay *r;
	struct sl_builder *b;
	struct sl_error *err;
	struct seen *seen;
	uint32_t seens, room;
	struct sl_map by_job;		/* id and restarts -> seen */
	uint32_t *event;		/* pairs: seen, priority */
	uint32_t events, event_room;
	uint8_t *in_queue;		/* by job row of the snapshot at hand */
	uint32_t in_queue_room;
	uint32_t *node_state;		/* when last seen */
	uint8_t *changed;		/* nodes */
	uint32_t nodes, node_events, node_room;
	uint32_t base_reservations;
	char *first;			/* name of the first file */
};

static int no_memory(struct reader *x)
{
	return sl_fail(x->err, SL_ENOMEM, "replay: out of memory");
}

/* -- which job is it ----------------------------------------------------------- */

static uint64_t hash_job(uint32_t id, uint32_t restarts)
{
	return sl_hash_number(SL_HASH, (uint64_t) id << 32 | restarts);
}

static uint32_t find_seen(const struct reader *x, uint32_t id, uint32_t restarts)
{
	SL_MAP_EACH(&x->by_job, hash_job(id, restarts), at)
		if (x->seen[at.value].id == id && x->seen[at.value].restarts == restarts)
			return at.value;
	return SL_NONE;
}

/* A job that is seen for the first time: its row is copied as it is now. */
static struct seen *add_seen(struct reader *x, struct sl_image_copy *copy, uint32_t row)
{
	const struct sl_job_view *v = &((const struct sl_snapshot *) copy->view)->job;
	struct seen *s;

	if (sl_grow(&x->seen, &x->room, x->seens + 1, sizeof(*x->seen), x->err) < 0 ||
	    sl_map_put(&x->by_job, hash_job(v->id[row], v->restarts[row]), x->seens, x->err) < 0)
		return NULL;
	s = &x->seen[x->seens++];
	memset(s, 0, sizeof(*s));
	s->id = v->id[row];
	s->restarts = v->restarts[row];
	s->row = SL_NONE;
	copy->lost = false;
	sl_image_copy_row(copy, SL_T_JOB, row, &s->job);
	s->lost = copy->lost || s->job.partition == SL_NONE;
	return s;
}

/* -- one snapshot --------------------------------------------------------------- */

static bool is_waiting(uint32_t state)
{
	return state == SL_JOB_PENDING;
}

static bool is_running(uint32_t state)
{
	return state == SL_JOB_RUNNING || state == SL_JOB_SUSPENDED;
}

static int note_priority(struct reader *x, struct seen *s, int64_t priority, bool first)
{
	uint32_t p = priority < 0 ? 0 : priority > UINT32_MAX ? UINT32_MAX : (uint32_t) priority;

	if (!first && s->priority == p)
		return 0;
	s->priority = p;
	if (sl_grow(&x->event, &x->event_room, x->events + 2, sizeof(*x->event), x->err) < 0)
		return -1;
	x->event[x->events++] = (uint32_t) (s - x->seen);
	x->event[x->events++] = p;
	return 0;
}

static int read_job(struct reader *x, struct sl_image_copy *copy, uint32_t row, bool first_snapshot)
{
	const struct sl_snapshot *snap = copy->view;
	const struct sl_job_view *v = &snap->job;
	uint32_t at = find_seen(x, v->id[row], v->restarts[row]), state = v->state[row];
	int64_t now = snap->meta.now[0];
	bool first = at == SL_NONE;
	struct seen *s = first ? NULL : &x->seen[at];

	/* what had ended before the recording is not part of it */
	if (first && first_snapshot && !is_waiting(state) && !is_running(state))
		return 0;
	if (first && !(s = add_seen(x, copy, row)))
		return -1;
	s->ran |= first && first_snapshot && is_running(state);
	s->state = state;
	s->last = now;
	s->after = 0;
	if (is_waiting(state)) {
		s->pending = v->array_pending[row];
		if (!x->in_queue[row])
			s->kept_back = now;
		else if (!s->queued)
			s->queued = now;
		return x->in_queue[row] ? note_priority(x, s, v->priority[row], first) : 0;
	}
	s->start = v->start_time[row];
	if (!is_running(state))
		s->end = v->end_time[row];
	return first ? note_priority(x, s, v->priority[row], true) : 0;
}

/* Note which nodes went down or came back.  -1 when they are not the nodes of the first snapshot. */
static int read_nodes(struct reader *x, const struct sl_snapshot *snap, const char *path)
{
	struct sl_node_row n;

	if (snap->node.rows != x->nodes)
		goto differ;
	for (uint32_t i = 0; i < x->nodes; i++) {
		uint32_t state = snap->node.state[i];

		if (sl_builder_row(x->b, SL_T_NODE, i, &n) ||
		    strcmp(sl_builder_text(x->b, n.name), sl_snapshot_str(snap, snap->node.name[i])) ||
		    n.cores != snap->node.cores[i])
			goto differ;
		if (!(state & SL_NODE_UNUSABLE) == !(x->node_state[i] & SL_NODE_UNUSABLE))
			continue;
		if (sl_grow(&x->r->node, &x->node_room, x->node_events + 1, sizeof(*x->r->node), x->err) < 0)
			return -1;
		x->r->node[x->node_events++] = (struct sl_replay_node) { i, state };
		x->node_state[i] = state;
		x->changed[i] = 1;
	}
	return 0;
differ:
	return sl_fail(x->err, SL_EINVAL, "%s: other nodes than in %s: expected a recording of one configuration, "
		       "replay the snapshots from there on by themselves", path, x->first);
}

/* The row in the builder of each row here, by key. */
static uint32_t *map_by_name(struct reader *x, const struct sl_snapshot *snap, int table, uint32_t rows,
			     const uint32_t *name)
{
	uint32_t *map = malloc(((size_t) rows + 1) * sizeof(*map)), n = sl_builder_rows(x->b, table);

	for (uint32_t i = 0; map && i < rows; i++) {
		map[i] = SL_NONE;
		for (uint32_t k = 0; k < n && map[i] == SL_NONE; k++) {
			struct sl_partition_row part;
			struct sl_license_row lic;
			uint32_t str = 0;

			if (table == SL_T_PARTITION && !sl_builder_row(x->b, table, k, &part))
				str = part.name;
			else if (table == SL_T_LICENSE && !sl_builder_row(x->b, table, k, &lic))
				str = lic.name;
			if (!strcmp(sl_builder_text(x->b, str), sl_snapshot_str(snap, name[i])))
				map[i] = k;
		}
	}
	return map;
}

/* Add reservations that are new; those that are known get the times that they have now, and end now
 * if they are gone. */
static void read_reservations(struct reader *x, struct sl_image_copy *copy)
{
	const struct sl_snapshot *snap = copy->view;
	const struct sl_reservation_view *v = &snap->reservation;
	uint32_t known = sl_builder_rows(x->b, SL_T_RESERVATION), k;
	int64_t now = snap->meta.now[0];
	struct sl_reservation_row row, new;

	for (k = 0; k < known; k++) {
		uint32_t i = 0;

		if (sl_builder_row(x->b, SL_T_RESERVATION, k, &row) || row.end_time <= now)
			continue;
		while (i < v->rows && strcmp(sl_builder_text(x->b, row.name), sl_snapshot_str(snap, v->name[i])))
			i++;
		row.start_time = i < v->rows ? v->start_time[i] : row.start_time;
		row.end_time = i < v->rows ? v->end_time[i] : now;
		if (row.end_time < row.start_time)
			row.end_time = row.start_time;
		sl_builder_update(x->b, SL_T_RESERVATION, k, &row);
	}
	for (uint32_t i = 0; i < v->rows; i++) {
		for (k = 0; k < known; k++)
			if (!sl_builder_row(x->b, SL_T_RESERVATION, k, &row) && row.end_time > now &&
			    !strcmp(sl_builder_text(x->b, row.name), sl_snapshot_str(snap, v->name[i])))
				break;
		if (k < known)
			continue;
		sl_image_copy_row(copy, SL_T_RESERVATION, i, &new);
		sl_builder_append(x->b, SL_T_RESERVATION, &new);
	}
}

static int read_queue(struct reader *x, const struct sl_snapshot *snap)
{
	if (sl_grow(&x->in_queue, &x->in_queue_room, snap->job.rows + 1, 1, x->err) < 0)
		return -1;
	memset(x->in_queue, 0, snap->job.rows + 1);
	for (uint32_t i = 0; i < snap->queue.rows; i++)
		x->in_queue[snap->queue.job[i]] = 1;
	return 0;
}

/* The machine: all tables but those of jobs. */
static int take_machine(struct reader *x, struct sl_image_copy *copy)
{
	static const int tables[] = { SL_T_META, SL_T_GRES_KIND, SL_T_NODE, SL_T_PARTITION, SL_T_LICENSE,
				      SL_T_RESERVATION, SL_T_USAGE, SL_T_REMEMBERED, SL_T_HISTORY };
	const struct sl_snapshot *snap = copy->view;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		sl_image_copy_table(copy, tables[i]);
	x->nodes = snap->node.rows;
	x->node_state = malloc(((size_t) x->nodes + 1) * sizeof(*x->node_state));
	x->changed = calloc((size_t) x->nodes + 1, 1);
	x->r->cluster = strdup(sl_snapshot_str(snap, snap->meta.cluster[0]));
	if (!x->node_state || !x->changed || !x->r->cluster)
		return no_memory(x);
	memcpy(x->node_state, snap->node.state, x->nodes * sizeof(*x->node_state));
	x->r->from_s = snap->meta.now[0];
	return 0;
}

static int read_snapshot(struct reader *x, const struct sl_snapshot *snap, const char *path)
{
	struct sl_image_copy copy = { .image = &snap->image, .view = snap, .to = x->b };
	const uint32_t *map[SL_SNAPSHOT_TABLES] = { 0 };
	uint32_t *part, *license;
	bool first = !x->r->snapshots;
	int rc = 0;

	copy.map = map;
	if (first ? take_machine(x, &copy) < 0 : read_nodes(x, snap, path) < 0)
		return -1;
	part = map_by_name(x, snap, SL_T_PARTITION, snap->partition.rows, snap->partition.name);
	license = map_by_name(x, snap, SL_T_LICENSE, snap->license.rows, snap->license.name);
	if (!part || !license)
		rc = no_memory(x);
	map[SL_T_PARTITION] = part;
	map[SL_T_LICENSE] = license;
	if (!rc && !first)
		read_reservations(x, &copy);
	if (!rc)
		rc = read_queue(x, snap);
	x->r->at_s[x->r->snapshots] = snap->meta.now[0];
	x->r->event_of[x->r->snapshots] = x->events / 2;
	x->r->node_of[x->r->snapshots + 1] = x->node_events;
	for (uint32_t i = 0; !rc && i < snap->job.rows; i++)
		rc = read_job(x, &copy, i, first);
	for (uint32_t i = 0; i < x->seens; i++)
		if (x->seen[i].last < snap->meta.now[0] && !x->seen[i].after)
			x->seen[i].after = snap->meta.now[0];
	x->r->event_of[++x->r->snapshots] = x->events / 2;
	x->r->to_s = snap->meta.now[0];
	free(part);
	free(license);
	return rc;
}

/* -- from what was seen to a workload --------------------------------------------- */

/* A row in the making. */
struct entry {
	uint32_t seen;
	uint32_t task;			/* of an array that never started: 0, 1, ... */
	int64_t arrival, runtime;
};

static int by_arrival(const void *a, const void *b, void *arg)
{
	const struct entry *p = a, *q = b;
	const struct seen *seen = arg, *s = &seen[p->seen], *t = &seen[q->seen];

	return SL_ORDER(t->ran, s->ran) ?: SL_ORDER(p->arrival, q->arrival) ?: SL_ORDER(s->id, t->id) ?:
		SL_ORDER(s->restarts, t->restarts) ?: SL_ORDER(p->task, q->task);
}

/* When it could run, as far as one can tell. */
static int64_t arrival_of(const struct reader *x, const struct seen *s)
{
	int64_t t = s->job.submit_time;

	if (s->job.eligible_time > t)
		t = s->job.eligible_time;
	if (t <= s->kept_back)
		t = s->queued ? s->queued : s->start;
	if (s->start && t > s->start)
		t = s->start;
	return t > x->r->from_s ? t : x->r->from_s;
}

/* How long it runs; to its limit where nobody saw the end. */
static int64_t runtime_of(struct reader *x, struct seen *s)
{
	int64_t limit = s->job.time_limit, end = s->end;

	if (s->start && !end && s->after) {
		x->r->unseen_ends++;
		end = s->after;
	}
	if (end)
		return end > s->start ? end - s->start : 1;
	return limit > 0 && limit < SL_WORKLOAD_MAX_SECONDS ? limit : SL_WORKLOAD_MAX_SECONDS;
}

/* As how many jobs of the workload does it count?  0: it is left out, and counted why. */
static uint32_t count_jobs(struct reader *x, const struct seen *s)
{
	if (s->lost) {
		x->r->lost++;
		return 0;
	}
	if (s->ran)
		return 1;
	if (s->end && s->end <= x->r->from_s)
		return 0;
	/* Slurm gives a job that is cancelled while it waits the same start as end */
	if (!is_waiting(s->state) && s->start && !(s->end && s->end <= s->start))
		return 1;
	if (!is_waiting(s->state) || s->after) {	/* an array's record goes with its last task */
		x->r->cancelled += !s->pending;
		return 0;
	}
	if (!s->queued) {
		x->r->held++;
		return 0;
	}
	return s->pending ? s->pending : 1;
}

static struct entry *make_entries(struct reader *x, uint32_t *count)
{
	uint32_t room = 0, n = 0;
	struct entry *e = NULL;

	for (uint32_t i = 0; i < x->seens; i++) {
		struct seen *s = &x->seen[i];
		uint32_t jobs = count_jobs(x, s);
		int64_t arrival = arrival_of(x, s), runtime = jobs ? runtime_of(x, s) : 0;

		if ((uint64_t) n + jobs > SL_WORKLOAD_MAX_JOBS) {
			sl_fail(x->err, SL_ELIMIT, "replay: more than %u jobs", SL_WORKLOAD_MAX_JOBS);
			goto error;
		}
		if (sl_grow(&e, &room, n + jobs + 1, sizeof(*e), x->err) < 0)
			goto error;
		for (uint32_t k = 0; k < jobs; k++)
			e[n++] = (struct entry) { i, k, arrival, runtime };
	}
	if (!n && sl_grow(&e, &room, 1, sizeof(*e), x->err) < 0)
		goto error;
	qsort_r(e, n, sizeof(*e), by_arrival, x->seen);
	*count = n;
	return e;
error:
	free(e);
	return NULL;
}

/* Append the job's row; ids that were given away are numbered anew. */
static void append_job(struct reader *x, const struct entry *e, uint32_t at, uint32_t *next_id)
{
	struct seen *s = &x->seen[e->seen];
	struct sl_job_row row = s->job;

	if (e->task || (s->restarts && find_seen(x, s->id, 0) != SL_NONE))
		row.id = (*next_id)++;
	row.array_pending = 0;
	row.begin_time = 0;
	row.end_time = 0;
	row.flags &= ~(uint32_t) (SL_JOBF_HELD | SL_JOBF_DEPENDENT | SL_JOBF_COMPLETING);
	if (s->ran) {
		row.start_time = s->start;
	} else {
		row.state = SL_JOB_PENDING;
		row.start_time = 0;
		row.alloc = (struct sl_range) { 0, 0 };
		if (!row.priority)	/* held when it was first seen */
			row.priority = s->priority;
	}
	if (!e->task)
		s->row = at;
	sl_builder_append(x->b, SL_T_JOB, &row);
	x->r->job[at] = (struct sl_replay_job) { .id = s->id, .ran = s->ran, .start_s = s->start, .end_s = s->end };
	x->r->workload->runtime_s[at] = e->runtime;
	x->r->workload->arrival_s[at] = e->arrival;
	x->r->ran += s->ran;
}

/* Priorities by row, of those that have one. */
static int place_events(struct reader *x)
{
	struct sl_replay *r = x->r;
	uint32_t n = 0, from = 0;

	r->event = malloc((x->events / 2 + 1) * sizeof(*r->event));
	if (!r->event)
		return no_memory(x);
	for (uint32_t i = 0; i < r->snapshots; i++) {
		uint32_t to = r->event_of[i + 1];

		r->event_of[i] = n;
		for (uint32_t k = from; k < to; k++)
			if (x->seen[x->event[2 * k]].row != SL_NONE)
				r->event[n++] = (struct sl_replay_event) {
					x->seen[x->event[2 * k]].row, x->event[2 * k + 1],
				};
		from = to;
	}
	r->event_of[r->snapshots] = n;
	return 0;
}

static int allocate_jobs(struct reader *x, uint32_t jobs)
{
	struct sl_workload *w = x->r->workload;

	x->r->job = calloc((size_t) jobs + 1, sizeof(*x->r->job));
	w->runtime_s = calloc((size_t) jobs + 1, sizeof(int64_t));
	w->estimate_s = calloc((size_t) jobs + 1, sizeof(int64_t));
	w->arrival_s = calloc((size_t) jobs + 1, sizeof(int64_t));
	return x->r->job && w->runtime_s && w->estimate_s && w->arrival_s ? 0 : no_memory(x);
}

/* The image, in memory that can be written: priorities change. */
static int take_image(struct reader *x)
{
	struct sl_workload *w = x->r->workload;
	const void *bytes;

	if (sl_builder_finish(x->b, &bytes, &w->size, x->err) < 0)
		return -1;
	w->bytes = sl_image_map(w->size);
	if (!w->bytes)
		return no_memory(x);
	memcpy(w->bytes, bytes, w->size);
	return sl_snapshot_open(&w->snap, w->bytes, w->size, x->err);
}

static int make_workload(struct reader *x)
{
	struct sl_workload *w = calloc(1, sizeof(*w));
	uint32_t count, next_id = 1;
	struct sl_meta_row meta;
	struct entry *e;
	int rc = -1;

	x->r->workload = w;
	if (!w || !(w->name = strdup("recording")))
		return no_memory(x);
	e = make_entries(x, &count);
	if (!e)
		return -1;
	for (uint32_t i = 0; i < x->seens; i++)
		next_id = x->seen[i].id >= next_id ? x->seen[i].id + 1 : next_id;
	if (allocate_jobs(x, count) < 0)
		goto error;
	for (uint32_t i = 0; i < count; i++)
		append_job(x, &e[i], i, &next_id);
	if (!sl_builder_row(x->b, SL_T_META, 0, &meta)) {
		meta.source = sl_builder_str(x->b, "sim");
		sl_builder_update(x->b, SL_T_META, 0, &meta);
	}
	w->origin_s = x->r->from_s;
	w->rows_read = x->seens;
	if (take_image(x) < 0 || place_events(x) < 0)
		goto error;
	for (uint32_t i = 0; i < x->nodes; i++)
		x->r->nodes_changed += x->changed[i];
	rc = 0;
error:
	free(e);
	return rc;
}

/* -- the files ---------------------------------------------------------------------- */

struct file {
	const char *path;
	int64_t now, sequence;
};

static int by_snapshot_time(const void *a, const void *b)
{
	const struct file *x = a, *y = b;

	return SL_ORDER(x->now, y->now) ?: SL_ORDER(x->sequence, y->sequence);
}

static int with_snapshot(const char *path, int (*visit)(const struct sl_snapshot *, const char *, void *), void *arg,
			 struct sl_error *err)
{
	struct sl_snapshot snap;
	void *bytes = NULL;
	size_t size;
	int rc = -1;

	if (sl_image_load(&sl_snapshot_schema, path, &bytes, &size, err) < 0)
		return -1;
	if (sl_snapshot_open(&snap, bytes, size, err) < 0)
		sl_fail_in(err, "%s", path);
	else
		rc = visit(&snap, path, arg);
	free(bytes);
	return rc;
}

static int visit_time(const struct sl_snapshot *snap, const char *path, void *arg)
{
	struct file *f = arg;

	*f = (struct file) { path, snap->meta.now[0], snap->meta.sequence[0] };
	return 0;
}

static int visit_jobs(const struct sl_snapshot *snap, const char *path, void *arg)
{
	return read_snapshot(arg, snap, path);
}

static void reader_clear(struct reader *x)
{
	sl_builder_destroy(x->b);
	free(x->seen);
	sl_map_free(&x->by_job);
	free(x->event);
	free(x->in_queue);
	free(x->node_state);
	free(x->changed);
}

/* The time of each file's snapshot.  Files that cannot be read are passed over if *pruned*.
 * Returns how many there are, or -1. */
static int64_t date_files(struct sl_replay *r, struct file *file, char *const *path, uint32_t paths, bool pruned,
			  struct sl_error *err)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < paths; i++) {
		if (with_snapshot(path[i], visit_time, &file[n], err) == 0)
			n++;
		else if (pruned && (err->code == SL_EVERSION || err->code == SL_ENOENT))
			r->unreadable++;
		else
			return -1;
	}
	if (n >= 2)
		return n;
	if (r->unreadable)	/* what was wrong with the last of them */
		return sl_fail_in(err, "of %" PRIu32 " snapshots %" PRIu32 " can be read", paths, n);
	return sl_fail(err, SL_EINVAL, "%" PRIu32 " snapshot: expected two at least, the second one tells what became "
		       "of the jobs of the first", n);
}

int sl_replay_open(struct sl_replay *r, char *const *path, uint32_t paths, bool pruned, struct sl_error *err)
{
	struct reader x = { .r = r, .err = err };
	struct file *file = NULL;
	int64_t n;
	int rc = -1;

	memset(r, 0, sizeof(*r));
	file = calloc((size_t) paths + 1, sizeof(*file));
	r->at_s = calloc((size_t) paths + 1, sizeof(*r->at_s));
	r->event_of = calloc((size_t) paths + 2, sizeof(*r->event_of));
	r->node_of = calloc((size_t) paths + 2, sizeof(*r->node_of));
	if (!file || !r->at_s || !r->event_of || !r->node_of) {
		no_memory(&x);
		goto error;
	}
	n = date_files(r, file, path, paths, pruned, err);
	if (n < 0)
		goto error;
	qsort(file, (size_t) n, sizeof(*file), by_snapshot_time);
	if (file[0].now == file[n - 1].now) {
		sl_fail(err, SL_EINVAL, "%s: all snapshots are of one second", file[0].path);
		goto error;
	}
	x.first = (char *) (uintptr_t) file[0].path;
	x.b = sl_builder_create(&sl_snapshot_schema, err);
	for (int64_t i = 0; x.b && i < n; i++)
		if (with_snapshot(file[i].path, visit_jobs, &x, err) < 0)
			goto error;
	rc = x.b ? make_workload(&x) : -1;
error:
	reader_clear(&x);
	free(file);
	return rc;
}

void sl_replay_close(struct sl_replay *r)
{
	sl_workload_destroy(r->workload);
	free(r->job);
	free(r->cluster);
	free(r->at_s);
	free(r->event_of);
	free(r->event);
	free(r->node_of);
	free(r->node);
	memset(r, 0, sizeof(*r));
}
