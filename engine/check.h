/* SPDX-License-Identifier: MIT */
/*
 * check.h - is this plan feasible on that snapshot?
 *
 * Shares no code with what made the plan: no timeline, no nodeset, no place, no
 * cluster.  It adds up, node by node, what runs, what the plan starts and what
 * it reserves, at every instant at which something changes.  Slow and obvious on
 * purpose; O(bookings x log bookings) per node.
 */
#ifndef SL_CHECK_H
#define SL_CHECK_H

#include "plan_image.h"
#include "snapshot.h"

/*
 * Returns 0 when every start and reservation is feasible: sequence and stamps
 * match, job queued in that partition, no job twice, nodes of the partition
 * and usable, requested and excluded nodes honoured, node and task counts
 * within the request, cores, memory and gres of every node within its capacity
 * at every instant, licences within their count, no start before begin time or
 * after the deadline.  Otherwise -1 with *err naming the job, the node and the
 * figures; the first violation found.
 */
int sl_check_plan(const struct sl_snapshot *snap, const struct sl_plan_image *plan, struct sl_error *err);

#endif
