/* SPDX-License-Identifier: MIT */
/*
 * stock_private.h - shared by the two schedulers of stock.h: the nodes that a job may use, and starting the job on them.
 */
#ifndef SL_STOCK_PRIVATE_H
#define SL_STOCK_PRIVATE_H

#include "sim/stock.h"
#include "timeline/place.h"

/* From *begin* to *end* no reservation has these nodes. */
struct stretch {
	int64_t begin, end;
	struct sl_nodeset open;
};

/* A job that runs, or has been started by this decision: when its walltime ends, and what it holds in backfill.held. */
struct ending {
	int64_t end;
	uint32_t job, first, count;
};

/* A decision, and what it works with; it is kept for its memory. */
struct sl_stock_work {
	struct sl_cluster *c;
	struct sl_plan *p;
	int64_t now;
	struct sl_nodeset open, eligible;	/* that a job may have; of its own the same */
	struct sl_layout layout;		/* where it would be */
	struct sl_place *place;
	struct sl_pick *pick;
	uint32_t places, picks;			/* room */

	/* select */
	int32_t *cores;
	bool *taken;
	struct set *set;
	uint32_t cores_room, taken_room, set_room;

	/* backfill */
	struct stretch *stretch;		/* node_space, without gaps */
	uint32_t stretches, stretch_room;
	struct ending *ending;
	uint32_t endings, ending_room;
	struct sl_place *held;
	uint32_t holds, held_room;
	struct sl_nodeset tmp, next;
};

/* 1 if the entry's job fits at *t* on work.open, with its place in work.layout; 0 if not; -1 with *err. */
int stock_fits(struct sl_stock_work *w, struct sl_entry e, int64_t t, struct sl_error *err);

/* Start it now on nodes of work.open only.  1; 0: it does not fit, or may not; -1 with *err. */
int stock_start(struct sl_stock_work *w, struct sl_entry e, struct sl_error *err);

/* -- stock_select.c ------------------------------------------------------ */

/* True if the request is only for cores on a fixed number of nodes, and the machine has no tree of switches. */
bool stock_selects(const struct sl_stock_work *w, const struct sl_want *want);

/* Which nodes of *within* select takes for it at *t*.  1: work.layout says it; 0: it finds none; -1 with *err. */
int stock_select(struct sl_stock_work *w, const struct sl_request *r, const struct sl_nodeset *within, int64_t t, struct sl_error *err);

/* _attempt_backfill().  0, or -1 with *err. */
int stock_backfill(struct sl_stock *s, struct sl_error *err);

void stock_work_free(struct sl_stock_work *w);

#endif
