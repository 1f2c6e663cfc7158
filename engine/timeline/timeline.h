/* SPDX-License-Identifier: MIT */
/*
 * timeline.h - what is free on every node, from now on.
 *
 * The free resources of a node are a step function of time: capacity minus bookings.  Nodes of the same kind (what never
 * changes: capacity, weight, partitions, features) with the same step function form a class.  Operations cost classes and
 * steps, not nodes; only booking also writes one word per booked node.  1,000 jobs on 10,000 nodes make some 1,000 classes.
 * Classes that become equal are merged at once.
 *
 * A booking takes the same amount from every node of a set over [t0, t1), or fails and changes nothing.  A block
 * (maintenance, a node that is down) makes nodes unavailable whatever is booked there.  Blocks are counted, so they may
 * overlap.
 *
 * Changes after sl_timeline_mark() are logged and can be rolled back by moving the nodes to their former classes.  Marks
 * nest.
 *
 * Times are seconds; SL_FOREVER as an end means "without end" (it equals SL_UNLIMITED of base/duration.h).  The past is not
 * kept: a start before now means now.
 *
 * Results never depend on the order in which classes were created.
 *
 * Ownership: a timeline owns its memory and copies what it is given.  Pointers that it returns are valid until the next call
 * that changes it.  Threads: none.
 */
#ifndef SL_TIMELINE_H
#define SL_TIMELINE_H

#include <string.h>

#include "base/effort.h"
#include "base/number.h"
#include "timeline/nodeset.h"

#define SL_MAX_GRES 16			/* kinds of generic resource */
#define SL_FOREVER INT64_MAX
#define SL_MAX_NODE_CORES 65535		/* most cores of a node */
#define SL_OPEN_MARKS 64		/* most marks that may be open */
#define SL_NO_MARK UINT32_MAX
#define SL_MAX_STEPS ((uint32_t) 1 << 20)	/* most steps of one class */

/* An amount of each resource of a node. */
struct sl_resources {
	int64_t memory;			/* MiB */
	int32_t cores;
	uint16_t gres[SL_MAX_GRES];	/* per kind of gres */
};

/* What never changes about nodes.  Kinds with equal fields are merged. */
struct sl_node_kind {
	uint64_t id;			/* chosen by the caller to tell kinds apart (partitions, features, ...) */
	struct sl_resources capacity;
	uint32_t weight;		/* smaller is preferred */
};

/* The switches above the nodes.  leaf_of is indexed by node, the other arrays by switch. */
struct sl_tree {
	uint32_t *leaf_of;		/* the leaf switch of a node, or SL_NO_SWITCH */
	uint32_t *above;		/* the parent of a switch, or SL_NO_SWITCH */
	uint32_t *height;		/* levels between the switch and the furthest node below */
	uint32_t switches;
};

#define SL_NO_SWITCH UINT32_MAX

struct sl_timeline;

/* t + seconds, limited to the range of int64_t. */
static inline int64_t sl_later(int64_t t, int64_t seconds)
{
	return sl_sum_signed(t, seconds);
}

/* These three are called for class after class, therefore inline. */
static inline bool sl_resources_equal(const struct sl_resources *a, const struct sl_resources *b)
{
	return a->cores == b->cores && a->memory == b->memory && !memcmp(a->gres, b->gres, sizeof(a->gres));
}

/* True if nothing in *need* exceeds *have*. */
static inline bool sl_resources_fit(const struct sl_resources *need, const struct sl_resources *have)
{
	bool fit = need->cores <= have->cores && need->memory <= have->memory;

	if (!fit || !memcmp(need->gres, have->gres, sizeof(need->gres)))
		return fit;
	for (int k = 0; k < SL_MAX_GRES; k++)
		fit &= need->gres[k] <= have->gres[k];
	return fit;
}

/* *a = elementwise minimum of *a and *b. */
static inline void sl_resources_min(struct sl_resources *a, const struct sl_resources *b)
{
	a->cores = b->cores < a->cores ? b->cores : a->cores;
	a->memory = b->memory < a->memory ? b->memory : a->memory;
	for (int k = 0; k < SL_MAX_GRES; k++)
		a->gres[k] = b->gres[k] < a->gres[k] ? b->gres[k] : a->gres[k];
}

