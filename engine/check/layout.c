/* SPDX-License-Identifier: MIT */
/*
 * check/layout.c - does a layout give the job what it asks for?
 */
#include "check/private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

static uint32_t capped_product(uint32_t a, uint32_t b)
{
	return (uint32_t) sl_product_within(a, b, UINT32_MAX);
}

/* -- the request --------------------------------------------------------- */

static void ask_size(const struct check *c, uint32_t j, uint32_t p, struct ask *a, uint32_t num_tasks,
		     uint32_t min_cpus, uint32_t max_nodes)
{
	const struct sl_job_view *job = &c->snap->job;
	uint32_t most = c->snap->partition.max_nodes[p], few = c->snap->partition.min_nodes[p];

	if (max_nodes && job->flags[j] & SL_JOBF_ANY_MAX_NODES)
		most = 0;
	if (job->flags[j] & SL_JOBF_ANY_MIN_NODES)
		few = 0;
	a->min_nodes = sl_max(sl_max(a->min_nodes, few), 1);
	a->gres_cpus = a->overcommit ? 0 : check_gres_cpus(c, a->gres, SL_PER_NODE) +
		check_gres_cpus(c, a->gres, SL_PER_JOB) / a->min_nodes;
	a->node_cpus = sl_max(a->node_cpus, a->gres_cpus < UINT32_MAX ? (uint32_t) a->gres_cpus : UINT32_MAX);
	/* slurmctld raises min_cpus to the CPUs that come with the gres of all nodes: these do not stand for tasks */
	if (num_tasks && !a->overcommit && min_cpus <= check_gres_cpus(c, a->gres, SL_PER_NODE) * a->min_nodes)
		min_cpus = capped_product(num_tasks, a->cpus_per_task);
	a->tasks = (uint32_t) sl_quotient_up(min_cpus, a->cpus_per_task);
	if (!a->overcommit)
		a->tasks = sl_max(a->tasks, num_tasks);
	a->tasks_max = sl_max(a->tasks, job->max_cpus[j] / a->cpus_per_task);
	a->max_nodes = sl_max(a->min_nodes, a->tasks_max);
	for (uint32_t g = a->gres.first; g < a->gres.first + a->gres.count; g++)
		if (c->snap->job_gres.per[g] == SL_PER_JOB)
			a->max_nodes = sl_max(a->max_nodes, c->snap->job_gres.count[g]);
		else if (c->snap->job_gres.per[g] == SL_PER_TASK && a->overcommit)
			a->max_nodes = sl_max(a->max_nodes, num_tasks);
	if (max_nodes)
		a->max_nodes = max_nodes;
	if (num_tasks)
		a->max_nodes = sl_min(a->max_nodes, sl_max(num_tasks, a->min_nodes));
	if (most && most < a->max_nodes)
		a->max_nodes = most;
	if (a->max_nodes == 1)
		a->node_cpus = sl_max(a->node_cpus, capped_product(a->tasks, a->cpus_per_task));
}

static void ask_time(const struct check *c, uint32_t j, uint32_t p, struct ask *a)
{
	const struct sl_job_view *job = &c->snap->job;
	bool open;

	open = !a->time_limit && (job->flags[j] & SL_JOBF_DEFAULT_TIME);
	if (open)	/* DefaultTime, else MaxTime, which then binds also those that need not heed it */
		a->time_limit = c->snap->partition.default_time[p] ? c->snap->partition.default_time[p] :
			c->snap->partition.max_time[p];
	else if (!a->time_limit)
		a->time_limit = job->time_limit[j];
	open |= a->time_limit == SL_UNLIMITED;
	if (a->time_limit == SL_UNLIMITED && !(job->flags[j] & SL_JOBF_ANY_TIME))
		a->time_limit = c->snap->partition.max_time[p];
	if (open && job->time_min[j] > a->time_limit)
		a->time_limit = job->time_min[j];
	a->time_floor = a->time_limit;
	if (job->time_min[j] && job->time_min[j] < a->time_limit)
		a->time_floor = job->time_min[j];
	else if (open && job->deadline[j])
		a->time_floor = 1;
}

/* What it says, or what its gres bring. */
static uint32_t cpus_of_task(const struct check *c, const struct ask *a)
{
	uint64_t cpus = check_gres_cpus(c, a->gres, SL_PER_TASK);

	return sl_max(a->cpus_per_task, cpus < UINT32_MAX ? (uint32_t) cpus : UINT32_MAX);
}

