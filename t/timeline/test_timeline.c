/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "t/random.h"
#include "t/timeline/in_order.h"
#include "t/timeline/set.h"
#include "timeline/choose.h"

static const struct sl_resources one_core = { .cores = 1 };

/* *nodes* nodes of 8 cores, 1000 MiB and 2 gpus; the clock stands at 100. */
static struct sl_timeline *machine(uint32_t nodes)
{
	const struct sl_node_kind kind = { .capacity = { .cores = 8, .memory = 1000, .gres = { 2 } }, .weight = 1 };
	uint32_t *kind_of = calloc(nodes, sizeof(*kind_of));
	struct sl_error err;
	struct sl_timeline *tl = sl_timeline_create(nodes, kind_of, &kind, 1, 100, &err);

	free(kind_of);
	if (!tl)
		fail_msg("%s", err.text);
	return tl;
}

static void valid(const struct sl_timeline *tl)
{
	struct sl_error err;

	if (check_timeline(tl, &err))
		fail_msg("%s", err.text);
}

static int book(struct sl_timeline *tl, const char *nodes, int32_t cores, int64_t t0, int64_t t1)
{
	const struct sl_resources each = { .cores = cores };
	struct sl_nodeset s = set(nodes);
	int rc = sl_timeline_book(tl, &s, &each, t0, t1, NULL);

	sl_nodeset_free(&s);
	valid(tl);
	return rc;
}

static int unbook(struct sl_timeline *tl, const char *nodes, int32_t cores, int64_t t0, int64_t t1)
{
	const struct sl_resources each = { .cores = cores };
	struct sl_nodeset s = set(nodes);
	int rc = sl_timeline_unbook(tl, &s, &each, t0, t1, NULL);

	sl_nodeset_free(&s);
	valid(tl);
	return rc;
}

static int block(struct sl_timeline *tl, const char *nodes, int64_t t0, int64_t t1)
{
	struct sl_nodeset s = set(nodes);
	int rc = sl_timeline_block(tl, &s, t0, t1, NULL);

	sl_nodeset_free(&s);
	valid(tl);
	return rc;
}

static int32_t cores(const struct sl_timeline *tl, uint32_t node, int64_t t0, int64_t t1)
{
	struct sl_resources r;

	sl_timeline_free(tl, node, t0, t1, &r);
	return r.cores;
}

static uint32_t classes(const struct sl_timeline *tl)
{
	struct sl_timeline_figures f;

	sl_timeline_figures(tl, &f);
	return f.classes;
}

static void what_is_booked_is_not_free_until_it_ends(void **state)
{
	struct sl_timeline *tl = machine(4);

	(void) state;
	assert_int_equal(book(tl, "1-2", 5, 100, 200), 0);
	assert_int_equal(cores(tl, 0, 100, 300), 8);
	assert_int_equal(cores(tl, 1, 100, 101), 3);
	assert_int_equal(cores(tl, 1, 199, 300), 3);
	assert_int_equal(cores(tl, 2, 200, SL_FOREVER), 8);
	assert_int_equal(classes(tl), 2);
	assert_int_equal(book(tl, "2", 4, 150, 250), -1);
	assert_int_equal(book(tl, "2", 4, 200, 250), 0);
	assert_int_equal(cores(tl, 2, 100, 300), 3);
	assert_int_equal(cores(tl, 2, 200, 300), 4);
	assert_int_equal(cores(tl, 2, 250, 300), 8);
	assert_int_equal(classes(tl), 3);
	sl_timeline_destroy(tl);
}

static void classes_that_become_equal_are_one(void **state)
{
	struct sl_timeline *tl = machine(10);

	(void) state;
	assert_int_equal(book(tl, "0-3", 8, 100, 200), 0);
	assert_int_equal(book(tl, "6-7", 8, 100, 200), 0);
	assert_int_equal(classes(tl), 2);
	assert_int_equal(unbook(tl, "6-7", 8, 100, 200), 0);
	assert_int_equal(unbook(tl, "0-3", 8, 100, 200), 0);
	assert_int_equal(classes(tl), 1);
	/* two bookings end to end are one; a booking cut in two is two */
	assert_int_equal(book(tl, "5", 2, 100, 200), 0);
	assert_int_equal(book(tl, "5", 2, 200, 300), 0);
	assert_int_equal(book(tl, "6", 2, 100, 300), 0);
	assert_int_equal(classes(tl), 2);
	assert_int_equal(unbook(tl, "6", 2, 150, 200), 0);
	assert_int_equal(classes(tl), 3);
	sl_timeline_destroy(tl);
}

