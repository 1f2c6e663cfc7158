/* SPDX-License-Identifier: MIT */
/*
 * Cores that several jobs may have: what of them has to be free, and where jobs are started.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "t/model/desk.h"
#include "t/model/want_of.h"

/* So many jobs may have a core of the first partition. */
static struct build *sharing(const char *machine, uint32_t rows)
{
	struct build *b = build_create(machine);

	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .oversubscribe = rows);
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .flags |= SL_PART_FORCE);
	return b;
}

/* A job has so many cores of a node, whatever others have of them. */
static void runs(struct build *b, uint32_t id, uint32_t node, uint32_t cores, int64_t ends_in)
{
	struct sl_job_row row;

	build_running(b, (struct build_job) { .id = id, .first = node, .cores = 1, .ends_in = ends_in });
	sl_builder_row(b->builder, SL_T_JOB, build_job_row(b, id), &row);
	build_change(b, SL_T_ALLOC, row.alloc.first, sl_alloc_row, .cores = cores);
}

/* What is free of each node is enough: so many, and whether of one node alone. */
static void rows(struct sl_cluster *c, uint32_t id, uint32_t enough, bool alone)
{
	const struct sl_want *w = want(c, id);

	assert_int_equal(w->native, 0);
	assert_int_equal(w->variant[0].request.spare_cores, 16);
	assert_int_equal(w->variant[1].request.least_free_cores, enough);
	assert_int_equal(enough && w->variant[1].request.max_nodes == 1 && w->request.max_nodes != 1, alone);
	assert_false(sl_want_takes_places(w));
}

/* Three rows of eight cores. */
static void what_is_enough_is_a_number(void **state)
{
	struct build *b = sharing("4x8c", 3);
	struct sl_cluster *c;

	(void) state;
	build_pending(b, (struct build_job) { .id = 1, .tasks = 1 });
	build_pending(b, (struct build_job) { .id = 2, .max_nodes = 9, .tasks = 5 });
	build_pending(b, (struct build_job) { .id = 3, .nodes = 1, .tasks = 5 });
	build_pending(b, (struct build_job) { .id = 4, .nodes = 2, .tasks = 6, .tasks_per_node = 3 });
	build_pending(b, (struct build_job) { .id = 5, .nodes = 3, .tasks = 9, .tasks_per_node = 3 });
	build_pending(b, (struct build_job) { .id = 6, .nodes = 2, .tasks = 7 });
	build_pending(b, (struct build_job) { .id = 7, .max_nodes = 9, .tasks = 12 });
	build_pending(b, (struct build_job) { .id = 8, .max_nodes = 9, .tasks = 5, .tasks_per_node = 3 });
	build_pending(b, (struct build_job) { .id = 9, .nodes = 2, .tasks = 2, .cpus_per_task = 3 });
	c = build_cluster(b);
	rows(c, 1, 1, false);
	rows(c, 2, 13, true);
	rows(c, 3, 13, false);
	rows(c, 4, 13, false);		/* one row of each node may lack them: 8, and 2 of the others each */
	rows(c, 5, 19, false);		/* none: 16 and 2 */
	rows(c, 6, 0, false);
	rows(c, 7, 0, false);
	rows(c, 8, 0, false);
	rows(c, 9, 13, false);		/* one for each */
	sl_cluster_destroy(c);
	build_destroy(b);
}

/* Threads that no task has: what each node gives does not follow from its tasks. */
static void on_several_nodes_cores_have_to_be_full(void **state)
{
	struct build *b = sharing("4x8c2t", 3);
	struct sl_cluster *c;

	(void) state;
	build_pending(b, (struct build_job) { .id = 1, .nodes = 2, .tasks = 6, .tasks_per_node = 3 });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 2, .tasks = 8, .tasks_per_node = 4 });
	build_pending(b, (struct build_job) { .id = 3, .nodes = 1, .tasks = 3 });
	c = build_cluster(b);
	rows(c, 1, 0, false);
	rows(c, 2, 11, false);
	rows(c, 3, 4, false);
	sl_cluster_destroy(c);
	build_destroy(b);
}

static void is_left(struct build *b, bool left)
{
	struct sl_cluster *c = build_cluster(b);

	assert_left(want(c, 1), left ? SL_W(SHARED_CORES) : 0);
	assert_int_equal(want(c, 1)->shares, !left);
	sl_cluster_destroy(c);
}

