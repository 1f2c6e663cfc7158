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
 * Before anything of the plan is carried out: what it holds and releases goes into the book, and the book onto the disk.
 * *refused: for each row of the table of holds why its place is not held; NULL where it is. Takes the locks itself.
 */
void sl_hold_run(struct sl_commit *m, const char **refused);

/* Add the nodes that are held for others than the job to *off, which is made if it is NULL and there are any. Node read lock. */
void sl_hold_keep_off(struct sl_commit *m, uint32_t job, bitstr_t **off);

/* The nodes that are held for the job, or NULL. Node read lock. */
const bitstr_t *sl_hold_nodes(struct sl_commit *m, uint32_t job);

/*
 * Around a select_nodes() for a job that a place is held for: select preempts nobody meanwhile, as for a job for which others were
 * preempted a moment ago (kill_pending in select_nodes()), since who is stopped for it is the plan's to say. Returns what
 * sl_hold_quiet_end() puts back.
 */
time_t sl_hold_quiet_begin(const struct sl_commit *m, job_record_t *job);
void sl_hold_quiet_end(job_record_t *job, time_t before);

/*
 * A job that was planned under that id has started as that record, which of an array is another one than the record that waits:
 * no place is held for it any longer. If it is on other nodes, since it could start there earlier, that is said; who was told to end
 * for it ends nevertheless, since Slurm cannot take that back. True if a place was held. Under the locks.
 */
bool sl_hold_started(struct sl_commit *m, uint32_t job, const job_record_t *as);

/* It is to have no place any longer. True if one was held. */
bool sl_hold_end(struct sl_commit *m, uint32_t job);

/* What is noted of the job from cycle to cycle; good until the next call. */
struct sl_note *sl_hold_note(struct sl_commit *m, uint32_t job);

/* Others are being stopped for the job: that is said if it was said before why they were not. */
void sl_hold_tell(struct sl_commit *m, uint32_t job);

/* Write the book, if it has changed. False, with the trouble told of: it could not be written. */
bool sl_hold_save(struct sl_commit *m);

void sl_hold_free(struct sl_commit *m);

#endif
