/* SPDX-License-Identifier: MIT */
/*
 * What a plan makes of reservations of Slurm's: of parts of nodes, without nodes, several of them, those
 * that draw jobs in, and flexible ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "check/check.h"
#include "model/cluster_private.h"
#include "t/model/desk.h"
#include "timeline/impl.h"

static void a_reservation_of_parts_of_nodes_leaves_the_rest_of_each_to_others(void **state)
{
	struct build *b = build_create("3x8c");
	uint32_t r = build_reservation(b, "parts", 0, 3600, 0, 1);
	struct sl_range parts = { .count = 2 };
	struct desk d;

	(void) state;
	parts.first = sl_builder_append(b->builder, SL_T_ALLOC, &(struct sl_alloc_row) { .node = 0, .cores = 6 });
	sl_builder_append(b->builder, SL_T_ALLOC, &(struct sl_alloc_row) { .node = 1, .cores = 2 });
	build_change(b, SL_T_RESERVATION, r, sl_reservation_row, .cores = 8);
	build_change(b, SL_T_RESERVATION, r, sl_reservation_row, .parts = parts);
	build_pending(b, (struct build_job) { .id = 1, .nodes = 1, .tasks = 8, .limit = 60 });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 1, .tasks = 6, .limit = 60 });
	build_pending(b, (struct build_job) { .id = 3, .nodes = 1, .tasks = 2, .limit = 60 });
	build_pending(b, (struct build_job) { .id = 4, .nodes = 1, .tasks = 1, .limit = 60 });
	d = sit(b);
	assert_int_equal(start(&d, 1), 1);
	assert_int_equal(start(&d, 2), 1);
	assert_int_equal(start(&d, 3), 1);
	assert_int_equal(start(&d, 4), 0);
	assert_int_equal(accepted(&d)->place.node[1], 1);
	leave(&d);
}

/* Two nodes of eight cores; of the first one the reservation has two, and its job runs on node *on* with *cores*. */
static struct build *loose(uint32_t flags, uint32_t on, uint32_t cores)
{
	struct build *b = build_create("2x8c");
	uint32_t r = build_reservation(b, "mine", 0, 3600, 0, 0);
	struct sl_range parts = { sl_builder_append(b->builder, SL_T_ALLOC, &(struct sl_alloc_row) { .node = 0, .cores = 2 }), 1 };

	build_change(b, SL_T_RESERVATION, r, sl_reservation_row, .cores = 2);
	build_change(b, SL_T_RESERVATION, r, sl_reservation_row, .parts = parts);
	build_change(b, SL_T_RESERVATION, r, sl_reservation_row, .flags = flags);
	build_running(b, (struct build_job) { .id = 1, .nodes = 1, .first = on, .cores = cores, .ends_in = 1800 });
	build_change_job(b, 1, .reservation = sl_builder_str(b->builder, "mine"));
	return b;
}

/* How many jobs of one core start, which are what others may have of the machine. */
static uint32_t left_of(struct build *b)
{
	uint32_t started = 0;
	struct desk d;

	for (uint32_t id = 2; id < 20; id++)
		build_pending(b, (struct build_job) { .id = id, .nodes = 1, .tasks = 1, .limit = 600 });
	d = sit(b);
	for (uint32_t id = 2; id < 20; id++)
		started += start(&d, id) == 1;
	(void) accepted(&d);
	leave(&d);
	return started;
}

/* A flexible one lets its jobs, and one with ANY_NODES; of others the nodes may have been changed since. */
static void what_a_job_has_beside_its_reservation_of_parts_of_nodes_is_no_other_jobs(void **state)
{
	static const uint32_t flags[] = { SL_RESV_FLEX, SL_RESV_ANY_NODES, 0 };

	(void) state;
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(left_of(loose(flags[i], 1, 5)), 6 + 3);
		assert_int_equal(left_of(loose(flags[i], 0, 5)), 3 + 8);
		assert_int_equal(left_of(loose(flags[i], 0, 2)), 6 + 8);
		assert_int_equal(left_of(loose(flags[i], 0, 1)), 6 + 8);
	}
}

