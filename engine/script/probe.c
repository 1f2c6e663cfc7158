/* SPDX-License-Identifier: MIT */
/*
 * probe.c - the canned cluster on which every new policy set has to decide once.
 *
 * Small, and with something of everything that makes policies stumble: a node that
 * is down, a job that fills nodes, one that shares one, jobs that fit now, later
 * and never, an array, GPUs, no walltime, a deadline.
 */
#include "script/private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES 8
#define NOW INT64_C(1000000000)

struct canned {
	struct sl_builder *b;
	uint32_t next_id;
};

static uint32_t add_nodes(struct sl_builder *b)
{
	struct sl_run_row run = { 0, NODES - 1 };

	for (unsigned i = 0; i < NODES; i++) {
		struct sl_node_row node = sl_node_row();
		struct sl_node_gres_row gpu = { .kind = 0, .count = 2, .share = SL_NONE };
		char name[16];

		snprintf(name, sizeof(name), "probe%u", i + 1);
		node.name = sl_builder_str(b, name);
		node.cores = 8;
		node.sockets = 2;
		node.memory = 16000;
		node.state = i == NODES - 1 ? SL_NODE_DOWN : 0;
		if (i >= NODES / 2)
			node.gres = (struct sl_range) { sl_builder_append(b, SL_T_NODE_GRES, &gpu), 1 };
		sl_builder_append(b, SL_T_NODE, &node);
	}
	return sl_builder_append(b, SL_T_RUN, &run);
}

static void add_partition(struct sl_builder *b, const char *name, uint32_t run)
{
	struct sl_partition_row partition = sl_partition_row();

	partition.name = sl_builder_str(b, name);
	partition.nodes = (struct sl_range) { run, 1 };
	partition.max_time = 7 * 86400;
	sl_builder_append(b, SL_T_PARTITION, &partition);
}

static struct sl_job_row new_job(struct canned *c, uint32_t partition)
{
	struct sl_job_row job = sl_job_row();

	job.id = c->next_id++;
	job.name = sl_builder_str(c->b, "probe");
	job.user = sl_builder_str(c->b, job.id % 2 ? "alice" : "bob");
	job.account = sl_builder_str(c->b, "users");
	job.qos = sl_builder_str(c->b, "normal");
	job.uid = job.gid = 1000 + job.id % 2;
	job.partition = partition;
	job.priority = 1000000 - job.id;
	job.submit_time = job.eligible_time = NOW - 600;
	job.time_limit = 3600;
	job.flags = SL_JOBF_BATCH;
	return job;
}

/* A job that has all cores of some nodes, or one core of one. */
static void add_running(struct canned *c, uint32_t first, uint32_t nodes, uint32_t cores)
{
	struct sl_job_row job = new_job(c, 0);

	job.state = SL_JOB_RUNNING;
	job.start_time = NOW - 300;
	job.end_time = NOW + 1800;
	job.time_limit = 2100;
	job.min_nodes = nodes;
	job.min_cpus = nodes * cores;
	for (uint32_t i = 0; i < nodes; i++) {
		struct sl_alloc_row alloc = { .node = first + i, .cores = cores, .memory = 1000 };
		uint32_t row = sl_builder_append(c->b, SL_T_ALLOC, &alloc);

		if (!i)
			job.alloc.first = row;
	}
	job.alloc.count = nodes;
	sl_builder_append(c->b, SL_T_JOB, &job);
}

static void add_pending(struct canned *c, const struct sl_job_row *job)
{
	struct sl_queue_row entry = { .partition = job->partition, .priority = job->priority };

	entry.job = sl_builder_append(c->b, SL_T_JOB, job);
	sl_builder_append(c->b, SL_T_QUEUE, &entry);
}

static struct sl_range gpus(struct canned *c, uint32_t count)
{
	struct sl_job_gres_row gres = { .count = count, .per = SL_PER_NODE };

	gres.name = sl_builder_str(c->b, "gpu");
	return (struct sl_range) { sl_builder_append(c->b, SL_T_JOB_GRES, &gres), 1 };
}

/* One of each kind, the wide ones first so that something has to wait. */
static void add_queue(struct canned *c, uint32_t partition)
{
	struct sl_job_row job;

	job = new_job(c, partition);
	job.num_tasks = job.min_cpus = 8;
	add_pending(c, &job);
	job = new_job(c, partition);
	job.min_nodes = job.min_cpus = NODES - 1;
	job.flags |= SL_JOBF_EXCLUSIVE;
	add_pending(c, &job);
	job = new_job(c, partition);
	job.min_nodes = 2 * NODES;
	job.min_cpus = 2 * NODES;
	add_pending(c, &job);
	job = new_job(c, partition);
	job.gres = gpus(c, 1);
	job.time_limit = 600;
	add_pending(c, &job);
	job = new_job(c, partition);
	job.num_tasks = 4;
	job.cpus_per_task = 2;
	job.min_cpus = 8;
	job.memory_per_cpu = 500;
	job.time_limit = SL_UNLIMITED;
	add_pending(c, &job);
	job = new_job(c, partition);
	job.array_job_id = job.id;
	job.array_pending = 3;
	job.array_max_running = 2;
	job.time_limit = 900;
	add_pending(c, &job);
	job = new_job(c, partition);
	job.deadline = NOW + 1200;
	job.time_min = 600;
	add_pending(c, &job);
}

static void *copy(const void *bytes, size_t size, struct sl_error *err)
{
	void *block = malloc(size);

	if (!block)
		sl_fail(err, SL_ENOMEM, "out of memory");
	else
		memcpy(block, bytes, size);
	return block;
}

void *sl_probe_snapshot(const char *const *partition, unsigned partitions, size_t *size, struct sl_error *err)
{
	struct canned c = { sl_builder_create(&sl_snapshot_schema, err), 1 };
	struct sl_meta_row meta = sl_meta_row();
	struct sl_gres_kind_row kind = { 0 };
	const void *bytes;
	void *block = NULL;
	uint32_t run;

	if (!c.b)
		return NULL;
	meta.now = NOW;
	meta.sequence = 1;
	meta.cluster = sl_builder_str(c.b, "probe");
	meta.source = sl_builder_str(c.b, "probe");
	meta.select_flags = SL_SELECT_MEMORY;
	sl_builder_append(c.b, SL_T_META, &meta);
	kind.key = kind.name = sl_builder_str(c.b, "gpu");
	sl_builder_append(c.b, SL_T_GRES_KIND, &kind);
	run = add_nodes(c.b);
	for (unsigned i = 0; i < partitions; i++)
		add_partition(c.b, partition[i], run);
	add_running(&c, 0, 3, 8);
	add_running(&c, 4, 1, 1);
	for (unsigned i = 0; i < partitions; i++)
		add_queue(&c, i);
	if (!sl_builder_finish(c.b, &bytes, size, err))
		block = copy(bytes, *size, err);
	sl_builder_destroy(c.b);
	return block;
}
