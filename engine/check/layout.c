/* SPDX-License-Identifier: MIT */
/* check/layout.c - whether a layout gives the job what it asks for. */
#include "check/private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static uint32_t capped_product(uint32_t a, uint32_t b)
{
	return (uint32_t) sl_product_within(a, b, UINT32_MAX);
}

/* -- the request --------------------------------------------------------- */

/* CPUs that come with gres per node, per task, or of the job. */
static uint64_t gres_cpus(const struct check *c, struct sl_range gres, uint32_t per)
{
	uint64_t cpus = 0;

	for (uint32_t g = gres.first; g < gres.first + gres.count; g++)
		if (c->snap->job_gres.per[g] == per)
			cpus += (uint64_t) c->snap->job_gres.cpus[g] * c->snap->job_gres.count[g];
	return cpus;
}

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
	a->gres_cpus = a->overcommit ? 0 : gres_cpus(c, a->gres, SL_PER_NODE) +
		gres_cpus(c, a->gres, SL_PER_JOB) / a->min_nodes;
	a->node_cpus = sl_max(a->node_cpus, sl_min(a->gres_cpus, UINT32_MAX));
	/* slurmctld raises min_cpus to the CPUs that come with the gres of all nodes: these are not tasks */
	if (num_tasks && !a->overcommit && min_cpus <= gres_cpus(c, a->gres, SL_PER_NODE) * a->min_nodes)
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
	int64_t by_default = c->snap->partition.default_time[p], max_time = c->snap->partition.max_time[p];
	bool open = !a->time_limit && (job->flags[j] & SL_JOBF_DEFAULT_TIME);

	if (open)	/* DefaultTime, else MaxTime, which then also limits jobs that may exceed it */
		a->time_limit = by_default ? by_default : max_time;
	else if (!a->time_limit)
		a->time_limit = job->time_limit[j];
	open |= a->time_limit == SL_UNLIMITED;
	if (a->time_limit == SL_UNLIMITED && !(job->flags[j] & SL_JOBF_ANY_TIME))
		a->time_limit = max_time;
	if (open && job->time_min[j] > a->time_limit)
		a->time_limit = job->time_min[j];
	a->time_floor = a->time_limit;
	if (job->time_min[j] && job->time_min[j] < a->time_limit)
		a->time_floor = job->time_min[j];
	else if (open && job->deadline[j])
		a->time_floor = 1;
}

void check_ask(const struct check *c, uint32_t j, uint32_t p, uint32_t shape, struct ask *a)
{
	const struct sl_snapshot *s = c->snap;
	const struct sl_job_view *job = &s->job;
	uint32_t flags = job->flags[j], select = s->meta.select_flags[0], i = job->shapes[j].first + shape - 1;
	uint32_t tasks = job->num_tasks[j], min_cpus = job->min_cpus[j], max_nodes = job->max_nodes[j], on_node;

	*a = (struct ask) {
		.min_nodes = job->min_nodes[j], .cpus_per_task = job->cpus_per_task[j],
		.tasks_per_node = job->ntasks_per_node[j], .tasks_per_core = job->ntasks_per_core[j],
		.few_on_core = job->ntasks_per_core[j], .tasks_per_socket = job->ntasks_per_socket[j],
		.by_socket = sl_snapshot_by_socket(s, p), .threads = job->threads_per_core[j], .node_cpus = job->pn_min_cpus[j],
		.gres = job->gres[j], .overcommit = !shape && flags & SL_JOBF_OVERCOMMIT,
		.whole = (flags & SL_JOBF_EXCLUSIVE) || check_core_spec(c, j) || (select & SL_SELECT_WHOLE_NODE) ||
			!s->partition.oversubscribe[p],
	};
	if (!a->tasks_per_core && (select & SL_SELECT_ONE_TASK_PER_CORE))
		a->tasks_per_core = 1;
	if (shape) {
		a->min_nodes = s->shape.min_nodes[i];
		a->cpus_per_task = s->shape.cpus_per_task[i];
		a->tasks_per_node = s->shape.ntasks_per_node[i];
		a->node_cpus = 0;
		a->gres = s->shape.gres[i];
		a->time_limit = s->shape.time_limit[i];
		tasks = s->shape.num_tasks[i];
		max_nodes = s->shape.max_nodes[i];
	}
	a->min_nodes = sl_max(a->min_nodes, check_counted_nodes(c, j));
	/* stated per task, or brought by the gres of a task */
	a->cpus_per_task = a->overcommit ? 1 : sl_max(sl_max(a->cpus_per_task, 1),
						      sl_min(gres_cpus(c, a->gres, SL_PER_TASK), UINT32_MAX));
	on_node = tasks && !shape ? sl_min(tasks, a->tasks_per_node) : a->tasks_per_node;
	a->node_cpus = sl_max(a->node_cpus, a->overcommit ? 1 : capped_product(a->cpus_per_task, sl_max(on_node, 1)));
	if (shape)
		min_cpus = capped_product(sl_max(tasks, 1), a->cpus_per_task);
	ask_size(c, j, p, a, tasks, sl_max(min_cpus, 1), max_nodes);
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

/* Number of tasks that fit on that many cores of the node. */
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
	int64_t size = c->snap->node.memory[node], of_node = c->snap->job.memory_per_node[j], of_cpu = c->snap->job.memory_per_cpu[j];

	if (!(c->snap->meta.select_flags[0] & SL_SELECT_MEMORY) || size <= 0)
		return 0;
	if (of_node > 0)
		return of_node;
	return of_cpu > 0 ? sl_product_signed(of_cpu, (int64_t) cores * sl_max(c->snap->node.threads[node], 1)) : size;
}

