/* SPDX-License-Identifier: MIT */
/* test_room.c - cores that others may have on nodes of a held place; what room.c calls of slurmctld and of the collector stands here */
#include "plugin/commit/room.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "t/build.h"
#include "t/random.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"	/* what stands in headers differs between releases */

void *slurm_xcalloc(size_t count, size_t size, bool clear, bool try, const char *file, int line, const char *function)
{
	(void) clear, (void) try, (void) file, (void) line, (void) function;
	return calloc(count, size);
}

void slurm_xfree(void **p)
{
	free(*p);
	*p = NULL;
}

uint32_t sl_collect_row(const struct sl_collector *c, uint32_t job_id)
{
	for (uint32_t i = 0; i < c->snap.job.rows; i++)
		if (c->snap.job.id[i] == job_id)
			return i;
	return SL_NONE;
}

/* -- a world: four nodes of 8 cores ------------------------------------------------------ */

#define NODES 4
#define CORES 8

struct world {
	struct build *build;
	struct sl_collector c;
	struct sl_plan_image plan;
	struct sl_commit m;
	uint32_t node[NODES], cores[NODES];	/* the places of the plan */
};

static void begin_world(struct world *w)
{
	memset(w, 0, sizeof(*w));
	w->build = build_create("4x8c");
	w->m.held = sl_held_create();
	w->m.plan = &w->plan;
	w->m.c = &w->c;
	w->plan.place.node = w->node;
	w->plan.place.cores = w->cores;
}

static void end_world(struct world *w)
{
	sl_room_free(&w->m);
	sl_held_destroy(w->m.held);
	build_destroy(w->build);
}

static void runs(struct world *w, uint32_t id, uint32_t node, uint32_t cores)
{
	build_running(w->build, (struct build_job) { .id = id, .nodes = 1, .first = node, .cores = cores, .ends_in = 3600 });
}

static void snapshot(struct world *w)
{
	w->c.snap = *build_open(w->build);
}

static void holds(struct world *w, uint32_t job, uint32_t node, uint32_t cores)
{
	char name[8], partition[] = "batch";
	struct sl_held_node n = { name, cores, 0, NULL, 0 };
	struct sl_held place = { .job = job, .until = BUILD_NOW + 60, .since = 1, .partition = partition, .node = &n, .nodes = 1 };
	struct sl_error err;

	snprintf(name, sizeof(name), "n%u", node);
	assert_non_null(sl_held_put(w->m.held, &place, &err));
}

static void is_stopped(struct world *w, uint32_t victim, uint32_t preemptor)
{
	uint32_t row = sl_collect_row(&w->c, victim);
	struct sl_stopped s = { victim, preemptor, w->c.snap.job.start_time[row], 1, (char *) "anna", (char *) "batch", 0, false };
	struct sl_error err;

	assert_int_equal(sl_held_stop(w->m.held, &s, &err), 0);
}

/* True if the job may have those cores of that node. */
static bool has_room(struct world *w, uint32_t job, uint32_t node, uint32_t cores)
{
	w->node[0] = node;
	w->cores[0] = cores;
	return !sl_room_lacks(&w->m, job, (struct sl_range) { 0, 1 });
}

static void takes(struct world *w, uint32_t node, uint32_t cores)
{
	w->node[0] = node;
	w->cores[0] = cores;
	sl_room_take(&w->m, (struct sl_range) { 0, 1 });
}

/* -- cases ---------------------------------------------------------------------------------- */

static void others_may_have_what_is_not_held(void **state)
{
	struct world w;

	(void) state;
	begin_world(&w);
	runs(&w, 1, 0, 2);
	snapshot(&w);
	holds(&w, 7, 0, 4);
	assert_true(has_room(&w, 9, 0, 2));
	assert_false(has_room(&w, 9, 0, 3));
	assert_true(has_room(&w, 9, 1, 8));	/* nothing is held there: select looks at it */
	assert_true(has_room(&w, 7, 0, 4));	/* its own */
	takes(&w, 0, 2);
	assert_false(has_room(&w, 9, 0, 1));
	end_world(&w);
}

