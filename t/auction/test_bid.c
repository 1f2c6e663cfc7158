/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "auction/bid.h"
#include "t/build.h"
#include "t/random.h"
#include "t/timeline/in_order.h"

#define EPSILON 1e-12

/* -- a market -------------------------------------------------------------- */

struct stall {
	struct build *b;
	struct sl_cluster *c;
	struct sl_plan *p;
	struct sl_market *m;
	const struct sl_bid *bid;
	const struct sl_bid_part *part;
	uint32_t bids;
	struct sl_error err;
};

static struct stall open_stall(struct build *b)
{
	struct stall s = { .b = b, .c = build_cluster(b) };

	s.p = sl_plan_create(s.c, &s.err);
	if (s.p)
		s.m = sl_market_create(s.p, &s.err);
	if (!s.m)
		fail_msg("%s", s.err.text);
	return s;
}

static void close_stall(struct stall *s)
{
	sl_market_destroy(s->m);
	sl_plan_destroy(s->p);
	sl_cluster_destroy(s->c);
	build_destroy(s->b);
}

static void bid_all(struct stall *s, struct sl_bid_options opt)
{
	uint32_t n;
	const struct sl_entry *queue = sl_cluster_queue(s->c, &n);

	if (sl_market_bid(s->m, queue, n, &opt, &s->err) < 0)
		fail_msg("%s", s->err.text);
	s->bid = sl_market_bids(s->m, &s->bids);
	s->part = sl_market_parts(s->m);
}

static const struct sl_bid_options own = { .kinds = SL_BID_ALL & ~(1u << SL_BID_SLURM), .max = 5 };
static const struct sl_bid_options all = { .kinds = SL_BID_ALL, .max = 5, .elastic = true };

/* Book a bid as policies do.  1 or 0. */
static int book(struct stall *s, const struct sl_bid *b)
{
	struct sl_pick *pick = calloc(b->nodes, sizeof(*pick));
	struct sl_how how = { .method = b->native ? SL_PLACE_NATIVE : SL_PLACE_EXPLICIT, .picks = pick };
	struct sl_refusal why = { 0 };
	int rc;

	assert_non_null(pick);
	for (uint32_t i = 0; i < b->parts; i++)
		for (uint32_t n = s->part[b->part + i].first; n <= s->part[b->part + i].last; n++)
			pick[how.count++] = b->elastic ? (struct sl_pick) { .node = n } : (struct sl_pick) { .node = n,
				.cores = (uint32_t) s->part[b->part + i].each.cores, .tasks = s->part[b->part + i].tasks };
	assert_int_equal(how.count, b->nodes);
	rc = sl_plan_start(s->p, b->entry, &(struct sl_terms) { .how = &how }, &why, &s->err);
	if (rc < 0)
		fail_msg("%s", s->err.text);
	if (!rc)
		print_message("%s\n", sl_refusal_text(&why));
	free(pick);
	return rc;
}

/* -- nodesets --------------------------------------------------------------- */

/* The paper's definition, node by node. */
static uint32_t naive_sets(struct stall *s, uint32_t gpus, struct sl_bid_set *out)
{
	uint32_t nodes = sl_cluster_snapshot(s->c)->node.rows, n = 0;
	bool open = false;

	for (uint32_t i = 0; i < nodes; i++) {
		struct sl_resources free;

		sl_cluster_free(s->c, i, &free);
		if (free.cores <= 0 || free.gres[0] < gpus) {
			open = false;
			continue;
		}
		if (!open)
			out[n++] = (struct sl_bid_set) { .first = i, .gpus = gpus };
		open = true;
		out[n - 1].last = i;
		out[n - 1].cores += free.cores;
	}
	return n;
}

