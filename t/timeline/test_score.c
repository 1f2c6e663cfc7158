/* SPDX-License-Identifier: MIT */
/* Placement scores: what each prefers, and that placing by one takes the node that a look at every node would. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "t/random.h"
#include "timeline/score_impl.h"

#define NODES 4
#define CORES 16
#define GPUS 4

/* Nodes of 16 cores and 4 GPUs, of which so much is in use. */
struct used {
	int32_t cores;
	uint16_t gpus;
};

struct scene {
	struct sl_timeline *tl;
	struct sl_scoring scoring;
	struct sl_mix mix;
};

static struct scene create(const struct used used[NODES])
{
	const struct sl_node_kind kind = { .capacity = { .cores = CORES, .memory = 1000, .gres = { GPUS } } };
	const uint32_t kind_of[NODES] = { 0 };
	struct scene s = { .tl = sl_timeline_create(NODES, kind_of, &kind, 1, 0, NULL), .scoring = { .gpus = 1 } };

	for (uint32_t n = 0; n < NODES; n++) {
		struct sl_resources each = { .cores = used[n].cores, .gres = { used[n].gpus } };
		struct sl_run run = { n, n };
		struct sl_nodeset one = { &run, 1, 1, 1 };

		sl_timeline_book(s.tl, &one, &each, 0, 1000 + n, NULL);
	}
	return s;
}

static void expect(struct scene *s, const struct sl_mix_shape *shape, uint32_t count)
{
	assert_int_equal(sl_mix_make(&s->mix, shape, count, 1, NULL), 0);
	s->scoring.mix = &s->mix;
	s->scoring.has_mix = true;
}

static void destroy(struct scene *s)
{
	sl_timeline_destroy(s->tl);
	sl_mix_free(&s->mix);
	sl_scoring_free(&s->scoring);
}

static struct sl_request job(uint32_t cores, uint32_t gpus)
{
	struct sl_request r = { .min_nodes = 1, .max_nodes = 1, .cores = cores, .duration = 100 };

	r.gres_needs = gpus > 0;
	r.gres[0] = (struct sl_gres_need) { .kinds = 1, .count = gpus };
	return r;
}

static int node_of(struct scene *s, enum sl_place_method method, struct sl_request r, uint32_t least, struct sl_misfit *misfit)
{
	const struct sl_how how = { .method = method, .least = least };
	struct sl_layout layout = SL_LAYOUT_EMPTY;
	struct sl_error err = { 0 };
	int rc, node;

	sl_timeline_scoring(s->tl, &s->scoring);
	rc = sl_fit_at(s->tl, &r, &how, 0, &layout, misfit, &err);
	node = rc > 0 ? (int) sl_nodeset_next(&layout.share[0].nodes, 0) : rc < 0 ? -2 : -1;
	sl_layout_free(&layout);
	return node;
}

static void each_score_prefers_what_it_says(void **state)
{
	const struct used used[NODES] = { { 0, 0 }, { 8, 2 }, { 3, 1 }, { 12, 3 } };
	struct scene s = create(used);

	(void) state;
	assert_int_equal(node_of(&s, SL_PLACE_LEAST_LEFT, job(4, 1), 0, NULL), 3);
	assert_int_equal(node_of(&s, SL_PLACE_WORST_FIT, job(4, 1), 0, NULL), 0);
	assert_int_equal(node_of(&s, SL_PLACE_DOT_PRODUCT, job(4, 1), 0, NULL), 3);
	assert_int_equal(node_of(&s, SL_PLACE_GPU_PACKING, job(4, 1), 0, NULL), 1);	/* the first in use */
	assert_int_equal(node_of(&s, SL_PLACE_GPU_CLUSTERING, job(4, 1), 0, NULL), 3);
	assert_int_equal(node_of(&s, SL_PLACE_GPU_PACKING, job(4, 0), 0, NULL), 0);	/* no GPU: equal */
	assert_int_equal(node_of(&s, SL_PLACE_LEAST_LEFT, job(4, 4), 0, NULL), 0);
	assert_int_equal(node_of(&s, SL_PLACE_LEAST_LEFT, job(17, 0), 0, NULL), -1);
	destroy(&s);
}

