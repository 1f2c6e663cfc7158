/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * finish.h - stops that were begun when slurmctld was killed.
 *
 * The victims of a job are written to disk before the first of them is told to stop (stop.h).  If slurmctld is killed in
 * between, the next slurmctld does not know which of them were told, and nothing would stop the others.  So once after its
 * start it stops each noted victim that still runs and, by its record, was not told.  It stops none of them and gives the
 * job's place up in two cases: one of the victims may not be stopped any more; or the plan at hand starts the job, releases
 * its place or gives it another one.
 *
 * Threads: the cycle thread only.
 */
#ifndef SL_FINISH_H
#define SL_FINISH_H

#include "plugin/commit/work.h"

/* Stop those victims, or give the places up.  Called with each plan, before it is carried out; does nothing unless the
 * book was read from disk and this has not been done since.  Takes slurmctld's locks itself. */
void sl_finish_stops(struct sl_commit *m);

#endif
