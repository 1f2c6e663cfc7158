/* SPDX-License-Identifier: MIT */
/*
 * Plans of random policies on random clusters: what the checker says of them, and of
 * those that were tampered with; and EASY as it is written in the books.  SL_SEED and
 * SL_ROUNDS choose.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check/check.h"
#include "t/model/random_verb.h"
#include "t/model/same.h"
#include "t/random.h"
#include "t/timeline/in_order.h"

static uint64_t first_seed(void)
{
	return number_from("SL_SEED", 1);
}

/* -- random policies on random clusters ---------------------------------- */

static void random_policy(uint64_t seed)
{
	uint64_t s = seed;
	struct desk d = sit(build_random_cluster(seed, 2 + build_below(&s, 6), 5 + build_below(&s, 25)));
	struct sl_cluster *fresh;

	for (uint32_t i = 5 + build_below(&s, 60); i > 0; i--)
		random_verb(&d, &s);
	encode(&d, false);
	if (sl_check_plan(&d.b->snap, &d.plan, &d.err) < 0)
		fail_msg("seed %lu: %s", (unsigned long) seed, d.err.text);
	if (check_timeline(sl_cluster_timeline(d.c), &d.err) < 0)
		fail_msg("seed %lu: %s", (unsigned long) seed, d.err.text);
	sl_plan_destroy(d.p);
	d.p = NULL;
	fresh = sl_cluster_create(&d.b->snap, &d.err);
	assert_non_null(fresh);
	must_equal(d.c, fresh, seed);
	sl_cluster_destroy(fresh);
	leave(&d);
}

static void every_plan_of_any_policy_passes_the_checker_and_leaves_no_trace(void **state)
{
	/* what one in a hundred thousand policies makes: layouts with open and odd picks; tasks of sockets on nodes that are
	 * least loaded */
	static const uint64_t rare[] = { 107314, 169238, 44922 };
	uint64_t from = first_seed(), end = from + rounds_of(3000);

	(void) state;
	for (size_t i = 0; i < sizeof(rare) / sizeof(rare[0]); i++)
		random_policy(rare[i]);
	for (uint64_t seed = from; seed < end; seed++)
		random_policy(seed);
}

/* Jobs of a few tasks on equal nodes. */
static struct build *some_tasks(uint64_t *s)
{
	struct build *b = build_create(build_below(s, 2) ? "6x8c2g" : "6x8c2t2g");

	if (!build_below(s, 3))
		b->meta.select_flags = SL_SELECT_ONE_TASK_PER_CORE;
	for (uint32_t id = 1; id <= 20; id++)
		build_pending(b, (struct build_job) { .id = id, .max_nodes = 3, .tasks = 1 + build_below(s, 8),
			      .cpus_per_task = 1 + build_below(s, 3), .tasks_per_node = build_below(s, 3) ? 0 : 1 + build_below(s, 4),
			      .gpus = build_below(s, 2), .limit = 600 });
	return b;
}

/* Layouts that say cores and tasks, or one of them, or neither: what is started passes the checker. */
static void layouts_that_say_tasks_pass_the_checker_or_do_not_fit(void **state)
{
	uint32_t started = 0;

	(void) state;
	for (uint64_t seed = first_seed(), end = seed + rounds_of(1000); seed < end; seed++) {
		uint64_t s = ~seed;
		struct desk d = sit(some_tasks(&s));

		for (uint32_t i = 0; i < 60; i++) {
			struct sl_pick pick[3];
			struct sl_how how = { .method = SL_PLACE_EXPLICIT, .picks = pick };
			uint32_t id = 1 + build_below(&s, 20), most = 1 + build_below(&s, 3);

			for (uint32_t n = build_below(&s, 4); how.count < most; n++)
				pick[how.count++] = (struct sl_pick) { n, build_below(&s, 8), build_below(&s, 5) };
			started += checked(&d, sl_plan_start(d.p, entry(&d, id), &(struct sl_terms) { .how = &how }, &d.why, &d.err)) == 1;
		}
		encode(&d, false);
		if (sl_check_plan(&d.b->snap, &d.plan, &d.err) < 0)
			fail_msg("seed %lu: %s", (unsigned long) seed, d.err.text);
		leave(&d);
	}
	assert_true(started > rounds_of(1000));
}

