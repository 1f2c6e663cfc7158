/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * refused.h - rows that the engine took out of a plan, since its checker refused them (image/plan_cut.h).
 *
 * Each is a mistake of sched/lua and not of the site.  They are counted, the log is told, and the snapshot and the
 * plan are kept below DIR/refused for the report: once an hour for each kind, where texts that differ only in their
 * numbers are of one kind, and once in SL_REFUSED_PAUSE_S in any case.
 *
 * Knows nothing of Slurm.  Ownership: none.  Threads: the cycle thread's.
 */
#ifndef SL_REFUSED_H
#define SL_REFUSED_H

#include "image/plan_image.h"
#include "plugin/host/captures.h"
#include "plugin/host/status.h"

#define SL_REFUSED_DIR "refused"
#define SL_REFUSED_KINDS 8		/* that are known; the oldest is forgotten */
#define SL_REFUSED_FILES 8		/* snapshots that are kept, and plans */
#define SL_REFUSED_AGAIN_S 3600.0
#define SL_REFUSED_PAUSE_S 10.0

/* All bytes 0: none were refused so far. */
struct sl_refused_log {
	struct {
		char text[256];
		double told;		/* seconds of sl_clock_s() */
	} kind[SL_REFUSED_KINDS];
	double last;
};

/* What is needed of the cycle in which they were. */
struct sl_refused_in {
	const struct sl_plan_image *plan;
	const void *snapshot;
	size_t size;
	const char *dir;		/* StateSaveLocation/schedlua */
};

/*
 * Count the plan's refused rows.  1 with *line* when the log is to be told; 0.  not_written() is told of what
 * cannot be kept.
 */
int sl_refused_note(struct sl_refused_log *r, struct sl_status *s, const struct sl_refused_in *in, char *line, size_t size,
		    sl_not_written *not_written, void *arg);

#endif