static void fragmentation_is_what_the_mix_cannot_use(void **state)
{
	const struct sl_mix_shape shape[] = {
		{ .cores = 4, .kinds = 1, .count = 2, .part = 3 },		/* pairs of GPUs */
		{ .cores = 8, .kinds = 1, .count = 1, .part = 1 },
		{ .cores = 1, .part = 1 },					/* none: all that is free is of no use */
	};
	const struct used used[NODES] = { { 0 } };
	const struct sl_resources all = { .cores = CORES, .gres = { GPUS } };
	struct sl_resources free = { .cores = 6, .gres = { 3 } };
	struct scene s = create(used);

	(void) state;
	expect(&s, shape, 3);
	assert_true(fabs(sl_fragmentation(&s.scoring, NULL, &all, &all) - 0.2 * 4000) < 1e-6);
	assert_true(fabs(sl_fragmentation(&s.scoring, NULL, &all, &free) - (0.2 + 0.2) * 3000) < 1e-6);
	free.gres[0] = 1;
	assert_true(fabs(sl_fragmentation(&s.scoring, NULL, &all, &free) - 1000) < 1e-6);
	assert_true(fabs(sl_fragmentation(&s.scoring, NULL, &all, &free) - 1000) < 1e-6);	/* as it was kept */
	free.gres[0] = 0;
	assert_true(sl_fragmentation(&s.scoring, NULL, &all, &free) == 0);
	destroy(&s);
}

static void fgd_leaves_pairs_where_pairs_are_expected(void **state)
{
	const struct sl_mix_shape shape = { .cores = 2, .kinds = 1, .count = 2, .part = 1 };
	const struct used used[NODES] = { { 4, 2 }, { 2, 1 }, { 0, 0 }, { 16, 4 } };
	struct scene s = create(used);

	(void) state;
	expect(&s, &shape, 1);
	assert_int_equal(node_of(&s, SL_PLACE_FGD, job(2, 1), 0, NULL), 1);	/* an odd one */
	assert_int_equal(node_of(&s, SL_PLACE_FGD, job(2, 2), 0, NULL), 0);
	destroy(&s);
}

static void no_mix_makes_fgd_first_fit(void **state)
{
	const struct used used[NODES] = { { 16, 0 }, { 4, 2 }, { 2, 1 }, { 0, 0 } };
	struct scene s = create(used);

	(void) state;
	assert_int_equal(node_of(&s, SL_PLACE_FGD, job(2, 1), 0, NULL), 1);
	destroy(&s);
}

static void a_score_below_the_least_is_no_place(void **state)
{
	const struct used used[NODES] = { { 16, 4 }, { 0, 0 }, { 8, 2 }, { 0, 0 } };
	struct scene s = create(used);
	struct sl_misfit why;

	(void) state;
	assert_int_equal(node_of(&s, SL_PLACE_LEAST_LEFT, job(8, 2), 100, NULL), 2);	/* nothing is left */
	assert_int_equal(node_of(&s, SL_PLACE_LEAST_LEFT, job(4, 1), 100, &why), -1);
	assert_int_equal(why.lack, SL_LACK_SCORE);
	assert_int_equal(node_of(&s, SL_PLACE_LEAST_LEFT, job(4, 1), 75, NULL), 2);
	assert_int_equal(node_of(&s, SL_PLACE_LEAST_LEFT, job(4, 1), 76, NULL), -1);
	destroy(&s);
}

static double said;
static uint32_t asked;

static int own(void *arg, const struct sl_scored *what, double *score, struct sl_error *err)
{
	(void) arg;
	(void) err;
	asked++;
	*score = what->node == 2 ? said : -what->free.cores;
	return what->node != 1;
}

static void an_own_score_is_asked_about_nodes_that_are_alike_once(void **state)
{
	const struct used used[NODES] = { { 4, 1 }, { 4, 2 }, { 8, 0 }, { 4, 1 } };
	struct scene s = create(used);

	(void) state;
	s.scoring.own = own;
	said = -8;
	asked = 0;
	assert_int_equal(node_of(&s, SL_PLACE_OWN, job(4, 1), 0, NULL), 2);
	assert_int_equal(asked, 3);
	said = -INFINITY;
	assert_int_equal(node_of(&s, SL_PLACE_OWN, job(4, 1), 0, NULL), 0);
	said = -12.0;				/* as node 0: the first */
	assert_int_equal(node_of(&s, SL_PLACE_OWN, job(4, 1), 0, NULL), 0);
	said = NAN;
	assert_int_equal(node_of(&s, SL_PLACE_OWN, job(4, 1), 0, NULL), -2);
	destroy(&s);
}

