/* SPDX-License-Identifier: MIT */
#include "verbs/sim_step.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "image/json_out.h"
#include "model/plan.h"
#include "workload/demand.h"

#define LINE_MOST 4096		/* bytes of an answer */
#define WAIT_MOST_MS 200	/* at a time: a signal may come just before the wait */
#define VAIN_MOST 16		/* actions in vain for each queued job, in one instant */

enum verb { START, BACKFILL, RESERVE, VERBS };
static const char *const verbs[VERBS] = { "start", "backfill", "reserve" };

struct sl_step {
	int in, out;
	int64_t timeout_s, deadline_ms;	/* that of the agent's turn: to read an observation and to answer it */
	const volatile sig_atomic_t *stop;
	uint64_t line;			/* answers read */
	char text[LINE_MOST];
	size_t got;			/* bytes of answers that came already */

	struct sl_cluster *c;
	struct sl_plan *p;
	struct sl_machine machine;	/* of the cluster that was seen first */
	int64_t origin;

	struct {			/* the action before; job SL_NONE: none at this instant */
		enum verb verb;
		uint32_t job;
		bool done;
		int64_t start;
		struct sl_refusal why;
	} last;
};

static const struct sl_terms terms = { .any_shape = true };

/* -- the agent's turn ------------------------------------------------------ */

static bool is_stopped(const struct sl_step *s)
{
	return *s->stop != 0;
}

static bool is_late(const struct sl_step *s)
{
	return sl_clock_ms() >= s->deadline_ms;
}

/* Wait a while for the agent; is it ready? */
static bool wait_for_agent(const struct sl_step *s, int fd, short events)
{
	struct pollfd poller = { .fd = fd, .events = events };
	int64_t left = s->deadline_ms - sl_clock_ms();

	return poll(&poller, 1, left < 0 ? 0 : left < WAIT_MOST_MS ? (int) left : WAIT_MOST_MS) > 0;
}

/*
 * Write what a file takes without waiting that poll() has found writable.  Other processes may have the same open file, a terminal
 * for example, therefore it never becomes O_NONBLOCK: that would be theirs, too.  A writable pipe has room for PIPE_BUF bytes.
 */
static ssize_t write_piece(int fd, const char *text, size_t size)
{
	ssize_t n = send(fd, text, size, MSG_DONTWAIT | MSG_NOSIGNAL);

	return n < 0 && errno == ENOTSOCK ? write(fd, text, size < PIPE_BUF ? size : PIPE_BUF) : n;
}

/* The agent's turn begins. */
static int write_text(struct sl_step *s, const char *text, size_t size, struct sl_error *err)
{
	s->deadline_ms = sl_clock_ms() + s->timeout_s * 1000;
	while (size) {
		ssize_t n = wait_for_agent(s, s->out, POLLOUT) ? write_piece(s->out, text, size) : 0;

		if (n > 0) {
			text += n;
			size -= (size_t) n;
			continue;
		}
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return sl_fail(err, SL_EIO, "step: the agent does not read: %s", strerror(errno));
		if (is_late(s))
			return sl_fail(err, SL_ETIME, "step: the agent has not read line %" PRIu64 " within %" PRId64 " s", s->line + 1,
				       s->timeout_s);
		if (is_stopped(s))
			return sl_fail(err, SL_ETIME, "step: stopped before the agent had read line %" PRIu64, s->line + 1);
	}
	return 0;
}

static int send_line(struct sl_step *s, struct sl_json *out, struct sl_error *err)
{
	const char *text;
	size_t size;
	int rc;

	sl_json_end_line(out);
	rc = sl_json_finish(out, &text, &size, err) < 0 || write_text(s, text, size, err) < 0 ? -1 : 0;
	sl_json_destroy(out);
	return rc;
}

/* -- what an observation says -------------------------------------------- */

/* The job of a row of an observation, with what is asked of it. */
struct seen {
	struct sl_step *s;
	struct sl_entry e;
	struct sl_demand demand;
};

/* A key of an object, for the observation and for the schema. */
struct field {
	const char *key, *type, *doc;
	void (*put)(const struct seen *j, struct sl_json *out);
};

