/* SPDX-License-Identifier: MIT */
#include "web/answers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tool/job_index.h"
#include "tool/member.h"
#include "tool/past.h"
#include "tool/status.h"
#include "tool/when.h"

static char *dump(json_t *o)
{
	char *text = o ? json_dumps(o, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;

	json_decref(o);
	return text;
}

static char *say_error(int code, const char *text, int *status)
{
	*status = code;
	return dump(json_pack("{s:s}", "error", text));
}

/* -- which job ---------------------------------------------------------------- */

#define ID_DIGITS 10

/* A number of at most ten digits at *at, which is moved behind it; -1: there is none. */
static int64_t take_number(const char **at)
{
	size_t n = strspn(*at, "0123456789");
	int64_t value = n && n <= ID_DIGITS ? strtoll(*at, NULL, 10) : -1;

	*at += n;
	return value > 0 || (value == 0 && n == 1) ? value : -1;
}

static uint32_t find_task(const struct sl_snapshot *s, int64_t array, int64_t task)
{
	for (uint32_t j = 0; s && j < s->job.rows; j++)
		if (s->job.array_job_id[j] == array && s->job.array_task_id[j] == task)
			return j;
	return SL_NONE;
}

static uint32_t find_id(const struct sl_snapshot *s, int64_t id)
{
	for (uint32_t j = 0; s && j < s->job.rows; j++)
		if (s->job.id[j] == id)
			return j;
	return SL_NONE;
}

/* The id of the job that is meant, and its row, or SL_NONE; 0: that is no job id. */
static uint32_t read_job(const struct sl_snapshot *s, const char *text, uint32_t *row)
{
	int64_t id = take_number(&text), task;

	if (id <= 0 || id > UINT32_MAX)
		return 0;
	if (!*text) {
		*row = find_id(s, id);
		return (uint32_t) id;
	}
	if (*text++ != '_' || (task = take_number(&text)) < 0 || *text)
		return 0;
	*row = find_task(s, id, task);
	return *row != SL_NONE ? s->job.id[*row] : (uint32_t) id;
}

/* -- what was decided --------------------------------------------------------- */

/* Leave out of an event what its job's user could not read in squeue. */
static void strip(const struct sl_page *p, json_t *event)
{
	static const char *const others[] = { "ahead", "because", "borrowed_from", "through", "shortage" };

	if (!*sl_page_text(p, event))
		json_object_del(event, "text");
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		json_object_del(event, others[i]);
}

static bool may_see(const struct sl_page *p, json_int_t job)
{
	return p->seen && find_id(p->seen->snap, job) != SL_NONE;
}

/* Leave out of the event that a job is stopped, or that a place is held for it, what tells of jobs that may not be seen. */
static void strip_stop(const struct sl_page *p, json_t *event)
{
	static const char *const of_others[] = { "preemptor", "group", "verdict", "cost", "bound" };
	json_t *stopped = json_object_get(event, "stopped");
	bool hold = sl_past_is(event, "hold"), all = hold || may_see(p, sl_member_integer(event, "preemptor"));

	if (hold) {	/* they are of all jobs that might have been stopped */
		json_object_del(event, "verdict");
		json_object_del(event, "bound");
	}
	for (size_t i = json_array_size(stopped); i-- > 0; )
		if (!may_see(p, sl_member_integer(json_array_get(stopped, i), "job"))) {
			json_array_remove(stopped, i);
			all = false;
		}
	if (!json_array_size(stopped))
		json_object_del(event, "stopped");
	for (size_t i = 0; !all && i < sizeof(of_others) / sizeof(of_others[0]); i++)
		json_object_del(event, of_others[i]);
}

static void strip_all(const struct sl_page *p, json_t *events)
{
	json_t *event;
	size_t i;

	json_array_foreach(events, i, event) {
		strip(p, event);
		if (sl_past_is(event, "stop") || sl_past_is(event, "hold"))
			strip_stop(p, event);
	}
}

static char *make_line(const struct sl_page *p, uint32_t job, const json_t *event)
{
	bool waits = sl_past_is(event, "wait"), hidden = p->hides & SL_HIDE_JOBS;
	struct sl_when w = { .job = job, .why = "", .text = "", .nodes = "", .dependency = "", .now = p->now,
		.stock = sl_member_text(p->look->status, "shadow"), .standing = { .ahead = -1 }, .ordered = hidden };

	if (event && !waits && !sl_past_is(event, "gone"))
		event = NULL;
	if (waits) {
		w.why = *sl_member_text(event, "why") ? sl_member_text(event, "why") : "resources";
		w.text = sl_page_text(p, event);
		w.nodes = sl_member_text(event, "nodes");
		w.start_s = sl_member_integer(event, "start_time");
	}
	return sl_when_line(&w, p->seen ? p->seen->snap : NULL);
}

/* An event as people read it, line by line. */
static void add_lines(json_t *lines, const json_t *event)
{
	char *text = NULL, *save = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	sl_past_print(event, out);
	fclose(out);
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		json_array_append_new(lines, json_string(line));
	free(text);
}

/* The newest event, but that its place is held: with that stands why it waits. */
static const json_t *first_but_holds(const json_t *events)
{
	size_t i = 0;

	while (sl_past_is(json_array_get(events, i), "hold"))
		i++;
	return json_array_get(events, i);
}

static char *tell(const struct sl_page *p, struct sl_past *past, uint32_t job, bool some, int *status)
{
	json_t *o = json_pack("{s:I, s:O, s:[], s:b}", "job", (json_int_t) job, "events", past->events, "lines", "cut", past->cut);
	json_t *lines = json_object_get(o, "lines"), *event;
	char *line;
	size_t i;

	if (some)
		strip_all(p, past->events);
	line = make_line(p, job, first_but_holds(past->events));
	if (line)
		json_object_set_new(o, "when", json_stringn(line, strcspn(line, "\n")));
	free(line);
	json_array_foreach(past->events, i, event)
		add_lines(lines, event);
	*status = 200;
	return dump(o);
}

/* Read what the journal says; 0, also where there is none, or -1 with *err. */
static int read_past(struct sl_past *past, struct sl_look *look, uint32_t job, bool some, struct sl_error *err)
{
	if (sl_past_open(past, job, &look->recent, err))
		return -1;
	past->most = SL_WEB_EVENTS;
	past->most_bytes = SL_WEB_JOURNAL;
	if (!*look->journal_dir)
		return 0;
	if (sl_past_read(past, look->journal_dir, err) || (!some && sl_past_add_ahead(past, look->journal_dir, err)))
		return -1;
	while (json_array_size(past->events) > SL_WEB_EVENTS)
		json_array_remove(past->events, SL_WEB_EVENTS);
	return 0;
}

char *sl_web_explain(const struct sl_page *p, struct sl_look *look, struct sl_budget *budget, const char *id, int *status)
{
	/* without a snapshot nobody knows whose a job is */
	const bool some = p->hides || !p->seen || p->seen->some;
	uint32_t row = SL_NONE, job = id ? read_job(p->seen ? p->seen->snap : NULL, id, &row) : 0;
	struct sl_past past = { 0 };
	struct sl_error err;
	char *text;

	if (!job)
		return say_error(400, "expected ?job=ID, a number as squeue -o %A prints it, or ID_TASK", status);
	if (row == SL_NONE && some)
		return say_error(404, "no such job, or not one that you may see", status);
	if (!sl_budget_allows(budget, sl_clock_s()))
		return say_error(503, "too many ask at once; try again in a few seconds", status);
	if (read_past(&past, look, job, some, &err))
		text = say_error(503, some ? "the decisions cannot be read now" : err.text, status);
	else if (row == SL_NONE && !json_array_size(past.events))
		text = say_error(404, "no such job, or not one that you may see", status);
	else
		text = tell(p, &past, job, some, status);
	sl_budget_use(budget, (double) past.read, sl_clock_s());
	sl_past_close(&past);
	return text;
}

/* -- how it is ------------------------------------------------------------------- */

static json_t *age(int64_t now, int64_t then)
{
	return then ? json_integer(now > then ? now - then : 0) : json_null();
}

char *sl_web_health(const struct sl_page *p, int *status)
{
	const struct sl_look *l = p->look;
	int64_t taken = l->bytes ? l->snap.meta.now[0] : 0;
	enum sl_state state = SL_STATE_UNKNOWN;
	char text[2000];
	json_t *o;

	snprintf(text, sizeof(text), "%s", l->status_err.text);
	if (l->status)
		state = sl_status_judge(l->status, sl_status_alive(l->status), p->now, SL_PAGE_STALE_S, text, sizeof(text));
	if (l->secret)	/* how the scheduler is, is for root and SlurmUser to read: what is shown is new, or not */
		state = taken && p->now - taken < SL_PAGE_STALE_S ? SL_STATE_FINE : SL_STATE_UNKNOWN;
	*status = state == SL_STATE_FINE || state == SL_STATE_WARNING ? 200 : 503;
	o = json_pack("{s:s, s:s, s:b, s:s, s:o, s:o, s:o}", "state", sl_state_word(state), "say",
		      p->hides || l->secret ? "" : text, "slurmctld", l->status && sl_status_alive(l->status),
		      "source", sl_member_text(l->status, "source"),
		      "status_age_s", age(p->now, sl_member_integer(l->status, "written")),
		      "journal_age_s", age(p->now, l->recent.now), "snapshot_age_s", age(p->now, taken));
	return dump(o);
}
