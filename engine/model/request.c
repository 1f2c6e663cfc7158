/* SPDX-License-Identifier: MIT */
/* request.c - see request.h */
#include "model/request.h"

#include <string.h>

#include "base/number.h"

#define MOST (INT64_MAX / 1024)	/* amounts are limited to this, so that sums do not overflow */

static uint32_t multiply(uint32_t a, uint32_t b)
{
	return (uint32_t) sl_product_within(a, b, UINT32_MAX);
}

static void read_alternative(const struct sl_shape_view *v, uint32_t i, struct sl_ask *a)
{
	a->min_nodes = sl_max(v->min_nodes[i], 1);
	a->max_nodes = v->max_nodes[i];
	a->tasks = v->num_tasks[i];
	a->tasks_per_node = v->ntasks_per_node[i];
	a->cpus_per_task = sl_max(v->cpus_per_task[i], 1);
	a->min_cpus = multiply(sl_max(a->tasks, 1), a->cpus_per_task);
	a->node_cpus = multiply(a->cpus_per_task, sl_max(a->tasks_per_node, 1));
	a->gres = v->gres[i];
	if (v->time_limit[i]) {
		a->walltime = v->time_limit[i];
		a->default_time = false;
	}
}

static void read_row(const struct sl_job_view *j, uint32_t job, struct sl_ask *a)
{
	uint32_t tasks = j->num_tasks[job], per_node = j->ntasks_per_node[job];

	a->min_nodes = sl_max(j->min_nodes[job], 1);
	a->max_nodes = j->max_nodes[job];
	a->most_nodes = j->flags[job] & SL_JOBF_MOST_NODES;
	a->tasks = tasks;
	a->tasks_per_node = per_node;
	a->min_cpus = sl_max(j->min_cpus[job], 1);
	a->node_cpus = sl_max(j->pn_min_cpus[job], 1);
	a->gres = j->gres[job];
	a->overcommit = j->flags[job] & SL_JOBF_OVERCOMMIT;
	a->cpus_per_task = a->overcommit ? 1 : sl_max(j->cpus_per_task[job], 1);
	if (tasks && per_node > tasks)
		per_node = tasks;
	if (!a->overcommit)
		a->node_cpus = sl_max(multiply(a->cpus_per_task, sl_max(per_node, 1)), a->node_cpus);
}

static void read_gres(const struct sl_snapshot *snap, struct sl_ask *a)
{
	const struct sl_job_gres_view *gres = &snap->job_gres;
	bool counts_memory = snap->meta.select_flags[0] & SL_SELECT_MEMORY;

	for (uint32_t i = a->gres.first; i < a->gres.first + a->gres.count; i++) {
		bool memory = counts_memory && gres->memory[i] > 0;

		a->pers |= 1u << gres->per[i];
		if (gres->per[i] == SL_PER_JOB)
			a->job_gres = sl_max(a->job_gres, gres->count[i]);
		a->with.cpus += gres->cpus[i] > 0;
		a->with.memory += memory;
		a->with.some_memory |= memory && gres->count[i];
		a->with.per |= gres->cpus[i] || memory ? 1u << gres->per[i] : 0;
		a->with.all_cpus += (uint64_t) gres->cpus[i] * gres->count[i];
	}
}

/* Add CPUs that come with gres.  From 24.11 on slurmctld adds them up over all nodes into the job's CPUs; these must not
 * be taken for more tasks. */
static void add_gres_cpus(const struct sl_snapshot *snap, struct sl_ask *a)
{
	uint32_t per_node = a->tasks && a->tasks_per_node > a->tasks ? a->tasks : a->tasks_per_node, of_node = 0;

	for (uint32_t i = a->gres.first; i < a->gres.first + a->gres.count; i++) {
		uint32_t cpus = multiply(snap->job_gres.cpus[i], snap->job_gres.count[i]);

		if (snap->job_gres.per[i] == SL_PER_JOB)
			a->min_cpus = sl_max(a->min_cpus, cpus);
		else if (snap->job_gres.per[i] == SL_PER_TASK)
			a->cpus_per_task = sl_max(a->cpus_per_task, cpus);
		if (snap->job_gres.per[i] == SL_PER_TASK)
			cpus = multiply(cpus, sl_max(per_node, 1));
		if (snap->job_gres.per[i] != SL_PER_JOB)
			a->node_cpus = sl_max(a->node_cpus, cpus);
		if (snap->job_gres.per[i] == SL_PER_NODE)
			of_node = sl_max(of_node, cpus);
	}
	if (a->tasks && multiply(of_node, sl_max(a->min_nodes, 1)) >= a->min_cpus)
		a->min_cpus = 1;
	a->min_cpus = sl_max(a->min_cpus, multiply(a->tasks, a->cpus_per_task));
}

struct sl_ask sl_request_read(const struct sl_snapshot *snap, uint32_t job, uint32_t shape)
{
	const struct sl_job_view *j = &snap->job;
	struct sl_ask a = {
		.max_cpus = j->max_cpus[job], .memory_per_node = j->memory_per_node[job],
		.memory_per_cpu = j->memory_per_cpu[job], .walltime = j->time_limit[job],
		.walltime_min = j->time_min[job], .default_time = j->flags[job] & SL_JOBF_DEFAULT_TIME,
	};

