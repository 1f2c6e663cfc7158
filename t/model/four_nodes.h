/* SPDX-License-Identifier: MIT */
/*
 * four_nodes.h - a desk at which job 7 asks whom to stop of jobs 1 to 4.
 */
#ifndef FOUR_NODES_H
#define FOUR_NODES_H

#include "model/preempt.h"
#include "t/model/desk.h"

struct asked {
	int rc;
	struct sl_preempt_answer answer;
	uint32_t victims;
	uint32_t id[8];			/* of those who are stopped, in the order of the answer */
};

static inline struct asked ask(struct desk *d, uint32_t id, const struct sl_preempt_terms *terms)
{
	struct asked a = { .rc = sl_plan_preempt(d->p, entry(d, id), terms, &a.answer, &d->err) };

	a.victims = a.answer.victims;
	for (uint32_t i = 0; i < a.victims && i < 8; i++)
		a.id[i] = d->b->snap.job.id[a.answer.victim[i]];
	sl_preempt_answer_free(&a.answer);
	d->why = a.answer.why;
	return a;
}

/* Four nodes, with jobs 1 to 4 on one each, which began so many minutes ago as their number; job 7 waits and may preempt. */
static inline struct build *four_nodes(uint32_t wants)
{
	struct build *b = build_create("4x8c");

	for (uint32_t id = 1; id <= 4; id++) {
		build_running(b, (struct build_job) { .id = id, .first = id - 1, .ends_in = 3600 });
		build_change_job(b, id, .start_time = BUILD_NOW - 600 * (int64_t) id);
		build_stoppable(b, id, SL_STOP_REQUEUE);
	}
	build_pending(b, (struct build_job) { .id = 7, .nodes = wants, .exclusive = true, .limit = 3600 });
	build_may_preempt(b, 7);
	build_pending(b, (struct build_job) { .id = 8, .nodes = 1, .exclusive = true, .limit = 60 });
	return b;
}

static inline struct desk sit_at(struct build *b)
{
	build_open(b);
	return sit(b);
}

/* The snapshot lists that stop, after which its preemptor has started, or has not. */
static inline void note_stopped_before(struct build *b, uint32_t job, uint32_t preemptor, int64_t ago, bool started)
{
	struct sl_stopped_row row = sl_stopped_row();

	row.job = job;
	row.preemptor = preemptor;
	row.time = BUILD_NOW - ago;
	row.user = sl_builder_str(b->builder, "u");
	row.partition = 0;
	row.started = started;
	sl_builder_append(b->builder, SL_T_STOPPED, &row);
}

static inline void note_stopped(struct build *b, uint32_t job, uint32_t preemptor, int64_t ago)
{
	note_stopped_before(b, job, preemptor, ago, false);
}

#endif
