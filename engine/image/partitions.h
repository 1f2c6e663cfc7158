/* SPDX-License-Identifier: MIT */
/*
 * partitions.h - where jobs may run, as the decision journal tells it: the nodes of the
 * partitions, and in which ones a job is queued; and the note that it has.
 *
 * Ownership: an index is the caller's and borrows its snapshot.  Threads: none.
 */
#ifndef SL_PARTITIONS_H
#define SL_PARTITIONS_H

#include "image/json_out.h"
#include "image/snapshot.h"

/* Equal as long as the partitions' names and nodes are. */
uint64_t sl_partitions_digest(const struct sl_snapshot *snap);

/* Write {NAME: NODE-LIST, ...}, partitions without nodes left out.  Returns 0, or -1 with *err. */
int sl_partitions_put(struct sl_json *json, const struct sl_snapshot *snap, struct sl_error *err);

/* What is known of jobs that are queued, by id. */
struct sl_queued;

struct sl_queued *sl_queued_create(const struct sl_snapshot *snap, struct sl_error *err);
void sl_queued_destroy(struct sl_queued *q);

/* Why the alternatives in its comment are ignored; empty for all but a few. */
const char *sl_queued_note(const struct sl_queued *q, uint32_t job_id);

/* Which of its alternatives are not offered, since they ask for more than the job; empty for all but a few.
 * Good until the next call. */
const char *sl_queued_beyond(struct sl_queued *q, uint32_t job_id);

/* The partitions in which it is queued, comma-separated, in the queue's order; empty for a job that is not queued.
 * Good until the next call. */
const char *sl_queued_in(struct sl_queued *q, uint32_t job_id);

/* Fails with SL_ENOENT: the job that is asked about is not queued, and what of it is seen instead. */
int sl_fail_not_queued(const struct sl_snapshot *snap, uint32_t job_id, struct sl_error *err);

#endif
