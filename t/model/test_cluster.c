/* SPDX-License-Identifier: MIT */
/*
 * What the model of a cluster holds free, at first and after each event.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "t/build.h"
#include "check/check.h"
#include "model/cluster.h"
#include "model/devices.h"
#include "t/model/same.h"

/* Of a node, by its name, so many seconds from now. */
static int free_cores(struct sl_cluster *c, const char *name, int64_t in)
{
	const struct sl_snapshot *snap = sl_cluster_snapshot(c);
	struct sl_resources r;
	uint32_t node = 0;

	while (node < snap->node.rows && strcmp(sl_snapshot_str(snap, snap->node.name[node]), name))
		node++;
	assert_in_range(node, 0, snap->node.rows - 1);
	sl_timeline_free(sl_cluster_timeline(c), node, BUILD_NOW + in, BUILD_NOW + in + 1, &r);
	return r.cores;
}

static void ok(int rc, const struct sl_error *err)
{
	if (rc < 0)
		fail_msg("%s", err->text);
}

/* -- what runs ----------------------------------------------------------- */

static void a_running_job_holds_its_cores_until_its_end(void **state)
{
	struct build *b = build_create("2x8c");
	struct sl_cluster *c;
	uint32_t n;

	(void) state;
	build_running(b, (struct build_job) { .id = 1, .nodes = 1, .cores = 3, .ends_in = 60 });
	c = build_cluster(b);
	assert_int_equal(free_cores(c, "n0", 0), 5);
	assert_int_equal(free_cores(c, "n0", 59), 5);
	assert_int_equal(free_cores(c, "n0", 60), 8);
	assert_int_equal(free_cores(c, "n1", 0), 8);
	assert_int_equal(sl_cluster_running(c, &n)[0], 0);
	assert_int_equal(n, 1);
	assert_int_equal(sl_cluster_places(c, 0, &n)[0].cores, 3);
	assert_int_equal(n, 1);
	sl_cluster_destroy(c);
	build_destroy(b);
}

static void an_overdue_a_completing_and_a_suspended_job_hold_as_the_rules_say(void **state)
{
	struct build *b = build_create("4x8c");
	struct sl_cluster *c;
	uint32_t n;

	(void) state;
	for (uint32_t i = 0; i < 4; i++)
		build_running(b, (struct build_job) { .id = i + 1, .first = i, .ends_in = 600 });
	build_change_job(b, 1, .end_time = BUILD_NOW - 5);
	build_change_job(b, 2, .state = SL_JOB_CANCELLED);
	build_change_job(b, 2, .end_time = BUILD_NOW);
	build_change_job(b, 2, .flags = SL_JOBF_COMPLETING);
	build_change_job(b, 3, .state = SL_JOB_SUSPENDED);
	build_change_job(b, 3, .suspend_time = BUILD_NOW - 400);
	build_change_job(b, 4, .state = SL_JOB_SUSPENDED);
	build_change_job(b, 4, .priority = 0);
	c = build_cluster(b);
	assert_int_equal(free_cores(c, "n0", 0), 0);
	assert_int_equal(free_cores(c, "n0", 24), 0);	/* KillWait is 30 s */
	assert_int_equal(free_cores(c, "n0", 25), 8);
	assert_int_equal(free_cores(c, "n1", 0), 0);
	assert_int_equal(free_cores(c, "n1", SL_OVERDUE_S), 8);
	assert_int_equal(free_cores(c, "n2", 999), 0);	/* 600 s, and the 400 of its suspension */
	assert_int_equal(free_cores(c, "n2", 1000), 8);
	assert_int_equal(free_cores(c, "n3", 0), 8);
	sl_cluster_running(c, &n);
	assert_int_equal(n, 3);
	sl_cluster_destroy(c);
	build_destroy(b);
}