void check_ask(const struct check *c, uint32_t j, uint32_t p, uint32_t shape, struct ask *a)
{
	const struct sl_snapshot *s = c->snap;
	const struct sl_job_view *job = &s->job;
	uint32_t flags = job->flags[j], select = s->meta.select_flags[0], i;

	*a = (struct ask) {
		.min_nodes = sl_max(job->min_nodes[j], check_counted_nodes(c, j)), .cpus_per_task = sl_max(job->cpus_per_task[j], 1),
		.tasks_per_node = job->ntasks_per_node[j], .tasks_per_core = job->ntasks_per_core[j],
		.few_on_core = job->ntasks_per_core[j], .tasks_per_socket = job->ntasks_per_socket[j],
		.by_socket = sl_snapshot_by_socket(s, p), .threads = job->threads_per_core[j], .node_cpus = sl_max(job->pn_min_cpus[j], 1),
		.gres = job->gres[j], .overcommit = flags & SL_JOBF_OVERCOMMIT,
		.whole = (flags & SL_JOBF_EXCLUSIVE) || check_core_spec(c, j) || (select & SL_SELECT_WHOLE_NODE) ||
			!s->partition.oversubscribe[p],
	};
	if (!a->tasks_per_core && (select & SL_SELECT_ONE_TASK_PER_CORE))
		a->tasks_per_core = 1;
	if (!shape) {
		uint32_t tasks = job->num_tasks[j];

		if (a->overcommit)
			a->cpus_per_task = 1;
		else
			a->cpus_per_task = cpus_of_task(c, a);
		if (!a->overcommit)
			a->node_cpus = sl_max(a->node_cpus, a->cpus_per_task);
		if (a->tasks_per_node && !a->overcommit)
			a->node_cpus = sl_max(a->node_cpus, capped_product(a->cpus_per_task, tasks ?
					      sl_min(tasks, a->tasks_per_node) : a->tasks_per_node));
		ask_size(c, j, p, a, tasks, sl_max(job->min_cpus[j], 1), job->max_nodes[j]);
	} else {
		i = job->shapes[j].first + shape - 1;
		a->min_nodes = sl_max(s->shape.min_nodes[i], check_counted_nodes(c, j));
		a->cpus_per_task = sl_max(s->shape.cpus_per_task[i], 1);
		a->tasks_per_node = s->shape.ntasks_per_node[i];
		a->gres = s->shape.gres[i];
		a->time_limit = s->shape.time_limit[i];
		a->overcommit = false;
		a->cpus_per_task = cpus_of_task(c, a);
		a->node_cpus = capped_product(a->cpus_per_task, sl_max(a->tasks_per_node, 1));
		ask_size(c, j, p, a, s->shape.num_tasks[i],
			 capped_product(sl_max(s->shape.num_tasks[i], 1), a->cpus_per_task), s->shape.max_nodes[i]);
	}
	ask_time(c, j, p, a);
}

/* -- one node ------------------------------------------------------------ */

static uint32_t usable_threads(const struct check *c, const struct ask *a, uint32_t node)
{
	uint32_t t = sl_max(c->snap->node.threads[node], 1);

	return a->threads && a->threads < t ? a->threads : t;
}

static uint32_t count_sockets(const struct check *c, uint32_t node)
{
	return sl_max(c->snap->node.sockets[node], 1);
}

/* Cores are allocated in multiples of this: whole sockets with CR_Socket. */
static uint32_t cores_at_once(const struct check *c, const struct ask *a, uint32_t node)
{
	uint32_t cores = c->snap->node.cores[node] / count_sockets(c, node);

	return a->by_socket && !a->whole && cores ? cores : 1;
}

/* The number of tasks that fit on so many cores of the node. */
uint64_t check_hosted(const struct check *c, const struct ask *a, uint32_t node, uint64_t cores)
{
	uint32_t t = usable_threads(c, a, node);

	if (!a->tasks_per_core)
		return cores * t / a->cpus_per_task;
	if (a->cpus_per_task <= t)
		return cores * sl_min(a->tasks_per_core, t / a->cpus_per_task);
	return cores / sl_quotient_up(a->cpus_per_task, t);
}

