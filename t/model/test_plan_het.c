/* SPDX-License-Identifier: MIT */
/*
 * Heterogeneous jobs: components that are in each other's way, whichever of them is placed first; against all
 * that there is to try on small machines.  SL_SEED and SL_ROUNDS choose.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "t/model/desk.h"
#include "t/random.h"

#define MOST_NODES 7
#define MOST_COMPONENTS 5

/* -- a machine and a job --------------------------------------------------- */

struct world {
	uint32_t nodes, components;
	uint32_t cores[MOST_NODES], gpus[MOST_NODES];
	int64_t busy[MOST_NODES];	/* seconds until the node is free; 0: it is */
	uint32_t wants[MOST_COMPONENTS], wants_cores[MOST_COMPONENTS], wants_gpus[MOST_COMPONENTS];
};

static struct world random_world(uint64_t *s)
{
	struct world w = { .nodes = 2 + build_below(s, MOST_NODES - 1), .components = 2 + build_below(s, MOST_COMPONENTS - 1) };

	for (uint32_t n = 0; n < w.nodes; n++) {
		w.cores[n] = 4 + 4 * build_below(s, 2);
		w.gpus[n] = build_below(s, 2) * 2;
		w.busy[n] = build_below(s, 3) ? 0 : 300 * (1 + build_below(s, 4));
	}
	for (uint32_t c = 0; c < w.components; c++) {
		w.wants[c] = 1 + build_below(s, 4) / 2;
		w.wants_cores[c] = build_below(s, 2) ? 8 : 1;
		w.wants_gpus[c] = build_below(s, 2) * 2;
	}
	return w;
}

/* Jobs 100 and up run; the components are jobs 1, 2, ... */
static struct build *build_world(const struct world *w)
{
	char machine[200] = "";
	struct build *b;

	for (uint32_t n = 0; n < w->nodes; n++)
		snprintf(machine + strlen(machine), sizeof(machine) - strlen(machine), "%s1x%uc%ug", n ? "+" : "", w->cores[n],
			 w->gpus[n]);
	b = build_create(machine);
	for (uint32_t n = 0; n < w->nodes; n++)
		if (w->busy[n])
			build_running(b, (struct build_job) { .id = 100 + n, .first = n, .exclusive = true, .ends_in = w->busy[n] });
	for (uint32_t c = 0; c < w->components; c++) {
		build_pending(b, (struct build_job) { .id = c + 1, .nodes = w->wants[c], .exclusive = true, .limit = 3600,
			      .tasks = w->wants[c], .cpus_per_task = w->wants_cores[c], .gpus = w->wants_gpus[c] });
		build_change_job(b, c + 1, .het_job_id = 1);
		build_change_job(b, c + 1, .het_offset = c);
	}
	return b;
}

/* -- all that there is to try ------------------------------------------------ */

static bool suits(const struct world *w, uint32_t c, uint32_t n)
{
	return w->cores[n] >= w->wants_cores[c] && w->gpus[n] >= w->wants_gpus[c];
}

/* Components from c on, the next of which still wants so many nodes, from node n on; *used: nodes that are
 * taken. */
static bool can_place(const struct world *w, int64_t at, uint32_t c, uint32_t wants, uint32_t n, uint32_t used)
{
	if (c == w->components)
		return true;
	if (!wants)
		return can_place(w, at, c + 1, c + 1 < w->components ? w->wants[c + 1] : 0, 0, used);
	for (; n < w->nodes; n++)
		if (!(used >> n & 1) && w->busy[n] <= at && suits(w, c, n) &&
		    can_place(w, at, c, wants - 1, n + 1, used | 1u << n))
			return true;
	return false;
}

/* Seconds until all components can start together; -1: never. */
static int64_t earliest(const struct world *w)
{
	for (int64_t at = 0; at <= 1200; at += 300)
		if (can_place(w, at, 0, w->wants[0], 0, 0))
			return at;
	return -1;
}

/* -- tests ------------------------------------------------------------------- */

/* In the plan components stand in the order of their offsets: so slurmctld's half takes them for one job. */
static void must_be_in_order(struct desk *d, const struct world *w)
{
	const struct sl_plan_image *plan = accepted(d);
	const uint32_t *job = plan->start.rows ? plan->start.job : plan->reserve.job;

	assert_int_equal(plan->start.rows + plan->reserve.rows, w->components);
	for (uint32_t c = 0; c < w->components; c++)
		assert_int_equal(job[c], c + 1);
}

