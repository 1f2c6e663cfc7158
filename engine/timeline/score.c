/* SPDX-License-Identifier: MIT */
/* score.c - the bundled scores of a node (score.h), and the mix of expected job shapes. */
#include "timeline/score_impl.h"
#include "base/order.h"
#include "base/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* -- the mix ------------------------------------------------------------- */

/* Thousandths that the shape needs of each of its GPUs. */
static uint32_t of_each(const struct sl_mix_shape *s)
{
	return !s->kinds ? 0 : s->milli ? s->milli : SL_WHOLE_GPU;
}

static int by_shape(const void *a, const void *b)
{
	const struct sl_mix_shape *x = a, *y = b;

	return SL_ORDER(y->cores, x->cores) ?: SL_ORDER(of_each(y), of_each(x)) ?: SL_ORDER(y->count, x->count) ?:
		SL_ORDER(y->kinds, x->kinds);
}

static int by_frequency(const void *a, const void *b)
{
	const struct sl_mix_shape *x = a, *y = b;

	return SL_ORDER(y->part, x->part) ?: by_shape(a, b);
}

static int by_cores(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return SL_ORDER(*x, *y);
}

/* Merge equal shapes, which are neighbours, and add their parts.  Returns how many are left. */
static uint32_t merge_equal(struct sl_mix_shape *shape, uint32_t count)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++)
		if (kept && !by_shape(&shape[kept - 1], &shape[i]))
			shape[kept - 1].part += shape[i].part;
		else
			shape[kept++] = shape[i];
	return kept;
}

/* Steps are the distinct core counts of the shapes.  A shape fits by cores if the free cores reach its step. */
static void number_steps(struct sl_mix *mix)
{
	for (uint32_t i = 0; i < mix->shapes; i++)
		mix->cores[i] = mix->shape[i].cores;
	qsort(mix->cores, mix->shapes, sizeof(*mix->cores), by_cores);
	for (uint32_t i = 0; i < mix->shapes; i++)
		if (!mix->steps || mix->cores[mix->steps - 1] != mix->cores[i])
			mix->cores[mix->steps++] = mix->cores[i];
	for (uint32_t i = 0; i < mix->shapes; i++)
		while (mix->shape[i].step < mix->steps && mix->cores[mix->shape[i].step] <= mix->shape[i].cores)
			mix->shape[i].step++;
}

int sl_mix_make(struct sl_mix *mix, const struct sl_mix_shape *shape, uint32_t count, double covers, struct sl_error *err)
{
	double all = 0, covered = 0;
	uint32_t kinds, used = 0;

	*mix = (struct sl_mix) { .shape = calloc(count + 1, sizeof(*shape)), .cores = calloc(count + 1, sizeof(*mix->cores)) };
	if (!mix->shape || !mix->cores) {
		sl_mix_free(mix);
		return sl_fail(err, SL_ENOMEM, "placement: out of memory");
	}
	for (uint32_t i = 0; i < count; i++) {
		mix->shape[i] = shape[i];
		mix->shape[i].step = 0;
		all += shape[i].part;
	}
	qsort(mix->shape, count, sizeof(*shape), by_shape);
	kinds = merge_equal(mix->shape, count);
	qsort(mix->shape, kinds, sizeof(*shape), by_frequency);
	while (used < kinds && used < SL_MIX_MOST && covered < covers * all)
		covered += mix->shape[used++].part;
	for (uint32_t i = 0; i < used; i++)
		mix->shape[i].part /= covered;
	mix->shapes = used;
	number_steps(mix);
	return 0;
}

void sl_mix_free(struct sl_mix *mix)
{
	free(mix->shape);
	free(mix->cores);
	*mix = (struct sl_mix) { 0 };
}

/* -- the GPUs of a node -------------------------------------------------- */

/* What scores see of a node.  amount[kind]: free thousandths of a device, or the number of free whole GPUs.  Compared as
 * bytes, so there are no gaps. */