uint32_t check_least_cores(const struct check *c, const struct ask *a, uint32_t node)
{
	uint32_t cpus = usable_threads(c, a, node), once = cores_at_once(c, a, node);

	if (a->few_on_core)
		cpus = sl_min(cpus, capped_product(a->few_on_core, a->cpus_per_task));
	return capped_product(sl_max((uint32_t) sl_quotient_up(a->node_cpus, (uint64_t) cpus * once), 1), once);
}

int64_t check_memory(const struct check *c, uint32_t j, uint32_t node, uint32_t cores)
{
	const struct sl_job_view *job = &c->snap->job;
	int64_t size = c->snap->node.memory[node], cpus = (int64_t) cores * sl_max(c->snap->node.threads[node], 1);

	if (!(c->snap->meta.select_flags[0] & SL_SELECT_MEMORY) || size <= 0)
		return 0;
	if (job->memory_per_node[j] > 0)
		return job->memory_per_node[j];
	if (job->memory_per_cpu[j] <= 0)
		return size;
	return job->memory_per_cpu[j] > INT64_MAX / (cpus ? cpus : 1) ? INT64_MAX : job->memory_per_cpu[j] * cpus;
}

static int64_t needed_memory(const struct check *c, uint32_t j, const struct ask *a, uint32_t place)
{
	uint32_t node = c->plan->place.node[place];
	int64_t memory = check_memory(c, j, node, c->plan->place.cores[place]), of_gres;

	return memory && check_gres_memory(c, a, place, &of_gres) ? of_gres : memory;
}

bool check_same_gres(const struct check *c, uint32_t want, uint32_t kind)
{
	const struct sl_snapshot *s = c->snap;

	if (strcmp(check_str(c, s->job_gres.name[want]), check_str(c, s->gres_kind.name[kind])))
		return false;
	return !*check_str(c, s->job_gres.type[want]) ||
		!strcmp(check_str(c, s->job_gres.type[want]), check_str(c, s->gres_kind.type[kind]));
}

/* How much of what is asked for in row *want* a place has. */
uint64_t check_gres_at(const struct check *c, uint32_t want, uint32_t place)
{
	struct sl_range g = c->plan->place.gres[place];
	uint64_t n = 0;

	for (uint32_t k = g.first; k < g.first + g.count; k++)
		if (check_same_gres(c, want, c->plan->place_gres.kind[k]))
			n += c->plan->place_gres.count[k];
	return n;
}

/* What of it a node has for whoever asks, however many do. */
static uint64_t shown_at(const struct check *c, uint32_t want, uint32_t node)
{
	struct sl_range g = c->snap->node.gres[node];
	uint64_t n = 0;

	for (uint32_t k = g.first; k < g.first + g.count; k++)
		if (c->snap->node_gres.no_consume[k] && check_same_gres(c, want, c->snap->node_gres.kind[k]))
			n += c->snap->node_gres.count[k];
	return n;
}

/* The cores of a whole node: those of the system as well, where the job says how many those are. */
static uint32_t whole_cores(const struct check *c, uint32_t j, uint32_t node)
{
	uint64_t all = (uint64_t) c->snap->node.cores[node] + c->snap->node.core_spec[node];
	uint32_t aside = c->snap->job.core_spec[j];

	if (!check_core_spec(c, j))
		return c->snap->node.cores[node];
	return all > aside ? (uint32_t) (all - aside) : 0;
}

/* The node has the sockets that the job asks for. With CR_Socket the job has whole ones. It has no more cores than the node
 * has, even if jobs share cores. */
static int check_sockets(struct check *c, const struct row *r, const struct ask *a, uint32_t i)
{
	const struct sl_job_view *job = &c->snap->job;
	uint32_t node = c->plan->place.node[i], cores = c->plan->place.cores[i], j = r->job;
	uint32_t sockets = count_sockets(c, node), each = c->snap->node.cores[node] / sockets;
	const char *name = check_str(c, c->snap->node.name[node]);

	if (job->sockets_per_node[j] > sockets || job->cores_per_socket[j] > each)
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s: has %" PRIu32 " sockets of %" PRIu32
			       " cores, needs %" PRIu64 " of %" PRIu64, job->id[j], name, sockets, each,
			       sl_max(job->sockets_per_node[j], 1), sl_max(job->cores_per_socket[j], 1));
	if (cores % cores_at_once(c, a, node))
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s: has %" PRIu32 " cores, sockets of it have %" PRIu32,
			       job->id[j], name, cores, each);
	if (!a->whole && cores > c->snap->node.cores[node])
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s: has %" PRIu32 " cores, the node has %" PRIu32,
			       job->id[j], name, cores, c->snap->node.cores[node]);
	return 0;
}

