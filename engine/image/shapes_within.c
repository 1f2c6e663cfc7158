/* SPDX-License-Identifier: MIT */
/* shapes_within.c - alternatives that ask for no more than the job itself; see shapes.h */
#include "image/shapes.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/number.h"

/* What was accepted. */
struct most {
	uint64_t nodes;		/* that the request names, or the fewest that it needs */
	uint64_t cpus, tasks;
	bool named;		/* the request says how many nodes at most */
	bool whole;
	int64_t time_limit;
};

const char *sl_shape_refusal_word(enum sl_shape_refusal refusal)
{
	static const char *const words[SL_SHAPE_REFUSALS] = {
		[SL_SHAPE_MORE_NODES] = "nodes", [SL_SHAPE_MORE_CPUS] = "CPUs", [SL_SHAPE_MORE_GRES] = "gres",
		[SL_SHAPE_MORE_TIME] = "time",
	};

	return refusal < SL_SHAPE_REFUSALS && words[refusal] ? words[refusal] : "";
}

const char *sl_shapes_say_beyond(char out[SL_BEYOND_TEXT], uint32_t first, enum sl_shape_refusal refusal, uint32_t beyond)
{
	out[0] = 0;
	if (beyond == 1)
		snprintf(out, SL_BEYOND_TEXT, "alternative %" PRIu32 " asks for more %s than the job, and is not offered", first,
			 sl_shape_refusal_word(refusal));
	else if (beyond)
		snprintf(out, SL_BEYOND_TEXT, "alternative %" PRIu32 " asks for more %s than the job; %" PRIu32
			 " alternatives are not offered", first, sl_shape_refusal_word(refusal), beyond);
	return out;
}

/* The nodes that so many tasks need, at most so many on each (0: not said). */
static uint64_t nodes_of(uint64_t tasks, uint64_t per_node)
{
	return per_node ? sl_quotient_up(tasks, per_node) : 1;
}

/*
 * What slurmctld accepted, as an upper bound for alternatives.  If the request names no greatest number of nodes, the job could
 * be spread over as many nodes as it has tasks.  But slurmctld tested its limits for the fewest nodes that it needs; so what the
 * job has on each node (CPUs, gres) is counted for that many nodes only.
 */
static struct most most_of(const struct sl_job_row *j, const struct sl_accepted *a)
{
	struct most m = { .nodes = a->max_nodes, .tasks = sl_max(j->num_tasks, 1), .named = a->max_nodes,
			  .whole = a->whole, .time_limit = a->time_limit };

	m.nodes = sl_max(m.named ? m.nodes : nodes_of(m.tasks, j->ntasks_per_node), sl_max(j->min_nodes, 1));
	m.cpus = sl_max(j->min_cpus, m.nodes * j->pn_min_cpus);
	return m;
}

static uint64_t total_of(const struct sl_job_gres_row *g, uint64_t nodes, uint64_t tasks)
{
	return g->per == SL_PER_NODE ? nodes * g->count : g->per == SL_PER_TASK ? tasks * g->count : g->count;
}

/* How many of that name and type the job can come to. */
static uint64_t find_gres(const struct sl_builder *b, const struct sl_job_row *j, const struct most *m,
			  const struct sl_job_gres_row *wanted)
{
	struct sl_job_gres_row g;
	uint64_t n = 0;

	for (uint32_t i = j->gres.first; i < j->gres.first + j->gres.count; i++)
		if (!sl_builder_row(b, SL_T_JOB_GRES, i, &g) && g.name == wanted->name && g.type == wanted->type)
			n += total_of(&g, m->nodes, m->tasks);
	return n;
}

/* What the alternative asks too much of; else it may have *nodes nodes, which is lowered. */
static enum sl_shape_refusal limit_gres(const struct sl_builder *b, const struct sl_job_row *j, const struct most *m,
					const struct sl_shape_row *s, uint64_t least, uint64_t *nodes)
{
	struct sl_job_gres_row g;

	for (uint32_t i = s->gres.first; i < s->gres.first + s->gres.count; i++) {
		uint64_t has;

		if (sl_builder_row(b, SL_T_JOB_GRES, i, &g) || !g.count)
			continue;
		has = find_gres(b, j, m, &g);
		if (total_of(&g, least, sl_max(s->num_tasks, 1)) > has)
			return SL_SHAPE_MORE_GRES;
		if (g.per == SL_PER_NODE)
			*nodes = sl_min(*nodes, has / g.count);
	}
	return SL_SHAPE_FREE;
}

static enum sl_shape_refusal limit_shape(const struct sl_builder *b, const struct sl_job_row *j, const struct most *m,
					 struct sl_shape_row *s)
{
	const uint64_t cpus = sl_max(s->cpus_per_task, 1), tasks = sl_max(s->num_tasks, 1);
	const uint64_t least = sl_max(sl_max(s->min_nodes, 1), nodes_of(tasks, s->ntasks_per_node));
	const uint64_t on_each = tasks > 1 ? cpus * s->ntasks_per_node : 0;	/* Slurm gives these to each node */
	const uint64_t most = s->max_nodes ? s->max_nodes : sl_max(least, tasks);
	const bool more = sl_max(tasks * cpus, least * on_each) > m->cpus;
	uint64_t nodes = most;
	enum sl_shape_refusal why;

	if (least > m->nodes)
		return SL_SHAPE_MORE_NODES;
	if (more && !m->whole)
		return SL_SHAPE_MORE_CPUS;
	if (m->named || s->max_nodes || more)
		nodes = sl_min(nodes, m->nodes);
	if (!m->whole && on_each)
		nodes = sl_min(nodes, m->cpus / on_each);
	if ((why = limit_gres(b, j, m, s, least, &nodes)))
		return why;
	if (s->time_limit > m->time_limit)
		return SL_SHAPE_MORE_TIME;
	/* one that does not bind is not written: to Slurm's select it is a wish for so many */
	if (nodes < most)
		s->max_nodes = (uint32_t) nodes;
	return SL_SHAPE_FREE;
}

uint32_t sl_shapes_keep_within(struct sl_builder *b, const struct sl_job_row *job, const struct sl_accepted *accepted,
			       uint32_t *first)
{
	const struct most m = most_of(job, accepted);
	struct sl_shape_row s;
	uint32_t beyond = 0;

	for (uint32_t i = 0; i < job->shapes.count; i++) {
		enum sl_shape_refusal why;

		if (sl_builder_row(b, SL_T_SHAPE, job->shapes.first + i, &s))
			continue;
		if ((why = limit_shape(b, job, &m, &s))) {
			s.refused = why;
			*first = beyond++ ? *first : i + 1;
		}
		sl_builder_update(b, SL_T_SHAPE, job->shapes.first + i, &s);
	}
	return beyond;
}
