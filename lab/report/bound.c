/* SPDX-License-Identifier: MIT */
/*
 * bound.c - how long a workload takes at the very least.
 *
 * A job is taken apart into demands: so many seconds of parts of a certain shape
 * (cores and GPUs that must be on one node).  Where a shape cannot say exactly what a job
 * needs it says less, so that the bound stays one: cores and GPUs that may lie on any node
 * are separate demands.  Prices are found with jobs as they ask; a job with alternatives
 * counts as the cheapest of them.
 */
#include "report/bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/request.h"
#include "report/bound_lp.h"
#include "workload/demand.h"

#define PARTS 3			/* demands of one job, at most */
#define VARIANTS 32		/* most cores a node of jobs that go anywhere with GPUs on each node */

struct shape {			/* of a part: what tells demands apart */
	uint32_t cores, gpus;
	bool whole;
	bool packed;		/* as many parts of *cores* as fit beside *gpus* on a node */
};

struct part {
	struct shape shape;
	double count;		/* at the same time */
};

struct bounding {
	const struct sl_snapshot *snap;
	const int64_t *runtime;
	struct sl_machine machine;
	struct shape shape[SL_BOUND_ROWS];
	double demand[SL_BOUND_ROWS];
	uint32_t shapes;
	struct sl_bound_item item[SL_BOUND_ROWS * (VARIANTS + 1)];
	uint32_t items;
	struct sl_bound_node node[SL_BOUND_NODES];
	uint32_t kinds;
	uint32_t most_cores;	/* of a node with GPUs */
};

static struct part make_part(uint32_t cores, uint32_t gpus, double count)
{
	return (struct part) { .shape = { .cores = cores, .gpus = gpus }, .count = count };
}

/* A job on any number of nodes, each of which gives it GPUs as well. */
static int packed_parts(const struct bounding *b, const struct sl_demand *d, double units, struct part *p)
{
	uint32_t fit = b->most_cores / d->task_cores;

	if (fit <= VARIANTS) {
		p[0] = make_part(d->task_cores, d->node_gpus, units);
		p[0].shape.packed = true;
		return 1;
	}
	p[0] = make_part(d->task_cores, 0, units);
	p[1] = make_part(0, d->node_gpus, units / fit);
	return 2;
}

/* The parts of a job.  Returns how many; see struct sl_demand. */
static int take_apart(const struct bounding *b, const struct sl_demand *d, struct part *p)
{
	double units = (double) d->cores / d->task_cores;
	int n = 0;

	if (d->nodes == SL_NONE || !d->cores)
		return 0;
	if (d->whole_nodes) {
		p[n] = make_part(0, 0, d->nodes);
		p[n++].shape.whole = true;
	} else if (d->node_cores) {
		p[n++] = make_part(d->node_cores, d->node_gpus + d->task_gpus * (d->node_cores / d->task_cores),
				   (double) d->cores / d->node_cores);
	} else if (d->node_gpus && d->fixed_nodes) {
		p[n++] = make_part(d->task_cores, d->node_gpus, d->nodes);
		if (units > d->nodes)
			p[n++] = make_part(d->task_cores, 0, units - d->nodes);
	} else if (d->node_gpus) {
		n += packed_parts(b, d, units, p);
	} else {
		p[n++] = make_part(d->task_cores, d->task_gpus, units);
	}
	if (d->job_gpus && !d->whole_nodes)
		p[n++] = make_part(0, 1, d->job_gpus);
	return n;
}

static int find_shape(const struct bounding *b, const struct shape *s)
{
	for (uint32_t i = 0; i < b->shapes; i++)
		if (b->shape[i].cores == s->cores && b->shape[i].gpus == s->gpus && b->shape[i].whole == s->whole &&
		    b->shape[i].packed == s->packed)
			return i;
	return -1;
}

/* Add to the demand for a shape.  A shape too many falls apart into single cores and
 * GPUs, for which there is always a row. */
