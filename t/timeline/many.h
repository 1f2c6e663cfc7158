/* SPDX-License-Identifier: MIT */
/*
 * many.h - random machines on which nearly every node is a class of its own, and requests to them.
 */
#ifndef MANY_H
#define MANY_H

#include "timeline/score.h"

#define OPS 250

struct op {
	struct sl_nodeset nodes;
	struct sl_resources each;
	int64_t t0, t1;
};

struct scene {
	struct sl_timeline *tl;
	struct sl_scoring scoring;
	struct sl_mix mix;
	uint32_t nodes;
	int64_t now;
	struct op done[OPS];		/* what may be taken back */
	uint32_t count;
};

void create_scene(struct scene *s);
void destroy_scene(struct scene *s);

/* A random amount, of up to so many cores and GPUs; and random nodes. */
struct sl_resources some_of(int32_t cores, uint32_t gpus);
void add_some(struct scene *s, struct sl_nodeset *nodes, uint32_t runs);

void book_some(struct scene *s);
void take_back_some(struct scene *s);
void block_some(struct scene *s);

struct sl_request some_request(void);
void same_layout(const struct sl_layout *a, const struct sl_layout *b);

#endif
