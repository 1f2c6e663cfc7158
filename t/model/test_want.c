/* SPDX-License-Identifier: MIT */
/*
 * What a queue entry wants, in cores, nodes and kinds; and what only Slurm can place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "image/shapes.h"
#include "t/model/want_of.h"
#include "t/timeline/set.h"

static void a_want_is_in_cores(void **state)
{
	struct build *b = build_create("4x8c2t");
	const struct sl_want *w;
	struct sl_cluster *c;

	(void) state;
	build_pending(b, (struct build_job) { .id = 1, .nodes = 2, .tasks = 8, .limit = 600 });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 2, .tasks = 8, .cpus_per_task = 4 });
	build_pending(b, (struct build_job) { .id = 3, .nodes = 2, .tasks = 8, .cpus_per_task = 3 });
	c = build_cluster(b);
	w = want(c, 1);
	assert_int_equal(w->request.min_nodes, 2);
	assert_int_equal(w->request.max_nodes, 2);
	assert_int_equal(w->request.tasks, 8);
	assert_int_equal(w->request.cores_per_task, 1);
	assert_int_equal(w->request.tasks_per_core, 2);
	assert_int_equal(w->request.duration, 600);
	assert_int_equal(w->native, 0);
	assert_ptr_equal(w->request.eligible, sl_cluster_usable_nodes(c, 0));
	assert_ptr_equal(w, want(c, 1));
	w = want(c, 2);
	assert_int_equal(w->request.cores_per_task, 2);
	assert_int_equal(w->request.tasks_per_core, 1);
	assert_true(w->request.duration == SL_FOREVER);
	w = want(c, 3);
	assert_int_equal(w->native, 0);		/* two tasks have three cores */
	assert_int_equal(w->request.cores_per_task, 3);
	assert_int_equal(w->request.tasks_per_core, 2);
	sl_cluster_destroy(c);
	b->meta.select_flags = SL_SELECT_ONE_TASK_PER_CORE;
	c = build_cluster(b);
	assert_int_equal(want(c, 1)->request.tasks_per_core, 1);
	assert_int_equal(want(c, 3)->request.cores_per_task, 2);
	sl_cluster_destroy(c);
	build_destroy(b);
}

/* --mincpus, beside --ntasks-per-core: CPUs that no task may have count for nothing. */
static void the_least_cpus_of_a_node_are_those_that_tasks_may_have(void **state)
{
	struct build *b = build_create("4x8c2t");
	struct sl_cluster *c;

	(void) state;
	for (uint32_t id = 1; id <= 4; id++) {
		build_pending(b, (struct build_job) { .id = id, .nodes = 2, .cpus_per_task = id == 3 ? 2 : 1 });
		build_change_job(b, id, .pn_min_cpus = 5);
	}
	build_change_job(b, 2, .ntasks_per_core = 1);
	build_change_job(b, 3, .ntasks_per_core = 1);
	build_change_job(b, 4, .ntasks_per_core = 2);
	c = build_cluster(b);
	assert_int_equal(want(c, 1)->request.min_cores_per_node, 3);
	assert_int_equal(want(c, 2)->request.min_cores_per_node, 5);
	assert_int_equal(want(c, 3)->request.min_cores_per_node, 3);
	assert_int_equal(want(c, 4)->request.min_cores_per_node, 3);
	sl_cluster_destroy(c);
	build_destroy(b);
}

