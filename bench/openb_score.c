/* SPDX-License-Identifier: MIT */
#include "bench/openb_score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BEST 100		/* of a score */
#define MOST_CPU_MILLI 128000.0	/* of the largest node, by which CPUs and GPUs are made comparable */
#define MOST_GPU_MILLI 8000
#define MIX_COVERS 0.95

static int free_gpu_milli(const struct openb_node *n)
{
	int sum = 0;

	for (int i = 0; i < n->gpus; i++)
		sum += n->gpu_milli[i];
	return sum;
}

static int asked_gpu_milli(const struct openb_job *j)
{
	return j->gpus * j->gpu_milli;
}

static bool asks_part_of_gpu(const struct openb_job *j)
{
	return j->gpus && j->gpu_milli < OPENB_WHOLE_GPU;
}

static int gpus_with(const struct openb_node *n, int gpu_milli)
{
	int count = 0;

	for (int i = 0; i < n->gpus; i++)
		count += n->gpu_milli[i] >= gpu_milli;
	return count;
}

static bool fits_by_cpu_and_gpu(const struct openb_node *n, const struct openb_job *j)
{
	return n->cpu_milli >= j->cpu_milli && (!j->gpus || gpus_with(n, j->gpu_milli) >= j->gpus);
}

bool openb_fits(const struct openb_node *n, const struct openb_job *j)
{
	return n->memory_mib >= j->memory_mib && fits_by_cpu_and_gpu(n, j);
}

static uint32_t kind_of(const struct openb_job *j)
{
	return !j->gpus ? 0 : asks_part_of_gpu(j) ? 1 : 1u << j->gpus;
}

void openb_place(struct openb_node *n, const struct openb_job *j, int gpu)
{
	int wanted = j->gpus;

	n->cpu_milli -= j->cpu_milli;
	n->memory_mib -= j->memory_mib;
	n->kinds |= kind_of(j);
	if (asks_part_of_gpu(j)) {
		n->gpu_milli[gpu] -= j->gpu_milli;
		return;
	}
	for (int i = 0; i < n->gpus && wanted; i++)
		if (n->gpu_milli[i] == OPENB_WHOLE_GPU) {
			n->gpu_milli[i] = 0;
			wanted--;
		}
}

/* -- Fragmentation -------------------------------------------------------------- */

double openb_fragmentation(const struct openb_node *n, const struct openb_mix *mix)
{
	int all = free_gpu_milli(n);
	double sum = 0;

	for (uint32_t i = 0; all && i < mix->shapes; i++) {
		const struct openb_job *j = &mix->shape[i].job;
		int lost = all;

		if (j->gpus && fits_by_cpu_and_gpu(n, j)) {
			lost = 0;
			for (int g = 0; g < n->gpus; g++)
				lost += n->gpu_milli[g] < j->gpu_milli ? n->gpu_milli[g] : 0;
		}
		sum += mix->shape[i].probability * lost;
	}
	return sum;
}

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int by_shape(const void *a, const void *b)
{
	const struct openb_shape *x = a, *y = b;
	int c = compare(y->job.cpu_milli, x->job.cpu_milli);

	if (!c)
		c = compare(y->job.gpu_milli, x->job.gpu_milli);
	return c ? c : compare(y->job.gpus, x->job.gpus);
}

static int by_frequency(const void *a, const void *b)
{
	const struct openb_shape *x = a, *y = b;
	int c = (x->probability < y->probability) - (x->probability > y->probability);

	return c ? c : by_shape(a, b);
}

/* Equal shapes, which are neighbours, become one with the sum of what they counted.  How many are left. */
static uint32_t merge_equal(struct openb_shape *shape, uint32_t count)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++)
		if (kept && !by_shape(&shape[kept - 1], &shape[i]))
			shape[kept - 1].probability += shape[i].probability;
		else
			shape[kept++] = shape[i];
	return kept;
}

int openb_mix_of(struct openb_mix *mix, const struct openb_job *jobs, uint32_t count, struct sl_error *err)
{
	struct openb_shape *shape = calloc(count ? count : 1, sizeof(*shape));
	double covered = 0;
	uint32_t kinds, used = 0;

	if (!shape)
		return sl_fail(err, SL_ENOMEM, "out of memory");
	for (uint32_t i = 0; i < count; i++)
		shape[i] = (struct openb_shape) { jobs[i], 1 };
	qsort(shape, count, sizeof(*shape), by_shape);
	kinds = merge_equal(shape, count);
	qsort(shape, kinds, sizeof(*shape), by_frequency);
	while (used < kinds && covered < MIX_COVERS * count)
		covered += shape[used++].probability;
	for (uint32_t i = 0; i < used; i++)
		shape[i].probability /= covered;
	*mix = (struct openb_mix) { shape, used };
	return 0;
}