static void a_mix_has_no_more_shapes_than_can_be_looked_at_for_each_node(void **state)
{
	struct sl_mix_shape shape[2 * SL_MIX_MOST];
	struct sl_mix mix;
	double sum = 0;

	(void) state;
	for (uint32_t i = 0; i < 2 * SL_MIX_MOST; i++)
		shape[i] = (struct sl_mix_shape) { .cores = i + 1, .part = 1 + (i == 7) };
	assert_int_equal(sl_mix_make(&mix, shape, 2 * SL_MIX_MOST, 0.95, NULL), 0);
	assert_int_equal(mix.shapes, SL_MIX_MOST);
	assert_int_equal(mix.shape[0].cores, 8);
	for (uint32_t i = 0; i < mix.shapes; i++)
		sum += mix.shape[i].part;
	assert_true(fabs(sum - 1) < 1e-9);
	sl_mix_free(&mix);
}

static void the_mix_keeps_the_most_frequent_shapes(void **state)
{
	const struct sl_mix_shape shape[] = { { .cores = 1, .part = 1 }, { .cores = 2, .part = 50 }, { .cores = 3, .part = 40 },
					      { .cores = 2, .part = 9 } };
	struct sl_mix mix;

	(void) state;
	assert_int_equal(sl_mix_make(&mix, shape, 4, 0.95, NULL), 0);
	assert_int_equal(mix.shapes, 2);
	assert_int_equal(mix.shape[0].cores, 2);
	assert_true(fabs(mix.shape[0].part - 59.0 / 99) < 1e-9);
	sl_mix_free(&mix);
	assert_int_equal(sl_mix_make(&mix, NULL, 0, 0.95, NULL), 0);
	assert_int_equal(mix.shapes, 0);
	sl_mix_free(&mix);
}

/* The first node with the best score, by asking for each alone. */
static int look_at_all(struct scene *s, enum sl_place_method method, const struct sl_request *r)
{
	struct sl_scorer of;
	int best = -1, most = -1;
	struct sl_need need;

	assert_int_equal(sl_need_of(s->tl, r, &need, NULL), 0);
	assert_int_equal(sl_scorer_of(&of, s->tl, method, NULL), 0);
	for (uint32_t n = 0; n < NODES; n++) {
		const struct sl_resources *all = &sl_timeline_kind(s->tl, n)->capacity;
		struct sl_offer o = { 0 };
		int device, score;

		sl_timeline_free(s->tl, n, 0, r->duration, &o.free);
		if (!sl_need_offer(&need.node, all, &o))
			continue;
		score = (int) sl_scorer_ask(&of, &need, &o, all, &o.free, &device);
		if (score > most) {
			most = score;
			best = (int) n;
		}
	}
	return best;
}

static void placing_by_a_score_takes_the_first_best_node(void **state)
{
	uint64_t seed = number_from("SL_SEED", 77), rounds = rounds_of(400);

	(void) state;
	for (uint64_t round = 0; round < rounds; round++) {
		struct sl_mix_shape shape[4];
		struct used used[NODES];
		struct scene s;

		failing_seed = random_state = seed + round;
		for (uint32_t n = 0; n < NODES; n++)
			used[n] = (struct used) { (int32_t) below(CORES + 1), (uint16_t) below(GPUS + 1) };
		for (uint32_t i = 0; i < 4; i++)
			shape[i] = (struct sl_mix_shape) { .cores = 1 + below(8), .kinds = (uint16_t) below(2),
							   .count = (uint16_t) (1 + below(GPUS)), .part = 1 + below(9) };
		s = create(used);
		expect(&s, shape, 4);
		for (int m = SL_PLACE_LEAST_LEFT; m <= SL_PLACE_FGD; m++) {
			struct sl_request r = job(1 + below(CORES), below(GPUS + 1));
			int node = node_of(&s, (enum sl_place_method) m, r, 0, NULL);

			assert_int_equal(node, look_at_all(&s, (enum sl_place_method) m, &r));
		}
		destroy(&s);
	}
	failing_seed = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_score_prefers_what_it_says),
		cmocka_unit_test(fragmentation_is_what_the_mix_cannot_use),
		cmocka_unit_test(fgd_leaves_pairs_where_pairs_are_expected),
		cmocka_unit_test(no_mix_makes_fgd_first_fit),
		cmocka_unit_test(a_score_below_the_least_is_no_place),
		cmocka_unit_test(an_own_score_is_asked_about_nodes_that_are_alike_once),
		cmocka_unit_test(a_mix_has_no_more_shapes_than_can_be_looked_at_for_each_node),
		cmocka_unit_test(the_mix_keeps_the_most_frequent_shapes),
		cmocka_unit_test(placing_by_a_score_takes_the_first_best_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
