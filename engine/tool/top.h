/* SPDX-License-Identifier: MIT */
/*
 * top.h - what schedlua top knows, and how it is drawn.
 *
 * cmd_top.c heeds keys, top_view.c draws the page, top_lists.c the lists of jobs on it, top_machine.c GPUs and blocks.
 * Ownership: cmd_top.c owns all of it.  Threads: none.
 */
#ifndef SL_TOOL_TOP_H
#define SL_TOOL_TOP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "tool/look.h"
#include "tool/screen.h"

#define SL_TOP_NAME 80		/* of a filter */

struct sl_top {
	const char *notes;		/* a file, or NULL */
	struct sl_look seen;
	struct sl_screen screen;

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

/* GPUs by type, and blocks, in a few lines; nothing where the cluster has none.  There has to be a snapshot. */
void sl_top_put_machine(struct sl_top *t);

/* A cell that is as high as *used* of *all* are in use. */
void sl_top_put_level(struct sl_top *t, enum sl_style style, uint64_t used, uint64_t all);

/* "14:22:01" of today, else "Sun 14:22" within a week, else "22 Nov". */
const char *sl_top_clock(char text[SL_TEXT_SIZE], int64_t when, int64_t now);

#endif
