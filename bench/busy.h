/* SPDX-License-Identifier: MIT */
/*
 * busy.h - a snapshot of a busy machine, for measurements.
 *
 * Nodes of 32 cores and 128 GiB; every eighth has 4 GPUs.  Running jobs, begun at
 * random times, hold about half of the cores.  Pending jobs of fifty users: parts of
 * nodes, tasks that may lie anywhere, some whole nodes, a few very wide ones, one in
 * twelve with GPUs; walltimes from ten minutes to two days, memory asked for.  The
 * same seed makes the same snapshot.
 *
 * Ownership: the builder's.  Threads: none.
 */
#ifndef BUSY_H
#define BUSY_H

#include "image/snapshot.h"

struct busy {
	uint32_t nodes, pending;
	uint64_t seed;
	/* out */
	uint32_t running;
	double busy;		/* share of the cores in use */
};

/* Append the snapshot to an empty builder.  Returns 0, or -1 with *err (memory). */
int busy_snapshot(struct sl_builder *b, struct busy *s, struct sl_error *err);

#endif