/* Any row of that table, or none. */
static uint32_t odd_row(struct build *b, uint64_t *s, int table)
{
	uint32_t rows = sl_builder_rows(b->builder, table);

	return rows && build_below(s, 4) ? build_below(s, rows) : SL_NONE;
}

/* A number that nobody expects in a row that nobody would write. */
static void spoil(struct build *b, uint64_t *s)
{
	static const int64_t odd[] = { 0, 1, -1, 2, 59, 60, 65535, 65536, INT32_MAX, UINT32_MAX, BUILD_NOW,
		BUILD_NOW - 1, INT64_MAX, INT64_MAX - 1, INT64_MIN, INT64_MIN + 1, INT64_C(1) << 40 };
	union { struct sl_job_row job; char bytes[1024]; int64_t align; } row;
	uint32_t table = build_below(s, SL_SNAPSHOT_TABLES), rows = sl_builder_rows(b->builder, (int) table);
	const struct sl_table *t = &sl_snapshot_schema.table[table];
	const struct sl_column *col = &t->column[build_below(s, t->columns)];
	int64_t value = odd[build_below(s, sizeof(odd) / sizeof(odd[0]))];
	uint32_t at;

	if (!rows || table == SL_T_META)
		return;
	at = build_below(s, rows);
	sl_builder_row(b->builder, (int) table, at, &row);
	if (col->type == SL_TYPE_i64)
		memcpy(row.bytes + col->row_offset, &value, sizeof(value));
	else if (col->type == SL_TYPE_u32 && !sl_schema_words(&sl_snapshot_schema, (int) table,
							     (uint32_t) (col - t->column)))
		memcpy(row.bytes + col->row_offset, &(uint32_t) { (uint32_t) value }, sizeof(uint32_t));
	else if (col->type == SL_TYPE_ref)
		memcpy(row.bytes + col->row_offset, &(uint32_t) { odd_row(b, s, col->target) }, sizeof(uint32_t));
	sl_builder_update(b->builder, (int) table, at, &row);
}

static void odd_numbers_in_a_snapshot_do_no_harm(void **state)
{
	uint32_t tried = 0;

	(void) state;
	for (uint64_t seed = first_seed(), end = seed + rounds_of(3000); seed < end; seed++) {
		struct build *b = build_random_cluster(seed, 5, 20);
		struct desk d = { .b = b };
		uint64_t s = ~seed;
		const void *bytes;
		size_t size;

		for (int i = 0; i < 4; i++)
			spoil(b, &s);
		sl_builder_update(b->builder, SL_T_META, 0, &b->meta);
		checked(&d, sl_builder_finish(b->builder, &bytes, &size, &d.err));
		b->bytes = malloc(size);
		memcpy(b->bytes, bytes, size);
		if (sl_snapshot_open(&b->snap, b->bytes, size, &d.err) < 0 ||
		    !(d.c = sl_cluster_create(&b->snap, &d.err))) {
			build_destroy(b);
			continue;
		}
		tried++;
		d.p = sl_plan_create(d.c, &d.err);
		assert_non_null(d.p);
		for (int i = 0; i < 40; i++)
			random_verb(&d, &s);
		encode(&d, false);
		if (sl_check_plan(&b->snap, &d.plan, &d.err) < 0)
			fail_msg("seed %lu: %s", (unsigned long) seed, d.err.text);
		leave(&d);
	}
	assert_true(tried > rounds_of(3000) / 2);
}

static void the_same_decisions_make_the_same_bytes(void **state)
{
	(void) state;
	for (uint64_t seed = first_seed(), end = seed + rounds_of(100); seed < end; seed++) {
		void *bytes = NULL;
		size_t size = 0;

		for (int turn = 0; turn < 2; turn++) {
			struct desk d = sit(build_random_cluster(seed, 6, 25));
			uint64_t s = seed;

			for (int i = 0; i < 40; i++)
				random_verb(&d, &s);
			encode(&d, false);
			if (turn && (d.size != size || memcmp(d.bytes, bytes, size)))
				fail_msg("seed %lu: another plan", (unsigned long) seed);
			if (!turn) {
				bytes = malloc(d.size);
				memcpy(bytes, d.bytes, size = d.size);
			}
			leave(&d);
		}
		free(bytes);
	}
}

