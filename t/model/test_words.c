/* SPDX-License-Identifier: MIT */
/*
 * Each cell of the list of words (image/words.h): a job that asks for one word beside another one that its line names
 * is left to select, and a job that asks for a word alone is placed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "t/model/want_of.h"

/* A job and where it is to run, as long as nothing is written yet.  Nodes: four of 8 cores and 2 GPUs. */
struct stage {
	struct build *b;
	struct sl_job_row job;
	struct sl_partition_row part;
	struct sl_node_row node, last;	/* all but the last one, and that */
	struct sl_reservation_row resv;	/* if it has an end */
	uint32_t select, pers;		/* of its gres, bits: 1 << SL_PER_* */
	uint32_t cpus;			/* with each of its gres */
	int64_t memory;
	bool twice, shape;		/* two rows of gres; as an alternative */
	struct sl_entry entry;
};

#define SAY(id, ...) static void say_##id(struct stage *s) { __VA_ARGS__; }

static void tasks(struct stage *s, uint32_t n)
{
	s->job.num_tasks = s->job.min_cpus = n;
}

static void say_gres(struct stage *s, uint32_t asks)
{
	s->job.asks |= asks;
	if (!s->pers)
		s->pers = 1u << SL_PER_NODE;
}

/* Nodes of it, so that it is in a reservation or beside one. */
static void reserve(struct stage *s, uint32_t flags, uint32_t cores, bool own)
{
	struct sl_alloc_row part = { .cores = 2 };

	s->resv.name = sl_builder_str(s->b->builder, "some");
	s->resv.nodes = build_nodes(s->b, 0, 3);
	s->resv.start_time = own ? BUILD_NOW - 100 : BUILD_NOW + 100;
	s->resv.end_time = BUILD_NOW + 1000;
	s->resv.flags |= flags;
	s->resv.cores = cores;
	if (own)
		s->job.reservation = s->resv.name;
	s->resv.parts = (struct sl_range) { sl_builder_append(s->b->builder, SL_T_ALLOC, &part), 1 };
}

/* Some other partitions are by socket, and some are not. */
static void mix_sockets(struct stage *s)
{
	uint32_t by_socket = build_partition(s->b, "by_socket", 0, 3);

	build_change(s->b, SL_T_PARTITION, by_socket, sl_partition_row, .flags |= SL_PART_BY_SOCKET);
	build_partition(s->b, "by_core", 0, 3);
}

#define STR(text) sl_builder_str(s->b->builder, text)

