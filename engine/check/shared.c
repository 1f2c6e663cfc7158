/* SPDX-License-Identifier: MIT */
/*
 * check/shared.c - cores that several jobs may have: will select find them when the job starts?
 *
 * It keeps the jobs of a partition in rows, one for each job that may have a core, and needs one row that has enough
 * cores on all nodes.  Which jobs are in which is not in the snapshot; but a row that lacks some on a node has all the
 * others there in use, and a job there, so rows that may lack them can be counted.
 */
#include "check/private.h"

#include <inttypes.h>

/* Rows that may lack so many cores on a node, the job's own. */
static uint32_t count_poor(const struct check *c, uint32_t node, uint32_t cores)
{
	int64_t others = c->in_use[node] - cores, most = c->snap->node.cores[node] - cores + 1, jobs = c->jobs_there[node] - 1;
	int64_t poor = others > 0 ? others / most : 0;

	return (uint32_t) (poor < jobs ? poor : jobs);
}

/* Do jobs of another partition share the node, or is a part of it reserved? */
static int has_others(struct check *c, uint32_t partition, uint32_t node)
{
	const struct sl_snapshot *s = c->snap;

	for (uint32_t p = 0; p < s->partition.rows; p++)
		if (p != partition && s->partition.oversubscribe[p] > 1 && check_member(c, p, node))
			return 1;
	for (uint32_t r = 0; r < s->reservation.rows; r++)
		if (s->reservation.cores[r] && s->reservation.end_time[r] > c->now && check_reserved(c, r, node))
			return 1;
	return 0;
}

const char *check_shared_native(const struct check *c, const struct row *r, const struct ask *a)
{
	const struct sl_snapshot *s = c->snap;
	uint32_t cap = s->partition.max_cpus_per_node[r->partition];

	if (check_sharing(c, r->job, r->partition) == 1)
		return NULL;
	for (uint32_t g = a->gres.first; g < a->gres.first + a->gres.count; g++)
		if (s->job_gres.cpus[g])
			return "shared cores beside CPUs with gres";
	return r->through != SL_NONE || a->whole || (cap && cap != SL_NONE) || s->meta.select_flags[0] & SL_SELECT_SOCKET ?
		"shared cores beside other counts of them" : NULL;
}

int check_shared(struct check *c, const struct row *r, const struct ask *a)
{
	const struct sl_plan_place_view *place = &c->plan->place;
	uint32_t rows = check_sharing(c, r->job, r->partition), id = c->snap->job.id[r->job];
	bool settled = r->places.count == 1 || (a->tasks == r->places.count && !a->overcommit) ||
		(a->tasks_per_node && (uint64_t) a->tasks_per_node * r->places.count == a->tasks);
	uint64_t poor = 0;

	for (uint32_t i = r->places.first; rows > 1 && i < r->places.first + r->places.count; i++) {
		uint32_t node = place->node[i], all = c->snap->node.cores[node];
		const char *name = check_str(c, c->snap->node.name[node]);

		if (place->cores[i] > all)
			return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s: has %" PRIu32 " cores, no row has more than %"
				       PRIu32, id, name, place->cores[i], all);
		if (has_others(c, r->partition, node))
			return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s: only Slurm's select can place it (shared cores "
				       "of several partitions, or beside a reservation)", id, name);
		poor += r->start ? count_poor(c, node, place->cores[i]) : 0;
	}
	if (rows == 1 || !r->start || poor < (settled ? rows : 1))
		return 0;
	return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": of the %" PRIu32 " rows of its partition %" PRIu64
		       " may lack cores for it", id, rows, poor);
}
