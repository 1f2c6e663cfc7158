/* SPDX-License-Identifier: MIT */
/*
 * timeline.h - what is free on every node, from now on.
 *
 * The free resources of a node are a step function of time: capacity less what
 * is booked.  Nodes of the same kind (what never changes: capacity, weight,
 * partitions, features) with the same step function form a class, and
 * everything here costs classes and steps, not nodes; only booking also writes
 * one word per node booked.  1,000 jobs on 10,000 nodes make some 1,000 classes.
 * Classes are kept maximal: as soon as two become equal they are one.
 *
 * A booking takes the same amount from every node of a set over [t0, t1).  It
 * happens wholly or not at all.  A block (maintenance, a node that is down) makes
 * nodes unavailable whatever is booked there before, meanwhile or afterwards;
 * blocks count, so that they may overlap.
 *
 * Changes made after sl_timeline_mark() are logged and can be rolled back at the
 * price of moving the nodes between the classes they came from.  Marks nest.
 *
 * Times are seconds; SL_FOREVER as an end means "without end" (it equals
 * SL_UNLIMITED of base/duration.h).  What lies before now does not exist: a start
 * before now means now.
 *
 * Results never depend on the order in which classes came to be.
 *
 * Ownership: a timeline owns all its memory, copies what it is given.  Pointers
 * it hands out hold until the next call that changes it.  Threads: none.
 */
#ifndef SL_TIMELINE_H
#define SL_TIMELINE_H

#include <string.h>

#include "base/effort.h"
#include "base/number.h"
#include "timeline/nodeset.h"

#define SL_MAX_GRES 16			/* kinds of generic resource */
#define SL_FOREVER INT64_MAX
#define SL_MAX_NODE_CORES 65535		/* ceiling of a node's cores */
#define SL_OPEN_MARKS 64		/* marks that may be open at a time */
#define SL_NO_MARK UINT32_MAX
#define SL_MAX_STEPS ((uint32_t) 1 << 20)	/* ceiling of one class's step function */

/* An amount of everything that a node has. */
struct sl_resources {
	int64_t memory;			/* MiB */
	int32_t cores;
	uint16_t gres[SL_MAX_GRES];	/* per kind of gres */
};

/* What never changes about nodes.  Kinds that differ in nothing are one. */
struct sl_node_kind {
	uint64_t id;			/* the caller's: partitions, features, ...; not looked into */
	struct sl_resources capacity;
	uint32_t weight;		/* smaller is preferred */
};

/* The switches of a network that have a node somewhere below: leaf_of is by node, the other arrays are by switch. */
struct sl_tree {
	uint32_t *leaf_of;		/* the switch that a node hangs on, or SL_NO_SWITCH */
	uint32_t *above;		/* the switch above a switch, or SL_NO_SWITCH */
	uint32_t *height;		/* switches between it and the furthest node below */
	uint32_t switches;
};

#define SL_NO_SWITCH UINT32_MAX

struct sl_timeline;

/* So much later than *t*; the first and the last moment are the bounds. */
static inline int64_t sl_later(int64_t t, int64_t seconds)
{
	return sl_sum_signed(t, seconds);
}

/* These three are asked of class after class: here, so that no call costs more than the answer. */
static inline bool sl_resources_equal(const struct sl_resources *a, const struct sl_resources *b)
{
	return a->cores == b->cores && a->memory == b->memory && !memcmp(a->gres, b->gres, sizeof(a->gres));
}

/* Nothing of *need* is more than in *have*. */
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

/* From here on requests are placed below the lowest switch that will do (timeline/place.h).  The
 * tree is borrowed; NULL: there is none. */
void sl_timeline_tree(struct sl_timeline *tl, const struct sl_tree *tree);

/* What timelines keep from request to request (timeline/place_sheet.c, place_outlook.c): so many bytes at most for
 * all together.  All zero but for *most* at first.  A timeline that is told of none has one of SL_SHELF_BYTES for
 * itself. */
struct sl_shelf {
	uint64_t most, bytes;
	uint64_t firm;			/* bytes that make no room for others: half of it at most */
	uint64_t uses;
	struct sl_sheets *first;	/* of each timeline that has any */
};

#define SL_SHELF_BYTES (UINT64_C(128) << 20)

/* Before anything is asked of the timeline; the shelf is borrowed, and outlives it. */
void sl_timeline_shelf(struct sl_timeline *tl, struct sl_shelf *shelf);

/* From here on placement counts its work there, and fails with SL_EEFFORT or SL_ETIME where that may not go on; the
 * effort is borrowed. */
void sl_timeline_count(struct sl_timeline *tl, struct sl_effort *effort);

int64_t sl_timeline_now(const struct sl_timeline *tl);
const struct sl_node_kind *sl_timeline_kind(const struct sl_timeline *tl, uint32_t node);

/*
 * Devices that some kinds of gres take whole (gpu) and others have a share of (shard).  Each is a kind of its
 * own, of which a node has as many as the device has shares; a kind that lives on devices names theirs as bits,
 * 0: it lives on none.  Borrowed; NULL: there are none.
 */
struct sl_devices {
	uint16_t whole[SL_MAX_GRES];	/* kinds of devices that it takes whole: each takes all shares of one */
	uint16_t share[SL_MAX_GRES];	/* kinds of devices that it is a share of; all shares that a job has on a node are of one device */
	bool any;			/* whoever places a job says of which device it has its share; false: the first that will do, as Slurm */
};
void sl_timeline_devices(struct sl_timeline *tl, const struct sl_devices *devices);

/* -- changing it ------------------------------------------------------- */

