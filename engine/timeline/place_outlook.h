/* SPDX-License-Identifier: MIT */
/* place_outlook.h - upper bounds of free cores by class and time (place_outlook.c), for sweeps. */
#ifndef SL_PLACE_OUTLOOK_H
#define SL_PLACE_OUTLOOK_H

#include "timeline/place_impl.h"

#define SL_SLOTS 128
#define SL_PAGE 8			/* consecutive slots kept in one page */

struct sl_outlook_page {
	uint8_t cores[SL_PAGE];		/* in each of its slots */
};

struct sl_outlook_row {
	uint32_t class, nodes;
};

struct sl_outlook {
	int64_t base;			/* the timeline's now for which it was built */
	uint32_t sweeps;		/* requested at that time */
	bool ready;
	uint32_t *row_of;		/* [class] row; SL_NO_CLASS: the class has no nodes */
	uint32_t classes;		/* allocated */
	struct sl_outlook_row *row;
	struct sl_outlook_page *most[SL_SLOTS / SL_PAGE], *least[SL_SLOTS / SL_PAGE];	/* [slot / SL_PAGE][row]: most and
											 * least free cores in the slot */
	uint64_t *in;			/* bit per row: the sweep has this class already */
	uint32_t rows, room;
	struct sl_shelf *shelf;
	uint64_t bytes;			/* counted against the shelf */
};

/* The outlook of all classes, for another sweep; NULL if it would not pay, or there is no memory for it. */
struct sl_outlook *sl_outlook_of(struct sl_timeline *tl);
void sl_outlook_free(struct sl_outlook *o);

/* The slot of an instant, and the first instant after a slot. */
uint32_t sl_outlook_slot(const struct sl_outlook *o, int64_t t);
int64_t sl_outlook_end(const struct sl_outlook *o, uint32_t slot);

/* What a sweep looks for: at least *cores* (>= 1) free on *nodes* nodes for *seconds*, from some instant of *slot* on. */
struct sl_prospect {
	int32_t cores;
	int64_t nodes, seconds;
	uint32_t slot, last;		/* the run covers all slots between these, at whatever instant of *slot* it begins */
};

/* Set p->slot, and p->last accordingly. */
void sl_outlook_in(const struct sl_outlook *o, struct sl_prospect *p, uint32_t slot);

/* False if no start within the slot is possible.  True means only that one may be: the figures are upper bounds. */
bool sl_outlook_enough(const struct sl_outlook *o, const struct sl_prospect *p);

/* Begin a sweep: it has no class yet. */
void sl_outlook_begin(struct sl_outlook *o);

/* The next class from *row* on that the sweep does not have and that may have enough for *p*; SL_NO_CLASS if there is
 * none.  The class counts as taken from then on, and *row is moved past it. */
uint32_t sl_outlook_next(struct sl_outlook *o, const struct sl_prospect *p, uint32_t *row);

#endif