/* Limits of its partition, each of which a flag takes off. */
static void a_job_may_be_above_limits_of_its_partition(void **state)
{
	struct build *b = build_create("8x8c");
	const struct sl_want *w;
	struct sl_cluster *c;

	(void) state;
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .min_nodes = 2);
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .max_nodes = 3);
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .max_time = 600);
	build_pending(b, (struct build_job) { .id = 1, .nodes = 1, .limit = 600 });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 4, .limit = 600 });
	build_pending(b, (struct build_job) { .id = 3, .nodes = 2, .limit = 900 });
	c = build_cluster(b);
	for (uint32_t id = 1; id <= 3; id++)
		assert_int_equal(want(c, id)->why, SL_WHY_PARTITION);
	sl_cluster_destroy(c);
	build_change_job(b, 1, .flags = SL_JOBF_ANY_MIN_NODES);
	build_change_job(b, 2, .flags = SL_JOBF_ANY_MAX_NODES);
	build_change_job(b, 3, .flags = SL_JOBF_ANY_TIME);
	c = build_cluster(b);
	w = want(c, 1);
	assert_int_equal(w->why, SL_WHY_NONE);
	assert_int_equal(w->request.min_nodes, 1);
	assert_int_equal(w->request.max_nodes, 1);
	w = want(c, 2);
	assert_int_equal(w->why, SL_WHY_NONE);
	assert_int_equal(w->request.max_nodes, 4);
	w = want(c, 3);
	assert_int_equal(w->why, SL_WHY_NONE);
	assert_int_equal(w->time_limit, 900);
	sl_cluster_destroy(c);
	build_destroy(b);
}

static void tasks_per_node_are_a_minimum_of_cores_and_a_maximum_of_tasks(void **state)
{
	struct build *b = build_create("4x8c");
	const struct sl_want *w;
	struct sl_cluster *c;

	(void) state;
	build_pending(b, (struct build_job) { .id = 1, .nodes = 2, .max_nodes = 9, .tasks = 8, .tasks_per_node = 3,
					       .cpus_per_task = 2 });
	c = build_cluster(b);
	w = want(c, 1);
	assert_int_equal(w->request.tasks_per_node, 3);
	assert_int_equal(w->request.min_cores_per_node, 6);
	assert_int_equal(w->request.max_nodes, 8);	/* no more than tasks */
	sl_cluster_destroy(c);
	build_destroy(b);
}

static void the_limits_of_the_partition_bind_the_job(void **state)
{
	struct build *b = build_create("8x8c");
	const struct sl_want *w;
	struct sl_cluster *c;

	(void) state;
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .max_nodes = 3);
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .min_nodes = 2);
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .max_time = 3600);
	build_pending(b, (struct build_job) { .id = 1, .nodes = 1, .max_nodes = 8, .limit = 60 });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 4, .limit = 60 });
	build_pending(b, (struct build_job) { .id = 3, .nodes = 2, .limit = 3660 });
	build_pending(b, (struct build_job) { .id = 4, .nodes = 2 });
	build_pending(b, (struct build_job) { .id = 5, .nodes = 2, .limit = 3660 });
	build_change_job(b, 5, .time_min = 600);
	build_pending(b, (struct build_job) { .id = 6, .nodes = 2 });
	build_change_job(b, 6, .time_min = 3660);
	c = build_cluster(b);
	w = want(c, 1);
	assert_int_equal(w->request.min_nodes, 2);
	assert_int_equal(w->request.max_nodes, 3);
	w = want(c, 2);
	assert_int_equal(w->why, SL_WHY_PARTITION);
	assert_string_equal(w->text, "needs 4 nodes, may have 3 in partition batch");
	assert_string_equal(want(c, 3)->text, "asks for 61 minutes, partition batch allows 60");
	assert_int_equal(want(c, 4)->time_limit, 3600);
	assert_string_equal(want(c, 6)->text, "asks for 61 minutes, partition batch allows 60");
	w = want(c, 5);
	assert_int_equal(w->why, SL_WHY_NONE);
	assert_int_equal(w->time_limit, 3600);
	assert_int_equal(w->time_floor, 600);
	sl_cluster_destroy(c);
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .flags = 0);
	c = build_cluster(b);
	assert_string_equal(want(c, 1)->text, "partition batch is down");
	sl_cluster_destroy(c);
	build_destroy(b);
}

