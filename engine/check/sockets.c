/* SPDX-License-Identifier: MIT */
/*
 * check/sockets.c - sockets, of whole nodes and of parts of them.
 *
 * Which cores of a node are free is not in the snapshot: of parts of nodes there have to be so many of
 * them that the sockets do wherever those are.
 */
#include "check/private.h"

#include <inttypes.h>

static uint32_t count_sockets(const struct check *c, uint32_t node)
{
	return c->snap->node.sockets[node] ? c->snap->node.sockets[node] : 1;
}

static uint32_t cores_of_one(const struct check *c, uint32_t node)
{
	return c->snap->node.cores[node] / count_sockets(c, node);
}

uint32_t check_cores_at_once(const struct check *c, const struct ask *a, uint32_t node)
{
	uint32_t cores = cores_of_one(c, node);

	return c->snap->meta.select_flags[0] & SL_SELECT_SOCKET && !a->whole && cores ? cores : 1;
}

/* Are its tasks on a socket such as leave no CPU of it over? */
static bool leaves_no_cpu(const struct check *c, const struct ask *a, uint32_t node, uint32_t threads)
{
	uint64_t cpus = (uint64_t) a->few_on_core * a->cpus_per_task, cores = cores_of_one(c, node);

	if (cpus && cpus < threads)
		threads = (uint32_t) cpus;
	return check_hosted(c, a, node, cores) * a->cpus_per_task == cores * threads;
}

/* More than a core of each node, of whose sockets select takes one in turn for it, beside gres? */
static bool takes_sockets_in_turn(const struct check *c, const struct row *r, const struct ask *a, uint32_t node,
				  uint32_t threads)
{
	return c->snap->meta.select_flags[0] & SL_SELECT_GRES_IN_TURN && a->gres.count && count_sockets(c, node) != 1 &&
		(!a->tasks || a->tasks > r->places.count || a->cpus_per_task > threads || a->node_cpus > threads);
}

/* They are whole, and none is of the system. */
static int check_whole_sockets(struct check *c, const struct row *r, const struct ask *a, uint32_t i, uint32_t threads)
{
	uint32_t node = c->plan->place.node[i], cores = c->plan->place.cores[i], each = cores_of_one(c, node);
	const char *name = check_str(c, c->snap->node.name[node]);

	if (c->snap->node.core_spec[node] || (!a->whole && each * count_sockets(c, node) != c->snap->node.cores[node]) ||
	    (!a->whole && r->places.count > 1 && !leaves_no_cpu(c, a, node, threads)) ||
	    (!a->whole && takes_sockets_in_turn(c, r, a, node, threads)))
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s: only Slurm's select can place it (allocation by socket)",
			       c->snap->job.id[r->job], name);
	if (cores % check_cores_at_once(c, a, node))
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s: has %" PRIu32 " cores, sockets of it have %" PRIu32,
			       c->snap->job.id[r->job], name, cores, each);
	return 0;
}

bool check_has_sockets(const struct check *c, uint32_t j)
{
	const struct sl_job_view *job = &c->snap->job;

	return job->sockets_per_node[j] || job->cores_per_socket[j] || job->ntasks_per_socket[j];
}

/* Cores of a socket that its tasks may be on. */
static uint64_t cores_lent(const struct check *c, const struct ask *a, uint32_t node, uint32_t threads)
{
	uint64_t each = cores_of_one(c, node), cpus = (uint64_t) a->few_on_core * a->cpus_per_task, cores;

	if (!a->tasks_per_socket)
		return each;
	if (!cpus || cpus > threads)
		cpus = threads;
	cores = ((uint64_t) a->tasks_per_socket * a->cpus_per_task + cpus - 1) / cpus;
	return cores < each ? cores : each;
}

uint64_t check_socket_cores(const struct check *c, const struct ask *a, uint32_t node, uint32_t threads)
{
	return count_sockets(c, node) * cores_lent(c, a, node, threads);
}

/* Cores that are lent for certain when *lost* of a node are in use: those in use are the ones that would be lent,
 * of as many sockets as can be left with fewer than *fewest* first. */
static uint64_t lent_at_least(uint64_t sockets, uint64_t each, uint64_t lent, uint64_t fewest, uint64_t wanted,
			      uint64_t lost)
{
	uint64_t least = UINT64_MAX;

	if (fewest > each)	/* no socket has as many, so none lends */
		return 0;
	for (uint64_t poor = 0; poor <= sockets; poor++) {	/* sockets that lend nothing any more */
		uint64_t cost = poor * (each - fewest + 1), left = lost - cost, rich = sockets - poor, lend;

		if (cost > lost)
			break;
		if (rich < wanted)
			return 0;
		/* of one more, what is beyond those that are lent is in use first */
		lend = rich * lent;
		if (rich && left > each - lent)
			lend -= left - (each - lent) < lent ? left - (each - lent) : lent;
		least = lend < least ? lend : least;
	}
	return least;
}