static const struct sl_job_view *jobs_of(const struct seen *j)
{
	return &sl_cluster_snapshot(j->s->c)->job;
}

static void put_string(const struct seen *j, uint32_t s, struct sl_json *out)
{
	sl_json_str(out, sl_snapshot_str(sl_cluster_snapshot(j->s->c), s));
}

static void put_time(const struct seen *j, int64_t t, struct sl_json *out)
{
	if (t >= SL_UNLIMITED)
		sl_json_null(out);
	else
		sl_json_int(out, t - j->s->origin);
}

static void put_id(const struct seen *j, struct sl_json *out) { sl_json_int(out, jobs_of(j)->id[j->e.job]); }
static void put_submit(const struct seen *j, struct sl_json *out) { put_time(j, jobs_of(j)->submit_time[j->e.job], out); }
static void put_user(const struct seen *j, struct sl_json *out) { put_string(j, jobs_of(j)->user[j->e.job], out); }
static void put_account(const struct seen *j, struct sl_json *out) { put_string(j, jobs_of(j)->account[j->e.job], out); }
static void put_priority(const struct seen *j, struct sl_json *out) { sl_json_int(out, jobs_of(j)->priority[j->e.job]); }
static void put_cores(const struct seen *j, struct sl_json *out) { sl_json_int(out, (int64_t) j->demand.cores); }
static void put_gpus(const struct seen *j, struct sl_json *out) { sl_json_int(out, (int64_t) j->demand.gpus); }

static void put_partition(const struct seen *j, struct sl_json *out)
{
	put_string(j, sl_cluster_snapshot(j->s->c)->partition.name[j->e.partition], out);
}

static void put_nodes(const struct seen *j, struct sl_json *out)
{
	if (j->demand.nodes == SL_NONE)
		sl_json_null(out);
	else
		sl_json_int(out, j->demand.nodes);
}

static void put_limit(const struct seen *j, struct sl_json *out)
{
	int64_t limit = jobs_of(j)->time_limit[j->e.job];

	if (limit >= SL_UNLIMITED)
		sl_json_null(out);
	else
		sl_json_int(out, limit);
}

static void put_reserved(const struct seen *j, struct sl_json *out)
{
	uint32_t count;
	int64_t start;

	if (sl_plan_job(j->s->p, j->e.job) == SL_PLAN_RESERVED && sl_plan_places(j->s->p, j->e.job, &count, &start))
		put_time(j, start, out);
	else
		sl_json_null(out);
}

static void put_held_cores(const struct seen *j, struct sl_json *out)
{
	uint32_t count;
	const struct sl_place *place = sl_cluster_places(j->s->c, j->e.job, &count);
	int64_t cores = 0;

	for (uint32_t i = 0; i < count; i++)
		cores += place[i].cores;
	sl_json_int(out, cores);
}

static void put_end(const struct seen *j, struct sl_json *out) { put_time(j, sl_cluster_end(j->s->c, j->e.job), out); }

static const struct field queue_fields[] = {
	{ "job", "integer", "id, which actions name", put_id },
	{ "submit", "integer", "when it was submitted", put_submit },
	{ "cores", "integer", "cores that it asks for in all", put_cores },
	{ "nodes", "integer|null", "the fewest nodes that could hold it; null: none could", put_nodes },
	{ "gpus", "integer", "GPUs that it asks for in all", put_gpus },
	{ "walltime", "integer|null", "seconds; null: without a limit", put_limit },
	{ "user", "string", "whose it is", put_user },
	{ "account", "string", "its account", put_account },
	{ "partition", "string", "where it is queued", put_partition },
	{ "priority", "integer", "Slurm's priority", put_priority },
	{ "reserved", "integer|null", "the start that is reserved for it at this instant; null: none is", put_reserved },
	{ 0 }
};

static const struct field running_fields[] = {
	{ "job", "integer", "id", put_id },
	{ "cores", "integer", "cores that it has", put_held_cores },
	{ "end", "integer|null", "when its walltime ends; null: it has none", put_end },
	{ 0 }
};

static void put_fields(const struct field *f, const struct seen *j, struct sl_json *out)
{
	sl_json_begin_object(out);
	for (; f->key; f++) {
		sl_json_key(out, f->key);
		f->put(j, out);
	}
	sl_json_end_object(out);
}

