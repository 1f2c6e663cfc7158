/* SPDX-License-Identifier: MIT */
#include "tool/recent.h"
#include "tool/action.h"
#include "tool/member.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/journal.h"

/* A look, from the newest line back: the first that is said of a job holds. */
struct look {
	const struct sl_recent *before;
	json_t *jobs;		/* id -> its record, or null: it waits no more */
	json_t *events, *partitions;
	json_t *newer;		/* the line after the one at hand */
	json_int_t now, sequence;
	bool full, failed;
};

/* -- what happened ------------------------------------------------------------ */

static void add_event(struct look *l, json_int_t at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static void add_event(struct look *l, json_int_t at, const char *fmt, ...)
{
	char *text = NULL;
	va_list args;

	if (json_array_size(l->events) >= SL_RECENT_EVENTS)
		return;
	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0 || json_array_append_new(l->events, json_pack("[I, s]", at, text)))
		l->failed = true;
	va_end(args);
	free(text);
}

static void tell_starts(struct look *l, const json_t *line)
{
	json_t *list = json_object_get(line, "started");

	for (size_t i = json_array_size(list); i-- > 0; ) {
		const json_t *job = json_array_get(list, i);
		const char *nodes = sl_member_text(job, "nodes"), *text = sl_member_text(job, "text");

		if (json_is_false(json_object_get(job, "done")))
			add_event(l, sl_member_integer(line, "now"), "job %lld was to start on %s: %s", (long long) sl_member_integer(job, "job"),
				  nodes, *text ? text : sl_member_text(job, "fate"));
		else
			add_event(l, sl_member_integer(line, "now"), "job %lld started on %s (%lld core%s)",
				  (long long) sl_member_integer(job, "job"), nodes, (long long) sl_member_integer(job, "cores"),
				  sl_member_integer(job, "cores") == 1 ? "" : "s");
	}
}

static void tell_actions(struct look *l, const json_t *line)
{
	json_t *list = json_object_get(line, "actions");

	for (size_t i = json_array_size(list); i-- > 0; ) {
		const json_t *job = json_array_get(list, i);
		const char *text = sl_member_text(job, "text"), *why = sl_member_text(job, "why");
		char action[SL_ACTION_TEXT];

		add_event(l, sl_member_integer(line, "now"), "job %lld: %s%s%s%s%s", (long long) sl_member_integer(job, "job"),
			  sl_action_text(action, sl_member_text(job, "verb"), sl_member_integer(job, "number")), *text ? ": " : "", text, *why ? ": " : "", why);
	}
}

/* What is another than in the line before, which is read after it. */
static void tell_change(struct look *l, const json_t *older)
{
	const char *policy = sl_member_text(l->newer, "policy"), *error = sl_member_text(l->newer, "error");

	if (!l->newer)
		return;
	if (*error && strcmp(error, sl_member_text(older, "error")))
		add_event(l, sl_member_integer(l->newer, "now"), "the policy failed: %s", error);
	if (*policy && strcmp(policy, sl_member_text(older, "policy")))
		add_event(l, sl_member_integer(l->newer, "now"), "%s decides from here on; before: %s", policy, sl_member_text(older, "policy"));
}

/* -- who waits ---------------------------------------------------------------- */

/* A reservation and why it waits are two records of one line. */
static void take_jobs(struct look *l, const json_t *line)
{
	static const char *const lists[] = { "gone", "reserved", "pending", "started" };
	char key[24];
	json_t *record, *known;
	size_t i;

	for (size_t k = 0; k < sizeof(lists) / sizeof(lists[0]); k++)
		json_array_foreach(json_object_get(line, lists[k]), i, record) {
			bool waits = k == 1 || k == 2 || (k == 3 && json_is_false(json_object_get(record, "done")));

			snprintf(key, sizeof(key), "%lld", (long long) sl_member_integer(record, "job"));
			known = json_object_get(l->jobs, key);
			if (k == 1)
				json_object_set(record, "line", json_object_get(line, "sequence"));
			if (!known)
				l->failed |= json_object_set(l->jobs, key, waits ? record : json_null()) != 0;
			else if (k == 2 && sl_member_integer(known, "line") == sl_member_integer(line, "sequence"))
				json_object_update_missing(known, record);
		}
}

static int visit(const char *text, size_t length, void *arg)
{
	struct look *l = arg;
	json_t *line = json_loadb(text, length, 0, NULL);

	if (!line)
		return 0;	/* torn by a crash */
	if (!l->now) {
		l->now = sl_member_integer(line, "now");
		l->sequence = sl_member_integer(line, "sequence");
	}
	tell_change(l, line);
	if (sl_member_integer(line, "now") == l->before->now && sl_member_integer(line, "sequence") == l->before->sequence) {
		json_decref(line);
		return 1;
	}
	tell_starts(l, line);
	tell_actions(l, line);
	take_jobs(l, line);
	if (!l->partitions)
		l->partitions = json_incref(json_object_get(line, "partitions"));
	l->full = json_is_true(json_object_get(line, "full"));
	json_decref(l->newer);
	l->newer = line;
	return l->full || l->failed;
}

/* What is new stands before what is known; a line that names every job makes that past. */
static int merge(struct sl_recent *r, struct look *l)
{
	const char *key;
	json_t *record;
	void *next;

	if (l->full || !r->now)
		json_object_clear(r->waiting);
	if (json_object_update(r->waiting, l->jobs) || json_array_extend(l->events, r->events))
		return -1;
	json_object_foreach_safe(r->waiting, next, key, record)
		if (json_is_null(record))
			json_object_del(r->waiting, key);
	while (json_array_size(l->events) > SL_RECENT_EVENTS)
		json_array_remove(l->events, SL_RECENT_EVENTS);
	json_decref(r->events);
	r->events = json_incref(l->events);
	if (l->partitions) {
		json_decref(r->partitions);
		r->partitions = json_incref(l->partitions);
	}
	if (l->now) {
		r->now = l->now;
		r->sequence = l->sequence;
	}
	return 0;
}

int sl_recent_read(struct sl_recent *r, const char *dir, struct sl_error *err)
{
	struct look l = { .before = r, .jobs = json_object(), .events = json_array() };
	int rc = -1;

	if (!l.jobs || !l.events)
		sl_fail(err, SL_ENOMEM, "journal: out of memory");
	else if (!sl_journal_read(dir, visit, &l, err))
		rc = l.failed || merge(r, &l) ? sl_fail(err, SL_ENOMEM, "journal: out of memory") : 0;
	json_decref(l.jobs);
	json_decref(l.events);
	json_decref(l.partitions);
	json_decref(l.newer);
	return rc;
}

int sl_recent_open(struct sl_recent *r, struct sl_error *err)
{
	*r = (struct sl_recent) { .waiting = json_object(), .events = json_array() };
	return r->waiting && r->events ? 0 : sl_fail(err, SL_ENOMEM, "journal: out of memory");
}

void sl_recent_close(struct sl_recent *r)
{
	json_decref(r->waiting);
	json_decref(r->events);
	json_decref(r->partitions);
}