/* It was made smaller while they ran. */
static void jobs_that_have_more_than_their_reservation_of_parts_of_nodes_keep_it(void **state)
{
	struct build *b = loose(0, 0, 2);

	(void) state;
	build_running(b, (struct build_job) { .id = 20, .nodes = 1, .first = 0, .cores = 3, .ends_in = 1200 });
	build_change_job(b, 20, .reservation = sl_builder_str(b->builder, "mine"));
	assert_int_equal(left_of(b), 3 + 8);
}

/* Job 1 ends after half an hour: until the reservation's end its cores are kept for others of its jobs. */
static void parts_of_nodes_are_kept_when_a_job_has_ended_there(void **state)
{
	struct build *b = loose(0, 0, 2);
	struct desk d;

	(void) state;
	build_running(b, (struct build_job) { .id = 2, .nodes = 1, .first = 1, .ends_in = 9000 });
	build_pending(b, (struct build_job) { .id = 3, .nodes = 1, .tasks = 8, .limit = 600 });
	d = sit(b);
	assert_int_equal(reserve(&d, 3), 1);
	assert_int_equal(accepted(&d)->reserve.start_time[0], BUILD_NOW + 3600);
	leave(&d);
}

/* As Slurm makes them with IGNORE_JOBS: the job of one may have what the other one holds as well. */
static void two_reservations_of_more_cores_than_the_node_has_leave_their_jobs_theirs(void **state)
{
	struct build *b = loose(0, 1, 2);
	uint32_t r = build_reservation(b, "all", 0, 3600, 0, 0);
	struct sl_range parts = { sl_builder_append(b->builder, SL_T_ALLOC, &(struct sl_alloc_row) { .node = 0, .cores = 8 }), 1 };
	struct desk d;

	(void) state;
	build_change(b, SL_T_RESERVATION, r, sl_reservation_row, .cores = 8);
	build_change(b, SL_T_RESERVATION, r, sl_reservation_row, .parts = parts);
	build_pending(b, (struct build_job) { .id = 2, .nodes = 1, .tasks = 2, .limit = 60 });
	build_change_job(b, 2, .reservation = sl_builder_str(b->builder, "mine"));
	build_pending(b, (struct build_job) { .id = 3, .nodes = 1, .tasks = 7, .limit = 60 });
	d = sit(b);
	assert_int_equal(start(&d, 2), 1);
	assert_int_equal(start(&d, 3), 0);
	(void) accepted(&d);
	leave(&d);
}

/* --signal=R, beside a reservation with MaxStartDelay: whether it may start is Slurm's to say. */
static void a_job_that_borrows_from_a_reservation_is_tried_by_select(void **state)
{
	(void) state;
	for (uint32_t borrows = 0; borrows < 2; borrows++) {
		struct build *b = build_create("3x8c");
		struct sl_entry e;
		struct desk d;

		build_reservation(b, "soon", 600, 3600, 0, 2);
		build_pending(b, (struct build_job) { .id = 1, .nodes = 3, .exclusive = true, .limit = 900 });
		build_change_job(b, 1, .flags |= borrows ? SL_JOBF_BORROWS | SL_JOBF_MAY_PREEMPT : SL_JOBF_MAY_PREEMPT);
		d = sit(b);
		assert_int_equal(start(&d, 1), 0);
		assert_int_equal(sl_plan_next_preempting(d.p, &e), borrows);
		leave(&d);
	}
}

static void timelines_of_a_model_have_a_bound_together(void **state)
{
	struct build *b = build_create("3x8c");
	struct desk d;

	(void) state;
	build_reservation(b, "mine", 0, 3600, 0, 1);
	build_pending(b, (struct build_job) { .id = 1, .nodes = 1, .tasks = 8, .limit = 60 });
	build_change_job(b, 1, .reservation = sl_builder_str(b->builder, "mine"));
	d = sit(b);
	assert_int_equal(start(&d, 1), 1);
	assert_int_equal(d.c->shelf.most, SL_SHELF_BYTES);
	assert_ptr_equal(d.c->tl->shelf, &d.c->shelf);
	assert_int_equal(d.c->enclaves, 1);
	assert_ptr_equal(d.c->enclave[0]->tl->shelf, &d.c->shelf);
	leave(&d);
}