/* Is the number of tasks on each of its nodes settled: by itself, or since all have as many? */
static bool has_settled_tasks(const struct check *c, const struct row *r, const struct ask *a)
{
	const uint32_t *cores = &c->plan->place.cores[r->places.first];
	uint32_t nodes = r->places.count;

	if (a->tasks_per_node)
		return nodes == 1 || (uint64_t) a->tasks_per_node * nodes == a->tasks;
	for (uint32_t i = 1; i < nodes; i++)
		if (cores[i] != cores[0])
			return false;
	return a->tasks % nodes == 0;
}

/* Of a part of a node. */
static int check_part(struct check *c, const struct row *r, const struct ask *a, uint32_t i, uint32_t threads)
{
	const struct sl_job_view *job = &c->snap->job;
	uint32_t node = c->plan->place.node[i], cores = c->plan->place.cores[i], j = r->job;
	uint64_t each = cores_of_one(c, node), fewest = job->cores_per_socket[j] ? job->cores_per_socket[j] : 1;
	int64_t others = c->in_use[node] - cores;
	uint64_t lent;

	if (!has_settled_tasks(c, r, a))
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32
			       ": only Slurm's select can place it (sockets of parts of several nodes)", job->id[j]);
	if (r->at > c->now || !each)	/* whatever is planned until then */
		return 0;
	if (a->gres.count && others > 0)
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s: only Slurm's select can place it (sockets of parts of "
			       "a node beside gres)", job->id[j], check_str(c, c->snap->node.name[node]));
	lent = lent_at_least(count_sockets(c, node), each, cores_lent(c, a, node, threads), fewest,
			     job->sockets_per_node[j] ? job->sockets_per_node[j] : 1, others > 0 ? (uint64_t) others : 0);
	if (lent < cores)
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s: with %" PRId64 " cores in use its sockets are sure to "
			       "lend %" PRIu64 ", needs %" PRIu32, job->id[j], check_str(c, c->snap->node.name[node]), others,
			       lent, cores);
	return 0;
}

int check_sockets(struct check *c, const struct row *r, const struct ask *a, uint32_t i, uint32_t threads)
{
	const struct sl_job_view *job = &c->snap->job;
	uint32_t node = c->plan->place.node[i], j = r->job, sockets = count_sockets(c, node), cores = cores_of_one(c, node);
	const char *name = check_str(c, c->snap->node.name[node]);

	if (c->snap->meta.select_flags[0] & SL_SELECT_SOCKET && check_whole_sockets(c, r, a, i, threads) < 0)
		return -1;
	if (!check_has_sockets(c, j))
		return 0;
	if (c->snap->node.core_spec[node] || (uint64_t) cores * sockets != c->snap->node.cores[node])
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s: only Slurm's select can place it (unequal sockets)",
			       job->id[j], name);
	if (job->sockets_per_node[j] > sockets || job->cores_per_socket[j] > cores)
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s: has %" PRIu32 " sockets of %" PRIu32
			       " cores, needs %" PRIu32 " of %" PRIu32, job->id[j], name, sockets, cores,
			       job->sockets_per_node[j] ? job->sockets_per_node[j] : 1,
			       job->cores_per_socket[j] ? job->cores_per_socket[j] : 1);
	return a->whole ? 0 : check_part(c, r, a, i, threads);
}

int check_socket_gres(struct check *c, const struct row *r, const struct ask *a, uint32_t want)
{
	const struct sl_job_view *job = &c->snap->job;
	uint32_t count = c->snap->job_gres.count[want], j = r->job;

	if (c->snap->job_gres.per[want] != SL_PER_SOCKET || !count)
		return 0;
	if (!a->whole || a->gres.count > 1 || a->tasks_per_socket || a->overcommit ||
	    job->asks[j] & (SL_ASKS_BOUND_GRES | SL_ASKS_TASK_GRES | SL_ASKS_TASKS_PER_GRES))
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": only Slurm's select can place it (gres per socket)", job->id[j]);
	for (uint32_t i = r->places.first; i < r->places.first + r->places.count; i++) {
		uint32_t node = c->plan->place.node[i];
		/* dealt out as evenly as can be, no socket has more than this */
		uint64_t alike = (check_gres_at(c, want, i) + count_sockets(c, node) - 1) / count_sockets(c, node);

		if (alike < count)
			return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s: some socket is sure to have %" PRIu64
				       " %s, needs %" PRIu32, job->id[j], check_str(c, c->snap->node.name[node]), alike,
				       check_str(c, c->snap->job_gres.name[want]), count);
	}
	return 0;
}