static void nodesets_are_what_the_paper_defines(void **state)
{
	uint64_t seed = number_from("SL_SEED", 1);

	(void) state;
	for (int round = 0; round < 50; round++, seed++) {
		struct build *b = build_create("40x8c4g");
		struct sl_bid_set want[40];
		const struct sl_bid_set *got;
		uint32_t expected = 0;
		struct stall s;
		int64_t sets;

		random_state = seed;
		for (uint32_t id = 1; id <= 10; id++)
			build_running(b, (struct build_job) { .id = id, .first = 4 * (id - 1) + below(3), .nodes = 1 + below(2),
				.cores = 1 + below(8), .gpus = below(5), .ends_in = 600 });
		s = open_stall(b);
		sets = sl_market_nodesets(s.m, 60, &got, &s.err);
		for (uint32_t g = 0; g <= 4; g++) {
			uint32_t n = naive_sets(&s, g, want);

			for (uint32_t i = 0; i < n; i++, expected++) {
				if (expected >= sets || got[expected].first != want[i].first ||
				    got[expected].last != want[i].last || got[expected].cores != want[i].cores ||
				    got[expected].gpus != g)
					fail_msg("seed %llu: %u GPUs, nodes %u-%u", (unsigned long long) seed, g,
						 want[i].first, want[i].last);
			}
		}
		assert_int_equal(sets, expected);
		close_stall(&s);
	}
}

/* -- kinds and preference ---------------------------------------------------- */

static void preference_is_that_of_equation_12(void **state)
{
	struct build *b = build_create("9x8c");
	struct stall s;

	(void) state;
	build_running(b, (struct build_job) { .id = 9, .first = 4, .ends_in = 600 });
	build_pending(b, (struct build_job) { .id = 1, .max_nodes = 9, .tasks = 8, .limit = 60 });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 5, .tasks_per_node = 1, .limit = 60 });
	s = open_stall(b);
	bid_all(&s, own);
	/* two nodesets of four nodes; |N| = 9, |S| = 2 */
	for (uint32_t i = 0; i < s.bids; i++) {
		const struct sl_bid *k = &s.bid[i];
		double f = k->entry.job == 1 ? (k->kind == SL_BID_A ? 1 - 0.25 / 10 : 0.75 - 0.25 / 10) :
			0.5 - 0.5 * 2 / 3;

		assert_true(k->preference > f - EPSILON && k->preference < f + EPSILON);
		assert_int_equal(k->sets, k->entry.job == 1 ? 1 : 2);
		if (k->entry.job == 2)
			assert_int_equal(k->kind, SL_BID_C);
	}
	assert_int_equal(s.bids, 5 + 2);
	close_stall(&s);
}

static void a_bid_across_switches_is_liked_less(void **state)
{
	struct build *b = build_create("8x8c");
	struct sl_bid_options opt = own;
	double leaf = 0, root = 0;
	struct stall s;

	(void) state;
	for (uint32_t n = 0; n < 8; n++) {
		uint32_t path = sl_builder_str(b->builder, n < 4 ? "top.left" : "top.right");

		build_change(b, SL_T_NODE, n, sl_node_row, .topology = path);
	}
	build_pending(b, (struct build_job) { .id = 1, .nodes = 4, .tasks_per_node = 8, .limit = 60 });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 8, .tasks_per_node = 8, .limit = 60 });
	s = open_stall(b);
	opt.topology = 0.6;
	bid_all(&s, opt);
	for (uint32_t i = 0; i < s.bids; i++) {
		if (s.bid[i].kind == SL_BID_A && s.bid[i].entry.job == 0)
			leaf = s.bid[i].preference;
		else if (s.bid[i].kind == SL_BID_A)
			root = s.bid[i].preference;
	}
	assert_true(leaf > 1 - EPSILON);
	assert_true(root > 0.8 - EPSILON && root < 0.8 + EPSILON);	/* one of three levels up */
	close_stall(&s);
}

/* -- caps and options ---------------------------------------------------------- */