static int check_node(struct check *c, const struct row *r, const struct ask *a, uint32_t i)
{
	const struct sl_snapshot *s = c->snap;
	const struct sl_plan_place_view *place = &c->plan->place;
	uint32_t node = place->node[i], id = s->job.id[r->job], least = check_least_cores(c, a, node);
	const char *name = check_str(c, s->node.name[node]);
	int64_t memory = needed_memory(c, r->job, a, i);

	if (check_sockets(c, r, a, i) < 0)
		return -1;
	if (a->whole && !check_gres_fits_whole(c, a, node))
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s: has not the CPUs of all its gres", id, name);
	if (a->whole && place->cores[i] != whole_cores(c, r->job, node))
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s: has %" PRIu32 " of %" PRIu32
			       " cores, wants the whole node", id, name, place->cores[i], whole_cores(c, r->job, node));
	if (place->cores[i] < least)
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s: has %" PRIu32 " cores, needs %" PRIu32,
			       id, name, place->cores[i], least);
	if (place->memory[i] < memory)
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s: has %" PRId64 " MiB, needs %" PRId64, id,
			       name, place->memory[i], memory);
	if (s->job.tmp_disk[r->job] > 0 && s->job.tmp_disk[r->job] > s->node.tmp_disk[node])
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s: has %" PRId64 " MiB of TmpDisk, needs %"
			       PRId64, id, name, s->node.tmp_disk[node], s->job.tmp_disk[r->job]);
	for (uint32_t k = place->gres[i].first; k < place->gres[i].first + place->gres[i].count; k++) {
		uint32_t g = a->gres.first, end = a->gres.first + a->gres.count;

		while (g < end && !check_same_gres(c, g, c->plan->place_gres.kind[k]))
			g++;
		/* whole nodes come with all their gres, asked for or not (sbatch --exclusive) */
		if (g == end && c->plan->place_gres.count[k] && !a->whole)
			return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s: gets %s, did not ask for it", id,
				       name, check_str(c, s->gres_kind.key[c->plan->place_gres.kind[k]]));
	}
	return 0;
}

/* -- all nodes together -------------------------------------------------- */

/* The tasks of a place: those of the plan, or as many as its cores are for. */
static uint64_t tasks_at(const struct check *c, const struct ask *a, uint32_t i)
{
	const struct sl_plan_place_view *place = &c->plan->place;
	uint64_t tasks = place->tasks[i] ? place->tasks[i] : check_hosted(c, a, place->node[i], place->cores[i]);

	return !place->tasks[i] && a->tasks_per_node && tasks > a->tasks_per_node ? a->tasks_per_node : tasks;
}

/* The fewest tasks that need all cores of a place; 0: a node gives as many in any case. */
static uint64_t fewest_at(const struct check *c, const struct ask *a, uint32_t i)
{
	uint32_t node = c->plan->place.node[i], cores = c->plan->place.cores[i];

	if (cores <= check_least_cores(c, a, node))
		return 0;
	return check_hosted(c, a, node, cores - cores_at_once(c, a, node)) + 1;
}

/* The place has cores for its tasks, and not one more; it has no more tasks than the job allows of a node. */
static int check_place_tasks(struct check *c, const struct row *r, const struct ask *a, uint32_t i)
{
	uint32_t node = c->plan->place.node[i], cores = c->plan->place.cores[i], tasks = c->plan->place.tasks[i];
	uint64_t most = a->tasks_per_node ? a->tasks_per_node : UINT64_MAX;

	if (a->tasks_per_socket && most > (uint64_t) a->tasks_per_socket * count_sockets(c, node))
		most = (uint64_t) a->tasks_per_socket * count_sockets(c, node);
	if (tasks > most)
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s: has %" PRIu32 " tasks, takes at most %" PRIu64,
			       c->snap->job.id[r->job], check_str(c, c->snap->node.name[node]), tasks, most);
	if (tasks && (check_hosted(c, a, node, cores) < tasks || (!a->whole && fewest_at(c, a, i) > tasks)))
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s: has %" PRIu32 " cores, for %" PRIu32 " tasks",
			       c->snap->job.id[r->job], check_str(c, c->snap->node.name[node]), cores, tasks);
	return 0;
}