static void rows_are_of_nodes_that_are_alike_and_of_one_partition(void **state)
{
	struct build *b = sharing("4x8c", 3);
	uint32_t other;

	(void) state;
	build_pending(b, (struct build_job) { .id = 1 });
	is_left(b, false);
	build_change(b, SL_T_NODE, 3, sl_node_row, .cores = 6);
	is_left(b, true);
	build_change(b, SL_T_NODE, 3, sl_node_row, .cores = 8);
	other = build_partition(b, "other", 3, 3);
	is_left(b, false);
	build_change(b, SL_T_PARTITION, other, sl_partition_row, .oversubscribe = 3);
	is_left(b, true);
	build_destroy(b);
}

static void natives(struct sl_cluster *c, uint32_t partition, sl_word_set by_sockets, sl_word_set by_core_spec)
{
	struct sl_error err;

	assert_left(sl_cluster_want(c, (struct sl_entry) { .job = 0, .partition = partition }, &err), by_sockets);
	assert_left(sl_cluster_want(c, (struct sl_entry) { .job = 1, .partition = partition }, &err), by_core_spec);
}

static void cores_that_are_shared_elsewhere_are_no_matter(void **state)
{
	struct build *b = build_create("4x8c2s");
	uint32_t low = build_partition(b, "low", 0, 1), high = build_partition(b, "high", 2, 3);
	struct sl_cluster *c;

	(void) state;
	build_change(b, SL_T_PARTITION, high, sl_partition_row, .oversubscribe = 2);
	for (uint32_t i = 0; i < 2; i++)
		build_pending(b, (struct build_job) { .id = i + 1, .tasks = 2, .max_nodes = 1, .exclusive = i });
	build_change_job(b, 1, .ntasks_per_socket = 2);
	build_change_job(b, 2, .core_spec = 1);
	c = build_cluster(b);
	natives(c, low, 0, 0);
	natives(c, high, SL_W(TASKS_PER_SOCKET), SL_W(CORE_SPEC));
	natives(c, 0, SL_W(TASKS_PER_SOCKET), SL_W(CORE_SPEC));	/* some of its nodes are of the other, too */
	sl_cluster_destroy(c);
	build_destroy(b);
}

static uint32_t native_starts(struct desk *d)
{
	const struct sl_plan_image *p = accepted(d);
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->start.rows; i++)
		n += p->start.native[i];
	return n;
}

static void cores_that_nobody_has_come_first(void **state)
{
	struct build *b = sharing("2x4c", 2);
	struct desk d;

	(void) state;
	runs(b, 9, 0, 2, 600);
	for (uint32_t i = 1; i <= 5; i++)
		build_pending(b, (struct build_job) { .id = i, .max_nodes = 1, .tasks = 3 });
	d = sit(b);
	assert_int_equal(start(&d, 1), 1);
	assert_string_equal(where(&d, 1), "n1:3");
	assert_int_equal(start(&d, 2), 1);	/* 6 are free of the first, 5 of the other; 5 are enough */
	assert_string_equal(where(&d, 2), "n1:3");
	assert_int_equal(start(&d, 3), 1);
	assert_string_equal(where(&d, 3), "n0:3");
	assert_int_equal(native_starts(&d), 0);
	assert_int_equal(start(&d, 4), 1);	/* 3 of the first: in one row, perhaps */
	assert_string_equal(where(&d, 4), "n0:3");
	assert_int_equal(native_starts(&d), 1);
	assert_int_equal(start(&d, 5), 0);
	leave(&d);
}

/* Of cores that nobody has select, too, takes some of several nodes before it looks for a row. */
static void tasks_are_spread_over_cores_that_nobody_has(void **state)
{
	struct build *b = sharing("3x4c", 2);
	struct desk d;

	(void) state;
	build_running(b, (struct build_job) { .id = 9, .nodes = 2, .cores = 2, .ends_in = 600 });
	runs(b, 8, 2, 4, 600);
	build_pending(b, (struct build_job) { .id = 1, .max_nodes = 4, .tasks = 4 });
	build_pending(b, (struct build_job) { .id = 2, .max_nodes = 4, .tasks = 2 });
	build_pending(b, (struct build_job) { .id = 3, .nodes = 3, .tasks = 5 });
	d = sit(b);
	assert_int_equal(start(&d, 1), 1);
	assert_string_equal(where(&d, 1), "n0:2 n1:2");
	assert_int_equal(start(&d, 2), 1);
	assert_string_equal(where(&d, 2), "n0:2");
	assert_int_equal(native_starts(&d), 0);
	assert_int_equal(start(&d, 3), 1);	/* tasks of each node are not settled */
	assert_int_equal(native_starts(&d), 1);
	leave(&d);
}

