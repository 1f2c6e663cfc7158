/* SPDX-License-Identifier: MIT */
/*
 * Running jobs that are moved so that a job fits: what the plan chooses is compared with all sets that there are, on random small
 * machines.  Of each set another snapshot says whether it will do: there the jobs of the set wait, and the job starts first and then
 * they, the largest first, on other nodes.
 */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "model/preempt.h"
#include "t/model/desk.h"

#define JOB 100
#define MOST 6
#define LIMIT 1800

enum kind { WHOLE_NODES, GPUS, BLOCKS, KINDS };	/* what the job wants: nodes with GPUs, GPUs of one node, nodes of one block */

/* What a machine is made of, so that it can be made again with some of its jobs waiting. */
struct scene {
	enum kind kind;
	uint32_t nodes, gpus, jobs;
	struct build_job job[MOST];	/* ids 1 to */
	double cost[MOST];
	uint32_t pinned;		/* the id of a job that asks for its node; 0: none */
	bool spared[MOST], fixed[MOST];	/* by the site; by Slurm, for it may not be requeued */
	struct build_job want;
};

static uint32_t place_jobs(struct scene *s, uint64_t *seed)
{
	bool fits;
	uint32_t used[9] = { 0 }, capacity = s->kind == GPUS ? s->gpus : 1, most = s->kind == GPUS ? MOST : s->kind == BLOCKS ? 3 + build_below(seed, 3) : 1 + build_below(seed, 5);

	for (uint32_t tries = 0; tries < 30 && s->jobs < most; tries++) {
		uint32_t first = build_below(seed, s->nodes), wide = s->kind == GPUS ? 1 : 1 + build_below(seed, 2);
		uint32_t size = s->kind == GPUS ? 1 + build_below(seed, 2) : 1;

		if (s->kind == BLOCKS && s->jobs < 3) {	/* (one in each block, most of them on one node) */
			first = 3 * s->jobs + first % 3;
			wide -= wide > 1 && build_below(seed, 2);
		}
		fits = first + wide <= s->nodes && (s->kind != BLOCKS || first / 3 == (first + wide - 1) / 3);

		for (uint32_t n = first; fits && n < first + wide; n++)
			fits = used[n] + size <= capacity;
		if (!fits)
			continue;
		for (uint32_t n = first; n < first + wide; n++)
			used[n] += size;
		s->job[s->jobs] = (struct build_job) { .id = s->jobs + 1, .first = first, .nodes = wide, .max_nodes = wide, .limit = LIMIT,
						       .ends_in = 900 };
		if (s->kind == GPUS) {
			s->job[s->jobs].gpus = s->job[s->jobs].cores = size;
			s->job[s->jobs].tasks = 1;
			s->job[s->jobs].cpus_per_task = size;
		} else {
			s->job[s->jobs].exclusive = true;
		}
		s->cost[s->jobs] = 1 + build_below(seed, 9);
		s->spared[s->jobs] = !build_below(seed, 10);
		s->fixed[s->jobs++] = !build_below(seed, 10);
	}
	return s->jobs;
}

static struct scene draw(uint64_t number)
{
	uint64_t seed = number * UINT64_C(0x9e3779b97f4a7c15);
	struct scene s = { .kind = number % KINDS };

	s.nodes = s.kind == BLOCKS ? 9 : 2 + build_below(&seed, 4);
	s.gpus = s.kind == BLOCKS ? 0 : 4;	/* (where whole nodes are asked for, the first two have them) */
	s.want = (struct build_job) { .id = JOB, .limit = LIMIT, .nodes = 1 + build_below(&seed, s.nodes) };
	if (s.kind == BLOCKS)
		s.want.nodes = 2 + build_below(&seed, 2);
	if (s.kind == WHOLE_NODES) {
		s.nodes += 2;
		s.want.nodes = 1 + build_below(&seed, 2);
		s.want.gpus = 1;
	}
	if (s.kind == GPUS)
		s.want.nodes = 1;
	s.want.max_nodes = s.want.nodes;
	s.want.exclusive = s.kind != GPUS;
	if (s.kind == GPUS) {
		s.want.gpus = 2 + build_below(&seed, 3);
		s.want.tasks = 1;
	}
	place_jobs(&s, &seed);
	return s;
}