static bool still_waits(const struct sl_step *s, uint32_t job)
{
	return sl_plan_job(s->p, job) != SL_PLAN_STARTED;
}

static void put_queue(struct sl_step *s, struct sl_json *out)
{
	uint32_t n;
	const struct sl_entry *e = sl_cluster_queue(s->c, &n);

	sl_json_open_array(out, "queue");
	for (uint32_t i = 0; i < n; i++) {
		struct seen j = { .s = s, .e = e[i] };

		if (!still_waits(s, e[i].job))
			continue;
		sl_job_demand(&s->machine, e[i].job, &j.demand);
		put_fields(queue_fields, &j, out);
	}
	sl_json_end_array(out);
}

static void put_running(struct sl_step *s, struct sl_json *out)
{
	uint32_t n;
	const uint32_t *job = sl_cluster_running(s->c, &n);

	sl_json_open_array(out, "running");
	for (uint32_t i = 0; i < n; i++)
		put_fields(running_fields, &(struct seen) { .s = s, .e = { .job = job[i] } }, out);
	sl_json_end_array(out);
}

static void put_last(struct sl_step *s, struct sl_json *out)
{
	sl_json_key(out, "last");
	if (s->last.job == SL_NONE) {
		sl_json_null(out);
		return;
	}
	sl_json_begin_object(out);
	sl_json_put_str(out, "action", verbs[s->last.verb]);
	sl_json_put_int(out, "job", sl_cluster_snapshot(s->c)->job.id[s->last.job]);
	sl_json_put_bool(out, "taken", s->last.done);
	sl_json_put_str(out, "why", s->last.done ? "" : sl_refusal_text(&s->last.why));
	sl_json_end_object(out);
}

static int send_observation(struct sl_step *s, struct sl_error *err)
{
	struct sl_json *out = sl_json_create(NULL, err);
	const struct sl_entry *head = sl_plan_head(s->p);
	struct sl_free_now idle;

	if (!out)
		return -1;
	sl_timeline_free_now(sl_cluster_timeline(s->c), &idle);
	sl_json_begin_object(out);
	sl_json_put_str(out, "type", "observation");
	sl_json_put_int(out, "decision", (int64_t) s->line + 1);
	sl_json_put_int(out, "now", sl_cluster_now(s->c) - s->origin);
	sl_json_put_int(out, "cores", (int64_t) s->machine.cores);
	sl_json_put_int(out, "nodes", (int64_t) s->machine.nodes);
	sl_json_put_int(out, "gpus", (int64_t) s->machine.gpus);
	sl_json_put_int(out, "free_cores", idle.cores);
	sl_json_put_int(out, "idle_nodes", idle.idle_nodes);
	sl_json_key(out, "head");
	if (head)
		sl_json_int(out, sl_cluster_snapshot(s->c)->job.id[head->job]);
	else
		sl_json_null(out);
	put_last(s, out);
	put_queue(s, out);
	put_running(s, out);
	sl_json_end_object(out);
	return send_line(s, out, err);
}

/* -- the answer ------------------------------------------------------------ */

/* Wait a while for more of an answer. */
static int read_more(struct sl_step *s, struct sl_error *err)
{
	bool ready = wait_for_agent(s, s->in, POLLIN);
	ssize_t n;

	if (!ready && is_late(s))
		return sl_fail(err, SL_ETIME, "step: no answer to observation %" PRIu64 " within %" PRId64 " s: expected an action, such as "
			       "{\"done\": true}", s->line + 1, s->timeout_s);
	if (!ready)
		return 0;
	n = read(s->in, s->text + s->got, sizeof(s->text) - 1 - s->got);
	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : sl_fail(err, SL_EIO, "step: reading answer %" PRIu64 ": %s", s->line + 1, strerror(errno));
	if (!n)
		return sl_fail(err, SL_EIO, "step: the agent ended before answer %" PRIu64 ": expected an action, such as {\"done\": true}",
			       s->line + 1);
	s->got += (size_t) n;
	return 0;
}

