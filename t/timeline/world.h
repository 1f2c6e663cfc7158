/* SPDX-License-Identifier: MIT */
/*
 * world.h - a random machine that is known node by node and instant by instant, a random
 * request, and what is possible, found by trying every set of nodes: the reference for
 * placement.
 *
 * Drawn from random.h.  create_world() makes what destroy_world() takes back; the request
 * in it borrows its sets of nodes.
 */
#ifndef WORLD_H
#define WORLD_H

#include "timeline/place.h"

#define NODES 8
#define SPAN 24		/* instants; the last one lasts for ever */
#define OPS 40
#define NOT_AT_ALL (-1)

struct op {
	struct sl_nodeset nodes;
	struct sl_resources each;
	int64_t t0, t1;
	bool block;
};

struct world {
	struct sl_timeline *tl, *twin;	/* the same state, reached on another way */
	struct sl_node_kind kind[3];
	uint32_t kind_of[NODES];
	struct sl_resources free[NODES][SPAN];
	bool blocked[NODES][SPAN];
	struct op op[OPS];
	int ops;
	struct sl_nodeset eligible, required;
	struct sl_request r;
	struct sl_tree tree;		/* the timelines have it where it has switches */
	uint32_t leaf_of[NODES];
};

/* The request, read once more from its contract. */
struct reading {
	bool sense;
	int64_t units, least, most;
	uint32_t min_nodes, max_nodes;
};

void create_world(struct world *w);
void destroy_world(struct world *w);

/* One more booking or block that fits, here and in the timeline, where there is one. */
void random_op(struct world *w);

void random_request(struct world *w);
struct reading read_request(const struct sl_request *r);

/* Are nodes, bit n for node n, below as few leaf switches as asked for, and in whole segments? */
bool are_below(const struct world *w, unsigned nodes);

/* Cores that so many units take on a node. */
int64_t cores_for(const struct sl_request *r, int64_t units);
/* Memory of a node with so many units and cores, but that of gres of the job as a whole. */
int64_t memory_for(const struct sl_request *r, int64_t units, int64_t cores);

/* The most units that a node could take of a start at t, and what is free on it then; 0: it
 * is of no use. */
int64_t units_on(const struct world *w, const struct reading *q, uint32_t n, int t, struct sl_resources *f);

/* How many gres the job wants over all nodes; 0: none. */
int64_t job_gres(const struct sl_request *r);

/* Can it start at t, in a block where that is asked?  Sizes of the sets of nodes on which it
 * could, fewest and most. */
bool possible(const struct world *w, const struct reading *q, int t, bool block, int *fewest, int *most);

static inline int64_t or_one(uint32_t n)
{
	return n ? n : 1;
}

#endif
