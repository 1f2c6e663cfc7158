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
 * Other places for the groups of *gone*, which are taken for gone at *t*, while the job of the booking *b* has its place: on nodes
 * that *b* does not have, side by side, the largest job first, for their whole walltimes.  1 with *move* and *moves*, one for each
 * job, where that is wanted; 0: one of them has none; -1 with *err.  Nothing is booked afterwards.
 */
int plan_find_elsewhere(struct sl_plan *p, const struct booking *b, const struct victim_groups *groups, const bool *gone, int64_t t,
			struct sl_move **move, uint32_t *moves, struct sl_error *err);
void plan_moves_free(struct sl_move *move, uint32_t count);

/* 1 if the running job may be requeued and the plan could place it; 0; -1 with *err. */
int plan_may_move(struct sl_plan *p, uint32_t job, struct sl_error *err);

/*
 * 0 with the reason if the attempt's job needs more than is free in sum at *t*, so that no set of these groups can have places beside
 * it; what they may do with less elsewhere (whole nodes, of which there are smaller ones; GPUs of any type) counts as free.  1, or
 * -1 with *err.  Walks over the nodes.
 */
int plan_has_enough_in_sum(struct attempt *a, const struct victim_groups *groups, int64_t t, struct sl_refusal *why, struct sl_error *err);

#endif
