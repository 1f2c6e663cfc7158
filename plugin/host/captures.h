/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * captures.h - snapshots that are kept: last.snap, and those for schedlua replay, with what
 * policies asked of the past in the cycle.
 *
 * Knows nothing of Slurm.  Ownership: the builder of what is recorded; end it with
 * sl_captures_end().  Threads: the cycle thread's.
 */
#ifndef SL_CAPTURES_H
#define SL_CAPTURES_H

#include <stdint.h>

#include "base/error.h"
#include "image/plan_image.h"
#include "image/snapshot.h"
#include "plugin/host/options.h"
#include "plugin/host/status.h"

/* All 0: nothing was kept so far. */
struct sl_captures {
	double cycle;			/* when this cycle began, seconds of sl_clock_s() */
	double last_capture, last_record;
	struct sl_builder *record;	/* the snapshot with what was asked of the past; NULL: never so far */
	const void *record_bytes;	/* of this cycle; NULL: nothing was asked */
	size_t record_size;
};

/* Something is not written, which the next cycle tries again. */
typedef void sl_not_written(void *arg, enum sl_trouble what, const char *text);

/* A cycle begins at *now*. */
void sl_captures_begin(struct sl_captures *c, double now);

/* How long jobs that ended stay in the snapshot, seconds: who ended since the last recorded one must
 * stand in the next. */
double sl_captures_finished_s(const struct sl_captures *c, const struct sl_options *o);

/* What policies asked of the past, while the plan is there.  0, or -1 with *err. */
int sl_captures_note_asked(struct sl_captures *c, const struct sl_options *o, const struct sl_snapshot *snap,
			   const struct sl_plan_image *plan, struct sl_error *err);

/* Write below *dir* what is due; not_written() is told of what cannot be. */
void sl_captures_write(struct sl_captures *c, const struct sl_options *o, const char *dir, int64_t sequence,
		       const void *bytes, size_t size, sl_not_written *not_written, void *arg);

void sl_captures_end(struct sl_captures *c);

#endif
