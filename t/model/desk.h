/* SPDX-License-Identifier: MIT */
/*
 * desk.h - a plan on a cluster that is built in a few lines, and what a test says to
 * it, each in a word.
 *
 *	struct desk d = sit(b);
 *	assert_int_equal(start(&d, 7), 1);
 *	accepted(&d);
 *	leave(&d);
 *
 * Jobs are named by their ids; of misuse, of a job that is not there and of what the system refuses
 * the running test fails.  The desk owns the build it is given; leaving gives all back.
 */
#ifndef DESK_H
#define DESK_H

#include "t/build.h"
#include "model/plan.h"

struct desk {
	struct build *b;
	struct sl_cluster *c;
	struct sl_plan *p;
	struct sl_refusal why;		/* of the last verb that said no */
	struct sl_error err;
	int64_t at;			/* of the last reservation, after BUILD_NOW */
	struct sl_builder *image;
	struct sl_plan_image plan;	/* by encode() */
	void *bytes;
	size_t size;
};

struct desk sit(struct build *b);
void leave(struct desk *d);

/* The row of the job of that id, and that row in its own partition, as it was asked for. */
uint32_t row(const struct desk *d, uint32_t id);
struct sl_entry entry(const struct desk *d, uint32_t id);

/* What *rc* is; below 0, the test fails with the desk's error. */
int checked(struct desk *d, int rc);

/* The verbs of model/plan.h without a method: 1 done, 0 refused. */
int start(struct desk *d, uint32_t id);
int backfill(struct desk *d, uint32_t id);
int reserve(struct desk *d, uint32_t id);

/* The plan as an image, opened; the second also has the checker accept it.  Good until
 * the next one. */
const struct sl_plan_image *encode(struct desk *d, bool truncated);
const struct sl_plan_image *accepted(struct desk *d);

/* "n0:8 n3:2" of a job that is booked.  Good until the next one. */
const char *where(struct desk *d, uint32_t id);

/* Why the job of that id is pending, by a plan, and in words; SL_WHYS and NULL where it is not. */
const char *pending_text(const struct sl_plan_image *p, uint32_t id, uint32_t *why);

#endif