static void caps_hold_for_a_job_and_for_all(void **state)
{
	struct build *b = build_create("64x8c");
	struct sl_bid_options opt = own;
	struct stall s;

	(void) state;
	for (uint32_t id = 1; id <= 10; id++)
		build_pending(b, (struct build_job) { .id = id, .nodes = id, .tasks_per_node = 8, .limit = 60 });
	s = open_stall(b);
	for (opt.max = 1; opt.max <= 15; opt.max++) {
		bid_all(&s, opt);
		for (uint32_t i = opt.max; i < s.bids; i++)
			assert_true(s.bid[i].entry.job != s.bid[i - opt.max].entry.job);
	}
	opt.max = 5;
	opt.total = 20;
	bid_all(&s, opt);
	assert_int_equal(s.bids, 20);
	assert_int_equal(s.bid[19].entry.job, 9);	/* all of them have some */
	opt.jobs = 3;
	bid_all(&s, opt);
	assert_int_equal(s.bid[s.bids - 1].entry.job, 2);
	assert_int_equal(s.bids, 15);
	close_stall(&s);
}

static void bids_lie_as_close_as_is_asked_for(void **state)
{
	struct build *b = build_create("20x8c");
	struct sl_bid_options opt = all;
	struct stall s;

	(void) state;
	for (uint32_t i = 0; i < 5; i++)
		build_running(b, (struct build_job) { .id = 50 + i, .first = 3 + 4 * i, .ends_in = 600 });
	for (uint32_t id = 1; id <= 8; id++)
		build_pending(b, (struct build_job) { .id = id, .nodes = id, .tasks_per_node = 2, .limit = 60 });
	s = open_stall(b);
	opt.blocks = 2;
	opt.spread = 1.25;
	bid_all(&s, opt);
	assert_true(s.bids > 0);
	for (uint32_t i = 0; i < s.bids; i++) {
		assert_true(s.bid[i].blocks <= 2);
		assert_true(s.bid[i].last - s.bid[i].first + 1 <= 1.25 * s.bid[i].nodes);
	}
	opt.blocks = 0;
	opt.contiguous = true;
	bid_all(&s, opt);
	for (uint32_t i = 0; i < s.bids; i++)
		assert_true(s.bid[i].blocks == 1 && s.bid[i].kind != SL_BID_C);
	close_stall(&s);
}

static void options_out_of_range_are_refused(void **state)
{
	static const struct sl_bid_options wrong[] = {
		{ .kinds = 0, .max = 5 }, { .kinds = 1u << SL_BID_KINDS, .max = 5 }, { .kinds = 1, .max = 0 },
		{ .kinds = 1, .max = SL_MAX_BIDS + 1 }, { .kinds = 1, .max = 5, .total = SL_MAX_BIDS_TOTAL + 1 },
		{ .kinds = 1, .max = 5, .topology = 1.5 }, { .kinds = 1, .max = 5, .spread = -1 },
		{ .kinds = 1, .max = 5, .topology = __builtin_nan("") },
	};
	struct build *b = build_create("2x8c");
	struct sl_entry nobody = { .job = 77 };
	const struct sl_bid_set *set;
	struct stall s;

	(void) state;
	build_pending(b, (struct build_job) { .id = 1, .limit = 60 });
	s = open_stall(b);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(sl_market_bid(s.m, &nobody, 0, &wrong[i], &s.err), -1);
		assert_int_equal(s.err.code, SL_EINVAL);
	}
	assert_int_equal(sl_market_bid(s.m, &nobody, 1, &all, &s.err), -1);
	assert_int_equal(s.err.code, SL_EINVAL);
	assert_int_equal(sl_market_nodesets(s.m, 0, &set, &s.err), -1);
	close_stall(&s);
}

