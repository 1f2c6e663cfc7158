/* SPDX-License-Identifier: MIT */
/*
 * by_hand.h - plans written by hand, which the checker takes or refuses: for the tests
 * of check/check.h.
 *
 *	struct build *b = one((struct build_job) { .tasks = 4 });
 *	EXPECT_START(b, place(p_, 0, 3, 0, 0), "job 2: has 3 tasks' room");
 *
 * A plan belongs to the test until expect() has judged it, and is gone then.
 */
#ifndef BY_HAND_H
#define BY_HAND_H

#include "t/build.h"

/* One place, and the same on each of the nodes first..last; both are appended, and go
 * before the row they belong to. */
struct sl_range place(struct built_plan *p, uint32_t node, uint32_t cores, int64_t memory, uint32_t gpus);
struct sl_range places(struct built_plan *p, uint32_t first, uint32_t last, uint32_t cores);

/* Nodes 0 and 1 with so many cores and tasks. */
struct sl_range on_two(struct built_plan *p, uint32_t cores0, uint32_t tasks0, uint32_t cores1, uint32_t tasks1);

/* A job that is started, by its id: the row, and the row appended. */
struct sl_plan_start_row start_row(uint32_t job, struct sl_range places);
void put_start(struct built_plan *p, uint32_t job, struct sl_range places);

/* A job that is reserved so many seconds after BUILD_NOW. */
void put_reservation(struct built_plan *p, uint32_t job, int64_t in, struct sl_range places);

/* The plan is refused and the message has these words; NULL: it is not. */
void expect(struct build *b, struct built_plan *p, const char *words);

/* One job 2 on a machine of four nodes of eight cores and two GPUs. */
struct build *one(struct build_job j);

/* What becomes of a plan, called p_, that starts job 2 on these places. */
#define EXPECT_START(b, places_, words) do {				\
	struct built_plan *p_ = build_plan(b);				\
	put_start(p_, 2, places_);						\
	expect(b, p_, words);						\
} while (0)

#endif
