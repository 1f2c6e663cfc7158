/* SPDX-License-Identifier: MIT */
/* place_need.c - a request in units, and how many units a node can take. */
#include "timeline/place_impl.h"

#include <string.h>

#include "base/number.h"
#include "base/search.h"

/* Limit to the range of int32_t. */
static int32_t or_most(int64_t cores)
{
	return (int32_t) sl_min_signed(cores, INT32_MAX);
}

/* Sort by number of kinds, fewest first, gres of the job last.  A need with few kinds takes first, and one with more kinds
 * takes from what is left.  Masks are nested or disjoint, so this finds an assignment whenever there is one. */
static void sort_gres(struct sl_need *need, const struct sl_request *r)
{
	for (int turn = 1; turn <= 2 * SL_MAX_GRES; turn++) {
		for (uint32_t i = 0; i < r->gres_needs; i++) {
			const struct sl_gres_need *g = &r->gres[i];
			bool job = g->per == SL_GRES_PER_JOB;

			if (!g->count || turn != (g->kinds ? __builtin_popcount(g->kinds) : 1) + (job ? SL_MAX_GRES : 0))
				continue;
			need->need[need->needs + need->jobs] = *g;
			need->needs += !job;
			need->jobs += job;
		}
	}
}

static void least_gres(struct sl_need *need)
{
	for (uint32_t i = 0; i < need->needs + need->jobs; i++) {
		const struct sl_gres_need *g = &need->need[i];
		uint64_t n = g->count;

		if (__builtin_popcount(g->kinds) != 1)
			continue;
		if (g->per == SL_GRES_PER_TASK)
			n *= need->least;
		else if (g->per == SL_GRES_PER_JOB)
			n = 1;
		n += need->least_gres[__builtin_ctz(g->kinds)];
		need->least_gres[__builtin_ctz(g->kinds)] = sl_min(n, UINT16_MAX);
	}
}

/* tasks_per_node_exact: each node has exactly that many tasks, so the tasks determine the number of nodes. */
static int exact_tasks(struct sl_need *need, const struct sl_request *r, struct sl_misfit *misfit)
{
	uint32_t each = r->tasks_per_node;
	int64_t tasks = r->tasks ? r->tasks : (int64_t) need->min_nodes * each;
	int64_t nodes = tasks / each;

	if (tasks % each || nodes < need->min_nodes)
		return sl_refuse_for_ever(misfit, SL_LACK_SENSE, need->min_nodes, nodes);
	if (nodes > need->max_nodes || nodes > SL_MAX_NODES)
		return sl_refuse_for_ever(misfit, SL_LACK_SENSE, nodes, need->max_nodes);
	need->units = tasks;
	need->min_nodes = nodes;
	need->max_nodes = nodes;
	need->least = need->most = each;
	return 0;
}

/* Limit max_nodes to the nodes that the units can fill, unless most_nodes is set.  With gres of the job the limit is one
 * node per piece, because each piece may be on another node. */
static void limit_nodes(struct sl_need *need, const struct sl_request *r)
{
	uint64_t nodes = 0;

	for (uint32_t i = 0; i < r->gres_needs; i++)
		nodes = sl_max(nodes, r->gres[i].per == SL_GRES_PER_JOB ? r->gres[i].count : 0);
	if (nodes)
		nodes = sl_max(nodes, need->min_nodes);
	else
		nodes = r->most_nodes ? UINT32_MAX : sl_quotient_up((uint64_t) need->units, need->least);
	need->max_nodes = sl_min(need->max_nodes, nodes);
}

static int units_of(struct sl_need *need, const struct sl_request *r, struct sl_misfit *misfit)
{
	bool exact = r->tasks_per_node && r->tasks_per_node_exact;

	need->least = 1;
	need->most = r->tasks && r->tasks_per_node ? r->tasks_per_node : UINT32_MAX;
	need->floor_cores = or_most(r->min_cores_per_node);
	if (exact || r->tasks) {
		need->unit_cores = sl_max(r->cores_per_task, 1);
		need->core_units = sl_max(r->tasks_per_core, 1);
		if (exact)
			return exact_tasks(need, r, misfit);
		need->units = r->tasks;
	} else {
		need->unit_cores = need->core_units = 1;
		need->least = sl_max(r->min_cores_per_node, 1);
		need->units = r->cores;
	}
	need->units = sl_max_signed(need->units, (int64_t) need->min_nodes * need->least);
	limit_nodes(need, r);
	return 0;
}

/* With max_nodes nodes, a node must take what the others cannot, even if they all take the most that any node has.  For a
 * job of one node, that is everything. */