void openb_mix_free(struct openb_mix *mix)
{
	free(mix->shape);
	*mix = (struct openb_mix) { 0 };
}

/* -- Which GPU gets a job that asks for a part of one --------------------------- */

static int any_gpu(const struct openb_node *n, const struct openb_job *j, const struct openb_mix *mix, struct sl_random *random)
{
	uint64_t skip = sl_random_below(random, (uint64_t) gpus_with(n, j->gpu_milli));
	int g = 0;

	(void) mix;
	while (n->gpu_milli[g] < j->gpu_milli || skip--)
		g++;
	return g;
}

static int fullest_gpu(const struct openb_node *n, const struct openb_job *j, const struct openb_mix *mix, struct sl_random *random)
{
	int best = -1;

	(void) mix;
	(void) random;
	for (int g = 0; g < n->gpus; g++)
		if (n->gpu_milli[g] >= j->gpu_milli && (best < 0 || n->gpu_milli[g] < n->gpu_milli[best]))
			best = g;
	return best;
}

/* Scores that are equal but for how sums were rounded become equal. */
static double to_nine_digits(double score)
{
	return round(score * 1e9) / 1e9;
}

/* -- Scores --------------------------------------------------------------------- */

static double score_random(const struct openb_node *n, const struct openb_job *j, const struct openb_mix *mix)
{
	(void) n;
	(void) j;
	(void) mix;
	return 0;
}

/* Tetris' alignment the other way round: nodes whose free CPUs and GPUs go least with what the job asks for. */
static double score_dot_product_exact(const struct openb_node *n, const struct openb_job *j, const struct openb_mix *mix)
{
	double cpu = (double) n->cpu_milli / MOST_CPU_MILLI * ((double) j->cpu_milli / MOST_CPU_MILLI);
	double gpu = (double) free_gpu_milli(n) / MOST_GPU_MILLI * ((double) asked_gpu_milli(j) / MOST_GPU_MILLI);

	(void) mix;
	return to_nine_digits(BEST * (1 - (cpu + gpu) / 2));
}

static double score_dot_product(const struct openb_node *n, const struct openb_job *j, const struct openb_mix *mix)
{
	return floor(score_dot_product_exact(n, j, mix));
}

/* Nodes that run only jobs of the same kind, then those that run such jobs too, then idle ones; the fuller the better. */
static double score_clustering(const struct openb_node *n, const struct openb_job *j, const struct openb_mix *mix)
{
	uint32_t kind = kind_of(j);
	int quarter = n->kinds == kind ? 3 : n->kinds & kind ? 2 : !n->kinds ? 1 : 0;

	(void) mix;
	return kind ? BEST / 4 * (MOST_GPU_MILLI - free_gpu_milli(n)) / MOST_GPU_MILLI + quarter * BEST / 4 : 0;
}

static int max(int a, int b)
{
	return a > b ? a : b;
}

/* GPUs in use before idle ones, the fuller the better; then idle GPUs of nodes in use; then idle nodes, small ones first. */
static double score_packing(const struct openb_node *n, const struct openb_job *j, const struct openb_mix *mix)
{
	int idle = gpus_with(n, OPENB_WHOLE_GPU);
	int left;

	if (!j->gpus)
		return 0;
	if (idle == n->gpus)
		return max(BEST / 3 - idle, idle);
	left = asks_part_of_gpu(j) ? n->gpu_milli[fullest_gpu(n, j, mix, NULL)] : OPENB_WHOLE_GPU;
	return left == OPENB_WHOLE_GPU ? max(BEST / 2 - j->gpus, BEST / 3) : max(BEST - left * 100 / OPENB_WHOLE_GPU / 10, BEST / 2);
}

/* The less is left after the job, CPUs and GPUs counting alike. */
static double score_best_fit_exact(const struct openb_node *n, const struct openb_job *j, const struct openb_mix *mix)
{
	double cpu = (double) (n->cpu_milli - j->cpu_milli) / MOST_CPU_MILLI;
	double gpu = (double) (free_gpu_milli(n) - asked_gpu_milli(j)) / MOST_GPU_MILLI;

	(void) mix;
	return to_nine_digits(BEST * (1 - (cpu / 2 + gpu / 2)));
}

static double score_best_fit(const struct openb_node *n, const struct openb_job *j, const struct openb_mix *mix)
{
	return floor(score_best_fit_exact(n, j, mix));
}