static void a_snapshot_that_overbooks_a_node_leaves_nothing_there(void **state)
{
	struct build *b = build_create("2x8c");
	struct sl_cluster *c;

	(void) state;
	build_running(b, (struct build_job) { .id = 1, .nodes = 2, .cores = 5, .ends_in = 60 });
	build_running(b, (struct build_job) { .id = 2, .nodes = 2, .cores = 3, .ends_in = 90 });
	build_change(b, SL_T_ALLOC, 2, sl_alloc_row, .cores = 6);
	c = build_cluster(b);
	assert_int_equal(free_cores(c, "n0", 0), 0);
	assert_int_equal(free_cores(c, "n0", 59), 0);
	assert_int_equal(free_cores(c, "n0", 60), 2);
	assert_int_equal(free_cores(c, "n1", 60), 5);
	sl_cluster_destroy(c);
	build_destroy(b);
}

static void an_overbooked_job_gives_back_what_it_held(void **state)
{
	struct build *b = build_create("1x8c");
	struct sl_cluster *c;
	struct sl_error err;

	(void) state;
	build_running(b, (struct build_job) { .id = 1, .cores = 5, .ends_in = 60 });
	build_running(b, (struct build_job) { .id = 2, .cores = 3, .ends_in = 90 });
	build_change(b, SL_T_ALLOC, 1, sl_alloc_row, .cores = 6);
	c = build_cluster(b);
	ok(sl_cluster_advance(c, BUILD_NOW + 30, &err), &err);
	ok(sl_cluster_finish(c, 1, &err), &err);
	assert_int_equal(free_cores(c, "n0", 30), 3);
	assert_int_equal(free_cores(c, "n0", 60), 8);
	sl_cluster_destroy(c);
	build_destroy(b);
}

static void nodes_that_are_down_or_reserved_are_not_free(void **state)
{
	struct build *b = build_create("4x8c");
	struct sl_reservation_row r = sl_reservation_row();
	struct sl_resources there;
	struct sl_totals t;
	struct sl_cluster *c;

	(void) state;
	r.name = sl_builder_str(b->builder, "maint");
	r.start_time = BUILD_NOW + 100;
	r.end_time = BUILD_NOW + 200;
	r.nodes = build_nodes(b, 2, 3);
	sl_builder_append(b->builder, SL_T_RESERVATION, &r);
	build_change(b, SL_T_NODE, 0, sl_node_row, .state = SL_NODE_DOWN);
	build_change(b, SL_T_NODE, 1, sl_node_row, .state = SL_NODE_COMPLETING);
	c = build_cluster(b);
	assert_int_equal(free_cores(c, "n0", 0), 0);
	assert_int_equal(free_cores(c, "n0", 1 << 20), 0);
	assert_int_equal(free_cores(c, "n1", 29), 0);	/* nobody knows of whom: KillWait */
	assert_int_equal(free_cores(c, "n1", 30), 8);
	assert_int_equal(free_cores(c, "n2", 99), 8);
	assert_int_equal(free_cores(c, "n2", 100), 0);
	assert_int_equal(free_cores(c, "n3", 200), 8);
	sl_cluster_totals(c, &t);
	assert_int_equal(t.nodes, 4);
	assert_int_equal(t.usable_nodes, 3);
	assert_int_equal(t.cores, 24);
	assert_int_equal(t.free_cores, 16);
	assert_int_equal(sl_nodeset_count(sl_cluster_usable_nodes(c, 0)), 3);
	assert_int_equal(sl_nodeset_count(sl_cluster_partition_nodes(c, 0)), 4);
	assert_null(sl_cluster_partition_nodes(c, 1));
	sl_cluster_free(c, 0, &there);
	assert_int_equal(there.cores, 0);
	sl_cluster_free(c, 2, &there);
	assert_int_equal(there.cores, 8);
	sl_cluster_free(c, 4, &there);
	assert_int_equal(there.cores, 0);
	sl_cluster_destroy(c);
	build_destroy(b);
}