/*
 * Take *each* from every node of the set over [t0, t1).  Returns 0; or -1 and
 * changes nothing: SL_EBUSY when it is not free everywhere (the text names a node
 * and the figures), SL_EINVAL for t1 <= t0, a negative amount or a node that does
 * not exist, SL_ENOMEM, SL_ELIMIT.  An interval that has passed, or an amount of
 * nothing, books nothing.
 */
int sl_timeline_book(struct sl_timeline *tl, const struct sl_nodeset *nodes, const struct sl_resources *each,
		     int64_t t0, int64_t t1, struct sl_error *err);

/* The same beneath blocks, that is: where a block stands as well.  (Figures do not show it before the block goes.) */
int sl_timeline_book_beneath(struct sl_timeline *tl, const struct sl_nodeset *nodes, const struct sl_resources *each,
			     int64_t t0, int64_t t1, struct sl_error *err);

/*
 * Give back what was booked: add *each* over [t0, t1), of which the past is
 * ignored.  A job that ends early: unbook from now to its booked end.  SL_EINVAL
 * when that would make more free than the node has.
 */
int sl_timeline_unbook(struct sl_timeline *tl, const struct sl_nodeset *nodes, const struct sl_resources *each,
		       int64_t t0, int64_t t1, struct sl_error *err);

/*
 * Make nodes unavailable over [t0, t1), whatever runs there, and undo that.
 * sl_timeline_unblock() is SL_EINVAL where no block stands.  At most 65,535
 * blocks may overlap (SL_ELIMIT).  Bookings that exist are kept beneath, and may
 * be unbooked; new ones are refused.
 */
int sl_timeline_block(struct sl_timeline *tl, const struct sl_nodeset *nodes, int64_t t0, int64_t t1,
		      struct sl_error *err);
int sl_timeline_unblock(struct sl_timeline *tl, const struct sl_nodeset *nodes, int64_t t0, int64_t t1,
			struct sl_error *err);

/*
 * Let time pass: what lies before *now* is forgotten, classes that become equal
 * merge.  Costs nothing until the next step of some class is reached.  A clock
 * that goes back is SL_EINVAL, an open mark SL_EBUSY.
 */
int sl_timeline_advance(struct sl_timeline *tl, int64_t now, struct sl_error *err);

/* -- undo -------------------------------------------------------------- */

/* From here on changes can be taken back.  Returns a token for one of the two
 * functions below, to be passed in the reverse order of the marks.  At most
 * SL_OPEN_MARKS may be open: one more is refused with SL_NO_MARK, which the
 * functions below ignore. */
uint32_t sl_timeline_mark(struct sl_timeline *tl);

/* Undo all changes since the mark and close it (and those inside it).  Never
 * fails: memory for undoing is set aside when changes are made. */
void sl_timeline_rollback(struct sl_timeline *tl, uint32_t mark);

/* Close the mark (and those inside it), keep the changes.  An outer mark can
 * still undo them. */
void sl_timeline_release(struct sl_timeline *tl, uint32_t mark);

/* -- asking ------------------------------------------------------------ */

/* The least that is free on a node over [t0, t1); nothing where it is blocked. */
void sl_timeline_free(const struct sl_timeline *tl, uint32_t node, int64_t t0, int64_t t1,
		      struct sl_resources *free);

/* The same without regard to blocks: what bookings leave.  For booking what runs
 * on nodes that are reserved or down, clamped to what is there. */
void sl_timeline_unbooked(const struct sl_timeline *tl, uint32_t node, int64_t t0, int64_t t1,
			  struct sl_resources *free);

/* The first instant after *t* at which something changes on some node, SL_FOREVER
 * when nothing does. */
int64_t sl_timeline_next(const struct sl_timeline *tl, int64_t t);

/* The first instant after *t* at which something changes on this node, SL_FOREVER when nothing does. */
int64_t sl_timeline_next_on(const struct sl_timeline *tl, uint32_t node, int64_t t);

/* Nodes of one kind with the same free resources over an interval. */
struct sl_class {
	const struct sl_node_kind *kind;
	const struct sl_nodeset *nodes;
	struct sl_resources free;	/* the least over [t0, t1) on each node */
	uint32_t number;		/* the timeline's, until it changes */
};

/*
 * The classes that have nodes in *within* (NULL: all nodes), in the order of their
 * first node there, with the minimum free over [t0, t1).  Two of them may have
 * equal figures (they differ at another time).  *out* is the timeline's, valid
 * until the next call of any function but the ones in this section that return
 * numbers.  Returns how many, or -1 with *err (memory).
 */
int64_t sl_timeline_classes(struct sl_timeline *tl, const struct sl_nodeset *within, int64_t t0, int64_t t1,
			    const struct sl_class **out, struct sl_error *err);

/* What is free at this instant on all nodes together, blocked ones left out, and
 * on how many nodes at least one core is.  Constant time. */
struct sl_free_now {
	int64_t cores;
	uint32_t nodes;			/* with a free core */
	uint32_t idle_nodes;		/* with all cores free */
};
void sl_timeline_free_now(const struct sl_timeline *tl, struct sl_free_now *f);

/* What of each gres is free now on all nodes together, blocked ones left out; walks over the classes. */
void sl_timeline_free_gres(const struct sl_timeline *tl, uint64_t sum[SL_MAX_GRES]);

/*
 * Cores free at the instant t on all nodes together, blocked ones left out.  The first
 * question about an instant walks over the classes; from then on, until another one is
 * asked about or time passes, it is kept up to date and constant time.  EASY asks it of
 * the shadow time (sl_fit_least_cores() in place.h).
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
