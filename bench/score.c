/* SPDX-License-Identifier: MIT */
/*
 * score.c - what a placement score costs beside best fit.
 *
 *	bench/score [NODES [JOBS [PASSES]]]
 *
 * NODES (10,000) nodes of 64 cores and 8 GPUs, about 70 % of whose GPUs are in use by jobs that end at different times, so that
 * nearly every node is a class of its own.  JOBS (2,000) jobs are started, each on the first try or not at all, by every method in
 * turn, on the same machine; PASSES (5) times.  "own" is a score of the caller's in C.  A table in Markdown on stdout: the median
 * of CPU time for each job, and how much that is beside best fit's.  Status 1 if a bundled score costs more than twice as much.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/order.h"
#include "base/random.h"
#include "bench/measure.h"
#include "timeline/score.h"

#define CORES 64
#define GPUS 8
#define MOST_TIMES 2.0
#define MOST_PASSES 99

static const char name[] = "score";

static const struct { const char *word; enum sl_place_method method; } method[] = {
	{ "bestfit", SL_PLACE_BESTFIT }, { "least_left", SL_PLACE_LEAST_LEFT }, { "worst_fit", SL_PLACE_WORST_FIT },
	{ "dot_product", SL_PLACE_DOT_PRODUCT }, { "gpu_packing", SL_PLACE_GPU_PACKING },
	{ "gpu_clustering", SL_PLACE_GPU_CLUSTERING }, { "fgd", SL_PLACE_FGD }, { "own", SL_PLACE_OWN },
};
#define METHODS (int) (sizeof(method) / sizeof(*method))

static struct {
	struct sl_timeline *tl;
	struct sl_scoring scoring;
	struct sl_mix mix;
	struct sl_layout layout;
	struct sl_random random;
	uint32_t nodes, jobs;
	struct sl_request *job;
} world = { .nodes = 10000, .jobs = 2000 };

static void must(bool could, struct sl_error *err)
{
	if (!could)
		give_up(name, err);
}

static uint32_t below(uint32_t n)
{
	return (uint32_t) sl_random_below(&world.random, n);
}

static struct sl_request some_job(void)
{
	static const uint32_t gpus[] = { 0, 0, 1, 1, 1, 1, 1, 2, 2, 4, 8 };
	uint32_t n = gpus[below(sizeof(gpus) / sizeof(*gpus))];
	struct sl_request r = { .min_nodes = 1, .max_nodes = 1, .duration = 60 * (1 + below(1440)),
				.cores = n ? n * (4 + 2 * below(3)) : 2 * (1 + below(8)) };

	if (n) {
		r.gres_needs = 1;
		r.gres[0] = (struct sl_gres_need) { .kinds = 1, .count = n };
	}
	return r;
}

static bool start(enum sl_place_method m, const struct sl_request *r)
{
	const struct sl_how how = { .method = m };
	struct sl_error err = { 0 };
	int rc = sl_fit_at(world.tl, r, &how, 0, &world.layout, NULL, &err);

	must(rc >= 0, &err);
	if (rc)
		must(!sl_layout_book(world.tl, &world.layout, 0, r->duration, &err), &err);
	return rc;
}

static int own(void *arg, const struct sl_scored *what, double *score, struct sl_error *err)
{
	(void) arg;
	(void) err;
	*score = -(double) what->left_gpus;
	return 1;
}

static void make_mix(void)
{
	struct sl_mix_shape *shape = calloc(world.jobs, sizeof(*shape));
	struct sl_error err = { SL_ENOMEM, "out of memory" };

	must(shape != NULL, &err);
	for (uint32_t i = 0; i < world.jobs; i++) {
		const struct sl_request *r = &world.job[i];

		shape[i] = (struct sl_mix_shape) { .cores = (uint32_t) r->cores, .kinds = r->gres_needs ? 1 : 0,
						   .count = (uint16_t) r->gres[0].count, .part = 1 };
	}
	must(!sl_mix_make(&world.mix, shape, world.jobs, SL_MIX_COVERS, &err), &err);
	free(shape);
	world.scoring = (struct sl_scoring) { .gpus = 1, .has_mix = true, .mix = &world.mix, .own = own };
}

static void build(void)
{
	struct sl_node_kind kind = { .capacity = { .cores = CORES, .memory = 1 << 20, .gres = { GPUS } } };
	uint32_t *kind_of = calloc(world.nodes, sizeof(*kind_of));
	struct sl_error err = { SL_ENOMEM, "out of memory" };
	uint64_t used = 0;

	must(kind_of != NULL, &err);
	world.tl = sl_timeline_create(world.nodes, kind_of, &kind, 1, 0, &err);
	free(kind_of);
	must(world.tl != NULL, &err);
	sl_timeline_scoring(world.tl, &world.scoring);
	while (used < (uint64_t) world.nodes * GPUS * 7 / 10) {
		struct sl_request r = some_job();
		uint32_t first = below(world.nodes);
		struct sl_nodeset rest = SL_NODESET_EMPTY;

		/* somewhere, not where a method would have it */
		must(!sl_nodeset_add(&rest, first, world.nodes - 1, &err), &err);
		r.eligible = &rest;
		used += start(SL_PLACE_LAST, &r) ? r.gres[0].count + !r.gres[0].count : 0;
		sl_nodeset_free(&rest);
	}
}