/* What a policy may take ends a call, and the market serves the next one. */
static void what_is_not_allowed_is_not_taken(void **state)
{
	static const volatile sig_atomic_t over = 1;
	static const struct { struct sl_allowance a; enum sl_errno code; } no[] = {
		{ { .stop = &over }, SL_ETIME }, { { .bytes = 100 }, SL_ENOMEM },
	};
	struct stall s = open_stall(build_random_cluster(11, 16, 24));
	const struct sl_bid_part *part[100];
	const struct sl_bid *list[100];
	struct sl_bid_rows rows = { 0 };
	const struct sl_entry *queue;
	uint32_t n, made;

	(void) state;
	queue = sl_cluster_queue(s.c, &n);
	bid_all(&s, own);
	made = s.bids;
	assert_true(made > 1);
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
		bid_all(&s, own);
		assert_int_equal(s.bids, made);
		for (uint32_t k = 0; k < 100; k++) {
			list[k] = &s.bid[k % made];
			part[k] = s.part + list[k]->part;
		}
		sl_market_allow(s.m, &no[i].a);
		assert_int_equal(sl_market_rows(s.m, list, part, 100, &rows, &s.err), -1);
		assert_int_equal(s.err.code, no[i].code);
		assert_int_equal(sl_market_bid(s.m, queue, n, &own, &s.err), -1);
		assert_int_equal(s.err.code, no[i].code);
		sl_market_allow(s.m, &(struct sl_allowance) { 0 });
	}
	sl_bid_rows_free(&rows);
	close_stall(&s);
}

/* -- what must be free ----------------------------------------------------- */

static void a_row_leaves_each_node_one_of_the_gres_that_the_job_has_elsewhere(void **state)
{
	struct build *b = build_create("2x8c1g");
	const struct sl_bid *list[40];
	const struct sl_bid_part *part[40];
	struct sl_bid_rows rows = { 0 };
	uint32_t ruled_out = 0;
	struct stall s;

	(void) state;
	build_pending(b, (struct build_job) { .id = 1, .nodes = 2, .tasks = 2, .limit = 60 });
	build_change_job(b, 1, .gres = build_gres(b, "gpu", "", 1, SL_PER_JOB));
	build_pending(b, (struct build_job) { .id = 2, .gpus = 1, .limit = 60 });
	build_pending(b, (struct build_job) { .id = 3, .limit = 60 });
	s = open_stall(b);
	bid_all(&s, own);
	for (uint32_t i = 0; i < s.bids; i++) {
		list[i] = &s.bid[i];
		part[i] = s.part + s.bid[i].part;
	}
	assert_int_equal(sl_market_rows(s.m, list, part, s.bids, &rows, &s.err), 0);
	for (uint32_t r = 0; r < rows.rows; r++) {
		if (rows.row[r].kind != SL_ROW_GRES)
			continue;
		/* on either node, of the first two jobs alone */
		assert_int_equal(rows.row[r].most, 1);
		assert_true(rows.row[r].terms >= 2);
		for (uint32_t t = 0; t < rows.row[r].terms; t++) {
			assert_int_equal(rows.term[rows.row[r].term + t].amount, 1);
			assert_true(s.bid[rows.term[rows.row[r].term + t].bid].entry.job != 2);
		}
		ruled_out++;
	}
	assert_int_equal(ruled_out, 2);
	sl_bid_rows_free(&rows);
	close_stall(&s);
}

static void cores_for_another_task_claim_its_gres_too(void **state)
{
	struct sl_request r = { .tasks = 4, .gres = { { .kinds = 1, .per = SL_GRES_PER_TASK, .count = 2, .memory = 10 } },
				.gres_needs = 1 };
	struct sl_resources each = { .cores = 2, .memory = 20, .gres = { 2 } }, claim;

	(void) state;
	sl_request_claim(&r, &each, &claim);	/* each core may be a task's, of two pieces each */
	assert_int_equal(claim.cores, 2);
	assert_int_equal(claim.gres[0], 4);
	assert_int_equal(claim.memory, 40);
	r.tasks_per_node = 1;
	sl_request_claim(&r, &each, &claim);
	assert_true(sl_resources_equal(&claim, &each));
}

