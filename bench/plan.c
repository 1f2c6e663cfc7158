/* SPDX-License-Identifier: MIT */
/*
 * plan.c - what a cycle costs in C: the cluster made from a snapshot, decided on,
 * encoded, checked and taken back.
 *
 *	bench/plan [NODES [PENDING [ROUNDS]]]
 *
 * Without arguments: 1,000, 10,000 and 100,000 nodes with 10,000 pending jobs, one
 * JSON object a line.  Nodes have 8 cores and 2 GPUs; running jobs of 1 to 16 nodes,
 * with as many cores on each of their nodes, cover 95 % of them.  Pending jobs ask
 * for 1 to 64 nodes and 1 to 8 tasks on each.  Medians over the rounds:
 *	create_ms	sl_cluster_create()
 *	easy_ms		EASY over all pending jobs
 *	encode_ms	its plan as an image
 *	check_ms	sl_check_plan() on that
 *	undo_ms		sl_plan_destroy()
 *	conservative_ms	start or reservation of the first 1,000 pending jobs
 *	resolve_ns	sl_cluster_want(), the first time for a job
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "plan.h"
#include "random.h"	/* of t/ */

enum { CREATE, EASY, ENCODE, CHECK, UNDO, CONSERVATIVE, RESOLVE, STEPS };

static const char *const step_name[STEPS] = {
	"create_ms", "easy_ms", "encode_ms", "check_ms", "undo_ms", "conservative_ms", "resolve_ns",
};

#define MAX_ROUNDS 101
#define NOW 1000000

struct scene {
	struct sl_snapshot snap;
	void *bytes;
	uint32_t running, started, reserved;
};

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e3 + ts.tv_nsec / 1e6;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *) a, y = *(const double *) b;

	return (x > y) - (x < y);
}

static void fail(const struct sl_error *err)
{
	fprintf(stderr, "bench/plan: %s\n", err->text);
	exit(1);
}

/* -- the snapshot -------------------------------------------------------- */

static void add_nodes(struct sl_builder *b, uint32_t nodes)
{
	struct sl_meta_row meta = sl_meta_row();
	struct sl_gres_kind_row gpu = sl_gres_kind_row();
	struct sl_partition_row part = sl_partition_row();
	struct sl_run_row run = { 0, nodes - 1 };

	meta.now = NOW;
	sl_builder_append(b, SL_T_META, &meta);
	gpu.key = gpu.name = sl_builder_str(b, "gpu");
	sl_builder_append(b, SL_T_GRES_KIND, &gpu);
	for (uint32_t i = 0; i < nodes; i++) {
		struct sl_node_gres_row gres = { .kind = 0, .count = 2 };
		struct sl_node_row node = sl_node_row();
		char name[16];

		snprintf(name, sizeof(name), "n%u", i);
		node.name = sl_builder_str(b, name);
		node.cores = 8;
		node.gres = (struct sl_range) { sl_builder_append(b, SL_T_NODE_GRES, &gres), 1 };
		sl_builder_append(b, SL_T_NODE, &node);
	}
	part.name = sl_builder_str(b, "batch");
	part.nodes = (struct sl_range) { sl_builder_append(b, SL_T_RUN, &run), 1 };
	sl_builder_append(b, SL_T_PARTITION, &part);
}

static uint32_t add_running(struct sl_builder *b, uint32_t nodes)
{
	uint32_t used = 0, id = 1;

	for (; used < nodes / 100 * 95; id++) {
		struct sl_job_row job = sl_job_row();
		uint32_t count = 1 + below(16), cores = 1 + below(8);

		if (used + count > nodes)
			count = nodes - used;
		job.id = id;
		job.partition = 0;
		job.state = SL_JOB_RUNNING;
		job.end_time = NOW + 60 * (1 + below(1440));
		job.alloc = (struct sl_range) { sl_builder_rows(b, SL_T_ALLOC), count };
		for (uint32_t i = 0; i < count; i++) {
			struct sl_alloc_row a = { .node = used++, .cores = cores };

			sl_builder_append(b, SL_T_ALLOC, &a);
		}
		sl_builder_append(b, SL_T_JOB, &job);
	}
	return id - 1;
}

static void add_pending(struct sl_builder *b, uint32_t first, uint32_t pending)
{
	for (uint32_t i = 0; i < pending; i++) {
		struct sl_job_row job = sl_job_row();
		struct sl_queue_row q = { .partition = 0, .priority = 100 };

		job.id = first + i;
		job.partition = 0;
		job.min_nodes = job.max_nodes = 1 + below(one_in(4) ? 64 : 4);
		job.num_tasks = job.min_cpus = job.min_nodes * (1 + below(8));
		job.time_limit = 60 * (1 + below(1440));
		q.job = sl_builder_append(b, SL_T_JOB, &job);
		sl_builder_append(b, SL_T_QUEUE, &q);
	}
}

static void make_scene(struct scene *sc, uint32_t nodes, uint32_t pending)
{
	struct sl_error err;
	struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, &err);
	const void *bytes;
	size_t size;

	if (!b)
		fail(&err);
	random_state = 1;
	add_nodes(b, nodes);
	sc->running = add_running(b, nodes);
	add_pending(b, sc->running + 1, pending);
	if (sl_builder_finish(b, &bytes, &size, &err) < 0)
		fail(&err);
	sc->bytes = malloc(size);
	if (sc->bytes)
		memcpy(sc->bytes, bytes, size);
	sl_builder_destroy(b);
	if (!sc->bytes || sl_snapshot_open(&sc->snap, sc->bytes, size, &err) < 0)
		fail(&err);
}