static void a_booking_that_does_not_fit_everywhere_changes_nothing(void **state)
{
	struct sl_timeline *tl = machine(6);
	struct sl_nodeset s = set("0-5");
	const struct sl_resources each = { .cores = 4, .gres = { 1 } }, gpus = { .gres = { 2 } };
	struct sl_nodeset four = set("4");
	struct sl_error err;

	(void) state;
	assert_int_equal(sl_timeline_book(tl, &four, &gpus, 500, 600, NULL), 0);
	assert_int_equal(sl_timeline_book(tl, &s, &each, 100, 501, &err), -1);
	assert_int_equal(err.code, SL_EBUSY);
	assert_string_equal(err.text, "node 4: 1 of gres kind 0 needed, 0 free");
	assert_int_equal(classes(tl), 2);
	valid(tl);
	assert_int_equal(sl_timeline_book(tl, &s, &each, 100, 500, &err), 0);
	assert_int_equal(book(tl, "0-5", 5, 100, 101), -1);
	assert_int_equal(cores(tl, 0, 100, 101), 4);
	sl_nodeset_free(&s);
	sl_nodeset_free(&four);
	sl_timeline_destroy(tl);
}

static void misuse_is_refused(void **state)
{
	struct sl_timeline *tl = machine(4);
	struct sl_nodeset s = set("0-3"), beyond = set("3-4");
	const struct sl_resources less = { .cores = -1 };
	struct sl_error err;

	(void) state;
	assert_int_equal(sl_timeline_book(tl, &s, &one_core, 200, 200, &err), -1);
	assert_int_equal(err.code, SL_EINVAL);
	assert_int_equal(sl_timeline_book(tl, &beyond, &one_core, 200, 300, &err), -1);
	assert_string_equal(err.text, "node 4: there are 4");
	assert_int_equal(sl_timeline_book(tl, &s, &less, 200, 300, &err), -1);
	assert_int_equal(sl_timeline_unbook(tl, &s, &one_core, 200, 300, &err), -1);
	assert_string_equal(err.text, "node 0: more is given back than was booked");
	assert_int_equal(sl_timeline_unblock(tl, &s, 200, 300, &err), -1);
	assert_int_equal(err.code, SL_EINVAL);
	assert_int_equal(sl_timeline_advance(tl, 99, &err), -1);
	assert_int_equal(classes(tl), 1);
	/* nothing booked, nothing to do, and the past */
	assert_int_equal(book(tl, "", 8, 100, 200), 0);
	assert_int_equal(book(tl, "0", 0, 100, 200), 0);
	assert_int_equal(book(tl, "0", 8, 10, 100), 0);
	assert_int_equal(classes(tl), 1);
	sl_nodeset_free(&s);
	sl_nodeset_free(&beyond);
	sl_timeline_destroy(tl);
}

static void a_machine_beyond_the_ceilings_is_refused(void **state)
{
	struct sl_node_kind kind = { .capacity = { .cores = SL_MAX_NODE_CORES + 1 } };
	uint32_t kind_of[2] = { 0, 1 };
	struct sl_error err;

	(void) state;
	assert_null(sl_timeline_create(1, kind_of, &kind, 1, 0, &err));
	assert_int_equal(err.code, SL_ELIMIT);
	kind.capacity.cores = 1;
	assert_null(sl_timeline_create(2, kind_of, &kind, 1, 0, &err));
	assert_string_equal(err.text, "node 1: kind 1 of 1");
	assert_null(sl_timeline_create(SL_MAX_NODES + 1, kind_of, &kind, 1, 0, &err));
	assert_int_equal(err.code, SL_ELIMIT);
	kind.capacity.memory = -1;
	assert_null(sl_timeline_create(1, kind_of, &kind, 1, 0, &err));
	assert_int_equal(err.code, SL_EINVAL);
	sl_timeline_destroy(NULL);
}

