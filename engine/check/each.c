/* SPDX-License-Identifier: MIT */
/*
 * check/each.c - CPUs and memory that come with each gres.
 */
#include "check/private.h"

#include <string.h>

static bool brings_memory(const struct check *c, uint32_t g)
{
	return (c->snap->meta.select_flags[0] & SL_SELECT_MEMORY) && c->snap->job_gres.memory[g] > 0;
}

uint64_t check_gres_cpus(const struct check *c, struct sl_range gres, uint32_t per)
{
	uint64_t cpus = 0;

	for (uint32_t g = gres.first; g < gres.first + gres.count; g++)
		if (c->snap->job_gres.per[g] == per)
			cpus += (uint64_t) c->snap->job_gres.cpus[g] * c->snap->job_gres.count[g];
	return cpus;
}

/* Gres of that name on a node, of whatever type. */
static uint64_t count_of_node(const struct check *c, uint32_t want, uint32_t node)
{
	const struct sl_snapshot *s = c->snap;
	const char *name = check_str(c, s->job_gres.name[want]);
	uint64_t count = 0;

	for (uint32_t i = s->node.gres[node].first; i < s->node.gres[node].first + s->node.gres[node].count; i++)
		count += strcmp(check_str(c, s->gres_kind.name[s->node_gres.kind[i]]), name) ? 0 : s->node_gres.count[i];
	return count;
}

bool check_gres_memory(const struct check *c, const struct ask *a, uint32_t place, int64_t *memory)
{
	uint32_t node = c->plan->place.node[place];
	bool any = false;

	*memory = 0;
	for (uint32_t g = a->gres.first; g < a->gres.first + a->gres.count; g++) {
		bool each = c->snap->job_gres.per[g] == SL_PER_NODE;
		uint64_t count = a->whole ? count_of_node(c, g, node) : each ? c->snap->job_gres.count[g] :
			check_gres_at(c, g, place);
		int64_t all;

		if (!brings_memory(c, g))
			continue;
		any = true;
		if (__builtin_mul_overflow(c->snap->job_gres.memory[g], count, &all))
			all = INT64_MAX;
		*memory = check_later(*memory, all);
	}
	return any;
}

bool check_gres_fits_whole(const struct check *c, const struct ask *a, uint32_t node)
{
	const struct sl_node_view *n = &c->snap->node;
	uint64_t cpus = (uint64_t) n->cores[node] * (n->threads[node] ? n->threads[node] : 1);

	for (uint32_t g = a->gres.first; g < a->gres.first + a->gres.count; g++)
		if (count_of_node(c, g, node) * c->snap->job_gres.cpus[g] > cpus)
			return false;
	return true;
}
