/* SPDX-License-Identifier: MIT */
/*
 * Timeline and placement when memory runs out: every allocation is made to fail in
 * turn.  Each time the failure is reported, the timeline is in order and as it was,
 * and nothing leaks (the sanitizers look).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "t/failing_malloc.h"
#include "t/timeline/in_order.h"
#include "timeline/place.h"

#define NODES 160

static struct sl_timeline *machine(struct sl_error *err)
{
	const struct sl_node_kind kind[] = {
		{ .id = 1, .capacity = { .cores = 8, .memory = 100, .gres = { 2 } }, .weight = 1 },
		{ .id = 2, .capacity = { .cores = 4, .memory = 100 }, .weight = 2 },
	};
	uint32_t kind_of[NODES];

	for (uint32_t n = 0; n < NODES; n++)
		kind_of[n] = n % 7 == 3;
	return sl_timeline_create(NODES, kind_of, kind, 2, 0, err);
}

/* Runs of one node and of two, with other bookings under each. */
static int book_some(struct sl_timeline *tl, struct sl_error *err)
{
	struct sl_nodeset s = SL_NODESET_EMPTY;
	int rc = 0;

	for (uint32_t n = 0; n < NODES && !rc; n += 3) {
		const struct sl_resources each = { .cores = 1 + n % 4 };

		sl_nodeset_clear(&s);
		rc = sl_nodeset_add(&s, n, n, err) || (n + 5 < NODES && sl_nodeset_add(&s, n + 5, n + 5, err)) ||
		     sl_timeline_book(tl, &s, &each, n % 5, 20 + n % 11, err) ||
		     (n % 9 == 0 && sl_timeline_block(tl, &s, 60, 70, err));
	}
	sl_nodeset_free(&s);
	return rc ? -1 : 0;
}

/* One booking across all that, undone again. */
static int book_all(struct sl_timeline *tl, struct sl_error *err)
{
	struct sl_nodeset s = SL_NODESET_EMPTY;
	const struct sl_resources each = { .memory = 10 };
	uint32_t mark = sl_timeline_mark(tl);
	int rc = sl_nodeset_add(&s, 61, NODES - 2, err) || sl_nodeset_add(&s, 1, 49, err) ||
		 sl_timeline_book(tl, &s, &each, 10, 50, err) || sl_timeline_unbook(tl, &s, &each, 15, 30, err);

	sl_timeline_rollback(tl, mark);
	sl_nodeset_free(&s);
	return rc ? -1 : 0;
}

static int place_all(struct sl_timeline *tl, struct sl_error *err)
{
	struct sl_nodeset eligible = SL_NODESET_EMPTY, required = SL_NODESET_EMPTY;
	struct sl_layout l = SL_LAYOUT_EMPTY;
	struct sl_request r = { .min_nodes = 3, .max_nodes = 60, .tasks = 140, .duration = 5, .eligible = &eligible };
	int rc = sl_nodeset_add(&eligible, 2, 8, err) || sl_nodeset_add(&eligible, 10, NODES - 1, err) ||
		 sl_nodeset_add(&required, 20, 22, err);

	for (int m = 0; m < SL_PLACE_EXPLICIT && !rc; m++) {
		const struct sl_how how = { .method = m };
		uint32_t mark = sl_timeline_mark(tl);
		int64_t start;

		r.required = m % 2 ? &required : NULL;
		r.tasks = m == SL_PLACE_CONTIGUOUS ? 20 : 140;
		rc = sl_fit_at(tl, &r, &how, 7, &l, NULL, err) < 0 ||
		     sl_fit_earliest(tl, &r, &how, 0, SL_FOREVER, &start, &l, NULL, err) < 0 ||
		     sl_layout_book(tl, &l, start, start + 5, err);
		if (!rc) {
			assert_true(l.nodes >= 3);
			rc = sl_layout_unbook(tl, &l, start, start + 5, err);
		}
		sl_timeline_rollback(tl, mark);
	}
	sl_nodeset_free(&eligible);
	sl_nodeset_free(&required);
	sl_layout_free(&l);
	return rc ? -1 : 0;
}

static int ask_classes(struct sl_timeline *tl, struct sl_error *err)
{
	struct sl_nodeset within = SL_NODESET_EMPTY;
	const struct sl_class *c;
	int rc = sl_nodeset_add(&within, 10, 99, err) || sl_timeline_classes(tl, &within, 5, 15, &c, err) < 0;

	sl_nodeset_free(&within);
	return rc ? -1 : 0;
}

static uint64_t state_of(const struct sl_timeline *tl)
{
	uint64_t h = 1;

	for (uint32_t n = 0; n < NODES; n++) {
		for (int64_t t = 0; t < 80; t++) {
			struct sl_resources r;

			sl_timeline_free(tl, n, t, t + 1, &r);
			h = (h ^ (uint64_t) (r.cores * 1000 + r.memory)) * 0x100000001b3u;
		}
	}
	return h;
}

/* Let the nth allocation of *work* fail, for n = 0, 1, ... until none does. */
static void fail_in_turn(int (*work)(struct sl_timeline *tl, struct sl_error *err))
{
	for (long n = 0; n < 10000; n++) {
		struct sl_timeline *tl = machine(NULL);
		struct sl_error err = { .code = SL_OK };
		uint64_t before;
		int rc;

		assert_int_equal(book_some(tl, NULL), 0);
		before = state_of(tl);
		countdown = n;
		rc = work(tl, &err);
		n = countdown < 0 ? n : 10000;
		countdown = -1;
		if (check_timeline(tl, &err))
			fail_msg("%s", err.text);
		assert_true(state_of(tl) == before);
		sl_timeline_destroy(tl);
		assert_int_equal(rc, n < 10000 ? -1 : 0);
		assert_int_equal(err.code, n < 10000 ? SL_ENOMEM : SL_OK);
	}
}

static void a_booking_without_memory_changes_nothing(void **state)
{
	(void) state;
	fail_in_turn(book_all);
}

static void a_placement_without_memory_says_so(void **state)
{
	(void) state;
	fail_in_turn(place_all);
}

static void classes_without_memory_say_so(void **state)
{
	(void) state;
	fail_in_turn(ask_classes);
}

static void a_machine_without_memory_is_not_made(void **state)
{
	long n = 0, left = -1;

	(void) state;
	for (; n < 1000 && left < 0; n++) {
		struct sl_timeline *tl;
		struct sl_error err = { .code = SL_OK };

		countdown = n;
		tl = machine(&err);
		left = countdown;
		countdown = -1;
		assert_int_equal(err.code, tl ? SL_OK : SL_ENOMEM);
		assert_int_equal(tl == NULL, left < 0);
		sl_timeline_destroy(tl);
	}
	assert_true(n > 3 && n < 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_booking_without_memory_changes_nothing),
		cmocka_unit_test(a_placement_without_memory_says_so),
		cmocka_unit_test(classes_without_memory_say_so),
		cmocka_unit_test(a_machine_without_memory_is_not_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