bool check_same_gres(const struct check *c, uint32_t want, uint32_t kind)
{
	const struct sl_snapshot *s = c->snap;

	if (strcmp(check_str(c, s->job_gres.name[want]), check_str(c, s->gres_kind.name[kind])))
		return false;
	return !*check_str(c, s->job_gres.type[want]) ||
		!strcmp(check_str(c, s->job_gres.type[want]), check_str(c, s->gres_kind.type[kind]));
}

/* Gres at the place that satisfy row *want*. */
uint64_t check_gres_at(const struct check *c, uint32_t want, uint32_t place)
{
	struct sl_range g = c->plan->place.gres[place];
	uint64_t n = 0;

	for (uint32_t k = g.first; k < g.first + g.count; k++)
		if (check_same_gres(c, want, c->plan->place_gres.kind[k]))
			n += c->plan->place_gres.count[k];
	return n;
}

/* Gres on the node that satisfy row *want* and are not used up. */
static uint64_t shown_at(const struct check *c, uint32_t want, uint32_t node)
{
	struct sl_range g = c->snap->node.gres[node];
	uint64_t n = 0;

	for (uint32_t k = g.first; k < g.first + g.count; k++)
		if (c->snap->node_gres.no_consume[k] && check_same_gres(c, want, c->snap->node_gres.kind[k]))
			n += c->snap->node_gres.count[k];
	return n;
}

/* Gres on the node with the name in row *want*, whatever their type. */
static uint64_t count_of_node(const struct check *c, uint32_t want, uint32_t node)
{
	struct sl_range g = c->snap->node.gres[node];
	const char *name = check_str(c, c->snap->job_gres.name[want]);
	uint64_t n = 0;

	for (uint32_t k = g.first; k < g.first + g.count; k++)
		n += strcmp(check_str(c, c->snap->gres_kind.name[c->snap->node_gres.kind[k]]), name) ? 0 : c->snap->node_gres.count[k];
	return n;
}

/* Memory of a place: what comes with its gres, if any does; else what the job asks for. */
static int64_t needed_memory(const struct check *c, uint32_t j, const struct ask *a, uint32_t place)
{
	uint32_t node = c->plan->place.node[place];
	int64_t memory = check_memory(c, j, node, c->plan->place.cores[place]), of_gres = 0;
	bool any = false;

	for (uint32_t g = a->gres.first; g < a->gres.first + a->gres.count; g++) {
		uint64_t count = a->whole ? count_of_node(c, g, node) : c->snap->job_gres.per[g] == SL_PER_NODE ?
			c->snap->job_gres.count[g] : check_gres_at(c, g, place);

		if (c->snap->job_gres.memory[g] <= 0)
			continue;
		any = true;
		of_gres = sl_sum_signed(of_gres, sl_product_signed(c->snap->job_gres.memory[g], (int64_t) count));
	}
	return memory && any ? of_gres : memory;
}

/* True if a whole node has enough CPUs for all its gres. */
static bool fits_whole(const struct check *c, const struct ask *a, uint32_t node)
{
	uint64_t cpus = c->snap->node.cores[node] * sl_max(c->snap->node.threads[node], 1);

	for (uint32_t g = a->gres.first; g < a->gres.first + a->gres.count; g++)
		if (count_of_node(c, g, node) * c->snap->job_gres.cpus[g] > cpus)
			return false;
	return true;
}

