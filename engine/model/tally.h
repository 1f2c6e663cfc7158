/* SPDX-License-Identifier: MIT */
/*
 * tally.h - how much of something is in use, as a step function of time.
 *
 * For what belongs to the cluster as a whole (licences); the timeline counts what belongs to nodes.  Equal neighbouring steps
 * are merged, so undoing an addition restores the former steps.
 *
 * Ownership: a value that owns its array; all bytes zero means "nothing in use".  Threads: none.
 */
#ifndef SL_TALLY_H
#define SL_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct sl_tally_step {
	int64_t at;		/* from this time on ... */
	int64_t used;		/* ... this much is in use */
};

struct sl_tally {
	struct sl_tally_step *step;	/* ascending; nothing is in use before the first */
	uint32_t steps, room;
};

void sl_tally_free(struct sl_tally *t);

/* Add *count* (negative: subtract) over [t0, t1); t1 INT64_MAX: without end.  0, or -1 with *err (SL_ENOMEM) and no
 * change. */
int sl_tally_add(struct sl_tally *t, int64_t t0, int64_t t1, int64_t count, struct sl_error *err);

/* Maximum over [t0, t1). */
int64_t sl_tally_most(const struct sl_tally *t, int64_t t0, int64_t t1);

/* The first time from *from* on at which *need* more fit under *total* for that many seconds; INT64_MAX if there is none. */
int64_t sl_tally_earliest(const struct sl_tally *t, int64_t from, int64_t seconds, int64_t need, int64_t total);

/* Forget the time before *now*. */
void sl_tally_advance(struct sl_tally *t, int64_t now);

#endif