SAY(NODELIST, s->job.req_nodes = build_nodes(s->b, 0, 0))
SAY(CONTIGUOUS, s->job.flags |= SL_JOBF_CONTIGUOUS)
SAY(SWITCHES, s->job.switches = 1)
SAY(PREFER, s->job.prefer = STR("fast"))
SAY(COUNTS, s->job.features = STR("fast*1"))
SAY(UNPLACED, s->job.features = STR("fast||ib"))
SAY(REBOOT, s->job.asks |= SL_ASKS_REBOOT; s->job.features = STR("fast"))
SAY(NODE_COUNTS, s->job.node_counts = STR("1,3"); s->job.max_nodes = 3)
SAY(TASKS_PER_NODE, s->job.ntasks_per_node = 2)
SAY(ONE_TASK, s->select |= SL_SELECT_DEALS_TO_NODES; s->job.ntasks_per_node = 4; tasks(s, 1))
SAY(TASKS_PER_CORE, s->job.ntasks_per_core = 1)
SAY(MINCPUS, s->job.pn_min_cpus = 3)
SAY(OVERCOMMIT, s->job.flags |= SL_JOBF_OVERCOMMIT)
SAY(CROWDED, s->select |= SL_SELECT_DEALS_ALL; s->job.flags |= SL_JOBF_OVERCOMMIT; s->job.asks |= SL_ASKS_TASK_TRES; s->job.num_tasks = 3)
SAY(SOCKETS, s->job.sockets_per_node = 1)
SAY(TASKS_PER_SOCKET, s->job.ntasks_per_socket = 4)
SAY(BOARDS, s->job.asks |= SL_ASKS_BOARDS)
SAY(SOCKETS_IN_TURN, s->job.asks |= SL_ASKS_SOCKETS_IN_TURN)
SAY(CORE_SPEC, s->job.core_spec = 1)
SAY(THREAD_SPEC, s->job.core_spec = 1; s->job.asks |= SL_ASKS_SPEC_THREADS)
SAY(PLANE, s->job.distribution = SL_DIST_PLANE; s->job.plane_size = 1; s->job.min_nodes = s->job.max_nodes = 2; tasks(s, 2))
SAY(ARBITRARY, build_say_tasks(s->b, &s->job, 1, "11"))
SAY(TASK_COUNTS, s->job.asks |= SL_ASKS_TASK_COUNTS)
SAY(GRES, say_gres(s, 0))
SAY(SEVERAL_GRES, say_gres(s, 0); s->twice = true)
SAY(JOB_GRES, s->pers = 1u << SL_PER_JOB)
SAY(TASK_GRES, s->pers |= 1u << SL_PER_TASK)
SAY(FEWER_TASKS, say_gres(s, SL_ASKS_TASK_GRES); s->job.ntasks_per_node = 3)
SAY(GPU_ROOM, s->pers = 1u << SL_PER_TASK; s->job.ntasks_per_core = 2)
SAY(SOCKET_GRES, s->pers |= 1u << SL_PER_SOCKET; s->job.flags |= SL_JOBF_EXCLUSIVE)
SAY(BOUND_GRES, say_gres(s, SL_ASKS_BOUND_GRES))
SAY(TASKS_PER_GRES, say_gres(s, SL_ASKS_TASKS_PER_GRES))
SAY(CPUS_PER_GRES, say_gres(s, SL_ASKS_CPUS_PER_GRES); s->cpus = 1)
SAY(MEMORY_PER_GRES, say_gres(s, SL_ASKS_MEMORY_PER_GRES); s->memory = 100)
SAY(UNSAID, s->job.asks |= SL_ASKS_CPUS_PER_GRES)
SAY(UNCOUNTED, s->job.asks |= SL_ASKS_UNCOUNTED_GRES)
SAY(WHOLE_SWITCHES, s->part.flags |= SL_PART_EXCLUSIVE_TOPO)
SAY(SEGMENT_BLOCKS, s->job.asks |= SL_ASKS_SEGMENT_BLOCKS)
SAY(BURST_BUFFER, s->job.asks |= SL_ASKS_BURST_BUFFER)
SAY(EXPAND, s->job.asks |= SL_ASKS_EXPAND)
SAY(HRES, s->job.asks |= SL_ASKS_HRES)
SAY(EXTRA, s->job.asks |= SL_ASKS_EXTRA)
SAY(RECLAIM, s->job.asks |= SL_ASKS_RECLAIM)
SAY(PREEMPT, s->job.flags |= SL_JOBF_MAY_PREEMPT)
SAY(REFUSED, s->job.refusals = SL_REFUSALS)
SAY(ALTERNATIVE, s->shape = true)
SAY(WHOLE_NODES, s->job.flags |= SL_JOBF_EXCLUSIVE)
SAY(PARTS_OF_NODES, s->job.flags &= ~(uint32_t) SL_JOBF_EXCLUSIVE)
SAY(NO_TASKS, s->job.num_tasks = 0)
SAY(THREADS, s->node.threads = s->last.threads = 2)
SAY(IDLE_THREADS, s->node.threads = s->last.threads = 2; s->job.threads_per_core = 1)
SAY(UNEQUAL_THREADS, s->last.threads = 2; s->job.ntasks_per_core = 1)
SAY(UNEQUAL_SOCKETS, s->last.sockets = 2)
SAY(ODD_SOCKETS, s->last.cores = 6)
SAY(SEVERAL_SOCKETS, s->node.sockets = s->last.sockets = 2)
SAY(GRES_OF_SOCKETS, say_gres(s, 0); s->node.sockets = s->last.sockets = 2)
SAY(UNEQUAL_SPEC, s->last.core_spec = 1)
SAY(SYSTEM_CORES, s->node.core_spec = s->last.core_spec = 1)
SAY(LINEAR, s->select |= SL_SELECT_WHOLE_NODE)
SAY(LOAN, (void) s)
SAY(CPU_CAP, s->part.max_cpus_per_node = 8)
SAY(SHARED_NODES, s->part.oversubscribe = 3; s->part.flags |= SL_PART_FORCE)
SAY(UNEQUAL_ROWS, s->last.cores = 6)
SAY(PARTIAL_SOMEWHERE, reserve(s, 0, 2, false))
SAY(CR_SOCKET, s->select |= SL_SELECT_SOCKET)
SAY(PARTS_BY_SOCKET, s->part.flags |= SL_PART_BY_SOCKET)
SAY(MIXED_SOCKETS, mix_sockets(s))
SAY(SHARED_CORES, s->part.oversubscribe = 3; s->part.flags |= SL_PART_FORCE)
SAY(LLN, s->part.flags |= SL_PART_LLN; s->select |= SL_SELECT_LLN_DEALS)
SAY(CR_LLN, s->select |= SL_SELECT_LLN | SL_SELECT_LLN_DEALS)
SAY(OTHER_TOPOLOGY, s->part.flags |= SL_PART_OTHER_TOPOLOGY)
SAY(SOCKET_CAP, s->part.max_cpus_per_socket = 2)
SAY(GPU_CORES, s->last.res_cores_per_gpu = 2)
SAY(RESERVED_GRES, say_gres(s, 0); reserve(s, SL_RESV_GRES, 0, false))
SAY(PARTIAL, reserve(s, 0, 8, true))
SAY(PARTS_UNKNOWN, reserve(s, SL_RESV_OVERLAP, 8, true))
SAY(RESERVATIONS, reserve(s, 0, 0, true); s->job.reservation = STR("some,other"))