/* Cores of a whole node for the job, with the core specialization of its own if it has one. */
static uint32_t whole_cores(const struct check *c, uint32_t j, uint32_t node)
{
	uint64_t all = (uint64_t) c->snap->node.cores[node] + c->snap->node.core_spec[node];
	uint32_t aside = c->snap->job.core_spec[j];

	if (!check_core_spec(c, j))
		return c->snap->node.cores[node];
	return all > aside ? (uint32_t) (all - aside) : 0;
}

/* Check that the node has the sockets that the job asks for, that the job has whole ones with CR_Socket, and no more cores
 * than the node has, even if jobs share cores. */
static int check_sockets(struct check *c, const struct row *r, const struct ask *a, uint32_t i)
{
	uint32_t node = c->plan->place.node[i], cores = c->plan->place.cores[i], all = c->snap->node.cores[node];
	uint32_t sockets = count_sockets(c, node), each = all / sockets;
	uint32_t least = c->snap->job.sockets_per_node[r->job], least_each = c->snap->job.cores_per_socket[r->job];

	if (least > sockets || least_each > each)
		return check_fail_at(c, r, node, "has %" PRIu32 " sockets of %" PRIu32 " cores, needs %" PRIu64 " of %" PRIu64,
				     sockets, each, sl_max(least, 1), sl_max(least_each, 1));
	if (cores % cores_at_once(c, a, node))
		return check_fail_at(c, r, node, "has %" PRIu32 " cores, sockets of it have %" PRIu32, cores, each);
	if (!a->whole && cores > all)
		return check_fail_at(c, r, node, "has %" PRIu32 " cores, the node has %" PRIu32, cores, all);
	return 0;
}

static int check_amounts(struct check *c, const struct row *r, const struct ask *a, uint32_t i)
{
	uint32_t node = c->plan->place.node[i];
	const struct {
		int64_t has, needs;
		const char *what;
	} amount[] = {
		{ c->plan->place.cores[i], check_least_cores(c, a, node), "cores" },
		{ c->plan->place.memory[i], needed_memory(c, r->job, a, i), "MiB" },
		{ sl_max_signed(c->snap->node.tmp_disk[node], 0), c->snap->job.tmp_disk[r->job], "MiB of TmpDisk" },
	};

	for (size_t k = 0; k < sizeof(amount) / sizeof(amount[0]); k++)
		if (amount[k].has < amount[k].needs)
			return check_fail_at(c, r, node, "has %" PRId64 " %s, needs %" PRId64, amount[k].has, amount[k].what,
					     amount[k].needs);
	return 0;
}

/* Check that a place has no gres that the job did not ask for.  Whole nodes have all of theirs. */
static int check_unasked(struct check *c, const struct row *r, const struct ask *a, uint32_t i)
{
	struct sl_range has = c->plan->place.gres[i];

	for (uint32_t k = has.first; !a->whole && k < has.first + has.count; k++) {
		uint32_t kind = c->plan->place_gres.kind[k], g = a->gres.first, end = a->gres.first + a->gres.count;

		while (g < end && !check_same_gres(c, g, kind))
			g++;
		if (g == end && c->plan->place_gres.count[k])
			return check_fail_at(c, r, c->plan->place.node[i], "gets %s, did not ask for it",
					     check_str(c, c->snap->gres_kind.key[kind]));
	}
	return 0;
}

static int check_node(struct check *c, const struct row *r, const struct ask *a, uint32_t i)
{
	uint32_t node = c->plan->place.node[i], cores = c->plan->place.cores[i], all = whole_cores(c, r->job, node);

	if (check_sockets(c, r, a, i) < 0)
		return -1;
	if (a->whole && !fits_whole(c, a, node))
		return check_fail_at(c, r, node, "has not the CPUs of all its gres");
	if (a->whole && cores != all)
		return check_fail_at(c, r, node, "has %" PRIu32 " of %" PRIu32 " cores, wants the whole node", cores, all);
	return check_amounts(c, r, a, i) < 0 || check_unasked(c, r, a, i) < 0 || check_devices(c, r, i) < 0 ? -1 : 0;
}

/* -- all nodes together -------------------------------------------------------- */

/* Tasks of a place: as planned, or as many as its cores host. */
static uint64_t tasks_at(const struct check *c, const struct ask *a, uint32_t i)
{
	const struct sl_plan_place_view *place = &c->plan->place;
	uint64_t tasks = place->tasks[i] ? place->tasks[i] : check_hosted(c, a, place->node[i], place->cores[i]);

	return !place->tasks[i] && a->tasks_per_node && tasks > a->tasks_per_node ? a->tasks_per_node : tasks;
}

