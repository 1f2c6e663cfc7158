/* SPDX-License-Identifier: MIT */
#include "web/page_data.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "image/json_out.h"
#include "image/nodelist.h"
#include "image/plan_image.h"
#include "tool/job_index.h"
#include "tool/member.h"
#include "tool/status.h"

#define NAMED_MOST 200000	/* node names that are looked up for a page */

/* A job of a list. */
struct item {
	uint32_t row;
	int64_t when;			/* it ends, or is expected to start; 0: not known */
	const json_t *record;		/* of the journal; NULL: it says nothing */
};

struct compose {
	const struct sl_page *p;
	const struct sl_snapshot *s;
	struct sl_json *j;
	struct sl_map node_of;		/* name -> row */
	struct sl_map row_of;		/* id -> row, of the jobs that may be seen */
	uint32_t runs;			/* that were written */
	uint32_t named;			/* nodes that were looked up by name */
};

/* -- what may be said --------------------------------------------------------- */

const char *sl_page_text(const struct sl_page *p, const json_t *record)
{
	bool hides_nothing = p->seen && !p->hides && !p->seen->some;

	if (hides_nothing || sl_why_shows_text(sl_why_of(sl_member_text(record, "why"))))
		return sl_member_text(record, "text");
	return "";
}

/* -- nodes ---------------------------------------------------------------------- */

static void index_nodes(struct compose *c)
{
	for (uint32_t n = 0; n < c->s->node.rows; n++)
		if (sl_map_put(&c->node_of, sl_hash_text(SL_HASH, sl_snapshot_str(c->s, c->s->node.name[n])), n, NULL))
			return;		/* the rest of them is not found */
}

static uint32_t find_node(const struct compose *c, const char *name)
{
	SL_MAP_EACH(&c->node_of, sl_hash_text(SL_HASH, name), at)
		if (!strcmp(sl_snapshot_str(c->s, c->s->node.name[at.value]), name))
			return (uint32_t) at.value;
	return SL_NONE;
}

/* Rows of nodes, told one by one: first and last of each run in turn. */
struct runs {
	struct compose *c;
	uint32_t first, last;	/* of the one that may go on; SL_NONE: none does */
};

static void end_run(struct runs *r)
{
	if (r->first == SL_NONE || r->c->runs >= SL_PAGE_RUNS)
		return;
	sl_json_int(r->c->j, r->first);
	sl_json_int(r->c->j, r->last);
	r->c->runs++;
}

static void add_row(struct runs *r, uint32_t row)
{
	if (r->first != SL_NONE && row == r->last + 1) {
		r->last = row;
		return;
	}
	end_run(r);
	r->first = r->last = row;
}

static int add_named(const char *name, void *arg)
{
	struct runs *r = arg;
	uint32_t row = find_node(r->c, name);

	if (row != SL_NONE)
		add_row(r, row);
	return ++r->c->named >= NAMED_MOST;
}

static void put_held_nodes(struct compose *c, uint32_t job)
{
	struct sl_range alloc = c->s->job.alloc[job];
	struct runs r = { .c = c, .first = SL_NONE };

	sl_json_open_array(c->j, "runs");
	for (uint32_t a = alloc.first; a < alloc.first + alloc.count; a++)
		add_row(&r, c->s->alloc.node[a]);
	end_run(&r);
	sl_json_end_array(c->j);
}

static void put_planned_nodes(struct compose *c, const char *list)
{
	struct runs r = { .c = c, .first = SL_NONE };

	sl_json_open_array(c->j, "runs");
	sl_nodelist_split(list, add_named, &r, NULL);
	end_run(&r);
	sl_json_end_array(c->j);
}

static void put_nodes(struct compose *c)
{
	const struct sl_snapshot *s = c->s;
	const struct sl_look *l = c->p->look;
	uint32_t n = s->node.rows < SL_PAGE_NODES ? s->node.rows : SL_PAGE_NODES;

	sl_json_open_array(c->j, "nodes");
	for (uint32_t i = 0; i < n && !(c->p->hides & SL_HIDE_NODES); i++) {
		sl_json_begin_array(c->j);
		sl_json_str(c->j, sl_snapshot_str(s, s->node.name[i]));
		sl_json_int(c->j, s->node.cores[i]);
		sl_json_int(c->j, l->used[i]);
		sl_json_int(c->j, sl_look_node_gpus(s, i));
		sl_json_int(c->j, l->gpus[i]);
		sl_json_int(c->j, (s->node.state[i] & SL_NODE_UNUSABLE) != 0);
		sl_json_end_array(c->j);
	}
	sl_json_end_array(c->j);
}