static int least_of_few(struct sl_need *need, uint32_t most_cores, struct sl_misfit *misfit)
{
	int64_t most = sl_min_signed(sl_need_held_there(&need->node, most_cores), sl_min_signed(need->most, need->units));
	int64_t least = need->units - (int64_t) (need->max_nodes - 1) * most;

	if (least > most && least > need->least)
		return sl_refuse_for_ever(misfit, SL_LACK_MAX_NODES,
					  most ? (int64_t) sl_quotient_up((uint64_t) need->units, (uint64_t) most) : INT64_MAX,
					  need->max_nodes);
	if (least > need->least)
		need->least = (uint32_t) least;
	return 0;
}

/* Cores that a node gives for this many units. */
static uint32_t cores_for(const struct sl_node_need *need, uint32_t units)
{
	uint64_t cores = sl_quotient_up((uint64_t) units * need->unit_cores, need->core_units);

	cores = sl_max(cores, (uint32_t) need->floor_cores);
	return (uint32_t) (need->once > 1 ? sl_quotient_up(cores, need->once) * need->once : cores);
}

/* More than any node has; times 2^32 still in the range of int64_t. */
#define MOST_UNIT_MEMORY (INT64_C(1) << 28)

/* Set the memory amounts, with the memory that comes with gres per node and per task. */
static void memory_of(struct sl_need *need, const struct sl_request *r)
{
	need->node_memory = r->memory_per_node;
	need->memory_per_core = r->memory_per_core;
	for (uint32_t i = 0; i < r->gres_needs; i++) {
		if (r->gres[i].per == SL_GRES_PER_NODE)
			need->node_memory += r->gres[i].memory * r->gres[i].count;
		else if (r->gres[i].per == SL_GRES_PER_TASK)
			need->unit_memory += r->gres[i].memory * r->gres[i].count;
	}
	need->unit_memory = sl_min_signed(need->unit_memory, MOST_UNIT_MEMORY);
	need->least_memory = need->node_memory + need->unit_memory * need->least;
	if (need->least_cores <= SL_MAX_NODE_CORES)
		need->least_memory += r->memory_per_core * need->least_cores;
}

int sl_need_of(const struct sl_timeline *tl, const struct sl_request *r, struct sl_need *need,
	       struct sl_misfit *misfit)
{
	*need = (struct sl_need) { .r = r, .whole = r->whole_nodes, .all_memory = r->all_memory, .beside = sl_request_beside(r) };
	need->once = need->whole ? 1 : sl_max(r->cores_at_once, 1);
	need->min_nodes = sl_max(r->min_nodes, 1);
	need->max_nodes = r->max_nodes ? r->max_nodes : UINT32_MAX;
	if (need->min_nodes > need->max_nodes)
		return sl_refuse_for_ever(misfit, SL_LACK_SENSE, need->min_nodes, need->max_nodes);
	if (units_of(need, r, misfit) || least_of_few(need, tl->most_cores, misfit))
		return -1;
	need->most_cores = r->max_cores_per_node ? or_most(r->max_cores_per_node) : INT32_MAX;
	need->least_cores = INT32_MAX;
	if ((uint64_t) need->least * need->unit_cores / need->core_units < INT32_MAX - SL_MAX_NODE_CORES &&
	    need->floor_cores < INT32_MAX - SL_MAX_NODE_CORES)
		need->least_cores = (int32_t) cores_for(&need->node, need->least);
	if (need->least_cores > need->most_cores)
		return sl_refuse_for_ever(misfit, SL_LACK_SENSE, need->least_cores, need->most_cores);
	need->given_cores = need->least_cores;
	need->devices = tl->devices;
	need->cap = (uint32_t) sl_min_signed(need->units, UINT32_MAX);
	memory_of(need, r);
	if (need->beside)	/* cores that the timeline does not count need not be free there; cores that must stay free
				 * must be */
		need->least_cores = or_most(sl_max_signed((int64_t) need->least_cores - need->beside, 1));
	if (!need->whole)
		need->least_cores = (int32_t) sl_max_signed(need->least_cores, or_most(r->least_free_cores));
	if (!r->gres_needs)
		return 0;
	sort_gres(need, r);
	least_gres(need);
	return 0;
}

/* Take *count* pieces of the kinds in the mask from *left*, lowest kind first. */
static bool take_gres(uint16_t kinds, uint64_t count, uint16_t *left, uint16_t *taken)
{
	for (int k = 0; k < SL_MAX_GRES && count; k++) {
		uint16_t n = sl_min(left[k], count);

		if (!(kinds >> k & 1))
			continue;
		left[k] -= n;
		taken[k] += n;
		count -= n;
	}
	return !count;
}

