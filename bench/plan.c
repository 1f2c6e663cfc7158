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

#include "check/check.h"
#include "model/plan.h"
#include "bench/measure.h"
#include "t/random.h"
#include "bench/scene.h"

enum { CREATE, EASY, ENCODE, CHECK, UNDO, CONSERVATIVE, RESOLVE, STEPS };

static const char *const step_name[STEPS] = {
	"create_ms", "easy_ms", "encode_ms", "check_ms", "undo_ms", "conservative_ms", "resolve_ns",
};

struct scene {
	struct sl_snapshot snap;
	void *bytes;
	uint32_t running, started, reserved;
};

_Noreturn static void fail(const struct sl_error *err)
{
	give_up("plan", err);
}

/* -- the snapshot -------------------------------------------------------- */

static uint32_t add_running(struct sl_builder *b, uint32_t nodes)
{
	uint32_t used = 0, id = 1;

	for (; used < nodes / 100 * 95; id++) {
		uint32_t count = 1 + below(16), cores = 1 + below(8);

		if (used + count > nodes)
			count = nodes - used;
		scene_run(b, id, used, count, cores, 0);
		used += count;
	}
	return id - 1;
}

static void add_pending(struct sl_builder *b, uint32_t first, uint32_t pending)
{
	for (uint32_t i = 0; i < pending; i++) {
		struct sl_job_row job = sl_job_row();

		job.id = first + i;
		job.partition = 0;
		job.min_nodes = job.max_nodes = 1 + below(one_in(4) ? 64 : 4);
		job.num_tasks = job.min_cpus = job.min_nodes * (1 + below(8));
		job.time_limit = 60 * (1 + below(1440));
		scene_queue(b, &job);
	}
}

static void make_scene(struct scene *sc, uint32_t nodes, uint32_t pending)
{
	struct sl_builder *b = scene_create(nodes);

	random_state = 1;
	sc->running = add_running(b, nodes);
	add_pending(b, sc->running + 1, pending);
	sc->bytes = scene_open(b, &sc->snap);
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
	double t = wall_ms();

	if (!b || sl_plan_encode(p, &fig, b, &err) < 0 || sl_builder_finish(b, &bytes, &size, &err) < 0)
		fail(&err);
	*encode = wall_ms() - t;
	t = wall_ms();
	if (sl_plan_image_open(&plan, bytes, size, &err) < 0 || sl_check_plan(&sc->snap, &plan, &err) < 0)
		fail(&err);
	*took = wall_ms() - t;
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
	double t = wall_ms();
	uint32_t n;

	c = sl_cluster_create(&sc->snap, &err);
	if (!c)
		fail(&err);
	took[CREATE] = wall_ms() - t;
	queue = sl_cluster_queue(c, &n);
	t = wall_ms();
	for (uint32_t i = 0; i < n; i++)
		if (!sl_cluster_want(c, queue[i], &err))
			fail(&err);
	took[RESOLVE] = (wall_ms() - t) * 1e6 / (n ? n : 1);
	p = plan_on(c);
	t = wall_ms();
	easy(c, p);
	took[EASY] = wall_ms() - t;
	sl_plan_started(p, &sc->started);
	check(sc, p, &took[ENCODE], &took[CHECK]);
	t = wall_ms();
	sl_plan_destroy(p);
	took[UNDO] = wall_ms() - t;
	p = plan_on(c);
	t = wall_ms();
	conservative(c, p);
	took[CONSERVATIVE] = wall_ms() - t;
	sl_plan_reserved(p, &sc->reserved);
	sl_plan_destroy(p);
	sl_cluster_destroy(c);
}

static void measure(uint32_t nodes, uint32_t pending, int rounds)
{
	static double took[MAX_ROUNDS][STEPS];
	struct scene sc;

	make_scene(&sc, nodes, pending);
	for (int i = 0; i < rounds; i++)
		cycle(&sc, took[i]);
	printf("{\"nodes\": %u, \"pending\": %u, \"running\": %u, \"easy_started\": %u, \"conservative_reserved\": %u",
	       nodes, pending, sc.running, sc.started, sc.reserved);
	print_medians(step_name, STEPS, took[0], rounds, 2);
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