/* If the job says how many tasks each of its nodes has (an arbitrary distribution), these are its places. */
static int check_said_tasks(struct check *c, const struct row *r, const struct ask *a)
{
	struct sl_range says = c->snap->job.arbitrary_tpn[r->job];
	uint32_t id = c->snap->job.id[r->job];

	if (c->snap->job.distribution[r->job] != SL_DIST_ARBITRARY || !says.count)
		return 0;
	if (says.count != r->places.count)
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": has %" PRIu32 " nodes, says what %" PRIu32 " of them have",
			       id, r->places.count, says.count);
	for (uint32_t i = 0; i < says.count; i++) {
		uint32_t at = r->places.first + i, node = c->plan->place.node[at], tasks = c->snap->node_tasks.tasks[says.first + i];

		if (c->snap->node_tasks.node[says.first + i] != node || tasks_at(c, a, at) < tasks ||
		    (!a->whole && tasks_at(c, a, at) > tasks))
			return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s: has %" PRIu64 " tasks, not as the job says",
				       id, check_str(c, c->snap->node.name[node]), tasks_at(c, a, at));
	}
	return 0;
}

static int check_tasks(struct check *c, const struct row *r, const struct ask *a)
{
	const struct sl_plan_place_view *place = &c->plan->place;
	uint64_t most = 0, least = 0, tasks_max = a->tasks_max;

	if (tasks_max < a->gres_cpus * r->places.count)
		tasks_max = a->gres_cpus * r->places.count;
	for (uint32_t i = r->places.first; i < r->places.first + r->places.count; i++) {
		uint64_t fewest = fewest_at(c, a, i);

		if (check_place_tasks(c, r, a, i) < 0)
			return -1;
		most += tasks_at(c, a, i);
		if (place->tasks[i])
			least += fewest ? place->tasks[i] : 0;
		else
			least += fewest ? fewest : a->gres_cpus;
	}
	if (most < a->tasks)
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": its %" PRIu32 " nodes host %" PRIu64
			       " tasks of %" PRIu32 " CPUs, it has %" PRIu32, c->snap->job.id[r->job],
			       r->places.count, most, a->cpus_per_task, a->tasks);
	if (!a->whole && !a->overcommit && least > tasks_max)
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": its %" PRIu32 " nodes have cores for %" PRIu64
			       " tasks of %" PRIu32 " CPUs, it has %" PRIu64, c->snap->job.id[r->job],
			       r->places.count, least, a->cpus_per_task, tasks_max);
	return check_said_tasks(c, r, a);
}

static int check_gres(struct check *c, const struct row *r, const struct ask *a, uint32_t want)
{
	const struct sl_snapshot *s = c->snap;
	const struct sl_plan_place_view *place = &c->plan->place;
	uint32_t per = s->job_gres.per[want], id = s->job.id[r->job];
	uint64_t count = s->job_gres.count[want], sum = 0, need;

	for (uint32_t i = r->places.first; count && i < r->places.first + r->places.count; i++) {
		uint64_t have = check_gres_at(c, want, i), tasks = tasks_at(c, a, i);

		if (per == SL_PER_NODE && !have)
			have = shown_at(c, want, place->node[i]);
		if (per != SL_PER_TASK && per != SL_PER_JOB && have < count)
			return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": node %s: has %" PRIu64 " %s, needs %"
				       PRIu64, id, check_str(c, s->node.name[place->node[i]]), have,
				       check_str(c, s->job_gres.name[want]), count);
		sum += per != SL_PER_TASK ? have : have / count < tasks ? have / count : tasks;
	}
	need = per == SL_PER_JOB ? count : per == SL_PER_TASK ? a->tasks : 0;
	if (count && sum < need)
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": its nodes have %" PRIu64 " %s%s, needs %" PRIu64,
			       id, sum, per == SL_PER_TASK ? "tasks' worth of " : "",
			       check_str(c, s->job_gres.name[want]), need);
	return 0;
}

