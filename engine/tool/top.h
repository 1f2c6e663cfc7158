/* SPDX-License-Identifier: MIT */
/*
 * top.h - what schedlua top knows, and how it is drawn.
 *
 * cmd_top.c reads it and heeds keys, top_view.c draws the page, top_lists.c the lists of jobs on it.
 * Ownership: cmd_top.c owns all of it.  Threads: none.
 */
#ifndef SL_TOOL_TOP_H
#define SL_TOOL_TOP_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "base/map.h"
#include "base/text.h"
#include "image/snapshot.h"
#include "tool/capture.h"
#include "tool/recent.h"
#include "tool/screen.h"

#define SL_TOP_FRESH_S 10	/* nodes and jobs that are older are captured anew */
#define SL_TOP_NAME 80		/* of a filter */

struct sl_top {
	const char *notes;		/* a file, or NULL */
	char dir[PATH_MAX];		/* of status.json and last.snap */
	char journal_dir[PATH_MAX];	/* "": the decisions are not this user's to read */
	struct sl_screen screen;
	struct sl_recent recent;
	json_t *status;			/* NULL: it cannot be read, see status_err */
	bool secret;			/* it is not this user's to read */
	struct sl_error status_err, recent_err, snap_err;

	void *bytes;			/* the snapshot; NULL: there is none, see snap_err */
	struct sl_snapshot snap;
	uint32_t *used, *gpus;		/* per node: cores, GPUs that jobs hold */
	struct sl_map row_of;		/* job id -> row */
	struct sl_capture capture;	/* the next snapshot */
	bool may_capture, captured;	/* captured: one has come, or has failed */

	/* what the keys have set */
	bool running, help;		/* show the jobs that run; the keys */
	char user[SL_TOP_NAME], partition[SL_TOP_NAME];		/* of whose jobs, where; "": all */
	char *typing;			/* one of these two, while it is typed; or NULL */
	int first;			/* line of the list that is shown first */
};

/* Compose the page as of now. */
void sl_top_compose(struct sl_top *t);

/* The jobs that wait or run, those that the filters let through, in so many lines; returns those that it took. */
int sl_top_put_queue(struct sl_top *t, int64_t now, int rows);
int sl_top_put_running(struct sl_top *t, int64_t now, int rows);

/* GPUs that a node has. */
uint32_t sl_top_node_gpus(const struct sl_snapshot *s, uint32_t node);

/* "14:22:01" of today, else "Sun 14:22" within a week, else "22 Nov". */
const char *sl_top_clock(char text[SL_TEXT_SIZE], int64_t when, int64_t now);

#endif
