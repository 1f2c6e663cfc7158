/* SPDX-License-Identifier: MIT */
/*
 * timeline/choose.h - for those who choose nodes themselves (auction/), where the methods of
 * place.h choose one set of nodes: a request in units, what nodes could take of them, the spans
 * of nodes in their order, and dealing the units out to nodes that were chosen.
 *
 * A unit is a task, or a core where tasks are not said.
 */
#ifndef SL_CHOOSE_H
#define SL_CHOOSE_H

#include "timeline/place.h"

/* -- a request in units ------------------------------------------------- */

/* All of a need that what a node offers for it depends on: functions that look at a node get no more than that.  Needs that
 * are equal here, byte by byte (there are none between the fields), are offered the same. */
#define SL_NODE_NEED \
	int64_t least_memory; \
	int64_t node_memory;		/* that a node gives whatever its units, */ \
	int64_t unit_memory;		/* and for each unit: all but the next one and of gres of the job */ \
	int64_t memory_per_core; \
	uint32_t unit_cores;		/* so many cores are had by */ \
	uint32_t core_units;		/* so many units together */ \
	uint32_t once;			/* a node gives multiples of so many cores */ \
	uint32_t least, most;		/* units on a node */ \
	uint32_t cap;			/* units in all */ \
	int32_t least_cores;		/* that a node must have free for them */ \
	int32_t floor_cores;		/* that a node gives however few units it has */ \
	int32_t most_cores; \
	int32_t beside;			/* cores of a whole node that are not on the timeline; negative, of any: that it leaves */ \
	uint32_t whole, all_memory; \
	uint32_t needs, jobs;		/* of gres: on each node or task; of the job as a whole */ \
	struct sl_gres_need need[SL_MAX_GRES_NEEDS];	/* narrow masks first, per job last */ \
	uint16_t least_gres[SL_MAX_GRES];	/* that a node must have of a kind, as far as one can tell */ \
	const struct sl_devices *devices;	/* of the timeline */

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
	int64_t units;			/* in all */
	int32_t given_cores;		/* that a node gives for its least: of those, and of cores beside the timeline's */
	uint32_t least_score;		/* of a node, for a start now */
	uint32_t segment;		/* nodes; 0: none */
};

/* 0, or -1 when the request cannot be satisfied on nodes of that timeline (with *misfit), or
 * makes no sense on any machine. */
int sl_need_of(const struct sl_timeline *tl, const struct sl_request *r, struct sl_need *need,
	       struct sl_misfit *misfit);

/* How many units fit on that many cores, whatever a node's limit on units is. */
static inline int64_t sl_need_held(const struct sl_node_need *need, int64_t cores)
{
	if (need->once > 1)
		cores -= cores % need->once;
	return cores * need->core_units / need->unit_cores;
}

/* How many units fit on a node with that many cores free on the timeline. */
static inline int64_t sl_need_held_there(const struct sl_node_need *need, int64_t cores)
{
	cores += need->beside;
	return cores > 0 ? sl_need_held(need, cores) : 0;
}

/* Units that a node with *free could take; at most need->cap. */
uint32_t sl_need_units(const struct sl_node_need *need, const struct sl_resources *capacity,
		       const struct sl_resources *free);

/* What a node with *free gives for *units* and *job* gres; false when it cannot. */
bool sl_need_amounts(const struct sl_need *need, const struct sl_resources *capacity,
		     const struct sl_resources *free, uint32_t units, const uint32_t *job,
		     struct sl_resources *each);

/* -- what there is to choose from ---------------------------------------- */

/* The classes with a core free from now until *t1* on each node, in no order; otherwise as
 * sl_timeline_classes(). */
int64_t sl_timeline_open_classes(struct sl_timeline *tl, int64_t t1, const struct sl_class **out,
				 struct sl_error *err);

/*
 * Instants at which less is free on the nodes of a class than just before, and what: the first
 * is now.  *at is 0 for the first one and counts on.  False when there is no further one.
 */
bool sl_timeline_less(const struct sl_timeline *tl, uint32_t class, uint32_t *at, int64_t *t,
		      struct sl_resources *free);

/* All such instants but the first, of all classes, ascending, into *t, which has *room* and
 * grows.  How many, or -1 with *err. */
int64_t sl_timeline_breaks(const struct sl_timeline *tl, int64_t **t, uint32_t *room, struct sl_error *err);

/* So many cores at most are free at each instant from now to *t1*; where there is one class of nodes (one node), so many. */
int64_t sl_timeline_cores_until(const struct sl_timeline *tl, int64_t t1);

/* From now on bestfit takes for a later start what it would take of the nodes that are free then for one now, as select does
 * when Slurm's backfill asks it: also nodes that are free already. */
void sl_timeline_late_as_now(struct sl_timeline *tl);

/* A number that changes with every change of the timeline. */
uint64_t sl_timeline_moment(const struct sl_timeline *tl);

/* Consecutive nodes, of the caller's class or offer of that number. */
struct sl_span {
	uint32_t first, last;
	uint32_t offer;
};

/* Spans in an array that grows.  To free: free(s->at). */
struct sl_spans {
	struct sl_span *at;
	uint32_t n, room;
};
int sl_spans_push(struct sl_spans *s, uint32_t first, uint32_t last, uint32_t offer, struct sl_error *err);
int sl_spans_sort(struct sl_spans *s, struct sl_spans *tmp, struct sl_error *err);

/* All nodes of such classes, in their order; offer: number of the class in the list. */
int sl_spans_of(struct sl_spans *s, const struct sl_class *cls, int64_t classes, struct sl_spans *tmp,
		struct sl_error *err);

/* -- what was chosen ------------------------------------------------------ */

/*
 * Deal a need's units out to nodes that the caller has chosen.  sl_chosen_begin(); then sl_chosen_add() for nodes of a
 * class on which *free* is free, so that each could take *units*; then sl_deal().  That deals *evenly*, or gives each node
 * as many units as it can take: in the order in which the nodes were added, or, if there are gres for the job as a whole,
 * by node index.  All return 0, or -1 with *err.
 */
int sl_chosen_begin(struct sl_timeline *tl, struct sl_error *err);
int sl_chosen_add(struct sl_timeline *tl, const struct sl_need *need, uint32_t first, uint32_t last,
		  uint32_t class, const struct sl_resources *free, uint32_t units, struct sl_error *err);
int sl_deal(struct sl_timeline *tl, const struct sl_need *need, bool evenly, struct sl_layout *layout,
	    struct sl_error *err);

#endif