static void two_reservations_of_parts_of_a_node_leave_each_other_theirs(void **state)
{
	struct build *b = build_create("1x8c");
	const uint32_t cores[] = { 4, 1 };
	struct desk d;

	(void) state;
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t r = build_reservation(b, i ? "small" : "large", 0, 3600, 0, 0);
		struct sl_range parts = { .count = 1 };

		parts.first = sl_builder_append(b->builder, SL_T_ALLOC,
						&(struct sl_alloc_row) { .node = 0, .cores = cores[i] });
		build_change(b, SL_T_RESERVATION, r, sl_reservation_row, .cores = cores[i]);
		build_change(b, SL_T_RESERVATION, r, sl_reservation_row, .parts = parts);
	}
	build_pending(b, (struct build_job) { .id = 1, .tasks = 5, .limit = 60 });
	build_pending(b, (struct build_job) { .id = 2, .tasks = 4, .limit = 60 });
	build_pending(b, (struct build_job) { .id = 3, .tasks = 1, .limit = 60 });
	build_pending(b, (struct build_job) { .id = 4, .tasks = 3, .limit = 60 });
	for (uint32_t id = 1; id <= 3; id++)
		build_change_job(b, id, .reservation = sl_builder_str(b->builder, id < 3 ? "large" : "small"));
	d = sit(b);
	assert_int_equal(start(&d, 1), 0);
	for (uint32_t id = 2; id <= 4; id++)
		assert_int_equal(start(&d, id), 1);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(accepted(&d)->start.native[i], 0);
	leave(&d);
}

/* Half of the cores of each node are reserved; memory is everybody's. */
static void memory_of_nodes_of_which_parts_are_reserved_is_shared(void **state)
{
	struct build *b = build_create("2x8c");
	uint32_t r = build_reservation(b, "half", 0, 3600, 0, 1);
	struct sl_range parts = { .count = 2 };
	struct desk d;

	(void) state;
	for (uint32_t n = 0; n < 2; n++) {
		struct sl_alloc_row half = { .node = n, .cores = 4 };
		uint32_t at = sl_builder_append(b->builder, SL_T_ALLOC, &half);

		parts.first = n ? parts.first : at;
		build_change(b, SL_T_NODE, n, sl_node_row, .memory = 1000);
	}
	b->meta.select_flags |= SL_SELECT_MEMORY;
	build_change(b, SL_T_RESERVATION, r, sl_reservation_row, .cores = 8);
	build_change(b, SL_T_RESERVATION, r, sl_reservation_row, .parts = parts);
	for (uint32_t id = 1; id <= 4; id++) {
		build_pending(b, (struct build_job) { .id = id, .tasks = 2, .limit = 60, .memory = 600 });
		if (id % 2)
			build_change_job(b, id, .reservation = sl_builder_str(b->builder, "half"));
	}
	d = sit(b);
	assert_int_equal(start(&d, 1), 1);
	assert_string_equal(where(&d, 1), "n0:2");
	assert_int_equal(start(&d, 2), 1);
	assert_string_equal(where(&d, 2), "n1:2");
	assert_int_equal(start(&d, 3), 0);
	assert_int_equal(start(&d, 4), 0);
	assert_int_equal(reserve(&d, 3), 1);
	assert_int_equal(d.at, 60);
	assert_int_equal(accepted(&d)->start.native[0], 0);
	assert_int_equal(checked(&d, sl_plan_undo(d.p, row(&d, 2), &d.err)), 0);
	assert_int_equal(start(&d, 3), 1);
	accepted(&d);
	leave(&d);
}

/* Of four licences three are set aside for an hour from ten minutes on. */
static struct build *reserved_licenses(void)
{
	struct build *b = build_create("2x8c");
	struct sl_license_row l = { .total = 4 };
	uint32_t r = build_reservation(b, "lic", 600, 4200, 0, 0);

