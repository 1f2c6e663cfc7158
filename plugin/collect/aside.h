/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * aside.h - lets the queue be looked at without a trace.
 *
 * build_job_queue() and the checks of limits write into the records of pending jobs: reasons, the partition looked at last,
 * what backfill notes for itself.  If another scheduler decides, perhaps in the middle of its own pass, it must find these
 * records as it left them.
 *
 * What slurmctld itself has decided meanwhile stays: that a dependency is met or never will be, or from when a job may start.
 * Its own scheduler would find the same in its next pass.
 *
 * Threads: the job write lock is held from sl_aside_begin() to sl_aside_end(), without a pause.
 */
#ifndef SL_ASIDE_H
#define SL_ASIDE_H

#include "plugin/records/compat.h"

struct sl_aside;

struct sl_aside *sl_aside_begin(void);

/* Note the state of that job, or of all jobs; only of pending ones, since the records of others are not written. */
void sl_aside_note(struct sl_aside *a, job_record_t *job);
void sl_aside_note_all(struct sl_aside *a);

/* Put back all that was noted. */
void sl_aside_end(struct sl_aside *a);

#endif
