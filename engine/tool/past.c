/* SPDX-License-Identifier: MIT */
#include "tool/past.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/journal.h"
#include "image/nodelist.h"
#include "tool/member.h"

/* -- reading ------------------------------------------------------------ */

bool sl_past_is(const json_t *event, const char *what)
{
	return !strcmp(sl_member_text(event, "event"), what);
}

bool sl_past_same(const json_t *a, const json_t *b)
{
	static const char *const keys[] = { "event", "why", "text", "by", "note", "beyond", "nodes", "start_time",
					    "partition", "shortage" };

	if (sl_past_is(a, "start") || sl_past_is(a, "action") || sl_past_is(a, "stop") || sl_past_is(a, "hold"))
		return false;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		json_t *x = json_object_get(a, keys[i]), *y = json_object_get(b, keys[i]);

		if (x != y && !json_equal(x, y))
			return false;
	}
	return true;
}

/* True if the job waited for another reason within the same second: several cycles follow a change of the policies at once. */
static bool is_momentary(const json_t *newer, const json_t *event)
{
	return sl_past_is(newer, "wait") && sl_past_is(event, "wait") && sl_member_integer(newer, "since") == sl_member_integer(event, "since");
}

/* Put an event, which is older than all before it, at the end of the list. */
static void append(struct sl_past *s, json_t *event)
{
	size_t n = json_array_size(s->events);
	json_t *newer = n ? json_array_get(s->events, n - 1) : NULL;

	if (!event) {
		s->failed = true;
	} else if (newer && sl_past_same(newer, event)) {
		/* a new file of the journal repeats what the one before said */
		json_object_set(newer, "since", json_object_get(event, "since"));
		json_decref(event);
	} else if (newer && is_momentary(newer, event)) {
		json_decref(event);
	} else {
		if (newer)
			json_object_set(event, "until", json_object_get(newer, "since"));
		s->failed |= json_array_append_new(s->events, event) != 0;
	}
}

/* An event made of a record of the cycle. */
static json_t *make_event(const json_t *cycle, json_t *record, const char *what)
{
	json_t *event = json_pack("{s:s, s:I, s:I, s:s}", "event", what, "since", sl_member_integer(cycle, "now"),
				  "sequence", sl_member_integer(cycle, "sequence"), "policy", sl_member_text(cycle, "policy"));

	if (event && json_object_update(event, record)) {
		json_decref(event);
		return NULL;
	}
	if (event)
		json_object_del(event, "job");
	return event;
}

/* All that a list of the line says of the job. */
static void take_all(struct sl_past *s, const json_t *cycle, const char *list, const char *what)
{
	json_t *record;
	size_t i;

	json_array_foreach(json_object_get(cycle, list), i, record)
		if (sl_member_integer(record, "job") == s->job)
			append(s, make_event(cycle, record, what));
}

static json_t *find(const json_t *cycle, const char *list, json_int_t job)
{
	json_t *record;
	size_t i;

	json_array_foreach(json_object_get(cycle, list), i, record)
		if (sl_member_integer(record, "job") == job)
			return record;
	return NULL;
}

/* That it is stopped for another job, with what the plan says of that one's place. */
static void take_stop(struct sl_past *s, const json_t *cycle)
{
	json_t *stop = find(cycle, "stopped", s->job), *event = stop ? make_event(cycle, stop, "stop") : NULL;
	json_t *place = stop ? find(cycle, "held", sl_member_integer(stop, "preemptor")) : NULL;

	if (event && place)
		json_object_set(event, "because", json_object_get(place, "because"));
	if (stop)
		append(s, event);
}

/* That its place is held, with the jobs that are stopped for it. */
static void take_hold(struct sl_past *s, const json_t *cycle)
{
	json_t *hold = find(cycle, "held", s->job), *event = hold ? make_event(cycle, hold, "hold") : NULL;
	json_t *victims = json_array(), *stop;
	size_t i;

	if (event) {	/* "until" is when the next decision came */
		json_object_set(event, "held_until", json_object_get(event, "until"));
		json_object_del(event, "until");
	}
	json_array_foreach(json_object_get(cycle, "stopped"), i, stop)
		if (sl_member_integer(stop, "preemptor") == s->job)
			json_array_append(victims, stop);
	if (event && json_array_size(victims))
		json_object_set(event, "stopped", victims);
	if (hold)
		append(s, event);
	json_decref(victims);
}

/* That it waits: why, and with a reservation since when and where, and why nobody is stopped for it, are one event. */
static void take_wait(struct sl_past *s, const json_t *cycle)
{
	json_t *reserved = find(cycle, "reserved", s->job), *pending = find(cycle, "pending", s->job), *event;
	json_t *shortage = find(cycle, "shortages", s->job);

	if (!reserved && !pending)
		return;
	event = make_event(cycle, reserved ? reserved : pending, "wait");
	if (event && reserved && pending) {
		json_object_update_missing(event, pending);
		json_object_del(event, "job");
	}
	if (event && shortage)
		json_object_set(event, "shortage", json_object_get(shortage, "text"));
	append(s, event);
}

