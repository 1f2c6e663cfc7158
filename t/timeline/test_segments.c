/* SPDX-License-Identifier: MIT */
/* Placement in blocks: worked by hand, and beside a search of all ways to share a request out among up to six blocks. */
#include <inttypes.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "t/random.h"
#include "t/timeline/where.h"

#define MOST_BLOCKS 6
#define MOST_SIZE 5
#define MOST_NODES (MOST_BLOCKS * MOST_SIZE)
#define BOOKINGS 24
#define CORES 8
#define END 40

/* -- by hand ------------------------------------------------------------- */

struct blocks {
	uint32_t leaf_of[64], above[8], height[8];
	struct sl_tree tree;
};

/* Blocks of so many nodes each. */
static void with_blocks(struct sl_timeline *tl, struct blocks *b, uint32_t nodes, uint32_t size)
{
	uint32_t blocks = (nodes + size - 1) / size;

	for (uint32_t n = 0; n < nodes; n++)
		b->leaf_of[n] = n / size;
	for (uint32_t i = 0; i < blocks; i++) {
		b->above[i] = SL_NO_SWITCH;
		b->height[i] = 0;
	}
	b->tree = (struct sl_tree) { b->leaf_of, b->above, b->height, blocks };
	sl_timeline_tree(tl, &b->tree);
}

static void segments_are_whole_and_each_is_in_one_block(void **state)
{
	const struct sl_how how = { .method = SL_PLACE_BLOCKS, .segment = 12 };
	struct sl_request r = { .min_nodes = 36, .max_nodes = 36, .duration = 10 };
	struct sl_timeline *tl = machine(54, NULL);
	struct blocks b;

	(void) state;
	with_blocks(tl, &b, 54, 18);
	book(tl, "0,18", 8, 0, 100);		/* 17, 17 and 18 are free: not 17+17+2 */
	assert_string_equal(at(tl, &r, &how, 0), "1-12:1 19-30:1 36-47:1");
	book(tl, "1-6", 8, 0, 50);		/* 11 of the first */
	assert_string_equal(at(tl, &r, &how, 0), "needs 36 nodes in segments of 12");
	assert_string_equal(earliest(tl, &r, &how, 0, SL_FOREVER), "@50 1-12:1 19-30:1 36-47:1");
	r.min_nodes = r.max_nodes = 30;		/* no multiple */
	assert_string_equal(at(tl, &r, &how, 0), "needs 30 nodes in segments of 12");
	r.min_nodes = r.max_nodes = 10;		/* fewer than a segment */
	assert_string_equal(at(tl, &r, &how, 0), "7-16:1");
	sl_timeline_destroy(tl);
}

static void used_blocks_are_filled_before_whole_ones(void **state)
{
	const struct sl_how blocks = { .method = SL_PLACE_BLOCKS };
	struct sl_request r = { .min_nodes = 2, .max_nodes = 2, .duration = 10 };
	struct sl_timeline *tl = machine(16, NULL);
	struct blocks b;

	(void) state;
	with_blocks(tl, &b, 16, 4);
	book(tl, "4,8-9", 8, 0, 100);		/* 4, 3, 2 and 4 are free */
	assert_string_equal(at(tl, &r, &blocks, 0), "10-11:1");
	r.min_nodes = r.max_nodes = 3;
	assert_string_equal(at(tl, &r, &blocks, 0), "5-7:1");
	r.min_nodes = r.max_nodes = 5;		/* 3 and 2, not 4 and 1 */
	assert_string_equal(at(tl, &r, &blocks, 0), "5-7:1 10-11:1");
	r.min_nodes = r.max_nodes = 6;
	assert_string_equal(at(tl, &r, &blocks, 0), "0-3:1 10-11:1");
	r.min_nodes = r.max_nodes = 13;
	assert_string_equal(at(tl, &r, &blocks, 0), "0-3:1 5-7:1 10-15:1");
	r.contiguous = true;
	assert_string_equal(at(tl, &r, &blocks, 0), "needs a block of 13 consecutive nodes, the longest is 6");
	sl_timeline_destroy(tl);
}