static void (*const say[])(struct stage *s) = {
#define FUNCTION(id, ...) [SL_WORD_##id] = say_##id,
	SL_ASKED_WORDS(FUNCTION) SL_NODE_WORDS(FUNCTION)
#undef FUNCTION
};
#define SAYS (sizeof(say) / sizeof(say[0]))

/* (A loan is made by the cluster, and refused to jobs that are left to select: t/model/random_verb.c.) */
static const sl_word_set not_staged = SL_W(LOAN);

static struct sl_range gres_of(struct stage *s)
{
	struct sl_job_gres_row row = sl_job_gres_row();
	struct sl_range gres = { sl_builder_rows(s->b->builder, SL_T_JOB_GRES), 0 };

	for (uint32_t per = 0; per <= SL_PER_SOCKET; per++)
		for (uint32_t i = 0; s->pers >> per & 1 && i <= s->twice; i++, gres.count++) {
			row.name = STR("gpu");
			row.count = 1;
			row.per = per;
			row.cpus = s->cpus;
			row.memory = s->memory;
			sl_builder_append(s->b->builder, SL_T_JOB_GRES, &row);
		}
	return gres;
}

static void write_stage(struct stage *s)
{
	struct sl_shape_row shape = sl_shape_row();

	s->job.gres = shape.gres = gres_of(s);
	shape.num_tasks = s->job.num_tasks;
	if (s->shape)
		s->job.shapes = (struct sl_range) { sl_builder_append(s->b->builder, SL_T_SHAPE, &shape), 1 };
	s->entry.shape = s->shape;
	for (uint32_t n = 0; n < 4; n++) {
		struct sl_node_row node;

		sl_builder_row(s->b->builder, SL_T_NODE, n, &node);
		s->node.name = s->last.name = node.name;
		s->node.gres = s->last.gres = node.gres;
		sl_builder_update(s->b->builder, SL_T_NODE, n, n < 3 ? &s->node : &s->last);
	}
	sl_builder_update(s->b->builder, SL_T_PARTITION, 0, &s->part);
	if (s->resv.end_time)
		sl_builder_append(s->b->builder, SL_T_RESERVATION, &s->resv);
	s->b->meta.select_flags = s->select;
	build_append(s->b, &s->job);
	build_queue(s->b, 0, 0);
}

