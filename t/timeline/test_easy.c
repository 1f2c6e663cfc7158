/* SPDX-License-Identifier: MIT */
/*
 * On equal nodes a reservation that takes the nodes that become free latest, and
 * jobs that take the nodes that are wanted again soonest, are the classical EASY
 * backfill (Lifka 1995), which only counts: shadow time and extra nodes.  Two
 * simulations of random workloads have to start every job at the same time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "timeline/place.h"
#include "t/random.h"
#include "t/timeline/in_order.h"

#define JOBS 160

struct job {
	int64_t submit, runtime, estimate;
	uint32_t nodes;
	int64_t start;
	struct sl_layout layout;
};

struct machine {		/* what both simulations share */
	struct job job[JOBS];
	uint32_t nodes;
	uint32_t queue[JOBS], queued, next;
	uint32_t running[JOBS], runs;
	int64_t now;
};

static void random_workload(struct machine *m)
{
	int64_t t = 0;

	memset(m, 0, sizeof(*m));
	m->nodes = 1 + below(20);
	for (uint32_t i = 0; i < JOBS; i++) {
		t += one_in(3) ? 0 : below(30);
		m->job[i].submit = t;
		m->job[i].runtime = 1 + below(one_in(4) ? 200 : 40);
		m->job[i].estimate = m->job[i].runtime + (one_in(3) ? 0 : below(100));
		m->job[i].nodes = 1 + below(one_in(3) ? m->nodes : (m->nodes + 3) / 4);
	}
}

static void start_job(struct machine *m, uint32_t i)
{
	m->job[i].start = m->now;
	m->running[m->runs++] = i;
}

/* Go to the next instant; jobs that end go through *ended*. */
static bool next_instant(struct machine *m, void (*ended)(struct machine *m, uint32_t job, void *arg), void *arg)
{
	int64_t t = m->next < JOBS ? m->job[m->next].submit : INT64_MAX;

	for (uint32_t i = 0; i < m->runs; i++) {
		int64_t end = m->job[m->running[i]].start + m->job[m->running[i]].runtime;

		t = end < t ? end : t;
	}
	if (t == INT64_MAX)
		return false;
	m->now = t;
	for (uint32_t i = 0; i < m->runs;) {
		uint32_t id = m->running[i];

		if (m->job[id].start + m->job[id].runtime > t) {
			i++;
			continue;
		}
		m->running[i] = m->running[--m->runs];
		ended(m, id, arg);
	}
	while (m->next < JOBS && m->job[m->next].submit == t)
		m->queue[m->queued++] = m->next++;
	return true;
}

/* -- by counting -------------------------------------------------------- */

static void ended_counting(struct machine *m, uint32_t job, void *arg)
{
	*(uint32_t *) arg += m->job[job].nodes;
}

static int64_t shadow_of(const struct machine *m, uint32_t head, uint32_t free, uint32_t *extra)
{
	int64_t shadow = m->now;

	while (free < m->job[head].nodes) {	/* the next estimated end, all jobs that share it */
		int64_t next = INT64_MAX;

		for (uint32_t i = 0; i < m->runs; i++) {
			int64_t end = m->job[m->running[i]].start + m->job[m->running[i]].estimate;

			if (end > shadow && end < next)
				next = end;
		}
		shadow = next;
		for (uint32_t i = 0; i < m->runs; i++) {
			if (m->job[m->running[i]].start + m->job[m->running[i]].estimate == shadow)
				free += m->job[m->running[i]].nodes;
		}
	}
	*extra = free - m->job[head].nodes;
	return shadow;
}