static void who_waits_for_a_row_keeps_others_off_its_nodes(void **state)
{
	struct build *b = sharing("1x4c", 2);
	struct desk d;

	(void) state;
	runs(b, 9, 0, 4, 60);
	runs(b, 8, 0, 2, 600);
	build_pending(b, (struct build_job) { .id = 1, .nodes = 1, .tasks = 3, .limit = 600 });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 1, .tasks = 1, .limit = 600 });
	build_pending(b, (struct build_job) { .id = 3, .nodes = 1, .tasks = 1, .limit = 60 });
	d = sit(b);
	assert_int_equal(start(&d, 1), 0);
	assert_int_equal(reserve(&d, 1), 1);
	assert_int_equal(d.at, 60);
	assert_int_equal(backfill(&d, 2), 0);
	assert_int_equal(backfill(&d, 3), 1);
	assert_int_equal(native_starts(&d), 0);
	leave(&d);
}

/* Nor does select know of rows that are not full yet where it chooses all by itself. */
static void so_does_who_is_left_to_select(void **state)
{
	struct build *b = sharing("1x4c1g", 2);
	struct sl_range gres;
	struct desk d;

	(void) state;
	runs(b, 9, 0, 4, 60);
	runs(b, 8, 0, 2, 600);
	gres = build_gres(b, "gpu", "", 1, SL_PER_NODE);
	build_change(b, SL_T_JOB_GRES, gres.first, sl_job_gres_row, .cpus = 3);
	build_pending(b, (struct build_job) { .id = 1, .nodes = 1, .tasks = 1, .limit = 600 });
	build_change_job(b, 1, .gres = gres);
	build_pending(b, (struct build_job) { .id = 2, .nodes = 1, .tasks = 1, .limit = 600 });
	d = sit(b);
	assert_int_equal(reserve(&d, 1), 1);
	assert_int_equal(d.at, 60);
	assert_int_equal(backfill(&d, 2), 0);
	accepted(&d);
	leave(&d);
}

/* Of a core any row will do. */
static void who_waits_for_a_core_of_its_own_does_not(void **state)
{
	struct build *b = sharing("1x4c", 2);
	struct desk d;

	(void) state;
	runs(b, 9, 0, 4, 60);
	runs(b, 8, 0, 3, 600);
	for (uint32_t i = 1; i <= 3; i++)
		build_pending(b, (struct build_job) { .id = i, .nodes = 1, .tasks = 1, .limit = 600 });
	d = sit(b);
	assert_int_equal(start(&d, 1), 1);
	assert_int_equal(reserve(&d, 2), 1);
	assert_int_equal(d.at, 60);
	assert_int_equal(backfill(&d, 3), 0);
	assert_int_equal(native_starts(&d), 0);
	leave(&d);
}

static void no_place_is_named_for_it(void **state)
{
	struct build *b = sharing("2x4c", 2);
	struct sl_pick pick = { .node = 0, .cores = 1 };
	struct sl_how how = { .method = SL_PLACE_EXPLICIT, .picks = &pick, .count = 1 };
	struct desk d;

	(void) state;
	build_pending(b, (struct build_job) { .id = 1 });
	d = sit(b);
	assert_int_equal(checked(&d, sl_plan_start(d.p, entry(&d, 1), &(struct sl_terms) { .how = &how }, &d.why, &d.err)), 0);
	assert_int_equal(d.why.why, SL_WHY_NOT_MODELLED);
	assert_string_equal(sl_refusal_text(&d.why),
			    "its cores may be others', too: which nodes have some for it is found where no place is named");
	leave(&d);
}

/* Off the node that is reserved select finds none for the first; the second is sure of a row there, too. */
static void a_refusal_speaks_for_those_alone_that_ask_for_no_less(void **state)
{
	struct build *b = sharing("2x4c", 3);
	struct desk d;

	(void) state;
	runs(b, 9, 0, 4, 600);
	runs(b, 8, 1, 4, 600);
	build_pending(b, (struct build_job) { .id = 7, .nodes = 1, .tasks = 1, .limit = 600 });
	build_change_job(b, 7, .begin_time = BUILD_NOW + 30);
	build_pending(b, (struct build_job) { .id = 1, .nodes = 2, .tasks = 3, .limit = 60 });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 2, .tasks = 4, .tasks_per_node = 2, .limit = 60 });
	d = sit(b);
	assert_int_equal(reserve(&d, 7), 1);
	assert_int_equal(start(&d, 1), 0);
	assert_int_equal(start(&d, 2), 1);
	assert_int_equal(native_starts(&d), 0);
	leave(&d);
}

/* -- rows, drawn ----------------------------------------------------------- */

#define NODES 4
#define CORES 8

/* The cores in use of each node in each row, and the jobs that have them; the job has *each* on so many nodes. */
struct drawn {
	uint32_t rows, nodes, each;
	uint32_t used[5][NODES], jobs[5][NODES];
};

