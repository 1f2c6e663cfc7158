/* SPDX-License-Identifier: MIT */
/*
 * preempt_random.c - how often the cheapest set is proven, on random machines: bench/preempt_random [MACHINES [FIRST [PROVE]]]
 *
 * 500 nodes of eight GPUs and 64 cores, full of jobs of one to eight GPUs, of which some are on several nodes, some are gangs, and one in ten
 * may not be stopped.  One job waits, for some nodes with some GPUs of each, or for GPUs wherever they are.  Prints one line for each machine
 * and a summary: what was proven, how far the bound is below the cost, and how long it took.  PROVE: seconds of work of an
 * integer program, 0.2 unless it is said; 0: none, as in plan:preempt().
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bench/gpu_machine.h"
#include "bench/measure.h"
#include "model/preempt.h"
#include "t/random.h"

#define NODES 500
#define GPUS 8
#define CORES 64
#define START 1000000

static void add_job(struct sl_builder *b, uint32_t id, uint32_t first, uint32_t nodes, uint32_t gpus, uint32_t cores, int64_t memory)
{
	struct sl_job_row job = sl_job_row();

	job.alloc = (struct sl_range) { sl_builder_rows(b, SL_T_ALLOC), nodes };
	for (uint32_t n = first; n < first + nodes; n++) {
		struct sl_alloc_gres_row g = { .kind = 0, .count = gpus, .of = SL_NONE };
		struct sl_alloc_row a = { .node = n, .cores = cores, .memory = memory };

		if (gpus)
			a.gres = (struct sl_range) { sl_builder_append(b, SL_T_ALLOC_GRES, &g), 1 };
		sl_builder_append(b, SL_T_ALLOC, &a);
	}
	job.id = id;
	job.partition = 0;
	job.state = SL_JOB_RUNNING;
	job.qos = sl_builder_str(b, "low");
	job.start_time = START - 60 - below(36000);
	job.end_time = START + 86400;
	job.alloc_gpus = gpus * nodes;
	job.alloc_cpus = cores * nodes;
	job.flags = SL_JOBF_REQUEUE;
	job.preempt_mode = one_in(10) ? SL_STOP_NONE : SL_STOP_REQUEUE;
	job.preempt_from = 1;
	job.safe_until = START;
	if (one_in(20)) {
		char says[24];

		snprintf(says, sizeof(says), "gang=%" PRIu32, below(40));
		job.comment = sl_builder_str(b, says);
	}
	sl_builder_append(b, SL_T_JOB, &job);
}

/* Node by node full of jobs; of those of a whole node some are on several. */
static void add_running(struct sl_builder *b)
{
	uint32_t id = 1;

	for (uint32_t n = 0; n < NODES; ) {
		uint32_t gpus = GPUS, cores = CORES, wide = 1 + below(8);

		if (one_in(4) && n + wide <= NODES) {
			add_job(b, id++, n, wide, GPUS, CORES, 900000);
			n += wide;
			continue;
		}
		while (gpus) {
			uint32_t g = 1u << below(4), c;

			g = g > gpus ? gpus : g;
			c = 1 + below(cores / (gpus - g + 1) > 1 ? cores / (gpus - g + 1) : 1);
			add_job(b, id++, n, 1, g, c, 1000 + below(900000 / GPUS * g));
			gpus -= g;
			cores -= c;
		}
		n++;
	}
}

static uint32_t add_waiting(struct sl_builder *b)
{
	bool anywhere = one_in(4);
	uint32_t nodes = one_in(2) ? 1 : 1 + below(one_in(3) ? 200 : 16), gpus = 1 + below(GPUS);
	struct sl_job_gres_row gres = { .name = sl_builder_str(b, "gpu"), .count = anywhere ? nodes * gpus : gpus,
					.per = anywhere ? SL_PER_JOB : SL_PER_NODE };
	struct sl_job_row job = sl_job_row();
	struct sl_queue_row queue = sl_queue_row();

	job.id = 100000;
	job.partition = 0;
	job.min_nodes = nodes;
	job.max_nodes = anywhere ? NODES : nodes;
	job.num_tasks = nodes * (1 + below(24));
	job.min_cpus = job.num_tasks;
	job.memory_per_node = 1 + below(700000);
	job.time_limit = 3600;
	job.flags = SL_JOBF_MAY_PREEMPT;
	job.preempts = sl_builder_str(b, "QOS=low");
	job.gres = (struct sl_range) { sl_builder_append(b, SL_T_JOB_GRES, &gres), 1 };
	queue.job = sl_builder_append(b, SL_T_JOB, &job);
	queue.partition = 0;
	sl_builder_append(b, SL_T_QUEUE, &queue);
	return queue.job;
}

