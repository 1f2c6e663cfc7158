/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "t/build.h"
#include "base/grow.h"
#include "image/plan_answer.h"
#include "model/cluster.h"

/* -- the machine --------------------------------------------------------- */

struct group {
	uint32_t count, cores, gpus, threads, sockets, weight;
	int64_t memory;
};

/* "4x8c2g" -> a group; returns what follows it. */
static const char *read_group(const char *text, struct group *g)
{
	char *end;

	*g = (struct group) { .cores = 1, .threads = 1, .sockets = 1, .weight = 1 };
	g->count = (uint32_t) strtoul(text, &end, 10);
	if (end == text || *end != 'x')
		fail_msg("machine \"%s\": expected COUNTx", text);
	for (text = end + 1; *text && *text != '+'; text = end + 1) {
		unsigned long n = strtoul(text, &end, 10);

		switch (*end) {
		case 'c': g->cores = (uint32_t) n; break;
		case 'g': g->gpus = (uint32_t) n; break;
		case 't': g->threads = (uint32_t) n; break;
		case 's': g->sockets = (uint32_t) n; break;
		case 'w': g->weight = (uint32_t) n; break;
		case 'm': g->memory = (int64_t) n; break;
		default: fail_msg("machine: no letter '%c' (c g t s w m)", *end);
		}
	}
	return *text ? text + 1 : text;
}

static void add_group(struct build *b, const struct group *g)
{
	if (sl_grow(&b->free_cores, &b->free_cores_room, (uint64_t) b->nodes + g->count, sizeof(*b->free_cores), NULL))
		fail_msg("out of memory");
	for (uint32_t i = 0; i < g->count; i++) {
		struct sl_node_row node = sl_node_row();
		char name[16];

		snprintf(name, sizeof(name), "n%u", b->nodes);
		node.name = sl_builder_str(b->builder, name);
		node.cores = g->cores;
		node.threads = g->threads;
		node.sockets = g->sockets;
		node.memory = g->memory;
		node.weight = g->weight;
		if (g->gpus) {
			struct sl_node_gres_row gres = { .kind = 0, .count = g->gpus };

			node.gres = (struct sl_range) { sl_builder_append(b->builder, SL_T_NODE_GRES, &gres), 1 };
		}
		b->free_cores[b->nodes++] = g->cores;
		sl_builder_append(b->builder, SL_T_NODE, &node);
	}
}

struct build *build_create(const char *machine)
{
	struct build *b = calloc(1, sizeof(*b));
	struct sl_gres_kind_row gpu = sl_gres_kind_row();
	struct sl_error err;

	b->builder = sl_builder_create(&sl_snapshot_schema, &err);
	if (!b->builder)
		fail_msg("%s", err.text);
	b->meta = sl_meta_row();
	b->meta.now = BUILD_NOW;
	b->meta.sequence = 7;
	sl_builder_append(b->builder, SL_T_META, &b->meta);
	gpu.key = gpu.name = sl_builder_str(b->builder, "gpu");
	sl_builder_append(b->builder, SL_T_GRES_KIND, &gpu);
	while (*machine) {
		struct group g;

		machine = read_group(machine, &g);
		add_group(b, &g);
	}
	build_partition(b, "batch", 0, b->nodes - 1);
	return b;
}

void build_destroy(struct build *b)
{
	if (!b)
		return;
	sl_builder_destroy(b->builder);
	free(b->bytes);
	free(b->free_cores);
	free(b);
}

struct sl_range build_nodes(struct build *b, uint32_t first, uint32_t last)
{
	struct sl_run_row run = { .first = first, .last = last };

	return (struct sl_range) { sl_builder_append(b->builder, SL_T_RUN, &run), 1 };
}

uint32_t build_partition(struct build *b, const char *name, uint32_t first, uint32_t last)
{
	struct sl_partition_row part = sl_partition_row();

	part.name = sl_builder_str(b->builder, name);
	part.nodes = build_nodes(b, first, last);
	return sl_builder_append(b->builder, SL_T_PARTITION, &part);
}

/* -- jobs ---------------------------------------------------------------- */