static void what_a_victim_has_still_is_not_counted_twice(void **state)
{
	struct world w;

	(void) state;
	begin_world(&w);
	runs(&w, 1, 0, 6);
	snapshot(&w);
	holds(&w, 7, 0, 6);
	is_stopped(&w, 1, 7);
	assert_true(has_room(&w, 9, 0, 2));
	assert_false(has_room(&w, 9, 0, 3));
	end_world(&w);
}

static void what_another_one_has_is(void **state)
{
	struct world w;

	(void) state;
	begin_world(&w);
	runs(&w, 1, 0, 6);
	snapshot(&w);
	holds(&w, 7, 0, 6);
	holds(&w, 8, 1, 1);
	is_stopped(&w, 1, 8);		/* for somebody else */
	assert_false(has_room(&w, 9, 0, 1));
	end_world(&w);
}

static void without_places_there_is_room(void **state)
{
	struct world w;

	(void) state;
	begin_world(&w);
	runs(&w, 1, 0, 8);
	snapshot(&w);
	assert_true(has_room(&w, 9, 0, 8));
	end_world(&w);
}

/* -- against a sum made for each question ------------------------------------------------------ */

struct drawn {
	uint32_t node, cores, preemptor;	/* of running job 1 + its place here; preemptor 0: not stopped */
};

static int64_t room_by_hand(const struct world *w, const struct drawn *job, uint32_t jobs, uint32_t node, bool *held)
{
	int64_t left = CORES;

	*held = false;
	for (uint32_t i = 0; i < jobs; i++)
		left -= job[i].node == node ? job[i].cores : 0;
	for (uint32_t p = 0; p < w->m.held->places; p++) {
		const struct sl_held *h = &w->m.held->place[p];
		int64_t need = h->node[0].cores;

		if ((uint32_t) atoi(h->node[0].name + 1) != node)
			continue;
		*held = true;
		for (uint32_t i = 0; i < jobs; i++)
			need -= job[i].node == node && job[i].preemptor == h->job ? job[i].cores : 0;
		left -= MAX(need, 0);
	}
	return left;
}

static void try_one_world(void)
{
	struct drawn job[8];
	struct world w;
	uint32_t jobs = below(8), used[NODES] = { 0 };

	begin_world(&w);
	for (uint32_t i = 0; i < jobs; i++) {
		job[i] = (struct drawn) { i % NODES, 1, below(3) ? 0 : 100 + below(4) };	/* two on a node at most */
		if (used[job[i].node] + 3 <= CORES)
			job[i].cores = 1 + below(3);
		used[job[i].node] += job[i].cores;
		runs(&w, 1 + i, job[i].node, job[i].cores);
	}
	snapshot(&w);
	for (uint32_t i = 0; i < jobs; i++)
		if (job[i].preemptor)
			is_stopped(&w, 1 + i, job[i].preemptor);
	for (uint32_t i = 0; i < 4; i++)
		if (below(2))
			holds(&w, 100 + i, below(NODES), 1 + below(CORES));
	for (uint32_t i = 0; i < 20; i++) {
		uint32_t node = below(NODES), cores = 1 + below(CORES);
		bool held;
		int64_t left = room_by_hand(&w, job, jobs, node, &held);

		assert_int_equal(has_room(&w, 9, node, cores), !w.m.held->places || !held || left >= cores);
	}
	end_world(&w);
}

static void the_room_is_what_a_sum_by_hand_says(void **state)
{
	(void) state;
	for (failing_seed = number_from("SL_SEED", 1); failing_seed < 300; failing_seed++) {
		random_state = failing_seed;
		try_one_world();
	}
	failing_seed = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(others_may_have_what_is_not_held),
		cmocka_unit_test(what_a_victim_has_still_is_not_counted_twice),
		cmocka_unit_test(what_another_one_has_is),
		cmocka_unit_test(without_places_there_is_room),
		cmocka_unit_test_teardown(the_room_is_what_a_sum_by_hand_says, say_seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