/* The next line into *line, of LINE_MOST bytes: 1 with its *length; 0: stopped; -1 with *err. */
static int read_line(struct sl_step *s, char *line, size_t *length, struct sl_error *err)
{
	char *end;

	while (!(end = memchr(s->text, '\n', s->got))) {
		if (s->got == sizeof(s->text) - 1)
			return sl_fail(err, SL_ELIMIT, "step: answer %" PRIu64 ": more than %d bytes: expected an action on one line", s->line + 1,
				       LINE_MOST - 1);
		if (is_stopped(s))
			return 0;
		if (read_more(s, err) < 0)
			return -1;
	}
	*length = (size_t) (end - s->text);
	memcpy(line, s->text, *length);
	line[*length] = 0;
	s->got -= (size_t) (end + 1 - s->text);
	memmove(s->text, end + 1, s->got);
	s->line++;
	return 1;
}

static int fail_action(const struct sl_step *s, const char *line, const char *what, struct sl_error *err)
{
	return sl_fail(err, SL_EINVAL, "step: answer %" PRIu64 ": %.60s: %s", s->line, line, what);
}

/* The entry of a queued job: of several, by partition, the first. */
static bool find_entry(const struct sl_step *s, json_int_t id, struct sl_entry *found)
{
	uint32_t n;
	const struct sl_entry *e = sl_cluster_queue(s->c, &n);

	for (uint32_t i = 0; i < n; i++)
		if (sl_cluster_snapshot(s->c)->job.id[e[i].job] == id && still_waits(s, e[i].job)) {
			*found = e[i];
			return true;
		}
	return false;
}

/* An action: 1 with *verb and *e; 0: done; -1 with *err. */
static int read_action(struct sl_step *s, const char *line, const json_t *root, enum verb *verb, struct sl_entry *e, struct sl_error *err)
{
	const char *key = json_is_object(root) && json_object_size(root) == 1 ? json_object_iter_key(json_object_iter((json_t *) root)) : NULL;
	const json_t *value = key ? json_object_get(root, key) : NULL;

	if (key && !strcmp(key, "done") && json_is_true(value))
		return 0;
	for (*verb = 0; key && *verb < VERBS && strcmp(key, verbs[*verb]); ++*verb)
		;
	if (!key || *verb == VERBS)
		return fail_action(s, line, "expected {\"start\": JOB}, {\"backfill\": JOB}, {\"reserve\": JOB} or {\"done\": true}", err);
	if (!json_is_integer(value) || !find_entry(s, json_integer_value(value), e))
		return fail_action(s, line, "expected the id of a job of the observation's queue", err);
	return 1;
}

static int take_action(struct sl_step *s, enum verb verb, struct sl_entry e, struct sl_error *err)
{
	int rc;

	memset(&s->last, 0, sizeof(s->last));
	s->last.verb = verb;
	s->last.job = e.job;
	if (verb == START)
		rc = sl_plan_start(s->p, e, &terms, &s->last.why, err);
	else if (verb == BACKFILL)
		rc = sl_plan_backfill(s->p, e, &terms, &s->last.why, err);
	else
		rc = sl_plan_reserve(s->p, e, &terms, &s->last.start, &s->last.why, err);
	s->last.done = rc > 0;
	return rc;
}

/* One decision: 1: another follows; 0: done, or stopped; -1 with *err. */
static int decide_once(struct sl_step *s, uint64_t *vain, struct sl_error *err)
{
	char line[LINE_MOST];
	struct sl_error why;
	struct sl_entry e;
	enum verb verb = START;
	uint32_t queued;
	json_error_t wrong;
	json_t *root;
	size_t length = 0;
	int rc = send_observation(s, err);

	if (rc < 0 || (rc = read_line(s, line, &length, err)) <= 0)
		return rc;
	root = json_loadb(line, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &wrong);
	rc = root ? read_action(s, line, root, &verb, &e, err) : fail_action(s, line, "no JSON: expected an action, such as {\"done\": true}", err);
	json_decref(root);
	if (rc <= 0)
		return rc;
	rc = take_action(s, verb, e, &why);
	if (rc < 0)
		return fail_action(s, line, why.text, err);
	*vain = rc && verb != RESERVE ? 0 : *vain + 1;
	sl_cluster_queue(s->c, &queued);
	if (*vain > (uint64_t) VAIN_MOST * (queued + 1))
		return fail_action(s, line, "too many actions at this instant that start nothing: expected {\"done\": true}", err);
	return 1;
}

