/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hold.h - places that are held for jobs for which others are being stopped.
 *
 * A held place is an entry of the book (host/held.h) and nothing else: no record of Slurm has a trace of it. It is kept by
 * what this plug-in does not do: a native start of another job has all nodes of the place closed to it, in a plan as in
 * the priority order of fallback.c. So nothing is left behind where another scheduler takes over. A reservation of Slurm's
 * would be left, and would have to be made, saved and matched against each job; node states would be seen by all tools.
 *
 * Threads: the cycle thread only.
 */
#ifndef SL_HOLD_H
#define SL_HOLD_H

#include "plugin/commit/work.h"

/*
 * Called before anything of the plan is carried out: enter the places that it holds and releases in the book, and write the book
 * to disk. *refused: by row of the plan's holds, why the place is not held, or NULL if it is. Takes the locks itself.
 */
void sl_hold_run(struct sl_commit *m, const char **refused);

/* Add the nodes that are held for others than the job to *off, which is made if it is NULL and there are any. Node read lock. */
void sl_hold_keep_off(struct sl_commit *m, uint32_t job, bitstr_t **off);

/* The nodes that are held for the job, or NULL. Node read lock. */
const bitstr_t *sl_hold_nodes(struct sl_commit *m, uint32_t job);

/*
 * Around a select_nodes() for a job that has a held place: select preempts no job meanwhile, as if jobs had been preempted for it
 * a moment ago (kill_pending in select_nodes()), because the plan decides which jobs are stopped for it. Returns the value that
 * sl_hold_quiet_end() puts back. For a job without such a place that is SL_HOLD_LOUD, nothing is changed, and when select preempts
 * jobs the time that it notes stays: by that it preempts no others while these end.
 */
#define SL_HOLD_LOUD ((time_t) -1)
time_t sl_hold_quiet_begin(const struct sl_commit *m, job_record_t *job);
void sl_hold_quiet_end(job_record_t *job, time_t before);

/*
 * The job planned under that id has started as record *as* (a task of an array has a record of its own): its place is held no
 * longer. If it started on other nodes, because it could start there earlier, the log says so; the victims that were told to stop
 * end nevertheless, because Slurm cannot take that back. True if a place was held. Under the locks.
 */
bool sl_hold_started(struct sl_commit *m, uint32_t job, const job_record_t *as);

/* Give the job's place up. True if one was held. */
bool sl_hold_end(struct sl_commit *m, uint32_t job);

/* What is noted of the job from cycle to cycle; good until the next call. */
struct sl_note *sl_hold_note(struct sl_commit *m, uint32_t job);

/* Victims are being stopped for the job: log it if the log said before why they were not. */
void sl_hold_tell(struct sl_commit *m, uint32_t job);

/* Write the book, if it has changed. False if it could not be written; the log and the status say so. */
bool sl_hold_save(struct sl_commit *m);

void sl_hold_free(struct sl_commit *m);

#endif