/* The machine, where the jobs of *waiting* (bits by id - 1) wait and the others run. */
static struct build *make(const struct scene *s, uint32_t waiting, bool may_preempt)
{
	char text[32];
	struct build *b;

	if (s->kind == WHOLE_NODES)
		snprintf(text, sizeof(text), "2x8c%" PRIu32 "g+%" PRIu32 "x8c", s->gpus, s->nodes - 2);
	else
		snprintf(text, sizeof(text), "%" PRIu32 "x8c%" PRIu32 "g", s->nodes, s->gpus);
	b = build_create(text);
	for (uint32_t n = 0; s->kind == BLOCKS && n < s->nodes; n++)
		build_change(b, SL_T_NODE, n, sl_node_row, .topology = sl_builder_str(b->builder, n < 3 ? "b1" : n < 6 ? "b2" : "b3"));
	if (s->kind == BLOCKS)
		build_change(b, SL_T_PARTITION, 0, sl_partition_row, .block_nodes = 3);
	for (uint32_t i = 0; i < s->jobs; i++) {
		if (waiting >> i & 1) {
			build_pending(b, s->job[i]);
			continue;
		}
		build_running(b, s->job[i]);
		build_change_job(b, i + 1, .time_limit = LIMIT);
		build_stoppable(b, i + 1, s->fixed[i] ? SL_STOP_CANCEL : SL_STOP_REQUEUE);
		if (!s->fixed[i])
			build_change_job(b, i + 1, .flags |= SL_JOBF_REQUEUE);
	}
	if (s->pinned)
		build_change_job(b, s->pinned, .req_nodes = build_nodes(b, s->job[s->pinned - 1].first, s->job[s->pinned - 1].first));
	build_pending(b, s->want);
	if (may_preempt)
		build_may_preempt(b, JOB);
	build_open(b);
	return b;
}

/* -- all sets ----------------------------------------------------------------------- */

static int start_of(struct desk *d, uint32_t id)
{
	return checked(d, sl_plan_start(d->p, entry(d, id), NULL, &d->why, &d->err));
}

/* Nobody else gets nodes of the job from now on. */
static void close_own(struct desk *d)
{
	struct sl_nodeset nodes = SL_NODESET_EMPTY;
	uint32_t count;
	int64_t at;
	const struct sl_place *place = sl_plan_places(d->p, row(d, JOB), &count, &at);

	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(sl_nodeset_add(&nodes, place[i].node, place[i].node, &d->err) < 0, 0);
	assert_int_equal(sl_plan_block(d->p, &nodes, BUILD_NOW, BUILD_NOW + 1000000, &d->err), 0);
	sl_nodeset_free(&nodes);
}

static uint64_t size_of(const struct scene *s, uint32_t i)
{
	return (uint64_t) s->job[i].nodes * 1000 + (s->job[i].cores ? s->job[i].cores : 8 * s->job[i].nodes);
}

/* Does the job start once these are gone; and (*others*) do these then, elsewhere? */
static bool starts_without(const struct scene *s, uint32_t set, bool others)
{
	struct desk d = sit(make(s, set, false));
	bool ok = start_of(&d, JOB) > 0;

	if (ok && others)
		close_own(&d);
	for (uint32_t left = others ? set : 0; ok && left; ) {
		uint32_t best = MOST;

		for (uint32_t i = 0; i < s->jobs; i++)
			if (left >> i & 1 && (best == MOST || size_of(s, i) > size_of(s, best)))
				best = i;
		left &= ~(1u << best);
		ok = start_of(&d, best + 1) > 0;
	}
	leave(&d);
	return ok;
}

static bool is_each_needed(const struct scene *s, uint32_t set)
{
	for (uint32_t i = 0; i < s->jobs; i++)
		if (set >> i & 1 && starts_without(s, set & ~(1u << i), false))
			return false;
	return true;
}

static double cost_of_set(const struct scene *s, uint32_t set)
{
	double sum = 0;

	for (uint32_t i = 0; i < s->jobs; i++)
		sum += set >> i & 1 ? s->cost[i] : 0;
	return sum;
}

/* The least that a set costs; INFINITY: none will do. */
static double find_cheapest(const struct scene *s)
{
	double best = INFINITY;

	for (uint32_t set = 0; set < 1u << s->jobs; set++) {
		bool permitted = true;

		for (uint32_t i = 0; i < s->jobs; i++)
			permitted &= !(set >> i & 1) || !(s->spared[i] || s->fixed[i]);
		if (permitted && cost_of_set(s, set) < best && starts_without(s, set, false) && is_each_needed(s, set) &&
		    starts_without(s, set, true))
			best = cost_of_set(s, set);
	}
	return best;
}