struct gpus {
	uint32_t steps;			/* number of steps of the mix that its free cores reach */
	uint16_t devices, counts;	/* bits: kinds that are devices; kinds that are counted as whole GPUs */
	uint16_t amount[SL_MAX_GRES];
};
_Static_assert(sizeof(struct gpus) == 4 + 2 * 2 + 2 * SL_MAX_GRES, "compared as bytes: no gaps");

static uint16_t milli_of(uint32_t amount, uint32_t all)
{
	return all ? (uint16_t) ((uint64_t) amount * SL_WHOLE_GPU / all) : 0;
}

/* Bits: the devices of a gres kind that a node with that capacity has. */
static uint16_t devices_on(const struct sl_devices *d, int kind, const struct sl_resources *capacity)
{
	uint16_t mask = d ? d->whole[kind] : 0, on = 0;

	for (int k = 0; mask >> k; k++)
		on |= (mask >> k & 1) && capacity->gres[k] ? 1u << k : 0;
	return on;
}

static struct gpus gpus_of(const struct sl_scoring *s, const struct sl_devices *d, const struct sl_resources *capacity,
			   const struct sl_resources *free)
{
	struct gpus g = { 0 };

	for (int k = 0; s->gpus >> k; k++) {
		uint16_t devices;

		if (!(s->gpus >> k & 1) || !capacity->gres[k])
			continue;
		devices = devices_on(d, k, capacity);
		g.devices |= devices;
		g.counts |= devices ? 0 : 1u << k;
	}
	for (int k = 0; (g.devices | g.counts) >> k; k++) {
		if (g.devices >> k & 1)
			g.amount[k] = milli_of(free->gres[k], capacity->gres[k]);
		else if (g.counts >> k & 1)
			g.amount[k] = free->gres[k];
	}
	return g;
}

static uint32_t free_milli(const struct gpus *g)
{
	uint32_t sum = 0;

	for (int k = 0; (g->devices | g->counts) >> k; k++)
		sum += g->devices >> k & 1 ? g->amount[k] : (uint32_t) g->amount[k] * SL_WHOLE_GPU;
	return sum;
}

/* Number of idle GPUs among *kinds*. */
static uint32_t idle_gpus(const struct gpus *g, uint16_t kinds)
{
	uint16_t mask = (g->devices | g->counts) & kinds;
	uint32_t n = 0;

	for (int k = 0; mask >> k; k++)
		if (mask >> k & 1)
			n += g->counts >> k & 1 ? g->amount[k] : g->amount[k] == SL_WHOLE_GPU;
	return n;
}

/* -- fragmentation ------------------------------------------------------- */

/* Thousandths of the node's free GPUs, *all* in sum, that a job of this shape cannot use. */
static uint32_t lost_to(const struct gpus *g, const struct sl_mix_shape *shape, uint32_t all)
{
	uint16_t mask = g->devices | g->counts;
	uint32_t lost = 0, least = of_each(shape), usable = 0;

	if (!shape->kinds || g->steps < shape->step)
		return all;
	for (int k = 0; mask >> k; k++) {
		uint32_t amount = g->amount[k];

		if (!(mask >> k & 1))
			continue;
		if (g->counts >> k & 1) {
			bool will_do = !shape->milli && (shape->kinds >> k & 1);

			usable += will_do ? amount : 0;
			lost += will_do ? 0 : amount * SL_WHOLE_GPU;
		} else {
			bool will_do = (shape->kinds >> k & 1) && amount >= least;

			usable += will_do;
			lost += will_do ? 0 : amount;
		}
	}
	return usable < (shape->milli ? 1u : shape->count) ? all : lost;
}

#define MEMOS 4096	/* entries of the cache, a power of two */

struct sl_score_memo {
	struct {
		struct gpus of;
		bool known;
		double fragmentation;
	} at[MEMOS];
};

static uint32_t steps_held(const struct sl_mix *mix, int64_t cores)
{
	return SL_FIRST(i, 0, mix->steps, mix->cores[i] <= cores);
}

