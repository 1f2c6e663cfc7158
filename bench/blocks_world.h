/* SPDX-License-Identifier: MIT */
/*
 * blocks_world.h - what bench/blocks simulates: the machine, the jobs, the ways to place them.
 */
#ifndef BENCH_BLOCKS_WORLD_H
#define BENCH_BLOCKS_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/random.h"
#include "timeline/place.h"

#define MOST_RACKS 48
#define MOST_NODES 847
#define MOST_SWITCHES (MOST_RACKS + 9)	/* with pods and the core of a Clos network */
#define SMALL 18
#define CORES 8

struct way {
	const char *word;
	enum sl_place_method method;
	bool segments;
	bool model;		/* topology/block's choice */
	bool ends_known;	/* the model's choice, if it knew when jobs end */
	bool holds;		/* while a large job waits, those below a block wait for HOLD seconds before they begin a whole one */
	bool large_first;
	bool moves;		/* any job may be moved at any time, for nothing */
};

struct job {
	int64_t submit, run, limit, start;
	uint32_t nodes, segment;
	uint8_t on[MOST_RACKS];	/* nodes, when it runs */
	bool started;
	struct sl_layout layout;
};

struct end {
	int64_t t;
	uint32_t job;
};

extern struct world {
	struct sl_timeline *tl;
	struct sl_tree tree;
	bool clos;
	uint32_t racks, nodes, first_of[MOST_RACKS + 1];	/* the first node of a rack; the last entry ends the last rack */
	uint32_t leaf_of[MOST_NODES], above[MOST_SWITCHES], height[MOST_SWITCHES];
	struct sl_random random;
	struct job *job;
	uint32_t jobs, *queue, queued, ending;
	struct end *end;
	uint32_t busy[MOST_RACKS];		/* nodes in use */
	const struct job *head;			/* what the cycle has reserved for, and for when; else NULL */
	int64_t head_at;
	/* sums over time */
	double whole, at_most, busy_nodes, seconds;
	uint64_t broken_up, wide, wide_racks, wide_pods;
} world;

/* Ends the program if it could not. */
void blocks_must(bool could, struct sl_error *err);

/* 1 and a layout if the job fits at *now*, beside the reservation of the cycle's head; else 0. Jobs that may be moved have
 * no layout. */
int blocks_fit_now(const struct way *w, const struct job *j, int64_t now, struct sl_layout *l);

/* The earliest later start. */
int64_t blocks_fit_later(const struct way *w, const struct job *j, int64_t now, struct sl_layout *l);

/* The pieces of what runs now and, by walltimes, still at *t*; *count* has an entry for each size. */
void blocks_count_running(int64_t now, int64_t t, uint32_t count[]);

#endif