/* -- EASY as it is written in the books ---------------------------------- */

struct simple {			/* a job on a machine of single processors */
	uint32_t nodes;
	int64_t seconds;	/* that it runs, or still runs */
};

/* Lifka's rule, counting processors: start in order; the first that cannot start gets
 * the shadow time and the extra processors; later ones start if they end by then or
 * need no more than the extra ones. */
static void by_the_book(uint32_t procs, const struct simple *run, uint32_t runs, const struct simple *job,
			uint32_t jobs, bool *started, int64_t *shadow)
{
	struct simple held[64];
	uint32_t n = 0, free_now = procs, extra = 0;
	bool head = false;

	for (uint32_t i = 0; i < runs; free_now -= run[i++].nodes)
		held[n++] = run[i];
	for (uint32_t j = 0; j < jobs; j++) {
		uint32_t will = free_now;

		started[j] = job[j].nodes <= free_now && (!head || job[j].seconds <= *shadow || job[j].nodes <= extra);
		if (started[j]) {
			if (head && job[j].seconds > *shadow)
				extra -= job[j].nodes;
			free_now -= job[j].nodes;
			held[n++] = job[j];
			continue;
		}
		if (head)
			continue;
		head = true;
		for (*shadow = 0; will < job[j].nodes; ) {	/* the next end */
			int64_t next = INT64_MAX;

			for (uint32_t i = 0; i < n; i++)
				if (held[i].seconds > *shadow && held[i].seconds < next)
					next = held[i].seconds;
			for (uint32_t i = 0; i < n; i++)
				will += held[i].seconds == next ? held[i].nodes : 0;
			*shadow = next;
		}
		extra = will - job[j].nodes;
	}
}

static void easy_decides_as_the_book_does(void **state)
{
	(void) state;
	for (uint64_t seed = first_seed(), end = seed + rounds_of(500); seed < end; seed++) {
		struct build *b = build_create("24x1c");
		struct simple run[8], job[30];
		bool started[30];
		uint64_t s = seed;
		uint32_t used = 0, runs = 0;
		int64_t shadow = -1, at;
		bool head = false;
		struct desk d;

		for (; runs < 8; runs++, used += run[runs - 1].nodes) {
			run[runs] = (struct simple) { 1 + build_below(&s, 6), 1 + build_below(&s, 400) };
			if (used + run[runs].nodes > 24)
				break;
			build_running(b, (struct build_job) { .id = 100 + runs, .first = used,
				      .nodes = run[runs].nodes, .ends_in = run[runs].seconds });
		}
		for (uint32_t j = 0; j < 30; j++) {
			job[j] = (struct simple) { 1 + build_below(&s, 12), 1 + build_below(&s, 500) };
			build_pending(b, (struct build_job) { .id = j + 1, .nodes = job[j].nodes,
				      .limit = job[j].seconds });
		}
		by_the_book(24, run, runs, job, 30, started, &shadow);
		d = sit(b);
		for (uint32_t j = 0; j < 30; j++) {
			int rc = head ? backfill(&d, j + 1) : start(&d, j + 1);

			if (rc != started[j])
				fail_msg("seed %lu: job %u is %sstarted", (unsigned long) seed, j + 1,
					 rc ? "" : "not ");
			if (rc || head)
				continue;
			head = reserve(&d, j + 1);
			at = d.at;
			if (at != shadow)
				fail_msg("seed %lu: shadow time %ld, by the book %ld", (unsigned long) seed, (long) at,
					 (long) shadow);
		}
		accepted(&d);
		leave(&d);
	}
}

/* -- plans that were tampered with --------------------------------------- */