static void a_node_of_one_user_is_blocked_until_his_last_job_there_ends(void **state)
{
	struct build *b = build_create("2x8c");
	struct sl_cluster *c;

	(void) state;
	build_running(b, (struct build_job) { .id = 1, .cores = 1, .ends_in = 60 });
	build_running(b, (struct build_job) { .id = 2, .cores = 1, .ends_in = 90 });
	build_change(b, SL_T_NODE, 0, sl_node_row, .owner = 1000);
	c = build_cluster(b);
	assert_int_equal(free_cores(c, "n0", 0), 0);
	assert_int_equal(free_cores(c, "n0", 89), 0);
	assert_int_equal(free_cores(c, "n0", 90), 8);
	sl_cluster_destroy(c);
	build_destroy(b);
}

static void jobs_that_share_cores_keep_those_off_that_do_not(void **state)
{
	struct build *b = build_create("2x8c");
	struct sl_cluster *c;

	(void) state;
	build_running(b, (struct build_job) { .id = 1, .cores = 5, .ends_in = 60 });
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .oversubscribe = 2);
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .flags |= SL_PART_FORCE);
	c = build_cluster(b);
	assert_int_equal(free_cores(c, "n0", 0), 0);
	assert_int_equal(free_cores(c, "n0", 60), 8);
	assert_int_equal(free_cores(c, "n1", 0), 8);
	sl_cluster_destroy(c);
	build_destroy(b);
}

/* -- what changes -------------------------------------------------------- */

static void an_event_changes_what_it_says_and_nothing_else(void **state)
{
	struct build *b = build_create("2x8c");
	struct sl_place place = { .node = 1, .cores = 4 };
	struct sl_cluster *c;
	struct sl_error err;
	uint32_t job, n;

	(void) state;
	job = build_pending(b, (struct build_job) { .id = 1, .limit = 60 });
	c = build_cluster(b);
	assert_int_equal(sl_cluster_submit(c, job, &err), -1);
	assert_int_equal(sl_cluster_submit(c, 9, &err), -1);
	assert_int_equal(sl_cluster_start(c, job, &place, 1, BUILD_NOW, &err), -1);
	place.node = 2;
	assert_int_equal(sl_cluster_start(c, job, &place, 1, BUILD_NOW + 60, &err), -1);
	place.node = 1;
	ok(sl_cluster_start(c, job, &place, 1, BUILD_NOW + 60, &err), &err);
	assert_int_equal(free_cores(c, "n1", 0), 4);
	assert_int_equal(free_cores(c, "n1", 60), 8);
	sl_cluster_queue(c, &n);
	assert_int_equal(n, 0);
	assert_int_equal(sl_cluster_start(c, job, &place, 1, BUILD_NOW + 60, &err), -1);
	ok(sl_cluster_advance(c, BUILD_NOW + 30, &err), &err);
	assert_int_equal(sl_cluster_advance(c, BUILD_NOW, &err), -1);
	assert_int_equal(sl_cluster_now(c), BUILD_NOW + 30);
	ok(sl_cluster_finish(c, job, &err), &err);
	assert_int_equal(sl_cluster_finish(c, job, &err), -1);
	assert_int_equal(free_cores(c, "n1", 30), 8);
	assert_null(sl_cluster_places(c, job, &n));
	ok(sl_cluster_submit(c, job, &err), &err);
	assert_int_equal(sl_cluster_queue(c, &n)[0].job, job);
	assert_int_equal(n, 1);
	sl_cluster_destroy(c);
	build_destroy(b);
}