static void put_partition(struct compose *c, uint32_t p)
{
	const struct sl_snapshot *s = c->s;
	struct sl_range runs = s->partition.nodes[p];
	int64_t nodes = 0, unusable = 0, cores = 0, used = 0, gpus = 0, gpus_used = 0;

	for (uint32_t i = runs.first; i < runs.first + runs.count; i++)
		for (uint32_t n = s->run.first[i]; n <= s->run.last[i]; n++) {
			nodes++;
			unusable += (s->node.state[n] & SL_NODE_UNUSABLE) != 0;
			cores += s->node.cores[n];
			used += c->p->look->used[n];
			gpus += sl_look_node_gpus(s, n);
			gpus_used += c->p->look->gpus[n];
		}
	sl_json_begin_object(c->j);
	sl_json_put_str(c->j, "name", sl_snapshot_str(s, s->partition.name[p]));
	sl_json_put_int(c->j, "nodes", nodes);
	sl_json_put_int(c->j, "unusable", unusable);
	sl_json_put_int(c->j, "cores", cores);
	sl_json_put_int(c->j, "used", used);
	sl_json_put_int(c->j, "gpus", gpus);
	sl_json_put_int(c->j, "gpus_used", gpus_used);
	sl_json_end_object(c->j);
}

static void put_partitions(struct compose *c)
{
	sl_json_open_array(c->j, "partitions");
	for (uint32_t p = 0; p < c->s->partition.rows; p++)
		if (c->p->seen->partition[p])
			put_partition(c, p);
	sl_json_end_array(c->j);
}

static void put_reservations(struct compose *c)
{
	const struct sl_reservation_view *r = &c->s->reservation;

	sl_json_open_array(c->j, "reservations");
	for (uint32_t i = 0; i < r->rows && i < SL_PAGE_JOBS && !(c->p->hides & (SL_HIDE_RESERVATIONS | SL_HIDE_NODES)); i++) {
		sl_json_begin_object(c->j);
		sl_json_put_str(c->j, "name", sl_snapshot_str(c->s, r->name[i]));
		sl_json_put_int(c->j, "start", r->start_time[i]);
		sl_json_put_int(c->j, "end", r->end_time[i]);
		sl_json_open_array(c->j, "runs");
		for (uint32_t k = r->nodes[i].first; k < r->nodes[i].first + r->nodes[i].count && c->runs < SL_PAGE_RUNS; k++, c->runs++) {
			sl_json_int(c->j, c->s->run.first[k]);
			sl_json_int(c->j, c->s->run.last[k]);
		}
		sl_json_end_array(c->j);
		sl_json_end_object(c->j);
	}
	sl_json_end_array(c->j);
}

/* -- jobs -------------------------------------------------------------------------- */

static int compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->when != y->when)
		return !x->when ? 1 : !y->when ? -1 : x->when < y->when ? -1 : 1;
	return SL_ORDER(x->row, y->row);
}

static bool is_running(const struct sl_snapshot *s, uint32_t job)
{
	return s->job.state[job] == SL_JOB_RUNNING || s->job.state[job] == SL_JOB_SUSPENDED;
}

static struct item make_item(const struct compose *c, uint32_t job, bool running)
{
	struct item x = { .row = job };
	char key[24];

	if (running) {
		x.when = c->s->job.end_time[job] == SL_UNLIMITED ? 0 : c->s->job.end_time[job];
		return x;
	}
	snprintf(key, sizeof(key), "%" PRIu32, c->s->job.id[job]);
	x.record = json_object_get(c->p->look->recent.waiting, key);
	x.when = sl_member_integer(x.record, "start_time");
	if (!x.when)
		x.when = sl_look_expected(c->s, job);
	return x;
}

/* Those that run, or wait, in order; malloc'ed. */
static struct item *list_jobs(const struct compose *c, bool running, size_t *n)
{
	const struct sl_snapshot *s = c->s;
	struct item *list = calloc(s->job.rows + 1u, sizeof(*list));

	*n = 0;
	for (uint32_t j = 0; list && j < s->job.rows; j++)
		if (running ? is_running(s, j) : s->job.state[j] == SL_JOB_PENDING)
			list[(*n)++] = make_item(c, j, running);
	if (list)
		qsort(list, *n, sizeof(*list), compare_items);
	return list;
}

