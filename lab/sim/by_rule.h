/* SPDX-License-Identifier: MIT */
/*
 * by_rule.h - policies that have promised to go by the rule ORDER (struct sl_order_rule), on any machine.
 *
 * What the policy would ask of a plan is asked of it here, in the same order and with the same words, so that the plan is the
 * same: only Lua is left out.  Where a machine is a pool of processors that is done without a plan, too (pool.h).
 *
 * Ownership: borrows the cluster.  Threads: none.
 */
#ifndef SL_BY_RULE_H
#define SL_BY_RULE_H

#include "model/plan.h"

struct sl_by_rule;

/* NULL with *err: out of memory. */
struct sl_by_rule *sl_by_rule_create(struct sl_cluster *c, struct sl_error *err);
void sl_by_rule_destroy(struct sl_by_rule *b);

/* What the policy promised with its last plan. */
void sl_by_rule_promised(struct sl_by_rule *b, const struct sl_promise *promise);

/* Is it known what the policy would do with the queue as it is now? */
bool sl_by_rule_knows(const struct sl_by_rule *b);

/* Decide: *plan* was made just now, and the cluster's history is that of now.  0, or -1 with *err. */
int sl_by_rule_decide(struct sl_by_rule *b, struct sl_plan *plan, struct sl_error *err);

#endif
