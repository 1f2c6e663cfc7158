/* SPDX-License-Identifier: MIT */
/* busy.c - see busy.h */
#include "bench/busy.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/random.h"

#define NOW INT64_C(1700000000)
#define CORES 32
#define MEMORY INT64_C(131072)	/* MiB */
#define MEMORY_PER_CORE 3000	/* what jobs ask for */
#define GPUS 4
#define GPU_NODE(n) ((n) % 8 == 7)
#define USERS 50
#define RUNNING_MOST 16		/* nodes of a running job: many small ones fragment a machine more */

/* What a job wants.  each > 0: so many cores on each of min_nodes nodes. */
struct want {
	uint32_t nodes, each, tasks, gpus;	/* gpus: per node */
	int64_t walltime;
};

struct scene {
	struct sl_builder *b;
	struct busy *s;
	struct sl_random r;
	uint8_t *cores, *gpus;		/* free, by node */
	uint32_t id;
	uint64_t in_use;
};

/* Ten minutes to two days, short ones more often. */
static int64_t random_walltime(struct sl_random *r)
{
	return 60 * (int64_t) exp(log(10.0) + sl_random_real(r) * log(288.0));
}

/* 1 .. most, small ones more often. */
static uint32_t random_size(struct sl_random *r, uint32_t most)
{
	uint32_t n = (uint32_t) exp(sl_random_real(r) * log(most + 1.0));

	return n < 1 ? 1 : n > most ? most : n;
}

static struct want random_want(struct sl_random *r, uint32_t nodes)
{
	struct want w = { .nodes = 1, .walltime = random_walltime(r) };
	uint32_t kind = (uint32_t) sl_random_below(r, 60);
	uint32_t some = nodes < 128 ? nodes / 2 + 1 : 64;

	if (kind < 5) {				/* GPUs, on as many nodes as have them */
		w.nodes = random_size(r, nodes < 64 ? 1 : 8);
		w.gpus = 1 + (uint32_t) sl_random_below(r, GPUS);
		w.each = 4 * w.gpus;
	} else if (kind < 30) {			/* part of a node */
		w.each = 1 + (uint32_t) sl_random_below(r, CORES / 2);
	} else if (kind < 40) {			/* tasks, wherever they fit */
		w.tasks = random_size(r, 8 * CORES);
	} else if (kind < 59) {			/* whole nodes */
		w.nodes = random_size(r, some);
		w.each = CORES;
	} else {				/* a good part of the machine */
		w.nodes = nodes / 20 + 1 + (uint32_t) sl_random_below(r, nodes / 3 + 1);
		w.each = CORES;
	}
	return w;
}

static void machine(struct scene *k)
{
	struct sl_gres_kind_row gpu = sl_gres_kind_row();
	struct sl_node_gres_row has = sl_node_gres_row();
	struct sl_partition_row part = sl_partition_row();
	struct sl_run_row all = { 0, k->s->nodes - 1 };
	char name[32];

	gpu.key = gpu.name = sl_builder_str(k->b, "gpu");
	has.kind = sl_builder_append(k->b, SL_T_GRES_KIND, &gpu);
	has.count = GPUS;
	for (uint32_t n = 0; n < k->s->nodes; n++) {
		struct sl_node_row row = sl_node_row();

		snprintf(name, sizeof(name), "n%06u", n + 1);
		row.name = sl_builder_str(k->b, name);
		row.cores = k->cores[n] = CORES;
		row.sockets = 2;
		row.memory = MEMORY;
		if (GPU_NODE(n)) {
			row.gres.first = sl_builder_append(k->b, SL_T_NODE_GRES, &has);
			row.gres.count = 1;
			k->gpus[n] = GPUS;
		}
		sl_builder_append(k->b, SL_T_NODE, &row);
	}
	part.name = sl_builder_str(k->b, "main");
	part.nodes.first = sl_builder_append(k->b, SL_T_RUN, &all);
	part.nodes.count = 1;
	part.flags = SL_PART_UP | SL_PART_DEFAULT;
	sl_builder_append(k->b, SL_T_PARTITION, &part);
}

/* Whether node n has room for the job's share there, which it holds then. */
static int take(struct scene *k, uint32_t n, const struct want *w, uint32_t cores, struct sl_alloc_row *row)
{
	if (k->cores[n] < cores || k->gpus[n] < w->gpus)
		return 0;
	row->node = n;
	row->cores = cores;
	row->memory = (int64_t) cores * MEMORY_PER_CORE;
	k->cores[n] -= (uint8_t) cores;
	k->gpus[n] -= (uint8_t) w->gpus;
	k->in_use += cores;
	return 1;
}

/* What a running job holds: the first nodes with room from a random one on. */
static struct sl_range hold(struct scene *k, const struct want *w)
{
	uint32_t nodes = k->s->nodes, at = (uint32_t) sl_random_below(&k->r, nodes);
	struct sl_range held = { sl_builder_rows(k->b, SL_T_ALLOC), 0 };

