/* SPDX-License-Identifier: MIT */
/*
 * usage/history_private.h - the inside of a history, for usage/history*.c only.
 */
#ifndef SL_HISTORY_PRIVATE_H
#define SL_HISTORY_PRIVATE_H

#include "base/map.h"
#include "usage/history.h"

/* Twice as many as are kept, so that dropping the older half is rare. */
#define ROOM (2 * SL_HISTORY_KEPT)

/* The runs of a user or account, the newest last. */
struct history_list {
	enum sl_usage_by by;
	uint32_t text;
	struct sl_past_run *run;
	uint32_t count, room;
	uint64_t asked, loaded;		/* in which cycle */
	uint64_t mark;
};

struct sl_history {
	sl_history_load *load;
	void *arg;
	uint64_t cycle;			/* from 1 on */
	struct history_list *list;
	uint32_t lists, list_room;
	struct sl_map by_name;		/* -> list */
	char **text;
	uint32_t texts, text_room;
	struct sl_map by_text;		/* -> text */
	const struct sl_past_run *found[SL_HISTORY_KEPT];
	struct sl_past_run *asked;	/* copies of what answers of this cycle had */
	uint32_t askeds, asked_room;
};

/* The runs of a user or account; NULL: none are known.  make: an empty list where there is none; NULL with *err. */
struct history_list *history_find_list(const struct sl_history *h, enum sl_usage_by by, const char *name);
struct history_list *history_make_list(struct sl_history *h, enum sl_usage_by by, const char *name, struct sl_error *err);


/* The list that a question is about, loaded for this cycle.  NULL: it is of nobody known, and there is no room for
 * another.  0, or -1 with *err. */
int history_load(struct sl_history *h, enum sl_usage_by by, const char *of, struct history_list **list,
		 struct sl_error *err);

/* An answer of this cycle rests on it. */
void history_note_asked(struct sl_history *h, struct sl_past_run *p);

#endif