/*
 * A machine of *nodes* empty nodes; node n is of kind[kind_of[n]].  NULL with
 * *err: SL_ELIMIT beyond a ceiling, SL_EINVAL for a kind that does not exist or a
 * negative capacity.
 */
struct sl_timeline *sl_timeline_create(uint32_t nodes, const uint32_t *kind_of,
				       const struct sl_node_kind *kind, uint32_t kinds,
				       int64_t now, struct sl_error *err);
void sl_timeline_destroy(struct sl_timeline *tl);

/* From now on requests are placed below the lowest switch that suffices (timeline/place.h).  The tree is borrowed; NULL:
 * no tree. */
void sl_timeline_tree(struct sl_timeline *tl, const struct sl_tree *tree);

/* A memory limit for what timelines keep from request to request (place_sheet.c, place_outlook.c), shared by all that use
 * it.  At first all zero except *most*.  A timeline without one has a limit of SL_SHELF_BYTES for itself. */
struct sl_shelf {
	uint64_t most, bytes;
	uint64_t firm;			/* bytes that are not freed to make room for others; at most half of *most* */
	uint64_t uses;
	struct sl_sheets *first;	/* the sheets of each timeline that has any */
};

#define SL_SHELF_BYTES (UINT64_C(128) << 20)

/* Call it before any query.  The shelf is borrowed and must outlive the timeline. */
void sl_timeline_shelf(struct sl_timeline *tl, struct sl_shelf *shelf);

/* From now on placement counts its work in *effort* (borrowed), and fails with SL_EEFFORT or SL_ETIME if that is exceeded. */
void sl_timeline_count(struct sl_timeline *tl, struct sl_effort *effort);

int64_t sl_timeline_now(const struct sl_timeline *tl);
const struct sl_node_kind *sl_timeline_kind(const struct sl_timeline *tl, uint32_t node);

/*
 * Devices of which some gres kinds take a whole one (gpu) and others a share (shard).  Each device is a gres kind of its own;
 * its capacity on a node is its number of shares.  whole[] and share[] have, for each gres kind, the bits of its device
 * kinds; 0: the kind does not use devices.  Borrowed; NULL: no devices.
 */
struct sl_devices {
	uint16_t whole[SL_MAX_GRES];	/* device kinds of which it takes all shares */
	uint16_t share[SL_MAX_GRES];	/* device kinds of which it takes a share; all shares of a job on a node come from
					 * one device */
	bool any;			/* the planner decides which device gives the share; false: the first that
					 * suffices, as in Slurm */
};
void sl_timeline_devices(struct sl_timeline *tl, const struct sl_devices *devices);

/* -- changing it ------------------------------------------------------- */

/*
 * Take *each* from every node of the set over [t0, t1).  Returns 0; or -1 and changes nothing: SL_EBUSY if it is not free
 * everywhere (the text names a node and the figures), SL_EINVAL for t1 <= t0, a negative amount or a node that does not
 * exist, SL_ENOMEM, SL_ELIMIT.  For a past interval or a zero amount nothing is booked.
 */
int sl_timeline_book(struct sl_timeline *tl, const struct sl_nodeset *nodes, const struct sl_resources *each,
		     int64_t t0, int64_t t1, struct sl_error *err);

/* The same, but also where a block stands.  What is free there changes visibly only once the block is gone. */
int sl_timeline_book_beneath(struct sl_timeline *tl, const struct sl_nodeset *nodes, const struct sl_resources *each,
			     int64_t t0, int64_t t1, struct sl_error *err);

/* Undo a booking: add *each* over [t0, t1); the past is ignored.  For a job that ends early: from now to its booked end.
 * SL_EINVAL if more would be free than the node has. */
int sl_timeline_unbook(struct sl_timeline *tl, const struct sl_nodeset *nodes, const struct sl_resources *each,
		       int64_t t0, int64_t t1, struct sl_error *err);

/* Make nodes unavailable over [t0, t1), and undo that.  sl_timeline_unblock() fails with SL_EINVAL where no block stands.
 * At most 65,535 blocks may overlap (SL_ELIMIT).  Existing bookings stay beneath and can be unbooked; new ones are
 * refused. */
