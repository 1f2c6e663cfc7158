/* SPDX-License-Identifier: MIT */
/*
 * preempt.c - how long it takes to find whom to stop: bench/preempt [REPETITIONS]
 *
 * The machine of KAI-Scheduler's scale tests: 500 nodes of eight GPUs, each taken by a job of its own (4,000), all of which may be
 * stopped.  A job wants 1, 2,000 or 4,000 GPUs; or 80, of which nobody can give more than 79.  Times are of
 * sl_plan_preempt(), and of the checker for the plan that came out.  Prints one line for each.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "bench/gpu_machine.h"
#include "bench/measure.h"
#include "check/check.h"
#include "image/plan_image.h"
#include "model/preempt.h"
#include "t/random.h"

#define NODES 500
#define GPUS 8
#define START 1000000

struct scenario {
	const char *name;
	uint32_t nodes, gpus;		/* that the job wants, GPUs of each node */
	bool impossible;		/* on all nodes but nine of ten that it may have a job may not be stopped */
	bool equal;			/* all jobs began at the same time */
};

static void add_running(struct sl_builder *b, const struct scenario *s)
{
	for (uint32_t i = 0; i < NODES * GPUS; i++) {
		struct sl_alloc_gres_row g = { .kind = 0, .count = 1, .of = SL_NONE };
		struct sl_alloc_row a = { .node = i / GPUS, .cores = 8 };
		struct sl_job_row job = sl_job_row();

		a.gres = (struct sl_range) { sl_builder_append(b, SL_T_ALLOC_GRES, &g), 1 };
		job.id = 1 + i;
		job.partition = 0;
		job.state = SL_JOB_RUNNING;
		job.qos = sl_builder_str(b, "low");
		job.start_time = START - (s->equal ? 3600 : 60 + below(36000));
		job.end_time = START + 86400;
		job.alloc_gpus = 1;
		job.flags = SL_JOBF_REQUEUE;
		/* (nine nodes stay of which all may be stopped, and of each other one seven) */
		job.preempt_mode = s->impossible && i / GPUS >= 9 && i % GPUS == 0 ? SL_STOP_NONE : SL_STOP_REQUEUE;
		job.preempt_from = 1;
		job.safe_until = START;
		job.alloc = (struct sl_range) { sl_builder_append(b, SL_T_ALLOC, &a), 1 };
		sl_builder_append(b, SL_T_JOB, &job);
	}
}

static uint32_t add_waiting(struct sl_builder *b, const struct scenario *s)
{
	struct sl_job_gres_row gres = { .name = sl_builder_str(b, "gpu"), .count = s->gpus, .per = SL_PER_NODE };
	struct sl_job_row job = sl_job_row();
	struct sl_queue_row queue = sl_queue_row();

	job.id = 100000;
	job.partition = 0;
	job.min_nodes = job.max_nodes = s->nodes;
	job.min_cpus = s->nodes;
	job.time_limit = 3600;
	job.flags = SL_JOBF_MAY_PREEMPT;
	job.preempts = sl_builder_str(b, "QOS=low");
	job.gres = (struct sl_range) { sl_builder_append(b, SL_T_JOB_GRES, &gres), 1 };
	queue.job = sl_builder_append(b, SL_T_JOB, &job);
	queue.partition = 0;
	sl_builder_append(b, SL_T_QUEUE, &queue);
	return queue.job;
}

static struct sl_builder *make(const struct scenario *s, struct sl_snapshot *snap, uint32_t *waiting)
{
	struct sl_error err;
	struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, &err);
	struct sl_meta_row meta = sl_meta_row();
	const void *bytes;
	size_t size;

	if (!b)
		give_up("preempt", &err);
	meta.now = START;
	sl_builder_append(b, SL_T_META, &meta);
	add_gpu_machine(b, NODES, GPUS, 64, 0);
	add_running(b, s);
	*waiting = add_waiting(b, s);
	if (sl_builder_finish(b, &bytes, &size, &err) < 0 || sl_snapshot_open(snap, bytes, size, &err) < 0)
		give_up("preempt", &err);
	return b;
}

/* The plan's image is checked: microseconds. */
static int64_t check(struct sl_plan *p, const struct sl_snapshot *snap)
{
	struct sl_error err;
	struct sl_builder *b = sl_builder_create(&sl_plan_schema, &err);
	struct sl_plan_figures fig = { .examined = 1 };
	struct sl_plan_image plan;
	const void *bytes;
	int64_t begun;
	size_t size;

	if (!b || sl_plan_encode(p, &fig, b, &err) < 0 || sl_builder_finish(b, &bytes, &size, &err) < 0 ||
	    sl_plan_image_open(&plan, bytes, size, &err) < 0)
		give_up("preempt", &err);
	begun = sl_clock_us();
	if (sl_check_plan(snap, &plan, &err) < 0)
		give_up("preempt", &err);
	begun = sl_clock_us() - begun;
	sl_builder_destroy(b);
	return begun;
}

static int by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;

	return (x > y) - (x < y);
}

static void measure_one(const struct scenario *s, int times)
{
	struct sl_snapshot snap;
	struct sl_error err;
	uint32_t waiting;
	struct sl_builder *b = make(s, &snap, &waiting);
	int64_t *us = calloc((size_t) times, sizeof(*us)), checked = 0;
	struct sl_preempt_answer answer;
	uint32_t victims = 0;

	for (int i = 0; us && i < times; i++) {
		struct sl_cluster *c = sl_cluster_create(&snap, &err);
		struct sl_plan *p = c ? sl_plan_create(c, &err) : NULL;
		struct sl_entry e = { .job = waiting };

		if (!p)
			give_up("preempt", &err);
		us[i] = sl_clock_us();
		if (sl_plan_preempt(p, e, NULL, &answer, &err) < 0)
			give_up("preempt", &err);
		us[i] = sl_clock_us() - us[i];
		victims = answer.victims;
		checked = check(p, &snap);
		sl_preempt_answer_free(&answer);
		sl_plan_destroy(p);
		sl_cluster_destroy(c);
	}
	qsort(us, (size_t) times, sizeof(*us), by_time);
	printf("%-44s %-10s stopped %4" PRIu32 "  cost %10.4g  bound %10.4g  median %8.1f ms  p99 %8.1f ms  check %8.1f ms\n", s->name,
	       sl_verdict_word(answer.verdict), victims, answer.cost, answer.bound, (double) us[times / 2] / 1000,
	       (double) us[times * 99 / 100] / 1000, (double) checked / 1000);
	free(us);
	sl_builder_destroy(b);
}

int main(int argc, char **argv)
{
	static const struct scenario scenario[] = {
		{ "1 GPU", 1, 1, false, false },
		{ "1 GPU, all jobs alike", 1, 1, false, true },
		{ "8 GPUs of one node", 1, 8, false, false },
		{ "2,000 GPUs: 250 nodes of 8", 250, 8, false, false },
		{ "2,000 GPUs: 500 nodes of 4", 500, 4, false, false },
		{ "4,000 GPUs: 500 nodes of 8", 500, 8, false, false },
		{ "80 GPUs: 10 nodes of 8, 9 can be had", 10, 8, true, false },
	};
	int times = argc > 1 ? atoi(argv[1]) : 100;

	for (size_t i = 0; times > 0 && i < sizeof(scenario) / sizeof(scenario[0]); i++)
		measure_one(&scenario[i], times);
	return times > 0 ? 0 : 1;
}