/* A socket with four free cores: of two sockets one has them for certain where eight are free, and not where six are. */
static void what_only_select_could_place_is_a_native_bid(void **state)
{
	(void) state;
	for (uint32_t taken = 4; taken <= 6; taken += 2) {
		struct build *b = build_create("1x12c2s");
		struct stall s;

		build_running(b, (struct build_job) { .id = 9, .cores = taken, .ends_in = 600 });
		build_pending(b, (struct build_job) { .id = 1, .nodes = 1, .tasks = 4, .limit = 60 });
		build_change_job(b, 1, .cores_per_socket = 4);
		s = open_stall(b);
		bid_all(&s, all);
		assert_true(s.bids > 0);
		for (uint32_t i = 0; i < s.bids; i++) {
			assert_int_equal(s.bid[i].native, taken == 6);
			assert_true(s.bid[i].native || book(&s, &s.bid[i]));
			if (!s.bid[i].native)
				assert_int_equal(sl_plan_undo(s.p, s.bid[i].entry.job, &s.err), 0);
		}
		close_stall(&s);
	}
}

/* -- all there is --------------------------------------------------------------- */

static void slurm_bids_are_what_starting_in_turn_would_give(void **state)
{
	struct sl_bid_options opt = { .kinds = 1u << SL_BID_SLURM, .max = 1 };
	uint64_t seed = number_from("SL_SEED", 1);

	(void) state;
	for (int round = 0; round < 60; round++, seed++) {
		struct stall s = open_stall(build_random_cluster(seed, 12, 20));
		uint32_t n, at = 0;
		const struct sl_entry *queue = sl_cluster_queue(s.c, &n);

		bid_all(&s, opt);
		for (uint32_t i = 0; i < n && at < s.bids; i++) {
			struct sl_refusal why;
			const struct sl_place *place;
			uint32_t count, k = 0;
			int64_t t0;

			/* those with a shorter time to fall back on may start where no bid is made */
			if (s.bid[at].entry.job != queue[i].job || s.bid[at].entry.partition != queue[i].partition)
				continue;
			if (s.bid[at].entry.shape || sl_plan_start(s.p, queue[i], NULL, &why, &s.err) != 1)
				break;
			place = sl_plan_places(s.p, queue[i].job, &count, &t0);
			if (count != s.bid[at].nodes)
				fail_msg("seed %llu: job row %u", (unsigned long long) seed, queue[i].job);
			for (uint32_t p = 0; p < s.bid[at].parts; p++)
				for (uint32_t node = s.part[s.bid[at].part + p].first;
				     node <= s.part[s.bid[at].part + p].last; node++, k++)
					assert_true(place[k].node == node &&
						    (int32_t) place[k].cores == s.part[s.bid[at].part + p].each.cores);
			at++;
		}
		close_stall(&s);
	}
}

static void every_bid_on_any_cluster_can_be_booked_and_making_them_books_nothing(void **state)
{
	uint64_t seed = number_from("SL_SEED", 1);
	uint32_t made = 0;

	(void) state;
	for (int round = 0; round < 250; round++, seed++) {
		struct stall s = open_stall(build_random_cluster(seed, 16, 24));
		struct sl_free_now before, after;

		sl_timeline_free_now(sl_cluster_timeline(s.c), &before);
		bid_all(&s, all);
		sl_timeline_free_now(sl_cluster_timeline(s.c), &after);
		assert_memory_equal(&before, &after, sizeof(before));
		if (check_timeline(sl_cluster_timeline(s.c), &s.err) < 0)
			fail_msg("seed %llu: %s", (unsigned long long) seed, s.err.text);
		for (uint32_t i = 0; i < s.bids; i++, made++) {
			assert_true(s.bid[i].preference > 0 && s.bid[i].preference <= 1);
			/* an upper bound need not be where Slurm is told to start */
			if (s.bid[i].native)
				continue;
			if (!book(&s, &s.bid[i]))
				fail_msg("seed %llu: bid %u, %s of job row %u", (unsigned long long) seed, i,
					 sl_bid_kind_word(s.bid[i].kind), s.bid[i].entry.job);
			assert_int_equal(sl_plan_undo(s.p, s.bid[i].entry.job, &s.err), 0);
		}
		close_stall(&s);
	}
	assert_true(made > 500);
}