static double work_out(const struct gpus *g, const struct sl_mix *mix)
{
	uint32_t all = free_milli(g);
	double sum = 0;

	for (uint32_t i = 0; all && i < mix->shapes; i++)
		sum += mix->shape[i].part * lost_to(g, &mix->shape[i], all);
	return sum;
}

/* Few distinct values occur, so results are cached.  Without memory for the cache they are computed each time. */
static double fragmentation(struct sl_scoring *s, struct gpus *g, int64_t cores)
{
	uint64_t hash = 0, word[sizeof(*g) / sizeof(uint64_t)];
	uint32_t i;

	g->steps = steps_held(s->mix, cores);
	memcpy(word, g, sizeof(word));
	for (uint32_t w = 0; w < sizeof(word) / sizeof(*word); w++)
		hash = (hash ^ word[w]) * UINT64_C(0x9e3779b97f4a7c15), hash ^= hash >> 29;
	i = hash % MEMOS;
	if (!s->memo)
		s->memo = calloc(1, sizeof(*s->memo));
	if (!s->memo)
		return work_out(g, s->mix);
	if (!s->memo->at[i].known || memcmp(&s->memo->at[i].of, g, sizeof(*g))) {
		s->memo->at[i].of = *g;
		s->memo->at[i].known = true;
		s->memo->at[i].fragmentation = work_out(g, s->mix);
	}
	return s->memo->at[i].fragmentation;
}
_Static_assert(sizeof(struct gpus) % sizeof(uint64_t) == 0, "it is hashed in words");

double sl_fragmentation(struct sl_scoring *s, const struct sl_devices *devices, const struct sl_resources *capacity,
			const struct sl_resources *free)
{
	struct gpus g = gpus_of(s, devices, capacity, free);

	return s->mix ? fragmentation(s, &g, free->cores) : 0;
}

uint32_t sl_idle_gpus(const struct sl_scoring *s, const struct sl_devices *devices, const struct sl_resources *capacity,
		      const struct sl_resources *free)
{
	struct gpus g = gpus_of(s, devices, capacity, free);

	return idle_gpus(&g, UINT16_MAX);
}

void sl_scoring_free(struct sl_scoring *s)
{
	free(s->memo);
	s->memo = NULL;
}

/* -- scores -------------------------------------------------------------- */

/* A node before and after the job would start. */
struct question {
	const struct sl_scorer *of;
	const struct sl_resources *capacity, *at;	/* free on the node when the job starts */
	struct sl_resources takes;
	struct gpus before, after;
	uint32_t asked;			/* thousandths of GPUs that the job takes */
};

/* Round down to an integer; scores that differ only by rounding errors become equal. */
static uint32_t cut(double score)
{
	score = floor(round(score * 1e9) / 1e9);
	return score < 0 ? 0 : score > SL_SCORE_BEST ? SL_SCORE_BEST : (uint32_t) score;
}

/* Scores weigh CPUs and GPUs equally, as fractions of the largest node's. */
static double cpu_part(const struct question *q, double cores)
{
	return q->of->most_cores ? cores / q->of->most_cores : 0;
}

static double gpu_part(const struct question *q, double milli)
{
	return q->of->most_milli ? milli / q->of->most_milli : 0;
}

static double left(const struct question *q)
{
	return cpu_part(q, q->at->cores - q->takes.cores) / 2 + gpu_part(q, free_milli(&q->after)) / 2;
}

static double aligned(const struct question *q)
{
	return (cpu_part(q, q->at->cores) * cpu_part(q, q->takes.cores) +
		gpu_part(q, free_milli(&q->before)) * gpu_part(q, q->asked)) / 2;
}

/* The first GPU of which the job takes only a fraction; -1: it takes whole GPUs, or none. */
static int shared_gpu(const struct question *q)
{
	for (int k = 0; q->before.devices >> k; k++)
		if ((q->before.devices >> k & 1) && q->after.amount[k] < q->before.amount[k] &&
		    (q->after.amount[k] || q->before.amount[k] < SL_WHOLE_GPU))
			return k;
	return -1;
}