#define LABEL_SIZE 32

/* "4711", or "4711_3" of a task of an array */
static const char *write_label(char *label, const struct sl_snapshot *s, uint32_t job)
{
	if (s->job.array_task_id[job] != SL_NONE)
		snprintf(label, LABEL_SIZE, "%" PRIu32 "_%" PRIu32, s->job.array_job_id[job], s->job.array_task_id[job]);
	else
		snprintf(label, LABEL_SIZE, "%" PRIu32, s->job.id[job]);
	return label;
}

static void put_who(struct compose *c, uint32_t job)
{
	const struct sl_job_view *v = &c->s->job;
	char label[LABEL_SIZE];

	sl_json_put_int(c->j, "id", v->id[job]);
	sl_json_put_str(c->j, "label", write_label(label, c->s, job));
	sl_json_put_str(c->j, "name", sl_snapshot_str(c->s, v->name[job]));
	sl_json_put_str(c->j, "user", sl_snapshot_str(c->s, v->user[job]));
	sl_json_put_str(c->j, "partition", v->partition[job] == SL_NONE ? "" : sl_snapshot_str(c->s, c->s->partition.name[v->partition[job]]));
}

static void put_running(struct compose *c, const struct item *x)
{
	const struct sl_job_view *v = &c->s->job;

	put_who(c, x->row);
	sl_json_put_int(c->j, "nodes", v->alloc[x->row].count);
	sl_json_put_int(c->j, "cpus", sl_look_cores_held(c->s, x->row));
	sl_json_put_int(c->j, "gpus", sl_look_gpus_held(c->s, x->row));
	sl_json_put_int(c->j, "start", v->start_time[x->row]);
	sl_json_put_int(c->j, "end", x->when);
	put_held_nodes(c, x->row);
}

static void put_waiting(struct compose *c, const struct item *x)
{
	const struct sl_job_view *v = &c->s->job;
	bool limited = v->time_limit[x->row] != SL_UNLIMITED;

	put_who(c, x->row);
	sl_json_put_int(c->j, "nodes", v->min_nodes[x->row]);
	sl_json_put_int(c->j, "cpus", v->min_cpus[x->row]);
	sl_json_put_int(c->j, "gpus", sl_look_gpus_asked(c->s, x->row));
	sl_json_put_int(c->j, "submit", v->submit_time[x->row]);
	sl_json_put_int(c->j, "start", x->when);
	sl_json_put_int(c->j, "end", x->when && limited ? x->when + v->time_limit[x->row] : 0);
	sl_json_put_bool(c->j, "reserved", sl_member_integer(x->record, "start_time") != 0);
	sl_json_put_str(c->j, "why", x->record ? sl_member_text(x->record, "why") : sl_snapshot_str(c->s, v->state_reason[x->row]));
	sl_json_put_str(c->j, "text", sl_page_text(c->p, x->record));
	put_planned_nodes(c, sl_member_text(x->record, "nodes"));
}

/* The list under *key*, and under *count* how many there are in all. */
static void put_jobs(struct compose *c, const char *key, const char *count, bool running)
{
	struct item *list;
	size_t n;

	list = list_jobs(c, running, &n);
	sl_json_put_int(c->j, count, (int64_t) n);
	sl_json_open_array(c->j, key);
	for (size_t i = 0; i < n && i < SL_PAGE_JOBS; i++) {
		sl_json_begin_object(c->j);
		(running ? put_running : put_waiting)(c, &list[i]);
		sl_json_end_object(c->j);
	}
	sl_json_end_array(c->j);
	free(list);
}

/* -- who was stopped for whom -------------------------------------------------------- */

/* True if nothing of any job is kept from the viewer. */
static bool sees_all(const struct compose *c)
{
	return !c->p->hides && !c->p->seen->some;
}

/* The label of a job by its id; "": another's, which the viewer may not see. */
static const char *label_of(const struct compose *c, json_int_t id, char *label)
{
	uint32_t row = sl_map_by_id(&c->row_of, (uint32_t) id);

	if (row != SL_NONE)
		return write_label(label, c->s, row);
	snprintf(label, LABEL_SIZE, "%" JSON_INTEGER_FORMAT, id);
	return sees_all(c) ? label : "";
}

