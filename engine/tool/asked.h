/* SPDX-License-Identifier: MIT */
/*
 * asked.h - a job that nobody has submitted, queued in a copy of a snapshot.
 *
 * Ownership: borrows all it is given.  Threads: none.
 */
#ifndef SL_ASKED_H
#define SL_ASKED_H

#include "image/snapshot.h"
#include "tool/wishes.h"

#define SL_ASKED_PARTITIONS 32

struct sl_asked {
	const char *size;		/* nodes, tasks, gres, time: one alternative as in a comment (image/shapes.h) */
	const char *partitions;		/* comma-separated; NULL: the default one */
	const char *constraint, *user;	/* constraint NULL: none */
	const char *account, *qos;	/* NULL: those of the user's last job */
	int64_t memory_per_node, memory_per_cpu;	/* MiB; 0: not said */
	int64_t priority;		/* 0: not said */
	struct sl_wishes wishes;	/* what else it asks for */
	/* what became of it */
	uint32_t id;			/* of the job; 0: no partition admits it, and *why says so */
	uint32_t partition[SL_ASKED_PARTITIONS], count;	/* where it is queued */
	uint32_t like;			/* the job whose priority it got; 0: it is below all others, or as was asked */
	bool misnamed;			/* after a failure: what was asked for makes no sense, or is not there */
	char why[200];
};

/* Does *size* make sense?  0, or -1 with *err, which names the option. */
int sl_asked_check(const char *size, struct sl_error *err);

/*
 * Copy all of *snap* into an empty builder, and add the job, submitted now: its request, and its queue
 * entries behind those of its priority.  Where the user's last job of the account and QOS waits in that
 * partition, and the queue is in another order than that of submission, it has that job's priority; else it comes
 * behind all others.  0, or -1 with *err.
 */
int sl_asked_add(struct sl_asked *a, const struct sl_snapshot *snap, struct sl_builder *b, struct sl_error *err);

#endif