/* Take bids at random as long as the rows allow: all of them can be booked. */
static void what_the_rows_allow_on_any_cluster_can_be_booked_together(void **state)
{
	struct sl_bid_options opt = { .kinds = SL_BID_ALL, .max = 7 };
	uint64_t seed = number_from("SL_SEED", 1);

	(void) state;
	for (int round = 0; round < 150; round++, seed++) {
		struct stall s = open_stall(build_random_cluster(seed, 16, 24));
		struct sl_bid_rows rows = { 0 };
		const struct sl_bid **list;
		const struct sl_bid_part **part;
		uint32_t count = 0;

		random_state = seed;
		bid_all(&s, opt);
		list = calloc(s.bids + 1, sizeof(*list));
		part = calloc(s.bids + 1, sizeof(*part));
		for (uint32_t i = 0; i < s.bids; i++) {
			if (s.bid[i].native)
				continue;
			list[count] = &s.bid[i];
			part[count++] = s.part + s.bid[i].part;
		}
		assert_int_equal(sl_market_rows(s.m, list, part, count, &rows, &s.err), 0);
		for (uint32_t tries = 0, i; count && tries < 2 * count; tries++) {
			uint32_t started;
			bool fits = true;

			sl_plan_started(s.p, &started);
			i = below(count);
			for (uint32_t r = 0; r < rows.rows; r++)
				for (uint32_t t = 0; t < rows.row[r].terms; t++)
					if (rows.term[rows.row[r].term + t].bid == i)
						fits &= rows.term[rows.row[r].term + t].amount <= rows.row[r].most;
			/* an array's record could be started again: at most one bid of a job wins */
			for (uint32_t k = 0; k < started; k++)
				fits &= sl_plan_started(s.p, &started)[k].job != list[i]->entry.job;
			if (!fits)
				continue;
			if (!book(&s, list[i]))
				fail_msg("seed %llu: %s of job row %u", (unsigned long long) seed,
					 sl_bid_kind_word(list[i]->kind), list[i]->entry.job);
			for (uint32_t r = 0; r < rows.rows; r++)
				for (uint32_t t = 0; t < rows.row[r].terms; t++)
					if (rows.term[rows.row[r].term + t].bid == i)
						rows.row[r].most -= rows.term[rows.row[r].term + t].amount;
		}
		sl_bid_rows_free(&rows);
		free(list);
		free(part);
		close_stall(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodesets_are_what_the_paper_defines),
		cmocka_unit_test(preference_is_that_of_equation_12),
		cmocka_unit_test(a_bid_across_switches_is_liked_less),
		cmocka_unit_test(caps_hold_for_a_job_and_for_all),
		cmocka_unit_test(bids_lie_as_close_as_is_asked_for),
		cmocka_unit_test(options_out_of_range_are_refused),
		cmocka_unit_test(what_is_not_allowed_is_not_taken),
		cmocka_unit_test(a_row_leaves_each_node_one_of_the_gres_that_the_job_has_elsewhere),
		cmocka_unit_test(cores_for_another_task_claim_its_gres_too),
		cmocka_unit_test(what_only_select_could_place_is_a_native_bid),
		cmocka_unit_test(slurm_bids_are_what_starting_in_turn_would_give),
		cmocka_unit_test(every_bid_on_any_cluster_can_be_booked_and_making_them_books_nothing),
		cmocka_unit_test(what_the_rows_allow_on_any_cluster_can_be_booked_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
