/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hold.h - places that are held for jobs while others are being stopped for them.
 *
 * A held place is an entry of the book (host/held.h) and nothing else: no record of Slurm has a trace of it.  This plug-in
 * keeps it by hiding its nodes from native starts of other jobs, in a plan as in the priority order of fallback.c.  So
 * nothing is left behind when another scheduler takes over.  A reservation of Slurm's would be left behind, and would have to
 * be made, saved and matched against each job; a node state would be seen by all tools.
 *
 * Threads: the cycle thread only.
 */
#ifndef SL_HOLD_H
#define SL_HOLD_H

#include "plugin/commit/work.h"

/*
 * Enter the places that the plan holds in the book, take off those that it releases, and write the book to disk.  Comes
 * before the rest of the plan.  *refused: by row of the plan's holds, why the place is not held, or NULL if it is.  Takes the
 * locks itself.
 */
void sl_hold_run(struct sl_commit *m, const char **refused);

/* Add the nodes that are held for other jobs to *off, which is allocated if it is NULL and there are such nodes.  Node
 * read lock held. */
void sl_hold_keep_off(struct sl_commit *m, uint32_t job, bitstr_t **off);

/* The nodes that are held for the job, or NULL.  Node read lock held. */
const bitstr_t *sl_hold_nodes(struct sl_commit *m, uint32_t job);

/*
 * Before and after a select_nodes() for a job with a held place: in between, select preempts no job, since the plan decides
 * which jobs are stopped.  It acts as if it had preempted jobs a moment ago (kill_pending in select_nodes()).  _begin()
 * returns a value to be passed to _end().  For a job without a held place that is SL_HOLD_LOUD, and nothing is changed: when
 * select preempts jobs, the time that it notes must stay, because by it select preempts no others while these end.
 */
#define SL_HOLD_LOUD ((time_t) -1)
time_t sl_hold_quiet_begin(const struct sl_commit *m, job_record_t *job);
void sl_hold_quiet_end(job_record_t *job, time_t before);

/*
 * The job planned under that id has started as record *as* (a task of an array has a record of its own): its place is no
 * longer held.  If it could start earlier on other nodes, the log says so; the victims that were told to stop end
 * nevertheless, because Slurm cannot take that back.  True if a place was held.  Locks held.
 */
bool sl_hold_started(struct sl_commit *m, uint32_t job, const job_record_t *as);

/* Give the job's place up.  True if it had one. */
bool sl_hold_end(struct sl_commit *m, uint32_t job);

/* What is remembered of the job from cycle to cycle.  Valid until the next call. */
struct sl_note *sl_hold_note(struct sl_commit *m, uint32_t job);

/* Log that jobs are being stopped for this one, if the log said before why they were not. */
void sl_hold_tell(struct sl_commit *m, uint32_t job);

/* Write the book to disk if it has changed.  False if that failed; the log and the status say so. */
bool sl_hold_save(struct sl_commit *m);

void sl_hold_free(struct sl_commit *m);

#endif