static bool gres_for(const struct sl_node_need *need, uint32_t units, uint16_t *left, uint16_t *taken)
{
	for (uint32_t i = 0; i < need->needs; i++) {
		const struct sl_gres_need *g = &need->need[i];
		uint64_t n = g->per == SL_GRES_PER_TASK ? (uint64_t) g->count * units : g->count;

		if (!take_gres(g->kinds, n, left, taken))
			return false;
	}
	return true;
}

static void begin_gres(const struct sl_node_need *need, const struct sl_resources *capacity, const struct sl_resources *free,
		       uint16_t *left)
{
	memcpy(left, free->gres, sizeof(free->gres));
	if (need->devices)
		sl_devices_narrow(need->devices, capacity, free, left);
}

static bool gres_fit(const struct sl_node_need *need, const struct sl_resources *capacity, const struct sl_offer *o,
		     uint32_t units, uint16_t *left)
{
	uint16_t taken[SL_MAX_GRES] = { 0 };

	begin_gres(need, capacity, &o->free, left);
	return gres_for(need, units, left, taken);
}

/* Memory of a node for this many units. */
static int64_t units_memory(const struct sl_node_need *need, uint32_t units)
{
	return need->node_memory + need->unit_memory * units + need->memory_per_core * cores_for(need, units);
}

/* Reduce o->units to what the gres allow, then set o->job to the gres of the job that are left. */
static bool offer_gres(const struct sl_node_need *need, const struct sl_resources *capacity, struct sl_offer *o)
{
	uint16_t left[SL_MAX_GRES], taken[SL_MAX_GRES] = { 0 };

	if (!gres_fit(need, capacity, o, o->units, left)) {
		if (!gres_fit(need, capacity, o, need->least, left))
			return false;
		o->units = SL_FIRST(units, need->least + 1, o->units, gres_fit(need, capacity, o, units, left)) - 1;
		gres_fit(need, capacity, o, o->units, left);
	}
	for (uint32_t j = 0; j < need->jobs; j++) {
		const struct sl_gres_need *g = &need->need[need->needs + j];
		int64_t memory = o->free.memory - units_memory(need, o->units);
		uint32_t have = 0;

		for (int k = 0; k < SL_MAX_GRES; k++)
			have += g->kinds >> k & 1 ? left[k] : 0;
		for (uint32_t i = 0; i < j; i++)
			memory -= need->need[need->needs + i].memory * o->job[i];
		if (g->memory && memory < g->memory * (int64_t) have)
			have = memory > 0 ? (uint32_t) (memory / g->memory) : 0;
		if (!have)
			return false;
		o->job[j] = have < g->count ? have : g->count;
		take_gres(g->kinds, o->job[j], left, taken);
	}
	return true;
}

bool sl_need_offer(const struct sl_node_need *need, const struct sl_resources *capacity, struct sl_offer *o)
{
	int64_t memory = o->free.memory - need->node_memory, units;
	int64_t cores = sl_min_signed((int64_t) o->free.cores + need->beside, need->most_cores);

	if (!sl_need_plausible(need, &o->free, capacity))
		return false;
	if (need->memory_per_core)
		cores = sl_min_signed(cores, memory / need->memory_per_core);
	units = sl_min_signed(sl_need_held(need, cores), sl_min_signed(need->most, need->cap));
	if (need->unit_memory)
		units = sl_min_signed(units, memory / need->unit_memory);
	if (units < need->least)
		return false;
	o->units = (uint32_t) units;
	return !(need->needs + need->jobs) || offer_gres(need, capacity, o);
}

uint32_t sl_need_units(const struct sl_node_need *need, const struct sl_resources *capacity,
		       const struct sl_resources *free)
{
	struct sl_offer o = { .free = *free };

	return sl_need_offer(need, capacity, &o) ? o.units : 0;
}

bool sl_need_amounts(const struct sl_need *need, const struct sl_resources *capacity,
		     const struct sl_resources *free, uint32_t units, const uint32_t *job,
		     struct sl_resources *each)
{
	uint16_t left[SL_MAX_GRES];

	if (need->whole) {
		*each = *capacity;
		return true;
	}
	*each = (struct sl_resources) { .cores = (int32_t) cores_for(&need->node, units) };
	each->memory = need->all_memory ? capacity->memory : units_memory(&need->node, units);
	if (!(need->needs + need->jobs))
		return true;
	begin_gres(&need->node, capacity, free, left);
	if (!gres_for(&need->node, units, left, each->gres))
		return false;
	for (uint32_t j = 0; j < need->jobs; j++) {
		if (!take_gres(need->need[need->needs + j].kinds, job[j], left, each->gres))
			return false;
		each->memory += need->need[need->needs + j].memory * job[j];
	}
	return !need->devices || sl_devices_take(need->devices, capacity, free, each->gres);
}
