/* SPDX-License-Identifier: MIT */
/*
 * where.h - a small machine, and where a request goes on it, as text.
 *
 *	struct sl_timeline *tl = machine(4, NULL);
 *	book(tl, "0-1", 8, 0, 100);
 *	assert_string_equal(at(tl, &r, &how, 0), "2-3:8");
 *
 * What is made is the caller's; texts are good until the next call of the same function.
 */
#ifndef WHERE_H
#define WHERE_H

#include "t/timeline/set.h"
#include "timeline/place.h"

/* 8 cores, 8000 MiB, 2 gpus of kind 0 a node; weights by node or NULL; now is 0. */
struct sl_timeline *machine(uint32_t nodes, const uint32_t *weight);

/* So many cores on each of the nodes, or the test fails. */
void book(struct sl_timeline *tl, const char *nodes, int32_t cores, int64_t t0, int64_t t1);

/* "0-2:8 5:3": nodes and their cores, in the order of the first node. */
char *text_of(const struct sl_layout *l);

/* Such a text, with "@30 " and the time before it where that is asked for, or why not, or
 * "error: ..." */
const char *at(struct sl_timeline *tl, const struct sl_request *r, const struct sl_how *how, int64_t t);
const char *earliest(struct sl_timeline *tl, const struct sl_request *r, const struct sl_how *how, int64_t from,
		     int64_t latest);

#endif