	if (shape)
		read_alternative(&snap->shape, j->shapes[job].first + shape - 1, &a);
	else
		read_row(j, job, &a);
	read_gres(snap, &a);
	if (!a.overcommit)
		add_gres_cpus(snap, &a);
	return a;
}

static int64_t multiply64(int64_t a, int64_t b)
{
	return (int64_t) sl_product_within((uint64_t) a, (uint64_t) b, MOST);
}

/* The time limit that the job names, or the partition's default. */
static int64_t named_walltime(const struct sl_snapshot *snap, const struct sl_ask *a, uint32_t partition)
{
	int64_t seconds = snap->partition.default_time[partition];

	if (!a->default_time)
		return a->walltime;
	seconds = seconds ? seconds : snap->partition.max_time[partition];
	return seconds > a->walltime_min ? seconds : a->walltime_min;
}

struct sl_walltime sl_request_walltime(const struct sl_snapshot *snap, uint32_t job, const struct sl_ask *a,
				       uint32_t partition)
{
	struct sl_walltime w = { .named = named_walltime(snap, a, partition), .ceiling = snap->partition.max_time[partition] };
	bool open = a->default_time || w.named == SL_UNLIMITED;

	if (snap->job.flags[job] & SL_JOBF_ANY_TIME)
		w.ceiling = SL_UNLIMITED;
	w.asked = w.named == SL_UNLIMITED ? w.ceiling : w.named;
	w.limit = w.floor = w.asked < w.ceiling ? w.asked : w.ceiling;
	if (a->walltime_min > 0 && a->walltime_min < w.limit)
		w.floor = a->walltime_min;
	else if (open && snap->job.deadline[job] && w.limit > 60)
		w.floor = 60;
	return w;
}

int64_t sl_ask_tasks(const struct sl_ask *a)
{
	return a->tasks ? a->tasks : multiply64(a->tasks_per_node, a->min_nodes);
}

int64_t sl_ask_cpus(const struct sl_ask *a)
{
	int64_t cpus = multiply64(a->node_cpus, a->min_nodes), of_tasks = multiply64(sl_ask_tasks(a), a->cpus_per_task);

	if (!a->overcommit && of_tasks > cpus)
		cpus = of_tasks;
	return cpus > a->min_cpus ? cpus : a->min_cpus;
}

int64_t sl_ask_gres(const struct sl_snapshot *snap, const struct sl_ask *a, uint32_t row, int64_t nodes)
{
	int64_t count = snap->job_gres.count[row], tasks = sl_ask_tasks(a);

	switch (snap->job_gres.per[row]) {
	case SL_PER_JOB: return count;
	case SL_PER_TASK: return multiply64(count, tasks ? tasks : nodes);
	default: return multiply64(count, nodes);
	}
}

int64_t sl_ask_gpus(const struct sl_snapshot *snap, const struct sl_ask *a, int64_t nodes)
{
	int64_t gpus = 0;

	for (uint32_t i = a->gres.first; i < a->gres.first + a->gres.count && gpus < MOST; i++)
		if (!strcmp(sl_snapshot_str(snap, snap->job_gres.name[i]), "gpu"))
			gpus += sl_ask_gres(snap, a, i, nodes);
	return gpus;
}

uint32_t sl_ask_fewest_nodes(const struct sl_ask *a, int64_t amount, int64_t most)
{
	int64_t nodes = most > 0 && amount > 0 ? (amount + most - 1) / most : 0;

	if (a->max_nodes && nodes > a->max_nodes)
		nodes = a->max_nodes;
	return nodes > a->min_nodes ? (uint32_t) (nodes < UINT32_MAX ? nodes : UINT32_MAX) : a->min_nodes;
}

bool sl_request_core_spec(const struct sl_snapshot *snap, uint32_t job)
{
	return snap->job.core_spec[job] || (snap->job.asks[job] & SL_ASKS_SPEC_CORES);
}

uint32_t sl_request_node_cores(const struct sl_snapshot *snap, uint32_t job, uint32_t node)
{
	uint64_t all = (uint64_t) snap->node.cores[node] + snap->node.core_spec[node];
	uint32_t spec = snap->job.core_spec[job];

	if (!sl_request_core_spec(snap, job))
		return snap->node.cores[node];
	if ((snap->job.asks[job] & SL_ASKS_SPEC_THREADS) && snap->node.threads[node] > 1)
		return snap->node.cores[node];	/* some cores lack a thread */
	return all > spec ? (uint32_t) (all - spec) : 0;
}

int64_t sl_ask_units(const struct sl_snapshot *snap, const struct sl_ask *a, enum sl_unit unit)
{
	switch (unit) {
	case SL_UNIT_CPU: return sl_ask_cpus(a);
	case SL_UNIT_GPU: return sl_ask_gpus(snap, a, a->min_nodes);
	default: return a->min_nodes;
	}
}

bool sl_gres_matches(const struct sl_snapshot *snap, uint32_t row, uint32_t kind)
{
	const char *type = sl_snapshot_str(snap, snap->job_gres.type[row]);

	return !strcmp(sl_snapshot_str(snap, snap->job_gres.name[row]),
		       sl_snapshot_str(snap, snap->gres_kind.name[kind])) &&
		(!*type || !strcmp(type, sl_snapshot_str(snap, snap->gres_kind.type[kind])));
}