static void memory_follows_the_cores_or_the_node_or_is_all_of_it(void **state)
{
	struct build *b = build_create("4x8c2t1000m");
	struct sl_cluster *c;

	(void) state;
	b->meta.select_flags = SL_SELECT_MEMORY;
	build_pending(b, (struct build_job) { .id = 1, .memory = 300 });
	build_pending(b, (struct build_job) { .id = 2 });
	build_pending(b, (struct build_job) { .id = 3 });
	build_change_job(b, 2, .memory_per_cpu = 50);
	c = build_cluster(b);
	assert_int_equal(want(c, 1)->request.memory_per_node, 300);
	assert_int_equal(want(c, 2)->request.memory_per_core, 100);
	assert_int_equal(want(c, 3)->request.memory_per_node, 1000);
	sl_cluster_destroy(c);
	build_change(b, SL_T_NODE, 1, sl_node_row, .memory = 2000);
	c = build_cluster(b);
	assert_left(want(c, 3), 0);
	assert_true(want(c, 3)->request.all_memory);
	assert_int_equal(want(c, 3)->request.memory_per_node, 0);
	sl_cluster_destroy(c);
	b->meta.select_flags = 0;
	c = build_cluster(b);
	assert_int_equal(want(c, 1)->request.memory_per_node, 0);
	sl_cluster_destroy(c);
	build_destroy(b);
}

static void gres_become_kinds(void **state)
{
	struct build *b = build_create("4x8c2g");
	struct sl_gres_kind_row kind = sl_gres_kind_row();
	struct sl_cluster *c;

	(void) state;
	kind.key = sl_builder_str(b->builder, "gpu:a100");
	kind.name = sl_builder_str(b->builder, "gpu");
	kind.type = sl_builder_str(b->builder, "a100");
	sl_builder_append(b->builder, SL_T_GRES_KIND, &kind);
	for (uint32_t i = 0; i < 4; i++)
		build_pending(b, (struct build_job) { .id = i + 1, .gpus = 1 });
	build_change_job(b, 2, .gres = build_gres(b, "gpu", "a100", 2, SL_PER_TASK));
	build_change_job(b, 3, .gres = build_gres(b, "gpu", "h100", 2, SL_PER_JOB));
	build_change_job(b, 4, .gres = build_gres(b, "gpu", "", 2, SL_PER_SOCKET));
	c = build_cluster(b);
	assert_int_equal(want(c, 1)->request.gres_needs, 1);
	assert_int_equal(want(c, 1)->request.gres[0].kinds, 3);
	assert_int_equal(want(c, 1)->request.gres[0].per, SL_GRES_PER_NODE);
	assert_int_equal(want(c, 2)->request.gres[0].kinds, 2);
	assert_int_equal(want(c, 2)->request.gres[0].per, SL_GRES_PER_TASK);
	assert_int_equal(want(c, 3)->why, SL_WHY_NEVER);
	assert_string_equal(want(c, 3)->text, "no node has gpu:h100");
	assert_left(want(c, 4), SL_W(SOCKET_GRES));
	sl_cluster_destroy(c);
	build_destroy(b);
}

/* Nodes have to have it; none is taken off it. */
static void gres_that_nobody_uses_up_choose_the_nodes(void **state)
{
	struct build *b = build_create("4x8c2g");
	struct sl_gres_kind_row kind = sl_gres_kind_row();
	struct sl_cluster *c;

	(void) state;
	for (uint32_t k = 1; k <= 2; k++) {
		kind.key = kind.name = sl_builder_str(b->builder, k == 1 ? "bandwidth" : "mixed");
		sl_builder_append(b->builder, SL_T_GRES_KIND, &kind);
	}
	for (uint32_t n = 1; n < 4; n++) {
		struct sl_node_gres_row has = { .kind = 0, .count = 2 };
		struct sl_range gres = { sl_builder_append(b->builder, SL_T_NODE_GRES, &has), 3 };

		has = (struct sl_node_gres_row) { .kind = 1, .count = n, .no_consume = 1, .share = SL_NONE };
		sl_builder_append(b->builder, SL_T_NODE_GRES, &has);
		has = (struct sl_node_gres_row) { .kind = 2, .count = n, .no_consume = n == 2, .share = SL_NONE };
		sl_builder_append(b->builder, SL_T_NODE_GRES, &has);
		build_change(b, SL_T_NODE, n, sl_node_row, .gres = gres);
	}
	for (uint32_t id = 1; id <= 5; id++) {
		build_pending(b, (struct build_job) { .id = id });
		build_change_job(b, id, .gres = build_gres(b, id == 4 ? "mixed" : "bandwidth", "", id == 2 ? 1 : 2,
							   id == 3 ? SL_PER_JOB : SL_PER_NODE));
	}
	build_change_job(b, 5, .gres = build_gres(b, "bandwidth", "fast", 1, SL_PER_NODE));
	c = build_cluster(b);
	assert_string_equal(set_text(want(c, 1)->request.eligible), "2-3");
	assert_string_equal(set_text(want(c, 2)->request.eligible), "1-3");
	for (uint32_t id = 1; id <= 2; id++) {
		assert_left(want(c, id), 0);
		assert_int_equal(want(c, id)->request.gres_needs, 0);
	}
	assert_left(want(c, 3), SL_W(UNCOUNTED));
	assert_left(want(c, 4), SL_W(MANY_GRES));
	assert_int_equal(want(c, 5)->why, SL_WHY_NEVER);
	sl_cluster_destroy(c);
	build_destroy(b);
}

