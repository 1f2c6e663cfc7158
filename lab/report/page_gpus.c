/* SPDX-License-Identifier: MIT */
/*
 * page_gpus.c - which types of GPUs nodes have, and which shapes jobs have that ask for GPUs, as the page keeps them.
 *
 * In the JSON of a workload "gpu_types" names the types ("" where none is named), and where there are several, "gpu_kinds" has
 * runs of equal nodes: their number, then type and number of GPUs in turn, in the order in which they are drawn.  "shapes" has
 * the shapes, first those of the most jobs: cores and GPUs on each of the fewest nodes, the types that will do as bits, and jobs.
 */
#include "report/page_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "model/cluster.h"
#include "model/request.h"
#include "workload/demand.h"

/* -- types --------------------------------------------------------------------- */

static bool is_gpu(const struct sl_page *p, uint32_t kind)
{
	return kind < 16 && p->gpu_kinds >> kind & 1;
}

/* The number of a kind among those that are GPUs; no two of them have one type. */
static unsigned type_of(const struct sl_page *p, uint32_t kind)
{
	return (unsigned) __builtin_popcount(p->gpu_kinds & ((1u << kind) - 1));
}

/* True if the nodes have the same GPUs in the same order. */
static bool has_the_same(const struct sl_page *p, uint32_t a, uint32_t b)
{
	const struct sl_snapshot *s = &p->w->snap;
	struct sl_range x = s->node.gres[a], y = s->node.gres[b];
	uint32_t i = 0, k = 0;

	while (true) {
		while (i < x.count && !is_gpu(p, s->node_gres.kind[x.first + i]))
			i++;
		while (k < y.count && !is_gpu(p, s->node_gres.kind[y.first + k]))
			k++;
		if (i == x.count || k == y.count)
			return i == x.count && k == y.count;
		if (s->node_gres.kind[x.first + i] != s->node_gres.kind[y.first + k] || s->node_gres.count[x.first + i] != s->node_gres.count[y.first + k])
			return false;
		i++;
		k++;
	}
}

static void put_kinds(struct sl_page *p)
{
	const struct sl_snapshot *s = &p->w->snap;

	sl_json_open_array(p->json, "gpu_kinds");
	for (uint32_t i = 0, n; i < s->node.rows; i += n) {
		struct sl_range has = s->node.gres[i];

		for (n = 1; i + n < s->node.rows && has_the_same(p, i, i + n); n++)
			;
		sl_json_begin_array(p->json);
		sl_json_int(p->json, n);
		for (uint32_t g = has.first; g < has.first + has.count; g++)
			if (is_gpu(p, s->node_gres.kind[g])) {
				sl_json_int(p->json, type_of(p, s->node_gres.kind[g]));
				sl_json_int(p->json, s->node_gres.count[g]);
			}
		sl_json_end_array(p->json);
	}
	sl_json_end_array(p->json);
}

struct sl_range sl_page_gpus_of_kind(const struct sl_page *p, uint32_t node, uint32_t row)
{
	const struct sl_snapshot *s = &p->w->snap;
	struct sl_range has = s->node.gres[node], units = { 0 };

	for (uint32_t g = has.first; g < has.first + has.count; g++) {
		if (!is_gpu(p, s->node_gres.kind[g]))
			continue;
		if (sl_gres_matches(s, row, s->node_gres.kind[g])) {
			units.count = s->node_gres.count[g];
			break;
		}
		units.first += s->node_gres.count[g];
	}
	return units;
}

/* -- shapes ----------------------------------------------------------------------- */

/* What a job asks for on each of its fewest nodes. */
struct shape {
	uint32_t cores, gpus, types, job, jobs;
};

static int by_shape(const void *a, const void *b)
{
	const struct shape *x = a, *y = b;

	return SL_ORDER(y->cores, x->cores) ?: SL_ORDER(y->gpus, x->gpus) ?: SL_ORDER(y->types, x->types);
}

static int by_shape_and_job(const void *a, const void *b)
{
	const struct shape *x = a, *y = b;

	return by_shape(a, b) ?: SL_ORDER(x->job, y->job);
}

static int by_jobs(const void *a, const void *b)
{
	const struct shape *x = a, *y = b;

	return SL_ORDER(y->jobs, x->jobs) ?: by_shape(a, b);
}