static void add_demand(struct bounding *b, const struct part *p, double seconds)
{
	static const struct shape core = { .cores = 1 }, gpu = { .gpus = 1 };
	int at = find_shape(b, &p->shape);

	if (at < 0 && b->shapes < SL_BOUND_ROWS - 2) {
		at = b->shapes++;
		b->shape[at] = p->shape;
	}
	if (at >= 0) {
		b->demand[at] += p->count * seconds;
		return;
	}
	if (p->shape.cores)
		b->demand[find_shape(b, &core)] += p->count * p->shape.cores * seconds;
	if (p->shape.gpus && !p->shape.packed)
		b->demand[find_shape(b, &gpu)] += p->count * p->shape.gpus * seconds;
}

/* Price of a job for a second. */
static double job_price(const struct bounding *b, const struct part *p, int n, const double *price)
{
	double sum = 0;

	for (int i = 0; i < n; i++) {
		int at = find_shape(b, &p[i].shape);

		if (at >= 0)
			sum += p[i].count * price[at];
	}
	return sum;
}

static void gather_demands(struct bounding *b)
{
	struct sl_demand d;
	struct part p[PARTS];

	for (uint32_t j = 0; j < b->snap->job.rows; j++) {
		sl_job_demand(&b->machine, j, &d);
		for (int i = 0, n = take_apart(b, &d, p); i < n; i++)
			add_demand(b, &p[i], (double) b->runtime[j]);
	}
}

/* Drop the rows that nobody demands; make the items of the others. */
static void make_items(struct bounding *b)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < b->shapes; i++) {
		if (b->demand[i] <= 0)
			continue;
		b->shape[kept] = b->shape[i];
		b->demand[kept++] = b->demand[i];
	}
	b->shapes = kept;
	for (uint32_t i = 0; i < b->shapes; i++) {
		const struct shape *s = &b->shape[i];
		uint32_t variants = s->packed ? b->most_cores / s->cores : 1;

		for (uint32_t k = 1; k <= variants; k++)
			b->item[b->items++] = (struct sl_bound_item) {
				.cores = s->cores * k, .gpus = s->gpus, .row = i, .gain = k, .whole = s->whole,
			};
	}
}

/* Kinds of nodes by cores and GPUs, the most cores first.  When there are too many, the further ones
 * count as nodes of the last kind, which gets as many GPUs as any of them has: better nodes than
 * there are only lower the bound. */
static void make_nodes(struct bounding *b)
{
	for (uint32_t i = 0; i < b->machine.kinds; i++) {
		const struct sl_machine_kind *k = &b->machine.kind[i];
		uint32_t at = 0;

		if (k->gpus && k->cores > b->most_cores)
			b->most_cores = k->cores;
		while (at < b->kinds && (b->node[at].cores != k->cores || b->node[at].gpus != k->gpus))
			at++;
		if (at == SL_BOUND_NODES) {
			at--;
			if (k->gpus > b->node[at].gpus)
				b->node[at].gpus = k->gpus;
		} else if (at == b->kinds) {
			b->node[b->kinds++] = (struct sl_bound_node) { .cores = k->cores, .gpus = k->gpus };
		}
		b->node[at].nodes += k->nodes;
	}
}

/* -- the bounds ------------------------------------------------------------------- */

/* The latest of: a submission + the work that comes from then on, / rate. */
struct tail {
	double work, rate, latest;
};

static void add_tail(struct tail *t, int64_t submit, double work)
{
	t->work += work;
	if (t->rate > 0 && (double) submit + t->work / t->rate > t->latest)
		t->latest = (double) submit + t->work / t->rate;
}

/* What a job takes at the least, whichever of its shapes it runs as; each by itself. */
struct least {
	double cores, gpus, price, run;
	double most_cores;		/* core-seconds, at the most */
	bool able;			/* it can run as one of them */
};