/* Select gives CPUs to all of them: the GPUs are those of the tasks in any case. */
static void gres_of_tasks_that_overcommit_are_those_of_all_tasks(void **state)
{
	struct build *b = build_create("4x8c2s4g");
	struct sl_cluster *c;

	(void) state;
	build_pending(b, (struct build_job) { .id = 1, .nodes = 1, .tasks = 6, .gpus = 1 });
	build_change_job(b, 1, .min_cpus = 1);
	build_change_job(b, 1, .max_nodes = 0);
	build_change_job(b, 1, .gres = build_gres(b, "gpu", "", 1, SL_PER_TASK));
	build_change_job(b, 1, .flags = SL_JOBF_OVERCOMMIT);
	c = build_cluster(b);
	assert_left(want(c, 1), SL_W(TASK_GRES));
	assert_int_equal(want(c, 1)->request.gres[0].per, SL_GRES_PER_JOB);
	assert_int_equal(want(c, 1)->request.gres[0].count, 6);
	assert_int_equal(want(c, 1)->request.max_nodes, 6);
	sl_cluster_destroy(c);
	build_destroy(b);
}

static void features_and_exclusions_choose_the_nodes(void **state)
{
	struct build *b = build_create("4x8c");
	struct sl_cluster *c;

	(void) state;
	build_change(b, SL_T_NODE, 1, sl_node_row, .features = sl_builder_str(b->builder, "ib,fast"));
	build_change(b, SL_T_NODE, 2, sl_node_row, .features = sl_builder_str(b->builder, "ib"));
	build_change(b, SL_T_NODE, 3, sl_node_row, .features = sl_builder_str(b->builder, "fast,ib"));
	build_change(b, SL_T_NODE, 3, sl_node_row, .tmp_disk = 5);
	for (uint32_t i = 0; i < 11; i++)
		build_pending(b, (struct build_job) { .id = i + 1 });
	build_change_job(b, 10, .prefer = sl_builder_str(b->builder, "fast"));
	build_change_job(b, 11, .prefer = sl_builder_str(b->builder, "fast*1"));
	build_change_job(b, 5, .features = sl_builder_str(b->builder, "fast|ib|none"));
	build_change_job(b, 6, .features = sl_builder_str(b->builder, "[fast*1&ib*2]"));
	build_change_job(b, 8, .features = sl_builder_str(b->builder, "ib&[none|fast|ib]"));
	build_change_job(b, 9, .features = sl_builder_str(b->builder, "(fast|ib"));
	build_change_job(b, 7, .features = sl_builder_str(b->builder, "fast||ib"));
	build_change_job(b, 1, .features = sl_builder_str(b->builder, "fast&ib"));
	build_change_job(b, 2, .exc_nodes = build_nodes(b, 0, 1));
	build_change_job(b, 3, .tmp_disk = 5);
	build_change_job(b, 4, .features = sl_builder_str(b->builder, "fast*2"));
	build_change_job(b, 4, .req_nodes = build_nodes(b, 2, 2));
	c = build_cluster(b);
	assert_string_equal(set_text(want(c, 1)->request.eligible), "1,3");
	assert_string_equal(set_text(want(c, 2)->request.eligible), "2-3");
	assert_string_equal(set_text(want(c, 3)->request.eligible), "3");
	for (uint32_t id = 4; id <= 7; id++)
		assert_left(want(c, id), id == 4 ? SL_W(COUNTS) : id == 7 ? SL_W(UNPLACED) : 0);
	assert_int_equal(want(c, 6)->request.parts, 2);
	assert_string_equal(set_text(&want(c, 6)->request.part[0].nodes), "1,3");
	assert_int_equal(want(c, 6)->request.part[1].count, 2);
	assert_int_equal(want(c, 6)->request.min_nodes, 3);
	assert_string_equal(set_text(want(c, 5)->request.eligible), "1-3");
	assert_string_equal(set_text(want(c, 4)->request.required), "2");
	assert_left(want(c, 8), 0);
	assert_int_equal(want(c, 8)->variants, 2);	/* nobody has none */
	assert_string_equal(set_text(want(c, 8)->variant[0].request.eligible), "1,3");
	assert_string_equal(set_text(want(c, 8)->request.eligible), "1-3");
	assert_int_equal(want(c, 10)->variants, 2);
	assert_string_equal(set_text(want(c, 10)->variant[0].request.eligible), "1,3");
	assert_string_equal(set_text(want(c, 10)->variant[1].request.eligible), "0-3");
	assert_left(want(c, 11), SL_W(UNPLACED));
	assert_int_equal(want(c, 9)->why, SL_WHY_NEVER);
	assert_string_equal(want(c, 9)->text, "its constraint has brackets that do not match: (fast|ib");
	sl_cluster_destroy(c);
	build_destroy(b);
}