static void refused(struct desk *d, uint64_t seed, const char *what, const char *words)
{
	const void *bytes;
	struct sl_plan_image p;
	size_t size;

	checked(d, sl_builder_finish(d->image, &bytes, &size, &d->err));
	checked(d, sl_plan_image_open(&p, bytes, size, &d->err));
	if (!sl_check_plan(&d->b->snap, &p, &d->err))
		fail_msg("seed %lu: %s: not noticed", (unsigned long) seed, what);
	if (words && !strstr(d->err.text, words))
		fail_msg("seed %lu: %s: \"%s\" has no \"%s\"", (unsigned long) seed, what, d->err.text, words);
	if (strncmp(d->err.text, "job ", 4))
		fail_msg("seed %lu: %s: \"%s\" names no job", (unsigned long) seed, what, d->err.text);
}

static void tamper_place(struct desk *d, uint64_t seed, struct sl_plan_start_row *row)
{
	const struct sl_snapshot *s = &d->b->snap;
	struct sl_plan_place_row place, other;
	uint32_t at = row->places.first, i, sharers = 1;

	for (i = 0; i < s->partition.rows; i++)	/* of whichever partition the node is, besides the job's */
		if (s->partition.oversubscribe[i] > sharers)
			sharers = s->partition.oversubscribe[i];
	sl_builder_row(d->image, SL_P_PLACE, at, &place);
	other = place;
	other.cores = s->node.cores[place.node] * sharers + s->node.core_spec[place.node] + 1;
	sl_builder_update(d->image, SL_P_PLACE, at, &other);
	refused(d, seed, "more cores than the node has", NULL);
	for (i = 0; i < s->node.rows; i++)
		if (s->node.state[i] & SL_NODE_UNUSABLE)
			break;
	other = place;
	other.node = i;
	sl_builder_update(d->image, SL_P_PLACE, at, &other);
	refused(d, seed, "a dead node, or one that is none", NULL);
	sl_builder_update(d->image, SL_P_PLACE, at, &place);
}

static void tampering_is_noticed(void **state)
{
	(void) state;
	for (uint64_t seed = first_seed(), end = seed + rounds_of(500); seed < end; seed++) {
		struct desk d = sit(build_random_cluster(seed, 6, 25));
		struct sl_plan_start_row row, twin;
		uint64_t s = seed;
		uint32_t i, tasks;

		for (int k = 0; k < 40; k++)
			random_verb(&d, &s);
		encode(&d, false);
		if (d.plan.start.rows) {
			i = build_below(&s, d.plan.start.rows);
			sl_builder_row(d.image, SL_P_START, i, &row);
			if (d.b->snap.partition.oversubscribe[row.partition])
				tamper_place(&d, seed, &row);
			twin = row;
			twin.stamp++;
			sl_builder_update(d.image, SL_P_START, i, &twin);
			refused(&d, seed, "another stamp", "has stamp");
			twin = row;
			twin.time_limit = SL_UNLIMITED - 1;
			sl_builder_update(d.image, SL_P_START, i, &twin);
			if (sl_check_plan(&d.b->snap, &d.plan, &d.err) == 0 &&
			    d.b->snap.partition.max_time[row.partition] != SL_UNLIMITED &&
			    !(d.b->snap.job.flags[build_job_row(d.b, row.job)] & SL_JOBF_ANY_TIME))
				refused(&d, seed, "more time", "gets");
			sl_builder_update(d.image, SL_P_START, i, &row);
			for (tasks = 0; tasks < 5; tasks++) {	/* no array here has more */
				twin = row;
				twin.places = twin.lenders = (struct sl_range) { 0, 0 };
				sl_builder_append(d.image, SL_P_START, &twin);
			}
			refused(&d, seed, "a job again and again", NULL);
		}
		leave(&d);
	}
}