	l.name = sl_builder_str(b->builder, "matlab");
	sl_builder_append(b->builder, SL_T_LICENSE, &l);
	build_change(b, SL_T_RESERVATION, r, sl_reservation_row, .flags = SL_RESV_ANY_NODES);
	build_change(b, SL_T_RESERVATION, r, sl_reservation_row, .nodes = (struct sl_range) { 0, 0 });
	build_change(b, SL_T_RESERVATION, r, sl_reservation_row, .licenses = build_license(b, 0, 3));
	return b;
}

static uint32_t wants_licenses(struct build *b, uint32_t id, uint32_t count, int64_t limit)
{
	uint32_t job = build_pending(b, (struct build_job) { .id = id, .nodes = 1, .limit = limit });

	build_change(b, SL_T_JOB, job, sl_job_row, .licenses = build_license(b, 0, count));
	return job;
}

static void licences_of_a_reservation_are_set_aside_for_its_time(void **state)
{
	struct build *b = reserved_licenses();
	struct desk d;

	(void) state;
	wants_licenses(b, 1, 2, 600);
	wants_licenses(b, 2, 2, 660);
	wants_licenses(b, 3, 1, 7200);
	d = sit(b);
	assert_int_equal(start(&d, 1), 1);
	assert_int_equal(start(&d, 2), 0);
	assert_int_equal(d.why.why, SL_WHY_LICENSES);
	assert_string_equal(sl_refusal_text(&d.why), "needs 2 of license matlab, 1 is free");
	assert_int_equal(reserve(&d, 2), 1);
	assert_int_equal(d.at, 4200);
	assert_int_equal(start(&d, 3), 1);
	accepted(&d);
	leave(&d);
}

/* What others have reserved of licences, or have, is none of its either. */
static void a_job_in_a_reservation_that_brings_no_licences_needs_free_ones(void **state)
{
	struct build *b = reserved_licenses();
	struct desk d;

	(void) state;
	build_reservation(b, "nodes", 0, 7200, 0, 1);
	for (uint32_t id = 1; id <= 3; id++) {
		wants_licenses(b, id, id == 1 ? 3 : 2, id == 2 ? 900 : 300);
		build_change_job(b, id, .reservation = sl_builder_str(b->builder, "nodes"));
	}
	d = sit(b);
	assert_int_equal(start(&d, 2), 0);
	assert_int_equal(d.why.why, SL_WHY_LICENSES);
	assert_int_equal(start(&d, 1), 1);
	assert_int_equal(start(&d, 3), 0);
	assert_int_equal(d.why.why, SL_WHY_LICENSES);
	assert_int_equal(reserve(&d, 3), 1);
	assert_int_equal(d.at, 300);
	(void) accepted(&d);
	leave(&d);
}

static void a_job_in_a_reservation_without_nodes_runs_on_any_in_its_time(void **state)
{
	struct build *b = reserved_licenses();
	uint32_t early = wants_licenses(b, 1, 3, 60), job;
	struct desk d;

	(void) state;
	build_change(b, SL_T_JOB, early, sl_job_row, .reservation = sl_builder_str(b->builder, "lic"));
	d = sit(b);
	assert_int_equal(start(&d, 1), 0);
	assert_int_equal(d.why.why, SL_WHY_RESERVATION);
	assert_string_equal(sl_refusal_text(&d.why), "its reservation lic has not begun");
	leave(&d);
	b = reserved_licenses();
	job = wants_licenses(b, 1, 3, 60);
	build_change(b, SL_T_RESERVATION, 0, sl_reservation_row, .start_time = BUILD_NOW - 60);
	build_change(b, SL_T_JOB, job, sl_job_row, .reservation = sl_builder_str(b->builder, "lic"));
	d = sit(b);
	assert_int_equal(start(&d, 1), 1);
	assert_int_equal(accepted(&d)->start.native[0], 0);
	leave(&d);
}

