/* SPDX-License-Identifier: MIT */
/*
 * What a queue entry wants, in cores, nodes and kinds; and what only Slurm can place.
 */
#include "t/model/cells.h"

#include <stdio.h>
#include <string.h>

#include "image/shapes.h"
#include "t/model/desk.h"
#include "t/model/want_of.h"
#include "t/timeline/set.h"

CELLS(a_want_is_in_cores,
	ON("4x8c2t"),
	{ "nodes=2 tasks=8 limit=600", "min_nodes=2 max_nodes=2 tasks=8 cores_per_task=1 tasks_per_core=2 duration=600 eligible=0-3" },
	{ "nodes=2 tasks=8 cpus_per_task=4", "cores_per_task=2 tasks_per_core=1 duration=9223372036854775807" },
	{ "nodes=2 tasks=8 cpus_per_task=3", "cores_per_task=3 tasks_per_core=2" },	/* two tasks have three cores */
	ON("4x8c2t select=ONE_TASK_PER_CORE"),
	{ "nodes=2 tasks=8", "tasks_per_core=1" },
	{ "nodes=2 tasks=8 cpus_per_task=3", "cores_per_task=2" })

/* --mincpus, beside --ntasks-per-core: CPUs that no task may have count for nothing. */
CELLS(the_least_cpus_of_a_node_are_those_that_tasks_may_have,
	ON("4x8c2t"),
	{ "nodes=2 pn_min_cpus=5", "min_cores_per_node=3" },
	{ "nodes=2 pn_min_cpus=5 ntasks_per_core=1", "min_cores_per_node=5" },
	{ "nodes=2 pn_min_cpus=5 ntasks_per_core=1 cpus_per_task=2", "min_cores_per_node=3" },
	{ "nodes=2 pn_min_cpus=5 ntasks_per_core=2", "min_cores_per_node=3" },
	/* tasks of a node: a minimum of cores, and no more nodes than tasks */
	ON("4x8c"),
	{ "nodes=2 max_nodes=9 tasks=8 tasks_per_node=3 cpus_per_task=2", "tasks_per_node=3 min_cores_per_node=6 max_nodes=8" })

CELLS(the_limits_of_the_partition_bind_the_job,
	ON("8x8c part.min_nodes=2 part.max_nodes=3 part.max_time=3600"),
	{ "nodes=1 max_nodes=8 limit=60", "min_nodes=2 max_nodes=3" },
	{ "nodes=1 limit=60", "why=partition" },
	{ "nodes=1 limit=60 any_min_nodes", "min_nodes=1 max_nodes=1" },
	{ "nodes=4 limit=60", "why=partition text=needs 4 nodes, may have 3 in partition batch" },
	{ "nodes=4 limit=60 any_max_nodes", "max_nodes=4" },
	{ "nodes=2 limit=3660", "why=partition text=asks for 61 minutes, partition batch allows 60" },
	{ "nodes=2 limit=3660 any_time", "time_limit=3660" },
	{ "nodes=2 limit=3660 time_min=600", "time_limit=3600 time_floor=600" },
	{ "nodes=2", "time_limit=3600" },
	{ "nodes=2 time_min=3660", "why=partition text=asks for 61 minutes, partition batch allows 60" },
	ON("8x8c part.flags=0"),
	{ "nodes=2", "why=partition text=partition batch is down" })

CELLS(memory_follows_the_cores_or_the_node_or_is_all_of_it,
	ON("4x8c2t1000m select=MEMORY"),
	{ "memory=300", "memory_per_node=300" },
	{ "memory_per_cpu=50", "memory_per_core=100" },
	{ "", "memory_per_node=1000 all_memory=0" },
	ON("4x8c2t1000m select=MEMORY n1.memory=2000"),
	{ "", "memory_per_node=0 all_memory=1" },
	ON("4x8c2t1000m"),
	{ "memory=300", "memory_per_node=0" })