static void a_block_that_is_reserved_soon_is_not_whole(void **state)
{
	const struct sl_how blocks = { .method = SL_PLACE_BLOCKS };
	struct sl_request r = { .min_nodes = 2, .max_nodes = 2, .duration = 10 };
	struct sl_timeline *tl = machine(8, NULL);
	struct blocks b;

	(void) state;
	with_blocks(tl, &b, 8, 4);
	book(tl, "4-5", 8, 5, 20);
	assert_string_equal(at(tl, &r, &blocks, 0), "6-7:1");
	r.duration = 5;
	assert_string_equal(at(tl, &r, &blocks, 0), "0-1:1");
	sl_timeline_destroy(tl);
}

static void tasks_without_nodes_have_the_fewest(void **state)
{
	const struct sl_how how = { .method = SL_PLACE_BLOCKS, .segment = 2 };
	struct sl_request r = { .tasks = 20, .duration = 10 };
	struct sl_timeline *tl = machine(8, NULL);
	struct blocks b;

	(void) state;
	with_blocks(tl, &b, 8, 4);
	book(tl, "0", 8, 0, 100);
	assert_string_equal(at(tl, &r, &how, 0), "4-5:8 6:3 7:1");	/* four rather than three, in one block */
	book(tl, "5-7", 4, 0, 100);		/* two segments of 5 cores and more are not there: six nodes of 4 */
	assert_string_equal(at(tl, &r, &how, 0), "1-2:8 4-7:1");
	sl_timeline_destroy(tl);
}

static void a_block_has_the_segments_that_fit_in_it_whatever_the_others_hold(void **state)
{
	static const uint32_t size[] = { 5, 2, 7, 3 };
	struct sl_how how = { .method = SL_PLACE_BLOCKS, .segment = 3 };
	struct sl_request r = { .min_nodes = 12, .max_nodes = 12, .duration = 10 };
	struct sl_timeline *tl = machine(17, NULL);
	struct blocks b;

	(void) state;
	with_blocks(tl, &b, 17, 5);
	for (uint32_t block = 0, n = 0; block < 4; n += size[block++])
		for (uint32_t i = 0; i < size[block]; i++)
			b.leaf_of[n + i] = block;
	assert_string_equal(at(tl, &r, &how, 0), "0-2:1 7-12:1 14-16:1");
	r.min_nodes = r.max_nodes = 15;		/* 17 nodes, but four segments */
	assert_string_equal(earliest(tl, &r, &how, 0, SL_FOREVER), "needs 15 nodes in segments of 3");
	how.segment = 6;
	r.min_nodes = r.max_nodes = 6;		/* in the largest alone */
	assert_string_equal(at(tl, &r, &how, 0), "7-12:1");
	book(tl, "7-8", 8, 0, 50);
	assert_string_equal(earliest(tl, &r, &how, 0, SL_FOREVER), "@50 7-12:1");
	sl_timeline_destroy(tl);
}

static void a_segment_larger_than_each_block_or_than_the_machine_never_fits(void **state)
{
	struct sl_how how = { .method = SL_PLACE_BLOCKS };
	struct sl_request r = { .duration = 10 };
	struct sl_timeline *tl = machine(8, NULL);
	struct blocks b;

	(void) state;
	with_blocks(tl, &b, 8, 4);
	r.min_nodes = r.max_nodes = how.segment = 5;
	assert_string_equal(earliest(tl, &r, &how, 0, SL_FOREVER), "needs 5 nodes in segments of 5");
	r.min_nodes = r.max_nodes = how.segment = 9;
	assert_string_equal(earliest(tl, &r, &how, 0, SL_FOREVER), "needs 9 nodes, 8 could ever do");
	r.min_nodes = r.max_nodes = 8;
	how.segment = UINT32_MAX;		/* fewer nodes than a segment: as without */
	assert_string_equal(at(tl, &r, &how, 0), "0-7:1");
	r.min_nodes = r.max_nodes = how.segment;
	assert_string_equal(earliest(tl, &r, &how, 0, SL_FOREVER), "needs 4294967295 nodes, 8 could ever do");
	sl_timeline_destroy(tl);
}

/* -- all ways -------------------------------------------------------------- */

struct busy {
	uint32_t node;
	int32_t cores;
	int64_t t0, t1;
};

struct world {
	struct sl_timeline *tl;
	struct sl_tree tree;
	uint32_t leaf_of[MOST_NODES], above[MOST_BLOCKS], height[MOST_BLOCKS];
	uint32_t nodes, blocks, size[MOST_BLOCKS];
	struct busy busy[BOOKINGS];
	int bookings;
	struct sl_nodeset required;
	struct sl_request r;
	struct sl_how how;
};