/* The job's way in the queue: reservations, SL_NONE for none of them. */
static void ways(struct build *b, uint32_t job, uint32_t first, uint32_t second)
{
	struct sl_range r = { sl_builder_append(b->builder, SL_T_WAY, &(struct sl_way_row) { first }), 2 };

	sl_builder_append(b->builder, SL_T_WAY, &(struct sl_way_row) { second });
	for (uint32_t q = 0; q < sl_builder_rows(b->builder, SL_T_QUEUE); q++) {
		struct sl_queue_row row;

		assert_int_equal(sl_builder_row(b->builder, SL_T_QUEUE, q, &row), 0);
		if (row.job == job)
			build_change(b, SL_T_QUEUE, q, sl_queue_row, .ways = r);
	}
}

static void a_reservation_that_draws_jobs_in_is_tried_first_and_left_when_it_is_full(void **state)
{
	struct build *b = build_create("3x8c");
	uint32_t r = build_reservation(b, "magnet", -60, 3600, 2, 2), job[3];
	const struct sl_plan_image *plan;
	struct desk d;

	(void) state;
	for (uint32_t i = 0; i < 3; i++) {
		job[i] = build_pending(b, (struct build_job) { .id = i + 1, .nodes = 1, .exclusive = true, .limit = 60 });
		if (i < 2)
			ways(b, job[i], r, SL_NONE);
	}
	d = sit(b);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(start(&d, i + 1), 1);
	plan = accepted(&d);
	assert_int_equal(plan->start.reservation[0], r);
	assert_int_equal(plan->place.node[plan->start.places[0].first], 2);
	assert_int_equal(plan->start.reservation[1], SL_NONE);
	assert_int_equal(plan->start.native[0], 0);
	leave(&d);
}

/* The first task of an array starts outside; of the others nothing is said yet. */
static void a_reservation_that_draws_jobs_in_and_is_too_small_is_no_reason(void **state)
{
	struct build *b = build_create("5x8c");
	uint32_t r = build_reservation(b, "magnet", -60, 3600, 4, 4), why;
	struct desk d;

	(void) state;
	build_pending(b, (struct build_job) { .id = 1, .nodes = 2, .exclusive = true, .limit = 60 });
	build_change_job(b, 1, .array_pending = 3);
	ways(b, 0, r, SL_NONE);
	d = sit(b);
	assert_int_equal(start(&d, 1), 1);
	pending_text(accepted(&d), 1, &why);
	assert_int_equal(why, SL_WHYS);
	assert_int_equal(start(&d, 1), 1);
	assert_int_equal(start(&d, 1), 0);
	pending_text(accepted(&d), 1, &why);
	assert_int_equal(why, SL_WHY_RESOURCES);
	leave(&d);
}

static void of_several_reservations_the_one_that_has_room_first_is_taken(void **state)
{
	struct build *b = build_create("3x8c");
	uint32_t one = build_reservation(b, "a", -60, 36000, 0, 0), other = build_reservation(b, "b", -60, 36000, 1, 1);
	uint32_t job, late;
	const struct sl_plan_image *plan;
	struct desk d;

	(void) state;
	build_running(b, (struct build_job) { .id = 9, .first = 0, .cores = 8, .ends_in = 600 });
	job = build_pending(b, (struct build_job) { .id = 1, .nodes = 1, .exclusive = true, .limit = 1200 });
	late = build_pending(b, (struct build_job) { .id = 2, .nodes = 1, .exclusive = true, .limit = 60 });
	for (uint32_t i = job; i <= late; i++) {
		build_change(b, SL_T_JOB, i, sl_job_row, .reservation = sl_builder_str(b->builder, "a,b"));
		ways(b, i, one, other);
	}
	d = sit(b);
	assert_int_equal(start(&d, 1), 1);
	assert_int_equal(start(&d, 2), 0);
	assert_int_equal(reserve(&d, 2), 1);
	assert_int_equal(d.at, 600);
	plan = accepted(&d);
	assert_int_equal(plan->start.reservation[0], other);
	assert_int_equal(plan->start.native[0], 0);
	assert_int_equal(plan->reserve.reservation[0], one);
	leave(&d);
}