/* -- for the simulator ------------------------------------------------------ */

struct sl_step *sl_step_create(int in, int out, int64_t timeout_s, const volatile sig_atomic_t *stop, struct sl_error *err)
{
	struct sl_step *s = calloc(1, sizeof(*s));

	if (!s) {
		sl_fail(err, SL_ENOMEM, "step: out of memory");
		return NULL;
	}
	s->in = in;
	s->out = out;
	s->timeout_s = timeout_s;
	s->stop = stop;
	return s;
}

void sl_step_destroy(struct sl_step *s)
{
	if (s)
		sl_machine_close(&s->machine);
	free(s);
}

int sl_step_decide(struct sl_cluster *c, struct sl_plan *p, void *arg, struct sl_error *err)
{
	struct sl_step *s = arg;
	uint64_t vain = 0;
	int rc = 0;

	if (!s->c && sl_machine_open(&s->machine, sl_cluster_snapshot(c), err) < 0)
		return -1;
	s->c = c;
	s->p = p;
	s->origin = sl_cluster_origin(c);
	s->last.job = SL_NONE;
	while (!is_stopped(s) && (rc = decide_once(s, &vain, err)) > 0)
		;
	return rc;
}

int sl_step_end(struct sl_step *s, const struct sl_trial *t, struct sl_error *err)
{
	struct sl_json *out = sl_json_create(NULL, err);

	if (!out)
		return -1;
	sl_json_begin_object(out);
	sl_json_put_str(out, "type", "end");
	sl_json_put_int(out, "decisions", (int64_t) s->line);
	sl_result_json(out, &t->result, false);
	sl_json_end_object(out);
	return send_line(s, out, err);
}

/* -- the schema -------------------------------------------------------------- */

/* "integer|null" */
static void put_type(struct sl_json *out, const char *type)
{
	const char *bar = strchr(type, '|');
	char first[16];

	sl_json_key(out, "type");
	if (!bar) {
		sl_json_str(out, type);
		return;
	}
	snprintf(first, sizeof(first), "%.*s", (int) (bar - type), type);
	sl_json_begin_array(out);
	sl_json_str(out, first);
	sl_json_str(out, bar + 1);
	sl_json_end_array(out);
}

static void put_property(struct sl_json *out, const struct field *f)
{
	sl_json_open_object(out, f->key);
	put_type(out, f->type);
	sl_json_put_str(out, "description", f->doc);
	sl_json_end_object(out);
}

static void begin_object(struct sl_json *out, const char *name, const char *type)
{
	sl_json_break(out);
	sl_json_open_object(out, name);
	sl_json_put_str(out, "type", "object");
	sl_json_open_object(out, "properties");
	if (!type)
		return;
	sl_json_open_object(out, "type");
	sl_json_put_str(out, "const", type);
	sl_json_end_object(out);
}

/* All are there, and *closed*: no others. */
static void end_object(struct sl_json *out, const struct field *f, const char *const *more, bool closed)
{
	sl_json_end_object(out);
	sl_json_open_array(out, "required");
	for (; more && *more; more++)
		sl_json_str(out, *more);
	for (; f && f->key; f++)
		sl_json_str(out, f->key);
	sl_json_end_array(out);
	if (closed)
		sl_json_put_bool(out, "additionalProperties", false);
	sl_json_end_object(out);
}

static void put_rows(struct sl_json *out, const char *name, const struct field *fields)
{
	begin_object(out, name, NULL);
	for (const struct field *f = fields; f->key; f++)
		put_property(out, f);
	end_object(out, fields, NULL, true);
}

static void put_array(struct sl_json *out, const char *key, const char *of, const char *doc)
{
	char ref[64];

	snprintf(ref, sizeof(ref), "#/$defs/%s", of);
	sl_json_open_object(out, key);
	sl_json_put_str(out, "type", "array");
	sl_json_put_str(out, "description", doc);
	sl_json_open_object(out, "items");
	sl_json_put_str(out, "$ref", ref);
	sl_json_end_object(out);
	sl_json_end_object(out);
}

