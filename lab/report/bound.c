/* SPDX-License-Identifier: MIT */
#include "report/bound.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "model/request.h"
#include "workload/demand.h"

enum { CORES, GPUS, HALVES, FULL_NODES, KINDS };	/* what a job takes for a while, and there is so much of */

struct bounding {
	const struct sl_snapshot *snap;
	const int64_t *runtime;
	struct sl_machine machine;
	uint32_t most_cores, most_gpus;		/* of a node */
};

/* The work of what comes from some instant on, and the latest of: instant + work / rate. */
struct tail {
	double work, rate, latest;
};

static void add_tail(struct tail *t, int64_t submit, double work)
{
	t->work += work;
	if (t->rate > 0 && (double) submit + t->work / t->rate > t->latest)
		t->latest = (double) submit + t->work / t->rate;
}

/* What a job holds while it runs; the last two in nodes (bound.h). */
static void hold(const struct bounding *b, const struct sl_demand *d, double held[KINDS])
{
	double parts = (double) d->cores / d->task_cores;
	uint32_t cores = d->task_cores;		/* of a part */
	bool full;

	if (d->whole_nodes) {
		parts = d->nodes;
	} else if (d->node_cores) {
		parts = (double) d->cores / d->node_cores;
		cores = d->node_cores;
	}
	full = d->whole_nodes || cores >= b->most_cores;
	held[CORES] = (double) d->cores;
	held[GPUS] = (double) d->gpus;
	held[HALVES] = full || 2 * (uint64_t) cores > b->most_cores ? parts : 2 * cores == b->most_cores ? parts / 2 : 0;
	held[FULL_NODES] = full ? parts : b->most_gpus ? (double) d->gpus / b->most_gpus : 0;
}

/* What a job takes at the least, whichever of its shapes it runs as; each by itself. */
struct least {
	double work[KINDS], run;
	double most_cores;		/* core-seconds, at the most */
	bool able;			/* it can run as one of them */
};

static struct least least_of(const struct bounding *b, uint32_t job)
{
	struct least l = { .work = { HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL }, .run = HUGE_VAL };
	double held[KINDS];
	struct sl_demand d;

	for (uint32_t shape = 0; shape <= b->snap->job.shapes[job].count; shape++) {
		int64_t walltime = sl_request_read(b->snap, job, shape).walltime;
		double run = (double) sl_min_signed(walltime, b->runtime[job]);

		sl_shape_demand(&b->machine, job, shape, &d);
		if (d.nodes == SL_NONE || !d.cores)
			continue;
		hold(b, &d, held);
		for (int k = 0; k < KINDS; k++)
			l.work[k] = fmin(l.work[k], held[k] * run);
		l.able = true;
		l.run = fmin(l.run, run);
		l.most_cores = fmax(l.most_cores, held[CORES] * run);
	}
	return l;
}

/* The bounds; returns the core-seconds that all of it can come to at the most. */
static double core_seconds(const struct bounding *b, struct sl_bound *bound)
{
	const double nodes = (double) b->machine.nodes;
	struct tail tail[KINDS] = {
		[CORES].rate = (double) b->machine.cores, [GPUS].rate = (double) b->machine.gpus,
		[HALVES].rate = nodes, [FULL_NODES].rate = nodes,
	};
	int64_t first = b->snap->job.rows ? b->snap->job.submit_time[0] : 0;
	double most = 0;

	for (uint32_t j = b->snap->job.rows; j-- > 0;) {	/* rows are in the order of submission */
		int64_t submit = b->snap->job.submit_time[j] - first;
		struct least l = least_of(b, j);

		if (!l.able)
			continue;
		for (int k = 0; k < KINDS; k++)
			add_tail(&tail[k], submit, l.work[k]);
		bound->longest_s = fmax(bound->longest_s, (double) submit + l.run);
		most += l.most_cores;
	}
	bound->area_s = tail[CORES].latest;
	bound->gpu_area_s = tail[GPUS].latest;
	bound->nodes_s = fmax(tail[HALVES].latest, tail[FULL_NODES].latest);
	return most;
}

int sl_bound_makespan(const struct sl_snapshot *snap, const int64_t *runtime_s, struct sl_bound *bound,
		      struct sl_error *err)
{
	struct bounding b = { .snap = snap, .runtime = runtime_s };
	double work;

	memset(bound, 0, sizeof(*bound));
	if (sl_machine_open(&b.machine, snap, err) < 0)
		return -1;
	for (uint32_t k = 0; k < b.machine.kinds; k++) {
		b.most_cores = sl_max(b.most_cores, b.machine.kind[k].cores);
		b.most_gpus = sl_max(b.most_gpus, b.machine.kind[k].gpus);
	}
	work = core_seconds(&b, bound);
	bound->makespan_s = fmax(fmax(bound->longest_s, bound->area_s), fmax(bound->gpu_area_s, bound->nodes_s));
	if (bound->makespan_s > 0 && b.machine.cores)
		bound->utilization = fmin(work / ((double) b.machine.cores * bound->makespan_s), 1);
	sl_machine_close(&b.machine);
	return 0;
}