/* The fewest tasks that need all cores of a place; 0: a node gives that many in any case. */
static uint64_t fewest_at(const struct check *c, const struct ask *a, uint32_t i)
{
	uint32_t node = c->plan->place.node[i], cores = c->plan->place.cores[i];

	if (cores <= check_least_cores(c, a, node))
		return 0;
	return check_hosted(c, a, node, cores - cores_at_once(c, a, node)) + 1;
}

/* Check that the cores of the place are exactly enough for its tasks, and that the job allows so many tasks on a node. */
static int check_place_tasks(struct check *c, const struct row *r, const struct ask *a, uint32_t i)
{
	uint32_t node = c->plan->place.node[i], cores = c->plan->place.cores[i], tasks = c->plan->place.tasks[i];
	uint64_t most = a->tasks_per_node ? a->tasks_per_node : UINT64_MAX;

	if (a->tasks_per_socket)
		most = sl_min(most, (uint64_t) a->tasks_per_socket * count_sockets(c, node));
	if (tasks > most)
		return check_fail_at(c, r, node, "has %" PRIu32 " tasks, takes at most %" PRIu64, tasks, most);
	if (tasks && (check_hosted(c, a, node, cores) < tasks || (!a->whole && fewest_at(c, a, i) > tasks)))
		return check_fail_at(c, r, node, "has %" PRIu32 " cores, for %" PRIu32 " tasks", cores, tasks);
	return 0;
}

/* With an arbitrary distribution, check that nodes and tasks are those listed. */
static int check_said_tasks(struct check *c, const struct row *r, const struct ask *a)
{
	struct sl_range says = c->snap->job.arbitrary_tpn[r->job];

	if (c->snap->job.distribution[r->job] != SL_DIST_ARBITRARY || !says.count)
		return 0;
	if (says.count != r->places.count)
		return check_fail(c, r, "has %" PRIu32 " nodes, says what %" PRIu32 " of them have", r->places.count, says.count);
	for (uint32_t i = 0; i < says.count; i++) {
		uint32_t at = r->places.first + i, node = c->plan->place.node[at], needs = c->snap->node_tasks.tasks[says.first + i];
		uint64_t has = tasks_at(c, a, at);

		if (c->snap->node_tasks.node[says.first + i] != node || has < needs || (!a->whole && has > needs))
			return check_fail_at(c, r, node, "has %" PRIu64 " tasks, not as the job says", has);
	}
	return 0;
}

static int check_tasks(struct check *c, const struct row *r, const struct ask *a)
{
	uint64_t most = 0, least = 0, tasks_max = sl_max(a->tasks_max, a->gres_cpus * r->places.count);

	for (uint32_t i = r->places.first; i < r->places.first + r->places.count; i++) {
		uint64_t tasks = c->plan->place.tasks[i], fewest = fewest_at(c, a, i);

		if (check_place_tasks(c, r, a, i) < 0)
			return -1;
		most += tasks_at(c, a, i);
		if (tasks)
			least += fewest ? tasks : 0;
		else
			least += fewest ? fewest : a->gres_cpus;
	}
	if (most < a->tasks)
		return check_fail(c, r, "its %" PRIu32 " nodes host %" PRIu64 " tasks of %" PRIu32 " CPUs, it has %" PRIu32,
				  r->places.count, most, a->cpus_per_task, a->tasks);
	if (!a->whole && !a->overcommit && least > tasks_max)
		return check_fail(c, r, "its %" PRIu32 " nodes have cores for %" PRIu64 " tasks of %" PRIu32 " CPUs, it has %" PRIu64,
				  r->places.count, least, a->cpus_per_task, tasks_max);
	return check_said_tasks(c, r, a);
}

static int check_gres(struct check *c, const struct row *r, const struct ask *a, uint32_t want)
{
	uint32_t per = c->snap->job_gres.per[want];
	uint64_t count = c->snap->job_gres.count[want], sum = 0, need;
	const char *name = check_str(c, c->snap->job_gres.name[want]);

	for (uint32_t i = r->places.first; count && i < r->places.first + r->places.count; i++) {
		uint32_t node = c->plan->place.node[i];
		uint64_t have = check_gres_at(c, want, i), tasks = tasks_at(c, a, i);

		if (per == SL_PER_NODE && !have)
			have = shown_at(c, want, node);
		if (per != SL_PER_TASK && per != SL_PER_JOB && have < count)
			return check_fail_at(c, r, node, "has %" PRIu64 " %s, needs %" PRIu64, have, name, count);
		sum += per != SL_PER_TASK ? have : sl_min(have / count, tasks);
	}
	need = per == SL_PER_JOB ? count : per == SL_PER_TASK ? a->tasks : 0;
	if (count && sum < need)
		return check_fail(c, r, "its nodes have %" PRIu64 " %s%s, needs %" PRIu64, sum,
				  per == SL_PER_TASK ? "tasks' worth of " : "", name, need);
	return 0;
}