/* -- a cycle ------------------------------------------------------------- */

static void easy(struct sl_cluster *c, struct sl_plan *p)
{
	struct sl_refusal why;
	struct sl_error err;
	bool head = false;
	int64_t at;
	uint32_t n;
	const struct sl_entry *queue = sl_cluster_queue(c, &n);

	for (uint32_t i = 0; i < n; i++) {
		int rc = head ? sl_plan_backfill(p, queue[i], NULL, &why, &err) :
			sl_plan_start(p, queue[i], NULL, &why, &err);

		if (!rc && !head)
			head = (rc = sl_plan_reserve(p, queue[i], NULL, &at, &why, &err)) > 0;
		if (rc < 0)
			fail(&err);
	}
}

static void conservative(struct sl_cluster *c, struct sl_plan *p)
{
	struct sl_refusal why;
	struct sl_error err;
	int64_t at;
	uint32_t n;
	const struct sl_entry *queue = sl_cluster_queue(c, &n);

	for (uint32_t i = 0; i < n && i < 1000; i++) {
		int rc = sl_plan_start(p, queue[i], NULL, &why, &err);

		if (!rc)
			rc = sl_plan_reserve(p, queue[i], NULL, &at, &why, &err);
		if (rc < 0)
			fail(&err);
	}
}

static void check(struct scene *sc, struct sl_plan *p, double *encode, double *took)
{
	struct sl_plan_figures fig = { 0 };
	struct sl_plan_image plan;
	struct sl_error err;
	struct sl_builder *b = sl_builder_create(&sl_plan_schema, &err);
	const void *bytes;
	size_t size;
	double t = now_ms();

	if (!b || sl_plan_encode(p, &fig, b, &err) < 0 || sl_builder_finish(b, &bytes, &size, &err) < 0)
		fail(&err);
	*encode = now_ms() - t;
	t = now_ms();
	if (sl_plan_image_open(&plan, bytes, size, &err) < 0 || sl_check_plan(&sc->snap, &plan, &err) < 0)
		fail(&err);
	*took = now_ms() - t;
	sl_builder_destroy(b);
}

static struct sl_plan *plan_on(struct sl_cluster *c)
{
	struct sl_error err;
	struct sl_plan *p = sl_plan_create(c, &err);

	if (!p)
		fail(&err);
	return p;
}

static void cycle(struct scene *sc, double took[STEPS])
{
	struct sl_error err;
	struct sl_cluster *c;
	struct sl_plan *p;
	const struct sl_entry *queue;
	double t = now_ms();
	uint32_t n;

	c = sl_cluster_create(&sc->snap, &err);
	if (!c)
		fail(&err);
	took[CREATE] = now_ms() - t;
	queue = sl_cluster_queue(c, &n);
	t = now_ms();
	for (uint32_t i = 0; i < n; i++)
		if (!sl_cluster_want(c, queue[i], &err))
			fail(&err);
	took[RESOLVE] = (now_ms() - t) * 1e6 / (n ? n : 1);
	p = plan_on(c);
	t = now_ms();
	easy(c, p);
	took[EASY] = now_ms() - t;
	sl_plan_started(p, &sc->started);
	check(sc, p, &took[ENCODE], &took[CHECK]);
	t = now_ms();
	sl_plan_destroy(p);
	took[UNDO] = now_ms() - t;
	p = plan_on(c);
	t = now_ms();
	conservative(c, p);
	took[CONSERVATIVE] = now_ms() - t;
	sl_plan_reserved(p, &sc->reserved);
	sl_plan_destroy(p);
	sl_cluster_destroy(c);
}

static void measure(uint32_t nodes, uint32_t pending, int rounds)
{
	static double took[MAX_ROUNDS][STEPS];
	double column[MAX_ROUNDS];
	struct scene sc;

	make_scene(&sc, nodes, pending);
	for (int i = 0; i < rounds; i++)
		cycle(&sc, took[i]);
	printf("{\"nodes\": %u, \"pending\": %u, \"running\": %u, \"easy_started\": %u, \"conservative_reserved\": %u",
	       nodes, pending, sc.running, sc.started, sc.reserved);
	for (int s = 0; s < STEPS; s++) {
		for (int i = 0; i < rounds; i++)
			column[i] = took[i][s];
		qsort(column, (size_t) rounds, sizeof(*column), by_size);
		printf(", \"%s\": %.2f", step_name[s], column[rounds / 2]);
	}
	puts("}");
	fflush(stdout);
	free(sc.bytes);
}

int main(int argc, char **argv)
{
	uint32_t nodes = argc > 1 ? (uint32_t) atoi(argv[1]) : 0, pending = argc > 2 ? (uint32_t) atoi(argv[2]) : 10000;
	int rounds = argc > 3 ? atoi(argv[3]) : 3;

	if (argc > 4 || rounds < 1 || rounds > MAX_ROUNDS || (argc > 1 && !nodes)) {
		fprintf(stderr, "usage: bench/plan [NODES [PENDING [ROUNDS]]]\n");
		return 2;
	}
	if (nodes)
		measure(nodes, pending, rounds);
	for (uint32_t n = 1000; !nodes && n <= 100000; n *= 10)
		measure(n, pending, rounds);
	return 0;
}