int sl_timeline_block(struct sl_timeline *tl, const struct sl_nodeset *nodes, int64_t t0, int64_t t1,
		      struct sl_error *err);
int sl_timeline_unblock(struct sl_timeline *tl, const struct sl_nodeset *nodes, int64_t t0, int64_t t1,
			struct sl_error *err);

/* Move now forward: the past is dropped, and classes that become equal are merged.  Free of cost until some class reaches
 * its next step.  SL_EINVAL for an earlier time, SL_EBUSY while a mark is open. */
int sl_timeline_advance(struct sl_timeline *tl, int64_t now, struct sl_error *err);

/* -- undo -------------------------------------------------------------- */

/* Changes from now on can be undone.  Returns a token for one of the two functions below; pass tokens back in reverse
 * order.  At most SL_OPEN_MARKS may be open; beyond that it returns SL_NO_MARK, which the functions below ignore. */
uint32_t sl_timeline_mark(struct sl_timeline *tl);

/* Undo all changes since the mark, and close it and the marks inside it.  Cannot fail: the memory was reserved by the
 * changes. */
void sl_timeline_rollback(struct sl_timeline *tl, uint32_t mark);

/* Close the mark and those inside it, and keep the changes.  An outer mark can still undo them. */
void sl_timeline_release(struct sl_timeline *tl, uint32_t mark);

/* -- asking ------------------------------------------------------------ */

/* Minimum of what is free on a node over [t0, t1); all 0 if it is blocked at some time. */
void sl_timeline_free(const struct sl_timeline *tl, uint32_t node, int64_t t0, int64_t t1,
		      struct sl_resources *free);

/* The same, ignoring blocks: capacity minus bookings.  For booking jobs that run on reserved or down nodes. */
void sl_timeline_unbooked(const struct sl_timeline *tl, uint32_t node, int64_t t0, int64_t t1,
			  struct sl_resources *free);

/* The first instant after *t* at which any node changes, SL_FOREVER if none does. */
int64_t sl_timeline_next(const struct sl_timeline *tl, int64_t t);

/* The same for one node. */
int64_t sl_timeline_next_on(const struct sl_timeline *tl, uint32_t node, int64_t t);

/* Nodes of one kind with the same free resources over an interval. */
struct sl_class {
	const struct sl_node_kind *kind;
	const struct sl_nodeset *nodes;
	struct sl_resources free;	/* minimum over [t0, t1) on each node */
	uint32_t number;		/* valid until the timeline changes */
};

/*
 * The classes that have nodes in *within* (NULL: all nodes), in the order of their first node there, with the minimum free
 * over [t0, t1).  Several classes may show equal figures if they differ at another time.  *out* is valid until the next call,
 * except calls of this section that return numbers.  Returns the number of classes, or -1 with *err (memory).
 */
int64_t sl_timeline_classes(struct sl_timeline *tl, const struct sl_nodeset *within, int64_t t0, int64_t t1,
			    const struct sl_class **out, struct sl_error *err);

/* What is free now on all nodes together, without blocked ones.  Constant time. */
struct sl_free_now {
	int64_t cores;
	uint32_t nodes;			/* with a free core */
	uint32_t idle_nodes;		/* with all cores free */
};
void sl_timeline_free_now(const struct sl_timeline *tl, struct sl_free_now *f);

/* Free gres of each kind now on all nodes together, without blocked ones; walks over the classes. */
void sl_timeline_free_gres(const struct sl_timeline *tl, uint64_t sum[SL_MAX_GRES]);

/*
 * Free cores at time t on all nodes together, without blocked ones.  The first call for a time walks over the classes.  After
 * that the sum is kept up to date and costs constant time, until another time is asked for or now moves.  EASY asks for the
 * shadow time (sl_fit_least_cores() in place.h).
 */
int64_t sl_timeline_cores_at(struct sl_timeline *tl, int64_t t);

/* Figures for diagnosis and tests. */
struct sl_timeline_figures {
	uint32_t classes;		/* with nodes */
	uint64_t steps;			/* of all of them */
	size_t bytes;			/* memory held */
};
void sl_timeline_figures(const struct sl_timeline *tl, struct sl_timeline_figures *f);

#endif
