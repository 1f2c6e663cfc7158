/* SPDX-License-Identifier: MIT */
/*
 * bid.c - what bids cost: nodesets, bids of all kinds, and the rows that say which can
 * win together.
 *
 *	bench/bid [NODES JOBS [BIDS [ROUNDS]]]
 *
 * Without arguments a table of machines and queues, one JSON object a line.  Nodes have 8
 * cores and 2 GPUs; running jobs of 1 to 16 nodes, with some of the cores and GPUs of each,
 * stand on three quarters of them.  Pending jobs are those of the AUCSCHED paper's workload V:
 * a third ask for cores, a third for nodes of 4 or 8 cores, a third for 1 or 2 GPUs on each
 * node; of 1 to 1/64 of the machine, as wide ones cannot run beside 200 others.  CPU time,
 * medians over the rounds:
 *	nodesets_us	sl_market_nodesets(), all numbers of GPUs
 *	bids_ms		kinds A, B and C of all jobs
 *	slurm_ms	the same with Slurm bids: each placed as if those before it had been
 *	rows_ms		sl_market_rows() of those
 */
#include <stdio.h>
#include <stdlib.h>

#include "auction/bid.h"
#include "bench/measure.h"
#include "t/random.h"
#include "bench/scene.h"

enum { SETS, BIDS, SLURM, ROWS, STEPS };

static const char *const step_name[STEPS] = { "nodesets_us", "bids_ms", "slurm_ms", "rows_ms" };

struct scene {
	struct sl_snapshot snap;
	void *bytes;
	uint32_t running;
	int64_t sets;
	uint32_t bids, all_bids, rows;
};

_Noreturn static void fail(const struct sl_error *err)
{
	give_up("bid", err);
}

/* -- the snapshot -------------------------------------------------------- */

/* Jobs of 1 to *most* nodes beside each other, with a gap behind every third. */
static uint32_t add_running(struct sl_builder *b, uint32_t nodes, uint32_t most)
{
	uint32_t at = 0, id = 1;

	for (; at < nodes; id++) {
		uint32_t count = 1 + below(most), cores = 1 + below(8), gpus = below(3);

		if (at + count > nodes)
			count = nodes - at;
		scene_run(b, id, at, count, cores, gpus);
		at += count;
		if (id % 3 == 0)
			at += 1 + below(most);
	}
	return id - 1;
}

static void add_pending(struct sl_builder *b, uint32_t first, uint32_t pending, uint32_t nodes)
{
	uint32_t most = nodes / 64 ? nodes / 64 : 1;

	for (uint32_t i = 0; i < pending; i++) {
		struct sl_job_row job = sl_job_row();
		uint32_t kind = below(6), n = 1 + below(most), each = kind < 4 ? 4 * (1 + below(2)) : 1 + below(2);

		job.id = first + i;
		job.partition = 0;
		job.time_limit = 60 * (1 + below(10));
		job.num_tasks = job.min_cpus = n * 8;
		if (kind > 1) {
			job.min_nodes = job.max_nodes = n;
			job.ntasks_per_node = each * (kind == 5 ? 2 : 1);
			job.num_tasks = job.min_cpus = n * job.ntasks_per_node;
		}
		if (kind > 3) {
			struct sl_job_gres_row g = sl_job_gres_row();

			g.name = sl_builder_str(b, "gpu");
			g.count = kind - 3;
			job.gres = (struct sl_range) { sl_builder_append(b, SL_T_JOB_GRES, &g), 1 };
		}
		scene_queue(b, &job);
	}
}

static void make_scene(struct scene *sc, uint32_t nodes, uint32_t pending)
{
	struct sl_builder *b = scene_create(nodes);

	random_state = 1;
	sc->running = add_running(b, nodes, nodes < 20000 ? 16 : nodes / 1000);
	add_pending(b, sc->running + 1, pending, nodes);
	sc->bytes = scene_open(b, &sc->snap);
}

/* -- a cycle ------------------------------------------------------------- */

static double rows_of(struct scene *sc, struct sl_market *m)
{
	uint32_t count;
	const struct sl_bid *bid = sl_market_bids(m, &count);
	const struct sl_bid **list = calloc(count + 1, sizeof(*list));
	const struct sl_bid_part **part = calloc(count + 1, sizeof(*part));
	struct sl_bid_rows rows = { 0 };
	struct sl_error err;
	double t;

	for (uint32_t i = 0; list && part && i < count; i++) {
		list[i] = &bid[i];
		part[i] = sl_market_parts(m) + bid[i].part;
	}
	t = cpu_ms();
	if (!list || !part || sl_market_rows(m, list, part, count, &rows, &err) < 0)
		fail(&err);
	t = cpu_ms() - t;
	sc->rows = rows.rows;
	sl_bid_rows_free(&rows);
	free(list);
	free(part);
	return t;
}