/* What a job is told that asks for one word, and for another one (SL_WORD_IDS: for none). */
static struct sl_want stage(uint32_t one, uint32_t other)
{
	struct stage s = { .b = build_create("4x8c2g"), .select = SL_SELECT_MEMORY, .resv = sl_reservation_row() };
	struct sl_error err = { 0 };
	const struct sl_want *w;
	struct sl_cluster *c;
	struct sl_want out;

	s.job = build_row(s.b, (struct build_job) { .id = 1, .nodes = 1, .max_nodes = 1, .tasks = 1 });
	sl_builder_row(s.b->builder, SL_T_PARTITION, 0, &s.part);
	sl_builder_row(s.b->builder, SL_T_NODE, 0, &s.node);
	s.last = s.node;
	say[one](&s);
	if (other < SAYS)
		say[other](&s);
	write_stage(&s);
	c = build_cluster(s.b);
	w = sl_cluster_want(c, s.entry, &err);
	if (!w)
		fail_msg("%s", err.text);
	out = *w;
	if (w->why)
		fail_msg("%s beside %s: %s", sl_word_line[one].text, other < SAYS ? sl_word_line[other].text : "nothing", w->text);
	sl_cluster_destroy(c);
	build_destroy(s.b);
	return out;
}

static void each_word_that_is_alone_is_left_to_select(void **state)
{
	(void) state;
	for (uint32_t w = 0; w < SAYS; w++)
		if (sl_word_line[w].beside == SL_ALONE && !(stage(w, SAYS).native >> w & 1))
			fail_msg("%s is placed", sl_word_line[w].name);
}

static void each_other_word_is_placed_by_itself(void **state)
{
	char text[SL_WORDS_TEXT];

	(void) state;
	for (uint32_t w = 0; w < SAYS; w++) {
		struct sl_want want;

		if (sl_word_line[w].beside == SL_ALONE || not_staged >> w & 1)
			continue;
		want = stage(w, SAYS);
		if (!(want.asked >> w & 1))
			fail_msg("%s is not seen", sl_word_line[w].name);
		if (want.native)
			fail_msg("%s is left to select: %s", sl_word_line[w].name,
				 sl_words_text(want.native, want.asked, text, sizeof(text)));
	}
}

static void each_word_is_left_to_select_beside_those_of_its_line(void **state)
{
	struct sl_want want;

	(void) state;
	for (uint32_t w = 0; w < SAYS; w++)
		for (uint32_t o = 0; o < SAYS && sl_word_line[w].beside != SL_ALONE; o++) {
			if (!(sl_word_line[w].beside >> o & 1) || not_staged >> o & 1)
				continue;
			want = stage(w, o);
			if (!(want.asked >> o & 1))
				fail_msg("%s beside %s is not seen", sl_word_line[o].name, sl_word_line[w].name);
			if (!(want.native >> w & 1))
				fail_msg("%s beside %s is placed", sl_word_line[w].name, sl_word_line[o].name);
		}
}

static void words_say_what_stands_beside_what(void **state)
{
	sl_word_set asked = SL_W(CORE_SPEC) | SL_W(GRES) | SL_W(SHARED_NODES) | SL_W(BOARDS) | SL_W(PREFER);
	char text[SL_WORDS_TEXT];

	(void) state;
	assert_true(sl_words_left(asked) == (SL_W(CORE_SPEC) | SL_W(BOARDS)));
	assert_string_equal(sl_words_text(sl_words_left(asked), asked, text, sizeof(text)),
			    "boards; --core-spec beside --gres or --gpus, nodes with shared cores");
	assert_string_equal(sl_words_text(sl_words_left(asked), asked, text, 12), "boards; --c");
	assert_string_equal(sl_words_text(0, asked, text, sizeof(text)), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_word_that_is_alone_is_left_to_select),
		cmocka_unit_test(each_other_word_is_placed_by_itself),
		cmocka_unit_test(each_word_is_left_to_select_beside_those_of_its_line),
		cmocka_unit_test(words_say_what_stands_beside_what),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
