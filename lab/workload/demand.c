/* SPDX-License-Identifier: MIT */
/*
 * demand.c - a job's request in figures.
 *
 * Nodes of the empty machine are taken by kind, those that hold most of the job
 * first.  Partitions, features and node lists are not looked at: what comes out is
 * never more than the job really needs.
 */
#include "workload/demand.h"

#include "base/order.h"
#include "base/number.h"
#include "model/cluster.h"
#include "model/request.h"

#include <stdlib.h>
#include <string.h>

struct sl_capacity {		/* of one kind of node, for the job at hand */
	uint64_t units;		/* tasks, or cores */
	uint32_t gres;		/* of what is asked for per job */
	uint32_t nodes;
};

/* -- the machine --------------------------------------------------------- */

static int compare_gres(const struct sl_snapshot *s, uint32_t a, uint32_t b)
{
	struct sl_range ga = s->node.gres[a], gb = s->node.gres[b];
	int c = SL_ORDER(ga.count, gb.count);

	for (uint32_t i = 0; !c && i < ga.count; i++)
		c = SL_ORDER(s->node_gres.kind[ga.first + i], s->node_gres.kind[gb.first + i]) ?:
			SL_ORDER(s->node_gres.count[ga.first + i], s->node_gres.count[gb.first + i]);
	return c;
}

/* Alike nodes become neighbours, the most cores first, then the most GPUs. */
static int compare_nodes(const struct sl_snapshot *s, uint32_t a, uint32_t b)
{
	int64_t x = sl_node_gpus(s, a), y = sl_node_gpus(s, b);

	return SL_ORDER(s->node.cores[b], s->node.cores[a]) ?: SL_ORDER(y, x) ?:
		SL_ORDER(s->node.core_spec[b], s->node.core_spec[a]) ?:
		SL_ORDER(s->node.threads[a], s->node.threads[b]) ?: SL_ORDER(s->node.memory[a], s->node.memory[b]) ?:
		compare_gres(s, a, b);
}

static int by_kind(const void *a, const void *b, void *arg)
{
	uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;

	return compare_nodes(arg, x, y) ?: SL_ORDER(x, y);
}

static void add_node(struct sl_machine *m, uint32_t node)
{
	const struct sl_snapshot *s = m->snap;

	if (!m->kinds || compare_nodes(s, m->kind[m->kinds - 1].node, node))
		m->kind[m->kinds++] = (struct sl_machine_kind) {
			.node = node, .cores = s->node.cores[node],
			.threads = s->node.threads[node] ? s->node.threads[node] : 1,
			.gpus = sl_node_gpus(s, node), .memory = s->node.memory[node],
		};
	m->kind[m->kinds - 1].nodes++;
	m->nodes++;
	m->cores += m->kind[m->kinds - 1].cores;
	m->gpus += m->kind[m->kinds - 1].gpus;
	if (m->threads < m->kind[m->kinds - 1].threads)
		m->threads = m->kind[m->kinds - 1].threads;
}

int sl_machine_open(struct sl_machine *m, const struct sl_snapshot *snap, struct sl_error *err)
{
	uint32_t n = snap->node.rows, used = 0, *order = malloc((n ? n : 1) * sizeof(*order)), kinds = 0;

	memset(m, 0, sizeof(*m));
	m->snap = snap;
	m->threads = 1;
	if (!order)
		goto error;
	for (uint32_t i = 0; i < n; i++)
		if (!(snap->node.state[i] & SL_NODE_UNUSABLE))
			order[used++] = i;
	qsort_r(order, used, sizeof(*order), by_kind, (void *) (uintptr_t) snap);
	for (uint32_t i = 0; i < used; i++)
		kinds += !i || compare_nodes(snap, order[i - 1], order[i]);
	m->kind = calloc(kinds + 1, sizeof(*m->kind));
	m->room = calloc(kinds + 1, sizeof(*m->room));
	if (!m->kind || !m->room)
		goto error;
	for (uint32_t i = 0; i < used; i++)
		add_node(m, order[i]);
	free(order);
	return 0;
error:
	free(order);
	sl_machine_close(m);
	return sl_fail(err, SL_ENOMEM, "no memory for the kinds of %u nodes", n);
}

void sl_machine_close(struct sl_machine *m)
{
	free(m->kind);
	free(m->room);
	memset(m, 0, sizeof(*m));
}

/* -- a job ---------------------------------------------------------------- */

