/* SPDX-License-Identifier: MIT */
/*
 * place_outlook.h - how many cores classes have at most, by time (place_outlook.c), for sweeps.
 */
#ifndef SL_PLACE_OUTLOOK_H
#define SL_PLACE_OUTLOOK_H

#include "timeline/place_impl.h"

#define SL_SLOTS 128
#define SL_PAGE 8			/* slots side by side */

struct sl_outlook_page {
	uint8_t cores[SL_PAGE];		/* in each of its slots */
};

struct sl_outlook_row {
	uint32_t class, nodes;
};

struct sl_outlook {
	int64_t base;			/* the instant that it is for */
	uint32_t sweeps;		/* asked for at it */
	bool ready;
	uint32_t *row_of;		/* by class; SL_NO_CLASS: it has no nodes */
	uint32_t classes;		/* that it has room for */
	struct sl_outlook_row *row;
	struct sl_outlook_page *most[SL_SLOTS / SL_PAGE], *least[SL_SLOTS / SL_PAGE];	/* by row */
	uint64_t *in;			/* bits: rows that this sweep has taken in */
	uint32_t rows, room;
	struct sl_shelf *shelf;
	uint64_t bytes;			/* of it */
};

/* The outlook of all classes, for one more sweep; NULL where it would not pay, or without room for it. */
struct sl_outlook *sl_outlook_of(struct sl_timeline *tl);
void sl_outlook_free(struct sl_outlook *o);

/* The slot of an instant, and the first instant after a slot. */
uint32_t sl_outlook_slot(const struct sl_outlook *o, int64_t t);
int64_t sl_outlook_end(const struct sl_outlook *o, uint32_t slot);

/* What a sweep looks for: *cores* (at least one) on each of *nodes* nodes for *seconds*, beginning at some instant of *slot*. */
struct sl_prospect {
	int32_t cores;
	int64_t nodes, seconds;
	uint32_t slot, last;		/* the slots between these are needed whole, at whatever instant of *slot* it begins */
};

/* Let the prospect begin in this slot: sets p->slot and p->last. */
void sl_outlook_in(const struct sl_outlook *o, struct sl_prospect *p, uint32_t slot);

/* False if no start in the slot is possible.  True promises nothing: the figures are upper bounds. */
bool sl_outlook_enough(const struct sl_outlook *o, const struct sl_prospect *p);

/* No class is taken in yet. */
void sl_outlook_begin(struct sl_outlook *o);

/* The next class, from *row* on, that the sweep does not have yet and that may have enough for *p*.  The class counts as
 * taken in from then on, and *row is set behind it.  SL_NO_CLASS if there is none. */
uint32_t sl_outlook_next(struct sl_outlook *o, const struct sl_prospect *p, uint32_t *row);

#endif