/* -- the plan's ----------------------------------------------------------------------- */

struct site {
	const struct scene *s;
	const struct build *b;
};

static int cost_of(void *arg, uint32_t victim, uint32_t job, double *cost, struct sl_error *err)
{
	const struct site *x = arg;

	(void) job;
	(void) err;
	*cost = x->s->cost[x->b->snap.job.id[victim] - 1];
	return 0;
}

static int may(void *arg, uint32_t victim, uint32_t job, struct sl_error *err)
{
	const struct site *x = arg;

	(void) job;
	(void) err;
	return !x->s->spared[x->b->snap.job.id[victim] - 1];
}

static int consolidate(struct desk *d, const struct scene *s, double max_cost, struct sl_preempt_answer *answer)
{
	struct site site = { s, d->b };
	struct sl_preempt_terms terms = { .wait_price = -1, .elsewhere = true, .max_cost = max_cost, .may = may, .cost = cost_of,
					  .arg = &site };

	return checked(d, sl_plan_preempt(d->p, entry(d, JOB), &terms, answer, &d->err));
}

static uint32_t bits_of(const struct desk *d, const struct sl_preempt_answer *a)
{
	uint32_t bits = 0;

	for (uint32_t i = 0; i < a->victims; i++)
		bits |= 1u << (d->b->snap.job.id[a->victim[i]] - 1);
	return bits;
}

/* Each has a place, on nodes that are not the job's; the checker accepts it, and the plan says that they are moved. */
static void look_through(struct desk *d, const struct scene *s, const struct sl_preempt_answer *a)
{
	uint32_t count, told = 0;
	int64_t at;
	const struct sl_place *place = sl_plan_places(d->p, row(d, JOB), &count, &at);

	assert_int_equal(a->moves, a->victims);
	for (uint32_t i = 0; i < a->moves; i++) {
		uint32_t id = d->b->snap.job.id[a->move[i].job];

		told |= 1u << (id - 1);
		assert_int_equal(a->move[i].nodes.count, s->job[id - 1].nodes);
		for (uint32_t k = 0; k < count; k++)
			assert_false(sl_nodeset_contains(&a->move[i].nodes, place[k].node));
	}
	assert_int_equal(told, bits_of(d, a));
	accepted(d);
	assert_int_equal(d->plan.stop.rows, a->victims);
	for (uint32_t i = 0; i < d->plan.stop.rows; i++) {
		assert_int_equal(d->plan.stop.moves[i], 1);
		assert_int_equal(d->plan.stop.mode[i], SL_STOP_REQUEUE);
	}
}

static void compare_with_all_sets(uint64_t seed, uint32_t tally[KINDS][3])
{
	struct scene s = draw(seed);
	struct sl_preempt_answer answer;
	struct desk d;
	double cheapest;
	int rc;

	if (starts_without(&s, 0, false))
		return;
	cheapest = find_cheapest(&s);
	d = sit(make(&s, 0, true));
	rc = consolidate(&d, &s, 0, &answer);
	if (isinf(cheapest) != !rc || (rc && fabs(cheapest - answer.cost) > 1e-6))
		fail_msg("seed %" PRIu64 ": the plan says %s at %g (%s), all sets %g", seed, sl_verdict_word(answer.verdict), answer.cost,
			 sl_refusal_text(&answer.why), cheapest);
	assert_int_equal(answer.verdict, rc ? SL_VERDICT_OPTIMAL : SL_VERDICT_IMPOSSIBLE);
	tally[s.kind][rc]++;
	tally[s.kind][2] += answer.victims > 1;
	if (rc) {
		assert_true(starts_without(&s, bits_of(&d, &answer), true));
		look_through(&d, &s, &answer);
	} else {
		accepted(&d);
		assert_int_equal(d.plan.stop.rows, 0);
	}
	sl_preempt_answer_free(&answer);
	leave(&d);
}