static void jobs_of_several_nodes_of_another_topology_are_native(void **state)
{
	struct build *b = build_create("4x8c");
	struct sl_cluster *c;

	(void) state;
	build_pending(b, (struct build_job) { .id = 1, .nodes = 2, .max_nodes = 2, .tasks = 4, .tasks_per_node = 2 });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 1, .max_nodes = 1, .tasks = 3 });
	build_pending(b, (struct build_job) { .id = 3, .tasks = 1 });
	build_pending(b, (struct build_job) { .id = 4, .nodes = 1, .max_nodes = 2, .tasks = 2 });
	c = build_cluster(b);
	for (uint32_t id = 1; id <= 4; id++)
		assert_left(want(c, id), 0);
	sl_cluster_destroy(c);
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .flags |= SL_PART_OTHER_TOPOLOGY);
	c = build_cluster(b);
	assert_left(want(c, 1), SL_W(OTHER_TOPOLOGY));
	assert_int_equal(want(c, 1)->method, SL_PLACE_NATIVE);
	assert_int_equal(want(c, 1)->why, SL_WHY_NONE);
	assert_left(want(c, 2), 0);
	assert_left(want(c, 3), 0);
	assert_left(want(c, 4), SL_W(OTHER_TOPOLOGY));	/* it might have two */
	sl_cluster_destroy(c);
	build_destroy(b);
}

static void a_job_with_gres_is_native_while_a_reservation_has_some(void **state)
{
	struct build *b = build_create("4x8c2g");
	struct sl_reservation_row r = sl_reservation_row();
	struct sl_cluster *c;

	(void) state;
	build_pending(b, (struct build_job) { .id = 1, .tasks = 1, .gpus = 1 });
	build_pending(b, (struct build_job) { .id = 2, .tasks = 1 });
	r.name = sl_builder_str(b->builder, "some");
	r.start_time = BUILD_NOW - 100;
	r.end_time = BUILD_NOW + 100;
	r.flags = SL_RESV_GRES;
	sl_builder_append(b->builder, SL_T_RESERVATION, &r);
	c = build_cluster(b);
	assert_left(want(c, 1), SL_W(RESERVED_GRES));
	assert_left(want(c, 2), 0);
	sl_cluster_destroy(c);
	build_change(b, SL_T_RESERVATION, 0, sl_reservation_row, .end_time = BUILD_NOW - 1);
	c = build_cluster(b);
	assert_left(want(c, 1), 0);
	sl_cluster_destroy(c);
	build_destroy(b);
}

