/* SPDX-License-Identifier: MIT */
/*
 * check/arbitrary.c - tasks of which the job says how many each of its nodes has.
 *
 * Both the places of a row and what it says are in node order.
 */
#include "check/private.h"

#include <inttypes.h>

bool check_says_tasks(const struct check *c, const struct row *r, const struct ask *a)
{
	const struct sl_job_view *job = &c->snap->job;
	struct sl_range says = job->arbitrary_tpn[r->job];
	uint64_t tasks = 0;

	if (job->distribution[r->job] != SL_DIST_ARBITRARY || !says.count)
		return true;
	for (uint32_t i = says.first; i < says.first + says.count; i++) {
		if (!c->snap->node_tasks.tasks[i])
			return false;
		tasks += c->snap->node_tasks.tasks[i];
	}
	for (uint32_t g = a->gres.first; g < a->gres.first + a->gres.count; g++)
		if (c->snap->job_gres.per[g] == SL_PER_JOB || c->snap->job_gres.cpus[g])
			return false;
	return tasks == a->tasks && !r->shape && !a->overcommit && !a->tasks_per_node &&
		job->pn_min_cpus[r->job] <= a->cpus_per_task && !check_counted_nodes(c, r->job);
}

/* Has the place cores and gres for so many tasks, and no core more? */
static int check_place(struct check *c, const struct row *r, const struct ask *a, uint32_t i, uint32_t tasks)
{
	uint32_t node = c->plan->place.node[i], cores = c->plan->place.cores[i], id = c->snap->job.id[r->job];
	uint32_t once = check_cores_at_once(c, a, node);
	const char *name = check_str(c, c->snap->node.name[node]);

	if (check_hosted(c, a, node, cores) < tasks || (!a->whole && check_hosted(c, a, node, cores - once) >= tasks))
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s: has %" PRIu32 " cores, for %" PRIu32 " tasks",
			       id, name, cores, tasks);
	for (uint32_t g = a->gres.first; g < a->gres.first + a->gres.count; g++)
		if (c->snap->job_gres.per[g] == SL_PER_TASK &&
		    check_gres_at(c, g, i) < (uint64_t) c->snap->job_gres.count[g] * tasks)
			return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s: has too few %s for %" PRIu32 " tasks", id,
				       name, check_str(c, c->snap->job_gres.name[g]), tasks);
	return 0;
}

int check_arbitrary(struct check *c, const struct row *r, const struct ask *a)
{
	struct sl_range says = c->snap->job.arbitrary_tpn[r->job];
	const struct sl_node_tasks_view *on = &c->snap->node_tasks;

	if (c->snap->job.distribution[r->job] != SL_DIST_ARBITRARY || !says.count)
		return 0;
	if (says.count != r->places.count)
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": has %" PRIu32 " nodes, says what %" PRIu32 " of them have",
			       c->snap->job.id[r->job], r->places.count, says.count);
	for (uint32_t i = 0; i < says.count; i++) {
		uint32_t at = r->places.first + i, node = c->plan->place.node[at];

		if (on->node[says.first + i] != node)
			return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s: is none of those that it says tasks of",
				       c->snap->job.id[r->job], check_str(c, c->snap->node.name[node]));
		if (check_place(c, r, a, at, on->tasks[says.first + i]) < 0)
			return -1;
	}
	return 0;
}
