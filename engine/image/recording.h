/* SPDX-License-Identifier: MIT */
/*
 * recording.h - a recording: a directory of compressed snapshots for replay, one a
 * recorded cycle.
 *
 * DIR/cycle-SEQUENCE.snap.gz and, where plans are kept too, DIR/cycle-SEQUENCE.plan.gz, where SEQUENCE is the
 * number of the cycle (the snapshot's meta.sequence, which the decision journal has as well) in 20 digits, so
 * that names sort as time does.  A file is there as a whole or not at all.  The oldest go when there are too
 * many files or bytes.  Only files of that name are ever looked at or removed.
 *
 * Ownership: as said below.  Threads: none; one process writes.
 */
#ifndef SL_RECORDING_H
#define SL_RECORDING_H

#include <stddef.h>
#include <stdint.h>

#include "image/plan_image.h"

struct sl_recording_limits {
	uint32_t files;			/* at most, 1 or more */
	uint64_t bytes;			/* of all of them together; the newest one stays in any case */
};

enum sl_recorded { SL_RECORDED_SNAPSHOT, SL_RECORDED_PLAN };

/*
 * Add a snapshot or a plan, compressed, mode 0640; make the directory (0750) if it is
 * not there; remove what of its kind is too much.  Returns 0, or -1 with *err: nothing of the new
 * file is left then.
 */
int sl_recording_add(const char *dir, enum sl_recorded what, int64_t sequence, const void *bytes, size_t size,
		     const struct sl_recording_limits *limits, struct sl_error *err);

/*
 * A snapshot as it is recorded when the plan says on which past runs it rests: with these in its
 * table "history", so that the decision replays.  *b* is an empty builder of snapshots, which owns
 * the bytes.  0, or -1 with *err.
 */
int sl_recording_with_history(const struct sl_snapshot *snap, const struct sl_plan_image *plan, struct sl_builder *b,
			      const void **bytes, size_t *size, struct sl_error *err);

/* The recorded snapshots of a directory, oldest first. */
struct sl_recording {
	char **path;
	uint32_t count;
};

/* Returns 0, or -1 with *err (SL_ENOENT: no such directory, or nothing recorded in
 * it).  Free it in any case. */
int sl_recording_list(struct sl_recording *r, const char *dir, struct sl_error *err);
void sl_recording_free(struct sl_recording *r);

#endif