static const struct field observation_fields[] = {
	{ "decision", "integer", "the number of the answer that is expected, from 1 on", NULL },
	{ "now", "integer", "seconds; all times count from the log's beginning", NULL },
	{ "cores", "integer", "cores of the machine", NULL },
	{ "nodes", "integer", "nodes of the machine", NULL },
	{ "gpus", "integer", "GPUs of the machine", NULL },
	{ "free_cores", "integer", "cores that are free now, with what was started at this instant", NULL },
	{ "idle_nodes", "integer", "nodes all of whose cores are free", NULL },
	{ "head", "integer|null", "the job that backfill does not delay: the first that was reserved at this instant", NULL },
	{ 0 }
};

static const struct field last_fields[] = {
	{ "action", "string", "start, backfill or reserve", NULL },
	{ "job", "integer", "id", NULL },
	{ "taken", "boolean", "whether the plan took it", NULL },
	{ "why", "string", "why not; empty if it was taken", NULL },
	{ 0 }
};

static void put_observation(struct sl_json *out)
{
	static const char *const more[] = { "type", "last", "queue", "running", NULL };

	begin_object(out, "observation", "observation");
	for (const struct field *f = observation_fields; f->key; f++)
		put_property(out, f);
	sl_json_open_object(out, "last");
	sl_json_put_str(out, "description", "the action before; null: the first of this instant");
	sl_json_open_array(out, "anyOf");
	sl_json_begin_object(out);
	sl_json_put_str(out, "type", "null");
	sl_json_end_object(out);
	sl_json_begin_object(out);
	sl_json_put_str(out, "$ref", "#/$defs/last");
	sl_json_end_object(out);
	sl_json_end_array(out);
	sl_json_end_object(out);
	put_array(out, "queue", "queued", "jobs that wait, in the queue's order");
	put_array(out, "running", "running", "jobs that run, in no particular order");
	end_object(out, observation_fields, more, true);
}

static void put_action(struct sl_json *out)
{
	sl_json_break(out);
	sl_json_open_object(out, "action");
	sl_json_put_str(out, "type", "object");
	sl_json_put_int(out, "minProperties", 1);
	sl_json_put_int(out, "maxProperties", 1);
	sl_json_open_object(out, "properties");
	for (enum verb v = 0; v < VERBS; v++)
		put_property(out, &(struct field) { verbs[v], "integer", v == START ? "start this job now, if it fits beside what is booked" :
			     v == BACKFILL ? "start it now if that does not delay the head" : "book its earliest start", NULL });
	sl_json_open_object(out, "done");
	sl_json_put_bool(out, "const", true);
	sl_json_put_str(out, "description", "nothing more at this instant");
	sl_json_end_object(out);
	sl_json_end_object(out);
	sl_json_put_bool(out, "additionalProperties", false);
	sl_json_end_object(out);
}

int sl_step_schema(FILE *file, struct sl_error *err)
{
	static const char *const end[] = { "type", "decisions", "jobs", "wait_mean_s", "bsld_mean", "utilization", NULL };
	struct sl_json *out = sl_json_create(file, err);

	if (!out)
		return -1;
	sl_json_begin_object(out);
	sl_json_put_str(out, "$schema", "https://json-schema.org/draft/2020-12/schema");
	sl_json_put_str(out, "title", "Lines of schedlua sim --step: observations and the end from it, actions to it");
	sl_json_open_array(out, "oneOf");
	for (int i = 0; i < 3; i++) {
		static const char *const ref[] = { "#/$defs/observation", "#/$defs/action", "#/$defs/end" };

		sl_json_begin_object(out);
		sl_json_put_str(out, "$ref", ref[i]);
		sl_json_end_object(out);
	}
	sl_json_end_array(out);
	sl_json_open_object(out, "$defs");
	put_observation(out);
	put_rows(out, "last", last_fields);
	put_rows(out, "queued", queue_fields);
	put_rows(out, "running", running_fields);
	put_action(out);
	begin_object(out, "end", "end");
	put_property(out, &(struct field) { "decisions", "integer", "answers that were taken; the other keys are those of schedlua sim --json", NULL });
	end_object(out, NULL, end, false);
	sl_json_end_object(out);
	sl_json_end_object(out);
	return sl_json_end(out, err);
}