/* The numbers of nodes that its variants are of. */
static const char *counts(const struct sl_want *w)
{
	static char text[200];
	size_t at = 0;

	for (uint32_t i = 0; i < w->variants; i++) {
		const struct sl_request *r = &w->variant[i].request;

		assert_int_equal(r->most_nodes, r->min_nodes < r->max_nodes);
		at += (size_t) snprintf(text + at, sizeof(text) - at, "%s%s %u-%u", i ? ", " : "", w->variant[i].now ? "now" : "later",
					r->min_nodes, r->max_nodes);
	}
	return text;
}

static void a_list_of_node_counts_is_runs_of_those_that_it_may_have(void **state)
{
	static const char *const odd[] = { "4,1", "1,,4", "1-", "x", "0,2", "1,4 ", "99999999999",
					   "1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31,33" };
	struct build *b = build_create("8x8c2g");
	const struct sl_request *r;
	struct sl_cluster *c;

	(void) state;
	for (uint32_t id = 1; id <= 6 + sizeof(odd) / sizeof(odd[0]); id++) {
		build_pending(b, (struct build_job) { .id = id, .nodes = 1, .max_nodes = 40 });
		build_change_job(b, id, .node_counts = sl_builder_str(b->builder, id > 6 ? odd[id - 7] : "1,2,4,6-8"));
	}
	build_change_job(b, 2, .min_nodes = 2);
	build_change_job(b, 3, .node_counts = sl_builder_str(b->builder, "2,3"));
	build_change_job(b, 4, .gres = build_gres(b, "gpu", "", 2, SL_PER_JOB));
	build_change_job(b, 5, .gres = build_gres(b, "gpu", "", 2, SL_PER_NODE));
	build_change_job(b, 6, .min_nodes = 20);
	c = build_cluster(b);
	assert_string_equal(counts(want(c, 1)), "now 6-8, now 4-4, now 1-2, later 1-2, later 4-4, later 6-8");
	assert_int_equal(want(c, 1)->request.min_nodes, 1);
	assert_int_equal(want(c, 1)->request.max_nodes, 8);
	assert_string_equal(counts(want(c, 2)), "now 6-8, now 4-4, now 2-2, later 2-2, later 4-4, later 6-8");
	r = &want(c, 3)->request;
	assert_int_equal(want(c, 3)->variants, 1);
	assert_int_equal(r->min_nodes, 2);
	assert_int_equal(r->max_nodes, 3);
	assert_true(r->most_nodes);
	assert_left(want(c, 4), SL_W(NODE_RANGES));	/* which of a run would it stop at? */
	assert_left(want(c, 5), 0);
	assert_int_equal(want(c, 6)->why, SL_WHY_PARTITION);
	assert_string_equal(want(c, 6)->text, "needs 1,2,4,6-8 nodes, may have 20 to 40 in partition batch");
	for (uint32_t id = 7; id < 7 + sizeof(odd) / sizeof(odd[0]); id++)
		assert_left(want(c, id), SL_W(LONG_LIST));
	sl_cluster_destroy(c);
	build_destroy(b);
}

/* 16 sets of nodes, of each three numbers, for starts now and later. */
static void more_than_64_variants_are_left_to_select(void **state)
{
	struct build *b = build_create("8x8c");
	struct sl_cluster *c;

	(void) state;
	build_change(b, SL_T_NODE, 0, sl_node_row, .features = sl_builder_str(b->builder, "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p"));
	for (uint32_t id = 1; id <= 2; id++) {
		build_pending(b, (struct build_job) { .id = id, .nodes = 1, .max_nodes = 40 });
		build_change_job(b, id, .features = sl_builder_str(b->builder, "[a|b|c|d|e|f|g|h|i|j|k|l|m|n|o|p]"));
		build_change_job(b, id, .node_counts = sl_builder_str(b->builder, id == 1 ? "1,3" : "1,3,5"));
	}
	c = build_cluster(b);
	assert_left(want(c, 1), 0);
	assert_int_equal(want(c, 1)->variants, 64);
	assert_left(want(c, 2), SL_W(MANY_CHOICES));
	assert_int_equal(want(c, 2)->variants, 1);
	assert_int_equal(want(c, 2)->request.max_nodes, 5);
	sl_cluster_destroy(c);
	build_destroy(b);
}