static struct drawn draw(uint64_t *seed)
{
	struct drawn d = { .rows = 2 + build_below(seed, 3), .nodes = 1 + build_below(seed, NODES) };

	d.each = 1 + build_below(seed, CORES);
	for (uint32_t r = 0; r < d.rows; r++)
		for (uint32_t n = 0; n < d.nodes; n++) {
			d.used[r][n] = build_below(seed, 3) ? build_below(seed, CORES + 1) : 0;
			d.jobs[r][n] = d.used[r][n] > 1 ? 1 + build_below(seed, 2) : d.used[r][n];
		}
	return d;
}

static bool has_row(const struct drawn *d)
{
	for (uint32_t r = 0; r < d->rows; r++) {
		uint32_t good = 0;

		for (uint32_t n = 0; n < d->nodes; n++)
			good += CORES - d->used[r][n] >= d->each;
		if (good == d->nodes)
			return true;
	}
	return false;
}

/* True if the planner lets it start without select, on the nodes of which rows were drawn. */
static bool is_placed(const struct drawn *d)
{
	struct build *b = sharing("4x8c", d->rows);
	uint32_t id = 10;
	struct desk desk;
	bool placed;

	build_pending(b, (struct build_job) { .id = 1, .nodes = d->nodes, .tasks = d->nodes * d->each, .tasks_per_node = d->each });
	build_change_job(b, 1, .req_nodes = build_nodes(b, 0, d->nodes - 1));
	for (uint32_t n = 0; n < d->nodes; n++)
		for (uint32_t r = 0; r < d->rows; r++)
			for (uint32_t i = 0; i < d->jobs[r][n]; i++)
				runs(b, id++, n, i ? 1 : d->used[r][n] - d->jobs[r][n] + 1, 60);
	desk = sit(b);
	placed = start(&desk, 1) && !native_starts(&desk);
	leave(&desk);
	return placed;
}

static void a_row_exists_for_whatever_is_placed(void **state)
{
	uint32_t placed = 0, rows = 0;

	(void) state;
	for (uint64_t seed = 1; seed <= 3000; seed++) {
		uint64_t s = seed;
		struct drawn d = draw(&s);

		rows += has_row(&d);
		if (!is_placed(&d))
			continue;
		placed++;
		if (!has_row(&d))
			fail_msg("seed %lu: no row has %u cores on %u nodes", (unsigned long) seed, d.each, d.nodes);
	}
	assert_in_range(placed, 400, rows);
}

/* Which cores of the three rows are taken is not known: of twelve that are free five need not be in one row. */
static void one_that_select_may_not_place_is_reserved_for_when_more_is_free(void **state)
{
	struct build *b = sharing("1x8c", 3);
	struct sl_run run = { 0, 0 };
	struct sl_nodeset first = { &run, 1, 1, 1 };
	struct sl_entry e;
	struct desk d;

	(void) state;
	runs(b, 1, 0, 4, 600);
	runs(b, 2, 0, 4, 900);
	runs(b, 3, 0, 4, 1200);
	build_pending(b, (struct build_job) { .id = 7, .nodes = 1, .tasks = 5, .limit = 3600 });
	d = sit(b);
	e = entry(&d, 7);
	assert_int_equal(sl_cluster_confinement(d.c, &first, &e.confine, &d.err), 0);
	assert_int_equal(checked(&d, sl_plan_start(d.p, e, NULL, &d.why, &d.err)), 0);
	assert_int_equal(checked(&d, sl_plan_reserve(d.p, e, NULL, &d.at, &d.why, &d.err)), 1);
	assert_int_equal(d.at, BUILD_NOW + 600);
	accepted(&d);
	leave(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_enough_is_a_number),
		cmocka_unit_test(on_several_nodes_cores_have_to_be_full),
		cmocka_unit_test(rows_are_of_nodes_that_are_alike_and_of_one_partition),
		cmocka_unit_test(cores_that_are_shared_elsewhere_are_no_matter),
		cmocka_unit_test(cores_that_nobody_has_come_first),
		cmocka_unit_test(tasks_are_spread_over_cores_that_nobody_has),
		cmocka_unit_test(who_waits_for_a_row_keeps_others_off_its_nodes),
		cmocka_unit_test(so_does_who_is_left_to_select),
		cmocka_unit_test(who_waits_for_a_core_of_its_own_does_not),
		cmocka_unit_test(no_place_is_named_for_it),
		cmocka_unit_test(a_refusal_speaks_for_those_alone_that_ask_for_no_less),
		cmocka_unit_test(a_row_exists_for_whatever_is_placed),
		cmocka_unit_test(one_that_select_may_not_place_is_reserved_for_when_more_is_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