static struct least least_of(const struct bounding *b, uint32_t job, const double *price)
{
	struct sl_range shapes = b->snap->job.shapes[job];
	struct least l = { HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL, 0, false };
	struct sl_demand d;
	struct part p[PARTS];

	for (uint32_t shape = 0; shape <= shapes.count; shape++) {
		int64_t walltime = sl_request_read(b->snap, job, shape).walltime;
		double run = (double) (walltime < b->runtime[job] ? walltime : b->runtime[job]);

		sl_shape_demand(&b->machine, job, shape, &d);
		if (d.nodes == SL_NONE)
			continue;
		l.able = true;
		l.run = fmin(l.run, run);
		l.cores = fmin(l.cores, (double) d.cores * run);
		l.gpus = fmin(l.gpus, (double) d.gpus * run);
		l.price = fmin(l.price, job_price(b, p, take_apart(b, &d, p), price) * run);
		l.most_cores = fmax(l.most_cores, (double) d.cores * run);
	}
	return l;
}

/* The bounds; returns the core-seconds that all of it can come to at the most. */
static double core_seconds(const struct bounding *b, const double *price, double earning, struct sl_bound *bound)
{
	struct tail cores = { .rate = (double) b->machine.cores }, gpus = { .rate = (double) b->machine.gpus };
	struct tail patterns = { .rate = earning };
	int64_t first = b->snap->job.rows ? b->snap->job.submit_time[0] : 0;
	double most = 0;

	for (uint32_t j = b->snap->job.rows; j-- > 0;) {	/* rows are in the order of submission */
		int64_t submit = b->snap->job.submit_time[j] - first;
		struct least l = least_of(b, j, price);

		if (!l.able)
			continue;
		add_tail(&cores, submit, l.cores);
		add_tail(&gpus, submit, l.gpus);
		add_tail(&patterns, submit, l.price);
		bound->longest_s = fmax(bound->longest_s, (double) submit + l.run);
		most += l.most_cores;
	}
	bound->area_s = cores.latest;
	bound->gpu_area_s = gpus.latest;
	bound->patterns_s = patterns.latest * (1 - 1e-9);	/* what rounding may have added */
	return most;
}

int sl_bound_makespan(const struct sl_snapshot *snap, const int64_t *runtime_s, struct sl_bound *bound,
		      struct sl_error *err)
{
	struct bounding *b = calloc(1, sizeof(*b));
	struct sl_bound_problem problem;
	double price[SL_BOUND_ROWS] = { 0 }, earning = 0, work;
	int64_t patterns = 0;
	int rc = -1;

	memset(bound, 0, sizeof(*bound));
	if (!b) {
		sl_fail(err, SL_ENOMEM, "no memory for the bound of the makespan");
		return -1;
	}
	b->snap = snap;
	b->runtime = runtime_s;
	if (sl_machine_open(&b->machine, snap, err) < 0)
		goto error;
	make_nodes(b);
	b->shape[b->shapes++] = (struct shape) { .cores = 1 };
	b->shape[b->shapes++] = (struct shape) { .gpus = 1 };
	gather_demands(b);
	make_items(b);
	problem = (struct sl_bound_problem) {
		.item = b->item, .items = b->items, .node = b->node, .kinds = b->kinds, .demand = b->demand,
		.rows = b->shapes,
	};
	if (b->shapes)
		patterns = sl_bound_prices(&problem, price, &earning, err);
	if (patterns < 0)
		goto error;
	work = core_seconds(b, price, earning, bound);
	bound->kinds = b->shapes;
	bound->makespan_s = fmax(fmax(bound->longest_s, bound->area_s), fmax(bound->gpu_area_s, bound->patterns_s));
	if (bound->makespan_s > 0 && b->machine.cores)
		bound->utilization = fmin(work / ((double) b->machine.cores * bound->makespan_s), 1);
	rc = 0;
error:
	sl_machine_close(&b->machine);
	free(b);
	return rc;
}
