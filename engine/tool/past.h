/* SPDX-License-Identifier: MIT */
/*
 * past.h - what the decision journal (image/journal.h) says of one job, as events.
 *
 * The journal is read from its newest line back.  It says what changed: the newest line that names a job is what
 * holds; of several reasons to wait within one second the last one stands.  An event has "event" (start, wait, gone, action), "since", "until" unless it still holds, "policy", and the
 * keys of its record in the journal.
 *
 * Ownership: owns its events; borrows what is recent.  Threads: none.
 */
#ifndef SL_TOOL_PAST_H
#define SL_TOOL_PAST_H

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

#include "base/error.h"
#include "tool/recent.h"

struct sl_past {
	json_int_t job;
	size_t most;			/* events: one more is read, as it says when the last of them began; 0: all */
	size_t most_bytes;		/* of the journal; 0: all of it */
	json_t *events;			/* newest first */
	bool cut;			/* it was read no further back than most_bytes */

	struct sl_recent *recent;	/* for who stands ahead */
	char digits[24];		/* the job id as text: a line without it says nothing of the job */
	size_t read;
	bool failed;
	char *newest;			/* the newest line that there is */
	const char *until;		/* no further back than this line; NULL: to the begin */
};

/* 0, or -1 with *err; to be closed in either case. */
int sl_past_open(struct sl_past *s, json_int_t job, struct sl_recent *recent, struct sl_error *err);
void sl_past_close(struct sl_past *s);

/* Read the journal in that directory; the second time only what was written since.  0, or -1 with *err. */
int sl_past_read(struct sl_past *s, const char *dir, struct sl_error *err);

/* Add to the newest event, if the job waits, who stands ahead of it ("ahead").  0, or -1 with *err. */
int sl_past_add_ahead(struct sl_past *s, const char *dir, struct sl_error *err);

/* True if the event is of that kind; NULL is of none. */
bool sl_past_is(const json_t *event, const char *what);

/* True if both say that the job waits, and for the same reason. */
bool sl_past_same(const json_t *a, const json_t *b);

/* Print an event as people read it, in one line or several (tool/past_text.c). */
void sl_past_print(const json_t *event, FILE *out);

#endif