struct sl_range build_gres(struct build *b, const char *name, const char *type, uint32_t count, uint32_t per)
{
	struct sl_job_gres_row gres = { .count = count, .per = per };

	gres.name = sl_builder_str(b->builder, name);
	gres.type = sl_builder_str(b->builder, type);
	return (struct sl_range) { sl_builder_append(b->builder, SL_T_JOB_GRES, &gres), 1 };
}

struct sl_range build_license(struct build *b, uint32_t license, uint32_t count)
{
	struct sl_job_license_row row = { .license = license, .count = count };

	return (struct sl_range) { sl_builder_append(b->builder, SL_T_JOB_LICENSE, &row), 1 };
}

uint32_t build_reservation(struct build *b, const char *name, int64_t from, int64_t to, uint32_t first, uint32_t last)
{
	struct sl_reservation_row r = sl_reservation_row();

	r.name = sl_builder_str(b->builder, name);
	r.start_time = BUILD_NOW + from;
	r.end_time = BUILD_NOW + to;
	r.nodes = build_nodes(b, first, last);
	return sl_builder_append(b->builder, SL_T_RESERVATION, &r);
}

uint32_t build_job_row(const struct build *b, uint32_t id)
{
	struct sl_job_row row;

	for (uint32_t i = 0; i < sl_builder_rows(b->builder, SL_T_JOB); i++)
		if (!sl_builder_row(b->builder, SL_T_JOB, i, &row) && row.id == id)
			return i;
	fail_msg("there is no job %u", id);
	return SL_NONE;
}

struct sl_job_row build_row(struct build *b, struct build_job j)
{
	struct sl_job_row r = sl_job_row();

	r.id = j.id;
	r.stamp = j.id + 1000;
	r.uid = 1000;
	r.priority = 100;
	r.submit_time = BUILD_NOW - 60;
	r.partition = j.partition;
	r.min_nodes = j.nodes ? j.nodes : 1;
	r.max_nodes = j.max_nodes ? j.max_nodes : j.nodes;
	r.num_tasks = j.tasks;
	r.cpus_per_task = j.cpus_per_task ? j.cpus_per_task : 1;
	r.ntasks_per_node = j.tasks_per_node;
	/* As slurmctld does on submission. */
	r.min_cpus = j.tasks ? j.tasks * r.cpus_per_task : r.min_nodes;
	r.pn_min_cpus = r.cpus_per_task * (j.tasks_per_node && j.tasks > 1 ? j.tasks_per_node : 1);
	r.memory_per_node = j.memory;
	if (j.exclusive)
		r.flags |= SL_JOBF_EXCLUSIVE;
	r.time_limit = j.limit ? j.limit : SL_UNLIMITED;
	if (j.gpus)
		r.gres = build_gres(b, "gpu", "", j.gpus, SL_PER_NODE);
	return r;
}

uint32_t build_append(struct build *b, const struct sl_job_row *row)
{
	uint32_t job = sl_builder_append(b->builder, SL_T_JOB, row);

	if (row->state == SL_JOB_PENDING)
		build_queue(b, job, row->partition);
	return job;
}

void build_queue(struct build *b, uint32_t job, uint32_t partition)
{
	struct sl_queue_row q = { .job = job, .partition = partition, .priority = 100 };

	sl_builder_append(b->builder, SL_T_QUEUE, &q);
}

uint32_t build_pending(struct build *b, struct build_job j)
{
	struct sl_job_row r = build_row(b, j);

	return build_append(b, &r);
}

uint32_t build_running(struct build *b, struct build_job j)
{
	struct sl_job_row r = build_row(b, j);
	uint32_t nodes = j.nodes ? j.nodes : 1;

	r.state = SL_JOB_RUNNING;
	r.start_time = BUILD_NOW - 100;
	r.time_limit = j.ends_in ? 100 + j.ends_in : SL_UNLIMITED;
	r.end_time = j.ends_in ? BUILD_NOW + j.ends_in : SL_UNLIMITED;
	if (j.first + nodes > b->nodes)
		fail_msg("job %u: runs beyond the last node", j.id);
	for (uint32_t n = j.first; n < j.first + nodes; n++) {
		struct sl_alloc_gres_row gres = { .kind = 0, .count = j.gpus };
		struct sl_alloc_row a = { .node = n, .memory = j.memory };
		uint32_t row;

		a.cores = j.cores ? j.cores : b->free_cores[n];
		if (a.cores > b->free_cores[n])
			fail_msg("job %u: node n%u has %u cores left", j.id, n, b->free_cores[n]);
		b->free_cores[n] -= a.cores;
		if (j.gpus)
			a.gres = (struct sl_range) { sl_builder_append(b->builder, SL_T_ALLOC_GRES, &gres), 1 };
		row = sl_builder_append(b->builder, SL_T_ALLOC, &a);
		if (n == j.first)
			r.alloc.first = row;
		r.alloc.count++;
	}
	return build_append(b, &r);
}

