/* SPDX-License-Identifier: MIT */
/*
 * recent.h - what the decision journal said last: who waits, and what happened.
 *
 * The first look reads back to the line that names every job; each further one reads what
 * was added since, so that looking again costs little.
 *
 * Ownership: owns what it has read.  Threads: none.
 */
#ifndef SL_TOOL_RECENT_H
#define SL_TOOL_RECENT_H

#include <jansson.h>

#include "base/error.h"

#define SL_RECENT_EVENTS 200

struct sl_recent {
	json_t *waiting;	/* job id -> { why, text, start_time, partition, ... }, as in the journal */
	json_t *partitions;	/* name -> nodes, as they are now; NULL: an old journal */
	json_t *events;		/* newest first: [time, what] */
	json_int_t now, sequence;	/* of the newest line that was read */
};

int sl_recent_open(struct sl_recent *r, struct sl_error *err);
void sl_recent_close(struct sl_recent *r);

/* Look again.  0, or -1 with *err, and what was known stays. */
int sl_recent_read(struct sl_recent *r, const char *dir, struct sl_error *err);

#endif