static void a_start_on_what_is_not_free_changes_nothing(void **state)
{
	struct build *b = build_create("2x8c");
	struct sl_license_row lic = { .total = 1 };
	struct sl_place place[2] = { { .node = 0, .cores = 8 }, { .node = 1, .cores = 8 } };
	struct sl_cluster *c;
	struct sl_error err;
	uint32_t n;

	(void) state;
	lic.name = sl_builder_str(b->builder, "matlab");
	sl_builder_append(b->builder, SL_T_LICENSE, &lic);
	build_running(b, (struct build_job) { .id = 1, .first = 1, .cores = 1, .ends_in = 60 });
	build_pending(b, (struct build_job) { .id = 2, .limit = 60 });
	build_pending(b, (struct build_job) { .id = 3, .limit = 60 });
	build_change_job(b, 2, .licenses = build_license(b, 0, 1));
	build_change_job(b, 3, .licenses = build_license(b, 0, 1));
	c = build_cluster(b);
	assert_int_equal(sl_cluster_start(c, 1, place, 2, BUILD_NOW + 60, &err), -1);
	assert_int_equal(err.code, SL_EBUSY);
	assert_int_equal(free_cores(c, "n0", 0), 8);
	sl_cluster_queue(c, &n);
	assert_int_equal(n, 2);
	ok(sl_cluster_start(c, 1, place, 1, BUILD_NOW + 60, &err), &err);
	place[1].cores = 1;
	assert_int_equal(sl_cluster_start(c, 2, place + 1, 1, BUILD_NOW + 60, &err), -1);
	assert_non_null(strstr(err.text, "license matlab"));
	ok(sl_cluster_finish(c, 1, &err), &err);
	ok(sl_cluster_start(c, 2, place + 1, 1, BUILD_NOW + 60, &err), &err);
	sl_cluster_destroy(c);
	build_destroy(b);
}

static void time_that_passes_a_jobs_end_does_not_free_it(void **state)
{
	struct build *b = build_create("1x8c");
	struct sl_cluster *c;
	struct sl_error err;

	(void) state;
	build_running(b, (struct build_job) { .id = 1, .ends_in = 60 });
	c = build_cluster(b);
	ok(sl_cluster_advance(c, BUILD_NOW + 100, &err), &err);
	assert_int_equal(free_cores(c, "n0", 109), 0);	/* 10 s after its KillWait: as long again */
	assert_int_equal(free_cores(c, "n0", 110), 8);
	ok(sl_cluster_finish(c, 0, &err), &err);
	assert_int_equal(free_cores(c, "n0", 100), 8);
	sl_cluster_destroy(c);
	build_destroy(b);
}

/* -- incremental and from scratch ---------------------------------------- */

static struct sl_job_row job_row(struct build *b, uint32_t job)
{
	struct sl_job_row r;

	assert_int_equal(sl_builder_row(b->builder, SL_T_JOB, job, &r), 0);
	return r;
}

/* A row's strings from one builder's pool to another's. */
static void translate(struct build *from, struct build *to, int table, void *row)
{
	const struct sl_table *t = &sl_snapshot_schema.table[table];

	for (uint32_t k = 0; k < t->columns; k++) {
		uint32_t *str = (uint32_t *) ((char *) row + t->column[k].row_offset);

		if (t->column[k].type == SL_TYPE_str)
			*str = sl_builder_str(to->builder, sl_builder_text(from->builder, *str));
	}
}

static struct sl_range alloc_gres_rows(const struct sl_cluster *c, const struct sl_place *place, struct build *b)
{
	struct sl_range range = { sl_builder_rows(b->builder, SL_T_ALLOC_GRES), 0 };

	for (uint32_t k = 0; k < sl_cluster_snapshot(c)->gres_kind.rows; k++) {
		struct sl_alloc_gres_row g = { .kind = k, .count = place->gres[k] };

		g.devices = sl_cluster_devices(c, place->gres, k, &g.of);
		if (g.count)
			range.count += sl_builder_append(b->builder, SL_T_ALLOC_GRES, &g) != SL_NONE;
	}
	return range;
}

/* What reservations have of each of their nodes. */
static void copy_parts(const struct build *from, struct build *to)
{
	for (uint32_t i = 0; i < sl_builder_rows(to->builder, SL_T_RESERVATION); i++) {
		struct sl_reservation_row r;
		struct sl_alloc_row part;
		uint32_t first = sl_builder_rows(to->builder, SL_T_ALLOC);

		sl_builder_row(to->builder, SL_T_RESERVATION, i, &r);
		for (uint32_t k = 0; k < r.parts.count; k++) {
			sl_builder_row(from->builder, SL_T_ALLOC, r.parts.first + k, &part);
			sl_builder_append(to->builder, SL_T_ALLOC, &part);
		}
		r.parts.first = r.parts.count ? first : 0;
		sl_builder_update(to->builder, SL_T_RESERVATION, i, &r);
	}
}