CELLS(gres_become_kinds,
	ON("4x8c2g kind=gpu:a100"),
	{ "gpus=1", "gres_needs=1 g0.kinds=3 g0.per=0" },
	{ "gres:gpu:a100=2/task", "g0.kinds=2 g0.per=1" },
	{ "gres:gpu:h100=2/job", "why=never text=no node has gpu:h100" },
	{ "gres:gpu=2/socket", "left=SOCKET_GRES" },
	/* select gives CPUs to all tasks that overcommit: the GPUs are those of the tasks in any case */
	ON("4x8c2s4g"),
	{ "nodes=1 tasks=6 max_nodes=6 min_cpus=1 overcommit gres:gpu=1/task", "left=TASK_GRES g0.per=2 g0.count=6 max_nodes=6" })

/* Nodes have to have it; none is taken off it. */
static void gres_that_nobody_uses_up_choose_the_nodes(void **state)
{
	struct build *b = build_create("4x8c2g");
	struct sl_gres_kind_row kind = sl_gres_kind_row();
	struct sl_cluster *c;
	struct desk d;

	(void) state;
	build_change(b, SL_T_NODE, 0, sl_node_row, .state = SL_NODE_DOWN);
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
	for (uint32_t id = 1; id <= 6; id++) {
		build_pending(b, (struct build_job) { .id = id });
		build_change_job(b, id, .gres = build_gres(b, id == 4 ? "mixed" : "bandwidth", "", id == 2 ? 1 : id == 6 ? 4 : 2,
							   id == 3 ? SL_PER_JOB : SL_PER_NODE));
	}
	build_change_job(b, 5, .gres = build_gres(b, "bandwidth", "fast", 1, SL_PER_NODE));
	d = sit(b);
	c = d.c;
	assert_int_equal(start(&d, 6), 0);	/* no node has four, nor has the one that is down */
	assert_int_equal(d.why.why, SL_WHY_NEVER);
	assert_string_equal(set_text(want(c, 1)->request.eligible), "2-3");
	assert_string_equal(set_text(want(c, 2)->request.eligible), "1-3");
	for (uint32_t id = 1; id <= 2; id++) {
		assert_left(want(c, id), 0);
		assert_int_equal(want(c, id)->request.gres_needs, 0);
	}
	assert_left(want(c, 3), SL_W(UNCOUNTED));
	assert_left(want(c, 4), SL_W(MANY_GRES));
	assert_int_equal(want(c, 5)->why, SL_WHY_NEVER);
	leave(&d);
}

CELLS(features_and_exclusions_choose_the_nodes,
	ON("4x8c n1.features=ib,fast n2.features=ib n3.features=fast,ib n3.tmp_disk=5"),
	{ "features=fast&ib", "eligible=1,3" },
	{ "exc_nodes=0-1", "eligible=2-3" },
	{ "tmp_disk=5", "eligible=3" },
	{ "features=fast*2 req_nodes=2", "left=COUNTS required=2" },
	{ "features=fast|ib|none", "eligible=1-3" },
	{ "features=[fast*1&ib*2]", "parts=2 min_nodes=3" },
	{ "features=fast||ib", "left=UNPLACED" },
	{ "features=ib&[none|fast|ib]", "variants=2 v0.eligible=1,3 eligible=1-3" },		/* nobody has none */
	{ "features=(fast|ib", "why=never text=its constraint has brackets that do not match: (fast|ib" },
	{ "prefer=fast", "variants=2 v0.eligible=1,3 v1.eligible=0-3" },
	{ "prefer=fast*1", "left=UNPLACED" })

CELLS(jobs_of_several_nodes_of_another_topology_are_native,
	ON("4x8c"),
	{ "nodes=2 max_nodes=2 tasks=4 tasks_per_node=2", "" },
	{ "nodes=1 max_nodes=2 tasks=2", "" },
	ON("4x8c part.OTHER_TOPOLOGY"),
	{ "nodes=2 max_nodes=2 tasks=4 tasks_per_node=2", "left=OTHER_TOPOLOGY method=native" },
	{ "nodes=1 max_nodes=1 tasks=3", "" },
	{ "tasks=1", "" },
	{ "nodes=1 max_nodes=2 tasks=2", "left=OTHER_TOPOLOGY" })	/* it might have two */