static int visit(const char *line, size_t length, void *arg)
{
	struct sl_past *s = arg;
	json_t *cycle;

	if (s->until && strlen(s->until) == length && !memcmp(line, s->until, length))
		return 1;
	if (!s->newest && !(s->newest = strndup(line, length)))
		s->failed = true;
	s->read += length;
	if (s->most_bytes && s->read > s->most_bytes) {
		s->cut = true;
		return 1;
	}
	if (!memmem(line, length, s->digits, strlen(s->digits)))
		return 0;
	cycle = json_loadb(line, length, 0, NULL);
	if (!cycle)
		return 0;	/* torn by a crash */
	/* what comes later in a cycle stands first */
	take_all(s, cycle, "gone", "gone");
	take_all(s, cycle, "actions", "action");
	take_stop(s, cycle);
	take_hold(s, cycle);
	take_wait(s, cycle);
	take_all(s, cycle, "started", "start");
	json_decref(cycle);
	/* one more than shown: when the last one began is known then */
	return s->failed || (s->most && json_array_size(s->events) > s->most);
}

/* -- who stands ahead --------------------------------------------------- */

static int add_name(const char *name, void *set)
{
	return json_object_set_new(set, name, json_true());
}

static int is_in(const char *name, void *set)
{
	return json_object_get(set, name) != NULL;
}

/* The nodes of all partitions in which the job waits, as a set; NULL where that is not known. */
static json_t *own_nodes(const struct sl_past *s, const json_t *event)
{
	char *names = strdup(sl_member_text(event, "partition")), *save = NULL;
	json_t *set = names && *names && s->recent->partitions ? json_object() : NULL;

	for (char *name = set ? strtok_r(names, ",", &save) : NULL; name; name = strtok_r(NULL, ",", &save))
		if (sl_nodelist_split(sl_member_text(s->recent->partitions, name), add_name, set, NULL)) {
			json_decref(set);
			set = NULL;
			break;
		}
	free(names);
	return set;
}

/*
 * The jobs with a reservation that begins before this job's expected start, on nodes that
 * it could have.  A reservation whose time has passed is nobody's any more.
 */
static json_t *jobs_ahead(struct sl_past *s, const json_t *event)
{
	json_int_t own = sl_member_integer(event, "start_time"), when;
	json_t *ahead = json_array(), *nodes = own_nodes(s, event), *record;
	const char *key;
	size_t at;

	json_object_foreach(s->recent->waiting, key, record) {
		when = sl_member_integer(record, "start_time");
		if (when < s->recent->now || sl_member_integer(record, "job") == s->job || (own && when > own))
			continue;
		if (nodes && !sl_nodelist_split(sl_member_text(record, "nodes"), is_in, nodes, NULL))
			continue;
		for (at = 0; at < json_array_size(ahead); at++)
			if (sl_member_integer(json_array_get(ahead, at), "start_time") > when)
				break;
		json_array_insert_new(ahead, at, json_pack("{s:I, s:I}", "job", sl_member_integer(record, "job"),
							   "start_time", when));
	}
	json_decref(nodes);
	return ahead;
}

int sl_past_add_ahead(struct sl_past *s, const char *dir, struct sl_error *err)
{
	json_t *event = json_array_get(s->events, 0);

	if (!sl_past_is(event, "wait"))
		return 0;
	if (sl_recent_read(s->recent, dir, err))
		return -1;
	return json_object_set_new(event, "ahead", jobs_ahead(s, event));
}

/* -- from outside ------------------------------------------------------- */

int sl_past_open(struct sl_past *s, json_int_t job, struct sl_recent *recent, struct sl_error *err)
{
	*s = (struct sl_past) { .job = job, .recent = recent, .events = json_array() };
	snprintf(s->digits, sizeof(s->digits), "%lld", (long long) job);
	return s->events ? 0 : sl_fail(err, SL_ENOMEM, "explain: out of memory");
}

void sl_past_close(struct sl_past *s)
{
	free(s->newest);
	json_decref(s->events);
	*s = (struct sl_past) { 0 };
}

int sl_past_read(struct sl_past *s, const char *dir, struct sl_error *err)
{
	char *seen = s->newest;
	int rc;

	s->until = seen;
	s->newest = NULL;
	s->read = 0;
	json_array_clear(s->events);
	rc = sl_journal_read(dir, visit, s, err);
	if (!rc && s->failed)
		rc = sl_fail(err, SL_ENOMEM, "explain: out of memory");
	if (s->newest)
		free(seen);
	else
		s->newest = seen;
	return rc;
}
