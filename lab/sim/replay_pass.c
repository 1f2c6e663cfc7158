/* SPDX-License-Identifier: MIT */
/*
 * replay_pass.c - what a replay changes in the simulated cluster before a pass.
 */
#include "sim/replay.h"

#include "base/order.h"

/* -- the order of the queue ---------------------------------------------------------- */

/* Slurm's: PriorityTier, priority, submission. */
static int by_slurm(const void *a, const void *b, void *arg)
{
	const struct sl_entry *x = a, *y = b;
	const struct sl_snapshot *s = arg;
	const uint32_t *tier = s->partition.priority_tier;
	const struct sl_job_view *job = &s->job;

	return SL_ORDER(tier[y->partition], tier[x->partition]) ?:
		SL_ORDER(job->priority[y->job], job->priority[x->job]) ?:
		SL_ORDER(job->submit_time[x->job], job->submit_time[y->job]) ?: SL_ORDER(x->job, y->job) ?:
		SL_ORDER(x->partition, y->partition);
}

static int set_down(const struct sl_replay *r, struct sl_cluster *c, struct sl_error *err)
{
	const struct sl_node_view *node = &r->workload->snap.node;
	struct sl_nodeset down = { 0 };
	int rc = 0;

	for (uint32_t n = 0; !rc && n < node->rows; n++)
		if (node->state[n] & SL_NODE_UNUSABLE)
			rc = sl_nodeset_add(&down, n, n, err);
	if (!rc)
		rc = sl_cluster_set_down(c, &down, err);
	sl_nodeset_free(&down);
	return rc;
}

int sl_replay_before_pass(struct sl_cluster *c, int64_t now, void *arg, struct sl_error *err)
{
	struct sl_replay *r = arg;
	struct sl_snapshot *s = &r->workload->snap;
	uint32_t first = r->applied;

	for (; r->applied < r->snapshots && r->at_s[r->applied] <= now; r->applied++) {
		uint32_t at = r->applied;

		for (uint32_t i = r->event_of[at]; i < r->event_of[at + 1]; i++)
			*(int64_t *) (uintptr_t) &s->job.priority[r->event[i].job] = r->event[i].priority;
		for (uint32_t i = r->node_of[at]; i < r->node_of[at + 1]; i++)
			*(uint32_t *) (uintptr_t) &s->node.state[r->node[i].node] = r->node[i].state;
	}
	if (r->node_of[r->applied] > r->node_of[first] && set_down(r, c, err) < 0)
		return -1;
	sl_cluster_sort(c, by_slurm, s);
	return 0;
}
