/* SPDX-License-Identifier: MIT */
/*
 * plan_elsewhere.h - other places for running jobs that are stopped so that a job fits; see preempt.h, "Consolidation".
 *
 * Ownership: whoever asks for moves ends them with plan_moves_free().  Threads: none.
 */
#ifndef SL_PLAN_ELSEWHERE_H
#define SL_PLAN_ELSEWHERE_H

#include "model/plan_private.h"
#include "model/preempt.h"

/*
 * Find other places for the jobs of the groups in *gone*, which are off the timeline from *t* on, while the job of booking
 * *b* has its place.  The places are on nodes that *b* does not use, beside each other, for whole walltimes; the largest job
 * is placed first.  1 with one *move* per job (if move is not NULL); 0: one of them has no place; -1 with *err.  Nothing
 * stays booked.
 */
int plan_find_elsewhere(struct sl_plan *p, const struct booking *b, const struct victim_groups *groups, const bool *gone, int64_t t,
			struct sl_move **move, uint32_t *moves, struct sl_error *err);
void plan_moves_free(struct sl_move *move, uint32_t count);

/* 1 if the running job may be requeued and the engine could place it; 0; -1 with *err. */
int plan_may_move(struct sl_plan *p, uint32_t job, struct sl_error *err);

/*
 * 0 with the reason if the job of the attempt needs more than is free in sum at *t*, so that no set of these groups could be
 * placed beside it.  What the groups may need less of elsewhere (smaller whole nodes; other types of GPUs) counts as free.  1
 * otherwise, or -1 with *err.  Walks over all nodes.
 */
int plan_has_enough_in_sum(struct attempt *a, const struct victim_groups *groups, int64_t t, struct sl_refusal *why, struct sl_error *err);

#endif