static void the_end_may_be_open(void **state)
{
	struct sl_timeline *tl = machine(2);

	(void) state;
	assert_int_equal(book(tl, "0", 8, 100, SL_FOREVER), 0);
	assert_int_equal(cores(tl, 0, SL_FOREVER - 1, SL_FOREVER), 0);
	assert_int_equal(book(tl, "1", 3, 200, SL_FOREVER), 0);
	assert_int_equal(cores(tl, 1, 100, 200), 8);
	assert_int_equal(cores(tl, 1, 100, 201), 5);
	assert_int_equal(unbook(tl, "1", 3, 100000, SL_FOREVER), 0);
	assert_int_equal(cores(tl, 1, 100000, SL_FOREVER), 8);
	assert_int_equal(sl_timeline_next(tl, 0), 200);
	assert_int_equal(sl_timeline_next(tl, 200), 100000);
	assert_true(sl_timeline_next(tl, 100000) == SL_FOREVER);
	assert_true(sl_timeline_next_on(tl, 0, 0) == SL_FOREVER);
	assert_int_equal(sl_timeline_next_on(tl, 1, 0), 200);
	assert_int_equal(sl_timeline_next_on(tl, 1, 200), 100000);
	assert_true(sl_timeline_next_on(tl, 1, 100000) == SL_FOREVER);
	sl_timeline_destroy(tl);
}

static void a_block_hides_what_is_free_and_keeps_what_is_booked(void **state)
{
	struct sl_timeline *tl = machine(3);
	struct sl_nodeset s = set("1");
	struct sl_resources r;

	(void) state;
	assert_int_equal(book(tl, "1", 6, 100, 300), 0);
	assert_int_equal(block(tl, "0-1", 200, 400), 0);
	assert_int_equal(block(tl, "1-2", 300, 500), 0);
	assert_int_equal(cores(tl, 1, 100, 200), 2);
	assert_int_equal(cores(tl, 1, 100, 201), 0);
	assert_int_equal(cores(tl, 1, 450, 451), 0);
	assert_int_equal(cores(tl, 0, 400, 451), 8);
	sl_timeline_unbooked(tl, 1, 100, 450, &r);
	assert_int_equal(r.cores, 2);
	assert_int_equal(book(tl, "1", 1, 150, 201), -1);
	/* the job beneath ends early */
	assert_int_equal(unbook(tl, "1", 6, 250, 300), 0);
	assert_int_equal(cores(tl, 1, 250, 251), 0);
	assert_int_equal(sl_timeline_unblock(tl, &s, 200, 400, NULL), 0);
	valid(tl);
	assert_int_equal(cores(tl, 1, 250, 300), 8);
	assert_int_equal(cores(tl, 1, 250, 301), 0);
	sl_nodeset_free(&s);
	sl_timeline_destroy(tl);
}

static void time_that_passes_is_forgotten(void **state)
{
	struct sl_timeline *tl = machine(4);

	(void) state;
	assert_int_equal(book(tl, "0", 8, 100, 150), 0);
	assert_int_equal(book(tl, "1", 8, 100, 200), 0);
	assert_int_equal(book(tl, "2", 8, 120, 200), 0);
	assert_int_equal(classes(tl), 4);
	assert_int_equal(sl_timeline_advance(tl, 119, NULL), 0);
	valid(tl);
	assert_int_equal(classes(tl), 4);
	assert_int_equal(sl_timeline_advance(tl, 120, NULL), 0);
	valid(tl);
	assert_int_equal(classes(tl), 3);	/* 1 and 2 have the same future */
	assert_int_equal(sl_timeline_advance(tl, 160, NULL), 0);
	valid(tl);
	assert_int_equal(classes(tl), 2);	/* 0 and 3 as well */
	assert_int_equal(sl_timeline_advance(tl, 10000, NULL), 0);
	valid(tl);
	assert_int_equal(classes(tl), 1);
	assert_int_equal(book(tl, "3", 8, 0, 10001), 0);
	assert_int_equal(cores(tl, 3, 10000, 10001), 0);
	assert_int_equal(sl_timeline_now(tl), 10000);
	sl_timeline_destroy(tl);
}