static uint32_t each_of(int64_t all, uint32_t nodes)
{
	int64_t each = (all + nodes - 1) / nodes;

	return each < UINT32_MAX ? (uint32_t) each : UINT32_MAX;
}

static struct shape shape_of(const struct sl_page *p, const struct sl_machine *m, uint32_t job)
{
	const struct sl_snapshot *s = &p->w->snap;
	struct sl_ask a = sl_request_read(s, job, 0);
	struct shape sh = { .job = job };
	struct sl_demand d;
	uint32_t nodes;

	sl_job_demand(m, job, &d);
	nodes = d.nodes == SL_NONE || !d.nodes ? a.min_nodes : d.nodes;
	sh.cores = each_of((int64_t) d.cores, nodes);
	for (uint32_t g = a.gres.first; g < a.gres.first + a.gres.count; g++) {
		uint32_t types = 0;

		for (uint32_t k = 0; k < s->gres_kind.rows && k < 16; k++)
			types |= is_gpu(p, k) && sl_gres_matches(s, g, k) ? 1u << type_of(p, k) : 0;
		sh.types |= types;
		sh.gpus += types ? each_of(sl_ask_gres(s, &a, g, nodes), nodes) : 0;
	}
	return sh;
}

static void put_shapes(struct sl_page *p, const struct shape *shape, uint32_t shapes)
{
	sl_json_open_array(p->json, "shapes");
	for (uint32_t i = 0; i < shapes; i++) {
		sl_json_begin_array(p->json);
		sl_json_int(p->json, shape[i].cores);
		sl_json_int(p->json, shape[i].gpus);
		sl_json_int(p->json, shape[i].types);
		sl_json_int(p->json, shape[i].jobs);
		sl_json_end_array(p->json);
	}
	sl_json_end_array(p->json);
}

/* Jobs that ask for GPUs, sorted by shape, become the shapes that they have; the number of a job's shape, from 1 on, is kept. */
static int write_shapes(struct sl_page *p, const struct shape *list, uint32_t count, struct sl_error *err)
{
	struct shape *shape = calloc(count + 1u, sizeof(*shape));
	uint32_t shapes = 0;

	if (!shape)
		return sl_fail(err, SL_ENOMEM, "report: out of memory");
	for (uint32_t i = 0; i < count; i++) {
		if (!i || by_shape(&list[i - 1], &list[i])) {
			shape[shapes] = list[i];
			shape[shapes++].job = i;	/* the first of its jobs in the list */
		}
		shape[shapes - 1].jobs++;
	}
	qsort(shape, shapes, sizeof(*shape), by_jobs);
	for (uint32_t k = 0; k < shapes; k++)
		for (uint32_t i = shape[k].job; i < shape[k].job + shape[k].jobs; i++)
			p->shape_of[list[i].job] = k + 1;
	put_shapes(p, shape, shapes);
	free(shape);
	return 0;
}

static int make_shapes(struct sl_page *p, struct sl_error *err)
{
	uint32_t jobs = p->w->snap.job.rows, count = 0;
	struct shape *list = calloc(jobs + 1u, sizeof(*list));
	struct sl_machine m;
	int rc;

	if (sl_machine_open(&m, &p->w->snap, err)) {
		free(list);
		return -1;
	}
	p->shape_of = calloc(jobs + 1u, sizeof(*p->shape_of));
	for (uint32_t j = 0; list && p->shape_of && j < jobs; j++) {
		list[count] = shape_of(p, &m, j);
		count += list[count].gpus > 0;
	}
	if (list && p->shape_of) {
		qsort(list, count, sizeof(*list), by_shape_and_job);
		rc = write_shapes(p, list, count, err);
	} else {
		rc = sl_fail(err, SL_ENOMEM, "report: out of memory");
	}
	free(list);
	sl_machine_close(&m);
	return rc;
}

int sl_page_put_gpus(struct sl_page *p, bool shapes, struct sl_error *err)
{
	const struct sl_snapshot *s = &p->w->snap;

	sl_json_open_array(p->json, "gpu_types");
	for (uint32_t k = 0; k < s->gres_kind.rows; k++)
		if (is_gpu(p, k))
			sl_json_str(p->json, sl_snapshot_str(s, s->gres_kind.type[k]));
	sl_json_end_array(p->json);
	if (p->gpu_kinds & (p->gpu_kinds - 1))
		put_kinds(p);
	return shapes ? make_shapes(p, err) : 0;
}