/* While it waits for them: no more leaf switches than it asks for. */
static int check_switches(struct check *c, const struct row *r)
{
	const struct sl_job_view *job = &c->snap->job;
	const uint32_t *node = &c->plan->place.node[r->places.first], *path = c->snap->node.topology;
	int64_t since = job->eligible_time[r->job] > job->submit_time[r->job] ? job->eligible_time[r->job] :
		job->submit_time[r->job];
	uint32_t leaves = 0, n;

	if (!job->switches[r->job] || r->at >= check_later(since, job->switch_wait[r->job]))
		return 0;
	for (uint32_t i = 0; i < r->places.count && leaves <= job->switches[r->job]; i++) {
		const char *here = check_str(c, path[node[i]]);

		if (i && path[node[i]] == path[node[i - 1]])
			continue;
		for (n = 0; n < i && strcmp(check_str(c, path[node[n]]), here); n++)
			;
		leaves += n == i;
	}
	if (leaves <= job->switches[r->job])
		return 0;
	return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": its nodes are below more than %" PRIu32 " leaf switches, which it waits for",
		       job->id[r->job], job->switches[r->job]);
}

/* Nodes of each segment below topology/block, or of a block that they fill; 0: there are no blocks.  (A job without segments is one
 * itself.) */
static uint32_t segment_of(const struct check *c, const struct row *r)
{
	uint32_t says = c->snap->job.segment[r->job], block = c->snap->partition.block_nodes[r->partition];

	if (!block || r->places.count < 2)
		return 0;
	says = says && says <= r->places.count ? says : r->places.count;
	return says % block || c->snap->partition.flags[r->partition] & SL_PART_BLOCK_LEVELS ? says : block;
}

/* Each block has whole segments of the job. */
static int check_segments(struct check *c, const struct row *r)
{
	const uint32_t *node = &c->plan->place.node[r->places.first], *path = c->snap->node.topology;
	uint32_t segment = segment_of(c, r), all = r->places.count;

	for (uint32_t i = 0; segment && i < all; i++) {
		const char *here = check_str(c, path[node[i]]);
		uint32_t same = 0;

		if (i && path[node[i]] == path[node[i - 1]])
			continue;
		for (uint32_t n = 0; n < all; n++)
			same += path[node[n]] == path[node[i]] || !strcmp(check_str(c, path[node[n]]), here);
		if (same % segment || !*here)
			return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": has %" PRIu32 " nodes in block %s, segments of %" PRIu32,
				       c->snap->job.id[r->job], same, *here ? here : "(none)", segment);
	}
	return 0;
}

/* Is that one of the numbers of nodes that it lists: "1,4-6,8"? */
static bool is_listed(const char *list, uint32_t count)
{
	for (;;) {
		char *end;
		unsigned long first = strtoul(list, &end, 10), last = *end == '-' ? strtoul(end + 1, &end, 10) : first;

		if (first <= count && count <= last)
			return true;
		if (*end != ',')
			return false;
		list = end + 1;
	}
}

int check_layout(struct check *c, const struct row *r, const struct ask *a)
{
	const struct sl_plan_place_view *place = &c->plan->place;
	uint32_t first = r->places.first, count = r->places.count, id = c->snap->job.id[r->job];
	const char *counts = check_str(c, c->snap->job.node_counts[r->job]);

	if (!count)
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": has no nodes", id);
	if (count > a->max_nodes)
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": has %" PRIu32 " nodes, takes at most %" PRIu32, id,
			       count, a->max_nodes);
	if (r->native)
		return 0;
	if (count < a->min_nodes)
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": has %" PRIu32 " nodes, needs %" PRIu32, id, count,
			       a->min_nodes);
	if (!r->shape && *counts && !is_listed(counts, count))
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": has %" PRIu32 " nodes, takes %s", id, count, counts);
	for (uint32_t i = first; i < first + count; i++)
		if (check_node(c, r, a, i) < 0 || check_devices(c, r, i) < 0)
			return -1;
	if ((c->snap->job.flags[r->job] & SL_JOBF_CONTIGUOUS) &&
	    place->node[first + count - 1] - place->node[first] != count - 1)
		return sl_fail(c->err, SL_EINVAL, "job %" PRIu32 ": its nodes are not contiguous", id);
	if (check_features(c, r) < 0 || check_switches(c, r) < 0 || check_segments(c, r) < 0)
		return -1;
	for (uint32_t g = a->gres.first; g < a->gres.first + a->gres.count; g++)
		if (check_gres(c, r, a, g) < 0)
			return -1;
	return check_tasks(c, r, a);
}