static void a_rollback_takes_back_what_came_after_the_mark(void **state)
{
	struct sl_timeline *tl = machine(8);
	uint32_t outer, inner;

	(void) state;
	assert_int_equal(book(tl, "0-1", 8, 100, 200), 0);
	outer = sl_timeline_mark(tl);
	assert_int_equal(book(tl, "2-5", 8, 100, 200), 0);
	inner = sl_timeline_mark(tl);
	assert_int_equal(unbook(tl, "0-3", 8, 100, 200), 0);
	assert_int_equal(book(tl, "7", 1, 300, 400), 0);
	assert_int_equal(sl_timeline_advance(tl, 110, NULL), -1);
	sl_timeline_rollback(tl, inner);
	valid(tl);
	assert_int_equal(cores(tl, 3, 100, 101), 0);
	assert_int_equal(cores(tl, 7, 300, 301), 8);
	inner = sl_timeline_mark(tl);
	assert_int_equal(book(tl, "7", 2, 300, 400), 0);
	sl_timeline_release(tl, inner);
	assert_int_equal(cores(tl, 7, 300, 301), 6);
	sl_timeline_rollback(tl, outer);
	valid(tl);
	assert_int_equal(cores(tl, 7, 300, 301), 8);
	assert_int_equal(cores(tl, 2, 100, 101), 8);
	assert_int_equal(cores(tl, 1, 100, 101), 0);
	assert_int_equal(classes(tl), 2);
	assert_int_equal(sl_timeline_advance(tl, 110, NULL), 0);
	sl_timeline_destroy(tl);
}

static void marks_beyond_the_ceiling_are_refused_not_confused(void **state)
{
	struct sl_timeline *tl = machine(1);
	uint32_t first = sl_timeline_mark(tl);

	(void) state;
	for (int i = 1; i < SL_OPEN_MARKS; i++)
		assert_int_not_equal(sl_timeline_mark(tl), SL_NO_MARK);
	assert_int_equal(sl_timeline_mark(tl), SL_NO_MARK);
	assert_int_equal(book(tl, "0", 1, 100, 200), 0);
	sl_timeline_rollback(tl, SL_NO_MARK);
	assert_int_equal(cores(tl, 0, 100, 101), 7);
	sl_timeline_rollback(tl, first);
	assert_int_equal(cores(tl, 0, 100, 101), 8);
	valid(tl);
	sl_timeline_destroy(tl);
}

static void kinds_keep_nodes_apart_unless_they_differ_in_nothing(void **state)
{
	const struct sl_node_kind kind[] = {
		{ .id = 1, .capacity = { .cores = 4 }, .weight = 1 },
		{ .id = 2, .capacity = { .cores = 4 }, .weight = 1 },
		{ .id = 1, .capacity = { .cores = 4 }, .weight = 1 },
		{ .id = 1, .capacity = { .cores = 4 }, .weight = 9 },
	};
	const uint32_t kind_of[] = { 3, 0, 1, 2, 0 };
	struct sl_timeline *tl = sl_timeline_create(5, kind_of, kind, 4, 0, NULL);
	struct sl_nodeset within = set("1-3");
	const struct sl_class *c;

	(void) state;
	assert_non_null(tl);
	valid(tl);
	assert_int_equal(classes(tl), 3);
	assert_int_equal(sl_timeline_kind(tl, 0)->weight, 9);
	assert_int_equal(sl_timeline_classes(tl, &within, 0, 10, &c, NULL), 2);
	assert_int_equal(c[0].nodes->count, 2);
	assert_int_equal(c[0].nodes->run[1].first, 3);
	assert_int_equal(c[0].kind->id, 1);
	assert_int_equal(c[1].kind->id, 2);
	assert_int_equal(sl_timeline_classes(tl, NULL, 0, 10, &c, NULL), 3);
	assert_int_equal(c[0].kind->weight, 9);
	assert_int_equal(c[1].nodes->count, 3);
	sl_nodeset_free(&within);
	sl_timeline_destroy(tl);
}