struct tally {
	uint32_t verdicts[SL_VERDICTS];
	double gap, most;		/* of those that are not proven: cost over bound, less one */
	int64_t *us;
	uint32_t machines;
};

static void measure_one(uint64_t seed, double prove, struct tally *t)
{
	const struct sl_preempt_terms terms = { .wait_price = -1, .most_mip = prove > 0 ? prove : -1 };
	struct sl_snapshot snap;
	struct sl_error err;
	struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, &err);
	struct sl_meta_row meta = sl_meta_row();
	struct sl_preempt_answer answer;
	struct sl_entry e = { 0 };
	struct sl_cluster *c;
	struct sl_plan *p;
	const void *bytes;
	double gap;
	size_t size;

	random_state = seed * 7919;
	if (!b)
		give_up("preempt", &err);
	meta.now = START;
	meta.select_flags = SL_SELECT_MEMORY;
	sl_builder_append(b, SL_T_META, &meta);
	add_gpu_machine(b, NODES, GPUS, CORES, 1000000);
	add_running(b);
	e.job = add_waiting(b);
	if (sl_builder_finish(b, &bytes, &size, &err) < 0 || sl_snapshot_open(&snap, bytes, size, &err) < 0 ||
	    !(c = sl_cluster_create(&snap, &err)) || !(p = sl_plan_create(c, &err)))
		give_up("preempt", &err);
	t->us[t->machines] = sl_clock_us();
	if (sl_plan_preempt(p, e, &terms, &answer, &err) < 0)
		give_up("preempt", &err);
	t->us[t->machines] = sl_clock_us() - t->us[t->machines];
	gap = answer.verdict == SL_VERDICT_FOUND ? answer.cost / (answer.bound > 0 ? answer.bound : 1e-9) - 1 : 0;
	printf("%5" PRIu64 " %-10s stopped %4" PRIu32 " of %4" PRIu32 "  sets %5" PRIu32 "  cost %10.4f  bound %10.4f  %8.1f ms  %s\n", seed,
	       sl_verdict_word(answer.verdict), answer.victims, answer.permitted, answer.sets, answer.cost, answer.bound,
	       (double) t->us[t->machines] / 1000, answer.verdict == SL_VERDICT_UNPROVEN ? sl_refusal_text(&answer.why) : "");
	t->verdicts[answer.verdict]++;
	t->gap += gap;
	t->most = gap > t->most ? gap : t->most;
	t->machines++;
	sl_preempt_answer_free(&answer);
	sl_plan_destroy(p);
	sl_cluster_destroy(c);
	sl_builder_destroy(b);
}

static int by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	uint32_t machines = argc > 1 ? (uint32_t) atoi(argv[1]) : 100, first = argc > 2 ? (uint32_t) atoi(argv[2]) : 1;
	double prove = argc > 3 ? atof(argv[3]) : SL_PREEMPT_MIP;
	struct tally t = { .us = calloc((size_t) machines + 1, sizeof(*t.us)) };

	for (uint32_t i = 0; t.us && i < machines; i++)
		measure_one(first + i, prove, &t);
	if (!t.machines)
		return 1;
	qsort(t.us, t.machines, sizeof(*t.us), by_time);
	printf("optimal %" PRIu32 ", found %" PRIu32 " (%.2f %% above the bound on average, %.2f %% at most), impossible %" PRIu32 ", unproven %"
	       PRIu32 "; median %.1f ms, p99 %.1f ms, most %.1f ms\n", t.verdicts[SL_VERDICT_OPTIMAL], t.verdicts[SL_VERDICT_FOUND],
	       t.verdicts[SL_VERDICT_FOUND] ? 100 * t.gap / t.verdicts[SL_VERDICT_FOUND] : 0, 100 * t.most, t.verdicts[SL_VERDICT_IMPOSSIBLE],
	       t.verdicts[SL_VERDICT_UNPROVEN], (double) t.us[t.machines / 2] / 1000, (double) t.us[t.machines * 99 / 100] / 1000,
	       (double) t.us[t.machines - 1] / 1000);
	free(t.us);
	return 0;
}
