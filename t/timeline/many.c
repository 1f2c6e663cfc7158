/* SPDX-License-Identifier: MIT */
#include "t/timeline/many.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "t/random.h"

#define KINDS 3

/* -- a machine ------------------------------------------------------------ */

struct sl_resources some_of(int32_t cores, uint32_t gpus)
{
	struct sl_resources r = { .cores = (int32_t) below((uint32_t) cores + 1), .memory = 100 * below(20) };

	r.gres[0] = (uint16_t) below(gpus + 1);
	return r;
}

void add_some(struct scene *s, struct sl_nodeset *nodes, uint32_t runs)
{
	for (uint32_t i = 0; i < runs; i++) {
		uint32_t first = below(s->nodes), last = first + below(4);

		sl_nodeset_add(nodes, first, last < s->nodes ? last : s->nodes - 1, NULL);
	}
}

/* GPUs of kind 0, and shapes that ask for some. */
static void expect_some(struct scene *s)
{
	struct sl_mix_shape shape[5];

	for (uint32_t i = 0; i < 5; i++)
		shape[i] = (struct sl_mix_shape) { .cores = 1 + below(8), .kinds = (uint16_t) below(2), .count = (uint16_t) (1 + below(3)),
						   .part = 1 + below(9) };
	sl_mix_make(&s->mix, shape, 5, SL_MIX_COVERS, NULL);
	s->scoring = (struct sl_scoring) { .gpus = 1, .has_mix = true, .mix = &s->mix };
}

void create_scene(struct scene *s)
{
	struct sl_node_kind kind[KINDS] = { 0 };
	uint32_t kind_of[1600];
	bool weights = one_in(3);

	*s = (struct scene) { .nodes = 300 + below(1300) };
	for (uint32_t k = 0; k < KINDS; k++) {
		kind[k].id = k;
		kind[k].weight = weights ? below(3) : 1;
		kind[k].capacity = (struct sl_resources) { .cores = 8 << k, .memory = 4000 << k, .gres = { 2 * k } };
	}
	for (uint32_t n = 0; n < s->nodes; n++)
		kind_of[n] = one_in(50) || !n ? below(KINDS) : kind_of[n - 1];
	s->tl = sl_timeline_create(s->nodes, kind_of, kind, KINDS, 0, NULL);
	expect_some(s);
	sl_timeline_scoring(s->tl, &s->scoring);
	for (uint32_t n = 0; n < s->nodes; n++) {	/* each a class of its own, nearly */
		struct sl_resources each = some_of(8, 2);
		struct sl_run run = { n, n };
		struct sl_nodeset one = { &run, 1, 1, 1 };

		sl_timeline_book(s->tl, &one, &each, one_in(8) ? between(1, 300) : 0, between(301, 2000), NULL);
	}
}

void destroy_scene(struct scene *s)
{
	for (uint32_t i = 0; i < s->count; i++)
		sl_nodeset_free(&s->done[i].nodes);
	sl_timeline_destroy(s->tl);
	sl_mix_free(&s->mix);
	sl_scoring_free(&s->scoring);
}

/* -- what changes on it ---------------------------------------------------- */

void book_some(struct scene *s)
{
	struct op *o = &s->done[s->count];
	int64_t t0 = s->now + (one_in(3) ? between(1, 400) : 0);

	if (s->count == OPS)
		return;
	*o = (struct op) { .each = some_of(8, 1), .t0 = t0, .t1 = t0 + between(1, 500) };
	add_some(s, &o->nodes, 1 + below(one_in(10) ? 200 : 3));
	if (sl_timeline_book(s->tl, &o->nodes, &o->each, o->t0, o->t1, NULL))
		sl_nodeset_free(&o->nodes);
	else
		s->count++;
}

void take_back_some(struct scene *s)
{
	struct op *o;

	if (!s->count)
		return;
	o = &s->done[below(s->count)];
	if (o->t1 > s->now)
		assert_int_equal(sl_timeline_unbook(s->tl, &o->nodes, &o->each, o->t0, o->t1, NULL), 0);
	sl_nodeset_free(&o->nodes);
	*o = s->done[--s->count];
}

void block_some(struct scene *s)
{
	struct sl_nodeset nodes = SL_NODESET_EMPTY;

	add_some(s, &nodes, 1 + below(3));
	sl_timeline_block(s->tl, &nodes, s->now + between(0, 50), s->now + between(51, 100), NULL);
	sl_nodeset_free(&nodes);
}

/* -- what is asked --------------------------------------------------------- */

struct sl_request some_request(void)
{
	struct sl_request r = { .min_nodes = one_in(3) ? 1 + below(40) : 1, .duration = one_in(4) ? 1 : between(1, 900) };

	if (one_in(2))
		r.tasks = r.min_nodes * (1 + below(8));
	else
		r.min_cores_per_node = 1 + below(8);
	if (one_in(2))
		r.max_nodes = r.min_nodes + below(3);
	if (one_in(3) && r.tasks)
		r.tasks_per_node = 1 + below(8);
	r.memory_per_core = one_in(3) ? 50 * below(8) : 0;
	r.memory_per_node = one_in(4) ? 100 * below(10) : 0;
	r.all_memory = !r.memory_per_core && !r.memory_per_node && one_in(4);
	r.whole_nodes = one_in(8);
	r.extra_cores = one_in(2) ? (int32_t) below(5) - 2 : 0;
	r.spare_cores = one_in(4) ? below(3) : 0;
	r.least_free_cores = one_in(8) ? below(9) : 0;
	r.cores_at_once = one_in(6) ? 1 + below(4) : 0;
	if (one_in(5))
		r.gres[r.gres_needs++] = (struct sl_gres_need) { .kinds = 1, .per = below(3), .count = 1 + below(2) };
	return r;
}

void same_layout(const struct sl_layout *a, const struct sl_layout *b)
{
	assert_int_equal(a->shares, b->shares);
	assert_int_equal(a->nodes, b->nodes);
	assert_int_equal(a->cores, b->cores);
	for (uint32_t i = 0; i < a->shares; i++) {
		assert_true(sl_resources_equal(&a->share[i].each, &b->share[i].each));
		assert_true(sl_nodeset_equal(&a->share[i].nodes, &b->share[i].nodes));
	}
}