/* topology/block with blocks of *nodes* nodes: the machine has two of two each, and the last node may be in none. */
static void put_blocks(struct build *b, uint32_t nodes, bool all, bool levels)
{
	for (uint32_t n = 0; n < b->nodes; n++)
		build_change(b, SL_T_NODE, n, sl_node_row, .topology = sl_builder_str(b->builder, n < 2 ? "b1" : all || n < 3 ? "b2" : ""));
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .block_nodes = nodes);
	build_change(b, SL_T_PARTITION, 0, sl_partition_row, .flags = SL_PART_UP | SL_PART_DEFAULT | (levels ? SL_PART_BLOCK_LEVELS : 0));
}

static void segments_that_fit_in_a_block_are_placed_and_others_left_to_select(void **state)
{
	static const struct {
		struct build_job job;
		uint32_t segment, asks, is;
		sl_word_set left;
	} try[] = {
		{ { .nodes = 4, .max_nodes = 4, .exclusive = true }, 2, 0, 2, 0 },
		{ { .nodes = 4, .max_nodes = 4, .exclusive = true }, 1, 0, 1, 0 },
		{ { .nodes = 2, .max_nodes = 2, .exclusive = true }, 0, 0, 2, 0 },			/* one block */
		{ { .nodes = 2, .max_nodes = 2, .tasks = 2 }, 0, 0, 2, 0 },			/* a task on each */
		{ { .nodes = 2, .max_nodes = 2, .tasks = 4, .tasks_per_node = 2 }, 0, 0, 2, 0 },
		{ { .nodes = 2, .max_nodes = 2, .tasks = 3 }, 0, 0, 0, SL_W(BLOCKS) },		/* two on which? */
		{ { .nodes = 1, .max_nodes = 1, .tasks = 3 }, 0, 0, 0, 0 },
		{ { .nodes = 4, .max_nodes = 4, .exclusive = true }, 0, 0, 2, 0 },			/* two whole blocks */
		{ { .nodes = 4, .max_nodes = 4, .exclusive = true }, 4, 0, 2, 0 },
		{ { .nodes = 3, .max_nodes = 3, .exclusive = true }, 0, 0, 0, SL_W(WIDE_BLOCKS) },	/* larger than a block, and part of one */
		{ { .nodes = 3, .max_nodes = 3, .exclusive = true }, 2, 0, 0, SL_W(WIDE_BLOCKS) },	/* no multiple */
		{ { .nodes = 2, .max_nodes = 2, .exclusive = true }, 3, 0, 0, SL_W(WIDE_BLOCKS) },	/* larger than the job */
		{ { .nodes = 1, .max_nodes = 2, .tasks = 2 }, 0, 0, 0, SL_W(WIDE_BLOCKS) | SL_W(BLOCKS) },
		{ { .nodes = 4, .max_nodes = 4, .exclusive = true }, 2, SL_ASKS_SEGMENT_BLOCKS, 0, SL_W(SEGMENT_BLOCKS) },
	};

	(void) state;
	for (size_t i = 0; i < sizeof(try) / sizeof(try[0]); i++) {
		struct build *b = build_create("4x8c");
		struct build_job job = try[i].job;
		struct sl_cluster *c;

		job.id = 1;
		put_blocks(b, 2, true, false);
		build_pending(b, job);
		build_change_job(b, 1, .segment = try[i].segment);
		build_change_job(b, 1, .asks = try[i].asks);
		c = build_cluster(b);
		assert_left(want(c, 1), try[i].left);
		assert_int_equal(want(c, 1)->request.segment, try[i].is);
		sl_cluster_destroy(c);
		put_blocks(b, 2, true, true);	/* larger blocks, which a larger job is in one of */
		c = build_cluster(b);
		assert_int_equal(want(c, 1)->request.segment, job.nodes == 4 && try[i].segment % 4 == 0 ? 0 : try[i].is);
		sl_cluster_destroy(c);
		put_blocks(b, 1, true, false);	/* a node of each block is spare */
		c = build_cluster(b);
		assert_int_equal(want(c, 1)->request.segment, try[i].segment == 1 && !try[i].left);
		sl_cluster_destroy(c);
		put_blocks(b, 2, false, false);	/* what is in no block select places otherwise */
		c = build_cluster(b);
		assert_true(job.max_nodes == 1 || want(c, 1)->native & SL_W(WIDE_BLOCKS));
		sl_cluster_destroy(c);
		build_destroy(b);
	}
}