static void components_start_together_where_they_can(void **state)
{
	uint32_t can = 0, cannot = 0, later = 0;

	(void) state;
	for (uint64_t seed = number_from("SL_SEED", 1), end = seed + rounds_of(3000); seed < end; seed++) {
		uint64_t s = seed;
		struct world w = random_world(&s);
		struct desk d = sit(build_world(&w));
		int64_t at = earliest(&w);
		int rc = start(&d, 1);

		if (rc != (at == 0))
			fail_msg("seed %lu: %s, and it can%s (%s)", (unsigned long) seed, rc ? "started" : "not started",
				 at ? "not" : "", rc ? "" : sl_refusal_text(&d.why));
		if (rc)
			must_be_in_order(&d, &w);
		rc = rc ? 1 : reserve(&d, 1);
		if (at > 0 && (!rc || d.at != at))
			fail_msg("seed %lu: %s in %ld s, it can in %ld (%s)", (unsigned long) seed, rc ? "reserved" : "refused",
				 rc ? (long) d.at : 0, (long) at, rc ? "" : sl_refusal_text(&d.why));
		if (at > 0)
			must_be_in_order(&d, &w);
		if (at < 0 && rc)
			fail_msg("seed %lu: reserved, and it can never start", (unsigned long) seed);
		can += at == 0;
		later += at > 0;
		cannot += at < 0;
		leave(&d);
	}
	/* each kind comes up often */
	assert_true(can > rounds_of(3000) / 30 && later > rounds_of(3000) / 30 && cannot > rounds_of(3000) / 30);
}

/* "Never" is said of what no component could have even alone; else nobody has proven it. */
static void never_is_said_only_where_it_is_proven(void **state)
{
	(void) state;
	for (uint64_t seed = number_from("SL_SEED", 1), end = seed + rounds_of(1000); seed < end; seed++) {
		uint64_t s = seed;
		struct world w = random_world(&s);
		struct desk d = sit(build_world(&w));

		if (!start(&d, 1) && d.why.why == SL_WHY_NEVER && earliest(&w) >= 0)
			fail_msg("seed %lu: %s", (unsigned long) seed, sl_refusal_text(&d.why));
		if (!reserve(&d, 1) && d.why.why == SL_WHY_NEVER && earliest(&w) >= 0)
			fail_msg("seed %lu: %s", (unsigned long) seed, sl_refusal_text(&d.why));
		leave(&d);
	}
}

/* The first takes the node with the GPU, if nobody looks at what the second wants. */
static void a_narrower_component_gets_its_node_first(void **state)
{
	struct build *b = build_create("1x4c1g+1x4c");
	struct desk d;

	(void) state;
	build_pending(b, (struct build_job) { .id = 1, .limit = 3600 });
	build_pending(b, (struct build_job) { .id = 2, .limit = 3600, .gpus = 1 });
	for (uint32_t id = 1; id <= 2; id++) {
		build_change_job(b, id, .het_job_id = 1);
		build_change_job(b, id, .het_offset = id - 1);
	}
	d = sit(b);
	assert_int_equal(start(&d, 1), 1);
	assert_string_equal(where(&d, 1), "n1:1");
	assert_string_equal(where(&d, 2), "n0:1");
	leave(&d);
}

/* Each of three has two nodes, one of which only it can have; the other is one that its neighbour wants as
 * well.  No order helps where each takes the contested ones first. */
static void what_no_order_finds_is_found_by_exchange(void **state)
{
	struct build *b = build_create("6x4c");
	struct desk d;

	(void) state;
	for (uint32_t id = 1; id <= 3; id++) {
		/* contested: n0, n1, n2; of its own: n3, n4, n5 */
		uint32_t one = id - 1, other = id % 3;
		struct sl_job_row r = build_row(b, (struct build_job) { .id = id, .nodes = 2, .exclusive = true, .limit = 3600 });

		r.exc_nodes = (struct sl_range) { sl_builder_rows(b->builder, SL_T_RUN), 0 };
		for (uint32_t n = 0; n < 6; n++)
			if (n != one && n != other && n != 2 + id) {
				build_nodes(b, n, n);
				r.exc_nodes.count++;
			}
		r.het_job_id = 1;
		r.het_offset = id - 1;
		build_append(b, &r);
	}
	d = sit(b);
	assert_int_equal(start(&d, 1), 1);
	leave(&d);
}

static void nothing_is_reserved_if_nothing_is_for_one_of_the_components(void **state)
{
	const struct world w = { .nodes = 2, .components = 2, .cores = { 4, 4 }, .busy = { 300 }, .wants = { 1, 1 }, .wants_cores = { 1, 1 } };

	(void) state;
	for (uint32_t other = 0; other < 2; other++) {
		struct build *b = build_world(&w);
		struct desk d;

		if (other)
			build_change_job(b, 2, .flags |= SL_JOBF_NO_RESERVE);
		d = sit(b);
		assert_int_equal(start(&d, 1), 0);
		assert_int_equal(reserve(&d, 1), !other);
		if (other)
			assert_string_equal(sl_refusal_text(&d.why),
					    "no nodes are kept free for its component 1 (job 2): QOS NoReserve, or MinPrioThreshold");
		accepted(&d);
		leave(&d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_reserved_if_nothing_is_for_one_of_the_components),
		cmocka_unit_test(a_narrower_component_gets_its_node_first),
		cmocka_unit_test(what_no_order_finds_is_found_by_exchange),
		cmocka_unit_test(components_start_together_where_they_can),
		cmocka_unit_test(never_is_said_only_where_it_is_proven),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
