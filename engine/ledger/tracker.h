/* SPDX-License-Identifier: MIT */
/*
 * tracker.h - runs of jobs, from one snapshot of slurmctld after the other.
 *
 * A job that has ended says itself when it began and ended.  One that was requeued
 * (or preempted so) does not: slurmctld clears its record, and only who saw it run
 * knows.  So the tracker remembers the runs that go on, here and in the ledger, and
 * closes one when its job
 *  - has ended: as the snapshot says;
 *  - waits again: when its nodes are still being cleaned up, as the snapshot says;
 *    else at its new submit time, which slurmctld sets when that is done;
 *  - runs with another start: likewise, at the new submit time;
 *  - is gone: where it was seen last.
 * The latter three are guesses and give way to what accounting knows (schedlua ledger
 * import).
 *
 * A run whose size changes is charged piece by piece: up to the time at which slurmctld says that it was
 * resized (resize_time) it held what it was last seen to hold.  If the snapshot before that has other sizes
 * than the one after it, the larger number of each unit counts for the time in between, since nobody knows
 * what came first.  A piece is in the ledger as soon as it is over; policies count what a running
 * job holds from its last resize on (sl_cluster_ran_at_size()).  What slurmctld says again later, of the
 * size at the end, does not replace what was seen (SL_RUN_WATCHED).  The walltime and the
 * name are what they were when the run was first seen, since its user can change both while it runs; of the walltime
 * a longer one counts.
 *
 * What runs is what slurmctld calls running: suspended time does not count, by
 * its own figures (pre_suspend_s, suspend_time).
 *
 * Ownership: borrows the ledger.  Threads: none.
 */
#ifndef SL_TRACKER_H
#define SL_TRACKER_H

#include "ledger/ledger.h"

struct sl_tracker;

/* Remembers what the ledger says goes on.  NULL with *err. */
struct sl_tracker *sl_tracker_create(struct sl_ledger *l, struct sl_error *err);
void sl_tracker_destroy(struct sl_tracker *t);

/*
 * Add to the ledger what a snapshot tells; not committed yet.  Jobs whose record makes no
 * sense are left out and counted in *strange (may be NULL).  0, or -1 with *err; then it may be fed
 * the same again.
 */
int sl_tracker_feed(struct sl_tracker *t, const struct sl_snapshot *snap, uint32_t *strange, struct sl_error *err);

#endif
