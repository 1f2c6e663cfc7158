/* SPDX-License-Identifier: MIT */
/*
 * check/planes.c - tasks that go round in planes: each node in turn gets as many, by its index, while it has room.
 *
 * Room is what the cores of the plan host.  Whether a node could have had more is not looked at.
 */
#include "check/private.h"

#include <inttypes.h>
#include <stdlib.h>

/* Is there anything to deal? */
static bool goes_round(const struct check *c, const struct row *r, const struct ask *a)
{
	return c->snap->job.distribution[r->job] == SL_DIST_PLANE && !a->whole && !a->overcommit && a->max_nodes > 1;
}

bool check_deals_planes(const struct check *c, const struct row *r, const struct ask *a)
{
	uint32_t size = c->snap->job.plane_size[r->job];
	uint64_t cpus = (uint64_t) a->cpus_per_task * (a->tasks_per_node ? a->tasks_per_node : 1);

	if (!goes_round(c, r, a))
		return true;
	for (uint32_t g = a->gres.first; g < a->gres.first + a->gres.count; g++)
		if (c->snap->job_gres.per[g] == SL_PER_JOB || c->snap->job_gres.cpus[g])
			return false;
	return size && a->node_cpus <= cpus && !check_counted_nodes(c, r->job) &&
		(r->places.count < 2 || (uint64_t) (r->places.count - 1) * size < a->tasks);
}

/* One round: what is left of *tasks*. */
static uint64_t deal_round(const struct check *c, const struct row *r, const struct ask *a, uint64_t tasks, uint64_t *has)
{
	const struct sl_plan_place_view *place = &c->plan->place;
	uint64_t size = c->snap->job.plane_size[r->job];

	for (uint32_t i = 0; i < r->places.count; i++) {
		uint32_t at = r->places.first + i;
		uint64_t hosts = check_hosted(c, a, place->node[at], place->cores[at]), gets = tasks < size ? tasks : size;

		if (a->tasks_per_node && hosts > a->tasks_per_node)
			hosts = a->tasks_per_node;
		if (gets > hosts - has[i])
			gets = hosts - has[i];
		has[i] += gets;
		tasks -= gets;
	}
	return tasks;
}

int check_planes(struct check *c, const struct row *r, const struct ask *a)
{
	const struct sl_plan_place_view *place = &c->plan->place;
	uint64_t *has, left = 0, tasks = a->tasks;
	int rc = 0;

	if (!goes_round(c, r, a))
		return 0;
	has = calloc(r->places.count, sizeof(*has));
	if (!has)
		return sl_fail(c->err, SL_ENOMEM, "checker: out of memory");
	while (tasks && tasks != left) {
		left = tasks;
		tasks = deal_round(c, r, a, left, has);
	}
	for (uint32_t i = 0; i < r->places.count && !rc; i++) {
		uint32_t at = r->places.first + i, cores = place->cores[at];

		if (a->tasks_per_node || check_hosted(c, a, place->node[at], cores - check_cores_at_once(c, a, place->node[at])) < has[i])
			continue;
		rc = sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s: has %" PRIu32 " cores, its planes come to %" PRIu64
			     " tasks", c->snap->job.id[r->job], check_str(c, c->snap->node.name[place->node[at]]), cores, has[i]);
	}
	free(has);
	return rc;
}
