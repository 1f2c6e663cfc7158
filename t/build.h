/* SPDX-License-Identifier: MIT */
/*
 * build.h - snapshots in a few lines, for the tests of cluster, plan and check.
 *
 *	struct build *b = build_create("4x8c2g");
 *	build_running(b, (struct build_job) { .id = 1, .nodes = 3, .exclusive = true, .ends_in = 3600 });
 *	build_pending(b, (struct build_job) { .id = 2, .nodes = 4, .limit = 3600 });
 *	const struct sl_snapshot *snap = build_open(b);
 *
 * A machine is groups joined by "+", each COUNTx and then numbers with letters: c
 * cores, g GPUs, t threads a core, s sockets, m MiB of memory, w weight: 8 nodes of
 * which 4 have GPUs are "4x16c+4x16c2g".  Nodes are called n0, n1, ... (their
 * rows); partition 0 is "batch" and has them all; the only gres kind is 0, "gpu".
 * Time is BUILD_NOW.  What the struct cannot say is said by changing rows:
 *
 *	struct sl_job_row r = build_row(b, (struct build_job) { .id = 7 });
 *	r.features = sl_builder_str(b->builder, "ib&fast");
 *	build_append(b, &r);
 *
 * Any mistake fails the running test.  Destroying gives all back.
 */
#ifndef BUILD_H
#define BUILD_H

#include "image/plan_image.h"
#include "image/snapshot.h"

#define BUILD_NOW 1000000

struct build {
	struct sl_builder *builder;
	struct sl_snapshot snap;
	void *bytes;			/* of the snapshot that is open */
	struct sl_meta_row meta;	/* written by build_open() */
	uint32_t *free_cores, free_cores_room;	/* for where running jobs are put */
	uint32_t nodes;
};

struct build_job {
	uint32_t id;
	uint32_t nodes;			/* 0: 1 */
	uint32_t max_nodes;		/* 0: nodes where nodes are said, else no limit */
	uint32_t tasks;			/* 0: not said */
	uint32_t cpus_per_task;		/* 0: 1 */
	uint32_t tasks_per_node;	/* 0: not said */
	uint32_t gpus;			/* on each node */
	int64_t memory;			/* MiB on each node */
	bool exclusive;
	int64_t limit;			/* seconds; 0: none */
	uint32_t partition;		/* row */
	/* running: */
	uint32_t first;			/* its first node; others follow */
	uint32_t cores;			/* on each node; 0: all that are free there */
	int64_t ends_in;		/* seconds; 0: never */
};

struct build *build_create(const char *machine);
void build_destroy(struct build *b);

/* Another partition of nodes first..last; its row. */
uint32_t build_partition(struct build *b, const char *name, uint32_t first, uint32_t last);

/* A reservation of nodes first..last from so many seconds after BUILD_NOW to so many; its
 * row. */
uint32_t build_reservation(struct build *b, const char *name, int64_t from, int64_t to, uint32_t first, uint32_t last);

/* A list of nodes first..last, for ranges of runs. */
struct sl_range build_nodes(struct build *b, uint32_t first, uint32_t last);

/* Jobs; their rows.  Pending ones are queued in their partition. */
uint32_t build_running(struct build *b, struct build_job j);
uint32_t build_pending(struct build *b, struct build_job j);
struct sl_job_row build_row(struct build *b, struct build_job j);
uint32_t build_append(struct build *b, const struct sl_job_row *row);
void build_queue(struct build *b, uint32_t job, uint32_t partition);

/* Change a row that is there already. */
#define build_change(b, table, rownum, type, ...) do {			\
	struct type build_r_;						\
	assert_int_equal(sl_builder_row((b)->builder, table, rownum, &build_r_), 0);	\
	build_r_ __VA_ARGS__;						\
	sl_builder_update((b)->builder, table, rownum, &build_r_);	\
} while (0)

/* A job, by its id; the test fails where there is none. */
uint32_t build_job_row(const struct build *b, uint32_t id);
#define build_change_job(b, id, ...) build_change(b, SL_T_JOB, build_job_row(b, id), sl_job_row, __VA_ARGS__)

/* That running job may be stopped in that way (SL_STOP_*) for jobs that build_may_preempt() names, which wait. */
void build_stoppable(struct build *b, uint32_t id, uint32_t mode);
void build_may_preempt(struct build *b, uint32_t id);

/* An arbitrary distribution: a digit for the tasks of each node from *first* on, "103"; 0: it is none of its nodes. */
void build_say_tasks(struct build *b, struct sl_job_row *r, uint32_t first, const char *tasks);

/* gres and licences asked for. */
struct sl_range build_gres(struct build *b, const char *name, const char *type, uint32_t count, uint32_t per);
struct sl_range build_license(struct build *b, uint32_t license, uint32_t count);

/* Lay out, validate and open the snapshot; may be called again after changes, which
 * closes the one before. */
const struct sl_snapshot *build_open(struct build *b);

/* The model of that snapshot; it is the caller's, and lives no longer than the build. */
struct sl_cluster;
struct sl_cluster *build_cluster(struct build *b);

/* A plan image, written by hand. */
struct built_plan {
	struct sl_builder *builder;
	struct sl_plan_image image;
	void *bytes;
};

/* An empty plan that answers the snapshot; places are appended before their row. */
struct built_plan *build_plan(const struct build *b);
void build_plan_destroy(struct built_plan *p);

/* What is said of the plan (sl_plan_answers()), which is gone then, has these words; NULL: it answers. */
void build_expect_answer(const struct build *b, struct built_plan *p, const char *words);
struct sl_range build_place(struct built_plan *p, uint32_t node, uint32_t cores);
const struct sl_plan_image *build_plan_open(struct built_plan *p);

/* Random numbers (splitmix64), and a random, valid cluster. */
uint64_t build_random(uint64_t *seed);
uint32_t build_below(uint64_t *seed, uint32_t limit);
struct build *build_random_cluster(uint64_t seed, uint32_t nodes, uint32_t jobs);

#endif