static void instants_at_which_less_is_free_are_told_of_each_class_and_of_all(void **state)
{
	struct sl_timeline *tl = machine(10);
	const struct sl_class *c;
	struct sl_resources left;
	uint32_t at = 0, room = 0;
	int64_t t, *breaks = NULL;

	(void) state;
	assert_int_equal(book(tl, "0-3", 2, 100, 300), 0);	/* more is free at 300: no instant */
	assert_int_equal(book(tl, "0-3", 4, 150, 200), 0);
	assert_int_equal(block(tl, "0-3", 180, 190), 0);
	assert_int_equal(book(tl, "4", 3, 150, 180), 0);
	assert_int_equal(book(tl, "5-9", 8, 100, 400), 0);
	assert_int_equal(sl_timeline_open_classes(tl, 101, &c, NULL), 2);
	c += c->nodes->count == 1;
	assert_int_equal(c->nodes->count, 4);
	assert_int_equal(c->free.cores, 6);
	assert_true(sl_timeline_less(tl, c->number, &at, &t, &left) && t == 100 && left.cores == 6);
	assert_true(sl_timeline_less(tl, c->number, &at, &t, &left) && t == 150 && left.cores == 2);
	assert_true(sl_timeline_less(tl, c->number, &at, &t, &left) && t == 180 && left.cores == 0);
	assert_false(sl_timeline_less(tl, c->number, &at, &t, &left));
	assert_int_equal(sl_timeline_breaks(tl, &breaks, &room, NULL), 2);
	assert_int_equal(breaks[0], 150);
	assert_int_equal(breaks[1], 180);
	free(breaks);
	assert_int_equal(sl_timeline_open_classes(tl, 151, &c, NULL), 2);
	assert_int_equal(sl_timeline_open_classes(tl, 181, &c, NULL), 1);
	sl_timeline_destroy(tl);
}

static void what_is_free_now_is_known_at_once(void **state)
{
	struct sl_timeline *tl = machine(10);
	struct sl_free_now f;

	(void) state;
	assert_int_equal(book(tl, "0-3", 8, 100, 200), 0);
	assert_int_equal(book(tl, "4", 3, 100, 150), 0);
	assert_int_equal(book(tl, "5", 8, 120, 150), 0);
	assert_int_equal(block(tl, "9", 100, 130), 0);
	sl_timeline_free_now(tl, &f);
	assert_int_equal(f.cores, 5 + 4 * 8);
	assert_int_equal(f.nodes, 5);
	assert_int_equal(f.idle_nodes, 4);
	assert_int_equal(sl_timeline_advance(tl, 140, NULL), 0);
	sl_timeline_free_now(tl, &f);
	assert_int_equal(f.cores, 5 + 4 * 8);
	assert_int_equal(f.nodes, 5);
	sl_timeline_destroy(tl);
}

/* -- against every node at every instant -------------------------------- */

#define NODES 12
#define SPAN 40		/* seconds that the reference knows; the last one lasts for ever */

struct reference {
	struct sl_resources cap[NODES];
	struct sl_resources free[NODES][SPAN];
	int blocks[NODES][SPAN];
};

struct world {
	struct sl_timeline *tl;
	struct reference now, marked[8];
	uint32_t mark[8];
	int marks;
};

static void create_world(struct world *w)
{
	struct sl_node_kind kind[3];
	uint32_t kind_of[NODES], kinds = 1 + below(3);

	memset(kind, 0, sizeof(kind));
	for (uint32_t k = 0; k < kinds; k++) {
		kind[k].id = below(2);
		kind[k].weight = below(2);
		kind[k].capacity.cores = 1 + below(4);
		kind[k].capacity.memory = 10 * (1 + below(3));
		kind[k].capacity.gres[0] = below(3);
		kind[k].capacity.gres[7] = below(2);
	}
	for (uint32_t n = 0; n < NODES; n++) {
		kind_of[n] = below(kinds);
		w->now.cap[n] = kind[kind_of[n]].capacity;
		for (int t = 0; t < SPAN; t++) {
			w->now.free[n][t] = w->now.cap[n];
			w->now.blocks[n][t] = 0;
		}
	}
	w->marks = 0;
	w->tl = sl_timeline_create(NODES, kind_of, kind, kinds, 0, NULL);
	assert_non_null(w->tl);
}

static void add(struct sl_resources *a, const struct sl_resources *b, int sign)
{
	a->cores += sign * b->cores;
	a->memory += sign * b->memory;
	for (int k = 0; k < SL_MAX_GRES; k++)
		a->gres[k] += sign * b->gres[k];
}