/* Slurm has no look at --switches there, and the engine would heed it. */
static void switches_below_blocks_are_left_to_select(void **state)
{
	struct build *b = build_create("4x8c");
	struct sl_cluster *c;

	(void) state;
	put_blocks(b, 2, true, false);
	build_pending(b, (struct build_job) { .id = 1, .nodes = 2, .max_nodes = 2, .exclusive = true });
	build_pending(b, (struct build_job) { .id = 2, .nodes = 1, .max_nodes = 1, .exclusive = true });
	for (uint32_t id = 1; id <= 2; id++) {
		build_change_job(b, id, .switches = 1);
		build_change_job(b, id, .switch_wait = 600);
	}
	c = build_cluster(b);
	assert_left(want(c, 1), SL_W(BLOCKS));
	assert_int_equal(want(c, 1)->request.max_leaves, 0);
	assert_left(want(c, 2), 0);
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
CELLS(more_than_64_variants_are_left_to_select,
	ON("8x8c n0.features=a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p"),
	{ "nodes=1 max_nodes=40 node_counts=1,3 features=[a|b|c|d|e|f|g|h|i|j|k|l|m|n|o|p]", "variants=64" },
	{ "nodes=1 max_nodes=40 node_counts=1,3,5 features=[a|b|c|d|e|f|g|h|i|j|k|l|m|n|o|p]", "left=MANY_CHOICES variants=1 max_nodes=5" })

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

CELLS(the_default_method_is_what_slurm_was_told,
	ON("4x8c"),
	{ "", "method=bestfit" },
	{ "spread", "method=spread" },
	ON("4x8c select=LLN"),
	{ "", "method=least_loaded" },
	{ "spread", "method=spread" },
	{ "nodes=2 tasks=6", "" },
	ON("4x8c select=SERIAL_AT_END|TOPO_OPTIONAL"),
	{ "", "method=last" },
	{ "spread", "method=spread" },
	{ "nodes=1 max_nodes=1 tasks=3", "method=bestfit" },
	{ "nodes=2 tasks=6", "ignores_tree=1" },
	{ "nodes=2 tasks=2 switches=1", "ignores_tree=0" },
	/* where select deals the tasks to several such nodes itself */
	ON("4x8c select=LLN|LLN_DEALS"),
	{ "nodes=2 tasks=6", "left=CR_LLN method=native" },
	{ "nodes=2 max_nodes=2 tasks=6 tasks_per_node=3", "" },
	{ "nodes=1 max_nodes=1 tasks=3", "" },
	{ "nodes=2 tasks=6 exclusive", "" },
	/* that of a partition is set aside meanwhile */
	ON("4x8c select=LLN_DEALS part.LLN"),
	{ "nodes=2 tasks=6", "method=least_loaded" })

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
		cmocka_unit_test(the_limits_of_the_partition_bind_the_job),
		cmocka_unit_test(memory_follows_the_cores_or_the_node_or_is_all_of_it),
		cmocka_unit_test(gres_become_kinds),
		cmocka_unit_test(gres_that_nobody_uses_up_choose_the_nodes),
		cmocka_unit_test(features_and_exclusions_choose_the_nodes),
		cmocka_unit_test(more_than_64_variants_are_left_to_select),
		cmocka_unit_test(a_list_of_node_counts_is_runs_of_those_that_it_may_have),
		cmocka_unit_test(jobs_of_several_nodes_of_another_topology_are_native),
		cmocka_unit_test(segments_that_fit_in_a_block_are_placed_and_others_left_to_select),
		cmocka_unit_test(switches_below_blocks_are_left_to_select),
		cmocka_unit_test(a_job_with_gres_is_native_while_a_reservation_has_some),
		cmocka_unit_test(gres_that_cannot_be_counted_are_left_to_slurm),
		cmocka_unit_test(the_default_method_is_what_slurm_was_told),
		cmocka_unit_test(a_shape_is_another_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
