/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lend.h - a job on nodes of other partitions than its own.
 *
 * Slurm allocates from one partition.  So the job is started "through" one that has the
 * nodes of all of them, as if it had been submitted there.  From then on it is a job of
 * two partitions, first the one it runs in, then its own: that is what Slurm keeps of jobs
 * which asked for several, in its state too, and what they are requeued with.  A mark in
 * SystemComment, which is saved as well, says which of them was not asked for.  When such
 * a job pends again it is given back to its own partition, also after a restart of
 * slurmctld, or years later by another instance of this plug-in.
 *
 * All functions: job and node write locks, partition read lock held.  The cycle thread only.
 */
#ifndef SL_LEND_H
#define SL_LEND_H

#include "plugin/records/compat.h"

/* May that partition lend the job so many nodes in all?  NULL, or why not.  Its time
 * limit is the one it would start with. */
const char *sl_lend_refused(job_record_t *job, part_record_t *part, uint32_t nodes);

/* What a job was before it was lent something. */
struct sl_lend {
	uint32_t job_id;		/* also of what is left of an array */
	part_record_t *home, *through;
	sl_list_t parts;		/* all it asked for, NULL: just one */
	char *partition;
	sl_part_prio_t prio;
	bool counted;			/* some partition has a QOS, whose counts follow the job */
};

/* It is in partition *through*, for select_nodes(). */
void sl_lend_begin(struct sl_lend *l, job_record_t *job, part_record_t *through);

/* It was not started: everything is as it was. */
void sl_lend_undo(struct sl_lend *l, job_record_t *job);

/* It was: *from* names the lenders.  What is left of its array is as it was. */
void sl_lend_keep(struct sl_lend *l, job_record_t *job, const char *from);

/* The partition that the job waited in, if it was started on nodes of others, else NULL. */
part_record_t *sl_lend_home(const job_record_t *job);

/* A pending job that was lent something goes back to its own partition. */
void sl_lend_restore(job_record_t *job);

/* Does the job bear the mark?  Cheap. */
bool sl_lend_marked(const job_record_t *job);

#endif