/* Some row of the plan is of another node, has other cores, or is of another job. */
static void spoil_plan(struct desk *d, uint64_t *s)
{
	bool start = d->plan.start.rows && build_below(s, 3);
	uint32_t at = build_below(s, (start ? d->plan.start.rows : d->plan.reserve.rows) + 1);
	struct sl_plan_reserve_row reserve;
	struct sl_plan_place_row place;
	struct sl_plan_start_row row;

	if (sl_builder_row(d->image, SL_P_RESERVE, at, &reserve) && !start)
		return;
	if (start && sl_builder_row(d->image, SL_P_START, at, &row))
		return;
	if (!build_below(s, 5)) {
		row.job += build_below(s, 4);
		if (start)
			sl_builder_update(d->image, SL_P_START, at, &row);
		return;
	}
	at = start ? row.places.first : reserve.places.first;
	sl_builder_row(d->image, SL_P_PLACE, at, &place);
	place.node = build_below(s, d->b->snap.node.rows);
	place.cores = 1 + build_below(s, 12);
	sl_builder_update(d->image, SL_P_PLACE, at, &place);
}

/* The plan without the rows that are refused is whole: it has all of the other rows, and nothing is wrong with
 * it. */
static void must_be_whole(struct desk *d, const struct sl_plan_image *plan, const struct sl_plan_image *rest,
			  const struct sl_cuts *cuts, uint64_t seed)
{
	uint32_t lost = 0;

	if (sl_check_plan(&d->b->snap, rest, &d->err) < 0)
		fail_msg("seed %lu: the rest: %s", (unsigned long) seed, d->err.text);
	for (uint32_t i = 0; i < cuts->count; i++)
		lost += cuts->cut[i].table == SL_P_START || cuts->cut[i].table == SL_P_RESERVE;
	assert_int_equal(rest->start.rows + rest->reserve.rows + lost, plan->start.rows + plan->reserve.rows);
	assert_int_equal(rest->refused.rows, cuts->count);
	assert_int_equal(rest->log.rows, plan->log.rows);
	if (!cuts->count)
		return;
	for (uint32_t i = 0; i < rest->pending.rows; i++)
		if (rest->pending.why[i] == SL_WHY_CHECK)
			return;
	for (uint32_t i = 0; i < cuts->count; i++)
		if (cuts->cut[i].waits)
			fail_msg("seed %lu: nobody is told", (unsigned long) seed);
}

static void whatever_rows_are_wrong_the_others_are_left(void **state)
{
	uint32_t spoilt = 0, kept = 0;

	(void) state;
	for (uint64_t seed = first_seed(), end = seed + rounds_of(1000); seed < end; seed++) {
		struct desk d = sit(build_random_cluster(seed, 6, 25));
		struct sl_builder *b = sl_builder_create(&sl_plan_schema, &d.err);
		struct sl_plan_image plan, rest;
		struct sl_cuts cuts = { 0 };
		const void *bytes;
		uint64_t s = seed;
		size_t size;

		for (int k = 0; k < 40; k++)
			random_verb(&d, &s);
		encode(&d, false);
		for (uint32_t i = build_below(&s, 6); i > 0; i--)
			spoil_plan(&d, &s);
		checked(&d, sl_builder_finish(d.image, &bytes, &size, &d.err));
		checked(&d, sl_plan_image_open(&plan, bytes, size, &d.err));
		checked(&d, sl_check_rows(&d.b->snap, &plan, &cuts, &d.err));
		checked(&d, sl_plan_cut(&plan, &cuts, NULL, b, &d.err));
		checked(&d, sl_builder_finish(b, &bytes, &size, &d.err));
		checked(&d, sl_plan_image_open(&rest, bytes, size, &d.err));
		must_be_whole(&d, &plan, &rest, &cuts, seed);
		spoilt += cuts.count > 0;
		kept += cuts.count && rest.start.rows;
		sl_cuts_free(&cuts);
		sl_builder_destroy(b);
		leave(&d);
	}
	assert_true(spoilt > rounds_of(1000) / 3);
	assert_true(kept > rounds_of(1000) / 30);
}

/* A reservation on an otherwise empty plan is the earliest there is: a second before,
 * its nodes are not free. */