static int32_t free_on(const struct world *w, uint32_t node, int64_t t0, int64_t t1)
{
	int32_t least = CORES;

	for (int64_t t = t0; t < t1 && t <= END; t++) {
		int32_t left = CORES;

		for (int i = 0; i < w->bookings; i++)
			if (w->busy[i].node == node && t >= w->busy[i].t0 && t < w->busy[i].t1)
				left -= w->busy[i].cores;
		least = left < least ? left : least;
	}
	return least;
}

static void random_booking(struct world *w)
{
	struct busy b = { below(w->nodes), (int32_t) between(1, CORES), below(END / 2), 0 };
	const struct sl_resources each = { .cores = b.cores };
	struct sl_run run = { b.node, b.node };
	struct sl_nodeset one = { &run, 1, 1, 1 };

	b.t0 = one_in(3) ? b.t0 : 0;
	b.t1 = b.t0 + between(1, END / 2);
	if (free_on(w, b.node, b.t0, b.t1) < b.cores)
		return;
	assert_int_equal(sl_timeline_book(w->tl, &one, &each, b.t0, b.t1, NULL), 0);
	w->busy[w->bookings++] = b;
}

static void create_world(struct world *w)
{
	*w = (struct world) { .blocks = (uint32_t) between(2, MOST_BLOCKS), .required = SL_NODESET_EMPTY };
	for (uint32_t i = 0, size = (uint32_t) between(1, MOST_SIZE); i < w->blocks; i++) {
		w->size[i] = one_in(4) ? (uint32_t) between(1, MOST_SIZE) : size;
		w->above[i] = SL_NO_SWITCH;
		for (uint32_t n = 0; n < w->size[i]; n++)
			w->leaf_of[w->nodes++] = i;
	}
	w->tl = machine(w->nodes, NULL);
	w->tree = (struct sl_tree) { w->leaf_of, w->above, w->height, w->blocks };
	sl_timeline_tree(w->tl, &w->tree);
	for (uint32_t i = below(BOOKINGS); i > 0; i--)
		random_booking(w);
	w->how = (struct sl_how) { .method = SL_PLACE_BLOCKS, .segment = one_in(3) ? 0 : (uint32_t) between(1, 4) };
	w->r.min_nodes = w->how.segment ? w->how.segment * (uint32_t) between(1, 4) : (uint32_t) between(1, w->nodes);
	w->r.max_nodes = w->r.min_nodes;
	w->r.min_cores_per_node = (uint32_t) between(1, CORES);
	w->r.duration = between(1, END / 4);
	for (uint32_t i = one_in(4) ? below(3) : 0, n; i > 0; i--) {
		n = below(w->nodes);
		assert_int_equal(sl_nodeset_add(&w->required, n, n, NULL), 0);
	}
	if (w->required.count && w->required.count <= w->r.min_nodes)
		w->r.required = &w->required;
}

static void destroy_world(struct world *w)
{
	sl_timeline_destroy(w->tl);
	sl_nodeset_free(&w->required);
}

/* What a choice is worth, the smaller the better; with segments the number of blocks that are broken counts first. */
static int worth(const struct world *w, int blocks, int broken)
{
	return w->how.segment ? 100 * broken + blocks : 100 * blocks + broken;
}

struct block {			/* at some time */
	uint32_t nodes, required;
	bool whole;
};

static void look_at(const struct world *w, int64_t t, struct block at[MOST_BLOCKS])
{
	memset(at, 0, MOST_BLOCKS * sizeof(*at));
	for (uint32_t i = 0; i < w->blocks; i++)
		at[i].whole = true;
	for (uint32_t n = 0; n < w->nodes; n++) {
		int32_t cores = free_on(w, n, t, t + w->r.duration);
		struct block *b = &at[w->leaf_of[n]];

		b->whole &= cores == CORES;
		b->nodes += cores >= (int32_t) w->r.min_cores_per_node;
		b->required += w->r.required && sl_nodeset_contains(w->r.required, n);
	}
}