/* Name of the leaf switch or block of a place's node; "": none. */
static const char *leaf_at(const struct check *c, uint32_t place)
{
	return check_str(c, c->snap->node.topology[c->plan->place.node[place]]);
}

/* Number of the first *count* places below that leaf. */
static uint32_t count_below(const struct check *c, const struct row *r, uint32_t count, const char *leaf)
{
	uint32_t n = 0;

	for (uint32_t i = r->places.first; i < r->places.first + count; i++)
		n += leaf_at(c, i) == leaf || !strcmp(leaf_at(c, i), leaf);
	return n;
}

/* Check the limit on leaf switches while the job waits for it. */
static int check_switches(struct check *c, const struct row *r)
{
	const struct sl_job_view *job = &c->snap->job;
	int64_t since = sl_max_signed(job->eligible_time[r->job], job->submit_time[r->job]);
	uint32_t most = job->switches[r->job], leaves = 0;

	if (!most || r->at >= sl_sum_signed(since, job->switch_wait[r->job]))
		return 0;
	for (uint32_t i = 0; i < r->places.count && leaves <= most; i++) {
		const char *leaf = leaf_at(c, r->places.first + i);

		leaves += (!i || leaf != leaf_at(c, r->places.first + i - 1)) && !count_below(c, r, i, leaf);
	}
	if (leaves <= most)
		return 0;
	return check_fail(c, r, "its nodes are below more than %" PRIu32 " leaf switches, which it waits for", most);
}

/* Nodes of a segment with topology/block, or of a block if segments fill blocks; 0: no blocks.  A job without segments is
 * one segment. */
static uint32_t segment_of(const struct check *c, const struct row *r)
{
	uint32_t says = c->snap->job.segment[r->job], block = c->snap->partition.block_nodes[r->partition];

	if (!block || r->places.count < 2)
		return 0;
	says = says && says <= r->places.count ? says : r->places.count;
	return says % block || c->snap->partition.flags[r->partition] & SL_PART_BLOCK_LEVELS ? says : block;
}

/* Check that each block has whole segments of the job. */
static int check_segments(struct check *c, const struct row *r)
{
	uint32_t segment = segment_of(c, r), last = r->places.first + r->places.count;

	for (uint32_t i = r->places.first; segment && i < last; i++) {
		const char *block = leaf_at(c, i);
		uint32_t same;

		if (i > r->places.first && block == leaf_at(c, i - 1))
			continue;
		same = count_below(c, r, r->places.count, block);
		if (same % segment || !*block)
			return check_fail(c, r, "has %" PRIu32 " nodes in block %s, segments of %" PRIu32, same,
					  *block ? block : "(none)", segment);
	}
	return 0;
}

/* True if the list of node counts ("1,4-6,8") contains the number. */
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
	const uint32_t *node = &c->plan->place.node[r->places.first];
	uint32_t count = r->places.count;
	const char *counts = check_str(c, c->snap->job.node_counts[r->job]);

	if (!count)
		return check_fail(c, r, "has no nodes");
	if (count > a->max_nodes)
		return check_fail(c, r, "has %" PRIu32 " nodes, takes at most %" PRIu32, count, a->max_nodes);
	if (r->native)
		return 0;
	if (count < a->min_nodes)
		return check_fail(c, r, "has %" PRIu32 " nodes, needs %" PRIu32, count, a->min_nodes);
	if (!r->shape && *counts && !is_listed(counts, count))
		return check_fail(c, r, "has %" PRIu32 " nodes, takes %s", count, counts);
	for (uint32_t i = r->places.first; i < r->places.first + count; i++)
		if (check_node(c, r, a, i) < 0)
			return -1;
	if (c->snap->job.flags[r->job] & SL_JOBF_CONTIGUOUS && node[count - 1] - node[0] != count - 1)
		return check_fail(c, r, "its nodes are not contiguous");
	if (check_features(c, r) < 0 || check_switches(c, r) < 0 || check_segments(c, r) < 0)
		return -1;
	for (uint32_t g = a->gres.first; g < a->gres.first + a->gres.count; g++)
		if (check_gres(c, r, a, g) < 0)
			return -1;
	return check_tasks(c, r, a);
}
