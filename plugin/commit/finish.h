/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * finish.h - stops that were begun when slurmctld was killed.
 *
 * Who is stopped for a job is on the disk before the first is told (stop.h). A slurmctld that comes up after one that was killed
 * may have told none of them, or some, and of those whom it told it may not know any more: then nothing would end them. So once
 * after its start everybody is told who was noted, runs still, and has not been told as far as slurmctld knows; or nobody, and
 * the place is given up, if one of them may not be stopped any more, or this plan starts the job elsewhere, releases its place or has another one for it.
 *
 * Threads: the cycle thread only.
 */
#ifndef SL_FINISH_H
#define SL_FINISH_H

#include "plugin/commit/work.h"

/* With the first snapshot after the book was read, before its plan is carried out. Takes the locks itself. */
void sl_finish_stops(struct sl_commit *m);

#endif