static void a_job_of_a_flexible_reservation_that_is_full_starts_outside(void **state)
{
	struct build *b = build_create("2x8c");
	uint32_t r = build_reservation(b, "flex", -60, 36000, 0, 0), job;
	struct desk d;

	(void) state;
	build_change(b, SL_T_RESERVATION, r, sl_reservation_row, .flags = SL_RESV_FLEX);
	build_running(b, (struct build_job) { .id = 9, .first = 0, .cores = 8, .ends_in = 600 });
	job = build_pending(b, (struct build_job) { .id = 1, .nodes = 1, .exclusive = true, .limit = 60 });
	build_change(b, SL_T_JOB, job, sl_job_row, .reservation = sl_builder_str(b->builder, "flex"));
	d = sit(b);
	assert_int_equal(start(&d, 1), 1);
	assert_int_equal(accepted(&d)->place.node[0], 1);
	assert_int_equal(accepted(&d)->start.native[0], 0);
	leave(&d);
}

/* Nodes 2 and 3 of four are reserved, from so many seconds on. */
static struct build *flexible(int64_t from)
{
	struct build *b = build_create("4x8c");
	uint32_t r = build_reservation(b, "flex", from, 36000, 2, 3);

	build_change(b, SL_T_RESERVATION, r, sl_reservation_row, .flags = SL_RESV_FLEX);
	return b;
}

static void names_flex(struct build *b, struct build_job j)
{
	uint32_t job = build_pending(b, j);

	build_change(b, SL_T_JOB, job, sl_job_row, .reservation = sl_builder_str(b->builder, "flex"));
}

static void nodes_of_a_flexible_reservation_are_filled_before_others(void **state)
{
	struct build *b = flexible(-60);
	struct desk d;

	(void) state;
	names_flex(b, (struct build_job) { .id = 1, .nodes = 1, .exclusive = true, .limit = 60 });
	names_flex(b, (struct build_job) { .id = 2, .nodes = 2, .exclusive = true, .limit = 60 });
	for (uint32_t n = 2; n < 4; n++)	/* that these weigh more makes no difference */
		build_change(b, SL_T_NODE, n, sl_node_row, .weight = 100);
	d = sit(b);
	assert_int_equal(start(&d, 1), 1);
	assert_string_equal(where(&d, 1), "n2:8");
	assert_int_equal(start(&d, 2), 1);
	assert_string_equal(where(&d, 2), "n0:8 n3:8");
	assert_int_equal(accepted(&d)->start.native[1], 0);
	leave(&d);
}

static void a_flexible_reservation_has_its_jobs_before_it_begins_and_after_it_ends(void **state)
{
	struct build *b = flexible(300);
	struct desk d;

	(void) state;
	build_running(b, (struct build_job) { .id = 9, .first = 0, .nodes = 2, .cores = 8, .ends_in = 60 });
	build_pending(b, (struct build_job) { .id = 1, .nodes = 1, .exclusive = true, .limit = 600 });
	names_flex(b, (struct build_job) { .id = 2, .nodes = 2, .exclusive = true, .limit = 72000 });
	build_pending(b, (struct build_job) { .id = 3, .nodes = 3, .exclusive = true, .limit = 600 });
	d = sit(b);
	assert_int_equal(start(&d, 1), 0);
	assert_int_equal(start(&d, 2), 1);
	assert_string_equal(where(&d, 2), "n2:8 n3:8");
	assert_int_equal(reserve(&d, 3), 1);
	assert_int_equal(d.at, 72000);
	accepted(&d);
	leave(&d);
}

