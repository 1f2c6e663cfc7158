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
	uint64_t version;		/* counts changes of the runs */
	uint64_t dropped;		/* how often the older half was */
};

/* As of when something is known of a user's runs. */
struct history_known_at {
	uint64_t cycle;			/* 0: never */
	uint64_t version;		/* of the list */
	int64_t now;
};

/* What is expected of jobs of a user, of so many CPUs and such a walltime (history_prospect.c). */
struct history_prospect {
	uint32_t list;			/* SL_NONE: nothing can be known of the user */
	int64_t cpus, limit;
	struct history_known_at known, shortest_known;
	double sum, inverses, stretch;	/* of the user's runs like it, stretched, and of how many; see work_out() */
	uint32_t count;
	double typical, shortest;
	uint64_t shares;		/* that *typical* was worked out with */
	double shortest_stretch;	/* that *shortest* was worked out with, */
	uint64_t shortest_shares;	/* and these (history_prior.changes) */
};

#define HISTORY_SHARES 40	/* classes, of half an octave each */

/* Which share of their walltimes everybody's newest runs lasted for (history_prior.c). */
struct history_prior {
	uint32_t list;			/* of everybody */
	uint64_t cycle, version, dropped;	/* as of which; cycle 0: never */
	int64_t until, epoch;		/* of runs that had ended by *until*; epoch SL_FOREVER: and of those since */
	uint64_t changes;
	struct history_share {
		uint32_t user, class;
	} run[SL_HISTORY_KEPT];
	uint32_t counted;
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
	bool unrecorded;		/* nobody will ask what answers rested on */
	struct history_prospect *prospect;
	uint32_t prospects, prospect_room;
	struct sl_map prospect_of;
	uint64_t numbering;		/* see sl_history_numbering() */
	struct history_prior prior;
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

/* history_prior.c: the shares are those of now.  0, or -1 with *err. */
int history_know_shares(struct sl_history *h, int64_t now, struct sl_error *err);

/* ... and what those of others say of a user's jobs (SL_NONE: of nobody known) of a walltime in seconds: the means of the runtime and of its inverse, and of a power of it. */
void history_likely(const struct sl_history *h, uint32_t user, double limit, double *mean, double *inverse);
double history_likely_power(const struct sl_history *h, uint32_t user, double limit, double power);

/* history_prospect.c: a cycle begins, and too many are forgotten; all are freed. */
void history_limit_prospects(struct sl_history *h);
void history_free_prospects(struct sl_history *h);

/* Numbers that were given out hold no more (sl_history_numbering()). */
void history_number_anew(struct sl_history *h);

#endif