static void no_other_set_that_has_places_elsewhere_costs_less(void **state)
{
	static const char *const name[KINDS] = { "whole nodes", "GPUs of a node", "blocks" };
	uint32_t tally[KINDS][3] = { 0 };

	(void) state;
	for (uint64_t seed = 1; seed <= 3000; seed++)
		compare_with_all_sets(seed, tally);
	for (int k = 0; k < KINDS; k++) {
		print_message("%s: %u moved, of them %u of several jobs, %u impossible\n", name[k], tally[k][1], tally[k][2], tally[k][0]);
		assert_true(tally[k][1] > 30);
		assert_true(tally[k][0] > 30);
	}
}

/* -- rules ------------------------------------------------------------------------------ */

/* Six nodes in two blocks; each block has a job on one node, and the job wants three nodes: one block. */
static struct scene two_blocks(void)
{
	return (struct scene) { .kind = BLOCKS, .nodes = 6, .jobs = 2, .cost = { 3, 2 },
		.job = { { .id = 1, .first = 1, .nodes = 1, .max_nodes = 1, .exclusive = true, .limit = LIMIT, .ends_in = 900 },
			 { .id = 2, .first = 4, .nodes = 1, .max_nodes = 1, .exclusive = true, .limit = LIMIT, .ends_in = 900 } },
		.want = { .id = JOB, .nodes = 3, .max_nodes = 3, .exclusive = true, .limit = LIMIT } };
}

static void the_cheapest_job_is_moved_so_that_its_block_becomes_free(void **state)
{
	struct scene s = two_blocks();
	struct desk d = sit(make(&s, 0, true));
	struct sl_preempt_answer answer;

	(void) state;
	assert_int_equal(consolidate(&d, &s, 0, &answer), 1);
	assert_int_equal(bits_of(&d, &answer), 2);
	assert_string_equal(where(&d, JOB), "n3:8 n4:8 n5:8");
	assert_true(answer.move[0].nodes.count == 1 && (sl_nodeset_contains(&answer.move[0].nodes, 0) ||
							  sl_nodeset_contains(&answer.move[0].nodes, 2)));
	sl_preempt_answer_free(&answer);
	leave(&d);
}

static void nobody_is_moved_who_costs_more_than_a_move_may(void **state)
{
	struct scene s = two_blocks();
	struct desk d = sit(make(&s, 0, true));
	struct sl_preempt_answer answer;

	(void) state;
	assert_int_equal(consolidate(&d, &s, 1.5, &answer), 0);
	assert_true(answer.waits);
	assert_string_equal(sl_refusal_text(&answer.why), "to move others costs 2, of at most 1.5 that it may");
	assert_int_equal(accepted(&d)->stop.rows, 0);
	sl_preempt_answer_free(&answer);
	leave(&d);
}

static void a_job_that_would_have_no_other_place_goes_on(void **state)
{
	struct scene s = two_blocks();
	struct desk d;
	struct sl_preempt_answer answer;

	(void) state;
	s.fixed[0] = true;
	s.pinned = 2;
	d = sit(make(&s, 0, true));
	assert_int_equal(consolidate(&d, &s, 0, &answer), 0);
	assert_int_equal(answer.verdict, SL_VERDICT_IMPOSSIBLE);
	assert_string_equal(sl_refusal_text(&answer.why), "no set of the 1 jobs that may be moved for it has other places");
	sl_preempt_answer_free(&answer);
	leave(&d);
}

static void nobody_is_moved_where_too_little_is_free_in_sum(void **state)
{
	struct scene s = two_blocks();
	struct desk d;
	struct sl_preempt_answer answer;

	(void) state;
	s.job[0].first = 0;
	s.job[0].nodes = s.job[0].max_nodes = 3;
	d = sit(make(&s, 0, true));
	assert_int_equal(consolidate(&d, &s, 0, &answer), 0);
	assert_int_equal(answer.verdict, SL_VERDICT_IMPOSSIBLE);
	assert_string_equal(sl_refusal_text(&answer.why), "others are moved only where enough is free in sum");
	sl_preempt_answer_free(&answer);
	leave(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_other_set_that_has_places_elsewhere_costs_less),
		cmocka_unit_test(the_cheapest_job_is_moved_so_that_its_block_becomes_free),
		cmocka_unit_test(nobody_is_moved_who_costs_more_than_a_move_may),
		cmocka_unit_test(a_job_that_would_have_no_other_place_goes_on),
		cmocka_unit_test(nobody_is_moved_where_too_little_is_free_in_sum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