/* What one side has of a node the other one has not, and the rest of it it has. */
static void nodes_of_both_sides_are_shared_with_jobs_of_a_flexible_reservation(void **state)
{
	struct build *b = flexible(-60);
	struct desk d;

	(void) state;
	build_running(b, (struct build_job) { .id = 9, .first = 1, .nodes = 3, .cores = 8, .ends_in = 600 });
	build_pending(b, (struct build_job) { .id = 1, .tasks = 3, .limit = 60 });
	names_flex(b, (struct build_job) { .id = 2, .tasks = 4, .limit = 60 });
	names_flex(b, (struct build_job) { .id = 3, .tasks = 2, .limit = 60 });
	build_pending(b, (struct build_job) { .id = 4, .tasks = 2, .limit = 60 });
	build_pending(b, (struct build_job) { .id = 5, .tasks = 1, .limit = 60 });
	names_flex(b, (struct build_job) { .id = 6, .tasks = 5, .limit = 60 });
	d = sit(b);
	assert_int_equal(start(&d, 1), 1);
	assert_int_equal(start(&d, 2), 1);
	assert_string_equal(where(&d, 2), "n0:4");
	assert_int_equal(start(&d, 3), 0);
	assert_int_equal(start(&d, 4), 0);
	assert_int_equal(start(&d, 5), 1);
	assert_int_equal(reserve(&d, 6), 1);
	assert_int_equal(d.at, 60);
	assert_int_equal(reserve(&d, 4), 1);
	assert_int_equal(d.at, 60);
	accepted(&d);
	assert_int_equal(checked(&d, sl_plan_undo(d.p, row(&d, 2), &d.err)), 0);
	assert_int_equal(start(&d, 4), 1);
	accepted(&d);
	leave(&d);
}

/* Node 0 is reserved, node 1 busy, node 2 free: job 1 needs two, of the reservation or not, job 2 one that is not,
 * job 3 one that is. */
static struct build *border(void)
{
	struct build *b = build_create("3x8c");
	uint32_t r = build_reservation(b, "flex", -60, 36000, 0, 0), wide, inside;

	build_change(b, SL_T_RESERVATION, r, sl_reservation_row, .flags = SL_RESV_FLEX);
	build_running(b, (struct build_job) { .id = 9, .first = 1, .cores = 8, .ends_in = 600 });
	wide = build_pending(b, (struct build_job) { .id = 1, .nodes = 2, .exclusive = true, .limit = 60 });
	build_change(b, SL_T_JOB, wide, sl_job_row, .reservation = sl_builder_str(b->builder, "flex"));
	build_pending(b, (struct build_job) { .id = 2, .nodes = 1, .exclusive = true, .limit = 60 });
	inside = build_pending(b, (struct build_job) { .id = 3, .nodes = 1, .exclusive = true, .limit = 60 });
	build_change(b, SL_T_JOB, inside, sl_job_row, .reservation = sl_builder_str(b->builder, "flex"));
	return b;
}

static void a_job_of_a_flexible_reservation_has_nodes_of_both_sides_together(void **state)
{
	struct desk d = sit(border());
	const struct sl_plan_image *plan;

	(void) state;
	assert_int_equal(start(&d, 1), 1);
	assert_int_equal(start(&d, 2), 0);
	assert_int_equal(start(&d, 3), 0);
	plan = accepted(&d);
	assert_int_equal(plan->start.places[0].count, 2);
	assert_int_equal(plan->place.node[plan->start.places[0].first], 0);
	assert_int_equal(plan->place.node[plan->start.places[0].first + 1], 2);
	assert_int_equal(plan->start.native[0], 0);
	leave(&d);
}

static void what_others_have_of_both_sides_is_no_longer_such_a_jobs(void **state)
{
	struct desk d = sit(border());

	(void) state;
	assert_int_equal(start(&d, 2), 1);
	assert_int_equal(start(&d, 1), 0);
	assert_int_equal(reserve(&d, 1), 1);
	assert_int_equal(d.at, 60);
	accepted(&d);
	leave(&d);
	d = sit(border());
	assert_int_equal(start(&d, 3), 1);
	assert_int_equal(start(&d, 1), 0);
	assert_int_equal(reserve(&d, 1), 1);
	assert_int_equal(d.at, 60);
	accepted(&d);
	leave(&d);
}