/* By how much fragmentation falls, GPUs: from 0 to 100 by the logistic function, 50 where it stays as it was. */
static double gradient(const struct openb_node *n, const struct openb_job *j, const struct openb_mix *mix, double before, int gpu)
{
	struct openb_node after = *n;

	openb_place(&after, j, gpu);
	return BEST / (1 + exp(-(before - openb_fragmentation(&after, mix)) / OPENB_WHOLE_GPU));
}

/* The best score over the GPUs that the job may get, and the first GPU with it; *cut* is floor() or to_nine_digits(). */
static double descend(const struct openb_node *n, const struct openb_job *j, const struct openb_mix *mix, double (*cut)(double),
		      int *gpu)
{
	double before = openb_fragmentation(n, mix), best = -1;

	*gpu = 0;
	if (!asks_part_of_gpu(j))
		return cut(gradient(n, j, mix, before, 0));
	for (int g = 0; g < n->gpus; g++) {
		double score;

		if (n->gpu_milli[g] < j->gpu_milli || (g && n->gpu_milli[g] == n->gpu_milli[g - 1]))
			continue;
		score = cut(gradient(n, j, mix, before, g));
		if (score > best) {
			best = score;
			*gpu = g;
		}
	}
	return best;
}

static double score_fgd(const struct openb_node *n, const struct openb_job *j, const struct openb_mix *mix)
{
	int gpu;

	return descend(n, j, mix, floor, &gpu);
}

static double score_fgd_exact(const struct openb_node *n, const struct openb_job *j, const struct openb_mix *mix)
{
	int gpu;

	return descend(n, j, mix, to_nine_digits, &gpu);
}

static double to_even(double score)
{
	return 2 * floor(score / 2 + 1e-9);
}

/* FGD in steps of two, so that more nodes are equal; of these GPUs in use first, and for jobs without GPUs what leaves least. */
static double score_fgd_packed(const struct openb_node *n, const struct openb_job *j, const struct openb_mix *mix)
{
	int gpu;
	double then = j->gpus ? score_packing(n, j, mix) : score_best_fit(n, j, mix);

	return descend(n, j, mix, to_even, &gpu) + then / (BEST + 1) * 2;
}

static int steepest_gpu_packed(const struct openb_node *n, const struct openb_job *j, const struct openb_mix *mix,
			       struct sl_random *random)
{
	int gpu;

	(void) random;
	descend(n, j, mix, to_even, &gpu);
	return gpu;
}

static int steepest_gpu(const struct openb_node *n, const struct openb_job *j, const struct openb_mix *mix, struct sl_random *random)
{
	int gpu;

	(void) random;
	descend(n, j, mix, floor, &gpu);
	return gpu;
}

static int steepest_gpu_exact(const struct openb_node *n, const struct openb_job *j, const struct openb_mix *mix,
			      struct sl_random *random)
{
	int gpu;

	(void) random;
	descend(n, j, mix, to_nine_digits, &gpu);
	return gpu;
}

const struct openb_heuristic openb_heuristics[] = {
	{ "Random", 87.47, true, score_random, SL_PLACE_BESTFIT, any_gpu },
	{ "DotProd", 90.85, false, score_dot_product, SL_PLACE_DOT_PRODUCT, fullest_gpu },
	{ "GpuClustering", 91.88, false, score_clustering, SL_PLACE_GPU_CLUSTERING, fullest_gpu },
	{ "GpuPacking", 92.00, false, score_packing, SL_PLACE_GPU_PACKING, fullest_gpu },
	{ "BestFit", 93.08, false, score_best_fit, SL_PLACE_LEAST_LEFT, fullest_gpu },
	{ "FGD", 95.39, false, score_fgd, SL_PLACE_FGD, steepest_gpu },
	{ "DotProdExact", NAN, false, score_dot_product_exact, SL_PLACE_BESTFIT, fullest_gpu },
	{ "BestFitExact", NAN, false, score_best_fit_exact, SL_PLACE_BESTFIT, fullest_gpu },
	{ "FGDPacked", NAN, false, score_fgd_packed, SL_PLACE_BESTFIT, steepest_gpu_packed },
	{ "FGDExact", NAN, false, score_fgd_exact, SL_PLACE_BESTFIT, steepest_gpu_exact },
};
const int openb_heuristics_count = sizeof(openb_heuristics) / sizeof(openb_heuristics[0]);

const struct openb_heuristic *openb_heuristic_named(const char *name)
{
	for (int i = 0; i < openb_heuristics_count; i++)
		if (!strcmp(openb_heuristics[i].name, name))
			return &openb_heuristics[i];
	return NULL;
}