/* True if the job that was stopped has not ended since. */
static bool is_ending(const struct compose *c, const json_t *stop, uint32_t row)
{
	return row != SL_NONE && is_running(c->s, row) && c->s->job.start_time[row] <= sl_member_integer(stop, "time");
}

/* The jobs of this list that the viewer may see, and that have to end before the job starts. */
static void put_ending(struct compose *c, json_int_t preemptor)
{
	json_t *stop;
	char label[LABEL_SIZE];
	size_t i;

	sl_json_open_array(c->j, "ending");
	json_array_foreach(json_object_get(c->p->look->stops, "stopped"), i, stop) {
		uint32_t row = sl_map_by_id(&c->row_of, (uint32_t) sl_member_integer(stop, "job"));

		if (sl_member_integer(stop, "preemptor") == preemptor && is_ending(c, stop, row))
			sl_json_str(c->j, write_label(label, c->s, row));
	}
	sl_json_end_array(c->j);
}

/* The row of the job for which a place is held; SL_NONE: it is held no longer, or it is another's. */
static uint32_t find_holder(const struct compose *c, const json_t *place)
{
	uint32_t row = sl_map_by_id(&c->row_of, (uint32_t) sl_member_integer(place, "job"));

	return row != SL_NONE && c->s->job.state[row] == SL_JOB_PENDING && sl_member_integer(place, "until") >= c->p->now ? row : SL_NONE;
}

static void put_held(struct compose *c)
{
	json_t *place;
	size_t i, n = 0;

	sl_json_open_array(c->j, "held");
	json_array_foreach(json_object_get(c->p->look->stops, "held"), i, place) {
		uint32_t row = find_holder(c, place);

		if (row == SL_NONE || n++ >= SL_PAGE_STOPS)
			continue;
		sl_json_begin_object(c->j);
		put_who(c, row);
		sl_json_put_int(c->j, "since", sl_member_integer(place, "since"));
		sl_json_put_int(c->j, "until", sl_member_integer(place, "until"));
		sl_json_put_str(c->j, "nodes", c->p->hides & SL_HIDE_NODES ? "" : sl_member_text(place, "nodes"));
		put_ending(c, sl_member_integer(place, "job"));
		sl_json_end_object(c->j);
	}
	sl_json_end_array(c->j);
	sl_json_put_int(c->j, "all_held", (int64_t) n);
}

/* Until when the place is held for which a job was stopped; 0: it is not, or the viewer may not see for whom. */
static int64_t held_until(const struct compose *c, json_int_t preemptor)
{
	json_t *place;
	size_t i;

	json_array_foreach(json_object_get(c->p->look->stops, "held"), i, place)
		if (sl_member_integer(place, "job") == preemptor && find_holder(c, place) != SL_NONE)
			return sl_member_integer(place, "until");
	return 0;
}

/* What became of a job that was stopped. */
static const char *fate_of(const struct compose *c, const json_t *stop, uint32_t row)
{
	return row == SL_NONE ? "gone" : is_ending(c, stop, row) ? "ending" : is_running(c->s, row) ? "running" :
	       c->s->job.state[row] == SL_JOB_PENDING ? "waiting" : "gone";
}

static void put_stop(struct compose *c, const json_t *stop, uint32_t row)
{
	json_int_t id = sl_member_integer(stop, "job"), preemptor = sl_member_integer(stop, "preemptor");
	char label[LABEL_SIZE];

	sl_json_begin_object(c->j);
	if (row != SL_NONE) {
		put_who(c, row);
	} else {
		snprintf(label, sizeof(label), "%" JSON_INTEGER_FORMAT, id);
		sl_json_put_int(c->j, "id", id);
		sl_json_put_str(c->j, "label", label);
		sl_json_put_str(c->j, "user", sl_member_text(stop, "user"));
	}
	sl_json_put_int(c->j, "time", sl_member_integer(stop, "time"));
	sl_json_put_str(c->j, "preemptor", label_of(c, preemptor, label));
	sl_json_put_int(c->j, "until", held_until(c, preemptor));
	sl_json_put_str(c->j, "fate", fate_of(c, stop, row));
	sl_json_end_object(c->j);
}

