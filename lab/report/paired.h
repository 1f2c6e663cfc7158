/* SPDX-License-Identifier: MIT */
/*
 * paired.h - how sure one is that two schedules of the same jobs differ.
 *
 * Waits of jobs that follow each other depend on each other, so single jobs are no independent
 * samples.  The differences are therefore cut into blocks of jobs that follow each other by
 * submission (batch means).  Blocks need not have equal numbers of jobs: the mean over jobs is the
 * ratio of the blocks' sums to their numbers of jobs, and the interval is that of the ratio, from
 * what each block's sum differs by from its jobs x the mean: Student's t with one degree of freedom
 * less than there are blocks.  With equal numbers that is the interval of the blocks' means.  No
 * random number is drawn: the same schedules give the same interval.
 *
 * Ownership: the caller's; sl_paired_free() frees what was grown.  Threads: none.
 */
#ifndef SL_PAIRED_H
#define SL_PAIRED_H

#include <stdint.h>

#include "base/error.h"

#define SL_PAIRED_BLOCKS 20	/* of all pairs of schedules together; more if there are more pairs */

/* Differences of one figure, collected job by job.  All zero: none yet. */
struct sl_paired {
	double sum;
	uint32_t n;
	struct { double sum; uint32_t n; } *block;
	uint32_t blocks, room;		/* the block that grows counted */
};

/* Begin a block; one that got no job is used again.  0, or -1 with *err. */
int sl_paired_begin_block(struct sl_paired *p, struct sl_error *err);

/* The difference of a job of the block that was begun last. */
void sl_paired_add(struct sl_paired *p, double difference);

/* Blocks that have jobs. */
uint32_t sl_paired_count(const struct sl_paired *p);

/* Mean of all differences (NAN if there are none), and half of its 95 % interval (NAN with fewer than two blocks). */
double sl_paired_mean(const struct sl_paired *p, double *half);

/* Blocks that a pair of schedules of *jobs* jobs is cut into if there are *pairs* of them. */
uint32_t sl_paired_blocks(uint32_t jobs, uint32_t pairs);

void sl_paired_free(struct sl_paired *p);

#endif