static void a_job_of_a_flexible_reservation_to_come_is_booked_for_its_walltime(void **state)
{
	struct build *b = build_create("2x8c");
	uint32_t left = build_partition(b, "left", 0, 0), r = build_reservation(b, "flex", 300, 36000, 1, 1), job;
	struct sl_terms guessed = { .expected = 60 };
	struct sl_entry here = { .partition = left };
	struct desk d;
	int64_t at;

	(void) state;
	build_change(b, SL_T_RESERVATION, r, sl_reservation_row, .flags = SL_RESV_FLEX);
	build_running(b, (struct build_job) { .id = 9, .exclusive = true, .ends_in = 600 });
	job = build_pending(b, (struct build_job) { .id = 1, .nodes = 1, .exclusive = true, .limit = 600, .partition = left });
	build_change(b, SL_T_JOB, job, sl_job_row, .reservation = sl_builder_str(b->builder, "flex"));
	here.job = job;
	d = sit(b);
	assert_int_equal(checked(&d, sl_plan_reserve(d.p, here, &guessed, &at, &d.why, &d.err)), 1);
	assert_int_equal(at, BUILD_NOW + 600);
	assert_int_equal(accepted(&d)->reserve.expected[0], 0);
	leave(&d);
}

static void a_start_in_a_reservation_that_is_no_way_of_the_job_is_refused_by_the_checker(void **state)
{
	struct build *b = build_create("2x8c");
	uint32_t r = build_reservation(b, "r", -60, 36000, 0, 0), job;
	struct sl_error err = { SL_OK, "" };
	struct desk d;

	(void) state;
	job = build_pending(b, (struct build_job) { .id = 1, .nodes = 1, .exclusive = true, .limit = 60 });
	ways(b, job, r, SL_NONE);
	d = sit(b);
	assert_int_equal(start(&d, 1), 1);
	assert_int_equal(encode(&d, false)->start.reservation[0], r);
	((struct sl_snapshot *) &b->snap)->queue.ways = (const struct sl_range[]) { { 0, 0 } };
	assert_int_equal(sl_check_plan(&b->snap, &d.plan, &err), -1);
	assert_string_equal(err.text, "job 1: reservation row 0 is none of its ways");
	leave(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reservation_of_parts_of_nodes_leaves_the_rest_of_each_to_others),
		cmocka_unit_test(what_a_job_has_beside_its_reservation_of_parts_of_nodes_is_no_other_jobs),
		cmocka_unit_test(jobs_that_have_more_than_their_reservation_of_parts_of_nodes_keep_it),
		cmocka_unit_test(parts_of_nodes_are_kept_when_a_job_has_ended_there),
		cmocka_unit_test(two_reservations_of_more_cores_than_the_node_has_leave_their_jobs_theirs),
		cmocka_unit_test(a_job_that_borrows_from_a_reservation_is_tried_by_select),
		cmocka_unit_test(timelines_of_a_model_have_a_bound_together),
		cmocka_unit_test(two_reservations_of_parts_of_a_node_leave_each_other_theirs),
		cmocka_unit_test(memory_of_nodes_of_which_parts_are_reserved_is_shared),
		cmocka_unit_test(licences_of_a_reservation_are_set_aside_for_its_time),
		cmocka_unit_test(a_job_in_a_reservation_that_brings_no_licences_needs_free_ones),
		cmocka_unit_test(a_job_in_a_reservation_without_nodes_runs_on_any_in_its_time),
		cmocka_unit_test(a_reservation_that_draws_jobs_in_is_tried_first_and_left_when_it_is_full),
		cmocka_unit_test(a_reservation_that_draws_jobs_in_and_is_too_small_is_no_reason),
		cmocka_unit_test(of_several_reservations_the_one_that_has_room_first_is_taken),
		cmocka_unit_test(a_job_of_a_flexible_reservation_that_is_full_starts_outside),
		cmocka_unit_test(nodes_of_a_flexible_reservation_are_filled_before_others),
		cmocka_unit_test(a_flexible_reservation_has_its_jobs_before_it_begins_and_after_it_ends),
		cmocka_unit_test(nodes_of_both_sides_are_shared_with_jobs_of_a_flexible_reservation),
		cmocka_unit_test(a_job_of_a_flexible_reservation_has_nodes_of_both_sides_together),
		cmocka_unit_test(what_others_have_of_both_sides_is_no_longer_such_a_jobs),
		cmocka_unit_test(a_job_of_a_flexible_reservation_to_come_is_booked_for_its_walltime),
		cmocka_unit_test(a_start_in_a_reservation_that_is_no_way_of_the_job_is_refused_by_the_checker),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