static void simulate_counting(struct machine *m)
{
	uint32_t free = m->nodes;

	while (next_instant(m, ended_counting, &free)) {
		uint32_t kept = 0, extra = 0;
		int64_t shadow = INT64_MAX;

		for (uint32_t i = 0; i < m->queued; i++) {
			struct job *j = &m->job[m->queue[i]];
			bool long_one = kept && m->now + j->estimate > shadow;

			if (j->nodes <= free && (!long_one || j->nodes <= extra)) {
				free -= j->nodes;
				extra -= long_one ? j->nodes : 0;
				start_job(m, m->queue[i]);
				continue;
			}
			if (!kept)
				shadow = shadow_of(m, m->queue[i], free, &extra);
			m->queue[kept++] = m->queue[i];
		}
		m->queued = kept;
	}
}

/* -- with nodes ---------------------------------------------------------- */

static void ended_with_nodes(struct machine *m, uint32_t id, void *arg)
{
	struct job *j = &m->job[id];
	int64_t end = j->start + j->estimate;

	if (sl_timeline_now(arg) < m->now)
		assert_int_equal(sl_timeline_advance(arg, m->now, NULL), 0);
	if (end > m->now)
		assert_int_equal(sl_layout_unbook(arg, &j->layout, m->now, end, NULL), 0);
	sl_layout_free(&j->layout);
}

/* One pass over the queue; the head's reservation is taken back at its end. */
static void pass_with_nodes(struct machine *m, struct sl_timeline *tl)
{
	const struct sl_how how = { .method = SL_PLACE_TIGHT };
	struct sl_layout head = SL_LAYOUT_EMPTY;
	uint32_t kept = 0;
	int64_t shadow = 0, end = 0;

	for (uint32_t i = 0; i < m->queued; i++) {
		struct job *j = &m->job[m->queue[i]];
		const struct sl_request r = { .min_nodes = j->nodes, .max_nodes = j->nodes, .duration = j->estimate };

		if (sl_fit_at(tl, &r, &how, m->now, &j->layout, NULL, NULL) == 1) {
			assert_int_equal(sl_layout_book(tl, &j->layout, m->now, m->now + j->estimate, NULL), 0);
			start_job(m, m->queue[i]);
			continue;
		}
		if (!kept) {
			assert_int_equal(sl_fit_earliest(tl, &r, &how, m->now, SL_FOREVER, &shadow, &head, NULL, NULL), 1);
			end = shadow + j->estimate;
			assert_int_equal(sl_layout_book(tl, &head, shadow, end, NULL), 0);
		}
		m->queue[kept++] = m->queue[i];
	}
	m->queued = kept;
	if (kept)
		assert_int_equal(sl_layout_unbook(tl, &head, shadow, end, NULL), 0);
	sl_layout_free(&head);
}

static void simulate_with_nodes(struct machine *m)
{
	const struct sl_node_kind kind = { .capacity = { .cores = 1 }, .weight = 1 };
	uint32_t kind_of[32] = { 0 };
	struct sl_timeline *tl = sl_timeline_create(m->nodes, kind_of, &kind, 1, 0, NULL);

	assert_non_null(tl);
	while (next_instant(m, ended_with_nodes, tl)) {
		if (sl_timeline_now(tl) < m->now)
			assert_int_equal(sl_timeline_advance(tl, m->now, NULL), 0);
		pass_with_nodes(m, tl);
	}
	assert_int_equal(check_timeline(tl, NULL), 0);
	sl_timeline_destroy(tl);
}

static void backfill_with_nodes_is_backfill_by_counting(void **state)
{
	uint64_t seed = number_from("SL_SEED", 31), rounds = rounds_of(60);
	static struct machine counting, nodes;

	(void) state;
	for (uint64_t round = 0; round < rounds; round++) {
		failing_seed = random_state = seed + round;
		random_workload(&counting);
		nodes = counting;
		simulate_counting(&counting);
		simulate_with_nodes(&nodes);
		for (uint32_t i = 0; i < JOBS; i++)
			assert_int_equal(counting.job[i].start, nodes.job[i].start);
	}
	failing_seed = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(backfill_with_nodes_is_backfill_by_counting, say_seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