	for (uint32_t i = 0; i < nodes && held.count < w->nodes; i++) {
		struct sl_alloc_row row = sl_alloc_row();
		struct sl_alloc_gres_row gpu = { .kind = 0, .count = w->gpus };

		if (!take(k, (at + i) % nodes, w, w->each, &row))
			continue;
		if (w->gpus) {
			row.gres.first = sl_builder_append(k->b, SL_T_ALLOC_GRES, &gpu);
			row.gres.count = 1;
		}
		sl_builder_append(k->b, SL_T_ALLOC, &row);
		held.count++;
	}
	return held.count ? held : (struct sl_range) { 0, 0 };
}

static struct sl_job_row job_row(struct scene *k, const struct want *w)
{
	uint32_t user = random_size(&k->r, USERS);
	struct sl_job_row row = sl_job_row();
	char text[32];

	row.id = ++k->id;
	row.stamp = row.id;
	row.uid = row.gid = 1000 + user;
	snprintf(text, sizeof(text), "user%u", user);
	row.user = sl_builder_str(k->b, text);
	snprintf(text, sizeof(text), "project%u", user % 10);
	row.account = sl_builder_str(k->b, text);
	row.qos = sl_builder_str(k->b, "normal");
	snprintf(text, sizeof(text), "job%u", row.id % 977);
	row.name = sl_builder_str(k->b, text);
	row.partition = 0;
	row.flags = SL_JOBF_BATCH | SL_JOBF_REQUEUE;
	row.time_limit = w->walltime;
	row.min_nodes = w->nodes;
	row.max_nodes = w->each ? w->nodes : 0;
	row.ntasks_per_node = w->each;
	row.num_tasks = row.min_cpus = w->each ? w->each * w->nodes : w->tasks;
	row.memory_per_cpu = MEMORY_PER_CORE;
	if (w->gpus) {
		struct sl_job_gres_row gpu = { .name = sl_builder_str(k->b, "gpu"), .count = w->gpus, .per = SL_PER_NODE };

		row.gres.first = sl_builder_append(k->b, SL_T_JOB_GRES, &gpu);
		row.gres.count = 1;
	}
	return row;
}

/* Jobs that run, until half of the cores are in use. */
static void running(struct scene *k)
{
	uint64_t half = (uint64_t) k->s->nodes * CORES / 2;

	for (uint32_t tries = 0; k->in_use < half && tries < 4 * k->s->nodes; tries++) {
		struct want w = random_want(&k->r, k->s->nodes);
		struct sl_job_row row;

		if (!w.each || w.nodes > RUNNING_MOST || (uint64_t) w.nodes * w.each > half - k->in_use)
			continue;
		row = job_row(k, &w);
		row.state = SL_JOB_RUNNING;
		row.alloc = hold(k, &w);
		row.start_time = NOW - sl_random_between(&k->r, 0, w.walltime - 60);
		row.submit_time = row.eligible_time = row.start_time - 600;
		row.end_time = row.start_time + w.walltime;
		sl_builder_append(k->b, SL_T_JOB, &row);
		k->s->running++;
	}
}

static void pending(struct scene *k)
{
	for (uint32_t i = 0; i < k->s->pending; i++) {
		struct want w = random_want(&k->r, k->s->nodes);
		struct sl_job_row row = job_row(k, &w);
		struct sl_queue_row entry = { .partition = 0 };

		row.priority = entry.priority = 1000000 - i;
		row.submit_time = row.eligible_time = NOW - 3600 + i % 3600;
		row.state_reason = sl_builder_str(k->b, "Priority");
		entry.job = sl_builder_append(k->b, SL_T_JOB, &row);
		sl_builder_append(k->b, SL_T_QUEUE, &entry);
	}
}

int busy_snapshot(struct sl_builder *b, struct busy *s, struct sl_error *err)
{
	struct scene k = { .b = b, .s = s, .cores = calloc(s->nodes, 1), .gpus = calloc(s->nodes, 1) };
	struct sl_meta_row meta = sl_meta_row();

	if (!k.cores || !k.gpus) {
		free(k.cores);
		free(k.gpus);
		return sl_fail(err, SL_ENOMEM, "out of memory");
	}
	sl_random_seed(&k.r, s->seed);
	s->running = 0;
	meta.now = NOW;
	meta.sequence = 1;
	meta.cluster = sl_builder_str(b, "busy");
	meta.source = sl_builder_str(b, "bench");
	meta.select_flags = SL_SELECT_MEMORY;
	sl_builder_append(b, SL_T_META, &meta);
	machine(&k);
	running(&k);
	pending(&k);
	s->busy = (double) k.in_use / ((double) s->nodes * CORES);
	free(k.cores);
	free(k.gpus);
	return 0;
}