static void gres_that_cannot_be_counted_are_left_to_slurm(void **state)
{
	struct build *b = build_create("2x8c2g");
	struct sl_gres_kind_row kind = sl_gres_kind_row();
	struct sl_node_gres_row much = { .kind = 1, .count = 1 << 20, .share = SL_NONE };
	struct sl_range gres;
	struct sl_cluster *c;

	(void) state;
	kind.key = kind.name = sl_builder_str(b->builder, "lustre");
	sl_builder_append(b->builder, SL_T_GRES_KIND, &kind);
	gres = (struct sl_range) { sl_builder_append(b->builder, SL_T_NODE_GRES, &much), 1 };
	build_change(b, SL_T_NODE, 0, sl_node_row, .gres = gres);
	build_pending(b, (struct build_job) { .id = 1 });
	build_change_job(b, 1, .gres = build_gres(b, "lustre", "", 1 << 19, SL_PER_NODE));
	c = build_cluster(b);
	assert_left(want(c, 1), SL_W(MANY_GRES));
	assert_int_equal(want(c, 1)->request.gres_needs, 0);
	sl_cluster_destroy(c);
	build_destroy(b);
}

static void the_default_method_is_what_slurm_was_told(void **state)
{
	struct build *b = build_create("4x8c");
	struct sl_cluster *c;

	(void) state;
	build_pending(b, (struct build_job) { .id = 1 });
	build_pending(b, (struct build_job) { .id = 2 });
	build_change_job(b, 2, .flags = SL_JOBF_SPREAD);
	build_pending(b, (struct build_job) { .id = 3, .nodes = 2, .tasks = 6 });
	build_pending(b, (struct build_job) { .id = 4, .nodes = 2, .max_nodes = 2, .tasks = 6, .tasks_per_node = 3 });
	build_pending(b, (struct build_job) { .id = 5, .nodes = 1, .max_nodes = 1, .tasks = 3 });
	build_pending(b, (struct build_job) { .id = 6, .nodes = 2, .tasks = 6, .exclusive = true });
	build_pending(b, (struct build_job) { .id = 7, .nodes = 2, .tasks = 2 });
	build_change_job(b, 7, .switches = 1);
	c = build_cluster(b);
	assert_int_equal(want(c, 1)->method, SL_PLACE_BESTFIT);
	assert_int_equal(want(c, 2)->method, SL_PLACE_SPREAD);
	sl_cluster_destroy(c);
	b->meta.select_flags = SL_SELECT_LLN;
	c = build_cluster(b);
	assert_int_equal(want(c, 1)->method, SL_PLACE_LEAST_LOADED);
	assert_left(want(c, 1), 0);
	assert_int_equal(want(c, 2)->method, SL_PLACE_SPREAD);
	assert_left(want(c, 3), 0);
	sl_cluster_destroy(c);
	b->meta.select_flags = SL_SELECT_SERIAL_AT_END | SL_SELECT_TOPO_OPTIONAL;
	c = build_cluster(b);
	assert_int_equal(want(c, 1)->method, SL_PLACE_LAST);
	assert_int_equal(want(c, 2)->method, SL_PLACE_SPREAD);
	assert_int_equal(want(c, 5)->method, SL_PLACE_BESTFIT);
	assert_true(want(c, 3)->request.ignores_tree);
	assert_false(want(c, 7)->request.ignores_tree);
	sl_cluster_destroy(c);
	/* where select deals the tasks to several such nodes itself */
	b->meta.select_flags = SL_SELECT_LLN | SL_SELECT_LLN_DEALS;
	c = build_cluster(b);
	assert_left(want(c, 3), SL_W(LLN));
	assert_int_equal(want(c, 3)->method, SL_PLACE_NATIVE);
	for (uint32_t id = 4; id <= 6; id++)
		assert_left(want(c, id), 0);
	sl_cluster_destroy(c);
	build_destroy(b);
}