/* A fresh market each time, as in every cycle; jobs' requests are known by then. */
static double bids_of(struct sl_plan *p, const struct sl_entry *queue, uint32_t n, const struct sl_bid_options *opt,
		      struct sl_market **out)
{
	struct sl_error err;
	double t = cpu_ms();

	*out = sl_market_create(p, &err);
	if (!*out || sl_market_bid(*out, queue, n, opt, &err) < 0)
		fail(&err);
	return cpu_ms() - t;
}

static void cycle(struct scene *sc, struct sl_cluster *c, uint32_t max, double took[STEPS])
{
	struct sl_bid_options opt = { .kinds = SL_BID_ALL & ~(1u << SL_BID_SLURM), .max = max };
	struct sl_error err;
	struct sl_plan *p = sl_plan_create(c, &err);
	const struct sl_bid_set *set;
	struct sl_market *m;
	uint32_t n;
	const struct sl_entry *queue = sl_cluster_queue(c, &n);

	if (!p)
		fail(&err);
	took[BIDS] = bids_of(p, queue, n, &opt, &m);
	sl_market_bids(m, &sc->bids);
	sl_market_destroy(m);
	opt.kinds = SL_BID_ALL;
	took[SLURM] = bids_of(p, queue, n, &opt, &m);
	sl_market_bids(m, &sc->all_bids);
	took[ROWS] = rows_of(sc, m);
	sl_market_destroy(m);
	m = sl_market_create(p, &err);
	if (!m)
		fail(&err);
	took[SETS] = cpu_ms();
	sc->sets = sl_market_nodesets(m, 1, &set, &err);
	if (sc->sets < 0)
		fail(&err);
	took[SETS] = (cpu_ms() - took[SETS]) * 1e3;
	sl_market_destroy(m);
	sl_plan_destroy(p);
}

static void measure(uint32_t nodes, uint32_t pending, uint32_t max, int rounds)
{
	static double took[MAX_ROUNDS][STEPS];
	struct sl_cluster *c;
	struct sl_error err;
	struct scene sc;
	uint32_t n;
	const struct sl_entry *queue;

	make_scene(&sc, nodes, pending);
	c = sl_cluster_create(&sc.snap, &err);
	if (!c)
		fail(&err);
	queue = sl_cluster_queue(c, &n);
	for (uint32_t i = 0; i < n; i++)
		if (!sl_cluster_want(c, queue[i], &err))
			fail(&err);
	for (int i = 0; i < rounds; i++)
		cycle(&sc, c, max, took[i]);
	printf("{\"nodes\": %u, \"jobs\": %u, \"max\": %u, \"running\": %u, \"nodesets\": %d, \"bids\": %u, "
	       "\"with_slurm\": %u, \"rows\": %u", nodes, pending, max, sc.running, (int) sc.sets, sc.bids,
	       sc.all_bids, sc.rows);
	print_medians(step_name, STEPS, took[0], rounds, 2);
	puts("}");
	fflush(stdout);
	sl_cluster_destroy(c);
	free(sc.bytes);
}

int main(int argc, char **argv)
{
	static const uint32_t table[][2] = {
		{ 128, 200 }, { 1024, 50 }, { 1024, 200 }, { 1024, 1000 }, { 10000, 200 }, { 10000, 1000 }, { 100000, 200 },
		{ 100000, 1000 },
	};
	int max = argc > 3 ? atoi(argv[3]) : 5, rounds = argc > 4 ? atoi(argv[4]) : 5;

	if (argc == 2 || argc > 5 || max < 1 || max > SL_MAX_BIDS || rounds < 1 || rounds > MAX_ROUNDS) {
		fprintf(stderr, "usage: bench/bid [NODES JOBS [BIDS [ROUNDS]]]\n");
		return 2;
	}
	if (argc > 2)
		measure((uint32_t) atoi(argv[1]), (uint32_t) atoi(argv[2]), (uint32_t) max, rounds);
	for (size_t i = 0; argc < 2 && i < sizeof(table) / sizeof(table[0]); i++)
		measure(table[i][0], table[i][1], (uint32_t) max, rounds);
	return 0;
}
