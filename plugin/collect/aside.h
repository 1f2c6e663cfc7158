/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * aside.h - looking at the queue and leaving no trace.
 *
 * build_job_queue() and the limits write into the records of jobs that wait: reasons, the partition
 * looked at last, what backfill notes for itself.  Where another scheduler decides, in the midst
 * of its own pass perhaps, it must find all that as it left it.
 *
 * What slurmctld itself has decided meanwhile stays: a dependency that is met or never will be, a
 * time from which a job may start.  Its own scheduler finds the same in its next pass.
 *
 * Threads: from begin to end the job write lock is held, without a pause.
 */
#ifndef SL_ASIDE_H
#define SL_ASIDE_H

#include "plugin/records/compat.h"

struct sl_aside;

struct sl_aside *sl_aside_begin(void);

/* What that job is like now, or every one; of those that do not wait nothing is written, nor noted. */
void sl_aside_note(struct sl_aside *a, job_record_t *job);
void sl_aside_note_all(struct sl_aside *a);

/* All that was noted is again as it was. */
void sl_aside_end(struct sl_aside *a);

#endif
