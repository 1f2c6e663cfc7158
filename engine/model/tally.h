/* SPDX-License-Identifier: MIT */
/*
 * tally.h - how much of one thing is in use, as a step function of time.
 *
 * For what belongs to the cluster as a whole (licences), where the timeline counts
 * what belongs to nodes.  Equal neighbouring steps are one, so that taking back an
 * addition leaves what was before.
 *
 * Ownership: a value whose array belongs to it; all bytes zero is "nothing in use".
 * Threads: none.
 */
#ifndef SL_TALLY_H
#define SL_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct sl_tally_step {
	int64_t at;		/* from here on ... */
	int64_t used;		/* ... so much */
};

struct sl_tally {
	struct sl_tally_step *step;	/* ascending; nothing is in use before the first */
	uint32_t steps, room;
};

void sl_tally_free(struct sl_tally *t);

/* Add *count* (negative: take back) over [t0, t1); INT64_MAX as t1: without end.  0,
 * or -1 with *err (SL_ENOMEM), having changed nothing. */
int sl_tally_add(struct sl_tally *t, int64_t t0, int64_t t1, int64_t count, struct sl_error *err);

/* The most that is in use over [t0, t1). */
int64_t sl_tally_most(const struct sl_tally *t, int64_t t0, int64_t t1);

/* The first instant from *from* on at which *need* more fit under *total* for so
 * many seconds; INT64_MAX when there is none. */
int64_t sl_tally_earliest(const struct sl_tally *t, int64_t from, int64_t seconds, int64_t need, int64_t total);

/* Forget what lies before *now*. */
void sl_tally_advance(struct sl_tally *t, int64_t now);

#endif