/* The latest first.  One whose job has left slurmctld is shown to its user, or to all where nothing is hidden. */
static void put_stopped(struct compose *c)
{
	json_t *list = json_object_get(c->p->look->stops, "stopped");
	const char *viewer = c->p->seen->user;
	size_t n = 0;

	sl_json_open_array(c->j, "stopped");
	for (size_t i = json_array_size(list); i-- > 0; ) {
		const json_t *stop = json_array_get(list, i);
		uint32_t row = sl_map_by_id(&c->row_of, (uint32_t) sl_member_integer(stop, "job"));

		if (row == SL_NONE && !sees_all(c) && (!viewer || strcmp(sl_member_text(stop, "user"), viewer)))
			continue;
		if (n++ < SL_PAGE_STOPS)
			put_stop(c, stop, row);
	}
	sl_json_end_array(c->j);
	sl_json_put_int(c->j, "all_stopped", (int64_t) n);
}

/* -- the scheduler ------------------------------------------------------------------- */

static void put_state(struct compose *c)
{
	const struct sl_look *l = c->p->look;
	enum sl_state state = SL_STATE_UNKNOWN;
	char text[2000];

	snprintf(text, sizeof(text), "%s", l->status_err.text);
	if (l->status)
		state = sl_status_judge(l->status, sl_status_alive(l->status), c->p->now, SL_PAGE_STALE_S, text, sizeof(text));
	if (l->secret)
		state = SL_STATE_FINE;
	sl_json_put_str(c->j, "state", sl_state_word(state));
	/* it may name jobs, and what a policy said of them */
	sl_json_put_str(c->j, "say", c->p->hides || l->secret || (c->p->seen && c->p->seen->some) ? "" : text);
	sl_json_put_str(c->j, "policy", sl_member_text(l->status, "policy"));
	sl_json_put_str(c->j, "source", sl_member_text(l->status, "source"));
	sl_json_put_str(c->j, "shadow", sl_member_text(l->status, "shadow"));
	sl_json_put_str(c->j, "old", l->snap_err.code ? l->snap_err.text : "");
}

static void put_viewer(struct compose *c)
{
	static const char *const names[] = { "jobs", "nodes", "partitions", "reservations" };

	sl_json_put_str(c->j, "user", c->p->seen ? c->p->seen->user : NULL);
	sl_json_open_array(c->j, "hides");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (c->p->hides & 1u << i)
			sl_json_str(c->j, names[i]);
	sl_json_end_array(c->j);
}

static void put_events(struct compose *c)
{
	json_t *event;
	size_t i;

	sl_json_open_array(c->j, "events");
	json_array_foreach(c->p->look->recent.events, i, event) {
		const char *text = json_string_value(json_array_get(event, 1));

		if (i >= SL_PAGE_EVENTS || c->p->seen->some)
			break;
		sl_json_begin_array(c->j);
		sl_json_int(c->j, json_integer_value(json_array_get(event, 0)));
		sl_json_str(c->j, text ? text : "");
		sl_json_end_array(c->j);
	}
	sl_json_end_array(c->j);
}

static void put_cluster(struct compose *c)
{
	sl_json_put_str(c->j, "cluster", sl_snapshot_str(c->s, c->s->meta.cluster[0]));
	sl_json_put_int(c->j, "taken", c->s->meta.now[0]);
	index_nodes(c);
	(void) sl_job_index(&c->row_of, c->s);	/* (those that did not get in are not shown as stopped) */
	put_partitions(c);
	put_nodes(c);
	sl_page_put_machine(c->p, c->j);
	put_jobs(c, "running", "all_running", true);
	put_jobs(c, "waiting", "all_waiting", false);
	put_held(c);
	put_stopped(c);
	put_reservations(c);
	put_events(c);
	sl_map_free(&c->node_of);
	sl_map_free(&c->row_of);
}

char *sl_page_data(const struct sl_page *p, size_t *size, struct sl_error *err)
{
	struct compose c = { .p = p, .s = p->seen ? p->seen->snap : NULL, .j = sl_json_create(NULL, err) };
	const char *text;
	char *copy = NULL;

	if (!c.j)
		return NULL;
	sl_json_begin_object(c.j);
	sl_json_put_int(c.j, "now", p->now);
	put_state(&c);
	put_viewer(&c);
	if (c.s)
		put_cluster(&c);
	sl_json_end_object(c.j);
	if (!sl_json_finish(c.j, &text, size, err) && !(copy = strndup(text, *size)))
		sl_fail(err, SL_ENOMEM, "serve: out of memory");
	sl_json_destroy(c.j);
	return copy;
}