static uint32_t max(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* GPUs in use before idle ones, the fullest best; then idle GPUs of nodes in use; then idle nodes, the smallest first. */
static uint32_t packed(const struct question *q)
{
	struct gpus all = gpus_of(q->of->scoring, q->of->devices, q->capacity, q->capacity);
	uint32_t idle = idle_gpus(&q->before, UINT16_MAX), count = (q->asked + SL_WHOLE_GPU - 1) / SL_WHOLE_GPU;
	int shared = shared_gpu(q);
	uint32_t of_gpu = shared >= 0 ? q->before.amount[shared] : SL_WHOLE_GPU;

	if (!q->asked)
		return 0;
	if (idle == idle_gpus(&all, UINT16_MAX))
		return idle < SL_SCORE_BEST / 3 ? max(SL_SCORE_BEST / 3 - idle, idle) : SL_SCORE_BEST / 3;
	if (of_gpu == SL_WHOLE_GPU)
		return count < SL_SCORE_BEST / 2 ? max(SL_SCORE_BEST / 2 - count, SL_SCORE_BEST / 3) : SL_SCORE_BEST / 3;
	return max(SL_SCORE_BEST - of_gpu * 100 / SL_WHOLE_GPU / 10, SL_SCORE_BEST / 2);
}

enum { PARTS = 1, WHOLE = 2 };

/* Bits: job types that run on the node, as far as visible: by tags if there are any, else by fractions of GPUs and whole
 * GPUs. */
static uint32_t sorts_on(const struct question *q)
{
	uint32_t sorts = 0;

	for (int k = 0; q->of->scoring->tags >> k; k++)
		sorts |= (q->of->scoring->tags >> k & 1) && q->at->gres[k] < q->capacity->gres[k] ? 1u << k : 0;
	for (int k = 0; !q->of->scoring->tags && (q->before.devices | q->before.counts) >> k; k++) {
		if (q->before.devices >> k & 1)
			sorts |= !q->before.amount[k] ? WHOLE : q->before.amount[k] < SL_WHOLE_GPU ? PARTS : 0;
		else if ((q->before.counts >> k & 1) && q->before.amount[k] < q->capacity->gres[k])
			sorts |= WHOLE;
	}
	return sorts;
}

static uint32_t sort_of(const struct question *q)
{
	uint32_t sort = 0;

	for (int k = 0; q->of->scoring->tags >> k; k++)
		sort |= (q->of->scoring->tags >> k & 1) && q->takes.gres[k] ? 1u << k : 0;
	if (q->of->scoring->tags || !q->asked)
		return sort;
	return shared_gpu(q) >= 0 ? PARTS : WHOLE;
}

/* Nodes that run only jobs of this type, then nodes that run others, too, then idle nodes; the fuller the better. */
static uint32_t clustered(const struct question *q)
{
	uint32_t sort = sort_of(q), on = sorts_on(q);
	uint32_t quarter = on == sort ? 3 : on & sort ? 2 : !on ? 1 : 0;
	double full = q->of->most_milli - (double) free_milli(&q->before);

	if (!q->asked)
		return 0;
	return cut(SL_SCORE_BEST / 4 * gpu_part(q, full) + quarter * SL_SCORE_BEST / 4);
}

/* By how much fragmentation decreases: 0 to 100 by the logistic function; 50 if it does not change. */
static double descended(struct question *q)
{
	struct sl_scoring *s = q->of->scoring;
	double before, after;

	if (!s->mix)
		return SL_SCORE_BEST / 2;
	before = fragmentation(s, &q->before, q->at->cores);
	after = fragmentation(s, &q->after, q->at->cores - q->takes.cores);
	return SL_SCORE_BEST / (1 + exp(-(before - after) / SL_WHOLE_GPU));
}

static uint32_t answer(struct question *q)
{
	switch (q->of->method) {
	case SL_PLACE_LEAST_LEFT: return cut(SL_SCORE_BEST * (1 - left(q)));
	case SL_PLACE_WORST_FIT: return cut(SL_SCORE_BEST * left(q));
	case SL_PLACE_DOT_PRODUCT: return cut(SL_SCORE_BEST * (1 - aligned(q)));
	case SL_PLACE_GPU_PACKING: return packed(q);
	case SL_PLACE_GPU_CLUSTERING: return clustered(q);
	default: return cut(descended(q));
	}
}

/* -- a node and a job ---------------------------------------------------- */

void sl_subtract_taken(struct sl_resources *free, const struct sl_resources *takes)
{
	free->cores = free->cores > takes->cores ? free->cores - takes->cores : 0;
	for (int k = 0; k < SL_MAX_GRES; k++)
		free->gres[k] = free->gres[k] > takes->gres[k] ? free->gres[k] - takes->gres[k] : 0;
}

bool sl_offer_takes(const struct sl_offer *o, const struct sl_need *need, const struct sl_resources *capacity,
		    struct sl_resources *takes)
{
	int64_t units = (need->units + need->min_nodes - 1) / need->min_nodes;

	units = units < need->least ? need->least : units;
	return sl_need_amounts(need, capacity, &o->free, units < o->units ? (uint32_t) units : o->units, o->job, takes);
}

static uint32_t ask(struct question *q, const struct sl_need *need, const struct sl_offer *o)
{
	struct sl_resources after = *q->at;

	if (!sl_offer_takes(o, need, q->capacity, &q->takes))
		return 0;
	sl_subtract_taken(&after, &q->takes);
	q->before = gpus_of(q->of->scoring, q->of->devices, q->capacity, q->at);
	q->after = gpus_of(q->of->scoring, q->of->devices, q->capacity, &after);
	q->asked = free_milli(&q->before) - free_milli(&q->after);
	return answer(q);
}

/* The share of a device that the need asks of a node, and (bits) the devices that may give it; 0: none. */
static uint32_t share_asked(const struct sl_need *need, uint16_t *mask)
{
	const struct sl_devices *d = need->devices;

	for (uint32_t i = 0; d && i < need->needs; i++)
		for (int k = 0; k < SL_MAX_GRES; k++)
			if ((need->need[i].kinds >> k & 1) && d->share[k]) {
				*mask = d->share[k];
				return need->need[i].count;
			}
	return 0;
}

void sl_offer_narrow(struct sl_offer *o, const struct sl_need *need, int device)
{
	uint16_t mask = 0;

	if (device < 0 || !share_asked(need, &mask))
		return;
	for (int k = 0; k < SL_MAX_GRES; k++)
		if ((mask >> k & 1) && k != device)
			o->free.gres[k] = 0;
}

/* If any device may be chosen: for FGD the one with the best score, else the fullest one with enough left. */
static uint32_t ask_devices(struct question *q, const struct sl_need *need, const struct sl_offer *o, int *device)
{
	uint16_t mask = 0, least = UINT16_MAX;
	uint32_t share = share_asked(need, &mask), best = 0;

	for (int k = 0; mask >> k; k++) {
		struct sl_offer one = *o;
		uint32_t score;

		if (!(mask >> k & 1) || o->free.gres[k] < share)
			continue;
		if (q->of->method != SL_PLACE_FGD && o->free.gres[k] >= least)
			continue;
		least = o->free.gres[k];
		sl_offer_narrow(&one, need, k);
		score = ask(q, need, &one);
		if (*device >= 0 && q->of->method == SL_PLACE_FGD && score <= best)
			continue;
		best = score;
		*device = k;
	}
	return best;
}

uint32_t sl_scorer_ask(const struct sl_scorer *of, const struct sl_need *need, const struct sl_offer *o,
		       const struct sl_resources *capacity, const struct sl_resources *at, int *device)
{
	struct question q = { .of = of, .capacity = capacity, .at = at };
	uint16_t mask;

	*device = -1;
	if (need->devices && need->devices->any && share_asked(need, &mask))
		return ask_devices(&q, need, o, device);
	return ask(&q, need, o);
}