static void a_reservation_moved_forward_is_noticed(void **state)
{
	uint32_t moved = 0;

	(void) state;
	for (uint64_t seed = first_seed(), end = seed + rounds_of(300); seed < end; seed++) {
		struct build *b = build_create("5x8c2g");
		uint64_t s = seed;
		struct desk d;

		for (uint32_t i = 0; i < 5; i++)
			if (build_below(&s, 4))
				build_running(b, (struct build_job) { .id = 100 + i, .first = i, .exclusive = true,
					      .ends_in = 1 + build_below(&s, 500) });
		for (uint32_t i = 0; i < 12; i++)
			build_pending(b, (struct build_job) { .id = i + 1, .nodes = 1 + build_below(&s, 5),
				      .limit = 1 + build_below(&s, 300), .tasks = 5 + build_below(&s, 30),
				      .exclusive = build_below(&s, 2) });
		d = sit(b);
		for (uint32_t id = 1; id <= 12; id++) {
			struct sl_plan_reserve_row row;
			uint32_t last;

			if (!reserve(&d, id) || !d.at)
				continue;
			accepted(&d);
			last = d.plan.reserve.rows - 1;
			sl_builder_row(d.image, SL_P_RESERVE, last, &row);
			row.start_time--;
			sl_builder_update(d.image, SL_P_RESERVE, last, &row);
			refused(&d, seed, "a second earlier", "in use");
			moved++;
		}
		leave(&d);
	}
	assert_true(moved > 3 * rounds_of(300));
}

/* As conservative does: when it is to start, from some time on, or why never. */
static const char *place_in_turn(struct desk *d, struct sl_entry e, int64_t from, int64_t *at)
{
	const struct sl_terms terms = { .from = from };

	*at = sl_cluster_now(d->c);
	if ((from <= *at && checked(d, sl_plan_start(d->p, e, NULL, &d->why, &d->err))) ||
	    checked(d, sl_plan_reserve(d->p, e, &terms, at, &d->why, &d->err)))
		return "";
	*at = -1;
	return sl_refusal_text(&d->why);
}

/* Another policy's turn begins with nothing known of what was refused.  Jobs that are to start later. */
static uint64_t place_knowing_and_not(uint64_t seed)
{
	uint64_t s = seed, later = 0;
	uint32_t nodes = 2 + build_below(&s, 6), jobs = 5 + build_below(&s, 60), count;
	struct desk knows = sit(build_random_cluster(seed, nodes, jobs));
	struct desk forgets = sit(build_random_cluster(seed, nodes, jobs));
	const struct sl_entry *queue = sl_cluster_queue(knows.c, &count);

	for (uint32_t i = 0; i < count; i++) {
		int64_t at, again, from = build_below(&s, 3) ? 0 : BUILD_NOW + build_below(&s, 7200);
		const char *why, *why_again;

		sl_plan_set_policy(forgets.p, "another");
		why = place_in_turn(&knows, queue[i], from, &at);
		why_again = place_in_turn(&forgets, queue[i], from, &again);
		if (at != again || strcmp(why, why_again) != 0)
			fail_msg("seed %lu, entry %u: at %ld %s, and anew at %ld %s", (unsigned long) seed, i, (long) at, why,
				 (long) again, why_again);
		later += at > sl_cluster_now(knows.c);
	}
	leave(&knows);
	leave(&forgets);
	return later;
}

static void what_was_found_before_makes_no_difference(void **state)
{
	uint64_t from = first_seed(), end = from + rounds_of(1500), later = 0;

	(void) state;
	place_knowing_and_not(6211);	/* one that starts before the time from which another was looked for */
	for (uint64_t seed = from; seed < end; seed++)
		later += place_knowing_and_not(seed);
	assert_true(later > rounds_of(1500));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_found_before_makes_no_difference),
		cmocka_unit_test(every_plan_of_any_policy_passes_the_checker_and_leaves_no_trace),
		cmocka_unit_test(layouts_that_say_tasks_pass_the_checker_or_do_not_fit),
		cmocka_unit_test(odd_numbers_in_a_snapshot_do_no_harm),
		cmocka_unit_test(the_same_decisions_make_the_same_bytes),
		cmocka_unit_test(easy_decides_as_the_book_does),
		cmocka_unit_test(tampering_is_noticed),
		cmocka_unit_test(whatever_rows_are_wrong_the_others_are_left),
		cmocka_unit_test(a_reservation_moved_forward_is_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