struct request {		/* a job row, with what is not said filled in */
	uint64_t tasks;		/* 0: not said */
	uint64_t units;		/* tasks, or cores: to be spread over nodes */
	uint32_t unit_cores;	/* cores of a unit... */
	uint32_t units_per_core;	/* ... or units of a core */
	uint32_t job;		/* row */
	uint32_t min_nodes, max_nodes, per_node, pn_cores;
	bool exact;		/* per_node units on each node */
	bool fixed;		/* on so many nodes and no others */
	int64_t memory_node, memory_cpu;
	struct sl_range gres;
	uint32_t job_gres;	/* the most of any gres for the job as a whole */
};

static void read_request(const struct sl_machine *m, uint32_t job, uint32_t shape, struct request *r)
{
	struct sl_ask a = sl_request_read(m->snap, job, shape);
	uint32_t tpn = a.overcommit ? 0 : a.tasks_per_node;

	*r = (struct request) {
		.tasks = a.overcommit ? 0 : a.tasks, .unit_cores = 1, .units_per_core = 1, .min_nodes = a.min_nodes,
		.max_nodes = a.max_nodes, .per_node = tpn, .pn_cores = sl_quotient_up(a.node_cpus, m->threads),
		.job = job, .memory_node = a.memory_per_node, .memory_cpu = a.memory_per_cpu, .gres = a.gres,
		.job_gres = a.job_gres, .fixed = a.max_nodes == a.min_nodes,
	};
	if (!r->tasks && tpn) {
		r->tasks = (uint64_t) tpn * r->min_nodes;
		r->exact = true;
	}
	if (!r->tasks) {
		r->units = sl_quotient_up(a.min_cpus, m->threads);
	} else {
		r->units = r->tasks;
		r->unit_cores = sl_quotient_up(a.cpus_per_task, m->threads);
		if (a.cpus_per_task < m->threads)
			r->units_per_core = m->threads / a.cpus_per_task;
		if (tpn && r->fixed && r->tasks == (uint64_t) tpn * r->min_nodes)
			r->exact = true;
	}
	if (r->units < r->min_nodes)
		r->units = r->min_nodes;
}

/* How many a node has of what a row of job_gres asks for. */
static uint32_t node_gres(const struct sl_snapshot *s, uint32_t node, uint32_t want)
{
	struct sl_range g = s->node.gres[node];
	uint64_t n = 0;

	for (uint32_t i = g.first; i < g.first + g.count; i++)
		if (sl_gres_matches(s, want, s->node_gres.kind[i]))
			n += s->node_gres.count[i];
	return sl_cap_u32(n);
}

/* Units that gres leave room for on a node of a kind; also what counts per job. */
static uint64_t gres_capacity(const struct sl_snapshot *s, const struct request *r, uint32_t node, uint64_t units,
			      uint32_t *per_job)
{
	for (uint32_t i = r->gres.first; i < r->gres.first + r->gres.count; i++) {
		uint32_t want = s->job_gres.count[i], have = node_gres(s, node, i);

		if (s->job_gres.per[i] == SL_PER_JOB)
			*per_job = have;
		else if (want > have)
			return 0;
		else if (s->job_gres.per[i] == SL_PER_TASK && want && units > have / want)
			units = have / want;
	}
	return units;
}

static void kind_capacity(const struct sl_machine *m, const struct request *r, const struct sl_machine_kind *k,
			  struct sl_capacity *c)
{
	uint32_t cores = sl_request_node_cores(m->snap, r->job, k->node);
	uint64_t units = (uint64_t) (cores / r->unit_cores) * r->units_per_core;
	int64_t unit_mb = sl_product_signed(sl_product_signed(r->memory_cpu, r->unit_cores), m->threads);
	int64_t left = sl_difference(k->memory, r->memory_node);

	*c = (struct sl_capacity) { .nodes = k->nodes };
	if (cores < r->pn_cores)
		return;
	if ((m->snap->meta.select_flags[0] & SL_SELECT_MEMORY) && k->memory > 0) {
		if (left < 0)
			return;
		if (unit_mb > 0 && units > (uint64_t) (left / unit_mb))
			units = left / unit_mb;
	}
	if (r->per_node && units > r->per_node)
		units = r->per_node;
	if (r->exact && units < r->per_node)
		return;
	c->units = gres_capacity(m->snap, r, k->node, units, &c->gres);
	if (r->exact && c->units < r->per_node)
		c->units = 0;
}

static int by_units(const void *a, const void *b)
{
	return SL_ORDER(((const struct sl_capacity *) b)->units, ((const struct sl_capacity *) a)->units);
}