/* -- laying out ---------------------------------------------------------- */

static void *copy_image(struct sl_builder *builder, size_t *size)
{
	struct sl_error err;
	const void *bytes;
	void *copy;

	if (sl_builder_finish(builder, &bytes, size, &err) < 0)
		fail_msg("%s", err.text);
	copy = malloc(*size);
	assert_non_null(copy);
	memcpy(copy, bytes, *size);
	return copy;
}

const struct sl_snapshot *build_open(struct build *b)
{
	struct sl_error err;
	size_t size;

	sl_builder_update(b->builder, SL_T_META, 0, &b->meta);
	free(b->bytes);
	b->bytes = copy_image(b->builder, &size);
	if (sl_snapshot_open(&b->snap, b->bytes, size, &err) < 0)
		fail_msg("%s", err.text);
	return &b->snap;
}

struct sl_cluster *build_cluster(struct build *b)
{
	struct sl_error err;
	struct sl_cluster *c = sl_cluster_create(build_open(b), &err);

	if (!c)
		fail_msg("%s", err.text);
	return c;
}

/* -- plans ---------------------------------------------------------------- */

struct built_plan *build_plan(const struct build *b)
{
	struct built_plan *p = calloc(1, sizeof(*p));
	struct sl_plan_meta_row meta = sl_plan_meta_row();
	struct sl_error err;

	p->builder = sl_builder_create(&sl_plan_schema, &err);
	if (!p->builder)
		fail_msg("%s", err.text);
	meta.sequence = b->meta.sequence;
	meta.now = b->meta.now;
	sl_builder_append(p->builder, SL_P_META, &meta);
	return p;
}

void build_plan_destroy(struct built_plan *p)
{
	sl_builder_destroy(p->builder);
	free(p->bytes);
	free(p);
}

struct sl_range build_place(struct built_plan *p, uint32_t node, uint32_t cores)
{
	struct sl_plan_place_row place = { .node = node, .cores = cores };

	return (struct sl_range) { sl_builder_append(p->builder, SL_P_PLACE, &place), 1 };
}

const struct sl_plan_image *build_plan_open(struct built_plan *p)
{
	struct sl_error err;
	size_t size;

	free(p->bytes);
	p->bytes = copy_image(p->builder, &size);
	if (sl_plan_image_open(&p->image, p->bytes, size, &err) < 0)
		fail_msg("%s", err.text);
	return &p->image;
}

void build_stoppable(struct build *b, uint32_t id, uint32_t mode)
{
	build_change_job(b, id, .qos = sl_builder_str(b->builder, "low"), build_r_.preempt_mode = mode, build_r_.preempt_from = 1,
			 build_r_.safe_until = BUILD_NOW);
}

void build_may_preempt(struct build *b, uint32_t id)
{
	build_change_job(b, id, .preempts = sl_builder_str(b->builder, "QOS=low"), build_r_.flags |= SL_JOBF_MAY_PREEMPT);
}

void build_expect_answer(const struct build *b, struct built_plan *p, const char *words)
{
	struct sl_error err = { SL_OK, "" };
	int rc = sl_plan_answers(build_plan_open(p), &b->snap, &err);

	if (!words && rc)
		fail_msg("refused: %s", err.text);
	if (words && !rc)
		fail_msg("not refused, expected: %s", words);
	if (words && !strstr(err.text, words))
		fail_msg("said \"%s\", expected \"%s\"", err.text, words);
	build_plan_destroy(p);
}
