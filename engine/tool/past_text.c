/* SPDX-License-Identifier: MIT */
/* past_text.c - events of a job, for people (tool/past.h). */
#include "tool/past.h"

#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "base/text.h"
#include "tool/action.h"
#include "tool/explain_words.h"
#include "tool/member.h"

#define AHEAD_SHOWN 5
#define STOPPED_SHOWN 20

/* -- printing ----------------------------------------------------------- */

static void print_ahead(const json_t *event, FILE *out)
{
	json_t *ahead = json_object_get(event, "ahead"), *job;
	size_t i, n = json_array_size(ahead);
	char at[SL_TEXT_SIZE];

	if (!n)
		return;
	fprintf(out, "    ahead of it, with a reservation:");
	json_array_foreach(ahead, i, job) {
		if (i == AHEAD_SHOWN)
			break;
		fprintf(out, "%s job %lld at %s", i ? "," : "", (long long) sl_member_integer(job, "job"),
		       sl_text_time(at, sl_member_integer(job, "start_time")));
	}
	if (n > AHEAD_SHOWN)
		fprintf(out, ", and %zu more", n - AHEAD_SHOWN);
	fputc('\n', out);
}

/* Of a job whose place is held: the jobs for whose end it waits. */
static void print_stopped(const json_t *event, FILE *out)
{
	json_t *stopped = json_object_get(event, "stopped"), *stop;
	size_t i, n = json_array_size(stopped);

	if (!n)
		return;
	fprintf(out, "    %s for it:", json_is_true(json_object_get(json_array_get(stopped, 0), "moves")) ? "moved" : "stopped");
	json_array_foreach(stopped, i, stop) {
		if (i == STOPPED_SHOWN)
			break;
		fprintf(out, "%s job %lld%s", i ? "," : "", (long long) sl_member_integer(stop, "job"),
			json_is_false(json_object_get(stop, "done")) ? " (was not)" : "");
	}
	if (n > STOPPED_SHOWN)
		fprintf(out, ", and %zu more", n - STOPPED_SHOWN);
	fputc('\n', out);
}

static void print_what(const json_t *event, FILE *out)
{
	const char *what = sl_member_text(event, "event"), *text = sl_member_text(event, "text");
	bool done = !json_is_false(json_object_get(event, "done"));
	char at[SL_TEXT_SIZE], action[SL_ACTION_TEXT];

	if (!strcmp(what, "start")) {
		fprintf(out, "%s", done ? "started" : "was to start");
		if (sl_member_integer(event, "shape"))
			fprintf(out, " as its alternative %lld", (long long) sl_member_integer(event, "shape"));
		fprintf(out, " on %s", sl_member_text(event, "nodes"));
		if (sl_member_integer(event, "cores"))
			fprintf(out, " (%lld core%s)", (long long) sl_member_integer(event, "cores"),
			       sl_member_integer(event, "cores") == 1 ? "" : "s");
		if (json_is_true(json_object_get(event, "native")))
			fprintf(out, " or elsewhere: Slurm's select picks the nodes");
		sl_explain_loan(event, out);
	} else if (!strcmp(what, "wait")) {
		fprintf(out, "waits%s%s", *sl_member_text(event, "why") ? ": " : "", sl_member_text(event, "why"));
	} else if (!strcmp(what, "stop") || !strcmp(what, "hold")) {
		sl_explain_stop(event, done, out);
	} else if (!strcmp(what, "gone")) {
		fprintf(out, "left the queue, not started by the scheduler: no longer among those that may start (cancelled, held,"
		       " changed, dependent or over a limit: squeue says which)");
	} else {
		fprintf(out, "%s%s", sl_action_text(action, sl_member_text(event, "verb"), sl_member_integer(event, "number")),
		       done ? "" : " failed");
		if (*sl_member_text(event, "why"))
			fprintf(out, " (%s)", sl_member_text(event, "why"));
	}
	if (*text) {
		char *copy = strdup(text);

		fprintf(out, ": %s", copy ? sl_plain(copy) : "");
		free(copy);
	}
	if (!strcmp(what, "wait") && sl_member_integer(event, "start_time"))
		fprintf(out, "; expected to start at %s%s%s", sl_text_time(at, sl_member_integer(event, "start_time")),
		       *sl_member_text(event, "nodes") ? " on " : "", sl_member_text(event, "nodes"));
}

static void print_plain(const char *what, const char *text, FILE *out)
{
	char *copy = strdup(text);

	fprintf(out, "    %s%s\n", what, copy ? sl_plain(copy) : "");
	free(copy);
}

void sl_past_print(const json_t *event, FILE *out)
{
	char since[SL_TEXT_SIZE], until[SL_TEXT_SIZE];
	const char *by = sl_member_text(event, "by"), *note = sl_member_text(event, "note"),
		*beyond = sl_member_text(event, "beyond"), *shortage = sl_member_text(event, "shortage");
	/* what was done to the job in the second in which the event began ends no wait */
	bool ended = sl_member_integer(event, "until") > sl_member_integer(event, "since");

	sl_text_time(since, sl_member_integer(event, "since"));
	sl_text_time(until, sl_member_integer(event, "until"));
	fprintf(out, "%s%s%s  ", since, ended ? " to " : "", ended ? until : "");
	print_what(event, out);
	fprintf(out, "  [%s]\n", *by ? by : sl_member_text(event, "policy"));
	if (*note)
		print_plain("the alternatives in its comment are ignored: ", note, out);
	if (*beyond)
		print_plain("", beyond, out);
	if (*shortage)
		print_plain("nobody is stopped for it: ", shortage, out);
	print_stopped(event, out);
	print_ahead(event, out);
}

