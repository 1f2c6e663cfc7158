/* SPDX-License-Identifier: MIT */
/*
 * timeline/choose.h - the steps of placement, for callers that choose nodes themselves (auction/): a request in units, what
 * each node can take, runs of nodes in their order, and dealing the units out to the chosen nodes.
 *
 * A unit is a task, or a core if the request states no tasks.
 */
#ifndef SL_CHOOSE_H
#define SL_CHOOSE_H

#include "timeline/place.h"

/* -- a request in units ------------------------------------------------- */

/* The fields of a need that decide what a node offers.  Functions that look at one node get only these, so needs with
 * equal bytes here get equal offers.  There are no gaps between the fields. */
#define SL_NODE_NEED \
	int64_t least_memory; \
	int64_t node_memory;		/* MiB that a node gives, however many units it has */ \
	int64_t unit_memory;		/* MiB for each unit; without the next field, and without gres of the job */ \
	int64_t memory_per_core; \
	uint32_t unit_cores;		/* cores of one group of units ... */ \
	uint32_t core_units;		/* ... and how many units share such a group */ \
	uint32_t once;			/* a node gives cores in multiples of this */ \
	uint32_t least, most;		/* fewest and most units of one node */ \
	uint32_t cap;			/* most units of the whole request */ \
	int32_t least_cores;		/* cores that must be free on a node */ \
	int32_t floor_cores;		/* cores that a node gives at least */ \
	int32_t most_cores; \
	int32_t beside;			/* of whole nodes: cores that the timeline does not count; of others: minus the \
					 * cores that must stay free */ \
	uint32_t whole, all_memory; \
	uint32_t needs, jobs;		/* length of need[]: gres per node or task come first, then gres of the job as a \
					 * whole */ \
	struct sl_gres_need need[SL_MAX_GRES_NEEDS];	/* in each of the two: fewest kinds first */ \
	uint16_t least_gres[SL_MAX_GRES];	/* lower bound of the gres of each kind that a node must have */ \
	const struct sl_devices *devices;	/* borrowed from the timeline */

struct sl_node_need {
	SL_NODE_NEED
};
_Static_assert(sizeof(struct sl_node_need) == 4 * 8 + 14 * 4 + sizeof(struct sl_gres_need[SL_MAX_GRES_NEEDS]) +
	       sizeof(uint16_t[SL_MAX_GRES]) + sizeof(void *), "a need of a node is compared as bytes: no gaps");

struct sl_need {
	union {
		struct sl_node_need node;
		struct { SL_NODE_NEED };
	};
	const struct sl_request *r;
	uint32_t min_nodes;
	uint32_t max_nodes;		/* UINT32_MAX: no limit */
	int64_t units;			/* units of the whole request */
	int32_t given_cores;		/* cores that a node gives for its `least` units, `beside` included */
	uint32_t least_score;		/* least score of a node, for a start now */
	uint32_t segment;		/* nodes of a segment; 0: no segments */
};

/* 0; or -1 with *misfit if no node set of this timeline can satisfy the request, or the request is impossible on any
 * machine. */
int sl_need_of(const struct sl_timeline *tl, const struct sl_request *r, struct sl_need *need,
	       struct sl_misfit *misfit);

/* Number of units that fit on *cores*, without the limit of units per node. */
static inline int64_t sl_need_held(const struct sl_node_need *need, int64_t cores)
{
	if (need->once > 1)
		cores -= cores % need->once;
	return cores * need->core_units / need->unit_cores;
}

/* The same if *cores* are free according to the timeline. */
static inline int64_t sl_need_held_there(const struct sl_node_need *need, int64_t cores)
{
	cores += need->beside;
	return cores > 0 ? sl_need_held(need, cores) : 0;
}

/* Number of units that a node with *free* can take; at most need->cap. */
uint32_t sl_need_units(const struct sl_node_need *need, const struct sl_resources *capacity,
		       const struct sl_resources *free);

/* Fill *each* with what a node with *free* gives for *units* and for the gres of the job (*job*).  False if the node has
 * too little. */
bool sl_need_amounts(const struct sl_need *need, const struct sl_resources *capacity,
		     const struct sl_resources *free, uint32_t units, const uint32_t *job,
		     struct sl_resources *each);

/* -- nodes to choose from ------------------------------------------------ */

/* As sl_timeline_classes(), but only classes with a free core on each node from now until *t1*, in no order. */
int64_t sl_timeline_open_classes(struct sl_timeline *tl, int64_t t1, const struct sl_class **out,
				 struct sl_error *err);

/* The instants at which a class has less free than just before, and what is free from then on.  The first instant is now.
 * Start with *at = 0; each call advances *at.  False after the last one. */
bool sl_timeline_less(const struct sl_timeline *tl, uint32_t class, uint32_t *at, int64_t *t,
		      struct sl_resources *free);

/* The instants of sl_timeline_less() of all classes, except now, ascending, into *t, an array of *room* that grows.
 * Returns their number, or -1 with *err. */
int64_t sl_timeline_breaks(const struct sl_timeline *tl, int64_t **t, uint32_t *room, struct sl_error *err);

/* Upper bound of the cores that are free throughout [now, t1).  Exact if there is only one class (one node). */
int64_t sl_timeline_cores_until(const struct sl_timeline *tl, int64_t t1);

/* From now on bestfit chooses nodes for a later start as for a start now: it may take nodes that are free already.
 * Slurm's backfill does the same when it calls select. */
void sl_timeline_late_as_now(struct sl_timeline *tl);

/* A number that changes with every change of the timeline. */
uint64_t sl_timeline_moment(const struct sl_timeline *tl);

/* Consecutive nodes of one class or offer; *offer* is the number that the caller gave to it. */
struct sl_span {
	uint32_t first, last;
	uint32_t offer;
};

/* A growing array of spans.  The caller frees s->at. */
struct sl_spans {
	struct sl_span *at;
	uint32_t n, room;
};
int sl_spans_push(struct sl_spans *s, uint32_t first, uint32_t last, uint32_t offer, struct sl_error *err);
int sl_spans_sort(struct sl_spans *s, struct sl_spans *tmp, struct sl_error *err);

/* All nodes of these classes in index order.  The offer of a span is the position of its class in the list. */
int sl_spans_of(struct sl_spans *s, const struct sl_class *cls, int64_t classes, struct sl_spans *tmp,
		struct sl_error *err);

/* -- nodes that were chosen --------------------------------------------- */

/*
 * Deal the units of a need out to chosen nodes: sl_chosen_begin(), then sl_chosen_add() for each run of nodes of a class that
 * have *free* and can take *units* each, then sl_deal().  If *evenly*, each node gets an equal number of units; otherwise
 * each gets as many as it can take.  The order is that of sl_chosen_add(), or by node index if there is gres of the job.  All
 * return 0, or -1 with *err.
 */
int sl_chosen_begin(struct sl_timeline *tl, struct sl_error *err);
int sl_chosen_add(struct sl_timeline *tl, const struct sl_need *need, uint32_t first, uint32_t last,
		  uint32_t class, const struct sl_resources *free, uint32_t units, struct sl_error *err);
int sl_deal(struct sl_timeline *tl, const struct sl_need *need, bool evenly, struct sl_layout *layout,
	    struct sl_error *err);

#endif