/* The best of all ways to have *rest* nodes from block *i* on; INT_MAX: there is none. */
static int search(const struct world *w, const struct block *at, uint32_t i, uint32_t rest, int blocks, int broken)
{
	uint32_t step = w->how.segment ? w->how.segment : 1;
	int best = INT_MAX;

	if (i == w->blocks)
		return rest ? INT_MAX : worth(w, blocks, broken);
	for (uint32_t n = 0; n <= at[i].nodes && n <= rest; n += step) {
		int found = n < at[i].required ? INT_MAX :
			search(w, at, i + 1, rest - n, blocks + (n > 0), broken + (n && at[i].whole));

		best = found < best ? found : best;
	}
	return best;
}

static bool required_are_free(const struct world *w, int64_t t)
{
	for (uint32_t n = 0; w->r.required && n < w->nodes; n++)
		if (sl_nodeset_contains(w->r.required, n) &&
		    free_on(w, n, t, t + w->r.duration) < (int32_t) w->r.min_cores_per_node)
			return false;
	return true;
}

static int best_at(const struct world *w, int64_t t)
{
	struct block at[MOST_BLOCKS];

	look_at(w, t, at);
	return required_are_free(w, t) ? search(w, at, 0, w->r.min_nodes, 0, 0) : INT_MAX;
}

/* The same of a layout, which is a valid one. */
static int worth_of(const struct world *w, const struct sl_layout *l, int64_t t)
{
	uint32_t of[MOST_BLOCKS] = { 0 }, nodes = 0;
	struct block at[MOST_BLOCKS];
	int blocks = 0, broken = 0;

	look_at(w, t, at);
	for (uint32_t s = 0; s < l->shares; s++)
		for (uint32_t n = sl_nodeset_next(&l->share[s].nodes, 0); n < SL_MAX_NODES;
		     n = sl_nodeset_next(&l->share[s].nodes, n + 1)) {
			assert_true(free_on(w, n, t, t + w->r.duration) >= (int32_t) w->r.min_cores_per_node);
			of[w->leaf_of[n]]++;
			nodes++;
		}
	assert_int_equal(nodes, w->r.min_nodes);
	for (uint32_t i = 0; i < w->blocks; i++) {
		assert_true(!w->how.segment || of[i] % w->how.segment == 0);
		blocks += of[i] > 0;
		broken += of[i] && at[i].whole;
	}
	return worth(w, blocks, broken);
}

static void no_choice_leaves_more_blocks_whole(void **state)
{
	struct sl_layout l = SL_LAYOUT_EMPTY;
	uint64_t fits = 0, later = 0;
	struct world w;

	(void) state;
	for (uint64_t round = 0, seed = number_from("SL_SEED", 1), rounds = rounds_of(4000); round < rounds; round++) {
		struct sl_misfit m;
		struct sl_error err;
		int64_t t = below(END / 2), start;
		int best, rc;

		failing_seed = random_state = seed + round;
		create_world(&w);
		best = best_at(&w, t);
		rc = sl_fit_at(w.tl, &w.r, &w.how, t, &l, &m, &err);
		assert_int_equal(rc, best < INT_MAX);
		assert_int_equal(sl_fit_at(w.tl, &w.r, &w.how, t, NULL, &m, &err), rc);
		if (rc)
			assert_int_equal(worth_of(&w, &l, t), best);
		fits += (uint64_t) rc;
		rc = sl_fit_earliest(w.tl, &w.r, &w.how, 0, SL_FOREVER, &start, &l, &m, &err);
		for (int64_t before = 0; before < (rc ? start : END + 1); before++)
			assert_int_equal(best_at(&w, before), INT_MAX);
		if (rc)
			assert_int_equal(worth_of(&w, &l, start), best_at(&w, start));
		later += rc && start > 0;
		destroy_world(&w);
	}
	failing_seed = 0;
	assert_true(getenv("SL_SEED") || (fits > 100 && later > 100));
	sl_layout_free(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(segments_are_whole_and_each_is_in_one_block),
		cmocka_unit_test(used_blocks_are_filled_before_whole_ones),
		cmocka_unit_test(a_block_that_is_reserved_soon_is_not_whole),
		cmocka_unit_test(tasks_without_nodes_have_the_fewest),
		cmocka_unit_test(a_block_has_the_segments_that_fit_in_it_whatever_the_others_hold),
		cmocka_unit_test(a_segment_larger_than_each_block_or_than_the_machine_never_fits),
		cmocka_unit_test_teardown(no_choice_leaves_more_blocks_whole, say_seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