static int by_gres(const void *a, const void *b)
{
	return SL_ORDER(((const struct sl_capacity *) b)->gres, ((const struct sl_capacity *) a)->gres);
}

/* The fewest nodes whose capacities come to *need*, or SL_NONE. */
static uint32_t fewest_holding(const struct sl_machine *m, uint64_t need, bool gres)
{
	uint64_t nodes = 0;

	if (m->kinds > 1)
		qsort(m->room, m->kinds, sizeof(*m->room), gres ? by_gres : by_units);
	for (uint32_t i = 0; i < m->kinds && need; i++) {
		uint64_t each = gres ? m->room[i].gres : m->room[i].units, n;

		if (!each)
			break;
		n = sl_quotient_up(need, each);
		if (n <= m->room[i].nodes)
			return nodes + n;
		nodes += m->room[i].nodes;
		need -= each * m->room[i].nodes;	/* less than need: n is larger than that */
	}
	return need ? SL_NONE : nodes;
}

static uint32_t fewest_nodes(const struct sl_machine *m, const struct request *r)
{
	uint32_t nodes, able = 0, more;

	for (uint32_t i = 0; i < m->kinds; i++) {
		kind_capacity(m, r, &m->kind[i], &m->room[i]);
		able += m->room[i].units ? m->room[i].nodes : 0;
	}
	nodes = fewest_holding(m, r->units, false);
	if (nodes == SL_NONE || able < r->min_nodes)
		return SL_NONE;
	if (nodes < r->min_nodes)
		nodes = r->min_nodes;
	if (r->job_gres) {
		more = fewest_holding(m, r->job_gres, true);
		if (more == SL_NONE)
			return SL_NONE;
		nodes = nodes > more ? nodes : more;
	}
	return r->max_nodes && nodes > r->max_nodes ? SL_NONE : nodes;
}

static void gpu_demand(const struct sl_snapshot *s, const struct request *r, struct sl_demand *d)
{
	for (uint32_t i = r->gres.first; i < r->gres.first + r->gres.count; i++) {
		uint32_t n = s->job_gres.count[i];

		if (strcmp(sl_snapshot_str(s, s->job_gres.name[i]), "gpu"))
			continue;
		switch (s->job_gres.per[i]) {
		case SL_PER_TASK:
			d->task_gpus = sl_cap_u32((uint64_t) d->task_gpus + n);
			break;
		case SL_PER_JOB:
			d->job_gpus = sl_cap_u32((uint64_t) d->job_gpus + n);
			break;
		default:
			d->node_gpus = sl_cap_u32((uint64_t) d->node_gpus + n);
		}
	}
}

void sl_job_demand(const struct sl_machine *m, uint32_t job, struct sl_demand *d)
{
	sl_shape_demand(m, job, 0, d);
}

void sl_shape_demand(const struct sl_machine *m, uint32_t job, uint32_t shape, struct sl_demand *d)
{
	const struct sl_snapshot *s = m->snap;
	struct request r;

	read_request(m, job, shape, &r);
	memset(d, 0, sizeof(*d));
	gpu_demand(s, &r, d);
	d->nodes = fewest_nodes(m, &r);
	d->tasks = r.tasks;
	d->task_cores = r.unit_cores;
	d->cores = sl_product(sl_quotient_up(r.units, r.units_per_core), r.unit_cores);
	if (r.exact)
		d->node_cores = sl_cap_u32(sl_product(sl_quotient_up(r.per_node, r.units_per_core), r.unit_cores));
	d->fixed_nodes = r.fixed;
	if (d->cores < (uint64_t) r.pn_cores * r.min_nodes)
		d->cores = (uint64_t) r.pn_cores * r.min_nodes;
	d->whole_nodes = s->job.flags[job] & SL_JOBF_EXCLUSIVE;
	if (d->nodes != SL_NONE)
		d->gpus = (uint64_t) d->node_gpus * d->nodes;
	d->gpus = sl_sum(sl_sum(d->gpus, d->job_gpus), sl_product(d->task_gpus, r.units));
}

bool sl_job_could_run(const struct sl_machine *m, uint32_t job)
{
	struct sl_demand d = { .nodes = SL_NONE };

	for (uint32_t shape = 0; d.nodes == SL_NONE && shape <= m->snap->job.shapes[job].count; shape++)
		sl_shape_demand(m, job, shape, &d);
	return d.nodes != SL_NONE;
}