/* Does the reference allow it?  And do it.  *sign*: -1 book, 1 give back, -2 book beneath blocks. */
static int refer(struct world *w, const struct sl_nodeset *s, const struct sl_resources *each, int sign, int blocks,
		 int64_t t0, int64_t t1)
{
	struct reference *r = &w->now;
	int from = (int) (t0 < sl_timeline_now(w->tl) ? sl_timeline_now(w->tl) : t0);
	int to = t1 >= SPAN ? SPAN : (int) t1;

	if (!blocks && sl_resources_equal(each, &(struct sl_resources) { 0 }))
		return 0;	/* nothing is free everywhere */
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t n = 0; n < NODES; n++) {
			for (int t = from; t < to && sl_nodeset_contains(s, n); t++) {
				struct sl_resources back = r->free[n][t];

				add(&back, each, sign < 0 ? -1 : sign);
				if (!pass && ((sign == -1 && r->blocks[n][t]) ||
					      (sign < 0 && !sl_resources_fit(each, &r->free[n][t]))))
					return -1;
				if (!pass && sign > 0 && !sl_resources_fit(&back, &r->cap[n]))
					return -1;
				if (!pass && r->blocks[n][t] + blocks < 0)
					return -1;
				if (pass) {
					r->free[n][t] = back;
					r->blocks[n][t] += blocks;
				}
			}
		}
	}
	return 0;
}

static void change(struct world *w)
{
	struct sl_nodeset s = SL_NODESET_EMPTY;
	struct sl_resources each = { .cores = below(3), .memory = below(15), .gres = { below(2) } };
	int64_t now = sl_timeline_now(w->tl), t0 = between(now > 2 ? now - 2 : 0, SPAN - 1), t1;
	int what = below(7), expected, got;

	each.gres[7] = one_in(8);
	t1 = one_in(6) ? SL_FOREVER : between(t0 + 1, SPAN);
	if (t1 == SPAN)
		t1 = SL_FOREVER;
	for (uint32_t n = below(NODES); n < NODES && s.count < 1 + below(NODES); n += 1 + below(3))
		sl_nodeset_add(&s, n, n, NULL);
	switch (what) {
	case 0:
		expected = refer(w, &s, &(struct sl_resources) { 0 }, 0, 1, t0, t1);
		got = sl_timeline_block(w->tl, &s, t0, t1, NULL);
		break;
	case 1:
		expected = refer(w, &s, &(struct sl_resources) { 0 }, 0, -1, t0, t1);
		got = sl_timeline_unblock(w->tl, &s, t0, t1, NULL);
		break;
	case 2:
		expected = refer(w, &s, &each, 1, 0, t0, t1);
		got = sl_timeline_unbook(w->tl, &s, &each, t0, t1, NULL);
		break;
	case 3:
		expected = refer(w, &s, &each, -2, 0, t0, t1);
		got = sl_timeline_book_beneath(w->tl, &s, &each, t0, t1, NULL);
		break;
	default:
		expected = refer(w, &s, &each, -1, 0, t0, t1);
		got = sl_timeline_book(w->tl, &s, &each, t0, t1, NULL);
	}
	assert_int_equal(got, expected);
	sl_nodeset_free(&s);
}

static void same_as_reference(struct world *w)
{
	int now = (int) sl_timeline_now(w->tl);
	struct sl_free_now f, g = { 0 };

	for (uint32_t n = 0; n < NODES; n++) {
		struct sl_resources least = w->now.free[n][now], got;
		int blocks = 0;

		if (!w->now.blocks[n][now]) {
			g.cores += least.cores;
			g.nodes += least.cores > 0;
			g.idle_nodes += least.cores == w->now.cap[n].cores;
		}
		for (int t = now; t < SPAN; t++) {
			sl_timeline_unbooked(w->tl, n, t, t + 1, &got);
			assert_true(sl_resources_equal(&got, &w->now.free[n][t]));
			sl_resources_min(&least, &got);
			blocks += w->now.blocks[n][t];
			sl_timeline_free(w->tl, n, now, t + 1, &got);
			if (blocks)
				assert_true(sl_resources_equal(&got, &(struct sl_resources) { 0 }));
			else
				assert_true(sl_resources_equal(&got, &least));
		}
	}
	for (int t = now; t < SPAN; t += 1 + (int) below(3)) {
		int64_t sum = 0;

		for (uint32_t n = 0; n < NODES; n++)
			sum += w->now.blocks[n][t] ? 0 : w->now.free[n][t].cores;
		assert_int_equal(sl_timeline_cores_at(w->tl, t), sum);
	}
	sl_timeline_free_now(w->tl, &f);
	assert_int_equal(f.cores, g.cores);
	assert_int_equal(f.nodes, g.nodes);
	assert_int_equal(f.idle_nodes, g.idle_nodes);
	valid(w->tl);
}