static void a_shape_is_another_request(void **state)
{
	struct build *b = build_create("8x8c");
	struct sl_shape_row shape = { .min_nodes = 2, .num_tasks = 4, .cpus_per_task = 2, .time_limit = 99 };
	struct sl_range shapes = { sl_builder_append(b->builder, SL_T_SHAPE, &shape), 1 };
	const struct sl_want *w;
	struct sl_cluster *c;
	struct sl_error err;

	(void) state;
	build_pending(b, (struct build_job) { .id = 1, .nodes = 8, .limit = 600 });
	build_change_job(b, 1, .shapes = shapes);
	c = build_cluster(b);
	w = sl_cluster_want(c, (struct sl_entry) { .shape = 1 }, &err);
	assert_non_null(w);
	assert_int_equal(w->request.min_nodes, 2);
	assert_int_equal(w->request.tasks, 4);
	assert_int_equal(w->request.cores_per_task, 2);
	assert_int_equal(w->time_limit, 99);
	assert_int_equal(want(c, 1)->request.min_nodes, 8);
	assert_null(sl_cluster_want(c, (struct sl_entry) { .shape = 2 }, &err));
	assert_int_equal(err.code, SL_EINVAL);
	sl_cluster_destroy(c);
	build_change(b, SL_T_SHAPE, 0, sl_shape_row, .refused = 1);
	c = build_cluster(b);
	w = sl_cluster_want(c, (struct sl_entry) { .shape = 1 }, &err);
	assert_non_null(w);
	assert_int_equal(w->why, SL_WHY_RESOURCES);
	assert_string_equal(w->text, "its alternative 1 was refused a moment ago");
	assert_int_equal(want(c, 1)->why, SL_WHY_NONE);
	sl_cluster_destroy(c);
	build_change(b, SL_T_SHAPE, 0, sl_shape_row, .refused = SL_SHAPE_MORE_CPUS);
	c = build_cluster(b);
	w = sl_cluster_want(c, (struct sl_entry) { .shape = 1 }, &err);
	assert_non_null(w);
	assert_int_equal(w->why, SL_WHY_NEVER);
	assert_string_equal(w->text, "its alternative 1 asks for more CPUs than the job itself, which this site does not allow");
	assert_int_equal(want(c, 1)->why, SL_WHY_NONE);
	sl_cluster_destroy(c);
	build_destroy(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_want_is_in_cores),
		cmocka_unit_test(the_least_cpus_of_a_node_are_those_that_tasks_may_have),
		cmocka_unit_test(a_job_may_be_above_limits_of_its_partition),
		cmocka_unit_test(tasks_per_node_are_a_minimum_of_cores_and_a_maximum_of_tasks),
		cmocka_unit_test(the_limits_of_the_partition_bind_the_job),
		cmocka_unit_test(memory_follows_the_cores_or_the_node_or_is_all_of_it),
		cmocka_unit_test(gres_become_kinds),
		cmocka_unit_test(gres_that_nobody_uses_up_choose_the_nodes),
		cmocka_unit_test(gres_of_tasks_that_overcommit_are_those_of_all_tasks),
		cmocka_unit_test(features_and_exclusions_choose_the_nodes),
		cmocka_unit_test(more_than_64_variants_are_left_to_select),
		cmocka_unit_test(a_list_of_node_counts_is_runs_of_those_that_it_may_have),
		cmocka_unit_test(jobs_of_several_nodes_of_another_topology_are_native),
		cmocka_unit_test(a_job_with_gres_is_native_while_a_reservation_has_some),
		cmocka_unit_test(gres_that_cannot_be_counted_are_left_to_slurm),
		cmocka_unit_test(the_default_method_is_what_slurm_was_told),
		cmocka_unit_test(a_shape_is_another_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