/* A snapshot of what *c* has become. */
static struct build *rebuild(struct build *old, const struct sl_cluster *c, const int64_t *end)
{
	struct build *b = build_create("1x1c");
	const struct sl_snapshot *s = sl_cluster_snapshot(c);
	const struct sl_entry *queue;
	uint32_t n;

	/* Start over with the same rows, but for what changes. */
	sl_builder_reset(b->builder);
	b->meta = old->meta;
	b->meta.now = sl_cluster_now(c);
	for (int t = 0; t < SL_SNAPSHOT_TABLES; t++) {
		union { struct sl_job_row job; struct sl_partition_row part; char bytes[1024]; } row;

		for (uint32_t i = 0; i < sl_builder_rows(old->builder, t); i++) {
			sl_builder_row(old->builder, t, i, &row);
			if (t == SL_T_JOB || t == SL_T_ALLOC || t == SL_T_ALLOC_GRES || t == SL_T_QUEUE)
				continue;
			translate(old, b, t, &row);
			sl_builder_append(b->builder, t, &row);
		}
	}
	copy_parts(old, b);
	for (uint32_t j = 0; j < s->job.rows; j++) {
		struct sl_job_row r = job_row(old, j);
		const struct sl_place *place = sl_cluster_places(c, j, &n);

		r.state = n ? SL_JOB_RUNNING : SL_JOB_PENDING;
		r.end_time = end[j];
		r.alloc = (struct sl_range) { sl_builder_rows(b->builder, SL_T_ALLOC), n };
		for (uint32_t i = 0; i < n; i++) {
			struct sl_alloc_row a = { .node = place[i].node, .cores = place[i].cores,
				.memory = place[i].memory };

			a.gres = alloc_gres_rows(c, &place[i], b);
			sl_builder_append(b->builder, SL_T_ALLOC, &a);
		}
		translate(old, b, SL_T_JOB, &r);
		sl_builder_append(b->builder, SL_T_JOB, &r);
	}
	queue = sl_cluster_queue(c, &n);
	for (uint32_t i = 0; i < n; i++)
		build_queue(b, queue[i].job, queue[i].partition);
	return b;
}

/* A random place for a job that is free now for so many seconds. */
static bool random_place(struct sl_cluster *c, uint64_t *seed, int64_t end, struct sl_place *place)
{
	uint32_t node = build_below(seed, sl_cluster_snapshot(c)->node.rows);
	struct sl_resources r;

	sl_timeline_free(sl_cluster_timeline(c), node, sl_cluster_now(c), end, &r);
	if (r.cores < 1)
		return false;
	*place = (struct sl_place) { .node = node, .cores = 1 + build_below(seed, (uint32_t) r.cores),
		.memory = r.memory ? build_below(seed, 200) % r.memory : 0 };
	place->gres[0] = r.gres[0] ? (uint16_t) build_below(seed, r.gres[0] + 1u) : 0;
	return true;
}

static void event(struct sl_cluster *c, uint64_t *seed, int64_t *end)
{
	struct sl_place place;
	struct sl_error err;
	const uint32_t *running;
	uint32_t n, kind = build_below(seed, 5), job;

	if (kind == 0) {
		ok(sl_cluster_advance(c, sl_cluster_now(c) + build_below(seed, 200), &err), &err);
		return;
	}
	if (kind < 3) {
		const struct sl_entry *q = sl_cluster_queue(c, &n);
		int64_t until = sl_cluster_now(c) + 1 + build_below(seed, 500);

		if (!n || !random_place(c, seed, until, &place))
			return;
		job = q[build_below(seed, n)].job;
		/* Jobs in reservations and with licences may be refused for these. */
		if (sl_cluster_start(c, job, &place, 1, until, &err) < 0)
			assert_int_equal(err.code, SL_EBUSY);
		else
			end[job] = until;
		return;
	}
	running = sl_cluster_running(c, &n);
	if (!n)
		return;
	job = running[build_below(seed, n)];
	ok(sl_cluster_finish(c, job, &err), &err);
	if (kind == 4)
		ok(sl_cluster_submit(c, job, &err), &err);
}

