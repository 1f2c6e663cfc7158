/* SPDX-License-Identifier: MIT */
/*
 * plan_answer.h - does a plan answer that snapshot, and is it of a size to go with it?
 *
 * Whether it is feasible, check/check.h says.  This is what must be known before a plan is
 * carried out, whoever made it: it names only what the snapshot has, names nothing twice,
 * and the time and the memory that it takes are bounded by the snapshot and by the limits
 * of plan_image.h.
 */
#ifndef SL_PLAN_ANSWER_H
#define SL_PLAN_ANSWER_H

#include "image/plan_image.h"
#include "image/snapshot.h"

/*
 * A job is started at most once, an array once for each task, where it is in the queue, on
 * nodes in order; it is reserved at most once, said to stay pending at most once, and given
 * SL_PLAN_ACTIONS_MAX actions at most.  0, or -1 with *err: SL_EFORMAT, SL_ELIMIT, SL_ENOMEM.
 */
int sl_plan_answers(const struct sl_plan_image *plan, const struct sl_snapshot *snap, struct sl_error *err);

#endif