/* Two nodes are in one class if and only if they have the same kind and future. */
static void classes_are_maximal(struct world *w)
{
	uint32_t different = 0;
	int now = (int) sl_timeline_now(w->tl);

	for (uint32_t n = 0; n < NODES; n++) {
		bool seen = false;

		for (uint32_t m = 0; m < n; m++) {
			bool equal = sl_timeline_kind(w->tl, n) == sl_timeline_kind(w->tl, m);

			for (int t = now; t < SPAN; t++)
				equal &= sl_resources_equal(&w->now.free[n][t], &w->now.free[m][t]) &&
					 w->now.blocks[n][t] == w->now.blocks[m][t];
			seen |= equal;
		}
		different += !seen;
	}
	assert_int_equal(classes(w->tl), different);
}

static void step(struct world *w)
{
	int64_t now = sl_timeline_now(w->tl);

	if (one_in(9) && w->marks < 8) {
		w->marked[w->marks] = w->now;
		w->mark[w->marks++] = sl_timeline_mark(w->tl);
	} else if (one_in(7) && w->marks) {
		w->marks = below(w->marks);
		if (one_in(2)) {
			w->now = w->marked[w->marks];
			sl_timeline_rollback(w->tl, w->mark[w->marks]);
		} else {
			sl_timeline_release(w->tl, w->mark[w->marks]);
		}
	} else if (one_in(5) && !w->marks && now < SPAN - 1) {
		assert_int_equal(sl_timeline_advance(w->tl, between(now, now + 1 + below(3) > SPAN - 1 ? SPAN - 1 :
						     now + 1 + below(3)) , NULL), 0);
	} else {
		change(w);
	}
}

static void it_agrees_with_every_node_at_every_instant(void **state)
{
	uint64_t seed = number_from("SL_SEED", 7), rounds = rounds_of(60);
	static struct world w;

	(void) state;
	for (uint64_t round = 0; round < rounds; round++) {
		random_state = seed + round;
		failing_seed = random_state;
		create_world(&w);
		for (int i = 0; i < 120; i++) {
			step(&w);
			if (i % 8 == 0) {
				same_as_reference(&w);
				classes_are_maximal(&w);
			}
		}
		if (w.marks) {
			w.now = w.marked[0];
			sl_timeline_rollback(w.tl, w.mark[0]);
		}
		same_as_reference(&w);
		classes_are_maximal(&w);
		sl_timeline_destroy(w.tl);
	}
	failing_seed = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_booked_is_not_free_until_it_ends),
		cmocka_unit_test(classes_that_become_equal_are_one),
		cmocka_unit_test(a_booking_that_does_not_fit_everywhere_changes_nothing),
		cmocka_unit_test(misuse_is_refused),
		cmocka_unit_test(a_machine_beyond_the_ceilings_is_refused),
		cmocka_unit_test(the_end_may_be_open),
		cmocka_unit_test(a_block_hides_what_is_free_and_keeps_what_is_booked),
		cmocka_unit_test(time_that_passes_is_forgotten),
		cmocka_unit_test(a_rollback_takes_back_what_came_after_the_mark),
		cmocka_unit_test(marks_beyond_the_ceiling_are_refused_not_confused),
		cmocka_unit_test(kinds_keep_nodes_apart_unless_they_differ_in_nothing),
		cmocka_unit_test(instants_at_which_less_is_free_are_told_of_each_class_and_of_all),
		cmocka_unit_test(what_is_free_now_is_known_at_once),
		cmocka_unit_test_teardown(it_agrees_with_every_node_at_every_instant, say_seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