static void a_cluster_that_moved_equals_one_built_from_scratch(void **state)
{
	(void) state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct build *b = build_random_cluster(seed, 6, 25);
		uint64_t s = seed;
		struct sl_cluster *c;
		int64_t *end;

		for (uint32_t j = 0; j < sl_builder_rows(b->builder, SL_T_JOB); j++) {
			/* What a simulator has: jobs that are pending, none suspended or completing. */
			struct sl_job_row r = job_row(b, j);

			r.flags &= ~(uint32_t) (SL_JOBF_COMPLETING | SL_JOBF_POWER_UP);
			r.flags &= ~(uint32_t) SL_JOBF_OVERSUBSCRIBE;
			r.state = r.state == SL_JOB_SUSPENDED ? SL_JOB_RUNNING : r.state;
			sl_builder_update(b->builder, SL_T_JOB, j, &r);
		}
		for (uint32_t n = 0; n < sl_builder_rows(b->builder, SL_T_NODE); n++)	/* nor nodes that boot */
			build_change(b, SL_T_NODE, n, sl_node_row,
				     .state &= SL_NODE_UNUSABLE | SL_NODE_COMPLETING | SL_NODE_POWERED_DOWN);
		for (uint32_t p = 0; p < sl_builder_rows(b->builder, SL_T_PARTITION); p++) {
			build_change(b, SL_T_PARTITION, p, sl_partition_row, .oversubscribe = 1);
			build_change(b, SL_T_PARTITION, p, sl_partition_row, .max_cpus_per_node = SL_NONE);
		}
		/* ... nor ends that are guessed anew as time passes */
		b->meta.select_flags &= ~(uint32_t) SL_SELECT_SOFT_LIMIT;
		c = build_cluster(b);
		end = calloc(sl_cluster_snapshot(c)->job.rows + 1, sizeof(*end));
		for (uint32_t j = 0; j < sl_cluster_snapshot(c)->job.rows; j++)
			end[j] = sl_cluster_snapshot(c)->job.end_time[j];
		for (int i = 0; i < 30; i++) {
			struct build *again;
			struct sl_cluster *fresh;

			event(c, &s, end);
			if (i % 5)
				continue;
			again = rebuild(b, c, end);
			fresh = build_cluster(again);
			must_equal(c, fresh, seed);
			sl_cluster_destroy(fresh);
			build_destroy(again);
		}
		free(end);
		sl_cluster_destroy(c);
		build_destroy(b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_running_job_holds_its_cores_until_its_end),
		cmocka_unit_test(an_overdue_a_completing_and_a_suspended_job_hold_as_the_rules_say),
		cmocka_unit_test(a_snapshot_that_overbooks_a_node_leaves_nothing_there),
		cmocka_unit_test(an_overbooked_job_gives_back_what_it_held),
		cmocka_unit_test(nodes_that_are_down_or_reserved_are_not_free),
		cmocka_unit_test(a_node_of_one_user_is_blocked_until_his_last_job_there_ends),
		cmocka_unit_test(jobs_that_share_cores_keep_those_off_that_do_not),
		cmocka_unit_test(an_event_changes_what_it_says_and_nothing_else),
		cmocka_unit_test(a_start_on_what_is_not_free_changes_nothing),
		cmocka_unit_test(time_that_passes_a_jobs_end_does_not_free_it),
		cmocka_unit_test(a_cluster_that_moved_equals_one_built_from_scratch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