/* Microseconds of CPU time for each job; *started: how many could start. */
static double pass(enum sl_place_method m, uint32_t *started)
{
	uint32_t mark = sl_timeline_mark(world.tl);
	double before = cpu_ms();

	*started = 0;
	for (uint32_t i = 0; i < world.jobs; i++)
		*started += start(m, &world.job[i]);
	before = cpu_ms() - before;
	sl_timeline_rollback(world.tl, mark);
	return before * 1e3 / world.jobs;
}

int main(int argc, char **argv)
{
	double us[METHODS][MOST_PASSES];
	uint32_t started[METHODS];
	int passes = argc > 3 ? atoi(argv[3]) : 5;
	struct sl_timeline_figures f;
	bool cheap = true;

	world.nodes = argc > 1 ? (uint32_t) atoi(argv[1]) : world.nodes;
	world.jobs = argc > 2 ? (uint32_t) atoi(argv[2]) : world.jobs;
	if (argc > 4 || world.nodes < 1 || world.jobs < 1 || passes < 1 || passes > MOST_PASSES) {
		fprintf(stderr, "usage: bench/score [NODES [JOBS [PASSES]]]\n");
		return 2;
	}
	sl_random_seed(&world.random, 1);
	world.job = calloc(world.jobs, sizeof(*world.job));
	must(world.job != NULL, &(struct sl_error) { SL_ENOMEM, "out of memory" });
	for (uint32_t i = 0; i < world.jobs; i++)
		world.job[i] = some_job();
	make_mix();
	build();
	sl_timeline_figures(world.tl, &f);
	fprintf(stderr, "bench/score: %" PRIu32 " nodes in %" PRIu32 " classes, %" PRIu32 " jobs\n", world.nodes, f.classes, world.jobs);
	for (int p = 0; p < passes; p++)
		for (int m = 0; m < METHODS; m++)
			us[m][p] = pass(method[m].method, &started[m]);
	printf("| place | CPU us a job | beside bestfit | started |\n|---|---|---|---|\n");
	for (int m = 0; m < METHODS; m++) {
		qsort(us[m], (size_t) passes, sizeof(**us), sl_order_double);
		printf("| %s | %.1f | %.2f | %" PRIu32 " |\n", method[m].word, us[m][passes / 2], us[m][passes / 2] / us[0][passes / 2],
		       started[m]);
		cheap &= method[m].method == SL_PLACE_OWN || us[m][passes / 2] <= MOST_TIMES * us[0][passes / 2];
	}
	sl_layout_free(&world.layout);
	sl_timeline_destroy(world.tl);
	sl_mix_free(&world.mix);
	sl_scoring_free(&world.scoring);
	free(world.job);
	return cheap ? 0 : 1;
}
