/* SPDX-License-Identifier: MIT */
/*
 * workload/esp.c - the Effective System Performance benchmark, version 2.
 *
 * Wong, Oliker, Kramer, Kaltz, Bailey, "ESP: A System Utilization Benchmark",
 * SC2000, and Soner, Ozturan, "Integer Programming Based Heterogeneous CPU-GPU
 * Cluster Scheduler for SLURM Resource Manager", 2012, table 4, for the CPU+GPU form
 * in which every job but Z comes twice, the second time with GPUs, and Z comes twice
 * as late.  Jobs come in random order, 50 at once and the others every 30 s on
 * average (normal, sigma 10 s); estimates are exact.
 */
#include "workload/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workload/demand.h"

static const struct {
	char letter;
	double size;		/* share of the machine's cores */
	int count;
	int seconds;
} types[] = {
	{ 'A', 0.03125, 75, 257 }, { 'B', 0.06250, 9, 341 }, { 'C', 0.50000, 3, 536 },
	{ 'D', 0.25000, 3, 601 }, { 'E', 0.50000, 3, 312 }, { 'F', 0.06250, 9, 1846 },
	{ 'G', 0.12500, 6, 1321 }, { 'H', 0.15820, 6, 1078 }, { 'I', 0.03125, 24, 1438 },
	{ 'J', 0.06250, 24, 715 }, { 'K', 0.09570, 15, 495 }, { 'L', 0.12500, 36, 369 },
	{ 'M', 0.25000, 15, 192 },
};

#define Z_SECONDS 100
#define MOST_JOBS 512		/* 2 x 228 */

struct esp {
	struct sl_store *s;
	struct sl_random random;
	double first, gap, sigma, z1, z2, gpus, jitter;
	bool gpu;
	uint64_t cores;
	struct sl_draft job[MOST_JOBS];
	uint32_t jobs;
};

static struct sl_draft make_job(struct esp *e, char letter, double size, int seconds, bool gpu)
{
	struct sl_draft j = sl_draft();
	char name[8] = { letter, gpu ? 'g' : 0, 0 };
	int64_t cores = llround(size * (double) e->cores);

	if (e->jitter > 0)
		cores += sl_random_between(&e->random, -(int64_t) e->jitter, (int64_t) e->jitter);
	if (cores < 1)
		cores = 1;
	if ((uint64_t) cores > e->cores)
		cores = e->cores;
	j.tasks = cores;
	j.runtime_s = j.estimate_s = seconds;
	j.name = sl_store_str(e->s, name);
	j.user = sl_store_str(e->s, "esp");
	j.gpus = gpu ? (uint32_t) e->gpus : 0;
	return j;
}

static void make_jobs(struct esp *e)
{
	for (int gpu = 0; gpu <= e->gpu; gpu++)
		for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++)
			for (int i = 0; i < types[t].count; i++)
				e->job[e->jobs++] = make_job(e, types[t].letter, types[t].size,
							     types[t].seconds, gpu);
	for (uint32_t i = e->jobs - 1; i > 0; i--) {	/* Fisher and Yates */
		uint32_t k = sl_random_below(&e->random, i + 1);
		struct sl_draft swap = e->job[i];

		e->job[i] = e->job[k];
		e->job[k] = swap;
	}
}

static void submit_jobs(struct esp *e)
{
	struct sl_draft z = make_job(e, 'Z', 1.0, Z_SECONDS, false);
	double t = 0, wait;

	for (uint32_t i = 0; i < e->jobs; i++) {
		if (i >= e->first) {
			wait = e->gap + e->sigma * sl_random_gauss(&e->random);
			t += wait > 0 ? wait : 0;
		}
		e->job[i].submit_s = llround(t);
		e->job[i].id = i + 1;
		sl_store_add(e->s, &e->job[i]);
	}
	z.id = e->jobs + 1;
	z.submit_s = llround(e->z1 * 60);
	sl_store_add(e->s, &z);
	z.id++;
	z.submit_s = llround(e->z2 * 60);
	sl_store_add(e->s, &z);
}

int sl_workload_make_esp(struct sl_store *s, const char *name, struct sl_error *err)
{
	struct esp *e = calloc(1, sizeof(*e));
	bool gpu = !strncmp(name, "esp-gpu", 7), jitter = !strncmp(name, "esp-gpu-rand", 12);
	struct sl_param param[] = {
		{ "first", &e->first, 0, MOST_JOBS }, { "gap", &e->gap, 0, 1e6 }, { "sigma", &e->sigma, 0, 1e6 },
		{ "z1", &e->z1, 0, 1e6 }, { "z2", &e->z2, 0, 1e6 }, { "gpus", &e->gpus, 1, 1024 },
		{ "rand", &e->jitter, 0, 1e6 },
	};
	const char *colon = strchr(name, ':');
	const struct sl_snapshot *snap;
	struct sl_machine m;
	int machine, rc = -1;

	if (!e)
		return sl_fail(err, SL_ENOMEM, "%s: no memory", name);
	e->s = s;
	e->gpu = gpu;
	e->first = 50;
	e->gap = 30;
	e->sigma = 10;
	e->z1 = gpu ? 80 : 40;
	e->z2 = gpu ? 240 : 120;
	e->gpus = 2;
	e->jitter = jitter ? 4 : 0;
	sl_random_seed(&e->random, sl_store_options(s)->seed);
	if (sl_params_parse(name, colon ? colon + 1 : NULL, param, sizeof(param) / sizeof(param[0]), err) < 0)
		goto error;
	machine = sl_store_machine(s, err);
	if (machine < 0 || (!machine && sl_store_set_machine(s, gpu ? "1024x8c2g" : "1024x8c", err) < 0))
		goto error;
	snap = sl_store_snapshot(s, err);
	if (!snap || sl_machine_open(&m, snap, err) < 0)
		goto error;
	e->cores = m.cores;
	if (gpu && !m.gpus)
		sl_fail(err, SL_EINVAL, "%s: the machine has no GPUs", name);
	else
		rc = 0;
	sl_machine_close(&m);
	if (rc == 0) {
		make_jobs(e);
		submit_jobs(e);
	}
error:
	free(e);
	return rc;
}
